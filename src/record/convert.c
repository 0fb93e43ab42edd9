#include "record/convert.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "record/describe.h"
#include "record/streams.h"

#define BLANK_NAME  UINT32_C(0x80000000)
#define NEAR_NS     1000u /* below this, two threads' readings do not tell what came first */
#define OPEN        UINT64_MAX
#define DEFER_DEPTH 8u

/* --- interned things --- */

typedef struct name_entry {
    size_t offset; /* of the JSON text, quotes included */
    uint32_t bytes;
    bool is_blank;
} name_entry;

typedef struct layout_entry {
    size_t offset; /* `"shape":…,"dtype":…,"device":…` */
    uint32_t bytes, shape_dtype_bytes;
    uint32_t device;
    bool has_dense;
    uint64_t dense, elements; /* elements: UINT64_MAX when the product overflows */
} layout_entry;

typedef struct span_entry {
    uint64_t start_ns;
    uint64_t end_ns; /* OPEN while open */
    uint32_t parent; /* number, 0 for the root */
    uint32_t place;  /* in `open` while open */
    uint32_t open_children;
    uint32_t name;
    bool is_cut;             /* ended with its parent */
    bool is_ended_elsewhere; /* by another thread: the one that began it cannot know */
} span_entry;

typedef struct lane_state {
    stream_reader reader;
    const slot *next;
    uint64_t time;     /* of `next`, never below that of the one before */
    uint32_t *numbers; /* number of the wire by number of the lane, 0 = not yet */
    uint32_t count;    /* spans of the lane */
    uint64_t sound;    /* records before the first that breaks a rule */
    uint64_t taken;
    bool is_busy; /* being read further on behalf of another lane */
} lane_state;

typedef struct call_edge {
    uint32_t from, to;
} call_edge;

typedef struct data_edge {
    uint64_t from, to;
} data_edge;

typedef struct converter {
    const convert_job *job;
    const spool *source;
    wire out;
    bool has_no_memory;
    bool has_failed; /* reading */
    uint64_t rate;

    rec_text names;
    name_entry *name_at;
    size_t name_count;
    rec_text layouts;
    layout_entry *layout_at;
    size_t layout_count;
    rec_text *raw_layouts; /* copies of the records, rendered when all names are known */

    lane_state *lanes;
    size_t lane_count;
    size_t *heap; /* lanes by the time of their next record */
    size_t heap_count;
    bool is_heap_stale; /* a lane was read further on behalf of another one */

    span_entry *spans; /* by number; [1] is the root */
    size_t span_count, span_capacity;
    uint32_t *open;
    size_t open_count, open_capacity;

    call_edge *calls;
    size_t call_count, call_capacity;
    data_edge *edges;
    size_t edge_count, edge_capacity;
    uint64_t *tensors; /* open addressing, 0 = free; only with data edges */
    size_t tensor_count, tensor_capacity;
    bool has_data_edges;

    uint64_t gradients;
    uint64_t latest_ns;
    uint64_t latest_ticks;
    uint64_t measured[SPOOL_KINDS];
    losses assumed; /* what `meta` was written with */
    convert_account *account;
    cg_str input_texts[256];
    char input_room[256][40];
    char id_room[4][40];
} converter;

uint64_t losses_total(const uint64_t counts[SPOOL_KINDS])
{
    uint64_t total = 0;

    for (unsigned i = 0; i < SPOOL_KINDS; i++) {
        total += counts[i];
    }
    return total;
}

static uint64_t ns_of(const converter *self, uint64_t ticks)
{
    uint64_t begin = self->source->header->begin.ticks;

    return ticks <= begin ? 0 : clock_ns(ticks - begin, self->rate);
}

static void see_ns(converter *self, uint64_t ns)
{
    if (ns > self->latest_ns) {
        self->latest_ns = ns;
    }
}

CG_PRINTF(3, 4) static void refuse(converter *self, unsigned kind, const char *format, ...)
{
    convert_account *account = self->account;

    account->losses.refused[kind]++;
    if (account->cause[0] == '\0') {
        va_list list;

        va_start(list, format);
        vsnprintf(account->cause, sizeof account->cause, format, list);
        va_end(list);
    }
}

/* Room for one more element of `size` bytes behind `count`, or false. */
static bool grow(converter *self, void **list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *at = wanted > SIZE_MAX / size ? NULL : rec_resize(*list, wanted * size);
    if (at == NULL) {
        self->has_no_memory = true;
        return false;
    }
    *list = at;
    *capacity = wanted;
    return true;
}

static cg_str name_json(const converter *self, uint32_t name)
{
    uint32_t index = name & ~BLANK_NAME;

    if (index == 0 || index > self->name_count || self->name_at[index - 1].bytes == 0) {
        return (cg_str){NULL, 0};
    }
    return (cg_str){self->names.at + self->name_at[index - 1].offset,
                    self->name_at[index - 1].bytes};
}

/* For a place that must have a text. */
static cg_str name_or_unknown(const converter *self, uint32_t name)
{
    cg_str text = name_json(self, name);

    return text.ptr != NULL ? text : CG_LIT("\"?\"");
}

/* A short, printable form for messages. */
static int shown(cg_str json)
{
    return json.len > 80 ? 80 : (int)json.len;
}

/* --- first pass: names, layouts, sizes --- */

/* The table reaches `id`? Ids are given out one by one, so a far one is no id of ours. */
static bool reach(converter *self, void **list, size_t *count, size_t id, size_t size)
{
    if (id <= *count) {
        return true;
    }
    size_t wanted = id + id / 2 + 16;
    void *at = rec_resize(*list, wanted * size);
    if (at == NULL) {
        self->has_no_memory = true;
        return false;
    }
    memset((char *)at + *count * size, 0, (wanted - *count) * size);
    *list = at;
    *count = wanted;
    return true;
}

static uint64_t stream_units(const converter *self)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < self->source->stream_count; i++) {
        bytes += self->source->streams[i].end;
    }
    return bytes / SPOOL_UNIT;
}

