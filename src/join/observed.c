#include "join/observed.h"

#include "base/num.h"
#include "exec/children.h"

#define NONE  DECLARED_NONE
#define CHAIN 64u /* spans of one item inside each other that are looked through */

_Static_assert((int)TRACE_NONE == (int)DECLARED_NONE, "one word for `none` serves both planes");

typedef struct work {
    observed *of;
    const cg_env *env;
    declared *crate;
    const trace_doc *trace;
    arena room;
    number_map fact_at;      /* (item + 1, record and rule) -> fact */
    number_map name_at;      /* (fact or stranger, name) -> how often */
    number_map stranger_at;  /* (record + 1, name) -> stranger */
    number_map contexts;     /* (component + 1, path + 1) -> its number, from 1 */
    number_map span_matches; /* (name, context) -> match */
    number_map name_matches; /* (function + 1, name) -> match, of labels */
    number_map op_matches;   /* the same of operations */
    number_map key_at;       /* (root, key) -> gradient */
    VEC(name_match) matches;
    uint32_t *label_item; /* by symbol: what the label was matched to last */
    uint32_t *held_by;    /* by symbol of a tensor: the parameter that it is */
    number_map
        op_inputs; /* (match of an operation + 1, parameter) -> operation, or DECLARED_NONE */
    buf text;
    uint64_t done;
    bool is_stopped;
} work;

/* --- small things --- */

static bool go_on(work *self)
{
    if ((++self->done & 0xffff) != 0 || self->is_stopped)
        return !self->is_stopped;
    self->is_stopped = !env_progress(self->env, "joining the run", self->done, 0);
    return !self->is_stopped;
}

static void add_word(sym *words, uint8_t *count, sym word)
{
    for (uint8_t i = 0; i < *count; i++) {
        if (words[i] == word)
            return;
    }
    if (word != 0 && *count < OBSERVED_WORDS)
        words[(*count)++] = word;
}

static bool is_same_shape(const trace_doc *trace, trace_shape a, trace_shape b)
{
    sc_u64s left = trace_axes(trace, a);
    sc_u64s right = trace_axes(trace, b);

    return a.rank == b.rank && memcmp(left.at, right.at, a.rank * sizeof *left.at) == 0;
}

static void add_shape(observed_fact *fact, const trace_doc *trace, trace_shape shape)
{
    for (uint8_t i = 0; i < fact->shape_count; i++) {
        if (is_same_shape(trace, fact->shapes[i], shape)) {
            fact->shape_counts[i]++;
            return;
        }
    }
    if (fact->shape_count == OBSERVED_SHAPES) {
        fact->other_shapes++;
        return;
    }
    fact->shapes[fact->shape_count] = shape;
    fact->shape_counts[fact->shape_count++] = 1;
}

/* The fact of an item, one record more; NULL: no memory. Pointers hold until the next call. */
static observed_fact *add_fact(work *self, uint32_t item, uint8_t record, uint8_t rule, sym name)
{
    observed *of = self->of;
    uint64_t key = number_map_key(item + 1, (uint32_t)record << 8 | rule);
    uint32_t *at = number_map_put(&self->fact_at, key, (uint32_t)of->facts.count);
    observed_fact *fact;
    uint32_t *times;

    if (at == NULL)
        return NULL;
    if (*at == of->facts.count) {
        fact = vec_add(of->heap, &of->facts);
        if (fact == NULL)
            return NULL;
        *fact = (observed_fact){.item = item, .record = record, .rule = rule};
    }
    fact = &of->facts.at[*at];
    fact->count++;
    times = number_map_put(&self->name_at, number_map_key(*at + 1, name), 0);
    if (times == NULL)
        return NULL;
    if ((*times)++ == 0) {
        if (fact->name_kept < OBSERVED_NAMES)
            fact->names[fact->name_kept++] = name;
        fact->name_count++;
    }
    return fact;
}

