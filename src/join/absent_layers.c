#include "join/absent_layers.h"

#include <inttypes.h>

#include "base/sort.h"

#define MET           32
#define NUMBERS_SHOWN 8 /* of layers, or of runs of them */

/* The segment that the number at `level` stands in, which number that is; false: there is none. */
static bool find_number(const model_key *key, uint32_t level, uint32_t *ret_segment,
                        uint32_t *ret_number)
{
    const key_pattern *pattern = key->pattern;

    for (uint32_t i = 0; i < pattern->count; i++) {
        for (uint32_t j = 0; j < pattern->segments[i].count; j++) {
            int8_t number = pattern->segments[i].parts[j].number;

            if (number < 0 || number >= (int8_t)KEY_NUMBERS || level-- > 0)
                continue;
            *ret_segment = i;
            *ret_number = (uint32_t)number;
            return true;
        }
    }
    return false;
}

static cg_str lead_of(const key_name *name, uint32_t count)
{
    size_t len = 0;

    for (uint32_t i = 0; i < count; i++)
        len += name->segments[i].len + (i > 0);
    return (cg_str){name->text.ptr, len};
}

static bool is_served(const model_key *key)
{
    return key->tensor != NULL || key->partner != KEY_NOWHERE;
}

/* Keys [from, to) of one family, and what of it the file has. */
typedef struct family {
    uint32_t from, to;
    uint32_t level;
    uint64_t members;
    bool is_there; /* one of them at least */
    VEC(uint64_t) absent;
    struct {
        const wanted_parameter *of;
        bool is_had;
    } met[MET];     /* what was asked before */
    key_pairs keys; /* of those that are absent */
} family;

static bool is_of_family(const model_key *key, uint32_t level, cg_str lead)
{
    uint32_t segment, number;

    return !key->is_template && find_number(key, level, &segment, &number) &&
           str_equal(lead_of(&key->name, segment), lead);
}

/* Does the file have anything below the name of this member? */
static cg_code has_below(difference *self, cg_str member, bool *ret, cg_err *reterr)
{
    arena_place mark = arena_mark(self->mem);
    cg_str moved = difference_shifted(self, member);

    if (moved.ptr == NULL)
        return err_nomem(reterr);
    *ret = difference_has_prefix(self, member) || difference_has_prefix(self, moved);
    arena_reset(self->mem, mark);
    return CG_OK;
}

static bool is_served_in(const difference *self, const family *of, const wanted_parameter *from)
{
    for (uint32_t i = of->from; i < of->to; i++) {
        if (self->keys[i].from == from && is_served(&self->keys[i]))
            return true;
    }
    return false;
}

/* A key that only some configurations ask for is of the layer when another layer has it. */
static bool is_had_elsewhere(const difference *self, family *of, const wanted_parameter *from)
{
    size_t at = ((uintptr_t)from / sizeof *from) % MET;

    if (of->met[at].of != from) {
        of->met[at].of = from;
        of->met[at].is_had = is_served_in(self, of, from);
    }
    return of->met[at].is_had;
}

static cg_code take_member(difference *self, family *to, uint32_t from, uint32_t end,
                           uint64_t number, cg_err *reterr)
{
    size_t before = to->keys.count;
    uint64_t *added;

    for (uint32_t i = from; i < end; i++) {
        const model_key *key = &self->keys[i];

        if (key_is_open(key) && (key->is_certain || is_had_elsewhere(self, to, key->from)))
            CG_TRY(difference_add_pair(self, &to->keys, i, KEY_NOWHERE, reterr));
    }
    if (to->keys.count == before)
        return CG_OK;
    added = vec_add(self->heap, &to->absent);
    if (added == NULL)
        return err_nomem(reterr);
    *added = number;
    return CG_OK;
}

/* The members of the family, one after the other. */
static cg_code look_at_members(difference *self, family *to, cg_err *reterr)
{
    for (uint32_t i = to->from, next; i < to->to; i = next) {
        const model_key *key = &self->keys[i];
        uint32_t segment = 0, number = 0;
        bool is_open = true;
        bool is_below = false;
        cg_str member;

        (void)find_number(key, to->level, &segment, &number);
        member = lead_of(&key->name, segment + 1);
        for (next = i; next < to->to; next++) {
            uint32_t other, ignored;

            if (!find_number(&self->keys[next], to->level, &other, &ignored) ||
                !str_equal(lead_of(&self->keys[next].name, other + 1), member))
                break;
            is_open &= key_is_open(&self->keys[next]);
            to->is_there |= is_served(&self->keys[next]);
        }
        to->members++;
        if (!is_open)
            continue;
        CG_TRY(has_below(self, member, &is_below, reterr));
        if (!is_below)
            CG_TRY(take_member(self, to, i, next, key->numbers.at[number], reterr));
    }
    return CG_OK;
}

