/* A crate and its runs. */
#include "api/caller.h"
#include "api/run.h"
#include "api/scan.h"
#include "base/os.h"
#include "join/join_rows.h"
#include "view/text_join.h"

#include <string.h>

#define ROWS 100u /* of each list, unless the caller says otherwise */

struct scan_runs {
    join joined;
};

static cg_code begin(cg_scan *self, const char *component, cg_err *reterr)
{
    struct scan_runs *fresh;
    cg_code code;

    if (self->runs != NULL)
        return CG_OK;
    fresh = heap_resize(&self->heap, NULL, 0, sizeof *fresh);
    if (fresh == NULL)
        return err_nomem(reterr);
    code = join_open(&fresh->joined, &self->heap, self->env, &self->document->doc,
                     str_from(component), os_random(self->env), reterr);
    if (code == CG_OK)
        self->runs = fresh;
    else
        heap_resize(&self->heap, fresh, sizeof *fresh, 0);
    return code;
}

void scan_runs_free(cg_scan *self)
{
    if (self->runs == NULL)
        return;
    join_free(&self->runs->joined);
    heap_resize(&self->heap, self->runs, sizeof *self->runs, 0);
    self->runs = NULL;
}

size_t scan_run_count(const cg_scan *self)
{
    return self->runs != NULL ? self->runs->joined.runs.count : 0;
}

cg_str scan_run_path(const cg_scan *self, size_t index)
{
    return self->runs->joined.runs.at[index].path;
}

cg_code cg_scan_join(cg_scan *self, const char *path, const char *component, cg_err *reterr)
{
    cg_run *run;
    cg_code code;

    if (path == NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "a join needs the path of a trace or bundle");
    CG_TRY(begin(self, component, reterr));
    CG_TRY(cg_run_open(self->env, path, &run, reterr));
    code = run_check_whole(run, reterr);
    if (code == CG_OK)
        code = join_add(&self->runs->joined, run->evidence, run->input.requested_path,
                        run_is_of_bundle(run), reterr);
    cg_run_free(run);
    return code;
}

static cg_code take_query(const cg_join_query *query, join_options *ret, cg_err *reterr)
{
    cg_join_query asked;

    *ret = (join_options){.limit = ROWS};
    if (query == NULL)
        return CG_OK;
    caller_read(&asked, sizeof asked, query);
    if (asked.size == 0)
        return cg_fail(reterr, PROBLEM_USAGE, "a query begins with its size");
    ret->select = str_from(asked.select);
    ret->offset = asked.offset;
    if (asked.has_limit)
        ret->limit = asked.limit;
    return CG_OK;
}

static cg_code write_join(const join_doc *doc, heap *memory, const cg_format *format, cg_sink sink,
                          cg_err *reterr)
{
    text_style style;
    jsonw out;

    if (caller_wants_text(format, &style))
        return text_join(memory, doc, &style, sink, reterr);
    if (jw_init(&out, memory, sink, true, false) != CG_OK)
        return err_nomem(reterr);
    sc_write(&out, &table_join_doc, doc);
    return jw_finish(&out, reterr);
}

cg_code cg_write_join(const cg_scan *self, const cg_join_query *query, const cg_format *format,
                      cg_sink sink, cg_err *reterr)
{
    join_options options;
    heap memory;
    arena room;
    join_doc doc;
    cg_code code;

    if (self->runs == NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "no run was joined with this scan");
    CG_TRY(take_query(query, &options, reterr));
    heap_init(&memory, self->env);
    arena_init(&room, &memory);
    code = join_document_make(&self->runs->joined, &options, &room, &doc, reterr);
    if (code == CG_OK)
        code = write_join(&doc, &memory, format, sink, reterr);
    arena_free(&room);
    return code;
}
