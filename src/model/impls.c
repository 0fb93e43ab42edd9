#include "model/impls.h"

#define MOST_BOUNDS   32
#define MOST_TRAITS   64 /* a trait and what it asks for */
#define MOST_SIBLINGS 16 /* files beside a type's own that are worth reading for its methods */
#define UNIFY_DEPTH   32

/* --- the index --- */

static uint64_t head_of(const types *self, type_ref type)
{
    const model_type *at = type_at(self, type);

    switch ((enum type_kind)at->kind) {
    case TYPE_ITEM: return number_map_key(TYPE_ITEM, at->item);
    case TYPE_EXTERNAL:
    case TYPE_PRIMITIVE: return number_map_key(at->kind, at->name);
    case TYPE_TUPLE: return number_map_key(TYPE_TUPLE, at->arg_count);
    case TYPE_TRAIT:
        return at->item != 0 ? number_map_key(TYPE_TRAIT, at->item)
                             : number_map_key(TYPE_KIND_COUNT, at->name);
    case TYPE_ARRAY:
    case TYPE_FUNCTION:
    case TYPE_PARAMETER:
    case TYPE_SELF:
    case TYPE_ASSOCIATED:
    case TYPE_KIND_COUNT: return number_map_key(at->kind, 0);
    case TYPE_UNKNOWN: return number_map_key(TYPE_KIND_COUNT + 1u, 0); /* 0 is no key */
    }
    return 0;
}

static uint64_t trait_key(item_ref trait_item, sym trait_path)
{
    return trait_item != 0 ? number_map_key(1, trait_item) : number_map_key(2, trait_path);
}

static const program_item *item_at(const types *self, item_ref item)
{
    return &self->program->items.at[item];
}

static ast_ref child_of(const types *self, item_ref item, enum ast_role role)
{
    return ast_child(program_tree(self->program, item_at(self, item)->file),
                     item_at(self, item)->node, role);
}

/* Append impl `ref` to the list of `key`. */
static bool chain(types *self, number_map *first, number_map *last, uint64_t key, uint32_t ref,
                  bool is_of)
{
    uint32_t *head = number_map_put(first, key, ref);
    uint32_t *tail = number_map_put(last, key, ref);

    if (head == NULL || tail == NULL)
        return false;
    if (*tail != ref) {
        impl_entry *before = &self->impls.at[*tail];

        *(is_of ? &before->next_of : &before->next_for) = ref;
        *tail = ref;
    }
    return true;
}

static cg_code add_impl(types *self, item_ref item, cg_err *reterr)
{
    impl_entry entry = {.item = item};
    file_ref file = item_at(self, item)->file;
    module_ref module = item_at(self, item)->module;
    ast_ref trait = child_of(self, item, ROLE_TRAIT);
    uint32_t ref;
    impl_entry *place;

    CG_TRY(type_of_item(self, item, &entry.self_type, reterr));
    if (trait != 0) {
        type_bindings self_only = {.self_type = entry.self_type};
        const model_type *type;

        CG_TRY(type_lower(self, module, file, trait, &self_only, &entry.trait_type, reterr));
        type = type_at(self, entry.trait_type);
        entry.trait_item = type->kind == TYPE_TRAIT ? type->item : 0;
        entry.trait_path = entry.trait_item == 0 ? type->name : 0;
    }
    place = vec_add(self->heap, &self->impls);
    if (place == NULL)
        return err_nomem(reterr);
    *place = entry;
    ref = (uint32_t)(self->impls.count - 1);
    if (!chain(self, &self->first_for, &self->last_for, head_of(self, entry.self_type), ref, false))
        return err_nomem(reterr);
    if ((entry.trait_item != 0 || entry.trait_path != 0) &&
        !chain(self, &self->first_of, &self->last_of, trait_key(entry.trait_item, entry.trait_path),
               ref, true))
        return err_nomem(reterr);
    return CG_OK;
}

/* Take in the impls of files read since. Asked while doing so, what is there must do. */
static cg_code follow(types *self, cg_err *reterr)
{
    cg_code code = CG_OK;

    if (self->is_following)
        return CG_OK;
    self->is_following = true;
    for (; code == CG_OK && self->seen_items < self->program->items.count; self->seen_items++) {
        if (item_at(self, (item_ref)self->seen_items)->kind == ITEM_IMPL)
            code = add_impl(self, (item_ref)self->seen_items, reterr);
    }
    self->is_following = false;
    return code;
}

static uint32_t first_of(const number_map *map, uint64_t key)
{
    const uint32_t *found = number_map_find(map, key);

    return found != NULL ? *found : 0;
}

static bool is_trait_impl(const types *self, const impl_entry *entry)
{
    return child_of(self, entry->item, ROLE_TRAIT) != 0;
}

/* --- parameters --- */

/* Parameters of one impl and what they turned out to be. */
typedef struct matching {
    sym names[TYPE_ARGS];
    type_ref types[TYPE_ARGS];
    size_t count;
    item_ref owner;
} matching;

