#include "view/planes.h"

#include <string.h>

#include "base/sort.h"

/* --- device timing --- */

static names stretch(const pen *self, uint32_t at, uint32_t count)
{
    return (names){self->view.trace, self->view.timing.names.at + at, count};
}

static void emit_device_spans(jsonw *out, const void *context)
{
    const pen *self = context;
    const timing_plane *timing = &self->view.timing;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(self, timing->spans.count); i++) {
        const timing_row *from = &timing->spans.at[i];
        names backends = stretch(self, from->backends_at, from->backends_count);
        names streams = stretch(self, from->streams_at, from->streams_count);
        doc_timing_span row = {
            .span_id = pen_text(self, from->span_id),
            .device = pen_text(self, from->device),
            .clock_id = pen_text(self, from->clock_id),
            .backends = {pen_emit_names, &backends},
            .streams = {pen_emit_names, &streams},
            .interval_count = from->interval_count,
            .busy_ns = from->busy_ns,
        };

        sc_write(out, &table_timing_span, &row);
    }
    jw_end(out);
}

static void emit_device_clocks(jsonw *out, const void *context)
{
    const pen *self = context;
    const timing_plane *timing = &self->view.timing;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(self, timing->clocks.count); i++) {
        const timing_row *from = &timing->clocks.at[i];
        doc_timing_clock row = {
            .device = pen_text(self, from->device),
            .clock_id = pen_text(self, from->clock_id),
            .interval_count = from->interval_count,
            .busy_ns = from->busy_ns,
        };

        sc_write(out, &table_timing_clock, &row);
    }
    jw_end(out);
}

doc_timing planes_timing(const pen *self)
{
    return (doc_timing){
        .device_coverage = self->view.timing.coverage,
        .device_spans = {emit_device_spans, self},
        .device_clocks = {emit_device_clocks, self},
    };
}

/* --- memory --- */

/* A device that may have live storage, from `from` on. */
static size_t next_live(const number_set *devices, size_t from)
{
    return devices != NULL ? number_set_next(devices, from) : from;
}

/* Only devices and categories with a live storage, bytewise. */
static doc_memory_level describe_level(pen *self, memory_point total, const memory_live *by_device,
                                       const memory_live by_category[CATEGORY_COUNT])
{
    const memory_plane *plane = &self->view.memory;
    size_t device_count = 0, category_count = 0;

    for (size_t i = next_live(total.devices, 0); i < plane->devices.count;
         i = next_live(total.devices, i + 1)) {
        if (by_device[i].count > 0)
            self->devices[device_count++] =
                (sc_count){pen_text(self, plane->devices.at[i].device), by_device[i].bytes};
    }
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        uint8_t category = self->category_order[i];

        if (by_category[category].count > 0)
            self->categories[category_count++] =
                (sc_count){sc_word(&words_category, category), by_category[category].bytes};
    }
    return (doc_memory_level){
        .timestamp_ns = total.timestamp_ns,
        .live_bytes = total.live_bytes,
        .by_device = {self->devices, device_count},
        .by_category = {self->categories, category_count},
    };
}

static bool write_point(void *context, memory_point total, const memory_live *by_device,
                        const memory_live by_category[CATEGORY_COUNT])
{
    pen *self = context;
    doc_memory_level row = describe_level(self, total, by_device, by_category);

    sc_write(&self->out, &table_memory_level, &row);
    return self->out.code == CG_OK;
}

/* A time line of more points than may be written: the highest of each stretch stays. */
typedef struct thinning {
    pen *pen;
    uint64_t total;
    uint64_t at;
    uint64_t *chosen; /* by stretch: number of its highest point */
    uint64_t *highest;
} thinning;

static bool count_point(void *context, memory_point total, const memory_live *by_device,
                        const memory_live by_category[CATEGORY_COUNT])
{
    thinning *self = context;

    (void)total;
    (void)by_device;
    (void)by_category;
    self->total++;
    return true;
}

/* Points of a stretch, so that there are no more than row_cap of them. */
static uint64_t stretch_length(const pen *self, uint64_t total)
{
    return total / self->row_cap + (total % self->row_cap != 0);
}

static size_t stretch_at(const thinning *self)
{
    return (size_t)(self->at / stretch_length(self->pen, self->total));
}

uint64_t planes_thinned_points(const pen *self, uint64_t total)
{
    uint64_t length;

    if (self->row_cap == 0 || total <= self->row_cap)
        return self->row_cap == 0 ? 0 : total;
    length = stretch_length(self, total);
    return total / length + (total % length != 0);
}

static bool choose_point(void *context, memory_point total, const memory_live *by_device,
                         const memory_live by_category[CATEGORY_COUNT])
{
    thinning *self = context;
    size_t stretch = stretch_at(self);

    (void)by_device;
    (void)by_category;
    if (self->chosen[stretch] == UINT64_MAX || total.live_bytes > self->highest[stretch]) {
        self->chosen[stretch] = self->at;
        self->highest[stretch] = total.live_bytes;
    }
    self->at++;
    return true;
}

