#include "record/survey.h"

#include <string.h>

#include "base/num.h"

/* --- what is asked afterwards --- */

cg_str name_json(const converter *self, uint32_t name)
{
    uint32_t index = name & ~BLANK_NAME;

    if (index == 0 || index > self->name_count || self->name_at[index - 1].bytes == 0) {
        return (cg_str){NULL, 0};
    }
    return (cg_str){self->names.at + self->name_at[index - 1].offset,
                    self->name_at[index - 1].bytes};
}

cg_str name_or_unknown(const converter *self, uint32_t name)
{
    cg_str text = name_json(self, name);

    return text.ptr != NULL ? text : CG_LIT("\"?\"");
}

bool name_is_label(const converter *self, uint32_t label)
{
    return (label & BLANK_NAME) == 0 && name_json(self, label).ptr != NULL &&
           !self->name_at[label - 1].is_blank;
}

const layout_entry *layout_find(const converter *self, uint32_t layout)
{
    return layout == 0 || layout > self->layout_count || self->layout_at[layout - 1].bytes == 0
               ? NULL
               : &self->layout_at[layout - 1];
}

cg_str layout_text(const converter *self, const layout_entry *layout)
{
    return (cg_str){self->layouts.at + layout->offset, layout->bytes};
}

cg_str layout_shape_dtype(const converter *self, const layout_entry *layout)
{
    return (cg_str){self->layouts.at + layout->offset, layout->shape_dtype_bytes};
}

cg_str layout_of_scalar(converter *self)
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

/* --- names and layouts --- */

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

/* --- streams --- */

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

void survey_spool(converter *self)
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
