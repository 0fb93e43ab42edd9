#include "model/functions.h"

#include "model/ids.h"
#include "model/place.h"

typedef struct lister {
    types *types;
    program *program;
    model_draft *draft;
    function_facts *out;
    cg_str root;
    sym tensor;
    item_ref *methods; /* by symbol of the name: the only method called so, MANY, or 0 */
    cg_str *outside;   /* the same: id of one that stands in a file that is left out; else absent */
    size_t method_count;
    cg_err *reterr;
    bool is_program; /* something that is run: nobody outside calls its functions */
} lister;

#define MANY UINT32_MAX

static cg_code nomem(lister *self)
{
    return err_nomem(self->reterr);
}

/* The node after `at` in a walk over the subtree of `top`, 0 at the end. */
static ast_ref walk_next(const ast *tree, ast_ref top, ast_ref at)
{
    if (ast_at(tree, at)->first)
        return ast_at(tree, at)->first;
    while (at != top && !ast_at(tree, at)->next)
        at = ast_at(tree, at)->parent;
    return at == top ? 0 : ast_at(tree, at)->next;
}

static bool type_names_tensor(const lister *self, const ast *tree, ast_ref type)
{
    for (ast_ref at = type; at; at = walk_next(tree, type, at)) {
        if (ast_kind_of(tree, at) == AST_TYPE_IDENTIFIER && ast_at(tree, at)->text == self->tensor)
            return true;
    }
    return false;
}

static bool is_listed(const lister *self, item_ref item)
{
    const program_item *at = &self->program->items.at[item];
    const ast *tree = program_tree(self->program, at->file);

    return at->kind == ITEM_FUNCTION &&
           self->program->crates.at[self->program->modules.at[at->module].crate].is_scanned &&
           ast_child(tree, at->node, ROLE_BODY) != 0;
}

/* --- who it is --- */

static cg_code self_type(lister *self, item_ref function, type_ref *ret)
{
    const program_item item = self->program->items.at[function];
    const program_item *owner = &self->program->items.at[item.owner];

    *ret = 0;
    if (!item.owner)
        return CG_OK;
    if (owner->kind == ITEM_IMPL)
        return type_lower(
            self->types, owner->module, owner->file,
            ast_child(program_tree(self->program, owner->file), owner->node, ROLE_TYPE), NULL, ret,
            self->reterr);
    return owner->kind == ITEM_TRAIT ? type_of_item(self->types, item.owner, ret, self->reterr)
                                     : CG_OK;
}

static cg_code owner_name(lister *self, item_ref function, cg_str *ret)
{
    const program_item item = self->program->items.at[function];
    type_ref type;

    *ret = (cg_str){0};
    if (!item.owner)
        return CG_OK;
    CG_TRY(self_type(self, function, &type));
    const model_type shape = *type_at(self->types, type);

    if (shape.kind == TYPE_ITEM)
        return program_item_path(self->program, shape.item, ret) ? CG_OK : nomem(self);
    if (self->program->items.at[item.owner].kind == ITEM_TRAIT)
        return program_item_path(self->program, item.owner, ret) ? CG_OK : nomem(self);
    return type_text(self->types, type, ret) ? CG_OK : nomem(self);
}

static cg_code arguments_of(lister *self, program_item item, model_function *record,
                            bool *has_tensor)
{
    ast_ref list = ast_child(program_tree(self->program, item.file), item.node, ROLE_PARAMETERS);

    for (ast_ref at = list ? ast_at(program_tree(self->program, item.file), list)->first : 0; at;) {
        const ast *tree = program_tree(self->program, item.file);
        uint8_t kind = ast_kind_of(tree, at);
        ast_ref type = ast_child(tree, at, ROLE_TYPE);
        ast_ref pattern = ast_child(tree, at, ROLE_PATTERN);

        if (kind == AST_PARAMETER || kind == AST_SELF_PARAMETER) {
            model_argument *argument =
                draft_record(self->draft, &record->parameters, &table_model_argument);

            if (!argument)
                return nomem(self);
            if (kind == AST_SELF_PARAMETER)
                argument->name = CG_LIT("self");
            else if (pattern && !ast_printed(tree, pattern, &self->draft->mem, &argument->name))
                return nomem(self);
            if (!ast_printed(tree, type ? type : at, &self->draft->mem, &argument->type_name))
                return nomem(self);
            *has_tensor = *has_tensor || (type && type_names_tensor(self, tree, type));
        }
        at = ast_at(tree, at)->next;
    }
    return CG_OK;
}

