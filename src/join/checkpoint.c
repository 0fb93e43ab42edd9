#include "join/checkpoint.h"

#include "base/num.h"
#include "base/sort.h"
#include "join/checkpoint_report.h"
#include "join/diagnosis.h"
#include "join/difference.h"
#include "join/member_shape.h"

/* --- what is asked for, what there is --- */

static cg_code collect_asked(checkpoint_part *self, cg_err *reterr)
{
    size_t count = 0;

    for (size_t i = 0; i < self->component_count; i++)
        count += self->components[i]->parameter_count;
    self->asked = arena_zero(self->mem, (count + 1) * sizeof *self->asked);
    self->values = arena_zero(self->mem, (self->component_count + 1) * sizeof *self->values);
    if (self->asked == NULL || self->values == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->component_count; i++) {
        for (size_t j = 0; j < self->components[i]->parameter_count; j++) {
            const wanted_parameter *parameter = &self->components[i]->parameters[j];
            asked *to = &self->asked[self->asked_count];

            if (!str_equal(parameter->root, self->root)) {
                self->skipped++;
                continue;
            }
            to->from = parameter;
            to->component = (uint32_t)i;
            if (!key_pattern_make(self->mem, parameter->pieces, parameter->piece_count,
                                  &to->pattern))
                return err_nomem(reterr);
            to->is_family = to->pattern.number_count > 0;
            self->asked_count++;
        }
    }
    return CG_OK;
}

static bool is_promised(const tensor_difference *one)
{
    return one->found.ptr == NULL;
}

/* The names of the tensors and of those an index promises: both are in order. */
static cg_code collect_names(checkpoint_part *self, cg_err *reterr)
{
    const tensor_header *header = self->header;
    size_t i = 0;
    size_t j = 0;

    self->names = arena_take(self->mem, (header->tensor_count + header->difference_count + 1) *
                                            sizeof *self->names);
    self->is_claimed = arena_zero(self->mem, header->tensor_count + 1);
    self->is_of_other_shape = arena_zero(self->mem, header->tensor_count + 1);
    if (self->names == NULL || self->is_claimed == NULL || self->is_of_other_shape == NULL)
        return err_nomem(reterr);
    while (i < header->tensor_count || j < header->difference_count) {
        cg_str text;

        if (j < header->difference_count && !is_promised(&header->differences[j])) {
            j++;
            continue;
        }
        if (j == header->difference_count ||
            (i < header->tensor_count &&
             str_compare(header->tensors[i].name, header->differences[j].name) < 0))
            text = header->tensors[i++].name;
        else
            text = header->differences[j++].name;
        if (!key_name_make(self->mem, text, &self->names[self->name_count++]))
            return err_nomem(reterr);
    }
    return CG_OK;
}

/* --- members --- */

static cg_code add_entry(checkpoint_part *self, uint32_t index, const key_numbers *numbers,
                         bool is_template, cg_err *reterr)
{
    const asked *from = &self->asked[index];
    entry *added = vec_add(self->heap, &self->entries);
    cg_str text;

    if (added == NULL)
        return err_nomem(reterr);
    *added = (entry){.asked = index,
                     .key = {.pattern = &from->pattern,
                             .numbers = *numbers,
                             .from = from->from,
                             .values = &self->values[from->component],
                             .is_template = is_template,
                             .is_certain = from->from->is_certain,
                             .partner = KEY_NOWHERE}};
    if (!key_pattern_text(self->mem, self->heap, &from->pattern, numbers, &text) ||
        !key_name_make(self->mem, text, &added->key.name))
        return err_nomem(reterr);
    return member_shape_make(self->heap, self->mem, self->pool, from->from, &from->pattern, numbers,
                             &added->key.shape, reterr);
}

static cg_code add_members(checkpoint_part *self, uint32_t index, key_numbers start,
                           bool *ret_counted, cg_err *reterr)
{
    const asked *from = &self->asked[index];
    key_family family;

    CG_TRY(key_pattern_expand(self->heap, self->mem, &from->pattern, self->names, self->name_count,
                              start, from->from->is_certain, &family, reterr));
    *ret_counted = family.is_counted;
    for (size_t i = 0; i < family.count; i++)
        CG_TRY(add_entry(self, index, &family.at[i], false, reterr));
    return CG_OK;
}

