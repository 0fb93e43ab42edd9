/*
 * arena - memory that lives as long as one document and is freed at once.
 *
 * Blocks are aligned for any object. Nothing is freed one by one; temporary
 * work takes a mark and resets to it. Every function that returns NULL or
 * false has run out of memory or reached the ceiling of the heap.
 */
#ifndef CG_BASE_ARENA_H
#define CG_BASE_ARENA_H

#include "base/heap.h"

typedef struct arena_block arena_block;

typedef struct arena {
    heap *heap;
    arena_block *last;
    char *at;
    char *end;
    arena_block *spare; /* kept by a reset for what is taken next */
} arena;

typedef struct arena_place {
    arena_block *block;
    char *at;
} arena_place;

void arena_init(arena *self, heap *heap);
void arena_free(arena *self);

/* Uninitialised bytes, aligned to 16. */
void *arena_take(arena *self, size_t size);
/* As arena_take, but without alignment: for bytes only. */
char *arena_bytes(arena *self, size_t size);
/* Zeroed. */
void *arena_zero(arena *self, size_t size);
/* Unaligned copy of text, NUL added behind it. Absent stays absent (ret->ptr NULL, true). */
bool arena_text(arena *self, cg_str text, cg_str *ret);
/*
 * Take over a block of the arena's heap, `size` bytes as it was asked for: it is freed with the
 * arena. The first ARENA_HEAD bytes are the arena's from now on, the others stay as they are.
 */
#define ARENA_HEAD ((size_t)32)
void arena_adopt(arena *self, void *block, size_t size);
/* Formatted text, in the arena. */
bool arena_format(arena *self, cg_str *ret, const char *format, ...) CG_PRINTF(3, 4);

/* A reset keeps one block of at most a megabyte for itself; arena_free gives back all. */
arena_place arena_mark(const arena *self);
void arena_reset(arena *self, arena_place place);

#endif
