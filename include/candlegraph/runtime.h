/*
 * runtime - short probe runs for the analysis of the source: what tensors looked like, which
 * parameters got a gradient, how long operations took (candle-graph/runtime/1, 2, 3).
 *
 *   cg_runtime_run run;
 *   cg_runtime *out = NULL;
 *   cg_runtime_run_profile(&run, CG_RUNTIME_INFER, "Net::forward");
 *   if (cg_runtime_open("probe.jsonl", CG_RUNTIME_LINES, &run, &out, &err) != CG_OK) return;
 *
 *   cg_runtime_timed call;
 *   cg_runtime_begin(out, "operation:infer:...:3", "matmul", NULL, 0, &call, &err);
 *   // here the program multiplies
 *   cg_runtime_end(out, &call, NULL, NULL, &err);
 *   if (cg_runtime_finish(out, NULL, &err) != CG_OK) puts(err.text);
 *
 * `candle-graph check --runtime-trace probe.jsonl` joins it to the source. Lines are written as
 * they come; a document is kept in memory and written by cg_runtime_finish.
 *
 * Event ids: not empty, used once in a trace over all kinds of records. A call that is refused
 * (CG_USAGE) writes nothing and takes no id; an output that cannot be written (CG_OUTPUT) stays
 * so, and every later call says it again. Every call accepts a NULL writer and does nothing then.
 *
 * Times are wall time of the host. Where a device works asynchronously that is the time of the
 * launch, unless the program synchronises before it ends the operation.
 *
 * Threads: calls on one writer may come from any thread; each takes its lock.
 */
#ifndef CANDLEGRAPH_RUNTIME_H
#define CANDLEGRAPH_RUNTIME_H

#include "candlegraph/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a trace promises; all three may hold every record. */
#define CG_RUNTIME_SCHEMA_1 "candle-graph/runtime/1" /* tensors, operations, gradients */
#define CG_RUNTIME_SCHEMA_2 "candle-graph/runtime/2" /* steps, value observations */
#define CG_RUNTIME_SCHEMA_3 "candle-graph/runtime/3" /* phase, durations, edge timings */

/* Form: a record a line, or one JSON document. */
enum { CG_RUNTIME_LINES = 0, CG_RUNTIME_DOCUMENT = 1 };
/* Phase of a profile. */
enum { CG_RUNTIME_TRAIN = 0, CG_RUNTIME_INFER = 1 };
/* State of a gradient. */
enum {
    CG_RUNTIME_PRESENT = 0,
    CG_RUNTIME_MISSING = 1,
    CG_RUNTIME_ZERO = 2,
    CG_RUNTIME_NON_FINITE = 3
};

typedef struct cg_runtime cg_runtime; /* a writer */

/* Texts that may be NULL are left out then. */
typedef struct cg_runtime_run {
    uint32_t size;          /* sizeof(cg_runtime_run) of the caller; of each structure below too */
    const char *schema;     /* one of the three; NULL: the first */
    const char *entrypoint; /* free text */
    const char *profile;    /* free text: debug, release */
    const char *const *cargo_features; /* the program was built with */
    size_t cargo_feature_count;
    const char *const *cfg; /* conditions it was built under, as rustc spells them */
    size_t cfg_count;
    const char *analysis_id, *build_id; /* of the scan this run belongs to, may be NULL */
    const char *phase;                  /* train or infer, may be NULL */
} cg_runtime_run;

/*
 * A tensor at a probe. Here and below: event_id is not empty and of this record alone; static_id is
 * the id of the thing in the model document, or NULL; source is a place or a name of the probe, or
 * NULL; step counts as the program does, and is left out without has_step.
 */
typedef struct cg_runtime_tensor {
    uint32_t size;
    uint32_t rank;         /* axes of shape */
    const uint64_t *shape; /* may be NULL for a scalar */
    const char *event_id;
    const char *static_id, *source;
    const char *dtype, *device; /* as Candle says it: `f32`; `cpu`, `cuda:0`, `metal`, free text */
    const char *storage_id;     /* which memory it lies in; may be NULL */
    bool is_contiguous;         /* its layout is */
    bool is_grad_required;      /* it is a variable, or made of one */
    bool has_step;
    uint64_t step;
} cg_runtime_tensor;

/* One call of an operation; event_id, static_id, source and step as of a tensor. */
typedef struct cg_runtime_operation {
    uint32_t size;
    const char *event_id, *op; /* op: its name */
    const char *static_id, *source;
    const char *const *inputs; /* names of its operands */
    size_t input_count;
    const char *output; /* name of its result; may be NULL */
    bool has_step, has_duration;
    uint64_t step, duration_ns; /* host time, left out without has_duration */
} cg_runtime_operation;

/*
 * What became of the gradient of a parameter, by the root (builder it was made with) and the key
 * below it, with numbers; event_id and step as of a tensor. A norm belongs to a present
 * gradient (finite, not 0), may be 0 for a zero one and not finite for one that is not; a missing
 * gradient has none.
 */
