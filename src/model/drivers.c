#include "model/drivers.h"

#include "model/builders.h"
#include "model/walk.h"

#define DEPTH_MOST 64u
#define MADE_MOST  256u /* maps, and optimizers: of a driver that makes more, nobody knows which */

typedef struct finder {
    drivers *out;
    eval *eval;
    program *program;
    types *types;
    const function_facts *functions;
    bool *makes;       /* by function fact */
    driver *driver;    /* the one at work */
    number_map map_of; /* number of a VarMap + 1 -> index */
    sym name_varmap, name_asked;
    expr all_variables;
    cg_err *reterr;
} finder;

static cg_code nomem(finder *self)
{
    return err_nomem(self->reterr);
}

/* --- which functions --- */

static bool is_maker_path(cg_str path)
{
    static const char *const makers[] = {"candle_nn::VarMap", "candle_nn::VarBuilder",
                                         "candle_nn::AdamW", "candle_nn::SGD",
                                         "candle_nn::Optimizer"};

    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (str_starts_with(path, str_from(makers[i])))
            return true;
    }
    return false;
}

/* Does the body call something that makes a map, a builder or an optimizer? */
static cg_code makes_builder(finder *self, const function_fact *fact, bool *ret)
{
    const program_item item = self->program->items.at[fact->item];
    ast_ref body = walk_body(self->program, fact->item);

    *ret = false;
    for (ast_ref at = body; at && !*ret;
         at = walk_next(program_tree(self->program, item.file), body, at)) {
        const ast *tree = program_tree(self->program, item.file);
        ast_ref callee =
            ast_kind_of(tree, at) == AST_CALL_EXPRESSION ? ast_child(tree, at, ROLE_FUNCTION) : 0;
        name_def def = {0};

        if (!callee || ast_kind_of(tree, callee) != AST_SCOPED_IDENTIFIER)
            continue;
        CG_TRY(names_resolve(self->program, item.module, item.file, callee, SPACE_VALUE, &def,
                             self->reterr));
        *ret = def.kind == DEF_EXTERNAL && def.path &&
               is_maker_path(program_text(self->program, def.path));
    }
    return CG_OK;
}

/* Who calls a function that makes something makes it too. */
static cg_code spread(finder *self)
{
    const function_facts *facts = self->functions;
    number_map by_id;
    bool is_growing = true, is_good = true;

    number_map_init(&by_id, self->out->heap);
    for (size_t i = 0; i < facts->all.count && is_good; i++)
        is_good = number_map_put(&by_id, (uint64_t)(uintptr_t)facts->all.at[i].id.ptr,
                                 (uint32_t)i) != NULL;
    for (unsigned round = 0; is_good && is_growing && round < 32; round++) {
        is_growing = false;
        for (size_t i = 0; i < facts->all.count; i++) {
            sc_strs calls = facts->all.at[i].record->calls;

            for (size_t j = 0; j < calls.count && !self->makes[i]; j++) {
                const uint32_t *to = number_map_find(&by_id, (uint64_t)(uintptr_t)calls.at[j].ptr);

                self->makes[i] = to && self->makes[*to];
                is_growing = is_growing || self->makes[i];
            }
        }
    }
    number_map_free(&by_id);
    return is_good ? CG_OK : nomem(self);
}

/* --- what a value is --- */

static const value *varmap_of(const finder *self, val which)
{
    const value *at = which ? value_at(self->eval->values, which) : NULL;

    return at && at->kind == VALUE_VARMAP && at->is_known ? at : NULL;
}

static cg_code map_index(finder *self, val which, uint32_t *ret)
{
    const value *at = varmap_of(self, which);
    uint32_t *slot;

    *ret = DRIVER_NO_MAP;
    if (!at)
        return CG_OK;
    slot = number_map_put(&self->map_of, at->as.number + 1, DRIVER_NO_MAP);
    if (!slot)
        return nomem(self);
    if (*slot == DRIVER_NO_MAP && self->driver->maps.count == MADE_MOST) {
        self->driver->is_cut = true;
        return CG_OK;
    }
    if (*slot == DRIVER_NO_MAP) {
        driver_map *map = vec_add(self->out->heap, &self->driver->maps);

        if (!map)
            return nomem(self);
        *map = (driver_map){.number = at->as.number, .name = CG_LIT("map")};
        *slot = (uint32_t)(self->driver->maps.count - 1);
    }
    *ret = *slot;
    return CG_OK;
}

