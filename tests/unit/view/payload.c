#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "support/facts.h"
#include "unit/base/failing.h"
#include "view/payload.h"

#include <cmocka.h>

static bool has(const buf *text, const char *part)
{
    return str_find(buf_text(text), str_from(part)) != SIZE_MAX;
}

static void assert_has(const buf *text, const char *part)
{
    if (!has(text, part))
        fail_msg("`%s` is missing in %.*s", part, (int)(text->len < 2000 ? text->len : 2000),
                 text->at);
}

static size_t count_of(const buf *text, const char *part)
{
    cg_str rest = buf_text(text);
    size_t count = 0;
    size_t at;

    while ((at = str_find(rest, str_from(part))) != SIZE_MAX) {
        rest = (cg_str){rest.ptr + at + 1, rest.len - at - 1};
        count++;
    }
    return count;
}

static void write(const evidence *e, buf *ret)
{
    buf_init(ret, e->heap, SIZE_MAX);
    assert_int_equal(payload_write(e, facts_sink(ret), NULL), CG_OK);
}

static void drop(evidence *e, buf *text)
{
    buf_free(text);
    evidence_free(e);
}

static void a_run_is_shown_in_five_views(void **state)
{
    static const char *const parts[] = {
        "{\"bounded\":null,\"default_view\":\"evidence\",\"gradients\":[",
        "\"schema\":\"candle-graph/viewer/5\",\"span_tree\":[{",
        "\"summary\":{\"capture_complete\":true,\"entrypoint\":\"",
        "\"views\":{\"evidence\":{\"capabilities\":{",
        "\"gpu\":{\"correlation\":{",
        "\"correlation_capability\":{\"level\":",
        "\"memory\":{\"logical\":{\"by_device\":[",
        "\"span_costs\":{\"items\":[{",
        "\"trace\":{\"edges\":[{",
    };
    capture c;
    evidence *e;
    buf text;
    size_t at = 0;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    e = capture_complete(&c, 100);
    write(e, &text);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t found = str_find((cg_str){text.at + at, text.len - at}, str_from(parts[i]));

        if (found == SIZE_MAX)
            fail_msg("`%s` is missing or out of order", parts[i]);
        at += found;
    }
    assert_int_equal(text.at[text.len - 1], '}');
    drop(e, &text);
}

static void unknown_is_null_and_ratios_have_no_zero_division(void **state)
{
    capture c;
    evidence *e;
    buf text;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "crate::root", 0, 100);
    capture_measured(&c, "s2", "s1", "tail::", 10, 80);
    capture_span(&c, "s3", "s2", "none", 20, 0);
    e = facts_complete(&c, 100);
    write(e, &text);
    assert_has(&text,
               "\"id\":\"s1\",\"kind\":\"root\",\"label\":\"crate::root\",\"parent_id\":null,"
               "\"peak_live_bytes\":null,\"peak_live_bytes_net\":null,"
               "\"residual_bytes\":null,\"shape\":null,\"short_label\":\"root\"");
    assert_has(&text, "\"short_label\":\"tail::\"");
    assert_has(&text,
               "\"host_self_ratio\":0.2,\"host_self_time_ns\":20,\"host_total_time_ns\":100");
    assert_has(&text, "\"host_self_ratio\":0.0,\"host_self_time_ns\":0,\"host_total_time_ns\":0");
    assert_has(&text, "\"from\":\"s1\",\"host_duration_ns\":80,\"id\":\"s1-\\u003es2\","
                      "\"kind\":\"call\",\"label\":null,\"to\":\"s2\"");
    drop(e, &text);
}