static const tensor_row *claim(checkpoint_part *self, const model_key *key)
{
    const tensor_row *row = safetensors_find(self->header, key->name.text);
    cg_str text = key->name.text;
    size_t dot = str_find_last(text, '.');
    size_t lead = dot == SIZE_MAX ? 0 : dot + 1;

    for (size_t i = 0; row == NULL && i < key->from->alternative_count; i++) {
        cg_str other = key->from->alternatives[i];
        cg_str name;

        if (arena_format(self->mem, &name, "%.*s%.*s", (int)lead, text.ptr, (int)other.len,
                         other.ptr))
            row = safetensors_find(self->header, name);
    }
    return row;
}

static void claim_all(checkpoint_part *self)
{
    for (size_t i = 0; i < self->entries.count; i++) {
        model_key *key = &self->entries.at[i].key;

        if (key->is_template)
            continue;
        key->tensor = claim(self, key);
        if (key->tensor == NULL)
            continue;
        self->is_claimed[key->tensor - self->header->tensors] = true;
        self->asked[self->entries.at[i].asked].matched++;
    }
}

/* --- families that the file has elsewhere --- */

/* Where a family may lie: what stands before its first number in the file. */
typedef struct place {
    cg_str before;
    uint64_t votes;
    uint64_t last;
} place;

typedef VEC(place) places;

static cg_str lead_of(const key_name *name, uint32_t count)
{
    size_t len = 0;

    for (uint32_t i = 0; i < count; i++)
        len += name->segments[i].len + (i > 0);
    return (cg_str){name->text.ptr, len};
}

/* The segment that holds the first number, and which number it is. */
static uint32_t first_number(const key_pattern *pattern, uint32_t *ret_number)
{
    for (uint32_t i = 0; i < pattern->count; i++) {
        for (uint32_t j = 0; j < pattern->segments[i].count; j++) {
            int8_t number = pattern->segments[i].parts[j].number;

            if (number >= 0 && number < (int8_t)KEY_NUMBERS) {
                *ret_number = (uint32_t)number;
                return i;
            }
        }
    }
    *ret_number = 0;
    return pattern->count;
}

static cg_code vote(checkpoint_part *self, places *to, cg_str before, uint64_t number, bool is_new,
                    cg_err *reterr)
{
    place *added;

    for (size_t i = 0; i < to->count; i++) {
        if (!str_equal(to->at[i].before, before))
            continue;
        to->at[i].votes += is_new;
        to->at[i].last = number > to->at[i].last ? number : to->at[i].last;
        return CG_OK;
    }
    added = vec_add(self->heap, to);
    if (added == NULL)
        return err_nomem(reterr);
    *added = (place){before, 1, number};
    return CG_OK;
}

static bool is_name_claimed(const checkpoint_part *self, const key_name *name)
{
    const tensor_row *row = safetensors_find(self->header, name->text);

    return row != NULL && self->is_claimed[row - self->header->tensors];
}

/* Vote for every place where the rest of this key is found among tensors nobody claims. */
static cg_code vote_places(checkpoint_part *self, const key_pattern *pattern, places *to,
                           cg_err *reterr)
{
    uint32_t number;
    uint32_t at = first_number(pattern, &number);
    cg_str last = {0};

    for (size_t i = 0; i < self->name_count; i++) {
        const key_name *name = &self->names[i];
        key_numbers numbers = {0};
        cg_str before;

        if (name->count < pattern->count - at ||
            !key_pattern_match(pattern, at, name, name->count - (pattern->count - at), &numbers) ||
            is_name_claimed(self, name))
            continue;
        before = lead_of(name, name->count - (pattern->count - at));
        CG_TRY(vote(self, to, before, numbers.at[number],
                    last.ptr == NULL || !str_equal(last, before), reterr));
        last = before;
    }
    return CG_OK;
}

/*
 * One place where at least half of the keys that begin alike are found tells how many members there
 * are: `layers.{i}...` when the file has all of that below `model.`.
 */
