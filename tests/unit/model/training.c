/* What drivers do wrong with their variables, and where components are put together. */
#include "model/scan.h"

#include "unit/model/little.h"

static const char manifest[] = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
                               "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n";

static const char head[] =
    "use candle_core::{DType, Device, Result, Tensor, Var};\n"
    "use candle_nn::{linear, AdamW, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap, "
    "SGD};\n"
    "pub struct Body { l: Linear }\n"
    "impl Body {\n"
    "    pub fn new(vb: VarBuilder) -> Result<Self> { "
    "Ok(Self { l: linear(4, 4, vb.pp(\"l\"))? }) }\n"
    "    pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.l.forward(x) }\n"
    "}\n"
    "pub struct Tip { o: Linear }\n"
    "impl Tip {\n"
    "    pub fn load(vb: VarBuilder) -> Result<Self> { Ok(Self { o: linear(4, 1, vb.pp(\"o\"))? }) "
    "}\n"
    "    pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.o.forward(x) }\n"
    "}\n"
    "pub struct Both { a: Body, t: Tip }\n"
    "impl Both {\n"
    "    pub fn new(low: VarBuilder, high: VarBuilder) -> Result<Self> {\n"
    "        Ok(Self { a: Body::new(low.pp(\"a\"))?, t: Tip::load(high.pp(\"t\").pp(\"u\"))? })\n"
    "    }\n"
    "    pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
    "        self.t.forward(&self.a.forward(x)?)?.mean_all()\n"
    "    }\n"
    "}\n"
    "fn from(map: &VarMap, dev: &Device) -> VarBuilder<'static> {\n"
    "    VarBuilder::from_varmap(map, DType::F32, dev)\n"
    "}\n";

typedef struct fixture {
    little crate;
    scan *scan;
} fixture;

static void open_crate(fixture *self, const char *body)
{
    static char text[32768];
    scan_options options = {0};
    cg_err err = {0};

    little_begin(&self->crate);
    little_write(&self->crate, "Cargo.toml", manifest);
    snprintf(text, sizeof text, "%s%s", head, body);
    little_write(&self->crate, "src/lib.rs", text);
    assert_int_equal(
        scan_open(&self->crate.env, str_from(self->crate.root), &options, &self->scan, &err),
        CG_OK);
}

static void close_crate(fixture *self)
{
    scan_free(self->scan);
    little_end(&self->crate);
}

/* The keys of the finding of a rule in a function, `map: a b`; NULL when there is none. */
static const char *found(const fixture *self, const char *rule, const char *function)
{
    static char text[1024];
    const model_doc *doc = &scan_document(self->scan)->doc;
    const model_finding *findings = doc->findings.at;

    for (size_t i = 0; i < doc->findings.count; i++) {
        const model_finding *finding = &findings[i];
        const model_keys *keys = finding->keys.at;
        size_t at = 0;

        if (!str_equal(finding->rule, str_from(rule)) || !finding->function.ptr ||
            !str_equal(finding->function, str_from(function)))
            continue;
        text[0] = '\0';
        for (size_t j = 0; j < finding->keys.count; j++) {
            at += (size_t)snprintf(text + at, sizeof text - at, "%.*s:", (int)keys[j].name.len,
                                   keys[j].name.ptr);
            for (size_t k = 0; k < keys[j].keys.count; k++)
                at += (size_t)snprintf(text + at, sizeof text - at, " %.*s",
                                       (int)keys[j].keys.at[k].len, keys[j].keys.at[k].ptr);
        }
        return text;
    }
    return NULL;
}

#define assert_found(fixture, rule, function, keys)                                                \
    do {                                                                                           \
        const char *text_ = found(fixture, rule, function);                                        \
        assert_non_null(text_);                                                                    \
        assert_string_equal(text_, keys);                                                          \
    } while (0)

