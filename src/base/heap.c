/*
 * CG_BANNED_EXEMPT: the one file that calls realloc and free. A build that
 * includes banned.h before every file finds the two names given back below.
 */
#include "base/heap.h"

#include <stdlib.h>

#undef realloc
#undef free

static void *heap_default_resize(void *context, void *block, size_t old_size, size_t new_size)
{
    (void)context;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

/* Fields behind the `size` that the caller compiled with do not exist. */
#define ENV_HAS(env, field)                                                                        \
    ((env) != NULL && (env)->size >= offsetof(cg_env, field) + sizeof((env)->field) &&             \
     (env)->field != NULL)

void heap_init(heap *self, const cg_env *env)
{
    *self = (heap){.allocator = {NULL, heap_default_resize},
                   .ceiling_bytes = limit_of(env, CG_LIMIT_MEMORY_BYTES)};
    if (ENV_HAS(env, allocator))
        self->allocator = *env->allocator;
}

void *heap_resize(heap *self, void *block, size_t old_size, size_t new_size)
{
    void *moved;

    if (new_size == 0) {
        if (block != NULL) {
            self->allocator.resize(self->allocator.context, block, old_size, 0);
            self->used_bytes -= old_size;
        }
        return NULL;
    }
    if (new_size > old_size && (self->used_bytes > self->ceiling_bytes ||
                                new_size - old_size > self->ceiling_bytes - self->used_bytes))
        moved = NULL;
    else
        moved = self->allocator.resize(self->allocator.context, block, old_size, new_size);
    if (moved == NULL) {
        self->is_short = true;
        return NULL;
    }
    self->used_bytes = self->used_bytes - old_size + new_size;
    if (self->used_bytes > self->peak_bytes)
        self->peak_bytes = self->used_bytes;
    return moved;
}

void heap_release(const heap *self, void *object, size_t size)
{
    heap last = *self;

    heap_resize(&last, object, size, 0);
}

/* --- ceilings --- */

typedef struct limit_row {
    cg_str word;
    uint64_t value;
} limit_row;

static const limit_row limit_rows[CG_LIMIT_COUNT] = {
#define X(name, word, value, why) [CG_LIMIT_##name] = {{(word), sizeof(word) - 1}, (value)},
    CG_LIMITS(X)
#undef X
};

uint64_t limit_of(const cg_env *env, unsigned limit)
{
    if (ENV_HAS(env, limits) &&
        env->limits->size >= offsetof(cg_limits, value) + (limit + 1) * sizeof(uint64_t))
        return env->limits->value[limit];
    return limit_rows[limit].value;
}

int limit_find(cg_str word)
{
    for (int i = 0; i < CG_LIMIT_COUNT; i++)
        if (str_equal(limit_rows[i].word, word))
            return i;
    return -1;
}

void limits_default(cg_limits *ret)
{
    ret->size = sizeof *ret;
    for (unsigned i = 0; i < CG_LIMIT_COUNT; i++)
        ret->value[i] = limit_rows[i].value;
}

bool env_progress(const cg_env *env, const char *stage, uint64_t done, uint64_t total)
{
    void *context;

    if (!ENV_HAS(env, progress))
        return true;
    context = ENV_HAS(env, progress_context) ? env->progress_context : NULL;
    return env->progress(context, stage, done, total);
}
