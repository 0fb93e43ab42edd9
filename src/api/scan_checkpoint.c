/* A crate and a checkpoint. */
#include "api/caller.h"
#include "api/scan.h"
#include "join/asked.h"
#include "join/asked_merge.h"
#include "join/checkpoint.h"
#include "view/text_checkpoint.h"

#include <string.h>

cg_code cg_scan_checkpoint(cg_scan *self, const char *path, const char *root, const char *component,
                           cg_err *reterr)
{
    checkpoint_options options = {
        .root = str_from(root), .component = str_from(component), .settled = &self->settled};
    const extraction *from;
    asked_matches matches;
    asked_model asked;

    if (self->has_checkpoint)
        return cg_fail(reterr, PROBLEM_USAGE, "a scan is compared with one checkpoint");
    if (self->runs != NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "a checkpoint is compared before runs are joined");
    if (path == NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "a comparison needs the path of a checkpoint");
    CG_TRY(scan_open_header(self, path, reterr));
    CG_TRY(scan_program_of(self, reterr));
    from = scan_extraction(self->of);
    CG_TRY(asked_make(&self->heap, &self->mem, from, scan_functions(self->of), &self->header,
                      &asked, reterr));
    CG_TRY(checkpoint_compare(&self->heap, &self->mem, from->eval->exprs, asked.components,
                              asked.count, &self->header, &options, &self->checkpoint, reterr));
    CG_TRY(asked_merge(&asked, &self->heap, &self->header, &self->checkpoint, self->document,
                       &matches, reterr));
    self->matches = matches.at;
    self->match_count = matches.count;
    self->has_checkpoint = true;
    return scan_allow(self, ORIGIN_CHECKPOINT, reterr);
}

static cg_code write_record(const cg_scan *self, const sc_table *table, const void *record,
                            cg_sink sink, cg_err *reterr)
{
    heap memory;
    jsonw out;

    heap_init(&memory, self->env);
    if (jw_init(&out, &memory, sink, true, false) != CG_OK)
        return err_nomem(reterr);
    sc_write(&out, table, record);
    return jw_finish(&out, reterr);
}

static cg_code check_compared(const cg_scan *self, cg_err *reterr)
{
    return self->has_checkpoint
               ? CG_OK
               : cg_fail(reterr, PROBLEM_USAGE, "no checkpoint was compared with this scan");
}

cg_code cg_write_checkpoint(const cg_scan *self, const cg_format *format, cg_sink sink,
                            cg_err *reterr)
{
    text_style style;
    heap memory;

    CG_TRY(check_compared(self, reterr));
    if (!caller_wants_text(format, &style))
        return write_record(self, &table_checkpoint, &self->checkpoint, sink, reterr);
    heap_init(&memory, self->env);
    return text_checkpoint(&memory, &self->checkpoint, &self->settled, &style, sink, reterr);
}

cg_code cg_write_key_map(const cg_scan *self, cg_sink sink, cg_err *reterr)
{
    doc_key_map map;
    heap memory;
    arena room;
    cg_code code;

    CG_TRY(check_compared(self, reterr));
    heap_init(&memory, self->env);
    arena_init(&room, &memory);
    code = checkpoint_key_map(&room, &self->checkpoint, &map, reterr);
    if (code == CG_OK)
        code = write_record(self, &table_key_map, &map, sink, reterr);
    arena_free(&room);
    return code;
}
