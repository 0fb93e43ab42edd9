#include "base/num.h"
#include "base/sort.h"
#include "exec/questions.h"

/*
 * How statistics, tensors and operations are joined. The trace keeps each of
 * the three in stream order, not their order among each other; so whatever is
 * repeated is matched by count, the k-th with the k-th, first among the
 * records of one span, then over the whole trace:
 *
 *   statistics -> tensor event of the same label -> operation with that output
 *
 * Where the right side has more records, both lists are aligned at their ends
 * (an observation follows what it observes); where it has fewer, its last one
 * serves the rest.
 */
typedef struct origin_pair_side {
    uint64_t *keys;  /* by record; 0 = takes no part */
    uint32_t *items; /* record numbers, sorted by key, stream order within */
    size_t count;
} origin_pair_side;

static bool origin_side_init(arena *mem, size_t count, origin_pair_side *ret)
{
    ret->keys = arena_take(mem, count * sizeof *ret->keys);
    ret->items = arena_take(mem, count * sizeof *ret->items);
    ret->count = count;
    return ret->keys != NULL && ret->items != NULL;
}

static bool origin_side_sort(arena *mem, origin_pair_side *side)
{
    arena_place place = arena_mark(mem);
    uint32_t *room = arena_take(mem, side->count * sizeof *room);

    if (room == NULL)
        return false;
    for (uint32_t i = 0; i < side->count; i++)
        side->items[i] = i;
    sort_by_u64(side->items, room, side->count, side->keys);
    arena_reset(mem, place);
    return true;
}

/* Records of one key: [at, ret). */
static size_t origin_stretch(const origin_pair_side *side, size_t at)
{
    uint64_t key = side->keys[side->items[at]];

    while (at < side->count && side->keys[side->items[at]] == key)
        at++;
    return at;
}

/* Fill match[left record] with a right record wherever it is still TRACE_NONE. */
static bool origin_pair(arena *mem, origin_pair_side *left, origin_pair_side *right,
                        uint32_t *match)
{
    size_t r = 0;

    if (!origin_side_sort(mem, left) || !origin_side_sort(mem, right))
        return false;
    for (size_t l = 0, l_end; l < left->count; l = l_end) {
        uint64_t key = left->keys[left->items[l]];
        size_t r_end;
        size_t skip;

        l_end = origin_stretch(left, l);
        while (r < right->count && right->keys[right->items[r]] < key)
            r++;
        if (key == 0 || r == right->count || right->keys[right->items[r]] != key)
            continue;
        r_end = origin_stretch(right, r);
        skip = r_end - r > l_end - l ? (r_end - r) - (l_end - l) : 0;
        for (size_t k = 0; k < l_end - l; k++) {
            size_t at = r + k + skip < r_end ? r + k + skip : r_end - 1;

            if (match[left->items[l + k]] == TRACE_NONE)
                match[left->items[l + k]] = right->items[at];
        }
        r = r_end;
    }
    return true;
}

/* --- what is known so far --- */

/* Of a tensor id, a label, or a text of the answer; by symbol. */
enum {
    ORIGIN_HAS_STATS = 1,      /* tensor: there are statistics */
    ORIGIN_HAS_NON_FINITE = 2, /* tensor: some are not finite */
    ORIGIN_IS_NON_FINITE = 4,  /* tensor: the latest are not finite */
    ORIGIN_IS_PARAMETER = 8,   /* tensor: recorded with that category */
    ORIGIN_IS_MADE = 16,       /* tensor: the output of an operation */
    ORIGIN_IS_REUSED = 32,     /* tensor: written again in place, so it has several values */
    ORIGIN_IS_JUDGED = 64,     /* label: answered at its first non-finite statistics */
    ORIGIN_IS_UNRECORDED = 128 /* text: listed in unrecorded_inputs */
};

typedef struct origin_work {
    const trace_doc *trace;
    uint8_t *known;      /* by symbol */
    sym *name_of;        /* by tensor id: the first label it was recorded with, 0 = none */
    uint32_t *source_of; /* by tensor id: operation behind its last non-finite statistics, + 1 */
    uint32_t *listed_in; /* by symbol: number of the producer whose inputs hold it */
    uint32_t *tensor_of; /* by statistics: tensor event */
    uint32_t *op_of;     /* by tensor event: operation */
    uint32_t producer_count;
    origin_answer *answer;
} origin_work;

