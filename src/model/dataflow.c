#include "model/dataflow.h"

#include "base/sort.h"
#include "model/ids.h"

void dataflow_init(dataflow *self, eval *interpreter, const function_facts *functions,
                   model_draft *draft)
{
    *self = (dataflow){.heap = draft->heap,
                       .eval = interpreter,
                       .functions = functions,
                       .draft = draft,
                       .component = SIZE_MAX};
    arena_init(&self->work, draft->heap);
    number_map_init(&self->gap_of, draft->heap);
    tensor_rows_init(&self->rows, interpreter->program, interpreter->exprs, draft);
}

void dataflow_free(dataflow *self)
{
    if (!self->heap)
        return;
    arena_free(&self->work);
    vec_free(self->heap, &self->uses);
    vec_free(self->heap, &self->gaps);
    vec_free(self->heap, &self->parameter_ids);
    tensor_rows_free(&self->rows);
    number_map_free(&self->gap_of);
    *self = (dataflow){0};
}

/* What both phases of a node share. */
typedef struct node_row {
    model_tensor tensor;
    cg_str source;
} node_row;

typedef struct writer {
    dataflow *out;
    const entry_run *run;
    flow *graph;
    model_draft *draft;
    arena *mem;
    uint32_t node_count;
    bool *is_listed; /* by node */
    bool *is_unsure; /* by node: nobody knows the numbers of an operand it needs something of */
    bool *is_output;
    cg_str component;                      /* id, absent: none */
    cg_str tensors[MODEL_PHASE_INFER + 1]; /* ids without their number */
    cg_str operations[MODEL_PHASE_INFER + 1];
    cg_str *ids[MODEL_PHASE_INFER + 1]; /* of tensors, by node; made when asked for */
    cg_err *reterr;
} writer;

static cg_code nomem(const writer *self)
{
    return err_nomem(self->reterr);
}

/* --- names --- */

static bool make_prefix(writer *self, uint8_t kind, uint8_t phase, cg_str *ret)
{
    if (!id_flow(self->mem, kind, phase, self->run->function->id, 0, ret))
        return false;
    ret->len--;
    return true;
}

static bool make_id(writer *self, cg_str prefix, node_ref node, cg_str *ret)
{
    char digits[12];
    size_t at = sizeof digits;
    char *text;

    do {
        digits[--at] = (char)('0' + node % 10);
        node /= 10;
    } while (node > 0);
    ret->len = prefix.len + sizeof digits - at;
    text = arena_bytes(self->mem, ret->len + 1);
    if (!text)
        return false;
    memcpy(text, prefix.ptr, prefix.len);
    memcpy(text + prefix.len, digits + at, sizeof digits - at);
    text[ret->len] = '\0';
    ret->ptr = text;
    return true;
}

static bool tensor_id(writer *self, uint8_t phase, node_ref node, cg_str *ret)
{
    cg_str *slot = &self->ids[phase][node];

    if (!slot->ptr && !make_id(self, self->tensors[phase], node, slot))
        return false;
    *ret = *slot;
    return true;
}

/* The last name of a path: `matmul`. */
static cg_str leaf_of(cg_str path)
{
    size_t colon = str_find_last(path, ':');

    return colon == SIZE_MAX ? path : (cg_str){path.ptr + colon + 1, path.len - colon - 1};
}

/* Text that the program keeps, so that each is there once. */
static bool keep_text(const writer *self, const char *before, cg_str text, cg_str *ret)
{
    program *code_of = self->out->eval->program;
    cg_str whole;
    sym name;

    if (!arena_format(&self->out->work, &whole, "%s%.*s", before, (int)text.len, text.ptr))
        return false;
    name = intern_add(&code_of->names, whole);
    *ret = program_text(code_of, name);
    return name != 0;
}

static bool name_node(const writer *self, const flow_node *at, cg_str *ret)
{
    cg_str name = program_text(self->out->eval->program, at->name);

    switch ((enum flow_kind)at->kind) {
    case FLOW_NONE:
    case FLOW_PARAMETER:
    case FLOW_INPUT: *ret = name; return true;
    case FLOW_CONSTANT:
    case FLOW_OPERATION: return keep_text(self, "result_of_", leaf_of(name), ret);
    case FLOW_JOIN: *ret = CG_LIT("branch_join"); return true;
    case FLOW_LOOP: *ret = CG_LIT("loop_carried"); return true;
    case FLOW_UNKNOWN: return keep_text(self, "unknown:", name, ret);
    }
    return false;
}

