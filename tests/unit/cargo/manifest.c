#include "../base/failing.h"

#include "base/buf.h"
#include "cargo/features.h"
#include "cargo/manifest.h"

typedef struct reading {
    heap memory;
    arena mem;
    cargo_manifest manifest;
} reading;

static cg_code read_text(const cg_env *env, heap *from, arena *mem, const char *text,
                         cargo_manifest *ret, cg_err *reterr)
{
    toml_document *doc = NULL;
    cg_code code = toml_read(env, from, str_from(text), &doc, reterr);

    if (code == CG_OK)
        code = cargo_manifest_read(mem, from, doc, ret, reterr);
    toml_free(doc);
    return code;
}

static void begin(reading *self, const char *text)
{
    cg_err err = {0};

    heap_init(&self->memory, NULL);
    arena_init(&self->mem, &self->memory);
    if (read_text(NULL, &self->memory, &self->mem, text, &self->manifest, &err) != CG_OK)
        fail_msg("line %u: %s", (unsigned)err.line, err.text);
}

static void end(reading *self)
{
    arena_free(&self->mem);
    assert_int_equal(self->memory.used_bytes, 0);
}

#define PACKAGE "[package]\nname = \"my-model\"\nversion = \"1.2.3\"\nedition = \"2021\"\n"

static const manifest_dependency *dependency(const reading *from, const char *name)
{
    size_t first = 0;

    assert_true(manifest_dependency_find(&from->manifest, str_from(name), &first) > 0);
    return &from->manifest.dependencies[first];
}

static void the_package_is_described(void **state)
{
    reading at;

    (void)state;
    begin(&at, PACKAGE "build = false\nautobins = false\n[lib]\nname = \"m\"\npath = \"l.rs\"\n"
                       "proc-macro = true\n[[bin]]\nname = \"tool\"\n");
    assert_text(at.manifest.name, "my-model");
    assert_text(at.manifest.version, "1.2.3");
    assert_text(at.manifest.edition, "2021");
    assert_true(at.manifest.is_build_off);
    assert_false(at.manifest.has_auto[CARGO_BIN]);
    assert_true(at.manifest.has_auto[CARGO_TEST]);
    assert_int_equal(at.manifest.target_count, 2);
    assert_true(at.manifest.targets[0].is_proc_macro);
    assert_text(at.manifest.targets[0].path, "l.rs");
    assert_text(at.manifest.targets[1].name, "tool");
    end(&at);

    begin(&at, "[package]\nname = \"old\"\n[[bin]]\nname = \"a\"\n");
    assert_text(at.manifest.version, "0.0.0");
    assert_text(at.manifest.edition, "2015");
    assert_false(at.manifest.has_auto[CARGO_BIN]);
    end(&at);
}

static void dependencies_are_listed_with_their_platforms(void **state)
{
    reading at;

    (void)state;
    begin(&at, PACKAGE
          "[dependencies]\ncandle = { package = \"candle-core\", version = \"0.11\", features = "
          "[\"cuda\"], default-features = false }\nanyhow = \"1\"\nlocal = { path = \"../l\", "
          "optional = true }\n[dev-dependencies]\nrand = \"0.9\"\n"
          "[target.'cfg(target_os = \"macos\")'.dependencies]\nmetal = { git = \"https://h/m\" }\n"
          "[target.x86_64-pc-windows-msvc.build-dependencies]\ncc = \"1\"\n"
          "[patch.crates-io]\ncandle-core = { path = \"p\" }\n");
    assert_int_equal(at.manifest.dependency_count, 6);
    assert_text(dependency(&at, "candle")->package, "candle-core");
    assert_text(dependency(&at, "candle")->requirement, "0.11");
    assert_false(dependency(&at, "candle")->has_default_features);
    assert_text(dependency(&at, "candle")->features.at[0], "cuda");
    assert_text(dependency(&at, "anyhow")->requirement, "1");
    assert_true(dependency(&at, "local")->is_optional);
    assert_text(dependency(&at, "local")->path, "../l");
    assert_int_equal(dependency(&at, "rand")->kind, CARGO_DEV);
    assert_text(dependency(&at, "metal")->platform, "cfg(target_os = \"macos\")");
    assert_text(dependency(&at, "metal")->git, "https://h/m");
    assert_text(dependency(&at, "cc")->platform, "x86_64-pc-windows-msvc");
    assert_int_equal(dependency(&at, "cc")->kind, CARGO_BUILD);
    assert_int_equal(at.manifest.patch_count, 1);
    end(&at);
}

