#include "model/eval_state.h"
#include "rust/edit.h"
#include "model/flow_build.h"

/*
 * Steps for all evaluations of what one file declares, and of a crate: some, and so many for each
 * byte of the source. Those of a crate end a crate that is made to be slow.
 */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define STEPS_OF_FILE  20000u
#define STEPS_OF_CRATE 80000u
#define STEPS_OF_CALL  4000u
#else
#define STEPS_OF_FILE  4000000u
#define STEPS_OF_CRATE 16000000u
#define STEPS_OF_CALL  500000u
#endif
#define STEPS_PER_BYTE 8u
#define SHARES         8u /* of a file's budget is the least that is left for others */

static const char *const WORD_TEXTS[WORD_COUNT] = {
#define W(name, text) [WORD_##name] = text,
    WORDS(W)
#undef W
};

cg_code eval_new(program *over, types *all_types, expr_pool *exprs, eval **ret, cg_err *reterr)
{
    heap *from = over->heap;
    eval *self = heap_resize(from, NULL, 0, sizeof *self);
    eval_state *state = self ? heap_resize(from, NULL, 0, sizeof *state) : NULL;

    if (!state) {
        heap_resize(from, self, self ? sizeof *self : 0, 0);
        return err_nomem(reterr);
    }
    *self = (eval){.program = over, .types = all_types, .exprs = exprs, .state = state};
    *state = (eval_state){0};
    self->limits = (eval_limits){.call_depth = 48,
                                 .nesting = 1500,
                                 .steps = STEPS_OF_CALL,
                                 .least = 2000,
                                 .unroll = 64,
                                 .rounds = 1024};
    arena_init(&state->mem, from);
    arena_init(&state->keep, from);
    self->values = heap_resize(from, NULL, 0, sizeof *self->values);
    self->trail = heap_resize(from, NULL, 0, sizeof *self->trail);
    if (self->values)
        *self->values = (values){.heap = from};
    if (self->trail)
        *self->trail = (trail){.heap = from};
    bool is_good = self->values && self->trail &&
                   values_init(self->values, from, exprs, all_types) &&
                   trail_init(self->trail, from);

    for (size_t i = 0; i < WORD_COUNT && is_good; i++) {
        state->words[i] = intern_add(&over->names, str_from(WORD_TEXTS[i]));
        is_good = state->words[i] != 0;
    }
    node_fact *none = is_good ? vec_add(from, &state->facts) : NULL;

    if (!none) {
        eval_free(self);
        return err_nomem(reterr);
    }
    *none = (node_fact){0};
    self->values->program = over;
    self->values->join_places = eval_either_place;
    eval_begin(self, 0);
    *ret = self;
    return CG_OK;
}

void eval_free(eval *self)
{
    heap *from;
    eval_state *state;

    if (!self)
        return;
    from = self->program->heap;
    state = self->state;
    if (self->values) {
        values_free(self->values);
        heap_resize(from, self->values, sizeof *self->values, 0);
    }
    if (self->trail) {
        trail_free(self->trail);
        heap_resize(from, self->trail, sizeof *self->trail, 0);
    }
    for (size_t i = 0; i < state->nodes.count; i++)
        heap_resize(from, state->nodes.at[i].facts,
                    state->nodes.at[i].count * sizeof *state->nodes.at[i].facts, 0);
    vec_free(from, &state->nodes);
    vec_free(from, &state->facts);
    vec_free(from, &state->functions);
    vec_free(from, &state->constants);
    vec_free(from, &state->examples);
    vec_free(from, &state->made);
    vec_free(from, &state->heavy);
    vec_free(from, &state->spent_for);
    vec_free(from, &state->ran_in);
    vec_free(from, &state->journal);
    vec_free(from, &state->pendings);
    vec_free(from, &state->spine);
    arena_free(&state->mem);
    arena_free(&state->keep);
    heap_resize(from, state, sizeof *state, 0);
    heap_resize(from, self, sizeof *self, 0);
}

static uint64_t *spent_of(eval *self, file_ref file)
{
    eval_state *state = self->state;

    while (state->spent_for.count <= file) {
        uint64_t *slot = vec_add(self->program->heap, &state->spent_for);

        if (!slot)
            return NULL;
        *slot = 0;
    }
    return &state->spent_for.at[file];
}

