#include "unit/model/little.h"

static unsigned count_faults(const little *l, const char *part)
{
    unsigned count = 0;

    for (size_t i = 0; i < l->program.faults.count; i++)
        count += str_find(l->program.faults.at[i].message, str_from(part)) != SIZE_MAX;
    return count;
}

static const program_input *find_input(const little *l, const char *suffix)
{
    for (size_t i = 0; i < l->program.inputs.count; i++) {
        if (str_ends_with(l->program.inputs.at[i].path, str_from(suffix)))
            return &l->program.inputs.at[i];
    }
    return NULL;
}

static void every_kind_of_item_is_collected(void **state)
{
    static const struct {
        const char *path;
        enum item_kind kind;
        enum item_visibility visibility;
        bool has_self;
    } wants[] = {
        {"free", ITEM_FUNCTION, VISIBLE_PUBLIC, false},
        {"Named", ITEM_STRUCT, VISIBLE_CRATE, false},
        {"Tuple", ITEM_STRUCT, VISIBLE_PRIVATE, false},
        {"Named::new", ITEM_FUNCTION, VISIBLE_PUBLIC, false},
        {"Named::by_self", ITEM_FUNCTION, VISIBLE_RESTRICTED, true},
        {"Named::SIZE", ITEM_CONST, VISIBLE_PUBLIC, false},
        {"Kind", ITEM_ENUM, VISIBLE_PUBLIC, false},
        {"Kind::One", ITEM_VARIANT, VISIBLE_PUBLIC, false},
        {"Kind::Two", ITEM_VARIANT, VISIBLE_PUBLIC, false},
        {"Build", ITEM_TRAIT, VISIBLE_PUBLIC, false},
        {"Build::build", ITEM_FUNCTION, VISIBLE_PUBLIC, false},
        {"Build::Output", ITEM_TYPE_ALIAS, VISIBLE_PUBLIC, false},
        {"Alias", ITEM_TYPE_ALIAS, VISIBLE_PRIVATE, false},
        {"TABLE", ITEM_CONST, VISIBLE_PRIVATE, false},
        {"make", ITEM_MACRO, VISIBLE_PRIVATE, false},
        {"inner", ITEM_MODULE, VISIBLE_PUBLIC, false},
        {"inner::leaf", ITEM_FUNCTION, VISIBLE_PUBLIC, false},
        {"nested", ITEM_FUNCTION, VISIBLE_PRIVATE, false},
        {"nested_deeper", ITEM_FUNCTION, VISIBLE_PRIVATE, false},
        {"Nested::method", ITEM_FUNCTION, VISIBLE_PRIVATE, true},
        {"candle_core::Tensor::more", ITEM_FUNCTION, VISIBLE_PRIVATE, true},
    };
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "use candle::Tensor;\n"
                 "pub fn free() {}\n"
                 "pub(crate) struct Named { a: usize }\n"
                 "struct Tuple(usize);\n"
                 "impl Named { pub const SIZE: usize = 1; pub fn new() {}\n"
                 "  pub(super) fn by_self(self: &Self) {} }\n"
                 "pub enum Kind { One, Two(usize) }\n"
                 "pub trait Build { type Output; fn build(); }\n"
                 "trait More { fn more(&self); }\n"
                 "impl More for &Tensor { fn more(&self) {} }\n"
                 "type Alias = usize;\n"
                 "static TABLE: [usize; 1] = [1];\n"
                 "macro_rules! make { () => {} }\n"
                 "pub mod inner { pub fn leaf() {} }\n"
                 "fn outer() { fn nested() { { fn nested_deeper() {} } }\n"
                 "  struct Nested; impl Nested { fn method(&self) {} } }\n");
    little_load(&l, "");
    for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
        item_ref ref = little_item(&l, wants[i].path);
        const program_item *item = &l.program.items.at[ref];

        if (ref == 0)
            fail_msg("%s is not there", wants[i].path);
        if (item->kind != wants[i].kind || item->visibility != wants[i].visibility ||
            item->has_self != wants[i].has_self)
            fail_msg("%s: kind %d visibility %d self %d", wants[i].path, item->kind,
                     item->visibility, item->has_self);
        assert_int_equal(program_item_at(&l.program, item->file, item->node), ref);
    }
    little_end(&l);
}

