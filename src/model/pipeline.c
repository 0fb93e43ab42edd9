#include "model/pipeline.h"

#include "base/sort.h"
#include "model/ids.h"
#include "model/place.h"
#include "model/walk.h"

#define CALLS_MOST 4096u

cg_code pipeline_begin(const extraction *components, const drivers *from,
                       const function_facts *functions, model_draft *draft, pipeline *ret,
                       cg_err *reterr)
{
    program *code_of = components->eval->program;
    size_t count = components->components.count;
    bool is_good;

    *ret = (pipeline){
        .components = components,
        .drivers = from,
        .functions = functions,
        .draft = draft,
        .program = code_of,
        .types = components->eval->types,
        .by_type = arena_zero(&draft->mem, code_of->items.count * sizeof(uint32_t)),
        .ids = arena_zero(&draft->mem, (count + 1) * sizeof(cg_str)),
        .stage_of = arena_zero(&draft->mem, (functions->all.count + 1) * sizeof(uint32_t)),
        .reterr = reterr,
    };
    number_map_init(&ret->by_id, draft->heap);
    is_good = ret->by_type && ret->ids && ret->stage_of;
    for (size_t i = 0; is_good && i < count; i++) {
        const extract_component *component = &components->components.at[i];

        if (component->type)
            ret->by_type[component->type] = (uint32_t)i + 1;
        is_good = id_make(&draft->mem, MODEL_ID_KIND_COMPONENT, ID_PARTS(component->qualified),
                          &ret->ids[i]);
    }
    for (size_t i = 0; is_good && i < functions->all.count; i++)
        is_good = number_map_put(&ret->by_id, (uint64_t)(uintptr_t)functions->all.at[i].id.ptr,
                                 (uint32_t)i) != NULL;
    if (is_good)
        return CG_OK;
    pipeline_end(ret);
    return err_nomem(reterr);
}

void pipeline_end(pipeline *self)
{
    number_map_free(&self->by_id);
    vec_free(self->draft->heap, &self->stages);
    vec_free(self->draft->heap, &self->stage_functions);
}

/* --- stages --- */

typedef struct planned {
    uint32_t function; /* index of a fact */
    cg_str key;        /* of a subprocess, else absent */
    sc_strs flags;
    cg_str launcher;
    cg_str orchestrator;
    opt_u64 order;
    model_place place;
} planned;

typedef struct planner {
    pipeline *all;
    VEC(planned) plans;
    bool *is_launcher;     /* by fact */
    bool *is_stage;        /* by fact: it is one if somebody calls it among others */
    uint32_t orchestrator; /* fact + 1 */
} planner;

static cg_code nomem(pipeline *self)
{
    return err_nomem(self->reterr);
}

static bool starts(cg_str text, const char *with)
{
    return str_starts_with(text, str_from(with));
}

static bool has(cg_str text, const char *part)
{
    return str_find(text, str_from(part)) != SIZE_MAX;
}

static bool is_stage_name(cg_str name)
{
    return str_equal(name, CG_LIT("prepare_data")) || str_equal(name, CG_LIT("final_eval")) ||
           starts(name, "train_") || starts(name, "evaluate_") || starts(name, "export_") ||
           starts(name, "preflight_") || str_equal(name, CG_LIT("train")) ||
           str_equal(name, CG_LIT("evaluate"));
}

/* When nothing else is found. */
static bool is_loose_name(cg_str name)
{
    return str_equal(name, CG_LIT("prepare")) || starts(name, "try_run_") ||
           (starts(name, "run_") &&
            (has(name, "train") || has(name, "eval") || has(name, "prepare")));
}