/* An expression of the source, printed. */
static cg_code printed_argument(finder *self, model_place place, size_t index, bool is_bare,
                                cg_str *ret)
{
    const ast *tree;
    ast_ref call, argument;

    *ret = (cg_str){0};
    if (!place.file || !place.function)
        return CG_OK;
    tree = program_tree(self->program, place.file);
    call = walk_call_at(tree, walk_body(self->program, place.function), place);
    argument = call ? walk_argument(tree, call, index) : 0;
    if (argument && is_bare)
        argument = walk_bare(self->program, tree, argument);
    if (!argument || ast_at(tree, argument)->end - ast_at(tree, argument)->start > 256)
        return CG_OK;
    return ast_printed(tree, argument, &self->out->mem, ret) ? CG_OK : nomem(self);
}

static cg_code printed_callee(finder *self, model_place place, cg_str *ret)
{
    const ast *tree = program_tree(self->program, place.file);
    ast_ref call = walk_call_at(tree, walk_body(self->program, place.function), place);
    ast_ref callee = call ? ast_child(tree, call, ROLE_FUNCTION) : 0;

    *ret = CG_LIT("Optimizer::new");
    if (!callee || ast_kind_of(tree, callee) == AST_FIELD_EXPRESSION)
        return CG_OK;
    return ast_printed(tree, callee, &self->out->mem, ret) ? CG_OK : nomem(self);
}

/* --- reading the trail --- */

static cg_code read_maps(finder *self)
{
    const trail *track = self->eval->trail;

    for (size_t i = 1; i < track->events.count; i++) {
        const trail_event *event = &track->events.at[i];
        uint32_t map;
        cg_str name;

        CG_TRY(map_index(self, event->subject, &map));
        if (map == DRIVER_NO_MAP || event->kind != EVENT_BUILDER_FROM_VARMAP ||
            self->driver->maps.at[map].builder.file)
            continue;
        self->driver->maps.at[map].builder = event->place;
        CG_TRY(printed_argument(self, event->place, 0, true, &name));
        if (name.ptr)
            self->driver->maps.at[map].name = name;
    }
    return CG_OK;
}

/* The outermost module around, and the field of it that leads to the parameter. */
static void outermost(const finder *self, uint32_t instance, uint32_t *ret, sym *ret_field)
{
    const trail *track = self->eval->trail;
    uint32_t below = 0;

    while (instance > 1 && instance < track->instances.count &&
           track->instances.at[instance].parent > 1) {
        below = instance;
        instance = track->instances.at[instance].parent;
    }
    *ret = instance > 1 ? instance : 0;
    *ret_field = below ? track->instances.at[below].field : 0;
}

static cg_code read_keys(finder *self)
{
    const trail *track = self->eval->trail;

    for (size_t i = 1; i < track->parameters.count; i++) {
        const trail_parameter *from = &track->parameters.at[i];
        driver_key key = {.is_running_state = from->is_running_state, .place = from->place};

        if (from->root >= track->roots.count)
            continue;
        CG_TRY(map_index(self, track->roots.at[from->root].varmap, &key.map));
        if (key.map == DRIVER_NO_MAP)
            continue;
        outermost(self, from->instance, &key.instance, &key.field);
        driver_key *slot = vec_add(self->out->heap, &self->driver->keys);

        if (!slot || !extract_print(self->out->heap, from->key, &self->out->mem, &key.key))
            return nomem(self);
        *slot = key;
        self->driver->maps.at[key.map].key_count++;
    }
    return CG_OK;
}

static cg_str holder_name(const trail_event *event, const finder *self, uint64_t number)
{
    for (uint32_t i = 0; i < event->holder_count; i++) {
        const value *at = varmap_of(self, event->holders[i].held);

        if (at && at->as.number == number)
            return event->holders[i].name;
    }
    return (cg_str){0};
}

