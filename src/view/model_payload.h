/*
 * model_payload - what the page of a model shows, as candle-graph/viewer/1: the text of the
 * script element `cg-payload`.
 *
 * Compact JSON, keys sorted bytewise, `<`, `>`, `&`, U+2028 and U+2029 escaped. Complete up to
 * MODEL_PAYLOAD_BYTES. Of a larger model it is an overview of the same shape whose lists are cut
 * (view/model_choice.h says how); `bounded` then names each list that was cut with its whole
 * length. Figures of the summary are always those of the whole model.
 */
#ifndef CG_VIEW_MODEL_PAYLOAD_H
#define CG_VIEW_MODEL_PAYLOAD_H

#include "model/document.h"
#include "schema/checkpoint_schema.h"

#define MODEL_PAYLOAD_BYTES ((size_t)32 << 20)

/*
 * `checkpoint` may be NULL. Memory is drawn from `heap` and given back. Fails with CG_NOMEM or what
 * the sink reports; nothing has gone to the sink when memory is the reason. Held: the text twice.
 */
cg_code model_payload_write(heap *heap, const model_doc *doc, const doc_checkpoint *checkpoint,
                            cg_sink sink, cg_err *reterr) CG_MUST;

#endif
