#include "support/memory.h"

#include <stdlib.h>

void *memory_resize(void *context, void *block, size_t old_size, size_t new_size)
{
    memory *self = context;
    void *moved;

    if (new_size == 0) {
        free(block);
        self->live_bytes -= old_size;
        return NULL;
    }
    self->requests++;
    if (self->fail_at != 0 &&
        (self->is_once ? self->requests == self->fail_at : self->requests >= self->fail_at))
        return NULL;
    moved = realloc(block, new_size);
    if (moved != NULL)
        self->live_bytes += new_size - old_size;
    return moved;
}