static void missed_parameters(void **state)
{
    fixture f;

    (void)state;
    open_crate(&f,
               "pub fn apart(x: &Tensor) -> Result<()> {\n"
               "    let (low, high) = (VarMap::new(), VarMap::new());\n"
               "    let body = Body::new(from(&low, x.device()))?;\n"
               "    let tip = Tip::load(from(&high, x.device()))?;\n"
               "    let mut opt = SGD::new(high.all_vars(), 0.1)?;\n"
               "    let h = body.forward(x)?;\n"
               "    opt.backward_step(&tip.forward(&h)?.mean_all()?)?;\n"
               "    Ok(())\n}\n"
               "pub fn together(x: &Tensor) -> Result<()> {\n"
               "    let low = VarMap::new();\n    let high = VarMap::new();\n"
               "    let net = Both::new(from(&low, x.device()), from(&high, x.device()))?;\n"
               "    let mut opt = AdamW::new_lr(low.all_vars(), 0.1)?;\n"
               "    for _ in 0..3 { let l = net.loss(x)?; opt.backward_step(&l)?; }\n"
               "    Ok(())\n}\n"
               "pub fn too_early(x: &Tensor) -> Result<()> {\n"
               "    let vars = VarMap::new();\n"
               "    let vb = from(&vars, x.device());\n"
               "    let body = Body::new(vb.pp(\"b\"))?;\n"
               "    let mut opt = AdamW::new(vars.all_vars(), ParamsAdamW::default())?;\n"
               "    let tip = Tip::load(vb.pp(\"t\"))?;\n"
               "    opt.backward_step(&tip.forward(&body.forward(x)?)?.mean_all()?)?;\n"
               "    Ok(())\n}\n"
               "fn parts(dev: &Device) -> Result<(VarMap, VarMap, Body, Tip)> {\n"
               "    let m1 = VarMap::new();\n    let m2 = VarMap::new();\n"
               "    let b = Body::new(from(&m1, dev))?;\n    let t = Tip::load(from(&m2, dev))?;\n"
               "    Ok((m1, m2, b, t))\n}\n"
               "pub fn by_parts(x: &Tensor) -> Result<()> {\n"
               "    let (b_vars, t_vars, b, t) = parts(x.device())?;\n"
               "    let mut opt = SGD::new(t_vars.all_vars(), 0.1)?;\n"
               "    opt.backward_step(&t.forward(&b.forward(x)?)?.mean_all()?)?;\n"
               "    drop(b_vars);\n    Ok(())\n}\n");
    assert_found(&f, "optimizer-misses-parameter", "apart", "low: l.bias l.weight");
    assert_found(&f, "optimizer-misses-parameter", "together", "high: t.u.o.bias t.u.o.weight");
    assert_found(&f, "optimizer-misses-parameter", "too_early", "vars: t.o.bias t.o.weight");
    assert_found(&f, "optimizer-misses-parameter", "by_parts", "b_vars: l.bias l.weight");
    close_crate(&f);
}

/* What stands between the first value and the detached one learns all the same. */
static void used_before_it_is_detached(void **state)
{
    fixture f;

    (void)state;
    open_crate(&f, "pub fn both(x: &Tensor) -> Result<()> {\n"
                   "    let (fast, slow) = (VarMap::new(), VarMap::new());\n"
                   "    let a = Body::new(from(&fast, x.device()))?;\n"
                   "    let b = Body::new(from(&slow, x.device()))?;\n"
                   "    let mut opt = SGD::new(fast.all_vars(), 0.1)?;\n"
                   "    let (goal, _) = (b.forward(x)?, 1);\n    let more = goal.sqr()?;\n"
                   "    let goal = goal.detach();\n"
                   "    let loss = ((a.forward(x)? - goal)? + more)?.mean_all()?;\n"
                   "    opt.step(&loss.backward()?)?;\n    Ok(())\n}\n");
    assert_non_null(found(&f, "optimizer-misses-parameter", "both"));
    close_crate(&f);
}