static void what_is_not_built_is_left_out(void **state)
{
    item_ref item;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml",
                 LITTLE_MANIFEST "[features]\ndefault = [\"fast\"]\nfast = []\nslow = []\n");
    little_write(&l, "build.rs", "fn main() {}\n");
    little_write(&l, "src/lib.rs",
                 "#[cfg(feature = \"slow\")] mod not_there;\n"
                 "#[cfg(feature = \"slow\")] fn slow() { fn inside() {} }\n"
                 "#[cfg(feature = \"fast\")] mod fast { #[cfg(all(unix,not(windows)))]\n"
                 "  pub fn go() {} }\n"
                 "mod off { #![cfg(feature = \"slow\")] fn never() {} }\n"
                 "#[cfg(not_known_to_anybody)] fn perhaps() {}\n"
                 "#[cfg_attr(feature = \"fast\", path = \"by_fast.rs\")] mod chosen;\n"
                 "struct S;\n#[cfg(feature = \"slow\")] impl S { fn slow_too() {} }\n"
                 "impl S { #[cfg(test)] fn tested() {} }\n");
    little_write(&l, "src/by_fast.rs", "fn found() {}\n");
    little_load(&l, "");
    assert_int_equal(l.program.faults.count, 0);
    assert_int_equal(little_item(&l, "slow"), 0);
    assert_int_equal(little_item(&l, "inside"), 0);
    assert_int_equal(little_item(&l, "off::never"), 0);
    assert_int_equal(little_item(&l, "S::slow_too"), 0);
    assert_int_equal(little_item(&l, "S::tested"), 0);
    assert_int_not_equal(little_item(&l, "chosen::found"), 0);
    item = little_item(&l, "fast::go");
    assert_int_not_equal(item, 0);
    assert_int_equal(l.program.items.at[item].cfg, 1);
    assert_int_equal(l.program.items.at[item].cfg_predicates.count, 2);
    assert_true(str_starts_with(l.program.items.at[item].cfg_predicates.at[0], CG_LIT("all")));
    assert_true(
        str_equal(l.program.items.at[item].cfg_predicates.at[1], CG_LIT("feature = \"fast\"")));
    item = little_item(&l, "perhaps");
    assert_int_not_equal(item, 0);
    assert_int_equal(l.program.items.at[item].cfg, 0);
    little_end(&l);
}

static void what_cannot_be_read_is_a_fault_and_the_rest_is_kept(void **state)
{
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "mod missing;\nmod broken;\nmod odd;\n"
                 "#[path = \"lib.rs\"] mod myself;\ninclude!(\"nowhere.rs\");\n"
                 "pub fn kept() {}\n");
    little_write(&l, "src/broken.rs", "pub fn before() {}\nfn ) ( {{{\npub fn after() {}\n");
    little_write(&l, "src/odd/mod.rs/keep", ""); /* a directory where a file should be */
    little_load(&l, "");
    assert_int_equal(count_faults(&l, "module `missing`"), 1);
    assert_int_equal(count_faults(&l, "module `myself`"), 1);
    assert_int_equal(count_faults(&l, "nowhere.rs"), 1);
    assert_true(count_faults(&l, "not understood") >= 1);
    assert_int_equal(count_faults(&l, "is a folder, not a file of Rust"), 1);
    assert_int_not_equal(little_item(&l, "kept"), 0);
    assert_int_not_equal(little_item(&l, "broken::before"), 0);
    for (size_t i = 0; i < l.program.faults.count; i++)
        assert_string_equal(l.program.faults.at[i].rule, "source-load");
    little_end(&l);
}

static void bounds_that_begin_with_a_lifetime_are_a_minor_fault(void **state)
{
    unsigned minor = 0;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "pub struct S { hooks: Vec<Box<dyn 'static + Fn(u8) -> u8>> }\n"
                 "pub fn pick<'a>(f: &'a (dyn 'a + Fn(u8) -> u8)) -> u8 { f(1) }\n"
                 "pub fn kept() {}\n"
                 "pub fn broken() { let x = dyn ' ; }\n");
    little_load(&l, "");
    for (size_t i = 0; i < l.program.faults.count; i++)
        minor += l.program.faults.at[i].is_minor;
    assert_int_equal(minor, 2);
    assert_true(l.program.faults.count > 2);
    assert_int_not_equal(little_item(&l, "S"), 0);
    assert_int_not_equal(little_item(&l, "pick"), 0);
    assert_int_not_equal(little_item(&l, "kept"), 0);
    little_end(&l);
}

