/* Calls that can stop a run or spoil its numbers, and their guarded twins. */
#include "little.h"
#include "model/scan.h"

/*
 * One function each: what stands in its body (`x`, `y`, `ids` are tensors from outside, `self` has
 * the layers below), and the findings about it, by code, in order. `!` is an error, `?` is
 * conditional, `~` unknown.
 */
typedef struct sample {
    const char *body;
    const char *codes;
} sample;

#define NUMERIC  "numeric-domain-violation"
#define PRODUCT  "zero-times-infinity"
#define LIBRARY  "unstable-library-loss"
#define SHAPES   "shape-mismatch"
#define CONFLICT "dtype-conflict"
#define RISK     "dtype-risk"
#define KERNEL   "dtype-unsupported"
#define BACKEND  "backend-unsupported"
#define LAYOUT   "layout-contract"
#define DEVICES  "device-mismatch"

static const sample SAMPLES[] = {
    /* logarithms */
    {"ops::sigmoid(&self.z(x)?)?.log()", NUMERIC "!"},
    {"ops::sigmoid(&self.z(x)?)?.affine(1.0, 1e-7)?.log()", ""},
    {"ops::sigmoid(&self.z(x)?)?.affine(-1.0, 1e-7)?.log()", NUMERIC "!"},
    {"(1.0 - ops::sigmoid(&self.z(x)?)?)?.log()", NUMERIC "!"},
    {"(ops::sigmoid(&self.z(x)?)? - 1e-7)?.log()", NUMERIC "!"},
    {"(ops::sigmoid(&self.z(x)?)? + self.epsilon)?.log()", ""},
    {"self.z(x)?.clamp(1e-4, 10.0)?.log()", ""},
    {"ops::softmax(&self.z(x)?, D::Minus1)?.log()", NUMERIC "!"},
    {"ops::log_softmax(&self.z(x)?, D::Minus1)", ""},
    {"let z = self.z(x)?; let z = z.broadcast_sub(&z.max_keepdim(1)?)?; "
     "z.exp()?.sum_keepdim(1)?.log()",
     ""},
    {"self.z(x)?.exp()?.sum_keepdim(1)?.log()", ""},
    {"(self.z(x)?.exp()? + 1.0)?.log()", ""},
    {"(self.z(x)?.abs()?.neg()?.exp()? + 1.0)?.log()", ""},
    {"(1.0 - self.z(x)?.sqr()?.neg()?.exp()?)?.log()", NUMERIC "!"},
    {"x.log()", ""},
    {"x.broadcast_div(y)?.log()", ""},
    {"(self.act.forward(&self.z(x)?)? + 1e-3)?.log()", ""},
    {"self.z(x)?.rand_like(1e-5, 0.999)?.log()?.neg()?.log()", ""},
    {"self.z(x)?.rand_like(0.0, 1.0)?.log()", NUMERIC},
    {"Tensor::rand(1e-5f32, 0.999f32, 4, x.device())?.log()?.neg()?.log()", ""},
    {"(1.0 - x.exp()?)?.sqrt()", ""},
    {"(1.0 - x.relu()?)?.sqrt()", ""},
    {"(self.z(x)?.elu(1.0)? + 1.01)?.log()", ""},
    {"(self.z(x)?.elu(1.0)? + 0.5)?.log()", NUMERIC "!"},
    /* products with logarithms */
    {"let p = ops::softmax(&self.z(x)?, 1)?; (p.log()? * &p)?.sum_all()", NUMERIC "! " PRODUCT "!"},
    {"let p = ops::softmax(&self.z(x)?, 1)?; (p.log()?.detach() * &p)?.sum_all()",
     NUMERIC "! " PRODUCT "!"},
    {"let p = (ops::softmax(&self.z(x)?, 1)? + 1e-6)?; (p.log()? * &p)?.sum_all()", ""},
    {"candle_nn::loss::binary_cross_entropy_with_logit(&self.z(x)?, y)",
     NUMERIC "! " LIBRARY "! " PRODUCT "!"},
    {"let l = ops::log_softmax(&self.z(x)?, 1)?; ((1.0 - l.exp()?)? * l)?.sum_all()", ""},
    /* divisors */
    {"let p = self.z(x)?.relu()?; p.broadcast_div(&p.sum_keepdim(1)?)", NUMERIC "!"},
    {"let p = self.z(x)?.relu()?; p.broadcast_div(&(p.sum_keepdim(1)? + 1e-6)?)", ""},
    {"let e = self.z(x)?.exp()?; e.broadcast_div(&e.sum_keepdim(1)?)", ""},
    {"let n = ids.ne(0u32)?.to_dtype(DType::F32)?.sum(1)?; x.broadcast_div(&n)", RISK "? " NUMERIC},
    {"let n = ids.ne(0u32)?.to_dtype(DType::F32)?.sum(1)?.maximum(1f32)?; "
     "x.sum(1)?.to_dtype(DType::F32)?.broadcast_div(&n)",
     ""},
    {"let n = self.z(x)?.relu()?.sum_keepdim(1)?; "
     "x.broadcast_div(&n.gt(0f32)?.where_cond(&n, &n.ones_like()?)?)",
     ""},
    {"let n = self.z(x)?.relu()?.sum_keepdim(1)?; "
     "x.broadcast_div(&n.eq(&n.zeros_like()?)?.where_cond(&n.ones_like()?, &n)?)",
     ""},
    {"let n = self.z(x)?.relu()?.sum_keepdim(1)?; "
     "x.broadcast_div(&n.gt(0f32)?.where_cond(&n.ones_like()?, &n)?)",
     NUMERIC "!"},
    {"x.broadcast_div(y)", ""},
    /* features that begin with a constant: a sum of their products need not be what it can be */
    {"let z = self.z(x)?; let one = Tensor::ones((2, 1), z.dtype(), z.device())?; "
     "let f = Tensor::cat(&[one, z.clone(), z.sqr()?], 1)?; "
     "let k = self.z(&f)?; let k = Tensor::cat(&[k.ones_like()?, k.clone()], 1)?; "
     "x.broadcast_div(&(f.mul(&k.cumsum(0)?)?.sum_keepdim(1)? + 1e-12)?)",
     ""},
    {"let z = self.z(x)?; x.broadcast_div(&(z.mul(&self.z(y)?)?.sum_keepdim(1)? + 1e-12)?)",
     NUMERIC "!"},
    {"x / 8.0", ""},
    {"self.z(x)?.relu()?.sum_all()?.recip()", NUMERIC "!"},
    {"let p = ops::softmax(&self.z(x)?, 1)?; let (s, _) = p.sort_last_dim(false)?; "
     "let s = s.narrow(1, 0, 2)?; s.broadcast_div(&s.sum_keepdim(1)?)",
     ""},
    /* roots and powers */
    {"self.z(x)?.sqrt()", NUMERIC "!"},
    {"(self.z(x)?.sqr()?.mean_keepdim(1)? + self.epsilon)?.sqrt()", ""},
    {"self.drop.forward(&self.z(x)?.relu()?, true)?.sqrt()", ""},
    {"ops::log_softmax(&self.z(x)?, 1)?.sqrt()", NUMERIC "!"},
    {"self.z(x)?.powf(0.5)", NUMERIC "!"},
    {"self.z(x)?.powf(2.0)", ""},
    {"self.z(x)?.relu()?.powf(-0.5)", NUMERIC "!"},
    {"x.sqrt()", ""},
    {"x.matmul(y)?.sqrt()", ""},
    /* shapes */
    {"self.out.forward(&self.z(x)?)", SHAPES "!"},
    {"candle_nn::loss::mse(&Tensor::zeros((4, 1), DType::F32, x.device())?, "
     "&Tensor::zeros(4, DType::F32, x.device())?)",
     SHAPES "!"},
    {"candle_nn::loss::mse(&Tensor::zeros((4, 1), DType::F32, x.device())?, "
     "&Tensor::zeros((4, 1), DType::F32, x.device())?)",
     ""},
    {"candle_nn::loss::cross_entropy(&Tensor::zeros((4, 3), DType::F32, x.device())?, "
     "&Tensor::zeros((4, 1), DType::U32, x.device())?)",
     SHAPES "!"},
    {"candle_nn::loss::cross_entropy(&Tensor::zeros((4, 3), DType::F32, x.device())?, "
     "&Tensor::zeros(5, DType::U32, x.device())?)",
     SHAPES "!"},
    {"candle_nn::loss::nll(&Tensor::zeros((4, 3), DType::F32, x.device())?, "
     "&Tensor::zeros(4, DType::U32, x.device())?)",
     ""},
    {"self.up.forward(&self.up.forward(x)?)", SHAPES "!"},
    {"Tensor::zeros((2, 3), DType::F32, x.device())?.reshape((4, 2))", SHAPES "!"},
    {"let (a, b) = self.table.unsqueeze(0)?.dims2()?; x.reshape((a, b))", SHAPES "!"},
    {"self.z(x)?.broadcast_mul(&self.table.narrow(1, 0, 3)?.narrow(0, 0, 1)?)", ""},
    /* dtypes */
    {"let a = self.z(x)?.to_dtype(DType::F16)?; a.mul(&self.z(x)?.to_dtype(DType::F32)?)",
     CONFLICT "!"},
    {"self.z(x)?.broadcast_mul(&Tensor::new(&[0.5f32, 1.0, 2.0], x.device())?)", RISK "?"},
    {"let z = self.z(x)?; z.broadcast_mul(&Tensor::new(0.5f32, z.device())?.to_dtype(z.dtype())?)",
     ""},
    {"self.emb.forward(&Tensor::ones((2, 2), DType::F32, x.device())?)", KERNEL ""},
    {"Tensor::arange(0u32, 8, x.device())?.exp()", KERNEL ""},
    {"let a = Tensor::zeros((2, 3), DType::BF16, &Device::Cpu)?; a.matmul(&a.t()?)", KERNEL ""},
    {"let a = Tensor::zeros((2, 3), DType::U32, x.device())?; a.matmul(&a.t()?)", KERNEL ""},
    {"let a = Tensor::zeros((2, 3), DType::F16, &Device::Cpu)?; a.matmul(&a.t()?)", ""},
    {"let q = Tensor::zeros((1, 2, 3, 64), DType::F32, &Device::Cpu)?; "
     "ops::sdpa(&q, &q, &q, None, false, 1.0, 1.0)",
     BACKEND ""},
    /* layout */
    {"ops::softmax_last_dim(&self.z(x)?.t()?)", LAYOUT "?"},
    {"ops::softmax_last_dim(&self.z(x)?.t()?.contiguous()?)", ""},
    {"let (b, t, _) = x.dims3()?; let q = x.reshape((b, t, 2, 4))?.transpose(1, 2)?; "
     "q.matmul(&q.t()?)",
     LAYOUT "?"},
    {"let h = self.z(x)?; h.matmul(&h.t()?)", ""},
    /* devices */
    {"self.z(x)? + Tensor::randn(0f64, 1f64, (2, 3), &Device::Cpu)?.to_dtype(x.dtype())?",
     DEVICES "?"},
    {"self.z(x)?.to_device(&Device::Cpu)? + "
     "Tensor::randn(0f64, 1f64, (2, 3), &Device::Cpu)?.to_dtype(x.dtype())?",
     ""},
    {"let g = Device::new_cuda(0)?; Tensor::zeros((2, 3), DType::F32, &g)?"
     ".add(&Tensor::zeros((2, 3), DType::F32, &Device::Cpu)?)",
     DEVICES "!"},
};

