#include "model/candle_builder.h"

#include "model/builders.h"
#include "model/candle_shape.h"
#include "model/candle_tensor.h"
#include "model/eval_state.h"
#include "model/holders.h"
#include "model/std_text.h"
#include "model/value_kinds.h"

#define PREFIX_BYTES  4096u
#define PREFIX_PIECES 256u

static cg_code no_memory(const library_call *call)
{
    return err_nomem(call->eval->reterr);
}

/* --- texts that live as long as the trail --- */

/* Add `from` to `to`, which has room; two literals side by side are one. */
static bool add_pieces(arena *mem, text_piece *to, size_t *count, text_pieces from)
{
    for (size_t i = 0; i < from.count; i++) {
        text_piece *last = *count > 0 ? &to[*count - 1] : NULL;

        if (last == NULL || last->is_hole || from.at[i].is_hole)
            to[(*count)++] = from.at[i];
        else if (!arena_format(mem, &last->text, "%.*s%.*s", (int)last->text.len, last->text.ptr,
                               (int)from.at[i].text.len, from.at[i].text.ptr))
            return false;
    }
    return true;
}

/* `a` and `b` with a dot between them, as Candle joins: an empty part is one. */
static bool join_dotted(eval *self, text_pieces a, text_pieces b, text_pieces *ret)
{
    static const text_piece dot = {.text = {".", 1}};
    arena *mem = &self->trail->mem;
    text_piece *to = arena_take(mem, (a.count + b.count + 2) * sizeof *to);
    size_t count = 0;

    if (to == NULL || !add_pieces(mem, to, &count, a) ||
        !add_pieces(mem, to, &count, (text_pieces){&dot, 1}) || !add_pieces(mem, to, &count, b))
        return false;
    *ret = (text_pieces){to, count};
    return true;
}

/* What the builder asks for when it is asked for a name. */
static bool key_of(eval *self, const builder_value *builder, text_pieces name, text_pieces *ret)
{
    if (builder->last)
        return join_dotted(self, builder->prefix, name, ret);
    *ret = name;
    return true;
}

/* Texts that live as long as the trail; nothing in them is empty. */
static bool keep_pieces(eval *self, text_pieces from, text_pieces *ret)
{
    arena *mem = &self->trail->mem;
    text_piece *to = arena_take(mem, (from.count + 1) * sizeof *to);
    size_t count = 0;

    if (to == NULL)
        return false;
    for (size_t i = 0; i < from.count; i++) {
        if (from.at[i].text.len == 0 && !from.at[i].is_hole)
            continue;
        to[count] = from.at[i];
        if (!arena_text(mem, from.at[i].text, &to[count++].text))
            return false;
    }
    *ret = (text_pieces){to, count};
    return true;
}

/* The value as text. */
static bool pieces_of(eval *self, val which, text_pieces *ret)
{
    std_text text;
    text_pieces pieces;

    std_text_begin(&text, self);
    std_text_value(&text, which);
    return std_text_end_pieces(&text, &pieces) && keep_pieces(self, pieces, ret);
}

/* --- builders as values --- */

static val make_builder(eval *self, type_ref type, const builder_value *builder)
{
    value it = {.kind = VALUE_BUILDER, .is_known = true, .type = type, .as.builder = builder};

    return value_make(self->values, &it);
}

static void use(eval *self, const builder_value *builder)
{
    for (const builder_step *step = builder->last; step != NULL; step = step->before)
        trail_step_used(self->trail, step);
}

/* No model has such prefixes; without an end they would cost the square of their length. */
static bool is_too_long(text_pieces prefix, text_pieces added, uint32_t depth)
{
    size_t length = 0;

    for (size_t i = 0; i < prefix.count; i++)
        length += prefix.at[i].text.len;
    for (size_t i = 0; i < added.count; i++)
        length += added.at[i].text.len;
    return length > PREFIX_BYTES || prefix.count + added.count > PREFIX_PIECES ||
           depth > PREFIX_PIECES;
}

