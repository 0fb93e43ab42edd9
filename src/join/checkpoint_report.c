#include "join/checkpoint_report.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/sort.h"
#include "join/member_shape.h"
#include "join/prefix.h"
#include "model/expr_print.h"
#include "model/expr_values.h"

#define SETTLED_SHOWN 12 /* sizes, and as many lists */

static cg_code list_missing(checkpoint_part *self, const difference *from, bool is_certain,
                            sc_strs *ret, cg_err *reterr)
{
    cg_str *texts = arena_take(self->mem, (from->key_count + 1) * sizeof *texts);
    size_t count = 0;

    if (texts == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < from->key_count; i++) {
        if (from->keys[i].tensor == NULL && from->keys[i].is_certain == is_certain)
            texts[count++] = from->keys[i].name.text;
    }
    *ret = (sc_strs){texts, count};
    return CG_OK;
}

static cg_code list_unclaimed(checkpoint_part *self, const difference *from, sc_strs *ret,
                              cg_err *reterr)
{
    cg_str *texts = arena_take(self->mem, (from->spare_count + 1) * sizeof *texts);

    if (texts == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < from->spare_count; i++)
        texts[i] = from->spare[i].name.text;
    *ret = (sc_strs){texts, from->spare_count};
    return CG_OK;
}

/* How many tensors each other component of the map has; those are in the order of names. */
static cg_code list_of_others(checkpoint_part *self, sc_counts *ret, cg_err *reterr)
{
    sc_count *rows = arena_zero(self->mem, (self->all_count + 1) * sizeof *rows);
    size_t kept = 0;

    if (rows == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; self->owners != NULL && i < self->header->tensor_count; i++) {
        if (self->owners[i] != 0)
            rows[self->owners[i] - 1].value++;
    }
    for (size_t i = 0; i < self->all_count; i++) {
        if (rows[i].value > 0)
            rows[kept++] = (sc_count){self->all[i]->name, rows[i].value};
    }
    *ret = (sc_counts){rows, kept};
    return CG_OK;
}

static bool template_before(const void *context, uint32_t a, uint32_t b)
{
    const doc_template_match *all = context;

    return str_compare(all[a].key, all[b].key) < 0;
}

static cg_code list_templates(checkpoint_part *self, sc_records *ret, cg_err *reterr)
{
    doc_template_match *rows = arena_take(self->mem, (self->asked_count + 1) * 2 * sizeof *rows);
    uint32_t *order = checkpoint_order(self->mem, self->asked_count);
    size_t count = 0;
    size_t kept = 0;

    if (rows == NULL || order == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->asked_count; i++) {
        if (!self->asked[i].is_family)
            continue;
        rows[count].matched = self->asked[i].matched;
        if (!key_pattern_text(self->mem, self->heap, &self->asked[i].pattern, NULL,
                              &rows[count].key))
            return err_nomem(reterr);
        count++;
    }
    sort_with(order, order + self->asked_count, count, template_before, rows);
    for (size_t i = 0; i < count; i++) {
        const doc_template_match *row = &rows[order[i]];
        doc_template_match *last = kept > 0 ? &rows[count + kept - 1] : NULL;

        if (last != NULL && str_equal(last->key, row->key))
            last->matched = last->matched > row->matched ? last->matched : row->matched;
        else
            rows[count + kept++] = *row;
    }
    *ret = (sc_records){rows + count, kept};
    return CG_OK;
}

static cg_code print_shape(checkpoint_part *self, const model_key *key, sc_strs *ret,
                           cg_err *reterr)
{
    cg_str *axes = arena_take(self->mem, (key->from->rank + 1) * sizeof *axes);
    buf text;
    bool is_done = axes != NULL;

    buf_init(&text, self->heap, UINT32_MAX);
    for (uint32_t i = 0; is_done && i < key->from->rank; i++) {
        expr axis = expr_substitute(self->pool, key->shape[i], key->values->at, key->values->count);

        buf_clear(&text);
        expr_print(self->pool, axis != EXPR_NONE ? axis : key->shape[i], &text);
        is_done = !text.failed && arena_text(self->mem, buf_text(&text), &axes[i]);
    }
    buf_free(&text);
    *ret = (sc_strs){axes, key->from->rank};
    return is_done ? CG_OK : err_nomem(reterr);
}