static bool add_stranger(work *self, uint8_t record, sym name, sym span_id, uint32_t inside,
                         const name_match *match)
{
    observed *of = self->of;
    uint32_t *at = number_map_put(&self->stranger_at, number_map_key(record + 1u, name),
                                  (uint32_t)of->strangers.count);
    observed_name *fresh;

    if (at == NULL)
        return false;
    if (*at < of->strangers.count) {
        of->strangers.at[*at].count++;
        return true;
    }
    fresh = vec_add(of->heap, &of->strangers);
    if (fresh == NULL)
        return false;
    *fresh = (observed_name){.record = record,
                             .rule = match->rule,
                             .name = name,
                             .first_span_id = span_id,
                             .count = 1,
                             .inside = inside,
                             .candidates_at = match->candidates_at,
                             .candidate_count = match->candidate_count};
    return true;
}

/* Keep a match; its number, NONE: no memory. */
static uint32_t keep_match(work *self, name_match match)
{
    name_match *fresh = self->of->names.failed ? NULL : vec_add(self->of->heap, &self->matches);

    if (fresh == NULL)
        return NONE;
    *fresh = match;
    return (uint32_t)(self->matches.count - 1);
}

/* --- which components are in use --- */

/* By names that need no context; all are judged before the first is used: order is no matter. */
static bool use_functions(work *self)
{
    const trace_doc *trace = self->trace;
    matcher *names = &self->of->names;
    size_t symbols = intern_count(&trace->texts);
    bool *is_done = arena_zero(&self->room, symbols + 1);
    VEC(uint32_t) used = {0};
    bool is_good = is_done != NULL;

    for (size_t i = 0; is_good && i < trace->spans.count && go_on(self); i++) {
        sym name = trace->spans.at[i].name;
        name_match match;
        uint32_t *fresh;

        if (is_done[name])
            continue;
        is_done[name] = true;
        match = match_function(names, trace_text(trace, name));
        if (match.item == NONE || match.rule == JOIN_RULE_BARE_NAME)
            continue;
        fresh = vec_add(self->of->heap, &used);
        is_good = fresh != NULL;
        if (is_good)
            *fresh = self->crate->component_of[match.item];
    }
    for (size_t i = 0; is_good && i < used.count; i++)
        matcher_use(names, used.at[i]);
    vec_free(self->of->heap, &used);
    return is_good && !names->failed;
}

/* --- gradients --- */

static bool add_key(work *self, sym root, sym key, bool is_in_manifest, uint32_t *ret)
{
    observed *of = self->of;
    uint32_t *at =
        number_map_put(&self->key_at, number_map_key(root, key), (uint32_t)of->gradients.count);
    observed_key *fresh;

    if (at == NULL)
        return false;
    *ret = *at;
    if (*at < of->gradients.count)
        return true;
    fresh = vec_add(of->heap, &of->gradients);
    if (fresh == NULL)
        return false;
    *fresh = (observed_key){.root = root, .key = key};
    return match_keys_add(&of->keys, trace_text(self->trace, root), trace_text(self->trace, key),
                          is_in_manifest) != UINT32_MAX;
}

/* What the manifest promises and no event tells is a fault that health has reported. */
static bool add_manifest(work *self)
{
    const rec_contract *contract = self->trace->run.contract;
    const rec_gradient_contract *gradients = contract != NULL ? contract->gradient_contract : NULL;
    const rec_manifest_entry *entries;

    if (gradients == NULL)
        return true;
    entries = gradients->expected.at;
    for (size_t i = 0; i < gradients->expected.count && go_on(self); i++) {
        sym root = intern_find(&self->trace->texts, entries[i].root);
        sym key = intern_find(&self->trace->texts, entries[i].key);
        uint32_t at;

        if (root != 0 && key != 0 && !add_key(self, root, key, true, &at))
            return false;
    }
    return true;
}

