/*
 * path - the shortest way from one thing of a model to another.
 *
 * Ways lead along calls, data, composition and use, in their direction:
 * function to callee, argument to function to result, parameter to the
 * operations that read it, stage to its function, and so on. Among ways of
 * one length the one with the first ids is taken.
 */
#ifndef CG_MODEL_PATH_H
#define CG_MODEL_PATH_H

#include "model/ask.h"

/*
 * The hops from `from` to `to`, both included, in the order of the way.
 * Each end is an id, a name that only one thing has, or a part of only one id
 * or name. Fails with CG_INPUT (no such end, several, no way) or CG_NOMEM.
 */
cg_code path_find(ask *self, cg_str from, cg_str to, sc_records *ret_hops, cg_err *reterr) CG_MUST;

#endif
