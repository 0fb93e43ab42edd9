/* ctest-timeout: 300 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "candlegraph/scan.h"
#include "support/tree.h"

#include <cmocka.h>

#define FILES 12

static tree files;
static heap memory;
static cg_env env = {.size = sizeof env};

/* File number `n`; what stands in the body of its constructor, and behind its `forward`. */
static void put_layer(unsigned n, const char *body, const char *behind)
{
    char name[64];
    char text[2000];

    (void)snprintf(name, sizeof name, "c/src/layer%u.rs", n);
    (void)snprintf(text, sizeof text,
                   "use candle_core::{Result, Tensor};\n"
                   "use candle_nn::{Linear, Module, VarBuilder};\n"
                   "pub struct Layer%u { inner: Linear, norm: crate::common::Norm }\n"
                   "impl Layer%u {\n"
                   "    pub fn new(vb: VarBuilder) -> Result<Self> {\n"
                   "        %s\n"
                   "        let inner = candle_nn::linear(4, 4, vb.pp(\"inner\"))?;\n"
                   "        let norm = crate::common::norm(4, vb.pp(\"norm\"))?;\n"
                   "        Ok(Self { inner, norm })\n"
                   "    }\n"
                   "    pub fn forward(&self, xs: &Tensor) -> Result<Tensor> {\n"
                   "        self.norm.scale(&self.inner.forward(xs)?)\n"
                   "    }\n"
                   "}\n"
                   "%s\n",
                   n, n, body, behind);
    tree_write(&files, name, text);
}

static void put_common(const char *key)
{
    char text[1000];

    (void)snprintf(text, sizeof text,
                   "use candle_core::{Result, Tensor};\n"
                   "use candle_nn::VarBuilder;\n"
                   "pub struct Norm { weight: Tensor }\n"
                   "pub fn norm(size: usize, vb: VarBuilder) -> Result<Norm> {\n"
                   "    Ok(Norm { weight: vb.get(size, \"%s\")? })\n"
                   "}\n"
                   "impl Norm {\n"
                   "    pub fn scale(&self, xs: &Tensor) -> Result<Tensor> {\n"
                   "        xs.broadcast_mul(&self.weight)\n"
                   "    }\n"
                   "}\n",
                   key);
    tree_write(&files, "c/src/common.rs", text);
}

static int begin(void **state)
{
    char root[1000] = "pub mod common;\n";

    (void)state;
    tree_make(&files);
    heap_init(&memory, NULL);
    tree_write(&files, "c/Cargo.toml",
               "[package]\nname = \"c\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"
               "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n");
    for (unsigned n = 0; n < FILES; n++) {
        size_t len = strlen(root);

        put_layer(n, "", "");
        (void)snprintf(root + len, sizeof root - len, "pub mod layer%u;\n", n);
    }
    tree_write(&files, "c/src/lib.rs", root);
    put_common("weight");
    return 0;
}

static int end(void **state)
{
    (void)state;
    tree_remove(&files);
    return memory.used_bytes != 0 ? -1 : 0;
}

