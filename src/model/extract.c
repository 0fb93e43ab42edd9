#include "model/extract.h"

#include "base/sort.h"
#include "model/builders.h"
#include "model/flow.h"
#include "model/items.h"
#include "model/value_kinds.h"

#define KEPT_MOST       400000u /* instances and parameters of all components */
#define COLLISIONS_MOST 1000u   /* of one component */

/* How a function makes values of a type; the smaller, the more a constructor. */
enum candidate_rank { RANK_NEW, RANK_LOAD, RANK_INHERENT, RANK_TRAIT, RANK_BESIDE, RANK_ELSEWHERE };

typedef struct candidate {
    item_ref type; /* 0: a function component */
    item_ref function;
    uint8_t rank;
    cg_str path;
} candidate;

typedef struct extractor {
    extraction *out;
    eval *eval;
    program *program;
    types *types;
    VEC(candidate) candidates;
    sym path_option, path_vec;
    sym name_new, name_load;
    /* the component being made */
    extract_component *component;
    VEC(cg_str) roots;
    number_map keys;     /* of its parameters */
    number_map prefixes; /* of these, where it matters */
    const bool *is_own;  /* by parameter of the trail; NULL: all are */
    uint32_t *kept_as;   /* by instance of the trail: its place in the component; NULL: the same */
    size_t kept;
    uint32_t looped; /* repetition of the trail whose loops these are; 0: none */
    uint32_t loop_count;
    const extract_loop *loops;
    cg_err *reterr;
} extractor;

static cg_code nomem(extractor *self)
{
    return err_nomem(self->reterr);
}

static bool is_builder(const types *known, type_ref type)
{
    return builder_type_of(known, type) != BUILDER_NONE;
}

/* --- what functions take and give --- */

static bool type_holds_builder(extractor *self, type_ref type, unsigned depth)
{
    const model_type shape = *type_at(self->types, type);

    if (is_builder(self->types, type))
        return true;
    if (depth > 4 || shape.kind == TYPE_FUNCTION)
        return false;
    for (size_t i = 0; i < shape.arg_count; i++) {
        if (type_holds_builder(self, type_at(self->types, type)->args[i], depth + 1))
            return true;
    }
    return false;
}

typedef struct signature {
    ast_ref parameters; /* AST_PARAMETERS */
    ast_ref result;     /* its type, 0 */
    bool has_self;
} signature;

static signature signature_of(const extractor *self, item_ref function)
{
    const program_item item = self->program->items.at[function];
    const ast *tree = program_tree(self->program, item.file);
    signature got = {
        .parameters = ast_child(tree, item.node, ROLE_PARAMETERS),
        .result = ast_child(tree, item.node, ROLE_RETURN_TYPE),
        .has_self = item.has_self,
    };

    return got;
}

/* The type of `Self` where the function stands; 0 for a free one. */
static cg_code self_type_of(extractor *self, item_ref function, type_bindings *ret)
{
    const program_item item = self->program->items.at[function];

    *ret = (type_bindings){0};
    if (!item.owner)
        return CG_OK;
    const program_item *owner = &self->program->items.at[item.owner];
    const ast *tree = program_tree(self->program, owner->file);

    if (owner->kind == ITEM_IMPL)
        return type_lower(self->types, owner->module, owner->file,
                          ast_child(tree, owner->node, ROLE_TYPE), NULL, &ret->self_type,
                          self->reterr);
    return CG_OK;
}

static cg_code lower_in(extractor *self, item_ref function, const type_bindings *bindings,
                        ast_ref node, type_ref *ret)
{
    const program_item item = self->program->items.at[function];

    *ret = 0;
    return node ? type_lower(self->types, item.module, item.file, node, bindings, ret, self->reterr)
                : CG_OK;
}

/* The name a parameter binds, `_` when its pattern is more than a name. */
static cg_str parameter_name(const extractor *self, const ast *tree, ast_ref parameter)
{
    ast_ref pattern = ast_child(tree, parameter, ROLE_PATTERN);

    while (pattern && (ast_kind_of(tree, pattern) == AST_MUT_PATTERN ||
                       ast_kind_of(tree, pattern) == AST_REF_PATTERN ||
                       ast_kind_of(tree, pattern) == AST_REFERENCE_PATTERN)) {
        ast_ref inner = 0;

        for (ast_ref at = ast_at(tree, pattern)->first; at; at = ast_at(tree, at)->next) {
            if (true)
                inner = at;
        }
        pattern = inner;
    }
    if (pattern && ast_kind_of(tree, pattern) == AST_IDENTIFIER)
        return program_text(self->program, ast_at(tree, pattern)->text);
    return CG_LIT("_");
}

/* --- candidates --- */

static cg_code note_candidate(extractor *self, item_ref type, item_ref function, uint8_t rank)
{
    candidate *entry = vec_add(self->out->heap, &self->candidates);

    if (!entry)
        return nomem(self);
    *entry = (candidate){.type = type, .function = function, .rank = rank};
    return program_item_path(self->program, function, &entry->path) ? CG_OK : nomem(self);
}

static bool is_own(const extractor *self, item_ref item)
{
    const program_item *at = &self->program->items.at[item];

    return self->program->crates.at[self->program->modules.at[at->module].crate].is_scanned;
}

/* Does a free function that returns this build something, rather than help somebody else? */
static bool is_built(const extractor *self, type_ref result)
{
    const model_type shape = *type_at(self->types, result);

    switch (shape.kind) {
    case TYPE_UNKNOWN:
    case TYPE_PRIMITIVE: return false;
    case TYPE_EXTERNAL: {
        cg_str path = program_text(self->program, shape.name);

        return !str_equal(path, CG_LIT("candle_core::Tensor")) &&
               !str_equal(path, CG_LIT("candle_core::quantized::QTensor")) &&
               !is_builder(self->types, result) && !str_equal(path, CG_LIT("std::string::String"));
    }
    case TYPE_TUPLE: return shape.arg_count > 0;
    default: return !is_builder(self->types, result);
    }
}

static bool is_test(const extractor *self, item_ref function)
{
    const program_item item = self->program->items.at[function];

    for (size_t i = 0; i < item.cfg_predicates.count; i++) {
        if (str_equal(item.cfg_predicates.at[i], CG_LIT("test")))
            return true;
    }
    return false;
}

