/*
 * heap - where the memory of one document comes from.
 *
 * A heap is an allocator, a running total and a ceiling. Everything of a
 * document - arenas, vectors, maps - draws from its heap, so a ceiling holds
 * for the whole document and a failing allocator is felt everywhere.
 */
#ifndef CG_BASE_HEAP_H
#define CG_BASE_HEAP_H

#include "base/err.h"

typedef struct heap {
    cg_allocator allocator;
    uint64_t used_bytes;
    uint64_t peak_bytes;
    uint64_t ceiling_bytes;
    bool is_short; /* a request was refused since heap_init: documents made since lack something */
} heap;

/* env may be NULL: malloc and the default ceiling. */
void heap_init(heap *self, const cg_env *env);

/* As cg_allocator.resize, counted. NULL when refused; the block stays valid. */
void *heap_resize(heap *self, void *block, size_t old_size, size_t new_size);
/* Give back the object of `size` bytes that `self` is a part of. */
void heap_release(const heap *self, void *object, size_t size);

/* The ceiling named by `limit` (CG_LIMIT_...), from env or the default. */
uint64_t limit_of(const cg_env *env, unsigned limit);
/* Find a limit by its option word; -1 when there is none. */
int limit_find(cg_str word);
void limits_default(cg_limits *ret);

/* Call env->progress if there is one; false means stop. */
bool env_progress(const cg_env *env, const char *stage, uint64_t done, uint64_t total);

#endif
