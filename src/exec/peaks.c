#include "exec/peaks.h"

#include "base/num.h"
#include "exec/columns.h"

/*
 * Every allocation and every free is an item; items are numbered in the order
 * they take effect (by time, at one time the frees first). An item counts for
 * a span from some ancestor of its allocating span upwards: the conditions of
 * the clipping rule, once true, stay true on the way to the root, because
 * intervals only get wider. So each span owns a set of items, which is the
 * union of the sets of its children and of the items that begin to count at
 * it, and the question is the peak of the level while the set is replayed.
 *
 * Sets are binary tries over item numbers with compressed paths. A node holds
 * what replaying its items does to any level x:
 *
 *     level afterwards   max(floor, x + shift)
 *     highest on the way max(top, x + rise)
 *
 * These functions compose, so after a join only the nodes where the two tries
 * met are worked out again, and only when a span asks. A node whose range is
 * full will never meet anything again: it gives up its children.
 */
typedef struct curve {
    int64_t floor;
    int64_t shift;
    int64_t top;
    int64_t rise;
} curve;

typedef struct trie_node {
    curve curve;
    uint32_t left;
    uint32_t right;
    uint32_t mark;  /* first item of the right half; its lowest set bit is half the width */
    uint32_t count; /* items below; 0 = to be worked out again */
} trie_node;

/* A reference to a part of a trie: 0 is nothing, with this bit set it is the item itself. */
#define ITEM        UINT32_C(0x80000000)
#define MOST_LEVELS 32

/* Below every level that can occur, and far enough from the ends to add to. */
#define NEVER      (-(INT64_C(1) << 62))
#define MOST_BYTES (UINT64_C(1) << 61)

/* Steps the replay of single spans may take when sums could overflow. */
#define MOST_REPLAY_STEPS UINT64_C(20000000)

typedef struct peaks_work {
    heap *heap;
    const peaks_tree *tree;
    const trace_doc *trace;
    const memory_plane *memory;
    size_t span_count;
    uint32_t *jump;  /* by span: an ancestor far away, for searching upwards */
    uint32_t *first; /* by span: last item that begins to count there, item + 1 */
    uint32_t *next;  /* by item: the one before it at the same span, item + 1 */
    uint32_t *place; /* by item: the span where it begins to count */
    int64_t *value;  /* by item: bytes, negative for a free */
    size_t item_room;
    uint32_t item_count;
    bool *has_below; /* by span: items begin to count below it */
    uint32_t *trie;  /* by span */
    VEC(trie_node) nodes;
    uint32_t unused; /* chain of given up nodes through `left` */
} peaks_work;

/* --- tries --- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* First `a`, then `b`. */
static curve compose(const curve *a, const curve *b)
{
    return (curve){
        .floor = larger(b->floor, a->floor + b->shift),
        .shift = a->shift + b->shift,
        .top = larger(larger(a->top, b->top), a->floor + b->rise),
        .rise = larger(a->rise, a->shift + b->rise),
    };
}

static curve curve_of(const peaks_work *self, uint32_t part)
{
    int64_t value;
    int64_t floor;

    if (!(part & ITEM))
        return self->nodes.at[part].curve;
    value = self->value[part & ~ITEM];
    /* Levels are never negative, except on the way through one timestamp that is netted. */
    floor = self->tree->is_net ? NEVER : larger(value, 0);
    return (curve){floor, value, floor, value};
}

static uint32_t count_of(const peaks_work *self, uint32_t part)
{
    return part & ITEM ? 1 : self->nodes.at[part].count;
}

typedef struct range {
    uint32_t first;
    uint32_t width;
} range;

static range range_of(const peaks_work *self, uint32_t part)
{
    uint32_t mark;
    uint32_t half;

    if (part & ITEM)
        return (range){part & ~ITEM, 1};
    mark = self->nodes.at[part].mark;
    half = mark & (~mark + 1);
    return (range){mark - half, 2 * half};
}

static void drop_node(peaks_work *self, uint32_t part)
{
    if (part == 0 || part & ITEM)
        return;
    self->nodes.at[part].left = self->unused;
    self->unused = part;
}

