#include "join/prefix.h"

#include <inttypes.h>

#include "join/mend.h"

#define SAMPLES    48 /* keys that propose prefixes; all of them vote */
#define CANDIDATES 64
#define SHIFTS     16 /* rows of this kind; more than that is no shift */

/* --- the same part twice --- */

/* Without the segments [at, at + count). */
static cg_str text_without(difference *self, const key_name *name, uint32_t at, uint32_t count)
{
    const char *end = name->text.ptr + name->text.len;
    const char *cut = name->segments[at].ptr;
    const char *rest = at + count < name->count ? name->segments[at + count].ptr : end;
    cg_str text;

    if (rest == end && cut > name->text.ptr)
        cut--; /* the dot in front */
    if (!arena_format(self->mem, &text, "%.*s%.*s", (int)(cut - name->text.ptr), name->text.ptr,
                      (int)(end - rest), rest))
        return (cg_str){0};
    return text;
}

typedef struct repetition {
    uint32_t at, count;
    uint32_t spare;
    cg_str text;
} repetition;

static bool is_doubled(const key_name *name, uint32_t at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!str_equal(name->segments[at + i], name->segments[at + count + i]))
            return false;
    }
    return true;
}

/* The longest part that is there twice and without whose copy the file has the key. */
static cg_code find_repetition(difference *self, const model_key *key, repetition *ret,
                               cg_err *reterr)
{
    const key_name *name = &key->name;

    *ret = (repetition){.spare = KEY_NOWHERE};
    for (uint32_t count = name->count / 2; count > 0; count--) {
        for (uint32_t at = 0; at + 2 * count <= name->count; at++) {
            cg_str text;
            uint32_t spare;
            buf part;

            if (!is_doubled(name, at, count))
                continue;
            text = text_without(self, name, at, count);
            if (text.ptr == NULL)
                return err_nomem(reterr);
            spare = difference_find_spare(self, text);
            if (spare == KEY_NOWHERE ||
                difference_shape(self, key, self->spare[spare].row) == SHAPE_OTHER)
                continue;
            buf_init(&part, self->heap, UINT32_MAX);
            key_pattern_print(key->pattern, at, at + count, NULL, &part);
            *ret = (repetition){at, count, spare, {0}};
            if (part.failed || !arena_text(self->mem, buf_text(&part), &ret->text))
                ret->text = (cg_str){0};
            buf_free(&part);
            return ret->text.ptr == NULL ? err_nomem(reterr) : CG_OK;
        }
    }
    return CG_OK;
}

bool prefix_call_of(arena *mem, const key_step *step, const void **ret)
{
    doc_prefix_call *call = NULL;
    doc_call_place *place = NULL;

    if (step != NULL) {
        call = arena_zero(mem, sizeof *call);
        place = arena_zero(mem, sizeof *place);
        if (call == NULL || place == NULL)
            return false;
        *place = (doc_call_place){step->file, step->line, step->column, step->byte_start,
                                  step->byte_end};
        *call = (doc_prefix_call){step->function, place};
    }
    *ret = call;
    return true;
}