static bool write_chosen(void *context, memory_point total, const memory_live *by_device,
                         const memory_live by_category[CATEGORY_COUNT])
{
    thinning *self = context;
    bool is_chosen = self->chosen[stretch_at(self)] == self->at;

    self->at++;
    return !is_chosen || write_point(self->pen, total, by_device, by_category);
}

static cg_code write_thinned(thinning *self)
{
    const memory_plane *plane = &self->pen->view.memory;
    size_t size = self->pen->row_cap * sizeof *self->chosen;
    heap *memory = &self->pen->heap;
    cg_code code = CG_NOMEM;

    self->chosen = heap_resize(memory, NULL, 0, size);
    self->highest = heap_resize(memory, NULL, 0, size);
    if (self->chosen != NULL && self->highest != NULL) {
        memset(self->chosen, 0xFF, size);
        code = memory_walk(plane, choose_point, self, self->pen->reterr);
        self->at = 0;
        if (code == CG_OK)
            code = memory_walk(plane, write_chosen, self, self->pen->reterr);
    }
    if (self->chosen != NULL)
        heap_resize(memory, self->chosen, size, 0);
    if (self->highest != NULL)
        heap_resize(memory, self->highest, size, 0);
    return code;
}

cg_code planes_count_points(const pen *self, uint64_t *ret, cg_err *reterr)
{
    thinning counter = {0};

    CG_TRY(memory_walk(&self->view.memory, count_point, &counter, reterr));
    *ret = counter.total;
    return CG_OK;
}

static void emit_timeline(jsonw *out, const void *context)
{
    pen *self = (pen *)context;
    thinning cut = {.pen = self};
    cg_code code = CG_OK;

    jw_array(out);
    if (self->row_cap != SIZE_MAX)
        code = planes_count_points(self, &cut.total, self->reterr);
    if (code == CG_OK && cut.total <= self->row_cap)
        code = memory_walk(&self->view.memory, write_point, self, self->reterr);
    else if (code == CG_OK && self->row_cap > 0)
        code = write_thinned(&cut);
    pen_latch(out, code);
    jw_end(out);
}

static sym *stretch_of(const memory_plane *plane, const memory_lifetime *lifetime)
{
    return plane->tensors.at + lifetime->tensors_at;
}

/* `tensors` and `has_end` differ between a lifetime and its state at the peak. */
static void write_lifetime(jsonw *out, const pen *self, size_t index, sc_stream tensors,
                           bool has_end)
{
    const trace_doc *trace = self->view.trace;
    const memory_plane *plane = &self->view.memory;
    const memory_lifetime *lifetime = &plane->lifetimes.at[index];
    const trace_memory *event = &trace->memory.at[lifetime->alloc_event];
    doc_lifetime row = {
        .device = trace_text(trace, event->device),
        .storage_id = trace_text(trace, event->storage_id),
        .tensor_ids = tensors,
        .span_id = trace_text(trace, event->span_id),
        .op_name = trace_text(trace, event->op_name),
        .bytes = event->bytes,
        .shape = trace_axes(trace, event->shape),
        .dtype = trace_text(trace, event->dtype),
        .category = event->category,
        .start_ns = lifetime->start_ns,
        .end_ns = {lifetime->end_ns, has_end && lifetime->is_closed},
    };

    sc_write(out, &table_lifetime, &row);
}

static bool lifetime_is_larger(const void *context, uint32_t a, uint32_t b)
{
    const memory_plane *plane = context;
    const trace_memory *events = plane->trace->memory.at;

    return events[plane->lifetimes.at[a].alloc_event].bytes >
           events[plane->lifetimes.at[b].alloc_event].bytes;
}

static bool number_before(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a < b;
}

/* Keep the largest when there are more than may be written, in the order they had. */
static cg_code keep_largest(pen *self, memory_list *list)
{
    size_t size = list->count * sizeof *list->at;
    uint32_t *room;

    if (list->count <= self->row_cap)
        return CG_OK;
    room = heap_resize(&self->heap, NULL, 0, size);
    if (room == NULL)
        return CG_NOMEM;
    sort_with(list->at, room, list->count, lifetime_is_larger, &self->view.memory);
    list->count = self->row_cap;
    sort_with(list->at, room, list->count, number_before, NULL);
    heap_resize(&self->heap, room, size, 0);
    return CG_OK;
}

static void write_whole_lifetime(jsonw *out, const pen *self, size_t index)
{
    const memory_plane *plane = &self->view.memory;
    const memory_lifetime *lifetime = &plane->lifetimes.at[index];
    names tensors = {self->view.trace, stretch_of(plane, lifetime), lifetime->tensors_count};

    write_lifetime(out, self, index, (sc_stream){pen_emit_names, &tensors}, true);
}

