#include "compare/text_series.h"

#include <math.h>

#include "base/sort.h"
#include "compare/statistics.h"
#include "compare/text_plot.h"
#include "exec/columns.h"

#define COURSE_CELLS 24

static heap beside(const heap *from)
{
    return (heap){.allocator = from->allocator, .ceiling_bytes = from->ceiling_bytes};
}

/* --- campaign --- */

static void campaign_title(page *to, const campaign *from)
{
    size_t published = campaign_state_count(from, CAPTURE_STATE_PUBLISHED);
    size_t missing = campaign_state_count(from, CAPTURE_STATE_MISSING);
    size_t failed = from->count - published - missing;
    bool is_whole = published == from->count;

    page_ink(to, is_whole ? INK_GOOD : failed > 0 ? INK_BAD : INK_WARN);
    page_putf(to, "%zu of %zu captures published", published, from->count);
    if (missing > 0)
        page_putf(to, ", %zu missing", missing);
    if (failed > 0)
        page_putf(to, ", %zu failed", failed);
    page_ink(to, INK_PLAIN);
    page_put(to, ": ");
    page_name(to, from->id, 60);
    page_put(to, ", ");
    page_name(to, from->entrypoint, 60);
    page_end(to);
}

static enum ink state_ink(uint8_t state)
{
    if (state == CAPTURE_STATE_PUBLISHED)
        return INK_GOOD;
    return state == CAPTURE_STATE_MISSING ? INK_WARN : INK_BAD;
}

static void campaign_row(table *rows, const campaign_capture *capture)
{
    table_number(rows, capture->step);
    table_ink(rows, state_ink(capture->state));
    table_name(rows, "", sc_word(&words_capture_state, capture->state));
    table_name(rows, "", capture->bundle);
    if (capture->state == CAPTURE_STATE_PUBLISHED && !capture->is_valid) {
        table_ink(rows, INK_WARN);
        table_text(rows, "structurally invalid: see `summary`");
    } else if (capture->state == CAPTURE_STATE_PUBLISHED) {
        table_name(rows, "run ", capture->run_id);
    } else if (capture->reason.ptr != NULL) {
        table_name(rows, "", capture->reason);
    } else {
        table_name(rows, "", capture->message.ptr != NULL ? capture->message : CG_LIT(""));
    }
    table_row(rows);
}

cg_code text_campaign(const campaign *from, const text_style *style, cg_sink sink, cg_err *reterr)
{
    heap room = beside(&from->heap);
    page to;
    table rows;

    page_open(&to, &room, style, sink);
    campaign_title(&to, from);
    table_open(&rows, &to, 2);
    table_column(&rows, COLUMN_NUMBER, "step");
    table_column(&rows, COLUMN_WORD, "state");
    table_column(&rows, COLUMN_NAME, "bundle");
    table_column(&rows, COLUMN_NAME, "more");
    for (size_t i = 0; i < from->count; i++)
        campaign_row(&rows, &from->captures[i]);
    table_close(&rows);
    return page_close(&to, reterr);
}

/* --- series --- */

typedef struct course {
    page page;
    heap heap;
    const series *from;
    size_t count;
    double *steps;  /* x of every run */
    double *values; /* y of the quantity at hand, NaN where there is none */
    double *x;      /* room for those that are there */
    double *y;
} course;

static bool course_open(course *self, const series *from, const text_style *style, cg_sink sink)
{
    *self = (course){.heap = beside(&from->heap), .from = from, .count = from->runs.count};
    page_open(&self->page, &self->heap, style, sink);
    self->steps = column_take(&self->heap, self->count, sizeof *self->steps);
    self->values = column_take(&self->heap, self->count, sizeof *self->values);
    self->x = column_take(&self->heap, self->count, sizeof *self->x);
    self->y = column_take(&self->heap, self->count, sizeof *self->y);
    if (self->steps == NULL || self->values == NULL || self->x == NULL || self->y == NULL)
        return false;
    for (size_t i = 0; i < self->count; i++)
        self->steps[i] = (double)from->runs.at[i].step;
    return true;
}

static cg_code course_close(course *self, cg_err *reterr)
{
    column_free(&self->heap, self->steps, self->count, sizeof *self->steps);
    column_free(&self->heap, self->values, self->count, sizeof *self->values);
    column_free(&self->heap, self->x, self->count, sizeof *self->x);
    column_free(&self->heap, self->y, self->count, sizeof *self->y);
    return page_close(&self->page, reterr);
}

static void no_values(course *self)
{
    for (size_t i = 0; i < self->count; i++)
        self->values[i] = (double)NAN;
}

typedef struct trend {
    double first, last; /* of the values that are there; NaN: none */
    opt_f64 slope;      /* per step */
} trend;