static uint8_t role_of(const writer *self, node_ref node)
{
    const flow_node *at = flow_at(self->graph, node);

    if (at->kind == FLOW_PARAMETER)
        return at->parameter->is_running_state ? MODEL_TENSOR_ROLE_STATE
                                               : MODEL_TENSOR_ROLE_PARAMETER;
    if (at->row && (operation_at(at->row)->needs & NEED_LOSS))
        return MODEL_TENSOR_ROLE_LOSS;
    if (self->is_output[node])
        return MODEL_TENSOR_ROLE_OUTPUT;
    return at->kind == FLOW_INPUT ? MODEL_TENSOR_ROLE_INPUT : MODEL_TENSOR_ROLE_ACTIVATION;
}

/* --- rows --- */

/* A function that makes its builders has models of others run too. */
static bool is_its_own(const entry_run *run, cg_str root, cg_str key)
{
    for (size_t i = 0; run->is_maker && i < run->component->parameters.count; i++) {
        const extract_parameter *at = &run->component->parameters.at[i];

        if (str_equal(at->printed, key) && str_equal(at->root, root))
            return true;
    }
    return !run->is_maker;
}

/* The id of the parameter a node is; absent when no constructor asked for it. */
static bool make_parameter_id(writer *self, const flow_node *at, cg_str *ret)
{
    const trail *track = self->graph->trail;
    cg_str printed;

    *ret = (cg_str){0};
    if (!self->component.ptr || at->parameter->root >= track->roots.count)
        return true;
    if (!extract_print(self->out->heap, at->parameter->key, &self->out->work, &printed))
        return false;
    return !is_its_own(self->run, track->roots.at[at->parameter->root].name, printed) ||
           id_make(self->mem, MODEL_ID_KIND_PARAMETER,
                   ID_PARTS(self->component, track->roots.at[at->parameter->root].name, printed),
                   ret);
}

/* Those the constructor made stay the same for all entries of the component. */
static bool keep_parameter_ids(writer *self)
{
    dataflow *out = self->out;
    uint32_t count = self->run->since.nodes;

    if (self->run->component && out->component == self->run->component_index &&
        out->parameter_ids.count == count)
        return true;
    out->component = self->run->component_index;
    out->parameter_ids.count = 0;
    if (!vec_reserve(out->heap, &out->parameter_ids, count))
        return false;
    for (node_ref n = 0; n < count; n++) {
        const flow_node *at = flow_at(self->graph, n);
        cg_str *slot = &out->parameter_ids.at[out->parameter_ids.count++];

        *slot = (cg_str){0};
        if (at->kind == FLOW_PARAMETER && !make_parameter_id(self, at, slot))
            return false;
    }
    return true;
}

static bool parameter_id(writer *self, node_ref node, cg_str *ret)
{
    if (node < self->out->parameter_ids.count) {
        *ret = self->out->parameter_ids.at[node];
        return true;
    }
    return make_parameter_id(self, flow_at(self->graph, node), ret);
}

static cg_code describe(writer *self, node_ref node, node_row *ret)
{
    const flow_node *at = flow_at(self->graph, node);
    model_tensor *row = &ret->tensor;

    *ret = (node_row){.tensor = {.role = role_of(self, node)}};
    row->owner_function = self->run->function->id;
    return name_node(self, at, &row->name) &&
                   tensor_rows_fill(&self->out->rows, self->graph, node, row, &ret->source) &&
                   (at->kind != FLOW_PARAMETER || parameter_id(self, node, &row->parameter))
               ? CG_OK
               : nomem(self);
}

/* No operation makes what is one of several values: its tensor names them. */
static bool add_sources(writer *self, node_ref node, uint8_t phase, model_tensor *record)
{
    const flow_node *at = flow_at(self->graph, node);
    size_t edge_count;
    const flow_edge *edges = flow_edges(self->graph, node, &edge_count);

    if (at->kind != FLOW_JOIN && at->kind != FLOW_LOOP)
        return true;
    for (size_t i = 0; i < edge_count; i++) {
        node_ref from = edges[i].from;
        cg_str id;

        if (!from || from == node || edges[i].role == FLOW_BODY || !self->is_listed[from])
            continue;
        if (!tensor_id(self, phase, from, &id) || !draft_text(self->draft, &record->one_of, id))
            return false;
    }
    return true;
}

