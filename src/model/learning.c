#include "model/learning.h"

#include "base/sort.h"

#define NO_COMPONENT SIZE_MAX

void learning_init(learning *self, heap *from)
{
    *self = (learning){.heap = from, .component = NO_COMPONENT};
    arena_init(&self->mem, from);
    arena_init(&self->work, from);
}

void learning_free(learning *self)
{
    if (!self->heap)
        return;
    vec_free(self->heap, &self->entries);
    vec_free(self->heap, &self->cuts);
    vec_free(self->heap, &self->key_of);
    vec_free(self->heap, &self->is_fixed);
    arena_free(&self->mem);
    arena_free(&self->work);
    *self = (learning){0};
}

typedef struct reader {
    learning *out;
    const entry_run *run;
    flow *graph;
    uint32_t node_count;
    bool *leads; /* by node: to an output or goal, over edges of any kind */
    bool *feeds; /* to a goal, over edges of any kind */
    bool *may;   /* to a goal, over edges a gradient comes back on if layouts are kind */
    bool *gets;  /* to a goal, over edges a gradient comes back on for sure */
    bool *holds; /* a parameter leads to the node */
    uint32_t *stamp;
    uint32_t walk;
    uint32_t *key_stamp;
    VEC(node_ref) open;
    VEC(uint32_t) keys;
    bool stops; /* backward fails somewhere on the way: nobody gets anything */
    cg_err *reterr;
} reader;

static cg_code nomem(const reader *self)
{
    return err_nomem(self->reterr);
}

/* --- edges --- */

/* Is only the shape of the operands taken: zeros_like? */
static bool takes_shape(const flow_node *at)
{
    const operation_row *row = at->row ? operation_at(at->row) : NULL;

    return row && row->gradient == GRADIENT_SOURCE && row->shape == SHAPE_LIKE &&
           row->dtype == DTYPE_SAME;
}

/* Edges a value comes along; none when only a shape is taken. */
static const flow_edge *edges_of(const flow *graph, node_ref node, size_t *ret_count)
{
    const flow_edge *edges = flow_edges(graph, node, ret_count);

    if (takes_shape(flow_at(graph, node)))
        *ret_count = 0;
    return edges;
}

static bool is_edge(const flow_edge *edge)
{
    return edge->from != 0 && edge->role != FLOW_BODY;
}

/* Does no gradient come back, if operands lie as it is worst? */
static bool is_cut_edge(const flow_edge *edge, bool is_worst)
{
    if (edge->role == FLOW_HOST)
        return true;
    switch ((enum flow_pass)edge->passes) {
    case FLOW_PASSES:
    case FLOW_UNSURE: return false;
    case FLOW_SEVERED:
    case FLOW_FAILS: return true;
    case FLOW_DEPENDS: return is_worst;
    }
    return false;
}

/* --- who leads where --- */

enum way { WAY_ANY, WAY_KIND, WAY_SURE };

/* Mark everything the nodes are made from. */
static cg_code mark_from(reader *self, const node_ref *from, size_t count, enum way way, bool *ret)
{
    heap *memory = self->out->heap;

    self->open.count = 0;
    for (size_t i = 0; i < count; i++) {
        node_ref *slot = ret[from[i]] ? NULL : vec_add(memory, &self->open);

        if (ret[from[i]])
            continue;
        if (!slot)
            return nomem(self);
        ret[from[i]] = true;
        *slot = from[i];
    }
    while (self->open.count > 0) {
        size_t edge_count;
        const flow_edge *edges =
            edges_of(self->graph, self->open.at[--self->open.count], &edge_count);

        for (size_t i = 0; i < edge_count; i++) {
            const flow_edge *edge = &edges[i];

            if (!is_edge(edge) || ret[edge->from] ||
                (way != WAY_ANY && is_cut_edge(edge, way == WAY_SURE)))
                continue;
            node_ref *slot = vec_add(memory, &self->open);

            if (!slot)
                return nomem(self);
            ret[edge->from] = true;
            *slot = edge->from;
        }
    }
    return CG_OK;
}

