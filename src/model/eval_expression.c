/* Expressions and statements. */
#include "model/eval_state.h"
#include "model/index_text.h"

/* --- small ones --- */

static cg_code unknown(eval *self, ast_ref node, val *ret)
{
    return eval_give(self, value_unknown(self->values, 0, eval_source(self, "", node)), ret);
}

bool eval_is_left_out(const eval *self, ast_ref node, bool *has_attribute)
{
    bool is_attribute = eval_node(self, node)->kind == AST_ATTRIBUTE_ITEM;
    bool is_out = is_attribute || (*has_attribute &&
                                   program_cfg(self->program, self->state->frame->file, node) < 0);

    *has_attribute = is_attribute;
    return is_out;
}

static cg_code evaluate_list(eval *self, ast_ref node, val *ret)
{
    ast_ref length = ast_child(eval_tree(self), node, ROLE_LENGTH);
    size_t count = 0, at = 0;
    bool has_attribute = false;
    value made = {.kind = VALUE_LIST, .is_known = true, .is_inclusive = true};
    val *items;

    for (ast_ref i = eval_node(self, node)->first; i; i = eval_node(self, i)->next)
        count++;
    items = arena_take(&self->values->mem, (count + 1) * sizeof *items);
    if (!items)
        return err_nomem(self->reterr);
    for (ast_ref i = eval_node(self, node)->first; i; i = eval_node(self, i)->next) {
        if (eval_is_left_out(self, i, &has_attribute) || i == length)
            continue;
        CG_TRY(evaluate(self, i, &items[at]));
        if (eval_is_never(self, items[at])) {
            *ret = items[at];
            return CG_OK;
        }
        at++;
    }
    if (length && at) {
        value repeat = {.kind = VALUE_REPEAT};
        val number = 0;
        int64_t times;

        CG_TRY(evaluate(self, length, &number));
        expr total = value_number(self->values, number);

        if (expr_constant(self->exprs, total, &times) && times >= 0 &&
            times <= (int64_t)self->limits.unroll) {
            val item = items[0];

            items = arena_take(&self->values->mem, ((size_t)times + 1) * sizeof *items);
            if (!items)
                return err_nomem(self->reterr);
            for (int64_t i = 0; i < times; i++)
                items[i] = item;
            at = (size_t)times;
        } else {
            repeat.as.repeat.items = items;
            repeat.as.repeat.symbol = eval_word(self, WORD_INDEX);
            repeat.as.repeat.count = total;
            items[0] = value_make(self->values, &repeat);
            if (!items[0])
                return err_nomem(self->reterr);
            at = 1;
        }
    }
    made.kind = eval_node(self, node)->kind == AST_TUPLE_EXPRESSION ? VALUE_TUPLE : VALUE_LIST;
    if (made.kind == VALUE_TUPLE || at > VALUE_ITEMS_MOST)
        return eval_give(self, value_list(self->values, (enum value_kind)made.kind, items, at),
                         ret);
    made.count = (uint16_t)at;
    made.as.items = items;
    return eval_give(self, value_make(self->values, &made), ret);
}

static cg_code evaluate_range(eval *self, ast_ref node, val *ret)
{
    ast_ref bounds[2] = {ast_child(eval_tree(self), node, ROLE_LEFT),
                         ast_child(eval_tree(self), node, ROLE_RIGHT)};
    val items[2] = {0, 0};
    value made = {.kind = VALUE_RANGE, .is_known = true, .count = 2};

    made.is_inclusive = eval_node(self, node)->op == OP_RANGE_INCLUSIVE;
    for (size_t i = 0; i < 2; i++) {
        if (!bounds[i])
            continue;
        CG_TRY(evaluate(self, bounds[i], &items[i]));
        if (eval_is_never(self, items[i])) {
            *ret = items[i];
            return CG_OK;
        }
    }
    made.as.items = items;
    return eval_give(self, value_make(self->values, &made), ret);
}

static cg_code evaluate_closure(eval *self, ast_ref node, val *ret)
{
    frame *scope = self->state->frame;
    frame *seen = frame_new(self, scope);
    closure_value closure = {.file = scope->file,
                             .module = scope->module,
                             .node = node,
                             .frame = seen,
                             .function = scope->function,
                             .bindings = scope->bindings};
    value made = {.kind = VALUE_CLOSURE, .is_known = true};

    if (!seen)
        return err_nomem(self->reterr);
    seen->returned = 0;
    seen->loop = NULL;
    made.as.closure = &closure;
    return eval_give(self, value_make(self->values, &made), ret);
}

static cg_code evaluate_return(eval *self, ast_ref node, val *ret)
{
    ast_ref inner = ast_child(eval_tree(self), node, ROLE_VALUE);
    frame *scope = self->state->frame;
    val result = eval_plain(self, VALUE_UNIT);

    if (!inner)
        inner = eval_node(self, node)->first;
    if (inner) {
        self->state->expected = scope->result;
        CG_TRY(evaluate(self, inner, &result));
    }
    if (eval_is_never(self, result)) {
        *ret = result;
        return CG_OK;
    }
    if (value_kind_of(self->values, result) == VALUE_ERROR)
        return eval_leave(self, JUMP_ERROR, 0, ret);
    scope->returned = scope->returned ? value_join(self->values, scope->returned, result) : result;
    if (!scope->returned)
        return err_nomem(self->reterr);
    return eval_leave(self, JUMP_RETURN, 0, ret);
}

static cg_code evaluate_break(eval *self, ast_ref node, val *ret)
{
    bool is_break = eval_node(self, node)->kind == AST_BREAK_EXPRESSION;
    ast_ref label_node = ast_child_kind(eval_tree(self), node, AST_LABEL);
    ast_ref inner = ast_child(eval_tree(self), node, ROLE_VALUE);
    sym label = label_node ? eval_node(self, label_node)->text : 0;
    val result = 0;

    if (inner) {
        CG_TRY(evaluate(self, inner, &result));
        if (eval_is_never(self, result)) {
            *ret = result;
            return CG_OK;
        }
    }
    for (loop_scope *at = self->state->frame->loop; at; at = at->around) {
        if (label ? at->label != label : at->is_block)
            continue;
        if (is_break) {
            at->is_left = true;
            if (!result)
                result = eval_plain(self, VALUE_UNIT);
            at->result = at->result ? value_join(self->values, at->result, result) : result;
            if (!at->result)
                return err_nomem(self->reterr);
        }
        break;
    }
    return eval_leave(self, is_break ? JUMP_BREAK : JUMP_CONTINUE, label, ret);
}

