#include "model/fingerprint.h"

#include "base/digest.h"

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

bool program_fingerprint(const program *self, arena *mem, cg_str *ret)
{
    digest sum;

    if (digest_start(&sum, NULL) != CG_OK)
        return false;
    for (size_t i = 0; i < self->cargo->inputs.count; i++)
        add_input(&sum, self->cargo->scan_root, self->cargo->inputs.at[i].path,
                  self->cargo->inputs.at[i].sum);
    for (size_t i = 0; i < self->inputs.count; i++)
        add_input(&sum, self->cargo->scan_root, self->inputs.at[i].path, self->inputs.at[i].sum);
    return finish(&sum, mem, ret);
}

bool fingerprint_of(cg_str root, const program_input *inputs, size_t count, arena *mem, cg_str *ret)
{
    digest sum;

    if (digest_start(&sum, NULL) != CG_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        add_input(&sum, root, inputs[i].path, inputs[i].sum);
    return finish(&sum, mem, ret);
}
