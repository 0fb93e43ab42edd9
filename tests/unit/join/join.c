#include "unit/base/failing.h"

#include "join/join_rows.h"
#include "support/capture.h"
#include "support/model.h"

/* The sample model (tests/support/model.h) and captures of it. */
typedef struct world {
    heap heap;
    model_document document;
    join joined;
    arena mem;
    join_doc doc;
    buf text;
} world;

static void begin(world *self, const char *component)
{
    memset(self, 0, sizeof *self);
    heap_init(&self->heap, NULL);
    arena_init(&self->mem, &self->heap);
    buf_init(&self->text, &self->heap, SIZE_MAX / 2);
    model_sample_document(&self->heap, &self->document);
    assert_int_equal(join_open(&self->joined, &self->heap, NULL, &self->document.doc,
                               str_from(component), 7, NULL),
                     CG_OK);
}

static void add(world *self, evidence *from)
{
    assert_int_equal(join_add(&self->joined, from, CG_LIT("run.jsonl"), false, NULL), CG_OK);
    evidence_free(from);
}

static void make(world *self, const char *select, uint64_t limit, uint64_t offset)
{
    const join_options options = {str_from(select), limit, offset};
    jsonw out;

    assert_int_equal(join_document_make(&self->joined, &options, &self->mem, &self->doc, NULL),
                     CG_OK);
    buf_clear(&self->text);
    assert_int_equal(jw_init(&out, &self->heap, model_sink(&self->text), false, false), CG_OK);
    sc_write(&out, &table_join_doc, &self->doc);
    assert_int_equal(jw_finish(&out, NULL), CG_OK);
    model_expect_json(&self->heap, buf_text(&self->text));
}

static void end(world *self)
{
    buf_free(&self->text);
    arena_free(&self->mem);
    join_free(&self->joined);
    model_free(&self->document);
    assert_int_equal(self->heap.used_bytes, 0);
}

/* A forward pass through layers 0 and 2, and a record that fits nothing. */
static void record_forward(capture *self)
{
    capture_begin(self);
    capture_span(self, "s1", NULL, "e", 0, 100);
    capture_measured(self, "s2", "s1", "step", 1, 98);
    capture_span(self, "s3", "s2", "net::Net::forward", 2, 90);
    capture_span(self, "s4", "s3", "layers.0", 3, 10);
    capture_span(self, "s5", "s3", "net/layers/2", 14, 10);
    capture_span(self, "s6", "s3", "nobody", 30, 10);
    capture_op(self, "s3", "matmul", "", "m", 50, 5);
    capture_tensor(self, "s5", "t", "layers.2.w", "parameter");
    capture_stats(self, "s3", "layers.0.out", 3);
}

static void names_meet_functions_layers_and_keys(void **state)
{
    capture c;
    world w;

    (void)state;
    begin(&w, NULL);
    record_forward(&c);
    add(&w, capture_complete(&c, 100));
    make(&w, NULL, 100, 0);
    model_expect_holds(&w.text, "\"rule\":\"qualified_name\",\"scope\":\"item\",\"names\":["
                                "\"net::Net::forward\"]");
    model_expect_holds(&w.text, "\"rule\":\"module_template\",\"scope\":\"item\",\"names\":["
                                "\"layers.0\",\"net/layers/2\"],\"name_count\":2");
    model_expect_holds(&w.text, "\"rule\":\"parameter_template\"");
    model_expect_holds(&w.text, "\"rule\":\"label_of_module\"");
    model_expect_holds(&w.text, "\"name\":\"nobody\"");
    model_expect_holds(&w.text, "\"part\":\"undecided\"");
    end(&w);
}

static void a_failed_capture_is_diagnostic_and_proves_no_absence(void **state)
{
    const join_run *run;
    const join_summary *summary;
    const join_absents *absents;
    capture c;
    world w;

    (void)state;
    begin(&w, NULL);
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "e", 0, false);
    capture_open(&c, "s2", "s1", "step", 1, true);
    capture_open(&c, "s3", "s2", "net::Net::forward", 2, false);
    add(&w, capture_failed(&c, 100));
    make(&w, NULL, 100, 0);
    run = w.doc.runs.at;
    summary = w.doc.summary;
    absents = w.doc.declared_not_executed;
    assert_int_equal(run->worth, JOIN_WORTH_DIAGNOSTIC);
    assert_int_equal(absents->total, 0);
    assert_int_equal(summary->cannot_tell.count, 1);
    model_expect_holds(&w.text, "\"open\":1");
    model_expect_holds(&w.text, "\"worth\":\"diagnostic\"");
    end(&w);
}

static void an_invalid_trace_adds_nothing(void **state)
{
    const join_run *run;
    const join_rows *rows;
    trace_doc *trace = NULL;
    evidence *invalid = NULL;
    capture c;
    world w;

    (void)state;
    begin(&w, NULL);
    record_forward(&c);
    capture_measured(&c, "s9", "s1", "another", 99, 1);
    capture_line(&c, "{'kind':'terminal','outcome':'complete','timestamp_ns':100}");
    assert_int_equal(trace_read_text(NULL, (cg_str){c.text, c.len}, &trace, NULL), CG_OK);
    assert_int_equal(evidence_build(NULL, trace, &invalid, NULL), CG_OK);
    add(&w, invalid);
    make(&w, NULL, 100, 0);
    run = w.doc.runs.at;
    rows = w.doc.rows;
    assert_int_equal(run->worth, JOIN_WORTH_NOTHING);
    assert_non_null(run->reason.ptr);
    assert_int_equal(rows->total, 0);
    end(&w);
}