static cg_code consider(extractor *self, item_ref function)
{
    const program_item item = self->program->items.at[function];
    signature shape = signature_of(self, function);
    type_bindings bindings;
    type_ref type = 0;
    bool takes_builder = false;

    if (!shape.parameters || !shape.result || is_test(self, function))
        return CG_OK;
    const ast *tree = program_tree(self->program, item.file);

    CG_TRY(self_type_of(self, function, &bindings));
    for (ast_ref at = ast_at(tree, shape.parameters)->first; at && !takes_builder;) {
        ast_ref next = ast_at(tree, at)->next;

        if (ast_kind_of(tree, at) == AST_PARAMETER) {
            CG_TRY(lower_in(self, function, &bindings, ast_child(tree, at, ROLE_TYPE), &type));
            takes_builder = type_holds_builder(self, type, 0);
        }
        at = next;
    }
    if (!takes_builder)
        return CG_OK;
    CG_TRY(lower_in(self, function, &bindings, shape.result, &type));
    type_ref made = type_peel(self->types, type);
    const model_type result = *type_at(self->types, made);
    item_ref owner = item.owner;
    bool is_item =
        result.kind == TYPE_ITEM && !is_builder(self->types, made) && is_own(self, result.item);

    if (is_item) {
        const model_type *own =
            bindings.self_type ? type_at(self->types, bindings.self_type) : NULL;
        uint8_t rank =
            item.file == self->program->items.at[result.item].file ? RANK_BESIDE : RANK_ELSEWHERE;

        if (own && own->kind == TYPE_ITEM && own->item == result.item && !shape.has_self) {
            const program_item *impl = &self->program->items.at[owner];
            bool is_trait =
                ast_child(program_tree(self->program, impl->file), impl->node, ROLE_TRAIT) != 0;

            rank = is_trait                       ? RANK_TRAIT
                   : item.name == self->name_new  ? RANK_NEW
                   : item.name == self->name_load ? RANK_LOAD
                                                  : RANK_INHERENT;
        }
        CG_TRY(note_candidate(self, result.item, function, rank));
    }
    if (!owner && item.visibility == VISIBLE_PUBLIC && is_built(self, made))
        CG_TRY(note_candidate(self, 0, function, RANK_ELSEWHERE));
    return CG_OK;
}

static bool candidate_before(const void *context, uint32_t a, uint32_t b)
{
    const extractor *self = context;
    const candidate *left = &self->candidates.at[a], *right = &self->candidates.at[b];
    int order;

    if (left->type != right->type)
        return left->type < right->type;
    if (left->rank != right->rank)
        return left->rank < right->rank;
    order = left->type ? str_compare(left->path, right->path) : 0;
    return order ? order < 0 : left->function < right->function;
}

/* Candidates of one type side by side, the best constructor first. */
static cg_code sort_candidates(extractor *self, candidate **ret)
{
    size_t count = self->candidates.count;
    uint32_t *order = arena_take(&self->out->mem, (2 * count + 1) * sizeof *order);
    candidate *sorted = arena_take(&self->out->mem, (count + 1) * sizeof *sorted);

    if (!order || !sorted)
        return nomem(self);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, candidate_before, self);
    for (size_t i = 0; i < count; i++)
        sorted[i] = self->candidates.at[order[i]];
    *ret = sorted;
    return CG_OK;
}

/* --- arguments --- */

static cg_code argument_of(extractor *self, type_ref type, cg_str name, bool is_optional,
                           model_place place, unsigned depth, val *ret);

static cg_code argument_builder(extractor *self, type_ref type, cg_str name, bool is_optional,
                                model_place place, val *ret)
{
    trail *track = self->eval->trail;
    uint32_t condition = 0;
    cg_str text;
    cg_str *root = vec_add(self->out->heap, &self->roots);

    if (!root || !arena_text(&self->out->mem, name, root))
        return nomem(self);
    if (is_optional) {
        if (!arena_format(&self->out->mem, &text, "when %.*s is given", (int)name.len, name.ptr))
            return nomem(self);
        condition = trail_add_condition(track, text);
        if (!condition)
            return nomem(self);
    }
    uint32_t index =
        trail_add_root(track, &(trail_root){.name = *root,
                                            .source = BUILDER_PARAMETER,
                                            .is_optional = is_optional,
                                            .is_quantized = builder_type_of(self->types, type) ==
                                                            BUILDER_QUANTIZED,
                                            .place = place});
    builder_value *builder = arena_zero(&self->eval->values->mem, sizeof *builder);

    if (!index || !builder)
        return nomem(self);
    *builder = (builder_value){
        .root = index,
        .condition = condition,
        .is_quantized = builder_type_of(self->types, type) == BUILDER_QUANTIZED,
    };
    *ret = value_make(
        self->eval->values,
        &(value){.kind = VALUE_BUILDER, .is_known = true, .type = type, .as.builder = builder});
    return *ret ? CG_OK : nomem(self);
}

static cg_code argument_struct(extractor *self, type_ref type, cg_str name, bool is_optional,
                               model_place place, unsigned depth, val *ret)
{
    const model_type shape = *type_at(self->types, type);
    const program_item item = self->program->items.at[shape.item];
    const ast *tree = program_tree(self->program, item.file);
    ast_ref list = ast_child(tree, item.node, ROLE_BODY);
    value_field fields[64];
    size_t count = 0;

    self->program->items.at[shape.item].is_listed = true;
    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at && count < 64;
         at = ast_at(tree, at)->next) {
        ast_ref field = ast_child(tree, at, ROLE_NAME);
        type_ref inner = 0;
        cg_str text;

        if (ast_kind_of(tree, at) != AST_FIELD_DECLARATION || !field)
            continue;
        sym label = ast_at(tree, field)->text;
        cg_str word = program_text(self->program, label);

        CG_TRY(type_field(self->types, type, label, &inner, self->reterr));
        if (!arena_format(&self->out->mem, &text, "%.*s.%.*s", (int)name.len, name.ptr,
                          (int)word.len, word.ptr))
            return nomem(self);
        fields[count].name = label;
        CG_TRY(argument_of(self, inner, text, is_optional, place, depth + 1, &fields[count].value));
        count++;
    }
    *ret = value_struct(self->eval->values, type, fields, count);
    return *ret ? CG_OK : nomem(self);
}

/* Does the struct have a builder among its fields, directly? */
static cg_code struct_holds_builder(extractor *self, type_ref type, bool *ret)
{
    const model_type shape = *type_at(self->types, type);

    *ret = false;
    if (shape.kind != TYPE_ITEM || self->program->items.at[shape.item].kind != ITEM_STRUCT)
        return CG_OK;
    const program_item item = self->program->items.at[shape.item];
    const ast *tree = program_tree(self->program, item.file);
    ast_ref list = ast_child(tree, item.node, ROLE_BODY);

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at && !*ret;
         at = ast_at(tree, at)->next) {
        ast_ref field = ast_child(tree, at, ROLE_NAME);
        type_ref inner = 0;

        if (ast_kind_of(tree, at) != AST_FIELD_DECLARATION || !field)
            continue;
        CG_TRY(type_field(self->types, type, ast_at(tree, field)->text, &inner, self->reterr));
        *ret = type_holds_builder(self, inner, 0);
    }
    return CG_OK;
}

