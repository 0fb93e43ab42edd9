/*
 * Nsight evidence against the recorded answers: every folder of fixtures/execution/nsight in
 * CG_FIXTURES is read with its trace, and the documents are compared with the recorded ones member
 * by member. Wording is not compared, but its presence and the length of lists are.
 *
 *   t-wire-nsight print TRACE DIRECTORY     prints the `gpu` object, for tools that compare more
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/json.h"
#include "view/document.h"

#define DEPTH 64

static const char *fixtures;

/* --- documents of ours --- */

static cg_code collect(void *context, const char *bytes, size_t count)
{
    buf *out = context;

    buf_add(out, (cg_str){bytes, count});
    return out->failed ? CG_OUTPUT : CG_OK;
}

static evidence *read_evidence(const char *trace_path, const char *directory)
{
    cg_err err = {0};
    trace_doc *trace = NULL;
    evidence *ret = NULL;

    if (trace_read_file(NULL, str_from(trace_path), &trace, &err) != CG_OK ||
        evidence_build_with_nsight(NULL, trace, str_from(directory), true, &ret, &err) != CG_OK)
        fail_msg("%s: %s", err.file, err.text);
    return ret;
}

/* --- comparison --- */

static const char *const wording[] = {"reason",
                                      "message",
                                      "summary",
                                      "label",
                                      "correlation_reason",
                                      "gaps",
                                      "timing_unavailable_reason",
                                      "diagnostics"};

static bool is_wording(cg_str key)
{
    for (size_t i = 0; i < sizeof wording / sizeof wording[0]; i++) {
        if (str_equal(key, str_from(wording[i])))
            return true;
    }
    return false;
}

typedef struct pair {
    yyjson_val *ours;
    yyjson_val *theirs;
    bool is_wording;
} pair;

/* Containers still to compare; documents of ours are shallow, so few are open at once. */
typedef struct comparison {
    VEC(pair) open;
    heap heap;
    const char *difference; /* NULL: none */
    cg_str key;
} comparison;

static void push(comparison *self, pair next)
{
    pair *slot = vec_add(&self->heap, &self->open);

    assert_non_null(slot);
    *slot = next;
}

static void differ(comparison *self, const char *what, cg_str key)
{
    if (self->difference == NULL) {
        self->difference = what;
        self->key = key;
    }
}

static void compare_objects(comparison *self, const pair *at)
{
    size_t i, count;
    yyjson_val *key, *value;

    if (yyjson_obj_size(at->ours) != yyjson_obj_size(at->theirs))
        differ(self, "other members below", self->key);
    yyjson_obj_foreach(at->theirs, i, count, key, value)
    {
        yyjson_val *ours = yyjson_obj_getn(at->ours, yyjson_get_str(key), yyjson_get_len(key));

        if (ours == NULL)
            differ(self, "no member", json_text(key));
        else
            push(self, (pair){ours, value, at->is_wording || is_wording(json_text(key))});
    }
}

static void compare_values(comparison *self, const pair *at)
{
    if (yyjson_get_type(at->ours) != yyjson_get_type(at->theirs)) {
        differ(self, "another type of value", self->key);
    } else if (yyjson_is_arr(at->ours)) {
        size_t count = yyjson_arr_size(at->ours);

        if (count != yyjson_arr_size(at->theirs)) {
            differ(self, "another number of items", self->key);
            return;
        }
        for (size_t i = 0; i < count; i++)
            push(self, (pair){yyjson_arr_get(at->ours, i), yyjson_arr_get(at->theirs, i),
                              at->is_wording});
    } else if (yyjson_is_obj(at->ours)) {
        compare_objects(self, at);
    } else if (yyjson_is_str(at->ours)) {
        if (!at->is_wording && !str_equal(json_text(at->ours), json_text(at->theirs)))
            differ(self, "another text than", json_text(at->theirs));
    } else if (!yyjson_equals(at->ours, at->theirs)) {
        differ(self, "another value", self->key);
    }
}

static void compare_member(const char *name, const char *file, yyjson_val *ours, yyjson_val *theirs)
{
    comparison self = {.key = str_from(name)};

    heap_init(&self.heap, NULL);
    assert_non_null(ours);
    push(&self, (pair){ours, theirs, is_wording(str_from(name))});
    while (self.open.count > 0) {
        pair next = self.open.at[--self.open.count];

        compare_values(&self, &next);
    }
    if (self.difference != NULL)
        fail_msg("%s, `%s`: %s `%.*s`", file, name, self.difference, (int)self.key.len,
                 self.key.ptr);
    vec_free(&self.heap, &self.open);
}

static const char *const members[] = {"gpu", "capabilities", "findings", "gaps", "result"};

/* Members that the recorded document has, against ours; false: nothing is recorded there. */
static bool compare_with(const char *path, const buf *document)
{
    json_reader readers[2];
    yyjson_val *roots[2];
    json_fault fault;
    buf recorded;
    heap memory;
    cg_err err = {0};

    heap_init(&memory, NULL);
    buf_init(&recorded, &memory, SIZE_MAX);
    if (os_read_whole(NULL, str_from(path), &recorded, &err) != CG_OK) {
        buf_free(&recorded);
        return false;
    }
    json_init(&readers[0], &memory, DEPTH);
    json_init(&readers[1], &memory, DEPTH);
    assert_int_equal(json_read(&readers[0], buf_text(document), &roots[0], &fault), CG_OK);
    assert_int_equal(json_read(&readers[1], buf_text(&recorded), &roots[1], &fault), CG_OK);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        yyjson_val *theirs = yyjson_obj_get(roots[1], members[i]);

        if (theirs != NULL)
            compare_member(members[i], path, yyjson_obj_get(roots[0], members[i]), theirs);
    }
    json_free(&readers[0]);
    json_free(&readers[1]);
    buf_free(&recorded);
    return true;
}

