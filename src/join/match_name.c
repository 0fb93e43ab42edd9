#include "join/match_name.h"

#define NONE DECLARED_NONE

static const name_match nothing = {.item = NONE};

cg_code matcher_init(matcher *self, declared *from, uint32_t asked, uint8_t phase, uint64_t seed,
                     cg_err *reterr)
{
    const model_cargo *cargo = from->doc->cargo;
    size_t components = from->doc->components.count;

    memset(self, 0, sizeof *self);
    if (!intern_init(&self->ids, from->heap, seed))
        return err_nomem(reterr);
    if (!intern_init(&self->heads, from->heap, seed)) {
        intern_free(&self->ids);
        return err_nomem(reterr);
    }
    self->from = from;
    self->asked = asked;
    self->around = NONE;
    self->phase = phase;
    buf_init(&self->room, from->heap, SIZE_MAX / 2);
    self->is_used = heap_resize(from->heap, NULL, 0, components + 1);
    if (self->is_used != NULL)
        memset(self->is_used, 0, components + 1);
    if (self->is_used == NULL ||
        (cargo != NULL && !arena_text(&from->mem, cargo->package_name, &self->crate))) {
        matcher_free(self);
        return err_nomem(reterr);
    }
    for (size_t i = 0; i < self->crate.len; i++) {
        char *byte = (char *)(uintptr_t)&self->crate.ptr[i];

        *byte = *byte == '-' ? '_' : *byte;
    }
    return CG_OK;
}

void matcher_free(matcher *self)
{
    heap *from;

    if (self->from == NULL)
        return;
    from = self->from->heap;
    if (self->is_used != NULL)
        heap_resize(from, self->is_used, self->from->doc->components.count + 1, 0);
    path_hits_free(from, &self->hits);
    vec_free(from, &self->candidates);
    vec_free(from, &self->found);
    vec_free(from, &self->item_of_id);
    intern_free(&self->ids);
    intern_free(&self->heads);
    buf_free(&self->room);
    self->from = NULL;
}

void matcher_use(matcher *self, uint32_t component)
{
    if (component == NONE)
        return;
    self->is_used[component] = true;
}

void matcher_add_head(matcher *self, cg_str head)
{
    buf_clear(&self->room);
    declared_squeeze(head, &self->room);
    if (head.len > 0 && (self->room.failed || intern_add(&self->heads, buf_text(&self->room)) == 0))
        self->failed = true;
}

/* --- candidates --- */

static void add_found(matcher *self, uint32_t item)
{
    uint32_t *fresh;

    for (size_t i = 0; i < self->found.count && i < 8; i++) {
        if (self->found.at[i] == item)
            return;
    }
    fresh = vec_add(self->from->heap, &self->found);
    if (fresh == NULL)
        self->failed = true;
    else
        *fresh = item;
}

typedef bool item_test(const matcher *self, uint32_t item);

static bool is_asked(const matcher *self, uint32_t item)
{
    return self->from->component_of[item] == self->asked;
}

static bool is_around(const matcher *self, uint32_t item)
{
    return self->around != NONE && self->from->component_of[item] == self->around;
}

static bool is_used(const matcher *self, uint32_t item)
{
    uint32_t component = self->from->component_of[item];

    return component != NONE && self->is_used[component];
}

static bool is_outermost(const matcher *self, uint32_t item)
{
    uint32_t component = self->from->component_of[item];

    return component == NONE ||
           MODEL_AT(self->from->doc->components, model_component, component)->is_nested !=
               BOOL_TRUE;
}

/* Of a function that exists in several cfg alternatives, the one that is compiled. */
static bool is_active(const matcher *self, uint32_t item)
{
    const declared *from = self->from;

    if (declared_kind(from, item) != JOIN_ITEM_FUNCTION)
        return true;
    return MODEL_AT(from->doc->functions, model_function,
                    declared_place(from, JOIN_ITEM_FUNCTION, item))
               ->cfg_active != BOOL_FALSE;
}

static bool is_of_phase(const matcher *self, uint32_t item)
{
    const declared *from = self->from;
    uint8_t phase;

    if (declared_kind(from, item) != JOIN_ITEM_OPERATION)
        return true;
    phase = MODEL_AT(from->doc->operations, model_operation,
                     declared_place(from, JOIN_ITEM_OPERATION, item))
                ->execution_phase;
    return phase == MODEL_PHASE_NONE || phase == self->phase;
}

