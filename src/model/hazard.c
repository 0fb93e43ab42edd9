#include "model/hazard.h"

#include "base/buf.h"
#include "model/catalogue.h"
#include "model/flow_build.h"
#include "model/rules.h"

typedef struct meeting { /* of the hazards with one entry */
    hazards *all;
    const entry_run *run;
    flow *graph;
    program *program;
    impact_map impact;
    cg_err *reterr;
} meeting;

void hazards_init(hazards *self, const eval *interpreter, heap *from)
{
    *self = (hazards){.heap = from, .eval = interpreter};
    arena_init(&self->mem, from);
    arena_init(&self->work, from);
    number_map_init(&self->by_call, from);
}

void hazards_free(hazards *self)
{
    if (!self->heap)
        return;
    for (size_t i = 0; i < self->rows.count; i++)
        vec_free(self->heap, &self->rows.at[i].entries);
    vec_free(self->heap, &self->rows);
    vec_free(self->heap, &self->guesses);
    vec_free(self->heap, &self->next);
    number_map_free(&self->by_call);
    arena_free(&self->mem);
    arena_free(&self->work);
    *self = (hazards){0};
}

static cg_code nomem(const meeting *self)
{
    return err_nomem(self->reterr);
}

static const flow_node *node_at(const meeting *self, node_ref which)
{
    return flow_at(self->graph, which);
}

/* --- names --- */

/* What a library's function fails in, when its operands do not fit. */
static const struct {
    const char *call;
    const char *inside;
} INSIDES[] = {
    {"Linear::forward", "candle_core::Tensor::matmul"},
    {"Embedding::forward", "candle_core::Tensor::index_select"},
    {"Conv1d::forward", "candle_core::Tensor::conv1d"},
    {"Conv2d::forward", "candle_core::Tensor::conv2d"},
    {"ConvTranspose1d::forward", "candle_core::Tensor::conv_transpose1d"},
    {"ConvTranspose2d::forward", "candle_core::Tensor::conv_transpose2d"},
    {"LayerNorm::forward", "candle_core::Tensor::broadcast_mul"},
    {"RmsNorm::forward", "candle_core::Tensor::broadcast_mul"},
    {"RmsNorm::forward_diff", "candle_core::Tensor::broadcast_mul"},
    {"GroupNorm::forward", "candle_core::Tensor::broadcast_mul"},
    {"BatchNorm::forward_t", "candle_core::Tensor::broadcast_mul"},
    {"BatchNorm::forward_train", "candle_core::Tensor::broadcast_mul"},
    {"PReLU::forward", "candle_core::Tensor::broadcast_mul"},
    {"LSTM::step", "candle_core::Tensor::matmul"},
    {"GRU::step", "candle_core::Tensor::matmul"},
    {"rms_norm_slow", "candle_core::Tensor::broadcast_mul"},
    {"layer_norm_slow", "candle_core::Tensor::broadcast_mul"},
    {"rope_slow", "candle_core::Tensor::broadcast_mul"},
    {"rope_i_slow", "candle_core::Tensor::broadcast_mul"},
    {"mse", "candle_core::Tensor::sub"},
    {"huber", "candle_core::Tensor::sub"},
    {"binary_cross_entropy_with_logit", "candle_core::Tensor::mul"},
};

static const char *inside_of(operation row)
{
    for (size_t i = 0; i < sizeof INSIDES / sizeof INSIDES[0]; i++) {
        if (str_equal(operation_name(row), str_from(INSIDES[i].call)))
            return INSIDES[i].inside;
    }
    return NULL;
}

static const flow_edge *edge_of(const meeting *self, node_ref node, node_ref from)
{
    size_t count = 0;
    const flow_edge *edges = flow_edges(self->graph, node, &count);

    for (size_t i = 0; i < count; i++) {
        if (edges[i].from == from && edges[i].role != FLOW_BODY && edges[i].role != FLOW_HOST)
            return &edges[i];
    }
    return NULL;
}

static bool is_bias(const meeting *self, node_ref node, node_ref from)
{
    const flow_edge *edge = from ? edge_of(self, node, from) : NULL;

    return edge && edge->role == FLOW_MODULE &&
           str_equal(program_text(self->program, edge->name), CG_LIT("bias"));
}

