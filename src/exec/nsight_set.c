#include "exec/nsight_set.h"

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"

static bool text_before(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *texts = context;

    return str_compare(texts[a], texts[b]) < 0;
}

static cg_str *take_texts(arena *mem, size_t count)
{
    size_t size = 0;

    if (!num_mul(count > 0 ? count : 1, sizeof(cg_str), &size))
        return NULL;
    return arena_take(mem, size);
}

cg_code nsight_set_make(heap *from, arena *mem, sc_strs list, nsight_set *ret, cg_err *reterr)
{
    cg_str *texts = take_texts(mem, list.count);
    uint32_t *order =
        list.count > UINT32_MAX / 2 ? NULL : column_take(from, 2 * list.count, sizeof *order);
    size_t kept = 0;

    if (texts == NULL || order == NULL) {
        column_free(from, order, 2 * list.count, sizeof *order);
        return err_nomem(reterr);
    }
    for (size_t i = 0; i < list.count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + list.count, list.count, text_before, list.at);
    for (size_t i = 0; i < list.count; i++) {
        if (kept == 0 || !str_equal(texts[kept - 1], list.at[order[i]]))
            texts[kept++] = list.at[order[i]];
    }
    column_free(from, order, 2 * list.count, sizeof *order);
    *ret = (nsight_set){{texts, kept}, kept < list.count};
    return CG_OK;
}

bool nsight_set_equal(sc_strs a, sc_strs b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++) {
        if (!str_equal(a.at[i], b.at[i]))
            return false;
    }
    return true;
}

cg_code nsight_set_pick(arena *mem, sc_strs a, sc_strs b, bool common, sc_strs *ret, cg_err *reterr)
{
    cg_str *texts = take_texts(mem, a.count);
    size_t count = 0;
    size_t at = 0;

    if (texts == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < a.count; i++) {
        while (at < b.count && str_compare(b.at[at], a.at[i]) < 0)
            at++;
        if ((at < b.count && str_equal(b.at[at], a.at[i])) == common)
            texts[count++] = a.at[i];
    }
    *ret = (sc_strs){texts, count};
    return CG_OK;
}
