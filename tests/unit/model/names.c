#include "unit/model/little.h"

static void paths_are_followed_to_their_definition(void **state)
{
    static const little_want wants[] = {
        {"plain", "fn layers::linear"},
        {"by_alias", "fn layers::linear_no_bias"},
        {"by_module_alias", "fn layers::linear"},
        {"by_crate", "fn layers::deep::make"},
        {"inner::by_super", "fn layers::linear"},
        {"inner::by_self", "fn inner::own"},
        {"inner::more::by_two_supers", "fn layers::linear"},
        {"inner::more::shadows", "fn inner::more::linear"},
        {"by_reexport", "fn layers::deep::make"},
        {"by_reexport_chain", "fn layers::deep::make"},
        {"by_reexported_module", "fn layers::deep::make"},
        {"by_glob", "fn layers::deep::only_here"},
        {"by_glob_of_glob", "fn layers::deep::only_here"},
        {"globs_lose_to_items", "fn globbed::make"},
        {"through_a_cycle", "fn cycle_a::here"},
        {"nothing_in_a_cycle", "none"},
        {"variant", "variant layers::Kind::Small"},
        {"variant_by_glob", "variant layers::Kind::Large"},
        {"method", "fn layers::Block::new"},
        {"method_by_type_alias", "fn layers::Block::new"},
        {"method_by_renamed_type", "fn layers::Block::new"},
        {"tuple_struct", "struct layers::Pair"},
        {"own_use", "fn layers::deep::make"},
        {"own_item", "fn local"},
        {"own_item_wins", "fn linear"},
        {"in_path_attribute", "fn moved::place"},
        {"in_file_below_inline", "fn outer::nested::leaf"},
        {"raw", "fn type::build"},
    };
    char text[256];
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(
        &l, "src/lib.rs",
        "mod layers;\n"
        "#[path = \"elsewhere/file.rs\"]\nmod moved;\n"
        "mod outer { pub mod nested; }\n"
        "mod r#type;\n"
        "use layers::{self, linear_no_bias as lnb, Block, Kind, deep as d};\n"
        "use layers as ly;\n"
        "use crate::layers::{Block as Stage, linear};\n"
        "pub use layers::deep::make as remade;\n"
        "mod again { pub use crate::remade as twice; pub use crate::layers::deep as dd; }\n"
        "mod globbed { pub use crate::layers::deep::*; pub fn make() {} }\n"
        "mod globbed_twice { pub use super::globbed::*; }\n"
        "mod cycle_a { pub use super::cycle_b::*; pub fn here() {} }\n"
        "mod cycle_b { pub use super::cycle_a::*; }\n"
        "type Layer = layers::Block;\n"
        "fn plain() { linear(1) }\n"
        "fn by_alias() { lnb(1) }\n"
        "fn by_module_alias() { ly::linear(1) }\n"
        "fn by_crate() { crate::layers::deep::make() }\n"
        "mod inner {\n"
        "  fn own() {}\n"
        "  fn by_super() { super::layers::linear(1) }\n"
        "  fn by_self() { self::own() }\n"
        "  mod more {\n"
        "    use super::super::*;\n"
        "    fn linear() {}\n"
        "    fn by_two_supers() { super::super::ly::linear() }\n"
        "    fn shadows() { linear() }\n"
        "  }\n}\n"
        "fn by_reexport() { remade() }\n"
        "fn by_reexport_chain() { again::twice() }\n"
        "fn by_reexported_module() { again::dd::make() }\n"
        "fn by_glob() { globbed::only_here() }\n"
        "fn by_glob_of_glob() { globbed_twice::only_here() }\n"
        "fn globs_lose_to_items() { globbed_twice::make() }\n"
        "fn through_a_cycle() { cycle_b::here() }\n"
        "fn nothing_in_a_cycle() { cycle_b::there() }\n"
        "fn variant() { Kind::Small(1) }\n"
        "fn variant_by_glob() { use Kind::*; Large(1) }\n"
        "fn method() { Block::new(1) }\n"
        "fn method_by_type_alias() { Layer::new(1) }\n"
        "fn method_by_renamed_type() { Stage::new(1) }\n"
        "fn tuple_struct() { layers::Pair(1, 2) }\n"
        "fn own_use() { use d::make; make() }\n"
        "fn own_item() { local(); fn local() {} }\n"
        "fn own_item_wins() { fn linear(_: u8) {} linear(1) }\n"
        "fn in_path_attribute() { moved::place() }\n"
        "fn in_file_below_inline() { outer::nested::leaf() }\n"
        "fn raw() { r#type::build() }\n");
    little_write(&l, "src/layers.rs",
                 "pub mod deep;\n"
                 "pub fn linear(n: usize) {}\n"
                 "pub fn linear_no_bias(n: usize) {}\n"
                 "pub struct Block { n: usize }\n"
                 "pub struct Pair(usize, usize);\n"
                 "impl Block { pub fn new(n: usize) -> Self { Self { n } } }\n"
                 "pub enum Kind { Small(usize), Large(usize) }\n");
    little_write(&l, "src/layers/deep.rs", "pub fn make() {}\npub fn only_here() {}\n");
    little_write(&l, "src/elsewhere/file.rs", "pub fn place() {}\n");
    little_write(&l, "src/outer/nested.rs", "pub fn leaf() {}\n");
    little_write(&l, "src/type.rs", "pub fn build() {}\n");
    little_load(&l, "");
    assert_int_equal(l.program.faults.count, 0);
    LITTLE_EXPECT(&l, little_call, wants);
    little_call(&l, "nobody", text);
    assert_string_equal(text, "no such probe");
    little_end(&l);
}

