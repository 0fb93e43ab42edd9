/*
 * rescan - a crate scanned again, with what an earlier scan has kept: as it was, and after an edit
 * of one function's body. Every round makes an edit that no earlier scan has seen: one that nobody
 * can notice (`edit`), and one of which only an evaluation can tell (`change`).
 *
 * One line per promise: `name value unit budget verdict`. Values are CPU milliseconds of opening
 * and freeing a scan, the median of the rounds; what was kept is read from a warm file cache. The
 * last rows are about every file of the crate that has such a function: a third of the rounds for
 * each, the median of the files, how many are over the budget, and the worst.
 *
 * usage: bench_rescan [CRATE] [ROUNDS] [FILE] CRATE: a copy of candle-transformers is made of it;
 *                                             without one CG_BENCH_CRATE says where it lies
 *                                             FILE: below src, the only one that is edited
 */
#define _XOPEN_SOURCE 700 /* nftw */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "candlegraph/scan.h"
#include "row.h"

#define ROUNDS_MOST 31
#define FILES_MOST  1000
#define BUDGET      50.0 /* of a scan of the structure */

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

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], by_value);
    return values[count / 2];
}

static void tell(const char *name, double value, bool is_from_cache, double budget)
{
    if (!is_from_cache)
        printf("# %s: scanned again, the cache was of no use\n", name);
    if (budget > 0)
        failed |= !row_judged(name, value, "ms", "<=", budget, is_from_cache && value <= budget);
    else
        row_stated(name, value, "ms");
}

/* --- edits --- */

/* A file, and where a statement more fits into the first function that has one of this kind. */
typedef struct edited {
    const char *path;
    char *text;
    size_t size;
    size_t at;
} edited;

static bool edit_begin(edited *self, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *at;

    *self = (edited){.path = path, .text = calloc(1, 1 << 20)};
    if (file == NULL || self->text == NULL)
        stop(path);
    self->size = fread(self->text, 1, (1 << 20) - 1, file);
    fclose(file);
    at = strstr(self->text, "fn load(");
    if (at == NULL)
        at = strstr(self->text, "fn new(");
    at = at != NULL ? strstr(at, "\n        let ") : NULL;
    if (at != NULL)
        self->at = (size_t)(at - self->text);
    else
        free(self->text);
    return at != NULL;
}

static void write_text(const edited *self, const char *statement)
{
    FILE *file = fopen(self->path, "wb");

    if (file == NULL)
        stop(self->path);
    fwrite(self->text, 1, self->at, file);
    fputs(statement, file);
    fwrite(self->text + self->at, 1, self->size - self->at, file);
    if (fclose(file) != 0)
        stop(self->path);
}

static void edit_once(const edited *self, bool is_change)
{
    static unsigned serial;
    char statement[64];

    (void)snprintf(statement, sizeof statement, "\n        let _more = %u%s;", ++serial,
                   is_change ? " + 1" : "");
    write_text(self, statement);
}

static void edit_end(edited *self)
{
    write_text(self, "");
    free(self->text);
}

/* The median over rounds of another edit each. */
static double after_edits(edited *file, const char *path, bool is_structure, bool is_change,
                          int rounds, bool *ret_is_from_cache)
{
    double values[ROUNDS_MOST];

    *ret_is_from_cache = true;
    for (int i = 0; i < rounds; i++) {
        bool is_one;

        edit_once(file, is_change);
        values[i] = scan_once(path, true, is_structure, &is_one);
        *ret_is_from_cache = *ret_is_from_cache && is_one;
    }
    return median(values, rounds);
}

static void tell_unchanged(const char *name, const char *path, bool is_structure, int rounds)
{
    double values[ROUNDS_MOST];
    bool is_from_cache = true;

    for (int i = 0; i < rounds; i++) {
        bool is_one;

        values[i] = scan_once(path, true, is_structure, &is_one);
        is_from_cache = is_from_cache && is_one;
    }
    tell(name, median(values, rounds), is_from_cache, is_structure ? BUDGET : 0);
}

static void tell_file(const char *path, const char *which, bool is_structure, bool is_change,
                      int rounds)
{
    char place[300], name[300];
    edited file;
    bool is_from_cache;
    double value;

    (void)snprintf(place, sizeof place, "%s/src/%s", path, which);
    if (!edit_begin(&file, place))
        stop(place);
    value = after_edits(&file, path, is_structure, is_change, rounds, &is_from_cache);
    (void)snprintf(name, sizeof name, "rescan.%s.%s.%s", is_structure ? "structure" : "whole",
                   is_change ? "change" : "edit", which);
    tell(name, value, is_from_cache, is_structure ? BUDGET : 0);
    edit_end(&file);
}

