#include "view/text_join.h"

#include <inttypes.h>

typedef struct telling {
    page page;
    const join_doc *doc;
    const text_style *style;
    buf line; /* one cell or line in the making */
} telling;

#define NAMES 5u /* names in one line */

#define ROW(list, type, index) (&((const type *)(list)->rows.at)[index])

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void line_end(telling *self)
{
    page_end(&self->page);
}

static void put_place(buf *out, const model_location *at)
{
    if (at == NULL)
        return;
    buf_add(out, at->file);
    buf_addf(out, ":%" PRIu64, at->line);
}

/* The type or function and its method: `RmsNorm::forward` of `candle_nn::RmsNorm::forward`. */
static cg_str short_name(cg_str name)
{
    unsigned parts = 0;

    for (size_t at = name.len; at > 1; at--) {
        if (name.ptr[at - 1] == ':' && name.ptr[at - 2] == ':') {
            if (++parts == 2)
                return (cg_str){name.ptr + at, name.len - at};
            at--;
        }
    }
    return name;
}

/* Names behind a title, wrapped. */
static void say_line(telling *self, enum ink ink, size_t indent, size_t hang)
{
    safe_add(&self->page.say, buf_text(&self->line), 0);
    page_check(&self->page, &self->line);
    buf_clear(&self->line);
    page_paragraph(&self->page, ink, indent, hang);
}

static void say_more(telling *self, uint64_t count)
{
    if (count == 0)
        return;
    page_ink(&self->page, INK_DIM);
    page_putf(&self->page, "  ... and %" PRIu64 " more", count);
    page_ink(&self->page, INK_PLAIN);
    line_end(self);
}

/* Rows of a list behind those that are told. */
static uint64_t left_of(uint64_t total, uint64_t offset, uint64_t told)
{
    return total > offset + told ? total - offset - told : 0;
}

static void say_good(telling *self, const char *text)
{
    page_ink(&self->page, INK_GOOD);
    page_putf(&self->page, "  %s", text);
    page_ink(&self->page, INK_PLAIN);
    line_end(self);
}

/* --- head --- */

static void say_run(telling *self, const join_run *run)
{
    page *out = &self->page;

    page_putf(out, "  run %" PRIu64 "  ", run->run);
    page_name(out, run->path, 48);
    page_put(out, "  ");
    page_name(out, run->run_id, 32);
    page_putf(out, "  %s step %" PRIu64 ", ",
              run->phase == PHASE_INFER ? "inference," : "training,", run->capture_step);
    page_ink(out, run->worth == JOIN_WORTH_FULL ? INK_GOOD : INK_WARN);
    page_put(out, run->worth == JOIN_WORTH_FULL         ? "complete"
                  : run->worth == JOIN_WORTH_DIAGNOSTIC ? "failed, diagnostic only"
                                                        : "not used");
    page_ink(out, INK_PLAIN);
    line_end(self);
    if (run->reason.ptr != NULL) {
        safe_add(&out->say, run->reason, 0);
        page_paragraph(out, INK_DIM, 4, 4);
    }
}

static void say_head(telling *self)
{
    const join_doc *doc = self->doc;
    const join_crate *crate = doc->crate;
    const join_run *runs = doc->runs.at;
    const join_summary *summary = doc->summary;

    page_ink(&self->page, INK_TITLE);
    page_name(&self->page, crate->package.ptr != NULL ? crate->package : CG_LIT("the crate"), 0);
    page_ink(&self->page, INK_PLAIN);
    page_putf(&self->page, "  and %zu run%s of it", doc->runs.count, plural(doc->runs.count));
    line_end(self);
    for (size_t i = 0; i < doc->runs.count && i < self->style->rows; i++)
        say_run(self, &runs[i]);
    say_more(self, doc->runs.count > self->style->rows ? doc->runs.count - self->style->rows : 0);
    for (size_t i = 0; i < summary->cannot_tell.count; i++) {
        buf_addf(&self->line, "cannot tell ");
        buf_add(&self->line, summary->cannot_tell.at[i]);
        say_line(self, INK_WARN, 2, 4);
    }
}

/* --- what never ran --- */

