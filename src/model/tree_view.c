#include "model/tree_view.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/sort.h"
#include "codec/escape.h"
#include "model/index.h"
#include "model/index_text.h"
#include "model/tree_known.h"
#include "model/tree_size.h"

#define NO_MODULE   UINT32_MAX
#define DTYPES_SEEN 16

/* What a module and everything below it holds. */
typedef struct holding {
    size_sum scalars;
    size_sum conditional; /* of it, what only some configurations ask for and the file lacks */
    uint64_t conditional_parameters;
    uint64_t parameters;
    sc_count bytes[DTYPES_SEEN];
    size_t dtype_count;
} holding;

/* One module while the tree is made; links are positions in doc->modules. */
typedef struct tree_module {
    uint32_t parent;
    uint32_t first_child;
    uint32_t next;
    uint32_t first_parameter; /* positions in doc->parameters */
    uint32_t node;            /* in the list of its component */
    size_term times;          /* of the whole way from the component */
    cg_str times_text;
    holding *holds;
} tree_module;

typedef struct planting {
    arena *mem;
    heap *heap;
    const model_doc *doc;
    const tree_options *options;
    tree_module *modules;
    uint32_t *next_parameter;
    uint32_t *order; /* modules in the order they are made in */
    text_index module_ids;
    text_index matches;
    tree_known known; /* of the component that is planted */
} planting;

static const model_module *module_at(const planting *self, size_t index)
{
    return MODEL_AT(self->doc->modules, model_module, index);
}

static const model_parameter *parameter_at(const planting *self, size_t index)
{
    return MODEL_AT(self->doc->parameters, model_parameter, index);
}

/* --- repetition --- */

/* What stands behind `x in `; readers of `repeat` other than this one take it as it is. */
static cg_str iterable_of(cg_str repeat)
{
    size_t at = str_find(repeat, CG_LIT(" in "));

    return at == SIZE_MAX ? repeat : (cg_str){repeat.ptr + at + 4, repeat.len - at - 4};
}

static cg_str without_zero(cg_str text)
{
    text = str_trim(text);
    if (text.len > 2 && text.ptr[0] == '(' && text.ptr[text.len - 1] == ')' &&
        str_find(text, CG_LIT("..")) != SIZE_MAX)
        text = str_trim((cg_str){text.ptr + 1, text.len - 2});
    if (text.len > 1 && text.ptr[0] == '0') {
        cg_str rest = str_trim((cg_str){text.ptr + 1, text.len - 1});

        if (str_starts_with(rest, CG_LIT("..")) && !str_starts_with(rest, CG_LIT("..=")))
            return str_trim((cg_str){rest.ptr + 2, rest.len - 2});
    }
    return text;
}

