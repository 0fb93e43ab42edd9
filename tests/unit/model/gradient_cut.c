/* Calls that take the gradient from parameters, and calls that only look as if. */
#include "scanned.h"

#define NET                                                                                        \
    "pub struct Net { up: Linear, rms: RmsNorm, ln: LayerNorm, down: Linear }\n"                   \
    "impl Net {\n"                                                                                 \
    "pub fn new(d: usize, vb: VarBuilder) -> Result<Self> {\n"                                     \
    "Ok(Self { up: linear_no_bias(d, d, vb.pp(\"up\"))?, rms: rms_norm(d, 1e-6, "                  \
    "vb.pp(\"rms\"))?,\n"                                                                          \
    "ln: layer_norm(d, 1e-5, vb.pp(\"ln\"))?, down: linear_no_bias(d, d, vb.pp(\"down\"))? })\n"   \
    "}\n"

static void assert_cut(const model_finding *at, const char *operation, const char *condition,
                       const char *severed, const char *trained)
{
    assert_non_null(at);
    scanned_text_is(at->operation, operation);
    scanned_text_is(at->condition, condition);
    assert_string_equal(scanned_keys(&at->severed), severed);
    assert_string_equal(scanned_keys(&at->still_trained), trained);
}

static void a_fused_norm_after_a_kernel_is_proven(void **state)
{
    scanned s;
    const model_finding *at;

    (void)state;
    scanned_begin(&s, NET "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                          "let h = self.rms.forward(&self.up.forward(x)?)?;\n"
                          "self.down.forward(&h)?.sqr()?.mean_all()\n}\n}\n");
    at = scanned_finding(&s, "gradient-cut", "Net::loss");
    assert_cut(at, "candle_nn::RmsNorm::forward", "contiguous_input", "vb: rms.weight up.weight",
               "vb: down.weight");
    assert_int_equal(at->confidence, MODEL_CONFIDENCE_PROVEN);
    assert_int_equal(at->severity, MODEL_FINDING_SEVERITY_WARNING);
    assert_int_equal(at->effect, MODEL_EFFECT_NO_GRADIENT);
    scanned_text_is(at->alternative, "candle_nn::RmsNorm::forward_diff");
    assert_int_equal(at->entries.count, 1);
    scanned_text_is(at->entries.at[0], "Net::loss");
    scanned_end(&s);
}

static void what_nobody_knows_of_is_conditional(void **state)
{
    scanned s;
    const model_finding *at;

    (void)state;
    scanned_begin(&s, NET "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                          "self.rms.forward(x)?.sqr()?.mean_all()\n}\n}\n");
    at = scanned_finding(&s, "gradient-cut", "Net::loss");
    assert_cut(at, "candle_nn::RmsNorm::forward", "contiguous_input", "vb: rms.weight", "");
    assert_int_equal(at->confidence, MODEL_CONFIDENCE_CONDITIONAL);
    scanned_end(&s);
}

static void a_way_around_keeps_the_gradient(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, NET "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                          "let h = self.up.forward(x)?;\nlet step = (h.round()? - &h)?.detach();\n"
                          "(h + step)?.sqr()?.mean_all()\n}\n"
                          "pub fn residual_loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                          "let u = self.up.forward(x)?;\n"
                          "(self.rms.forward(&u)? + &u)?.sqr()?.mean_all()\n}\n}\n");
    assert_null(scanned_finding(&s, "gradient-cut", "Net::loss"));
    assert_cut(scanned_finding(&s, "gradient-cut", "Net::residual_loss"),
               "candle_nn::RmsNorm::forward", "contiguous_input", "vb: rms.weight",
               "vb: up.weight");
    scanned_end(&s);
}

static void each_key_is_lost_where_it_is_lost_first(void **state)
{
    scanned s;
    const model_finding *at;

    (void)state;
    scanned_begin(&s, NET "fn low(&self, x: &Tensor) -> Result<Tensor> {\n"
                          "self.rms.forward(&self.up.forward(x)?)\n}\n"
                          "pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
                          "let h = self.ln.forward(&self.low(x)?.contiguous()?)?;\n"
                          "loss::mse(&self.down.forward(&h)?, y)\n}\n}\n");
    at = scanned_finding(&s, "gradient-cut", "Net::low");
    assert_cut(at, "candle_nn::RmsNorm::forward", "contiguous_input", "vb: rms.weight up.weight",
               "vb: down.weight");
    scanned_text_is(at->entries.at[0], "Net::loss");
    assert_cut(scanned_finding(&s, "gradient-cut", "Net::loss"), "candle_nn::LayerNorm::forward",
               "contiguous_input_with_bias", "vb: ln.bias ln.weight", "vb: down.weight");
    scanned_end(&s);
}

