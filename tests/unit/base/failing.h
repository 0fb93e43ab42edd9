/*
 * failing - an allocator for tests: counts what is out, checks the sizes it is
 * told, and refuses the k-th request.
 *
 *   failing memory = {.fail_at = k};                 0: never
 *   heap_init(&from, failing_env(&memory));
 */
#ifndef CG_TESTS_FAILING_H
#define CG_TESTS_FAILING_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/heap.h"

typedef struct failing {
    size_t fail_at; /* the request that fails, from 1 */
    size_t requests;
    size_t blocks;
    size_t bytes;
    cg_allocator allocator;
    cg_env env;
} failing;

/* The size stands in front of the block, so a wrong old_size is found. */
static inline void *failing_resize(void *context, void *block, size_t old_size, size_t new_size)
{
    failing *self = context;
    char *base = block == NULL ? NULL : (char *)block - 16;
    size_t told = 0;

    if (base != NULL) {
        memcpy(&told, base, sizeof told);
        assert_int_equal(told, old_size);
    } else {
        assert_int_equal(old_size, 0);
    }
    if (new_size == 0) {
        assert_non_null(base);
        self->blocks--;
        self->bytes -= old_size;
        free(base);
        return NULL;
    }
    if (++self->requests == self->fail_at)
        return NULL;
    base = realloc(base, new_size + 16);
    assert_non_null(base);
    memcpy(base, &new_size, sizeof new_size);
    self->blocks += block == NULL;
    self->bytes = self->bytes - old_size + new_size;
    return base + 16;
}

static inline const cg_env *failing_env(failing *self)
{
    self->allocator = (cg_allocator){self, failing_resize};
    self->env = (cg_env){.size = sizeof self->env, .allocator = &self->allocator};
    return &self->env;
}

static inline void assert_nothing_held(const failing *self, const heap *from)
{
    assert_int_equal(self->blocks, 0);
    assert_int_equal(self->bytes, 0);
    assert_int_equal(from->used_bytes, 0);
}

static inline void assert_text(cg_str text, const char *want)
{
    cg_str wanted = str_from(want);

    if (!str_equal(text, wanted))
        print_error("got `%.*s`, want `%s`\n", (int)text.len, text.ptr, want);
    assert_true(str_equal(text, wanted));
}

/* A small generator, the same numbers everywhere. */
static inline uint64_t test_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
