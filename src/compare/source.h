/*
 * source - one run, opened to take from it what a comparison or series needs.
 *
 * A run is read, judged and closed again before the next one is opened, so any
 * number of runs costs the memory of one and of what is kept of each.
 * Nothing is taken from the published evidence: what counts is the trace. Its
 * bytes are hashed once more while they are parsed, so what was parsed is what
 * the manifest declares, whoever writes to the bundle meanwhile.
 */
#ifndef CG_COMPARE_SOURCE_H
#define CG_COMPARE_SOURCE_H

#include "exec/health.h"
#include "publish/bundle.h"

typedef struct source {
    bundle *bundle; /* NULL: a raw trace */
    trace_doc *trace;
    memory_plane memory;
    health_report health;
    bool is_judged;    /* memory and health are there */
    opt_u64 sample_ns; /* duration of the first closed measured span, by span id */
} source;

/* Verify the bundle at `path`, read and judge its trace. input-changed: it was written to. */
cg_code source_open_bundle(const cg_env *env, cg_str path, source *ret, cg_err *reterr) CG_MUST;
/* Read and judge a trace file. */
cg_code source_open_trace(const cg_env *env, cg_str path, source *ret, cg_err *reterr) CG_MUST;
/* Judge a trace that was read already. It is taken over in every case. */
cg_code source_take_trace(trace_doc *trace, source *ret, cg_err *reterr) CG_MUST;
void source_close(source *self);

/* Duration of the first closed measured span, by span id. */
opt_u64 source_sample_of(const trace_doc *trace);

/* 64 digits of the manifest, absent for a raw trace. */
static inline cg_str source_manifest(const source *self)
{
    return self->bundle == NULL
               ? (cg_str){NULL, 0}
               : (cg_str){self->bundle->manifest_hex, sizeof self->bundle->manifest_hex};
}

/* Exactly one closed measured span? */
static inline bool source_has_one_sample(const source *self)
{
    return self->health.closed_measured_count == 1;
}

#endif
