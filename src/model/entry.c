#include "model/entry.h"

#include "model/flow_build.h"
#include "model/flow_tensors.h"
#include "model/makers.h"
#include "model/std_call.h"
#include "model/value_kinds.h"
#include "model/walk.h"
#include "rust/edit.h"

#define ARGUMENTS_MOST 64u
/*
 * Steps of evaluation: of all entries of a file and of a crate, by size of the code; of one, at
 * most and at least. Those of a crate end a crate that is made to be slow.
 */
#define STEPS_OF_FILE  1600000u
#define STEPS_OF_CRATE 8000000u
#define STEPS_PER_BYTE 8u
#define STEPS_MOST     200000u
#define STEPS_LEAST    2000u

static cg_code nomem(entries *self)
{
    return err_nomem(self->reterr);
}

/* --- what is learned from --- */

static bool is_loss_row(const flow *graph, node_ref node)
{
    const flow_node *at = flow_at(graph, node);

    return at->row && (operation_at(at->row)->needs & NEED_LOSS) != 0 && !at->is_forgotten;
}

/*
 * Of the outputs those that a loss of the library leads to, else all; *ret_has_loss: there is
 * one. Nodes ascend, so one pass marks what comes from a loss; what a loop carries back is not
 * looked at.
 */
static cg_code choose_goals(entries *self, const entry_run *run, const node_ref **ret,
                            size_t *ret_count, bool *ret_has_loss)
{
    const flow *graph = run->graph;
    uint32_t first = run->since.nodes;
    bool *is_loss = arena_zero(&self->mem, graph->nodes.count - first + 1);
    node_ref *chosen = arena_take(&self->mem, (run->output_count + 1) * sizeof *chosen);
    size_t count = 0;

    if (!is_loss || !chosen)
        return nomem(self);
    *ret_has_loss = false;
    for (node_ref n = first; n < graph->nodes.count; n++) {
        size_t edge_count;
        const flow_edge *edges = flow_edges(graph, n, &edge_count);

        is_loss[n - first] = is_loss_row(graph, n);
        for (size_t i = 0; i < edge_count && !is_loss[n - first]; i++)
            is_loss[n - first] = edges[i].from >= first && edges[i].from < n &&
                                 edges[i].role != FLOW_BODY && is_loss[edges[i].from - first];
    }
    for (size_t i = 0; i < run->output_count; i++) {
        if (run->outputs[i] >= first && is_loss[run->outputs[i] - first])
            chosen[count++] = run->outputs[i];
    }
    *ret_has_loss = count > 0;
    if (count == 0 && run->output_count == 0) {
        /* Nothing comes back: what it computes for itself. */
        for (node_ref n = first; n < graph->nodes.count && count == 0; n++)
            count += is_loss_row(graph, n);
        *ret_has_loss = count > 0;
        chosen = arena_take(&self->mem, (graph->nodes.count - first + 1) * sizeof *chosen);
        if (!chosen)
            return nomem(self);
        count = 0;
        for (node_ref n = first; n < graph->nodes.count; n++) {
            if (is_loss_row(graph, n))
                chosen[count++] = n;
        }
    } else if (count == 0) {
        if (run->output_count)
            memcpy(chosen, run->outputs, run->output_count * sizeof *chosen);
        count = run->output_count;
    }
    *ret = chosen;
    *ret_count = count;
    return CG_OK;
}

static cg_code find_goals(entries *self, entry_run *run, size_t first_event)
{
    const trail *track = self->eval->trail;
    node_ref *subjects = arena_take(&self->mem, (track->events.count + 1) * sizeof *subjects);
    size_t count = 0;
    bool has_loss = false;

    if (!subjects)
        return nomem(self);
    CG_TRY(choose_goals(self, run, &run->goals, &run->goal_count, &has_loss));
    for (size_t i = first_event; i < track->events.count; i++) {
        const trail_event *event = &track->events.at[i];
        node_ref node = event->kind == EVENT_BACKWARD && event->subject
                            ? flow_of(run->graph, event->subject)
                            : 0;

        if (node)
            subjects[count++] = node;
    }
    run->is_loss = run->function->is_loss || has_loss || count > 0 ||
                   phases_is_named_loss(run->function->name);
    if (count > 0) {
        run->goals = subjects;
        run->goal_count = count;
    }
    return CG_OK;
}

