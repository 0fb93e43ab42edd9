#include "compare/comparison.h"

#include "base/sort.h"
#include "exec/columns.h"
#include "schema/reader.h"

/* --- life --- */

cg_code comparison_new(const cg_env *env, bool is_verified, comparison **ret, cg_err *reterr)
{
    heap start;
    comparison *self;

    heap_init(&start, env);
    self = heap_resize(&start, NULL, 0, sizeof *self);
    if (self == NULL)
        return err_nomem(reterr);
    *self = (comparison){.heap = start, .env = env, .is_verified = is_verified};
    arena_init(&self->arena, &self->heap);
    if (!mechanism_init(&self->mechanism, env, &self->heap)) {
        comparison_free(self);
        return err_nomem(reterr);
    }
    *ret = self;
    return CG_OK;
}

void comparison_free(comparison *self)
{
    if (self == NULL)
        return;
    for (unsigned i = 0; i < COHORT_COUNT; i++)
        vec_free(&self->heap, &self->runs[i]);
    vec_free(&self->heap, &self->reasons);
    vec_free(&self->heap, &self->notes);
    mechanism_free(&self->mechanism);
    arena_free(&self->arena);
    heap_release(&self->heap, self, sizeof *self);
}

/* --- reasons --- */

static cg_code add_reason(comparison *self, enum reason reason, unsigned cohort, cg_str message,
                          cg_err *reterr)
{
    doc_comparison_reason *row = vec_add(&self->heap, &self->reasons);
    reason_note *note = vec_add(&self->heap, &self->notes);

    if (row == NULL || note == NULL)
        return err_nomem(reterr);
    row->code = reason_rows[reason].code;
    *note = (reason_note){(uint8_t)reason, (uint8_t)cohort};
    return arena_text(&self->arena, message, &row->message) ? CG_OK : err_nomem(reterr);
}

/* A reason of all runs, or of one cohort. */
static cg_code add_common(comparison *self, enum reason reason, unsigned cohort, cg_err *reterr)
{
    cg_str message;
    bool is_made;

    if (cohort < COHORT_COUNT)
        is_made = arena_format(&self->arena, &message, "%.*s: %s", (int)words_cohort.at[cohort].len,
                               words_cohort.at[cohort].ptr, reason_rows[reason].meaning);
    else
        is_made = arena_format(&self->arena, &message, "%s", reason_rows[reason].meaning);
    return is_made ? add_reason(self, reason, cohort, message, reterr) : err_nomem(reterr);
}

/* A reason of the run that was just added. */
static cg_code add_own(comparison *self, enum reason reason, unsigned cohort, cg_err *reterr)
{
    const cohort_run *run = &self->runs[cohort].at[self->runs[cohort].count - 1];
    cg_str message;

    if (!arena_format(&self->arena, &message, "%.*s run %zu `%.*s`: %s",
                      (int)words_cohort.at[cohort].len, words_cohort.at[cohort].ptr,
                      self->runs[cohort].count, ERR_STR(run->run_id), reason_rows[reason].meaning))
        return err_nomem(reterr);
    return add_reason(self, reason, cohort, message, reterr);
}

size_t comparison_reason_count(const comparison *self, unsigned reason)
{
    size_t count = 0;

    for (size_t i = 0; i < self->notes.count; i++)
        count += self->notes.at[i].reason == reason;
    return count;
}

/* --- equality by table --- */

static bool records_equal(const sc_table *table, const void *a, const void *b);

static bool texts_equal(cg_str a, cg_str b)
{
    return (a.ptr == NULL) == (b.ptr == NULL) && str_equal(a, b);
}

static bool text_lists_equal(const sc_strs *a, const sc_strs *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        if (!str_equal(a->at[i], b->at[i]))
            return false;
    }
    return a->count == b->count;
}

static bool record_lists_equal(const sc_table *table, const sc_records *a, const sc_records *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        if (!records_equal(table, (const char *)a->at + i * table->size,
                           (const char *)b->at + i * table->size))
            return false;
    }
    return a->count == b->count;
}