static void a_module_that_learns_nothing_is_an_error(void **state)
{
    scanned s;
    const model_finding *at;

    (void)state;
    scanned_begin(&s,
                  "pub struct Part { a: Linear, n: RmsNorm }\n"
                  "impl Part {\n"
                  "pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { a: linear(4, 4, "
                  "vb.pp(\"a\"))?, n: rms_norm(4, 1e-6, vb.pp(\"n\"))? }) }\n"
                  "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { "
                  "self.n.forward(&self.a.forward(x)?) }\n}\n"
                  "pub struct Whole { part: Part, top: Linear }\n"
                  "impl Whole {\n"
                  "pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { part: "
                  "Part::new(vb.pp(\"part\"))?, top: linear(4, 1, vb.pp(\"top\"))? }) }\n"
                  "pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> { "
                  "loss::mse(&self.top.forward(&self.part.forward(x)?)?, y) }\n"
                  "pub fn train_step(&self, opt: &mut SGD, x: &Tensor, y: &Tensor) -> Result<f32> "
                  "{\nlet l = self.loss(x, y)?;\nopt.backward_step(&l)?;\nl.to_scalar::<f32>()\n"
                  "}\n}\n");
    at = scanned_finding(&s, "gradient-cut", "Part::forward");
    assert_cut(at, "candle_nn::RmsNorm::forward", "contiguous_input",
               "vb: part.a.bias part.a.weight part.n.weight", "vb: top.bias top.weight");
    assert_int_equal(at->severity, MODEL_FINDING_SEVERITY_ERROR);
    assert_int_equal(at->entries.count, 2);
    assert_int_equal(at->related.count, 3);
    scanned_end(&s);
}

static void free_functions_work_with_the_model_they_are_given(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, NET "}\n"
                          "pub fn loss(net: &Net, x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
                          "let h = net.up.forward(x)?.detach();\n"
                          "loss::mse(&net.down.forward(&h)?, y)\n}\n");
    assert_cut(scanned_finding(&s, "gradient-cut", "loss"), "candle_core::Tensor::detach", "always",
               "vb: up.weight", "vb: down.weight");
    scanned_end(&s);
}

static void values_rebuilt_from_the_host_are_cut(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, NET "pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
                          "let h = self.up.forward(x)?;\n"
                          "let v = h.flatten_all()?.to_vec1::<f32>()?;\n"
                          "let h = Tensor::from_vec(v, h.shape(), h.device())?;\n"
                          "loss::mse(&self.down.forward(&h)?, y)\n}\n"
                          "pub fn logged_loss(&self, x: &Tensor, y: &Tensor) -> "
                          "Result<(Tensor, f32)> {\nlet h = self.up.forward(x)?;\n"
                          "let peak = h.max_all()?.to_scalar::<f32>()?;\n"
                          "Ok((loss::mse(&self.down.forward(&h)?, y)?, peak))\n}\n}\n");
    assert_cut(scanned_finding(&s, "gradient-cut", "Net::loss"), "candle_core::Tensor::from_vec",
               "always", "vb: up.weight", "vb: down.weight");
    assert_null(scanned_finding(&s, "gradient-cut", "Net::logged_loss"));
    scanned_end(&s);
}

/* The numbers go through closures and loops, one by one; what is made of them is the same cut. */
static void values_rebuilt_one_by_one_are_cut(void **state)
{
    static const char *const ways[] = {
        "let v = h.flatten_all()?.to_vec1::<f32>()?;\n"
        "let v: Vec<f32> = v.into_iter().map(|a| a * 2.0).collect();\n",
        "let v = h.flatten_all()?.to_vec1::<f32>()?;\n"
        "let v: Vec<f32> = v.iter().map(|a| if *a > 0. { 1. } else { 0. }).collect();\n",
        "let v = h.to_vec2::<f32>()?;\nlet v: Vec<Vec<f32>> = v.into_iter()\n"
        ".map(|r| r.into_iter().map(|a| a.max(0.)).collect()).collect();\n",
        "let rows = h.to_vec2::<f32>()?;\nlet mut v = Vec::new();\n"
        "for r in &rows { for a in r { v.push(a.exp()); } }\n",
        "let v: Vec<Vec<f32>> = h.to_vec2()?;\nlet v = v.concat();\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char text[4096];
        scanned s;

        (void)snprintf(text, sizeof text,
                       "%spub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
                       "let h = self.up.forward(x)?;\n%s"
                       "let h = Tensor::new(v, h.device())?;\n"
                       "loss::mse(&self.down.forward(&h)?, y)\n}\n}\n",
                       NET, ways[i]);
        scanned_begin(&s, text);
        assert_cut(scanned_finding(&s, "gradient-cut", "Net::loss"), "candle_core::Tensor::new",
                   "always", "vb: up.weight", "vb: down.weight");
        scanned_end(&s);
    }
}

