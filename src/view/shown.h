/*
 * shown - what the writers of a model's page share: the work at hand, labels, and no shape.
 */
#ifndef CG_VIEW_SHOWN_H
#define CG_VIEW_SHOWN_H

#include "base/buf.h"
#include "schema/viewer_static_schema.h"
#include "view/model_choice.h"

/* One document in the making. */
typedef struct shown_work {
    jsonw out;
    const model_links *links;
    const model_choice *choice;
    arena *mem;
    size_t ceiling; /* bytes that the document may have, which it says when rows are left out */
    buf text;       /* room for the record at hand */
} shown_work;

static inline const model_doc *shown_doc(const shown_work *self)
{
    return self->links->doc;
}

/* The text of a buffer; one that failed is a failure of the document. */
cg_str shown_text(shown_work *self, const buf *from);

/* What stands behind byte `at`, behind the last dot; the last `count` segments of a path. */
cg_str shown_behind(cg_str text, size_t at);
cg_str shown_behind_dot(cg_str text);
cg_str shown_last_segments(cg_str path, unsigned count);

/* Emit that there is no shape; for an sc_stream. */
void shown_no_shape(jsonw *out, const void *context);

#endif
