#include "view/text_recovery.h"

#include "view/text_table.h"

static unsigned long long wide(uint64_t value)
{
    return value;
}

static void put_head(page *to, const rec_recovery *account)
{
    page_ink(to, INK_GOOD);
    page_put(to, "recovered ");
    page_ink(to, INK_PLAIN);
    page_putf(to, "%llu record%s of ", wide(account->records_recovered),
              account->records_recovered == 1 ? "" : "s");
    page_name(to, account->input, 0);
    page_put(to, " as a failed capture: ");
    page_name(to, account->output, 0);
    page_end(to);
}

static void put_losses(page *to, const rec_recovery *account)
{
    const rec_recovery_cut *cut = account->cut_off;

    if (cut != NULL) {
        page_ink(to, INK_WARN);
        page_putf(to, "  left out: %llu bytes from byte %llu on (line %llu), which are not whole",
                  wide(cut->bytes), wide(cut->offset), wide(cut->line));
        page_ink(to, INK_PLAIN);
        page_end(to);
    }
    if (account->records_dropped > 0) {
        page_ink(to, INK_WARN);
        page_putf(to, "  lost while recording: %llu records found a full ring",
                  wide(account->records_dropped));
        page_ink(to, INK_PLAIN);
        page_end(to);
    }
}

/* Outermost first; the rest of a long list is counted. */
static void put_open_spans(page *to, const rec_recovery *account)
{
    const rec_recovery_span *spans = account->open_spans.at;
    size_t count = account->open_spans.count;
    size_t shown = count < to->style->rows ? count : (size_t)to->style->rows;
    unit in = unit_time(count > 0 ? spans[count - 1].start_ns : 0);
    table rows;

    if (count == 0) {
        page_put(to, "  no span was open");
        page_end(to);
        return;
    }
    page_title(to, "Open at the end", "(outermost first)");
    table_open(&rows, to, 2);
    table_column(&rows, COLUMN_NAME, "span");
    table_column(&rows, COLUMN_WORD, "id");
    table_column(&rows, COLUMN_NUMBER, "began at %s", in.word);
    for (size_t i = 0; i < shown; i++) {
        table_name(&rows, "", spans[i].name);
        table_name(&rows, "", spans[i].id);
        table_amount(&rows, (opt_u64){.value = spans[i].start_ns, .is_set = true}, in);
        table_row(&rows);
    }
    table_close(&rows);
    if (shown < count) {
        page_putf(to, "  … and %llu more; --rows shows them", wide(count - shown));
        page_end(to);
    }
}

cg_code text_recovery(heap *from, const rec_recovery *account, const text_style *style,
                      cg_sink sink, cg_err *reterr)
{
    page to;

    page_open(&to, from, style, sink);
    put_head(&to, account);
    put_losses(&to, account);
    put_open_spans(&to, account);
    return page_close(&to, reterr);
}
