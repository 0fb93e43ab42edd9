#include "model/types.h"

#include "base/buf.h"
#include "base/num.h"

#define MOST_TEXT 4096u /* bytes of a printed type */

/* Where a type stands. */
typedef struct scope {
    module_ref module;
    file_ref file;
    const type_bindings *bindings;
} scope;

typedef struct type_list {
    type_ref at[TYPE_ARGS];
    size_t count;
} type_list;

static cg_code lower(types *self, const scope *in, ast_ref node, bool is_trait, unsigned depth,
                     type_ref *ret, cg_err *reterr);

cg_code types_new(program *over, types **ret, cg_err *reterr)
{
    types *self = heap_resize(over->heap, NULL, 0, sizeof *self);

    if (self == NULL)
        return err_nomem(reterr);
    if (!type_table_init(self, over)) {
        types_free(self);
        return err_nomem(reterr);
    }
    *ret = self;
    return CG_OK;
}

void types_free(types *self)
{
    if (self == NULL)
        return;
    type_table_free(self);
    heap_resize(self->heap, self, sizeof *self, 0);
}

/* Aliases of aliases and arguments of arguments could multiply without end: count the steps. */
static void begin(types *self)
{
    if (self->calls++ == 0)
        self->fuel = TYPE_STEPS;
}

static cg_code end(types *self, cg_code code)
{
    self->calls--;
    return code;
}

static const ast *tree_of(const types *self, const scope *in)
{
    return program_tree(self->program, in->file);
}

/* --- shapes --- */

static cg_code make(types *self, enum type_kind kind, item_ref item, sym name,
                    const type_list *args, type_ref *ret, cg_err *reterr)
{
    model_type shape = {.kind = (uint8_t)kind, .item = item, .name = name};

    if (args != NULL) {
        shape.args = args->at;
        shape.arg_count = (uint8_t)args->count;
    }
    return type_make(self, &shape, ret, reterr);
}

static cg_code add_arg(types *self, const scope *in, ast_ref node, unsigned depth, type_list *args,
                       cg_err *reterr)
{
    type_ref type = 0;

    if (args->count == TYPE_ARGS)
        return CG_OK;
    CG_TRY(lower(self, in, node, false, depth + 1, &type, reterr));
    args->at[args->count++] = type;
    return CG_OK;
}

/* `Item = T` goes behind the others, lifetimes vanish, constants are unknown. */
static cg_code lower_args(types *self, const scope *in, ast_ref list, unsigned depth,
                          type_list *args, cg_err *reterr)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (ast_ref at = list != 0 ? ast_at(tree_of(self, in), list)->first : 0; at != 0;
             at = ast_at(tree_of(self, in), at)->next) {
            uint8_t kind = ast_kind_of(tree_of(self, in), at);

            if (kind == AST_LIFETIME || kind == AST_TRAIT_BOUNDS ||
                (kind == AST_TYPE_BINDING) != (pass == 1))
                continue;
            CG_TRY(add_arg(self, in, pass == 1 ? ast_child(tree_of(self, in), at, ROLE_TYPE) : at,
                           depth, args, reterr));
        }
    }
    return CG_OK;
}

/* --- generic parameters --- */

/* The parameter of `list` with that name, 0: none. */
static ast_ref find_parameter(const ast *tree, ast_ref list, sym name)
{
    for (ast_ref at = list != 0 ? ast_at(tree, list)->first : 0; at != 0;
         at = ast_at(tree, at)->next) {
        ast_ref label = ast_child(tree, at, ROLE_NAME);

        if (label != 0 && ast_at(tree, label)->text == name)
            return at;
    }
    return 0;
}

/* A function inside a function, or anything else that does not see the parameters around it. */
static bool is_closed(const ast *tree, ast_ref node)
{
    ast_ref list = ast_at(tree, node)->parent;
    uint8_t owner = ast_kind_of(tree, ast_at(tree, list)->parent);

    return ast_kind_of(tree, list) != AST_DECLARATION_LIST ||
           (owner != AST_IMPL_ITEM && owner != AST_TRAIT_ITEM);
}

