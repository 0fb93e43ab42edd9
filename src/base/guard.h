/*
 * guard - memory for code of others that cannot be refused any.
 *
 *   guard self = {0};
 *   if (!guard_run(&self, work, context))     no memory: `work` was left where it asked
 *       return err_nomem(reterr);
 *   ...                                       again, with what earlier runs left
 *   guard_end(&self);
 *
 * tree-sitter does not look at what its allocator gives. It is compiled to ask the functions below,
 * which know the guard that runs on this thread. When memory lacks they leave `work` by a jump: all
 * blocks of the guard are given back, and nothing that was made in it may be used any more. What
 * `work` holds besides has to be reachable through its context. Guards are not run inside of each
 * other.
 *
 * Small blocks are cut from regions and found again by their size: a parse asks for a hundred
 * thousand of them, and they cost less than malloc's. Regions are given back by guard_end alone.
 */
#ifndef CG_BASE_GUARD_H
#define CG_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_SIZES 32u /* of small blocks: multiples of 16 */

typedef struct guard_block {
    struct guard *owner; /* NULL: asked for without a guard */
    size_t size;         /* bytes behind this; of a small block as many as there are */
} guard_block;

typedef struct guard_spare { /* a small block that was given back */
    struct guard_spare *next;
} guard_spare;

typedef struct guard_ring {
    struct guard_ring *previous;
    struct guard_ring *next;
} guard_ring;

/* Zero is a guard without blocks. It must not be moved between its first run and its end. */
typedef struct guard {
    guard_ring blocks; /* regions and large blocks */
    guard_spare *spares[GUARD_SIZES + 1];
    char *at; /* of the last region */
    char *end;
    size_t region; /* bytes of the next one */
} guard;

/* false: memory lacked, and the guard has no blocks any more. */
bool guard_run(guard *self, void (*work)(void *context), void *context);
/* Give back all that was asked for and not given back. */
void guard_end(guard *self);

/* As those of the C library, but that they never give NULL; without a guard the program ends. */
void *guard_malloc(size_t size);
void *guard_calloc(size_t count, size_t size);
void *guard_realloc(void *block, size_t size);
void guard_free(void *block);

#endif
