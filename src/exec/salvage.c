#include "exec/salvage.h"

#include <stdlib.h>

#include "base/num.h"

#define NAMES_IN_REASON 32u

/* Where the last line that is not blank begins; text.len when there is none. Ends are trimmed. */
static size_t last_line(cg_str text, uint64_t *ret_number)
{
    size_t start = 0;
    size_t found = text.len;
    uint64_t number = 0;

    while (start < text.len) {
        const char *end = memchr(text.ptr + start, '\n', text.len - start);
        size_t next = end == NULL ? text.len : (size_t)(end - text.ptr) + 1;

        number++;
        if (!str_is_blank((cg_str){text.ptr + start, next - start})) {
            found = start;
            *ret_number = number;
        }
        start = next;
    }
    return found;
}

static cg_code write_terminal(heap *own, cg_sink out, uint64_t timestamp_ns, cg_str reason,
                              cg_err *reterr)
{
    const rec_terminal terminal = {
        .outcome = OUTCOME_FAILED, .timestamp_ns = timestamp_ns, .reason = reason};
    jsonw json;

    CG_TRY(jw_init(&json, own, out, false, false));
    sc_write(&json, &table_terminal, &terminal);
    CG_TRY(jw_finish(&json, reterr));
    return out.write(out.context, "\n", 1);
}

