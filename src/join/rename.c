#include "join/rename.h"

#include "base/sort.h"
#include "join/likeness.h"

#define FAMILIES_MOST 3000u /* on one side; more than that is no matter of names */
#define PAIRS_MOST    4000000u
#define WORDS_MOST    1024u
#define ROUNDS        8u

/* Likeness of names, 0..1: what is enough, and by how much it must lead. */
#define LIKE_ENOUGH 0.55
#define LIKE_MARGIN 0.08
#define LIKE_ADDED  0.6  /* one module more or less on the way */
#define LIKE_KNOWN  0.15 /* more when another pair differs the same way */
#define LIKE_ALONE  0.35 /* enough when shapes allow nothing else */

/* --- families --- */

typedef struct family {
    cg_str text; /* numbers as `#` */
    const cg_str *segments;
    const sym *ids; /* of the segments */
    uint32_t count;
    uint32_t first; /* members[first .. first + member_count) */
    uint32_t member_count;
    enum leaf leaf;
    bool is_taken;
} family;

typedef struct side {
    family *families;
    size_t count;
    uint32_t *members; /* indices of keys or spare tensors, in order of their names */
} side;

/* What follows `prefix.` */
static cg_str rest_after(cg_str text, cg_str prefix)
{
    if (prefix.len == 0)
        return text;
    if (!str_starts_with(text, prefix) || text.len <= prefix.len || text.ptr[prefix.len] != '.')
        return (cg_str){0};
    return (cg_str){text.ptr + prefix.len + 1, text.len - prefix.len - 1};
}

typedef struct signature {
    cg_str text;
    uint32_t index;
} signature;

static bool is_number(cg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return text.len > 0;
}

/* Lists that stand for each other: nothing but their place has another name. */
typedef struct lists {
    VEC(sc_pair) at;
} lists;

static cg_str listed_text(difference *self, const lists *known, cg_str text)
{
    for (size_t i = 0; i < known->at.count; i++) {
        cg_str rest = rest_after(text, known->at.at[i].key);

        if (rest.ptr != NULL)
            return difference_join(self, known->at.at[i].value, rest);
    }
    return text;
}

static bool sign(difference *self, cg_str name, bool is_literal, cg_str *ret)
{
    buf text;
    bool is_done;

    *ret = name;
    if (is_literal)
        return name.ptr != NULL;
    buf_init(&text, self->heap, UINT32_MAX);
    for (size_t start = 0, i = 0; i <= name.len; i++) {
        cg_str segment = {name.ptr + start, i - start};

        if (i < name.len && name.ptr[i] != '.')
            continue;
        if (start > 0)
            buf_byte(&text, '.');
        buf_add(&text, is_number(segment) ? CG_LIT("#") : segment);
        start = i + 1;
    }
    is_done = !text.failed && arena_text(self->mem, buf_text(&text), ret);
    buf_free(&text);
    return is_done;
}

static bool signature_before(const void *context, uint32_t a, uint32_t b)
{
    const signature *all = context;

    return str_compare(all[a].text, all[b].text) < 0;
}

/* The segments as numbers, so that likeness is computed once for each two texts. */
static const sym *ids_of(difference *self, intern *words, const key_name *name)
{
    sym *ids = arena_take(self->mem, (name->count + 1) * sizeof *ids);

    for (uint32_t i = 0; ids != NULL && i < name->count; i++) {
        ids[i] = intern_add(words, name->segments[i]);
        if (ids[i] == 0)
            return NULL;
    }
    return ids;
}