/* Work out a node from its two children. */
static void settle(peaks_work *self, uint32_t part)
{
    trie_node *node = &self->nodes.at[part];
    curve left = curve_of(self, node->left);
    curve right = curve_of(self, node->right);
    range all = range_of(self, part);
    uint32_t width =
        self->item_count - all.first < all.width ? self->item_count - all.first : all.width;

    node->curve = compose(&left, &right);
    node->count = count_of(self, node->left) + count_of(self, node->right);
    if (node->count == width) {
        drop_node(self, node->left);
        drop_node(self, node->right);
        node->left = 0;
        node->right = 0;
    }
}

static uint32_t highest_bit(uint32_t value)
{
    value |= value >> 1;
    value |= value >> 2;
    value |= value >> 4;
    value |= value >> 8;
    value |= value >> 16;
    return value ^ value >> 1;
}

/* A node over two parts that do not overlap; 0 when out of memory. */
static uint32_t pair_parts(peaks_work *self, uint32_t a, uint32_t b)
{
    uint32_t first_a = range_of(self, a).first;
    uint32_t first_b = range_of(self, b).first;
    uint32_t half = highest_bit(first_a ^ first_b);
    uint32_t part = self->unused;

    if (part != 0) {
        self->unused = self->nodes.at[part].left;
    } else {
        if (vec_add(self->heap, &self->nodes) == NULL)
            return 0;
        part = (uint32_t)(self->nodes.count - 1);
    }
    self->nodes.at[part].left = first_a < first_b ? a : b;
    self->nodes.at[part].right = first_a < first_b ? b : a;
    self->nodes.at[part].mark = (first_a & ~(half | (half - 1))) | half;
    self->nodes.at[part].count = 0;
    return part;
}

static bool is_unsettled(const peaks_work *self, uint32_t part)
{
    return part != 0 && !(part & ITEM) && self->nodes.at[part].count == 0;
}

/* Work out all of a trie that changed. */
static void settle_all(peaks_work *self, uint32_t part)
{
    uint32_t path[MOST_LEVELS];
    unsigned depth = 0;

    if (is_unsettled(self, part))
        path[depth++] = part;
    while (depth > 0) {
        const trie_node *node = &self->nodes.at[path[depth - 1]];

        if (is_unsettled(self, node->left))
            path[depth++] = node->left;
        else if (is_unsettled(self, node->right))
            path[depth++] = node->right;
        else
            settle(self, path[--depth]);
    }
}

typedef struct join_step {
    uint32_t node;
    uint32_t other; /* to be joined with the right child, after the left one is done */
    bool is_right;  /* the child that is being worked out */
} join_step;

typedef struct join_work {
    join_step steps[MOST_LEVELS];
    unsigned depth;
    uint32_t a;
    uint32_t b;
} join_work;

/* Go down to where `a` and `b` no longer overlap; the joined part there, 0 when out of memory. */
static uint32_t join_down(peaks_work *self, join_work *work)
{
    for (;;) {
        range a;
        range b;
        trie_node *node;
        join_step *step;

        if (work->a == 0 || work->b == 0)
            return work->a | work->b;
        a = range_of(self, work->a);
        b = range_of(self, work->b);
        if (a.first < b.first ? b.first - a.first >= a.width : a.first - b.first >= b.width)
            return pair_parts(self, work->a, work->b);
        if (a.width < b.width) {
            uint32_t part = work->a;
            range wider = b;

            work->a = work->b;
            work->b = part;
            b = a;
            a = wider;
        }
        node = &self->nodes.at[work->a];
        step = &work->steps[work->depth++];
        if (a.width == b.width) {
            trie_node twin = self->nodes.at[work->b];

            drop_node(self, work->b);
            *step = (join_step){work->a, twin.right, false};
            work->a = node->left;
            work->b = twin.left;
        } else {
            *step = (join_step){work->a, 0, b.first >= node->mark};
            work->a = step->is_right ? node->right : node->left;
        }
    }
}

/* The union of two tries; both are used up. False when out of memory. */
static bool join(peaks_work *self, uint32_t a, uint32_t b, uint32_t *ret)
{
    join_work work = {.a = a, .b = b};

    for (;;) {
        uint32_t joined = join_down(self, &work);

        if (joined == 0 && (work.a | work.b) != 0)
            return false;
        while (work.depth > 0) {
            join_step *step = &work.steps[work.depth - 1];
            trie_node *node = &self->nodes.at[step->node];

            if (step->is_right)
                node->right = joined;
            else
                node->left = joined;
            if (step->other != 0)
                break;
            joined = step->node;
            node->count = 0;
            work.depth--;
        }
        if (work.depth == 0) {
            *ret = joined;
            return true;
        }

        join_step *step = &work.steps[work.depth - 1];

        work.a = self->nodes.at[step->node].right;
        work.b = step->other;
        step->other = 0;
        step->is_right = true;
    }
}

