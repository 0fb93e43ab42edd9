/*
 * select - which records of a list a selector means.
 *
 * A record whose id is the selector means itself, and so does the only record
 * with that qualified name; for questions about one record, the only one any
 * of whose texts is the selector. Else every record matches that has the
 * selector in one of its texts, ASCII letters of either case being equal.
 */
#ifndef CG_MODEL_SELECT_H
#define CG_MODEL_SELECT_H

#include "model/ask.h"

/* The list a kind of question is about; MODEL_LIST_COUNT: about everything. */
enum model_list select_list(enum ask_kind kind);

/* Positions in ascending order; an absent selector picks all the kind is about. */
cg_code select_records(ask *self, enum ask_kind kind, cg_str selector, ask_picks *ret,
                       cg_err *reterr) CG_MUST;

/* Does `text` hold `part`? ASCII letters of either case are equal. */
bool select_holds(cg_str text, cg_str part);

#endif