/* --- one run --- */

static size_t count_parameters(const entries *self, item_ref function)
{
    const program *code_of = self->eval->program;
    const program_item *item = &code_of->items.at[function];
    const ast *tree = program_tree(code_of, item->file);
    ast_ref list = ast_child(tree, item->node, ROLE_PARAMETERS);
    size_t count = 0;

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        uint8_t kind = ast_kind_of(tree, at);

        count += (kind == AST_PARAMETER || kind == AST_SELF_PARAMETER) && count < ARGUMENTS_MOST;
    }
    return count;
}

static uint64_t *spent_of(entries *self, file_ref file)
{
    while (self->spent.count <= file) {
        uint64_t *slot = vec_add(self->heap, &self->spent);

        if (!slot)
            return NULL;
        *slot = 0;
    }
    return &self->spent.at[file];
}

static uint64_t without(uint64_t from, uint64_t steps)
{
    return steps < from ? from - steps : 0;
}

/* What a function of the file may cost, if so many steps fewer were allowed in all. */
static uint64_t steps_for(const entries *self, file_ref file, uint64_t spent, uint64_t fewer)
{
    const program_file *of = self->eval->program->files.at[file];
    uint64_t whole = STEPS_OF_FILE + STEPS_PER_BYTE * (of ? of->source.text.len : 0);
    uint64_t share = without(whole, spent + fewer) / 8, left = without(self->steps_left, fewer);

    share = share > STEPS_MOST ? STEPS_MOST : share;
    share = share < left ? share : left;
    return share < STEPS_LEAST ? STEPS_LEAST : share;
}

/* The evaluation of an entry begins; *ret_place: the whole function. */
static cg_code begin_call(entries *self, item_ref function, model_place *ret_place)
{
    program *code_of = self->eval->program;
    const program_item *item = &code_of->items.at[function];
    const ast_node *node = ast_at(program_tree(code_of, item->file), item->node);
    model_place place = {item->file, node->start, node->end, function};
    uint64_t *spent = spent_of(self, place.file);

    if (!spent)
        return nomem(self);
    self->steps_sure = steps_for(self, place.file, *spent, STEPS_PER_BYTE * EDIT_MOST_MOVED);
    (void)eval_again(self->eval, steps_for(self, place.file, *spent, 0));
    uint32_t own = trail_add_instance(self->eval->trail,
                                      &(trail_instance){.constructor = function, .place = place});

    if (!own)
        return nomem(self);
    self->eval->trail->instance = own;
    self->eval->trail->repeat = 0;
    self->eval->trail->condition = 0;
    *ret_place = place;
    return CG_OK;
}

static void end_call(entries *self, model_place of)
{
    bool has_room = eval_has_room(self->eval, self->steps_sure);
    uint64_t done = eval_again(self->eval, STEPS_LEAST);

    self->is_near = self->is_near || !has_room;
    self->spent.at[of.file] += done;
    self->steps_left -= done < self->steps_left ? done : self->steps_left;
}

/* `given` is argument number `slot`; all others are what their types say. */
static cg_code call_item(entries *self, item_ref function, val given, size_t slot, val *ret)
{
    program *code_of = self->eval->program;
    const program_item item = code_of->items.at[function];
    type_bindings bindings = {0};
    model_place place;
    cg_code code;
    val args[ARGUMENTS_MOST] = {0};
    size_t count = count_parameters(self, function);

    if (item.owner && code_of->items.at[item.owner].kind == ITEM_IMPL)
        CG_TRY(type_of_item(self->eval->types, item.owner, &bindings.self_type, self->reterr));
    if (slot < count)
        args[slot] = given;
    CG_TRY(begin_call(self, function, &place));
    code = eval_call(self->eval, function, &bindings, args, count, place, ret);
    end_call(self, place);
    return code;
}

