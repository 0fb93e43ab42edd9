#include "join/shape_match.h"

#include "base/sort.h"
#include "model/expr_solve.h"

#define SHAPE_AXES 16 /* axes of one tensor that may bind something */

typedef struct vote {
    expr_binding binding;
    uint64_t weight;
} vote;

typedef VEC(vote) votes;

/* --- claims, each once --- */

static int compare_claims(const shape_claim *a, const shape_claim *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i])
            return a->shape[i] < b->shape[i] ? -1 : 1;
        if (a->file_shape[i] != b->file_shape[i])
            return a->file_shape[i] < b->file_shape[i] ? -1 : 1;
    }
    return 0;
}

static bool claim_before(const void *context, uint32_t a, uint32_t b)
{
    const shape_claim *all = context;

    return compare_claims(&all[a], &all[b]) < 0;
}

static bool merge(heap *from, shape_claim *all, size_t *count)
{
    size_t room_size = (*count + 1) * 2 * sizeof(uint32_t);
    size_t copy_size = (*count + 1) * sizeof *all;
    uint32_t *order = heap_resize(from, NULL, 0, room_size);
    shape_claim *copy = heap_resize(from, NULL, 0, copy_size);
    size_t kept = 0;

    if (order != NULL && copy != NULL) {
        for (size_t i = 0; i < *count; i++) {
            order[i] = (uint32_t)i;
            copy[i] = all[i];
        }
        sort_with(order, order + *count, *count, claim_before, copy);
        for (size_t i = 0; i < *count; i++) {
            const shape_claim *next = &copy[order[i]];

            if (kept > 0 && compare_claims(&all[kept - 1], next) == 0)
                all[kept - 1].weight += next->weight;
            else
                all[kept++] = *next;
        }
        *count = kept;
    }
    if (order != NULL)
        heap_resize(from, order, room_size, 0);
    if (copy != NULL)
        heap_resize(from, copy, copy_size, 0);
    return order != NULL && copy != NULL;
}

/* --- rounds --- */

static bool add_vote(heap *from, votes *to, expr_binding binding, uint64_t weight)
{
    vote *added;

    for (size_t i = 0; i < to->count; i++) {
        if (to->at[i].binding.symbol == binding.symbol &&
            to->at[i].binding.value == binding.value) {
            to->at[i].weight += weight;
            return true;
        }
    }
    added = vec_add(from, to);
    if (added != NULL)
        *added = (vote){binding, weight};
    return added != NULL;
}

enum say { SAY_NOTHING, SAY_ONE, SAY_SEVERAL, SAY_LATER };

/* What the axes of one tensor say; with one symbol only, it is a sure thing. */
static enum say hear(expr_pool *pool, const shape_claim *claim, const shape_values *values,
                     expr_binding *ret, uint32_t *ret_count)
{
    enum say say = SAY_NOTHING;

    *ret_count = 0;
    for (uint32_t i = 0; i < claim->rank; i++) {
        expr_binding binding;
        enum expr_answer answer = EXPR_HOLDS;

        if (claim->shape[i] != EXPR_NONE && claim->file_shape[i] <= INT64_MAX)
            answer = expr_solve(pool, claim->shape[i], (int64_t)claim->file_shape[i], values->at,
                                values->count, &binding);
        if (answer == EXPR_FALSE) {
            *ret_count = 0;
            return SAY_NOTHING;
        }
        if (answer == EXPR_OPEN)
            say = SAY_LATER;
        if (answer != EXPR_BINDS || *ret_count == SHAPE_AXES)
            continue;
        if (*ret_count > 0 && ret[0].symbol != binding.symbol && say != SAY_LATER)
            say = SAY_SEVERAL;
        else if (say == SAY_NOTHING)
            say = SAY_ONE;
        ret[(*ret_count)++] = binding;
    }
    return say;
}

