#include "join/join_rows.h"

#include "base/num.h"
#include "base/sort.h"

#define NONE       DECLARED_NONE
#define CANDIDATES 8u /* of one ambiguous name */

typedef struct making {
    const join *from;
    const declared *crate;
    const join_options *options;
    arena *mem;
    join_doc *ret;
} making;

/* --- a part of a list --- */

/* As every list of the document begins; the tables differ in what the rows are. */
typedef join_rows list;

_Static_assert(sizeof(join_rows) == sizeof(join_absents), "lists have one shape");

typedef bool row_test(const void *row, cg_str select);

static bool has(cg_str text, cg_str part)
{
    return text.ptr != NULL && str_find(text, part) != SIZE_MAX;
}

static cg_code put_list(making *self, sc_records all, size_t size, row_test *test, const void **ret,
                        cg_err *reterr)
{
    const join_options *options = self->options;
    list *made = arena_zero(self->mem, sizeof *made);
    const char *rows = all.at;
    uint64_t total = 0;
    uint64_t most = options->limit < all.count ? options->limit : all.count;
    char *kept = arena_take(self->mem, ((size_t)most + 1) * size);

    if (made == NULL || kept == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < all.count; i++) {
        if (options->select.ptr != NULL && !test(rows + i * size, options->select))
            continue;
        if (total++ < options->offset || made->returned >= options->limit)
            continue;
        memcpy(kept + made->returned++ * size, rows + i * size, size);
    }
    made->total = total;
    made->offset = options->offset;
    made->is_truncated = made->returned < total;
    made->rows = (sc_records){kept, (size_t)made->returned};
    *ret = made;
    return CG_OK;
}

static bool is_absent_selected(const void *row, cg_str select)
{
    const join_absent *at = row;

    return has(at->id, select) || has(at->name, select);
}

static bool is_starved_selected(const void *row, cg_str select)
{
    const join_starved *at = row;

    return has(at->id, select) || has(at->key, select);
}

static bool is_disputed_selected(const void *row, cg_str select)
{
    const join_disputed *at = row;

    return has(at->id, select) || has(at->key, select);
}

static bool is_hazard_selected(const void *row, cg_str select)
{
    const join_hazard *at = row;

    return has(at->finding, select) || has(at->function, select) || has(at->operation, select);
}

static bool is_broken_selected(const void *row, cg_str select)
{
    const join_broken *at = row;

    return has(at->label, select) || has(at->id, select) || has(at->span, select);
}

static bool is_stranger_selected(const void *row, cg_str select)
{
    return has(((const join_stranger *)row)->name, select);
}

static bool is_doubt_selected(const void *row, cg_str select)
{
    return has(((const join_doubt *)row)->name, select);
}

static bool is_row_selected(const void *row, cg_str select)
{
    const join_row *at = row;

    return has(at->id, select) || has(at->name, select);
}

/* --- what was observed, by item --- */

static bool fact_before(const void *context, uint32_t a, uint32_t b)
{
    const join_item_fact *facts = context;
    const join_provenance *left = facts[a].fact.provenance;
    const join_provenance *right = facts[b].fact.provenance;

    if (facts[a].item != facts[b].item)
        return facts[a].item < facts[b].item;
    if (left->run != right->run)
        return left->run < right->run;
    return left->record != right->record ? left->record < right->record : left->rule < right->rule;
}

/* Facts of layers are facts of each of their parameters. */
static bool spread(making *self, join_item_fact **ret, size_t *ret_count)
{
    const join *from = self->from;
    const declared *crate = self->crate;
    size_t count = 0;
    join_item_fact *at;

    for (size_t i = 0; i < from->facts.count; i++) {
        uint32_t item = from->facts.at[i].item;

        if (declared_kind(crate, item) != DECLARED_LAYER) {
            count++;
            continue;
        }
        for (uint32_t p = crate->layers.at[declared_place(crate, DECLARED_LAYER, item)].first;
             p != NONE; p = crate->next_in_layer[p])
            count++;
    }
    at = arena_take(self->mem, (count + 1) * sizeof *at);
    if (at == NULL)
        return false;
    count = 0;
    for (size_t i = 0; i < from->facts.count; i++) {
        uint32_t item = from->facts.at[i].item;

        if (declared_kind(crate, item) != DECLARED_LAYER) {
            at[count++] = from->facts.at[i];
            continue;
        }
        for (uint32_t p = crate->layers.at[declared_place(crate, DECLARED_LAYER, item)].first;
             p != NONE; p = crate->next_in_layer[p]) {
            at[count] = from->facts.at[i];
            at[count++].item = declared_item(crate, JOIN_ITEM_PARAMETER, p);
        }
    }
    *ret = at;
    *ret_count = count;
    return true;
}

