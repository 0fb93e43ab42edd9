/*
 * rename - keys whose tensors are there under other names.
 *
 * Keys and tensors are grouped into families (`h.#.ln.weight`), and families are paired: numbers
 * must agree, shapes must allow it, and a weight is never a bias. A pair is settled when it is
 * the best for both sides by a margin; what a settled pair teaches about one module holds for all
 * its keys. Everything else is left alone.
 */
#ifndef CG_JOIN_RENAME_H
#define CG_JOIN_RENAME_H

#include "join/difference.h"

/* Rows `renamed`: one for running statistics, one for everything else. */
cg_code rename_find(difference *self, cg_err *reterr) CG_MUST;

#endif
