/*
 * scan - a crate from its path to its model document.
 *
 *   scan *scan;
 *   CG_TRY(scan_open(env, path, &options, &scan, reterr));
 *   scan_document(scan)->doc ...
 *   scan_free(scan);
 */
#ifndef CG_MODEL_SCAN_H
#define CG_MODEL_SCAN_H

#include "model/assemble.h"
#include "model/drivers.h"

typedef struct scan_options {
    cargo_options cargo;
    cg_str root;       /* only this component; absent: all */
    bool is_heuristic; /* --heuristic-architecture */
    bool is_structure; /* without what functions compute: no tensors, operations, uses, gradients */
    bool is_findings;  /* without what no finding says: no tensors, operations, uses */
    const program_part *part; /* model/rescan's; NULL: everything */
    cargo_graph *graph;       /* of this path and these options, lent; NULL: is opened */
} scan_options;

typedef struct scan scan;

cg_code scan_open(const cg_env *env, cg_str path, const scan_options *options, scan **ret,
                  cg_err *reterr) CG_MUST;
void scan_free(scan *self);

/* The document; whoever adds to it (a checkpoint, a trace) normalises it again. */
model_document *scan_document(scan *self);
/* What the document was made from. */
const extraction *scan_extraction(const scan *self);
const program *scan_program(const scan *self);
const function_facts *scan_functions(const scan *self);
const drivers *scan_drivers(const scan *self);
struct compute *scan_compute(scan *self); /* model/compute: figures; graphs are gone */

#endif
