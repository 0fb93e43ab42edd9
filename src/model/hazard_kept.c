#include "model/hazard_kept.h"

#include "model/hazard_operands.h"
#include "model/rules.h"

bool hazard_is_scanned(const hazard_meeting *self, model_place place)
{
    const program *code_of = self->program;

    return place.file && place.function &&
           code_of->crates.at[code_of->modules.at[code_of->items.at[place.function].module].crate]
               .is_scanned;
}

static bool is_same(const hazard *a, const hazard *b)
{
    bool are_dtypes = (a->code == RULE_CODE_DTYPE_RISK || a->code == RULE_CODE_DTYPE_CONFLICT) &&
                      (b->code == RULE_CODE_DTYPE_RISK || b->code == RULE_CODE_DTYPE_CONFLICT);

    return (a->code == b->code || are_dtypes) && a->place.file == b->place.file &&
           a->place.start == b->place.start && a->place.end == b->place.end;
}

static bool is_stronger(const hazard *a, const hazard *b)
{
    if (a->confidence != b->confidence)
        return a->confidence > b->confidence;
    if (a->severity != b->severity)
        return a->severity > b->severity;
    return a->impact > b->impact;
}

static cg_code add_entry(hazard_meeting *self, hazard *to)
{
    uint32_t item = self->run->function->item;
    uint32_t *slot;

    for (size_t i = 0; i < to->entries.count; i++) {
        if (to->entries.at[i] == item)
            return CG_OK;
    }
    slot = vec_add(self->all->heap, &to->entries);
    if (!slot)
        return meeting_nomem(self);
    *slot = item;
    return CG_OK;
}

/* The row of the call, or a new one; *ret_better: the facts of `what` are to be taken over. */
static cg_code find_row(hazard_meeting *self, const hazard *what, hazard **ret, bool *ret_better)
{
    hazards *all = self->all;
    uint32_t *first =
        number_map_put(&all->by_call, number_map_key(what->place.file, what->place.start + 1), 0);
    uint32_t *link;

    if (!first)
        return meeting_nomem(self);
    for (uint32_t i = *first; i; i = all->next.at[i - 1]) {
        if (is_same(&all->rows.at[i - 1], what)) {
            *ret = &all->rows.at[i - 1];
            *ret_better = is_stronger(what, *ret);
            return CG_OK;
        }
    }
    link = vec_add(all->heap, &all->next);
    *ret = link ? vec_add(all->heap, &all->rows) : NULL;
    if (!*ret)
        return meeting_nomem(self);
    *link = *first;
    *first = (uint32_t)all->rows.count;
    **ret = *what;
    *ret_better = true;
    return CG_OK;
}

cg_code hazard_keep(hazard_meeting *self, const flow_requirement *row, hazard *what)
{
    hazard *to = NULL;
    bool is_better = false;

    what->need = row->need;
    what->place = row->place.file ? row->place : meeting_node(self, row->node)->place;
    if (!hazard_is_scanned(self, what->place))
        return CG_OK;
    CG_TRY(find_row(self, what, &to, &is_better));
    CG_TRY(add_entry(self, to));
    if (!is_better)
        return CG_OK;
    uint8_t severity = to->severity > what->severity ? to->severity : what->severity;
    hazard kept = *what;

    kept.severity = severity;
    kept.entries.at = to->entries.at;
    kept.entries.count = to->entries.count;
    kept.entries.capacity = to->entries.capacity;
    hazard_name_operation(self, row, &kept);
    if (what->operation.len)
        kept.operation = what->operation;
    if (row->call.len && !arena_text(&self->all->mem, row->call, &kept.operation))
        return meeting_nomem(self);
    CG_TRY(hazard_take_operand(self, &kept, row->node, row->operand, false, &kept.operands[0]));
    CG_TRY(hazard_take_operand(self, &kept, row->node, row->other, true, &kept.operands[1]));
    if (kept.detail.len && !arena_text(&self->all->mem, kept.detail, &kept.detail))
        return meeting_nomem(self);
    *to = kept;
    return CG_OK;
}
