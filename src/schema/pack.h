/*
 * pack - records of any table in a compact binary form, for files that only we write and read.
 *
 *   pack_writer out;
 *   pack_begin(&out, heap, seed);
 *   pack_number(&out, count);  pack_text(&out, path);  pack_record(&out, &table_model_doc, &doc);
 *   if (pack_end(&out, &bytes)) ... write `bytes` ...          every distinct text once
 *   pack_free(&out);
 *
 *   pack_reader in;
 *   if (pack_open(&in, mem, bytes) && pack_take(&in, &table_model_doc, &doc) && pack_is_done(&in))
 *
 * Values are read in the order in which they were written. Texts that were read lie in `bytes`,
 * which must outlive them; the rest lies in `mem`. The reader believes nothing: whatever `bytes`
 * holds that is no such form, it answers false, and every text is UTF-8.
 * The form is that of this machine and this version of the tables; who keeps it must see to it
 * that both are the same.
 */
#ifndef CG_SCHEMA_PACK_H
#define CG_SCHEMA_PACK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "schema/schema.h"

#define PACK_DEPTH 16u /* of tables inside tables */

typedef struct pack_writer {
    heap *heap;
    buf words; /* values in order; a text is its number */
    intern texts;
    bool failed;
} pack_writer;

bool pack_begin(pack_writer *self, heap *from, uint64_t seed) CG_MUST;
void pack_number(pack_writer *self, uint64_t number);
void pack_text(pack_writer *self, cg_str text); /* absent stays absent */
void pack_record(pack_writer *self, const sc_table *table, const void *record);
/* Would both be written as the same bytes? */
bool pack_equal(const sc_table *table, const void *a, const void *b);
/* Everything, appended to `ret`; false: out of memory, or more than 4 GiB of texts. */
bool pack_end(pack_writer *self, buf *ret) CG_MUST;
void pack_free(pack_writer *self);

typedef struct pack_reader {
    arena *mem;
    const char *at; /* values */
    const char *end;
    const cg_str *texts;
    uint32_t text_count;
    bool is_short; /* of memory */
} pack_reader;

bool pack_open(pack_reader *self, arena *mem, cg_str bytes) CG_MUST;
bool pack_take_number(pack_reader *self, uint64_t *ret) CG_MUST;
bool pack_take_text(pack_reader *self, cg_str *ret) CG_MUST;
bool pack_take(pack_reader *self, const sc_table *table, void *ret) CG_MUST;
/* A number that is a count, and cleared room for as many of `size`, one at least; NULL: neither. */
void *pack_take_list(pack_reader *self, size_t size, size_t *ret_count);
/* Nothing is left. */
bool pack_is_done(const pack_reader *self);

#endif
