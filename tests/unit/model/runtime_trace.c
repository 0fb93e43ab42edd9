#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "model/runtime_facts.h"
#include "support/model.h"

#include <cmocka.h>

#define META                                                                                       \
    "{\"kind\":\"meta\",\"schema\":\"candle-graph/runtime/3\",\"entrypoint\":\"e\","               \
    "\"profile\":\"p\"}\n"
#define GRADIENT(event, rest)                                                                      \
    "{\"kind\":\"gradient\",\"event_id\":\"" event "\",\"root\":\"vb\",\"key\":\"w\"," rest "}\n"

static runtime_trace *read_text(const char *text)
{
    runtime_trace *trace = NULL;
    cg_err err = {0};

    if (runtime_read_text(NULL, str_from(text), &trace, &err) != CG_OK)
        fail_msg("%s: %s", err.problem, err.text);
    return trace;
}

static cg_err refuse(const char *text)
{
    runtime_trace *trace = NULL;
    cg_err err = {0};

    assert_int_equal(runtime_read_text(NULL, str_from(text), &trace, &err), CG_INPUT);
    assert_null(trace);
    return err;
}

static void records_keep_their_order(void **state)
{
    runtime_trace *trace = read_text(META GRADIENT("b", "\"state\":\"missing\"") GRADIENT(
        "a", "\"state\":\"present\",\"step\":3,\"norm\":0.5"));

    (void)state;
    assert_int_equal(trace->gradients.count, 2);
    assert_true(event_ids_compare(&trace->events, trace->gradients.at[0].event,
                                  trace->gradients.at[1].event) > 0);
    assert_false(trace->gradients.at[0].has_step);
    assert_int_equal(trace->gradients.at[1].step, 3);
    assert_true(trace->gradients.at[1].norm == 0.5);
    assert_int_equal(trace->gradients.at[0].key, trace->gradients.at[1].key);
    runtime_free(trace);
}

static void a_line_in_any_spelling_is_the_same(void **state)
{
    runtime_trace *trace = read_text(
        META "{ \"key\":\"w\", \"root\":\"\\u0076b\", \"state\":\"present\", \"norm\":5e-1,"
             "\"kind\":\"gradient\",\"x\":[{}],\"event_id\":\"a\" }\n" GRADIENT(
                 "b", "\"state\":\"present\",\"norm\":0.5"));
    const runtime_gradient *rows = trace->gradients.at;

    (void)state;
    assert_int_equal(trace->gradients.count, 2);
    assert_true(rows[0].root == rows[1].root && rows[0].key == rows[1].key &&
                rows[0].norm == rows[1].norm && rows[0].state == rows[1].state);
    runtime_free(trace);
}

static void a_refusal_has_its_line(void **state)
{
    cg_err err = refuse(META "\n" GRADIENT("a", "\"state\":\"missing\"")
                            GRADIENT("a", "\"state\":\"missing\""));

    (void)state;
    assert_string_equal(err.problem, "runtime-event-id");
    assert_int_equal(err.line, 4);
    err = refuse("{\"schema\":\"candle-graph/runtime/1\",\n\"run\":}\n");
    assert_string_equal(err.problem, "runtime-json");
    assert_int_equal(err.line, 2);
}

static void a_bad_meta_line_is_not_kept(void **state)
{
    cg_err err = refuse(META META);

    (void)state;
    assert_string_equal(err.problem, "runtime-meta");
    assert_int_equal(err.line, 2);
}

/* --- facts --- */

static runtime_facts facts_of(arena *mem, const runtime_trace *trace)
{
    runtime_facts facts;

    assert_int_equal(runtime_facts_make(mem, trace, &facts, NULL), CG_OK);
    return facts;
}

static void the_latest_step_is_the_headline(void **state)
{
    runtime_trace *trace = read_text(META GRADIENT("a", "\"state\":\"zero\",\"step\":10")
                                         GRADIENT("b", "\"state\":\"present\",\"step\":9"));
    runtime_facts facts;
    heap memory;
    arena mem;

    (void)state;
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    facts = facts_of(&mem, trace);
    assert_int_equal(facts.gradient_count, 1);
    assert_int_equal(facts.gradients[0].headline->state, GRADIENT_STATE_ZERO);
    assert_int_equal(facts.gradients[0].moved.value, 9);
    assert_null(facts.gradients[0].disputed);
    assert_int_equal(facts.classes[GRADIENT_STATE_ZERO], 1);
    arena_free(&mem);
    runtime_free(trace);
    assert_int_equal(memory.used_bytes, 0);
}

static void one_step_does_not_contradict_itself(void **state)
{
    runtime_trace *trace = read_text(META GRADIENT("a", "\"state\":\"missing\",\"step\":1")
                                         GRADIENT("b", "\"state\":\"present\",\"step\":1")
                                             GRADIENT("c", "\"state\":\"present\",\"step\":2"));
    runtime_facts facts;
    heap memory;
    arena mem;

    (void)state;
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    facts = facts_of(&mem, trace);
    assert_non_null(facts.gradients[0].disputed);
    assert_int_equal(facts.gradients[0].disputed->step, 1);
    assert_int_equal(facts.gradients[0].headline->step, 2);
    assert_int_equal(facts.gradient_conflicts, 1);
    arena_free(&mem);
    runtime_free(trace);
}

static void many_things_are_told_apart(void **state)
{
    heap memory;
    buf text;
    runtime_trace *trace;
    runtime_facts facts;
    arena mem;

    (void)state;
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    buf_init(&text, &memory, SIZE_MAX);
    buf_add(&text, CG_LIT(META));
    for (unsigned i = 0; i < 30000; i++)
        buf_addf(&text,
                 "{\"kind\":\"operation\",\"event_id\":\"o%u\",\"op\":\"x\",\"static_id\":\"s%u\","
                 "\"inputs\":[],\"duration_ns\":%u}\n",
                 i, i % 1000, i);
    buf_byte(&text, '\0');
    trace = read_text(text.at);
    facts = facts_of(&mem, trace);
    assert_int_equal(facts.operation_count, 1000);
    assert_true(str_equal(runtime_text(trace, facts.operations[0].static_id), CG_LIT("s0")));
    assert_int_equal(facts.operations[0].timing.samples, 30);
    assert_int_equal(facts.operations[0].timing.min_ns, 0);
    assert_int_equal(facts.operations[0].timing.max_ns, 29000);
    assert_int_equal(facts.operations[0].timing.avg_ns, 14500);
    assert_int_equal(facts.average_duration_ns.value, 14999);
    buf_free(&text);
    arena_free(&mem);
    runtime_free(trace);
    assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_keep_their_order),
        cmocka_unit_test(a_line_in_any_spelling_is_the_same),
        cmocka_unit_test(a_refusal_has_its_line),
        cmocka_unit_test(a_bad_meta_line_is_not_kept),
        cmocka_unit_test(the_latest_step_is_the_headline),
        cmocka_unit_test(one_step_does_not_contradict_itself),
        cmocka_unit_test(many_things_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