static bool take_name(converter *self, const slot *at, uint64_t most)
{
    uint32_t id = at->span & ~BLANK_NAME;
    void *list = self->name_at;

    if (id == 0 || id > most) {
        return false;
    }
    if (!reach(self, &list, &self->name_count, id, sizeof *self->name_at)) {
        return true;
    }
    self->name_at = list;
    name_entry *entry = &self->name_at[id - 1];
    if (entry->bytes == 0) {
        entry->offset = self->names.len;
        cg_str text = {(const char *)(at + 1), (size_t)at->time};

        text_add_json(&self->names, text);
        entry->bytes = (uint32_t)(self->names.len - entry->offset);
        /* The mark of the number is the writer's word; the text may be of another one. */
        entry->is_blank = str_is_blank(text);
    }
    self->has_no_memory |= self->names.failed;
    return true;
}

static bool take_layout(converter *self, const slot *at, uint64_t most)
{
    uint32_t id = at->span;
    void *list = self->raw_layouts;
    size_t count = self->layout_count;

    if (id == 0 || id > most || id >= 1u << 24) {
        return false;
    }
    if (!reach(self, &list, &count, id, sizeof *self->raw_layouts)) {
        return true;
    }
    self->raw_layouts = list;
    self->layout_count = count;
    if (self->raw_layouts[id - 1].len == 0) {
        text_add(&self->raw_layouts[id - 1],
                 (cg_str){(const char *)at, (size_t)at->lane * SPOOL_UNIT});
        self->has_no_memory |= self->raw_layouts[id - 1].failed;
    }
    return true;
}

static void render_layout(converter *self, size_t index)
{
    const rec_text *raw = &self->raw_layouts[index];
    layout_entry *entry = &self->layout_at[index];
    uint64_t shape[64];
    uint32_t names[2];
    slot head;
    rec_text half = {0};
    rec_text whole = {0};

    if (raw->len < sizeof head + sizeof names) {
        return;
    }
    memcpy(&head, raw->at, sizeof head);
    memcpy(names, raw->at + sizeof head, sizeof names);
    uint32_t rank = (uint32_t)head.time;
    memcpy(shape, raw->at + sizeof head + sizeof names, rank * sizeof *shape);
    cg_str dtype = name_or_unknown(self, names[0]);
    json_layout(&half, shape, rank, dtype, (cg_str){NULL, 0});
    json_layout(&whole, shape, rank, dtype, name_or_unknown(self, names[1]));
    entry->offset = self->layouts.len;
    entry->bytes = (uint32_t)whole.len;
    entry->shape_dtype_bytes = (uint32_t)half.len;
    entry->device = names[1];
    entry->has_dense =
        json_dense_bytes(shape, rank, (cg_str){dtype.ptr + 1, dtype.len - 2}, &entry->dense);
    entry->elements = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (entry->elements != UINT64_MAX) { /* an overflow stays one, whatever follows */
            entry->elements = num_sat_mul(entry->elements, shape[i]);
        }
    }
    text_add(&self->layouts, text_str(&whole));
    self->has_no_memory |= half.failed | whole.failed | self->layouts.failed;
    text_free(&half);
    text_free(&whole);
}

static void count_measured(converter *self, const slot *at, uint64_t from, uint64_t to)
{
    if (at->time >= from && at->time <= to) {
        self->measured[at->kind]++;
    }
}

/* One stream from end to end, or to the first record that breaks a rule. */
static void survey(converter *self, size_t index, uint64_t most)
{
    const spool_header *header = self->source->header;
    uint64_t from = header->measured_from;
    uint64_t to = header->measured_to;
    lane_state *lane = &self->lanes[index];
    stream_reader reader;
    bool is_sound = true;
    const slot *at;

    if (from == 0) {
        from = to = UINT64_MAX; /* no record carries this time */
    } else if (to == 0) {
        to = UINT64_MAX;
    }
    if (!stream_open(&reader, self->source, index, 128u << 10)) {
        self->has_no_memory = true;
        return;
    }
    while ((at = stream_next(&reader)) != NULL) {
        if (at->kind == SPOOL_NAME) {
            is_sound = take_name(self, at, most);
        } else if (at->kind == SPOOL_LAYOUT) {
            is_sound = take_layout(self, at, most);
        } else if (at->kind == SPOOL_BEGIN) {
            is_sound = at->span == lane->count + 1;
            lane->count += is_sound;
        } else if (at->kind == SPOOL_COMPLETED) {
            is_sound = ((const slot_completed *)at)->number == lane->count + 1;
            lane->count += is_sound;
        } else if (at->kind == SPOOL_DATA_EDGE) {
            self->has_data_edges = true;
        }
        if (!is_sound) {
            break;
        }
        lane->sound++;
        if (at->kind == SPOOL_NAME || at->kind == SPOOL_LAYOUT) {
            continue;
        }
        count_measured(self, at, from, to);
        if (at->time > self->latest_ticks) {
            self->latest_ticks = at->time;
        }
    }
    self->has_failed |= reader.has_failed;
    if (reader.is_broken || !is_sound) {
        self->account->malformed_streams++;
    }
    stream_close(&reader);
}

static void survey_all(converter *self)
{
    uint64_t most = stream_units(self);

    for (size_t i = 0; i < self->lane_count && !self->has_no_memory && !self->has_failed; i++) {
        survey(self, i, most);
    }
    if (self->has_no_memory || self->has_failed) {
        return;
    }
    for (size_t i = 0; i < self->lane_count; i++) {
        self->lanes[i].numbers = rec_take(((size_t)self->lanes[i].count + 1) * sizeof(uint32_t));
        self->has_no_memory |= self->lanes[i].numbers == NULL;
    }
    self->layout_at = rec_take((self->layout_count + 1) * sizeof *self->layout_at);
    self->has_no_memory |= self->layout_at == NULL;
    for (size_t i = 0; i < self->layout_count && !self->has_no_memory; i++) {
        render_layout(self, i);
    }
}

/* --- spans --- */

static uint32_t add_span(converter *self, uint32_t parent, uint32_t name, uint64_t start_ns)
{
    void *list = self->spans;

    if (!grow(self, &list, self->span_count + 1, &self->span_capacity, sizeof *self->spans)) {
        return 0;
    }
    self->spans = list;
    list = self->open;
    if (!grow(self, &list, self->open_count, &self->open_capacity, sizeof *self->open)) {
        return 0;
    }
    self->open = list;
    uint32_t number = (uint32_t)++self->span_count;
    self->spans[number] = (span_entry){.start_ns = start_ns,
                                       .end_ns = OPEN,
                                       .parent = parent,
                                       .place = (uint32_t)self->open_count,
                                       .name = name};
    self->open[self->open_count++] = number;
    if (parent != 0) {
        self->spans[parent].open_children++;
    }
    see_ns(self, start_ns);
    return number;
}

