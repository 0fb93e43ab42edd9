/*
 * recover - what a dead process left, made a failed capture: records a second of CPU time.
 *
 * A child records spans and operations and ends without finishing, so that all of it lies in the
 * spool; then the spool is recovered, and so is the trace that came of it with its last line cut
 * off. One line per promise: `name value unit budget verdict`; nothing was promised, so both are
 * stated.
 *
 * usage: bench_recover [RECORDS] [ROUNDS]
 */
#include "candlegraph/candlegraph.h"
#include "candlegraph/record.h"
#include "row.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MOST 31

static char path[300], spool[320], cut[320], output[320];

static void stop(const char *what)
{
    fprintf(stderr, "bench_recover: %s\n", what);
    (void)unlink(path);
    (void)unlink(spool);
    (void)unlink(cut);
    (void)unlink(output);
    exit(1);
}

static double cpu_s(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Four records a turn. */
static void record(unsigned long turns)
{
    cg_record_run run;
    cg_record *session = NULL;

    cg_record_run_training(&run, "bench::recover", 1, "cpu");
    if (cg_record_open(path, &run, NULL, &session, NULL) != CG_OK)
        _exit(1);
    cg_record_name name = cg_record_intern(session, "model/layer");
    for (unsigned long i = 0; i < turns; i++) {
        cg_record_span span = cg_record_span_begin(session, name, CG_RECORD_FUNCTION);

        cg_record_scalar(session, span, name, (double)i);
        cg_record_scalar(session, span, name, 0.5);
        cg_record_span_end(session, span);
    }
    _exit(0); /* not finished: the writer may not even have come to the end */
}

static void die_recording(unsigned long turns)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        record(turns);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        stop("nothing was recorded");
}

static cg_code drop(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OK;
}

static double recover(const char *input)
{
    cg_env env = {.size = sizeof env};
    cg_format format = {.size = sizeof format};
    cg_sink account = {NULL, drop};
    cg_err err = {0};
    double start = cpu_s();

    (void)unlink(output);
    if (cg_recover(&env, input, output, &format, account, &err) != CG_OK)
        stop(err.text);
    return cpu_s() - start;
}

/* Lines of a file; its last one is left out of the copy. */
static unsigned long copy_without_end(const char *from, const char *to)
{
    FILE *source = fopen(from, "rb");
    FILE *target = fopen(to, "wb");
    unsigned long lines = 0;
    char *line = NULL, *held = NULL;
    size_t room = 0;

    if (source == NULL || target == NULL)
        stop("the trace cannot be read");
    while (getline(&line, &room, source) > 0) {
        if (held != NULL)
            fputs(held, target);
        free(held);
        held = strdup(line);
        lines++;
    }
    free(held);
    free(line);
    fclose(source);
    if (fclose(target) != 0)
        stop("the trace cannot be written");
    return lines;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double rate(const char *input, unsigned long records, unsigned rounds)
{
    double took[ROUNDS_MOST];

    for (unsigned i = 0; i < rounds; i++)
        took[i] = recover(input);
    qsort(took, rounds, sizeof took[0], by_value);
    return (double)records / took[rounds / 2] / 1e6;
}

int main(int argc, char **argv)
{
    unsigned long records = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
    const char *folder = getenv("TMPDIR");
    double of_spool;

    if (records < 4 || rounds == 0 || rounds > ROUNDS_MOST) {
        fprintf(stderr, "usage: bench_recover [RECORDS] [ROUNDS up to %d]\n", ROUNDS_MOST);
        return 2;
    }
    (void)snprintf(path, sizeof path, "%s/bench-recover-%ld.jsonl",
                   folder != NULL ? folder : "/tmp", (long)getpid());
    (void)snprintf(spool, sizeof spool, "%s.spool", path);
    (void)snprintf(cut, sizeof cut, "%s.cut", path);
    (void)snprintf(output, sizeof output, "%s.out", path);
    die_recording(records / 4);
    (void)recover(spool);
    records = copy_without_end(output, cut) - 1;
    of_spool = rate(spool, records, rounds);
    row_stated("recover.spool", of_spool, "Mrecords/s");
    row_stated("recover.cut_trace", rate(cut, records, rounds), "Mrecords/s");
    (void)unlink(path);
    (void)unlink(spool);
    (void)unlink(cut);
    (void)unlink(output);
    return 0;
}
