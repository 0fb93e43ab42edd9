#include "model/normalise.h"

#include "base/sort.h"
#include "model/coverage.h"

/* What an order needs to know. */
typedef struct order {
    const char *at;
    size_t stride;
} order;

static const void *item(const order *self, uint32_t index)
{
    return self->at + index * self->stride;
}

/* Records that begin with what they are ordered by: an id, a name, the text itself. */
static bool id_before(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *x = item(context, a);
    const cg_str *y = item(context, b);

    return str_compare(*x, *y) < 0;
}

static bool stage_before(const void *context, uint32_t a, uint32_t b)
{
    const model_stage *x = item(context, a);
    const model_stage *y = item(context, b);

    if (x->order.is_set != y->order.is_set)
        return x->order.is_set;
    if (x->order.is_set && x->order.value != y->order.value)
        return x->order.value < y->order.value;
    return str_compare(x->id, y->id) < 0;
}

/* Absent texts come first. */
static int compare_optional(cg_str a, cg_str b)
{
    if (a.ptr == NULL || b.ptr == NULL)
        return (a.ptr != NULL) - (b.ptr != NULL);
    return str_compare(a, b);
}

static int compare_evidence(const model_evidence *a, const model_evidence *b)
{
    int by_source = compare_optional(a->source, b->source);

    return by_source != 0 ? by_source : str_compare(a->detail, b->detail);
}

static bool evidence_before(const void *context, uint32_t a, uint32_t b)
{
    return compare_evidence(item(context, a), item(context, b)) < 0;
}

static bool name_before(const void *context, uint32_t a, uint32_t b)
{
    const model_builder *x = item(context, a);
    const model_builder *y = item(context, b);

    return str_compare(x->name, y->name) < 0;
}

typedef bool before_fn(const void *context, uint32_t a, uint32_t b);

static bool is_ascending(const order *by, size_t count, before_fn *before)
{
    for (size_t i = 1; i < count; i++) {
        if (!before(by, (uint32_t)(i - 1), (uint32_t)i))
            return false;
    }
    return true;
}

/*
 * The records in order, in an array of their own. `is_same` tells of two
 * neighbours whether the later one is dropped; NULL keeps all.
 */
static bool sort_records(arena *mem, sc_records *list, size_t stride, before_fn *before,
                         bool is_unique)
{
    order by = {list->at, stride};
    size_t count = list->count;
    arena_place place = arena_mark(mem);
    uint32_t *items;
    char *sorted;
    size_t kept = 0;

    if (is_ascending(&by, count, before))
        return true;
    sorted = arena_take(mem, count * stride);
    place = arena_mark(mem);
    items = sorted == NULL ? NULL : arena_take(mem, 2 * count * sizeof *items);
    if (items == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)i;
    sort_with(items, items + count, count, before, &by);
    for (size_t i = 0; i < count; i++) {
        if (is_unique && i > 0 && !before(&by, items[i - 1], items[i]))
            continue;
        memcpy(sorted + kept * stride, item(&by, items[i]), stride);
        kept++;
    }
    arena_reset(mem, place);
    *list = (sc_records){sorted, kept};
    return true;
}

bool texts_sorted(arena *mem, sc_strs *list)
{
    sc_records records = {list->at, list->count};

    if (!sort_records(mem, &records, sizeof *list->at, id_before, false))
        return false;
    *list = (sc_strs){records.at, records.count};
    return true;
}

bool texts_unique(arena *mem, sc_strs *list)
{
    sc_records records = {list->at, list->count};

    if (!sort_records(mem, &records, sizeof *list->at, id_before, true))
        return false;
    *list = (sc_strs){records.at, records.count};
    return true;
}

/* --- findings with one id --- */


/* How many findings from `first` on have its id; all their evidence goes to the first. */
static bool join_findings(arena *mem, model_finding *first, size_t count)
{
    size_t related = 0;
    size_t evidence = 0;
    cg_str *ids;
    model_evidence *entries;

    for (size_t i = 0; i < count; i++) {
        related += first[i].related.count;
        evidence += first[i].evidence.count;
    }
    ids = arena_take(mem, (related + 1) * sizeof *ids);
    entries = arena_take(mem, (evidence + 1) * sizeof *entries);
    if (ids == NULL || entries == NULL)
        return false;
    related = 0;
    evidence = 0;
    for (size_t i = 0; i < count; i++) {
        if (first[i].related.count > 0)
            memcpy(ids + related, first[i].related.at, first[i].related.count * sizeof *ids);
        if (first[i].evidence.count > 0)
            memcpy(entries + evidence, first[i].evidence.at,
                   first[i].evidence.count * sizeof *entries);
        related += first[i].related.count;
        evidence += first[i].evidence.count;
    }
    first->related = (sc_strs){ids, related};
    first->evidence = (sc_records){entries, evidence};
    return true;
}