/* --- every file --- */

static char *found[FILES_MOST];
static size_t found_count;

static int note_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    size_t len = strlen(path);

    (void)about;
    (void)place;
    if (kind == FTW_F && len > 3 && strcmp(path + len - 3, ".rs") == 0 && found_count < FILES_MOST)
        found[found_count++] = strdup(path);
    return 0;
}

static void tell_every_file(const char *path, bool is_change, int rounds)
{
    static double values[FILES_MOST];
    const char *kind = is_change ? "change" : "edit";
    char source[200], name[60];
    size_t worst = 0, over = 0;
    double most = 0;
    int count = 0;
    bool is_from_cache = true;

    (void)snprintf(source, sizeof source, "%s/src", path);
    found_count = 0;
    if (nftw(source, note_file, 16, FTW_PHYS) != 0)
        stop(source);
    for (size_t i = 0; i < found_count; i++) {
        edited file;
        bool is_one;

        if (!edit_begin(&file, found[i]))
            continue;
        values[count] = after_edits(&file, path, true, is_change, rounds, &is_one);
        if (getenv("CG_BENCH_VERBOSE") != NULL)
            printf("# %8.1f ms %s%s\n", values[count], found[i] + strlen(source) + 1,
                   is_one ? "" : " SCANNED AGAIN");
        is_from_cache = is_from_cache && is_one;
        over += values[count] > BUDGET;
        if (values[count] > most) {
            most = values[count];
            worst = i;
        }
        count++;
        edit_end(&file);
        if (!is_one) /* what it kept is of the edited file */
            scan_once(path, true, true, &is_one);
    }
    if (count == 0)
        return;
    printf("# %d files were edited, %zu are over the budget; the worst is %s\n", count, over,
           found[worst] + strlen(source) + 1);
    (void)snprintf(name, sizeof name, "rescan.structure.%s.median", kind);
    tell(name, median(values, count), true, BUDGET);
    (void)snprintf(name, sizeof name, "rescan.structure.%s.over", kind);
    row_stated(name, (double)over, "files");
    (void)snprintf(name, sizeof name, "rescan.structure.%s.worst", kind);
    tell(name, most, is_from_cache, BUDGET);
}

int main(int argc, char **argv)
{
    static const char *const models[] = {"models/llama.rs", "models/bert.rs", "models/t5.rs"};
    const char *crate = argc > 1 ? argv[1] : getenv("CG_BENCH_CRATE");
    const char *folder = getenv("TMPDIR");
    int rounds = argc > 2 ? atoi(argv[2]) : 7;
    char path[100], name[100];
    bool is_from_cache;

    if (crate == NULL || *crate == '\0') {
        printf("# skipped: no crate is given\n");
        return 0;
    }
    if (rounds < 1 || rounds > ROUNDS_MOST)
        stop("rounds: 1 to 31");
    if (snprintf(root, sizeof root, "%s/cg-rescan-XXXXXX", folder != NULL ? folder : "/tmp") >=
        (int)sizeof root)
        stop("TMPDIR is too long");
    if (mkdtemp(root) == NULL)
        stop("no directory");
    (void)snprintf(path, sizeof path, "%s/crate", root);
    run("cp", "-r", crate, path);
    run("chmod", "-R", "u+w", path);
    sleep(4); /* files that were just written are never believed to be unchanged */
    if (argc > 3) {
        scan_once(path, true, true, &is_from_cache);
        tell_file(path, argv[3], true, false, rounds);
        tell_file(path, argv[3], true, true, rounds);
    }
    for (int structure = 1; structure >= 0 && argc <= 3; structure--) {
        const char *level = structure ? "structure" : "whole";

        (void)snprintf(name, sizeof name, "rescan.%s.cold", level);
        row_stated(name, scan_once(path, true, structure, &is_from_cache), "ms");
        (void)snprintf(name, sizeof name, "rescan.%s.unchanged", level);
        tell_unchanged(name, path, structure, rounds);
        for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
            tell_file(path, models[i], structure, false, rounds);
        for (size_t i = 0; structure && i < sizeof models / sizeof models[0]; i++)
            tell_file(path, models[i], structure, true, rounds);
        for (int change = 0; structure && change < 2; change++)
            tell_every_file(path, change, (rounds + 2) / 3);
    }
    run("rm", "-rf", root, "--");
    return failed;
}
