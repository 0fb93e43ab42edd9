/*
 * draft - a model document while it is being found.
 *
 *   model_draft draft;
 *   model_draft_init(&draft, heap);
 *   model_parameter *p = draft_parameter(&draft);     a cleared record that stays where it is
 *   p->id = ...; draft_text(&draft, &p->uses, id);
 *   ...
 *   model_finish(&draft, &document, reterr);           complete, sorted, counted
 *   model_write(&document.doc, out);
 *   model_free(&document);
 *
 * Records live in the arena of the draft, and so must every text they name:
 * it becomes the arena of the document. A record that was asked for belongs to
 * the document. Everything answers NULL or false when there is no memory.
 *
 * Tensors and operations, by far the most, are the exception: asking for one
 * more of them moves the others of the list.
 */
#ifndef CG_MODEL_DRAFT_H
#define CG_MODEL_DRAFT_H

#include "base/vec.h"
#include "model/document.h"

typedef struct draft_bulk { /* records one behind the other, behind room for an arena's head */
    char *at;
    size_t bytes;
} draft_bulk;

typedef struct model_draft {
    heap *heap;
    arena mem;
    arena records[MODEL_LIST_COUNT];   /* until the document has its lists */
    draft_bulk bulk[MODEL_LIST_COUNT]; /* of lists whose records may move */
    size_t bulk_count[MODEL_LIST_COUNT];
    struct filler *filler; /* completes those records while they are at hand */
    cg_str analysis_id;
    const model_cargo *cargo;     /* NULL: no manifest */
    const model_runtime *runtime; /* NULL: no trace was merged */
    uint64_t runtime_observations;
    VEC(void *) lists[MODEL_LIST_COUNT]; /* records in the order they were asked for */
} model_draft;

void model_draft_init(model_draft *self, heap *heap);
/* For a draft that was not finished; harmless after model_finish. */
void model_draft_free(model_draft *self);

/* A cleared record at the end of a list; of tensors and operations until the next is added. */
void *draft_add(model_draft *self, enum model_list list);

/* draft_component(), draft_edge(), draft_module(), draft_parameter() ...: as draft_add. */
#define X(name, record, member)                                                                    \
    static inline model_##record *draft_##record(model_draft *self)                                \
    {                                                                                              \
        return draft_add(self, MODEL_##name);                                                      \
    }
MODEL_LISTS(X)
#undef X

/* One more text at the end of a list that only this function makes grow. */
bool draft_text(model_draft *self, sc_strs *list, cg_str text) CG_MUST;
/* Room for one more record of `table`, cleared, at the end of a list that only this makes grow. */
void *draft_record(model_draft *self, sc_records *list, const sc_table *table);
/* One more entry of evidence: MODEL_EVIDENCE_KIND_, MODEL_CONFIDENCE_; source may be absent. */
bool draft_evidence(model_draft *self, sc_records *list, uint8_t kind, uint8_t confidence,
                    cg_str source, cg_str detail) CG_MUST;
/* One more key below a name, for `severed`, `still_trained` and `keys` of a finding. */
bool draft_key(model_draft *self, sc_records *groups, cg_str name, cg_str key) CG_MUST;
/* One more operand and its axes, for `shapes`; and its device, for `devices`. */
bool draft_shape(model_draft *self, sc_records *shapes, cg_str operand, sc_strs axes) CG_MUST;
bool draft_device(model_draft *self, sc_records *devices, cg_str operand, sc_tagged device) CG_MUST;
/* {"cuda":{"ordinal":...}} and {"same_as":...}; the words are (sc_tagged){.word = ...}. */
bool draft_cuda(model_draft *self, opt_u64 ordinal, sc_tagged *ret) CG_MUST;
bool draft_same_device(model_draft *self, cg_str expression, sc_tagged *ret) CG_MUST;
bool draft_same_layout(model_draft *self, cg_str expression, sc_tagged *ret) CG_MUST;

/*
 * Turn the draft into a document; the draft is empty afterwards, whatever
 * happens. Required texts that are absent become empty, findings get their
 * ids and a `source` from their location, components their modules,
 * parameters and entrypoints (added to those given); then model/normalise.h.
 * Fails with CG_NOMEM.
 */
cg_code model_finish(model_draft *self, model_document *ret, cg_err *reterr) CG_MUST;

#endif