static cg_str path_of(const flow_node *node)
{
    return node->row ? str_from(operation_at(node->row)->path) : (cg_str){0};
}

/* The fused kernels of normalisations check their operands themselves. */
static const char *kernel_of(const meeting *self, node_ref which)
{
    const flow_node *node = node_at(self, which);
    size_t count = 0;
    const flow_edge *edges = flow_edges(self->graph, which, &count);

    if (operation_at(node->row)->gradient != GRADIENT_DEPENDS || count == 0 ||
        edges[0].passes != FLOW_SEVERED)
        return NULL;
    return str_starts_with(operation_name(node->row), CG_LIT("RmsNorm"))
               ? "candle_nn::ops::rms_norm"
               : "candle_nn::ops::layer_norm";
}

static void name_operation(const meeting *self, const flow_requirement *row, hazard *to)
{
    const flow_node *node = node_at(self, row->node);
    const char *inside = NULL;

    if (row->call.len)
        return;
    to->operation = path_of(node);
    if (node->body) {
        to->call = path_of(node_at(self, node->body));
        return;
    }
    if (is_bias(self, row->node, row->operand) || is_bias(self, row->node, row->other))
        inside = "candle_core::Tensor::broadcast_add";
    if (!inside)
        inside = kernel_of(self, row->node);
    if (!inside)
        inside = inside_of(node->row);
    if (inside) {
        to->call = to->operation;
        to->operation = str_from(inside);
    }
}

/* The parameters of functions with more than two operands, the receiver first. */
static const struct {
    const char *call;
    const char *names[4];
} PARAMETERS[] = {
    {"where_cond", {"self", "on_true", "on_false"}},
    {"gather", {"self", "indexes"}},
    {"index_select", {"self", "indexes"}},
    {"embedding", {"self", "ids"}},
    {"index_add", {"self", "indexes", "source"}},
    {"scatter", {"self", "indexes", "source"}},
    {"scatter_add", {"self", "indexes", "source"}},
    {"conv1d", {"self", "kernel"}},
    {"conv2d", {"self", "kernel"}},
    {"conv_transpose1d", {"self", "kernel"}},
    {"conv_transpose2d", {"self", "kernel"}},
    {"rms_norm", {"xs", "alpha"}},
    {"layer_norm", {"xs", "alpha", "beta"}},
    {"rope", {"xs", "cos", "sin"}},
    {"rope_i", {"xs", "cos", "sin"}},
    {"rope_thd", {"xs", "cos", "sin"}},
    {"sdpa", {"q", "k", "v"}},
    {"clamp", {"self", "min", "max"}},
};

static bool is_layer(const meeting *self, node_ref node)
{
    return operation_at(node_at(self, node)->row)->operands[0] == 'm';
}

/* Where an operand of a layer stands in the operation inside; a table of ids comes first. */
static size_t layer_position(const meeting *self, const hazard *of, const flow_edge *edge)
{
    bool is_table = str_ends_with(of->operation, CG_LIT("::index_select"));

    if (edge->role != FLOW_MODULE)
        return is_table;
    if (is_table)
        return 0;
    return str_ends_with(of->operation, CG_LIT("::layer_norm")) &&
                   str_equal(program_text(self->program, edge->name), CG_LIT("bias"))
               ? 2
               : 1;
}

static bool name_operand(meeting *self, const hazard *of, node_ref node, const flow_edge *edge,
                         bool is_second, cg_str *ret)
{
    size_t colon = str_find_last(of->operation, ':');
    cg_str word = colon == SIZE_MAX
                      ? of->operation
                      : (cg_str){of->operation.ptr + colon + 1, of->operation.len - colon - 1};
    size_t position = is_second;
    arena *mem = &self->all->mem;

    if (edge && edge->role == FLOW_ITEM)
        return arena_format(mem, ret, "args[%u]", edge->index);
    if (edge && of->call.len && is_layer(self, node))
        position = layer_position(self, of, edge);
    else if (edge && edge->role == FLOW_ARGUMENT)
        position = edge->index + 1u;
    for (size_t i = 0; i < sizeof PARAMETERS / sizeof PARAMETERS[0]; i++) {
        const char *const *names = PARAMETERS[i].names;

        if (!str_equal(word, str_from(PARAMETERS[i].call)))
            continue;
        if (position < 4 && names[position]) {
            *ret = str_from(names[position]);
            return true;
        }
    }
    if (edge && edge->role == FLOW_ARGUMENT && position > 1)
        return arena_format(mem, ret, "argument %u", (unsigned)position);
    *ret = (edge && edge->role == FLOW_RHS) || position > 0 ? CG_LIT("rhs") : CG_LIT("lhs");
    if (position == 0 && (!edge || edge->role == FLOW_SELF))
        *ret = CG_LIT("self");
    return true;
}