/* `x?`: an error ends the function; None does where the function gives an Option. */
static cg_code try_value(eval *self, val which, val *ret)
{
    frame *scope = self->state->frame;
    const value *at = value_at(self->values, which);
    val joined = 0;
    bool has_none = false;

    *ret = which;
    if (at->kind == VALUE_ERROR)
        return eval_leave(self, JUMP_ERROR, 0, ret);
    if (at->kind != VALUE_CHOICE && at->kind != VALUE_SOME && at->kind != VALUE_NOTHING)
        return CG_OK;
    if (!scope->is_option)
        return CG_OK;
    if (at->kind == VALUE_SOME) {
        *ret = at->as.items[0];
        return CG_OK;
    }
    for (size_t i = 0; at->kind == VALUE_CHOICE && i < at->count; i++) {
        const value *one = value_at(self->values, at->as.items[i]);
        val item = one->kind == VALUE_SOME ? one->as.items[0] : at->as.items[i];

        if (one->kind == VALUE_NOTHING) {
            has_none = true;
            continue;
        }
        joined = joined ? value_join(self->values, joined, item) : item;
        if (!joined)
            return err_nomem(self->reterr);
    }
    if (at->kind == VALUE_NOTHING || has_none) {
        val nothing = eval_plain(self, VALUE_NOTHING);

        scope->returned =
            scope->returned ? value_join(self->values, scope->returned, nothing) : nothing;
        if (!scope->returned)
            return err_nomem(self->reterr);
    }
    if (joined) {
        *ret = joined;
        return CG_OK;
    }
    return eval_leave(self, JUMP_RETURN, 0, ret);
}

/* --- assignments --- */

/* `*map.entry(k).or_insert(0) = 3`: what the variable holds may be anything of its kind now. */
static cg_code forget_what_holds(eval *self, ast_ref left)
{
    const ast *tree = eval_tree(self);
    place_value place;
    ast_ref at = left;

    for (unsigned depth = 0; at && depth < 32; depth++) {
        ast_ref function;
        val after;

        if (depth > 0 && spot_of(self, at, &place)) {
            after = spot_read(self, &place);
            after = after ? std_blurred(self, after) : 0;
            return after ? spot_write(self, &place, after) : CG_OK;
        }
        switch ((enum ast_kind)ast_kind_of(tree, at)) {
        case AST_UNARY_EXPRESSION:
        case AST_TRY_EXPRESSION:
        case AST_INDEX_EXPRESSION: at = ast_at(tree, at)->first; break;
        case AST_FIELD_EXPRESSION: at = ast_child(tree, at, ROLE_VALUE); break;
        case AST_CALL_EXPRESSION:
            function = ast_child(tree, at, ROLE_FUNCTION);
            at = function && ast_kind_of(tree, function) == AST_FIELD_EXPRESSION
                     ? ast_child(tree, function, ROLE_VALUE)
                     : 0;
            break;
        default: return CG_OK;
        }
    }
    return CG_OK;
}

static cg_code assign_to(eval *self, ast_ref left, val which)
{
    place_value place;
    ast_node at = *eval_node(self, left);

    if (at.kind == AST_TUPLE_EXPRESSION) {
        const value *tuple = value_at(self->values, which);
        size_t index = 0;

        for (ast_ref i = at.first; i; i = eval_node(self, i)->next) {
            val item = tuple->kind == VALUE_TUPLE && index < tuple->count
                           ? tuple->as.items[index]
                           : value_unknown(self->values, 0, (cg_str){NULL, 0});

            if (!item)
                return err_nomem(self->reterr);
            index++;
            /* One level; deeper ones are not Rust anybody writes. */
            if (eval_node(self, i)->kind != AST_TUPLE_EXPRESSION && spot_of(self, i, &place))
                CG_TRY(spot_write(self, &place, item));
        }
        return CG_OK;
    }
    return spot_of(self, left, &place) ? spot_write(self, &place, which)
                                       : forget_what_holds(self, left);
}

/* As evaluate, but `&mut place` and variables that are one stay references. */
static cg_code evaluate_argument(eval *self, ast_ref node, val *ret);

static cg_code evaluate_assignment(eval *self, ast_ref node, val *ret)
{
    ast_ref left = ast_child(eval_tree(self), node, ROLE_LEFT);
    ast_ref right = ast_child(eval_tree(self), node, ROLE_RIGHT);
    val made = 0;

    *ret = eval_plain(self, VALUE_UNIT);
    if (!right)
        return CG_OK;
    CG_TRY(evaluate_argument(self, right, &made));
    if (eval_is_never(self, made)) {
        *ret = made;
        return CG_OK;
    }
    if (!left)
        return CG_OK;
    /* `r = &mut x` makes a variable another reference. */
    if (value_kind_of(self->values, made) == VALUE_REFERENCE &&
        eval_node(self, left)->kind == AST_IDENTIFIER) {
        cell *local = cell_find(self->state->frame, eval_node(self, left)->text);

        if (local)
            return cell_assign(self, local, made);
    }
    return assign_to(self, left, eval_deref(self, made));
}

static cg_code evaluate_compound(eval *self, ast_ref node, val *ret)
{
    ast_ref left = ast_child(eval_tree(self), node, ROLE_LEFT);
    ast_ref right = ast_child(eval_tree(self), node, ROLE_RIGHT);
    enum ast_op op = (enum ast_op)eval_node(self, node)->op;
    val a = 0, b = 0, made = 0;

    *ret = eval_plain(self, VALUE_UNIT);
    if (!left || !right)
        return CG_OK;
    CG_TRY(evaluate(self, right, &b));
    if (eval_is_never(self, b)) {
        *ret = b;
        return CG_OK;
    }
    CG_TRY(evaluate(self, left, &a));
    if (eval_is_never(self, a)) {
        *ret = a;
        return CG_OK;
    }
    CG_TRY(eval_binary(self, op, a, b, node, &made));
    return eval_is_never(self, made) ? CG_OK : assign_to(self, left, made);
}

/* --- structs --- */

static cg_code initializer(eval *self, ast_ref node, type_ref owner, value_field *ret)
{
    ast_node at = *eval_node(self, node);
    ast_ref name = at.kind == AST_FIELD_INITIALIZER ? ast_child(eval_tree(self), node, ROLE_FIELD)
                                                    : ast_child(eval_tree(self), node, ROLE_VALUE);
    ast_ref with = ast_child(eval_tree(self), node, ROLE_VALUE);
    type_ref type = 0;

    if (at.kind == AST_SHORTHAND_FIELD_INITIALIZER && !name) {
        name = ast_child_kind(eval_tree(self), node, AST_IDENTIFIER);
        with = name;
    }
    *ret = (value_field){.name = name ? eval_node(self, name)->text : 0};
    if (owner && ret->name)
        CG_TRY(type_field(self->types, owner, ret->name, &type, self->reterr));
    self->state->expected = type;
    if (!with)
        return unknown(self, node, &ret->value);
    CG_TRY(evaluate(self, with, &ret->value));
    ret->value = value_with_type(self->values, ret->value, value_transparent(self->values, type));
    return ret->value ? CG_OK : err_nomem(self->reterr);
}

/* The fields that are not written: those of the base, or what their types say. */
static cg_code fill_from_base(eval *self, val base, type_ref owner, value_field *fields,
                              size_t *count, size_t room)
{
    const value *at = value_at(self->values, base);
    const model_type *shape = type_at(self->types, owner);
    val declared = base;

    if (at->kind != VALUE_STRUCT) {
        if (shape->kind != TYPE_ITEM || !shape->item)
            return CG_OK;
        CG_TRY(eval_item_fields(self, shape->item, owner,
                                at->kind == VALUE_UNKNOWN ? at->text : CG_LIT("default"), true,
                                &declared));
        at = value_at(self->values, declared);
    }
    for (size_t i = 0; i < at->count && *count < room; i++) {
        bool is_there = false;

        for (size_t j = 0; j < *count && !is_there; j++)
            is_there = fields[j].name == at->as.fields[i].name;
        if (!is_there)
            fields[(*count)++] = at->as.fields[i];
    }
    return CG_OK;
}

