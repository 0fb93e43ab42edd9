#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>

#include "compare/document.h"
#include "compare/series.h"
#include "compare/text_series.h"
#include "support/facts.h"
#include "unit/compare/runs.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

#define KEEP(bytes)                                                                                \
    "{'kind':'memory','timestamp_ns':6,'storage_id':'k','tensor_id':'t','span_id':'s2',"           \
    "'device':'cpu','bytes':" bytes ",'action':'alloc','dtype':'u8'}"
#define STATS(label, rms)                                                                          \
    "{'kind':'tensor_stats','span_id':'s2','label':'" label "','shape':[2],'dtype':'f32',"         \
    "'elements':2,'non_finite':0,'rms':" rms ",'abs_max':" rms ",'mean':0.0}"

static cg_code take(series *to, const run_facts *of)
{
    source from = run_open(NULL, of);
    cg_code code = series_take(to, &from, str_from(of->id), NULL);

    source_close(&from);
    return code;
}

static series *series_of(const run_facts *runs, size_t count, const char *prefix)
{
    series *ret;

    assert_int_equal(series_new(NULL, str_from(prefix), &ret, NULL), CG_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(take(ret, &runs[i]), CG_OK);
    assert_int_equal(series_finish(ret, NULL), CG_OK);
    return ret;
}

static void captures_stand_by_step_and_labels_bytewise(void **state)
{
    const run_facts runs[] = {
        {.id = "c", .step = 30, .sample_ns = 300, .more = STATS("b", "3.0") "\n" STATS("a", "9.0")},
        {.id = "a", .step = 10, .sample_ns = 100, .more = STATS("b", "1.0") "\n" STATS("b", "1.5")},
        {.id = "b", .step = 20, .sample_ns = 200, .has_no_region = true},
    };
    series *s = series_of(runs, COUNT(runs), NULL);

    (void)state;
    assert_text(s->runs.at[0].run_id, "a");
    assert_text(s->runs.at[2].run_id, "c");
    assert_false(s->runs.at[1].wall_ns.is_set);
    assert_int_equal(s->runs.at[2].wall_ns.value, 300);
    assert_int_equal(s->stat_groups.count, 2);
    assert_text(series_name(s, s->stat_groups.at[0].name), "a");
    assert_int_equal(s->stat_groups.at[1].count, 3);
    assert_true(s->stats.at[1].rms == 1.0 && s->stats.at[2].rms == 1.5);
    assert_true(s->stats.at[3].rms == 3.0);
    series_free(s);
}

static void a_prefix_leaves_out_the_rest(void **state)
{
    const run_facts runs[] = {
        {.id = "a", .sample_ns = 9, .more = STATS("loss/x", "1.0") "\n" STATS("mlp/x", "1.0")},
    };
    series *s = series_of(runs, COUNT(runs), "loss/");

    (void)state;
    assert_int_equal(s->stat_groups.count, 1);
    assert_text(series_name(s, s->stat_groups.at[0].name), "loss/x");
    series_free(s);
}

static void mixed_captures_are_refused(void **state)
{
    const run_facts first = {.id = "a", .step = 10, .sample_ns = 100};
    const run_facts same_step = {.id = "b", .step = 10, .sample_ns = 100};
    const run_facts elsewhere = {.id = "c", .step = 11, .sample_ns = 100, .entrypoint = "other"};
    series *s;

    (void)state;
    assert_int_equal(series_new(NULL, (cg_str){NULL, 0}, &s, NULL), CG_OK);
    assert_int_equal(take(s, &first), CG_OK);
    assert_int_equal(take(s, &same_step), CG_INPUT);
    assert_int_equal(take(s, &elsewhere), CG_INPUT);
    series_free(s);
}

/* The rule of growth on kept bytes by capture; "-": nothing was kept. */
static bool grows(const char *const *bytes, size_t count)
{
    char text[8][256];
    run_facts runs[8];
    char ids[8][24];
    series *s;
    bool ret;

    for (size_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof ids[i], "r%zu", i);
        snprintf(text[i], sizeof text[i], KEEP("%s"), bytes[i]);
        runs[i] = (run_facts){.id = ids[i], .step = 10 + i, .sample_ns = 100};
        if (bytes[i][0] != '-')
            runs[i].more = text[i];
    }
    s = series_of(runs, count, NULL);
    ret = s->growth_count == 1;
    series_free(s);
    return ret;
}

