/* Which item of a list a text names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/str.h"
#include "model/index_text.h"

static void assert_becomes(const char *text, const char *name, const char *by_text, int64_t by,
                           const char *want)
{
    heap from;
    expr_pool pool;
    buf out;

    heap_init(&from, NULL);
    assert_true(expr_pool_init(&pool, &from));
    buf_init(&out, &from, 4096);
    assert_true(index_text_replace(
        &pool, str_from(text), str_from(name),
        by_text != NULL ? expr_binary(&pool, EXPR_ADD, expr_symbol(&pool, str_from(by_text)),
                                      expr_const(&pool, by))
                        : expr_const(&pool, by),
        &out));
    assert_int_equal(out.len, strlen(want));
    assert_memory_equal(out.at, want, out.len);
    buf_free(&out);
    expr_pool_free(&pool);
    assert_int_equal(from.used_bytes, 0);
}

static void an_index_is_computed(void **state)
{
    (void)state;
    assert_becomes("dims[i]", "i", NULL, 2, "dims[2]");
    assert_becomes("dims[i + 1]", "i", NULL, 2, "dims[3]");
    assert_becomes("cfg.dims[2 * i - 1]", "i", NULL, 2, "cfg.dims[3]");
    assert_becomes("a[i][j]", "i", NULL, 2, "a[2][j]");
    assert_becomes("a[b[i]]", "i", NULL, 2, "a[b[2]]");
    assert_becomes("dims[n - i - 1]", "i", NULL, 0, "dims[n - 1]");
    assert_becomes("dims[a.len() - i - 1]", "i", NULL, 1, "dims[a.len() - 2]");
    assert_becomes("dims[index + 1]", "index", "i", 0, "dims[i + 1]");
    assert_becomes("dims[index + 1]", "index", "i", 1, "dims[i + 2]");
}

static void what_cannot_be_read_stays(void **state)
{
    (void)state;
    assert_becomes("dims", "i", NULL, 2, "dims");
    assert_becomes("dims[f(i)]", "i", NULL, 2, "dims[f(i)]");
    assert_becomes("dims[(i + 1) * 2]", "i", NULL, 2, "dims[(i + 1) * 2]");
    assert_becomes("dims[i << 1]", "i", NULL, 2, "dims[i << 1]");
    assert_becomes("dims[..]", "i", NULL, 2, "dims[..]");
    assert_becomes("dims[i", "i", NULL, 2, "dims[i");
    assert_becomes("i.dims[hi + self.i]", "i", NULL, 2, "i.dims[hi + self.i]");
    assert_becomes("", "i", NULL, 2, "");
}

static void names_are_whole_words(void **state)
{
    (void)state;
    assert_true(index_text_mentions(CG_LIT("dims[i + 1]"), CG_LIT("i")));
    assert_true(index_text_mentions(CG_LIT("i"), CG_LIT("i")));
    assert_false(index_text_mentions(CG_LIT("dims[x.i]"), CG_LIT("i")));
    assert_false(index_text_mentions(CG_LIT("dims[i2]"), CG_LIT("i")));
    assert_false(index_text_mentions(CG_LIT("dims"), CG_LIT("i")));
    assert_false(index_text_mentions(CG_LIT("i"), CG_LIT("")));
}

static void a_first_round_of_its_own_is_told_apart(void **state)
{
    heap from;
    expr_pool pool;
    expr first;
    expr rest;
    expr choice;
    cg_str text;

    (void)state;
    heap_init(&from, NULL);
    assert_true(expr_pool_init(&pool, &from));
    first = expr_symbol(&pool, CG_LIT("input"));
    rest = expr_binary(&pool, EXPR_MUL, expr_const(&pool, 2),
                       expr_symbol(&pool, CG_LIT("dims[i - 1]")));
    choice = index_choice_make(&pool, CG_LIT("i"), first, rest);
    text = expr_text(&pool, choice);
    assert_true(str_equal(text, CG_LIT("if i == 0 { input } else { 2 * dims[i - 1] }")));
    assert_true(index_choice_is(text));
    assert_int_equal(index_choice_at(&pool, text, CG_LIT("i"), expr_const(&pool, 0)), first);
    assert_int_equal(
        index_choice_at(&pool, text, CG_LIT("i"), expr_const(&pool, 3)),
        expr_binary(&pool, EXPR_MUL, expr_const(&pool, 2), expr_symbol(&pool, CG_LIT("dims[2]"))));
    assert_int_equal(index_choice_at(&pool, text, CG_LIT("i"), expr_symbol(&pool, CG_LIT("k"))),
                     expr_call(&pool, CG_LIT("if k == 0 { input } else { 2 * dims[k - 1] }")));
    assert_int_equal(index_choice_at(&pool, text, CG_LIT("j"), expr_const(&pool, 0)), EXPR_NONE);
    assert_int_equal(index_choice_make(&pool, CG_LIT("j"), choice, first), EXPR_NONE);
    assert_int_equal(index_choice_make(&pool, CG_LIT("j"), EXPR_NONE, first), EXPR_NONE);
    assert_false(index_choice_is(CG_LIT("input")));
    expr_pool_free(&pool);
    assert_int_equal(from.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_computed),
        cmocka_unit_test(what_cannot_be_read_stays),
        cmocka_unit_test(names_are_whole_words),
        cmocka_unit_test(a_first_round_of_its_own_is_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
