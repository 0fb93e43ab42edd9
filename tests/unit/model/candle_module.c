/* Every constructor of candle_modules.def: what it asks for and what the layer keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/library_calls.h"

static void a_linear_layer_asks_for_weight_and_bias(void **state)
{
    workbench b;
    val layer;

    (void)state;
    workbench_begin(&b);
    layer = called(&b, "candle_nn::linear", symbol(&b, "cfg.hidden"), number(&b, 3),
                   on(&b, builder(&b), "pp", text(&b, "fc"), 0), 0);
    assert_string_equal(registered(&b), "fc.weight [3, cfg.hidden]\nfc.bias [3]\n");
    assert_printed(&b, on(&b, layer, "weight", 0), "fc.weight");
    assert_int_equal(value_at(b.eval->values, on(&b, layer, "bias", 0))->kind, VALUE_SOME);
    layer = called(&b, "candle_nn::linear_no_bias", number(&b, 2), number(&b, 3), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [3, 2]\n");
    assert_int_equal(value_at(b.eval->values, on(&b, layer, "bias", 0))->kind, VALUE_NOTHING);
    workbench_end(&b);
}

static void a_literal_decides_about_the_bias(void **state)
{
    workbench b;

    (void)state;
    workbench_begin(&b);
    called(&b, "candle_nn::linear_b", number(&b, 2), number(&b, 3), truth(&b, true), builder(&b),
           0);
    assert_string_equal(registered(&b), "weight [3, 2]\nbias [3]\n");
    called(&b, "candle_nn::linear_b", number(&b, 2), number(&b, 3), truth(&b, false), builder(&b),
           0);
    assert_string_equal(registered(&b), "weight [3, 2]\n");
    called(&b, "candle_nn::linear_b", number(&b, 2), number(&b, 3), maybe(&b, "cfg.bias"),
           builder(&b), 0);
    assert_string_equal(registered(&b), "weight [3, 2]\nbias [3] if cfg.bias\n");
    workbench_end(&b);
}

static void norms_ask_as_their_configuration_says(void **state)
{
    workbench b;
    val config;
    sym affine;

    (void)state;
    workbench_begin(&b);
    called(&b, "candle_nn::layer_norm", number(&b, 8), real(&b, 1e-5), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8]\nbias [8]\n");
    config = called(&b, "candle_nn::LayerNormConfig::default", 0);
    affine = intern_add(&b.program.names, CG_LIT("affine"));
    config = value_with_field(b.eval->values, config, affine, truth(&b, false));
    called(&b, "candle_nn::layer_norm", number(&b, 8), config, builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8]\n");
    config = value_with_field(b.eval->values, config, affine, maybe(&b, "cfg.affine"));
    called(&b, "candle_nn::layer_norm", number(&b, 8), config, builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8]\nbias [8] if cfg.affine\n");
    called(&b, "candle_nn::layer_norm_no_bias", number(&b, 8), real(&b, 1e-5), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8]\n");
    called(&b, "candle_nn::rms_norm", number(&b, 8), real(&b, 1e-5), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8]\n");
    called(&b, "candle_nn::group_norm", number(&b, 2), number(&b, 8), real(&b, 1e-5), builder(&b),
           0);
    assert_string_equal(registered(&b), "weight [8]\nbias [8]\n");
    called(&b, "candle_nn::batch_norm", number(&b, 4), real(&b, 1e-5), builder(&b), 0);
    assert_string_equal(
        registered(&b),
        "running_mean [4] running\nrunning_var [4] running\nweight [4]\nbias [4]\n");
    workbench_end(&b);
}

static void since_0_11_1_old_names_of_norms_are_accepted(void **state)
{
    workbench b;

    (void)state;
    workbench_begin(&b);
    b.catalogue.candle_nn = CATALOGUE_VERSION(0, 11, 1);
    called(&b, "candle_nn::layer_norm", number(&b, 8), real(&b, 1e-5), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8] or gamma\nbias [8] or beta\n");
    called(&b, "candle_nn::rms_norm", number(&b, 8), real(&b, 1e-5), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8] or gamma\n");
    called(&b, "candle_nn::linear", number(&b, 8), number(&b, 8), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8, 8]\nbias [8]\n");
    workbench_end(&b);
}

static void a_version_nobody_read_makes_everything_conditional(void **state)
{
    workbench b;

    (void)state;
    workbench_begin(&b);
    b.catalogue.candle_nn = CATALOGUE_VERSION(0, 11, 7);
    called(&b, "candle_nn::linear_no_bias", number(&b, 8), number(&b, 8), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8, 8] candle-nn of this version was not read\n");
    workbench_end(&b);
}

static void convolutions_divide_by_their_groups(void **state)
{
    workbench b;
    val config;
    sym groups;

    (void)state;
    workbench_begin(&b);
    config = called(&b, "candle_nn::Conv1dConfig::default", 0);
    called(&b, "candle_nn::conv1d", number(&b, 4), number(&b, 8), number(&b, 3), config,
           builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8, 4, 3]\nbias [8]\n");
    groups = intern_add(&b.program.names, CG_LIT("groups"));
    config = value_with_field(b.eval->values, called(&b, "candle_nn::Conv2dConfig::default", 0),
                              groups, number(&b, 4));
    called(&b, "candle_nn::conv2d_no_bias", number(&b, 4), number(&b, 8), number(&b, 3), config,
           builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8, 1, 3, 3]\n");
    config =
        value_unknown(b.eval->values, external(&b, "candle_nn::Conv2dConfig"), CG_LIT("conv_cfg"));
    called(&b, "candle_nn::conv2d", symbol(&b, "c"), number(&b, 8), number(&b, 3), config,
           builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8, c / conv_cfg.groups, 3, 3]\nbias [8]\n");
    called(&b, "candle_nn::conv2d_no_bias", number(&b, 4), number(&b, 8), number(&b, 3),
           called(&b, "std::default::Default::default", 0), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [8, 4, 3, 3]\n");
    called(&b, "candle_nn::conv_transpose1d", number(&b, 4), number(&b, 8), number(&b, 3),
           called(&b, "candle_nn::ConvTranspose1dConfig::default", 0), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [4, 8, 3]\nbias [8]\n");
    called(&b, "candle_nn::conv_transpose2d_no_bias", number(&b, 4), number(&b, 8), number(&b, 3),
           called(&b, "candle_nn::ConvTranspose2dConfig::default", 0), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [4, 8, 3, 3]\n");
    workbench_end(&b);
}

static void recurrent_layers_name_layer_and_direction(void **state)
{
    workbench b;
    val config;
    value backward = {.kind = VALUE_ENUM, .is_known = true};

    (void)state;
    workbench_begin(&b);
    called(&b, "candle_nn::lstm", number(&b, 3), number(&b, 5),
           called(&b, "candle_nn::LSTMConfig::default", 0), builder(&b), 0);
    assert_string_equal(registered(&b), "weight_ih_l0 [20, 3]\nweight_hh_l0 [20, 5]\n"
                                        "bias_ih_l0 [20]\nbias_hh_l0 [20]\n");
    config = called(&b, "candle_nn::LSTMConfig::default_no_bias", 0);
    config = value_with_field(b.eval->values, config,
                              intern_add(&b.program.names, CG_LIT("layer_idx")), number(&b, 2));
    backward.type = external(&b, "candle_nn::rnn::Direction");
    backward.variant = intern_add(&b.program.names, CG_LIT("Backward"));
    config =
        value_with_field(b.eval->values, config, intern_add(&b.program.names, CG_LIT("direction")),
                         value_make(b.eval->values, &backward));
    called(&b, "candle_nn::LSTM::new", number(&b, 3), number(&b, 5), config, builder(&b), 0);
    assert_string_equal(registered(&b),
                        "weight_ih_l2_reverse [20, 3]\nweight_hh_l2_reverse [20, 5]\n");
    called(&b, "candle_nn::gru", number(&b, 3), number(&b, 5),
           called(&b, "candle_nn::GRUConfig::default", 0), builder(&b), 0);
    assert_string_equal(registered(&b), "weight_ih_l0 [15, 3]\nweight_hh_l0 [15, 5]\n"
                                        "bias_ih_l0 [15]\nbias_hh_l0 [15]\n");
    workbench_end(&b);
}

static void prelu_takes_one_weight_or_one_for_each_channel(void **state)
{
    workbench b;

    (void)state;
    workbench_begin(&b);
    called(&b, "candle_nn::prelu", none(&b), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [1]\n");
    called(&b, "candle_nn::prelu", some(&b, number(&b, 7)), builder(&b), 0);
    assert_string_equal(registered(&b), "weight [7]\n");
    workbench_end(&b);
}

static void one_of_two_builders_makes_both_conditional(void **state)
{
    workbench b;
    val vb;

    (void)state;
    workbench_begin(&b);
    vb = builder(&b);
    vb = either(&b, on(&b, vb, "pp", text(&b, "a"), 0), on(&b, vb, "pp", text(&b, "b"), 0));
    called(&b, "candle_nn::linear_no_bias", number(&b, 1), number(&b, 2), vb, 0);
    assert_non_null(strstr(registered(&b), "a.weight [2, 1] "));
    workbench_end(&b);
}

static void layers_made_from_tensors_keep_them(void **state)
{
    workbench b;
    val vb;
    val layer;

    (void)state;
    workbench_begin(&b);
    vb = builder(&b);
    layer =
        called(&b, "candle_nn::Embedding::new",
               on(&b, vb, "get", tuple_of(&b, number(&b, 5), number(&b, 2), 0), text(&b, "wte"), 0),
               number(&b, 2), 0);
    assert_string_equal(registered(&b), "wte [5, 2]\n");
    assert_printed(&b, on(&b, layer, "embeddings", 0), "wte");
    assert_printed(&b, on(&b, layer, "hidden_size", 0), "2");
    assert_int_equal(called(&b, "candle_nn::linear", number(&b, 1), number(&b, 2), 0), 0);
    workbench_end(&b);
}

static void a_sequence_keeps_its_layers(void **state)
{
    workbench b;
    val seq;

    (void)state;
    workbench_begin(&b);
    seq = called(&b, "candle_nn::seq", 0);
    seq = on(&b, seq, "add", called(&b, "candle_nn::Dropout::new", real(&b, 0.5), 0), 0);
    seq = on(&b, seq, "add_fn", function(&b, "candle_nn::ops::silu"), 0);
    assert_printed(&b, on(&b, seq, "len", 0), "2");
    workbench_end(&b);
}

static void optimizers_and_maps_leave_events(void **state)
{
    workbench b;
    val map;
    val vb;

    (void)state;
    workbench_begin(&b);
    map = called(&b, "candle_nn::VarMap::new", 0);
    vb = called(&b, "candle_nn::VarBuilder::from_varmap", map,
                constant(&b, "candle_core::DType::F32"), constant(&b, "candle_core::Device::Cpu"),
                0);
    assert_printed(&b, on(&b, vb, "dtype", 0), "F32");
    called(&b, "candle_nn::linear_no_bias", number(&b, 1), number(&b, 2), vb, 0);
    on(&b, map, "load", text(&b, "model.safetensors"), 0);
    called(&b, "candle_nn::AdamW::new_lr", on(&b, map, "all_vars", 0), real(&b, 0.1), 0);
    assert_int_equal(b.eval->trail->events.at[b.eval->trail->events.count - 1].kind,
                     EVENT_OPTIMIZER);
    assert_int_equal(b.eval->trail->events.at[b.eval->trail->events.count - 2].kind,
                     EVENT_VARMAP_LOAD);
    assert_int_equal(b.eval->trail->events.at[b.eval->trail->events.count - 3].kind,
                     EVENT_BUILDER_FROM_VARMAP);
    workbench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_layer_asks_for_weight_and_bias),
        cmocka_unit_test(a_literal_decides_about_the_bias),
        cmocka_unit_test(norms_ask_as_their_configuration_says),
        cmocka_unit_test(since_0_11_1_old_names_of_norms_are_accepted),
        cmocka_unit_test(a_version_nobody_read_makes_everything_conditional),
        cmocka_unit_test(convolutions_divide_by_their_groups),
        cmocka_unit_test(recurrent_layers_name_layer_and_direction),
        cmocka_unit_test(prelu_takes_one_weight_or_one_for_each_channel),
        cmocka_unit_test(one_of_two_builders_makes_both_conditional),
        cmocka_unit_test(layers_made_from_tensors_keep_them),
        cmocka_unit_test(a_sequence_keeps_its_layers),
        cmocka_unit_test(optimizers_and_maps_leave_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