static cg_code evaluate_struct(eval *self, ast_ref node, val *ret)
{
    ast_ref name = ast_child(eval_tree(self), node, ROLE_NAME);
    ast_ref body = ast_child(eval_tree(self), node, ROLE_BODY);
    value made = {.kind = VALUE_STRUCT, .is_known = true};
    size_t count = 0, room = 0;
    ast_ref base_node = 0;
    value_field *fields;
    val base = 0;

    if (name) {
        ast_ref owner = ast_child(eval_tree(self), name, ROLE_PATH);
        ast_ref last = ast_child(eval_tree(self), name, ROLE_NAME);
        type_ref type = 0;

        if (owner && last)
            CG_TRY(eval_path_type(self, owner, &type));
        if (type && eval_variant(self, type, eval_node(self, last)->text)) {
            made.kind = VALUE_ENUM;
            made.variant = eval_node(self, last)->text;
            made.type = type;
        } else {
            if (eval_node(self, name)->kind == AST_GENERIC_TYPE_WITH_TURBOFISH)
                name = eval_node(self, name)->first;
            CG_TRY(eval_path_type(self, name, &made.type));
        }
        if (made.kind == VALUE_STRUCT && !made.type) {
            name_def def = {0};
            frame *scope = self->state->frame;

            CG_TRY(names_resolve(self->program, scope->module, scope->file, name, SPACE_VALUE, &def,
                                 self->reterr));
            if (def.kind == DEF_ITEM && !def.rest &&
                self->program->items.at[def.item].kind == ITEM_VARIANT) {
                made.kind = VALUE_ENUM;
                made.variant = self->program->items.at[def.item].name;
                CG_TRY(type_of_item(self->types, self->program->items.at[def.item].owner,
                                    &made.type, self->reterr));
            }
        }
    }
    for (ast_ref i = body ? eval_node(self, body)->first : 0; i; i = eval_node(self, i)->next)
        room++;
    room += 64;
    fields = arena_take(&self->values->mem, room * sizeof *fields);
    if (!fields)
        return err_nomem(self->reterr);
    for (ast_ref i = body ? eval_node(self, body)->first : 0; i; i = eval_node(self, i)->next) {
        uint8_t kind = eval_node(self, i)->kind;

        if (kind == AST_BASE_FIELD_INITIALIZER) {
            base_node = i;
            continue;
        }
        if ((kind != AST_FIELD_INITIALIZER && kind != AST_SHORTHAND_FIELD_INITIALIZER) ||
            program_cfg(self->program, self->state->frame->file, i) < 0)
            continue;
        CG_TRY(initializer(self, i, made.kind == VALUE_STRUCT ? made.type : 0, &fields[count]));
        if (eval_is_never(self, fields[count].value)) {
            *ret = fields[count].value;
            return CG_OK;
        }
        count++;
    }
    base_node = base_node ? eval_node(self, base_node)->first : 0;
    if (base_node) {
        self->state->expected = made.type;
        CG_TRY(evaluate(self, base_node, &base));
        if (eval_is_never(self, base)) {
            *ret = base;
            return CG_OK;
        }
        CG_TRY(fill_from_base(self, base, made.type, fields, &count, room));
    }
    made.count = count > UINT16_MAX ? UINT16_MAX : (uint16_t)count;
    made.as.fields = fields;
    return eval_give(self, value_make(self->values, &made), ret);
}

/* --- chains: x.f(a)?.g + 1 --- */

/* The part of an expression that comes first and may be long, 0 when it begins with itself. */
static ast_ref head_of(const eval *self, ast_ref node)
{
    const ast *tree = eval_tree(self);
    const ast_node *at = ast_at(tree, node);
    ast_ref inner;

    switch ((enum ast_kind)at->kind) {
    case AST_TRY_EXPRESSION:
    case AST_AWAIT_EXPRESSION:
    case AST_INDEX_EXPRESSION: return at->first;
    case AST_FIELD_EXPRESSION:
    case AST_TYPE_CAST_EXPRESSION: return ast_child(tree, node, ROLE_VALUE);
    case AST_BINARY_EXPRESSION: return ast_child(tree, node, ROLE_LEFT);
    case AST_CALL_EXPRESSION:
        inner = ast_child(tree, node, ROLE_FUNCTION);
        if (inner && ast_kind_of(tree, inner) == AST_GENERIC_FUNCTION)
            inner = ast_child(tree, inner, ROLE_FUNCTION);
        if (!inner)
            return 0;
        if (ast_kind_of(tree, inner) == AST_FIELD_EXPRESSION)
            return ast_child(tree, inner, ROLE_VALUE);
        return ast_kind_of(tree, inner) == AST_CALL_EXPRESSION ||
                       ast_kind_of(tree, inner) == AST_INDEX_EXPRESSION
                   ? inner
                   : 0;
    default: return 0;
    }
}

typedef struct arguments {
    val *at;
    size_t count;
    bool is_never;
    val never;
} arguments;

/* What a function of read source wants as its argument at `index`, where that says what it is. */
static cg_code wanted_argument(eval *self, const target *to, ast_ref node, size_t index,
                               type_ref *ret)
{
    item_ref function = to && to->kind == TARGET_ITEM ? to->item : 0;
    const function_fact *fact;

    *ret = 0;
    if (!to || eval_node(self, node)->kind != AST_CALL_EXPRESSION ||
        !str_ends_with(ast_text(eval_tree(self), node), CG_LIT("default()")))
        return CG_OK;
    if (to->kind == TARGET_MEMBER && to->type) {
        method_found found = {0};

        CG_TRY(type_find_method(self->types, to->type, to->name, &found, self->reterr));
        function = found.function;
    }
    if (!function || self->program->items.at[function].kind != ITEM_FUNCTION)
        return CG_OK;
    const program_item item = self->program->items.at[function];

    CG_TRY(eval_function_fact(self, function, &fact));
    if (index >= fact->parameter_count || !fact->parameters[index].type_node)
        return CG_OK;
    return type_lower(self->types, item.module, item.file, fact->parameters[index].type_node, NULL,
                      ret, self->reterr);
}

/* to: what is called, NULL when that says nothing. */
static cg_code evaluate_arguments(eval *self, const target *to, ast_ref list, arguments *ret)
{
    size_t count = 0;
    bool has_attribute = false;

    *ret = (arguments){0};
    for (ast_ref i = list ? eval_node(self, list)->first : 0; i; i = eval_node(self, i)->next)
        count++;
    if (!count)
        return CG_OK;
    ret->at = arena_take(&self->values->mem, count * sizeof *ret->at);
    if (!ret->at)
        return err_nomem(self->reterr);
    for (ast_ref i = eval_node(self, list)->first; i; i = eval_node(self, i)->next) {
        if (eval_is_left_out(self, i, &has_attribute))
            continue;
        CG_TRY(wanted_argument(self, to, i, ret->count, &self->state->expected));
        CG_TRY(evaluate_argument(self, i, &ret->at[ret->count]));
        if (eval_is_never(self, ret->at[ret->count])) {
            ret->is_never = true;
            ret->never = ret->at[ret->count];
            return CG_OK;
        }
        ret->count++;
    }
    return CG_OK;
}

