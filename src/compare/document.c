#include "compare/document.h"

#include "base/num.h"

/* Working memory like that of `from`, counted apart: what is written stays as it is. */
static heap beside(const heap *from)
{
    return (heap){.allocator = from->allocator, .ceiling_bytes = from->ceiling_bytes};
}

static cg_code write_document(const heap *from, const sc_table *table, const void *record,
                              cg_sink sink, cg_err *reterr)
{
    heap room = beside(from);
    jsonw out;

    CG_TRY(jw_init(&out, &room, sink, true, false));
    sc_write(&out, table, record);
    return jw_finish(&out, reterr);
}

cg_code document_comparison(const comparison *from, cg_sink sink, cg_err *reterr)
{
    return write_document(&from->heap, &table_comparison, &from->document, sink, reterr);
}

/* --- plan --- */

doc_planned_run plan_run(uint64_t pairs, uint64_t index, char room[PLAN_ID_ROOM])
{
    uint64_t pair = index / 2;
    bool is_second = index % 2 != 0;
    bool is_turned = pair % 2 != 0;
    char digits[NUM_U64_ROOM];
    size_t most = num_write_u64(digits, pairs);
    size_t count = num_write_u64(digits, pair + 1);
    size_t len = 0;

    /* As many digits everywhere: pairs are ordered bytewise by their id. */
    room[len++] = 'p';
    for (size_t i = count; i < most; i++)
        room[len++] = '0';
    memcpy(room + len, digits, count);
    return (doc_planned_run){
        .order = index + 1,
        .cohort = is_second == is_turned ? COHORT_BASELINE : COHORT_CANDIDATE,
        .pair_id = {room, len + count},
    };
}

static void emit_plan(jsonw *out, const void *context)
{
    const uint64_t *pairs = context;

    jw_array(out);
    for (uint64_t i = 0; i < 2 * *pairs; i++) {
        char id[PLAN_ID_ROOM];
        doc_planned_run row = plan_run(*pairs, i, id);

        sc_write(out, &table_planned_run, &row);
    }
    jw_end(out);
}

cg_code document_plan(heap *room, uint64_t pairs, cg_sink sink, cg_err *reterr)
{
    const doc_compare_plan plan = {
        .schema = CG_LIT(COMPARE_PLAN_SCHEMA),
        .pairs = pairs,
        .runs = {emit_plan, &pairs},
    };

    return write_document(room, &table_compare_plan, &plan, sink, reterr);
}

/* --- campaign --- */

static void emit_captures(jsonw *out, const void *context)
{
    const campaign *from = context;

    jw_array(out);
    for (size_t i = 0; i < from->count; i++) {
        const campaign_capture *capture = &from->captures[i];
        const doc_capture_state state = {
            .state = capture->state,
            .message = capture->message,
            .run_id = capture->run_id,
            .reason = capture->reason,
            .manifest_sha256 = capture->manifest,
        };
        const doc_capture row = {capture->step, capture->bundle, &state};

        sc_write(out, &table_capture, &row);
    }
    jw_end(out);
}

cg_code document_campaign(const campaign *from, cg_sink sink, cg_err *reterr)
{
    size_t published = campaign_state_count(from, CAPTURE_STATE_PUBLISHED);
    size_t missing = campaign_state_count(from, CAPTURE_STATE_MISSING);
    const doc_campaign_status status = {
        .schema = schema_id_text(SCHEMA_CAMPAIGN_STATUS),
        .campaign_id = from->id,
        .entrypoint = from->entrypoint,
        .planned = from->count,
        .published = published,
        .missing = missing,
        .failed = from->count - published - missing,
        .captures = {emit_captures, from},
    };

    return write_document(&from->heap, &table_campaign_status, &status, sink, reterr);
}

/* --- series --- */

static void emit_inputs(jsonw *out, const void *context)
{
    const series *from = context;

    jw_array(out);
    for (size_t i = 0; i < from->runs.count; i++) {
        const series_run *run = &from->runs.at[i];
        const doc_series_input row = {run->step, run->run_id, run->bundle, run->manifest};

        sc_write(out, &table_series_input, &row);
    }
    jw_end(out);
}

static void emit_times(jsonw *out, const void *context)
{
    const series *from = context;

    jw_array(out);
    for (size_t i = 0; i < from->runs.count; i++) {
        const series_run *run = &from->runs.at[i];
        const doc_series_time row = {run->step, run->run_id, run->wall_ns};

        sc_write(out, &table_series_time, &row);
    }
    jw_end(out);
}