static void close_span(converter *self, uint32_t number, uint64_t end_ns)
{
    span_entry *span = &self->spans[number];
    uint32_t last = self->open[--self->open_count];

    self->open[span->place] = last;
    self->spans[last].place = span->place;
    if (span->parent != 0) {
        self->spans[span->parent].open_children--;
    }
    span->end_ns = end_ns < span->start_ns ? span->start_ns : end_ns;
    see_ns(self, span->end_ns);
    wire_span_end(&self->out, number, span->end_ns - span->start_ns);
}

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Spans that are open inside `number` end with it, innermost first. */
static void cut_children(converter *self, uint32_t number, uint64_t end_ns)
{
    size_t count = 0;

    if (self->spans[number].open_children == 0) {
        return;
    }
    uint32_t *inside = rec_take(self->open_count * sizeof *inside);
    if (inside == NULL) {
        self->has_no_memory = true;
        return;
    }
    /* A parent has the smaller number, and is open as long as its children are. */
    for (size_t i = 0; i < self->open_count; i++) {
        if (self->open[i] > number) {
            inside[count++] = self->open[i];
        }
    }
    qsort(inside, count, sizeof *inside, compare_numbers);
    for (size_t i = 0; i < count; i++) {
        span_entry *span = &self->spans[inside[i]];

        span->is_cut =
            span->parent == number || (span->parent > number && self->spans[span->parent].is_cut);
    }
    while (count-- > 0) {
        span_entry *span = &self->spans[inside[count]];

        if (span->is_cut) {
            span->is_ended_elsewhere = self->spans[number].is_ended_elsewhere;
            close_span(self, inside[count], end_ns);
        }
    }
    rec_free(inside);
}

static void run_lane(converter *self, size_t index, uint32_t until, unsigned depth);

/*
 * The number of a span on the wire; 0 when it has none. A lane whose clock reads a little ahead may
 * name a span of another lane that is not written yet: that lane is read first.
 */
static uint32_t find_span(converter *self, uint32_t lane, uint32_t span, unsigned depth)
{
    if (lane == 0) {
        return span == 1 ? 1 : 0;
    }
    if (lane > self->lane_count || span == 0 || span > self->lanes[lane - 1].count) {
        return 0;
    }
    uint32_t number = self->lanes[lane - 1].numbers[span];
    if (number == 0 && depth < DEFER_DEPTH && !self->lanes[lane - 1].is_busy) {
        run_lane(self, lane - 1, span, depth + 1);
        number = self->lanes[lane - 1].numbers[span];
    }
    return number;
}

/* The nearest span from `parent` outwards that can hold something from start to end. */
static uint32_t find_holder(const converter *self, uint32_t parent, uint64_t start_ns,
                            uint64_t end_ns)
{
    while (parent > 1) {
        const span_entry *span = &self->spans[parent];

        if (span->start_ns <= start_ns && (span->end_ns == OPEN || span->end_ns >= end_ns)) {
            break;
        }
        parent = span->parent;
    }
    return parent;
}

static void put_begin(converter *self, size_t lane, const slot_begin *at, unsigned depth)
{
    uint64_t start = ns_of(self, at->head.time);
    uint32_t given = find_span(self, at->head.lane, at->parent, depth);
    uint32_t parent = given == 0 ? 1 : given;
    unsigned kind = at->head.flags & 3u;
    cg_str name = name_or_unknown(self, at->name);

    if (start < self->spans[parent].start_ns && self->spans[parent].start_ns - start <= NEAR_NS) {
        start = self->spans[parent].start_ns;
    }
    uint32_t holder = find_holder(self, parent, start, OPEN);
    if (given == 0 || (holder != parent && !self->spans[parent].is_ended_elsewhere)) {
        refuse(self, SPOOL_BEGIN, "span %.*s was begun under a span that is closed or unknown",
               shown(name), name.ptr);
    }
    uint32_t number = add_span(self, holder, at->name, start);
    if (number == 0) {
        return;
    }
    self->lanes[lane].numbers[at->head.span] = number;
    wire_span_start(&self->out, number, holder, name, start, kind > 2 ? 0 : kind,
                    (at->head.flags & SLOT_MEASURED) != 0, at->head.flags >> 2 & 3u);
}

static void put_end(converter *self, size_t lane, const slot_end *at, unsigned depth)
{
    uint32_t number = find_span(self, at->head.lane, at->head.span, depth);
    uint64_t end = ns_of(self, at->head.time);

    if (number <= 1) {
        refuse(self, SPOOL_END, "the end of a span that is not in the trace");
        return;
    }
    span_entry *span = &self->spans[number];
    if (span->end_ns != OPEN) {
        if (!span->is_cut) {
            cg_str name = name_or_unknown(self, span->name);

            refuse(self, SPOOL_END, "span %.*s ended twice", shown(name), name.ptr);
        } else if (end > span->end_ns + NEAR_NS) {
            self->account->losses.late++;
        }
        return;
    }
    span->is_ended_elsewhere = at->head.lane != lane + 1;
    cut_children(self, number, end);
    close_span(self, number, end);
}

static void put_completed(converter *self, size_t lane, const slot_completed *at, unsigned depth)
{
    uint64_t start = ns_of(self, at->start);
    uint64_t end = ns_of(self, at->end);
    uint32_t given = find_span(self, at->head.lane, at->head.span, depth);
    uint32_t parent = find_holder(self, given == 0 ? 1 : given, start, end);
    unsigned kind = at->head.flags & 3u;
    cg_str name = name_or_unknown(self, at->name);

    if (parent != given) {
        refuse(self, SPOOL_BEGIN, "completed span %.*s does not lie inside its parent", shown(name),
               name.ptr);
    }
    uint32_t number = add_span(self, parent, at->name, start);
    if (number == 0) {
        return;
    }
    self->lanes[lane].numbers[at->number] = number;
    wire_span_start(&self->out, number, parent, name, start, kind > 2 ? 0 : kind, false, 0);
    close_span(self, number, end);
}

/* --- records of a span --- */

