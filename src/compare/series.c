#include "compare/series.h"

#include <math.h>

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"

#define FEWEST_CAPTURES 3

/* --- life --- */

cg_code series_new(const cg_env *env, cg_str label_prefix, series **ret, cg_err *reterr)
{
    heap start;
    series *self;

    heap_init(&start, env);
    self = heap_resize(&start, NULL, 0, sizeof *self);
    if (self == NULL)
        return err_nomem(reterr);
    *self = (series){.heap = start, .env = env};
    arena_init(&self->arena, &self->heap);
    if (!intern_init(&self->names, &self->heap, os_random(env)) ||
        !arena_text(&self->arena, label_prefix, &self->label_prefix)) {
        series_free(self);
        return err_nomem(reterr);
    }
    *ret = self;
    return CG_OK;
}

void series_free(series *self)
{
    if (self == NULL)
        return;
    vec_free(&self->heap, &self->runs);
    vec_free(&self->heap, &self->stats);
    vec_free(&self->heap, &self->gradients);
    vec_free(&self->heap, &self->residuals);
    intern_free(&self->names);
    arena_free(&self->arena);
    heap_release(&self->heap, self, sizeof *self);
}

/* --- rows of a run --- */

static bool is_wanted(const series *self, cg_str name)
{
    return self->label_prefix.ptr == NULL || str_starts_with(name, self->label_prefix);
}

static bool take_stats(series *self, const trace_doc *trace, uint32_t run)
{
    for (size_t i = 0; i < trace->stats.count; i++) {
        const trace_stats *event = &trace->stats.at[i];
        cg_str label = trace_text(trace, event->label);
        series_stat *row;

        if (!is_wanted(self, label))
            continue;
        row = vec_add(&self->heap, &self->stats);
        if (row == NULL)
            return false;
        *row = (series_stat){
            .rms = event->rms,
            .abs_max = event->abs_max,
            .mean = event->mean,
            .non_finite = event->non_finite,
            .elements = event->elements,
            .label = intern_add(&self->names, label),
            .run = run,
        };
        if (row->label == 0)
            return false;
    }
    return true;
}

static bool take_gradients(series *self, const trace_doc *trace, uint32_t run)
{
    buf name;
    bool is_done = true;

    buf_init(&name, &self->heap, SIZE_MAX / 2);
    for (size_t i = 0; is_done && i < trace->gradients.count; i++) {
        const trace_gradient *event = &trace->gradients.at[i];
        series_gradient *row;

        buf_clear(&name);
        buf_add(&name, trace_text(trace, event->root));
        buf_byte(&name, '/');
        buf_add(&name, trace_text(trace, event->key));
        if (!name.failed && !is_wanted(self, buf_text(&name)))
            continue;
        row = name.failed ? NULL : vec_add(&self->heap, &self->gradients);
        is_done = row != NULL;
        if (!is_done)
            break;
        *row = (series_gradient){
            .norm = event->norm,
            .name = intern_add(&self->names, buf_text(&name)),
            .run = run,
            .state = event->state,
            .has_norm = event->has_norm,
        };
        is_done = row->name != 0;
    }
    buf_free(&name);
    return is_done;
}

/* Lifetimes without end, one row each; rows of one name are added up when all is there. */
static bool take_residuals(series *self, const source *from, uint32_t run)
{
    const trace_doc *trace = from->trace;

    for (size_t i = 0; i < from->memory.lifetimes.count; i++) {
        const memory_lifetime *life = &from->memory.lifetimes.at[i];
        const trace_memory *event;
        series_residual *row;
        uint32_t span;

        if (life->is_closed)
            continue;
        event = &trace->memory.at[life->alloc_event];
        span = trace_span_of(trace, event->span_id);
        if (span == TRACE_NONE || event->bytes == 0)
            continue;
        row = vec_add(&self->heap, &self->residuals);
        if (row == NULL)
            return false;
        *row = (series_residual){
            .bytes = event->bytes,
            .span = intern_add(&self->names, trace_text(trace, trace->spans.at[span].name)),
            .run = run,
        };
        if (row->span == 0)
            return false;
    }
    return true;
}

