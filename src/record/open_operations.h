/*
 * open_operations - operations of a runtime trace that were begun and not ended yet.
 *
 * A zeroed list is empty. An operation is copied when it is begun, and belongs to the list from
 * open_operations_add to open_operations_take.
 */
#ifndef CG_RECORD_OPEN_OPERATIONS_H
#define CG_RECORD_OPEN_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct open_operation {
    uint64_t number;
    uint64_t began_ns;
    char *event_id, *static_id, *op; /* owned */
    char **inputs;                   /* owned, each of them too */
    size_t input_count;
} open_operation;

typedef struct open_operations {
    open_operation *at; /* in the order of their beginning */
    size_t count, capacity;
} open_operations;

/* False without memory; what was copied then is released by open_operation_free all the same. */
bool open_operation_copy(open_operation *ret, const char *static_id, const char *op,
                         const char *const *inputs, size_t input_count);
bool open_operation_name(open_operation *self, const char *event_id);
void open_operation_free(open_operation *self);

/* Room for one more; false without memory. */
bool open_operations_make_room(open_operations *self);
/* There must be room. */
void open_operations_add(open_operations *self, const open_operation *operation);
/* The operation of a number, out of the list and the caller's now; false: it is not open. */
bool open_operations_take(open_operations *self, uint64_t number, open_operation *ret);
void open_operations_free(open_operations *self);

#endif
