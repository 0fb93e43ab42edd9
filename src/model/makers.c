#include "model/makers.h"

#include "model/builders.h"
#include "model/flow.h"
#include "model/value_kinds.h"
#include "model/walk.h"

typedef struct maker {
    extraction *out;
    eval *eval;
    program *program;
    types *types;
    const function_facts *functions;
    const extract_options *options;
    arena mem;   /* of one function */
    bool *makes; /* by function fact */
    cg_err *reterr;
} maker;

static cg_code nomem(const maker *self)
{
    return err_nomem(self->reterr);
}

/* --- names of roots --- */

/* Is it a statement, whose value nobody takes? */
static bool is_statement(const ast *tree, ast_ref call)
{
    ast_ref at = ast_at(tree, call)->parent;

    while (ast_kind_of(tree, at) == AST_TRY_EXPRESSION)
        at = ast_at(tree, at)->parent;
    return ast_kind_of(tree, at) == AST_EXPRESSION_STATEMENT;
}

/* The `let` that holds what the call makes; 0: it is an argument, a field, what is given back. */
static ast_ref let_around(const ast *tree, ast_ref call)
{
    for (ast_ref at = call; at; at = ast_at(tree, at)->parent) {
        switch (ast_kind_of(tree, at)) {
        case AST_LET_DECLARATION: return at;
        case AST_ARGUMENTS:
        case AST_CLOSURE_EXPRESSION:
        case AST_FUNCTION_ITEM:
        case AST_MACRO_INVOCATION:
        case AST_STRUCT_EXPRESSION: return 0;
        default: break;
        }
    }
    return 0;
}

typedef struct root_name {
    cg_str text;
    file_ref file;
    ast_ref let; /* 0: none */
    cg_str map;  /* name of the variable of the map; absent: it has none */
} root_name;

static cg_str word_of(const program *code_of, const ast *tree, ast_ref at)
{
    while (at &&
           (ast_kind_of(tree, at) == AST_MUT_PATTERN || ast_kind_of(tree, at) == AST_REF_PATTERN))
        at = ast_at(tree, at)->first;
    return at && ast_kind_of(tree, at) == AST_IDENTIFIER
               ? program_text(code_of, ast_at(tree, at)->text)
               : (cg_str){0};
}

/* The call of `helper` number `turn` in the function, by the helper's name. */
static ast_ref call_of(const program *code_of, item_ref function, item_ref helper, size_t turn)
{
    const ast *tree = program_tree(code_of, code_of->items.at[function].file);
    ast_ref body = walk_body(code_of, function);

    for (ast_ref at = body; at; at = walk_next(tree, body, at)) {
        ast_ref name = walk_called(tree, at);

        if (name && ast_at(tree, name)->text == code_of->items.at[helper].name && turn-- == 0)
            return at;
    }
    return 0;
}

/* What a helper makes is called as the variable that gets it from the helper. */
static root_name name_of(const program *code_of, const trail_root *root, size_t turn)
{
    root_name got = {.text = CG_LIT("vb")};
    bool is_here = root->owner == root->place.function;
    item_ref holder = is_here ? root->place.function : root->owner;

    if (!root->place.file || !root->place.function || !holder)
        return got;
    got.file = code_of->items.at[holder].file;
    const ast *tree = program_tree(code_of, got.file);
    ast_ref call = is_here ? walk_call_at(tree, walk_body(code_of, holder), root->place)
                           : call_of(code_of, holder, root->place.function, turn);
    ast_ref first = call ? walk_argument(tree, call, 0) : 0;
    cg_str word;

    got.let = call ? let_around(tree, call) : 0;
    if (is_here && call && walk_receiver(tree, call)) {
        /* A variable that the map was asked for. */
        got.let = 0;
        first = walk_receiver(tree, call);
    }
    word = got.let ? word_of(code_of, tree, ast_child(tree, got.let, ROLE_PATTERN)) : (cg_str){0};
    if (root->source == BUILDER_VARMAP && first)
        got.map = word_of(code_of, tree, walk_bare(code_of, tree, first));
    if (word.ptr && word.len > 0 && word.ptr[0] != '_')
        got.text = word;
    else if (got.map.ptr)
        got.text = got.map;
    return got;
}

static bool is_taken(const trail *track, const root_name *names, size_t before, cg_str text)
{
    for (size_t i = 1; i < before; i++) {
        if (names[i].text.ptr && str_equal(track->roots.at[i].name, text))
            return true;
    }
    return false;
}

