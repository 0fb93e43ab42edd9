#include "model/tensor_rows.h"

#include "model/expr_print.h"
#include "model/place.h"

void tensor_rows_init(tensor_rows *self, program *code_of, expr_pool *exprs, model_draft *draft)
{
    *self = (tensor_rows){.heap = draft->heap, .draft = draft, .program = code_of, .exprs = exprs};
    number_map_init(&self->axis_of, draft->heap);
    number_map_init(&self->device_of, draft->heap);
    number_map_init(&self->shape_of, draft->heap);
    number_map_init(&self->place_of, draft->heap);
}

void tensor_rows_free(tensor_rows *self)
{
    if (!self->heap)
        return;
    vec_free(self->heap, &self->axes);
    vec_free(self->heap, &self->devices);
    number_map_free(&self->axis_of);
    number_map_free(&self->device_of);
    vec_free(self->heap, &self->shapes);
    vec_free(self->heap, &self->places);
    number_map_free(&self->shape_of);
    number_map_free(&self->place_of);
    *self = (tensor_rows){0};
}

/* What people call an axis of that name. */
static cg_str axis_label(cg_str text)
{
    static const struct {
        const char *word, *label;
    } labels[] = {
        {"b", "batch"},
        {"batch", "batch"},
        {"batch_size", "batch"},
        {"t", "tokens"},
        {"tokens", "tokens"},
        {"seq", "tokens"},
        {"seq_len", "tokens"},
        {"positions", "tokens"},
        {"l", "tokens"},
        {"s", "slots"},
        {"slots", "slots"},
        {"num_slots", "slots"},
        {"a", "adapter_slots"},
        {"adapter_slots", "adapter_slots"},
        {"output_slots", "adapter_slots"},
        {"num_output_slots", "adapter_slots"},
        {"d", "hidden"},
        {"dim", "hidden"},
        {"hidden", "hidden"},
        {"hidden_size", "hidden"},
        {"model_dim", "hidden"},
        {"hq", "hidden"},
        {"v", "vocab"},
        {"vocab", "vocab"},
        {"vocab_size", "vocab"},
    };
    bool is_number = text.len > 0;

    for (size_t i = 0; i < text.len && is_number; i++)
        is_number = text.ptr[i] >= '0' && text.ptr[i] <= '9';
    if (is_number || str_equal(text, CG_LIT("_")))
        return (cg_str){0};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        if (str_equal_nocase(text, str_from(labels[i].word)))
            return str_from(labels[i].label);
    }
    return text;
}

static bool axis_of(tensor_rows *self, expr size, model_dimension *ret)
{
    uint32_t *slot = number_map_put(&self->axis_of, number_map_key(1, size), UINT32_MAX);
    model_dimension *made;
    buf text;
    bool is_good;

    if (!slot)
        return false;
    if (*slot != UINT32_MAX) {
        *ret = self->axes.at[*slot];
        return true;
    }
    *slot = (uint32_t)self->axes.count;
    made = vec_add(self->heap, &self->axes);
    if (!made)
        return false;
    *made = (model_dimension){0};
    buf_init(&text, self->heap, SIZE_MAX);
    if (size == EXPR_NONE)
        buf_byte(&text, '_');
    else
        expr_print(self->exprs, size, &text);
    is_good = !text.failed && arena_text(&self->draft->mem, buf_text(&text), &made->expr);
    buf_free(&text);
    if (!is_good)
        return false;
    made->name = axis_label(made->expr);
    *ret = *made;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t with)
{
    return (hash ^ with) * 0x100000001b3u;
}

/* Same rank, same texts. */
static bool is_shape(const model_shape *shape, opt_u64 rank, const model_dimension *axes,
                     size_t count)
{
    const model_dimension *at = shape->dimensions.at;

    if (shape->rank.is_set != rank.is_set || shape->rank.value != rank.value ||
        shape->dimensions.count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!str_equal(at[i].expr, axes[i].expr))
            return false;
    }
    return true;
}

static const model_shape *make_shape(tensor_rows *self, opt_u64 rank, const model_dimension *axes,
                                     size_t count)
{
    arena *mem = &self->draft->mem;
    model_shape *shape = arena_zero(mem, sizeof *shape);
    model_dimension *copy = count ? arena_take(mem, count * sizeof *copy) : NULL;

    if (!shape || (count && !copy))
        return NULL;
    if (count)
        memcpy(copy, axes, count * sizeof *copy);
    shape->rank = rank;
    shape->dimensions = (sc_records){copy, count};
    return shape;
}

/* Equal shapes are one record. */
static bool shape_of(tensor_rows *self, const flow_facts *facts, const model_shape **ret)
{
    model_dimension axes[FLOW_AXES + 1];
    opt_u64 rank = {.is_set = facts->has_rank, .value = facts->has_rank ? facts->rank : 0};
    uint64_t hash = mix(0xcbf29ce484222325u, facts->has_rank);
    size_t count = 0;
    uint32_t *slot;

    if (!facts->has_rank && facts->rank > 0)
        axes[count++] = (model_dimension){.expr = CG_LIT("..")};
    for (size_t i = 0; i < facts->rank; i++) {
        hash = mix(hash, facts->axes[i] + 2u);
        if (!axis_of(self, facts->axes[i], &axes[count++]))
            return false;
    }
    slot = number_map_put(&self->shape_of, hash | 1, UINT32_MAX);
    if (!slot)
        return false;
    if (*slot != UINT32_MAX && is_shape(self->shapes.at[*slot], rank, axes, count)) {
        *ret = self->shapes.at[*slot];
        return true;
    }
    *ret = make_shape(self, rank, axes, count);
    if (!*ret || *slot != UINT32_MAX)
        return *ret != NULL;
    *slot = (uint32_t)self->shapes.count;
    const model_shape **kept = vec_add(self->heap, &self->shapes);

    if (!kept)
        return false;
    *kept = *ret;
    return true;
}

