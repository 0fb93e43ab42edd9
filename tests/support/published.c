#include "support/published.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "support/capture.h"
#include "support/faults.h"

#include <cmocka.h>

#define ROOM ((size_t)1 << 20)

static void write_trace(published *self)
{
    capture *text = test_calloc(1, sizeof *text);

    capture_begin(text);
    capture_span(text, "s1", NULL, "root", 0, 1000);
    capture_measured(text, "s2", "s1", "step", 10, 900);
    capture_span(text, "s3", "s2", "layer", 20, 400);
    capture_op(text, "s3", "matmul", "", "t1", 30, 5);
    capture_tensor(text, "s3", "t1", "out", NULL);
    capture_stats(text, "s3", "out", 1);
    capture_memory(text, "s3", "alloc", "x", 64, 30);
    capture_gradient(text, "params", "w");
    capture_line(text, "{'kind':'terminal','outcome':'complete','timestamp_ns':1000}");
    place_write(self->root, "t.jsonl", text->text, text->len);
    test_free(text);
}

void published_begin(published *self, bool has_nsight)
{
    static const char table[] = "Time (%),Total Time (ns),Instances,Name\n100,500,2,gemm\n";
    cg_publish_request request = {.size = sizeof request};
    cg_publication *done = NULL;
    cg_err err = {0};

    place_make(self->root);
    snprintf(self->trace, sizeof self->trace, "%s/t.jsonl", self->root);
    snprintf(self->nsight, sizeof self->nsight, "%s/n", self->root);
    snprintf(self->bundle, sizeof self->bundle, "%s/b", self->root);
    write_trace(self);
    assert_int_equal(mkdir(self->nsight, 0777), 0);
    place_write(self->nsight, "r_cuda_gpu_kern_sum.csv", table, sizeof table - 1);
    request.trace_path = self->trace;
    request.bundle_path = self->bundle;
    request.nsight_directory = has_nsight ? self->nsight : NULL;
    if (cg_publish(NULL, &request, &done, &err) != CG_OK)
        fail_msg("%s", err.text);
    cg_publication_free(done);
}

void published_end(published *self)
{
    place_remove(self->root);
}

const char *published_path(published *self, const char *name)
{
    static char path[1024];

    assert_true(snprintf(path, sizeof path, "%s/%s", self->bundle, name) < (int)sizeof path);
    return path;
}

static char *read_file(published *self, const char *name, size_t *ret)
{
    FILE *file = fopen(published_path(self, name), "rb");
    char *text = test_malloc(ROOM);

    assert_non_null(file);
    *ret = fread(text, 1, ROOM - 1, file);
    assert_true(*ret < ROOM - 1);
    text[*ret] = '\0';
    fclose(file);
    return text;
}

void published_write(published *self, const char *name, const char *text)
{
    place_write(self->bundle, name, text, strlen(text));
}

void published_replace(published *self, const char *name, const char *old, const char *text)
{
    size_t count;
    char *content = read_file(self, name, &count);
    char *changed = test_malloc(ROOM);
    char *at = strstr(content, old);
    int len;

    if (at == NULL)
        fail_msg("`%s` is not in %s", old, name);
    len = snprintf(changed, ROOM, "%.*s%s%s", (int)(at - content), content, text, at + strlen(old));
    place_write(self->bundle, name, changed, (size_t)len);
    test_free(changed);
    test_free(content);
}

void published_rehash(published *self, const char *name)
{
    size_t count;
    char *content = read_file(self, name, &count);
    char *says;
    char start[256];
    char entry[512];
    char *at;
    char *end;
    char hex[DIGEST_HEX];
    uint8_t sum[DIGEST_BYTES];
    digest of;

    assert_int_equal(digest_start(&of, NULL), CG_OK);
    digest_add(&of, content, count);
    assert_int_equal(digest_finish(&of, sum, NULL), CG_OK);
    digest_hex(sum, hex);
    test_free(content);
    says = read_file(self, "bundle.json", &count);
    snprintf(start, sizeof start, "\"path\": \"%s\"", name);
    at = strstr(says, start);
    assert_non_null(at);
    end = strchr(at, '}');
    snprintf(entry, sizeof entry, "%.*s", (int)(end - at), at);
    {
        char fresh[512];
        struct stat about;

        assert_int_equal(stat(published_path(self, name), &about), 0);
        snprintf(fresh, sizeof fresh, "%s, \"bytes\": %llu, \"sha256\": \"%.64s\"", start,
                 (unsigned long long)about.st_size, hex);
        published_replace(self, "bundle.json", entry, fresh);
    }
    test_free(says);
}

const char *published_problem(published *self, cg_verify_depth depth)
{
    static cg_err err;
    cg_verification *verification = NULL;

    memset(&err, 0, sizeof err);
    if (cg_bundle_verify(NULL, self->bundle, depth, &verification, &err) == CG_OK) {
        cg_verification_free(verification);
        return "";
    }
    assert_null(verification);
    return err.problem;
}
