#include "exec/memory.h"

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"
#include "exec/pairs.h"

/* A sum that cannot overflow: live totals must come down again exactly. */
typedef struct wide {
    uint64_t low;
    uint64_t high;
} wide;

static void wide_add(wide *self, uint64_t value)
{
    self->low += value;
    self->high += self->low < value;
}

static void wide_sub(wide *self, uint64_t value)
{
    self->high -= self->low < value;
    self->low -= value;
}

static uint64_t wide_clamp(const wide *self)
{
    return self->high > 0 ? UINT64_MAX : self->low;
}

/* --- devices by symbol: rarely more than one in a row --- */

typedef struct device_map {
    pairs numbers;
    sym last;
    uint32_t last_number;
} device_map;

/* Number of `device`, *ret_is_new when it was not known and got `fresh`. False: no memory. */
static bool device_number(device_map *self, sym device, uint32_t fresh, uint32_t *ret,
                          bool *ret_is_new)
{
    uint32_t *value;

    *ret_is_new = false;
    if (device != self->last || device == 0) {
        value = pairs_add(&self->numbers, 0, device, fresh, ret_is_new);
        if (value == NULL)
            return false;
        self->last = device;
        self->last_number = *value;
    }
    *ret = self->last_number;
    return true;
}

/* Order device rows by text. The device symbol is the first member the caller names by offset. */
static bool sort_devices(heap *from, const intern *texts, void *rows, size_t count, size_t size,
                         size_t device_at)
{
    char *at = rows;
    uint32_t *items;
    uint64_t *keys;
    char *copy;
    ranks names = {0};
    bool is_done;

    if (count <= 1)
        return true;
    items = column_take(from, count, sizeof *items);
    keys = column_take(from, count, sizeof *keys);
    copy = column_take(from, count, size);
    is_done = items != NULL && keys != NULL && copy != NULL && ranks_init(&names, from, texts);
    if (is_done) {
        ranks_add(&names, (const sym *)(const void *)(at + device_at), size, count);
        is_done = ranks_finish(&names);
    }
    if (is_done) {
        for (size_t i = 0; i < count; i++) {
            sym device;

            memcpy(&device, at + i * size + device_at, sizeof device);
            items[i] = (uint32_t)i;
            keys[i] = names.of[device];
        }
        is_done = column_sort(from, items, count, keys);
    }
    if (is_done) {
        memcpy(copy, at, count * size);
        for (size_t i = 0; i < count; i++)
            memcpy(at + i * size, copy + items[i] * size, size);
    }
    if (names.heap != NULL)
        ranks_free(&names);
    column_free(from, copy, count, size);
    column_free(from, keys, count, sizeof *keys);
    column_free(from, items, count, sizeof *items);
    return is_done;
}

/* --- logical: replay --- */

typedef struct device_live {
    wide bytes;
    bool is_touched; /* since the last point of the timeline */
} device_live;

typedef struct replay {
    memory_plane *plane;
    const trace_doc *trace;
    heap *heap;
    uint32_t *live;   /* by storage id: a lifetime of it, on whatever device, + 1; 0 = none */
    pairs live_twins; /* (device, storage) -> lifetime, for ids live on a second device */
    pairs aliases;    /* (lifetime, tensor) -> is it an alias that size checks let in? */
    device_map devices;
    VEC(device_live) device_live; /* as plane->devices while replaying */
    VEC(uint32_t) touched;
    wide live_bytes;
} replay;

static bool order_events(memory_plane *plane)
{
    const trace_doc *trace = plane->trace;
    size_t count = trace->memory.count;
    bool is_sorted = true;
    bool is_done = true;

    if (!vec_reserve(plane->heap, &plane->order, count))
        return false;
    plane->order.count = count;
    for (size_t i = 0; i < count; i++) {
        plane->order.at[i] = (uint32_t)i;
        is_sorted = is_sorted && (i == 0 || trace->memory.at[i - 1].timestamp_ns <=
                                                trace->memory.at[i].timestamp_ns);
    }
    if (!is_sorted) {
        uint64_t *keys = column_take(plane->heap, count, sizeof *keys);

        if (keys == NULL)
            return false;
        for (size_t i = 0; i < count; i++)
            keys[i] = trace->memory.at[i].timestamp_ns;
        is_done = column_sort(plane->heap, plane->order.at, count, keys);
        column_free(plane->heap, keys, count, sizeof *keys);
    }
    return is_done;
}