static void libraries_have_one_name_for_each_thing(void **state)
{
    static const little_want wants[] = {
        {"renamed", "extern candle_core::Tensor::zeros"},
        {"by_module", "extern candle_core::Tensor::zeros"},
        {"by_function", "extern candle_nn::linear"},
        {"by_function_of_module", "extern candle_nn::linear"},
        {"by_alias", "extern candle_nn::linear_b"},
        {"by_crate_alias", "extern candle_nn::linear"},
        {"by_type", "extern candle_nn::Linear::new"},
        {"builder", "extern candle_nn::VarBuilder::zeros"},
        {"not_reexported", "extern candle_nn::var_builder::VarBuilderArgs::new"},
        {"trait_where_it_is_defined", "extern candle_core::Module::forward"},
        {"by_glob", "extern candle_nn::layer_norm"},
        {"by_glob_of_ops", "extern candle_nn::ops::softmax_last_dim"},
        {"standard", "extern std::collections::HashMap::new"},
        {"core", "extern std::mem::swap"},
        {"prelude_type", "extern std::vec::Vec::new"},
        {"prelude_variant", "extern std::option::Option::Some"},
        {"prelude_result", "extern std::result::Result::Ok"},
        {"global", "extern anyhow::Error::msg"},
        {"by_type_alias", "extern candle_nn::LayerNorm::new"},
        {"primitive", "extern usize::from"},
        {"from_the_reexporting_module", "extern candle_nn::conv2d"},
    };
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "use candle::{Tensor, Module};\n"
                 "use candle_nn::{linear, linear_b as lin, Linear, VarBuilder};\n"
                 "use std::collections::HashMap;\n"
                 "pub use candle_nn as nn;\n"
                 "mod facade { pub use candle::{self, Result}; pub use crate::nn::*; }\n"
                 "mod globs { use candle_nn::*; fn by_glob() { layer_norm(1) } }\n"
                 "mod ops { use candle_nn::ops::*; fn by_glob() { softmax_last_dim(1) } }\n"
                 "type Norm = nn::LayerNorm;\n"
                 "fn renamed() { Tensor::zeros(1) }\n"
                 "fn by_module() { candle::tensor::Tensor::zeros(1) }\n"
                 "fn by_function() { linear(1) }\n"
                 "fn by_function_of_module() { candle_nn::linear::linear(1) }\n"
                 "fn by_alias() { lin(1) }\n"
                 "fn by_crate_alias() { nn::linear(1) }\n"
                 "fn by_type() { linear::Linear::new(1) }\n"
                 "fn builder() { VarBuilder::zeros(1) }\n"
                 "fn not_reexported() { candle_nn::var_builder::VarBuilderArgs::new(1) }\n"
                 "fn trait_where_it_is_defined() { nn::Module::forward(1) }\n"
                 "fn by_glob() { facade::layer_norm(1) }\n"
                 "fn by_glob_of_ops() { use candle_nn::ops::*; softmax_last_dim(1) }\n"
                 "fn standard() { HashMap::new() }\n"
                 "fn core() { ::core::mem::swap(1) }\n"
                 "fn prelude_type() { Vec::<u8>::new() }\n"
                 "fn prelude_variant() { Some(1) }\n"
                 "fn prelude_result() { Ok(1) }\n"
                 "fn global() { ::anyhow::Error::msg(1) }\n"
                 "fn by_type_alias() { Norm::new(1) }\n"
                 "fn primitive() { usize::from(1) }\n"
                 "fn from_the_reexporting_module() { facade::conv2d(1) }\n");
    little_load(&l, "");
    LITTLE_EXPECT(&l, little_call, wants);
    little_end(&l);
}