static bool is_name_byte(char byte)
{
    return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

/* `cfg.dims` of `cfg.dims.iter().enumerate()`, each element once; absent: of anything else. */
static cg_str walked_list(cg_str text)
{
    const cg_str adapters[] = {CG_LIT(".iter()"),      CG_LIT(".iter_mut()"),
                               CG_LIT(".into_iter()"), CG_LIT(".enumerate()"),
                               CG_LIT(".copied()"),    CG_LIT(".cloned()")};
    size_t whole = text.len;
    bool is_going = true;

    while (is_going) {
        is_going = false;
        for (size_t i = 0; i < sizeof adapters / sizeof *adapters; i++) {
            if (str_ends_with(text, adapters[i])) {
                text.len -= adapters[i].len;
                is_going = true;
            }
        }
    }
    for (size_t i = 0; i < text.len; i++) {
        if (!is_name_byte(text.ptr[i]) && text.ptr[i] != '.')
            return (cg_str){0};
    }
    return text.len > 0 && text.len < whole ? text : (cg_str){0};
}

/* `0..n` is n times, `2..5` three times, another list as often as it is long. */
static bool times_of(arena *mem, cg_str repeat, cg_str *ret)
{
    cg_str text = without_zero(without_zero(iterable_of(repeat)));
    cg_str list = walked_list(text);
    size_t dots = str_find(text, CG_LIT(".."));
    uint64_t from;
    uint64_t to;

    if (list.len > 0)
        return arena_format(mem, ret, "len(%.*s)", (int)list.len, list.ptr);
    if (dots == SIZE_MAX) {
        *ret = text;
        return true;
    }
    if (num_read_u64(str_trim((cg_str){text.ptr, dots}), &from) &&
        num_read_u64(str_trim((cg_str){text.ptr + dots + 2, text.len - dots - 2}), &to) &&
        to >= from)
        return arena_format(mem, ret, "%" PRIu64, to - from);
    return arena_format(mem, ret, "len(%.*s)", (int)text.len, text.ptr);
}

/* Is it one number for each round: nothing that gives several rounds the same? */
static bool is_one_each(cg_str placeholder)
{
    return placeholder.len > 0 && str_find(placeholder, CG_LIT("/")) == SIZE_MAX &&
           str_find(placeholder, CG_LIT("%")) == SIZE_MAX &&
           str_find(placeholder, CG_LIT("_m")) == SIZE_MAX && !str_equal(placeholder, CG_LIT("_"));
}

/* Does the loop count what the placeholder is made of: `{i+1}` of `i in 0..n`, `{k}` of `_ in`? */
static bool is_counted_by(cg_str repeat, cg_str placeholder)
{
    size_t end = str_find(repeat, CG_LIT(" in "));
    size_t start = 0;

    /* `dims.chunks(n())` is no number; a name of a list is taken for its length. */
    if (end == SIZE_MAX || str_find(repeat, CG_LIT("?")) != SIZE_MAX ||
        (str_find(iterable_of(repeat), CG_LIT("()")) != SIZE_MAX &&
         walked_list(iterable_of(repeat)).len == 0))
        return false;
    if (end == 1 && repeat.ptr[0] == '_')
        return true;
    for (size_t i = 0; i <= placeholder.len; i++) {
        bool is_word = i < placeholder.len && is_name_byte(placeholder.ptr[i]);

        if (is_word)
            continue;
        if (i > start && index_text_mentions((cg_str){repeat.ptr, end},
                                             (cg_str){placeholder.ptr + start, i - start}))
            return true;
        start = i + 1;
    }
    return false;
}

/*
 * How many numbers a placeholder is: as many as the rounds of the loop that counts it, of those
 * around the module, else nobody says.
 */
static bool times_placeholder(planting *self, uint32_t module, cg_str placeholder, cg_str *ret)
{
    for (uint32_t at = module; at != NO_MODULE && is_one_each(placeholder);
         at = self->modules[at].parent) {
        cg_str repeat = module_at(self, at)->repeat;

        if (repeat.len > 0 && is_counted_by(repeat, placeholder))
            return times_of(self->mem, repeat, ret);
    }
    return arena_format(self->mem, ret, "n{%.*s}", (int)placeholder.len, placeholder.ptr);
}

/* Does `{placeholder}` stand in the text already? */
static bool is_repeated(cg_str text, cg_str placeholder)
{
    cg_str braced = {placeholder.ptr - 1, placeholder.len + 2};

    return !str_equal(placeholder, CG_LIT("_")) && str_find(text, braced) != SIZE_MAX;
}

/* A factor for each placeholder of `key` behind `prefix`. One that stands there twice is one. */
static bool times_placeholders(planting *self, uint32_t module, cg_str key, cg_str prefix,
                               size_term *times)
{
    size_t depth = 0;
    size_t start = 0;

    for (size_t i = str_starts_with(key, prefix) ? prefix.len : 0; i < key.len; i++) {
        if (key.ptr[i] == '{') {
            start = depth == 0 ? i + 1 : start;
            depth++;
        } else if (key.ptr[i] == '}' && depth > 0) {
            cg_str placeholder = {key.ptr + start, i - start};
            cg_str factor;

            depth--;
            if (depth > 0 || is_repeated((cg_str){key.ptr, start - 1}, placeholder))
                continue;
            if (!times_placeholder(self, module, placeholder, &factor))
                return false;
            size_times_text(times, factor);
        }
    }
    return true;
}

/* --- links --- */

/* The number at the end of a module's id tells when it was made. */
static uint64_t instance_of(cg_str id)
{
    size_t colon = str_find_last(id, ':');
    uint64_t number;

    if (colon == SIZE_MAX ||
        !num_read_u64((cg_str){id.ptr + colon + 1, id.len - colon - 1}, &number))
        return UINT64_MAX;
    return number;
}

static bool order_modules(planting *self)
{
    size_t count = self->doc->modules.count;
    uint32_t *room = arena_take(self->mem, (count + 1) * sizeof *room);
    uint64_t *keys = arena_take(self->mem, (count + 1) * sizeof *keys);

    self->order = arena_take(self->mem, (count + 1) * sizeof *self->order);
    if (room == NULL || keys == NULL || self->order == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        self->order[i] = (uint32_t)i;
        keys[i] = instance_of(module_at(self, i)->id);
    }
    if (count > 0)
        sort_by_u64(self->order, room, count, keys);
    return true;
}

static bool link_modules(planting *self)
{
    size_t count = self->doc->modules.count;

    for (size_t i = 0; i < count; i++) {
        size_t parent = index_find(&self->module_ids, module_at(self, i)->parent);

        if (parent != INDEX_NONE &&
            !str_equal(module_at(self, parent)->component, module_at(self, i)->component))
            parent = INDEX_NONE;

        self->modules[i] = (tree_module){
            .parent = parent == INDEX_NONE || parent == i ? NO_MODULE : (uint32_t)parent,
            .first_child = NO_MODULE,
            .next = NO_MODULE,
            .first_parameter = NO_MODULE,
            .node = NO_MODULE,
            .times = size_one()};
    }
    /* From the last to the first, so that the lists come out in order. */
    for (size_t i = count; i > 0; i--) {
        uint32_t at = self->order[i - 1];
        uint32_t parent = self->modules[at].parent;

        if (parent != NO_MODULE) {
            self->modules[at].next = self->modules[parent].first_child;
            self->modules[parent].first_child = at;
        }
    }
    return true;
}

static void link_parameters(planting *self)
{
    for (size_t i = self->doc->parameters.count; i > 0; i--) {
        size_t module = index_find(&self->module_ids, parameter_at(self, i - 1)->module);

        if (module == INDEX_NONE)
            continue;
        self->next_parameter[i - 1] = self->modules[module].first_parameter;
        self->modules[module].first_parameter = (uint32_t)(i - 1);
    }
}

static bool begin(planting *self)
{
    const model_doc *doc = self->doc;
    sc_records matches = {self->options->matches, self->options->match_count};

    self->modules = arena_take(self->mem, (doc->modules.count + 1) * sizeof *self->modules);
    self->next_parameter =
        arena_take(self->mem, (doc->parameters.count + 1) * sizeof *self->next_parameter);
    if (self->modules == NULL || self->next_parameter == NULL ||
        !index_build(&self->module_ids, self->heap, &doc->modules, sizeof(model_module),
                     offsetof(model_module, id)) ||
        !index_build(&self->matches, self->heap, &matches, sizeof(tree_match),
                     offsetof(tree_match, parameter)) ||
        !order_modules(self) || !link_modules(self))
        return false;
    link_parameters(self);
    return true;
}

/* --- what is held --- */

static bool hold(planting *self, holding *holds, const size_term *scalars, cg_str dtype,
                 bool is_conditional)
{
    uint64_t bits = size_dtype_bits(dtype);
    uint64_t bytes;

    holds->parameters++;
    holds->conditional_parameters += is_conditional;
    if (is_conditional && !size_add(&holds->conditional, self->mem, scalars))
        return false;
    if (!size_add(&holds->scalars, self->mem, scalars))
        return false;
    if (bits == 0 || scalars->count > 0 || scalars->is_unknown)
        return true;
    bytes = num_sat_add(num_sat_mul(scalars->number, bits), 7) / 8;
    for (size_t i = 0; i < holds->dtype_count; i++) {
        if (str_equal(holds->bytes[i].key, dtype)) {
            holds->bytes[i].value = num_sat_add(holds->bytes[i].value, bytes);
            return true;
        }
    }
    if (holds->dtype_count < DTYPES_SEEN)
        holds->bytes[holds->dtype_count++] = (sc_count){dtype, bytes};
    return true;
}

/* Bytes in the order of dtypes; at most DTYPES_SEEN of them. */
static bool list_bytes(planting *self, const holding *holds, sc_counts *ret)
{
    sc_count *rows = arena_take(self->mem, (holds->dtype_count + 1) * sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < holds->dtype_count; i++) {
        size_t at = i;

        for (; at > 0 && str_compare(rows[at - 1].key, holds->bytes[i].key) > 0; at--)
            rows[at] = rows[at - 1];
        rows[at] = holds->bytes[i];
    }
    *ret = (sc_counts){rows, holds->dtype_count};
    return true;
}

static bool size_record(planting *self, const size_sum *sum, const void **ret)
{
    tree_size *size = arena_zero(self->mem, sizeof *size);

    if (size == NULL)
        return false;
    size->count = size_number(sum);
    size->unknown = sum->unknown;
    *ret = size;
    return size_text(sum, self->mem, &size->expression);
}

/* An axis in numbers, where they are known; else as it is written. */
static void print_axis(const planting *self, cg_str axis, buf *out)
{
    size_term term = size_one();

    size_times_text(&term, axis);
    tree_known_fill(&self->known, &term);
    if (term.count == 0 && !term.is_unknown)
        buf_addf(out, "%" PRIu64, term.number);
    else
        buf_add(out, axis);
}

static void print_axes(const planting *self, cg_str shape, buf *out)
{
    bool is_list = shape.len > 1 && shape.ptr[0] == '(' && shape.ptr[shape.len - 1] == ')';
    size_t start = is_list;
    size_t end = shape.len - is_list;
    int depth = 0;

    buf_byte(out, '(');
    for (size_t i = start; i <= end; i++) {
        char byte = i < end ? shape.ptr[i] : ',';

        depth += (byte == '(' || byte == '[' || byte == '{') -
                 (byte == ')' || byte == ']' || byte == '}');
        if (byte != ',' || (depth != 0 && i < end))
            continue;
        print_axis(self, str_trim((cg_str){shape.ptr + start, i - start}), out);
        if (i < end)
            buf_add(out, CG_LIT(", "));
        start = i + 1;
        while (start < end && shape.ptr[start] == ' ')
            start++;
        if (start == end)
            break; /* `(n,)` */
    }
    buf_byte(out, ')');
}

static bool shape_text(planting *self, const model_parameter *parameter, cg_str *ret)
{
    const sc_u64s *shape = &parameter->checkpoint_shape;
    buf text;
    bool is_done;

    if (shape->at == NULL && (self->known.sizes.count == 0 || parameter->symbolic_shape.len == 0)) {
        *ret = parameter->symbolic_shape;
        return true;
    }
    buf_init(&text, self->heap, SIZE_MAX);
    if (shape->at == NULL) {
        print_axes(self, parameter->symbolic_shape, &text);
    } else {
        buf_byte(&text, '(');
        for (size_t i = 0; i < shape->count; i++)
            buf_addf(&text, "%s%" PRIu64, i > 0 ? ", " : "", shape->at[i]);
        buf_byte(&text, ')');
    }
    is_done = !text.failed && arena_text(self->mem, buf_text(&text), ret);
    buf_free(&text);
    return is_done;
}

static bool has_match(const planting *self, const model_parameter *parameter)
{
    size_t match = index_find(&self->matches, parameter->id);

    return match != INDEX_NONE && self->options->matches[match].tensors > 0;
}

static bool term_text(planting *self, const size_term *term, cg_str *ret)
{
    size_sum sum = {0};

    if (term->count == 0)
        return arena_format(self->mem, ret, "%" PRIu64, term->number);
    return size_add(&sum, self->mem, term) && size_text(&sum, self->mem, ret);
}

/* The scalars of one parameter, in all layers of its family. */
static bool size_parameter(planting *self, const model_parameter *parameter,
                           const tree_module *module, cg_str prefix, size_term *ret,
                           cg_str *ret_times)
{
    size_t match = index_find(&self->matches, parameter->id);
    size_term term = module != NULL ? module->times : size_one();
    size_term rest = size_one();

    *ret_times = (cg_str){0};
    if (match != INDEX_NONE && self->options->matches[match].tensors > 0) {
        term = size_one();
        size_times_number(&term, self->options->matches[match].tensors);
    } else if (tree_known_members(&self->known, parameter->key) > 0) {
        term = size_one();
        size_times_number(&term, tree_known_members(&self->known, parameter->key));
    } else {
        if (!times_placeholders(self,
                                module != NULL ? (uint32_t)(module - self->modules) : NO_MODULE,
                                parameter->key, prefix, &rest))
            return false;
        size_times_number(&term, rest.number);
        for (size_t i = 0; i < rest.count; i++)
            size_times_text(&term, rest.factors[i]);
        tree_known_fill(&self->known, &term);
    }
    if ((term.number != 1 || term.count > 0) && !term_text(self, &term, ret_times))
        return false;
    if (parameter->checkpoint_shape.at != NULL) {
        for (size_t i = 0; i < parameter->checkpoint_shape.count; i++)
            size_times_number(&term, parameter->checkpoint_shape.at[i]);
    } else if (parameter->symbolic_shape.ptr != NULL) {
        size_times_shape(&term, parameter->symbolic_shape);
        tree_known_fill(&self->known, &term);
    } else {
        term.is_unknown = true;
    }
    *ret = term;
    return true;
}

/* The key as seen from the module: without the prefix and the dot behind it. */
static cg_str name_below(cg_str key, cg_str prefix)
{
    if (prefix.len == 0 || !str_starts_with(key, prefix) || key.len == prefix.len)
        return key;
    key = (cg_str){key.ptr + prefix.len, key.len - prefix.len};
    return key.ptr[0] == '.' ? (cg_str){key.ptr + 1, key.len - 1} : key;
}

/* A parameter counts for its module and everything that module stands in. */
static bool plant_parameter(planting *self, const model_parameter *parameter, uint32_t at,
                            holding *whole, tree_parameter *ret)
{
    const tree_module *module = at != NO_MODULE ? &self->modules[at] : NULL;
    cg_str prefix = at != NO_MODULE ? module_at(self, at)->prefix : CG_LIT("");
    bool is_conditional =
        parameter->certainty == MODEL_CERTAINTY_CONDITIONAL && !has_match(self, parameter);
    size_sum own = {0};
    size_term term;

    *ret = (tree_parameter){.id = parameter->id,
                            .key = parameter->key,
                            .name = name_below(parameter->key, prefix),
                            .builder_root = parameter->builder_root,
                            .dtype = parameter->checkpoint_dtype,
                            .certainty = parameter->certainty,
                            .role = parameter->role};
    if (!shape_text(self, parameter, &ret->shape) ||
        !size_parameter(self, parameter, module, prefix, &term, &ret->times) ||
        !size_add(&own, self->mem, &term) || !size_record(self, &own, &ret->scalars) ||
        !hold(self, whole, &term, parameter->checkpoint_dtype, is_conditional))
        return false;
    for (uint32_t up = at; up != NO_MODULE && self->modules[up].holds != NULL;
         up = self->modules[up].parent) {
        if (!hold(self, self->modules[up].holds, &term, parameter->checkpoint_dtype,
                  is_conditional))
            return false;
    }
    return true;
}

/* --- nodes --- */

/* How many members the file has of this family, in each of the families around it. */
static bool count_members(planting *self, uint32_t at)
{
    tree_module *it = &self->modules[at];
    uint64_t all = tree_known_members(&self->known, module_at(self, at)->prefix);
    size_term outer = it->parent != NO_MODULE ? self->modules[it->parent].times : size_one();

    if (all == 0 || outer.count > 0 || outer.number == 0 || all % outer.number != 0)
        return true;
    it->times = size_one();
    size_times_number(&it->times, all);
    return arena_format(self->mem, &it->times_text, "%" PRIu64, all / outer.number);
}

static bool open_node(planting *self, uint32_t at, uint64_t depth, tree_node *ret)
{
    const model_module *module = module_at(self, at);
    tree_module *it = &self->modules[at];
    cg_str around = it->parent != NO_MODULE ? module_at(self, it->parent)->prefix : CG_LIT("");
    cg_str name = name_below(module->prefix, around);
    size_term own = size_one();

    it->holds = arena_zero(self->mem, sizeof *it->holds);
    if (it->holds == NULL)
        return false;
    it->times = it->parent != NO_MODULE ? self->modules[it->parent].times : size_one();
    if (!times_placeholders(self, at, module->prefix, around, &own))
        return false;
    if (own.number != 1 || own.count > 0) {
        if (!term_text(self, &own, &it->times_text))
            return false;
        size_times_number(&it->times, own.number);
        for (size_t i = 0; i < own.count; i++)
            size_times_text(&it->times, own.factors[i]);
        if (!count_members(self, at))
            return false;
    }
    if (module->prefix.len == 0 || name.len == 0)
        name = module->field.len > 0 ? module->field : module->type_name;
    *ret = (tree_node){.id = module->id,
                       .depth = depth,
                       .name = name,
                       .type_name = module->type_name,
                       .builder_root = module->builder_root,
                       .prefix = module->prefix,
                       .times = it->times_text};
    if (it->parent != NO_MODULE && self->modules[it->parent].node != NO_MODULE)
        ret->parent = (opt_u64){self->modules[it->parent].node, true};
    return true;
}

static bool plant_own(planting *self, uint32_t at, holding *whole, tree_node *node)
{
    size_t count = 0;
    tree_parameter *rows;

    for (uint32_t i = self->modules[at].first_parameter; i != NO_MODULE;
         i = self->next_parameter[i])
        count++;
    rows = arena_take(self->mem, (count + 1) * sizeof *rows);
    if (rows == NULL)
        return false;
    count = 0;
    for (uint32_t i = self->modules[at].first_parameter; i != NO_MODULE;
         i = self->next_parameter[i]) {
        if (!plant_parameter(self, parameter_at(self, i), at, whole, &rows[count++]))
            return false;
    }
    node->own = (sc_records){rows, count};
    return true;
}

/* Depth first without recursion: down to the first child, else on to the next of the nearest. */
static bool plant_below(planting *self, uint32_t root, holding *whole, tree_node *nodes,
                        uint32_t *at_of, size_t *count, size_t most)
{
    uint64_t depth = 0;
    uint32_t at = root;

    while (*count < most) {
        tree_module *it = &self->modules[at];

        if (!open_node(self, at, depth, &nodes[*count]))
            return false;
        it->node = (uint32_t)*count;
        at_of[*count] = at;
        if (!plant_own(self, at, whole, &nodes[*count]))
            return false;
        (*count)++;
        if (it->first_child != NO_MODULE) {
            at = it->first_child;
            depth++;
            continue;
        }
        while (at != root && self->modules[at].next == NO_MODULE) {
            at = self->modules[at].parent;
            depth--;
        }
        if (at == root)
            return true;
        at = self->modules[at].next;
    }
    return true;
}

static bool conditional_record(planting *self, const holding *holds, const void **ret)
{
    return holds->conditional_parameters == 0 || size_record(self, &holds->conditional, ret);
}

static bool close_nodes(planting *self, tree_node *nodes, const uint32_t *at_of, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const holding *holds = self->modules[at_of[i]].holds;

        nodes[i].parameters = holds->parameters;
        if (!size_record(self, &holds->scalars, &nodes[i].scalars) ||
            !conditional_record(self, holds, &nodes[i].conditional) ||
            !list_bytes(self, holds, &nodes[i].bytes))
            return false;
    }
    return true;
}

