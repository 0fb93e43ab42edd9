#include "model/collect.h"

#include "model/texts.h"

#define MOST_INLINE     256 /* modules inside each other that make a directory's name */
#define MOST_PREDICATES 256 /* of one item; more would only be kept to be printed */
#define MOST_MACROS     256 /* definitions of one name that a call is compared with */

/* A list of declarations that is still to be looked through. */
typedef struct job {
    module_ref module;
    file_ref file;
    ast_ref list;
    item_ref owner; /* the impl, trait or enum whose members these are */
    int8_t cfg;
    uint8_t depth; /* of macros */
    sc_strs predicates;
} job;

struct collect {
    VEC(job) jobs;
    VEC(job) calls;    /* macro calls where items stand; list: the invocation */
    number_map macros; /* (crate, name) -> last item; earlier ones through `earlier` */
    VEC(item_ref) earlier;
    uint32_t expansions;
    sym cfg, cfg_attr, path, macro_use, macro_export, include;
};

/* What stands in front of a declaration. */
typedef struct attributes {
    int8_t cfg;
    sc_strs predicates;
    cg_str path;
    bool has_macro_use;
    bool is_exported;
} attributes;

cg_code collect_new(program *self, cg_err *reterr)
{
    struct collect *own = arena_zero(&self->mem, sizeof *own);

    if (own == NULL)
        return err_nomem(reterr);
    number_map_init(&own->macros, self->heap);
    own->cfg = intern_add(&self->names, CG_LIT("cfg"));
    own->cfg_attr = intern_add(&self->names, CG_LIT("cfg_attr"));
    own->path = intern_add(&self->names, CG_LIT("path"));
    own->macro_use = intern_add(&self->names, CG_LIT("macro_use"));
    own->macro_export = intern_add(&self->names, CG_LIT("macro_export"));
    own->include = intern_add(&self->names, CG_LIT("include"));
    if (own->include == 0)
        return err_nomem(reterr);
    self->collecting = own;
    return CG_OK;
}

void collect_free(program *self)
{
    struct collect *own = self->collecting;

    if (own == NULL)
        return;
    vec_free(self->heap, &own->jobs);
    vec_free(self->heap, &own->calls);
    vec_free(self->heap, &own->earlier);
    number_map_free(&own->macros);
    self->collecting = NULL;
}

/* --- attributes --- */

static int8_t truth(enum cfg_truth from)
{
    switch (from) {
    case CFG_FALSE: return -1;
    case CFG_TRUE: return 1;
    case CFG_UNDECIDED: return 0;
    }
    return 0;
}

/* Three-valued and of -1, 0, 1. */
static int8_t both(int8_t a, int8_t b)
{
    return a < b ? a : b;
}

static int8_t eval(const program *self, crate_ref crate, cg_str predicate)
{
    return truth(cargo_cfg_eval(self->cargo, self->crates.at[crate].package, predicate));
}

/* Without the parentheses around it. */
static cg_str inside(cg_str text)
{
    text = str_trim(text);
    if (text.len >= 2 && text.ptr[0] == '(' && text.ptr[text.len - 1] == ')')
        text = str_trim((cg_str){text.ptr + 1, text.len - 2});
    return text;
}

/* `have` with `text` in its place, once. */
static bool add_sorted(arena *mem, sc_strs *have, cg_str text)
{
    cg_str *wider;
    size_t at = 0;

    while (at < have->count && str_compare(have->at[at], text) < 0)
        at++;
    if ((at < have->count && str_equal(have->at[at], text)) || have->count >= MOST_PREDICATES)
        return true;
    wider = arena_take(mem, (have->count + 1) * sizeof *wider);
    if (wider == NULL)
        return false;
    for (size_t i = 0; i < at; i++)
        wider[i] = have->at[i];
    wider[at] = text;
    for (size_t i = at; i < have->count; i++)
        wider[i + 1] = have->at[i];
    *have = (sc_strs){wider, have->count + 1};
    return true;
}