/* --- modules that are functions: what `resnet18(vb)` gives --- */

static bool is_type(entries *self, const value *at, const char *path)
{
    return at->type && str_equal(std_type_path(self->eval, at->type), str_from(path));
}

/* Is it something that computes without a method of the crate: a `Func`, a closure, a sequence? */
static bool is_callable(entries *self, val which)
{
    const value *at = value_at(self->eval->values, which);

    if (at->kind == VALUE_CHOICE && at->count > 0) {
        bool all = true;

        for (size_t i = 0; i < at->count && all; i++) {
            val item = at->as.items[i];

            all =
                value_kind_of(self->eval->values, item) != VALUE_CHOICE && is_callable(self, item);
        }
        return all;
    }
    return at->kind == VALUE_CLOSURE ||
           (at->kind == VALUE_STRUCT &&
            (is_type(self, at, "candle_nn::Func") || is_type(self, at, "candle_nn::FuncT") ||
             is_type(self, at, "candle_nn::Sequential")));
}

static cg_code call_module(entries *self, item_ref function, val module, val *ret)
{
    eval *owner = self->eval;
    const value *at = value_at(owner->values, module);
    bool is_closure = at->kind == VALUE_CLOSURE;
    const char *name = is_type(self, at, "candle_nn::FuncT") ? "forward_t" : "forward";
    sym method = intern_add(&owner->program->names, str_from(name));
    val args[2] = {
        value_unknown(owner->values, std_type(owner, "candle_core::Tensor"), CG_LIT("xs")),
        value_unknown(owner->values, 0, CG_LIT("train"))};
    size_t count = name[7] ? 2 : 1;
    model_place place;
    cg_code code;

    if (!method || !args[0] || !args[1])
        return nomem(self);
    CG_TRY(begin_call(self, function, &place));
    code = is_closure ? eval_apply(owner, module, args, count, place, ret)
                      : eval_method(owner, module, method, args, count, place, ret);
    end_call(self, place);
    return code;
}

static cg_code show(entries *self, entry_run *run, size_t first_event)
{
    if (!flow_settle(run->graph, run->since) || run->graph->failed)
        return nomem(self);
    if (!flow_tensors(run->graph, run->result, &self->mem, &run->outputs, &run->output_count))
        return nomem(self);
    CG_TRY(find_goals(self, run, first_event));
    for (size_t i = 0; i < self->reader_count; i++)
        CG_TRY(self->readers[i].read(self->readers[i].context, run, self->reterr));
    return CG_OK;
}

/* With `is_module` the receiver is called, else the function with it. */
static cg_code run_entry(entries *self, size_t index, const extract_component *component,
                         size_t component_index, val receiver, bool is_module)
{
    const function_fact *fact = &self->functions->all.at[index];
    flow *graph = self->eval->flow;
    trail *track = self->eval->trail;
    trail_mark trail_from = trail_position(track);
    size_t roots = track->roots.count, conditions = track->conditions.count;
    size_t repeats = track->repeats.count;
    values_mark values_from = values_position(self->eval->values);
    entry_run run = {
        .function = fact,
        .component = component,
        .component_index = component_index,
        .phases = is_module ? PHASES_TRAIN | PHASES_INFER : phases_of(fact),
        .graph = graph,
        .held = self->held,
        .held_in = self->held_in,
        .held_count = self->held_count,
        .since = flow_position(graph),
        .first_fault = trail_from.faults,
    };
    arena_place place = arena_mark(&self->mem);

    if (!env_progress(self->eval->program->env, "functions", index, self->functions->all.count))
        return CG_INTERRUPTED;
    self->is_done[index] = true;
    CG_TRY(is_module ? call_module(self, fact->item, receiver, &run.result)
                     : call_item(self, fact->item, receiver, self->slots[index], &run.result));
    run.is_maker = component && component->is_maker && component->constructor == fact->item;
    if (run.is_maker && !makers_name_roots(self->eval))
        return nomem(self);
    for (size_t i = trail_from.faults; i < track->faults.count; i++)
        run.is_cut = run.is_cut || track->faults.at[i].rule != NULL;
    CG_TRY(show(self, &run, trail_from.events));
    flow_reset(graph, run.since);
    trail_forget(track, trail_from);
    track->roots.count = roots;
    track->conditions.count = conditions;
    track->repeats.count = repeats;
    track->instance = 0;
    values_forget(self->eval->values, values_from);
    arena_reset(&self->mem, place);
    return CG_OK;
}