static bool add_gradients(work *self)
{
    const trace_doc *trace = self->trace;

    if (!add_manifest(self))
        return false;
    for (size_t i = 0; i < trace->gradients.count && go_on(self); i++) {
        const trace_gradient *event = &trace->gradients.at[i];
        uint32_t at;

        if (!add_key(self, event->root, event->key, false, &at))
            return false;
        self->of->gradients.at[at].states[event->state]++;
    }
    return true;
}

/* The components that have the gradients are in use; then every gradient is a fact. */
static bool settle_gradients(work *self)
{
    static const name_match nobody = {.item = NONE};
    observed *of = self->of;

    for (size_t i = 0; i < of->keys.roots.count; i++) {
        if (of->keys.roots.at[i].unit != NONE)
            matcher_use(&of->names, self->crate->units.at[of->keys.roots.at[i].unit].component);
    }
    for (size_t i = 0; i < of->keys.roots.count; i++)
        matcher_add_head(&of->names, of->keys.roots.at[i].root);
    for (size_t i = 0; i < of->gradients.count && go_on(self); i++) {
        const observed_key *gradient = &of->gradients.at[i];
        const matched_key *key = &of->keys.keys.at[i];
        uint64_t events = 0;
        observed_fact *fact;

        for (size_t k = 0; k < OBSERVED_STATES; k++)
            events += gradient->states[k];
        if (events == 0)
            continue;
        if (key->item == NONE) {
            if (key->hit_count == 0 &&
                !add_stranger(self, JOIN_RECORD_GRADIENT, gradient->key, 0, NONE, &nobody))
                return false;
            continue;
        }
        fact = add_fact(self, key->item, JOIN_RECORD_GRADIENT, key->rule, gradient->key);
        if (fact == NULL)
            return false;
        fact->count += events - 1;
        for (size_t k = 0; k < OBSERVED_STATES; k++)
            fact->states[k] += gradient->states[k];
    }
    return true;
}

/* --- spans --- */

static name_context context_of(const work *self, uint32_t span)
{
    name_context ret = {.function = NONE};

    if (span != TRACE_NONE) {
        const observed_span *at = &self->of->spans[span];

        ret.function = at->function;
        if (at->path != 0)
            ret.path = intern_text_of(&self->of->paths, at->path);
    }
    return ret;
}

/* The item around a record of the span; NONE: none. */
static uint32_t item_around(const work *self, uint32_t span)
{
    uint32_t nearest = span != TRACE_NONE ? self->of->spans[span].nearest : NONE;

    return nearest != NONE ? self->of->spans[nearest].item : NONE;
}

/* What a name is looked up in: a path, and the component of a function. 0: no memory. */
static uint32_t number_of_context(work *self, const observed_span *around, uint32_t function)
{
    uint32_t component =
        function != NONE
            ? self->crate->component_of[declared_item(self->crate, JOIN_ITEM_FUNCTION, function)]
            : NONE;
    uint32_t *at = number_map_put(
        &self->contexts, number_map_key(component + 1, around != NULL ? around->path + 1 : 1),
        (uint32_t)self->contexts.count + 1);

    return at != NULL ? *at : 0;
}

/* Number of the match of a span's name in its context. */
static uint32_t match_of_span(work *self, sym name, const observed_span *around,
                              const name_context *context)
{
    uint32_t number = number_of_context(self, around, context->function);
    uint32_t *at = number != 0
                       ? number_map_put(&self->span_matches, number_map_key(name, number), NONE)
                       : NULL;
    uint32_t found;

    if (at == NULL)
        return NONE;
    if (*at != NONE)
        return *at;
    found = keep_match(self, match_span(&self->of->names, trace_text(self->trace, name), context));
    *at = found;
    return found;
}

/* Is the span inside another one of the same item? Then its time is counted there. */
static bool is_inside_own(const work *self, uint32_t span)
{
    const observed_span *spans = self->of->spans;
    uint32_t item = spans[span].item;
    uint32_t at = self->trace->spans.at[span].parent;

    for (unsigned i = 0; i < CHAIN && at != TRACE_NONE; i++) {
        at = spans[at].nearest;
        if (at == NONE)
            return false;
        if (spans[at].item == item)
            return true;
        at = self->trace->spans.at[at].parent;
    }
    return false;
}