/* `path = "x.rs"` or `macro_use` behind the predicate of a cfg_attr that holds. */
static bool read_conditional(program *self, crate_ref crate, cg_str rest, attributes *into)
{
    cg_str one;

    while (cfg_attribute_next(&rest, &one)) {
        cfg_attribute inner = cfg_attribute_read(one);

        if (inner.kind == CFG_ATTRIBUTE_CFG) {
            into->cfg = both(into->cfg, eval(self, crate, inner.predicate));
        } else if (str_equal(one, CG_LIT("macro_use"))) {
            into->has_macro_use = true;
        } else if (str_equal(one, CG_LIT("macro_export"))) {
            into->is_exported = true;
        } else if (str_starts_with(one, CG_LIT("path"))) {
            size_t open = str_find(one, CG_LIT("\""));
            size_t close = str_find_last(one, '"');

            if (open != SIZE_MAX && close > open &&
                !arena_text(&self->mem, (cg_str){one.ptr + open + 1, close - open - 1},
                            &into->path))
                return false;
        }
    }
    return true;
}

/* Take in one AST_ATTRIBUTE_ITEM or AST_INNER_ATTRIBUTE_ITEM; false: out of memory. */
static bool read_attribute(program *self, crate_ref crate, file_ref file, ast_ref item,
                           attributes *into)
{
    const struct collect *own = self->collecting;
    const ast *tree = program_tree(self, file);
    ast_ref attribute = ast_child_kind(tree, item, AST_ATTRIBUTE);
    sym name;

    if (attribute == 0 || ast_at(tree, attribute)->first == 0)
        return true;
    name = ast_at(tree, ast_at(tree, attribute)->first)->text;
    if (name == own->cfg) {
        ast_ref tokens = ast_child(tree, attribute, ROLE_ARGUMENTS);
        cg_str printed;

        if (tokens == 0)
            return true;
        into->cfg = both(into->cfg, eval(self, crate, inside(ast_text(tree, tokens))));
        return ast_printed(tree, tokens, &self->mem, &printed) &&
               add_sorted(&self->mem, &into->predicates, inside(printed));
    }
    if (name == own->path) {
        ast_ref value = ast_child(tree, attribute, ROLE_VALUE);

        if (value != 0 && ast_at(tree, value)->text != 0)
            into->path = program_text(self, ast_at(tree, value)->text);
    } else if (name == own->cfg_attr) {
        cfg_attribute conditional = cfg_attribute_read(ast_text(tree, attribute));

        if (conditional.kind == CFG_ATTRIBUTE_CFG_ATTR &&
            eval(self, crate, conditional.predicate) > 0)
            return read_conditional(self, crate, conditional.rest, into);
    } else if (name == own->macro_use) {
        into->has_macro_use = true;
    } else if (name == own->macro_export) {
        into->is_exported = true;
    }
    return true;
}

static int8_t attribute_cfg(const program *self, file_ref file, ast_ref item)
{
    const struct collect *own = self->collecting;
    const ast *tree = program_tree(self, file);
    ast_ref attribute = ast_child_kind(tree, item, AST_ATTRIBUTE);
    ast_ref tokens = ast_child(tree, attribute, ROLE_ARGUMENTS);

    if (tokens == 0 || ast_at(tree, ast_at(tree, attribute)->first)->text != own->cfg)
        return 1;
    return eval(self, self->files.at[file]->crate, inside(ast_text(tree, tokens)));
}

/* Does the node hold its attributes, which else stand before it? */
static bool holds_attributes(uint8_t kind)
{
    return kind == AST_MATCH_ARM || kind == AST_FIELD_INITIALIZER ||
           kind == AST_SHORTHAND_FIELD_INITIALIZER;
}

int8_t collect_cfg(const program *self, file_ref file, ast_ref node)
{
    const ast *tree = program_tree(self, file);
    int8_t result = 1;

    for (ast_ref at = ast_before(tree, node);
         at != 0 && ast_kind_of(tree, at) == AST_ATTRIBUTE_ITEM; at = ast_before(tree, at))
        result = both(result, attribute_cfg(self, file, at));
    for (ast_ref at = holds_attributes(ast_kind_of(tree, node)) ? ast_at(tree, node)->first : 0;
         at != 0; at = ast_at(tree, at)->next) {
        if (ast_kind_of(tree, at) == AST_ATTRIBUTE_ITEM)
            result = both(result, attribute_cfg(self, file, at));
    }
    return result;
}

