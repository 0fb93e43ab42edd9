#include "../base/failing.h"

#include <errno.h>
#include <stdio.h>

#include "cargo/workspace.h"
#include "support/faults.h"
#include "support/tree.h"

typedef struct fixture {
    tree at;
    char home[320]; /* of Cargo: `home` in the tree */
    heap memory;
    cargo_options options;
    cargo_graph *graph;
    cg_err err;
} fixture;

static fixture *make(void)
{
    fixture *self = calloc(1, sizeof *self);

    assert_non_null(self);
    tree_make(&self->at);
    snprintf(self->home, sizeof self->home, "%s/home", self->at.root);
    self->options.cargo_home = str_from(self->home);
    self->options.target = CG_LIT("x86_64-unknown-linux-gnu");
    heap_init(&self->memory, NULL);
    return self;
}

static void close_graph(fixture *self)
{
    cargo_graph_free(self->graph);
    self->graph = NULL;
    assert_int_equal(self->memory.used_bytes, 0);
}

static void drop(fixture *self)
{
    close_graph(self);
    tree_remove(&self->at);
    free(self);
}

static void open_at(fixture *self, const char *name)
{
    close_graph(self);
    self->err = (cg_err){0};
    if (cargo_graph_open(NULL, &self->memory, tree_place(&self->at, name), &self->options,
                         &self->graph, &self->err) != CG_OK)
        fail_msg("%s", self->err.text);
}

static void expect_refused(fixture *self, const char *name, const char *problem, const char *part)
{
    close_graph(self);
    self->err = (cg_err){0};
    assert_int_not_equal(cargo_graph_open(NULL, &self->memory, tree_place(&self->at, name),
                                          &self->options, &self->graph, &self->err),
                         CG_OK);
    assert_null(self->graph);
    assert_string_equal(self->err.problem, problem);
    if (strstr(self->err.text, part) == NULL)
        fail_msg("`%s` has no `%s`", self->err.text, part);
    assert_int_equal(self->memory.used_bytes, 0);
}

static const cargo_package *root_of(const fixture *self)
{
    assert_true(self->graph->root < self->graph->packages.count);
    return &self->graph->packages.at[self->graph->root];
}

static const cargo_package *extern_of(const fixture *self, const char *name)
{
    uint32_t found = cargo_extern_find(self->graph, self->graph->root, str_from(name));

    if (found == CARGO_MISSING)
        fail_msg("no `%s`", name);
    return &self->graph->packages.at[found];
}

/* Texts with spaces between. */
static void expect_texts(cargo_strs list, const char *want)
{
    char text[2048] = "";
    size_t len = 0;

    for (size_t i = 0; i < list.count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", i > 0 ? " " : "",
                                (int)list.at[i].len, list.at[i].ptr);
    assert_string_equal(text, want);
}

static void expect_candles(const fixture *self, const char *want)
{
    char text[1024] = "";
    size_t len = 0;

    for (size_t i = 0; i < self->graph->candle_count; i++) {
        const cargo_candle *of = &self->graph->candles[i];

        len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s=%.*s", i > 0 ? " " : "",
                                (int)of->name.len, of->name.ptr, (int)of->versions.len,
                                of->versions.ptr);
    }
    assert_string_equal(text, want);
}

static bool is_said(const fixture *self, const char *part)
{
    for (size_t i = 0; i < self->graph->diagnostics.count; i++) {
        cg_str message = self->graph->diagnostics.at[i].message;

        if (str_find(message, str_from(part)) != SIZE_MAX)
            return true;
    }
    return false;
}

/* A package as the registry unpacks it. */
static void add_archive(fixture *self, const char *name, const char *number, const char *rest)
{
    char path[256];
    char text[2048];

    snprintf(path, sizeof path, "home/registry/src/index-0/%s-%s/Cargo.toml", name, number);
    snprintf(text, sizeof text,
             "[package]\nname = \"%s\"\nversion = \"%s\"\nedition = \"2021\"\n%s", name, number,
             rest);
    tree_write(&self->at, path, text);
    snprintf(path, sizeof path, "home/registry/src/index-0/%s-%s/src/lib.rs", name, number);
    tree_write(&self->at, path, "");
}