static bool add_fault(replay *self, uint32_t event, uint8_t kind)
{
    memory_fault *fault = vec_add(self->heap, &self->plane->faults);

    if (fault == NULL)
        return false;
    *fault = (memory_fault){event, kind};
    return true;
}

static bool touch_device(replay *self, sym device, uint32_t *ret)
{
    memory_plane *plane = self->plane;
    bool is_new = false;

    if (!device_number(&self->devices, device, (uint32_t)plane->devices.count, ret, &is_new))
        return false;
    if (is_new) {
        memory_device *row = vec_add(self->heap, &plane->devices);
        device_live *live = vec_add(self->heap, &self->device_live);

        if (row == NULL || live == NULL)
            return false;
        *row = (memory_device){.device = device};
        *live = (device_live){0};
    }
    if (!self->device_live.at[*ret].is_touched) {
        uint32_t *touched = vec_add(self->heap, &self->touched);

        if (touched == NULL)
            return false;
        *touched = *ret;
        self->device_live.at[*ret].is_touched = true;
    }
    return true;
}

static bool open_lifetime(replay *self, uint32_t event, uint32_t device)
{
    memory_plane *plane = self->plane;
    const trace_memory *row = &self->trace->memory.at[event];
    memory_lifetime *life = vec_add(self->heap, &plane->lifetimes);

    if (life == NULL)
        return false;
    *life =
        (memory_lifetime){.start_ns = row->timestamp_ns, .alloc_event = event, .tensors_count = 1};
    plane->allocation_count++;
    plane->allocated_bytes = num_sat_add(plane->allocated_bytes, row->bytes);
    plane->devices.at[device].allocation_count++;
    plane->devices.at[device].allocated_bytes =
        num_sat_add(plane->devices.at[device].allocated_bytes, row->bytes);
    wide_add(&self->live_bytes, row->bytes);
    wide_add(&self->device_live.at[device].bytes, row->bytes);
    return true;
}

/*
 * Add the tensor of `event` to the aliases of `lifetime`. Two sets are kept in one: every name the
 * storage was known by, and those that came with the right size, against which a repeated
 * allocation is judged.
 */
static bool add_alias(replay *self, uint32_t lifetime, uint32_t event, bool is_sized,
                      bool *ret_is_known)
{
    memory_lifetime *life = &self->plane->lifetimes.at[lifetime];
    sym tensor = self->trace->memory.at[event].tensor_id;
    bool is_new = false;
    uint32_t *alias;

    *ret_is_known = true;
    if (tensor == self->trace->memory.at[life->alloc_event].tensor_id)
        return true;
    alias = pairs_add(&self->aliases, lifetime, tensor, 0, &is_new);
    if (alias == NULL)
        return false;
    if (is_new)
        life->tensors_count++;
    *ret_is_known = *alias != 0;
    if (is_sized)
        *alias = 1;
    return true;
}

/* The place that holds the lifetime of a live storage, NULL when it is not live. */
static uint32_t *find_live(const replay *self, const trace_memory *row)
{
    const memory_plane *plane = self->plane;
    uint32_t *first = &self->live[row->storage_id];

    if (*first != 0) {
        const memory_lifetime *life = &plane->lifetimes.at[*first - 1];

        if (self->trace->memory.at[life->alloc_event].device == row->device)
            return first;
    }
    return pairs_find(&self->live_twins, row->device, row->storage_id);
}

static bool add_live(replay *self, const trace_memory *row, uint32_t lifetime)
{
    bool is_new = false;

    if (self->live[row->storage_id] == 0) {
        self->live[row->storage_id] = lifetime + 1;
        return true;
    }
    return pairs_add(&self->live_twins, row->device, row->storage_id, lifetime + 1, &is_new) !=
           NULL;
}

static void remove_live(replay *self, const trace_memory *row, uint32_t *live)
{
    if (live == &self->live[row->storage_id])
        *live = 0;
    else
        pairs_remove(&self->live_twins, live);
}

