#include "model/hazard.h"

void hazards_init(hazards *self, const eval *interpreter, heap *from)
{
    *self = (hazards){.heap = from, .eval = interpreter};
    arena_init(&self->mem, from);
    arena_init(&self->work, from);
    number_map_init(&self->by_call, from);
}

void hazards_free(hazards *self)
{
    if (!self->heap)
        return;
    for (size_t i = 0; i < self->rows.count; i++)
        vec_free(self->heap, &self->rows.at[i].entries);
    vec_free(self->heap, &self->rows);
    vec_free(self->heap, &self->guesses);
    vec_free(self->heap, &self->next);
    number_map_free(&self->by_call);
    arena_free(&self->mem);
    arena_free(&self->work);
    *self = (hazards){0};
}
