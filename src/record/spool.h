/*
 * spool - the file a session keeps while it lives. docs/schemas/spool.md describes every byte.
 *
 *   header page     spool_header, mapped by the session: clock, counters of losses
 *   description     the pieces of the `meta` record
 *   extents         LANE: the ring of one thread, mapped and reused, page aligned
 *                   CHUNK: a part of a lane's stream that left the ring, checksummed
 *
 * A lane is a stream of records in units of 16 bytes. Position P of the stream is kept at P modulo
 * ring size in the ring until a chunk holds it. `head` in the lane's extent is stored after the
 * record it covers, so everything below it is whole whenever the process stops.
 * Integers are in the byte order of the machine; the magic tells a foreign one.
 */
#ifndef CG_RECORD_SPOOL_H
#define CG_RECORD_SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "record/clock.h"
#include "record/sys.h"

#define SPOOL_MAGIC        UINT64_C(0x314c4f4f50534743) /* "CGSPOOL1" */
#define SPOOL_EXTENT_MAGIC UINT64_C(0x545845504f4f5053)
#define SPOOL_VERSION      2u
#define SPOOL_OLDEST       1u /* the records of version 1 are all still what they were */
#define SPOOL_PAGE         4096u
#define SPOOL_PIECES       5u
#define SPOOL_UNIT         16u
#define SPOOL_TEXT_BYTES   8192u /* the longest interned text */
#define SPOOL_RECORD_BYTES (SPOOL_TEXT_BYTES + 64u)
#define SPOOL_RING_LEAST   (64u << 10)
#define SPOOL_RING_MOST    (64u << 20)
#define SPOOL_LANES        65535u

enum spool_level { /* the levels of the contract, in wire order */
                   SPOOL_OPERATIONS,
                   SPOOL_TENSORS,
                   SPOOL_GRADIENTS,
                   SPOOL_LOGICAL_MEMORY,
                   SPOOL_PHYSICAL_MEMORY,
                   SPOOL_DEVICE_TIMING,
                   SPOOL_LEVELS
};

/* Records of a lane. Numbers are part of the file format. */
enum spool_kind {
    SPOOL_NAME = 1,
    SPOOL_LAYOUT = 2,
    SPOOL_BEGIN = 3,
    SPOOL_END = 4,
    SPOOL_COMPLETED = 5,
    SPOOL_OP = 6,
    SPOOL_TENSOR = 7,
    SPOOL_STATS = 8,
    SPOOL_SCALAR = 9,
    SPOOL_ALLOC = 10,
    SPOOL_FREE = 11,
    SPOOL_DEVICE_MEMORY = 12,
    SPOOL_DEVICE_INTERVAL = 13,
    SPOOL_GRADIENT = 14,
    SPOOL_CALL_EDGE = 15,
    SPOOL_DATA_EDGE = 16,
    SPOOL_KINDS = 18
};

/* Shorter forms of them, in the file only: the reader of streams gives them back in full. */
enum {
    SPOOL_OP_NARROW = 17,  /* an OP whose numbers fit 32 bits */
    SPOOL_OP_AGAIN = 18,   /* one that has name, layout and inputs in common with another */
    SPOOL_BEGIN_NEAR = 19, /* a BEGIN not long after the lane's last one */
    SPOOL_STORED_KINDS = 20
};

#define SPOOL_PLACES 256u

/* The first 16 bytes of every record. */
typedef struct slot {
    uint8_t kind;
    uint8_t flags;
    uint16_t lane; /* of the span; NAME, LAYOUT: units of 16 bytes */
    uint32_t span; /* number of the span within its lane, from 1; NAME, LAYOUT: id */
    uint64_t time; /* counter; NAME: bytes of the text; LAYOUT: rank */
} slot;

enum { SLOT_MEASURED = 16, SLOT_GRAD = 16, SLOT_START = 1, SLOT_PLACED = 2, SLOT_TIMED = 16 };

typedef struct slot_begin {
    slot head; /* flags: kind | step << 2 | SLOT_MEASURED; lane: of the parent */
    uint32_t name;
    uint32_t parent;
    uint64_t reserved;
} slot_begin;

