#include <stdio.h>

#include "unit/rust/trees.h"

/* Expand the number-th macro invocation by the definition of its name, or as arguments. */
static ast_ref expand(tree *of, size_t number)
{
    ast_ref invocation = tree_find(of, AST_MACRO_INVOCATION, number);
    ast_ref name = ast_child(&of->nodes, invocation, ROLE_MACRO);
    ast_ref ret = 0;

    for (ast_ref at = 1; at < of->nodes.nodes.count; at++) {
        if (ast_kind_of(&of->nodes, at) == AST_MACRO_DEFINITION &&
            ast_at(&of->nodes, ast_child(&of->nodes, at, ROLE_NAME))->text ==
                ast_at(&of->nodes, name)->text) {
            assert_int_equal(expand_rules(of->parser, &of->nodes, at, &of->nodes, &of->names,
                                          &of->mem, invocation, &ret, NULL),
                             CG_OK);
            return ret;
        }
    }
    assert_int_equal(expand_arguments(of->parser, &of->nodes, &of->names, invocation, &ret, NULL),
                     CG_OK);
    return ret;
}

typedef struct expand_fact {
    const char *text;
    const char *want; /* NULL: nothing */
} expand_fact;

static void assert_expanded(const char *before, const char *after, const expand_fact *facts,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[2048];
        ast_ref made;
        tree of;

        snprintf(text, sizeof text, "%s%s%s", before, facts[i].text, after);
        tree_open(&of, str_from(text));
        made = expand(&of, 1);
        if ((made == 0) != (facts[i].want == NULL))
            print_error("%s\n", text);
        assert_int_equal(made == 0, facts[i].want == NULL);
        if (made != 0)
            assert_tree(&of, made, facts[i].want);
        assert_int_equal(expand(&of, 1), made); /* asked again, the same */
        assert_whole(&of);
        tree_close(&of);
    }
}

#define ASSERT_EXPANDED(before, after, facts)                                                      \
    assert_expanded(before, after, facts, sizeof facts / sizeof *facts)

static void arguments_are_expressions(void **state)
{
    static const expand_fact facts[] = {
        {"vec![]", "(macro_arguments)"},
        {"vec![a, b,]", "(macro_arguments `a` `b`)"},
        {"vec![0; n + 1]", "(macro_arguments `0` length:(binary_expression + left:`n` right:`1`))"},
        {"format!(\"{}\\n\", a, b = c)",
         "(macro_arguments `{}\n` `a` (assignment_expression left:`b` right:`c`))"},
        {"vec![x?, |a, b| a, S { a }, m!(1, 2) // c\n]",
         "(macro_arguments (try_expression value:`x`) (closure_expression "
         "parameters:(closure_parameters `a` `b`) body:`a`) (struct_expression name:`S` "
         "body:(field_initializer_list (shorthand_field_initializer value:`a`))) "
         "(macro_invocation macro:`m` (token_tree)))"},
        {"debug!(a = %x, ?y.z, \"m {}\", w)",
         "(macro_arguments `x` (field_expression value:`y` field:`z`) `m {}` `w`)"},
        {"matches!(x, S { .. } if a => b)", "(macro_arguments `x` (ERROR))"},
        {"x!(a b, c d)", NULL},
        {"x!(struct S;)", NULL},
        {"x!(a; b, c)", "(macro_arguments (ERROR) `c`)"},
    };

    (void)state;
    ASSERT_EXPANDED("fn f() { ", "; }", facts);
}

static void arguments_stand_where_they_are_written(void **state)
{
    ast_ref list;
    rust_place place;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("fn f() {\n  vec![\"\xc3\xa4\", b.c, %d] }"));
    list = expand(&of, 1);
    assert_int_equal(list, ast_at(&of.nodes, tree_find(&of, AST_TOKEN_TREE, 1))->first);
    assert_text(ast_text(&of.nodes, tree_find(&of, AST_FIELD_EXPRESSION, 1)), "b.c");
    place =
        source_place(&of.source, ast_at(&of.nodes, tree_find(&of, AST_FIELD_EXPRESSION, 1))->start);
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 13);
    tree_close(&of);
}

static void macros_inside_are_expanded_when_asked(void **state)
{
    ast_ref made;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("fn f() { vec![vec![1, 2], x] }"));
    expand(&of, 1);
    made = expand(&of, 2);
    assert_tree(&of, made, "(macro_arguments `1` `2`)");
    assert_text(ast_text(&of.nodes, ast_at(&of.nodes, made)->first), "1");
    tree_close(&of);
}

