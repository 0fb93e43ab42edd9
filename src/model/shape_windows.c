/* Sizes where a window moves over axes, or pixels become channels: images and sounds. */
#include "model/candle_shape.h"
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"

/* (n + 2 p - d (k - 1) - 1) / s + 1 */
static expr window(flow_call *call, expr n, expr k, expr padding, expr stride, expr dilation)
{
    expr one = size_const(call, 1);
    expr covered = size_plus(call, size_times(call, dilation, size_minus(call, k, one)), one);
    expr free = size_minus(call, size_plus(call, n, size_times(call, size_const(call, 2), padding)),
                           covered);

    return size_plus(call, size_over(call, free, stride), one);
}

/* (n - 1) s - 2 p + d (k - 1) + out + 1 */
static expr window_back(flow_call *call, expr n, expr k, expr padding, expr out, expr stride,
                        expr dilation)
{
    expr one = size_const(call, 1);
    expr size = size_minus(call, size_times(call, size_minus(call, n, one), stride),
                           size_times(call, size_const(call, 2), padding));

    size = size_plus(call, size, size_times(call, dilation, size_minus(call, k, one)));
    return size_plus(call, size_plus(call, size, out), one);
}

/* A number of the layer's configuration, or of the call. */
static expr setting(flow_call *call, const char *name, size_t argument_at)
{
    val config;
    val found;

    if (call_row(call)->operands[0] != 'm')
        return size_argument(call, argument_at);
    config = flow_field(call, "config");
    found = config == 0 ? 0
                        : value_field_of(call->eval->values, config,
                                         intern_add(&call->eval->program->names, str_from(name)));
    return found == 0 ? EXPR_NONE : candle_size(call->eval, found);
}

static bool convolve(flow_call *call, unsigned spatial, bool is_transposed)
{
    bool is_layer = call_row(call)->operands[0] == 'm';
    node_ref kernel = is_layer ? call->weight : call->tensors[1];
    const flow_facts *x;
    const flow_facts *w = call_facts(call, kernel);
    expr padding = setting(call, "padding", 2);
    expr out = is_transposed ? setting(call, "output_padding", 3) : EXPR_NONE;
    expr stride = setting(call, "stride", is_transposed ? 4 : 3);
    expr dilation = setting(call, "dilation", is_transposed ? 5 : 4);
    expr groups = is_transposed && spatial == 2 ? size_const(call, 1)
                                                : setting(call, "groups", is_transposed ? 6 : 5);
    expr in;
    flow_facts *it;

    if (!flow_want_rank(call, call->tensors[0], spatial + 2))
        return true;
    x = call_first(call);
    w = call_facts(call, kernel);
    it = facts_ranked(call, spatial + 2);
    it->axes[0] = x->axes[0];
    if (kernel == 0 || !w->has_rank || w->rank != spatial + 2)
        return true;
    in = is_transposed ? w->axes[0] : size_times(call, w->axes[1], groups);
    if (size_can_differ(call, x->axes[1], in))
        facts_cannot_fit(call, call->tensors[0], kernel);
    it->axes[1] = is_transposed ? size_times(call, w->axes[1], groups) : w->axes[0];
    for (unsigned i = 2; i < spatial + 2; i++) {
        it->axes[i] =
            is_transposed
                ? window_back(call, x->axes[i], w->axes[i], padding, out, stride, dilation)
                : window(call, x->axes[i], w->axes[i], padding, stride, dilation);
    }
    return true;
}

bool shape_conv1d(flow_call *call)
{
    return convolve(call, 1, false);
}

bool shape_conv2d(flow_call *call)
{
    return convolve(call, 2, false);
}

bool shape_conv_transpose1d(flow_call *call)
{
    return convolve(call, 1, true);
}

bool shape_conv_transpose2d(flow_call *call)
{
    return convolve(call, 2, true);
}