static void bytes_that_are_no_utf8_do_not_get_further(void **state)
{
    item_ref item;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs", "fn a() {} // \xff\nfn f(x: T\xc3) {}\nfn kept() {}\n");
    little_load(&l, "");
    assert_int_equal(count_faults(&l, "no UTF-8 at byte 13"), 1);
    item = little_item(&l, "kept");
    assert_int_not_equal(item, 0);
    assert_int_equal(str_utf8_error(l.program.files.at[l.program.items.at[item].file]->source.text),
                     SIZE_MAX);
    little_end(&l);
}

static void a_file_is_read_once_and_every_look_is_remembered(void **state)
{
    const program_input *input;
    unsigned count = 0;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "mod a;\n#[path = \"a/mod.rs\"] mod again;\ninclude!(\"part.rs\");\n");
    little_write(&l, "src/a/mod.rs", "pub fn f() {}\n");
    little_write(&l, "src/part.rs", "pub fn included() {}\n");
    little_load(&l, "");
    assert_int_not_equal(little_item(&l, "a::f"), 0);
    assert_int_not_equal(little_item(&l, "again::f"), 0);
    assert_int_not_equal(little_item(&l, "included"), 0);
    for (size_t i = 0; i < l.program.inputs.count; i++)
        count += str_ends_with(l.program.inputs.at[i].path, CG_LIT("a/mod.rs"));
    assert_int_equal(count, 1);
    input = find_input(&l, "src/a.rs");
    assert_non_null(input);
    assert_int_equal(input->kind, INPUT_MISSING);
    input = find_input(&l, "src/lib.rs");
    assert_non_null(input);
    assert_int_equal(input->kind, INPUT_FILE);
    assert_true(str_equal(l.program.files.at[1]->source.path, CG_LIT("src/lib.rs")));
    little_end(&l);
}

static void macros_of_the_crate_make_items(void **state)
{
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "#[macro_use] mod macros;\n"
                 "build!(First);\n"
                 "struct Own;\n"
                 "impl Own { method!(by_macro); }\n"
                 "mod inner { twice!(Second); }\n"
                 "macro_rules! endless { () => { endless!(); } }\nendless!();\n");
    little_write(&l, "src/macros.rs",
                 "macro_rules! build { ($name:ident) => { pub struct $name; impl $name {\n"
                 "  pub fn new() -> Self { $name } } } }\n"
                 "macro_rules! method { ($name:ident) => { fn $name(&self) -> usize { 1 } } }\n"
                 "macro_rules! twice { ($name:ident) => { build!($name); } }\n");
    little_load(&l, "");
    assert_int_not_equal(little_item(&l, "First"), 0);
    assert_int_not_equal(little_item(&l, "First::new"), 0);
    assert_int_not_equal(little_item(&l, "Own::by_macro"), 0);
    assert_int_not_equal(little_item(&l, "inner::Second::new"), 0);
    little_end(&l);
}

static void other_targets_see_the_library_as_a_crate(void **state)
{
    static const little_want wants[] = {
        {"from_bin", "fn a_b::make"},
        {"own", "fn part::here"},
    };
    char manifest[1024];
    little l;

    (void)state;
    little_begin(&l);
    snprintf(manifest, sizeof manifest, "%s",
             "[package]\nname = \"a-b\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
             "[[bin]]\nname = \"tool\"\npath = \"src/bin/tool.rs\"\n"
             "[lib]\npath = \"src/lib.rs\"\n");
    little_write(&l, "Cargo.toml", manifest);
    little_write(&l, "src/lib.rs", "pub fn make() {}\n");
    little_write(&l, "src/bin/tool.rs",
                 "mod part;\nfn main() {}\nfn from_bin() { a_b::make() }\n"
                 "fn own() { part::here() }\n");
    little_write(&l, "src/bin/part.rs", "pub fn here() {}\n");
    {
        cargo_options options = {.cargo_target = CG_LIT("tool")};

        assert_int_equal(
            cargo_graph_open(&l.env, &l.heap, str_from(l.root), &options, &l.cargo, NULL), CG_OK);
        assert_int_equal(program_load(&l.env, &l.heap, l.cargo, &l.program, NULL), CG_OK);
        assert_int_equal(types_new(&l.program, &l.types, NULL), CG_OK);
        l.is_loaded = true;
    }
    assert_true(str_equal(program_text(&l.program, l.program.crates.at[l.program.scanned].name),
                          CG_LIT("tool")));
    LITTLE_EXPECT(&l, little_call, wants);
    little_end(&l);
}

