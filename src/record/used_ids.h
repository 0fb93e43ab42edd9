/*
 * used_ids - the ids of a runtime trace that is being written, each of which is used once.
 *
 * A zeroed structure is empty. Ids are copied; looking one up is a step or two, however many.
 */
#ifndef CG_RECORD_USED_IDS_H
#define CG_RECORD_USED_IDS_H

#include "record/json.h"

typedef struct known_id {
    uint64_t hash; /* 0: free */
    size_t at, len;
} known_id;

typedef struct used_ids {
    known_id *table; /* open addressing */
    size_t count, capacity;
    rec_text texts;
} used_ids;

enum used_id { USED_ID_NEW, USED_ID_AGAIN, USED_ID_NO_MEMORY };

/* Take an id for good; without memory nothing is taken. */
enum used_id used_ids_add(used_ids *self, cg_str id);
void used_ids_free(used_ids *self);

#endif