typedef struct right_side {
    eval *eval;
    ast_ref node;
    val left;
    bool is_and;
} right_side;

static cg_code right_way(void *context, size_t way, val *ret)
{
    right_side *self = context;

    if (way == 0)
        return evaluate(self->eval, self->node, ret);
    *ret = self->eval->values->truth[!self->is_and];
    return CG_OK;
}

static cg_code fold_binary(eval *self, ast_ref node, val left, val *ret)
{
    ast_ref right_node = ast_child(eval_tree(self), node, ROLE_RIGHT);
    enum ast_op op = (enum ast_op)eval_node(self, node)->op;
    int truth = value_truth(self->values, left);
    val right = 0;

    if (!right_node)
        return unknown(self, node, ret);
    if (op == OP_AND || op == OP_OR) {
        bool is_and = op == OP_AND;

        if (truth >= 0 && truth == !is_and)
            return eval_give(self, left, ret);
        if (truth < 0) {
            right_side side = {self, right_node, left, is_and};
            uint8_t kind = eval_node(self, right_node)->kind;
            val both = 0;

            /* What only reads variables records nothing. */
            if (kind == AST_IDENTIFIER || kind == AST_FIELD_EXPRESSION ||
                kind == AST_BINARY_EXPRESSION || kind == AST_UNARY_EXPRESSION) {
                CG_TRY(evaluate(self, right_node, &right));
                if (eval_is_never(self, right))
                    return eval_give(self, left, ret);
                return eval_binary(self, op, left, right, node, ret);
            }
            CG_TRY(
                eval_ways(self, 2, eval_source(self, "if ", right_node), right_way, &side, &both));
            value made = {.kind = VALUE_BOOL, .text = eval_source(self, "", node)};

            return eval_give(self, value_make(self->values, &made), ret);
        }
    }
    CG_TRY(evaluate(self, right_node, &right));
    if (eval_is_never(self, right)) {
        *ret = right;
        return CG_OK;
    }
    return eval_binary(self, op, left, right, node, ret);
}

/* An entry of a list, or of one of several lists; *ret is 0 when there is none. */
static cg_code list_entry(eval *self, val list, val index, val *ret)
{
    const value *at = value_at(self->values, list);
    expr which = value_number(self->values, index);
    int64_t number;
    val joined = 0;

    *ret = 0;
    if (at->kind == VALUE_CHOICE) {
        for (size_t i = 0; i < at->count; i++) {
            val one = 0;

            if (value_kind_of(self->values, at->as.items[i]) != VALUE_LIST)
                return CG_OK;
            CG_TRY(list_entry(self, at->as.items[i], index, &one));
            joined = !one ? joined : joined ? value_join(self->values, joined, one) : one;
            if (one && !joined)
                return err_nomem(self->reterr);
        }
        *ret = joined;
        return CG_OK;
    }
    for (size_t i = 0; i < at->count; i++) {
        const value *item = value_at(self->values, at->as.items[i]);

        /* The one entry of a repetition, at this index. */
        if (item->kind == VALUE_REPEAT && at->count == 1 && which) {
            cg_str name = program_text(self->program, item->as.repeat.symbol);

            if (item->is_inclusive) /* the last index comes first */
                which = expr_binary(self->exprs, EXPR_SUB,
                                    expr_binary(self->exprs, EXPR_SUB, item->as.repeat.count,
                                                expr_const(self->exprs, 1)),
                                    which);
            if (!which)
                break;
            *ret = value_substitute(self->values, item->as.repeat.items[0],
                                    expr_symbol(self->exprs, name), which);
            return *ret ? CG_OK : err_nomem(self->reterr);
        }
        if (item->kind == VALUE_REPEAT)
            break;
        if (expr_constant(self->exprs, which, &number) && number == (int64_t)i) {
            *ret = at->as.items[i];
            return CG_OK;
        }
    }
    for (size_t i = 0; i < at->count; i++) {
        const value *item = value_at(self->values, at->as.items[i]);
        val one = item->kind == VALUE_REPEAT ? item->as.repeat.items[0] : at->as.items[i];

        joined = joined ? value_join(self->values, joined, one) : one;
        if (!joined)
            return err_nomem(self->reterr);
    }
    *ret = joined;
    return CG_OK;
}

/* Is it a number, if it is known which or not? What nobody knows is hardly ever a range. */
static bool may_be_index(const eval *self, val index)
{
    const value *at = value_at(self->values, index);

    return at->kind == VALUE_INT ||
           (at->kind == VALUE_UNKNOWN &&
            (!at->type || value_class(self->values, at->type) == CLASS_INT));
}

/* The entries at each of the numbers that the index may be; 0: it is no number. */
static cg_code picked_entry(eval *self, val list, val index, val *ret)
{
    const value *at = value_at(self->values, index);
    val joined = 0;

    *ret = 0;
    if (may_be_index(self, index))
        return list_entry(self, list, index, ret);
    for (size_t i = 0; at->kind == VALUE_CHOICE && i < at->count; i++) {
        val one = 0;

        if (!may_be_index(self, at->as.items[i]))
            return CG_OK;
        CG_TRY(list_entry(self, list, at->as.items[i], &one));
        if (!one)
            return CG_OK;
        joined = joined ? value_join(self->values, joined, one) : one;
        if (!joined)
            return err_nomem(self->reterr);
    }
    *ret = joined;
    return CG_OK;
}

static cg_code fold_index(eval *self, ast_ref node, val of, val *ret)
{
    ast_ref index_node = eval_node(self, eval_node(self, node)->first)->next;
    const value *at;
    val index = 0, entry = 0;

    if (!index_node)
        return unknown(self, node, ret);
    CG_TRY(evaluate(self, index_node, &index));
    if (eval_is_never(self, index)) {
        *ret = index;
        return CG_OK;
    }
    at = value_at(self->values, of);
    if (at->kind == VALUE_MAP) {
        for (size_t i = 0; i + 1 < at->count; i += 2) {
            if (at->as.items[i] == index || value_equal(self->values, at->as.items[i], index))
                return eval_give(self, at->as.items[i + 1], ret);
        }
    }
    if (at->kind == VALUE_LIST || at->kind == VALUE_CHOICE) {
        CG_TRY(picked_entry(self, of, index, &entry));
        if (entry)
            return eval_give(self, entry, ret);
    }
    /* Slices, maps and what else says it: as the library has it. */
    sym name = intern_add(&self->program->names, CG_LIT("index"));

    if (!name)
        return err_nomem(self->reterr);
    if (at->kind == VALUE_LIST || at->kind == VALUE_MAP || at->kind == VALUE_TENSOR ||
        at->kind == VALUE_STRUCT || at->kind == VALUE_TEXT ||
        (at->type && type_at(self->types, at->type)->kind == TYPE_ITEM))
        return eval_method_at(self, of, 0, name, 0, &index, 1, eval_place(self, node), ret);
    /* An item of what a call gave is known by the call: `x.to_vec1()[i]`. */
    if (at->kind == VALUE_UNKNOWN && str_find(at->text, CG_LIT("(")) != SIZE_MAX) {
        cg_str text;

        if (!value_name(self->values, at->text, "", CG_LIT("[..]"), &text))
            return err_nomem(self->reterr);
        return eval_give(self, value_unknown(self->values, 0, text), ret);
    }
    /* `x.to_vec1::<f32>()` is taken for one of its numbers. */
    if (at->kind == VALUE_FLOAT && !at->is_known)
        return eval_give(self, of, ret);
    return unknown(self, node, ret);
}

