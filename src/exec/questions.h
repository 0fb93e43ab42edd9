/*
 * questions - answers beyond the wire contract's first set: labels, module
 * tree, origin of a non-finite value, idle host time. Each is a pure function
 * of the evidence; rows borrow from it. Shapes: docs/schemas/query.md.
 */
#ifndef CG_EXEC_QUESTIONS_H
#define CG_EXEC_QUESTIONS_H

#include "exec/evidence.h"

/* --- labels: by kind, then label --- */

enum label_kind {
    LABEL_SPAN,
    LABEL_OP,
    LABEL_TENSOR,
    LABEL_TENSOR_STATS,
    LABEL_GRADIENT,
    LABEL_DEVICE_INTERVAL,
    LABEL_KIND_COUNT
};

cg_str label_kind_word(uint8_t kind);

typedef struct label_row {
    uint8_t kind;
    cg_str label;
    uint64_t count;
    sym first_span_id; /* 0 = none */
} label_row;

typedef struct label_list {
    heap *heap;
    arena arena;
    VEC(label_row) rows;
} label_list;

cg_code labels_build(heap *heap, const evidence *from, label_list *ret, cg_err *reterr) CG_MUST;
void labels_free(label_list *list);

/* --- module tree: spans of one name under one parent row are one row --- */

typedef struct tree_row {
    sym name;
    uint32_t parent; /* row, TRACE_NONE for top rows */
    uint32_t depth;
    uint64_t count;
    uint64_t host_total_ns;
    uint64_t host_self_ns;
    opt_u64 device_ns;
    opt_u64 allocated_bytes;
    opt_u64 peak_live_bytes;     /* the largest of the spans of the row */
    opt_u64 peak_live_bytes_net; /* as above, transients of one timestamp netted */
    opt_f64 share;               /* of the measured region, 0..1 */
} tree_row;

typedef struct tree_list {
    heap *heap;
    opt_u64 measured_ns;
    VEC(tree_row) rows; /* depth first, siblings by total descending, then name */
} tree_list;

cg_code tree_build(heap *heap, const evidence *from, tree_list *ret, cg_err *reterr) CG_MUST;
void tree_free(tree_list *list);
/* Names from the top row down, joined with ` > `. */
void tree_path(const evidence *from, const tree_list *list, uint32_t row, buf *out);

/* --- origin of the first non-finite value --- */

typedef struct origin_row {
    sym label;
    sym span_id;
    sym operation; /* 0 = none */
    uint64_t non_finite;
    uint64_t elements;
    uint32_t inputs_at, inputs_count; /* finite inputs: stretch of answer->names */
} origin_row;

typedef struct origin_answer {
    heap *heap;
    bool has_origin;
    origin_row origin;
    bool cannot_tell;
    VEC(origin_row) other_producers;
    VEC(origin_row) propagators;
    bool has_earliest;
    origin_row earliest;
    VEC(sym) names;
    VEC(sym) unrecorded_inputs;
    uint64_t non_finite_labels;
} origin_answer;

cg_code origin_find(heap *heap, const evidence *from, origin_answer *ret, cg_err *reterr) CG_MUST;
void origin_free(origin_answer *answer);

/* --- idle host time inside the measured region --- */

typedef struct idle_row {
    uint32_t span;
    uint64_t idle_ns;
    uint64_t gap_count;
    uint64_t largest_start_ns, largest_duration_ns;
    sym largest_after, largest_before; /* names of the neighbours, 0 at an edge */
} idle_row;

typedef struct idle_list {
    heap *heap;
    opt_u64 measured_ns;
    uint64_t idle_ns;
    VEC(idle_row) rows; /* by idle time descending, then span id */
} idle_list;

cg_code idle_build(heap *heap, const evidence *from, idle_list *ret, cg_err *reterr) CG_MUST;
void idle_free(idle_list *list);

#endif
