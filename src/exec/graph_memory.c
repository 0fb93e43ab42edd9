#include "exec/graph_memory.h"

#include "base/num.h"
#include "exec/pairs.h"

static void set_allocated(const graph_memory *self)
{
    const memory_plane *memory = self->memory;

    for (uint32_t i = 0; i < self->span_count; i++)
        self->has_allocated[i] = graph_is_memory_complete(self->trace);
    for (size_t i = 0; i < memory->lifetimes.count; i++) {
        const trace_memory *row = &self->trace->memory.at[memory->lifetimes.at[i].alloc_event];
        uint32_t span = trace_span_of(self->trace, row->span_id);

        self->has_allocated[span] = true;
        self->allocated_bytes[span] = num_sat_add(self->allocated_bytes[span], row->bytes);
    }
}

/* The operations of one span that have one name. */
typedef struct op_group {
    uint32_t op; /* the first of them */
    uint32_t count;
} op_group;

typedef VEC(op_group) op_groups;

/* Groups that lifetimes ask for: (span, name) -> number. */
static bool ask_groups(const graph_memory *self, pairs *numbers, op_groups *groups)
{
    const memory_plane *memory = self->memory;

    for (size_t i = 0; i < memory->lifetimes.count; i++) {
        const trace_memory *row = &self->trace->memory.at[memory->lifetimes.at[i].alloc_event];
        uint32_t span = trace_span_of(self->trace, row->span_id);
        bool is_new = false;

        if (row->op_name == 0 || self->ops_within[span] == 0)
            continue;
        if (pairs_add(numbers, span, row->op_name, (uint32_t)groups->count, &is_new) == NULL)
            return false;
        if (is_new) {
            op_group *group = vec_add(self->heap, groups);

            if (group == NULL)
                return false;
            *group = (op_group){0};
        }
    }
    return true;
}

static bool set_op_allocated(const graph_memory *self)
{
    const memory_plane *memory = self->memory;
    pairs numbers;
    op_groups groups = {0};
    bool is_done;

    pairs_init(&numbers, self->heap, self->trace->texts.seed);
    is_done = ask_groups(self, &numbers, &groups);
    for (uint32_t i = 0; is_done && groups.count > 0 && i < self->op_count; i++) {
        uint32_t *number = pairs_find(&numbers, self->op_span[i], self->trace->ops.at[i].name);

        if (number != NULL && groups.at[*number].count++ == 0)
            groups.at[*number].op = i;
    }
    for (size_t i = 0; is_done && groups.count > 0 && i < memory->lifetimes.count; i++) {
        const trace_memory *row = &self->trace->memory.at[memory->lifetimes.at[i].alloc_event];
        uint32_t *number =
            row->op_name == 0
                ? NULL
                : pairs_find(&numbers, trace_span_of(self->trace, row->span_id), row->op_name);

        if (number != NULL && groups.at[*number].count == 1) {
            uint32_t op = groups.at[*number].op;

            self->has_op_allocated[op] = true;
            self->op_allocated[op] = num_sat_add(self->op_allocated[op], row->bytes);
        }
    }
    pairs_free(&numbers);
    vec_free(self->heap, &groups);
    return is_done;
}

bool graph_memory_build(const graph_memory *self)
{
    set_allocated(self);
    return set_op_allocated(self);
}