static void members_take_over_from_their_workspace(void **state)
{
    reading root;
    reading at;
    cg_err err = {0};

    (void)state;
    begin(&root,
          "[workspace]\nmembers = [\"a\", \"crates/*\"]\n[workspace.package]\nversion = "
          "\"3.0.0\"\nedition = \"2024\"\n[workspace.dependencies]\ncandle-core = { version "
          "= \"0.11\", features = [\"a\"], default-features = false }\nm = { path = \"m\" }\n");
    assert_false(root.manifest.has_package);
    assert_int_equal(root.manifest.members.count, 2);
    begin(&at, "[package]\nname = \"a\"\nversion.workspace = true\nedition = { workspace = true "
               "}\n[dependencies]\ncandle-core = { workspace = true, features = [\"b\"], optional "
               "= true }\nm.workspace = true\n");
    assert_true(manifest_is_inheriting(&at.manifest));
    assert_int_equal(manifest_inherit(&at.mem, &at.manifest, &root.manifest, CG_LIT("/w"), &err),
                     CG_OK);
    assert_false(manifest_is_inheriting(&at.manifest));
    assert_text(at.manifest.version, "3.0.0");
    assert_text(at.manifest.edition, "2024");
    assert_text(dependency(&at, "candle-core")->requirement, "0.11");
    assert_int_equal(dependency(&at, "candle-core")->features.count, 2);
    assert_false(dependency(&at, "candle-core")->has_default_features);
    assert_true(dependency(&at, "candle-core")->is_optional);
    assert_text(dependency(&at, "m")->base, "/w");
    end(&at);

    begin(&at, "[package]\nname = \"a\"\n[dependencies]\nx.workspace = true\n");
    assert_int_equal(manifest_inherit(&at.mem, &at.manifest, &root.manifest, CG_LIT("/w"), &err),
                     CG_INPUT);
    assert_int_equal(err.line, 4);
    end(&at);
    end(&root);
}

/* Names of what is on after enabling `names` (spaces between), and what is asked for. */
static void expect_features(const char *text, const char *names, const char *want)
{
    reading at;
    feature_state features;
    cargo_strs on;
    bool is_known;
    buf out;

    begin(&at, text);
    buf_init(&out, &at.memory, 4096);
    assert_int_equal(features_init(&features, &at.memory, &at.mem, &at.manifest, NULL), CG_OK);
    while (*names != '\0') {
        size_t len = strcspn(names, " ");

        assert_int_equal(features_enable(&features, (cg_str){names, len}, &is_known, NULL), CG_OK);
        assert_true(is_known);
        names += len + (names[len] == ' ');
    }
    assert_int_equal(features_list(&features, &at.mem, false, &on, NULL), CG_OK);
    for (size_t i = 0; i < on.count; i++)
        buf_addf(&out, "%.*s ", (int)on.at[i].len, on.at[i].ptr);
    for (size_t i = 0; i < at.manifest.dependency_count; i++) {
        cg_str name = at.manifest.dependencies[i].name;

        if (features.is_brought_in[i])
            buf_addf(&out, "+%.*s ", (int)name.len, name.ptr);
    }
    for (size_t i = 0; i < features.requests.count; i++) {
        const feature_request *request = &features.requests.at[i];

        buf_addf(&out, "%.*s%s/%.*s ", (int)request->dependency.len, request->dependency.ptr,
                 request->is_weak ? "?" : "", (int)request->feature.len, request->feature.ptr);
    }
    assert_text(buf_text(&out), want);
    buf_free(&out);
    features_free(&features);
    end(&at);
}