/* --- items --- */

static uint8_t visibility_of(const ast *tree, ast_ref node)
{
    ast_ref modifier = ast_child_kind(tree, node, AST_VISIBILITY_MODIFIER);
    ast_ref inner;

    if (modifier == 0)
        return VISIBLE_PRIVATE;
    inner = ast_at(tree, modifier)->first;
    if (inner == 0)
        return str_equal(ast_text(tree, modifier), CG_LIT("crate")) ? VISIBLE_CRATE
                                                                    : VISIBLE_PUBLIC;
    switch (ast_kind_of(tree, inner)) {
    case AST_CRATE: return VISIBLE_CRATE;
    case AST_SELF: return VISIBLE_PRIVATE;
    default: return VISIBLE_RESTRICTED;
    }
}

static bool has_receiver(const ast *tree, ast_ref function)
{
    ast_ref parameters = ast_child(tree, function, ROLE_PARAMETERS);

    for (ast_ref at = parameters != 0 ? ast_at(tree, parameters)->first : 0; at != 0;
         at = ast_at(tree, at)->next) {
        if (ast_kind_of(tree, at) == AST_SELF_PARAMETER)
            return true;
        if (ast_kind_of(tree, at) == AST_PARAMETER)
            return ast_kind_of(tree, ast_child(tree, at, ROLE_PATTERN)) == AST_SELF;
    }
    return false;
}

/* Append an item to the program and to its owner, whose last member is *last. */
static item_ref add_item(program *self, const job *from, ast_ref node, enum item_kind kind,
                         const attributes *given, item_ref *last)
{
    const ast *tree = program_tree(self, from->file);
    ast_ref name = kind == ITEM_IMPL ? 0 : ast_child(tree, node, ROLE_NAME);
    program_item *item = vec_add(self->heap, &self->items);
    item_ref ref = (item_ref)(self->items.count - 1);
    uint32_t *place;

    if (item == NULL)
        return 0;
    *item = (program_item){.kind = (uint8_t)kind,
                           .visibility = visibility_of(tree, node),
                           .cfg = given->cfg,
                           .is_exported = given->is_exported,
                           .name = name != 0 ? ast_at(tree, name)->text : 0,
                           .module = from->module,
                           .file = from->file,
                           .node = node,
                           .owner = from->owner,
                           .cfg_predicates = given->predicates};
    if (kind == ITEM_FUNCTION)
        item->has_self = has_receiver(tree, node);
    if (from->owner != 0) {
        program_item *owner = &self->items.at[from->owner];

        if (owner->kind == ITEM_TRAIT || owner->kind == ITEM_ENUM)
            item->visibility = owner->visibility;
        if (*last != 0)
            self->items.at[*last].next_in_owner = ref;
        else
            owner->first_in_owner = ref;
        *last = ref;
    }
    place = number_map_put(&self->item_by_node, number_map_key(from->file, node), ref);
    if (place == NULL)
        return 0;
    *place = ref;
    return ref;
}

static bool add_job(program *self, const job *from, ast_ref list, item_ref owner,
                    const attributes *given)
{
    job *next;

    if (list == 0)
        return true;
    next = vec_add(self->heap, &self->collecting->jobs);
    if (next == NULL)
        return false;
    *next = *from;
    next->list = list;
    next->owner = owner;
    next->cfg = given->cfg;
    next->predicates = given->predicates;
    return true;
}

static bool add_macro(program *self, const job *from, item_ref item)
{
    struct collect *own = self->collecting;
    crate_ref crate = self->modules.at[from->module].crate;
    uint64_t key = number_map_key(crate, self->items.at[item].name);
    uint32_t *last = number_map_put(&own->macros, key, 0);

    if (last == NULL || !vec_reserve(self->heap, &own->earlier, (size_t)item + 1))
        return false;
    while (own->earlier.count <= item)
        own->earlier.at[own->earlier.count++] = 0;
    own->earlier.at[item] = *last;
    *last = item;
    return true;
}