static cg_code add(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

/* The document, and whether it came from the cache. */
static bool scan_into(bool is_structure, bool is_cached, buf *ret)
{
    cg_scan_facts facts = {.size = sizeof facts};
    cg_scan_request request = {.size = sizeof request};
    cg_format format = {.size = sizeof format, .kind = CG_FORMAT_JSON};
    char path[1200], cache[1200];
    cg_scan *scan = NULL;

    (void)snprintf(path, sizeof path, "%s/c", files.root);
    (void)snprintf(cache, sizeof cache, "%s/cache", files.root);
    request.path = path;
    request.is_structure = is_structure;
    request.cache_directory = is_cached ? cache : NULL;
    assert_int_equal(cg_scan_open(&env, &request, &scan, NULL), CG_OK);
    cg_scan_facts_of(scan, &facts);
    buf_init(ret, &memory, SIZE_MAX / 2);
    assert_int_equal(cg_write_model(scan, &format, (cg_sink){ret, add}, NULL), CG_OK);
    cg_scan_free(scan);
    return facts.is_from_cache;
}

/* Is the document the one without a cache, and did it come from there? */
static bool is_followed_at(bool is_structure)
{
    buf warm, cold;
    bool is_from_cache = scan_into(is_structure, true, &warm);

    (void)scan_into(is_structure, false, &cold);
    assert_true(str_equal(buf_text(&warm), buf_text(&cold)));
    buf_free(&warm);
    buf_free(&cold);
    return is_from_cache;
}

/* The level a rescan is done for. */
static bool is_followed(void)
{
    return is_followed_at(true);
}

static void a_changed_body_is_followed(void **state)
{
    (void)state;
    assert_false(is_followed());
    put_layer(3, "let _more = vb.get((2, 3), \"more\")?;", "");
    assert_true(is_followed());
    put_layer(3, "// nothing", "");
    assert_true(is_followed());
    put_layer(3, "let _unused = vb.pp(\"nowhere\");\n\n\n", "");
    assert_true(is_followed());
    put_layer(4, "let _more = vb.get(5, \"more\")?;", "");
    assert_true(is_followed());
    put_layer(3, "", "");
    put_layer(4, "", "");
    assert_true(is_followed());
}

/* What functions compute has other places then, and nothing else. */
static void comments_are_followed_at_every_level(void **state)
{
    (void)state;
    assert_false(is_followed_at(false));
    put_layer(3, "// nothing\n\n", "");
    assert_true(is_followed_at(false));
    put_layer(4, "\n\n", "/* none */\n// at the end");
    assert_true(is_followed_at(false));
    put_layer(3, "let _number = 3;", "");
    assert_false(is_followed_at(false));
    put_layer(3, "let _number = 3; // three", "");
    assert_true(is_followed_at(false));
    put_layer(3, "let _more = vb.get((2, 3), \"more\")?;", "");
    assert_false(is_followed_at(false));
    put_layer(5, "", "fn added() {}");
    assert_false(is_followed_at(false));
}

static void a_file_that_everybody_uses_is_followed(void **state)
{
    (void)state;
    assert_false(is_followed());
    put_common("scale");
    assert_true(is_followed());
    put_common("weight");
    assert_true(is_followed());
}

/* Layers 3 and 4, with something that both make, and something that both call. */
static void put_shared(const char *third, const char *fourth)
{
    tree_write(&files, "c/src/common.rs",
               "use candle_core::{Result, Tensor};\n"
               "use candle_nn::VarBuilder;\n"
               "pub struct Norm { weight: Tensor }\n"
               "pub fn norm(size: usize, vb: VarBuilder) -> Result<Norm> {\n"
               "    Ok(Norm { weight: vb.get(size, \"weight\")? })\n"
               "}\n"
               "impl Norm {\n"
               "    pub fn scale(&self, xs: &Tensor) -> Result<Tensor> { xs * 1.0 }\n"
               "}\n"
               "pub struct Inner { norm: Norm }\n"
               "impl Inner {\n"
               "    pub fn new(vb: VarBuilder) -> Result<Self> {\n"
               "        Ok(Self { norm: norm(2, vb.pp(\"norm\"))? })\n"
               "    }\n"
               "}\n"
               "pub fn pair(n: usize, vb: &VarBuilder) -> Result<Vec<Inner>> {\n"
               "    let a = Inner::new(vb.pp(n))?;\n"
               "    Ok(vec![a, Inner::new(vb.pp(\"last\"))?])\n"
               "}\n"
               "pub fn load(path: &str) -> Result<Inner> {\n"
               "    let vb = unsafe { VarBuilder::from_mmaped_safetensors(&[path], \n"
               "        candle_core::DType::F32, &candle_core::Device::Cpu)? };\n"
               "    Inner::new(vb.pp(\"loaded\"))\n"
               "}\n");
    put_layer(3, third, "");
    put_layer(4, fourth, "");
}

/* What one layer no longer makes is still inside of the other; who calls a helper shares it. */
static void what_others_make_too_stays_as_it_is(void **state)
{
    static const char *const makes[] = {
        "let _i = crate::common::Inner::new(vb.pp(\"inner\"))?;",
        "",
        "if vb.contains_tensor(\"a\") { let _i = crate::common::Inner::new(vb.pp(\"b\"))?; }",
        "let _i = crate::common::pair(3, &vb)?;",
        "if vb.contains_tensor(\"a\") { let _i = crate::common::pair(5, &vb)?; }",
        "let _i = crate::common::load(\"a\")?;",
        "for i in 0..3 { let _i = crate::common::pair(i, &vb.pp(\"many\"))?; }",
    };
    const size_t count = sizeof makes / sizeof makes[0];

    (void)state;
    put_shared("", "");
    assert_false(is_followed());
    for (size_t i = 0; i < count * count; i++) {
        put_shared(makes[i / count], makes[i % count]);
        (void)is_followed();
        /* From a base that is not that of the beginning, too. */
        if (i % 5 == 0) {
            put_layer(5, "", i % 2 ? "" : "#[cfg(test)] mod tests {}");
            assert_false(is_followed());
        }
    }
}

/* A file of a dependency is shown by the same path as one of the crate's. */
static void files_of_one_name_are_told_apart(void **state)
{
    static const char *const tops[] = {"", "\n\n", "// some\n", "\n"};
    static const char manifest[] =
        "[package]\nname = \"%s\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"
        "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n%s";
    char text[2000];

    (void)state;
    (void)snprintf(text, sizeof text, manifest, "c", "other = { path = \"../other\" }\n");
    tree_write(&files, "c/Cargo.toml", text);
    (void)snprintf(text, sizeof text, manifest, "other", "");
    tree_write(&files, "other/Cargo.toml", text);
    tree_write(&files, "other/src/lib.rs",
               "use candle_core::Result;\n"
               "use candle_nn::{Linear, VarBuilder};\n\n"
               "pub struct Extra { inner: Linear }\n"
               "impl Extra {\n"
               "    pub fn new(vb: VarBuilder) -> Result<Self> {\n"
               "        Ok(Self { inner: candle_nn::linear(2, 2, vb.pp(\"inner\"))? })\n"
               "    }\n"
               "}\n");
    put_layer(3, "let _extra = other::Extra::new(vb.pp(\"extra\"))?;", "");
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++) {
        size_t len = (size_t)snprintf(text, sizeof text, "pub mod common;\n%s", tops[i]);

        for (unsigned n = 0; n < FILES; n++)
            len += (size_t)snprintf(text + len, sizeof text - len, "pub mod layer%u;\n", n);
        tree_write(&files, "c/src/lib.rs", text);
        (void)is_followed();
        put_layer(4, i % 2 ? "let _more = vb.get(2, \"more\")?;" : "", "");
        (void)is_followed();
    }
}