static trend trend_of(course *self)
{
    trend found = {.first = (double)NAN, .last = (double)NAN};
    size_t filled = 0;

    for (size_t i = 0; i < self->count; i++) {
        if (!isfinite(self->values[i]))
            continue;
        if (isnan(found.first))
            found.first = self->values[i];
        found.last = self->values[i];
        self->x[filled] = self->steps[i];
        self->y[filled++] = self->values[i];
    }
    found.slope = line_slope(self->x, self->y, filled);
    return found;
}

static void course_cell(course *self, table *rows)
{
    plot_heights(table_cell_text(rows), self->values, self->count, COURSE_CELLS);
    table_end_cell(rows);
}

static void float_cell(table *rows, double value)
{
    if (isnan(value))
        buf_add(table_cell_text(rows), CG_LIT("—"));
    else
        plot_signed_float(table_cell_text(rows), value);
    table_end_cell(rows);
}

static void plain_cell(table *rows, double value)
{
    if (isnan(value))
        buf_add(table_cell_text(rows), CG_LIT("—"));
    else
        number_float(table_cell_text(rows), value);
    table_end_cell(rows);
}

static void slope_cell(table *rows, opt_f64 slope)
{
    float_cell(rows, slope.is_set ? slope.value : (double)NAN);
}

/* --- the first lines --- */

static void title(course *self)
{
    const series *from = self->from;
    const series_run *runs = from->runs.at;

    page_ink(&self->page, INK_TITLE);
    page_putf(&self->page, "%zu capture%s of ", self->count, self->count == 1 ? "" : "s");
    page_name(&self->page, from->entrypoint, 60);
    page_ink(&self->page, INK_PLAIN);
    page_putf(&self->page, ", step %llu to %llu: ", (unsigned long long)runs[0].step,
              (unsigned long long)runs[self->count - 1].step);
    if (from->growth_count > 0) {
        page_ink(&self->page, INK_BAD);
        page_putf(&self->page, "memory grows in %zu span%s", from->growth_count,
                  from->growth_count == 1 ? "" : "s");
        page_ink(&self->page, INK_PLAIN);
    } else {
        page_put(&self->page, self->count < 3 ? "too few to tell whether memory grows"
                                              : "no span keeps more and more memory");
    }
    page_end(&self->page);
}

static void warnings(course *self)
{
    buf *say = &self->page.say;
    size_t failed = 0;
    size_t invalid = 0;

    for (size_t i = 0; i < self->count; i++) {
        failed += !self->from->runs.at[i].is_complete;
        invalid += self->from->runs.at[i].is_complete && !self->from->runs.at[i].is_valid;
    }
    if (failed + invalid == 0)
        return;
    buf_add(say, CG_LIT("careful: "));
    if (failed > 0)
        buf_addf(say, "%zu failed capture%s", failed, failed == 1 ? "" : "s");
    if (invalid > 0)
        buf_addf(say, "%s%zu structurally invalid capture%s", failed > 0 ? " and " : "", invalid,
                 invalid == 1 ? "" : "s");
    buf_add(say, CG_LIT(" among them (step"));
    for (size_t i = 0, shown = 0; i < self->count && shown < 8; i++) {
        const series_run *run = &self->from->runs.at[i];

        if (run->is_complete && run->is_valid)
            continue;
        buf_addf(say, "%s %llu", shown > 0 ? "," : "", (unsigned long long)run->step);
        shown++;
    }
    buf_add(say, failed + invalid > 8 ? CG_LIT(", …)") : CG_LIT(")"));
    page_paragraph(&self->page, INK_WARN, 2, 4);
}

/* --- time --- */

static void wall_time(course *self)
{
    trend of;
    size_t missing = 0;

    no_values(self);
    for (size_t i = 0; i < self->count; i++) {
        opt_u64 ns = self->from->runs.at[i].wall_ns;

        if (ns.is_set)
            self->values[i] = (double)ns.value;
        missing += !ns.is_set;
    }
    of = trend_of(self);
    if (isnan(of.first))
        return;
    page_lead(&self->page, "Measured region (host clock):");
    plot_heights(&self->page.say, self->values, self->count, COURSE_CELLS);
    buf_byte(&self->page.say, ' ');
    plot_time(&self->page.say, of.first);
    buf_add(&self->page.say, CG_LIT(" to "));
    plot_time(&self->page.say, of.last);
    if (of.slope.is_set) {
        buf_add(&self->page.say, CG_LIT(", slope "));
        plot_signed_time(&self->page.say, of.slope.value);
        buf_add(&self->page.say, CG_LIT(" a step"));
    }
    if (missing > 0)
        buf_addf(&self->page.say, ", %zu capture%s without a time", missing,
                 missing == 1 ? "" : "s");
    page_paragraph(&self->page, INK_PLAIN, 0, 2);
}