#define OPTIONAL                                                                                   \
    PACKAGE "[dependencies]\na = { version = \"1\", optional = true }\nb = { version = \"1\", "    \
            "optional = true }\nc = \"1\"\n"

static void features_bring_in_what_they_name(void **state)
{
    const char *text =
        OPTIONAL "[features]\ndefault = [\"x\"]\nx = [\"dep:a\", \"c/y\"]\nz = "
                 "[\"b/k\"]\nw = [\"b?/k\", \"default\"]\nloop = [\"loop\", \"z\"]\n";

    (void)state;
    expect_features(text, "default", "default x +a c/y ");
    expect_features(text, "x x", "x +a c/y ");
    expect_features(text, "b", "b +b ");
    expect_features(text, "z", "b z +b b/k ");
    expect_features(text, "w", "default w x +a b?/k c/y ");
    expect_features(text, "loop", "b loop z +b b/k ");
    expect_features(text, "c/q", "c/q ");
}

static void an_optional_dependency_named_with_dep_is_no_feature(void **state)
{
    reading at;

    (void)state;
    begin(&at, OPTIONAL "[features]\nx = [\"dep:a\"]\n");
    assert_null(manifest_feature_find(&at.manifest, CG_LIT("a")));
    assert_non_null(manifest_feature_find(&at.manifest, CG_LIT("b")));
    assert_true(manifest_feature_find(&at.manifest, CG_LIT("b"))->is_implicit);
    assert_null(manifest_feature_find(&at.manifest, CG_LIT("c")));
    end(&at);
}

static void what_has_no_meaning_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
    } cases[] = {{"x = 1\n", 0},
                 {"[package]\nversion = \"1.0.0\"\n", 0},
                 {"[package]\nname = 1\n", 2},
                 {PACKAGE "[dependencies]\na = 1\n", 6},
                 {PACKAGE "[features]\na = \"b\"\n", 6},
                 {PACKAGE "[[bin]]\npath = \"x\"\n", 0},
                 {PACKAGE "[dependencies]\na = { features = [1] }\n", 6}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cargo_manifest manifest;
        heap memory;
        arena mem;
        cg_err err = {0};

        heap_init(&memory, NULL);
        arena_init(&mem, &memory);
        assert_int_equal(read_text(NULL, &memory, &mem, cases[i].text, &manifest, &err), CG_INPUT);
        assert_int_equal(err.line, cases[i].line);
        arena_free(&mem);
        assert_int_equal(memory.used_bytes, 0);
    }
}

static void every_failing_request_is_reported_and_nothing_is_held(void **state)
{
    cg_code code = CG_NOMEM;

    (void)state;
    for (size_t k = 1; code != CG_OK; k++) {
        failing memory = {.fail_at = k};
        cargo_manifest manifest;
        arena mem;
        heap from;

        heap_init(&from, failing_env(&memory));
        arena_init(&mem, &from);
        code = read_text(&memory.env, &from, &mem,
                         OPTIONAL "[features]\nx = [\"dep:a\"]\n[[bin]]\nname = \"t\"\n"
                                  "[patch.x]\nd = \"1\"\n[workspace]\nmembers = [\"m\"]\n",
                         &manifest, NULL);
        assert_true(code == CG_OK || code == CG_NOMEM);
        arena_free(&mem);
        assert_nothing_held(&memory, &from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_package_is_described),
        cmocka_unit_test(dependencies_are_listed_with_their_platforms),
        cmocka_unit_test(members_take_over_from_their_workspace),
        cmocka_unit_test(features_bring_in_what_they_name),
        cmocka_unit_test(an_optional_dependency_named_with_dep_is_no_feature),
        cmocka_unit_test(what_has_no_meaning_is_refused_with_its_line),
        cmocka_unit_test(every_failing_request_is_reported_and_nothing_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
