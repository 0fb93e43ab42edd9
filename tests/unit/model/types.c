#include "unit/model/little.h"
#include "unit/base/failing.h"

static void types_are_printed_as_they_resolve(void **state)
{
    static const little_want wants[] = {
        {"by_reference", "candle_core::Tensor"},
        {"by_alias", "Vec<layers::Block>"},
        {"by_generic_alias", "Result<Option<layers::Block>, candle_core::Error>"},
        {"by_import", "layers::Block"},
        {"of_module", "candle_nn::Linear"},
        {"boxed", "Box<dyn layers::Build>"},
        {"boxed_closure", "Box<fn(candle_core::Tensor, usize) -> Result<u8, anyhow::Error>>"},
        {"closure", "fn(usize) -> ()"},
        {"hidden", "dyn candle_core::Module"},
        {"hidden_and_more", "dyn candle_core::Module"},
        {"tuple", "(usize, f32)"},
        {"one_tuple", "(usize,)"},
        {"parenthesized", "usize"},
        {"unit", "()"},
        {"array", "[layers::Block]"},
        {"slice", "[str]"},
        {"generic", "layers::Pair<usize, _>"},
        {"generic_default", "layers::Pair<usize, f32>"},
        {"parameter", "T"},
        {"of_parameter", "T::Output"},
        {"layers::Block::own", "layers::Block"},
        {"layers::Block::associated", "Vec<u8>"},
        {"layers::Holder::own", "layers::Holder<T>"},
        {"projected", "Vec<u8>"},
        {"iterator", "dyn Iterator<layers::Block>"},
        {"function_pointer", "fn(usize) -> usize"},
        {"unknown", "_"},
        {"bomb", "_"},
    };
    char text[256];
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(
        &l, "src/lib.rs",
        "mod layers;\nuse layers::*;\nuse candle::{Module, Tensor};\n"
        "type Many = Vec<Block>;\n"
        "type Res<T, E = candle::Error> = std::result::Result<T, E>;\n"
        "type Loop = Pair<Loop, Loop>;\n"
        "fn by_reference(x: &mut &Tensor) {}\n"
        "fn by_alias(x: Many) {}\n"
        "fn by_generic_alias(x: Res<Option<Block>>) {}\n"
        "fn by_import(x: Block) {}\n"
        "fn of_module(x: candle_nn::linear::Linear) {}\n"
        "fn boxed(x: Box<dyn Build + Send>) {}\n"
        "fn boxed_closure(x: Box<dyn Fn(&Tensor, usize) -> Result<u8, anyhow::Error> + Send>) {}\n"
        "fn closure(x: impl FnMut(usize)) {}\n"
        "fn hidden(x: impl Module) {}\n"
        "fn hidden_and_more(x: &(impl Send + candle_nn::Module + 'static)) {}\n"
        "fn tuple(x: (usize, f32)) {}\nfn one_tuple(x: (usize,)) {}\n"
        "fn parenthesized(x: (usize)) {}\nfn unit(x: ()) {}\n"
        "fn array(x: [Block; 3]) {}\nfn slice(x: &[&str]) {}\n"
        "fn generic(x: Pair<usize, 3>) {}\nfn generic_default(x: layers::Pair<usize>) {}\n"
        "fn parameter<T>(x: T) {}\nfn of_parameter<T: Build>(x: T::Output) {}\n"
        "fn projected(x: <Block as Build>::Output) {}\n"
        "fn iterator(x: impl Iterator<Item = Block>) {}\n"
        "fn function_pointer(x: fn(usize) -> usize) {}\n"
        "fn unknown(x: NotThere) {}\n"
        "fn bomb(x: Loop) {}\n");
    little_write(
        &l, "src/layers.rs",
        "pub struct Block { pub n: usize }\n"
        "pub struct Pair<A, B = f32> { pub a: A, pub b: B }\n"
        "pub struct Holder<T> { pub t: T }\n"
        "pub trait Build { type Output; fn build(&self) -> Self::Output; }\n"
        "impl Build for Block { type Output = Vec<u8>;\n"
        "  fn build(&self) -> Self::Output { vec![] } }\n"
        "impl Block { fn own(x: Self) {}\n  fn associated(x: <Self as Build>::Output) {} }\n"
        "impl<T> Holder<T> { fn own(x: Self) {} }\n");
    little_load(&l, "");
    for (size_t i = 0; i + 1 < sizeof wants / sizeof wants[0]; i++) {
        little_parameter(&l, wants[i].probe, text);
        if (strcmp(text, wants[i].meaning) != 0)
            fail_msg("%s: `%s`, expected `%s`", wants[i].probe, text, wants[i].meaning);
    }
    little_parameter(&l, "bomb", text); /* ends */
    little_end(&l);
}

