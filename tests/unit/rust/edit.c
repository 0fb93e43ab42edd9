#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "rust/edit.h"
#include "rust/syntax.h"

#include <cmocka.h>
#include <string.h>

static heap memory;
static arena mem;
static rust_parser *parser;
static edit change;
static const char *then, *now;
static bool is_known;

static int begin(void **state)
{
    (void)state;
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    return rust_parser_new(&memory, &parser, NULL) == CG_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    rust_parser_free(parser);
    arena_free(&mem);
    return memory.used_bytes == 0 ? 0 : -1;
}

/* Nothing but bodies? */
static bool compare(const char *before, const char *after)
{
    rust_source *sources = arena_take(&mem, 2 * sizeof *sources);
    ast trees[2] = {{0}, {0}};
    intern names;

    then = before;
    now = after;
    assert_true(intern_init(&names, &memory, 3));
    assert_true(source_init(&sources[0], &mem, CG_LIT("a.rs"), str_from(before)));
    assert_true(source_init(&sources[1], &mem, CG_LIT("a.rs"), str_from(after)));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(rust_parse(parser, &sources[i], &names, &trees[i], NULL), CG_OK);
    assert_int_equal(edit_find(&trees[0], &trees[1], &mem, &change, &is_known, NULL), CG_OK);
    ast_free(&trees[0]);
    ast_free(&trees[1]);
    intern_free(&names);
    return is_known && !change.has_items;
}

static bool says_the_same(const char *before, const char *after)
{
    return compare(before, after) && change.changed_count == 0;
}

/* Is what begins and ends at the first `word` found at the first one of today? */
static void assert_found(const char *word)
{
    const char *old = strstr(then, word), *fresh = strstr(now, word);
    uint32_t place = 0, behind = 0;

    assert_non_null(old);
    assert_non_null(fresh);
    assert_true(edit_start(&change, (uint32_t)(old - then), &place));
    assert_int_equal(place, fresh - now);
    assert_true(edit_end(&change, (uint32_t)(old - then + (ptrdiff_t)strlen(word)), &behind));
    assert_int_equal(behind, fresh - now + (ptrdiff_t)strlen(word));
}

static void blanks_and_comments_between_things_move_them(void **state)
{
    bool is_torn;
    uint32_t line;

    (void)state;
    assert_true(says_the_same("struct S { a: u8 }\nfn f() {\n    g(1);\n    h(2)\n}\n",
                              "// top\nstruct S {\n  // what\n  a: u8 }\n\nfn f() {\n    g(1);\n"
                              "    // then\n    h(2)\n}\n"));
    assert_found("struct S");
    assert_found("a: u8");
    assert_found("g(1)");
    assert_found("h(2)");
    assert_true(edit_line(&change, 4, &line, &is_torn));
    assert_int_equal(line, 9);
    assert_false(is_torn);
}

static void what_may_be_printed_must_stay_as_it_is_written(void **state)
{
    (void)state;
    assert_true(compare("fn f() { g(1, 2) }", "fn f() { g(1,  2) }"));
    assert_int_equal(change.changed_count, 1);
    assert_false(compare("fn f(a: u8) {}", "fn f(a:  u8) {}"));
    assert_false(compare("const N: u8 = 1 + 2;", "const N: u8 = 1+ 2;"));
}

static void a_value_nobody_asks_for_changes_nothing(void **state)
{
    (void)state;
    assert_true(says_the_same("fn f() { g(1); }", "fn f() { let _n = 3; g(1); }"));
    assert_found("g(1)");
    assert_true(says_the_same("fn f() { g(1) }", "fn f() { let _n: u8 = 3; g(1) }"));
    assert_true(says_the_same("fn f() { let _n = \"a\"; g(1); }", "fn f() { g(1); }"));
    assert_true(says_the_same("fn f() { let _n = 1; g(1); }", "fn f() { let _n = 2; g(1); }"));
    assert_true(says_the_same("fn f() { const A: u8 = 1; g(A); }",
                              "fn f() { const A: u8 = 1; let _n = 2; g(A); }"));
}

static void what_somebody_could_notice_is_a_change(void **state)
{
    static const char *const bodies[] = {
        "let n = 3; g(1, n)",
        "let _n = h(); g(1)",
        "let _n = v; g(1)",
        "let N = 3; g(1)",
        "let (_a, _b) = c; g(1)",
        "#[cfg(x)] let _n = 3; g(1)",
        "let _n = 3 else { r }; g(1)",
        "g(1);",
        "g(1); let _n = 3;",
        "let _n = 3; let _m = 4; g(1)",
        "",
        "(g(1))",
        "let _n = vec![1]; g(1)",
        "g(2)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        char text[200];

        (void)snprintf(text, sizeof text, "fn o() {} fn f() { %s }", bodies[i]);
        assert_true(compare("fn o() {} fn f() { g(1) }", text));
        assert_int_equal(change.changed_count, 1);
        assert_int_equal(change.changed[0], 1);
    }
}