/* Can `type` be what `pattern` says? Unknown parts fit everything. */
static bool unify(const types *self, type_ref pattern, type_ref type, matching *into,
                  unsigned depth)
{
    const model_type *a = type_at(self, pattern);
    const model_type *b = type_at(self, type);
    unsigned count = a->arg_count < b->arg_count ? a->arg_count : b->arg_count;

    if (pattern == type && a->kind != TYPE_PARAMETER)
        return true;
    if (pattern == 0 || type == 0 || depth >= UNIFY_DEPTH || a->kind == TYPE_ASSOCIATED)
        return true;
    if (a->kind == TYPE_PARAMETER && a->item == into->owner) {
        for (size_t i = 0; i < into->count; i++) {
            if (into->names[i] != a->name)
                continue;
            if (into->types[i] != 0 && into->types[i] != type)
                return type_at(self, type)->kind == TYPE_PARAMETER ||
                       type_at(self, into->types[i])->kind == TYPE_PARAMETER;
            into->types[i] = type;
        }
        return true;
    }
    if (b->kind == TYPE_PARAMETER || b->kind == TYPE_ASSOCIATED)
        return depth > 0; /* an argument that is not known yet */
    if (a->kind != b->kind || a->item != b->item || a->name != b->name)
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (!unify(self, a->args[i], b->args[i], into, depth + 1))
            return false;
    }
    return true;
}

static bool fits(const types *self, const impl_entry *entry, type_ref type, matching *ret)
{
    ret->owner = entry->item;
    ret->count = type_parameters(self, entry->item, ret->names);
    memset(ret->types, 0, ret->count * sizeof ret->types[0]);
    return unify(self, entry->self_type, type, ret, 0);
}

static bool keep_bindings(types *self, const matching *from, type_ref self_type, type_bindings *ret)
{
    sym *names = arena_take(&self->mem, (from->count + 1) * sizeof *names);
    type_ref *types_ = arena_take(&self->mem, (from->count + 1) * sizeof *types_);

    if (names == NULL || types_ == NULL)
        return false;
    if (from->count > 0) {
        memcpy(names, from->names, from->count * sizeof *names);
        memcpy(types_, from->types, from->count * sizeof *types_);
    }
    *ret = (type_bindings){
        .names = names, .types = types_, .count = from->count, .self_type = self_type};
    return true;
}

/* --- bounds --- */

typedef struct bound_list {
    type_ref *at;
    size_t room;
    size_t count;
} bound_list;

static cg_code add_bounds(types *self, item_ref of, ast_ref bounds, bound_list *into,
                          cg_err *reterr)
{
    file_ref file = item_at(self, of)->file;
    module_ref module = item_at(self, of)->module;

    for (ast_ref at = bounds != 0 ? ast_at(program_tree(self->program, file), bounds)->first : 0;
         at != 0; at = ast_at(program_tree(self->program, file), at)->next) {
        type_ref type = 0;

        if (ast_kind_of(program_tree(self->program, file), at) == AST_LIFETIME)
            continue;
        CG_TRY(type_lower(self, module, file, at, NULL, &type, reterr));
        if (type != 0 && into->count < into->room)
            into->at[into->count++] = type;
    }
    return CG_OK;
}

/* Bounds of the parameter `name` that `of` writes: in its list, and behind `where`. */
static cg_code bounds_in(types *self, item_ref of, sym name, bound_list *into, cg_err *reterr)
{
    file_ref file = item_at(self, of)->file;
    ast_ref node = item_at(self, of)->node;
    const ast *tree = program_tree(self->program, file);
    ast_ref list = ast_child(tree, node, ROLE_TYPE_PARAMETERS);
    ast_ref clause = ast_child_kind(tree, node, AST_WHERE_CLAUSE);

    for (ast_ref at = list != 0 ? ast_at(tree, list)->first : 0; at != 0;
         at = ast_at(tree, at)->next) {
        ast_ref label = ast_child(tree, at, ROLE_NAME);

        if (label != 0 && ast_at(tree, label)->text == name) {
            CG_TRY(add_bounds(self, of, ast_child(tree, at, ROLE_BOUNDS), into, reterr));
            tree = program_tree(self->program, file);
        }
    }
    for (ast_ref at = clause != 0 ? ast_at(tree, clause)->first : 0; at != 0;
         at = ast_at(tree, at)->next) {
        ast_ref left = ast_child(tree, at, ROLE_LEFT);

        if (left != 0 && ast_at(tree, left)->text == name) {
            CG_TRY(add_bounds(self, of, ast_child(tree, at, ROLE_BOUNDS), into, reterr));
            tree = program_tree(self->program, file);
        }
    }
    return CG_OK;
}

/*
 * What a parameter, `Self` of a trait, `impl Trait` or associated type is known to be: TYPE_TRAIT
 * (supertraits not included) and TYPE_FUNCTION. At most `room` are written to `ret`.
 */
