/*
 * expand - what stands inside macros, as nodes of the same tree.
 *
 * A macro invocation keeps its tokens as one AST_TOKEN_TREE. Most macros of ordinary code (`vec!`,
 * `format!`, `bail!`, logging) take expressions: their tokens are parsed as such, in place, the
 * first time they are asked for. A macro of the crate itself (`macro_rules!`) is expanded when one
 * of its rules fits; the nodes made have the byte range of the invocation. Both results become
 * children of the AST_TOKEN_TREE and are found there when asked for again.
 *
 * Macros inside macros are expanded when they are asked for in turn. All the text that is parsed
 * for one file has a ceiling (64 times its size and a megabyte): beyond it nothing is expanded, so
 * macros that call themselves end.
 */
#ifndef CG_RUST_EXPAND_H
#define CG_RUST_EXPAND_H

#include "rust/syntax.h"

/*
 * The arguments of `invocation` as one AST_MACRO_ARGUMENTS node, 0 when the tokens are no
 * expressions. An argument that is none (a pattern of `matches!`) is an AST_ERROR without children,
 * so that the others keep their number. Of `field = %x` and `?x`, as logging has them, `x` is kept.
 */
cg_code expand_arguments(rust_parser *parser, ast *tree, intern *names, ast_ref invocation,
                         ast_ref *ret, cg_err *reterr) CG_MUST;

/*
 * Expand `invocation` (in `tree`) by the rules of `definition` (AST_MACRO_DEFINITION in `rules`,
 * perhaps another file, with leaf texts in the same `names`) into one AST_MACRO_BODY: statements,
 * items, or one expression with ROLE_VALUE, whatever stands where the invocation does. 0 when no
 * rule fits, the result is not Rust, or too large. `$crate` stays, as an AST_METAVARIABLE.
 * `mem` is used for working room and left as it was.
 *
 * Rules are tried in order. A fragment is taken to reach as far as what may follow its kind,
 * without looking whether it is well formed.
 */
cg_code expand_rules(rust_parser *parser, const ast *rules, ast_ref definition, ast *tree,
                     intern *names, arena *mem, ast_ref invocation, ast_ref *ret,
                     cg_err *reterr) CG_MUST;

#endif