static void dependencies_of_a_workspace_are_followed_into_their_files(void **state)
{
    static const little_want wants[] = {
        {"direct", "fn helper_lib::make"},
        {"renamed", "fn helper_lib::make"},
        {"in_a_file", "fn helper_lib::deep::build"},
        {"reexported", "fn helper_lib::deep::build"},
        {"of_the_dependency", "extern candle_nn::linear"},
        {"its_own_names", "fn helper_lib::deep::Block::new"},
        {"outside", "extern unknown_thing::go"},
    };
    bool has_read_deep = false;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", "[workspace]\nmembers = [\"app\", \"helper\"]\n");
    little_write(&l, "app/Cargo.toml",
                 "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
                 "[dependencies]\nh = { package = \"helper-lib\", path = \"../helper\" }\n"
                 "unknown-thing = \"3\"\n");
    little_write(&l, "helper/Cargo.toml",
                 "[package]\nname = \"helper-lib\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
                 "[dependencies]\ncandle = { package = \"candle-core\", version = \"0.9\" }\n"
                 "candle-nn = \"0.9\"\n");
    little_write(&l, "app/src/lib.rs",
                 "use h::make as mk;\n"
                 "use h::{nn, remade, Block};\n"
                 "fn direct() { h::make() }\n"
                 "fn renamed() { mk() }\n"
                 "fn in_a_file() { h::deep::build() }\n"
                 "fn reexported() { remade() }\n"
                 "fn of_the_dependency() { nn::linear() }\n"
                 "fn its_own_names() { Block::new() }\n"
                 "fn outside() { unknown_thing::go() }\n");
    little_write(&l, "helper/src/lib.rs",
                 "pub mod deep;\npub mod unused;\n"
                 "pub use candle_nn as nn;\n"
                 "pub use deep::build as remade;\n"
                 "pub use deep::Block;\n"
                 "pub fn make() {}\n");
    little_write(&l, "helper/src/deep.rs", "mod imp;\npub fn build() {}\npub struct Block;\n");
    little_write(&l, "helper/src/deep/imp.rs", "impl super::Block { pub fn new() {} }\n");
    little_write(&l, "helper/src/unused.rs", "pub fn never() {}\n");
    little_load(&l, "app");
    assert_int_equal(l.program.files.count, 2);
    LITTLE_EXPECT(&l, little_call, wants);
    for (file_ref i = 1; i < l.program.files.count; i++) {
        assert_false(str_ends_with(l.program.files.at[i]->full_path, CG_LIT("unused.rs")));
        has_read_deep |= str_ends_with(l.program.files.at[i]->full_path, CG_LIT("deep.rs"));
    }
    assert_true(has_read_deep);
    little_end(&l);
}

static void alternatives_are_chosen_by_cfg(void **state)
{
    static const little_want wants[] = {
        {"by_feature", "fn with::go"},
        {"by_import", "fn with::go"},
        {"tests_are_not_built", "none"},
    };
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml",
                 LITTLE_MANIFEST "[features]\ndefault = [\"fast\"]\nfast = []\nslow = []\n");
    little_write(&l, "src/lib.rs",
                 "mod with { pub fn go() {} }\nmod without { pub fn go() {} }\n"
                 "#[cfg(not(feature = \"fast\"))]\nuse without::go;\n"
                 "#[cfg(feature = \"fast\")]\nuse with::go;\n"
                 "#[cfg(feature = \"slow\")]\nuse without as which;\n"
                 "#[cfg(all(feature = \"fast\", not(feature = \"slow\")))]\nuse with as which;\n"
                 "#[cfg(test)]\nmod tests { pub fn helper() {} }\n"
                 "fn by_feature() { go() }\n"
                 "fn by_import() { which::go() }\n"
                 "fn tests_are_not_built() { tests::helper() }\n");
    little_load(&l, "");
    LITTLE_EXPECT(&l, little_call, wants);
    little_end(&l);
}