static cg_code type_bounds(types *self, type_ref type, type_ref *ret, size_t room,
                           size_t *ret_count, cg_err *reterr);

/* Bounds of `type Name: Bound;` in the trait an associated type belongs to. */
static cg_code associated_bounds(types *self, const model_type *type, bound_list *into,
                                 cg_err *reterr)
{
    type_ref traits[MOST_BOUNDS];
    size_t count = 0;
    sym name = type->name;

    if (type->item != 0) {
        const model_type shape = {.kind = TYPE_TRAIT, .item = type->item};

        CG_TRY(type_make(self, &shape, &traits[0], reterr));
        count = 1;
    } else if (type_at(self, type->args[0])->kind != TYPE_ASSOCIATED) {
        CG_TRY(type_bounds(self, type->args[0], traits, MOST_BOUNDS, &count, reterr));
    }
    for (size_t i = 0; i < count; i++) {
        item_ref trait = type_at(self, traits[i])->item;

        if (type_at(self, traits[i])->kind != TYPE_TRAIT || trait == 0)
            continue;
        for (item_ref at = item_at(self, trait)->first_in_owner; at != 0;
             at = item_at(self, at)->next_in_owner) {
            if (item_at(self, at)->kind == ITEM_TYPE_ALIAS && item_at(self, at)->name == name)
                CG_TRY(add_bounds(self, at, child_of(self, at, ROLE_BOUNDS), into, reterr));
        }
    }
    return CG_OK;
}

static cg_code type_bounds(types *self, type_ref type, type_ref *ret, size_t room,
                           size_t *ret_count, cg_err *reterr)
{
    model_type at = *type_at(self, type);
    bound_list into = {.at = ret, .room = room};

    switch ((enum type_kind)at.kind) {
    case TYPE_PARAMETER: {
        item_ref owner = at.item;

        /* methods may bound a parameter of their impl or trait once more; the callee does not say
           which method asks, so that only the declaring item counts */
        if (owner != 0)
            CG_TRY(bounds_in(self, owner, at.name, &into, reterr));
        break;
    }
    case TYPE_SELF: {
        const model_type shape = {.kind = TYPE_TRAIT, .item = at.item};

        if (room > 0) {
            CG_TRY(type_make(self, &shape, &ret[0], reterr));
            into.count = 1;
        }
        break;
    }
    case TYPE_TRAIT:
    case TYPE_FUNCTION:
        if (room > 0)
            ret[into.count++] = type;
        break;
    case TYPE_ASSOCIATED: CG_TRY(associated_bounds(self, &at, &into, reterr)); break;
    case TYPE_UNKNOWN:
    case TYPE_ITEM:
    case TYPE_EXTERNAL:
    case TYPE_PRIMITIVE:
    case TYPE_TUPLE:
    case TYPE_ARRAY:
    case TYPE_KIND_COUNT: break;
    }
    *ret_count = into.count;
    return CG_OK;
}

/* --- members --- */

/* Best of several alternatives: built before undecided, then the first. */
typedef struct choice {
    item_ref member;
    item_ref impl;
    int8_t cfg;
    bool is_ambiguous;
    matching match;
} choice;

static item_ref find_in(const types *self, item_ref owner, enum item_kind kind, sym name,
                        bool *ret_is_ambiguous)
{
    item_ref best = 0;

    for (item_ref at = item_at(self, owner)->first_in_owner; at != 0;
         at = item_at(self, at)->next_in_owner) {
        const program_item *member = item_at(self, at);

        if (member->kind != kind || member->name != name)
            continue;
        if (best != 0 && item_at(self, best)->cfg >= member->cfg) {
            *ret_is_ambiguous = *ret_is_ambiguous || (item_at(self, best)->cfg == 0);
            continue;
        }
        best = at;
    }
    return best;
}

static void choose(const types *self, const impl_entry *entry, item_ref member, bool is_ambiguous,
                   const matching *match, choice *best)
{
    int8_t cfg = item_at(self, member)->cfg;

    if (best->member != 0 && best->cfg >= cfg) {
        best->is_ambiguous = best->is_ambiguous || best->cfg == 0;
        return;
    }
    best->member = member;
    best->impl = entry->item;
    best->cfg = cfg;
    best->is_ambiguous = is_ambiguous;
    best->match = *match;
}

/* In the impls for the head of `type`: inherent ones, or those of traits. */
static void search_impls(const types *self, type_ref type, bool is_trait, enum item_kind kind,
                         sym name, choice *best)
{
    matching match;

    for (uint32_t at = first_of(&self->first_for, head_of(self, type)); at != 0;
         at = self->impls.at[at].next_for) {
        const impl_entry *entry = &self->impls.at[at];
        bool is_ambiguous = false;
        item_ref member;

        if (is_trait_impl(self, entry) != is_trait)
            continue;
        member = find_in(self, entry->item, kind, name, &is_ambiguous);
        if (member != 0 && fits(self, entry, type, &match))
            choose(self, entry, member, is_ambiguous, &match, best);
    }
}