static bool make_rows(making *self, sc_records *ret)
{
    join_item_fact *facts;
    size_t count;
    uint32_t *order;
    uint32_t *room;
    join_fact *sorted;
    join_row *rows;
    size_t made = 0;

    if (!spread(self, &facts, &count))
        return false;
    order = arena_take(self->mem, (count + 1) * sizeof *order);
    room = arena_take(self->mem, (count + 1) * sizeof *room);
    sorted = arena_take(self->mem, (count + 1) * sizeof *sorted);
    rows = arena_take(self->mem, (count + 1) * sizeof *rows);
    if (order == NULL || room == NULL || sorted == NULL || rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, room, count, fact_before, facts);
    for (size_t i = 0; i < count; i++) {
        uint32_t item = facts[order[i]].item;

        sorted[i] = facts[order[i]].fact;
        if (i == 0 || facts[order[i - 1]].item != item) {
            join_item what = join_item_of(self->crate, item);

            rows[made++] = (join_row){.id = what.id,
                                      .kind = what.kind,
                                      .name = what.name,
                                      .component = what.component,
                                      .module = what.module,
                                      .location = what.location,
                                      .observed = {&sorted[i], 0}};
        }
        rows[made - 1].observed.count++;
    }
    *ret = (sc_records){rows, made};
    return true;
}

/* --- names without a counterpart, and with several --- */

static bool name_before(const void *context, uint32_t a, uint32_t b)
{
    const making *self = context;
    const join_name *left = &self->from->names.at[a];
    const join_name *right = &self->from->names.at[b];
    const intern *texts = &self->from->texts;
    int order;

    if (left->record != right->record)
        return left->record < right->record;
    if ((left->candidate_count > 0) != (right->candidate_count > 0))
        return left->candidate_count == 0;
    order = str_compare(intern_text_of(texts, left->name), intern_text_of(texts, right->name));
    if (order == 0 && left->root != 0 && right->root != 0)
        order = str_compare(intern_text_of(texts, left->root), intern_text_of(texts, right->root));
    return order < 0;
}

static bool is_same_name(const join_name *a, const join_name *b)
{
    return a->record == b->record && a->name == b->name && a->root == b->root &&
           (a->candidate_count > 0) == (b->candidate_count > 0);
}

static bool tell_candidates(making *self, const join_name *from, join_doubt *ret)
{
    const declared *crate = self->crate;
    cg_str *ids = arena_take(self->mem, CANDIDATES * sizeof *ids);
    size_t count = 0;
    uint64_t all = 0;

    if (ids == NULL)
        return false;
    for (uint32_t i = 0; i < from->candidate_count; i++) {
        uint32_t item = self->from->candidates.at[from->candidates_at + i];
        uint32_t next = NONE;

        if (declared_kind(crate, item) == DECLARED_LAYER) {
            next = crate->layers.at[declared_place(crate, DECLARED_LAYER, item)].first;
            item = declared_item(crate, JOIN_ITEM_PARAMETER, next);
            next = crate->next_in_layer[next];
        }
        for (;;) {
            all++;
            if (count < CANDIDATES)
                ids[count++] = join_item_of(crate, item).id;
            if (next == NONE)
                break;
            item = declared_item(crate, JOIN_ITEM_PARAMETER, next);
            next = crate->next_in_layer[next];
        }
    }
    ret->candidates = (sc_strs){ids, count};
    ret->candidate_count = all;
    return true;
}

/* The runs of names order[at, end), which are one name. */
static bool tell_runs(making *self, const uint32_t *order, size_t at, size_t end, sc_u64s *ret,
                      uint64_t *ret_count)
{
    uint64_t *runs = arena_take(self->mem, (end - at) * sizeof *runs);
    size_t count = 0;

    if (runs == NULL)
        return false;
    *ret_count = 0;
    for (; at < end; at++) {
        const join_name *name = &self->from->names.at[order[at]];

        if (count == 0 || runs[count - 1] != name->run)
            runs[count++] = name->run;
        *ret_count = num_sat_add(*ret_count, name->count);
    }
    *ret = (sc_u64s){runs, count};
    return true;
}

static cg_str id_around(const making *self, uint32_t item)
{
    return item == NONE || declared_kind(self->crate, item) == DECLARED_LAYER
               ? (cg_str){0}
               : join_item_of(self->crate, item).id;
}