static uint8_t visibility_word(program_item item)
{
    static const uint8_t words[] = {
        [VISIBLE_PRIVATE] = MODEL_VISIBILITY_PRIVATE,
        [VISIBLE_PUBLIC] = MODEL_VISIBILITY_PUBLIC,
        [VISIBLE_CRATE] = MODEL_VISIBILITY_CRATE,
        [VISIBLE_RESTRICTED] = MODEL_VISIBILITY_RESTRICTED,
    };

    return words[item.visibility];
}

/* --- what it is entered by --- */

/* Trait and method that make a function one that is called to run a model. */
static const struct {
    cg_str trait;
    cg_str method;
} entry_methods[] = {
    {{"Module", 6}, {"forward", 7}},
    {{"ModuleT", 7}, {"forward_t", 9}},
    {{"ModuleWithArgs", 14}, {"forward", 7}},
    {{"ModuleTWithArgs", 15}, {"forward_t", 9}},
};

static cg_str trait_leaf(const lister *self, item_ref owner)
{
    if (!owner || self->program->items.at[owner].kind != ITEM_IMPL)
        return (cg_str){0};
    const program_item *impl = &self->program->items.at[owner];
    const ast *tree = program_tree(self->program, impl->file);
    ast_ref trait = ast_child(tree, impl->node, ROLE_TRAIT);
    ast_ref leaf = 0;

    while (trait && ast_kind_of(tree, trait) == AST_GENERIC_TYPE)
        trait = ast_child(tree, trait, ROLE_TYPE);
    if (trait && ast_kind_of(tree, trait) == AST_SCOPED_TYPE_IDENTIFIER)
        leaf = ast_child(tree, trait, ROLE_NAME);
    else
        leaf = trait;
    return leaf ? program_text(self->program, ast_at(tree, leaf)->text) : (cg_str){0};
}

static bool is_entry_method(const lister *self, program_item item)
{
    cg_str trait = trait_leaf(self, item.owner);
    cg_str name = program_text(self->program, item.name);

    for (size_t i = 0; trait.ptr && i < sizeof entry_methods / sizeof *entry_methods; i++) {
        if (str_equal(trait, entry_methods[i].trait) && str_equal(name, entry_methods[i].method))
            return true;
    }
    return false;
}

/* --- what it calls --- */

static cg_code method_item(lister *self, type_ref type, sym name, item_ref *ret)
{
    method_found found = {0};

    CG_TRY(type_find_method(self->types, type, name, &found, self->reterr));
    *ret = found.function;
    return CG_OK;
}

static bool is_loss_path(cg_str path)
{
    static const cg_str losses[] = {
        {"candle_nn::loss::nll", 20},   {"candle_nn::loss::cross_entropy", 30},
        {"candle_nn::loss::mse", 20},   {"candle_nn::loss::binary_cross_entropy_with_logit", 48},
        {"candle_nn::loss::huber", 22},
    };

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (str_equal(path, losses[i]))
            return true;
    }
    return false;
}

/* Does a call of the path make a map of variables or a builder? */
static bool is_maker_path(cg_str path)
{
    return str_starts_with(path, CG_LIT("candle_nn::VarMap::")) ||
           str_starts_with(path, CG_LIT("candle_nn::VarBuilder::")) ||
           str_starts_with(path, CG_LIT("candle_nn::var_builder::")) ||
           (str_starts_with(path, CG_LIT("candle_transformers::")) &&
            str_find(path, CG_LIT("::VarBuilder::")) != SIZE_MAX);
}

/* The last name of a path expression, 0 when it has none. */
static sym path_leaf(const ast *tree, ast_ref path)
{
    while (path && ast_kind_of(tree, path) == AST_GENERIC_FUNCTION)
        path = ast_child(tree, path, ROLE_FUNCTION);
    if (path && ast_kind_of(tree, path) == AST_SCOPED_IDENTIFIER)
        path = ast_child(tree, path, ROLE_NAME);
    return path ? ast_at(tree, path)->text : 0;
}

static cg_code callee_of(lister *self, function_fact *fact, ast_ref callee, item_ref *ret)
{
    const program_item item = self->program->items.at[fact->item];
    const ast *tree = program_tree(self->program, item.file);
    uint8_t kind = ast_kind_of(tree, callee);
    name_def def = {0};
    type_ref type = 0;

    *ret = 0;
    if (kind == AST_FIELD_EXPRESSION) {
        ast_ref field = ast_child(tree, callee, ROLE_FIELD);
        sym name = field ? ast_at(tree, field)->text : 0;

        if (name < self->method_count && self->methods[name] != MANY)
            *ret = self->methods[name];
        return CG_OK;
    }
    if (kind != AST_IDENTIFIER && kind != AST_SCOPED_IDENTIFIER && kind != AST_GENERIC_FUNCTION)
        return CG_OK;
    sym leaf = path_leaf(tree, callee);

    CG_TRY(names_resolve(self->program, item.module, item.file, callee, SPACE_VALUE, &def,
                         self->reterr));
    if (def.kind == DEF_EXTERNAL && def.path) {
        cg_str path = program_text(self->program, def.path);

        fact->is_loss = fact->is_loss || is_loss_path(path);
        fact->makes = fact->makes || is_maker_path(path);
    }
    if (def.kind == DEF_ITEM && def.rest == 0) {
        *ret = def.item;
        return CG_OK;
    }
    if (def.kind == DEF_SELF_TYPE)
        CG_TRY(self_type(self, fact->item, &type));
    else if (def.kind == DEF_ITEM && def.rest == 1)
        CG_TRY(type_of_item(self->types, def.item, &type, self->reterr));
    return type && leaf ? method_item(self, type, leaf, ret) : CG_OK;
}

