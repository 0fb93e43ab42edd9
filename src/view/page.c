#include "view/page.h"

#include "view/payload.h"

#ifdef CG_VIEWER
/* page_before and page_after: the page around the island, printed by tools/embed. */
#include "gen/page_parts.h"

bool page_is_built(void)
{
    return true;
}

/* The first part of the page goes out with the first bytes of the island. */
typedef struct opening {
    cg_sink sink;
    bool is_written;
} opening;

static cg_code write_island(void *context, const char *bytes, size_t count)
{
    opening *self = context;

    if (!self->is_written) {
        self->is_written = true;
        CG_TRY(self->sink.write(self->sink.context, page_before, sizeof page_before));
    }
    return self->sink.write(self->sink.context, bytes, count);
}

cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr)
{
    opening start = {.sink = sink};

    cg_code code;

    CG_TRY(payload_write(from, (cg_sink){&start, write_island}, reterr));
    code = sink.write(sink.context, page_after, sizeof page_after);
    if (code == CG_OUTPUT)
        cg_fail(reterr, PROBLEM_OUTPUT, "the page could not be written");
    return code;
}

#else

bool page_is_built(void)
{
    return false;
}

cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr)
{
    (void)from;
    (void)sink;
    return cg_fail(reterr, PROBLEM_PLANNED, "this build has no viewer (CG_VIEWER=OFF)");
}

#endif
