/* Which texts of the evidence are wording, which keys are data, which fields are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "schema/publish_schema.h"

#include <cmocka.h>

static void wording_is_told_from_facts(void **state)
{
    (void)state;
    assert_true(evidence_is_free_text(CG_LIT("health.issues[].message")));
    assert_true(evidence_is_free_text(CG_LIT("capabilities.gradient_coverage.reason")));
    assert_true(evidence_is_free_text(CG_LIT("gaps")));
    assert_true(evidence_is_free_text(CG_LIT("gaps[]")));
    assert_true(evidence_is_free_text(CG_LIT("gpu.provenance.diagnostics[]")));
    assert_false(evidence_is_free_text(CG_LIT("health.issues[].code")));
    assert_false(evidence_is_free_text(CG_LIT("capabilities.gradient_coverage.source")));
    assert_false(evidence_is_free_text(CG_LIT("capabilities.a.b.reason")));
    assert_false(evidence_is_free_text(CG_LIT("capabilities.reason")));
    assert_false(evidence_is_free_text(CG_LIT("facts[].label.x")));
    assert_false(evidence_is_free_text(CG_LIT("fact")));
    assert_false(evidence_is_free_text(CG_LIT("")));
    assert_false(evidence_is_free_text(CG_LIT("graph.spans[].name")));
}

static void maps_are_told_from_records(void **state)
{
    (void)state;
    assert_true(evidence_is_data_object(CG_LIT("provenance.tags")));
    assert_true(evidence_is_data_object(CG_LIT("memory.logical.timeline[].live_bytes_by_device")));
    assert_false(evidence_is_data_object(CG_LIT("provenance")));
    assert_false(evidence_is_data_object(CG_LIT("graph.spans[]")));
}

static void known_fields_are_known(void **state)
{
    (void)state;
    assert_true(evidence_is_field(CG_LIT("dense_bytes")));
    assert_true(evidence_is_field(CG_LIT("pair_id")));
    assert_true(evidence_is_field(CG_LIT("non_finite")));
    assert_false(evidence_is_field(CG_LIT("of_a_later_version")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wording_is_told_from_facts),
        cmocka_unit_test(maps_are_told_from_records),
        cmocka_unit_test(known_fields_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