/* Structs of a file that everybody uses, with fields more. */
static void put_fields(const char *held, const char *value, const char *config)
{
    char text[2000];

    (void)snprintf(text, sizeof text,
                   "use candle_core::{Result, Tensor};\n"
                   "use candle_nn::VarBuilder;\n"
                   "pub struct Norm { weight: Tensor,%s }\n"
                   "pub fn norm(size: usize, vb: VarBuilder) -> Result<Norm> {\n"
                   "    Ok(Norm { weight: vb.get(size, \"weight\")?,%s })\n"
                   "}\n"
                   "impl Norm {\n"
                   "    pub fn scale(&self, xs: &Tensor) -> Result<Tensor> { xs * 1.0 }\n"
                   "}\n"
                   "#[derive(Default)] pub struct Config { pub size: usize,%s }\n"
                   "pub struct Given<'a> { pub vb: VarBuilder<'a>,%s }\n",
                   held, value, config, config);
    tree_write(&files, "c/src/common.rs", text);
}

static void a_number_more_in_a_struct_is_noticed(void **state)
{
    static const char *const fields[][3] = {
        {"", "", ""},
        {" n: usize,", " n: 3,", ""},
        {" n: usize,", " n: 4,", " pub more: usize,"},
        {" n: usize, b: bool,", " n: 4, b: true,", ""},
        {"", "", " pub more: usize, pub less: f64,"},
    };
    const size_t count = sizeof fields / sizeof fields[0];

    (void)state;
    put_fields("", "", "");
    put_layer(3,
              "let c: crate::common::Config = Default::default();\n"
              "let d = crate::common::Config { size: 3, ..Default::default() };\n"
              "let _x = vb.get((c.size + 2, d.size), \"x\")?;",
              "use crate::common::Config as Other;\n"
              "pub fn other(vb: VarBuilder) -> Result<Layer3> {\n"
              "    let o = Other { size: 7, more: 8 };\n"
              "    let _y = vb.get(o.more, \"y\")?;\n"
              "    Layer3::new(vb)\n"
              "}\n");
    put_layer(4, "",
              "pub struct Taken { inner: Linear }\n"
              "impl Taken { pub fn new(of: crate::common::Given) -> Result<Self> {\n"
              "    let inner = candle_nn::linear(of.more, 4, of.vb.pp(\"inner\"))?;\n"
              "    Ok(Self { inner }) } }\n");
    assert_false(is_followed());
    for (size_t i = 0; i < count; i++) {
        put_fields(fields[i][0], fields[i][1], fields[i][2]);
        (void)is_followed(); /* most of the crate may notice it */
    }
    /* From a base that has them. */
    put_layer(5, "", "#[cfg(test)] mod tests {}");
    assert_false(is_followed());
    for (size_t i = 0; i < count; i++) {
        put_fields(fields[i][0], fields[i][1], fields[i][2]);
        (void)is_followed();
    }
}

