/*
 * wire - the lines of candle-graph/trace/10, written fast.
 *
 * Texts handed in are JSON already (`json_text`), numbers are written here, keys and words come
 * from schema/trace.def. One buffer, written at its end; the first failure is kept in `error`
 * and everything later is skipped.
 */
#ifndef CG_RECORD_WIRE_H
#define CG_RECORD_WIRE_H

#include "base/str.h"
#include "record/sys.h"

/* The structures say what is known; an absent text has ptr == NULL. Texts are JSON. */
typedef struct wire {
    const rec_sys *sys;
    int file;
    int error;
    char *at; /* released by the owner with rec_free */
    size_t len, capacity;
    uint64_t written; /* bytes in the file */
    uint64_t lines;
} wire;

typedef struct wire_ids { /* tensor identities of one operation */
    const cg_str *at;
    size_t count;
} wire_ids;

bool wire_init(wire *self, const rec_sys *sys, int file);
/* Everything into the file. 0 or the error. */
int wire_flush(wire *self);

/* Any bytes; used for the `meta` record. */
void wire_raw(wire *self, cg_str text);

void wire_span_start(wire *self, uint64_t id, uint64_t parent, cg_str name, uint64_t start_ns,
                     unsigned kind, bool is_measured, unsigned step);
void wire_span_end(wire *self, uint64_t id, uint64_t duration_ns);

typedef struct wire_op {
    uint64_t span, duration_ns, timestamp_ns, output_dense, input_dense;
    cg_str name, output;
    cg_str shape_dtype_device; /* made by wire_layout */
    bool has_output_dense;
    wire_ids inputs;
} wire_op;
void wire_put_op(wire *self, const wire_op *op);

typedef struct wire_tensor {
    uint64_t span, dense;
    cg_str id, label, shape_dtype_device;
    bool has_dense, is_grad_required;
    unsigned category;
} wire_tensor;
void wire_put_tensor(wire *self, const wire_tensor *tensor);

typedef struct wire_stats {
    uint64_t span, elements, non_finite;
    cg_str label, shape_dtype;
    double rms, abs_max, mean;
} wire_stats;
void wire_put_stats(wire *self, const wire_stats *stats);

typedef struct wire_memory {
    uint64_t timestamp_ns, span, bytes;
    cg_str storage, tensor, op_name, device, shape_dtype;
    unsigned action, category;
} wire_memory;
void wire_put_memory(wire *self, const wire_memory *memory);

typedef struct wire_sample {
    uint64_t timestamp_ns;
    cg_str device;
    opt_u64 used, free, reserved, capacity;
} wire_sample;
void wire_put_sample(wire *self, const wire_sample *sample);

typedef struct wire_interval {
    uint64_t span, start_ns, duration_ns;
    cg_str device, stream, clock, backend;
} wire_interval;
void wire_put_interval(wire *self, const wire_interval *interval);

void wire_gradient(wire *self, uint64_t number, cg_str root, cg_str key, unsigned state,
                   double norm);
void wire_call_edge(wire *self, uint64_t from, uint64_t to, uint64_t duration_ns);
void wire_data_edge(wire *self, cg_str from, cg_str to);
void wire_terminal(wire *self, bool is_complete, uint64_t timestamp_ns, cg_str reason);

#endif
