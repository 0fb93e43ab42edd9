#include "join/checkpoint.h"

#include "base/sort.h"
#include "join/attempts.h"
#include "join/checkpoint_choice.h"
#include "join/checkpoint_families.h"
#include "join/checkpoint_report.h"
#include "join/diagnosis.h"

/* --- shapes --- */

static cg_code solve_shapes(checkpoint_part *self, cg_err *reterr)
{
    VEC(shape_claim) claims = {0};
    cg_code code = CG_OK;

    for (uint32_t component = 0; code == CG_OK && component < self->component_count; component++) {
        claims.count = 0;
        for (size_t i = 0; code == CG_OK && i < self->entries.count; i++) {
            const model_key *key = &self->entries.at[i].key;
            shape_claim *added;

            if (self->asked[self->entries.at[i].asked].component != component ||
                key->tensor == NULL || !key->from->has_rank || key->from->rank != key->tensor->rank)
                continue;
            added = vec_add(self->heap, &claims);
            if (added == NULL)
                code = err_nomem(reterr);
            else
                *added = (shape_claim){key->shape, key->tensor->shape, key->tensor->rank, 1};
        }
        if (code == CG_OK)
            code = shape_solve(self->heap, self->pool, claims.at, claims.count,
                               &self->values[component], reterr);
    }
    vec_free(self->heap, &claims);
    return code;
}

/* --- one difference --- */

static bool entry_before(const void *context, uint32_t a, uint32_t b)
{
    const entry *all = context;

    return str_compare(all[a].key.name.text, all[b].key.name.text) < 0;
}