static void edition_2015_begins_at_the_root(void **state)
{
    static const little_want wants[] = {
        {"inner::by_use", "fn top::make"},
        {"inner::by_global_path", "fn top::make"},
        {"inner::by_extern_crate", "extern candle_nn::linear"},
    };
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml",
                 "[package]\nname = \"a\"\nversion = \"0.1.0\"\n[dependencies]\n"
                 "candle-nn = \"0.9\"\n");
    little_write(&l, "src/lib.rs",
                 "extern crate candle_nn as nn;\nmod top { pub fn make() {} }\n"
                 "mod inner {\n  use top::make as mk;\n  use nn::linear;\n"
                 "  fn by_use() { mk() }\n  fn by_global_path() { ::top::make() }\n"
                 "  fn by_extern_crate() { linear() }\n}\n");
    little_load(&l, "");
    LITTLE_EXPECT(&l, little_call, wants);
    little_end(&l);
}

static void what_a_public_path_leads_to_is_reachable(void **state)
{
    static const struct {
        const char *item;
        bool is_reachable;
    } wants[] = {
        {"open", true},
        {"closed", false},
        {"hidden::shown", true},
        {"hidden::Shown", true},
        {"hidden::Shown::new", true},
        {"hidden::Shown::own", false},
        {"hidden::unseen", false},
        {"hidden::globbed::inside", true},
        {"public::inside", true},
        {"public::private::inside", false},
        {"public::Kind::One", true},
        {"hidden::Trait::given", true},
    };
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "pub fn open() {}\nfn closed() {}\n"
                 "mod hidden {\n  pub fn shown() {}\n  pub fn unseen() {}\n"
                 "  pub struct Shown;\n  impl Shown { pub fn new() {} fn own() {} }\n"
                 "  pub mod globbed { pub fn inside() {} }\n"
                 "  pub trait Trait { fn given() {} }\n}\n"
                 "pub use hidden::{shown, Shown as Renamed, Trait};\npub use hidden::globbed::*;\n"
                 "pub mod public { pub fn inside() {} mod private { pub fn inside() {} }\n"
                 "  pub enum Kind { One } }\n");
    little_load(&l, "");
    for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
        item_ref item = little_item(&l, wants[i].item);
        bool is_reachable;

        assert_int_not_equal(item, 0);
        assert_int_equal(names_is_reachable(&l.program, item, &is_reachable, NULL), CG_OK);
        if (is_reachable != wants[i].is_reachable)
            fail_msg("%s: reachable is %d", wants[i].item, is_reachable);
    }
    little_end(&l);
}

static bool count_lost(void *context, file_ref file, ast_ref node, cg_str path, bool is_found)
{
    (void)file;
    (void)node;
    (void)path;
    *(unsigned *)context += !is_found;
    return true;
}

static void hostile_imports_end(void **state)
{
    static char text[1 << 17];
    unsigned lost = 0;
    size_t len = 0;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    /* modules that all glob each other, a long chain, an import of itself, deep lists */
    for (unsigned i = 0; i < 60; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "mod m%u { ", i);
        for (unsigned k = 0; k < 60; k++)
            len += (size_t)snprintf(text + len, sizeof text - len, "pub use super::m%u::*; ", k);
        len += (size_t)snprintf(text + len, sizeof text - len, "}\n");
    }
    len += (size_t)snprintf(text + len, sizeof text - len, "use m0::nowhere;\nuse me as me;\n");
    text[len] = '\0';
    little_write(&l, "src/lib.rs", text);
    little_load(&l, "");
    assert_int_equal(names_visit_imports(&l.program, count_lost, &lost, NULL), CG_OK);
    assert_int_equal(lost, 2);
    little_end(&l);

    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    len = (size_t)snprintf(text, sizeof text, "use c0 as c1;\n");
    for (unsigned i = 1; i < 3000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "use c%u as c%u;\n", i, i + 1);
    len += (size_t)snprintf(text + len, sizeof text - len, "use c3000::x;\nmod c0 {}\nuse ");
    for (unsigned i = 0; i < 2000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "{std::");
    len += (size_t)snprintf(text + len, sizeof text - len, "a");
    for (unsigned i = 0; i < 2000; i++)
        text[len++] = '}';
    text[len++] = ';';
    text[len] = '\0';
    little_write(&l, "src/lib.rs", text);
    little_load(&l, "");
    assert_int_equal(names_visit_imports(&l.program, count_lost, &lost, NULL), CG_OK);
    little_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_followed_to_their_definition),
        cmocka_unit_test(libraries_have_one_name_for_each_thing),
        cmocka_unit_test(dependencies_of_a_workspace_are_followed_into_their_files),
        cmocka_unit_test(alternatives_are_chosen_by_cfg),
        cmocka_unit_test(edition_2015_begins_at_the_root),
        cmocka_unit_test(what_a_public_path_leads_to_is_reachable),
        cmocka_unit_test(hostile_imports_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
