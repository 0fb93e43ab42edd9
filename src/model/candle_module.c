#include "model/candle_module.h"

#include <math.h>

#include "base/num.h"
#include "base/str_name.h"
#include "model/candle_builder.h"
#include "model/candle_forward.h"
#include "model/candle_shape.h"
#include "model/candle_tensor.h"
#include "model/catalogue.h"
#include "model/std_handlers.h"
#include "model/std_text.h"
#include "model/value_kinds.h"

#define ALTERNATIVES_SINCE CATALOGUE_VERSION(0, 11, 1)
#define PARAMETERS         10 /* of one constructor */
#define FIELDS             16 /* of one layer or configuration */

enum row_kind { ROW_CONSTRUCTOR, ROW_KEY, ROW_FIELD };

typedef struct module_row {
    uint8_t kind;
    uint8_t name_size; /* bytes of a constructor's path */
    const char *name;  /* path, key or field */
    const char *text;  /* parameters, shape or value */
    const char *third; /* type or condition */
    const char *field;
    const char *alternative;
} module_row;

static const module_row ROWS[] = {
#define CONSTRUCTOR(path, names, type)                                                             \
    {ROW_CONSTRUCTOR, sizeof(path) - 1, path, names, type, NULL, NULL},
#define KEY(key, shape, condition, field, other) {ROW_KEY, 0, key, shape, condition, field, other},
#define FIELD(field, value)                      {ROW_FIELD, 0, field, value, NULL, NULL, NULL},
#include "model/candle_modules.def"
#undef CONSTRUCTOR
#undef KEY
#undef FIELD
};

#define ROW_COUNT (sizeof ROWS / sizeof ROWS[0])

static const char *const CONFIGS[][3] = {
#define CONFIG(path, type, fields) {path, type, fields},
#include "model/candle_modules.def"
#undef CONFIG
};

static const char *const ACCESSORS[][3] = {
#define ACCESSOR(type, method, field) {type, method, field},
#include "model/candle_modules.def"
#undef ACCESSOR
};

static const char *const ENUMS[] = {
#define CHOICES(type) type,
#include "model/candle_modules.def"
#undef CHOICES
};

static cg_code no_memory(const library_call *call)
{
    return err_nomem(call->eval->reterr);
}

static sym symbol_of(const library_call *call, cg_str text)
{
    return intern_add(&call->eval->program->names, text);
}

/* The text up to the separator; *rest is what follows, absent at the end. */
static cg_str cut(cg_str *rest, char separator)
{
    cg_str part = *rest;

    for (size_t i = 0; i < rest->len; i++) {
        if (rest->ptr[i] != separator)
            continue;
        part.len = i;
        *rest = (cg_str){rest->ptr + i + 1, rest->len - i - 1};
        return part;
    }
    *rest = (cg_str){NULL, 0};
    return part;
}

/* --- arguments by name --- */

typedef struct bound {
    library_call *call;
    cg_str names[PARAMETERS];
    cg_str configs[PARAMETERS]; /* what the argument is converted into; absent mostly */
    val values[PARAMETERS];
    size_t count;
    size_t builder; /* which, SIZE_MAX: none */
} bound;

static void read_parameters(const char *text, bound *ret)
{
    cg_str rest = str_from(text);

    ret->count = 0;
    ret->builder = SIZE_MAX;
    while (rest.len > 0 && ret->count < PARAMETERS) {
        cg_str name = cut(&rest, ' ');
        cg_str config = name;

        name = cut(&config, ':');
        if (str_equal(name, CG_LIT("vb")))
            ret->builder = ret->count;
        ret->names[ret->count] = name;
        ret->configs[ret->count++] = config;
    }
}

/* A field of a library's value, also when nothing is known about the value. */
static val field_value(library_call *call, val of, cg_str field)
{
    eval *self = call->eval;
    sym name = symbol_of(call, field);
    val found = name == 0 ? 0 : value_field_of(self->values, of, name);
    cg_str text;

    if (found != 0 || name == 0)
        return found;
    if (!value_print(self->values, of, &text) ||
        !arena_format(&self->values->mem, &text, "%.*s.%.*s", (int)text.len, text.ptr,
                      (int)field.len, field.ptr))
        return 0;
    return value_unknown(self->values, 0, text);
}

