/* What entries compute, as rows: the micro-cases, phases, uses, figures. */
#include "scanned.h"

#include "model/compute.h"

#define MICRO                                                                                      \
    "pub struct M { n: LayerNorm, o: Option<Linear>, l: Vec<Linear> }\nimpl M {\n"                 \
    "pub fn new(d: usize, c: usize, has: bool, vb: VarBuilder) -> Result<Self> {\n"                \
    "let o = if has { Some(linear(d, d, vb.pp(\"o\"))?) } else { None };\n"                        \
    "let mut l = vec![];\nfor i in 0..c { l.push(linear(d, d, vb.pp(\"l\").pp(i))?); }\n"          \
    "Ok(Self { n: layer_norm(d, 1e-5, vb.pp(\"n\"))?, o, l })\n}\n"

static size_t number_of(cg_str id)
{
    size_t colon = str_find_last(id, ':');

    return (size_t)strtoul(id.ptr + colon + 1, NULL, 10);
}

/* Names of the train operations of a function in order, and how many tensors it returns. */
static const char *operations(const scanned *s, const char *qualified)
{
    static char text[1024];
    const model_doc *doc = scanned_doc(s);
    const model_operation *all = doc->operations.at;
    const model_function *function = scanned_function(s, qualified);
    size_t at = 0, last = 0;

    text[0] = '\0';
    for (;;) {
        const model_operation *next = NULL;

        for (size_t i = 0; i < doc->operations.count; i++) {
            if (str_equal(all[i].function, function->id) &&
                all[i].execution_phase == MODEL_PHASE_TRAIN && number_of(all[i].id) > last &&
                (!next || number_of(all[i].id) < number_of(next->id)))
                next = &all[i];
        }
        if (!next)
            break;
        last = number_of(next->id);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.*s", at ? " " : "",
                               (int)next->name.len, next->name.ptr);
    }
    snprintf(text + at, sizeof text - at, " -> %zu", function->tensor_outputs.count);
    return text;
}

static void no_chain_is_lost(void **state)
{
    static const struct {
        const char *name, *body, *wanted;
    } cases[] = {
        {"a", "x: &Tensor, f: bool", "relu gelu sqrt -> 1"},
        {"b", "x: &Tensor, m: Option<&Tensor>", "broadcast_add clone exp -> 1"},
        {"c", "x: &Tensor", "clone Linear::forward relu -> 1"},
        {"d", "x: &Tensor", "LayerNorm::forward relu -> 1"},
        {"e", "x: &Tensor", "Linear::forward relu -> 1"},
        {"f", "x: &Tensor", "LayerNorm::forward relu -> 1"},
        {"g", "x: &Tensor", "cat relu -> 1"},
        {"h", "x: &Tensor", "clone Linear::forward -> 1"},
        {"i", "x: &Tensor", "relu -> 1"},
        {"j", "x: &Tensor", "relu gelu mul -> 1"},
    };
    static const char *const bodies[] = {
        "let h = if f { x.relu()? } else { x.gelu()? }; h.sqrt()",
        "let h = if let Some(m) = m { x.broadcast_add(m)? } else { x.clone() }; h.exp()",
        "let mut h = x.clone(); for l in self.l.iter() { h = l.forward(&h)?; } h.relu()",
        "self.n.forward(x)?.relu()",
        "match &self.o { Some(o) => o.forward(x), None => x.relu() }",
        "x.apply(&self.n)?.relu()",
        "Tensor::cat(&[x, x], 0)?.relu()",
        "self.l.iter().try_fold(x.clone(), |h, l| l.forward(&h))",
        "let y = x.relu()?; Ok(y)",
        "let (a, b) = two(x)?; a.mul(&b)",
    };
    char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", MICRO);
    scanned s;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "pub fn %s(&self, %s) -> Result<Tensor> { %s }\n", cases[i].name,
                               cases[i].body, bodies[i]);
    snprintf(text + at, sizeof text - at,
             "}\nfn two(x: &Tensor) -> Result<(Tensor, Tensor)> { Ok((x.relu()?, x.gelu()?)) }\n");
    scanned_begin(&s, text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[8];

        snprintf(name, sizeof name, "M::%s", cases[i].name);
        assert_string_equal(operations(&s, name), cases[i].wanted);
    }
    scanned_end(&s);
}

