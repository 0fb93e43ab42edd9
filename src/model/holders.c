#include "model/holders.h"

#include "model/eval_state.h"

#define CELLS_MOST 1024u

typedef struct holder_room {
    trail_holder at[HOLDERS_MOST];
    uint32_t count;
} holder_room;

static void add_holder(holder_room *room, cg_str name, val held)
{
    if (room->count < HOLDERS_MOST)
        room->at[room->count++] = (trail_holder){name, held};
}

/* Is it what a constructor that got a builder returned? */
static bool is_module(const eval *self, val which)
{
    for (size_t i = 1; i < self->trail->instances.count; i++) {
        if (self->trail->instances.at[i].result == which)
            return true;
    }
    return false;
}

/* The variable itself, or its fields. */
static bool look_into(eval *self, holder_room *room, cg_str name, val which)
{
    const value *at = value_at(self->values, which);

    if (at->kind == VALUE_VARMAP)
        add_holder(room, name, which);
    if (at->kind != VALUE_STRUCT)
        return true;
    if (is_module(self, which))
        add_holder(room, name, which);
    for (uint16_t i = 0; i < at->count && room->count < HOLDERS_MOST; i++) {
        value_field field = at->as.fields[i];
        cg_str path;

        if (!field.name || !field.value ||
            value_at(self->values, field.value)->kind != VALUE_VARMAP)
            continue;
        cg_str word = program_text(self->program, field.name);

        if (!arena_format(&self->trail->mem, &path, "%.*s.%.*s", (int)name.len, name.ptr,
                          (int)word.len, word.ptr))
            return false;
        add_holder(room, path, field.value);
    }
    return true;
}

bool holders_note(eval *self, trail_event *event)
{
    holder_room room;
    const frame *scope = self->state ? self->state->frame : NULL;
    uint32_t cells = 0;
    trail_holder *kept;

    room.count = 0;
    for (const cell *at = scope ? scope->top : NULL; at && cells < CELLS_MOST; at = at->before) {
        cells++;
        if (at->name && at->value &&
            !look_into(self, &room, program_text(self->program, at->name),
                       eval_deref(self, at->value)))
            return false;
    }
    kept = arena_take(&self->trail->mem, (room.count + 1) * sizeof *kept);
    if (!kept)
        return false;
    for (uint32_t i = 0; i < room.count; i++)
        kept[i] = room.at[i];
    event->holders = kept;
    event->holder_count = room.count;
    return true;
}
