#include "base/buf.h"
#include "rust/tokens.h"
#include "unit/base/failing.h"

/* Kind letters and texts: i identifier, t lifetime, l literal, m mark (J: joint), o open, c. */
static void assert_tokens(const char *text, const char *want)
{
    static const char letters[] = "itlmoc";
    rust_token token;
    size_t at = 0;
    heap from;
    buf out;

    heap_init(&from, NULL);
    buf_init(&out, &from, SIZE_MAX);
    while (token_next(str_from(text), &at, &token)) {
        buf_byte(&out, token.is_joint ? 'J' : letters[token.kind]);
        buf_add(&out, token_text(str_from(text), &token));
        buf_byte(&out, ' ');
    }
    assert_text(buf_text(&out), want);
    buf_free(&out);
}

static void marks_are_single_and_joint_when_adjacent(void **state)
{
    (void)state;
    assert_tokens("a=>b", "ia J= m> ib ");
    assert_tokens("a = > b", "ia m= m> ib ");
    assert_tokens("a+// x\nb", "ia m+ ib ");
    assert_tokens("..=1", "J. J. m= l1 ");
}

static void literals_are_one_token(void **state)
{
    (void)state;
    assert_tokens("\"a\\\"b\" r#\"x\"y\"# b\"z\" br##\"\"## c\"q\" cr\"\"",
                  "l\"a\\\"b\" lr#\"x\"y\"# lb\"z\" lbr##\"\"## lc\"q\" lcr\"\" ");
    assert_tokens("'a' '\\'' '\\u{1f}' b'x' 'a", "l'a' l'\\'' l'\\u{1f}' lb'x' t'a ");
    assert_tokens("1.5e-3f32 1..2 1.max 0x1e+1 1_0usize 2.",
                  "l1.5e-3f32 l1 J. m. l2 l1 m. imax l0x1e m+ l1 l1_0usize l2. ");
    assert_tokens("x.0.1", "ix m. l0.1 ");
    assert_tokens("r#type r", "ir#type ir ");
    assert_tokens("\"unclosed", "l\"unclosed ");
    assert_tokens("'", "t' ");
}

static void comments_and_other_bytes_are_spaces(void **state)
{
    (void)state;
    assert_tokens("a /* b /* c */ d */ e // f", "ia ie ");
    assert_tokens("a /* never closed", "ia ");
    assert_tokens("\x01 a\x7f", "ia ");
}

static void delimiters_know_each_other(void **state)
{
    rust_tokens all;
    heap from;
    arena mem;

    (void)state;
    heap_init(&from, NULL);
    arena_init(&mem, &from);
    assert_true(tokens_read(&mem, CG_LIT("a ( b [ c ] ) d } ( {"), &all));
    assert_int_equal(all.count, 11);
    assert_int_equal(all.at[1].partner, 6);
    assert_int_equal(all.at[6].partner, 1);
    assert_int_equal(all.at[3].partner, 5);
    assert_int_equal(all.at[0].partner, 0);
    assert_int_equal(all.at[8].partner, 8);
    assert_int_equal(all.at[9].partner, 9);
    assert_int_equal(all.at[10].partner, 10);
    arena_free(&mem);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_single_and_joint_when_adjacent),
        cmocka_unit_test(literals_are_one_token),
        cmocka_unit_test(comments_and_other_bytes_are_spaces),
        cmocka_unit_test(delimiters_know_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