static void costs_fall_and_equal_ones_keep_their_order(void **state)
{
    capture c;
    evidence *e;
    buf text;
    size_t at;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 100);
    capture_measured(&c, "s2", "s1", "m", 0, 90);
    capture_span(&c, "s3", "s2", "a", 0, 5);
    capture_span(&c, "s4", "s2", "b", 10, 50);
    capture_span(&c, "s5", "s2", "c", 70, 5);
    e = capture_complete(&c, 100);
    write(e, &text);
    at = str_find(buf_text(&text), CG_LIT("\"span_costs\":"));
    for (const char *name = "mbac"; *name != '\0'; name++) {
        char part[] = "\"name\":\"?\"";
        size_t found;

        part[8] = *name;
        found = str_find((cg_str){text.at + at, text.len - at}, str_from(part));
        assert_true(found != SIZE_MAX);
        at += found;
    }
    drop(e, &text);
}

static void a_failed_capture_has_no_nodes_but_its_memory(void **state)
{
    capture c;
    evidence *e;
    buf text;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    e = facts_failed(&c, 100);
    write(e, &text);
    assert_has(&text, "\"span_tree\":[],\"summary\":{\"capture_complete\":false,");
    assert_has(&text, "\"outer_wall_time_ns\":null");
    assert_has(&text, "\"span_costs\":{\"items\":[]},\"trace\":{\"edges\":[],\"nodes\":[]}");
    assert_has(&text, "\"memory\":{\"logical\":{");
    drop(e, &text);
}

static void nothing_ends_the_element_or_the_line(void **state)
{
    capture c;
    evidence *e;
    buf text;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "</script><!-- &amp; \xE2\x80\xA8\xE2\x80\xA9", 0, 100);
    capture_measured(&c, "s2", "s1", "m", 10, 80);
    e = capture_complete(&c, 100);
    write(e, &text);
    assert_has(&text, "\"\\u003c/script\\u003e\\u003c!-- \\u0026amp; \\u2028\\u2029\"");
    for (const char *byte = "<>&\n"; *byte != '\0'; byte++)
        assert_null(memchr(text.at, *byte, text.len));
    drop(e, &text);
}

static void large_numbers_keep_every_digit(void **state)
{
    capture c;
    evidence *e;
    buf text;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, UINT64_C(9007199254740993));
    capture_measured(&c, "s2", "s1", "m", 0, UINT64_C(9007199254740993));
    e = capture_complete(&c, UINT64_C(9007199254740993));
    write(e, &text);
    assert_has(&text, "\"outer_wall_time_ns\":9007199254740993");
    drop(e, &text);
}

/* Many spans, storages of growing size and one of a byte between them. */
static evidence *large(heap *from, unsigned count)
{
    capture c;
    trace_doc *trace;
    evidence *e;
    buf text;

    capture_begin(&c);
    buf_init(&text, from, SIZE_MAX);
    buf_add(&text, (cg_str){c.text, c.len});
    capture_begin(&c);
    c.len = 0;
    capture_line(&c, "{'kind':'span_start','id':'m','name':'measured','start_ns':0,'span_kind':"
                     "'function','measured':true}");
    buf_add(&text, (cg_str){c.text, c.len});
    for (unsigned i = 0; i < count; i++) {
        char id[16];

        c.len = 0;
        (void)snprintf(id, sizeof id, "n%05u", i);
        capture_span(&c, id, "m", "a::part::with::a::name::of::some::length", i, i % 100);
        capture_memory(&c, "m", "alloc", id, i + 1, 2 * (uint64_t)i);
        capture_memory(&c, "m", "free", id, i + 1, 2 * (uint64_t)i + 1);
        buf_add(&text, (cg_str){c.text, c.len});
    }
    c.len = 0;
    capture_line(&c, "{'kind':'span_end','id':'m','duration_ns':%u}", 2 * count);
    capture_line(&c, "{'kind':'terminal','outcome':'complete','timestamp_ns':%u}", 2 * count);
    buf_add(&text, (cg_str){c.text, c.len});
    assert_false(text.failed);
    assert_int_equal(trace_read_text(NULL, buf_text(&text), &trace, NULL), CG_OK);
    assert_int_equal(evidence_build(NULL, trace, &e, NULL), CG_OK);
    buf_free(&text);
    assert_true(e->has_graph);
    return e;
}

