#include "model/runtime_facts.h"

#include <string.h>

#include "base/num.h"
#include "base/number_map.h"
#include "base/sort.h"

/* Observations of one list, thing by thing: thing t has order[starts[t]..starts[t + 1]). */
typedef struct grouping {
    uint32_t *order;
    uint32_t *starts;
    size_t count;
} grouping;

/* What an observation is about; 0: nothing that has a name. */
typedef uint64_t key_fn(const runtime_trace *trace, size_t index);

/* Two symbols that may be absent as a key that is not 0. */
static uint64_t key_of(sym a, sym b)
{
    return ((uint64_t)a << 32 | b) + 1;
}

static uint64_t tensor_key(const runtime_trace *trace, size_t index)
{
    return trace->tensors.at[index].static_id;
}

static uint64_t operation_key(const runtime_trace *trace, size_t index)
{
    return trace->operations.at[index].static_id;
}

static uint64_t gradient_key(const runtime_trace *trace, size_t index)
{
    const runtime_gradient *at = &trace->gradients.at[index];

    return key_of(at->root, at->key);
}

static uint64_t value_key(const runtime_trace *trace, size_t index)
{
    const runtime_value *at = &trace->values.at[index];

    return key_of(at->static_id, at->source);
}

static uint64_t edge_key(const runtime_trace *trace, size_t index)
{
    const runtime_edge *at = &trace->edges.at[index];

    return key_of(at->from, at->to);
}

#define NO_GROUP UINT32_MAX

/* What a second symbol went with last; most go with one first symbol only. */
typedef struct last_group {
    uint64_t key;
    uint32_t group;
} last_group;

/* Number the things in the order they appear; false: out of memory. */
static bool number_groups(heap *memory, const runtime_trace *trace, size_t count, key_fn *key,
                          uint32_t *group_of, size_t *ret_count)
{
    size_t room = (intern_count(&trace->texts) + 1) * sizeof(last_group);
    last_group *last = heap_resize(memory, NULL, 0, room);
    number_map map;
    uint32_t next = 0;
    bool is_good = last != NULL;

    number_map_init(&map, memory);
    if (is_good)
        memset(last, 0, room);
    for (size_t i = 0; is_good && i < count; i++) {
        uint64_t wanted = key(trace, i);
        last_group *near;
        uint32_t *found;

        group_of[i] = NO_GROUP;
        if (wanted == 0)
            continue;
        near = &last[(uint32_t)wanted % (room / sizeof *last)];
        if (near->key != wanted) {
            found = number_map_put(&map, wanted, next);
            is_good = found != NULL;
            *near = (last_group){wanted, is_good ? *found : 0};
            next += near->group == next;
        }
        group_of[i] = near->group;
    }
    number_map_free(&map);
    heap_resize(memory, last, last != NULL ? room : 0, 0);
    *ret_count = next;
    return is_good;
}

static bool group_by(arena *mem, const runtime_trace *trace, size_t count, key_fn *key,
                     grouping *ret)
{
    uint32_t *order = arena_take(mem, (count + 1) * sizeof *order);
    uint32_t *group_of = arena_take(mem, (count + 1) * sizeof *group_of);
    uint32_t *starts;
    size_t groups;

    if (order == NULL || group_of == NULL ||
        !number_groups(mem->heap, trace, count, key, group_of, &groups))
        return false;
    starts = arena_zero(mem, (groups + 2) * sizeof *starts);
    if (starts == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (group_of[i] != NO_GROUP)
            starts[group_of[i] + 2]++;
    }
    for (size_t i = 2; i < groups + 2; i++)
        starts[i] += starts[i - 1];
    /* starts[g + 1] runs from the start of g to its end while the order is filled. */
    for (size_t i = 0; i < count; i++) {
        if (group_of[i] != NO_GROUP)
            order[starts[group_of[i] + 1]++] = (uint32_t)i;
    }
    *ret = (grouping){order, starts, groups};
    return true;
}

/* Order records of `size` bytes, which begin with two symbols or one, by the texts of those. */
typedef struct text_order {
    const intern *texts;
    const char *at;
    size_t size;
    size_t symbols;
} text_order;