/* What the constructor made is for each function as it was: what one learns of it is not kept. */
static cg_code run_all_of(entries *self, item_ref type, const extract_component *component,
                          size_t component_index, val receiver)
{
    arena_place place = arena_mark(&self->mem);
    flow_kept kept;
    cg_code code = CG_OK;

    if (!flow_keep(self->eval->flow, &self->mem, &kept))
        return nomem(self);
    for (uint32_t i = self->first[type]; code == CG_OK && i; i = self->next[i - 1]) {
        if (self->is_done[i - 1])
            continue;
        code = run_entry(self, i - 1, component, component_index, receiver, false);
        flow_restore(self->eval->flow, &kept);
    }
    arena_reset(&self->mem, place);
    return code;
}

/* The tensors of what a constructor gave, field by field. */
static bool find_held(entries *self, val made)
{
    const value *at = value_at(self->eval->values, made);
    bool is_struct = at->kind == VALUE_STRUCT;
    size_t fields = is_struct ? at->count : 1;
    const node_ref **parts = arena_zero(&self->mem, (fields + 1) * sizeof(const node_ref *));
    size_t *counts = arena_zero(&self->mem, (fields + 1) * sizeof *counts);
    size_t count = 0;
    node_ref *held;
    sym *held_in;

    if (!parts || !counts)
        return false;
    for (size_t i = 0; i < fields; i++) {
        val part = is_struct ? at->as.fields[i].value : made;

        if (part && !flow_tensors(self->eval->flow, part, &self->mem, &parts[i], &counts[i]))
            return false;
        count += counts[i];
    }
    held = arena_take(&self->mem, (count + 1) * sizeof *held);
    held_in = arena_take(&self->mem, (count + 1) * sizeof *held_in);
    if (!held || !held_in)
        return false;
    count = 0;
    for (size_t i = 0; i < fields; i++) {
        for (size_t k = 0; k < counts[i]; k++) {
            held[count] = parts[i][k];
            held_in[count++] = is_struct ? at->as.fields[i].name : 0;
        }
    }
    self->held = held;
    self->held_in = held_in;
    self->held_count = count;
    return true;
}

cg_code entries_of_component(void *context, const extract_component *component, size_t index,
                             cg_err *reterr)
{
    entries *self = context;

    self->reterr = reterr;
    if (!component->type && component->result && is_callable(self, component->result)) {
        const function_fact *fact = function_of(self->functions, component->constructor);
        size_t which = fact ? (size_t)(fact - self->functions->all.at) : 0;

        return fact && !self->is_done[which]
                   ? run_entry(self, which, component, index, component->result, true)
                   : CG_OK;
    }
    if (!component->type || !self->first[component->type])
        return CG_OK;
    arena_place place = arena_mark(&self->mem);
    cg_code code = CG_OK;

    if (component->result && !find_held(self, component->result))
        code = nomem(self);
    if (code == CG_OK)
        code = run_all_of(self, component->type, component, index, component->result);
    self->held = NULL;
    self->held_in = NULL;
    self->held_count = 0;
    arena_reset(&self->mem, place);
    return code;
}

cg_code entries_of_makers(entries *self, const extraction *components, cg_err *reterr)
{
    self->reterr = reterr;
    for (size_t i = 0; i < components->components.count; i++) {
        const extract_component *component = &components->components.at[i];
        const function_fact *fact = component->is_maker && !component->type
                                        ? function_of(self->functions, component->constructor)
                                        : NULL;
        values_mark mark = values_position(self->eval->values);

        if (!fact || self->is_done[fact - self->functions->all.at])
            continue;
        flow_reset(self->eval->flow, self->empty);
        trail_reset(self->eval->trail);
        eval_begin(self->eval, self->eval->program->items.at[fact->item].file);
        CG_TRY(run_entry(self, (size_t)(fact - self->functions->all.at), component, i, 0, false));
        values_forget(self->eval->values, mark);
    }
    return CG_OK;
}