static cg_code build_side(difference *self, intern *words, signature *all, size_t count, side *ret,
                          cg_err *reterr)
{
    uint32_t *order = arena_take(self->mem, (count + 1) * 2 * sizeof *order);

    *ret = (side){.families = arena_zero(self->mem, (count + 1) * sizeof *ret->families),
                  .members = arena_take(self->mem, (count + 1) * sizeof *ret->members)};
    if (order == NULL || ret->families == NULL || ret->members == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, signature_before, all);
    for (size_t i = 0; i < count; i++) {
        const signature *one = &all[order[i]];
        family *last = ret->count > 0 ? &ret->families[ret->count - 1] : NULL;

        ret->members[i] = one->index;
        if (last == NULL || !str_equal(last->text, one->text)) {
            key_name name;

            if (!key_name_make(self->mem, one->text, &name))
                return err_nomem(reterr);
            last = &ret->families[ret->count++];
            *last = (family){.text = one->text,
                             .segments = name.segments,
                             .ids = ids_of(self, words, &name),
                             .count = name.count,
                             .first = (uint32_t)i,
                             .leaf = likeness_leaf(name.segments[name.count - 1])};
            if (last->ids == NULL)
                return err_nomem(reterr);
        }
        last->member_count++;
    }
    return CG_OK;
}

static cg_code build_sides(difference *self, intern *words, const lists *known, bool is_literal,
                           side *ret_model, side *ret_file, cg_err *reterr)
{
    signature *all = arena_take(self->mem, (self->key_count + self->spare_count + 1) * sizeof *all);
    size_t count = 0;

    if (all == NULL)
        return err_nomem(reterr);
    for (uint32_t i = 0; i < self->key_count; i++) {
        if (!key_is_open(&self->keys[i]) || self->keys[i].is_template)
            continue;
        all[count].index = i;
        if (!sign(self, listed_text(self, known, difference_shifted(self, self->keys[i].name.text)),
                  is_literal, &all[count++].text))
            return err_nomem(reterr);
    }
    CG_TRY(build_side(self, words, all, count, ret_model, reterr));
    count = 0;
    for (uint32_t i = 0; i < self->spare_count; i++) {
        if (self->spare[i].is_explained)
            continue;
        all[count].index = i;
        if (!sign(self, self->spare[i].name.text, is_literal, &all[count++].text))
            return err_nomem(reterr);
    }
    return build_side(self, words, all, count, ret_file, reterr);
}

/* --- pairs --- */

typedef struct candidate {
    uint32_t model, file; /* families */
    double like;
    bool is_known;  /* differs as a pair did that is settled */
    bool is_proven; /* every axis of every member is equal */
    bool is_dead;
} candidate;

typedef struct best {
    double first, second;
    uint32_t count;
} best;

typedef struct search {
    difference *difference;
    intern words;
    float *likeness;              /* by two words; below 0: not known yet */
    best *model_best, *file_best; /* by family */
    side model, file;
    VEC(candidate) candidates;
    VEC(sc_pair) rules; /* what differs in pairs that are settled */
    lists lists;
    key_pairs running, others;
    size_t weak_running, weak_others; /* from here on, pairs that only their shapes support */
} search;

/* -1, 0, 1 by the numbers of two names, in their order. */
static int compare_numbers(const key_name *a, const key_name *b)
{
    uint32_t i = 0;
    uint32_t j = 0;

    for (;;) {
        while (i < a->count && !is_number(a->segments[i]))
            i++;
        while (j < b->count && !is_number(b->segments[j]))
            j++;
        if (i == a->count || j == b->count)
            return (i < a->count) - (j < b->count);
        if (a->segments[i].len != b->segments[j].len)
            return a->segments[i].len < b->segments[j].len ? -1 : 1;
        if (!str_equal(a->segments[i], b->segments[j]))
            return str_compare(a->segments[i], b->segments[j]);
        i++;
        j++;
    }
}

static uint32_t number_count(const family *self)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < self->count; i++)
        count += str_equal(self->segments[i], CG_LIT("#"));
    return count;
}

/* Member of `other` with the numbers of `name`, KEY_NOWHERE when it has none. */
static uint32_t counterpart(const search *self, const key_name *name, const family *other)
{
    for (uint32_t i = 0; i < other->member_count; i++) {
        uint32_t spare = self->file.members[other->first + i];

        if (compare_numbers(name, &self->difference->spare[spare].name) == 0)
            return spare;
    }
    return KEY_NOWHERE;
}

