#include "compare/text_compare.h"

#include <math.h>

#include "compare/calibration.h"
#include "compare/document.h"
#include "compare/text_plot.h"
#include "exec/columns.h"

#define NAME_CELLS 13 /* of what stands before a line of dots */

typedef struct telling {
    page page;
    heap heap;
    const comparison *from;
    const doc_comparison *document;
} telling;

static double percent_of_baseline(const telling *self, double ns)
{
    double median = self->from->statistics[COHORT_BASELINE].median_ns;

    return median != 0 ? ns / median * 100 : 0;
}

static bool has_percent(const telling *self)
{
    return self->document->median_delta_percent.is_set;
}

/* An effect: in percent where there is one, else in time. */
static void add_effect(telling *self, buf *out, double ns)
{
    if (has_percent(self))
        plot_signed_percent(out, percent_of_baseline(self, ns));
    else
        plot_signed_time(out, ns);
}

static void add_interval(telling *self, buf *out)
{
    buf_add(out, CG_LIT("95 % interval "));
    add_effect(self, out, self->from->interval.lower_delta_ns);
    buf_add(out, CG_LIT(" to "));
    add_effect(self, out, self->from->interval.upper_delta_ns);
}

/* --- the first lines --- */

static void conclude_difference(telling *self, bool is_faster)
{
    buf *say = &self->page.say;
    double change = self->document->median_delta_ns;

    buf_addf(say, "Candidate %s by ", is_faster ? "faster" : "slower");
    if (has_percent(self))
        plot_percent(say, fabs(percent_of_baseline(self, change)));
    else
        plot_time(say, fabs(change));
    buf_add(say, CG_LIT(": the "));
    add_interval(self, say);
    if (self->document->min_effect != NULL)
        buf_addf(say, " lies wholly beyond %g %%", self->from->min_effect.percent);
    else
        buf_add(say, CG_LIT(" excludes zero"));
    page_paragraph(&self->page, is_faster ? INK_GOOD : INK_BAD, 0, 2);
}

static void conclude_nothing_shown(telling *self)
{
    buf *say = &self->page.say;
    const doc_min_effect *least = self->document->min_effect;

    if (least != NULL && least->plain_verdict != VERDICT_INCONCLUSIVE && !least->is_within) {
        buf_addf(say, "Candidate %s, but not shown to be so by %g %%: the ",
                 least->plain_verdict == VERDICT_FASTER ? "faster" : "slower", least->percent);
        add_interval(self, say);
    } else if (least != NULL && least->is_within) {
        buf_addf(say, "No change of %g %% or more: the ", least->percent);
        add_interval(self, say);
        buf_add(say, CG_LIT(" lies within"));
    } else {
        buf_add(say, CG_LIT("No difference shown: the "));
        add_interval(self, say);
        buf_add(say, CG_LIT(" includes zero"));
    }
    buf_add(say, CG_LIT(" (measured: "));
    add_effect(self, say, self->document->median_delta_ns);
    buf_byte(say, ')');
    page_paragraph(&self->page, INK_WARN, 0, 2);
}

/* Reasons stand for runs, for cohorts, or for all of it. */
static void add_times(buf *out, unsigned reason, size_t count)
{
    if (reason >= REASON_INCOMPLETE && reason <= REASON_REGION_COUNT)
        buf_addf(out, " (%zu run%s)", count, count == 1 ? "" : "s");
    else if (count > 1)
        buf_add(out, CG_LIT(" (both cohorts)"));
}

static void conclude_ineligible(telling *self)
{
    buf *say = &self->page.say;
    size_t kinds = 0;
    unsigned first = REASON_COUNT;

    for (unsigned i = 0; i < REASON_COUNT; i++) {
        if (comparison_reason_count(self->from, i) == 0)
            continue;
        /* Unverified inputs stand in front of everything; whatever else there is weighs more. */
        if (first == REASON_COUNT || first == REASON_UNVERIFIED)
            first = i;
        kinds++;
    }
    buf_addf(say, "Nothing may be concluded: %s", reason_rows[first].meaning);
    add_times(say, first, comparison_reason_count(self->from, first));
    if (kinds > 1)
        buf_addf(say, "; %zu more reason%s below", kinds - 1, kinds > 2 ? "s" : "");
    page_paragraph(&self->page, INK_BAD, 0, 2);
}