static bool plant_component(planting *self, const model_component *component, tree_component *ret)
{
    size_t most = component->modules.count;
    tree_node *nodes = arena_zero(self->mem, (most + 1) * sizeof *nodes);
    uint32_t *at_of = arena_take(self->mem, (most + 1) * sizeof *at_of);
    holding *whole = arena_zero(self->mem, sizeof *whole);
    size_t count = 0;

    if (nodes == NULL || at_of == NULL || whole == NULL ||
        !tree_known_make(self->mem, self->doc, component->id, self->options->matches,
                         self->options->match_count, &self->known))
        return false;
    for (size_t i = 0; i < most; i++) {
        size_t at = index_find(&self->module_ids, component->modules.at[i]);

        if (at != INDEX_NONE && self->modules[at].parent == NO_MODULE &&
            !plant_below(self, (uint32_t)at, whole, nodes, at_of, &count, most))
            return false;
    }
    *ret = (tree_component){.id = component->id,
                            .qualified_name = component->qualified_name,
                            .source = component->source,
                            .parameters = whole->parameters,
                            .modules = {nodes, count},
                            .built_by = component->built_by};
    return close_nodes(self, nodes, at_of, count) &&
           size_record(self, &whole->scalars, &ret->scalars) &&
           conditional_record(self, whole, &ret->conditional) &&
           list_bytes(self, whole, &ret->bytes);
}