/* The span is the next of the lane; it began `after` the one before, in ticks. */
typedef struct slot_begin_near {
    uint8_t kind;
    uint8_t flags;
    uint16_t parent_lane;
    uint32_t parent;
    uint32_t name;
    uint32_t after;
} slot_begin_near;

typedef struct slot_end {
    slot head;
} slot_end;

typedef struct slot_completed {
    slot head; /* flags: kind; lane, span: the parent; time: now */
    uint32_t name;
    uint32_t number; /* of the span within this lane */
    uint64_t start;
    uint64_t end;
    uint64_t reserved;
} slot_completed;

typedef struct slot_op {
    /*
     * flags: SLOT_START: `duration` is the reading at the start; SLOT_PLACED: head.time is the
     * start; neither: the operation ended at head.time.
     */
    slot head;
    uint32_t name;
    uint32_t layout_inputs; /* layout | number of inputs << 24 */
    uint64_t output;
    uint64_t duration;
    uint64_t input_dense;
    uint64_t inputs[]; /* padded to a multiple of 16 bytes */
} slot_op;

typedef struct slot_op_narrow {
    slot head; /* flags: a place; it ended at head.time */
    uint32_t name;
    uint32_t layout_inputs;
    uint32_t output;
    uint32_t duration;
    uint32_t input_dense;
    uint32_t inputs[]; /* padded to a multiple of 16 bytes */
} slot_op_narrow;

/*
 * A lane has places 0 to 255. An OP_NARROW leaves its name, layout_inputs and input_dense in the
 * place it names, an OP_AGAIN takes them from there.
 */
typedef struct slot_op_again {
    slot head; /* flags: the place */
    uint32_t output;
    uint32_t duration;
    uint32_t inputs[]; /* padded to a multiple of 16 bytes */
} slot_op_again;

typedef struct op_place {
    uint32_t name; /* 0: nothing was left here */
    uint32_t layout_inputs;
    uint32_t input_dense;
} op_place;

typedef struct slot_tensor {
    slot head; /* flags: category | SLOT_GRAD */
    uint64_t id;
    uint32_t label;
    uint32_t layout;
} slot_tensor;

typedef struct slot_stats {
    slot head;
    uint32_t label;
    uint32_t layout;
    uint64_t elements;
    uint64_t non_finite;
    double rms;
    double abs_max;
    double mean;
} slot_stats;

typedef struct slot_scalar {
    slot head;
    uint64_t label;
    double value;
} slot_scalar;

typedef struct slot_memory {
    slot head; /* flags: category | SLOT_TIMED */
    uint64_t storage;
    uint64_t tensor;
    uint64_t bytes;
    uint32_t op_name;
    uint32_t layout;
    uint64_t at; /* with SLOT_TIMED: when it happened; head.time keeps the order of recording */
    uint64_t reserved;
} slot_memory;

typedef struct slot_device_memory {
    slot head; /* flags: 1 used, 2 free, 4 reserved, 8 capacity, SLOT_TIMED; span: device name */
    uint64_t used, free, reserved, capacity;
    uint64_t at;
    uint64_t reserved_2;
} slot_device_memory;

typedef struct slot_device_interval {
    slot head;
    uint32_t device, stream, clock, backend;
    uint64_t start_ns, duration_ns;
} slot_device_interval;

typedef struct slot_gradient {
    slot head; /* flags: state */
    uint32_t root, key;
    double norm;
} slot_gradient;

typedef struct slot_edge {
    slot head;     /* CALL_EDGE: lane, span are those of `to` */
    uint64_t from; /* CALL_EDGE: lane << 32 | span */
    uint64_t to;   /* DATA_EDGE */
} slot_edge;

typedef struct spool_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; /* of page and description; the first extent begins here */
    uint64_t pid;
    uint32_t clock;
    uint32_t ring_bytes;
    clock_pair begin;
    uint64_t rate;
    uint64_t piece_bytes[SPOOL_PIECES];
    uint8_t levels[8];
    uint64_t description_sum; /* over all fields above and the description */
    /* From here on the session writes while it lives. */
    double span_ns, op_ns, tensor_ns, scalar_ns;
    _Atomic uint64_t seen_ticks; /* a later pair; ns is stored first, ticks 0 = none */
    _Atomic uint64_t seen_ns;
    _Atomic uint64_t measured_from, measured_to;
    _Atomic uint64_t dropped[SPOOL_KINDS];
    _Atomic uint64_t refused[SPOOL_KINDS];
} spool_header;