static uint64_t origin_key(sym name, sym span_id)
{
    return name == 0 ? 0 : (uint64_t)name << 32 | span_id;
}

static bool origin_join_stats(arena *mem, origin_work *work)
{
    const trace_doc *trace = work->trace;
    origin_pair_side stats;
    origin_pair_side tensors;

    if (!origin_side_init(mem, trace->stats.count, &stats) ||
        !origin_side_init(mem, trace->tensors.count, &tensors))
        return false;
    for (size_t i = 0; i < stats.count; i++)
        stats.keys[i] = origin_key(trace->stats.at[i].label, trace->stats.at[i].span_id);
    for (size_t i = 0; i < tensors.count; i++)
        tensors.keys[i] = origin_key(trace->tensors.at[i].label, trace->tensors.at[i].span_id);
    if (!origin_pair(mem, &stats, &tensors, work->tensor_of))
        return false;
    for (size_t i = 0; i < stats.count; i++)
        stats.keys[i] = trace->stats.at[i].label;
    for (size_t i = 0; i < tensors.count; i++)
        tensors.keys[i] = trace->tensors.at[i].label;
    return origin_pair(mem, &stats, &tensors, work->tensor_of);
}

static bool origin_join_ops(arena *mem, origin_work *work)
{
    const trace_doc *trace = work->trace;
    origin_pair_side tensors;
    origin_pair_side ops;

    if (!origin_side_init(mem, trace->tensors.count, &tensors) ||
        !origin_side_init(mem, trace->ops.count, &ops))
        return false;
    for (size_t i = 0; i < tensors.count; i++)
        tensors.keys[i] = origin_key(trace->tensors.at[i].tensor_id, trace->tensors.at[i].span_id);
    for (size_t i = 0; i < ops.count; i++)
        ops.keys[i] = origin_key(trace->ops.at[i].output, trace->ops.at[i].span_id);
    if (!origin_pair(mem, &tensors, &ops, work->op_of))
        return false;
    for (size_t i = 0; i < tensors.count; i++)
        tensors.keys[i] = trace->tensors.at[i].tensor_id;
    for (size_t i = 0; i < ops.count; i++)
        ops.keys[i] = trace->ops.at[i].output;
    return origin_pair(mem, &tensors, &ops, work->op_of);
}

static uint32_t *origin_no_match(arena *mem, size_t count)
{
    uint32_t *match = arena_take(mem, count * sizeof *match);

    for (size_t i = 0; match != NULL && i < count; i++)
        match[i] = TRACE_NONE;
    return match;
}

static void origin_know(origin_work *work)
{
    const trace_doc *trace = work->trace;

    for (size_t i = 0; i < trace->tensors.count; i++) {
        const trace_tensor *tensor = &trace->tensors.at[i];

        if (tensor->category == CATEGORY_PARAMETER)
            work->known[tensor->tensor_id] |= ORIGIN_IS_PARAMETER;
        if (work->name_of[tensor->tensor_id] == 0)
            work->name_of[tensor->tensor_id] = tensor->label;
    }
    for (size_t i = 0; i < trace->ops.count; i++) {
        const trace_op *op = &trace->ops.at[i];

        if (work->known[op->output] & ORIGIN_IS_MADE)
            work->known[op->output] |= ORIGIN_IS_REUSED;
        work->known[op->output] |= ORIGIN_IS_MADE;
        for (uint32_t k = 0; k < op->inputs_count; k++)
            if (trace->inputs.at[op->inputs_at + k] == op->output)
                work->known[op->output] |= ORIGIN_IS_REUSED;
    }
}

