/*
 * event_ids - the ids of the records of a run, each once.
 *
 * Millions of ids are a few beginnings and a number (`train-op-3-17`): an id is kept as the two,
 * and two ids are equal exactly when both are. Numbers that follow each other lie beside each
 * other, so that a stream of them stays in the cache.
 */
#ifndef CG_MODEL_EVENT_IDS_H
#define CG_MODEL_EVENT_IDS_H

#include "base/buf.h"
#include "base/intern.h"

typedef struct event_id {
    uint64_t number; /* EVENT_NO_NUMBER: it is the beginning alone */
    sym beginning;
} event_id;

#define EVENT_NO_NUMBER UINT64_MAX
#define EVENT_KNOWN     UINT32_MAX
#define EVENT_RECENT    8u /* beginnings that are looked at before the table */

/* Which of 64 numbers in a row are there. */
typedef struct event_block {
    uint64_t block;
    uint64_t bits;
    sym beginning; /* 0: free */
} event_block;

/* A beginning that came a moment ago, and the block its last number was in. */
typedef struct event_recent {
    cg_str text;
    sym beginning; /* 0: none */
    uint64_t block;
    size_t at; /* in blocks */
} event_recent;

typedef struct event_ids {
    heap *heap;
    intern beginnings;
    VEC(event_id) ids; /* entry 0 is none */
    event_block *blocks;
    size_t block_room; /* a power of two */
    size_t block_count;
    uint64_t seed;
    event_recent recent[EVENT_RECENT];
    uint32_t next_recent;
} event_ids;

bool event_ids_init(event_ids *self, heap *from, uint64_t seed) CG_MUST;
void event_ids_free(event_ids *self);

/* The number of the id, from 1; EVENT_KNOWN: it was there already. 0: out of memory. */
uint32_t event_ids_add(event_ids *self, cg_str text) CG_MUST;
/* Its text, at the end of `to`. */
void event_ids_say(const event_ids *self, uint32_t id, buf *to);
/* Bytewise order of two texts. */
int event_ids_compare(const event_ids *self, uint32_t a, uint32_t b);

#endif
