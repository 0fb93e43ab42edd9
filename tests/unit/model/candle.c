/*
 * Constructors as people write them, through the interpreter: what is asked for, and how certain.
 */
#include "little.h"
#include "model/catalogue.h"
#include "model/expr_print.h"
#include "model/extract.h"

typedef struct reading {
    little crate;
    expr_pool exprs;
    eval *eval;
    extraction found;
} reading;

static void read_body(reading *self, const char *items)
{
    cg_err err = {0};
    extract_options options = {0};
    char source[8192];

    snprintf(source, sizeof source,
             "use candle::{DType, Result, Tensor};\nuse candle_nn as nn;\n"
             "use candle_nn::{Linear, VarBuilder};\n%s\n",
             items);
    little_begin(&self->crate);
    little_write(&self->crate, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&self->crate, "src/lib.rs", source);
    little_load(&self->crate, "");
    assert_true(expr_pool_init(&self->exprs, &self->crate.heap));
    assert_int_equal(
        eval_new(&self->crate.program, self->crate.types, &self->exprs, &self->eval, &err), CG_OK);
    assert_int_equal(extract_run(self->eval, &options, &self->found, &err), CG_OK);
}

static void forget(reading *self)
{
    extraction_free(&self->found);
    eval_free(self->eval);
    expr_pool_free(&self->exprs);
    little_end(&self->crate);
}

static const extract_component *component(const reading *self, const char *name)
{
    for (size_t i = 0; i < self->found.components.count; i++) {
        if (str_equal(self->found.components.at[i].qualified, str_from(name)))
            return &self->found.components.at[i];
    }
    fail_msg("there is no component `%s`", name);
    return NULL;
}

/* `key [shape]`, and ` ?` when it is conditional; one line each, in order. */
static void assert_asks(const reading *self, const char *name, const char *wanted)
{
    const extract_component *of = component(self, name);
    buf out;

    buf_init(&out, (heap *)&self->crate.heap, 1u << 20);
    for (size_t i = 0; i < of->parameters.count; i++) {
        const extract_parameter *at = &of->parameters.at[i];

        buf_add(&out, at->printed);
        buf_add(&out, CG_LIT(" ["));
        for (uint32_t axis = 0; axis < at->rank; axis++) {
            if (axis > 0)
                buf_add(&out, CG_LIT(", "));
            expr_print(&self->exprs, at->shape[axis], &out);
        }
        buf_add(&out, at->condition.ptr != NULL ? CG_LIT("] ?\n") : CG_LIT("]\n"));
    }
    buf_byte(&out, '\0');
    assert_string_equal(buf_text(&out).ptr, wanted);
    buf_free(&out);
}

static void every_form_of_the_worked_example_is_followed(void **state)
{
    reading r;

    (void)state;
    read_body(
        &r,
        "pub struct Gr { a: Linear }\npub struct Inner { w: Tensor }\n"
        "impl Inner { pub fn load(vb: VarBuilder) -> Result<Self> {\n"
        "  let w = vb.get((3, 4), \"w\")?; Ok(Self { w }) } }\n"
        "pub struct Top { g: Gr }\nimpl Top {\n"
        "pub fn new(flag: bool, vb: VarBuilder, lora_vb: Option<VarBuilder>) -> Result<Self> {\n"
        "  let mk = |i: usize, vb: VarBuilder| nn::linear_b(i, i, true, vb);\n"
        "  let g = Gr { a: mk(3, vb.pp(\"g.a\"))? };\n"
        "  let o = if flag { Some(Inner::load(vb.pp(\"o\"))?) } else { None };\n"
        "  let l = (0..2).map(|i| nn::linear(2, 2, vb.pp(format!(\"l.{}\", i))))\n"
        "    .collect::<Result<Vec<_>>>()?;\n"
        "  let n = nn::layer_norm(8, nn::LayerNormConfig { affine: false,\n"
        "    ..Default::default() }, vb.pp(\"n\"))?;\n"
        "  let r = nn::lstm(3, 5, nn::LSTMConfig { layer_idx: 2, ..Default::default() },\n"
        "    vb.pp(\"r\"))?;\n"
        "  let x = lora_vb.as_ref().map(|v| nn::linear_no_bias(1, 1, v.pp(\"lora\")))\n"
        "    .transpose()?;\n"
        "  let bn = nn::batch_norm(4, 1e-5, vb.pp(\"bn\").set_dtype(DType::F32))?;\n"
        "  let ii = Inner::load(vb.root().pp(\"abs\"))?;\n"
        "  for i in 0..2 { let _ = vb.get(2, &format!(\"p{i}\"))?; }\n"
        "  let e = [nn::embedding(2, 3, vb.pp(\"e0\"))?];\n"
        "  let v = vec![nn::embedding(2, 3, vb.pp(\"e1\"))?];\n"
        "  match nn::linear(1, 2, vb.pp(\"scrut\")) { _ => {} }\n"
        "  Ok(Self { g }) } }\n");
    assert_asks(&r, "Top",
                "g.a.weight [3, 3]\ng.a.bias [3]\no.w [3, 4] ?\n"
                "l.0.weight [2, 2]\nl.0.bias [2]\nl.1.weight [2, 2]\nl.1.bias [2]\n"
                "n.weight [8]\nr.weight_ih_l2 [20, 3]\nr.weight_hh_l2 [20, 5]\n"
                "r.bias_ih_l2 [20]\nr.bias_hh_l2 [20]\nlora.weight [1, 1] ?\n"
                "bn.running_mean [4]\nbn.running_var [4]\nbn.weight [4]\nbn.bias [4]\n"
                "abs.w [3, 4]\np0 [2]\np1 [2]\ne0.weight [2, 3]\ne1.weight [2, 3]\n"
                "scrut.weight [2, 1]\nscrut.bias [2]\n");
    forget(&r);
}

static void iterators_over_what_is_not_known_make_families(void **state)
{
    reading r;

    (void)state;
    read_body(&r,
              "pub struct Config { pub n: usize, pub sizes: Vec<usize>, pub head: Option<usize> }\n"
              "pub struct Model { l: Vec<Linear> }\nimpl Model {\n"
              "pub fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {\n"
              "  let head = cfg.head.unwrap_or(cfg.n);\n"
              "  let q = nn::linear_no_bias(cfg.n, head, vb.pp(\"q\"))?;\n"
              "  let l = (0..cfg.n).map(|k| nn::linear_no_bias(1, 2, vb.pp(\"z\").pp(k)))\n"
              "    .collect::<Result<Vec<_>>>()?;\n"
              "  let b = vb.get(3, \"b\").ok();\n"
              "  let c = nn::conv1d_no_bias(3, 4, 5, Default::default(), vb.pp(\"c\"))?;\n"
              "  Ok(Self { l }) } }\n");
    assert_asks(&r, "Model",
                "q.weight [cfg.head.unwrap_or(cfg.n), cfg.n]\nz.{k}.weight [2, 1]\nb [3] ?\n"
                "c.weight [4, 3, 5]\n");
    forget(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_the_worked_example_is_followed),
        cmocka_unit_test(iterators_over_what_is_not_known_make_families),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
