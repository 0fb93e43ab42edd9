/* CG_BANNED_EXEMPT: what it gives has to outlive no document, and is found again by its ring. */
#include "base/guard.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#undef malloc
#undef realloc
#undef free

#define UNIT         ((size_t)16) /* sizes of small blocks are multiples of it */
#define REGION_FIRST ((size_t)16 << 10)
#define REGION_LAST  ((size_t)64 << 10) /* what malloc has of its own, and uses again */
#define MOST         (PTRDIFF_MAX - sizeof(large_block)) /* bytes of a block */

/* A tool that watches every block has to see every block. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_WATCHED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_WATCHED true
#endif
#endif
#ifndef IS_WATCHED
#define IS_WATCHED false
#endif

typedef struct large_block {
    guard_ring ring;
    guard_block head;
} large_block;

typedef struct running {
    guard *guard;
    jmp_buf out;
} running;

/* An allocator of tree-sitter has no context: which guard it is for follows from the thread. */
static _Thread_local running *guard_now;

_Static_assert(sizeof(guard_block) % _Alignof(max_align_t) == 0, "blocks lie well behind it");
_Static_assert(sizeof(large_block) % _Alignof(max_align_t) == 0, "blocks lie well behind it");
_Static_assert(sizeof(guard_ring) % UNIT == 0, "and in regions");
_Static_assert(sizeof(guard_spare) <= UNIT, "the smallest block has room for it");

static _Noreturn void leave(void)
{
    if (guard_now == NULL)
        abort();
    longjmp(guard_now->out, 1);
}

static void enter(guard *self, guard_ring *block)
{
    block->previous = &self->blocks;
    block->next = self->blocks.next;
    block->next->previous = block;
    self->blocks.next = block;
}

static bool is_small(size_t size)
{
    return size <= GUARD_SIZES * UNIT && !IS_WATCHED;
}

/* --- small blocks --- */

static void *from_region(guard *self, size_t size)
{
    size_t wanted = sizeof(guard_block) + size;
    guard_block *block;

    if ((size_t)(self->end - self->at) < wanted) {
        guard_ring *region;

        self->region = self->region == 0            ? REGION_FIRST
                       : self->region < REGION_LAST ? self->region * 2
                                                    : REGION_LAST;
        region = malloc(self->region);
        if (region == NULL)
            leave();
        enter(self, region);
        self->at = (char *)(region + 1);
        self->end = (char *)region + self->region;
    }
    block = (guard_block *)(void *)self->at;
    self->at += wanted;
    *block = (guard_block){self, size};
    return block + 1;
}

static void *small_block(guard *self, size_t size)
{
    size_t units = size == 0 ? 1 : (size + UNIT - 1) / UNIT;
    guard_spare *spare = self->spares[units];

    if (spare == NULL)
        return from_region(self, units * UNIT);
    self->spares[units] = spare->next;
    return spare;
}

/* --- any --- */

static void *large_block_for(guard *self, size_t size)
{
    large_block *block;

    if (size > MOST)
        leave();
    block = malloc(sizeof *block + size);
    if (block == NULL)
        leave();
    block->head = (guard_block){self, size};
    enter(self, &block->ring);
    return block + 1;
}

static void *block_for(guard *self, size_t size)
{
    return is_small(size) ? small_block(self, size) : large_block_for(self, size);
}

/* `head` is that of the block before, or NULL. */
static void *block_alone(guard_block *head, size_t size)
{
    guard_block *block = size > MOST ? NULL : realloc(head, sizeof *block + size);

    if (block == NULL)
        leave();
    *block = (guard_block){NULL, size};
    return block + 1;
}

void *guard_malloc(size_t size)
{
    return guard_now == NULL ? block_alone(NULL, size) : block_for(guard_now->guard, size);
}

void *guard_calloc(size_t count, size_t size)
{
    void *block;

    if (size != 0 && count > SIZE_MAX / size)
        leave();
    block = guard_malloc(count * size);
    memset(block, 0, count * size);
    return block;
}

static void *resize_large(guard_block *head, size_t size)
{
    large_block *old = (large_block *)(void *)((char *)(head + 1) - sizeof *old);
    large_block *moved;

    if (size > MOST)
        leave();
    /* Where it fails the old block is still in the ring. */
    moved = realloc(old, sizeof *moved + size);
    if (moved == NULL)
        leave();
    moved->head.size = size;
    moved->ring.previous->next = &moved->ring;
    moved->ring.next->previous = &moved->ring;
    return moved + 1;
}

void *guard_realloc(void *block, size_t size)
{
    guard_block *head;
    void *moved;

    if (block == NULL)
        return guard_malloc(size);
    head = (guard_block *)block - 1;
    if (head->owner == NULL)
        return block_alone(head, size);
    if (!is_small(head->size) && !is_small(size))
        return resize_large(head, size);
    if (size <= head->size)
        return block;
    moved = block_for(head->owner, size);
    memcpy(moved, block, head->size);
    guard_free(block);
    return moved;
}

void guard_free(void *block)
{
    guard_block *head;

    if (block == NULL)
        return;
    head = (guard_block *)block - 1;
    if (head->owner == NULL) {
        free(head);
    } else if (is_small(head->size)) {
        guard_spare **list = &head->owner->spares[head->size / UNIT];
        guard_spare *spare = block;

        spare->next = *list;
        *list = spare;
    } else {
        large_block *large = (large_block *)(void *)((char *)block - sizeof *large);

        large->ring.previous->next = large->ring.next;
        large->ring.next->previous = large->ring.previous;
        free(large);
    }
}

bool guard_run(guard *self, void (*work)(void *context), void *context)
{
    running here = {.guard = self};

    if (self->blocks.next == NULL)
        self->blocks = (guard_ring){&self->blocks, &self->blocks};
    guard_now = &here;
    if (setjmp(here.out) != 0) {
        guard_now = NULL;
        guard_end(self);
        return false;
    }
    work(context);
    guard_now = NULL;
    return true;
}

void guard_end(guard *self)
{
    while (self->blocks.next != NULL && self->blocks.next != &self->blocks) {
        guard_ring *first = self->blocks.next;

        self->blocks.next = first->next;
        free(first);
    }
    *self = (guard){0};
}
