/* Two calls that want one key in different shapes. */
#include "scanned.h"

/* `how`: the first letters of severity and confidence; NULL: no finding. */
static void collision_says(const char *items, const char *how, const char *part)
{
    scanned s;
    const model_finding *at;

    scanned_begin(&s, items);
    at = scanned_finding(&s, "parameter-collision", "Net::new");
    if (!how) {
        assert_null(at);
    } else {
        assert_non_null(at);
        assert_int_equal(at->severity, how[0] == 'e' ? MODEL_FINDING_SEVERITY_ERROR
                                                     : MODEL_FINDING_SEVERITY_WARNING);
        assert_int_equal(at->confidence,
                         how[1] == 'p' ? MODEL_CONFIDENCE_PROVEN : MODEL_CONFIDENCE_CONDITIONAL);
        assert_true(str_find(at->message, str_from(part)) != SIZE_MAX);
    }
    scanned_end(&s);
}

#define NET(args, body)                                                                            \
    "pub struct Net { a: Linear, b: Linear }\nimpl Net {\npub fn new(" args                        \
    "vb: VarBuilder) -> Result<Self> {\n" body "Ok(Self { a, b })\n}\n}\n"

static void numbers_that_differ_are_an_error(void **state)
{
    (void)state;
    collision_says(NET("", "let a = linear(8, 8, vb.pp(\"l\"))?;\n"
                           "let b = linear(8, 4, vb.pp(\"l\"))?;\n"),
                   "ep",
                   "`l.weight` is asked for as (8, 8) at src/lib.rs:6 and as (4, 8) at "
                   "src/lib.rs:7");
    collision_says(NET("", "let a = linear(8, 8, vb.pp(\"l\"))?; let b = linear(8, 4, "
                           "vb.pp(\"l\")).unwrap();\n"),
                   "ep", "`l.weight` is asked for as (8, 8) and as (4, 8), both at src/lib.rs:6: ");
}

static void all_keys_of_two_calls_are_one_finding(void **state)
{
    scanned s;
    const model_finding *at;

    (void)state;
    scanned_begin(&s, NET("", "let a = linear(8, 8, vb.pp(\"l\"))?;\n"
                              "let b = linear(8, 4, vb.pp(\"l\"))?;\n"));
    at = scanned_finding(&s, "parameter-collision", "Net::new");
    assert_non_null(at);
    assert_string_equal(scanned_keys(&at->keys), "vb: l.bias l.weight");
    scanned_end(&s);
}

static void sizes_are_compared_as_far_as_they_are_known(void **state)
{
    (void)state;
    collision_says(NET("n: usize, ", "let a = linear(n, n, vb.pp(\"l\"))?;\n"
                                     "let b = linear(n, n + 1, vb.pp(\"l\"))?;\n"),
                   "wp", "as (n, n) at src/lib.rs:6 and as (n + 1, n) at");
    collision_says(NET("n: usize, m: usize, ", "let a = linear(n, n, vb.pp(\"l\"))?;\n"
                                               "let b = linear(n, m, vb.pp(\"l\"))?;\n"),
                   NULL, NULL);
}

static void one_shape_is_a_shared_weight(void **state)
{
    (void)state;
    collision_says(NET("", "let a = linear(8, 8, vb.pp(\"l\"))?;\n"
                           "let b = linear_no_bias(8, 8, vb.pp(\"l\"))?;\n"),
                   NULL, NULL);
}

static void what_excludes_the_other_does_not_collide(void **state)
{
    (void)state;
    collision_says(NET("f: bool, ", "let b = linear(8, 8, vb.pp(\"b\"))?;\n"
                                    "let a = if f { linear(8, 8, vb.pp(\"l\"))? } else { "
                                    "linear(8, 4, vb.pp(\"l\"))? };\n"),
                   NULL, NULL);
    collision_says(NET("", "let b = linear(8, 8, vb.pp(\"b\"))?;\n"
                           "let a = match linear(8, 8, vb.pp(\"l\")) { Ok(a) => a, "
                           "Err(_) => linear(8, 4, vb.pp(\"l\"))? };\n"),
                   NULL, NULL);
    collision_says(NET("", "let b = linear(8, 8, vb.pp(\"b\"))?;\n"
                           "let a = linear(8, 8, vb.pp(\"l\"))"
                           ".or_else(|_| linear(8, 4, vb.pp(\"l\")))?;\n"),
                   NULL, NULL);
}