static bool has_full_run(const telling *self)
{
    const join_run *runs = self->doc->runs.at;

    for (size_t i = 0; i < self->doc->runs.count; i++) {
        if (runs[i].worth == JOIN_WORTH_FULL)
            return true;
    }
    return false;
}

static bool is_component(const join_absents *list, size_t index)
{
    return ROW(list, join_absent, index)->kind == JOIN_ITEM_COMPONENT;
}

static void say_absent_row(table *out, const join_absent *row)
{
    table_text(out, sc_word(&words_join_item, row->kind).ptr);
    table_name(out, NULL, row->name);
    put_place(table_cell_text(out), row->location);
    table_end_name(out);
    table_text(out, sc_word(&words_join_basis, row->basis).ptr);
    table_row(out);
}

/* Components stand last and share a line: a library has many, and a run uses one. */
static void say_absent_components(telling *self, const join_absents *list, size_t first)
{
    size_t count = list->rows.count - first;

    if (count == 0)
        return;
    buf_addf(&self->line, "nothing of %s%zu component%s: ",
             list->offset + list->returned < list->total ? "at least " : "", count, plural(count));
    for (size_t i = 0; i < count && i < NAMES; i++) {
        buf_addf(&self->line, "%s", i > 0 ? ", " : "");
        buf_add(&self->line, ROW(list, join_absent, first + i)->name);
    }
    if (count > NAMES)
        buf_addf(&self->line, " and %zu more", count - NAMES);
    say_line(self, INK_DIM, 2, 4);
}

static void say_absent(telling *self)
{
    const join_absents *list = self->doc->declared_not_executed;
    size_t shown = 0;
    size_t rows = 0;
    table out;

    page_title(&self->page, "Never ran", NULL);
    if (list->rows.count == 0) {
        say_good(self, has_full_run(self) ? "nothing that would have been recorded is missing"
                                          : "nothing can be said");
        return;
    }
    while (rows < list->rows.count && !is_component(list, rows))
        rows++;
    table_open(&out, &self->page, 2);
    table_column(&out, COLUMN_WORD, "%s", "");
    table_column(&out, COLUMN_WHOLE, "%s", "declared");
    table_column(&out, COLUMN_NAME, "%s", "at");
    table_column(&out, COLUMN_WORD, "%s", "because");
    for (; shown < rows && shown < self->style->rows; shown++)
        say_absent_row(&out, ROW(list, join_absent, shown));
    table_close(&out);
    say_more(self, rows - shown);
    say_absent_components(self, list, rows);
}

/* --- what never learned --- */

static const join_reason *first_reason(const join_starved *row)
{
    return row->explained_by.count > 0 ? row->explained_by.at : NULL;
}

static bool is_same_finding(const join_reason *a, const join_reason *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return str_equal(a->finding, b->finding);
}

static void put_states(buf *out, const join_states *states)
{
    uint64_t all = states->present + states->missing + states->zero + states->non_finite;

    if (states->missing == all)
        buf_addf(out, "missing");
    else if (states->zero == all)
        buf_addf(out, "zero");
    else if (states->present == all)
        buf_addf(out, "present");
    else
        buf_addf(out, "%" PRIu64 " of %" PRIu64 " missing or zero", states->missing + states->zero,
                 all);
}

static cg_str last_part(cg_str key)
{
    size_t dot = str_find_last(key, '.');

    return dot == SIZE_MAX ? key : (cg_str){key.ptr + dot + 1, key.len - dot - 1};
}

static void put_reason(buf *out, const join_reason *reason)
{
    if (reason == NULL) {
        buf_addf(out, "no finding explains it");
        return;
    }
    buf_add(out, reason->operation.ptr != NULL ? short_name(reason->operation) : reason->code);
}

/* Where the parameter stands: in the source, so that equal layers are one, or in the run. */
static cg_str layer_of(const join_starved *row)
{
    cg_str key = row->template_key.ptr != NULL ? row->template_key : row->key;
    size_t dot = str_find_last(key, '.');

    return dot == SIZE_MAX ? CG_LIT("") : (cg_str){key.ptr, dot};
}

static bool is_same_states(const join_states *a, const join_states *b)
{
    return a->present == b->present && a->missing == b->missing && a->zero == b->zero &&
           a->non_finite == b->non_finite;
}

