#include "model/flow_build.h"

#include "base/str_name.h"
#include "model/value_kinds.h"

#define CLASS_OF_TEXT 200u /* in by_name: dtypes by who names them */

static const flow_facts NO_FACTS = {.domain = {.lo = 0}};

static bool out_of_memory(flow *self)
{
    self->failed = true;
    return false;
}

static val join_values(struct flow *self, val a, val b);

bool flow_new(values *over, trail *of, heap *from, flow **ret)
{
    flow *self = heap_resize(from, NULL, 0, sizeof *self);

    if (self == NULL)
        return false;
    memset(self, 0, sizeof *self);
    self->heap = from;
    arena_init(&self->mem, from);
    arena_init(&self->calls, from);
    self->values = over;
    self->trail = of;
    self->program = over->program;
    number_map_init(&self->by_name, from);
    number_map_init(&self->by_pair, from);
    number_map_init(&self->rows, from);
    if (vec_add(from, &self->nodes) == NULL || vec_add(from, &self->edges) == NULL ||
        vec_add(from, &self->classes) == NULL) {
        flow_free(self);
        return false;
    }
    self->nodes.at[0] = (flow_node){.kind = FLOW_NONE, .facts = NO_FACTS};
    self->edges.at[0] = (flow_edge){0};
    self->classes.at[0] = (flow_class){0};
    over->flow = self;
    over->join_tensors = join_values;
    *ret = self;
    return true;
}

void flow_free(flow *self)
{
    heap *from;

    if (self == NULL)
        return;
    from = self->heap;
    if (self->values->flow == self) {
        self->values->flow = NULL;
        self->values->join_tensors = NULL;
    }
    vec_free(from, &self->nodes);
    vec_free(from, &self->edges);
    vec_free(from, &self->classes);
    vec_free(from, &self->journal);
    vec_free(from, &self->memos);
    vec_free(from, &self->requirements);
    vec_free(from, &self->uncovered);
    vec_free(from, &self->host_reads);
    vec_free(from, &self->lost);
    number_map_free(&self->by_name);
    number_map_free(&self->by_pair);
    number_map_free(&self->rows);
    arena_free(&self->calls);
    arena_free(&self->mem);
    heap_resize(from, self, sizeof *self, 0);
}

flow_mark flow_position(const flow *self)
{
    return (flow_mark){.nodes = (uint32_t)self->nodes.count,
                       .edges = (uint32_t)self->edges.count,
                       .classes = (uint32_t)self->classes.count,
                       .journal = (uint32_t)self->journal.count,
                       .memos = (uint32_t)self->memos.count,
                       .requirements = (uint32_t)self->requirements.count,
                       .uncovered = (uint32_t)self->uncovered.count,
                       .host_reads = (uint32_t)self->host_reads.count,
                       .lost = (uint32_t)self->lost.count,
                       .place = arena_mark(&self->mem)};
}

void flow_reset(flow *self, flow_mark mark)
{
    while (self->journal.count > mark.journal) {
        flow_class_change change = self->journal.at[--self->journal.count];

        self->classes.at[change.which] = change.before;
    }
    while (self->memos.count > mark.memos) {
        flow_memo last = self->memos.at[--self->memos.count];

        *number_map_find(last.is_pair ? &self->by_pair : &self->by_name, last.key) = last.before;
    }
    self->nodes.count = mark.nodes;
    self->edges.count = mark.edges;
    self->classes.count = mark.classes;
    self->requirements.count = mark.requirements;
    self->uncovered.count = mark.uncovered;
    self->host_reads.count = mark.host_reads;
    self->lost.count = mark.lost;
    arena_reset(&self->mem, mark.place);
}

bool flow_keep(const flow *self, arena *mem, flow_kept *ret)
{
    flow_node *nodes = arena_take(mem, self->nodes.count * sizeof *nodes);
    flow_edge *edges = arena_take(mem, self->edges.count * sizeof *edges);

    if (nodes == NULL || edges == NULL)
        return false;
    memcpy(nodes, self->nodes.at, self->nodes.count * sizeof *nodes);
    memcpy(edges, self->edges.at, self->edges.count * sizeof *edges);
    *ret = (flow_kept){nodes, edges, self->nodes.count, self->edges.count};
    return true;
}

void flow_restore(flow *self, const flow_kept *from)
{
    memcpy(self->nodes.at, from->nodes, from->node_count * sizeof *from->nodes);
    memcpy(self->edges.at, from->edges, from->edge_count * sizeof *from->edges);
}