/* What stands behind layer 5 comes, goes and becomes another one. */
static void items_are_followed(void **state)
{
    static const char *const behinds[] = {
        "pub fn added() {}",
        "pub fn added(size: usize) -> usize { size }",
        "pub const N: usize = 3;",
        "pub const N: usize = 4;",
        "use candle_core::Device;\npub fn on() -> Device { Device::Cpu }",
        "use candle_core::{Device, DType};\npub fn on() -> (Device, DType) { todo!() }",
        "impl Layer5 { pub fn more(&self) -> usize { 1 } }",
        "impl Layer5 { pub fn more(&self) -> usize { 1 } fn less(&self) {} }",
        "impl Layer5 { pub fn load(vb: VarBuilder) -> Result<Self> { Self::new(vb.pp(\"a\")) } }",
        "impl Layer5 { pub fn load(vb: VarBuilder) -> Result<Self> { Self::new(vb.pp(\"b\")) } }",
        "impl Layer5 { fn read(vb: VarBuilder) -> Result<Self> { Self::new(vb.pp(\"b\")) } }",
        "pub struct Extra { inner: Linear }",
        "pub struct Extra { inner: Linear }\n"
        "impl Extra { pub fn new(vb: VarBuilder) -> Result<Self> {\n"
        "    Ok(Self { inner: candle_nn::linear(2, 2, vb.pp(\"inner\"))? }) } }",
        "pub struct Extra { inner: Linear, next: Option<Layer5> }\n"
        "impl Extra { pub fn new(vb: VarBuilder) -> Result<Self> {\n"
        "    Ok(Self { inner: candle_nn::linear(2, 2, vb.pp(\"inner\"))?,\n"
        "              next: Some(Layer5::new(vb.pp(\"next\"))?) }) } }\n"
        "impl Module for Extra {\n"
        "    fn forward(&self, xs: &Tensor) -> Result<Tensor> { self.inner.forward(xs) } }",
        "pub fn build(vb: VarBuilder) -> Result<Layer5> { Layer5::new(vb.pp(\"built\")) }",
        /* A file that is read when the type of a field leads there. */
        "pub struct Extra { held: Option<crate::layer9::Layer9> }\n"
        "impl Extra { pub fn new(vb: VarBuilder) -> Result<Self> { let _w = vb.get(1, \"w\")?;\n"
        "    todo!() } }",
        "",
    };

    const size_t count = sizeof behinds / sizeof behinds[0];

    (void)state;
    assert_false(is_followed());
    for (size_t i = 0; i < count; i++) {
        put_layer(5, "", behinds[i]);
        assert_true(is_followed());
    }
    for (size_t i = 0; i < count; i++) {
        put_layer(5, "let _more = vb.get(2, \"more\")?;", behinds[i]);
        put_layer(6, "let _other = crate::layer5::Layer5::new(vb.pp(\"other\"))?;", "");
        assert_true(is_followed());
    }
}

