/* The page of a crate, and of a model document that lies in a file. */
#include "api/run.h"
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

/* --- with runs --- */

#define JOIN_ROWS 5000 /* of each list of a join in a page */

static cg_code add_text(void *context, const char *bytes, size_t count)
{
    buf *to = context;

    buf_add(to, (cg_str){bytes, count});
    return to->failed ? CG_NOMEM : CG_OK;
}

/* The first run once more; none when it came through a pipe and is gone. */
static cg_code open_first_run(const cg_scan *self, cg_run **ret, cg_err *reterr)
{
    cg_str path = scan_run_path(self, 0);
    enum os_kind kind;

    *ret = NULL;
    CG_TRY(os_kind_of(self->env, path, true, &kind, reterr));
    if (kind != OS_FILE && kind != OS_DIRECTORY)
        return CG_OK;
    CG_TRY(cg_run_open(self->env, path.ptr, ret, reterr));
    return run_check_whole(*ret, reterr);
}

static cg_code write_join_page(const cg_scan *self, heap *memory, buf *sources, buf *joined,
                               cg_sink sink, cg_err *reterr)
{
    const cg_join_query all = {.size = sizeof all, .has_limit = true, .limit = JOIN_ROWS};
    const cg_format format = {.size = sizeof format, .kind = CG_FORMAT_JSON};
    page_join from = {
        .doc = &self->document->doc,
        .checkpoint = self->has_checkpoint ? &self->checkpoint : NULL,
    };
    cg_run *run = NULL;
    cg_code code;

    CG_TRY(cg_write_join(self, &all, &format, (cg_sink){joined, add_text}, reterr));
    CG_TRY(scan_excerpts(self, memory, sources, reterr));
    code = open_first_run(self, &run, reterr);
    if (code == CG_OK) {
        from.sources = buf_text(sources);
        from.join = buf_text(joined);
        from.run = run != NULL ? run->evidence : NULL;
        code = page_write_join(memory, &from, sink, reterr);
    }
    cg_run_free(run);
    return code;
}

cg_code cg_write_join_page(const cg_scan *self, cg_sink sink, cg_err *reterr)
{
    heap memory;
    buf sources;
    buf joined;
    cg_code code;

    if (scan_run_count(self) == 0)
        return cg_fail(reterr, PROBLEM_USAGE, "no run was joined with this scan");
    heap_init(&memory, self->env);
    buf_init(&sources, &memory, SIZE_MAX);
    buf_init(&joined, &memory, SIZE_MAX);
    code = write_join_page(self, &memory, &sources, &joined, sink, reterr);
    buf_free(&sources);
    buf_free(&joined);
    return code;
}

/* --- documents in files --- */

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
