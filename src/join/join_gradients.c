/* Who never learned, which finding says why, and which one the runs contradict. */
#include "base/num.h"
#include "base/sort.h"
#include "join/join_part.h"

#define NONE DECLARED_NONE

/* Findings that tell why a parameter gets no gradient; the most telling first. */
static const char *const reasons[] = {"gradient-cut", "unused-parameter", "dead-gradient-path",
                                      "severed-parameter"};
#define REASONS (sizeof reasons / sizeof reasons[0])

/* A gradient of all runs together. */
typedef struct learner {
    sym root, key;
    uint32_t item;
    bool is_doubtful; /* matched to different things in different runs */
    uint64_t states[OBSERVED_STATES];
    uint64_t *runs;
    size_t run_count;
    uint8_t worth;
} learner;

/* Finding `finding` names parameter `item`; the next one of the item follows. */
typedef struct tie {
    uint32_t finding;
    uint32_t next;
} tie;

typedef struct starving {
    const join *from;
    const declared *crate;
    arena *mem;
    VEC(learner) learners;
    VEC(tie) ties;
    uint32_t *first_tie; /* by parameter */
    number_map by_place; /* registration -> first parameter that is made there and has a tie */
    intern places;
    buf room;
    VEC(join_starved) rows;
    VEC(join_disputed) disputed;
    VEC(join_reason) told;
    bool is_out;
} starving;

/* --- all runs together --- */

static bool add_run(starving *self, learner *to, const join_gradient *from)
{
    size_t most = self->from->runs.count;

    if (to->runs == NULL)
        to->runs = arena_take(self->mem, (most + 1) * sizeof *to->runs);
    if (to->runs == NULL)
        return false;
    to->runs[to->run_count++] = from->run;
    return true;
}

static bool gather(starving *self)
{
    const join *from = self->from;
    number_map at;
    bool is_good = true;

    number_map_init(&at, from->heap);
    for (size_t i = 0; is_good && i < from->gradients.count; i++) {
        const join_gradient *event = &from->gradients.at[i];
        uint32_t *known = number_map_put(&at, number_map_key(event->root, event->key),
                                         (uint32_t)self->learners.count);
        uint8_t worth = from->runs.at[event->run].worth;
        learner *to;

        is_good = known != NULL;
        if (is_good && *known == self->learners.count) {
            to = vec_add(from->heap, &self->learners);
            is_good = to != NULL;
            if (is_good)
                *to = (learner){.root = event->root, .key = event->key, .item = event->item};
        }
        if (!is_good)
            break;
        to = &self->learners.at[*known];
        to->is_doubtful = to->is_doubtful || to->item != event->item;
        to->worth = worth > to->worth ? worth : to->worth;
        for (size_t k = 0; k < OBSERVED_STATES; k++)
            to->states[k] = num_sat_add(to->states[k], event->states[k]);
        is_good = add_run(self, to, event);
    }
    number_map_free(&at);
    return is_good;
}

/* --- findings of a parameter --- */

/* Where a parameter is registered, and as what; 0: nobody knows, or no memory. */
static sym place_of(starving *self, const model_parameter *parameter)
{
    const model_location *at = parameter->location;
    cg_str key = parameter->key;
    size_t dot = str_find_last(key, '.');

    if (at == NULL)
        return 0;
    if (dot != SIZE_MAX)
        key = (cg_str){key.ptr + dot + 1, key.len - dot - 1};
    buf_clear(&self->room);
    buf_add(&self->room, at->file);
    buf_addf(&self->room, ":%llu:", (unsigned long long)at->byte_start);
    buf_add(&self->room, key);
    return self->room.failed ? 0 : intern_add(&self->places, buf_text(&self->room));
}

static bool add_tie(starving *self, uint32_t parameter, uint32_t finding)
{
    tie *fresh = vec_add(self->from->heap, &self->ties);

    if (fresh == NULL)
        return false;
    *fresh = (tie){finding, self->first_tie[parameter]};
    self->first_tie[parameter] = (uint32_t)(self->ties.count - 1);
    return true;
}

static size_t rank_of(cg_str rule)
{
    size_t i = 0;

    while (i < REASONS && !str_is(rule, reasons[i]))
        i++;
    return i;
}