static int compare_symbols(const intern *texts, sym a, sym b)
{
    if (a == b)
        return 0;
    if (a == 0 || b == 0)
        return a == 0 ? -1 : 1;
    return str_compare(intern_text_of(texts, a), intern_text_of(texts, b));
}

static bool text_before(const void *context, uint32_t a, uint32_t b)
{
    const text_order *self = context;
    const sym *x = (const sym *)(const void *)(self->at + a * self->size);
    const sym *y = (const sym *)(const void *)(self->at + b * self->size);
    int order = compare_symbols(self->texts, x[0], y[0]);

    if (order == 0 && self->symbols > 1)
        order = compare_symbols(self->texts, x[1], y[1]);
    return order < 0;
}

static bool sort_facts(arena *mem, const runtime_trace *trace, void **facts, size_t count,
                       size_t size, size_t symbols)
{
    text_order by = {&trace->texts, *facts, size, symbols};
    char *sorted = arena_take(mem, (count + 1) * size);
    uint32_t *items = arena_take(mem, (2 * count + 1) * sizeof *items);

    if (sorted == NULL || items == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)i;
    sort_with(items, items + count, count, text_before, &by);
    for (size_t i = 0; i < count; i++)
        memcpy(sorted + i * size, by.at + items[i] * size, size);
    *facts = sorted;
    return true;
}

/* --- times --- */

/* `avg_ns` holds the sum until finish_timing. */
static void add_timing(model_timing *self, uint64_t duration_ns)
{
    if (self->samples == 0 || duration_ns < self->min_ns)
        self->min_ns = duration_ns;
    if (duration_ns > self->max_ns)
        self->max_ns = duration_ns;
    self->avg_ns = num_sat_add(self->avg_ns, duration_ns);
    self->samples++;
}

static void finish_timing(model_timing *self)
{
    if (self->samples > 0)
        self->avg_ns /= self->samples;
}

/* --- tensors --- */

static uint32_t differing_aspects(const runtime_trace *trace, const runtime_tensor *a,
                                  const runtime_tensor *b)
{
    bool is_same_shape =
        a->shape.rank == b->shape.rank &&
        (a->shape.rank == 0 || memcmp(trace->axes.at + a->shape.at, trace->axes.at + b->shape.at,
                                      a->shape.rank * sizeof *trace->axes.at) == 0);

    return (uint32_t)(a->dtype != b->dtype) << ASPECT_DTYPE |
           (uint32_t)(a->device != b->device) << ASPECT_DEVICE |
           (uint32_t)!is_same_shape << ASPECT_SHAPE |
           (uint32_t)(a->is_contiguous != b->is_contiguous) << ASPECT_LAYOUT |
           (uint32_t)(a->is_grad_required != b->is_grad_required) << ASPECT_GRAD;
}

static cg_code find_tensors(runtime_facts *self, cg_err *reterr)
{
    const runtime_trace *trace = self->trace;
    grouping groups;
    void *facts;

    if (!group_by(self->mem, trace, trace->tensors.count, tensor_key, &groups) ||
        (facts = arena_zero(self->mem, (groups.count + 1) * sizeof(tensor_fact))) == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < groups.count; i++) {
        tensor_fact *fact = (tensor_fact *)facts + i;
        const runtime_tensor *first = &trace->tensors.at[groups.order[groups.starts[i]]];

        *fact = (tensor_fact){.static_id = first->static_id,
                              .first = groups.starts[i],
                              .count = groups.starts[i + 1] - groups.starts[i],
                              .agreed = first};
        for (uint32_t k = 1; k < fact->count; k++) {
            const runtime_tensor *other = &trace->tensors.at[groups.order[fact->first + k]];

            fact->differing |= differing_aspects(trace, first, other);
            if (event_ids_compare(&trace->events, other->event, fact->agreed->event) < 0)
                fact->agreed = other;
        }
        for (unsigned aspect = 0; aspect < ASPECT_COUNT; aspect++)
            self->tensor_conflicts += fact->differing >> aspect & 1;
        if (fact->differing != 0)
            fact->agreed = NULL;
    }
    if (!sort_facts(self->mem, trace, &facts, groups.count, sizeof(tensor_fact), 1))
        return err_nomem(reterr);
    self->tensors = facts;
    self->tensor_count = groups.count;
    self->tensor_order = groups.order;
    return CG_OK;
}