static cg_code argument_of(extractor *self, type_ref type, cg_str name, bool is_optional,
                           model_place place, unsigned depth, val *ret)
{
    const model_type shape = *type_at(self->types, type);
    values *made = self->eval->values;
    bool is_holder = false;

    if (is_builder(self->types, type))
        return argument_builder(self, type, name, is_optional, place, ret);
    if (depth < 3)
        CG_TRY(struct_holds_builder(self, type, &is_holder));
    if (is_holder)
        return argument_struct(self, type, name, is_optional, place, depth, ret);
    if (depth < 4 && shape.arg_count > 0 && type_holds_builder(self, type, 0)) {
        val inner[8];
        size_t count = shape.arg_count < 8 ? shape.arg_count : 8;
        bool is_option = shape.kind == TYPE_EXTERNAL && shape.name == self->path_option;
        bool is_tuple = shape.kind == TYPE_TUPLE;

        for (size_t i = 0; i < count; i++) {
            cg_str text = name;

            if (is_tuple &&
                !arena_format(&self->out->mem, &text, "%.*s.%zu", (int)name.len, name.ptr, i))
                return nomem(self);
            CG_TRY(argument_of(self, type_at(self->types, type)->args[i], text,
                               is_optional || is_option, place, depth + 1, &inner[i]));
        }
        if (is_tuple) {
            *ret = value_list(made, VALUE_TUPLE, inner, count);
        } else if (is_option) {
            val some = value_list(made, VALUE_SOME, inner, 1);
            val nothing = value_make(made, &(value){.kind = VALUE_NOTHING, .is_known = true});
            val both[2] = {some, nothing};

            if (!some || !nothing)
                return nomem(self);
            *ret = value_list(made, VALUE_CHOICE, both, 2);
        } else {
            *ret = inner[0];
        }
        return *ret ? CG_OK : nomem(self);
    }
    *ret = value_of_type(made, type, name);
    return *ret ? CG_OK : nomem(self);
}

/* --- one constructor --- */

static cg_code arguments_of(extractor *self, item_ref function, const type_bindings *bindings,
                            val *args, size_t room, size_t *ret_count)
{
    const program_item item = self->program->items.at[function];
    ast_ref parameters = signature_of(self, function).parameters;
    size_t count = 0;

    for (ast_ref at = ast_at(program_tree(self->program, item.file), parameters)->first; at;) {
        const ast *tree = program_tree(self->program, item.file);
        ast_ref next = ast_at(tree, at)->next;
        const ast_node *node = ast_at(tree, at);
        model_place place = {item.file, node->start, node->end, function};
        type_ref type = 0;

        if (node->kind == AST_SELF_PARAMETER && count < room) {
            args[count] = value_of_type(self->eval->values, bindings->self_type, CG_LIT("self"));
            if (!args[count++])
                return nomem(self);
        } else if (node->kind == AST_PARAMETER && count < room) {
            CG_TRY(lower_in(self, function, bindings, ast_child(tree, at, ROLE_TYPE), &type));
            CG_TRY(argument_of(self, type, parameter_name(self, tree, at), false, place, 0,
                               &args[count]));
            count++;
        }
        at = next;
    }
    *ret_count = count;
    return CG_OK;
}

static bool copy_pieces(extractor *self, text_pieces from, text_pieces *ret)
{
    text_piece *to = arena_take(&self->out->mem, (from.count + 1) * sizeof *to);

    if (!to)
        return false;
    for (size_t i = 0; i < from.count; i++) {
        to[i] = from.at[i];
        if (!arena_text(&self->out->mem, from.at[i].text, &to[i].text))
            return false;
    }
    *ret = (text_pieces){to, from.count};
    return true;
}

static const builder_step *copy_steps(extractor *self, const builder_step *from)
{
    builder_step *first = NULL, *last = NULL;

    for (; from; from = from->before) {
        builder_step *step = arena_take(&self->out->mem, sizeof *step);

        if (!step || !copy_pieces(self, from->added, &step->added))
            return NULL;
        step->before = NULL;
        step->place = from->place;
        step->serial = from->serial;
        if (last)
            last->before = step;
        else
            first = step;
        last = step;
    }
    return first;
}

static bool is_name_end(char c)
{
    return c != '+' && c != '-' && c != '*' && c != '/' && c != '%' && c != '{';
}

/* A hole's text must survive being split at dots: `{cfg.name}` becomes `{cfg_name}`. */
static void print_hole(buf *out, cg_str text)
{
    bool is_gap = false;
    size_t start = out->len;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || (unsigned char)c >= 0x80;
        bool is_operator = c == '+' || c == '-' || c == '*' || c == '/' || c == '%';

        if (is_word && is_gap && out->len > start && is_name_end(out->at[out->len - 1]))
            buf_byte(out, '_');
        if (is_word || is_operator)
            buf_byte(out, c);
        is_gap = !is_word && !is_operator;
    }
    if (out->len == start)
        buf_byte(out, '_');
}

bool extract_print(heap *from, text_pieces pieces, arena *mem, cg_str *ret)
{
    buf out;

    buf_init(&out, from, SIZE_MAX);
    for (size_t i = 0; i < pieces.count; i++) {
        if (!pieces.at[i].is_hole) {
            buf_add(&out, pieces.at[i].text);
            continue;
        }
        buf_byte(&out, '{');
        print_hole(&out, pieces.at[i].text);
        if (pieces.at[i].width > 0)
            buf_addf(&out, pieces.at[i].fill == '0' ? ":0%u" : ":>%u", pieces.at[i].width);
        buf_byte(&out, '}');
    }
    bool is_good = !out.failed && arena_text(mem, buf_text(&out), ret);

    buf_free(&out);
    return is_good;
}

static bool print_pieces(extractor *self, text_pieces pieces, cg_str *ret)
{
    return extract_print(self->out->heap, pieces, &self->out->mem, ret);
}

static bool keep_condition(extractor *self, uint32_t condition, cg_str *ret)
{
    *ret = (cg_str){0};
    return !condition ||
           arena_text(&self->out->mem, self->eval->trail->conditions.at[condition], ret);
}

