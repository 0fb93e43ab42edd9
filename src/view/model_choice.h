/*
 * model_choice - how the records of a model hang together, and which of them a page shows.
 *
 * Links are computed once. A choice is made for a number of rows that a long list may have, and
 * another for the nodes of data flow. The components that are not part of another come first, and
 * the smallest functions, so that as many as possible are whole: their records are taken together,
 * and where they do not all fit, the next are tried. A graph has the edges between what is shown.
 * Findings: errors first. Every other list: its beginning.
 *
 * Positions are those of the lists of the document; nothing that is named but not there stops us.
 */
#ifndef CG_VIEW_MODEL_CHOICE_H
#define CG_VIEW_MODEL_CHOICE_H

#include "model/document.h"
#include "model/index.h"
#include "schema/viewer_static_schema.h"

#define LINK_NONE UINT32_MAX

enum { FLOW_TRAIN, FLOW_INFER, FLOW_COUNT };

typedef struct model_flow {
    uint8_t phase;       /* MODEL_PHASE_ */
    uint32_t *functions; /* that compute in this phase: most operations first, then by name */
    size_t function_count;
    uint64_t *operations; /* by function */
    uint64_t *tensors;
    uint64_t node_count;
    uint64_t edge_count;
} model_flow;

typedef struct model_links {
    heap *heap;
    arena mem;
    const model_doc *doc;
    const doc_checkpoint *checkpoint; /* NULL: there was none */
    text_index components, modules, parameters, functions, tensors;
    uint32_t *module_components; /* by module, by parameter, ...: the position, or LINK_NONE */
    uint32_t *parameter_components;
    uint32_t *parameter_modules;
    uint32_t *tensor_functions;
    uint32_t *operation_functions;
    uint32_t *ranked;            /* components in the order in which they are chosen */
    uint64_t *module_parameters; /* by module: how many it has */
    model_flow flows[FLOW_COUNT];
    uint64_t totals[SHOWN_LIST_COUNT];
} model_links;

cg_code model_links_make(heap *heap, const model_doc *doc, const doc_checkpoint *checkpoint,
                         model_links *ret, cg_err *reterr) CG_MUST;
/* Also after model_links_make has failed. */
void model_links_free(model_links *self);

/* Of each list a choice leaves out records of, which are kept; NULL: all. */
typedef struct model_choice {
    size_t rows;      /* SIZE_MAX: all */
    size_t flow_rows; /* nodes of data flow, of each phase */
    bool *components;
    bool *modules;
    bool *parameters;
    bool *tensors;
    bool *operations;
    bool *findings;
    uint64_t displayed[SHOWN_LIST_COUNT];
} model_choice;

/* The arrays lie in `mem`. Fails with CG_NOMEM. */
cg_code model_choose(const model_links *links, arena *mem, size_t rows, size_t flow_rows,
                     model_choice *ret, cg_err *reterr) CG_MUST;

static inline bool choice_has(const bool *kept, size_t index)
{
    return kept == NULL || (index != LINK_NONE && kept[index]);
}

/* How many of a list that is cut at its end. */
static inline size_t choice_rows(const model_choice *self, size_t count)
{
    return count < self->rows ? count : self->rows;
}

/* ---- edges, numbered ----
 * Of the architecture: those of the document, then from the parent of each module, then from the
 * component to each module without a parent, if there is one component. Of the pipeline: to each
 * stage from those it depends on, then from the stage before it.
 */
typedef struct model_link {
    uint32_t from; /* components for an edge of the document, else modules; stages */
    uint32_t to;
    const model_edge *edge; /* of the document */
    bool is_root;           /* `from` is a component, `to` a module */
} model_link;

size_t model_architecture_edges(const model_links *self);
/* Is there such an edge, and are both ends shown? */
bool model_architecture_edge(const model_links *self, const model_choice *choice, size_t number,
                             model_link *ret);
/* Does an order lead from this stage to the next one of the list? */
bool model_stage_follows(const model_doc *doc, size_t stage);

#endif
