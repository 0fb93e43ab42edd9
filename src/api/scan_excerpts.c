#include "api/scan_excerpts.h"

#include "base/buf.h"
#include "schema/viewer_static_schema.h"

#define LINES_AROUND 2
#define LINE_BYTES   240

typedef struct excerpting {
    heap *heap;
    arena mem;
    const program *code;
    VEC(doc_excerpt) rows;
    uint64_t total;
} excerpting;

/* The file of the scanned crates that is shown under this path. */
static const rust_source *source_of(const program *code, cg_str path)
{
    for (size_t i = 1; i < code->files.count; i++) {
        const program_file *file = code->files.at[i];

        if (file->crate != 0 && code->crates.at[file->crate].is_scanned &&
            str_equal(file->source.path, path))
            return &file->source;
    }
    return NULL;
}

/* Line `number` from 1, without its end; cut visibly when it is long, and made UTF-8. */
static bool line_text(arena *mem, const rust_source *from, uint64_t number, cg_str *ret)
{
    uint32_t start = from->lines[number - 1];
    size_t end = number < from->line_count ? from->lines[number] : from->text.len;
    cg_str text = {from->text.ptr + start, end - start};

    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    if (str_utf8_error(text) != SIZE_MAX)
        return arena_text(mem, CG_LIT("(not UTF-8)"), ret);
    if (text.len <= LINE_BYTES)
        return arena_text(mem, text, ret);
    text.len = LINE_BYTES;
    while (text.len > 0 && ((unsigned char)text.ptr[text.len] & 0xc0) == 0x80)
        text.len--;
    return arena_format(mem, ret, "%.*s \xe2\x80\xa6", (int)text.len, text.ptr);
}

static cg_code add_excerpt(excerpting *self, const model_finding *finding, cg_err *reterr)
{
    const model_location *at = finding->location;
    const rust_source *from = source_of(self->code, at->file);
    uint64_t first;
    uint64_t last;
    cg_str *lines;
    doc_excerpt *row;

    if (from == NULL || at->line == 0 || at->line > from->line_count)
        return CG_OK;
    first = at->line > LINES_AROUND ? at->line - LINES_AROUND : 1;
    last = at->line + LINES_AROUND < from->line_count ? at->line + LINES_AROUND : from->line_count;
    lines = arena_take(&self->mem, (size_t)(last - first + 1) * sizeof *lines);
    row = vec_add(self->heap, &self->rows);
    if (lines == NULL || row == NULL)
        return err_nomem(reterr);
    *row = (doc_excerpt){finding->id, at->file, first, {lines, (size_t)(last - first + 1)}};
    for (uint64_t number = first; number <= last; number++) {
        if (!line_text(&self->mem, from, number, &lines[number - first]))
            return err_nomem(reterr);
    }
    return CG_OK;
}

static cg_code add_all(excerpting *self, const model_doc *doc, cg_err *reterr)
{
    const model_finding *findings = doc->findings.at;
    uint8_t severities[] = {MODEL_FINDING_SEVERITY_ERROR, MODEL_FINDING_SEVERITY_WARNING,
                            MODEL_FINDING_SEVERITY_INFORMATION};

    for (size_t k = 0; k < sizeof severities; k++) {
        for (size_t i = 0; i < doc->findings.count; i++) {
            if (findings[i].location == NULL || findings[i].severity != severities[k])
                continue;
            self->total++;
            if (self->rows.count < EXCERPTS_MOST)
                CG_TRY(add_excerpt(self, &findings[i], reterr));
        }
    }
    return CG_OK;
}

static cg_code add_text(void *context, const char *bytes, size_t count)
{
    buf *to = context;

    buf_add(to, (cg_str){bytes, count});
    return to->failed ? CG_NOMEM : CG_OK;
}

static cg_code write_all(excerpting *self, const model_doc *doc, buf *ret, cg_err *reterr)
{
    doc_page_sources sources = {.schema = CG_LIT(PAGE_SOURCES_SCHEMA)};
    jsonw out;

    CG_TRY(add_all(self, doc, reterr));
    sources.total = self->total;
    sources.excerpts = (sc_records){self->rows.at, self->rows.count};
    CG_TRY(jw_init(&out, self->heap, (cg_sink){ret, add_text}, false, true));
    sc_write(&out, &table_page_sources, &sources);
    return jw_finish(&out, reterr);
}

static bool has_place(const model_doc *doc)
{
    const model_finding *findings = doc->findings.at;

    for (size_t i = 0; i < doc->findings.count; i++) {
        if (findings[i].location != NULL)
            return true;
    }
    return false;
}

cg_code scan_excerpts(const cg_scan *from, heap *memory, buf *ret, cg_err *reterr)
{
    const model_doc *doc = &from->document->doc;
    excerpting self = {.heap = memory};
    scan_options options = from->options;
    scan *again = NULL;
    cg_code code = CG_OK;

    options.is_structure = true;
    options.graph = NULL;
    if (from->of == NULL && has_place(doc))
        code = scan_open(from->env, from->path, &options, &again, reterr);
    if (code != CG_OK)
        return code;
    arena_init(&self.mem, memory);
    if (from->of != NULL || again != NULL) {
        self.code = scan_program(again != NULL ? again : from->of);
        code = write_all(&self, doc, ret, reterr);
    } else {
        model_doc none = {0};

        code = write_all(&self, &none, ret, reterr);
    }
    vec_free(memory, &self.rows);
    arena_free(&self.mem);
    scan_free(again);
    return code;
}
