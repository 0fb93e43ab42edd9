#include "model/contract_findings.h"

#include "base/str_name.h"
#include "model/assemble.h"
#include "model/catalogue.h"
#include "model/place.h"
#include "model/rules.h"

typedef struct writer {
    const hazards *from;
    const function_facts *functions;
    program *program;
    model_draft *draft;
    arena *mem;
    cg_err *reterr;
} writer;

static cg_code nomem(const writer *self)
{
    return err_nomem(self->reterr);
}

static cg_str last_name(cg_str path)
{
    size_t colon = str_find_last(path, ':');

    return colon == SIZE_MAX ? path : (cg_str){path.ptr + colon + 1, path.len - colon - 1};
}

/* ` 0.11.0`, nothing when the version is not known. */
static bool version_text(const writer *self, bool is_core, cg_str *ret)
{
    const catalogue *known = self->from->eval->catalogue;
    uint32_t version = !known ? 0 : is_core ? known->candle_core : known->candle_nn;

    *ret = (cg_str){"", 0};
    return version == 0 || arena_format(self->mem, ret, " %u.%u.%u", version >> 20,
                                        version >> 10 & 0x3ffu, version & 0x3ffu);
}

/* ` [expanded from ...]` when the operation lies in the body of a library's function. */
static bool citation(const writer *self, const hazard *of, cg_str *ret)
{
    cg_str version;

    *ret = (cg_str){"", 0};
    if (!of->call.len)
        return true;
    return version_text(self, false, &version) &&
           arena_format(self->mem, ret, " [expanded from %.*s of candle-nn%.*s]", STR_ALL(of->call),
                        STR_ALL(version));
}

/* --- messages --- */

static const char *needed(const hazard *of)
{
    switch ((enum flow_need)of->need) {
    case FLOW_NEED_POSITIVE: return "numbers above 0";
    case FLOW_NEED_NONNEGATIVE: return "no negative numbers";
    default: return "numbers other than 0";
    }
}

static bool tell_number(const writer *self, const hazard *of, cg_str *ret)
{
    cg_str name = last_name(of->operation), body;
    const hazard_operand *operand = &of->operands[0];

    if (!citation(self, of, &body))
        return false;
    if (!operand->label.len)
        return arena_format(self->mem, ret, "`%.*s` by %.*s%.*s; %s", STR_ALL(name),
                            ERR_STR(of->detail), STR_ALL(body), impact_text(of->impact));
    return arena_format(self->mem, ret,
                        "`%.*s` needs %s, its operand `%.*s` %s and no guard is on the "
                        "way%.*s; %s",
                        STR_ALL(name), needed(of), ERR_STR(operand->label), of->domain,
                        STR_ALL(body), impact_text(of->impact));
}

static bool tell_product(const writer *self, const hazard *of, cg_str *ret)
{
    cg_str body;

    return citation(self, of, &body) &&
           arena_format(
               self->mem, ret,
               "one factor can be 0 (it %s), the other is a logarithm and can be infinite: their "
               "product can be NaN%.*s; %s",
               of->domain, STR_ALL(body), impact_text(of->impact));
}

static bool tell_dtype(const writer *self, const hazard *of, cg_str *ret)
{
    const hazard_operand *a = &of->operands[0], *b = &of->operands[1];
    cg_str name = last_name(of->operation);

    if (of->code == RULE_CODE_DTYPE_CONFLICT)
        return arena_format(self->mem, ret,
                            "`%.*s` needs operands of one dtype: `%.*s` is %s, `%.*s` is %s",
                            STR_ALL(name), ERR_STR(a->label), flow_element_name(a->element),
                            ERR_STR(b->label), flow_element_name(b->element));
    if (of->is_swapped) {
        const hazard_operand *swap = a;

        a = b;
        b = swap;
    }
    return arena_format(self->mem, ret,
                        "`%.*s` needs operands of one dtype: `%.*s` is always %s, the dtype of "
                        "`%.*s` comes from outside",
                        STR_ALL(name), ERR_STR(a->label), flow_element_name(a->element),
                        ERR_STR(b->label));
}

