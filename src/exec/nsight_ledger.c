#include "exec/nsight_ledger.h"

#include "base/buf.h"
#include "base/sort.h"
#include "exec/columns.h"

typedef struct ledger {
    heap *heap;
    arena *mem;
    const intern *texts;
    const nsight_ranges *ranges;
    uint64_t *counts;  /* occurrences by symbol */
    bool *is_expected; /* by symbol */
    uint32_t *names;   /* symbols observed, bytewise by text */
    size_t name_count;
    size_t symbol_count;
} ledger;

static bool observe(ledger *self)
{
    uint32_t *room;
    uint64_t *keys;

    for (size_t i = 0; i < self->ranges->count; i++) {
        sym name = self->ranges->at[i].name;

        if (self->counts[name]++ == 0)
            self->names[self->name_count++] = name;
    }
    room = column_take(self->heap, self->name_count, sizeof *room);
    keys = column_take(self->heap, self->name_count, sizeof *keys);
    if (room != NULL && keys != NULL)
        sort_symbols(self->names, room, keys, self->name_count, self->texts);
    column_free(self->heap, room, self->name_count, sizeof *room);
    column_free(self->heap, keys, self->name_count, sizeof *keys);
    return room != NULL && keys != NULL;
}

/* The observed names as texts of their own, and which of them are expected. */
static bool keep_names(ledger *self, sc_strs expected, doc_gpu_ledger *ret)
{
    cg_str *texts = arena_take(self->mem, (self->name_count + 1) * sizeof *texts);
    size_t duplicates = 0;
    size_t at = 0;
    doc_gpu_duplicate *rows;

    if (texts == NULL)
        return false;
    for (size_t i = 0; i < self->name_count; i++) {
        sym name = self->names[i];

        if (!arena_text(self->mem, intern_text_of(self->texts, name), &texts[i]))
            return false;
        while (at < expected.count && str_compare(expected.at[at], texts[i]) < 0)
            at++;
        self->is_expected[name] = at < expected.count && str_equal(expected.at[at], texts[i]);
        duplicates += self->counts[name] > 1;
    }
    ret->observed = (sc_strs){texts, self->name_count};
    rows = arena_take(self->mem, (duplicates + 1) * sizeof *rows);
    if (rows == NULL)
        return false;
    ret->duplicates = (sc_records){rows, duplicates};
    for (size_t i = 0; i < self->name_count; i++) {
        if (self->counts[self->names[i]] > 1)
            *rows++ = (doc_gpu_duplicate){texts[i], self->counts[self->names[i]]};
    }
    return true;
}

/* Ranges of expected labels whose declared operation count does not hold. */
static size_t count_unqualified(const ledger *self)
{
    size_t count = 0;

    for (size_t i = 0; i < self->ranges->count; i++) {
        const nsight_event *range = &self->ranges->at[i];

        if (!self->is_expected[range->name] || !(range->present & EVENT_HAS_OPERATIONS))
            continue;
        if (range->operations == 0)
            count++;
        else if (self->ranges->has_operations && nsight_keys_of(range) != 0)
            count += self->ranges->matches[i].count != range->operations;
    }
    return count;
}

static cg_code compare(ledger *self, sc_strs expected, sc_strs cpu_only, doc_gpu_ledger *ret,
                       cg_err *reterr)
{
    sc_strs unexpected;

    CG_TRY(nsight_set_pick(self->mem, expected, ret->observed, true, &ret->matched, reterr));
    CG_TRY(
        nsight_set_pick(self->mem, expected, ret->observed, false, &ret->missing_expected, reterr));
    CG_TRY(nsight_set_pick(self->mem, ret->observed, expected, false, &unexpected, reterr));
    CG_TRY(
        nsight_set_pick(self->mem, unexpected, cpu_only, false, &ret->unexpected_observed, reterr));
    return nsight_set_pick(self->mem, ret->observed, cpu_only, true, &ret->unexpected_cpu_only,
                           reterr);
}

