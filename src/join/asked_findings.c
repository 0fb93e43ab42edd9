#include "join/asked_findings.h"

#include <inttypes.h>

#include "model/ids.h"
#include "model/normalise.h"
#include "model/rules.h"

enum { RULE_MISSING, RULE_UNCLAIMED, RULE_OTHER_SHAPE };

static const cg_str asked_rules[] = {
    {"checkpoint-missing", 18}, {"checkpoint-unclaimed", 20}, {"checkpoint-shape-mismatch", 25}};

/* The compared parameter that a key of the report belongs to; NULL: none. */
static asked_joined *owner_of(asked_merging *self, cg_str key)
{
    size_t found = index_find(&self->by_key, key);
    key_name name;

    if (found != INDEX_NONE)
        return &self->all[self->all[found].lead];
    if (!key_name_make(self->model->mem, key, &name))
        return NULL;
    for (size_t i = 0; i < self->count; i++) {
        key_numbers numbers = {0};

        if (self->all[i].is_family && self->all[i].pattern.count == name.count &&
            key_pattern_match(&self->all[i].pattern, 0, &name, 0, &numbers))
            return &self->all[self->all[i].lead];
    }
    return NULL;
}

static cg_code add_missing(asked_merging *self, sc_strs keys, cg_err *reterr)
{
    for (size_t i = 0; i < keys.count; i++) {
        asked_joined *owner = owner_of(self, keys.at[i]);
        cg_str *grown;
        size_t room;

        if (owner == NULL)
            continue;
        if (owner->missing_count == owner->missing_room) {
            room = owner->missing_room * 2 + 4;
            grown = arena_take(self->model->mem, room * sizeof *grown);
            if (grown == NULL)
                return err_nomem(reterr);
            if (owner->missing_count > 0)
                memcpy(grown, owner->missing, owner->missing_count * sizeof *grown);
            owner->missing = grown;
            owner->missing_room = room;
        }
        owner->missing[owner->missing_count++] = keys.at[i];
    }
    return CG_OK;
}

static cg_code copy_texts(arena *mem, const cg_str *from, size_t count, sc_strs *ret,
                          cg_err *reterr)
{
    cg_str *to = arena_take(mem, (count + 1) * sizeof *to);

    if (to == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        if (!arena_text(mem, from[i], &to[i]))
            return err_nomem(reterr);
    }
    *ret = (sc_strs){to, count};
    return CG_OK;
}

/* One more finding; its message is `message` already, its place that of `parameter` (or none). */
static cg_code new_finding(asked_merging *self, int rule, const asked_joined *about, cg_str message,
                           model_finding **ret, cg_err *reterr)
{
    arena *mem = &self->document->mem;
    const rule_row *row = rule_find(asked_rules[rule]);
    model_finding *to = &self->findings[self->finding_count++];
    model_evidence *evidence = arena_zero(mem, sizeof *evidence);
    cg_str *related = arena_take(mem, 2 * sizeof *related);
    cg_str source = CG_LIT("");

    if (row == NULL)
        return cg_fail(reterr, PROBLEM_INTERNAL, "a rule without a row");
    if (evidence == NULL || related == NULL)
        return err_nomem(reterr);
    *to = (model_finding){.rule = row->code,
                          .severity = row->severity,
                          .confidence = MODEL_CONFIDENCE_PROVEN,
                          .message = message,
                          .help = row->fix};
    if (about != NULL) {
        to->source = about->record->source;
        to->location = about->record->location;
        to->confidence = about->is_certain ? MODEL_CONFIDENCE_PROVEN : MODEL_CONFIDENCE_CONDITIONAL;
        related[0] = about->record->id;
        to->related = (sc_strs){related, 1};
        source = to->source;
    }
    *evidence = (model_evidence){.kind = MODEL_EVIDENCE_KIND_CHECKPOINT,
                                 .confidence = to->confidence,
                                 .source = to->source,
                                 .detail = message};
    to->evidence = (sc_records){evidence, 1};
    if (!id_make(mem, MODEL_ID_KIND_FINDING, ID_PARTS(to->rule, source, message), &to->id))
        return err_nomem(reterr);
    *ret = to;
    return CG_OK;
}

/* `keys` below the root, as a finding has them. */
static cg_code name_keys(asked_merging *self, model_finding *finding, const cg_str *keys,
                         size_t count, cg_err *reterr)
{
    arena *mem = &self->document->mem;
    model_keys *group = arena_zero(mem, sizeof *group);

    if (group == NULL || !arena_text(mem, self->report->root, &group->name))
        return err_nomem(reterr);
    CG_TRY(copy_texts(mem, keys, count, &group->keys, reterr));
    if (!texts_unique(mem, &group->keys))
        return err_nomem(reterr);
    finding->keys = (sc_records){group, 1};
    return CG_OK;
}

