/*
 * What names.h says about items: their owners, their names, who can reach them from outside.
 */
#include "model/names.h"
#include "model/scopes.h"

/* References, pointers and brackets taken away. */
static ast_ref bare_type(const ast *tree, ast_ref node)
{
    for (;;) {
        switch (ast_kind_of(tree, node)) {
        case AST_REFERENCE_TYPE:
        case AST_POINTER_TYPE: node = ast_child(tree, node, ROLE_TYPE); break;
        case AST_BRACKETED_TYPE: node = ast_at(tree, node)->first; break;
        case AST_DYNAMIC_TYPE: node = ast_child(tree, node, ROLE_TRAIT); break;
        default: return node;
        }
        if (node == 0)
            return 0;
    }
}

/* Is the type one of the impl's own parameters? */
static bool is_parameter(const ast *tree, ast_ref impl, ast_ref type)
{
    ast_ref list = ast_child(tree, impl, ROLE_TYPE_PARAMETERS);

    for (ast_ref at = list != 0 ? ast_at(tree, list)->first : 0; at != 0;
         at = ast_at(tree, at)->next) {
        ast_ref name = ast_child(tree, at, ROLE_NAME);

        if (name != 0 && ast_at(tree, name)->text != 0 &&
            ast_at(tree, name)->text == ast_at(tree, type)->text)
            return true;
    }
    return false;
}

cg_code names_of_impl(program *self, item_ref impl, bool is_trait, name_def *ret, cg_err *reterr)
{
    program_item item = self->items.at[impl];
    const ast *tree = program_tree(self, item.file);
    ast_ref type = bare_type(tree, ast_child(tree, item.node, is_trait ? ROLE_TRAIT : ROLE_TYPE));

    *ret = (name_def){.kind = DEF_NONE};
    if (type == 0 || is_parameter(tree, item.node, type))
        return CG_OK;
    return names_resolve(self, item.module, item.file, type, SPACE_TYPE, ret, reterr);
}

/* --- qualified names --- */

static bool join(program *self, cg_str path, cg_str name, cg_str *ret)
{
    return arena_format(&self->mem, ret, "%.*s%s%.*s", (int)path.len, path.ptr,
                        path.len > 0 && name.len > 0 ? "::" : "", (int)name.len, name.ptr);
}

/* The path of what an impl is for. */
static bool impl_path(program *self, item_ref impl, cg_str *ret)
{
    program_item item = self->items.at[impl];
    const ast *tree = program_tree(self, item.file);
    ast_ref type = bare_type(tree, ast_child(tree, item.node, ROLE_TYPE));
    name_def def;
    cg_str module;

    if (names_of_impl(self, impl, false, &def, NULL) != CG_OK)
        return false;
    if (def.kind == DEF_ITEM) {
        const program_item *found = &self->items.at[def.item];

        return program_module_path(self, found->module, &module) &&
               join(self, module, program_text(self, found->name), ret);
    }
    if (def.kind == DEF_EXTERNAL || def.kind == DEF_PRIMITIVE) {
        *ret = program_text(self, def.path);
        return true;
    }
    return program_module_path(self, item.module, &module) &&
           join(self, module, type != 0 ? ast_text(tree, type) : CG_LIT(""), ret);
}

bool program_item_path(program *self, item_ref ref, cg_str *ret)
{
    const program_item *item = &self->items.at[ref];
    cg_str name = item->name != 0 ? program_text(self, item->name) : CG_LIT("");
    cg_str before;
    bool is_fine;

    if (item->kind == ITEM_IMPL)
        return impl_path(self, ref, ret);
    if (item->owner != 0 && self->items.at[item->owner].kind == ITEM_IMPL) {
        is_fine = impl_path(self, item->owner, &before);
    } else if (item->owner != 0) {
        const program_item *owner = &self->items.at[item->owner];

        is_fine = program_module_path(self, owner->module, &before) &&
                  join(self, before, program_text(self, owner->name), &before);
    } else {
        is_fine = program_module_path(self, item->module, &before);
    }
    return is_fine && join(self, before, name, ret);
}

/* --- reachable from outside --- */

typedef struct visits {
    VEC(module_ref) modules;
} visits;

static bool mark_item(names *self, item_ref item)
{
    return number_map_put(&self->reachable, number_map_key(1, item), 1) != NULL;
}

/* Put a module on the list, once. */
static bool mark_module(names *self, visits *open, module_ref module)
{
    uint64_t key = number_map_key(3, module);
    module_ref *place;

    if (number_map_find(&self->reachable, key) != NULL)
        return true;
    place = vec_add(self->program->heap, &open->modules);
    if (place == NULL || number_map_put(&self->reachable, key, 1) == NULL)
        return false;
    *place = module;
    return true;
}

static bool mark(names *self, visits *open, crate_ref crate, const name_def *def)
{
    const program *of = self->program;

    if (def->kind == DEF_MODULE)
        return of->modules.at[def->module].crate != crate || mark_module(self, open, def->module);
    return def->kind != DEF_ITEM || mark_item(self, def->item);
}