/* `cfg.affine`, `eps`: 0 when there is no such argument, or no memory. */
static val lookup(const bound *args, cg_str path)
{
    cg_str field = path;
    cg_str name = cut(&field, '.');

    for (size_t i = 0; i < args->count; i++) {
        if (!str_equal(args->names[i], name))
            continue;
        return field.ptr == NULL ? args->values[i]
                                 : field_value(args->call, args->values[i], field);
    }
    return 0;
}

/* --- texts of the table --- */

static expr option_size(const bound *args, cg_str path, cg_str otherwise)
{
    library_call *call = args->call;
    val option = lookup(args, path);
    uint64_t number = 0;
    val inner[1];
    val size = 0;

    if (option == 0 || !num_read_u64(otherwise, &number))
        return EXPR_NONE;
    inner[0] = value_int(call->eval->values, expr_const(call->eval->exprs, (int64_t)number));
    if (inner[0] == 0 || std_run_on(call, option, "unwrap_or", inner, 1, &size) != CG_OK)
        return EXPR_NONE;
    return candle_size(call->eval, size);
}

static expr atom(const bound *args, cg_str text)
{
    eval *self = args->call->eval;
    uint64_t number = 0;
    cg_str otherwise = text;
    cg_str path = cut(&otherwise, '?');
    val found;

    if (num_read_u64(text, &number))
        return expr_const(self->exprs, (int64_t)number);
    if (otherwise.ptr != NULL)
        return option_size(args, path, otherwise);
    found = lookup(args, text);
    return found == 0 ? EXPR_NONE : candle_size(self, found);
}

/* Products and quotients, from left to right. */
static expr size_of_text(const bound *args, cg_str text)
{
    expr_pool *pool = args->call->eval->exprs;
    cg_str rest = str_trim(text);
    expr result = atom(args, cut(&rest, ' '));

    while (rest.len > 0) {
        cg_str op = cut(&rest, ' ');
        expr next = atom(args, cut(&rest, ' '));

        result = expr_binary(pool, str_equal(op, CG_LIT("/")) ? EXPR_DIV : EXPR_MUL, result, next);
    }
    return result;
}

static uint32_t shape_of_text(const bound *args, const char *text, expr *axes)
{
    cg_str rest = str_from(text);
    uint32_t rank = 0;

    while (rest.ptr != NULL && rank < CANDLE_AXES)
        axes[rank++] = size_of_text(args, cut(&rest, ','));
    return rank;
}

/* A field of an argument inside a key: numbers, and the direction of an LSTM. */
static void add_key_value(std_text *text, const bound *args, cg_str path)
{
    val found = lookup(args, path);
    const value *at = found == 0 ? NULL : value_at(args->call->eval->values, found);
    cg_str variant;

    if (at == NULL) {
        text->failed = true;
        return;
    }
    if (at->kind != VALUE_ENUM || at->variant == 0) {
        std_text_value(text, found);
        return;
    }
    variant = program_text(args->call->eval->program, at->variant);
    if (str_equal(variant, CG_LIT("Backward")))
        std_text_add(text, CG_LIT("_reverse"));
}

static bool key_of_text(const bound *args, const char *key, text_pieces *ret)
{
    cg_str rest = str_from(key);
    std_text text;

    std_text_begin(&text, args->call->eval);
    while (rest.len > 0) {
        std_text_add(&text, cut(&rest, '{'));
        if (rest.len > 0)
            add_key_value(&text, args, cut(&rest, '}'));
    }
    return std_text_end_pieces(&text, ret);
}

enum presence { PRESENT, ABSENT, PERHAPS };

static enum presence present(const bound *args, const char *condition, cg_str *ret_text)
{
    eval *self = args->call->eval;
    val found = lookup(args, str_from(condition));
    const value *at = found == 0 ? NULL : value_at(self->values, found);
    cg_str text = str_from(condition);

    *ret_text = (cg_str){NULL, 0};
    if (condition[0] == '\0')
        return PRESENT;
    if (at != NULL && at->kind == VALUE_BOOL && at->is_known)
        return at->as.number != 0 ? PRESENT : ABSENT;
    if (at != NULL && at->kind == VALUE_SOME)
        return PRESENT;
    if (at != NULL && at->kind == VALUE_NOTHING)
        return ABSENT;
    if (found != 0)
        (void)value_print(self->values, found, &text);
    (void)arena_format(&self->trail->mem, ret_text, "if %.*s", STR_NAME(text));
    return PERHAPS;
}