static cg_str label_of(const meeting *self, node_ref which)
{
    const flow_node *node = node_at(self, which);

    switch ((enum flow_kind)node->kind) {
    case FLOW_PARAMETER: return node->parameter->printed;
    case FLOW_OPERATION:
    case FLOW_CONSTANT: return operation_name(node->row);
    case FLOW_JOIN: return CG_LIT("one of several values");
    case FLOW_LOOP: return CG_LIT("a value carried around a loop");
    case FLOW_INPUT:
    case FLOW_UNKNOWN: return program_text(self->program, node->name);
    case FLOW_NONE: break;
    }
    return CG_LIT("?");
}

/* --- what is kept of an operand --- */

static cg_code copy_axes(meeting *self, const flow_facts *facts, hazard_operand *to)
{
    size_t count = facts->rank + (facts->has_rank ? 0u : 1u);
    cg_str *axes = arena_zero(&self->all->mem, (count + 1) * sizeof *axes);
    buf text;

    if (!axes)
        return nomem(self);
    to->axes = axes;
    to->axis_count = count;
    if (!facts->has_rank)
        *axes++ = CG_LIT("..");
    for (unsigned i = 0; i < facts->rank; i++) {
        bool is_good, is_numbered;

        buf_init(&text, self->all->heap, SIZE_MAX);
        if (facts->axes[i] == EXPR_NONE)
            buf_byte(&text, '_');
        else
            expr_print(self->all->eval->exprs, facts->axes[i], &text);
        /* Numbers of tensors would change with every edit. */
        is_numbered = str_find(buf_text(&text), CG_LIT("#")) != SIZE_MAX;
        is_good = !text.failed && arena_text(&self->all->mem,
                                             is_numbered ? CG_LIT("_") : buf_text(&text), &axes[i]);
        buf_free(&text);
        if (!is_good)
            return nomem(self);
    }
    return CG_OK;
}

static cg_code keep_operand(meeting *self, hazard *of, node_ref node, node_ref which,
                            bool is_second, hazard_operand *to)
{
    const flow_facts *facts = &node_at(self, which)->facts;

    if (!which)
        return CG_OK;
    if (!name_operand(self, of, node, edge_of(self, node, which), is_second, &to->name) ||
        !arena_text(&self->all->mem, label_of(self, which), &to->label))
        return nomem(self);
    to->element = (uint8_t)flow_dtype(self->graph, which, NULL);
    to->device = facts->device;
    if (facts->device == FLOW_SAME_DEVICE &&
        !arena_text(&self->all->mem, program_text(self->program, facts->device_name),
                    &to->device_name))
        return nomem(self);
    return copy_axes(self, facts, to);
}

/* --- one hazard per call --- */

static bool is_scanned(const meeting *self, model_place place)
{
    const program *code_of = self->program;

    return place.file && place.function &&
           code_of->crates.at[code_of->modules.at[code_of->items.at[place.function].module].crate]
               .is_scanned;
}

static bool is_same(const hazard *a, const hazard *b)
{
    bool are_dtypes = (a->code == RULE_CODE_DTYPE_RISK || a->code == RULE_CODE_DTYPE_CONFLICT) &&
                      (b->code == RULE_CODE_DTYPE_RISK || b->code == RULE_CODE_DTYPE_CONFLICT);

    return (a->code == b->code || are_dtypes) && a->place.file == b->place.file &&
           a->place.start == b->place.start && a->place.end == b->place.end;
}