static uint8_t kind_of_name(cg_str name)
{
    if (has(name, "eval"))
        return MODEL_STAGE_KIND_EVALUATE;
    if (has(name, "prepare") || has(name, "data"))
        return MODEL_STAGE_KIND_PREPARE;
    if (has(name, "train") || has(name, "bridge") || str_equal(name, CG_LIT("latent")) ||
        str_equal(name, CG_LIT("world")))
        return MODEL_STAGE_KIND_TRAIN;
    if (has(name, "export"))
        return MODEL_STAGE_KIND_EXPORT;
    return starts(name, "preflight_") ? MODEL_STAGE_KIND_PROBE : MODEL_STAGE_KIND_UNKNOWN;
}

static const driver *driver_of(const pipeline *self, item_ref function)
{
    for (size_t i = 0; i < self->drivers->all.count; i++) {
        if (self->drivers->all.at[i].function == function)
            return &self->drivers->all.at[i];
    }
    return NULL;
}

/* What the function does itself: makes an optimizer, or loads weights without one. */
static uint8_t kind_of_facts(const pipeline *self, item_ref function)
{
    const driver *at = driver_of(self, function);
    bool has_optimizer = false, has_weights = false;

    for (size_t i = 0; at && i < at->optimizers.count; i++)
        has_optimizer = has_optimizer || at->optimizers.at[i].place.function == function;
    for (size_t i = 0; at && i < at->sites.count; i++) {
        const driver_site *site = &at->sites.at[i];

        for (size_t j = 0; site->place.function == function && j < site->builder_count; j++)
            has_weights = has_weights || (site->builders[j].source != BUILDER_VARMAP &&
                                          site->builders[j].source != BUILDER_PARAMETER);
    }
    for (size_t i = 0; at && i < at->loads.count; i++)
        has_weights = has_weights || at->loads.at[i].place.function == function;
    return has_optimizer ? MODEL_STAGE_KIND_TRAIN
           : has_weights ? MODEL_STAGE_KIND_EVALUATE
                         : MODEL_STAGE_KIND_UNKNOWN;
}

static bool body_contains(const pipeline *self, const function_fact *fact, const char *part)
{
    const program_item *item = &self->program->items.at[fact->item];
    ast_ref body = walk_body(self->program, fact->item);

    return body && has(ast_text(program_tree(self->program, item->file), body), part);
}

/* The fact a call's path leads to, UINT32_MAX. */
static cg_code callee_fact(pipeline *self, const function_fact *caller, ast_ref call, uint32_t *ret)
{
    const program_item item = self->program->items.at[caller->item];
    const ast *tree = program_tree(self->program, item.file);
    ast_ref callee = ast_child(tree, call, ROLE_FUNCTION);
    name_def def = {0};

    *ret = UINT32_MAX;
    if (!callee || (ast_kind_of(tree, callee) != AST_IDENTIFIER &&
                    ast_kind_of(tree, callee) != AST_SCOPED_IDENTIFIER))
        return CG_OK;
    CG_TRY(names_resolve(self->program, item.module, item.file, callee, SPACE_VALUE, &def,
                         self->reterr));
    const function_fact *fact =
        def.kind == DEF_ITEM && def.rest == 0 ? function_of(self->functions, def.item) : NULL;

    if (fact)
        *ret = (uint32_t)(fact - self->functions->all.at);
    return CG_OK;
}

static cg_str literal_of(const pipeline *self, const ast *tree, ast_ref at)
{
    uint8_t kind = ast_kind_of(tree, at);

    return kind == AST_STRING_LITERAL || kind == AST_RAW_STRING_LITERAL
               ? program_text(self->program, ast_at(tree, at)->text)
               : (cg_str){0};
}

/* The first string below a node, itself included. */
static cg_str first_literal(const pipeline *self, const ast *tree, ast_ref top)
{
    for (ast_ref at = top; at; at = walk_next(tree, top, at)) {
        cg_str text = literal_of(self, tree, at);

        if (text.ptr)
            return text;
    }
    return (cg_str){0};
}