/* Can all members of the one be members of the other? */
static bool is_feasible(search *self, const family *model, const family *file, bool is_literal,
                        bool *ret_proven)
{
    uint32_t hits = 0;
    bool is_proven = true;

    if (model->leaf != file->leaf && model->leaf != LEAF_OTHER && file->leaf != LEAF_OTHER)
        return false;
    if (model->leaf == LEAF_COUNTER || file->leaf == LEAF_COUNTER)
        return false;
    if (!is_literal && number_count(model) != number_count(file))
        return false;
    for (uint32_t i = 0; i < model->member_count; i++) {
        uint32_t key = self->model.members[model->first + i];
        const model_key *wanted = &self->difference->keys[key];
        uint32_t spare =
            is_literal ? self->file.members[file->first] : counterpart(self, &wanted->name, file);
        enum shape_answer answer;

        if (spare == KEY_NOWHERE)
            continue;
        hits++;
        answer = difference_shape(self->difference, wanted, self->difference->spare[spare].row);
        if (answer == SHAPE_OTHER)
            return false;
        is_proven = is_proven && answer == SHAPE_EQUAL;
    }
    *ret_proven = is_proven && hits > 0;
    return hits > 0 && (hits == model->member_count || hits == file->member_count);
}

typedef struct span {
    uint32_t lead, tail; /* segments that both begin and end with */
} span;

static span common_span(const family *a, const family *b)
{
    uint32_t least = a->count < b->count ? a->count : b->count;
    span self = {0, 0};

    while (self.lead < least && str_equal(a->segments[self.lead], b->segments[self.lead]))
        self.lead++;
    while (self.lead + self.tail < least &&
           str_equal(a->segments[a->count - 1 - self.tail], b->segments[b->count - 1 - self.tail]))
        self.tail++;
    return self;
}

#define CORE_MOST 12u

static double like_words(search *self, sym a, sym b)
{
    cg_str left = intern_text_of(&self->words, a);
    cg_str right = intern_text_of(&self->words, b);
    float *known;

    if (a >= WORDS_MOST || b >= WORDS_MOST)
        return likeness_of(left, right);
    known = &self->likeness[(size_t)a * WORDS_MOST + b];
    if (*known < 0.0f)
        *known = (float)likeness_of(left, right);
    return (double)*known;
}

/* Likeness of what differs between two families: the best way to lay the segments side by side. */
static double like_families(search *self, const family *a, const family *b)
{
    span common = common_span(a, b);
    uint32_t left = a->count - common.lead - common.tail;
    uint32_t right = b->count - common.lead - common.tail;
    double laid[CORE_MOST + 1][CORE_MOST + 1] = {{0.0}};

    if (left + right == 0)
        return 1.0;
    if (left == 0 || right == 0)
        return left + right == 1 ? LIKE_ADDED : LIKE_ADDED - 0.1 * (left + right - 1);
    if (left > CORE_MOST || right > CORE_MOST)
        return 0.0;
    for (uint32_t i = 1; i <= left; i++) {
        for (uint32_t j = 1; j <= right; j++) {
            double both = laid[i - 1][j - 1] + like_words(self, a->ids[common.lead + i - 1],
                                                          b->ids[common.lead + j - 1]);
            double skip = laid[i - 1][j] > laid[i][j - 1] ? laid[i - 1][j] : laid[i][j - 1];

            laid[i][j] = both > skip ? both : skip;
        }
    }
    /* What is left over on the longer side counts against. */
    if (left < right)
        return laid[left][right] / (0.4 * left + 0.6 * right);
    return laid[left][right] / (0.4 * right + 0.6 * left);
}

static cg_code find_candidates(search *self, bool is_literal, cg_err *reterr)
{
    self->candidates.count = 0;
    if (self->model.count > FAMILIES_MOST || self->file.count > FAMILIES_MOST ||
        self->model.count * self->file.count > PAIRS_MOST)
        return CG_OK;
    for (uint32_t i = 0; i < self->model.count; i++) {
        for (uint32_t j = 0; j < self->file.count; j++) {
            bool is_proven;
            candidate *added;

            if (!is_feasible(self, &self->model.families[i], &self->file.families[j], is_literal,
                             &is_proven))
                continue;
            added = vec_add(self->difference->heap, &self->candidates);
            if (added == NULL)
                return err_nomem(reterr);
            *added = (candidate){
                .model = i,
                .file = j,
                .is_proven = is_proven,
                .like = like_families(self, &self->model.families[i], &self->file.families[j])};
        }
    }
    return CG_OK;
}

