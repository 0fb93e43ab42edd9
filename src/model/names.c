#include "model/names.h"

#include "model/canonical.h"
#include "model/scopes.h"

#define NO_CUT     UINT32_MAX
#define MOST_STEPS 20000u /* modules looked into for one answer */

/* Who asks a module for a name: what is private is seen from inside only. */
enum viewer { FROM_INSIDE, FROM_CRATE, FROM_OUTSIDE, VIEWER_COUNT };

static cg_code member(names *self, module_ref module, sym name, enum name_space space,
                      enum viewer viewer, name_def *ret, cg_err *reterr);
static cg_code resolve(names *self, module_ref module, const import *from, const sym *segments,
                       size_t count, bool is_global, enum name_space space, name_def *ret,
                       cg_err *reterr);

/* --- questions in progress --- */

static cg_code begin(program *of, names **ret, cg_err *reterr)
{
    if (of->scopes == NULL)
        CG_TRY(scopes_new(of, ret, reterr));
    *ret = of->scopes;
    of->scopes->active.count = 0;
    of->scopes->cut = NO_CUT;
    of->scopes->fuel = MOST_STEPS;
    return scopes_follow(of->scopes, reterr);
}

/* Begin to answer `key`; *ret_is_open is false when that is being done already or goes too deep. */
static cg_code enter(names *self, uint64_t key, bool *ret_is_open, cg_err *reterr)
{
    uint64_t *place;

    *ret_is_open = false;
    for (uint32_t i = 0; i < self->active.count; i++) {
        if (self->active.at[i] != key)
            continue;
        self->cut = i < self->cut ? i : self->cut;
        return CG_OK;
    }
    if (self->active.count >= NAMES_DEPTH || self->fuel == 0) {
        self->cut = 0;
        return CG_OK;
    }
    self->fuel--;
    place = vec_add(self->program->heap, &self->active);
    if (place == NULL)
        return err_nomem(reterr);
    *place = key;
    *ret_is_open = true;
    return CG_OK;
}

/* End it: is the answer one for ever, or did it leave open what an outer question asks? */
static bool leave(names *self)
{
    uint32_t depth = (uint32_t)--self->active.count;

    if (self->cut == NO_CUT)
        return true;
    if (self->cut < depth)
        return false;
    if (self->fuel > 0)
        self->cut = NO_CUT;
    return self->fuel > 0;
}

static cg_code remember(names *self, number_map *map, uint64_t key, const name_def *answer,
                        cg_err *reterr)
{
    name_def *place = vec_add(self->program->heap, &self->answers);
    uint32_t *slot = number_map_put(map, key, 0);

    if (place == NULL || slot == NULL)
        return err_nomem(reterr);
    *place = *answer;
    *slot = (uint32_t)(self->answers.count - 1);
    return CG_OK;
}

static bool recall(const names *self, const number_map *map, uint64_t key, name_def *ret)
{
    const uint32_t *known = number_map_find(map, key);

    if (known != NULL)
        *ret = self->answers.at[*known];
    return known != NULL;
}

/* --- what lies outside --- */

static sym canonical(names *self, sym path)
{
    uint32_t *known = number_map_put(&self->canonical, number_map_key(1, path), 0);
    char out[CANONICAL_ROOM];
    sym found = path;
    size_t len;

    if (known == NULL || path == 0)
        return 0;
    if (*known == 0) {
        len = canonical_path(program_text(self->program, path), out);
        if (len > 0)
            found = intern_add(&self->program->names, (cg_str){out, len});
        *known = found;
    }
    return *known;
}

/* `path::name`, canonical; 0: out of memory. */
static sym child_of(names *self, sym path, sym name)
{
    uint32_t *known = number_map_put(&self->children, number_map_key(path, name), 0);
    cg_str parent;
    cg_str last;
    cg_str whole;

    if (known == NULL)
        return 0;
    if (*known == 0) {
        parent = program_text(self->program, path);
        last = program_text(self->program, name);
        if (!arena_format(&self->program->mem, &whole, "%.*s::%.*s", (int)parent.len, parent.ptr,
                          (int)last.len, last.ptr))
            return 0;
        *known = canonical(self, intern_add(&self->program->names, whole));
    }
    return *known;
}

static cg_code external_child(names *self, sym path, sym name, name_def *ret, cg_err *reterr)
{
    *ret = (name_def){.kind = DEF_EXTERNAL, .path = child_of(self, path, name)};
    return ret->path != 0 ? CG_OK : err_nomem(reterr);
}

