/*
 * little - a small crate, or several, written file by file and loaded as a program.
 *
 *   little l;
 *   little_begin(&l);
 *   little_write(&l, "Cargo.toml", "[package]\n...");
 *   little_write(&l, "src/lib.rs", "...");
 *   little_load(&l, "");
 *   ... l.program, l.types ...
 *   little_end(&l);
 *
 * A probe is a function: little_call says what the first call in its body means, little_parameter
 * prints the type of its first parameter.
 */
#ifndef CG_TESTS_UNIT_MODEL_LITTLE_H
#define CG_TESTS_UNIT_MODEL_LITTLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "model/impls.h"
#include "support/faults.h"

/* A manifest of a library named `a`, edition 2021, with candle below other names. */
#define LITTLE_MANIFEST                                                                            \
    "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"                           \
    "[dependencies]\ncandle = { package = \"candle-core\", version = \"0.9\" }\n"                  \
    "candle-nn = \"0.9\"\nanyhow = \"1\"\n"

typedef struct little {
    char root[256];
    cg_env env;
    heap heap;
    cargo_graph *cargo;
    program program;
    types *types;
    bool is_loaded;
} little;

static inline void little_begin(little *self)
{
    memset(self, 0, sizeof *self);
    self->env.size = sizeof self->env;
    heap_init(&self->heap, &self->env);
    place_make(self->root);
}

