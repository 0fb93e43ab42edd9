#include "model/runtime_merging.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "model/ids.h"

static bool keep(runtime_merging *self, cg_str *ret)
{
    bool is_good = !self->text.failed && arena_text(self->mem, buf_text(&self->text), ret);

    buf_clear(&self->text);
    return is_good;
}

void merging_say_number(buf *to, double value)
{
    char digits[NUM_F64_ROOM];

    buf_add(to, (cg_str){digits, num_write_f64(digits, value)});
}

void merging_say_step(buf *to, bool has_step, uint64_t step)
{
    if (has_step)
        buf_addf(to, " at step %" PRIu64, step);
}

void merging_say_event(runtime_merging *self, uint32_t event)
{
    buf_add(&self->text, CG_LIT(" (event "));
    event_ids_say(&self->trace->events, event, &self->text);
    buf_byte(&self->text, ')');
}

static const sc_records *evidence_of(const runtime_merging *self, enum model_list list,
                                     size_t index)
{
    const model_doc *doc = &self->document->doc;

    switch (list) {
    case MODEL_TENSORS: return &MODEL_AT(doc->tensors, model_tensor, index)->evidence;
    case MODEL_OPERATIONS: return &MODEL_AT(doc->operations, model_operation, index)->evidence;
    case MODEL_PARAMETERS: return &MODEL_AT(doc->parameters, model_parameter, index)->evidence;
    default: return &MODEL_AT(doc->findings, model_finding, index)->evidence;
    }
}

/* Room for `more` entries behind those of a record; lists grow by half. */
static model_evidence *reserve_evidence(runtime_merging *self, enum model_list list, size_t index,
                                        size_t more)
{
    /* The document is ours to change. */
    sc_records *to = (sc_records *)(uintptr_t)evidence_of(self, list, index);
    size_t count = model_list_of(&self->document->doc, list)->count;
    size_t need = to->count + more;
    model_evidence *grown;

    if (self->room[list] == NULL) {
        self->room[list] = arena_zero(&self->scratch, (count + 1) * sizeof *self->room[list]);
        if (self->room[list] == NULL)
            return NULL;
    }
    if (need > self->room[list][index]) {
        size_t room = need + need / 2;

        grown = arena_zero(self->mem, (room + 1) * sizeof *grown);
        if (grown == NULL)
            return NULL;
        if (to->count > 0)
            memcpy(grown, to->at, to->count * sizeof *grown);
        to->at = grown;
        self->room[list][index] = (uint32_t)room;
    }
    grown = (model_evidence *)(uintptr_t)to->at + to->count;
    to->count = need;
    return grown;
}

cg_code merging_add_evidence(runtime_merging *self, enum model_list list, size_t index,
                             uint8_t confidence, cg_str source, cg_err *reterr)
{
    model_evidence *to = reserve_evidence(self, list, index, 1);

    if (to == NULL)
        return err_nomem(reterr);
    *to = (model_evidence){.kind = MODEL_EVIDENCE_KIND_RUNTIME, .confidence = confidence};
    if (!arena_text(self->mem, source, &to->source) || !keep(self, &to->detail))
        return err_nomem(reterr);
    return CG_OK;
}

cg_code merging_add_finding(runtime_merging *self, enum rule rule, uint8_t severity,
                            uint8_t confidence, model_finding **ret, cg_err *reterr)
{
    model_finding *to = vec_add(self->document->heap, &self->findings);
    const cg_str none = CG_LIT("");

    if (to == NULL)
        return err_nomem(reterr);
    *to = (model_finding){.rule = rules[rule].code,
                          .severity = severity,
                          .confidence = confidence,
                          .help = rules[rule].fix};
    if (!keep(self, &to->message) ||
        !id_make(self->mem, MODEL_ID_KIND_FINDING, ID_PARTS(to->rule, none, to->message), &to->id))
        return err_nomem(reterr);
    *ret = to;
    return CG_OK;
}

cg_code merging_relate(runtime_merging *self, model_finding *finding, cg_str id, cg_err *reterr)
{
    cg_str *ids = arena_take(self->mem, (finding->related.count + 1) * sizeof *ids);

    if (ids == NULL)
        return err_nomem(reterr);
    if (finding->related.count > 0)
        memcpy(ids, finding->related.at, finding->related.count * sizeof *ids);
    if (!arena_text(self->mem, id, &ids[finding->related.count]))
        return err_nomem(reterr);
    finding->related = (sc_strs){ids, finding->related.count + 1};
    return CG_OK;
}

cg_code merging_name_key(runtime_merging *self, model_finding *finding, cg_str root, cg_str key,
                         cg_err *reterr)
{
    model_keys *group = arena_zero(self->mem, sizeof *group);
    cg_str *keys = arena_take(self->mem, sizeof *keys);

    if (group == NULL || keys == NULL || !arena_text(self->mem, root, &group->name) ||
        !arena_text(self->mem, key, keys))
        return err_nomem(reterr);
    group->keys = (sc_strs){keys, 1};
    finding->keys = (sc_records){group, 1};
    return CG_OK;
}
