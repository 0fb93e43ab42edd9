/* A program that only uses a model is not asked for gradients; everybody else is. */
#include "scanned.h"

#define MODEL                                                                                      \
    "use candle_core::{DType, Device, Module, Result, Tensor};\n"                                  \
    "use candle_nn::{layer_norm, linear, AdamW, LayerNorm, Linear, Optimizer, VarBuilder, "        \
    "VarMap};\n"                                                                                   \
    "pub struct Net { up: Linear, ln: LayerNorm, down: Linear }\n"                                 \
    "impl Net {\n"                                                                                 \
    "pub fn new(vb: VarBuilder) -> Result<Self> {\n"                                               \
    "Ok(Self { up: linear(4, 4, vb.pp(\"up\"))?, "                                                 \
    "ln: layer_norm(4, 1e-5, vb.pp(\"ln\"))?, down: linear(4, 2, vb.pp(\"down\"))? }) }\n"         \
    "pub fn forward(&self, x: &Tensor) -> Result<Tensor> {\n"                                      \
    "self.ln.forward(&self.down.forward(&self.up.forward(x)?)?)\n}\n}\n"
#define LOADED                                                                                     \
    "let d = Device::Cpu;\n"                                                                       \
    "let vb = unsafe { VarBuilder::from_mmaped_safetensors(&[\"m\"], DType::F32, &d)? "            \
    "};\nlet net = Net::new(vb)?;\n"                                                               \
    "let y = net.forward(&Tensor::zeros((1, 4), DType::F32, &d)?)?;\n"
#define USED    "fn main() -> Result<()> {\n" LOADED "println!(\"{y}\");\nOk(())\n}\n"
#define TRAINED "fn main() -> Result<()> {\n" LOADED "y.backward()?;\nOk(())\n}\n"

static void severity_is(const char *root, const char *text, const char *other, uint8_t severity)
{
    scanned s;
    const model_finding *at;

    scanned_begin_in(&s, root, text, other);
    at = scanned_finding(&s, "gradient-cut", NULL);
    assert_non_null(at);
    assert_int_equal(at->severity, severity);
    scanned_end(&s);
}

static void a_program_that_only_uses_a_model_gets_a_note(void **state)
{
    scanned s;
    const model_finding *at;

    (void)state;
    scanned_begin_in(&s, "src/main.rs", MODEL USED, NULL);
    at = scanned_finding(&s, "gradient-cut", "Net::forward");
    assert_non_null(at);
    assert_int_equal(at->severity, MODEL_FINDING_SEVERITY_INFORMATION);
    scanned_text_is(at->help, "nothing in this package trains; if you fine-tune it, call "
                              "`candle_nn::ops::layer_norm_slow` with the layer's weight, bias and "
                              "epsilon instead");
    scanned_end(&s);
}

static void a_program_that_trains_gets_an_error(void **state)
{
    (void)state;
    severity_is("src/main.rs", MODEL TRAINED, NULL, MODEL_FINDING_SEVERITY_ERROR);
    severity_is("src/main.rs", MODEL USED "fn later(l: &Tensor) { log!(\"{}\", l.backward()); }\n",
                NULL, MODEL_FINDING_SEVERITY_ERROR);
}

static void what_is_not_read_may_train(void **state)
{
    (void)state;
    severity_is("src/main.rs", MODEL USED, "src/bin/fit.rs", MODEL_FINDING_SEVERITY_ERROR);
    severity_is("src/main.rs", MODEL USED, "examples/fit.rs", MODEL_FINDING_SEVERITY_ERROR);
    severity_is("src/main.rs", MODEL USED, "tests/fit.rs", MODEL_FINDING_SEVERITY_ERROR);
}

static void users_of_a_library_may_train(void **state)
{
    (void)state;
    severity_is("src/lib.rs", MODEL USED, NULL, MODEL_FINDING_SEVERITY_ERROR);
}

/* Who makes the weights is not told: nobody loads any. */
static void a_program_without_weights_is_not_known_to_infer(void **state)
{
    (void)state;
    severity_is("src/main.rs", MODEL "fn main() {}\n", NULL, MODEL_FINDING_SEVERITY_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_only_uses_a_model_gets_a_note),
        cmocka_unit_test(a_program_that_trains_gets_an_error),
        cmocka_unit_test(what_is_not_read_may_train),
        cmocka_unit_test(users_of_a_library_may_train),
        cmocka_unit_test(a_program_without_weights_is_not_known_to_infer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