/* What stands against a complete correlation, one part for each kind of fault. */
static bool name_faults(ledger *self, const doc_gpu_ledger *from, size_t unqualified, cg_str *ret)
{
    const struct {
        size_t count;
        const char *what;
    } faults[] = {
        {from->missing_expected.count, "expected but not observed"},
        {from->unexpected_observed.count, "observed but not expected"},
        {from->unexpected_cpu_only.count, "observed although CPU-only"},
        {from->duplicates.count, "observed more than once"},
        {unqualified, "with declared operations that do not hold"},
    };
    buf text;
    bool is_made;

    buf_init(&text, self->heap, SIZE_MAX);
    buf_add(&text, CG_LIT("labels"));
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (faults[i].count > 0)
            buf_addf(&text, "%s %zu %s", text.len > sizeof "labels" - 1 ? "," : ":",
                     faults[i].count, faults[i].what);
    }
    is_made = !text.failed && arena_text(self->mem, buf_text(&text), ret);
    buf_free(&text);
    return is_made;
}

static bool judge(ledger *self, const doc_gpu_ledger *from, doc_gpu_correlation *ret)
{
    size_t unqualified = count_unqualified(self);

    ret->is_complete = from->expected.count > 0 && from->missing_expected.count == 0 &&
                       from->unexpected_observed.count == 0 &&
                       from->unexpected_cpu_only.count == 0 && from->duplicates.count == 0 &&
                       unqualified == 0;
    if (ret->is_complete)
        ret->reason = CG_LIT("every expected label names exactly one projected range");
    else if (from->expected.count == 0)
        ret->reason = CG_LIT("no label is expected on the GPU");
    else
        return name_faults(self, from, unqualified, &ret->reason);
    return true;
}

static cg_code build(ledger *self, sc_strs expected, sc_strs cpu_only, doc_gpu_correlation *ret,
                     doc_gpu_ledger *ret_ledger, cg_err *reterr)
{
    self->counts = column_zero(self->heap, self->symbol_count, sizeof *self->counts);
    self->is_expected = column_zero(self->heap, self->symbol_count, sizeof *self->is_expected);
    self->names = column_take(self->heap, self->symbol_count, sizeof *self->names);
    if (self->counts == NULL || self->is_expected == NULL || self->names == NULL ||
        !observe(self) || !keep_names(self, expected, ret_ledger))
        return err_nomem(reterr);
    CG_TRY(compare(self, expected, cpu_only, ret_ledger, reterr));
    return judge(self, ret_ledger, ret) ? CG_OK : err_nomem(reterr);
}

cg_code nsight_ledger_build(heap *from, arena *mem, const intern *texts,
                            const nsight_ranges *ranges, sc_strs expected, sc_strs cpu_only,
                            doc_gpu_correlation *ret, doc_gpu_ledger *ret_ledger, cg_err *reterr)
{
    ledger self = {.heap = from,
                   .mem = mem,
                   .texts = texts,
                   .ranges = ranges,
                   .symbol_count = intern_count(texts)};
    doc_gpu_ledger lists = {.expected = expected, .cpu_only = cpu_only};
    doc_gpu_correlation correlation = {.ledger = ret_ledger};
    cg_code code = CG_OK;

    if (ranges->count == 0) {
        lists.missing_expected = expected;
        correlation.mode = CORRELATION_MODE_NONE;
        correlation.reason = CG_LIT("no projected NVTX range was read");
    } else {
        correlation.mode = CORRELATION_MODE_NVTX;
        code = build(&self, expected, cpu_only, &correlation, &lists, reterr);
        column_free(from, self.counts, self.symbol_count, sizeof *self.counts);
        column_free(from, self.is_expected, self.symbol_count, sizeof *self.is_expected);
        column_free(from, self.names, self.symbol_count, sizeof *self.names);
    }
    if (code == CG_OK) {
        *ret_ledger = lists;
        *ret = correlation;
    }
    return code;
}
