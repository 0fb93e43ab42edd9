/*
 * match_key - the gradients of a run against the parameters of a crate.
 *
 * A run names a gradient by a root and a key. Which builder of which component the keys of a root
 * belong to is chosen once, for all of them together: the one that has most of them, and of several
 * equal ones the one that JOIN_CHOICE_... tells. Keys that are left are tried with the next one (a
 * map of variables may serve several models). Where nothing decides, nothing is chosen, and the
 * keys stay ambiguous.
 */
#ifndef CG_JOIN_MATCH_KEY_H
#define CG_JOIN_MATCH_KEY_H

#include "join/declared.h"

typedef struct key_hit {
    uint32_t unit;
    uint32_t item;
} key_hit;

typedef struct matched_key {
    cg_str root, key;            /* of the run */
    uint32_t next;               /* of the same root */
    uint32_t hits_at, hit_count; /* all that fit: stretch of match_keys.hits */
    uint32_t item;               /* the parameter; DECLARED_NONE: none, or not known which */
    uint8_t rule;                /* JOIN_RULE_PARAMETER_... */
    bool is_in_manifest;
} matched_key;

typedef struct matched_root {
    cg_str root;
    uint32_t unit; /* DECLARED_NONE: nothing decides, or nothing fits */
    uint8_t choice;
    uint64_t keys; /* of the root, whatever they belong to */
    uint64_t matched;
} matched_root;

typedef struct match_keys {
    declared *from;          /* NULL: nothing to free */
    uint32_t asked;          /* component that was named; DECLARED_NONE: none */
    const bool *is_executed; /* by component: a function of it ran */
    VEC(matched_key) keys;   /* in the order of adding */
    intern root_names;
    VEC(uint32_t) first_of_root; /* by symbol - 1: the last key that was added */
    VEC(matched_root) roots;     /* one for each choice that was made */
    VEC(key_hit) hits;
} match_keys;

bool match_keys_init(match_keys *self, declared *from, uint32_t asked, const bool *is_executed,
                     uint64_t seed) CG_MUST;
void match_keys_free(match_keys *self);

/* Texts are borrowed. Each pair once; returns its index, UINT32_MAX when out of memory. */
uint32_t match_keys_add(match_keys *self, cg_str root, cg_str key, bool is_in_manifest);
/* Choose, once all keys were added. */
cg_code match_keys_choose(match_keys *self, cg_err *reterr) CG_MUST;

#endif