static void lists_are_cut_each_by_itself(void **state)
{
    const join_rows *rows;
    uint64_t all;
    capture c;
    world w;

    (void)state;
    begin(&w, NULL);
    record_forward(&c);
    add(&w, capture_complete(&c, 100));
    make(&w, NULL, UINT64_MAX, 0);
    rows = w.doc.rows;
    all = rows->total;
    assert_int_equal(rows->returned, all);
    assert_false(rows->is_truncated);
    make(&w, NULL, 1, 1);
    rows = w.doc.rows;
    assert_int_equal(rows->total, all);
    assert_int_equal(rows->returned, 1);
    assert_true(rows->is_truncated);
    make(&w, "layers", 100, 0);
    rows = w.doc.rows;
    assert_true(rows->total > 0 && rows->total < all);
    make(&w, NULL, 100, UINT64_MAX);
    rows = w.doc.rows;
    assert_int_equal(rows->returned, 0);
    end(&w);
}

static void a_component_that_is_none_is_refused(void **state)
{
    model_document document;
    cg_err err = {0};
    join joined;
    heap from;

    (void)state;
    heap_init(&from, NULL);
    model_sample_document(&from, &document);
    assert_int_equal(join_open(&joined, &from, NULL, &document.doc, CG_LIT("Nobody"), 7, &err),
                     CG_USAGE);
    assert_non_null(strstr(err.text, "Nobody"));
    model_free(&document);
    assert_int_equal(from.used_bytes, 0);
}

static bool refuse(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)context;
    (void)stage;
    (void)done;
    (void)total;
    return false;
}

/* Memory is refused at every request in turn: told, and nothing is kept. */
static void out_of_memory_leaks_nothing(void **state)
{
    model_document document;
    evidence *run;
    heap of_model;
    capture c;
    bool is_done = false;

    (void)state;
    heap_init(&of_model, NULL);
    model_sample_document(&of_model, &document);
    record_forward(&c);
    run = capture_complete(&c, 100);
    for (size_t k = 1; !is_done; k++) {
        const join_options options = {{0}, 100, 0};
        failing memory = {.fail_at = k};
        join_doc doc;
        join joined;
        arena mem;
        heap from;

        heap_init(&from, failing_env(&memory));
        arena_init(&mem, &from);
        if (join_open(&joined, &from, NULL, &document.doc, (cg_str){0}, 7, NULL) == CG_OK) {
            is_done = join_add(&joined, run, CG_LIT("r"), false, NULL) == CG_OK &&
                      join_document_make(&joined, &options, &mem, &doc, NULL) == CG_OK;
            join_free(&joined);
        }
        arena_free(&mem);
        assert_nothing_held(&memory, &from);
    }
    evidence_free(run);
    model_free(&document);
}

static void a_request_to_stop_is_honoured(void **state)
{
    const cg_env env = {.size = sizeof env, .progress = refuse};
    model_document document;
    trace_doc *trace = NULL;
    evidence *run;
    buf text;
    heap from;
    join joined;

    (void)state;
    heap_init(&from, NULL);
    buf_init(&text, &from, SIZE_MAX / 2);
    model_sample_document(&from, &document);
    buf_addf(&text,
             "{\"kind\":\"meta\",\"schema\":\"candle-graph/trace/10\",\"run_id\":\"r\","
             "\"correlation_id\":\"c\",\"entrypoint\":\"e\",\"phase\":\"infer\",\"timestamp\":"
             "\"t\",\"capture_step\":1,\"warmup_steps\":0,\"device\":\"cpu\",\"timing_mode\":"
             "\"host\",\"tags\":{},\"capture_contract\":{\"measurement_scope\":\"profiled_work\","
             "\"operations\":\"none\",\"tensors\":\"none\",\"gradients\":\"none\","
             "\"logical_memory\":\"none\",\"physical_memory\":\"none\",\"device_timing\":"
             "\"none\"}}\n"
             "{\"kind\":\"span_start\",\"id\":\"s1\",\"name\":\"e\",\"start_ns\":0,"
             "\"span_kind\":\"function\",\"measured\":true}\n");
    for (unsigned i = 0; i < 70000; i++)
        buf_addf(&text,
                 "{\"kind\":\"span_start\",\"id\":\"t%u\",\"parent_id\":\"s1\",\"name\":\"n\","
                 "\"start_ns\":1,\"span_kind\":\"function\"}\n"
                 "{\"kind\":\"span_end\",\"id\":\"t%u\",\"duration_ns\":1}\n",
                 i, i);
    buf_addf(&text, "{\"kind\":\"span_end\",\"id\":\"s1\",\"duration_ns\":9}\n"
                    "{\"kind\":\"terminal\",\"outcome\":\"complete\",\"timestamp_ns\":9}\n");
    assert_int_equal(trace_read_text(NULL, buf_text(&text), &trace, NULL), CG_OK);
    assert_int_equal(evidence_build(NULL, trace, &run, NULL), CG_OK);
    assert_int_equal(join_open(&joined, &from, &env, &document.doc, (cg_str){0}, 7, NULL), CG_OK);
    assert_int_equal(join_add(&joined, run, CG_LIT("r"), false, NULL), CG_INTERRUPTED);
    join_free(&joined);
    evidence_free(run);
    buf_free(&text);
    model_free(&document);
    assert_int_equal(from.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_meet_functions_layers_and_keys),
        cmocka_unit_test(a_failed_capture_is_diagnostic_and_proves_no_absence),
        cmocka_unit_test(an_invalid_trace_adds_nothing),
        cmocka_unit_test(lists_are_cut_each_by_itself),
        cmocka_unit_test(a_component_that_is_none_is_refused),
        cmocka_unit_test(out_of_memory_leaks_nothing),
        cmocka_unit_test(a_request_to_stop_is_honoured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
