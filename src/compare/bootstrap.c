#include "compare/bootstrap.h"

#include "base/num.h"
#include "exec/columns.h"

#define TOLD_EVERY 1000

/*
 * A list to draw from. A resample is counted per place in the sorted list, so
 * its median is found by walking the counts: nothing is sorted 10 000 times.
 */
typedef struct urn {
    heap *heap;
    size_t count;
    uint64_t inverse; /* 2^64 / count, rounded down: a division is the dear part of a draw */
    uint32_t *place;  /* by index in the given order: place in the sorted one */
    uint32_t *drawn;  /* by place */
} urn;

static bool urn_open(urn *self, heap *from, size_t count)
{
    *self = (urn){.heap = from, .count = count, .inverse = UINT64_MAX / count};
    self->place = column_take(from, count, sizeof *self->place);
    self->drawn = column_take(from, count, sizeof *self->drawn);
    return self->place != NULL && self->drawn != NULL;
}

static void urn_close(urn *self)
{
    column_free(self->heap, self->place, self->count, sizeof *self->place);
    column_free(self->heap, self->drawn, self->count, sizeof *self->drawn);
}

/* draw % count, by a multiplication: the quotient comes out right or a little too small. */
static size_t index_of(const urn *self, uint64_t draw)
{
    uint64_t quotient;
    uint64_t rest;

    (void)num_mul_wide(draw, self->inverse, &quotient);
    rest = draw - quotient * self->count;
    while (rest >= self->count)
        rest -= self->count;
    return (size_t)rest;
}

/* Draw as many as there are; the places of the two middle ones. */
static void urn_draw(urn *self, uint64_t *state, size_t ret_middle[2])
{
    size_t low = (self->count - 1) / 2;
    size_t high = self->count / 2;
    size_t seen = 0;
    size_t at = 0;

    memset(self->drawn, 0, self->count * sizeof *self->drawn);
    for (size_t i = 0; i < self->count; i++)
        self->drawn[self->place[index_of(self, bootstrap_next(state))]]++;
    while (seen + self->drawn[at] <= low)
        seen += self->drawn[at++];
    ret_middle[0] = at;
    while (seen + self->drawn[at] <= high)
        seen += self->drawn[at++];
    ret_middle[1] = at;
}

/* Fill `place` from keys; `order` lists the indices as sorted. */
static bool urn_fill(urn *self, const uint64_t *keys, const uint64_t *second_keys, uint32_t *order)
{
    for (size_t i = 0; i < self->count; i++)
        order[i] = (uint32_t)i;
    if (!column_sort(self->heap, order, self->count, keys) ||
        (second_keys != NULL && !column_sort(self->heap, order, self->count, second_keys)))
        return false;
    for (size_t i = 0; i < self->count; i++)
        self->place[order[i]] = (uint32_t)i;
    return true;
}

static bool tell(const cg_env *env, size_t done)
{
    return done % TOLD_EVERY != 0 || env_progress(env, "resampling", done, BOOTSTRAP_RESAMPLES);
}

static cg_code conclude(heap *room, double *deltas, bootstrap_interval *ret, cg_err *reterr)
{
    if (!double_sort(room, deltas, BOOTSTRAP_RESAMPLES))
        return err_nomem(reterr);
    *ret = (bootstrap_interval){deltas[BOOTSTRAP_LOWER], deltas[BOOTSTRAP_UPPER]};
    return CG_OK;
}

/* --- two lists --- */

typedef struct side {
    urn urn;
    uint64_t *sorted;
    bool is_open;
} side;

static bool side_open(side *self, heap *room, sample_list of)
{
    uint32_t *order = column_take(room, of.count, sizeof *order);
    bool is_done = urn_open(&self->urn, room, of.count);

    self->is_open = true;
    self->sorted = column_take(room, of.count, sizeof *self->sorted);
    is_done = is_done && order != NULL && self->sorted != NULL &&
              urn_fill(&self->urn, of.at, NULL, order);
    for (size_t i = 0; is_done && i < of.count; i++)
        self->sorted[i] = of.at[order[i]];
    column_free(room, order, of.count, sizeof *order);
    return is_done;
}

static void side_close(side *self)
{
    if (!self->is_open)
        return;
    column_free(self->urn.heap, self->sorted, self->urn.count, sizeof *self->sorted);
    urn_close(&self->urn);
}

