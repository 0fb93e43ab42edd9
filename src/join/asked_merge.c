#include "join/asked_merge.h"

#include "join/as_called.h"
#include "join/asked_findings.h"
#include "model/ids.h"
#include "model/normalise.h"

/* Was this component compared? The report names those it is about. */
static bool is_compared(const doc_checkpoint *report, cg_str name)
{
    const doc_checkpoint *parts = report->components.at;

    if (report->component.ptr != NULL && str_equal(report->component, name))
        return true;
    for (size_t i = 0; i < report->components.count; i++) {
        if (parts[i].component.ptr != NULL && str_equal(parts[i].component, name))
            return true;
    }
    return false;
}

/* The parameter records of the document by id, writable: the document is ours to change. */
static model_parameter *parameter_at(const asked_merging *self, size_t index)
{
    const model_parameter *all = self->document->doc.parameters.at;

    return (model_parameter *)(uintptr_t)&all[index];
}

/* The constructor's parameter that number `at` of the compared ones is; NULL: none. */
static const extract_parameter *source_of(const asked_merging *self, size_t component, size_t at)
{
    const extract_component *from = &self->model->from->components.at[component];
    const uint32_t *sources = self->model->callers[component].sources;
    size_t source = sources ? sources[at] : at;

    return source < from->parameters.count ? &from->parameters.at[source] : NULL;
}

static cg_code join_component(asked_merging *self, size_t at, const text_index *ids, cg_err *reterr)
{
    const extract_component *component = &self->model->from->components.at[at];
    const wanted_component *compared = &self->model->components[at];
    const as_called_result *caller = &self->model->callers[at];
    arena *mem = self->model->mem;
    cg_str owner;

    if (!id_make(mem, MODEL_ID_KIND_COMPONENT, ID_PARTS(component->qualified), &owner))
        return err_nomem(reterr);
    for (size_t i = 0; i < compared->parameter_count; i++) {
        const extract_parameter *from = source_of(self, at, i);
        const wanted_parameter *wanted = &compared->parameters[i];
        asked_joined *to = &self->all[self->count];
        cg_str id;
        size_t found;

        if (from == NULL || !str_equal(from->root, self->report->root))
            continue;
        if (!id_make(mem, MODEL_ID_KIND_PARAMETER, ID_PARTS(owner, from->root, from->printed),
                     &id) ||
            !key_pattern_make(mem, wanted->pieces, wanted->piece_count, &to->pattern))
            return err_nomem(reterr);
        found = index_find(ids, id);
        if (found == INDEX_NONE)
            continue;
        to->record = parameter_at(self, found);
        to->family = from->printed;
        to->wanted = wanted;
        const extract_use *use = caller->given ? caller->given[i] : caller->use;

        if (use && use->prefix.count &&
            !arena_format(mem, &to->family, "%.*s.%.*s", (int)use->printed.len, use->printed.ptr,
                          (int)from->printed.len, from->printed.ptr))
            return err_nomem(reterr);
        to->printed = caller->asked ? caller->asked[i]->printed : to->family;
        to->lead = self->by_record[found] ? self->by_record[found] - 1 : self->count;
        self->by_record[found] = to->lead + 1;
        to->is_family = to->pattern.number_count > 0;
        to->is_certain = wanted->is_certain;
        self->count++;
    }
    return CG_OK;
}

static cg_code join_parameters(asked_merging *self, cg_err *reterr)
{
    const asked_model *model = self->model;
    text_index ids;
    size_t room = 1;
    cg_code code = CG_OK;

    for (size_t i = 0; i < model->count; i++)
        room += model->components[i].parameter_count;
    self->all = arena_zero(model->mem, room * sizeof *self->all);
    self->by_record = arena_zero(model->mem, (self->document->doc.parameters.count + 1) *
                                                 sizeof *self->by_record);
    if (self->all == NULL || self->by_record == NULL ||
        !index_build(&ids, self->heap, &self->document->doc.parameters, sizeof(model_parameter),
                     offsetof(model_parameter, id)))
        return err_nomem(reterr);
    for (size_t i = 0; code == CG_OK && i < model->count; i++) {
        if (is_compared(self->report, model->components[i].name))
            code = join_component(self, i, &ids, reterr);
    }
    index_free(&ids);
    return code;
}

