#include "view/page.h"

#include "view/payload.h"

#ifdef CG_VIEWER
/* NAME_before and NAME_after: the page around the island, printed by tools/embed. */
#include "gen/model_parts.h"
#include "gen/page_parts.h"

bool page_is_built(void)
{
    return true;
}

/* The first part of the page goes out with the first bytes of the island. */
typedef struct opening {
    cg_sink sink;
    cg_str before;
    bool is_written;
} opening;

static cg_code write_island(void *context, const char *bytes, size_t count)
{
    opening *self = context;

    if (!self->is_written) {
        self->is_written = true;
        CG_TRY(self->sink.write(self->sink.context, self->before.ptr, self->before.len));
    }
    return self->sink.write(self->sink.context, bytes, count);
}

static cg_code write_after(cg_sink sink, cg_str after, cg_err *reterr)
{
    cg_code code = sink.write(sink.context, after.ptr, after.len);

    if (code == CG_OUTPUT)
        cg_fail(reterr, PROBLEM_OUTPUT, "the page could not be written");
    return code;
}

cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr)
{
    opening start = {.sink = sink, .before = {page_before, sizeof page_before}};

    CG_TRY(payload_write(from, (cg_sink){&start, write_island}, reterr));
    return write_after(sink, (cg_str){page_after, sizeof page_after}, reterr);
}

cg_code page_write_model(heap *memory, const model_doc *doc, const doc_checkpoint *checkpoint,
                         cg_sink sink, cg_err *reterr)
{
    opening start = {.sink = sink, .before = {model_before, sizeof model_before}};

    CG_TRY(model_payload_write(memory, doc, checkpoint, (cg_sink){&start, write_island}, reterr));
    return write_after(sink, (cg_str){model_after, sizeof model_after}, reterr);
}

#else

static cg_code refuse(cg_err *reterr)
{
    return cg_fail(reterr, PROBLEM_PLANNED, "this build has no viewer (CG_VIEWER=OFF)");
}

bool page_is_built(void)
{
    return false;
}

cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr)
{
    (void)from;
    (void)sink;
    return refuse(reterr);
}

cg_code page_write_model(heap *memory, const model_doc *doc, const doc_checkpoint *checkpoint,
                         cg_sink sink, cg_err *reterr)
{
    (void)memory;
    (void)doc;
    (void)checkpoint;
    (void)sink;
    return refuse(reterr);
}

#endif