/* What a public `use` of the crate leads to. */
static cg_code mark_import(names *self, visits *open, crate_ref crate, module_ref module, sym name,
                           cg_err *reterr)
{
    for (unsigned space = 0; space < SPACE_COUNT; space++) {
        name_def def;

        CG_TRY(names_member(self->program, module, name, (enum name_space)space, &def, reterr));
        if (!mark(self, open, crate, &def))
            return err_nomem(reterr);
    }
    return CG_OK;
}

/* What `pub use x::*` leads to: a module of the crate, or an enum. */
static cg_code mark_glob(names *self, visits *open, crate_ref crate, const import *glob,
                         cg_err *reterr)
{
    program *of = self->program;
    const ast *tree = program_tree(of, glob->file);
    ast_ref path = ast_at(tree, glob->node)->first;
    name_def def = {.kind = DEF_NONE};

    if (path != 0)
        CG_TRY(names_resolve(of, glob->module, glob->file, path, SPACE_TYPE, &def, reterr));
    return mark(self, open, crate, &def) ? CG_OK : err_nomem(reterr);
}

static cg_code walk_module(names *self, visits *open, crate_ref crate, module_ref module,
                           cg_err *reterr)
{
    const uint32_t *last = number_map_find(&self->by_module, number_map_key(1, module));
    const uint32_t *glob = number_map_find(&self->globs, number_map_key(1, module));
    uint32_t first_glob = glob != NULL ? *glob : 0;

    for (uint32_t at = last != NULL ? *last : 0; at != 0;
         at = self->bindings.at[at].next_in_module) {
        binding one = self->bindings.at[at];
        bool is_fine = true;

        if (one.visibility != VISIBLE_PUBLIC)
            continue;
        if (one.kind == BIND_IMPORT)
            CG_TRY(mark_import(self, open, crate, module, one.name, reterr));
        else if (one.kind == BIND_MODULE)
            is_fine = mark_module(self, open, one.target);
        else
            is_fine = mark_item(self, one.target);
        if (!is_fine)
            return err_nomem(reterr);
    }
    for (uint32_t at = first_glob; at != 0; at = self->imports.at[at].next_glob) {
import one = self->imports.at[at];

        if (one.visibility == VISIBLE_PUBLIC)
            CG_TRY(mark_glob(self, open, crate, &one, reterr));
    }
    return CG_OK;
}

/* Mark everything of a crate that can be reached, once. */
static cg_code walk_crate(program *self, crate_ref crate, cg_err *reterr)
{
    uint64_t key = number_map_key(2, crate);
    module_ref root = self->crates.at[crate].root;
    visits open = {0};
    cg_code code = CG_OK;
    name_def none;

    CG_TRY(names_find(self, root, self->crates.at[crate].name, SPACE_TYPE, &none, reterr));
    if (number_map_find(&self->scopes->reachable, key) != NULL)
        return CG_OK;
    if (number_map_put(&self->scopes->reachable, key, 1) == NULL ||
        !mark_module(self->scopes, &open, root))
        code = err_nomem(reterr);
    while (code == CG_OK && open.modules.count > 0)
        code =
            walk_module(self->scopes, &open, crate, open.modules.at[--open.modules.count], reterr);
    vec_free(self->heap, &open.modules);
    return code;
}

static cg_code is_marked(program *self, const name_def *def, bool *ret, cg_err *reterr)
{
    crate_ref crate;

    *ret = true; /* of a library, or nobody knows */
    if (def->kind != DEF_ITEM)
        return CG_OK;
    crate = self->modules.at[self->items.at[def->item].module].crate;
    CG_TRY(walk_crate(self, crate, reterr));
    *ret = number_map_find(&self->scopes->reachable, number_map_key(1, def->item)) != NULL;
    return CG_OK;
}

cg_code names_is_reachable(program *self, item_ref ref, bool *ret, cg_err *reterr)
{
    program_item item = self->items.at[ref];
    name_def def = {.kind = DEF_ITEM, .item = ref};
    bool is_reached = true;

    if (item.kind == ITEM_MODULE) {
        CG_TRY(walk_crate(self, self->modules.at[item.module].crate, reterr));
        *ret = number_map_find(&self->scopes->reachable, number_map_key(3, item.target)) != NULL;
        return CG_OK;
    }
    if (item.kind != ITEM_IMPL && item.owner == 0)
        return is_marked(self, &def, ret, reterr);
    if (item.kind != ITEM_IMPL) {
        def.item = item.owner;
        if (self->items.at[item.owner].kind != ITEM_IMPL)
            return is_marked(self, &def, ret, reterr);
    }
    /* a member of an impl, or the impl: its type, its trait, and its own word */
    ref = def.item;
    CG_TRY(names_of_impl(self, ref, true, &def, reterr));
    if (def.kind != DEF_NONE)
        CG_TRY(is_marked(self, &def, &is_reached, reterr));
    else if (item.kind != ITEM_IMPL &&
             ast_child(program_tree(self, item.file), self->items.at[ref].node, ROLE_TRAIT) == 0)
        is_reached = item.visibility == VISIBLE_PUBLIC;
    if (is_reached) {
        CG_TRY(names_of_impl(self, ref, false, &def, reterr));
        CG_TRY(is_marked(self, &def, &is_reached, reterr));
    }
    *ret = is_reached;
    return CG_OK;
}
