/* Where a value ends up: outwards through the expression, and along the variables that hold it. */
#include "model/eval_use.h"

#define PARTS_MOST  8u    /* tuples, lists and options around the value */
#define HOPS_MOST   6u    /* variables that it goes through */
#define LEVELS_MOST 200u  /* of expressions around it, in all */
#define NODES_MOST  4000u /* that are looked through for the uses of one variable */

#define PART_INNER (-1) /* of a list or an Option */

typedef struct usage {
    eval *eval;
    ast_ref node;          /* whose type is asked for */
    int parts[PARTS_MOST]; /* what of it is the value, the outermost last */
    unsigned part_count;
    unsigned hops, levels;
    type_ref type;
    bool is_over;
} usage;

static bool is_one_of(cg_str text, const char *const *words)
{
    for (; *words; words++) {
        if (str_is(text, *words))
            return true;
    }
    return false;
}

static void add_part(usage *self, int part)
{
    if (self->part_count < PARTS_MOST)
        self->parts[self->part_count++] = part;
    else
        self->is_over = true;
}

static void settle(usage *self, type_ref type)
{
    self->type = type;
    self->is_over = true;
}

static cg_str text_of(const usage *self, ast_ref node)
{
    return node ? ast_text(eval_tree(self->eval), node) : CG_LIT("");
}

static ast_ref child_of(const usage *self, ast_ref node, enum ast_role role)
{
    return node ? ast_child(eval_tree(self->eval), node, role) : 0;
}

static uint8_t kind_of(const usage *self, ast_ref node)
{
    return node ? eval_node(self->eval, node)->kind : (uint8_t)AST_NONE;
}

/* The name a `let` binds the value to: all of it, or the part of a tuple that is asked for. */
static sym bound_name(usage *self, ast_ref let)
{
    ast_ref pattern = child_of(self, let, ROLE_PATTERN);

    if (kind_of(self, pattern) == AST_TUPLE_PATTERN && self->part_count &&
        self->parts[self->part_count - 1] >= 0) {
        int index = self->parts[self->part_count - 1];

        pattern = eval_node(self->eval, pattern)->first;
        for (; pattern && index > 0; index--)
            pattern = eval_node(self->eval, pattern)->next;
        if (pattern)
            self->part_count--;
    }
    if (kind_of(self, pattern) == AST_MUT_PATTERN)
        pattern = eval_node(self->eval, pattern)->first;
    return kind_of(self, pattern) == AST_IDENTIFIER ? eval_node(self->eval, pattern)->text : 0;
}

/* The next node in source order that is not inside of `node`, up to the end of `block`. */
static ast_ref behind(const usage *self, ast_ref node, ast_ref block)
{
    while (node && node != block && !eval_node(self->eval, node)->next)
        node = eval_node(self->eval, node)->parent;
    return node && node != block ? eval_node(self->eval, node)->next : 0;
}

static cg_code look_outwards(usage *self);

/* The uses of a variable behind its `let`, until one says what it is. */
static cg_code look_behind(usage *self, ast_ref let, sym name)
{
    ast_ref block = eval_node(self->eval, let)->parent;
    usage before = *self;
    unsigned count = 0;

    if (self->hops >= HOPS_MOST) {
        self->is_over = true;
        return CG_OK;
    }
    for (ast_ref i = behind(self, let, block); i && count < NODES_MOST; count++) {
        const ast_node *at = eval_node(self->eval, i);
        bool is_use = at->text == name &&
                      (at->kind == AST_IDENTIFIER || at->kind == AST_SHORTHAND_FIELD_IDENTIFIER);

        /* Another variable of that name. */
        if (at->kind == AST_LET_DECLARATION && at->parent == block && count > 0) {
            ast_ref pattern = child_of(self, i, ROLE_PATTERN);
            ast_ref with = child_of(self, i, ROLE_VALUE);

            if (kind_of(self, pattern) == AST_IDENTIFIER &&
                eval_node(self->eval, pattern)->text == name && !with)
                break;
        }
        if (is_use && at->role != ROLE_PATTERN) {
            *self = before;
            self->hops++;
            self->node = i;
            CG_TRY(look_outwards(self));
            before.levels = self->levels;
            before.hops = self->hops;
            if (self->type || self->levels >= LEVELS_MOST || self->hops >= HOPS_MOST)
                return CG_OK;
        }
        i = at->first ? at->first : behind(self, i, block);
    }
    *self = before;
    self->is_over = true;
    return CG_OK;
}