void flow_forget(flow *self, flow_mark mark)
{
    for (size_t i = mark.nodes; i < self->nodes.count; i++) {
        if (self->nodes.at[i].kind != FLOW_INPUT && self->nodes.at[i].kind != FLOW_PARAMETER)
            self->nodes.at[i].is_forgotten = true;
    }
    self->uncovered.count = mark.uncovered;
}

/*
 * Remember a number under a key until the graph is reset to a mark before: what an evaluation finds
 * must not depend on what another one has made.
 */
static bool memo(flow *self, number_map *map, uint64_t key, uint32_t number)
{
    flow_memo *kept = vec_add(self->heap, &self->memos);
    uint32_t *slot = kept == NULL ? NULL : number_map_put(map, key, 0);

    if (slot == NULL) {
        self->memos.count -= kept != NULL; /* nothing is remembered that could be taken back */
        return out_of_memory(self);
    }
    *kept = (flow_memo){.key = key, .before = *slot, .is_pair = map == &self->by_pair};
    *slot = number;
    return true;
}

/* --- dtypes --- */

static uint32_t root_of(const flow *self, uint32_t which)
{
    while (self->classes.at[which].parent != 0)
        which = self->classes.at[which].parent;
    return which;
}

static bool change(flow *self, uint32_t which, flow_class to)
{
    flow_class_change *row = vec_add(self->heap, &self->journal);

    if (row == NULL)
        return out_of_memory(self);
    *row = (flow_class_change){which, self->classes.at[which]};
    self->classes.at[which] = to;
    return true;
}

uint32_t flow_class_new(flow *self, enum flow_element element, sym source)
{
    flow_class *made;

    made = vec_add(self->heap, &self->classes);
    if (made == NULL) {
        out_of_memory(self);
        return 0;
    }
    *made = (flow_class){.element = (uint8_t)element, .source = source};
    return (uint32_t)self->classes.count - 1;
}

uint32_t flow_class_named(flow *self, cg_str text)
{
    sym source = intern_add(&self->program->names, text);
    uint64_t key = number_map_key(source, CLASS_OF_TEXT);
    const uint32_t *found = source == 0 ? NULL : number_map_find(&self->by_name, key);
    uint32_t made;

    if (source == 0) {
        out_of_memory(self);
        return 0;
    }
    if (found != NULL && *found != 0)
        return *found;
    made = flow_class_new(self, ELEMENT_UNKNOWN, source);
    return memo(self, &self->by_name, key, made) ? made : 0;
}

enum flow_element flow_class_element(const flow *self, uint32_t which, sym *ret_source)
{
    uint32_t root = root_of(self, which);

    if (ret_source != NULL)
        *ret_source = self->classes.at[root].source;
    return (enum flow_element)self->classes.at[root].element;
}

bool flow_class_equal(const flow *self, uint32_t a, uint32_t b)
{
    uint32_t x = root_of(self, a);
    uint32_t y = root_of(self, b);

    return x != 0 && (x == y || (self->classes.at[x].element != ELEMENT_UNKNOWN &&
                                 self->classes.at[x].element == self->classes.at[y].element));
}

bool flow_class_unite(flow *self, uint32_t a, uint32_t b)
{
    uint32_t x = root_of(self, a);
    uint32_t y = root_of(self, b);
    flow_class to;
    flow_class from;

    if (x == 0 || y == 0 || x == y)
        return true;
    if (x > y) {
        uint32_t swap = x;

        x = y;
        y = swap;
    }
    to = self->classes.at[x];
    from = self->classes.at[y];
    if (to.element != ELEMENT_UNKNOWN && from.element != ELEMENT_UNKNOWN)
        return to.element == from.element;
    if (to.element == ELEMENT_UNKNOWN)
        to.element = from.element;
    if (to.source == 0)
        to.source = from.source;
    from.parent = x;
    return change(self, x, to) && change(self, y, from);
}

/* --- nodes --- */

model_place flow_place(const flow *self, model_place of)
{
    const program *code_of = self->program;
    bool is_outside =
        self->trail->outside.file && of.function &&
        !code_of->crates.at[code_of->modules.at[code_of->items.at[of.function].module].crate]
             .is_scanned;

    return is_outside ? self->trail->outside : of;
}