#define SAMPLE_COUNT (sizeof SAMPLES / sizeof SAMPLES[0])

static const char HEAD[] =
    "use candle_core::{DType, Device, Result, Tensor, D};\n"
    "use candle_nn::{embedding, linear, linear_no_bias, ops, Activation, Dropout, Embedding, "
    "Linear, Module, VarBuilder};\n"
    "pub struct Net { fc: Linear, out: Linear, up: Linear, emb: Embedding, act: Activation, "
    "drop: Dropout, table: Tensor, epsilon: f64 }\n"
    "impl Net {\n"
    "pub fn new(h: usize, vb: VarBuilder) -> Result<Self> {\n"
    "Ok(Self { fc: linear(4, 3, vb.pp(\"fc\"))?, out: linear_no_bias(5, 3, vb.pp(\"out\"))?,\n"
    "up: linear(h, 4 * h, vb.pp(\"up\"))?, emb: embedding(10, 4, vb.pp(\"emb\"))?,\n"
    "act: Activation::Relu, drop: Dropout::new(0.1), table: vb.get((10, 6), \"table\")?,\n"
    "epsilon: 1e-6 })\n}\n"
    "fn z(&self, x: &Tensor) -> Result<Tensor> { self.fc.forward(x) }\n";

static little l;
static scan *scanned;