static bool replay_alloc(replay *self, uint32_t event, uint32_t device)
{
    memory_plane *plane = self->plane;
    const trace_memory *row = &self->trace->memory.at[event];
    uint32_t *live = find_live(self, row);
    uint32_t lifetime = live != NULL ? *live - 1 : (uint32_t)plane->lifetimes.count;
    bool is_known = false;
    bool is_sized;

    plane->lifetime_of.at[event] = lifetime;
    if (live == NULL)
        return add_live(self, row, lifetime) && open_lifetime(self, event, device);
    is_sized =
        row->bytes == self->trace->memory.at[plane->lifetimes.at[lifetime].alloc_event].bytes;
    if (!add_alias(self, lifetime, event, is_sized, &is_known))
        return false;
    if (!is_sized)
        return add_fault(self, event, MEMORY_SIZE_MISMATCH);
    return !is_known || add_fault(self, event, MEMORY_DUPLICATE);
}

static bool replay_free(replay *self, uint32_t event, uint32_t device)
{
    memory_plane *plane = self->plane;
    const trace_memory *row = &self->trace->memory.at[event];
    uint32_t *live = find_live(self, row);
    memory_lifetime *life;
    uint64_t bytes;
    bool is_known;

    if (live == NULL) {
        plane->lifetime_of.at[event] = TRACE_NONE;
        return add_fault(self, event, MEMORY_UNPAIRED_FREE);
    }
    plane->lifetime_of.at[event] = *live - 1;
    if (!add_alias(self, *live - 1, event, false, &is_known))
        return false;
    life = &plane->lifetimes.at[*live - 1];
    life->end_ns = row->timestamp_ns;
    life->is_closed = true;
    bytes = self->trace->memory.at[life->alloc_event].bytes;
    wide_sub(&self->live_bytes, bytes);
    wide_sub(&self->device_live.at[device].bytes, bytes);
    plane->free_count++;
    plane->devices.at[device].free_count++;
    remove_live(self, row, live);
    return row->bytes == bytes || add_fault(self, event, MEMORY_SIZE_MISMATCH);
}

/* All events of one timestamp are in: is it a new maximum anywhere? */
static void close_point(replay *self, uint64_t timestamp_ns)
{
    memory_plane *plane = self->plane;
    uint64_t total = wide_clamp(&self->live_bytes);

    for (size_t i = 0; i < self->touched.count; i++) {
        device_live *live = &self->device_live.at[self->touched.at[i]];
        memory_device *device = &plane->devices.at[self->touched.at[i]];
        uint64_t bytes = wide_clamp(&live->bytes);

        live->is_touched = false;
        if (device->allocation_count > 0 && (!device->has_peak || bytes > device->peak_bytes)) {
            device->has_peak = true;
            device->peak_bytes = bytes;
            device->peak_ns = timestamp_ns;
        }
    }
    self->touched.count = 0;
    if (plane->allocation_count > 0 && (!plane->has_peak || total > plane->peak_live_bytes)) {
        plane->has_peak = true;
        plane->peak_live_bytes = total;
        plane->peak_ns = timestamp_ns;
    }
}

static bool replay_events(replay *self)
{
    memory_plane *plane = self->plane;
    size_t count = plane->order.count;

    if (!vec_reserve(self->heap, &plane->lifetime_of, count))
        return false;
    plane->lifetime_of.count = count;
    for (size_t i = 0; i < count; i++) {
        uint32_t event = plane->order.at[i];
        const trace_memory *row = &self->trace->memory.at[event];
        uint32_t device = 0;

        if (!touch_device(self, row->device, &device))
            return false;
        if (!(row->action == ACTION_ALLOC ? replay_alloc(self, event, device)
                                          : replay_free(self, event, device)))
            return false;
        if (i + 1 == count ||
            self->trace->memory.at[plane->order.at[i + 1]].timestamp_ns != row->timestamp_ns)
            close_point(self, row->timestamp_ns);
    }
    plane->retained_count = plane->allocation_count - plane->free_count;
    return true;
}

/* --- logical: lifetimes in their order, with their tensors --- */

static int compare_texts(const trace_doc *trace, sym a, sym b)
{
    return a == b ? 0 : str_compare(trace_text(trace, a), trace_text(trace, b));
}