static const place *best_place(const places *all, uint64_t keys)
{
    const place *best = NULL;
    bool is_tied = false;

    for (size_t i = 0; i < all->count; i++) {
        if (best == NULL || all->at[i].votes > best->votes) {
            best = &all->at[i];
            is_tied = false;
        } else if (all->at[i].votes == best->votes && all->at[i].last != best->last) {
            is_tied = true;
        }
    }
    return best == NULL || is_tied || best->votes * 2 < keys ? NULL : best;
}

/* The same for a list of the same name whose members are called otherwise, whatever follows. */
static cg_code vote_lists(checkpoint_part *self, const key_pattern *pattern, places *to,
                          cg_err *reterr)
{
    uint32_t number;
    uint32_t at = first_number(pattern, &number);

    for (size_t i = 0; at > 0 && i < self->name_count; i++) {
        const key_name *name = &self->names[i];

        for (uint32_t j = 1; j < name->count; j++) {
            key_numbers numbers = {0};

            if (!key_segment_match(pattern, at - 1, name->segments[j - 1], &numbers) ||
                !key_segment_match(pattern, at, name->segments[j], &numbers) ||
                is_name_claimed(self, name))
                continue;
            CG_TRY(vote(self, to, lead_of(name, j), numbers.at[number], false, reterr));
        }
    }
    return CG_OK;
}

/*
 * Lists among the tensors nobody claims, whatever their name: where they begin, the votes are how
 * many tensors their fullest member has.
 */
static cg_code count_lists(checkpoint_part *self, places *to, cg_err *reterr)
{
    cg_str member = {0};
    uint64_t held = 0;

    for (size_t i = 0; i < self->name_count; i++) {
        const key_name *name = &self->names[i];
        uint64_t number = 0;
        uint32_t at = 0;

        while (at < name->count && !num_read_u64(name->segments[at], &number))
            at++;
        if (at == 0 || at == name->count || is_name_claimed(self, name))
            continue;
        if (member.ptr == NULL || !str_equal(member, lead_of(name, at + 1)))
            held = 0;
        member = lead_of(name, at + 1);
        held++;
        CG_TRY(vote(self, to, lead_of(name, at), number, false, reterr));
        for (size_t j = 0; j < to->count; j++) {
            if (str_equal(to->at[j].before, lead_of(name, at)) && to->at[j].votes < held)
                to->at[j].votes = held;
        }
    }
    return CG_OK;
}

/* The only list whose members are about as large as those of the family. */
static const place *like_sized(const places *all, uint64_t keys)
{
    const place *only = NULL;

    for (size_t i = 0; i < all->count; i++) {
        if (all->at[i].votes * 3 < keys * 2 || all->at[i].votes * 2 > keys * 3)
            continue;
        if (only != NULL)
            return NULL;
        only = &all->at[i];
    }
    return only;
}

static bool lead_before(const void *context, uint32_t a, uint32_t b)
{
    const entry *all = context;

    return str_compare(all[a].key.name.text, all[b].key.name.text) < 0;
}

/* The text in front of the first number. */
static cg_str family_lead(const entry *from)
{
    uint32_t number;
    uint32_t at = first_number(from->key.pattern, &number);

    return lead_of(&from->key.name, at);
}

static cg_code resolve_family(checkpoint_part *self, const uint32_t *members, size_t count,
                              cg_err *reterr)
{
    places all = {0};
    const place *best;
    cg_code code = CG_OK;
    uint64_t last = 0;

    for (size_t i = 0; code == CG_OK && i < count; i++)
        code = vote_places(self, self->entries.at[members[i]].key.pattern, &all, reterr);
    best = best_place(&all, count);
    if (best == NULL && code == CG_OK) {
        all.count = 0;
        code = vote_lists(self, self->entries.at[members[0]].key.pattern, &all, reterr);
        best = all.count == 1 ? &all.at[0] : NULL;
    }
    if (best == NULL && code == CG_OK && count > 3) {
        all.count = 0;
        code = count_lists(self, &all, reterr);
        best = like_sized(&all, count);
    }
    if (best != NULL)
        last = best->last;
    for (size_t i = 0; best != NULL && code == CG_OK && i < count; i++) {
        uint32_t index = self->entries.at[members[i]].asked;
        const key_pattern *pattern = &self->asked[index].pattern;
        uint32_t number;
        uint64_t first;

        first_number(pattern, &number);
        first = pattern->numbers[number]->first.is_set ? pattern->numbers[number]->first.value : 0;
        if (last - first > KEY_FAMILY)
            continue;
        self->entries.at[members[i]].key.is_explained = true; /* replaced by its members */
        for (uint64_t value = first; code == CG_OK && value <= last; value++) {
            key_numbers numbers = {.bound = 1u << number};
            bool is_counted;

            numbers.at[number] = value;
            code = add_members(self, index, numbers, &is_counted, reterr);
            if (code == CG_OK && !is_counted)
                code = add_entry(self, index, &numbers, true, reterr);
        }
    }
    vec_free(self->heap, &all);
    return code;
}