static bool is_stronger(const hazard *a, const hazard *b)
{
    if (a->confidence != b->confidence)
        return a->confidence > b->confidence;
    if (a->severity != b->severity)
        return a->severity > b->severity;
    return a->impact > b->impact;
}

static cg_code add_entry(meeting *self, hazard *to)
{
    uint32_t item = self->run->function->item;
    uint32_t *slot;

    for (size_t i = 0; i < to->entries.count; i++) {
        if (to->entries.at[i] == item)
            return CG_OK;
    }
    slot = vec_add(self->all->heap, &to->entries);
    if (!slot)
        return nomem(self);
    *slot = item;
    return CG_OK;
}

/* The row of the call, or a new one; *ret_better: the facts of `what` are to be taken over. */
static cg_code find_row(meeting *self, const hazard *what, hazard **ret, bool *ret_better)
{
    hazards *all = self->all;
    uint32_t *first =
        number_map_put(&all->by_call, number_map_key(what->place.file, what->place.start + 1), 0);
    uint32_t *link;

    if (!first)
        return nomem(self);
    for (uint32_t i = *first; i; i = all->next.at[i - 1]) {
        if (is_same(&all->rows.at[i - 1], what)) {
            *ret = &all->rows.at[i - 1];
            *ret_better = is_stronger(what, *ret);
            return CG_OK;
        }
    }
    link = vec_add(all->heap, &all->next);
    *ret = link ? vec_add(all->heap, &all->rows) : NULL;
    if (!*ret)
        return nomem(self);
    *link = *first;
    *first = (uint32_t)all->rows.count;
    **ret = *what;
    *ret_better = true;
    return CG_OK;
}

/* Keep a hazard of a requirement, or of two operands that do not fit. */
static cg_code keep(meeting *self, const flow_requirement *row, hazard *what)
{
    hazard *to = NULL;
    bool is_better = false;

    what->need = row->need;
    what->place = row->place.file ? row->place : node_at(self, row->node)->place;
    if (!is_scanned(self, what->place))
        return CG_OK;
    CG_TRY(find_row(self, what, &to, &is_better));
    CG_TRY(add_entry(self, to));
    if (!is_better)
        return CG_OK;
    uint8_t severity = to->severity > what->severity ? to->severity : what->severity;
    hazard kept = *what;

    kept.severity = severity;
    kept.entries.at = to->entries.at;
    kept.entries.count = to->entries.count;
    kept.entries.capacity = to->entries.capacity;
    name_operation(self, row, &kept);
    if (what->operation.len)
        kept.operation = what->operation;
    if (row->call.len && !arena_text(&self->all->mem, row->call, &kept.operation))
        return nomem(self);
    CG_TRY(keep_operand(self, &kept, row->node, row->operand, false, &kept.operands[0]));
    CG_TRY(keep_operand(self, &kept, row->node, row->other, true, &kept.operands[1]));
    if (kept.detail.len && !arena_text(&self->all->mem, kept.detail, &kept.detail))
        return nomem(self);
    *to = kept;
    return CG_OK;
}

static uint8_t confidence_of(const meeting *self, node_ref node)
{
    return node_at(self, node)->is_conditional ? MODEL_CONFIDENCE_CONDITIONAL
                                               : MODEL_CONFIDENCE_PROVEN;
}

/* --- numbers --- */

static bool is_row(const flow_node *node, const char *name)
{
    return node->row && str_equal(operation_name(node->row), str_from(name));
}

static cg_code meet_number(meeting *self, const flow_requirement *row)
{
    interval domain = row->operand ? node_at(self, row->operand)->facts.domain : interval_point(0);
    enum impact impact = impact_at(&self->impact, row->node);
    hazard what = {
        .code = RULE_CODE_NUMERIC_DOMAIN_VIOLATION,
        .severity = impact_severity(&self->impact, impact),
        .confidence = MODEL_CONFIDENCE_PROVEN,
        .impact = (uint8_t)impact,
        .domain = interval_phrase(domain),
        .detail = row->text,
    };
    flow_requirement about = *row;

    if (row->result != CHECK_FAILS)
        return CG_OK;
    about.other = 0;
    return keep(self, &about, &what);
}

