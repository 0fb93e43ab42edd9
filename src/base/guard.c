/* CG_BANNED_EXEMPT: what it gives has to outlive no document, and is found again by its ring. */
#include "base/guard.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#undef malloc
#undef realloc
#undef free

/* More than any block can have. */
#define MOST (PTRDIFF_MAX - sizeof(guard_block))

typedef struct running {
    guard *guard;
    jmp_buf out;
} running;

/* An allocator of tree-sitter has no context: which guard it is for follows from the thread. */
static _Thread_local running *guard_now;

_Static_assert(sizeof(guard_block) % _Alignof(max_align_t) == 0, "blocks lie well behind it");

static _Noreturn void leave(void)
{
    if (guard_now == NULL)
        abort();
    longjmp(guard_now->out, 1);
}

static void *enter(guard_block *block)
{
    guard_block *first = &guard_now->guard->blocks;

    block->previous = first;
    block->next = first->next;
    first->next->previous = block;
    first->next = block;
    return block + 1;
}

static void *taken(guard_block *block)
{
    if (block == NULL)
        leave();
    if (guard_now != NULL)
        return enter(block);
    *block = (guard_block){block, block};
    return block + 1;
}

void *guard_malloc(size_t size)
{
    if (size > MOST)
        leave();
    return taken(malloc(sizeof(guard_block) + size));
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

void *guard_realloc(void *block, size_t size)
{
    guard_block *old;
    guard_block *moved;
    bool is_alone;

    if (block == NULL)
        return guard_malloc(size);
    old = (guard_block *)block - 1;
    if (size > MOST)
        leave();
    is_alone = old->next == old;
    /* Where it fails the old block is still in the ring. */
    moved = realloc(old, sizeof *moved + size);
    if (moved == NULL)
        leave();
    if (is_alone) {
        *moved = (guard_block){moved, moved};
        return moved + 1;
    }
    moved->previous->next = moved;
    moved->next->previous = moved;
    return moved + 1;
}

void guard_free(void *block)
{
    guard_block *self;

    if (block == NULL)
        return;
    self = (guard_block *)block - 1;
    self->previous->next = self->next;
    self->next->previous = self->previous;
    free(self);
}

bool guard_run(guard *self, void (*work)(void *context), void *context)
{
    running here = {.guard = self};

    if (self->blocks.next == NULL)
        self->blocks = (guard_block){&self->blocks, &self->blocks};
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
    while (self->blocks.next != NULL && self->blocks.next != &self->blocks)
        guard_free(self->blocks.next + 1);
}
