#define CG_BANNED_EXEMPT
#include "base/banned.h"

#include "record/spool.h"

#include <stddef.h>
#include <string.h>

#define SUM_SEED 1u

static uint64_t mix(uint64_t sum)
{
    sum ^= sum >> 29;
    sum *= UINT64_C(0xbf58476d1ce4e5b9);
    return sum ^ sum >> 32;
}

#if defined(__GNUC__)
typedef uint64_t sum_pair __attribute__((vector_size(16)));
#else
#error "spool_sum needs vectors of GNU C"
#endif

/*
 * Sums and sums of sums, as in Fletcher's checksum, in eight lanes: no multiplication in the loop,
 * because the writer spends more time here than in anything but the kernel.
 */
uint64_t spool_sum(const void *bytes, size_t count, uint64_t seed)
{
    const char *at = bytes;
    sum_pair one[4] = {{0}};
    sum_pair two[4] = {{0}};
    uint64_t sum = mix(seed + count * UINT64_C(0x9e3779b97f4a7c15) + 1);
    size_t left = count;

    for (; left >= 64; left -= 64, at += 64) {
        for (unsigned i = 0; i < 4; i++) {
            sum_pair word;

            memcpy(&word, at + 16 * i, sizeof word);
            one[i] += word;
            two[i] += one[i];
        }
    }
    for (; left > 0; left--, at++) {
        sum = mix(sum ^ (uint8_t)*at);
    }
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 2; j++) {
            sum = mix(sum ^ one[i][j]) + (2 * i + j);
            sum = mix(sum ^ two[i][j]);
        }
    }
    return sum;
}

uint64_t spool_extent_sum(const spool_extent *extent)
{
    return spool_sum(extent, offsetof(spool_extent, self_sum), SUM_SEED);
}

static uint64_t pieces_total(const spool_header *header)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < SPOOL_PIECES; i++) {
        if (header->piece_bytes[i] > UINT32_MAX) {
            return UINT64_MAX;
        }
        total += header->piece_bytes[i];
    }
    return total;
}

uint64_t spool_header_sum(const spool_header *header, const void *description)
{
    uint64_t sum = spool_sum(header, offsetof(spool_header, description_sum), SUM_SEED);

    return spool_sum(description, (size_t)pieces_total(header), sum);
}

bool spool_add_run(spool_stream *stream, spool_run run)
{
    if (stream->count == stream->capacity) {
        size_t capacity = stream->capacity == 0 ? 8 : stream->capacity * 2;
        spool_run *runs = rec_resize(stream->runs, capacity * sizeof *runs);

        if (runs == NULL) {
            return false;
        }
        stream->runs = runs;
        stream->capacity = capacity;
    }
    stream->runs[stream->count++] = run;
    stream->end = run.position + run.bytes;
    return true;
}

typedef struct found_lane {
    uint64_t ring_offset; /* 0 = not seen */
    uint64_t ring_bytes;
    uint64_t head;
} found_lane;

typedef struct scan {
    spool *self;
    uint64_t size;
    found_lane *lanes;
    char *buffer;
    size_t capacity;
} scan;

static bool grow_lanes(scan *at, uint32_t lane)
{
    spool *self = at->self;

    if (lane <= self->stream_count) {
        return true;
    }
    spool_stream *streams = rec_resize(self->streams, lane * sizeof *streams);
    if (streams == NULL) {
        return false;
    }
    self->streams = streams;
    found_lane *lanes = rec_resize(at->lanes, lane * sizeof *lanes);
    if (lanes == NULL) {
        return false;
    }
    at->lanes = lanes;
    memset(streams + self->stream_count, 0, (lane - self->stream_count) * sizeof *streams);
    memset(lanes + self->stream_count, 0, (lane - self->stream_count) * sizeof *lanes);
    for (size_t i = self->stream_count; i < lane; i++) {
        streams[i].lane = (uint32_t)(i + 1);
    }
    self->stream_count = lane;
    return true;
}

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static bool extent_is_sound(const spool_extent *extent)
{
    return extent->magic == SPOOL_EXTENT_MAGIC && extent->self_sum == spool_extent_sum(extent) &&
           extent->lane >= 1 && extent->lane <= SPOOL_LANES;
}

