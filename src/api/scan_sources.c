#include "api/scan_sources.h"

#include "rust/kept.h"

#define SOURCES_CEILING ((size_t)4 << 30)

static cg_code sum_of(cg_str bytes, uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    digest sum;

    CG_TRY(digest_start(&sum, reterr));
    digest_add(&sum, bytes.ptr, bytes.len);
    return digest_finish(&sum, ret, reterr);
}

/* --- writing --- */

static cg_code add_file(const rescan_file *file, heap *from, buf *bytes, kept_place *ret,
                        cg_err *reterr)
{
    size_t start = bytes->len;

    *ret = (kept_place){.start = start, .text_bytes = file->text.len};
    buf_add(bytes, file->text);
    if (kept_is_possible(file->tree) && !kept_write(file->tree, from, bytes))
        return err_nomem(reterr);
    if (bytes->failed)
        return err_nomem(reterr);
    ret->tree_bytes = bytes->len - start - file->text.len;
    return sum_of((cg_str){bytes->at + start, bytes->len - start}, ret->sum, reterr);
}

static cg_code put(const cg_env *env, heap *from, cg_str path, cg_str bytes, cg_err *reterr)
{
    os_output file;
    cg_code code;

    CG_TRY(os_output_open(env, from, path, true, &file, reterr));
    code = os_output_write(&file, bytes.ptr, bytes.len, reterr);
    if (code == CG_OK)
        return os_output_commit(&file, reterr);
    os_output_drop(&file);
    return code;
}

cg_code sources_write(const cg_env *env, heap *from, cg_str path, const rescan_base *base,
                      kept_place *places, cg_err *reterr)
{
    cg_code code = CG_OK;
    buf bytes;

    buf_init(&bytes, from, SOURCES_CEILING);
    for (size_t i = 0; code == CG_OK && i < base->file_count; i++)
        code = add_file(&base->files[i], from, &bytes, &places[i], reterr);
    if (code == CG_OK)
        code = put(env, from, path, buf_text(&bytes), reterr);
    buf_free(&bytes);
    return code;
}

/* --- reading --- */

static cg_code not_there(const sources *self, cg_err *reterr)
{
    cg_fail(reterr, PROBLEM_INPUT_MISSING, "is not what was written");
    err_in_file(reterr, self->path);
    return CG_NOT_FOUND;
}

cg_code sources_read(sources *self, size_t which, program_text_given *ret, cg_err *reterr)
{
    const kept_place *place = &self->places[which];
    uint8_t sum[DIGEST_BYTES];
    size_t count, len = 0, part = 1;
    char *bytes;

    if (!self->is_open)
        CG_TRY(os_open_read(self->env, self->path, &self->file, reterr));
    self->is_open = true;
    if (!self->file.is_regular || place->start > self->file.size ||
        place->text_bytes > self->file.size - place->start ||
        place->tree_bytes > self->file.size - place->start - place->text_bytes)
        return not_there(self, reterr);
    count = (size_t)(place->text_bytes + place->tree_bytes);
    bytes = arena_bytes(self->mem, count + 1);
    if (bytes == NULL)
        return err_nomem(reterr);
    CG_TRY(os_seek(&self->file, place->start, reterr));
    for (; part > 0 && len < count; len += part)
        CG_TRY(os_read(&self->file, bytes + len, count - len, &part, reterr));
    CG_TRY(sum_of((cg_str){bytes, len}, sum, reterr));
    if (len != count || memcmp(sum, place->sum, DIGEST_BYTES) != 0)
        return not_there(self, reterr);
    *ret = (program_text_given){.text = {bytes, (size_t)place->text_bytes}};
    if (place->tree_bytes > 0)
        ret->tree = (cg_str){bytes + place->text_bytes, (size_t)place->tree_bytes};
    return CG_OK;
}

void sources_close(sources *self)
{
    if (self->is_open)
        os_close(&self->file);
    self->is_open = false;
}
