#include <stdio.h>

#include "unit/rust/trees.h"

typedef struct tree_fact {
    const char *text;
    const char *want;
} tree_fact;

static void assert_facts(const char *before, const char *after, size_t root_kind,
                         const tree_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[256];
        tree of;

        snprintf(text, sizeof text, "%s%s%s", before, facts[i].text, after);
        tree_open(&of, str_from(text));
        if (of.nodes.broken.count != 0)
            print_error("broken: %s\n", text);
        assert_int_equal(of.nodes.broken.count, 0);
        assert_tree(&of, tree_find(&of, (enum ast_kind)root_kind, 1), facts[i].want);
        assert_whole(&of);
        tree_close(&of);
    }
}

#define ASSERT_FACTS(before, after, kind, facts)                                                   \
    assert_facts(before, after, kind, facts, sizeof facts / sizeof *facts)

static void items_have_their_parts_as_roles(void **state)
{
    static const tree_fact facts[] = {
        {"use a::{b, c::*, self as d}; pub use ::e; use f::*;",
         "(source_file (use_declaration argument:(scoped_use_list path:`a` "
         "list:(use_list `b` (use_wildcard path:`c`) (use_as_clause path:`self` "
         "alias:`d`)))) (use_declaration (visibility_modifier) "
         "argument:(scoped_identifier name:`e`)) (use_declaration argument:(use_wildcard "
         "path:`f`)))"},
        {"extern crate a as b;",
         "(source_file (extern_crate_declaration `crate` name:`a` alias:`b`))"},
        {"#![x] #[derive(A, B)] pub(crate) struct S<T: ?Sized = u8, const N: usize = 3>;",
         "(source_file (inner_attribute_item (attribute path:`x`)) (attribute_item "
         "(attribute path:`derive` arguments:(token_tree))) (struct_item "
         "(visibility_modifier `crate`) name:`S` type_parameters:(type_parameters "
         "(type_parameter name:`T` bounds:(trait_bounds (removed_trait_bound "
         "type:`Sized`)) default_type:`u8`) (const_parameter name:`N` type:`usize` "
         "value:`3`))))"},
        {"struct S { #[a] pub x: u8, y: T } struct P(pub u8, T);",
         "(source_file (struct_item name:`S` body:(field_declaration_list "
         "(attribute_item (attribute path:`a`)) (field_declaration (visibility_modifier) "
         "name:`x` type:`u8`) (field_declaration name:`y` type:`T`))) (struct_item "
         "name:`P` body:(ordered_field_declaration_list (visibility_modifier) type:`u8` "
         "type:`T`)))"},
        {"enum E { A, #[b] B(u8), C { x: T }, D = 4 }",
         "(source_file (enum_item name:`E` body:(enum_variant_list (enum_variant "
         "name:`A`) (attribute_item (attribute path:`b`)) (enum_variant name:`B` "
         "body:(ordered_field_declaration_list type:`u8`)) (enum_variant name:`C` "
         "body:(field_declaration_list (field_declaration name:`x` type:`T`))) "
         "(enum_variant name:`D` value:`4`))))"},
        {"const A: u8 = 1; static mut B: T = x; type C<T> = D;",
         "(source_file (const_item name:`A` type:`u8` value:`1`) (static_item mut "
         "name:`B` type:`T` value:`x`) (type_item name:`C` "
         "type_parameters:(type_parameters (type_parameter name:`T`)) type:`D`))"},
        {"pub async fn f<'a>(&'a mut self, mut a: T, _: u8) -> R where T: A + 'a {}",
         "(source_file (function_item (visibility_modifier) (function_modifiers) "
         "name:`f` type_parameters:(type_parameters (lifetime_parameter name:`'a`)) "
         "parameters:(parameters (self_parameter mut ref `'a` `self`) (parameter mut "
         "pattern:`a` type:`T`) (parameter pattern:(_) type:`u8`)) return_type:`R` "
         "(where_clause (where_predicate left:`T` bounds:(trait_bounds `A` `'a`))) "
         "body:(block)))"},
        {"fn f(self: &Self, (a, b): (u8, T));",
         "(source_file (function_signature_item name:`f` parameters:(parameters "
         "(parameter pattern:`self` type:(reference_type type:`Self`)) (parameter "
         "pattern:(tuple_pattern `a` `b`) type:(tuple_type `u8` `T`)))))"},
        {"unsafe impl<T> A for B<T> { const X: u8 = 1; type Y = T; fn f(&self) {} m!(); }",
         "(source_file (impl_item type_parameters:(type_parameters (type_parameter "
         "name:`T`)) trait:`A` type:(generic_type type:`B` "
         "type_arguments:(type_arguments `T`)) body:(declaration_list (const_item "
         "name:`X` type:`u8` value:`1`) (type_item name:`Y` type:`T`) (function_item "
         "name:`f` parameters:(parameters (self_parameter ref `self`)) body:(block)) "
         "(macro_invocation macro:`m` (token_tree)) (empty_statement))))"},
        {"trait A: B { type C: D; fn f(); } impl X {}",
         "(source_file (trait_item name:`A` bounds:(trait_bounds `B`) "
         "body:(declaration_list (associated_type name:`C` bounds:(trait_bounds `D`)) "
         "(function_signature_item name:`f` parameters:(parameters)))) (impl_item "
         "type:`X` body:(declaration_list)))"},
        {"mod a; mod b { fn c() {} }",
         "(source_file (mod_item name:`a`) (mod_item name:`b` body:(declaration_list "
         "(function_item name:`c` parameters:(parameters) body:(block)))))"},
        {"m!{a} p::m!(a); macro_rules! x { ($a:expr) => { $a }; () => {} }",
         "(source_file (macro_invocation macro:`m` (token_tree)) (expression_statement "
         "value:(macro_invocation macro:(scoped_identifier path:`p` name:`m`) "
         "(token_tree))) (macro_definition name:`x` (macro_rule left:(token_tree) "
         "right:(token_tree)) (macro_rule left:(token_tree) right:(token_tree))))"},
        {"fn f() where for<'a> F: Fn(&'a T) -> U {}",
         "(source_file (function_item name:`f` parameters:(parameters) (where_clause "
         "(where_predicate left:(higher_ranked_trait_bound "
         "type_parameters:(type_parameters (lifetime_parameter name:`'a`)) type:`F`) "
         "bounds:(trait_bounds (function_type trait:`Fn` parameters:(parameters "
         "(reference_type `'a` type:`T`)) return_type:`U`)))) body:(block)))"},
    };

    (void)state;
    ASSERT_FACTS("", "", AST_SOURCE_FILE, facts);
}

