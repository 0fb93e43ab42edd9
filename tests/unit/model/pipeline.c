/* Guesses on request: stages, files between them, calls, optimizers and roles. */
#include "model/scan.h"

#include "unit/model/little.h"

static const char manifest[] = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
                               "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n";

static const char code[] =
    "use candle_core::{DType, Device, Result, Tensor};\n"
    "use candle_nn::{linear, AdamW, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap};\n"
    "pub struct Ear { a: Linear }\n"
    "impl Ear {\n"
    "    pub fn new(vb: VarBuilder) -> Result<Self> { "
    "Ok(Self { a: linear(2, 3, vb.pp(\"a\"))? }) }\n"
    "    pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.a.forward(x) }\n}\n"
    "pub struct Mouth { b: Linear }\n"
    "impl Mouth {\n"
    "    pub fn new(out: VarBuilder) -> Result<Self> { "
    "Ok(Self { b: linear(3, 1, out.pp(\"b\"))? }) "
    "}\n"
    "    pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.b.forward(x) }\n}\n"
    "pub struct Net { ear: Ear, mouth: Mouth }\n"
    "impl Net {\n"
    "    pub fn new(vb: VarBuilder, base_vb: VarBuilder) -> Result<Self> {\n"
    "        Ok(Self { ear: Ear::new(base_vb.pp(\"ear\"))?, mouth: Mouth::new(vb.pp(\"m\"))? })\n"
    "    }\n"
    "    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {\n"
    "        self.mouth.forward(&self.ear.forward(x)?)\n    }\n}\n"
    "pub fn relaunch(key: &str, args: &[&str]) -> Result<()> {\n"
    "    let exe = std::env::current_exe().unwrap();\n"
    "    std::process::Command::new(exe).arg(key).args(args).status().unwrap();\n    Ok(())\n}\n"
    "pub fn fit(dev: &Device) -> Result<()> {\n"
    "    let varmap = VarMap::new();\n    let kept = VarMap::new();\n"
    "    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F32, dev),\n"
    "                       VarBuilder::from_varmap(&kept, DType::F32, dev))?;\n"
    "    let mut opt = AdamW::new(varmap.all_vars(), ParamsAdamW::default())?;\n"
    "    opt.backward_step(&net.forward(&Tensor::zeros((1, 2), DType::F32, dev)?)?)?;\n"
    "    let report = \"eval_report.json\";\n    std::fs::write(report, \"x\").unwrap();\n"
    "    varmap.save(\"out/model.safetensors\")\n}\n"
    "pub fn check_it(dev: &Device) -> Result<()> {\n"
    "    let vb = unsafe { VarBuilder::from_mmaped_safetensors(&[\"out/model.safetensors\"], "
    "DType::F32, dev)? };\n"
    "    Net::new(vb.clone(), vb)?;\n    Ok(())\n}\n"
    "pub fn ship() -> Result<()> { relaunch(\"export\", &[\"--out\", \"x\", \"--fast\"]) }\n"
    "pub fn everything(dev: &Device) -> Result<()> { fit(dev)?; check_it(dev)?; ship() }\n";

typedef struct fixture {
    little crate;
    scan *scan;
    const model_doc *doc;
} fixture;

static void open_crate(fixture *self, bool is_heuristic)
{
    scan_options options = {.is_heuristic = is_heuristic};
    cg_err err = {0};

    little_begin(&self->crate);
    little_write(&self->crate, "Cargo.toml", manifest);
    little_write(&self->crate, "src/lib.rs", code);
    assert_int_equal(
        scan_open(&self->crate.env, str_from(self->crate.root), &options, &self->scan, &err),
        CG_OK);
    self->doc = &scan_document(self->scan)->doc;
}

static void close_crate(fixture *self)
{
    scan_free(self->scan);
    little_end(&self->crate);
}

static void assert_text(cg_str text, const char *wanted)
{
    if (!str_equal(text, str_from(wanted)))
        fail_msg("`%.*s` is not `%s`", (int)text.len, text.ptr, wanted);
}

static void nothing_is_guessed_unasked(void **state)
{
    fixture f;

    (void)state;
    open_crate(&f, false);
    assert_int_equal(f.doc->stages.count, 0);
    assert_int_equal(f.doc->artifacts.count, 0);
    assert_int_equal(f.doc->optimizers.count, 0);
    close_crate(&f);
}