static bool fact_of_span(work *self, uint32_t span, uint8_t rule)
{
    const evidence *from = self->of->from;
    const trace_span *row = &self->trace->spans.at[span];
    observed_fact *fact =
        add_fact(self, self->of->spans[span].item, JOIN_RECORD_SPAN, rule, row->name);

    if (fact == NULL)
        return false;
    if (!row->is_closed) {
        fact->open++;
    } else if (!is_inside_own(self, span)) {
        fact->has_total = true;
        fact->total_ns = num_sat_add(fact->total_ns, row->duration_ns);
    }
    if (!from->has_graph)
        return true;
    fact->has_self = true;
    fact->self_ns = num_sat_add(fact->self_ns, from->graph.self_ns[span]);
    for (uint32_t i = from->graph.timing_at[span]; i < from->graph.timing_at[span + 1]; i++) {
        fact->has_device = true;
        fact->device_ns = num_sat_add(fact->device_ns, from->timing.spans.at[i].busy_ns);
    }
    if (from->graph.has_memory && from->graph.has_allocated[span]) {
        fact->has_allocated = true;
        fact->allocated_bytes =
            num_sat_add(fact->allocated_bytes, from->graph.allocated_bytes[span]);
    }
    return true;
}

static bool mark_seen(work *self, uint32_t item)
{
    declared *crate = self->crate;
    bool *is_seen = self->of->is_span_seen;
    uint8_t kind = declared_kind(crate, item);

    is_seen[item] = true;
    if (kind != JOIN_ITEM_MODULE && kind != DECLARED_LAYER)
        return true;
    for (uint32_t module = crate->parent_of[item]; module != NONE;) {
        uint32_t above = declared_item(crate, JOIN_ITEM_MODULE, module);

        if (is_seen[above])
            break;
        is_seen[above] = true;
        module = crate->parent_of[above];
    }
    return true;
}

static bool set_path(work *self, observed_span *span, const name_match *match, sym name,
                     const name_context *context)
{
    observed *of = self->of;

    buf_clear(&self->text);
    if (!match_path(&of->names, match, trace_text(self->trace, name), context, &self->text))
        return !of->names.failed && !self->text.failed;
    if (self->text.failed)
        return false;
    span->path = intern_add(&of->paths, buf_text(&self->text));
    return span->path != 0;
}

static bool add_span(work *self, uint32_t span)
{
    observed *of = self->of;
    const trace_span *row = &self->trace->spans.at[span];
    const observed_span *around = row->parent != TRACE_NONE ? &of->spans[row->parent] : NULL;
    name_context context = context_of(self, row->parent);
    uint32_t number = match_of_span(self, row->name, around, &context);
    observed_span made = {.item = NONE,
                          .nearest = around != NULL ? around->nearest : NONE,
                          .function = context.function,
                          .path = around != NULL ? around->path : 0};
    name_match match;

    if (number == NONE)
        return false;
    match = self->matches.at[number];
    if (match.item == NONE) {
        of->spans[span] = made;
        return add_stranger(self, JOIN_RECORD_SPAN, row->name, row->id,
                            item_around(self, row->parent), &match);
    }
    made.item = match.item;
    made.nearest = span;
    if (declared_kind(self->crate, match.item) == JOIN_ITEM_FUNCTION)
        made.function = declared_place(self->crate, JOIN_ITEM_FUNCTION, match.item);
    if (!set_path(self, &made, &match, row->name, &context))
        return false;
    of->spans[span] = made;
    mark_seen(self, match.item);
    return fact_of_span(self, span, match.rule);
}