/* true, 0.1, None, [], Some(x), or an argument. */
static val value_of_text(const bound *args, cg_str text)
{
    eval *self = args->call->eval;
    value it = {.is_known = true};
    uint64_t number = 0;

    if (str_equal(text, CG_LIT("None")))
        return std_plain(self, VALUE_NOTHING);
    if (str_equal(text, CG_LIT("[]")))
        return std_vec_of(self, NULL, 0);
    if (str_equal(text, CG_LIT("?")))
        return value_unknown(self->values, 0, text);
    if (str_equal(text, CG_LIT("Some")))
        return std_some(self, value_unknown(self->values, 0, CG_LIT("?")));
    if (str_equal(text, CG_LIT("true")) || str_equal(text, CG_LIT("false"))) {
        it.kind = VALUE_BOOL;
        it.as.number = text.len == 4;
        return value_make(self->values, &it);
    }
    if (str_starts_with(text, CG_LIT("Some(")))
        return std_some(self, lookup(args, (cg_str){text.ptr + 5, text.len - 6}));
    if (num_read_u64(text, &number))
        return value_int(self->values, expr_const(self->exprs, (int64_t)number));
    return lookup(args, text);
}

/* --- configurations --- */

/* `0.1`, `1e-5`: digits, a point, an exponent. */
static bool read_real(cg_str text, double *ret)
{
    double number = 0;
    double scale = 1;
    uint64_t power = 0;
    bool has_point = false;

    if (text.len == 0 || text.ptr[0] < '0' || text.ptr[0] > '9')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == 'e') {
            if (i + 2 >= text.len || text.ptr[i + 1] != '-' ||
                !num_read_u64((cg_str){text.ptr + i + 2, text.len - i - 2}, &power))
                return false;
            break;
        }
        if (c == '.') {
            has_point = true;
            continue;
        }
        number = number * 10 + (c - '0');
        scale *= has_point ? 10 : 1;
    }
    *ret = number / (scale * pow(10, (double)power));
    return true;
}

static val config_value(library_call *call, cg_str text)
{
    eval *self = call->eval;
    bound nothing = {.call = call};
    size_t colon = str_find_last(text, ':');
    uint64_t whole;
    double real;

    if (colon != SIZE_MAX) {
        value it = {.kind = VALUE_ENUM, .is_known = true};
        char path[64];

        if (colon < 1 || colon > sizeof path)
            return 0;
        memcpy(path, text.ptr, colon - 1);
        path[colon - 1] = '\0';
        it.type = std_type(self, path);
        it.variant = symbol_of(call, (cg_str){text.ptr + colon + 1, text.len - colon - 1});
        return it.variant == 0 ? 0 : value_make(self->values, &it);
    }
    if (!num_read_u64(text, &whole) && read_real(text, &real))
        return std_float(self, real);
    return value_of_text(&nothing, text);
}

static val make_config(library_call *call, const char *const row[3])
{
    cg_str rest = str_from(row[2]);
    value_field fields[FIELDS];
    size_t count = 0;

    if (row[2][0] == '=')
        return config_value(call, str_from(row[2] + 1));
    while (rest.len > 0 && count < FIELDS) {
        cg_str value_text = cut(&rest, ' ');
        cg_str name = cut(&value_text, '=');

        fields[count].name = symbol_of(call, name);
        fields[count].value = config_value(call, value_text);
        if (fields[count].name == 0 || fields[count].value == 0)
            return 0;
        count++;
    }
    return value_struct(call->eval->values, std_type(call->eval, row[1]), fields, count);
}

static const char *const *find_config(cg_str path)
{
    for (size_t i = 0; i < sizeof CONFIGS / sizeof CONFIGS[0]; i++) {
        if (str_is(path, CONFIGS[i][0]))
            return CONFIGS[i];
    }
    return NULL;
}

/*
 * A number becomes the default configuration with this eps, `Default::default()` the default one.
 */