static void a_number_that_goes_on_is_cut_at_its_read(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, NET "pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
                          "let top = self.up.forward(x)?.max_all()?\n"
                          "    .to_scalar::<f32>()?;\n"
                          "loss::mse(&(self.down.forward(x)? * (1.0 + top as f64))?, y)\n}\n}\n");
    const model_finding *at = scanned_finding(&s, "gradient-cut", "Net::loss");

    assert_cut(at, "candle_core::Tensor::to_scalar", "always", "vb: up.weight", "vb: down.weight");
    assert_int_equal(((const model_location *)at->location)->line, 11);
    scanned_end(&s);
}

static void an_operation_without_a_backward_step_stops_it(void **state)
{
    scanned s;
    const model_finding *at;

    (void)state;
    scanned_begin(&s, "pub struct Floor;\nimpl candle_core::CustomOp1 for Floor {\n"
                      "fn name(&self) -> &'static str { \"floor\" }\n"
                      "fn cpu_fwd(&self, s: &candle_core::CpuStorage, l: &candle_core::Layout) -> "
                      "Result<(candle_core::CpuStorage, candle_core::Shape)> { todo!() }\n}\n" NET
                      "pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
                      "let h = self.up.forward(x)?.apply_op1(Floor)?;\n"
                      "loss::mse(&self.down.forward(&h)?, y)\n}\n}\n");
    at = scanned_finding(&s, "gradient-cut", "Net::loss");
    assert_cut(at, "candle_core::Tensor::apply_op1", "always", "vb: up.weight", "");
    assert_int_equal(at->effect, MODEL_EFFECT_STOPS);
    scanned_end(&s);
}

static void a_shape_taken_is_no_value_taken(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, NET "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                          "let h = self.up.forward(x)?.zeros_like()?;\n"
                          "self.down.forward(&h)?.sqr()?.mean_all()\n}\n}\n");
    assert_null(scanned_finding(&s, "gradient-cut", NULL));
    scanned_end(&s);
}

static void inference_is_not_asked_for_gradients(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, NET "pub fn infer(&self, x: &Tensor) -> Result<Tensor> {\n"
                          "ops::softmax_last_dim(&self.up.forward(x)?)\n}\n}\n");
    assert_null(scanned_finding(&s, "gradient-cut", NULL));
    scanned_end(&s);
}

/* `x.i((.., 0, ..))` of a contiguous tensor is contiguous when there is one row. */
static void a_piece_of_each_row_depends_on_their_number(void **state)
{
    static const char *const pieces[] = {"h.i((.., 0, ..))?", "h.narrow(1, 0, 1)?",
                                         "h.get_on_dim(1, 0)?", "h.chunk(2, 1)?[0].clone()"};
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        scanned s;
        const model_finding *at;

        snprintf(text, sizeof text,
                 NET "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                     "let (_b, _t, _d) = x.dims3()?;\nlet h = self.up.forward(x)?;\n"
                     "let h = %s;\nself.down.forward(&self.ln.forward(&h)?)?.sqr()?.mean_all()\n"
                     "}\n}\n",
                 pieces[i]);
        scanned_begin(&s, text);
        at = scanned_finding(&s, "gradient-cut", "Net::loss");
        if (!at)
            print_message("%s\n", pieces[i]);
        assert_cut(at, "candle_nn::LayerNorm::forward", "contiguous_input_with_bias",
                   "vb: ln.bias ln.weight up.weight", "vb: down.weight");
        assert_int_equal(at->confidence, MODEL_CONFIDENCE_CONDITIONAL);
        scanned_end(&s);
    }
}

