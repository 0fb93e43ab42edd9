#include "unit/base/failing.h"

#include "model/expr.h"
#include "model/expr_print.h"
#include "model/expr_solve.h"

typedef struct world {
    heap heap;
    expr_pool pool;
    expr a, b, n;
} world;

static void begin(world *self)
{
    heap_init(&self->heap, NULL);
    assert_true(expr_pool_init(&self->pool, &self->heap));
    self->a = expr_symbol(&self->pool, CG_LIT("cfg.a"));
    self->b = expr_symbol(&self->pool, CG_LIT("cfg.b"));
    self->n = expr_symbol(&self->pool, CG_LIT("n"));
}

static void end(world *self)
{
    expr_pool_free(&self->pool);
    assert_int_equal(self->heap.used_bytes, 0);
}

static expr number(world *self, int64_t value)
{
    return expr_const(&self->pool, value);
}

static expr op(world *self, enum expr_op what, expr left, expr right)
{
    return expr_binary(&self->pool, what, left, right);
}

static void assert_prints(world *self, expr e, const char *text)
{
    buf out;

    buf_init(&out, &self->heap, 10000);
    expr_print(&self->pool, e, &out);
    assert_text(buf_text(&out), text);
    buf_free(&out);
}

static void equal_polynomials_are_one_number(void **state)
{
    world w;
    expr sum;

    (void)state;
    begin(&w);
    sum = op(&w, EXPR_ADD, w.a, w.b);
    assert_int_equal(sum, op(&w, EXPR_ADD, w.b, w.a));
    assert_int_equal(op(&w, EXPR_MUL, sum, sum),
                     op(&w, EXPR_ADD, op(&w, EXPR_MUL, w.a, w.a),
                        op(&w, EXPR_ADD, op(&w, EXPR_MUL, w.b, w.b),
                           op(&w, EXPR_MUL, number(&w, 2), op(&w, EXPR_MUL, w.b, w.a)))));
    assert_int_equal(op(&w, EXPR_SUB, sum, w.a), w.b);
    assert_int_equal(op(&w, EXPR_SUB, w.a, w.a), number(&w, 0));
    assert_int_equal(op(&w, EXPR_DIV, op(&w, EXPR_MUL, w.a, w.b), w.b), w.a);
    assert_int_equal(op(&w, EXPR_DIV, op(&w, EXPR_MUL, sum, w.n), sum), w.n);
    assert_int_not_equal(op(&w, EXPR_MUL, op(&w, EXPR_DIV, w.a, w.b), w.b), w.a);
    assert_int_equal(op(&w, EXPR_REM, op(&w, EXPR_MUL, w.a, w.b), w.b), number(&w, 0));
    assert_int_equal(op(&w, EXPR_MIN, w.a, op(&w, EXPR_ADD, w.a, number(&w, 3))), w.a);
    end(&w);
}

static void constants_are_folded_and_checked(void **state)
{
    world w;

    (void)state;
    begin(&w);
    assert_int_equal(op(&w, EXPR_DIV, number(&w, -7), number(&w, 2)), number(&w, -3));
    assert_int_equal(op(&w, EXPR_REM, number(&w, -7), number(&w, 2)), number(&w, -1));
    assert_int_equal(op(&w, EXPR_POW, number(&w, 2), number(&w, 10)), number(&w, 1024));
    assert_int_equal(op(&w, EXPR_DIV, w.a, number(&w, 0)), EXPR_NONE);
    assert_int_equal(op(&w, EXPR_ADD, number(&w, INT64_MAX), number(&w, 1)), EXPR_NONE);
    assert_int_equal(op(&w, EXPR_MUL, number(&w, INT64_MIN), number(&w, -1)), EXPR_NONE);
    assert_int_equal(op(&w, EXPR_DIV, number(&w, INT64_MIN), number(&w, -1)), EXPR_NONE);
    assert_int_equal(op(&w, EXPR_ADD, EXPR_NONE, w.a), EXPR_NONE);
    assert_false(w.pool.failed);
    end(&w);
}

static void text_has_as_few_parentheses_as_it_takes(void **state)
{
    world w;

    (void)state;
    begin(&w);
    assert_prints(&w, op(&w, EXPR_MUL, w.a, number(&w, 4)), "4 * cfg.a");
    assert_prints(&w, op(&w, EXPR_DIV, w.a, w.b), "cfg.a / cfg.b");
    assert_prints(&w, op(&w, EXPR_DIV, w.a, op(&w, EXPR_MUL, w.b, w.n)), "cfg.a / (cfg.b * n)");
    assert_prints(&w, op(&w, EXPR_MUL, w.n, op(&w, EXPR_DIV, w.a, w.b)), "n * (cfg.a / cfg.b)");
    assert_prints(&w, op(&w, EXPR_SUB, number(&w, 1), w.n), "1 - n");
    assert_prints(&w, op(&w, EXPR_SUB, w.a, op(&w, EXPR_MUL, number(&w, 2), w.n)), "cfg.a - 2 * n");
    assert_prints(&w, op(&w, EXPR_MIN, op(&w, EXPR_ADD, w.a, w.n), number(&w, 8)),
                  "(cfg.a + n).min(8)");
    assert_prints(&w, op(&w, EXPR_POW, number(&w, 2), w.n), "2_usize.pow(n)");
    assert_prints(&w, expr_call(&w.pool, CG_LIT("groups(cfg)")), "groups(cfg)");
    assert_prints(&w, EXPR_NONE, "?");
    end(&w);
}