/* Numbers that were read from a tensor may go anywhere, and what a call was given that is lost. */
static cg_code mark_read(reader *self)
{
    for (size_t i = 0; i < self->graph->host_reads.count; i++) {
        node_ref node = self->graph->host_reads.at[i].node;

        if (node)
            CG_TRY(mark_from(self, &node, 1, WAY_ANY, self->leads));
    }
    return mark_from(self, self->graph->lost.at, self->graph->lost.count, WAY_ANY, self->leads);
}

/* --- parameters --- */

static cg_code find_key(const reader *self, const flow_parameter *parameter, uint32_t *ret)
{
    const extract_component *component = self->run->component;
    const trail *track = self->graph->trail;
    cg_str root, printed;

    *ret = 0;
    if (!component || parameter->root >= track->roots.count)
        return CG_OK;
    root = track->roots.at[parameter->root].name;
    if (!extract_print(self->out->heap, parameter->key, &self->out->work, &printed))
        return nomem(self);
    for (size_t i = 0; i < component->parameters.count && !*ret; i++) {
        const extract_parameter *at = &component->parameters.at[i];

        if (str_equal(at->printed, printed) && str_equal(at->root, root))
            *ret = (uint32_t)i + 1;
    }
    return CG_OK;
}

/* What comes straight from a file is no variable: nothing trains it. */
static bool is_loaded(const trail_root *root)
{
    return root->source != BUILDER_PARAMETER && root->source != BUILDER_VARMAP;
}

/* Of the parameters the constructor made; they stay the same for all entries of the component. */
static cg_code find_keys(reader *self)
{
    learning *out = self->out;
    const trail *track = self->graph->trail;
    uint32_t count = self->run->is_maker ? self->node_count : self->run->since.nodes;

    if (out->component == self->run->component_index && out->component != NO_COMPONENT &&
        out->key_of.count == count && !self->run->is_maker)
        return CG_OK;
    out->component = self->run->component_index;
    out->key_of.count = 0;
    out->is_fixed.count = 0;
    if (!vec_reserve(out->heap, &out->key_of, count) ||
        !vec_reserve(out->heap, &out->is_fixed, count))
        return nomem(self);
    for (node_ref n = 0; n < count; n++) {
        const flow_node *at = flow_at(self->graph, n);
        uint32_t key = 0;

        if (at->kind == FLOW_PARAMETER)
            CG_TRY(find_key(self, at->parameter, &key));
        out->key_of.at[out->key_of.count++] = key;
        out->is_fixed.at[out->is_fixed.count++] =
            at->kind == FLOW_PARAMETER &&
            (at->parameter->is_running_state || at->parameter->root >= track->roots.count ||
             track->roots.at[at->parameter->root].is_quantized ||
             is_loaded(&track->roots.at[at->parameter->root]));
    }
    return CG_OK;
}

/* Position of the parameter a node is, + 1; 0: it is none. */
static uint32_t key_of(const reader *self, node_ref node)
{
    return node < self->out->key_of.count ? self->out->key_of.at[node] : 0;
}

/* Which nodes have a parameter in them; a second round for what loops carry back. */
static void mark_holders(reader *self)
{
    for (unsigned round = 0; round < 2; round++) {
        for (node_ref n = 1; n < self->node_count; n++) {
            size_t edge_count;
            const flow_edge *edges = edges_of(self->graph, n, &edge_count);

            self->holds[n] = self->holds[n] || (flow_at(self->graph, n)->kind == FLOW_PARAMETER &&
                                                (!self->run->is_maker || key_of(self, n)));
            for (size_t i = 0; i < edge_count && !self->holds[n]; i++)
                self->holds[n] = is_edge(&edges[i]) && self->holds[edges[i].from];
        }
    }
}

