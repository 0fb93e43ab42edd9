#include "join/join.h"

#define NONE DECLARED_NONE

/* --- open --- */

static bool take_flags(join *self)
{
    size_t items = (size_t)declared_count(&self->crate) + 1;

    self->is_seen = arena_zero(&self->mem, items);
    self->is_span_seen = arena_zero(&self->mem, items);
    self->is_doubtful = arena_zero(&self->mem, items);
    self->is_in_complete = arena_zero(&self->mem, self->doc->functions.count + 1);
    self->is_listed = arena_zero(&self->mem, self->doc->parameters.count + 1);
    self->is_unit_listed = arena_zero(&self->mem, self->crate.units.count + 1);
    return self->is_seen != NULL && self->is_span_seen != NULL && self->is_doubtful != NULL &&
           self->is_in_complete != NULL && self->is_listed != NULL && self->is_unit_listed != NULL;
}

static cg_code find_component(join *self, cg_str name, cg_err *reterr)
{
    size_t found = 0;

    if (name.ptr == NULL)
        return CG_OK;
    for (size_t i = 0; i < self->doc->components.count; i++) {
        const model_component *component = MODEL_AT(self->doc->components, model_component, i);

        if (str_equal(component->qualified_name, name)) {
            self->asked = (uint32_t)i;
            return CG_OK;
        }
        if (str_equal(component->name, name)) {
            self->asked = (uint32_t)i;
            found++;
        }
    }
    if (found == 1)
        return CG_OK;
    return cg_fail(reterr, PROBLEM_USAGE,
                   found == 0 ? "the crate has no component `%.*s`"
                              : "several components are called `%.*s`; give the qualified name",
                   ERR_STR(name));
}

cg_code join_open(join *self, heap *from, const cg_env *env, const model_doc *doc, cg_str component,
                  uint64_t seed, cg_err *reterr)
{
    cg_code code;

    memset(self, 0, sizeof *self);
    CG_TRY(declared_make(&self->crate, from, doc, seed, reterr));
    self->heap = from;
    self->env = env;
    self->doc = doc;
    self->asked = NONE;
    arena_init(&self->mem, from);
    code = intern_init(&self->texts, from, seed) && take_flags(self) ? CG_OK : err_nomem(reterr);
    if (code == CG_OK)
        code = find_component(self, component, reterr);
    if (code != CG_OK)
        join_free(self);
    return code;
}

void join_free(join *self)
{
    if (self->heap == NULL)
        return;
    if (self->texts.heap != NULL)
        intern_free(&self->texts);
    vec_free(self->heap, &self->runs);
    vec_free(self->heap, &self->facts);
    vec_free(self->heap, &self->gradients);
    vec_free(self->heap, &self->names);
    vec_free(self->heap, &self->breaks);
    vec_free(self->heap, &self->candidates);
    declared_free(&self->crate);
    arena_free(&self->mem);
    self->heap = NULL;
}

/* --- copies of what a run says --- */

typedef struct adding {
    join *to;
    const observed *seen;
    const evidence *from;
    const trace_doc *trace;
    join_run *run;
    uint32_t number;
} adding;

static bool copy_text(adding *self, cg_str from, cg_str *ret)
{
    return arena_text(&self->to->mem, from, ret);
}

static bool copy_symbol(adding *self, sym from, cg_str *ret)
{
    *ret = (cg_str){0};
    return from == 0 || copy_text(self, trace_text(self->trace, from), ret);
}

static bool copy_symbols(adding *self, const sym *from, size_t count, sc_strs *ret)
{
    cg_str *at = arena_take(&self->to->mem, (count + 1) * sizeof *at);

    *ret = (sc_strs){at, count};
    for (size_t i = 0; at != NULL && i < count; i++) {
        if (!copy_symbol(self, from[i], &at[i]))
            return false;
    }
    return at != NULL;
}

static bool copy_shapes(adding *self, const observed_fact *from, sc_records *ret)
{
    join_seen_shape *at = arena_take(&self->to->mem, (from->shape_count + 1u) * sizeof *at);

    *ret = (sc_records){at, from->shape_count};
    for (size_t i = 0; at != NULL && i < from->shape_count; i++) {
        sc_u64s axes = trace_axes(self->trace, from->shapes[i]);
        uint64_t *copy = arena_take(&self->to->mem, (axes.count + 1) * sizeof *copy);

        if (copy == NULL)
            return false;
        memcpy(copy, axes.at, axes.count * sizeof *copy);
        at[i] = (join_seen_shape){.shape = {copy, axes.count}, .count = from->shape_counts[i]};
    }
    return at != NULL;
}