static bool shape_text(const writer *self, const hazard_operand *of, cg_str *ret)
{
    buf text;
    bool is_good;

    buf_init(&text, self->from->heap, SIZE_MAX);
    buf_byte(&text, '(');
    for (size_t i = 0; i < of->axis_count; i++) {
        if (i > 0)
            buf_add(&text, CG_LIT(", "));
        buf_add(&text, of->axes[i]);
    }
    buf_byte(&text, ')');
    is_good = !text.failed && arena_text(self->mem, buf_text(&text), ret);
    buf_free(&text);
    return is_good;
}

static bool tell_shape(const writer *self, const hazard *of, cg_str *ret)
{
    const hazard_operand *a = &of->operands[0], *b = &of->operands[1];
    cg_str name = last_name(of->operation), left, right;

    if (of->need == FLOW_NEED_RANK)
        return arena_format(self->mem, ret,
                            "`%.*s` wants another number of axes than %zu of `%.*s`", STR_ALL(name),
                            a->axis_count, ERR_STR(a->label));
    if (!b->name.len)
        return arena_format(self->mem, ret, "`%.*s`: %.*s", STR_ALL(name), ERR_STR(of->detail));
    return shape_text(self, a, &left) && shape_text(self, b, &right) &&
           arena_format(self->mem, ret,
                        "`%.*s`: shapes that do not fit: %.*s %.*s (`%.*s`), %.*s %.*s (`%.*s`)",
                        STR_ALL(name), STR_ALL(a->name), ERR_STR(left), ERR_STR(a->label),
                        STR_ALL(b->name), ERR_STR(right), ERR_STR(b->label));
}

static bool device_text(const hazard_operand *of, cg_str *ret)
{
    *ret = of->device == FLOW_CPU     ? CG_LIT("the CPU")
           : of->device == FLOW_CUDA  ? CG_LIT("a CUDA device")
           : of->device == FLOW_METAL ? CG_LIT("a Metal device")
                                      : of->device_name;
    return true;
}

static bool tell_device(const writer *self, const hazard *of, cg_str *ret)
{
    const hazard_operand *a = &of->operands[0], *b = &of->operands[1];
    cg_str left, right;

    return device_text(a, &left) && device_text(b, &right) &&
           arena_format(self->mem, ret,
                        "`%.*s` needs operands on one device: %.*s (`%.*s`) is on %.*s, %.*s "
                        "(`%.*s`) on %.*s",
                        STR_ALL(last_name(of->operation)), STR_ALL(a->name), ERR_STR(a->label),
                        ERR_STR(left), STR_ALL(b->name), ERR_STR(b->label), ERR_STR(right));
}

static bool is_product(const hazard *of)
{
    return str_equal(last_name(of->operation), CG_LIT("matmul"));
}

static bool tell_layout(const writer *self, const hazard *of, cg_str *ret)
{
    cg_str where = {"", 0}, maker = last_name(of->producer);
    const char *want = is_product(of) ? "batch axes that lie one behind the other in memory"
                                      : "a contiguous operand";

    if (of->producer_place.file) {
        cg_str label = place_label(self->program, of->producer_place, self->mem);

        if (!label.ptr || !arena_format(self->mem, &where, ", which `%.*s` at %.*s made",
                                        STR_ALL(maker), ERR_STR(label)))
            return false;
    }
    return arena_format(self->mem, ret, "`%.*s` needs %s and gets a view%.*s",
                        STR_ALL(last_name(of->operation)), want, STR_ALL(where));
}