static void symbols_are_replaced_and_evaluated(void **state)
{
    world w;
    expr e;
    expr_list symbols = {0};
    int64_t value;

    (void)state;
    begin(&w);
    e = op(&w, EXPR_ADD, op(&w, EXPR_DIV, w.a, w.b), number(&w, 1));
    {
        expr_binding both[] = {{w.a, number(&w, 9)}, {w.b, number(&w, 2)}};

        assert_true(expr_evaluate(&w.pool, e, both, 2, &value));
        assert_int_equal(value, 5);
        assert_false(expr_evaluate(&w.pool, e, both, 1, &value));
        assert_int_equal(expr_substitute(&w.pool, e, both, 2), number(&w, 5));
    }
    assert_true(expr_symbols(&w.pool, e, &symbols));
    assert_int_equal(symbols.count, 2);
    assert_true(expr_differs(&w.pool, w.a, op(&w, EXPR_ADD, w.a, number(&w, 1))));
    assert_false(expr_differs(&w.pool, w.a, w.b));
    vec_free(&w.heap, &symbols);
    end(&w);
}

static void an_equation_binds_its_only_symbol(void **state)
{
    world w;
    expr_binding found;

    (void)state;
    begin(&w);
    assert_int_equal(expr_solve(&w.pool, op(&w, EXPR_MUL, number(&w, 4), w.n), 12, NULL, 0, &found),
                     EXPR_BINDS);
    assert_int_equal(found.symbol, w.n);
    assert_int_equal(found.value, number(&w, 3));
    assert_int_equal(expr_solve(&w.pool, op(&w, EXPR_MUL, number(&w, 4), w.n), 13, NULL, 0, &found),
                     EXPR_FALSE);
    assert_int_equal(expr_solve(&w.pool, op(&w, EXPR_DIV, w.n, number(&w, 8)), 4, NULL, 0, &found),
                     EXPR_OPEN);
    assert_int_equal(
        expr_solve(&w.pool, op(&w, EXPR_DIV, op(&w, EXPR_MUL, w.n, number(&w, 8)), number(&w, 3)),
                   21, NULL, 0, &found),
        EXPR_BINDS);
    assert_int_equal(found.value, number(&w, 8));
    assert_int_equal(expr_solve(&w.pool, op(&w, EXPR_MUL, w.a, w.b), 12, NULL, 0, &found),
                     EXPR_OPEN);
    assert_int_equal(expr_solve(&w.pool,
                                op(&w, EXPR_MUL, number(&w, 2), op(&w, EXPR_ADD, w.a, w.b)), 7,
                                NULL, 0, &found),
                     EXPR_FALSE);
    assert_int_equal(expr_solve(&w.pool, number(&w, 7), 7, NULL, 0, &found), EXPR_HOLDS);
    end(&w);
}

static void growth_ends_in_not_known(void **state)
{
    world w;
    expr e;

    (void)state;
    begin(&w);
    e = w.a;
    for (unsigned i = 0; i < 200; i++)
        e = op(&w, EXPR_ADD, op(&w, EXPR_DIV, e, w.b), op(&w, EXPR_REM, e, w.n));
    assert_int_equal(e, EXPR_NONE);
    e = op(&w, EXPR_ADD, w.a, number(&w, 1));
    for (unsigned i = 0; i < 12; i++)
        e = op(&w, EXPR_MUL, e, e);
    assert_int_equal(e, EXPR_NONE);
    assert_false(w.pool.failed);
    end(&w);
}

static void a_refused_allocation_is_not_known(void **state)
{
    (void)state;
    for (size_t k = 1; k < 40; k++) {
        failing memory = {.fail_at = k};
        world w;

        heap_init(&w.heap, failing_env(&memory));
        if (!expr_pool_init(&w.pool, &w.heap)) {
            assert_nothing_held(&memory, &w.heap);
            continue;
        }
        for (int64_t i = 0; i < 300; i++)
            expr_binary(&w.pool, EXPR_ADD, expr_symbol(&w.pool, CG_LIT("x")),
                        expr_const(&w.pool, i));
        expr_pool_free(&w.pool);
        assert_nothing_held(&memory, &w.heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_polynomials_are_one_number),
        cmocka_unit_test(constants_are_folded_and_checked),
        cmocka_unit_test(text_has_as_few_parentheses_as_it_takes),
        cmocka_unit_test(symbols_are_replaced_and_evaluated),
        cmocka_unit_test(an_equation_binds_its_only_symbol),
        cmocka_unit_test(growth_ends_in_not_known),
        cmocka_unit_test(a_refused_allocation_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