/* `trait` and the traits it asks for, breadth first. */
static cg_code traits_above(types *self, item_ref trait, item_ref ret[MOST_TRAITS],
                            size_t *ret_count, cg_err *reterr)
{
    size_t count = 1;

    ret[0] = trait;
    for (size_t i = 0; i < count; i++) {
        type_ref found[MOST_BOUNDS];
        bound_list into = {.at = found, .room = MOST_BOUNDS};

        CG_TRY(add_bounds(self, ret[i], child_of(self, ret[i], ROLE_BOUNDS), &into, reterr));
        for (size_t k = 0; k < into.count; k++) {
            item_ref above = type_at(self, found[k])->item;
            bool is_new = type_at(self, found[k])->kind == TYPE_TRAIT && above != 0;

            for (size_t m = 0; m < count; m++)
                is_new = is_new && ret[m] != above;
            if (is_new && count < MOST_TRAITS)
                ret[count++] = above;
        }
    }
    *ret_count = count;
    return CG_OK;
}

/* A member of the trait or of one above it, as it is declared there. */
static cg_code search_trait(types *self, item_ref trait, enum item_kind kind, sym name,
                            item_ref *ret, bool *ret_is_ambiguous, cg_err *reterr)
{
    item_ref traits[MOST_TRAITS];
    size_t count = 0;

    *ret = 0;
    CG_TRY(traits_above(self, trait, traits, &count, reterr));
    for (size_t i = 0; i < count && *ret == 0; i++)
        *ret = find_in(self, traits[i], kind, name, ret_is_ambiguous);
    return CG_OK;
}

/* The arguments an impl gives to the parameters of its trait, as bindings. */
static cg_code trait_bindings(types *self, const impl_entry *entry, const matching *match,
                              type_ref self_type, type_bindings *ret, cg_err *reterr)
{
    type_bindings own = {.names = match->names,
                         .types = match->types,
                         .count = match->count,
                         .self_type = self_type};
    type_ref trait = 0;
    matching wanted;

    CG_TRY(type_substitute(self, entry->trait_type, &own, &trait, reterr));
    wanted.count = type_parameters(self, entry->trait_item, wanted.names);
    for (size_t i = 0; i < wanted.count; i++)
        wanted.types[i] = i < type_at(self, trait)->arg_count ? type_at(self, trait)->args[i] : 0;
    return keep_bindings(self, &wanted, self_type, ret) ? CG_OK : err_nomem(reterr);
}

/* Do the bounds of a blanket impl's parameters hold? What nobody knows is taken to hold. */
static cg_code bounds_hold(types *self, const impl_entry *entry, type_ref type, bool *ret,
                           cg_err *reterr)
{
    const model_type *parameter = type_at(self, entry->self_type);
    type_ref found[MOST_BOUNDS];
    size_t count = 0;

    *ret = true;
    if (parameter->kind != TYPE_PARAMETER)
        return CG_OK;
    CG_TRY(type_bounds(self, entry->self_type, found, MOST_BOUNDS, &count, reterr));
    for (size_t i = 0; i < count && *ret; i++) {
        const model_type *bound = type_at(self, found[i]);

        /* a bound by the impl's own trait would ask in circles */
        if (bound->kind != TYPE_TRAIT || bound->item == 0 || bound->item == entry->trait_item)
            continue;
        *ret = first_of(&self->first_of, trait_key(bound->item, 0)) != 0;
        for (uint32_t at = first_of(&self->first_of, trait_key(bound->item, 0)); at != 0;
             at = self->impls.at[at].next_of) {
            matching match;

            *ret = fits(self, &self->impls.at[at], type, &match);
            if (*ret)
                break;
        }
    }
    return CG_OK;
}

static cg_code finish(types *self, const choice *best, type_ref type, method_found *ret,
                      cg_err *reterr)
{
    ret->function = best->member;
    ret->impl = best->impl;
    ret->is_ambiguous = best->is_ambiguous;
    return keep_bindings(self, &best->match, type, &ret->bindings) ? CG_OK : err_nomem(reterr);
}

/* The default a trait of the impl declares, bound to `type`. */
static cg_code take_default(types *self, const impl_entry *from, const matching *match,
                            enum item_kind kind, sym name, type_ref type, method_found *ret,
                            cg_err *reterr)
{
    impl_entry entry = *from;

    if (entry.trait_item == 0)
        return CG_OK;
    ret->function = find_in(self, entry.trait_item, kind, name, &ret->is_ambiguous);
    return ret->function != 0 ? trait_bindings(self, &entry, match, type, &ret->bindings, reterr)
                              : CG_OK;
}

/* What the traits implemented for the head of `type` declare themselves. */
static cg_code search_defaults(types *self, type_ref type, enum item_kind kind, sym name,
                               method_found *ret, cg_err *reterr)
{
    for (uint32_t at = first_of(&self->first_for, head_of(self, type));
         at != 0 && ret->function == 0; at = self->impls.at[at].next_for) {
        matching match;

        if (self->impls.at[at].trait_item != 0 && fits(self, &self->impls.at[at], type, &match))
            CG_TRY(take_default(self, &self->impls.at[at], &match, kind, name, type, ret, reterr));
    }
    return CG_OK;
}