static bool keep_repeat(extractor *self, uint32_t repeat, cg_str *ret)
{
    *ret = (cg_str){0};
    return !repeat || arena_text(&self->out->mem, self->eval->trail->repeats.at[repeat].text, ret);
}

/* Calls of one round ask for several things in a row: the loops of the last one are kept. */
static bool keep_loops(extractor *self, uint32_t repeat, extract_parameter *ret)
{
    const trail *track = self->eval->trail;
    size_t count = 0;
    extract_loop *loops;

    if (repeat == 0)
        return true;
    if (repeat != self->looped || self->loops == NULL) {
        for (uint32_t at = repeat; at != 0; at = track->repeats.at[at].around)
            count++;
        loops = arena_take(&self->out->mem, count * sizeof *loops);
        if (loops == NULL)
            return false;
        count = 0;
        for (uint32_t at = repeat; at != 0; at = track->repeats.at[at].around) {
            const trail_repeat *from = &track->repeats.at[at];

            loops[count++] = (extract_loop){
                expr_symbol(self->eval->exprs, program_text(self->program, from->symbol)),
                from->count};
        }
        self->looped = repeat;
        self->loops = loops;
        self->loop_count = (uint32_t)count;
    }
    ret->loops = self->loops;
    ret->loop_count = self->loop_count;
    return true;
}

#define HASH_START 0xcbf29ce484222325u

static uint64_t hash_byte(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * 0x100000001b3u;
}

/* Is the other one possible whenever this one is: same root, same printed key? */
static bool same_key(const extract_parameter *a, const extract_parameter *b)
{
    return str_equal(a->root, b->root) && str_equal(a->printed, b->printed);
}

/* Of an instance of the trail, among those that are kept. */
static uint32_t place_of(const extractor *self, uint32_t instance)
{
    if (!instance)
        return 0;
    return self->kept_as ? self->kept_as[instance] : instance - 1;
}

/* Do builders of this source look at the shape that is asked for? */
static bool is_checked(const trail_root *root)
{
    return root->source != BUILDER_OTHER;
}

static cg_code keep_parameter(extractor *self, const trail_parameter *from, uint32_t first_instance,
                              extract_parameter *ret)
{
    trail *track = self->eval->trail;
    extraction *out = self->out;
    expr *shape = arena_take(&out->mem, (from->rank + 1) * sizeof *shape);

    *ret = (extract_parameter){
        .instance = first_instance + place_of(self, from->instance),
        .last = copy_steps(self, from->last),
        .shape = shape,
        .rank = from->rank,
        .has_shape = from->has_shape,
        .library = from->library,
        .place = from->place,
        .is_running_state = from->is_running_state,
    };
    if (!shape || (from->last && !ret->last))
        return nomem(self);
    if (from->has_shape && !from->condition && is_checked(&track->roots.at[from->root])) {
        ret->asked_of = from->root;
        ret->asked_in = from->repeat;
    }
    for (uint32_t i = 0; i < from->rank; i++)
        shape[i] = from->shape[i];
    val dtype = from->dtype;
    cg_str kept_dtype = {0};

    if (dtype && value_at(self->eval->values, dtype)->kind == VALUE_DTYPE &&
        value_at(self->eval->values, dtype)->is_known)
        kept_dtype = value_at(self->eval->values, dtype)->text;
    if (!arena_text(&out->mem, track->roots.at[from->root].name, &ret->root) ||
        !copy_pieces(self, from->key, &ret->key) || !print_pieces(self, from->key, &ret->printed) ||
        !arena_text(&out->mem, from->shape_text, &ret->shape_text) ||
        !arena_text(&out->mem, from->how, &ret->how) ||
        !arena_text(&out->mem, kept_dtype, &ret->dtype) ||
        !arena_text(&out->mem, from->alternative, &ret->alternative) ||
        !keep_repeat(self, from->repeat, &ret->repeat) || !keep_loops(self, from->repeat, ret) ||
        !keep_condition(self, from->condition, &ret->condition))
        return nomem(self);
    return CG_OK;
}

static cg_code keep_instance(extractor *self, const trail_instance *from, uint32_t first_instance,
                             extract_instance *ret)
{
    trail *track = self->eval->trail;
    cg_str root = from->root ? track->roots.at[from->root].name : (cg_str){0};

    *ret = (extract_instance){
        .parent = from->parent ? first_instance + place_of(self, from->parent) : UINT32_MAX,
        .type = from->type,
        .constructor = from->constructor,
        .field = from->field,
        .place = from->place,
    };
    if (!arena_text(&self->out->mem, root, &ret->root) ||
        !copy_pieces(self, from->prefix, &ret->prefix) ||
        !print_pieces(self, from->prefix, &ret->printed) ||
        !keep_repeat(self, from->repeat, &ret->repeat) ||
        !keep_condition(self, from->condition, &ret->condition))
        return nomem(self);
    return CG_OK;
}

/* The prefixes of all keys the component asks for, as hashes of their text. */
static cg_code note_prefixes(extractor *self)
{
    const extract_component *component = self->component;

    for (size_t i = 0; i < component->parameters.count; i++) {
        cg_str key = component->parameters.at[i].printed;
        uint64_t hash = HASH_START;

        for (size_t j = 0; j <= key.len; j++) {
            if ((j == key.len || key.ptr[j] == '.') && hash &&
                !number_map_put(&self->prefixes, hash, 1))
                return nomem(self);
            if (j < key.len)
                hash = hash_byte(hash, key.ptr[j]);
        }
    }
    return CG_OK;
}

static bool is_read_elsewhere(const extractor *self, cg_str prefix)
{
    uint64_t hash = HASH_START;

    for (size_t i = 0; i < prefix.len; i++)
        hash = hash_byte(hash, prefix.ptr[i]);
    return hash && number_map_find(&self->prefixes, hash);
}

