/*
 * texts - Rust files into a program: each text is read once, whoever asks for it again.
 *
 * What was looked for, found or not, goes into the program's inputs with its digest.
 */
#ifndef CG_MODEL_TEXTS_H
#define CG_MODEL_TEXTS_H

#include "model/items.h"

#define TEXTS_MOST_BYTES (64u << 20) /* of one file */

/*
 * Read and parse the file at `path` (absolute, or relative to the current directory) for `crate`.
 * *ret is 0 when there is none. One that is there and cannot be read is a fault and 0, one that is
 * partly broken a fault and its tree.
 */
cg_code texts_load(program *self, crate_ref crate, cg_str path, file_ref *ret, bool *ret_is_missing,
                   cg_err *reterr) CG_MUST;

/* `path` seen from `base`, `.` and `..` taken out as text; in `mem`. */
bool texts_join(arena *mem, cg_str base, cg_str path, cg_str *ret);
/* The directory part, "." when there is none. */
cg_str texts_directory(cg_str path);

/* A fault of rule source-load; `file` may be 0. */
cg_code texts_fault(program *self, crate_ref crate, file_ref file, ast_range range, cg_str path,
                    cg_err *reterr, const char *format, ...) CG_PRINTF(7, 8) CG_MUST;

/* Remember an input; `bytes` is what its digest is of, absent for none. */
cg_code texts_input(program *self, enum program_input_kind kind, cg_str path, cg_str bytes,
                    cg_err *reterr) CG_MUST;

#endif
