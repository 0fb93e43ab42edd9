#include "compare/calibration.h"

#include <math.h>

#include "exec/columns.h"

#define SPLIT_SEED UINT64_C(0x9e3779b97f4a7c15)

/* The baseline split in two; `first` and `second` share one block of `count` samples. */
typedef struct halves {
    uint64_t *at;
    size_t count;
    size_t first_count;
} halves;

static double difference(heap *room, const halves *of, uint64_t *sorted, bool *ret_is_done)
{
    size_t second_count = of->count - of->first_count;
    uint64_t first[2];
    uint64_t second[2];

    memcpy(sorted, of->at, of->count * sizeof *sorted);
    *ret_is_done = sample_sort(room, sorted, of->first_count) &&
                   sample_sort(room, sorted + of->first_count, second_count);
    sample_middle(sorted, of->first_count, first);
    sample_middle(sorted + of->first_count, second_count, second);
    return median_difference(first, second);
}

/* A random half in front: the first places of a shuffle. */
static void shuffle(halves *of, uint64_t *state)
{
    for (size_t i = 0; i < of->first_count; i++) {
        size_t other = i + (size_t)(bootstrap_next(state) % (of->count - i));
        uint64_t swap = of->at[i];

        of->at[i] = of->at[other];
        of->at[other] = swap;
    }
}

static bool find_noise_floor(heap *room, halves *of, uint64_t *sorted, double *ret)
{
    double *sizes = column_take(room, CALIBRATION_SPLITS, sizeof *sizes);
    uint64_t state = SPLIT_SEED;
    bool is_done = sizes != NULL;

    for (size_t i = 0; is_done && i < CALIBRATION_SPLITS; i++) {
        shuffle(of, &state);
        sizes[i] = fabs(difference(room, of, sorted, &is_done));
    }
    is_done = is_done && double_sort(room, sizes, CALIBRATION_SPLITS);
    if (is_done)
        *ret = sizes[CALIBRATION_SPLITS * 95 / 100 - 1];
    column_free(room, sizes, CALIBRATION_SPLITS, sizeof *sizes);
    return is_done;
}

static opt_f64 percent_of(const comparison *self, double ns)
{
    double median = self->statistics[COHORT_BASELINE].median_ns;

    return (opt_f64){median != 0 ? ns / median * 100.0 : 0, median != 0};
}

/* Every other run in front, in the order they were given. */
static void split_by_turns(const uint64_t *samples, halves *of)
{
    size_t first = 0;
    size_t second = of->first_count;

    for (size_t i = 0; i < of->count; i++)
        of->at[i % 2 == 0 ? first++ : second++] = samples[i];
}

static cg_code compare_halves(comparison *self, halves *of, uint64_t *sorted, cg_err *reterr)
{
    doc_calibration *to = &self->calibration;
    size_t second_count = of->count - of->first_count;
    bootstrap_interval found;
    bool is_done;

    to->first_runs = of->first_count;
    to->second_runs = second_count;
    to->splits = CALIBRATION_SPLITS;
    to->median_delta_ns = difference(&self->heap, of, sorted, &is_done);
    if (!is_done)
        return err_nomem(reterr);
    to->median_delta_percent = percent_of(self, to->median_delta_ns);
    CG_TRY(bootstrap_unpaired(self->env, &self->heap, (sample_list){of->at, of->first_count},
                              (sample_list){of->at + of->first_count, second_count}, &found,
                              reterr));
    self->calibration_interval = (doc_interval){BOOTSTRAP_LEVEL, found.lower_ns, found.upper_ns};
    to->interval = &self->calibration_interval;
    to->differs = found.upper_ns < 0 || found.lower_ns > 0;
    if (!find_noise_floor(&self->heap, of, sorted, &to->noise_floor_ns))
        return err_nomem(reterr);
    to->noise_floor_percent = percent_of(self, to->noise_floor_ns);
    to->is_above_noise = fabs(self->document.median_delta_ns) > to->noise_floor_ns;
    return CG_OK;
}

static void add_spreads(comparison *self)
{
    for (unsigned cohort = 0; cohort < COHORT_COUNT; cohort++) {
        const sample_statistics *of = &self->statistics[cohort];

        self->spreads[cohort] = (doc_cohort_spread){
            .mean_ns = of->mean_ns,
            .median_ns = of->median_ns,
            .mad_ns = of->mad_ns,
            .minimum_ns = of->minimum_ns,
            .maximum_ns = of->maximum_ns,
            .drift_percent = self->drift[cohort].percent,
            .has_drift = self->drift[cohort].is_significant,
        };
    }
    self->calibration.baseline = &self->spreads[COHORT_BASELINE];
    self->calibration.candidate = &self->spreads[COHORT_CANDIDATE];
}

cg_code calibration_add(comparison *self, cg_err *reterr)
{
    size_t count = self->runs[COHORT_BASELINE].count;
    halves of = {.count = count, .first_count = count - count / 2};
    uint64_t *sorted = column_take(&self->heap, count, sizeof *sorted);
    cg_code code = CG_OK;

    of.at = column_take(&self->heap, count, sizeof *of.at);
    add_spreads(self);
    self->document.calibration = &self->calibration;
    if (of.at == NULL || sorted == NULL) {
        code = err_nomem(reterr);
    } else if (count >= 2) {
        split_by_turns(self->samples[COHORT_BASELINE], &of);
        code = compare_halves(self, &of, sorted, reterr);
    } else {
        self->calibration.first_runs = count;
    }
    column_free(&self->heap, of.at, count, sizeof *of.at);
    column_free(&self->heap, sorted, count, sizeof *sorted);
    return code;
}