static cg_code keep_unused(extractor *self)
{
    trail *track = self->eval->trail;
    arena *mem = &self->out->mem;

    if (track->unused_steps.count)
        CG_TRY(note_prefixes(self));
    for (size_t i = 0; i < track->unused_steps.count; i++) {
        const builder_step *step = &track->unused_steps.at[i];
        cg_str prefix, message;
        buf whole;
        const builder_step *chain[64];
        size_t depth = 0;
        bool is_good = true;

        if (self->is_own && step->place.function != self->component->constructor)
            continue;
        for (const builder_step *at = step; at && depth < 64; at = at->before)
            chain[depth++] = at;
        buf_init(&whole, self->out->heap, SIZE_MAX);
        while (depth-- > 0) {
            cg_str part = {0};

            is_good = print_pieces(self, chain[depth]->added, &part) && is_good;
            if (whole.len > 0)
                buf_byte(&whole, '.');
            buf_add(&whole, part);
        }
        is_good = is_good && !whole.failed && arena_text(mem, buf_text(&whole), &prefix);
        buf_free(&whole);
        if (is_good && is_read_elsewhere(self, prefix))
            continue;
        extract_fault *fault = vec_add(self->out->heap, &self->component->faults);

        if (!is_good || !fault ||
            !arena_format(mem, &message, "nothing is read below the prefix `%.*s` made here",
                          (int)prefix.len, prefix.ptr))
            return nomem(self);
        *fault = (extract_fault){
            .rule = "builder-unused", .message = message, .prefix = prefix, .place = step->place};
    }
    return CG_OK;
}

/* Where the component has the key already; if not, a new place, filled with `fresh`. */
static cg_code find_key(extractor *self, const extract_parameter *entry, uint32_t fresh,
                        uint32_t *ret)
{
    uint64_t hash = HASH_START;
    cg_str parts[2] = {entry->root, entry->printed};

    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < parts[i].len; j++)
            hash = hash_byte(hash, parts[i].ptr[j]);
        hash = hash_byte(hash, '\n');
    }
    for (;; hash++) {
        uint32_t *at = number_map_put(&self->keys, hash ? hash : ++hash, fresh);

        if (!at)
            return nomem(self);
        if (*at == fresh || same_key(&self->component->parameters.at[*at], entry)) {
            *ret = *at;
            return CG_OK;
        }
    }
}

static size_t next_hole(text_pieces pieces, size_t at)
{
    while (at < pieces.count && !pieces.at[at].is_hole)
        at++;
    return at;
}

/* Two keys that print alike are one if the same numbers are in their holes. */
static bool is_one_key(text_pieces a, text_pieces b)
{
    size_t i = next_hole(a, 0), j = next_hole(b, 0);

    while (i < a.count && j < b.count) {
        if (!a.at[i].number || a.at[i].number != b.at[j].number)
            return false;
        i = next_hole(a, i + 1);
        j = next_hole(b, j + 1);
    }
    return i == a.count && j == b.count;
}

static cg_code meet_again(extractor *self, uint32_t first, const extract_parameter *again)
{
    const extract_parameter *known = &self->component->parameters.at[first];
    bool differs = known->rank != again->rank;
    extract_collision *slot;

    if (!known->asked_of || known->asked_of != again->asked_of ||
        known->asked_in != again->asked_in || !str_equal(known->alternative, again->alternative) ||
        !is_one_key(known->key, again->key))
        return CG_OK;
    for (uint32_t i = 0; !differs && i < known->rank; i++)
        differs = expr_differs(self->eval->exprs, known->shape[i], again->shape[i]);
    if (!differs || self->component->collisions.count >= COLLISIONS_MOST)
        return CG_OK;
    slot = vec_add(self->out->heap, &self->component->collisions);
    if (!slot)
        return nomem(self);
    *slot = (extract_collision){first, *again};
    return CG_OK;
}

/* What the trail of one constructor holds goes into the component. */
static cg_code keep_trail(extractor *self, bool is_first)
{
    trail *track = self->eval->trail;
    extract_component *component = self->component;
    heap *from_heap = self->out->heap;
    uint32_t first_instance = (uint32_t)component->instances.count;
    size_t old_count = component->parameters.count;
    arena *mem = &self->out->mem;

    self->kept += track->instances.count + track->parameters.count;
    if (self->kept > KEPT_MOST && track->instances.count > 1) {
        /* Components inside components inside components: their number, not their code, is huge. */
        track->instances.count = 2;
        track->parameters.count = 1;
        if (!trail_add_fault(track, "analysis-budget", track->instances.at[1].place,
                             "the crate has too many modules and parameters to list; those of this "
                             "component were left out"))
            return nomem(self);
    }
    for (size_t i = 1; i < track->instances.count; i++) {
        if (self->kept_as && self->kept_as[i] == UINT32_MAX)
            continue;
        extract_instance *entry = vec_add(from_heap, &component->instances);

        if (!entry)
            return nomem(self);
        CG_TRY(keep_instance(self, &track->instances.at[i], first_instance, entry));
    }
    for (size_t i = 1; i < track->parameters.count; i++) {
        extract_parameter entry;
        uint32_t j = 0;

        if (self->is_own && !self->is_own[i])
            continue;
        CG_TRY(keep_parameter(self, &track->parameters.at[i], first_instance, &entry));
        CG_TRY(find_key(self, &entry, (uint32_t)component->parameters.count, &j));
        if (j < component->parameters.count) {
            extract_parameter *known = &component->parameters.at[j];

            if (j >= old_count)
                CG_TRY(meet_again(self, j, &entry));
            /* Asked for twice by one constructor: certain if it is once. */
            if (j >= old_count && known->condition.ptr && !entry.condition.ptr)
                known->condition = (cg_str){0};
            if (!known->has_shape && entry.has_shape) {
                known->shape = entry.shape;
                known->rank = entry.rank;
                known->has_shape = true;
            }
            continue;
        }
        if (!is_first && !entry.condition.ptr) {
            cg_str path;

            if (!program_item_path(self->program, track->instances.at[1].constructor, &path) ||
                !arena_format(mem, &entry.condition, "built by %.*s", (int)path.len, path.ptr))
                return nomem(self);
        }
        extract_parameter *slot = vec_add(from_heap, &component->parameters);

        if (!slot)
            return nomem(self);
        *slot = entry;
    }
    for (size_t i = 0; i < track->faults.count; i++) {
        const trail_fault *from = &track->faults.at[i];
        extract_fault *fault;

        if (!from->rule)
            continue;
        fault = vec_add(from_heap, &component->faults);
        if (!fault)
            return nomem(self);
        *fault = (extract_fault){.rule = from->rule, .place = from->place};
        if (!arena_text(mem, from->message, &fault->message))
            return nomem(self);
    }
    return keep_unused(self);
}

