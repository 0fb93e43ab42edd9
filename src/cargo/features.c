#include "cargo/features.h"

cg_code features_init(feature_state *self, heap *from, arena *mem, const cargo_manifest *manifest,
                      cg_err *reterr)
{
    *self = (feature_state){.heap = from, .manifest = manifest};
    self->is_on = arena_zero(mem, manifest->feature_count + 1);
    self->is_brought_in = arena_zero(mem, manifest->dependency_count + 1);
    if (self->is_on == NULL || self->is_brought_in == NULL)
        return err_nomem(reterr);
    return CG_OK;
}

void features_free(feature_state *self)
{
    if (self->heap == NULL)
        return;
    vec_free(self->heap, &self->pending);
    vec_free(self->heap, &self->requests);
}

static bool turn_on(feature_state *self, const manifest_feature *feature)
{
    size_t index = (size_t)(feature - self->manifest->features);
    uint32_t *to;

    if (self->is_on[index])
        return true;
    self->is_on[index] = true;
    to = vec_add(self->heap, &self->pending);
    if (to != NULL)
        *to = (uint32_t)index;
    return to != NULL;
}

/* All dependencies of that name; false when there is none. */
static bool bring_in(feature_state *self, cg_str name)
{
    size_t first = 0;
    size_t count = manifest_dependency_find(self->manifest, name, &first);

    for (size_t i = first; i < first + count; i++)
        self->is_brought_in[i] = self->manifest->dependencies[i].is_optional;
    return count > 0;
}

static bool is_optional(const cargo_manifest *manifest, cg_str name)
{
    size_t first = 0;
    size_t count = manifest_dependency_find(manifest, name, &first);

    for (size_t i = first; i < first + count; i++) {
        if (manifest->dependencies[i].is_optional)
            return true;
    }
    return false;
}

/* `d/f` or `d?/f`, `slash` being where the slash is. */
static bool request(feature_state *self, cg_str text, size_t slash, bool *ret_is_known)
{
    cg_str name = {text.ptr, slash};
    bool is_weak = slash > 0 && text.ptr[slash - 1] == '?';
    const manifest_feature *own;
    feature_request *to;
    size_t first = 0;

    name.len -= is_weak;
    *ret_is_known = manifest_dependency_find(self->manifest, name, &first) > 0;
    if (!*ret_is_known)
        return true;
    to = vec_add(self->heap, &self->requests);
    if (to == NULL)
        return false;
    *to = (feature_request){name, {text.ptr + slash + 1, text.len - slash - 1}, is_weak};
    if (is_weak || !is_optional(self->manifest, name))
        return true;
    bring_in(self, name);
    own = manifest_feature_find(self->manifest, name);
    return own == NULL || turn_on(self, own);
}

/* false: out of memory */
static bool enable_one(feature_state *self, cg_str text, bool *ret_is_known)
{
    const char *slash = text.len > 0 ? memchr(text.ptr, '/', text.len) : NULL;
    const manifest_feature *feature;

    if (str_starts_with(text, CG_LIT("dep:"))) {
        *ret_is_known = bring_in(self, (cg_str){text.ptr + 4, text.len - 4});
        return true;
    }
    if (slash != NULL)
        return request(self, text, (size_t)(slash - text.ptr), ret_is_known);
    feature = manifest_feature_find(self->manifest, text);
    *ret_is_known = feature != NULL;
    return feature == NULL || turn_on(self, feature);
}

cg_code features_enable(feature_state *self, cg_str name, bool *ret_is_known, cg_err *reterr)
{
    if (!enable_one(self, name, ret_is_known))
        return err_nomem(reterr);
    while (self->pending.count > 0) {
        const manifest_feature *feature =
            &self->manifest->features[self->pending.at[--self->pending.count]];

        if (feature->is_implicit)
            bring_in(self, feature->name);
        for (size_t i = 0; i < feature->values.count; i++) {
            bool is_known;

            if (!enable_one(self, feature->values.at[i], &is_known))
                return err_nomem(reterr);
        }
    }
    return CG_OK;
}

cg_code features_list(const feature_state *self, arena *mem, bool is_all, cargo_strs *ret,
                      cg_err *reterr)
{
    const cargo_manifest *manifest = self->manifest;
    cg_str *at = arena_take(mem, manifest->feature_count * sizeof *at + 1);
    size_t count = 0;

    if (at == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < manifest->feature_count; i++) {
        if (is_all || self->is_on[i])
            at[count++] = manifest->features[i].name;
    }
    *ret = (cargo_strs){at, count};
    return CG_OK;
}
