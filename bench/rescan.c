/*
 * rescan - a crate scanned again, with what an earlier scan has kept: as it was, and after an edit
 * of one function's body.
 *
 * One line per promise: `name value unit budget verdict`. Values are CPU milliseconds of opening
 * and freeing a scan, the median of the rounds; what was kept is read from a warm file cache.
 *
 * usage: bench_rescan [CRATE] [ROUNDS]        CRATE: a copy of candle-transformers is made of it;
 *                                             without one CG_BENCH_CRATE says where it lies
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "candlegraph/scan.h"

#define ROUNDS_MOST 31

static char root[64];
static int failed;

static void stop(const char *what)
{
    fprintf(stderr, "bench_rescan: %s\n", what);
    exit(1);
}

static double cpu_ms(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void run(const char *program, const char *a, const char *b, const char *c)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        execlp(program, program, a, b, c, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        stop(program);
}

/* CPU time of one scan; is it the cache that answers? */
static double scan_once(const char *path, bool is_kept, bool is_structure, bool *ret_is_from_cache)
{
    cg_env env = {.size = sizeof env};
    cg_scan_request request = {.size = sizeof request, .path = path, .is_structure = is_structure};
    cg_scan_facts facts = {.size = sizeof facts};
    char cache[100];
    cg_scan *scan = NULL;
    double start = cpu_ms();

    (void)snprintf(cache, sizeof cache, "%s/cache", root);
    request.cache_directory = is_kept ? cache : NULL;
    if (cg_scan_open(&env, &request, &scan, NULL) != CG_OK)
        stop("the crate cannot be scanned");
    cg_scan_facts_of(scan, &facts);
    *ret_is_from_cache = facts.is_from_cache;
    cg_scan_free(scan);
    return cpu_ms() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void tell(const char *name, const char *path, bool is_structure, int rounds, double budget)
{
    double values[ROUNDS_MOST];
    bool is_from_cache = true;
    bool is_good;

    for (int i = 0; i < rounds; i++) {
        bool is_one;

        values[i] = scan_once(path, true, is_structure, &is_one);
        is_from_cache = is_from_cache && is_one;
    }
    qsort(values, (size_t)rounds, sizeof values[0], by_value);
    is_good = is_from_cache && (budget <= 0 || values[rounds / 2] <= budget);
    failed |= !is_good;
    if (budget > 0)
        printf("%-32s %8.1f ms <= %.0f %s\n", name, values[rounds / 2], budget,
               is_good         ? "ok"
               : is_from_cache ? "TOO SLOW"
                               : "SCANNED AGAIN");
    else
        printf("%-32s %8.1f ms - %s\n", name, values[rounds / 2], is_good ? "ok" : "SCANNED AGAIN");
    fflush(stdout);
}

/* A statement more in the first function that has one of this kind; then the file as it was. */
static char *text_before;

static void edit(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *at;
    size_t size;

    text_before = calloc(1, 1 << 20);
    if (file == NULL || text_before == NULL)
        stop(path);
    size = fread(text_before, 1, (1 << 20) - 1, file);
    fclose(file);
    at = strstr(text_before, "fn load(");
    if (at == NULL)
        at = strstr(text_before, "fn new(");
    at = at != NULL ? strstr(at, " let ") : NULL;
    file = at != NULL ? fopen(path, "wb") : NULL;
    if (file == NULL)
        stop(path);
    fwrite(text_before, 1, (size_t)(at - text_before), file);
    fputs(" let _more = 3;\n        ", file);
    fwrite(at, 1, size - (size_t)(at - text_before), file);
    fclose(file);
}

static void undo(const char *path)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        stop(path);
    fputs(text_before, file);
    fclose(file);
    free(text_before);
}

int main(int argc, char **argv)
{
    static const char *const models[] = {"llama", "bert", "t5"};
    const char *crate = argc > 1 ? argv[1] : getenv("CG_BENCH_CRATE");
    int rounds = argc > 2 ? atoi(argv[2]) : 7;
    char path[100], file[200], name[100];
    bool is_from_cache;

    if (crate == NULL || *crate == '\0') {
        printf("rescan - - - skipped: no crate is given\n");
        return 0;
    }
    if (rounds < 1 || rounds > ROUNDS_MOST)
        stop("rounds: 1 to 31");
    (void)snprintf(root, sizeof root, "/tmp/cg-rescan-XXXXXX");
    if (mkdtemp(root) == NULL)
        stop("no directory");
    (void)snprintf(path, sizeof path, "%s/crate", root);
    run("cp", "-r", crate, path);
    run("chmod", "-R", "u+w", path);
    sleep(4); /* files that were just written are never believed to be unchanged */
    for (int structure = 1; structure >= 0; structure--) {
        const char *level = structure ? "structure" : "everything";

        printf("cold, %-26s %8.1f ms - -\n", level,
               scan_once(path, true, structure, &is_from_cache));
        (void)snprintf(name, sizeof name, "unchanged, %s", level);
        tell(name, path, structure, rounds, structure ? 50 : 0);
        for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
            (void)snprintf(file, sizeof file, "%s/src/models/%s.rs", path, models[i]);
            edit(file);
            (void)snprintf(name, sizeof name, "edit of %s.rs, %s", models[i], level);
            tell(name, path, structure, rounds, structure ? 50 : 0);
            undo(file);
        }
    }
    run("rm", "-rf", root, "--");
    return failed;
}