static bool copy_parts(adding *self, const observed_fact *from, join_fact *ret)
{
    arena *mem = &self->to->mem;
    join_provenance *provenance = arena_zero(mem, sizeof *provenance);

    if (provenance == NULL)
        return false;
    *provenance = (join_provenance){
        .run = self->number,
        .run_id = self->run->run_id,
        .record = from->record,
        .plane = JOIN_PLANE_EXECUTION,
        .worth = self->run->worth,
        .rule = from->rule,
        .scope = declared_kind(&self->to->crate, from->item) == DECLARED_LAYER ? JOIN_SCOPE_LAYER
                                                                               : JOIN_SCOPE_ITEM,
        .name_count = from->name_count};
    ret->provenance = provenance;
    if (from->record == JOIN_RECORD_GRADIENT) {
        join_states *states = arena_take(mem, sizeof *states);

        if (states == NULL)
            return false;
        *states = (join_states){
            from->states[GRADIENT_STATE_PRESENT], from->states[GRADIENT_STATE_MISSING],
            from->states[GRADIENT_STATE_ZERO], from->states[GRADIENT_STATE_NON_FINITE]};
        ret->gradient = states;
    }
    if (from->has_values) {
        join_values *values = arena_take(mem, sizeof *values);

        if (values == NULL)
            return false;
        *values = (join_values){from->elements, from->non_finite, from->abs_max, from->rms_max};
        ret->values = values;
    }
    return copy_symbols(self, from->names, from->name_kept, &provenance->names);
}

static bool add_fact(adding *self, const observed_fact *from)
{
    join_item_fact *fresh = vec_add(self->to->heap, &self->to->facts);
    join_fact *fact;

    if (fresh == NULL)
        return false;
    fresh->item = from->item;
    fact = &fresh->fact;
    *fact = (join_fact){
        .count = from->count,
        .host_total_ns = {from->total_ns, from->has_total},
        .host_self_ns = {from->self_ns, from->has_self},
        .device_ns = {from->device_ns, from->has_device},
        .allocated_bytes = {from->allocated_bytes, from->has_allocated},
        .dense_bytes = {from->dense_bytes, from->has_dense},
        .open = {from->open, from->open > 0},
        .other_shapes = {from->other_shapes, from->other_shapes > 0},
    };
    return copy_symbols(self, from->dtypes, from->dtype_count, &fact->dtypes) &&
           copy_symbols(self, from->devices, from->device_count, &fact->devices) &&
           copy_shapes(self, from, &fact->shapes) && copy_parts(self, from, fact);
}

static bool add_facts(adding *self)
{
    join *to = self->to;
    const declared *crate = &to->crate;
    bool is_complete = self->run->operations == LEVEL_COMPLETE;

    for (size_t i = 0; i < self->seen->facts.count; i++) {
        const observed_fact *fact = &self->seen->facts.at[i];

        to->is_seen[fact->item] = true;
        if (!add_fact(self, fact))
            return false;
        if (self->run->worth == JOIN_WORTH_FULL && is_complete &&
            fact->record == JOIN_RECORD_SPAN &&
            declared_kind(crate, fact->item) == JOIN_ITEM_FUNCTION)
            to->is_in_complete[declared_place(crate, JOIN_ITEM_FUNCTION, fact->item)] = true;
    }
    for (uint32_t i = 0; self->run->worth == JOIN_WORTH_FULL && i < declared_count(crate); i++)
        to->is_span_seen[i] = to->is_span_seen[i] || self->seen->is_span_seen[i];
    return true;
}

static bool add_gradients(adding *self)
{
    join *to = self->to;
    const declared *crate = &to->crate;

    for (size_t i = 0; i < self->seen->gradients.count; i++) {
        const observed_key *from = &self->seen->gradients.at[i];
        const matched_key *key = &self->seen->keys.keys.at[i];
        join_gradient *fresh = vec_add(to->heap, &to->gradients);

        if (fresh == NULL)
            return false;
        *fresh = (join_gradient){.run = self->number,
                                 .root = intern_add(&to->texts, key->root),
                                 .key = intern_add(&to->texts, key->key),
                                 .item = key->item,
                                 .is_in_manifest = key->is_in_manifest};
        memcpy(fresh->states, from->states, sizeof fresh->states);
        if (fresh->root == 0 || fresh->key == 0)
            return false;
        if (key->item != NONE && key->is_in_manifest)
            to->is_listed[declared_place(crate, JOIN_ITEM_PARAMETER, key->item)] = true;
    }
    for (size_t i = 0; i < self->seen->keys.roots.count; i++) {
        uint32_t unit = self->seen->keys.roots.at[i].unit;

        if (unit != NONE && self->run->has_manifest && self->run->worth == JOIN_WORTH_FULL)
            to->is_unit_listed[unit] = true;
    }
    return true;
}