/* Keep those that pass, if any does. */
static void narrow(matcher *self, item_test *test)
{
    size_t kept = 0;

    for (size_t i = 0; i < self->found.count; i++)
        kept += test(self, self->found.at[i]) ? 1 : 0;
    if (kept == 0 || kept == self->found.count)
        return;
    kept = 0;
    for (size_t i = 0; i < self->found.count; i++) {
        if (test(self, self->found.at[i]))
            self->found.at[kept++] = self->found.at[i];
    }
    self->found.count = kept;
}

/* What is left of the found ones, as an answer. */
static name_match decide(matcher *self, uint8_t rule)
{
    static item_test *const tests[] = {is_around, is_active, is_of_phase, is_used, is_outermost};
    name_match ret = {.item = NONE, .rule = rule};

    if (self->asked != NONE && self->found.count > 1)
        narrow(self, is_asked);
    for (size_t i = 0; self->found.count > 1 && i < sizeof tests / sizeof tests[0]; i++)
        narrow(self, tests[i]);
    if (self->found.count == 1) {
        ret.item = self->found.at[0];
        return ret;
    }
    if (self->found.count == 0)
        return ret;
    ret.candidates_at = (uint32_t)self->candidates.count;
    ret.candidate_count = (uint32_t)self->found.count;
    if (!vec_reserve(self->from->heap, &self->candidates,
                     self->candidates.count + self->found.count)) {
        self->failed = true;
        return nothing;
    }
    memcpy(self->candidates.at + self->candidates.count, self->found.at,
           self->found.count * sizeof(uint32_t));
    self->candidates.count += self->found.count;
    return ret;
}

static bool is_answer(const name_match *match)
{
    return match->item != NONE || match->candidate_count > 0;
}

static void look_up(matcher *self, path_index *in, cg_str name)
{
    self->found.count = 0;
    if (!path_index_find(in, name, &self->hits))
        self->failed = true;
    for (size_t i = 0; i < self->hits.values.count; i++)
        add_found(self, self->from->aliases.at[self->hits.values.at[i]].item);
}

/* --- parts of a name --- */

static size_t separator_at(cg_str name, size_t at)
{
    if (name.ptr[at] == '.' || name.ptr[at] == '/')
        return 1;
    return name.ptr[at] == ':' && at + 1 < name.len && name.ptr[at + 1] == ':' ? 2 : 0;
}

/* Where the first separator is, and behind it; false: one segment. */
static bool first_separator(cg_str name, size_t *at, size_t *behind)
{
    for (size_t i = 0; i < name.len; i++) {
        size_t len = separator_at(name, i);

        if (len > 0) {
            *at = i;
            *behind = i + len;
            return true;
        }
    }
    return false;
}

static bool has_segments(cg_str name)
{
    size_t at;
    size_t behind;

    return first_separator(name, &at, &behind);
}

/* Without the last segment; absent when there is one only. */
static cg_str without_last(cg_str name, cg_str *last)
{
    for (size_t i = name.len; i-- > 0;) {
        size_t len = separator_at(name, i);

        if (len == 0)
            continue;
        *last = (cg_str){name.ptr + i + len, name.len - i - len};
        return (cg_str){name.ptr, i};
    }
    *last = name;
    return (cg_str){0};
}

static bool is_crate_name(const matcher *self, cg_str segment)
{
    return self->crate.len > 0 && str_equal(segment, self->crate);
}

/* Behind the name of the crate; absent: it does not begin with it. */
static cg_str without_crate(const matcher *self, cg_str name)
{
    size_t at;
    size_t behind;

    if (!first_separator(name, &at, &behind) ||
        !(is_crate_name(self, (cg_str){name.ptr, at}) ||
          str_equal((cg_str){name.ptr, at}, CG_LIT("crate"))))
        return (cg_str){0};
    return (cg_str){name.ptr + behind, name.len - behind};
}

/* --- ids --- */

static bool has_id_form(cg_str name)
{
    size_t colon = 0;

    while (colon < name.len && name.ptr[colon] != ':')
        colon++;
    return colon < name.len && sc_find_word(&words_join_item, (cg_str){name.ptr, colon}) >= 0;
}