/* Text of a tensor or storage identity. */
static cg_str id_text(const converter *self, uint64_t id, const char *prefix, bool is_hex,
                      char room[40])
{
    size_t len = 0;

    if (id >> 63 != 0) {
        return name_or_unknown(self, (uint32_t)id);
    }
    room[len++] = '"';
    while (*prefix != '\0') {
        room[len++] = *prefix++;
    }
    if (is_hex) {
        char digits[16];
        size_t count = 0;

        do {
            digits[count++] = "0123456789abcdef"[id & 15];
            id >>= 4;
        } while (id != 0);
        while (count > 0) {
            room[len++] = digits[--count];
        }
    } else {
        len += num_write_u64(room + len, id);
    }
    room[len++] = '"';
    return (cg_str){room, len};
}

static cg_str tensor_text(const converter *self, uint64_t id, char room[40])
{
    return id_text(self, id, "t", false, room);
}

static cg_str storage_text(const converter *self, uint64_t id, char room[40])
{
    return id_text(self, id, "storage:0x", true, room);
}

static bool know_tensor(converter *self, uint64_t id)
{
    if (!self->has_data_edges || id == 0) {
        return true;
    }
    if (self->tensor_count * 2 >= self->tensor_capacity) {
        size_t capacity = self->tensor_capacity == 0 ? 1024 : self->tensor_capacity * 2;
        uint64_t *old = self->tensors;
        size_t old_capacity = self->tensor_capacity;

        self->tensors = rec_take(capacity * sizeof *self->tensors);
        if (self->tensors == NULL) {
            self->tensors = old;
            self->has_no_memory = true;
            return false;
        }
        self->tensor_capacity = capacity;
        self->tensor_count = 0;
        for (size_t i = 0; i < old_capacity; i++) {
            know_tensor(self, old[i]);
        }
        rec_free(old);
    }
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (self->tensor_capacity - 1);
    while (self->tensors[at] != 0 && self->tensors[at] != id) {
        at = (at + 1) & (self->tensor_capacity - 1);
    }
    self->tensor_count += self->tensors[at] == 0;
    self->tensors[at] = id;
    return true;
}

static bool is_known_tensor(const converter *self, uint64_t id)
{
    if (self->tensor_capacity == 0 || id == 0) {
        return false;
    }
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (self->tensor_capacity - 1);
    while (self->tensors[at] != 0 && self->tensors[at] != id) {
        at = (at + 1) & (self->tensor_capacity - 1);
    }
    return self->tensors[at] == id;
}

static const layout_entry *find_layout(const converter *self, uint32_t layout)
{
    return layout == 0 || layout > self->layout_count || self->layout_at[layout - 1].bytes == 0
               ? NULL
               : &self->layout_at[layout - 1];
}

static cg_str layout_text(const converter *self, const layout_entry *layout)
{
    return (cg_str){self->layouts.at + layout->offset, layout->bytes};
}

static cg_str shape_dtype(const converter *self, const layout_entry *layout)
{
    return (cg_str){self->layouts.at + layout->offset, layout->shape_dtype_bytes};
}

/*
 * Put [start, end] inside the span: what sticks out by less than the clocks can tell is trimmed.
 * False when it really lies outside.
 */
static bool fit(const span_entry *span, uint64_t *start, uint64_t *end)
{
    uint64_t near = NEAR_NS + (*end - *start) / 1000;

    if (*start < span->start_ns) {
        if (span->start_ns - *start > near) {
            return false;
        }
        *start = span->start_ns;
    }
    if (span->end_ns != OPEN && *end > span->end_ns) {
        if (*end - span->end_ns > near) {
            return false;
        }
        *end = span->end_ns;
    }
    if (*end < *start) {
        *end = *start;
    }
    return span->end_ns == OPEN || *end <= span->end_ns;
}

static void put_op(converter *self, const slot_op *at, uint32_t number)
{
    const layout_entry *layout = find_layout(self, at->layout_inputs & 0xffffff);
    size_t count = at->layout_inputs >> 24;
    uint64_t moment = ns_of(self, at->head.time);
    uint64_t start = 0;
    uint64_t end = moment;

    if (layout == NULL) {
        refuse(self, SPOOL_OP, "an operation without a layout");
        return;
    }
    if ((at->head.flags & SLOT_PLACED) != 0) {
        start = moment;
        end = num_sat_add(moment, at->duration);
    } else if ((at->head.flags & SLOT_START) != 0) {
        start = ns_of(self, at->duration);
        end = end < start ? start : end;
    } else {
        start = num_sat_sub(moment, at->duration);
    }
    cg_str name = name_or_unknown(self, at->name);
    if (!fit(&self->spans[number], &start, &end)) {
        refuse(self, SPOOL_OP, "operation %.*s lies outside its span", shown(name), name.ptr);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        self->input_texts[i] = tensor_text(self, at->inputs[i], self->input_room[i]);
        know_tensor(self, at->inputs[i]);
    }
    know_tensor(self, at->output);
    wire_op op = {.span = number,
                  .duration_ns = end - start,
                  .timestamp_ns = start,
                  .output_dense = layout->dense,
                  .input_dense = at->input_dense,
                  .name = name,
                  .shape_dtype_device = layout_text(self, layout),
                  .has_output_dense = layout->has_dense,
                  .inputs = {self->input_texts, count}};
    if (at->output != 0) {
        op.output = tensor_text(self, at->output, self->id_room[0]);
    }
    see_ns(self, end);
    wire_put_op(&self->out, &op);
}

static void put_tensor(converter *self, const slot_tensor *at, uint32_t number)
{
    const layout_entry *layout = find_layout(self, at->layout);
    unsigned category = at->head.flags & 15u;

    if (layout == NULL || at->id == 0) {
        refuse(self, SPOOL_TENSOR, "a tensor without an identity or a layout");
        return;
    }
    know_tensor(self, at->id);
    wire_tensor tensor = {.span = number,
                          .dense = layout->dense,
                          .id = tensor_text(self, at->id, self->id_room[0]),
                          .label = name_json(self, at->label),
                          .shape_dtype_device = layout_text(self, layout),
                          .has_dense = layout->has_dense,
                          .is_grad_required = (at->head.flags & SLOT_GRAD) != 0,
                          .category = category > 4 ? 0 : category};
    wire_put_tensor(&self->out, &tensor);
}

static bool is_label(const converter *self, uint32_t label)
{
    return (label & BLANK_NAME) == 0 && name_json(self, label).ptr != NULL &&
           !self->name_at[label - 1].is_blank;
}