static bool tell_kernel(const writer *self, const hazard *of, cg_str *ret)
{
    const hazard_operand *a = &of->operands[0];
    cg_str version, where = {"", 0}, name = last_name(of->operation);

    if (!version_text(self, true, &version))
        return false;
    if (a->device == FLOW_CPU || a->device == FLOW_CUDA || a->device == FLOW_METAL)
        device_text(a, &where);
    if (of->code == RULE_CODE_BACKEND_UNSUPPORTED)
        return arena_format(self->mem, ret, "`%.*s` has no kernel on %.*s in candle%.*s",
                            STR_ALL(name), STR_ALL(where), STR_ALL(version));
    if (of->need == FLOW_NEED_INTEGER)
        return arena_format(self->mem, ret, "`%.*s` takes U8, U32 or I64 as ids, `%.*s` is %s",
                            STR_ALL(name), ERR_STR(a->label), flow_element_name(a->element));
    return arena_format(self->mem, ret, "`%.*s` has no kernel for %s%s%.*s in candle%.*s",
                        STR_ALL(name), flow_element_name(a->element), where.len ? " on " : "",
                        STR_ALL(where), STR_ALL(version));
}

static bool tell(const writer *self, const hazard *of, cg_str *ret)
{
    switch (of->code) {
    case RULE_CODE_NUMERIC_DOMAIN_VIOLATION: return tell_number(self, of, ret);
    case RULE_CODE_ZERO_TIMES_INFINITY:
    case RULE_CODE_UNSTABLE_LIBRARY_LOSS: return tell_product(self, of, ret);
    case RULE_CODE_DTYPE_CONFLICT:
    case RULE_CODE_DTYPE_RISK: return tell_dtype(self, of, ret);
    case RULE_CODE_SHAPE_MISMATCH: return tell_shape(self, of, ret);
    case RULE_CODE_DEVICE_MISMATCH: return tell_device(self, of, ret);
    case RULE_CODE_LAYOUT_CONTRACT: return tell_layout(self, of, ret);
    default: return tell_kernel(self, of, ret);
    }
}

/* --- what to do --- */

static cg_str help_of(const hazard *of, cg_str usual)
{
    if (of->code != RULE_CODE_NUMERIC_DOMAIN_VIOLATION)
        return usual;
    if (of->call.len)
        return CG_LIT("write the loss on logits: max(z, 0) - z * y + log(1 + exp(-|z|))");
    switch ((enum flow_need)of->need) {
    case FLOW_NEED_POSITIVE:
        return CG_LIT("add a small number before (`affine(1., eps)`), `clamp`, or compute in log "
                      "space (`log_softmax`)");
    case FLOW_NEED_NONNEGATIVE:
        return CG_LIT("keep the operand at 0 or above: `clamp`, `relu`, or the square of it");
    default:
        return CG_LIT("add a small number to the divisor, or raise it with `maximum` or `clamp`");
    }
}

static cg_str condition_of(const hazard *of)
{
    if (of->is_size_certain)
        return CG_LIT("always");
    return is_product(of) ? CG_LIT("more than one row in the batch and in the moved axes (it runs "
                                   "with one)")
                          : CG_LIT("sizes above 1 in the axes that were moved or cut");
}

/* --- fields --- */

