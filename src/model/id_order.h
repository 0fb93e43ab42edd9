/*
 * id_order - the bytewise order of many ids.
 *
 * Ids of tensors and operations are a long head, the same for all of one function and phase, and
 * a number. Heads are ranked once; then two integers are compared instead of two long texts.
 */
#ifndef CG_MODEL_ID_ORDER_H
#define CG_MODEL_ID_ORDER_H

#include "base/heap.h"

/*
 * Positions of records that begin with their id, in ascending order; of records with one id only
 * the first. `order` has room for twice `count`. Time O(count) where ids are numbered, else that of
 * base/sort.h. False: out of memory.
 */
bool id_order(heap *from, void *const *records, size_t count, uint32_t *order, size_t *ret_count);

#endif
