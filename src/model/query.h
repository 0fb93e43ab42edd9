/*
 * query - candle-graph/query/1: bounded answers to questions about a model.
 *
 *   model_request request = MODEL_REQUEST;
 *   request.kind = ...; request.select = ...;
 *   CG_TRY(query_open(&answer, heap, document, &request, reterr));
 *   query_write(&answer, out);            or query_text(&answer, buffer);
 *   query_close(&answer);
 *
 * An answer borrows the document. Items are made while they are written, so
 * a page of a long list costs what the page costs. Lists stand in the order of
 * ids, numbers at the end counting as numbers (id_compare); entrypoints of
 * components come before others; stages keep their order, paths theirs.
 */
#ifndef CG_MODEL_QUERY_H
#define CG_MODEL_QUERY_H

#include "base/buf.h"
#include "model/ask.h"

#define QUERY_LIMIT 100

typedef struct model_request {
    enum ask_kind kind;
    cg_str select; /* absent: none was given */
    cg_str to;     /* the other end of a path */
    uint64_t limit;
    uint64_t offset;
    bool is_limit_given; /* bounds the lists inside graph-train and graph-infer too */
} model_request;

#define MODEL_REQUEST ((model_request){.limit = QUERY_LIMIT})

typedef struct model_answer {
    ask from;
    model_request request;
    ask_picks picks; /* of kinds with an item per record, in the order of the answer */
    ask_item single; /* of kinds about everything */
    sc_records hops; /* of path */
    uint64_t total;
    uint64_t returned;
    uint64_t offset;
} model_answer;

/* The kind a word means, `-` and `_` being equal; -1: none. Case matters. */
int query_kind(cg_str word);

/*
 * Fails with CG_INPUT (limit 0, a selector missing or meaning several records,
 * no path) or CG_NOMEM. A selector that means nothing gives an empty answer.
 */
cg_code query_open(model_answer *ret, heap *heap, const model_document *document,
                   const model_request *request, cg_err *reterr) CG_MUST;
void query_close(model_answer *self);

/* Item `index` of those returned, in `mem`. */
bool query_item(model_answer *self, uint64_t index, arena *mem, ask_item *ret) CG_MUST;

/* The document; out->is_sorted must be false. Failures show in jw_finish. */
void query_write(model_answer *self, jsonw *out);
/* A line of head and one for each item, safe for a terminal. */
void query_text(model_answer *self, buf *out);

#endif