static void add_candle(fixture *self, const char *number)
{
    add_archive(self, "candle-core", number, "[features]\ndefault = []\ncuda = []\n");
    add_archive(self, "candle-nn", number,
                "[dependencies]\ncandle = { package = \"candle-core\", version = \"0\" }\n"
                "[features]\ncuda = [\"candle/cuda\"]\n");
}

#define PACKAGE "[package]\nname = \"my-model\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"

static void without_a_lock_file_the_highest_fitting_version_is_taken(void **state)
{
    fixture *self = make();

    (void)state;
    add_candle(self, "0.9.2");
    add_candle(self, "0.10.2");
    add_candle(self, "0.11.0");
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE "[dependencies]\ncandle = { package = \"candle-core\", version = "
                       "\">=0.9, <0.11\" }\ncandle-nn = \"0.10\"\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    open_at(self, "m");
    assert_text(root_of(self)->name, "my-model");
    assert_text(root_of(self)->edition, "2021");
    assert_text(self->graph->selected_target, "my_model");
    assert_int_equal(self->graph->selected_count, 1);
    assert_text(extern_of(self, "candle")->version, "0.10.2");
    assert_true(extern_of(self, "candle")->is_source_found);
    assert_true(extern_of(self, "candle")->is_loaded);
    assert_int_equal(cargo_extern_find(self->graph, self->graph->root, CG_LIT("candle_core")),
                     CARGO_MISSING);
    expect_candles(self, "candle-core=0.10.2 candle-nn=0.10.2");
    assert_true(is_said(self, "no Cargo.lock"));
    assert_true(self->graph->diagnostics.at[0].is_note);
    drop(self);
}

static void without_sources_a_candle_version_follows_from_the_requirement(void **state)
{
    fixture *self = make();

    (void)state;
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE "[dependencies]\ncandle-core = \"0.9\"\ncandle-nn = \"=0.11.0\"\nserde = "
                       "\"1\"\ncandle-transformers = \"7\"\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    open_at(self, "m/src/lib.rs");
    expect_candles(self, "candle-core=0.9.2 candle-nn=0.11.0");
    assert_false(extern_of(self, "candle_core")->is_source_found);
    assert_text(extern_of(self, "serde")->version, "");
    drop(self);
}

static void the_lock_file_decides(void **state)
{
    fixture *self = make();

    (void)state;
    add_candle(self, "0.11.0");
    add_candle(self, "0.11.1");
    tree_write(&self->at, "m/Cargo.toml", PACKAGE "[dependencies]\ncandle-nn = \"0.11\"\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    tree_write(&self->at, "m/Cargo.lock",
               "version = 4\n[[package]]\nname = \"my-model\"\nversion = \"0.1.0\"\n"
               "dependencies = [\n \"candle-nn\",\n]\n[[package]]\nname = \"candle-nn\"\nversion "
               "= \"0.11.0\"\nsource = \"registry+x\"\ndependencies = [\n \"candle-core\",\n]\n"
               "[[package]]\nname = \"candle-core\"\nversion = \"0.11.0\"\nsource = "
               "\"registry+x\"\n[[package]]\nname = \"candle-onnx\"\nversion = \"0.11.0\"\nsource "
               "= \"registry+x\"\n");
    open_at(self, "m");
    expect_candles(self, "candle-core=0.11.0 candle-nn=0.11.0");
    assert_int_equal(self->graph->diagnostics.count, 0);

    /* Without any source the lock file still tells the versions. */
    self->options.cargo_home = CG_LIT("/nonexistent");
    open_at(self, "m");
    expect_candles(self, "candle-core=0.11.0 candle-nn=0.11.0");
    assert_false(extern_of(self, "candle_nn")->is_source_found);

    tree_write(&self->at, "m/Cargo.lock", "[[package\n");
    open_at(self, "m");
    assert_true(is_said(self, "the lock file is left out"));
    expect_candles(self, "candle-nn=0.11.1");
    drop(self);
}

