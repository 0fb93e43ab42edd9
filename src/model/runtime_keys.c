#include "model/runtime_keys.h"

#include "base/sort.h"

#define HOLES 8u /* of one key; more make it match nothing */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Bytes of the hole that starts at `at`, 0: none does. */
static size_t hole_length(cg_str text, size_t at)
{
    if (text.ptr[at] != '{')
        return 0;
    for (size_t end = at + 1; end < text.len; end++) {
        if (text.ptr[end] == '}')
            return end - at + 1;
    }
    return 0;
}

static bool has_hole(cg_str key)
{
    for (size_t i = 0; i < key.len; i++) {
        if (hole_length(key, i) > 0)
            return true;
    }
    return false;
}

/*
 * What all members of a family have in common with its pattern: every run of digits and holes is
 * one `#`. Keys of one form are the candidates, runtime_key_matches decides.
 */
static bool form_of(arena *mem, cg_str key, bool is_pattern, cg_str *ret)
{
    char *at = arena_bytes(mem, key.len + 1);
    size_t len = 0;

    if (at == NULL)
        return false;
    for (size_t i = 0; i < key.len;) {
        size_t hole = is_pattern ? hole_length(key, i) : 0;

        if (hole == 0 && !is_digit(key.ptr[i]))
            at[len++] = key.ptr[i];
        else if (len == 0 || at[len - 1] != '#')
            at[len++] = '#';
        i += hole > 0 ? hole : 1;
    }
    *ret = (cg_str){at, len};
    return true;
}

static int compare_keys(const runtime_key *a, cg_str root, cg_str text)
{
    int order = str_compare(a->root, root);

    return order != 0 ? order : str_compare(a->text, text);
}

static bool key_before(const void *context, uint32_t a, uint32_t b)
{
    const runtime_key *all = context;

    return compare_keys(&all[a], all[b].root, all[b].text) < 0;
}

static bool sort_keys(arena *mem, runtime_key **keys, size_t count)
{
    runtime_key *sorted = arena_take(mem, (count + 1) * sizeof *sorted);
    uint32_t *items = arena_take(mem, (2 * count + 1) * sizeof *items);

    if (sorted == NULL || items == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)i;
    sort_with(items, items + count, count, key_before, *keys);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (*keys)[items[i]];
    *keys = sorted;
    return true;
}

bool runtime_keys_make(arena *mem, const model_doc *doc, runtime_keys *ret)
{
    size_t count = doc->parameters.count;
    runtime_keys self = {.plain = arena_take(mem, (count + 1) * sizeof *self.plain),
                         .families = arena_take(mem, (count + 1) * sizeof *self.families)};

    if (self.plain == NULL || self.families == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const model_parameter *from = MODEL_AT(doc->parameters, model_parameter, i);
        runtime_key key = {.root = from->builder_root, .text = from->key, .parameter = (uint32_t)i};

        if (!has_hole(from->key)) {
            self.plain[self.plain_count++] = key;
            continue;
        }
        key.pattern = from->key;
        if (!form_of(mem, from->key, true, &key.text))
            return false;
        self.families[self.family_count++] = key;
    }
    if (!sort_keys(mem, &self.plain, self.plain_count) ||
        !sort_keys(mem, &self.families, self.family_count))
        return false;
    *ret = self;
    return true;
}

/* Take the number a hole stands for, with zeros before it in `{i:02}` only; 0 bytes: none. */
static size_t number_length(cg_str key, size_t at, cg_str hole)
{
    bool is_filled = str_find(hole, CG_LIT(":0")) != SIZE_MAX;
    size_t end = at;

    while (end < key.len && is_digit(key.ptr[end]))
        end++;
    return end - at > 1 && key.ptr[at] == '0' && !is_filled ? 0 : end - at;
}

bool runtime_key_matches(cg_str pattern, cg_str key)
{
    struct {
        cg_str name;
        cg_str number;
    } bound[HOLES];
    size_t count = 0;
    size_t at = 0;

    for (size_t i = 0; i < pattern.len;) {
        size_t hole = hole_length(pattern, i);
        size_t digits;
        size_t k = 0;
        cg_str name;
        cg_str number;

        if (hole == 0) {
            if (at >= key.len || key.ptr[at] != pattern.ptr[i])
                return false;
            at++;
            i++;
            continue;
        }
        digits = number_length(key, at, (cg_str){pattern.ptr + i, hole});
        if (digits == 0 || count == HOLES)
            return false;
        name = (cg_str){pattern.ptr + i, hole};
        number = (cg_str){key.ptr + at, digits};
        while (k < count && !str_equal(bound[k].name, name))
            k++;
        if (k < count && !str_equal(bound[k].number, number))
            return false;
        if (k == count) {
            bound[count].name = name;
            bound[count++].number = number;
        }
        at += digits;
        i += hole;
    }
    return at == key.len;
}

static size_t first_of(const runtime_key *keys, size_t count, cg_str root, cg_str text)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_keys(&keys[middle], root, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_position(heap *from, runtime_key_list *ret, uint32_t parameter)
{
    uint32_t *added = vec_add(from, ret);

    if (added == NULL)
        return false;
    *added = parameter;
    return true;
}

bool runtime_keys_find(const runtime_keys *self, arena *mem, cg_str root, cg_str key,
                       runtime_key_list *ret)
{
    arena_place place = arena_mark(mem);
    bool is_good = true;
    cg_str form;

    ret->count = 0;
    for (size_t i = first_of(self->plain, self->plain_count, root, key);
         is_good && i < self->plain_count && compare_keys(&self->plain[i], root, key) == 0; i++)
        is_good = add_position(mem->heap, ret, self->plain[i].parameter);
    if (!is_good || ret->count > 0 || self->family_count == 0)
        return is_good;
    is_good = form_of(mem, key, false, &form);
    for (size_t i = is_good ? first_of(self->families, self->family_count, root, form) : SIZE_MAX;
         is_good && i < self->family_count && compare_keys(&self->families[i], root, form) == 0;
         i++) {
        if (runtime_key_matches(self->families[i].pattern, key))
            is_good = add_position(mem->heap, ret, self->families[i].parameter);
    }
    arena_reset(mem, place);
    return is_good;
}