cg_code prefix_find_repeated(difference *self, cg_err *reterr)
{
    key_pairs pairs = {0};
    cg_code code = CG_OK;

    for (uint32_t i = 0; code == CG_OK && i < self->key_count; i++) {
        repetition first;
        doc_diagnosis *row = NULL;
        const key_step *step;

        if (!key_is_open(&self->keys[i]) || self->keys[i].is_template)
            continue;
        code = find_repetition(self, &self->keys[i], &first, reterr);
        if (code != CG_OK || first.spare == KEY_NOWHERE)
            continue;
        pairs.count = 0;
        code = difference_add_pair(self, &pairs, i, first.spare, reterr);
        for (uint32_t j = i + 1; code == CG_OK && j < self->key_count; j++) {
            repetition next;

            if (!key_is_open(&self->keys[j]) || self->keys[j].is_template)
                continue;
            code = find_repetition(self, &self->keys[j], &next, reterr);
            if (code == CG_OK && next.spare != KEY_NOWHERE && str_equal(next.text, first.text))
                code = difference_add_pair(self, &pairs, j, next.spare, reterr);
        }
        step = mend_step_of(&self->keys[i], first.at + first.count);
        if (code == CG_OK)
            code = difference_add_row(
                self, DIAGNOSIS_PREFIX_REPEATED, &pairs, true,
                step != NULL
                    ? difference_text(self,
                                      "the code adds `%.*s` twice, the second time in %.*s "
                                      "(%.*s:%" PRIu64 "); leave out one of the two calls",
                                      (int)first.text.len, first.text.ptr, (int)step->function.len,
                                      step->function.ptr, (int)step->file.len, step->file.ptr,
                                      step->line)
                    : difference_text(self, "the code adds `%.*s` twice, the file has it once",
                                      (int)first.text.len, first.text.ptr),
                &row, reterr);
        if (code == CG_OK) {
            row->repeated = first.text;
            code = prefix_call_of(self->mem, step, &row->call) ? CG_OK : err_nomem(reterr);
        }
    }
    vec_free(self->heap, &pairs);
    return code;
}

/* --- another prefix --- */

typedef struct shift {
    cg_str model, file; /* without the segments that both end with */
    uint32_t model_count, file_count;
    uint64_t hits;
    uint64_t missed; /* keys below `model` that the file has not below `file` */
    uint64_t left;   /* tensors below `file` that no key asks for */
    bool is_deep;    /* more than a leaf is moved */
    bool is_whole;   /* nothing is missing outside `model`, nothing unclaimed outside `file` */
    uint32_t children;
} shift;

static cg_str lead_of(const key_name *name, uint32_t count)
{
    size_t len = 0;

    for (uint32_t i = 0; i < count; i++)
        len += name->segments[i].len + (i > 0);
    return (cg_str){name->text.ptr, len};
}

/* What follows `prefix.`; absent when the text does not begin so. */
static cg_str rest_after(cg_str text, cg_str prefix)
{
    if (prefix.len == 0)
        return text;
    if (!str_starts_with(text, prefix) || text.len <= prefix.len || text.ptr[prefix.len] != '.')
        return (cg_str){0};
    return (cg_str){text.ptr + prefix.len + 1, text.len - prefix.len - 1};
}

static bool has_digits_only(cg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return text.len > 0;
}

static uint32_t common_end(const key_name *a, const key_name *b)
{
    uint32_t count = 0;

    while (count < a->count && count < b->count &&
           str_equal(a->segments[a->count - 1 - count], b->segments[b->count - 1 - count]))
        count++;
    return count;
}

/* The tensor that this key is under the shift, or KEY_NOWHERE. */
static cg_code shifted(difference *self, const shift *by, const model_key *key, uint32_t *ret,
                       cg_str *ret_rest, cg_err *reterr)
{
    arena_place mark = arena_mark(self->mem);
    cg_str rest = rest_after(key->name.text, by->model);
    cg_str text;

    *ret = KEY_NOWHERE;
    *ret_rest = rest;
    if (rest.ptr == NULL)
        return CG_OK;
    text = difference_join(self, by->file, rest);
    if (text.ptr == NULL)
        return err_nomem(reterr);
    *ret = difference_find_spare(self, text);
    arena_reset(self->mem, mark);
    if (*ret != KEY_NOWHERE && difference_shape(self, key, self->spare[*ret].row) == SHAPE_OTHER)
        *ret = KEY_NOWHERE;
    return CG_OK;
}

static cg_str first_segment(cg_str text)
{
    size_t dot = str_find(text, CG_LIT("."));

    return dot == SIZE_MAX ? text : (cg_str){text.ptr, dot};
}