/* impl<T: Bound> Trait for T */
static cg_code search_blankets(types *self, type_ref type, item_ref trait_item, sym trait_path,
                               enum item_kind kind, sym name, method_found *ret, cg_err *reterr)
{
    for (uint32_t at = first_of(&self->first_for, number_map_key(TYPE_PARAMETER, 0));
         at != 0 && ret->function == 0; at = self->impls.at[at].next_for) {
        impl_entry entry = self->impls.at[at];
        choice best = {.impl = entry.item};
        bool holds = false;

        if ((trait_item != 0 && entry.trait_item != trait_item) ||
            (trait_path != 0 && entry.trait_path != trait_path))
            continue;
        best.member = find_in(self, entry.item, kind, name, &best.is_ambiguous);
        if (best.member == 0 && (entry.trait_item == 0 || find_in(self, entry.trait_item, kind,
                                                                  name, &best.is_ambiguous) == 0))
            continue;
        if (!fits(self, &entry, type, &best.match))
            continue;
        CG_TRY(bounds_hold(self, &entry, type, &holds, reterr));
        if (!holds)
            continue;
        if (best.member != 0)
            CG_TRY(finish(self, &best, type, ret, reterr));
        else
            CG_TRY(take_default(self, &entry, &best.match, kind, name, type, ret, reterr));
    }
    return CG_OK;
}

/* By what is known of a parameter or trait object. */
static cg_code search_bounds(types *self, type_ref type, enum item_kind kind, sym name,
                             method_found *ret, cg_err *reterr)
{
    type_ref bounds[MOST_BOUNDS];
    size_t count = 0;

    CG_TRY(type_bounds(self, type, bounds, MOST_BOUNDS, &count, reterr));
    for (size_t i = 0; i < count && ret->function == 0; i++) {
        model_type trait = *type_at(self, bounds[i]);
        matching match;

        if (trait.kind != TYPE_TRAIT || trait.item == 0)
            continue;
        CG_TRY(
            search_trait(self, trait.item, kind, name, &ret->function, &ret->is_ambiguous, reterr));
        match.count = type_parameters(self, trait.item, match.names);
        for (size_t k = 0; k < match.count; k++)
            match.types[k] = k < trait.arg_count ? trait.args[k] : 0;
        if (ret->function != 0 && !keep_bindings(self, &match, type, &ret->bindings))
            return err_nomem(reterr);
    }
    return CG_OK;
}

static bool is_open_kind(uint8_t kind)
{
    return kind == TYPE_PARAMETER || kind == TYPE_TRAIT || kind == TYPE_SELF ||
           kind == TYPE_ASSOCIATED;
}

static cg_code search(types *self, type_ref type, enum item_kind kind, sym name, method_found *ret,
                      cg_err *reterr)
{
    choice best = {0};

    *ret = (method_found){0};
    search_impls(self, type, false, kind, name, &best);
    if (best.member == 0)
        search_impls(self, type, true, kind, name, &best);
    if (best.member != 0)
        return finish(self, &best, type, ret, reterr);
    CG_TRY(search_defaults(self, type, kind, name, ret, reterr));
    if (ret->function == 0 && is_open_kind(type_at(self, type)->kind))
        CG_TRY(search_bounds(self, type, kind, name, ret, reterr));
    if (ret->function == 0)
        CG_TRY(search_blankets(self, type, 0, 0, kind, name, ret, reterr));
    return CG_OK;
}

/* --- files that are not read yet --- */

static bool is_below(const program *of, module_ref module, module_ref above)
{
    while (module != 0 && module != above)
        module = of->modules.at[module].parent;
    return module == above;
}

/*
 * Read what lies around a type of a dependency: first what is below its module, the next time what
 * is beside it. *ret_is_more: something was read.
 */
static cg_code open_around(types *self, type_ref type, bool *ret_is_more, cg_err *reterr)
{
    program *of = self->program;
    item_ref item = type_at(self, type)->item;
    module_ref module = item != 0 ? item_at(self, item)->module : 0;
    module_ref parent = of->modules.at[module].parent;
    size_t siblings = 0;
    uint32_t *stage = NULL;

    *ret_is_more = false;
    if (module != 0) {
        stage = number_map_put(&self->opened, number_map_key(1, module), 0);
        if (stage == NULL)
            return err_nomem(reterr);
    }
    for (; stage != NULL && *stage < 2 && !*ret_is_more; ++*stage) {
        for (size_t i = 1; i < of->modules.count; i++)
            siblings += of->modules.at[i].is_pending && of->modules.at[i].parent == parent;
        for (size_t i = 1; i < of->modules.count; i++) {
            const program_module *at = &of->modules.at[i];

            if (!at->is_pending || of->crates.at[at->crate].is_scanned ||
                !(*stage == 0 ? is_below(of, (module_ref)i, module)
                              : at->parent == parent && siblings <= MOST_SIBLINGS))
                continue;
            CG_TRY(program_open(of, (module_ref)i, reterr));
            *ret_is_more = true;
        }
    }
    return CG_OK;
}

