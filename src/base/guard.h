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
 */
#ifndef CG_BASE_GUARD_H
#define CG_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct guard_block {
    struct guard_block *previous;
    struct guard_block *next;
} guard_block;

/* Zero is a guard without blocks. It must not be moved between its first run and its end. */
typedef struct guard {
    guard_block blocks; /* a ring */
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