static cg_code add_tensor(writer *self, node_ref node, uint8_t phase, const node_row *row)
{
    model_tensor *record = draft_tensor(self->draft);

    if (!record)
        return nomem(self);
    *record = row->tensor;
    record->requires_grad =
        phase == MODEL_PHASE_INFER ? BOOL_FALSE : tensor_rows_learns(self->graph, node);
    record->execution_phase = phase;
    return tensor_id(self, phase, node, &record->id) && add_sources(self, node, phase, record)
               ? CG_OK
               : nomem(self);
}

static bool is_operation(const flow_node *at)
{
    return at->kind == FLOW_OPERATION || at->kind == FLOW_CONSTANT ||
           (at->kind == FLOW_UNKNOWN && at->edge_count > 0);
}

static void fill_rules(model_operation *record, const flow_node *at)
{
    bool moves = str_equal(record->name, CG_LIT("to_device"));

    record->dtype_rule = at->row ? str_from(operation_dtype_rule(at->row)) : CG_LIT("Unknown");
    record->gradient_rule =
        at->row ? str_from(operation_gradient_rule(at->row)) : CG_LIT("Unknown");
    record->shape_rule =
        at->row ? str_from(operation_shape_rule(at->row)) : CG_LIT("preserve_or_operation_defined");
    record->device_rule = moves ? CG_LIT("explicit") : CG_LIT("preserve");
    record->domain_rule = str_from(interval_label(at->facts.domain));
}

static cg_code add_use(writer *self, node_ref parameter, cg_str used_by)
{
    dataflow_use *use = vec_add(self->out->heap, &self->out->uses);

    if (!use)
        return nomem(self);
    use->operation = used_by;
    return parameter_id(self, parameter, &use->parameter) ? CG_OK : nomem(self);
}

static cg_code add_operation(writer *self, node_ref node, uint8_t phase, const node_row *row)
{
    model_operation *record = draft_operation(self->draft);
    const flow_node *at = flow_at(self->graph, node);
    cg_str path = program_text(self->out->eval->program, at->name);
    size_t edge_count;
    const flow_edge *edges = flow_edges(self->graph, node, &edge_count);

    if (!record || !make_id(self, self->operations[phase], node, &record->id) ||
        !tensor_id(self, phase, node, &record->output))
        return nomem(self);
    record->function = self->run->function->id;
    record->name = at->row ? operation_name(at->row) : leaf_of(path);
    if (str_find(path, CG_LIT("::")) != SIZE_MAX)
        record->qualified_name = path;
    record->source = row->source;
    record->location = row->tensor.location;
    record->execution_phase = phase;
    record->evidence = row->tensor.evidence;
    if (self->is_unsure[node])
        record->is_operand_known = BOOL_FALSE;
    fill_rules(record, at);
    for (size_t i = 0; i < edge_count; i++) {
        const flow_edge *edge = &edges[i];
        cg_str id;

        if (!edge->from || edge->role == FLOW_BODY)
            continue;
        if (flow_at(self->graph, edge->from)->kind == FLOW_PARAMETER)
            CG_TRY(add_use(self, edge->from, record->id));
        if (edge->role == FLOW_MODULE || !self->is_listed[edge->from])
            continue;
        if (!tensor_id(self, phase, edge->from, &id) ||
            !draft_text(self->draft, &record->inputs, id))
            return nomem(self);
    }
    return CG_OK;
}

/* --- one entry --- */

/* Logarithms, roots, powers and divisors of what nobody knows. */
static void mark_unsure(writer *self)
{
    for (size_t i = 0; i < self->graph->requirements.count; i++) {
        const flow_requirement *row = &self->graph->requirements.at[i];

        if (row->result == CHECK_UNKNOWN &&
            (row->need == FLOW_NEED_POSITIVE || row->need == FLOW_NEED_NONNEGATIVE ||
             row->need == FLOW_NEED_NONZERO))
            self->is_unsure[row->node] = true;
    }
}

/* Tensors of this run, and what the constructor made that they are made from. */
static void list_nodes(writer *self)
{
    uint32_t since = self->run->since.nodes;

    for (node_ref n = self->node_count; n-- > 1;) {
        const flow_node *at = flow_at(self->graph, n);
        size_t edge_count;
        const flow_edge *edges = flow_edges(self->graph, n, &edge_count);

        if (n >= since)
            self->is_listed[n] = !at->is_forgotten && !at->body;
        if (!self->is_listed[n])
            continue;
        for (size_t i = 0; i < edge_count; i++) {
            node_ref from = edges[i].from;

            if (from && from < since && edges[i].role != FLOW_BODY &&
                (edges[i].role != FLOW_MODULE ||
                 flow_at(self->graph, from)->kind != FLOW_PARAMETER))
                self->is_listed[from] = true;
        }
    }
}