static void left_out_on_purpose(void **state)
{
    fixture f;

    (void)state;
    open_crate(
        &f,
        "pub fn detached(x: &Tensor) -> Result<()> {\n"
        "    let (low, high) = (VarMap::new(), VarMap::new());\n"
        "    let body = Body::new(from(&low, x.device()))?;\n"
        "    let tip = Tip::load(from(&high, x.device()))?;\n"
        "    let mut opt = SGD::new(high.all_vars(), 0.1)?;\n"
        "    let h = body.forward(x)?.detach();\n"
        "    opt.backward_step(&tip.forward(&h)?.mean_all()?)?;\n    Ok(())\n}\n"
        "pub fn target(x: &Tensor) -> Result<()> {\n"
        "    let (fast, slow) = (VarMap::new(), VarMap::new());\n"
        "    let a = Body::new(from(&fast, x.device()))?;\n"
        "    let b = Body::new(from(&slow, x.device()))?;\n"
        "    let mut opt = SGD::new(fast.all_vars(), 0.1)?;\n"
        "    let goal = b.forward(x)?.detach();\n"
        "    let loss = (a.forward(x)? - goal)?.sqr()?.mean_all()?;\n"
        "    opt.step(&loss.backward()?)?;\n    Ok(())\n}\n"
        "pub fn taught(x: &Tensor) -> Result<()> {\n"
        "    let (fast, slow) = (VarMap::new(), VarMap::new());\n"
        "    let a = Body::new(from(&fast, x.device()))?;\n"
        "    let b = Body::new(from(&slow, x.device()))?;\n"
        "    let mut opt = SGD::new(fast.all_vars(), 0.1)?;\n"
        "    let (goal, _) = (b.forward(x)?, 1);\n    let goal = goal.detach();\n"
        "    let loss = (a.forward(x)? - goal)?.sqr()?.mean_all()?;\n"
        "    opt.step(&loss.backward()?)?;\n    Ok(())\n}\n"
        "pub fn loaded(x: &Tensor, file: &str) -> Result<()> {\n"
        "    let mut low = VarMap::new();\n    let high = VarMap::new();\n"
        "    let net = Both::new(from(&low, x.device()), from(&high, x.device()))?;\n"
        "    low.load(file)?;\n"
        "    let mut opt = SGD::new(high.all_vars(), 0.1)?;\n"
        "    opt.backward_step(&net.loss(x)?)?;\n    Ok(())\n}\n"
        "pub fn two_optimizers(x: &Tensor) -> Result<()> {\n"
        "    let low = VarMap::new();\n    let high = VarMap::new();\n"
        "    let net = Both::new(from(&low, x.device()), from(&high, x.device()))?;\n"
        "    let mut a = SGD::new(high.all_vars(), 0.1)?;\n"
        "    let mut b = SGD::new(low.all_vars(), 0.2)?;\n"
        "    let g = net.loss(x)?.backward()?;\n    a.step(&g)?;\n    b.step(&g)?;\n    Ok(())\n}\n"
        "pub fn filtered(x: &Tensor) -> Result<()> {\n"
        "    let vars = VarMap::new();\n"
        "    let body = Body::new(from(&vars, x.device()))?;\n"
        "    let some: Vec<Var> = vars.all_vars().into_iter().filter(|v| v.dims().len() == "
        "2).collect();\n"
        "    let mut opt = SGD::new(some, 0.1)?;\n"
        "    opt.backward_step(&body.forward(x)?.mean_all()?)?;\n    Ok(())\n}\n"
        "pub fn unknown(x: &Tensor, vars: Vec<Var>) -> Result<()> {\n"
        "    let map = VarMap::new();\n    let body = Body::new(from(&map, x.device()))?;\n"
        "    let mut opt = SGD::new(vars, 0.1)?;\n"
        "    opt.backward_step(&body.forward(x)?.mean_all()?)?;\n    Ok(())\n}\n");
    static const char *const functions[] = {"detached",       "target",   "taught", "loaded",
                                            "two_optimizers", "filtered", "unknown"};

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        assert_null(found(&f, "optimizer-misses-parameter", functions[i]));
        assert_null(found(&f, "optimizer-trains-frozen", functions[i]));
        assert_null(found(&f, "load-before-build", functions[i]));
    }
    close_crate(&f);
}

static void frozen_parameters(void **state)
{
    fixture f;

    (void)state;
    open_crate(&f, "struct Maps { base: VarMap, tip: VarMap }\n"
                   "pub fn moved(x: &Tensor, file: &str) -> Result<()> {\n"
                   "    let mut maps = Maps { base: VarMap::new(), tip: VarMap::new() };\n"
                   "    let net = Both::new(from(&maps.base, x.device()), from(&maps.tip, "
                   "x.device()))?;\n"
                   "    maps.base\n        .load(file)?;\n"
                   "    let all = [maps.base.all_vars(), maps.tip.all_vars()].concat();\n"
                   "    let mut opt = AdamW::new(all, ParamsAdamW::default())?;\n"
                   "    opt.backward_step(&net.loss(x)?)?;\n    Ok(())\n}\n"
                   "pub fn resumed(x: &Tensor, file: Option<&str>) -> Result<()> {\n"
                   "    let mut vars = VarMap::new();\n"
                   "    let body = Body::new(from(&vars, x.device()))?;\n"
                   "    if let Some(f) = file { vars.load(f)?; }\n"
                   "    let mut opt = SGD::new(vars.all_vars(), 0.1)?;\n"
                   "    opt.backward_step(&body.forward(x)?.mean_all()?)?;\n    Ok(())\n}\n");
    assert_found(&f, "optimizer-trains-frozen", "moved", "maps.base: a.l.bias a.l.weight");
    assert_null(found(&f, "optimizer-trains-frozen", "resumed"));
    assert_null(found(&f, "optimizer-misses-parameter", "moved"));
    close_crate(&f);
}

