#include <stdio.h>

#include "unit/rust/trees.h"

typedef struct printed_fact {
    const char *text;
    const char *want;
} printed_fact;

static void types_are_printed_as_the_macro_printer_does(void **state)
{
    static const printed_fact facts[] = {
        {"&Tensor", "& Tensor"},
        {"Result<Tensor>", "Result<Tensor >"},
        {"Vec<Option<Tensor>>", "Vec<Option<Tensor>>"},
        {"&'a  T", "& 'a T"},
        {"[usize;2]", "[usize ; 2]"},
        {"&[Tensor]", "& [Tensor]"},
        {"impl Fn(&Tensor)->Result<Tensor>", "impl Fn (& Tensor) -> Result<Tensor >"},
        {"Result<(Tensor, Vec<Tensor>)>", "Result<(Tensor, Vec<Tensor >) >"},
        {"&&mut /* x */ T", "& & mut T"},
        {"candle::Result<()>", "candle::Result<() >"},
        {"<T as A>::B", "< T as A >::B"},
        {"Option<Box<dyn Fn(usize) -> bool>>", "Option<Box<dyn Fn (usize) -> bool>>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char text[128];
        cg_str out;
        tree of;

        snprintf(text, sizeof text, "type A = %s;", facts[i].text);
        tree_open(&of, str_from(text));
        assert_int_equal(of.nodes.broken.count, 0);
        assert_true(ast_printed(&of.nodes,
                                ast_child(&of.nodes, tree_find(&of, AST_TYPE_ITEM, 1), ROLE_TYPE),
                                &of.mem, &out));
        assert_text(out, facts[i].want);
        tree_close(&of);
    }
}

static void expressions_keep_their_operators(void **state)
{
    static const printed_fact facts[] = {
        {"1>>2&&a", "1 >> 2 && a"},
        {"a..=b", "a ..= b"},
        {"**x", "* * x"},
        {"!!x", "! ! x"},
        {"a??", "a ? ?"},
        {"||1", "| | 1"},
        {"Vec::<Vec<u8>>::new()", "Vec::< Vec<u8>>::new ()"},
        {"S{a,b:1}", "S { a, b : 1 }"},
        {"S{}", "S { }"},
        {"vec![a=>b,c>>1]", "vec ! [a => b, c >> 1]"},
        {"cfg.n/2", "cfg . n / 2"},
        {"x as&&u8", "x as & & u8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char text[128];
        cg_str out;
        tree of;

        snprintf(text, sizeof text, "const A: T = %s;", facts[i].text);
        tree_open(&of, str_from(text));
        assert_int_equal(of.nodes.broken.count, 0);
        assert_true(ast_printed(&of.nodes,
                                ast_child(&of.nodes, tree_find(&of, AST_CONST_ITEM, 1), ROLE_VALUE),
                                &of.mem, &out));
        assert_text(out, facts[i].want);
        tree_close(&of);
    }
}

static void predicates_are_printed_raw(void **state)
{
    cg_str out;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("#[cfg(not(feature=\"cuda\"))] #[cfg(all(unix,feature = \"a\"))]"));
    assert_true(ast_printed_raw(&of.nodes, tree_find(&of, AST_TOKEN_TREE, 1), &of.mem, &out));
    assert_text(out, "not (feature = \"cuda\")");
    assert_true(ast_printed_raw(&of.nodes, tree_find(&of, AST_TOKEN_TREE, 2), &of.mem, &out));
    assert_text(out, "all (unix , feature = \"a\")");
    assert_true(tokens_printed(CG_LIT("a{b;c}(){}"), &of.mem, &out));
    assert_text(out, "a { b ; c } () { }");
    tree_close(&of);
}

static void expanded_types_print_what_they_stand_for(void **state)
{
    ast_ref body;
    cg_str out;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("macro_rules! m { ($n:ident, $t:ty) => { struct $n { a: $t } } }\n"
                          "m!(A, Vec<Option<&'static T>>);"));
    assert_int_equal(expand_rules(of.parser, &of.nodes, tree_find(&of, AST_MACRO_DEFINITION, 1),
                                  &of.nodes, &of.names, &of.mem,
                                  tree_find(&of, AST_MACRO_INVOCATION, 1), &body, NULL),
                     CG_OK);
    assert_true(body != 0);
    assert_true(ast_printed(&of.nodes, tree_find(&of, AST_GENERIC_TYPE, 1), &of.mem, &out));
    assert_text(out, "Vec<Option<& 'static T>>");
    tree_close(&of);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_printed_as_the_macro_printer_does),
        cmocka_unit_test(expressions_keep_their_operators),
        cmocka_unit_test(predicates_are_printed_raw),
        cmocka_unit_test(expanded_types_print_what_they_stand_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