static cg_code judge(difference *self, shift *by, cg_err *reterr)
{
    cg_str last = {0};

    by->is_whole = true;
    for (size_t i = 0; i < self->key_count; i++) {
        const model_key *key = &self->keys[i];
        uint32_t spare;
        cg_str rest;

        if (!key_is_open(key))
            continue;
        if (rest_after(key->name.text, by->model).ptr == NULL)
            by->is_whole = false;
        if (key->is_template)
            continue;
        CG_TRY(shifted(self, by, key, &spare, &rest, reterr));
        if (rest.ptr == NULL)
            continue;
        if (spare == KEY_NOWHERE) {
            by->missed++;
            continue;
        }
        by->hits++;
        by->is_deep = by->is_deep || str_find(rest, CG_LIT(".")) != SIZE_MAX;
        if (!has_digits_only(first_segment(rest)) &&
            (last.ptr == NULL || !str_equal(first_segment(rest), last)))
            by->children++;
        last = first_segment(rest);
    }
    for (size_t i = 0; i < self->spare_count; i++) {
        if (self->spare[i].is_explained)
            continue;
        if (rest_after(self->spare[i].name.text, by->file).ptr != NULL)
            by->left++;
        else
            by->is_whole = false;
    }
    by->left -= by->left < by->hits ? by->left : by->hits;
    return CG_OK;
}

static bool has_numbers(const key_name *name, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (has_digits_only(name->segments[i]))
            return true;
    }
    return false;
}

/* Propose what stands in front of the segments that a key and a tensor have in common. */
static void propose(shift *all, size_t *count, const key_name *key, const key_name *file)
{
    uint32_t common = common_end(key, file);
    uint32_t model_count = key->count - common;
    uint32_t file_count = file->count - common;
    shift one = {.model = lead_of(key, model_count),
                 .file = lead_of(file, file_count),
                 .model_count = model_count,
                 .file_count = file_count};

    if (common == 0 || *count == CANDIDATES || model_count + file_count == 0 ||
        (model_count > 0 && has_numbers(key, model_count)) ||
        (model_count > 0 && has_numbers(file, file_count)))
        return;
    for (size_t i = 0; i < *count; i++) {
        if (str_equal(all[i].model, one.model) && str_equal(all[i].file, one.file))
            return;
    }
    all[(*count)++] = one;
}

/* Segments that both begin with. */
static uint32_t common_lead(cg_str a, cg_str b)
{
    uint32_t count = 0;

    while (a.len > 0 && b.len > 0 && str_equal(first_segment(a), first_segment(b))) {
        cg_str first = first_segment(a);

        count++;
        a = first.len == a.len ? (cg_str){"", 0} : rest_after(a, first);
        b = first.len == b.len ? (cg_str){"", 0} : rest_after(b, first);
    }
    return count;
}

/*
 * Is this a prefix, not another name for one module? Something is put in front or left out; or the
 * outermost module has another name, and everything that is missing lies in it. When all of both
 * sides lies below, a few keys are enough: the others have other names below it as well.
 */
static bool is_shift(const difference *self, const shift *by, uint64_t open)
{
    uint32_t lead = common_lead(by->model, by->file);
    bool is_added = by->model_count == lead || by->file_count == lead;

    if (by->hits == 0 || (by->hits < by->missed && lead > 0))
        return false;
    if (by->is_whole && by->is_deep && lead == 0 && by->hits * 4 >= by->missed &&
        (is_added || by->children > 1))
        return true;
    if (is_added && lead == 0)
        return by->hits * 2 > by->missed || by->hits > 3;
    if (is_added)
        return by->is_deep;
    (void)self;
    return lead == 0 && by->children > 1 && by->hits * 10 >= open * 9 && by->missed * 4 < by->hits;
}

static bool is_better(const shift *a, const shift *b)
{
    if (a->hits != b->hits)
        return a->hits > b->hits;
    return a->left < b->left;
}