/* --- settling --- */

static family *find_family(const side *in, cg_str text)
{
    size_t low = 0;
    size_t high = in->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(in->families[middle].text, text);

        if (order == 0)
            return &in->families[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static cg_str lead_text(const family *self, uint32_t count)
{
    size_t len = 0;

    for (uint32_t i = 0; i < count; i++)
        len += self->segments[i].len + (i > 0);
    return (cg_str){self->text.ptr, len};
}

/*
 * Is the one module the other? At least half of what lies below each is below both, and nothing
 * there speaks against it.
 */
static bool is_whole(search *self, const candidate *one, bool is_literal)
{
    const family *model = &self->model.families[one->model];
    const family *file = &self->file.families[one->file];
    span common = common_span(model, file);
    cg_str model_path = lead_text(model, model->count - common.tail);
    cg_str file_path = lead_text(file, file->count - common.tail);
    uint32_t asked = 0;
    uint32_t given = 0;
    uint32_t both = 0;

    if (common.tail == 0)
        return true;
    for (size_t i = 0; i < self->model.count; i++) {
        const family *sibling = &self->model.families[i];
        cg_str rest = rest_after(sibling->text, model_path);
        arena_place mark = arena_mark(self->difference->mem);
        const family *other;
        bool is_proven;

        if (rest.ptr == NULL || sibling->is_taken)
            continue;
        asked++;
        other = find_family(&self->file, difference_join(self->difference, file_path, rest));
        arena_reset(self->difference->mem, mark);
        if (other == NULL || other->is_taken)
            continue;
        if (!is_feasible(self, sibling, other, is_literal, &is_proven))
            return false;
        both++;
    }
    for (size_t i = 0; i < self->file.count; i++) {
        const family *sibling = &self->file.families[i];

        given += !sibling->is_taken && rest_after(sibling->text, file_path).ptr != NULL;
    }
    return both * 2 >= asked && both * 2 >= given;
}

static bool is_running_leaf(const family *self)
{
    return str_starts_with(self->segments[self->count - 1], CG_LIT("running_")) &&
           (self->leaf == LEAF_MEAN || self->leaf == LEAF_VARIANCE);
}

static cg_code take(search *self, const candidate *one, bool is_literal, cg_err *reterr)
{
    family *model = &self->model.families[one->model];
    family *file = &self->file.families[one->file];

    model->is_taken = true;
    file->is_taken = true;
    for (uint32_t i = 0; i < model->member_count; i++) {
        uint32_t key = self->model.members[model->first + i];
        const model_key *wanted = &self->difference->keys[key];
        uint32_t spare =
            is_literal ? self->file.members[file->first] : counterpart(self, &wanted->name, file);
        bool is_running = wanted->from->use == PARAMETER_RUNNING || is_running_leaf(model);

        if (spare != KEY_NOWHERE)
            CG_TRY(difference_add_pair(
                self->difference, is_running ? &self->running : &self->others, key, spare, reterr));
    }
    return CG_OK;
}

static void note_best(best *to, double like)
{
    to->count++;
    if (like > to->first) {
        to->second = to->first;
        to->first = like;
    } else if (like > to->second) {
        to->second = like;
    }
}

/* The best and second best candidate of every family. */
static void rank_candidates(search *self)
{
    memset(self->model_best, 0, self->model.count * sizeof *self->model_best);
    memset(self->file_best, 0, self->file.count * sizeof *self->file_best);
    for (size_t i = 0; i < self->candidates.count; i++) {
        candidate *one = &self->candidates.at[i];

        one->is_dead = one->is_dead || self->model.families[one->model].is_taken ||
                       self->file.families[one->file].is_taken;
        if (one->is_dead)
            continue;
        note_best(&self->model_best[one->model], one->like);
        note_best(&self->file_best[one->file], one->like);
    }
}

/* How like the best rival of this candidate is, on either side. */
static double rival(const search *self, const candidate *one, bool *ret_alone)
{
    const best *model = &self->model_best[one->model];
    const best *file = &self->file_best[one->file];
    double left = one->like < model->first ? model->first : model->second;
    double right = one->like < file->first ? file->first : file->second;

    *ret_alone = model->count == 1 && file->count == 1;
    return left > right ? left : right;
}

/* What differs, as two texts without what both begin and end with. */
static sc_pair core_of(const family *a, const family *b)
{
    span common = common_span(a, b);
    cg_str lead = lead_text(a, common.lead);
    cg_str left = lead_text(a, a->count - common.tail);
    cg_str right = lead_text(b, b->count - common.tail);
    size_t cut = common.lead > 0 ? lead.len + 1 : 0;

    left = left.len > cut ? (cg_str){left.ptr + cut, left.len - cut} : (cg_str){"", 0};
    right = right.len > cut ? (cg_str){right.ptr + cut, right.len - cut} : (cg_str){"", 0};
    return (sc_pair){left, right};
}

static cg_code learn_rule(search *self, const candidate *from, cg_err *reterr)
{
    sc_pair rule = core_of(&self->model.families[from->model], &self->file.families[from->file]);
    sc_pair *added;

    for (size_t i = 0; i < self->rules.count; i++) {
        if (str_equal(self->rules.at[i].key, rule.key) &&
            str_equal(self->rules.at[i].value, rule.value))
            return CG_OK;
    }
    added = vec_add(self->difference->heap, &self->rules);
    if (added == NULL)
        return err_nomem(reterr);
    *added = rule;
    for (size_t i = 0; i < self->candidates.count; i++) {
        candidate *one = &self->candidates.at[i];
        sc_pair core = core_of(&self->model.families[one->model], &self->file.families[one->file]);

        if (one->is_known || !str_equal(core.key, rule.key) || !str_equal(core.value, rule.value))
            continue;
        one->is_known = true;
        one->like += LIKE_KNOWN;
    }
    return CG_OK;
}

/* Only one segment differs: the same module under another name, when nothing else can be meant. */
static bool is_one_segment(const search *self, const candidate *one)
{
    const family *model = &self->model.families[one->model];
    const family *file = &self->file.families[one->file];
    span common = common_span(model, file);

    return model->count == file->count && model->count == common.lead + common.tail + 1;
}

/* Members of one list, or of two that stand for each other. */
static bool is_in_one_list(const search *self, const candidate *one)
{
    const family *model = &self->model.families[one->model];
    span common = common_span(model, &self->file.families[one->file]);

    for (uint32_t i = 0; i < common.lead; i++) {
        if (str_equal(model->segments[i], CG_LIT("#")))
            return true;
    }
    return false;
}

/* More than one axis, so that a shape says something. */
static bool has_axes(const search *self, const candidate *one)
{
    uint32_t key = self->model.members[self->model.families[one->model].first];
    const wanted_parameter *from = self->difference->keys[key].from;

    return from->has_rank && from->rank > 1;
}

enum settled { SETTLED_NOT, SETTLED_BY_NAME, SETTLED_BY_SHAPE };

static enum settled is_settled(search *self, const candidate *one, bool is_literal,
                               bool may_be_weak)
{
    bool is_alone;
    double second = rival(self, one, &is_alone);

    if (one->like >= LIKE_ENOUGH && one->like >= second + LIKE_MARGIN)
        return is_whole(self, one, is_literal) ? SETTLED_BY_NAME : SETTLED_NOT;
    if (!may_be_weak || !is_alone || !is_whole(self, one, is_literal))
        return SETTLED_NOT;
    if (one->is_proven && (is_one_segment(self, one) || is_in_one_list(self, one)))
        return SETTLED_BY_SHAPE;
    if (has_axes(self, one) && is_one_segment(self, one) && is_in_one_list(self, one))
        return SETTLED_BY_SHAPE;
    return one->like >= LIKE_ALONE ? SETTLED_BY_SHAPE : SETTLED_NOT;
}

/* Everything else below the two modules is renamed with them. */
static cg_code take_siblings(search *self, const candidate *one, bool is_literal, cg_err *reterr)
{
    const family *model = &self->model.families[one->model];
    const family *file = &self->file.families[one->file];
    span common = common_span(model, file);
    cg_str model_path = lead_text(model, model->count - common.tail);
    cg_str file_path = lead_text(file, file->count - common.tail);

    if (common.tail == 0)
        return CG_OK;
    for (size_t i = 0; i < self->candidates.count; i++) {
        candidate *sibling = &self->candidates.at[i];
        cg_str left = rest_after(self->model.families[sibling->model].text, model_path);
        cg_str right = rest_after(self->file.families[sibling->file].text, file_path);

        if (left.ptr == NULL || right.ptr == NULL || !str_equal(left, right) ||
            self->model.families[sibling->model].is_taken ||
            self->file.families[sibling->file].is_taken)
            continue;
        CG_TRY(take(self, sibling, is_literal, reterr));
    }
    return CG_OK;
}

/* Settle what can be settled; what shapes alone support only when names say nothing more. */
static cg_code settle(search *self, bool is_literal, bool may_be_weak, bool *ret_changed,
                      cg_err *reterr)
{
    bool is_changed = true;

    *ret_changed = false;
    rank_candidates(self);
    while (is_changed) {
        is_changed = false;
        for (size_t i = 0; i < self->candidates.count; i++) {
            candidate one = self->candidates.at[i];

            if (one.is_dead ||
                is_settled(self, &self->candidates.at[i], is_literal, may_be_weak) == SETTLED_NOT)
                continue;
            CG_TRY(take(self, &one, is_literal, reterr));
            CG_TRY(take_siblings(self, &one, is_literal, reterr));
            CG_TRY(learn_rule(self, &one, reterr));
            rank_candidates(self);
            is_changed = true;
            *ret_changed = true;
        }
    }
    return CG_OK;
}

/* --- rows --- */

#define RULES_SHOWN 6

/* Numbers as stars, so that a family is one line. */
static void add_stars(buf *out, cg_str name)
{
    for (size_t start = 0, i = 0; i <= name.len; i++) {
        cg_str segment = {name.ptr + start, i - start};

        if (i < name.len && name.ptr[i] != '.')
            continue;
        if (start > 0)
            buf_byte(out, '.');
        buf_add(out, is_number(segment) ? CG_LIT("*") : segment);
        start = i + 1;
    }
}

/* `weight` is `gamma`: what differs between the two names. */
static void add_rule(const key_name *key, const key_name *file, buf *out)
{
    family a = {.text = key->text, .segments = key->segments, .count = key->count};
    family b = {.text = file->text, .segments = file->segments, .count = file->count};
    sc_pair rule = core_of(&a, &b);

    /* Something must be left of both, so that the sentence has two names. */
    if (rule.key.len == 0 || rule.value.len == 0) {
        span common = common_span(&a, &b);

        rule =
            (sc_pair){lead_text(&a, a.count - common.tail), lead_text(&b, b.count - common.tail)};
        if (rule.key.len == 0 || rule.value.len == 0)
            rule = (sc_pair){key->text, file->text};
    }
    buf_byte(out, '`');
    add_stars(out, rule.key);
    buf_add(out, CG_LIT("` is `"));
    add_stars(out, rule.value);
    buf_byte(out, '`');
}

static cg_code explain(difference *self, const key_pairs *pairs, cg_str *ret, cg_err *reterr)
{
    intern shown;
    size_t count = 0;
    buf text;
    buf rule;

    if (!intern_init(&shown, self->heap, 1))
        return err_nomem(reterr);
    buf_init(&text, self->heap, UINT32_MAX);
    buf_init(&rule, self->heap, UINT32_MAX);
    buf_add(&text, CG_LIT("the file has other names: "));
    for (size_t i = 0; i < pairs->count; i++) {
        buf_clear(&rule);
        add_rule(&self->keys[pairs->at[i].key].name, &self->spare[pairs->at[i].spare].name, &rule);
        if (intern_find(&shown, buf_text(&rule)) != 0)
            continue;
        if (intern_add(&shown, buf_text(&rule)) == 0)
            text.failed = true;
        if (count < RULES_SHOWN) {
            if (count > 0)
                buf_add(&text, CG_LIT(", "));
            buf_add(&text, buf_text(&rule));
        }
        count++;
    }
    if (count > RULES_SHOWN)
        buf_addf(&text, " and %zu more", count - RULES_SHOWN);
    if (text.failed || rule.failed || !arena_text(self->mem, buf_text(&text), ret))
        *ret = (cg_str){0};
    buf_free(&text);
    buf_free(&rule);
    intern_free(&shown);
    return ret->ptr == NULL ? err_nomem(reterr) : CG_OK;
}

static cg_code add_rows(search *self, cg_err *reterr)
{
    const key_pairs *both[2] = {&self->others, &self->running};

    for (unsigned i = 0; i < 2; i++) {
        doc_diagnosis *row = NULL;
        cg_str text = {0};

        if (both[i]->count == 0)
            continue;
        CG_TRY(explain(self->difference, both[i], &text, reterr));
        CG_TRY(difference_add_row(self->difference, DIAGNOSIS_RENAMED, both[i], true, text, &row,
                                  reterr));
        if (i == 1)
            row->running_state = BOOL_TRUE;
    }
    return CG_OK;
}

/* --- lists --- */

typedef struct place {
    cg_str before; /* the first number; absent: no list */
    size_t count;  /* families in it */
    size_t partner;
} place;

static cg_str list_of(const family *self)
{
    for (uint32_t i = 1; i < self->count; i++) {
        if (str_equal(self->segments[i], CG_LIT("#")))
            return lead_text(self, i);
    }
    return (cg_str){0};
}

/* Families come in order of their names: those of one list are neighbours. */
static size_t find_places(const side *from, place *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < from->count; i++) {
        cg_str before = list_of(&from->families[i]);

        if (before.ptr == NULL)
            continue;
        if (count == 0 || !str_equal(ret[count - 1].before, before))
            ret[count++] = (place){before, 0, SIZE_MAX};
        ret[count - 1].count++;
    }
    return count;
}

static bool is_like_sized(const place *a, const place *b)
{
    return a->count * 3 >= b->count * 2 && b->count * 3 >= a->count * 2 && a->count > 3;
}

/* The only place of the other side of about the same size, SIZE_MAX when there are more. */
static size_t only_partner(const place *one, const place *others, size_t count)
{
    size_t only = SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        if (str_equal(one->before, others[i].before))
            return SIZE_MAX;
        if (!is_like_sized(one, &others[i]))
            continue;
        if (only != SIZE_MAX)
            return SIZE_MAX;
        only = i;
    }
    return only;
}