static bool origin_prepare(arena *mem, origin_work *work)
{
    size_t symbols = intern_count(&work->trace->texts);
    arena_place place;
    bool is_fine;

    work->known = arena_zero(mem, symbols * sizeof *work->known);
    work->name_of = arena_zero(mem, symbols * sizeof *work->name_of);
    work->source_of = arena_zero(mem, symbols * sizeof *work->source_of);
    work->listed_in = arena_zero(mem, symbols * sizeof *work->listed_in);
    work->tensor_of = origin_no_match(mem, work->trace->stats.count);
    work->op_of = origin_no_match(mem, work->trace->tensors.count);
    if (work->known == NULL || work->name_of == NULL || work->source_of == NULL ||
        work->listed_in == NULL || work->tensor_of == NULL || work->op_of == NULL)
        return false;
    place = arena_mark(mem);
    is_fine = origin_join_stats(mem, work) && origin_join_ops(mem, work);
    arena_reset(mem, place);
    if (is_fine)
        origin_know(work);
    return is_fine;
}

/* --- verdicts --- */

enum origin_verdict { ORIGIN_PRODUCER, ORIGIN_PROPAGATOR, ORIGIN_UNDECIDED };

/*
 * Are there non-finite statistics so far? An id that is written again in place
 * stands for several values one after the other: there the latest decides.
 */
static bool origin_is_bad(const origin_work *work, sym tensor_id)
{
    uint8_t known = work->known[tensor_id];

    return (known & (known & ORIGIN_IS_REUSED ? ORIGIN_IS_NON_FINITE : ORIGIN_HAS_NON_FINITE)) != 0;
}

/* The rows of the table of docs/schemas/query.md, nan-origin, from the top. */
static enum origin_verdict origin_judge(const origin_work *work, uint32_t tensor, uint32_t op)
{
    const trace_doc *trace = work->trace;
    sym tensor_id = tensor == TRACE_NONE ? 0 : trace->tensors.at[tensor].tensor_id;
    uint8_t known = work->known[tensor_id];
    bool is_recorded = true;

    /* A second label on a value that was judged under its first one passes it on. */
    if ((known & ORIGIN_HAS_NON_FINITE) && work->source_of[tensor_id] == op + 1)
        return ORIGIN_PROPAGATOR;
    if (op == TRACE_NONE)
        return known & ORIGIN_IS_PARAMETER ? ORIGIN_PRODUCER : ORIGIN_UNDECIDED;
    for (uint32_t k = 0; k < trace->ops.at[op].inputs_count; k++) {
        sym input = trace->inputs.at[trace->ops.at[op].inputs_at + k];

        if (origin_is_bad(work, input))
            return ORIGIN_PROPAGATOR;
        if (!(work->known[input] & ORIGIN_HAS_STATS))
            is_recorded = false;
    }
    return is_recorded ? ORIGIN_PRODUCER : ORIGIN_UNDECIDED;
}

static sym origin_input_name(const origin_work *work, sym tensor_id)
{
    return work->name_of[tensor_id] != 0 ? work->name_of[tensor_id] : tensor_id;
}

static bool origin_add_name(origin_work *work, sym name)
{
    sym *at = vec_add(work->answer->heap, &work->answer->names);

    if (at != NULL)
        *at = name;
    return at != NULL;
}

static bool origin_add_producer(origin_work *work, uint32_t op, origin_row row)
{
    const trace_doc *trace = work->trace;
    origin_answer *answer = work->answer;
    origin_row *at = &answer->origin;

    row.inputs_at = (uint32_t)answer->names.count;
    work->producer_count++;
    for (uint32_t k = 0; op != TRACE_NONE && k < trace->ops.at[op].inputs_count; k++) {
        sym name = origin_input_name(work, trace->inputs.at[trace->ops.at[op].inputs_at + k]);

        if (work->listed_in[name] == work->producer_count)
            continue;
        work->listed_in[name] = work->producer_count;
        if (!origin_add_name(work, name))
            return false;
    }
    row.inputs_count = (uint32_t)answer->names.count - row.inputs_at;
    if (answer->has_origin || answer->cannot_tell)
        at = vec_add(answer->heap, &answer->other_producers);
    else
        answer->has_origin = true;
    if (at != NULL)
        *at = row;
    return at != NULL;
}