/* The same map, or the same variable on another way or in another turn of a loop. */
static bool is_one(const eval *interpreter, const root_name *names, size_t a, size_t b)
{
    const trail_root *left = &interpreter->trail->roots.at[a];
    const trail_root *right = &interpreter->trail->roots.at[b];

    if (!names[a].text.ptr)
        return false;
    return (left->varmap && left->varmap == right->varmap) ||
           (names[a].let && names[a].let == names[b].let && names[a].file == names[b].file) ||
           (left->owner == left->place.function && left->place.file &&
            left->place.file == right->place.file && left->place.start == right->place.start &&
            left->place.end == right->place.end);
}

bool makers_name_roots(eval *interpreter)
{
    trail *track = interpreter->trail;
    size_t count = track->roots.count;
    root_name *names = arena_zero(&track->mem, (count + 1) * sizeof *names);

    if (!names)
        return false;
    for (size_t i = 1; i < count; i++) {
        trail_root *root = &track->roots.at[i];
        size_t same = 1, turn = 0;

        if (root->source == BUILDER_PARAMETER)
            continue;
        for (size_t k = 1; k < i; k++)
            turn += track->roots.at[k].place.file == root->place.file &&
                    track->roots.at[k].place.start == root->place.start;
        names[i] = name_of(interpreter->program, root, turn);
        while (same < i && !is_one(interpreter, names, same, i))
            same++;
        if (same < i) {
            root->name = track->roots.at[same].name;
            continue;
        }
        if (is_taken(track, names, i, names[i].text) && names[i].map.ptr)
            names[i].text = names[i].map;
        root->name = names[i].text;
        for (unsigned number = 2; is_taken(track, names, i, root->name); number++) {
            if (!arena_format(&track->mem, &root->name, "%.*s_%u", (int)names[i].text.len,
                              names[i].text.ptr, number))
                return false;
        }
    }
    return true;
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static size_t count_word(cg_str text, cg_str word)
{
    size_t count = 0;

    for (size_t i = 0; i + word.len <= text.len; i++) {
        if ((i > 0 && is_word_byte(text.ptr[i - 1])) || memcmp(text.ptr + i, word.ptr, word.len))
            continue;
        count += i + word.len == text.len || !is_word_byte(text.ptr[i + word.len]);
    }
    return count;
}

bool makers_forgets(const program *code_of, item_ref function, model_place call)
{
    const program_item *item = &code_of->items.at[function];
    ast_ref let = 0;
    cg_str word;

    if (call.function != function || call.file != item->file)
        return false;
    const ast *tree = program_tree(code_of, item->file);
    ast_ref body = walk_body(code_of, function);
    ast_ref at = walk_call_at(tree, body, call);

    if (at && is_statement(tree, at))
        return true;
    let = at ? let_around(tree, at) : 0;
    if (let && str_equal(ast_text(tree, ast_child(tree, let, ROLE_PATTERN)), CG_LIT("_")))
        return true;
    word = let ? word_of(code_of, tree, ast_child(tree, let, ROLE_PATTERN)) : (cg_str){0};
    if (word.len == 0)
        return false;
    const ast_node *all = ast_at(tree, body), *own = ast_at(tree, let);
    const char *text = code_of->files.at[item->file]->source.text.ptr;

    return count_word((cg_str){text + all->start, own->start - all->start}, word) == 0 &&
           count_word((cg_str){text + own->end, all->end - own->end}, word) == 0;
}

/* --- which functions --- */

static bool is_own_item(const maker *self, item_ref item)
{
    const program *code_of = self->program;

    return code_of->crates.at[code_of->modules.at[code_of->items.at[item].module].crate].is_scanned;
}

/* Who calls a function that gives back a builder it makes, has one too. */
static cg_code spread(maker *self)
{
    const function_facts *facts = self->functions;
    VEC(const char *) gifts = {0}; /* ids, which are the same text wherever they stand */
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < facts->all.count; i++) {
        const function_fact *fact = &facts->all.at[i];
        bool takes = false, gives = false;

        self->makes[i] = fact->makes;
        if (!fact->makes)
            continue;
        code = builder_of_function(self->types, fact->item, &takes, &gives, self->reterr);
        const char **slot = gives && !takes ? vec_add(self->program->heap, &gifts) : NULL;

        if (slot)
            *slot = fact->id.ptr;
        else if (gives && !takes && code == CG_OK)
            code = nomem(self);
    }
    for (size_t i = 0; gifts.count > 0 && i < facts->all.count; i++) {
        sc_strs calls = facts->all.at[i].record->calls;

        for (size_t j = 0; j < calls.count && !self->makes[i]; j++) {
            for (size_t k = 0; k < gifts.count && !self->makes[i]; k++)
                self->makes[i] = gifts.at[k] == calls.at[j].ptr;
        }
    }
    vec_free(self->program->heap, &gifts);
    return code;
}