/* A parameter by its name: what is bound to it, itself, or 0. */
static cg_code lower_parameter(types *self, const scope *in, ast_ref node, sym name, type_ref *ret,
                               cg_err *reterr)
{
    const type_bindings *bindings = in->bindings;
    const ast *tree = tree_of(self, in);

    *ret = 0;
    for (size_t i = 0; bindings != NULL && i < bindings->count; i++) {
        if (bindings->names[i] == name && bindings->types[i] != 0) {
            *ret = bindings->types[i];
            return CG_OK;
        }
    }
    for (ast_ref at = node; at != 0; at = ast_at(tree, at)->parent) {
        ast_ref list;

        switch (ast_kind_of(tree, at)) {
        case AST_FUNCTION_ITEM:
        case AST_FUNCTION_SIGNATURE_ITEM:
        case AST_IMPL_ITEM:
        case AST_TRAIT_ITEM:
        case AST_STRUCT_ITEM:
        case AST_ENUM_ITEM:
        case AST_UNION_ITEM:
        case AST_TYPE_ITEM:
        case AST_ASSOCIATED_TYPE: break;
        case AST_MOD_ITEM: return CG_OK;
        default: continue;
        }
        list = ast_child(tree, at, ROLE_TYPE_PARAMETERS);
        if (find_parameter(tree, list, name) != 0)
            return make(self, TYPE_PARAMETER, program_item_at(self->program, in->file, at), name,
                        NULL, ret, reterr);
        if (is_closed(tree, at))
            return CG_OK;
    }
    return CG_OK;
}

/* `Self`: what is bound, or the type of what stands around. */
static cg_code lower_self(types *self, const scope *in, ast_ref node, type_ref *ret, cg_err *reterr)
{
    const ast *tree = tree_of(self, in);

    *ret = 0;
    if (in->bindings != NULL && in->bindings->self_type != 0) {
        *ret = in->bindings->self_type;
        return CG_OK;
    }
    for (ast_ref at = node; at != 0; at = ast_at(tree, at)->parent) {
        item_ref item;

        switch (ast_kind_of(tree, at)) {
        case AST_IMPL_ITEM:
        case AST_STRUCT_ITEM:
        case AST_ENUM_ITEM:
        case AST_UNION_ITEM:
            item = program_item_at(self->program, in->file, at);
            if (item == 0)
                return CG_OK;
            CG_TRY(type_of_item(self, item, ret, reterr));
            return type_substitute(self, *ret, in->bindings, ret, reterr);
        case AST_TRAIT_ITEM:
            return make(self, TYPE_SELF, program_item_at(self->program, in->file, at), 0, NULL, ret,
                        reterr);
        default: break;
        }
    }
    return CG_OK;
}

/* Arguments that are not written: defaults, else unknown. */
static cg_code fill_defaults(types *self, item_ref ref, unsigned depth, type_list *args,
                             cg_err *reterr)
{
    program_item item = self->program->items.at[ref];
    const ast *tree = program_tree(self->program, item.file);
    ast_ref list = ast_child(tree, item.node, ROLE_TYPE_PARAMETERS);
    scope in = {.module = item.module, .file = item.file};
    sym names[TYPE_ARGS];
    size_t position = 0;

    for (ast_ref at = list != 0 ? ast_at(tree, list)->first : 0; at != 0 && position < TYPE_ARGS;
         at = ast_at(tree, at)->next) {
        uint8_t kind = ast_kind_of(tree, at);
        ast_ref fallback = ast_child(tree, at, ROLE_DEFAULT_TYPE);
        type_bindings bindings = {.names = names, .types = args->at, .count = position};
        ast_ref label = ast_child(tree, at, ROLE_NAME);

        if (kind != AST_TYPE_PARAMETER && kind != AST_CONST_PARAMETER)
            continue;
        names[position] = label != 0 ? ast_at(tree, label)->text : 0;
        if (position >= args->count) {
            in.bindings = &bindings;
            args->at[position] = 0;
            args->count = position + 1;
            if (fallback != 0)
                CG_TRY(lower(self, &in, fallback, false, depth + 1, &args->at[position], reterr));
        }
        position++;
    }
    return CG_OK;
}

