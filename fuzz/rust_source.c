/*
 * rust_source - any bytes as a Rust file: parsed, kept, every node printed, every macro expanded.
 *
 * The tree is whole (links lead forward, children lie inside their parents), texts of leaves are
 * UTF-8, what is broken is in order and inside the file, and nothing is held afterwards.
 */
#include "check.h"

#include "rust/expand.h"
#include "rust/kept.h"

#define MACROS_AT_MOST 200
#define PRINTED_BYTES  200000

static void check_tree(const ast *tree, const intern *names)
{
    uint32_t last = 0;

    for (ast_ref at = 1; at < tree->nodes.count; at++) {
        const ast_node *node = ast_at(tree, at);

        CHECK(node->start <= node->end && node->end <= tree->source->text.len);
        CHECK(node->kind < AST_KIND_COUNT);
        if (node->text != 0 && node->kind != AST_TOKEN_TREE)
            CHECK(str_utf8_error(intern_text_of(names, node->text)) == SIZE_MAX);
        for (ast_ref child = node->first; child != 0; child = ast_at(tree, child)->next) {
            const ast_node *below = ast_at(tree, child);

            CHECK(child > at && below->parent == at && below->kind != AST_NONE);
            CHECK(below->next == 0 || below->next > child);
            CHECK(node->kind == AST_TOKEN_TREE ||
                  (below->start >= node->start && below->end <= node->end));
        }
    }
    for (size_t i = 0; i < tree->broken.count; i++) {
        const ast_range *range = &tree->broken.at[i];

        CHECK(range->start >= last && range->end >= range->start);
        CHECK(range->end <= tree->source->text.len);
        last = range->end;
    }
    CHECK((tree->broken.count > 0) == ((ast_at(tree, 1)->flags & AST_BROKEN) != 0));
}

/* As it was parsed it comes back; of other bytes comes a tree as good, or none. */
static void keep(const ast *tree, const rust_source *source, const intern *names, heap *from)
{
    bool fits = false;
    intern others;
    buf bytes;
    ast again;

    if (!kept_is_possible(tree))
        return;
    buf_init(&bytes, from, SIZE_MAX / 2);
    CHECK(intern_init(&others, from, 2));
    CHECK(kept_write(tree, from, &bytes));
    CHECK(kept_read(buf_text(&bytes), source, &others, from, &again, &fits, NULL) == CG_OK);
    CHECK(fits && again.nodes.count == tree->parsed);
    for (ast_ref at = 1; at < tree->parsed; at++) {
        ast_node one = *ast_at(tree, at), two = *ast_at(&again, at);

        CHECK(str_equal(intern_text_of(names, one.text), intern_text_of(&others, two.text)));
        one.text = two.text = 0;
        CHECK(memcmp(&one, &two, sizeof one) == 0);
    }
    ast_free(&again);
    for (size_t i = 0; i < 64 && bytes.len > 0; i++) {
        size_t at = (i * 2654435761u) % bytes.len;

        bytes.at[at] = (char)(bytes.at[at] ^ (1 << i % 8));
        CHECK(kept_read(buf_text(&bytes), source, &others, from, &again, &fits, NULL) == CG_OK);
        if (!fits)
            continue;
        check_tree(&again, &others);
        ast_free(&again);
    }
    intern_free(&others);
    buf_free(&bytes);
}

static void print_all(const ast *tree, arena *mem)
{
    uint64_t printed = 0;

    for (ast_ref at = 1; at < tree->nodes.count && printed < PRINTED_BYTES; at++) {
        arena_place mark = arena_mark(mem);
        cg_str text;

        printed += ast_at(tree, at)->end - ast_at(tree, at)->start + 1;
        CHECK(ast_printed_raw(tree, at, mem, &text));
        CHECK(ast_printed(tree, at, mem, &text));
        CHECK(source_place(tree->source, ast_at(tree, at)->start).line >= 1);
        arena_reset(mem, mark);
    }
}

static void expand_all(rust_parser *parser, ast *tree, intern *names, arena *mem)
{
    size_t count = 0;

    for (ast_ref at = 1; at < tree->nodes.count && count < MACROS_AT_MOST; at++) {
        ast_ref made;

        if (ast_kind_of(tree, at) != AST_MACRO_INVOCATION)
            continue;
        count++;
        CHECK(expand_arguments(parser, tree, names, at, &made, NULL) == CG_OK);
        CHECK(made == 0 || ast_kind_of(tree, made) == AST_MACRO_ARGUMENTS);
        for (ast_ref rules = 1; rules < at; rules++) {
            if (ast_kind_of(tree, rules) != AST_MACRO_DEFINITION)
                continue;
            CHECK(expand_rules(parser, tree, rules, tree, names, mem, at, &made, NULL) == CG_OK);
            CHECK(made == 0 || ast_kind_of(tree, made) == AST_MACRO_BODY);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str text = {(const char *)data, size};
    rust_source source;
    rust_parser *parser;
    intern names;
    arena mem;
    heap from;
    ast tree;

    heap_init(&from, NULL);
    arena_init(&mem, &from);
    CHECK(intern_init(&names, &from, 1));
    CHECK(rust_parser_new(&from, &parser, NULL) == CG_OK);
    CHECK(source_init(&source, &mem, CG_LIT("a.rs"), text));
    if (rust_parse(parser, &source, &names, &tree, NULL) == CG_OK) {
        check_tree(&tree, &names);
        keep(&tree, &source, &names, &from);
        print_all(&tree, &mem);
        expand_all(parser, &tree, &names, &mem);
        check_tree(&tree, &names);
        ast_free(&tree);
    }
    rust_parser_free(parser);
    intern_free(&names);
    arena_free(&mem);
    CHECK(from.used_bytes == 0);
    return 0;
}