static void put_stats(converter *self, const slot_stats *at, uint32_t number)
{
    const layout_entry *layout = find_layout(self, at->layout);
    bool is_sound = layout != NULL && is_label(self, at->label) &&
                    at->elements == layout->elements && at->elements != UINT64_MAX &&
                    at->non_finite <= at->elements && isfinite(at->rms) && isfinite(at->abs_max) &&
                    isfinite(at->mean) && at->rms >= 0 && at->abs_max >= 0;

    if (!is_sound) {
        refuse(self, SPOOL_STATS,
               "tensor statistics without a label, or that contradict themselves");
        return;
    }
    wire_stats stats = {.span = number,
                        .elements = at->elements,
                        .non_finite = at->non_finite,
                        .label = name_json(self, at->label),
                        .shape_dtype = shape_dtype(self, layout),
                        .rms = at->rms,
                        .abs_max = at->abs_max,
                        .mean = at->mean};
    wire_put_stats(&self->out, &stats);
}

static cg_str scalar_shape(converter *self)
{
    /* Made once, in the table of names: `"shape":[],"dtype":"f64"` */
    rec_text piece = {0};

    if (self->layouts.len == 0 || self->layout_at[self->layout_count].bytes == 0) {
        json_layout(&piece, NULL, 0, CG_LIT("\"f64\""), (cg_str){NULL, 0});
        self->layout_at[self->layout_count].offset = self->layouts.len;
        self->layout_at[self->layout_count].bytes = (uint32_t)piece.len;
        text_add(&self->layouts, text_str(&piece));
        self->has_no_memory |= piece.failed | self->layouts.failed;
        text_free(&piece);
        if (self->has_no_memory) {
            return CG_LIT("");
        }
    }
    return (cg_str){self->layouts.at + self->layout_at[self->layout_count].offset,
                    self->layout_at[self->layout_count].bytes};
}

static void put_scalar(converter *self, const slot_scalar *at, uint32_t number)
{
    bool is_finite = isfinite(at->value);

    if (at->label > UINT32_MAX || !is_label(self, (uint32_t)at->label)) {
        refuse(self, SPOOL_SCALAR, "a scalar without a label");
        return;
    }
    wire_stats stats = {.span = number,
                        .elements = 1,
                        .non_finite = is_finite ? 0 : 1,
                        .label = name_json(self, (uint32_t)at->label),
                        .shape_dtype = scalar_shape(self),
                        .rms = is_finite ? fabs(at->value) : 0,
                        .abs_max = is_finite ? fabs(at->value) : 0,
                        .mean = is_finite ? at->value : 0};
    wire_put_stats(&self->out, &stats);
}

static void put_memory(converter *self, const slot_memory *at, uint32_t number)
{
    const layout_entry *layout = find_layout(self, at->layout);
    unsigned category = at->head.flags & 15u;
    uint64_t from = ns_of(self, (at->head.flags & SLOT_TIMED) != 0 ? at->at : at->head.time);
    uint64_t to = from;

    if (layout == NULL || at->storage == 0) {
        refuse(self, at->head.kind, "a memory event without a storage or a layout");
        return;
    }
    if (!fit(&self->spans[number], &from, &to)) {
        refuse(self, at->head.kind, "a memory event lies outside its span");
        return;
    }
    wire_memory memory = {.timestamp_ns = from,
                          .span = number,
                          .bytes = at->bytes,
                          .storage = storage_text(self, at->storage, self->id_room[0]),
                          .tensor = tensor_text(self, at->tensor, self->id_room[1]),
                          .op_name = name_json(self, at->op_name),
                          .device = name_or_unknown(self, layout->device),
                          .shape_dtype = shape_dtype(self, layout),
                          .action = at->head.kind == SPOOL_FREE ? 1 : 0,
                          .category = category > 4 ? 0 : category};
    see_ns(self, from);
    wire_put_memory(&self->out, &memory);
}

static void put_device_memory(converter *self, const slot_device_memory *at)
{
    unsigned flags = at->head.flags;
    uint64_t moment = ns_of(self, (flags & SLOT_TIMED) != 0 ? at->at : at->head.time);

    if ((flags & 15u) == 0) {
        refuse(self, SPOOL_DEVICE_MEMORY, "a device memory sample without a measurement");
        return;
    }
    wire_sample sample = {.timestamp_ns = moment,
                          .device = name_or_unknown(self, at->head.span),
                          .used = {at->used, (flags & 1u) != 0},
                          .free = {at->free, (flags & 2u) != 0},
                          .reserved = {at->reserved, (flags & 4u) != 0},
                          .capacity = {at->capacity, (flags & 8u) != 0}};
    see_ns(self, moment);
    wire_put_sample(&self->out, &sample);
}

static void put_interval(converter *self, const slot_device_interval *at, uint32_t number)
{
    if (at->duration_ns == 0) {
        refuse(self, SPOOL_DEVICE_INTERVAL, "a device interval of no length");
        return;
    }
    wire_interval interval = {.span = number,
                              .start_ns = at->start_ns,
                              .duration_ns = at->duration_ns,
                              .device = name_or_unknown(self, at->device),
                              .stream = name_or_unknown(self, at->stream),
                              .clock = name_or_unknown(self, at->clock),
                              .backend = name_or_unknown(self, at->backend)};
    wire_put_interval(&self->out, &interval);
}

static void put_gradient(converter *self, const slot_gradient *at)
{
    unsigned state = at->head.flags;
    bool has_norm = state == CG_RECORD_PRESENT || state == CG_RECORD_ZERO;
    double norm = state == CG_RECORD_ZERO ? 0 : at->norm;

    if (state > CG_RECORD_NON_FINITE || !is_label(self, at->root) || !is_label(self, at->key) ||
        (state == CG_RECORD_PRESENT && !(isfinite(norm) && norm > 0))) {
        refuse(self, SPOOL_GRADIENT, "a gradient without root, key or a norm that fits its state");
        return;
    }
    wire_gradient(&self->out, ++self->gradients, name_json(self, at->root),
                  name_json(self, at->key), state, has_norm ? norm : NAN);
}