static bool device_of(tensor_rows *self, const flow_facts *facts, sc_tagged *ret)
{
    bool is_cuda = facts->device == FLOW_CUDA;
    uint32_t *slot;
    sc_tagged *made;

    *ret = (sc_tagged){.word = MODEL_DEVICE_UNKNOWN};
    if (facts->device == FLOW_CPU)
        ret->word = MODEL_DEVICE_CPU;
    if (facts->device == FLOW_METAL)
        ret->word = MODEL_DEVICE_METAL;
    if (!is_cuda && facts->device != FLOW_SAME_DEVICE)
        return true;
    slot = number_map_put(&self->device_of,
                          number_map_key(is_cuda ? 1 : 2, is_cuda ? 0 : facts->device_name),
                          UINT32_MAX);
    if (!slot)
        return false;
    if (*slot == UINT32_MAX) {
        *slot = (uint32_t)self->devices.count;
        made = vec_add(self->heap, &self->devices);
        if (!made)
            return false;
        if (!(is_cuda ? draft_cuda(self->draft, (opt_u64){0}, made)
                      : draft_same_device(self->draft,
                                          program_text(self->program, facts->device_name), made)))
            return false;
    }
    *ret = self->devices.at[*slot];
    return true;
}

static uint8_t layout_of(const flow_facts *facts)
{
    switch ((enum flow_layout)facts->layout) {
    case FLOW_ANY_LAYOUT: return MODEL_LAYOUT_UNKNOWN;
    case FLOW_CONTIGUOUS: return MODEL_LAYOUT_CONTIGUOUS;
    case FLOW_STRIDED: return MODEL_LAYOUT_STRIDED;
    }
    return MODEL_LAYOUT_UNKNOWN;
}

opt_bool tensor_rows_learns(const flow *graph, node_ref node)
{
    const flow_node *at = flow_at(graph, node);

    if (at->kind == FLOW_PARAMETER)
        return at->parameter->is_running_state ? BOOL_FALSE : BOOL_TRUE;
    switch ((enum flow_answer)at->facts.carries) {
    case FLOW_NO: return BOOL_FALSE;
    case FLOW_YES: return BOOL_TRUE;
    case FLOW_PERHAPS: return BOOL_UNKNOWN;
    }
    return BOOL_UNKNOWN;
}

static bool make_place(tensor_rows *self, model_place place, tensor_place *ret)
{
    ret->place = place;
    ret->location = place_location(self->program, place, self->draft);
    return ret->location &&
           arena_format(&self->draft->mem, &ret->source, "%.*s:%llu", (int)ret->location->file.len,
                        ret->location->file.ptr, (unsigned long long)ret->location->line);
}

static bool place_of(tensor_rows *self, const flow_node *at, model_tensor *ret, cg_str *ret_source)
{
    model_place place = at->place;
    uint64_t hash = mix(mix(mix(0xcbf29ce484222325u, place.file), place.start), place.end);
    tensor_place made;
    uint32_t *slot;

    *ret_source = (cg_str){0};
    if (!place.file)
        return true;
    slot = number_map_put(&self->place_of, hash | 1, UINT32_MAX);
    if (!slot)
        return false;
    if (*slot != UINT32_MAX) {
        made = self->places.at[*slot];
        if (made.place.file != place.file || made.place.start != place.start ||
            made.place.end != place.end) {
            if (!make_place(self, place, &made))
                return false;
        }
    } else {
        tensor_place *kept;

        *slot = (uint32_t)self->places.count;
        kept = vec_add(self->heap, &self->places);
        if (!kept || !make_place(self, place, &made))
            return false;
        *kept = made;
    }
    ret->location = made.location;
    *ret_source = made.source;
    return true;
}

bool tensor_rows_fill(tensor_rows *self, const flow *graph, node_ref node, model_tensor *ret,
                      cg_str *ret_source)
{
    const flow_node *at = flow_at(graph, node);
    bool is_sure = !at->is_conditional && at->kind != FLOW_UNKNOWN && at->kind != FLOW_INPUT;
    sym source = 0;
    enum flow_element element = flow_dtype(graph, node, &source);
    cg_str detail = element != ELEMENT_UNKNOWN ? CG_LIT("dtype via operation")
                    : source                   ? CG_LIT("dtype equal to that of a named tensor")
                                               : CG_LIT("followed from the source");
    const model_shape *shape = NULL;

    ret->dtype = str_from(flow_element_name(element));
    if (source)
        ret->dtype_source = program_text(self->program, source);
    ret->layout.word = layout_of(&at->facts);
    if (!place_of(self, at, ret, ret_source) || !shape_of(self, &at->facts, &shape) ||
        !device_of(self, &at->facts, &ret->device))
        return false;
    ret->shape = shape;
    return draft_evidence(self->draft, &ret->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                          is_sure ? MODEL_CONFIDENCE_PROVEN : MODEL_CONFIDENCE_CONDITIONAL,
                          *ret_source, detail);
}