typedef struct cg_runtime_gradient {
    uint32_t size;
    uint32_t state; /* CG_RUNTIME_PRESENT ... */
    const char *event_id, *root, *key;
    bool has_step, has_norm;
    uint64_t step;
    double norm;
} cg_runtime_gradient;

/*
 * The range of a tensor: min, max and abs_max are over the finite elements and finite,
 * nonfinite_count are the others, saturated_count those at an end of their type's range. event_id,
 * static_id, source and step as of a tensor.
 */
typedef struct cg_runtime_value {
    uint32_t size;
    const char *event_id;
    const char *static_id, *source; /* may be NULL */
    bool has_step;
    uint64_t step;
    double min, max, abs_max;
    uint64_t nonfinite_count, saturated_count;
} cg_runtime_value;

/* Time between two things of the model document; event_id and step as of a tensor. */
typedef struct cg_runtime_edge {
    uint32_t size;
    const char *event_id, *from_static_id, *to_static_id; /* where it begins, where it ends */
    uint64_t duration_ns;                                 /* host time */
    bool has_step;
    uint64_t step;
} cg_runtime_edge;

/* An operation that was begun: a value, ended once, on any thread. */
typedef struct cg_runtime_timed {
    uint64_t number;   /* 0: none */
    char event_id[64]; /* PHASE-op-STEP-NUMBER */
} cg_runtime_timed;

/* What cg_runtime_finish wrote. */
typedef struct cg_runtime_result {
    uint32_t size;
    uint64_t records;         /* the description of the run not counted */
    uint64_t open_operations; /* begun, never ended, not written */
} cg_runtime_result;

/* Fill `run` for a profile: the third schema, profile `release`, phase as said. */
CG_API void cg_runtime_run_profile(cg_runtime_run *run, uint32_t phase, const char *entrypoint);

/*
 * Open `path`, which is truncated; missing parent folders are made. CG_USAGE: the description
 * breaks a rule, nothing was created. CG_OUTPUT, CG_NOMEM. *ret is NULL on failure.
 */
CG_API cg_code cg_runtime_open(const char *path, uint32_t form, const cg_runtime_run *run,
                               cg_runtime **ret, cg_err *reterr);
/* As cg_runtime_open, into a sink, which must stay until cg_runtime_finish. */
CG_API cg_code cg_runtime_open_sink(cg_sink sink, uint32_t form, const cg_runtime_run *run,
                                    cg_runtime **ret, cg_err *reterr);

/*
 * Write one record; its texts need not outlive the call. CG_USAGE: a text that must be there is
 * NULL, an id was used before, or numbers contradict each other; err.text says which. CG_OUTPUT,
 * CG_NOMEM.
 */
CG_API cg_code cg_runtime_write_tensor(cg_runtime *out, const cg_runtime_tensor *record,
                                       cg_err *reterr);
/* One call of an operation, with its duration when it is known. */
CG_API cg_code cg_runtime_write_operation(cg_runtime *out, const cg_runtime_operation *record,
                                          cg_err *reterr);
/* What became of the gradient of one parameter. */
CG_API cg_code cg_runtime_write_gradient(cg_runtime *out, const cg_runtime_gradient *record,
                                         cg_err *reterr);
/* Statistics of one tensor. */
CG_API cg_code cg_runtime_write_value(cg_runtime *out, const cg_runtime_value *record,
                                      cg_err *reterr);
/* How long it took from one place of the source to another. */
CG_API cg_code cg_runtime_write_edge(cg_runtime *out, const cg_runtime_edge *record,
                                     cg_err *reterr);

/* The step of what is timed from here on; 0 at first. */
CG_API void cg_runtime_set_step(cg_runtime *out, uint64_t step);
/* Begin to time an operation. Any number may be open, inside each other or side by side. */
CG_API cg_code cg_runtime_begin(cg_runtime *out, const char *static_id, const char *op,
                                const char *const *inputs, size_t input_count,
                                cg_runtime_timed *ret, cg_err *reterr);
/*
 * End it and write it, with the step that is set now. `output` and `ret_ns` may be NULL.
 * CG_USAGE: it is not open. It counts as ended even when it cannot be written.
 */
CG_API cg_code cg_runtime_end(cg_runtime *out, const cg_runtime_timed *timed, const char *output,
                              uint64_t *ret_ns, cg_err *reterr);
/* The time something took from one place of the source to another; the event id is made here. */
CG_API cg_code cg_runtime_time_edge(cg_runtime *out, const char *from_static_id,
                                    const char *to_static_id, uint64_t duration_ns, cg_err *reterr);

/* Hand over what is written so far; a document has nothing to hand over before its end. */
CG_API cg_code cg_runtime_flush(cg_runtime *out, cg_err *reterr);
/*
 * Write what is left and close. The writer is gone in any case. CG_USAGE: operations are still
 * open; the error names them, the trace is whole without them. `ret` may be NULL.
 */
CG_API cg_code cg_runtime_finish(cg_runtime *out, cg_runtime_result *ret, cg_err *reterr);

#ifdef __cplusplus
}
#endif

#endif
