/*
 * operation - the operations of candle-core and candle-nn as data: operations.def.
 *
 * A row says what one method or function does to the facts of its operands. It is found by
 * canonical path; methods of tensors are `candle_core::Tensor::matmul`, layers
 * `candle_nn::RmsNorm::forward`. Rows were compared with the sources of candle 0.8.4 to 0.11.1
 * (tools/operations); where an operation came later, operation_since says when. Nothing here knows
 * about values: model/flow keeps the facts, model/flow_apply computes them.
 */
#ifndef CG_MODEL_OPERATION_H
#define CG_MODEL_OPERATION_H

#include "base/str.h"

/* Which sizes the result has. */
enum operation_shape {
#define SHAPE(name, rule, word) SHAPE_##name,
#include "model/operation_shapes.def"
#undef SHAPE
};

enum operation_dtype {
    DTYPE_UNKNOWN,
    DTYPE_SAME,     /* of the first tensor */
    DTYPE_EQUAL,    /* all tensors must have the same; with integer operands too */
    DTYPE_SECOND,   /* of the second and third: where_cond */
    DTYPE_ARGUMENT, /* the argument that is one */
    DTYPE_ELEMENT,  /* of the numbers given */
    DTYPE_U8,
    DTYPE_U32,
    DTYPE_F32,
    DTYPE_WEIGHT, /* of the layer's table: Embedding */
};

enum operation_gradient {
    GRADIENT_UNKNOWN,
    GRADIENT_PASSES,
    GRADIENT_SEVERS,  /* no backward step: nothing flows to any operand */
    GRADIENT_DEPENDS, /* on how the operand lies in memory: `condition` */
    GRADIENT_FAILS,   /* backward returns an error: `condition` */
    GRADIENT_SOURCE,  /* no operands */
};

enum operation_layout {
    LAYOUT_UNKNOWN,
    LAYOUT_FRESH, /* a new contiguous buffer */
    LAYOUT_SAME,  /* of the first operand: it only looks at it */
    LAYOUT_STRIDED,
    LAYOUT_NARROW, /* strided unless it is the first axis of a contiguous one */
    LAYOUT_CAST,   /* new when the dtype changes, else the operand */
};

enum operation_domain {
    DOMAIN_UNKNOWN,
    DOMAIN_ALL,  /* any number */
    DOMAIN_SAME, /* of the first operand */
    DOMAIN_JOIN, /* of the tensors */
    DOMAIN_SUM,
    DOMAIN_CALL, /* interval_apply of `function` */
    DOMAIN_ADD,
    DOMAIN_SUB,
    DOMAIN_MUL,
    DOMAIN_DIV,
    DOMAIN_MIN,
    DOMAIN_MAX,
    DOMAIN_CLAMP,
    DOMAIN_AFFINE,
    DOMAIN_POWF,
    DOMAIN_POW,
    DOMAIN_UNIT, /* [0, 1], both ends happen */
    DOMAIN_NONPOSITIVE,
    DOMAIN_NONNEGATIVE,
    DOMAIN_ZERO,
    DOMAIN_ONE,
    DOMAIN_GIVEN, /* the number or list given */
    DOMAIN_RANGE, /* arange */
    DOMAIN_RAND,
    DOMAIN_CAST,
    DOMAIN_PAD,        /* and 0 */
    DOMAIN_PRODUCT,    /* sums of products of the two tensors */
    DOMAIN_DROPOUT,    /* times 0 or a factor above 1 */
    DOMAIN_SCATTER,    /* the first tensor, with some of the second added */
    DOMAIN_ACTIVATION, /* of the variant of candle_nn::Activation */
    DOMAIN_WHERE,      /* JOIN, each way as far as the condition admits it */
    DOMAIN_ON_OFF,     /* one_hot: the two numbers given */
};

enum operation_need {
    NEED_NOTHING = 0,
    NEED_POSITIVE = 1 << 0,    /* the first operand */
    NEED_NONNEGATIVE = 1 << 1, /* the first operand */
    NEED_NONZERO = 1 << 2,     /* the first operand */
    NEED_DIVISOR = 1 << 3,     /* the second operand is not 0 */
    NEED_BASE = 1 << 4,        /* the first operand is above 0: pow */
    NEED_CONTIGUOUS = 1 << 5,  /* all tensors */
    NEED_MATRIX = 1 << 6,      /* matmul: a layout BLAS can take */
    NEED_INDEX = 1 << 7,       /* the ids are integers: U8, U32, I64 */
    NEED_FLOAT = 1 << 8,       /* a float type */
    NEED_NO_CPU_HALF = 1 << 9, /* no kernel for BF16 on the CPU before OPERATION_HALF_SINCE */
    NEED_GPU = 1 << 10,        /* no kernel on the CPU */
    NEED_LOSS = 1 << 11,       /* no need: what comes out is a loss */
    NEED_TRAIN = 1 << 12,      /* no need: behaves differently while training */
};

typedef struct operation_row {
    const char *path;
    /*
     * What the arguments are, one letter each, the receiver of a method first:
     * t tensor that carries a gradient, x ids or mask, l list of tensors, o tensor or number, f
     * number, i size, d axis, D axes, s shape, k dtype, v device, b bool, h host data, m module, r
     * ranges, _ other.
     */
    const char *operands;
    uint8_t path_size; /* bytes of the path */
    uint8_t shape, dtype, gradient, layout, domain, function;
    uint16_t needs;
} operation_row;

typedef uint16_t operation; /* 0: none */

/* candle-core 0.11.1, as CATALOGUE_VERSION makes it. */
#define OPERATION_HALF_SINCE ((uint32_t)11 << 10 | 1u)

operation operation_count(void); /* one more than the last */
const operation_row *operation_at(operation which);
/* By canonical path; 0 when the table has no such operation. */
operation operation_find(cg_str path);
/* The first version that has it, as CATALOGUE_VERSION makes them; 0: all that were read. */
uint32_t operation_since(operation which);
/* When the gradient is cut or fails: `contiguous_input`; NULL: always. */
const char *operation_condition(operation which);
/* The differentiable twin, by path; NULL: none. */
const char *operation_alternative(operation which);
/* `matmul`, `softmax_last_dim`; for layers with their type, `RmsNorm::forward`. */
cg_str operation_name(operation which);
/* The words of model/1. */
const char *operation_shape_rule(operation which);
const char *operation_dtype_rule(operation which);
const char *operation_gradient_rule(operation which);

#endif
