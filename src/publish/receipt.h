/*
 * receipt - what is said about a bundle after verifying or publishing it, as
 * JSON (verify/1, publication/1) and for people.
 */
#ifndef CG_PUBLISH_RECEIPT_H
#define CG_PUBLISH_RECEIPT_H

#include "base/arena.h"
#include "schema/publish_schema.h"
#include "view/text_page.h"

/* A receipt with its texts in `mem`. */
cg_code receipt_keep(const doc_receipt *from, arena *mem, doc_receipt *ret, cg_err *reterr) CG_MUST;

typedef struct verification {
    cg_str path; /* as given */
    doc_receipt receipt;
    cg_str producer_name; /* absent: no marker */
    cg_str producer_version;
    bool has_semantic;
    doc_semantic semantic;
} verification;

cg_code verification_write(heap *heap, const verification *from, cg_sink sink,
                           cg_err *reterr) CG_MUST;
cg_code verification_text(heap *heap, const verification *from, const text_style *style,
                          cg_sink sink, cg_err *reterr) CG_MUST;

typedef struct publication_receipt {
    uint8_t status; /* PUBLICATION_ */
    cg_str path;    /* as given */
    doc_receipt verification;
} publication_receipt;

cg_code publication_write(heap *heap, const publication_receipt *from, cg_sink sink,
                          cg_err *reterr) CG_MUST;
cg_code publication_text(heap *heap, const publication_receipt *from, const text_style *style,
                         cg_sink sink, cg_err *reterr) CG_MUST;

#endif