static const char MANIFEST[] = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
                               "[dependencies]\ncandle-core = \"=0.11.0\"\n"
                               "candle-nn = \"=0.11.0\"\n[workspace]\n";

static void scan_source(const char *source)
{
    scan_options options = {0};
    char home[512];
    cg_err err = {0};

    little_begin(&l);
    little_write(&l, "Cargo.toml", MANIFEST);
    little_write(&l, "src/lib.rs", source);
    snprintf(home, sizeof home, "%s/.no-cargo", l.root);
    options.cargo.cargo_home = str_from(home);
    if (scan_open(&l.env, str_from(l.root), &options, &scanned, &err) != CG_OK)
        fail_msg("scan: %s", err.text);
}

static void scan_close(void)
{
    scan_free(scanned);
    little_end(&l);
}

static const model_finding *finding_of(size_t index)
{
    return (const model_finding *)scan_document(scanned)->doc.findings.at + index;
}

static size_t finding_count(void)
{
    return scan_document(scanned)->doc.findings.count;
}

static bool is_ours(cg_str rule)
{
    static const char *const ours[] = {NUMERIC, PRODUCT, LIBRARY, SHAPES, CONFLICT,
                                       RISK,    KERNEL,  BACKEND, LAYOUT, DEVICES};

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (str_equal(rule, str_from(ours[i])))
            return true;
    }
    return false;
}