/* --- one function --- */

/* The struct or enum of the crate that comes back; 0: something else does. */
static cg_code made_type(const maker *self, item_ref function, item_ref *ret)
{
    type_ref type = 0;

    *ret = 0;
    CG_TRY(type_of_item(self->types, function, &type, self->reterr));
    const model_type *shape = type_at(self->types, type);

    if (shape->kind != TYPE_FUNCTION || shape->arg_count == 0)
        return CG_OK;
    shape = type_at(self->types, type_peel(self->types, shape->args[shape->arg_count - 1]));
    if (shape->kind == TYPE_ITEM && shape->item && is_own_item(self, shape->item) &&
        (self->program->items.at[shape->item].kind == ITEM_STRUCT ||
         self->program->items.at[shape->item].kind == ITEM_ENUM))
        *ret = shape->item;
    return CG_OK;
}

/* Is there a component of that type, or, with type 0, of that function? */
static bool has_component(const maker *self, item_ref type, item_ref function)
{
    for (size_t i = 0; i < self->out->components.count; i++) {
        const extract_component *at = &self->out->components.at[i];

        if (at->type == type && (type || at->constructor == function))
            return true;
    }
    return false;
}

static cg_code evaluate(maker *self, item_ref function, item_ref type, val *ret)
{
    const program_item item = self->program->items.at[function];
    const ast *tree = program_tree(self->program, item.file);
    const ast_node *node = ast_at(tree, item.node);
    model_place place = {item.file, node->start, node->end, function};
    ast_ref list = ast_child(tree, item.node, ROLE_PARAMETERS);
    type_bindings bindings = {0};
    trail *track = self->eval->trail;
    val args[64] = {0};
    type_ref made = 0;
    size_t count = 0;

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        uint8_t kind = ast_kind_of(tree, at);

        count += (kind == AST_PARAMETER || kind == AST_SELF_PARAMETER) && count < 64;
    }
    if (item.owner && self->program->items.at[item.owner].kind == ITEM_IMPL)
        CG_TRY(type_of_item(self->types, item.owner, &bindings.self_type, self->reterr));
    if (type)
        CG_TRY(type_of_item(self->types, type, &made, self->reterr));
    eval_begin(self->eval, item.file);
    trail_reset(track);
    if (self->eval->flow)
        flow_reset(self->eval->flow, *self->out->no_tensors);
    uint32_t own = trail_add_instance(
        track, &(trail_instance){.type = made, .constructor = function, .place = place});

    if (!own)
        return nomem(self);
    track->instance = own;
    CG_TRY(eval_call(self->eval, function, &bindings, args, count, place, ret));
    CG_TRY(eval_note(self->eval, function));
    track->instances.at[own].result = *ret;
    return makers_name_roots(self->eval) ? CG_OK : nomem(self);
}

/* Does the parameter lie in a struct or enum of the crate, which is a component itself? */
static bool is_of_struct(const maker *self, uint32_t instance)
{
    const trail *track = self->eval->trail;

    for (; instance > 1; instance = track->instances.at[instance].parent) {
        const model_type *shape = type_at(self->types, track->instances.at[instance].type);

        if (shape->kind == TYPE_ITEM && is_own_item(self, shape->item))
            return true;
    }
    return false;
}

typedef struct choice {
    bool *is_own; /* by parameter of the trail */
    bool is_any;  /* some is */
    /*
     * It is more than one call of one free function: it asks itself, a closure or a library does,
     * or functions do several times.
     */
    bool is_direct;
    item_ref helper;           /* the first function that asks in its stead */
    const builder_step *given; /* the last step of the builder that one was given */
    bool is_prefixed;          /* some builder came to the helper with a prefix */
} choice;

/* The last step of the parameter's builder that was made in the function. */
static const builder_step *step_in(const trail_parameter *at, item_ref function)
{
    const builder_step *step = at->last;

    while (step && step->place.function != function)
        step = step->before;
    return step;
}

/* Did the builder have a prefix already when the helper got it? */
static bool comes_prefixed(const trail_parameter *at)
{
    const builder_step *first = at->last;

    while (first && first->before)
        first = first->before;
    return first && first->place.function != at->via;
}