static bool is_ordered(const memory_plane *plane)
{
    for (size_t i = 1; i < plane->lifetimes.count; i++) {
        const memory_lifetime *a = &plane->lifetimes.at[i - 1];
        const memory_lifetime *b = &plane->lifetimes.at[i];
        const trace_memory *left = &plane->trace->memory.at[a->alloc_event];
        const trace_memory *right = &plane->trace->memory.at[b->alloc_event];
        int order;

        if (a->start_ns != b->start_ns)
            continue;
        order = compare_texts(plane->trace, left->device, right->device);
        if (order == 0)
            order = compare_texts(plane->trace, left->storage_id, right->storage_id);
        if (order > 0)
            return false;
    }
    return true;
}

/* items[new place] = old place, by (start, device, storage id); starts are in order already. */
static bool sort_lifetimes(const memory_plane *plane, uint32_t *items, uint64_t *keys)
{
    const trace_doc *trace = plane->trace;
    size_t count = plane->lifetimes.count;
    ranks names;
    bool is_done;

    if (!ranks_init(&names, plane->heap, &trace->texts))
        return false;
    ranks_add(&names, &trace->memory.at[0].device, sizeof *trace->memory.at, trace->memory.count);
    ranks_add(&names, &trace->memory.at[0].storage_id, sizeof *trace->memory.at,
              trace->memory.count);
    is_done = ranks_finish(&names);
    for (size_t i = 0; is_done && i < count; i++) {
        const trace_memory *row = &trace->memory.at[plane->lifetimes.at[i].alloc_event];

        items[i] = (uint32_t)i;
        keys[i] = (uint64_t)names.of[row->device] << 32 | names.of[row->storage_id];
    }
    ranks_free(&names);
    is_done = is_done && column_sort(plane->heap, items, count, keys);
    for (size_t i = 0; is_done && i < count; i++)
        keys[i] = plane->lifetimes.at[i].start_ns;
    return is_done && column_sort(plane->heap, items, count, keys);
}

/* Move the lifetimes; place[old place] = new place. */
static bool place_lifetimes(memory_plane *plane, uint32_t *place)
{
    size_t count = plane->lifetimes.count;
    uint32_t *items = column_take(plane->heap, count, sizeof *items);
    uint64_t *keys = column_take(plane->heap, count, sizeof *keys);
    bool is_done = items != NULL && keys != NULL && sort_lifetimes(plane, items, keys);
    memory_lifetime *moved = NULL;

    column_free(plane->heap, keys, count, sizeof *keys);
    if (is_done) {
        moved = column_take(plane->heap, plane->lifetimes.capacity, sizeof *moved);
        is_done = moved != NULL;
    }
    if (is_done) {
        for (size_t i = 0; i < count; i++) {
            place[items[i]] = (uint32_t)i;
            moved[i] = plane->lifetimes.at[items[i]];
        }
        column_free(plane->heap, plane->lifetimes.at, plane->lifetimes.capacity, sizeof *moved);
        plane->lifetimes.at = moved;
        for (size_t i = 0; i < plane->lifetime_of.count; i++) {
            if (plane->lifetime_of.at[i] != TRACE_NONE)
                plane->lifetime_of.at[i] = place[plane->lifetime_of.at[i]];
        }
    }
    column_free(plane->heap, items, count, sizeof *items);
    return is_done;
}

/* Order the tensors of every lifetime that has more than one. */
static bool sort_tensors(memory_plane *plane, uint32_t most)
{
    uint32_t *room = column_take(plane->heap, most, sizeof *room);
    uint64_t *keys = column_take(plane->heap, most, sizeof *keys);
    bool is_done = room != NULL && keys != NULL;

    for (size_t i = 0; is_done && i < plane->lifetimes.count; i++) {
        const memory_lifetime *life = &plane->lifetimes.at[i];

        if (life->tensors_count > 1)
            sort_symbols(plane->tensors.at + life->tensors_at, room, keys, life->tensors_count,
                         &plane->trace->texts);
    }
    column_free(plane->heap, keys, most, sizeof *keys);
    column_free(plane->heap, room, most, sizeof *room);
    return is_done;
}