/* The `let` that binds a name where `node` stands; 0: a parameter, or something else. */
static ast_ref let_of(const usage *self, ast_ref node, sym name)
{
    unsigned count = 0;

    for (ast_ref at = node; at; at = eval_node(self->eval, at)->parent) {
        ast_ref block = eval_node(self->eval, at)->parent;
        ast_ref found = 0;

        if (kind_of(self, block) == AST_FUNCTION_ITEM)
            return 0;
        if (kind_of(self, block) != AST_BLOCK)
            continue;
        for (ast_ref i = eval_node(self->eval, block)->first; i && i != at && count < NODES_MOST;
             i = eval_node(self->eval, i)->next, count++) {
            ast_ref pattern;

            if (kind_of(self, i) != AST_LET_DECLARATION)
                continue;
            pattern = child_of(self, i, ROLE_PATTERN);
            if (kind_of(self, pattern) == AST_MUT_PATTERN)
                pattern = eval_node(self->eval, pattern)->first;
            if (kind_of(self, pattern) == AST_IDENTIFIER &&
                eval_node(self->eval, pattern)->text == name)
                found = i;
        }
        if (found)
            return found;
    }
    return 0;
}

static bool has_hole(const eval *self, type_ref type, unsigned depth)
{
    const model_type *shape = type_at(self->types, type);

    if (!type || shape->kind == TYPE_UNKNOWN || shape->kind == TYPE_PARAMETER)
        return true;
    for (size_t i = 0; i < shape->arg_count && depth < 8; i++) {
        if (has_hole(self, shape->args[i], depth + 1))
            return true;
    }
    return false;
}

/* A variable: what is written at its `let`, or how it is used. */
static cg_code look_at_let(usage *self, ast_ref let)
{
    ast_ref type_node = child_of(self, let, ROLE_TYPE);
    type_ref type = 0;
    sym name;

    if (type_node) {
        CG_TRY(eval_type(self->eval, type_node, &type));
        if (!has_hole(self->eval, type, 0)) {
            settle(self, type);
            return CG_OK;
        }
    }
    name = bound_name(self, let);
    if (!name) {
        self->is_over = true;
        return CG_OK;
    }
    return look_behind(self, let, name);
}

/* The parameter of a function of read source that an argument is for. */
static cg_code look_at_parameter(usage *self, ast_ref function, size_t index)
{
    eval *owner = self->eval;
    const function_fact *fact;
    method_found found = {0};
    item_ref item;
    type_ref type = 0;
    target to;

    self->is_over = true;
    CG_TRY(eval_target(owner, function, &to));
    item = to.kind == TARGET_ITEM ? to.item : 0;
    if (to.kind == TARGET_MEMBER && to.type) {
        CG_TRY(type_find_method(owner->types, to.type, to.name, &found, owner->reterr));
        item = found.function;
    }
    if (!item || owner->program->items.at[item].kind != ITEM_FUNCTION)
        return CG_OK;
    CG_TRY(eval_function_fact(owner, item, &fact));
    if (index >= fact->parameter_count || !fact->parameters[index].type_node)
        return CG_OK;
    found.bindings.self_type = to.type;
    CG_TRY(type_lower(owner->types, owner->program->items.at[item].module,
                      owner->program->items.at[item].file, fact->parameters[index].type_node,
                      &found.bindings, &type, owner->reterr));
    settle(self, type);
    return CG_OK;
}

