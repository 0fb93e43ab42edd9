/*
 * scan - one record in the writer's own spelling, straight into its structure.
 *
 * Recorders write compact JSON, fields in the order of the table, plain ASCII
 * without escapes. For such a line no document tree is needed. Everything else
 * - another order, white space, escapes, non-ASCII text, null, exotic numbers,
 * unknown fields, any fault - is answered with "no", and the JSON library
 * decides. What scan accepts, schema/reader reads to the same structure
 * (fuzz/scan.c compares the two).
 */
#ifndef CG_SCHEMA_SCAN_H
#define CG_SCHEMA_SCAN_H

#include "base/arena.h"
#include "schema/runtime_schema.h"
#include "schema/trace_schema.h"

/*
 * The tag of a line that starts `{"kind":"TAG",`, where `kind` is the key of
 * the first field of `like`; *ret_rest is the offset behind the comma.
 */
bool scan_tag(cg_str line, const sc_table *like, cg_str *ret_tag, size_t *ret_rest);

/*
 * Read the fields of a record of a trace or a runtime trace from `at` to the closing brace, which
 * must end the line. Texts borrow from the line, lists live in `mem`. False: not in plain form
 * or no memory; *ret is then undefined.
 */
bool scan_fields(const sc_table *table, cg_str line, size_t at, arena *mem, void *ret);

#endif