/* The crate of that name as seen from the crate of `module`. */
static cg_code extern_crate(names *self, module_ref module, sym name, name_def *ret, cg_err *reterr)
{
    program *of = self->program;
    crate_ref crate = 0;

    *ret = (name_def){.kind = DEF_NONE};
    CG_TRY(program_extern(of, of->modules.at[module].crate, name, &crate, reterr));
    if (crate == 0)
        return CG_OK;
    CG_TRY(scopes_follow(self, reterr));
    if (of->crates.at[crate].kind == CRATE_SOURCE && of->crates.at[crate].root != 0) {
        *ret = (name_def){.kind = DEF_MODULE, .module = of->crates.at[crate].root};
        return CG_OK;
    }
    *ret = (name_def){.kind = DEF_EXTERNAL, .path = canonical(self, of->crates.at[crate].name)};
    return ret->path != 0 ? CG_OK : err_nomem(reterr);
}

/* --- members of a module --- */

static enum viewer viewer_of(const program *of, module_ref from, module_ref module)
{
    if (of->modules.at[from].crate != of->modules.at[module].crate)
        return FROM_OUTSIDE;
    while (from != 0 && from != module)
        from = of->modules.at[from].parent;
    return from == module ? FROM_INSIDE : FROM_CRATE;
}

static bool is_seen(enum viewer viewer, uint8_t visibility)
{
    return viewer == FROM_INSIDE || visibility == VISIBLE_PUBLIC ||
           (viewer == FROM_CRATE && visibility != VISIBLE_PRIVATE);
}

static item_ref variant_of(const program *of, item_ref owner, sym name)
{
    if (of->items.at[owner].kind != ITEM_ENUM)
        return 0;
    for (item_ref at = of->items.at[owner].first_in_owner; at != 0;
         at = of->items.at[at].next_in_owner) {
        if (of->items.at[at].name == name)
            return at;
    }
    return 0;
}

static cg_code import_meaning(names *self, uint32_t ref, enum name_space space, name_def *ret,
                              cg_err *reterr)
{
    sym segments[PATH_SEGMENTS];
import leaf = self->imports.at[ref];
    bool is_open;

    *ret = leaf.found[space];
    if (leaf.state[space] == IMPORT_KNOWN)
        return CG_OK;
    *ret = (name_def){.kind = DEF_NONE};
    CG_TRY(enter(self, UINT64_C(1) << 63 | (uint64_t)ref << 2 | space, &is_open, reterr));
    if (!is_open)
        return CG_OK;
    memcpy(segments, self->segments.at + leaf.first, leaf.count * sizeof segments[0]);
    CG_TRY(resolve(self, leaf.module, &leaf, segments, leaf.count, leaf.is_global, space, ret,
                   reterr));
    if (ret->rest > 0 || ret->kind == DEF_SELF_TYPE)
        *ret = (name_def){.kind = DEF_NONE};
    if (leave(self)) {
        self->imports.at[ref].state[space] = IMPORT_KNOWN;
        self->imports.at[ref].found[space] = *ret;
    }
    return CG_OK;
}

static cg_code binding_meaning(names *self, uint32_t ref, enum name_space space, name_def *ret,
                               cg_err *reterr)
{
    binding at = self->bindings.at[ref];

    switch (at.kind) {
    case BIND_ITEM: *ret = (name_def){.kind = DEF_ITEM, .item = at.target}; return CG_OK;
    case BIND_MODULE: *ret = (name_def){.kind = DEF_MODULE, .module = at.target}; return CG_OK;
    default: return import_meaning(self, at.target, space, ret, reterr);
    }
}

/* Items before what an import of a library may bind; what is built before what may be. */
static cg_code explicit_member(names *self, module_ref module, sym name, enum name_space space,
                               enum viewer viewer, name_def *ret, cg_err *reterr)
{
    const uint32_t *last = number_map_find(&self->by_name, number_map_key(module, name));
    int best = -1;

    for (uint32_t at = last != NULL ? *last : 0; at != 0; at = self->bindings.at[at].earlier) {
        const binding *one = &self->bindings.at[at];
        int8_t cfg = one->cfg;
        name_def found;
        int rank;

        if ((one->spaces & SPACE_BIT(space)) == 0 || !is_seen(viewer, one->visibility))
            continue;
        CG_TRY(binding_meaning(self, at, space, &found, reterr));
        rank = (cfg > 0 ? 2 : 0) + (found.kind != DEF_EXTERNAL);
        if (found.kind == DEF_NONE || rank < best)
            continue;
        best = rank;
        *ret = found;
    }
    return CG_OK;
}