/* --- types that no builder makes --- */

/* An inherent function without a receiver that gives the type: `new` before others. */
static cg_code maker_of(entries *self, item_ref type, item_ref *ret)
{
    program *code_of = self->eval->program;
    const item_ref *impls = NULL;
    size_t count = 0;

    *ret = 0;
    CG_TRY(type_impls_for(self->eval->types, type, &impls, &count, self->reterr));
    for (size_t i = 0; i < count; i++) {
        const program_item impl = code_of->items.at[impls[i]];

        if (ast_child(program_tree(code_of, impl.file), impl.node, ROLE_TRAIT))
            continue;
        for (item_ref at = impl.first_in_owner; at; at = code_of->items.at[at].next_in_owner) {
            const program_item item = code_of->items.at[at];
            bool is_new = str_equal(program_text(code_of, item.name), CG_LIT("new"));
            type_ref made = 0;

            if (item.kind != ITEM_FUNCTION || item.has_self || (*ret && !is_new))
                continue;
            CG_TRY(type_of_item(self->eval->types, at, &made, self->reterr));
            const model_type *shape = type_at(self->eval->types, made);

            if (shape->kind != TYPE_FUNCTION || shape->arg_count == 0)
                continue;
            made = type_peel(self->eval->types, shape->args[shape->arg_count - 1]);
            shape = type_at(self->eval->types, made);
            if (shape->kind == TYPE_ITEM && shape->item == type)
                *ret = at;
        }
    }
    return CG_OK;
}

static cg_code run_type(entries *self, item_ref type)
{
    flow_mark mark = self->empty;
    item_ref maker = 0;
    val receiver = 0;
    bool is_pending = false;

    for (uint32_t i = self->first[type]; i; i = self->next[i - 1])
        is_pending = is_pending || !self->is_done[i - 1];
    if (!is_pending)
        return CG_OK;
    flow_reset(self->eval->flow, mark);
    trail_reset(self->eval->trail);
    eval_begin(self->eval, self->eval->program->items.at[type].file);
    if (type)
        CG_TRY(maker_of(self, type, &maker));
    if (maker) {
        CG_TRY(call_item(self, maker, 0, 0, &receiver));
        enum value_kind kind = value_kind_of(self->eval->values, receiver);

        if (kind != VALUE_STRUCT && kind != VALUE_ENUM && kind != VALUE_CHOICE)
            receiver = 0;
    }
    return run_all_of(self, type, NULL, SIZE_MAX, receiver);
}

cg_code entries_rest(entries *self, cg_err *reterr)
{
    cg_code code = CG_OK;

    self->reterr = reterr;
    for (item_ref type = 0; code == CG_OK && type < self->item_count; type++) {
        values_mark mark = values_position(self->eval->values);

        code = run_type(self, type);
        values_forget(self->eval->values, mark);
    }
    return code;
}

/* --- the list --- */

/*
 * The type whose value the function works with, and as which argument it gets it: that of the impl,
 * else the first struct or enum of the crate among the parameters; 0: none.
 */