static void features_reach_through_the_graph(void **state)
{
    fixture *self = make();
    cg_str chosen[] = {CG_LIT("gpu,static"), CG_LIT("my-model/extra")};

    (void)state;
    add_candle(self, "0.11.0");
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE "[features]\ndefault = [\"base\"]\nbase = []\nextra = []\ngpu = "
                       "[\"candle-nn/cuda\"]\n[dependencies]\ncandle-nn = \"0.11\"\nopt = { "
                       "path = \"../opt\", optional = true }\n");
    tree_write(&self->at, "m/src/main.rs", "");
    tree_write(&self->at, "opt/Cargo.toml", "[package]\nname = \"opt\"\n[lib]\nname = \"other\"\n");
    tree_write(&self->at, "opt/src/lib.rs", "");
    open_at(self, "m");
    expect_texts(root_of(self)->features, "base default");
    expect_texts(root_of(self)->feature_names, "base default extra gpu opt");
    assert_int_equal(cargo_extern_find(self->graph, self->graph->root, CG_LIT("other")),
                     CARGO_MISSING);

    self->options.features = (cargo_strs){chosen, 2};
    open_at(self, "m");
    expect_texts(root_of(self)->features, "base default extra gpu");
    expect_texts(extern_of(self, "candle_nn")->features, "cuda");
    for (size_t i = 0; i < self->graph->packages.count; i++) {
        if (str_equal(self->graph->packages.at[i].name, CG_LIT("candle-core")))
            expect_texts(self->graph->packages.at[i].features, "cuda default");
    }
    assert_int_equal(cargo_cfg_eval(self->graph, self->graph->root, CG_LIT("feature = \"gpu\"")),
                     CFG_TRUE);
    assert_int_equal(cargo_cfg_eval(self->graph, self->graph->root, CG_LIT("windows")), CFG_FALSE);

    self->options.is_no_default_features = true;
    open_at(self, "m");
    expect_texts(root_of(self)->features, "extra gpu");
    self->options.features.count = 0;
    self->options.is_all_features = true;
    open_at(self, "m");
    expect_texts(root_of(self)->features, "base default extra gpu opt");
    /* Not renamed: code knows it by the name of its library. */
    assert_text(extern_of(self, "other")->name, "opt");
    drop(self);
}

static void an_unknown_feature_is_refused_with_those_there_are(void **state)
{
    fixture *self = make();
    cg_str chosen[] = {CG_LIT("nope")};

    (void)state;
    tree_write(&self->at, "m/Cargo.toml", PACKAGE "[features]\ncuda = []\nstatic = []\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    self->options.features = (cargo_strs){chosen, 1};
    expect_refused(self, "m", "cargo-unknown-feature", "`cuda`, `static`");
    chosen[0] = CG_LIT("static runtime");
    open_at(self, "m");
    expect_texts(root_of(self)->features, "static");
    drop(self);
}

static void a_list_of_what_there_is_ends_in_time(void **state)
{
    fixture *self = make();
    cg_str chosen[] = {CG_LIT("nope")};
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof text, PACKAGE "[features]\n");

    (void)state;
    for (unsigned i = 10; i < 70; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "a_long_feature_%u = []\n", i);
    tree_write(&self->at, "m/Cargo.toml", text);
    tree_write(&self->at, "m/src/lib.rs", "");
    self->options.features = (cargo_strs){chosen, 1};
    expect_refused(self, "m", "cargo-unknown-feature", "`a_long_feature_10`, `a_long_feature_11`");
    assert_null(strstr(self->err.text, "feature_69"));
    drop(self);
}

