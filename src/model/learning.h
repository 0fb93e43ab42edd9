/*
 * learning - what every entry does for the parameters of its model: who gets a gradient, and which
 * call takes it from the others.
 *
 * A reader of entries (model/entry). Facts only; model/gradient_cut and model/usage say what they
 * mean.
 */
#ifndef CG_MODEL_LEARNING_H
#define CG_MODEL_LEARNING_H

#include "model/entry.h"

enum learning_state {
    LEARNING_APART, /* no way to the goals */
    LEARNING_LOST,  /* every way is cut */
    LEARNING_MAYBE, /* all ways depend on how a tensor lies in memory */
    LEARNING_GETS,  /* a gradient */
};

/* A call without a backward step on a way from parameters to the goals of an entry. */
typedef struct learning_cut {
    uint32_t entry;
    model_place place;
    model_place inside; /* of a call in a dependency: where it stands; file 0: in none */
    cg_str operation;   /* canonical path */
    const char *condition;
    const char *alternative; /* NULL: none */
    bool is_conditional;     /* the call stands under a condition */
    cg_str under;            /* that one, as the source has it; absent: it has no text */
    bool is_proven;          /* `keys` are lost for sure */
    bool stops;              /* backward fails here */
    const uint32_t *keys;    /* parameters of the component that are lost here first; may be none */
    size_t key_count;
} learning_cut;

typedef struct learning_entry {
    const function_fact *function;
    size_t component; /* in the extraction; SIZE_MAX: none */
    uint8_t phases;
    bool is_loss, is_cut;
    bool is_maker;         /* see entry_run: it knows of no parameters but its own */
    bool has_outputs;      /* tensors come back, or something is learned from */
    const uint8_t *states; /* by parameter of the component: enum learning_state */
    const bool *is_used; /* by parameter: it reaches an output, goal or the host, gradient or not */
    const bool *is_touched; /* by parameter: something was computed with it */
    const bool *is_held;    /* by parameter: what the constructor gave has it, as far as seen */
    const sym *held_in;     /* by parameter: the field of the component that is it, 0 none known */
    size_t state_count;
    const item_ref *runs; /* functions evaluated on the way, ascending */
    size_t run_count;
} learning_entry;

typedef struct learning {
    heap *heap;
    arena mem;
    arena work; /* of one entry */
    VEC(learning_entry) entries;
    VEC(learning_cut) cuts;
    /* Of the component at work, by node of the constructor's graph: parameter + 1, 0 none. */
    VEC(uint32_t) key_of;
    VEC(bool) is_fixed; /* by node: running state or quantized, never trained */
    size_t component;
} learning;

void learning_init(learning *self, heap *from);
void learning_free(learning *self);
/* For entry_reader.read; the context is the learning. */
cg_code learning_read(void *context, const entry_run *run, cg_err *reterr);

#endif