static bool copy_candidates(adding *self, const uint32_t *from, uint32_t count, join_name *ret)
{
    join *to = self->to;

    if (!vec_reserve(to->heap, &to->candidates, to->candidates.count + count))
        return false;
    ret->candidates_at = (uint32_t)to->candidates.count;
    ret->candidate_count = count;
    for (uint32_t i = 0; i < count; i++) {
        to->candidates.at[to->candidates.count++] = from[i];
        to->is_doubtful[from[i]] = true;
    }
    return true;
}

static bool add_names(adding *self)
{
    join *to = self->to;

    for (size_t i = 0; i < self->seen->strangers.count; i++) {
        const observed_name *from = &self->seen->strangers.at[i];
        join_name *fresh = vec_add(to->heap, &to->names);

        if (fresh == NULL)
            return false;
        *fresh = (join_name){.run = self->number,
                             .record = from->record,
                             .rule = from->rule,
                             .name = intern_add(&to->texts, trace_text(self->trace, from->name)),
                             .count = from->count,
                             .inside = from->inside};
        if (fresh->name == 0 || !copy_symbol(self, from->first_span_id, &fresh->first_span) ||
            !copy_candidates(self,
                             from->candidate_count > 0
                                 ? self->seen->names.candidates.at + from->candidates_at
                                 : &from->candidates_at,
                             from->candidate_count, fresh))
            return false;
    }
    return true;
}

/* Keys of gradients that fit several parameters. */
static bool add_doubtful_keys(adding *self)
{
    join *to = self->to;
    const match_keys *keys = &self->seen->keys;
    VEC(uint32_t) items = {0};
    bool is_good = true;

    for (size_t i = 0; is_good && i < keys->keys.count; i++) {
        const matched_key *key = &keys->keys.at[i];
        join_name *fresh;

        if (key->item != NONE || key->hit_count == 0)
            continue;
        fresh = vec_add(to->heap, &to->names);
        is_good = fresh != NULL && vec_reserve(to->heap, &items, (size_t)key->hit_count);
        if (!is_good)
            break;
        *fresh = (join_name){.run = self->number,
                             .record = JOIN_RECORD_GRADIENT,
                             .rule = key->rule,
                             .name = intern_add(&to->texts, key->key),
                             .root = intern_add(&to->texts, key->root),
                             .count = 1,
                             .inside = NONE};
        items.count = key->hit_count;
        for (uint32_t k = 0; k < key->hit_count; k++)
            items.at[k] = keys->hits.at[key->hits_at + k].item;
        is_good = fresh->name != 0 && fresh->root != 0 &&
                  copy_candidates(self, items.at, key->hit_count, fresh);
    }
    vec_free(to->heap, &items);
    return is_good;
}

static bool add_breaks(adding *self)
{
    join *to = self->to;

    for (size_t i = 0; i < self->seen->breaks.count; i++) {
        const observed_break *from = &self->seen->breaks.at[i];
        uint32_t span = trace_span_of(self->trace, from->span_id);
        join_break *fresh = vec_add(to->heap, &to->breaks);
        join_broken *row;

        if (fresh == NULL)
            return false;
        *fresh = (join_break){
            .item = from->item, .function = from->function, .operation_item = from->operation_item};
        row = &fresh->row;
        row->run = self->number;
        row->run_id = self->run->run_id;
        row->record = JOIN_RECORD_STATS;
        row->worth = self->run->worth;
        row->part = from->part;
        row->non_finite = from->non_finite;
        row->elements = from->elements;
        if (from->operation != 0)
            fresh->operation = intern_add(&to->texts, trace_text(self->trace, from->operation));
        if ((from->operation != 0 && fresh->operation == 0) ||
            !copy_symbol(self, from->label, &row->label) ||
            !copy_symbol(self, from->span_id, &row->span_id) ||
            !copy_symbol(self, from->operation, &row->operation) ||
            (span != TRACE_NONE &&
             !copy_symbol(self, self->trace->spans.at[span].name, &row->span)))
            return false;
    }
    return true;
}

/* --- the run itself --- */

/* Does it tell how training went, and not that the record is wrong? */
static bool is_about_learning(uint8_t code)
{
    return code == HEALTH_FAMILY_NON_FINITE || code == HEALTH_FAMILY_ACTIVE_LOW ||
           code == HEALTH_FAMILY_LEAK || code == HEALTH_FAMILY_CONDITIONAL_LOW;
}