static bool add_use(program *self, const job *from, ast_ref node, const attributes *given)
{
    program_use *use = vec_add(self->heap, &self->uses);

    if (use == NULL)
        return false;
    *use = (program_use){.module = from->module,
                         .file = from->file,
                         .node = node,
                         .visibility = visibility_of(program_tree(self, from->file), node),
                         .cfg = given->cfg};
    return true;
}

static bool add_call(program *self, const job *from, ast_ref invocation, const attributes *given)
{
    job *call = vec_add(self->heap, &self->collecting->calls);

    if (call == NULL)
        return false;
    *call = *from;
    call->list = invocation;
    call->cfg = given->cfg;
    call->predicates = given->predicates;
    return true;
}

/* Where files of `mod x;` inside `module` lie; what is too long for a path is cut. */
static bool directory_of(program *self, module_ref module, cg_str *ret)
{
    module_ref chain[MOST_INLINE];
    size_t count = 0;
    cg_str path;

    while (self->modules.at[module].directory.ptr == NULL && module != 0) {
        if (count < MOST_INLINE)
            chain[count++] = module;
        module = self->modules.at[module].parent;
    }
    path = module != 0 ? self->modules.at[module].directory : CG_LIT(".");
    while (count > 0) {
        sym name = self->modules.at[chain[--count]].name;

        if (name != 0 && !texts_join(&self->mem, path, program_text(self, name), &path))
            return false;
    }
    *ret = path;
    return true;
}

/* What #[path] in `module` is relative to: the file's directory, or that of inline modules. */
static bool path_base_of(program *self, module_ref module, cg_str *ret)
{
    if (self->modules.at[module].path_base.ptr == NULL)
        return directory_of(self, module, ret);
    *ret = self->modules.at[module].path_base;
    return true;
}

/* `mod x;` and `mod x { .. }` */
static bool add_module(program *self, const job *from, ast_ref node, const attributes *given)
{
    ast_ref body = ast_child(program_tree(self, from->file), node, ROLE_BODY);
    item_ref none = 0;
    item_ref item = add_item(self, from, node, ITEM_MODULE, given, &none);
    module_ref ref = (module_ref)self->modules.count;
    program_module *module = item != 0 ? vec_add(self->heap, &self->modules) : NULL;
    cg_str place = {NULL, 0};
    job inner = *from;

    if (module == NULL)
        return false;
    *module = (program_module){.parent = from->module,
                               .crate = self->modules.at[from->module].crate,
                               .file = body != 0 ? from->file : 0,
                               .body = body,
                               .item = item,
                               .name = self->items.at[item].name,
                               .is_pending = body == 0,
                               .has_macros = given->has_macro_use,
                               .cfg = given->cfg,
                               .cfg_predicates = given->predicates};
    self->items.at[item].target = ref;
    if (given->path.ptr != NULL) {
        if (!path_base_of(self, from->module, &place) ||
            !texts_join(&self->mem, place, given->path, &place))
            return false;
        *(body == 0 ? &module->wanted : &module->directory) = place;
    } else if (body == 0 && !directory_of(self, ref, &module->directory)) {
        return false;
    }
    inner.module = ref;
    return body == 0 || add_job(self, &inner, body, 0, given);
}