static size_t index_in(const usage *self, ast_ref node)
{
    ast_ref parent = eval_node(self->eval, node)->parent;
    size_t index = 0;

    for (ast_ref i = eval_node(self->eval, parent)->first; i && i != node;
         i = eval_node(self->eval, i)->next) {
        if (kind_of(self, i) != AST_ATTRIBUTE_ITEM)
            index++;
    }
    return index;
}

/* An argument of a call. */
static cg_code look_at_argument(usage *self, ast_ref call)
{
    static const char *const wrappers[] = {"Ok",         "Box::new",    "Arc::new",
                                           "Rc::new",    "Cell::new",   "RefCell::new",
                                           "Mutex::new", "RwLock::new", "std::sync::Arc::new",
                                           NULL};
    static const char *const adders[] = {"push", "push_back", "push_front", "insert", NULL};
    ast_ref function = child_of(self, call, ROLE_FUNCTION);
    size_t index = index_in(self, self->node);
    cg_str text = text_of(self, function);

    if (kind_of(self, function) == AST_FIELD_EXPRESSION) {
        ast_ref receiver = child_of(self, function, ROLE_VALUE);
        ast_ref let;

        self->is_over = true;
        if (!is_one_of(text_of(self, child_of(self, function, ROLE_FIELD)), adders) ||
            kind_of(self, receiver) != AST_IDENTIFIER)
            return CG_OK;
        let = let_of(self, call, eval_node(self->eval, receiver)->text);
        if (!let)
            return CG_OK;
        self->is_over = false;
        add_part(self, PART_INNER);
        return look_at_let(self, let);
    }
    if (is_one_of(text, wrappers)) {
        self->node = call;
        return CG_OK;
    }
    if (str_equal(text, CG_LIT("Some"))) {
        add_part(self, PART_INNER);
        self->node = call;
        return CG_OK;
    }
    return look_at_parameter(self, function, index);
}

/* The value is what a method is called on: some give it, or all of them. */
static void look_at_method(usage *self, ast_ref call, cg_str name)
{
#define WORD(name) #name,
    static const char *const same[] = {
        WORD(unwrap) WORD(expect) WORD(try_into) WORD(into) WORD(map_err) WORD(context) WORD(clone)
            WORD(collect) WORD(try_collect) WORD(with_context) WORD(to_vec) WORD(into_iter)
                WORD(rev) WORD(take) WORD(skip) WORD(filter) WORD(peekable) WORD(into_boxed_slice)
                    WORD(chain) WORD(step_by) WORD(fuse) NULL};
#undef WORD

    if (is_one_of(name, same))
        self->node = call;
    else
        self->is_over = true;
}

static cg_code look_at_field(usage *self, ast_ref initializer, sym name)
{
    ast_ref list = eval_node(self->eval, initializer)->parent;
    ast_ref whole = list ? eval_node(self->eval, list)->parent : 0;
    ast_ref path = child_of(self, whole, ROLE_NAME);
    type_ref owner = 0;
    type_ref type = 0;

    self->is_over = true;
    if (!path)
        return CG_OK;
    if (kind_of(self, path) == AST_GENERIC_TYPE_WITH_TURBOFISH)
        path = eval_node(self->eval, path)->first;
    CG_TRY(eval_path_type(self->eval, path, &owner));
    if (owner)
        CG_TRY(type_field(self->eval->types, owner, name, &type, self->eval->reterr));
    settle(self, type);
    return CG_OK;
}

/* Of the function, also where a closure in it is evaluated. */
static cg_code look_at_result(usage *self)
{
    eval *owner = self->eval;
    const function_fact *fact;
    type_ref type = 0;

    self->is_over = true;
    if (!owner->state->frame->function)
        return CG_OK;
    CG_TRY(eval_function_fact(owner, owner->state->frame->function, &fact));
    if (fact->result)
        CG_TRY(eval_type(owner, fact->result, &type));
    settle(self, type);
    return CG_OK;
}