static cg_code fold_field(eval *self, ast_ref node, val of, val *ret)
{
    ast_ref field = ast_child(eval_tree(self), node, ROLE_FIELD);
    const value *at;
    val found;

    if (!field)
        return unknown(self, node, ret);
    sym name = eval_node(self, field)->text;

    found = value_field_of(self->values, of, name);
    if (found)
        return eval_with_examples(self, of, name, found, ret);
    /* Through Deref of the crate's own types. */
    at = value_at(self->values, of);
    if (at->type && type_at(self->types, at->type)->kind == TYPE_ITEM) {
        method_found method = {0};

        CG_TRY(type_find_method(self->types, at->type, eval_word(self, WORD_DEREF), &method,
                                self->reterr));
        if (method.function && self->program->items.at[method.function].owner) {
            val inner = 0;

            CG_TRY(eval_method(self, of, eval_word(self, WORD_DEREF), NULL, 0,
                               eval_place(self, node), &inner));
            found = eval_is_never(self, inner) ? 0 : value_field_of(self->values, inner, name);
            if (found)
                return eval_give(self, found, ret);
        }
    }
    cg_str text;

    if (!value_print(self->values, of, &text))
        return err_nomem(self->reterr);
    if (text.len && text.len < 200 && str_find(text, CG_LIT("?")) == SIZE_MAX) {
        if (!value_name(self->values, text, ".", program_text(self->program, name), &text))
            return err_nomem(self->reterr);
    } else {
        text = eval_source(self, "", node);
    }
    return eval_give(self, value_unknown(self->values, 0, text), ret);
}

static cg_code fold_call(eval *self, ast_ref node, val head, type_ref expected, val *ret)
{
    const ast *tree = eval_tree(self);
    ast_ref function = ast_child(tree, node, ROLE_FUNCTION);
    ast_ref list = ast_child(tree, node, ROLE_ARGUMENTS);
    ast_ref types_node = 0, name;
    arguments args;

    if (ast_kind_of(tree, function) == AST_GENERIC_FUNCTION) {
        types_node = ast_child(tree, function, ROLE_TYPE_ARGUMENTS);
        function = ast_child(tree, function, ROLE_FUNCTION);
    }
    name = ast_kind_of(tree, function) == AST_FIELD_EXPRESSION
               ? ast_child(tree, function, ROLE_FIELD)
               : 0;
    ast_ref receiver = name ? ast_child(tree, function, ROLE_VALUE) : 0;

    CG_TRY(evaluate_arguments(self, NULL, list, &args));
    if (args.is_never) {
        *ret = args.never;
        return CG_OK;
    }
    if (!name)
        return eval_apply(self, head, args.at, args.count, eval_place(self, node), ret);
    self->state->expected = expected;
    return eval_method_at(self, head, receiver, eval_node(self, name)->text, types_node, args.at,
                          args.count, eval_place(self, node), ret);
}

static cg_code fold(eval *self, ast_ref node, val head, type_ref expected, val *ret)
{
    ast_ref inner;
    type_ref type = 0;

    uint8_t kind = eval_node(self, node)->kind;

    /* What is lent stays so through methods and `?`. */
    if (value_kind_of(self->values, head) == VALUE_REFERENCE && kind != AST_CALL_EXPRESSION &&
        kind != AST_TRY_EXPRESSION && kind != AST_AWAIT_EXPRESSION)
        head = eval_deref(self, head);
    switch ((enum ast_kind)kind) {
    case AST_TRY_EXPRESSION:
        return value_kind_of(self->values, head) == VALUE_REFERENCE ? eval_give(self, head, ret)
                                                                    : try_value(self, head, ret);
    case AST_INDEX_EXPRESSION: return fold_index(self, node, head, ret);
    case AST_FIELD_EXPRESSION: return fold_field(self, node, head, ret);
    case AST_TYPE_CAST_EXPRESSION:
        inner = ast_child(eval_tree(self), node, ROLE_TYPE);
        if (inner)
            CG_TRY(eval_type(self, inner, &type));
        return type ? eval_cast(self, head, type, node, ret) : eval_give(self, head, ret);
    case AST_BINARY_EXPRESSION: return fold_binary(self, node, head, ret);
    case AST_CALL_EXPRESSION: return fold_call(self, node, head, expected, ret);
    default: return eval_give(self, head, ret);
    }
}

static cg_code evaluate_path_call(eval *self, ast_ref node, ast_ref function, type_ref expected,
                                  val *ret)
{
    ast_ref list = ast_child(eval_tree(self), node, ROLE_ARGUMENTS);
    uint8_t kind = eval_node(self, function)->kind;
    arguments args;
    target to;

    if (kind != AST_IDENTIFIER && kind != AST_SCOPED_IDENTIFIER && kind != AST_GENERIC_FUNCTION &&
        kind != AST_SELF && kind != AST_METAVARIABLE) {
        val callee = 0;

        CG_TRY(evaluate(self, function, &callee));
        if (eval_is_never(self, callee)) {
            *ret = callee;
            return CG_OK;
        }
        CG_TRY(evaluate_arguments(self, NULL, list, &args));
        if (args.is_never) {
            *ret = args.never;
            return CG_OK;
        }
        return eval_apply(self, callee, args.at, args.count, eval_place(self, node), ret);
    }
    CG_TRY(eval_target(self, function, &to));
    /* What stands in Ok(..) or Some(..) is wanted as what stands there. */
    if (to.kind == TARGET_WORD && expected) {
        enum type_class is = value_class(self->values, expected);
        const model_type *shape = type_at(self->types, expected);

        if ((to.word == WORD_OK && is == CLASS_RESULT) ||
            (to.word == WORD_SOME && is == CLASS_OPTION))
            self->state->expected = shape->arg_count ? shape->args[0] : 0;
        else if (to.word == WORD_OK)
            self->state->expected = expected;
    }
    CG_TRY(evaluate_arguments(self, &to, list, &args));
    if (args.is_never) {
        *ret = args.never;
        return CG_OK;
    }
    self->state->expected = expected;
    return eval_target_call(self, &to, args.at, args.count, node, ret);
}

/* --- what begins with itself --- */

typedef struct if_ways {
    eval *eval;
    ast_ref consequence, alternative;
    cell *bound, *top;
    type_ref expected;
    val made[2]; /* by each way */
} if_ways;

