#include "model/usage.h"

#include "model/assemble.h"
#include "model/key_set.h"
#include "model/makers.h"
#include "model/normalise.h"
#include "model/walk.h"

typedef struct reporter {
    const learning *from;
    const extraction *of;
    const function_facts *functions;
    program *program;
    model_draft *draft;
    size_t first, end; /* entries of the component at work */
    bool *near;        /* by function: see find_near; NULL: not asked for yet */
    item_ref near_type;
    key_set unused;
    cg_err *reterr;
} reporter;

static cg_code nomem(const reporter *self)
{
    return err_nomem(self->reterr);
}

/* Does the entry count: is its result known? */
static bool counts(const learning_entry *entry, bool has_loss)
{
    return entry->has_outputs && (!has_loss || entry->is_loss);
}

/* --- parts that others can use --- */

/* Is the field of the struct public? */
static bool is_open_field(const reporter *self, item_ref owner, sym field)
{
    const program_item *item = &self->program->items.at[owner];
    const ast *tree = program_tree(self->program, item->file);
    ast_ref list = ast_child(tree, item->node, ROLE_BODY);

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        ast_ref name = ast_child(tree, at, ROLE_NAME);

        if (name && ast_at(tree, name)->text == field)
            return ast_child_kind(tree, at, AST_VISIBILITY_MODIFIER) != 0;
    }
    return false;
}

/* Does a public method of the struct hand out something of that type? */
static cg_code is_handed_out(const reporter *self, item_ref owner, type_ref part, bool *ret)
{
    types *known = self->of->eval->types;
    const item_ref *impls = NULL;
    size_t count = 0;

    *ret = false;
    CG_TRY(type_impls_for(known, owner, &impls, &count, self->reterr));
    for (size_t i = 0; i < count && !*ret; i++) {
        item_ref member = self->program->items.at[impls[i]].first_in_owner;

        for (; member && !*ret; member = self->program->items.at[member].next_in_owner) {
            const program_item item = self->program->items.at[member];
            type_ref type = 0;

            if (item.kind != ITEM_FUNCTION || !item.has_self || item.visibility != VISIBLE_PUBLIC)
                continue;
            CG_TRY(type_of_item(known, member, &type, self->reterr));
            const model_type *shape = type_at(known, type);

            *ret = shape->kind == TYPE_FUNCTION && shape->arg_count > 0 &&
                   type_peel(known, shape->args[shape->arg_count - 1]) == part;
        }
    }
    return CG_OK;
}

/* Can somebody else call the module the parameter belongs to, or one around it? */
static cg_code is_exposed(const reporter *self, size_t index, size_t parameter, bool *ret)
{
    const extract_component *component = &self->of->components.at[index];
    uint32_t at = component->parameters.at[parameter].instance;

    *ret = false;
    for (size_t depth = 0; !*ret && depth < component->instances.count; depth++) {
        const extract_instance *part = &component->instances.at[at];

        for (uint32_t above = part->parent; !*ret && above != UINT32_MAX;
             above = component->instances.at[above].parent) {
            const model_type owner =
                *type_at(self->of->eval->types, component->instances.at[above].type);

            if (owner.kind != TYPE_ITEM || self->program->items.at[owner.item].kind != ITEM_STRUCT)
                continue;
            *ret = above == part->parent && part->field &&
                   is_open_field(self, owner.item, part->field);
            if (!*ret)
                CG_TRY(is_handed_out(self, owner.item, part->type, ret));
        }
        if (part->parent == UINT32_MAX)
            return CG_OK;
        at = part->parent;
    }
    return CG_OK;
}

/* Do functions of others take a value of the type? Then they may use whatever is in it. */
static cg_code is_passed(const reporter *self, item_ref type, bool *ret)
{
    types *known = self->of->eval->types;

    *ret = false;
    for (size_t i = 0; i < self->functions->all.count && !*ret; i++) {
        item_ref function = self->functions->all.at[i].item;
        item_ref owner = self->program->items.at[function].owner;
        type_ref made = 0, own = 0;

        if (!owner || self->program->items.at[owner].kind != ITEM_IMPL)
            continue; /* free functions are run with it */
        CG_TRY(type_of_item(known, function, &made, self->reterr));
        CG_TRY(type_of_item(known, owner, &own, self->reterr));
        const model_type *shape = type_at(known, made);

        if (shape->kind != TYPE_FUNCTION ||
            (type_at(known, own)->kind == TYPE_ITEM && type_at(known, own)->item == type))
            continue;
        for (size_t k = 0; k + 1 < shape->arg_count && !*ret; k++) {
            const model_type *part = type_at(known, type_peel(known, shape->args[k]));

            *ret = part->kind == TYPE_ITEM && part->item == type;
        }
    }
    return CG_OK;
}

