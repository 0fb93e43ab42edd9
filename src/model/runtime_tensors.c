#include "model/runtime_tensors.h"

#include <inttypes.h>

#include "base/num.h"
#include "model/normalise.h"

/* The first number between the punctuation of a device's text. */
static opt_u64 ordinal_of(cg_str text)
{
    opt_u64 ret = {0};
    size_t start = 0;

    for (size_t at = 0; at <= text.len; at++) {
        if (at < text.len && text.ptr[at] != ':' && text.ptr[at] != '(' && text.ptr[at] != ')')
            continue;
        if (at > start && num_read_u64((cg_str){text.ptr + start, at - start}, &ret.value)) {
            ret.is_set = true;
            return ret;
        }
        start = at + 1;
    }
    return ret;
}

static bool starts_with(cg_str text, cg_str word)
{
    return text.len >= word.len && str_equal_nocase((cg_str){text.ptr, word.len}, word);
}

static bool device_of(arena *mem, cg_str text, sc_tagged *ret)
{
    model_device_data *data;
    model_cuda *cuda;

    *ret = (sc_tagged){.word = MODEL_DEVICE_UNKNOWN};
    if (str_equal_nocase(text, CG_LIT("cpu")))
        ret->word = MODEL_DEVICE_CPU;
    else if (starts_with(text, CG_LIT("metal")))
        ret->word = MODEL_DEVICE_METAL;
    if (!starts_with(text, CG_LIT("cuda")))
        return true;
    data = arena_zero(mem, sizeof *data);
    cuda = arena_zero(mem, sizeof *cuda);
    if (data == NULL || cuda == NULL)
        return false;
    cuda->ordinal = ordinal_of(text);
    data->cuda = cuda;
    ret->record = data;
    return true;
}

static bool shape_of(runtime_merging *self, const runtime_tensor *from, const model_shape *before,
                     model_shape **ret)
{
    model_shape *shape = arena_zero(self->mem, sizeof *shape);
    model_dimension *axes = arena_zero(self->mem, ((size_t)from->shape.rank + 1) * sizeof *axes);

    if (shape == NULL || axes == NULL)
        return false;
    for (uint32_t i = 0; i < from->shape.rank; i++) {
        if (!arena_format(self->mem, &axes[i].expr, "%" PRIu64,
                          self->trace->axes.at[from->shape.at + i]))
            return false;
    }
    if (before != NULL)
        shape->source_expr = before->source_expr;
    shape->rank = (opt_u64){.value = from->shape.rank, .is_set = true};
    shape->dimensions = (sc_records){axes, from->shape.rank};
    *ret = shape;
    return true;
}

static cg_code refine_tensor(runtime_merging *self, size_t index, const runtime_tensor *from,
                             cg_err *reterr)
{
    model_tensor *to =
        (model_tensor *)(uintptr_t)MODEL_AT(self->document->doc.tensors, model_tensor, index);
    model_shape *shape;

    if (!shape_of(self, from, to->shape, &shape) ||
        !arena_text(self->mem, merging_text(self, from->dtype), &to->dtype) ||
        !device_of(self->mem, merging_text(self, from->device), &to->device))
        return err_nomem(reterr);
    to->shape = shape;
    to->layout = (sc_tagged){.word = from->is_contiguous ? MODEL_LAYOUT_CONTIGUOUS
                                                         : MODEL_LAYOUT_NON_CONTIGUOUS};
    to->requires_grad = from->is_grad_required ? BOOL_TRUE : BOOL_FALSE;
    buf_add(&self->text, CG_LIT("agreed runtime observation "));
    event_ids_say(&self->trace->events, from->event, &self->text);
    return merging_add_evidence(self, MODEL_TENSORS, index, MODEL_CONFIDENCE_PROVEN,
                                merging_text(self, from->source), reterr);
}

static const char *const aspects[ASPECT_COUNT] = {"dtype", "device", "shape", "layout",
                                                  "requires_grad"};

static cg_code doubt_tensor(runtime_merging *self, size_t index, const tensor_fact *fact,
                            cg_err *reterr)
{
    buf_addf(&self->text, "%" PRIu32 " runtime observations differ in ", fact->count);
    for (unsigned i = 0, said = 0; i < ASPECT_COUNT; i++) {
        if (fact->differing >> i & 1)
            buf_addf(&self->text, "%s%s", said++ > 0 ? ", " : "", aspects[i]);
    }
    return merging_add_evidence(self, MODEL_TENSORS, index, MODEL_CONFIDENCE_UNKNOWN, (cg_str){0},
                                reterr);
}