static void targets_are_found_where_cargo_looks(void **state)
{
    fixture *self = make();

    (void)state;
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE "[[bin]]\nname = \"named\"\npath = \"x/named.rs\"\n");
    tree_write(&self->at, "m/src/main.rs", "");
    tree_write(&self->at, "m/src/bin/a-tool.rs", "");
    tree_write(&self->at, "m/src/bin/multi/main.rs", "");
    tree_write(&self->at, "m/src/bin/none/other.rs", "");
    tree_write(&self->at, "m/examples/ex.rs", "");
    tree_write(&self->at, "m/build.rs", "");
    open_at(self, "m");
    assert_int_equal(root_of(self)->target_count, 5);
    assert_text(root_of(self)->targets[0].name, "a-tool");
    assert_text(root_of(self)->targets[1].name, "ex");
    assert_int_equal(root_of(self)->targets[1].kind, CARGO_EXAMPLE);
    assert_text(root_of(self)->targets[2].name, "multi");
    assert_text(root_of(self)->targets[3].name, "my-model");
    assert_text(root_of(self)->targets[4].name, "named");
    assert_true(str_ends_with(root_of(self)->targets[4].path, CG_LIT("/m/x/named.rs")));
    assert_true(root_of(self)->has_build_script);
    assert_text(self->graph->selected_target, "a-tool");
    assert_int_equal(cargo_cfg_eval(self->graph, self->graph->root, CG_LIT("has_x")),
                     CFG_UNDECIDED);

    open_at(self, "m/src/bin/multi/main.rs");
    assert_int_equal(self->graph->selected_count, 1);
    assert_text(self->graph->selected_target, "multi");
    open_at(self, "m/src/bin/none/other.rs");
    assert_text(self->graph->selected_target, "a-tool");

    self->options.cargo_target = CG_LIT("ex");
    open_at(self, "m/src/main.rs");
    assert_int_equal(self->graph->selected_count, 1);
    assert_int_equal(self->graph->selected[0], 1);
    self->options.cargo_target = CG_LIT("nope");
    expect_refused(self, "m", "cargo-target", "`a-tool`");
    self->options.cargo_target = CG_LIT("my-lib");
    tree_write(&self->at, "m/Cargo.toml", PACKAGE "[lib]\nname = \"my_lib\"\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    open_at(self, "m");
    assert_int_equal(self->graph->selected_count, 1);
    drop(self);
}

static void a_member_that_cannot_be_read_is_missed(void **state)
{
    fixture *self = make();

    (void)state;
    tree_write(&self->at, "w/Cargo.toml",
               "[workspace]\nmembers = [\"a\", \"gone\", \"linked*\"]\n");
    tree_write(&self->at, "w/a/Cargo.toml", "[package]\nname = \"a\"\n");
    tree_write(&self->at, "w/a/src/lib.rs", "");
    tree_write(&self->at, "w/linked/notes.txt", "");
    tree_link(&self->at, "w/linked/Cargo.toml", "nowhere");
    open_at(self, "w");
    assert_text(root_of(self)->name, "a");
    assert_true(is_said(self, "`gone` of the workspace is left out: it has no Cargo.toml"));
    assert_true(is_said(self, "`linked` of the workspace is left out: its Cargo.toml is no file"));
    drop(self);
}

static void a_workspace_is_one_of_its_members(void **state)
{
    fixture *self = make();

    (void)state;
    add_candle(self, "0.11.0");
    tree_write(&self->at, "w/Cargo.toml",
               "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"crates/out\"]\n"
               "[workspace.package]\nversion = \"4.5.6\"\nedition = \"2021\"\n"
               "[workspace.dependencies]\ncandle-core = \"0.11\"\nb = { path = \"crates/b\" }\n");
    tree_write(&self->at, "w/crates/a/Cargo.toml",
               "[package]\nname = \"a\"\nversion.workspace = true\nedition.workspace = true\n"
               "[dependencies]\ncandle-core.workspace = true\nb.workspace = true\n");
    tree_write(&self->at, "w/crates/a/src/lib.rs", "");
    tree_write(&self->at, "w/crates/plain/notes.txt", "");
    open_at(self, "w");
    assert_text(root_of(self)->name, "a");
    assert_text(root_of(self)->version, "4.5.6");
    assert_false(is_said(self, "of the workspace is left out"));
    assert_true(is_said(self, "the sources of a dependency are left out"));

    tree_write(&self->at, "w/crates/b/Cargo.toml", "[package]\nname = \"b\"\n");
    tree_write(&self->at, "w/crates/b/src/lib.rs", "");
    tree_write(&self->at, "w/crates/out/Cargo.toml", "[package]\nname = \"out\"\n");
    expect_refused(self, "w", "cargo-package", "of them use Candle: `a`");
    self->options.package = CG_LIT("nope");
    expect_refused(self, "w", "cargo-package", "`a`, `b`");
    self->options.package = CG_LIT("b");
    open_at(self, "w");
    assert_text(root_of(self)->name, "b");
    open_at(self, "w/crates/a");
    assert_text(root_of(self)->name, "b");
    self->options.package = (cg_str){0};
    open_at(self, "w/crates/a/src");
    assert_text(root_of(self)->name, "a");
    assert_text(extern_of(self, "b")->name, "b");
    assert_true(extern_of(self, "b")->is_member);
    assert_true(extern_of(self, "b")->is_loaded);
    assert_text(self->graph->workspace_root, tree_place(&self->at, "w").ptr);
    drop(self);
}