static val builder_with_prefix(library_call *call, val from, val added, bool is_absolute)
{
    eval *self = call->eval;
    builder_value next = *value_at(self->values, from)->as.builder;
    builder_step *step = arena_zero(&self->trail->mem, sizeof *step);
    type_ref type = value_at(self->values, from)->type;
    text_pieces pieces;

    if (step == NULL || !pieces_of(self, added, &pieces))
        return 0;
    if (next.depth == UINT32_MAX)
        return from;
    if (is_too_long(next.prefix, pieces, next.depth)) {
        trail_step_used(self->trail, next.last);
        next.depth = UINT32_MAX;
        return trail_add_fault(self->trail, "analysis-budget", call->place,
                               "the prefix becomes too long here; what is added was left out")
                   ? make_builder(self, type, &next)
                   : 0;
    }
    next.depth++;
    trail_step_used(self->trail, next.last);
    step->before = next.last;
    step->added = pieces;
    step->place = call->place;
    step->serial = ++self->trail->steps;
    if (is_absolute)
        next.prefix = pieces;
    else if (!key_of(self, &next, pieces, &next.prefix))
        return 0;
    next.last = step;
    if (!trail_step_made(self->trail, step))
        return 0;
    return make_builder(self, type, &next);
}

typedef struct prefix_job {
    library_call *call;
    bool is_absolute;
} prefix_job;

static val prefixed(eval *self, const val *args, size_t count, const void *context)
{
    const prefix_job *job = context;

    (void)self;
    (void)count;
    return builder_with_prefix(job->call, args[0], args[1], job->is_absolute);
}

static cg_code give_prefixed(library_call *call, bool is_absolute)
{
    prefix_job job = {call, is_absolute};
    val both[2] = {call->receiver, std_arg(call, 0)};

    if (call->count != 1)
        return CG_OK;
    if (std_kind(call, both[1]) == VALUE_NEVER || std_kind(call, both[1]) == VALUE_ERROR)
        return std_give(call, both[1]);
    return std_give(call, std_each_choice(call->eval, both, 2, prefixed, &job));
}

/* --- whose they are --- */

/* The function at work; where that gives a builder back, the one that called it, and so on. */
static item_ref owner_now(const eval *self)
{
    const frame *scope = self->state->frame;

    while (scope && scope->caller && builder_is_within(self->types, scope->result))
        scope = scope->caller;
    return scope ? scope->function : 0;
}

/* The function that `owner` called to get here; 0: it is at work itself, or is not on the way. */
static item_ref via_of(const eval *self, item_ref owner)
{
    item_ref above = 0;

    for (const frame *at = self->state->frame; at && owner; at = at->caller) {
        if (at->function == owner)
            return above;
        above = at->function;
    }
    return 0;
}

/* --- registration --- */

/* What a renamer makes of the name; `ret_is_known` false: nobody can say, and the name stays. */
static cg_code rename_key(const library_call *call, const builder_rename *rename, text_pieces *key,
                          bool *ret_is_known)
{
    eval *self = call->eval;
    text_pieces name = *key;

    *ret_is_known = true;
    for (; rename != NULL; rename = rename->inner) {
        value text = {.kind = VALUE_TEXT, .is_known = true, .as.pieces = name};
        uint8_t kind = value_at(self->values, rename->renamer)->kind;
        val result = 0;

        for (size_t i = 0; i < name.count; i++)
            text.is_known = text.is_known && !name.at[i].is_hole;
        val argument = value_make(self->values, &text);

        if (argument == 0)
            return no_memory(call);
        if (kind == VALUE_CLOSURE || kind == VALUE_FUNCTION)
            CG_TRY(eval_apply(self, rename->renamer, &argument, 1, call->place, &result));
        else if (kind == VALUE_STRUCT || kind == VALUE_ENUM)
            CG_TRY(eval_method(self, rename->renamer,
                               intern_add(&self->program->names, CG_LIT("rename")), &argument, 1,
                               call->place, &result));
        if (value_at(self->values, result)->kind != VALUE_TEXT) {
            *ret_is_known = false;
            return CG_OK;
        }
        if (!keep_pieces(self, value_at(self->values, result)->as.pieces, &name) ||
            (rename->has_prefix && !join_dotted(self, rename->prefix, name, &name)))
            return no_memory(call);
    }
    *key = name;
    return CG_OK;
}

