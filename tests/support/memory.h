/*
 * memory - memory that runs out at the k-th request, and stays so unless `is_once`.
 *
 *   memory all = {.fail_at = 17};
 *   cg_allocator allocator = {&all, memory_resize};
 */
#ifndef CG_TESTS_SUPPORT_MEMORY_H
#define CG_TESTS_SUPPORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct memory {
    uint64_t requests;
    uint64_t fail_at; /* 0: never; this one and all later ones */
    bool is_once;     /* only this one */
    uint64_t live_bytes;
} memory;

void *memory_resize(void *context, void *block, size_t old_size, size_t new_size);

#endif