static void loads(void **state)
{
    fixture f;

    (void)state;
    open_crate(&f, "pub fn early(dev: &Device, file: &str) -> Result<Body> {\n"
                   "    let mut map = VarMap::new();\n    map.load(file)?;\n"
                   "    Body::new(from(&map, dev).pp(\"x\"))\n}\n"
                   "pub fn late(dev: &Device, file: &str) -> Result<Body> {\n"
                   "    let mut map = VarMap::new();\n"
                   "    let body = Body::new(from(&map, dev))?;\n"
                   "    restore(&mut map, file)?;\n    Ok(body)\n}\n"
                   "fn restore(map: &mut VarMap, file: &str) -> Result<()> { map.load(file) }\n"
                   "pub fn outside(map: &mut VarMap, file: &str, dev: &Device) -> Result<Body> {\n"
                   "    map.load(file)?;\n    Body::new(from(map, dev))\n}\n");
    assert_found(&f, "load-before-build", "early", "map: x.l.bias x.l.weight");
    assert_null(found(&f, "load-before-build", "late"));
    assert_null(found(&f, "load-before-build", "restore"));
    assert_null(found(&f, "load-before-build", "outside"));
    close_crate(&f);
}

static void sites(void **state)
{
    fixture f;
    bool has_low = false, has_high = false, has_file = false;

    (void)state;
    open_crate(&f, "pub fn fresh(dev: &Device) -> Result<Both> {\n"
                   "    let (one, two) = (VarMap::new(), VarMap::new());\n"
                   "    let a = VarBuilder::from_varmap(&one, DType::F32, dev);\n"
                   "    let b = VarBuilder::from_varmap(&two, DType::F32, dev);\n"
                   "    Both::new(a.pp(\"p\").pp(\"q\"), b)\n}\n"
                   "pub fn stored(dev: &Device) -> Result<Body> {\n"
                   "    let vb = unsafe { VarBuilder::from_mmaped_safetensors(&[\"m.safetensors\"],"
                   " DType::BF16, dev)? };\n"
                   "    Body::new(vb.pp(\"body\"))\n}\n");
    const model_doc *doc = &scan_document(f.scan)->doc;
    const model_assembly *all = doc->assembly_sites.at;

    for (size_t i = 0; i < doc->assembly_sites.count; i++) {
        const model_assembly *site = &all[i];

        if (str_equal(site->function_name, CG_LIT("fresh"))) {
            bool is_low = str_equal(site->builder_root, CG_LIT("low"));

            assert_int_equal(site->source_kind, MODEL_SOURCE_KIND_VAR_MAP);
            assert_int_equal(site->role, MODEL_BUILDER_ROLE_TRAINABLE);
            assert_true(str_equal(site->varmap, is_low ? CG_LIT("one") : CG_LIT("two")));
            assert_int_equal(site->prefix_chain.count, is_low ? 2 : 0);
            if (is_low)
                assert_true(str_equal(site->prefix_chain.at[0], CG_LIT("p")));
            has_low = has_low || is_low;
            has_high = has_high || !is_low;
        }
        if (str_equal(site->function_name, CG_LIT("stored"))) {
            assert_int_equal(site->source_kind, MODEL_SOURCE_KIND_MMAP_SAFETENSORS);
            assert_int_equal(site->role, MODEL_BUILDER_ROLE_FROZEN);
            assert_true(str_equal(site->checkpoint_load, CG_LIT("& [\"m.safetensors\"]")));
            has_file = true;
        }
    }
    assert_true(has_low && has_high && has_file);
    close_crate(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missed_parameters),
        cmocka_unit_test(left_out_on_purpose),
        cmocka_unit_test(used_before_it_is_detached),
        cmocka_unit_test(frozen_parameters),
        cmocka_unit_test(loads),
        cmocka_unit_test(sites),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