static void second_line(telling *self)
{
    buf *say = &self->page.say;
    const comparison *from = self->from;

    buf_add(say, CG_LIT("median "));
    plot_time(say, from->statistics[COHORT_CANDIDATE].median_ns);
    buf_add(say, CG_LIT(" against "));
    plot_time(say, from->statistics[COHORT_BASELINE].median_ns);
    buf_addf(say, ", difference %s", self->document->is_paired ? "by pair " : "");
    plot_signed_time(say, self->document->median_delta_ns);
    buf_addf(say, "; %zu + %zu runs, %s; %s", comparison_runs(from, COHORT_BASELINE),
             comparison_runs(from, COHORT_CANDIDATE),
             self->document->is_paired ? "paired" : "not paired",
             from->is_verified ? "verified bundles" : "raw traces, not verified");
    page_paragraph(&self->page, INK_PLAIN, 2, 2);
}

/* Two cohorts of one build differ by what the machine did, whatever the interval says. */
static void one_build(telling *self)
{
    cg_str baseline = self->document->baseline_implementation_id;

    if (baseline.ptr == NULL || !str_equal(baseline, self->document->candidate_implementation_id))
        return;
    buf_add(&self->page.say, CG_LIT("both cohorts are of one implementation, "));
    esc_tty(&self->page.say, baseline);
    buf_add(&self->page.say, CG_LIT(": no change is compared, what differs are the runs"));
    page_paragraph(&self->page, INK_WARN, 2, 2);
}

static void conclusion(telling *self)
{
    switch (self->document->verdict) {
    case VERDICT_INELIGIBLE: conclude_ineligible(self); break;
    case VERDICT_INCONCLUSIVE: conclude_nothing_shown(self); break;
    case VERDICT_FASTER: conclude_difference(self, true); break;
    case VERDICT_SLOWER: conclude_difference(self, false); break;
    }
    second_line(self);
    one_build(self);
}

/* --- why nothing --- */

static void reasons(telling *self)
{
    buf *say = &self->page.say;

    if (self->document->is_comparable)
        return;
    page_title(&self->page, "Why", "(the figures below are for orientation only)");
    for (unsigned i = 0; i < REASON_COUNT; i++) {
        size_t count = comparison_reason_count(self->from, i);

        if (count == 0)
            continue;
        buf_add(say, reason_rows[i].code);
        add_times(say, i, count);
        buf_addf(say, ": %s; %s", reason_rows[i].meaning, reason_rows[i].help);
        page_paragraph(&self->page, INK_PLAIN, 2, 4);
    }
}

/* --- figures --- */

static void add_in(table *rows, double ns, unit in)
{
    buf_addf(table_cell_text(rows), "%.*f", in.decimals, ns / in.divisor);
    table_end_cell(rows);
}

static void cohort_row(telling *self, table *rows, unsigned cohort, unit in)
{
    const sample_statistics *of = &self->from->statistics[cohort];
    cg_str build = cohort == COHORT_BASELINE ? self->document->baseline_implementation_id
                                             : self->document->candidate_implementation_id;

    table_name(rows, "", words_cohort.at[cohort]);
    table_name(rows, "", build);
    table_number(rows, comparison_runs(self->from, cohort));
    add_in(rows, of->median_ns, in);
    add_in(rows, of->mad_ns, in);
    add_in(rows, of->mean_ns, in);
    add_in(rows, of->p95_ns, in);
    add_in(rows, (double)of->minimum_ns, in);
    add_in(rows, (double)of->maximum_ns, in);
    table_row(rows);
}