/* --- paths --- */

/* What an alias stands for, its parameters replaced. */
/* One that stands for itself stands for nothing. */
static bool is_open_alias(const types *self, item_ref alias)
{
    for (uint32_t i = 0; i < self->open_count; i++) {
        if (self->open_aliases[i] == alias)
            return true;
    }
    return self->open_count == TYPE_NESTING;
}

static cg_code lower_alias(types *self, item_ref ref, type_list *args, unsigned depth,
                           type_ref *ret, cg_err *reterr)
{
    program_item item = self->program->items.at[ref];
    ast_ref type = ast_child(program_tree(self->program, item.file), item.node, ROLE_TYPE);
    sym names[TYPE_ARGS];
    type_bindings bindings = {.names = names, .types = args->at};
    scope in = {.module = item.module, .file = item.file, .bindings = &bindings};
    cg_code code;

    CG_TRY(fill_defaults(self, ref, depth, args, reterr));
    if (is_open_alias(self, ref))
        return CG_OK;
    bindings.count = type_parameters(self, ref, names);
    bindings.count = bindings.count < args->count ? bindings.count : args->count;
    self->open_aliases[self->open_count++] = ref;
    code = lower(self, &in, type, false, depth + 1, ret, reterr);
    self->open_count--;
    return code;
}

static cg_code lower_item(types *self, item_ref ref, type_list *args, unsigned depth, type_ref *ret,
                          cg_err *reterr)
{
    const program_item *item = &self->program->items.at[ref];

    *ret = 0;
    switch ((enum item_kind)item->kind) {
    case ITEM_STRUCT:
    case ITEM_ENUM:
    case ITEM_UNION:
        CG_TRY(fill_defaults(self, ref, depth, args, reterr));
        return make(self, TYPE_ITEM, ref, 0, args, ret, reterr);
    case ITEM_TRAIT: return make(self, TYPE_TRAIT, ref, 0, args, ret, reterr);
    case ITEM_TYPE_ALIAS: return lower_alias(self, ref, args, depth, ret, reterr);
    case ITEM_VARIANT: return lower_item(self, item->owner, args, depth, ret, reterr);
    case ITEM_NONE:
    case ITEM_FUNCTION:
    case ITEM_CONST:
    case ITEM_IMPL:
    case ITEM_MACRO:
    case ITEM_MODULE: return CG_OK;
    }
    return CG_OK;
}

/* The written arguments of a path's last segment. */
static ast_ref written_args(const ast *tree, ast_ref node)
{
    return ast_child(tree, node, ROLE_TYPE_ARGUMENTS);
}

/* `<T>::Name`, `<T as Trait>::Name` */
static cg_code lower_qualified(types *self, const scope *in, ast_ref bracket, sym name,
                               unsigned depth, type_ref *ret, cg_err *reterr)
{
    const ast *tree = tree_of(self, in);
    ast_ref inside = ast_at(tree, bracket)->first;
    type_ref base = 0;
    type_ref trait = 0;

    if (ast_kind_of(tree, inside) == AST_QUALIFIED_TYPE) {
        ast_ref as = ast_child(tree, inside, ROLE_ALIAS);

        CG_TRY(
            lower(self, in, ast_child(tree, inside, ROLE_TYPE), false, depth + 1, &base, reterr));
        CG_TRY(lower(self, in, as, true, depth + 1, &trait, reterr));
    } else {
        CG_TRY(lower(self, in, inside, false, depth + 1, &base, reterr));
    }
    return type_associated(self, base, type_at(self, trait)->item, name, ret, reterr);
}