static cg_code keep_states(reader *self, learning_entry *entry)
{
    size_t count = self->run->component ? self->run->component->parameters.count : 0;
    uint8_t *states = arena_zero(&self->out->mem, count + 1);
    bool *is_used = arena_zero(&self->out->mem, count + 1);
    bool *is_touched = arena_zero(&self->out->mem, count + 1);
    bool *is_held = arena_zero(&self->out->mem, count + 1);
    sym *held_in = arena_zero(&self->out->mem, (count + 1) * sizeof *held_in);
    bool *holds = arena_zero(&self->out->work, self->node_count);

    if (!states || !is_used || !is_touched || !is_held || !held_in || !holds)
        return nomem(self);
    CG_TRY(mark_from(self, self->run->held, self->run->held_count, WAY_ANY, holds));
    for (size_t i = 0; i < self->run->held_count; i++) {
        uint32_t key = key_of(self, self->run->held[i]);

        if (key)
            held_in[key - 1] = self->run->held_in[i];
    }
    for (node_ref n = self->run->since.nodes; n < self->node_count; n++) {
        size_t edge_count;
        const flow_edge *edges = edges_of(self->graph, n, &edge_count);

        for (size_t i = 0; i < edge_count; i++) {
            uint32_t key = key_of(self, edges[i].from);

            if (key)
                is_touched[key - 1] = true;
        }
    }
    for (node_ref n = 1; n < self->out->key_of.count; n++) {
        uint32_t key = key_of(self, n);
        uint8_t state = LEARNING_APART;

        if (!key)
            continue;
        if (self->feeds[n] && !self->out->is_fixed.at[n])
            state = self->stops     ? LEARNING_LOST
                    : self->gets[n] ? LEARNING_GETS
                    : self->may[n]  ? LEARNING_MAYBE
                                    : LEARNING_LOST;
        if (state > states[key - 1])
            states[key - 1] = state;
        is_used[key - 1] = is_used[key - 1] || self->leads[n];
        is_held[key - 1] = is_held[key - 1] || holds[n];
    }
    entry->states = states;
    entry->is_used = is_used;
    entry->is_touched = is_touched;
    entry->is_held = is_held;
    entry->held_in = held_in;
    entry->state_count = count;
    return CG_OK;
}

/* --- cuts --- */

static bool open_node(reader *self, node_ref node)
{
    node_ref *slot;

    if (self->stamp[node] == self->walk)
        return true;
    self->stamp[node] = self->walk;
    slot = vec_add(self->out->heap, &self->open);
    if (!slot)
        return false;
    *slot = node;
    return true;
}

/* Parameters whose gradient is lost at the node first: they lead to it and have no way around. */
static cg_code collect_lost(reader *self, node_ref cut, bool is_worst)
{
    const bool *reached = is_worst ? self->gets : self->may;
    size_t edge_count;
    const flow_edge *edges = edges_of(self->graph, cut, &edge_count);

    self->walk++;
    self->open.count = 0;
    self->keys.count = 0;
    for (size_t i = 0; i < edge_count; i++) {
        if (is_edge(&edges[i]) && is_cut_edge(&edges[i], is_worst) && !reached[edges[i].from] &&
            !open_node(self, edges[i].from))
            return nomem(self);
    }
    while (self->open.count > 0) {
        node_ref at = self->open.at[--self->open.count];
        uint32_t key = key_of(self, at);

        if (key && !self->out->is_fixed.at[at] && self->key_stamp[key] != self->walk) {
            uint32_t *slot = vec_add(self->out->heap, &self->keys);

            if (!slot)
                return nomem(self);
            self->key_stamp[key] = self->walk;
            *slot = key - 1;
        }
        edges = edges_of(self->graph, at, &edge_count);
        for (size_t i = 0; i < edge_count; i++) {
            if (is_edge(&edges[i]) && !is_cut_edge(&edges[i], is_worst) &&
                !reached[edges[i].from] && !open_node(self, edges[i].from))
                return nomem(self);
        }
    }
    return CG_OK;
}

/*
 * The read of a tensor whose numbers go on as plain numbers into the node; NULL: it is made of a
 * tensor, or makes one of the numbers and is the call to name itself.
 */
