/*
 * runtime_keys - which parameters of a model a key of a run is: by its text, or by a family.
 *
 * A key of a family has holes for numbers (`layers.{i}.weight`). A hole stands for a number without
 * leading zeros, holes of one name for the same one. A parameter with exactly the key goes before
 * families.
 */
#ifndef CG_MODEL_RUNTIME_KEYS_H
#define CG_MODEL_RUNTIME_KEYS_H

#include "base/vec.h"
#include "model/document.h"

typedef struct runtime_key {
    cg_str root;
    cg_str text;        /* the key; of a family its form */
    cg_str pattern;     /* of a family the key, else absent */
    uint32_t parameter; /* position in the document */
} runtime_key;

typedef struct runtime_keys {
    runtime_key *plain; /* by root and text */
    size_t plain_count;
    runtime_key *families;
    size_t family_count;
} runtime_keys;

typedef VEC(uint32_t) runtime_key_list;

/* Borrows the document; what it makes lives in `mem`. false: out of memory. */
bool runtime_keys_make(arena *mem, const model_doc *doc, runtime_keys *ret) CG_MUST;
/* Positions of the parameters, in the order of the document. false: out of memory. */
bool runtime_keys_find(const runtime_keys *self, arena *mem, cg_str root, cg_str key,
                       runtime_key_list *ret) CG_MUST;
/* Does the key belong to the family? */
bool runtime_key_matches(cg_str pattern, cg_str key);

#endif