/* Give every lifetime its stretch of tensors. `place` is NULL when no lifetime moved. */
static bool list_tensors(replay *self, const uint32_t *place)
{
    memory_plane *plane = self->plane;
    size_t total = plane->lifetimes.count + self->aliases.count;
    uint32_t at = 0;
    uint32_t most = 0;

    if (total > UINT32_MAX || !vec_reserve(self->heap, &plane->tensors, total))
        return false;
    plane->tensors.count = total;
    for (size_t i = 0; i < plane->lifetimes.count; i++) {
        memory_lifetime *life = &plane->lifetimes.at[i];

        life->tensors_at = at;
        at += life->tensors_count;
        if (life->tensors_count > most)
            most = life->tensors_count;
        plane->tensors.at[life->tensors_at] = self->trace->memory.at[life->alloc_event].tensor_id;
        life->tensors_count = 1;
    }
    if (most <= 1)
        return true;
    for (size_t i = 0; i < self->aliases.slot_count; i++) {
        uint64_t key = self->aliases.slots[i].key;
        uint32_t lifetime = (uint32_t)(key >> 32);
        memory_lifetime *life;

        if (key == 0)
            continue;
        life = &plane->lifetimes.at[place != NULL ? place[lifetime] : lifetime];
        plane->tensors.at[life->tensors_at + life->tensors_count++] = (sym)key;
    }
    return sort_tensors(plane, most);
}

static bool finish_lifetimes(replay *self)
{
    size_t count = self->plane->lifetimes.count;
    uint32_t *place = NULL;
    bool is_done = true;

    if (!is_ordered(self->plane)) {
        place = column_take(self->heap, count, sizeof *place);
        is_done = place != NULL && place_lifetimes(self->plane, place);
    }
    is_done = is_done && list_tensors(self, place);
    column_free(self->heap, place, count, sizeof *place);
    return is_done;
}

cg_code memory_replay(heap *from, const trace_doc *trace, memory_plane *ret, cg_err *reterr)
{
    replay self = {.plane = ret, .trace = trace, .heap = from};
    bool is_done;

    *ret = (memory_plane){.trace = trace, .heap = from};
    if (trace->memory.count == 0)
        return CG_OK;
    self.live = column_zero(from, intern_count(&trace->texts), sizeof *self.live);
    pairs_init(&self.live_twins, from, trace->texts.seed);
    pairs_init(&self.aliases, from, trace->texts.seed);
    pairs_init(&self.devices.numbers, from, trace->texts.seed);
    is_done = self.live != NULL && order_events(ret) && replay_events(&self);
    column_free(from, self.live, intern_count(&trace->texts), sizeof *self.live);
    pairs_free(&self.live_twins);
    is_done = is_done && finish_lifetimes(&self) &&
              sort_devices(from, &trace->texts, ret->devices.at, ret->devices.count,
                           sizeof *ret->devices.at, offsetof(memory_device, device));
    pairs_free(&self.aliases);
    pairs_free(&self.devices.numbers);
    vec_free(from, &self.device_live);
    vec_free(from, &self.touched);
    if (!is_done) {
        memory_free(ret);
        return err_nomem(reterr);
    }
    return CG_OK;
}

void memory_free(memory_plane *plane)
{
    if (plane->heap != NULL) {
        vec_free(plane->heap, &plane->order);
        vec_free(plane->heap, &plane->lifetime_of);
        vec_free(plane->heap, &plane->lifetimes);
        vec_free(plane->heap, &plane->tensors);
        vec_free(plane->heap, &plane->faults);
        vec_free(plane->heap, &plane->devices);
    }
    *plane = (memory_plane){0};
}

/* --- logical: walk and peak --- */

typedef struct walk {
    const memory_plane *plane;
    device_map devices;
    wide total;
    wide *device_bytes;
    memory_live *by_device;
    number_set live_devices;
    wide category_bytes[CATEGORY_COUNT];
    memory_live by_category[CATEGORY_COUNT];
} walk;