const runtime_tensor *tensor_fact_at(const runtime_facts *self, const tensor_fact *of,
                                     uint32_t index)
{
    return &self->trace->tensors.at[self->tensor_order[of->first + index]];
}

/* --- gradients --- */

static bool is_same_gradient(const runtime_gradient *a, const runtime_gradient *b)
{
    return a->state == b->state && a->has_norm == b->has_norm &&
           (!a->has_norm || a->norm == b->norm || (a->norm != a->norm && b->norm != b->norm));
}

static bool is_same_time(const runtime_gradient *a, const runtime_gradient *b)
{
    return a->has_step == b->has_step && (!a->has_step || a->step == b->step);
}

/* Facts without a step first, then by step, then by event id. */
static bool gradient_before(const void *context, uint32_t a, uint32_t b)
{
    const runtime_trace *trace = context;
    const runtime_gradient *x = &trace->gradients.at[a];
    const runtime_gradient *y = &trace->gradients.at[b];

    if (x->has_step != y->has_step)
        return !x->has_step;
    if (x->has_step && x->step != y->step)
        return x->step < y->step;
    return event_ids_compare(&trace->events, x->event, y->event) < 0;
}

/* Most writers record in order: look before sorting. */
static bool order_gradients(arena *mem, const runtime_trace *trace, uint32_t *items, size_t count)
{
    arena_place place = arena_mark(mem);
    bool is_ordered = true;
    uint32_t *room;

    for (size_t i = 1; is_ordered && i < count; i++)
        is_ordered = gradient_before(trace, items[i - 1], items[i]);
    if (is_ordered)
        return true;
    room = arena_take(mem, count * sizeof *room);
    if (room == NULL)
        return false;
    sort_with(items, room, count, gradient_before, trace);
    arena_reset(mem, place);
    return true;
}

static void dispute(gradient_fact *fact, const runtime_gradient *a, const runtime_gradient *b)
{
    if (fact->disputed == NULL)
        fact->disputed = a;
    fact->disputed_states |= 1u << a->state | 1u << b->state;
}

/* `items` are the observations of one parameter, in order. */
static void judge_gradient(const runtime_trace *trace, const uint32_t *items, gradient_fact *fact)
{
    const runtime_gradient *first = &trace->gradients.at[items[0]];
    const runtime_gradient *last = &trace->gradients.at[items[fact->count - 1]];
    const runtime_gradient *nonfinite = NULL; /* the first that nothing speaks against */
    bool is_last_disputed = false;

    for (uint32_t i = 0; i < fact->count;) {
        const runtime_gradient *start = &trace->gradients.at[items[i]];
        bool is_disputed = false;
        uint32_t end = i;

        for (; end < fact->count; end++) {
            const runtime_gradient *at = &trace->gradients.at[items[end]];

            if (!is_same_time(start, at))
                break;
            fact->states[at->state]++;
            if (at->state == GRADIENT_STATE_PRESENT && at->has_step && !fact->moved.is_set)
                fact->moved = (opt_u64){.value = at->step, .is_set = true};
            if (!is_same_gradient(start, at)) {
                is_disputed = true;
                dispute(fact, start, at);
            }
            /* What has no step could have been at any: it must agree with all. */
            if (!first->has_step && !is_same_gradient(first, at))
                dispute(fact, first, at);
        }
        if (!is_disputed && start->state == GRADIENT_STATE_NON_FINITE && nonfinite == NULL)
            nonfinite = start;
        is_last_disputed = is_disputed;
        i = end;
    }
    if (first->has_step)
        fact->headline = is_last_disputed ? NULL : last;
    else if (fact->disputed == NULL)
        fact->headline = first;
    if (first->has_step && nonfinite != NULL &&
        (fact->headline == NULL || fact->headline->state != GRADIENT_STATE_NON_FINITE))
        fact->first_nonfinite = nonfinite;
}