static void types_have_their_parts_as_roles(void **state)
{
    static const tree_fact facts[] = {
        {"&mut [T]",
         "(type_item name:`X` type:(reference_type mut type:(array_type element:`T`)))"},
        {"[u8; N + 1]",
         "(type_item name:`X` type:(array_type element:`u8` length:(binary_expression + "
         "left:`N` right:`1`)))"},
        {"*const T", "(type_item name:`X` type:(pointer_type type:`T`))"},
        {"(A, b::C)", "(type_item name:`X` type:(tuple_type `A` (scoped_type_identifier path:`b` "
                      "name:`C`)))"},
        {"()", "(type_item name:`X` type:(unit_type))"},
        {"Vec<_>", "(type_item name:`X` type:(generic_type type:`Vec` "
                   "type_arguments:(type_arguments `_`)))"},
        {"dyn Fn(A) -> B", "(type_item name:`X` type:(dynamic_type trait:(function_type trait:`Fn` "
                           "parameters:(parameters `A`) return_type:`B`)))"},
        {"Box<dyn A + Send>",
         "(type_item name:`X` type:(generic_type type:`Box` "
         "type_arguments:(type_arguments (bounded_type (dynamic_type trait:`A`) "
         "`Send`))))"},
        {"impl A + 'static",
         "(type_item name:`X` type:(bounded_type (abstract_type trait:`A`) `'static`))"},
        {"fn(A)", "(type_item name:`X` type:(function_type parameters:(parameters `A`)))"},
        {"<T as A>::B", "(type_item name:`X` type:(scoped_type_identifier path:(bracketed_type "
                        "type:(qualified_type type:`T` alias:`A`)) name:`B`))"},
        {"Option<A, C = D, 3>",
         "(type_item name:`X` type:(generic_type type:`Option` "
         "type_arguments:(type_arguments `A` (type_binding name:`C` type:`D`) `3`)))"},
        {"!", "(type_item name:`X` type:(never_type))"},
    };

    (void)state;
    ASSERT_FACTS("type X = ", ";", AST_TYPE_ITEM, facts);
}

