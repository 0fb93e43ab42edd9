#include "view/page.h"

#include "view/packed.h"
#include "view/payload.h"

#ifdef CG_VIEWER
/* page_part_0 to _3: the page before, between and behind kind (twice) and islands (tools/embed). */
#include "gen/page_parts.h"

bool page_is_built(void)
{
    return true;
}

#define PART(array) ((cg_str){array, sizeof array})

/* What stands before an island goes out with the island's first bytes. */
typedef struct opening {
    cg_sink sink;
    cg_str kind;
    const page_island *island;
    bool is_first;
    bool is_written;
} opening;

static cg_code put(const cg_sink *sink, cg_str text)
{
    return sink->write(sink->context, text.ptr, text.len);
}

static cg_code put_opening(const opening *self)
{
    if (self->is_first) {
        CG_TRY(put(&self->sink, PART(page_part_0)));
        CG_TRY(put(&self->sink, self->kind));
        CG_TRY(put(&self->sink, PART(page_part_1)));
        CG_TRY(put(&self->sink, self->kind));
        CG_TRY(put(&self->sink, PART(page_part_2)));
    }
    CG_TRY(put(&self->sink, CG_LIT("<script id=\"")));
    CG_TRY(put(&self->sink, self->island->id));
    CG_TRY(put(&self->sink, CG_LIT("\" type=\"")));
    CG_TRY(put(&self->sink, self->island->type));
    return put(&self->sink, CG_LIT("\">"));
}

static cg_code write_island(void *context, const char *bytes, size_t count)
{
    opening *self = context;

    if (!self->is_written) {
        self->is_written = true;
        CG_TRY(put_opening(self));
    }
    return self->sink.write(self->sink.context, bytes, count);
}

static cg_code refused(cg_code code, cg_err *reterr)
{
    if (code == CG_OUTPUT)
        cg_fail(reterr, PROBLEM_OUTPUT, "the page could not be written");
    return code;
}

cg_code page_write_islands(cg_str kind, const page_island *at, size_t count, cg_sink sink,
                           cg_err *reterr)
{
    for (size_t i = 0; i < count; i++) {
        opening start = {.sink = sink, .kind = kind, .island = &at[i], .is_first = i == 0};
        cg_code code;

        CG_TRY(at[i].write(at[i].context, (cg_sink){&start, write_island}, reterr));
        code = start.is_written ? CG_OK : write_island(&start, "", 0);
        if (code == CG_OK)
            code = put(&sink, CG_LIT("</script>\n"));
        CG_TRY(refused(code, reterr));
    }
    return refused(put(&sink, PART(page_part_3)), reterr);
}

#else

bool page_is_built(void)
{
    return false;
}

cg_code page_write_islands(cg_str kind, const page_island *at, size_t count, cg_sink sink,
                           cg_err *reterr)
{
    (void)kind;
    (void)at;
    (void)count;
    (void)sink;
    return cg_fail(reterr, PROBLEM_PLANNED, "this build has no viewer (CG_VIEWER=OFF)");
}

#endif

static cg_code write_run(const void *context, cg_sink sink, cg_err *reterr)
{
    return payload_write(context, sink, reterr);
}

typedef struct model_context {
    heap *memory;
    const model_doc *doc;
    const doc_checkpoint *checkpoint;
} model_context;

static cg_code write_model(const void *context, cg_sink sink, cg_err *reterr)
{
    const model_context *self = context;

    return model_payload_write(self->memory, self->doc, self->checkpoint, sink, reterr);
}

static cg_code write_text(const void *context, cg_sink sink, cg_err *reterr)
{
    const buf *text = context;

    (void)reterr;
    return sink.write(sink.context, text->at, text->len);
}

cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr)
{
    evidence view;
    heap memory;
    buf packed;
    page_island islands[] = {
        {CG_LIT("cg-payload"), CG_LIT(PAGE_JSON), write_run, from},
        {CG_LIT("cg-packed"), CG_LIT(PACKED_TYPE), write_text, &packed},
    };
    cg_code code = CG_OK;

    evidence_view(from, &memory, &view);
    buf_init(&packed, &memory, SIZE_MAX);
    /* First, so that the page begins only when nothing can be missing. */
    if (page_is_built())
        code = packed_build(from, &packed, reterr);
    if (code == CG_OK)
        code = page_write_islands(CG_LIT("evidence"), islands, 2, sink, reterr);
    buf_free(&packed);
    return code;
}

cg_code page_write_model(heap *memory, const model_doc *doc, const doc_checkpoint *checkpoint,
                         cg_sink sink, cg_err *reterr)
{
    model_context model = {memory, doc, checkpoint};
    page_island island = {CG_LIT("cg-payload"), CG_LIT(PAGE_JSON), write_model, &model};

    return page_write_islands(CG_LIT("model"), &island, 1, sink, reterr);
}
