#include "model/assemble.h"

#include "base/str_name.h"
#include "model/catalogue.h"
#include "model/expr_print.h"
#include "model/ids.h"
#include "model/place.h"
#include "model/rules.h"

#define RANK_OWN 2 /* the maker is the function that holds the call */

/* A call that makes a component, and the instance that is listed for it. */
typedef struct site {
    const extract_component *component;
    const extract_instance *instance;
    uint32_t met_by; /* component that came by first */
    uint8_t rank;    /* who made it: some component, one of the same file, the function itself */
} site;

/* Keys of one component that two calls ask for, one behind the other in its list. */
typedef struct collision_group {
    uint32_t component;
    uint32_t begin, end;
    model_finding *finding;
} collision_group;

typedef struct assembler {
    const extraction *from;
    const function_facts *functions;
    program *program;
    types *types;
    model_draft *draft;
    arena *mem;
    cg_str *ids;            /* of components, in order */
    cg_str **instances;     /* module ids, by component and instance */
    uint32_t *component_of; /* by item: index + 1 of the component of that struct or enum */
    size_t item_count;      /* then; types of fields can lead to files that are read now */
    VEC(site) sites;
    number_map site_of; /* by place */
    VEC(collision_group) groups;
    number_map group_of; /* by both places */
    cg_err *reterr;
} assembler;

static cg_code nomem(assembler *self)
{
    return err_nomem(self->reterr);
}

static cg_str function_id(const assembler *self, item_ref function)
{
    const function_fact *fact = function_of(self->functions, function);

    return fact ? fact->id : CG_LIT("");
}

static uint8_t confidence_of(cg_str condition)
{
    return condition.ptr ? MODEL_CONFIDENCE_CONDITIONAL : MODEL_CONFIDENCE_PROVEN;
}

/* Index + 1 of the component of a struct or enum; 0: it has none. */
static uint32_t component_of(const assembler *self, item_ref type)
{
    return type < self->item_count ? self->component_of[type] : 0;
}

static bool is_place(model_place a, model_place b)
{
    return a.file == b.file && a.start == b.start && a.end == b.end;
}

/* --- findings --- */

model_finding *assemble_finding(const program *code_of, const function_facts *functions,
                                model_draft *draft, const char *rule, uint8_t confidence,
                                cg_str message, model_place place)
{
    model_finding *finding = draft_finding(draft);
    const rule_row *row = rule_find(str_from(rule));
    const function_fact *fact =
        functions && place.function ? function_of(functions, place.function) : NULL;

    if (!finding || !arena_text(&draft->mem, message, &finding->message))
        return NULL;
    finding->rule = str_from(rule);
    finding->confidence = confidence;
    if (row) {
        finding->severity = row->severity;
        finding->help = row->fix;
    }
    if (fact) {
        finding->function = fact->spelled;
        finding->function_id = fact->id;
    }
    if (place.file) {
        finding->location = place_location(code_of, place, draft);
        finding->source = place_label(code_of, place, &draft->mem);
        if (!finding->location || !finding->source.ptr)
            return NULL;
    }
    if (!draft_evidence(draft, &finding->evidence, MODEL_EVIDENCE_KIND_SOURCE, confidence,
                        finding->source, finding->message))
        return NULL;
    return finding;
}

/* --- parameters and modules --- */

/* One axis stands alone unless its text could be taken for more than one. */
static bool is_plain(cg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!is_word && c != '_' && c != ' ' && c != '.' && c != ':' && c != '*' && c != '+' &&
            c != '/' && c != '-')
            return false;
    }
    return text.len > 0;
}