/* The product of something that can be 0 and a logarithm that can be infinite. */
static cg_code meet_product(meeting *self, const flow_requirement *row)
{
    const flow_node *node = node_at(self, row->node);
    enum impact impact = impact_at(&self->impact, row->node);
    hazard what = {
        .code = RULE_CODE_ZERO_TIMES_INFINITY,
        .severity = impact_severity(&self->impact, impact),
        .confidence = MODEL_CONFIDENCE_PROVEN,
        .impact = (uint8_t)impact,
        .domain = interval_phrase(node_at(self, row->operand)->facts.domain),
    };

    if (row->result != CHECK_FAILS)
        return CG_OK;
    if (node->body)
        what.operation = path_of(node_at(self, row->other));
    CG_TRY(keep(self, row, &what));
    if (!node->body || impact < IMPACT_GRADIENT)
        return CG_OK;
    what.code = RULE_CODE_UNSTABLE_LIBRARY_LOSS;
    what.severity = MODEL_FINDING_SEVERITY_ERROR;
    return keep(self, row, &what);
}

/* --- types, sizes, places --- */

/* Products with quantised weights give what comes in, and take little else than F32. */
static bool is_quantized(const meeting *self, node_ref which)
{
    const flow_node *node = node_at(self, which);

    return node->row && str_starts_with(operation_name(node->row), CG_LIT("QMatMul"));
}

static cg_code meet_dtype(meeting *self, const flow_requirement *row)
{
    hazard what = {
        .code = RULE_CODE_DTYPE_CONFLICT,
        .severity = MODEL_FINDING_SEVERITY_ERROR,
        .confidence = confidence_of(self, row->node),
    };

    if (row->result == CHECK_HOLDS)
        return CG_OK;
    if (row->result == CHECK_UNKNOWN) {
        /* It is the caller's when it has a name; else it is only not known here. */
        if (!row->is_named || is_quantized(self, row->operand) || is_quantized(self, row->other))
            return CG_OK;
        /* Who calls a private function of a program is followed as well, and knows. */
        if (!self->run->function->record->is_entrypoint)
            return CG_OK;
        what.is_swapped = row->open_operand == row->operand;
        what.code = RULE_CODE_DTYPE_RISK;
        what.severity = MODEL_FINDING_SEVERITY_WARNING;
        what.confidence = MODEL_CONFIDENCE_CONDITIONAL;
    }
    return keep(self, row, &what);
}

/* Under a condition, sizes that hold under another one prove nothing. */
static bool is_doubtful(const meeting *self, node_ref which)
{
    const flow_node *node = node_at(self, which);

    return which && (node->kind == FLOW_JOIN || node->kind == FLOW_LOOP ||
                     (node->kind == FLOW_OPERATION && node->is_conditional));
}

static cg_code meet_shape(meeting *self, const flow_requirement *row)
{
    hazard what = {
        .code = RULE_CODE_SHAPE_MISMATCH,
        .severity = MODEL_FINDING_SEVERITY_ERROR,
        .confidence = confidence_of(self, row->node),
        .detail = row->text,
    };

    if (row->result != CHECK_FAILS ||
        (node_at(self, row->node)->is_conditional &&
         (is_doubtful(self, row->operand) || is_doubtful(self, row->other))))
        return CG_OK;
    return keep(self, row, &what);
}

static bool is_more_than_one(const meeting *self, expr size)
{
    int64_t it;

    return size != EXPR_NONE && expr_constant(self->all->eval->exprs, size, &it) && it > 1;
}

static cg_code meet_layout(meeting *self, const flow_requirement *row)
{
    const flow_facts *facts = &node_at(self, row->operand)->facts;
    node_ref made_by = row->other ? row->other : facts->strided_by;
    flow_requirement about = *row;
    hazard what = {
        .code = RULE_CODE_LAYOUT_CONTRACT,
        .severity = MODEL_FINDING_SEVERITY_WARNING,
        .confidence = confidence_of(self, row->node),
        .is_size_certain = facts->has_rank,
    };

    if (row->result != CHECK_FAILS)
        return CG_OK;
    for (unsigned i = 0; i < facts->rank; i++)
        what.is_size_certain &= is_more_than_one(self, facts->axes[i]);
    if (!what.is_size_certain)
        what.confidence = MODEL_CONFIDENCE_CONDITIONAL;
    if (made_by && node_at(self, made_by)->place.file) {
        what.producer = path_of(node_at(self, made_by));
        what.producer_place = node_at(self, made_by)->place;
    }
    about.other = 0;
    return keep(self, &about, &what);
}