static void write_largest_lifetimes(jsonw *out, pen *self)
{
    memory_list list = {0};
    size_t count = self->view.memory.lifetimes.count;
    cg_code code = CG_NOMEM;

    if (vec_reserve(&self->heap, &list, count)) {
        while (list.count < count) {
            list.at[list.count] = (uint32_t)list.count;
            list.count++;
        }
        code = keep_largest(self, &list);
    }
    pen_latch(out, code);
    for (size_t i = 0; i < list.count && code == CG_OK; i++)
        write_whole_lifetime(out, self, list.at[i]);
    vec_free(&self->heap, &list);
}

static void emit_lifetimes(jsonw *out, const void *context)
{
    pen *self = (pen *)context;
    size_t count = self->view.memory.lifetimes.count;

    jw_array(out);
    if (count > self->row_cap) {
        write_largest_lifetimes(out, self);
    } else {
        for (size_t i = 0; i < count; i++)
            write_whole_lifetime(out, self, i);
    }
    jw_end(out);
}

static void emit_memory_devices(jsonw *out, const void *context)
{
    const pen *self = context;
    const memory_plane *plane = &self->view.memory;

    jw_array(out);
    for (size_t i = 0; i < plane->devices.count; i++) {
        const memory_device *from = &plane->devices.at[i];
        doc_memory_device row = {
            .device = pen_text(self, from->device),
            .allocation_count = from->allocation_count,
            .free_count = from->free_count,
            .allocated_bytes = from->allocated_bytes,
            .peak_live_bytes = {from->peak_bytes, from->has_peak},
            .peak_ns = {from->peak_ns, from->has_peak},
        };

        sc_write(out, &table_memory_device, &row);
    }
    jw_end(out);
}

typedef struct peak_set {
    const pen *pen;
    memory_list lifetimes;
    bool *is_known; /* by entry of plane->tensors: was the name in use at the peak? */
} peak_set;

typedef struct known_names {
    const peak_set *set;
    const memory_lifetime *lifetime;
} known_names;

static void emit_known_names(jsonw *out, const void *context)
{
    const known_names *self = context;
    const pen *with = self->set->pen;
    uint32_t first = self->lifetime->tensors_at;

    jw_array(out);
    for (uint32_t i = first; i < first + self->lifetime->tensors_count; i++) {
        if (self->set->is_known[i])
            jw_str(out, pen_text(with, with->view.memory.tensors.at[i]));
    }
    jw_end(out);
}

static void emit_live_allocations(jsonw *out, const void *context)
{
    const peak_set *set = context;

    jw_array(out);
    for (size_t i = 0; i < set->lifetimes.count; i++) {
        uint32_t index = set->lifetimes.at[i];
        known_names tensors = {set, &set->pen->view.memory.lifetimes.at[index]};

        write_lifetime(out, set->pen, index, (sc_stream){emit_known_names, &tensors}, false);
    }
    jw_end(out);
}

/* Place of a tensor among the names of a lifetime, which are ordered by text. */
static size_t find_name(const pen *self, const memory_lifetime *lifetime, sym tensor)
{
    const sym *at = stretch_of(&self->view.memory, lifetime);
    size_t low = 0, high = lifetime->tensors_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(pen_text(self, at[middle]), pen_text(self, tensor)) <= 0)
            low = middle;
        else
            high = middle;
    }
    return lifetime->tensors_at + low;
}

/* A storage may get further names after the peak; those do not belong to it. */
static void mark_known_names(peak_set *set)
{
    const memory_plane *plane = &set->pen->view.memory;
    const trace_memory *events = set->pen->view.trace->memory.at;

    memset(set->is_known, 0, plane->tensors.count * sizeof *set->is_known);
    for (size_t i = 0; i < plane->order.count; i++) {
        uint32_t event = plane->order.at[i];
        uint32_t lifetime = plane->lifetime_of.at[event];

        if (events[event].timestamp_ns > plane->peak_ns)
            break;
        if (lifetime != TRACE_NONE)
            set->is_known[find_name(set->pen, &plane->lifetimes.at[lifetime],
                                    events[event].tensor_id)] = true;
    }
}

