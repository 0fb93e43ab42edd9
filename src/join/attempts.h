/*
 * attempts - keys that are asked for in case that others are not there.
 *
 *   part_claim(&part);
 *   if (!attempts_settle(&part)) ...     out of memory
 *
 * A constructor that is called again with another prefix, when the first call fails or the file
 * lacks a tensor, asks for one of two sets of keys. What the file has by one of them it need not
 * have by the other: such a key is not missing.
 */
#ifndef CG_JOIN_ATTEMPTS_H
#define CG_JOIN_ATTEMPTS_H

#include "join/checkpoint_part.h"

/* Is it up to the file whether a condition of this text holds? `root`: the name of the builder. */
bool attempts_is_of_file(cg_str condition, cg_str root);

/*
 * Take out the entries of parameters that no tensor has the name of, while another attempt of the
 * same call has its tensor. After part_claim, before anybody counts what is missing.
 */
bool attempts_settle(checkpoint_part *self) CG_MUST;

#endif