/* One event into the running totals; the printed figures follow the exact ones. */
static bool walk_event(walk *self, uint32_t event)
{
    const memory_plane *plane = self->plane;
    const trace_memory *row = &plane->trace->memory.at[event];
    uint32_t lifetime = plane->lifetime_of.at[event];
    const trace_memory *alloc;
    uint32_t device = 0;
    bool is_new = false;

    if (lifetime == TRACE_NONE)
        return true;
    alloc = &plane->trace->memory.at[plane->lifetimes.at[lifetime].alloc_event];
    if (row->action == ACTION_ALLOC && alloc != row)
        return true; /* an alias */
    if (!device_number(&self->devices, row->device, 0, &device, &is_new))
        return false;
    if (row->action == ACTION_ALLOC) {
        wide_add(&self->total, alloc->bytes);
        wide_add(&self->device_bytes[device], alloc->bytes);
        wide_add(&self->category_bytes[alloc->category], alloc->bytes);
        if (self->by_device[device].count++ == 0)
            number_set_put(&self->live_devices, device);
        self->by_category[alloc->category].count++;
    } else {
        wide_sub(&self->total, alloc->bytes);
        wide_sub(&self->device_bytes[device], alloc->bytes);
        wide_sub(&self->category_bytes[alloc->category], alloc->bytes);
        if (--self->by_device[device].count == 0)
            number_set_drop(&self->live_devices, device);
        self->by_category[alloc->category].count--;
    }
    self->by_device[device].bytes = wide_clamp(&self->device_bytes[device]);
    self->by_category[alloc->category].bytes = wide_clamp(&self->category_bytes[alloc->category]);
    return true;
}

