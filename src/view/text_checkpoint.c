#include "view/text_checkpoint.h"

#include <inttypes.h>

#define KEYS_SHOWN 8 /* of one row, each side */

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

static void say_keys(page *out, const char *side, const sc_strs *keys)
{
    if (keys->count == 0)
        return;
    page_putf(out, "    %-5s", side);
    for (size_t i = 0; i < keys->count && i < KEYS_SHOWN; i++) {
        page_put(out, i > 0 ? "          " : "");
        page_name(out, keys->at[i], 0);
        page_end(out);
    }
    if (keys->count > KEYS_SHOWN) {
        page_ink(out, INK_DIM);
        page_putf(out, "          ... and %zu more", keys->count - KEYS_SHOWN);
        page_ink(out, INK_PLAIN);
        page_end(out);
    }
}

static void say_row(page *out, const doc_diagnosis *row)
{
    page_put(out, "  ");
    page_ink(out, ink_of(row));
    page_name(out, row->code, 0);
    page_ink(out, INK_PLAIN);
    page_end(out);
    safe_add(&out->say, row->explanation, 0);
    page_paragraph(out, INK_PLAIN, 4, 4);
    say_keys(out, "code", &row->keys);
    say_keys(out, "file", &row->file_keys);
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
    if (doc->unclaimed.count > 0)
        page_putf(out, ", %zu unclaimed", doc->unclaimed.count);
    if (doc->shape_mismatches.count > 0)
        page_putf(out, ", %zu of another shape", doc->shape_mismatches.count);
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

static void say_one(page *out, const doc_checkpoint *doc)
{
    const doc_diagnosis *rows = doc->diagnosis.at;

    say_counts(out, doc);
    say_dtypes(out, doc);
    say_shards(out, doc);
    if (doc->diagnosis.count == 0) {
        page_ink(out, INK_GOOD);
        page_put(out, "  the checkpoint fits");
        page_ink(out, INK_PLAIN);
        page_end(out);
    }
    for (size_t i = 0; i < doc->diagnosis.count; i++)
        say_row(out, &rows[i]);
}

static void say_title(page *out, const doc_checkpoint *doc)
{
    page_ink(out, INK_TITLE);
    page_name(out, doc->component.ptr != NULL ? doc->component : CG_LIT("All components"), 0);
    page_ink(out, INK_DIM);
    page_put(out, "  on `");
    page_name(out, doc->root, 0);
    page_put(out, "`");
    page_ink(out, INK_PLAIN);
    page_end(out);
}

cg_code text_checkpoint(heap *from, const doc_checkpoint *doc, const text_style *style,
                        cg_sink sink, cg_err *reterr)
{
    const doc_checkpoint *parts = doc->components.at;
    page out;

    page_open(&out, from, style, sink);
    if (doc->components.count == 0) {
        say_title(&out, doc);
        say_one(&out, doc);
    }
    for (size_t i = 0; i < doc->components.count; i++) {
        if (i > 0)
            page_end(&out);
        say_title(&out, &parts[i]);
        say_one(&out, &parts[i]);
    }
    return page_close(&out, reterr);
}
