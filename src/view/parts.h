/*
 * parts - what several documents have in common: envelope, health, levels.
 */
#ifndef CG_VIEW_PARTS_H
#define CG_VIEW_PARTS_H

#include "view/pen.h"

doc_tool shared_tool(void);
/* How the input was named; becomes the `input` object. */
typedef struct document_input {
    cg_str requested_path;
    cg_str trace_path;
    cg_str bundle_root;     /* absent: a raw trace */
    sc_stream verification; /* the receipt of a bundle */
} document_input;
doc_input shared_input(const pen *self, const document_input *input);
doc_health shared_health(const pen *self);
doc_capabilities shared_capabilities(const pen *self);
void parts_emit_findings(jsonw *out, const void *context);
void parts_emit_facts(jsonw *out, const void *context);
uint64_t parts_non_finite_count(const pen *self);
/* The first `cap` texts of a list. */
doc_bounded_texts parts_bound_texts(sc_strs list, size_t cap);
/* Why there is no graph. Static. */
cg_str parts_no_graph_reason(const evidence *from);

#endif