static void sources_can_be_given_patched_and_vendored(void **state)
{
    fixture *self = make();
    char text[400];
    cg_str given[1];

    (void)state;
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE "[dependencies]\ncandle-core = \"0.11\"\nx = \"1\"\ny = \"2\"\n"
                       "[patch.crates-io]\nx = { path = \"px\" }\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    tree_write(&self->at, "m/px/Cargo.toml", "[package]\nname = \"x\"\nversion = \"1.9.0\"\n");
    tree_write(&self->at, "m/vendor/y/Cargo.toml",
               "[package]\nname = \"y\"\nversion = \"2.1.0\"\n");
    tree_write(&self->at, "cc/Cargo.toml",
               "[package]\nname = \"candle-core\"\nversion = \"0.11.7\"\n");
    snprintf(text, sizeof text, "candle-core=%s/cc", self->at.root);
    given[0] = str_from(text);
    self->options.sources = (cargo_strs){given, 1};
    open_at(self, "m");
    assert_text(extern_of(self, "candle_core")->version, "0.11.7");
    assert_text(extern_of(self, "x")->version, "1.9.0");
    assert_text(extern_of(self, "y")->version, "2.1.0");
    assert_true(str_ends_with(extern_of(self, "y")->root, CG_LIT("/vendor/y")));
    drop(self);
}

static void a_git_dependency_is_found_among_checkouts(void **state)
{
    fixture *self = make();

    (void)state;
    tree_write(&self->at, "home/git/checkouts/candle-0123/abc1234/Cargo.toml",
               "[workspace]\nmembers = [\"candle-core\", \"extras/nn\"]\n[workspace.package]\n"
               "version = \"0.12.0\"\n");
    tree_write(&self->at, "home/git/checkouts/candle-0123/abc1234/candle-core/Cargo.toml",
               "[package]\nname = \"candle-core\"\nversion.workspace = true\n");
    tree_write(&self->at, "home/git/checkouts/candle-0123/abc1234/extras/nn/Cargo.toml",
               "[package]\nname = \"candle-nn\"\nversion.workspace = true\n[dependencies]\n"
               "candle-core = { path = \"../../candle-core\" }\n");
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE
               "[dependencies]\ncandle-nn = { git = \"https://example.org/x/candle.git\" }\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    open_at(self, "m");
    expect_candles(self, "candle-core=0.12.0 candle-nn=0.12.0");
    tree_write(&self->at, "m/Cargo.lock",
               "version = 4\n[[package]]\nname = \"my-model\"\nversion = \"0.1.0\"\ndependencies = "
               "[\n \"candle-nn\",\n]\n[[package]]\nname = \"candle-nn\"\nversion = \"0.12.0\"\n"
               "source = \"git+https://example.org/x/candle.git#abc1234def\"\n");
    open_at(self, "m");
    assert_true(extern_of(self, "candle_nn")->is_source_found);
    drop(self);
}