static inline void little_write(little *self, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    assert_true(snprintf(path, sizeof path, "%s/%s", self->root, name) < (int)sizeof path);
    for (char *at = path + strlen(self->root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0777);
        *at = '/';
    }
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* The crate in the directory `name` below the root. */
static inline void little_load(little *self, const char *name)
{
    cargo_options options = {0};
    char path[512];
    char home[512];
    cg_err err = {0};

    snprintf(path, sizeof path, "%s/%s", self->root, name);
    /* no registry: what is not written here does not exist */
    snprintf(home, sizeof home, "%s/.no-cargo", self->root);
    options.cargo_home = str_from(home);
    if (cargo_graph_open(&self->env, &self->heap, str_from(path), &options, &self->cargo, &err) !=
        CG_OK)
        fail_msg("cargo: %s", err.text);
    if (program_load(&self->env, &self->heap, self->cargo, &self->program, &err) != CG_OK)
        fail_msg("program: %s", err.text);
    assert_int_equal(types_new(&self->program, &self->types, &err), CG_OK);
    self->is_loaded = true;
}

static inline void little_end(little *self)
{
    if (self->is_loaded) {
        types_free(self->types);
        program_free(&self->program);
        cargo_graph_free(self->cargo);
    }
    assert_int_equal(self->heap.used_bytes, 0);
    place_remove(self->root);
}

/* The first item of that qualified name, in a crate that is scanned; 0: none. */
static inline item_ref little_item(little *self, const char *path)
{
    for (item_ref i = 1; i < self->program.items.count; i++) {
        module_ref module = self->program.items.at[i].module;
        cg_str found;

        if (!self->program.crates.at[self->program.modules.at[module].crate].is_scanned)
            continue;
        assert_true(program_item_path(&self->program, i, &found));
        if (str_equal(found, str_from(path)) && self->program.items.at[i].kind != ITEM_IMPL)
            return i;
    }
    return 0;
}

/* `c::path` of an item, with the name of its crate unless it is the scanned one. */
static inline void little_print(little *self, const name_def *def, char ret[256])
{
    static const char *const kinds[] = {"none",  "fn",    "struct", "enum", "variant", "union",
                                        "trait", "alias", "const",  "impl", "macro",   "mod"};
    program *of = &self->program;
    cg_str path = CG_LIT("");
    module_ref module = def->module;
    const char *word = "none";

    if (def->kind == DEF_ITEM) {
        module = of->items.at[def->item].module;
        word = kinds[of->items.at[def->item].kind];
        assert_true(program_item_path(of, def->item, &path));
    } else if (def->kind == DEF_MODULE) {
        word = "mod";
        assert_true(program_module_path(of, module, &path));
    } else if (def->kind == DEF_EXTERNAL || def->kind == DEF_PRIMITIVE) {
        word = def->kind == DEF_EXTERNAL ? "extern" : "primitive";
        path = program_text(of, def->path);
    } else if (def->kind == DEF_SELF_TYPE) {
        word = "Self";
    }
    if (module != 0 && !of->crates.at[of->modules.at[module].crate].is_scanned) {
        cg_str crate = program_text(of, of->crates.at[of->modules.at[module].crate].name);

        snprintf(ret, 256, "%s %.*s::%.*s", word, (int)crate.len, crate.ptr, (int)path.len,
                 path.ptr);
    } else {
        snprintf(ret, 256, "%s%s%.*s", word, path.len > 0 ? " " : "", (int)path.len, path.ptr);
    }
    if (def->rest > 0)
        snprintf(ret + strlen(ret), 256 - strlen(ret), " +%u", def->rest);
}

/* The first node of that kind below a function's body, and the module it stands in. */
static inline ast_ref little_find(little *self, item_ref function, enum ast_kind kind,
                                  module_ref *ret_module)
{
    program_item item = self->program.items.at[function];
    ast_ref body = ast_child(program_tree(&self->program, item.file), item.node, ROLE_BODY);
    module_ref block = 0;
    const ast *tree;

    assert_int_equal(program_block(&self->program, item.module, item.file, body, &block, NULL),
                     CG_OK);
    *ret_module = block != 0 ? block : item.module;
    tree = program_tree(&self->program, item.file);
    for (ast_ref at = body; at < tree->nodes.count; at++) {
        if (ast_kind_of(tree, at) == kind && ast_at(tree, at)->start >= ast_at(tree, body)->start &&
            ast_at(tree, at)->end <= ast_at(tree, body)->end)
            return at;
    }
    return 0;
}

static inline void little_call(little *self, const char *probe, char ret[256])
{
    item_ref function = little_item(self, probe);
    module_ref module;
    path_meaning meaning;
    file_ref file;
    ast_ref call;

    snprintf(ret, 256, "no such probe");
    if (function == 0)
        return;
    file = self->program.items.at[function].file;
    call = little_find(self, function, AST_CALL_EXPRESSION, &module);
    assert_true(call != 0);
    assert_int_equal(
        type_resolve(self->types, module, file,
                     ast_child(program_tree(&self->program, file), call, ROLE_FUNCTION), NULL,
                     &meaning, NULL),
        CG_OK);
    little_print(self, &meaning.def, ret);
}

static inline void little_parameter(little *self, const char *probe, char ret[256])
{
    item_ref function = little_item(self, probe);
    const ast *tree;
    program_item item;
    ast_ref parameter;
    type_ref type;
    cg_str text;

    snprintf(ret, 256, "no such probe");
    if (function == 0)
        return;
    item = self->program.items.at[function];
    tree = program_tree(&self->program, item.file);
    parameter = ast_child_kind(tree, ast_child(tree, item.node, ROLE_PARAMETERS), AST_PARAMETER);
    assert_int_equal(type_lower(self->types, item.module, item.file,
                                ast_child(tree, parameter, ROLE_TYPE), NULL, &type, NULL),
                     CG_OK);
    assert_true(type_text(self->types, type, &text));
    snprintf(ret, 256, "%.*s", (int)text.len, text.ptr);
}

/* A table of probes and what they mean; prints every difference. */
typedef struct little_want {
    const char *probe;
    const char *meaning;
} little_want;

static inline void little_expect(little *self, void (*ask)(little *, const char *, char *),
                                 const little_want *wants, size_t count)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < count; i++) {
        char found[256];

        ask(self, wants[i].probe, found);
        if (strcmp(found, wants[i].meaning) != 0) {
            print_error("%s: `%s`, expected `%s`\n", wants[i].probe, found, wants[i].meaning);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

#define LITTLE_EXPECT(self, ask, wants)                                                            \
    little_expect((self), (ask), (wants), sizeof(wants) / sizeof(wants)[0])

#endif