static const flow_host_read *read_behind(const reader *self, node_ref node)
{
    const operation_row *row = operation_at(flow_at(self->graph, node)->row);
    size_t edge_count;
    const flow_edge *edges = edges_of(self->graph, node, &edge_count);
    node_ref from = 0;

    if (row->operands && strchr(row->operands, 'h'))
        return NULL;
    for (size_t i = 0; i < edge_count; i++) {
        if (!self->holds[edges[i].from] || !is_cut_edge(&edges[i], false))
            continue;
        if (edges[i].role != FLOW_HOST)
            return NULL;
        from = edges[i].from;
    }
    for (size_t i = self->graph->host_reads.count; from && i > 0; i--) {
        if (self->graph->host_reads.at[i - 1].node == from)
            return &self->graph->host_reads.at[i - 1];
    }
    return NULL;
}

static cg_code keep_cut(reader *self, node_ref node, bool is_proven, bool stops)
{
    learning *out = self->out;
    const flow_node *at = flow_at(self->graph, node);
    learning_cut *cut = vec_add(out->heap, &out->cuts);
    uint32_t *keys = arena_take(&out->mem, (self->keys.count + 1) * sizeof *keys);
    const char *condition = flow_severing(self->graph, node);

    if (!cut || !keys)
        return nomem(self);
    if (self->keys.count)
        memcpy(keys, self->keys.at, self->keys.count * sizeof *keys);
    if (!condition || str_equal(str_from(condition), CG_LIT("host_values")))
        condition = "always";
    *cut = (learning_cut){
        .entry = (uint32_t)out->entries.count - 1,
        .place = at->place,
        .inside = at->inside,
        .operation = program_text(self->graph->program, at->name),
        .condition = condition,
        .alternative = at->row ? operation_alternative(at->row) : NULL,
        .is_conditional = at->is_conditional,
        .under = at->is_conditional && at->condition
                     ? program_text(self->graph->program, at->condition)
                     : (cg_str){0},
        .is_proven = is_proven,
        .stops = stops,
        .keys = keys,
        .key_count = self->keys.count,
    };
    const flow_host_read *read = read_behind(self, node);

    if (read && read->place.file) {
        cut->place = read->place;
        cut->operation = program_text(self->graph->program, read->name);
        cut->alternative = NULL;
    }
    return CG_OK;
}

/* One node that leads to a goal and does not let some parameter's gradient back. */
static cg_code look_at(reader *self, node_ref node)
{
    size_t edge_count;
    const flow_edge *edges = edges_of(self->graph, node, &edge_count);
    bool is_cut = false, is_open = false, stops = false, depends = false;

    for (size_t i = 0; i < edge_count; i++) {
        const flow_edge *edge = &edges[i];

        if (!is_edge(edge) || !self->holds[edge->from])
            continue;
        is_cut = is_cut || is_cut_edge(edge, false);
        is_open = is_open || is_cut_edge(edge, true);
        depends = depends || edge->passes == FLOW_DEPENDS;
        /* Where no gradient arrives, nothing is asked to go on. */
        stops = stops || (edge->passes == FLOW_FAILS && self->may[node]);
    }
    if (!is_open)
        return CG_OK;
    if (is_cut) {
        CG_TRY(collect_lost(self, node, false));
        if (self->keys.count)
            return keep_cut(self, node, true, stops);
    }
    /* What is lost behind it only because another call may cut too belongs to that one. */
    if (!depends) {
        self->keys.count = 0;
        return keep_cut(self, node, false, stops);
    }
    CG_TRY(collect_lost(self, node, true));
    return keep_cut(self, node, false, stops);
}

/* --- one entry --- */

static bool item_before(const void *context, uint32_t a, uint32_t b)
{
    const item_ref *items = context;

    return items[a] < items[b];
}