static bool merge_findings(arena *mem, sc_records *list)
{
    model_finding *at = (model_finding *)list->at;
    size_t kept = 0;

    for (size_t i = 0; i < list->count;) {
        size_t end = i + 1;

        while (end < list->count && str_equal(at[end].id, at[i].id))
            end++;
        if (end - i > 1 && !join_findings(mem, &at[i], end - i))
            return false;
        if (kept != i)
            at[kept] = at[i];
        kept++;
        i = end;
    }
    list->count = kept;
    return true;
}

/* --- the lists inside records --- */

static bool order_components(model_doc *doc, arena *mem)
{
    model_component *at = (model_component *)doc->components.at;

    for (size_t i = 0; i < doc->components.count; i++) {
        if (!texts_unique(mem, &at[i].modules) || !texts_unique(mem, &at[i].parameters) ||
            !texts_unique(mem, &at[i].entrypoints) ||
            !sort_records(mem, &at[i].builders, sizeof(model_builder), name_before, false))
            return false;
    }
    return true;
}

static bool order_functions(model_doc *doc, arena *mem)
{
    model_function *at = (model_function *)doc->functions.at;

    for (size_t i = 0; i < doc->functions.count; i++) {
        if (!texts_unique(mem, &at[i].calls) || !texts_unique(mem, &at[i].tensor_inputs) ||
            !texts_unique(mem, &at[i].tensor_outputs))
            return false;
    }
    return true;
}

static bool order_parameters(model_doc *doc, arena *mem)
{
    model_parameter *at = (model_parameter *)doc->parameters.at;

    for (size_t i = 0; i < doc->parameters.count; i++) {
        if (!texts_unique(mem, &at[i].uses) || !texts_unique(mem, &at[i].optimizer_memberships))
            return false;
    }
    return true;
}

/* Groups by name, their keys as sets. */
static bool order_keys(arena *mem, sc_records *groups)
{
    model_keys *at = (model_keys *)groups->at;

    for (size_t i = 0; i < groups->count; i++) {
        if (!texts_unique(mem, &at[i].keys))
            return false;
    }
    return sort_records(mem, groups, sizeof *at, id_before, false);
}

static bool order_findings(model_doc *doc, arena *mem)
{
    model_finding *at = (model_finding *)doc->findings.at;

    for (size_t i = 0; i < doc->findings.count; i++) {
        if (!texts_unique(mem, &at[i].related) || !texts_unique(mem, &at[i].entries) ||
            !order_keys(mem, &at[i].severed) || !order_keys(mem, &at[i].still_trained) ||
            !order_keys(mem, &at[i].keys) ||
            !sort_records(mem, &at[i].shapes, sizeof(model_operand_shape), id_before, false) ||
            !sort_records(mem, &at[i].devices, sizeof(model_operand_device), id_before, false) ||
            !sort_records(mem, &at[i].evidence, sizeof(model_evidence), evidence_before, true))
            return false;
    }
    return true;
}

static bool order_lists(model_doc *doc, bool (*is_ordered)(enum model_list list), arena *mem)
{
    for (enum model_list list = 0; list < MODEL_LIST_COUNT; list++) {
        sc_records *records = model_list_of(doc, list);
        before_fn *before = list == MODEL_STAGES ? stage_before : id_before;
        bool is_unique = list != MODEL_STAGES && list != MODEL_FINDINGS;

        if (list != MODEL_ASSEMBLY && (is_ordered == NULL || !is_ordered(list)) &&
            !sort_records(mem, records, model_list_table(list)->size, before, is_unique))
            return false;
    }
    return merge_findings(mem, &doc->findings);
}

cg_code findings_normalise(model_document *document, cg_err *reterr)
{
    model_doc *doc = &document->doc;
    const sc_table *table = model_list_table(MODEL_FINDINGS);

    return sort_records(&document->mem, &doc->findings, table->size, id_before, false) &&
                   order_findings(doc, &document->mem)
               ? CG_OK
               : err_nomem(reterr);
}

cg_code model_normalise(model_document *document, cg_err *reterr)
{
    return model_normalise_lists(document, NULL, reterr);
}

cg_code model_normalise_lists(model_document *document, bool (*is_ordered)(enum model_list list),
                              cg_err *reterr)
{
    model_doc *doc = &document->doc;
    arena *mem = &document->mem;
    model_coverage *coverage = arena_take(mem, sizeof *coverage);

    if (coverage == NULL || !order_lists(doc, is_ordered, mem) || !order_components(doc, mem) ||
        !order_functions(doc, mem) || !order_parameters(doc, mem) || !order_findings(doc, mem))
        return err_nomem(reterr);
    CG_TRY(coverage_count(document, coverage, reterr));
    doc->coverage = coverage;
    return CG_OK;
}