static bool convert(library_call *call, cg_str config, val *inout)
{
    const value *at = std_at(call, *inout);
    enum value_kind kind = (enum value_kind)at->kind;
    const char *const *row;
    bool is_default = false;
    char path[64];
    size_t len;
    val made;

    if (kind == VALUE_UNKNOWN && at->type != 0 &&
        value_class(call->eval->values, value_transparent(call->eval->values, at->type)) ==
            CLASS_FLOAT)
        kind = VALUE_FLOAT;
    if (kind == VALUE_UNKNOWN)
        is_default = str_equal(at->text, CG_LIT(STD_DEFAULT));
    if (config.ptr == NULL || (kind != VALUE_FLOAT && kind != VALUE_INT && !is_default) ||
        config.len + 20 > sizeof path)
        return true;
    memcpy(path, "candle_nn::", 11);
    memcpy(path + 11, config.ptr, config.len);
    memcpy(path + 11 + config.len, "::default", 9);
    len = 20 + config.len;
    row = find_config((cg_str){path, len});
    made = row == NULL ? 0 : make_config(call, row);
    if (made != 0 && !is_default)
        made = value_with_field(call->eval->values, made, symbol_of(call, CG_LIT("eps")), *inout);
    if (made != 0)
        *inout = made;
    return made != 0;
}

/* --- constructors --- */

static size_t find_constructor(cg_str path)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (ROWS[i].name_size == path.len && path.len > 0 &&
            memcmp(path.ptr, ROWS[i].name, path.len) == 0)
            return i;
    }
    return ROW_COUNT;
}

/* Why a row may not hold for the version in use; absent when it does. */
static cg_str version_doubt(const eval *self)
{
    uint32_t version = self->catalogue == NULL ? 0 : self->catalogue->candle_nn;

    if (version == 0 || catalogue_is_verified(version))
        return (cg_str){NULL, 0};
    return CG_LIT("candle-nn of this version was not read");
}

static cg_str alternative_of(const eval *self, const module_row *row)
{
    uint32_t version = self->catalogue == NULL ? 0 : self->catalogue->candle_nn;

    if (row->alternative[0] == '\0' || version < ALTERNATIVES_SINCE)
        return (cg_str){NULL, 0};
    return str_from(row->alternative);
}

/* Ask for one key; *ret is what the field keeps. */
static cg_code ask(const bound *args, const module_row *row, cg_str path, val *ret)
{
    library_call *call = args->call;
    eval *self = call->eval;
    candle_parameter parameter = {.builder = args->values[args->builder], .how = path};
    size_t field_len = strlen(row->field);
    bool is_option = row->third[0] != '\0' || row->field[field_len - 1] == '!';
    enum presence presence = present(args, row->third, &parameter.condition);
    expr axes[CANDLE_AXES];

    if (presence == ABSENT) {
        *ret = std_plain(self, VALUE_NOTHING);
        return *ret == 0 ? no_memory(call) : CG_OK;
    }
    if (presence == PERHAPS && parameter.condition.ptr == NULL)
        return no_memory(call);
    if (presence == PRESENT)
        parameter.condition = version_doubt(self);
    if (!key_of_text(args, row->name, &parameter.key))
        return no_memory(call);
    parameter.rank = shape_of_text(args, row->text, axes);
    parameter.shape = axes;
    parameter.has_shape = true;
    parameter.library = symbol_of(call, path);
    parameter.alternative = alternative_of(self, row);
    parameter.is_running_state = str_starts_with(str_from(row->name), CG_LIT("running_"));
    CG_TRY(candle_register(call, &parameter, ret));
    if (presence == PERHAPS)
        *ret = std_perhaps(self, *ret);
    else if (is_option)
        *ret = std_some(self, *ret);
    return *ret == 0 ? no_memory(call) : CG_OK;
}

static cg_code construct(const bound *args, size_t row, cg_str path, val *ret)
{
    library_call *call = args->call;
    value_field fields[FIELDS];
    size_t count = 0;

    for (size_t i = row + 1; i < ROW_COUNT && ROWS[i].kind != ROW_CONSTRUCTOR; i++) {
        cg_str field = str_from(ROWS[i].kind == ROW_KEY ? ROWS[i].field : ROWS[i].name);

        if (count == FIELDS)
            break;
        if (str_ends_with(field, CG_LIT("!")))
            field.len--;
        fields[count].name = symbol_of(call, field);
        if (ROWS[i].kind == ROW_KEY) {
            CG_TRY(ask(args, &ROWS[i], path, &fields[count].value));
        } else {
            cg_str text = str_from(ROWS[i].text);
            double real = 0;

            fields[count].value =
                read_real(text, &real) ? std_float(call->eval, real) : value_of_text(args, text);
        }
        if (fields[count].name == 0 || fields[count].value == 0)
            return no_memory(call);
        count++;
    }
    *ret = value_struct(call->eval->values, std_type(call->eval, ROWS[row].third), fields, count);
    return *ret == 0 ? no_memory(call) : CG_OK;
}

