#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include "support/facts.h"

#include <cmocka.h>

#define NONE                                                                                       \
    "'operations':'none','logical_memory':'none','physical_memory':'none','device_timing':'none'"
#define COMPLETE                                                                                   \
    "'operations':'complete','tensors':'complete','logical_memory':'complete',"                    \
    "'physical_memory':'complete','device_timing':'complete'"
#define VALIDATION "candle-graph/trace/10 validation"

static void expect(const evidence *e, enum capability_kind kind, uint8_t level, const char *source)
{
    const capability *one = &e->capabilities.at[kind];

    if (one->level != level)
        fail_msg("%s is %s: %.*s", capability_kind_word(kind).ptr,
                 capability_level_word(one->level).ptr, (int)one->reason.len, one->reason.ptr);
    if (!str_equal(one->source, str_from(source)))
        fail_msg("%s has the source %s", capability_kind_word(kind).ptr, one->source.ptr);
    assert_true(one->reason.len > 0);
}

static void expect_reason(const evidence *e, enum capability_kind kind, const char *want)
{
    cg_str reason = e->capabilities.at[kind].reason;

    if (!str_equal(reason, str_from(want)))
        fail_msg("the reason is `%.*s`", (int)reason.len, reason.ptr);
}

static void small(capture *c)
{
    capture_span(c, "s1", NULL, "root", 0, 100);
    capture_measured(c, "s2", "s1", "update", 10, 80);
}

static void nothing_declared_and_nothing_recorded_is_unavailable(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    facts_begin(&c, NONE);
    small(&c);
    e = facts_complete(&c, 100);
    expect(e, CAPABILITY_STRUCTURE, CAPABILITY_COMPLETE, VALIDATION);
    expect(e, CAPABILITY_OUTER_WALL, CAPABILITY_COMPLETE, "measured span");
    expect(e, CAPABILITY_HOST_TIME, CAPABILITY_COMPLETE, "span wall intervals");
    for (unsigned i = CAPABILITY_DEVICE_TIME; i < CAPABILITY_COUNT; i++)
        expect(e, (enum capability_kind)i, CAPABILITY_UNAVAILABLE, "none");
    evidence_free(e);
}

static void what_is_recorded_without_being_declared_is_partial(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    facts_begin(&c, NONE);
    facts_rich(&c);
    e = facts_complete(&c, 100);
    expect(e, CAPABILITY_DEVICE_TIME, CAPABILITY_PARTIAL, "device intervals");
    expect_reason(e, CAPABILITY_DEVICE_TIME, "not declared, but 1 device interval recorded");
    expect(e, CAPABILITY_OPERATIONS, CAPABILITY_PARTIAL, "trace op events");
    expect_reason(e, CAPABILITY_OPERATIONS, "not declared, but 2 operations recorded");
    expect(e, CAPABILITY_GRADIENTS, CAPABILITY_PARTIAL, "trace gradient events");
    evidence_free(e);
}

static void declared_complete_needs_observations(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    facts_begin(&c, COMPLETE);
    small(&c);
    e = facts_complete(&c, 100);
    expect(e, CAPABILITY_OPERATIONS, CAPABILITY_INVALID, "trace op events");
    expect_reason(e, CAPABILITY_OPERATIONS, "declared complete, but no operations recorded");
    expect(e, CAPABILITY_LOGICAL_MEMORY, CAPABILITY_INVALID, "storage lifetime events");
    evidence_free(e);

    facts_begin(&c, COMPLETE);
    facts_rich(&c);
    e = facts_complete(&c, 100);
    expect(e, CAPABILITY_OPERATIONS, CAPABILITY_COMPLETE, "trace op events");
    expect_reason(e, CAPABILITY_OPERATIONS, "declared complete, 2 operations recorded");
    expect(e, CAPABILITY_PHYSICAL_MEMORY, CAPABILITY_COMPLETE, "device memory samples");
    evidence_free(e);
}

