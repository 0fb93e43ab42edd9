#include "view/page.h"

#include <assert.h>

#include "view/document.h"
#include "view/island.h"
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

/*
 * The page with these islands in their order; `kind` says what it is about (`evidence`, `model`,
 * a word of ours). Nothing goes to the sink before the first island writes its first bytes.
 */
static cg_code page_write_islands(cg_str kind, const page_island *at, size_t count, cg_sink sink,
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

static cg_code page_write_islands(cg_str kind, const page_island *at, size_t count, cg_sink sink,
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

/* --- islands that are ready before the page begins --- */

static cg_code add_text(void *context, const char *bytes, size_t count)
{
    buf *to = context;

    buf_add(to, (cg_str){bytes, count});
    return to->failed ? CG_NOMEM : CG_OK;
}

static cg_code write_ready(const void *context, cg_sink sink, cg_err *reterr)
{
    const buf *text = context;

    (void)reterr;
    return sink.write(sink.context, text->at, text->len);
}

/* A text that could not grow tells the writer no more than its code. */
static cg_code told(cg_code code, cg_err *reterr)
{
    return code == CG_NOMEM ? err_nomem(reterr) : code;
}

/* `ret` is begun here and freed by the caller, whatever comes back. */
static cg_code make_ready(heap *memory, cg_str json, buf *ret, cg_err *reterr)
{
    buf_init(ret, memory, SIZE_MAX);
    return page_is_built()
               ? told(island_write(memory, json, (cg_sink){ret, add_text}, reterr), reterr)
               : CG_OK;
}

static page_island ready_island(cg_str id, const buf *text)
{
    return (page_island){id, CG_LIT(PAGE_JSON), write_ready, text};
}

cg_code page_write_texts(heap *memory, const char *kind, const page_text *at, size_t count,
                         cg_sink sink, cg_err *reterr)
{
    enum { MOST = 8 };
    page_island islands[MOST];
    buf texts[MOST];
    size_t made = 0;
    cg_code code = CG_OK;

    assert(count <= MOST);
    while (code == CG_OK && made < count) {
        code = make_ready(memory, at[made].json, &texts[made], reterr);
        islands[made] = ready_island(str_from(at[made].id), &texts[made]);
        made++;
    }
    if (code == CG_OK)
        code = page_write_islands(str_from(kind), islands, count, sink, reterr);
    while (made > 0)
        buf_free(&texts[--made]);
    return code;
}

/* --- runs --- */

/* What stands beside the payload of a run, and of another one. */
typedef struct run_page {
    heap memory;
    buf packed, answers;
    buf against, comparison;
} run_page;

static cg_code make_answers(const evidence *from, heap *memory, buf *ret, cg_err *reterr)
{
    buf text;
    cg_code code;

    buf_init(&text, memory, SIZE_MAX);
    code = document_answers(from, (cg_sink){&text, add_text}, reterr);
    if (code == CG_OK)
        code = island_write(memory, buf_text(&text), (cg_sink){ret, add_text}, reterr);
    buf_free(&text);
    return told(code, reterr);
}

/* Everything that may lack memory, so that the page begins only when nothing can be missing. */
static cg_code make_run_page(run_page *self, const evidence *run, const evidence *against,
                             cg_str comparison, cg_err *reterr)
{
    if (!page_is_built())
        return CG_OK;
    CG_TRY(packed_build(run, &self->packed, reterr));
    CG_TRY(make_answers(run, &self->memory, &self->answers, reterr));
    if (against == NULL)
        return CG_OK;
    CG_TRY(told(payload_write(against, (cg_sink){&self->against, add_text}, reterr), reterr));
    return told(
        island_write(&self->memory, comparison, (cg_sink){&self->comparison, add_text}, reterr),
        reterr);
}

static cg_code write_run_page(const evidence *run, const evidence *against, cg_str comparison,
                              cg_sink sink, cg_err *reterr)
{
    run_page self;
    evidence view;
    cg_code code;

    evidence_view(run, &self.memory, &view);
    buf_init(&self.packed, &self.memory, SIZE_MAX);
    buf_init(&self.answers, &self.memory, SIZE_MAX);
    buf_init(&self.against, &self.memory, SIZE_MAX);
    buf_init(&self.comparison, &self.memory, SIZE_MAX);
    code = make_run_page(&self, run, against, comparison, reterr);
    if (code == CG_OK) {
        const page_island islands[] = {
            {CG_LIT("cg-payload"), CG_LIT(PAGE_JSON), write_run, run},
            {CG_LIT("cg-packed"), CG_LIT(PACKED_TYPE), write_ready, &self.packed},
            ready_island(CG_LIT(PAGE_ANSWERS_ID), &self.answers),
            ready_island(CG_LIT(PAGE_AGAINST_ID), &self.against),
            ready_island(CG_LIT(PAGE_COMPARISON_ID), &self.comparison),
        };

        code =
            page_write_islands(CG_LIT("evidence"), islands, against != NULL ? 5 : 3, sink, reterr);
    }
    buf_free(&self.packed);
    buf_free(&self.answers);
    buf_free(&self.against);
    buf_free(&self.comparison);
    return code;
}

cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr)
{
    return write_run_page(from, NULL, (cg_str){0}, sink, reterr);
}

cg_code page_write_against(const evidence *run, const evidence *against,
                           const page_text *comparison, cg_sink sink, cg_err *reterr)
{
    return write_run_page(run, against, comparison->json, sink, reterr);
}

/* --- models --- */

cg_code page_write_model(heap *memory, const model_doc *doc, const doc_checkpoint *checkpoint,
                         cg_str sources, cg_sink sink, cg_err *reterr)
{
    model_context model = {memory, doc, checkpoint};
    page_island islands[2];
    buf text;
    cg_code code = make_ready(memory, sources, &text, reterr);

    islands[0] = (page_island){CG_LIT("cg-payload"), CG_LIT(PAGE_JSON), write_model, &model};
    islands[1] = ready_island(CG_LIT(PAGE_SOURCES_ID), &text);
    if (code == CG_OK)
        code =
            page_write_islands(CG_LIT("model"), islands, sources.ptr != NULL ? 2 : 1, sink, reterr);
    buf_free(&text);
    return code;
}

/* --- joins --- */

typedef struct join_page {
    heap memory; /* of what is made of the run */
    buf packed, answers;
    buf sources, join;
} join_page;

static cg_code make_join_page(join_page *self, heap *memory, const page_join *from, cg_err *reterr)
{
    if (!page_is_built())
        return CG_OK;
    CG_TRY(told(island_write(memory, from->sources, (cg_sink){&self->sources, add_text}, reterr),
                reterr));
    CG_TRY(
        told(island_write(memory, from->join, (cg_sink){&self->join, add_text}, reterr), reterr));
    if (from->run == NULL)
        return CG_OK;
    CG_TRY(packed_build(from->run, &self->packed, reterr));
    return make_answers(from->run, &self->memory, &self->answers, reterr);
}

cg_code page_write_join(heap *memory, const page_join *from, cg_sink sink, cg_err *reterr)
{
    model_context model = {memory, from->doc, from->checkpoint};
    page_island islands[6];
    size_t count = 0;
    join_page self;
    cg_code code;

    self.memory = (heap){.allocator = memory->allocator, .ceiling_bytes = memory->ceiling_bytes};
    buf_init(&self.packed, &self.memory, SIZE_MAX);
    buf_init(&self.answers, &self.memory, SIZE_MAX);
    buf_init(&self.sources, memory, SIZE_MAX);
    buf_init(&self.join, memory, SIZE_MAX);
    code = make_join_page(&self, memory, from, reterr);
    if (from->run != NULL) {
        islands[count++] =
            (page_island){CG_LIT("cg-payload"), CG_LIT(PAGE_JSON), write_run, from->run};
        islands[count++] =
            (page_island){CG_LIT("cg-packed"), CG_LIT(PACKED_TYPE), write_ready, &self.packed};
        islands[count++] = ready_island(CG_LIT(PAGE_ANSWERS_ID), &self.answers);
    }
    islands[count++] = (page_island){CG_LIT(PAGE_MODEL_ID), CG_LIT(PAGE_JSON), write_model, &model};
    islands[count++] = ready_island(CG_LIT(PAGE_SOURCES_ID), &self.sources);
    islands[count++] = ready_island(CG_LIT(PAGE_JOIN_ID), &self.join);
    if (code == CG_OK)
        code = page_write_islands(CG_LIT(PAGE_JOIN), islands, count, sink, reterr);
    buf_free(&self.packed);
    buf_free(&self.answers);
    buf_free(&self.sources);
    buf_free(&self.join);
    return code;
}
