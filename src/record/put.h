/*
 * put - how a record gets into the ring of a lane.
 *
 * A hot call is written once and compiled twice. AT_ONCE nothing is called, so that no register
 * has to be saved and no stack to be guarded; when something stands in the way, nothing is done,
 * the answer is false, and the call begins again WITH_CARE, where it may take what it takes.
 */
#ifndef CG_RECORD_PUT_H
#define CG_RECORD_PUT_H

#include <stddef.h>
#include <string.h>

#include "record/session.h"

#define SPAN_WIDTH 32 /* bits of a reference below the number of the lane */

enum way { AT_ONCE, WITH_CARE };

#define HOT     inline __attribute__((always_inline))
#define CAREFUL __attribute__((noinline))
#define RARE    __attribute__((noinline, cold))

/* The handle of a span that was not begun. */
static inline cg_record_span no_span(const lane *self)
{
    return (cg_record_span){0, self != NULL ? self->serial : 0, 0};
}

static HOT bool is_likely(bool condition)
{
    return __builtin_expect(condition, 1);
}

static HOT lane *lane_at_once(const cg_record *session)
{
    lane *self = lane_here;

    return is_likely(self != NULL &&
                     atomic_load_explicit(&self->session, memory_order_relaxed) == session &&
                     self->clock == CLOCK_REGISTER)
               ? self
               : NULL;
}

static HOT uint64_t time_now(const lane *self, enum way way)
{
    return clock_read(way == AT_ONCE ? CLOCK_REGISTER : self->clock);
}

static HOT bool has_room(lane *self, uint64_t bytes, unsigned kind, enum way way)
{
    return lane_has(self, bytes) || (way == WITH_CARE && lane_room(self, bytes, kind));
}

/* Count a record of no span, or of none that is here. */
RARE void record_leave_out(cg_record *session, const lane *self, cg_record_span span,
                           unsigned kind);

/* Whether a record of `span`, which counts as `kind`, has a place. */
static HOT bool may_put(cg_record *session, lane *self, cg_record_span span, uint64_t bytes,
                        unsigned kind, enum way way)
{
    if (!is_likely(span.session == self->serial && span.reference != 0)) {
        if (way == WITH_CARE) {
            record_leave_out(session, self, span, kind);
        }
        return false;
    }
    return has_room(self, bytes, kind, way);
}

/* Two 32-bit fields as one number, the first one below. */
static HOT uint64_t side_by_side(uint32_t first, uint32_t second)
{
    return (uint64_t)second << 32 | first;
}

/*
 * Two fields that stand side by side, `offset` bytes from the record's beginning, by one store. A
 * processor keeps few stores in flight, and fewer when a second thread shares it; none leaves while
 * the counter is being read.
 */
static HOT void put_pair(void *record, size_t offset, uint64_t pair)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    pair = pair << 32 | pair >> 32;
#endif
    memcpy((char *)record + offset, &pair, sizeof pair);
}

static HOT void put_head(void *record, cg_record_span span, unsigned form, unsigned flags,
                         uint64_t time)
{
    uint16_t number = (uint16_t)(span.reference >> SPAN_WIDTH);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t first = form | flags << 8 | (uint32_t)number << 16;
#else
    uint32_t first = form << 24 | flags << 16 | number;
#endif

    put_pair(record, 0, side_by_side(first, (uint32_t)span.reference));
    memcpy((char *)record + offsetof(slot, time), &time, sizeof time);
}

static HOT slot head_of(cg_record_span span, unsigned form, unsigned flags, uint64_t time)
{
    return (slot){(uint8_t)form, (uint8_t)flags, (uint16_t)(span.reference >> SPAN_WIDTH),
                  (uint32_t)span.reference, time};
}

/* For the calls that are not hot: where the record goes, its time yet to come; or NULL. */
static inline void *take_for(cg_record *session, lane *self, cg_record_span span, uint64_t bytes,
                             unsigned kind)
{
    if (!may_put(session, self, span, bytes, kind, WITH_CARE)) {
        return NULL;
    }
    slot *at = lane_head(self);
    *at = head_of(span, kind, 0, 0);
    return at;
}

/* No name, or a blank one, which has the top bit. */
static inline bool label_is_odd(cg_record_name label)
{
    return label - 1 >= UINT32_C(0x7fffffff);
}

#endif