/* One step outwards. */
static cg_code step(usage *self)
{
    const ast_node *here = eval_node(self->eval, self->node);
    ast_ref parent = here->parent;
    ast_node around = *eval_node(self->eval, parent);
    ast_ref call;

    switch ((enum ast_kind)around.kind) {
    case AST_TRY_EXPRESSION:
    case AST_AWAIT_EXPRESSION:
    case AST_REFERENCE_EXPRESSION:
    case AST_IF_EXPRESSION:
    case AST_ELSE_CLAUSE:
    case AST_MATCH_BLOCK:
    case AST_UNSAFE_BLOCK: self->node = parent; return CG_OK;
    case AST_MATCH_ARM:
    case AST_MATCH_EXPRESSION:
        if (here->role == ROLE_VALUE && around.kind == AST_MATCH_EXPRESSION)
            break;
        self->node = parent;
        return CG_OK;
    case AST_TUPLE_EXPRESSION:
        add_part(self, (int)index_in(self, self->node));
        self->node = parent;
        return CG_OK;
    case AST_ARRAY_EXPRESSION:
        add_part(self, PART_INNER);
        self->node = parent;
        return CG_OK;
    case AST_MACRO_ARGUMENTS:
        call = around.parent;
        if (!str_starts_with(text_of(self, call), CG_LIT("vec!")))
            break;
        add_part(self, PART_INNER);
        self->node = call;
        return CG_OK;
    case AST_ARGUMENTS: return look_at_argument(self, around.parent);
    case AST_FIELD_EXPRESSION:
        call = around.parent;
        if (kind_of(self, call) == AST_GENERIC_FUNCTION)
            call = eval_node(self->eval, call)->parent;
        if (kind_of(self, call) != AST_CALL_EXPRESSION || here->role != ROLE_VALUE)
            break;
        look_at_method(self, call, text_of(self, child_of(self, parent, ROLE_FIELD)));
        return CG_OK;
    case AST_CLOSURE_EXPRESSION:
        call = eval_node(self->eval, around.parent)->parent;
        if (kind_of(self, around.parent) != AST_ARGUMENTS || here->role != ROLE_BODY ||
            child_of(self, parent, ROLE_RETURN_TYPE) ||
            !str_equal(
                text_of(self, child_of(self, child_of(self, call, ROLE_FUNCTION), ROLE_FIELD)),
                CG_LIT("map")))
            break;
        add_part(self, PART_INNER);
        self->node = call;
        return CG_OK;
    case AST_LET_DECLARATION: return look_at_let(self, parent);
    case AST_FIELD_INITIALIZER:
        return look_at_field(self, parent,
                             eval_node(self->eval, child_of(self, parent, ROLE_FIELD))->text);
    case AST_SHORTHAND_FIELD_INITIALIZER: return look_at_field(self, parent, here->text);
    case AST_RETURN_EXPRESSION: settle(self, self->eval->state->frame->result); return CG_OK;
    case AST_BLOCK:
        if (here->next)
            break;
        if (kind_of(self, around.parent) == AST_FUNCTION_ITEM)
            return look_at_result(self);
        self->node = parent;
        return CG_OK;
    default: break;
    }
    self->is_over = true;
    return CG_OK;
}

static cg_code look_outwards(usage *self)
{
    self->is_over = false;
    self->type = 0;
    while (!self->is_over && self->node && self->levels++ < LEVELS_MOST)
        CG_TRY(step(self));
    return CG_OK;
}

cg_code eval_use_type(eval *self, ast_ref node, type_ref *ret)
{
    usage work = {.eval = self, .node = node};
    type_ref type;

    *ret = 0;
    if (!node || !self->state->frame)
        return CG_OK;
    CG_TRY(look_outwards(&work));
    type = work.type;
    for (unsigned i = work.part_count; i > 0 && type; i--) {
        const model_type *shape = type_at(self->types, value_transparent(self->values, type));
        int part = work.parts[i - 1] == PART_INNER ? 0 : work.parts[i - 1];

        if (work.parts[i - 1] != PART_INNER && shape->kind != TYPE_TUPLE)
            return CG_OK;
        type = part < shape->arg_count ? shape->args[part] : 0;
    }
    *ret = type;
    return CG_OK;
}
