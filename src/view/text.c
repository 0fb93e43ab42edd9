#include "view/text.h"

#include "view/text_memory.h"
#include "view/text_origin.h"
#include "view/text_query.h"
#include "view/text_time.h"

#define OVERVIEW_SPANS    5
#define OVERVIEW_FAMILIES 4
#define OVERVIEW_GAPS     3
#define MANY              SIZE_MAX

/* Both results: what the sections said and what the page met while printing. */
static cg_code close_sections(sections *to, cg_code code, cg_err *reterr)
{
    cg_code last = section_close(to, code == CG_OK ? reterr : NULL);

    return code != CG_OK ? code : last;
}

cg_code text_overview(const evidence *from, const document_input *input, const text_style *style,
                      cg_sink sink, cg_err *reterr)
{
    sections to;

    (void)input;
    section_open(&to, from, style, sink);
    section_verdict(&to);
    section_failure(&to);
    section_issues(&to, true, 8);
    if (!from->health.is_valid)
        return close_sections(&to, CG_OK, reterr);
    section_slowest(&to, OVERVIEW_SPANS);
    section_memory(&to);
    section_gradients(&to, OVERVIEW_FAMILIES);
    section_statistics(&to);
    section_capabilities(&to, false);
    section_warnings_in_short(&to);
    section_gaps(&to, OVERVIEW_GAPS);
    return close_sections(&to, CG_OK, reterr);
}

/* --- summary ------------------------------------------------------------ */

static void run_line(page *to, const char *what, cg_str text)
{
    if (text.ptr == NULL)
        return;
    page_putf(to, "  %-13s ", what);
    page_name(to, text, to->style->width - 16);
    page_end(to);
}

static void run_facts(sections *to, const document_input *input)
{
    const rec_run *run = &to->trace->run;
    page *on = &to->page;

    page_title(on, "Run", NULL);
    run_line(on, "input", input->requested_path);
    run_line(on, "run", run->run_id);
    run_line(on, "correlation", run->correlation_id);
    run_line(on, "entry point", run->entrypoint);
    run_line(on, "recorded", run->timestamp);
    page_putf(on, "  %-13s %llu, after %llu of warm-up", "step",
              (unsigned long long)run->capture_step, (unsigned long long)run->warmup_steps);
    page_end(on);
    run_line(on, "runs on", run->device);
    page_putf(on, "  %-13s %s, measured region %s", "timing",
              run->timing_mode == TIMING_MODE_HOST ? "host" : "device synchronised",
              run->is_device_synchronized ? "synchronised with the device"
                                          : "not synchronised with the device");
    page_end(on);
    run_line(on, "Candle", run->candle_version);
    for (size_t i = 0; i < run->tags.count && i < 12; i++) {
        page_putf(on, "  %-13s ", i == 0 ? "tagged" : "");
        page_name(on, run->tags.at[i].key, 30);
        page_put(on, " = ");
        page_name(on, run->tags.at[i].value, 50);
        page_end(on);
    }
    if (run->tags.count > 12)
        section_more(to, run->tags.count - 12, "`--format json` lists all");
}

static void record_counts(sections *to)
{
    const trace_doc *trace = to->trace;
    const uint64_t *seen = to->from->health.coverage;

    page_title(&to->page, "Recorded", NULL);
    buf_addf(&to->page.say,
             "%llu records: %llu spans (%llu closed, %llu measured), %llu operations, %llu "
             "tensors, %zu statistics, %llu gradients, %llu memory events, %llu device samples, "
             "%llu device intervals, %llu call edges, %llu data edges",
             (unsigned long long)trace->event_count, (unsigned long long)seen[COVERAGE_SPANS],
             (unsigned long long)seen[COVERAGE_CLOSED_SPANS],
             (unsigned long long)seen[COVERAGE_MEASURED_SPANS],
             (unsigned long long)seen[COVERAGE_OPERATIONS],
             (unsigned long long)seen[COVERAGE_TENSORS], trace->stats.count,
             (unsigned long long)seen[COVERAGE_GRADIENTS],
             (unsigned long long)seen[COVERAGE_MEMORY_EVENTS],
             (unsigned long long)seen[COVERAGE_DEVICE_MEMORY_SAMPLES],
             (unsigned long long)seen[COVERAGE_DEVICE_INTERVALS],
             (unsigned long long)seen[COVERAGE_CALL_EDGES],
             (unsigned long long)seen[COVERAGE_DATA_EDGES]);
    page_paragraph(&to->page, INK_PLAIN, 2, 4);
}

/* Everything but what only a long report shows. */
static void summary_sections(sections *to, const document_input *input)
{
    section_verdict(to);
    section_failure(to);
    section_issues(to, true, MANY);
    section_issues(to, false, MANY);
    run_facts(to, input);
    record_counts(to);
    section_capabilities(to, true);
    if (!to->from->health.is_valid)
        return;
    section_slowest(to, to->page.style->rows < 10 ? (size_t)to->page.style->rows : 10);
    section_device_time(to);
    section_memory(to);
    section_gradients(to, (size_t)to->page.style->rows);
    section_statistics(to);
    section_findings(to);
}

cg_code text_summary(const evidence *from, const document_input *input, const text_style *style,
                     cg_sink sink, cg_err *reterr)
{
    sections to;

    section_open(&to, from, style, sink);
    summary_sections(&to, input);
    return close_sections(&to, CG_OK, reterr);
}

cg_code text_evidence(const evidence *from, const document_input *input, const text_style *style,
                      cg_sink sink, cg_err *reterr)
{
    sections to;
    cg_code code = CG_OK;

    section_open(&to, from, style, sink);
    summary_sections(&to, input);
    if (from->health.is_valid) {
        code = text_module_tree(&to, style->rows, reterr);
        if (code == CG_OK)
            code = text_memory_detail(&to, style->rows, reterr);
        if (code == CG_OK && from->trace->stats.count > 0) {
            text_statistics_table(&to, NULL);
            code = text_origin(&to, reterr);
        }
    }
    return close_sections(&to, code, reterr);
}

cg_code text_query(const evidence *from, const document_input *input, const document_query *query,
                   const text_style *style, cg_sink sink, cg_err *reterr)
{
    sections to;

    (void)input;
    section_open(&to, from, style, sink);
    return close_sections(&to, text_answer(&to, query, reterr), reterr);
}

cg_code text_protocol(heap *from, const document_command *commands, size_t count,
                      const text_style *style, cg_sink sink, cg_err *reterr)
{
    page to;
    table rows;

    page_open(&to, from, style, sink);
    page_ink(&to, INK_TITLE);
    page_put(&to, "Commands of the wire contract");
    page_ink(&to, INK_PLAIN);
    page_put(&to, " (`protocol --format json` adds the schemas)");
    page_end(&to);
    table_open(&rows, &to, 2);
    table_column(&rows, COLUMN_WORD, "command");
    table_column(&rows, COLUMN_NAME, "what it does");
    for (size_t i = 0; i < count; i++) {
        table_name(&rows, "", commands[i].name);
        table_name(&rows, "", commands[i].about);
        table_row(&rows);
    }
    table_close(&rows);
    return page_close(&to, reterr);
}