static bool knows_version(const meeting *self)
{
    const catalogue *known = self->all->eval->catalogue;

    return known && known->candle_core != 0;
}

static cg_code meet_kernel(meeting *self, const flow_requirement *row)
{
    const flow_node *node = node_at(self, row->node);
    bool is_backend =
        row->need == FLOW_NEED_KERNEL && (operation_at(node->row)->needs & NEED_GPU) != 0;
    hazard what = {
        .code = is_backend ? RULE_CODE_BACKEND_UNSUPPORTED : RULE_CODE_DTYPE_UNSUPPORTED,
        .severity = MODEL_FINDING_SEVERITY_WARNING,
        .confidence = confidence_of(self, row->node),
        .detail = row->text,
    };

    /* Which kernels there are depends on the version. */
    if (row->need == FLOW_NEED_KERNEL && !knows_version(self))
        what.confidence = MODEL_CONFIDENCE_CONDITIONAL;
    return row->result == CHECK_FAILS ? keep(self, row, &what) : CG_OK;
}

static cg_code meet(meeting *self, const flow_requirement *row)
{
    if (node_at(self, row->node)->is_forgotten)
        return CG_OK;
    switch ((enum flow_need)row->need) {
    case FLOW_NEED_POSITIVE:
    case FLOW_NEED_NONNEGATIVE:
    case FLOW_NEED_NONZERO: return meet_number(self, row);
    case FLOW_NEED_FINITE: return meet_product(self, row);
    case FLOW_NEED_DTYPE: return meet_dtype(self, row);
    case FLOW_NEED_SHAPE:
    case FLOW_NEED_RANK: return meet_shape(self, row);
    case FLOW_NEED_LAYOUT: return meet_layout(self, row);
    case FLOW_NEED_KERNEL:
    case FLOW_NEED_INTEGER: return meet_kernel(self, row);
    case FLOW_NEED_DEVICE:
    case FLOW_NEED_COUNT: break;
    }
    return CG_OK;
}

/* --- devices --- */

static bool is_device(uint8_t device)
{
    return device == FLOW_CPU || device == FLOW_CUDA || device == FLOW_METAL;
}

/* Devices that a builder names: `vb.device()`. */
static cg_code builder_devices(meeting *self, number_map *ret)
{
    for (node_ref n = 1; n < self->graph->nodes.count; n++) {
        const flow_node *node = node_at(self, n);

        if (node->kind == FLOW_PARAMETER && node->facts.device == FLOW_SAME_DEVICE &&
            !number_map_put(ret, number_map_key(node->facts.device_name, 1), 1))
            return nomem(self);
    }
    return CG_OK;
}

/* Is it where the parameters are: named by the builder, or made of them? */
static bool is_builders(const number_map *devices, const flow_facts *facts)
{
    return facts->device == FLOW_SAME_DEVICE &&
           (facts->carries == FLOW_YES ||
            number_map_find(devices, number_map_key(facts->device_name, 1)));
}