/* Parameters of the map among the first `limit` entries of the trail. */
static uint32_t asked_before(const finder *self, uint64_t number, uint32_t limit)
{
    const trail *track = self->eval->trail;
    uint32_t count = 0;

    for (size_t i = 1; i < track->parameters.count && i <= limit; i++) {
        uint32_t root = track->parameters.at[i].root;
        const value *at =
            root < track->roots.count ? varmap_of(self, track->roots.at[root].varmap) : NULL;

        count += at && at->as.number == number;
    }
    return count;
}

static cg_code read_load(finder *self, size_t index)
{
    const trail *track = self->eval->trail;
    const trail_event *event = &track->events.at[index];
    const value *map = varmap_of(self, event->subject);
    driver_load load = {.place = event->place, .is_conditional = event->condition != 0};
    bool has_builder = false;

    CG_TRY(map_index(self, event->subject, &load.map));
    if (!map || load.map == DRIVER_NO_MAP)
        return CG_OK;
    load.asked = asked_before(self, map->as.number, event->parameters);
    for (size_t i = 1; i < index; i++) {
        const trail_event *before = &track->events.at[i];
        const value *other = varmap_of(self, before->subject);

        if (!other || other->as.number != map->as.number)
            continue;
        has_builder = has_builder || before->kind == EVENT_BUILDER_FROM_VARMAP;
        load.may_hold = load.may_hold || before->kind == EVENT_VARMAP_TOUCHED;
    }
    /* Its builder may have gone into what was not understood. */
    load.may_hold = load.may_hold || (has_builder && track->faults.count > 1);
    load.name = holder_name(event, self, map->as.number);
    if (!load.name.ptr)
        load.name = self->driver->maps.at[load.map].name;
    else if (!arena_text(&self->out->mem, load.name, &load.name))
        return nomem(self);
    CG_TRY(printed_argument(self, event->place, 0, false, &load.text));
    driver_load *slot = vec_add(self->out->heap, &self->driver->loads);

    if (!slot)
        return nomem(self);
    *slot = load;
    return CG_OK;
}

typedef struct share_list {
    VEC(driver_share) at;
    bool is_known;
} share_list;

static cg_code add_share(finder *self, share_list *list, const value *variable, bool is_partial)
{
    driver_share share = {.map = DRIVER_NO_MAP, .is_partial = is_partial};
    int64_t asked = 0;

    for (uint16_t i = 0; i < variable->count; i++) {
        const value_field *field = &variable->as.fields[i];

        if (field->name == self->name_varmap)
            CG_TRY(map_index(self, field->value, &share.map));
        if (field->name == self->name_asked &&
            expr_constant(self->eval->exprs, value_number(self->eval->values, field->value),
                          &asked))
            share.asked = (uint32_t)asked;
    }
    if (share.map == DRIVER_NO_MAP) {
        list->is_known = false;
        return CG_OK;
    }
    for (size_t i = 0; i < list->at.count; i++) {
        driver_share *known = &list->at.at[i];

        if (known->map != share.map)
            continue;
        known->is_partial = known->is_partial && share.is_partial;
        known->asked = known->asked > share.asked ? known->asked : share.asked;
        return CG_OK;
    }
    driver_share *slot = vec_add(self->out->heap, &list->at);

    if (!slot)
        return nomem(self);
    *slot = share;
    return CG_OK;
}

/* Everything in the list that is given to an optimizer, through lists, repetitions and choices. */
static cg_code read_shares(finder *self, val given, share_list *list)
{
    struct {
        val value;
        bool is_partial;
    } open[256];
    size_t count = 0, visited = 0;

    list->is_known = given != 0;
    if (given) {
        open[0].value = given;
        open[0].is_partial = false;
        count = 1;
    }
    while (count > 0) {
        bool is_partial = open[--count].is_partial;
        val which = open[count].value;
        const value *at = value_at(self->eval->values, which);
        const val *items = at->as.items;

        if (visited++ > 4096) {
            list->is_known = false;
            return CG_OK;
        }
        switch (at->kind) {
        case VALUE_STRUCT: CG_TRY(add_share(self, list, at, is_partial)); continue;
        case VALUE_REPEAT:
            items = at->as.repeat.items;
            is_partial = is_partial || at->as.repeat.count != self->all_variables;
            break;
        case VALUE_CHOICE: is_partial = true; break;
        case VALUE_LIST:
        case VALUE_TUPLE:
        case VALUE_SOME: break;
        case VALUE_NOTHING:
        case VALUE_NEVER:
        case VALUE_ERROR: continue;
        default: list->is_known = false; continue;
        }
        for (uint16_t i = 0; i < at->count; i++) {
            if (count == sizeof open / sizeof *open) {
                list->is_known = false;
                return CG_OK;
            }
            open[count].value = items[i];
            open[count++].is_partial = is_partial;
        }
    }
    return CG_OK;
}

