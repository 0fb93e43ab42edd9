/*
 * runtime_merging - a document while a trace is put into it: how evidence and findings are added.
 *
 * What people read is collected in `text` first; adding takes it and leaves `text` empty.
 */
#ifndef CG_MODEL_RUNTIME_MERGING_H
#define CG_MODEL_RUNTIME_MERGING_H

#include "base/buf.h"
#include "model/document.h"
#include "model/index.h"
#include "model/rules.h"
#include "model/runtime_facts.h"
#include "model/runtime_keys.h"

typedef struct runtime_merging {
    const runtime_facts *facts;
    const runtime_trace *trace;
    model_document *document;
    arena *mem; /* of the document */
    arena scratch;
    buf text;
    text_index tensors;
    text_index operations;
    text_index operation_places; /* by `source` */
    text_index makers;           /* operations by `output` */
    text_index tensor_names;
    runtime_keys keys;
    runtime_key_list found;
    uint32_t *room[MODEL_LIST_COUNT]; /* of the evidence of each record, 0: as much as there is */
    VEC(model_finding) findings;
    uint64_t unmapped;
    uint64_t mismatches;
} runtime_merging;

static inline cg_str merging_text(const runtime_merging *self, sym symbol)
{
    return runtime_text(self->trace, symbol);
}

void merging_say_number(buf *to, double value);
/* ` at step 12`; nothing without a step. */
void merging_say_step(buf *to, bool has_step, uint64_t step);
/* ` (event e7)` */
void merging_say_event(runtime_merging *self, uint32_t event);

/* One more entry of a record's evidence, whose detail is the text collected so far. */
cg_code merging_add_evidence(runtime_merging *self, enum model_list list, size_t index,
                             uint8_t confidence, cg_str source, cg_err *reterr);
/* Its message is the text collected so far; more can be put into *ret until the next is added. */
cg_code merging_add_finding(runtime_merging *self, enum rule rule, uint8_t severity,
                            uint8_t confidence, model_finding **ret, cg_err *reterr);
/* The finding is about this record too. */
cg_code merging_relate(runtime_merging *self, model_finding *finding, cg_str id, cg_err *reterr);
/* The finding is about this key. */
cg_code merging_name_key(runtime_merging *self, model_finding *finding, cg_str root, cg_str key,
                         cg_err *reterr);

#endif