static cg_code tell_missing(asked_merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->count; i++) {
        const asked_joined *from = &self->all[i];
        model_finding *finding;
        cg_str message;
        bool is_good;

        if (from->missing_count == 0)
            continue;
        if (from->missing_count == 1)
            is_good = arena_format(&self->document->mem, &message,
                                   "the file holds no `%.*s`, which is asked for here",
                                   ERR_STR(from->missing[0]));
        else
            is_good = arena_format(&self->document->mem, &message,
                                   "the file holds no `%.*s` (%zu of them are missing)",
                                   ERR_STR(from->family), from->missing_count);
        if (!is_good)
            return err_nomem(reterr);
        CG_TRY(new_finding(self, RULE_MISSING, from, message, &finding, reterr));
        CG_TRY(name_keys(self, finding, from->missing, from->missing_count, reterr));
    }
    return CG_OK;
}

static cg_code tell_unclaimed(asked_merging *self, cg_err *reterr)
{
    sc_strs keys = self->report->unclaimed;
    model_finding *finding;
    cg_str message;

    if (keys.count == 0)
        return CG_OK;
    if (!arena_format(&self->document->mem, &message,
                      "%zu tensor%s of the file %s asked for by nobody: `%.*s`%s", keys.count,
                      keys.count == 1 ? "" : "s", keys.count == 1 ? "is" : "are",
                      ERR_STR(keys.at[0]), keys.count == 1 ? "" : ", ..."))
        return err_nomem(reterr);
    CG_TRY(new_finding(self, RULE_UNCLAIMED, NULL, message, &finding, reterr));
    return name_keys(self, finding, keys.at, keys.count, reterr);
}

static cg_code name_shape(asked_merging *self, model_operand_shape *to, cg_str operand,
                          const cg_str *axes, size_t count, cg_err *reterr)
{
    to->name = operand;
    return copy_texts(&self->document->mem, axes, count, &to->axes, reterr);
}

static void print_axes(buf *to, const cg_str *axes, size_t count)
{
    buf_byte(to, '(');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add(to, CG_LIT(", "));
        buf_add(to, axes[i]);
    }
    buf_byte(to, ')');
}

/* `head.weight` is (3, 8) in the file and (classes, 9) here */
static cg_code say_shapes(asked_merging *self, const doc_tensor_mismatch *row, const cg_str *axes,
                          cg_str *ret, cg_err *reterr)
{
    bool is_good;
    buf text;

    buf_init(&text, self->heap, (size_t)1 << 20);
    buf_addf(&text, "`%.*s` is ", ERR_STR(row->file_key));
    print_axes(&text, axes, row->file_shape.count);
    buf_add(&text, CG_LIT(" in the file and "));
    print_axes(&text, row->model_shape.at, row->model_shape.count);
    buf_add(&text, CG_LIT(" here"));
    is_good = !text.failed && arena_text(&self->document->mem, buf_text(&text), ret);
    buf_free(&text);
    return is_good ? CG_OK : err_nomem(reterr);
}

static cg_code tell_shapes(asked_merging *self, cg_err *reterr)
{
    const doc_tensor_mismatch *rows = self->report->shape_mismatches.at;
    arena *mem = &self->document->mem;

    for (size_t i = 0; i < self->report->shape_mismatches.count; i++) {
        const doc_tensor_mismatch *row = &rows[i];
        model_operand_shape *shapes = arena_zero(mem, 2 * sizeof *shapes);
        cg_str *axes = arena_take(self->model->mem, (row->file_shape.count + 1) * sizeof *axes);
        model_finding *finding;
        cg_str message;

        if (shapes == NULL || axes == NULL)
            return err_nomem(reterr);
        for (size_t k = 0; k < row->file_shape.count; k++) {
            if (!arena_format(self->model->mem, &axes[k], "%" PRIu64, row->file_shape.at[k]))
                return err_nomem(reterr);
        }
        CG_TRY(say_shapes(self, row, axes, &message, reterr));
        CG_TRY(new_finding(self, RULE_OTHER_SHAPE, owner_of(self, row->key), message, &finding,
                           reterr));
        CG_TRY(name_shape(self, &shapes[0], CG_LIT("checkpoint"), axes, row->file_shape.count,
                          reterr));
        CG_TRY(name_shape(self, &shapes[1], CG_LIT("model"), row->model_shape.at,
                          row->model_shape.count, reterr));
        finding->shapes = (sc_records){shapes, 2};
    }
    return CG_OK;
}

cg_code asked_findings_add(asked_merging *self, cg_err *reterr)
{
    sc_records *list = &self->document->doc.findings;
    sc_records keys = {self->all, self->count};
    size_t room = list->count + self->count + self->report->shape_mismatches.count + 2;
    cg_code code;

    self->findings = arena_zero(&self->document->mem, room * sizeof *self->findings);
    if (self->findings == NULL ||
        !index_build(&self->by_key, self->heap, &keys, sizeof(asked_joined),
                     offsetof(asked_joined, printed)))
        return err_nomem(reterr);
    if (list->count > 0)
        memcpy(self->findings, list->at, list->count * sizeof *self->findings);
    self->finding_count = list->count;
    code = add_missing(self, self->report->missing_certain, reterr);
    if (code == CG_OK)
        code = add_missing(self, self->report->missing_conditional, reterr);
    if (code == CG_OK)
        code = tell_missing(self, reterr);
    if (code == CG_OK)
        code = tell_shapes(self, reterr);
    if (code == CG_OK)
        code = tell_unclaimed(self, reterr);
    index_free(&self->by_key);
    if (code == CG_OK)
        *list = (sc_records){self->findings, self->finding_count};
    return code;
}
