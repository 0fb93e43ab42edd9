/*
 * reader - JSON objects into structures, by the tables of schema/schema.h.
 */
#ifndef CG_SCHEMA_READER_H
#define CG_SCHEMA_READER_H

#include "base/arena.h"
#include "codec/json.h"
#include "schema/schema.h"

/*
 * Read `object` into `ret`, a structure of table->size bytes (cleared first).
 * Texts borrow from the JSON reader, lists live in `mem`.
 * Fails with CG_INPUT (field-missing, field-twice, field-type, unknown-word) or CG_NOMEM.
 */
cg_code sc_read(const sc_table *table, yyjson_val *object, arena *mem, void *ret,
                cg_err *reterr) CG_MUST;

/* Copy every text and list of `record` into `mem`, so that it outlives its JSON reader. */
cg_code sc_keep(const sc_table *table, void *record, arena *mem, cg_err *reterr) CG_MUST;

#endif
