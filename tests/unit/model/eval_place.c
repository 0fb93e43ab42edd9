/* What is done to something that was lent is done where it lies. */
#include "scanned.h"

/* How a field is filled, how it is run, and the parameters that lose their gradient behind it. */
typedef struct filling {
    const char *type, *code, *run, *keys;
} filling;

#define L(key)   "linear_no_bias(4, 4, vb.pp(" key "))?"
#define NESTED   "for s in &self.a { for l in s { x = l.forward(&x)?; } }"
#define LISTS    "Vec<Vec<Linear>>"
#define OPTIONS  "Vec<Option<Linear>>"
#define TWO_KEYS "vb: 0.weight 1.weight"

static const filling fillings[] = {
    {LISTS,
     "let mut a: Vec<Vec<Linear>> = vec![vec![]; 2];\n"
     "for (i, up) in a.iter_mut().enumerate() { up.push(" L("i") "); }",
     NESTED, TWO_KEYS},
    {LISTS, "let mut a = vec![vec![]];\nfor up in &mut a { up.push(" L("0") "); }", NESTED,
     "vb: 0.weight"},
    {LISTS,
     "let mut a = vec![];\nfor i in 0..2 { a.push(vec![]); a.last_mut().unwrap().push(" L(
         "i") "); }",
     NESTED, TWO_KEYS},
    {LISTS, "let mut a = vec![vec![]];\nif let Some(it) = a.first_mut() { it.push(" L("0") "); }",
     NESTED, "vb: 0.weight"},
    {LISTS, "let mut a = vec![vec![]];\nlet it = a.get_mut(0).unwrap();\nit.push(" L("0") ");",
     NESTED, "vb: 0.weight"},
    {LISTS, "let mut a = vec![vec![]];\nfill(a.last_mut().unwrap(), vb)?;", NESTED, "vb: x.weight"},
    {LISTS,
     "let mut a = vec![vec![]];\na.iter_mut().try_for_each(|it| { it.push(" L(
         "0") "); "
              "Ok::<(), candle_core::Error>(()) })?;",
     NESTED, "vb: 0.weight"},
    {OPTIONS,
     "let mut a: Vec<Option<Linear>> = vec![None, None];\n"
     "for (i, slot) in a.iter_mut().enumerate() { *slot = Some(" L("i") "); }",
     "for l in self.a.iter().flatten() { x = l.forward(&x)?; }", TWO_KEYS},
    {"std::collections::BTreeMap<usize, Linear>",
     "let mut a = std::collections::BTreeMap::new();\n"
     "for i in 0..2 { a.entry(i).or_insert(" L("i") "); }",
     "for (_, l) in &self.a { x = l.forward(&x)?; }", TWO_KEYS},
    {"std::collections::BTreeMap<usize, Vec<Linear>>",
     "let mut a: std::collections::BTreeMap<usize, Vec<Linear>> = Default::default();\n"
     "for i in 0..2 { a.entry(0).or_insert_with(Vec::new).push(" L("i") "); }",
     "for s in self.a.values() { for l in s { x = l.forward(&x)?; } }", TWO_KEYS},
    {"std::collections::HashMap<usize, Vec<Linear>>",
     "let mut a: std::collections::HashMap<usize, Vec<Linear>> = "
     "std::collections::HashMap::new();\n"
     "for i in 0..2 { a.entry(i).or_default().push(" L("i") "); }",
     "for s in self.a.values() { for l in s { x = l.forward(&x)?; } }", TWO_KEYS},
    {"std::collections::HashMap<&'static str, Vec<Linear>>",
     "let mut a = std::collections::HashMap::from([(\"k\", vec![])]);\n"
     "a.get_mut(\"k\").unwrap().push(" L("0") ");",
     "x = self.a[\"k\"][0].forward(&x)?;", "vb: 0.weight"},
};

static void what_is_lent_is_changed_where_it_lies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++) {
        const filling *at = &fillings[i];
        const model_finding *finding;
        char text[4096];
        scanned s;

        snprintf(
            text, sizeof text,
            "fn fill(to: &mut Vec<Linear>, vb: VarBuilder) -> Result<()> { "
            "to.push(" L(
                "\"x\"") "); Ok(()) }\n"
                         "pub struct Net { a: %s }\nimpl Net {\n"
                         "pub fn new(vb: VarBuilder) -> Result<Self> {\n%s\nOk(Self { a })\n}\n"
                         "pub fn loss(&self, x: &Tensor) -> Result<Tensor> {\n"
                         "let mut x = x.clone();\n%s\nx.round()?.sqr()?.mean_all()\n}\n}\n",
            at->type, at->code, at->run);
        scanned_begin(&s, text);
        finding = scanned_finding(&s, "gradient-cut", NULL);
        if (!finding)
            print_error("no cut with: %s\n", at->code);
        assert_non_null(finding);
        assert_string_equal(scanned_keys(&finding->severed), at->keys);
        assert_null(scanned_finding(&s, "unused-parameter", NULL));
        scanned_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_lent_is_changed_where_it_lies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