static void platforms_decide_what_is_active(void **state)
{
    fixture *self = make();

    (void)state;
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE
               "[target.'cfg(windows)'.dependencies]\nw = \"1\"\n[target.'cfg(unix)'."
               "dependencies]\nu = \"1\"\n[target.x86_64-unknown-linux-gnu.dependencies]\n"
               "t = \"1\"\n[target.'cfg(target_os = \"macos\")'.dependencies]\nc = \"1\"\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    open_at(self, "m");
    extern_of(self, "u");
    extern_of(self, "t");
    assert_int_equal(cargo_extern_find(self->graph, self->graph->root, CG_LIT("w")), CARGO_MISSING);
    self->options.target = CG_LIT("aarch64-apple-darwin");
    open_at(self, "m");
    extern_of(self, "c");
    assert_int_equal(cargo_extern_find(self->graph, self->graph->root, CG_LIT("t")), CARGO_MISSING);
    self->options.target = CG_LIT("z80-none");
    open_at(self, "m");
    assert_int_equal(self->graph->cfg_source, CARGO_CFG_NONE);
    assert_int_equal(cargo_cfg_eval(self->graph, self->graph->root, CG_LIT("unix")), CFG_UNDECIDED);
    assert_true(is_said(self, "z80-none"));
    drop(self);
}

static void without_a_usable_manifest_the_directory_is_scanned(void **state)
{
    fixture *self = make();

    (void)state;
    tree_write(&self->at, "d/a.rs", "");
    open_at(self, "d");
    assert_int_equal(self->graph->root, CARGO_MISSING);
    assert_text(self->graph->scan_root, tree_place(&self->at, "d").ptr);
    assert_int_equal(self->graph->diagnostics.count, 1);
    assert_string_equal(self->graph->diagnostics.at[0].code, "cargo-context");
    assert_int_equal(cargo_cfg_eval(self->graph, CARGO_MISSING, CG_LIT("unix")), CFG_UNDECIDED);
    tree_write(&self->at, "d/Cargo.toml", "[package]\nname = \n");
    open_at(self, "d");
    assert_int_equal(self->graph->root, CARGO_MISSING);
    assert_int_equal(self->graph->diagnostics.at[0].line, 2);
    expect_refused(self, "nowhere", "input-missing", "No such file");
    drop(self);
}

static void links_in_circles_and_odd_files_are_survived(void **state)
{
    fixture *self = make();

    (void)state;
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE "[dependencies]\na = { path = \"loop\" }\nb = { path = \"../m\" }\nc = { "
                       "path = \"src\" }\n[workspace]\nmembers = [\"**\", \"src/*\"]\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    tree_link(&self->at, "m/loop", "loop");
    tree_link(&self->at, "m/src/up", "..");
    tree_link(&self->at, "m/Cargo.lock", "Cargo.lock");
    open_at(self, "m");
    assert_text(root_of(self)->name, "my-model");
    assert_true(is_said(self, "left out"));
    expect_refused(self, "m/loop", "input-missing", "symbolic links");
    drop(self);
}

static void inputs_are_listed_with_their_sums(void **state)
{
    fixture *self = make();
    bool is_lock_missed = false;

    (void)state;
    tree_write(&self->at, "m/Cargo.toml", PACKAGE);
    tree_write(&self->at, "m/src/lib.rs", "");
    open_at(self, "m");
    for (size_t i = 0; i < self->graph->inputs.count; i++) {
        const cargo_input *input = &self->graph->inputs.at[i];

        if (str_ends_with(input->path, CG_LIT("/m/Cargo.lock")))
            is_lock_missed = input->is_missing;
    }
    assert_true(is_lock_missed);
    drop(self);
}

static void the_tools_own_table_can_be_read(void **state)
{
    fixture *self = make();

    (void)state;
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE "[package.metadata.candle-graph]\nlevel = \"x\"\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    open_at(self, "m");
    assert_text(toml_text(self->graph->manifest,
                          toml_get(self->graph->manifest, self->graph->metadata, CG_LIT("level"))),
                "x");
    drop(self);
}

