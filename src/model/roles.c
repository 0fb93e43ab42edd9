/* Optimizers, and what they say about parameters and builders: part of model/pipeline. */
#include "model/pipeline.h"

#include "model/ids.h"
#include "model/place.h"
#include "model/walk.h"

static cg_code nomem(pipeline *self)
{
    return err_nomem(self->reterr);
}

static bool has_text(sc_strs list, cg_str text)
{
    for (size_t i = 0; i < list.count; i++) {
        if (str_equal(list.at[i], text))
            return true;
    }
    return false;
}

static bool add_once(pipeline *self, sc_strs *list, cg_str text)
{
    cg_str copy;

    return has_text(*list, text) ||
           (arena_text(&self->draft->mem, text, &copy) && draft_text(self->draft, list, copy));
}

/* --- memberships --- */

static cg_code stage_for(pipeline *self, const function_fact *fact, cg_str *ret)
{
    file_ref file = self->program->items.at[fact->item].file;

    *ret = pipeline_stage_id(self, fact->item);
    for (size_t i = 0; !ret->ptr && i < self->stages.count; i++) {
        item_ref item = self->functions->all.at[self->stage_functions.at[i]].item;

        if (self->program->items.at[item].file == file)
            *ret = self->stages.at[i]->id;
    }
    if (ret->ptr)
        return CG_OK;
    return id_make(&self->draft->mem, MODEL_ID_KIND_STAGE, ID_PARTS(fact->qualified), ret)
               ? CG_OK
               : nomem(self);
}

