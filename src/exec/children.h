/*
 * children - who hangs below whom: child spans and operations of every span in
 * order of start, and the spans from the roots down.
 *
 * Arrays live in the arena they were built in and hold numbers only: a child
 * below `span_count` is a span, any other is operation `child - span_count`.
 */
#ifndef CG_EXEC_CHILDREN_H
#define CG_EXEC_CHILDREN_H

#include "exec/trace.h"

typedef struct children {
    uint32_t span_count;
    uint32_t *first;     /* by span, span_count + 1 entries: stretch of `items` */
    uint32_t *items;     /* by parent, then start; equal starts: spans by id, then operations */
    uint32_t *from_root; /* spans, parents before their children */
    uint32_t reached;    /* entries of from_root; spans of a parent cycle are not in it */
} children;

/*
 * Operations of unknown spans are left out, spans of unknown parents count as roots.
 * Fails with CG_NOMEM or CG_LIMIT. O(n) per byte of the times.
 */
cg_code children_build(arena *mem, const trace_doc *trace, children *ret, cg_err *reterr) CG_MUST;

static inline bool children_is_span(const children *self, uint32_t item)
{
    return item < self->span_count;
}

uint64_t children_start(const trace_doc *trace, const children *self, uint32_t item);
sym children_name(const trace_doc *trace, const children *self, uint32_t item);

#endif