static cg_code relate(series *self, const rec_run *run, cg_err *reterr)
{
    if (self->runs.count == 0) {
        self->phase = run->phase;
        return arena_text(&self->arena, run->entrypoint, &self->entrypoint) ? CG_OK
                                                                            : err_nomem(reterr);
    }
    if (!str_equal(run->entrypoint, self->entrypoint))
        return cg_fail(reterr, PROBLEM_SERIES, "entered at `%.*s`, the first capture at `%.*s`",
                       ERR_STR(run->entrypoint), ERR_STR(self->entrypoint));
    if (run->phase != self->phase)
        return cg_fail(reterr, PROBLEM_SERIES, "is of phase `%.*s`, the first capture of `%.*s`",
                       ERR_STR(sc_word(&words_phase, run->phase)),
                       ERR_STR(sc_word(&words_phase, self->phase)));
    for (size_t i = 0; i < self->runs.count; i++) {
        if (self->runs.at[i].step == run->capture_step)
            return cg_fail(reterr, PROBLEM_SERIES, "step %llu was captured twice, first in `%.*s`",
                           (unsigned long long)run->capture_step, ERR_STR(self->runs.at[i].bundle));
    }
    return CG_OK;
}

cg_code series_take(series *self, const source *from, cg_str path, cg_err *reterr)
{
    const rec_run *run = &from->trace->run;
    uint32_t index = (uint32_t)self->runs.count;
    series_run row = {
        .step = run->capture_step,
        .is_complete = from->health.is_complete,
        .is_valid = from->health.is_valid,
    };
    series_run *place;

    CG_TRY(relate(self, run, reterr));
    if (source_has_one_sample(from))
        row.wall_ns = from->sample_ns;
    if (!arena_text(&self->arena, run->run_id, &row.run_id) ||
        !arena_text(&self->arena, path, &row.bundle) ||
        !arena_text(&self->arena, source_manifest(from), &row.manifest))
        return err_nomem(reterr);
    place = vec_add(&self->heap, &self->runs);
    if (place == NULL)
        return err_nomem(reterr);
    *place = row;
    if (!take_stats(self, from->trace, index) || !take_gradients(self, from->trace, index) ||
        !take_residuals(self, from, index))
        return err_nomem(reterr);
    return CG_OK;
}

static cg_code take_and_close(series *self, source *from, cg_str path, cg_err *reterr)
{
    cg_code code = series_take(self, from, path, reterr);

    if (code != CG_OK)
        err_in_file(reterr, path);
    source_close(from);
    return code;
}

cg_code series_add(series *self, cg_str path, cg_err *reterr)
{
    source from;

    CG_TRY(source_open_bundle(self->env, path, &from, reterr));
    return take_and_close(self, &from, path, reterr);
}

/* --- campaigns --- */

static cg_code refuse_unpublished(const campaign *plan, cg_err *reterr)
{
    char list[400];
    size_t len = 0;
    size_t shown = 0;
    size_t count = plan->count - campaign_state_count(plan, CAPTURE_STATE_PUBLISHED);

    list[0] = '\0';
    for (size_t i = 0; i < plan->count && len < sizeof list - 120; i++) {
        const campaign_capture *capture = &plan->captures[i];
        cg_str word = sc_word(&words_capture_state, capture->state);
        int more;

        if (capture->state == CAPTURE_STATE_PUBLISHED)
            continue;
        more = snprintf(list + len, sizeof list - len, "%sstep %llu `%.*s` %.*s",
                        shown > 0 ? ", " : "", (unsigned long long)capture->step,
                        capture->bundle.len < 60 ? (int)capture->bundle.len : 60,
                        capture->bundle.ptr, (int)word.len, word.ptr);
        len += more > 0 ? (size_t)more : 0;
        shown++;
    }
    if (shown < count)
        return cg_fail(reterr, PROBLEM_SERIES_INCOMPLETE, "%zu of %zu captures: %s and %zu more",
                       count, plan->count, list, count - shown);
    return cg_fail(reterr, PROBLEM_SERIES_INCOMPLETE, "%zu of %zu captures: %s", count, plan->count,
                   list);
}

static cg_code take_campaign(series *self, campaign *plan, cg_err *reterr)
{
    bool is_whole = true;

    for (size_t i = 0; i < plan->count; i++) {
        source from;

        if (!env_progress(self->env, "reading", i, plan->count))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
        CG_TRY(campaign_examine(plan, i, &from, reterr));
        if (plan->captures[i].state != CAPTURE_STATE_PUBLISHED)
            is_whole = false;
        else if (is_whole)
            CG_TRY(take_and_close(self, &from, plan->captures[i].path, reterr));
        else
            source_close(&from);
    }
    return is_whole ? CG_OK : refuse_unpublished(plan, reterr);
}