/* --- the tree --- */

static bool is_named(const model_component *component, cg_str name)
{
    return str_equal(component->id, name) || str_equal(component->qualified_name, name) ||
           str_equal(component->name, name);
}

static bool is_shown(const planting *self, const model_component *component, bool has_top)
{
    if (self->options->component.ptr != NULL)
        return is_named(component, self->options->component);
    return !has_top || component->is_nested != BOOL_TRUE;
}

static cg_code plant(planting *self, tree *ret, cg_err *reterr)
{
    const sc_records *components = &self->doc->components;
    tree_component *rows = arena_take(self->mem, (components->count + 1) * sizeof *rows);
    bool has_top = false;
    size_t count = 0;

    if (rows == NULL || !begin(self))
        return err_nomem(reterr);
    for (size_t i = 0; i < components->count; i++)
        has_top |= MODEL_AT(*components, model_component, i)->is_nested != BOOL_TRUE;
    for (size_t i = 0; i < components->count; i++) {
        const model_component *component = MODEL_AT(*components, model_component, i);

        if (is_shown(self, component, has_top) && !plant_component(self, component, &rows[count++]))
            return err_nomem(reterr);
    }
    if (count == 0 && self->options->component.ptr != NULL)
        return cg_fail(reterr, PROBLEM_QUERY_SELECT, "there is no component `%.*s`",
                       ERR_STR(self->options->component));
    *ret = (tree){.schema = CG_LIT(TREE_SCHEMA),
                  .analysis_id = self->doc->analysis_id,
                  .components = {rows, count}};
    for (size_t i = 0; i < self->doc->parameters.count; i++)
        ret->has_checkpoint |= parameter_at(self, i)->checkpoint_shape.at != NULL;
    return CG_OK;
}

