/*
 * capability - what may be concluded from this capture, plane by plane.
 */
#ifndef CG_EXEC_CAPABILITY_H
#define CG_EXEC_CAPABILITY_H

#include "exec/health.h"
#include "exec/nsight.h"
#include "exec/timing.h"
#include "schema/evidence_schema.h"

enum capability_kind {
#define X(name, key, word, text) CAPABILITY_##name,
    CAPABILITIES(X)
#undef X
        CAPABILITY_COUNT
};

/* level (enum of CAPABILITY_LEVEL_WORDS, weaker first), source (static), reason (a sentence). */
typedef doc_capability capability;

typedef struct capability_set {
    capability at[CAPABILITY_COUNT];
} capability_set;

cg_str capability_level_word(uint8_t level);
cg_str capability_kind_word(enum capability_kind kind);
cg_str capability_title(enum capability_kind kind);

/* Reasons live in `mem`. */
cg_code capability_build(arena *mem, const trace_doc *trace, const health_report *health,
                         const timing_plane *timing, const gpu_evidence *gpu, capability_set *ret,
                         cg_err *reterr) CG_MUST;

static inline bool capability_is_available(const capability_set *set, enum capability_kind kind)
{
    return set->at[kind].level >= CAPABILITY_PARTIAL;
}

#endif