/* A function of another file stands in for a constructor that goes. */
static void what_is_made_elsewhere_is_found(void **state)
{
    static const char made[] = "use candle_core::Result;\nuse candle_nn::VarBuilder;\n"
                               "pub fn %s(%s: VarBuilder) -> Result<crate::part::Part> {\n"
                               "    let w = vb.get(3, \"made\")?;\n"
                               "    Ok(crate::part::Part { w })\n}\n";
    static const char *const parts[] = {
        "use candle_core::{Result, Tensor};\nuse candle_nn::VarBuilder;\n"
        "pub struct Part { pub w: Tensor }\n"
        "impl Part { pub fn new(vb: VarBuilder) -> Result<Self> {\n"
        "    let w = vb.get(2, \"own\")?;\n    Ok(Self { w }) } }\n",
        "use candle_core::{Result, Tensor};\n"
        "pub struct Part { pub w: Tensor }\n",
        "use candle_core::{Result, Tensor};\nuse candle_nn::VarBuilder;\n"
        "pub struct Part { pub w: Tensor }\n"
        "impl Part { pub fn new(vs: VarBuilder) -> Result<Self> {\n"
        "    let w = vs.get(2, \"own\")?;\n    Ok(Self { w }) } }\n",
        "use candle_core::{Result, Tensor};\n"
        "pub struct Part { pub w: Tensor, pub n: usize }\n",
    };
    char text[1000];

    (void)state;
    (void)snprintf(text, sizeof text, "pub mod common;\npub mod part;\npub mod made;\n%s",
                   "pub mod layer1;\npub mod layer2;\npub mod layer3;\n");
    tree_write(&files, "c/src/lib.rs", text);
    for (size_t i = 0; i < 12; i++) {
        (void)snprintf(text, sizeof text, made, i % 3 ? "made" : "part", i % 2 ? "vb" : "vs");
        tree_write(&files, "c/src/made.rs", text);
        tree_write(&files, "c/src/part.rs", parts[i % 4]);
        (void)is_followed();
        tree_write(&files, "c/src/part.rs", parts[(i + 1) % 4]);
        (void)is_followed();
    }
}

/* Who holds a type, or makes one, without a word of what has changed. */
static void what_becomes_a_component_is_seen_by_all(void **state)
{
    static const char *const behinds[] = {
        "impl Layer6 { pub fn open(weights: VarBuilder) -> Result<Self> { Self::new(weights) } }",
        "pub struct Held { w: usize }",
        "pub struct Held { w: usize }\n"
        "impl Held { pub fn new(vb: VarBuilder) -> Result<Self> { let w = vb.get(1, \"w\")?; \n"
        "    todo!() } }",
        "",
    };
    const size_t count = sizeof behinds / sizeof behinds[0];

    (void)state;
    tree_write(&files, "c/src/layer7.rs",
               "use candle_core::{Result, Tensor};\n"
               "use candle_nn::VarBuilder;\n"
               "use crate::layer6::*;\n"
               "pub struct Layer7 { inner: crate::layer6::Layer6, held: Option<Held> }\n"
               "impl Layer7 {\n"
               "    pub fn new(vb: VarBuilder) -> Result<Self> {\n"
               "        let inner = crate::layer6::Layer6::new(vb.pp(\"inner\"))?;\n"
               "        Ok(Self { inner, held: None })\n"
               "    }\n"
               "}\n");
    for (size_t i = 0; i < count * count; i++) {
        put_layer(6, "", behinds[i / count]);
        put_layer(5, "", i % 2 ? "#[cfg(test)] mod tests {}" : "");
        (void)is_followed();
        put_layer(6, "", behinds[i % count]);
        (void)is_followed();
    }
}

static void more_than_items_means_a_whole_scan(void **state)
{
    static const char *const behinds[] = {
        "#[cfg(test)] mod tests {}",
        "#[cfg(test)] fn test() {}",
        "macro_rules! some { () => { 1 } }",
        "pub use candle_core::Device;",
        ("impl std::ops::Deref for Layer5 { type Target = Linear;\n"
         "    fn deref(&self) -> &Linear { &self.inner } }"),
        "impl crate::common::Norm { fn more(&self) {} }",
        "fn broken( {",
        "",
    };

    (void)state;
    assert_false(is_followed());
    for (size_t i = 0; i < sizeof behinds / sizeof behinds[0]; i++) {
        put_layer(5, "", behinds[i]);
        assert_false(is_followed());
    }
    assert_true(is_followed());
    put_layer(5, "const A: usize = 3; let _a = vb.get(A, \"a\")?;", "");
    assert_true(is_followed());
    put_layer(5, "use crate::layer6 as six; let _a = six::Layer6::new(vb.pp(\"a\"))?;", "");
    assert_true(is_followed());
    put_layer(5, "fn inside() {}", "");
    assert_false(is_followed());
    put_layer(5, "let _a = vb.get(1, \"a\")?; // candle-graph: allow(builder-unused)", "");
    assert_false(is_followed());
}