static void keep_call_edge(converter *self, const slot_edge *at, unsigned depth)
{
    uint32_t from = find_span(self, (uint32_t)(at->from >> 32), (uint32_t)at->from, depth);
    uint32_t to = find_span(self, at->head.lane, at->head.span, depth);
    void *list = self->calls;

    if (from == 0 || to == 0 || self->spans[to].parent != from) {
        refuse(self, SPOOL_CALL_EDGE, "a call edge between spans that are not parent and child");
    } else if (grow(self, &list, self->call_count, &self->call_capacity, sizeof *self->calls)) {
        self->calls = list;
        self->calls[self->call_count++] = (call_edge){from, to};
    }
}

static void keep_data_edge(converter *self, const slot_edge *at)
{
    void *list = self->edges;

    if (grow(self, &list, self->edge_count, &self->edge_capacity, sizeof *self->edges)) {
        self->edges = list;
        self->edges[self->edge_count++] = (data_edge){at->from, at->to};
    }
}

static void put_record(converter *self, size_t lane, const slot *at, unsigned depth)
{
    uint32_t number = 0;

    switch ((enum spool_kind)at->kind) {
    case SPOOL_BEGIN: put_begin(self, lane, (const slot_begin *)at, depth); return;
    case SPOOL_END: put_end(self, lane, (const slot_end *)at, depth); return;
    case SPOOL_COMPLETED: put_completed(self, lane, (const slot_completed *)at, depth); return;
    case SPOOL_DEVICE_MEMORY: put_device_memory(self, (const slot_device_memory *)at); return;
    case SPOOL_GRADIENT: put_gradient(self, (const slot_gradient *)at); return;
    case SPOOL_CALL_EDGE: keep_call_edge(self, (const slot_edge *)at, depth); return;
    case SPOOL_DATA_EDGE: keep_data_edge(self, (const slot_edge *)at); return;
    case SPOOL_OP:
    case SPOOL_TENSOR:
    case SPOOL_STATS:
    case SPOOL_SCALAR:
    case SPOOL_ALLOC:
    case SPOOL_FREE:
    case SPOOL_DEVICE_INTERVAL: break;
    case SPOOL_NAME:
    case SPOOL_LAYOUT:
    case SPOOL_KINDS: return;
    }
    number = find_span(self, at->lane, at->span, depth);
    if (number == 0) {
        refuse(self, at->kind, "a record of a span that is not in the trace");
        return;
    }
    switch ((enum spool_kind)at->kind) {
    case SPOOL_OP: put_op(self, (const slot_op *)at, number); return;
    case SPOOL_TENSOR: put_tensor(self, (const slot_tensor *)at, number); return;
    case SPOOL_STATS: put_stats(self, (const slot_stats *)at, number); return;
    case SPOOL_SCALAR: put_scalar(self, (const slot_scalar *)at, number); return;
    case SPOOL_ALLOC:
    case SPOOL_FREE: put_memory(self, (const slot_memory *)at, number); return;
    case SPOOL_DEVICE_INTERVAL:
        put_interval(self, (const slot_device_interval *)at, number);
        return;
    case SPOOL_BEGIN:
    case SPOOL_END:
    case SPOOL_COMPLETED:
    case SPOOL_DEVICE_MEMORY:
    case SPOOL_GRADIENT:
    case SPOOL_CALL_EDGE:
    case SPOOL_DATA_EDGE:
    case SPOOL_NAME:
    case SPOOL_LAYOUT:
    case SPOOL_KINDS: return;
    }
}

/* --- merging --- */

static void advance(converter *self, size_t index)
{
    lane_state *lane = &self->lanes[index];

    do {
        lane->next = lane->taken < lane->sound ? stream_next(&lane->reader) : NULL;
        lane->taken++;
    } while (lane->next != NULL &&
             (lane->next->kind == SPOOL_NAME || lane->next->kind == SPOOL_LAYOUT));
    if (lane->next != NULL && lane->next->time > lane->time) {
        lane->time = lane->next->time;
    }
    self->has_failed |= lane->reader.has_failed;
}

/* Write records of one lane until its span `until` has a number, or the lane ends. */
static void run_lane(converter *self, size_t index, uint32_t until, unsigned depth)
{
    lane_state *lane = &self->lanes[index];

    lane->is_busy = true;
    self->is_heap_stale = true;
    while (lane->next != NULL && lane->numbers[until] == 0 && !self->has_no_memory) {
        put_record(self, index, lane->next, depth);
        advance(self, index);
    }
    lane->is_busy = false;
}

static bool comes_before(const converter *self, size_t a, size_t b)
{
    const lane_state *one = &self->lanes[a];
    const lane_state *two = &self->lanes[b];

    return one->time != two->time ? one->time < two->time : a < b;
}

