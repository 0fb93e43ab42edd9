#include "model/wiring.h"

#include "model/ids.h"
#include "model/place.h"

typedef struct wirer {
    const extraction *components;
    const drivers *from;
    program *program;
    const function_facts *functions;
    model_draft *draft;
    uint32_t *by_type; /* item -> component + 1 */
    number_map known;  /* calls that have their sites */
    cg_err *reterr;
} wirer;

static cg_code nomem(wirer *self)
{
    return err_nomem(self->reterr);
}

static uint8_t source_word(uint8_t source)
{
    switch (source) {
    case BUILDER_VARMAP: return MODEL_SOURCE_KIND_VAR_MAP;
    case BUILDER_MMAP: return MODEL_SOURCE_KIND_MMAP_SAFETENSORS;
    case BUILDER_TENSORS: return MODEL_SOURCE_KIND_FROM_TENSORS;
    case BUILDER_BUFFERED: return MODEL_SOURCE_KIND_BUFFERED_SAFETENSORS;
    default: return MODEL_SOURCE_KIND_UNKNOWN;
    }
}

/* Variables of a map learn, unless the optimizers of the driver leave the map out. */
static uint8_t role_of(const driver *at, const driver_builder *builder)
{
    bool is_known = at->optimizers.count > 0;

    if (builder->source == BUILDER_MMAP || builder->source == BUILDER_TENSORS ||
        builder->source == BUILDER_BUFFERED)
        return MODEL_BUILDER_ROLE_FROZEN;
    if (builder->source != BUILDER_VARMAP)
        return MODEL_BUILDER_ROLE_UNKNOWN;
    for (size_t i = 0; i < at->optimizers.count; i++) {
        const driver_optimizer *optimizer = &at->optimizers.at[i];

        is_known = is_known && optimizer->is_known;
        for (size_t j = 0; j < optimizer->share_count; j++) {
            if (optimizer->shares[j].map == builder->map)
                return MODEL_BUILDER_ROLE_TRAINABLE;
        }
    }
    return is_known ? MODEL_BUILDER_ROLE_FROZEN : MODEL_BUILDER_ROLE_TRAINABLE;
}

/* What is loaded into the builder's variables. */
static cg_str load_of(const driver *at, const driver_builder *builder)
{
    for (size_t i = 0; builder->map != DRIVER_NO_MAP && i < at->loads.count; i++) {
        if (at->loads.at[i].map == builder->map)
            return at->loads.at[i].text;
    }
    return builder->text;
}

static cg_code add_site(wirer *self, const driver *at, const driver_site *from,
                        const driver_builder *builder)
{
    const extract_component *component =
        &self->components->components.at[self->by_type[from->type] - 1];
    const function_fact *fact = function_of(self->functions, from->place.function);
    model_assembly *site = draft_assembly(self->draft);
    arena *mem = &self->draft->mem;
    cg_str text, made, load = load_of(at, builder);

    if (!site || !program_note_site(self->program, (program_site){.function = from->place.function,
                                                                  .met_by = UINT32_MAX,
                                                                  .driver = at->function}))
        return nomem(self);
    site->function = fact->id;
    site->function_name = fact->qualified;
    site->component_name = component->name;
    site->source_kind = source_word(builder->source);
    site->role = role_of(at, builder);
    site->source = place_label(self->program, from->place, mem);
    site->location = place_location(self->program, from->place, self->draft);
    if (!site->source.ptr || !site->location ||
        !id_make(mem, MODEL_ID_KIND_COMPONENT, ID_PARTS(component->qualified), &site->component) ||
        !arena_text(mem, builder->root, &site->builder_root) ||
        !arena_text(mem, load, &site->checkpoint_load) ||
        !program_item_path(self->program, from->constructor, &made))
        return nomem(self);
    if (builder->map != DRIVER_NO_MAP &&
        !arena_text(mem, at->maps.at[builder->map].name, &site->varmap))
        return nomem(self);
    for (size_t i = 0; i < builder->chain.count; i++) {
        if (!arena_text(mem, builder->chain.at[i], &text) ||
            !draft_text(self->draft, &site->prefix_chain, text))
            return nomem(self);
    }
    if (!arena_format(mem, &text, "`%.*s` wired through `%.*s` in `%.*s`", (int)made.len, made.ptr,
                      (int)site->builder_root.len, site->builder_root.ptr, (int)fact->qualified.len,
                      fact->qualified.ptr) ||
        !id_assembly(mem, site->function, site->component, site->builder_root, site->prefix_chain,
                     &site->id) ||
        !draft_evidence(self->draft, &site->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                        from->is_conditional ? MODEL_CONFIDENCE_CONDITIONAL
                                             : MODEL_CONFIDENCE_PROVEN,
                        site->source, text))
        return nomem(self);
    return CG_OK;
}

