/*
 * ring - the memory of a lane: a page about it, the ring, and the ring's beginning once more.
 */
#ifndef CG_RECORD_RING_H
#define CG_RECORD_RING_H

#include "record/lane.h"

/* In memory alone, for measuring. False: no memory. */
bool lane_make_anonymous(lane *self, cg_record *session, uint64_t ring_bytes);
/* As a page-aligned extent at the end of the spool, its blocks taken. 0 or the error. */
int lane_make_extent(cg_record *session, lane *self);
/* What is mapped for a ring of so many bytes. */
size_t lane_mapped_bytes(uint64_t ring);
void lane_unmap(lane *self);
/* Mapping, stack and the lane itself. */
void lane_destroy(lane *self);

#endif
