#include "../base/failing.h"

#include "base/buf.h"
#include "cargo/cfg.h"

typedef struct fixture {
    heap memory;
    arena mem;
    cfg_set set;
} fixture;

static int make(void **state)
{
    static const cg_str features[] = {{"cuda", 4}};
    static fixture at;
    cargo_strs lines;

    heap_init(&at.memory, NULL);
    arena_init(&at.mem, &at.memory);
    assert_true(cfg_target_lines(&at.mem, CG_LIT("x86_64-unknown-linux-gnu"), &lines));
    assert_true(cfg_set_make(&at.mem, lines, (cargo_strs){features, 1}, &at.set));
    *state = &at;
    return 0;
}

static int drop(void **state)
{
    fixture *at = *state;

    arena_free(&at->mem);
    return 0;
}

static void expect(const cfg_set *set, const char *predicate, enum cfg_truth want)
{
    if (cfg_eval(set, str_from(predicate)) != want)
        fail_msg("`%s`", predicate);
}

static void names_and_values_are_looked_up(void **state)
{
    const cfg_set *set = &((fixture *)*state)->set;

    expect(set, "unix", CFG_TRUE);
    expect(set, "windows", CFG_FALSE);
    expect(set, "test", CFG_FALSE);
    expect(set, "debug_assertions", CFG_TRUE);
    expect(set, "feature = \"cuda\"", CFG_TRUE);
    expect(set, "feature=\"metal\"", CFG_FALSE);
    expect(set, "feature = r#\"cuda\"#", CFG_TRUE);
    expect(set, "target_os = \"linux\"", CFG_TRUE);
    expect(set, "true", CFG_TRUE);
    expect(set, "false", CFG_FALSE);
    expect(set, "r#unix", CFG_TRUE);
}

static void operators_are_three_valued(void **state)
{
    const cfg_set *set = &((fixture *)*state)->set;

    expect(set, "all()", CFG_TRUE);
    expect(set, "any()", CFG_FALSE);
    expect(set, "not(unix)", CFG_FALSE);
    expect(set, "all(unix, feature = \"cuda\",)", CFG_TRUE);
    expect(set, "any (windows , feature = \"cuda\")", CFG_TRUE);
    expect(set, "not(any(windows, not(unix)))", CFG_TRUE);
    expect(set, "version(\"1.70\")", CFG_UNDECIDED);
    expect(set, "any(unix, accessible(std::x(y)))", CFG_TRUE);
    expect(set, "all(windows, accessible(x))", CFG_FALSE);
    expect(set, "not(target(os = \"linux\"))", CFG_UNDECIDED);
    expect(set, "cfg(unix)", CFG_TRUE);
    expect(set, "cfg!(windows)", CFG_FALSE);
    expect(set, "(unix)", CFG_TRUE);
    expect(set, "all(unix, /* a, ( */ // b\n windows)", CFG_FALSE);
}

static void broken_text_is_undecided(void **state)
{
    static const char *const broken[] = {
        "",           "all(",  "not()",   "not(unix, unix)", "a =", "a = b",      "unix windows",
        "all(unix))", "\"x\"", "a = \"x", "all(,)",          "!",   "version(\"x"};
    const cfg_set *set = &((fixture *)*state)->set;

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        expect(set, broken[i], CFG_UNDECIDED);
}

static void nothing_is_known_without_a_set_and_little_with_a_build_script(void **state)
{
    cfg_set open = ((fixture *)*state)->set;

    expect(NULL, "unix", CFG_UNDECIDED);
    expect(NULL, "all()", CFG_TRUE);
    expect(&(cfg_set){0}, "unix", CFG_UNDECIDED);
    open.is_open = true;
    expect(&open, "has_avx", CFG_UNDECIDED);
    expect(&open, "backend = \"x\"", CFG_UNDECIDED);
    expect(&open, "feature = \"metal\"", CFG_FALSE);
    expect(&open, "windows", CFG_FALSE);
    expect(&open, "target_os = \"macos\"", CFG_FALSE);
}