static cg_code if_way(void *context, size_t way, val *ret)
{
    if_ways *self = context;
    eval_state *state = self->eval->state;
    cg_code code = CG_OK;

    state->frame->top = way == 0 ? self->bound : self->top;
    state->expected = self->expected;
    if (way == 0 && self->consequence)
        code = evaluate_block(self->eval, self->consequence, ret);
    else if (way == 1 && self->alternative)
        code = evaluate(self->eval, self->alternative, ret);
    else
        *ret = eval_plain(self->eval, VALUE_UNIT);
    if (code == CG_OK)
        self->made[way] = *ret;
    return code;
}

/* The counter of a loop under way that the condition asks to be 0: `i == 0`; absent: none. */
static cg_code first_round_of(eval *self, ast_ref condition, cg_str *ret)
{
    ast_node at = *eval_node(self, condition);
    ast_ref left = ast_child(eval_tree(self), condition, ROLE_LEFT);
    ast_ref right = ast_child(eval_tree(self), condition, ROLE_RIGHT);
    int64_t zero = 1;
    val sides[2] = {0, 0};
    expr number;

    *ret = (cg_str){NULL, 0};
    if (at.kind != AST_BINARY_EXPRESSION || at.op != OP_EQ || !left || !right ||
        eval_node(self, left)->kind != AST_IDENTIFIER ||
        eval_node(self, right)->kind != AST_INTEGER_LITERAL)
        return CG_OK;
    CG_TRY(evaluate(self, left, &sides[0]));
    CG_TRY(evaluate(self, right, &sides[1]));
    number = value_number(self->values, sides[0]);
    if (!number || expr_kind_of(self->exprs, number) != EXPR_SYMBOL ||
        !expr_constant(self->exprs, value_number(self->values, sides[1]), &zero) || zero != 0)
        return CG_OK;
    for (uint32_t i = self->trail->repeat; i; i = self->trail->repeats.at[i].around) {
        cg_str name = program_text(self->program, self->trail->repeats.at[i].symbol);

        if (str_equal(name, expr_text(self->exprs, number)))
            *ret = name;
    }
    return CG_OK;
}

/* Two numbers, of which the first round takes one and all others the other. */
static cg_code join_rounds(if_ways *self, ast_ref condition, val *ret)
{
    eval *owner = self->eval;
    const values *all = owner->values;
    cg_str counter;
    expr number;

    int64_t known;

    if (!condition || !self->made[0] || !self->made[1] ||
        value_kind_of(all, self->made[0]) != VALUE_INT ||
        value_kind_of(all, self->made[1]) != VALUE_INT ||
        (value_kind_of(all, *ret) != VALUE_INT && value_kind_of(all, *ret) != VALUE_CHOICE) ||
        value_number(all, *ret) ||
        /* Two constants are a choice that a match can look into. */
        (expr_constant(owner->exprs, value_number(all, self->made[0]), &known) &&
         expr_constant(owner->exprs, value_number(all, self->made[1]), &known)))
        return CG_OK;
    CG_TRY(first_round_of(owner, condition, &counter));
    number = counter.len > 0
                 ? index_choice_make(owner->exprs, counter, value_number(all, self->made[0]),
                                     value_number(all, self->made[1]))
                 : EXPR_NONE;
    return number ? eval_give(owner, value_int(owner->values, number), ret) : CG_OK;
}

static cg_code evaluate_if(eval *self, ast_ref node, type_ref expected, val *ret)
{
    ast_ref condition = ast_child(eval_tree(self), node, ROLE_CONDITION);
    ast_ref otherwise = ast_child(eval_tree(self), node, ROLE_ALTERNATIVE);
    if_ways both = {.eval = self,
                    .consequence = ast_child(eval_tree(self), node, ROLE_CONSEQUENCE),
                    .alternative = otherwise ? eval_node(self, otherwise)->first : 0,
                    .top = self->state->frame->top,
                    .expected = expected};
    trail_mark before = trail_position(self->trail);
    bool is_never = false;
    int truth = -1;
    cg_code code;

    if (condition)
        CG_TRY(evaluate_condition(self, condition, &truth, &is_never));
    both.bound = self->state->frame->top;
    if (is_never) {
        *ret = eval_plain(self, VALUE_NEVER);
        code = CG_OK;
    } else if (truth >= 0) {
        code = if_way(&both, truth ? 0 : 1, ret);
    } else {
        self->state->frame->top = both.top;
        code = eval_ways_from(self, pattern_has_word(self, condition, WORD_OK) ? &before : NULL, 2,
                              eval_source(self, "if ", condition), if_way, &both, ret);
        if (code == CG_OK)
            code = join_rounds(&both, condition, ret);
    }
    self->state->frame->top = both.top;
    return code;
}

cg_code evaluate_condition(eval *self, ast_ref node, int *ret, bool *ret_never)
{
    ast_node at = *eval_node(self, node);
    val made = 0;

    if (at.kind == AST_LET_CONDITION) {
        ast_ref pattern = ast_child(eval_tree(self), node, ROLE_PATTERN);
        ast_ref with = ast_child(eval_tree(self), node, ROLE_VALUE);
        enum verdict verdict = MATCH_MAYBE;

        if (with)
            CG_TRY(evaluate(self, with, &made));
        if (made && eval_is_never(self, made)) {
            *ret_never = true;
            return CG_OK;
        }
        if (pattern && made)
            CG_TRY(eval_match(self, pattern, made, &verdict));
        *ret = verdict == MATCH_YES ? 1 : verdict == MATCH_NO ? 0 : -1;
        return CG_OK;
    }
    if (at.kind == AST_LET_CHAIN) {
        *ret = 1;
        for (ast_ref i = at.first; i; i = eval_node(self, i)->next) {
            int one = -1;

            CG_TRY(evaluate_condition(self, i, &one, ret_never));
            if (*ret_never)
                return CG_OK;
            if (one == 0) {
                *ret = 0;
                return CG_OK;
            }
            if (one < 0)
                *ret = -1;
        }
        return CG_OK;
    }
    CG_TRY(evaluate(self, node, &made));
    *ret_never = eval_is_never(self, made);
    *ret = value_truth(self->values, made);
    return CG_OK;
}