/*
 * The trie of the items that begin to count at `span`. They come from the last to the first, so
 * every new one lies left of all before: parts that no later item can fall into are paired.
 */
static bool own_items(peaks_work *self, uint32_t span, uint32_t *ret)
{
    uint32_t parts[MOST_LEVELS + 2];
    uint32_t levels[MOST_LEVELS + 2]; /* highest bit that differs from the part below */
    unsigned depth = 0;

    for (uint32_t item = self->first[span]; item != 0; item = self->next[item - 1]) {
        uint32_t level =
            depth > 0 ? highest_bit((item - 1) ^ range_of(self, parts[depth - 1]).first) : 0;

        while (depth > 1 && levels[depth - 1] < level) {
            parts[depth - 2] = pair_parts(self, parts[depth - 1], parts[depth - 2]);
            if (parts[depth - 2] == 0)
                return false;
            settle(self, parts[depth - 2]);
            depth--;
        }
        parts[depth] = (item - 1) | ITEM;
        levels[depth++] = level;
    }
    for (; depth > 1; depth--) {
        parts[depth - 2] = pair_parts(self, parts[depth - 1], parts[depth - 2]);
        if (parts[depth - 2] == 0)
            return false;
        settle(self, parts[depth - 2]);
    }
    *ret = depth > 0 ? parts[0] : 0;
    return true;
}

/* --- items --- */

enum moment { MOMENT_ALLOC, MOMENT_FREE, MOMENT_BEGUN, MOMENT_DONE };

/* Does the span, running from `a` to `b`, count what starts and ends then? */
static bool counts(const trace_span *span, enum moment moment, uint64_t start_ns, uint64_t end_ns)
{
    uint64_t a = span->start_ns;
    uint64_t b = trace_span_end(span);

    switch (moment) {
    case MOMENT_ALLOC: return start_ns < b && end_ns > a;
    case MOMENT_FREE: return a < end_ns && end_ns < b;
    case MOMENT_BEGUN: return start_ns < b;
    case MOMENT_DONE: return start_ns < b && end_ns <= b;
    }
    return false;
}

/* The deepest of `span` and its ancestors that counts the moment, or TRACE_NONE. */
static uint32_t counting_span(const peaks_work *self, uint32_t span, enum moment moment,
                              uint64_t start_ns, uint64_t end_ns)
{
    const trace_span *spans = self->trace->spans.at;

    while (!counts(&spans[span], moment, start_ns, end_ns)) {
        if (spans[span].parent == TRACE_NONE)
            return TRACE_NONE;
        span = counts(&spans[self->jump[span]], moment, start_ns, end_ns) ? spans[span].parent
                                                                          : self->jump[span];
    }
    return span;
}

/* Pointers that jump over as much as they can and still reach every ancestor in O(log depth). */
static void build_jumps(peaks_work *self)
{
    const uint32_t *depth = self->tree->depth;

    for (size_t i = 0; i < self->span_count; i++) {
        uint32_t span = self->tree->preorder[i];
        uint32_t parent = self->trace->spans.at[span].parent;
        uint32_t jump = parent == TRACE_NONE ? span : self->jump[parent];

        if (parent == TRACE_NONE)
            self->jump[span] = span;
        else if (depth[parent] - depth[jump] == depth[jump] - depth[self->jump[jump]])
            self->jump[span] = self->jump[jump];
        else
            self->jump[span] = parent;
    }
}

static uint64_t end_of(const memory_lifetime *life)
{
    return life->is_closed ? life->end_ns : UINT64_MAX;
}

/* The lifetime an event opens or closes, or NULL. */
static const memory_lifetime *lifetime_of(const peaks_work *self, uint32_t event, bool is_free)
{
    const memory_plane *memory = self->memory;
    uint32_t lifetime = memory->lifetime_of.at[event];
    const memory_lifetime *life;

    if (lifetime == TRACE_NONE || (self->trace->memory.at[event].action == ACTION_FREE) != is_free)
        return NULL;
    life = &memory->lifetimes.at[lifetime];
    return is_free || life->alloc_event == event ? life : NULL;
}

static uint32_t home_of(const peaks_work *self, const memory_lifetime *life)
{
    return trace_span_of(self->trace, self->trace->memory.at[life->alloc_event].span_id);
}

