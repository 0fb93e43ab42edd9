#include "record/streams.h"

#include <stddef.h>
#include <string.h>

/* What a lane's records so far mean for its next ones. */
typedef struct stream_memory {
    op_place places[SPOOL_PLACES];
    uint32_t span;                            /* the last one of the lane */
    uint64_t time;                            /* of the last begin */
    uint64_t full[sizeof(slot_op) / 8 + 256]; /* the record handed out */
} stream_memory;

void stream_close(stream_reader *self)
{
    rec_free(self->buffer);
    rec_free(self->memory);
    self->buffer = NULL;
    self->memory = NULL;
}

bool stream_open(stream_reader *self, const spool *source, size_t index, size_t buffer_bytes)
{
    memset(self, 0, sizeof *self);
    self->source = source;
    self->stream = &source->streams[index];
    self->capacity = buffer_bytes > 2 * SPOOL_RECORD_BYTES ? buffer_bytes : 2 * SPOOL_RECORD_BYTES;
    self->capacity &= ~(size_t)(SPOOL_UNIT - 1);
    self->buffer = rec_take(self->capacity);
    self->memory = rec_take(sizeof *self->memory);
    if (self->buffer == NULL || self->memory == NULL) {
        stream_close(self);
        return false;
    }
    return true;
}

/* Move what is left to the front and fill up. */
static void fill(stream_reader *self)
{
    const spool_stream *stream = self->stream;

    memmove(self->buffer, self->buffer + self->at, self->have - self->at);
    self->have -= self->at;
    self->at = 0;
    while (self->have < self->capacity && self->run < stream->count) {
        const spool_run *run = &stream->runs[self->run];
        uint64_t left = run->bytes - self->run_at;
        size_t take = self->capacity - self->have;

        take = left < take ? (size_t)left : take;
        if (run->memory != NULL) {
            memcpy(self->buffer + self->have, run->memory + self->run_at, take);
        } else if (rec_read(self->source->sys, self->source->file, self->buffer + self->have, take,
                            run->offset + self->run_at) != (int64_t)take) {
            self->has_failed = true;
            return;
        }
        self->have += take;
        self->run_at += take;
        if (self->run_at == run->bytes) {
            self->run++;
            self->run_at = 0;
        }
    }
}

/* Bytes of the record that begins at `at`, 0 when it is none. */
static inline size_t record_bytes(const stream_memory *memory, const slot *at)
{
    static const uint8_t units[SPOOL_STORED_KINDS] = {
        [SPOOL_BEGIN] = 2,           [SPOOL_END] = 1,       [SPOOL_COMPLETED] = 3,
        [SPOOL_TENSOR] = 2,          [SPOOL_STATS] = 4,     [SPOOL_SCALAR] = 2,
        [SPOOL_ALLOC] = 4,           [SPOOL_FREE] = 4,      [SPOOL_DEVICE_MEMORY] = 4,
        [SPOOL_DEVICE_INTERVAL] = 3, [SPOOL_GRADIENT] = 2,  [SPOOL_CALL_EDGE] = 2,
        [SPOOL_DATA_EDGE] = 2,       [SPOOL_BEGIN_NEAR] = 1};

    if (at->kind == 0 || at->kind >= SPOOL_STORED_KINDS) {
        return 0;
    }
    if (units[at->kind] != 0) {
        return (size_t)units[at->kind] * SPOOL_UNIT;
    }
    if (at->kind == SPOOL_OP) {
        size_t inputs = ((const slot_op *)at)->layout_inputs >> 24;

        return sizeof(slot_op) + (inputs + 1) / 2 * SPOOL_UNIT;
    }
    if (at->kind == SPOOL_OP_NARROW) {
        size_t inputs = ((const slot_op_narrow *)at)->layout_inputs >> 24;

        return spool_whole(offsetof(slot_op_narrow, inputs) + 4 * inputs);
    }
    if (at->kind == SPOOL_OP_AGAIN) {
        const op_place *place = &memory->places[at->flags];

        return place->name == 0
                   ? 0
                   : spool_whole(sizeof(slot_op_again) + 4 * (size_t)(place->layout_inputs >> 24));
    }
    size_t bytes = (size_t)at->lane * SPOOL_UNIT; /* NAME, LAYOUT */
    size_t need = sizeof(slot);
    if (at->kind == SPOOL_NAME) {
        need += at->time <= SPOOL_TEXT_BYTES ? (size_t)at->time : SPOOL_RECORD_BYTES;
    } else {
        need += at->time <= 64 ? 8 + 8 * (size_t)at->time : SPOOL_RECORD_BYTES;
    }
    return bytes >= need && bytes <= SPOOL_RECORD_BYTES ? bytes : 0;
}