/* A name that a body did not use before leads to a file that is not of the part. */
static void a_body_may_use_what_it_did_not(void **state)
{
    (void)state;
    assert_false(is_followed());
    put_layer(6, "let _other = crate::layer5::Layer5::new(vb.pp(\"other\"))?;", "");
    assert_true(is_followed());
    /* What layer 7 makes is met by layer 6 first now, and listed before others. */
    put_layer(6, "let _other = crate::layer7::Layer7::new(vb.pp(\"other\"))?;", "");
    (void)is_followed();
    put_layer(7, "let _more = vb.get(9, \"nine\")?;", "");
    (void)is_followed();
}

/* Nothing names the module above, and yet the file is reached only through it. */
static void a_file_below_a_module_that_nobody_names_is_followed(void **state)
{
    static const char *const bodies[] = {"", "let _more = vb.get(2, \"more\")?;"};

    (void)state;
    tree_write(&files, "c/src/layer0.rs", "pub mod inner;\n");
    for (size_t i = 0; i < 2; i++) {
        char text[600];

        (void)snprintf(text, sizeof text,
                       "use candle_core::{Result, Tensor};\n"
                       "use candle_nn::VarBuilder;\n"
                       "pub struct Inner { weight: Tensor }\n"
                       "impl Inner {\n"
                       "    pub fn new(vb: VarBuilder) -> Result<Self> {\n"
                       "        %s\n"
                       "        Ok(Self { weight: vb.get(3, \"weight\")? })\n"
                       "    }\n"
                       "}\n",
                       bodies[i]);
        tree_write(&files, "c/src/layer0/inner.rs", text);
        assert_int_equal(is_followed(), i == 1);
    }
}

/* How many files of the cache have such a name; each is for the user alone. */
static size_t find_kept(const char *ending, char ret[1200])
{
    char path[1000];
    struct dirent *entry;
    struct stat about;
    size_t found = 0;
    DIR *list;

    (void)snprintf(path, sizeof path, "%s/cache", files.root);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    list = opendir(path);
    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        size_t len = strlen(entry->d_name), rest = strlen(ending);
        char one[1300];

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(one, sizeof one, "%s/%.256s", path, entry->d_name);
        assert_int_equal(stat(one, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0600);
        if (len < rest || strcmp(entry->d_name + len - rest, ending) != 0)
            continue;
        (void)snprintf(ret, 1200, "cache/%.256s", entry->d_name);
        found++;
    }
    closedir(list);
    return found;
}

static void only_the_user_may_read_what_is_kept(void **state)
{
    mode_t mask = umask(0);
    char name[1200];

    (void)state;
    assert_false(is_followed());
    umask(mask);
    assert_int_equal(find_kept("", name), 2);
    assert_int_equal(find_kept(".sources", name), 1);
}

/* Of another scan, shortened, or gone. */
static void other_sources_than_were_kept_mean_a_whole_scan(void **state)
{
    static const char *const others[] = {"other", "", NULL};

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char name[1200], path[2400];

        put_layer(3, "", "");
        (void)is_followed();
        assert_int_equal(find_kept(".sources", name), 1);
        (void)snprintf(path, sizeof path, "%s/%s", files.root, name);
        assert_int_equal(unlink(path), 0);
        if (others[i] != NULL)
            tree_write(&files, name, others[i]);
        put_layer(4, i % 2 == 0 ? "let _more = vb.get(2, \"more\")?;" : "", "");
        assert_false(is_followed());
        put_layer(3, "let _more = vb.get(4, \"more\")?;", "");
        assert_true(is_followed());
    }
}

static void place_of(const char *name, char ret[2400])
{
    (void)snprintf(ret, 2400, "%s/%s", files.root, name);
}