static cg_code glob_member(names *self, module_ref module, uint32_t glob, sym name,
                           enum name_space space, name_def *ret, cg_err *reterr)
{
    program *of = self->program;
    name_def target;

    CG_TRY(import_meaning(self, glob, SPACE_TYPE, &target, reterr));
    switch ((enum def_kind)target.kind) {
    case DEF_MODULE:
        return member(self, target.module, name, space, viewer_of(of, module, target.module), ret,
                      reterr);
    case DEF_ITEM:
        ret->item = space != SPACE_MACRO ? variant_of(of, target.item, name) : 0;
        ret->kind = ret->item != 0 ? DEF_ITEM : DEF_NONE;
        return CG_OK;
    case DEF_EXTERNAL:
        if (!canonical_contains(program_text(of, target.path), program_text(of, name)))
            return CG_OK;
        return external_child(self, target.path, name, ret, reterr);
    case DEF_NONE:
    case DEF_PRIMITIVE:
    case DEF_SELF_TYPE: return CG_OK;
    }
    return CG_OK;
}

static cg_code look_inside(names *self, module_ref module, sym name, enum name_space space,
                           enum viewer viewer, name_def *ret, cg_err *reterr)
{
    const uint32_t *first;

    CG_TRY(explicit_member(self, module, name, space, viewer, ret, reterr));
    if (ret->kind != DEF_NONE)
        return CG_OK;
    first = number_map_find(&self->globs, number_map_key(1, module));
    for (uint32_t at = first != NULL ? *first : 0; at != 0 && ret->kind == DEF_NONE;
         at = self->imports.at[at].next_glob) {
        if (is_seen(viewer, self->imports.at[at].visibility))
            CG_TRY(glob_member(self, module, at, name, space, ret, reterr));
    }
    return CG_OK;
}

static cg_code member(names *self, module_ref module, sym name, enum name_space space,
                      enum viewer viewer, name_def *ret, cg_err *reterr)
{
    uint64_t key = number_map_key(module, (name * SPACE_COUNT + (uint32_t)space) * VIEWER_COUNT +
                                              (uint32_t)viewer);
    bool is_open;

    *ret = (name_def){.kind = DEF_NONE};
    if (!program_edge(self->program, self->asking, self->program->modules.at[module].file))
        return err_nomem(reterr);
    if (recall(self, &self->members, key, ret))
        return CG_OK;
    if (self->program->modules.at[module].is_pending) {
        CG_TRY(program_open(self->program, module, reterr));
        CG_TRY(scopes_follow(self, reterr));
    }
    CG_TRY(enter(self, key, &is_open, reterr));
    if (!is_open)
        return CG_OK;
    CG_TRY(look_inside(self, module, name, space, viewer, ret, reterr));
    return leave(self) ? remember(self, &self->members, key, ret, reterr) : CG_OK;
}

/* --- names as seen from inside a module --- */

/* Around blocks: the module proper. */
static module_ref proper(const program *of, module_ref module)
{
    while (of->modules.at[module].is_block)
        module = of->modules.at[module].parent;
    return module;
}

static cg_code prelude_meaning(names *self, sym name, enum name_space space, name_def *ret,
                               cg_err *reterr)
{
    program *of = self->program;
    cg_str text = program_text(of, name);
    cg_str home = canonical_prelude(text, space == SPACE_MACRO);
    sym path;

    if (home.ptr != NULL) {
        path = intern_add(&of->names, home);
        return path != 0 ? external_child(self, path, name, ret, reterr) : err_nomem(reterr);
    }
    if (space == SPACE_TYPE && canonical_is_primitive(text))
        *ret = (name_def){.kind = DEF_PRIMITIVE, .path = name};
    return CG_OK;
}

/*
 * What nothing else explains comes from a glob of a library, when there is one of candle or only
 * one at all: the table does not list everything.
 */
