/* Parameters that reach no result. */
#include "scanned.h"

static void unused_says(const char *items, const char *keys)
{
    scanned s;
    const model_finding *at;

    scanned_begin(&s, items);
    at = scanned_finding(&s, "unused-parameter", NULL);
    if (!keys)
        assert_null(at);
    else
        assert_non_null(at);
    if (at)
        assert_string_equal(scanned_keys(&at->keys), keys ? keys : "");
    scanned_end(&s);
}

#define TWO                                                                                        \
    "pub struct Net { a: Linear, b: Linear }\nimpl Net {\n"                                        \
    "pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { a: linear_no_bias(4, 4, "              \
    "vb.pp(\"a\"))?, b: linear_no_bias(4, 4, vb.pp(\"b\"))? }) }\n"

static void what_no_entry_returns_is_named(void **state)
{
    (void)state;
    unused_says(TWO "pub fn forward(&self, x: &Tensor) -> Result<Tensor> {\n"
                    "let _probe = self.b.forward(x)?;\nself.a.forward(x)\n}\n}\n",
                "vb: b.weight");
    unused_says(TWO "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { "
                    "self.b.forward(&self.a.forward(x)?) }\n}\n",
                NULL);
}

static void a_cut_parameter_is_used(void **state)
{
    (void)state;
    unused_says(TWO "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                    "self.b.forward(&self.a.forward(x)?.detach())?.mean_all()\n}\n}\n",
                NULL);
}

static void a_model_with_a_loss_is_asked_for_that(void **state)
{
    (void)state;
    unused_says(TWO "pub fn loss(&self, x: &Tensor) -> Result<Tensor> { "
                    "self.a.forward(x)?.mean_all() }\n"
                    "pub fn look(&self, x: &Tensor) -> Result<Tensor> { self.b.forward(x) }\n}\n",
                "vb: b.weight");
}

static void numbers_read_may_go_anywhere(void **state)
{
    (void)state;
    unused_says(TWO "pub fn forward(&self, x: &Tensor) -> Result<(Tensor, f32)> {\n"
                    "let top = self.b.forward(x)?.max_all()?.to_scalar::<f32>()?;\n"
                    "Ok((self.a.forward(x)?, top))\n}\n}\n",
                NULL);
}

static void what_others_can_call_is_not_judged(void **state)
{
    static const char inner[] =
        "pub struct Inner { l: Linear }\nimpl Inner {\n"
        "pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { l: linear_no_bias(4, 4, "
        "vb.pp(\"l\"))? }) }\n"
        "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.l.forward(x) }\n}\n";
    char text[4096];

    (void)state;
    snprintf(text, sizeof text,
             "%spub struct Net { pub inner: Inner, a: Linear }\nimpl Net {\n"
             "pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { inner: "
             "Inner::new(vb.pp(\"i\"))?, a: linear_no_bias(4, 4, vb.pp(\"a\"))? }) }\n"
             "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.a.forward(x) }\n}\n",
             inner);
    unused_says(text, NULL);
    snprintf(text, sizeof text,
             "%spub struct Net { inner: Inner, a: Linear }\nimpl Net {\n"
             "pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { inner: "
             "Inner::new(vb.pp(\"i\"))?, a: linear_no_bias(4, 4, vb.pp(\"a\"))? }) }\n"
             "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.a.forward(x) }\n}\n",
             inner);
    unused_says(text, "vb: i.l.weight");
}

/* Weights that are folded into others are used; so is what a closure made in a loop keeps. */
static void what_is_folded_or_kept_by_a_closure_is_used(void **state)
{
    (void)state;
    unused_says("use candle_nn::{batch_norm, conv2d_no_bias, Conv2d};\n"
                "pub struct Net { conv: Conv2d }\nimpl Net {\n"
                "pub fn new(vb: VarBuilder) -> Result<Self> {\n"
                "let conv = conv2d_no_bias(4, 4, 1, Default::default(), vb.pp(\"conv\"))?;\n"
                "let bn = batch_norm(4, 1e-5, vb.pp(\"bn\"))?;\n"
                "Ok(Self { conv: conv.absorb_bn(&bn)? })\n}\n"
                "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { x.apply(&self.conv) }\n}\n",
                NULL);
    unused_says("use candle_nn::Func;\n"
                "fn heads(n: usize, vb: VarBuilder) -> Result<Func<'static>> {\n"
                "let mut all = Vec::new();\n"
                "for i in 0..n { all.push(linear(4, 4, vb.pp(format!(\"h.{i}\")))?); }\n"
                "let spare = linear_no_bias(4, 4, vb.pp(\"spare\"))?;\n"
                "Ok(Func::new(move |xs| {\nlet _unused = &spare;\nlet mut out = Vec::new();\n"
                "for i in 0..n { out.push(xs.apply(&all[i])?); }\nTensor::cat(&out, 1)\n}))\n}\n"
                "pub fn net(n: usize, m: usize, vb: VarBuilder) -> Result<Func<'static>> {\n"
                "let mut blocks = Vec::new();\n"
                "for i in 0..n { blocks.push(heads(m, vb.pp(format!(\"b.{i}\")))?); }\n"
                "Ok(Func::new(move |xs| {\nlet mut xs = xs.clone();\n"
                "for b in blocks.iter() { xs = xs.apply(b)? }\nOk(xs)\n}))\n}\n",
                "vb: b.{i}.spare.weight");
}

