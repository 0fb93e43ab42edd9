/*
 * kept - the tree of a file as bytes, to have it again without parsing.
 *
 *   if (kept_write(&tree, heap, &bytes)) ...
 *   CG_TRY(kept_read(bytes, &source, names, heap, &tree, &fits, reterr));
 *
 * The tree is kept as it was parsed: what rust/expand added is left out. The reader believes
 * nothing: it answers "does not fit" unless the bytes make a tree for which everything holds that
 * rust/ast.h promises, and whose nodes lie within this text. That it is the tree of this text the
 * caller has to know.
 */
#ifndef CG_RUST_KEPT_H
#define CG_RUST_KEPT_H

#include "base/buf.h"
#include "rust/ast.h"

/* A file that was not wholly understood, or has remarks, is parsed again. */
static inline bool kept_is_possible(const ast *tree)
{
    return tree->broken.count == 0 && tree->remarks.count == 0 && tree->parsed > 1;
}

/* Appended to `ret`; false: out of memory, or it cannot be kept. */
bool kept_write(const ast *tree, heap *from, buf *ret) CG_MUST;
cg_code kept_read(cg_str bytes, const rust_source *source, intern *names, heap *from, ast *ret,
                  bool *ret_fits, cg_err *reterr) CG_MUST;

#endif