static void stages_come_in_order(void **state)
{
    fixture f;

    (void)state;
    open_crate(&f, true);
    const model_stage *stages = f.doc->stages.at;

    assert_int_equal(f.doc->stages.count, 3);
    assert_text(stages[0].id, "subprocess-stage:fit:fit");
    assert_int_equal(stages[0].kind, MODEL_STAGE_KIND_TRAIN);
    assert_int_equal(stages[0].order.value, 0);
    assert_int_equal(stages[0].dispatch, MODEL_DISPATCH_INLINE);
    assert_int_equal(stages[0].components.count, 3);
    assert_int_equal(stages[1].kind, MODEL_STAGE_KIND_EVALUATE);
    assert_int_equal(stages[1].depends_on.count, 1);
    assert_text(stages[1].depends_on.at[0], "subprocess-stage:fit:fit");
    assert_text(stages[2].name, "export");
    assert_int_equal(stages[2].dispatch, MODEL_DISPATCH_SUBPROCESS);
    assert_text(stages[2].launcher, "relaunch");
    assert_text(stages[2].orchestrator, "everything");
    assert_int_equal(stages[2].cli_flags.count, 2);
    close_crate(&f);
}

static void files_lie_between_stages(void **state)
{
    fixture f;
    bool has_report = false, has_model = false;

    (void)state;
    open_crate(&f, true);
    const model_artifact *all = f.doc->artifacts.at;

    assert_int_equal(f.doc->artifacts.count, 3);
    for (size_t i = 0; i < f.doc->artifacts.count; i++) {
        if (str_equal(all[i].name, CG_LIT("eval_report.json"))) {
            assert_int_equal(all[i].kind, MODEL_ARTIFACT_KIND_EVALUATION_REPORT);
            assert_text(all[i].id, "artifact:report");
            assert_text(all[i].path_expr, "report = \"eval_report.json\"");
            assert_int_equal(all[i].produced_by.count, 1);
            assert_int_equal(all[i].consumed_by.count, 0);
            has_report = true;
        } else {
            assert_int_equal(all[i].kind, MODEL_ARTIFACT_KIND_CHECKPOINT);
            assert_int_equal(all[i].produced_by.count + all[i].consumed_by.count, 1);
            has_model = true;
        }
    }
    assert_true(has_report && has_model);
    close_crate(&f);
}

static void roles_follow_the_optimizer(void **state)
{
    fixture f;

    (void)state;
    open_crate(&f, true);
    const model_optimizer *optimizer = f.doc->optimizers.at;
    const model_parameter *parameters = f.doc->parameters.at;
    const model_component *components = f.doc->components.at;

    assert_int_equal(f.doc->optimizers.count, 1);
    assert_text(optimizer->optimizer, "AdamW::new");
    assert_text(optimizer->varmap, "varmap");
    assert_text(optimizer->stage, "subprocess-stage:fit:fit");
    assert_int_equal(optimizer->components.count, 2);
    for (size_t i = 0; i < f.doc->parameters.count; i++) {
        bool is_base = str_equal(parameters[i].builder_root, CG_LIT("base_vb"));
        bool is_alone = str_equal(parameters[i].component, CG_LIT("component:Ear"));

        assert_int_equal(parameters[i].role, is_alone  ? MODEL_PARAMETER_ROLE_UNKNOWN
                                             : is_base ? MODEL_PARAMETER_ROLE_FROZEN
                                                       : MODEL_PARAMETER_ROLE_OPTIMIZED);
        assert_int_equal(parameters[i].optimizer_memberships.count, !is_base && !is_alone);
    }
    for (size_t i = 0; i < f.doc->components.count; i++) {
        const model_builder *builders = components[i].builders.at;

        if (!str_equal(components[i].name, CG_LIT("Net")))
            continue;
        assert_int_equal(builders[0].role, MODEL_BUILDER_ROLE_FROZEN);
        assert_int_equal(builders[1].role, MODEL_BUILDER_ROLE_TRAINABLE);
    }
    close_crate(&f);
}

static void calls_become_edges(void **state)
{
    fixture f;
    size_t count = 0;

    (void)state;
    open_crate(&f, true);
    const model_edge *edges = f.doc->architecture_edges.at;

    for (size_t i = 0; i < f.doc->architecture_edges.count; i++) {
        if (!str_starts_with(edges[i].id, CG_LIT("architecture-edge:")))
            continue;
        count++;
        assert_text(edges[i].from, "component:Ear");
        assert_text(edges[i].to, "component:Mouth");
    }
    assert_int_equal(count, 1);
    close_crate(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_guessed_unasked), cmocka_unit_test(stages_come_in_order),
        cmocka_unit_test(files_lie_between_stages),   cmocka_unit_test(roles_follow_the_optimizer),
        cmocka_unit_test(calls_become_edges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