/* Loops inside of loops fill one list; states are written field by field; one of several lists. */
static void what_goes_through_lists_and_states_is_used(void **state)
{
    (void)state;
    unused_says(TWO "pub fn forward(&self, x: &Tensor, n: usize) -> Result<Tensor> {\n"
                    "let h = self.a.forward(x)?;\nlet mut all = Vec::new();\n"
                    "for i in 0..n { for j in 0..n { all.push(h.i((i, j))?); } }\n"
                    "self.b.forward(&Tensor::cat(&all, 0)?)\n}\n}\n",
                NULL);
    unused_says("pub struct Slot { pub sum: Tensor, pub last: Tensor }\n" TWO
                "pub fn forward(&self, x: &Tensor, slots: &mut [Slot], i: usize) -> "
                "Result<Tensor> {\nself.step(x, &mut slots[i])\n}\n"
                "fn step(&self, x: &Tensor, slot: &mut Slot) -> Result<Tensor> {\n"
                "let h = (self.a.forward(x)? + &slot.last)?;\nslot.last = x.clone();\n"
                "slot.sum = (&slot.sum * h)?;\nslot.sum.matmul(&self.b.forward(x)?)\n}\n}\n",
                NULL);
    unused_says(TWO
                "pub fn forward(&self, x: &Tensor, deep: bool, i: usize) -> Result<Tensor> {\n"
                "let h = self.a.forward(x)?;\n"
                "let all = if deep { vec![h.clone(), x.clone(), h] } else { vec![x.clone()] };\n"
                "self.b.forward(&all[i])\n}\n}\n",
                NULL);
}

/* What is written into another tensor, and what a trait of the crate does to one. */
static void what_goes_through_other_methods_is_used(void **state)
{
    (void)state;
    unused_says(TWO "pub fn forward(&self, x: &Tensor) -> Result<Tensor> {\n"
                    "let all = x.zeros_like()?;\n"
                    "all.slice_set(&self.a.forward(x)?, 0, 0)?;\nself.b.forward(&all)\n}\n}\n",
                NULL);
    unused_says("pub struct Top { pub values: Tensor, pub places: Tensor }\n"
                "pub trait TopOp { fn top(&self, n: usize) -> Result<Top>; }\n"
                "impl TopOp for Tensor {\nfn top(&self, n: usize) -> Result<Top> {\n"
                "let (values, places) = self.sort_last_dim(false)?;\n"
                "Ok(Top { values: values.narrow(1, 0, n)?, places })\n}\n}\n" TWO
                "pub fn forward(&self, x: &Tensor, n: usize) -> Result<Tensor> {\n"
                "let Top { values, .. } = self.a.forward(x)?.top(n)?;\n"
                "let lost = self.b.forward(x)?.top(n)?;\nlost.places.to_dtype(DType::F32)?;\n"
                "Ok(values)\n}\n}\n",
                "vb: b.weight");
}

/* A layer that went where nobody follows it: nothing says that it is not used. */
static void what_the_model_was_not_seen_to_hold_is_not_judged(void **state)
{
    (void)state;
    unused_says("pub struct Net { a: Linear, more: Vec<Linear> }\nimpl Net {\n"
                "pub fn new(vb: VarBuilder) -> Result<Self> {\n"
                "let mut more = other::Shelf::new();\n"
                "more.stow(linear_no_bias(4, 4, vb.pp(\"b\"))?);\n"
                "Ok(Self { a: linear_no_bias(4, 4, vb.pp(\"a\"))?, more: more.into_vec() })\n}\n"
                "pub fn forward(&self, x: &Tensor) -> Result<Tensor> {\n"
                "let mut x = self.a.forward(x)?;\nfor l in &self.more { x = l.forward(&x)?; }\n"
                "Ok(x)\n}\n}\n",
                NULL);
    unused_says("pub struct Net { a: Linear }\nimpl Net {\n"
                "pub fn new(vb: VarBuilder) -> Result<Self> {\n"
                "let _ = linear_no_bias(4, 4, vb.pp(\"b\"))?;\n"
                "linear_no_bias(4, 4, vb.pp(\"c\"))?;\n"
                "let spare = linear_no_bias(4, 4, vb.pp(\"d\"))?;\n"
                "Ok(Self { a: linear_no_bias(4, 4, vb.pp(\"a\"))? })\n}\n"
                "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.a.forward(x) }\n}\n",
                "vb: b.weight c.weight d.weight");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_entry_returns_is_named),
        cmocka_unit_test(a_cut_parameter_is_used),
        cmocka_unit_test(a_model_with_a_loss_is_asked_for_that),
        cmocka_unit_test(numbers_read_may_go_anywhere),
        cmocka_unit_test(what_others_can_call_is_not_judged),
        cmocka_unit_test(what_is_folded_or_kept_by_a_closure_is_used),
        cmocka_unit_test(what_goes_through_lists_and_states_is_used),
        cmocka_unit_test(what_goes_through_other_methods_is_used),
        cmocka_unit_test(what_the_model_was_not_seen_to_hold_is_not_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