static void expressions_have_operators_and_roles(void **state)
{
    static const tree_fact facts[] = {
        {"a + b * -c", "body:(block value:(binary_expression + left:`a` right:(binary_expression * "
                       "left:`b` right:(unary_expression neg value:`c`))))"},
        {"(a + b) * !c",
         "body:(block value:(binary_expression * left:(binary_expression + left:`a` "
         "right:`b`) right:(unary_expression not value:`c`)))"},
        {"a - b - c", "body:(block value:(binary_expression - left:(binary_expression - left:`a` "
                      "right:`b`) right:`c`))"},
        {"*p = q", "body:(block value:(assignment_expression left:(unary_expression deref "
                   "value:`p`) right:`q`))"},
        {"x += 1", "body:(block value:(compound_assignment_expr + left:`x` right:`1`))"},
        {"x <<= 1", "body:(block value:(compound_assignment_expr << left:`x` right:`1`))"},
        {"a == b && c != d || e",
         "body:(block value:(binary_expression || left:(binary_expression && "
         "left:(binary_expression == left:`a` right:`b`) right:(binary_expression != "
         "left:`c` right:`d`)) right:`e`))"},
        {"a < b", "body:(block value:(binary_expression < left:`a` right:`b`))"},
        {"a >= b", "body:(block value:(binary_expression >= left:`a` right:`b`))"},
        {"x ^ y | z & w",
         "body:(block value:(binary_expression | left:(binary_expression ^ left:`x` "
         "right:`y`) right:(binary_expression & left:`z` right:`w`)))"},
        {"a % b", "body:(block value:(binary_expression % left:`a` right:`b`))"},
        {"a >> 1 << 2",
         "body:(block value:(binary_expression << left:(binary_expression >> left:`a` "
         "right:`1`) right:`2`))"},
        {"1..n", "body:(block value:(range_expression .. left:`1` right:`n`))"},
        {"..=n", "body:(block value:(range_expression ..= right:`n`))"},
        {"..", "body:(block value:(range_expression ..))"},
        {"a..", "body:(block value:(range_expression .. left:`a`))"},
        {"&mut x", "body:(block value:(reference_expression mut value:`x`))"},
        {"&&x", "body:(block value:(reference_expression value:(reference_expression "
                "value:`x`)))"},
        {"x?", "body:(block value:(try_expression value:`x`))"},
        {"x.y.0", "body:(block value:(field_expression value:(field_expression value:`x` "
                  "field:`y`) field:`0`))"},
        {"x.y(1, z)?", "body:(block value:(try_expression value:(call_expression "
                       "function:(field_expression value:`x` field:`y`) arguments:(arguments `1` "
                       "`z`))))"},
        {"x.await", "body:(block value:(await_expression value:`x`))"},
        {"T::<u8>::new()",
         "body:(block value:(call_expression function:(scoped_identifier "
         "path:(generic_type type:`T` type_arguments:(type_arguments `u8`)) name:`new`) "
         "arguments:(arguments)))"},
        {"f::<A>(b)", "body:(block value:(call_expression function:(generic_function function:`f` "
                      "type_arguments:(type_arguments `A`)) arguments:(arguments `b`)))"},
        {"a[i]", "body:(block value:(index_expression value:`a` argument:`i`))"},
        {"a as f64", "body:(block value:(type_cast_expression value:`a` type:`f64`))"},
        {"return", "body:(block value:(return_expression))"},
        {"return x", "body:(block value:(return_expression value:`x`))"},
        {"loop { break x }",
         "body:(block value:(loop_expression body:(block value:(break_expression "
         "value:`x`))))"},
        {"'l: for i in v { continue 'l }",
         "body:(block value:(for_expression `'l` pattern:`i` value:`v` body:(block "
         "value:(continue_expression `'l`))))"},
        {"while let Some(x) = y {}",
         "body:(block value:(while_expression condition:(let_condition "
         "pattern:(tuple_struct_pattern type:`Some` `x`) value:`y`) body:(block)))"},
        {"if a { b } else if let C = d { e } else { f }",
         "body:(block value:(if_expression condition:`a` consequence:(block value:`b`) "
         "alternative:(else_clause body:(if_expression condition:(let_condition "
         "pattern:`C` value:`d`) consequence:(block value:`e`) alternative:(else_clause "
         "body:(block value:`f`))))))"},
        {"if a && let B = c && d {}",
         "body:(block value:(if_expression condition:(let_chain `a` (let_condition "
         "pattern:`B` value:`c`) `d`) consequence:(block)))"},
        {"match x { A if b => c, _ => { d } }",
         "body:(block value:(match_expression value:`x` body:(match_block (match_arm "
         "pattern:(match_pattern pattern:`A` condition:`b`) value:`c`) (match_arm "
         "pattern:(match_pattern pattern:(_)) value:(block value:`d`)))))"},
        {"|x, _| x",
         "body:(block value:(closure_expression parameters:(closure_parameters `x` (_)) "
         "body:`x`))"},
        {"move |x: T| -> U { x }",
         "body:(block value:(closure_expression move parameters:(closure_parameters "
         "(parameter pattern:`x` type:`T`)) return_type:`U` body:(block value:`x`)))"},
        {"|| (y)", "body:(block value:(closure_expression parameters:(closure_parameters) "
                   "body:`y`))"},
        {"[a, b]", "body:(block value:(array_expression `a` `b`))"},
        {"[0; n]", "body:(block value:(array_expression `0` length:`n`))"},
        {"(a, b)", "body:(block value:(tuple_expression `a` `b`))"},
        {"(a,)", "body:(block value:(tuple_expression `a`))"},
        {"(((a)))", "body:(block value:`a`)"},
        {"()", "body:(block value:(unit_expression))"},
        {"S { a, b: 1, ..c }",
         "body:(block value:(struct_expression name:`S` body:(field_initializer_list "
         "(shorthand_field_initializer value:`a`) (field_initializer field:`b` "
         "value:`1`) (base_field_initializer value:`c`))))"},
        {"a::S { 0: x }",
         "body:(block value:(struct_expression name:(scoped_type_identifier path:`a` "
         "name:`S`) body:(field_initializer_list (field_initializer field:`0` "
         "value:`x`))))"},
        {"S::<T> {}",
         "body:(block value:(struct_expression name:(generic_type_with_turbofish "
         "type:`S` type_arguments:(type_arguments `T`)) body:(field_initializer_list)))"},
        {"unsafe { a }", "body:(block value:(unsafe_block body:(block value:`a`)))"},
        {"async move { a }", "body:(block value:(async_block move body:(block value:`a`)))"},
        {"v![a; b]", "body:(block value:(macro_invocation macro:`v` (token_tree)))"},
        {"a::v!{}", "body:(block value:(macro_invocation macro:(scoped_identifier path:`a` "
                    "name:`v`) (token_tree)))"},
        {"self.f(Self::G)",
         "body:(block value:(call_expression function:(field_expression value:`self` "
         "field:`f`) arguments:(arguments (scoped_identifier path:`Self` name:`G`))))"},
        {"crate::a()",
         "body:(block value:(call_expression function:(scoped_identifier path:`crate` "
         "name:`a`) arguments:(arguments)))"},
        {"super::a", "body:(block value:(scoped_identifier path:`super` name:`a`))"},
        {"<T as A>::b()",
         "body:(block value:(call_expression function:(scoped_identifier "
         "path:(bracketed_type type:(qualified_type type:`T` alias:`A`)) name:`b`) "
         "arguments:(arguments)))"},
        {"x = y", "body:(block value:(assignment_expression left:`x` right:`y`))"},
        {"let _ = 1; x", "body:(block (let_declaration pattern:(_) value:`1`) value:`x`)"},
        {"const { 1 }", "body:(block value:(const_block body:(block value:`1`)))"},
        {"f(#[a] b)", "body:(block value:(call_expression function:`f` arguments:(arguments "
                      "(attribute_item (attribute path:`a`)) `b`)))"},
    };

    (void)state;
    ASSERT_FACTS("fn f() { ", " }", AST_BLOCK, facts);
}

