#include "model/scopes.h"

/* A part of a use tree that is still to be looked at, and the path before it. */
typedef struct branch {
    ast_ref node;
    uint32_t first;
    uint16_t count;
    bool is_global;
} branch;

typedef struct branches {
    VEC(branch) at;
} branches;

static void scopes_free(names *self)
{
    heap *from = self->program->heap;

    vec_free(from, &self->bindings);
    vec_free(from, &self->imports);
    vec_free(from, &self->segments);
    vec_free(from, &self->answers);
    vec_free(from, &self->active);
    number_map_free(&self->by_name);
    number_map_free(&self->by_module);
    number_map_free(&self->globs);
    number_map_free(&self->last_glob);
    number_map_free(&self->members);
    number_map_free(&self->lexical);
    number_map_free(&self->children);
    number_map_free(&self->canonical);
    number_map_free(&self->reachable);
}

static void free_of(program *self)
{
    if (self->scopes != NULL)
        scopes_free(self->scopes);
    self->scopes = NULL;
}

cg_code scopes_new(program *self, names **ret, cg_err *reterr)
{
    names *own = arena_zero(&self->mem, sizeof *own);
    heap *from = self->heap;
    intern *texts = &self->names;

    if (own == NULL)
        return err_nomem(reterr);
    own->program = self;
    own->seen_items = 1;
    own->seen_modules = 1;
    own->seen_uses = 1;
    number_map_init(&own->by_name, from);
    number_map_init(&own->by_module, from);
    number_map_init(&own->globs, from);
    number_map_init(&own->last_glob, from);
    number_map_init(&own->members, from);
    number_map_init(&own->lexical, from);
    number_map_init(&own->children, from);
    number_map_init(&own->canonical, from);
    number_map_init(&own->reachable, from);
    self->scopes = own;
    self->free_scopes = free_of;
    own->word_self = intern_add(texts, CG_LIT("self"));
    own->word_super = intern_add(texts, CG_LIT("super"));
    own->word_crate = intern_add(texts, CG_LIT("crate"));
    own->word_dollar_crate = intern_add(texts, CG_LIT("$crate"));
    own->word_upper_self = intern_add(texts, CG_LIT("Self"));
    own->word_underscore = intern_add(texts, CG_LIT("_"));
    if (own->word_underscore == 0 || vec_add(from, &own->bindings) == NULL ||
        vec_add(from, &own->imports) == NULL || vec_add(from, &own->answers) == NULL)
        return err_nomem(reterr);
    own->bindings.at[0] = (binding){0};
    own->imports.at[0] = (import){0};
    own->answers.at[0] = (name_def){0};
    *ret = own;
    return CG_OK;
}

static bool bind(names *self, module_ref module, sym name, const binding *what)
{
    heap *from = self->program->heap;
    binding *place;
    uint32_t ref = (uint32_t)self->bindings.count;
    uint32_t *by_name;
    uint32_t *by_module;

    if (name == 0 || module == 0)
        return true;
    place = vec_add(from, &self->bindings);
    by_name = number_map_put(&self->by_name, number_map_key(module, name), 0);
    by_module = number_map_put(&self->by_module, number_map_key(1, module), 0);
    if (place == NULL || by_name == NULL || by_module == NULL)
        return false;
    *place = *what;
    place->name = name;
    place->earlier = *by_name;
    place->next_in_module = *by_module;
    *by_name = ref;
    *by_module = ref;
    return true;
}

/* --- items --- */

static unsigned spaces_of(const program *self, const program_item *item)
{
    const ast *tree = program_tree(self, item->file);

    switch ((enum item_kind)item->kind) {
    case ITEM_FUNCTION:
    case ITEM_CONST: return SPACE_BIT(SPACE_VALUE);
    case ITEM_STRUCT:
        /* `struct Unit;` and `struct Tuple(..);` are values too */
        return ast_kind_of(tree, ast_child(tree, item->node, ROLE_BODY)) ==
                       AST_FIELD_DECLARATION_LIST
                   ? SPACE_BIT(SPACE_TYPE)
                   : SPACE_BIT(SPACE_TYPE) | SPACE_BIT(SPACE_VALUE);
    case ITEM_ENUM:
    case ITEM_UNION:
    case ITEM_TRAIT:
    case ITEM_TYPE_ALIAS:
    case ITEM_MODULE: return SPACE_BIT(SPACE_TYPE);
    case ITEM_MACRO: return SPACE_BIT(SPACE_MACRO);
    case ITEM_VARIANT:
    case ITEM_IMPL:
    case ITEM_NONE: return 0;
    }
    return 0;
}

