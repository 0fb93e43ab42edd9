/*
 * holders - which variables of a function hold a map of variables, or a module, while something
 * happens.
 *
 * People know a VarMap by the name of the variable. What a function can see at a call that
 * matters (an optimizer is made, a map is loaded) is written down with the event.
 */
#ifndef CG_MODEL_HOLDERS_H
#define CG_MODEL_HOLDERS_H

#include "model/eval.h"

#define HOLDERS_MOST 64u

/*
 * Set event->holders: what the running function sees, newest first; the map in a field as
 * `owner.field`, a module only as a variable of its own.
 */
bool holders_note(eval *self, trail_event *event) CG_MUST;

#endif
