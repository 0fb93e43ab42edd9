#include <setjmp.h>
#include <stdarg.h>

#include "codec/json.h"
#include "support/facts.h"
#include "unit/base/failing.h"
#include "view/document.h"

#include <cmocka.h>

static const document_input input = {.requested_path = {"t.jsonl", 7},
                                     .trace_path = {"t.jsonl", 7}};

/* A document written and read back; `json` is valid until the next one. */
typedef struct reading {
    heap heap;
    buf text;
    json_reader reader;
    yyjson_val *json;
} reading;

static void begin(reading *self)
{
    heap_init(&self->heap, NULL);
    buf_init(&self->text, &self->heap, SIZE_MAX);
    json_init(&self->reader, &self->heap, 127);
}

static void end(reading *self)
{
    json_free(&self->reader);
    buf_free(&self->text);
}

static void parse(reading *self)
{
    json_fault fault;

    if (json_read(&self->reader, buf_text(&self->text), &self->json, &fault) != CG_OK)
        fail_msg("not JSON at %zu: %s", fault.offset, fault.text);
    assert_int_equal(self->text.at[self->text.len - 1], '\n');
}

static void ask(reading *self, const evidence *e, const document_query *query)
{
    buf_clear(&self->text);
    assert_int_equal(document_query_write(e, &input, query, facts_sink(&self->text), NULL), CG_OK);
    parse(self);
}

static void summarize(reading *self, const evidence *e)
{
    buf_clear(&self->text);
    assert_int_equal(document_summary(e, &input, facts_sink(&self->text), NULL), CG_OK);
    parse(self);
}

static yyjson_val *at(yyjson_val *from, const char *pointer)
{
    yyjson_val *ret = yyjson_ptr_get(from, pointer);

    if (ret == NULL)
        fail_msg("`%s` is missing", pointer);
    return ret;
}

static void expect_text(yyjson_val *from, const char *pointer, const char *want)
{
    assert_string_equal(yyjson_get_str(at(from, pointer)), want);
}

static void expect_number(yyjson_val *from, const char *pointer, uint64_t want)
{
    assert_int_equal(yyjson_get_uint(at(from, pointer)), want);
}

static size_t length(yyjson_val *from, const char *pointer)
{
    return yyjson_get_len(at(from, pointer));
}

/* Depth is bounded by our documents. */
static void expect_sorted(yyjson_val *value)
{
    yyjson_val *previous = NULL, *key, *item;
    yyjson_obj_iter members;
    yyjson_arr_iter items;

    if (yyjson_is_arr(value)) {
        yyjson_arr_iter_init(value, &items);
        while ((item = yyjson_arr_iter_next(&items)) != NULL)
            expect_sorted(item);
    }
    if (!yyjson_is_obj(value))
        return;
    yyjson_obj_iter_init(value, &members);
    while ((key = yyjson_obj_iter_next(&members)) != NULL) {
        if (previous != NULL)
            assert_true(str_compare(json_text(previous), json_text(key)) < 0);
        previous = key;
        expect_sorted(yyjson_obj_iter_get_val(key));
    }
}

static evidence *rich(void)
{
    capture c;

    capture_begin(&c);
    facts_rich(&c);
    return capture_complete(&c, 100);
}

static void evidence_keeps_the_order_of_the_tables(void **state)
{
    static const char *const keys[] = {
        "schema", "provenance", "health",       "capabilities", "findings", "facts",
        "gaps",   "graph",      "tensor_stats", "timing",       "memory",   "gpu",
    };
    evidence *e = rich();
    reading r;
    yyjson_obj_iter members;

    (void)state;
    begin(&r);
    assert_int_equal(document_evidence(e, facts_sink(&r.text), NULL), CG_OK);
    parse(&r);
    yyjson_obj_iter_init(r.json, &members);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_string_equal(yyjson_get_str(yyjson_obj_iter_next(&members)), keys[i]);
    assert_null(yyjson_obj_iter_next(&members));
    expect_text(r.json, "/schema", "candle-graph/evidence/4");
    expect_text(r.json, "/graph/schema", "candle-graph/graph/5");
    expect_text(r.json, "/graph/spans/0/kind", "root");
    assert_true(yyjson_is_null(at(r.json, "/graph/spans/0/parent_id")));
    expect_text(r.json, "/graph/spans/3/id", "s3/op/0");
    expect_text(r.json, "/graph/edges/0/kind", "call");
    expect_number(r.json, "/facts/0/value/value", 80);
    expect_number(r.json, "/health/coverage/gradients", 2);
    assert_int_equal(yyjson_get_len(at(r.json, "/gpu/limits")), 0);
    end(&r);
    evidence_free(e);
}