bool shape_pool2d(flow_call *call)
{
    val kernel = call_argument(call, 1);
    val stride = call->count > 2 ? call_argument(call, 2) : kernel;
    const flow_facts *x;
    flow_facts *it;

    if (!flow_want_rank(call, call->tensors[0], 4) || kernel == 0 || stride == 0)
        return true;
    x = call_first(call);
    it = facts_ranked(call, 4);
    it->axes[0] = x->axes[0];
    it->axes[1] = x->axes[1];
    for (unsigned i = 0; i < 2; i++) {
        const value *k = value_at(call->eval->values, kernel);
        const value *s = value_at(call->eval->values, stride);
        val one = k->kind == VALUE_TUPLE && k->count == 2 ? k->as.items[i] : kernel;
        val step = s->kind == VALUE_TUPLE && s->count == 2 ? s->as.items[i] : stride;

        it->axes[2 + i] =
            window(call, x->axes[2 + i], candle_size(call->eval, one), size_const(call, 0),
                   candle_size(call->eval, step), size_const(call, 1));
    }
    return true;
}

static bool resize(flow_call *call, unsigned spatial)
{
    const flow_facts *x;
    flow_facts *it;

    if (!flow_want_rank(call, call->tensors[0], spatial + 2))
        return true;
    x = call_first(call);
    it = facts_ranked(call, spatial + 2);
    it->axes[0] = x->axes[0];
    it->axes[1] = x->axes[1];
    for (unsigned i = 0; i < spatial; i++)
        it->axes[2 + i] = size_argument(call, 1 + i);
    return true;
}

bool shape_resize1d(flow_call *call)
{
    return resize(call, 1);
}

bool shape_resize2d(flow_call *call)
{
    return resize(call, 2);
}

static bool shuffle(flow_call *call, bool is_back)
{
    expr factor = size_argument(call, 1);
    expr square = size_times(call, factor, factor);
    const flow_facts *x;
    flow_facts *it;

    if (!flow_want_rank(call, call->tensors[0], 4))
        return true;
    x = call_first(call);
    it = facts_ranked(call, 4);
    it->axes[0] = x->axes[0];
    it->axes[1] =
        is_back ? size_times(call, x->axes[1], square) : size_over(call, x->axes[1], square);
    for (unsigned i = 2; i < 4; i++)
        it->axes[i] =
            is_back ? size_over(call, x->axes[i], factor) : size_times(call, x->axes[i], factor);
    return true;
}

bool shape_shuffle(flow_call *call)
{
    return shuffle(call, false);
}

bool shape_unshuffle(flow_call *call)
{
    return shuffle(call, true);
}

bool shape_pad(flow_call *call)
{
    const flow_facts *x = call_first(call);
    int at = facts_axis_argument(call, 1, x, 0);

    facts_copy_axes(&call->facts, x);
    facts_link_rank(call, 0, false);
    if (at < 0) {
        facts_forget_sizes(&call->facts);
        return true;
    }
    call->facts.axes[at] = size_plus(
        call, x->axes[at], size_plus(call, size_argument(call, 2), size_argument(call, 3)));
    return true;
}

bool shape_pad2d(flow_call *call)
{
    flow_facts *it = &call->facts;

    facts_like(call, call->tensors[0]);
    facts_link_rank(call, 0, false);
    for (unsigned i = 2; i < 4 && it->has_rank && it->rank == 4; i++)
        it->axes[i] = size_plus(call, it->axes[i],
                                size_times(call, size_const(call, 2), size_argument(call, 1)));
    return true;
}

bool shape_unfold(flow_call *call)
{
    const flow_facts *x = call_first(call);
    int at = facts_axis_argument(call, 1, x, 0);
    flow_facts *it = &call->facts;

    facts_copy_axes(it, x);
    facts_link_rank(call, 1, false);
    it->stride = STRIDE_OTHER;
    if (!x->has_rank || x->rank == FLOW_AXES) {
        it->has_rank = false;
        it->rank = 1;
        it->axes[0] = size_argument(call, 2);
        return true;
    }
    if (at >= 0)
        it->axes[at] =
            size_plus(call,
                      size_over(call, size_minus(call, x->axes[at], size_argument(call, 2)),
                                size_argument(call, 3)),
                      size_const(call, 1));
    else
        memset(it->axes, 0, sizeof it->axes);
    it->axes[it->rank++] = size_argument(call, 2);
    return true;
}
