#include "join/difference.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/sort.h"

bool difference_is_open(const difference *self)
{
    bool has_key = false;
    bool has_spare = false;

    for (size_t i = 0; i < self->key_count && !has_key; i++)
        has_key = key_is_open(&self->keys[i]);
    for (size_t i = 0; i < self->spare_count && !has_spare; i++)
        has_spare = !self->spare[i].is_explained;
    return has_key && has_spare;
}

uint32_t difference_find_spare(const difference *self, cg_str name)
{
    size_t low = 0;
    size_t high = self->spare_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(self->spare[middle].name.text, name);

        if (order == 0)
            return self->spare[middle].is_explained ? KEY_NOWHERE : (uint32_t)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return KEY_NOWHERE;
}

bool difference_has_prefix(const difference *self, cg_str prefix)
{
    size_t at = key_name_first(self->names, self->name_count, prefix);

    /* `a.b` and `a.b-c` come before `a.b.c`. */
    for (; at < self->name_count && str_starts_with(self->names[at].text, prefix); at++) {
        cg_str text = self->names[at].text;

        if (text.len == prefix.len || text.ptr[prefix.len] == '.')
            return true;
    }
    return false;
}

enum shape_answer difference_shape(difference *self, const model_key *key, const tensor_row *row)
{
    if (!key->from->has_rank)
        return SHAPE_OPEN;
    return shape_compare(self->pool, key->shape, key->from->rank, row->shape, row->rank,
                         key->values);
}

cg_str difference_shifted(difference *self, cg_str key)
{
    for (size_t i = 0; i < self->shifts.count; i++) {
        cg_str model = self->shifts.at[i].key;
        cg_str file = self->shifts.at[i].value;
        size_t cut = model.len > 0 ? model.len + 1 : 0;
        cg_str moved = {0};

        if (cut > 0 && (!str_starts_with(key, model) || key.len <= cut || key.ptr[cut - 1] != '.'))
            continue;
        if (!arena_format(self->mem, &moved, "%.*s%s%.*s", (int)file.len, file.ptr,
                          file.len > 0 ? "." : "", (int)(key.len - cut), key.ptr + cut))
            return (cg_str){0};
        return moved;
    }
    return key;
}

static cg_code learn_one(difference *self, shape_values *values, cg_err *reterr)
{
    VEC(shape_claim) claims = {0};
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < self->key_count; i++) {
        const model_key *key = &self->keys[i];
        const tensor_row *row = key->partner != KEY_NOWHERE ? self->spare[key->partner].row : NULL;
        shape_claim *added;

        if (row == NULL || key->values != values || !key->from->has_rank ||
            key->from->rank != row->rank)
            continue;
        added = vec_add(self->heap, &claims);
        if (added == NULL)
            code = err_nomem(reterr);
        else
            *added = (shape_claim){key->shape, row->shape, row->rank, 1};
    }
    if (code == CG_OK)
        code = shape_solve(self->heap, self->pool, claims.at, claims.count, values, reterr);
    vec_free(self->heap, &claims);
    return code;
}

cg_code difference_learn(difference *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->value_count; i++)
        CG_TRY(learn_one(self, &self->values[i], reterr));
    return CG_OK;
}

cg_code difference_add_pair(difference *self, key_pairs *to, uint32_t key, uint32_t spare,
                            cg_err *reterr)
{
    key_pair *added = vec_add(self->heap, to);

    if (added == NULL)
        return err_nomem(reterr);
    *added = (key_pair){key, spare};
    return CG_OK;
}

static bool text_before(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *all = context;

    return str_compare(all[a], all[b]) < 0;
}

static bool pair_before(const void *context, uint32_t a, uint32_t b)
{
    const sc_pair *all = context;

    return str_compare(all[a].key, all[b].key) < 0;
}

static uint32_t *order_of(arena *mem, size_t count)
{
    uint32_t *order = arena_take(mem, (count + 1) * 2 * sizeof *order);

    for (size_t i = 0; order != NULL && i < count; i++)
        order[i] = (uint32_t)i;
    return order;
}

