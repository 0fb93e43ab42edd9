#include "unit/base/failing.h"

#include "join/shape_match.h"

typedef struct world {
    heap heap;
    expr_pool pool;
    shape_values values;
    expr n, m;
} world;

static void begin(world *self)
{
    memset(self, 0, sizeof *self);
    heap_init(&self->heap, NULL);
    assert_true(expr_pool_init(&self->pool, &self->heap));
    self->n = expr_symbol(&self->pool, CG_LIT("n"));
    self->m = expr_symbol(&self->pool, CG_LIT("m"));
}

static void end(world *self)
{
    vec_free(&self->heap, &self->values);
    expr_pool_free(&self->pool);
    assert_int_equal(self->heap.used_bytes, 0);
}

static void solve(world *self, shape_claim *claims, size_t count)
{
    cg_err err = {0};

    assert_int_equal(shape_solve(&self->heap, &self->pool, claims, count, &self->values, &err),
                     CG_OK);
}

static enum shape_answer ask(world *self, expr axis, uint64_t file)
{
    return shape_compare(&self->pool, &axis, 1, &file, 1, &self->values);
}

static void a_symbol_has_one_value_in_the_whole_file(void **state)
{
    uint64_t eight[] = {8};
    world w;

    (void)state;
    begin(&w);
    solve(&w, &(shape_claim){&w.n, eight, 1, 1}, 1);
    assert_int_equal(ask(&w, w.n, 8), SHAPE_EQUAL);
    assert_int_equal(ask(&w, w.n, 9), SHAPE_OTHER);
    assert_int_equal(ask(&w, w.m, 9), SHAPE_OPEN);
    assert_int_equal(ask(&w, expr_binary(&w.pool, EXPR_MUL, w.n, expr_const(&w.pool, 4)), 32),
                     SHAPE_EQUAL);
    end(&w);
}

static void a_product_tells_its_factor(void **state)
{
    uint64_t file[] = {24};
    world w;
    expr three_n;

    (void)state;
    begin(&w);
    three_n = expr_binary(&w.pool, EXPR_MUL, expr_const(&w.pool, 3), w.n);
    solve(&w, &(shape_claim){&three_n, file, 1, 1}, 1);
    assert_int_equal(ask(&w, w.n, 8), SHAPE_EQUAL);
    assert_int_equal(ask(&w, w.n, 7), SHAPE_OTHER);
    end(&w);
}

static void the_value_that_most_agree_on_holds(void **state)
{
    uint64_t odd[] = {5};
    uint64_t usual[] = {8};
    world w;

    (void)state;
    begin(&w);
    solve(&w, (shape_claim[]){{&w.n, odd, 1, 1}, {&w.n, usual, 1, 1}, {&w.n, usual, 1, 1}}, 3);
    assert_int_equal(ask(&w, w.n, 8), SHAPE_EQUAL);
    assert_int_equal(ask(&w, w.n, 5), SHAPE_OTHER);
    end(&w);
}

static void another_rank_can_never_be_equal(void **state)
{
    const uint64_t file[] = {2, 3};
    const expr unknown = EXPR_NONE;
    world w;

    (void)state;
    begin(&w);
    assert_int_equal(shape_compare(&w.pool, &unknown, 1, file, 2, &w.values), SHAPE_OTHER);
    assert_int_equal(shape_compare(&w.pool, &unknown, 1, file, 1, &w.values), SHAPE_OPEN);
    assert_int_equal(ask(&w, expr_const(&w.pool, 2), 2), SHAPE_EQUAL);
    assert_int_equal(ask(&w, expr_const(&w.pool, 2), 3), SHAPE_OTHER);
    end(&w);
}

static void what_no_value_can_make_is_another_shape(void **state)
{
    world w;

    (void)state;
    begin(&w);
    /* 2n is even. */
    assert_int_equal(ask(&w, expr_binary(&w.pool, EXPR_MUL, w.n, expr_const(&w.pool, 2)), 7),
                     SHAPE_OTHER);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_symbol_has_one_value_in_the_whole_file),
        cmocka_unit_test(a_product_tells_its_factor),
        cmocka_unit_test(the_value_that_most_agree_on_holds),
        cmocka_unit_test(another_rank_can_never_be_equal),
        cmocka_unit_test(what_no_value_can_make_is_another_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