typedef struct construct_ways {
    bound *args;
    const val *builders;
    size_t row;
    cg_str path;
} construct_ways;

static cg_code construct_way(void *context, size_t way, val *ret)
{
    construct_ways *self = context;

    self->args->values[self->args->builder] = self->builders[way];
    return construct(self->args, self->row, self->path, ret);
}

static bool are_builders(const library_call *call, const value *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (std_kind(call, choice->as.items[i]) != VALUE_BUILDER)
            return false;
    }
    return choice->count > 0;
}

/*
 * Builders that differ in nothing but where their tensors come from, a file or a map: the same keys
 * are asked for. One of them, that of the map before others; 0: they differ in more.
 */
static val one_of_origin(const library_call *call, const value *choice)
{
    const trail *track = call->eval->trail;
    const builder_value *first = std_at(call, choice->as.items[0])->as.builder;
    val found = choice->as.items[0];
    bool is_map = false;

    for (size_t i = 0; i < choice->count; i++) {
        const builder_value *at = std_at(call, choice->as.items[i])->as.builder;
        uint8_t source = at->root < track->roots.count ? track->roots.at[at->root].source
                                                       : (uint8_t)BUILDER_PARAMETER;

        if (source == BUILDER_PARAMETER || (source == BUILDER_VARMAP && is_map) ||
            at->condition != first->condition || at->rename != first->rename ||
            at->prefix.count != first->prefix.count)
            return 0;
        for (size_t k = 0; k < at->prefix.count; k++) {
            if (at->prefix.at[k].is_hole != first->prefix.at[k].is_hole ||
                !str_equal(at->prefix.at[k].text, first->prefix.at[k].text))
                return 0;
        }
        is_map = is_map || source == BUILDER_VARMAP;
        if (source == BUILDER_VARMAP)
            found = choice->as.items[i];
    }
    return found;
}

static void use_all(const library_call *call, const value *choice)
{
    for (size_t i = 0; i < choice->count; i++)
        trail_step_used(call->eval->trail, std_at(call, choice->as.items[i])->as.builder->last);
}

static cg_code give_constructed(library_call *call, size_t row, cg_str path)
{
    bound args = {.call = call};
    construct_ways ways = {.args = &args, .row = row, .path = path};
    const value *builder = NULL;
    cg_str condition;
    val result = 0;

    read_parameters(ROWS[row].text, &args);
    if (args.count != call->count)
        return CG_OK;
    for (size_t i = 0; i < args.count; i++) {
        args.values[i] = call->args[i];
        if (std_kind(call, args.values[i]) == VALUE_NEVER)
            return std_give(call, args.values[i]);
        if (!convert(call, args.configs[i], &args.values[i]))
            return no_memory(call);
    }
    if (args.builder != SIZE_MAX) {
        builder = std_at(call, args.values[args.builder]);
        if (builder->kind == VALUE_ERROR)
            return std_give(call, args.values[args.builder]);
        if (builder->kind != VALUE_BUILDER &&
            (builder->kind != VALUE_CHOICE || !are_builders(call, builder)))
            return CG_OK;
    }
    if (builder != NULL && builder->kind == VALUE_CHOICE) {
        val one = one_of_origin(call, builder);

        if (one != 0) {
            use_all(call, builder);
            args.values[args.builder] = one;
            builder = NULL;
        }
    }
    if (builder == NULL || builder->kind == VALUE_BUILDER) {
        CG_TRY(construct(&args, row, path, &result));
        return std_give(call, result);
    }
    ways.builders = builder->as.items;
    if (!std_condition(call->eval, args.values[args.builder], &condition))
        return no_memory(call);
    CG_TRY(eval_ways(call->eval, builder->count, condition, construct_way, &ways, &result));
    return std_give(call, result);
}

