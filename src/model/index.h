/*
 * index - from a text to the record that carries it, in one step.
 *
 * Any array of records with a cg_str at a fixed offset can be indexed. Texts
 * are borrowed; records and index must not move or change while it is used.
 */
#ifndef CG_MODEL_INDEX_H
#define CG_MODEL_INDEX_H

#include "base/heap.h"
#include "schema/schema.h"

#define INDEX_NONE SIZE_MAX

typedef struct text_index {
    heap *heap;
    const char *keys; /* where the text of the first record is */
    size_t stride;
    size_t count;
    uint64_t *slots; /* hash in the upper, position + 1 in the lower half */
    size_t slot_count;
    uint64_t seed;
} text_index;

/* Of several records with one text the first is found. false: out of memory. */
bool index_build(text_index *self, heap *heap, const sc_records *records, size_t stride,
                 size_t key_offset) CG_MUST;
void index_free(text_index *self);
/* Position of the record, or INDEX_NONE. */
size_t index_find(const text_index *self, cg_str text);

#endif