static bool is_same_layer(const join_starved *a, const join_starved *b)
{
    return str_equal(layer_of(a), layer_of(b)) && a->is_learning == b->is_learning &&
           is_same_states(a->states, b->states) && str_equal(a->root, b->root) &&
           is_same_finding(first_reason(a), first_reason(b));
}

#define PARTS 6u /* names of parameters of a layer that are told */

/* The rows of one layer, as one line; those that are told are marked. How many. */
static uint64_t say_layer(telling *self, table *out, const join_starveds *list, size_t at,
                          bool *is_told)
{
    const join_starved *first = ROW(list, join_starved, at);
    cg_str layer = layer_of(first);
    cg_str parts[PARTS];
    size_t part_count = 0;
    uint64_t members = 0;
    buf *cell;

    for (size_t i = at; i < list->rows.count; i++) {
        const join_starved *row = ROW(list, join_starved, i);
        cg_str part = last_part(row->key);
        size_t known = 0;

        if (is_told[i] || !is_same_layer(first, row))
            continue;
        is_told[i] = true;
        members++;
        while (known < part_count && !str_equal(parts[known], part))
            known++;
        if (known == part_count && part_count < PARTS)
            parts[part_count++] = part;
    }
    table_name(out, NULL, layer.len > 0 ? layer : first->root);
    cell = table_cell_text(out);
    for (size_t i = 0; i < part_count; i++) {
        buf_addf(cell, "%s", i > 0 ? ", " : "");
        buf_add(cell, parts[i]);
    }
    if (members > part_count)
        buf_addf(cell, " (%" PRIu64 " in all)", members);
    table_end_name(out);
    put_states(table_cell_text(out), first->states);
    table_end_cell(out);
    put_reason(table_cell_text(out), first_reason(first));
    table_end_name(out);
    put_place(table_cell_text(out),
              first_reason(first) != NULL ? first_reason(first)->location : first->location);
    table_end_name(out);
    table_row(out);
    (void)self;
    return members;
}

/* Lines for layers that never learned, or now and then. Counts the rows they stand for. */
static size_t say_starved(telling *self, table *out, const join_starveds *list, bool is_learning,
                          size_t room, uint64_t *io_rows)
{
    size_t count = list->rows.count;
    bool *is_told = heap_resize(self->page.heap, NULL, 0, count + 1);
    size_t lines = 0;

    if (is_told == NULL) {
        page_nomem(&self->page);
        return 0;
    }
    memset(is_told, 0, count + 1);
    for (size_t i = 0; i < count && lines < room; i++) {
        if (is_told[i] || ROW(list, join_starved, i)->is_learning != is_learning)
            continue;
        *io_rows += say_layer(self, out, list, i, is_told);
        lines++;
    }
    heap_resize(self->page.heap, is_told, count + 1, 0);
    return lines;
}

static void starved_columns(telling *self, table *out, const char *reason)
{
    table_open(out, &self->page, 2);
    table_column(out, COLUMN_WHOLE, "%s", "module");
    table_column(out, COLUMN_NAME, "%s", "parameters");
    table_column(out, COLUMN_WORD, "%s", "gradient");
    table_column(out, COLUMN_NAME, "%s", reason);
    table_column(out, COLUMN_NAME, "%s", "at");
}

static uint64_t starved_table(telling *self, bool is_learning)
{
    table out;
    size_t lines;
    uint64_t rows = 0;

    starved_columns(self, &out, "because of");
    lines = say_starved(self, &out, self->doc->explained, is_learning, self->style->rows, &rows);
    say_starved(self, &out, self->doc->unexplained, is_learning, self->style->rows - lines, &rows);
    table_close(&out);
    return rows;
}