static cg_code evaluate_kind(eval *self, ast_ref node, type_ref expected, val *ret)
{
    ast_node at = *eval_node(self, node);
    ast_ref inner;
    target to;

    switch ((enum ast_kind)at.kind) {
    case AST_IDENTIFIER:
    case AST_SELF:
    case AST_SCOPED_IDENTIFIER:
    case AST_GENERIC_FUNCTION:
        CG_TRY(eval_target(self, node, &to));
        return eval_target_value(self, &to, node, ret);
    case AST_INTEGER_LITERAL:
    case AST_FLOAT_LITERAL:
    case AST_STRING_LITERAL:
    case AST_RAW_STRING_LITERAL:
    case AST_CHAR_LITERAL:
    case AST_BOOLEAN_LITERAL:
    case AST_NEGATIVE_LITERAL: return eval_give(self, eval_literal(self, node), ret);
    case AST_CALL_EXPRESSION:
        inner = ast_child(eval_tree(self), node, ROLE_FUNCTION);
        return inner ? evaluate_path_call(self, node, inner, expected, ret)
                     : unknown(self, node, ret);
    case AST_UNARY_EXPRESSION: {
        val operand = 0;

        if (!at.first)
            return unknown(self, node, ret);
        CG_TRY(evaluate(self, at.first, &operand));
        if (eval_is_never(self, operand))
            return eval_give(self, operand, ret);
        return eval_unary(self, (enum ast_op)at.op, operand, node, ret);
    }
    case AST_REFERENCE_EXPRESSION:
        inner = ast_child(eval_tree(self), node, ROLE_VALUE);
        self->state->expected = expected;
        return inner ? evaluate(self, inner, ret) : unknown(self, node, ret);
    case AST_RANGE_EXPRESSION: return evaluate_range(self, node, ret);
    case AST_ARRAY_EXPRESSION:
    case AST_TUPLE_EXPRESSION: return evaluate_list(self, node, ret);
    case AST_UNIT_EXPRESSION: return eval_give(self, eval_plain(self, VALUE_UNIT), ret);
    case AST_STRUCT_EXPRESSION: return evaluate_struct(self, node, ret);
    case AST_CLOSURE_EXPRESSION: return evaluate_closure(self, node, ret);
    case AST_IF_EXPRESSION: return evaluate_if(self, node, expected, ret);
    case AST_MATCH_EXPRESSION:
        self->state->expected = expected;
        return evaluate_match(self, node, ret);
    case AST_FOR_EXPRESSION: return evaluate_for(self, node, ret);
    case AST_WHILE_EXPRESSION:
    case AST_LOOP_EXPRESSION: return evaluate_while(self, node, ret);
    case AST_BLOCK: self->state->expected = expected; return evaluate_block(self, node, ret);
    case AST_UNSAFE_BLOCK:
    case AST_ASYNC_BLOCK:
    case AST_TRY_BLOCK:
    case AST_CONST_BLOCK:
    case AST_ELSE_CLAUSE:
        self->state->expected = expected;
        return at.first ? evaluate(self, at.first, ret)
                        : eval_give(self, eval_plain(self, VALUE_UNIT), ret);
    case AST_RETURN_EXPRESSION: return evaluate_return(self, node, ret);
    case AST_BREAK_EXPRESSION:
    case AST_CONTINUE_EXPRESSION: return evaluate_break(self, node, ret);
    case AST_ASSIGNMENT_EXPRESSION: return evaluate_assignment(self, node, ret);
    case AST_COMPOUND_ASSIGNMENT: return evaluate_compound(self, node, ret);
    case AST_MACRO_INVOCATION:
        self->state->expected = expected;
        return evaluate_macro(self, node, false, ret);
    case AST_LET_CONDITION:
    case AST_LET_CHAIN: {
        bool is_never = false;
        int truth = -1;
        value made = {.kind = VALUE_BOOL, .text = eval_source(self, "", node)};

        CG_TRY(evaluate_condition(self, node, &truth, &is_never));
        if (is_never)
            return eval_give(self, eval_plain(self, VALUE_NEVER), ret);
        made.is_known = truth >= 0;
        made.as.number = truth > 0;
        return eval_give(self, value_make(self->values, &made), ret);
    }
    case AST_EXPRESSION_STATEMENT:
        return at.first ? evaluate(self, at.first, ret)
                        : eval_give(self, eval_plain(self, VALUE_UNIT), ret);
    case AST_ERROR:
    case AST_OTHER:
    case AST_YIELD_EXPRESSION:
        /* Broken or new: nothing inside is lost. */
        for (ast_ref i = at.first; i; i = eval_node(self, i)->next) {
            val part = 0;

            CG_TRY(evaluate(self, i, &part));
        }
        return unknown(self, node, ret);
    default: return unknown(self, node, ret);
    }
}

static cg_code walk(eval *self, ast_ref node, type_ref expected, val *ret)
{
    eval_state *state = self->state;
    size_t base = state->spine.count, last;
    size_t around = self->receiver_begin, begun = self->trail->parameters.count;
    ast_ref at = node;
    val made = 0;

    for (;;) {
        ast_ref head = head_of(self, at);
        ast_ref *slot;

        if (!head)
            break;
        slot = vec_add(self->program->heap, &state->spine);
        if (!slot)
            return err_nomem(self->reterr);
        *slot = at;
        at = head;
    }
    /* What the whole is wanted as, `x.collect()?` is wanted as. */
    for (last = base; last < state->spine.count; last++) {
        uint8_t kind = eval_node(self, state->spine.at[last])->kind;

        if (kind != AST_TRY_EXPRESSION && kind != AST_AWAIT_EXPRESSION)
            break;
    }
    CG_TRY(evaluate_kind(self, at, state->spine.count == last ? expected : 0, &made));
    while (state->spine.count > base) {
        val next = 0;

        if (eval_is_never(self, made)) {
            state->spine.count = base;
            break;
        }
        at = state->spine.at[--state->spine.count];
        state->steps++;
        self->receiver_begin = begun;
        CG_TRY(fold(self, at, made, state->spine.count <= last ? expected : 0, &next));
        made = next;
    }
    self->receiver_begin = around;
    *ret = made;
    return CG_OK;
}

/* As evaluate; with is_kept a place that is lent (`xs.last_mut().unwrap()`) stays a reference. */
static cg_code evaluate_kept(eval *self, ast_ref node, bool is_kept, val *ret)
{
    eval_state *state = self->state;
    type_ref expected = state->expected;
    cg_code code;

    state->expected = 0;
    if (!node)
        return eval_give(self, value_unknown(self->values, 0, (cg_str){NULL, 0}), ret);
    uint64_t most = self->limits.steps < state->share ? self->limits.steps : state->share;

    /* Copying long lists and texts counts too. */
    state->steps += 1 + (self->values->work - state->work) / WORK_OF_STEP;
    state->work = self->values->work;
    if (state->side_most && state->steps > state->side_most && state->steps <= most && !self->flow)
        return eval_give(self, value_unknown(self->values, 0, (cg_str){NULL, 0}), ret);
    if (state->side_most && state->side_most < most)
        most = state->side_most;
    if (state->steps > most || state->nesting >= self->limits.nesting) {
        CG_TRY(eval_cut(self, node,
                        state->steps > most
                            ? "the evaluation took too many steps and was cut off here"
                            : "expressions are nested too deeply and were cut off here"));
        return eval_give(self, value_unknown(self->values, 0, (cg_str){NULL, 0}), ret);
    }
    state->nesting++;
    code = walk(self, node, expected, ret);
    state->nesting--;
    if (code == CG_OK && !is_kept)
        *ret = eval_deref(self, *ret);
    return code == CG_OK && !*ret ? err_nomem(self->reterr) : code;
}

cg_code evaluate(eval *self, ast_ref node, val *ret)
{
    return evaluate_kept(self, node, false, ret);
}

static cg_code evaluate_argument(eval *self, ast_ref node, val *ret)
{
    const ast_node *at = eval_node(self, node);
    place_value place;

    if (at->kind == AST_IDENTIFIER || at->kind == AST_SELF) {
        cell *local = cell_find(self->state->frame,
                                at->kind == AST_SELF ? eval_word(self, WORD_SELF) : at->text);

        if (local && value_kind_of(self->values, local->value) == VALUE_REFERENCE) {
            *ret = local->value;
            return CG_OK;
        }
    }
    if (at->kind == AST_REFERENCE_EXPRESSION && (at->flags & AST_MUTABLE) &&
        spot_of(self, ast_child(eval_tree(self), node, ROLE_VALUE), &place)) {
        return eval_give(self, eval_reference(self, &place), ret);
    }
    return evaluate_kept(self, node,
                         at->kind == AST_CALL_EXPRESSION || at->kind == AST_TRY_EXPRESSION, ret);
}

