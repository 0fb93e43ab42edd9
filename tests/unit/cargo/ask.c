#include "../base/failing.h"

#include <stdio.h>
#include <unistd.h>

#include "cargo/workspace.h"
#include "support/tree.h"

#define MANIFEST "[package]\nname = \"m\"\nversion = \"0.1.0\"\n[dependencies]\nd = \"1\"\n"

/* Everything in a crate that could make somebody run a program of its choice. */
static void write_traps(tree *at)
{
    char text[2048];

    snprintf(text, sizeof text, "#!/bin/sh\necho > %s/mark\nexit 1\n", at->root);
    tree_program(at, "m/trap", text);
    tree_program(at, "m/cargo", text);
    tree_program(at, "m/rustc", text);
    tree_program(at, "m/chain/bin/cargo", text);
    tree_program(at, "m/chain/bin/rustc", text);
    snprintf(text, sizeof text,
             "[build]\nrustc = \"%s/m/trap\"\nrustc-wrapper = \"%s/m/trap\"\n[alias]\nmetadata = "
             "\"run\"\n",
             at->root, at->root);
    tree_write(at, "m/.cargo/config.toml", text);
    snprintf(text, sizeof text, "[toolchain]\npath = \"%s/m/chain\"\n", at->root);
    tree_write(at, "m/rust-toolchain.toml", text);
    tree_write(at, "m/build.rs", "fn main() { std::fs::write(\"mark\", \"\").unwrap() }\n");
    tree_write(at, "m/Cargo.toml",
               MANIFEST "evil = { path = \"evil\" }\n[package.metadata.x]\nrun = \"./trap\"\n");
    tree_write(at, "m/evil/Cargo.toml",
               "[package]\nname = \"evil\"\nversion = \"1.0.0\"\n[lib]\nproc-macro = true\n");
    tree_write(at, "m/evil/src/lib.rs", "");
    tree_write(at, "m/src/lib.rs", "");
}

/* A tool chain that writes down how it was called. */
static void write_tools(tree *at, const char *cargo)
{
    char text[4096];

    snprintf(text, sizeof text, "#!/bin/sh\n{ pwd; echo \"$@\"; env; } > %s/cargo-log\n%s\n",
             at->root, cargo);
    tree_program(at, "bin/cargo", text);
    snprintf(text, sizeof text,
             "#!/bin/sh\n{ pwd; echo \"$@\"; env; } > %s/rustc-log\n"
             "echo unix; echo 'target_os=\"linux\"'; echo special\n",
             at->root);
    tree_program(at, "bin/rustc", text);
}

static void set_path(const tree *at)
{
    char text[1200];

    snprintf(text, sizeof text, ".:m::%s/m:%s/bin:/usr/bin:/bin", at->root, at->root);
    assert_int_equal(setenv("PATH", text, 1), 0);
    assert_int_equal(setenv("RUSTC_WRAPPER", "./trap", 1), 0);
    assert_int_equal(setenv("RUSTC", "./trap", 1), 0);
    assert_int_equal(setenv("RUSTUP_TOOLCHAIN", "./chain", 1), 0);
}