static void patterns_have_roles(void **state)
{
    static const tree_fact facts[] = {
        {"A", "pattern:(match_pattern pattern:`A`)"},
        {"_", "pattern:(match_pattern pattern:(_))"},
        {"A(x, ..)", "pattern:(match_pattern pattern:(tuple_struct_pattern type:`A` `x` "
                     "(remaining_field_pattern)))"},
        {"a::B { x, y: _, ref mut z, .. }",
         "pattern:(match_pattern pattern:(struct_pattern type:(scoped_type_identifier "
         "path:`a` name:`B`) (field_pattern name:`x`) (field_pattern name:`y` "
         "pattern:(_)) (field_pattern mut ref name:`z`) (remaining_field_pattern)))"},
        {"(a, _)", "pattern:(match_pattern pattern:(tuple_pattern `a` (_)))"},
        {"[a, .., b]",
         "pattern:(match_pattern pattern:(slice_pattern `a` (remaining_field_pattern) "
         "`b`))"},
        {"1 | -2", "pattern:(match_pattern pattern:(or_pattern `1` (negative_literal value:`2`)))"},
        {"1..=5", "pattern:(match_pattern pattern:(range_pattern ..= left:`1` right:`5`))"},
        {"A..", "pattern:(match_pattern pattern:(range_pattern .. left:`A`))"},
        {"n @ 1", "pattern:(match_pattern pattern:(captured_pattern name:`n` pattern:`1`))"},
        {"mut x", "pattern:(match_pattern pattern:(mut_pattern mut pattern:`x`))"},
        {"ref x", "pattern:(match_pattern pattern:(ref_pattern pattern:`x`))"},
        {"&mut x", "pattern:(match_pattern pattern:(reference_pattern mut pattern:`x`))"},
        {"\"a\"", "pattern:(match_pattern pattern:`a`)"},
        {"None::<T>", "pattern:(match_pattern pattern:(generic_pattern type:`None` "
                      "type_arguments:(type_arguments `T`)))"},
        {"x if x > 1", "pattern:(match_pattern pattern:`x` condition:(binary_expression > left:`x` "
                       "right:`1`))"},
        {"X if let Y = z",
         "pattern:(match_pattern pattern:`X` condition:(let_condition pattern:`Y` "
         "value:`z`))"},
    };

    (void)state;
    ASSERT_FACTS("fn f() { match x { ", " => 1 } }", AST_MATCH_PATTERN, facts);
}