static void an_absent_graph_leaves_its_field_out(void **state)
{
    capture c;
    evidence *e;
    reading r;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 100);
    e = capture_failed(&c, 100);
    begin(&r);
    assert_int_equal(document_evidence(e, facts_sink(&r.text), NULL), CG_OK);
    parse(&r);
    assert_null(yyjson_obj_get(r.json, "graph"));
    assert_null(yyjson_obj_get(r.json, "tensor_stats"));
    assert_int_equal(length(r.json, "/memory"), 0);
    summarize(&r, e);
    assert_true(yyjson_is_null(at(r.json, "/summary")));
    buf_clear(&r.text);
    assert_int_equal(document_overview(e, &input, facts_sink(&r.text), NULL), CG_OK);
    parse(&r);
    assert_true(yyjson_is_null(at(r.json, "/timing")));
    assert_true(yyjson_is_str(at(r.json, "/timing_unavailable_reason")));
    assert_true(yyjson_is_null(at(r.json, "/counts/graph_spans")));
    end(&r);
    evidence_free(e);
}

static void summary_and_overview_are_sorted_at_every_depth(void **state)
{
    evidence *e = rich();
    reading r;

    (void)state;
    begin(&r);
    summarize(&r, e);
    expect_sorted(r.json);
    expect_text(r.json, "/schema", "candle-graph/summary/5");
    expect_text(r.json, "/tool/package", "candle-graph");
    expect_text(r.json, "/input/requested_path", "t.jsonl");
    expect_number(r.json, "/tensor_stats/events", 2);
    expect_number(r.json, "/tensor_stats/non_finite_events", 1);
    expect_number(r.json, "/memory/logical/peak/live_bytes_by_category/other", 96);
    assert_int_equal(length(r.json, "/memory/logical/timeline"), 3);
    expect_number(r.json, "/gpu/diagnostic_count", 2);

    buf_clear(&r.text);
    assert_int_equal(document_overview(e, &input, facts_sink(&r.text), NULL), CG_OK);
    parse(&r);
    expect_sorted(r.json);
    expect_number(r.json, "/counts/graph_spans", 3 + 2 + 4);
    expect_number(r.json, "/timing/outer_wall_time_ns", 80);
    expect_number(r.json, "/findings/total", 2);
    end(&r);
    evidence_free(e);
}

static void names_given_after_the_peak_do_not_belong_to_it(void **state)
{
    capture c;
    evidence *e;
    reading r;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    for (unsigned i = 0; i < 2; i++)
        capture_line(&c,
                     "{'kind':'memory','timestamp_ns':%u,'storage_id':'a','tensor_id':'t%u',"
                     "'span_id':'s1','device':'cpu','bytes':8,'action':'alloc','dtype':'u8'}",
                     10 + i, i);
    e = capture_complete(&c, 100);
    begin(&r);
    summarize(&r, e);
    assert_int_equal(length(r.json, "/memory/logical/lifetimes/0/tensor_ids"), 2);
    assert_int_equal(length(r.json, "/memory/logical/peak/live_allocations/0/tensor_ids"), 1);
    end(&r);
    evidence_free(e);
}

static void every_query_answers_in_its_envelope(void **state)
{
    evidence *e = rich();
    reading r;

    (void)state;
    begin(&r);
    for (uint32_t kind = 0; kind < QUERY_COUNT; kind++) {
        document_query query = {.kind = kind, .word = query_rows[kind].word};

        ask(&r, e, &query);
        expect_sorted(r.json);
        expect_text(r.json, "/schema", "candle-graph/trace-query/5");
        assert_true(str_equal(json_text(at(r.json, "/kind")), query_rows[kind].word));
        assert_true(yyjson_is_null(at(r.json, "/filter/label")));
        assert_false(yyjson_is_null(at(r.json, "/result")));
    }
    end(&r);
    evidence_free(e);
}