static cg_code add_shapes(const writer *self, const hazard *of, model_finding *to)
{
    for (size_t i = 0; i < 2; i++) {
        const hazard_operand *operand = &of->operands[i];
        cg_str *axes;

        if (!operand->name.len)
            continue;
        axes = arena_take(self->mem, (operand->axis_count + 1) * sizeof *axes);
        if (!axes)
            return nomem(self);
        for (size_t k = 0; k < operand->axis_count; k++) {
            if (!arena_text(self->mem, operand->axes[k], &axes[k]))
                return nomem(self);
        }
        if (!draft_shape(self->draft, &to->shapes, operand->name,
                         (sc_strs){axes, operand->axis_count}))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code device_fact(const writer *self, const hazard_operand *of, sc_tagged *ret)
{
    cg_str name;

    *ret = (sc_tagged){.word = MODEL_DEVICE_CPU};
    if (of->device == FLOW_METAL)
        ret->word = MODEL_DEVICE_METAL;
    if (of->device == FLOW_CUDA)
        return draft_cuda(self->draft, (opt_u64){0}, ret) ? CG_OK : nomem(self);
    if (of->device != FLOW_SAME_DEVICE)
        return CG_OK;
    return arena_text(self->mem, of->device_name, &name) &&
                   draft_same_device(self->draft, name, ret)
               ? CG_OK
               : nomem(self);
}

static cg_code add_devices(const writer *self, const hazard *of, model_finding *to)
{
    for (size_t i = 0; i < 2; i++) {
        sc_tagged device;
        cg_str name;

        CG_TRY(device_fact(self, &of->operands[i], &device));
        if (!arena_text(self->mem, of->operands[i].name, &name) ||
            !draft_device(self->draft, &to->devices, name, device))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code add_producer(const writer *self, const hazard *of, model_finding *to)
{
    model_producer *producer;
    const function_fact *holder;

    if (!of->producer_place.file)
        return CG_OK;
    producer = arena_zero(self->mem, sizeof *producer);
    if (!producer)
        return nomem(self);
    producer->operation = of->producer;
    holder = function_of(self->functions, of->producer_place.function);
    if (holder)
        producer->function = holder->spelled;
    producer->location = place_location(self->program, of->producer_place, self->draft);
    if (!producer->location)
        return nomem(self);
    to->producer = producer;
    return CG_OK;
}

static cg_code add_kernel(const writer *self, const hazard *of, model_finding *to)
{
    const hazard_operand *operand = &of->operands[0];

    if (operand->element != ELEMENT_UNKNOWN)
        to->dtype = str_from(flow_element_name(operand->element));
    if (operand->device != FLOW_CPU && operand->device != FLOW_CUDA &&
        operand->device != FLOW_METAL)
        return CG_OK;
    return device_fact(self, operand, &to->device);
}

static cg_code add_fields(const writer *self, const hazard *of, model_finding *to)
{
    to->operation = of->operation;
    switch (of->code) {
    case RULE_CODE_SHAPE_MISMATCH: return add_shapes(self, of, to);
    case RULE_CODE_DEVICE_MISMATCH: return add_devices(self, of, to);
    case RULE_CODE_DTYPE_UNSUPPORTED:
    case RULE_CODE_BACKEND_UNSUPPORTED: return add_kernel(self, of, to);
    case RULE_CODE_LAYOUT_CONTRACT:
        to->condition = condition_of(of);
        to->effect = MODEL_EFFECT_STOPS;
        return add_producer(self, of, to);
    default: return CG_OK;
    }
}

static cg_code report(const writer *self, const hazard *of)
{
    cg_str message;
    model_finding *finding;

    if (!tell(self, of, &message))
        return nomem(self);
    finding = assemble_finding(self->program, self->functions, self->draft,
                               rules[of->code].code.ptr, of->confidence, message, of->place);
    if (!finding)
        return nomem(self);
    finding->severity = of->severity;
    finding->help = help_of(of, finding->help);
    for (size_t i = 0; i < of->entries.count; i++) {
        const function_fact *fact = function_of(self->functions, of->entries.at[i]);

        if (fact && !draft_text(self->draft, &finding->related, fact->id))
            return nomem(self);
    }
    return add_fields(self, of, finding);
}

cg_code contract_findings(const hazards *from, size_t first, const function_facts *functions,
                          model_draft *draft, cg_err *reterr)
{
    writer self = {
        .from = from,
        .functions = functions,
        .program = from->eval->program,
        .draft = draft,
        .mem = &draft->mem,
        .reterr = reterr,
    };

    for (size_t i = first; i < from->rows.count; i++)
        CG_TRY(report(&self, &from->rows.at[i]));
    return CG_OK;
}