cg_code candle_register(library_call *call, const candle_parameter *parameter, val *ret)
{
    eval *self = call->eval;
    const builder_value *builder = value_at(self->values, parameter->builder)->as.builder;
    trail_parameter entry = {.instance = self->trail->instance,
                             .root = builder->root,
                             .last = builder->last,
                             .rank = parameter->rank,
                             .has_shape = parameter->has_shape,
                             .shape_text = parameter->shape_text,
                             .dtype = parameter->dtype != 0 ? parameter->dtype : builder->dtype,
                             .device = builder->device,
                             .how = parameter->how,
                             .library = parameter->library,
                             .repeat = self->trail->repeat,
                             .condition = self->trail->condition,
                             .place = call->place,
                             .via = via_of(self, self->trail->roots.at[builder->root].owner),
                             .alternative = parameter->alternative,
                             .is_running_state = parameter->is_running_state};
    expr *shape;
    val tensor;
    value key = {.kind = VALUE_TEXT};
    bool is_known = true;
    cg_str text;

    use(self, builder);
    if (!key_of(self, builder, parameter->key, &entry.key))
        return no_memory(call);
    CG_TRY(rename_key(call, builder->rename, &entry.key, &is_known));
    if (parameter->condition.ptr != NULL)
        entry.condition = trail_add_condition(self->trail, parameter->condition);
    else if (builder->condition != 0)
        entry.condition = builder->condition;
    else if (!is_known)
        entry.condition = trail_add_condition(self->trail, CG_LIT(BUILDER_RENAMED_CONDITION));
    shape = arena_take(&self->trail->mem, (parameter->rank + 1u) * sizeof *shape);
    if (shape == NULL)
        return no_memory(call);
    if (parameter->rank > 0)
        memcpy(shape, parameter->shape, parameter->rank * sizeof *shape);
    entry.shape = shape;
    if (entry.shape_text.ptr != NULL &&
        !arena_text(&self->trail->mem, entry.shape_text, &entry.shape_text))
        return no_memory(call);
    if (!trail_add_parameter(self->trail, &entry))
        return no_memory(call);
    key.as.pieces = entry.key;
    tensor = value_make(self->values, &key);
    if (tensor == 0 || !value_print(self->values, tensor, &text))
        return no_memory(call);
    *ret = tensor_parameter(self, &entry, text);
    return *ret == 0 ? no_memory(call) : CG_OK;
}

/* A raw get: where name, shape and dtype stand among the arguments; -1: there is none. */
typedef struct get_row {
    const char *name;
    int8_t key, shape, dtype;
} get_row;

static const get_row GETS[] = {
#define GET(name, key, shape, dtype) {name, key, shape, dtype},
#include "model/candle_functions.def"
#undef GET
};

typedef struct get_job {
    library_call *call;
    const get_row *row;
    const val *keys;
    size_t key_count;
} get_job;

/* A sharded builder is asked for whatever part the hint says: `()` is no shape there. */
static bool is_unchecked(library_call *call, val builder, val shape)
{
    type_ref type = std_at(call, builder)->type;
    val hint = std_arg(call, 2);
    type_ref part = hint != 0 ? std_at(call, hint)->type : 0;

    if (std_kind(call, shape) != VALUE_UNIT)
        return false;
    return (type != 0 &&
            str_ends_with(std_type_path(call->eval, type), CG_LIT("::ShardedVarBuilder"))) ||
           (part != 0 && str_ends_with(std_type_path(call->eval, part), CG_LIT("::Shard")));
}

static cg_code get_one(library_call *call, const get_row *row, val builder, val key, val *ret)
{
    eval *self = call->eval;
    candle_parameter parameter = {.builder = builder, .how = call->name};
    expr axes[CANDLE_AXES];
    val shape = row->shape < 0 ? 0 : std_arg(call, (size_t)row->shape);

    if (!pieces_of(self, key, &parameter.key))
        return no_memory(call);
    if (shape != 0 && !is_unchecked(call, builder, shape)) {
        if (!candle_shape(self, shape, axes, &parameter.rank, &parameter.has_shape))
            return no_memory(call);
        if (!parameter.has_shape && !value_print(self->values, shape, &parameter.shape_text))
            return no_memory(call);
    }
    if (!parameter.has_shape)
        parameter.rank = 0;
    parameter.shape = axes;
    if (row->dtype >= 0)
        parameter.dtype = std_arg(call, (size_t)row->dtype);
    return candle_register(call, &parameter, ret);
}

static cg_code get_way(void *context, size_t way, val *ret)
{
    get_job *job = context;

    return get_one(job->call, job->row, job->call->receiver, job->keys[way % job->key_count], ret);
}

