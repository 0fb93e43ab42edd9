/* Tensors without a flow graph; DType and Device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/workbench.h"

static void sizes_have_one_name_however_they_are_asked_for(void **state)
{
    (void)state;
    val x = value_unknown(b.eval->values, external(&b, "candle_core::Tensor"), CG_LIT("x"));

    assert_printed(&b, on(&b, x, "dim", number(&b, 1), 0), "x.dim(1)");
    assert_printed(&b, on(&b, x, "dims2", 0), "(x.dim(0), x.dim(1))");
    assert_printed(&b, on(&b, x, "dims1", 0), "x.dim(0)");
    assert_int_equal(kind_of(on(&b, x, "rank", 0)), VALUE_INT);
    assert_int_equal(kind_of(on(&b, x, "dtype", 0)), VALUE_DTYPE);
    assert_printed(&b, on(&b, on(&b, x, "chunk", number(&b, 3), number(&b, 1), 0), "len", 0), "3");
}

static void operations_give_tensors(void **state)
{
    (void)state;
    val x = value_unknown(b.eval->values, external(&b, "candle_core::Tensor"), CG_LIT("x"));
    val y = on(&b, x, "matmul", x, 0);

    assert_int_equal(value_at(b.eval->values, y)->type, external(&b, "candle_core::Tensor"));
    y = called(&b, "candle_nn::ops::softmax_last_dim", x, 0);
    assert_int_equal(value_at(b.eval->values, y)->type, external(&b, "candle_core::Tensor"));
    y = called(&b, "candle_core::Tensor::zeros", number(&b, 3),
               constant(&b, "candle_core::DType::F32"), constant(&b, "candle_core::Device::Cpu"),
               0);
    assert_int_equal(value_at(b.eval->values, y)->type, external(&b, "candle_core::Tensor"));
    assert_int_equal(kind_of(on(&b, y, "ok", 0)), VALUE_CHOICE);
}

static void devices_and_types_answer(void **state)
{
    (void)state;
    assert_int_equal(truth_of(on(&b, constant(&b, "candle_core::Device::Cpu"), "is_cpu", 0)), 1);
    assert_int_equal(truth_of(on(&b, constant(&b, "candle_core::Device::Cpu"), "is_cuda", 0)), 0);
    assert_int_equal(
        truth_of(on(&b, called(&b, "candle_core::Device::cuda_if_available", number(&b, 0), 0),
                    "is_cuda", 0)),
        -1);
    assert_printed(&b, on(&b, constant(&b, "candle_core::DType::BF16"), "size_in_bytes", 0), "2");
    assert_int_equal(kind_of(constant(&b, "candle_nn::Activation::Gelu")), VALUE_ENUM);
    assert_int_equal(kind_of(called(&b, "candle_nn::Activation::LeakyRelu", real(&b, 0.1), 0)),
                     VALUE_ENUM);
    assert_int_equal(kind_of(called(&b, "candle_core::Error::msg", text(&b, "x"), 0)), VALUE_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sizes_have_one_name_however_they_are_asked_for, begin, end),
        cmocka_unit_test_setup_teardown(operations_give_tensors, begin, end),
        cmocka_unit_test_setup_teardown(devices_and_types_answer, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