node_ref flow_add(flow *self, const flow_node *shape, const flow_edge *edges, size_t count)
{
    size_t room = shape->kind == FLOW_LOOP ? 2 : count;
    flow_node *made;
    cg_str text;

    if (!vec_reserve(self->heap, &self->nodes, self->nodes.count + 1) ||
        !vec_reserve(self->heap, &self->edges, self->edges.count + room + 1)) {
        out_of_memory(self);
        return 0;
    }
    made = &self->nodes.at[self->nodes.count];
    *made = *shape;
    made->first_edge = (uint32_t)self->edges.count;
    made->edge_count = (uint32_t)count;
    made->place = flow_place(self, shape->place);
    if (made->place.start != shape->place.start || made->place.file != shape->place.file)
        made->inside = shape->place;
    for (size_t i = 0; i < room; i++)
        self->edges.at[self->edges.count++] = i < count ? edges[i] : (flow_edge){0};
    if (self->trail->condition != 0) {
        text = self->trail->conditions.at[self->trail->condition];
        made->condition = intern_add(&self->program->names, text);
        made->is_conditional = true;
    }
    if (self->trail->repeat != 0) {
        text = self->trail->repeats.at[self->trail->repeat].text;
        made->repeat = text.ptr == NULL ? 0 : intern_add(&self->program->names, text);
    }
    return (node_ref)self->nodes.count++;
}

void flow_ways(flow *self, const uint32_t *nodes, size_t count, const bool *returns,
               cg_str condition)
{
    sym text = condition.len == 0 ? 0 : intern_add(&self->program->names, condition);
    size_t back = 0;

    for (size_t i = 0; i < count; i++)
        back += returns[i];
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = nodes[i]; k < nodes[i + 1] && (back > 1 || !returns[i]); k++) {
            flow_node *node = &self->nodes.at[k];

            if (node->kind == FLOW_INPUT || node->kind == FLOW_PARAMETER)
                continue;
            node->is_conditional = true;
            if (node->condition == 0)
                node->condition = text;
        }
    }
}

flow_facts flow_no_facts(void)
{
    flow_facts facts = NO_FACTS;

    facts.domain = interval_unknown();
    facts.carries = FLOW_PERHAPS;
    return facts;
}

/* A node that has a name of its own: found again, made once per evaluation. */
static node_ref named(flow *self, enum flow_kind kind, sym name)
{
    uint64_t key = number_map_key(name, (uint32_t)kind);
    const uint32_t *found = number_map_find(&self->by_name, key);
    flow_node shape = {.kind = (uint8_t)kind, .name = name, .facts = flow_no_facts()};
    cg_str text;
    node_ref made;

    if (found != NULL && *found != 0)
        return *found;
    if (!arena_format(&self->mem, &text, "%.*s.dtype()",
                      STR_NAME(program_text(self->program, name)))) {
        out_of_memory(self);
        return 0;
    }
    shape.facts.dtype = kind == FLOW_INPUT ? flow_class_named(self, text)
                                           : flow_class_new(self, ELEMENT_UNKNOWN, 0);
    if (arena_format(&self->mem, &text, "%.*s.device()",
                     STR_NAME(program_text(self->program, name))) &&
        kind == FLOW_INPUT) {
        shape.facts.device = FLOW_SAME_DEVICE;
        shape.facts.device_name = intern_add(&self->program->names, text);
    }
    made = flow_add(self, &shape, NULL, 0);
    return memo(self, &self->by_name, key, made) ? made : 0;
}

node_ref flow_named_input(flow *self, cg_str text)
{
    bool is_path = text.len > 0;
    sym name;

    for (size_t i = 0; i < text.len && is_path; i++)
        is_path = text.ptr[i] != '(' && text.ptr[i] != ' ' && text.ptr[i] != '?';
    name = intern_add(&self->program->names, text.len > 0 ? text : CG_LIT("tensor"));
    if (name == 0) {
        out_of_memory(self);
        return 0;
    }
    return named(self, is_path ? FLOW_INPUT : FLOW_UNKNOWN, name);
}