static uint64_t place_key(model_place place)
{
    return number_map_key(place.file, place.end) ^ (uint64_t)place.start << 20;
}

/* Calls inside the constructors of components have their sites from there. */
static cg_code note_known(wirer *self)
{
    for (size_t i = 0; i < self->components->components.count; i++) {
        const extract_component *component = &self->components->components.at[i];

        if (component->type)
            self->by_type[component->type] = (uint32_t)i + 1;
        for (size_t j = 1; j < component->instances.count; j++) {
            if (!number_map_put(&self->known, place_key(component->instances.at[j].place), 1))
                return nomem(self);
        }
    }
    return CG_OK;
}

static cg_code add_sites(wirer *self, const driver *at)
{
    for (size_t i = 0; i < at->sites.count; i++) {
        const driver_site *site = &at->sites.at[i];

        if (!site->type || !self->by_type[site->type] || !site->place.function ||
            !function_of(self->functions, site->place.function) ||
            number_map_find(&self->known, place_key(site->place)))
            continue;
        if (!number_map_put(&self->known, place_key(site->place), 1))
            return nomem(self);
        for (size_t j = 0; j < site->builder_count; j++)
            CG_TRY(add_site(self, at, site, &site->builders[j]));
    }
    return CG_OK;
}

cg_code wiring_sites(const extraction *components, const drivers *from,
                     const function_facts *functions, model_draft *draft, cg_err *reterr)
{
    program *code_of = components->eval->program;
    wirer self = {
        .components = components,
        .from = from,
        .program = code_of,
        .functions = functions,
        .draft = draft,
        .by_type = arena_zero(&draft->mem, code_of->items.count * sizeof(uint32_t)),
        .reterr = reterr,
    };
    cg_code code;

    if (!self.by_type)
        return nomem(&self);
    number_map_init(&self.known, draft->heap);
    code = note_known(&self);
    /* Helpers are drivers of their own: their view of their calls comes first. */
    for (size_t i = 0; code == CG_OK && i < from->all.count; i++)
        code = add_sites(&self, &from->all.at[i]);
    number_map_free(&self.known);
    return code;
}

wiring_place wiring_of(const drivers *from, item_ref constructor, cg_str root)
{
    wiring_place found = {0};

    for (size_t i = 0; i < from->all.count; i++) {
        for (size_t j = 0; j < from->all.at[i].sites.count; j++) {
            const driver_site *site = &from->all.at[i].sites.at[j];

            for (size_t k = 0; site->constructor == constructor && k < site->builder_count; k++) {
                const driver_builder *builder = &site->builders[k];

                if (!str_equal(builder->root, root))
                    continue;
                if (found.count++ == 0) {
                    found.dtype = builder->dtype;
                    found.device = builder->device;
                }
                if (!str_equal(found.dtype, builder->dtype))
                    found.dtype = (cg_str){0};
                if (!str_equal(found.device, builder->device))
                    found.device = (cg_str){0};
            }
        }
    }
    return found;
}