/* Box<T>, Rc<T>, Arc<T>: methods of T. */
static type_ref inside_pointer(const types *self, type_ref type)
{
    const model_type *at = type_at(self, type);
    cg_str path;

    if (at->kind != TYPE_EXTERNAL || at->arg_count == 0)
        return 0;
    path = program_text(self->program, at->name);
    return str_equal(path, CG_LIT("std::boxed::Box")) || str_equal(path, CG_LIT("std::rc::Rc")) ||
                   str_equal(path, CG_LIT("std::sync::Arc"))
               ? at->args[0]
               : 0;
}

static cg_code find_member(types *self, type_ref type, enum item_kind kind, sym name,
                           method_found *ret, cg_err *reterr)
{
    *ret = (method_found){0};
    for (; type != 0 && ret->function == 0; type = inside_pointer(self, type)) {
        bool is_more = true;

        while (is_more && ret->function == 0) {
            CG_TRY(follow(self, reterr));
            CG_TRY(search(self, type, kind, name, ret, reterr));
            is_more = false;
            if (ret->function == 0)
                CG_TRY(open_around(self, type, &is_more, reterr));
        }
    }
    return CG_OK;
}

/* As type_find_method, for a member of that kind: ITEM_FUNCTION, ITEM_CONST, ITEM_TYPE_ALIAS. */
static cg_code type_find_member(types *self, type_ref type, enum item_kind kind, sym name,
                                method_found *ret, cg_err *reterr)
{
    uint64_t key = number_map_key(type, name * 16 + (uint32_t)kind);
    const uint32_t *known;
    method_found found;
    method_memory *place;
    uint32_t *slot;

    CG_TRY(follow(self, reterr));
    known = number_map_find(&self->methods, key);
    if (known != NULL && self->remembered.at[*known].impls == self->impls.count) {
        *ret = self->remembered.at[*known].found;
        return CG_OK;
    }
    CG_TRY(find_member(self, type, kind, name, &found, reterr));
    place = vec_add(self->heap, &self->remembered);
    slot = number_map_put(&self->methods, key, 0);
    if (place == NULL || slot == NULL)
        return err_nomem(reterr);
    *place = (method_memory){.found = found, .impls = self->impls.count};
    *slot = (uint32_t)(self->remembered.count - 1);
    *ret = found;
    return CG_OK;
}

cg_code type_find_method(types *self, type_ref type, sym name, method_found *ret, cg_err *reterr)
{
    return type_find_member(self, type, ITEM_FUNCTION, name, ret, reterr);
}

/* --- by trait --- */

static cg_code find_by_trait(types *self, type_ref type, item_ref trait_item, sym trait_path,
                             enum item_kind kind, sym name, method_found *ret, cg_err *reterr)
{
    choice best = {0};
    uint64_t key = trait_key(trait_item, trait_path);
    uint32_t fallback = 0;
    matching match;

    *ret = (method_found){0};
    for (uint32_t at = first_of(&self->first_of, key); at != 0; at = self->impls.at[at].next_of) {
        const impl_entry *entry = &self->impls.at[at];
        bool is_ambiguous = false;
        item_ref member;

        if (head_of(self, entry->self_type) != head_of(self, type) ||
            !fits(self, entry, type, &match))
            continue;
        fallback = fallback != 0 ? fallback : at;
        member = find_in(self, entry->item, kind, name, &is_ambiguous);
        if (member != 0)
            choose(self, entry, member, is_ambiguous, &match, &best);
    }
    if (best.member != 0)
        return finish(self, &best, type, ret, reterr);
    if (fallback != 0 && fits(self, &self->impls.at[fallback], type, &match))
        CG_TRY(
            take_default(self, &self->impls.at[fallback], &match, kind, name, type, ret, reterr));
    if (ret->function == 0)
        CG_TRY(search_blankets(self, type, trait_item, trait_path, kind, name, ret, reterr));
    if (ret->function == 0 && trait_item != 0 &&
        (is_open_kind(type_at(self, type)->kind) || type == 0)) {
        match.count = 0;
        CG_TRY(
            search_trait(self, trait_item, kind, name, &ret->function, &ret->is_ambiguous, reterr));
        if (ret->function != 0 && !keep_bindings(self, &match, type, &ret->bindings))
            return err_nomem(reterr);
    }
    return CG_OK;
}

/* `candle_nn::Module` is asked for by that name too. */
static cg_code canonical_trait(types *self, sym *path, cg_err *reterr)
{
    if (*path == 0)
        return CG_OK;
    *path = names_canonical(self->program, program_text(self->program, *path));
    return *path != 0 ? CG_OK : err_nomem(reterr);
}