static cg_code build(extractor *self, item_ref constructor, bool is_first)
{
    const program_item item = self->program->items.at[constructor];
    const ast_node *node = ast_at(program_tree(self->program, item.file), item.node);
    model_place place = {item.file, node->start, node->end, constructor};
    type_bindings bindings;
    trail *track = self->eval->trail;
    val args[64];
    size_t count = 0;
    val result = 0;
    type_ref type = 0;

    eval_begin(self->eval, item.file);
    trail_reset(track);
    if (self->eval->flow)
        flow_reset(self->eval->flow, *self->out->no_tensors);
    CG_TRY(self_type_of(self, constructor, &bindings));
    if (self->component->type)
        CG_TRY(type_of_item(self->types, self->component->type, &type, self->reterr));
    uint32_t own = trail_add_instance(
        track,
        &(trail_instance){.type = type, .constructor = constructor, .root = 0, .place = place});

    if (!own)
        return nomem(self);
    CG_TRY(arguments_of(self, constructor, &bindings, args, 64, &count));
    track->instances.at[own].root = track->roots.count > 1 ? 1 : 0;
    track->instance = own;
    CG_TRY(eval_call(self->eval, constructor, &bindings, args, count, place, &result));
    /* An iterator is made to be walked by whoever gets it. */
    if (value_at(self->eval->values, result)->kind == VALUE_LAZY)
        CG_TRY(eval_items(self->eval, result, &result));
    CG_TRY(eval_note(self->eval, constructor));
    self->program->runs.at[self->program->runs.count - 1].component =
        (uint32_t)self->out->components.count - 1;
    track->instances.at[own].result = result;
    if (is_first)
        self->component->result = result;
    return keep_trail(self, is_first);
}

/* What a constructor that is not evaluated takes: builders are named by its parameters. */
static cg_code name_builders(extractor *self, item_ref constructor)
{
    type_bindings bindings;
    val args[64];
    size_t count;

    eval_begin(self->eval, self->program->items.at[constructor].file);
    trail_reset(self->eval->trail);
    CG_TRY(self_type_of(self, constructor, &bindings));
    return arguments_of(self, constructor, &bindings, args, 64, &count);
}

static bool is_evaluated(const extractor *self, const candidate *all, size_t count)
{
    const program_part *part = self->program->part;
    const program_roots *roots = part ? part->roots : NULL;

    for (size_t i = 0; roots && i < count; i++) {
        if (intern_find(roots->evaluated, all[i].path))
            return true;
    }
    return !roots || !intern_find(roots->left, self->component->qualified);
}

static cg_code keep_roots(extractor *self)
{
    cg_str *roots = arena_take(&self->out->mem, (self->roots.count + 1) * sizeof *roots);
    size_t count = 0;

    if (!roots)
        return nomem(self);
    for (size_t i = 0; i < self->roots.count; i++) {
        size_t j = 0;

        while (j < count && !str_equal(roots[j], self->roots.at[i]))
            j++;
        if (j == count)
            roots[count++] = self->roots.at[i];
    }
    self->component->roots = roots;
    self->component->root_count = count;
    return CG_OK;
}

static bool is_wanted(const extract_options *options, const extract_component *component)
{
    return !options->root.ptr || str_equal(options->root, component->name) ||
           str_equal(options->root, component->qualified);
}

static cg_code build_component(extractor *self, const candidate *all, size_t count,
                               const extract_options *options)
{
    extract_component *component = vec_add(self->out->heap, &self->out->components);
    item_ref named = all->type ? all->type : all->function;
    const program_item item = self->program->items.at[named];
    /*
     * Other functions only stand in for constructors of its own; those of other files only where
     * its file has none.
     */
    size_t used = 1;

    if (!component)
        return nomem(self);
    *component = (extract_component){
        .type = all->type,
        .constructor = all->function,
        .name = program_text(self->program, item.name),
        .is_public = item.visibility == VISIBLE_PUBLIC,
    };
    if (!program_item_path(self->program, named, &component->qualified))
        return nomem(self);
    if (!is_wanted(options, component)) {
        self->out->components.count--;
        return CG_OK;
    }
    while (used < count && (all[used].rank < RANK_BESIDE || all[used].rank == all[0].rank))
        used++;
    self->component = component;
    self->roots.count = 0;
    number_map_free(&self->keys);
    number_map_init(&self->keys, self->out->heap);
    number_map_free(&self->prefixes);
    number_map_init(&self->prefixes, self->out->heap);
    values_mark before = values_position(self->eval->values);

    component->is_skipped = !is_evaluated(self, all, used);
    for (size_t i = 0; i < used && component->is_skipped; i++) {
        CG_TRY(name_builders(self, all[i].function));
        values_forget(self->eval->values, before);
    }
    for (size_t i = 0; i < used && !component->is_skipped; i++) {
        if (!env_progress(self->program->env, "components", self->out->components.count, 0))
            return CG_INTERRUPTED;
        CG_TRY(build(self, all[i].function, i == 0));
        if (i == 0 && options->made)
            CG_TRY(options->made(options->context, component, self->out->components.count - 1,
                                 self->reterr));
        component->result = 0;
        values_forget(self->eval->values, before);
    }
    return keep_roots(self);
}

/* A component is nested when another one's constructor builds its type, or calls the function. */
static cg_code mark_nested(extractor *self)
{
    extraction *out = self->out;
    bool *is_made = arena_zero(&out->mem, self->program->items.count);
    const program_roots *roots = self->program->part ? self->program->part->roots : NULL;

    if (!is_made)
        return nomem(self);
    for (size_t i = 0; i < out->components.count; i++) {
        const extract_component *component = &out->components.at[i];

        for (size_t j = 0; j < component->instances.count; j++) {
            const extract_instance *instance = &component->instances.at[j];
            const model_type type = *type_at(self->types, instance->type);

            if (instance->parent == UINT32_MAX)
                continue;
            if (type.kind == TYPE_ITEM && type.item != component->type)
                is_made[type.item] = true;
            if (instance->constructor != component->constructor)
                is_made[instance->constructor] = true;
        }
    }
    for (size_t i = 0; i < out->components.count; i++) {
        extract_component *component = &out->components.at[i];

        component->is_nested =
            is_made[component->type ? component->type : component->constructor] ||
            (roots && intern_find(roots->made, component->qualified));
    }
    return CG_OK;
}

static extractor extractor_of(eval *interpreter, extraction *out, cg_err *reterr)
{
    program *code_of = interpreter->program;
    extractor self = {
        .out = out,
        .eval = interpreter,
        .program = code_of,
        .types = interpreter->types,
        .path_option = intern_add(&code_of->names, CG_LIT("std::option::Option")),
        .path_vec = intern_add(&code_of->names, CG_LIT("std::vec::Vec")),
        .name_new = intern_add(&code_of->names, CG_LIT("new")),
        .name_load = intern_add(&code_of->names, CG_LIT("load")),
        .reterr = reterr,
    };

    number_map_init(&self.keys, code_of->heap);
    number_map_init(&self.prefixes, code_of->heap);
    for (size_t i = 0; i < out->components.count; i++)
        self.kept += out->components.at[i].instances.count + out->components.at[i].parameters.count;
    for (size_t i = 0; i < out->uses.count; i++)
        self.kept += out->uses.at[i].count;
    return self;
}