static cg_code lower_path(types *self, const scope *in, ast_ref node, bool is_trait, unsigned depth,
                          type_ref *ret, cg_err *reterr)
{
    const ast *tree = tree_of(self, in);
    ast_ref path = node;
    type_list args;
    name_def def;
    sym segments[PATH_SEGMENTS];
    bool is_global = false;
    size_t count;
    ast_ref before;
    sym last;

    args.count = 0;
    *ret = 0;
    if (written_args(tree, node) != 0) {
        path = ast_child(tree, node, ROLE_TYPE);
        if (path == 0)
            path = ast_child(tree, node, ROLE_FUNCTION);
    }
    before = ast_child(tree, path, ROLE_PATH);
    if (before != 0 && ast_kind_of(tree, before) == AST_BRACKETED_TYPE)
        return lower_qualified(self, in, before,
                               ast_at(tree, ast_child(tree, path, ROLE_NAME))->text, depth, ret,
                               reterr);
    count = path_segments(self->program, in->file, path, segments, &is_global);
    if (count == 0)
        return CG_OK;
    last = segments[count - 1];
    /* `Vec<_>`: no name that a glob import could give. */
    if (str_equal(program_text(self->program, segments[0]), CG_LIT("_")))
        return CG_OK;
    if (str_equal(program_text(self->program, segments[0]), CG_LIT("Self"))) {
        if (count == 1)
            return lower_self(self, in, node, ret, reterr);
    } else if (!is_global) {
        type_ref parameter = 0;

        CG_TRY(lower_parameter(self, in, node, segments[0], &parameter, reterr));
        if (count == 1 && parameter != 0) {
            *ret = parameter;
            return CG_OK;
        }
        if (parameter != 0) {
            CG_TRY(lower(self, in, before, false, depth + 1, &parameter, reterr));
            return type_associated(self, parameter, 0, last, ret, reterr);
        }
    }
    CG_TRY(names_resolve(self->program, in->module, in->file, path, SPACE_TYPE, &def, reterr));
    if (def.rest > 0 && before != 0) {
        type_ref base = 0;

        CG_TRY(lower(self, in, before, false, depth + 1, &base, reterr));
        return type_associated(self, base, 0, last, ret, reterr);
    }
    tree = tree_of(self, in);
    if (def.kind == DEF_ITEM && self->program->items.at[def.item].kind == ITEM_VARIANT &&
        before != 0 && written_args(tree, node) == 0)
        CG_TRY(lower_args(self, in, written_args(tree, before), depth, &args, reterr));
    CG_TRY(lower_args(self, in, written_args(tree, node), depth, &args, reterr));
    switch ((enum def_kind)def.kind) {
    case DEF_ITEM: return lower_item(self, def.item, &args, depth, ret, reterr);
    case DEF_EXTERNAL:
        return make(self, is_trait ? TYPE_TRAIT : TYPE_EXTERNAL, 0, def.path, &args, ret, reterr);
    case DEF_PRIMITIVE: return make(self, TYPE_PRIMITIVE, 0, def.path, NULL, ret, reterr);
    case DEF_NONE:
    case DEF_MODULE:
    case DEF_SELF_TYPE: return CG_OK;
    }
    return CG_OK;
}

/* --- the other forms --- */

static cg_code lower_function(types *self, const scope *in, ast_ref node, unsigned depth,
                              type_ref *ret, cg_err *reterr)
{
    ast_ref list = ast_child(tree_of(self, in), node, ROLE_PARAMETERS);
    ast_ref result = ast_child(tree_of(self, in), node, ROLE_RETURN_TYPE);
    type_list args;
    type_ref type = 0;

    args.count = 0;
    for (ast_ref at = list != 0 ? ast_at(tree_of(self, in), list)->first : 0; at != 0;
         at = ast_at(tree_of(self, in), at)->next) {
        const ast *tree = tree_of(self, in);
        uint8_t kind = ast_kind_of(tree, at);

        if (kind == AST_ATTRIBUTE_ITEM || args.count + 1 >= TYPE_ARGS)
            continue;
        if (kind == AST_SELF_PARAMETER) {
            CG_TRY(lower_self(self, in, at, &type, reterr));
            args.at[args.count++] = type;
        } else {
            CG_TRY(add_arg(self, in, kind == AST_PARAMETER ? ast_child(tree, at, ROLE_TYPE) : at,
                           depth, &args, reterr));
        }
    }
    if (result != 0) {
        CG_TRY(add_arg(self, in, result, depth, &args, reterr));
    } else {
        CG_TRY(make(self, TYPE_TUPLE, 0, 0, NULL, &type, reterr));
        args.at[args.count++] = type;
    }
    return make(self, TYPE_FUNCTION, 0, 0, &args, ret, reterr);
}