/* --- growth --- */

static void growth_row(course *self, table *rows, const series_growth *of, unit in)
{
    double steps = (double)(self->count - 1);

    for (size_t i = 0; i < self->count; i++)
        self->values[i] = (double)of->bytes[i];
    table_name(rows, "", series_name(self->from, of->span));
    course_cell(self, rows);
    table_amount(rows, (opt_u64){of->from_bytes, true}, in);
    table_amount(rows, (opt_u64){of->to_bytes, true}, in);
    buf_byte(table_cell_text(rows), '+');
    number_bytes(table_cell_text(rows),
                 (uint64_t)((double)(of->to_bytes - of->from_bytes) / steps + 0.5));
    table_end_cell(rows);
    table_row(rows);
}

static void growth(course *self)
{
    const series *from = self->from;
    uint64_t most = self->page.style->rows;
    uint64_t largest = 0;
    table rows;

    if (from->growth_count == 0)
        return;
    for (size_t i = 0; i < from->growth_count; i++) {
        if (from->growth[i].to_bytes > largest)
            largest = from->growth[i].to_bytes;
    }
    page_title(&self->page, "Growing memory", "(logical bytes never freed, by span)");
    table_open(&rows, &self->page, 2);
    table_column(&rows, COLUMN_NAME, "span");
    table_column(&rows, COLUMN_WORD, "course");
    table_column(&rows, COLUMN_NUMBER, "first %s", unit_bytes(largest).word);
    table_column(&rows, COLUMN_NUMBER, "last");
    table_column(&rows, COLUMN_NUMBER, "a capture");
    for (size_t i = 0; i < from->growth_count && i < most; i++)
        growth_row(self, &rows, &from->growth[i], unit_bytes(largest));
    table_close(&rows);
}

/* --- statistics and gradients --- */

/* Something to show of each group; the larger the key, the earlier the row. */
typedef struct ranked {
    uint32_t *order;
    uint64_t *keys;
    size_t count;
} ranked;

static bool ranked_open(course *self, ranked *ret, size_t count)
{
    *ret = (ranked){.count = count};
    ret->order = column_take(&self->heap, count, sizeof *ret->order);
    ret->keys = column_take(&self->heap, count, sizeof *ret->keys);
    return ret->order != NULL && ret->keys != NULL;
}

static void ranked_close(course *self, ranked *of)
{
    column_free(&self->heap, of->order, of->count, sizeof *of->order);
    column_free(&self->heap, of->keys, of->count, sizeof *of->keys);
}

/* How far did it move? |ln| of last / first, as a key that sorts the farthest first. */
static uint64_t movement_key(const trend *of, bool is_bad)
{
    double moved = 0;
    uint64_t key;

    if (of->first > 0 && of->last > 0)
        moved = fabs(log(of->last / of->first));
    else if (of->first != of->last && !isnan(of->first))
        moved = 1e6;
    if (is_bad)
        moved += 1e9;
    memcpy(&key, &moved, sizeof key);
    return ~key;
}

/* The last event of each capture; non-finite elements of all events. */
static uint64_t load_stats(course *self, const series_group *group)
{
    uint64_t non_finite = 0;

    no_values(self);
    for (size_t i = group->at; i < group->at + group->count; i++) {
        const series_stat *row = &self->from->stats.at[i];

        self->values[row->run] = row->rms;
        non_finite += row->non_finite;
    }
    return non_finite;
}

static void stats_row(course *self, table *rows, const series_group *group)
{
    uint64_t non_finite = load_stats(self, group);
    trend of = trend_of(self);

    table_name(rows, "", series_name(self->from, group->name));
    course_cell(self, rows);
    plain_cell(rows, of.first);
    plain_cell(rows, of.last);
    slope_cell(rows, of.slope);
    if (non_finite > 0)
        table_ink(rows, INK_BAD);
    table_number(rows, non_finite);
    table_row(rows);
}

static void more(course *self, size_t count)
{
    if (count <= self->page.style->rows)
        return;
    page_putf(&self->page, "  … %llu more, `--rows N` shows them",
              (unsigned long long)(count - self->page.style->rows));
    page_end(&self->page);
}