/* The kinds of fields the compared records have; the tables nest two levels deep. */
static bool members_equal(const sc_field *field, const void *a, const void *b)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: return texts_equal(*(const cg_str *)a, *(const cg_str *)b);
    case SC_U64: return *(const uint64_t *)a == *(const uint64_t *)b;
    case SC_BOOL: return *(const bool *)a == *(const bool *)b;
    case SC_WORD: return *(const uint8_t *)a == *(const uint8_t *)b;
    case SC_RECORD: {
        const void *x = *(const void *const *)a;
        const void *y = *(const void *const *)b;

        if (x == NULL || y == NULL)
            return x == y;
        return records_equal(field->sub, x, y);
    }
    case SC_STRS: return text_lists_equal(a, b);
    case SC_RECORDS: return record_lists_equal(field->sub, a, b);
    case SC_OPT_U64:
    case SC_F64:
    case SC_OPT_F64:
    case SC_U64S:
    case SC_MAP:
    case SC_COUNTS:
    case SC_OPT_BOOL:
    case SC_ENTRIES:
    case SC_AXES:
    case SC_TAGGED:
    case SC_TAG:
    case SC_STREAM: break;
    }
    return true;
}

static bool records_equal(const sc_table *table, const void *a, const void *b)
{
    for (unsigned i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];

        if (!members_equal(field, (const char *)a + field->offset, (const char *)b + field->offset))
            return false;
    }
    return true;
}

/* --- a run --- */

static doc_conditions conditions_of(const rec_identity *identity)
{
    return (doc_conditions){
        .workload_id = identity->workload_id,
        .model_id = identity->model_id,
        .config_id = identity->config_id,
        .data_id = identity->data_id,
        .seed_policy = identity->seed_policy,
        .physical_batch = identity->physical_batch,
        .accumulation_steps = identity->accumulation_steps,
        .precision = identity->precision,
        .device_state = identity->device_state,
    };
}

static bool is_same_capture(const rec_run *a, const rec_run *b)
{
    return str_equal(a->entrypoint, b->entrypoint) && a->phase == b->phase &&
           str_equal(a->device, b->device) && a->timing_mode == b->timing_mode &&
           a->warmup_steps == b->warmup_steps && a->capture_step == b->capture_step &&
           a->is_device_synchronized == b->is_device_synchronized &&
           records_equal(&table_contract, a->contract, b->contract);
}

/* Hold a run against the first one. */
static cg_code relate(comparison *self, const rec_run *run, cg_err *reterr)
{
    if (!self->has_first) {
        self->first = *run;
        CG_TRY(sc_keep(&table_run, &self->first, &self->arena, reterr));
        self->has_first = true;
        self->device = self->first.device;
    } else if (!is_same_capture(&self->first, run)) {
        self->is_semantics_mixed = true;
    }
    if (run->identity == NULL || self->first.identity == NULL) {
        self->is_identity_missing = true;
    } else {
        doc_conditions of_first = conditions_of(self->first.identity);
        doc_conditions of_this = conditions_of(run->identity);

        if (!records_equal(&table_conditions, &of_first, &of_this))
            self->are_conditions_mixed = true;
    }
    return CG_OK;
}

static cg_code keep_run(comparison *self, unsigned cohort, const source *from, cg_err *reterr)
{
    const rec_run *run = &from->trace->run;
    const rec_identity *identity = run->identity;
    cohort_run *kept = vec_add(&self->heap, &self->runs[cohort]);

    if (kept == NULL)
        return err_nomem(reterr);
    *kept = (cohort_run){.sample_ns = from->sample_ns.value, .has_sample = from->sample_ns.is_set};
    if (!arena_text(&self->arena, run->run_id, &kept->run_id) ||
        !arena_text(&self->arena, source_manifest(from), &kept->manifest))
        return err_nomem(reterr);
    if (identity != NULL &&
        (!arena_text(&self->arena, identity->implementation_id, &kept->implementation_id) ||
         !arena_text(&self->arena, identity->pair_id, &kept->pair_id)))
        return err_nomem(reterr);
    return relate(self, run, reterr);
}

