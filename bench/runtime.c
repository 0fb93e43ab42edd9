/*
 * runtime - a runtime trace of a million lines, read and judged, against what reading the file and
 * merely parsing its lines costs with yyjson; and a quarter of them, because time must grow with
 * the number of lines.
 *
 * One line per promise: `name value unit budget verdict`. Passes take turns; the figures are
 * medians over the rounds, of CPU time and of the ratios of each round. The file is made here:
 * gradients of parameters over steps, operations with times, tensors, values, edges, in the
 * spelling of our writers.
 *
 * usage: bench_runtime [LINES]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "model/runtime_facts.h"
#include "row.h"

#include <yyjson.h>

#define LINES  1000000u
#define ROUNDS 5

static void stop(const char *what)
{
    fprintf(stderr, "bench_runtime: %s\n", what);
    exit(1);
}

static double cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

/* Of what each round's two figures are to each other. */
static double median_ratio(const double *a, const double *b)
{
    double ratios[ROUNDS];

    for (unsigned i = 0; i < ROUNDS; i++)
        ratios[i] = a[i] / b[i];
    return median(ratios);
}

/* --- the file --- */

static void write_line(FILE *file, unsigned at)
{
    unsigned step = at / 200; /* every key once a step */
    unsigned of = at % 200;

    switch (at % 20) {
    case 0:
    case 1:
        fprintf(file,
                "{\"kind\":\"tensor\",\"event_id\":\"tensor-%u\",\"static_id\":"
                "\"tensor:train:function%%3ANet%%253A%%253Aforward%%3A:%u\",\"step\":%u,"
                "\"shape\":[16,128,768],\"dtype\":\"F32\",\"device\":\"cuda:0\","
                "\"contiguous\":true,\"requires_grad\":false}\n",
                at, of, step);
        return;
    case 2:
        fprintf(file,
                "{\"kind\":\"value\",\"event_id\":\"value-%u\",\"source\":\"src/net.rs:%u\","
                "\"step\":%u,\"min\":-3.25,\"max\":4.5,\"abs_max\":4.5,\"nonfinite_count\":0,"
                "\"saturated_count\":%u}\n",
                at, of, step, at % 3);
        return;
    case 3:
        fprintf(file,
                "{\"kind\":\"edge_timing\",\"event_id\":\"edge-%u\",\"from_static_id\":"
                "\"operation:train:function%%3ANet%%253A%%253Aforward%%3A:%u\",\"to_static_id\":"
                "\"operation:train:function%%3ANet%%253A%%253Aforward%%3A:%u\","
                "\"duration_ns\":%u,\"step\":%u}\n",
                at, of, of + 1, 100 + at % 977, step);
        return;
    default: break;
    }
    if (at % 2 == 0)
        fprintf(file,
                "{\"kind\":\"gradient\",\"event_id\":\"gradient-%u\",\"root\":\"vb\",\"key\":"
                "\"layers.%u.attention.query.weight\",\"state\":\"present\",\"step\":%u,"
                "\"norm\":0.%u}\n",
                at, of, step, 1 + at % 99991);
    else
        fprintf(file,
                "{\"kind\":\"operation\",\"event_id\":\"train-op-%u-%u\",\"op\":\"matmul\","
                "\"static_id\":\"operation:train:function%%3ANet%%253A%%253Aforward%%3A:%u\","
                "\"inputs\":[],\"step\":%u,\"duration_ns\":%u}\n",
                step, at, of, step, 4000 + at % 7919);
}

static void make_file(const char *path, unsigned lines)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        stop("the trace cannot be written");
    fprintf(file, "{\"kind\":\"meta\",\"schema\":\"candle-graph/runtime/3\",\"entrypoint\":"
                  "\"Net::step\",\"profile\":\"release\",\"phase\":\"train\"}\n");
    for (unsigned i = 1; i < lines; i++)
        write_line(file, i);
    if (fclose(file) != 0)
        stop("the trace cannot be written");
}