cg_code type_find_trait_method(types *self, type_ref type, item_ref trait_item, sym trait_path,
                               sym name, method_found *ret, cg_err *reterr)
{
    method_found found = {0};
    bool is_more = false;

    CG_TRY(canonical_trait(self, &trait_path, reterr));
    if (trait_item == 0 && trait_path == 0)
        return type_find_method(self, type, name, ret, reterr);
    do {
        CG_TRY(follow(self, reterr));
        CG_TRY(
            find_by_trait(self, type, trait_item, trait_path, ITEM_FUNCTION, name, &found, reterr));
        is_more = false;
        if (found.function == 0)
            CG_TRY(open_around(self, type, &is_more, reterr));
    } while (is_more);
    *ret = found;
    return CG_OK;
}

cg_code type_implements(types *self, type_ref type, item_ref trait_item, sym trait_path, bool *ret,
                        cg_err *reterr)
{
    matching match;
    bool holds = false;

    CG_TRY(canonical_trait(self, &trait_path, reterr));
    CG_TRY(follow(self, reterr));
    for (uint32_t at = first_of(&self->first_of, trait_key(trait_item, trait_path));
         at != 0 && !holds; at = self->impls.at[at].next_of) {
        impl_entry entry = self->impls.at[at];

        if (!fits(self, &entry, type, &match))
            continue;
        CG_TRY(bounds_hold(self, &entry, type, &holds, reterr));
    }
    *ret = holds;
    return CG_OK;
}

/* --- lists --- */

/* The items of a chain of impls, made anew when impls were added since. */
static cg_code listed(types *self, uint64_t key, uint32_t first, bool is_of, const item_ref **ret,
                      size_t *ret_count, cg_err *reterr)
{
    uint32_t *known = number_map_put(&self->lists, key << 1 | is_of, UINT32_MAX);
    item_list *list;
    item_ref *at;
    size_t count = 0;

    if (known == NULL)
        return err_nomem(reterr);
    if (*known == UINT32_MAX) {
        list = vec_add(self->heap, &self->listed);
        if (list == NULL)
            return err_nomem(reterr);
        *list = (item_list){0};
        *known = (uint32_t)(self->listed.count - 1);
    }
    list = &self->listed.at[*known];
    if (list->impls != self->impls.count) {
        for (uint32_t i = first; i != 0;
             i = is_of ? self->impls.at[i].next_of : self->impls.at[i].next_for)
            count++;
        at = arena_take(&self->mem, (count + 1) * sizeof *at);
        if (at == NULL)
            return err_nomem(reterr);
        *list = (item_list){.at = at, .count = count, .impls = self->impls.count};
        for (uint32_t i = first; i != 0;
             i = is_of ? self->impls.at[i].next_of : self->impls.at[i].next_for)
            *at++ = self->impls.at[i].item;
    }
    *ret = list->at;
    *ret_count = list->count;
    return CG_OK;
}

cg_code type_impls_of(types *self, item_ref trait_item, sym trait_path, const item_ref **ret,
                      size_t *ret_count, cg_err *reterr)
{
    uint64_t key;

    CG_TRY(canonical_trait(self, &trait_path, reterr));
    CG_TRY(follow(self, reterr));
    key = trait_key(trait_item, trait_path);
    return listed(self, key, first_of(&self->first_of, key), true, ret, ret_count, reterr);
}

cg_code type_impls_for(types *self, item_ref type_item, const item_ref **ret, size_t *ret_count,
                       cg_err *reterr)
{
    uint64_t key = number_map_key(TYPE_ITEM, type_item);

    CG_TRY(follow(self, reterr));
    return listed(self, key, first_of(&self->first_for, key), false, ret, ret_count, reterr);
}

/* --- associated types --- */

cg_code type_associated(types *self, type_ref base, item_ref trait_item, sym name, type_ref *ret,
                        cg_err *reterr)
{
    model_type shape = {
        .kind = TYPE_ASSOCIATED, .item = trait_item, .name = name, .arg_count = 1, .args = &base};
    method_found found = {0};
    program_item item;

    *ret = 0;
    if (base == 0)
        return CG_OK;
    if (self->calls >= TYPE_CALLS) /* types that are defined by themselves */
        return type_make(self, &shape, ret, reterr);
    CG_TRY(follow(self, reterr));
    if (trait_item != 0)
        CG_TRY(find_by_trait(self, base, trait_item, 0, ITEM_TYPE_ALIAS, name, &found, reterr));
    else
        CG_TRY(search(self, base, ITEM_TYPE_ALIAS, name, &found, reterr));
    if (found.function != 0 && child_of(self, found.function, ROLE_TYPE) != 0) {
        item = *item_at(self, found.function);
        return type_lower(self, item.module, item.file, child_of(self, found.function, ROLE_TYPE),
                          &found.bindings, ret, reterr);
    }
    return type_make(self, &shape, ret, reterr);
}

