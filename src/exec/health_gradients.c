#include "exec/health_gradients.h"

#include "base/num.h"
#include "exec/columns.h"
#include "exec/gradient.h"
#include "exec/pairs.h"

void health_check_gradients(check *self)
{
    const trace_doc *trace = self->trace;
    size_t count = intern_count(&trace->texts);
    uint8_t *seen;

    if (trace->gradients.count == 0)
        return;
    seen = column_zero(self->heap, count, sizeof *seen);
    if (seen == NULL) {
        self->has_room = false;
        return;
    }
    for (size_t i = 0; i < trace->gradients.count && self->has_room; i++) {
        const trace_gradient *event = &trace->gradients.at[i];

        if (str_is_blank(trace_text(trace, event->event_id)))
            health_error(self, HEALTH_GRADIENT_EVENT_EMPTY, (uint32_t)i, 0);
        if (str_is_blank(trace_text(trace, event->root)) ||
            str_is_blank(trace_text(trace, event->key)))
            health_error(self, HEALTH_GRADIENT_KEY_EMPTY, (uint32_t)i, 0);
        if (seen[event->event_id] != 0)
            health_error(self, HEALTH_GRADIENT_EVENT_TWICE, (uint32_t)i, 0);
        seen[event->event_id] = 1;
        if (!gradient_norm_fits(event))
            health_error(self, HEALTH_GRADIENT_STATE_NORM, (uint32_t)i, 0);
    }
    column_free(self->heap, seen, count, sizeof *seen);
}

/* One parameter that was observed. */
typedef struct observed {
    uint32_t first; /* event */
    uint32_t count;
    bool is_declared;
} observed;

/* The manifest against what was observed. */
typedef struct manifest_work {
    const rec_manifest_entry *entries;
    size_t entry_count;
    const rec_family *families;
    size_t family_count;
    pairs keys; /* (root, key) -> index into rows */
    VEC(observed) rows;
    intern names; /* family names: symbol = declared place + 1 */
} manifest_work;

/* A name and its symbol: neighbours in a manifest mostly share root and family. */
typedef struct last_name {
    cg_str text;
    sym symbol;
} last_name;

static sym find_name(const intern *texts, last_name *last, cg_str text)
{
    if (!str_equal(last->text, text))
        *last = (last_name){text, intern_find(texts, text)};
    return last->symbol;
}

static bool observe(check *self, manifest_work *work)
{
    const trace_doc *trace = self->trace;

    for (size_t i = 0; i < trace->gradients.count; i++) {
        const trace_gradient *event = &trace->gradients.at[i];
        bool is_new = false;
        uint32_t *row =
            pairs_add(&work->keys, event->root, event->key, (uint32_t)work->rows.count, &is_new);

        if (row == NULL)
            return false;
        if (is_new) {
            observed *added = vec_add(self->heap, &work->rows);

            if (added == NULL)
                return false;
            *added = (observed){.first = (uint32_t)i};
        }
        work->rows.at[*row].count++;
    }
    return true;
}

/* Fill families.states; what the manifest does not name stays undeclared. */
static bool match_manifest(check *self, manifest_work *work)
{
    const trace_doc *trace = self->trace;
    health_families *families = &self->report->families;
    last_name last = {0};

    if (!vec_reserve(self->heap, &families->states, work->entry_count))
        return false;
    families->states.count = work->entry_count;
    for (size_t i = 0; i < work->entry_count; i++) {
        sym root = find_name(&trace->texts, &last, work->entries[i].root);
        sym key = intern_find(&trace->texts, work->entries[i].key);
        uint32_t *row = root != 0 && key != 0 ? pairs_find(&work->keys, root, key) : NULL;

        families->states.at[i] = HEALTH_NOT_RECORDED;
        if (row != NULL) {
            work->rows.at[*row].is_declared = true;
            families->states.at[i] = trace->gradients.at[work->rows.at[*row].first].state;
        }
    }
    return true;
}

