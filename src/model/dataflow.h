/*
 * dataflow - what every entry computes, as rows of the model document.
 *
 * A reader of entries (model/entry). Every tensor of an entry's evaluation becomes one row for each
 * phase the entry belongs to, every call that makes one an operation; what a parameter is used by
 * is known from the graph. In inference nothing learns: the same rows, severed.
 */
#ifndef CG_MODEL_DATAFLOW_H
#define CG_MODEL_DATAFLOW_H

#include "model/entry.h"
#include "model/tensor_rows.h"

/* How much of what is computed was understood; of entries that train. */
typedef struct dataflow_figures {
    uint64_t entries;     /* that were run */
    uint64_t with_output; /* that return a tensor */
    uint64_t tensors;
    uint64_t with_dtype; /* known, or equal to a named source */
    uint64_t with_rank;
    uint64_t unknown; /* tensors nobody knows how they were made */
} dataflow_figures;

/* A call of candle that no row of the table describes. */
typedef struct dataflow_gap {
    cg_str name;
    uint64_t count;
} dataflow_gap;

typedef struct dataflow_use {
    cg_str parameter; /* id */
    cg_str operation; /* id */
} dataflow_use;

typedef struct dataflow {
    heap *heap;
    arena work; /* of one entry */
    eval *eval;
    const function_facts *functions;
    model_draft *draft;
    dataflow_figures figures;
    VEC(dataflow_use) uses;
    VEC(dataflow_gap) gaps;
    size_t component;          /* the one the following is about */
    VEC(cg_str) parameter_ids; /* by node of its constructor's graph */
    number_map gap_of;         /* name -> index */
    tensor_rows rows;
} dataflow;

void dataflow_init(dataflow *self, eval *interpreter, const function_facts *functions,
                   model_draft *draft);
/* For entry_reader.read; the context is the dataflow. */
cg_code dataflow_read(void *context, const entry_run *run, cg_err *reterr);
/* What operations the parameters of the draft are used by. */
cg_code dataflow_report(dataflow *self, cg_err *reterr) CG_MUST;
/* The figures and the gaps as Markdown: what docs/coverage.md says of one crate. */
void dataflow_figures_text(dataflow *self, cg_str crate, buf *out);
void dataflow_free(dataflow *self);

#endif