static void note_helper(const maker *self, item_ref function, const trail_parameter *at,
                        choice *ret)
{
    const builder_step *step = step_in(at, function);

    if (!ret->is_any) {
        ret->helper = at->via;
        ret->given = step;
    }
    ret->is_direct = ret->is_direct || !at->via || !is_own_item(self, at->via) ||
                     at->via != ret->helper || step != ret->given;
    ret->is_prefixed = ret->is_prefixed || comes_prefixed(at);
}

/* Which parameters of the trail the function asks for itself. */
static cg_code choose(maker *self, item_ref function, choice *ret)
{
    trail *track = self->eval->trail;

    *ret = (choice){.is_own = arena_zero(&self->mem, track->parameters.count + 1)};
    if (!ret->is_own)
        return nomem(self);
    for (size_t i = 1; i < track->parameters.count; i++) {
        const trail_parameter *at = &track->parameters.at[i];
        const trail_root *root = &track->roots.at[at->root];
        bool is_own = root->source != BUILDER_PARAMETER && root->owner == function &&
                      !is_of_struct(self, at->instance) &&
                      !(at->via && has_component(self, 0, at->via));

        ret->is_own[i] = is_own;
        if (!is_own)
            continue;
        if (!ret->is_any)
            track->instances.at[1].root = at->root;
        note_helper(self, function, at, ret);
        ret->is_any = true;
    }
    return CG_OK;
}

/* --- components that it has built --- */

/* The component that an instance is; UINT32_MAX: none that has one builder of its own. */
static uint32_t component_of(const maker *self, uint32_t instance)
{
    const model_type *shape = type_at(self->types, self->eval->trail->instances.at[instance].type);

    for (size_t i = 0; shape->kind == TYPE_ITEM && shape->item && i < self->out->components.count;
         i++) {
        const extract_component *at = &self->out->components.at[i];

        if (at->type == shape->item)
            return at->is_maker || at->root_count != 1 ? UINT32_MAX : (uint32_t)i;
    }
    return UINT32_MAX;
}

static bool lies_within(const trail *track, uint32_t instance, uint32_t outer)
{
    while (instance > outer)
        instance = track->instances.at[instance].parent;
    return instance == outer;
}

/* What every component that is built on the way of the function is given its builders from. */
static cg_code note_origins(maker *self, item_ref function)
{
    trail *track = self->eval->trail;

    for (size_t i = 1; i < track->roots.count; i++)
        self->out->has_maps = self->out->has_maps || track->roots.at[i].source == BUILDER_VARMAP;
    for (uint32_t i = 2; i < track->instances.count; i++) {
        const model_type *shape = type_at(self->types, track->instances.at[i].type);

        for (uint32_t k = 0; shape->kind == TYPE_ITEM && k < self->out->components.count; k++) {
            const extract_component *at = &self->out->components.at[k];

            if (!shape->item || at->type != shape->item || at->is_maker)
                continue;
            bool is_part = is_of_struct(self, track->instances.at[i].parent);

            CG_TRY(extract_note_origins(self->eval, self->out, k, i, is_part ? 0 : function,
                                        self->reterr));
        }
    }
    return CG_OK;
}

/* What the function gives the constructors of components that it calls itself. */
static cg_code note_uses(maker *self, item_ref function)
{
    trail *track = self->eval->trail;
    bool *is_part = arena_take(&self->mem, track->parameters.count + 1);

    if (!is_part)
        return nomem(self);
    CG_TRY(note_origins(self, function));
    for (uint32_t i = 2; i < track->instances.count; i++) {
        const trail_instance *at = &track->instances.at[i];
        const trail_root *root = &track->roots.at[at->root];
        uint32_t component = UINT32_MAX;
        bool is_any = false;

        if (at->root && root->source != BUILDER_PARAMETER && root->owner == function)
            component = component_of(self, i);
        if (component == UINT32_MAX)
            continue;
        if (is_of_struct(self, at->parent)) {
            self->out->components.at[component].is_within = true;
            continue;
        }
        for (size_t k = 1; k < track->parameters.count; k++) {
            is_part[k] = track->parameters.at[k].root == at->root &&
                         lies_within(track, track->parameters.at[k].instance, i);
            is_any = is_any || is_part[k];
        }
        if (is_any)
            CG_TRY(extract_add_use(self->eval, self->out, component, i, function, is_part,
                                   self->reterr));
    }
    return CG_OK;
}