static void emit_stats(jsonw *out, const void *context)
{
    const series *from = context;

    jw_object(out);
    for (size_t i = 0; i < from->stat_groups.count; i++) {
        const series_group *group = &from->stat_groups.at[i];

        jw_key(out, series_name(from, group->name));
        jw_array(out);
        for (size_t j = group->at; j < group->at + group->count; j++) {
            const series_stat *stat = &from->stats.at[j];
            const series_run *run = &from->runs.at[stat->run];
            const doc_series_stats row = {
                .capture_step = run->step,
                .run_id = run->run_id,
                .rms = stat->rms,
                .abs_max = stat->abs_max,
                .mean = stat->mean,
                .non_finite = stat->non_finite,
                .elements = stat->elements,
            };

            sc_write(out, &table_series_stats, &row);
        }
        jw_end(out);
    }
    jw_end(out);
}

static void emit_gradients(jsonw *out, const void *context)
{
    const series *from = context;

    jw_object(out);
    for (size_t i = 0; i < from->gradient_groups.count; i++) {
        const series_group *group = &from->gradient_groups.at[i];

        jw_key(out, series_name(from, group->name));
        jw_array(out);
        for (size_t j = group->at; j < group->at + group->count; j++) {
            const series_gradient *gradient = &from->gradients.at[j];
            const series_run *run = &from->runs.at[gradient->run];
            const doc_series_gradient row = {
                .capture_step = run->step,
                .run_id = run->run_id,
                .state = gradient->state,
                .norm = {gradient->norm, gradient->has_norm},
            };

            sc_write(out, &table_series_gradient, &row);
        }
        jw_end(out);
    }
    jw_end(out);
}

static void write_residual(jsonw *out, const series_run *run, uint64_t bytes)
{
    const doc_series_residual row = {run->step, run->run_id, bytes};

    sc_write(out, &table_series_residual, &row);
}

/* Every capture of every name that ever keeps something. */
static void emit_residuals(jsonw *out, const void *context)
{
    const series *from = context;

    jw_object(out);
    for (size_t i = 0; i < from->residual_groups.count; i++) {
        const series_group *group = &from->residual_groups.at[i];
        size_t at = group->at;

        jw_key(out, series_name(from, group->name));
        jw_array(out);
        for (size_t run = 0; run < from->runs.count; run++) {
            bool is_there = at < group->at + group->count && from->residuals.at[at].run == run;

            write_residual(out, &from->runs.at[run], is_there ? from->residuals.at[at++].bytes : 0);
        }
        jw_end(out);
    }
    jw_end(out);
}

typedef struct growth_row {
    const series *from;
    const series_growth *of;
} growth_row;

static void emit_rate(jsonw *out, const void *context)
{
    const growth_row *row = context;
    uint64_t gain = row->of->to_bytes - row->of->from_bytes;
    uint64_t steps = row->from->runs.count - 1;

    if (gain % steps == 0)
        jw_u64(out, gain / steps);
    else
        jw_f64(out, (double)gain / (double)steps);
}

static void emit_points(jsonw *out, const void *context)
{
    const growth_row *row = context;

    jw_array(out);
    for (size_t i = 0; i < row->from->runs.count; i++)
        write_residual(out, &row->from->runs.at[i], row->of->bytes[i]);
    jw_end(out);
}

static void emit_growth(jsonw *out, const void *context)
{
    const series *from = context;

    jw_array(out);
    for (size_t i = 0; i < from->growth_count; i++) {
        const growth_row place = {from, &from->growth[i]};
        const doc_growth row = {
            .span = series_name(from, place.of->span),
            .captures = from->runs.count,
            .from_bytes = place.of->from_bytes,
            .to_bytes = place.of->to_bytes,
            .bytes_per_capture = {emit_rate, &place},
            .points = {emit_points, &place},
        };

        sc_write(out, &table_growth, &row);
    }
    jw_end(out);
}

cg_code document_series(const series *from, bool has_growth, cg_sink sink, cg_err *reterr)
{
    doc_series document = {
        .schema = schema_id_text(SCHEMA_SERIES),
        .entrypoint = from->entrypoint,
        .coordinate = CG_LIT(SERIES_COORDINATE),
        .label_prefix = from->label_prefix,
        .inputs = {emit_inputs, from},
        .outer_wall_time = {emit_times, from},
        .tensor_stats = {emit_stats, from},
        .gradients = {emit_gradients, from},
    };

    if (has_growth) {
        document.residual_bytes = (sc_stream){emit_residuals, from};
        document.growth = (sc_stream){emit_growth, from};
    }
    return write_document(&from->heap, &table_series, &document, sink, reterr);
}
