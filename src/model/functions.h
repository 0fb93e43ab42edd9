/*
 * functions - the functions of the scanned crate as model/1 lists them: who they are, what they
 * call, and which of them people enter a model by.
 */
#ifndef CG_MODEL_FUNCTIONS_H
#define CG_MODEL_FUNCTIONS_H

#include "model/draft.h"
#include "model/types.h"

typedef struct function_fact {
    item_ref item;
    cg_str id;
    cg_str name;
    cg_str qualified;
    cg_str owner;   /* qualified name of the type it belongs to; absent for a free one */
    cg_str spelled; /* as findings name it: `Type::name`, `name` */
    /* Is it followed by itself? As the record says, and in a program, where `pub` says nothing of
     * who calls it, everything that has to do with tensors. */
    bool is_entrypoint;
    bool is_loss;
    bool has_tensor; /* among parameters and result */
    bool makes;      /* a VarMap or a VarBuilder, itself */
    model_function *record;
} function_fact;

typedef struct function_facts {
    heap *heap;
    VEC(function_fact) all;
    uint32_t *by_item; /* index + 1; 0: not a listed function */
    size_t item_count;
} function_facts;

/* List every function with a body, into `draft`. root: as extract_options.root, absent for none. */
cg_code functions_list(types *known, model_draft *draft, cg_str root, function_facts *ret,
                       cg_err *reterr) CG_MUST;
void functions_free(function_facts *self);

/* The fact of an item, NULL when it is not listed. */
const function_fact *function_of(const function_facts *self, item_ref item);

#endif
