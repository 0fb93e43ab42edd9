/*
 * likeness - how alike two names are that different programs gave to parts of a model.
 *
 * Names of one thing, as frameworks and families of models spell them, are in a table; of the rest
 * the words count. Case and the marks between words do not. Pure functions of their texts.
 */
#ifndef CG_JOIN_LIKENESS_H
#define CG_JOIN_LIKENESS_H

#include "base/str.h"

/* What a parameter is to its module, by the last segment of its key. */
enum leaf { LEAF_OTHER, LEAF_WEIGHT, LEAF_BIAS, LEAF_MEAN, LEAF_VARIANCE, LEAF_COUNTER };
enum leaf likeness_leaf(cg_str segment);

/* 0..1: 1 for equal segments, 0.9 for spellings of one thing, less the fewer words they share. */
double likeness_of(cg_str a, cg_str b);

/* Is this the name of an output head, of a table of words? What ties of weights are told by. */
bool likeness_is_head(cg_str segment);
bool likeness_is_table(cg_str segment);
/* The name of a running mean or variance; of a counter of batches. */
bool likeness_is_running(cg_str leaf);
bool likeness_is_counter(cg_str leaf);

#endif