static cg_code add_spans(work *self, cg_err *reterr)
{
    size_t count = self->trace->spans.count;
    children order;

    self->of->spans = heap_resize(self->of->heap, NULL, 0, (count + 1) * sizeof(observed_span));
    if (self->of->spans == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        self->of->spans[i] = (observed_span){NONE, NONE, NONE, 0};
    CG_TRY(children_build(&self->room, self->trace, &order, reterr));
    for (uint32_t i = 0; i < order.reached && go_on(self); i++) {
        if (!add_span(self, order.from_root[i]))
            return err_nomem(reterr);
    }
    return CG_OK;
}

/* --- labels --- */

typedef name_match match_call(matcher *self, cg_str text, const name_context *context);

/* What `text` means in this context, asked once. NONE: no memory. */
static uint32_t match_of(work *self, number_map *known, match_call *match, sym text,
                         const name_context *context)
{
    uint32_t *at = number_map_put(known, number_map_key(context->function + 1, text), NONE);

    if (at == NULL)
        return NONE;
    if (*at == NONE)
        *at = keep_match(self, match(&self->of->names, trace_text(self->trace, text), context));
    return *at;
}

static uint32_t match_of_label(work *self, sym label, const name_context *context)
{
    return match_of(self, &self->name_matches, match_label, label, context);
}

/* The fact of a record with a label; *ret NULL: the record is nobody's. false: no memory. */
static bool fact_of_label(work *self, uint8_t record, sym label, sym span_id, observed_fact **ret)
{
    uint32_t span = trace_span_of(self->trace, span_id);
    name_context context = context_of(self, span);
    uint32_t inside = item_around(self, span);
    uint32_t number = label != 0 ? match_of_label(self, label, &context) : NONE;
    name_match match = {.item = NONE};

    *ret = NULL;
    if (label != 0 && number == NONE)
        return false;
    if (label != 0)
        match = self->matches.at[number];
    if (match.item == NONE && inside != NONE && match.candidate_count == 0) {
        match.item = inside;
        match.rule = JOIN_RULE_RECORDED_INSIDE;
    }
    if (label != 0)
        self->label_item[label] = match.item;
    if (match.item == NONE)
        return label == 0 || add_stranger(self, record, label, span_id, inside, &match);
    *ret = add_fact(self, match.item, record, match.rule,
                    label != 0 ? label : self->trace->spans.at[span].name);
    return *ret != NULL;
}

static bool add_tensors(work *self)
{
    const trace_doc *trace = self->trace;

    for (size_t i = 0; i < trace->tensors.count && go_on(self); i++) {
        const trace_tensor *row = &trace->tensors.at[i];
        observed_fact *fact;

        if (!fact_of_label(self, JOIN_RECORD_TENSOR, row->label, row->span_id, &fact))
            return false;
        if (fact == NULL)
            continue;
        if (declared_kind(self->crate, fact->item) == JOIN_ITEM_PARAMETER)
            self->held_by[row->tensor_id] = fact->item;
        add_word(fact->dtypes, &fact->dtype_count, row->dtype);
        add_word(fact->devices, &fact->device_count, row->device);
        add_shape(fact, trace, row->shape);
        if (row->has_dense_bytes && (!fact->has_dense || row->dense_bytes > fact->dense_bytes))
            fact->dense_bytes = row->dense_bytes;
        fact->has_dense = fact->has_dense || row->has_dense_bytes;
    }
    return true;
}

static bool add_statistics(work *self)
{
    const trace_doc *trace = self->trace;

    for (size_t i = 0; i < trace->stats.count && go_on(self); i++) {
        const trace_stats *row = &trace->stats.at[i];
        observed_fact *fact;

        if (!fact_of_label(self, JOIN_RECORD_STATS, row->label, row->span_id, &fact))
            return false;
        if (fact == NULL)
            continue;
        add_word(fact->dtypes, &fact->dtype_count, row->dtype);
        add_shape(fact, trace, row->shape);
        fact->has_values = true;
        fact->elements = num_sat_add(fact->elements, row->elements);
        fact->non_finite = num_sat_add(fact->non_finite, row->non_finite);
        fact->abs_max = row->abs_max > fact->abs_max ? row->abs_max : fact->abs_max;
        fact->rms_max = row->rms > fact->rms_max ? row->rms : fact->rms_max;
    }
    return true;
}

/* --- operations --- */

static uint32_t match_of_op(work *self, sym name, const name_context *context)
{
    return match_of(self, &self->op_matches, match_operation, name, context);
}

/* The one candidate that uses the parameter; NONE: there is none, or several. */
static uint32_t choose_operation(const work *self, const name_match *match, uint32_t parameter)
{
    const declared *crate = self->crate;
    const model_parameter *of = MODEL_AT(crate->doc->parameters, model_parameter,
                                         declared_place(crate, JOIN_ITEM_PARAMETER, parameter));
    uint32_t found = NONE;

    for (uint32_t i = 0; i < match->candidate_count; i++) {
        uint32_t item = self->of->names.candidates.at[match->candidates_at + i];
        cg_str id = MODEL_AT(crate->doc->operations, model_operation,
                             declared_place(crate, JOIN_ITEM_OPERATION, item))
                        ->id;

        for (size_t k = 0; k < of->uses.count; k++) {
            if (!str_equal(of->uses.at[k], id))
                continue;
            if (found != NONE && found != item)
                return NONE;
            found = item;
        }
    }
    return found;
}

/* The operation of a match that uses the parameter, as far as one does. false: no memory. */
static bool choose_by(work *self, uint32_t parameter, uint32_t number, name_match *io)
{
    uint32_t *known =
        number_map_put(&self->op_inputs, number_map_key(number + 1, parameter), NONE - 1);

    if (known == NULL)
        return false;
    if (*known == NONE - 1)
        *known = choose_operation(self, io, parameter);
    if (*known != NONE) {
        io->item = *known;
        io->rule = JOIN_RULE_OPERATION_OF_PARAMETER;
    }
    return true;
}

/* A parameter that a layer or a module holds itself; NONE: none. */
static uint32_t parameter_of(const declared *crate, uint32_t item)
{
    uint8_t kind = declared_kind(crate, item);
    uint32_t place = declared_place(crate, kind, item);
    uint32_t first = NONE;

    if (kind == DECLARED_LAYER)
        first = crate->layers.at[place].first;
    else if (kind == JOIN_ITEM_MODULE)
        first = crate->first_held[place];
    return first != NONE ? declared_item(crate, JOIN_ITEM_PARAMETER, first) : NONE;
}

/* Several operations of one name: a parameter among the inputs, or the layer around, decides. */
static bool choose_by_parameter(work *self, const trace_op *row, uint32_t inside, uint32_t number,
                                name_match *io)
{
    uint32_t parameter;

    for (uint32_t i = 0; i < row->inputs_count && io->item == NONE; i++) {
        parameter = self->held_by[self->trace->inputs.at[row->inputs_at + i]];
        if (parameter != NONE && !choose_by(self, parameter, number, io))
            return false;
    }
    parameter = inside != NONE ? parameter_of(self->crate, inside) : NONE;
    return io->item != NONE || parameter == NONE || choose_by(self, parameter, number, io);
}

static bool fact_of_op(work *self, const trace_op *row, uint32_t item, uint8_t rule)
{
    observed_fact *fact = add_fact(self, item, JOIN_RECORD_OP, rule, row->name);

    if (fact == NULL)
        return false;
    fact->has_total = true;
    fact->total_ns = num_sat_add(fact->total_ns, row->duration_ns);
    add_word(fact->dtypes, &fact->dtype_count, row->dtype);
    add_word(fact->devices, &fact->device_count, row->device);
    add_shape(fact, self->trace, row->shape);
    if (row->has_dense_bytes && (!fact->has_dense || row->dense_bytes > fact->dense_bytes))
        fact->dense_bytes = row->dense_bytes;
    fact->has_dense = fact->has_dense || row->has_dense_bytes;
    return true;
}

static bool add_operations(work *self)
{
    const trace_doc *trace = self->trace;

    self->of->operation_count = trace->ops.count;
    for (size_t i = 0; i < trace->ops.count && go_on(self); i++) {
        const trace_op *row = &trace->ops.at[i];
        uint32_t span = trace_span_of(trace, row->span_id);
        name_context context = context_of(self, span);
        uint32_t inside = item_around(self, span);
        uint32_t number = match_of_op(self, row->name, &context);
        name_match match;

        if (number == NONE)
            return false;
        match = self->matches.at[number];
        if (match.item == NONE && match.candidate_count > 0 &&
            !choose_by_parameter(self, row, inside, number, &match))
            return false;
        if (match.item != NONE && !fact_of_op(self, row, match.item, match.rule))
            return false;
        if (match.item == NONE &&
            !add_stranger(self, JOIN_RECORD_OP, row->name, row->span_id, inside, &match))
            return false;
        if (inside != NONE && !fact_of_op(self, row, inside, JOIN_RULE_RECORDED_INSIDE))
            return false;
    }
    return true;
}

/* --- what is not finite --- */

static bool add_break(work *self, sym label, sym span_id, sym operation, uint8_t part,
                      uint64_t non_finite, uint64_t elements)
{
    observed *of = self->of;
    observed_break *fresh = vec_add(of->heap, &of->breaks);
    uint32_t span = trace_span_of(self->trace, span_id);
    name_context context = context_of(self, span);
    uint32_t number = operation != 0 ? match_of_op(self, operation, &context) : NONE;

    if (fresh == NULL || (operation != 0 && number == NONE))
        return false;
    *fresh =
        (observed_break){.label = label,
                         .span_id = span_id,
                         .operation = operation,
                         .part = part,
                         .non_finite = non_finite,
                         .elements = elements,
                         .item = self->label_item[label],
                         .function = context.function,
                         .operation_item = operation != 0 ? self->matches.at[number].item : NONE};
    return true;
}

static cg_code add_breaks(work *self, cg_err *reterr)
{
    const trace_doc *trace = self->trace;
    size_t symbols = intern_count(&trace->texts);
    uint8_t *part = arena_zero(&self->room, symbols + 1);
    sym *operation = arena_zero(&self->room, (symbols + 1) * sizeof *operation);
    bool *is_told = arena_zero(&self->room, symbols + 1);
    origin_answer answer;
    bool is_good = true;

    if (part == NULL || operation == NULL || is_told == NULL)
        return err_nomem(reterr);
    CG_TRY(origin_find(self->of->heap, self->of->from, &answer, reterr));
    if (answer.has_origin) {
        part[answer.origin.label] = JOIN_PART_ORIGIN;
        operation[answer.origin.label] = answer.origin.operation;
    }
    for (size_t i = 0; i < answer.other_producers.count; i++) {
        part[answer.other_producers.at[i].label] = JOIN_PART_PRODUCER;
        operation[answer.other_producers.at[i].label] = answer.other_producers.at[i].operation;
    }
    for (size_t i = 0; i < answer.propagators.count; i++) {
        part[answer.propagators.at[i].label] = JOIN_PART_PROPAGATOR;
        operation[answer.propagators.at[i].label] = answer.propagators.at[i].operation;
    }
    origin_free(&answer);
    for (size_t i = 0; is_good && i < trace->stats.count && go_on(self); i++) {
        const trace_stats *row = &trace->stats.at[i];

        if (row->non_finite == 0 || is_told[row->label])
            continue;
        is_told[row->label] = true;
        is_good = add_break(self, row->label, row->span_id, operation[row->label], part[row->label],
                            row->non_finite, row->elements);
    }
    return is_good ? CG_OK : err_nomem(reterr);
}

/* --- the whole --- */

static cg_code run(work *self, cg_err *reterr)
{
    observed *of = self->of;

    if (!use_functions(self) || !add_gradients(self))
        return err_nomem(reterr);
    CG_TRY(match_keys_choose(&of->keys, reterr));
    if (!settle_gradients(self))
        return err_nomem(reterr);
    CG_TRY(add_spans(self, reterr));
    if (!add_tensors(self) || !add_statistics(self) || !add_operations(self))
        return err_nomem(reterr);
    return add_breaks(self, reterr);
}

static cg_code begin(work *self, uint32_t asked, cg_err *reterr)
{
    observed *of = self->of;
    uint64_t seed = self->trace->texts.seed;
    size_t symbols = intern_count(&self->trace->texts);
    uint8_t phase = self->trace->run.phase == PHASE_INFER ? MODEL_PHASE_INFER : MODEL_PHASE_TRAIN;

    CG_TRY(matcher_init(&of->names, self->crate, asked, phase, seed, reterr));
    of->is_span_seen = heap_resize(of->heap, NULL, 0, declared_count(self->crate) + 1);
    self->held_by = arena_take(&self->room, (symbols + 1) * sizeof *self->held_by);
    self->label_item = arena_take(&self->room, (symbols + 1) * sizeof *self->label_item);
    if (of->is_span_seen == NULL || self->label_item == NULL || self->held_by == NULL ||
        !match_keys_init(&of->keys, self->crate, asked, of->names.is_used, seed) ||
        !intern_init(&of->paths, of->heap, seed))
        return err_nomem(reterr);
    memset(of->is_span_seen, 0, declared_count(self->crate) + 1);
    memset(self->held_by, 0xff, (symbols + 1) * sizeof *self->held_by);
    memset(self->label_item, 0xff, (symbols + 1) * sizeof *self->label_item);
    return CG_OK;
}

cg_code observed_make(observed *self, const cg_env *env, declared *crate, uint32_t asked,
                      const evidence *from, cg_err *reterr)
{
    work todo = {.of = self, .env = env, .crate = crate, .trace = from->trace};
    number_map *maps[] = {&todo.fact_at,      &todo.name_at,      &todo.stranger_at,
                          &todo.span_matches, &todo.name_matches, &todo.op_matches,
                          &todo.key_at,       &todo.op_inputs,    &todo.contexts};
    cg_code code;

    memset(self, 0, sizeof *self);
    self->heap = crate->heap;
    self->from = from;
    arena_init(&todo.room, self->heap);
    buf_init(&todo.text, self->heap, SIZE_MAX / 2);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        number_map_init(maps[i], self->heap);
    code = begin(&todo, asked, reterr);
    if (code == CG_OK)
        code = run(&todo, reterr);
    if (code == CG_OK && (self->names.failed || todo.text.failed))
        code = err_nomem(reterr);
    if (code == CG_OK && todo.is_stopped)
        code = cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        number_map_free(maps[i]);
    vec_free(self->heap, &todo.matches);
    buf_free(&todo.text);
    arena_free(&todo.room);
    if (code != CG_OK)
        observed_free(self);
    return code;
}

void observed_free(observed *self)
{
    declared *crate = self->names.from;

    if (self->heap == NULL)
        return;
    if (self->spans != NULL)
        heap_resize(self->heap, self->spans,
                    (self->from->trace->spans.count + 1) * sizeof *self->spans, 0);
    if (self->is_span_seen != NULL && crate != NULL)
        heap_resize(self->heap, self->is_span_seen, declared_count(crate) + 1, 0);
    match_keys_free(&self->keys);
    matcher_free(&self->names);
    vec_free(self->heap, &self->gradients);
    vec_free(self->heap, &self->facts);
    vec_free(self->heap, &self->strangers);
    vec_free(self->heap, &self->breaks);
    if (self->paths.heap != NULL)
        intern_free(&self->paths);
    self->heap = NULL;
}