cg_code series_add_campaign(series *self, cg_str path, cg_err *reterr)
{
    campaign *plan;
    cg_code code;

    CG_TRY(campaign_read(self->env, path, &plan, reterr));
    code = take_campaign(self, plan, reterr);
    if (code != CG_OK)
        err_in_file(reterr, path);
    campaign_free(plan);
    return code;
}

/* --- order --- */

static bool is_run_before(const void *context, uint32_t a, uint32_t b)
{
    const series_run *runs = context;

    return runs[a].step < runs[b].step;
}

/* Runs by step; ret_place[i] is where run i went. */
static bool order_runs(series *self, uint32_t *ret_place)
{
    size_t count = self->runs.count;
    uint32_t *order = column_take(&self->heap, 2 * count, sizeof *order);
    series_run *copy = column_take(&self->heap, count, sizeof *copy);
    bool is_done = order != NULL && copy != NULL;

    if (is_done && count > 0) {
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)i;
        sort_with(order, order + count, count, is_run_before, self->runs.at);
        memcpy(copy, self->runs.at, count * sizeof *copy);
        for (size_t i = 0; i < count; i++) {
            self->runs.at[i] = copy[order[i]];
            ret_place[order[i]] = (uint32_t)i;
        }
    }
    column_free(&self->heap, order, 2 * count, sizeof *order);
    column_free(&self->heap, copy, count, sizeof *copy);
    return is_done;
}

/* A list of rows whose name and run lie at given offsets. */
typedef struct rows {
    char *at;
    size_t count;
    size_t size;
    size_t name_offset;
    size_t run_offset;
} rows;

#define ROWS(list, type, name)                                                                     \
    (&(rows){(char *)(list)->at, (list)->count, sizeof(type), offsetof(type, name),                \
             offsetof(type, run)})

static uint32_t *word_at(const rows *of, size_t index, size_t offset)
{
    return (uint32_t *)(void *)(of->at + index * of->size + offset);
}

/* By rank of the name, then by run; equal ones stay as recorded. */
static bool order_rows(heap *from, const rows *of, const ranks *names, const uint32_t *places)
{
    uint64_t *keys = column_take(from, of->count, sizeof *keys);
    uint32_t *order = column_take(from, of->count, sizeof *order);
    char *copy = column_take(from, of->count, of->size);
    bool is_done = keys != NULL && order != NULL && copy != NULL;

    for (size_t i = 0; is_done && i < of->count; i++) {
        uint32_t *run = word_at(of, i, of->run_offset);

        *run = places[*run];
        keys[i] = (uint64_t)names->of[*word_at(of, i, of->name_offset)] << 32 | *run;
        order[i] = (uint32_t)i;
    }
    is_done = is_done && column_sort(from, order, of->count, keys);
    if (is_done && of->count > 0) {
        memcpy(copy, of->at, of->count * of->size);
        for (size_t i = 0; i < of->count; i++)
            memcpy(of->at + i * of->size, copy + order[i] * of->size, of->size);
    }
    column_free(from, keys, of->count, sizeof *keys);
    column_free(from, order, of->count, sizeof *order);
    column_free(from, copy, of->count, of->size);
    return is_done;
}

static bool group(arena *mem, const rows *of, series_groups *ret)
{
    series_group *groups;
    size_t count = 0;

    for (size_t i = 0; i < of->count; i++)
        count += i == 0 || *word_at(of, i, of->name_offset) != *word_at(of, i - 1, of->name_offset);
    groups = arena_take(mem, (count + 1) * sizeof *groups);
    if (groups == NULL)
        return false;
    *ret = (series_groups){groups, count};
    for (size_t i = 0, filled = 0; i < of->count; i++) {
        sym name = *word_at(of, i, of->name_offset);

        if (filled == 0 || groups[filled - 1].name != name)
            groups[filled++] = (series_group){.name = name, .at = i};
        groups[filled - 1].count++;
    }
    return true;
}

static bool arrange(series *self, const ranks *names, const uint32_t *places, rows *of,
                    series_groups *ret)
{
    return order_rows(&self->heap, of, names, places) && group(&self->arena, of, ret);
}

static bool arrange_all(series *self, const ranks *names, const uint32_t *places)
{
    return arrange(self, names, places, ROWS(&self->stats, series_stat, label),
                   &self->stat_groups) &&
           arrange(self, names, places, ROWS(&self->gradients, series_gradient, name),
                   &self->gradient_groups) &&
           arrange(self, names, places, ROWS(&self->residuals, series_residual, span),
                   &self->residual_groups);
}