static uint64_t left_of(uint64_t whole, uint64_t spent)
{
    return spent < whole ? whole - spent : 0;
}

static uint64_t budget_of_file(const eval *self, file_ref file)
{
    const program_file *owner = file ? self->program->files.at[file] : NULL;

    return STEPS_OF_FILE + STEPS_PER_BYTE * (owner ? owner->source.text.len : 0);
}

static uint64_t budget_of_crate(eval *self)
{
    eval_state *state = self->state;
    uint64_t left = self->program->part ? self->program->part->left_bytes : 0;

    for (; state->counted_files < self->program->files.count; state->counted_files++) {
        const program_file *file = self->program->files.at[state->counted_files];

        state->code_size += file ? file->source.text.len : 0;
    }
    return STEPS_OF_CRATE + STEPS_PER_BYTE * (state->code_size + left);
}

/* An evaluation gets a part of what is left for its file, so that something is left for others. */
static uint64_t share_of(eval *self)
{
    eval_state *state = self->state;
    const uint64_t *spent = spent_of(self, state->owner);
    uint64_t left = left_of(budget_of_crate(self), state->spent), share;

    share = left_of(budget_of_file(self, state->owner), spent ? *spent : 0) / SHARES;
    share = share < left ? share : left;
    return share > self->limits.least ? share : self->limits.least;
}

cg_code eval_made(eval *self, item_ref item)
{
    item_ref *slot = vec_add(self->program->heap, &self->state->made);

    if (!slot)
        return err_nomem(self->reterr);
    *slot = item;
    return CG_OK;
}

static bool is_forgotten(const eval *self, item_ref item, uint32_t count)
{
    const eval_state *state = self->state;
    const example_list *list = item < state->examples.count ? state->examples.at[item] : NULL;

    if (count == 0 || (item < state->constants.count && state->constants.at[item] >= count))
        return true;
    for (size_t i = 0; list && i < list->count; i++) {
        if (list->at[i] >= count)
            return true;
    }
    return false;
}

/*
 * Constants and examples whose values are not among the first `count`. They are evaluated again for
 * everybody who asks: what they cost must not depend on who asked first.
 */
static void drop_forgotten(eval *self, uint32_t count)
{
    eval_state *state = self->state;
    size_t kept = 0;

    for (size_t i = 0; i < state->made.count; i++) {
        item_ref item = state->made.at[i];

        if (!is_forgotten(self, item, count)) {
            state->made.at[kept++] = item;
            continue;
        }
        if (item < state->constants.count)
            state->constants.at[item] = 0;
        if (item < state->examples.count && state->examples.at[item])
            state->examples.at[item]->is_done = false;
    }
    state->made.count = kept;
    while (state->heavy.count > 0)
        state->heavy.at[--state->heavy.count]->is_heavy = false;
}

static void restart(eval *self)
{
    eval_state *state = self->state;

    state->frame = NULL;
    state->nesting = 0;
    state->calls = 0;
    state->fans = 0;
    state->steps = 0;
    state->side_most = 0;
    state->side_spent = 0;
    state->watching = 0;
    state->rounds = 0;
    state->journal.count = 0;
    state->pendings.count = 0;
    state->spine.count = 0;
    state->jump = JUMP_NONE;
    state->expected = 0;
    state->is_cut = false;
    state->is_near = false;
    self->updated_receiver = 0;
    self->wanted = 0;
    self->trail->outside = (model_place){0};
    state->work = self->values->work;
}

/* What was done goes to the account of whom it was done for. */
static void account(eval *self)
{
    eval_state *state = self->state;
    uint64_t *spent = state->is_again ? NULL : spent_of(self, state->owner);

    if (!state->is_again)
        state->spent += state->steps;
    if (spent)
        *spent += state->steps;
}

void eval_begin(eval *self, file_ref owner)
{
    eval_state *state = self->state;

    arena_free(&state->mem);
    arena_init(&state->mem, self->program->heap);
    state->cells = 0;
    state->stamp = 0;
    account(self);
    state->is_again = false;
    state->owner = owner;
    state->share = share_of(self);
    self->values->first = self->values->count;
    self->values->joined = (joined_list){0};
    memset(state->worked_out, 0, sizeof state->worked_out);
    drop_forgotten(self, 0);
    restart(self);
}