static cg_code list_mismatches(checkpoint_part *self, const difference *from, sc_records *ret,
                               cg_err *reterr)
{
    doc_tensor_mismatch *rows = arena_take(self->mem, (from->key_count + 1) * sizeof *rows);
    size_t count = 0;

    if (rows == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < from->key_count; i++) {
        const model_key *key = &from->keys[i];

        if (!key->has_other_shape)
            continue;
        rows[count] = (doc_tensor_mismatch){.key = key->name.text,
                                            .file_key = key->tensor->name,
                                            .file_shape = {key->tensor->shape, key->tensor->rank}};
        CG_TRY(print_shape(self, key, &rows[count].model_shape, reterr));
        count++;
    }
    *ret = (sc_records){rows, count};
    return CG_OK;
}

static bool count_before(const void *context, uint32_t a, uint32_t b)
{
    const sc_count *all = context;

    return str_compare(all[a].key, all[b].key) < 0;
}

static cg_code list_dtypes(checkpoint_part *self, sc_counts *ret, cg_err *reterr)
{
    uint64_t counts[TENSOR_DTYPE_COUNT] = {0};
    sc_count *rows = arena_take(self->mem, 2 * TENSOR_DTYPE_COUNT * sizeof *rows);
    uint32_t *order = checkpoint_order(self->mem, TENSOR_DTYPE_COUNT);
    size_t count = 0;

    if (rows == NULL || order == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->header->tensor_count; i++)
        counts[self->header->tensors[i].dtype]++;
    for (unsigned i = 0; i < TENSOR_DTYPE_COUNT; i++) {
        if (counts[i] > 0)
            rows[count++] = (sc_count){tensor_dtype_name((enum tensor_dtype)i), counts[i]};
    }
    sort_with(order, order + TENSOR_DTYPE_COUNT, count, count_before, rows);
    for (size_t i = 0; i < count; i++)
        rows[TENSOR_DTYPE_COUNT + i] = rows[order[i]];
    *ret = (sc_counts){rows + TENSOR_DTYPE_COUNT, count};
    return CG_OK;
}

static cg_code list_files(checkpoint_part *self, doc_checkpoint *ret, cg_err *reterr)
{
    const tensor_header *header = self->header;
    doc_checkpoint_shard *shards;
    doc_index_difference *rows;

    if (!header->is_indexed)
        return CG_OK;
    shards = arena_take(self->mem, (header->file_count + 1) * sizeof *shards);
    rows = arena_take(self->mem, (header->difference_count + 1) * sizeof *rows);
    if (shards == NULL || rows == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < header->file_count; i++)
        shards[i] = (doc_checkpoint_shard){header->files[i].name, header->files[i].is_present,
                                           header->files[i].tensor_count};
    for (size_t i = 0; i < header->difference_count; i++)
        rows[i] = (doc_index_difference){header->differences[i].name, header->differences[i].listed,
                                         header->differences[i].found};
    ret->shards = (sc_records){shards, header->file_count};
    ret->index_differences = (sc_records){rows, header->difference_count};
    return CG_OK;
}

static bool binding_before(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *texts = context;

    return str_compare(texts[a], texts[b]) < 0;
}

static void say_sizes(checkpoint_part *self, const shape_values *values, const cg_str *names,
                      const uint32_t *order, buf *text)
{
    size_t shown = values->count < SETTLED_SHOWN ? values->count : SETTLED_SHOWN;

    for (size_t i = 0; i < shown; i++) {
        const expr_binding *one = &values->at[order[i]];

        /* A size of one member says behind it which member that is. */
        cg_str name = names[order[i]];
        size_t member = str_find(name, CG_LIT(MEMBER_SIZE_AT));

        buf_add(text, text->len > 0 ? CG_LIT(", ") : CG_LIT(""));
        buf_add(text, (cg_str){name.ptr, member == SIZE_MAX ? name.len : member});
        buf_add(text, CG_LIT(" = "));
        expr_print(self->pool, one->value, text);
        if (member == SIZE_MAX)
            continue;
        member += sizeof MEMBER_SIZE_AT - 1;
        buf_add(text, CG_LIT(" (where "));
        buf_add(text, (cg_str){name.ptr + member, name.len - member});
        buf_byte(text, ')');
    }
    if (shown < values->count)
        buf_addf(text, ", %zu more sizes", values->count - shown);
}

/* Of `blocks.{i}.q.weight` the list is `blocks`; absent where other numbers take part. */
static cg_str list_of_template(cg_str key)
{
    size_t hole = str_find(key, CG_LIT(".{"));

    if (hole == SIZE_MAX ||
        str_find((cg_str){key.ptr + hole + 2, key.len - hole - 2}, CG_LIT("{")) != SIZE_MAX)
        return (cg_str){0};
    return (cg_str){key.ptr, hole};
}