static void blocks_tell_statements_from_their_value(void **state)
{
    static const tree_fact facts[] = {
        {"a; b", "body:(block (expression_statement value:`a`) value:`b`)"},
        {"a; b;", "body:(block (expression_statement value:`a`) (expression_statement value:`b`))"},
        {"let x = 1;", "body:(block (let_declaration pattern:`x` value:`1`))"},
        {"if a {} b", "body:(block (if_expression condition:`a` consequence:(block)) value:`b`)"},
        {"if a {}", "body:(block value:(if_expression condition:`a` consequence:(block)))"},
        {"if a {} if b {}", "body:(block (if_expression condition:`a` consequence:(block)) "
                            "value:(if_expression condition:`b` consequence:(block)))"},
        {"m!(a); n!{b} c", "body:(block (expression_statement value:(macro_invocation macro:`m` "
                           "(token_tree))) (macro_invocation macro:`n` (token_tree)) value:`c`)"},
        {"m!(a)", "body:(block value:(macro_invocation macro:`m` (token_tree)))"},
        {"m!{a}", "body:(block value:(macro_invocation macro:`m` (token_tree)))"},
        {"; ;", "body:(block (empty_statement) (empty_statement))"},
        {"#[a] let x: T = y; fn g() {}",
         "body:(block (attribute_item (attribute path:`a`)) (let_declaration pattern:`x` "
         "type:`T` value:`y`) (function_item name:`g` parameters:(parameters) "
         "body:(block)))"},
        {"let Some(x) = y else { z };",
         "body:(block (let_declaration pattern:(tuple_struct_pattern type:`Some` `x`) "
         "value:`y` alternative:(block value:`z`)))"},
        {"match a {};",
         "body:(block (match_expression value:`a` body:(match_block)) (empty_statement))"},
        {"{ a }", "body:(block value:(block value:`a`))"},
        {"unsafe { a } b", "body:(block (unsafe_block body:(block value:`a`)) value:`b`)"},
        {"return;", "body:(block (expression_statement value:(return_expression)))"},
    };

    (void)state;
    ASSERT_FACTS("fn f() {", "}", AST_BLOCK, facts);
}