/* Axes of one element count for nothing when candle asks how a tensor lies. */
static void axes_of_one_element_move_nothing(void **state)
{
    static const struct {
        const char *view;
        bool is_cut;
    } views[] = {
        {"h.transpose(0, 1)?", true},         {"h.permute((1, 0, 2))?", true},
        {"h.i((.., 0, ..))?", true},          {"h.i((0, 2.., ..))?", true},
        {"h.narrow(1, 2, 3)?", true},         {"h.expand((1, 1, 6, 4))?", true},
        {"h.broadcast_as((1, 6, 4))?", true}, {"h.broadcast_left(1)?", true},
        {"h.transpose(1, 2)?", false},        {"h.narrow(2, 0, 2)?", false},
        {"h.i((.., .., 0..2))?", false},      {"h.expand((3, 6, 4))?", false},
    };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        scanned s;
        const model_finding *at;

        snprintf(text, sizeof text,
                 NET "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                     "let h = self.up.forward(&x.reshape((1, 6, 4))?)?.reshape((1, 6, 4))?;\n"
                     "let h = %s;\nself.ln.forward(&h)?.sqr()?.mean_all()\n}\n}\n",
                 views[i].view);
        scanned_begin(&s, text);
        at = scanned_finding(&s, "gradient-cut", "Net::loss");
        if ((at != NULL) != views[i].is_cut)
            print_message("%s\n", views[i].view);
        assert_int_equal(at != NULL, views[i].is_cut);
        if (at)
            assert_int_equal(at->confidence, MODEL_CONFIDENCE_PROVEN);
        scanned_end(&s);
    }
}

static void a_call_that_always_cuts_is_no_matter_of_layout(void **state)
{
    scanned s;

    (void)state;
    /* `up` has a way around the rope: what the norm behind both does is the norm's finding. */
    scanned_begin(&s, NET "pub fn loss(&self, x: &Tensor, c: &Tensor) -> Result<Tensor> {\n"
                          "let (b, t, d) = x.dims3()?;\n"
                          "let h = self.up.forward(x)?.reshape((b, t, 1, d))?;\n"
                          "let h = (rotary_emb::rope(&h, c, c)? + &h)?.i((.., 0, 0, ..))?;\n"
                          "self.ln.forward(&h.reshape((b, d))?.narrow(1, 0, 4)?)?;\n"
                          "let h = h.reshape((b, 1, d))?.i((.., 0, ..))?;\n"
                          "self.ln.forward(&x.matmul(&h)?.i((.., 0, ..))?)?.sqr()?.mean_all()\n"
                          "}\n}\n");
    assert_cut(scanned_finding(&s, "gradient-cut", "Net::loss"), "candle_nn::LayerNorm::forward",
               "contiguous_input_with_bias", "vb: ln.bias ln.weight up.weight", "");
    scanned_end(&s);
}

/* What a function gives that is a computation itself is called. */
static void a_function_that_makes_a_module_stands_for_it(void **state)
{
    static const char *const makers[][2] = {
        {"Func<'static>", "Ok(Func::new(move |xs| ops::softmax_last_dim(&a.forward(xs)?)))"},
        {"candle_nn::FuncT<'static>",
         "Ok(candle_nn::func_t(move |xs, _train| ops::softmax_last_dim(&a.forward(xs)?)))"},
        {"impl Module", "Ok(move |xs: &Tensor| ops::softmax_last_dim(&a.forward(xs)?))"},
        {"candle_nn::Sequential",
         "Ok(candle_nn::seq().add(a).add_fn(|xs| ops::softmax_last_dim(xs)))"},
    };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        scanned s;

        snprintf(text, sizeof text,
                 "use candle_nn::Func;\npub fn net(d: usize, vb: VarBuilder) -> Result<%s> {\n"
                 "let a = linear_no_bias(d, d, vb.pp(\"a\"))?;\n%s\n}\n",
                 makers[i][0], makers[i][1]);
        scanned_begin(&s, text);
        assert_cut(scanned_finding(&s, "gradient-cut", "net"), "candle_nn::ops::softmax_last_dim",
                   "always", "vb: a.weight", "");
        scanned_end(&s);
    }
}

#define LAST                                                                                       \
    "pub struct Last { a: Linear, n: LayerNorm, b: Linear }\n"                                     \
    "impl Last {\n"                                                                                \
    "pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { a: linear_no_bias(4, 4, "              \
    "vb.pp(\"a\"))?, n: layer_norm(4, 1e-5, vb.pp(\"n\"))?, b: linear_no_bias(4, 4, "              \
    "vb.pp(\"b\"))? }) }\n"                                                                        \
    "pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"                             \
    "let h = self.n.forward(&self.a.forward(x)?)?;\n"                                              \
    "let p = ops::softmax_last_dim(&self.b.forward(&h)?)?;\nloss::mse(&p, y)\n}\n"