/* The first edit of a function keeps the part as it was, the next ones find it. */
static void a_function_may_be_edited_again_and_again(void **state)
{
    struct stat first, then;
    char name[1200], path[2400];

    (void)state;
    assert_false(is_followed());
    assert_int_equal(find_kept(".part", name), 0);
    put_layer(3, "let _more = vb.get(2, \"more\")?;", "");
    assert_true(is_followed());
    assert_int_equal(find_kept(".part", name), 1);
    place_of(name, path);
    assert_int_equal(stat(path, &first), 0);
    put_layer(3, "let _more = vb.get((2, 3), \"other\")?;\n", "");
    assert_true(is_followed());
    put_layer(3, "", "");
    assert_true(is_followed());
    put_layer(3, "let _none = vb.pp(\"nowhere\");\n\n", "");
    assert_true(is_followed());
    assert_int_equal(stat(path, &then), 0);
    assert_true(first.st_ino == then.st_ino);
    /* Others have places of their own, each by its key; what is taken from one is made again. */
    for (unsigned n = 0; n < FILES; n++) {
        put_layer(n, "let _more = vb.get(2, \"more\")?;", "");
        assert_true(is_followed());
        put_layer(n, "let _more = vb.get(3, \"more\")?;", "");
        assert_true(is_followed());
        put_layer(n, "", "");
    }
    assert_in_range(find_kept(".part", name), 2, 8);
    put_layer(3, "let _more = vb.get(2, \"more\")?;", "");
    assert_true(is_followed());
}

/* Shortened, changed in a byte, or gone. */
static void a_part_that_is_not_what_was_kept_is_made_again(void **state)
{
    char name[1200], path[2400];

    (void)state;
    assert_false(is_followed());
    for (unsigned i = 0; i < 40; i++) {
        char body[100];
        FILE *file;
        long size;

        (void)snprintf(body, sizeof body, "let _more = vb.get(%u, \"more\")?;", i + 1);
        put_layer(3, body, "");
        assert_true(is_followed());
        assert_int_equal(find_kept(".part", name), 1);
        place_of(name, path);
        file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, 0, SEEK_END), 0);
        size = ftell(file);
        assert_true(size > 100);
        if (i % 3 == 0) {
            assert_int_equal(ftruncate(fileno(file), size * (long)i / 40), 0);
        } else {
            assert_int_equal(fseek(file, size * (long)i / 40, SEEK_SET), 0);
            assert_int_equal(fputc('!', file), '!');
        }
        assert_int_equal(fclose(file), 0);
        if (i == 20)
            assert_int_equal(unlink(path), 0);
    }
}

/* What another state of the crate had at the same part is none of this one. */
static void a_part_of_an_earlier_base_is_not_taken(void **state)
{
    char name[1200], path[2400], old[2400];

    (void)state;
    assert_false(is_followed());
    put_layer(3, "let _more = vb.get(2, \"more\")?;", "");
    assert_true(is_followed());
    assert_int_equal(find_kept(".part", name), 1);
    place_of(name, path);
    (void)snprintf(old, sizeof old, "%s/old", files.root);
    assert_int_equal(rename(path, old), 0);
    tree_write(&files, "c/Cargo.toml",
               "[package]\nname = \"c\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"
               "description = \"other\"\n"
               "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n");
    assert_false(is_followed());
    assert_int_equal(rename(old, path), 0);
    put_layer(3, "let _more = vb.get(4, \"more\")?;", "");
    assert_true(is_followed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_changed_body_is_followed, begin, end),
        cmocka_unit_test_setup_teardown(comments_are_followed_at_every_level, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_everybody_uses_is_followed, begin, end),
        cmocka_unit_test_setup_teardown(what_others_make_too_stays_as_it_is, begin, end),
        cmocka_unit_test_setup_teardown(files_of_one_name_are_told_apart, begin, end),
        cmocka_unit_test_setup_teardown(a_number_more_in_a_struct_is_noticed, begin, end),
        cmocka_unit_test_setup_teardown(items_are_followed, begin, end),
        cmocka_unit_test_setup_teardown(what_is_made_elsewhere_is_found, begin, end),
        cmocka_unit_test_setup_teardown(what_becomes_a_component_is_seen_by_all, begin, end),
        cmocka_unit_test_setup_teardown(more_than_items_means_a_whole_scan, begin, end),
        cmocka_unit_test_setup_teardown(a_body_may_use_what_it_did_not, begin, end),
        cmocka_unit_test_setup_teardown(a_file_below_a_module_that_nobody_names_is_followed, begin,
                                        end),
        cmocka_unit_test_setup_teardown(only_the_user_may_read_what_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(other_sources_than_were_kept_mean_a_whole_scan, begin, end),
        cmocka_unit_test_setup_teardown(a_function_may_be_edited_again_and_again, begin, end),
        cmocka_unit_test_setup_teardown(a_part_that_is_not_what_was_kept_is_made_again, begin, end),
        cmocka_unit_test_setup_teardown(a_part_of_an_earlier_base_is_not_taken, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