static cg_code lower_tuple(types *self, const scope *in, ast_ref node, unsigned depth,
                           type_ref *ret, cg_err *reterr)
{
    type_list args;
    ast_ref first = ast_at(tree_of(self, in), node)->first;

    args.count = 0;
    if (first != 0 && ast_at(tree_of(self, in), first)->next == 0) {
        const ast *tree = tree_of(self, in);
        cg_str rest = {tree->source->text.ptr + ast_at(tree, first)->end,
                       ast_at(tree, node)->end - ast_at(tree, first)->end};

        if (memchr(rest.ptr, ',', rest.len) == NULL)
            return lower(self, in, first, false, depth + 1, ret, reterr);
    }
    for (ast_ref at = first; at != 0; at = ast_at(tree_of(self, in), at)->next)
        CG_TRY(add_arg(self, in, at, depth, &args, reterr));
    return make(self, TYPE_TUPLE, 0, 0, &args, ret, reterr);
}

/* `A + B`: the first that is more than a marker or a lifetime. */
static cg_code lower_bounded(types *self, const scope *in, ast_ref node, unsigned depth,
                             type_ref *ret, cg_err *reterr)
{
    *ret = 0;
    for (ast_ref at = ast_at(tree_of(self, in), node)->first; at != 0;
         at = ast_at(tree_of(self, in), at)->next) {
        type_ref one = 0;

        if (ast_kind_of(tree_of(self, in), at) == AST_LIFETIME)
            continue;
        CG_TRY(lower(self, in, at, true, depth + 1, &one, reterr));
        if (one == 0 || (type_at(self, one)->kind == TYPE_TRAIT && type_at(self, one)->name != 0 &&
                         str_starts_with(program_text(self->program, type_at(self, one)->name),
                                         CG_LIT("std::marker::"))))
            continue;
        *ret = one;
        return CG_OK;
    }
    return CG_OK;
}

static cg_code lower_array(types *self, const scope *in, ast_ref node, unsigned depth,
                           type_ref *ret, cg_err *reterr)
{
    type_list args;

    args.count = 0;
    CG_TRY(
        add_arg(self, in, ast_child(tree_of(self, in), node, ROLE_ELEMENT), depth, &args, reterr));
    return make(self, TYPE_ARRAY, 0, 0, &args, ret, reterr);
}

static cg_code lower_primitive(types *self, cg_str text, type_ref *ret, cg_err *reterr)
{
    sym name = intern_add(&self->program->names, text);

    if (name == 0)
        return err_nomem(reterr);
    return make(self, TYPE_PRIMITIVE, 0, name, NULL, ret, reterr);
}

/* Depth is bounded by TYPE_NESTING, so is the stack this needs. */
static cg_code lower(types *self, const scope *in, ast_ref node, bool is_trait, unsigned depth,
                     type_ref *ret, cg_err *reterr)
{
    const ast *tree = tree_of(self, in);

    *ret = 0;
    if (node == 0 || depth >= TYPE_NESTING || self->fuel == 0)
        return CG_OK;
    self->fuel--;
    switch (ast_kind_of(tree, node)) {
    case AST_REFERENCE_TYPE:
    case AST_POINTER_TYPE:
        return lower(self, in, ast_child(tree, node, ROLE_TYPE), is_trait, depth + 1, ret, reterr);
    case AST_BRACKETED_TYPE:
        return lower(self, in, ast_at(tree, node)->first, is_trait, depth + 1, ret, reterr);
    case AST_QUALIFIED_TYPE:
        return lower(self, in, ast_child(tree, node, ROLE_TYPE), false, depth + 1, ret, reterr);
    case AST_DYNAMIC_TYPE:
    case AST_ABSTRACT_TYPE:
        return lower(self, in, ast_child(tree, node, ROLE_TRAIT), true, depth + 1, ret, reterr);
    case AST_BOUNDED_TYPE: return lower_bounded(self, in, node, depth, ret, reterr);
    case AST_TUPLE_TYPE: return lower_tuple(self, in, node, depth, ret, reterr);
    case AST_UNIT_TYPE: return make(self, TYPE_TUPLE, 0, 0, NULL, ret, reterr);
    case AST_ARRAY_TYPE: return lower_array(self, in, node, depth, ret, reterr);
    case AST_FUNCTION_TYPE: return lower_function(self, in, node, depth, ret, reterr);
    case AST_PRIMITIVE_TYPE: return lower_primitive(self, ast_text(tree, node), ret, reterr);
    case AST_NEVER_TYPE: return lower_primitive(self, CG_LIT("!"), ret, reterr);
    case AST_TYPE_IDENTIFIER:
    case AST_SCOPED_TYPE_IDENTIFIER:
    case AST_GENERIC_TYPE:
    case AST_GENERIC_TYPE_WITH_TURBOFISH:
    case AST_IDENTIFIER:
    case AST_SCOPED_IDENTIFIER:
    case AST_GENERIC_FUNCTION: return lower_path(self, in, node, is_trait, depth, ret, reterr);
    case AST_OTHER: /* for<'a> Fn(&'a T) */
        return lower(self, in, ast_child(tree, node, ROLE_TYPE), is_trait, depth + 1, ret, reterr);
    default: return CG_OK;
    }
}