/* Place of a device in the plane's list, which is ordered by text. */
static size_t find_device(const pen *self, sym device)
{
    const memory_plane *plane = &self->view.memory;
    size_t low = 0, high = plane->devices.count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(pen_text(self, plane->devices.at[middle].device), pen_text(self, device)) <=
            0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void add_live(memory_live *to, uint64_t bytes)
{
    to->bytes = to->bytes > UINT64_MAX - bytes ? UINT64_MAX : to->bytes + bytes;
    to->count++;
}

static void write_peak(pen *self, peak_set *set, memory_live *by_device)
{
    const memory_plane *plane = &self->view.memory;
    memory_live by_category[CATEGORY_COUNT] = {0};
    doc_memory_level level;

    memset(by_device, 0, plane->devices.count * sizeof *by_device);
    for (size_t i = 0; i < set->lifetimes.count; i++) {
        const memory_lifetime *lifetime = &plane->lifetimes.at[set->lifetimes.at[i]];
        const trace_memory *event = &self->view.trace->memory.at[lifetime->alloc_event];

        add_live(&by_device[find_device(self, event->device)], event->bytes);
        add_live(&by_category[event->category], event->bytes);
    }
    level = describe_level(self, (memory_point){plane->peak_ns, plane->peak_live_bytes, NULL},
                           by_device, by_category);
    pen_latch(&self->out, keep_largest(self, &set->lifetimes));
    sc_write(&self->out, &table_memory_peak,
             &(doc_memory_peak){
                 .timestamp_ns = level.timestamp_ns,
                 .live_bytes = level.live_bytes,
                 .by_device = level.by_device,
                 .by_category = level.by_category,
                 .live_allocations = {emit_live_allocations, set},
             });
}

static void emit_peak(jsonw *out, const void *context)
{
    pen *self = (pen *)context;
    const memory_plane *plane = &self->view.memory;
    size_t live_size = plane->devices.count * sizeof(memory_live);
    size_t known_size = plane->tensors.count * sizeof(bool);
    memory_live *by_device = heap_resize(&self->heap, NULL, 0, live_size);
    peak_set set = {.pen = self, .is_known = heap_resize(&self->heap, NULL, 0, known_size)};
    cg_code code = CG_NOMEM;

    if (by_device != NULL && set.is_known != NULL)
        code = memory_peak_set(plane, &set.lifetimes, self->reterr);
    if (code == CG_OK) {
        mark_known_names(&set);
        write_peak(self, &set, by_device);
    } else {
        pen_latch(out, code);
        jw_null(out);
    }
    vec_free(&self->heap, &set.lifetimes);
    if (by_device != NULL)
        heap_resize(&self->heap, by_device, live_size, 0);
    if (set.is_known != NULL)
        heap_resize(&self->heap, set.is_known, known_size, 0);
}

static void emit_samples(jsonw *out, const void *context)
{
    const pen *self = context;
    const physical_plane *plane = &self->view.physical;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(self, plane->order.count); i++) {
        const trace_sample *from = &self->view.trace->samples.at[plane->order.at[i]];
        rec_sample row = {
            .timestamp_ns = from->timestamp_ns,
            .device = pen_text(self, from->device),
            .used_bytes = {from->bytes[0], (from->present & 1) != 0},
            .free_bytes = {from->bytes[1], (from->present & 2) != 0},
            .reserved_bytes = {from->bytes[2], (from->present & 4) != 0},
            .capacity_bytes = {from->bytes[3], (from->present & 8) != 0},
        };

        sc_write(out, &table_sample, &row);
    }
    jw_end(out);
}

static void emit_physical_devices(jsonw *out, const void *context)
{
    const pen *self = context;
    const physical_plane *plane = &self->view.physical;

    jw_array(out);
    for (size_t i = 0; i < plane->devices.count; i++) {
        const physical_device *from = &plane->devices.at[i];
        doc_physical_device row = {
            .device = pen_text(self, from->device),
            .sample_count = from->sample_count,
            .used_count = from->counts[0],
            .free_count = from->counts[1],
            .reserved_count = from->counts[2],
            .capacity_count = from->counts[3],
            .peak_used = from->peak_used,
            .peak_used_ns = from->peak_used_ns,
            .peak_reserved = from->peak_reserved,
            .peak_reserved_ns = from->peak_reserved_ns,
            .minimum_free = from->minimum_free,
            .minimum_free_ns = from->minimum_free_ns,
            .maximum_capacity = from->maximum_capacity,
        };

        sc_write(out, &table_physical_device, &row);
    }
    jw_end(out);
}

void planes_memory(const pen *self, memory_parts *ret)
{
    const memory_plane *plane = &self->view.memory;

    *ret = (memory_parts){
        .logical =
            {
                .allocation_count = plane->allocation_count,
                .free_count = plane->free_count,
                .allocated_bytes = plane->allocated_bytes,
                .peak = {plane->has_peak ? emit_peak : NULL, self},
                .timeline = {emit_timeline, self},
                .lifetimes = {emit_lifetimes, self},
                .by_device = {emit_memory_devices, self},
            },
        .physical = {.timeline = {emit_samples, self}, .by_device = {emit_physical_devices, self}},
    };
    if (self->view.trace->memory.count > 0)
        ret->planes.logical = &ret->logical;
    if (self->view.trace->samples.count > 0)
        ret->planes.physical = &ret->physical;
}