/* Families whose numbers the file does not name in their place. */
static cg_code resolve_families(checkpoint_part *self, cg_err *reterr)
{
    size_t count = self->entries.count;
    uint32_t *order = checkpoint_order(self->mem, count);
    size_t kept = 0;
    size_t written = 0;

    if (order == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        if (self->entries.at[i].key.is_template)
            order[kept++] = (uint32_t)i;
    }
    sort_with(order, order + count, kept, lead_before, self->entries.at);
    for (size_t i = 0, next; i < kept; i = next) {
        cg_str lead = family_lead(&self->entries.at[order[i]]);

        for (next = i + 1; next < kept; next++) {
            if (!str_equal(family_lead(&self->entries.at[order[next]]), lead))
                break;
        }
        CG_TRY(resolve_family(self, order + i, next - i, reterr));
    }
    for (size_t i = 0; i < self->entries.count; i++) {
        if (!self->entries.at[i].key.is_explained)
            self->entries.at[written++] = self->entries.at[i];
    }
    self->entries.count = written;
    return CG_OK;
}

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
            return is_promised(&header->differences[middle]) ? &header->differences[middle] : NULL;
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

static cg_code expand_all(checkpoint_part *self, cg_err *reterr)
{
    for (uint32_t i = 0; i < self->asked_count; i++) {
        bool is_counted;

        CG_TRY(add_members(self, i, (key_numbers){0}, &is_counted, reterr));
        if (!is_counted)
            CG_TRY(add_entry(self, i, &(key_numbers){0}, true, reterr));
    }
    return CG_OK;
}

static cg_code compare_steps(checkpoint_part *self, difference *differs, doc_checkpoint *ret,
                             cg_err *reterr)
{
    CG_TRY(collect_asked(self, reterr));
    CG_TRY(collect_names(self, reterr));
    CG_TRY(expand_all(self, reterr));
    claim_all(self);
    /* Members that are found elsewhere are not in their own place: nothing more to claim. */
    CG_TRY(resolve_families(self, reterr));
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
    cg_code code = collect_asked(&self, reterr);

    if (code == CG_OK)
        code = collect_names(&self, reterr);
    if (code == CG_OK)
        code = expand_all(&self, reterr);
    if (code == CG_OK)
        claim_all(&self);
    for (size_t i = 0; self.values != NULL && i < self.component_count; i++)
        vec_free(self.heap, &self.values[i]);
    vec_free(self.heap, &self.entries);
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

    for (size_t i = 0; self.values != NULL && i < self.component_count; i++)
        vec_free(self.heap, &self.values[i]);
    vec_free(self.heap, &self.entries);
    vec_free(self.heap, &differs.rows);
    vec_free(self.heap, &differs.shifts);
    return code;
}

/* --- which components --- */

static bool is_called(cg_str name, cg_str wanted)
{
    size_t lead;

    if (!str_ends_with(name, wanted))
        return false;
    lead = name.len - wanted.len;
    return lead == 0 || (lead >= 2 && name.ptr[lead - 1] == ':' && name.ptr[lead - 2] == ':');
}

static bool has_root(const wanted_component *component, cg_str root)
{
    for (size_t i = 0; i < component->parameter_count; i++) {
        if (str_equal(component->parameters[i].root, root))
            return true;
    }
    return false;
}

