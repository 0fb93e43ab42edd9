/*
 * printed - code as the Rust macro printer writes it.
 *
 * Tokens with one space between them, none behind the parts of an operator, `(` and `[` without
 * inner spaces, `{ .. }` with: `not (feature = "cuda")`, `all (unix , feature = "a")`. That is the
 * raw form. For types and expressions ` :: `, ` < `, ` > ` and ` , ` are then moved closer:
 * `& Tensor`, `Result<Tensor >`, `Vec<Option<Tensor>>`, `[usize ; 2]`. Both are part of documents,
 * odd as they look, and never change.
 *
 * Printed is the source text of the node, of an AST_TOKEN_TREE what is between its delimiters.
 * Of nodes made from the rules of a macro only types and token trees have a text of their own; for
 * others it is the invocation's.
 */
#ifndef CG_RUST_PRINTED_H
#define CG_RUST_PRINTED_H

#include "rust/ast.h"

/* In `mem`; false when out of memory. */
bool ast_printed(const ast *self, ast_ref ref, arena *mem, cg_str *ret);
bool ast_printed_raw(const ast *self, ast_ref ref, arena *mem, cg_str *ret);

/* Tokens from anywhere, raw. */
bool tokens_printed(cg_str text, arena *mem, cg_str *ret);

#endif