static planned *plan_for(planner *self, uint32_t function, cg_str key)
{
    planned *plan;

    for (size_t i = 0; i < self->plans.count; i++) {
        plan = &self->plans.at[i];
        if (plan->function == function && (!key.ptr || !plan->key.ptr || str_equal(plan->key, key)))
            return plan;
    }
    plan = vec_add(self->all->draft->heap, &self->plans);
    if (plan)
        *plan = (planned){.function = function};
    return plan;
}

static bool add_flags(planner *self, const ast *tree, ast_ref from, sc_strs *flags)
{
    for (ast_ref at = from; at; at = walk_next(tree, from, at)) {
        cg_str text = literal_of(self->all, tree, at);
        bool is_known = false;

        for (size_t i = 0; text.ptr && i < flags->count; i++)
            is_known = is_known || str_equal(flags->at[i], text);
        if (text.ptr && starts(text, "--") && !is_known &&
            !draft_text(self->all->draft, flags, text))
            return false;
    }
    return true;
}

/* `launcher("key", args)`: the function it stands in is a stage of its own process. */
static cg_code plan_launch(planner *self, const function_fact *fact, uint32_t launcher,
                           ast_ref call)
{
    const program_item item = self->all->program->items.at[fact->item];
    const ast *tree = program_tree(self->all->program, item.file);
    cg_str name = self->all->functions->all.at[launcher].name;
    bool is_late = str_equal(name, CG_LIT("run_training_stage_with_oom_recovery"));
    ast_ref key = walk_argument(tree, call, is_late ? 2 : 0);
    cg_str text = key ? first_literal(self->all, tree, key) : (cg_str){0};
    planned *plan;

    if (!text.ptr || self->is_launcher[fact - self->all->functions->all.at])
        return CG_OK;
    plan = plan_for(self, (uint32_t)(fact - self->all->functions->all.at), text);
    if (!plan)
        return nomem(self->all);
    plan->key = text;
    plan->launcher = name;
    plan->place =
        (model_place){item.file, ast_at(tree, call)->start, ast_at(tree, call)->end, fact->item};
    for (size_t i = is_late ? 3 : 1; i < 16; i++) {
        ast_ref argument = walk_argument(tree, call, i);

        if (argument && !add_flags(self, tree, argument, &plan->flags))
            return nomem(self->all);
    }
    return CG_OK;
}

typedef cg_code (*call_visitor)(planner *self, const function_fact *fact, uint32_t callee,
                                ast_ref call);

static cg_code each_call(planner *self, const function_fact *fact, call_visitor visit)
{
    file_ref file = self->all->program->items.at[fact->item].file;
    ast_ref body = walk_body(self->all->program, fact->item);

    for (ast_ref at = body; at; at = walk_next(program_tree(self->all->program, file), body, at)) {
        uint32_t callee;

        if (ast_kind_of(program_tree(self->all->program, file), at) != AST_CALL_EXPRESSION)
            continue;
        CG_TRY(callee_fact(self->all, fact, at, &callee));
        if (callee != UINT32_MAX)
            CG_TRY(visit(self, fact, callee, at));
    }
    return CG_OK;
}

static cg_code visit_launch(planner *self, const function_fact *fact, uint32_t callee, ast_ref call)
{
    return self->is_launcher[callee] ? plan_launch(self, fact, callee, call) : CG_OK;
}


/* Which function calls most stages: `run_pipeline` before all others. */
static cg_code find_orchestrator(planner *self)
{
    const function_facts *facts = self->all->functions;
    size_t best = 0;

    for (size_t i = 0; i < facts->all.count; i++) {
        const function_fact *fact = &facts->all.at[i];
        bool is_named = str_equal(fact->name, CG_LIT("run_pipeline")) && !fact->owner.ptr;
        size_t count = 0;

        if (walk_is_test(self->all->program, fact->item))
            continue;
        for (size_t j = 0; j < fact->record->calls.count; j++) {
            const uint32_t *to = number_map_find(
                &self->all->by_id, (uint64_t)(uintptr_t)fact->record->calls.at[j].ptr);
            bool is_seen = false;

            for (size_t k = 0; k < j; k++)
                is_seen = is_seen || fact->record->calls.at[k].ptr == fact->record->calls.at[j].ptr;
            count += !is_seen && to && *to != i && self->is_stage[*to];
        }
        if (count < (is_named ? 1u : 2u))
            continue;
        count += is_named ? facts->all.count : 0;
        if (count > best) {
            best = count;
            self->orchestrator = (uint32_t)i + 1;
        }
    }
    return CG_OK;
}