bool module_has(cg_str path)
{
    return find_constructor(path) < ROW_COUNT;
}

cg_code module_call(library_call *call, cg_str path)
{
    size_t row = find_constructor(path);
    const char *const *config;

    if (row < ROW_COUNT)
        return give_constructed(call, row, path);
    config = call->count == 0 ? find_config(path) : NULL;
    return config == NULL ? CG_OK : std_give(call, make_config(call, config));
}

cg_code module_variant(library_call *call, cg_str path)
{
    size_t colon = str_find_last(path, ':');
    value it = {.kind = VALUE_ENUM, .is_known = true};
    value_field fields[FIELDS];

    if (colon == SIZE_MAX || colon < 2 || call->count > FIELDS || colon + 1 >= path.len ||
        path.ptr[colon + 1] < 'A' || path.ptr[colon + 1] > 'Z')
        return CG_OK;
    for (size_t i = 0; i < sizeof ENUMS / sizeof ENUMS[0]; i++) {
        if (!str_equal((cg_str){path.ptr, colon - 1}, str_from(ENUMS[i])))
            continue;
        it.type = std_type(call->eval, ENUMS[i]);
        it.variant = symbol_of(call, (cg_str){path.ptr + colon + 1, path.len - colon - 1});
        for (size_t k = 0; k < call->count; k++)
            fields[k] = (value_field){0, call->args[k]};
        it.count = (uint16_t)call->count;
        it.as.fields = fields;
        return std_give(call, it.variant == 0 ? 0 : value_make(call->eval->values, &it));
    }
    return CG_OK;
}

/* --- methods --- */

static cg_str last_part(cg_str path)
{
    size_t colon = str_find_last(path, ':');

    return colon == SIZE_MAX ? path : (cg_str){path.ptr + colon + 1, path.len - colon - 1};
}

static bool is_one_of(cg_str word, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (str_is(word, *words))
            return true;
    }
    return false;
}

static cg_code give_field(library_call *call, cg_str type_path)
{
    cg_str field = call->name;
    val found;

    if (call->count != 0 || std_kind(call, call->receiver) != VALUE_STRUCT)
        return CG_OK;
    for (size_t i = 0; i < sizeof ACCESSORS / sizeof ACCESSORS[0]; i++) {
        if (str_is(type_path, ACCESSORS[i][0]) && str_is(field, ACCESSORS[i][1]))
            field = str_from(ACCESSORS[i][2]);
    }
    found = value_field_of(call->eval->values, call->receiver, symbol_of(call, field));
    return found == 0 ? CG_OK : std_give(call, found);
}

/* `Sequential`: layers are added and kept. */
static cg_code sequential_method(library_call *call)
{
    eval *self = call->eval;
    sym name = symbol_of(call, CG_LIT("layers"));
    val layers = value_field_of(self->values, call->receiver, name);
    bool is_function = str_equal(call->name, CG_LIT("add_fn"));
    val layer = std_arg(call, 0);
    library_call push = {.eval = self, .place = call->place, .name = CG_LIT("push")};

    if (str_equal(call->name, CG_LIT("len")) && layers != 0) {
        val count = 0;

        CG_TRY(std_run_on(call, layers, "len", NULL, 0, &count));
        return std_give(call, count);
    }
    if ((!is_function && !str_equal(call->name, CG_LIT("add"))) || layer == 0)
        return CG_OK;
    if (is_function) {
        value_field f = {symbol_of(call, CG_LIT("f")), layer};

        layer = value_struct(self->values, std_type(self, "candle_nn::Func"), &f, 1);
    }
    if (layers == 0 || layer == 0)
        return layers == 0 ? std_give(call, call->receiver) : no_memory(call);
    push.receiver = layers;
    push.args = &layer;
    push.count = 1;
    CG_TRY(std_run(&push, STD_LIST));
    if (push.updated == 0)
        return std_give(call, call->receiver);
    return std_give(call, value_with_field(self->values, call->receiver, name, push.updated));
}

/* RmsNorm is a LayerNorm inside. */
static cg_code give_inner_norm(library_call *call)
{
    value it = *std_at(call, call->receiver);

    it.type = std_type(call->eval, "candle_nn::LayerNorm");
    return std_give(call, value_make(call->eval->values, &it));
}