/*
 * A list of the model and a list of the file, each the only one of its size on its side: members
 * are compared as if both had one name.
 */
static cg_code pair_lists(search *self, cg_err *reterr)
{
    arena *mem = self->difference->mem;
    side model;
    side file;
    place *left;
    place *right;
    size_t left_count;
    size_t right_count;

    CG_TRY(build_sides(self->difference, &self->words, &self->lists, false, &model, &file, reterr));
    left = arena_take(mem, (model.count + 1) * sizeof *left);
    right = arena_take(mem, (file.count + 1) * sizeof *right);
    if (left == NULL || right == NULL)
        return err_nomem(reterr);
    left_count = find_places(&model, left);
    right_count = find_places(&file, right);
    for (size_t i = 0; i < left_count; i++) {
        size_t partner = only_partner(&left[i], right, right_count);
        sc_pair *added;

        if (partner == SIZE_MAX || only_partner(&right[partner], left, left_count) != i)
            continue;
        added = vec_add(self->difference->heap, &self->lists.at);
        if (added == NULL)
            return err_nomem(reterr);
        *added = (sc_pair){left[i].before, right[partner].before};
    }
    return CG_OK;
}

/* What is taken is not open any more, and its shapes may bind symbols. */
static cg_code mark_taken(search *self, cg_err *reterr)
{
    const key_pairs *both[2] = {&self->others, &self->running};

    for (unsigned i = 0; i < 2; i++) {
        for (size_t j = 0; j < both[i]->count; j++) {
            self->difference->keys[both[i]->at[j].key].is_explained = true;
            self->difference->keys[both[i]->at[j].key].partner = both[i]->at[j].spare;
            self->difference->spare[both[i]->at[j].spare].is_explained = true;
        }
    }
    return difference_learn(self->difference, reterr);
}