uint64_t eval_again(eval *self, uint64_t most)
{
    eval_state *state = self->state;
    uint64_t done = state->steps;

    account(self);
    state->is_again = true;
    state->share = most;
    drop_forgotten(self, self->values->count);
    restart(self);
    return done;
}

bool eval_has_room(const eval *self, uint64_t most)
{
    const eval_state *state = self->state;

    return !state->is_near && NEAR_A_BUDGET * state->steps <= most;
}

/* --- what an evaluation depends on --- */

bool eval_ran(eval *self, item_ref function)
{
    eval_state *state = self->state;
    program *code_of = self->program;
    uint32_t now = (uint32_t)code_of->runs.count + 1;
    item_ref *slot;

    while (state->ran_in.count <= function) {
        uint32_t *fresh = vec_add(code_of->heap, &state->ran_in);

        if (!fresh)
            return false;
        *fresh = 0;
    }
    if (state->ran_in.at[function] == now)
        return true;
    state->ran_in.at[function] = now;
    slot = vec_add(code_of->heap, &code_of->ran);
    if (slot)
        *slot = function;
    return slot != NULL;
}

/* Steps that a whole scan does for the file, and this one of a part does not. */
static uint64_t spent_elsewhere(const eval *self, file_ref file)
{
    const program_part *part = self->program->part;
    const program_file *owner = file ? self->program->files.at[file] : NULL;

    for (size_t i = 0; owner && part && part->roots && i < part->text_count; i++) {
        if (str_equal(part->texts[i].path, owner->full_path))
            return part->spent[i];
    }
    return 0;
}

/* Would a budget be used up if everything took twice the steps, in somewhat smaller files? */
static bool is_near(eval *self)
{
    eval_state *state = self->state;
    const uint64_t *spent = spent_of(self, state->owner);
    const program_part *part = self->program->part;
    uint64_t twice = NEAR_A_BUDGET * state->steps;
    uint64_t before = spent_elsewhere(self, state->owner);
    uint64_t all_before = part && part->roots ? part->roots->spent : 0;
    uint64_t bytes = STEPS_PER_BYTE * EDIT_MOST_MOVED;

    return state->is_near || state->is_cut || !spent || twice > self->limits.steps ||
           SHARES * twice + NEAR_A_BUDGET * (*spent + before) + bytes >
               budget_of_file(self, state->owner) ||
           twice + NEAR_A_BUDGET * (state->spent + all_before) + bytes > budget_of_crate(self);
}

cg_code eval_note(eval *self, item_ref function)
{
    program *code_of = self->program;
    const program_run *last =
        code_of->runs.count ? &code_of->runs.at[code_of->runs.count - 1] : NULL;
    uint32_t first = last ? last->first + last->count : 0;
    program_run *run = vec_add(code_of->heap, &code_of->runs);

    if (!run)
        return err_nomem(self->reterr);
    *run = (program_run){.function = function,
                         .first = first,
                         .count = (uint32_t)code_of->ran.count - first,
                         .component = UINT32_MAX,
                         .steps = self->state->steps,
                         .is_near = is_near(self)};
    return CG_OK;
}

/* --- variables --- */

frame *frame_new(eval *self, const frame *like)
{
    frame *made = arena_take(&self->state->mem, sizeof *made);

    if (!made)
        return NULL;
    *made = *like;
    return made;
}

cell *cell_find(const frame *scope, sym name)
{
    for (cell *at = scope->top; at; at = at->before) {
        if (at->name == name)
            return at;
    }
    return NULL;
}

cg_code cell_add(eval *self, sym name, val with)
{
    eval_state *state = self->state;
    cell *made = arena_take(&state->mem, sizeof *made);

    if (!made)
        return err_nomem(self->reterr);
    *made =
        (cell){.name = name, .value = with, .serial = ++state->cells, .before = state->frame->top};
    state->frame->top = made;
    return CG_OK;
}

cg_code cell_assign(eval *self, cell *to, val with)
{
    eval_state *state = self->state;

    if (state->watching) {
        journal_entry *entry = vec_add(self->program->heap, &state->journal);

        if (!entry)
            return err_nomem(self->reterr);
        *entry = (journal_entry){to, to->value};
    }
    to->value = with;
    return CG_OK;
}

val eval_deref(eval *self, val which)
{
    for (unsigned i = 0; i < 8; i++) {
        const value *at = value_at(self->values, which);

        if (at->kind != VALUE_REFERENCE)
            return which;
        which = spot_read(self, at->as.reference);
        if (!which)
            return value_unknown(self->values, 0, (cg_str){NULL, 0});
    }
    return value_unknown(self->values, 0, (cg_str){NULL, 0});
}

