/* The table of operations: found by every spelling of a path, and consistent in itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/operation.h"

static void rows_are_found_by_their_last_two_parts(void **state)
{
    operation matmul = operation_find(CG_LIT("candle_core::Tensor::matmul"));

    (void)state;
    assert_true(matmul != 0);
    assert_int_equal(operation_find(CG_LIT("candle_core::tensor::Tensor::matmul")), matmul);
    assert_true(str_equal(operation_name(matmul), CG_LIT("matmul")));
    assert_true(str_equal(operation_name(operation_find(CG_LIT("candle_nn::RmsNorm::forward"))),
                          CG_LIT("RmsNorm::forward")));
    assert_int_equal(operation_find(CG_LIT("candle_core::Tensor::nothing")), 0);
    assert_int_equal(operation_find(CG_LIT("matmul")), 0);
}

static void rules_have_the_words_of_documents(void **state)
{
    operation softmax = operation_find(CG_LIT("candle_nn::ops::softmax_last_dim"));
    operation norm = operation_find(CG_LIT("candle_nn::LayerNorm::forward"));

    (void)state;
    assert_string_equal(operation_gradient_rule(softmax), "Severs");
    assert_null(operation_condition(softmax));
    assert_string_equal(operation_alternative(softmax), "candle_nn::ops::softmax");
    assert_string_equal(operation_gradient_rule(norm), "LayoutDependent");
    assert_string_equal(operation_condition(norm), "contiguous_input_with_bias");
    assert_string_equal(operation_dtype_rule(operation_find(CG_LIT("candle_core::Tensor::gt"))),
                        "Fixed(U8)");
    assert_string_equal(operation_shape_rule(operation_find(CG_LIT("candle_core::Tensor::t"))),
                        "permute_dimensions");
}

static void the_table_holds_together(void **state)
{
    (void)state;
    for (operation i = 1; i < operation_count(); i++) {
        const operation_row *row = operation_at(i);

        /* no row hides another */
        assert_int_equal(operation_find(str_from(row->path)), i);
        assert_true(strlen(row->operands) <= 12);
        assert_int_equal(strspn(row->operands, "txLofidDskvbhmr_"), strlen(row->operands));
        /* an alternative is an operation too, and has a gradient */
        if (operation_alternative(i) != NULL) {
            operation twin = operation_find(str_from(operation_alternative(i)));

            assert_true(twin != 0);
            assert_int_not_equal(operation_at(twin)->gradient, GRADIENT_SEVERS);
        }
        /* what depends says on what */
        if (row->gradient == GRADIENT_DEPENDS || row->gradient == GRADIENT_FAILS)
            assert_non_null(operation_condition(i));
    }
}

static void what_came_later_says_when(void **state)
{
    (void)state;
    assert_int_equal(operation_since(operation_find(CG_LIT("candle_core::Tensor::matmul"))), 0);
    assert_int_equal(operation_since(operation_find(CG_LIT("candle_core::Tensor::unfold"))),
                     9u << 10 | 2u);
    assert_int_equal(operation_since(operation_find(CG_LIT("candle_nn::loss::huber"))),
                     9u << 10 | 2u);
    assert_int_equal(operation_since(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_later_says_when),
        cmocka_unit_test(rows_are_found_by_their_last_two_parts),
        cmocka_unit_test(rules_have_the_words_of_documents),
        cmocka_unit_test(the_table_holds_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
