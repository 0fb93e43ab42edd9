#include "compare/mechanism.h"

#include <math.h>

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"

#define SCALE 5.421010862427522e-20 /* 2^-64 */

bool mechanism_init(mechanism *self, const cg_env *env, heap *from)
{
    *self = (mechanism){.heap = from};
    return intern_init(&self->labels, from, os_random(env));
}

void mechanism_free(mechanism *self)
{
    for (unsigned i = 0; i < COHORT_COUNT; i++)
        vec_free(self->heap, &self->sums[i]);
    intern_free(&self->labels);
}

/* The sums of a label, made when it is new. */
static label_sums *sums_of(mechanism *self, unsigned cohort, sym label)
{
    while (self->sums[cohort].count <= label) {
        label_sums *fresh = vec_add(self->heap, &self->sums[cohort]);

        if (fresh == NULL)
            return NULL;
        *fresh = (label_sums){0};
    }
    return &self->sums[cohort].at[label];
}

bool mechanism_add(mechanism *self, unsigned cohort, const trace_doc *trace)
{
    uint64_t run = ++self->runs[cohort];

    for (size_t i = 0; i < trace->stats.count; i++) {
        const trace_stats *event = &trace->stats.at[i];
        sym label = intern_add(&self->labels, trace_text(trace, event->label));
        label_sums *sums = label != 0 ? sums_of(self, cohort, label) : NULL;

        if (sums == NULL)
            return false;
        sums->rms += event->rms;
        sums->abs_max += event->abs_max;
        sums->rms_scaled += event->rms * SCALE;
        sums->abs_max_scaled += event->abs_max * SCALE;
        sums->non_finite = num_sat_add(sums->non_finite, event->non_finite);
        sums->samples++;
        if (sums->last_run != run) {
            sums->last_run = run;
            sums->runs++;
        }
    }
    return true;
}

/* b / a; unset where it is not a number one could write. */
static opt_f64 ratio_of(double a, double b)
{
    double ratio = a == 0 ? 1 : b / a;

    return (opt_f64){ratio, a == 0 ? b == 0 : isfinite(ratio) != 0};
}

/* The mean as the reference has it, or, where its sum overflowed, without overflow. */
static double mean_of(double sum, double scaled, uint64_t samples)
{
    return isfinite(sum) ? sum / (double)samples : scaled / (double)samples / SCALE;
}

static double distance_of(const doc_mechanism_row *row)
{
    return row->rms_ratio.is_set && row->rms_ratio.value > 0 ? fabs(log(row->rms_ratio.value))
                                                             : (double)INFINITY;
}

static doc_mechanism_row row_of(cg_str label, const label_sums *a, const label_sums *b)
{
    double samples_a = (double)a->samples;
    double samples_b = (double)b->samples;

    return (doc_mechanism_row){
        .label = label,
        .rms_a = mean_of(a->rms, a->rms_scaled, a->samples),
        .rms_b = mean_of(b->rms, b->rms_scaled, b->samples),
        .rms_ratio = ratio_of(a->rms / samples_a, b->rms / samples_b),
        .abs_max_ratio = ratio_of(a->abs_max / samples_a, b->abs_max / samples_b),
        .non_finite_a = a->non_finite,
        .non_finite_b = b->non_finite,
        .samples_a = a->samples,
        .samples_b = b->samples,
        .runs_a = a->runs,
        .runs_b = b->runs,
    };
}

/* Largest distance first; equal ones keep their order, which is that of the labels. */
static bool order_rows(heap *from, doc_mechanism_row *rows, size_t count)
{
    uint64_t *keys = column_take(from, count, sizeof *keys);
    uint32_t *order = column_take(from, count, sizeof *order);
    doc_mechanism_row *copy = column_take(from, count, sizeof *copy);
    bool is_done = keys != NULL && order != NULL && copy != NULL;

    for (size_t i = 0; is_done && i < count; i++) {
        double distance = distance_of(&rows[i]);

        /* Not negative, so its bits ascend with it. */
        memcpy(&keys[i], &distance, sizeof keys[i]);
        keys[i] = ~keys[i];
        order[i] = (uint32_t)i;
    }
    is_done = is_done && column_sort(from, order, count, keys);
    if (is_done && count > 0) {
        memcpy(copy, rows, count * sizeof *copy);
        for (size_t i = 0; i < count; i++)
            rows[i] = copy[order[i]];
    }
    column_free(from, keys, count, sizeof *keys);
    column_free(from, order, count, sizeof *order);
    column_free(from, copy, count, sizeof *copy);
    return is_done;
}

static const label_sums *find_sums(const mechanism *self, unsigned cohort, sym label)
{
    if (label >= self->sums[cohort].count || self->sums[cohort].at[label].samples == 0)
        return NULL;
    return &self->sums[cohort].at[label];
}

typedef struct lists {
    doc_mechanism_row *rows;
    cg_str *only[COHORT_COUNT];
    size_t row_count;
    size_t only_count[COHORT_COUNT];
} lists;

static void fill(const mechanism *self, const uint32_t *order, size_t count, lists *into)
{
    for (size_t i = 0; i < count; i++) {
        const label_sums *a = find_sums(self, COHORT_BASELINE, order[i]);
        const label_sums *b = find_sums(self, COHORT_CANDIDATE, order[i]);
        cg_str label = intern_text_of(&self->labels, order[i]);

        if (a != NULL && b != NULL)
            into->rows[into->row_count++] = row_of(label, a, b);
        else if (a != NULL)
            into->only[COHORT_BASELINE][into->only_count[COHORT_BASELINE]++] = label;
        else
            into->only[COHORT_CANDIDATE][into->only_count[COHORT_CANDIDATE]++] = label;
    }
}

static bool order_labels(heap *from, const intern *labels, uint32_t *order, size_t count)
{
    uint32_t *room = column_take(from, count, sizeof *room);
    uint64_t *keys = column_take(from, count, sizeof *keys);
    bool is_done = room != NULL && keys != NULL;

    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)(i + 1);
    if (is_done)
        sort_symbols(order, room, keys, count, labels);
    column_free(from, room, count, sizeof *room);
    column_free(from, keys, count, sizeof *keys);
    return is_done;
}

bool mechanism_finish(mechanism *self, arena *mem, doc_mechanism *ret)
{
    size_t count = intern_count(&self->labels) - 1;
    uint32_t *order = column_take(self->heap, count, sizeof *order);
    lists to = {0};
    size_t size = 0;
    bool is_done = order != NULL && num_mul(count + 1, sizeof *to.rows, &size);

    if (is_done) {
        to.rows = arena_take(mem, size);
        to.only[0] = arena_take(mem, (count + 1) * sizeof *to.only[0]);
        to.only[1] = arena_take(mem, (count + 1) * sizeof *to.only[1]);
        is_done = to.rows != NULL && to.only[0] != NULL && to.only[1] != NULL &&
                  order_labels(self->heap, &self->labels, order, count);
    }
    if (is_done) {
        fill(self, order, count, &to);
        is_done = order_rows(self->heap, to.rows, to.row_count);
    }
    column_free(self->heap, order, count, sizeof *order);
    if (!is_done)
        return false;
    *ret = (doc_mechanism){
        .baseline_runs = self->runs[COHORT_BASELINE],
        .candidate_runs = self->runs[COHORT_CANDIDATE],
        .matched = {to.rows, to.row_count},
        .unmatched_a = {to.only[COHORT_BASELINE], to.only_count[COHORT_BASELINE]},
        .unmatched_b = {to.only[COHORT_CANDIDATE], to.only_count[COHORT_CANDIDATE]},
    };
    return true;
}
