#include "model/fingerprint.h"

#include "base/digest.h"
#include "base/sort.h"

static void add_input(digest *sum, cg_str root, cg_str path, const uint8_t bytes[DIGEST_BYTES])
{
    if (str_starts_with(path, root)) {
        path.ptr += root.len;
        path.len -= root.len;
    } else if (str_find_last(path, '/') != SIZE_MAX) {
        /* Elsewhere: where a registry keeps its sources differs from machine to machine. */
        size_t slash = str_find_last(path, '/');

        path = (cg_str){path.ptr + slash + 1, path.len - slash - 1};
    }
    digest_add(sum, path.ptr, path.len);
    digest_add(sum, "", 1);
    digest_add(sum, bytes, DIGEST_BYTES);
}

static bool finish(digest *sum, arena *mem, cg_str *ret)
{
    uint8_t bytes[DIGEST_BYTES];
    char hex[DIGEST_HEX];

    if (digest_finish(sum, bytes, NULL) != CG_OK)
        return false;
    digest_hex(bytes, hex);
    return arena_text(mem, (cg_str){hex, DIGEST_HEX}, ret);
}

static bool path_before(const void *context, uint32_t a, uint32_t b)
{
    const program_input *inputs = context;

    return str_compare(inputs[a].path, inputs[b].path) < 0;
}

/* By path: in which order they were read depends on who asked first. */
static bool add_inputs(digest *sum, cg_str root, const program_input *inputs, size_t count,
                       arena *mem)
{
    arena_place place = arena_mark(mem);
    uint32_t *order = arena_take(mem, (2 * count + 1) * sizeof *order);

    if (order == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, path_before, inputs);
    for (size_t i = 0; i < count; i++)
        add_input(sum, root, inputs[order[i]].path, inputs[order[i]].sum);
    arena_reset(mem, place);
    return true;
}

bool program_fingerprint(const program *self, arena *mem, cg_str *ret)
{
    size_t count = self->cargo->inputs.count + self->inputs.count;
    program_input *all = arena_take(mem, (count + 1) * sizeof *all);

    if (all == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i >= self->cargo->inputs.count) {
            all[i] = self->inputs.at[i - self->cargo->inputs.count];
            continue;
        }
        all[i] = (program_input){.path = self->cargo->inputs.at[i].path};
        memcpy(all[i].sum, self->cargo->inputs.at[i].sum, DIGEST_BYTES);
    }
    return fingerprint_of(self->cargo->scan_root, all, count, mem, ret);
}

bool fingerprint_of(cg_str root, const program_input *inputs, size_t count, arena *mem, cg_str *ret)
{
    digest sum;

    if (digest_start(&sum, NULL) != CG_OK)
        return false;
    return add_inputs(&sum, root, inputs, count, mem) && finish(&sum, mem, ret);
}