static enum spool_answer scan_lane(scan *at, const spool_lane *lane, uint64_t offset,
                                   uint64_t *next)
{
    uint64_t ring = lane->extent.bytes;
    found_lane *found = NULL;

    if (!is_power_of_two(ring) || ring < SPOOL_PAGE || ring > SPOOL_RING_MOST ||
        ring + SPOOL_PAGE > at->size - offset) {
        return SPOOL_DAMAGED;
    }
    /* A stream has all its chunks behind its ring, and lanes are numbered as they are made. */
    if (lane->extent.lane != at->self->stream_count + 1) {
        return SPOOL_DAMAGED;
    }
    if (!grow_lanes(at, lane->extent.lane)) {
        return SPOOL_NOMEM;
    }
    found = &at->lanes[lane->extent.lane - 1];
    found->ring_offset = offset + SPOOL_PAGE;
    found->ring_bytes = ring;
    found->head = lane->head;
    *next = offset + SPOOL_PAGE + ring;
    return SPOOL_OK;
}

static enum spool_answer scan_chunk(scan *at, const spool_extent *extent, uint64_t offset,
                                    uint64_t *next)
{
    spool *self = at->self;
    uint64_t data = offset + sizeof *extent;

    if (extent->lane > self->stream_count || extent->bytes == 0 ||
        extent->bytes > SPOOL_RING_MOST || extent->bytes > at->size - data ||
        extent->bytes % SPOOL_UNIT != 0 ||
        extent->position != self->streams[extent->lane - 1].end) {
        return SPOOL_DAMAGED;
    }
    if (at->capacity < extent->bytes) {
        char *buffer = rec_resize(at->buffer, (size_t)extent->bytes);

        if (buffer == NULL) {
            return SPOOL_NOMEM;
        }
        at->buffer = buffer;
        at->capacity = (size_t)extent->bytes;
    }
    if (rec_read(self->sys, self->file, at->buffer, (size_t)extent->bytes, data) !=
        (int64_t)extent->bytes) {
        return SPOOL_IO;
    }
    if (spool_sum(at->buffer, (size_t)extent->bytes, extent->position) != extent->sum) {
        return SPOOL_DAMAGED;
    }
    spool_run run = {extent->position, extent->bytes, data, NULL};
    *next = data + extent->bytes;
    return spool_add_run(&self->streams[extent->lane - 1], run) ? SPOOL_OK : SPOOL_NOMEM;
}

/* What chunks do not hold is in the rings. */
static enum spool_answer scan_rings(scan *at)
{
    spool *self = at->self;

    for (size_t i = 0; i < self->stream_count; i++) {
        const found_lane *found = &at->lanes[i];
        spool_stream *stream = &self->streams[i];
        uint64_t from = stream->end;

        if (found->head < from || found->head - from > found->ring_bytes ||
            found->head % SPOOL_UNIT != 0) {
            self->is_cut = true;
            self->cut_offset = self->rest_offset != 0 ? self->rest_offset : found->ring_offset;
            self->cut_bytes = at->size - self->cut_offset;
            continue;
        }
        while (from < found->head) {
            uint64_t inside = from % found->ring_bytes;
            uint64_t bytes = found->head - from;

            if (bytes > found->ring_bytes - inside) {
                bytes = found->ring_bytes - inside;
            }
            spool_run run = {from, bytes, found->ring_offset + inside, NULL};
            if (!spool_add_run(stream, run)) {
                return SPOOL_NOMEM;
            }
            from += bytes;
        }
    }
    return SPOOL_OK;
}

static enum spool_answer scan_extents(scan *at)
{
    spool *self = at->self;
    uint64_t offset = self->header->header_bytes;

