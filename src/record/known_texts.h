/*
 * known_texts - texts that were seen, each with a number.
 *
 *   known_text *entry = known_texts_put(&known, text, &is_new);       NULL: no memory
 *   if (is_new)
 *       entry->number = ...;
 *
 * A zeroed structure is empty. Texts are copied, may be any bytes, and stay until the end; looking
 * one up is a step or two, however many there are. An entry is lent until the next put.
 */
#ifndef CG_RECORD_KNOWN_TEXTS_H
#define CG_RECORD_KNOWN_TEXTS_H

#include "record/json.h"

typedef struct known_text {
    uint64_t hash; /* 0: free */
    size_t at, len;
    uint32_t number; /* 0 until the caller says otherwise */
} known_text;

typedef struct known_texts {
    known_text *table; /* open addressing */
    size_t count, capacity;
    rec_text texts;
} known_texts;

/* The entry of a text, made when it is new; NULL without memory, and nothing is new then. */
known_text *known_texts_put(known_texts *self, cg_str text, bool *ret_is_new);
/* As if the last put, which was of a new text, had not been. */
void known_texts_take_back(known_texts *self, known_text *entry);
void known_texts_free(known_texts *self);

#endif
