/*
 * memory - logical storage lifetimes and physical samples, as two planes.
 *
 * The logical plane replays alloc and free events ordered by (timestamp,
 * stream order), keyed (device, storage id); rules: docs/schemas/evidence.md.
 * It also reports what is wrong with the events, for health.
 * The plane borrows texts from the trace and lives in the given heap.
 */
#ifndef CG_EXEC_MEMORY_H
#define CG_EXEC_MEMORY_H

#include "base/number_set.h"
#include "exec/trace.h"

typedef struct memory_lifetime {
    uint64_t start_ns;
    uint64_t end_ns;      /* meaningful with is_closed */
    uint32_t alloc_event; /* row of trace memory: bytes, span, op, shape, dtype, category */
    uint32_t tensors_at;  /* sorted tensor ids: stretch of plane->tensors */
    uint32_t tensors_count;
    bool is_closed;
} memory_lifetime;

enum memory_fault_kind { MEMORY_SIZE_MISMATCH, MEMORY_DUPLICATE, MEMORY_UNPAIRED_FREE };

typedef struct memory_fault {
    uint32_t event; /* index into trace memory rows; in replay order */
    uint8_t kind;
} memory_fault;

typedef struct memory_device {
    sym device;
    uint64_t allocation_count;
    uint64_t free_count;
    uint64_t allocated_bytes;
    uint64_t peak_bytes;
    uint64_t peak_ns;
    bool has_peak;
} memory_device;

typedef struct memory_point {
    uint64_t timestamp_ns;
    uint64_t live_bytes;
    const number_set *devices; /* of a walk: those with live storage */
} memory_point;

typedef struct memory_plane {
    const trace_doc *trace;
    heap *heap;
    uint64_t allocation_count;
    uint64_t free_count;
    uint64_t allocated_bytes; /* saturating */
    bool has_peak;
    uint64_t peak_ns;
    uint64_t peak_live_bytes;
    VEC(uint32_t) order;            /* events in replay order */
    VEC(uint32_t) lifetime_of;      /* by event: lifetime opened, joined or closed; TRACE_NONE */
    VEC(memory_lifetime) lifetimes; /* sorted by (start, device, storage id), stable */
    VEC(sym) tensors;
    VEC(memory_fault) faults;
    VEC(memory_device) devices; /* sorted by device text; every device of any event */
    uint64_t retained_count;
} memory_plane;

/* O(n log n). Fails with CG_NOMEM or CG_LIMIT. */
cg_code memory_replay(heap *from, const trace_doc *trace, memory_plane *ret,
                      cg_err *reterr) CG_MUST;
void memory_free(memory_plane *plane);

/*
 * Walk the timeline again: `point` is called once per distinct timestamp with
 * the totals after all its events. by_device follows plane->devices; which of
 * them have live storage is in the point. O(events), whatever the devices.
 */
typedef struct memory_live {
    uint64_t bytes;
    uint64_t count; /* live storages, 0-byte ones included; 0 = leave out */
} memory_live;

cg_code memory_walk(const memory_plane *plane,
                    bool (*point)(void *context, memory_point total, const memory_live *by_device,
                                  const memory_live by_category[CATEGORY_COUNT]),
                    void *context, cg_err *reterr) CG_MUST;

/* Indices of the lifetimes that are live at the peak, in lifetimes order; appended to ret. */
typedef VEC(uint32_t) memory_list;
cg_code memory_peak_set(const memory_plane *plane, memory_list *ret, cg_err *reterr) CG_MUST;

/* --- physical --- */

typedef struct physical_device {
    sym device;
    uint64_t sample_count;
    uint64_t counts[4]; /* used, free, reserved, capacity */
    opt_u64 peak_used, peak_used_ns;
    opt_u64 peak_reserved, peak_reserved_ns;
    opt_u64 minimum_free, minimum_free_ns;
    opt_u64 maximum_capacity;
} physical_device;

typedef struct physical_plane {
    heap *heap;
    VEC(uint32_t) order;          /* samples by (timestamp, device), stable */
    VEC(physical_device) devices; /* sorted by device text */
} physical_plane;

cg_code physical_build(heap *from, const trace_doc *trace, physical_plane *ret,
                       cg_err *reterr) CG_MUST;
void physical_free(physical_plane *plane);

#endif