static cg_code give_get(library_call *call, const get_row *row)
{
    const value *key;
    get_job job = {.call = call, .row = row};
    cg_str condition;
    val result = 0;

    if ((size_t)row->key >= call->count)
        return CG_OK;
    key = std_at(call, call->args[row->key]);
    if (key->kind == VALUE_NEVER || key->kind == VALUE_ERROR)
        return std_give(call, call->args[row->key]);
    if (key->kind != VALUE_CHOICE) {
        CG_TRY(get_one(call, row, call->receiver, call->args[row->key], &result));
        return std_give(call, result);
    }
    job.keys = key->as.items;
    job.key_count = key->count;
    if (!std_condition(call->eval, call->args[row->key], &condition))
        return no_memory(call);
    CG_TRY(eval_ways(call->eval, job.key_count, condition, get_way, &job, &result));
    return std_give(call, result);
}

/* --- methods --- */

static cg_code give_changed(library_call *call, const builder_value *next)
{
    return std_give(call, make_builder(call->eval, std_at(call, call->receiver)->type, next));
}

/* Names go with the whole prefix through the renamer, and then into the builder as it was. */
static cg_code give_renamed(library_call *call, builder_value *next)
{
    builder_rename *rename = arena_zero(&call->eval->trail->mem, sizeof *rename);

    if (rename == NULL)
        return no_memory(call);
    rename->inner = next->rename;
    rename->renamer = std_arg(call, 0);
    rename->prefix = next->prefix;
    rename->has_prefix = next->last != NULL;
    next->rename = rename;
    return give_changed(call, next);
}

static cg_code give_worded(library_call *call, enum value_kind kind, val known)
{
    return known != 0 ? std_give(call, known) : std_give_opaque(call, kind, 0);
}

static cg_code give_prefix(library_call *call)
{
    value it = {.kind = VALUE_TEXT, .is_known = true};

    it.as.pieces = std_at(call, call->receiver)->as.builder->prefix;
    for (size_t i = 0; i < it.as.pieces.count; i++)
        it.is_known = it.is_known && !it.as.pieces.at[i].is_hole;
    return std_give(call, value_make(call->eval->values, &it));
}

/* `contains_tensor(key)`: it depends on what is loaded. */
static cg_code give_contains(library_call *call)
{
    eval *self = call->eval;
    value it = {.kind = VALUE_BOOL};
    text_pieces key;
    value whole = {.kind = VALUE_TEXT};
    val made;

    if (call->count != 1 || !pieces_of(self, call->args[0], &key))
        return call->count != 1 ? CG_OK : no_memory(call);
    use(self, std_at(call, call->receiver)->as.builder);
    if (!key_of(self, std_at(call, call->receiver)->as.builder, key, &whole.as.pieces))
        return no_memory(call);
    made = value_make(self->values, &whole);
    if (made == 0 || !value_print(self->values, made, &it.text) ||
        !arena_format(&self->values->mem, &it.text, "contains_tensor(%.*s)", (int)it.text.len,
                      it.text.ptr))
        return no_memory(call);
    return std_give(call, value_make(self->values, &it));
}

cg_code builder_method(library_call *call)
{
    builder_value next = *std_at(call, call->receiver)->as.builder;
    cg_str name = call->name;

    if (str_equal(name, CG_LIT("pp")) || str_equal(name, CG_LIT("push_prefix")))
        return give_prefixed(call, false);
    if (str_equal(name, CG_LIT("set_prefix")))
        return give_prefixed(call, true);
    for (size_t i = 0; i < sizeof GETS / sizeof GETS[0]; i++) {
        if (str_is(name, GETS[i].name))
            return give_get(call, &GETS[i]);
    }
    if (str_equal(name, CG_LIT("root"))) {
        trail_step_used(call->eval->trail, next.last);
        next.prefix = (text_pieces){NULL, 0};
        next.last = NULL;
        return give_changed(call, &next);
    }
    if (str_equal(name, CG_LIT("to_dtype")) || str_equal(name, CG_LIT("set_dtype"))) {
        next.dtype = std_arg(call, 0);
        return give_changed(call, &next);
    }
    if (str_equal(name, CG_LIT("set_device")) || str_equal(name, CG_LIT("to_device"))) {
        next.device = std_arg(call, 0);
        return give_changed(call, &next);
    }
    if (str_equal(name, CG_LIT("rename")) || str_equal(name, CG_LIT("rename_f"))) {
        return give_renamed(call, &next);
    }
    if (str_equal(name, CG_LIT("dtype")))
        return give_worded(call, VALUE_DTYPE, next.dtype);
    if (str_equal(name, CG_LIT("device")))
        return give_worded(call, VALUE_DEVICE, next.device);
    if (str_equal(name, CG_LIT("prefix")))
        return give_prefix(call);
    if (str_equal(name, CG_LIT("contains_tensor")) || str_equal(name, CG_LIT("contains_key")))
        return give_contains(call);
    return CG_OK;
}

