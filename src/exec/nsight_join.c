#include "exec/nsight_join.h"

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"

#define MASKS (1u << JOIN_COUNT)

/* Saturating. */
static uint64_t nsight_end(uint64_t start_ns, uint64_t duration_ns)
{
    return num_sat_add(start_ns, duration_ns);
}

/* The keys of a mask as two numbers; the others count as absent. */
typedef struct join_key {
    uint64_t high, low;
} join_key;

static join_key key_of(const nsight_event *event, unsigned mask)
{
    sym keys[JOIN_COUNT];

    for (unsigned i = 0; i < JOIN_COUNT; i++)
        keys[i] = mask >> i & 1u ? event->keys[i] : 0;
    return (join_key){(uint64_t)keys[0] << 32 | keys[1], (uint64_t)keys[2] << 32 | keys[3]};
}

static bool is_before(join_key a, join_key b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Operations of equal keys: stretches of the same place in all columns. */
typedef struct join_group {
    join_key key;
    size_t at;
    size_t count;
    size_t busy_at; /* merged intervals */
    size_t busy_count;
} join_group;

/*
 * Operations under one mask. The count of operations that overlap [a, b) is
 * those that start before b less those that end at a or before.
 */
typedef struct join_index {
    heap *heap;
    unsigned mask;
    size_t capacity;
    size_t count;
    uint32_t *items;
    uint32_t *room;
    uint64_t *sort_keys; /* by operation */
    uint64_t *starts;    /* ascending in each group */
    uint64_t *ends;      /* ascending in each group */
    uint64_t *busy_starts, *busy_ends;
    uint64_t *busy_before; /* busy time of the group before this merged interval */
    join_group *groups;
    size_t group_count;
} join_index;

static bool index_init(join_index *self, heap *from, size_t capacity)
{
    *self = (join_index){.heap = from, .capacity = capacity};
    self->items = column_take(from, capacity, sizeof *self->items);
    self->room = column_take(from, capacity, sizeof *self->room);
    self->sort_keys = column_take(from, capacity, sizeof *self->sort_keys);
    self->starts = column_take(from, capacity, sizeof *self->starts);
    self->ends = column_take(from, capacity, sizeof *self->ends);
    self->busy_starts = column_take(from, capacity, sizeof *self->busy_starts);
    self->busy_ends = column_take(from, capacity, sizeof *self->busy_ends);
    self->busy_before = column_take(from, capacity, sizeof *self->busy_before);
    self->groups = column_take(from, capacity, sizeof *self->groups);
    return self->items != NULL && self->room != NULL && self->sort_keys != NULL &&
           self->starts != NULL && self->ends != NULL && self->busy_starts != NULL &&
           self->busy_ends != NULL && self->busy_before != NULL && self->groups != NULL;
}

static void index_free(join_index *self)
{
    heap *from = self->heap;

    column_free(from, self->items, self->capacity, sizeof *self->items);
    column_free(from, self->room, self->capacity, sizeof *self->room);
    column_free(from, self->sort_keys, self->capacity, sizeof *self->sort_keys);
    column_free(from, self->starts, self->capacity, sizeof *self->starts);
    column_free(from, self->ends, self->capacity, sizeof *self->ends);
    column_free(from, self->busy_starts, self->capacity, sizeof *self->busy_starts);
    column_free(from, self->busy_ends, self->capacity, sizeof *self->busy_ends);
    column_free(from, self->busy_before, self->capacity, sizeof *self->busy_before);
    column_free(from, self->groups, self->capacity, sizeof *self->groups);
}

/* Stable, least significant key last: time first, then the keys. */
static void sort_items(join_index *self, const nsight_event *operations, bool by_end)
{
    for (size_t i = 0; i < self->count; i++) {
        const nsight_event *event = &operations[self->items[i]];

        self->sort_keys[self->items[i]] =
            by_end ? nsight_end(event->start_ns, event->duration_ns) : event->start_ns;
    }
    sort_by_u64(self->items, self->room, self->count, self->sort_keys);
    for (unsigned half = 0; half < 2; half++) {
        for (size_t i = 0; i < self->count; i++) {
            join_key key = key_of(&operations[self->items[i]], self->mask);

            self->sort_keys[self->items[i]] = half == 0 ? key.low : key.high;
        }
        sort_by_u64(self->items, self->room, self->count, self->sort_keys);
    }
}

/* Merge the intervals of the group that begins at items[at]; items are ordered by start. */
static void build_group(join_index *self, const nsight_event *operations, size_t at,
                        size_t *busy_count)
{
    join_key key = key_of(&operations[self->items[at]], self->mask);
    join_group group = {.key = key, .at = at, .busy_at = *busy_count};
    uint64_t busy = 0;
    size_t last = SIZE_MAX;

    for (size_t i = at; i < self->count; i++) {
        const nsight_event *event = &operations[self->items[i]];
        join_key other = key_of(event, self->mask);
        uint64_t end = nsight_end(event->start_ns, event->duration_ns);

        if (is_before(key, other) || is_before(other, key))
            break;
        group.count++;
        self->starts[i] = event->start_ns;
        if (last != SIZE_MAX && event->start_ns <= self->busy_ends[last]) {
            if (end > self->busy_ends[last])
                self->busy_ends[last] = end;
            continue;
        }
        if (last != SIZE_MAX)
            busy += self->busy_ends[last] - self->busy_starts[last];
        last = (*busy_count)++;
        self->busy_starts[last] = event->start_ns;
        self->busy_ends[last] = end;
        self->busy_before[last] = busy;
    }
    group.busy_count = *busy_count - group.busy_at;
    self->groups[self->group_count++] = group;
}

static void index_build(join_index *self, const nsight_event *operations, size_t count,
                        unsigned mask)
{
    size_t busy_count = 0;

    self->mask = mask;
    self->count = 0;
    self->group_count = 0;
    for (size_t i = 0; i < count; i++) {
        if ((nsight_keys_of(&operations[i]) & mask) == mask)
            self->items[self->count++] = (uint32_t)i;
    }
    /* Ends first: the order by start is what groups are built from. */
    sort_items(self, operations, true);
    for (size_t i = 0; i < self->count; i++) {
        const nsight_event *event = &operations[self->items[i]];

        self->ends[i] = nsight_end(event->start_ns, event->duration_ns);
    }
    sort_items(self, operations, false);
    for (size_t at = 0; at < self->count; at += self->groups[self->group_count - 1].count)
        build_group(self, operations, at, &busy_count);
}

/* How many of the ascending values are below `limit`. */
static size_t count_below(const uint64_t *values, size_t count, uint64_t limit)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (values[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Busy time of the group before `limit`. */
static uint64_t busy_until(const join_index *self, const join_group *group, uint64_t limit)
{
    size_t begun = count_below(self->busy_starts + group->busy_at, group->busy_count, limit);
    size_t last = group->busy_at + begun - 1;
    uint64_t end;

    if (begun == 0)
        return 0;
    end = self->busy_ends[last] < limit ? self->busy_ends[last] : limit;
    return self->busy_before[last] + (end - self->busy_starts[last]);
}

static const join_group *find_group(const join_index *self, join_key key)
{
    size_t low = 0;
    size_t high = self->group_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_before(self->groups[middle].key, key))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == self->group_count || is_before(key, self->groups[low].key))
        return NULL;
    return &self->groups[low];
}

static nsight_match answer(const join_index *self, const nsight_event *range)
{
    const join_group *group = find_group(self, key_of(range, self->mask));
    uint64_t start = range->projected_start_ns;
    uint64_t end = nsight_end(start, range->projected_duration_ns);

    if (group == NULL || end == start)
        return (nsight_match){0};
    return (nsight_match){
        .count = count_below(self->starts + group->at, group->count, end) -
                 count_below(self->ends + group->at, group->count, start + 1),
        .busy_ns = busy_until(self, group, end) - busy_until(self, group, start),
    };
}

static unsigned joinable(const nsight_event *range)
{
    const unsigned interval = EVENT_HAS_START | EVENT_HAS_DURATION;

    return (range->present & interval) == interval ? nsight_keys_of(range) : 0;
}

cg_code nsight_join(heap *from, const nsight_event *ranges, size_t range_count,
                    const nsight_event *operations, size_t operation_count, nsight_match *ret,
                    cg_err *reterr)
{
    bool is_used[MASKS] = {false};
    join_index index;
    bool is_made;

    for (size_t i = 0; i < range_count; i++) {
        ret[i] = (nsight_match){0};
        is_used[joinable(&ranges[i])] = true;
    }
    is_made = operation_count <= UINT32_MAX && index_init(&index, from, operation_count);
    for (unsigned mask = 1; is_made && mask < MASKS; mask++) {
        if (!is_used[mask])
            continue;
        index_build(&index, operations, operation_count, mask);
        for (size_t i = 0; i < range_count; i++) {
            if (joinable(&ranges[i]) == mask)
                ret[i] = answer(&index, &ranges[i]);
        }
    }
    if (operation_count <= UINT32_MAX)
        index_free(&index);
    return is_made ? CG_OK : err_nomem(reterr);
}
