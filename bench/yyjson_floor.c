/*
 * yyjson_floor - what merely parsing the lines of a trace costs with yyjson:
 * the text in memory, one document a line, one pool reused. Prints the CPU
 * milliseconds of the best of three passes; bench/analyse divides by it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yyjson.h>

static double cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static char *read_whole(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET) != 0 || (text = malloc((size_t)size + 1)) == NULL ||
        fread(text, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "bench_yyjson_floor: cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    *ret_size = (size_t)size;
    return text;
}

static double pass(const char *text, size_t size, void *pool, size_t pool_size, size_t *values)
{
    const char *at = text;
    const char *end = text + size;
    double start = cpu_ms();

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline != NULL ? newline : end) - at);
        yyjson_alc allocator;
        yyjson_doc *doc;

        yyjson_alc_pool_init(&allocator, pool, pool_size);
        doc = yyjson_read_opts((char *)(uintptr_t)at, len, 0, &allocator, NULL);
        if (doc == NULL && len > 0) {
            fprintf(stderr, "bench_yyjson_floor: a line is not JSON\n");
            exit(1);
        }
        *values += yyjson_doc_get_val_count(doc);
        at += len + 1;
    }
    return cpu_ms() - start;
}

int main(int argc, char **argv)
{
    size_t pool_size = (size_t)64 << 20;
    void *pool = malloc(pool_size);
    double best = 0;
    size_t values = 0;
    size_t size;
    char *text;

    if (argc != 2 || pool == NULL) {
        fprintf(stderr, "usage: bench_yyjson_floor TRACE\n");
        return 2;
    }
    text = read_whole(argv[1], &size);
    for (int i = 0; i < 3; i++) {
        double took = pass(text, size, pool, pool_size, &values);

        if (i == 0 || took < best)
            best = took;
    }
    printf("%.3f\n", best);
    free(text);
    free(pool);
    return values > 0 ? 0 : 1;
}
