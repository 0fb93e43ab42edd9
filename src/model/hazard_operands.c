#include "model/hazard_operands.h"

#include "base/buf.h"
#include "model/expr_print.h"

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

const flow_edge *hazard_edge(const hazard_meeting *self, node_ref node, node_ref from)
{
    size_t count = 0;
    const flow_edge *edges = flow_edges(self->graph, node, &count);

    for (size_t i = 0; i < count; i++) {
        if (edges[i].from == from && edges[i].role != FLOW_BODY && edges[i].role != FLOW_HOST)
            return &edges[i];
    }
    return NULL;
}

static bool is_bias(const hazard_meeting *self, node_ref node, node_ref from)
{
    const flow_edge *edge = from ? hazard_edge(self, node, from) : NULL;

    return edge && edge->role == FLOW_MODULE &&
           str_equal(program_text(self->program, edge->name), CG_LIT("bias"));
}

/* The fused kernels of normalisations check their operands themselves. */
static const char *kernel_of(const hazard_meeting *self, node_ref which)
{
    const flow_node *node = meeting_node(self, which);
    size_t count = 0;
    const flow_edge *edges = flow_edges(self->graph, which, &count);

    if (operation_at(node->row)->gradient != GRADIENT_DEPENDS || count == 0 ||
        edges[0].passes != FLOW_SEVERED)
        return NULL;
    return str_starts_with(operation_name(node->row), CG_LIT("RmsNorm"))
               ? "candle_nn::ops::rms_norm"
               : "candle_nn::ops::layer_norm";
}

void hazard_name_operation(const hazard_meeting *self, const flow_requirement *row, hazard *to)
{
    const flow_node *node = meeting_node(self, row->node);
    const char *inside = NULL;

    if (row->call.len)
        return;
    to->operation = meeting_path(node);
    if (node->body) {
        to->call = meeting_path(meeting_node(self, node->body));
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

static bool is_layer(const hazard_meeting *self, node_ref node)
{
    return operation_at(meeting_node(self, node)->row)->operands[0] == 'm';
}

/* Where an operand of a layer stands in the operation inside; a table of ids comes first. */
static size_t layer_position(const hazard_meeting *self, const hazard *of, const flow_edge *edge)
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

static bool name_operand(hazard_meeting *self, const hazard *of, node_ref node,
                         const flow_edge *edge, bool is_second, cg_str *ret)
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

        if (!str_is(word, PARAMETERS[i].call))
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

static cg_str label_of(const hazard_meeting *self, node_ref which)
{
    const flow_node *node = meeting_node(self, which);

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

static cg_code copy_axes(hazard_meeting *self, const flow_facts *facts, hazard_operand *to)
{
    size_t count = facts->rank + (facts->has_rank ? 0u : 1u);
    cg_str *axes = arena_zero(&self->all->mem, (count + 1) * sizeof *axes);
    buf text;

    if (!axes)
        return meeting_nomem(self);
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
            return meeting_nomem(self);
    }
    return CG_OK;
}

cg_code hazard_take_operand(hazard_meeting *self, hazard *of, node_ref node, node_ref which,
                            bool is_second, hazard_operand *to)
{
    const flow_facts *facts = &meeting_node(self, which)->facts;

    if (!which)
        return CG_OK;
    if (!name_operand(self, of, node, hazard_edge(self, node, which), is_second, &to->name) ||
        !arena_text(&self->all->mem, label_of(self, which), &to->label))
        return meeting_nomem(self);
    to->element = (uint8_t)flow_dtype(self->graph, which, NULL);
    to->device = facts->device;
    if (facts->device == FLOW_SAME_DEVICE &&
        !arena_text(&self->all->mem, program_text(self->program, facts->device_name),
                    &to->device_name))
        return meeting_nomem(self);
    return copy_axes(self, facts, to);
}
