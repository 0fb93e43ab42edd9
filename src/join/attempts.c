#include "join/attempts.h"

#include "base/sort.h"

/* The last two are no text of the source: model/std_option has them. */
static const char *const of_file[] = {"contains_tensor", ".pp(", "if it is there",
                                      "the first attempt fails"};

#define ONE_OF "one of " /* a builder that has one of several prefixes */

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

static bool has_word(cg_str text, cg_str word)
{
    for (size_t at = 0; word.len > 0 && at + word.len <= text.len; at++) {
        if (memcmp(text.ptr + at, word.ptr, word.len) == 0 &&
            (at == 0 || !is_word_byte(text.ptr[at - 1])) &&
            (at + word.len == text.len || !is_word_byte(text.ptr[at + word.len])))
            return true;
    }
    return false;
}

bool attempts_is_of_file(cg_str condition, cg_str root)
{
    if (condition.ptr == NULL)
        return false;
    for (size_t i = 0; i < sizeof of_file / sizeof of_file[0]; i++) {
        if (str_find(condition, str_from(of_file[i])) != SIZE_MAX)
            return true;
    }
    return str_starts_with(condition, CG_LIT(ONE_OF)) || has_word(condition, root);
}

static int compare_places(const key_step *a, const key_step *b)
{
    int order = str_compare(a->file, b->file);

    return order != 0 ? order : (a->byte_start > b->byte_start) - (a->byte_start < b->byte_start);
}

/* By component and by the call that asks. */
static int compare_asked(const asked *a, const asked *b)
{
    return a->component != b->component ? (a->component > b->component ? 1 : -1)
                                        : compare_places(&a->from->asked_at, &b->from->asked_at);
}

static bool asked_before(const void *context, uint32_t a, uint32_t b)
{
    const asked *all = context;

    return compare_asked(&all[a], &all[b]) < 0;
}

/* Index of the piece behind what the first `count` calls added, and behind a dot. */
static size_t pieces_behind(const wanted_parameter *of, size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        at += of->steps[i].piece_count;
    return at < of->piece_count && !of->pieces[at].is_number &&
                   str_equal(of->pieces[at].text, CG_LIT("."))
               ? at + 1
               : at;
}

static bool is_same_piece(const key_piece *a, const key_piece *b)
{
    return a->is_number == b->is_number && (a->is_number || str_equal(a->text, b->text));
}

/* How many of the calls, which are the same ones, lie before and in the first that adds another. */
static size_t steps_to_difference(const wanted_parameter *a, const wanted_parameter *b)
{
    size_t at = 0;

    for (size_t step = 0; step < a->step_count; step++) {
        if (a->steps[step].piece_count != b->steps[step].piece_count)
            return step + 1;
        for (size_t end = at + a->steps[step].piece_count; at < end; at++) {
            if (!is_same_piece(&a->pieces[at], &b->pieces[at]))
                return step + 1;
        }
    }
    return 0;
}

/* Does the condition say the text in quotes? */
static bool is_quoted(cg_str condition, cg_str text)
{
    for (size_t i = 0; text.len > 0 && i + text.len + 2 <= condition.len; i++) {
        if (condition.ptr[i] == '"' && condition.ptr[i + text.len + 1] == '"' &&
            memcmp(condition.ptr + i + 1, text.ptr, text.len) == 0)
            return true;
    }
    return false;
}

/* Does a condition hold one of these calls, by the text it adds in quotes? */
static bool is_tried(cg_str condition, const wanted_parameter *of, size_t begin, size_t end)
{
    size_t at = 0;

    for (size_t step = 0; step < end; step++) {
        for (size_t last = at + of->steps[step].piece_count; at < last; at++) {
            if (step >= begin && !of->pieces[at].is_number &&
                is_quoted(condition, of->pieces[at].text))
                return true;
        }
    }
    return false;
}

/*
 * What differs, from step `begin` on: is it the call of a condition and one behind it, or a prefix
 * that only one of them has? Two calls of one attempt are no attempts of each other.
 */
static bool is_first_and_other(const wanted_parameter *a, size_t a_end, const wanted_parameter *b,
                               size_t b_end)
{
    size_t begin = 0;
    size_t at = 0;

    for (;
         begin < a_end && begin < b_end && compare_places(&a->steps[begin], &b->steps[begin]) == 0;
         begin++) {
        size_t end = at + a->steps[begin].piece_count;

        /* One call, of two values. */
        if (a->steps[begin].piece_count != b->steps[begin].piece_count)
            return true;
        for (; at < end; at++) {
            if (!is_same_piece(&a->pieces[at], &b->pieces[at]))
                return true;
        }
    }
    if ((begin == a_end) != (begin == b_end))
        return true;

    bool is_a = is_tried(a->attempt, a, begin, a_end) || is_tried(b->attempt, a, begin, a_end);
    bool is_b = is_tried(a->attempt, b, begin, b_end) || is_tried(b->attempt, b, begin, b_end);

    return is_a != is_b;
}