static const model_finding *last_cut(const scanned *s, const char *operation)
{
    const model_doc *doc = scanned_doc(s);

    for (size_t i = 0; i < doc->findings.count; i++) {
        const model_finding *at = MODEL_AT(doc->findings, model_finding, i);

        if (str_equal(at->rule, CG_LIT("gradient-cut")) &&
            str_equal(at->operation, str_from(operation)))
            return at;
    }
    return NULL;
}

static void cuts_that_leave_nothing_together_are_an_error(void **state)
{
    scanned s;
    const model_finding *most, *other;

    (void)state;
    scanned_begin(&s, LAST "}\n");
    most = last_cut(&s, "candle_nn::LayerNorm::forward");
    other = last_cut(&s, "candle_nn::ops::softmax_last_dim");
    assert_cut(most, "candle_nn::LayerNorm::forward", "contiguous_input_with_bias",
               "vb: a.weight n.bias n.weight", "");
    assert_cut(other, "candle_nn::ops::softmax_last_dim", "always", "vb: b.weight", "");
    assert_int_equal(most->severity, MODEL_FINDING_SEVERITY_ERROR);
    assert_int_equal(other->severity, MODEL_FINDING_SEVERITY_WARNING);
    assert_true(str_ends_with(most->message, CG_LIT("nothing is left that learns from this loss")));
    scanned_end(&s);
}

static void what_another_loss_teaches_is_left(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, LAST "pub fn plain_loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
                           "loss::mse(&self.b.forward(x)?, y)\n}\n}\n");
    assert_int_equal(last_cut(&s, "candle_nn::LayerNorm::forward")->severity,
                     MODEL_FINDING_SEVERITY_WARNING);
    scanned_end(&s);
}

/* One of the calls is passed by now and then. */
static void a_cut_under_a_condition_leaves_something(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, LAST "pub fn other_loss(&self, x: &Tensor, y: &Tensor, hard: bool) -> "
                           "Result<Tensor> {\n"
                           "let p = self.b.forward(x)?;\n"
                           "let p = if hard { p.detach() } else { p };\nloss::mse(&p, y)\n}\n}\n");
    assert_int_equal(last_cut(&s, "candle_nn::LayerNorm::forward")->severity,
                     MODEL_FINDING_SEVERITY_WARNING);
    scanned_end(&s);
}

/* A Var that is made of a tensor knows nothing of what made it, unless it is that variable. */
static void a_variable_made_of_a_tensor_is_a_copy(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, "use candle_core::Var;\n" NET
                      "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                      "let h = Var::from_tensor(&self.up.forward(x)?)?;\n"
                      "self.down.forward(h.as_tensor())?.sqr()?.mean_all()\n}\n"
                      "pub fn tied_loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                      "let w = Var::from_tensor(&self.up.weight().clone())?;\n"
                      "x.matmul(&w)?.sqr()?.mean_all()\n}\n}\n");
    assert_cut(scanned_finding(&s, "gradient-cut", "Net::loss"), "candle_core::Var::from_tensor",
               "always", "vb: up.weight", "vb: down.weight");
    assert_null(scanned_finding(&s, "gradient-cut", "Net::tied_loss"));
    scanned_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fused_norm_after_a_kernel_is_proven),
        cmocka_unit_test(what_nobody_knows_of_is_conditional),
        cmocka_unit_test(a_way_around_keeps_the_gradient),
        cmocka_unit_test(each_key_is_lost_where_it_is_lost_first),
        cmocka_unit_test(a_module_that_learns_nothing_is_an_error),
        cmocka_unit_test(free_functions_work_with_the_model_they_are_given),
        cmocka_unit_test(values_rebuilt_from_the_host_are_cut),
        cmocka_unit_test(values_rebuilt_one_by_one_are_cut),
        cmocka_unit_test(a_number_that_goes_on_is_cut_at_its_read),
        cmocka_unit_test(an_operation_without_a_backward_step_stops_it),
        cmocka_unit_test(a_shape_taken_is_no_value_taken),
        cmocka_unit_test(inference_is_not_asked_for_gradients),
        cmocka_unit_test(a_piece_of_each_row_depends_on_their_number),
        cmocka_unit_test(axes_of_one_element_move_nothing),
        cmocka_unit_test(a_call_that_always_cuts_is_no_matter_of_layout),
        cmocka_unit_test(a_function_that_makes_a_module_stands_for_it),
        cmocka_unit_test(cuts_that_leave_nothing_together_are_an_error),
        cmocka_unit_test(what_another_loss_teaches_is_left),
        cmocka_unit_test(a_cut_under_a_condition_leaves_something),
        cmocka_unit_test(a_variable_made_of_a_tensor_is_a_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
