/*
 * ask - what every answer about a model document works with: the document, a
 * few indexes over it, and room that is freed with the answer.
 *
 * An item of an answer is a record of a table of static_query.def or model.def.
 * Functions of items take an arena of their own, so that the items of a long
 * list can be made, written and forgotten one by one.
 */
#ifndef CG_MODEL_ASK_H
#define CG_MODEL_ASK_H

#include "model/document.h"
#include "model/index.h"
#include "schema/static_query_schema.h"

typedef struct ask {
    heap *heap;
    arena mem;
    const model_document *document;
    const model_doc *doc;
    text_index components;      /* by id */
    text_index component_names; /* by qualified name */
    text_index functions;       /* by id */
} ask;

typedef struct ask_item {
    const sc_table *table;
    const void *record;
} ask_item;

/* Positions in a list of the document. */
typedef struct ask_picks {
    uint32_t *at;
    size_t count;
} ask_picks;

cg_code ask_begin(ask *self, heap *heap, const model_document *document, cg_err *reterr) CG_MUST;
void ask_close(ask *self);

/* NULL when there is none of that id. */
const model_component *ask_component_of(const ask *self, cg_str id);
const model_function *ask_function_of(const ask *self, cg_str id);
/* Does it belong to a component? */
bool ask_is_of_component(const ask *self, const model_function *function);
bool ask_is_composition(const model_edge *edge);

/* One more question at the end of a list, at most twelve; `select` may be absent. */
bool ask_drill_add(arena *mem, sc_records *list, uint8_t kind, cg_str select) CG_MUST;

#endif