static void list_item(peaks_work *self, uint32_t item, uint32_t span)
{
    self->next[item] = self->first[span];
    self->first[span] = item + 1;
}

static void add_item(peaks_work *self, const memory_lifetime *life, bool is_free,
                     uint64_t *residual)
{
    int64_t bytes = (int64_t)self->trace->memory.at[life->alloc_event].bytes;
    uint32_t home = home_of(self, life);
    uint32_t span;

    if (bytes == 0)
        return;
    span = counting_span(self, home, is_free ? MOMENT_FREE : MOMENT_ALLOC, life->start_ns,
                         end_of(life));
    if (span != TRACE_NONE) {
        self->value[self->item_count] = is_free ? -bytes : bytes;
        self->place[self->item_count] = span;
        list_item(self, self->item_count++, span);
    }
    if (is_free || residual == NULL)
        return;
    /* What was begun and is not done when a span ends is left over; sums wrap and come back. */
    span = counting_span(self, home, MOMENT_BEGUN, life->start_ns, end_of(life));
    if (span != TRACE_NONE)
        residual[span] += (uint64_t)bytes;
    span = counting_span(self, home, MOMENT_DONE, life->start_ns, end_of(life));
    if (span != TRACE_NONE)
        residual[span] -= (uint64_t)bytes;
}

/* Number the items: in time order, at one time the frees first. */
static void add_items(peaks_work *self, uint64_t *residual)
{
    const memory_plane *memory = self->memory;
    size_t count = memory->order.count;

    for (size_t from = 0, to = 0; from < count; from = to) {
        uint64_t now_ns = self->trace->memory.at[memory->order.at[from]].timestamp_ns;

        while (to < count && self->trace->memory.at[memory->order.at[to]].timestamp_ns == now_ns)
            to++;
        for (unsigned pass = 0; pass < 2; pass++) {
            for (size_t i = from; i < to; i++) {
                const memory_lifetime *life = lifetime_of(self, memory->order.at[i], pass == 0);

                if (life != NULL)
                    add_item(self, life, pass == 0, residual);
            }
        }
    }
}

/* --- spans --- */

/* Which spans have lifetimes in them or below? */
static void mark_spans(const peaks_work *self, bool *has_peak)
{
    const memory_plane *memory = self->memory;

    memset(has_peak, 0, self->span_count * sizeof *has_peak);
    for (size_t i = 0; i < memory->lifetimes.count; i++)
        has_peak[home_of(self, &memory->lifetimes.at[i])] = true;
    for (size_t i = self->span_count; i-- > 0;) {
        uint32_t span = self->tree->preorder[i];
        uint32_t parent = self->trace->spans.at[span].parent;

        if (has_peak[span] && parent != TRACE_NONE)
            has_peak[parent] = true;
        if (self->tree->is_complete)
            has_peak[span] = true;
    }
}

static bool is_empty(const trace_span *span)
{
    return trace_span_end(span) <= span->start_ns;
}

static uint64_t peak_of(const curve *whole)
{
    return (uint64_t)larger(0, larger(whole->top, whole->rise));
}

/* The peak of the items listed at `span`, when they are all it has. */
static void set_own_peak(const peaks_work *self, uint32_t span, uint64_t *peak)
{
    uint32_t item = self->first[span];
    curve whole;

    if (item == 0 || is_empty(&self->trace->spans.at[span]))
        return;
    whole = curve_of(self, (item - 1) | ITEM);
    for (item = self->next[item - 1]; item != 0; item = self->next[item - 1]) {
        curve before = curve_of(self, (item - 1) | ITEM);

        whole = compose(&before, &whole);
    }
    peak[span] = peak_of(&whole);
}

/*
 * Spans that have items and none below them, the bulk, need no trie: their peak is read off the
 * list, and the items are listed again at the parent.
 */
static void lift_items(peaks_work *self, uint64_t *peak)
{
    for (size_t i = self->span_count; i-- > 0;) {
        uint32_t span = self->tree->preorder[i];
        uint32_t parent = self->trace->spans.at[span].parent;

        if ((self->first[span] != 0 || self->has_below[span]) && parent != TRACE_NONE)
            self->has_below[parent] = true;
        if (!self->has_below[span])
            set_own_peak(self, span, peak);
    }
    memset(self->first, 0, self->span_count * sizeof *self->first);
    for (uint32_t item = 0; item < self->item_count; item++) {
        uint32_t span = self->place[item];

        if (!self->has_below[span])
            span = self->trace->spans.at[span].parent;
        if (span != TRACE_NONE)
            list_item(self, item, span);
    }
}

