/*
 * trace - one recorded run, read from candle-graph/trace/10 or /9.
 *
 * Promise: a trace_doc exists only for a stream that passed every rule of the
 * reader (docs/schemas/trace.md); a refusal names rule, line and offset.
 * Reading is streaming: one line is held at a time, the document holds columns
 * of fixed-size rows and every distinct text once.
 *
 * Spans are ordered by id, bytewise; all other rows keep stream order.
 * Texts are symbols of `texts`; shapes and operation inputs are stretches of
 * `axes` and `inputs`. The document is immutable once read and may then be
 * read from any number of threads.
 */
#ifndef CG_EXEC_TRACE_H
#define CG_EXEC_TRACE_H

#include "base/intern.h"
#include "base/os.h"
#include "schema/trace_schema.h"

#define TRACE_NONE UINT32_MAX

typedef struct trace_span {
    uint64_t start_ns;
    uint64_t duration_ns; /* 0 while open */
    sym id;
    sym name;
    sym parent_id;   /* 0 = root */
    uint32_t parent; /* index of the parent, TRACE_NONE for roots and unknown parents */
    uint32_t order;  /* number of its span_start among all span_starts */
    uint8_t kind;    /* SPAN_KIND_ */
    uint8_t step;    /* STEP_ */
    bool is_measured;
    bool is_closed;
} trace_span;

typedef struct trace_shape {
    uint32_t at; /* first axis in doc->axes */
    uint32_t rank;
} trace_shape;

typedef struct trace_op {
    uint64_t timestamp_ns;
    uint64_t duration_ns;
    uint64_t dense_bytes; /* of the output; meaningful with has_dense_bytes */
    uint64_t input_dense_bytes;
    trace_shape shape;
    uint32_t inputs_at;
    uint32_t inputs_count;
    sym span_id;
    sym name;
    sym output; /* 0 = none */
    sym dtype;
    sym device;
    bool has_dense_bytes;
} trace_op;

typedef struct trace_tensor {
    uint64_t dense_bytes;
    trace_shape shape;
    sym span_id;
    sym tensor_id;
    sym label; /* 0 = none */
    sym dtype;
    sym device;
    uint8_t category;
    bool has_dense_bytes;
    bool is_grad_required;
} trace_tensor;

typedef struct trace_stats {
    uint64_t elements;
    uint64_t non_finite;
    double rms, abs_max, mean;
    trace_shape shape;
    sym span_id;
    sym label;
    sym dtype;
} trace_stats;

typedef struct trace_memory {
    uint64_t timestamp_ns;
    uint64_t bytes;
    trace_shape shape;
    sym storage_id;
    sym tensor_id;
    sym span_id;
    sym op_name; /* 0 = none */
    sym device;
    sym dtype;
    uint8_t action;
    uint8_t category;
} trace_memory;

typedef struct trace_sample {
    uint64_t timestamp_ns;
    uint64_t bytes[4]; /* used, free, reserved, capacity */
    sym device;
    uint8_t present; /* bit i: bytes[i] was given */
} trace_sample;

typedef struct trace_interval {
    uint64_t start_ns; /* on the clock of its device, unrelated to host time */
    uint64_t duration_ns;
    sym span_id;
    sym device;
    sym stream_id;
    sym clock_id;
    sym backend;
} trace_interval;

typedef struct trace_gradient {
    double norm;
    sym event_id;
    sym root;
    sym key;
    uint8_t state;
    bool has_norm;
} trace_gradient;

typedef struct trace_edge {
    uint64_t duration_ns; /* call edges */
    sym from;             /* span id or tensor id */
    sym to;
    uint8_t kind; /* EDGE_KIND_ */
} trace_edge;

typedef struct trace_doc {
    heap heap;
    arena arena;
    intern texts;
    rec_run run; /* texts live in `arena` */
    bool is_trace_9;
    uint8_t outcome; /* OUTCOME_ */
    uint64_t terminal_ns;
    cg_str failure_reason; /* absent on a complete capture */
    uint64_t event_count;  /* records, meta and terminal included */
    uint64_t byte_count;   /* of the input */
    VEC(trace_span) spans;
    VEC(trace_op) ops;
    VEC(trace_tensor) tensors;
    VEC(trace_stats) stats;
    VEC(trace_memory) memory;
    VEC(trace_sample) samples;
    VEC(trace_interval) intervals;
    VEC(trace_gradient) gradients;
    VEC(trace_edge) edges;
    VEC(uint64_t) axes;
    VEC(sym) inputs;
    VEC(uint32_t) span_of; /* symbol -> span index, TRACE_NONE when it names no span */
} trace_doc;

/*
 * Read a file (or pipe). On success *ret is owned by the caller (trace_free).
 * Fails with CG_NOT_FOUND, CG_INPUT, CG_LIMIT, CG_NOMEM, CG_INTERRUPTED.
 * O(n log n) in records, linear for ids up to 8 bytes.
 */
cg_code trace_read_file(const cg_env *env, cg_str path, trace_doc **ret, cg_err *reterr) CG_MUST;

/* The same from bytes in memory; nothing of `text` is kept. */
cg_code trace_read_text(const cg_env *env, cg_str text, trace_doc **ret, cg_err *reterr) CG_MUST;

/* The same from a handle that is open (what was opened is what is read); does not close it. */
cg_code trace_read_open(const cg_env *env, os_file *file, trace_doc **ret, cg_err *reterr) CG_MUST;

void trace_free(trace_doc *doc);

static inline cg_str trace_text(const trace_doc *doc, sym symbol)
{
    return intern_text_of(&doc->texts, symbol);
}

static inline uint32_t trace_span_of(const trace_doc *doc, sym id)
{
    return id < doc->span_of.count ? doc->span_of.at[id] : TRACE_NONE;
}

static inline sc_u64s trace_axes(const trace_doc *doc, trace_shape shape)
{
    static const uint64_t no_axis = 0; /* a pointer one may compare and copy from */

    return (sc_u64s){shape.rank > 0 ? doc->axes.at + shape.at : &no_axis, shape.rank};
}

static inline uint64_t trace_span_end(const trace_span *span)
{
    return span->start_ns > UINT64_MAX - span->duration_ns ? UINT64_MAX
                                                           : span->start_ns + span->duration_ns;
}

#endif