static void calls_lead_to_the_function_that_is_meant(void **state)
{
    static const little_want wants[] = {
        {"inherent", "fn Block::new"},
        {"by_trait", "fn Block::build"},
        {"qualified", "fn Other::build"},
        {"default_of_trait", "fn Build::given"},
        {"default_of_supertrait", "fn Base::below"},
        {"by_parameter", "fn Build::build"},
        {"by_where", "fn Base::below"},
        {"by_qualified_parameter", "fn Build::build"},
        {"by_trait_itself", "fn Build::build"},
        {"on_a_library_type", "fn candle_nn::Linear::extra"},
        {"module_of_own_type", "fn Block::forward"},
        {"blanket", "fn T::blanketed"},
        {"no_blanket", "struct Pair +1"},
        {"generic_by_argument", "fn Pair::of_f32"},
        {"associated", "fn Other::new"},
        {"constant", "fn Block::new"},
        {"Block::by_self", "fn Block::new"},
        {"Block::by_self_trait", "fn Block::build"},
        {"Pair::self_is_a_function", "struct Pair"},
        {"boxed", "fn Other::new"},
    };
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(
        &l, "src/lib.rs",
        "use candle_nn::{Linear, Module};\n"
        "struct Block { n: usize }\nstruct Other;\nstruct Pair<A>(A);\n"
        "trait Base { fn below() -> usize { 1 } }\n"
        "trait Build: Base { type Part; fn build() -> usize; fn given() -> usize { 1 } }\n"
        "trait Extra { fn extra(); }\ntrait Blanket { fn blanketed(); }\n"
        "impl Block { const N: usize = 1; fn new() {}\n  fn by_self() { Self::new() }\n"
        "  fn by_self_trait() { <Self as Build>::build() } }\n"
        "impl Other { fn new() {} }\n"
        "impl Base for Block {}\nimpl Base for Other { fn below() -> usize { 2 } }\n"
        "impl Build for Block { type Part = Other; fn build() -> usize { 1 } }\n"
        "impl Build for Other { type Part = Block; fn build() -> usize { 2 } }\n"
        "impl Extra for Linear { fn extra() {} }\n"
        "impl Module for Block { fn forward(&self) {} }\n"
        "impl<T: Build> Blanket for T { fn blanketed() {} }\n"
        "impl Pair<f32> { fn of_f32() {} }\nimpl Pair<u8> { fn of_u8() {} }\n"
        "impl<A> Pair<A> { fn self_is_a_function(a: A) -> Self { Self(a) } }\n"
        "type Short = Block;\n"
        "fn inherent() { Block::new() }\nfn by_trait() { Short::build() }\n"
        "fn qualified() { <Other as Build>::build() }\n"
        "fn default_of_trait() { Block::given() }\n"
        "fn default_of_supertrait() { Block::below() }\n"
        "fn by_parameter<T: Build>() { T::build() }\n"
        "fn by_where<T>() where T: Build { T::below() }\n"
        "fn by_qualified_parameter<T: Build>() { <T as Build>::build() }\n"
        "fn by_trait_itself() { Build::build() }\n"
        "fn on_a_library_type() { Linear::extra() }\n"
        "fn module_of_own_type() { Block::forward(1) }\n"
        "fn blanket() { Block::blanketed() }\nfn no_blanket() { Pair::<u8>::blanketed() }\n"
        "fn generic_by_argument() { Pair::<f32>::of_f32() }\n"
        "fn associated() { <Block as Build>::Part::new() }\n"
        "fn constant() { <Short>::new() }\n"
        "fn boxed() { <Box<Other>>::new() }\n");
    little_load(&l, "");
    LITTLE_EXPECT(&l, little_call, wants);
    little_end(&l);
}

