#include "record/convert.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "record/convert_merge.h"
#include "record/convert_records.h"
#include "record/convert_spans.h"
#include "record/describe.h"
#include "record/survey.h"


void convert_refuse(converter *self, unsigned kind, const char *format, ...)
{
    convert_account *account = self->account;

    account->losses.refused[kind]++;
    if (account->cause[0] == '\0') {
        va_list list;

        va_start(list, format);
        vsnprintf(account->cause, sizeof account->cause, format, list);
        va_end(list);
    }
}

bool convert_grow(converter *self, void **list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *at = wanted > SIZE_MAX / size ? NULL : rec_resize(*list, wanted * size);
    if (at == NULL) {
        self->has_no_memory = true;
        return false;
    }
    *list = at;
    *capacity = wanted;
    return true;
}

/* --- the first line --- */

static bool is_lost(const losses *lost, unsigned kind)
{
    return lost->dropped[kind] + lost->refused[kind] > 0;
}

static void make_facts(const converter *self, meta_facts *facts)
{
    const losses *lost = &self->assumed;
    const spool_header *header = self->source->header;
    bool all = is_lost(lost, SPOOL_BEGIN) || is_lost(lost, SPOOL_END) ||
               is_lost(lost, SPOOL_COMPLETED) || lost->late > 0 || is_lost(lost, SPOOL_NAME) ||
               is_lost(lost, SPOOL_LAYOUT) || self->account->malformed_streams > 0;
    const bool hit[SPOOL_LEVELS] = {
        [SPOOL_OPERATIONS] = is_lost(lost, SPOOL_OP) || is_lost(lost, SPOOL_DATA_EDGE) ||
                             is_lost(lost, SPOOL_CALL_EDGE),
        [SPOOL_TENSORS] = is_lost(lost, SPOOL_TENSOR) || is_lost(lost, SPOOL_STATS) ||
                          is_lost(lost, SPOOL_SCALAR),
        [SPOOL_GRADIENTS] = is_lost(lost, SPOOL_GRADIENT),
        [SPOOL_LOGICAL_MEMORY] = is_lost(lost, SPOOL_ALLOC) || is_lost(lost, SPOOL_FREE),
        [SPOOL_PHYSICAL_MEMORY] = is_lost(lost, SPOOL_DEVICE_MEMORY),
        [SPOOL_DEVICE_TIMING] = is_lost(lost, SPOOL_DEVICE_INTERVAL)};

    *facts = (meta_facts){.has_gradient_contract = header->piece_bytes[1] > 0,
                          .dropped = losses_total(lost->dropped),
                          .refused = losses_total(lost->refused),
                          .late = lost->late};
    for (unsigned i = 0; i < SPOOL_LEVELS; i++) {
        facts->levels[i] = header->levels[i];
        /* A lost span takes nothing from the gradients, which hang on no span. */
        if (facts->levels[i] == CG_RECORD_COMPLETE && (hit[i] || (all && i != SPOOL_GRADIENTS))) {
            facts->levels[i] = CG_RECORD_PARTIAL;
            facts->has_gradient_contract &= i != SPOOL_GRADIENTS;
        }
    }
    double cost = 0;
    for (unsigned i = SPOOL_BEGIN; i < SPOOL_KINDS; i++) {
        double each = i == SPOOL_BEGIN || i == SPOOL_END ? header->span_ns / 2
                      : i == SPOOL_OP                    ? header->op_ns
                      : i == SPOOL_SCALAR                ? header->scalar_ns
                                                         : header->tensor_ns;

        facts->measured_records += self->measured[i];
        cost += each * (double)self->measured[i];
    }
    facts->measured_overhead_ns = cost > 0 && cost < 1e18 ? (uint64_t)cost : 0;
}

static void write_meta(converter *self)
{
    meta_facts facts;
    rec_text line = {0};

    make_facts(self, &facts);
    describe_meta(&line, self->source, &facts);
    self->has_no_memory |= line.failed;
    wire_raw(&self->out, text_str(&line));
    self->out.lines++;
    text_free(&line);
}

/* --- spans that are open at the end, and why that is --- */