static void depth_has_a_ceiling_and_needs_no_stack(void **state)
{
    const cfg_set *set = &((fixture *)*state)->set;
    heap memory;
    buf text;

    heap_init(&memory, NULL);
    buf_init(&text, &memory, SIZE_MAX);
    for (unsigned i = 0; i < 100000; i++)
        buf_add(&text, CG_LIT("not("));
    assert_int_equal(cfg_eval(set, buf_text(&text)), CFG_UNDECIDED);
    buf_clear(&text);
    for (unsigned i = 0; i < CFG_DEPTH; i++)
        buf_add(&text, CG_LIT("not("));
    buf_add(&text, CG_LIT("unix"));
    buf_fill(&text, ')', CFG_DEPTH);
    assert_int_equal(cfg_eval(set, buf_text(&text)), CFG_TRUE);
    buf_free(&text);
}

static void lists_of_predicates_are_joined(void **state)
{
    (void)state;
    assert_int_equal(cfg_and(CFG_TRUE, CFG_UNDECIDED), CFG_UNDECIDED);
    assert_int_equal(cfg_and(CFG_FALSE, CFG_UNDECIDED), CFG_FALSE);
    assert_int_equal(cfg_and(CFG_TRUE, CFG_TRUE), CFG_TRUE);
}

static void attributes_are_taken_apart(void **state)
{
    cfg_attribute found = cfg_attribute_read(CG_LIT("#[cfg(not (feature = \"a,b\"))]"));
    cg_str part;

    (void)state;
    assert_int_equal(found.kind, CFG_ATTRIBUTE_CFG);
    assert_text(found.predicate, "not (feature = \"a,b\")");

    found = cfg_attribute_read(
        CG_LIT("cfg_attr(all(unix, feature = \"x\"), path = \"a,b.rs\", allow(x, y))"));
    assert_int_equal(found.kind, CFG_ATTRIBUTE_CFG_ATTR);
    assert_text(found.predicate, "all(unix, feature = \"x\")");
    assert_true(cfg_attribute_next(&found.rest, &part));
    assert_text(part, "path = \"a,b.rs\"");
    assert_true(cfg_attribute_next(&found.rest, &part));
    assert_text(part, "allow(x, y)");
    assert_false(cfg_attribute_next(&found.rest, &part));

    assert_int_equal(cfg_attribute_read(CG_LIT("#![cfg (unix)]")).kind, CFG_ATTRIBUTE_CFG);
    assert_int_equal(cfg_attribute_read(CG_LIT("derive(Debug)")).kind, CFG_ATTRIBUTE_OTHER);
    assert_int_equal(cfg_attribute_read(CG_LIT("path = \"x\"")).kind, CFG_ATTRIBUTE_OTHER);
    assert_int_equal(cfg_attribute_read(CG_LIT("cfg(")).kind, CFG_ATTRIBUTE_OTHER);
    assert_int_equal(cfg_attribute_read(CG_LIT("")).kind, CFG_ATTRIBUTE_OTHER);
}

static void the_table_says_what_rustc_prints(void **state)
{
    fixture *at = *state;
    cargo_strs lines;

    assert_true(cfg_has_target(cfg_host()));
    assert_false(cfg_has_target(CG_LIT("z80-unknown-none")));
    assert_true(cfg_target_lines(&at->mem, CG_LIT("wasm32-unknown-unknown"), &lines));
    for (size_t i = 1; i < lines.count; i++)
        assert_true(str_compare(lines.at[i - 1], lines.at[i]) < 0);
    assert_text(lines.at[1], "panic=\"abort\"");
    assert_true(cfg_target_lines(&at->mem, CG_LIT("x86_64-unknown-linux-gnu"), &lines));
    assert_int_equal(lines.count, 19);
    assert_text(lines.at[0], "debug_assertions");
    assert_text(lines.at[18], "unix");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_values_are_looked_up),
        cmocka_unit_test(operators_are_three_valued),
        cmocka_unit_test(broken_text_is_undecided),
        cmocka_unit_test(nothing_is_known_without_a_set_and_little_with_a_build_script),
        cmocka_unit_test(depth_has_a_ceiling_and_needs_no_stack),
        cmocka_unit_test(lists_of_predicates_are_joined),
        cmocka_unit_test(attributes_are_taken_apart),
        cmocka_unit_test(the_table_says_what_rustc_prints),
    };

    return cmocka_run_group_tests(tests, make, drop);
}
