/*
 * program - the crates of a scan: files, modules and items, as the source declares them.
 *
 * The scanned crate is loaded whole (what `mod` reaches, and what a directory scan finds when there
 * is no manifest); a dependency's source is loaded file by file when a path leads into it. Items
 * whose cfg is certainly false are left out. Everything is addressed by index, 0 is nothing, and
 * lives as long as the program. One thread at a time.
 *
 * Resolving names may load files: pointers into `modules`, `items`, `crates` do not outlast a call
 * that takes a program, those to files and their trees do (but their nodes move, see rust/ast.h).
 */
#ifndef CG_MODEL_PROGRAM_H
#define CG_MODEL_PROGRAM_H

#include "model/items.h"

/*
 * Load the crate `cargo` leads to. `cargo` must outlive the program. Files that cannot be read are
 * faults; only memory and the user's interruption end in an error.
 */
cg_code program_load(const cg_env *env, heap *from, cargo_graph *cargo, program *ret,
                     cg_err *reterr) CG_MUST;
/*
 * The same, but of the scanned crates only the files of the part and those above them are read now,
 * others when a name leads there (`late`). The part must outlive the program; NULL: the whole.
 */
cg_code program_load_part(const cg_env *env, heap *from, cargo_graph *cargo,
                          const program_part *part, program *ret, cg_err *reterr) CG_MUST;
void program_free(program *self);

/* The crate an `extern` name means inside `from`, loaded now if need be; 0 when there is none. */
cg_code program_extern(program *self, crate_ref from, sym name, crate_ref *ret,
                       cg_err *reterr) CG_MUST;

/* Read the file of a module that is pending; afterwards it is not. */
cg_code program_open(program *self, module_ref module, cg_err *reterr) CG_MUST;

/* The items of a function's block that declares some, as a module of its own; 0: none. */
cg_code program_block(program *self, module_ref around, file_ref file, ast_ref block,
                      module_ref *ret, cg_err *reterr) CG_MUST;

/* The item a declaration's node became; 0: none. */
item_ref program_item_at(const program *self, file_ref file, ast_ref node);

/*
 * The attributes before a node that is no item (a field, an arm, a statement, a parameter): 1
 * active, 0 undecided, -1 inactive.
 */
int8_t program_cfg(const program *self, file_ref file, ast_ref node);

/*
 * `module::path` of a module without the crate's name, empty for a root; in self->mem. Of more than
 * 4,000 bytes the last ones. Where several programs of a package are read, a module that only one
 * of them has begins with the name of its crate: `train::args`, and `train` for the root.
 */
bool program_module_path(program *self, module_ref module, cg_str *ret);

#endif