/* --- functions that were not run --- */

/* Do entries of the component at work run the function? */
static bool is_run(const reporter *self, item_ref function)
{
    for (size_t i = self->first; i < self->end; i++) {
        const learning_entry *entry = &self->from->entries.at[i];
        size_t low = 0;
        size_t high = entry->run_count;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (entry->runs[middle] < function)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < entry->run_count && entry->runs[low] == function)
            return true;
    }
    return false;
}

/* Is there `.field` in the function's text? */
static bool reads_field(const reporter *self, item_ref function, sym field)
{
    const ast *tree = program_tree(self->program, self->program->items.at[function].file);
    ast_ref body = walk_body(self->program, function);

    for (ast_ref at = body; at; at = walk_next(tree, body, at)) {
        ast_ref name =
            ast_at(tree, at)->kind == AST_FIELD_EXPRESSION ? ast_child(tree, at, ROLE_FIELD) : 0;

        if (name && ast_at(tree, name)->text == field)
            return true;
    }
    return false;
}

/* Is it a type with one inside: `&T`, `Vec<T>`, `Option<Box<T>>`, or a struct with such a field? */
static cg_code has_inside(const reporter *self, type_ref type, item_ref wanted, bool *ret)
{
    types *known = self->of->eval->types;
    model_type shape = *type_at(known, type_peel(known, type));
    item_ref node = shape.kind == TYPE_ITEM ? shape.item : 0;
    const ast *tree;
    ast_ref list;

    *ret = node == wanted;
    if (*ret || !node || self->program->items.at[node].kind != ITEM_STRUCT)
        return CG_OK;
    tree = program_tree(self->program, self->program->items.at[node].file);
    list = ast_child(tree, self->program->items.at[node].node, ROLE_BODY);
    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at && !*ret;
         at = walk_next(tree, list, at)) {
        *ret = ast_at(tree, at)->kind == AST_TYPE_IDENTIFIER &&
               ast_at(tree, at)->text == self->program->items.at[wanted].name;
    }
    return CG_OK;
}

/* Which functions are of the component's own type, or of what keeps one; once per component. */
static cg_code find_near(reporter *self, item_ref type)
{
    size_t count = self->functions->all.count;
    item_ref last = 0;
    bool is_near = false;

    if (self->near_type == type)
        return CG_OK;
    if (!self->near)
        self->near = arena_take(&self->draft->mem, count + 1);
    if (!self->near)
        return nomem(self);
    for (size_t i = 0; i < count; i++) {
        item_ref owner = self->program->items.at[self->functions->all.at[i].item].owner;
        type_ref own = 0;

        if (owner != last) {
            is_near = false;
            last = owner;
            if (owner && self->program->items.at[owner].kind == ITEM_IMPL) {
                CG_TRY(type_of_item(self->of->eval->types, owner, &own, self->reterr));
                CG_TRY(has_inside(self, own, type, &is_near));
            }
        }
        self->near[i] = is_near;
    }
    self->near_type = type;
    return CG_OK;
}

/*
 * Does a function that no entry runs read the field that is the parameter? One of the component
 * itself, as `Deref::deref`, or of what keeps one: others get at the parameter by it.
 */
static cg_code is_read_elsewhere(reporter *self, item_ref type, sym field, bool *ret)
{
    *ret = false;
    CG_TRY(find_near(self, type));
    for (size_t i = 0; i < self->functions->all.count && !*ret; i++) {
        item_ref function = self->functions->all.at[i].item;

        *ret = self->near[i] && !is_run(self, function) && reads_field(self, function, field);
    }
    return CG_OK;
}

static bool has_hole(cg_str text)
{
    return str_find(text, CG_LIT("{")) != SIZE_MAX;
}

/* The part up to the next dot outside of braces; `rest` is what comes behind. */
static cg_str next_part(cg_str *rest)
{
    unsigned depth = 0;
    size_t i = 0;
    cg_str part;

    for (; i < rest->len && (depth > 0 || rest->ptr[i] != '.'); i++) {
        depth += rest->ptr[i] == '{';
        depth -= rest->ptr[i] == '}' && depth > 0;
    }
    part = (cg_str){rest->ptr, i};
    i += i < rest->len;
    *rest = (cg_str){rest->ptr + i, rest->len - i};
    return part;
}