static void sink_down(converter *self, size_t at)
{
    size_t *heap = self->heap;

    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < self->heap_count; child++) {
            if (comes_before(self, heap[child], heap[least])) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        size_t moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

static void make_heap(converter *self)
{
    self->heap_count = 0;
    for (size_t i = 0; i < self->lane_count; i++) {
        if (self->lanes[i].next != NULL) {
            self->heap[self->heap_count++] = i;
        }
    }
    for (size_t i = self->heap_count; i-- > 0;) {
        sink_down(self, i);
    }
    self->is_heap_stale = false;
}

static void merge(converter *self)
{
    for (size_t i = 0; i < self->lane_count; i++) {
        advance(self, i);
    }
    make_heap(self);
    while (self->heap_count > 0 && !self->has_no_memory && self->out.error == 0) {
        size_t index = self->heap[0];
        lane_state *lane = &self->lanes[index];

        lane->is_busy = true;
        put_record(self, index, lane->next, 0);
        advance(self, index);
        lane->is_busy = false;
        if (self->is_heap_stale) {
            make_heap(self);
            continue;
        }
        if (lane->next == NULL) {
            self->heap[0] = self->heap[--self->heap_count];
        }
        if (self->heap_count > 1) {
            sink_down(self, 0);
        }
    }
}

/* --- the whole --- */

static bool is_lost(const losses *lost, unsigned kind)
{
    return lost->dropped[kind] + lost->refused[kind] > 0;
}

static void make_facts(const converter *self, meta_facts *facts)
{
    const losses *lost = &self->assumed;
    const spool_header *header = self->source->header;
    bool all = is_lost(lost, SPOOL_BEGIN) || is_lost(lost, SPOOL_END) ||
               is_lost(lost, SPOOL_COMPLETED) || lost->late > 0 || is_lost(lost, SPOOL_NAME) ||
               is_lost(lost, SPOOL_LAYOUT) || self->account->malformed_streams > 0;
    const bool hit[SPOOL_LEVELS] = {
        [SPOOL_OPERATIONS] = is_lost(lost, SPOOL_OP) || is_lost(lost, SPOOL_DATA_EDGE) ||
                             is_lost(lost, SPOOL_CALL_EDGE),
        [SPOOL_TENSORS] = is_lost(lost, SPOOL_TENSOR) || is_lost(lost, SPOOL_STATS) ||
                          is_lost(lost, SPOOL_SCALAR),
        [SPOOL_GRADIENTS] = is_lost(lost, SPOOL_GRADIENT),
        [SPOOL_LOGICAL_MEMORY] = is_lost(lost, SPOOL_ALLOC) || is_lost(lost, SPOOL_FREE),
        [SPOOL_PHYSICAL_MEMORY] = is_lost(lost, SPOOL_DEVICE_MEMORY),
        [SPOOL_DEVICE_TIMING] = is_lost(lost, SPOOL_DEVICE_INTERVAL)};

    *facts = (meta_facts){.has_gradient_contract = header->piece_bytes[1] > 0,
                          .dropped = losses_total(lost->dropped),
                          .refused = losses_total(lost->refused),
                          .late = lost->late};
    for (unsigned i = 0; i < SPOOL_LEVELS; i++) {
        facts->levels[i] = header->levels[i];
        /* A lost span takes nothing from the gradients, which hang on no span. */
        if (facts->levels[i] == CG_RECORD_COMPLETE && (hit[i] || (all && i != SPOOL_GRADIENTS))) {
            facts->levels[i] = CG_RECORD_PARTIAL;
            facts->has_gradient_contract &= i != SPOOL_GRADIENTS;
        }
    }
    double cost = 0;
    for (unsigned i = SPOOL_BEGIN; i < SPOOL_KINDS; i++) {
        double each = i == SPOOL_BEGIN || i == SPOOL_END ? header->span_ns / 2
                      : i == SPOOL_OP                    ? header->op_ns
                      : i == SPOOL_SCALAR                ? header->scalar_ns
                                                         : header->tensor_ns;

        facts->measured_records += self->measured[i];
        cost += each * (double)self->measured[i];
    }
    facts->measured_overhead_ns = cost > 0 && cost < 1e18 ? (uint64_t)cost : 0;
}

static void write_meta(converter *self)
{
    meta_facts facts;
    rec_text line = {0};

    make_facts(self, &facts);
    describe_meta(&line, self->source, &facts);
    self->has_no_memory |= line.failed;
    wire_raw(&self->out, text_str(&line));
    self->out.lines++;
    text_free(&line);
}

static void write_edges(converter *self)
{
    for (size_t i = 0; i < self->call_count; i++) {
        const span_entry *to = &self->spans[self->calls[i].to];

        if (to->end_ns == OPEN) {
            refuse(self, SPOOL_CALL_EDGE, "a call edge to a span that never ended");
        } else {
            wire_call_edge(&self->out, self->calls[i].from, self->calls[i].to,
                           to->end_ns - to->start_ns);
        }
    }
    for (size_t i = 0; i < self->edge_count; i++) {
        const data_edge *edge = &self->edges[i];

        if (!is_known_tensor(self, edge->from) || !is_known_tensor(self, edge->to)) {
            refuse(self, SPOOL_DATA_EDGE, "a data edge that names an unknown tensor");
        } else {
            wire_data_edge(&self->out, tensor_text(self, edge->from, self->id_room[0]),
                           tensor_text(self, edge->to, self->id_room[1]));
        }
    }
}

/* Raw text of a name for the account and the reason. */
static void keep_open_spans(converter *self)
{
    convert_account *account = self->account;
    size_t at = 0;

    account->open_spans = rec_take((self->open_count + 1) * sizeof *account->open_spans);
    if (account->open_spans == NULL) {
        self->has_no_memory = true;
        return;
    }
    qsort(self->open, self->open_count, sizeof *self->open, compare_numbers);
    for (size_t i = 0; i < self->open_count; i++) {
        const span_entry *span = &self->spans[self->open[i]];
        cg_str name = name_or_unknown(self, span->name);

        account->open_spans[i] = (cg_record_open_span){
            .number = self->open[i], .start_ns = span->start_ns, .name = {NULL, name.len}};
        text_add(&account->names, name); /* JSON, quotes included: read back below */
    }
    self->has_no_memory |= account->names.failed;
    if (self->has_no_memory) {
        return;
    }
    account->open_span_count = self->open_count;
    for (size_t i = 0; i < self->open_count; i++) {
        account->open_spans[i].name.ptr = account->names.at + at;
        at += account->open_spans[i].name.len;
    }
}

static unsigned hex_value(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a' + 10);
}

/* Undo text_add_json in place: it only ever shortens. */
static cg_str unquote(char *text, size_t len)
{
    static const char from[] = "btnfr";
    static const char to[] = "\b\t\n\f\r";
    size_t out = 0;

    for (size_t i = 1; i + 1 < len; i++) {
        char byte = text[i];

        if (byte == '\\') {
            const char *known = strchr(from, text[++i]);

            if (text[i] == 'u') {
                byte = (char)(hex_value(text[i + 3]) << 4 | hex_value(text[i + 4]));
                i += 4;
            } else {
                byte = known != NULL ? to[known - from] : text[i];
            }
        }
        text[out++] = byte;
    }
    return (cg_str){text, out};
}

static void make_reason(converter *self)
{
    convert_account *account = self->account;
    rec_text *reason = &account->reason;

    for (size_t i = 0; i < account->open_span_count; i++) {
        cg_str json = account->open_spans[i].name;

        account->open_spans[i].name =
            unquote(account->names.at + (json.ptr - account->names.at), json.len);
    }
    if (!self->job->is_recovery) {
        text_add(reason, self->job->reason);
        if (account->open_span_count <= 1 || self->job->reason.len > 0) {
            return;
        }
        text_add(reason, CG_LIT("finished with open spans: "));
    } else {
        text_add(reason, CG_LIT("recovered "));
        text_add_u64(reason, self->out.lines);
        text_add(reason, self->out.lines == 1 ? CG_LIT(" record") : CG_LIT(" records"));
        uint64_t dropped = losses_total(account->losses.dropped);
        if (dropped > 0) {
            text_add(reason, CG_LIT(", "));
            text_add_u64(reason, dropped);
            text_add(reason, CG_LIT(" dropped"));
        }
        text_add(reason, CG_LIT("; open at the end: "));
    }
    size_t first = self->job->is_recovery ? 0 : 1; /* the root is what is being finished */
    for (size_t i = first; i < account->open_span_count && i < 32; i++) {
        text_add(reason, i > first ? CG_LIT(", ") : CG_LIT(""));
        text_add(reason, account->open_spans[i].name);
    }
    if (account->open_span_count > 32) {
        text_add(reason, CG_LIT(" and "));
        text_add_u64(reason, account->open_span_count - 32);
        text_add(reason, CG_LIT(" more"));
    }
}

static void write_end(converter *self)
{
    const convert_job *job = self->job;
    convert_account *account = self->account;
    bool is_complete = !job->is_failed && !job->is_recovery && self->open_count == 1;
    uint64_t end = ns_of(self, job->end_ticks != 0 ? job->end_ticks : self->latest_ticks);

    if (end < self->latest_ns) {
        end = self->latest_ns;
    }
    write_edges(self);
    keep_open_spans(self);
    if (self->has_no_memory) {
        return;
    }
    account->is_complete = is_complete;
    account->spans = self->span_count;
    if (is_complete) {
        close_span(self, 1, end);
        account->open_span_count = 0;
        wire_terminal(&self->out, true, end, (cg_str){NULL, 0});
    } else {
        rec_text json = {0};

        make_reason(self);
        text_add_json(&json, text_str(&account->reason));
        self->has_no_memory |= json.failed | account->reason.failed;
        wire_terminal(&self->out, false, end, text_str(&json));
        text_free(&json);
    }
    account->records = self->out.lines;
}

static void forget_lanes(converter *self)
{
    for (size_t i = 0; i < self->lane_count; i++) {
        stream_close(&self->lanes[i].reader);
    }
}

/* From `meta` to the terminal, with the losses that are known. */
static void write_once(converter *self)
{
    size_t room = self->lane_count <= 32 ? 128u << 10 : 0; /* many lanes: the least there is */

    for (size_t i = 0; i < self->lane_count; i++) {
        lane_state *lane = &self->lanes[i];

        stream_close(&lane->reader);
        if (!stream_open(&lane->reader, self->source, i, room)) {
            self->has_no_memory = true;
            return;
        }
        lane->next = NULL;
        lane->time = 0;
        lane->taken = 0;
        memset(lane->numbers, 0, ((size_t)lane->count + 1) * sizeof *lane->numbers);
    }
    self->span_count = 0;
    self->open_count = 0;
    self->call_count = 0;
    self->edge_count = 0;
    self->gradients = 0;
    self->latest_ns = 0;
    write_meta(self);
    /* The root is there from the first instant on. */
    add_span(self, 0, 1, 0);
    if (self->has_no_memory) {
        return;
    }
    wire_span_start(&self->out, 1, 0, name_or_unknown(self, 1), 0, 0, false, 0);
    merge(self);
    if (!self->has_no_memory) {
        write_end(self);
    }
}

static void account_reset(convert_account *account, const spool_header *header)
{
    rec_free(account->open_spans);
    account->open_spans = NULL;
    account->open_span_count = 0;
    account->names.len = 0;
    account->reason.len = 0;
    account->losses = (losses){0};
    for (unsigned i = 0; i < SPOOL_KINDS; i++) {
        account->losses.dropped[i] = header->dropped[i];
        account->losses.refused[i] = header->refused[i];
    }
}

static void converter_free(converter *self)
{
    for (size_t i = 0; i < self->lane_count && self->lanes != NULL; i++) {
        rec_free(self->lanes[i].numbers);
    }
    for (size_t i = 0; i < self->layout_count && self->raw_layouts != NULL; i++) {
        text_free(&self->raw_layouts[i]);
    }
    rec_free(self->raw_layouts);
    rec_free(self->layout_at);
    rec_free(self->name_at);
    text_free(&self->names);
    text_free(&self->layouts);
    rec_free(self->lanes);
    rec_free(self->heap);
    rec_free(self->spans);
    rec_free(self->open);
    rec_free(self->calls);
    rec_free(self->edges);
    rec_free(self->tensors);
    rec_free(self->out.at);
    rec_free(self);
}

cg_code convert(const convert_job *job, int file, convert_account *ret, int *ret_error)
{
    const spool_header *header = job->spool->header;
    converter *self = rec_take(sizeof *self);
    cg_code code = CG_OK;

    memset(ret, 0, sizeof *ret);
    *ret_error = 0;
    if (self == NULL) {
        return CG_NOMEM;
    }
    self->job = job;
    self->source = job->spool;
    self->account = ret;
    self->rate = clock_rate(header->begin, job->end, header->rate);
    self->lane_count = job->spool->stream_count;
    self->lanes = rec_take((self->lane_count + 1) * sizeof *self->lanes);
    self->heap = rec_take((self->lane_count + 1) * sizeof *self->heap);
    self->has_no_memory =
        self->lanes == NULL || self->heap == NULL || !wire_init(&self->out, job->spool->sys, file);
    if (!self->has_no_memory) {
        survey_all(self);
    }
    account_reset(ret, header);
    self->assumed = ret->losses;
    for (unsigned round = 0; round < 3 && !self->has_no_memory && !self->has_failed; round++) {
        if (round > 0 && job->spool->sys->truncate(job->spool->sys->context, file, 0) != 0) {
            self->out.error = errno;
            break;
        }
        account_reset(ret, header);
        self->out.len = 0;
        self->out.written = 0;
        self->out.lines = 0;
        write_once(self);
        wire_flush(&self->out);
        if (memcmp(&self->assumed, &ret->losses, sizeof self->assumed) == 0) {
            break;
        }
        self->assumed = ret->losses;
    }
    forget_lanes(self);
    if (self->has_no_memory) {
        code = CG_NOMEM;
    } else if (self->has_failed) {
        code = CG_INPUT;
    } else if (self->out.error != 0) {
        *ret_error = self->out.error;
        code = CG_OUTPUT;
    }
    converter_free(self);
    return code;
}

void convert_account_free(convert_account *self)
{
    rec_free(self->open_spans);
    text_free(&self->names);
    text_free(&self->reason);
    memset(self, 0, sizeof *self);
}