static cg_code add_shift_row(difference *self, const mend_shift *by, const key_pairs *pairs,
                             cg_err *reterr)
{
    const key_step *call;
    doc_diagnosis *row;
    cg_str text;

    CG_TRY(mend_explain(self, by, pairs, &text, &call, reterr));
    CG_TRY(difference_add_row(self, DIAGNOSIS_PREFIX_SHIFTED, pairs, true, text, &row, reterr));
    row->model_prefix = by->model;
    row->file_prefix = by->file;
    return prefix_call_of(self->mem, call, &row->call) ? CG_OK : err_nomem(reterr);
}

static cg_code add_shift(difference *self, const shift *by, cg_err *reterr)
{
    key_pairs pairs = {0};
    cg_code code = CG_OK;

    for (uint32_t i = 0; code == CG_OK && i < self->key_count; i++) {
        uint32_t spare;
        cg_str rest;

        if (!key_is_open(&self->keys[i]) || self->keys[i].is_template)
            continue;
        code = shifted(self, by, &self->keys[i], &spare, &rest, reterr);
        if (code == CG_OK && spare != KEY_NOWHERE)
            code = difference_add_pair(self, &pairs, i, spare, reterr);
    }
    if (code == CG_OK)
        code = add_shift_row(self, &(mend_shift){by->model, by->file, by->model_count}, &pairs,
                             reterr);
    if (code == CG_OK) {
        sc_pair *kept = vec_add(self->heap, &self->shifts);

        if (kept != NULL)
            *kept = (sc_pair){by->model, by->file};
        code = kept == NULL ? err_nomem(reterr) : difference_learn(self, reterr);
    }
    vec_free(self->heap, &pairs);
    return code;
}

static cg_code find_shift(difference *self, bool *ret_found, cg_err *reterr)
{
    shift all[CANDIDATES];
    size_t count = 0;
    uint64_t open = 0;
    uint64_t seen = 0;
    uint64_t step;
    const shift *best = NULL;
    bool is_tied = false;

    *ret_found = false;
    for (size_t i = 0; i < self->key_count; i++)
        open += key_is_open(&self->keys[i]) && !self->keys[i].is_template;
    step = open / SAMPLES + 1;
    for (size_t i = 0; i < self->key_count; i++) {
        if (!key_is_open(&self->keys[i]) || self->keys[i].is_template || seen++ % step != 0)
            continue;
        for (size_t j = 0; j < self->spare_count; j++) {
            if (!self->spare[j].is_explained)
                propose(all, &count, &self->keys[i].name, &self->spare[j].name);
        }
    }
    for (size_t i = 0; i < count; i++) {
        CG_TRY(judge(self, &all[i], reterr));
        if (!is_shift(self, &all[i], open))
            continue;
        if (best == NULL || is_better(&all[i], best)) {
            best = &all[i];
            is_tied = false;
        } else if (!is_better(best, &all[i])) {
            is_tied = true;
        }
    }
    if (best == NULL || is_tied)
        return CG_OK;
    *ret_found = true;
    return add_shift(self, best, reterr);
}

cg_code prefix_find_shifted(difference *self, cg_err *reterr)
{
    bool is_found = true;

    for (unsigned i = 0; is_found && i < SHIFTS; i++)
        CG_TRY(find_shift(self, &is_found, reterr));
    return CG_OK;
}

/* --- single keys --- */

/*
 * Is the one name the other with something put in: modules, no numbers of a list? Their ends, a
 * module and what it holds, are equal.
 */
static bool is_put_in(const key_name *shorter, const key_name *longer, uint32_t *ret_lead)
{
    uint32_t end = common_end(shorter, longer);
    uint32_t lead = 0;

    if (end < 2 || shorter->count >= longer->count)
        return false;
    while (lead < shorter->count - end &&
           str_equal(shorter->segments[lead], longer->segments[lead]))
        lead++;
    if (lead + end != shorter->count)
        return false;
    for (uint32_t i = lead; i < longer->count - end; i++) {
        if (has_digits_only(longer->segments[i]))
            return false;
    }
    *ret_lead = lead;
    return true;
}