/* --- statements --- */

static cg_code evaluate_let(eval *self, ast_ref node, val *ret)
{
    ast_ref pattern = ast_child(eval_tree(self), node, ROLE_PATTERN);
    ast_ref type_node = ast_child(eval_tree(self), node, ROLE_TYPE);
    ast_ref with = ast_child(eval_tree(self), node, ROLE_VALUE);
    ast_ref otherwise = ast_child(eval_tree(self), node, ROLE_ALTERNATIVE);
    enum verdict verdict = MATCH_YES;
    type_ref type = 0;
    val made = 0;

    trail_mark before = trail_position(self->trail);

    *ret = eval_plain(self, VALUE_UNIT);
    if (type_node)
        CG_TRY(eval_type(self, type_node, &type));
    if (with) {
        self->state->expected = type;
        uint8_t kind = eval_node(self, with)->kind;

        if (kind == AST_REFERENCE_EXPRESSION || kind == AST_CALL_EXPRESSION ||
            kind == AST_TRY_EXPRESSION)
            CG_TRY(evaluate_argument(self, with, &made));
        else
            CG_TRY(evaluate(self, with, &made));
        self->state->expected = 0;
    } else {
        /* Declared now, assigned later. */
        made = value_unknown(self->values, type, (cg_str){NULL, 0});
    }
    if (!made)
        return err_nomem(self->reterr);
    if (eval_is_never(self, made)) {
        *ret = made;
        return CG_OK;
    }
    if (value_kind_of(self->values, made) == VALUE_REFERENCE && pattern &&
        eval_node(self, pattern)->kind == AST_IDENTIFIER)
        return cell_add(self, eval_node(self, pattern)->text, made);
    made = value_with_type(self->values, eval_deref(self, made),
                           value_transparent(self->values, type));
    if (!made)
        return err_nomem(self->reterr);
    if (!pattern)
        return CG_OK;
    CG_TRY(eval_match(self, pattern, made, &verdict));
    if (!otherwise || verdict == MATCH_YES)
        return CG_OK;
    /* let .. else: the block does not come back. */
    cell *bound = self->state->frame->top;
    if_ways both = {.eval = self, .alternative = otherwise, .bound = bound, .top = bound};
    val left = 0;

    if (verdict == MATCH_NO)
        return evaluate(self, otherwise, ret);
    return eval_ways_from(self, pattern_has_word(self, pattern, WORD_OK) ? &before : NULL, 2,
                          eval_source(self, "if let ", pattern), if_way, &both, &left);
}

static bool is_item(uint8_t kind)
{
    return (kind >= AST_MOD_ITEM && kind <= AST_USE_WILDCARD) || kind == AST_MACRO_DEFINITION;
}

cg_code evaluate_statements(eval *self, ast_ref first, val *ret)
{
    type_ref expected = self->state->expected;
    file_ref file = self->state->frame->file;
    bool has_attribute = false;

    *ret = eval_plain(self, VALUE_UNIT);
    for (ast_ref i = first; i;) {
        ast_node at = *eval_node(self, i);
        val made = 0;

        self->state->expected = 0;
        if (at.kind == AST_ATTRIBUTE_ITEM || at.kind == AST_INNER_ATTRIBUTE_ITEM) {
            has_attribute = true;
            i = at.next;
            continue;
        }
        if (at.kind == AST_LABEL || at.kind == AST_EMPTY_STATEMENT || is_item(at.kind) ||
            (has_attribute && program_cfg(self->program, file, i) < 0)) {
            has_attribute = false;
            i = at.next;
            continue;
        }
        has_attribute = false;
        if (at.kind == AST_LET_DECLARATION) {
            CG_TRY(evaluate_let(self, i, &made));
        } else if (at.kind == AST_MACRO_INVOCATION ||
                   (at.kind == AST_EXPRESSION_STATEMENT && at.first &&
                    eval_node(self, at.first)->kind == AST_MACRO_INVOCATION)) {
            bool is_last = at.kind == AST_MACRO_INVOCATION && !at.next;

            self->state->expected = is_last ? expected : 0;
            CG_TRY(
                evaluate_macro(self, at.kind == AST_MACRO_INVOCATION ? i : at.first, true, &made));
            if (is_last && !eval_is_never(self, made))
                *ret = made;
        } else if (at.kind == AST_EXPRESSION_STATEMENT) {
            CG_TRY(evaluate(self, at.first, &made));
        } else {
            self->state->expected = at.next ? 0 : expected;
            CG_TRY(evaluate(self, i, &made));
            if (!eval_is_never(self, made))
                *ret = at.next ? eval_plain(self, VALUE_UNIT) : made;
        }
        if (eval_is_never(self, made)) {
            *ret = made;
            return CG_OK;
        }
        i = eval_node(self, i)->next;
    }
    return CG_OK;
}

cg_code evaluate_block(eval *self, ast_ref block, val *ret)
{
    frame *scope = self->state->frame;
    cell *top = scope->top;
    module_ref module = scope->module;
    type_ref expected = self->state->expected;
    ast_ref label_node;
    cg_code code;

    if (!block || eval_node(self, block)->kind != AST_BLOCK)
        return evaluate(self, block, ret);
    label_node = ast_child_kind(eval_tree(self), block, AST_LABEL);
    node_fact *fact = eval_fact(self, scope->file, block);

    if (!fact)
        return err_nomem(self->reterr);
    if (!fact->has_module) {
        module_ref inner = 0;

        for (ast_ref i = eval_node(self, block)->first; i && !inner; i = eval_node(self, i)->next) {
            if (!is_item(eval_node(self, i)->kind))
                continue;
            CG_TRY(program_block(self->program, scope->module, scope->file, block, &inner,
                                 self->reterr));
            break;
        }
        fact = eval_fact(self, scope->file, block);
        if (!fact)
            return err_nomem(self->reterr);
        fact->module = inner;
        fact->has_module = true;
    }
    if (fact->module)
        scope->module = fact->module;
    loop_scope own = {.around = scope->loop, .is_block = true};

    if (label_node) {
        own.label = eval_node(self, label_node)->text;
        scope->loop = &own;
    }
    self->state->expected = expected;
    code = evaluate_statements(self, eval_node(self, block)->first, ret);
    scope->loop = own.around;
    scope->top = top;
    scope->module = module;
    if (code != CG_OK || !label_node)
        return code;
    if (eval_is_never(self, *ret) && self->state->jump == JUMP_BREAK &&
        self->state->jump_label == own.label)
        *ret = own.result ? own.result : eval_plain(self, VALUE_UNIT);
    else if (own.result && !eval_is_never(self, *ret))
        *ret = value_join(self->values, *ret, own.result);
    return *ret ? CG_OK : err_nomem(self->reterr);
}