static bool make_names(making *self, sc_records *ret_strangers, sc_records *ret_doubts)
{
    const join *from = self->from;
    size_t count = from->names.count;
    uint32_t *order = arena_take(self->mem, (count + 1) * sizeof *order);
    uint32_t *room = arena_take(self->mem, (count + 1) * sizeof *room);
    join_stranger *strangers = arena_take(self->mem, (count + 1) * sizeof *strangers);
    join_doubt *doubts = arena_take(self->mem, (count + 1) * sizeof *doubts);
    size_t stranger_count = 0;
    size_t doubt_count = 0;

    if (order == NULL || room == NULL || strangers == NULL || doubts == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, room, count, name_before, self);
    for (size_t i = 0, end; i < count; i = end) {
        const join_name *name = &from->names.at[order[i]];
        cg_str text = intern_text_of(&from->texts, name->name);
        cg_str root = name->root != 0 ? intern_text_of(&from->texts, name->root) : (cg_str){0};
        uint64_t records;
        sc_u64s runs;

        for (end = i + 1; end < count && is_same_name(name, &from->names.at[order[end]]); end++)
            continue;
        if (!tell_runs(self, order, i, end, &runs, &records))
            return false;
        if (name->candidate_count == 0) {
            strangers[stranger_count++] = (join_stranger){.record = name->record,
                                                          .name = text,
                                                          .root = root,
                                                          .count = records,
                                                          .runs = runs,
                                                          .first_span = name->first_span,
                                                          .inside = id_around(self, name->inside)};
            continue;
        }
        doubts[doubt_count] = (join_doubt){.record = name->record,
                                           .name = text,
                                           .root = root,
                                           .count = records,
                                           .runs = runs,
                                           .rule = name->rule};
        if (!tell_candidates(self, name, &doubts[doubt_count++]))
            return false;
    }
    *ret_strangers = (sc_records){strangers, stranger_count};
    *ret_doubts = (sc_records){doubts, doubt_count};
    return true;
}

/* --- head --- */

static cg_code make_head(making *self, cg_err *reterr)
{
    const model_doc *doc = self->from->doc;
    const model_cargo *cargo = doc->cargo;
    join_crate *crate = arena_zero(self->mem, sizeof *crate);
    join_run *runs = arena_take(self->mem, (self->from->runs.count + 1) * sizeof *runs);

    if (crate == NULL || runs == NULL)
        return err_nomem(reterr);
    if (cargo != NULL)
        *crate = (join_crate){cargo->package_name, cargo->package_version, cargo->manifest_path};
    if (self->from->runs.count > 0)
        memcpy(runs, self->from->runs.at, self->from->runs.count * sizeof *runs);
    *self->ret = (join_doc){.schema = CG_LIT(JOIN_SCHEMA),
                            .analysis_id = doc->analysis_id,
                            .selector = self->options->select,
                            .crate = crate,
                            .runs = {runs, self->from->runs.count}};
    return CG_OK;
}

/* An item was observed when it was recorded, or something it holds. */
static bool *find_observed(making *self)
{
    const declared *crate = self->crate;
    uint32_t items = declared_count(crate);
    bool *ret = arena_zero(self->mem, (size_t)items + 1);

    for (uint32_t item = 0; ret != NULL && item < items; item++) {
        uint32_t component = crate->component_of[item];

        if (!self->from->is_seen[item])
            continue;
        ret[item] = true;
        if (component != NONE)
            ret[declared_item(crate, JOIN_ITEM_COMPONENT, component)] = true;
        for (uint32_t at = crate->parent_of[item]; at != NONE;) {
            uint32_t above = declared_item(crate, JOIN_ITEM_MODULE, at);

            if (ret[above])
                break;
            ret[above] = true;
            at = crate->parent_of[above];
        }
    }
    for (uint32_t i = 0; ret != NULL && i < self->from->doc->parameters.count; i++) {
        uint32_t layer = crate->layer_of[i];

        if (layer != NONE && ret[declared_item(crate, DECLARED_LAYER, layer)])
            ret[declared_item(crate, JOIN_ITEM_PARAMETER, i)] = true;
    }
    return ret;
}

static const void *count_of(making *self, const bool *is_observed, uint8_t kind)
{
    const declared *crate = self->crate;
    join_count *ret = arena_take(self->mem, sizeof *ret);

    if (ret == NULL)
        return NULL;
    *ret = (join_count){.declared = crate->first[kind + 1] - crate->first[kind]};
    for (uint32_t item = crate->first[kind]; item < crate->first[kind + 1]; item++)
        ret->observed += is_observed[item] ? 1 : 0;
    return ret;
}