/* --- what is reported --- */

model_place eval_place(const eval *self, ast_ref node)
{
    const frame *scope = self->state->frame;
    const ast_node *at;

    if (!scope)
        return (model_place){0};
    at = eval_node(self, node);
    return (model_place){scope->file, at->start, at->end, scope->function};
}

static cg_code eval_fault(eval *self, const char *rule, model_place place, cg_str name)
{
    return trail_add_fault(self->trail, rule, place, "%.*s", name.len > 400 ? 400 : (int)name.len,
                           name.ptr)
               ? CG_OK
               : err_nomem(self->reterr);
}

cg_code eval_cut(eval *self, ast_ref node, const char *what)
{
    if (self->state->is_cut)
        return CG_OK;
    self->state->is_cut = true;
    return eval_fault(self, "analysis-budget", eval_place(self, node), str_from(what));
}

cg_str eval_source(eval *self, const char *word, ast_ref node)
{
    cg_str text = node ? ast_text(eval_tree(self), node) : CG_LIT("");
    cg_str first = str_from(word);
    size_t room = text.len > 200 ? 200 : text.len, count = 0;
    char *to = arena_bytes(&self->values->mem, first.len + room + 8);

    if (!to)
        return first;
    if (first.len)
        memcpy(to, first.ptr, first.len);
    count = first.len;
    for (size_t i = 0; i < text.len && count < first.len + room; i++) {
        bool is_space =
            text.ptr[i] == ' ' || text.ptr[i] == '\n' || text.ptr[i] == '\t' || text.ptr[i] == '\r';

        if (!is_space)
            to[count++] = text.ptr[i];
        else if (count > 0 && to[count - 1] != ' ')
            to[count++] = ' ';
    }
    if (text.len > room) {
        while (count > first.len && ((unsigned char)to[count - 1] & 0xC0u) == 0x80u)
            count--;
        if (count > first.len && ((unsigned char)to[count - 1] & 0x80u))
            count--;
        memcpy(to + count, "...", 3);
        count += 3;
    }
    return (cg_str){to, count};
}

/* --- facts about nodes --- */

node_fact *eval_fact(eval *self, file_ref file, ast_ref node)
{
    eval_state *state = self->state;
    heap *from = self->program->heap;
    size_t need = program_tree(self->program, file)->nodes.count;

    while (state->nodes.count <= file) {
        node_table *table = vec_add(from, &state->nodes);

        if (!table)
            return NULL;
        *table = (node_table){0};
    }
    node_table *table = &state->nodes.at[file];

    if (table->count <= node) {
        size_t size = need > node ? need : (size_t)node + 1;
        uint32_t *facts =
            heap_resize(from, table->facts, table->count * sizeof *facts, size * sizeof *facts);

        if (!facts)
            return NULL;
        memset(facts + table->count, 0, (size - table->count) * sizeof *facts);
        table->facts = facts;
        table->count = size;
    }
    if (!table->facts[node]) {
        node_fact *fact = vec_add(from, &state->facts);

        if (!fact)
            return NULL;
        *fact = (node_fact){0};
        table->facts[node] = (uint32_t)(state->facts.count - 1);
    }
    return &state->facts.at[table->facts[node]];
}

static bool mentions_parameter(const types *all, type_ref type, unsigned depth)
{
    const model_type *shape = type_at(all, type);

    if (!type || depth > 16)
        return false;
    if (shape->kind == TYPE_PARAMETER || shape->kind == TYPE_SELF)
        return true;
    for (size_t i = 0; i < shape->arg_count; i++) {
        if (mentions_parameter(all, shape->args[i], depth + 1))
            return true;
    }
    return false;
}

