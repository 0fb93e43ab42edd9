#include "model/operation.h"

#define IS(rule)     DOMAIN_##rule, 0
#define OF(function) DOMAIN_CALL, INTERVAL_##function

#include "model/interval.h"

static const operation_row ROWS[] = {
    {.path = ""},
#define OP(path, operands, shape, dtype, gradient, layout, domain, needs)                          \
    OP_EXPANDED(path, operands, SHAPE_##shape, DTYPE_##dtype, GRADIENT_##gradient,                 \
                LAYOUT_##layout, domain, (uint16_t)(NEED_##needs))
#define OP_EXPANDED(path, operands, shape, dtype, gradient, layout, ...)                           \
    {path, operands, sizeof(path) - 1, shape, dtype, gradient, layout, __VA_ARGS__},
#include "model/operations.def"
#undef OP
#undef OP_EXPANDED
};

#define ROW_COUNT (sizeof ROWS / sizeof ROWS[0])

typedef struct cut_row {
    const char *path, *condition, *alternative;
} cut_row;

static const cut_row CUTS[] = {
#define CUT(path, condition, alternative) {path, condition, alternative},
#include "model/operations.def"
#undef CUT
};

static const struct {
    const char *path;
    uint32_t version;
} SINCES[] = {
#define SINCE(path, major, minor, patch)                                                           \
    {path, (uint32_t)(major) << 20 | (uint32_t)(minor) << 10 | (uint32_t)(patch)},
#include "model/operations.def"
#undef SINCE
};

operation operation_count(void)
{
    return (operation)ROW_COUNT;
}

const operation_row *operation_at(operation which)
{
    return &ROWS[which];
}

/* The last two parts: `Tensor::matmul`. */
static cg_str short_path(cg_str path)
{
    unsigned colons = 0;

    for (size_t i = path.len; i > 0; i--) {
        if (path.ptr[i - 1] == ':' && ++colons == 3)
            return (cg_str){path.ptr + i, path.len - i};
    }
    return path;
}

static cg_str row_path(size_t row)
{
    return (cg_str){ROWS[row].path, ROWS[row].path_size};
}

operation operation_find(cg_str path)
{
    cg_str wanted = short_path(path);

    for (size_t i = 1; i < ROW_COUNT && wanted.len > 0; i++) {
        cg_str row = row_path(i);

        if (row.ptr[row.len - 1] == wanted.ptr[wanted.len - 1] &&
            str_equal(short_path(row), wanted))
            return (operation)i;
    }
    return 0;
}

static const cut_row *find_cut(operation which)
{
    cg_str path = short_path(row_path(which));

    for (size_t i = 0; i < sizeof CUTS / sizeof CUTS[0]; i++) {
        if (str_equal(path, str_from(CUTS[i].path)))
            return &CUTS[i];
    }
    return NULL;
}

uint32_t operation_since(operation which)
{
    cg_str path = short_path(row_path(which));

    for (size_t i = 0; i < sizeof SINCES / sizeof SINCES[0]; i++) {
        if (str_equal(path, str_from(SINCES[i].path)))
            return SINCES[i].version;
    }
    return 0;
}

const char *operation_condition(operation which)
{
    const cut_row *cut = find_cut(which);

    return cut == NULL ? NULL : cut->condition;
}

const char *operation_alternative(operation which)
{
    const cut_row *cut = find_cut(which);

    return cut == NULL ? NULL : cut->alternative;
}

cg_str operation_name(operation which)
{
    cg_str path = row_path(which);
    size_t at = path.len;

    if (which == 0)
        return path;
    /* A layer says which one it is; functions and methods of tensors do not need it. */
    if (ROWS[which].operands[0] == 'm')
        return short_path(path);
    while (at > 0 && path.ptr[at - 1] != ':')
        at--;
    return (cg_str){path.ptr + at, path.len - at};
}

const char *operation_shape_rule(operation which)
{
    switch ((enum operation_shape)ROWS[which].shape) {
    case SHAPE_RESHAPE:
    case SHAPE_GIVEN:
    case SHAPE_LEFT:
    case SHAPE_HOLE:
    case SHAPE_SQUARE: return "explicit_argument";
    case SHAPE_FLATTEN:
    case SHAPE_FLATTEN_FROM:
    case SHAPE_FLATTEN_TO:
    case SHAPE_FLATTEN_ALL: return "flatten";
    case SHAPE_REDUCE:
    case SHAPE_SQUEEZE:
    case SHAPE_GET:
    case SHAPE_GET_ON: return "remove_dimension";
    case SHAPE_UNSQUEEZE:
    case SHAPE_STACK: return "insert_dimension";
    case SHAPE_TRANSPOSE:
    case SHAPE_T:
    case SHAPE_PERMUTE: return "permute_dimensions";
    case SHAPE_NARROW:
    case SHAPE_CHUNK:
    case SHAPE_SPLIT:
    case SHAPE_INDEX: return "slice_dimension";
    case SHAPE_MATMUL:
    case SHAPE_BROADCAST_MATMUL:
    case SHAPE_LINEAR: return "matrix_product";
    case SHAPE_UNKNOWN:
    case SHAPE_SAME:
    case SHAPE_EQUAL:
    case SHAPE_BROADCAST:
    case SHAPE_SCALAR:
    case SHAPE_KEEP:
    case SHAPE_CAT:
    case SHAPE_REPEAT:
    case SHAPE_PAD:
    case SHAPE_SELECT:
    case SHAPE_GATHER:
    case SHAPE_EMBEDDING:
    case SHAPE_WHERE:
    case SHAPE_CONV1D:
    case SHAPE_CONV2D:
    case SHAPE_CONV_TRANSPOSE1D:
    case SHAPE_CONV_TRANSPOSE2D:
    case SHAPE_POOL2D:
    case SHAPE_RESIZE1D:
    case SHAPE_RESIZE2D:
    case SHAPE_NORM:
    case SHAPE_CHANNELS:
    case SHAPE_UNFOLD:
    case SHAPE_MV:
    case SHAPE_DOT:
    case SHAPE_NEW:
    case SHAPE_ARANGE:
    case SHAPE_LIKE:
    case SHAPE_ONE_HOT:
    case SHAPE_SHUFFLE:
    case SHAPE_UNSHUFFLE:
    case SHAPE_PAD2D:
    case SHAPE_HALF_LAST:
    case SHAPE_ROPE:
    case SHAPE_GROWN:
    case SHAPE_SDPA: return "preserve_or_operation_defined";
    }
    return "preserve_or_operation_defined";
}

const char *operation_dtype_rule(operation which)
{
    switch ((enum operation_dtype)ROWS[which].dtype) {
    case DTYPE_UNKNOWN: return "Unknown";
    case DTYPE_SAME: return "Preserve";
    case DTYPE_EQUAL:
    case DTYPE_SECOND:
    case DTYPE_WEIGHT: return "SameAsInputs";
    case DTYPE_ARGUMENT:
    case DTYPE_ELEMENT: return "Explicit";
    case DTYPE_U8: return "Fixed(U8)";
    case DTYPE_U32: return "Fixed(U32)";
    case DTYPE_F32: return "Fixed(F32)";
    }
    return "Unknown";
}

const char *operation_gradient_rule(operation which)
{
    switch ((enum operation_gradient)ROWS[which].gradient) {
    case GRADIENT_UNKNOWN:
    case GRADIENT_SOURCE: return "Unknown";
    case GRADIENT_PASSES:
    case GRADIENT_FAILS: return "Propagates";
    case GRADIENT_SEVERS: return "Severs";
    case GRADIENT_DEPENDS: return "LayoutDependent";
    }
    return "Unknown";
}