    for (;;) {
        spool_lane lane;
        uint64_t next = 0;
        enum spool_answer answer = SPOOL_DAMAGED;

        memset(&lane, 0, sizeof lane);
        if (offset + sizeof lane.extent > at->size) {
            break;
        }
        if (rec_read(self->sys, self->file, &lane, sizeof lane, offset) <
            (int64_t)sizeof lane.extent) {
            return SPOOL_IO;
        }
        if (!extent_is_sound(&lane.extent) && offset % SPOOL_PAGE != 0) {
            /* Rings begin at a page. */
            uint64_t page = offset + (SPOOL_PAGE - offset % SPOOL_PAGE);

            if (page + SPOOL_PAGE <= at->size &&
                rec_read(self->sys, self->file, &lane, sizeof lane, page) == sizeof lane &&
                extent_is_sound(&lane.extent) && lane.extent.type == SPOOL_LANE_EXTENT) {
                offset = page;
            }
        }
        if (extent_is_sound(&lane.extent)) {
            if (lane.extent.type == SPOOL_LANE_EXTENT && offset % SPOOL_PAGE == 0) {
                answer = scan_lane(at, &lane, offset, &next);
            } else if (lane.extent.type == SPOOL_CHUNK_EXTENT) {
                answer = scan_chunk(at, &lane.extent, offset, &next);
            }
        }
        if (answer == SPOOL_DAMAGED) {
            /* The last write of a dead process: its bytes are still in the ring. */
            self->rest_offset = offset;
            break;
        }
        if (answer != SPOOL_OK) {
            return answer;
        }
        offset = next;
    }
    return scan_rings(at);
}

static enum spool_answer scan_header(spool *self, uint64_t size)
{
    spool_header *header = NULL;

    if (size < SPOOL_PAGE) {
        return SPOOL_NOT;
    }
    header = rec_take(SPOOL_PAGE);
    if (header == NULL) {
        return SPOOL_NOMEM;
    }
    self->header = header;
    if (rec_read(self->sys, self->file, header, SPOOL_PAGE, 0) != SPOOL_PAGE) {
        return SPOOL_IO;
    }
    if (header->magic != SPOOL_MAGIC) {
        return SPOOL_NOT;
    }
    uint64_t total = pieces_total(header);
    if (header->version < SPOOL_OLDEST || header->version > SPOOL_VERSION ||
        header->header_bytes % SPOOL_PAGE != 0 || header->header_bytes > size ||
        total > header->header_bytes - (uint64_t)SPOOL_PAGE || header->header_bytes < SPOOL_PAGE) {
        return SPOOL_DAMAGED;
    }
    spool_header *whole = rec_resize(header, SPOOL_PAGE + (size_t)total);
    if (whole == NULL) {
        return SPOOL_NOMEM;
    }
    self->header = header = whole;
    char *text = (char *)header + SPOOL_PAGE;
    if (rec_read(self->sys, self->file, text, (size_t)total, SPOOL_PAGE) != (int64_t)total) {
        return SPOOL_IO;
    }
    if (spool_header_sum(header, text) != header->description_sum || header->rate == 0) {
        return SPOOL_DAMAGED;
    }
    for (unsigned i = 0; i < SPOOL_PIECES; i++) {
        self->pieces[i] = text;
        text += header->piece_bytes[i];
    }
    for (unsigned i = 0; i < SPOOL_LEVELS; i++) {
        if (header->levels[i] > 2) {
            return SPOOL_DAMAGED;
        }
    }
    return SPOOL_OK;
}

enum spool_answer spool_scan(spool *self, const rec_sys *sys, int file, uint64_t size)
{
    scan at;

    memset(self, 0, sizeof *self);
    memset(&at, 0, sizeof at);
    self->sys = sys;
    self->file = file;
    at.self = self;
    at.size = size;
    enum spool_answer answer = scan_header(self, size);
    if (answer == SPOOL_OK) {
        answer = scan_extents(&at);
    }
    rec_free(at.lanes);
    rec_free(at.buffer);
    return answer;
}

void spool_free(spool *self)
{
    for (size_t i = 0; i < self->stream_count; i++) {
        rec_free(self->streams[i].runs);
    }
    rec_free(self->streams);
    rec_free((void *)(uintptr_t)self->header);
    memset(self, 0, sizeof *self);
}
