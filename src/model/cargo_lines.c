#include "model/cargo_lines.h"

#include "model/rules.h"
#include "schema/findings_schema.h"

typedef struct lines {
    heap *heap;
    cg_sink sink;
    buf package_id;
    buf src_path;
    line_target target;
    cg_str kind; /* `kind` and `crate_types` have it as their only item */
    cg_str manifest_path;
} lines;

static cg_code write_line(lines *self, const sc_table *table, const void *record, cg_err *reterr)
{
    jsonw out;
    cg_code code = jw_init(&out, self->heap, self->sink, false, false);

    if (code == CG_OK)
        sc_write(&out, table, record);
    CG_TRY(jw_finish(&out, reterr));
    CG_TRY(code);
    code = self->sink.write(self->sink.context, "\n", 1);
    return code == CG_OUTPUT ? cg_fail(reterr, PROBLEM_OUTPUT, "a line could not be written")
                             : code;
}

static cg_str folder_of(cg_str path)
{
    size_t slash = str_find_last(path, '/');

    return slash == SIZE_MAX ? CG_LIT(".") : (cg_str){path.ptr, slash};
}

/* path+file:///folder#name@version, as cargo names packages that lie in a folder. */
static void describe(lines *self, const model_cargo *cargo, const cargo_lines_target *target)
{
    cg_str folder = cargo != NULL ? folder_of(cargo->manifest_path) : CG_LIT(".");

    self->kind = target != NULL && target->kind.len > 0 ? target->kind : CG_LIT("lib");
    self->target = (line_target){
        .kind = {&self->kind, 1},
        .crate_types = {&self->kind, 1},
        .edition = target != NULL && target->edition.len > 0 ? target->edition : CG_LIT("2021"),
        .doc = true,
        .doctest = true,
        .test = true};
    if (cargo != NULL) {
        self->manifest_path = cargo->manifest_path;
        self->target.name =
            cargo->selected_target.ptr != NULL ? cargo->selected_target : cargo->package_name;
        buf_add(&self->package_id, CG_LIT("path+file://"));
        buf_add(&self->package_id, folder);
        buf_byte(&self->package_id, '#');
        buf_add(&self->package_id, cargo->package_name);
        buf_byte(&self->package_id, '@');
        buf_add(&self->package_id, cargo->package_version);
    } else {
        self->manifest_path = CG_LIT("Cargo.toml");
        self->target.name = CG_LIT("unknown");
        buf_add(&self->package_id, CG_LIT("unknown"));
    }
    if (target != NULL && target->src_path.len > 0) {
        buf_add(&self->src_path, target->src_path);
    } else {
        buf_add(&self->src_path, folder);
        buf_add(&self->src_path, CG_LIT("/src/lib.rs"));
    }
    self->target.src_path = buf_text(&self->src_path);
}

static line_span span_of(const model_finding *finding, const model_place_text *place)
{
    const model_location *location = finding->location;
    line_span span = {.file_name = place->file,
                      .line_start = place->line > 0 ? place->line : 1,
                      .column_start = place->column > 0 ? place->column : 1,
                      .is_primary = true};

    span.line_end = span.line_start;
    span.column_end = span.column_start;
    if (location != NULL && location->byte_end >= location->byte_start) {
        span.byte_start = location->byte_start;
        span.byte_end = location->byte_end;
        span.column_end += location->byte_end - location->byte_start;
    }
    return span;
}

static cg_code write_finding(lines *self, const model_finding *finding, buf *rendered,
                             cg_err *reterr)
{
    const rule_row *rule = rule_find(finding->rule);
    model_place_text place = findings_place(finding);
    line_span span = span_of(finding, &place);
    line_code code = {finding->rule, rule != NULL ? rule->means : (cg_str){0}};
    line_child help = {.message = finding->help, .level = CG_LIT("help")};
    line_diagnostic diagnostic = {.type = CG_LIT("diagnostic"),
                                  .message = finding->message,
                                  .code = &code,
                                  .level = finding->severity,
                                  .spans = {&span, place.file.ptr != NULL},
                                  .children = {&help, finding->help.ptr != NULL}};
    line_message line = {.reason = CG_LIT("compiler-message"),
                         .package_id = buf_text(&self->package_id),
                         .manifest_path = self->manifest_path,
                         .target = &self->target,
                         .message = &diagnostic};

    buf_clear(rendered);
    findings_human_one(finding, rendered);
    if (rendered->failed)
        return err_nomem(reterr);
    diagnostic.rendered = buf_text(rendered);
    return write_line(self, &table_line_message, &line, reterr);
}

static cg_code write_all(lines *self, const findings_view *view, bool is_success, cg_err *reterr)
{
    line_finished finished = {CG_LIT("build-finished"), is_success};
    cg_code code = CG_OK;
    buf rendered;

    if (self->package_id.failed || self->src_path.failed)
        return err_nomem(reterr);
    buf_init(&rendered, self->heap, SIZE_MAX);
    for (size_t i = 0; code == CG_OK && i < view->count; i++)
        code = write_finding(self, findings_at(view, i), &rendered, reterr);
    buf_free(&rendered);
    return code == CG_OK ? write_line(self, &table_line_finished, &finished, reterr) : code;
}

cg_code cargo_lines_write(const findings_view *view, const cargo_lines_target *target,
                          bool is_success, heap *from, cg_sink sink, cg_err *reterr)
{
    lines self = {.heap = from, .sink = sink};
    cg_code code;

    buf_init(&self.package_id, from, SIZE_MAX);
    buf_init(&self.src_path, from, SIZE_MAX);
    describe(&self, view->doc->cargo, target);
    code = write_all(&self, view, is_success, reterr);
    buf_free(&self.package_id);
    buf_free(&self.src_path);
    return code;
}