static cg_code count_gaps(writer *self)
{
    dataflow *out = self->out;

    for (size_t i = self->run->since.uncovered; i < self->graph->uncovered.count; i++) {
        uint32_t name = self->graph->uncovered.at[i];
        uint32_t *slot =
            number_map_put(&out->gap_of, number_map_key(1, name), (uint32_t)out->gaps.count);

        if (!slot)
            return nomem(self);
        if (*slot == out->gaps.count) {
            dataflow_gap *gap = vec_add(out->heap, &out->gaps);

            if (!gap)
                return nomem(self);
            *gap = (dataflow_gap){.name = program_text(out->eval->program, name)};
        }
        out->gaps.at[*slot].count++;
    }
    return CG_OK;
}

static void count(writer *self, node_ref node)
{
    dataflow_figures *figures = &self->out->figures;
    const flow_node *at = flow_at(self->graph, node);
    sym source = 0;
    bool has_dtype = flow_dtype(self->graph, node, &source) != ELEMENT_UNKNOWN || source != 0;

    figures->tensors++;
    figures->with_dtype += has_dtype;
    figures->with_rank += at->facts.has_rank;
    figures->unknown += at->kind == FLOW_UNKNOWN;
}

static bool is_argument(const model_function *record, cg_str name)
{
    const model_argument *arguments = record->parameters.at;

    for (size_t i = 0; i < record->parameters.count; i++) {
        if (str_equal(arguments[i].name, name))
            return true;
    }
    return false;
}