cg_code type_lower(types *self, module_ref module, file_ref file, ast_ref node,
                   const type_bindings *bindings, type_ref *ret, cg_err *reterr)
{
    scope in = {.module = module, .file = file, .bindings = bindings};
    uint8_t around = ast_kind_of(program_tree(self->program, file),
                                 ast_at(program_tree(self->program, file), node)->parent);
    type_ref type = 0;

    begin(self);
    CG_TRY(end(self, lower(self, &in, node, around == AST_TRAIT_BOUNDS, 0, &type, reterr)));
    *ret = type;
    return CG_OK;
}

/* Self type of an impl, once. */
static cg_code type_of_impl(types *self, item_ref ref, type_ref *ret, cg_err *reterr)
{
    program_item item = self->program->items.at[ref];
    uint32_t *known = number_map_put(&self->self_types, number_map_key(1, ref), 0);
    scope in = {.module = item.module, .file = item.file};

    if (known == NULL)
        return err_nomem(reterr);
    if (*known == 0) {
        *known = 1; /* unknown as long as it asks for itself */
        CG_TRY(lower(self, &in,
                     ast_child(program_tree(self->program, item.file), item.node, ROLE_TYPE), false,
                     0, ret, reterr));
        known = number_map_put(&self->self_types, number_map_key(1, ref), 0);
        *known = *ret + 1;
    }
    *ret = *known - 1;
    return CG_OK;
}

static cg_code of_item(types *self, item_ref ref, type_ref *ret, cg_err *reterr)
{
    program_item item = self->program->items.at[ref];
    const ast *tree = program_tree(self->program, item.file);
    scope in = {.module = item.module, .file = item.file};
    sym names[TYPE_ARGS];
    type_list args;

    *ret = 0;
    switch ((enum item_kind)item.kind) {
    case ITEM_STRUCT:
    case ITEM_ENUM:
    case ITEM_UNION:
    case ITEM_TRAIT:
        args.count = type_parameters(self, ref, names);
        for (size_t i = 0; i < args.count; i++)
            CG_TRY(make(self, TYPE_PARAMETER, ref, names[i], NULL, &args.at[i], reterr));
        return make(self, item.kind == ITEM_TRAIT ? TYPE_TRAIT : TYPE_ITEM, ref, 0, &args, ret,
                    reterr);
    case ITEM_VARIANT: return of_item(self, item.owner, ret, reterr);
    case ITEM_IMPL: return type_of_impl(self, ref, ret, reterr);
    case ITEM_FUNCTION: return lower_function(self, &in, item.node, 0, ret, reterr);
    case ITEM_CONST:
    case ITEM_TYPE_ALIAS:
        return lower(self, &in, ast_child(tree, item.node, ROLE_TYPE), false, 0, ret, reterr);
    case ITEM_NONE:
    case ITEM_MACRO:
    case ITEM_MODULE: return CG_OK;
    }
    return CG_OK;
}