static bool fill_ids(matcher *self)
{
    const declared *from = self->from;
    model_doc *doc = (model_doc *)(uintptr_t)from->doc;
    static const enum model_list lists[] = {MODEL_COMPONENTS, MODEL_MODULES,    MODEL_FUNCTIONS,
                                            MODEL_OPERATIONS, MODEL_PARAMETERS, MODEL_TENSORS};

    if (!vec_reserve(from->heap, &self->item_of_id, (size_t)from->first[DECLARED_LAYER] + 1))
        return false;
    for (uint8_t kind = 0; kind < JOIN_ITEM_WORD_COUNT; kind++) {
        const sc_records *list = model_list_of(doc, lists[kind]);
        const sc_table *table = model_list_table(lists[kind]);

        for (size_t i = 0; i < list->count; i++) {
            sym id = intern_add(&self->ids, model_id_at(list, table, i));

            if (id == 0)
                return false;
            if (id > self->item_of_id.count)
                self->item_of_id.at[self->item_of_id.count++] = declared_item(from, kind, i);
        }
    }
    return true;
}

static name_match match_id(matcher *self, cg_str name)
{
    name_match ret = nothing;
    sym id;

    if (!has_id_form(name))
        return ret;
    if (self->item_of_id.count == 0 && !fill_ids(self)) {
        self->failed = true;
        return ret;
    }
    id = intern_find(&self->ids, name);
    if (id != 0 && id <= self->item_of_id.count) {
        ret.item = self->item_of_id.at[id - 1];
        ret.rule = JOIN_RULE_STATIC_ID;
    }
    return ret;
}

/* --- functions --- */

static name_match function_by(matcher *self, cg_str name)
{
    bool is_whole = false;

    look_up(self, &self->from->functions, name);
    for (size_t i = 0; i < self->hits.values.count; i++)
        is_whole = is_whole || self->from->aliases.at[self->hits.values.at[i]].is_whole;
    if (is_whole) {
        self->found.count = 0;
        for (size_t i = 0; i < self->hits.values.count; i++) {
            const declared_alias *alias = &self->from->aliases.at[self->hits.values.at[i]];

            if (alias->is_whole)
                add_found(self, alias->item);
        }
    }
    return decide(self, is_whole             ? JOIN_RULE_QUALIFIED_NAME
                        : has_segments(name) ? JOIN_RULE_NAME_END
                                             : JOIN_RULE_BARE_NAME);
}

name_match match_function(matcher *self, cg_str name)
{
    name_match ret = function_by(self, name);
    cg_str rest = without_crate(self, name);

    if (!is_answer(&ret) && rest.ptr != NULL) {
        ret = function_by(self, rest);
        if (ret.rule == JOIN_RULE_BARE_NAME)
            ret.rule = JOIN_RULE_NAME_END;
    }
    return ret;
}

/* --- modules and layers --- */

static name_match module_by(matcher *self, cg_str name)
{
    look_up(self, &self->from->modules, name);
    return decide(self, self->hits.is_template ? JOIN_RULE_MODULE_TEMPLATE : JOIN_RULE_MODULE_PATH);
}

/* `path.name`; absent: there is no path, or no memory. */
static cg_str name_below(matcher *self, cg_str path, cg_str name)
{
    if (path.len == 0)
        return (cg_str){0};
    buf_clear(&self->room);
    buf_add(&self->room, path);
    buf_byte(&self->room, '.');
    buf_add(&self->room, name);
    self->failed = self->failed || self->room.failed;
    return self->room.failed ? (cg_str){0} : buf_text(&self->room);
}

static name_match module_below(matcher *self, cg_str path, cg_str name)
{
    cg_str whole = name_below(self, path, name);
    name_match ret = whole.ptr != NULL ? module_by(self, whole) : nothing;

    if (whole.ptr != NULL)
        ret.rule = JOIN_RULE_MODULE_BELOW;
    return ret;
}

/* A path whose last segment is the field that holds the module. */
static name_match field_by(matcher *self, path_index *in, cg_str name)
{
    look_up(self, in, name);
    return decide(self, JOIN_RULE_FIELD_PATH);
}

static name_match field_below(matcher *self, cg_str path, cg_str name)
{
    cg_str whole = name_below(self, path, name);

    return whole.ptr != NULL ? field_by(self, &self->from->fields, whole) : nothing;
}

static name_match module_end(matcher *self, cg_str name)
{
    look_up(self, &self->from->module_ends, name);
    return decide(self, JOIN_RULE_MODULE_END);
}

static bool is_component(const matcher *self, uint32_t item)
{
    return declared_kind(self->from, item) == JOIN_ITEM_COMPONENT;
}

/* Does the segment name the crate, a component, or what else names of the run begin with? */
static bool is_head(matcher *self, cg_str segment)
{
    if (is_crate_name(self, segment))
        return true;
    buf_clear(&self->room);
    declared_squeeze(segment, &self->room);
    if (self->room.failed) {
        self->failed = true;
        return false;
    }
    if (intern_find(&self->heads, buf_text(&self->room)) != 0)
        return true;
    look_up(self, &self->from->types, buf_text(&self->room));
    narrow(self, is_component);
    return self->found.count > 0 && is_component(self, self->found.at[0]);
}