/* The only method of that name, when its file is left out. */
static cg_str outside_of(const lister *self, const ast *tree, ast_ref callee)
{
    ast_ref field =
        ast_kind_of(tree, callee) == AST_FIELD_EXPRESSION ? ast_child(tree, callee, ROLE_FIELD) : 0;
    sym name = field ? ast_at(tree, field)->text : 0;

    return self->outside && name < self->method_count && !self->methods[name] ? self->outside[name]
                                                                              : (cg_str){0};
}

/* What is known of the methods of files that are left out. */
static bool take_outside(lister *self)
{
    const program_part *part = self->program->part;

    if (!part)
        return true;
    self->outside = arena_zero(&self->draft->mem, self->method_count * sizeof *self->outside);
    for (size_t i = 0; self->outside && i < part->method_count; i++) {
        sym name = intern_find(&self->program->names, part->methods[i].name);

        if (!name || name >= self->method_count)
            continue;
        if (!part->methods[i].id.ptr || self->methods[name])
            self->methods[name] = MANY;
        else
            self->outside[name] = part->methods[i].id;
    }
    return self->outside != NULL;
}

static cg_code calls_of(lister *self, function_fact *fact)
{
    const program_item item = self->program->items.at[fact->item];
    ast_ref body = ast_child(program_tree(self->program, item.file), item.node, ROLE_BODY);

    for (ast_ref at = body; at; at = walk_next(program_tree(self->program, item.file), body, at)) {
        const ast *tree = program_tree(self->program, item.file);
        item_ref callee = 0;

        if (ast_kind_of(tree, at) != AST_CALL_EXPRESSION)
            continue;
        ast_ref function = ast_child(tree, at, ROLE_FUNCTION);

        if (!function)
            continue;
        CG_TRY(callee_of(self, fact, function, &callee));
        const function_fact *known = callee ? function_of(self->out, callee) : NULL;
        cg_str outside = callee
                             ? (cg_str){0}
                             : outside_of(self, program_tree(self->program, item.file), function);

        if (outside.ptr && !draft_text(self->draft, &fact->record->calls, outside))
            return nomem(self);
        if (known && !draft_text(self->draft, &fact->record->calls, known->id))
            return nomem(self);
    }
    return CG_OK;
}

/* --- the list --- */

static bool spell(lister *self, function_fact *fact)
{
    cg_str owner = fact->owner;

    if (!owner.ptr) {
        fact->spelled = fact->name;
        return true;
    }
    for (size_t i = 0; i < owner.len; i++) {
        if (owner.ptr[i] == '<') {
            owner.len = i;
            break;
        }
    }
    size_t colon = str_find_last(owner, ':');

    if (colon != SIZE_MAX) {
        owner.ptr += colon + 1;
        owner.len -= colon + 1;
    }
    return arena_format(&self->draft->mem, &fact->spelled, "%.*s::%.*s", (int)owner.len, owner.ptr,
                        (int)fact->name.len, fact->name.ptr);
}