/* `BatchNorm::weight_and_bias`: both or none. */
static cg_code give_weight_and_bias(library_call *call)
{
    val weight =
        value_field_of(call->eval->values, call->receiver, symbol_of(call, CG_LIT("weight")));
    val bias = value_field_of(call->eval->values, call->receiver, symbol_of(call, CG_LIT("bias")));
    val both = 0;

    if (weight == 0 || bias == 0)
        return unknown_perhaps(call);
    CG_TRY(std_run_on(call, weight, "zip", &bias, 1, &both));
    return std_give(call, both);
}

static cg_code compute(const library_call *call, const char *path, val of, const val *with,
                       size_t count, val *ret)
{
    library_call one = {
        .eval = call->eval, .place = call->place, .receiver = of, .args = with, .count = count};

    CG_TRY(tensor_operation(&one, str_from(path)));
    *ret = one.result;
    return CG_OK;
}

/*
 * `Conv2d::absorb_bn`: a convolution whose weight is scaled by the norm's, and whose bias is the
 * norm's with its own scaled likewise.
 */
static cg_code give_absorbed(library_call *call)
{
    eval *self = call->eval;
    values *all = self->values;
    sym names[2] = {symbol_of(call, CG_LIT("weight")), symbol_of(call, CG_LIT("bias"))};
    val norm = std_arg(call, 0), layer = call->receiver;
    val scale = value_field_of(all, norm, names[0]), shift = value_field_of(all, norm, names[1]);
    val weight = value_field_of(all, layer, names[0]), bias = value_field_of(all, layer, names[1]);
    val mean = value_field_of(all, norm, symbol_of(call, CG_LIT("running_mean")));
    val variance = value_field_of(all, norm, symbol_of(call, CG_LIT("running_var")));
    val one = value_int(all, expr_const(self->exprs, 1));
    val axes[4] = {value_int(all, EXPR_NONE), one, one, one}, shape, made;
    bool has_bias = bias != 0 && value_kind_of(all, bias) != VALUE_NOTHING;
    value some = {.kind = VALUE_SOME, .as.items = &made};

    if (self->flow == NULL || !scale || !shift || !weight || !mean || !variance)
        return std_give(call, layer);
    shape = value_list(all, VALUE_TUPLE, axes, 4);
    if (!shape)
        return no_memory(call);
    CG_TRY(compute(call, "candle_core::Tensor::sqrt", variance, NULL, 0, &variance));
    CG_TRY(compute(call, "candle_core::Tensor::div", scale, &variance, 1, &scale));
    if (has_bias)
        CG_TRY(compute(call, "candle_core::Tensor::sub", bias, &mean, 1, &mean));
    CG_TRY(compute(call, "candle_core::Tensor::mul", scale, &mean, 1, &mean));
    CG_TRY(compute(call, has_bias ? "candle_core::Tensor::add" : "candle_core::Tensor::sub", shift,
                   &mean, 1, &made));
    CG_TRY(compute(call, "candle_core::Tensor::reshape", scale, &shape, 1, &scale));
    CG_TRY(compute(call, "candle_core::Tensor::broadcast_mul", weight, &scale, 1, &weight));
    made = value_make(all, &some);
    layer = value_with_field(all, layer, names[0], weight);
    layer = layer && made ? value_with_field(all, layer, names[1], made) : 0;
    return layer ? std_give(call, layer) : no_memory(call);
}

static cg_code give_tensors(library_call *call, size_t count)
{
    val both[2];

    CG_TRY(tensor_give(call));
    both[0] = both[1] = call->result;
    return std_give(call, value_list(call->eval->values, VALUE_TUPLE, both, count));
}

static cg_code cache_method(library_call *call, cg_str type)
{
    static const char *const numbers[] = {"current_seq_len", "max_seq_len", "dim", "offset", "len",
                                          "head_dim",        NULL};
    static const char *const nothing[] = {"reset", "write_kv", "write_kv_batch",
                                          "reset_batch_index", NULL};
    static const char *const tensors[] = {"k",        "v",         "kv",   "current_data",
                                          "all_data", "attn_mask", "mask", NULL};

    if (is_one_of(call->name, numbers))
        return any_int(call);
    if (is_one_of(call->name, nothing))
        return any_unit(call);
    if (is_one_of(call->name, tensors)) {
        CG_TRY(tensor_give(call));
        return std_give(call, std_perhaps(call->eval, call->result));
    }
    if (!str_equal(call->name, CG_LIT("append")))
        return CG_OK;
    if (str_equal(type, CG_LIT("Cache")))
        return any_unit(call);
    return call->count >= 2 ? give_tensors(call, 2) : tensor_give(call);
}