/* Rules 33a and 33b: usually nothing is at fault and nothing needs an order. */
static bool check_observed(check *self, const manifest_work *work)
{
    const trace_doc *trace = self->trace;
    VEC(uint32_t) faults = {0};
    uint64_t *keys = NULL;
    ranks names = {0};
    bool is_done = true;

    for (size_t i = 0; is_done && i < work->rows.count; i++) {
        if (work->rows.at[i].count != 1 || !work->rows.at[i].is_declared) {
            uint32_t *fault = vec_add(self->heap, &faults);

            is_done = fault != NULL;
            if (is_done)
                *fault = (uint32_t)i;
        }
    }
    if (is_done && faults.count > 0) {
        keys = column_take(self->heap, work->rows.count, sizeof *keys);
        is_done = keys != NULL && ranks_init(&names, self->heap, &trace->texts);
    }
    if (is_done && faults.count > 0) {
        const trace_gradient *events = trace->gradients.at;

        ranks_add(&names, &events->root, sizeof *events, trace->gradients.count);
        ranks_add(&names, &events->key, sizeof *events, trace->gradients.count);
        is_done = ranks_finish(&names);
        for (size_t i = 0; is_done && i < work->rows.count; i++) {
            const trace_gradient *event = &events[work->rows.at[i].first];

            keys[i] = (uint64_t)names.of[event->root] << 32 | names.of[event->key];
        }
        is_done = is_done && column_sort(self->heap, faults.at, faults.count, keys);
    }
    for (size_t i = 0; is_done && i < faults.count; i++) {
        const observed *row = &work->rows.at[faults.at[i]];

        if (row->count != 1)
            health_error(self, HEALTH_MANIFEST_DUPLICATE, row->first, row->count);
        if (!row->is_declared)
            health_error(self, HEALTH_MANIFEST_UNDECLARED, row->first, 0);
    }
    if (names.heap != NULL)
        ranks_free(&names);
    column_free(self->heap, keys, work->rows.count, sizeof *keys);
    vec_free(self->heap, &faults);
    return is_done;
}

/* Put the manifest entries in order of their families. */
static bool group_families(check *self, manifest_work *work)
{
    health_families *families = &self->report->families;
    last_name last = {0};
    uint32_t sum = 0;

    for (size_t i = 0; i < work->family_count; i++) {
        if (intern_add(&work->names, work->families[i].family) == 0)
            return false;
    }
    if (!vec_reserve(self->heap, &families->entry_at, work->family_count + 1) ||
        !vec_reserve(self->heap, &families->entries, work->entry_count))
        return false;
    families->entry_at.count = work->family_count + 1;
    families->entries.count = work->entry_count;
    memset(families->entry_at.at, 0, families->entry_at.count * sizeof *families->entry_at.at);
    /* A valid contract declares every family it uses, so symbols are 1 .. family_count. */
    for (size_t i = 0; i < work->entry_count; i++)
        families->entry_at.at[find_name(&work->names, &last, work->entries[i].family)]++;
    for (size_t i = 0; i <= work->family_count; i++) {
        sum += families->entry_at.at[i];
        families->entry_at.at[i] = sum;
    }
    /* Now entry_at[symbol] is the end of a family; filling from behind leaves its beginning. */
    for (size_t i = work->entry_count; i-- > 0;) {
        sym name = find_name(&work->names, &last, work->entries[i].family);

        families->entries.at[--families->entry_at.at[name]] = (uint32_t)i;
    }
    memmove(families->entry_at.at, families->entry_at.at + 1,
            work->family_count * sizeof *families->entry_at.at);
    families->entry_at.at[work->family_count] = (uint32_t)work->entry_count;
    return true;
}

/* Rule 34 for one family. True when something is at fault. */
static bool check_family(check *self, const manifest_work *work, uint32_t index)
{
    const health_families *families = &self->report->families;
    const rec_family *family = &work->families[index];
    size_t issue_count = self->report->issues.count;
    uint64_t counts[UINT8_MAX + 1] = {0};
    uint64_t member_count = families->entry_at.at[index + 1] - families->entry_at.at[index];
    uint64_t recorded_count;
    uint64_t present_count;
    bool is_decided;

    for (uint32_t i = families->entry_at.at[index]; i < families->entry_at.at[index + 1]; i++)
        counts[families->states.at[families->entries.at[i]]]++;
    recorded_count = member_count - counts[HEALTH_NOT_RECORDED];
    present_count = counts[GRADIENT_STATE_PRESENT];
    /* A failed capture may have ended before the rest of the family was recorded. */
    is_decided = !self->is_failed || recorded_count == member_count;
    if (counts[GRADIENT_STATE_NON_FINITE] > 0)
        health_error(self, HEALTH_FAMILY_NON_FINITE, index, 0);
    if (is_decided && present_count < family->min_present &&
        (family->expectation == EXPECTATION_ACTIVE ||
         (family->expectation == EXPECTATION_DATA_CONDITIONAL && present_count > 0)))
        self->report->absent_gradients += member_count - present_count;
    else if (!self->is_failed)
        self->report->absent_gradients += counts[HEALTH_NOT_RECORDED];
    switch (family->expectation) {
    case EXPECTATION_ACTIVE:
        if (is_decided && present_count < family->min_present)
            health_error(self, HEALTH_FAMILY_ACTIVE_LOW, index, (uint32_t)present_count);
        break;
    case EXPECTATION_INACTIVE:
        if (recorded_count > counts[GRADIENT_STATE_MISSING])
            health_error(self, HEALTH_FAMILY_LEAK, index, 0);
        break;
    case EXPECTATION_DATA_CONDITIONAL:
        if (is_decided && present_count > 0 && present_count < family->min_present)
            health_error(self, HEALTH_FAMILY_CONDITIONAL_LOW, index, (uint32_t)present_count);
        break;
    }
    return self->report->issues.count > issue_count;
}