static bool add_declaration(program *self, const job *from, ast_ref node, const attributes *given,
                            item_ref *last)
{
    const ast *tree = program_tree(self, from->file);
    enum item_kind kind;
    item_ref item;

    switch (ast_kind_of(tree, node)) {
    case AST_FUNCTION_ITEM:
    case AST_FUNCTION_SIGNATURE_ITEM: kind = ITEM_FUNCTION; break;
    case AST_STRUCT_ITEM: kind = ITEM_STRUCT; break;
    case AST_UNION_ITEM: kind = ITEM_UNION; break;
    case AST_ENUM_ITEM: kind = ITEM_ENUM; break;
    case AST_ENUM_VARIANT: kind = ITEM_VARIANT; break;
    case AST_TRAIT_ITEM: kind = ITEM_TRAIT; break;
    case AST_TYPE_ITEM:
    case AST_ASSOCIATED_TYPE: kind = ITEM_TYPE_ALIAS; break;
    case AST_CONST_ITEM:
    case AST_STATIC_ITEM: kind = ITEM_CONST; break;
    case AST_IMPL_ITEM: kind = ITEM_IMPL; break;
    case AST_MACRO_DEFINITION: kind = ITEM_MACRO; break;
    case AST_MOD_ITEM: return add_module(self, from, node, given);
    case AST_USE_DECLARATION:
    case AST_EXTERN_CRATE_DECLARATION: return add_use(self, from, node, given);
    case AST_FOREIGN_MOD_ITEM:
        return add_job(self, from, ast_child(tree, node, ROLE_BODY), from->owner, given);
    case AST_ERROR:
    case AST_MACRO_BODY: return add_job(self, from, node, from->owner, given);
    case AST_MACRO_INVOCATION: return add_call(self, from, node, given);
    case AST_EXPRESSION_STATEMENT: {
        ast_ref call = ast_child_kind(tree, node, AST_MACRO_INVOCATION);

        return call == 0 || add_call(self, from, call, given);
    }
    default: return true;
    }
    item = add_item(self, from, node, kind, given, last);
    if (item == 0)
        return false;
    if (kind == ITEM_MACRO)
        return add_macro(self, from, item);
    if (kind == ITEM_IMPL || kind == ITEM_TRAIT || kind == ITEM_ENUM)
        return add_job(self, from, ast_child(tree, node, ROLE_BODY), item, given);
    return true;
}

static bool run_job(program *self, const job *todo)
{
    crate_ref crate = self->modules.at[todo->module].crate;
    attributes inherited = {.cfg = todo->cfg, .predicates = todo->predicates};
    attributes given;
    item_ref last = todo->owner != 0 ? self->items.at[todo->owner].first_in_owner : 0;
    ast_ref node = ast_at(program_tree(self, todo->file), todo->list)->first;

    while (last != 0 && self->items.at[last].next_in_owner != 0)
        last = self->items.at[last].next_in_owner;
    for (ast_ref at = node; at != 0; at = ast_at(program_tree(self, todo->file), at)->next) {
        if (ast_kind_of(program_tree(self, todo->file), at) == AST_INNER_ATTRIBUTE_ITEM &&
            !read_attribute(self, crate, todo->file, at, &inherited))
            return false;
    }
    if (inherited.cfg < 0)
        return true;
    given = inherited;
    given.path = (cg_str){NULL, 0};
    for (; node != 0; node = ast_at(program_tree(self, todo->file), node)->next) {
        uint8_t kind = ast_kind_of(program_tree(self, todo->file), node);

        if (kind == AST_INNER_ATTRIBUTE_ITEM)
            continue;
        if (kind == AST_ATTRIBUTE_ITEM) {
            if (!read_attribute(self, crate, todo->file, node, &given))
                return false;
            continue;
        }
        if (given.cfg >= 0 && !add_declaration(self, todo, node, &given, &last))
            return false;
        given = (attributes){.cfg = inherited.cfg, .predicates = inherited.predicates};
    }
    return true;
}

static bool run_jobs(program *self)
{
    struct collect *own = self->collecting;

    for (size_t i = 0; i < own->jobs.count; i++) {
        job todo = own->jobs.at[i];

        if (!run_job(self, &todo))
            return false;
    }
    own->jobs.count = 0;
    return true;
}

/* --- blocks --- */

static bool is_declaration(uint8_t kind)
{
    switch (kind) {
    case AST_FUNCTION_ITEM:
    case AST_STRUCT_ITEM:
    case AST_UNION_ITEM:
    case AST_ENUM_ITEM:
    case AST_TRAIT_ITEM:
    case AST_TYPE_ITEM:
    case AST_CONST_ITEM:
    case AST_STATIC_ITEM:
    case AST_IMPL_ITEM:
    case AST_MACRO_DEFINITION:
    case AST_MOD_ITEM:
    case AST_USE_DECLARATION:
    case AST_EXTERN_CRATE_DECLARATION: return true;
    default: return false;
    }
}

