#include "base/arena.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/num.h"

#define ARENA_FIRST_BLOCK ((size_t)4096)
#define ARENA_LAST_BLOCK  ((size_t)1 << 20)
#define ARENA_ALIGN       ((size_t)16)

/*
 * A large request gets a block of its own and leaves the current block in
 * use. `current` is the block that small requests come from while this block
 * is the last one, so that a reset knows where to go on.
 */
struct arena_block {
    _Alignas(16) arena_block *previous; /* what follows the header keeps the alignment */
    arena_block *current;
    size_t size; /* with this header */
};

void arena_init(arena *self, heap *from)
{
    *self = (arena){.heap = from};
}

void arena_free(arena *self)
{
    arena_reset(self, (arena_place){NULL, NULL});
    if (self->spare != NULL)
        heap_resize(self->heap, self->spare, self->spare->size, 0);
    self->spare = NULL;
}

/* Bytes that the pointer must advance to be aligned. */
static size_t arena_gap(const char *at)
{
    return (size_t)(-(uintptr_t)at & (ARENA_ALIGN - 1));
}

/* The block that a reset has kept, for `size` bytes and more. */
static char *use_spare(arena *self, size_t size)
{
    arena_block *block = self->spare;

    self->spare = NULL;
    block->previous = self->last;
    self->last = block;
    self->at = (char *)(block + 1) + size;
    self->end = (char *)block + block->size;
    return (char *)(block + 1);
}

/* Room for `size` bytes (aligned) that the current block has no room for. */
static char *arena_grow(arena *self, size_t size)
{
    arena_block *current = self->last == NULL ? NULL : self->last->current;
    size_t block_size = ARENA_FIRST_BLOCK;
    arena_block *block;
    bool is_large;

    if (self->spare != NULL && size <= self->spare->size / 2)
        return use_spare(self, size);
    if (current != NULL)
        block_size = current->size < ARENA_LAST_BLOCK / 2 ? current->size * 2 : ARENA_LAST_BLOCK;
    is_large = size > block_size / 2;
    if (is_large && !num_add(size, sizeof *block, &block_size))
        return NULL;
    block = heap_resize(self->heap, NULL, 0, block_size);
    if (block == NULL)
        return NULL;
    *block = (arena_block){.previous = self->last, .current = block, .size = block_size};
    self->last = block;
    if (is_large && current != NULL) {
        block->current = current;
        return (char *)(block + 1);
    }
    self->at = (char *)(block + 1) + size;
    self->end = (char *)block + block_size;
    return (char *)(block + 1);
}

_Static_assert(sizeof(arena_block) == ARENA_HEAD, "a block that is adopted has room for it");

void arena_adopt(arena *self, void *block, size_t size)
{
    arena_block *head = block;

    *head = (arena_block){.previous = self->last, .current = head, .size = size};
    if (self->last != NULL)
        head->current = self->last->current;
    self->last = head;
}

void *arena_take(arena *self, size_t size)
{
    size_t gap = arena_gap(self->at);
    size_t room = (size_t)(self->end - self->at);

    if (self->at != NULL && gap <= room && size <= room - gap) {
        char *at = self->at + gap;

        self->at = at + size;
        return at;
    }
    return arena_grow(self, size);
}

char *arena_bytes(arena *self, size_t size)
{
    if (self->at != NULL && size <= (size_t)(self->end - self->at)) {
        char *at = self->at;

        self->at = at + size;
        return at;
    }
    return arena_grow(self, size);
}

void *arena_zero(arena *self, size_t size)
{
    void *bytes = arena_take(self, size);

    if (bytes != NULL)
        memset(bytes, 0, size);
    return bytes;
}

bool arena_text(arena *self, cg_str text, cg_str *ret)
{
    size_t size;
    char *copy;

    if (text.ptr == NULL) {
        *ret = (cg_str){NULL, 0};
        return true;
    }
    if (!num_add(text.len, 1, &size))
        return false;
    copy = arena_bytes(self, size);
    if (copy == NULL)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *ret = (cg_str){copy, text.len};
    return true;
}

/* What a conversion writes, and how many bytes of the format it takes; 0: another conversion. */
static size_t convert(const char *format, va_list *arguments, char *digits, cg_str *ret)
{
    if (format[1] == 's') {
        *ret = str_from(va_arg(*arguments, const char *));
        return ret->ptr != NULL ? 2 : 0;
    }
    if (strncmp(format, "%.*s", 4) == 0) {
        int most = va_arg(*arguments, int);
        const char *text = va_arg(*arguments, const char *);

        if (most < 0 || (text == NULL && most > 0))
            return 0;
        *ret = (cg_str){text, most > 0 ? strnlen(text, (size_t)most) : 0};
        return 4;
    }
    ret->ptr = digits;
    if (format[1] == 'u') {
        ret->len = num_write_u64(digits, va_arg(*arguments, unsigned));
        return 2;
    }
    if (strncmp(format, "%llu", 4) == 0) {
        ret->len = num_write_u64(digits, va_arg(*arguments, unsigned long long));
        return 4;
    }
    return 0;
}

/*
 * As vsnprintf for the conversions that nearly all formats are made of, in a fifth of the time;
 * -1 when there is another one. Nothing is written behind `room`, and no NUL.
 */
static int format_few(char *out, size_t room, const char *format, va_list *arguments)
{
    char digits[NUM_U64_ROOM];
    size_t len = 0;

    while (*format != '\0') {
        cg_str part = {format, strcspn(format, "%")};
        size_t taken = part.len;

        if (taken == 0)
            taken = convert(format, arguments, digits, &part);
        if (taken == 0)
            return -1;
        format += taken;
        if (part.len > 0 && part.len <= room && len <= room - part.len)
            memcpy(out + len, part.ptr, part.len);
        if (part.len > INT_MAX / 2 || len > INT_MAX / 2)
            return -1;
        len += part.len;
    }
    return (int)len;
}

bool arena_format(arena *self, cg_str *ret, const char *format, ...)
{
    size_t room = self->at != NULL ? (size_t)(self->end - self->at) : 0;
    va_list arguments;
    char *text;
    int len;

    /* Most texts fit where the next one would lie. */
    va_start(arguments, format);
    len = format_few(self->at, room, format, &arguments);
    va_end(arguments);
    if (len >= 0 && (size_t)len < room) {
        self->at[len] = '\0';
    } else {
        va_start(arguments, format);
        len = vsnprintf(room > 0 ? self->at : NULL, room, format, arguments);
        va_end(arguments);
    }
    if (len < 0)
        return false;
    if ((size_t)len < room) {
        *ret = (cg_str){self->at, (size_t)len};
        self->at += len + 1;
        return true;
    }
    text = arena_bytes(self, (size_t)len + 1);
    if (text == NULL)
        return false;
    va_start(arguments, format);
    vsnprintf(text, (size_t)len + 1, format, arguments);
    va_end(arguments);
    *ret = (cg_str){text, (size_t)len};
    return true;
}

arena_place arena_mark(const arena *self)
{
    return (arena_place){self->last, self->at};
}

void arena_reset(arena *self, arena_place place)
{
    while (self->last != place.block) {
        arena_block *block = self->last;

        self->last = block->previous;
        if (block->current == block && block->size <= ARENA_LAST_BLOCK &&
            (self->spare == NULL || self->spare->size < block->size)) {
            arena_block *smaller = self->spare;

            self->spare = block;
            block = smaller;
        }
        if (block != NULL)
            heap_resize(self->heap, block, block->size, 0);
    }
    self->at = place.at;
    self->end =
        place.block == NULL ? NULL : (char *)place.block->current + place.block->current->size;
}
