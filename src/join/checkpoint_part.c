#include "join/checkpoint_part.h"

#include "join/member_shape.h"

/* --- what is asked for, what there is --- */

static cg_code collect_asked(checkpoint_part *self, cg_err *reterr)
{
    size_t count = 0;

    for (size_t i = 0; i < self->component_count; i++)
        count += self->components[i]->parameter_count;
    self->asked = arena_zero(self->mem, (count + 1) * sizeof *self->asked);
    self->values = arena_zero(self->mem, (self->component_count + 1) * sizeof *self->values);
    if (self->asked == NULL || self->values == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->component_count; i++) {
        for (size_t j = 0; j < self->components[i]->parameter_count; j++) {
            const wanted_parameter *parameter = &self->components[i]->parameters[j];
            asked *to = &self->asked[self->asked_count];

            if (!str_equal(parameter->root, self->root)) {
                self->skipped++;
                continue;
            }
            to->from = parameter;
            to->component = (uint32_t)i;
            if (!key_pattern_make(self->mem, parameter->pieces, parameter->piece_count,
                                  &to->pattern))
                return err_nomem(reterr);
            to->is_family = to->pattern.number_count > 0;
            self->asked_count++;
        }
    }
    return CG_OK;
}

/* The names of the tensors and of those an index promises: both are in order. */
static cg_code collect_names(checkpoint_part *self, cg_err *reterr)
{
    const tensor_header *header = self->header;
    size_t i = 0;
    size_t j = 0;

    self->names = arena_take(self->mem, (header->tensor_count + header->difference_count + 1) *
                                            sizeof *self->names);
    self->is_claimed = arena_zero(self->mem, header->tensor_count + 1);
    self->is_of_other_shape = arena_zero(self->mem, header->tensor_count + 1);
    if (self->names == NULL || self->is_claimed == NULL || self->is_of_other_shape == NULL)
        return err_nomem(reterr);
    while (i < header->tensor_count || j < header->difference_count) {
        cg_str text;

        if (j < header->difference_count && !part_is_promised(&header->differences[j])) {
            j++;
            continue;
        }
        if (j == header->difference_count ||
            (i < header->tensor_count &&
             str_compare(header->tensors[i].name, header->differences[j].name) < 0))
            text = header->tensors[i++].name;
        else
            text = header->differences[j++].name;
        if (!key_name_make(self->mem, text, &self->names[self->name_count++]))
            return err_nomem(reterr);
    }
    return CG_OK;
}

/* --- members --- */

cg_code part_add_entry(checkpoint_part *self, uint32_t index, const key_numbers *numbers,
                       bool is_template, cg_err *reterr)
{
    const asked *from = &self->asked[index];
    entry *added = vec_add(self->heap, &self->entries);
    cg_str text;

    if (added == NULL)
        return err_nomem(reterr);
    *added = (entry){.asked = index,
                     .key = {.pattern = &from->pattern,
                             .numbers = *numbers,
                             .from = from->from,
                             .values = &self->values[from->component],
                             .is_template = is_template,
                             .is_certain = from->from->is_certain,
                             .partner = KEY_NOWHERE}};
    if (!key_pattern_text(self->mem, self->heap, &from->pattern, numbers, &text) ||
        !key_name_make(self->mem, text, &added->key.name))
        return err_nomem(reterr);
    return member_shape_make(self->heap, self->mem, self->pool, from->from, &from->pattern, numbers,
                             &added->key.shape, reterr);
}

cg_code part_add_members(checkpoint_part *self, uint32_t index, key_numbers start,
                         bool *ret_counted, cg_err *reterr)
{
    const asked *from = &self->asked[index];
    key_family family;

    CG_TRY(key_pattern_expand(self->heap, self->mem, &from->pattern, self->names, self->name_count,
                              start, from->from->is_certain, &family, reterr));
    *ret_counted = family.is_counted;
    for (size_t i = 0; i < family.count; i++)
        CG_TRY(part_add_entry(self, index, &family.at[i], false, reterr));
    return CG_OK;
}

static const tensor_row *claim(checkpoint_part *self, const model_key *key)
{
    const tensor_row *row = safetensors_find(self->header, key->name.text);
    cg_str text = key->name.text;
    size_t dot = str_find_last(text, '.');
    size_t lead = dot == SIZE_MAX ? 0 : dot + 1;

    for (size_t i = 0; row == NULL && i < key->from->alternative_count; i++) {
        cg_str other = key->from->alternatives[i];
        cg_str name;

        if (arena_format(self->mem, &name, "%.*s%.*s", (int)lead, text.ptr, (int)other.len,
                         other.ptr))
            row = safetensors_find(self->header, name);
    }
    return row;
}

void part_claim(checkpoint_part *self)
{
    for (size_t i = 0; i < self->entries.count; i++) {
        model_key *key = &self->entries.at[i].key;

        if (key->is_template)
            continue;
        key->tensor = claim(self, key);
        if (key->tensor == NULL)
            continue;
        self->is_claimed[key->tensor - self->header->tensors] = true;
        self->asked[self->entries.at[i].asked].matched++;
    }
}

cg_code part_expand(checkpoint_part *self, cg_err *reterr)
{
    CG_TRY(collect_asked(self, reterr));
    CG_TRY(collect_names(self, reterr));
    for (uint32_t i = 0; i < self->asked_count; i++) {
        bool is_counted;

        CG_TRY(part_add_members(self, i, (key_numbers){0}, &is_counted, reterr));
        if (!is_counted)
            CG_TRY(part_add_entry(self, i, &(key_numbers){0}, true, reterr));
    }
    return CG_OK;
}

void part_free(checkpoint_part *self)
{
    for (size_t i = 0; self->values != NULL && i < self->component_count; i++)
        vec_free(self->heap, &self->values[i]);
    vec_free(self->heap, &self->entries);
}
