/*
 * intern - every distinct text of a document once, as a 32-bit symbol.
 *
 * Symbols count from 1 in order of first appearance; 0 means absent. Two texts
 * are equal exactly when their symbols are. Texts are copied and live as long
 * as the table. The hash is seeded per table; no output depends on it.
 */
#ifndef CG_BASE_INTERN_H
#define CG_BASE_INTERN_H

#include "base/arena.h"
#include "base/vec.h"

typedef uint32_t sym;

/*
 * Ids are mostly a short prefix and a number (`s17`, `t204`): those go through
 * a page table per prefix instead of the hash, which keeps a large trace in
 * the cache. Which way a text goes depends only on the table's own history and
 * never changes for a text.
 */
#define INTERN_FAMILIES 32
#define INTERN_PREFIX   12

typedef struct intern_family {
    char prefix[INTERN_PREFIX];
    uint8_t prefix_len;
    VEC(sym *) pages; /* by number / 1024; NULL: none yet, see intern.c for refused pages */
} intern_family;

typedef struct intern_text {
    const char *ptr;
    uint32_t len;
    uint32_t hash;
} intern_text;

typedef struct intern {
    heap *heap;
    arena texts_arena;
    VEC(intern_text) texts; /* index = symbol; entry 0 is absent */
    uint64_t *slots;        /* hash in the upper, symbol in the lower half; 0 = free */
    size_t slot_count;
    size_t hashed_count; /* symbols found through slots */
    size_t page_count;
    uint64_t seed;
    uint32_t family_count;
    uint8_t family_by_first[256]; /* first byte of a prefix -> the family used last with it */
    intern_family families[INTERN_FAMILIES];
} intern;

bool intern_init(intern *self, heap *heap, uint64_t seed) CG_MUST;
void intern_free(intern *self);

/* The symbol of `text`, new if need be; 0 when out of memory. Absent text gives 0 too. */
sym intern_add(intern *self, cg_str text);
/* The symbol of `text`, 0 when it was never added. */
sym intern_find(const intern *self, cg_str text);

static inline cg_str intern_text_of(const intern *self, sym symbol)
{
    const intern_text *text = &self->texts.at[symbol];

    return (cg_str){text->ptr, text->len};
}

/* Number of symbols plus one: the size an array indexed by symbol needs. */
static inline size_t intern_count(const intern *self)
{
    return self->texts.count;
}

#endif
