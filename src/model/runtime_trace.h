/*
 * runtime_trace - a runtime trace exists only for an input that passed every rule of its format.
 *
 *   CG_TRY(runtime_read_file(env, path, &trace, reterr));
 *   ... trace->gradients.at[i] ...
 *   runtime_free(trace);
 *
 * The input is candle-graph/runtime/1, /2 or /3 as one document or as lines
 * (docs/schemas/runtime.md); which of the two shows in its first line. Lines
 * are read through one buffer, a document is read whole.
 *
 * Records stand in the order of the input. Texts are symbols; event ids have a
 * table of their own, so that one that comes twice is found while reading.
 */
#ifndef CG_MODEL_RUNTIME_TRACE_H
#define CG_MODEL_RUNTIME_TRACE_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/os.h"
#include "base/vec.h"
#include "model/event_ids.h"
#include "schema/runtime_schema.h"

typedef struct runtime_shape {
    uint32_t at; /* in axes */
    uint32_t rank;
} runtime_shape;

/* Symbols that the record left out are 0. */
typedef struct runtime_tensor {
    uint32_t event;
    sym static_id;
    sym source;
    sym dtype;
    sym device;
    runtime_shape shape;
    bool is_contiguous;
    bool is_grad_required;
} runtime_tensor;

typedef struct runtime_operation {
    uint64_t duration_ns;
    uint32_t event;
    sym static_id;
    sym op;
    bool has_duration;
} runtime_operation;

typedef struct runtime_gradient {
    uint64_t step;
    double norm;
    uint32_t event;
    sym root;
    sym key;
    uint8_t state; /* GRADIENT_STATE_ */
    bool has_step;
    bool has_norm;
} runtime_gradient;

typedef struct runtime_value {
    double min; /* of a bounded one */
    double max;
    uint64_t step;
    uint64_t nonfinite_count;
    uint64_t saturated_count;
    uint32_t event;
    sym static_id;
    sym source;
    bool has_step;
    bool is_unbounded; /* a bound was null: infinite, or not a number */
} runtime_value;

typedef struct runtime_edge {
    uint64_t duration_ns;
    uint32_t event;
    sym from;
    sym to;
} runtime_edge;

typedef struct runtime_trace {
    heap heap;
    arena mem;
    intern texts;
    event_ids events;
    cg_str schema;
    rec_runtime_meta run;
    VEC(runtime_tensor) tensors;
    VEC(runtime_operation) operations;
    VEC(runtime_gradient) gradients;
    VEC(runtime_value) values;
    VEC(runtime_edge) edges;
    VEC(uint64_t) axes;
} runtime_trace;

/*
 * Read a trace whole. Fails with CG_INPUT (a runtime- or field- problem, with
 * its line), CG_LIMIT, CG_NOT_FOUND, CG_NOMEM, CG_INTERRUPTED.
 */
cg_code runtime_read_file(const cg_env *env, cg_str path, runtime_trace **ret,
                          cg_err *reterr) CG_MUST;
/* An open file, which stays open: it may be a pipe. */
cg_code runtime_read_open(const cg_env *env, os_file *file, runtime_trace **ret,
                          cg_err *reterr) CG_MUST;
cg_code runtime_read_text(const cg_env *env, cg_str text, runtime_trace **ret,
                          cg_err *reterr) CG_MUST;
void runtime_free(runtime_trace *self);

static inline cg_str runtime_text(const runtime_trace *self, sym symbol)
{
    return symbol != 0 ? intern_text_of(&self->texts, symbol) : (cg_str){0};
}

#endif
