/*
 * text_section - the sections overview, summary and report are made of.
 *
 * Each prints nothing when it has nothing to say. Clocks are named in titles,
 * logical storage and physical memory never share a table, and a capture that
 * is not valid gets no section that draws conclusions (the callers see to it).
 */
#ifndef CG_VIEW_TEXT_SECTION_H
#define CG_VIEW_TEXT_SECTION_H

#include "exec/evidence.h"
#include "view/text_table.h"

typedef struct sections {
    page page;
    heap heap; /* counts for itself: the run stays as it is, whoever else reads it */
    const evidence *from;
    const trace_doc *trace;
} sections;

void section_open(sections *self, const evidence *from, const text_style *style, cg_sink sink);
cg_code section_close(sections *self, cg_err *reterr) CG_MUST;

/* The first lines: what this is, how far it may be trusted, the measured region and its clock. */
void section_verdict(sections *self);
/* Health issues by code, errors or warnings, at most `most` codes. */
void section_issues(sections *self, bool errors, size_t most);
/* The codes of all warnings in one line. */
void section_warnings_in_short(sections *self);
/* Why a failed capture ended, and what was open then. */
void section_failure(sections *self);
/* Own time by span name. */
void section_slowest(sections *self, size_t most);
void section_device_time(sections *self);
/* Peak, what was live at it, what stayed; in a few lines. */
void section_memory(sections *self);
void section_gradients(sections *self, size_t most);
void section_statistics(sections *self);
/* By level, in a few lines; or one row each with its reason. */
void section_capabilities(sections *self, bool with_reasons);
void section_findings(sections *self);
/* Reasons of what is not complete, the nearest first, at most `most` lines. */
void section_gaps(sections *self, size_t most);

/* "N more" below a table that was cut. */
void section_more(sections *self, uint64_t count, const char *how);

#endif
