#include "model/flow_call.h"

#include "base/str_name.h"
#include "model/catalogue.h"
#include "model/value_kinds.h"

/* Did the operation come after the version the crate is built with? */
static bool is_later(const eval *owner, operation which)
{
    bool is_core = str_starts_with(str_from(operation_at(which)->path), CG_LIT("candle_core::"));
    uint32_t version = owner->catalogue == NULL ? 0
                       : is_core                ? owner->catalogue->candle_core
                                                : owner->catalogue->candle_nn;

    return which != 0 && version != 0 && version < operation_since(which);
}

/* Room for a call: they are large, and few are open at a time. */
static flow_call *take_room(flow *graph)
{
    flow_call *room = graph->ended_calls;

    if (room == NULL)
        return arena_take(&graph->calls, sizeof *room);
    graph->ended_calls = room->next;
    return room;
}

flow_call *flow_call_begin(eval *owner, cg_str path, model_place place)
{
    sym name = intern_add(&owner->program->names, path);
    uint32_t *found =
        name == 0 ? NULL : number_map_put(&owner->flow->rows, number_map_key(1, name), UINT32_MAX);
    flow_call *self = found == NULL ? NULL : take_room(owner->flow);

    if (self == NULL)
        return NULL;
    memset(self, 0, offsetof(flow_call, edges));
    self->eval = owner;
    self->flow = owner->flow;
    self->path = path;
    self->name = name;
    self->place = place;
    self->facts = flow_no_facts();
    if (*found == UINT32_MAX) {
        *found = operation_find(path);
        if (is_later(owner, (operation)*found))
            *found = 0; /* something else of that name */
    }
    self->row = (operation)*found;
    return self;
}

void flow_call_end(flow_call *self)
{
    self->next = self->flow->ended_calls;
    self->flow->ended_calls = self;
}

val flow_field(flow_call *self, const char *name)
{
    eval *owner = self->eval;
    sym symbol = intern_add(&owner->program->names, str_from(name));

    if (self->count == 0 || symbol == 0)
        return 0;
    return value_field_of(owner->values, self->args[0], symbol);
}

void flow_require(flow_call *self, enum flow_need need, enum check result, node_ref operand,
                  node_ref other, cg_str text)
{
    if (self->need_count == FLOW_NEEDS)
        return;
    self->needs[self->need_count++] = (flow_requirement){.operand = operand,
                                                         .other = other,
                                                         .need = (uint8_t)need,
                                                         .result = (uint8_t)result,
                                                         .text = text};
}

bool flow_want_rank(flow_call *self, node_ref which, unsigned rank)
{
    flow_facts *facts = &self->flow->nodes.at[which].facts;
    cg_str text = {NULL, 0};
    unsigned more;

    if (facts->has_rank) {
        if (facts->rank == rank)
            return true;
        if (!arena_format(&self->flow->mem, &text, "%.*s, wanted are %u axes",
                          STR_NAME(flow_shape_text(self->flow, which)), rank))
            self->flow->failed = true;
        flow_require(self, FLOW_NEED_RANK, CHECK_FAILS, which, 0, text);
        return false;
    }
    if (which == 0 || rank > FLOW_AXES || rank < facts->rank)
        return false;
    more = rank - facts->rank;
    memmove(facts->axes + more, facts->axes, facts->rank * sizeof facts->axes[0]);
    memset(facts->axes, 0, more * sizeof facts->axes[0]);
    facts->rank = (uint8_t)rank;
    facts->has_rank = true;
    return true;
}