/* The codes of what is found in a function, as the table of samples writes them. */
static void codes_of(const char *function, char ret[512])
{
    size_t used = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < finding_count(); i++) {
        const model_finding *at = finding_of(i);
        bool is_error = at->severity == MODEL_FINDING_SEVERITY_ERROR;

        if (!str_equal(at->function, str_from(function)) || !is_ours(at->rule))
            continue;
        used +=
            (size_t)snprintf(ret + used, 512 - used, "%s%.*s%s", used ? " " : "", ERR_STR(at->rule),
                             at->confidence == MODEL_CONFIDENCE_CONDITIONAL ? "?"
                             : at->confidence == MODEL_CONFIDENCE_UNKNOWN   ? "~"
                             : is_error                                     ? "!"
                                                                            : "");
        assert_true(used < 512);
    }
}

static void test_samples(void **state)
{
    static char source[64 * 1024];
    size_t used = (size_t)snprintf(source, sizeof source, "%s", HEAD);
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        used += (size_t)snprintf(source + used, sizeof source - used,
                                 "pub fn f%zu(&self, x: &Tensor, y: &Tensor, ids: &Tensor) -> "
                                 "Result<Tensor> {\n%s\n}\n",
                                 i, SAMPLES[i].body);
        assert_true(used < sizeof source - 2);
    }
    snprintf(source + used, sizeof source - used, "}\n");
    scan_source(source);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        char name[32], found[512];

        snprintf(name, sizeof name, "Net::f%zu", i);
        codes_of(name, found);
        if (strcmp(found, SAMPLES[i].codes) != 0) {
            print_error("%s\n  is `%s`, expected `%s`\n", SAMPLES[i].body, found, SAMPLES[i].codes);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    scan_close();
}

