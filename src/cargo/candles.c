#include "cargo/candles.h"

#include <stdlib.h>

typedef struct candle_walk {
    cargo_graph *graph;
    bool *is_package_seen, *is_lock_seen;
    uint32_t *by_lock; /* the loaded package of an entry of the lock file */
    VEC(uint32_t) packages, locked;
    VEC(cargo_candle) found;
} candle_walk;

static bool is_candle(cg_str name)
{
    return str_starts_with(name, CG_LIT("candle-"));
}

/* Parts of Candle that its other parts use only for a device or on request. */
static bool is_device_part(cg_str name)
{
    return str_starts_with(name, CG_LIT("candle-kernels")) ||
           str_starts_with(name, CG_LIT("candle-metal-")) ||
           str_starts_with(name, CG_LIT("candle-flash-")) ||
           str_starts_with(name, CG_LIT("candle-ug")) || str_starts_with(name, CG_LIT("candle-cu"));
}

static bool note_candle(candle_walk *self, cg_str name, cg_str number)
{
    cargo_candle *to;

    if (!is_candle(name) || number.len == 0)
        return true;
    to = vec_add(self->graph->state->heap, &self->found);
    if (to != NULL)
        *to = (cargo_candle){name, number};
    return to != NULL;
}

static bool visit_locked(candle_walk *self, size_t index);

static bool visit_package(candle_walk *self, uint32_t index)
{
    const cargo_package *of = &self->graph->packages.at[index];
    uint32_t *to;

    if (self->is_package_seen[index])
        return true;
    self->is_package_seen[index] = true;
    if (!of->is_loaded && of->detail->lock != LOCK_NONE && of->detail->asked == NULL)
        return visit_locked(self, of->detail->lock);
    if (index != self->graph->root && !note_candle(self, of->name, of->version))
        return false;
    to = vec_add(self->graph->state->heap, &self->packages);
    if (to != NULL)
        *to = index;
    return to != NULL;
}

/* Called by visit_package and the other way round, but never twice for one entry. */
static bool visit_locked(candle_walk *self, size_t index)
{
    const lock_package *of = &self->graph->state->lock.packages[index];
    uint32_t *to;

    if (self->is_lock_seen[index])
        return true;
    self->is_lock_seen[index] = true;
    if (self->by_lock[index] != CARGO_MISSING)
        return visit_package(self, self->by_lock[index]);
    if (!note_candle(self, of->name, of->version))
        return false;
    to = vec_add(self->graph->state->heap, &self->locked);
    if (to != NULL)
        *to = (uint32_t)index;
    return to != NULL;
}

static bool follow_package(candle_walk *self, uint32_t index)
{
    const cargo_package *of = &self->graph->packages.at[index];
    const ask_package *asked = of->detail->asked;

    for (size_t i = 0; asked != NULL && i < asked->dependency_count; i++) {
        if (!visit_package(self, asked->dependencies[i].package))
            return false;
    }
    for (size_t i = 0; asked == NULL && i < of->dependency_count; i++) {
        uint32_t target = of->dependencies[i].package;

        if (of->dependencies[i].is_active && target != CARGO_MISSING &&
            !visit_package(self, target))
            return false;
    }
    return true;
}

static bool follow_locked(candle_walk *self, size_t index)
{
    const cargo_lock *lock = &self->graph->state->lock;
    const lock_package *of = &lock->packages[index];

    for (size_t i = 0; i < of->dependencies.count; i++) {
        cg_str number;
        cg_str name = lock_entry_name(of->dependencies.at[i], &number);
        size_t target;

        if (is_candle(of->name) && is_device_part(name))
            continue;
        target = lock_find_version(lock, name, number);
        if (target != LOCK_NONE && !visit_locked(self, target))
            return false;
    }
    return true;
}

static bool walk(candle_walk *self)
{
    if (!visit_package(self, self->graph->root))
        return false;
    while (self->packages.count > 0 || self->locked.count > 0) {
        bool is_done = self->packages.count > 0
                           ? follow_package(self, self->packages.at[--self->packages.count])
                           : follow_locked(self, self->locked.at[--self->locked.count]);

        if (!is_done)
            return false;
    }
    return true;
}

static int by_candle(const void *a, const void *b)
{
    const cargo_candle *x = a;
    const cargo_candle *y = b;
    int order = str_compare(x->name, y->name);

    return order != 0 ? order : str_compare(x->versions, y->versions);
}

/* One entry a name, its versions joined. */
static bool join_candles(candle_walk *self)
{
    cargo_graph *graph = self->graph;
    cg_str root = graph->packages.at[graph->root].name;
    cargo_candle *at = arena_take(&graph->state->mem, self->found.count * sizeof *at + 1);
    size_t count = 0;

    if (at == NULL)
        return false;
    if (self->found.count > 0)
        qsort(self->found.at, self->found.count, sizeof *at, by_candle);
    for (size_t i = 0; i < self->found.count; i++) {
        cargo_candle of = self->found.at[i];
        bool is_same = i > 0 && by_candle(&self->found.at[i - 1], &of) == 0;
        cargo_candle *last = count > 0 ? &at[count - 1] : NULL;

        if (is_same || str_equal(of.name, root))
            continue;
        if (last == NULL || !str_equal(last->name, of.name))
            at[count++] = of;
        else if (!arena_format(&graph->state->mem, &last->versions, "%.*s,%.*s",
                               (int)last->versions.len, last->versions.ptr, (int)of.versions.len,
                               of.versions.ptr))
            return false;
    }
    graph->candles = at;
    graph->candle_count = count;
    return true;
}

cg_code candles_find(cargo_graph *graph, cg_err *reterr)
{
    cargo_state *state = graph->state;
    candle_walk self = {.graph = graph};
    bool is_done;

    self.is_package_seen = arena_zero(&state->mem, graph->packages.count + 1);
    self.is_lock_seen = arena_zero(&state->mem, state->lock.count + 1);
    self.by_lock = arena_take(&state->mem, (state->lock.count + 1) * sizeof *self.by_lock);
    if (self.is_package_seen == NULL || self.is_lock_seen == NULL || self.by_lock == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < state->lock.count; i++)
        self.by_lock[i] = CARGO_MISSING;
    for (size_t i = 0; i < graph->packages.count; i++) {
        const cargo_package *of = &graph->packages.at[i];

        if (of->is_loaded && of->detail->lock != LOCK_NONE)
            self.by_lock[of->detail->lock] = (uint32_t)i;
    }
    is_done = walk(&self) && join_candles(&self);
    vec_free(state->heap, &self.packages);
    vec_free(state->heap, &self.locked);
    vec_free(state->heap, &self.found);
    return is_done ? CG_OK : err_nomem(reterr);
}