static void a_directory_without_manifest_is_searched(void **state)
{
    static const little_want wants[] = {
        {"by_mod", "fn layers::make"},
        {"by_path", "fn picture_impl::see"},
        {"by_candle", "extern candle_core::Tensor::zeros"},
        {"by_unknown", "extern somebody::thing"},
        {"tools::deep::here", "fn layers::make"},
    };
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "src/lib.rs",
                 "mod layers;\n#[path = \"picture_impl.rs\"] mod picture;\n"
                 "use candle::Tensor;\nuse somebody::thing;\n"
                 "#[cfg(feature = \"x\")] fn undecided() {}\n"
                 "fn by_mod() { layers::make() }\nfn by_path() { picture::see() }\n"
                 "fn by_candle() { Tensor::zeros() }\nfn by_unknown() { thing() }\n");
    little_write(&l, "src/layers/mod.rs", "pub fn make() {}\n");
    little_write(&l, "src/picture_impl.rs", "pub fn see() {}\n");
    little_write(&l, "tools/deep.rs", "fn here() { crate::layers::make() }\n");
    little_write(&l, "target/debug/made.rs", "fn never() {}\n");
    little_write(&l, ".hidden/x.rs", "fn never() {}\n");
    little_load(&l, "");
    assert_int_equal(l.program.scanned, 1);
    assert_int_equal(l.program.files.count, 5);
    assert_int_equal(l.program.faults.count, 0);
    LITTLE_EXPECT(&l, little_call, wants);
    assert_int_equal(l.program.items.at[little_item(&l, "undecided")].cfg, 0);
    assert_non_null(find_input(&l, "/src/layers"));
    assert_int_equal(find_input(&l, "/src/layers")->kind, INPUT_DIRECTORY);
    little_end(&l);
}

static void nesting_costs_no_stack(void **state)
{
    enum { DEPTH = 20000 };
    char *text = malloc(DEPTH * 32);
    size_t len = 0;
    little l;

    (void)state;
    assert_non_null(text);
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    for (unsigned i = 0; i < DEPTH; i++)
        len += (size_t)sprintf(text + len, "mod m { ");
    len += (size_t)sprintf(text + len, "fn leaf() {}");
    for (unsigned i = 0; i < DEPTH; i++)
        text[len++] = '}';
    text[len] = '\0';
    little_write(&l, "src/lib.rs", text);
    little_load(&l, "");
    assert_true(l.program.modules.count > DEPTH);
    little_end(&l);

    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    len = 0;
    for (unsigned i = 0; i < DEPTH / 4; i++)
        len += (size_t)sprintf(text + len, "fn f() { use x%u; ", i % 7);
    for (unsigned i = 0; i < DEPTH / 4; i++)
        text[len++] = '}';
    text[len] = '\0';
    little_write(&l, "src/lib.rs", text);
    little_load(&l, "");
    little_end(&l);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_item_is_collected),
        cmocka_unit_test(what_is_not_built_is_left_out),
        cmocka_unit_test(what_cannot_be_read_is_a_fault_and_the_rest_is_kept),
        cmocka_unit_test(bounds_that_begin_with_a_lifetime_are_a_minor_fault),
        cmocka_unit_test(bytes_that_are_no_utf8_do_not_get_further),
        cmocka_unit_test(a_file_is_read_once_and_every_look_is_remembered),
        cmocka_unit_test(macros_of_the_crate_make_items),
        cmocka_unit_test(other_targets_see_the_library_as_a_crate),
        cmocka_unit_test(a_directory_without_manifest_is_searched),
        cmocka_unit_test(nesting_costs_no_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