static cg_code write_function(writer *self, uint8_t phase)
{
    const entry_run *run = self->run;
    model_function *record = run->function->record;
    bool is_first = record->execution_phases.count == 0;
    cg_str id;

    if (!draft_text(self->draft, &record->execution_phases, sc_word(&words_model_phase, phase)))
        return nomem(self);
    if (!is_first)
        return CG_OK;
    for (node_ref n = run->since.nodes; n < self->node_count; n++) {
        const flow_node *at = flow_at(self->graph, n);

        if (at->kind != FLOW_INPUT || !self->is_listed[n] ||
            !is_argument(record, program_text(self->out->eval->program, at->name)))
            continue;
        if (!tensor_id(self, phase, n, &id) || !draft_text(self->draft, &record->tensor_inputs, id))
            return nomem(self);
    }
    for (size_t i = 0; i < run->output_count; i++) {
        if (!self->is_listed[run->outputs[i]])
            continue;
        if (!tensor_id(self, phase, run->outputs[i], &id) ||
            !draft_text(self->draft, &record->tensor_outputs, id))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code write_run(writer *self)
{
    const entry_run *run = self->run;
    arena *work = &self->out->work;
    bool trains = (run->phases & PHASES_TRAIN) != 0;

    self->is_listed = arena_zero(work, self->node_count);
    self->is_output = arena_zero(work, self->node_count);
    self->is_unsure = arena_zero(work, self->node_count);
    if (!self->is_listed || !self->is_output || !self->is_unsure)
        return nomem(self);
    mark_unsure(self);
    if (run->component && !id_make(self->mem, MODEL_ID_KIND_COMPONENT,
                                   ID_PARTS(run->component->qualified), &self->component))
        return nomem(self);
    if (!keep_parameter_ids(self))
        return nomem(self);
    list_nodes(self);
    for (size_t i = 0; i < run->output_count; i++) {
        self->is_output[run->outputs[i]] = true;
        self->is_listed[run->outputs[i]] = true;
    }
    for (uint8_t phase = MODEL_PHASE_TRAIN; phase <= MODEL_PHASE_INFER; phase++) {
        if (!(run->phases & (1u << phase)))
            continue;
        self->ids[phase] = arena_zero(work, self->node_count * sizeof *self->ids[phase]);
        if (!self->ids[phase] ||
            !make_prefix(self, MODEL_ID_KIND_TENSOR, phase, &self->tensors[phase]) ||
            !make_prefix(self, MODEL_ID_KIND_OPERATION, phase, &self->operations[phase]))
            return nomem(self);
        CG_TRY(write_function(self, phase));
    }
    for (node_ref n = 1; n < self->node_count; n++) {
        node_row row;

        if (!self->is_listed[n])
            continue;
        CG_TRY(describe(self, n, &row));
        for (uint8_t phase = MODEL_PHASE_TRAIN; phase <= MODEL_PHASE_INFER; phase++) {
            if (!(run->phases & (1u << phase)))
                continue;
            CG_TRY(add_tensor(self, n, phase, &row));
            if (is_operation(flow_at(self->graph, n)))
                CG_TRY(add_operation(self, n, phase, &row));
        }
        if (trains)
            count(self, n);
    }
    self->out->figures.entries += trains;
    self->out->figures.with_output += trains && run->output_count > 0;
    return count_gaps(self);
}

cg_code dataflow_read(void *context, const entry_run *run, cg_err *reterr)
{
    dataflow *out = context;
    writer self = {
        .out = out,
        .run = run,
        .graph = run->graph,
        .draft = out->draft,
        .mem = &out->draft->mem,
        .node_count = (uint32_t)run->graph->nodes.count,
        .reterr = reterr,
    };
    arena_place place = arena_mark(&out->work);
    cg_code code = write_run(&self);

    arena_reset(&out->work, place);
    return code;
}

/* --- what parameters are used by --- */

static bool use_before(const void *context, uint32_t a, uint32_t b)
{
    const dataflow_use *uses = context;

    return str_compare(uses[a].parameter, uses[b].parameter) < 0;
}

/* The first use of the parameter in `order`. */
static size_t find_use(const dataflow *self, const uint32_t *order, cg_str parameter)
{
    size_t lo = 0, hi = self->uses.count;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (str_compare(self->uses.at[order[middle]].parameter, parameter) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

cg_code dataflow_report(dataflow *self, cg_err *reterr)
{
    size_t count = self->uses.count;
    uint32_t *order = arena_take(&self->work, (2 * count + 1) * sizeof *order);

    if (!order)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, use_before, self->uses.at);
    for (size_t i = 0; i < self->draft->lists[MODEL_PARAMETERS].count; i++) {
        model_parameter *record = self->draft->lists[MODEL_PARAMETERS].at[i];

        for (size_t k = find_use(self, order, record->id);
             k < count && str_equal(self->uses.at[order[k]].parameter, record->id); k++) {
            if (!draft_text(self->draft, &record->uses, self->uses.at[order[k]].operation))
                return err_nomem(reterr);
        }
    }
    return CG_OK;
}

/* --- figures --- */

static bool gap_before(const void *context, uint32_t a, uint32_t b)
{
    const dataflow_gap *gaps = context;

    return gaps[a].count > gaps[b].count;
}

/* Gaps by count, the most frequent first; in the order of the source among equals. */
static void dataflow_sort_gaps(dataflow *self)
{
    size_t count = self->gaps.count;
    uint32_t *order = arena_take(&self->work, (2 * count + 1) * sizeof *order);
    dataflow_gap *sorted = arena_take(&self->work, (count + 1) * sizeof *sorted);

    if (!order || !sorted)
        return;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, gap_before, self->gaps.at);
    for (size_t i = 0; i < count; i++)
        sorted[i] = self->gaps.at[order[i]];
    if (count)
        memcpy(self->gaps.at, sorted, count * sizeof *sorted);
}

static void write_share(buf *out, const char *what, uint64_t part, uint64_t whole)
{
    /* In tenths of a percent, rounded to the nearest. */
    uint64_t share = whole ? (part * 2000 + whole) / (2 * whole) : 0;

    buf_addf(out, "| %s | %llu of %llu | %llu.%llu %% |\n", what, (unsigned long long)part,
             (unsigned long long)whole, (unsigned long long)(share / 10),
             (unsigned long long)(share % 10));
}

void dataflow_figures_text(dataflow *self, cg_str crate, buf *out)
{
    const dataflow_figures *figures = &self->figures;

    buf_addf(out, "## %.*s\n\n| entries that train, and their tensors | | |\n| --- | --- | --- |\n",
             (int)crate.len, crate.ptr);
    write_share(out, "entries with an output", figures->with_output, figures->entries);
    write_share(out, "dtype known, or that of a named source", figures->with_dtype,
                figures->tensors);
    write_share(out, "rank known", figures->with_rank, figures->tensors);
    write_share(out, "made by nobody knows what", figures->unknown, figures->tensors);
    dataflow_sort_gaps(self);
    buf_addf(out, "\nCalls of Candle that no row of the operation table describes: %zu\n",
             self->gaps.count);
    if (self->gaps.count > 0)
        buf_add(out, CG_LIT("\n| call | how often |\n| --- | --- |\n"));
    for (size_t i = 0; i < self->gaps.count; i++)
        buf_addf(out, "| `%.*s` | %llu |\n", (int)self->gaps.at[i].name.len,
                 self->gaps.at[i].name.ptr, (unsigned long long)self->gaps.at[i].count);
}