/* Votes of all claims; those that are settled or refuted are dropped. */
static bool collect(heap *from, expr_pool *pool, shape_claim *all, size_t *count,
                    const shape_values *values, votes *sure, votes *others)
{
    size_t kept = 0;
    bool is_done = true;

    sure->count = 0;
    others->count = 0;
    for (size_t i = 0; i < *count && is_done; i++) {
        expr_binding bindings[SHAPE_AXES];
        uint32_t binding_count;
        enum say say = hear(pool, &all[i], values, bindings, &binding_count);

        if (say == SAY_NOTHING)
            continue;
        for (uint32_t j = 0; j < binding_count && is_done; j++)
            is_done = add_vote(from, say == SAY_ONE ? sure : others, bindings[j], all[i].weight);
        all[kept++] = all[i];
    }
    *count = kept;
    return is_done;
}

static bool is_bound(const shape_values *values, expr symbol)
{
    for (size_t i = 0; i < values->count; i++) {
        if (values->at[i].symbol == symbol)
            return true;
    }
    return false;
}

static const vote *strongest(const votes *all, expr symbol)
{
    const vote *best = NULL;

    for (size_t i = 0; i < all->count; i++) {
        if ((symbol == EXPR_NONE || all->at[i].binding.symbol == symbol) &&
            (best == NULL || all->at[i].weight > best->weight))
            best = &all->at[i];
    }
    return best;
}

static bool bind_vote(heap *from, const vote *one, shape_values *values)
{
    expr_binding *added = vec_add(from, values);

    if (added != NULL)
        *added = one->binding;
    return added != NULL;
}

/* Bind every symbol that something sure is said about, else the one with the most votes. */
static bool elect(heap *from, const votes *sure, const votes *others, shape_values *values)
{
    for (size_t i = 0; i < sure->count; i++) {
        expr symbol = sure->at[i].binding.symbol;

        if (!is_bound(values, symbol) && !bind_vote(from, strongest(sure, symbol), values))
            return false;
    }
    if (sure->count == 0 && others->count > 0)
        return bind_vote(from, strongest(others, EXPR_NONE), values);
    return true;
}

cg_code shape_solve(heap *from, expr_pool *pool, shape_claim *claims, size_t count,
                    shape_values *ret, cg_err *reterr)
{
    votes sure = {0};
    votes others = {0};
    bool is_done = merge(from, claims, &count);
    size_t before;

    do {
        before = ret->count;
        is_done = is_done && collect(from, pool, claims, &count, ret, &sure, &others);
        is_done = is_done && elect(from, &sure, &others, ret);
    } while (is_done && ret->count > before);
    vec_free(from, &sure);
    vec_free(from, &others);
    return is_done && !pool->failed ? CG_OK : err_nomem(reterr);
}

enum shape_answer shape_compare(expr_pool *pool, const expr *shape, uint32_t rank,
                                const uint64_t *file_shape, uint32_t file_rank,
                                const shape_values *values)
{
    enum shape_answer answer = SHAPE_EQUAL;

    if (rank != file_rank)
        return SHAPE_OTHER;
    for (uint32_t i = 0; i < rank; i++) {
        expr_binding binding;
        enum expr_answer axis = EXPR_OPEN;

        if (shape[i] != EXPR_NONE && file_shape[i] <= INT64_MAX)
            axis = expr_solve(pool, shape[i], (int64_t)file_shape[i], values->at, values->count,
                              &binding);
        if (axis == EXPR_FALSE)
            return SHAPE_OTHER;
        if (axis != EXPR_HOLDS)
            answer = SHAPE_OPEN;
        /* One symbol, two values, inside this tensor? */
        for (uint32_t j = 0; axis == EXPR_BINDS && j < i; j++) {
            expr_binding other;

            if (shape[j] != EXPR_NONE && file_shape[j] <= INT64_MAX &&
                expr_solve(pool, shape[j], (int64_t)file_shape[j], values->at, values->count,
                           &other) == EXPR_BINDS &&
                other.symbol == binding.symbol && other.value != binding.value)
                return SHAPE_OTHER;
        }
    }
    return answer;
}