static void literals_have_their_values_as_texts(void **state)
{
    static const tree_fact facts[] = {
        {"\"a\"", "value:`a`"},
        {"\"\"", "value:``"},
        {"\"a\\n\\t\\\\\\\"\\'\\r\"", "value:`a\n\t\\\"'\r`"},
        {"\"\\x41\\u{20ac}\\u{1F600}\"", "value:`A\xe2\x82\xac\xf0\x9f\x98\x80`"},
        {"\"a\\\n   b\"", "value:`ab`"},
        {"\"a\r\nb\"", "value:`a\nb`"},
        {"b\"\\xff\"", "value:`\xc3\xbf`"},
        {"c\"x\"", "value:`x`"},
        {"r\"a\\n\"", "value:`a\\n`"},
        {"r##\"a\"#b\"##", "value:`a\"#b`"},
        {"br#\"x\"#", "value:`x`"},
        {"'a'", "value:`a`"},
        {"'\\''", "value:`'`"},
        {"b'\\n'", "value:`\n`"},
        {"'\\u{41}'", "value:`A`"},
        {"1_000usize", "value:`1_000usize`"},
        {"1e-5", "value:`1e-5`"},
        {"true", "value:`true`"},
        {"r#type", "value:`type`"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char text[256];
        tree of;

        snprintf(text, sizeof text, "const X: T = %s;", facts[i].text);
        tree_open(&of, str_from(text));
        assert_int_equal(of.nodes.broken.count, 0);
        assert_tree(&of, ast_child(&of.nodes, tree_find(&of, AST_CONST_ITEM, 1), ROLE_VALUE),
                    facts[i].want);
        tree_close(&of);
    }
}

static void a_string_value_may_hold_nul(void **state)
{
    const ast_node *node;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("const X: T = \"a\\0b\";"));
    node = ast_at(&of.nodes, tree_find(&of, AST_STRING_LITERAL, 1));
    assert_true(str_equal(intern_text_of(&of.names, node->text), CG_LIT("a\0b")));
    tree_close(&of);
}

static void ranges_are_bytes_of_the_file(void **state)
{
    rust_place place;
    ast_ref at;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("// \xc3\xa4\n\r\nfn \xc3\xa4() { \xc3\xb6 + (b) }\n"));
    at = tree_find(&of, AST_BINARY_EXPRESSION, 1);
    assert_text(ast_text(&of.nodes, at), "\xc3\xb6 + (b)");
    at = ast_child(&of.nodes, at, ROLE_RIGHT);
    assert_text(ast_text(&of.nodes, at), "b");
    place = source_place(&of.source, ast_at(&of.nodes, at)->start);
    assert_int_equal(place.line, 3);
    assert_int_equal(place.column, 15);
    tree_close(&of);
}

static void remarks_are_found_and_other_comments_are_not_there(void **state)
{
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("//! doc\n/// more\n/* candle-graph: no */\n"
                          "//  candle-graph:  allow(x) \n"
                          "fn f(/* y */) { // candle-graph: b\n}\n// candle-graphs: c\n"));
    assert_tree(&of, 1,
                "(source_file (function_item name:`f` parameters:(parameters) "
                "body:(block)))");
    assert_int_equal(of.nodes.remarks.count, 2);
    assert_int_equal(of.nodes.remarks.at[0].line, 4);
    assert_text(of.nodes.remarks.at[0].text, "allow(x)");
    assert_int_equal(of.nodes.remarks.at[1].line, 5);
    assert_text(of.nodes.remarks.at[1].text, "b");
    tree_close(&of);
}

/* --- broken texts --- */

static void broken_text_leaves_the_rest(void **state)
{
    ast_ref at;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("fn a() { let x = 1 +; }\nfn b() { y }\nstruct S { a: ) u8 }\n"));
    assert_true((ast_at(&of.nodes, 1)->flags & AST_BROKEN) != 0);
    assert_int_equal(of.nodes.broken.count, 2);
    assert_true(of.nodes.broken.at[0].end <= 22);
    assert_true(of.nodes.broken.at[0].start < of.nodes.broken.at[0].end);
    at = tree_find(&of, AST_FUNCTION_ITEM, 2);
    assert_int_equal(ast_at(&of.nodes, at)->flags, 0);
    assert_true((ast_at(&of.nodes, tree_find(&of, AST_FUNCTION_ITEM, 1))->flags & AST_BROKEN) != 0);
    assert_true((ast_at(&of.nodes, tree_find(&of, AST_STRUCT_ITEM, 1))->flags & AST_BROKEN) != 0);
    assert_whole(&of);
    tree_close(&of);
}

static void what_is_missing_is_broken_where_it_should_be(void **state)
{
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("fn a() { x.y( }"));
    assert_true(of.nodes.broken.count > 0);
    assert_true(of.nodes.broken.at[0].end <= of.source.text.len);
    tree_close(&of);
}

static void odd_files_are_read(void **state)
{
    static const cg_str texts[] = {
        {"\xef\xbb\xbf"
         "fn f() {}",
         12},
        {"#!/usr/bin/env run\nfn f() {}", 28},
        {"\xef\xbb\xbf#![allow(x)]\r\nfn f() {}\r\n", 28},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree of;

        tree_open(&of, texts[i]);
        assert_int_equal(of.nodes.broken.count, 0);
        assert_tree(&of, tree_find(&of, AST_FUNCTION_ITEM, 1),
                    "(function_item name:`f` parameters:(parameters) body:(block))");
        tree_close(&of);
    }
}

