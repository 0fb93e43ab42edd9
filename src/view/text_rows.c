#include "view/text_rows.h"

window window_of(const sections *to, const document_query *query)
{
    window ret = {0, to->page.style->rows, 0, 0};

    if (query != NULL && query->has_limit) {
        ret.offset = query->offset;
        ret.limit = query->limit;
    }
    return ret;
}

bool window_takes(window *self)
{
    uint64_t at = self->matched++;

    if (at < self->offset || self->shown >= self->limit)
        return false;
    self->shown++;
    return true;
}

void window_note(sections *to, const window *self)
{
    if (self->matched == 0) {
        page_put(&to->page, "  none");
        page_end(&to->page);
    } else if (self->shown == 0) {
        page_putf(&to->page, "  none of %llu", (unsigned long long)self->matched);
        page_end(&to->page);
    } else if (self->offset + self->shown < self->matched) {
        section_more(to, self->matched - self->offset - self->shown,
                     "--rows, --limit and --offset, or --all show them");
    }
}

bool query_passes(const document_query *query, cg_str label)
{
    if (query == NULL)
        return true;
    if (query->label.ptr != NULL)
        return str_equal(label, query->label);
    return query->label_prefix.ptr == NULL || str_starts_with(label, query->label_prefix);
}

cg_str symbol_text(const sections *to, sym symbol)
{
    return symbol == 0 ? (cg_str){NULL, 0} : trace_text(to->trace, symbol);
}

void page_say_name(sections *to, cg_str name)
{
    buf_byte(&to->page.say, '`');
    safe_add(&to->page.say, name, 80);
    buf_byte(&to->page.say, '`');
}

void page_say_symbol(sections *to, sym symbol)
{
    page_say_name(to, trace_text(to->trace, symbol));
}

void table_shape(sections *to, table *rows, trace_shape shape)
{
    sc_u64s axes = trace_axes(to->trace, shape);

    number_shape(table_cell_text(rows), axes.at, axes.count);
    table_end_cell(rows);
}