/* Findings that name keys and no ids: every parameter of that builder and key. */
static bool tie_keys(starving *self, const sc_records *of, uint32_t finding, path_hits *hits)
{
    declared *crate = (declared *)(uintptr_t)self->crate; /* look-ups have room of their own */
    const model_keys *roots = of->at;

    for (size_t i = 0; i < of->count; i++) {
        for (size_t k = 0; k < roots[i].keys.count; k++) {
            if (!path_index_find(&crate->keys, roots[i].keys.at[k], hits))
                return false;
            for (size_t n = 0; n < hits->values.count; n++) {
                const declared_alias *alias = &crate->aliases.at[hits->values.at[n]];
                const declared_unit *unit = &crate->units.at[alias->unit];

                if (unit->prefix.len == 0 && str_equal(unit->root, roots[i].name) &&
                    !add_tie(self, declared_place(crate, JOIN_ITEM_PARAMETER, alias->item),
                             finding))
                    return false;
            }
        }
    }
    return true;
}

static bool tie_ids(starving *self, const model_finding *finding, uint32_t number,
                    const text_index *ids)
{
    for (size_t k = 0; k < finding->related.count; k++) {
        size_t at = index_find(ids, finding->related.at[k]);

        if (at != INDEX_NONE && !add_tie(self, (uint32_t)at, number))
            return false;
    }
    return true;
}

/* From the last to the first, the least telling first: a chain begins with the best. */
static bool tie_findings(starving *self)
{
    const model_doc *doc = self->from->doc;
    path_hits hits = {0};
    text_index ids = {0};
    bool is_good = index_build(&ids, self->from->heap, &doc->parameters, sizeof(model_parameter),
                               offsetof(model_parameter, id));

    for (size_t rank = REASONS; is_good && rank-- > 0;) {
        for (uint32_t i = (uint32_t)doc->findings.count; is_good && i-- > 0;) {
            const model_finding *finding = MODEL_AT(doc->findings, model_finding, i);

            if (rank_of(finding->rule) != rank)
                continue;
            is_good = finding->related.count > 0 ? tie_ids(self, finding, i, &ids)
                                                 : tie_keys(self, &finding->severed, i, &hits) &&
                                                       tie_keys(self, &finding->keys, i, &hits);
        }
    }
    path_hits_free(self->from->heap, &hits);
    index_free(&ids);
    return is_good;
}

static bool index_places(starving *self)
{
    const model_doc *doc = self->from->doc;

    for (uint32_t i = 0; i < doc->parameters.count; i++) {
        sym place = self->first_tie[i] != NONE
                        ? place_of(self, MODEL_AT(doc->parameters, model_parameter, i))
                        : 0;

        if (self->room.failed || (place != 0 && number_map_put(&self->by_place, place, i) == NULL))
            return false;
    }
    return true;
}

static bool tell_reason(starving *self, uint32_t number, uint8_t bond)
{
    const model_finding *finding = MODEL_AT(self->from->doc->findings, model_finding, number);
    join_reason *fresh = vec_add(self->from->heap, &self->told);

    if (fresh == NULL)
        return false;
    *fresh = (join_reason){.finding = finding->id,
                           .code = finding->rule,
                           .tie = bond,
                           .operation = finding->operation,
                           .condition = finding->condition,
                           .confidence = finding->confidence,
                           .function = finding->function,
                           .location = finding->location,
                           .alternative = finding->alternative,
                           .help = finding->help,
                           .message = finding->message};
    return true;
}

/* The findings that name the parameter, else those that name what the same call makes elsewhere. */
static bool find_reasons(starving *self, uint32_t parameter)
{
    const model_doc *doc = self->from->doc;
    uint32_t at = self->first_tie[parameter];
    uint8_t bond = JOIN_TIE_PARAMETER;

    self->told.count = 0;
    if (at == NONE) {
        sym place = place_of(self, MODEL_AT(doc->parameters, model_parameter, parameter));
        uint32_t *other = place != 0 ? number_map_find(&self->by_place, place) : NULL;

        if (self->room.failed)
            return false;
        at = other != NULL ? self->first_tie[*other] : NONE;
        bond = JOIN_TIE_REGISTRATION;
    }
    for (; at != NONE; at = self->ties.at[at].next) {
        if (!tell_reason(self, self->ties.at[at].finding, bond))
            return false;
    }
    return true;
}

/* Does it say that no gradient comes, of this parameter and on every path? */
static bool is_claim(const join_reason *reason)
{
    return reason->confidence == MODEL_CONFIDENCE_PROVEN && reason->tie == JOIN_TIE_PARAMETER;
}

/* Of the reasons found, those that are claims, or those that are none; both: all. */
static bool keep_reasons(starving *self, bool claims, bool others, sc_records *ret)
{
    join_reason *copy = arena_take(self->mem, (self->told.count + 1) * sizeof *copy);
    size_t count = 0;

    if (copy == NULL)
        return false;
    for (size_t i = 0; i < self->told.count; i++) {
        if (is_claim(&self->told.at[i]) ? claims : others)
            copy[count++] = self->told.at[i];
    }
    *ret = (sc_records){copy, count};
    return true;
}