static void any_bytes_give_a_tree(void **state)
{
    static const cg_str texts[] = {
        {"", 0},  {NULL, 0}, {"\0\0\0", 3}, {"fn f() { \0 }", 12}, {"fn \xff() { \"\xfe\" }", 14},
        {"}", 1}, {"\"", 1}, {"/*", 2},
    };
    uint64_t random = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree of;

        tree_open(&of, texts[i]);
        assert_whole(&of);
        tree_close(&of);
    }
    for (size_t i = 0; i < 200; i++) {
        static const char part[] = "fn(){}[]<>::let=|&x1;,.if'\"#!/*match->impl";
        char text[160];
        tree of;

        for (size_t j = 0; j < sizeof text; j++)
            text[j] = i % 2 == 0 ? (char)test_random(&random)
                                 : part[test_random(&random) % (sizeof part - 1)];
        tree_open(&of, (cg_str){text, sizeof text});
        assert_whole(&of);
        tree_close(&of);
    }
}

static void literals_that_are_not_utf8_become_so(void **state)
{
    const ast_node *node;
    tree of;

    (void)state;
    tree_open(&of, CG_LIT("const X: T = \"a\xff\";"));
    node = ast_at(&of.nodes, tree_find(&of, AST_STRING_LITERAL, 1));
    assert_text(intern_text_of(&of.names, node->text), "a\xef\xbf\xbd");
    tree_close(&of);
}

/* --- deep and long texts: memory, not stack --- */

typedef struct large_fact {
    const char *before;
    const char *part;
    const char *middle;
    const char *closing;
    const char *after;
    size_t count;
    size_t nodes; /* at least */
} large_fact;

static void deep_and_long_texts_are_read(void **state)
{
    static const large_fact facts[] = {
        {"fn f(){let x=", "(", "1", ")", ";}", 1000000, 7},
        {"fn f(){let x=a", ".b()", "", "", ";}", 100000, 400000},
        {"fn f()", "{", "", "}", "", 100000, 100000},
        {"fn f(){let x=", "-", "1", "", ";}", 100000, 100000},
        {"fn f(){let x=1", "+1", "", "", ";}", 100000, 200000},
        {"fn f(){x!(", "[", "", "]", ");}", 100000, 7},
        {"type T=", "A<", "u8", ">", ";", 50000, 100000},
        {"fn f(){", "if a {} else ", "{}", "", "}", 50000, 100000},
        {"fn f(){let x=", "(", "", "", "", 100000, 2},
        {"", "a<", "", "", "", 50000, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        cg_str left = repeated(facts[i].before, facts[i].part, facts[i].count, facts[i].middle);
        cg_str right = repeated("", facts[i].closing, facts[i].count, facts[i].after);
        char *text = malloc(left.len + right.len);
        tree of;

        assert_non_null(text);
        memcpy(text, left.ptr, left.len);
        memcpy(text + left.len, right.ptr, right.len);
        tree_open(&of, (cg_str){text, left.len + right.len});
        assert_true(of.nodes.nodes.count >= facts[i].nodes);
        if (i < 8)
            assert_int_equal(of.nodes.broken.count, 0);
        assert_whole(&of);
        tree_close(&of);
        free(text);
        free((char *)(uintptr_t)left.ptr);
        free((char *)(uintptr_t)right.ptr);
    }
}

static void a_text_made_to_take_long_is_broken_as_a_whole(void **state)
{
    cg_str text = repeated("", "r#\"", 300000, "");
    tree of;

    (void)state;
    tree_open(&of, text);
    assert_int_equal(of.nodes.nodes.count, 2);
    assert_int_equal(of.nodes.broken.count, 1);
    assert_int_equal(of.nodes.broken.at[0].start, 0);
    assert_int_equal(of.nodes.broken.at[0].end, text.len);
    tree_close(&of);
    free((char *)(uintptr_t)text.ptr);
}

static void a_text_above_the_ceiling_is_refused(void **state)
{
    cg_str text = repeated("", " ", RUST_TEXT_CEILING, " ");
    rust_source source;
    ast never = {0};
    cg_err error = {0};
    tree of;

    (void)state;
    tree_open(&of, CG_LIT(""));
    assert_true(source_init(&source, &of.mem, CG_LIT("big.rs"), text));
    assert_int_equal(rust_parse(of.parser, &source, &of.names, &never, &error), CG_LIMIT);
    assert_null(never.nodes.at);
    source.text.len--;
    assert_int_equal(rust_parse(of.parser, &source, &of.names, &never, NULL), CG_OK);
    ast_free(&never);
    tree_close(&of);
    free((char *)(uintptr_t)text.ptr);
}

static bool stop_at_once(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)stage;
    assert_true(done <= total);
    ++*(unsigned *)context;
    return false;
}