/* Operands of one call on devices that differ: known ones, or one that only a builder knows. */
static cg_code meet_devices_of(meeting *self, const number_map *devices, node_ref which,
                               uint8_t *is_mixed)
{
    size_t count = 0;
    const flow_edge *edges = flow_edges(self->graph, which, &count);
    node_ref known = 0, other = 0;
    bool is_proven = false;

    for (size_t i = 0; i < count; i++) {
        const flow_facts *facts = &node_at(self, edges[i].from)->facts;

        if (edges[i].role == FLOW_HOST || edges[i].role == FLOW_BODY)
            continue;
        is_mixed[which] |= is_mixed[edges[i].from];
        if (is_device(facts->device) && !known) {
            known = edges[i].from;
        } else if (is_device(facts->device) && !is_proven &&
                   facts->device != node_at(self, known)->facts.device) {
            other = edges[i].from;
            is_proven = true;
        } else if (!other && is_builders(devices, facts)) {
            other = edges[i].from;
        }
    }
    if (is_mixed[which] || !known || !other)
        return CG_OK;
    is_mixed[which] = true;
    bool is_first = edge_of(self, which, known) < edge_of(self, which, other);
    flow_requirement row = {
        .node = which,
        .operand = is_first ? known : other,
        .other = is_first ? other : known,
        .need = FLOW_NEED_DEVICE,
        .result = is_proven ? CHECK_FAILS : CHECK_UNKNOWN,
    };
    hazard what = {
        .code = RULE_CODE_DEVICE_MISMATCH,
        .severity = is_proven ? MODEL_FINDING_SEVERITY_ERROR : MODEL_FINDING_SEVERITY_WARNING,
        .confidence = is_proven ? confidence_of(self, which) : MODEL_CONFIDENCE_CONDITIONAL,
    };

    return keep(self, &row, &what);
}

static bool meets_operands(const flow_node *node)
{
    return node->kind == FLOW_OPERATION && !node->is_forgotten && !node->body &&
           !is_row(node, "to_device");
}

static cg_code meet_devices(meeting *self)
{
    uint8_t *is_mixed = arena_zero(&self->all->work, self->graph->nodes.count);
    number_map devices;
    cg_code code;

    if (!is_mixed)
        return nomem(self);
    number_map_init(&devices, self->all->heap);
    code = builder_devices(self, &devices);
    for (node_ref n = 1; code == CG_OK && n < self->graph->nodes.count; n++) {
        const flow_node *node = node_at(self, n);

        if (meets_operands(node))
            code = meet_devices_of(self, &devices, n, is_mixed);
        else if (node->kind == FLOW_JOIN || node->kind == FLOW_LOOP) {
            for (uint32_t i = 0; i < node->edge_count; i++)
                is_mixed[n] |= is_mixed[self->graph->edges.at[node->first_edge + i].from];
        }
    }
    number_map_free(&devices);
    return code;
}

/* --- kernels of integers --- */

/* What candle has for floats only; whole numbers stop with an error or a panic. */
static bool is_float_only(const flow_node *node)
{
    static const char *const names[] = {
        "exp",
        "log",
        "sin",
        "cos",
        "tanh",
        "neg",
        "recip",
        "sqrt",
        "sqr",
        "gelu",
        "silu",
        "gelu_erf",
        "erf",
        "elu",
        "powf",
        "softmax",
        "mish",
        "softmax_last_dim",
        "sigmoid",
        "log_softmax",
        "log_sum_exp",
        "matmul",
        "broadcast_matmul",
        "mv",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (is_row(node, names[i]))
            return true;
    }
    return false;
}

static cg_code meet_integers(meeting *self)
{
    for (node_ref n = 1; n < self->graph->nodes.count; n++) {
        const flow_node *node = node_at(self, n);
        node_ref operand = node->edge_count ? self->graph->edges.at[node->first_edge].from : 0;
        enum flow_element element = flow_dtype(self->graph, operand, NULL);
        flow_requirement row = {.node = n, .operand = operand, .need = FLOW_NEED_KERNEL};
        hazard what = {
            .code = RULE_CODE_DTYPE_UNSUPPORTED,
            .severity = MODEL_FINDING_SEVERITY_WARNING,
            .confidence = confidence_of(self, n),
            .detail = CG_LIT("it works on float types only"),
        };

        if (node->kind == FLOW_OPERATION && !node->is_forgotten && operand &&
            element != ELEMENT_UNKNOWN && !flow_is_float(element) && is_float_only(node))
            CG_TRY(keep(self, &row, &what));
    }
    return CG_OK;
}

/* --- what only the makers of a component know --- */

/* `vb` of `vb.dtype()`, when it is the root of a parameter. */
static cg_code root_of(meeting *self, sym expression, cg_str call, cg_str *ret)
{
    cg_str text = program_text(self->program, expression);
    const extract_component *component = self->run->component;

    *ret = (cg_str){0};
    if (!component || !str_ends_with(text, call))
        return CG_OK;
    text.len -= call.len;
    for (size_t i = 0; i < component->parameters.count; i++) {
        if (str_equal(component->parameters.at[i].root, text))
            return arena_text(&self->all->mem, text, ret) ? CG_OK : nomem(self);
    }
    return CG_OK;
}