static cg_code subject_of(entries *self, const function_fact *fact, item_ref *ret,
                          uint8_t *ret_slot)
{
    const program *code_of = self->eval->program;
    const program_item item = code_of->items.at[fact->item];
    type_ref type = 0;

    *ret = 0;
    *ret_slot = 0;
    if (item.owner && code_of->items.at[item.owner].kind == ITEM_IMPL) {
        CG_TRY(type_of_item(self->eval->types, item.owner, &type, self->reterr));
        if (item.has_self && type_at(self->eval->types, type)->kind == TYPE_ITEM) {
            *ret = type_at(self->eval->types, type)->item;
            return CG_OK;
        }
    }
    CG_TRY(type_of_item(self->eval->types, fact->item, &type, self->reterr));
    const model_type function = *type_at(self->eval->types, type);

    if (function.kind != TYPE_FUNCTION || item.has_self)
        return CG_OK;
    for (size_t i = 0; i + 1 < function.arg_count && i < ARGUMENTS_MOST; i++) {
        const model_type *shape =
            type_at(self->eval->types, type_peel(self->eval->types, function.args[i]));

        if (shape->kind != TYPE_ITEM ||
            !code_of->crates.at[code_of->modules.at[code_of->items.at[shape->item].module].crate]
                 .is_scanned)
            continue;
        if (!*ret || (self->is_made[shape->item] && !self->is_made[*ret])) {
            *ret = shape->item;
            *ret_slot = (uint8_t)i;
        }
    }
    return CG_OK;
}

/* Types whose impls have methods that are entries: of two parameters rather one of these. */
static cg_code mark_models(entries *self)
{
    const program *code_of = self->eval->program;

    for (size_t i = 0; i < self->functions->all.count; i++) {
        const function_fact *fact = &self->functions->all.at[i];
        item_ref owner = code_of->items.at[fact->item].owner;
        type_ref type = 0;

        if (!fact->has_tensor || !owner || code_of->items.at[owner].kind != ITEM_IMPL ||
            !code_of->items.at[fact->item].has_self)
            continue;
        CG_TRY(type_of_item(self->eval->types, owner, &type, self->reterr));
        if (type_at(self->eval->types, type)->kind == TYPE_ITEM)
            self->is_made[type_at(self->eval->types, type)->item] = true;
    }
    return CG_OK;
}

/* Entries by the type they work with, in source order. */
static cg_code sort_by_subject(entries *self)
{
    CG_TRY(mark_models(self));
    for (size_t i = self->functions->all.count; i > 0; i--) {
        const function_fact *fact = &self->functions->all.at[i - 1];
        item_ref subject = 0;

        if (!fact->is_entrypoint || walk_is_test(self->eval->program, fact->item))
            continue;
        CG_TRY(subject_of(self, fact, &subject, &self->slots[i - 1]));
        self->next[i - 1] = self->first[subject];
        self->first[subject] = (uint32_t)i;
    }
    return CG_OK;
}

cg_code entries_begin(entries *self, eval *interpreter, const function_facts *functions,
                      const entry_reader *readers, size_t count, cg_err *reterr)
{
    heap *from = interpreter->program->heap;
    size_t facts = functions->all.count;

    *self = (entries){
        .heap = from,
        .eval = interpreter,
        .functions = functions,
        .readers = readers,
        .reader_count = count,
        .item_count = interpreter->program->items.count,
        .reterr = reterr,
    };
    arena_init(&self->mem, from);
    self->is_done = arena_zero(&self->mem, facts + 1);
    self->slots = arena_zero(&self->mem, facts + 1);
    self->is_made = arena_zero(&self->mem, self->item_count + 1);
    self->first = arena_zero(&self->mem, (self->item_count + 1) * sizeof *self->first);
    self->next = arena_zero(&self->mem, (facts + 1) * sizeof *self->next);
    if (!self->is_done || !self->slots || !self->is_made || !self->first || !self->next ||
        !flow_new(interpreter->values, interpreter->trail, from, &interpreter->flow))
        return nomem(self);
    self->empty = flow_position(interpreter->flow);
    self->steps_left = STEPS_OF_CRATE;
    if (interpreter->program->part)
        self->steps_left += STEPS_PER_BYTE * interpreter->program->part->left_bytes;
    for (size_t i = 0; i < interpreter->program->files.count; i++) {
        const program_file *file = interpreter->program->files.at[i];

        self->steps_left += file ? STEPS_PER_BYTE * file->source.text.len : 0;
    }
    return sort_by_subject(self);
}

void entries_end(entries *self)
{
    if (!self->eval)
        return;
    flow_free(self->eval->flow);
    self->eval->flow = NULL;
    vec_free(self->heap, &self->spent);
    arena_free(&self->mem);
    *self = (entries){0};
}
