#include "model/key_set.h"

#include "base/sort.h"
#include "model/ids.h"

bool key_set_add(key_set *self, const extraction *of, size_t component, size_t parameter)
{
    const extract_parameter *from = &of->components.at[component].parameters.at[parameter];
    key_entry *entry = vec_add(self->heap, &self->at);

    if (!entry)
        return false;
    *entry = (key_entry){from->root, from->printed, (uint32_t)component, (uint32_t)parameter};
    return true;
}

static int order_of(const key_entry *a, cg_str root, cg_str key)
{
    int order = str_compare(a->root, root);

    return order ? order : str_compare(a->key, key);
}

static bool entry_before(const void *context, uint32_t a, uint32_t b)
{
    const key_entry *all = context;

    return order_of(&all[a], all[b].root, all[b].key) < 0;
}

bool key_set_sort(key_set *self)
{
    size_t count = self->at.count, kept = 0;
    uint32_t *order = heap_resize(self->heap, NULL, 0, (2 * count + 1) * sizeof *order);
    key_entry *sorted = heap_resize(self->heap, NULL, 0, (count + 1) * sizeof *sorted);
    bool is_good = order && sorted;

    for (size_t i = 0; i < count && is_good; i++)
        order[i] = (uint32_t)i;
    if (is_good)
        sort_with(order, order + count, count, entry_before, self->at.at);
    for (size_t i = 0; i < count && is_good; i++) {
        const key_entry *at = &self->at.at[order[i]];

        if (kept == 0 || order_of(&sorted[kept - 1], at->root, at->key) != 0)
            sorted[kept++] = *at;
    }
    if (is_good && kept > 0)
        memcpy(self->at.at, sorted, kept * sizeof *sorted);
    if (is_good)
        self->at.count = kept;
    heap_resize(self->heap, order, order ? (2 * count + 1) * sizeof *order : 0, 0);
    heap_resize(self->heap, sorted, sorted ? (count + 1) * sizeof *sorted : 0, 0);
    return is_good;
}

bool key_set_has(const key_set *self, cg_str root, cg_str key)
{
    size_t lo = 0, hi = self->at.count;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        int order = order_of(&self->at.at[middle], root, key);

        if (order == 0)
            return true;
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return false;
}

bool key_set_write(const key_set *self, model_draft *draft, sc_records *groups)
{
    for (size_t i = 0; i < self->at.count; i++) {
        if (!draft_key(draft, groups, self->at.at[i].root, self->at.at[i].key))
            return false;
    }
    return true;
}

bool key_set_ids(const key_set *self, const extraction *of, model_draft *draft, sc_strs *list)
{
    for (size_t i = 0; i < self->at.count; i++) {
        const key_entry *at = &self->at.at[i];
        cg_str component, id;

        if (!id_make(&draft->mem, MODEL_ID_KIND_COMPONENT,
                     ID_PARTS(of->components.at[at->component].qualified), &component) ||
            !id_make(&draft->mem, MODEL_ID_KIND_PARAMETER, ID_PARTS(component, at->root, at->key),
                     &id) ||
            !draft_text(draft, list, id))
            return false;
    }
    return true;
}

void key_set_free(key_set *self)
{
    vec_free(self->heap, &self->at);
}
