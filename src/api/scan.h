/*
 * scan - a crate behind its public handle: the document, and what was added to it.
 *
 * A scan that came from the cache has a document only; the program behind it is read when somebody
 * needs it (scan_program_of).
 */
#ifndef CG_API_SCAN_H
#define CG_API_SCAN_H

#include "candlegraph/scan.h"
#include "api/scan_cache.h"
#include "codec/safetensors.h"
#include "model/runtime_facts.h"
#include "model/scan.h"
#include "model/suppress.h"
#include "model/tree_view.h"
#include "schema/checkpoint_schema.h"

struct cg_scan {
    heap heap; /* of the handle and what is added */
    arena mem;
    const cg_env *env;
    cg_str path;
    scan_options options;
    scan *of; /* NULL: from the cache, and nobody needed more */
    model_document *document;
    model_document stored; /* of the cache */
    cache_place cache;     /* cleared: none */
    bool is_from_cache;
    cg_str checkpoint_path; /* of the header that was read; absent: none */
    tensor_header header;
    bool has_header;
    sc_strs settled; /* by the checkpoint */
    bool has_checkpoint;
    doc_checkpoint checkpoint;
    const tree_match *matches;
    size_t match_count;
    cg_str runtime_path;    /* absent: none */
    runtime_trace *runtime; /* NULL: none */
    runtime_facts facts;    /* of `runtime`; in `mem` */
    struct scan_runs *runs; /* NULL: none was joined */
};

/* Read the program if the document came from the cache. */
cg_code scan_program_of(cg_scan *self, cg_err *reterr) CG_MUST;

/* Read the headers of a checkpoint, unless they are those that were read last. */
cg_code scan_open_header(cg_scan *self, const char *path, cg_err *reterr) CG_MUST;

/* Where a finding comes from, by its rule. */
enum scan_origin { ORIGIN_SOURCE, ORIGIN_CHECKPOINT, ORIGIN_RUNTIME };
enum scan_origin scan_origin_of(cg_str rule);

/* The runs that were joined: their paths as they were given, and their end. */
size_t scan_run_count(const cg_scan *self);
cg_str scan_run_path(const cg_scan *self, size_t index);
void scan_runs_free(cg_scan *self);


/* What the project allowed, for findings of this origin. */
cg_code scan_allow(cg_scan *self, enum scan_origin origin, cg_err *reterr) CG_MUST;

#endif