static void a_large_run_is_an_overview_that_says_so(void **state)
{
    heap from;
    evidence *e;
    buf text;

    (void)state;
    heap_init(&from, NULL);
    e = large(&from, 20000);
    write(e, &text);
    assert_true(text.len <= PAYLOAD_BYTES);
    assert_true(text.len > PAYLOAD_BYTES / 8);
    assert_has(&text, "{\"bounded\":{\"limit_bytes\":4194304,\"lists\":[{\"displayed\":");
    assert_has(&text, "\"list\":\"views.trace.nodes\",\"total\":20001}");
    assert_has(&text, "\"list\":\"views.memory.logical.lifetimes\",\"total\":20000}");
    assert_has(&text, "\"list\":\"views.memory.logical.timeline\",\"total\":40000}");
    /* The largest stays: measured span, storage, and the peak of the time line. */
    assert_has(&text, "\"name\":\"measured\"");
    assert_has(&text, "\"storage_id\":\"n19999\"");
    assert_true(count_of(&text, "\"live_bytes\":20000,") >= 2);
    drop(e, &text);
}

static void what_is_displayed_is_what_is_there(void **state)
{
    heap from;
    evidence *e;
    buf text;
    size_t nodes, found;
    char part[96];

    (void)state;
    heap_init(&from, NULL);
    e = large(&from, 20000);
    write(e, &text);
    nodes = count_of(&text, "\"short_label\":");
    (void)snprintf(part, sizeof part, "{\"displayed\":%zu,\"list\":\"views.trace.nodes\"", nodes);
    assert_has(&text, part);
    found = count_of(&text, "->");
    assert_int_equal(found, 0); /* escaped */
    found = count_of(&text, "-\\u003e");
    (void)snprintf(part, sizeof part, "{\"displayed\":%zu,\"list\":\"views.trace.edges\"", found);
    assert_has(&text, part);
    found = count_of(&text, "\"live_bytes_by_category\":") - 1; /* the peak has one too */
    (void)snprintf(part, sizeof part,
                   "{\"displayed\":%zu,\"list\":\"views.memory.logical.timeline\"", found);
    assert_has(&text, part);
    drop(e, &text);
}

static void every_refused_allocation_is_reported_and_leaves_nothing(void **state)
{
    capture c;
    evidence *e;
    size_t k = 0;
    cg_code code;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    e = capture_complete(&c, 100);
    do {
        failing memory = {.fail_at = ++k};
        cg_allocator allocator = e->heap->allocator;
        cg_err err = {0};
        heap sinks;
        buf text;

        heap_init(&sinks, NULL);
        buf_init(&text, &sinks, SIZE_MAX);
        failing_env(&memory);
        e->heap->allocator = memory.allocator;
        code = payload_write(e, facts_sink(&text), &err);
        e->heap->allocator = allocator;
        assert_int_equal(memory.blocks, 0);
        if (code != CG_OK) {
            assert_int_equal(code, CG_NOMEM);
            assert_int_equal(err.code, CG_NOMEM);
            assert_int_equal(text.len, 0);
        }
        buf_free(&text);
    } while (code != CG_OK);
    assert_true(k > 8);
    evidence_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_shown_in_five_views),
        cmocka_unit_test(unknown_is_null_and_ratios_have_no_zero_division),
        cmocka_unit_test(costs_fall_and_equal_ones_keep_their_order),
        cmocka_unit_test(a_failed_capture_has_no_nodes_but_its_memory),
        cmocka_unit_test(nothing_ends_the_element_or_the_line),
        cmocka_unit_test(large_numbers_keep_every_digit),
        cmocka_unit_test(a_large_run_is_an_overview_that_says_so),
        cmocka_unit_test(what_is_displayed_is_what_is_there),
        cmocka_unit_test(every_refused_allocation_is_reported_and_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
