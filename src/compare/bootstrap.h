/*
 * bootstrap - the 95 % interval of a difference of medians, by resampling.
 *
 * 10 000 resamples drawn by one fixed generator: the same samples in the same
 * order give the same interval, bit for bit, everywhere. The order matters,
 * because draws are places in the list as it was given.
 */
#ifndef CG_COMPARE_BOOTSTRAP_H
#define CG_COMPARE_BOOTSTRAP_H

#include "compare/statistics.h"

#define BOOTSTRAP_SEED      UINT64_C(0x4d595df4d0f33173)
#define BOOTSTRAP_RESAMPLES 10000
#define BOOTSTRAP_LOWER     249
#define BOOTSTRAP_UPPER     9749
#define BOOTSTRAP_LEVEL     0.95

/* xorshift64 with shifts 13, 7, 17; the next state. */
static inline uint64_t bootstrap_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

typedef struct bootstrap_interval {
    double lower_ns, upper_ns;
} bootstrap_interval;

typedef struct sample_list {
    const uint64_t *at;
    size_t count;
} sample_list;

/* Each resample: first all of `from`, then all of `to`. O(resamples x samples). */
cg_code bootstrap_unpaired(const cg_env *env, heap *room, sample_list from, sample_list to,
                           bootstrap_interval *ret, cg_err *reterr) CG_MUST;
/* Each resample: as many pairs as there are. `pairs` in the order of their ids. */
cg_code bootstrap_paired(const cg_env *env, heap *room, const delta *pairs, size_t count,
                         bootstrap_interval *ret, cg_err *reterr) CG_MUST;

#endif
