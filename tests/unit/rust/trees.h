/*
 * trees - a text parsed in place, and its tree as text.
 *
 *   tree of;
 *   tree_open(&of, str_from("fn f() {}"));
 *   assert_tree(&of, 1, "(source_file (function_item name:`f` parameters:(parameters) ...))");
 *   tree_close(&of);
 *
 * A node with children is `(kind ...)`, without `(kind)`, with a text only the text; before it its
 * role. Operators and flags stand behind the kind.
 */
#ifndef CG_TESTS_TREES_H
#define CG_TESTS_TREES_H

#include "base/buf.h"
#include "rust/expand.h"
#include "unit/base/failing.h"

typedef struct tree {
    failing memory;
    heap from;
    arena mem;
    intern names;
    rust_parser *parser;
    rust_source source;
    ast nodes;
} tree;

static inline void tree_open(tree *self, cg_str text)
{
    *self = (tree){0};
    heap_init(&self->from, failing_env(&self->memory));
    arena_init(&self->mem, &self->from);
    assert_true(intern_init(&self->names, &self->from, 1));
    assert_int_equal(rust_parser_new(&self->from, &self->parser, NULL), CG_OK);
    assert_true(source_init(&self->source, &self->mem, CG_LIT("a.rs"), text));
    assert_int_equal(rust_parse(self->parser, &self->source, &self->names, &self->nodes, NULL),
                     CG_OK);
}

static inline void tree_close(tree *self)
{
    ast_free(&self->nodes);
    rust_parser_free(self->parser);
    intern_free(&self->names);
    arena_free(&self->mem);
    assert_nothing_held(&self->memory, &self->from);
}

/* The number-th node of this kind, from 1, in order of their making. */
static inline ast_ref tree_find(const tree *self, enum ast_kind kind, size_t number)
{
    for (ast_ref at = 1; at < self->nodes.nodes.count; at++) {
        if (ast_kind_of(&self->nodes, at) == kind && --number == 0)
            return at;
    }
    fail_msg("no such %s", ast_kind_name(kind));
    return 0;
}

static inline void tree_write_head(const tree *self, const ast_node *node, buf *out)
{
    static const char *const operators[] = {
        "",   "+",  "-",  "*", "/",  "%", "&",  "|",   "^",   "<<",    ">>", "&&",
        "||", "==", "!=", "<", "<=", ">", ">=", "neg", "not", "deref", "..", "..=",
    };
    static const char *const flags[] = {"semicolon", "mut", "broken", "move", "ref", "opaque"};
    bool is_leaf = node->text != 0 && node->first == 0 && node->kind != AST_TOKEN_TREE;

    if (node->role != ROLE_NONE)
        buf_addf(out, "%s:", ast_role_name((enum ast_role)node->role));
    if (is_leaf) {
        buf_byte(out, '`');
        buf_add(out, intern_text_of(&self->names, node->text));
        buf_byte(out, '`');
        return;
    }
    buf_addf(out, "(%s", ast_kind_name((enum ast_kind)node->kind));
    if (node->op != OP_NONE)
        buf_addf(out, " %s", operators[node->op]);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if ((node->flags & 1u << i) != 0 && (1u << i) != AST_SEMICOLON)
            buf_addf(out, " %s", flags[i]);
    }
}

static inline void tree_write(const tree *self, ast_ref root, buf *out)
{
    ast_ref at = root;

    for (;;) {
        const ast_node *node = ast_at(&self->nodes, at);

        if (at != root)
            buf_byte(out, ' ');
        tree_write_head(self, node, out);
        if (node->first != 0) {
            at = node->first;
            continue;
        }
        if (node->text == 0 || node->kind == AST_TOKEN_TREE)
            buf_byte(out, ')');
        while (at != root && ast_at(&self->nodes, at)->next == 0) {
            at = ast_at(&self->nodes, at)->parent;
            buf_byte(out, ')');
        }
        if (at == root)
            return;
        at = ast_at(&self->nodes, at)->next;
    }
}

static inline void assert_tree(tree *self, ast_ref root, const char *want)
{
    buf text;

    buf_init(&text, &self->from, SIZE_MAX);
    tree_write(self, root, &text);
    assert_text(buf_text(&text), want);
    buf_free(&text);
}

/* Every node hangs where its parent says, and begins and ends inside it, unless it is expanded. */
static inline void assert_whole(const tree *self)
{
    const ast *nodes = &self->nodes;

    for (ast_ref at = 1; at < nodes->nodes.count; at++) {
        const ast_node *node = ast_at(nodes, at);
        uint32_t last = node->start;

        assert_true(node->start <= node->end && node->end <= self->source.text.len);
        for (ast_ref child = node->first; child != 0; child = ast_at(nodes, child)->next) {
            const ast_node *below = ast_at(nodes, child);

            assert_true(child > at && below->parent == at);
            assert_true(below->next == 0 || below->next > child);
            if (((node->flags | below->flags) & AST_EXPANDED) == 0 &&
                node->kind != AST_TOKEN_TREE) {
                assert_true(below->start >= last && below->end <= node->end);
                last = below->end;
            }
        }
    }
}

/* `part` the given number of times between two texts; freed by the caller. */
static inline cg_str repeated(const char *before, const char *part, size_t count, const char *after)
{
    size_t len = strlen(before) + strlen(part) * count + strlen(after);
    char *text = malloc(len + 1);
    char *at = text;

    assert_non_null(text);
    memcpy(at, before, strlen(before));
    at += strlen(before);
    for (size_t i = 0; i < count; i++, at += strlen(part))
        memcpy(at, part, strlen(part));
    memcpy(at, after, strlen(after));
    return (cg_str){text, len};
}

#endif
