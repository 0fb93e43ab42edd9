#include <setjmp.h>
#include <stdarg.h>

#include "support/facts.h"
#include "unit/base/failing.h"
#include "view/report.h"

#include <cmocka.h>

static bool has(const buf *text, const char *part)
{
    return str_find(buf_text(text), str_from(part)) != SIZE_MAX;
}

static void write(const evidence *e, buf *ret)
{
    assert_int_equal(report_write(e, facts_sink(ret), NULL), CG_OK);
}

static void sections_stand_in_order(void **state)
{
    static const char *const parts[] = {
        "# Run report: e\n",
        "- status: complete\n",
        "- run: r\n",
        "- device: cpu\n",
        "## Capabilities\n",
        "| operations | Partial |",
        "## Findings\n",
        "- of functions and modules \\`update\\` has",
        "## Facts\n",
        "## Gaps\n",
        "## Structural errors\n\nNone.\n",
    };
    capture c;
    evidence *e;
    buf text;
    size_t at = 0;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    e = capture_complete(&c, 100);
    buf_init(&text, e->heap, SIZE_MAX);
    write(e, &text);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        cg_str rest = {text.at + at, text.len - at};
        size_t found = str_find(rest, str_from(parts[i]));

        if (found == SIZE_MAX)
            fail_msg("`%s` is missing or out of order", parts[i]);
        at += found;
    }
    assert_int_equal(text.at[text.len - 1], '\n');
    buf_free(&text);
    evidence_free(e);
}

static void the_same_evidence_gives_the_same_bytes(void **state)
{
    capture c;
    evidence *e;
    buf first, second;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    e = capture_complete(&c, 100);
    buf_init(&first, e->heap, SIZE_MAX);
    buf_init(&second, e->heap, SIZE_MAX);
    write(e, &first);
    write(e, &second);
    assert_true(str_equal(buf_text(&first), buf_text(&second)));
    buf_free(&first);
    buf_free(&second);
    evidence_free(e);
}

static void names_cannot_forge_lines_or_markup(void **state)
{
    capture c;
    evidence *e;
    buf text;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 100);
    capture_measured(&c, "s2", "s1", "x\\n# forged\\n[link](u) <b>|\\u001b[31m", 10, 80);
    e = capture_complete(&c, 100);
    buf_init(&text, e->heap, SIZE_MAX);
    write(e, &text);
    assert_false(has(&text, "\n# forged"));
    assert_false(has(&text, "[link]"));
    assert_false(has(&text, "<b>"));
    assert_false(has(&text, "\x1b"));
    buf_free(&text);
    evidence_free(e);
}

static void errors_of_an_invalid_trace_are_listed(void **state)
{
    capture c;
    evidence *e;
    buf text;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    capture_op(&c, "nowhere", "lost", "", NULL, 20, 1);
    e = facts_complete(&c, 100);
    buf_init(&text, e->heap, SIZE_MAX);
    write(e, &text);
    assert_true(has(&text, "- status: structurally invalid\n"));
    assert_true(has(&text, "## Structural errors\n\n- unknown\\_span: "));
    buf_free(&text);
    evidence_free(e);
}

static cg_code refuse(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OUTPUT;
}

static void a_refusing_sink_is_reported(void **state)
{
    capture c;
    evidence *e;
    cg_err err = {0};

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    e = capture_complete(&c, 100);
    assert_int_equal(report_write(e, (cg_sink){NULL, refuse}, &err), CG_OUTPUT);
    assert_int_equal(err.code, CG_OUTPUT);
    evidence_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_stand_in_order),
        cmocka_unit_test(the_same_evidence_gives_the_same_bytes),
        cmocka_unit_test(names_cannot_forge_lines_or_markup),
        cmocka_unit_test(errors_of_an_invalid_trace_are_listed),
        cmocka_unit_test(a_refusing_sink_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