static void a_forward_has_rows_of_both_phases(void **state)
{
    scanned s;
    const model_function *function;
    size_t train = 0, infer = 0;

    (void)state;
    scanned_begin(&s, MICRO "pub fn forward(&self, x: &Tensor) -> Result<Tensor> { "
                            "self.n.forward(x)?.relu() }\n}\n");
    function = scanned_function(&s, "M::forward");
    assert_int_equal(function->execution_phases.count, 2);
    assert_int_equal(function->tensor_inputs.count, 1);
    assert_int_equal(function->tensor_outputs.count, 1);
    assert_true(str_starts_with(function->tensor_outputs.at[0], CG_LIT("tensor:train:")));
    const model_tensor *out = scanned_tensor(&s, function->tensor_outputs.at[0]);

    assert_non_null(out);
    assert_int_equal(out->role, MODEL_TENSOR_ROLE_OUTPUT);
    scanned_text_is(out->name, "result_of_relu");
    scanned_text_is(out->dtype_source, "vb.dtype()");
    for (size_t i = 0; i < scanned_doc(&s)->tensors.count; i++) {
        const model_tensor *at = MODEL_AT(scanned_doc(&s)->tensors, model_tensor, i);

        train += at->execution_phase == MODEL_PHASE_TRAIN;
        infer += at->execution_phase == MODEL_PHASE_INFER;
        if (at->execution_phase == MODEL_PHASE_INFER)
            assert_int_equal(at->requires_grad, BOOL_FALSE);
    }
    assert_int_equal(train, infer);
    assert_int_equal(train, 3);
    scanned_end(&s);
}

static bool is_one_of(const model_tensor *tensor, cg_str id)
{
    for (size_t i = 0; i < tensor->one_of.count; i++) {
        if (str_equal(tensor->one_of.at[i], id))
            return true;
    }
    return false;
}

/* The tensor that the operation of the function takes first, or makes. */
static const model_tensor *tensor_of(const scanned *s, const char *name, bool is_made)
{
    for (size_t i = 0; i < scanned_doc(s)->operations.count; i++) {
        const model_operation *at = MODEL_AT(scanned_doc(s)->operations, model_operation, i);

        if (at->execution_phase == MODEL_PHASE_TRAIN && str_equal(at->name, str_from(name)))
            return scanned_tensor(s, is_made ? at->output : at->inputs.at[0]);
    }
    fail_msg("no operation `%s`", name);
    return NULL;
}

static void joined_values_name_what_they_may_be(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, MICRO "pub fn forward(&self, x: &Tensor, f: bool) -> Result<Tensor> {\n"
                            "let mut h = if f { x.relu()? } else { x.gelu()? };\n"
                            "for l in &self.l { h = l.forward(&h)?; }\nh.sqrt()\n}\n}\n");
    const model_tensor *carried = tensor_of(&s, "sqrt", false);
    const model_tensor *round = tensor_of(&s, "Linear::forward", true);

    assert_int_equal(carried->one_of.count, 2);
    assert_true(is_one_of(carried, round->id));
    assert_int_equal(round->one_of.count, 0);
    for (size_t i = 0; i < carried->one_of.count; i++) {
        const model_tensor *before = scanned_tensor(&s, carried->one_of.at[i]);

        assert_non_null(before);
        if (before == round)
            continue;
        assert_true(is_one_of(before, tensor_of(&s, "relu", true)->id));
        assert_true(is_one_of(before, tensor_of(&s, "gelu", true)->id));
    }
    scanned_end(&s);
}