node_ref flow_of(flow *self, val which)
{
    const value *at = value_at(self->values, which);
    node_ref joined = 0;

    switch ((enum value_kind)at->kind) {
    case VALUE_TENSOR:
        if (at->as.number != 0 && at->as.number < self->nodes.count)
            return (node_ref)at->as.number;
        return flow_named_input(self, at->text);
    case VALUE_UNKNOWN:
        if (at->is_inclusive && at->type == 0)
            return at->as.number < self->nodes.count ? (node_ref)at->as.number : 0;
        if (at->type == 0 ||
            value_class(self->values, value_transparent(self->values, at->type)) != CLASS_TENSOR)
            return 0;
        return flow_named_input(self, at->text);
    case VALUE_SOME: return flow_of(self, at->as.items[0]);
    case VALUE_CHOICE:
        for (size_t i = 0; i < at->count; i++) {
            val item = at->as.items[i];
            node_ref one =
                value_kind_of(self->values, item) == VALUE_CHOICE ? 0 : flow_of(self, item);

            if (one != 0)
                joined = joined == 0 ? one : flow_join(self, joined, one);
        }
        return joined;
    default: return 0;
    }
}

/* Asked for again, on another way perhaps: what differs is not known. */
static void meet_sizes(flow_facts *to, const flow_facts *other)
{
    if (!to->has_rank)
        return;
    if (!other->has_rank || other->rank != to->rank) {
        to->has_rank = false;
        to->rank = 0;
        return;
    }
    for (unsigned i = 0; i < to->rank; i++) {
        if (to->axes[i] != other->axes[i])
            to->axes[i] = EXPR_NONE;
    }
}

node_ref flow_parameter_node(flow *self, const flow_parameter *of, const flow_facts *facts,
                             model_place place)
{
    cg_str text;
    sym name;
    uint64_t key;
    const uint32_t *found;
    flow_parameter *kept;
    flow_node shape = {.kind = FLOW_PARAMETER, .place = place, .facts = *facts};
    node_ref made;

    if (!arena_format(&self->mem, &text, "%u:%.*s", of->root, STR_NAME(of->printed))) {
        out_of_memory(self);
        return 0;
    }
    name = intern_add(&self->program->names, text);
    shape.name = intern_add(&self->program->names, of->printed);
    if (name == 0 || shape.name == 0) {
        out_of_memory(self);
        return 0;
    }
    key = number_map_key(name, FLOW_PARAMETER);
    found = number_map_find(&self->by_name, key);
    if (found != NULL && *found != 0) {
        meet_sizes(&self->nodes.at[*found].facts, facts);
        return *found;
    }
    kept = arena_take(&self->mem, sizeof *kept);
    if (kept == NULL || !arena_text(&self->mem, of->printed, &text)) {
        out_of_memory(self);
        return 0;
    }
    *kept = *of;
    kept->printed = text;
    shape.parameter = kept;
    made = flow_add(self, &shape, NULL, 0);
    return memo(self, &self->by_name, key, made) ? made : 0;
}

/* --- joins --- */

static flow_facts join_facts(flow *self, const flow_facts *a, const flow_facts *b)
{
    flow_facts it = flow_no_facts();
    unsigned same = 0;

    it.has_rank = a->has_rank && b->has_rank && a->rank == b->rank;
    it.rank = a->rank < b->rank ? a->rank : b->rank;
    for (unsigned i = 1; i <= it.rank; i++) {
        expr x = a->axes[a->rank - i];

        it.axes[it.rank - i] = x == b->axes[b->rank - i] ? x : EXPR_NONE;
        if (it.axes[it.rank - i] != EXPR_NONE)
            same = i;
    }
    if (!it.has_rank) {
        /* Only what is known at the end stays. */
        memmove(it.axes, it.axes + it.rank - same, same * sizeof it.axes[0]);
        it.rank = (uint8_t)same;
    }
    it.layout = a->layout == b->layout ? a->layout : FLOW_ANY_LAYOUT;
    it.stride = a->stride == b->stride ? a->stride : STRIDE_NONE;
    it.strided_by = it.layout == FLOW_STRIDED ? a->strided_by : 0;
    it.device =
        a->device == b->device && a->device_name == b->device_name ? a->device : FLOW_ANY_DEVICE;
    it.device_name = it.device == FLOW_SAME_DEVICE ? a->device_name : 0;
    it.carries = a->carries == FLOW_YES || b->carries == FLOW_YES ? FLOW_YES
                 : a->carries == FLOW_NO && b->carries == FLOW_NO ? FLOW_NO
                                                                  : FLOW_PERHAPS;
    it.dtype = flow_class_equal(self, a->dtype, b->dtype)
                   ? a->dtype
                   : flow_class_new(self, ELEMENT_UNKNOWN, 0);
    it.domain = self->is_widening ? interval_widen(a->domain, b->domain)
                                  : interval_join(a->domain, b->domain);
    return it;
}