static cg_code read_holder(finder *self, const trail_holder *from, driver_holder *ret)
{
    const trail *track = self->eval->trail;

    *ret = (driver_holder){0};
    CG_TRY(map_index(self, from->held, &ret->map));
    for (uint32_t i = 1; ret->map == DRIVER_NO_MAP && i < track->instances.count && !ret->instance;
         i++) {
        if (track->instances.at[i].result == from->held)
            ret->instance = i;
    }
    return arena_text(&self->out->mem, from->name, &ret->name) ? CG_OK : nomem(self);
}

static cg_code read_optimizer(finder *self, const trail_event *event)
{
    driver_optimizer made = {.place = event->place, .is_conditional = event->condition != 0};
    share_list list = {0};
    driver_share *shares;
    driver_holder *holders;
    cg_code code = read_shares(self, event->subject, &list);

    if (code == CG_OK)
        code = printed_callee(self, event->place, &made.name);
    shares = arena_take(&self->out->mem, (list.at.count + 1) * sizeof *shares);
    holders = arena_take(&self->out->mem, (event->holder_count + 1) * sizeof *holders);
    if (code == CG_OK && (!shares || !holders))
        code = nomem(self);
    for (size_t i = 0; code == CG_OK && i < list.at.count; i++)
        shares[made.share_count++] = list.at.at[i];
    for (size_t i = 0; code == CG_OK && i < event->holder_count; i++) {
        driver_holder *holder = &holders[made.holder_count];

        code = read_holder(self, &event->holders[i], holder);
        made.holder_count += holder->map != DRIVER_NO_MAP || holder->instance;
    }
    made.is_known = list.is_known;
    made.shares = shares;
    made.holders = holders;
    driver_optimizer *slot =
        code == CG_OK ? vec_add(self->out->heap, &self->driver->optimizers) : NULL;

    vec_free(self->out->heap, &list.at);
    if (code == CG_OK && !slot)
        code = nomem(self);
    if (slot)
        *slot = made;
    return code;
}

static cg_code read_events(finder *self)
{
    for (size_t i = 1; i < self->eval->trail->events.count; i++) {
        const trail_event *event = &self->eval->trail->events.at[i];

        if (event->kind == EVENT_VARMAP_LOAD)
            CG_TRY(read_load(self, i));
        if (event->kind == EVENT_OPTIMIZER && self->driver->optimizers.count == MADE_MOST) {
            self->driver->is_cut = true;
            self->driver->optimizers.at[0].is_known = false;
        } else if (event->kind == EVENT_OPTIMIZER) {
            CG_TRY(read_optimizer(self, event));
        }
    }
    return CG_OK;
}

/* --- constructors that get a builder made here --- */

static cg_code read_chain(finder *self, const builder_value *builder, sc_strs *ret)
{
    const builder_step *steps[DEPTH_MOST];
    size_t count = 0;
    cg_str *texts;

    for (const builder_step *at = builder->last; at && count < DEPTH_MOST; at = at->before)
        steps[count++] = at;
    texts = arena_take(&self->out->mem, (count + 1) * sizeof *texts);
    if (!texts)
        return nomem(self);
    for (size_t i = 0; i < count; i++) {
        if (!extract_print(self->out->heap, steps[count - 1 - i]->added, &self->out->mem,
                           &texts[i]))
            return nomem(self);
    }
    *ret = (sc_strs){texts, count};
    return CG_OK;
}