/* Names a filter asks for, `contains("bias")`; behind a `!` they are left out. */
static cg_code add_patterns(pipeline *self, const function_fact *fact, model_optimizer *record)
{
    static const char *const tests[] = {"contains", "starts_with", "ends_with"};
    const ast *tree = program_tree(self->program, self->program->items.at[fact->item].file);
    ast_ref body = walk_body(self->program, fact->item);

    for (ast_ref at = body; at; at = walk_next(tree, body, at)) {
        ast_ref name = walk_called(tree, at);
        ast_ref argument = name && walk_receiver(tree, at) ? walk_argument(tree, at, 0) : 0;
        bool is_test = false, is_inside = false, is_negated = false;

        for (size_t i = 0; argument && i < sizeof tests / sizeof *tests; i++)
            is_test = is_test || str_equal(program_text(self->program, ast_at(tree, name)->text),
                                           str_from(tests[i]));
        if (!is_test || ast_kind_of(tree, argument) != AST_STRING_LITERAL)
            continue;
        for (ast_ref up = at; up && up != body && !is_inside; up = ast_at(tree, up)->parent) {
            is_inside = ast_kind_of(tree, up) == AST_CLOSURE_EXPRESSION;
            is_negated = is_negated != (ast_kind_of(tree, up) == AST_UNARY_EXPRESSION &&
                                        ast_at(tree, up)->op == OP_NOT);
        }
        if (is_inside &&
            !add_once(self, is_negated ? &record->exclude_patterns : &record->include_patterns,
                      program_text(self->program, ast_at(tree, argument)->text)))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code begin_record(pipeline *self, const function_fact *fact, cg_str varmap,
                            cg_str optimizer, model_place place, cg_str detail,
                            model_optimizer **ret)
{
    model_optimizer *record = draft_optimizer(self->draft);
    arena *mem = &self->draft->mem;

    *ret = record;
    if (!record)
        return nomem(self);
    CG_TRY(stage_for(self, fact, &record->stage));
    record->source = place_label(self->program, place, mem);
    if (!record->source.ptr || !arena_text(mem, varmap, &record->varmap) ||
        !arena_text(mem, optimizer, &record->optimizer) ||
        !id_make(mem, MODEL_ID_KIND_OPTIMIZER_MEMBERSHIP,
                 ID_PARTS(record->stage, record->varmap, fact->qualified), &record->id) ||
        !draft_evidence(self->draft, &record->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                        MODEL_CONFIDENCE_HEURISTIC, record->source, detail))
        return nomem(self);
    return CG_OK;
}

static cg_code add_components(pipeline *self, const driver *at, uint32_t map,
                              model_optimizer *record)
{
    for (size_t i = 0; i < at->sites.count; i++) {
        const driver_site *site = &at->sites.at[i];
        uint32_t component = site->type ? self->by_type[site->type] : 0;

        for (size_t j = 0; component && j < site->builder_count; j++) {
            if (site->builders[j].map != map)
                continue;
            if (!add_once(self, &record->components, self->ids[component - 1]) ||
                !add_once(self, &record->builder_roots, site->builders[j].root))
                return nomem(self);
        }
    }
    return CG_OK;
}

static cg_str name_of(const driver *at, const driver_optimizer *optimizer, uint32_t map)
{
    for (size_t i = 0; i < optimizer->holder_count; i++) {
        if (optimizer->holders[i].map == map)
            return optimizer->holders[i].name;
    }
    return at->maps.at[map].name;
}

typedef struct membership {
    model_optimizer *record;
    const driver *driver; /* NULL: guessed by names */
    uint32_t map;
} membership;

typedef struct sorter {
    pipeline *all;
    VEC(membership) found;
    bool *is_known; /* by fact: its optimizers were seen being made */
} sorter;

static bool is_recorded(const sorter *self, cg_str id)
{
    for (size_t i = 0; i < self->found.count; i++) {
        if (str_equal(self->found.at[i].record->id, id))
            return true;
    }
    return false;
}

static cg_code from_flow(sorter *self)
{
    pipeline *all = self->all;

    for (size_t i = 0; i < all->drivers->all.count; i++) {
        const driver *at = &all->drivers->all.at[i];

        for (size_t j = 0; j < at->optimizers.count; j++) {
            const driver_optimizer *optimizer = &at->optimizers.at[j];
            const function_fact *fact = function_of(all->functions, optimizer->place.function);

            for (size_t k = 0; fact && k < optimizer->share_count; k++) {
                const driver_share *share = &optimizer->shares[k];
                cg_str name = name_of(at, optimizer, share->map), stage, id;
                membership *slot;
                model_optimizer *record;

                self->is_known[fact - all->functions->all.at] = true;
                CG_TRY(stage_for(all, fact, &stage));
                if (!id_make(&all->draft->mem, MODEL_ID_KIND_OPTIMIZER_MEMBERSHIP,
                             ID_PARTS(stage, name, fact->qualified), &id))
                    return nomem(all);
                if (is_recorded(self, id))
                    continue;
                CG_TRY(begin_record(all, fact, name, optimizer->name, optimizer->place,
                                    CG_LIT("variables of the map are given to the optimizer"),
                                    &record));
                CG_TRY(add_components(all, at, share->map, record));
                if (share->is_partial)
                    CG_TRY(add_patterns(all, fact, record));
                slot = vec_add(all->draft->heap, &self->found);
                if (!slot)
                    return nomem(all);
                *slot = (membership){record, at, share->map};
            }
        }
    }
    return CG_OK;
}

static cg_code guess_one(sorter *self, const function_fact *fact, const ast *tree, ast_ref receiver,
                         ast_ref maker)
{
    pipeline *all = self->all;
    const program_item *item = &all->program->items.at[fact->item];
    model_place place = {item->file, ast_at(tree, maker)->start, ast_at(tree, maker)->end,
                         fact->item};
    cg_str varmap, optimizer;
    model_optimizer *record;
    membership *slot;

    receiver = walk_bare(all->program, tree, receiver);
    if (!ast_printed(tree, receiver, &all->draft->mem, &varmap) ||
        !ast_printed(tree, ast_child(tree, maker, ROLE_FUNCTION), &all->draft->mem, &optimizer))
        return nomem(all);
    CG_TRY(begin_record(all, fact, varmap, optimizer, place,
                        CG_LIT("optimizer consumes variables returned by "
                               "named_train_vars/all_vars"),
                        &record));
    CG_TRY(add_patterns(all, fact, record));
    for (size_t i = 0; i < all->drivers->all.count; i++) {
        const driver *at = &all->drivers->all.at[i];

        for (uint32_t map = 0; at->function == fact->item && map < at->maps.count; map++) {
            if (str_equal(at->maps.at[map].name, varmap))
                CG_TRY(add_components(all, at, map, record));
        }
    }
    slot = vec_add(all->draft->heap, &self->found);
    if (!slot)
        return nomem(all);
    *slot = (membership){.record = record};
    return CG_OK;
}

/* The last resort: variables of a map and something called an optimizer in one function. */
static cg_code from_names(sorter *self)
{
    pipeline *all = self->all;

    for (size_t i = 0; i < all->functions->all.count; i++) {
        const function_fact *fact = &all->functions->all.at[i];
        const ast *tree = program_tree(all->program, all->program->items.at[fact->item].file);
        ast_ref body = walk_body(all->program, fact->item);
        ast_ref maker = 0;

        if (self->is_known[i] || walk_is_test(all->program, fact->item))
            continue;
        for (ast_ref at = body; at && !maker; at = walk_next(tree, body, at)) {
            ast_ref callee = ast_kind_of(tree, at) == AST_CALL_EXPRESSION
                                 ? ast_child(tree, at, ROLE_FUNCTION)
                                 : 0;
            cg_str text = callee && ast_kind_of(tree, callee) == AST_SCOPED_IDENTIFIER
                              ? ast_text(tree, callee)
                              : (cg_str){0};

            if (text.ptr &&
                (str_find(text, CG_LIT("Adam")) != SIZE_MAX ||
                 str_find(text, CG_LIT("Optimizer")) != SIZE_MAX) &&
                !str_ends_with(text, CG_LIT("::default")))
                maker = at;
        }
        for (ast_ref at = maker ? body : 0; at; at = walk_next(tree, body, at)) {
            ast_ref name = walk_called(tree, at);
            cg_str word = name ? program_text(all->program, ast_at(tree, name)->text) : (cg_str){0};
            ast_ref of = 0;

            if (name && str_equal(word, CG_LIT("all_vars")))
                of = walk_receiver(tree, at);
            else if (name && str_ends_with(word, CG_LIT("named_train_vars")))
                of = walk_argument(tree, at, 0);
            if (of)
                CG_TRY(guess_one(self, fact, tree, of, maker));
        }
    }
    return CG_OK;
}

/* --- roles --- */

static bool matches_any(sc_strs patterns, cg_str key)
{
    for (size_t i = 0; i < patterns.count; i++) {
        if (str_find(key, patterns.at[i]) != SIZE_MAX)
            return true;
    }
    return false;
}

/* What one membership says about a parameter; MODEL_PARAMETER_ROLE_UNKNOWN: nothing. */
static uint8_t role_by(const membership *from, const model_parameter *parameter)
{
    const model_optimizer *record = from->record;

    if (!has_text(record->components, parameter->component))
        return MODEL_PARAMETER_ROLE_UNKNOWN;
    if (!has_text(record->builder_roots, parameter->builder_root))
        return MODEL_PARAMETER_ROLE_FROZEN;
    if (matches_any(record->exclude_patterns, parameter->key) ||
        (record->include_patterns.count > 0 &&
         !matches_any(record->include_patterns, parameter->key)))
        return MODEL_PARAMETER_ROLE_EXCLUDED;
    return MODEL_PARAMETER_ROLE_OPTIMIZED;
}

static const char *role_name(uint8_t role)
{
    switch (role) {
    case MODEL_PARAMETER_ROLE_OPTIMIZED: return "Optimized";
    case MODEL_PARAMETER_ROLE_FROZEN: return "Frozen";
    case MODEL_PARAMETER_ROLE_RUNNING_STATE: return "RunningState";
    case MODEL_PARAMETER_ROLE_EXCLUDED: return "Excluded";
    default: return "Unknown";
    }
}

static cg_code set_role(sorter *self, model_parameter *parameter)
{
    pipeline *all = self->all;
    bool is_optimized = false, is_excluded = false, is_frozen = false;
    cg_str detail;

    for (size_t i = 0; i < self->found.count; i++) {
        uint8_t role = role_by(&self->found.at[i], parameter);

        is_optimized = is_optimized || role == MODEL_PARAMETER_ROLE_OPTIMIZED;
        is_excluded = is_excluded || role == MODEL_PARAMETER_ROLE_EXCLUDED;
        is_frozen = is_frozen || role == MODEL_PARAMETER_ROLE_FROZEN;
        if (role == MODEL_PARAMETER_ROLE_OPTIMIZED &&
            !draft_text(all->draft, &parameter->optimizer_memberships,
                        self->found.at[i].record->id))
            return nomem(all);
    }
    if (parameter->role != MODEL_PARAMETER_ROLE_RUNNING_STATE)
        parameter->role = is_optimized  ? MODEL_PARAMETER_ROLE_OPTIMIZED
                          : is_excluded ? MODEL_PARAMETER_ROLE_EXCLUDED
                          : is_frozen   ? MODEL_PARAMETER_ROLE_FROZEN
                                        : MODEL_PARAMETER_ROLE_UNKNOWN;
    if (!arena_format(&all->draft->mem, &detail,
                      "role %s derived from optimizer membership, not constructor naming",
                      role_name(parameter->role)) ||
        !draft_evidence(all->draft, &parameter->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                        is_optimized ? MODEL_CONFIDENCE_PROVEN : MODEL_CONFIDENCE_CONDITIONAL,
                        parameter->source, detail))
        return nomem(all);
    return CG_OK;
}

static uint8_t role_of_name(cg_str name)
{
    static const struct {
        const char *part;
        uint8_t role;
    } rows[] = {
        {"train", MODEL_BUILDER_ROLE_TRAINABLE},   {"base", MODEL_BUILDER_ROLE_FROZEN},
        {"frozen", MODEL_BUILDER_ROLE_FROZEN},     {"mmap", MODEL_BUILDER_ROLE_FROZEN},
        {"pretrained", MODEL_BUILDER_ROLE_FROZEN}, {"state", MODEL_BUILDER_ROLE_STATE},
        {"running", MODEL_BUILDER_ROLE_STATE},
    };

    if (str_equal(name, CG_LIT("adapter_vb")))
        return MODEL_BUILDER_ROLE_TRAINABLE;
    if (str_find(name, CG_LIT("pretrained")) != SIZE_MAX)
        return MODEL_BUILDER_ROLE_FROZEN; /* though `train` is in it */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (str_find(name, str_from(rows[i].part)) != SIZE_MAX)
            return rows[i].role;
    }
    return MODEL_BUILDER_ROLE_UNKNOWN;
}

static const char *builder_role_name(uint8_t role)
{
    return role == MODEL_BUILDER_ROLE_TRAINABLE ? "Trainable"
           : role == MODEL_BUILDER_ROLE_FROZEN  ? "Frozen"
                                                : "State";
}

/* How often each role occurs among the parameters of one builder of one component. */
typedef struct builder_roles {
    bool has_optimized, has_other;
} builder_roles;

static cg_code set_builder(sorter *self, const model_component *component, model_builder *builder,
                           builder_roles roles)
{
    model_draft *draft = self->all->draft;
    cg_str detail;

    builder->role = role_of_name(builder->name);
    if (builder->role != MODEL_BUILDER_ROLE_UNKNOWN &&
        (!arena_format(&draft->mem, &detail, "builder name `%.*s` suggests role `%s`",
                       (int)builder->name.len, builder->name.ptr,
                       builder_role_name(builder->role)) ||
         !draft_evidence(draft, &builder->evidence, MODEL_EVIDENCE_KIND_INFERRED,
                         MODEL_CONFIDENCE_HEURISTIC, component->source, detail)))
        return nomem(self->all);
    if (roles.has_optimized)
        builder->role = MODEL_BUILDER_ROLE_TRAINABLE;
    else if (roles.has_other)
        builder->role = MODEL_BUILDER_ROLE_FROZEN;
    return CG_OK;
}

static cg_code set_builders(sorter *self)
{
    model_draft *draft = self->all->draft;
    size_t next = 0;

    for (size_t i = 0; i < draft->lists[MODEL_COMPONENTS].count; i++) {
        model_component *component = draft->lists[MODEL_COMPONENTS].at[i];
        model_builder *builders = (model_builder *)(uintptr_t)component->builders.at;
        size_t first = next;

        /* Parameters of a component stand together, in the order of components. */
        while (
            next < draft->lists[MODEL_PARAMETERS].count &&
            str_equal(((const model_parameter *)draft->lists[MODEL_PARAMETERS].at[next])->component,
                      component->id))
            next++;
        for (size_t j = 0; j < component->builders.count; j++) {
            builder_roles roles = {0};

            for (size_t k = first; k < next; k++) {
                const model_parameter *parameter = draft->lists[MODEL_PARAMETERS].at[k];

                if (!str_equal(parameter->builder_root, builders[j].name))
                    continue;
                roles.has_optimized =
                    roles.has_optimized || parameter->role == MODEL_PARAMETER_ROLE_OPTIMIZED;
                roles.has_other =
                    roles.has_other || (parameter->role != MODEL_PARAMETER_ROLE_OPTIMIZED &&
                                        parameter->role != MODEL_PARAMETER_ROLE_UNKNOWN);
            }
            CG_TRY(set_builder(self, component, &builders[j], roles));
        }
    }
    return CG_OK;
}

cg_code pipeline_roles(pipeline *self)
{
    sorter sorting = {
        .all = self,
        .is_known = arena_zero(&self->draft->mem, self->functions->all.count + 1),
    };
    cg_code code = sorting.is_known ? from_flow(&sorting) : nomem(self);

    if (code == CG_OK)
        code = from_names(&sorting);
    for (size_t i = 0; code == CG_OK && i < self->draft->lists[MODEL_PARAMETERS].count; i++)
        code = set_role(&sorting, self->draft->lists[MODEL_PARAMETERS].at[i]);
    if (code == CG_OK)
        code = set_builders(&sorting);
    vec_free(self->draft->heap, &sorting.found);
    return code;
}
