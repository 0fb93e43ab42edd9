#include "view/report.h"

#include <inttypes.h>

#include "codec/escape.h"

#define CHUNK ((size_t)64 << 10)

/* Text on its way to the sink; the first failure is kept. */
typedef struct paper {
    evidence view;
    heap heap;
    buf text;
    cg_sink sink;
    cg_code code;
} paper;

static void send(paper *self)
{
    if (self->text.failed && self->code == CG_OK)
        self->code = CG_NOMEM;
    if (self->code == CG_OK && self->text.len > 0)
        self->code = self->sink.write(self->sink.context, self->text.at, self->text.len);
    buf_clear(&self->text);
}

/* After each line: nothing but one chunk is held, however long the lists are. */
static void end_line(paper *self)
{
    buf_byte(&self->text, '\n');
    if (self->text.len >= CHUNK || self->text.failed)
        send(self);
}

static void add(paper *self, const char *text)
{
    buf_add(&self->text, str_from(text));
}

/* Text that may come from the trace. */
static void add_foreign(paper *self, cg_str text)
{
    esc_md(&self->text, text);
}

static void line(paper *self, const char *text)
{
    add(self, text);
    end_line(self);
}

static void heading(paper *self, const char *text)
{
    end_line(self);
    add(self, "## ");
    line(self, text);
    end_line(self);
}

static void bullet(paper *self, const char *start, cg_str value)
{
    add(self, start);
    add_foreign(self, value);
    end_line(self);
}

static cg_str status(const evidence *from)
{
    if (from->health.is_valid)
        return sc_word(&words_outcome, from->trace->outcome);
    if (from->health.is_complete)
        return CG_LIT("structurally invalid");
    return CG_LIT("failed, structurally invalid");
}

static void write_head(paper *self)
{
    const trace_doc *trace = self->view.trace;
    const rec_run *run = &trace->run;

    add(self, "# Run report: ");
    add_foreign(self, run->entrypoint);
    end_line(self);
    end_line(self);
    bullet(self, "- status: ", status(&self->view));
    if (trace->failure_reason.ptr != NULL)
        bullet(self, "- failure: ", trace->failure_reason);
    bullet(self, "- entrypoint: ", run->entrypoint);
    bullet(self, "- run: ", run->run_id);
    bullet(self, "- phase: ", sc_word(&words_phase, run->phase));
    bullet(self, "- device: ", run->device);
    buf_addf(&self->text, "- capture step: %" PRIu64 ", after %" PRIu64 " warm-up steps",
             run->capture_step, run->warmup_steps);
    end_line(self);
}

/* "partial" as "Partial". */
static void add_level(paper *self, uint8_t level)
{
    cg_str word = capability_level_word(level);

    buf_byte(&self->text, (char)(word.ptr[0] - 'a' + 'A'));
    buf_add(&self->text, (cg_str){word.ptr + 1, word.len - 1});
}

static void write_capabilities(paper *self)
{
    heading(self, "Capabilities");
    line(self, "| capability | level | source | reason |");
    line(self, "| --- | --- | --- | --- |");
    for (unsigned i = 0; i < CAPABILITY_COUNT; i++) {
        const capability *one = &self->view.capabilities.at[i];

        add(self, "| ");
        buf_add(&self->text, capability_title((enum capability_kind)i));
        add(self, " | ");
        add_level(self, one->level);
        add(self, " | ");
        add_foreign(self, one->source);
        add(self, " | ");
        add_foreign(self, one->reason);
        add(self, " |");
        end_line(self);
    }
}

static void write_findings(paper *self)
{
    heading(self, "Findings");
    if (self->view.finding_count == 0)
        line(self, "None.");
    for (size_t i = 0; i < self->view.finding_count; i++) {
        const evidence_finding *finding = &self->view.findings[i];

        add(self, "- ");
        add_foreign(self, finding->summary);
        add(self, " (");
        add_level(self, finding->qualification);
        add(self, ", source ");
        add_foreign(self, finding->source);
        add(self, ")");
        end_line(self);
    }
}

static void write_fact(paper *self, const evidence_fact *fact)
{
    add(self, "- ");
    add_foreign(self, fact->label);
    add(self, ": ");
    switch (fact->value_kind) {
    case FACT_DURATION_NS: buf_addf(&self->text, "%" PRIu64 " ns", fact->number); break;
    case FACT_COUNT: buf_addf(&self->text, "%" PRIu64, fact->number); break;
    case FACT_BYTES: buf_addf(&self->text, "%" PRIu64 " B", fact->number); break;
    default: add_foreign(self, fact->text); break;
    }
    end_line(self);
}

static void write_facts(paper *self)
{
    heading(self, "Facts");
    if (self->view.fact_count == 0)
        line(self, "None.");
    for (size_t i = 0; i < self->view.fact_count; i++)
        write_fact(self, &self->view.facts[i]);
}

static void write_gaps(paper *self)
{
    heading(self, "Gaps");
    if (self->view.gaps.count == 0)
        line(self, "None.");
    for (size_t i = 0; i < self->view.gaps.count && self->code == CG_OK; i++) {
        add(self, "- ");
        add_foreign(self, self->view.gaps.at[i]);
        end_line(self);
    }
}

/* Errors only: warnings are among the gaps. */
static void write_errors(paper *self)
{
    const health_report *health = &self->view.health;
    buf message;

    heading(self, "Structural errors");
    if (health->error_count == 0)
        line(self, "None.");
    buf_init(&message, &self->heap, SIZE_MAX);
    for (size_t i = 0; i < health->issues.count && self->code == CG_OK; i++) {
        const health_issue *issue = &health->issues.at[i];

        if (!issue->is_error)
            continue;
        buf_clear(&message);
        health_message(health, issue, &message);
        self->text.failed = self->text.failed || message.failed;
        add(self, "- ");
        add_foreign(self, health_code_word(issue->code));
        add(self, ": ");
        add_foreign(self, buf_text(&message));
        end_line(self);
    }
    buf_free(&message);
}

cg_code report_write(const evidence *from, cg_sink sink, cg_err *reterr)
{
    paper self = {.sink = sink};

    evidence_view(from, &self.heap, &self.view);
    buf_init(&self.text, &self.heap, SIZE_MAX);
    write_head(&self);
    write_capabilities(&self);
    write_findings(&self);
    write_facts(&self);
    write_gaps(&self);
    write_errors(&self);
    send(&self);
    buf_free(&self.text);
    if (self.code == CG_NOMEM)
        return err_nomem(reterr);
    if (self.code == CG_OUTPUT)
        return cg_fail(reterr, PROBLEM_OUTPUT, "the report could not be written");
    return self.code;
}
