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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_entry_returns_is_named),
        cmocka_unit_test(a_cut_parameter_is_used),
        cmocka_unit_test(a_model_with_a_loss_is_asked_for_that),
        cmocka_unit_test(numbers_read_may_go_anywhere),
        cmocka_unit_test(what_others_can_call_is_not_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