static void extractor_end(extractor *self)
{
    number_map_free(&self->keys);
    number_map_free(&self->prefixes);
    vec_free(self->out->heap, &self->candidates);
    vec_free(self->out->heap, &self->roots);
    self->out->is_near = self->out->is_near || self->kept > KEPT_MOST / 2;
}

static cg_code keep_empty(extractor *self)
{
    flow_mark *mark = arena_take(&self->out->mem, sizeof *mark);

    if (!mark)
        return nomem(self);
    if (self->eval->flow)
        *mark = flow_position(self->eval->flow);
    self->out->no_tensors = mark;
    return CG_OK;
}

cg_code extract_run(eval *interpreter, const extract_options *options, extraction *ret,
                    cg_err *reterr)
{
    program *code_of = interpreter->program;

    *ret = (extraction){.heap = code_of->heap, .eval = interpreter};
    arena_init(&ret->mem, code_of->heap);
    extractor self = extractor_of(interpreter, ret, reterr);
    cg_code code = keep_empty(&self);

    for (item_ref item = 1; code == CG_OK && item < code_of->items.count; item++) {
        if (code_of->items.at[item].kind == ITEM_FUNCTION && is_own(&self, item))
            code = consider(&self, item);
    }
    candidate *sorted = NULL;

    if (code == CG_OK)
        code = sort_candidates(&self, &sorted);
    for (size_t i = 0; code == CG_OK && i < self.candidates.count;) {
        size_t count = 1;

        while (sorted[i].type && i + count < self.candidates.count &&
               sorted[i + count].type == sorted[i].type)
            count++;
        code = build_component(&self, &sorted[i], count, options);
        i += count;
    }
    extractor_end(&self);
    if (code == CG_OK && !options->is_open)
        code = extract_close(interpreter, options, ret, reterr);
    if (code != CG_OK)
        extraction_free(ret);
    return code;
}

/* Instances with parameters of its own, and those around them; the first one always. */
static cg_code choose_instances(extractor *self)
{
    const trail *track = self->eval->trail;
    size_t count = track->instances.count;
    uint32_t next = 0;

    self->kept_as = arena_zero(&self->out->mem, (count + 1) * sizeof *self->kept_as);
    if (!self->kept_as)
        return nomem(self);
    for (size_t i = 1; i < track->parameters.count; i++) {
        uint32_t at = self->is_own[i] ? track->parameters.at[i].instance : 0;

        for (; at && !self->kept_as[at]; at = track->instances.at[at].parent)
            self->kept_as[at] = 1;
    }
    for (size_t i = 1; i < count; i++)
        self->kept_as[i] = self->kept_as[i] || i == 1 ? next++ : UINT32_MAX;
    return CG_OK;
}

/* The roots of its parameters are those of the component. */
static cg_code find_roots(extractor *self)
{
    const extract_component *component = self->component;

    for (size_t i = 0; i < component->parameters.count; i++) {
        cg_str *slot = vec_add(self->out->heap, &self->roots);

        if (!slot)
            return nomem(self);
        *slot = component->parameters.at[i].root;
    }
    return keep_roots(self);
}

cg_code extract_take(eval *interpreter, const extract_options *options, extraction *ret,
                     const extract_own *own, cg_err *reterr)
{
    extractor self = extractor_of(interpreter, ret, reterr);
    item_ref named = own->type ? own->type : own->function;
    const program_item item = self.program->items.at[named];
    extract_component *component = vec_add(ret->heap, &ret->components);
    cg_code code = CG_OK;

    ret->has_makers = true;
    if (!component)
        return nomem(&self);
    *component = (extract_component){
        .type = own->type,
        .constructor = own->function,
        .name = program_text(self.program, item.name),
        .is_public = item.visibility == VISIBLE_PUBLIC,
        .is_maker = true,
    };
    self.component = component;
    self.is_own = own->is_own;
    if (!program_item_path(self.program, named, &component->qualified))
        code = nomem(&self);
    if (code == CG_OK && !is_wanted(options, component)) {
        ret->components.count--;
        extractor_end(&self);
        return CG_OK;
    }
    if (code == CG_OK)
        code = choose_instances(&self);
    if (code == CG_OK)
        code = keep_trail(&self, true);
    if (code == CG_OK)
        code = find_roots(&self);
    component->result = own->result;
    if (code == CG_OK && own->type && options->made)
        code = options->made(options->context, component, ret->components.count - 1, reterr);
    component->result = 0;
    extractor_end(&self);
    return code;
}

cg_code extract_add_use(eval *interpreter, extraction *ret, uint32_t component, uint32_t instance,
                        item_ref function, const bool *is_part, cg_err *reterr)
{
    extractor self = extractor_of(interpreter, ret, reterr);
    const trail *track = interpreter->trail;
    const trail_instance *from = &track->instances.at[instance];
    extract_parameter *kept = NULL;
    size_t count = 0;
    cg_code code = CG_OK;

    for (size_t i = 1; i < track->parameters.count; i++)
        count += is_part[i];
    if (self.kept + count <= KEPT_MOST)
        kept = arena_zero(&ret->mem, (count + 1) * sizeof *kept);
    extract_use *slot = kept ? vec_add(ret->heap, &ret->uses) : NULL;

    if (!slot) {
        extractor_end(&self);
        return self.kept + count <= KEPT_MOST ? nomem(&self) : CG_OK;
    }
    *slot = (extract_use){
        .component = component, .function = function, .place = from->place, .parameters = kept};
    slot->is_renamed = track->roots.at[from->root].is_rekeyed;
    for (uint32_t i = 0; i < from->arg_count; i++) {
        const value *at = value_at(interpreter->values, from->args[i]);

        slot->is_renamed =
            slot->is_renamed || (at->kind == VALUE_BUILDER && at->as.builder->rename != NULL);
    }
    slot->is_followed = slot->is_renamed && !track->roots.at[from->root].is_rekeyed;
    if (!copy_pieces(&self, from->prefix, &slot->prefix) ||
        !print_pieces(&self, from->prefix, &slot->printed) ||
        !arena_text(&ret->mem, track->roots.at[from->root].name, &slot->root))
        code = nomem(&self);
    for (size_t i = 1; code == CG_OK && i < track->parameters.count; i++) {
        if (is_part[i])
            code = keep_parameter(&self, &track->parameters.at[i], 0, &kept[slot->count++]);
        if (is_part[i] && code == CG_OK)
            slot->is_followed = slot->is_followed && !str_equal(kept[slot->count - 1].condition,
                                                                CG_LIT(BUILDER_RENAMED_CONDITION));
    }
    self.kept += count;
    extractor_end(&self);
    return code;
}

