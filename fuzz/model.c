/* A model document: read, put in order, asked, shown as a tree, compared with a baseline. */
#include "model/baseline.h"
#include "model/normalise.h"
#include "model/query.h"
#include "model/tree_view.h"

#include "check.h"

static cg_code drop(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OK;
}

static void ask_all(heap *from, const model_document *document)
{
    for (int kind = 0; kind < ASK_KIND_COUNT; kind++) {
        model_request request = MODEL_REQUEST;
        model_answer answer;
        jsonw out;

        request.kind = (enum ask_kind)kind;
        if (ask_kinds[kind].select == ASK_SELECT_ONE)
            request.select = CG_LIT("a");
        request.to = CG_LIT("b");
        if (query_open(&answer, from, document, &request, NULL) != CG_OK)
            continue;
        if (jw_init(&out, from, (cg_sink){NULL, drop}, false, false) == CG_OK)
            query_write(&answer, &out);
        (void)!jw_finish(&out, NULL);
        query_close(&answer);
    }
}

/* What a document's own baseline of findings has is all that it has. */
static void take_known(heap *from, model_document *document)
{
    size_t count = document->doc.findings.count;
    size_t known = 0;
    size_t gone = 0;
    bool is_equal = false;
    buf file;

    buf_init(&file, from, SIZE_MAX);
    if (baseline_write(from, &document->doc, BASELINE_FINDINGS, &file, NULL) == CG_OK) {
        buf nothing;

        buf_init(&nothing, from, SIZE_MAX);
        CHECK(baseline_compare(from, buf_text(&file), &document->doc, &is_equal, &nothing, NULL) ==
              CG_OK);
        CHECK(is_equal);
        buf_free(&nothing);
        CHECK(baseline_take_known(from, buf_text(&file), document, &known, &gone, NULL) == CG_OK);
        CHECK(known == count && gone == 0 && document->doc.findings.count == 0);
    }
    buf_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cg_str text = {(const char *)data, size};
    const tree_options options = {0};
    model_document document;
    heap memory;
    tree made;
    bool is_equal;
    size_t known;
    size_t gone;
    buf out;

    heap_init(&memory, NULL);
    if (model_read(&memory, text, &document, NULL) != CG_OK)
        return 0;
    if (model_normalise(&document, NULL) == CG_OK) {
        ask_all(&memory, &document);
        (void)!module_tree_make(&document.mem, &memory, &document.doc, &options, &made, NULL);
        buf_init(&out, &memory, SIZE_MAX);
        (void)!baseline_write(&memory, &document.doc, BASELINE_READABLE, &out, NULL);
        (void)!baseline_compare(&memory, text, &document.doc, &is_equal, &out, NULL);
        (void)!baseline_take_known(&memory, text, &document, &known, &gone, NULL);
        buf_free(&out);
        take_known(&memory, &document);
    }
    model_free(&document);
    return 0;
}
