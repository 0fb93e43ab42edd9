#include "join/match_key.h"

#define NONE DECLARED_NONE

#define ROUNDS 8u /* components that share the keys of one root */

bool match_keys_init(match_keys *self, declared *from, uint32_t asked, const bool *is_executed,
                     uint64_t seed)
{
    *self = (match_keys){.asked = asked, .is_executed = is_executed};
    if (!intern_init(&self->root_names, from->heap, seed))
        return false;
    self->from = from;
    return true;
}

void match_keys_free(match_keys *self)
{
    heap *from;

    if (self->from == NULL)
        return;
    from = self->from->heap;
    intern_free(&self->root_names);
    vec_free(from, &self->first_of_root);
    vec_free(from, &self->keys);
    vec_free(from, &self->roots);
    vec_free(from, &self->hits);
    self->from = NULL;
}

uint32_t match_keys_add(match_keys *self, cg_str root, cg_str key, bool is_in_manifest)
{
    sym name = intern_add(&self->root_names, root);
    matched_key *fresh = name != 0 ? vec_add(self->from->heap, &self->keys) : NULL;
    uint32_t index = (uint32_t)(self->keys.count - 1);

    if (fresh == NULL || !vec_reserve(self->from->heap, &self->first_of_root, (size_t)name))
        return NONE;
    while (self->first_of_root.count < name)
        self->first_of_root.at[self->first_of_root.count++] = NONE;
    *fresh = (matched_key){.root = root,
                           .key = key,
                           .next = self->first_of_root.at[name - 1],
                           .item = NONE,
                           .is_in_manifest = is_in_manifest};
    self->first_of_root.at[name - 1] = index;
    return index;
}

/* --- what fits --- */

static bool find_hits(match_keys *self)
{
    path_hits found = {0};
    bool is_good = true;

    for (size_t i = 0; is_good && i < self->keys.count; i++) {
        matched_key *key = &self->keys.at[i];

        is_good = path_index_find(&self->from->keys, key->key, &found);
        key->hits_at = (uint32_t)self->hits.count;
        key->rule = found.is_template ? JOIN_RULE_PARAMETER_TEMPLATE : JOIN_RULE_PARAMETER_KEY;
        for (size_t k = 0; is_good && k < found.values.count; k++) {
            const declared_alias *alias = &self->from->aliases.at[found.values.at[k]];
            key_hit *hit = vec_add(self->from->heap, &self->hits);

            is_good = hit != NULL;
            if (is_good)
                *hit = (key_hit){alias->unit, alias->item};
        }
        key->hit_count = (uint32_t)(self->hits.count - key->hits_at);
    }
    path_hits_free(self->from->heap, &found);
    return is_good;
}

/* --- which unit --- */

/* Units that are in question for one root, with how many of its keys they have. */
typedef struct contest {
    match_keys *of;
    uint32_t *count; /* by unit */
    uint32_t *units; /* with a count */
    uint32_t *left;  /* of them, while they are judged */
    size_t unit_count, left_count;
    uint32_t most; /* of those that are left */
    buf room;
    bool is_short; /* of memory: no choice counts */
} contest;

static void count_units(contest *self, uint32_t first)
{
    const match_keys *of = self->of;

    for (size_t i = 0; i < self->unit_count; i++)
        self->count[self->units[i]] = 0;
    self->unit_count = 0;
    for (uint32_t i = first; i != NONE; i = of->keys.at[i].next) {
        const matched_key *key = &of->keys.at[i];

        if (key->item != NONE)
            continue;
        for (uint32_t k = 0; k < key->hit_count; k++) {
            uint32_t unit = of->hits.at[key->hits_at + k].unit;

            if (self->count[unit]++ == 0)
                self->units[self->unit_count++] = unit;
        }
    }
    memcpy(self->left, self->units, self->unit_count * sizeof *self->left);
    self->left_count = self->unit_count;
}

typedef bool unit_test(contest *self, uint32_t unit, cg_str root);

static bool is_any(contest *self, uint32_t unit, cg_str root)
{
    (void)self;
    (void)unit;
    (void)root;
    return true;
}

static bool is_asked(contest *self, uint32_t unit, cg_str root)
{
    (void)root;
    return self->of->from->units.at[unit].component == self->of->asked;
}

static bool is_named(contest *self, uint32_t unit, cg_str root)
{
    const declared *from = self->of->from;
    const model_component *component =
        MODEL_AT(from->doc->components, model_component, from->units.at[unit].component);
    size_t middle;
    cg_str text;

    buf_clear(&self->room);
    declared_squeeze(component->name, &self->room);
    middle = self->room.len;
    declared_squeeze(root, &self->room);
    text = buf_text(&self->room);
    self->is_short = self->is_short || self->room.failed;
    return !self->room.failed &&
           str_equal((cg_str){text.ptr, middle}, (cg_str){text.ptr + middle, text.len - middle});
}

static bool is_largest(contest *self, uint32_t unit, cg_str root)
{
    (void)root;
    return self->count[unit] == self->most;
}

static bool is_builder(contest *self, uint32_t unit, cg_str root)
{
    return str_equal(self->of->from->units.at[unit].root, root);
}

static bool is_outermost(contest *self, uint32_t unit, cg_str root)
{
    const declared *from = self->of->from;

    (void)root;
    return MODEL_AT(from->doc->components, model_component, from->units.at[unit].component)
               ->is_nested != BOOL_TRUE;
}