cg_code type_of_item(types *self, item_ref ref, type_ref *ret, cg_err *reterr)
{
    type_ref type = 0;

    begin(self);
    CG_TRY(end(self, of_item(self, ref, &type, reterr)));
    *ret = type;
    return CG_OK;
}

/* --- substitution --- */

static cg_code substitute(types *self, type_ref type, const type_bindings *bindings, unsigned depth,
                          type_ref *ret, cg_err *reterr)
{
    model_type at = *type_at(self, type);
    type_list args;

    *ret = type;
    if (type == 0 || depth >= TYPE_NESTING || self->fuel == 0)
        return CG_OK;
    self->fuel--;
    if (at.kind == TYPE_SELF) {
        *ret = bindings->self_type != 0 ? bindings->self_type : type;
        return CG_OK;
    }
    if (at.kind == TYPE_PARAMETER) {
        for (size_t i = 0; i < bindings->count; i++) {
            if (bindings->names[i] == at.name && bindings->types[i] != 0)
                *ret = bindings->types[i];
        }
        return CG_OK;
    }
    if (at.arg_count == 0)
        return CG_OK;
    args.count = at.arg_count;
    for (size_t i = 0; i < args.count; i++)
        CG_TRY(substitute(self, at.args[i], bindings, depth + 1, &args.at[i], reterr));
    if (at.kind == TYPE_ASSOCIATED)
        return type_associated(self, args.at[0], at.item, at.name, ret, reterr);
    return make(self, (enum type_kind)at.kind, at.item, at.name, &args, ret, reterr);
}

cg_code type_substitute(types *self, type_ref type, const type_bindings *bindings, type_ref *ret,
                        cg_err *reterr)
{
    type_ref made = type;

    if (bindings != NULL) {
        begin(self);
        CG_TRY(end(self, substitute(self, type, bindings, 0, &made, reterr)));
    }
    *ret = made;
    return CG_OK;
}

/* --- questions --- */

static cg_str last_segment(cg_str path)
{
    for (size_t i = path.len; i-- > 1;) {
        if (path.ptr[i] == ':')
            return (cg_str){path.ptr + i + 1, path.len - i - 1};
    }
    return path;
}

static bool is_wrapper(cg_str path)
{
    static const char *const names[] = {"Option",  "Box",   "Rc",     "Arc", "Cow",
                                        "RefCell", "Mutex", "RwLock", "Cell"};
    cg_str last = last_segment(path);

    if (str_equal(last, CG_LIT("Result")))
        return true;
    if (!str_starts_with(path, CG_LIT("std::")))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (str_is(last, names[i]))
            return true;
    }
    return false;
}

type_ref type_peel(const types *self, type_ref type)
{
    while (type_at(self, type)->kind == TYPE_EXTERNAL && type_at(self, type)->arg_count > 0 &&
           is_wrapper(program_text(self->program, type_at(self, type)->name)))
        type = type_at(self, type)->args[0];
    return type;
}

/* The type node of a field in the body of a struct or variant, 0: none. */
static ast_ref find_field(const types *self, file_ref file, ast_ref body, sym field)
{
    const ast *tree = program_tree(self->program, file);
    uint64_t number = UINT64_MAX;
    uint64_t position = 0;
    bool is_number = num_read_u64(program_text(self->program, field), &number);

    for (ast_ref at = body != 0 ? ast_at(tree, body)->first : 0; at != 0;
         at = ast_at(tree, at)->next) {
        if (ast_kind_of(tree, at) == AST_FIELD_DECLARATION) {
            ast_ref name = ast_child(tree, at, ROLE_NAME);

            if (name != 0 && ast_at(tree, name)->text == field &&
                program_cfg(self->program, file, at) >= 0)
                return ast_child(tree, at, ROLE_TYPE);
        } else if (ast_at(tree, at)->role == ROLE_TYPE && position++ == number && is_number) {
            return at;
        }
    }
    return 0;
}

