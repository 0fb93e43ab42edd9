#include <setjmp.h>
#include <stdarg.h>

#include "model/normalise.h"
#include "support/model.h"

#include <cmocka.h>

static void write_to(const model_document *document, bool is_pretty, buf *out)
{
    jsonw writer;

    buf_init(out, document->heap, SIZE_MAX);
    assert_int_equal(jw_init(&writer, document->heap, model_sink(out), is_pretty, false), CG_OK);
    model_write(&document->doc, &writer);
    assert_int_equal(jw_finish(&writer, NULL), CG_OK);
}

static void what_is_written_reads_back_the_same(void **state)
{
    heap memory;
    model_document made;
    model_document read;
    buf first;
    buf second;

    (void)state;
    heap_init(&memory, NULL);
    model_sample_document(&memory, &made);
    write_to(&made, true, &first);
    assert_int_equal(model_read(&memory, buf_text(&first), &read, NULL), CG_OK);
    write_to(&read, true, &second);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.at, second.at, first.len);
    buf_free(&second);
    assert_int_equal(model_normalise(&read, NULL), CG_OK);
    write_to(&read, true, &second);
    assert_memory_equal(first.at, second.at, first.len);
    model_expect_holds(&first, "\"device\": {\n        \"cuda\": {\n          \"ordinal\": 0");
    model_expect_holds(&first, "\"same_as\": \"x\"");
    model_expect_holds(&first, "\"certainty\": \"certain\"");
    buf_free(&first);
    buf_free(&second);
    model_free(&made);
    model_free(&read);
    assert_int_equal(memory.used_bytes, 0);
}

static void components_list_what_belongs_to_them(void **state)
{
    heap memory;
    model_document made;
    const model_component *net;

    (void)state;
    heap_init(&memory, NULL);
    model_sample_document(&memory, &made);
    net = MODEL_AT(made.doc.components, model_component, 1);
    assert_string_equal(net->id.ptr, "component:net%3A%3ANet");
    assert_int_equal(net->modules.count, 2);
    assert_int_equal(net->parameters.count, 3);
    assert_int_equal(net->entrypoints.count, 1);
    assert_int_equal(((const model_coverage *)made.doc.coverage)->component_entrypoints, 1);
    assert_int_equal(((const model_coverage *)made.doc.coverage)->tensors_with_device, 1);
    model_free(&made);
}

static void equal_ids_are_one_record_and_equal_findings_are_joined(void **state)
{
    heap memory;
    model_draft draft;
    model_document made;
    const model_finding *finding;

    (void)state;
    heap_init(&memory, NULL);
    model_draft_init(&draft, &memory);
    for (unsigned i = 0; i < 2; i++) {
        model_artifact *artifact = draft_artifact(&draft);
        model_finding *same = draft_finding(&draft);

        artifact->id = CG_LIT("artifact:a");
        artifact->name = i == 0 ? CG_LIT("first") : CG_LIT("second");
        same->rule = CG_LIT("dtype-risk");
        same->message = CG_LIT("m");
        assert_true(draft_text(&draft, &same->related, i == 0 ? CG_LIT("b") : CG_LIT("a")));
        assert_true(draft_evidence(&draft, &same->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                                   MODEL_CONFIDENCE_PROVEN, i == 0 ? CG_LIT("s") : (cg_str){0},
                                   CG_LIT("d")));
    }
    assert_int_equal(model_finish(&draft, &made, NULL), CG_OK);
    assert_int_equal(made.doc.artifacts.count, 1);
    assert_string_equal(MODEL_AT(made.doc.artifacts, model_artifact, 0)->name.ptr, "first");
    assert_int_equal(made.doc.findings.count, 1);
    finding = MODEL_AT(made.doc.findings, model_finding, 0);
    assert_string_equal(finding->id.ptr, "finding:dtype-risk::m");
    assert_int_equal(finding->related.count, 2);
    assert_string_equal(finding->related.at[0].ptr, "a");
    assert_int_equal(finding->evidence.count, 2);
    assert_null(MODEL_AT(finding->evidence, model_evidence, 0)->source.ptr);
    model_free(&made);
}