static bool origin_add_unrecorded(origin_work *work, uint32_t op)
{
    const trace_doc *trace = work->trace;

    for (uint32_t k = 0; op != TRACE_NONE && k < trace->ops.at[op].inputs_count; k++) {
        sym input = trace->inputs.at[trace->ops.at[op].inputs_at + k];
        sym name = origin_input_name(work, input);
        sym *at;

        if ((work->known[input] & ORIGIN_HAS_STATS) || (work->known[name] & ORIGIN_IS_UNRECORDED))
            continue;
        work->known[name] |= ORIGIN_IS_UNRECORDED;
        at = vec_add(work->answer->heap, &work->answer->unrecorded_inputs);
        if (at == NULL)
            return false;
        *at = name;
    }
    return true;
}

/* The first non-finite statistics of a label: put it where it belongs. */
static bool origin_answer_label(origin_work *work, const trace_stats *stats, uint32_t tensor,
                                uint32_t op)
{
    origin_answer *answer = work->answer;
    enum origin_verdict verdict = origin_judge(work, tensor, op);
    origin_row row = {.label = stats->label,
                      .span_id = stats->span_id,
                      .operation = op == TRACE_NONE ? 0 : work->trace->ops.at[op].name,
                      .non_finite = stats->non_finite,
                      .elements = stats->elements};
    origin_row *at;

    answer->non_finite_labels++;
    if (!answer->has_earliest) {
        answer->has_earliest = true;
        answer->earliest = row;
        answer->cannot_tell = verdict == ORIGIN_UNDECIDED;
    }
    switch (verdict) {
    case ORIGIN_PRODUCER: return origin_add_producer(work, op, row);
    case ORIGIN_UNDECIDED: return origin_add_unrecorded(work, op);
    case ORIGIN_PROPAGATOR: break;
    }
    at = vec_add(answer->heap, &answer->propagators);
    if (at != NULL)
        *at = row;
    return at != NULL;
}

static void origin_see(origin_work *work, const trace_stats *stats, uint32_t tensor, uint32_t op)
{
    sym tensor_id;

    if (tensor == TRACE_NONE)
        return;
    tensor_id = work->trace->tensors.at[tensor].tensor_id;
    work->known[tensor_id] |= ORIGIN_HAS_STATS;
    if (stats->non_finite == 0) {
        work->known[tensor_id] &= (uint8_t)~ORIGIN_IS_NON_FINITE;
        return;
    }
    work->known[tensor_id] |= ORIGIN_HAS_NON_FINITE | ORIGIN_IS_NON_FINITE;
    work->source_of[tensor_id] = op + 1;
}

static bool origin_walk(origin_work *work)
{
    const trace_doc *trace = work->trace;

    for (size_t i = 0; i < trace->stats.count; i++) {
        const trace_stats *stats = &trace->stats.at[i];
        uint32_t tensor = work->tensor_of[i];
        uint32_t op = tensor == TRACE_NONE ? TRACE_NONE : work->op_of[tensor];

        if (stats->non_finite > 0 && !(work->known[stats->label] & ORIGIN_IS_JUDGED)) {
            work->known[stats->label] |= ORIGIN_IS_JUDGED;
            if (!origin_answer_label(work, stats, tensor, op))
                return false;
        }
        origin_see(work, stats, tensor, op);
    }
    return true;
}

cg_code origin_find(heap *into, const evidence *from, origin_answer *ret, cg_err *reterr)
{
    origin_answer answer = {.heap = into};
    origin_work work = {.trace = from->trace, .answer = &answer};
    arena mem;
    bool is_fine;

    arena_init(&mem, into);
    is_fine = origin_prepare(&mem, &work) && origin_walk(&work);
    arena_free(&mem);
    if (!is_fine) {
        origin_free(&answer);
        return err_nomem(reterr);
    }
    *ret = answer;
    return CG_OK;
}

void origin_free(origin_answer *answer)
{
    vec_free(answer->heap, &answer->other_producers);
    vec_free(answer->heap, &answer->propagators);
    vec_free(answer->heap, &answer->names);
    vec_free(answer->heap, &answer->unrecorded_inputs);
}
