#include "model/hazard_kernels.h"

#include "model/catalogue.h"
#include "model/hazard_kept.h"
#include "model/hazard_operands.h"
#include "model/rules.h"

static bool knows_version(const hazard_meeting *self)
{
    const catalogue *known = self->all->eval->catalogue;

    return known && known->candle_core != 0;
}

cg_code hazard_meet_kernel(hazard_meeting *self, const flow_requirement *row)
{
    const flow_node *node = meeting_node(self, row->node);
    bool is_backend =
        row->need == FLOW_NEED_KERNEL && (operation_at(node->row)->needs & NEED_GPU) != 0;
    hazard what = {
        .code = is_backend ? RULE_CODE_BACKEND_UNSUPPORTED : RULE_CODE_DTYPE_UNSUPPORTED,
        .severity = MODEL_FINDING_SEVERITY_WARNING,
        .confidence = meeting_confidence(self, row->node),
        .detail = row->text,
    };

    /* Which kernels there are depends on the version. */
    if (row->need == FLOW_NEED_KERNEL && !knows_version(self))
        what.confidence = MODEL_CONFIDENCE_CONDITIONAL;
    return row->result == CHECK_FAILS ? hazard_keep(self, row, &what) : CG_OK;
}

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
        if (meeting_is_row(node, names[i]))
            return true;
    }
    return false;
}

cg_code hazard_meet_integers(hazard_meeting *self)
{
    for (node_ref n = 1; n < self->graph->nodes.count; n++) {
        const flow_node *node = meeting_node(self, n);
        node_ref operand = node->edge_count ? self->graph->edges.at[node->first_edge].from : 0;
        enum flow_element element = flow_dtype(self->graph, operand, NULL);
        flow_requirement row = {.node = n, .operand = operand, .need = FLOW_NEED_KERNEL};
        hazard what = {
            .code = RULE_CODE_DTYPE_UNSUPPORTED,
            .severity = MODEL_FINDING_SEVERITY_WARNING,
            .confidence = meeting_confidence(self, n),
            .detail = CG_LIT("it works on float types only"),
        };

        if (node->kind == FLOW_OPERATION && !node->is_forgotten && operand &&
            element != ELEMENT_UNKNOWN && !flow_is_float(element) && is_float_only(node))
            CG_TRY(hazard_keep(self, &row, &what));
    }
    return CG_OK;
}

/* `vb` of `vb.dtype()`, when it is the root of a parameter. */
static cg_code root_of(hazard_meeting *self, sym expression, cg_str call, cg_str *ret)
{
    cg_str text = program_text(self->program, expression);
    const extract_component *component = self->run->component;

    *ret = (cg_str){0};
    if (!component || !str_ends_with(text, call))
        return CG_OK;
    text.len -= call.len;
    for (size_t i = 0; i < component->parameters.count; i++) {
        if (str_equal(component->parameters.at[i].root, text))
            return arena_text(&self->all->mem, text, ret) ? CG_OK : meeting_nomem(self);
    }
    return CG_OK;
}

static cg_code guess_kernel(hazard_meeting *self, node_ref which, uint16_t needs)
{
    const flow_node *node = meeting_node(self, which);
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

    if (!hazard_is_scanned(self, node->place))
        return CG_OK;
    /* All operands lie where the parameters do. */
    for (uint32_t i = 0; i < node->edge_count && !guess.device_root.ptr; i++) {
        const flow_facts *facts =
            &meeting_node(self, self->graph->edges.at[node->first_edge + i].from)->facts;

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
    hazard_name_operation(self, &row, &guess.what);
    CG_TRY(
        hazard_take_operand(self, &guess.what, which, row.operand, false, &guess.what.operands[0]));
    guess.what.operands[0].device = FLOW_CPU;
    if (!is_backend)
        guess.what.operands[0].element = ELEMENT_BF16;
    slot = vec_add(self->all->heap, &self->all->guesses);
    if (!slot)
        return meeting_nomem(self);
    *slot = guess;
    return CG_OK;
}

cg_code hazard_guess_kernels(hazard_meeting *self)
{
    const catalogue *known = self->all->eval->catalogue;
    bool has_half = known && known->candle_core >= OPERATION_HALF_SINCE;

    for (node_ref n = 1; n < self->graph->nodes.count; n++) {
        const flow_node *node = meeting_node(self, n);
        uint16_t needs = operation_at(node->row)->needs & (NEED_GPU | NEED_NO_CPU_HALF);

        if (has_half)
            needs &= NEED_GPU;
        if (needs && node->kind == FLOW_OPERATION && !node->is_forgotten && !node->body &&
            node->edge_count && !meeting_is_device(node->facts.device))
            CG_TRY(guess_kernel(self, n, needs));
    }
    return CG_OK;
}