static void stages_stand_in_their_order_and_stay(void **state)
{
    heap memory;
    model_draft draft;
    model_document made;

    (void)state;
    heap_init(&memory, NULL);
    model_draft_init(&draft, &memory);
    draft_stage(&draft)->id = CG_LIT("stage:a");
    for (uint64_t i = 2; i > 0; i--) {
        model_stage *stage = draft_stage(&draft);

        stage->id = CG_LIT("stage:z");
        stage->order = (opt_u64){i, true};
    }
    assert_int_equal(model_finish(&draft, &made, NULL), CG_OK);
    assert_int_equal(made.doc.stages.count, 3);
    assert_int_equal(MODEL_AT(made.doc.stages, model_stage, 0)->order.value, 1);
    assert_string_equal(MODEL_AT(made.doc.stages, model_stage, 2)->id.ptr, "stage:a");
    model_free(&made);
}

static void the_shape_of_a_scalar_is_not_null(void **state)
{
    static const uint64_t none = 0;
    heap memory;
    model_draft draft;
    model_document made;
    buf text;

    (void)state;
    heap_init(&memory, NULL);
    model_draft_init(&draft, &memory);
    draft_parameter(&draft)->checkpoint_shape = (sc_u64s){&none, 0};
    assert_int_equal(model_finish(&draft, &made, NULL), CG_OK);
    write_to(&made, false, &text);
    model_expect_holds(&text, "\"checkpoint_shape\":[]");
    buf_free(&text);
    model_free(&made);
}

static void other_documents_are_refused(void **state)
{
    heap memory;
    model_document read;
    cg_err error = {0};

    (void)state;
    heap_init(&memory, NULL);
    assert_int_equal(model_read(&memory, CG_LIT("{\"schema\":"), &read, &error), CG_INPUT);
    assert_string_equal(error.problem, "model-json");
    error = (cg_err){0};
    assert_int_equal(model_read(&memory, CG_LIT("{}"), &read, &error), CG_INPUT);
    assert_string_equal(error.problem, "field-missing");
    assert_int_equal(memory.used_bytes, 0);
}

/* Tensors move while they are added, and are put in order where they lie. */
static void many_tensors_are_put_in_order(void **state)
{
    enum { MANY = 700, STEP = 451 }; /* no common divisor */
    heap from;
    model_draft draft;
    model_document made;
    size_t count;

    (void)state;
    heap_init(&from, NULL);
    model_draft_init(&draft, &from);
    for (unsigned i = 0; i < MANY + 50; i++) {
        model_tensor *tensor = draft_tensor(&draft);
        unsigned number = i * STEP % MANY; /* the last fifty are there already */

        assert_non_null(tensor);
        assert_true(arena_format(&draft.mem, &tensor->id, "tensor:%u", 1000 + number));
        assert_true(arena_format(&draft.mem, &tensor->name, "%u", i < MANY ? number : MANY));
    }
    assert_int_equal(model_finish(&draft, &made, NULL), CG_OK);
    count = made.doc.tensors.count;
    assert_int_equal(count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        const model_tensor *tensor = MODEL_AT(made.doc.tensors, model_tensor, i);
        char id[32];
        char name[32];

        snprintf(id, sizeof id, "tensor:%u", 1000 + i);
        snprintf(name, sizeof name, "%u", i);
        assert_true(str_equal(tensor->id, str_from(id)));
        assert_true(str_equal(tensor->name, str_from(name)));
        assert_string_equal(tensor->dtype.ptr, MODEL_NO_DTYPE);
    }
    model_free(&made);
    assert_int_equal(from.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back_the_same),
        cmocka_unit_test(components_list_what_belongs_to_them),
        cmocka_unit_test(equal_ids_are_one_record_and_equal_findings_are_joined),
        cmocka_unit_test(many_tensors_are_put_in_order),
        cmocka_unit_test(stages_stand_in_their_order_and_stay),
        cmocka_unit_test(the_shape_of_a_scalar_is_not_null),
        cmocka_unit_test(other_documents_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
