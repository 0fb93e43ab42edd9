/*
 * syntax - Rust text to a flat tree, through tree-sitter and its Rust grammar.
 *
 * A parser is reused for many files and by one thread at a time. Any text is accepted: broken
 * files give a tree with AST_ERROR nodes. Only memory can be lacking, the text be larger than
 * RUST_TEXT_CEILING (CG_LIMIT), or the user interrupt a long parse (CG_INTERRUPTED). Time is linear
 * in the text: a fifth of a microsecond for a byte of ordinary code, ten for one that is an error
 * from end to end. A text that needs more (only texts made for that do) gives a tree of nothing but
 * its root, broken as a whole.
 *
 * tree-sitter takes its own working memory from malloc, a few dozen bytes for each byte of text. It
 * is kept for the next text until rust_parser_rest, that of large texts only until rust_parse
 * returns. The nodes of the tree come from the parser's heap.
 */
#ifndef CG_RUST_SYNTAX_H
#define CG_RUST_SYNTAX_H

#include "rust/printed.h"

#define RUST_TEXT_CEILING ((size_t)8 << 20)

typedef struct rust_parser rust_parser;

cg_code rust_parser_new(heap *heap, rust_parser **ret, cg_err *reterr) CG_MUST;
void rust_parser_free(rust_parser *self);
/* Give back what is kept for the next text, if there is one: it costs little to have it again. */
void rust_parser_rest(rust_parser *self);
/* Whom to tell how far a long parse is, and to ask whether it shall go on; until then nobody. */
void rust_parser_watch(rust_parser *self, const cg_env *env);

/* Parse `source` into `ret` (fresh); leaf texts are interned in `names`. */
cg_code rust_parse(rust_parser *self, const rust_source *source, intern *names, ast *ret,
                   cg_err *reterr) CG_MUST;
void ast_free(ast *self);

/* What a piece of text is parsed as. */
enum rust_wrap {
    RUST_WRAP_LIST,       /* expressions with commas between, or `x; n` */
    RUST_WRAP_STATEMENTS, /* what stands in a block */
    RUST_WRAP_ITEMS,      /* what stands in a file */
    RUST_WRAP_MEMBERS,    /* what stands in an impl or trait */
};

/*
 * Parse `text` and append what it holds to the children of `parent`, an existing node of `tree`;
 * *last is the last of them (0: none) and moves on. *ret_fits is false, and nothing was added, when
 * the text is not wholly that. `place` says where the text lies in the file: with
 * place.end == place.start it stands there byte by byte, otherwise every node gets this range, and
 * an AST_TOKEN_TREE its text.
 */
cg_code rust_parse_piece(rust_parser *self, enum rust_wrap wrap, cg_str text, ast_range place,
                         intern *names, ast *tree, ast_ref parent, ast_ref *last, bool *ret_fits,
                         cg_err *reterr) CG_MUST;

/* What stands between the delimiters of an AST_TOKEN_TREE, wherever it was made. */
cg_str ast_tokens(const ast *self, ast_ref ref);

/* The name in the grammar (kinds.def), of a role the name of its field; "" for ROLE_NONE. */
const char *ast_kind_name(enum ast_kind kind);
const char *ast_role_name(enum ast_role role);

#endif