static void a_filter_counts_what_matches(void **state)
{
    evidence *e = rich();
    reading r;

    (void)state;
    begin(&r);
    ask(&r, e, &(document_query){.kind = QUERY_SPANS, .label_prefix = CG_LIT("up")});
    expect_number(r.json, "/result/total", 9);
    expect_number(r.json, "/result/matched", 1);
    expect_text(r.json, "/result/rows/0/id", "s2");
    assert_true(yyjson_is_null(at(r.json, "/result/edges")));
    assert_null(yyjson_ptr_get(r.json, "/result/returned"));
    ask(&r, e, &(document_query){.kind = QUERY_TENSORS, .label = CG_LIT("x")});
    expect_number(r.json, "/result/matched", 1);
    ask(&r, e, &(document_query){.kind = QUERY_TENSORS, .label = CG_LIT("w")});
    expect_number(r.json, "/result/matched", 0); /* its label hides its id */
    ask(&r, e, &(document_query){.kind = QUERY_GRADIENTS, .label = CG_LIT("vb/w")});
    expect_number(r.json, "/result/matched", 1);
    ask(&r, e, &(document_query){.kind = QUERY_GRADIENTS, .label = CG_LIT("w")});
    expect_number(r.json, "/result/matched", 1);
    ask(&r, e, &(document_query){.kind = QUERY_TENSOR_STATS, .label = CG_LIT("")});
    expect_number(r.json, "/result/matched", 0);
    end(&r);
    evidence_free(e);
}

static void expect_page(yyjson_val *json, uint64_t returned, uint64_t offset, bool is_truncated)
{
    expect_number(json, "/result/returned", returned);
    expect_number(json, "/result/offset", offset);
    assert_int_equal(yyjson_get_bool(at(json, "/result/truncated")), is_truncated);
    assert_int_equal(length(json, "/result/rows"), returned);
}

static void a_limit_pages_a_collection(void **state)
{
    evidence *e = rich();
    reading r;
    document_query query = {.kind = QUERY_SPANS, .has_limit = true, .limit = 2, .offset = 1};

    (void)state;
    begin(&r);
    ask(&r, e, &query);
    expect_page(r.json, 2, 1, true);
    expect_text(r.json, "/result/rows/0/id", "s2");
    assert_null(yyjson_ptr_get(r.json, "/result/matched"));
    query.offset = 8;
    ask(&r, e, &query);
    expect_page(r.json, 1, 8, false);
    query.offset = UINT64_MAX;
    ask(&r, e, &query);
    expect_page(r.json, 0, UINT64_MAX, false);
    query = (document_query){.kind = QUERY_TENSOR_STATS, .has_limit = true, .limit = 0};
    ask(&r, e, &query);
    expect_page(r.json, 0, 0, true);
    query = (document_query){.kind = QUERY_GRADIENTS,
                             .label_prefix = CG_LIT("vb/"),
                             .has_limit = true,
                             .limit = 1,
                             .offset = 1};
    ask(&r, e, &query);
    expect_page(r.json, 1, 1, false);
    expect_number(r.json, "/result/matched", 2);
    expect_text(r.json, "/result/rows/0/key", "b");
    end(&r);
    evidence_free(e);
}

static void labels_and_gaps_always_say_where_their_rows_stand(void **state)
{
    evidence *e = rich();
    reading r;

    (void)state;
    begin(&r);
    ask(&r, e, &(document_query){.kind = QUERY_LABELS});
    expect_page(r.json, yyjson_get_uint(at(r.json, "/result/total")), 0, false);
    ask(&r, e, &(document_query){.kind = QUERY_GAPS});
    expect_page(r.json, yyjson_get_uint(at(r.json, "/result/total")), 0, false);
    expect_number(r.json, "/result/measured_ns", 80);
    ask(&r, e, &(document_query){.kind = QUERY_MODULE_TREE});
    expect_text(r.json, "/result/rows/1/path", "root > update");
    expect_number(r.json, "/result/rows/2/peak_live_bytes_net", 96);
    end(&r);
    evidence_free(e);
}

