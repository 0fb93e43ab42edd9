#include "model/ask.h"

/* Lists of questions have at most this many. */
#define DRILL_ROOM 12

cg_code ask_begin(ask *self, heap *from, const model_document *document, cg_err *reterr)
{
    const sc_records *components = &document->doc.components;

    *self = (ask){.heap = from, .document = document, .doc = &document->doc};
    arena_init(&self->mem, from);
    if (!index_build(&self->components, from, components, sizeof(model_component),
                     offsetof(model_component, id)) ||
        !index_build(&self->component_names, from, components, sizeof(model_component),
                     offsetof(model_component, qualified_name)) ||
        !index_build(&self->functions, from, &document->doc.functions, sizeof(model_function),
                     offsetof(model_function, id))) {
        ask_close(self);
        return err_nomem(reterr);
    }
    return CG_OK;
}

void ask_close(ask *self)
{
    index_free(&self->components);
    index_free(&self->component_names);
    index_free(&self->functions);
    arena_free(&self->mem);
}

const model_component *ask_component_of(const ask *self, cg_str id)
{
    size_t at = index_find(&self->components, id);

    return at == INDEX_NONE ? NULL : MODEL_AT(self->doc->components, model_component, at);
}

const model_function *ask_function_of(const ask *self, cg_str id)
{
    size_t at = index_find(&self->functions, id);

    return at == INDEX_NONE ? NULL : MODEL_AT(self->doc->functions, model_function, at);
}

bool ask_is_of_component(const ask *self, const model_function *function)
{
    return index_find(&self->component_names, function->owner_type) != INDEX_NONE;
}

bool ask_is_composition(const model_edge *edge)
{
    cg_str word = sc_word(&words_model_id_kind, MODEL_ID_KIND_COMPOSITION_EDGE);

    return str_starts_with(edge->id, word) && edge->id.len > word.len &&
           edge->id.ptr[word.len] == ':';
}

bool ask_drill_add(arena *mem, sc_records *list, uint8_t kind, cg_str select)
{
    ask_drill *at = (ask_drill *)list->at;

    if (at == NULL)
        at = arena_take(mem, DRILL_ROOM * sizeof *at);
    if (at == NULL || list->count >= DRILL_ROOM)
        return false;
    at[list->count] = (ask_drill){kind, select};
    *list = (sc_records){at, list->count + 1};
    return true;
}