/* From the leaves to the root: join, read off the peak, hand over to the parent. */
static bool join_spans(peaks_work *self, uint64_t *peak)
{
    for (size_t i = self->span_count; i-- > 0;) {
        uint32_t span = self->tree->preorder[i];
        uint32_t parent = self->trace->spans.at[span].parent;
        uint32_t own = 0;
        uint32_t all = 0;

        if (!self->has_below[span])
            continue;
        if (parent == TRACE_NONE && self->trie[span] == 0) {
            set_own_peak(self, span, peak);
            continue;
        }
        if (!own_items(self, span, &own) || !join(self, self->trie[span], own, &all))
            return false;
        if (!is_empty(&self->trace->spans.at[span])) {
            curve whole;

            settle_all(self, all);
            whole = curve_of(self, all);
            peak[span] = peak_of(&whole);
        }
        if (parent != TRACE_NONE && !join(self, self->trie[parent], all, &self->trie[parent]))
            return false;
    }
    return true;
}

static void sum_residual(const peaks_work *self, uint64_t *residual)
{
    for (size_t i = self->span_count; i-- > 0;) {
        uint32_t span = self->tree->preorder[i];
        uint32_t parent = self->trace->spans.at[span].parent;

        if (parent != TRACE_NONE)
            residual[parent] += residual[span];
        if (is_empty(&self->trace->spans.at[span]))
            residual[span] = 0;
    }
}

static bool take_columns(peaks_work *self)
{
    size_t count = self->span_count;

    self->item_room = self->memory->allocation_count + self->memory->free_count;
    if (self->item_room >= ITEM)
        return false;
    self->jump = column_take(self->heap, count, sizeof *self->jump);
    self->first = column_zero(self->heap, count, sizeof *self->first);
    self->next = column_take(self->heap, self->item_room, sizeof *self->next);
    self->place = column_take(self->heap, self->item_room, sizeof *self->place);
    self->value = column_take(self->heap, self->item_room, sizeof *self->value);
    self->has_below = column_zero(self->heap, count, sizeof *self->has_below);
    return self->jump != NULL && self->first != NULL && self->next != NULL && self->place != NULL &&
           self->value != NULL && self->has_below != NULL;
}

static void free_early(peaks_work *self)
{
    column_free(self->heap, self->jump, self->span_count, sizeof *self->jump);
    column_free(self->heap, self->place, self->item_room, sizeof *self->place);
    self->jump = NULL;
    self->place = NULL;
}

static void free_columns(peaks_work *self)
{
    free_early(self);
    column_free(self->heap, self->first, self->span_count, sizeof *self->first);
    column_free(self->heap, self->next, self->item_room, sizeof *self->next);
    column_free(self->heap, self->value, self->item_room, sizeof *self->value);
    column_free(self->heap, self->has_below, self->span_count, sizeof *self->has_below);
    column_free(self->heap, self->trie, self->span_count, sizeof *self->trie);
    vec_free(self->heap, &self->nodes);
}

static bool build_by_tries(peaks_work *self, uint64_t *peak, uint64_t *residual)
{
    if (!take_columns(self))
        return false;
    build_jumps(self);
    add_items(self, residual);
    lift_items(self, peak);
    free_early(self);
    self->trie = column_zero(self->heap, self->span_count, sizeof *self->trie);
    if (self->trie == NULL || vec_add(self->heap, &self->nodes) == NULL) /* node 0 is nothing */
        return false;
    if (!join_spans(self, peak))
        return false;
    if (residual != NULL)
        sum_residual(self, residual);
    return true;
}

/* --- sums that could overflow: the clipping rule as it is written, span by span --- */

typedef struct level {
    uint64_t live;
    uint64_t peak;
    uint64_t freed;     /* at this timestamp */
    uint64_t allocated; /* at this timestamp */
    uint64_t residual;
} level;

static void level_close(level *self, bool is_net)
{
    if (!is_net)
        self->live = num_sat_add(num_sat_sub(self->live, self->freed), self->allocated);
    else if (self->allocated >= self->freed)
        self->live = num_sat_add(self->live, self->allocated - self->freed);
    else
        self->live = num_sat_sub(self->live, self->freed - self->allocated);
    if (self->live > self->peak)
        self->peak = self->live;
    self->freed = 0;
    self->allocated = 0;
}

