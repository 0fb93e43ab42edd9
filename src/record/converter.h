/*
 * converter - what a conversion has at hand, for the files that do it.
 *
 *   survey            names, layouts, and which records of the spool are sound
 *   convert_spans     spans as they will stand in the trace
 *   convert_records   every kind of record, checked and written
 *   convert_merge     the lanes as one stream, by time
 *   convert           what comes before and after the records
 */
#ifndef CG_RECORD_CONVERTER_H
#define CG_RECORD_CONVERTER_H

#include "record/account.h"
#include "record/streams.h"
#include "record/wire.h"

#define BLANK_NAME UINT32_C(0x80000000)
#define NEAR_NS    1000u /* below this, two threads' readings do not tell what came first */
#define OPEN       UINT64_MAX

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

/* Ticks of the spool's clock as nanoseconds since the session began. */
static inline uint64_t convert_ns(const converter *self, uint64_t ticks)
{
    uint64_t begin = self->source->header->begin.ticks;

    return ticks <= begin ? 0 : clock_ns(ticks - begin, self->rate);
}

static inline void convert_see(converter *self, uint64_t ns)
{
    if (ns > self->latest_ns) {
        self->latest_ns = ns;
    }
}

/* A short, printable form for messages. */
static inline int convert_shown(cg_str json)
{
    return json.len > 80 ? 80 : (int)json.len;
}

/* Count a record that is left out, and keep the first cause. */
void convert_refuse(converter *self, unsigned kind, const char *format, ...) CG_PRINTF(3, 4);
/* Room for one more element of `size` bytes behind `count`, or false. */
bool convert_grow(converter *self, void **list, size_t count, size_t *capacity, size_t size);
/*
 * The number of a span on the wire; 0 when it has none. A lane whose clock reads a little ahead may
 * name a span of another lane that is not written yet: that lane is read first. `depth`: how many
 * lanes are being read on behalf of each other.
 */
uint32_t convert_find_span(converter *self, uint32_t lane, uint32_t span, unsigned depth);

#endif
