/* The page of a crate, and of a model document that lies in a file. */
#include "api/scan_excerpts.h"
#include "base/os.h"
#include "view/page.h"

cg_code cg_write_model_page(const cg_scan *self, cg_sink sink, cg_err *reterr)
{
    /* Memory of its own, so that a scan that is only read stays as it is. */
    heap memory;
    buf sources;
    cg_code code;

    heap_init(&memory, self->env);
    buf_init(&sources, &memory, SIZE_MAX);
    code = scan_excerpts(self, &memory, &sources, reterr);
    if (code == CG_OK)
        code = page_write_model(&memory, &self->document->doc,
                                self->has_checkpoint ? &self->checkpoint : NULL, buf_text(&sources),
                                sink, reterr);
    buf_free(&sources);
    return code;
}

static cg_code write_file_page(const cg_env *env, heap *memory, cg_str path, buf *text,
                               cg_sink sink, cg_err *reterr)
{
    model_document document;
    cg_code code;

    code = os_read_whole(env, path, text, reterr);
    if (code == CG_OK)
        code = model_read(memory, buf_text(text), &document, reterr);
    if (code != CG_OK) {
        err_in_file(reterr, path);
        return code;
    }
    buf_free(text);
    code = page_write_model(memory, &document.doc, NULL, (cg_str){0}, sink, reterr);
    model_free(&document);
    return code;
}

cg_code cg_write_model_file_page(const cg_env *env, const char *path, cg_sink sink, cg_err *reterr)
{
    heap memory;
    buf text;
    cg_code code;

    heap_init(&memory, env);
    buf_init(&text, &memory, (size_t)limit_of(env, CG_LIMIT_JSON_DOCUMENT_BYTES));
    code = write_file_page(env, &memory, str_from(path), &text, sink, reterr);
    buf_free(&text);
    return code;
}