/* Raw text of a name for the account and the reason. */
static void keep_open_spans(converter *self)
{
    convert_account *account = self->account;
    size_t at = 0;

    account->open_spans = rec_take((self->open_count + 1) * sizeof *account->open_spans);
    if (account->open_spans == NULL) {
        self->has_no_memory = true;
        return;
    }
    qsort(self->open, self->open_count, sizeof *self->open, span_compare_numbers);
    for (size_t i = 0; i < self->open_count; i++) {
        const span_entry *span = &self->spans[self->open[i]];
        cg_str name = name_or_unknown(self, span->name);

        account->open_spans[i] = (cg_record_open_span){
            .number = self->open[i], .start_ns = span->start_ns, .name = {NULL, name.len}};
        text_add(&account->names, name); /* JSON, quotes included: read back below */
    }
    self->has_no_memory |= account->names.failed;
    if (self->has_no_memory) {
        return;
    }
    account->open_span_count = self->open_count;
    for (size_t i = 0; i < self->open_count; i++) {
        account->open_spans[i].name.ptr = account->names.at + at;
        at += account->open_spans[i].name.len;
    }
}

static unsigned hex_value(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a' + 10);
}

/* Undo text_add_json in place: it only ever shortens. */
static cg_str unquote(char *text, size_t len)
{
    static const char from[] = "btnfr";
    static const char to[] = "\b\t\n\f\r";
    size_t out = 0;

    for (size_t i = 1; i + 1 < len; i++) {
        char byte = text[i];

        if (byte == '\\') {
            const char *known = strchr(from, text[++i]);

            if (text[i] == 'u') {
                byte = (char)(hex_value(text[i + 3]) << 4 | hex_value(text[i + 4]));
                i += 4;
            } else {
                byte = known != NULL ? to[known - from] : text[i];
            }
        }
        text[out++] = byte;
    }
    return (cg_str){text, out};
}

static void make_reason(converter *self)
{
    convert_account *account = self->account;
    rec_text *reason = &account->reason;

    for (size_t i = 0; i < account->open_span_count; i++) {
        cg_str json = account->open_spans[i].name;

        account->open_spans[i].name =
            unquote(account->names.at + (json.ptr - account->names.at), json.len);
    }
    if (!self->job->is_recovery) {
        text_add(reason, self->job->reason);
        if (account->open_span_count <= 1 || self->job->reason.len > 0) {
            return;
        }
        text_add(reason, CG_LIT("finished with open spans: "));
    } else {
        text_add(reason, CG_LIT("recovered "));
        text_add_u64(reason, self->out.lines);
        text_add(reason, self->out.lines == 1 ? CG_LIT(" record") : CG_LIT(" records"));
        uint64_t dropped = losses_total(account->losses.dropped);
        if (dropped > 0) {
            text_add(reason, CG_LIT(", "));
            text_add_u64(reason, dropped);
            text_add(reason, CG_LIT(" dropped"));
        }
        text_add(reason, CG_LIT("; open at the end: "));
    }
    size_t first = self->job->is_recovery ? 0 : 1; /* the root is what is being finished */
    for (size_t i = first; i < account->open_span_count && i < 32; i++) {
        text_add(reason, i > first ? CG_LIT(", ") : CG_LIT(""));
        text_add(reason, account->open_spans[i].name);
    }
    if (account->open_span_count > 32) {
        text_add(reason, CG_LIT(" and "));
        text_add_u64(reason, account->open_span_count - 32);
        text_add(reason, CG_LIT(" more"));
    }
}

/* --- the whole --- */

static void write_end(converter *self)
{
    const convert_job *job = self->job;
    convert_account *account = self->account;
    bool is_complete = !job->is_failed && !job->is_recovery && self->open_count == 1;
    uint64_t end = convert_ns(self, job->end_ticks != 0 ? job->end_ticks : self->latest_ticks);

    if (end < self->latest_ns) {
        end = self->latest_ns;
    }
    record_put_edges(self);
    keep_open_spans(self);
    if (self->has_no_memory) {
        return;
    }
    account->is_complete = is_complete;
    account->spans = self->span_count;
    if (is_complete) {
        span_close(self, 1, end);
        account->open_span_count = 0;
        wire_terminal(&self->out, true, end, (cg_str){NULL, 0});
    } else {
        rec_text json = {0};

        make_reason(self);
        text_add_json(&json, text_str(&account->reason));
        self->has_no_memory |= json.failed | account->reason.failed;
        wire_terminal(&self->out, false, end, text_str(&json));
        text_free(&json);
    }
    account->records = self->out.lines;
}

static void forget_lanes(converter *self)
{
    for (size_t i = 0; self->lanes != NULL && i < self->lane_count; i++) {
        stream_close(&self->lanes[i].reader);
    }
}