static void a_dependency_is_loaded_when_asked(void **state)
{
    fixture *self = make();
    uint32_t index;

    (void)state;
    add_archive(self, "helper", "1.0.0", "[dependencies]\ndeep = \"1\"\n");
    add_archive(self, "deep", "1.2.0", "");
    tree_write(&self->at, "m/Cargo.toml", PACKAGE "[dependencies]\nhelper = \"1\"\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    open_at(self, "m");
    index = cargo_extern_find(self->graph, self->graph->root, CG_LIT("helper"));
    assert_false(self->graph->packages.at[index].is_loaded);
    assert_int_equal(self->graph->packages.count, 2);
    assert_int_equal(cargo_package_load(self->graph, index, NULL), CG_OK);
    assert_true(self->graph->packages.at[index].is_loaded);
    assert_int_not_equal(self->graph->packages.at[index].library, CARGO_MISSING);
    assert_int_equal(self->graph->packages.count, 3);
    assert_int_not_equal(cargo_extern_find(self->graph, index, CG_LIT("deep")), CARGO_MISSING);
    assert_int_equal(cargo_package_load(self->graph, 99, NULL), CG_OK);
    drop(self);
}

static void every_failing_request_is_reported_and_nothing_is_held(void **state)
{
    fixture *self = make();
    cg_code code = CG_NOMEM;

    (void)state;
    add_candle(self, "0.11.0");
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE "[features]\ndefault = [\"candle-nn/cuda\"]\n[dependencies]\ncandle-nn = "
                       "\"0.11\"\n[workspace]\nmembers = [\"x/*\"]\n");
    tree_write(&self->at, "m/x/y/Cargo.toml", "[package]\nname = \"y\"\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    for (size_t k = 1; code != CG_OK; k++) {
        failing memory = {.fail_at = k};
        cargo_graph *graph = NULL;
        heap from;

        heap_init(&from, failing_env(&memory));
        code = cargo_graph_open(&memory.env, &from, tree_place(&self->at, "m"), &self->options,
                                &graph, NULL);
        assert_true(code == CG_OK || code == CG_NOMEM);
        if (code == CG_OK)
            cargo_graph_free(graph);
        assert_nothing_held(&memory, &from);
    }
    drop(self);
}

static void a_manifest_that_cannot_be_examined_is_not_taken_for_absent(void **state)
{
    fixture *self = make();
    faults kernel;
    os_calls table = faults_table(&kernel);
    const cg_env env = {.size = sizeof env, .os = &table};

    (void)state;
    tree_write(&self->at, "m/Cargo.toml", PACKAGE);
    tree_write(&self->at, "m/src/lib.rs", "");
    for (uint64_t k = 1; k == 1 || kernel.failures > 0; k++) {
        cargo_graph *graph = NULL;
        heap from;

        heap_init(&from, NULL);
        faults_arm(&kernel, FAULT_ERROR, k, EIO);
        if (cargo_graph_open(&env, &from, tree_place(&self->at, "m"), &self->options, &graph,
                             NULL) != CG_OK)
            continue;
        self->graph = graph;
        if (is_said(self, "no Cargo.toml"))
            fail_msg("call %d (%s): said not to be there", (int)k, kernel.failed);
        self->graph = NULL;
        cargo_graph_free(graph);
    }
    drop(self);
}

/* How many targets and packages with sources were found. */
static size_t found_count(const cargo_graph *graph)
{
    size_t count = 0;

    for (size_t i = 0; i < graph->packages.count; i++)
        count += graph->packages.at[i].target_count + (graph->packages.at[i].root.len > 0);
    return count;
}

/* With call k failing: a failure, or all of it, or a diagnostic with the reason. */
static void expect_told(fixture *self, const cg_env *env, faults *kernel, int error, size_t wanted)
{
    const char *reason = strerror(error);

    for (uint64_t k = 1; k == 1 || kernel->failures > 0; k++) {
        cargo_graph *graph = NULL;
        cg_err err = {0};
        heap from;

        heap_init(&from, NULL);
        faults_arm(kernel, FAULT_ERROR, k, error);
        if (cargo_graph_open(env, &from, tree_place(&self->at, "m"), &self->options, &graph,
                             &err) != CG_OK) {
            if (strstr(err.text, reason) == NULL)
                fail_msg("call %d (%s, %s): %s", (int)k, kernel->failed, reason, err.text);
            continue;
        }
        self->graph = graph;
        if (found_count(graph) != wanted && !(error == EACCES && is_said(self, reason)))
            fail_msg("call %d (%s, %s): %d of %d found", (int)k, kernel->failed, reason,
                     (int)found_count(graph), (int)wanted);
        self->graph = NULL;
        cargo_graph_free(graph);
        assert_int_equal(from.used_bytes, 0);
    }
}