/* Every finding that explains something, once, in the order of the rows. */
static void say_reasons(telling *self, const join_starveds *list, bool has_mend)
{
    const join_reason *told[16];
    size_t count = 0;

    for (size_t i = 0; i < list->rows.count && count < 16; i++) {
        const join_reason *reason = first_reason(ROW(list, join_starved, i));
        bool is_new = true;

        for (size_t k = 0; k < count; k++)
            is_new = is_new && !is_same_finding(told[k], reason);
        if (!is_new)
            continue;
        if (count == 0)
            line_end(self);
        told[count++] = reason;
        put_place(&self->line, reason->location);
        if (reason->function.ptr != NULL) {
            buf_addf(&self->line, " in ");
            buf_add(&self->line, reason->function);
        }
        buf_addf(&self->line, ": ");
        buf_add(&self->line, reason->message);
        buf_addf(&self->line, " (");
        buf_add(&self->line, sc_word(&words_model_confidence, reason->confidence));
        if (reason->condition.ptr != NULL) {
            buf_addf(&self->line, ", ");
            buf_add(&self->line, reason->condition);
        }
        buf_addf(&self->line, ")");
        say_line(self, INK_PLAIN, 2, 4);
        if (has_mend && reason->help.ptr != NULL) {
            buf_addf(&self->line, "mend: ");
            buf_add(&self->line, reason->help);
            say_line(self, INK_GOOD, 4, 10);
        }
    }
}

/* --- where the planes disagree --- */

/* The rows as those of gradients that did not come, told in the same way. */
static void say_disputed_rows(telling *self, const join_disputeds *list, join_starved *rows)
{
    join_starveds as_starved = {.total = list->total,
                                .returned = list->returned,
                                .offset = list->offset,
                                .is_truncated = list->is_truncated,
                                .rows = {rows, list->rows.count}};
    uint64_t told = 0;
    table out;

    for (size_t i = 0; i < list->rows.count; i++) {
        const join_disputed *row = ROW(list, join_disputed, i);

        rows[i] = (join_starved){.key = row->key,
                                 .root = row->root,
                                 .template_key = row->template_key,
                                 .location = row->location,
                                 .states = row->states,
                                 .explained_by = row->denied_by};
    }
    starved_columns(self, &out, "denied by");
    say_starved(self, &out, &as_starved, false, self->style->rows, &told);
    table_close(&out);
    say_more(self, left_of(list->total, list->offset, told));
    say_reasons(self, &as_starved, false);
}

static void say_disputed(telling *self)
{
    const join_disputeds *list = self->doc->contradicted;
    const join_summary *summary = self->doc->summary;
    const join_learning *gradients = summary->gradients;
    size_t size = (list->rows.count + 1) * sizeof(join_starved);
    join_starved *rows;

    if (list->total == 0)
        return;
    page_title(&self->page, "Run and source disagree", "(what is true of these is unknown)");
    page_ink(&self->page, INK_WARN);
    page_putf(&self->page,
              "  %" PRIu64 " of %" PRIu64
              " gradients came, and a proven finding says that none can",
              gradients->contradicted, gradients->observed);
    page_ink(&self->page, INK_PLAIN);
    line_end(self);
    rows = heap_resize(self->page.heap, NULL, 0, size);
    if (rows == NULL) {
        page_nomem(&self->page);
        return;
    }
    say_disputed_rows(self, list, rows);
    heap_resize(self->page.heap, rows, size, 0);
    buf_addf(&self->line, "next: see that the run was made by this source, with the features and "
                          "the target that were analysed; if it was, the finding is wrong here");
    say_line(self, INK_GOOD, 2, 8);
}

/* --- what never learned, in all --- */

static bool has_learning(const join_starveds *list, bool is_learning)
{
    for (size_t i = 0; i < list->rows.count; i++) {
        if (ROW(list, join_starved, i)->is_learning == is_learning)
            return true;
    }
    return false;
}