static cg_code field_of(types *self, type_ref owner, item_ref ref, sym field, type_ref *ret,
                        cg_err *reterr)
{
    model_type type = *type_at(self, owner);
    program_item item = self->program->items.at[ref];
    ast_ref body = ast_child(program_tree(self->program, item.file), item.node, ROLE_BODY);
    sym names[TYPE_ARGS];
    type_bindings bindings = {.names = names, .types = type.args, .self_type = owner};
    scope in = {.module = item.module, .file = item.file, .bindings = &bindings};
    type_ref made = 0;

    bindings.count = type_parameters(self, type.item, names);
    bindings.count = bindings.count < type.arg_count ? bindings.count : type.arg_count;
    begin(self);
    CG_TRY(end(
        self, lower(self, &in, find_field(self, item.file, body, field), false, 0, &made, reterr)));
    *ret = made;
    return CG_OK;
}

cg_code type_field(types *self, type_ref owner, sym field, type_ref *ret, cg_err *reterr)
{
    *ret = 0;
    if (type_at(self, owner)->kind != TYPE_ITEM)
        return CG_OK;
    return field_of(self, owner, type_at(self, owner)->item, field, ret, reterr);
}

/* --- text --- */

static void print(types *self, type_ref type, unsigned depth, buf *out);

static void print_list(types *self, const model_type *at, size_t count, const char *open,
                       const char *close, unsigned depth, buf *out)
{
    buf_add(out, str_from(open));
    for (size_t i = 0; i < count; i++) {
        buf_add(out, i > 0 ? CG_LIT(", ") : CG_LIT(""));
        print(self, at->args[i], depth + 1, out);
    }
    buf_add(out, str_from(close));
}

static void print_named(types *self, const model_type *at, unsigned depth, buf *out)
{
    cg_str path = CG_LIT("");

    if (at->item != 0) {
        if (!program_item_path(self->program, at->item, &path))
            out->failed = true;
    } else {
        path = program_text(self->program, at->name);
        if (str_starts_with(path, CG_LIT("std::")))
            path = last_segment(path);
    }
    buf_add(out, path);
    if (at->arg_count > 0)
        print_list(self, at, at->arg_count, "<", ">", depth, out);
}

static void print(types *self, type_ref type, unsigned depth, buf *out)
{
    model_type at = *type_at(self, type);

    if (depth >= TYPE_NESTING || out->failed) {
        buf_add(out, CG_LIT("_"));
        return;
    }
    switch ((enum type_kind)at.kind) {
    case TYPE_ITEM:
    case TYPE_EXTERNAL: print_named(self, &at, depth, out); break;
    case TYPE_TRAIT:
        buf_add(out, CG_LIT("dyn "));
        print_named(self, &at, depth, out);
        break;
    case TYPE_PRIMITIVE:
    case TYPE_PARAMETER: buf_add(out, program_text(self->program, at.name)); break;
    case TYPE_TUPLE:
        print_list(self, &at, at.arg_count, "(", at.arg_count == 1 ? ",)" : ")", depth, out);
        break;
    case TYPE_ARRAY: print_list(self, &at, at.arg_count, "[", "]", depth, out); break;
    case TYPE_FUNCTION:
        print_list(self, &at, at.arg_count > 0 ? at.arg_count - 1u : 0, "fn(", ")", depth, out);
        buf_add(out, CG_LIT(" -> "));
        print(self, at.arg_count > 0 ? at.args[at.arg_count - 1] : 0, depth + 1, out);
        break;
    case TYPE_SELF: buf_add(out, CG_LIT("Self")); break;
    case TYPE_ASSOCIATED:
        print(self, at.args[0], depth + 1, out);
        buf_add(out, CG_LIT("::"));
        buf_add(out, program_text(self->program, at.name));
        break;
    case TYPE_UNKNOWN:
    case TYPE_KIND_COUNT: buf_add(out, CG_LIT("_")); break;
    }
}

bool type_text(types *self, type_ref type, cg_str *ret)
{
    buf out;
    bool is_fine;

    buf_init(&out, self->heap, MOST_TEXT);
    print(self, type, 0, &out);
    /* What is longer than any person reads is cut. */
    is_fine = arena_text(&self->program->mem, buf_text(&out), ret);
    buf_free(&out);
    return is_fine;
}
