/*
 * verify - a bundle of 500 MB, against one pass of `openssl dgst -sha256` over its large file.
 *
 * One line per promise: `name value unit budget verdict`. Both run in turn, from a warm cache; the
 * figure is the median of the ratios of wall time. The reference is the program, start included.
 *
 * usage: bench_verify [MEGABYTES] [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "candlegraph/candlegraph.h"
#include "row.h"

#define ROUNDS_MOST 31

static const char trace[] =
    "{\"kind\":\"meta\",\"schema\":\"candle-graph/trace/10\",\"run_id\":\"r\",\"correlation_id\":"
    "\"c\",\"entrypoint\":\"e\",\"phase\":\"infer\",\"timestamp\":\"t\",\"capture_step\":1,"
    "\"warmup_steps\":0,\"device\":\"cpu\",\"timing_mode\":\"host\",\"tags\":{},"
    "\"capture_contract\":{\"measurement_scope\":\"profiled_work\",\"operations\":\"partial\","
    "\"tensors\":\"partial\",\"gradients\":\"partial\",\"logical_memory\":\"partial\","
    "\"physical_memory\":\"none\",\"device_timing\":\"partial\"}}\n"
    "{\"kind\":\"terminal\",\"outcome\":\"complete\",\"timestamp_ns\":1}\n";

typedef struct paths {
    char root[256], trace[300], nsight[300], large[340], bundle[300], copy[340];
} paths;

static double now_s(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void stop(const char *what)
{
    fprintf(stderr, "bench_verify: %s\n", what);
    exit(1);
}

/* A large file without structure; what is in it does not matter, that nothing is sparse does. */
static void fill(const char *path, size_t megabytes)
{
    FILE *file = fopen(path, "wb");
    static uint64_t block[(1 << 20) / 8];
    uint64_t state = 1;

    if (file == NULL)
        stop("cannot write");
    for (size_t i = 0; i < megabytes; i++) {
        for (size_t k = 0; k < sizeof block / sizeof block[0]; k++)
            block[k] = state = state * UINT64_C(6364136223846793005) + 1;
        if (fwrite(block, 1, sizeof block, file) != sizeof block)
            stop("cannot write");
    }
    if (fclose(file) != 0)
        stop("cannot write");
}

static void prepare(paths *at, size_t megabytes)
{
    const char *root = getenv("TMPDIR");
    cg_publish_request request = {.size = sizeof request};
    cg_publication *done = NULL;
    cg_err err = {0};
    FILE *file;

    snprintf(at->root, sizeof at->root, "%s/bench-verify-XXXXXX", root != NULL ? root : "/tmp");
    if (mkdtemp(at->root) == NULL)
        stop("no directory to work in");
    snprintf(at->trace, sizeof at->trace, "%s/t.jsonl", at->root);
    snprintf(at->nsight, sizeof at->nsight, "%s/n", at->root);
    snprintf(at->large, sizeof at->large, "%s/x.nsys-rep", at->nsight);
    snprintf(at->bundle, sizeof at->bundle, "%s/b", at->root);
    snprintf(at->copy, sizeof at->copy, "%s/nsight/x.nsys-rep", at->bundle);
    file = fopen(at->trace, "wb");
    if (file == NULL || fwrite(trace, 1, sizeof trace - 1, file) != sizeof trace - 1 ||
        fclose(file) != 0 || mkdir(at->nsight, 0777) != 0)
        stop("cannot write");
    fill(at->large, megabytes);
    request.trace_path = at->trace;
    request.nsight_directory = at->nsight;
    request.bundle_path = at->bundle;
    if (cg_publish(NULL, &request, &done, &err) != CG_OK)
        stop(err.text);
    cg_publication_free(done);
}

static double time_openssl(const char *path)
{
    double start = now_s();
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL)
            execlp("openssl", "openssl", "dgst", "-sha256", path, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        stop("openssl cannot be run");
    return now_s() - start;
}

static double time_verify(const char *path)
{
    double start = now_s();
    cg_verification *verification = NULL;
    cg_err err = {0};

    if (cg_bundle_verify(NULL, path, CG_VERIFY_BYTES, &verification, &err) != CG_OK)
        stop(err.text);
    cg_verification_free(verification);
    return now_s() - start;
}

static void clean(const paths *at)
{
    static const char *const files[] = {"b/bundle.json",       "b/evidence.json", "b/report.md",
                                        "b/nsight/x.nsys-rep", "b/trace.jsonl",   "b/viewer.html",
                                        "n/x.nsys-rep",        "t.jsonl"};
    static const char *const directories[] = {"b/nsight", "b", "n", "."};
    char path[400];

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", at->root, files[i]);
        (void)unlink(path);
    }
    for (size_t i = 0; i + 1 < sizeof directories / sizeof directories[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", at->root, directories[i]);
        (void)rmdir(path);
    }
    (void)rmdir(at->root);
}

/* Keeps `count` values sorted while one more comes. */
static void insert(double *values, size_t count, double value)
{
    for (; count > 0 && values[count - 1] > value; count--)
        values[count] = values[count - 1];
    values[count] = value;
}

int main(int argc, char **argv)
{
    size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 500;
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;
    double ratios[ROUNDS_MOST], ours[ROUNDS_MOST], floors[ROUNDS_MOST];
    paths at;

    if (rounds == 0 || rounds > ROUNDS_MOST)
        stop("1 to 31 rounds");
    prepare(&at, megabytes);
    (void)time_openssl(at.copy);
    for (size_t i = 0; i < rounds; i++) {
        double floor = time_openssl(at.copy);
        double own = time_verify(at.bundle);

        insert(floors, i, floor);
        insert(ours, i, own);
        insert(ratios, i, own / floor);
    }
    clean(&at);
    row_stated("verify.ours", ours[rounds / 2], "s");
    row_stated("verify.openssl", floors[rounds / 2], "s");
    return row_most("verify.against_openssl", ratios[rounds / 2], "x", 1.1) ? 0 : 1;
}
