/*
 * collect - the declarations of a tree as modules, items and uses of a program.
 *
 *   CG_TRY(collect_body(self, module, reterr));     what lies in the module's body, at any depth
 *   ... read the files of modules that are pending, collect them ...
 *   CG_TRY(collect_macros(self, reterr));           items that macros of the crate stand for
 *
 * Modules in files of their own become pending modules; whose inner attributes say that they are
 * not built have no items. The blocks of functions that declare items become modules too. Works
 * through lists of what is left to do, so that nesting costs no stack.
 */
#ifndef CG_MODEL_COLLECT_H
#define CG_MODEL_COLLECT_H

#include "model/items.h"

#define COLLECT_MACRO_DEPTH 16     /* macros made by macros */
#define COLLECT_MACRO_COUNT 20000u /* expansions of one program */

cg_code collect_new(program *self, cg_err *reterr) CG_MUST;
void collect_free(program *self);

/* The body of `module`, whose file is read: its items, those of inline modules and of blocks. */
cg_code collect_body(program *self, module_ref module, cg_err *reterr) CG_MUST;

/* Expand the macro calls met so far. Afterwards modules may be pending again. */
cg_code collect_macros(program *self, cg_err *reterr) CG_MUST;

/* The module of a block that declares items, made now if need be; 0: it declares none. */
cg_code collect_block(program *self, module_ref around, file_ref file, ast_ref block,
                      module_ref *ret, cg_err *reterr) CG_MUST;

/* What the attributes right before a node say: 1 active, 0 undecided, -1 inactive. */
int8_t collect_cfg(const program *self, file_ref file, ast_ref node);

#endif