/* The only finding of a code in the document. */
static const model_finding *only(const char *code)
{
    const model_finding *found = NULL;

    for (size_t i = 0; i < finding_count(); i++) {
        if (!str_equal(finding_of(i)->rule, str_from(code)))
            continue;
        assert_null(found);
        found = finding_of(i);
    }
    assert_non_null(found);
    return found;
}

static void assert_text(cg_str is, const char *wanted)
{
    char text[512];

    snprintf(text, sizeof text, "%.*s", ERR_STR(is));
    assert_string_equal(text, wanted);
}

static void assert_contains(cg_str text, const char *part)
{
    if (str_find(text, str_from(part)) == SIZE_MAX)
        fail_msg("`%.*s` does not say `%s`", ERR_STR(text), part);
}

/* A helper that several entries use is one hazard, as bad as the worst of them. */
static void test_merged(void **state)
{
    const model_finding *finding;

    (void)state;
    scan_source("use candle_core::{Result, Tensor};\n"
                "use candle_nn::ops;\n"
                "fn risky(x: &Tensor) -> Result<Tensor> {\n"
                "    ops::sigmoid(x)?\n"
                "        .log()\n"
                "}\n"
                "pub fn predict(x: &Tensor) -> Result<Tensor> { risky(x) }\n"
                "pub fn loss(x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
                "    candle_nn::loss::mse(&risky(x)?, y)\n"
                "}\n"
                "pub fn side(x: &Tensor) -> Result<Tensor> { risky(x)?; Ok(x.clone()) }\n");
    finding = only(NUMERIC);
    assert_text(finding->function, "risky");
    assert_int_equal(((const model_location *)finding->location)->line, 5);
    assert_int_equal(finding->severity, MODEL_FINDING_SEVERITY_ERROR);
    assert_int_equal(finding->confidence, MODEL_CONFIDENCE_PROVEN);
    assert_text(finding->operation, "candle_core::Tensor::log");
    assert_contains(finding->message, "impact: the loss");
    assert_contains(finding->message, "can reach exactly 0 or 1 after rounding");
    assert_int_equal(finding->related.count, 3);
    scan_close();
}