/* The first error of its kind; absent: there is none. Counts all of them. */
static cg_str first_error(const health_report *health, bool is_learning, uint64_t *ret_count)
{
    cg_str first = {0};

    *ret_count = 0;
    for (size_t i = 0; i < health->issues.count; i++) {
        const health_issue *issue = &health->issues.at[i];

        if (!issue->is_error || is_about_learning(issue->code) != is_learning)
            continue;
        if ((*ret_count)++ == 0)
            first = health_code_word(issue->code);
    }
    return first;
}

/* What the run may be used for, and why not for everything or what else is to be known. */
static bool judge(adding *self)
{
    const health_report *health = &self->from->health;
    join_run *run = self->run;
    uint64_t faults;
    uint64_t lessons;
    cg_str fault = first_error(health, false, &faults);
    cg_str lesson = first_error(health, true, &lessons);
    buf text;
    bool is_good;

    buf_init(&text, self->to->heap, 4096);
    run->worth = JOIN_WORTH_FULL;
    if (faults > 0) {
        run->worth = JOIN_WORTH_NOTHING;
        buf_addf(&text, "the trace is not structurally valid: %.*s", (int)fault.len, fault.ptr);
        if (faults > 1)
            buf_addf(&text, " and %llu more", (unsigned long long)(faults - 1));
    } else if (!health->is_complete) {
        run->worth = JOIN_WORTH_DIAGNOSTIC;
        buf_addf(&text, "the capture failed: ");
        buf_add(&text, err_shorten(self->trace->failure_reason));
    } else if (lessons > 0) {
        buf_addf(&text, "the gradient contract is broken: %.*s", (int)lesson.len, lesson.ptr);
    }
    is_good = !text.failed && (text.len == 0 || copy_text(self, buf_text(&text), &run->reason));
    buf_free(&text);
    return is_good;
}

static bool describe(adding *self, cg_str path, bool is_bundle)
{
    const rec_run *run = &self->trace->run;
    const health_report *health = &self->from->health;
    const rec_contract *contract = run->contract;
    join_run *ret = self->run;

    *ret = (join_run){
        .run = self->number,
        .input = is_bundle ? JOIN_INPUT_BUNDLE : JOIN_INPUT_TRACE,
        .phase = run->phase,
        .capture_step = run->capture_step,
        .outcome = self->trace->outcome,
        .is_valid = health->is_valid,
        .operations = contract != NULL ? contract->operations : LEVEL_NONE,
        .has_manifest = health->is_gradient_contract_valid,
        .events = self->trace->event_count,
    };
    return copy_text(self, path, &ret->path) && copy_text(self, run->run_id, &ret->run_id) &&
           copy_text(self, run->correlation_id, &ret->correlation_id) &&
           copy_text(self, run->entrypoint, &ret->entrypoint) && judge(self);
}

static bool tell_roots(adding *self)
{
    join *to = self->to;
    const match_keys *keys = &self->seen->keys;
    join_root *at = arena_zero(&to->mem, (keys->roots.count + 1) * sizeof *at);

    if (at == NULL)
        return false;
    for (size_t i = 0; i < keys->roots.count; i++) {
        const matched_root *from = &keys->roots.at[i];

        if (!copy_text(self, from->root, &at[i].root))
            return false;
        at[i].choice = from->choice;
        at[i].keys = from->keys;
        at[i].matched = from->matched;
        if (from->unit != NONE) {
            const declared_unit *unit = &to->crate.units.at[from->unit];

            at[i].component = MODEL_AT(to->doc->components, model_component, unit->component)->id;
            at[i].builder_root = unit->root;
            at[i].prefix = unit->prefix;
        }
    }
    self->run->roots = (sc_records){at, keys->roots.count};
    return true;
}

static cg_code add_seen(adding *self, cg_err *reterr)
{
    observed seen;
    bool is_good;

    CG_TRY(
        observed_make(&seen, self->to->env, &self->to->crate, self->to->asked, self->from, reterr));
    self->seen = &seen;
    is_good = tell_roots(self) && add_facts(self) && add_gradients(self) && add_names(self) &&
              add_doubtful_keys(self) && add_breaks(self);
    observed_free(&seen);
    return is_good ? CG_OK : err_nomem(reterr);
}

cg_code join_add(join *self, const evidence *from, cg_str path, bool is_bundle, cg_err *reterr)
{
    join_run run;
    adding work = {.to = self,
                   .from = from,
                   .trace = from->trace,
                   .run = &run,
                   .number = (uint32_t)self->runs.count};
    join_run *fresh;

    if (!describe(&work, path, is_bundle))
        return err_nomem(reterr);
    if (run.worth != JOIN_WORTH_NOTHING)
        CG_TRY(add_seen(&work, reterr));
    fresh = vec_add(self->heap, &self->runs);
    if (fresh == NULL)
        return err_nomem(reterr);
    *fresh = run;
    return CG_OK;
}
