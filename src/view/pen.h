/*
 * pen - what every document of this room is written with.
 *
 * A pen works on a view of the evidence with memory of its own, so that
 * several documents can be written from one evidence at the same time. Parts
 * point at the pen and at the evidence; they live until pen_finish. `emit`
 * functions take the pen as context unless they say otherwise and write one
 * JSON value in every case; what fails in them stays in the writer.
 */
#ifndef CG_VIEW_PEN_H
#define CG_VIEW_PEN_H

#include "exec/evidence.h"

typedef struct pen {
    evidence view;
    heap heap;
    jsonw out;
    cg_err *reterr;
    buf id, other_id, text; /* room for the row at hand */
    bool has_completed;     /* the view's graph holds columns of this pen */
    size_t row_cap;         /* rows of a long list of planes and parts at most; SIZE_MAX: all */
    uint8_t category_order[CATEGORY_COUNT]; /* category words, bytewise */
    sc_count categories[CATEGORY_COUNT];
    sc_count *devices; /* one slot for each device of the logical plane */
} pen;

/* Pretty printed; `is_sorted`: keys bytewise. */
cg_code pen_start(pen *self, const evidence *from, cg_sink sink, bool is_sorted,
                  cg_err *reterr) CG_MUST;
/* Peak and residual of every span, for documents that list all nodes. */
cg_code pen_complete(pen *self) CG_MUST;
/* Ends the document, reports the first failure and frees the pen. */
cg_code pen_finish(pen *self) CG_MUST;
/* Frees the pen of a document that is not written after all. */
void pen_drop(pen *self);

static inline cg_str pen_text(const pen *self, sym symbol)
{
    return trace_text(self->view.trace, symbol);
}

/* How many of `count` rows are written. */
static inline size_t pen_rows(const pen *self, size_t count)
{
    return count < self->row_cap ? count : self->row_cap;
}

/* The first failure stays in the writer, which then skips the rest and reports it. */
static inline void pen_latch(jsonw *out, cg_code code)
{
    if (out->code == CG_OK)
        out->code = code;
}

static inline void pen_check(jsonw *out, const buf *text)
{
    if (text->failed)
        pen_latch(out, CG_NOMEM);
}

/* A truth value where the table has room for null. */
sc_stream pen_truth(bool value);

/* Texts of the trace as an array; context of pen_emit_names. */
typedef struct names {
    const trace_doc *trace;
    const sym *at;
    size_t count;
} names;
void pen_emit_names(jsonw *out, const void *context);

#endif