/* Can the two stand for one key: `blocks.0.w` and `blocks.{i}.w`? */
static bool may_be_one(cg_str a, cg_str b)
{
    while (a.len > 0 && b.len > 0) {
        cg_str left = next_part(&a), right = next_part(&b);

        if (!str_equal(left, right) && !has_hole(left) && !has_hole(right))
            return false;
    }
    return a.len == 0 && b.len == 0;
}

/* --- one component --- */

static bool is_touched_at(const reporter *self, size_t parameter)
{
    for (size_t i = self->first; i < self->end; i++) {
        if (self->from->entries.at[i].is_touched[parameter])
            return true;
    }
    return false;
}

static bool is_held_at(const reporter *self, size_t parameter)
{
    for (size_t i = self->first; i < self->end; i++) {
        if (self->from->entries.at[i].is_held[parameter])
            return true;
    }
    return false;
}

static sym held_in(const reporter *self, size_t parameter)
{
    sym found = 0;

    for (size_t i = self->first; i < self->end && !found; i++)
        found = self->from->entries.at[i].held_in[parameter];
    return found;
}

/* Is the parameter's layer, or one of those around it, thrown away where it is made? */
static bool is_dropped(const reporter *self, const extract_component *component, size_t parameter)
{
    const extract_parameter *of = &component->parameters.at[parameter];
    uint32_t at = of->instance;

    if (makers_forgets(self->program, of->place.function, of->place))
        return true;
    for (size_t depth = 0; at != UINT32_MAX && depth < component->instances.count; depth++) {
        const extract_instance *part = &component->instances.at[at];

        if (part->parent != UINT32_MAX &&
            makers_forgets(self->program, part->place.function, part->place))
            return true;
        at = part->parent;
    }
    return false;
}

/* Which parameters some entry that counts uses. */
static cg_code find_used(reporter *self, size_t index, bool has_loss, bool *used)
{
    const extract_component *component = &self->of->components.at[index];
    bool is_function = component->is_maker && !component->type;
    sym field = 0;
    bool is_read = false;

    for (size_t i = self->first; i < self->end; i++) {
        const learning_entry *entry = &self->from->entries.at[i];

        /*
         * One without a tensor as result may still have read numbers of them, or have kept what it
         * computed.
         */
        for (size_t k = 0; (!has_loss || entry->is_loss) && k < entry->state_count; k++)
            used[k] = used[k] || entry->is_used[k] || (!entry->has_outputs && entry->is_touched[k]);
    }
    for (size_t k = 0; k < component->parameters.count; k++) {
        const extract_parameter *at = &component->parameters.at[k];

        /*
         * What is asked for only under a condition is left out: whether something takes its
         * place then is more than the graph tells.
         */
        used[k] = used[k] || at->is_running_state || at->condition.ptr;
        /* What a function that makes its builders hands on is used by others. */
        used[k] = used[k] || (is_function &&
                              (at->instance != 0 || is_touched_at(self, k) ||
                               !makers_forgets(self->program, component->constructor, at->place)));
        /*
         * What is in no value that the constructor gave went where it was not followed, unless it
         * was thrown away.
         */
        used[k] =
            used[k] || (component->type && !is_held_at(self, k) && !is_dropped(self, component, k));
        if (!used[k])
            CG_TRY(is_exposed(self, index, k, &used[k]));
        if (!used[k] && component->type && held_in(self, k)) {
            /* Parameters of one field stand side by side. */
            if (held_in(self, k) != field)
                CG_TRY(is_read_elsewhere(self, component->type, held_in(self, k), &is_read));
            field = held_in(self, k);
            used[k] = is_read;
        }
    }
    return CG_OK;
}

static bool is_part_of_used(const extract_component *component, const bool *used, size_t which)
{
    const extract_parameter *at = &component->parameters.at[which];

    for (size_t k = 0; k < component->parameters.count; k++) {
        const extract_parameter *other = &component->parameters.at[k];

        if (used[k] && (has_hole(at->printed) || has_hole(other->printed)) &&
            str_equal(at->root, other->root) && may_be_one(at->printed, other->printed))
            return true;
    }
    return false;
}