static void say_learning(telling *self)
{
    const join_summary *summary = self->doc->summary;
    const join_learning *gradients = summary->gradients;
    const join_starveds *explained = self->doc->explained;
    const join_starveds *unexplained = self->doc->unexplained;
    uint64_t told = 0;

    if (gradients->observed == 0) {
        page_title(&self->page, "Never learned", "(no run recorded gradients)");
        return;
    }
    page_title(&self->page, "Never learned", NULL);
    if (gradients->never_learned > gradients->zero) {
        page_putf(&self->page,
                  "  %" PRIu64 " of %" PRIu64 " gradients never came, %" PRIu64
                  " of them explained by the source",
                  gradients->never_learned - gradients->zero, gradients->observed,
                  gradients->explained);
        line_end(self);
    }
    if (gradients->zero > 0) {
        buf_addf(
            &self->line,
            "%" PRIu64 " of %" PRIu64 " gradients came and were zero, which no call that keeps "
            "gradients back does; look for what makes them zero: a mask, a factor, a saturated "
            "function",
            gradients->zero, gradients->observed);
        say_line(self, INK_PLAIN, 2, 4);
    }
    if (gradients->never_learned == 0)
        say_good(self, "every parameter with a recorded gradient had one");
    else
        told = starved_table(self, false);
    if (gradients->running > 0) {
        page_putf(&self->page,
                  "  left out: %" PRIu64 " running statistic%s, which no gradient is meant for",
                  gradients->running, gradients->running == 1 ? "" : "s");
        line_end(self);
    }
    if (has_learning(explained, true) || has_learning(unexplained, true)) {
        page_title(&self->page, "Learned now and then", NULL);
        told += starved_table(self, true);
    }
    say_more(self, left_of(explained->total + unexplained->total, explained->offset, told));
    say_reasons(self, explained, true);
    say_disputed(self);
}

/* --- what was not finite --- */

static void say_broken(telling *self, const join_broken *row)
{
    buf *line = &self->line;

    buf_addf(line, "run %" PRIu64 ": ", row->run);
    buf_add(line, row->label);
    if (row->record == JOIN_RECORD_GRADIENT) {
        buf_addf(line, ": its gradient");
    } else {
        buf_addf(line, ", %" PRIu64 " of %" PRIu64, row->non_finite, row->elements);
        if (row->span.ptr != NULL) {
            buf_addf(line, " in ");
            buf_add(line, row->span);
        }
        if (row->operation.ptr != NULL) {
            buf_addf(line, " by ");
            buf_add(line, row->operation);
        }
        buf_addf(line, " (");
        buf_add(line, sc_word(&words_join_part, row->part));
        buf_addf(line, ")");
    }
    say_line(self,
             row->part == JOIN_PART_ORIGIN || row->part == JOIN_PART_PRODUCER ? INK_BAD : INK_PLAIN,
             2, 4);
}

static bool is_same_call(const join_hazard *a, const join_hazard *b)
{
    const model_location *left = a->location;
    const model_location *right = b->location;

    return left != NULL && right != NULL && left->byte_start == right->byte_start &&
           str_equal(left->file, right->file) && a->verdict == b->verdict;
}

/* The hazards [at, end) of one call: the first in full, of the others what differs. */
static void say_hazards_of_call(telling *self, const join_hazards *list, size_t at, size_t end)
{
    const join_hazard *row = ROW(list, join_hazard, at);
    buf *line = &self->line;

    buf_addf(line, "%s ", row->verdict == JOIN_VERDICT_SHOWN ? "shows" : "fits");
    buf_add(line, row->code);
    for (size_t i = at + 1; i < end; i++) {
        buf_addf(line, ", ");
        buf_add(line, ROW(list, join_hazard, i)->code);
    }
    buf_addf(line, " at ");
    put_place(line, row->location);
    if (row->function.ptr != NULL) {
        buf_addf(line, " in ");
        buf_add(line, row->function);
    }
    buf_addf(line, ": ");
    buf_add(line, row->message);
    say_line(self, INK_WARN, 2, 4);
    for (size_t i = at; i < end; i++) {
        if (ROW(list, join_hazard, i)->help.ptr == NULL)
            continue;
        buf_addf(line, "mend: ");
        buf_add(line, ROW(list, join_hazard, i)->help);
        say_line(self, INK_GOOD, 4, 10);
    }
}

static void say_hazards(telling *self, const join_hazards *list)
{
    size_t told = 0;

    for (size_t at = 0, end; at < list->rows.count && told < self->style->rows; at = end, told++) {
        end = at + 1;
        while (end < list->rows.count &&
               is_same_call(ROW(list, join_hazard, at), ROW(list, join_hazard, end)))
            end++;
        say_hazards_of_call(self, list, at, end);
    }
}