/* The printed shape of a parameter: `(out, in)`, `n`, `()`. */
static bool assemble_shape(const eval *interpreter, const extract_parameter *parameter, arena *mem,
                           cg_str *ret)
{
    buf text;

    *ret = (cg_str){0};
    if (!parameter->has_shape)
        return !parameter->shape_text.ptr || arena_text(mem, parameter->shape_text, ret);
    buf_init(&text, interpreter->program->heap, SIZE_MAX);
    for (uint32_t i = 0; i < parameter->rank; i++) {
        if (i > 0)
            buf_add(&text, CG_LIT(", "));
        if (parameter->shape[i])
            expr_print(interpreter->exprs, parameter->shape[i], &text);
        else
            buf_byte(&text, '_');
    }
    bool is_bare = parameter->rank == 1 && is_plain(buf_text(&text));
    cg_str inner = buf_text(&text);
    bool is_good = !text.failed &&
                   (is_bare ? arena_text(mem, inner, ret)
                            : arena_format(mem, ret, parameter->rank == 1 ? "(%.*s,)" : "(%.*s)",
                                           (int)inner.len, inner.ptr));

    buf_free(&text);
    return is_good;
}

static cg_code type_names(assembler *self, type_ref type, cg_str *name, cg_str *qualified)
{
    const model_type shape = *type_at(self->types, type);

    *qualified = (cg_str){0};
    if (shape.kind != TYPE_ITEM)
        return type_text(self->types, type, name) ? CG_OK : nomem(self);
    *name = program_text(self->program, self->program->items.at[shape.item].name);
    return program_item_path(self->program, shape.item, qualified) ? CG_OK : nomem(self);
}

static cg_code add_module(assembler *self, size_t at, size_t index)
{
    const extract_component *component = &self->from->components.at[at];
    const extract_instance *instance = &component->instances.at[index];
    model_module *record = draft_module(self->draft);
    cg_str name;

    if (!record)
        return nomem(self);
    if (instance->parent == UINT32_MAX) {
        record->type_name = component->qualified;
        record->qualified_type = component->type ? component->qualified : (cg_str){0};
    } else {
        CG_TRY(type_names(self, instance->type, &name, &record->qualified_type));
        if (!arena_text(self->mem, name, &record->type_name))
            return nomem(self);
        record->parent = self->instances[at][instance->parent];
    }
    record->component = self->ids[at];
    if (instance->field)
        record->field = program_text(self->program, instance->field);
    record->builder_root = instance->root.ptr ? instance->root : CG_LIT("");
    record->prefix = instance->printed;
    record->repeat = instance->repeat;
    record->confidence = confidence_of(instance->condition);
    record->source = place_label(self->program, instance->place, self->mem);
    record->location = place_location(self->program, instance->place, self->draft);
    if (!record->source.ptr || !record->location ||
        !id_module(self->mem, self->ids[at], record->builder_root, record->prefix,
                   record->type_name, index, &record->id))
        return nomem(self);
    self->instances[at][index] = record->id;
    return CG_OK;
}

