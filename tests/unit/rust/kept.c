#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "rust/expand.h"
#include "rust/kept.h"

#include <cmocka.h>
#include <string.h>

static heap memory;
static arena mem;
static rust_parser *parser;

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

static const char text[] = "use a::b as r#c;\n"
                           "/// told\n"
                           "pub fn f<T: Into<u8>>(x: &mut T) -> Result<(), &'static str> {\n"
                           "    let v = vec![1u8, 2, g(\"\\n\\u{e9}\", r#\"raw\"#)];\n"
                           "    for i in 0..=v.len() { bail!(\"{i} \xc3\xa9 {}\", -v[i]); }\n"
                           "    match x { Some(ref y) if *y > 3 => (), 1..=2 => {}, _ => () }\n"
                           "    own!(v);\n"
                           "    ..=4;\n"
                           "}\n"
                           "macro_rules! own { ($e:expr) => { let w = $e + 1; }; }\n"
                           "impl<'a> A for B<'a> where B<'a>: C { const N: usize = 3; }\n";

static void parse(const char *from, intern *names, rust_source *source, ast *ret)
{
    assert_true(intern_init(names, &memory, 7));
    assert_true(source_init(source, &mem, CG_LIT("a.rs"), str_from(from)));
    assert_int_equal(rust_parse(parser, source, names, ret, NULL), CG_OK);
}

static void assert_same(const ast *a, const ast *b)
{
    assert_int_equal(a->nodes.count, b->nodes.count);
    assert_int_equal(a->parsed, b->parsed);
    for (ast_ref i = 1; i < a->nodes.count; i++) {
        ast_node one = *ast_at(a, i), two = *ast_at(b, i);

        assert_true(
            str_equal(intern_text_of(a->names, one.text), intern_text_of(b->names, two.text)));
        assert_int_equal(one.text == 0, two.text == 0);
        one.text = two.text = 0;
        assert_memory_equal(&one, &two, sizeof one);
    }
}

/* Every macro that can be opened is. */
static void expand_all(ast *tree, intern *names)
{
    ast_ref made;

    for (ast_ref i = 1; i < tree->parsed; i++) {
        if (ast_kind_of(tree, i) == AST_MACRO_INVOCATION)
            assert_int_equal(expand_arguments(parser, tree, names, i, &made, NULL), CG_OK);
    }
    assert_true(tree->nodes.count > tree->parsed);
}

static void a_tree_comes_back_as_it_was_parsed(void **state)
{
    intern names, others;
    rust_source source;
    ast fresh, used, again;
    bool fits = false;
    buf bytes;

    (void)state;
    parse(text, &names, &source, &fresh);
    assert_true(kept_is_possible(&fresh));
    intern_free(&names);
    ast_free(&fresh);
    parse(text, &names, &source, &used);
    expand_all(&used, &names);
    buf_init(&bytes, &memory, SIZE_MAX / 2);
    assert_true(kept_write(&used, &memory, &bytes));
    assert_true(intern_init(&others, &memory, 8));
    assert_int_equal(kept_read(buf_text(&bytes), &source, &others, &memory, &again, &fits, NULL),
                     CG_OK);
    assert_true(fits);
    ast_free(&used);
    intern_free(&names);
    parse(text, &names, &source, &fresh);
    assert_same(&fresh, &again);
    expand_all(&again, &others);
    expand_all(&fresh, &names);
    assert_int_equal(again.nodes.count, fresh.nodes.count);
    ast_free(&fresh);
    ast_free(&again);
    intern_free(&names);
    intern_free(&others);
    buf_free(&bytes);
}

static void what_is_broken_or_has_remarks_is_not_kept(void **state)
{
    static const char *const texts[] = {"fn f( {", "fn f() {} // candle-graph: allow(x)\n"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        rust_source source;
        intern names;
        buf bytes;
        ast tree;

        parse(texts[i], &names, &source, &tree);
        buf_init(&bytes, &memory, SIZE_MAX / 2);
        assert_false(kept_is_possible(&tree));
        assert_false(kept_write(&tree, &memory, &bytes));
        buf_free(&bytes);
        ast_free(&tree);
        intern_free(&names);
    }
}

/* Every byte changed in some ways, and every shorter length: no tree, or one that is whole. */
static void other_bytes_fit_or_do_not(void **state)
{
    rust_source source;
    intern names;
    buf bytes;
    ast tree;

    (void)state;
    parse(text, &names, &source, &tree);
    buf_init(&bytes, &memory, SIZE_MAX / 2);
    assert_true(kept_write(&tree, &memory, &bytes));
    ast_free(&tree);
    for (size_t i = 0; i < bytes.len; i++) {
        static const unsigned char others[] = {0x01, 0x7f, 0x80, 0xff};
        bool fits = true;

        assert_int_equal(
            kept_read((cg_str){bytes.at, i}, &source, &names, &memory, &tree, &fits, NULL), CG_OK);
        assert_false(fits);
        for (size_t k = 0; k < 4; k++) {
            bytes.at[i] = (char)((unsigned char)bytes.at[i] ^ others[k]);
            assert_int_equal(
                kept_read(buf_text(&bytes), &source, &names, &memory, &tree, &fits, NULL), CG_OK);
            bytes.at[i] = (char)((unsigned char)bytes.at[i] ^ others[k]);
            for (ast_ref n = 1; fits && n < tree.nodes.count; n++) {
                assert_true(ast_at(&tree, n)->end <= source.text.len);
                assert_true(ast_at(&tree, n)->parent < n);
            }
            if (fits)
                ast_free(&tree);
        }
    }
    buf_free(&bytes);
    intern_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tree_comes_back_as_it_was_parsed, begin, end),
        cmocka_unit_test_setup_teardown(what_is_broken_or_has_remarks_is_not_kept, begin, end),
        cmocka_unit_test_setup_teardown(other_bytes_fit_or_do_not, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
