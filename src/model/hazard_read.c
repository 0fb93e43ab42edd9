#include "model/hazard_read.h"

#include "model/hazard_devices.h"
#include "model/hazard_kept.h"
#include "model/hazard_kernels.h"
#include "model/rules.h"

static cg_code meet_number(hazard_meeting *self, const flow_requirement *row)
{
    interval domain =
        row->operand ? meeting_node(self, row->operand)->facts.domain : interval_point(0);
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
    return hazard_keep(self, &about, &what);
}

/* The product of something that can be 0 and a logarithm that can be infinite. */
static cg_code meet_product(hazard_meeting *self, const flow_requirement *row)
{
    const flow_node *node = meeting_node(self, row->node);
    enum impact impact = impact_at(&self->impact, row->node);
    hazard what = {
        .code = RULE_CODE_ZERO_TIMES_INFINITY,
        .severity = impact_severity(&self->impact, impact),
        .confidence = MODEL_CONFIDENCE_PROVEN,
        .impact = (uint8_t)impact,
        .domain = interval_phrase(meeting_node(self, row->operand)->facts.domain),
    };

    if (row->result != CHECK_FAILS)
        return CG_OK;
    if (node->body)
        what.operation = meeting_path(meeting_node(self, row->other));
    CG_TRY(hazard_keep(self, row, &what));
    if (!node->body || impact < IMPACT_GRADIENT)
        return CG_OK;
    what.code = RULE_CODE_UNSTABLE_LIBRARY_LOSS;
    what.severity = MODEL_FINDING_SEVERITY_ERROR;
    return hazard_keep(self, row, &what);
}

/* Products with quantised weights give what comes in, and take little else than F32. */
static bool is_quantized(const hazard_meeting *self, node_ref which)
{
    const flow_node *node = meeting_node(self, which);

    return node->row && str_starts_with(operation_name(node->row), CG_LIT("QMatMul"));
}

static cg_code meet_dtype(hazard_meeting *self, const flow_requirement *row)
{
    hazard what = {
        .code = RULE_CODE_DTYPE_CONFLICT,
        .severity = MODEL_FINDING_SEVERITY_ERROR,
        .confidence = meeting_confidence(self, row->node),
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
    return hazard_keep(self, row, &what);
}

/* Under a condition, sizes that hold under another one prove nothing. */
static bool is_doubtful(const hazard_meeting *self, node_ref which)
{
    const flow_node *node = meeting_node(self, which);

    return which && (node->kind == FLOW_JOIN || node->kind == FLOW_LOOP ||
                     (node->kind == FLOW_OPERATION && node->is_conditional));
}

static cg_code meet_shape(hazard_meeting *self, const flow_requirement *row)
{
    hazard what = {
        .code = RULE_CODE_SHAPE_MISMATCH,
        .severity = MODEL_FINDING_SEVERITY_ERROR,
        .confidence = meeting_confidence(self, row->node),
        .detail = row->text,
    };

    if (row->result != CHECK_FAILS ||
        (meeting_node(self, row->node)->is_conditional &&
         (is_doubtful(self, row->operand) || is_doubtful(self, row->other))))
        return CG_OK;
    return hazard_keep(self, row, &what);
}

static bool is_more_than_one(const hazard_meeting *self, expr size)
{
    int64_t it;

    return size != EXPR_NONE && expr_constant(self->all->eval->exprs, size, &it) && it > 1;
}

static cg_code meet_layout(hazard_meeting *self, const flow_requirement *row)
{
    const flow_facts *facts = &meeting_node(self, row->operand)->facts;
    node_ref made_by = row->other ? row->other : facts->strided_by;
    flow_requirement about = *row;
    hazard what = {
        .code = RULE_CODE_LAYOUT_CONTRACT,
        .severity = MODEL_FINDING_SEVERITY_WARNING,
        .confidence = meeting_confidence(self, row->node),
        .is_size_certain = facts->has_rank,
    };

    if (row->result != CHECK_FAILS)
        return CG_OK;
    for (unsigned i = 0; i < facts->rank; i++)
        what.is_size_certain &= is_more_than_one(self, facts->axes[i]);
    if (!what.is_size_certain)
        what.confidence = MODEL_CONFIDENCE_CONDITIONAL;
    if (made_by && meeting_node(self, made_by)->place.file) {
        what.producer = meeting_path(meeting_node(self, made_by));
        what.producer_place = meeting_node(self, made_by)->place;
    }
    about.other = 0;
    return hazard_keep(self, &about, &what);
}

static cg_code meet(hazard_meeting *self, const flow_requirement *row)
{
    if (meeting_node(self, row->node)->is_forgotten)
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
    case FLOW_NEED_INTEGER: return hazard_meet_kernel(self, row);
    case FLOW_NEED_DEVICE:
    case FLOW_NEED_COUNT: break;
    }
    return CG_OK;
}

cg_code hazards_read(void *context, const entry_run *run, cg_err *reterr)
{
    hazards *all = context;
    hazard_meeting self = {
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
        code = hazard_meet_devices(&self);
    if (code == CG_OK)
        code = hazard_meet_integers(&self);
    if (code == CG_OK)
        code = hazard_guess_kernels(&self);
    arena_reset(&all->work, place);
    return code;
}