static bool order_all(series *self)
{
    size_t count = self->runs.count;
    uint32_t *places = column_take(&self->heap, count, sizeof *places);
    ranks names = {0};
    bool is_done =
        places != NULL && order_runs(self, places) && ranks_init(&names, &self->heap, &self->names);

    if (is_done) {
        for (size_t i = 1; i < intern_count(&self->names); i++)
            names.of[i] = 1;
        is_done = ranks_finish(&names) && arrange_all(self, &names, places);
    }
    if (names.of != NULL)
        ranks_free(&names);
    column_free(&self->heap, places, count, sizeof *places);
    return is_done;
}

/* --- growth --- */

/* Bytes of one span name in each run; 0 where it kept nothing. */
static uint64_t *bytes_by_run(series *self, const series_group *of)
{
    uint64_t *bytes = arena_zero(&self->arena, (self->runs.count + 1) * sizeof *bytes);

    for (size_t i = 0; bytes != NULL && i < of->count; i++) {
        const series_residual *row = &self->residuals.at[of->at + i];

        bytes[row->run] = num_sat_add(bytes[row->run], row->bytes);
    }
    return bytes;
}

/* The rule of growth: never falls, rises in three quarters of the steps and in the last one. */
static bool is_growing(const uint64_t *bytes, size_t count)
{
    size_t rises = 0;

    if (count < FEWEST_CAPTURES)
        return false;
    for (size_t i = 1; i < count; i++) {
        if (bytes[i] < bytes[i - 1])
            return false;
        rises += bytes[i] > bytes[i - 1];
    }
    return bytes[count - 1] > bytes[count - 2] && rises * 4 >= (count - 1) * 3;
}

/* All rows have the same number of captures: the larger gain is the larger rate. */
static bool is_growth_before(const void *context, uint32_t a, uint32_t b)
{
    const series_growth *growth = context;

    return growth[a].to_bytes - growth[a].from_bytes > growth[b].to_bytes - growth[b].from_bytes;
}

static bool order_growth(series *self)
{
    size_t count = self->growth_count;
    uint32_t *order = column_take(&self->heap, 2 * count, sizeof *order);
    series_growth *copy = column_take(&self->heap, count, sizeof *copy);
    bool is_done = order != NULL && copy != NULL;

    if (is_done && count > 0) {
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)i;
        sort_with(order, order + count, count, is_growth_before, self->growth);
        memcpy(copy, self->growth, count * sizeof *copy);
        for (size_t i = 0; i < count; i++)
            self->growth[i] = copy[order[i]];
    }
    column_free(&self->heap, order, 2 * count, sizeof *order);
    column_free(&self->heap, copy, count, sizeof *copy);
    return is_done;
}

static bool find_growth(series *self)
{
    size_t runs = self->runs.count;

    self->growth =
        arena_take(&self->arena, (self->residual_groups.count + 1) * sizeof *self->growth);
    if (self->growth == NULL)
        return false;
    for (size_t i = 0; i < self->residual_groups.count; i++) {
        uint64_t *bytes = bytes_by_run(self, &self->residual_groups.at[i]);

        if (bytes == NULL)
            return false;
        if (is_growing(bytes, runs))
            self->growth[self->growth_count++] = (series_growth){
                .span = self->residual_groups.at[i].name,
                .from_bytes = bytes[0],
                .to_bytes = bytes[runs - 1],
                .bytes = bytes,
            };
    }
    return order_growth(self);
}

/* Rows of one name and one run become one. */
static void add_up_residuals(series *self)
{
    series_residual *rows_at = self->residuals.at;
    size_t kept = 0;

    for (size_t i = 0; i < self->residuals.count; i++) {
        if (kept > 0 && rows_at[kept - 1].span == rows_at[i].span &&
            rows_at[kept - 1].run == rows_at[i].run)
            rows_at[kept - 1].bytes = num_sat_add(rows_at[kept - 1].bytes, rows_at[i].bytes);
        else
            rows_at[kept++] = rows_at[i];
    }
    self->residuals.count = kept;
}

cg_code series_finish(series *self, cg_err *reterr)
{
    if (!order_all(self))
        return err_nomem(reterr);
    add_up_residuals(self);
    if (!group(&self->arena, ROWS(&self->residuals, series_residual, span),
               &self->residual_groups) ||
        !find_growth(self))
        return err_nomem(reterr);
    return CG_OK;
}