/* The whole keys, where a call puts a prefix in front. */
static cg_code add_file_keys(assembler *self, const model_component *component,
                             model_parameter *record)
{
    bool has_prefix = false;

    for (size_t i = 0; i < component->built_by.count; i++) {
        const model_built *built = MODEL_AT(component->built_by, model_built, i);

        has_prefix = has_prefix ||
                     (built->prefix.len && str_equal(built->builder_root, record->builder_root));
    }
    for (size_t i = 0; i < component->built_by.count && has_prefix; i++) {
        const model_built *built = MODEL_AT(component->built_by, model_built, i);
        cg_str key = record->key;

        if (!str_equal(built->builder_root, record->builder_root))
            continue;
        if ((built->prefix.len && !arena_format(self->mem, &key, "%.*s.%.*s",
                                                STR_NAME(built->prefix), STR_NAME(record->key))) ||
            !draft_text(self->draft, &record->file_keys, key))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code add_parameter(assembler *self, size_t at, const model_component *component,
                             const extract_parameter *from)
{
    model_parameter *record = draft_parameter(self->draft);
    cg_str detail = from->condition.ptr ? from->condition : CG_LIT("asked for on every way");

    if (!record)
        return nomem(self);
    record->component = self->ids[at];
    record->module = self->instances[at][from->instance];
    record->key = from->printed;
    record->builder_root = from->root;
    record->role =
        from->is_running_state ? MODEL_PARAMETER_ROLE_RUNNING_STATE : MODEL_PARAMETER_ROLE_UNKNOWN;
    record->kind = from->how;
    record->certainty = from->condition.ptr ? MODEL_CERTAINTY_CONDITIONAL : MODEL_CERTAINTY_CERTAIN;
    record->condition = from->condition;
    record->source = place_label(self->program, from->place, self->mem);
    record->location = place_location(self->program, from->place, self->draft);
    if (!record->source.ptr || !record->location ||
        !assemble_shape(self->from->eval, from, self->mem, &record->symbolic_shape) ||
        !id_make(self->mem, MODEL_ID_KIND_PARAMETER,
                 ID_PARTS(self->ids[at], from->root, from->printed), &record->id) ||
        !draft_evidence(self->draft, &record->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                        confidence_of(from->condition), record->source, detail))
        return nomem(self);
    return add_file_keys(self, component, record);
}

#define BUILT_MOST 8u /* prefixes of one builder that are told apart */

/* How functions that make their builders build the component; nothing where no prefix is given. */
static cg_code add_built(assembler *self, size_t at, model_component *record)
{
    bool has_prefix = false;

    for (size_t i = 0; i < self->from->uses.count; i++) {
        const extract_use *use = &self->from->uses.at[i];

        has_prefix = has_prefix || (use->component == at && !use->is_renamed && use->printed.len);
    }
    for (size_t i = 0; i < self->from->uses.count && has_prefix; i++) {
        const extract_use *use = &self->from->uses.at[i];
        const extract_component *component = &self->from->components.at[at];
        cg_str root = use->given.ptr              ? use->given
                      : component->root_count > 0 ? component->roots[0]
                                                  : CG_LIT("");
        const function_fact *fact;
        bool is_known = false;
        model_built *built;

        if (use->component != at || use->is_renamed || record->built_by.count >= BUILT_MOST)
            continue;
        for (size_t k = 0; k < record->built_by.count; k++) {
            const model_built *known = MODEL_AT(record->built_by, model_built, k);

            is_known = is_known || (str_equal(known->prefix, use->printed) &&
                                    str_equal(known->builder_root, root));
        }
        if (is_known)
            continue;
        built = draft_record(self->draft, &record->built_by, &table_model_built);
        if (!built)
            return nomem(self);
        fact = function_of(self->functions, use->function);
        built->function = fact ? fact->qualified : CG_LIT("");
        built->builder_root = root;
        built->prefix = use->printed.ptr ? use->printed : CG_LIT("");
        built->source = place_label(self->program, use->place, self->mem);
        if (!built->source.ptr)
            return nomem(self);
    }
    return CG_OK;
}

static cg_code add_component(assembler *self, size_t at)
{
    const extract_component *component = &self->from->components.at[at];
    item_ref named = component->type ? component->type : component->constructor;
    const program_item item = self->program->items.at[named];
    const ast *tree = program_tree(self->program, item.file);
    ast_ref name = ast_child(tree, item.node, ROLE_NAME);
    const ast_node *node = ast_at(tree, name ? name : item.node);
    model_place place = {item.file, node->start, node->end, 0};
    model_component *record = draft_component(self->draft);
    size_t count = component->instances.count;

    self->instances[at] = arena_zero(self->mem, (count + 1) * sizeof *self->instances[at]);
    if (!record || !self->instances[at])
        return nomem(self);
    record->id = self->ids[at];
    record->name = component->name;
    record->qualified_name = component->qualified;
    record->constructor = function_id(self, component->constructor);
    record->is_nested = component->is_nested ? BOOL_TRUE : BOOL_FALSE;
    record->source = place_label(self->program, place, self->mem);
    record->location = place_location(self->program, place, self->draft);
    if (!record->source.ptr || !record->location ||
        !draft_evidence(self->draft, &record->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                        MODEL_CONFIDENCE_PROVEN, record->source, CG_LIT("made from a VarBuilder")))
        return nomem(self);
    for (size_t i = 0; i < component->root_count; i++) {
        model_builder *builder = draft_record(self->draft, &record->builders, &table_model_builder);

        if (!builder)
            return nomem(self);
        builder->name = component->roots[i];
        if (!draft_evidence(self->draft, &builder->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                            MODEL_CONFIDENCE_PROVEN, record->source,
                            CG_LIT("parameter of the constructor")))
            return nomem(self);
    }
    CG_TRY(add_built(self, at, record));
    for (size_t i = 0; i < count; i++)
        CG_TRY(add_module(self, at, i));
    for (size_t i = 0; i < component->parameters.count; i++)
        CG_TRY(add_parameter(self, at, record, &component->parameters.at[i]));
    for (size_t i = 0; i < component->faults.count; i++) {
        const extract_fault *fault = &component->faults.at[i];
        model_finding *finding =
            assemble_finding(self->program, self->functions, self->draft, fault->rule,
                             MODEL_CONFIDENCE_PROVEN, fault->message, fault->place);

        if (!finding || !draft_text(self->draft, &finding->related, self->ids[at]))
            return nomem(self);
        finding->prefix = fault->prefix;
    }
    return CG_OK;
}

/* --- keys that two calls want different tensors for --- */

static const extract_parameter *first_of(const extract_component *component,
                                         const extract_collision *collision)
{
    return &component->parameters.at[collision->first];
}

static bool is_of_calls(const extract_component *component, const extract_collision *collision,
                        model_place first, model_place again)
{
    return is_place(first_of(component, collision)->place, first) &&
           is_place(collision->again.place, again);
}

/* A walk through the entries of a table that may be the one looked for. */
typedef struct probe {
    number_map *map;
    uint64_t key;
    uint32_t fresh; /* the number of a new entry */
} probe;

/* The next entry: `fresh` when there is none left, and it is in the table then. */
static cg_code probe_next(assembler *self, probe *walk, uint32_t *ret)
{
    uint32_t *at = number_map_put(walk->map, walk->key ? walk->key : ++walk->key, walk->fresh);

    if (!at)
        return nomem(self);
    walk->key++;
    *ret = *at;
    return CG_OK;
}

/* The group of these two calls; a new one when there is none. */
static cg_code find_group(assembler *self, const collision_group *of, collision_group **ret)
{
    const extract_component *component = &self->from->components.at[of->component];
    const extract_collision *collision = &component->collisions.at[of->begin];
    model_place first = first_of(component, collision)->place, again = collision->again.place;
    probe walk = {&self->group_of,
                  number_map_key(first.file, first.start) * 31 +
                      number_map_key(again.file, again.start) + again.end,
                  (uint32_t)self->groups.count};
    uint32_t at = 0;

    for (;;) {
        CG_TRY(probe_next(self, &walk, &at));
        if (at == walk.fresh) {
            *ret = vec_add(self->draft->heap, &self->groups);
            if (!*ret)
                return nomem(self);
            **ret = *of;
            return CG_OK;
        }
        *ret = &self->groups.at[at];
        const extract_component *other = &self->from->components.at[(*ret)->component];

        if (is_of_calls(other, &other->collisions.at[(*ret)->begin], first, again))
            return CG_OK;
    }
}

/* Do numbers differ, whatever the configuration is? */
static bool is_constant_collision(assembler *self, const extract_parameter *first,
                                  const extract_parameter *again)
{
    expr_pool *pool = self->from->eval->exprs;
    int64_t a, b;

    for (uint32_t i = 0; first->rank == again->rank && i < first->rank; i++) {
        if (expr_constant(pool, first->shape[i], &a) && expr_constant(pool, again->shape[i], &b) &&
            a != b)
            return true;
    }
    return first->rank != again->rank;
}

/* `?` behind a call, or a method that panics: the function ends there when the call fails. */
static bool is_insisted_on(const assembler *self, model_place place)
{
    static const char *const tails[] = {"?", ".unwrap()", ".expect("};
    cg_str text = self->program->files.at[place.file]->source.text;
    cg_str behind = str_trim((cg_str){text.ptr + place.end, text.len - place.end});

    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        if (str_starts_with(behind, str_from(tails[i])))
            return true;
    }
    return false;
}

static cg_code add_collision(assembler *self, collision_group *group)
{
    const extract_component *component = &self->from->components.at[group->component];
    const extract_collision *collision = &component->collisions.at[group->begin];
    const extract_parameter *first = first_of(component, collision), *again = &collision->again;
    bool is_insisted = is_insisted_on(self, first->place) && is_insisted_on(self, again->place);
    bool is_proven = !again->asked_in && is_insisted;
    cg_str shapes[2], places[2], between = {0}, message;

    places[0] = place_label(self->program, first->place, self->mem);
    places[1] = place_label(self->program, again->place, self->mem);
    if (!places[0].ptr || !places[1].ptr ||
        !arena_format(self->mem, &between, " at %.*s", (int)places[0].len, places[0].ptr))
        return nomem(self);
    if (str_equal(places[0], places[1]))
        between = CG_LIT(""); /* one line, or one call */
    if (!assemble_shape(self->from->eval, first, self->mem, &shapes[0]) ||
        !assemble_shape(self->from->eval, again, self->mem, &shapes[1]) ||
        !arena_format(self->mem, &message,
                      "`%.*s` is asked for as %.*s%.*s and as %.*s%s at %.*s: no tensor has both "
                      "shapes, so one of the calls fails",
                      (int)first->printed.len, first->printed.ptr, (int)shapes[0].len,
                      shapes[0].ptr, (int)between.len, between.ptr, (int)shapes[1].len,
                      shapes[1].ptr, between.len == 0 ? ", both" : "", (int)places[1].len,
                      places[1].ptr))
        return nomem(self);
    group->finding = assemble_finding(
        self->program, self->functions, self->draft, rules[RULE_CODE_PARAMETER_COLLISION].code.ptr,
        is_proven ? MODEL_CONFIDENCE_PROVEN : MODEL_CONFIDENCE_CONDITIONAL, message, again->place);
    if (!group->finding)
        return nomem(self);
    if (is_proven && is_constant_collision(self, first, again))
        group->finding->severity = MODEL_FINDING_SEVERITY_ERROR;
    for (uint32_t i = group->begin; i < group->end; i++) {
        const extract_parameter *of = first_of(component, &component->collisions.at[i]);

        if (!draft_key(self->draft, &group->finding->keys, of->root, of->printed))
            return nomem(self);
    }
    return CG_OK;
}

/* Calls `each` for the groups of all components, in order. */
static cg_code each_group(assembler *self,
                          cg_code (*each)(assembler *self, const collision_group *group))
{
    for (uint32_t i = 0; i < self->from->components.count; i++) {
        const extract_component *component = &self->from->components.at[i];

        for (uint32_t begin = 0, end; begin < component->collisions.count; begin = end) {
            const extract_collision *collision = &component->collisions.at[begin];
            model_place first = first_of(component, collision)->place;

            for (end = begin + 1; end < component->collisions.count; end++) {
                if (!is_of_calls(component, &component->collisions.at[end], first,
                                 collision->again.place))
                    break;
            }
            CG_TRY(each(self, &(collision_group){.component = i, .begin = begin, .end = end}));
        }
    }
    return CG_OK;
}

static size_t key_length(const assembler *self, const collision_group *group)
{
    const extract_component *component = &self->from->components.at[group->component];

    return first_of(component, &component->collisions.at[group->begin])->printed.len;
}

/* A component inside others is met again in each of them: its own keys are the shortest. */
static cg_code choose_group(assembler *self, const collision_group *group)
{
    collision_group *known = NULL;

    CG_TRY(find_group(self, group, &known));
    if (key_length(self, group) < key_length(self, known))
        *known = *group;
    return CG_OK;
}

static cg_code relate_group(assembler *self, const collision_group *group)
{
    collision_group *known = NULL;
    cg_str id = self->ids[group->component];

    CG_TRY(find_group(self, group, &known));
    if (!known->finding)
        CG_TRY(add_collision(self, known));
    const sc_strs *related = &known->finding->related;

    if (related->count > 0 && str_equal(related->at[related->count - 1], id))
        return CG_OK;
    return draft_text(self->draft, &known->finding->related, id) ? CG_OK : nomem(self);
}

static cg_code add_collisions(assembler *self)
{
    cg_code code;

    number_map_init(&self->group_of, self->draft->heap);
    code = each_group(self, choose_group);
    if (code == CG_OK)
        code = each_group(self, relate_group);
    number_map_free(&self->group_of);
    vec_free(self->draft->heap, &self->groups);
    return code;
}

/* --- how components hold and build each other --- */

/* The components among the types inside a type, through containers. */
static cg_code edges_of_type(assembler *self, size_t at, type_ref type, cg_str field,
                             model_place place)
{
    const extract_component *component = &self->from->components.at[at];
    type_ref open[64];
    size_t count = 1, visited = 0;

    open[0] = type;
    while (count > 0 && visited++ < 256) {
        const model_type shape = *type_at(self->types, open[--count]);
        uint32_t other = shape.kind == TYPE_ITEM ? component_of(self, shape.item) : 0;

        if (other && other - 1 != at) {
            model_edge *edge = draft_edge(self->draft);

            if (!edge)
                return nomem(self);
            edge->from = self->ids[at];
            edge->to = self->ids[other - 1];
            edge->via_function = function_id(self, component->constructor);
            edge->source = place_label(self->program, place, self->mem);
            if (!edge->source.ptr ||
                !id_make(self->mem, MODEL_ID_KIND_COMPOSITION_EDGE,
                         ID_PARTS(edge->from, edge->to, field), &edge->id) ||
                !draft_evidence(self->draft, &edge->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                                MODEL_CONFIDENCE_PROVEN, edge->source, CG_LIT("type of a field")))
                return nomem(self);
        }
        if (shape.kind == TYPE_FUNCTION)
            continue;
        for (size_t i = 0; i < shape.arg_count && count < 64; i++)
            open[count++] = shape.args[i];
    }
    return CG_OK;
}

static cg_code add_edges(assembler *self, size_t at)
{
    item_ref owner = self->from->components.at[at].type;
    type_ref type = 0;
    uint64_t number = 0;

    if (!owner || self->program->items.at[owner].kind != ITEM_STRUCT)
        return CG_OK;
    const program_item item = self->program->items.at[owner];
    ast_ref list = ast_child(program_tree(self->program, item.file), item.node, ROLE_BODY);

    CG_TRY(type_of_item(self->types, owner, &type, self->reterr));
    for (ast_ref field = list ? ast_at(program_tree(self->program, item.file), list)->first : 0;
         field;) {
        const ast *tree = program_tree(self->program, item.file);
        ast_ref next = ast_at(tree, field)->next;
        ast_ref name = ast_child(tree, field, ROLE_NAME);
        ast_ref written = ast_child(tree, field, ROLE_TYPE);
        cg_str text = name ? program_text(self->program, ast_at(tree, name)->text) : (cg_str){0};
        model_place place = {item.file, ast_at(tree, field)->start, ast_at(tree, field)->end, 0};
        type_ref inner = 0;

        if (!name && ast_at(tree, field)->role == ROLE_TYPE) {
            written = field; /* of a tuple struct */
            if (!arena_format(self->mem, &text, "%llu", (unsigned long long)number++))
                return nomem(self);
        }
        if (written) {
            CG_TRY(type_lower(self->types, item.module, item.file, written, NULL, &inner,
                              self->reterr));
            CG_TRY(edges_of_type(self, at, inner, text, place));
        }
        field = next;
    }
    return CG_OK;
}

/* What an instance's prefix adds to that of the one around it, part by part. */
static cg_code chain_of(assembler *self, cg_str outer, cg_str inner, sc_strs *ret)
{
    size_t at = 0;

    if (outer.len > 0 && str_starts_with(inner, outer) && inner.len > outer.len &&
        inner.ptr[outer.len] == '.')
        at = outer.len + 1;
    else if (str_equal(outer, inner))
        return CG_OK;
    while (at < inner.len) {
        size_t end = at;
        unsigned depth = 0;

        while (end < inner.len && (depth > 0 || inner.ptr[end] != '.')) {
            depth += inner.ptr[end] == '{';
            depth -= inner.ptr[end] == '}' && depth > 0;
            end++;
        }
        if (!draft_text(self->draft, ret, (cg_str){inner.ptr + at, end - at}))
            return nomem(self);
        at = end + 1;
    }
    return CG_OK;
}

/* The entry of that call; a new one when there is none. */
static cg_code find_site(assembler *self, model_place place, site **ret)
{
    probe walk = {&self->site_of, number_map_key(place.file, place.start) * 31 + place.end,
                  (uint32_t)self->sites.count};
    uint32_t at = 0;

    for (;;) {
        CG_TRY(probe_next(self, &walk, &at));
        if (at == walk.fresh) {
            *ret = vec_add(self->draft->heap, &self->sites);
            if (!*ret)
                return nomem(self);
            **ret = (site){0};
            return CG_OK;
        }
        *ret = &self->sites.at[at];
        if (is_place((*ret)->instance->place, place))
            return CG_OK;
    }
}

/* One instance is listed for each call: what the function that holds it makes, if it can be. */
static cg_code meet_instance(assembler *self, const extract_component *component,
                             const extract_instance *instance)
{
    const model_type *type = type_at(self->types, instance->type);
    item_ref holder = instance->place.function, maker = component->constructor;
    uint8_t rank = maker == holder ? (uint8_t)RANK_OWN
                                   : self->program->items.at[maker].file == instance->place.file;
    site *known = NULL;

    if (instance->parent == UINT32_MAX || type->kind != TYPE_ITEM ||
        !component_of(self, type->item) || !holder || !function_of(self->functions, holder))
        return CG_OK;
    CG_TRY(find_site(self, instance->place, &known));
    if (!known->instance)
        known->met_by = (uint32_t)(component - self->from->components.at);
    if (!known->instance || known->rank < rank)
        *known = (site){component, instance, known->met_by, rank};
    return CG_OK;
}

static cg_code add_site(assembler *self, const site *from)
{
    const extract_instance *instance = from->instance;
    uint32_t built = component_of(self, type_at(self->types, instance->type)->item);
    const function_fact *fact = function_of(self->functions, instance->place.function);
    const extract_component *child = &self->from->components.at[built - 1];
    cg_str outer = from->component->instances.at[instance->parent].printed;

    for (size_t i = 0; i < child->root_count; i++) {
        model_assembly *record = draft_assembly(self->draft);

        if (!record ||
            !program_note_site(self->program, (program_site){.function = instance->place.function,
                                                             .met_by = from->met_by,
                                                             .is_own = from->rank == RANK_OWN}))
            return nomem(self);
        record->function = fact->id;
        record->function_name = fact->qualified;
        record->component = self->ids[built - 1];
        record->component_name = child->name;
        record->builder_root = child->roots[i];
        CG_TRY(chain_of(self, outer, instance->printed, &record->prefix_chain));
        record->source = place_label(self->program, instance->place, self->mem);
        record->location = place_location(self->program, instance->place, self->draft);
        if (!record->source.ptr || !record->location ||
            !id_assembly(self->mem, record->function, record->component, record->builder_root,
                         record->prefix_chain, &record->id) ||
            !draft_evidence(self->draft, &record->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                            confidence_of(instance->condition), record->source,
                            CG_LIT("the constructor is called here")))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code add_sites(assembler *self)
{
    cg_code code = CG_OK;

    number_map_init(&self->site_of, self->draft->heap);
    for (size_t i = 0; code == CG_OK && i < self->from->components.count; i++) {
        const extract_component *component = &self->from->components.at[i];

        for (size_t j = 1; code == CG_OK && j < component->instances.count; j++)
            code = meet_instance(self, component, &component->instances.at[j]);
    }
    for (size_t i = 0; code == CG_OK && i < self->sites.count; i++)
        code = add_site(self, &self->sites.at[i]);
    number_map_free(&self->site_of);
    vec_free(self->draft->heap, &self->sites);
    return code;
}

cg_code assemble_structure(const extraction *from, const function_facts *functions,
                           model_draft *draft, cg_err *reterr)
{
    size_t count = from->components.count;
    program *code_of = from->eval->program;
    assembler self = {
        .from = from,
        .functions = functions,
        .program = code_of,
        .types = from->eval->types,
        .draft = draft,
        .mem = &draft->mem,
        .ids = arena_zero(&draft->mem, (count + 1) * sizeof(cg_str)),
        .instances = arena_zero(&draft->mem, (count + 1) * sizeof(cg_str *)),
        .component_of = arena_zero(&draft->mem, code_of->items.count * sizeof(uint32_t)),
        .item_count = code_of->items.count,
        .reterr = reterr,
    };
    cg_code code = CG_OK;

    if (!self.ids || !self.instances || !self.component_of)
        return nomem(&self);
    for (size_t i = 0; i < count; i++) {
        const extract_component *component = &from->components.at[i];

        if (component->type)
            self.component_of[component->type] = (uint32_t)i + 1;
        if (!id_make(self.mem, MODEL_ID_KIND_COMPONENT, ID_PARTS(component->qualified),
                     &self.ids[i]))
            return nomem(&self);
    }
    for (size_t i = 0; code == CG_OK && i < count; i++) {
        if (!from->components.at[i].is_skipped)
            code = add_component(&self, i);
    }
    if (code == CG_OK)
        code = add_collisions(&self);
    for (size_t i = 0; code == CG_OK && i < count; i++) {
        if (!from->components.at[i].is_skipped)
            code = add_edges(&self, i);
    }
    return code == CG_OK ? add_sites(&self) : code;
}

/* --- what loading came across --- */

static cg_code add_versions(const program *code_of, model_draft *draft, cg_err *reterr)
{
    cg_str core = {0}, nn = {0}, message;

    for (size_t i = 0; i < code_of->cargo->candle_count; i++) {
        const cargo_candle *candle = &code_of->cargo->candles[i];
        bool is_core = str_equal(candle->name, CG_LIT("candle-core"));
        bool is_nn = str_equal(candle->name, CG_LIT("candle-nn"));

        if (is_core)
            core = candle->versions;
        if (is_nn)
            nn = candle->versions;
        if ((!is_core && !is_nn) || catalogue_is_verified(catalogue_version(candle->versions)))
            continue;
        if (!arena_format(&draft->mem, &message,
                          "%.*s %.*s is not among the versions our tables were checked with; what "
                          "they say holds conditionally",
                          (int)candle->name.len, candle->name.ptr, (int)candle->versions.len,
                          candle->versions.ptr) ||
            !assemble_finding(code_of, NULL, draft, "candle-semantics-version",
                              MODEL_CONFIDENCE_PROVEN, message, (model_place){0}))
            return err_nomem(reterr);
    }
    if (core.ptr && nn.ptr && !str_equal(core, nn)) {
        if (!arena_format(&draft->mem, &message, "candle-core is %.*s, candle-nn is %.*s",
                          (int)core.len, core.ptr, (int)nn.len, nn.ptr) ||
            !assemble_finding(code_of, NULL, draft, "candle-semantics-version",
                              MODEL_CONFIDENCE_PROVEN, message, (model_place){0}))
            return err_nomem(reterr);
    }
    return CG_OK;
}

cg_code assemble_context(const program *code_of, model_draft *draft, cg_err *reterr)
{
    for (size_t i = 0; i < code_of->cargo->diagnostics.count; i++) {
        const cargo_diagnostic *from = &code_of->cargo->diagnostics.at[i];
        model_finding *finding =
            assemble_finding(code_of, NULL, draft, from->code, MODEL_CONFIDENCE_PROVEN,
                             from->message, (model_place){0});

        if (!finding)
            return err_nomem(reterr);
        if (from->is_note) {
            finding->severity = MODEL_FINDING_SEVERITY_INFORMATION;
            finding->help =
                CG_LIT("`cargo generate-lockfile`, or any build, settles which versions are meant");
        }
    }
    for (size_t i = 0; i < code_of->faults.count; i++) {
        const program_fault *from = &code_of->faults.at[i];
        model_place place = {from->file, from->start, from->end, 0};
        model_finding *finding = assemble_finding(code_of, NULL, draft, from->rule,
                                                  MODEL_CONFIDENCE_UNKNOWN, from->message, place);

        if (!finding)
            return err_nomem(reterr);
        if (from->is_minor)
            finding->severity = MODEL_FINDING_SEVERITY_INFORMATION;
        if (!from->file && from->path.ptr && !arena_text(&draft->mem, from->path, &finding->source))
            return err_nomem(reterr);
    }
    return add_versions(code_of, draft, reterr);
}
