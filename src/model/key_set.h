/*
 * key_set - parameters by builder root and key, in order, each once: for the objects of findings.
 */
#ifndef CG_MODEL_KEY_SET_H
#define CG_MODEL_KEY_SET_H

#include "model/draft.h"
#include "model/extract.h"

typedef struct key_entry {
    cg_str root;
    cg_str key;
    uint32_t component; /* in the extraction */
    uint32_t parameter;
} key_entry;

typedef struct key_set {
    heap *heap;
    VEC(key_entry) at;
} key_set;

/* The parameter of a component; false: out of memory. */
bool key_set_add(key_set *self, const extraction *of, size_t component, size_t parameter) CG_MUST;
/* In order, each once. */
bool key_set_sort(key_set *self) CG_MUST;
/* Of a sorted set. */
bool key_set_has(const key_set *self, cg_str root, cg_str key);
/* The object of a finding: root -> keys. */
bool key_set_write(const key_set *self, model_draft *draft, sc_records *groups) CG_MUST;
/* Ids of the parameters, at the end of `list`. */
bool key_set_ids(const key_set *self, const extraction *of, model_draft *draft,
                 sc_strs *list) CG_MUST;
void key_set_free(key_set *self);

#endif
