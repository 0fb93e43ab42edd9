/*
 * ast - the syntax tree of one Rust file, flat: nodes in one array, linked by index.
 *
 * Built from tree-sitter's tree with a cursor, so that nesting costs memory and not stack. Kinds
 * are those of rust/kinds.def, roles the fields of the grammar. The tree is complete even where the
 * text is broken; what could not be understood is listed in `broken`.
 *
 * Node 0 is no node; node 1 is the source file. `first` and `next` only lead to later-built nodes
 * of the same tree; a node that nothing leads to is AST_NONE. `broken` is in order, without
 * overlaps. rust/expand adds nodes when they are asked for, so pointers to nodes do not last,
 * indices do.
 */
#ifndef CG_RUST_AST_H
#define CG_RUST_AST_H

#include "base/intern.h"
#include "rust/source.h"

typedef uint32_t ast_ref;

enum ast_kind {
    AST_NONE,
#define KIND(name, word) AST_##name,
#include "rust/kinds.def"
#undef KIND
    AST_KIND_COUNT
};

enum ast_role {
    ROLE_NONE,
    ROLE_ALIAS,
    ROLE_ALTERNATIVE,
    ROLE_ARGUMENT,
    ROLE_ARGUMENTS,
    ROLE_BODY,
    ROLE_BOUNDS,
    ROLE_CONDITION,
    ROLE_CONSEQUENCE,
    ROLE_DEFAULT_TYPE,
    ROLE_ELEMENT,
    ROLE_FIELD,
    ROLE_FUNCTION,
    ROLE_INNER,
    ROLE_LEFT,
    ROLE_LENGTH,
    ROLE_LIST,
    ROLE_MACRO,
    ROLE_NAME,
    ROLE_OPERATOR,
    ROLE_PARAMETERS,
    ROLE_PATH,
    ROLE_PATTERN,
    ROLE_RETURN_TYPE,
    ROLE_RIGHT,
    ROLE_TRAIT,
    ROLE_TYPE,
    ROLE_TYPE_ARGUMENTS,
    ROLE_TYPE_PARAMETERS,
    ROLE_VALUE
};

/* Operator of a binary, compound assignment, unary or range expression. */
enum ast_op {
    OP_NONE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_SHL,
    OP_SHR,
    OP_AND,
    OP_OR,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_NEG,
    OP_NOT,
    OP_DEREF,
    OP_RANGE,
    OP_RANGE_INCLUSIVE
};

#define AST_SEMICOLON 1u  /* a statement that ends in `;` */
#define AST_MUTABLE   2u  /* `&mut`, `let mut`, `mut x`, `*mut`, `static mut` */
#define AST_BROKEN    4u  /* an error lies somewhere inside */
#define AST_MOVE      8u  /* `move` of a closure or async block */
#define AST_REFERENCE 16u /* `&self`; `ref` in a field pattern */
#define AST_OPAQUE    32u /* tokens that are no expressions (set by rust/expand) */
#define AST_EXPANDED  64u /* made from the rules of a macro; the range is that of its invocation */

typedef struct ast_node {
    uint32_t start; /* bytes in the file, half open */
    uint32_t end;
    ast_ref parent;
    ast_ref first; /* child */
    ast_ref next;  /* sibling */
    sym text; /* of a leaf (identifier, literal, primitive type, lifetime, self ...), else 0; */
              /* with AST_EXPANDED of types and token trees too, as they would stand there */
    uint8_t kind;
    uint8_t role; /* in the parent */
    uint8_t op;
    uint8_t flags;
} ast_node;

typedef struct ast_range {
    uint32_t start;
    uint32_t end;
} ast_range;

/* A comment `// candle-graph: ...`, for suppressions. */
typedef struct ast_remark {
    uint32_t line;
    cg_str text; /* behind the colon, trimmed */
} ast_remark;

typedef struct ast {
    heap *heap;
    const rust_source *source;
    const intern *names; /* of leaf texts */
    VEC(ast_node) nodes;
    VEC(ast_range) broken;
    VEC(ast_remark) remarks;
    ast_ref parsed; /* nodes of the file itself come before it, parents before children, in order */
    uint64_t expanded_bytes; /* text of macros parsed so far, see rust/expand */
} ast;

static inline const ast_node *ast_at(const ast *self, ast_ref ref)
{
    return &self->nodes.at[ref];
}

static inline uint8_t ast_kind_of(const ast *self, ast_ref ref)
{
    return self->nodes.at[ref].kind;
}

/* First child with this role, 0 when there is none. */
static inline ast_ref ast_child(const ast *self, ast_ref ref, enum ast_role role)
{
    for (ast_ref at = self->nodes.at[ref].first; at; at = self->nodes.at[at].next) {
        if (self->nodes.at[at].role == role)
            return at;
    }
    return 0;
}

/* First child of this kind, 0 when there is none. */
static inline ast_ref ast_child_kind(const ast *self, ast_ref ref, enum ast_kind kind)
{
    for (ast_ref at = self->nodes.at[ref].first; at; at = self->nodes.at[at].next) {
        if (self->nodes.at[at].kind == kind)
            return at;
    }
    return 0;
}

/* The sibling before, 0 when it is the first one. */
static inline ast_ref ast_before(const ast *self, ast_ref ref)
{
    ast_ref around = self->nodes.at[ref].parent;
    ast_ref at = ref - 1;

    if (!around || self->nodes.at[around].first == ref)
        return 0;
    /* What stands before a node is the end of the sibling before it. */
    while (at > around && self->nodes.at[at].parent != around)
        at = self->nodes.at[at].parent;
    if (at > around && self->nodes.at[at].next == ref)
        return at;
    for (at = self->nodes.at[around].first; at && self->nodes.at[at].next != ref;)
        at = self->nodes.at[at].next;
    return at;
}

/* The source text of a node; with AST_EXPANDED that of the invocation. */
static inline cg_str ast_text(const ast *self, ast_ref ref)
{
    const ast_node *node = &self->nodes.at[ref];

    return (cg_str){self->source->text.ptr + node->start, node->end - node->start};
}

#endif