/* An operation of 32-bit numbers, in full. */
static const slot *widen_op(stream_memory *memory, const slot *head, op_place shared,
                            const uint32_t numbers[2], const uint32_t *inputs)
{
    size_t count = shared.layout_inputs >> 24;
    slot_op *op = (slot_op *)(void *)memory->full;

    op->head = *head;
    op->head.kind = SPOOL_OP;
    op->head.flags = 0;
    op->name = shared.name;
    op->layout_inputs = shared.layout_inputs;
    op->output = numbers[0];
    op->duration = numbers[1];
    op->input_dense = shared.input_dense;
    for (size_t i = 0; i < count; i++) {
        op->inputs[i] = inputs[i];
    }
    return &op->head;
}

static const slot *in_full(stream_memory *memory, const slot *at)
{
    switch (at->kind) {
    case SPOOL_BEGIN:
        memory->span = at->span;
        memory->time = at->time;
        return at;
    case SPOOL_COMPLETED: memory->span = ((const slot_completed *)at)->number; return at;
    case SPOOL_BEGIN_NEAR: {
        const slot_begin_near *near = (const slot_begin_near *)(const void *)at;

        memory->span++;
        memory->time += near->after;
        slot_begin *begin = (slot_begin *)(void *)memory->full;
        *begin = (slot_begin){
            .head = {SPOOL_BEGIN, near->flags, near->parent_lane, memory->span, memory->time},
            .name = near->name,
            .parent = near->parent};
        return &begin->head;
    }
    case SPOOL_OP_NARROW: {
        const slot_op_narrow *narrow = (const slot_op_narrow *)at;

        memory->places[at->flags] =
            (op_place){narrow->name, narrow->layout_inputs, narrow->input_dense};
        return widen_op(memory, at, memory->places[at->flags],
                        (uint32_t[]){narrow->output, narrow->duration}, narrow->inputs);
    }
    case SPOOL_OP_AGAIN: {
        const slot_op_again *again = (const slot_op_again *)at;

        return widen_op(memory, at, memory->places[at->flags],
                        (uint32_t[]){again->output, again->duration}, again->inputs);
    }
    default: return at;
    }
}

const slot *stream_next(stream_reader *self)
{
    if (self->is_broken || self->has_failed) {
        return NULL;
    }
    if (self->have - self->at < SPOOL_RECORD_BYTES && self->run < self->stream->count) {
        fill(self);
        if (self->has_failed) {
            return NULL;
        }
    }
    size_t left = self->have - self->at;
    if (left == 0) {
        return NULL;
    }
    const slot *at = (const slot *)(const void *)(self->buffer + self->at);
    /* An operation tells its size in its second unit. */
    bool is_op = left >= SPOOL_UNIT && (at->kind == SPOOL_OP || at->kind == SPOOL_OP_NARROW);
    size_t bytes = left < (is_op ? 2 : 1) * SPOOL_UNIT ? 0 : record_bytes(self->memory, at);
    if (bytes == 0 || bytes > left) {
        self->is_broken = true;
        return NULL;
    }
    self->at += bytes;
    return in_full(self->memory, at);
}