static cg_code collect(reporter *self, size_t index, bool has_loss)
{
    const extract_component *component = &self->of->components.at[index];
    bool *used = arena_zero(&self->draft->mem, component->parameters.count + 1);

    if (!used)
        return nomem(self);
    self->unused.at.count = 0;
    CG_TRY(find_used(self, index, has_loss, used));
    for (size_t k = 0; k < component->parameters.count; k++) {
        if (!used[k] && !is_part_of_used(component, used, k) &&
            !key_set_add(&self->unused, self->of, index, k))
            return nomem(self);
    }
    return key_set_sort(&self->unused) ? CG_OK : nomem(self);
}

/* Did the entries compute with one, only to drop what came out? Then something may be missed. */
static bool is_touched(const reporter *self, bool has_loss)
{
    for (size_t i = self->first; i < self->end; i++) {
        const learning_entry *entry = &self->from->entries.at[i];

        for (size_t k = 0; counts(entry, has_loss) && k < self->unused.at.count; k++) {
            if (entry->is_touched[self->unused.at.at[k].parameter])
                return true;
        }
    }
    return false;
}

static cg_code report(reporter *self, size_t index, bool has_loss, bool is_unsure)
{
    const extract_component *component = &self->of->components.at[index];
    size_t count = self->unused.at.count;
    model_finding *finding;
    cg_str message;

    if (!arena_format(&self->draft->mem, &message, "%zu %s of `%.*s` %s no result of %s%s", count,
                      count == 1 ? "parameter" : "parameters", (int)component->qualified.len,
                      component->qualified.ptr, count == 1 ? "reaches" : "reach",
                      has_loss ? "its losses" : "its functions",
                      is_unsure ? ", as far as they can be followed" : ""))
        return nomem(self);
    finding =
        assemble_finding(self->program, self->functions, self->draft, "unused-parameter",
                         is_unsure ? MODEL_CONFIDENCE_CONDITIONAL : MODEL_CONFIDENCE_PROVEN,
                         message, component->parameters.at[self->unused.at.at[0].parameter].place);
    if (!finding)
        return nomem(self);
    for (size_t i = self->first; i < self->end; i++) {
        const learning_entry *entry = &self->from->entries.at[i];

        if (counts(entry, has_loss) &&
            !draft_text(self->draft, &finding->entries, entry->function->spelled))
            return nomem(self);
    }
    return texts_unique(&self->draft->mem, &finding->entries) &&
                   key_set_write(&self->unused, self->draft, &finding->keys) &&
                   key_set_ids(&self->unused, self->of, self->draft, &finding->related)
               ? CG_OK
               : nomem(self);
}

static cg_code look_at_component(reporter *self, size_t index)
{
    const learning *from = self->from;
    bool has_loss = false, has_entry = false, is_unsure = false, is_passed_on = false;

    for (size_t i = self->first; i < self->end; i++)
        has_loss = has_loss || counts(&from->entries.at[i], true);
    for (size_t i = self->first; i < self->end; i++) {
        has_entry = has_entry || counts(&from->entries.at[i], has_loss);
        is_unsure = is_unsure || from->entries.at[i].is_cut;
    }
    if (!has_entry || (is_unsure && self->of->components.at[index].is_maker))
        return CG_OK;
    CG_TRY(collect(self, index, has_loss));
    if (self->unused.at.count == 0)
        return CG_OK;
    if (self->of->components.at[index].type)
        CG_TRY(is_passed(self, self->of->components.at[index].type, &is_passed_on));
    return is_passed_on ? CG_OK
                        : report(self, index, has_loss, is_unsure || is_touched(self, has_loss));
}

cg_code usage_report(const learning *from, const extraction *components,
                     const function_facts *functions, model_draft *draft, cg_err *reterr)
{
    reporter self = {
        .from = from,
        .of = components,
        .functions = functions,
        .program = components->eval->program,
        .draft = draft,
        .unused = {.heap = draft->heap},
        .reterr = reterr,
    };
    cg_code code = CG_OK;

    /* Entries of one component stand side by side. */
    for (; code == CG_OK && self.first < from->entries.count; self.first = self.end) {
        size_t component = from->entries.at[self.first].component;

        self.end = self.first + 1;
        while (self.end < from->entries.count && from->entries.at[self.end].component == component)
            self.end++;
        if (component != SIZE_MAX && !components->components.at[component].is_nested)
            code = look_at_component(&self, component);
    }
    key_set_free(&self.unused);
    return code;
}