static cg_code add_to_buf(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

/*
 * Read `text` with a terminal behind it that no record can come after: only to let the reader
 * judge the rest.
 */
static cg_code try_read(const cg_env *env, buf *room, cg_str text, trace_doc **ret, cg_err *reterr)
{
    buf_clear(room);
    buf_add(room, text);
    if (text.len > 0 && text.ptr[text.len - 1] != '\n') {
        buf_byte(room, '\n');
    }
    CG_TRY(
        write_terminal(room->heap, (cg_sink){room, add_to_buf}, UINT64_MAX, CG_LIT("cut"), reterr));
    if (room->failed) {
        return err_nomem(reterr);
    }
    return trace_read_text(env, buf_text(room), ret, reterr);
}

static void see(uint64_t *latest, uint64_t start, uint64_t duration)
{
    uint64_t end = num_sat_add(start, duration);

    *latest = end > *latest ? end : *latest;
}

/* The latest host time of the records, which the terminal must not precede. */
static uint64_t latest_ns(const trace_doc *doc)
{
    uint64_t latest = 0;

    for (size_t i = 0; i < doc->spans.count; i++) {
        see(&latest, doc->spans.at[i].start_ns, doc->spans.at[i].duration_ns);
    }
    for (size_t i = 0; i < doc->ops.count; i++) {
        see(&latest, doc->ops.at[i].timestamp_ns, doc->ops.at[i].duration_ns);
    }
    for (size_t i = 0; i < doc->memory.count; i++) {
        see(&latest, doc->memory.at[i].timestamp_ns, 0);
    }
    for (size_t i = 0; i < doc->samples.count; i++) {
        see(&latest, doc->samples.at[i].timestamp_ns, 0);
    }
    return latest;
}

typedef struct open_span {
    uint32_t order;
    rec_recovery_span span;
} open_span;

static int compare_open(const void *a, const void *b)
{
    uint32_t one = ((const open_span *)a)->order;
    uint32_t two = ((const open_span *)b)->order;

    return one < two ? -1 : one > two;
}

/* Open spans in the order in which they began: a span comes before what is inside it. */
static cg_code list_open(const trace_doc *doc, arena *mem, sc_records *ret, cg_err *reterr)
{
    size_t count = 0;
    size_t at = 0;

    for (size_t i = 0; i < doc->spans.count; i++) {
        count += !doc->spans.at[i].is_closed;
    }
    open_span *open = arena_zero(mem, (count + 1) * sizeof *open);
    rec_recovery_span *spans = arena_zero(mem, (count + 1) * sizeof *spans);
    if (open == NULL || spans == NULL) {
        return err_nomem(reterr);
    }
    for (size_t i = 0; i < doc->spans.count; i++) {
        const trace_span *span = &doc->spans.at[i];

        if (span->is_closed) {
            continue;
        }
        open[at].order = span->order;
        open[at].span.start_ns = span->start_ns;
        if (!arena_text(mem, trace_text(doc, span->id), &open[at].span.id) ||
            !arena_text(mem, trace_text(doc, span->name), &open[at].span.name)) {
            return err_nomem(reterr);
        }
        at++;
    }
    if (count > 0) {
        qsort(open, count, sizeof *open, compare_open);
    }
    for (size_t i = 0; i < count; i++) {
        spans[i] = open[i].span;
    }
    *ret = (sc_records){spans, count};
    return CG_OK;
}

/* `recovered 7 records; open at the end: a, b`: 32 names, then how many more. */
static cg_code salvage_reason(arena *mem, uint64_t records, uint64_t dropped, sc_records open_spans,
                              cg_str *ret, cg_err *reterr)
{
    const rec_recovery_span *spans = open_spans.at;
    cg_code code = CG_OK;
    buf text;

    buf_init(&text, mem->heap, SIZE_MAX / 2);
    buf_addf(&text, "recovered %llu record%s", (unsigned long long)records,
             records == 1 ? "" : "s");
    if (dropped > 0) {
        buf_addf(&text, ", %llu dropped", (unsigned long long)dropped);
    }
    buf_add(&text, CG_LIT("; open at the end: "));
    for (size_t i = 0; i < open_spans.count && i < NAMES_IN_REASON; i++) {
        buf_add(&text, i > 0 ? CG_LIT(", ") : CG_LIT(""));
        buf_add(&text, spans[i].name);
    }
    if (open_spans.count == 0) {
        buf_add(&text, CG_LIT("none"));
    }
    if (open_spans.count > NAMES_IN_REASON) {
        buf_addf(&text, " and %llu more", (unsigned long long)(open_spans.count - NAMES_IN_REASON));
    }
    if (text.failed || !arena_text(mem, buf_text(&text), ret)) {
        code = err_nomem(reterr);
    }
    buf_free(&text);
    return code;
}

static cg_code write_out(const trace_doc *doc, cg_str text, cg_str reason, cg_sink out, heap *own,
                         cg_err *reterr)
{
    cg_code code = text.len == 0 ? CG_OK : out.write(out.context, text.ptr, text.len);

    if (code == CG_OK && text.len > 0 && text.ptr[text.len - 1] != '\n') {
        code = out.write(out.context, "\n", 1);
    }
    return code == CG_OK ? write_terminal(own, out, latest_ns(doc), reason, reterr) : code;
}

/* Without the last line when the reader stumbles there and nowhere else. */
static cg_code read_what_is_whole(const cg_env *env, buf *room, cg_str *text, arena *mem,
                                  trace_doc **ret, rec_recovery *account, cg_err *reterr)
{
    uint64_t number = 0;
    size_t start = last_line(*text, &number);
    cg_err first = {0};
    cg_code code = try_read(env, room, *text, ret, &first);

    if (code == CG_INPUT && first.line == number && number > 1 && start < text->len) {
        rec_recovery_cut *cut = arena_zero(mem, sizeof *cut);
        cg_err again = {0};

        if (cut == NULL) {
            return err_nomem(reterr);
        }
        *cut = (rec_recovery_cut){.line = number, .offset = start, .bytes = text->len - start};
        code = try_read(env, room, (cg_str){text->ptr, start}, ret, &again);
        if (code == CG_OK) {
            account->cut_off = cut;
            text->len = start;
            return CG_OK;
        }
        first = again;
    }
    if (code == CG_INPUT && first.problem != NULL &&
        strcmp(first.problem, problem_id(PROBLEM_TRACE_AFTER_TERMINAL)) == 0) {
        trace_doc *whole = NULL;

        /* Was it our stand-in that came too late? Then nothing is missing. */
        if (trace_read_text(env, *text, &whole, NULL) == CG_OK) {
            trace_free(whole);
            return cg_fail(reterr, PROBLEM_RECOVER_COMPLETE,
                           "the trace has its `terminal` record: there is nothing to recover");
        }
    }
    if (code != CG_OK && reterr != NULL && reterr->code == CG_OK) {
        *reterr = first;
    }
    return code;
}

cg_code salvage_trace(const cg_env *env, cg_str text, cg_sink out, arena *mem, rec_recovery *ret,
                      cg_err *reterr)
{
    rec_recovery account = {.schema = CG_LIT(RECOVERY_SCHEMA), .source = CG_LIT("trace")};
    trace_doc *doc = NULL;
    buf room;

    buf_init(&room, mem->heap, SIZE_MAX / 2);
    cg_code code = read_what_is_whole(env, &room, &text, mem, &doc, &account, reterr);
    buf_free(&room);
    if (code != CG_OK) {
        return code;
    }
    account.records_recovered = doc->event_count - 1;
    code = list_open(doc, mem, &account.open_spans, reterr);
    if (code == CG_OK) {
        code = salvage_reason(mem, account.records_recovered, 0, account.open_spans,
                              &account.reason, reterr);
    }
    if (code == CG_OK) {
        code = write_out(doc, text, account.reason, out, mem->heap, reterr);
    }
    trace_free(doc);
    if (code == CG_OK) {
        *ret = account;
    }
    return code;
}

cg_code salvage_write_account(const rec_recovery *account, heap *own, bool is_pretty, cg_sink sink,
                              cg_err *reterr)
{
    jsonw json;

    CG_TRY(jw_init(&json, own, sink, is_pretty, false));
    sc_write(&json, &table_recovery, account);
    CG_TRY(jw_finish(&json, reterr));
    return is_pretty ? CG_OK : sink.write(sink.context, "\n", 1);
}