void health_free_families(heap *from, health_families *families)
{
    vec_free(from, &families->entries);
    vec_free(from, &families->entry_at);
    vec_free(from, &families->states);
}

static bool check_manifest(check *self, manifest_work *work)
{
    bool has_fault = false;

    if (!observe(self, work) || !match_manifest(self, work) || !check_observed(self, work))
        return false;
    for (size_t i = 0; i < work->entry_count && self->has_room; i++) {
        if (self->report->families.states.at[i] == HEALTH_NOT_RECORDED)
            health_by_outcome(self, HEALTH_MANIFEST_MISSING, (uint32_t)i, 0);
    }
    if (!group_families(self, work))
        return false;
    for (size_t i = 0; i < work->family_count && self->has_room; i++)
        has_fault = check_family(self, work, (uint32_t)i) || has_fault;
    if (!has_fault)
        health_free_families(self->heap, &self->report->families);
    return self->has_room;
}

cg_code health_check_gradient_contract(check *self, cg_err *reterr)
{
    const rec_contract *contract = self->trace->run.contract;
    const rec_gradient_contract *gradients = contract->gradient_contract;
    manifest_work work = {0};
    bool is_done;

    if (gradients != NULL) {
        CG_TRY(gradient_contract_check(&self->report->texts, gradients,
                                       &self->report->contract_problem, reterr));
        self->report->is_gradient_contract_valid = self->report->contract_problem.ptr == NULL;
    }
    if (contract->gradients == LEVEL_COMPLETE && gradients == NULL)
        health_error(self, HEALTH_GRADIENT_NO_CONTRACT, 0, 0);
    if (contract->gradients != LEVEL_COMPLETE && gradients != NULL)
        health_error(self, HEALTH_GRADIENT_NOT_COMPLETE, 0, 0);
    if (contract->gradients != LEVEL_COMPLETE || gradients == NULL)
        return CG_OK;
    if (!self->report->is_gradient_contract_valid) {
        health_error(self, HEALTH_GRADIENT_CONTRACT, 0, 0);
        return CG_OK;
    }
    work.entries = gradients->expected.at;
    work.entry_count = gradients->expected.count;
    work.families = gradients->families.at;
    work.family_count = gradients->families.count;
    pairs_init(&work.keys, self->heap, self->trace->texts.seed);
    is_done = intern_init(&work.names, self->heap, self->trace->texts.seed) &&
              check_manifest(self, &work);
    pairs_free(&work.keys);
    vec_free(self->heap, &work.rows);
    intern_free(&work.names);
    return is_done ? CG_OK : err_nomem(reterr);
}

/* What the gradient capability judges by (docs/schemas/evidence.md). */
void health_note_gradients(health_report *report)
{
    for (size_t i = 0; i < report->issues.count; i++) {
        const health_issue *issue = &report->issues.at[i];

        if (issue->code != HEALTH_GRADIENT_EVENT_TWICE &&
            issue->code != HEALTH_GRADIENT_EVENT_EMPTY &&
            !str_starts_with(health_code_word(issue->code), CG_LIT("gradient_"))) {
            report->has_other_error = report->has_other_error || issue->is_error;
            continue;
        }
        if (issue->is_error)
            report->has_gradient_error = true;
        else
            report->has_gradient_warning = true;
    }
}