static cg_code optimizer_method(library_call *call)
{
    trail_event event = {.kind = EVENT_BACKWARD,
                         .subject = std_arg(call, 0),
                         .detail = call->receiver,
                         .condition = call->eval->trail->condition,
                         .parameters = (uint32_t)call->eval->trail->parameters.count,
                         .place = call->place};

    if (str_equal(call->name, CG_LIT("learning_rate")))
        return any_float(call);
    if (str_equal(call->name, CG_LIT("backward_step"))) {
        if (!trail_add_event(call->eval->trail, &event))
            return no_memory(call);
        return any_unit(call);
    }
    if (str_equal(call->name, CG_LIT("params")) || str_equal(call->name, CG_LIT("into_inner")))
        return any_unknown(call);
    return any_unit(call);
}

/* What a layer nobody saw being made gives. */
static cg_code unseen_method(library_call *call, cg_str type_path)
{
    static const char *const tensors[] = {"weight", "embeddings", "running_mean", "running_var",
                                          NULL};
    static const char *const reals[] = {"eps", "momentum", NULL};
    static const char *const truths[] = {"is_scalar", "remove_mean", NULL};
    char path[128];

    if (is_one_of(call->name, tensors))
        return tensor_give(call);
    if (is_one_of(call->name, reals))
        return any_float(call);
    if (is_one_of(call->name, truths))
        return any_bool(call);
    if (str_equal(call->name, CG_LIT("hidden_size")))
        return any_int(call);
    if (str_equal(call->name, CG_LIT("bias")) || str_equal(call->name, CG_LIT("weight_and_bias"))) {
        CG_TRY(tensor_give(call));
        return std_give(call, std_perhaps(call->eval, call->result));
    }
    if (str_equal(call->name, CG_LIT("config")) && type_path.len + 7 < sizeof path) {
        memcpy(path, type_path.ptr, type_path.len);
        memcpy(path + type_path.len, "Config", 7);
        return std_give_opaque(call, VALUE_UNKNOWN, std_type(call->eval, path));
    }
    return CG_OK;
}

cg_code module_method(library_call *call, cg_str type_path)
{
    static const char *const forwards[] = {"forward",        "forward_t",       "forward_diff",
                                           "forward_train",  "forward_via_f16", "states_to_tensor",
                                           "dequantize_f16", "dequantize",      NULL};
    static const char *const states[] = {"zero_state", "step", "seq", "seq_init", NULL};
    static const char *const optimizers[] = {"AdamW", "SGD", NULL};
    cg_str type = last_part(type_path);

    CG_TRY(give_field(call, type_path));
    if (call->is_known)
        return CG_OK;
    CG_TRY(forward_method(call, type_path));
    if (call->is_known)
        return CG_OK;
    if (is_one_of(type, optimizers))
        return optimizer_method(call);
    if (is_one_of(call->name, forwards))
        return tensor_give(call);
    if (str_equal(type, CG_LIT("Sequential"))) {
        CG_TRY(sequential_method(call));
        return CG_OK;
    }
    if (str_ends_with(type, CG_LIT("Cache")))
        return cache_method(call, type);
    if (str_equal(call->name, CG_LIT("into_inner")) && str_equal(type, CG_LIT("RmsNorm")))
        return give_inner_norm(call);
    if (str_equal(call->name, CG_LIT("weight_and_bias")) &&
        std_kind(call, call->receiver) == VALUE_STRUCT)
        return give_weight_and_bias(call);
    if (str_equal(call->name, CG_LIT("absorb_bn")))
        return give_absorbed(call);
    if (is_one_of(call->name, states) &&
        (str_equal(type, CG_LIT("LSTM")) || str_equal(type, CG_LIT("GRU"))))
        return any_unknown(call);
    return unseen_method(call, type_path);
}