static void a_constant_in_a_body_is_nobody_elses(void **state)
{
    (void)state;
    assert_true(compare("fn f() { const A: u8 = 1; g(A); }", "fn f() { const A: u8 = 2; g(A); }"));
    assert_int_equal(change.changed_count, 1);
    assert_true(compare("fn f() { g(A); }", "fn f() { use a::A; g(A); }"));
    assert_int_equal(change.changed_count, 1);
    assert_false(compare("fn f() { g(A); }", "fn f() { impl T for A {} g(A); }"));
}

static void an_attribute_stays_with_its_statement(void **state)
{
    (void)state;
    assert_true(
        compare("fn f() { #[cfg(a)] g(1); h() }", "fn f() { #[cfg(a)] let _n = 1; g(1); h() }"));
    assert_int_equal(change.changed_count, 1);
}

static void what_no_body_holds_is_more_than_bodies(void **state)
{
    static const char *const others[] = {
        "fn f(b: u8) { g() } const N: u8 = 1;",
        "pub fn f(a: u8) { g() } const N: u8 = 1;",
        "unsafe fn f(a: u8) { g() } const N: u8 = 1;",
        "fn f(a: u8) { g() } const N: u8 = 2;",
        "fn f(a: u8) { g() }",
        "#[test] fn f(a: u8) { g() } const N: u8 = 1;",
        "use x; fn f(a: u8) { g() } const N: u8 = 1;",
        "fn f(a: u8) { fn x() {} g() } const N: u8 = 1;",
        "const N: u8 = 1; fn f(a: u8) { g() }",
        "fn f(a: u8) { g( } const N: u8 = 1;",
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(compare("fn f(a: u8) { g() } const N: u8 = 1;", others[i]));
}

static void the_rest_of_a_changed_body_is_found(void **state)
{
    uint32_t place;

    (void)state;
    assert_true(
        compare("fn f() {\n a(1);\n b(2);\n c(3)\n}", "fn f() {\n a(1);\n bb(2);\n\n c(3)\n}"));
    assert_int_equal(change.changed_count, 1);
    assert_found("a(1)");
    assert_found("c(3)");
    assert_false(edit_start(&change, (uint32_t)(strstr(then, "b(2)") - then), &place));
}

static void a_line_that_has_become_two_is_torn(void **state)
{
    bool is_torn = false;
    uint32_t line;

    (void)state;
    assert_true(says_the_same("fn f() { a(1); b(2) }", "fn f() { a(1);\n b(2) }"));
    assert_true(edit_line(&change, 1, &line, &is_torn));
    assert_true(is_torn);
}

/* Is the edit understood, and what words does it say? `u:name` by users, `a:` by anyone, ... */
static void assert_words(const char *before, const char *after, const char *words)
{
    static const char letters[] = "mutacl";
    buf text;

    (void)compare(before, after);
    buf_init(&text, &memory, 10000);
    if (!is_known || !change.has_items)
        fail_msg("%s", after);
    for (size_t i = 0; i < change.word_count; i++) {
        const edit_word *word = &change.words[i];
        char key[100];

        (void)snprintf(key, sizeof key, "%s%c:%.*s", i ? " " : "", letters[word->reach],
                       (int)word->text.len, word->text.ptr);
        buf_add(&text, str_from(key));
    }
    if (!str_equal(buf_text(&text), str_from(words)))
        fail_msg("%.*s", (int)text.len, text.at);
    buf_free(&text);
}

static void items_say_by_which_words_they_are_noticed(void **state)
{
    (void)state;
    assert_words("", "fn f(a: u8) -> S {}", "a:f c:S");
    assert_words("fn f(a: u8) -> S {}", "", "u:f c:S");
    assert_int_equal(change.changed_count, 1);
    assert_words("fn f(a: u8) {}", "fn f(a: u16) {}", "u:f u:f");
    assert_int_equal(change.changed_count, 1);
    assert_words("fn f(a: u8) {}", "pub fn f(a: u8) {}", "u:f a:f");
    assert_words("struct S { a: u8, b: u8 }", "struct S { a: u8, c: u8 }", "u:b u:c u:S");
    assert_words("struct S { a: T }", "struct S { a: T, n: u8 }", "u:n l:S");
    assert_words("struct S { a: T, n: u8 }", "struct S { a: T }", "u:n l:S");
    assert_words("struct S { a: T }", "struct S { a: T, n: N }", "u:n u:S");
    assert_words("struct S { a: T }", "pub struct S { a: T, n: u8 }", "u:n a:S");
    assert_words("struct S { a: T }", "#[derive(Clone)] struct S { a: T, n: u8 }", "u:S u:n l:S");
    assert_words("struct S(u8);", "struct S(u8, T);", "u:0 u:0 u:1 u:S");
    assert_words("enum E { A, B }", "enum E { A }", "u:B u:E");
    assert_words("struct S { a: u8 }", "#[derive(Clone)] struct S { a: u8 }", "u:S");
    assert_words("const N: u8 = 1;", "const N: u8 = 2;", "u:N");
    assert_words("", "const N: u8 = 2;", "a:N");
    assert_words("use a::{B, C};", "use a::{B, d::{self, E as F}};", "m:C m:d m:F");
    assert_words("use a::B;", "use x::B;", "m:B m:B");
    assert_words("impl S { fn f(&self, n: u8) {} }",
                 "impl S { fn f(&self, n: u8) {} fn g(&self) "
                 "{} }",
                 "u:g");
    assert_int_equal(change.method_count, 1);
    assert_true(change.methods[0].is_new);
    /* An example of its type; a method of a trait. */
    assert_words("impl S { }", "impl S { fn g() {} }", "u:g u:S");
    assert_words("impl T for S { }", "impl T for S { fn g(&self) {} }", "u:g u:S t:T");
    assert_words("struct S;", "struct S; impl a::T for S { fn g(&self) {} }",
                 "u:S t:a t:T u:g u:S t:a t:T");
}

static void what_stays_is_found_around_items(void **state)
{
    uint32_t place;

    (void)state;
    assert_words("fn a() { x(1) }\nstruct S { n: u8 }\nfn b() { y(2) }",
                 "use z;\nfn a() { x(1) }\n\nfn b(n: u8) { y(2) }\nfn c() {}",
                 "u:S a:c m:z u:b u:b");
    assert_found("x(1)");
    assert_found("y(2)");
    assert_false(edit_start(&change, (uint32_t)(strstr(then, "struct") - then), &place));
    assert_int_equal(change.changed_count, 1);
    assert_int_equal(change.changed[0], 1);
}

static void what_cannot_be_told_by_words_is_not_known(void **state)
{
    static const char *const others[] = {
        "mod m;",
        "pub use a::B;",
        "use a::*;",
        "macro_rules! m { () => { 1 } }",
        "m!();",
        "trait T {}",
        "impl T for Vec<S> {}",
        "impl<S> T for S {}",
        "impl T for Other {}",
        "impl std::ops::Deref for S {}",
        "#[cfg(x)] fn f() {}",
        "#[test] fn f() {}",
        "fn main() {}",
        "fn f() { struct X; }",
        "extern crate x;",
        "#![allow(unused)]",
        "fn f() { g( }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[200];

        (void)snprintf(text, sizeof text, "%s struct S;", others[i]);
        (void)compare("struct S;", text);
        if (is_known)
            fail_msg("%s", others[i]);
    }
    (void)compare("#[cfg(a)] fn f() {}", "#[cfg(b)] fn f() {}");
    assert_false(is_known);
    (void)compare("mod m { fn f() {} }", "pub mod m { fn f() {} }");
    assert_false(is_known);
    (void)compare("trait T { fn f(&self); }", "trait T { fn f(&mut self); }");
    assert_false(is_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blanks_and_comments_between_things_move_them, begin, end),
        cmocka_unit_test_setup_teardown(what_may_be_printed_must_stay_as_it_is_written, begin, end),
        cmocka_unit_test_setup_teardown(a_value_nobody_asks_for_changes_nothing, begin, end),
        cmocka_unit_test_setup_teardown(what_somebody_could_notice_is_a_change, begin, end),
        cmocka_unit_test_setup_teardown(a_constant_in_a_body_is_nobody_elses, begin, end),
        cmocka_unit_test_setup_teardown(an_attribute_stays_with_its_statement, begin, end),
        cmocka_unit_test_setup_teardown(what_no_body_holds_is_more_than_bodies, begin, end),
        cmocka_unit_test_setup_teardown(the_rest_of_a_changed_body_is_found, begin, end),
        cmocka_unit_test_setup_teardown(a_line_that_has_become_two_is_torn, begin, end),
        cmocka_unit_test_setup_teardown(items_say_by_which_words_they_are_noticed, begin, end),
        cmocka_unit_test_setup_teardown(what_stays_is_found_around_items, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_told_by_words_is_not_known, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
