/*
 * rescan - a crate scanned again, with what an earlier scan has kept: as it was, and after an edit
 * of one file. Every round makes an edit that no earlier scan has seen: of a function's body one
 * that nobody can notice (`edit`), and one of which only an evaluation can tell (`change`); and of
 * items: a function that is new, with its first call or without, a field with its value, a `use`, a
 * parameter of a function, a constant that is used.
 *
 * One line per promise: `name value unit budget verdict`. Values are CPU milliseconds of opening
 * and freeing a scan, the median of the rounds; what was kept is read from a warm file cache. The
 * last rows are about every file of the crate that can be edited so: a third of the rounds for
 * each, the median of the files, how many are over the budget, how many were scanned again, the
 * worst, and the worst first edit of a file: later ones of the same function take what it has kept.
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

#define PIECES 3

enum kind { EDIT, CHANGE, FUNCTION, CALL, FIELD, USE, SIGNATURE, CONSTANT, KINDS };

static const char *const kind_names[KINDS] = {"edit",  "change", "function",  "call",
                                              "field", "use",    "signature", "constant"};

/* What is put into a file, and where; `%u` stands for a number that is new. */
typedef struct piece {
    size_t at;
    const char *text;
} piece;

typedef struct edited {
    const char *path;
    char *text;
    size_t size;
    piece pieces[PIECES]; /* in order */
    size_t count;
} edited;

static void put(edited *self, const char *at, const char *text)
{
    size_t place = (size_t)(at - self->text), i = self->count++;

    for (; i > 0 && self->pieces[i - 1].at > place; i--)
        self->pieces[i] = self->pieces[i - 1];
    self->pieces[i] = (piece){place, text};
}

/* The struct of the impl around a place: behind its opening brace; NULL: not found. */
static const char *struct_around(const edited *self, const char *at)
{
    const char *impl = NULL;
    char head[100];
    size_t len = 0;

    for (const char *one = strstr(self->text, "\nimpl "); one != NULL && one < at;
         one = strstr(one + 1, "\nimpl "))
        impl = one + 6;
    while (impl != NULL && len < 60 && (impl[len] == '_' || (impl[len] | 32) >= 'a'))
        len++;
    if (len == 0)
        return NULL;
    (void)snprintf(head, sizeof head, "struct %.*s {", (int)len, impl);
    at = strstr(self->text, head);
    return at != NULL ? at + strlen(head) : NULL;
}

static bool find_places(edited *self, enum kind kind)
{
    const char *end = self->text + self->size, *top = strstr(self->text, "\nuse "), *at, *value;
    const char *method = strstr(self->text, "(&self, ");

    at = strstr(self->text, "fn load(");
    if (at == NULL)
        at = strstr(self->text, "fn new(");
    at = at != NULL ? strstr(at, "\n        let ") : NULL;
    value = at != NULL ? strstr(at, "Ok(Self {") : NULL;
    if (at == NULL || (kind == USE && top == NULL) || (kind == SIGNATURE && method == NULL) ||
        (kind == FIELD && (value == NULL || struct_around(self, at) == NULL)))
        return false;
    switch (kind) {
    case EDIT: put(self, at, "\n        let _more = %u;"); break;
    case CHANGE: put(self, at, "\n        let _more = %u + 1;"); break;
    case CALL: put(self, at, "\n        let _more = more_%u(3);"); /* fallthrough */
    case FUNCTION: put(self, end, "\nfn more_%u(n: usize) -> usize {\n    n\n}\n"); break;
    case FIELD:
        put(self, struct_around(self, at), "\n    more_%u: usize,");
        put(self, value + strlen("Ok(Self {"), " more_%u: 3, ");
        break;
    case USE: put(self, top, "\nuse std::sync::Arc as More%u;"); break;
    case SIGNATURE: put(self, method + strlen("(&self, "), "_more_%u: usize, "); break;
    case CONSTANT:
        put(self, at, "\n        let _more = MORE_%u;");
        put(self, end, "\nconst MORE_%u: usize = 3;\n");
        break;
    case KINDS: break;
    }
    return true;
}

static bool edit_begin(edited *self, const char *path, enum kind kind)
{
    FILE *file = fopen(path, "rb");

    *self = (edited){.path = path, .text = calloc(1, 1 << 20)};
    if (file == NULL || self->text == NULL)
        stop(path);
    self->size = fread(self->text, 1, (1 << 20) - 1, file);
    fclose(file);
    if (find_places(self, kind))
        return true;
    free(self->text);
    return false;
}