static void heaviest_operations_are_ranked_by_bytes_then_id(void **state)
{
    capture c;
    evidence *e;
    reading r;
    unsigned count = 0;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 1000);
    for (unsigned i = 0; i < 60; i++) {
        char name[16];

        assert_true(snprintf(name, sizeof name, "op%u", i) > 0);
        capture_op(&c, "s1", name, "", NULL, i, 1);
        capture_line(&c,
                     "{'kind':'memory','timestamp_ns':%u,'storage_id':'m%u','tensor_id':'t',"
                     "'span_id':'s1','op_name':'%s','device':'cpu','bytes':%u,'action':'alloc',"
                     "'dtype':'u8'}",
                     i, i, name, i % 7);
    }
    e = capture_complete(&c, 1000);
    begin(&r);
    ask(&r, e, &(document_query){.kind = QUERY_HEAVIEST});
    assert_int_equal(length(r.json, "/result/heaviest_ops"), 50);
    expect_text(r.json, "/result/heaviest_ops/0/id", "s1/op/13");
    expect_text(r.json, "/result/heaviest_ops/1/id", "s1/op/20");
    expect_text(r.json, "/result/heaviest_ops/7/id", "s1/op/6");
    for (unsigned i = 1; i < 50; i++) {
        yyjson_val *ops = at(r.json, "/result/heaviest_ops");
        yyjson_val *a = yyjson_arr_get(ops, i - 1), *b = yyjson_arr_get(ops, i);

        count += yyjson_get_uint(yyjson_obj_get(a, "allocated_bytes")) >=
                 yyjson_get_uint(yyjson_obj_get(b, "allocated_bytes"));
    }
    assert_int_equal(count, 49);
    end(&r);
    evidence_free(e);
}

static cg_code must_not_write(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    fail_msg("a refused query has written something");
    return CG_OUTPUT;
}

static void refuse(const evidence *e, const document_query *query, cg_code code, const char *id)
{
    cg_err err = {0};

    assert_int_equal(document_query_write(e, &input, query, (cg_sink){NULL, must_not_write}, &err),
                     code);
    assert_string_equal(err.problem, id);
}

static void illegal_queries_are_refused_before_writing(void **state)
{
    capture c;
    evidence *e = rich();

    (void)state;
    refuse(e, &(document_query){.kind = QUERY_MEMORY, .label = CG_LIT("x")}, CG_INPUT,
           "filter-not-allowed");
    refuse(e, &(document_query){.kind = QUERY_HEAVIEST, .label_prefix = CG_LIT("")}, CG_INPUT,
           "filter-not-allowed");
    evidence_free(e);

    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 100);
    e = capture_failed(&c, 100);
    refuse(e, &(document_query){.kind = QUERY_SPANS}, CG_NO_GRAPH, "no-graph");
    evidence_free(e);

    capture_begin(&c);
    capture_span(&c, "s1", "nobody", "root", 0, 100);
    e = facts_failed(&c, 100);
    refuse(e, &(document_query){.kind = QUERY_GAPS}, CG_NO_GRAPH, "no-graph");
    refuse(e, &(document_query){.kind = QUERY_MODULE_TREE}, CG_NO_GRAPH, "no-graph");
    evidence_free(e);
}

static void ours_answer_for_a_failed_capture(void **state)
{
    static const uint32_t kinds[] = {QUERY_LABELS, QUERY_MODULE_TREE, QUERY_NAN_ORIGIN, QUERY_GAPS};
    capture c;
    evidence *e;
    reading r;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    e = capture_failed(&c, 100);
    begin(&r);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        ask(&r, e, &(document_query){.kind = kinds[i]});
    end(&r);
    evidence_free(e);
}

static void protocol_lists_the_schemas_of_both_planes(void **state)
{
    document_command command = {CG_LIT("check"), CG_LIT("a")};
    reading r;

    (void)state;
    begin(&r);
    assert_int_equal(document_protocol(&r.heap, &command, 1, facts_sink(&r.text), NULL), CG_OK);
    parse(&r);
    expect_text(r.json, "/schemas/query", "candle-graph/trace-query/5");
    expect_text(r.json, "/schemas/recovery", "candle-graph/recovery/1");
    expect_text(r.json, "/schemas/model", "candle-graph/model/1");
    expect_text(r.json, "/schemas/static_query", "candle-graph/query/1");
    expect_text(r.json, "/schemas/findings", "candle-graph/findings/1");
    expect_text(r.json, "/schemas/key_map", "candle-graph/key-map/1");
    end(&r);
}