static cg_code guess_kernel(meeting *self, node_ref which, uint16_t needs)
{
    const flow_node *node = node_at(self, which);
    bool is_backend = (needs & NEED_GPU) != 0;
    sym source = 0;
    enum flow_element element = flow_dtype(self->graph, which, &source);
    flow_requirement row = {.node = which,
                            .operand = self->graph->edges.at[node->first_edge].from,
                            .need = FLOW_NEED_KERNEL};
    hazard_guess guess = {
        .what = {.code = is_backend ? RULE_CODE_BACKEND_UNSUPPORTED : RULE_CODE_DTYPE_UNSUPPORTED,
                 .need = FLOW_NEED_KERNEL,
                 .severity = MODEL_FINDING_SEVERITY_WARNING,
                 .confidence = MODEL_CONFIDENCE_CONDITIONAL,
                 .place = node->place},
        .function = self->run->function->item,
        .constructor = self->run->component ? self->run->component->constructor : 0,
    };
    hazard_guess *slot;

    if (!is_scanned(self, node->place))
        return CG_OK;
    /* All operands lie where the parameters do. */
    for (uint32_t i = 0; i < node->edge_count && !guess.device_root.ptr; i++) {
        const flow_facts *facts =
            &node_at(self, self->graph->edges.at[node->first_edge + i].from)->facts;

        if (facts->device == FLOW_SAME_DEVICE)
            CG_TRY(root_of(self, facts->device_name, CG_LIT(".device()"), &guess.device_root));
    }
    if (!is_backend && element == ELEMENT_UNKNOWN)
        CG_TRY(root_of(self, source, CG_LIT(".dtype()"), &guess.dtype_root));
    if (!is_backend && element != ELEMENT_BF16 && !guess.dtype_root.ptr)
        return CG_OK;
    /* Somebody asks for the device first. */
    if (is_backend && node->is_conditional && !guess.device_root.ptr)
        return CG_OK;
    name_operation(self, &row, &guess.what);
    CG_TRY(keep_operand(self, &guess.what, which, row.operand, false, &guess.what.operands[0]));
    guess.what.operands[0].device = FLOW_CPU;
    if (!is_backend)
        guess.what.operands[0].element = ELEMENT_BF16;
    slot = vec_add(self->all->heap, &self->all->guesses);
    if (!slot)
        return nomem(self);
    *slot = guess;
    return CG_OK;
}

static cg_code guess_kernels(meeting *self)
{
    const catalogue *known = self->all->eval->catalogue;
    bool has_half = known && known->candle_core >= OPERATION_HALF_SINCE;

    for (node_ref n = 1; n < self->graph->nodes.count; n++) {
        const flow_node *node = node_at(self, n);
        uint16_t needs = operation_at(node->row)->needs & (NEED_GPU | NEED_NO_CPU_HALF);

        if (has_half)
            needs &= NEED_GPU;
        if (needs && node->kind == FLOW_OPERATION && !node->is_forgotten && !node->body &&
            node->edge_count && !is_device(node->facts.device))
            CG_TRY(guess_kernel(self, n, needs));
    }
    return CG_OK;
}

cg_code hazards_read(void *context, const entry_run *run, cg_err *reterr)
{
    hazards *all = context;
    meeting self = {
        .all = all,
        .run = run,
        .graph = run->graph,
        .program = run->graph->program,
        .reterr = reterr,
    };
    arena_place place = arena_mark(&all->work);
    cg_code code = CG_OK;

    if (!impact_of_entry(run, &all->work, &self.impact))
        return err_nomem(reterr);
    for (size_t i = 0; code == CG_OK && i < run->graph->requirements.count; i++)
        code = meet(&self, &run->graph->requirements.at[i]);
    if (code == CG_OK)
        code = meet_devices(&self);
    if (code == CG_OK)
        code = meet_integers(&self);
    if (code == CG_OK)
        code = guess_kernels(&self);
    arena_reset(&all->work, place);
    return code;
}