cg_code module_tree_make(arena *mem, heap *from, const model_doc *doc, const tree_options *options,
                         tree *ret, cg_err *reterr)
{
    planting self = {.mem = mem, .heap = from, .doc = doc, .options = options};
    cg_code code = plant(&self, ret, reterr);

    index_free(&self.module_ids);
    index_free(&self.matches);
    return code;
}

void tree_json(const tree *self, jsonw *out)
{
    sc_write(out, &table_tree, self);
}

/* --- text --- */

static void text_size(const tree_size *size, buf *out)
{
    if (size->count.is_set)
        buf_addf(out, "%" PRIu64, size->count.value);
    else
        esc_tty(out, size->expression);
}

static void text_bytes(const sc_counts *bytes, buf *out)
{
    for (size_t i = 0; i < bytes->count; i++) {
        buf_addf(out, "  ");
        esc_tty(out, bytes->at[i].key);
        buf_addf(out, " %" PRIu64 " bytes", bytes->at[i].value);
    }
}

static void text_parameter(const tree_parameter *parameter, uint64_t depth, buf *out)
{
    buf_fill(out, ' ', 2 * (size_t)depth);
    esc_tty(out, parameter->name);
    if (parameter->shape.ptr != NULL) {
        buf_add(out, CG_LIT("  "));
        esc_tty(out, parameter->shape);
    }
    if (parameter->dtype.ptr != NULL) {
        buf_add(out, CG_LIT("  "));
        esc_tty(out, parameter->dtype);
    }
    if (parameter->certainty == MODEL_CERTAINTY_CONDITIONAL)
        buf_add(out, CG_LIT("  (conditional)"));
    buf_byte(out, '\n');
}

