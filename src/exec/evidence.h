/*
 * evidence - everything derived from one run, in one place (candle-graph/evidence/4).
 *
 * Owns the trace and every plane; nothing in it changes after evidence_build.
 */
#ifndef CG_EXEC_EVIDENCE_H
#define CG_EXEC_EVIDENCE_H

#include "exec/capability.h"
#include "exec/graph.h"
#include "exec/nsight.h"

typedef struct evidence_finding {
    cg_str code;
    cg_str summary;
    cg_str source;
    uint8_t
        requires[
            2]; /* capability_kind */
    uint8_t requires_count;
    uint8_t qualification; /* capability_level */
} evidence_finding;

typedef struct evidence_fact {
    cg_str code;
    cg_str label;
    uint8_t value_kind; /* FACT_DURATION_NS, FACT_COUNT, FACT_BYTES or FACT_TEXT */
    uint64_t number;
    cg_str text; /* with FACT_TEXT */
    cg_str source;
    uint8_t capability; /* capability_kind */
} evidence_fact;

#define EVIDENCE_FINDINGS 3
#define EVIDENCE_FACTS    8

typedef struct evidence {
    trace_doc *trace; /* owned */
    heap *heap;       /* of the trace: one ceiling for the whole document */
    arena arena;
    memory_plane memory;
    physical_plane physical;
    timing_plane timing;
    health_report health;
    capability_set capabilities;
    bool has_graph;
    graph graph;
    evidence_finding findings[EVIDENCE_FINDINGS];
    size_t finding_count;
    evidence_fact facts[EVIDENCE_FACTS];
    size_t fact_count;
    sc_strs gaps; /* sorted bytewise, distinct */
    gpu_evidence gpu;
} evidence;

/* Takes the trace in every case: freed on failure, owned by *ret on success. */
cg_code evidence_build(const cg_env *env, trace_doc *trace, evidence **ret, cg_err *reterr) CG_MUST;
/*
 * The same with the Nsight exports of a directory (absent: none). Links to files are followed on
 * request. What is wrong there becomes part of the evidence, never a failure of the call.
 */
cg_code evidence_build_with_nsight(const cg_env *env, trace_doc *trace, cg_str directory,
                                   bool follows_links, evidence **ret, cg_err *reterr) CG_MUST;
/* The same with a directory that is open already; it is closed in every case. NULL: none. */
cg_code evidence_build_opened(const cg_env *env, trace_doc *trace, os_dir *nsight, evidence **ret,
                              cg_err *reterr) CG_MUST;
void evidence_free(evidence *self);

/*
 * A shallow copy that takes its working memory from `work`: with a heap of its own
 * each, any number of threads can ask one evidence at the same time. `work` gets the
 * allocator and the ceiling; what was taken from it must be back before it ends.
 */
void evidence_view(const evidence *from, heap *work, evidence *ret);

/* The message of health issue `index`, as arena-independent text appended to `out`. */
static inline void evidence_issue_text(const evidence *self, size_t index, buf *out)
{
    health_message(&self->health, &self->health.issues.at[index], out);
}

#endif