/* In order, each once. */
static bool keep_texts(arena *mem, const cg_str *from, size_t count, sc_strs *ret)
{
    uint32_t *order = order_of(mem, count);
    cg_str *texts = arena_take(mem, (count + 1) * sizeof *texts);
    size_t kept = 0;

    if (order == NULL || texts == NULL)
        return false;
    sort_with(order, order + count, count, text_before, from);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !str_equal(texts[kept - 1], from[order[i]]))
            texts[kept++] = from[order[i]];
    }
    *ret = (sc_strs){texts, kept};
    return true;
}

static bool keep_map(arena *mem, const sc_pair *from, size_t count, sc_map *ret)
{
    uint32_t *order = order_of(mem, count);
    sc_pair *pairs = arena_take(mem, (count + 1) * sizeof *pairs);

    if (order == NULL || pairs == NULL)
        return false;
    sort_with(order, order + count, count, pair_before, from);
    for (size_t i = 0; i < count; i++)
        pairs[i] = from[order[i]];
    *ret = (sc_map){pairs, count};
    return true;
}

cg_code difference_add_row(difference *self, enum diagnosis_code code, const key_pairs *pairs,
                           bool is_mapped, cg_str explanation, doc_diagnosis **ret, cg_err *reterr)
{
    cg_str *keys = arena_take(self->mem, (pairs->count + 1) * sizeof *keys);
    cg_str *files = arena_take(self->mem, (pairs->count + 1) * sizeof *files);
    sc_pair *map = arena_take(self->mem, (pairs->count + 1) * sizeof *map);
    doc_diagnosis *row = vec_add(self->heap, &self->rows);
    size_t key_count = 0;
    size_t file_count = 0;
    size_t map_count = 0;

    if (keys == NULL || files == NULL || map == NULL || row == NULL || explanation.ptr == NULL)
        return err_nomem(reterr);
    *row = (doc_diagnosis){.code = diagnosis_words[code], .explanation = explanation};
    for (size_t i = 0; i < pairs->count; i++) {
        key_pair pair = pairs->at[i];

        if (pair.key != KEY_NOWHERE) {
            model_key *key = &self->keys[pair.key];

            keys[key_count++] = key->name.text;
            key->is_explained = true;
            key->partner = pair.spare;
            if (key->tensor != NULL)
                files[file_count++] = key->tensor->name;
        }
        if (pair.spare != KEY_NOWHERE) {
            files[file_count++] = self->spare[pair.spare].name.text;
            self->spare[pair.spare].is_explained = true;
        }
        if (is_mapped && pair.key != KEY_NOWHERE && pair.spare != KEY_NOWHERE)
            map[map_count++] =
                (sc_pair){self->keys[pair.key].name.text, self->spare[pair.spare].name.text};
    }
    if (!keep_texts(self->mem, keys, key_count, &row->keys) ||
        !keep_texts(self->mem, files, file_count, &row->file_keys) ||
        !keep_map(self->mem, map, map_count, &row->key_map))
        return err_nomem(reterr);
    if (ret != NULL)
        *ret = row;
    return CG_OK;
}

cg_str difference_text(difference *self, const char *format, ...)
{
    buf text;
    cg_str kept = {0};
    char *room;
    int need;
    va_list list;

    buf_init(&text, self->heap, UINT32_MAX);
    va_start(list, format);
    need = vsnprintf(NULL, 0, format, list);
    va_end(list);
    room = need < 0 ? NULL : buf_room(&text, (size_t)need + 1);
    if (room != NULL) {
        va_start(list, format);
        need = vsnprintf(room, (size_t)need + 1, format, list);
        va_end(list);
        if (need >= 0 && !arena_text(self->mem, (cg_str){room, (size_t)need}, &kept))
            kept = (cg_str){0};
    }
    buf_free(&text);
    return kept;
}

cg_str difference_join(difference *self, cg_str prefix, cg_str rest)
{
    return prefix.len == 0 ? rest
                           : difference_text(self, "%.*s.%.*s", (int)prefix.len, prefix.ptr,
                                             (int)rest.len, rest.ptr);
}