static cg_code list_one(lister *self, item_ref function)
{
    const program_item item = self->program->items.at[function];
    const ast *tree = program_tree(self->program, item.file);
    ast_ref result = ast_child(tree, item.node, ROLE_RETURN_TYPE);
    ast_ref name = ast_child(tree, item.node, ROLE_NAME);
    model_function *record = draft_function(self->draft);
    function_fact *fact = vec_add(self->out->heap, &self->out->all);
    arena *mem = &self->draft->mem;
    bool reachable = false;

    if (!record || !fact)
        return nomem(self);
    *fact = (function_fact){.item = function, .record = record};
    fact->name = program_text(self->program, item.name);
    if (!program_item_path(self->program, function, &fact->qualified))
        return nomem(self);
    CG_TRY(owner_name(self, function, &fact->owner));
    if (!spell(self, fact) || !id_function(mem, fact->qualified, item.cfg_predicates, &fact->id))
        return nomem(self);
    record->id = fact->id;
    record->name = fact->name;
    record->qualified_name = fact->qualified;
    record->owner_type = fact->owner;
    record->visibility = visibility_word(item);
    record->cfg_predicates = item.cfg_predicates;
    record->cfg_active = item.cfg > 0 ? BOOL_TRUE : BOOL_UNKNOWN;
    model_place place = {item.file, ast_at(tree, name ? name : item.node)->start,
                         ast_at(tree, name ? name : item.node)->end, function};

    record->source = place_label(self->program, place, mem);
    record->location = place_location(self->program, place, self->draft);
    if (!record->source.ptr || !record->location)
        return nomem(self);
    if (result && ast_kind_of(tree, result) != AST_UNIT_TYPE) {
        if (!ast_printed(tree, result, mem, &record->return_type))
            return nomem(self);
        fact->has_tensor = type_names_tensor(self, tree, result);
    }
    CG_TRY(arguments_of(self, item, record, &fact->has_tensor));
    CG_TRY(names_is_reachable(self->program, function, &reachable, self->reterr));
    record->is_reachable = reachable ? BOOL_TRUE : BOOL_FALSE;
    self->out->by_item[function] = (uint32_t)self->out->all.count;
    if (item.has_self) {
        item_ref *slot = &self->methods[item.name];

        *slot = *slot ? MANY : function;
    }
    return CG_OK;
}

/* Is it the `main` of a program that was asked about? */
static bool is_main(const lister *self, const function_fact *fact)
{
    const program_item *item = &self->program->items.at[fact->item];
    const program_crate *crate =
        &self->program->crates.at[self->program->modules.at[item->module].crate];

    return !item->owner && !crate->is_library && item->module == crate->root &&
           str_equal(fact->name, CG_LIT("main"));
}

static void mark_entry(lister *self, function_fact *fact)
{
    const program_item item = self->program->items.at[fact->item];
    bool is_of_root = false;

    if (self->root.ptr && fact->owner.ptr) {
        size_t colon = str_find_last(fact->owner, ':');
        cg_str leaf = fact->owner;

        if (colon != SIZE_MAX)
            leaf = (cg_str){leaf.ptr + colon + 1, leaf.len - colon - 1};
        is_of_root = str_equal(fact->owner, self->root) || str_equal(leaf, self->root);
    }
    fact->record->is_entrypoint =
        is_entry_method(self, item) || fact->is_loss ||
        (fact->has_tensor && (item.visibility == VISIBLE_PUBLIC || is_of_root));
    fact->is_entrypoint = fact->record->is_entrypoint ||
                          (self->is_program && (fact->has_tensor || is_main(self, fact)));
    fact->record->is_loss = fact->is_loss;
}

cg_code functions_list(types *known, model_draft *draft, cg_str root, function_facts *ret,
                       cg_err *reterr)
{
    program *code_of = known->program;
    lister self = {
        .types = known,
        .program = code_of,
        .draft = draft,
        .out = ret,
        .root = root,
        .tensor = intern_add(&code_of->names, CG_LIT("Tensor")),
        .reterr = reterr,
    };
    cg_code code = CG_OK;
    size_t item_count = code_of->items.count;

    *ret = (function_facts){.heap = draft->heap};
    self.method_count = intern_count(&code_of->names);
    self.methods = arena_zero(&draft->mem, self.method_count * sizeof *self.methods);
    ret->item_count = item_count;
    ret->by_item = arena_zero(&draft->mem, (item_count + 1) * sizeof *ret->by_item);
    if (!self.tensor || !self.methods || !ret->by_item)
        return err_nomem(reterr);
    for (item_ref item = 1; code == CG_OK && item < item_count; item++) {
        if (is_listed(&self, item))
            code = list_one(&self, item);
    }
    if (code == CG_OK && !take_outside(&self))
        code = nomem(&self);
    for (size_t i = 0; code == CG_OK && i < ret->all.count; i++)
        self.is_program = self.is_program || is_main(&self, &ret->all.at[i]);
    for (size_t i = 0; code == CG_OK && i < ret->all.count; i++) {
        code = calls_of(&self, &ret->all.at[i]);
        mark_entry(&self, &ret->all.at[i]);
    }
    if (code != CG_OK)
        functions_free(ret);
    return code;
}

void functions_free(function_facts *self)
{
    vec_free(self->heap, &self->all);
    *self = (function_facts){0};
}

const function_fact *function_of(const function_facts *self, item_ref item)
{
    /* Items that were loaded later are of other crates. */
    uint32_t at = item < self->item_count ? self->by_item[item] : 0;

    return at ? &self->all.at[at - 1] : NULL;
}