static void complete_gradients_need_a_contract(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    facts_begin(&c, NONE ",'gradients':'complete'");
    facts_rich(&c);
    e = facts_complete(&c, 100);
    expect(e, CAPABILITY_GRADIENTS, CAPABILITY_INVALID, "exact gradient contract");
    evidence_free(e);
}

static void a_structurally_invalid_trace_spares_only_samples_and_provenance(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    facts_begin(&c, COMPLETE);
    facts_rich(&c);
    capture_op(&c, "nowhere", "lost", "", NULL, 20, 1);
    e = facts_complete(&c, 100);
    expect(e, CAPABILITY_STRUCTURE, CAPABILITY_INVALID, VALIDATION);
    expect(e, CAPABILITY_OUTER_WALL, CAPABILITY_INVALID, VALIDATION);
    expect(e, CAPABILITY_HOST_TIME, CAPABILITY_INVALID, VALIDATION);
    expect(e, CAPABILITY_OPERATIONS, CAPABILITY_INVALID, VALIDATION);
    expect(e, CAPABILITY_LOGICAL_MEMORY, CAPABILITY_INVALID, VALIDATION);
    expect(e, CAPABILITY_PHYSICAL_MEMORY, CAPABILITY_COMPLETE, "device memory samples");
    expect(e, CAPABILITY_PROVENANCE, CAPABILITY_UNAVAILABLE, "none");
    evidence_free(e);
}

static void a_failed_capture_is_never_complete(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    facts_begin(&c, COMPLETE);
    facts_rich(&c);
    e = facts_failed(&c, 100);
    expect(e, CAPABILITY_STRUCTURE, CAPABILITY_COMPLETE, VALIDATION);
    expect(e, CAPABILITY_OUTER_WALL, CAPABILITY_UNAVAILABLE, "none");
    expect(e, CAPABILITY_OPERATIONS, CAPABILITY_PARTIAL, "trace op events");
    expect_reason(
        e, CAPABILITY_OPERATIONS,
        "declared complete, 2 operations recorded; the capture failed and may be cut short");
    expect(e, CAPABILITY_PHYSICAL_MEMORY, CAPABILITY_PARTIAL, "device memory samples");
    evidence_free(e);
}

static void required_labels_must_name_one_span_each(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    facts_begin(&c, NONE ",'required_semantic_labels':['update','missing']");
    small(&c);
    e = facts_complete(&c, 100);
    expect(e, CAPABILITY_GPU_CORRELATION, CAPABILITY_INVALID, "trace semantic labels");
    evidence_free(e);

    facts_begin(&c, NONE ",'required_semantic_labels':['update']");
    small(&c);
    e = facts_complete(&c, 100);
    expect(e, CAPABILITY_GPU_CORRELATION, CAPABILITY_UNAVAILABLE, "none");
    evidence_free(e);
}

static void weaker_levels_come_first(void **state)
{
    (void)state;
    assert_true(CAPABILITY_INVALID < CAPABILITY_UNAVAILABLE);
    assert_true(CAPABILITY_UNAVAILABLE < CAPABILITY_PARTIAL);
    assert_true(CAPABILITY_PARTIAL < CAPABILITY_COMPLETE);
    assert_string_equal(capability_level_word(CAPABILITY_PARTIAL).ptr, "partial");
    assert_string_equal(capability_kind_word(CAPABILITY_OPERATIONS).ptr, "operations");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_declared_and_nothing_recorded_is_unavailable),
        cmocka_unit_test(what_is_recorded_without_being_declared_is_partial),
        cmocka_unit_test(declared_complete_needs_observations),
        cmocka_unit_test(complete_gradients_need_a_contract),
        cmocka_unit_test(a_structurally_invalid_trace_spares_only_samples_and_provenance),
        cmocka_unit_test(a_failed_capture_is_never_complete),
        cmocka_unit_test(required_labels_must_name_one_span_each),
        cmocka_unit_test(weaker_levels_come_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