static void protocol_lists_the_viewer_only_with_its_command(void **state)
{
    document_command commands[] = {{CG_LIT("import"), CG_LIT("a")}, {CG_LIT("view"), CG_LIT("b")}};
    reading r;

    (void)state;
    for (size_t count = 1; count <= 2; count++) {
        begin(&r);
        assert_int_equal(document_protocol(&r.heap, commands, count, facts_sink(&r.text), NULL),
                         CG_OK);
        parse(&r);
        expect_sorted(r.json);
        expect_text(r.json, "/schemas/trace_read/0", "candle-graph/trace/9");
        assert_int_equal(yyjson_is_null(at(r.json, "/schemas/viewer")), count == 1);
        assert_int_equal(length(r.json, "/commands"), count);
        end(&r);
    }
}

/* A sink that takes `left` bytes. */
static cg_code take_some(void *context, const char *bytes, size_t count)
{
    size_t *left = context;

    (void)bytes;
    if (*left < count)
        return CG_OUTPUT;
    *left -= count;
    return CG_OK;
}

static void a_full_disk_is_reported(void **state)
{
    evidence *e = rich();
    size_t left = 100;
    cg_err err = {0};

    (void)state;
    assert_int_equal(document_evidence(e, (cg_sink){&left, take_some}, &err), CG_OUTPUT);
    assert_int_equal(err.code, CG_OUTPUT);
    evidence_free(e);
}

static cg_code write_all(const evidence *e, cg_err *reterr)
{
    size_t left = SIZE_MAX;
    cg_sink sink = {&left, take_some};

    CG_TRY(document_evidence(e, sink, reterr));
    CG_TRY(document_summary(e, &input, sink, reterr));
    CG_TRY(document_overview(e, &input, sink, reterr));
    for (uint32_t kind = 0; kind < QUERY_COUNT; kind++)
        CG_TRY(document_query_write(e, &input, &(document_query){.kind = kind}, sink, reterr));
    return CG_OK;
}

static void every_refused_request_is_reported_and_nothing_stays(void **state)
{
    capture c;
    cg_code code = CG_NOMEM;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    capture_line(&c, "{'kind':'terminal','outcome':'complete','timestamp_ns':100}");
    for (size_t k = 1; code != CG_OK; k++) {
        failing memory = {.fail_at = k};
        const cg_env *env = failing_env(&memory);
        trace_doc *trace = NULL;
        evidence *e = NULL;
        cg_err err = {0};

        code = trace_read_text(env, (cg_str){c.text, c.len}, &trace, &err);
        if (code == CG_OK)
            code = evidence_build(env, trace, &e, &err);
        if (code == CG_OK)
            code = write_all(e, &err);
        assert_int_equal(err.code, code);
        assert_true(code == CG_OK || code == CG_NOMEM);
        evidence_free(e);
        assert_int_equal(memory.blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_keeps_the_order_of_the_tables),
        cmocka_unit_test(an_absent_graph_leaves_its_field_out),
        cmocka_unit_test(summary_and_overview_are_sorted_at_every_depth),
        cmocka_unit_test(names_given_after_the_peak_do_not_belong_to_it),
        cmocka_unit_test(every_query_answers_in_its_envelope),
        cmocka_unit_test(a_filter_counts_what_matches),
        cmocka_unit_test(a_limit_pages_a_collection),
        cmocka_unit_test(labels_and_gaps_always_say_where_their_rows_stand),
        cmocka_unit_test(heaviest_operations_are_ranked_by_bytes_then_id),
        cmocka_unit_test(illegal_queries_are_refused_before_writing),
        cmocka_unit_test(ours_answer_for_a_failed_capture),
        cmocka_unit_test(protocol_lists_the_schemas_of_both_planes),
        cmocka_unit_test(protocol_lists_the_viewer_only_with_its_command),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(every_refused_request_is_reported_and_nothing_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