/* --- where builders come from --- */

typedef struct source_row {
    const char *name;
    uint8_t source;
    int8_t dtype, device; /* argument, -1: none */
} source_row;

static const source_row SOURCES[] = {
#define SOURCE(name, source, dtype, device) {name, BUILDER_##source, dtype, device},
#include "model/candle_functions.def"
#undef SOURCE
};


/* Is the map of tensors what a library read, or made by the program, with names of its own? */
static bool is_rekeyed(library_call *call, bool *ret)
{
    cg_str text = {NULL, 0};

    *ret = false;
    if (call->count == 0)
        return true;
    if (!value_print(call->eval->values, call->args[0], &text))
        return false;
    *ret = str_find(text, CG_LIT("load(")) == SIZE_MAX ||
           str_find(text, CG_LIT("collect")) != SIZE_MAX;
    return true;
}

static cg_code give_root(library_call *call, const source_row *row)
{
    eval *self = call->eval;
    trail_root root = {
        .name = call->name, .source = row->source, .owner = owner_now(self), .place = call->place};
    builder_value made = {0};
    val builder;

    if (row->dtype >= 0)
        made.dtype = root.dtype = std_arg(call, (size_t)row->dtype);
    if (row->device >= 0)
        made.device = std_arg(call, (size_t)row->device);
    if (row->source == BUILDER_VARMAP)
        root.varmap = std_arg(call, 0);
    if (!arena_text(&self->trail->mem, call->name, &root.name) ||
        (row->source == BUILDER_TENSORS && !is_rekeyed(call, &root.is_rekeyed)))
        return no_memory(call);
    made.root = trail_add_root(self->trail, &root);
    if (made.root == 0)
        return no_memory(call);
    builder = make_builder(self, std_type(self, "candle_nn::VarBuilder"), &made);
    if (builder != 0 && row->source == BUILDER_VARMAP) {
        trail_event event = {.kind = EVENT_BUILDER_FROM_VARMAP,
                             .subject = root.varmap,
                             .detail = builder,
                             .condition = self->trail->condition,
                             .parameters = (uint32_t)self->trail->parameters.count,
                             .place = call->place};

        if (!trail_add_event(self->trail, &event))
            return no_memory(call);
    }
    return std_give(call, builder);
}

cg_code builder_call(library_call *call)
{
    for (size_t i = 0; i < sizeof SOURCES / sizeof SOURCES[0]; i++) {
        if (str_is(call->name, SOURCES[i].name))
            return give_root(call, &SOURCES[i]);
    }
    return CG_OK;
}

/* --- VarMap --- */

/* How many parameters were asked for through builders of the map so far. */
static uint32_t map_parameters(const eval *self, uint64_t map)
{
    const trail *track = self->trail;
    uint32_t count = 0;

    for (size_t i = 1; i < track->parameters.count; i++) {
        uint32_t root = track->parameters.at[i].root;
        val owner = root < track->roots.count ? track->roots.at[root].varmap : 0;
        const value *at = owner ? value_at(self->values, owner) : NULL;

        count += at && at->kind == VALUE_VARMAP && at->is_known && at->as.number == map;
    }
    return count;
}

/*
 * All variables: a repetition of one that says which map it is from, and how many parameters of
 * the map there were. As many as the map has: what is left of a filter has another count.
 */