#define RULES                                                                                      \
    "macro_rules! one { ($x:expr) => { $x * 2 }; ($x:expr, $($y:expr),+ $(,)?) => "                \
    "{{ $( f($x, $y); )* 1 }}; (a $n:ident) => { $n } }"                                           \
    "macro_rules! item { ($v:vis $n:ident : $($f:ident = $t:ty),*) => "                            \
    "{ $v struct $n { $($f: $t),* } } }"                                                           \
    "macro_rules! nest { ($($n:ident [$($e:literal)*]);*) => { $( $n($($e),*); )* } }"             \
    "macro_rules! kinds { ($l:lifetime $b:block $t:tt $p:pat => $($k:tt)*) => "                    \
    "{ $l: loop $b; let $p = $t; g($($k)*) } }"                                                    \
    "macro_rules! again { ($($x:tt)*) => { again!($($x)* a) } }"                                   \
    "macro_rules! ty { ($t:ty) => { <$t>::a() + $t::b($crate::C) } }"                              \
    "macro_rules! bad { ($x:expr) => { let = $x } }"                                               \
    "macro_rules! sep { ($($x:expr);* => $($y:ident)|+) => { ($($x),*) } }\n"

static void rules_give_statements_and_values(void **state)
{
    static const expand_fact facts[] = {
        {"one!(a + b)", "(macro_body value:(binary_expression * left:(binary_expression + left:`a` "
                        "right:`b`) right:`2`))"},
        {"one!(a, b, |x, y| c,)",
         "(macro_body value:(block (expression_statement value:(call_expression function:`f` "
         "arguments:(arguments `a` `b`))) (expression_statement value:(call_expression "
         "function:`f` arguments:(arguments `a` (closure_expression parameters:(closure_parameters "
         "`x` `y`) body:`c`)))) value:`1`))"},
        {"one!()", NULL},
        {"nest![a[1 2]; b[]]",
         "(macro_body (expression_statement value:(call_expression function:`a` "
         "arguments:(arguments `1` `2`))) (expression_statement value:(call_expression "
         "function:`b` arguments:(arguments))))"},
        {"kinds!('l { x } (1) Some(y) => a.b, c)",
         "(macro_body (loop_expression `'l` body:(block value:`x`)) (empty_statement) "
         "(let_declaration pattern:(tuple_struct_pattern type:`Some` `y`) value:`1`) "
         "value:(call_expression function:`g` arguments:(arguments (field_expression value:`a` "
         "field:`b`) `c`)))"},
        {"again!()", "(macro_body value:(macro_invocation macro:`again` (token_tree)))"},
        {"ty!(Vec<u8>)",
         "(macro_body value:(binary_expression + left:(call_expression "
         "function:(scoped_identifier path:(bracketed_type type:(generic_type type:`Vec` "
         "type_arguments:(type_arguments `u8`))) name:`a`) arguments:(arguments)) "
         "right:(call_expression function:(scoped_identifier path:(bracketed_type "
         "type:(generic_type type:`Vec` type_arguments:(type_arguments `u8`))) name:`b`) "
         "arguments:(arguments (scoped_identifier path:`$crate` name:`C`)))))"},
        {"bad!(1)", NULL},
        {"sep!(1; 2 => a | b)", "(macro_body value:(tuple_expression `1` `2`))"},
        {"sep!(1; 2 =>)", NULL},
    };

    (void)state;
    ASSERT_EXPANDED(RULES "fn f() { ", " }", facts);
}

static void rules_give_one_value_inside_an_expression(void **state)
{
    static const expand_fact facts[] = {
        {"one!(a)", "(macro_body value:(binary_expression * left:`a` right:`2`))"},
        {"nest![a[1]]", "(macro_body (expression_statement value:(call_expression function:`a` "
                        "arguments:(arguments `1`))))"},
    };

    (void)state;
    ASSERT_EXPANDED(RULES "fn f() { let x = ", "; }", facts);
}

static void rules_give_items_and_members(void **state)
{
    static const expand_fact facts[] = {
        {"item!(pub S: a = u8, b = Vec<T>);",
         "(macro_body (struct_item (visibility_modifier) name:`S` body:(field_declaration_list "
         "(field_declaration name:`a` type:`u8`) (field_declaration name:`b` "
         "type:(generic_type type:`Vec` type_arguments:(type_arguments `T`))))))"},
        {"item!(S:);", "(macro_body (struct_item name:`S` body:(field_declaration_list)))"},
        {"mod m { item!(S:); }",
         "(macro_body (struct_item name:`S` body:(field_declaration_list)))"},
    };
    static const expand_fact members[] = {
        {"new!(a);", "(macro_body (function_item name:`a` parameters:(parameters (self_parameter "
                     "ref `self`)) body:(block)))"},
    };

    (void)state;
    ASSERT_EXPANDED(RULES, "", facts);
    ASSERT_EXPANDED("macro_rules! new { ($n:ident) => { fn $n(&self) {} } } impl X { ", " }",
                    members);
}

static void expanded_nodes_have_the_range_of_the_invocation(void **state)
{
    ast_ref body;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT(RULES "fn f() { one!(m!(x, y)) }"));
    body = expand(&of, 1);
    assert_text(ast_text(&of.nodes, body), "one!(m!(x, y))");
    for (ast_ref at = body + 1; at < of.nodes.nodes.count; at++) {
        assert_text(ast_text(&of.nodes, at), "one!(m!(x, y))");
        assert_true((ast_at(&of.nodes, at)->flags & AST_EXPANDED) != 0);
    }
    /* And a macro in it knows its tokens. */
    assert_tree(&of, expand(&of, 2), "(macro_arguments `x` `y`)");
    tree_close(&of);
}