static void write_text(const edited *self, unsigned serial)
{
    FILE *file = fopen(self->path, "wb");
    size_t done = 0;

    if (file == NULL)
        stop(self->path);
    for (size_t i = 0; serial > 0 && i < self->count; i++) {
        const char *text = self->pieces[i].text, *number = strstr(text, "%u");

        fwrite(self->text + done, 1, self->pieces[i].at - done, file);
        (void)fprintf(file, "%.*s%u%s", (int)(number - text), text, serial, number + 2);
        done = self->pieces[i].at;
    }
    fwrite(self->text + done, 1, self->size - done, file);
    if (fclose(file) != 0)
        stop(self->path);
}

static void edit_end(edited *self)
{
    write_text(self, 0);
    free(self->text);
}

/* The median over rounds of another edit each. */
static double after_edits(edited *file, const char *path, bool is_structure, int rounds,
                          double *ret_first, bool *ret_is_from_cache)
{
    static unsigned serial;
    double values[ROUNDS_MOST];

    *ret_is_from_cache = true;
    for (int i = 0; i < rounds; i++) {
        bool is_one;

        write_text(file, ++serial);
        values[i] = scan_once(path, true, is_structure, &is_one);
        *ret_is_from_cache = *ret_is_from_cache && is_one;
    }
    *ret_first = values[0];
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

static void tell_file(const char *path, const char *which, bool is_structure, enum kind kind,
                      int rounds)
{
    char place[300], name[300];
    edited file;
    bool is_from_cache;
    double value, first;

    (void)snprintf(place, sizeof place, "%s/src/%s", path, which);
    if (!edit_begin(&file, place, kind))
        return;
    value = after_edits(&file, path, is_structure, rounds, &first, &is_from_cache);
    (void)snprintf(name, sizeof name, "rescan.%s.%s.%s", is_structure ? "structure" : "whole",
                   kind_names[kind], which);
    tell(name, value, is_from_cache, is_structure ? BUDGET : 0);
    edit_end(&file);
    if (!is_from_cache) /* what it kept is of the edited file */
        scan_once(path, true, is_structure, &is_from_cache);
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

static void tell_every_file(const char *path, enum kind kind, int rounds)
{
    static double values[FILES_MOST];
    char source[200], name[60];
    size_t worst = 0, over = 0, again = 0;
    double most = 0, most_first = 0;
    int count = 0;
    bool is_from_cache = true;

    (void)snprintf(source, sizeof source, "%s/src", path);
    found_count = 0;
    if (nftw(source, note_file, 16, FTW_PHYS) != 0)
        stop(source);
    for (size_t i = 0; i < found_count; i++) {
        edited file;
        double first;
        bool is_one;

        if (!edit_begin(&file, found[i], kind))
            continue;
        values[count] = after_edits(&file, path, true, rounds, &first, &is_one);
        most_first = first > most_first ? first : most_first;
        if (getenv("CG_BENCH_VERBOSE") != NULL)
            printf("# %8.1f ms %s%s\n", values[count], found[i] + strlen(source) + 1,
                   is_one ? "" : " SCANNED AGAIN");
        is_from_cache = is_from_cache && is_one;
        over += values[count] > BUDGET;
        again += !is_one;
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
    (void)snprintf(name, sizeof name, "rescan.structure.%s.median", kind_names[kind]);
    tell(name, median(values, count), true, BUDGET);
    (void)snprintf(name, sizeof name, "rescan.structure.%s.over", kind_names[kind]);
    row_stated(name, (double)over, "files");
    (void)snprintf(name, sizeof name, "rescan.structure.%s.again", kind_names[kind]);
    row_stated(name, (double)again, "files");
    (void)snprintf(name, sizeof name, "rescan.structure.%s.worst", kind_names[kind]);
    tell(name, most, is_from_cache, kind <= CHANGE ? BUDGET : 0);
    (void)snprintf(name, sizeof name, "rescan.structure.%s.first", kind_names[kind]);
    row_stated(name, most_first, "ms");
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
        for (enum kind kind = EDIT; kind < KINDS; kind++)
            tell_file(path, argv[3], true, kind, rounds);
    }
    for (int structure = 1; structure >= 0 && argc <= 3; structure--) {
        const char *level = structure ? "structure" : "whole";

        (void)snprintf(name, sizeof name, "rescan.%s.cold", level);
        row_stated(name, scan_once(path, true, structure, &is_from_cache), "ms");
        (void)snprintf(name, sizeof name, "rescan.%s.unchanged", level);
        tell_unchanged(name, path, structure, rounds);
        for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
            tell_file(path, models[i], structure, EDIT, rounds);
        for (enum kind kind = CHANGE; structure && kind < KINDS; kind++) {
            for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
                tell_file(path, models[i], structure, kind, rounds);
        }
        for (enum kind kind = EDIT; structure && kind < KINDS; kind++)
            tell_every_file(path, kind, kind <= CHANGE ? (rounds + 2) / 3 : 1);
    }
    run("rm", "-rf", root, "--");
    return failed;
}