static cg_code find_gradients(runtime_facts *self, cg_err *reterr)
{
    const runtime_trace *trace = self->trace;
    grouping groups;
    void *facts;

    if (!group_by(self->mem, trace, trace->gradients.count, gradient_key, &groups) ||
        (facts = arena_zero(self->mem, (groups.count + 1) * sizeof(gradient_fact))) == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < groups.count; i++) {
        uint32_t *items = groups.order + groups.starts[i];
        gradient_fact *fact = (gradient_fact *)facts + i;

        fact->count = groups.starts[i + 1] - groups.starts[i];
        fact->root = trace->gradients.at[items[0]].root;
        fact->key = trace->gradients.at[items[0]].key;
        if (!order_gradients(self->mem, trace, items, fact->count))
            return err_nomem(reterr);
        judge_gradient(trace, items, fact);
        self->gradient_conflicts += fact->disputed != NULL;
        if (fact->headline != NULL)
            self->classes[fact->headline->state]++;
    }
    if (!sort_facts(self->mem, trace, &facts, groups.count, sizeof(gradient_fact), 2))
        return err_nomem(reterr);
    self->gradients = facts;
    self->gradient_count = groups.count;
    for (size_t i = 0; i < trace->gradients.count; i++) {
        const runtime_gradient *at = &trace->gradients.at[i];
        opt_u64 *step = &self->first_nonfinite_step;

        if (at->state == GRADIENT_STATE_NON_FINITE && at->has_step &&
            (!step->is_set || at->step < step->value))
            *step = (opt_u64){.value = at->step, .is_set = true};
    }
    return CG_OK;
}

/* --- operations and edges --- */

static cg_code find_operations(runtime_facts *self, cg_err *reterr)
{
    const runtime_trace *trace = self->trace;
    model_timing all = {0};
    grouping groups;
    void *facts;

    if (!group_by(self->mem, trace, trace->operations.count, operation_key, &groups) ||
        (facts = arena_zero(self->mem, (groups.count + 1) * sizeof(operation_fact))) == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < trace->operations.count; i++) {
        if (trace->operations.at[i].has_duration)
            add_timing(&all, trace->operations.at[i].duration_ns);
    }
    finish_timing(&all);
    self->average_duration_ns = (opt_u64){.value = all.avg_ns, .is_set = all.samples > 0};
    for (size_t i = 0; i < groups.count; i++) {
        operation_fact *fact = (operation_fact *)facts + i;

        fact->first = groups.starts[i];
        fact->count = groups.starts[i + 1] - groups.starts[i];
        fact->static_id = trace->operations.at[groups.order[fact->first]].static_id;
        for (uint32_t k = 0; k < fact->count; k++) {
            const runtime_operation *at = &trace->operations.at[groups.order[fact->first + k]];

            if (at->has_duration)
                add_timing(&fact->timing, at->duration_ns);
        }
        finish_timing(&fact->timing);
    }
    if (!sort_facts(self->mem, trace, &facts, groups.count, sizeof(operation_fact), 1))
        return err_nomem(reterr);
    self->operations = facts;
    self->operation_count = groups.count;
    self->operation_order = groups.order;
    return CG_OK;
}

const runtime_operation *operation_fact_at(const runtime_facts *self, const operation_fact *of,
                                           uint32_t index)
{
    return &self->trace->operations.at[self->operation_order[of->first + index]];
}

static cg_code find_edges(runtime_facts *self, cg_err *reterr)
{
    const runtime_trace *trace = self->trace;
    grouping groups;
    void *facts;

    if (!group_by(self->mem, trace, trace->edges.count, edge_key, &groups) ||
        (facts = arena_zero(self->mem, (groups.count + 1) * sizeof(edge_fact))) == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < groups.count; i++) {
        edge_fact *fact = (edge_fact *)facts + i;

        for (uint32_t k = groups.starts[i]; k < groups.starts[i + 1]; k++) {
            const runtime_edge *at = &trace->edges.at[groups.order[k]];

            fact->from = at->from;
            fact->to = at->to;
            add_timing(&fact->timing, at->duration_ns);
        }
        finish_timing(&fact->timing);
    }
    if (!sort_facts(self->mem, trace, &facts, groups.count, sizeof(edge_fact), 2))
        return err_nomem(reterr);
    self->edges = facts;
    self->edge_count = groups.count;
    return CG_OK;
}