static bool is_single(difference *self, uint32_t key, uint32_t spare)
{
    const model_key *wanted = &self->keys[key];
    const spare_tensor *held = &self->spare[spare];
    uint32_t lead;

    return key_is_open(wanted) && !wanted->is_template && !held->is_explained &&
           (is_put_in(&wanted->name, &held->name, &lead) ||
            is_put_in(&held->name, &wanted->name, &lead)) &&
           difference_shape(self, wanted, held->row) != SHAPE_OTHER;
}

/* The only key that can be this tensor; KEY_NOWHERE: none or several, or others can be it too. */
static uint32_t only_single(difference *self, uint32_t spare)
{
    uint32_t found = KEY_NOWHERE;

    for (uint32_t i = 0; i < self->key_count; i++) {
        if (!is_single(self, i, spare))
            continue;
        if (found != KEY_NOWHERE)
            return KEY_NOWHERE;
        found = i;
    }
    for (uint32_t i = 0; found != KEY_NOWHERE && i < self->spare_count; i++) {
        if (i != spare && is_single(self, found, i))
            return KEY_NOWHERE;
    }
    return found;
}

static mend_shift shift_of(const difference *self, key_pair pair)
{
    const key_name *key = &self->keys[pair.key].name;
    const key_name *file = &self->spare[pair.spare].name;
    uint32_t lead = 0;

    if (is_put_in(key, file, &lead))
        return (mend_shift){lead_of(key, lead), lead_of(file, lead + file->count - key->count),
                            lead};
    (void)is_put_in(file, key, &lead);
    return (mend_shift){lead_of(key, lead + key->count - file->count), lead_of(file, lead),
                        lead + key->count - file->count};
}

static bool is_same_shift(const mend_shift *a, const mend_shift *b)
{
    return str_equal(a->model, b->model) && str_equal(a->file, b->file);
}

/* A row for those pairs from `first` on that are shifted alike. */
static cg_code add_singles(difference *self, const key_pairs *all, size_t first, cg_err *reterr)
{
    mend_shift by = shift_of(self, all->at[first]);
    key_pairs pairs = {0};
    cg_code code = CG_OK;

    for (size_t i = first; code == CG_OK && i < all->count; i++) {
        mend_shift other = shift_of(self, all->at[i]);

        if (is_same_shift(&by, &other))
            code = difference_add_pair(self, &pairs, all->at[i].key, all->at[i].spare, reterr);
    }
    if (code == CG_OK)
        code = add_shift_row(self, &by, &pairs, reterr);
    vec_free(self->heap, &pairs);
    return code;
}

#define SINGLES ((uint64_t)1 << 23) /* names that are compared; more tensors are no single ones */

cg_code prefix_find_single(difference *self, cg_err *reterr)
{
    key_pairs all = {0};
    uint64_t spare = 0;
    cg_code code = CG_OK;

    for (size_t i = 0; i < self->spare_count; i++)
        spare += !self->spare[i].is_explained;
    if (!difference_is_open(self) || spare > SINGLES / (self->key_count + self->spare_count))
        return CG_OK;
    for (uint32_t i = 0; code == CG_OK && i < self->spare_count; i++) {
        uint32_t found = self->spare[i].is_explained ? KEY_NOWHERE : only_single(self, i);

        if (found != KEY_NOWHERE)
            code = difference_add_pair(self, &all, found, i, reterr);
    }
    for (size_t i = 0; code == CG_OK && i < all.count; i++) {
        if (key_is_open(&self->keys[all.at[i].key]))
            code = add_singles(self, &all, i, reterr);
    }
    if (code == CG_OK && all.count > 0)
        code = difference_learn(self, reterr);
    vec_free(self->heap, &all);
    return code;
}