/* What a name is without its head; absent: it has none. */
static cg_str without_head(matcher *self, cg_str name)
{
    size_t at;
    size_t behind;

    if (!first_separator(name, &at, &behind) || !is_head(self, (cg_str){name.ptr, at}))
        return (cg_str){0};
    return (cg_str){name.ptr + behind, name.len - behind};
}

/* From the top, or the end of a path when the name has a head. */
static name_match module_from_top(matcher *self, cg_str name)
{
    name_match ret = module_by(self, name);
    cg_str rest;

    if (is_answer(&ret))
        return ret;
    rest = without_head(self, name);
    if (rest.ptr == NULL)
        return ret;
    ret = module_by(self, rest);
    if (!is_answer(&ret))
        ret = module_end(self, rest);
    ret.left_off = name.len - rest.len;
    return ret;
}

static bool is_module(const matcher *self, uint32_t item)
{
    return declared_kind(self->from, item) == JOIN_ITEM_MODULE;
}

static name_match type_by(matcher *self, cg_str name)
{
    buf_clear(&self->room);
    declared_squeeze(name, &self->room);
    if (self->room.failed) {
        self->failed = true;
        return nothing;
    }
    look_up(self, &self->from->types, buf_text(&self->room));
    narrow(self, is_outermost);
    narrow(self, is_used);
    narrow(self, is_module);
    return decide(self, JOIN_RULE_TYPE_NAME);
}

/* What is around the name decides between several. */
static void enter(matcher *self, const name_context *around)
{
    self->around =
        around->function != NONE
            ? self->from
                  ->component_of[declared_item(self->from, JOIN_ITEM_FUNCTION, around->function)]
            : NONE;
}

/* Below what is around, from the top, or the end of a path of fields. */
static name_match field_from(matcher *self, cg_str path, cg_str name)
{
    name_match ret = field_below(self, path, name);
    cg_str rest = is_answer(&ret) ? (cg_str){0} : without_head(self, name);

    if (!is_answer(&ret))
        ret = field_by(self, &self->from->fields, name);
    if (!is_answer(&ret) && rest.ptr != NULL)
        ret = field_by(self, &self->from->fields, rest);
    if (!is_answer(&ret) && rest.ptr != NULL)
        ret = field_by(self, &self->from->field_ends, rest);
    return ret;
}

/* --- spans --- */

name_match match_span(matcher *self, cg_str name, const name_context *around)
{
    bool is_path = has_segments(name);
    name_match ret = match_id(self, name);

    enter(self, around);
    if (!is_answer(&ret) && is_path)
        ret = match_function(self, name);
    if (!is_answer(&ret))
        ret = module_below(self, around->path, name);
    if (!is_answer(&ret))
        ret = module_from_top(self, name);
    if (!is_answer(&ret) && around->path.len > 0)
        ret = field_below(self, around->path, name);
    if (!is_answer(&ret) && !is_path)
        ret = match_function(self, name);
    if (!is_answer(&ret))
        ret = module_end(self, name);
    if (!is_answer(&ret))
        ret = type_by(self, name);
    if (!is_answer(&ret))
        ret = field_from(self, around->path, name);
    if (!is_answer(&ret))
        ret = field_by(self, &self->from->field_ends, name);
    self->around = NONE;
    return ret;
}

static cg_str path_of_item(const declared *from, uint32_t item)
{
    uint8_t kind = declared_kind(from, item);
    uint32_t place = declared_place(from, kind, item);

    if (kind == JOIN_ITEM_MODULE)
        return MODEL_AT(from->doc->modules, model_module, place)->prefix;
    if (kind == DECLARED_LAYER)
        return from->layers.at[place].prefix;
    return (cg_str){0};
}

/* The path of the one module of a function's owner; absent: there are several, or none. */
static cg_str path_of_owner(matcher *self, uint32_t item)
{
    const declared *from = self->from;
    const model_function *function = MODEL_AT(from->doc->functions, model_function,
                                              declared_place(from, JOIN_ITEM_FUNCTION, item));
    name_match owner;

    if (function->owner_type.ptr == NULL)
        return (cg_str){0};
    owner = type_by(self, function->owner_type);
    return owner.item == NONE ? (cg_str){0} : path_of_item(from, owner.item);
}