static const builder_value *builder_of(const finder *self, val which)
{
    for (unsigned depth = 0; which && depth < 8; depth++) {
        const value *at = value_at(self->eval->values, which);

        if (at->kind == VALUE_BUILDER)
            return at->as.builder;
        if (at->kind != VALUE_SOME && (at->kind != VALUE_CHOICE || at->count == 0))
            return NULL;
        which = at->as.items[0];
    }
    return NULL;
}

/* The name of the parameter number `index` of a function, the receiver counted. */
static cg_str parameter_name(const finder *self, item_ref function, size_t index)
{
    const program_item *item = &self->program->items.at[function];
    const ast *tree = program_tree(self->program, item->file);
    ast_ref list = ast_child(tree, item->node, ROLE_PARAMETERS);

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        uint8_t kind = ast_kind_of(tree, at);
        ast_ref pattern = ast_child(tree, at, ROLE_PATTERN);

        if ((kind != AST_PARAMETER && kind != AST_SELF_PARAMETER) || index-- > 0)
            continue;
        while (pattern && ast_kind_of(tree, pattern) != AST_IDENTIFIER)
            pattern = ast_at(tree, pattern)->first;
        return pattern ? program_text(self->program, ast_at(tree, pattern)->text) : CG_LIT("_");
    }
    return CG_LIT("_");
}

static cg_code read_builder(finder *self, const builder_value *from, driver_builder *ret)
{
    const trail_root *root = &self->eval->trail->roots.at[from->root];
    const value *dtype = from->dtype ? value_at(self->eval->values, from->dtype) : NULL;
    const value *device = from->device ? value_at(self->eval->values, from->device) : NULL;

    ret->source = root->source;
    CG_TRY(map_index(self, root->varmap, &ret->map));
    CG_TRY(read_chain(self, from, &ret->chain));
    if (dtype && dtype->kind == VALUE_DTYPE && dtype->is_known &&
        !arena_text(&self->out->mem, dtype->text, &ret->dtype))
        return nomem(self);
    if (device && device->kind == VALUE_DEVICE && device->is_known &&
        !arena_text(&self->out->mem, device->text, &ret->device))
        return nomem(self);
    if (root->source != BUILDER_VARMAP && root->source != BUILDER_PARAMETER)
        CG_TRY(printed_argument(self, root->place, 0, false, &ret->text));
    return CG_OK;
}

static cg_code read_site(finder *self, uint32_t index)
{
    const trail_instance *from = &self->eval->trail->instances.at[index];
    driver_site site = {.constructor = from->constructor,
                        .instance = index,
                        .is_conditional = from->condition != 0,
                        .place = from->place};
    const model_type *type = type_at(self->types, from->type);
    driver_builder *builders =
        arena_zero(&self->out->mem, (from->arg_count + 1) * sizeof *builders);

    if (!builders)
        return nomem(self);
    if (type->kind == TYPE_ITEM)
        site.type = type->item;
    for (uint32_t i = 0; i < from->arg_count; i++) {
        const builder_value *builder = builder_of(self, from->args[i]);

        if (!builder || builder->root == 0 || builder->root >= self->eval->trail->roots.count ||
            self->eval->trail->roots.at[builder->root].source == BUILDER_PARAMETER)
            continue;
        builders[site.builder_count].root = parameter_name(self, from->constructor, i);
        CG_TRY(read_builder(self, builder, &builders[site.builder_count++]));
    }
    site.builders = builders;
    if (site.builder_count == 0)
        return CG_OK;
    driver_site *slot = vec_add(self->out->heap, &self->driver->sites);

    if (!slot)
        return nomem(self);
    *slot = site;
    return CG_OK;
}

/* --- one driver --- */

