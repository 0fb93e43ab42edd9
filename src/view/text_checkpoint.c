#include "view/text_checkpoint.h"

#include <inttypes.h>

#include "base/sort.h"

#define KEYS_SHOWN       8 /* of one row, each side */
#define COMPONENTS_SHOWN 8 /* of a crate that has more, those that fit */
#define CANDIDATES_SHOWN 3 /* of them when fewer fit */
#define OTHERS_NAMED     5

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static enum ink ink_of(const doc_diagnosis *row)
{
    bool is_harmless = str_equal(row->code, diagnosis_words[DIAGNOSIS_DTYPE_ONLY]) ||
                       (str_equal(row->code, diagnosis_words[DIAGNOSIS_RUNNING_STATE_ONLY]) &&
                        row->keys.count == 0);

    return is_harmless ? INK_DIM : INK_WARN;
}

/* Of the keys of another shape, which are in order, the one of that name; NULL: none. */
static const doc_tensor_mismatch *mismatch_of(const doc_checkpoint *doc, cg_str key)
{
    const doc_tensor_mismatch *rows = doc->shape_mismatches.at;
    size_t low = 0, high = doc->shape_mismatches.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(rows[middle].key, key);

        if (order == 0)
            return &rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void say_shape(page *out, const doc_tensor_mismatch *row, bool is_of_file)
{
    size_t rank = is_of_file ? row->file_shape.count : row->model_shape.count;

    page_put(out, "  [");
    for (size_t i = 0; i < rank; i++) {
        page_put(out, i > 0 ? ", " : "");
        if (is_of_file)
            page_putf(out, "%" PRIu64, row->file_shape.at[i]);
        else
            page_name(out, row->model_shape.at[i], 0);
    }
    page_put(out, "]");
}

static bool is_missing_for_certain(const doc_checkpoint *doc, cg_str key)
{
    size_t low = 0, high = doc->missing_certain.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(doc->missing_certain.at[middle], key);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Positions of the first keys that are shown: those that every run lacks before the others. */
static size_t choose_keys(const doc_checkpoint *doc, const sc_strs *keys, bool is_sorted,
                          size_t ret[KEYS_SHOWN])
{
    size_t count = 0;

    for (size_t i = 0; i < keys->count && count < KEYS_SHOWN; i++) {
        if (!is_sorted || is_missing_for_certain(doc, keys->at[i]))
            ret[count++] = i;
    }
    for (size_t i = 0; is_sorted && i < keys->count && count < KEYS_SHOWN; i++) {
        if (!is_missing_for_certain(doc, keys->at[i]))
            ret[count++] = i;
    }
    return count;
}

/* One side of a row; `of` are the names of the model that stand on it, or beside it. */
static void say_keys(page *out, const doc_checkpoint *doc, const doc_diagnosis *row,
                     bool is_of_file)
{
    const sc_strs *keys = is_of_file ? &row->file_keys : &row->keys;
    const sc_strs *of = &row->keys;
    /* Where each key has its tensor, both sides keep the order of their names. */
    bool is_sorted = !is_of_file && row->key_map.count == 0;
    size_t chosen[KEYS_SHOWN];
    size_t count = choose_keys(doc, keys, is_sorted, chosen);

    if (keys->count == 0)
        return;
    page_putf(out, "    %-5s", is_of_file ? "file" : "code");
    for (size_t i = 0; i < count; i++) {
        size_t at = chosen[i];
        const doc_tensor_mismatch *other =
            of->count == keys->count ? mismatch_of(doc, of->at[at]) : NULL;

        page_put(out, i > 0 ? "          " : "");
        page_name(out, keys->at[at], 0);
        if (other != NULL && (!is_of_file || str_equal(other->file_key, keys->at[at])))
            say_shape(out, other, is_of_file);
        page_end(out);
    }
    if (keys->count > KEYS_SHOWN) {
        page_ink(out, INK_DIM);
        page_putf(out, "          ... and %zu more", keys->count - KEYS_SHOWN);
        page_ink(out, INK_PLAIN);
        page_end(out);
    }
}

static void say_row(page *out, const doc_checkpoint *doc, const doc_diagnosis *row)
{
    page_put(out, "  ");
    page_ink(out, ink_of(row));
    page_name(out, row->code, 0);
    page_ink(out, INK_PLAIN);
    page_end(out);
    safe_add(&out->say, row->explanation, 0);
    page_paragraph(out, INK_PLAIN, 4, 4);
    say_keys(out, doc, row, false);
    say_keys(out, doc, row, true);
}

static void say_shards(page *out, const doc_checkpoint *doc)
{
    const doc_checkpoint_shard *shards = doc->shards.at;

    for (size_t i = 0; i < doc->shards.count; i++) {
        if (shards[i].present)
            continue;
        page_ink(out, INK_BAD);
        page_put(out, "  not there: ");
        page_ink(out, INK_PLAIN);
        page_name(out, shards[i].file, 0);
        page_end(out);
    }
}

static void say_counts(page *out, const doc_checkpoint *doc)
{
    size_t missing = doc->missing_certain.count + doc->missing_conditional.count;

    page_putf(out, "  %" PRIu64 " of %" PRIu64 " tensor%s fit", doc->matched_tensors,
              doc->checkpoint_tensors, plural(doc->checkpoint_tensors));
    if (missing > 0)
        page_putf(out, ", %zu key%s missing", missing, plural(missing));
    if (doc->missing_conditional.count > 0)
        page_putf(out, " (%zu perhaps)", doc->missing_conditional.count);
    for (size_t i = 0; i < doc->of_others.count && i < 3; i++) {
        page_putf(out, ", %" PRIu64 " of ", doc->of_others.at[i].value);
        page_name(out, doc->of_others.at[i].key, 0);
    }
    if (doc->of_others.count > 3)
        page_putf(out, ", more of %zu others", doc->of_others.count - 3);
    if (doc->unclaimed.count > 0)
        page_putf(out, ", %zu unclaimed", doc->unclaimed.count);
    if (doc->shape_mismatches.count > 0)
        page_putf(out, ", %zu of another shape", doc->shape_mismatches.count);
    if (doc->shapes_open.is_set)
        page_putf(out, "; the code leaves %" PRIu64 " shape%s open, which %s not compared",
                  doc->shapes_open.value, plural(doc->shapes_open.value),
                  doc->shapes_open.value == 1 ? "is" : "are");
    page_end(out);
}

static void say_dtypes(page *out, const doc_checkpoint *doc)
{
    if (doc->dtype_summary.count == 0)
        return;
    page_put(out, "  stored as ");
    for (size_t i = 0; i < doc->dtype_summary.count; i++) {
        page_put(out, i > 0 ? ", " : "");
        page_name(out, doc->dtype_summary.at[i].key, 0);
        page_putf(out, " %" PRIu64, doc->dtype_summary.at[i].value);
    }
    page_end(out);
}

static cg_str settled_at(const sc_strs *settled, size_t at)
{
    return settled != NULL && at < settled->count ? settled->at[at] : (cg_str){0};
}

static void say_one(page *out, const doc_checkpoint *doc, cg_str settled)
{
    const doc_diagnosis *rows = doc->diagnosis.at;

    say_counts(out, doc);
    say_dtypes(out, doc);
    say_shards(out, doc);
    if (doc->diagnosis.count == 0) {
        /* What the code leaves open: a configuration of other sizes does not fit. */
        buf_add(&out->say, doc->shapes_open.is_set
                               ? CG_LIT("the checkpoint fits as far as the code says its shapes")
                               : CG_LIT("the checkpoint fits"));
        if (settled.len > 0) {
            buf_add(&out->say, doc->shapes_open.is_set ? CG_LIT(", with ") : CG_LIT(" with "));
            safe_add(&out->say, settled, 0);
        }
        page_paragraph(out, INK_GOOD, 2, 4);
    } else if (settled.len > 0) {
        buf_add(&out->say, CG_LIT("sizes taken from the file: "));
        safe_add(&out->say, settled, 0);
        page_paragraph(out, INK_DIM, 2, 4);
    }
    for (size_t i = 0; i < doc->diagnosis.count; i++)
        say_row(out, doc, &rows[i]);
}

/* Who gives the constructor the prefix and the sizes that are compared. */
static void say_caller(page *out, const doc_prefix_call *call)
{
    const doc_call_place *place = call->location;

    page_put(out, ", as ");
    if (call->function.ptr != NULL)
        page_name(out, call->function, 0);
    page_put(out, call->function.ptr != NULL ? " builds it (" : "it is built (");
    page_name(out, place->file, 0);
    page_putf(out, ":%llu)", (unsigned long long)place->line);
}

static void say_title(page *out, const doc_checkpoint *doc)
{
    page_ink(out, INK_TITLE);
    page_name(out, doc->component.ptr != NULL ? doc->component : CG_LIT("All components"), 0);
    page_ink(out, INK_DIM);
    page_put(out, "  on `");
    page_name(out, doc->root, 0);
    page_put(out, "`");
    if (doc->built_by != NULL)
        say_caller(out, doc->built_by);
    page_ink(out, INK_PLAIN);
    page_end(out);
}

/* --- many components --- */

/* What speaks for a component as the one that the file is of. */
static int64_t fit_of(const doc_checkpoint *doc)
{
    return (int64_t)doc->matched_tensors - (int64_t)doc->missing_certain.count -
           (int64_t)doc->shape_mismatches.count;
}

static bool fits_better(const void *context, uint32_t a, uint32_t b)
{
    const doc_checkpoint *all = context;
    int64_t of_a = fit_of(&all[a]);
    int64_t of_b = fit_of(&all[b]);
    size_t perhaps_a = all[a].missing_conditional.count;
    size_t perhaps_b = all[b].missing_conditional.count;

    if (of_a != of_b)
        return of_a > of_b;
    return perhaps_a != perhaps_b ? perhaps_a < perhaps_b : a < b;
}

/* Of many components those that the file can be of: a library holds hundreds. */
static size_t count_shown(const doc_checkpoint *all, const uint32_t *order, size_t count)
{
    size_t shown = 0;

    if (count <= COMPONENTS_SHOWN)
        return count;
    while (shown < COMPONENTS_SHOWN && all[order[shown]].diagnosis.count == 0)
        shown++;
    return shown < CANDIDATES_SHOWN ? CANDIDATES_SHOWN : shown;
}

static void say_others(page *out, const doc_checkpoint *all, const uint32_t *order, size_t count)
{
    size_t named = count < OTHERS_NAMED ? count : OTHERS_NAMED;

    if (count == 0)
        return;
    buf_addf(&out->say, "%zu other component%s fit%s less", count, plural(count),
             count == 1 ? "s" : "");
    for (size_t i = 0; i < named; i++) {
        buf_add(&out->say, i == 0 ? CG_LIT(": ") : CG_LIT(", "));
        safe_add(&out->say, all[order[i]].component, 0);
        buf_addf(&out->say, " (%" PRIu64 ")", all[order[i]].matched_tensors);
    }
    buf_add(&out->say, count > named ? CG_LIT(", ...; ") : CG_LIT("; "));
    buf_add(&out->say, CG_LIT("--component NAME compares one"));
    page_end(out);
    page_paragraph(out, INK_DIM, 0, 2);
}

static bool say_all(page *out, heap *from, const doc_checkpoint *doc, const sc_strs *settled)
{
    const doc_checkpoint *parts = doc->components.at;
    size_t count = doc->components.count;
    size_t bytes = (count + 1) * 2 * sizeof(uint32_t);
    uint32_t *order = heap_resize(from, NULL, 0, bytes);
    size_t shown;

    if (order == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    if (count > COMPONENTS_SHOWN)
        sort_with(order, order + count, count, fits_better, parts);
    shown = count_shown(parts, order, count);
    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            page_end(out);
        say_title(out, &parts[order[i]]);
        say_one(out, &parts[order[i]], settled_at(settled, order[i] + 1));
    }
    say_others(out, parts, order + shown, count - shown);
    (void)heap_resize(from, order, bytes, 0);
    return true;
}

cg_code text_checkpoint(heap *from, const doc_checkpoint *doc, const sc_strs *settled,
                        const text_style *style, cg_sink sink, cg_err *reterr)
{
    bool is_told = true;
    page out;
    cg_code code;

    page_open(&out, from, style, sink);
    if (doc->components.count == 0) {
        say_title(&out, doc);
        say_one(&out, doc, settled_at(settled, 0));
    } else {
        is_told = say_all(&out, from, doc, settled);
    }
    code = page_close(&out, reterr);
    return is_told ? code : err_nomem(reterr);
}
