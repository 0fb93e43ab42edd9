#include "view/text_origin.h"

#include "exec/questions.h"
#include "view/text_rows.h"

static cg_str span_name(const sections *to, sym span_id)
{
    uint32_t span = trace_span_of(to->trace, span_id);

    return trace_text(to->trace, span != TRACE_NONE ? to->trace->spans.at[span].name : span_id);
}

static void say_place(sections *to, const origin_row *row)
{
    page_say_symbol(to, row->label);
    buf_addf(&to->page.say, " (%llu of %llu values) in span ", (unsigned long long)row->non_finite,
             (unsigned long long)row->elements);
    page_say_name(to, span_name(to, row->span_id));
}

static void say_inputs(sections *to, const origin_answer *answer, const origin_row *row)
{
    for (uint32_t i = 0; i < row->inputs_count && i < 6; i++) {
        buf_add(&to->page.say, i == 0 ? CG_LIT(" from finite ") : CG_LIT(", "));
        page_say_symbol(to, answer->names.at[row->inputs_at + i]);
    }
    if (row->inputs_count > 6)
        buf_addf(&to->page.say, " and %u more", row->inputs_count - 6);
}

static void origin_sentence(sections *to, const origin_answer *answer, const origin_row *row)
{
    if (row->operation == 0) {
        say_place(to, row);
        buf_add(&to->page.say, CG_LIT(": the parameter was already not finite, no operation of "
                                      "this capture made it so"));
    } else {
        buf_add(&to->page.say, CG_LIT("operation "));
        page_say_symbol(to, row->operation);
        buf_add(&to->page.say, CG_LIT(" made "));
        say_place(to, row);
        say_inputs(to, answer, row);
    }
}

static void origin_list(sections *to, const char *title, const origin_row *rows, size_t count)
{
    uint64_t most = to->page.style->rows;

    if (count == 0)
        return;
    page_title(&to->page, title, NULL);
    for (size_t i = 0; i < count && i < most; i++) {
        say_place(to, &rows[i]);
        if (rows[i].operation != 0) {
            buf_add(&to->page.say, CG_LIT(", by operation "));
            page_say_symbol(to, rows[i].operation);
        }
        page_paragraph(&to->page, INK_PLAIN, 2, 4);
    }
    if (count > most)
        section_more(to, count - most, "--rows N shows them");
}

static void origin_verdict(sections *to, const origin_answer *answer)
{
    if (to->trace->stats.count == 0) {
        buf_add(&to->page.say, CG_LIT("no tensor statistics were recorded, so nothing is known "
                                      "about non-finite values"));
        page_paragraph(&to->page, INK_WARN, 2, 4);
        buf_add(
            &to->page.say,
            CG_LIT(
                "next: record statistics of the loss and of what the layers return, and the "
                "operations between them with their inputs and outputs "
                "(`cg_record_tensor_stats`, `record_tensor_stats`); statistics of the loss alone "
                "tell that it broke, not where"));
        page_paragraph(&to->page, INK_GOOD, 2, 8);
    } else if (answer->non_finite_labels == 0) {
        buf_addf(&to->page.say, "✓ every value of the %zu recorded statistics is finite",
                 to->trace->stats.count);
        page_paragraph(&to->page, INK_GOOD, 2, 4);
    } else if (answer->has_origin) {
        buf_add(&to->page.say, CG_LIT("✗ "));
        origin_sentence(to, answer, &answer->origin);
        page_paragraph(&to->page, INK_BAD, 2, 4);
    } else if (answer->cannot_tell) {
        buf_add(&to->page.say, CG_LIT("! cannot tell: the earliest non-finite value is "));
        if (answer->has_earliest)
            say_place(to, &answer->earliest);
        buf_add(&to->page.say, CG_LIT(", and what it was made from was not recorded"));
        page_paragraph(&to->page, INK_WARN, 2, 4);
    } else {
        buf_addf(&to->page.say, "! %llu labels are not finite, and none is known to have made it",
                 (unsigned long long)answer->non_finite_labels);
        page_paragraph(&to->page, INK_WARN, 2, 4);
    }
}

cg_code text_origin(sections *to, cg_err *reterr)
{
    origin_answer answer;

    CG_TRY(origin_find(&to->heap, to->from, &answer, reterr));
    page_title(&to->page, "Origin of non-finite values", NULL);
    origin_verdict(to, &answer);
    for (size_t i = 0; i < answer.unrecorded_inputs.count && i < 12; i++) {
        buf_add(&to->page.say,
                i == 0 ? CG_LIT("record statistics of these to know more: ") : CG_LIT(", "));
        page_say_symbol(to, answer.unrecorded_inputs.at[i]);
    }
    if (answer.unrecorded_inputs.count > 0)
        page_paragraph(&to->page, INK_PLAIN, 2, 4);
    origin_list(to, answer.has_origin ? "Made elsewhere too" : "Known to have made some",
                answer.other_producers.at, answer.other_producers.count);
    origin_list(to, "Passed on", answer.propagators.at, answer.propagators.count);
    origin_free(&answer);
    return CG_OK;
}

cg_code text_nan_origin(sections *to, const document_query *query, cg_err *reterr)
{
    (void)query;
    return text_origin(to, reterr);
}