static bool is_run(contest *self, uint32_t unit, cg_str root)
{
    (void)root;
    return self->of->is_executed[self->of->from->units.at[unit].component];
}

/* Keep those that pass, if any does; was somebody left out? */
static bool narrow(contest *self, cg_str root, unit_test *test)
{
    size_t kept = 0;
    bool is_narrower;

    self->most = 0;
    for (size_t i = 0; i < self->left_count; i++) {
        uint32_t count = self->count[self->left[i]];

        self->most = count > self->most ? count : self->most;
    }
    for (size_t i = 0; i < self->left_count; i++) {
        uint32_t unit = self->left[i];

        if (test(self, unit, root)) {
            self->left[i] = self->left[kept];
            self->left[kept++] = unit;
        }
    }
    is_narrower = kept > 0 && kept < self->left_count;
    if (is_narrower)
        self->left_count = kept;
    return is_narrower;
}

/* Give the keys of the root that the unit has to it; how many. */
static uint64_t take_keys(match_keys *self, uint32_t first, uint32_t unit)
{
    uint64_t taken = 0;

    for (uint32_t i = first; i != NONE; i = self->keys.at[i].next) {
        matched_key *key = &self->keys.at[i];
        uint32_t item = NONE;
        uint32_t fits = 0;

        if (key->item != NONE)
            continue;
        for (uint32_t k = 0; k < key->hit_count; k++) {
            if (self->hits.at[key->hits_at + k].unit == unit) {
                item = self->hits.at[key->hits_at + k].item;
                fits++;
            }
        }
        if (fits == 1) {
            key->item = item;
            taken++;
        }
    }
    return taken;
}

/* One choice for what is left of a root; false when there is nothing more to choose. */
static bool choose_one(contest *self, uint32_t root, bool is_later, matched_root *ret)
{
    static const struct {
        unit_test *test;
        uint8_t choice;
    } rules[] = {{is_named, JOIN_CHOICE_NAMED},
                 {is_largest, JOIN_CHOICE_ONLY},
                 {is_run, JOIN_CHOICE_EXECUTED},
                 {is_builder, JOIN_CHOICE_BUILDER},
                 {is_outermost, JOIN_CHOICE_OUTERMOST}};
    match_keys *of = self->of;
    uint32_t first = of->first_of_root.at[root];
    cg_str name = of->keys.at[first].root;
    uint8_t choice = JOIN_CHOICE_ONLY;

    count_units(self, first);
    if (self->left_count == 0)
        return false;
    /* Who names a component wants no other; what is left of a root is a model of its own. */
    narrow(self, name, of->asked != NONE ? is_asked : is_later ? is_outermost : is_any);
    if (of->asked != NONE) {
        choice = JOIN_CHOICE_ASKED;
        if (!is_asked(self, self->left[0], name))
            return false;
    } else if (is_later && !is_outermost(self, self->left[0], name)) {
        return false;
    }
    for (size_t i = 0; self->left_count > 1 && i < sizeof rules / sizeof rules[0]; i++) {
        if (narrow(self, name, rules[i].test) && choice != JOIN_CHOICE_ASKED)
            choice = rules[i].choice;
    }
    *ret = (matched_root){.root = name, .unit = NONE, .choice = JOIN_CHOICE_NONE};
    if (self->left_count > 1)
        return true;
    ret->unit = self->left[0];
    ret->choice = choice;
    ret->matched = take_keys(of, first, ret->unit);
    return true;
}

static bool choose_root(contest *self, uint32_t root)
{
    match_keys *of = self->of;
    size_t before = of->roots.count;
    uint64_t keys = 0;

    for (uint32_t i = of->first_of_root.at[root]; i != NONE; i = of->keys.at[i].next)
        keys++;
    for (unsigned round = 0; round < ROUNDS; round++) {
        matched_root made = {.root = of->keys.at[of->first_of_root.at[root]].root,
                             .unit = NONE,
                             .choice = JOIN_CHOICE_NONE};
        matched_root *fresh;

        if (!choose_one(self, root, round > 0, &made) && of->roots.count > before)
            break;
        fresh = vec_add(of->from->heap, &of->roots);
        if (fresh == NULL)
            return false;
        *fresh = made;
        fresh->keys = keys;
        if (made.matched == 0)
            break;
    }
    return true;
}

cg_code match_keys_choose(match_keys *self, cg_err *reterr)
{
    heap *from = self->from->heap;
    size_t units = self->from->units.count;
    size_t room = (units + 1) * sizeof(uint32_t);
    contest work = {.of = self};
    bool is_good = find_hits(self);

    work.count = heap_resize(from, NULL, 0, room);
    work.units = heap_resize(from, NULL, 0, room);
    work.left = heap_resize(from, NULL, 0, room);
    buf_init(&work.room, from, SIZE_MAX / 2);
    is_good = is_good && work.count != NULL && work.units != NULL && work.left != NULL;
    if (is_good)
        memset(work.count, 0, room);
    for (uint32_t i = 0; is_good && i < self->first_of_root.count; i++)
        is_good = choose_root(&work, i) && !work.is_short;
    if (work.count != NULL)
        heap_resize(from, work.count, room, 0);
    if (work.units != NULL)
        heap_resize(from, work.units, room, 0);
    if (work.left != NULL)
        heap_resize(from, work.left, room, 0);
    buf_free(&work.room);
    return is_good ? CG_OK : err_nomem(reterr);
}
