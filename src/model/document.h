/*
 * document - a finished model document in memory and as JSON.
 *
 * Structures and words are those of schema/model.def. A document owns an
 * arena; whatever its records name lies there and is freed with it. Documents
 * are made by model/draft.h, or read from JSON.
 */
#ifndef CG_MODEL_DOCUMENT_H
#define CG_MODEL_DOCUMENT_H

#include "base/arena.h"
#include "codec/json.h"
#include "schema/model_schema.h"

typedef struct model_document {
    heap *heap;
    arena mem;
    model_doc doc;
} model_document;

/* The records of a list: MODEL_AT(doc->parameters, model_parameter, i). */
#define MODEL_AT(list, type, index) (&((const type *)(list).at)[index])

/* The list of a document, the table and the size of its records. */
sc_records *model_list_of(model_doc *doc, enum model_list list);
const sc_table *model_list_table(enum model_list list);
/* Every record of a list begins with its id. */
static inline cg_str model_id_at(const sc_records *list, const sc_table *table, size_t index)
{
    return *(const cg_str *)(const void *)((const char *)list->at + index * table->size);
}

/* As one JSON object; pretty or compact as `out` is. */
void model_write(const model_doc *doc, jsonw *out);
/*
 * Read a document (a cache file, what `report` printed). Unknown fields are
 * ignored; the order of the lists is taken as it is. Fails with CG_INPUT or CG_NOMEM.
 */
cg_code model_read(heap *heap, cg_str text, model_document *ret, cg_err *reterr) CG_MUST;
void model_free(model_document *self);

/*
 * Where a record stands, for people and for ordering: its `location`, else
 * what its `source` says (`file`, `file:line` or `file:line:column`). Absent
 * parts are 0.
 */
typedef struct model_place_text {
    cg_str file; /* absent: no place at all */
    uint64_t line;
    uint64_t column;
} model_place_text;

model_place_text model_place_of(const model_location *location, cg_str source);

#endif