static const tensor_difference *promise_of(const tensor_header *header, cg_str name)
{
    size_t low = 0;
    size_t high = header->difference_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(header->differences[middle].name, name);

        if (order == 0)
            return part_is_promised(&header->differences[middle]) ? &header->differences[middle]
                                                                  : NULL;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool is_shard_absent(const tensor_header *header, cg_str shard)
{
    for (size_t i = 0; i < header->file_count; i++) {
        if (str_equal(header->files[i].name, shard))
            return !header->files[i].is_present;
    }
    return true;
}

static void finish_key(difference *to, model_key *key)
{
    const tensor_difference *promise;

    if (key->tensor != NULL) {
        enum shape_answer answer = difference_shape(to, key, key->tensor);

        key->has_other_shape = answer == SHAPE_OTHER;
        key->has_open_shape = answer == SHAPE_OPEN;
        return;
    }
    promise = promise_of(to->header, key->name.text);
    if (promise == NULL)
        return;
    key->shard = promise->listed;
    key->is_shard_absent = is_shard_absent(to->header, promise->listed);
}

/* Keys in order, each once: asked for twice, it fits when one of the two fits. */
static cg_code gather_keys(checkpoint_part *self, difference *to, cg_err *reterr)
{
    size_t count = self->entries.count;
    uint32_t *order = checkpoint_order(self->mem, count);

    to->keys = arena_take(self->mem, (count + 1) * sizeof *to->keys);
    if (order == NULL || to->keys == NULL)
        return err_nomem(reterr);
    sort_with(order, order + count, count, entry_before, self->entries.at);
    for (size_t i = 0; i < count; i++) {
        model_key key = self->entries.at[order[i]].key;
        model_key *last = to->key_count > 0 ? &to->keys[to->key_count - 1] : NULL;

        finish_key(to, &key);
        if (last != NULL && str_equal(last->name.text, key.name.text)) {
            bool is_certain = last->is_certain || key.is_certain;

            if (last->has_other_shape && !key.has_other_shape)
                *last = key;
            last->is_certain = is_certain;
            continue;
        }
        to->keys[to->key_count++] = key;
    }
    for (size_t i = 0; i < to->key_count; i++) {
        const model_key *key = &to->keys[i];

        if (key->tensor != NULL && key->has_other_shape)
            self->is_of_other_shape[key->tensor - self->header->tensors] = true;
    }
    return CG_OK;
}

static cg_code gather_spare(checkpoint_part *self, difference *to, cg_err *reterr)
{
    to->spare = arena_zero(self->mem, (self->header->tensor_count + 1) * sizeof *to->spare);
    if (to->spare == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->header->tensor_count; i++) {
        spare_tensor *spare = &to->spare[to->spare_count];

        if (self->is_claimed[i] || (self->owners != NULL && self->owners[i] != 0))
            continue;
        spare->row = &self->header->tensors[i];
        if (!key_name_make(self->mem, spare->row->name, &spare->name))
            return err_nomem(reterr);
        to->spare_count++;
    }
    return CG_OK;
}

/* --- components together, and each for itself --- */

static cg_code compare_steps(checkpoint_part *self, difference *differs, doc_checkpoint *ret,
                             cg_err *reterr)
{
    CG_TRY(part_expand(self, reterr));
    part_claim(self);
    if (!attempts_settle(self))
        return err_nomem(reterr);
    /* Members that are found elsewhere are not in their own place: nothing more to claim. */
    CG_TRY(families_resolve(self, reterr));
    CG_TRY(solve_shapes(self, reterr));
    differs->values = self->values;
    differs->value_count = self->component_count;
    differs->names = self->names;
    differs->name_count = self->name_count;
    CG_TRY(gather_keys(self, differs, reterr));
    CG_TRY(gather_spare(self, differs, reterr));
    CG_TRY(diagnosis_run(differs, reterr));
    return checkpoint_report(self, differs, ret, reterr);
}

/* Which tensors the component claims by their names; on its own copy of the part. */
static cg_code find_claims(checkpoint_part self, const bool **ret, cg_err *reterr)
{
    cg_code code = part_expand(&self, reterr);

    if (code == CG_OK)
        part_claim(&self);
    part_free(&self);
    *ret = self.is_claimed;
    return code;
}

static bool is_of_one_file(const wanted_component *one, const wanted_component *other)
{
    return one != other && one->maker != 0 && one->maker == other->maker &&
           str_equal(one->maker_root, other->maker_root);
}

/* What the others of the same map ask for; claims[i] NULL: it has no others. */
static cg_code find_owners(const checkpoint_part *self, const bool *const *claims, size_t which,
                           const uint32_t **ret, cg_err *reterr)
{
    size_t count = self->header->tensor_count;
    uint32_t *owners;

    if (claims[which] == NULL)
        return CG_OK;
    owners = arena_zero(self->mem, (count + 1) * sizeof *owners);
    if (owners == NULL)
        return err_nomem(reterr);
    for (size_t j = 0; j < self->component_count; j++) {
        if (!is_of_one_file(self->components[which], self->components[j]))
            continue;
        for (size_t i = 0; i < count; i++) {
            if (owners[i] == 0 && claims[j][i] && !claims[which][i])
                owners[i] = (uint32_t)j + 1;
        }
    }
    *ret = owners;
    return CG_OK;
}

static cg_code list_claims(const checkpoint_part *self, const bool **claims, cg_err *reterr)
{
    for (size_t i = 0; i < self->component_count; i++) {
        bool has_others = false;
        checkpoint_part one = *self;

        for (size_t j = 0; j < self->component_count && !has_others; j++)
            has_others = is_of_one_file(self->components[i], self->components[j]);
        one.components = self->components + i;
        one.component_count = 1;
        if (has_others)
            CG_TRY(find_claims(one, &claims[i], reterr));
    }
    return CG_OK;
}

/* Compare these components as if they were one model. */
static cg_code compare(checkpoint_part self, doc_checkpoint *ret, cg_err *reterr)
{
    difference differs = {
        .heap = self.heap, .mem = self.mem, .pool = self.pool, .header = self.header};
    cg_code code;

    for (size_t i = 0; i < self.component_count && differs.renamed_by == NULL; i++)
        differs.renamed_by = self.components[i]->renamed_by;
    code = compare_steps(&self, &differs, ret, reterr);

    part_free(&self);
    vec_free(self.heap, &differs.rows);
    vec_free(self.heap, &differs.shifts);
    return code;
}

cg_code checkpoint_compare(heap *from, arena *mem, expr_pool *pool,
                           const wanted_component *components, size_t count,
                           const tensor_header *header, const checkpoint_options *options,
                           doc_checkpoint *ret, cg_err *reterr)
{
    checkpoint_part all = {.heap = from, .mem = mem, .pool = pool, .header = header};
    const wanted_component **chosen = NULL;
    doc_checkpoint doc;
    doc_checkpoint *parts;
    cg_str *settled;

    CG_TRY(checkpoint_choose(mem, components, count, header,
                             &(checkpoint_choice){options->root, options->component}, &chosen,
                             &all.component_count, &all.root, reterr));
    all.components = chosen;
    settled = arena_zero(mem, (all.component_count + 1) * sizeof *settled);
    if (settled == NULL)
        return err_nomem(reterr);
    if (options->settled != NULL) {
        *options->settled = (sc_strs){settled, all.component_count + 1};
        all.settled = settled;
    }
    CG_TRY(compare(all, &doc, reterr));
    if (all.component_count > 1) {
        const bool **claims = arena_zero(mem, all.component_count * sizeof *claims);

        parts = arena_take(mem, all.component_count * sizeof *parts);
        if (parts == NULL || claims == NULL)
            return err_nomem(reterr);
        CG_TRY(list_claims(&all, claims, reterr));
        for (size_t i = 0; i < all.component_count; i++) {
            checkpoint_part one = all;

            one.components = chosen + i;
            one.component_count = 1;
            one.all = chosen;
            one.all_count = all.component_count;
            CG_TRY(find_owners(&all, claims, i, &one.owners, reterr));
            if (one.settled != NULL)
                one.settled = settled + 1 + i;
            CG_TRY(compare(one, &parts[i], reterr));
        }
        doc.components = (sc_records){parts, all.component_count};
    }
    *ret = doc;
    return CG_OK;
}

static bool pair_before(const void *context, uint32_t a, uint32_t b)
{
    const sc_pair *all = context;

    return str_compare(all[a].key, all[b].key) < 0;
}

cg_code checkpoint_key_map(arena *mem, const doc_checkpoint *doc, doc_key_map *ret, cg_err *reterr)
{
    const doc_diagnosis *rows = doc->diagnosis.at;
    size_t count = 0;
    sc_pair *pairs;
    uint32_t *order;
    size_t at = 0;

    for (size_t i = 0; i < doc->diagnosis.count; i++)
        count += rows[i].key_map.count;
    pairs = arena_take(mem, (count + 1) * 2 * sizeof *pairs);
    order = checkpoint_order(mem, count);
    if (pairs == NULL || order == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < doc->diagnosis.count; i++) {
        for (size_t j = 0; j < rows[i].key_map.count; j++)
            pairs[at++] = rows[i].key_map.at[j];
    }
    sort_with(order, order + count, count, pair_before, pairs);
    for (size_t i = 0; i < count; i++)
        pairs[count + i] = pairs[order[i]];
    *ret = (doc_key_map){CG_LIT(KEY_MAP_SCHEMA), {pairs + count, count}};
    return CG_OK;
}