/* Make `block` a module inside `around` and collect its items. */
static cg_code add_block(program *self, module_ref around, file_ref file, ast_ref block,
                         module_ref *ret, cg_err *reterr)
{
    module_ref ref = (module_ref)self->modules.count;
    program_module *module = vec_add(self->heap, &self->modules);
    const program_module *parent;
    attributes given;
    job from = {.module = ref, .file = file};

    if (module == NULL)
        return err_nomem(reterr);
    parent = &self->modules.at[around];
    *module = *parent;
    module->parent = around;
    module->file = file;
    module->body = block;
    module->item = 0;
    module->name = 0;
    module->is_block = true;
    module->is_pending = false;
    module->has_macros = false;
    given = (attributes){.cfg = module->cfg, .predicates = module->cfg_predicates};
    if (number_map_put(&self->block_by_node, number_map_key(file, block), ref) == NULL ||
        !add_job(self, &from, block, 0, &given) || !run_jobs(self))
        return err_nomem(reterr);
    *ret = ref;
    return CG_OK;
}

cg_code collect_block(program *self, module_ref around, file_ref file, ast_ref block,
                      module_ref *ret, cg_err *reterr)
{
    const ast *tree = program_tree(self, file);
    uint32_t *known = number_map_find(&self->block_by_node, number_map_key(file, block));

    *ret = 0;
    if (known != NULL) {
        *ret = *known;
        return CG_OK;
    }
    for (ast_ref at = ast_at(tree, block)->first; at != 0; at = ast_at(tree, at)->next) {
        if (is_declaration(ast_kind_of(tree, at)))
            return add_block(self, around, file, block, ret, reterr);
    }
    return CG_OK;
}

/* The module a block stands in; 0 when something around it is not built. */
static module_ref module_around(const program *self, module_ref of_file, file_ref file,
                                ast_ref block)
{
    const ast *tree = program_tree(self, file);

    for (ast_ref at = ast_at(tree, block)->parent; at != 0; at = ast_at(tree, at)->parent) {
        uint8_t kind = ast_kind_of(tree, at);
        uint32_t *known = NULL;

        if (kind == AST_BLOCK) {
            known = number_map_find(&self->block_by_node, number_map_key(file, at));
            if (known != NULL)
                return *known;
        } else if (is_declaration(kind)) {
            known = number_map_find(&self->item_by_node, number_map_key(file, at));
            if (known == NULL)
                return 0;
            if (kind == AST_MOD_ITEM)
                return self->items.at[*known].target;
        }
    }
    return of_file;
}

/* Blocks with declarations in nodes[from ..] of a file; outer ones have the smaller numbers. */
static cg_code collect_blocks(program *self, module_ref module, file_ref file, ast_ref from,
                              cg_err *reterr)
{
    const ast *tree = program_tree(self, file);

    for (ast_ref at = from; at < tree->nodes.count; at++) {
        ast_ref parent = ast_at(tree, at)->parent;
        module_ref around;
        module_ref made;

        if (!is_declaration(ast_kind_of(tree, at)) || ast_kind_of(tree, parent) != AST_BLOCK ||
            number_map_find(&self->block_by_node, number_map_key(file, parent)) != NULL)
            continue;
        around = module_around(self, module, file, parent);
        if (around != 0)
            CG_TRY(add_block(self, around, file, parent, &made, reterr));
    }
    return CG_OK;
}

cg_code collect_body(program *self, module_ref module, cg_err *reterr)
{
    const program_module *of = &self->modules.at[module];
    attributes given = {.cfg = of->cfg, .predicates = of->cfg_predicates};
    job from = {.module = module, .file = of->file};
    file_ref file = of->file;

    if (!add_job(self, &from, of->body, 0, &given) || !run_jobs(self))
        return err_nomem(reterr);
    return collect_blocks(self, module, file, 1, reterr);
}

/* --- macros --- */

static bool is_around(const program *self, module_ref outer, module_ref inner)
{
    while (inner != 0 && inner != outer)
        inner = self->modules.at[inner].parent;
    return inner == outer;
}