cg_code runtime_merge_tensors(runtime_merging *self, cg_err *reterr)
{
    model_finding *finding;

    for (size_t i = 0; i < self->facts->tensor_count; i++) {
        const tensor_fact *fact = &self->facts->tensors[i];
        size_t found = index_find(&self->tensors, merging_text(self, fact->static_id));

        if (found == INDEX_NONE)
            self->unmapped += fact->agreed != NULL;
        else if (fact->agreed != NULL)
            CG_TRY(refine_tensor(self, found, fact->agreed, reterr));
        else
            CG_TRY(doubt_tensor(self, found, fact, reterr));
    }
    if (self->unmapped == 0)
        return CG_OK;
    buf_addf(&self->text, "%" PRIu64 " tensor%s of the trace %s no place in this model",
             self->unmapped, self->unmapped == 1 ? "" : "s", self->unmapped == 1 ? "has" : "have");
    return merging_add_finding(self, RULE_CODE_RUNTIME_UNMAPPED, MODEL_FINDING_SEVERITY_INFORMATION,
                               MODEL_CONFIDENCE_UNKNOWN, &finding, reterr);
}

/* The value of an aspect as text, in the scratch arena. */
static bool aspect_text(runtime_merging *self, unsigned aspect, const runtime_tensor *from,
                        cg_str *ret)
{
    bool is_good;
    buf text;

    switch (aspect) {
    case ASPECT_DTYPE: *ret = merging_text(self, from->dtype); return true;
    case ASPECT_DEVICE: *ret = merging_text(self, from->device); return true;
    case ASPECT_LAYOUT: *ret = from->is_contiguous ? CG_LIT("true") : CG_LIT("false"); return true;
    case ASPECT_GRAD: *ret = from->is_grad_required ? CG_LIT("true") : CG_LIT("false"); return true;
    default: break;
    }
    buf_init(&text, self->document->heap, SIZE_MAX / 2);
    buf_byte(&text, '[');
    for (uint32_t i = 0; i < from->shape.rank; i++)
        buf_addf(&text, "%s%" PRIu64, i > 0 ? ", " : "", self->trace->axes.at[from->shape.at + i]);
    buf_byte(&text, ']');
    is_good = !text.failed && arena_text(&self->scratch, buf_text(&text), ret);
    buf_free(&text);
    return is_good;
}

#define VALUES_SHOWN 20u

static cg_code tell_conflict(runtime_merging *self, const tensor_fact *fact, unsigned aspect,
                             cg_err *reterr)
{
    arena_place place = arena_mark(&self->scratch);
    cg_str *values = arena_take(&self->scratch, (fact->count + 1) * sizeof *values);
    cg_str id = merging_text(self, fact->static_id);
    sc_strs list = {values, 0};
    model_finding *finding;

    if (values == NULL)
        return err_nomem(reterr);
    for (uint32_t i = 0; i < fact->count; i++) {
        const runtime_tensor *at = tensor_fact_at(self->facts, fact, i);

        if (!aspect_text(self, aspect, at, &values[list.count]))
            return err_nomem(reterr);
        /* Neighbours repeat: keep the list that is sorted short. */
        if (list.count == 0 || !str_equal(values[list.count - 1], values[list.count]))
            list.count++;
    }
    if (!texts_unique(&self->scratch, &list))
        return err_nomem(reterr);
    buf_add(&self->text, id);
    buf_addf(&self->text, " was observed with more than one %s: ", aspects[aspect]);
    for (size_t i = 0; i < list.count && i < VALUES_SHOWN; i++) {
        buf_addf(&self->text, "%s", i > 0 ? ", " : "");
        buf_add(&self->text, list.at[i]);
    }
    if (list.count > VALUES_SHOWN)
        buf_addf(&self->text, " and %zu more", list.count - VALUES_SHOWN);
    CG_TRY(merging_add_finding(self, RULE_CODE_RUNTIME_TENSOR_CONFLICT,
                               MODEL_FINDING_SEVERITY_ERROR, MODEL_CONFIDENCE_UNKNOWN, &finding,
                               reterr));
    arena_reset(&self->scratch, place);
    return merging_relate(self, finding, id, reterr);
}

cg_code runtime_tell_tensor_conflicts(runtime_merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->tensor_count; i++) {
        const tensor_fact *fact = &self->facts->tensors[i];

        for (unsigned aspect = 0; aspect < ASPECT_COUNT; aspect++) {
            if (fact->differing >> aspect & 1)
                CG_TRY(tell_conflict(self, fact, aspect, reterr));
        }
    }
    return CG_OK;
}