cg_code eval_type(eval *self, ast_ref node, type_ref *ret)
{
    frame *scope = self->state->frame;
    node_fact *fact = eval_fact(self, scope->file, node);

    *ret = 0;
    if (!fact)
        return err_nomem(self->reterr);
    if (!node)
        return CG_OK;
    if (!fact->has_type) {
        type_ref type = 0;

        CG_TRY(
            type_lower(self->types, scope->module, scope->file, node, NULL, &type, self->reterr));
        fact = eval_fact(self, scope->file, node);
        if (!fact)
            return err_nomem(self->reterr);
        fact->type = type;
        /* `Self` may be left open, so what is not known counts as generic. */
        fact->is_generic = !type || mentions_parameter(self->types, type, 0);
        fact->has_type = true;
    }
    if (!fact->is_generic) {
        *ret = fact->type;
        return CG_OK;
    }
    return type_lower(self->types, scope->module, scope->file, node, &scope->bindings, ret,
                      self->reterr);
}

/* --- alternatives --- */

typedef struct way_change {
    cell *cell;
    val value;
    size_t way;
} way_change;

typedef struct ways {
    eval *eval;
    size_t count;
    trail_mark *marks;
    bool *returns; /* comes back to behind the alternatives */
    uint8_t *jumps;
    val *results;
    VEC(way_change) changes;
    uint32_t oldest; /* serial of the last variable from before */
    size_t first_pending;
    bool has_pending;
} ways;

/* What the way assigned is put aside, and everything is as before it. */
static cg_code take_changes(ways *self, size_t way, size_t mark)
{
    eval *owner = self->eval;
    eval_state *state = owner->state;
    uint32_t stamp = ++state->stamp;

    for (size_t i = mark; i < state->journal.count; i++) {
        cell *changed = state->journal.at[i].cell;
        way_change *change;

        /* What began inside is seen by closures of this way only, and stays as it is. */
        if (changed->stamp == stamp || changed->serial > self->oldest)
            continue;
        changed->stamp = stamp;
        change = vec_add(owner->program->heap, &self->changes);
        if (!change)
            return err_nomem(owner->reterr);
        *change = (way_change){changed, changed->value, way};
    }
    while (state->journal.count > mark) {
        journal_entry entry = state->journal.at[--state->journal.count];

        if (entry.cell->serial <= self->oldest)
            entry.cell->value = entry.old;
    }
    return CG_OK;
}

/* A variable is afterwards what any way that goes on made of it. */
static cg_code join_changes(ways *self)
{
    eval *owner = self->eval;
    uint32_t stamp = ++owner->state->stamp;

    for (size_t i = 0; i < self->changes.count; i++) {
        cell *changed = self->changes.at[i].cell;
        val joined = 0;
        size_t at = i;

        if (changed->stamp == stamp)
            continue;
        changed->stamp = stamp;
        for (size_t way = 0; way < self->count; way++) {
            val one = changed->value;

            for (; at < self->changes.count && self->changes.at[at].way <= way; at++) {
                if (self->changes.at[at].way == way && self->changes.at[at].cell == changed) {
                    one = self->changes.at[at].value;
                }
            }
            if (!self->returns[way])
                continue;
            joined = joined ? value_join(owner->values, joined, one) : one;
            if (!joined)
                return err_nomem(owner->reterr);
        }
        if (joined)
            CG_TRY(cell_assign(owner, changed, joined));
    }
    return CG_OK;
}

static cg_code add_pending(eval *self, size_t begin, size_t end, cg_str text)
{
    pending_return *to = vec_add(self->program->heap, &self->state->pendings);

    if (!to)
        return err_nomem(self->reterr);
    *to = (pending_return){begin, end, text};
    return CG_OK;
}

/*
 * What ways that returned recorded goes to the front, so that it and the rest of the function can
 * be
 * joined when the function ends.
 */