static cg_code give_variables(library_call *call)
{
    eval *self = call->eval;
    uint32_t asked = map_parameters(self, std_at(call, call->receiver)->as.number);
    value_field from[] = {
        {intern_add(&self->program->names, CG_LIT("varmap")), call->receiver},
        {intern_add(&self->program->names, CG_LIT("asked")),
         value_int(self->values, expr_const(self->exprs, (int64_t)asked))},
    };
    value repeat = {.kind = VALUE_REPEAT, .count = 1};
    value list = {.kind = VALUE_LIST, .count = 1, .type = std_type(self, "std::vec::Vec")};
    val item = value_struct(self->values, std_type(self, "candle_core::Var"), from, 2);

    if (item == 0 || from[1].value == 0)
        return no_memory(call);
    repeat.as.repeat.count = expr_symbol(self->exprs, CG_LIT("all_vars().len()"));
    repeat.as.repeat.items = &item;
    repeat.as.repeat.symbol = intern_add(&self->program->names, CG_LIT("index"));
    item = value_make(self->values, &repeat);
    if (item == 0)
        return no_memory(call);
    list.as.items = &item;
    return std_give(call, value_make(self->values, &list));
}

/* The root that stands for the map; a new one when no builder was made from it yet. */
static uint32_t root_of_map(library_call *call)
{
    trail *track = call->eval->trail;

    for (uint32_t i = 1; i < track->roots.count; i++) {
        if (track->roots.at[i].varmap == call->receiver)
            return i;
    }
    return trail_add_root(track, &(trail_root){.name = CG_LIT("varmap"),
                                               .source = BUILDER_VARMAP,
                                               .owner = owner_now(call->eval),
                                               .varmap = call->receiver,
                                               .place = call->place});
}

/* `map.get(shape, key, init, dtype, device)`: a variable without a builder. */
static cg_code give_variable(library_call *call)
{
    static const get_row row = {"get", 1, 0, 3};
    trail *track = call->eval->trail;
    builder_value made = {0};
    val builder, result;

    /* A constructor is told by the builders it is given. */
    if (call->count != 5 || std_kind(call, call->args[1]) == VALUE_CHOICE ||
        (track->roots.count > 1 && track->roots.at[1].source == BUILDER_PARAMETER))
        return tensor_give(call);
    made.root = root_of_map(call);
    made.device = std_arg(call, 4);
    builder = made.root
                  ? make_builder(call->eval, std_type(call->eval, "candle_nn::VarBuilder"), &made)
                  : 0;
    if (!builder)
        return no_memory(call);
    CG_TRY(get_one(call, &row, builder, call->args[1], &result));
    return std_give(call, result);
}

static cg_code give_event(library_call *call, enum trail_event_kind kind)
{
    trail_event event = {.kind = (uint8_t)kind,
                         .subject = call->receiver,
                         .detail = std_arg(call, 0),
                         .condition = call->eval->trail->condition,
                         .parameters = (uint32_t)call->eval->trail->parameters.count,
                         .place = call->place};

    if (!holders_note(call->eval, &event) || !trail_add_event(call->eval->trail, &event))
        return no_memory(call);
    return std_give(call, std_plain(call->eval, VALUE_UNIT));
}

cg_code varmap_call(library_call *call)
{
    cg_str name = call->name;

    if (call->receiver == 0) {
        value it = {.kind = VALUE_VARMAP, .is_known = true};

        if (!str_equal(name, CG_LIT("new")))
            return CG_OK;
        it.as.number = call->eval->values->count;
        it.type = std_type(call->eval, "candle_nn::VarMap");
        return std_give(call, value_make(call->eval->values, &it));
    }
    if (str_equal(name, CG_LIT("all_vars")))
        return give_variables(call);
    if (str_equal(name, CG_LIT("load")))
        return give_event(call, EVENT_VARMAP_LOAD);
    if (str_equal(name, CG_LIT("save")))
        return give_event(call, EVENT_VARMAP_SAVE);
    if (str_equal(name, CG_LIT("set_one")) || str_equal(name, CG_LIT("set")))
        return std_give(call, std_plain(call->eval, VALUE_UNIT));
    if (str_equal(name, CG_LIT("get"))) {
        CG_TRY(give_event(call, EVENT_VARMAP_TOUCHED));
        return give_variable(call);
    }
    if (str_equal(name, CG_LIT("data")))
        CG_TRY(give_event(call, EVENT_VARMAP_TOUCHED));
    if (str_equal(name, CG_LIT("data")))
        return std_give_opaque(call, VALUE_UNKNOWN,
                               std_type(call->eval, "std::collections::HashMap"));
    return CG_OK;
}