static void say_lists(const sc_records *templates, buf *text)
{
    const doc_template_match *rows = templates->at;
    size_t shown = 0;

    for (size_t i = 0, next; i < templates->count && shown < SETTLED_SHOWN; i = next) {
        cg_str list = list_of_template(rows[i].key);
        uint64_t most = 0;

        for (next = i; next < templates->count; next++) {
            if (!str_equal(list_of_template(rows[next].key), list))
                break;
            most = rows[next].matched > most ? rows[next].matched : most;
        }
        if (list.ptr == NULL || most == 0)
            continue;
        buf_add(text, text->len > 0 ? CG_LIT(", ") : CG_LIT(""));
        buf_add(text, list);
        buf_addf(text, ": %" PRIu64, most);
        shown++;
    }
}

/* Is there a family of which the code does not say how many members it has? */
static bool has_open_family(const checkpoint_part *self)
{
    for (size_t i = 0; i < self->asked_count; i++) {
        const key_pattern *pattern = &self->asked[i].pattern;

        if (self->asked[i].is_family && !pattern->numbers[0]->end.is_set)
            return true;
    }
    return false;
}

static cg_code list_settled(checkpoint_part *self, const doc_checkpoint *doc, cg_str *ret,
                            cg_err *reterr)
{
    const shape_values *values = &self->values[0];
    cg_str *names = arena_take(self->mem, (values->count + 1) * sizeof *names);
    uint32_t *order = checkpoint_order(self->mem, values->count);
    bool is_done = names != NULL && order != NULL;
    buf text;

    *ret = (cg_str){0};
    if (!is_done)
        return err_nomem(reterr);
    for (size_t i = 0; i < values->count; i++)
        names[i] = expr_text(self->pool, values->at[i].symbol);
    sort_with(order, order + values->count, values->count, binding_before, names);
    buf_init(&text, self->heap, UINT32_MAX);
    say_sizes(self, values, names, order, &text);
    /* Where members are missing, how many there are is not how many there should be. */
    if (doc->missing_certain.count + doc->missing_conditional.count == 0 && has_open_family(self))
        say_lists(&doc->templates, &text);
    is_done = !text.failed && (text.len == 0 || arena_text(self->mem, buf_text(&text), ret));
    buf_free(&text);
    return is_done ? CG_OK : err_nomem(reterr);
}

cg_code checkpoint_report(checkpoint_part *self, difference *from, doc_checkpoint *ret,
                          cg_err *reterr)
{
    doc_checkpoint doc = {.root = self->root,
                          .skipped_other_root = self->skipped,
                          .checkpoint_tensors = self->header->tensor_count};
    doc_diagnosis *rows = arena_take(self->mem, (from->rows.count + 1) * sizeof *rows);

    if (rows == NULL)
        return err_nomem(reterr);
    if (from->rows.count > 0)
        memcpy(rows, from->rows.at, from->rows.count * sizeof *rows);
    doc.diagnosis = (sc_records){rows, from->rows.count};
    for (size_t i = 0; i < self->asked_count; i++)
        doc.matched += self->asked[i].matched > 0;
    for (size_t i = 0; i < self->header->tensor_count; i++)
        doc.matched_tensors += self->is_claimed[i] && !self->is_of_other_shape[i];
    for (size_t i = 0; i < from->key_count; i++)
        doc.shapes_open.value += from->keys[i].has_open_shape;
    doc.shapes_open.is_set = doc.shapes_open.value > 0;
    if (self->component_count == 1) {
        doc.component = self->components[0]->name;
        if (!prefix_call_of(self->mem, self->components[0]->built_by, &doc.built_by))
            return err_nomem(reterr);
    }
    CG_TRY(list_missing(self, from, true, &doc.missing_certain, reterr));
    CG_TRY(list_missing(self, from, false, &doc.missing_conditional, reterr));
    CG_TRY(list_unclaimed(self, from, &doc.unclaimed, reterr));
    CG_TRY(list_of_others(self, &doc.of_others, reterr));
    CG_TRY(list_templates(self, &doc.templates, reterr));
    CG_TRY(list_mismatches(self, from, &doc.shape_mismatches, reterr));
    CG_TRY(list_dtypes(self, &doc.dtype_summary, reterr));
    CG_TRY(list_files(self, &doc, reterr));
    if (self->settled != NULL && self->component_count == 1)
        CG_TRY(list_settled(self, &doc, self->settled, reterr));
    *ret = doc;
    return CG_OK;
}
