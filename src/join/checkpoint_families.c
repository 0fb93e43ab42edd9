#include "join/checkpoint_families.h"

#include "base/num.h"
#include "base/sort.h"

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
        const key_piece *piece;
        uint32_t number;
        uint64_t first;
        uint64_t step;

        first_number(pattern, &number);
        piece = pattern->numbers[number];
        first = piece->first.is_set ? piece->first.value : 0;
        step = piece->step.is_set && piece->step.value > 0 ? piece->step.value : 1;
        if (piece->spacing != KEY_STEPS || last < first || last - first > KEY_FAMILY)
            continue;
        self->entries.at[members[i]].key.is_explained = true; /* replaced by its members */
        for (uint64_t value = first; code == CG_OK && value <= last; value += step) {
            key_numbers numbers = {.bound = 1u << number};
            bool is_counted;

            numbers.at[number] = value;
            code = part_add_members(self, index, numbers, &is_counted, reterr);
            if (code == CG_OK && !is_counted)
                code = part_add_entry(self, index, &numbers, true, reterr);
        }
    }
    vec_free(self->heap, &all);
    return code;
}

cg_code families_resolve(checkpoint_part *self, cg_err *reterr)
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