static void stats_table(course *self, ranked *by)
{
    const series_groups *groups = &self->from->stat_groups;
    table rows;

    for (size_t i = 0; i < by->count; i++) {
        bool is_bad = load_stats(self, &groups->at[i]) > 0;
        trend of = trend_of(self);

        by->order[i] = (uint32_t)i;
        by->keys[i] = movement_key(&of, is_bad);
    }
    if (!column_sort(&self->heap, by->order, by->count, by->keys)) {
        self->page.code = CG_NOMEM;
        return;
    }
    page_title(&self->page, "Tensor statistics", "(rms, last of each capture; most moved first)");
    table_open(&rows, &self->page, 2);
    table_column(&rows, COLUMN_NAME, "label");
    table_column(&rows, COLUMN_WORD, "course");
    table_column(&rows, COLUMN_NUMBER, "first");
    table_column(&rows, COLUMN_NUMBER, "last");
    table_column(&rows, COLUMN_NUMBER, "a step");
    table_column(&rows, COLUMN_NUMBER, "non-finite");
    for (size_t i = 0; i < by->count && i < self->page.style->rows; i++)
        stats_row(self, &rows, &groups->at[by->order[i]]);
    table_close(&rows);
    more(self, by->count);
}

/* Norms by capture; *ret_states counts the other states. */
static void load_gradients(course *self, const series_group *group, size_t ret_states[4])
{
    memset(ret_states, 0, 4 * sizeof *ret_states);
    no_values(self);
    for (size_t i = group->at; i < group->at + group->count; i++) {
        const series_gradient *row = &self->from->gradients.at[i];

        if (row->has_norm)
            self->values[row->run] = row->norm;
        if (row->state == GRADIENT_STATE_NON_FINITE)
            self->values[row->run] = (double)INFINITY;
        ret_states[row->state]++;
    }
}

static bool is_faulty(const size_t states[4])
{
    return states[GRADIENT_STATE_MISSING] + states[GRADIENT_STATE_ZERO] +
               states[GRADIENT_STATE_NON_FINITE] >
           0;
}

static void state_cell(table *rows, const size_t states[4])
{
    bool is_first = true;

    if (!is_faulty(states)) {
        table_text(rows, "present");
        return;
    }
    table_ink(rows, states[GRADIENT_STATE_NON_FINITE] > 0 ? INK_BAD : INK_WARN);
    for (unsigned state = 0; state < 4; state++) {
        if (states[state] == 0)
            continue;
        buf_addf(table_cell_text(rows), "%s%zu ", is_first ? "" : ", ", states[state]);
        buf_add(table_cell_text(rows), sc_word(&words_gradient_state, (uint8_t)state));
        is_first = false;
    }
    table_end_cell(rows);
}

static void gradient_row(course *self, table *rows, const series_group *group)
{
    size_t states[4];
    trend of;

    load_gradients(self, group, states);
    of = trend_of(self);
    table_name(rows, "", series_name(self->from, group->name));
    course_cell(self, rows);
    plain_cell(rows, of.first);
    plain_cell(rows, of.last);
    slope_cell(rows, of.slope);
    state_cell(rows, states);
    table_row(rows);
}

static void gradient_table(course *self, ranked *by)
{
    const series_groups *groups = &self->from->gradient_groups;
    table rows;

    for (size_t i = 0; i < by->count; i++) {
        size_t states[4];
        trend of;

        load_gradients(self, &groups->at[i], states);
        of = trend_of(self);
        by->order[i] = (uint32_t)i;
        by->keys[i] = movement_key(&of, is_faulty(states));
    }
    if (!column_sort(&self->heap, by->order, by->count, by->keys)) {
        self->page.code = CG_NOMEM;
        return;
    }
    page_title(&self->page, "Gradients", "(norm; faults first, then most moved)");
    table_open(&rows, &self->page, 2);
    table_column(&rows, COLUMN_NAME, "parameter");
    table_column(&rows, COLUMN_WORD, "course");
    table_column(&rows, COLUMN_NUMBER, "first");
    table_column(&rows, COLUMN_NUMBER, "last");
    table_column(&rows, COLUMN_NUMBER, "a step");
    table_column(&rows, COLUMN_WORD, "state");
    for (size_t i = 0; i < by->count && i < self->page.style->rows; i++)
        gradient_row(self, &rows, &groups->at[by->order[i]]);
    table_close(&rows);
    more(self, by->count);
}

/* Nothing to show: no title either. */
static void ranked_section(course *self, size_t count, void (*section)(course *, ranked *))
{
    ranked by;

    if (count == 0)
        return;
    if (ranked_open(self, &by, count))
        section(self, &by);
    else
        self->page.code = CG_NOMEM;
    ranked_close(self, &by);
}

cg_code text_series(const series *from, const text_style *style, cg_sink sink, cg_err *reterr)
{
    course self;

    if (from->runs.count == 0)
        return CG_OK;
    if (course_open(&self, from, style, sink)) {
        title(&self);
        warnings(&self);
        wall_time(&self);
        growth(&self);
        ranked_section(&self, from->stat_groups.count, stats_table);
        ranked_section(&self, from->gradient_groups.count, gradient_table);
    } else {
        self.page.code = CG_NOMEM;
    }
    return course_close(&self, reterr);
}
