/*
 * graph_memory - the bytes that were allocated directly in each span, and by each operation.
 *
 * An allocation names its span and perhaps an operation; it is that operation's when the span has
 * exactly one of the name. What a span held at most is exec/peaks.
 */
#ifndef CG_EXEC_GRAPH_MEMORY_H
#define CG_EXEC_GRAPH_MEMORY_H

#include "exec/memory.h"

typedef struct graph_memory {
    const trace_doc *trace;
    const memory_plane *memory;
    heap *heap; /* working room */
    uint32_t span_count, op_count;
    const uint32_t *op_span;    /* by operation */
    const uint32_t *ops_within; /* by span: how many operations */
    uint64_t *allocated_bytes;  /* by span, all 0, to be filled */
    bool *has_allocated;        /* by span, to be filled */
    uint64_t *op_allocated;     /* by operation, all 0, to be filled */
    bool *has_op_allocated;     /* by operation, all false, to be filled */
} graph_memory;

/* False: out of memory. */
bool graph_memory_build(const graph_memory *self) CG_MUST;

/* Does no lifetime in a span mean 0 bytes, not unknown? */
static inline bool graph_is_memory_complete(const trace_doc *trace)
{
    const rec_contract *contract = trace->run.contract;

    return contract->logical_memory == LEVEL_COMPLETE;
}

#endif