/* The nearest definition: of the innermost module around the call, else any of the crate. */
static item_ref find_macro(const program *self, module_ref module, sym name)
{
    const struct collect *own = self->collecting;
    uint64_t key = number_map_key(self->modules.at[module].crate, name);
    const uint32_t *last = number_map_find(&own->macros, key);
    item_ref best = last != NULL ? *last : 0;
    unsigned count = 0;

    for (item_ref at = best; at != 0 && count < MOST_MACROS; at = own->earlier.at[at], count++) {
        module_ref here = self->items.at[at].module;

        if (!is_around(self, here, module))
            continue;
        if (!is_around(self, self->items.at[best].module, module) ||
            (here != self->items.at[best].module &&
             is_around(self, self->items.at[best].module, here)))
            best = at;
    }
    return best;
}

/* include!("x.rs"): the declarations of the file, in the module of the call. */
static cg_code include(program *self, const job *call, cg_str arguments, cg_err *reterr)
{
    crate_ref crate = self->modules.at[call->module].crate;
    cg_str text = inside(arguments);
    file_ref file = 0;
    bool is_missing = false;
    attributes given = {.cfg = call->cfg, .predicates = call->predicates};
    job from = *call;
    cg_str path;

    if (text.len < 2 || text.ptr[0] != '"' || text.ptr[text.len - 1] != '"')
        return CG_OK;
    text = (cg_str){text.ptr + 1, text.len - 2};
    if (!texts_join(&self->mem, texts_directory(self->files.at[call->file]->full_path), text,
                    &path))
        return err_nomem(reterr);
    CG_TRY(texts_load(self, crate, path, &file, &is_missing, reterr));
    if (file == 0) {
        const ast_node *node = ast_at(program_tree(self, call->file), call->list);

        return is_missing
                   ? texts_fault(self, crate, call->file, (ast_range){node->start, node->end},
                                 (cg_str){NULL, 0}, reterr, "the included file `%.*s` is not there",
                                 ERR_STR(path))
                   : CG_OK;
    }
    from.file = file;
    from.depth++;
    if (!add_job(self, &from, 1, from.owner, &given) || !run_jobs(self))
        return err_nomem(reterr);
    return collect_blocks(self, call->module, file, 1, reterr);
}

static cg_code expand(program *self, const job *call, cg_err *reterr)
{
    struct collect *own = self->collecting;
    ast *tree = &self->files.at[call->file]->tree;
    ast_ref path = ast_child(tree, call->list, ROLE_MACRO);
    attributes given = {.cfg = call->cfg, .predicates = call->predicates};
    ast_ref before = (ast_ref)tree->nodes.count;
    job from = *call;
    const program_item *rules;
    item_ref macro;
    ast_ref body = 0;
    ast_ref name;

    if (path == 0 || call->depth >= COLLECT_MACRO_DEPTH || own->expansions >= COLLECT_MACRO_COUNT)
        return CG_OK;
    name =
        ast_kind_of(tree, path) == AST_SCOPED_IDENTIFIER ? ast_child(tree, path, ROLE_NAME) : path;
    macro = find_macro(self, call->module, ast_at(tree, name)->text);
    if (macro == 0) {
        ast_ref tokens = ast_child_kind(tree, call->list, AST_TOKEN_TREE);

        if (tokens != 0 && ast_at(tree, name)->text == own->include)
            return include(self, call, ast_text(tree, tokens), reterr);
        return CG_OK;
    }
    own->expansions++;
    rules = &self->items.at[macro];
    CG_TRY(expand_rules(self->parser, program_tree(self, rules->file), rules->node, tree,
                        &self->names, &self->mem, call->list, &body, reterr));
    if (body == 0)
        return CG_OK;
    from.depth++;
    if (!add_job(self, &from, body, from.owner, &given) || !run_jobs(self))
        return err_nomem(reterr);
    return collect_blocks(self, call->module, call->file, before, reterr);
}

cg_code collect_macros(program *self, cg_err *reterr)
{
    struct collect *own = self->collecting;

    for (size_t i = 0; i < own->calls.count; i++) {
        job call = own->calls.at[i];

        CG_TRY(expand(self, &call, reterr));
    }
    own->calls.count = 0;
    return CG_OK;
}
