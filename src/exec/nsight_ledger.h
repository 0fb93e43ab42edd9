/*
 * nsight_ledger - semantic labels against projected ranges.
 *
 * Which labels were expected, which were observed as NVTX ranges, and is the
 * correlation complete: every expected label names exactly one range, nothing
 * else was observed, and declared operation counts hold.
 */
#ifndef CG_EXEC_NSIGHT_LEDGER_H
#define CG_EXEC_NSIGHT_LEDGER_H

#include "exec/nsight_join.h"
#include "exec/nsight_set.h"

typedef struct nsight_ranges {
    const nsight_event *at; /* the full population */
    size_t count;
    const nsight_match *matches; /* one per range */
    bool has_operations;         /* the GPU time line has rows */
} nsight_ranges;

/*
 * `expected` and `cpu_only` are sorted sets. Lists and their texts live in `mem`; `ret` points at
 * `ret_ledger`. CG_NOMEM.
 */
cg_code nsight_ledger_build(heap *heap, arena *mem, const intern *texts,
                            const nsight_ranges *ranges, sc_strs expected, sc_strs cpu_only,
                            doc_gpu_correlation *ret, doc_gpu_ledger *ret_ledger,
                            cg_err *reterr) CG_MUST;

#endif
