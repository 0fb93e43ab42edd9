/*
 * tree_known - what a file that was compared with a model says of sizes that the code leaves open.
 *
 * Where an axis of a parameter is a plain name, the tensor of the parameter says what it is; where
 * a family has tensors, how many of them there are is how many members it has. A name that two
 * tensors disagree on is not known.
 */
#ifndef CG_MODEL_TREE_KNOWN_H
#define CG_MODEL_TREE_KNOWN_H

#include "model/document.h"
#include "model/tree_size.h"

/* How many tensors of a checkpoint one parameter template matched. */
typedef struct tree_match {
    cg_str parameter; /* id */
    cg_str component; /* id */
    cg_str key;
    uint64_t tensors;
} tree_match;

typedef struct tree_known {
    sc_counts sizes;   /* bytewise by name */
    sc_counts members; /* by the key of a member: `blocks.{i}`, `blocks.{i}.experts.{j}` */
} tree_known;

/* Of the parameters of one component. false: out of memory. */
bool tree_known_make(arena *mem, const model_doc *doc, cg_str component, const tree_match *matches,
                     size_t match_count, tree_known *ret) CG_MUST;

/* Factors that are known become part of the number. */
void tree_known_fill(const tree_known *self, size_term *term);
/* How many members the family has that this key, or the prefix of a module, is of; 0: not known. */
uint64_t tree_known_members(const tree_known *self, cg_str key);

#endif