static void level_event(const peaks_work *self, level *now, const trace_span *span, uint32_t event)
{
    bool is_free = self->trace->memory.at[event].action == ACTION_FREE;
    const memory_lifetime *life = lifetime_of(self, event, is_free);
    uint64_t bytes;

    if (life == NULL)
        return;
    bytes = self->trace->memory.at[life->alloc_event].bytes;
    if (is_free && counts(span, MOMENT_FREE, life->start_ns, life->end_ns))
        now->freed = num_sat_add(now->freed, bytes);
    if (!is_free && counts(span, MOMENT_ALLOC, life->start_ns, end_of(life))) {
        now->allocated = num_sat_add(now->allocated, bytes);
        if (end_of(life) > trace_span_end(span))
            now->residual = num_sat_add(now->residual, bytes);
    }
}

/* `home` by event: the place of the allocating span in preorder; TRACE_NONE when nothing counts. */
static level replay_span(const peaks_work *self, const trace_span *span, const uint32_t *home,
                         size_t from, size_t to)
{
    const memory_plane *memory = self->memory;
    size_t count = memory->order.count;
    level now = {0};

    for (size_t i = 0; i < count; i++) {
        uint32_t event = memory->order.at[i];
        bool is_last =
            i + 1 == count || self->trace->memory.at[memory->order.at[i + 1]].timestamp_ns !=
                                  self->trace->memory.at[event].timestamp_ns;

        if (home[event] >= from && home[event] < to)
            level_event(self, &now, span, event);
        if (is_last)
            level_close(&now, self->tree->is_net);
    }
    return now;
}

static uint32_t *home_places(const peaks_work *self)
{
    const memory_plane *memory = self->memory;
    size_t count = self->trace->memory.count;
    uint32_t *place = column_take(self->heap, self->span_count, sizeof *place);
    uint32_t *home = column_take(self->heap, count, sizeof *home);

    for (size_t i = 0; place != NULL && i < self->span_count; i++)
        place[self->tree->preorder[i]] = (uint32_t)i;
    for (size_t i = 0; place != NULL && home != NULL && i < count; i++) {
        uint32_t lifetime = memory->lifetime_of.at[i];

        home[i] = lifetime == TRACE_NONE ? TRACE_NONE
                                         : place[home_of(self, &memory->lifetimes.at[lifetime])];
    }
    if (place == NULL) {
        column_free(self->heap, home, count, sizeof *home);
        home = NULL;
    }
    column_free(self->heap, place, self->span_count, sizeof *place);
    return home;
}

static bool build_by_replay(peaks_work *self, uint64_t *peak, uint64_t *residual, bool *has_peak)
{
    const uint32_t *preorder = self->tree->preorder;
    const uint32_t *depth = self->tree->depth;
    size_t count = self->trace->memory.count;
    uint32_t *home;

    if (self->span_count > MOST_REPLAY_STEPS / (count + 1)) {
        memset(has_peak, 0, self->span_count * sizeof *has_peak);
        return true;
    }
    home = home_places(self);
    if (home == NULL)
        return false;
    for (size_t i = 0; i < self->span_count; i++) {
        const trace_span *span = &self->trace->spans.at[preorder[i]];
        size_t end = i + 1;
        level last;

        if (!has_peak[preorder[i]] || is_empty(span))
            continue;
        while (end < self->span_count && depth[preorder[end]] > depth[preorder[i]])
            end++;
        last = replay_span(self, span, home, i, end);
        peak[preorder[i]] = last.peak;
        if (residual != NULL)
            residual[preorder[i]] = last.residual;
    }
    column_free(self->heap, home, count, sizeof *home);
    return true;
}

bool peaks_build(heap *from, const peaks_tree *tree, uint64_t *ret_peak, uint64_t *ret_residual,
                 bool *ret_has_peak)
{
    peaks_work self = {.heap = from,
                       .tree = tree,
                       .trace = tree->memory->trace,
                       .memory = tree->memory,
                       .span_count = tree->memory->trace->spans.count};
    bool is_done;

    memset(ret_peak, 0, self.span_count * sizeof *ret_peak);
    if (ret_residual != NULL)
        memset(ret_residual, 0, self.span_count * sizeof *ret_residual);
    mark_spans(&self, ret_has_peak);
    if (self.memory->allocated_bytes > MOST_BYTES)
        return build_by_replay(&self, ret_peak, ret_residual, ret_has_peak);
    is_done = build_by_tries(&self, ret_peak, ret_residual);
    free_columns(&self);
    return is_done;
}