static void a_long_parse_can_be_interrupted(void **state)
{
    enum { LENGTH = 400000 };
    unsigned asked = 0;
    cg_env env = {.size = sizeof env, .progress = stop_at_once, .progress_context = &asked};
    char *text = malloc(LENGTH);
    rust_parser *parser;
    rust_source source;
    cg_err err = {0};
    ast nodes = {0};
    intern names;
    arena mem;
    heap from;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = "fn f ( ) { a + 1 } "[i % 19];
    heap_init(&from, NULL);
    arena_init(&mem, &from);
    assert_true(intern_init(&names, &from, 1));
    assert_true(source_init(&source, &mem, CG_LIT("a.rs"), (cg_str){text, LENGTH}));
    assert_int_equal(rust_parser_new(&from, &parser, NULL), CG_OK);
    rust_parser_watch(parser, &env);
    assert_int_equal(rust_parse(parser, &source, &names, &nodes, &err), CG_INTERRUPTED);
    assert_int_equal(asked, 1);
    assert_null(nodes.nodes.at);
    rust_parser_watch(parser, NULL);
    assert_int_equal(rust_parse(parser, &source, &names, &nodes, NULL), CG_OK);
    ast_free(&nodes);
    rust_parser_free(parser);
    intern_free(&names);
    arena_free(&mem);
    assert_int_equal(from.used_bytes, 0);
    free(text);
}

static void every_failing_request_is_survived(void **state)
{
    static const char text[] =
        "// candle-graph: x\nfn f(a: &mut T) { let s = \"a\\n\"; ) a.b(1)? }";

    (void)state;
    for (size_t fail_at = 1;; fail_at++) {
        failing memory = {.fail_at = fail_at};
        rust_parser *parser = NULL;
        rust_source source;
        intern names;
        heap names_from;
        arena mem;
        heap from;
        ast nodes = {0};
        cg_code code;

        heap_init(&names_from, NULL);
        assert_true(intern_init(&names, &names_from, 1));
        arena_init(&mem, &names_from);
        assert_true(source_init(&source, &mem, CG_LIT("a.rs"), CG_LIT(text)));
        heap_init(&from, failing_env(&memory));
        code = rust_parser_new(&from, &parser, NULL);
        if (code == CG_OK)
            code = rust_parse(parser, &source, &names, &nodes, NULL);
        assert_true(code == CG_OK || code == CG_NOMEM);
        if (code != CG_OK)
            assert_null(nodes.nodes.at);
        ast_free(&nodes);
        rust_parser_free(parser);
        intern_free(&names);
        arena_free(&mem);
        assert_nothing_held(&memory, &from);
        if (code == CG_OK)
            break;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_have_their_parts_as_roles),
        cmocka_unit_test(types_have_their_parts_as_roles),
        cmocka_unit_test(expressions_have_operators_and_roles),
        cmocka_unit_test(patterns_have_roles),
        cmocka_unit_test(blocks_tell_statements_from_their_value),
        cmocka_unit_test(literals_have_their_values_as_texts),
        cmocka_unit_test(a_string_value_may_hold_nul),
        cmocka_unit_test(ranges_are_bytes_of_the_file),
        cmocka_unit_test(remarks_are_found_and_other_comments_are_not_there),
        cmocka_unit_test(broken_text_leaves_the_rest),
        cmocka_unit_test(what_is_missing_is_broken_where_it_should_be),
        cmocka_unit_test(odd_files_are_read),
        cmocka_unit_test(any_bytes_give_a_tree),
        cmocka_unit_test(literals_that_are_not_utf8_become_so),
        cmocka_unit_test(deep_and_long_texts_are_read),
        cmocka_unit_test(a_text_made_to_take_long_is_broken_as_a_whole),
        cmocka_unit_test(a_text_above_the_ceiling_is_refused),
        cmocka_unit_test(a_long_parse_can_be_interrupted),
        cmocka_unit_test(every_failing_request_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