cg_code comparison_take(comparison *self, unsigned cohort, const source *from, cg_err *reterr)
{
    const rec_run *run = &from->trace->run;
    const rec_contract *contract = run->contract;

    if (self->notes.count == 0 && !self->is_verified)
        CG_TRY(add_common(self, REASON_UNVERIFIED, COHORT_COUNT, reterr));
    CG_TRY(keep_run(self, cohort, from, reterr));
    if (!from->health.is_valid || !from->health.is_complete)
        CG_TRY(add_own(self, REASON_INCOMPLETE, cohort, reterr));
    if (contract->measurement_scope != SCOPE_PRODUCTION_EQUIVALENT)
        CG_TRY(add_own(self, REASON_NOT_PRODUCTION, cohort, reterr));
    if (!str_starts_with(run->device, CG_LIT("cpu")) && !run->is_device_synchronized)
        CG_TRY(add_own(self, REASON_UNSYNCHRONIZED, cohort, reterr));
    if (!source_has_one_sample(from))
        CG_TRY(add_own(self, REASON_REGION_COUNT, cohort, reterr));
    return mechanism_add(&self->mechanism, cohort, from->trace) ? CG_OK : err_nomem(reterr);
}

cg_code comparison_take_evidence(comparison *self, unsigned cohort, const evidence *from,
                                 cg_str digits, cg_err *reterr)
{
    const source run = {
        .trace = from->trace,
        .health = from->health,
        .is_judged = true,
        .sample_ns = source_sample_of(from->trace),
    };

    CG_TRY(comparison_take(self, cohort, &run, reterr));
    if (!arena_text(&self->arena, digits,
                    &self->runs[cohort].at[self->runs[cohort].count - 1].manifest))
        return err_nomem(reterr);
    return CG_OK;
}

cg_code comparison_add(comparison *self, unsigned cohort, cg_str path, cg_err *reterr)
{
    source from;
    cg_code code;

    if (self->is_verified)
        CG_TRY(source_open_bundle(self->env, path, &from, reterr));
    else
        CG_TRY(source_open_trace(self->env, path, &from, reterr));
    code = comparison_take(self, cohort, &from, reterr);
    if (code != CG_OK)
        err_in_file(reterr, path);
    source_close(&from);
    return code;
}

/* --- rules over all runs --- */

static bool is_blank_if_there(cg_str text)
{
    return text.ptr != NULL && str_is_blank(text);
}

static bool is_domain_valid(const rec_identity *identity)
{
    const cg_str needed[] = {identity->workload_id, identity->model_id,    identity->config_id,
                             identity->data_id,     identity->seed_policy, identity->precision,
                             identity->device_state};

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (str_is_blank(needed[i]))
            return false;
    }
    return identity->physical_batch > 0 && identity->accumulation_steps > 0 &&
           !is_blank_if_there(identity->implementation_id) && !is_blank_if_there(identity->pair_id);
}

static cg_code judge_identity(comparison *self, cg_err *reterr)
{
    const rec_identity *identity = self->first.identity;

    if (self->is_identity_missing || identity == NULL)
        return add_common(self, REASON_NO_IDENTITY, COHORT_COUNT, reterr);
    if (!is_domain_valid(identity))
        return add_common(self, REASON_BAD_IDENTITY, COHORT_COUNT, reterr);
    if (self->are_conditions_mixed)
        return add_common(self, REASON_CONDITIONS, COHORT_COUNT, reterr);
    self->conditions = conditions_of(identity);
    self->document.identity = &self->conditions;
    return CG_OK;
}

static cg_code judge_implementation(comparison *self, unsigned cohort, cg_str *ret, cg_err *reterr)
{
    const cohort_run *runs = self->runs[cohort].at;
    size_t count = self->runs[cohort].count;
    bool has_blank = false;
    bool is_mixed = false;

    for (size_t i = 0; i < count; i++) {
        if (runs[i].implementation_id.ptr == NULL)
            return add_common(self, REASON_NO_IMPLEMENTATION, cohort, reterr);
        has_blank = has_blank || str_is_blank(runs[i].implementation_id);
        is_mixed = is_mixed || !str_equal(runs[i].implementation_id, runs[0].implementation_id);
    }
    if (count == 0)
        return add_common(self, REASON_NO_IMPLEMENTATION, cohort, reterr);
    if (has_blank)
        return add_common(self, REASON_EMPTY_IMPLEMENTATION, cohort, reterr);
    if (is_mixed)
        return add_common(self, REASON_MIXED_IMPLEMENTATION, cohort, reterr);
    *ret = runs[0].implementation_id;
    return CG_OK;
}