static void uses_are_exact(void **state)
{
    scanned s;

    (void)state;
    scanned_begin(&s, MICRO "pub fn train(&self, x: &Tensor) -> Result<Tensor> {\n"
                            "let mut h = self.n.forward(x)?;\n"
                            "for l in &self.l { h = l.forward(&h)?; }\nOk(h)\n}\n}\n");
    for (size_t i = 0; i < scanned_doc(&s)->parameters.count; i++) {
        const model_parameter *at = MODEL_AT(scanned_doc(&s)->parameters, model_parameter, i);

        assert_int_equal(at->uses.count, str_starts_with(at->key, CG_LIT("o.")) ? 0 : 1);
    }
    scanned_end(&s);
}

static void assert_rank(const model_tensor *at, uint64_t rank)
{
    const model_shape *shape = at ? at->shape : NULL;

    assert_non_null(shape);
    assert_true(shape->rank.is_set);
    assert_int_equal(shape->rank.value, rank);
}

static void locals_have_contracts(void **state)
{
    scanned s;
    const model_tensor *at;

    (void)state;
    scanned_begin(&s, "fn wide(x: &Tensor) -> Result<Tensor> {\n"
                      "let (b, t, d) = x.dims3()?;\n"
                      "let y = x.reshape((b * t, d))?;\nlet z = y.to_dtype(DType::BF16)?;\nz.t()\n"
                      "}\n"
                      "pub fn run(x: &Tensor) -> Result<Tensor> { wide(x) }\n"
                      "pub fn alone(x: &Tensor) -> Result<Tensor> {\n"
                      "let (b, t, d) = x.dims3()?;\nlet y = x.sum(1)?;\nOk(y)\n}\n");
    at = scanned_tensor(&s, CG_LIT("tensor:function%3Awide%3A:z"));
    assert_non_null(at);
    scanned_text_is(at->dtype, "BF16");
    assert_rank(at, 2);
    assert_int_equal(at->role, MODEL_TENSOR_ROLE_ACTIVATION);
    at = scanned_tensor(&s, CG_LIT("tensor:function%3Awide%3A:return"));
    assert_non_null(at);
    assert_int_equal(at->role, MODEL_TENSOR_ROLE_OUTPUT);
    at = scanned_tensor(&s, CG_LIT("tensor:function%3Aalone%3A:x"));
    assert_non_null(at);
    assert_rank(at, 3);
    scanned_text_is(((const model_shape *)at->shape)->source_expr, "x.dims3()");
    at = scanned_tensor(&s, CG_LIT("tensor:function%3Aalone%3A:y"));
    assert_rank(at, 2);
    scanned_end(&s);
}

static void what_was_understood_is_counted(void **state)
{
    scanned s;
    const dataflow *counted;
    buf text;

    (void)state;
    scanned_begin(&s, "pub fn known(x: &Tensor) -> Result<Tensor> { x.relu()?.sum_all() }\n"
                      "pub fn nothing(x: &Tensor) -> Result<()> { let _ = x.relu()?; Ok(()) }\n"
                      "pub fn eval_step(x: &Tensor) -> Result<Tensor> { x.relu() }\n");
    counted = &scan_compute(s.scan)->dataflow;
    assert_int_equal(counted->figures.entries, 2);
    assert_int_equal(counted->figures.with_output, 1);
    assert_int_equal(counted->figures.unknown, 0);
    assert_int_equal(counted->gaps.count, 0);
    buf_init(&text, &s.crate.heap, 4096);
    dataflow_figures_text(&scan_compute(s.scan)->dataflow, CG_LIT("a"), &text);
    assert_true(str_find(buf_text(&text), CG_LIT("| entries with an output | 1 of 2 | 50.0 % |")) !=
                SIZE_MAX);
    buf_free(&text);
    scanned_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_chain_is_lost),
        cmocka_unit_test(a_forward_has_rows_of_both_phases),
        cmocka_unit_test(joined_values_name_what_they_may_be),
        cmocka_unit_test(uses_are_exact),
        cmocka_unit_test(locals_have_contracts),
        cmocka_unit_test(what_was_understood_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