/* --- few spans --- */

typedef struct watch {
    uint32_t first, last; /* of its subtree, in preorder; last is behind it */
    uint64_t start_ns, end_ns;
    uint64_t live, peak, residual;
    uint64_t pending_ns, taken, given; /* of the timestamp at hand */
    bool is_known;
} watch;

static void watch_settle(watch *self)
{
    self->live = num_sat_add(num_sat_sub(self->live, self->given), self->taken);
    if (self->live > self->peak)
        self->peak = self->live;
    self->taken = self->given = 0;
}

static void watch_see(watch *self, const memory_lifetime *lifetime, uint64_t bytes, bool is_open)
{
    uint64_t start = lifetime->start_ns;
    uint64_t end = lifetime->is_closed ? lifetime->end_ns : UINT64_MAX;
    uint64_t now = is_open ? start : end;

    self->is_known = true;
    if (self->end_ns <= self->start_ns || start >= self->end_ns || end <= self->start_ns)
        return;
    if (now != self->pending_ns) {
        watch_settle(self);
        self->pending_ns = now;
    }
    if (!is_open) {
        if (end > self->start_ns && end < self->end_ns)
            self->given = num_sat_add(self->given, bytes);
        return;
    }
    /* Live from the start on: no change of level, but the level to begin with. */
    if (start <= self->start_ns)
        self->live = num_sat_add(self->live, bytes);
    else
        self->taken = num_sat_add(self->taken, bytes);
    if (!lifetime->is_closed || end > self->end_ns)
        self->residual = num_sat_add(self->residual, bytes);
}

static void watch_all(const memory_plane *memory, const uint32_t *position, watch *watches,
                      uint32_t count)
{
    const trace_doc *trace = memory->trace;

    for (size_t i = 0; i < memory->order.count; i++) {
        uint32_t event = memory->order.at[i];
        uint32_t number = memory->lifetime_of.at[event];
        const memory_lifetime *lifetime;
        const trace_memory *row;
        uint32_t place;
        bool is_open;

        if (number == TRACE_NONE)
            continue;
        lifetime = &memory->lifetimes.at[number];
        is_open = lifetime->alloc_event == event;
        if (!is_open && trace->memory.at[event].action == ACTION_ALLOC)
            continue; /* a further tensor on the same storage */
        row = &trace->memory.at[lifetime->alloc_event];
        place = position[trace_span_of(trace, row->span_id)];
        for (uint32_t w = 0; w < count; w++) {
            if (place >= watches[w].first && place < watches[w].last)
                watch_see(&watches[w], lifetime, row->bytes, is_open);
        }
    }
}

bool peaks_of_few(heap *from, const peaks_tree *tree, const uint32_t *spans, uint32_t count,
                  uint64_t *ret_peak, uint64_t *ret_residual, bool *ret_has_peak)
{
    const trace_doc *trace = tree->memory->trace;
    size_t span_count = trace->spans.count;
    uint32_t *position = column_take(from, span_count, sizeof *position);
    watch watches[PEAKS_FEW] = {0};

    if (position == NULL)
        return false;
    for (uint32_t i = 0; i < span_count; i++)
        position[tree->preorder[i]] = i;
    for (uint32_t w = 0; w < count; w++) {
        const trace_span *span = &trace->spans.at[spans[w]];
        uint32_t depth = tree->depth[spans[w]];
        uint32_t last = position[spans[w]] + 1;

        while (last < span_count && tree->depth[tree->preorder[last]] > depth)
            last++;
        watches[w] = (watch){.first = position[spans[w]],
                             .last = last,
                             .start_ns = span->start_ns,
                             .end_ns = trace_span_end(span),
                             .is_known = tree->is_complete};
    }
    watch_all(tree->memory, position, watches, count);
    for (uint32_t w = 0; w < count; w++) {
        watch_settle(&watches[w]);
        ret_peak[spans[w]] = watches[w].peak;
        ret_residual[spans[w]] = watches[w].residual;
        ret_has_peak[spans[w]] = watches[w].is_known;
    }
    column_free(from, position, span_count, sizeof *position);
    return true;
}