static cargo_graph *open_graph(tree *at, heap *memory, const cargo_options *options)
{
    cargo_graph *graph = NULL;
    cg_err err = {0};
    char inside[1024];

    /* From inside of the crate, which is how the tool is used. */
    snprintf(inside, sizeof inside, "%s", tree_place(at, "m").ptr);
    assert_int_equal(chdir(inside), 0);
    heap_init(memory, NULL);
    if (cargo_graph_open(NULL, memory, CG_LIT("."), options, &graph, &err) != CG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(chdir("/"), 0);
    return graph;
}

static void read_file(tree *at, const char *name, char *to, size_t room)
{
    FILE *file = fopen(tree_place(at, name).ptr, "rb");
    size_t len;

    assert_non_null(file);
    len = fread(to, 1, room - 1, file);
    to[len] = '\0';
    fclose(file);
}

static void reading_files_runs_nothing(void **state)
{
    cargo_options options = {.cargo_home = CG_LIT("/nonexistent")};
    cargo_graph *graph;
    heap memory;
    tree at;

    (void)state;
    tree_make(&at);
    write_traps(&at);
    write_tools(&at, "exit 1");
    set_path(&at);
    graph = open_graph(&at, &memory, &options);
    for (uint32_t i = 0; i < graph->packages.count; i++)
        assert_int_equal(cargo_package_load(graph, i, NULL), CG_OK);
    assert_true(graph->packages.at[graph->root].has_build_script);
    cargo_graph_free(graph);
    assert_false(tree_has(&at, "mark"));
    assert_false(tree_has(&at, "cargo-log"));
    assert_false(tree_has(&at, "rustc-log"));
    tree_remove(&at);
}

static void asking_runs_only_the_tool_chain_in_a_neutral_place(void **state)
{
    cg_str chosen[] = {CG_LIT("d")};
    cargo_options options = {.cargo_home = CG_LIT("/nonexistent"), .is_asking = true};
    const cargo_package *root;
    cargo_graph *graph;
    heap memory;
    tree at;
    char text[4096];

    (void)state;
    tree_make(&at);
    write_traps(&at);
    tree_write(&at, "m/Cargo.toml",
               "[package]\nname = \"m\"\nversion = \"0.1.0\"\n[dependencies]\nd = { version = "
               "\"1\", optional = true }\n");
    tree_write(&at, "d/Cargo.toml", "[package]\nname = \"d\"\nversion = \"1.5.0\"\n");
    tree_write(&at, "d/src/lib.rs", "");
    snprintf(text, sizeof text,
             "cat <<'END'\n{\"packages\": [{\"id\": \"b\", \"name\": \"d\", \"version\": "
             "\"1.5.0\", \"manifest_path\": \"%s/d/Cargo.toml\"}, {\"id\": \"a\", \"name\": "
             "\"m\", \"version\": \"0.1.0\", \"manifest_path\": \"%s/m/Cargo.toml\"}], "
             "\"workspace_root\": \"%s/m\", \"resolve\": {\"root\": \"a\", \"nodes\": [{\"id\": "
             "\"a\", \"features\": [\"d\"], \"deps\": [{\"name\": \"d\", \"pkg\": \"b\"}]}, "
             "{\"id\": \"b\", \"features\": [\"std\"], \"deps\": []}]}}\nEND",
             at.root, at.root, at.root);
    write_tools(&at, text);
    set_path(&at);
    options.features = (cargo_strs){chosen, 1};
    graph = open_graph(&at, &memory, &options);
    assert_int_equal(graph->cfg_source, CARGO_CFG_RUSTC);
    assert_int_equal(graph->diagnostics.count, 0);
    root = &graph->packages.at[graph->root];
    assert_text(root->name, "m");
    assert_int_equal(graph->active_cfg.count, 4);
    assert_text(graph->active_cfg.at[0], "feature=\"d\"");
    assert_text(graph->active_cfg.at[1], "special");
    uint32_t found = cargo_extern_find(graph, graph->root, CG_LIT("d"));

    assert_int_not_equal(found, CARGO_MISSING);
    assert_text(graph->packages.at[found].version, "1.5.0");
    assert_int_equal(cargo_package_load(graph, found, NULL), CG_OK);
    assert_text(graph->packages.at[found].features.at[0], "std");
    cargo_graph_free(graph);
    assert_int_equal(memory.used_bytes, 0);

    assert_false(tree_has(&at, "mark"));
    read_file(&at, "cargo-log", text, sizeof text);
    assert_int_equal(strncmp(text,
                             "/\nmetadata --format-version 1 --offline --locked "
                             "--manifest-path /",
                             66),
                     0);
    assert_non_null(strstr(text, "--features d,"));
    assert_null(strstr(text, "RUSTC"));
    assert_null(strstr(text, "RUSTUP_TOOLCHAIN"));
    assert_null(strstr(text, "PATH=."));
    assert_null(strstr(text, "/m:"));
    read_file(&at, "rustc-log", text, sizeof text);
    assert_int_equal(strncmp(text, "/\n--print cfg\n", 14), 0);
    tree_remove(&at);
}

static void without_an_answer_the_files_are_read(void **state)
{
    static const char *const answers[] = {"echo 'error: no network' >&2; exit 101", "echo '{}'",
                                          "echo '['", "echo '{\"packages\": 1}'", "kill -9 $$"};
    cargo_options options = {.cargo_home = CG_LIT("/nonexistent"), .is_asking = true};
    cargo_graph *graph;
    heap memory;
    tree at;

    (void)state;
    tree_make(&at);
    write_traps(&at);
    set_path(&at);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        write_tools(&at, answers[i]);
        graph = open_graph(&at, &memory, &options);
        assert_text(graph->packages.at[graph->root].name, "m");
        assert_int_equal(graph->diagnostics.count, 1);
        assert_true(str_starts_with(graph->diagnostics.at[0].message,
                                    CG_LIT("cargo did not answer, the files are read instead")));
        if (i == 0)
            assert_true(str_find(graph->diagnostics.at[0].message, CG_LIT("no network")) !=
                        SIZE_MAX);
        cargo_graph_free(graph);
        assert_int_equal(memory.used_bytes, 0);
    }
    tree_remove(&at);
}

static void without_a_tool_chain_the_files_are_read(void **state)
{
    cargo_options options = {.cargo_home = CG_LIT("/nonexistent"), .is_asking = true};
    cargo_graph *graph;
    heap memory;
    tree at;

    (void)state;
    tree_make(&at);
    write_traps(&at);
    assert_int_equal(setenv("PATH", tree_place(&at, "m").ptr, 1), 0);
    graph = open_graph(&at, &memory, &options);
    assert_int_equal(graph->cfg_source, CARGO_CFG_BUILT_IN);
    assert_int_equal(graph->diagnostics.count, 2);
    cargo_graph_free(graph);
    assert_false(tree_has(&at, "mark"));
    assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
    tree_remove(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_files_runs_nothing),
        cmocka_unit_test(asking_runs_only_the_tool_chain_in_a_neutral_place),
        cmocka_unit_test(without_an_answer_the_files_are_read),
        cmocka_unit_test(without_a_tool_chain_the_files_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