#define GROWS(...)                                                                                 \
    grows((const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

static void growth_never_falls_and_mostly_rises(void **state)
{
    (void)state;
    assert_true(GROWS("64", "128", "192"));
    assert_true(GROWS("-", "128", "192"));
    assert_true(GROWS("1", "2", "2", "3", "4"));
    assert_false(GROWS("1", "2", "2", "2", "4")); /* half of the steps only */
    assert_false(GROWS("1", "2", "3", "4", "4")); /* not in the last one */
    assert_false(GROWS("64", "128"));             /* two captures tell nothing */
    assert_false(GROWS("64", "128", "127", "130"));
    assert_false(GROWS("64", "64", "64"));
}

static void expect_part(buf *got, const char *want)
{
    if (str_find(buf_text(got), str_from(want)) == SIZE_MAX)
        print_error("no `%s` in\n%.*s\n", want, (int)got->len, got->at);
    assert_true(str_find(buf_text(got), str_from(want)) != SIZE_MAX);
}

static void growth_is_in_the_document_on_request_and_in_the_text_always(void **state)
{
    const run_facts runs[] = {
        {.id = "a", .step = 2, .sample_ns = 100, .more = KEEP("10")},
        {.id = "b", .step = 3, .sample_ns = 100, .more = KEEP("20")},
        {.id = "c", .step = 9, .sample_ns = 100, .more = KEEP("31")},
    };
    const text_style style = {.width = 80, .rows = 20};
    series *s = series_of(runs, COUNT(runs), NULL);
    heap from;
    buf got;

    (void)state;
    heap_init(&from, NULL);
    buf_init(&got, &from, SIZE_MAX);
    assert_int_equal(document_series(s, false, facts_sink(&got), NULL), CG_OK);
    assert_true(str_find(buf_text(&got), CG_LIT("growth")) == SIZE_MAX);
    buf_clear(&got);
    assert_int_equal(document_series(s, true, facts_sink(&got), NULL), CG_OK);
    expect_part(&got, "\"bytes_per_capture\": 10.5");
    expect_part(&got, "\"residual_bytes\": 31");
    buf_clear(&got);
    assert_int_equal(text_series(s, &style, facts_sink(&got), NULL), CG_OK);
    expect_part(&got, "memory grows in 1 span");
    expect_part(&got, "call  ▁▄█          10    31      +11 B");
    buf_free(&got);
    series_free(s);
}

static cg_code all_of_it(const cg_env *env, const run_facts *runs, size_t count)
{
    series *s;
    cg_code code;

    CG_TRY(series_new(env, CG_LIT(""), &s, NULL));
    code = CG_OK;
    for (size_t i = 0; i < count && code == CG_OK; i++)
        code = take(s, &runs[i]);
    if (code == CG_OK)
        code = series_finish(s, NULL);
    series_free(s);
    return code;
}

static void every_refused_request_is_told(void **state)
{
    const run_facts runs[] = {
        {.id = "b", .step = 2, .sample_ns = 100, .more = KEEP("20") "\n" STATS("x", "1.0")},
        {.id = "a", .step = 1, .sample_ns = 100, .more = KEEP("10") "\n" STATS("y", "1.0")},
        {.id = "c", .step = 9, .sample_ns = 100, .more = KEEP("31") "\n" STATS("x", "1.0")},
    };
    bool is_whole = false;

    (void)state;
    for (size_t k = 1; !is_whole; k++) {
        failing memory = {.fail_at = k};
        cg_code code = all_of_it(failing_env(&memory), runs, COUNT(runs));
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(memory.bytes, 0);
        is_whole = memory.requests < k;
        /* A table of names can do without some of what it asks for. */
        assert_true(code == CG_OK || (code == CG_NOMEM && !is_whole));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_stand_by_step_and_labels_bytewise),
        cmocka_unit_test(a_prefix_leaves_out_the_rest),
        cmocka_unit_test(mixed_captures_are_refused),
        cmocka_unit_test(growth_never_falls_and_mostly_rises),
        cmocka_unit_test(growth_is_in_the_document_on_request_and_in_the_text_always),
        cmocka_unit_test(every_refused_request_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