/* --- the two passes --- */

/* As `import` reads it: the file block by block, line by line. */
static double parse(const char *path)
{
    static char block[(size_t)256 << 10];
    size_t pool_size = (size_t)1 << 20;
    void *pool = malloc(pool_size);
    FILE *file = fopen(path, "rb");
    double start = cpu_ms();
    size_t kept = 0;
    size_t got;

    if (pool == NULL || file == NULL)
        stop("the trace cannot be read");
    setvbuf(file, NULL, _IONBF, 0);
    while ((got = fread(block + kept, 1, sizeof block - kept, file)) > 0) {
        char *at = block;
        char *end = block + kept + got;
        char *newline;

        while ((newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
            yyjson_alc allocator;

            yyjson_alc_pool_init(&allocator, pool, pool_size);
            if (yyjson_read_opts(at, (size_t)(newline - at), 0, &allocator, NULL) == NULL)
                stop("a line is not JSON");
            at = newline + 1;
        }
        kept = (size_t)(end - at);
        memmove(block, at, kept);
    }
    fclose(file);
    free(pool);
    return cpu_ms() - start;
}

/* Reading passes every rule of the format; judging is what observations say together. */
static double import(const char *path, unsigned lines, double *ret_judge_ms)
{
    double start = cpu_ms();
    runtime_trace *trace = NULL;
    runtime_facts facts;
    cg_err err = {0};
    double took;
    heap from;
    arena mem;

    heap_init(&from, NULL);
    arena_init(&mem, &from);
    if (runtime_read_file(NULL, str_from(path), &trace, &err) != CG_OK)
        stop(err.text);
    took = cpu_ms() - start;
    start = cpu_ms();
    if (runtime_facts_make(&mem, trace, &facts, &err) != CG_OK)
        stop(err.text);
    *ret_judge_ms = cpu_ms() - start;
    if (trace->tensors.count + trace->operations.count + trace->gradients.count +
            trace->values.count + trace->edges.count !=
        lines - 1)
        stop("records are missing");
    arena_free(&mem);
    runtime_free(trace);
    return took;
}

int main(int argc, char **argv)
{
    unsigned lines = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : LINES;
    char large[64];
    char small[64];
    double floor_ms[ROUNDS];
    double large_ms[ROUNDS];
    double small_ms[ROUNDS];
    double judge_ms[ROUNDS];
    double unused;
    double read_ratio, judge_ratio, growth;
    bool is_kept;

    if (lines < 1000)
        stop("at least 1000 lines");
    (void)snprintf(large, sizeof large, "bench-runtime-%d.jsonl", (int)getpid());
    (void)snprintf(small, sizeof small, "bench-runtime-%d-small.jsonl", (int)getpid());
    make_file(large, lines);
    make_file(small, lines / 4);
    for (unsigned i = 0; i < ROUNDS; i++) {
        floor_ms[i] = parse(large);
        large_ms[i] = import(large, lines, &judge_ms[i]);
        small_ms[i] = import(small, lines / 4, &unused);
    }
    (void)remove(large);
    (void)remove(small);
    read_ratio = median_ratio(large_ms, floor_ms);
    judge_ratio = median_ratio(judge_ms, floor_ms);
    growth = median_ratio(large_ms, small_ms) / 4.0; /* of four times the lines */
    row_stated("runtime.read", median(large_ms), "ms");
    row_stated("runtime.judge", median(judge_ms), "ms");
    row_stated("runtime.yyjson", median(floor_ms), "ms");
    row_stated("runtime.read_quarter", median(small_ms), "ms");
    is_kept = row_most("runtime.read_ratio", read_ratio, "x", 2.0);
    is_kept &= row_most("runtime.judge_ratio", judge_ratio, "x", 0.5);
    /* Four times the lines, four times the time, and some for caches. */
    is_kept &= row_most("runtime.linear", growth, "x", 1.3);
    return is_kept ? 0 : 1;
}