/* --- values --- */

/* Is `a` earlier than `b`? Without a step: as it came. */
static bool is_earlier(const runtime_value *a, const runtime_value *b)
{
    return b == NULL || (a->has_step && b->has_step && a->step < b->step);
}

static void add_value(value_fact *fact, const runtime_value *at)
{
    if (at->is_unbounded) {
        fact->is_unbounded = true;
    } else {
        fact->min = !fact->has_bounds || at->min < fact->min ? at->min : fact->min;
        fact->max = !fact->has_bounds || at->max > fact->max ? at->max : fact->max;
        fact->has_bounds = true;
    }
    fact->nonfinite_count = num_sat_add(fact->nonfinite_count, at->nonfinite_count);
    fact->saturated_count = num_sat_add(fact->saturated_count, at->saturated_count);
    if ((at->nonfinite_count > 0 || at->is_unbounded) && is_earlier(at, fact->nonfinite))
        fact->nonfinite = at;
    if (at->saturated_count > 0 && is_earlier(at, fact->saturated))
        fact->saturated = at;
}

static cg_code count_sources(runtime_facts *self, cg_err *reterr)
{
    bool *is_seen = arena_zero(self->mem, intern_count(&self->trace->texts) + 1);

    if (is_seen == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->value_count; i++) {
        const value_fact *fact = &self->values[i];

        if (fact->saturated_count == 0 || fact->source == 0 || is_seen[fact->source])
            continue;
        is_seen[fact->source] = true;
        self->saturating_sources++;
    }
    return CG_OK;
}

static cg_code find_values(runtime_facts *self, cg_err *reterr)
{
    const runtime_trace *trace = self->trace;
    grouping groups;
    void *facts;

    if (!group_by(self->mem, trace, trace->values.count, value_key, &groups) ||
        (facts = arena_zero(self->mem, (groups.count + 1) * sizeof(value_fact))) == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < groups.count; i++) {
        value_fact *fact = (value_fact *)facts + i;

        fact->count = groups.starts[i + 1] - groups.starts[i];
        for (uint32_t k = groups.starts[i]; k < groups.starts[i + 1]; k++) {
            const runtime_value *at = &trace->values.at[groups.order[k]];

            fact->static_id = at->static_id;
            fact->source = at->source;
            add_value(fact, at);
        }
    }
    if (!sort_facts(self->mem, trace, &facts, groups.count, sizeof(value_fact), 2))
        return err_nomem(reterr);
    self->values = facts;
    self->value_count = groups.count;
    return count_sources(self, reterr);
}

/* --- all --- */

static uint8_t phase_of(cg_str text)
{
    static const struct {
        cg_str word;
        uint8_t phase;
    } words[] = {{{"train", 5}, MODEL_PHASE_TRAIN}, {{"training", 8}, MODEL_PHASE_TRAIN},
                 {{"infer", 5}, MODEL_PHASE_INFER}, {{"inference", 9}, MODEL_PHASE_INFER},
                 {{"eval", 4}, MODEL_PHASE_INFER},  {{"evaluate", 8}, MODEL_PHASE_INFER}};

    for (size_t i = 0; text.ptr != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (str_equal_nocase(text, words[i].word))
            return words[i].phase;
    }
    return MODEL_PHASE_NONE;
}

cg_code runtime_facts_make(arena *mem, const runtime_trace *trace, runtime_facts *ret,
                           cg_err *reterr)
{
    runtime_facts self = {.trace = trace, .mem = mem, .phase = phase_of(trace->run.phase)};

    CG_TRY(find_tensors(&self, reterr));
    CG_TRY(find_gradients(&self, reterr));
    CG_TRY(find_operations(&self, reterr));
    CG_TRY(find_edges(&self, reterr));
    CG_TRY(find_values(&self, reterr));
    *ret = self;
    return CG_OK;
}

cg_str runtime_state_word(uint8_t state)
{
    return sc_word(&words_gradient_state, state);
}