static bool has_duplicate_runs(comparison *self, intern *seen)
{
    for (unsigned cohort = 0; cohort < COHORT_COUNT; cohort++) {
        for (size_t i = 0; i < self->runs[cohort].count; i++) {
            size_t before = intern_count(seen);

            if (intern_add(seen, self->runs[cohort].at[i].run_id) != 0 &&
                intern_count(seen) == before)
                return true;
        }
    }
    return false;
}

static cg_code judge_run_ids(comparison *self, cg_err *reterr)
{
    intern seen;
    bool is_twice;

    if (!intern_init(&seen, &self->heap, os_random(self->env)))
        return err_nomem(reterr);
    is_twice = has_duplicate_runs(self, &seen);
    intern_free(&seen);
    return is_twice ? add_common(self, REASON_DUPLICATE_RUNS, COHORT_COUNT, reterr) : CG_OK;
}

/* --- pairs --- */

static bool is_pair_before(const void *context, uint32_t a, uint32_t b)
{
    const cohort_run *runs = context;

    return str_compare(runs[a].pair_id, runs[b].pair_id) < 0;
}

/* The places of a cohort's runs by pair id; *ret_reason is what stands against pairing it. */
static cg_code order_pairs(comparison *self, unsigned cohort, uint32_t *order,
                           enum reason *ret_reason, cg_err *reterr)
{
    const cohort_run *runs = self->runs[cohort].at;
    size_t whole = 0;
    uint32_t *room;

    /* Rules are met in the order of the runs: an incomplete one ends the search for duplicates. */
    while (whole < self->runs[cohort].count && runs[whole].pair_id.ptr != NULL &&
           runs[whole].has_sample) {
        order[whole] = (uint32_t)whole;
        whole++;
    }
    room = column_take(&self->heap, whole, sizeof *room);
    if (room == NULL)
        return err_nomem(reterr);
    sort_with(order, room, whole, is_pair_before, runs);
    column_free(&self->heap, room, whole, sizeof *room);
    *ret_reason = whole < self->runs[cohort].count ? REASON_HALF_PAIRED : REASON_COUNT;
    for (size_t i = 1; i < whole; i++) {
        if (str_equal(runs[order[i - 1]].pair_id, runs[order[i]].pair_id))
            *ret_reason = REASON_PAIR_TWICE;
    }
    return CG_OK;
}

static bool are_same_pairs(const comparison *self, uint32_t *const order[COHORT_COUNT])
{
    size_t count = self->runs[COHORT_BASELINE].count;

    if (count != self->runs[COHORT_CANDIDATE].count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!str_equal(self->runs[COHORT_BASELINE].at[order[COHORT_BASELINE][i]].pair_id,
                       self->runs[COHORT_CANDIDATE].at[order[COHORT_CANDIDATE][i]].pair_id))
            return false;
    }
    return true;
}

