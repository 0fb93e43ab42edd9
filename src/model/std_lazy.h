/*
 * std_lazy - iterators that nobody has walked yet.
 *
 * `(0..n).map(|i| linear(d, d, vb.pp(i)))` makes nothing: its closure runs when somebody asks for
 * items, once for each that is asked for. Such an iterator is a VALUE_LAZY: what it walks, the
 * name of the method and its arguments, one around the other. Adaptors put one more around it,
 * `take` goes inside as far as every item stands for one; `next` and `nth` walk what they need;
 * whoever wants all items (model/eval's eval_items, by which handlers see lists) has them made.
 */
#ifndef CG_MODEL_STD_LAZY_H
#define CG_MODEL_STD_LAZY_H

#include "model/std_call.h"

/* Of what may not be evaluated, since nobody may ask for it. */
#define STD_LAZY_CONDITION "if the iterator goes that far"

/*
 * `run` over a list, of which only the first `sure` items are asked for whatever they are; the
 * results as one list.
 */
cg_code std_perhaps_all(eval *self, cg_code (*run)(void *context, val list, val *ret),
                        void *context, val list, size_t sure, val *ret);
/* 1 when whoever walks the list asks for its first item, 0 when it may be empty. */
size_t std_sure_items(const eval *self, val list);
/*
 * A method of a list or of an iterator that is not walked. Answered, or the receiver is walked as
 * far as the method asks for, and is a list now.
 */
cg_code std_lazy(library_call *call);

#endif
