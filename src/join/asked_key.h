/*
 * asked_key - the key of a parameter as the source makes it, piece by piece, and the calls that
 * added to it.
 */
#ifndef CG_JOIN_ASKED_KEY_H
#define CG_JOIN_ASKED_KEY_H

#include "join/parameters.h"
#include "model/extract.h"
#include "model/functions.h"

/* Where a call stands and which function it is in; `functions` may be NULL. false: no memory. */
bool asked_step(arena *mem, const program *code_of, const function_facts *functions,
                model_place place, key_step *to);
/*
 * Fills pieces and steps of `to`. *ret_is_open: a text of the key is not known, so that no name is
 * sure to be it. Fails with CG_NOMEM.
 */
cg_code asked_key_make(arena *mem, const extraction *from, const function_facts *functions,
                       const extract_parameter *parameter, wanted_parameter *to, bool *ret_is_open,
                       cg_err *reterr) CG_MUST;

#endif
