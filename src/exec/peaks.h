/*
 * peaks - how much logical memory each span and what runs below it held.
 *
 * For every span: the largest total and the bytes left at its end, from the
 * lifetimes allocated in the span or below it, clipped to the span
 * (docs/schemas/evidence.md, memory on nodes). The tree must be the one of a
 * healthy capture: every span closed, children inside their parents,
 * allocations inside their spans.
 *
 * O(lifetimes log lifetimes), whatever the depth of the tree; no recursion.
 * When all bytes together exceed 2^61 the answer is found by replaying each
 * span, if that is affordable, else peak and residual stay unknown.
 */
#ifndef CG_EXEC_PEAKS_H
#define CG_EXEC_PEAKS_H

#include "exec/memory.h"

typedef struct peaks_tree {
    const memory_plane *memory;
    const uint32_t *preorder; /* spans, parents before their children */
    const uint32_t *depth;    /* by span, root 0 */
    bool is_complete;         /* no lifetimes below a span means 0, not unknown */
    bool is_net;              /* net each timestamp; else frees first, never below 0 */
} peaks_tree;

/*
 * Arrays by span: ret_peak, ret_has_peak, ret_residual (may be NULL).
 * False: out of memory.
 */
bool peaks_build(heap *from, const peaks_tree *tree, uint64_t *ret_peak, uint64_t *ret_residual,
                 bool *ret_has_peak);

#define PEAKS_FEW 8

/*
 * The same figures for `count` spans only, at most PEAKS_FEW, by one replay of
 * the events; other entries of the arrays stay as they are. Ignores is_net.
 */
bool peaks_of_few(heap *from, const peaks_tree *tree, const uint32_t *spans, uint32_t count,
                  uint64_t *ret_peak, uint64_t *ret_residual, bool *ret_has_peak);

#endif