static cg_code glob_guess(names *self, module_ref module, sym name, name_def *ret, cg_err *reterr)
{
    program *of = self->program;
    sym best = 0;
    unsigned count = 0;

    for (module_ref at = module; at != 0; at = of->modules.at[at].parent) {
        const uint32_t *first = number_map_find(&self->globs, number_map_key(1, at));

        for (uint32_t glob = first != NULL ? *first : 0; glob != 0;
             glob = self->imports.at[glob].next_glob) {
            name_def target;

            CG_TRY(import_meaning(self, glob, SPACE_TYPE, &target, reterr));
            if (target.kind != DEF_EXTERNAL)
                continue;
            if (str_starts_with(program_text(of, target.path), CG_LIT("candle_")))
                return external_child(self, target.path, name, ret, reterr);
            count += best != target.path;
            best = target.path;
        }
        if (!of->modules.at[at].is_block)
            break;
    }
    return count == 1 ? external_child(self, best, name, ret, reterr) : CG_OK;
}

static cg_code look_around(names *self, module_ref module, sym name, enum name_space space,
                           name_def *ret, cg_err *reterr)
{
    program *of = self->program;
    module_ref at = module;

    for (; at != 0 && ret->kind == DEF_NONE; at = of->modules.at[at].parent) {
        CG_TRY(member(self, at, name, space, FROM_INSIDE, ret, reterr));
        /* macro_rules! are seen further inside */
        if (!of->modules.at[at].is_block && space != SPACE_MACRO)
            break;
    }
    if (ret->kind == DEF_NONE && space == SPACE_TYPE)
        CG_TRY(extern_crate(self, module, name, ret, reterr));
    if (ret->kind == DEF_NONE)
        CG_TRY(prelude_meaning(self, name, space, ret, reterr));
    if (ret->kind == DEF_NONE)
        CG_TRY(glob_guess(self, module, name, ret, reterr));
    return CG_OK;
}

static cg_code lexical(names *self, module_ref module, sym name, enum name_space space,
                       name_def *ret, cg_err *reterr)
{
    uint64_t key = number_map_key(module, name * SPACE_COUNT + (uint32_t)space);

    *ret = (name_def){.kind = DEF_NONE};
    if (recall(self, &self->lexical, key, ret))
        return CG_OK;
    CG_TRY(look_around(self, module, name, space, ret, reterr));
    return self->cut == NO_CUT ? remember(self, &self->lexical, key, ret, reterr) : CG_OK;
}

/* --- paths --- */

/* What the first segments mean; *ret_at is how many were used. */
static cg_code path_start(names *self, module_ref module, const import *from, const sym *segments,
                          size_t count, bool is_global, enum name_space space, name_def *ret,
                          size_t *ret_at, cg_err *reterr)
{
    program *of = self->program;
    const program_crate *crate = &of->crates.at[of->modules.at[module].crate];
    bool is_from_root = crate->is_2015 && (is_global || from != NULL);
    module_ref here = proper(of, module);
    size_t at = 0;

    *ret_at = 1;
    if (segments[0] == self->word_crate || segments[0] == self->word_dollar_crate) {
        *ret = (name_def){.kind = DEF_MODULE, .module = crate->root};
        return CG_OK;
    }
    if (segments[0] == self->word_upper_self) {
        *ret = (name_def){.kind = DEF_SELF_TYPE};
        return CG_OK;
    }
    if (segments[0] == self->word_self || segments[0] == self->word_super) {
        for (; at < count &&
               (segments[at] == self->word_super || (at == 0 && segments[at] == self->word_self));
             at++) {
            if (segments[at] == self->word_super)
                here = of->modules.at[here].parent != 0 ? proper(of, of->modules.at[here].parent)
                                                        : here;
        }
        *ret_at = at;
        *ret = (name_def){.kind = DEF_MODULE, .module = here};
        return CG_OK;
    }
    if (is_from_root && crate->root != 0) {
        CG_TRY(member(self, crate->root, segments[0], count > 1 ? SPACE_TYPE : space, FROM_INSIDE,
                      ret, reterr));
        if (ret->kind != DEF_NONE)
            return CG_OK;
    }
    if (is_global || is_from_root)
        return extern_crate(self, module, segments[0], ret, reterr);
    return lexical(self, module, segments[0], count > 1 ? SPACE_TYPE : space, ret, reterr);
}

/* `use x::y` of a crate no manifest tells about: its path is all there is to say. */
static cg_code unknown_crate(names *self, module_ref module, const sym *segments, name_def *ret,
                             cg_err *reterr)
{
    const program *of = self->program;

    if (of->crates.at[of->modules.at[module].crate].package != CARGO_MISSING)
        return CG_OK;
    *ret = (name_def){.kind = DEF_EXTERNAL, .path = canonical(self, segments[0])};
    return ret->path != 0 ? CG_OK : err_nomem(reterr);
}

