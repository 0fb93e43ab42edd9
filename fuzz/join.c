/*
 * join - a model document and a trace, parted by a line `----`: whatever both readers take can be
 * joined, and everything that is said of it is bounded and hangs together.
 */
#include "check.h"

#include "join/join_rows.h"
#include "model/normalise.h"
#include "view/text_join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cg_code drop(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OK;
}

static void check_list(const void *list)
{
    const join_rows *of = list;

    CHECK(of->returned <= of->total && of->rows.count == of->returned);
    CHECK(of->is_truncated == (of->returned < of->total));
}

static void check_rows(const join_doc *doc)
{
    const join_rows *rows = doc->rows;

    for (size_t i = 0; i < rows->rows.count; i++) {
        const join_row *row = &((const join_row *)rows->rows.at)[i];

        CHECK(row->observed.count > 0);
        for (size_t k = 0; k < row->observed.count; k++) {
            const join_fact *fact = &((const join_fact *)row->observed.at)[k];
            const join_provenance *from = fact->provenance;

            CHECK(fact->count > 0 && from != NULL && from->run < doc->runs.count);
            CHECK(from->names.count <= from->name_count);
        }
    }
}

static void tell(heap *from, const join *joined, uint64_t limit)
{
    const join_options options = {{0}, limit, limit / 2};
    const text_style style = {false, 80, 20};
    join_doc doc;
    arena mem;
    jsonw out;

    arena_init(&mem, from);
    CHECK(join_document_make(joined, &options, &mem, &doc, NULL) == CG_OK);
    check_list(doc.declared_not_executed);
    check_list(doc.explained);
    check_list(doc.unexplained);
    check_list(doc.hazards);
    check_list(doc.non_finite);
    check_list(doc.executed_not_declared);
    check_list(doc.ambiguous);
    check_list(doc.rows);
    check_rows(&doc);
    CHECK(jw_init(&out, from, (cg_sink){NULL, drop}, false, false) == CG_OK);
    sc_write(&out, &table_join_doc, &doc);
    CHECK(jw_finish(&out, NULL) == CG_OK);
    CHECK(text_join(from, &doc, &style, (cg_sink){NULL, drop}, NULL) == CG_OK);
    arena_free(&mem);
}

static void join_both(heap *from, const model_document *document, cg_str text)
{
    trace_doc *trace = NULL;
    evidence *run = NULL;
    join joined;

    if (trace_read_text(NULL, text, &trace, NULL) != CG_OK ||
        evidence_build(NULL, trace, &run, NULL) != CG_OK)
        return;
    CHECK(join_open(&joined, from, NULL, &document->doc, (cg_str){0}, 7, NULL) == CG_OK);
    CHECK(join_add(&joined, run, CG_LIT("run"), false, NULL) == CG_OK);
    CHECK(join_add(&joined, run, CG_LIT("again"), true, NULL) == CG_OK);
    evidence_free(run);
    tell(from, &joined, UINT64_MAX);
    tell(from, &joined, 2);
    join_free(&joined);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cg_str text = {(const char *)data, size};
    const size_t line = str_find(text, CG_LIT("\n----\n"));
    model_document document;
    heap memory;

    if (line == SIZE_MAX)
        return 0;
    heap_init(&memory, NULL);
    if (model_read(&memory, (cg_str){text.ptr, line}, &document, NULL) != CG_OK)
        return 0;
    if (model_normalise(&document, NULL) == CG_OK)
        join_both(&memory, &document, (cg_str){text.ptr + line + 6, size - line - 6});
    model_free(&document);
    CHECK(memory.used_bytes == 0);
    return 0;
}
