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

/* What model/1 says of rules of sizes. */
#define WORD_ARGUMENT "explicit_argument"
#define WORD_FLATTEN  "flatten"
#define WORD_REMOVE   "remove_dimension"
#define WORD_INSERT   "insert_dimension"
#define WORD_PERMUTE  "permute_dimensions"
#define WORD_SLICE    "slice_dimension"
#define WORD_PRODUCT  "matrix_product"
#define WORD_OWN      "preserve_or_operation_defined"

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
        if (str_is(path, CUTS[i].path))
            return &CUTS[i];
    }
    return NULL;
}

uint32_t operation_since(operation which)
{
    cg_str path = short_path(row_path(which));

    for (size_t i = 0; i < sizeof SINCES / sizeof SINCES[0]; i++) {
        if (str_is(path, SINCES[i].path))
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
    static const char *const words[] = {
#define SHAPE(name, rule, word) [SHAPE_##name] = WORD_##word,
#include "model/operation_shapes.def"
#undef SHAPE
    };

    return words[ROWS[which].shape];
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
