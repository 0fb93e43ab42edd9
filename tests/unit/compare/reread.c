/* A document that was written, read again for a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compare/reread.h"
#include "support/faults.h"

#include <cmocka.h>

#define SERIES(stats)                                                                              \
    "{'schema':'candle-graph/series/1','entrypoint':'e','coordinate':'capture_step','inputs':[],"  \
    "'outer_wall_time':[],'tensor_stats':" stats ",'gradients':{}}"
#define ROW                                                                                        \
    "{'capture_step':1,'run_id':'r','rms':1,'abs_max':2,'mean':0.5,'non_finite':0,'elements':4}"

static cg_code check(const char *json, enum reread_kind *ret, cg_err *reterr)
{
    char text[2048];
    size_t len = strlen(json);
    heap memory;

    assert_true(len < sizeof text);
    for (size_t i = 0; i < len; i++)
        text[i] = json[i] == '\'' ? '"' : json[i];
    heap_init(&memory, NULL);
    return reread_check(&memory, (cg_str){text, len}, ret, reterr);
}

static void expect(const char *json, enum reread_kind want)
{
    enum reread_kind kind = REREAD_KIND_COUNT;
    cg_err err = {0};

    if (check(json, &kind, &err) != CG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(kind, want);
}

static void expect_refusal(const char *json, const char *problem)
{
    enum reread_kind kind = REREAD_KIND_COUNT;
    cg_err err = {0};

    assert_int_equal(check(json, &kind, &err), CG_INPUT);
    assert_string_equal(err.problem, problem);
}

static void a_series_has_rows_by_name(void **state)
{
    (void)state;
    expect(SERIES("{}"), REREAD_SERIES);
    expect(SERIES("{'a':[],'</script>':[" ROW "," ROW "]}"), REREAD_SERIES);
    expect_refusal(SERIES("[]"), "field-type");
    expect_refusal(SERIES("{'a':" ROW "}"), "field-type");
    expect_refusal(SERIES("{'a':[{'capture_step':1}]}"), "field-missing");
    expect_refusal(SERIES("{'a':[" ROW ",1]}"), "field-type");
}

static void the_state_of_a_campaign_is_a_document(void **state)
{
    (void)state;
    expect("{'schema':'candle-graph/campaign-status/1','campaign_id':'c','entrypoint':'e',"
           "'planned':1,'published':0,'missing':1,'failed':0,"
           "'captures':[{'capture_step':1,'bundle':'b','state':{'state':'missing'}}]}",
           REREAD_CAMPAIGN);
    expect_refusal("{'schema':'candle-graph/campaign-status/1','campaign_id':'c','entrypoint':'e',"
                   "'planned':1,'published':0,'missing':1,'failed':0,"
                   "'captures':[{'capture_step':1,'bundle':'b','state':{'state':'lost'}}]}",
                   "unknown-word");
}

static void other_documents_are_refused(void **state)
{
    (void)state;
    expect_refusal("{'schema':'candle-graph/trace/10'}", "document-kind");
    expect_refusal("{'schema':3}", "document-kind");
    expect_refusal("[]", "document-kind");
    expect_refusal("{'schema'", "document-json");
    expect_refusal("{'schema':'candle-graph/join/1'}", "field-missing");
    expect_refusal("{'schema':'candle-graph/comparison/6'}", "field-missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_has_rows_by_name),
        cmocka_unit_test(the_state_of_a_campaign_is_a_document),
        cmocka_unit_test(other_documents_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