static void a_result_nobody_insists_on_is_no_proof(void **state)
{
    (void)state;
    collision_says(NET("", "let a = linear(8, 8, vb.pp(\"a\"))?;\n"
                           "let b = linear(8, 8, vb.pp(\"b\"))?;\n"
                           "let _ = vb.get(8, \"r\");\nlet _ = vb.get(4, \"r\");\n"),
                   "wc", "`r` is asked for as 8 at");
}

static void a_loop_may_have_no_round(void **state)
{
    (void)state;
    collision_says("pub struct Net { all: Vec<(Linear, Linear)> }\nimpl Net {\n"
                   "pub fn new(n: usize, vb: VarBuilder) -> Result<Self> {\n"
                   "let mut all = vec![];\nfor i in 0..n {\n"
                   "let a = linear(8, 8, vb.pp(format!(\"h.{i}\")))?;\n"
                   "let b = linear(8, 4, vb.pp(format!(\"h.{i}\")))?;\n"
                   "all.push((a, b));\n}\nOk(Self { all })\n}\n}\n",
                   "wc", "`h.{i}.weight` is asked for as (8, 8) at");
    collision_says("pub struct Net { all: Vec<Linear> }\nimpl Net {\n"
                   "pub fn new(n: usize, m: usize, vb: VarBuilder) -> Result<Self> {\n"
                   "let mut all = vec![];\n"
                   "for i in 0..n { all.push(linear(8, 8, vb.pp(format!(\"h.{i}\")))?); }\n"
                   "for i in n..m { all.push(linear(8, 4, vb.pp(format!(\"h.{i}\")))?); }\n"
                   "Ok(Self { all })\n}\n}\n",
                   NULL, NULL);
}

#define MAKERS                                                                                     \
    "fn made(h: usize, dev: &Device) -> Result<Net> {\n"                                           \
    "let map = candle_nn::VarMap::new();\n"                                                        \
    "Net::new(h, VarBuilder::from_varmap(&map, DType::F32, dev))\n}\n"                             \
    "pub fn both(dev: &Device) -> Result<(Net, Net)> {\n"                                          \
    "Ok((made(8, dev)?, made(16, dev)?))\n}\n"                                                     \
    "pub fn zeros(dev: &Device) -> Result<(Linear, Linear)> {\n"                                   \
    "let vb = VarBuilder::zeros(DType::F32, dev);\n"                                               \
    "Ok((linear(4, 8, vb.pp(\"l\"))?, linear(4, 16, vb.pp(\"l\"))?))\n}\n"

static void builders_of_their_own_do_not_meet(void **state)
{
    static const char items[] = MAKERS NET("h: usize, ", "let a = linear(4, h, vb.pp(\"l\"))?;\n"
                                                         "let b = linear(4, 4, vb.pp(\"b\"))?;\n");
    scanned s;

    (void)state;
    scanned_begin(&s, items);
    for (size_t i = 0; i < scanned_doc(&s)->findings.count; i++) {
        const model_finding *all = scanned_doc(&s)->findings.at;

        assert_false(str_equal(all[i].rule, CG_LIT("parameter-collision")));
    }
    scanned_end(&s);
}

#define BIG                                                                                        \
    "pub struct Big { net: Net }\nimpl Big {\npub fn new(vb: VarBuilder) -> Result<Self> { "       \
    "Ok(Self { net: Net::new(vb.pp(\"net\"))? }) }\n}\n"

static void a_component_inside_another_is_told_once(void **state)
{
    static const char items[] = BIG NET("", "let a = linear(8, 8, vb.pp(\"l\"))?;\n"
                                            "let b = linear(8, 4, vb.pp(\"l\"))?;\n");
    scanned s;
    size_t count = 0;

    (void)state;
    scanned_begin(&s, items);
    for (size_t i = 0; i < scanned_doc(&s)->findings.count; i++) {
        const model_finding *at = (const model_finding *)scanned_doc(&s)->findings.at + i;

        if (!str_equal(at->rule, CG_LIT("parameter-collision")))
            continue;
        count++;
        assert_int_equal(at->related.count, 2);
        assert_string_equal(scanned_keys(&at->keys), "vb: l.bias l.weight");
    }
    assert_int_equal(count, 1);
    scanned_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_differ_are_an_error),
        cmocka_unit_test(all_keys_of_two_calls_are_one_finding),
        cmocka_unit_test(sizes_are_compared_as_far_as_they_are_known),
        cmocka_unit_test(one_shape_is_a_shared_weight),
        cmocka_unit_test(what_excludes_the_other_does_not_collide),
        cmocka_unit_test(a_result_nobody_insists_on_is_no_proof),
        cmocka_unit_test(a_loop_may_have_no_round),
        cmocka_unit_test(builders_of_their_own_do_not_meet),
        cmocka_unit_test(a_component_inside_another_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
