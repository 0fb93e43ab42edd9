/*
 * impact - what a number that is infinite or NaN does, by where it goes in the graph of one entry.
 *
 *   impact_map map;
 *   impact_of_entry(run, mem, &map)           false: out of memory
 *   impact_at(&map, node)                     IMPACT_LOSS, ...
 *
 * Followed are the edges that numbers pass, gradient or not: `detach` and kernels without a
 * backward step hand on what they get, and so does a tensor made of numbers that were read from
 * another. A comparison, an index, what only a size is taken of and a cast to integers do not. A
 * step inside of a library's function is judged as the call of the function.
 */
#ifndef CG_MODEL_IMPACT_H
#define CG_MODEL_IMPACT_H

#include "model/entry.h"

/* Ascending: the worse of two is the greater. */
enum impact {
    IMPACT_LOCAL,    /* it goes nowhere */
    IMPACT_OUTPUT,   /* it comes out */
    IMPACT_GRADIENT, /* it is made of trained parameters: their gradients are lost */
    IMPACT_LOSS,     /* the loss is lost */
};

typedef struct impact_map {
    const flow *graph;
    const bool *to_loss;   /* by node: its numbers reach a loss; NULL: there is none */
    const bool *to_output; /* NULL: nothing comes back */
    bool infers;           /* the entry is also, or only, used without training */
} impact_map;

bool impact_of_entry(const entry_run *run, arena *mem, impact_map *ret) CG_MUST;
enum impact impact_at(const impact_map *self, node_ref which);
/* MODEL_FINDING_SEVERITY_ of a proven hazard with this impact. */
uint8_t impact_severity(const impact_map *self, enum impact what);
/* For messages: `impact: the training loss can become NaN`. */
const char *impact_text(enum impact what);

#endif