static void fields_have_their_arguments_substituted(void **state)
{
    static const struct {
        const char *probe;
        const char *field;
        const char *type;
    } wants[] = {
        {"pair", "a", "usize"},  {"pair", "list", "Vec<Block>"},
        {"tuple", "0", "Block"}, {"tuple", "1", "[u8]"},
        {"tuple", "2", "_"},     {"hidden", "on", "u8"},
        {"hidden", "off", "_"},
    };
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "struct Block;\nstruct Pair<A, B> { a: A, list: Vec<B> }\n"
                 "struct Tuple<T>(T, #[allow(dead_code)] pub [u8; 3]);\n"
                 "struct Hidden { #[cfg(unix)] on: u8, #[cfg(not(unix))] off: u8 }\n"
                 "fn pair(x: Pair<usize, Block>) {}\nfn tuple(x: Tuple<Block>) {}\n"
                 "fn hidden(x: Hidden) {}\n");
    little_load(&l, "");
    for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
        program_item item = l.program.items.at[little_item(&l, wants[i].probe)];
        const ast *tree = program_tree(&l.program, item.file);
        ast_ref parameter =
            ast_child_kind(tree, ast_child(tree, item.node, ROLE_PARAMETERS), AST_PARAMETER);
        type_ref owner;
        type_ref field;
        cg_str text;

        assert_int_equal(type_lower(l.types, item.module, item.file,
                                    ast_child(tree, parameter, ROLE_TYPE), NULL, &owner, NULL),
                         CG_OK);
        assert_int_equal(type_field(l.types, owner,
                                    intern_add(&l.program.names, str_from(wants[i].field)), &field,
                                    NULL),
                         CG_OK);
        assert_true(type_text(l.types, field, &text));
        if (!str_equal(text, str_from(wants[i].type)))
            fail_msg("%s.%s: `%.*s`", wants[i].probe, wants[i].field, (int)text.len, text.ptr);
    }
    little_end(&l);
}

static void impls_are_listed_by_type_and_by_trait(void **state)
{
    const item_ref *at;
    size_t count;
    bool holds;
    type_ref type;
    sym module;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "use candle::Module as M;\nstruct A;\nstruct B;\ntrait T {}\n"
                 "impl A {}\nimpl T for A {}\nimpl M for A {}\nimpl candle_nn::Module for &B {}\n"
                 "fn f() { impl T for B {} }\n");
    little_load(&l, "");
    module = intern_add(&l.program.names, CG_LIT("candle_nn::Module"));
    assert_int_equal(type_impls_for(l.types, little_item(&l, "A"), &at, &count, NULL), CG_OK);
    assert_int_equal(count, 3);
    assert_int_equal(type_impls_for(l.types, little_item(&l, "B"), &at, &count, NULL), CG_OK);
    assert_int_equal(count, 2);
    assert_int_equal(type_impls_of(l.types, little_item(&l, "T"), 0, &at, &count, NULL), CG_OK);
    assert_int_equal(count, 2);
    assert_int_equal(type_impls_of(l.types, 0, module, &at, &count, NULL), CG_OK);
    assert_int_equal(count, 2);
    assert_int_equal(type_of_item(l.types, little_item(&l, "A"), &type, NULL), CG_OK);
    assert_int_equal(type_implements(l.types, type, 0, module, &holds, NULL), CG_OK);
    assert_true(holds);
    little_end(&l);
}

static void alternatives_by_cfg_are_told(void **state)
{
    method_found found;
    type_ref type;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST "[features]\nx = []\n");
    little_write(&l, "build.rs", "fn main() {}\n");
    little_write(&l, "src/lib.rs",
                 "pub struct A;\nimpl A {\n  #[cfg(feature = \"x\")] pub fn one() {}\n"
                 "  #[cfg(not(feature = \"x\"))] pub fn one() {}\n"
                 "  #[cfg(set_by_build_script)] pub fn two() {}\n"
                 "  #[cfg(not(set_by_build_script))] pub fn two() {}\n}\n");
    little_load(&l, "");
    assert_int_equal(type_of_item(l.types, little_item(&l, "A"), &type, NULL), CG_OK);
    assert_int_equal(
        type_find_method(l.types, type, intern_add(&l.program.names, CG_LIT("one")), &found, NULL),
        CG_OK);
    assert_int_not_equal(found.function, 0);
    assert_false(found.is_ambiguous);
    assert_int_equal(
        type_find_method(l.types, type, intern_add(&l.program.names, CG_LIT("two")), &found, NULL),
        CG_OK);
    assert_int_not_equal(found.function, 0);
    assert_true(found.is_ambiguous);
    little_end(&l);
}