static cg_code find_in(search *self, bool is_literal, bool may_be_weak, bool *ret_changed,
                       cg_err *reterr)
{
    arena *mem = self->difference->mem;

    *ret_changed = false;
    if (!difference_is_open(self->difference))
        return CG_OK;
    CG_TRY(build_sides(self->difference, &self->words, &self->lists, is_literal, &self->model,
                       &self->file, reterr));
    self->model_best = arena_take(mem, (self->model.count + 1) * sizeof *self->model_best);
    self->file_best = arena_take(mem, (self->file.count + 1) * sizeof *self->file_best);
    if (self->model_best == NULL || self->file_best == NULL)
        return err_nomem(reterr);
    CG_TRY(find_candidates(self, is_literal, reterr));
    CG_TRY(settle(self, is_literal, may_be_weak, ret_changed, reterr));
    return mark_taken(self, reterr);
}

static size_t open_keys(const difference *self)
{
    size_t count = 0;

    for (size_t i = 0; i < self->key_count; i++)
        count += key_is_open(&self->keys[i]);
    return count;
}

/* Pairs that only shapes support are guesses when most of the model remains unexplained. */
static void drop_weak(search *self, size_t open)
{
    key_pairs *both[2] = {&self->others, &self->running};
    size_t first[2] = {self->weak_others, self->weak_running};

    if (open_keys(self->difference) * 2 <= open)
        return;
    for (unsigned i = 0; i < 2; i++) {
        for (size_t j = first[i]; j < both[i]->count; j++) {
            self->difference->keys[both[i]->at[j].key].is_explained = false;
            self->difference->keys[both[i]->at[j].key].partner = KEY_NOWHERE;
            self->difference->spare[both[i]->at[j].spare].is_explained = false;
        }
        both[i]->count = first[i];
    }
}