static cg_code resolve(names *self, module_ref module, const import *from, const sym *segments,
                       size_t count, bool is_global, enum name_space space, name_def *ret,
                       cg_err *reterr)
{
    size_t at = 0;

    *ret = (name_def){.kind = DEF_NONE};
    self->asking = self->program->modules.at[module].file;
    CG_TRY(path_start(self, module, from, segments, count, is_global, space, ret, &at, reterr));
    if (ret->kind == DEF_NONE && from != NULL && count > 1)
        CG_TRY(unknown_crate(self, module, segments, ret, reterr));
    for (; at < count; at++) {
        name_def before = *ret;

        /* Imports that were followed on the way stand elsewhere. */
        self->asking = self->program->modules.at[module].file;
        switch ((enum def_kind)before.kind) {
        case DEF_NONE: return CG_OK;
        case DEF_MODULE:
            CG_TRY(member(self, before.module, segments[at], at + 1 < count ? SPACE_TYPE : space,
                          FROM_INSIDE, ret, reterr));
            break;
        case DEF_EXTERNAL:
            CG_TRY(external_child(self, before.path, segments[at], ret, reterr));
            break;
        case DEF_ITEM:
            ret->item = variant_of(self->program, before.item, segments[at]);
            if (ret->item != 0)
                break;
            ret->item = before.item;
            ret->rest = (uint32_t)(count - at);
            return CG_OK;
        case DEF_PRIMITIVE:
        case DEF_SELF_TYPE: ret->rest = (uint32_t)(count - at); return CG_OK;
        }
    }
    return CG_OK;
}

cg_code names_resolve(program *self, module_ref module, file_ref file, ast_ref path,
                      enum name_space space, name_def *ret, cg_err *reterr)
{
    sym segments[PATH_SEGMENTS];
    bool is_global = false;
    size_t count = path_segments(self, file, path, segments, &is_global);
    name_def found = {.kind = DEF_NONE};
    names *own;

    if (count > 0) {
        CG_TRY(begin(self, &own, reterr));
        CG_TRY(resolve(own, module, NULL, segments, count, is_global, space, &found, reterr));
    }
    *ret = found;
    return found.kind != DEF_ITEM || program_edge(self, file, self->items.at[found.item].file)
               ? CG_OK
               : err_nomem(reterr);
}

cg_code names_find(program *self, module_ref module, sym name, enum name_space space, name_def *ret,
                   cg_err *reterr)
{
    name_def found;
    names *own;

    CG_TRY(begin(self, &own, reterr));
    CG_TRY(resolve(own, module, NULL, &name, 1, false, space, &found, reterr));
    *ret = found;
    return CG_OK;
}

cg_code names_member(program *self, module_ref module, sym name, enum name_space space,
                     name_def *ret, cg_err *reterr)
{
    name_def found;
    names *own;

    CG_TRY(begin(self, &own, reterr));
    own->asking = 0;
    CG_TRY(member(own, module, name, space, FROM_INSIDE, &found, reterr));
    *ret = found;
    return CG_OK;
}

sym names_canonical(program *self, cg_str path)
{
    sym known = intern_add(&self->names, path);
    names *own;

    return known != 0 && begin(self, &own, NULL) == CG_OK ? canonical(own, known) : 0;
}

cg_code names_visit_imports(program *self, names_visitor visit, void *context, cg_err *reterr)
{
    names *own;

    CG_TRY(begin(self, &own, reterr));
    for (uint32_t i = 1; i < own->imports.count; i++) {
import leaf = own->imports.at[i];
        bool is_found = false;
        cg_str path = CG_LIT("");

        if (!self->crates.at[self->modules.at[leaf.module].crate].is_scanned)
            continue;
        for (unsigned space = 0; space < SPACE_COUNT && !is_found; space++) {
            name_def found;

            CG_TRY(begin(self, &own, reterr));
            CG_TRY(import_meaning(own, i, (enum name_space)space, &found, reterr));
            is_found = found.kind != DEF_NONE;
        }
        for (uint16_t k = 0; k < leaf.count; k++) {
            cg_str part = program_text(self, own->segments.at[leaf.first + k]);

            if (!arena_format(&self->mem, &path, "%.*s%s%.*s", (int)path.len, path.ptr,
                              k > 0 ? "::" : "", (int)part.len, part.ptr))
                return err_nomem(reterr);
        }
        if (!visit(context, leaf.file, leaf.node, path, is_found))
            return CG_OK;
    }
    return CG_OK;
}