static cg_code make_pairs(comparison *self, uint32_t *const order[COHORT_COUNT], cg_err *reterr)
{
    size_t count = self->runs[COHORT_BASELINE].count;

    self->pairs = arena_take(&self->arena, (count + 1) * sizeof *self->pairs);
    if (self->pairs == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        self->pairs[i] =
            delta_between(self->runs[COHORT_BASELINE].at[order[COHORT_BASELINE][i]].sample_ns,
                          self->runs[COHORT_CANDIDATE].at[order[COHORT_CANDIDATE][i]].sample_ns);
    self->pair_count = count;
    self->document.is_paired = true;
    return CG_OK;
}

static bool wants_pairs(const comparison *self)
{
    for (unsigned cohort = 0; cohort < COHORT_COUNT; cohort++) {
        for (size_t i = 0; i < self->runs[cohort].count; i++) {
            if (self->runs[cohort].at[i].pair_id.ptr != NULL)
                return true;
        }
    }
    return false;
}

static cg_code pair_up(comparison *self, cg_err *reterr)
{
    uint32_t *order[COHORT_COUNT];
    enum reason reason;

    if (!wants_pairs(self))
        return CG_OK;
    for (unsigned cohort = 0; cohort < COHORT_COUNT; cohort++) {
        order[cohort] =
            arena_take(&self->arena, (self->runs[cohort].count + 1) * sizeof *order[cohort]);
        if (order[cohort] == NULL)
            return err_nomem(reterr);
        CG_TRY(order_pairs(self, cohort, order[cohort], &reason, reterr));
        if (reason != REASON_COUNT)
            return add_common(self, reason, cohort, reterr);
    }
    if (!are_same_pairs(self, order))
        return add_common(self, REASON_PAIR_SETS, COHORT_COUNT, reterr);
    return make_pairs(self, order, reterr);
}

static cg_code judge(comparison *self, cg_err *reterr)
{
    size_t baseline = self->runs[COHORT_BASELINE].count;
    size_t candidate = self->runs[COHORT_CANDIDATE].count;

    if (baseline < COMPARISON_FEWEST_RUNS || candidate < COMPARISON_FEWEST_RUNS)
        CG_TRY(add_common(self, REASON_FEW_RUNS, COHORT_COUNT, reterr));
    CG_TRY(judge_run_ids(self, reterr));
    if (baseline + candidate == 0)
        CG_TRY(add_common(self, REASON_NO_RUNS, COHORT_COUNT, reterr));
    if (self->is_semantics_mixed)
        CG_TRY(add_common(self, REASON_SEMANTICS, COHORT_COUNT, reterr));
    CG_TRY(judge_identity(self, reterr));
    CG_TRY(judge_implementation(self, COHORT_BASELINE, &self->document.baseline_implementation_id,
                                reterr));
    CG_TRY(judge_implementation(self, COHORT_CANDIDATE, &self->document.candidate_implementation_id,
                                reterr));
    return pair_up(self, reterr);
}

/* --- figures --- */

static cg_code describe(comparison *self, unsigned cohort, cg_err *reterr)
{
    size_t count = self->runs[cohort].count;
    sample_statistics *of = &self->statistics[cohort];
    uint64_t *samples = arena_take(&self->arena, (count + 1) * sizeof *samples);

    if (samples == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        samples[i] = self->runs[cohort].at[i].sample_ns;
    if (!sample_describe(&self->heap, samples, count, of) ||
        !sample_find_drift(&self->heap, samples, count, &self->drift[cohort]))
        return err_nomem(reterr);
    self->samples[cohort] = samples;
    self->cohorts[cohort] = (doc_cohort_statistics){
        .samples_ns = {samples, count},
        .median_ns = of->median_ns,
        .p95_ns = of->p95_ns,
        .mad_ns = of->mad_ns,
    };
    return CG_OK;
}

static cg_code find_unpaired_delta(comparison *self, cg_err *reterr)
{
    uint64_t middle[COHORT_COUNT][2];

    for (unsigned cohort = 0; cohort < COHORT_COUNT; cohort++) {
        size_t count = self->runs[cohort].count;
        uint64_t *sorted = column_take(&self->heap, count, sizeof *sorted);
        bool is_done = sorted != NULL;

        if (is_done) {
            memcpy(sorted, self->samples[cohort], count * sizeof *sorted);
            is_done = sample_sort(&self->heap, sorted, count);
            sample_middle(sorted, count, middle[cohort]);
        }
        column_free(&self->heap, sorted, count, sizeof *sorted);
        if (!is_done)
            return err_nomem(reterr);
    }
    self->document.median_delta_ns =
        median_difference(middle[COHORT_BASELINE], middle[COHORT_CANDIDATE]);
    return CG_OK;
}

static cg_code find_paired_delta(comparison *self, cg_err *reterr)
{
    size_t count = self->pair_count;
    delta *sorted = column_take(&self->heap, count, sizeof *sorted);
    bool is_done = sorted != NULL;

    if (is_done) {
        memcpy(sorted, self->pairs, count * sizeof *sorted);
        is_done = delta_sort(&self->heap, sorted, count);
        self->document.median_delta_ns = delta_median(sorted, count);
    }
    column_free(&self->heap, sorted, count, sizeof *sorted);
    return is_done ? CG_OK : err_nomem(reterr);
}

static cg_code find_interval(comparison *self, cg_err *reterr)
{
    bootstrap_interval found;

    if (self->document.is_paired)
        CG_TRY(bootstrap_paired(self->env, &self->heap, self->pairs, self->pair_count, &found,
                                reterr));
    else
        CG_TRY(bootstrap_unpaired(
            self->env, &self->heap,
            (sample_list){self->samples[COHORT_BASELINE], self->runs[COHORT_BASELINE].count},
            (sample_list){self->samples[COHORT_CANDIDATE], self->runs[COHORT_CANDIDATE].count},
            &found, reterr));
    self->interval = (doc_interval){BOOTSTRAP_LEVEL, found.lower_ns, found.upper_ns};
    self->document.interval = &self->interval;
    return CG_OK;
}

static uint8_t verdict_beyond(const doc_interval *interval, double threshold)
{
    if (interval->upper_delta_ns < -threshold)
        return VERDICT_FASTER;
    return interval->lower_delta_ns > threshold ? VERDICT_SLOWER : VERDICT_INCONCLUSIVE;
}

static void decide(comparison *self, opt_f64 min_effect)
{
    doc_comparison *to = &self->document;
    double threshold = min_effect.value * self->statistics[COHORT_BASELINE].median_ns / 100;

    to->verdict = to->is_comparable ? verdict_beyond(&self->interval, 0) : VERDICT_INELIGIBLE;
    if (!min_effect.is_set)
        return;
    self->min_effect = (doc_min_effect){
        .percent = min_effect.value,
        .threshold_ns = threshold,
        .plain_verdict = to->verdict,
    };
    to->min_effect = &self->min_effect;
    if (!to->is_comparable)
        return;
    self->min_effect.is_within =
        self->interval.lower_delta_ns >= -threshold && self->interval.upper_delta_ns <= threshold;
    to->verdict = verdict_beyond(&self->interval, threshold);
}

static cg_code list_inputs(comparison *self, cg_err *reterr)
{
    sc_records *const lists[COHORT_COUNT] = {&self->inputs.baseline, &self->inputs.candidate};

    self->inputs.verification = self->is_verified ? VERIFICATION_BUNDLES : VERIFICATION_TRACES;
    self->document.inputs = &self->inputs;
    for (unsigned cohort = 0; self->is_verified && cohort < COHORT_COUNT; cohort++) {
        size_t count = self->runs[cohort].count;
        doc_compared_run *rows = arena_take(&self->arena, (count + 1) * sizeof *rows);

        if (rows == NULL)
            return err_nomem(reterr);
        for (size_t i = 0; i < count; i++)
            rows[i] = (doc_compared_run){.run_id = self->runs[cohort].at[i].run_id,
                                         .manifest_sha256 = self->runs[cohort].at[i].manifest};
        *lists[cohort] = (sc_records){rows, count};
    }
    return CG_OK;
}

cg_code comparison_finish(comparison *self, opt_f64 min_effect_percent, cg_err *reterr)
{
    doc_comparison *to = &self->document;

    CG_TRY(judge(self, reterr));
    CG_TRY(list_inputs(self, reterr));
    CG_TRY(describe(self, COHORT_BASELINE, reterr));
    CG_TRY(describe(self, COHORT_CANDIDATE, reterr));
    CG_TRY(to->is_paired ? find_paired_delta(self, reterr) : find_unpaired_delta(self, reterr));
    to->schema = schema_id_text(SCHEMA_COMPARISON);
    to->metric = CG_LIT(COMPARED_METRIC);
    to->is_comparable = self->reasons.count == 0;
    to->reasons = (sc_records){self->reasons.at, self->reasons.count};
    to->baseline = &self->cohorts[COHORT_BASELINE];
    to->candidate = &self->cohorts[COHORT_CANDIDATE];
    if (self->statistics[COHORT_BASELINE].median_ns != 0)
        to->median_delta_percent = (opt_f64){
            to->median_delta_ns / self->statistics[COHORT_BASELINE].median_ns * 100.0, true};
    if (to->is_comparable)
        CG_TRY(find_interval(self, reterr));
    decide(self, min_effect_percent);
    if (!mechanism_finish(&self->mechanism, &self->arena, &self->tensor_stats))
        return err_nomem(reterr);
    to->mechanism = &self->tensor_stats;
    return CG_OK;
}