static cg_code evaluate_apart(maker *self, item_ref function, item_ref type, val *ret)
{
    flow *graph = self->eval->flow;
    cg_code code;

    /* What a function computes is looked at when it is run; only a struct needs its tensors. */
    if (!type)
        self->eval->flow = NULL;
    code = evaluate(self, function, type, ret);
    self->eval->flow = graph;
    return code;
}

/* A type that says nothing about names and sizes: a builder, a device, a dtype. */
static bool is_plain(const maker *self, type_ref type)
{
    static const char *const plain[] = {"candle_core::Device", "candle_core::DType",
                                        "candle_nn::VarMap"};
    const model_type *shape = type_at(self->types, type);

    if (builder_type_of(self->types, type) != BUILDER_NONE)
        return true;
    for (size_t i = 0; shape->kind == TYPE_EXTERNAL && i < sizeof plain / sizeof plain[0]; i++) {
        if (str_equal(program_text(self->program, shape->name), str_from(plain[i])))
            return true;
    }
    return false;
}

/*
 * Does the helper by itself ask for what it asks for in the function's stead? Only who calls it
 * knows the prefix and the sizes that it is called with.
 */
static cg_code says_all(const maker *self, const choice *own, bool *ret)
{
    type_ref type = 0;

    *ret = !own->is_prefixed;
    CG_TRY(type_of_item(self->types, own->helper, &type, self->reterr));
    const model_type *shape = type_at(self->types, type);

    for (size_t i = 0; *ret && shape->kind == TYPE_FUNCTION && i + 1 < shape->arg_count; i++)
        *ret = is_plain(self, shape->args[i]);
    return CG_OK;
}

static cg_code look_at(maker *self, const function_fact *fact)
{
    item_ref type = 0;
    val result = 0;
    bool is_built = false, is_model = false;
    choice own;

    CG_TRY(made_type(self, fact->item, &type));
    if (type && has_component(self, type, 0)) {
        CG_TRY(evaluate_apart(self, fact->item, 0, &result));
        return note_uses(self, fact->item);
    }
    CG_TRY(evaluate_apart(self, fact->item, type, &result));
    CG_TRY(note_uses(self, fact->item));
    CG_TRY(choose(self, fact->item, &own));
    if (own.is_any && !own.is_direct)
        CG_TRY(says_all(self, &own, &is_model));
    if (is_model) {
        CG_TRY(extract_function(self->eval, self->options, self->out, own.helper, &is_built,
                                self->reterr));
        if (is_built) {
            CG_TRY(evaluate_apart(self, fact->item, type, &result));
            CG_TRY(choose(self, fact->item, &own));
        }
    }
    if (!own.is_any)
        return CG_OK;
    return extract_take(
        self->eval, self->options, self->out,
        &(extract_own){
            .function = fact->item, .type = type, .is_own = own.is_own, .result = result},
        self->reterr);
}

/* Is the function where a program begins? */
static bool is_start(const program *code_of, item_ref function)
{
    const program_item *item = &code_of->items.at[function];
    const program_crate *crate = &code_of->crates.at[code_of->modules.at[item->module].crate];

    return crate->is_scanned && !crate->is_library && !item->owner && item->module == crate->root &&
           str_equal(program_text(code_of, item->name), CG_LIT("main"));
}

cg_code makers_run(eval *interpreter, const function_facts *functions,
                   const extract_options *options, extraction *ret, cg_err *reterr)
{
    maker self = {
        .out = ret,
        .eval = interpreter,
        .program = interpreter->program,
        .types = interpreter->types,
        .functions = functions,
        .options = options,
        .reterr = reterr,
    };
    cg_code code = CG_OK;

    arena_init(&self.mem, self.program->heap);
    self.makes = arena_zero(&self.mem, functions->all.count + 1);
    code = self.makes ? spread(&self) : nomem(&self);
    for (size_t i = 0; code == CG_OK && i < functions->all.count; i++) {
        arena_place place = arena_mark(&self.mem);
        values_mark before = values_position(interpreter->values);
        bool takes = false, gives = false;

        ret->is_run = ret->is_run || is_start(self.program, functions->all.at[i].item);
        if (!self.makes[i] || walk_is_test(self.program, functions->all.at[i].item))
            continue;
        code = builder_of_function(self.types, functions->all.at[i].item, &takes, &gives, reterr);
        if (code == CG_OK && !takes)
            code = look_at(&self, &functions->all.at[i]);
        values_forget(interpreter->values, before);
        arena_reset(&self.mem, place);
    }
    arena_free(&self.mem);
    return code;
}
