#include "model/flow_shape.h"

#include "model/shape_rules.h"

bool shape_unknown(flow_call *call)
{
    (void)call;
    return true;
}

bool flow_shape_apply(flow_call *call)
{
    static bool (*const rules[])(flow_call *call) = {
#define SHAPE(name, rule, word) [SHAPE_##name] = shape_##rule,
#include "model/operation_shapes.def"
#undef SHAPE
    };

    return rules[call_row(call)->shape](call);
}