static cg_code part_pendings(ways *self, cg_str condition)
{
    eval *owner = self->eval;
    eval_state *state = owner->state;
    size_t had = state->pendings.count - self->first_pending;
    size_t room = 2 * had + 2 * self->count + 2;
    size_t begin = self->marks[0].parameters;
    arena_place place = arena_mark(&state->mem);
    trail_span *front = arena_take(&state->mem, room * sizeof *front);
    trail_span *back = arena_take(&state->mem, room * sizeof *back);
    size_t *front_group = arena_take(&state->mem, room * sizeof *front_group);
    size_t *way_length = arena_zero(&state->mem, (self->count + 1) * sizeof *way_length);
    pending_return *old = arena_take(&state->mem, (had + self->count + 1) * sizeof *old);
    pending_return *empty = arena_take(&state->mem, (had + 1) * sizeof *empty);
    size_t front_count = 0, back_count = 0, groups = 0, next = 0, parts = 0, empties = 0, at;

    if (!front || !back || !front_group || !way_length || !old || !empty)
        return err_nomem(owner->reterr);
    for (size_t i = 0; i < had; i++) {
        pending_return one = state->pendings.at[self->first_pending + i];

        if (one.begin < one.end)
            old[parts++] = one;
        else
            empty[empties++] = one;
    }
    state->pendings.count = self->first_pending;
    for (size_t way = 0; way < self->count; way++) {
        size_t from = self->marks[way].parameters, to = self->marks[way + 1].parameters;
        bool is_returned = self->jumps[way] == JUMP_RETURN;
        size_t own = groups + had; /* group of this way's own part: behind all others */

        while (from < to) {
            size_t until = next < parts && old[next].begin < to ? old[next].begin : to;

            if (from < until && is_returned) {
                front[front_count] = (trail_span){from, until};
                front_group[front_count++] = own;
            } else if (from < until) {
                back[back_count++] = (trail_span){from, until};
                way_length[way] += until - from;
            }
            from = until;
            if (from < to) {
                front[front_count] = (trail_span){from, old[next].end};
                front_group[front_count++] = next;
                from = old[next++].end;
            }
        }
        groups += is_returned;
    }
    /* Each early return by itself: in the order of their spans, those of one group side by side. */
    trail_span *spans = arena_take(&state->mem, (front_count + back_count + 1) * sizeof *spans);
    size_t span_count = 0;

    if (!spans)
        return err_nomem(owner->reterr);
    at = begin;
    for (size_t i = 0; i < front_count; i++) {
        size_t start = at;
        bool is_first = true;

        for (size_t j = 0; j < i; j++)
            is_first &= front_group[j] != front_group[i];
        if (!is_first)
            continue;
        for (size_t j = i; j < front_count; j++) {
            if (front_group[j] != front_group[i])
                continue;
            spans[span_count++] = front[j];
            at += front[j].end - front[j].start;
        }
        CG_TRY(add_pending(owner, start, at,
                           front_group[i] < had ? old[front_group[i]].text : condition));
    }
    /* A way may have returned without recording anything: the rest depends on it nevertheless. */
    for (size_t way = 0; way < self->count; way++) {
        bool is_seen = self->jumps[way] != JUMP_RETURN ||
                       self->marks[way].parameters < self->marks[way + 1].parameters;

        if (!is_seen)
            CG_TRY(add_pending(owner, at, at, condition));
    }
    for (size_t i = 0; i < empties; i++)
        CG_TRY(add_pending(owner, at, at, empty[i].text));
    for (size_t i = 0; i < back_count; i++)
        spans[span_count++] = back[i];
    if (!trail_arrange(owner->trail, begin, spans, span_count))
        return err_nomem(owner->reterr);
    for (size_t way = 0; way <= self->count; way++) {
        self->marks[way].parameters = at;
        at += way < self->count ? way_length[way] : 0;
    }
    arena_reset(&state->mem, place);
    return CG_OK;
}

/* Modules that one way made are what the joined value was made of. */
static void rename_results(ways *self, val joined)
{
    trail *track = self->eval->trail;

    for (size_t i = self->marks[0].instances; i < track->instances.count; i++) {
        for (size_t way = 0; way < self->count; way++) {
            if (track->instances.at[i].result == self->results[way] && self->results[way])
                track->instances.at[i].result = joined;
        }
    }
}

static cg_code finish_ways(ways *self, cg_str condition, uint32_t had_condition, val *ret)
{
    eval *owner = self->eval;
    eval_state *state = owner->state;
    uint8_t jump = JUMP_NONE;
    bool has_error = false, has_left = false, has_passed = false;
    val joined = 0;

    for (size_t i = 0; i < self->count; i++) {
        const value *at = value_at(owner->values, self->results[i]);

        if (at->kind == VALUE_NEVER) {
            has_left |= self->jumps[i] == JUMP_BREAK || self->jumps[i] == JUMP_CONTINUE;
            if (self->jumps[i] > jump)
                jump = self->jumps[i];
            continue;
        }
        if (at->kind == VALUE_ERROR) {
            has_error = true;
            continue;
        }
        has_passed = true;
        joined = joined ? value_join(owner->values, joined, self->results[i]) : self->results[i];
        if (!joined)
            return err_nomem(owner->reterr);
    }
    if (joined && self->count > 1)
        rename_results(self, joined);
    CG_TRY(join_changes(self));
    if (self->has_pending)
        CG_TRY(part_pendings(self, condition));
    if (!trail_join(owner->trail, self->marks, self->count, self->returns, condition))
        return err_nomem(owner->reterr);
    owner->trail->condition = had_condition;
    if (joined || has_error) {
        *ret = joined ? joined : eval_plain(owner, VALUE_ERROR);
        /* What follows is only reached when no way left the loop. */
        if (has_left && has_passed && !had_condition) {
            owner->trail->condition = trail_add_condition(owner->trail, condition);
            if (!owner->trail->condition)
                return err_nomem(owner->reterr);
        }
        state->jump = JUMP_NONE;
        return CG_OK;
    }
    return eval_leave(owner, jump ? (enum jump_kind)jump : JUMP_ERROR, state->jump_label, ret);
}