node_ref flow_join(flow *self, node_ref a, node_ref b)
{
    const uint32_t *found;
    flow_node shape = {.kind = self->is_widening ? FLOW_LOOP : FLOW_JOIN};
    flow_edge edges[2] = {
        {.from = a, .role = self->is_widening ? FLOW_BEFORE : FLOW_WAY, .index = 0},
        {.from = b, .role = self->is_widening ? FLOW_CARRIED : FLOW_WAY, .index = 1}};
    node_ref made;

    if (a == b || b == 0 || a == 0)
        return a == 0 ? b : a;
    found = number_map_find(&self->by_pair, number_map_key(a, b));
    if (found != NULL && *found > a && !self->nodes.at[*found].is_forgotten &&
        self->edges.at[self->nodes.at[*found].first_edge].from == a &&
        self->nodes.at[*found].edge_count == 2 &&
        (self->nodes.at[*found].kind == FLOW_LOOP ||
         (self->nodes.at[*found].kind == FLOW_JOIN && !self->is_widening)) &&
        self->edges.at[self->nodes.at[*found].first_edge + 1].from == b)
        return *found;
    shape.facts = join_facts(self, &self->nodes.at[a].facts, &self->nodes.at[b].facts);
    shape.name = self->nodes.at[a].name == self->nodes.at[b].name ? self->nodes.at[a].name : 0;
    shape.place = self->nodes.at[b].place;
    made = flow_add(self, &shape, edges, 2);
    return memo(self, &self->by_pair, number_map_key(a, b), made) && made != 0 ? made : a;
}

/* Two tensors become one; 0: they are not two tensors. */
static val join_values(struct flow *self, val a, val b)
{
    const value *x = value_at(self->values, a);
    const value *y = value_at(self->values, b);
    value made = {.kind = VALUE_TENSOR, .type = x->type != 0 ? x->type : y->type};
    node_ref left;
    node_ref right;

    if ((x->kind != VALUE_TENSOR && x->kind != VALUE_UNKNOWN) ||
        (y->kind != VALUE_TENSOR && y->kind != VALUE_UNKNOWN))
        return 0;
    left = flow_of(self, a);
    right = flow_of(self, b);
    if (left == 0 || right == 0)
        return 0;
    made.as.number = flow_join(self, left, right);
    made.text = x->text.len > 0 && str_equal(x->text, y->text) ? x->text : (cg_str){NULL, 0};
    return value_make(self->values, &made);
}

static void carry_node(flow *self, node_ref inside, node_ref after)
{
    flow_node *loop = &self->nodes.at[inside];
    flow_edge *edges;
    flow_facts joined;

    if (inside == 0 || after == 0 || loop->kind != FLOW_LOOP)
        return;
    edges = self->edges.at + loop->first_edge;
    if (after == inside) {
        loop->edge_count = 1;
        return;
    }
    edges[1] = (flow_edge){.from = after, .role = FLOW_CARRIED, .index = 1};
    loop->edge_count = 2;
    joined = join_facts(self, &self->nodes.at[inside].facts, &self->nodes.at[after].facts);
    joined.domain = self->nodes.at[inside].facts.domain;
    self->nodes.at[inside].facts = joined;
    (void)memo(self, &self->by_pair, number_map_key(edges[0].from, after), inside);
}

void flow_carry(flow *self, val inside, val after)
{
    const value *x = value_at(self->values, inside);
    const value *y = value_at(self->values, after);

    if (inside == after)
        return;
    if (x->kind == VALUE_TENSOR && y->kind == VALUE_TENSOR) {
        carry_node(self, (node_ref)x->as.number, (node_ref)y->as.number);
        return;
    }
    /* What holds tensors: one level of fields or items is what loops carry. */
    if (x->kind != y->kind || x->count != y->count)
        return;
    if (x->kind == VALUE_SOME || x->kind == VALUE_TUPLE || x->kind == VALUE_LIST) {
        for (size_t i = 0; i < x->count; i++) {
            const value *one = value_at(self->values, x->as.items[i]);
            const value *two = value_at(self->values, y->as.items[i]);

            if (one->kind == VALUE_TENSOR && two->kind == VALUE_TENSOR)
                carry_node(self, (node_ref)one->as.number, (node_ref)two->as.number);
        }
    }
}
