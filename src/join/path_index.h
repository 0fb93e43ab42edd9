/*
 * path_index - from the name of a layer, a parameter or a function to what the source calls so.
 *
 * Names are compared as paths: `.`, `/` and `::` part their segments and are equal. A text that
 * was put in may hold placeholders (`layers.{i}.weight`); each stands for one decimal number
 * without leading zeros, and equal placeholders for equal numbers. A name that has the same
 * placeholder in its place fits too: its number is not known.
 *
 *   CG_TRY(path_index_add(&index, text, value, ...));        any number of times
 *   path_index_find(&index, name, &found);                   all that fit, exact ones alone
 *
 * A look-up costs the length of the name and the number of texts that fit.
 */
#ifndef CG_JOIN_PATH_INDEX_H
#define CG_JOIN_PATH_INDEX_H

#include "base/buf.h"
#include "base/intern.h"

typedef struct path_entry {
    cg_str text; /* the canonical form */
    uint32_t value;
    uint32_t next; /* of one text; UINT32_MAX: the last */
} path_entry;

typedef struct path_index {
    heap *heap;
    intern texts;  /* as they are */
    intern shapes; /* of texts with placeholders: numbers and placeholders as one byte */
    VEC(path_entry) entries;
    VEC(uint32_t) first_of_text; /* by symbol */
    VEC(uint32_t) first_of_shape;
    buf room, shape;
} path_index;

/* What fits a name, in the order of adding. */
typedef struct path_hits {
    VEC(uint32_t) values;
    bool is_template; /* they have placeholders */
} path_hits;

bool path_index_init(path_index *self, heap *from, uint64_t seed) CG_MUST;
void path_index_free(path_index *self);

/* An empty text is nobody's name and is left out. false: no memory. */
bool path_index_add(path_index *self, cg_str text, uint32_t value) CG_MUST;
/* `hits` is emptied first; a name that fits nothing leaves it empty. */
bool path_index_find(path_index *self, cg_str name, path_hits *hits) CG_MUST;
void path_hits_free(heap *from, path_hits *self);

#endif
