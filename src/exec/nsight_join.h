/*
 * nsight_join - which GPU operations belong to which projected range?
 *
 * The join keys of a range are those of correlation id, device, context and
 * stream that it has. An operation matches when it has the same text for each
 * of them and overlaps the projected interval. Busy time is the union of the
 * matching operations inside that interval.
 *
 * O((ranges + operations) log operations) for each distinct set of keys, of
 * which exports have one or two: operations are ordered by keys and time once,
 * then every range is answered by binary searches.
 */
#ifndef CG_EXEC_NSIGHT_JOIN_H
#define CG_EXEC_NSIGHT_JOIN_H

#include "exec/nsight_table.h"

typedef struct nsight_match {
    uint64_t count;
    uint64_t busy_ns;
} nsight_match;

/* Bit i: the event has join key i. */
static inline unsigned nsight_keys_of(const nsight_event *event)
{
    unsigned mask = 0;

    for (unsigned i = 0; i < JOIN_COUNT; i++)
        mask |= (event->keys[i] != 0 ? 1u : 0u) << i;
    return mask;
}

/*
 * ret[i] answers ranges[i]; ranges without keys or projected interval match
 * nothing. Working memory from `heap`. Fails with CG_NOMEM.
 */
cg_code nsight_join(heap *heap, const nsight_event *ranges, size_t range_count,
                    const nsight_event *operations, size_t operation_count, nsight_match *ret,
                    cg_err *reterr) CG_MUST;

#endif