static bool bind_item(names *self, item_ref ref)
{
    const program *of = self->program;
    const program_item *item = &of->items.at[ref];
    binding what = {.kind = BIND_ITEM,
                    .spaces = (uint8_t)spaces_of(of, item),
                    .visibility = item->visibility,
                    .cfg = item->cfg,
                    .target = ref};
    module_ref root;

    if (item->owner != 0 || what.spaces == 0)
        return true;
    if (item->kind == ITEM_MODULE) {
        what.kind = BIND_MODULE;
        what.target = item->target;
    }
    if (!bind(self, item->module, item->name, &what))
        return false;
    /* An exported macro lies in the root of its crate; there, others help more than none. */
    root = of->crates.at[of->modules.at[item->module].crate].root;
    if (item->kind != ITEM_MACRO || item->module == root)
        return true;
    what.visibility = item->is_exported ? VISIBLE_PUBLIC : VISIBLE_CRATE;
    what.cfg = 0;
    return bind(self, root, item->name, &what);
}

/* --- use trees --- */

/* Append `count` segments behind those of `before`; false: out of memory. */
static bool extend(names *self, const branch *before, const sym *more, size_t count, branch *ret)
{
    heap *from = self->program->heap;
    uint32_t first = (uint32_t)self->segments.count;

    if (!vec_reserve(from, &self->segments, self->segments.count + before->count + count))
        return false;
    for (uint16_t i = 0; i < before->count; i++)
        self->segments.at[self->segments.count++] = self->segments.at[before->first + i];
    for (size_t i = 0; i < count; i++)
        self->segments.at[self->segments.count++] = more[i];
    ret->first = first;
    ret->count = (uint16_t)(before->count + count);
    return true;
}

/* `path` read behind `before`; *ret_fits is false when it is none or too long. */
static bool extend_by_path(names *self, file_ref file, ast_ref path, const branch *before,
                           branch *ret, bool *ret_fits)
{
    sym segments[PATH_SEGMENTS];
    bool is_global = false;
    size_t count = path_segments(self->program, file, path, segments, &is_global);

    *ret = *before;
    *ret_fits = count > 0 && before->count + count <= PATH_SEGMENTS;
    if (before->count == 0)
        ret->is_global = before->is_global || is_global;
    return !*ret_fits || extend(self, before, segments, count, ret);
}

static import *add_import(names *self, const program_use *use, ast_ref node, const branch *path)
{
    import *place = vec_add(self->program->heap, &self->imports);

    if (place != NULL)
        *place = (import){.module = use->module,
                          .file = use->file,
                          .node = node,
                          .first = path->first,
                          .count = path->count,
                          .is_global = path->is_global,
                          .visibility = use->visibility,
                          .cfg = use->cfg};
    return place;
}

static bool add_leaf(names *self, const program_use *use, ast_ref node, branch path, sym alias)
{
    binding what = {.kind = BIND_IMPORT,
                    .spaces = SPACE_ALL,
                    .visibility = use->visibility,
                    .cfg = use->cfg,
                    .target = (uint32_t)self->imports.count};
    bool is_module = false;
    import *place;

    if (path.count > 1 && self->segments.at[path.first + path.count - 1] == self->word_self) {
        path.count--;
        is_module = true;
    }
    place = add_import(self, use, node, &path);
    if (place == NULL)
        return false;
    place->is_module = is_module;
    if (is_module)
        what.spaces = SPACE_BIT(SPACE_TYPE);
    if (alias == 0)
        alias = self->segments.at[path.first + path.count - 1];
    if (alias == self->word_underscore)
        return true;
    return bind(self, use->module, alias, &what);
}

static bool add_glob(names *self, const program_use *use, ast_ref node, const branch *path)
{
    uint32_t ref = (uint32_t)self->imports.count;
    import *place = add_import(self, use, node, path);
    uint32_t *first = number_map_put(&self->globs, number_map_key(1, use->module), ref);
    uint32_t *last = number_map_put(&self->last_glob, number_map_key(1, use->module), ref);

    if (place == NULL || first == NULL || last == NULL)
        return false;
    place->is_glob = true;
    if (*last != ref)
        self->imports.at[*last].next_glob = ref;
    *last = ref;
    return true;
}

static bool push(heap *from, branches *open, ast_ref node, const branch *path)
{
    branch *place = node != 0 ? vec_add(from, &open->at) : NULL;

    if (place != NULL) {
        *place = *path;
        place->node = node;
    }
    return node == 0 || place != NULL;
}