static void a_macro_that_calls_itself_ends(void **state)
{
    size_t number = 1;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT(RULES "fn f() { again!() }"));
    while (number < 100000 && expand(&of, number) != 0)
        number++;
    assert_true(number > 10 && number < 100000);
    tree_close(&of);
}

static void a_rule_that_explodes_is_given_up(void **state)
{
    cg_str text = repeated("macro_rules! m { ($($x:tt)*) => { $( n!($x, $($x)*); )* }; } "
                           "macro_rules! k { ($($x:expr),*) => { [$($x + f($x) * g($x)),*] }; } "
                           "fn f() { m!(",
                           "a ", 20000, "); k!(a) }");
    tree of;

    (void)state;
    tree_open(&of, text);
    assert_int_equal(expand(&of, 1), 0);
    assert_true(expand(&of, 2) != 0);
    tree_close(&of);
    free((char *)(uintptr_t)text.ptr);
}

static void deep_input_costs_no_stack(void **state)
{
    cg_str left =
        repeated("macro_rules! m { ($($x:tt)*) => { f($($x)*) } } fn f() { m!(", "(", 200000, "1");
    cg_str text = repeated(left.ptr, ")", 200000, "); }");
    tree of;

    (void)state;
    tree_open(&of, text);
    assert_true(expand(&of, 1) != 0);
    tree_close(&of);
    free((char *)(uintptr_t)text.ptr);
    free((char *)(uintptr_t)left.ptr);
}

static void any_tokens_are_survived(void **state)
{
    static const char *const parts[] = {"$",  "x", ":", "expr", "(",  ")", "$(", ")*", ",", "=>",
                                        "ty", "<", ">", "|",    "tt", "{", "}",  "$x", ";"};
    uint64_t random = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < 2000; i++) {
        char text[400];
        size_t len = 0;
        tree of;

        for (size_t part = 0; part < 3; part++) {
            static const char *const between[] = {"macro_rules! m { (", ") => {", "} } m!{"};

            len += (size_t)snprintf(text + len, sizeof text - len, "%s ", between[part]);
            for (size_t j = 0; j < 12; j++)
                len +=
                    (size_t)snprintf(text + len, sizeof text - len, "%s ",
                                     parts[test_random(&random) % (sizeof parts / sizeof *parts)]);
        }
        snprintf(text + len, sizeof text - len, "}");
        tree_open(&of, str_from(text));
        for (ast_ref at = 1; at < of.nodes.nodes.count && at < 500; at++) {
            ast_ref made;

            if (ast_kind_of(&of.nodes, at) != AST_MACRO_INVOCATION)
                continue;
            assert_int_equal(expand_arguments(of.parser, &of.nodes, &of.names, at, &made, NULL),
                             CG_OK);
            for (ast_ref rules = 1; rules < at; rules++) {
                if (ast_kind_of(&of.nodes, rules) == AST_MACRO_DEFINITION)
                    assert_int_equal(expand_rules(of.parser, &of.nodes, rules, &of.nodes, &of.names,
                                                  &of.mem, at, &made, NULL),
                                     CG_OK);
            }
        }
        assert_whole(&of);
        tree_close(&of);
    }
}

static void every_failing_request_is_survived(void **state)
{
    (void)state;
    for (size_t fail_at = 1;; fail_at++) {
        cg_code code = CG_OK;
        tree of;

        tree_open(&of, CG_LIT(RULES "fn f() { one!(a, b, c); debug!(a = %x, \"\\n\", y) }"));
        of.memory.requests = 0;
        of.memory.fail_at = fail_at;
        for (size_t number = 1; number <= 2 && code == CG_OK; number++) {
            ast_ref invocation = tree_find(&of, AST_MACRO_INVOCATION, number);
            ast_ref rules = tree_find(&of, AST_MACRO_DEFINITION, 1);
            ast_ref made = 0;

            code = number == 1
                       ? expand_rules(of.parser, &of.nodes, rules, &of.nodes, &of.names, &of.mem,
                                      invocation, &made, NULL)
                       : expand_arguments(of.parser, &of.nodes, &of.names, invocation, &made, NULL);
            assert_true((code == CG_OK && made != 0) || code == CG_NOMEM);
        }
        tree_close(&of);
        if (code == CG_OK)
            break;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_expressions),
        cmocka_unit_test(arguments_stand_where_they_are_written),
        cmocka_unit_test(macros_inside_are_expanded_when_asked),
        cmocka_unit_test(rules_give_statements_and_values),
        cmocka_unit_test(rules_give_one_value_inside_an_expression),
        cmocka_unit_test(rules_give_items_and_members),
        cmocka_unit_test(expanded_nodes_have_the_range_of_the_invocation),
        cmocka_unit_test(a_macro_that_calls_itself_ends),
        cmocka_unit_test(a_rule_that_explodes_is_given_up),
        cmocka_unit_test(deep_input_costs_no_stack),
        cmocka_unit_test(any_tokens_are_survived),
        cmocka_unit_test(every_failing_request_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