/* Functions whose bodies hold nodes of this run. */
static cg_code keep_runs(reader *self, learning_entry *entry)
{
    VEC(item_ref) found = {0};
    heap *from = self->out->heap;
    number_map seen;
    item_ref last = 0;
    bool is_good = true;

    number_map_init(&seen, from);
    for (node_ref n = self->run->since.nodes; n < self->node_count && is_good; n++) {
        item_ref function = flow_at(self->graph, n)->place.function;
        uint32_t *is_known;

        if (!function || function == last)
            continue;
        last = function;
        is_known = number_map_put(&seen, number_map_key(1, function), 0);
        if (is_known && *is_known)
            continue;
        item_ref *slot = is_known ? vec_add(from, &found) : NULL;

        is_good = slot != NULL;
        if (is_good) {
            *is_known = 1;
            *slot = function;
        }
    }
    uint32_t *order = arena_take(&self->out->work, (2 * found.count + 1) * sizeof *order);
    item_ref *runs = arena_take(&self->out->mem, (found.count + 1) * sizeof *runs);

    is_good = is_good && order && runs;
    if (is_good) {
        for (size_t i = 0; i < found.count; i++)
            order[i] = (uint32_t)i;
        sort_with(order, order + found.count, found.count, item_before, found.at);
        for (size_t i = 0; i < found.count; i++)
            runs[i] = found.at[order[i]];
        entry->runs = runs;
        entry->run_count = found.count;
    }
    number_map_free(&seen);
    vec_free(from, &found);
    return is_good ? CG_OK : nomem(self);
}

static cg_code make_room(reader *self)
{
    arena *mem = &self->out->work;
    size_t count = self->node_count;
    size_t keys = self->run->component ? self->run->component->parameters.count : 0;

    self->leads = arena_zero(mem, count);
    self->feeds = arena_zero(mem, count);
    self->may = arena_zero(mem, count);
    self->gets = arena_zero(mem, count);
    self->holds = arena_zero(mem, count);
    self->stamp = arena_zero(mem, count * sizeof *self->stamp);
    self->key_stamp = arena_zero(mem, (keys + 1) * sizeof *self->key_stamp);
    return self->leads && self->feeds && self->may && self->gets && self->holds && self->stamp &&
                   self->key_stamp
               ? CG_OK
               : nomem(self);
}

static cg_code read_one(reader *self)
{
    const entry_run *run = self->run;
    learning_entry *entry = vec_add(self->out->heap, &self->out->entries);

    if (!entry)
        return nomem(self);
    *entry = (learning_entry){
        .function = run->function,
        .component = run->component_index,
        .phases = run->phases,
        .is_loss = run->is_loss,
        .is_cut = run->is_cut,
        .is_maker = run->is_maker,
        .has_outputs = run->output_count > 0 || run->goal_count > 0,
    };
    CG_TRY(make_room(self));
    CG_TRY(find_keys(self));
    CG_TRY(mark_from(self, run->outputs, run->output_count, WAY_ANY, self->leads));
    CG_TRY(mark_from(self, run->goals, run->goal_count, WAY_ANY, self->leads));
    CG_TRY(mark_read(self));
    CG_TRY(mark_from(self, run->goals, run->goal_count, WAY_ANY, self->feeds));
    CG_TRY(mark_from(self, run->goals, run->goal_count, WAY_KIND, self->may));
    CG_TRY(mark_from(self, run->goals, run->goal_count, WAY_SURE, self->gets));
    mark_holders(self);
    for (node_ref n = 1; n < self->node_count; n++) {
        size_t edge_count;
        const flow_edge *edges = edges_of(self->graph, n, &edge_count);

        for (size_t i = 0; i < edge_count && self->may[n]; i++)
            self->stops = self->stops || (edges[i].passes == FLOW_FAILS && is_edge(&edges[i]) &&
                                          self->holds[edges[i].from]);
    }
    CG_TRY(keep_states(self, entry));
    CG_TRY(keep_runs(self, entry));
    for (node_ref n = 1; n < self->node_count && run->component; n++) {
        if (self->feeds[n] && self->holds[n] && !flow_at(self->graph, n)->is_forgotten)
            CG_TRY(look_at(self, n));
    }
    return CG_OK;
}

cg_code learning_read(void *context, const entry_run *run, cg_err *reterr)
{
    learning *out = context;
    reader self = {
        .out = out,
        .run = run,
        .graph = run->graph,
        .node_count = (uint32_t)run->graph->nodes.count,
        .reterr = reterr,
    };
    arena_place place = arena_mark(&out->work);
    cg_code code = read_one(&self);

    vec_free(out->heap, &self.open);
    vec_free(out->heap, &self.keys);
    arena_reset(&out->work, place);
    return code;
}