/* --- rows --- */

static join_states *states_of(starving *self, const learner *of)
{
    join_states *ret = arena_take(self->mem, sizeof *ret);

    if (ret != NULL)
        *ret =
            (join_states){of->states[GRADIENT_STATE_PRESENT], of->states[GRADIENT_STATE_MISSING],
                          of->states[GRADIENT_STATE_ZERO], of->states[GRADIENT_STATE_NON_FINITE]};
    return ret;
}

static void describe(const starving *self, uint32_t item, join_starved *ret)
{
    const declared *crate = self->crate;
    join_item what = join_item_of(crate, item);
    uint32_t module = crate->parent_of[item];

    ret->id = what.id;
    ret->template_key = what.name;
    ret->component = what.component;
    ret->location = what.location;
    ret->module_type = MODEL_AT(self->from->doc->parameters, model_parameter,
                                declared_place(crate, JOIN_ITEM_PARAMETER, item))
                           ->kind;
    if (module != NONE && crate->layer_of[declared_place(crate, JOIN_ITEM_PARAMETER, item)] == NONE)
        ret->module_type = MODEL_AT(self->from->doc->modules, model_module, module)->type_name;
}

static bool is_starving(const learner *of)
{
    return of->states[GRADIENT_STATE_MISSING] > 0 || of->states[GRADIENT_STATE_ZERO] > 0;
}

/* A gradient of zeros is one that came: what keeps gradients back leaves none. */
static bool has_come(const learner *of)
{
    return of->states[GRADIENT_STATE_PRESENT] > 0 || of->states[GRADIENT_STATE_ZERO] > 0 ||
           of->states[GRADIENT_STATE_NON_FINITE] > 0;
}

static bool add_disputed(starving *self, const join_starved *row, sc_records denied_by)
{
    join_disputed *fresh = vec_add(self->from->heap, &self->disputed);

    if (fresh == NULL)
        return false;
    *fresh = (join_disputed){.key = row->key,
                             .root = row->root,
                             .id = row->id,
                             .template_key = row->template_key,
                             .component = row->component,
                             .module = row->module,
                             .module_type = row->module_type,
                             .location = row->location,
                             .states = row->states,
                             .is_learning = row->is_learning,
                             .worth = row->worth,
                             .runs = row->runs,
                             .verdict = JOIN_DISPUTE_UNKNOWN,
                             .denied_by = denied_by};
    return true;
}

/* The row of a gradient that did not always come, and that of one that came against a finding. */
static bool add_row(starving *self, const learner *of, uint64_t *io_explained)
{
    uint32_t item = of->is_doubtful ? NONE : of->item;
    sc_records denied_by = {0};
    join_starved row = {.key = intern_text_of(&self->from->texts, of->key),
                        .root = intern_text_of(&self->from->texts, of->root),
                        .states = states_of(self, of),
                        .is_learning = of->states[GRADIENT_STATE_PRESENT] > 0,
                        .worth = of->worth,
                        .runs = {of->runs, of->run_count}};

    row.module = join_item_layer(row.key);
    if (row.states == NULL)
        return false;
    if (item != NONE) {
        bool is_missing = of->states[GRADIENT_STATE_MISSING] > 0;

        describe(self, item, &row);
        if (!find_reasons(self, declared_place(self->crate, JOIN_ITEM_PARAMETER, item)) ||
            !keep_reasons(self, has_come(of), false, &denied_by) ||
            !keep_reasons(self, is_missing && !has_come(of), is_missing, &row.explained_by))
            return false;
    }
    if (denied_by.count > 0 && !add_disputed(self, &row, denied_by))
        return false;
    if (!is_starving(of))
        return true;
    *io_explained += !row.is_learning && row.explained_by.count > 0 ? 1 : 0;
    if (!vec_reserve(self->from->heap, &self->rows, self->rows.count + 1))
        return false;
    self->rows.at[self->rows.count++] = row;
    return true;
}

/* Means and variances of a normalisation, which the layer keeps itself: no gradient is meant for
   them, though a VarMap lists them with the rest. */
static bool is_running_state(const starving *self, const learner *of)
{
    return !of->is_doubtful && of->item != NONE &&
           MODEL_AT(self->from->doc->parameters, model_parameter,
                    declared_place(self->crate, JOIN_ITEM_PARAMETER, of->item))
                   ->role == MODEL_PARAMETER_ROLE_RUNNING_STATE;
}

