#include "view/model_payload.h"

#include "codec/escape.h"
#include "view/shown_views.h"

/* Rows of a list in the first attempt at an overview; each further one has three quarters. */
#define FIRST_ROWS ((size_t)65536)
/* What an overview leaves for data flow, if the rest needs that much. */
#define STRUCTURE_BYTES (MODEL_PAYLOAD_BYTES / 8 * 7)

/* JSON text in the making, no longer than `limit`. */
typedef struct gathered {
    buf text;
    size_t limit;
    bool is_over;
} gathered;

static cg_code gather_text(void *context, const char *bytes, size_t count)
{
    gathered *self = context;

    if (count > self->limit - self->text.len) {
        self->is_over = true;
        return CG_LIMIT;
    }
    buf_add(&self->text, (cg_str){bytes, count});
    return self->text.failed ? CG_NOMEM : CG_OK;
}

/* What is tried: how many rows, and how long it may become. */
typedef struct attempt {
    size_t rows, flow_rows, limit;
} attempt;

static cg_code write_attempt(const model_links *links, const attempt *of, gathered *json,
                             cg_err *reterr)
{
    arena mem;
    model_choice choice;
    shown_work self = {
        .links = links, .choice = &choice, .mem = &mem, .ceiling = MODEL_PAYLOAD_BYTES};
    cg_code code;

    arena_init(&mem, links->heap);
    buf_init(&self.text, links->heap, SIZE_MAX);
    code = model_choose(links, &mem, of->rows, of->flow_rows, &choice, reterr);
    if (code == CG_OK &&
        jw_init(&self.out, links->heap, (cg_sink){json, gather_text}, false, true) != CG_OK)
        code = err_nomem(reterr);
    if (code == CG_OK) {
        shown_write(&self);
        code = jw_finish(&self.out, json->is_over ? NULL : reterr);
    }
    buf_free(&self.text);
    arena_free(&mem);
    return json->is_over && code == CG_LIMIT ? CG_OK : code;
}

/* Write into *ret, escaped; *ret_fits false: it would be too long. */
static cg_code try_attempt(const model_links *links, const attempt *of, buf *ret, bool *ret_fits,
                           cg_err *reterr)
{
    gathered json = {.limit = of->limit};
    cg_code code;

    buf_init(&json.text, links->heap, SIZE_MAX);
    code = write_attempt(links, of, &json, reterr);
    *ret_fits = !json.is_over;
    if (code == CG_OK && *ret_fits) {
        buf_clear(ret);
        esc_script(ret, buf_text(&json.text));
        *ret_fits = ret->len <= of->limit;
        code = ret->failed ? err_nomem(reterr) : CG_OK;
    }
    buf_free(&json.text);
    return code;
}

/* Lower *rows, one of the numbers of `of`, until the attempt fits. */
static cg_code shrink(const model_links *links, attempt *of, size_t *rows, buf *ret, cg_err *reterr)
{
    bool fits;

    for (;;) {
        CG_TRY(try_attempt(links, of, ret, &fits, reterr));
        if (fits)
            return CG_OK;
        if (*rows == 0)
            return cg_fail(reterr, PROBLEM_LIMIT, "not even the head of the model fits in a page");
        *rows = *rows == SIZE_MAX ? FIRST_ROWS : *rows * 3 / 4;
    }
}

/* The whole; else as much of everything but data flow as has room, then of that. */
static cg_code find_island(const model_links *links, buf *ret, cg_err *reterr)
{
    attempt of = {SIZE_MAX, SIZE_MAX, MODEL_PAYLOAD_BYTES};
    bool fits;

    CG_TRY(try_attempt(links, &of, ret, &fits, reterr));
    if (fits)
        return CG_OK;
    of = (attempt){SIZE_MAX, 0, STRUCTURE_BYTES};
    CG_TRY(shrink(links, &of, &of.rows, ret, reterr));
    of.flow_rows = SIZE_MAX;
    of.limit = MODEL_PAYLOAD_BYTES;
    return shrink(links, &of, &of.flow_rows, ret, reterr);
}

cg_code model_payload_write(heap *from, const model_doc *doc, const doc_checkpoint *checkpoint,
                            cg_sink sink, cg_err *reterr)
{
    model_links links;
    buf text;
    cg_code code = model_links_make(from, doc, checkpoint, &links, reterr);

    buf_init(&text, from, SIZE_MAX);
    if (code == CG_OK)
        code = find_island(&links, &text, reterr);
    if (code == CG_OK) {
        code = sink.write(sink.context, text.at, text.len);
        if (code == CG_OUTPUT)
            cg_fail(reterr, PROBLEM_OUTPUT, "the page could not be written");
    }
    buf_free(&text);
    model_links_free(&links);
    return code;
}