/* The first tensor whose name does not come before `text`. */
static size_t first_tensor(const asked_merging *self, cg_str text)
{
    size_t low = 0;
    size_t high = self->header->tensor_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(self->header->tensors[middle].name, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void match_family(asked_merging *self, asked_joined *to)
{
    const key_part *lead = &to->pattern.segments[0].parts[0];
    cg_str prefix = lead->number < 0 ? lead->text : CG_LIT("");

    for (size_t i = first_tensor(self, prefix); i < self->header->tensor_count; i++) {
        const tensor_row *row = &self->header->tensors[i];
        key_numbers numbers = {0};

        if (!str_starts_with(row->name, prefix))
            break;
        if (self->names[i].count != to->pattern.count ||
            !key_pattern_match(&to->pattern, 0, &self->names[i], 0, &numbers))
            continue;
        to->matched++;
        if (to->first == NULL)
            to->first = row;
    }
}

/* A key that is one name: that one, or with the last part that Candle takes instead. */
static cg_code match_single(asked_merging *self, asked_joined *to, const wanted_parameter *wanted,
                            cg_err *reterr)
{
    size_t dot = str_find_last(to->printed, '.');
    size_t lead = dot == SIZE_MAX ? 0 : dot + 1;

    to->first = safetensors_find(self->header, to->printed);
    for (size_t i = 0; to->first == NULL && i < wanted->alternative_count; i++) {
        cg_str other = wanted->alternatives[i];
        cg_str name;

        if (!arena_format(self->model->mem, &name, "%.*s%.*s", (int)lead, to->printed.ptr,
                          (int)other.len, other.ptr))
            return err_nomem(reterr);
        to->first = safetensors_find(self->header, name);
    }
    to->matched = to->first != NULL;
    return CG_OK;
}

static cg_code match_all(asked_merging *self, cg_err *reterr)
{
    arena *mem = self->model->mem;

    self->names = arena_take(mem, (self->header->tensor_count + 1) * sizeof *self->names);
    if (self->names == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->header->tensor_count; i++) {
        if (!key_name_make(mem, self->header->tensors[i].name, &self->names[i]))
            return err_nomem(reterr);
    }
    for (size_t i = 0; i < self->count; i++) {
        asked_joined *to = &self->all[i];

        if (to->is_family && to->pattern.count > 0)
            match_family(self, to);
        else
            CG_TRY(match_single(self, to, to->wanted, reterr));
    }
    return CG_OK;
}

static cg_code keep_matches(asked_merging *self, asked_matches *ret, cg_err *reterr)
{
    arena *mem = &self->document->mem;
    tree_match *matches = arena_take(self->model->mem, (self->count + 1) * sizeof *matches);

    if (matches == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->count; i++) {
        asked_joined *from = &self->all[i];

        if (from->lead == i)
            from->record->checkpoint_shape = (sc_u64s){0};
        if (from->lead == i)
            from->record->checkpoint_dtype = (cg_str){0};
        matches[i] = (tree_match){from->record->id, from->record->component, from->record->key,
                                  from->matched};
        if (from->lead != i)
            matches[from->lead].tensors += from->matched;
    }
    for (size_t i = 0; i < self->count; i++) {
        asked_joined *from = &self->all[i];
        uint64_t *shape;

        matches[i].tensors = matches[from->lead].tensors;
        if (from->first == NULL || from->record->checkpoint_dtype.ptr != NULL)
            continue;
        shape = arena_take(mem, (from->first->rank + 1) * sizeof *shape);
        if (shape == NULL)
            return err_nomem(reterr);
        for (uint32_t k = 0; k < from->first->rank; k++)
            shape[k] = from->first->shape[k];
        from->record->checkpoint_shape = (sc_u64s){shape, from->first->rank};
        from->record->checkpoint_dtype = tensor_dtype_name(from->first->dtype);
    }
    *ret = (asked_matches){matches, self->count};
    return CG_OK;
}

cg_code asked_merge(const asked_model *self, heap *from, const tensor_header *header,
                    const doc_checkpoint *report, model_document *document,
                    asked_matches *ret_matches, cg_err *reterr)
{
    asked_merging work = {
        .model = self, .heap = from, .header = header, .report = report, .document = document};

    CG_TRY(join_parameters(&work, reterr));
    CG_TRY(match_all(&work, reterr));
    CG_TRY(keep_matches(&work, ret_matches, reterr));
    CG_TRY(asked_findings_add(&work, reterr));
    return model_normalise(document, reterr);
}