/* --- paths of expressions --- */

/* `owner::name`, when the owner is what is known. */
static cg_code member_of(types *self, path_meaning *ret, cg_err *reterr)
{
    model_type owner = *type_at(self, ret->owner);
    cg_str parent;
    cg_str last;
    cg_str path;

    CG_TRY(type_find_method(self, ret->owner, ret->name, &ret->found, reterr));
    if (ret->found.function == 0)
        CG_TRY(type_find_member(self, ret->owner, ITEM_CONST, ret->name, &ret->found, reterr));
    if (ret->found.function != 0) {
        ret->def = (name_def){.kind = DEF_ITEM, .item = ret->found.function};
        return CG_OK;
    }
    if (owner.kind == TYPE_ITEM && item_at(self, owner.item)->kind == ITEM_ENUM) {
        bool is_ambiguous = false;
        item_ref variant = find_in(self, owner.item, ITEM_VARIANT, ret->name, &is_ambiguous);

        if (variant != 0) {
            ret->def = (name_def){.kind = DEF_ITEM, .item = variant};
            return CG_OK;
        }
    }
    if (owner.kind != TYPE_EXTERNAL && owner.kind != TYPE_PRIMITIVE &&
        !(owner.kind == TYPE_TRAIT && owner.name != 0))
        return CG_OK;
    parent = program_text(self->program, owner.name);
    last = program_text(self->program, ret->name);
    if (!arena_format(&self->mem, &path, "%.*s::%.*s", (int)parent.len, parent.ptr, (int)last.len,
                      last.ptr))
        return err_nomem(reterr);
    ret->def = (name_def){.kind = DEF_EXTERNAL, .path = names_canonical(self->program, path)};
    return ret->def.path != 0 ? CG_OK : err_nomem(reterr);
}

/* `<T as Trait>::name` */
static cg_code resolve_qualified(types *self, module_ref module, file_ref file, ast_ref bracket,
                                 const type_bindings *bindings, path_meaning *ret, cg_err *reterr)
{
    const ast *tree = program_tree(self->program, file);
    ast_ref inside = ast_at(tree, bracket)->first;
    ast_ref trait =
        ast_kind_of(tree, inside) == AST_QUALIFIED_TYPE ? ast_child(tree, inside, ROLE_ALIAS) : 0;
    type_ref as = 0;

    CG_TRY(type_lower(self, module, file, inside, bindings, &ret->owner, reterr));
    if (trait == 0)
        return member_of(self, ret, reterr);
    CG_TRY(type_lower(self, module, file, trait, bindings, &as, reterr));
    if (as != 0)
        CG_TRY(type_find_trait_method(self, ret->owner, type_at(self, as)->item,
                                      type_at(self, as)->item == 0 ? type_at(self, as)->name : 0,
                                      ret->name, &ret->found, reterr));
    if (ret->found.function == 0)
        return member_of(self, ret, reterr);
    ret->def = (name_def){.kind = DEF_ITEM, .item = ret->found.function};
    return CG_OK;
}

cg_code type_resolve(types *self, module_ref module, file_ref file, ast_ref path,
                     const type_bindings *bindings, path_meaning *ret, cg_err *reterr)
{
    const ast *tree = program_tree(self->program, file);
    path_meaning made = {0};
    ast_ref before;
    ast_ref name;
    bool is_settled;

    if (ast_kind_of(tree, path) == AST_GENERIC_FUNCTION)
        path = ast_child(tree, path, ROLE_FUNCTION);
    *ret = made;
    if (path == 0)
        return CG_OK;
    before = ast_child(tree, path, ROLE_PATH);
    name = ast_child(tree, path, ROLE_NAME);
    made.name = ast_at(tree, name != 0 ? name : path)->text;
    if (before != 0 && ast_kind_of(tree, before) == AST_BRACKETED_TYPE) {
        CG_TRY(resolve_qualified(self, module, file, before, bindings, &made, reterr));
        *ret = made;
        return CG_OK;
    }
    CG_TRY(names_resolve(self->program, module, file, path, SPACE_VALUE, &made.def, reterr));
    is_settled = made.def.rest == 0 && (made.def.kind == DEF_ITEM || made.def.kind == DEF_MODULE);
    if (before != 0 && !is_settled) {
        name_def as_name = made.def;

        CG_TRY(type_lower(self, module, file, before, bindings, &made.owner, reterr));
        if (made.owner != 0)
            CG_TRY(member_of(self, &made, reterr));
        if (made.def.kind == DEF_NONE)
            made.def = as_name;
    }
    if (before == 0 && made.def.kind == DEF_SELF_TYPE) { /* Self(..): the type is the function */
        CG_TRY(type_lower(self, module, file, path, bindings, &made.owner, reterr));
        if (type_at(self, made.owner)->kind == TYPE_ITEM)
            made.def = (name_def){.kind = DEF_ITEM, .item = type_at(self, made.owner)->item};
    }
    *ret = made;
    return CG_OK;
}
