/*
 * pieces - a file whose bytes arrive a few at a time, as from a pipe.
 *
 *   pieces end = {text, 1 + size % 61};
 *   os_calls calls = {.context = &end, .read = pieces_read};
 *   os_file file = {.os = &calls, .handle = -1};
 */
#ifndef CG_FUZZ_PIECES_H
#define CG_FUZZ_PIECES_H

#include "base/os.h"

typedef struct pieces {
    cg_str rest;
    size_t most; /* bytes of one read */
} pieces;

static inline size_t pieces_take(pieces *self, void *to, size_t count)
{
    size_t taken = self->rest.len;

    if (taken > self->most)
        taken = self->most;
    if (taken > count)
        taken = count;
    if (taken > 0)
        memcpy(to, self->rest.ptr, taken);
    self->rest.ptr += taken;
    self->rest.len -= taken;
    return taken;
}

static inline int64_t pieces_read(void *context, int file, void *to, size_t count)
{
    (void)file;
    return (int64_t)pieces_take(context, to, count);
}

#endif