/* Origins and producers first, then what nobody decides, then what only followed. */
static void say_numbers(telling *self)
{
    static const uint8_t parts[] = {JOIN_PART_ORIGIN, JOIN_PART_PRODUCER, JOIN_PART_UNDECIDED,
                                    JOIN_PART_PROPAGATOR};
    const join_brokens *list = self->doc->non_finite;
    size_t told = 0;

    page_title(&self->page, "Not finite", NULL);
    if (list->total == 0) {
        say_good(self, "no recorded value or gradient");
        return;
    }
    for (size_t part = 0; part < sizeof parts; part++) {
        for (size_t i = 0; i < list->rows.count && told < self->style->rows; i++) {
            if (ROW(list, join_broken, i)->part != parts[part])
                continue;
            say_broken(self, ROW(list, join_broken, i));
            told++;
        }
    }
    say_more(self, left_of(list->total, list->offset, told));
    say_hazards(self, self->doc->hazards);
}

/* --- what was recorded --- */

static void say_count(table *out, const char *word, const join_count *count)
{
    if (count->declared == 0)
        return;
    table_text(out, word);
    table_number(out, count->observed);
    table_number(out, count->declared);
    table_row(out);
}

static void say_counts(telling *self)
{
    const join_summary *summary = self->doc->summary;
    table out;

    page_title(&self->page, "Recorded", "(what the names of the runs could be matched to)");
    table_open(&out, &self->page, 2);
    table_column(&out, COLUMN_WORD, "%s", "");
    table_column(&out, COLUMN_NUMBER, "%s", "recorded");
    table_column(&out, COLUMN_NUMBER, "%s", "declared");
    say_count(&out, "components", summary->components);
    say_count(&out, "modules", summary->modules);
    say_count(&out, "functions", summary->functions);
    say_count(&out, "operations", summary->operations);
    say_count(&out, "parameters", summary->parameters);
    say_count(&out, "tensors", summary->tensors);
    table_close(&out);
}

static void say_strangers(telling *self)
{
    const join_strangers *list = self->doc->executed_not_declared;
    size_t shown = 0;
    table out;

    if (list->total == 0)
        return;
    page_title(&self->page, "Recorded, but not declared", "(names that fit nothing in the source)");
    table_open(&out, &self->page, 2);
    table_column(&out, COLUMN_WORD, "%s", "");
    table_column(&out, COLUMN_NAME, "%s", "name");
    table_column(&out, COLUMN_NUMBER, "%s", "records");
    for (; shown < list->rows.count && shown < self->style->rows; shown++) {
        const join_stranger *row = ROW(list, join_stranger, shown);

        table_text(&out, sc_word(&words_join_record, row->record).ptr);
        table_name(&out, NULL, row->name);
        table_number(&out, row->count);
        table_row(&out);
    }
    table_close(&out);
    say_more(self, left_of(list->total, list->offset, shown));
}

static void say_doubts(telling *self)
{
    const join_doubts *list = self->doc->ambiguous;
    size_t shown = 0;
    table out;

    if (list->total == 0)
        return;
    page_title(&self->page, "Ambiguous", "(names that fit several things; none was chosen)");
    table_open(&out, &self->page, 2);
    table_column(&out, COLUMN_WORD, "%s", "");
    table_column(&out, COLUMN_NAME, "%s", "name");
    table_column(&out, COLUMN_NUMBER, "%s", "records");
    table_column(&out, COLUMN_NUMBER, "%s", "candidates");
    for (; shown < list->rows.count && shown < self->style->rows; shown++) {
        const join_doubt *row = ROW(list, join_doubt, shown);

        table_text(&out, sc_word(&words_join_record, row->record).ptr);
        table_name(&out, NULL, row->name);
        table_number(&out, row->count);
        table_number(&out, row->candidate_count);
        table_row(&out);
    }
    table_close(&out);
    say_more(self, left_of(list->total, list->offset, shown));
}

cg_code text_join(heap *from, const join_doc *doc, const text_style *style, cg_sink sink,
                  cg_err *reterr)
{
    telling self = {.doc = doc, .style = style};

    page_open(&self.page, from, style, sink);
    buf_init(&self.line, from, SIZE_MAX / 2);
    say_head(&self);
    say_absent(&self);
    say_learning(&self);
    say_numbers(&self);
    say_counts(&self);
    say_strangers(&self);
    say_doubts(&self);
    buf_free(&self.line);
    return page_close(&self.page, reterr);
}
