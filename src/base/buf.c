#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#define BUF_FIRST_SIZE ((size_t)256)

void buf_init(buf *self, heap *from, size_t ceiling)
{
    *self = (buf){.heap = from, .ceiling = ceiling};
}

void buf_free(buf *self)
{
    heap_resize(self->heap, self->at, self->capacity, 0);
    self->at = NULL;
    self->len = 0;
    self->capacity = 0;
}

void buf_clear(buf *self)
{
    self->len = 0;
    self->failed = false;
}

char *buf_room(buf *self, size_t count)
{
    size_t need;
    size_t wanted;
    char *moved;

    if (self->failed)
        return NULL;
    /* One byte more than the ceiling: the NUL that vsnprintf cannot be kept from writing. */
    if (self->len > self->ceiling || count > self->ceiling - self->len ||
        self->len + count >= SIZE_MAX / 2) {
        self->failed = true;
        return NULL;
    }
    need = self->len + count + 1;
    if (need <= self->capacity)
        return self->at + self->len;
    wanted = self->capacity + self->capacity / 2;
    if (wanted < BUF_FIRST_SIZE)
        wanted = BUF_FIRST_SIZE;
    if (wanted > self->ceiling)
        wanted = self->ceiling + 1;
    if (wanted < need)
        wanted = need;
    moved = heap_resize(self->heap, self->at, self->capacity, wanted);
    if (moved == NULL) {
        self->failed = true;
        return NULL;
    }
    self->at = moved;
    self->capacity = wanted;
    return self->at + self->len;
}

void buf_add(buf *self, cg_str text)
{
    char *room;

    if (text.len == 0)
        return;
    room = buf_room(self, text.len);
    if (room == NULL)
        return;
    memcpy(room, text.ptr, text.len);
    self->len += text.len;
}

void buf_byte(buf *self, char byte)
{
    buf_fill(self, byte, 1);
}

void buf_fill(buf *self, char byte, size_t count)
{
    char *room = buf_room(self, count);

    if (room == NULL)
        return;
    memset(room, byte, count);
    self->len += count;
}

void buf_addf(buf *self, const char *format, ...)
{
    va_list arguments;
    char *room;
    int len;

    if (self->failed)
        return;
    va_start(arguments, format);
    len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (len < 0) {
        self->failed = true;
        return;
    }
    room = buf_room(self, (size_t)len);
    if (room == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(room, (size_t)len + 1, format, arguments);
    va_end(arguments);
    self->len += (size_t)len;
}
