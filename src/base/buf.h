/*
 * buf - a growing byte buffer that is told its ceiling when it is born.
 *
 * The first failed addition is remembered (`failed`), later ones do nothing:
 * check once, at the end.
 */
#ifndef CG_BASE_BUF_H
#define CG_BASE_BUF_H

#include "base/heap.h"

typedef struct buf {
    heap *heap;
    char *at;
    size_t len;
    size_t capacity;
    size_t ceiling;
    bool failed;
} buf;

void buf_init(buf *self, heap *heap, size_t ceiling);
void buf_free(buf *self);
void buf_clear(buf *self);
void buf_add(buf *self, cg_str text);
void buf_byte(buf *self, char byte);
void buf_addf(buf *self, const char *format, ...) CG_PRINTF(2, 3);
void buf_fill(buf *self, char byte, size_t count);
/* Room for `count` more bytes at buf.at + buf.len, or NULL. */
char *buf_room(buf *self, size_t count);
static inline cg_str buf_text(const buf *self)
{
    return (cg_str){self->at != NULL ? self->at : "", self->len};
}

#endif