static bool add_rows(starving *self, join_learning *learning)
{
    for (size_t i = 0; i < self->learners.count; i++) {
        const learner *of = &self->learners.at[i];
        bool is_learning = of->states[GRADIENT_STATE_PRESENT] > 0;

        if (!is_learning && !is_starving(of) && of->states[GRADIENT_STATE_NON_FINITE] == 0)
            continue;
        if (!is_learning && of->states[GRADIENT_STATE_NON_FINITE] == 0 &&
            is_running_state(self, of)) {
            learning->running++;
            continue;
        }
        learning->observed++;
        learning->learned += is_learning ? 1 : 0;
        learning->non_finite += of->states[GRADIENT_STATE_NON_FINITE] > 0 ? 1 : 0;
        if (!add_row(self, of, &learning->explained))
            return false;
        if (is_learning || !is_starving(of))
            continue;
        learning->never_learned++;
        learning->zero += of->states[GRADIENT_STATE_ZERO] > 0 ? 1 : 0;
    }
    learning->contradicted = self->disputed.count;
    return true;
}

static bool is_before(const join_starved *a, const join_starved *b)
{
    int order = str_compare(a->root, b->root);

    order = order != 0 ? order : str_compare(a->module, b->module);
    order = order != 0 ? order : str_compare(a->key, b->key);
    return order < 0;
}

static bool starved_before(const void *context, uint32_t a, uint32_t b)
{
    const join_starved *rows = context;

    return is_before(&rows[a], &rows[b]);
}

static bool disputed_before(const void *context, uint32_t a, uint32_t b)
{
    const join_disputed *rows = context;
    join_starved left = {.root = rows[a].root, .module = rows[a].module, .key = rows[a].key};
    join_starved right = {.root = rows[b].root, .module = rows[b].module, .key = rows[b].key};

    return is_before(&left, &right);
}

/* The numbers of `count` rows, in the order of a list. NULL: no memory. */
static uint32_t *order_rows(starving *self, size_t count,
                            bool (*before)(const void *, uint32_t, uint32_t), const void *rows)
{
    uint32_t *order = arena_take(self->mem, (count + 1) * sizeof *order);
    uint32_t *room = arena_take(self->mem, (count + 1) * sizeof *room);

    if (order == NULL || room == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, room, count, before, rows);
    return order;
}

static bool split(starving *self, join_gradients *ret)
{
    size_t count = self->rows.count;
    uint32_t *order = order_rows(self, count, starved_before, self->rows.at);
    join_starved *with = arena_take(self->mem, (count + 1) * sizeof *with);
    join_starved *without = arena_take(self->mem, (count + 1) * sizeof *without);
    size_t with_count = 0;
    size_t without_count = 0;

    if (order == NULL || with == NULL || without == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const join_starved *row = &self->rows.at[order[i]];

        if (row->explained_by.count > 0)
            with[with_count++] = *row;
        else
            without[without_count++] = *row;
    }
    ret->explained = (sc_records){with, with_count};
    ret->unexplained = (sc_records){without, without_count};
    return true;
}

static bool list_disputed(starving *self, sc_records *ret)
{
    size_t count = self->disputed.count;
    uint32_t *order = order_rows(self, count, disputed_before, self->disputed.at);
    join_disputed *rows = arena_take(self->mem, (count + 1) * sizeof *rows);

    if (order == NULL || rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        rows[i] = self->disputed.at[order[i]];
    *ret = (sc_records){rows, count};
    return true;
}

cg_code join_gradients_find(const join *from, arena *mem, join_gradients *ret, cg_err *reterr)
{
    starving work = {.from = from, .crate = &from->crate, .mem = mem};
    size_t room = (from->doc->parameters.count + 1) * sizeof *work.first_tie;
    bool is_good;

    memset(ret, 0, sizeof *ret);
    buf_init(&work.room, from->heap, SIZE_MAX / 2);
    number_map_init(&work.by_place, from->heap);
    if (!intern_init(&work.places, from->heap, from->texts.seed))
        return err_nomem(reterr);
    work.first_tie = arena_take(mem, room);
    is_good = work.first_tie != NULL;
    if (is_good)
        memset(work.first_tie, 0xff, room);
    is_good = is_good && gather(&work) && tie_findings(&work) && index_places(&work) &&
              add_rows(&work, &ret->learning) && split(&work, ret) &&
              list_disputed(&work, &ret->contradicted);
    vec_free(from->heap, &work.learners);
    vec_free(from->heap, &work.ties);
    vec_free(from->heap, &work.rows);
    vec_free(from->heap, &work.disputed);
    vec_free(from->heap, &work.told);
    number_map_free(&work.by_place);
    intern_free(&work.places);
    buf_free(&work.room);
    return is_good ? CG_OK : err_nomem(reterr);
}