/* What a bad number does decides how bad it is. */
static void test_impact(void **state)
{
    static const struct {
        const char *code;
        uint8_t severity;
        const char *says;
    } rows[] = {
        {"pub fn predict(x: &Tensor) -> Result<Tensor> { x.relu()?.log() }",
         MODEL_FINDING_SEVERITY_ERROR, "inference impact on outputs"},
        {"pub fn train_it(x: &Tensor) -> Result<Tensor> { x.relu()?.log() }",
         MODEL_FINDING_SEVERITY_WARNING, "impact on outputs"},
        {"pub fn train_it(x: &Tensor) -> Result<Tensor> { x.relu()?.log()?; Ok(x.clone()) }",
         MODEL_FINDING_SEVERITY_WARNING, "local only"},
        {"pub fn train_it(x: &Tensor) -> Result<Tensor> { "
         "candle_nn::loss::mse(&x.relu()?.log()?, x) }",
         MODEL_FINDING_SEVERITY_ERROR, "training impact on loss"},
        /* What no gradient comes back through hands on numbers all the same. */
        {"pub fn train_it(x: &Tensor) -> Result<Tensor> { "
         "candle_nn::loss::mse(&x.relu()?.log()?.detach(), x) }",
         MODEL_FINDING_SEVERITY_ERROR, "training impact on loss"},
        {"pub fn train_it(x: &Tensor) -> Result<Tensor> { "
         "let h = candle_nn::ops::softmax_last_dim(&x.relu()?.log()?)?; "
         "candle_nn::loss::mse(&h.round()?, x) }",
         MODEL_FINDING_SEVERITY_ERROR, "training impact on loss"},
        {"pub fn train_it(x: &Tensor) -> Result<Tensor> { "
         "let h = x.relu()?.log()?.argmax(1)?.to_dtype(candle_core::DType::F32)?; "
         "candle_nn::loss::mse(&h, x) }",
         MODEL_FINDING_SEVERITY_WARNING, "local only"},
        {"pub struct W { w: Tensor }\n"
         "impl W {\n"
         "pub fn new(vb: candle_nn::VarBuilder) -> Result<Self> { Ok(Self { w: vb.get(3, \"w\")? "
         "}) }\n"
         "pub fn train_it(&self) -> Result<Tensor> { self.w.relu()?.log() }\n}",
         MODEL_FINDING_SEVERITY_ERROR, "training impact on gradients"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const model_finding *finding;
        char source[1024];

        snprintf(source, sizeof source, "use candle_core::{Result, Tensor};\n%s\n", rows[i].code);
        scan_source(source);
        finding = only(NUMERIC);
        assert_int_equal(finding->severity, rows[i].severity);
        assert_contains(finding->message, rows[i].says);
        scan_close();
    }
}

/* The fields the codes have. */
static void test_fields(void **state)
{
    const model_finding *finding;
    const model_producer *producer;
    const model_operand_shape *shapes;
    const model_operand_device *devices;

    (void)state;
    scan_source(
        "use candle_core::{DType, Device, Result, Tensor, D};\n"
        "use candle_nn::{linear, linear_no_bias, ops, Linear, Module, VarBuilder, VarMap};\n"
        "pub struct Net { q: Linear, six: Linear, scale: Tensor }\n"
        "impl Net {\n"
        "pub fn new(vb: VarBuilder) -> Result<Self> {\n"
        "Ok(Self { q: linear(8, 8, vb.pp(\"q\"))?, six: linear(8, 6, vb.pp(\"six\"))?, "
        "scale: vb.get(4, \"scale\")? }) }\n"
        "fn heads(&self, x: &Tensor) -> Result<Tensor> {\n"
        "let (b, t, _) = x.dims3()?;\n"
        "x.reshape((b, t, 2, 4))?.transpose(1, 2) }\n"
        "pub fn scores(&self, x: &Tensor) -> Result<Tensor> {\n"
        "let q = self.heads(&self.q.forward(x)?)?;\n"
        "ops::softmax(&q.matmul(&q.transpose(2, 3)?)?, D::Minus1) }\n"
        "pub fn scaled(&self, x: &Tensor) -> Result<Tensor> {\n"
        "self.six.forward(x)?.broadcast_mul(&self.scale) }\n"
        "pub fn sample(&self) -> Result<Tensor> {\n"
        "self.q.forward(&Tensor::randn(0f32, 1f32, (3, 8), &Device::Cpu)?) }\n"
        "}\n"
        "pub fn half() -> Result<Tensor> {\n"
        "let vars = VarMap::new();\n"
        "let vb = VarBuilder::from_varmap(&vars, DType::BF16, &Device::Cpu);\n"
        "let lin = linear_no_bias(8, 8, vb.pp(\"lin\"))?;\n"
        "lin.forward(&Tensor::ones((2, 8), DType::BF16, &Device::Cpu)?) }\n");

    finding = only(LAYOUT);
    producer = finding->producer;
    assert_text(finding->operation, "candle_core::Tensor::matmul");
    assert_int_equal(finding->effect, MODEL_EFFECT_STOPS);
    assert_true(finding->condition.len > 0);
    assert_text(producer->operation, "candle_core::Tensor::transpose");
    assert_text(producer->function, "Net::heads");
    assert_int_equal(((const model_location *)producer->location)->line, 9);

    finding = only(SHAPES);
    shapes = finding->shapes.at;
    assert_text(finding->operation, "candle_core::Tensor::broadcast_mul");
    assert_int_equal(finding->shapes.count, 2);
    assert_text(shapes[0].name, "lhs");
    assert_text(shapes[0].axes.at[shapes[0].axes.count - 1], "6");
    assert_text(shapes[1].name, "rhs");
    assert_text(shapes[1].axes.at[0], "4");

    finding = only(DEVICES);
    devices = finding->devices.at;
    assert_text(finding->operation, "candle_core::Tensor::matmul");
    assert_int_equal(finding->devices.count, 2);
    assert_int_equal(devices[0].device.word, MODEL_DEVICE_CPU);
    assert_null(devices[0].device.record);
    assert_text(((const model_device_data *)devices[1].device.record)->same_as, "vb.device()");

    finding = only(KERNEL);
    assert_text(finding->function, "half");
    assert_text(finding->operation, "candle_core::Tensor::matmul");
    assert_text(finding->dtype, "BF16");
    assert_int_equal(finding->device.word, MODEL_DEVICE_CPU);
    scan_close();
}

/* Out of memory anywhere: said, and nothing is kept. */
static void test_memory(void **state)
{
    static const char source[] =
        "use candle_core::{DType, Device, Result, Tensor};\n"
        "use candle_nn::ops;\n"
        "pub fn a(x: &Tensor, y: &Tensor) -> Result<Tensor> {\n"
        "    candle_nn::loss::binary_cross_entropy_with_logit(x, y) }\n"
        "pub fn b() -> Result<Tensor> { let a = Tensor::zeros((2, 3), DType::BF16, &Device::Cpu)?; "
        "a.matmul(&a) }\n"
        "pub fn c(x: &Tensor) -> Result<Tensor> { "
        "ops::softmax_last_dim(&x.relu()?.t()?)?.log() }\n";
    cg_limits limits = {.size = sizeof limits};
    unsigned failures = 0;
    uint64_t room = 2000;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", MANIFEST);
    little_write(&l, "src/lib.rs", source);
    for (cg_code code = CG_NOMEM; code != CG_OK; room += room / 16) {
        scan_options options = {0};
        cg_err err = {0};

        limits.value[CG_LIMIT_MEMORY_BYTES] = room;
        l.env.limits = &limits;
        code = scan_open(&l.env, str_from(l.root), &options, &scanned, &err);
        assert_true(code == CG_OK || code == CG_NOMEM || code == CG_LIMIT);
        failures += code != CG_OK;
    }
    assert_true(failures > 40);
    assert_true(finding_count() > 4);
    scan_free(scanned);
    l.env.limits = NULL;
    little_end(&l);
}

/* Who makes the component says where it lies and of what it is. */
static void test_drivers(void **state)
{
    static const struct {
        const char *maker;
        const char *code;
    } rows[] = {
        {"VarBuilder::from_varmap(&map, DType::BF16, &Device::Cpu)", "dtype-unsupported"},
        {"VarBuilder::zeros(DType::BF16, &Device::Cpu)", "dtype-unsupported"},
        {"VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu)", NULL},
        {"VarBuilder::from_varmap(&map, DType::BF16, &Device::new_cuda(0)?)", NULL},
    };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text,
                 "use candle_core::{DType, Device, Result, Tensor};\n"
                 "use candle_nn::{linear, Linear, Module, VarBuilder, VarMap};\n"
                 "pub struct Net { fc: Linear }\nimpl Net {\n"
                 "pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { fc: linear(3, 3, "
                 "vb.pp(\"fc\"))? }) }\n"
                 "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { self.fc.forward(x) }\n}\n"
                 "pub fn start() -> Result<Net> {\nlet map = VarMap::new();\n"
                 "let vb = %s;\nNet::new(vb)\n}\n",
                 rows[i].maker);
        scan_source(text);
        if (rows[i].code) {
            const model_finding *finding = only(rows[i].code);

            assert_int_equal(finding->confidence, MODEL_CONFIDENCE_CONDITIONAL);
            assert_text(finding->function, "Net::forward");
            assert_text(finding->operation, "candle_core::Tensor::matmul");
            assert_text(finding->dtype, "BF16");
            assert_int_equal(finding->device.word, MODEL_DEVICE_CPU);
        } else {
            for (size_t k = 0; k < finding_count(); k++)
                assert_false(str_equal(finding_of(k)->rule, CG_LIT("dtype-unsupported")));
        }
        scan_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drivers), cmocka_unit_test(test_samples),
        cmocka_unit_test(test_merged),  cmocka_unit_test(test_impact),
        cmocka_unit_test(test_fields),  cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
