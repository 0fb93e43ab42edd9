#include "view/pen.h"

static void order_categories(uint8_t order[CATEGORY_COUNT])
{
    for (uint8_t i = 0; i < CATEGORY_COUNT; i++) {
        uint8_t at = i;

        while (at > 0 && str_compare(sc_word(&words_category, order[at - 1]),
                                     sc_word(&words_category, i)) > 0) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

static void pen_release(pen *self)
{
    if (self->has_completed)
        graph_uncomplete(&self->heap, &self->view.graph);
    buf_free(&self->id);
    buf_free(&self->other_id);
    buf_free(&self->text);
    if (self->devices != NULL)
        heap_resize(&self->heap, self->devices,
                    self->view.memory.devices.count * sizeof *self->devices, 0);
    self->devices = NULL;
}

cg_code pen_start(pen *self, const evidence *from, cg_sink sink, bool is_sorted, cg_err *reterr)
{
    size_t device_count = from->memory.devices.count;

    *self = (pen){.reterr = reterr, .row_cap = SIZE_MAX};
    evidence_view(from, &self->heap, &self->view);
    buf_init(&self->id, &self->heap, SIZE_MAX);
    buf_init(&self->other_id, &self->heap, SIZE_MAX);
    buf_init(&self->text, &self->heap, SIZE_MAX);
    order_categories(self->category_order);
    if (device_count > 0) {
        self->devices = heap_resize(&self->heap, NULL, 0, device_count * sizeof *self->devices);
        if (self->devices == NULL)
            return err_nomem(reterr);
    }
    if (jw_init(&self->out, &self->heap, sink, true, is_sorted) != CG_OK) {
        pen_release(self);
        return err_nomem(reterr);
    }
    return CG_OK;
}

cg_code pen_complete(pen *self)
{
    if (!self->view.has_graph || self->view.graph.is_complete)
        return CG_OK;
    CG_TRY(graph_complete(&self->heap, &self->view.graph, self->reterr));
    self->has_completed = true;
    return CG_OK;
}

/* Nothing of the buffer goes out: it is emptied before the writer is closed. */
void pen_drop(pen *self)
{
    cg_code code;

    self->out.len = 0;
    pen_latch(&self->out, CG_INTERRUPTED);
    code = jw_finish(&self->out, NULL);
    (void)code;
    pen_release(self);
}

cg_code pen_finish(pen *self)
{
    cg_code code = jw_finish(&self->out, self->reterr);

    pen_release(self);
    return code;
}

/* --- small streams --- */

static void emit_true(jsonw *out, const void *context)
{
    (void)context;
    jw_bool(out, true);
}

static void emit_false(jsonw *out, const void *context)
{
    (void)context;
    jw_bool(out, false);
}

sc_stream pen_truth(bool value)
{
    return (sc_stream){value ? emit_true : emit_false, NULL};
}

void pen_emit_names(jsonw *out, const void *context)
{
    const names *list = context;

    jw_array(out);
    for (size_t i = 0; i < list->count; i++)
        jw_str(out, trace_text(list->trace, list->at[i]));
    jw_end(out);
}