static void what_cannot_be_examined_or_listed_is_told(void **state)
{
    static const int errors[] = {EIO, EMFILE, EACCES};
    fixture *self = make();
    size_t wanted;
    faults kernel;
    os_calls table = faults_table(&kernel);
    const cg_env env = {.size = sizeof env, .os = &table};

    (void)state;
    add_candle(self, "0.11.0");
    tree_write(&self->at, "m/Cargo.toml",
               PACKAGE
               "[dependencies]\ncandle-nn = \"0.11\"\nv = \"1\"\nown = { path = \"x/own\" }\n"
               "[[bin]]\nname = \"named\"\n[workspace]\nmembers = [\"x/*\", \"lone\"]\n");
    tree_write(&self->at, "m/src/lib.rs", "");
    tree_write(&self->at, "m/src/main.rs", "");
    tree_write(&self->at, "m/src/bin/named/main.rs", "");
    tree_write(&self->at, "m/src/bin/other.rs", "");
    tree_write(&self->at, "m/examples/e/main.rs", "");
    tree_write(&self->at, "m/tests/t.rs", "");
    tree_write(&self->at, "m/build.rs", "");
    tree_write(&self->at, "m/x/own/Cargo.toml", "[package]\nname = \"own\"\nversion = \"1.0.0\"\n");
    tree_write(&self->at, "m/x/own/src/lib.rs", "");
    tree_write(&self->at, "m/lone/Cargo.toml", "[package]\nname = \"lone\"\nversion = \"1.0.0\"\n");
    tree_write(&self->at, "m/lone/src/lib.rs", "");
    tree_write(&self->at, "m/vendor/v/Cargo.toml",
               "[package]\nname = \"v\"\nversion = \"1.2.0\"\n");
    tree_write(&self->at, "m/vendor/v/src/lib.rs", "");
    self->options.package = CG_LIT("my-model");
    open_at(self, "m");
    wanted = found_count(self->graph);
    close_graph(self);
    for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++)
        expect_told(self, &env, &kernel, errors[i], wanted);
    drop(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_lock_file_the_highest_fitting_version_is_taken),
        cmocka_unit_test(without_sources_a_candle_version_follows_from_the_requirement),
        cmocka_unit_test(the_lock_file_decides),
        cmocka_unit_test(features_reach_through_the_graph),
        cmocka_unit_test(an_unknown_feature_is_refused_with_those_there_are),
        cmocka_unit_test(a_list_of_what_there_is_ends_in_time),
        cmocka_unit_test(targets_are_found_where_cargo_looks),
        cmocka_unit_test(a_member_that_cannot_be_read_is_missed),
        cmocka_unit_test(a_workspace_is_one_of_its_members),
        cmocka_unit_test(sources_can_be_given_patched_and_vendored),
        cmocka_unit_test(a_git_dependency_is_found_among_checkouts),
        cmocka_unit_test(platforms_decide_what_is_active),
        cmocka_unit_test(without_a_usable_manifest_the_directory_is_scanned),
        cmocka_unit_test(links_in_circles_and_odd_files_are_survived),
        cmocka_unit_test(inputs_are_listed_with_their_sums),
        cmocka_unit_test(the_tools_own_table_can_be_read),
        cmocka_unit_test(a_dependency_is_loaded_when_asked),
        cmocka_unit_test(every_failing_request_is_reported_and_nothing_is_held),
        cmocka_unit_test(a_manifest_that_cannot_be_examined_is_not_taken_for_absent),
        cmocka_unit_test(what_cannot_be_examined_or_listed_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