static void figures(telling *self)
{
    const sample_statistics *of = self->from->statistics;
    uint64_t largest = of[0].maximum_ns > of[1].maximum_ns ? of[0].maximum_ns : of[1].maximum_ns;
    unit in = unit_time(largest);
    table rows;

    page_title(&self->page, "Time of the measured region", "(host clock)");
    table_open(&rows, &self->page, 2);
    table_column(&rows, COLUMN_WORD, "cohort");
    table_column(&rows, COLUMN_NAME, "implementation");
    table_column(&rows, COLUMN_NUMBER, "runs");
    table_column(&rows, COLUMN_NUMBER, "median %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "MAD");
    table_column(&rows, COLUMN_NUMBER, "mean");
    table_column(&rows, COLUMN_NUMBER, "p95");
    table_column(&rows, COLUMN_NUMBER, "min");
    table_column(&rows, COLUMN_NUMBER, "max");
    cohort_row(self, &rows, COHORT_BASELINE, in);
    cohort_row(self, &rows, COHORT_CANDIDATE, in);
    table_close(&rows);
}

/* --- dots --- */

static double sample_value(const void *context, size_t index)
{
    return (double)((const uint64_t *)context)[index];
}

static double pair_value(const void *context, size_t index)
{
    return delta_value(((const delta *)context)[index]);
}

static void dot_line(telling *self, const char *name, const plot_axis *axis, plot_value *value,
                     const void *context, size_t count, double middle, uint32_t *counts)
{
    page_putf(&self->page, "  %-*s ", NAME_CELLS - 3, name);
    plot_dots(&self->page.out, axis, value, context, count, middle, counts);
    page_end(&self->page);
}

/* The two ends of the axis below its dots. */
static void axis_line(telling *self, const plot_axis *axis, bool is_signed)
{
    buf low;
    buf high;
    size_t cells;

    buf_init(&low, &self->heap, 256);
    buf_init(&high, &self->heap, 256);
    if (is_signed) {
        plot_signed_time(&low, axis->low);
        plot_signed_time(&high, axis->high);
    } else {
        number_time(&low, (uint64_t)axis->low);
        number_time(&high, (uint64_t)axis->high);
    }
    cells = safe_cells(buf_text(&low), SIZE_MAX) + safe_cells(buf_text(&high), SIZE_MAX);
    page_ink(&self->page, INK_DIM);
    page_putf(&self->page, "  %-*s ", NAME_CELLS - 3, "");
    buf_add(&self->page.out, buf_text(&low));
    buf_fill(&self->page.out, ' ', axis->cells > cells ? axis->cells - cells : 1);
    buf_add(&self->page.out, buf_text(&high));
    page_ink(&self->page, INK_PLAIN);
    page_end(&self->page);
    page_check(&self->page, &low);
    page_check(&self->page, &high);
    buf_free(&low);
    buf_free(&high);
}

static void legend(telling *self, const char *text)
{
    page_end(&self->page);
    page_ink(&self->page, INK_DIM);
    page_putf(&self->page, "  %-*s %s", NAME_CELLS - 3, "", text);
    page_ink(&self->page, INK_PLAIN);
    page_end(&self->page);
}

static void cohort_dots(telling *self, uint32_t *counts, unsigned cells)
{
    const comparison *from = self->from;
    plot_axis axis = {.low = 1, .high = 0, .cells = cells};

    for (unsigned cohort = 0; cohort < COHORT_COUNT; cohort++) {
        plot_stretch(&axis, (double)from->statistics[cohort].minimum_ns);
        plot_stretch(&axis, (double)from->statistics[cohort].maximum_ns);
    }
    legend(self, "every run: • one, a digit several, | the median");
    for (unsigned cohort = 0; cohort < COHORT_COUNT; cohort++)
        dot_line(self, words_cohort.at[cohort].ptr, &axis, sample_value, from->samples[cohort],
                 comparison_runs(from, cohort), from->statistics[cohort].median_ns, counts);
    axis_line(self, &axis, false);
}

static void pair_dots(telling *self, uint32_t *counts, unsigned cells)
{
    const comparison *from = self->from;
    plot_axis axis = {.low = 0, .high = 0, .cells = cells};

    for (size_t i = 0; i < from->pair_count; i++)
        plot_stretch(&axis, delta_value(from->pairs[i]));
    legend(self, "every pair: candidate - baseline, | no change");
    dot_line(self, "by pair", &axis, pair_value, from->pairs, from->pair_count, 0, counts);
    axis_line(self, &axis, true);
}

static void dots(telling *self)
{
    unsigned cells = self->page.style->width - NAME_CELLS;
    uint32_t *counts;

    if (cells > 160)
        cells = 160;
    counts = column_take(&self->heap, cells, sizeof *counts);
    if (counts == NULL) {
        self->page.code = CG_NOMEM;
        return;
    }
    cohort_dots(self, counts, cells);
    if (self->document->is_paired)
        pair_dots(self, counts, cells);
    column_free(&self->heap, counts, cells, sizeof *counts);
}

/* --- drift --- */

static void drift_of(telling *self, unsigned cohort)
{
    const sample_drift *of = &self->from->drift[cohort];

    if (!of->is_significant || !of->percent.is_set)
        return;
    buf_addf(&self->page.say, "%s%s ", self->page.say.len > 0 ? ", " : "",
             words_cohort.at[cohort].ptr);
    plot_signed_percent(&self->page.say, of->percent.value);
}

static void drift(telling *self)
{
    buf *say = &self->page.say;

    if (!self->from->drift[0].percent.is_set && !self->from->drift[1].percent.is_set)
        return;
    page_lead(&self->page, "Drift between runs:");
    drift_of(self, COHORT_BASELINE);
    drift_of(self, COHORT_CANDIDATE);
    if (say->len == 0) {
        buf_add(say, CG_LIT("none shown (in the order the runs were given)"));
        page_paragraph(&self->page, INK_PLAIN, 0, 2);
        return;
    }
    buf_add(say, CG_LIT(" from the first run to the last, in the order given; "));
    if (self->document->is_paired)
        buf_add(say, CG_LIT("pairs measured side by side cancel it"));
    else
        buf_add(say, CG_LIT("it may be what differs here: measure in turns, `candle-graph compare "
                            "plan` orders the runs"));
    page_paragraph(&self->page, INK_WARN, 0, 2);
}

/* A first run far above the others is a cold start more often than a slow build. */
static void cold_start(telling *self, unsigned cohort)
{
    const sample_statistics *of = &self->from->statistics[cohort];
    double first = comparison_runs(self->from, cohort) >= COMPARISON_FEWEST_RUNS
                       ? (double)self->from->samples[cohort][0]
                       : 0;

    if (of->median_ns == 0 || first < of->median_ns * 1.25 ||
        first < of->median_ns + 10 * of->mad_ns || first < (double)of->maximum_ns)
        return;
    buf_addf(&self->page.say, "the first %s run took %.2f times the median: a cold start?",
             words_cohort.at[cohort].ptr, first / of->median_ns);
    page_paragraph(&self->page, INK_WARN, 2, 4);
}

/* --- calibration --- */

static void add_optional_percent(buf *out, opt_f64 percent)
{
    if (!percent.is_set)
        return;
    buf_add(out, CG_LIT(" ("));
    plot_signed_percent(out, percent.value);
    buf_byte(out, ')');
}

static void calibration(telling *self)
{
    const doc_calibration *of = &self->from->calibration;
    buf *say = &self->page.say;

    if (self->document->calibration == NULL)
        return;
    page_lead(&self->page, "Baseline against itself:");
    if (of->interval == NULL) {
        buf_add(say, CG_LIT("not possible with fewer than two runs"));
        page_paragraph(&self->page, INK_WARN, 0, 2);
        return;
    }
    plot_signed_time(say, of->median_delta_ns);
    add_optional_percent(say, of->median_delta_percent);
    buf_addf(say, " between every other run, %llu + %llu runs", (unsigned long long)of->first_runs,
             (unsigned long long)of->second_runs);
    buf_add(say, of->differs ? CG_LIT(", which the interval calls a difference: these runs do not "
                                      "support a verdict")
                             : CG_LIT(", no difference shown, as it should be"));
    page_paragraph(&self->page, of->differs ? INK_BAD : INK_PLAIN, 0, 2);
    buf_add(say, CG_LIT("noise floor "));
    number_time(say, (uint64_t)of->noise_floor_ns);
    if (of->noise_floor_percent.is_set)
        buf_addf(say, " (%.2f %%)", of->noise_floor_percent.value);
    buf_addf(say,
             ": 95 of 100 random halves of the baseline differ by less; the measured "
             "difference is %s it",
             of->is_above_noise ? "above" : "not above");
    page_paragraph(&self->page, of->is_above_noise ? INK_PLAIN : INK_WARN, 2, 4);
    if (of->second_runs < COMPARISON_FEWEST_RUNS) {
        buf_addf(say, "halves of fewer than %d runs are a rough guide only",
                 COMPARISON_FEWEST_RUNS);
        page_paragraph(&self->page, INK_DIM, 2, 4);
    }
}

/* --- what changed inside --- */

static void ratio_cell(table *rows, opt_f64 ratio)
{
    if (ratio.is_set)
        number_float(table_cell_text(rows), ratio.value);
    else
        buf_add(table_cell_text(rows), CG_LIT("—"));
    table_end_cell(rows);
}

static void float_cell(table *rows, double value)
{
    number_float(table_cell_text(rows), value);
    table_end_cell(rows);
}

static void mechanism_row(table *rows, const doc_mechanism_row *of)
{
    bool is_bad = of->non_finite_a != of->non_finite_b;

    table_name(rows, "", of->label);
    float_cell(rows, of->rms_a);
    float_cell(rows, of->rms_b);
    ratio_cell(rows, of->rms_ratio);
    ratio_cell(rows, of->abs_max_ratio);
    if (is_bad)
        table_ink(rows, INK_BAD);
    buf_addf(table_cell_text(rows), "%llu → %llu", (unsigned long long)of->non_finite_a,
             (unsigned long long)of->non_finite_b);
    table_end_cell(rows);
    table_row(rows);
}

static void only_in(telling *self, unsigned cohort, sc_strs labels)
{
    size_t shown = labels.count < 8 ? labels.count : 8;

    if (labels.count == 0)
        return;
    page_putf(&self->page, "  only in the %s: ", words_cohort.at[cohort].ptr);
    for (size_t i = 0; i < shown; i++) {
        page_put(&self->page, i > 0 ? ", " : "");
        page_name(&self->page, labels.at[i], 40);
    }
    if (labels.count > shown)
        page_putf(&self->page, " and %zu more", labels.count - shown);
    page_end(&self->page);
}

static void mechanism_table(telling *self)
{
    const doc_mechanism *of = &self->from->tensor_stats;
    const doc_mechanism_row *at = of->matched.at;
    uint64_t most = self->page.style->rows;
    table rows;

    if (of->matched.count + of->unmatched_a.count + of->unmatched_b.count == 0)
        return;
    page_title(&self->page, "Tensor statistics", "(means per label, most changed first)");
    table_open(&rows, &self->page, 2);
    table_column(&rows, COLUMN_NAME, "label");
    table_column(&rows, COLUMN_NUMBER, "rms baseline");
    table_column(&rows, COLUMN_NUMBER, "candidate");
    table_column(&rows, COLUMN_NUMBER, "ratio");
    table_column(&rows, COLUMN_NUMBER, "max ratio");
    table_column(&rows, COLUMN_NUMBER, "non-finite");
    for (size_t i = 0; i < of->matched.count && i < most; i++)
        mechanism_row(&rows, &at[i]);
    table_close(&rows);
    if (of->matched.count > most) {
        page_putf(&self->page, "  … %llu more, `--rows N` shows them",
                  (unsigned long long)(of->matched.count - most));
        page_end(&self->page);
    }
    only_in(self, COHORT_BASELINE, of->unmatched_a);
    only_in(self, COHORT_CANDIDATE, of->unmatched_b);
}

cg_code text_comparison(const comparison *from, const text_style *style, cg_sink sink,
                        cg_err *reterr)
{
    telling self = {
        .heap = {.allocator = from->heap.allocator, .ceiling_bytes = from->heap.ceiling_bytes},
        .from = from,
        .document = &from->document,
    };

    page_open(&self.page, &self.heap, style, sink);
    conclusion(&self);
    reasons(&self);
    figures(&self);
    dots(&self);
    drift(&self);
    cold_start(&self, COHORT_BASELINE);
    cold_start(&self, COHORT_CANDIDATE);
    calibration(&self);
    mechanism_table(&self);
    return page_close(&self.page, reterr);
}

/* --- plan --- */

cg_code text_plan(heap *room, uint64_t pairs, const text_style *style, cg_sink sink, cg_err *reterr)
{
    page to;
    table rows;

    page_open(&to, room, style, sink);
    page_ink(&to, INK_TITLE);
    page_putf(&to, "%llu pairs, in this order:", (unsigned long long)pairs);
    page_ink(&to, INK_PLAIN);
    page_put(&to, " each build goes first in every other pair, so drift hits both alike");
    page_end(&to);
    table_open(&rows, &to, 2);
    table_column(&rows, COLUMN_NUMBER, "run");
    table_column(&rows, COLUMN_WORD, "build");
    table_column(&rows, COLUMN_WORD, "pair_id");
    for (uint64_t i = 0; i < 2 * pairs; i++) {
        char id[PLAN_ID_ROOM];
        doc_planned_run run = plan_run(pairs, i, id);

        table_number(&rows, run.order);
        table_name(&rows, "", words_cohort.at[run.cohort]);
        buf_add(table_cell_text(&rows), run.pair_id);
        table_end_cell(&rows);
        table_row(&rows);
    }
    table_close(&rows);
    page_end(&to);
    buf_add(&to.say, CG_LIT("Record one run at a time on an otherwise idle machine, each with its "
                            "pair_id in the comparison identity, publish each with `report "
                            "--bundle`, then give all of them to `compare`."));
    page_paragraph(&to, INK_PLAIN, 0, 2);
    return page_close(&to, reterr);
}