static bool tell_doubts(making *self, sc_strs *ret)
{
    const join *from = self->from;
    cg_str *at = arena_take(self->mem, (from->runs.count + 2) * sizeof *at);
    size_t count = 0;
    bool is_any_full = false;

    if (at == NULL)
        return false;
    for (size_t i = 0; i < from->runs.count; i++)
        is_any_full = is_any_full || from->runs.at[i].worth == JOIN_WORTH_FULL;
    if (!is_any_full)
        at[count++] = CG_LIT("what did not run: no run is complete, so that silence tells nothing");
    for (size_t i = 0; i < from->runs.count; i++) {
        const join_root *roots = from->runs.at[i].roots.at;

        for (size_t k = 0; k < from->runs.at[i].roots.count; k++) {
            if (roots[k].choice != JOIN_CHOICE_NONE || roots[k].keys == 0)
                continue;
            if (!arena_format(self->mem, &at[count],
                              "run %zu: whose gradients `%.*s` has; --component names it", i,
                              (int)roots[k].root.len, roots[k].root.ptr))
                return false;
            count++;
            break;
        }
    }
    *ret = (sc_strs){at, count};
    return true;
}

static cg_code make_summary(making *self, const join_gradients *gradients,
                            const join_numbers *numbers, cg_err *reterr)
{
    join_summary *ret = arena_zero(self->mem, sizeof *ret);
    join_learning *learning = arena_take(self->mem, sizeof *learning);
    bool *is_observed = find_observed(self);

    if (ret == NULL || learning == NULL || is_observed == NULL)
        return err_nomem(reterr);
    *learning = gradients->learning;
    ret->components = count_of(self, is_observed, JOIN_ITEM_COMPONENT);
    ret->modules = count_of(self, is_observed, JOIN_ITEM_MODULE);
    ret->functions = count_of(self, is_observed, JOIN_ITEM_FUNCTION);
    ret->operations = count_of(self, is_observed, JOIN_ITEM_OPERATION);
    ret->parameters = count_of(self, is_observed, JOIN_ITEM_PARAMETER);
    ret->tensors = count_of(self, is_observed, JOIN_ITEM_TENSOR);
    ret->gradients = learning;
    ret->hazards = numbers->hazard_count;
    ret->hazards_exercised = numbers->hazards.count;
    if (ret->components == NULL || ret->modules == NULL || ret->functions == NULL ||
        ret->operations == NULL || ret->parameters == NULL || ret->tensors == NULL ||
        !tell_doubts(self, &ret->cannot_tell))
        return err_nomem(reterr);
    self->ret->summary = ret;
    return CG_OK;
}

cg_code join_document_make(const join *from, const join_options *options, arena *mem, join_doc *ret,
                           cg_err *reterr)
{
    making work = {.from = from, .crate = &from->crate, .options = options, .mem = mem, .ret = ret};
    join_gradients gradients = {0};
    join_numbers numbers = {0};
    sc_records absents = {0};
    sc_records rows;
    sc_records strangers;
    sc_records doubts;

    CG_TRY(make_head(&work, reterr));
    CG_TRY(join_absents_find(from, mem, &absents, reterr));
    CG_TRY(join_gradients_find(from, mem, &gradients, reterr));
    CG_TRY(join_numbers_find(from, mem, &numbers, reterr));
    CG_TRY(make_summary(&work, &gradients, &numbers, reterr));
    if (!make_rows(&work, &rows) || !make_names(&work, &strangers, &doubts))
        return err_nomem(reterr);
    CG_TRY(put_list(&work, absents, sizeof(join_absent), is_absent_selected,
                    &ret->declared_not_executed, reterr));
    CG_TRY(put_list(&work, gradients.explained, sizeof(join_starved), is_starved_selected,
                    &ret->explained, reterr));
    CG_TRY(put_list(&work, gradients.unexplained, sizeof(join_starved), is_starved_selected,
                    &ret->unexplained, reterr));
    CG_TRY(put_list(&work, gradients.contradicted, sizeof(join_disputed), is_disputed_selected,
                    &ret->contradicted, reterr));
    CG_TRY(put_list(&work, numbers.hazards, sizeof(join_hazard), is_hazard_selected, &ret->hazards,
                    reterr));
    CG_TRY(put_list(&work, numbers.broken, sizeof(join_broken), is_broken_selected,
                    &ret->non_finite, reterr));
    CG_TRY(put_list(&work, strangers, sizeof(join_stranger), is_stranger_selected,
                    &ret->executed_not_declared, reterr));
    CG_TRY(put_list(&work, doubts, sizeof(join_doubt), is_doubt_selected, &ret->ambiguous, reterr));
    return put_list(&work, rows, sizeof(join_row), is_row_selected, &ret->rows, reterr);
}
