#define CG_BANNED_EXEMPT
#include "base/banned.h"

#include "record/ring.h"

#include <errno.h>
#include <sys/mman.h>

#define ZERO_BYTES ((size_t)256 << 10)

size_t lane_mapped_bytes(uint64_t ring)
{
    return SPOOL_PAGE + (size_t)ring + WRAP_BYTES;
}

/* Page and ring, the ring's beginning once more behind it. */
static bool map_ring(lane *self, const rec_sys *sys, int file, uint64_t offset, uint64_t ring)
{
    size_t whole = lane_mapped_bytes(ring);
    char *at = sys->map(sys->context, NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int flags = MAP_SHARED | MAP_FIXED;

    if (at == MAP_FAILED) {
        return false;
    }
    if (sys->map(sys->context, at, SPOOL_PAGE + (size_t)ring, PROT_READ | PROT_WRITE, flags, file,
                 offset) == MAP_FAILED ||
        sys->map(sys->context, at + SPOOL_PAGE + ring, WRAP_BYTES, PROT_READ | PROT_WRITE, flags,
                 file, offset + SPOOL_PAGE) == MAP_FAILED) {
        int error = errno;

        munmap(at, whole);
        errno = error;
        return false;
    }
    self->page = (spool_lane *)(void *)at;
    self->ring = at + SPOOL_PAGE;
    self->mask = ring - 1;
    self->shared_head = &self->page->head;
    return true;
}

/* Touch every page for writing, so that recording does not fault. */
static void populate(lane *self)
{
#ifdef MADV_POPULATE_WRITE
    if (madvise(self->ring, (size_t)self->mask + 1 + WRAP_BYTES, MADV_POPULATE_WRITE) == 0) {
        return;
    }
#endif
    for (uint64_t at = 0; at <= self->mask + WRAP_BYTES; at += SPOOL_PAGE) {
        *(volatile char *)(self->ring + at) = 0;
    }
}

bool lane_make_anonymous(lane *self, cg_record *session, uint64_t ring_bytes)
{
    size_t whole = lane_mapped_bytes(ring_bytes);
    char *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED) {
        return false;
    }
    self->page = (spool_lane *)(void *)at;
    self->ring = at + SPOOL_PAGE;
    self->mask = ring_bytes - 1;
    self->shared_head = &self->page->head;
    self->stack_capacity = 32;
    self->stack = rec_take(self->stack_capacity * sizeof *self->stack);
    if (self->stack == NULL) {
        lane_unmap(self);
        return false;
    }
    self->stack[0] = ROOT_REFERENCE;
    self->number = 1;
    self->clock = session->clock;
    self->serial = atomic_load(&session->serial);
    atomic_store(&self->session, session);
    populate(self);
    return true;
}

void lane_unmap(lane *self)
{
    if (self->page != NULL) {
        munmap(self->page, lane_mapped_bytes(self->mask + 1));
        self->page = NULL;
    }
}

void lane_destroy(lane *self)
{
    lane_unmap(self);
    rec_free(self->stack);
    rec_free(self->stream.runs);
    rec_free(self);
}

/*
 * Zeros for a ring, in writes of middling size. A first store through the mapping costs the kernel
 * four times as much a page; one write of everything makes folios so large that populating them
 * page by page does.
 */
static int zero_ring(cg_record *session, uint64_t at, uint64_t ring)
{
    char *zeros = rec_take(ZERO_BYTES);
    int error = zeros == NULL ? ENOMEM : 0;

    for (uint64_t done = 0; done < ring && error == 0; done += ZERO_BYTES) {
        uint64_t left = ring - done;

        error = rec_write(session->sys, session->file, zeros,
                          left < ZERO_BYTES ? (size_t)left : ZERO_BYTES, at + done);
    }
    rec_free(zeros);
    return error;
}

int lane_make_extent(cg_record *session, lane *self)
{
    const rec_sys *sys = session->sys;
    uint64_t ring = session->ring_bytes;
    int error = 0;

    pthread_mutex_lock(&session->file_mutex);
    uint64_t at = (session->file_end + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE;
    /* Blocks are taken now: a full disk is an error here and not a signal at a store. */
    error = sys->allocate(sys->context, session->file, at, SPOOL_PAGE + ring);
    if (error == 0 && session->is_block_file) {
        error = zero_ring(session, at + SPOOL_PAGE, ring);
    }
    if (error == 0 && !map_ring(self, sys, session->file, at, ring)) {
        error = errno;
    }
    if (error == 0) {
        self->offset = at;
        self->page->extent = (spool_extent){.type = SPOOL_LANE_EXTENT,
                                            .lane = self->number,
                                            .bytes = ring,
                                            .magic = SPOOL_EXTENT_MAGIC};
        self->page->head = 0;
        atomic_signal_fence(memory_order_release);
        self->page->extent.self_sum = spool_extent_sum(&self->page->extent);
        session->file_end = at + SPOOL_PAGE + ring;
        populate(self);
    }
    pthread_mutex_unlock(&session->file_mutex);
    return error;
}