typedef struct spool_extent {
    uint64_t magic;
    uint32_t type; /* SPOOL_LANE_EXTENT, SPOOL_CHUNK_EXTENT */
    uint32_t lane;
    uint64_t position; /* CHUNK: of its first byte in the lane's stream */
    uint64_t bytes;    /* CHUNK: payload; LANE: size of the ring */
    uint64_t sum;      /* CHUNK: over the payload */
    uint64_t self_sum; /* over the fields above */
    uint64_t reserved[2];
} spool_extent;

enum { SPOOL_LANE_EXTENT = 1, SPOOL_CHUNK_EXTENT = 2 };

/* The first page of a LANE extent; the ring follows. */
typedef struct spool_lane {
    spool_extent extent;
    _Atomic uint64_t head; /* bytes of the stream that are whole */
    _Atomic uint64_t dropped;
} spool_lane;

_Static_assert(sizeof(slot) == 16, "a record begins with one unit");
_Static_assert(sizeof(slot_begin) == 32 && sizeof(slot_end) == 16, "see docs/schemas/spool.md");
_Static_assert(sizeof(slot_tensor) == 32 && sizeof(slot_scalar) == 32, "see docs/schemas/spool.md");
_Static_assert(sizeof(slot_op_narrow) == 36 || sizeof(slot_op_narrow) == 40, "spool.md");
_Static_assert(sizeof(slot_begin_near) == 16 && sizeof(slot_op_again) == 24, "spool.md");
_Static_assert(sizeof(slot_op) == 48 && sizeof(slot_memory) == 64, "see docs/schemas/spool.md");
_Static_assert(sizeof(slot_stats) == 64 && sizeof(slot_device_memory) == 64, "spool.md");
_Static_assert(sizeof(spool_header) <= SPOOL_PAGE && sizeof(spool_lane) <= SPOOL_PAGE, "one page");
_Static_assert(sizeof(spool_extent) == 64, "an extent is one cache line");

/* Bytes of a record in whole units. */
static inline size_t spool_whole(size_t bytes)
{
    return (bytes + SPOOL_UNIT - 1) / SPOOL_UNIT * SPOOL_UNIT;
}

/* Detects torn, stale and exchanged parts, not malice. */
uint64_t spool_sum(const void *bytes, size_t count, uint64_t seed);
uint64_t spool_extent_sum(const spool_extent *extent);
uint64_t spool_header_sum(const spool_header *header, const void *description);

/* --- reading --- */

/* A run of a lane's stream: in the file, or in memory while the session lives. */
typedef struct spool_run {
    uint64_t position;
    uint64_t bytes;
    uint64_t offset;    /* in the file */
    const char *memory; /* or here */
} spool_run;

typedef struct spool_stream {
    uint32_t lane;
    spool_run *runs;
    size_t count, capacity;
    uint64_t end; /* position behind the last run */
} spool_stream;

typedef struct spool {
    const rec_sys *sys;
    int file;
    const spool_header *header;
    const char *pieces[SPOOL_PIECES];
    spool_stream *streams; /* by lane number - 1 */
    size_t stream_count;
    bool is_cut; /* something is missing between chunks and ring */
    uint64_t cut_offset, cut_bytes;
    uint64_t rest_offset; /* where no extent begins any more, 0 = the end of the file */
} spool;

enum spool_answer { SPOOL_OK, SPOOL_NOT, SPOOL_DAMAGED, SPOOL_IO, SPOOL_NOMEM };

/*
 * Find the streams of the spool in `file` of `size` bytes. `self->header` and the pieces are in
 * memory of `self`. Every number in the file is checked against `size`.
 */
enum spool_answer spool_scan(spool *self, const rec_sys *sys, int file, uint64_t size);
bool spool_add_run(spool_stream *stream, spool_run run);
void spool_free(spool *self);

#endif