/* --- one folder --- */

static void compare_queries(const evidence *from, const char *name, buf *document)
{
    static const document_input input = {.requested_path = {"t", 1}, .trace_path = {"t", 1}};
    char path[1024];

    for (uint32_t kind = QUERY_GPU_STATUS; kind <= QUERY_GPU_GAPS; kind++) {
        document_query query = {.kind = kind, .word = query_rows[kind].word};

        buf_clear(document);
        assert_int_equal(
            document_query_write(from, &input, &query, (cg_sink){document, collect}, NULL), CG_OK);
        snprintf(path, sizeof path, "%s/fixtures/execution/golden/nsight/%s/%s.json", fixtures,
                 name, query.word.ptr);
        assert_true(compare_with(path, document));
    }
    buf_clear(document);
    assert_int_equal(document_overview(from, &input, (cg_sink){document, collect}, NULL), CG_OK);
    snprintf(path, sizeof path, "%s/fixtures/execution/golden/nsight/%s/overview.json", fixtures,
             name);
    assert_true(compare_with(path, document));
}

static void compare_folder(const char *name)
{
    bool is_plain = strcmp(name, "unpartitioned") == 0;
    char trace[1024], directory[1024], path[1024];
    evidence *from;
    buf document;
    heap memory;
    bool is_recorded;

    heap_init(&memory, NULL);
    buf_init(&document, &memory, SIZE_MAX);
    snprintf(trace, sizeof trace, "%s/fixtures/execution/nsight/trace%s.jsonl", fixtures,
             is_plain ? "-unpartitioned" : "");
    snprintf(directory, sizeof directory, "%s/fixtures/execution/nsight/%s", fixtures, name);
    from = read_evidence(trace, directory);
    assert_int_equal(document_evidence(from, (cg_sink){&document, collect}, NULL), CG_OK);
    snprintf(path, sizeof path, "%s/fixtures/execution/golden/nsight/%s/report.evidence.json",
             fixtures, name);
    is_recorded = compare_with(path, &document);
    snprintf(path, sizeof path, "%s/fixtures/execution/bundles/nsight-%s/evidence.json", fixtures,
             name);
    is_recorded = compare_with(path, &document) || is_recorded;
    assert_true(is_recorded);
    compare_queries(from, name, &document);
    evidence_free(from);
    buf_free(&document);
}

static void folders_give_the_recorded_answers(void **state)
{
    char path[1024];
    unsigned count = 0;
    struct dirent *entry;
    DIR *listing;

    (void)state;
    snprintf(path, sizeof path, "%s/fixtures/execution/nsight", fixtures);
    listing = opendir(path);
    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        if (strchr(entry->d_name, '.') != NULL)
            continue;
        compare_folder(entry->d_name);
        count++;
    }
    closedir(listing);
    assert_true(count > 0);
}

static void a_trace_alone_gives_the_recorded_answers(void **state)
{
    char trace[1024], path[1024];
    static const document_input input = {.requested_path = {"t", 1}, .trace_path = {"t", 1}};
    evidence *from;
    buf document;
    heap memory;

    (void)state;
    heap_init(&memory, NULL);
    buf_init(&document, &memory, SIZE_MAX);
    snprintf(trace, sizeof trace, "%s/fixtures/execution/nsight/trace.jsonl", fixtures);
    from = read_evidence(trace, NULL);
    for (uint32_t kind = QUERY_GPU_STATUS; kind <= QUERY_GPU_GAPS; kind++) {
        document_query query = {.kind = kind, .word = query_rows[kind].word};

        buf_clear(&document);
        assert_int_equal(
            document_query_write(from, &input, &query, (cg_sink){&document, collect}, NULL), CG_OK);
        snprintf(path, sizeof path, "%s/fixtures/execution/golden/nsight/trace/query-%s.json",
                 fixtures, query.word.ptr);
        assert_true(compare_with(path, &document));
    }
    evidence_free(from);
    buf_free(&document);
}

static cg_code print_bytes(void *context, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count ? CG_OK : CG_OUTPUT;
}

static int print_gpu(const char *trace, const char *directory)
{
    evidence *from = read_evidence(trace, directory);
    jsonw out;
    cg_code code = jw_init(&out, from->heap, (cg_sink){stdout, print_bytes}, true, false);

    if (code == CG_OK) {
        sc_write(&out, &table_gpu, &from->gpu.wire);
        code = jw_finish(&out, NULL);
    }
    evidence_free(from);
    return code == CG_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_give_the_recorded_answers),
        cmocka_unit_test(a_trace_alone_gives_the_recorded_answers),
    };

    if (argc == 4 && strcmp(argv[1], "print") == 0)
        return print_gpu(argv[2], argv[3]);
    fixtures = getenv("CG_FIXTURES");
    if (fixtures == NULL || fixtures[0] == '\0') {
        puts("no fixtures: set CG_FIXTURES");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