static cg_code visit_order(planner *self, const function_fact *fact, uint32_t callee, ast_ref call)
{
    const program_item item = self->all->program->items.at[fact->item];
    const ast *tree = program_tree(self->all->program, item.file);
    uint64_t order = 0;
    planned *plan;

    if (!self->is_stage[callee] || callee + 1 == self->orchestrator)
        return CG_OK;
    plan = plan_for(self, callee, (cg_str){0});
    if (!plan)
        return nomem(self->all);
    if (plan->order.is_set)
        return CG_OK;
    for (size_t i = 0; i < self->plans.count; i++)
        order += self->plans.at[i].order.is_set;
    plan->order = (opt_u64){.is_set = true, .value = order};
    plan->orchestrator = fact->name;
    if (!plan->place.file)
        plan->place = (model_place){item.file, ast_at(tree, call)->start, ast_at(tree, call)->end,
                                    fact->item};
    return CG_OK;
}

static cg_code stage_name(pipeline *self, const function_fact *fact, cg_str *ret)
{
    size_t colon = str_find_last(fact->qualified, ':');
    cg_str module = {0};

    *ret = fact->name;
    if (colon == SIZE_MAX || colon < 2)
        return CG_OK;
    module = (cg_str){fact->qualified.ptr, colon - 1};
    colon = str_find_last(module, ':');
    if (colon != SIZE_MAX)
        module = (cg_str){module.ptr + colon + 1, module.len - colon - 1};
    if (str_find(fact->name, module) != SIZE_MAX)
        return CG_OK;
    return arena_format(&self->draft->mem, ret, "%.*s:%.*s", (int)module.len, module.ptr,
                        (int)fact->name.len, fact->name.ptr)
               ? CG_OK
               : nomem(self);
}