static void side_draw(side *self, uint64_t *state, uint64_t ret[2])
{
    size_t middle[2];

    urn_draw(&self->urn, state, middle);
    ret[0] = self->sorted[middle[0]];
    ret[1] = self->sorted[middle[1]];
}

static cg_code resample_unpaired(const cg_env *env, heap *room, side sides[2], double *deltas,
                                 bootstrap_interval *ret, cg_err *reterr)
{
    uint64_t state = BOOTSTRAP_SEED;

    for (size_t i = 0; i < BOOTSTRAP_RESAMPLES; i++) {
        uint64_t from[2];
        uint64_t to[2];

        if (!tell(env, i))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
        side_draw(&sides[0], &state, from);
        side_draw(&sides[1], &state, to);
        deltas[i] = median_difference(from, to);
    }
    return conclude(room, deltas, ret, reterr);
}

cg_code bootstrap_unpaired(const cg_env *env, heap *room, sample_list from, sample_list to,
                           bootstrap_interval *ret, cg_err *reterr)
{
    side sides[2] = {0};
    double *deltas;
    cg_code code;

    if (from.count == 0 || to.count == 0)
        return cg_fail(reterr, PROBLEM_INTERNAL, "nothing to draw from");
    deltas = column_take(room, BOOTSTRAP_RESAMPLES, sizeof *deltas);
    if (deltas != NULL && side_open(&sides[0], room, from) && side_open(&sides[1], room, to))
        code = resample_unpaired(env, room, sides, deltas, ret, reterr);
    else
        code = err_nomem(reterr);
    side_close(&sides[0]);
    side_close(&sides[1]);
    column_free(room, deltas, BOOTSTRAP_RESAMPLES, sizeof *deltas);
    return code;
}

/* --- pairs --- */

static cg_code resample_paired(const cg_env *env, heap *room, urn *from, const delta *sorted,
                               double *deltas, bootstrap_interval *ret, cg_err *reterr)
{
    uint64_t state = BOOTSTRAP_SEED;

    for (size_t i = 0; i < BOOTSTRAP_RESAMPLES; i++) {
        size_t middle[2];

        if (!tell(env, i))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
        urn_draw(from, &state, middle);
        deltas[i] = from->count % 2 == 1
                        ? delta_value(sorted[middle[0]])
                        : (delta_value(sorted[middle[0]]) + delta_value(sorted[middle[1]])) / 2.0;
    }
    return conclude(room, deltas, ret, reterr);
}

/* Places of the pairs in ascending order, and the pairs in that order. */
static bool order_pairs(urn *into, heap *room, const delta *pairs, delta *sorted)
{
    size_t count = into->count;
    uint32_t *order = column_take(room, count, sizeof *order);
    uint64_t *sizes = column_take(room, count, sizeof *sizes);
    uint64_t *signs = column_take(room, count, sizeof *signs);
    bool is_done = order != NULL && sizes != NULL && signs != NULL;

    for (size_t i = 0; is_done && i < count; i++) {
        sizes[i] = pairs[i].is_negative ? ~pairs[i].size : pairs[i].size;
        signs[i] = !pairs[i].is_negative;
    }
    is_done = is_done && urn_fill(into, sizes, signs, order);
    for (size_t i = 0; is_done && i < count; i++)
        sorted[i] = pairs[order[i]];
    column_free(room, order, count, sizeof *order);
    column_free(room, sizes, count, sizeof *sizes);
    column_free(room, signs, count, sizeof *signs);
    return is_done;
}

cg_code bootstrap_paired(const cg_env *env, heap *room, const delta *pairs, size_t count,
                         bootstrap_interval *ret, cg_err *reterr)
{
    urn from;
    double *deltas;
    delta *sorted;
    bool is_open;
    cg_code code;

    if (count == 0)
        return cg_fail(reterr, PROBLEM_INTERNAL, "nothing to draw from");
    deltas = column_take(room, BOOTSTRAP_RESAMPLES, sizeof *deltas);
    sorted = column_take(room, count, sizeof *sorted);
    is_open = urn_open(&from, room, count);
    if (deltas != NULL && sorted != NULL && is_open && order_pairs(&from, room, pairs, sorted))
        code = resample_paired(env, room, &from, sorted, deltas, ret, reterr);
    else
        code = err_nomem(reterr);
    urn_close(&from);
    column_free(room, sorted, count, sizeof *sorted);
    column_free(room, deltas, BOOTSTRAP_RESAMPLES, sizeof *deltas);
    return code;
}