/* Is the end of both keys made by the same calls, and the rest by another attempt? */
static bool is_other_attempt(const wanted_parameter *a, const wanted_parameter *b)
{
    size_t a_steps = a->step_count;
    size_t b_steps = b->step_count;

    while (a_steps > 0 && b_steps > 0 &&
           compare_places(&a->steps[a_steps - 1], &b->steps[b_steps - 1]) == 0) {
        a_steps--;
        b_steps--;
    }
    if (a_steps + b_steps == 0)
        a_steps = b_steps = steps_to_difference(a, b);
    if (a_steps + b_steps == 0)
        return false;

    size_t i = pieces_behind(a, a_steps);
    size_t j = pieces_behind(b, b_steps);

    if (a->piece_count - i != b->piece_count - j)
        return false;
    for (; i < a->piece_count; i++, j++) {
        if (!is_same_piece(&a->pieces[i], &b->pieces[j]))
            return false;
    }
    return is_first_and_other(a, a_steps, b, b_steps);
}

/*
 * Is it one tensor by another name: `w` and `weight` of `vb.get(s, "weight").or_else(|_| vb.get(s,
 * "w"))`, `a.w` and `b.w` of two calls? One word of the keys differs, and the condition says one of
 * the two.
 */
static bool is_other_name(const wanted_parameter *a, const wanted_parameter *b)
{
    size_t differing = SIZE_MAX;

    if (a->piece_count != b->piece_count || !str_equal(a->attempt, b->attempt) ||
        !str_equal(a->root, b->root))
        return false;
    for (size_t i = 0; i < a->piece_count; i++) {
        if (is_same_piece(&a->pieces[i], &b->pieces[i]))
            continue;
        if (differing != SIZE_MAX || a->pieces[i].is_number || b->pieces[i].is_number)
            return false;
        differing = i;
    }
    return differing != SIZE_MAX && is_quoted(a->attempt, a->pieces[differing].text) !=
                                        is_quoted(a->attempt, b->pieces[differing].text);
}

/* Of the same component, a single tensor that is there under the other name. */
static bool has_other_name(const checkpoint_part *self, const asked *it)
{
    for (size_t i = 0; i < self->asked_count; i++) {
        const asked *other = &self->asked[i];

        if (other->matched > 0 && other->component == it->component &&
            other->from->attempt.ptr != NULL && is_other_name(it->from, other->from))
            return true;
    }
    return false;
}

static bool is_needless(const checkpoint_part *self, const uint32_t *order, size_t begin,
                        size_t end, const asked *it)
{
    for (size_t i = begin; i < end; i++) {
        const asked *other = &self->asked[order[i]];

        if (other->matched > 0 && other->from->attempt.ptr != NULL &&
            is_other_attempt(it->from, other->from))
            return true;
    }
    return false;
}

/* Which of the parameters, in order, nobody needs. */
static void mark_needless(const checkpoint_part *self, const uint32_t *order, size_t count,
                          bool *is_out)
{
    size_t begin = 0;

    for (size_t end = 1; end <= count; end++) {
        if (end < count && compare_asked(&self->asked[order[begin]], &self->asked[order[end]]) == 0)
            continue;
        for (size_t i = begin; i < end; i++) {
            const asked *it = &self->asked[order[i]];

            is_out[order[i]] =
                it->matched == 0 && it->from->attempt.ptr != NULL &&
                (is_needless(self, order, begin, end, it) || has_other_name(self, it));
        }
        begin = end;
    }
}

bool attempts_settle(checkpoint_part *self)
{
    uint32_t *order = checkpoint_order(self->mem, self->asked_count);
    bool *is_out = arena_zero(self->mem, (self->asked_count + 1) * sizeof *is_out);
    size_t kept = 0;

    if (order == NULL || is_out == NULL)
        return false;
    sort_with(order, order + self->asked_count, self->asked_count, asked_before, self->asked);
    mark_needless(self, order, self->asked_count, is_out);
    for (size_t i = 0; i < self->entries.count; i++) {
        if (!is_out[self->entries.at[i].asked])
            self->entries.at[kept++] = self->entries.at[i];
    }
    self->entries.count = kept;
    return true;
}