/* Components the stage's function puts together, with those inside of them. */
static cg_code add_components(pipeline *self, const function_fact *fact, model_stage *stage)
{
    const driver *at = driver_of(self, fact->item);
    bool *is_known = arena_zero(&self->draft->mem, self->components->components.count + 1);

    if (!is_known)
        return nomem(self);
    for (size_t i = 0; at && i < at->sites.count; i++) {
        item_ref type = at->sites.at[i].type;
        uint32_t component = type ? self->by_type[type] : 0;

        if (!component || is_known[component])
            continue;
        is_known[component] = true;
        if (!draft_text(self->draft, &stage->components, self->ids[component - 1]))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code evidence(pipeline *self, sc_records *list, cg_str source, const char *format,
                        cg_str first, cg_str second)
{
    cg_str text;
    buf out;
    bool is_first = true;

    buf_init(&out, self->draft->heap, SIZE_MAX);
    for (const char *at = format; *at; at++) {
        if (*at != '%') {
            buf_byte(&out, *at);
            continue;
        }
        buf_add(&out, is_first ? first : second);
        is_first = false;
    }
    bool is_good = !out.failed && arena_text(&self->draft->mem, buf_text(&out), &text) &&
                   draft_evidence(self->draft, list, MODEL_EVIDENCE_KIND_SOURCE,
                                  MODEL_CONFIDENCE_HEURISTIC, source, text);

    buf_free(&out);
    return is_good ? CG_OK : nomem(self);
}

static cg_code emit(planner *self, const planned *plan)
{
    pipeline *all = self->all;
    const function_fact *fact = &all->functions->all.at[plan->function];
    bool is_subprocess = plan->key.ptr != NULL;
    model_stage *stage = draft_stage(all->draft);
    model_stage **slot = vec_add(all->draft->heap, &all->stages);
    uint32_t *function = vec_add(all->draft->heap, &all->stage_functions);
    uint8_t kind;

    if (!stage || !slot || !function)
        return nomem(all);
    *slot = stage;
    *function = plan->function;
    stage->name = plan->key;
    if (!is_subprocess)
        CG_TRY(stage_name(all, fact, &stage->name));
    kind = kind_of_facts(all, fact->item);
    stage->kind = kind_of_name(stage->name);
    if (stage->kind == MODEL_STAGE_KIND_UNKNOWN || kind == MODEL_STAGE_KIND_TRAIN)
        stage->kind = kind != MODEL_STAGE_KIND_UNKNOWN ? kind : stage->kind;
    stage->function = fact->id;
    stage->order = plan->order;
    stage->source = fact->record->source;
    stage->dispatch = is_subprocess            ? MODEL_DISPATCH_SUBPROCESS
                      : plan->orchestrator.ptr ? MODEL_DISPATCH_INLINE
                                               : MODEL_DISPATCH_UNKNOWN;
    stage->subprocess_key = plan->key;
    stage->cli_flags = plan->flags;
    stage->launcher = plan->launcher;
    stage->orchestrator = plan->orchestrator;
    if (!id_make(&all->draft->mem,
                 is_subprocess || plan->orchestrator.ptr ? MODEL_ID_KIND_SUBPROCESS_STAGE
                                                         : MODEL_ID_KIND_STAGE,
                 ID_PARTS(fact->qualified, stage->name), &stage->id))
        return nomem(all);
    CG_TRY(add_components(all, fact, stage));
    if (plan->orchestrator.ptr)
        CG_TRY(evidence(all, &stage->evidence, stage->source,
                        "orchestrator `%` calls `%` in source order", plan->orchestrator,
                        fact->name));
    if (is_subprocess)
        CG_TRY(evidence(all, &stage->evidence, stage->source,
                        "subprocess relaunch via `%` with stage key `%`", plan->launcher,
                        plan->key));
    if (!plan->orchestrator.ptr && !is_subprocess)
        CG_TRY(evidence(
            all, &stage->evidence, stage->source,
            kind == MODEL_STAGE_KIND_UNKNOWN
                ? "stage entry point guessed from its name"
                : "stage entry point: variables are trained or a checkpoint is loaded here",
            (cg_str){0}, (cg_str){0}));
    return CG_OK;
}

/* Every function a stage leads to belongs to it, unless an earlier one leads there too. */
static cg_code spread_stages(pipeline *self)
{
    uint32_t *open =
        arena_take(&self->draft->mem, (self->functions->all.count + 1) * sizeof(uint32_t));

    if (!open)
        return nomem(self);
    for (size_t i = 0; i < self->stage_functions.count; i++) {
        if (!self->stage_of[self->stage_functions.at[i]])
            self->stage_of[self->stage_functions.at[i]] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < self->stage_functions.count; i++) {
        size_t count = 0;

        if (self->stage_of[self->stage_functions.at[i]] == i + 1)
            open[count++] = self->stage_functions.at[i];
        while (count > 0) {
            sc_strs calls = self->functions->all.at[open[--count]].record->calls;

            for (size_t j = 0; j < calls.count; j++) {
                const uint32_t *to =
                    number_map_find(&self->by_id, (uint64_t)(uintptr_t)calls.at[j].ptr);

                if (to && !self->stage_of[*to]) {
                    self->stage_of[*to] = (uint32_t)i + 1;
                    open[count++] = *to;
                }
            }
        }
    }
    return CG_OK;
}

static cg_code plan_all(planner *self)
{
    const function_facts *facts = self->all->functions;

    for (size_t i = 0; i < facts->all.count; i++) {
        const function_fact *fact = &facts->all.at[i];
        bool is_test = walk_is_test(self->all->program, fact->item);

        self->is_launcher[i] =
            str_equal(fact->name, CG_LIT("run_stage_command")) ||
            str_equal(fact->name, CG_LIT("run_training_stage_with_oom_recovery")) ||
            (body_contains(self->all, fact, "current_exe") &&
             body_contains(self->all, fact, "Command"));
        self->is_stage[i] = !is_test && !fact->owner.ptr &&
                            (is_stage_name(fact->name) ||
                             kind_of_facts(self->all, fact->item) != MODEL_STAGE_KIND_UNKNOWN);
    }
    for (size_t i = 0; i < facts->all.count; i++) {
        if (!walk_is_test(self->all->program, facts->all.at[i].item))
            CG_TRY(each_call(self, &facts->all.at[i], visit_launch));
    }
    for (size_t i = 0; i < self->plans.count; i++)
        self->is_stage[self->plans.at[i].function] = true;
    CG_TRY(find_orchestrator(self));
    if (self->orchestrator)
        CG_TRY(each_call(self, &facts->all.at[self->orchestrator - 1], visit_order));
    for (size_t i = 0; i < facts->all.count; i++) {
        const function_fact *fact = &facts->all.at[i];
        bool is_driven = kind_of_facts(self->all, fact->item) == MODEL_STAGE_KIND_TRAIN;

        if (walk_is_test(self->all->program, fact->item) || i + 1 == self->orchestrator ||
            (!is_driven && (self->plans.count > 0 || !is_loose_name(fact->name))))
            continue;
        if (!plan_for(self, (uint32_t)i, (cg_str){0}))
            return nomem(self->all);
    }
    for (size_t i = 0; i < self->plans.count; i++)
        CG_TRY(emit(self, &self->plans.at[i]));
    return spread_stages(self->all);
}

cg_code pipeline_stages(pipeline *self)
{
    planner planning = {
        .all = self,
        .is_launcher = arena_zero(&self->draft->mem, self->functions->all.count + 1),
        .is_stage = arena_zero(&self->draft->mem, self->functions->all.count + 1),
    };
    cg_code code = planning.is_launcher && planning.is_stage ? plan_all(&planning) : nomem(self);

    vec_free(self->draft->heap, &planning.plans);
    return code;
}

cg_str pipeline_stage_id(const pipeline *self, item_ref function)
{
    const function_fact *fact = function_of(self->functions, function);
    uint32_t stage = fact ? self->stage_of[fact - self->functions->all.at] : 0;

    return stage ? self->stages.at[stage - 1]->id : (cg_str){0};
}

/* --- which component is called after which --- */

static const char *const entry_names[] = {
    "forward",  "forward_diff", "forward_features", "forward_t", "encode", "predict",
    "compress", "conditioning", "condition",        "generate",  "decode", "loss",
};

static bool is_entry_name(cg_str name)
{
    for (size_t i = 0; i < sizeof entry_names / sizeof *entry_names; i++) {
        if (str_is(name, entry_names[i]))
            return true;
    }
    return str_ends_with(name, CG_LIT("_forward")) || str_ends_with(name, CG_LIT("_loss"));
}

typedef struct local {
    sym name;
    uint32_t component; /* + 1 */
} local;

typedef struct called {
    uint32_t end; /* inner calls end before outer ones */
    uint32_t component;
} called;

typedef struct caller {
    pipeline *all;
    const function_fact *fact;
    VEC(local) locals;
    VEC(called) calls;
    size_t parameters; /* how many of the locals are parameters */
} caller;

static uint32_t component_of(const pipeline *self, type_ref type)
{
    const model_type *shape = type_at(self->types, type_peel(self->types, type));

    return shape->kind == TYPE_ITEM && shape->item ? self->by_type[shape->item] : 0;
}

static cg_code add_local(caller *self, sym name, uint32_t component)
{
    local *slot = component ? vec_add(self->all->draft->heap, &self->locals) : NULL;

    if (component && !slot)
        return nomem(self->all);
    if (slot)
        *slot = (local){name, component};
    return CG_OK;
}

static cg_code add_parameters(caller *self)
{
    const program_item item = self->all->program->items.at[self->fact->item];
    ast_ref list =
        ast_child(program_tree(self->all->program, item.file), item.node, ROLE_PARAMETERS);

    for (ast_ref at = list ? ast_at(program_tree(self->all->program, item.file), list)->first : 0;
         at; at = ast_at(program_tree(self->all->program, item.file), at)->next) {
        const ast *tree = program_tree(self->all->program, item.file);
        ast_ref pattern = ast_child(tree, at, ROLE_PATTERN);
        ast_ref written = ast_child(tree, at, ROLE_TYPE);
        type_ref type = 0;

        if (ast_kind_of(tree, at) != AST_PARAMETER || !pattern || !written ||
            ast_kind_of(tree, pattern) != AST_IDENTIFIER)
            continue;
        sym name = ast_at(tree, pattern)->text;

        CG_TRY(type_lower(self->all->types, item.module, item.file, written, NULL, &type,
                          self->all->reterr));
        CG_TRY(add_local(self, name, component_of(self->all, type)));
    }
    self->parameters = self->locals.count;
    return CG_OK;
}

/* `let x = Comp::new(..)`: the type before the last segment. */
static cg_code add_let(caller *self, ast_ref at)
{
    const program_item item = self->all->program->items.at[self->fact->item];
    const ast *tree = program_tree(self->all->program, item.file);
    ast_ref pattern = ast_child(tree, at, ROLE_PATTERN);
    ast_ref given = ast_child(tree, at, ROLE_VALUE);
    ast_ref callee, owner;
    name_def def = {0};
    uint32_t component = 0;
    type_ref type = 0;

    if (!pattern || !given || ast_kind_of(tree, pattern) != AST_IDENTIFIER)
        return CG_OK;
    given = walk_bare(self->all->program, tree, given);
    callee =
        ast_kind_of(tree, given) == AST_CALL_EXPRESSION ? ast_child(tree, given, ROLE_FUNCTION) : 0;
    owner = callee && ast_kind_of(tree, callee) == AST_SCOPED_IDENTIFIER
                ? ast_child(tree, callee, ROLE_PATH)
                : 0;
    if (!owner)
        return CG_OK;
    sym name = ast_at(tree, pattern)->text;

    CG_TRY(names_resolve(self->all->program, item.module, item.file, owner, SPACE_TYPE, &def,
                         self->all->reterr));
    if (def.kind == DEF_ITEM && def.rest == 0) {
        CG_TRY(type_of_item(self->all->types, def.item, &type, self->all->reterr));
        component = component_of(self->all, type);
    }
    return add_local(self, name, component);
}

static cg_code receiver_component(caller *self, ast_ref receiver, uint32_t *ret)
{
    const program_item item = self->all->program->items.at[self->fact->item];
    const ast *tree = program_tree(self->all->program, item.file);
    type_ref owner = 0, type = 0;

    *ret = 0;
    receiver = walk_bare(self->all->program, tree, receiver);
    if (ast_kind_of(tree, receiver) == AST_IDENTIFIER) {
        for (size_t i = self->locals.count; i > 0 && !*ret; i--) {
            if (self->locals.at[i - 1].name == ast_at(tree, receiver)->text)
                *ret = self->locals.at[i - 1].component;
        }
        return CG_OK;
    }
    if (ast_kind_of(tree, receiver) != AST_FIELD_EXPRESSION || !item.owner ||
        self->all->program->items.at[item.owner].kind != ITEM_IMPL)
        return CG_OK;
    ast_ref base = ast_child(tree, receiver, ROLE_VALUE);
    ast_ref field = ast_child(tree, receiver, ROLE_FIELD);

    if (!base || !field || ast_kind_of(tree, base) != AST_SELF)
        return CG_OK;
    sym name = ast_at(tree, field)->text;

    CG_TRY(type_of_item(self->all->types, item.owner, &owner, self->all->reterr));
    CG_TRY(type_field(self->all->types, owner, name, &type, self->all->reterr));
    *ret = component_of(self->all, type);
    return CG_OK;
}

static cg_code collect_calls(caller *self)
{
    file_ref file = self->all->program->items.at[self->fact->item].file;
    ast_ref body = walk_body(self->all->program, self->fact->item);

    for (ast_ref at = body; at && self->calls.count < CALLS_MOST;
         at = walk_next(program_tree(self->all->program, file), body, at)) {
        const ast *tree = program_tree(self->all->program, file);
        ast_ref name = walk_called(tree, at);
        ast_ref receiver = name ? walk_receiver(tree, at) : 0;
        uint32_t component = 0;

        if (ast_kind_of(tree, at) == AST_LET_DECLARATION)
            CG_TRY(add_let(self, at));
        if (!receiver || !is_entry_name(program_text(self->all->program, ast_at(tree, name)->text)))
            continue;
        CG_TRY(receiver_component(self, receiver, &component));
        called *slot = component ? vec_add(self->all->draft->heap, &self->calls) : NULL;

        if (component && !slot)
            return nomem(self->all);
        if (slot)
            *slot = (called){ast_at(program_tree(self->all->program, file), at)->end, component};
    }
    return CG_OK;
}

static bool ends_before(const void *context, uint32_t a, uint32_t b)
{
    const caller *self = context;

    return self->calls.at[a].end < self->calls.at[b].end;
}

static cg_code add_edge(caller *self, uint32_t from, uint32_t to, cg_str detail)
{
    pipeline *all = self->all;
    model_edge *edge = draft_edge(all->draft);

    if (!edge)
        return nomem(all);
    edge->from = all->ids[from - 1];
    edge->to = all->ids[to - 1];
    edge->via_function = self->fact->id;
    edge->source = self->fact->record->source;
    return id_make(&all->draft->mem, MODEL_ID_KIND_ARCHITECTURE_EDGE,
                   ID_PARTS(edge->from, edge->to, edge->via_function), &edge->id) &&
                   draft_evidence(all->draft, &edge->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                                  MODEL_CONFIDENCE_HEURISTIC, edge->source, detail)
               ? CG_OK
               : nomem(all);
}

static cg_code edges_of(caller *self)
{
    size_t count = self->calls.count;
    uint32_t *order;

    if (self->parameters > count) {
        for (size_t i = 1; i < self->parameters; i++) {
            uint32_t from = self->locals.at[i - 1].component, to = self->locals.at[i].component;

            if (from != to)
                CG_TRY(add_edge(self, from, to,
                                CG_LIT("component-typed parameters establish this interface "
                                       "order")));
        }
        return CG_OK;
    }
    order = heap_resize(self->all->draft->heap, NULL, 0, (2 * count + 1) * sizeof *order);
    if (!order)
        return nomem(self->all);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, ends_before, self);
    cg_code code = CG_OK;

    for (size_t i = 1; code == CG_OK && i < count; i++) {
        uint32_t from = self->calls.at[order[i - 1]].component;
        uint32_t to = self->calls.at[order[i]].component;

        if (from != to)
            code = add_edge(self, from, to,
                            CG_LIT("typed component receiver calls occur in this source order"));
    }
    heap_resize(self->all->draft->heap, order, (2 * count + 1) * sizeof *order, 0);
    return code;
}

cg_code pipeline_calls(pipeline *self)
{
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < self->functions->all.count; i++) {
        caller one = {.all = self, .fact = &self->functions->all.at[i]};

        if (walk_is_test(self->program, one.fact->item))
            continue;
        code = add_parameters(&one);
        if (code == CG_OK)
            code = collect_calls(&one);
        if (code == CG_OK)
            code = edges_of(&one);
        vec_free(self->draft->heap, &one.locals);
        vec_free(self->draft->heap, &one.calls);
    }
    return code;
}