static void text_node(const tree_node *node, buf *out)
{
    buf_fill(out, ' ', 2 * (size_t)(node->depth + 1));
    esc_tty(out, node->name);
    if (!str_equal(node->name, node->type_name)) {
        buf_add(out, CG_LIT(": "));
        esc_tty(out, node->type_name);
    }
    if (node->times.len > 0) {
        buf_add(out, CG_LIT(" \xc3\x97 "));
        esc_tty(out, node->times);
    }
    if (node->parameters > 0) {
        buf_add(out, CG_LIT("  ["));
        text_size(node->scalars, out);
        buf_byte(out, ']');
        text_bytes(&node->bytes, out);
    }
    buf_byte(out, '\n');
    for (size_t i = 0; i < node->own.count; i++)
        text_parameter(MODEL_AT(node->own, tree_parameter, i), node->depth + 2, out);
}

static void text_built(const sc_records *calls, size_t at, buf *out)
{
    const model_built *built = MODEL_AT(*calls, model_built, at);
    bool has_others = false;

    for (size_t i = 0; i < calls->count; i++)
        has_others = has_others || !str_equal(MODEL_AT(*calls, model_built, i)->builder_root,
                                              built->builder_root);
    buf_add(out, CG_LIT("  in a file of "));
    esc_tty(out, built->function);
    buf_add(out, CG_LIT(" ("));
    esc_tty(out, built->source);
    buf_add(out, CG_LIT(") the keys"));
    if (has_others) {
        buf_add(out, CG_LIT(" of `"));
        esc_tty(out, built->builder_root);
        buf_byte(out, '`');
    }
    if (built->prefix.len == 0) {
        buf_add(out, CG_LIT(" are these\n"));
        return;
    }
    buf_add(out, CG_LIT(" begin with `"));
    esc_tty(out, built->prefix);
    buf_add(out, CG_LIT(".`\n"));
}

