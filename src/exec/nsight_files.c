#include "exec/nsight_files.h"

#include <inttypes.h>

#define FILES_BLOCK ((size_t)256 << 10)

cg_code nsight_stream_open(nsight_files *files, cg_str name, nsight_stream *ret, cg_err *reterr)
{
    cg_code code;

    *ret = (nsight_stream){.files = files};
    CG_TRY(os_dir_open_file(&files->directory, name, files->flags, &ret->file, reterr));
    code = digest_start(&ret->digest, reterr);
    if (code != CG_OK)
        os_close(&ret->file);
    return code;
}

cg_code nsight_stream_fill(void *stream, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    nsight_stream *self = stream;

    CG_TRY(os_read(&self->file, to, count, ret, reterr));
    digest_add(&self->digest, to, *ret);
    self->size += *ret;
    return CG_OK;
}

cg_code nsight_stream_artifact(nsight_stream *self, cg_str name, doc_artifact *ret, cg_err *reterr)
{
    uint8_t bytes[DIGEST_BYTES];
    char *hex = arena_bytes(self->files->mem, DIGEST_HEX);

    if (hex == NULL)
        return err_nomem(reterr);
    if (self->size != self->file.size)
        return cg_fail(reterr, PROBLEM_INPUT_CHANGED,
                       "`%.*s` changed while it was read: %" PRIu64 " bytes, then %" PRIu64,
                       ERR_STR(name), self->file.size, self->size);
    CG_TRY(digest_finish(&self->digest, bytes, reterr));
    digest_hex(bytes, hex);
    *ret = (doc_artifact){name, self->size, {hex, DIGEST_HEX}};
    return CG_OK;
}

void nsight_stream_close(nsight_stream *self)
{
    digest_drop(&self->digest);
    os_close(&self->file);
}

static cg_code read_to_end(nsight_stream *self, char *block, cg_err *reterr)
{
    for (;;) {
        size_t count = 0;

        if (!env_progress(self->files->env, "Nsight files", self->size, self->file.size))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request in an Nsight file");
        CG_TRY(nsight_stream_fill(self, block, FILES_BLOCK, &count, reterr));
        if (count == 0)
            return CG_OK;
    }
}

cg_code nsight_files_digest(nsight_files *files, cg_str name, doc_artifact *ret, cg_err *reterr)
{
    nsight_stream stream;
    char *block;
    cg_code code;

    CG_TRY(nsight_stream_open(files, name, &stream, reterr));
    block = heap_resize(files->heap, NULL, 0, FILES_BLOCK);
    code = block == NULL ? err_nomem(reterr) : read_to_end(&stream, block, reterr);
    heap_resize(files->heap, block, FILES_BLOCK, 0);
    if (code == CG_OK)
        code = nsight_stream_artifact(&stream, name, ret, reterr);
    nsight_stream_close(&stream);
    return code;
}

cg_code nsight_files_text(nsight_files *files, cg_str name, buf *ret, cg_err *reterr)
{
    os_file file;
    cg_code code;

    CG_TRY(os_dir_open_file(&files->directory, name, files->flags, &file, reterr));
    code = os_read_to_end(&file, ret, reterr);
    if (code != CG_OK)
        err_in_file(reterr, name);
    os_close(&file);
    return code;
}

/* --- sentences --- */

cg_str *nsight_notes_next(nsight_notes *self)
{
    cg_str *next = vec_add(self->heap, &self->texts);

    if (next != NULL)
        return next;
    self->failed = true;
    return &self->spare;
}

bool nsight_notes_keep(nsight_notes *self, sc_strs *ret)
{
    size_t size = self->texts.count * sizeof(cg_str);
    cg_str *kept = self->failed ? NULL : arena_take(self->mem, size > 0 ? size : 1);

    if (kept != NULL) {
        if (size > 0)
            memcpy(kept, self->texts.at, size);
        *ret = (sc_strs){kept, self->texts.count};
    }
    nsight_notes_free(self);
    return kept != NULL;
}

void nsight_notes_free(nsight_notes *self)
{
    vec_free(self->heap, &self->texts);
}