static cg_code drive(finder *self, const function_fact *fact)
{
    const program_item item = self->program->items.at[fact->item];
    const ast_node *node = ast_at(program_tree(self->program, item.file), item.node);
    model_place place = {item.file, node->start, node->end, fact->item};
    trail *track = self->eval->trail;
    type_bindings bindings = {0};
    val args[64] = {0};
    val result = 0;
    ast_ref list = ast_child(program_tree(self->program, item.file), item.node, ROLE_PARAMETERS);
    size_t count = 0;

    for (ast_ref at = list ? ast_at(program_tree(self->program, item.file), list)->first : 0; at;
         at = ast_at(program_tree(self->program, item.file), at)->next) {
        uint8_t kind = ast_kind_of(program_tree(self->program, item.file), at);

        count += (kind == AST_PARAMETER || kind == AST_SELF_PARAMETER) && count < 64;
    }
    if (item.owner && self->program->items.at[item.owner].kind == ITEM_IMPL)
        CG_TRY(type_of_item(self->types, item.owner, &bindings.self_type, self->reterr));
    self->driver = vec_add(self->out->heap, &self->out->all);
    if (!self->driver)
        return nomem(self);
    *self->driver = (driver){.function = fact->item};
    number_map_free(&self->map_of);
    number_map_init(&self->map_of, self->out->heap);
    eval_begin(self->eval, item.file);
    trail_reset(track);
    uint32_t own =
        trail_add_instance(track, &(trail_instance){.constructor = fact->item, .place = place});

    if (!own)
        return nomem(self);
    track->instance = own;
    CG_TRY(eval_call(self->eval, fact->item, &bindings, args, count, place, &result));
    CG_TRY(eval_note(self->eval, fact->item));
    for (size_t i = 1; i < track->faults.count; i++)
        self->driver->is_cut = self->driver->is_cut || track->faults.at[i].rule != NULL;
    CG_TRY(read_maps(self));
    CG_TRY(read_keys(self));
    CG_TRY(read_events(self));
    for (uint32_t i = own + 1; i < track->instances.count; i++)
        CG_TRY(read_site(self, i));
    return CG_OK;
}

static cg_code find_all(finder *self)
{
    const function_facts *facts = self->functions;
    const program_part *part = self->program->part;

    for (size_t i = 0; i < facts->all.count; i++)
        CG_TRY(makes_builder(self, &facts->all.at[i], &self->makes[i]));
    CG_TRY(spread(self));
    for (size_t i = 0; i < facts->all.count; i++) {
        const function_fact *fact = &facts->all.at[i];
        bool is_constructor = false, gives = false;

        if (!self->makes[i] || walk_is_test(self->program, fact->item))
            continue;
        /* Then it was looked at as a constructor. */
        CG_TRY(builder_of_function(self->types, fact->item, &is_constructor, &gives, self->reterr));
        if (is_constructor)
            continue;
        if (part && part->roots && !intern_find(part->roots->evaluated, fact->qualified))
            continue;
        if (!env_progress(self->program->env, "drivers", self->out->all.count, 0))
            return CG_INTERRUPTED;
        CG_TRY(drive(self, fact));
    }
    return CG_OK;
}

cg_code drivers_run(eval *interpreter, const function_facts *functions, drivers *ret,
                    cg_err *reterr)
{
    program *code_of = interpreter->program;
    finder self = {
        .out = ret,
        .eval = interpreter,
        .program = code_of,
        .types = interpreter->types,
        .functions = functions,
        .name_varmap = intern_add(&code_of->names, CG_LIT("varmap")),
        .name_asked = intern_add(&code_of->names, CG_LIT("asked")),
        .all_variables = expr_symbol(interpreter->exprs, CG_LIT("all_vars().len()")),
        .reterr = reterr,
    };
    cg_code code;

    *ret = (drivers){.heap = code_of->heap};
    arena_init(&ret->mem, code_of->heap);
    number_map_init(&self.map_of, code_of->heap);
    self.makes = arena_zero(&ret->mem, functions->all.count + 1);
    ret->makes = self.makes;
    ret->function_count = functions->all.count;
    code = self.makes && self.name_varmap && self.name_asked ? find_all(&self) : nomem(&self);
    number_map_free(&self.map_of);
    if (code != CG_OK)
        drivers_free(ret);
    return code;
}

void drivers_free(drivers *self)
{
    for (size_t i = 0; i < self->all.count; i++) {
        driver *at = &self->all.at[i];

        vec_free(self->heap, &at->maps);
        vec_free(self->heap, &at->keys);
        vec_free(self->heap, &at->loads);
        vec_free(self->heap, &at->optimizers);
        vec_free(self->heap, &at->sites);
    }
    vec_free(self->heap, &self->all);
    arena_free(&self->mem);
    *self = (drivers){0};
}