/* What a program builds itself comes before what only a constructor tells of. */
static bool leads(const wanted_component *one, const wanted_component *other)
{
    if ((one->built_by != NULL) != (other->built_by != NULL))
        return one->built_by != NULL;
    return str_compare(one->name, other->name) < 0;
}

#define ROOTS_SEEN 16

/* How many of the builder's keys, with 0 for every number, are names in the file. */
static size_t count_fitting(arena *mem, const wanted_component *of, cg_str root,
                            const tensor_header *header)
{
    size_t fits = 0;

    for (size_t i = 0; i < of->parameter_count; i++) {
        const wanted_parameter *at = &of->parameters[i];
        cg_str text = {NULL, 0};
        bool is_good = str_equal(at->root, root);

        for (size_t k = 0; is_good && k < at->piece_count; k++) {
            cg_str more = at->pieces[k].is_number ? CG_LIT("0") : at->pieces[k].text;

            is_good = arena_format(mem, &text, "%.*s%.*s", (int)text.len, text.ptr ? text.ptr : "",
                                   (int)more.len, more.ptr);
        }
        fits += is_good && text.ptr != NULL && safetensors_find(header, text) != NULL;
    }
    return fits;
}

static cg_str default_root(arena *mem, const tensor_header *header,
                           const wanted_component *const *chosen, size_t count)
{
    const wanted_component *first = NULL;
    cg_str root = {0};
    cg_str seen[ROOTS_SEEN];
    size_t seen_count = 0;
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        if (chosen[i]->parameter_count > 0 && (first == NULL || leads(chosen[i], first)))
            first = chosen[i];
    }
    for (size_t i = 0; first != NULL && i < first->parameter_count; i++) {
        size_t k = 0;

        while (k < seen_count && !str_equal(seen[k], first->parameters[i].root))
            k++;
        if (k == seen_count && seen_count < ROOTS_SEEN)
            seen[seen_count++] = first->parameters[i].root;
    }
    /* Of several builders the one that the file is of. */
    for (size_t i = 0; i < seen_count; i++) {
        size_t fits = seen_count > 1 ? count_fitting(mem, first, seen[i], header) : 0;

        if (root.ptr == NULL || fits > most || (fits == most && str_compare(seen[i], root) < 0)) {
            root = seen[i];
            most = fits;
        }
    }
    return root.ptr != NULL ? root : CG_LIT("vb");
}

static bool component_before(const void *context, uint32_t a, uint32_t b)
{
    const wanted_component *all = context;

    return str_compare(all[a].name, all[b].name) < 0;
}

static cg_code choose(arena *mem, const wanted_component *components, size_t count,
                      const tensor_header *header, const checkpoint_options *options,
                      const wanted_component ***ret, size_t *ret_count, cg_str *ret_root,
                      cg_err *reterr)
{
    const wanted_component **chosen = arena_take(mem, (count + 1) * sizeof(*chosen));
    uint32_t *order = checkpoint_order(mem, count);
    size_t kept = 0;
    size_t rooted = 0;

    if (chosen == NULL || order == NULL)
        return err_nomem(reterr);
    sort_with(order, order + count, count, component_before, components);
    for (size_t i = 0; i < count; i++) {
        const wanted_component *one = &components[order[i]];

        if (options->component.ptr != NULL ? is_called(one->name, options->component)
                                           : one->is_top_level)
            chosen[kept++] = one;
    }
    if (kept == 0 && options->component.ptr != NULL)
        return cg_fail(reterr, PROBLEM_COMPONENT, "no component `%.*s`",
                       ERR_STR(options->component));
    *ret_root = options->root.ptr != NULL ? options->root : default_root(mem, header, chosen, kept);
    for (size_t i = 0; options->component.ptr == NULL && i < kept; i++) {
        if (has_root(chosen[i], *ret_root))
            chosen[rooted++] = chosen[i];
    }
    *ret = chosen;
    *ret_count = options->component.ptr == NULL ? rooted : kept;
    return CG_OK;
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

    CG_TRY(choose(mem, components, count, header, options, &chosen, &all.component_count, &all.root,
                  reterr));
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