bool match_path(matcher *self, const name_match *match, cg_str name, const name_context *around,
                buf *out)
{
    cg_str path = {0};

    if (match->item == NONE)
        return false;
    switch (declared_kind(self->from, match->item)) {
    case JOIN_ITEM_MODULE:
    case DECLARED_LAYER:
        if (match->rule == JOIN_RULE_MODULE_BELOW) {
            buf_add(out, around->path);
            buf_byte(out, '.');
        }
        path = match->rule == JOIN_RULE_MODULE_PATH || match->rule == JOIN_RULE_MODULE_TEMPLATE ||
                       match->rule == JOIN_RULE_MODULE_BELOW
                   ? (cg_str){name.ptr + match->left_off, name.len - match->left_off}
                   : path_of_item(self->from, match->item);
        break;
    case JOIN_ITEM_FUNCTION:
        if (around->path.len == 0)
            path = path_of_owner(self, match->item);
        break;
    default: break;
    }
    buf_add(out, path);
    return path.len > 0;
}

/* --- labels --- */

/* No memory for the name that is looked for: nothing was looked for. */
static uint32_t looked_up(matcher *self, uint32_t item)
{
    self->failed = self->failed || self->from->room.failed;
    return item;
}

static name_match tensor_by(matcher *self, cg_str name, uint32_t function)
{
    self->found.count = 0;
    if (function == NONE)
        return nothing;
    for (uint32_t item = looked_up(self, declared_in_function(self->from, function, name, false));
         item != NONE; item = self->from->next_in_function[item])
        add_found(self, item);
    return decide(self, JOIN_RULE_TENSOR_IN_FUNCTION);
}

static name_match parameter_by(matcher *self, cg_str name)
{
    look_up(self, &self->from->keys, name);
    return decide(self,
                  self->hits.is_template ? JOIN_RULE_PARAMETER_TEMPLATE : JOIN_RULE_PARAMETER_KEY);
}

static name_match parameter_end(matcher *self, cg_str name)
{
    look_up(self, &self->from->key_ends, name);
    return decide(self, JOIN_RULE_PARAMETER_END);
}

static name_match parameter_from_top(matcher *self, cg_str name)
{
    name_match ret = parameter_by(self, name);
    cg_str rest = is_answer(&ret) ? (cg_str){0} : without_head(self, name);

    if (rest.ptr != NULL)
        ret = parameter_by(self, rest);
    if (!is_answer(&ret) && rest.ptr != NULL)
        ret = parameter_end(self, rest);
    if (!is_answer(&ret))
        ret = parameter_end(self, name);
    return ret;
}

name_match match_label(matcher *self, cg_str label, const name_context *around)
{
    cg_str last;
    cg_str rest = without_last(label, &last);
    name_match ret = match_id(self, label);

    enter(self, around);
    if (!is_answer(&ret))
        ret = parameter_from_top(self, label);
    if (!is_answer(&ret))
        ret = module_from_top(self, label);
    if (!is_answer(&ret))
        ret = tensor_by(self, label, around->function);
    if (!is_answer(&ret) && rest.ptr != NULL) {
        ret = module_from_top(self, rest);
        ret.rule = JOIN_RULE_LABEL_OF_MODULE;
    }
    if (!is_answer(&ret))
        ret = field_from(self, around->path, label);
    if (!is_answer(&ret) && rest.ptr != NULL) {
        ret = field_from(self, around->path, rest);
        ret.rule = JOIN_RULE_LABEL_OF_MODULE;
    }
    if (!is_answer(&ret) && rest.ptr != NULL)
        ret = tensor_by(self, last, around->function);
    self->around = NONE;
    return ret;
}

/* --- operations --- */

name_match match_operation(matcher *self, cg_str name, const name_context *around)
{
    name_match ret = match_id(self, name);

    self->found.count = 0;
    if (is_answer(&ret))
        return ret;
    if (around->function != NONE) {
        for (uint32_t item =
                 looked_up(self, declared_in_function(self->from, around->function, name, true));
             item != NONE; item = self->from->next_in_function[item])
            add_found(self, item);
        ret = decide(self, JOIN_RULE_OPERATION_IN_FUNCTION);
        if (is_answer(&ret))
            return ret;
    }
    self->found.count = 0;
    for (uint32_t item = looked_up(self, declared_operation(self->from, name)); item != NONE;
         item = self->from->next_of_name[item])
        add_found(self, item);
    return decide(self, JOIN_RULE_OPERATION_NAME);
}