static void note_origin(const extractor *self, cg_str name, val given)
{
    const extract_component *component = self->component;
    const trail *track = self->eval->trail;
    const value *at = value_at(self->eval->values, given);
    uint8_t origin = EXTRACT_MADE;

    if (at->kind == VALUE_SOME && at->count == 1)
        at = value_at(self->eval->values, at->as.items[0]);
    if (at->kind == VALUE_NOTHING)
        return;
    if (at->kind == VALUE_BUILDER && at->as.builder->root < track->roots.count) {
        uint8_t source = track->roots.at[at->as.builder->root].source;

        if (source != BUILDER_PARAMETER && source != BUILDER_VARMAP && source != BUILDER_OTHER)
            origin = EXTRACT_LOADED;
    }
    for (size_t i = 0; i < component->root_count; i++) {
        if (str_equal(component->roots[i], name))
            component->origins[i] |= origin;
    }
}

/* One of several builders; without a text as prefix nobody knows the keys. */
static cg_code note_given(extractor *self, uint32_t component, const trail_instance *from,
                          item_ref function, cg_str name, val given)
{
    const value *at = value_at(self->eval->values, given);
    const builder_value *builder = at->kind == VALUE_BUILDER ? at->as.builder : NULL;
    const trail *track = self->eval->trail;
    extract_use *slot;

    if (self->component->root_count < 2 || !builder || builder->root >= track->roots.count ||
        track->roots.at[builder->root].source == BUILDER_PARAMETER)
        return CG_OK;
    slot = vec_add(self->out->heap, &self->out->uses);
    if (!slot)
        return nomem(self);
    *slot =
        (extract_use){.component = component,
                      .function = function,
                      .place = from->place,
                      .given = name,
                      .is_renamed = builder->rename || track->roots.at[builder->root].is_rekeyed};
    if (builder->rename)
        return CG_OK;
    return copy_pieces(self, builder->prefix, &slot->prefix) &&
                   print_pieces(self, builder->prefix, &slot->printed) &&
                   arena_text(&self->out->mem, track->roots.at[builder->root].name, &slot->root)
               ? CG_OK
               : nomem(self);
}

cg_code extract_note_origins(eval *interpreter, extraction *ret, uint32_t component,
                             uint32_t instance, item_ref function, cg_err *reterr)
{
    cg_code code = CG_OK;
    extractor self = extractor_of(interpreter, ret, reterr);
    const trail_instance *from = &interpreter->trail->instances.at[instance];
    ast_ref parameters = 0;
    size_t count = 0;

    self.component = &ret->components.at[component];
    if (from->constructor)
        parameters = signature_of(&self, from->constructor).parameters;
    if (!self.component->origins)
        self.component->origins = arena_zero(&ret->mem, self.component->root_count + 1);
    if (!self.component->origins) {
        extractor_end(&self);
        return nomem(&self);
    }
    if (parameters) {
        const ast *tree =
            program_tree(self.program, self.program->items.at[from->constructor].file);

        for (ast_ref at = ast_at(tree, parameters)->first; at && code == CG_OK;
             at = ast_at(tree, at)->next) {
            uint8_t kind = ast_kind_of(tree, at);

            if (kind != AST_PARAMETER && kind != AST_SELF_PARAMETER)
                continue;
            if (kind == AST_PARAMETER && count < from->arg_count) {
                cg_str name = parameter_name(&self, tree, at);

                note_origin(&self, name, from->args[count]);
                if (function)
                    code = note_given(&self, component, from, function, name, from->args[count]);
            }
            count++;
        }
    }
    extractor_end(&self);
    return code;
}

bool extract_is_loaded(const extraction *of, const extract_component *component, cg_str root)
{
    const program *code_of = of->eval->program;
    item_ref named = component->type ? component->type : component->constructor;

    if (!component->origins || !of->has_maps ||
        (!of->is_run && code_of->items.at[named].visibility == VISIBLE_PUBLIC))
        return false;
    for (size_t i = 0; i < component->root_count; i++) {
        if (str_equal(component->roots[i], root))
            return component->origins[i] == EXTRACT_LOADED;
    }
    return false;
}

cg_code extract_function(eval *interpreter, const extract_options *options, extraction *ret,
                         item_ref function, bool *ret_is_built, cg_err *reterr)
{
    extractor self = extractor_of(interpreter, ret, reterr);
    const program_item item = self.program->items.at[function];
    candidate one = {.function = function, .rank = RANK_ELSEWHERE};
    type_bindings bindings = {0};
    type_ref type = 0;
    cg_code code = CG_OK;
    bool takes = false, gives = false;

    *ret_is_built = false;
    if (!item.owner && is_own(&self, function))
        code = builder_of_function(self.types, function, &takes, &gives, reterr);
    if (takes && code == CG_OK)
        code = lower_in(&self, function, &bindings, signature_of(&self, function).result, &type);
    *ret_is_built = type != 0 && !gives && is_built(&self, type_peel(self.types, type));
    ret->has_makers = ret->has_makers || *ret_is_built;
    if (code == CG_OK && *ret_is_built)
        code = build_component(&self, &one, 1, options);
    extractor_end(&self);
    return code;
}

cg_code extract_close(eval *interpreter, const extract_options *options, extraction *ret,
                      cg_err *reterr)
{
    extractor self = extractor_of(interpreter, ret, reterr);
    cg_code code = mark_nested(&self);

    extractor_end(&self);
    if (code == CG_OK && options->root.ptr && ret->components.count == 0)
        code = cg_fail(reterr, PROBLEM_COMPONENT, "no component is called `%.*s`",
                       ERR_STR(options->root));
    return code;
}

void extraction_free(extraction *self)
{
    for (size_t i = 0; i < self->components.count; i++) {
        vec_free(self->heap, &self->components.at[i].parameters);
        vec_free(self->heap, &self->components.at[i].collisions);
        vec_free(self->heap, &self->components.at[i].instances);
        vec_free(self->heap, &self->components.at[i].faults);
    }
    vec_free(self->heap, &self->components);
    vec_free(self->heap, &self->uses);
    arena_free(&self->mem);
    *self = (extraction){0};
}
