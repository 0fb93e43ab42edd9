/*
 * Nsight exports: any bytes are rows or a refusal. The first byte is the kind of report; what a
 * projection holds is joined with itself and compared with the rule taken literally.
 */
#include <stdlib.h>

#include "base/num.h"
#include "exec/nsight_ledger.h"

typedef struct source {
    const uint8_t *at;
    size_t left;
} source;

static cg_code fill(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    source *self = context;

    (void)reterr;
    if (count > self->left)
        count = self->left;
    memcpy(to, self->at, count);
    self->at += count;
    self->left -= count;
    *ret = count;
    return CG_OK;
}

static bool is_match(const nsight_event *range, const nsight_event *operation)
{
    uint64_t start = range->projected_start_ns;

    for (unsigned i = 0; i < JOIN_COUNT; i++) {
        if (range->keys[i] != 0 && range->keys[i] != operation->keys[i])
            return false;
    }
    return operation->start_ns < num_sat_add(start, range->projected_duration_ns) &&
           num_sat_add(operation->start_ns, operation->duration_ns) > start;
}

static void check_join(heap *memory, const nsight_events *events)
{
    size_t count = events->rows.count;
    size_t size = (count > 0 ? count : 1) * sizeof(nsight_match);
    nsight_match *found = heap_resize(memory, NULL, 0, size);

    if (found == NULL ||
        nsight_join(memory, events->rows.at, count, events->rows.at, count, found, NULL) != CG_OK)
        abort();
    for (size_t i = 0; i < count && count <= 256; i++) {
        const nsight_event *range = &events->rows.at[i];
        uint64_t matches = 0;

        for (size_t n = 0; n < count && nsight_keys_of(range) != 0; n++)
            matches += is_match(range, &events->rows.at[n]);
        if (matches != found[i].count || found[i].busy_ns > range->projected_duration_ns)
            abort();
    }
    heap_resize(memory, found, size, 0);
}

static void check_ledger(heap *memory, const intern *texts, const nsight_events *events)
{
    static const cg_str expected[] = {{"a", 1}, {"b", 1}};
    static const cg_str cpu_only[] = {{"c", 1}};
    size_t size = (events->rows.count + 1) * sizeof(nsight_match);
    nsight_match *matches = heap_resize(memory, NULL, 0, size);
    nsight_ranges ranges = {events->rows.at, events->rows.count, matches, false};
    doc_gpu_correlation correlation;
    doc_gpu_ledger ledger;
    arena mem;

    arena_init(&mem, memory);
    if (matches == NULL ||
        nsight_ledger_build(memory, &mem, texts, &ranges, (sc_strs){expected, 2},
                            (sc_strs){cpu_only, 1}, &correlation, &ledger, NULL) != CG_OK)
        abort();
    if (ledger.matched.count + ledger.missing_expected.count != 2 ||
        ledger.matched.count + ledger.unexpected_observed.count +
                ledger.unexpected_cpu_only.count !=
            ledger.observed.count)
        abort();
    arena_free(&mem);
    heap_resize(memory, matches, size, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned report = size > 0 ? data[0] % GPU_REPORT_COUNT : 0;
    source from = {size > 0 ? data + 1 : data, size > 0 ? size - 1 : 0};
    nsight_costs costs = {0};
    nsight_events events = {0};
    cg_err err = {0};
    intern texts;
    heap memory;
    cg_code code;

    heap_init(&memory, NULL);
    if (!intern_init(&texts, &memory, 1))
        abort();
    code = nsight_table_read(NULL, &memory, &texts, report, fill, &from, &costs, &events, &err);
    if (code != CG_OK && code != CG_INPUT && code != CG_LIMIT)
        abort();
    if (code == CG_OK && report == GPU_REPORT_NVTX) {
        check_join(&memory, &events);
        check_ledger(&memory, &texts, &events);
    }
    vec_free(&memory, &costs.rows);
    vec_free(&memory, &events.rows);
    intern_free(&texts);
    if (memory.used_bytes != 0)
        abort();
    return 0;
}