static cg_code find_all(search *self, cg_err *reterr)
{
    size_t open = open_keys(self->difference);
    bool is_changed = true;

    CG_TRY(pair_lists(self, reterr));
    for (unsigned i = 0; is_changed && i < ROUNDS; i++)
        CG_TRY(find_in(self, false, false, &is_changed, reterr));
    CG_TRY(find_in(self, true, false, &is_changed, reterr));
    self->weak_others = self->others.count;
    self->weak_running = self->running.count;
    is_changed = true;
    for (unsigned i = 0; is_changed && i < ROUNDS; i++)
        CG_TRY(find_in(self, false, true, &is_changed, reterr));
    CG_TRY(find_in(self, true, true, &is_changed, reterr));
    drop_weak(self, open);
    return add_rows(self, reterr);
}

cg_code rename_find(difference *self, cg_err *reterr)
{
    search work = {.difference = self};
    size_t size = (size_t)WORDS_MOST * WORDS_MOST * sizeof *work.likeness;
    cg_code code = CG_OK;

    if (!difference_is_open(self))
        return CG_OK;
    work.likeness = heap_resize(self->heap, NULL, 0, size);
    if (work.likeness == NULL || !intern_init(&work.words, self->heap, 1)) {
        if (work.likeness != NULL)
            heap_resize(self->heap, work.likeness, size, 0);
        return err_nomem(reterr);
    }
    for (size_t i = 0; i < (size_t)WORDS_MOST * WORDS_MOST; i++)
        work.likeness[i] = -1.0f;
    code = find_all(&work, reterr);
    intern_free(&work.words);
    heap_resize(self->heap, work.likeness, size, 0);
    vec_free(self->heap, &work.candidates);
    vec_free(self->heap, &work.rules);
    vec_free(self->heap, &work.lists.at);
    vec_free(self->heap, &work.running);
    vec_free(self->heap, &work.others);
    return code;
}