static void hostile_types_end(void **state)
{
    static const char *const texts[] = {
        "type A0 = (u8, u8);\ntype A1 = (A0, A0);\ntype A2 = (A1, A1);\ntype A3 = (A2, A2);\n"
        "type A4 = (A3, A3);\ntype A5 = (A4, A4);\ntype A6 = (A5, A5);\ntype A7 = (A6, A6);\n"
        "type A8 = (A7, A7);\ntype A9 = (A8, A8);\ntype B0 = (A9, A9);\ntype B1 = (B0, B0);\n"
        "type B2 = (B1, B1);\ntype B3 = (B2, B2);\ntype B4 = (B3, B3);\ntype B5 = (B4, B4);\n"
        "type B6 = (B5, B5);\ntype B7 = (B6, B6);\nfn f(x: B7) {}\n",
        ("trait T { type X: T; }\nimpl<A: T> T for Vec<A> { type X = <Self as T>::X; }\n"
         "fn f(x: <Vec<Vec<u8>> as T>::X) {}\n"),
        "trait A: B {}\ntrait B: A {}\nfn g<T: A>() { T::nothing() }\nfn f(x: u8) {}\n",
        "impl<T: Q> Q for T {}\ntrait Q { fn q(); }\nstruct S;\nfn f(x: S) { S::zero() }\n",
        "struct S<T>(T);\nimpl<T> S<S<T>> { fn n() { S::<S<S<S<T>>>>::n() } }\nfn f(x: S<u8>) {}\n",
        "type A = B;\ntype B = A;\nfn f(x: A) {}\n",
        "use f::A as A;\nfn f(x: A::A::A<A>) {}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[256];
        little l;

        little_begin(&l);
        little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
        little_write(&l, "src/lib.rs", texts[i]);
        little_load(&l, "");
        little_parameter(&l, "f", text);
        if (little_item(&l, "g") != 0)
            little_call(&l, "g", text);
        little_end(&l);
    }
}

/* Everything asked of a crate, with a heap that refuses the k-th request. */
static cg_code ask_all(little *l, heap *from, cg_err *reterr)
{
    program over;
    types *made = NULL;
    cg_code code = program_load(&l->env, from, l->cargo, &over, reterr);

    if (code != CG_OK)
        return code;
    code = types_new(&over, &made, reterr);
    for (item_ref i = 1; code == CG_OK && i < over.items.count; i++) {
        program_item item = over.items.at[i];
        bool is_reachable;
        path_meaning meaning;
        type_ref type;
        cg_str text;
        ast_ref call = 0;

        code = names_is_reachable(&over, i, &is_reachable, reterr);
        if (code == CG_OK)
            code = type_of_item(made, i, &type, reterr);
        if (code == CG_OK && !type_text(made, type, &text))
            code = CG_NOMEM;
        for (ast_ref at = item.node; call == 0 && at < program_tree(&over, item.file)->nodes.count;
             at++)
            call = ast_kind_of(program_tree(&over, item.file), at) == AST_CALL_EXPRESSION ? at : 0;
        if (code == CG_OK && call != 0)
            code = type_resolve(made, item.module, item.file,
                                ast_child(program_tree(&over, item.file), call, ROLE_FUNCTION),
                                NULL, &meaning, reterr);
    }
    types_free(made);
    program_free(&over);
    return code;
}

static void memory_may_end_anywhere(void **state)
{
    cg_code code = CG_NOMEM;
    little l;

    (void)state;
    little_begin(&l);
    little_write(&l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(&l, "src/lib.rs",
                 "mod a;\nuse a::{T, make as mk, *};\nuse candle::{Module, Tensor};\n"
                 "#[cfg(unix)] pub struct S<A>(A);\nimpl<A> T for S<A> { type O = Vec<A>; }\n"
                 "macro_rules! m { ($n:ident) => { fn $n() { mk() } } }\nm!(made);\n"
                 "fn f<B: T>(x: B::O) { <S<u8> as T>::given(); fn inner() {} }\n");
    little_write(&l, "src/a.rs",
                 "pub trait T { type O; fn given() {} }\npub fn make() {}\npub enum E { X, Y }\n");
    little_load(&l, "");
    for (size_t k = 1; code != CG_OK; k++) {
        failing memory = {.fail_at = k};
        cg_err err = {0};
        heap from;

        heap_init(&from, failing_env(&memory));
        code = ask_all(&l, &from, &err);
        assert_true(code == CG_OK || code == CG_NOMEM);
        assert_int_equal(from.used_bytes, 0);
        assert_int_equal(memory.blocks, 0);
        assert_true(k < 5000);
    }
    little_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_printed_as_they_resolve),
        cmocka_unit_test(calls_lead_to_the_function_that_is_meant),
        cmocka_unit_test(fields_have_their_arguments_substituted),
        cmocka_unit_test(impls_are_listed_by_type_and_by_trait),
        cmocka_unit_test(alternatives_by_cfg_are_told),
        cmocka_unit_test(hostile_types_end),
        cmocka_unit_test(memory_may_end_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