/* From `meta` to the terminal, with the losses that are known. */
static void write_once(converter *self)
{
    size_t room = self->lane_count <= 32 ? 128u << 10 : 0; /* many lanes: the least there is */

    for (size_t i = 0; i < self->lane_count; i++) {
        lane_state *lane = &self->lanes[i];

        stream_close(&lane->reader);
        if (!stream_open(&lane->reader, self->source, i, room)) {
            self->has_no_memory = true;
            return;
        }
        lane->next = NULL;
        lane->time = 0;
        lane->taken = 0;
        memset(lane->numbers, 0, ((size_t)lane->count + 1) * sizeof *lane->numbers);
    }
    self->span_count = 0;
    self->open_count = 0;
    self->call_count = 0;
    self->edge_count = 0;
    self->gradients = 0;
    self->latest_ns = 0;
    write_meta(self);
    /* The root is there from the first instant on. */
    span_add(self, 0, 1, 0);
    if (self->has_no_memory) {
        return;
    }
    wire_span_start(&self->out, 1, 0, name_or_unknown(self, 1), 0, 0, false, 0);
    merge_lanes(self);
    if (!self->has_no_memory) {
        write_end(self);
    }
}

static void account_reset(convert_account *account, const spool_header *header)
{
    rec_free(account->open_spans);
    account->open_spans = NULL;
    account->open_span_count = 0;
    account->names.len = 0;
    account->reason.len = 0;
    account->losses = (losses){0};
    for (unsigned i = 0; i < SPOOL_KINDS; i++) {
        account->losses.dropped[i] = header->dropped[i];
        account->losses.refused[i] = header->refused[i];
    }
}

static void converter_free(converter *self)
{
    for (size_t i = 0; i < self->lane_count && self->lanes != NULL; i++) {
        rec_free(self->lanes[i].numbers);
    }
    for (size_t i = 0; i < self->layout_count && self->raw_layouts != NULL; i++) {
        text_free(&self->raw_layouts[i]);
    }
    rec_free(self->raw_layouts);
    rec_free(self->layout_at);
    rec_free(self->name_at);
    text_free(&self->names);
    text_free(&self->layouts);
    rec_free(self->lanes);
    rec_free(self->heap);
    rec_free(self->spans);
    rec_free(self->open);
    rec_free(self->calls);
    rec_free(self->edges);
    rec_free(self->tensors);
    rec_free(self->out.at);
    rec_free(self);
}

cg_code convert(const convert_job *job, int file, convert_account *ret, int *ret_error)
{
    const spool_header *header = job->spool->header;
    converter *self = rec_take(sizeof *self);
    cg_code code = CG_OK;

    memset(ret, 0, sizeof *ret);
    *ret_error = 0;
    if (self == NULL) {
        return CG_NOMEM;
    }
    self->job = job;
    self->source = job->spool;
    self->account = ret;
    self->rate = clock_rate(header->begin, job->end, header->rate);
    self->lane_count = job->spool->stream_count;
    self->lanes = rec_take((self->lane_count + 1) * sizeof *self->lanes);
    self->heap = rec_take((self->lane_count + 1) * sizeof *self->heap);
    self->has_no_memory =
        self->lanes == NULL || self->heap == NULL || !wire_init(&self->out, job->spool->sys, file);
    if (!self->has_no_memory) {
        survey_spool(self);
    }
    account_reset(ret, header);
    self->assumed = ret->losses;
    for (unsigned round = 0; round < 3 && !self->has_no_memory && !self->has_failed; round++) {
        if (round > 0 && job->spool->sys->truncate(job->spool->sys->context, file, 0) != 0) {
            self->out.error = errno;
            break;
        }
        account_reset(ret, header);
        self->out.len = 0;
        self->out.written = 0;
        self->out.lines = 0;
        write_once(self);
        wire_flush(&self->out);
        if (memcmp(&self->assumed, &ret->losses, sizeof self->assumed) == 0) {
            break;
        }
        self->assumed = ret->losses;
    }
    forget_lanes(self);
    if (self->has_no_memory) {
        code = CG_NOMEM;
    } else if (self->has_failed) {
        code = CG_INPUT;
    } else if (self->out.error != 0) {
        *ret_error = self->out.error;
        code = CG_OUTPUT;
    }
    converter_free(self);
    return code;
}