/* The part of a total that is a number; beside an expression its terms say what they are of. */
static void text_conditional(const tree_component *component, bool has_checkpoint, buf *out)
{
    const tree_size *whole = component->scalars;
    const tree_size *part = component->conditional;

    if (part == NULL || !whole->count.is_set || !part->count.is_set)
        return;
    buf_addf(out, " (%" PRIu64 " of them conditional%s)", part->count.value,
             has_checkpoint ? ", not in the file" : "");
}

static void text_component(const tree_component *component, const tree_options *options,
                           bool has_checkpoint, buf *out)
{
    esc_tty(out, component->qualified_name);
    buf_add(out, CG_LIT("  @"));
    esc_tty(out, component->source);
    buf_addf(out, "  %" PRIu64 " parameter%s", component->parameters,
             component->parameters == 1 ? "" : "s");
    if (component->parameters > 0) {
        buf_add(out, CG_LIT(", scalars: "));
        text_size(component->scalars, out);
        text_conditional(component, has_checkpoint, out);
        text_bytes(&component->bytes, out);
    }
    buf_byte(out, '\n');
    for (size_t i = 0; i < component->built_by.count; i++)
        text_built(&component->built_by, i, out);
    for (size_t i = 0; i < component->modules.count; i++) {
        const tree_node *node = MODEL_AT(component->modules, tree_node, i);

        if (options->depth == 0 || node->depth < options->depth)
            text_node(node, out);
    }
}

/* What the tree may lack, since nobody could read it. */
static void text_unread(const model_doc *doc, buf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < doc->findings.count; i++)
        count += str_equal(MODEL_AT(doc->findings, model_finding, i)->rule, CG_LIT("source-load"));
    if (count > 0)
        buf_addf(out,
                 "%zu place%s in the sources could not be read, and models may be missing here; "
                 "candle-graph check names %s\n",
                 count, count == 1 ? "" : "s", count == 1 ? "it" : "them");
}

void tree_text(const tree *self, const model_doc *doc, const tree_options *options, buf *out)
{
    if (self->components.count == 0)
        buf_add(out, CG_LIT("no model found: no type here is made from a VarBuilder\n"));
    for (size_t i = 0; i < self->components.count; i++) {
        if (i > 0)
            buf_byte(out, '\n');
        text_component(MODEL_AT(self->components, tree_component, i), options, self->has_checkpoint,
                       out);
    }
    text_unread(doc, out);
}