/* Children of a list, the first one on top. */
static bool push_list(heap *from, branches *open, const ast *tree, ast_ref list, const branch *path)
{
    size_t bottom = open->at.count;

    for (ast_ref at = ast_at(tree, list)->first; at != 0; at = ast_at(tree, at)->next) {
        if (!push(from, open, at, path))
            return false;
    }
    for (size_t i = bottom, j = open->at.count; i + 1 < j; i++) {
        branch other = open->at.at[--j];

        open->at.at[j] = open->at.at[i];
        open->at.at[i] = other;
    }
    return true;
}

static bool take_branch(names *self, const program_use *use, branch at, branches *open)
{
    const ast *tree = program_tree(self->program, use->file);
    heap *from = self->program->heap;
    ast_ref path = 0;
    branch whole = at;
    bool fits = true;

    switch (ast_kind_of(tree, at.node)) {
    case AST_USE_LIST: return push_list(from, open, tree, at.node, &at);
    case AST_SCOPED_USE_LIST:
        path = ast_child(tree, at.node, ROLE_PATH);
        if (path == 0)
            whole.is_global = at.count == 0;
        else if (!extend_by_path(self, use->file, path, &at, &whole, &fits))
            return false;
        return !fits || push(from, open, ast_child(tree, at.node, ROLE_LIST), &whole);
    case AST_USE_AS_CLAUSE: {
        ast_ref alias = ast_child(tree, at.node, ROLE_ALIAS);

        path = ast_child(tree, at.node, ROLE_PATH);
        if (!extend_by_path(self, use->file, path, &at, &whole, &fits))
            return false;
        return !fits || alias == 0 ||
               add_leaf(self, use, at.node, whole, ast_at(tree, alias)->text);
    }
    case AST_USE_WILDCARD:
        path = ast_at(tree, at.node)->first;
        if (path != 0 && !extend_by_path(self, use->file, path, &at, &whole, &fits))
            return false;
        return !fits || whole.count == 0 || add_glob(self, use, at.node, &whole);
    default:
        if (!extend_by_path(self, use->file, at.node, &at, &whole, &fits))
            return false;
        return !fits || add_leaf(self, use, at.node, whole, 0);
    }
}

/* `extern crate x as y;` */
static bool take_extern(names *self, const program_use *use)
{
    const ast *tree = program_tree(self->program, use->file);
    ast_ref name = ast_child(tree, use->node, ROLE_NAME);
    ast_ref alias = ast_child(tree, use->node, ROLE_ALIAS);
    branch none = {.is_global = true};
    branch path = none;
    sym segment = name != 0 ? ast_at(tree, name)->text : 0;

    if (segment == 0)
        return true;
    if (segment == self->word_self)
        segment = self->word_crate;
    path.is_global = segment != self->word_crate;
    return extend(self, &none, &segment, 1, &path) &&
           add_leaf(self, use, use->node, path, alias != 0 ? ast_at(tree, alias)->text : 0);
}

static bool take_use(names *self, const program_use *use)
{
    const ast *tree = program_tree(self->program, use->file);
    branch none = {0};
    branches open = {0};
    bool is_fine;

    if (ast_kind_of(tree, use->node) == AST_EXTERN_CRATE_DECLARATION)
        return take_extern(self, use);
    is_fine = push(self->program->heap, &open, ast_child(tree, use->node, ROLE_ARGUMENT), &none);
    while (is_fine && open.at.count > 0)
        is_fine = take_branch(self, use, open.at.at[--open.at.count], &open);
    vec_free(self->program->heap, &open.at);
    return is_fine;
}

cg_code scopes_follow(names *self, cg_err *reterr)
{
    program *of = self->program;

    for (; self->seen_items < of->items.count; self->seen_items++) {
        if (!bind_item(self, (item_ref)self->seen_items))
            return err_nomem(reterr);
    }
    for (; self->seen_modules < of->modules.count; self->seen_modules++) {
        const program_module *module = &of->modules.at[self->seen_modules];
        binding what = {.kind = BIND_MODULE,
                        .spaces = SPACE_BIT(SPACE_TYPE),
                        .visibility = VISIBLE_PUBLIC,
                        .target = (uint32_t)self->seen_modules};

        if (module->item == 0 && !bind(self, module->parent, module->name, &what))
            return err_nomem(reterr);
    }
    for (; self->seen_uses < of->uses.count; self->seen_uses++) {
        program_use use = of->uses.at[self->seen_uses];

        if (!take_use(self, &use))
            return err_nomem(reterr);
    }
    return CG_OK;
}