/* `1`, `1 and 3`, `1, 4 to 7 and 9`; numbers in order, each once. */
static void say_numbers(const uint64_t *all, size_t count, buf *out)
{
    size_t shown = 0;

    for (size_t i = 0, next; i < count; i = next, shown++) {
        next = i + 1;
        while (next < count && all[next] == all[next - 1] + 1)
            next++;
        if (shown == NUMBERS_SHOWN) {
            buf_addf(out, " and %zu more", count - i);
            return;
        }
        if (next - i < 3)
            next = i + 1;
        if (shown > 0)
            buf_add(out, next == count ? CG_LIT(" and ") : CG_LIT(", "));
        buf_addf(out, "%" PRIu64, all[i]);
        if (next - i > 1)
            buf_addf(out, " to %" PRIu64, all[next - 1]);
    }
}

static cg_code explain(difference *self, const family *of, cg_str *ret, cg_err *reterr)
{
    const model_key *key = &self->keys[of->keys.at[0].key];
    size_t count = of->absent.count;
    uint32_t *order = arena_take(self->mem, (count + 1) * sizeof *order);
    uint32_t *room = arena_take(self->mem, (count + 1) * sizeof *room);
    uint64_t *sorted = arena_take(self->mem, (count + 1) * sizeof *sorted);
    key_numbers outer = key->numbers;
    uint32_t segment = 0, number = 0;
    bool is_done;
    buf text;

    if (order == NULL || room == NULL || sorted == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_by_u64(order, room, count, of->absent.at);
    for (size_t i = 0; i < count; i++)
        sorted[i] = of->absent.at[order[i]];
    (void)find_number(key, of->level, &segment, &number);
    outer.bound &= ~(1u << number);
    buf_init(&text, self->heap, UINT32_MAX);
    buf_add(&text, count == 1 ? CG_LIT("layer ") : CG_LIT("layers "));
    say_numbers(sorted, count, &text);
    buf_addf(&text, " of %" PRIu64 " of `", of->members);
    key_pattern_print(key->pattern, 0, segment + 1, &outer, &text);
    buf_addf(&text, "` %s not in the file: %zu key%s", count == 1 ? "is" : "are", of->keys.count,
             of->keys.count == 1 ? "" : "s");
    is_done = !text.failed && arena_text(self->mem, buf_text(&text), ret);
    buf_free(&text);
    return is_done ? CG_OK : err_nomem(reterr);
}

static cg_code tell_family(difference *self, uint32_t level, uint32_t from, uint32_t to,
                           cg_err *reterr)
{
    family it = {.from = from, .to = to, .level = level};
    cg_code code = look_at_members(self, &it, reterr);
    cg_str text;

    if (code == CG_OK && it.is_there && it.keys.count > 0) {
        code = explain(self, &it, &text, reterr);
        if (code == CG_OK)
            code = difference_add_row(self, DIAGNOSIS_UNEXPLAINED, &it.keys, false, text, NULL,
                                      reterr);
    }
    vec_free(self->heap, &it.absent);
    vec_free(self->heap, &it.keys);
    return code;
}

cg_code absent_layers_find(difference *self, cg_err *reterr)
{
    for (uint32_t level = 0; level < KEY_NUMBERS; level++) {
        bool is_met = false;

        for (uint32_t i = 0, next; i < self->key_count; i = next) {
            uint32_t segment, number;
            bool is_open = false;
            cg_str lead;

            next = i + 1;
            if (self->keys[i].is_template || !find_number(&self->keys[i], level, &segment, &number))
                continue;
            is_met = true;
            lead = lead_of(&self->keys[i].name, segment);
            is_open = key_is_open(&self->keys[i]);
            for (; next < self->key_count && is_of_family(&self->keys[next], level, lead); next++)
                is_open |= key_is_open(&self->keys[next]);
            if (is_open)
                CG_TRY(tell_family(self, level, i, next, reterr));
        }
        if (!is_met)
            break;
    }
    return CG_OK;
}