static bool walk_prepare(walk *self)
{
    const memory_plane *plane = self->plane;
    size_t count = plane->devices.count;

    self->device_bytes = column_zero(plane->heap, count, sizeof *self->device_bytes);
    self->by_device = column_zero(plane->heap, count, sizeof *self->by_device);
    if (self->device_bytes == NULL || self->by_device == NULL ||
        !number_set_init(&self->live_devices, plane->heap, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = 0;
        bool is_new = false;

        if (!device_number(&self->devices, plane->devices.at[i].device, (uint32_t)i, &number,
                           &is_new))
            return false;
    }
    return true;
}

cg_code memory_walk(const memory_plane *plane,
                    bool (*point)(void *context, memory_point total, const memory_live *by_device,
                                  const memory_live by_category[CATEGORY_COUNT]),
                    void *context, cg_err *reterr)
{
    walk self = {.plane = plane};
    size_t count = plane->order.count;
    bool is_done;

    if (count == 0)
        return CG_OK;
    pairs_init(&self.devices.numbers, plane->heap, plane->trace->texts.seed);
    is_done = walk_prepare(&self);
    for (size_t i = 0; is_done && i < count; i++) {
        uint32_t event = plane->order.at[i];
        uint64_t now_ns = plane->trace->memory.at[event].timestamp_ns;

        is_done = walk_event(&self, event);
        if (!is_done || (i + 1 < count &&
                         plane->trace->memory.at[plane->order.at[i + 1]].timestamp_ns == now_ns))
            continue;
        if (!point(context, (memory_point){now_ns, wide_clamp(&self.total), &self.live_devices},
                   self.by_device, self.by_category))
            break;
    }
    column_free(plane->heap, self.device_bytes, plane->devices.count, sizeof *self.device_bytes);
    column_free(plane->heap, self.by_device, plane->devices.count, sizeof *self.by_device);
    number_set_free(&self.live_devices);
    pairs_free(&self.devices.numbers);
    return is_done ? CG_OK : err_nomem(reterr);
}

cg_code memory_peak_set(const memory_plane *plane, memory_list *ret, cg_err *reterr)
{
    if (!plane->has_peak)
        return CG_OK;
    for (size_t i = 0; i < plane->lifetimes.count; i++) {
        const memory_lifetime *life = &plane->lifetimes.at[i];
        uint32_t *item;

        if (life->start_ns > plane->peak_ns)
            break;
        if (life->is_closed && life->end_ns <= plane->peak_ns)
            continue;
        item = vec_add(plane->heap, ret);
        if (item == NULL)
            return err_nomem(reterr);
        *item = (uint32_t)i;
    }
    return CG_OK;
}

/* --- physical --- */

static bool order_samples(heap *from, const trace_doc *trace, physical_plane *plane)
{
    size_t count = trace->samples.count;
    uint64_t *keys = column_take(from, count, sizeof *keys);
    ranks names = {0};
    bool is_done = keys != NULL && vec_reserve(from, &plane->order, count) &&
                   ranks_init(&names, from, &trace->texts);

    if (is_done) {
        ranks_add(&names, &trace->samples.at[0].device, sizeof *trace->samples.at, count);
        is_done = ranks_finish(&names);
    }
    if (is_done) {
        plane->order.count = count;
        for (size_t i = 0; i < count; i++) {
            plane->order.at[i] = (uint32_t)i;
            keys[i] = names.of[trace->samples.at[i].device];
        }
        is_done = column_sort(from, plane->order.at, count, keys);
    }
    if (is_done) {
        for (size_t i = 0; i < count; i++)
            keys[i] = trace->samples.at[i].timestamp_ns;
        is_done = column_sort(from, plane->order.at, count, keys);
    }
    if (names.heap != NULL)
        ranks_free(&names);
    column_free(from, keys, count, sizeof *keys);
    return is_done;
}

/* Samples come in time order, so the first of equal extremes is the earliest. */
static void keep_extreme(opt_u64 *extreme, opt_u64 *when, uint64_t value, uint64_t now_ns,
                         bool is_minimum)
{
    if (extreme->is_set && (is_minimum ? value >= extreme->value : value <= extreme->value))
        return;
    *extreme = (opt_u64){value, true};
    *when = (opt_u64){now_ns, true};
}

static void add_sample(physical_device *device, const trace_sample *sample)
{
    enum { USED, FREE, RESERVED, CAPACITY };
    opt_u64 ignored = {0};

    device->sample_count++;
    for (unsigned i = USED; i <= CAPACITY; i++)
        device->counts[i] += sample->present >> i & 1;
    if (sample->present >> USED & 1)
        keep_extreme(&device->peak_used, &device->peak_used_ns, sample->bytes[USED],
                     sample->timestamp_ns, false);
    if (sample->present >> RESERVED & 1)
        keep_extreme(&device->peak_reserved, &device->peak_reserved_ns, sample->bytes[RESERVED],
                     sample->timestamp_ns, false);
    if (sample->present >> FREE & 1)
        keep_extreme(&device->minimum_free, &device->minimum_free_ns, sample->bytes[FREE],
                     sample->timestamp_ns, true);
    if (sample->present >> CAPACITY & 1)
        keep_extreme(&device->maximum_capacity, &ignored, sample->bytes[CAPACITY],
                     sample->timestamp_ns, false);
}

static bool collect_samples(heap *from, const trace_doc *trace, physical_plane *plane)
{
    device_map devices = {0};
    bool is_done = true;

    pairs_init(&devices.numbers, from, trace->texts.seed);
    for (size_t i = 0; is_done && i < plane->order.count; i++) {
        const trace_sample *sample = &trace->samples.at[plane->order.at[i]];
        uint32_t number = 0;
        bool is_new = false;

        is_done = device_number(&devices, sample->device, (uint32_t)plane->devices.count, &number,
                                &is_new);
        if (is_done && is_new) {
            physical_device *device = vec_add(from, &plane->devices);

            is_done = device != NULL;
            if (is_done)
                *device = (physical_device){.device = sample->device};
        }
        if (is_done)
            add_sample(&plane->devices.at[number], sample);
    }
    pairs_free(&devices.numbers);
    return is_done;
}

cg_code physical_build(heap *from, const trace_doc *trace, physical_plane *ret, cg_err *reterr)
{
    *ret = (physical_plane){.heap = from};
    if (trace->samples.count == 0)
        return CG_OK;
    if (order_samples(from, trace, ret) && collect_samples(from, trace, ret) &&
        sort_devices(from, &trace->texts, ret->devices.at, ret->devices.count,
                     sizeof *ret->devices.at, offsetof(physical_device, device)))
        return CG_OK;
    physical_free(ret);
    return err_nomem(reterr);
}

void physical_free(physical_plane *plane)
{
    if (plane->heap != NULL) {
        vec_free(plane->heap, &plane->order);
        vec_free(plane->heap, &plane->devices);
    }
    *plane = (physical_plane){0};
}