cg_code eval_ways(eval *self, size_t count, cg_str condition,
                  cg_code (*body)(void *context, size_t way, val *ret), void *context, val *ret)
{
    return eval_ways_from(self, NULL, count, condition, body, context, ret);
}

cg_code eval_ways_from(eval *self, const trail_mark *from, size_t count, cg_str condition,
                       cg_code (*body)(void *context, size_t way, val *ret), void *context,
                       val *ret)
{
    eval_state *state = self->state;
    ways work = {.eval = self,
                 .count = count,
                 .oldest = state->cells,
                 .first_pending = state->pendings.count};
    uint32_t had_condition = self->trail->condition;
    cell *top = state->frame ? state->frame->top : NULL;
    size_t mark = state->journal.count;
    sym label = 0;
    cg_code code = CG_OK;

    if (count == 0)
        return eval_leave(self, JUMP_ERROR, 0, ret);
    if (count == 1)
        return body(context, 0, ret);
    work.marks = arena_take(&state->mem, (count + 1) * sizeof *work.marks);
    work.returns = arena_zero(&state->mem, count * sizeof *work.returns);
    work.jumps = arena_zero(&state->mem, count);
    work.results = arena_zero(&state->mem, count * sizeof *work.results);
    uint32_t *nodes = arena_zero(&state->mem, (count + 1) * sizeof *nodes);

    if (!work.marks || !work.returns || !work.jumps || !work.results || !nodes)
        return err_nomem(self->reterr);
    state->watching++;
    if (self->flow)
        self->flow->ways++;
    for (size_t way = 0; way < count && code == CG_OK; way++) {
        val result = 0;

        work.marks[way] = way == 0 && from ? *from : trail_position(self->trail);
        state->jump = JUMP_NONE;
        nodes[way] = self->flow ? (uint32_t)self->flow->nodes.count : 0;
        code = body(context, way, &result);
        if (code != CG_OK)
            break;
        const value *at = value_at(self->values, result);

        work.results[way] = result;
        work.jumps[way] = at->kind == VALUE_NEVER ? state->jump : (uint8_t)JUMP_NONE;
        if (at->kind == VALUE_NEVER && !work.jumps[way])
            work.jumps[way] = JUMP_ERROR;
        if (work.jumps[way] == JUMP_BREAK || work.jumps[way] == JUMP_CONTINUE)
            label = state->jump_label;
        work.returns[way] = at->kind != VALUE_ERROR && work.jumps[way] != JUMP_ERROR &&
                            work.jumps[way] != JUMP_RETURN;
        work.has_pending |= work.jumps[way] == JUMP_RETURN;
        code = take_changes(&work, way, mark);
        if (state->frame)
            state->frame->top = top;
        self->trail->condition = had_condition;
    }
    state->watching--;
    if (self->flow) {
        self->flow->ways--;
        nodes[count] = (uint32_t)self->flow->nodes.count;
        if (code == CG_OK)
            flow_ways(self->flow, nodes, count, work.returns, condition);
    }
    if (code == CG_OK) {
        work.marks[count] = trail_position(self->trail);
        work.has_pending |= state->pendings.count > work.first_pending;
        if (self->flow && work.has_pending && state->frame && !state->frame->node_behind) {
            state->frame->node_behind = (uint32_t)self->flow->nodes.count;
            state->frame->behind = condition;
        }
        state->jump_label = label;
        code = finish_ways(&work, condition, had_condition, ret);
    }
    vec_free(self->program->heap, &work.changes);
    return code;
}
