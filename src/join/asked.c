#include "join/asked.h"

#include <inttypes.h>

#include "base/sort.h"
#include "join/as_called.h"
#include "model/ids.h"
#include "model/index.h"
#include "model/index_text.h"
#include "model/normalise.h"
#include "model/rules.h"

const cg_str asked_rules[ASKED_RULES] = {
    {"checkpoint-missing", 18}, {"checkpoint-unclaimed", 20}, {"checkpoint-shape-mismatch", 25}};

enum { RULE_MISSING, RULE_UNCLAIMED, RULE_OTHER_SHAPE };

/* --- keys: the pieces of the source as those of a pattern --- */

/* Where in a key the next piece is taken from. */
typedef struct reading {
    arena *mem;
    expr_pool *exprs;
    const extract_parameter *parameter;
    const char *printed; /* what is left of the key as documents print it */
    size_t printed_len;
    size_t piece;
    size_t offset; /* in that piece, when it is text */
    key_piece *to;
    size_t count;
    bool is_open; /* a text of it is not known */
} reading;

/* What stands between the braces of the next hole. */
static cg_str hole_name(const reading *self)
{
    cg_str rest = {self->printed, self->printed_len};
    size_t end = str_find(rest, CG_LIT("}"));

    if (rest.len < 2 || rest.ptr[0] != '{' || end == SIZE_MAX)
        return CG_LIT("_");
    return (cg_str){rest.ptr + 1, end - 1};
}

static void skip_printed(reading *self, size_t count)
{
    if (count > self->printed_len)
        count = self->printed_len;
    self->printed += count;
    self->printed_len -= count;
}

/* Is it what stands before `in` in the loop around: `i` of `(i, w) in dims.windows(2)`? */
static bool is_counter(const reading *self, cg_str name)
{
    cg_str head = self->parameter->repeat;
    size_t end = head.ptr != NULL ? str_find(head, CG_LIT(" in ")) : SIZE_MAX;

    head.len = end == SIZE_MAX ? 0 : end;
    return index_text_mentions(head, name);
}

/* How far apart the numbers of two rounds are; unset: not always as far. */
static opt_u64 step_of(reading *self, expr number, expr counter)
{
    expr_binding next = {counter,
                         expr_binary(self->exprs, EXPR_ADD, counter, expr_const(self->exprs, 1))};
    expr step =
        expr_binary(self->exprs, EXPR_SUB, expr_substitute(self->exprs, number, &next, 1), number);
    int64_t known = 0;

    if (!expr_constant(self->exprs, step, &known) || known == 0 || known == INT64_MIN)
        return (opt_u64){0};
    return (opt_u64){known < 0 ? (uint64_t)-known : (uint64_t)known, true};
}

/*
 * What a counter of a loop makes of a hole: the value in the first round and the step, when the
 * hole is that counter times a number plus a number. Counters go from 0 and have plain names.
 */
static bool count_hole(reading *self, expr number, key_piece *ret)
{
    expr_list symbols = {0};
    int64_t first, second;
    bool is_good = expr_symbols(self->exprs, number, &symbols);

    for (size_t i = 0; is_good && i < symbols.count && ret->counter == EXPR_NONE; i++) {
        if (is_counter(self, expr_text(self->exprs, symbols.at[i])))
            ret->counter = symbols.at[i];
    }
    if (is_good && ret->counter != EXPR_NONE)
        ret->step = step_of(self, number, ret->counter);
    if (is_good && symbols.count == 1 && self->parameter->repeat.ptr != NULL) {
        cg_str text = expr_text(self->exprs, symbols.at[0]);
        bool is_plain = text.len > 0;
        expr_binding zero = {symbols.at[0], expr_const(self->exprs, 0)};
        expr_binding one = {symbols.at[0], expr_const(self->exprs, 1)};

        for (size_t i = 0; i < text.len; i++)
            is_plain = is_plain && text.ptr[i] != '.' && text.ptr[i] != '(' && text.ptr[i] != '[';
        if (is_plain && expr_evaluate(self->exprs, number, &zero, 1, &first) &&
            expr_evaluate(self->exprs, number, &one, 1, &second) && first >= 0 && second > first) {
            ret->first = (opt_u64){(uint64_t)first, true};
            ret->step = (opt_u64){(uint64_t)(second - first), true};
        }
    }
    vec_free(self->exprs->heap, &symbols);
    return is_good && !self->exprs->failed;
}

/* Take a hole. false: out of memory. */
static bool take_hole(reading *self)
{
    const text_piece *from = &self->parameter->key.at[self->piece];
    key_piece *to = &self->to[self->count++];
    cg_str name = hole_name(self);

    *to = (key_piece){.text = name,
                      .is_number = from->number != EXPR_NONE,
                      .number = from->number,
                      .width = from->width,
                      .fill = from->fill};
    skip_printed(self, name.len + 2);
    self->piece++;
    self->offset = 0;
    if (to->is_number)
        return count_hole(self, from->number, to);
    /* A text nobody knows is shown as it is and equals no name: what it asks for is not certain. */
    self->is_open = true;
    return arena_format(self->mem, &to->text, "{%.*s}", (int)name.len, name.ptr);
}

/* Take `count` bytes of text, which must be there. */
static void take_text(reading *self, size_t count)
{
    cg_str text = self->parameter->key.at[self->piece].text;

    self->to[self->count++] = (key_piece){.text = {text.ptr + self->offset, count}};
    skip_printed(self, count);
    self->offset += count;
    if (self->offset == text.len) {
        self->piece++;
        self->offset = 0;
    }
}

static bool is_next_text(const reading *self, cg_str text)
{
    const text_piece *piece = &self->parameter->key.at[self->piece];

    return self->piece < self->parameter->key.count && !piece->is_hole &&
           piece->text.len - self->offset >= text.len &&
           memcmp(piece->text.ptr + self->offset, text.ptr, text.len) == 0;
}

/* What one call added; *ret_is_met false: the key goes on otherwise, and nothing more is told. */
static bool take_step(reading *self, text_pieces added, bool *ret_is_met)
{
    *ret_is_met = false;
    if (self->count > 0 && added.count > 0) {
        if (!is_next_text(self, CG_LIT(".")))
            return true;
        take_text(self, 1);
    }
    for (size_t i = 0; i < added.count; i++) {
        if (added.at[i].is_hole) {
            if (self->piece >= self->parameter->key.count ||
                !self->parameter->key.at[self->piece].is_hole)
                return true;
            if (!take_hole(self))
                return false;
        } else if (added.at[i].text.len > 0) {
            if (!is_next_text(self, added.at[i].text))
                return true;
            take_text(self, added.at[i].text.len);
        }
    }
    *ret_is_met = true;
    return true;
}

/* --- steps --- */

static bool tell_step(arena *mem, const program *code_of, const function_facts *functions,
                      model_place place, key_step *to)
{
    if (place.function != 0 && functions != NULL) {
        const function_fact *fact = function_of(functions, place.function);

        if (fact != NULL)
            to->function = fact->spelled;
    }
    if (place.file == 0)
        return true;

    const rust_source *source = &code_of->files.at[place.file]->source;
    rust_place at = source_place(source, place.start);

    to->line = at.line;
    to->column = at.column;
    to->byte_start = place.start;
    to->byte_end = place.end;
    return arena_text(mem, source->path, &to->file);
}

#define STEPS_MOST 256u

static cg_code take_key(reading *self, const extraction *from, const function_facts *functions,
                        wanted_parameter *to, cg_err *reterr)
{
    const builder_step *chain[STEPS_MOST];
    size_t depth = 0;
    size_t room = 2 * self->parameter->key.count + 2;
    key_step *steps;
    bool is_met = true;

    for (const builder_step *at = self->parameter->last; at != NULL && depth < STEPS_MOST;
         at = at->before) {
        chain[depth++] = at;
        room += 2 * at->added.count + 1;
    }
    steps = arena_zero(self->mem, (depth + 1) * sizeof *steps);
    self->to = arena_zero(self->mem, room * sizeof *self->to);
    if (steps == NULL || self->to == NULL)
        return err_nomem(reterr);
    to->steps = steps;
    while (depth > 0 && is_met) {
        const builder_step *step = chain[--depth];
        size_t before = self->count;

        if (!take_step(self, step->added, &is_met))
            return err_nomem(reterr);
        if (!is_met || self->count == before)
            continue;
        steps[to->step_count].piece_count = (uint32_t)(self->count - before);
        if (!tell_step(self->mem, from->eval->program, functions, step->place,
                       &steps[to->step_count]))
            return err_nomem(reterr);
        to->step_count++;
    }
    while (self->piece < self->parameter->key.count) {
        const text_piece *piece = &self->parameter->key.at[self->piece];

        if (piece->is_hole) {
            if (!take_hole(self))
                return err_nomem(reterr);
        } else if (piece->text.len > self->offset) {
            take_text(self, piece->text.len - self->offset);
        } else {
            self->piece++;
            self->offset = 0;
        }
    }
    to->pieces = self->to;
    to->piece_count = self->count;
    return CG_OK;
}

/* --- parameters --- */

static enum parameter_use use_of(cg_str library, const extract_parameter *from)
{
    static const struct {
        const char *part;
        enum parameter_use use;
    } uses[] = {{"batch_norm", PARAMETER_BATCH_NORM}, {"BatchNorm", PARAMETER_BATCH_NORM},
                {"layer_norm", PARAMETER_NORM},       {"LayerNorm", PARAMETER_NORM},
                {"rms_norm", PARAMETER_NORM},         {"RmsNorm", PARAMETER_NORM},
                {"group_norm", PARAMETER_NORM},       {"GroupNorm", PARAMETER_NORM},
                {"embedding", PARAMETER_EMBEDDING},   {"Embedding", PARAMETER_EMBEDDING},
                {"linear", PARAMETER_LINEAR},         {"Linear", PARAMETER_LINEAR},
                {"conv", PARAMETER_CONVOLUTION},      {"Conv", PARAMETER_CONVOLUTION}};

    if (from->is_running_state)
        return PARAMETER_RUNNING;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        if (str_find(library, str_from(uses[i].part)) != SIZE_MAX)
            return uses[i].use;
    }
    return PARAMETER_ANY;
}

static cg_code make_parameter(arena *mem, const extraction *from, const function_facts *functions,
                              const extract_parameter *parameter, wanted_parameter *to,
                              cg_err *reterr)
{
    reading reader = {.mem = mem,
                      .exprs = from->eval->exprs,
                      .parameter = parameter,
                      .printed = parameter->printed.ptr,
                      .printed_len = parameter->printed.len};

    *to = (wanted_parameter){
        .root = parameter->root,
        .is_certain = parameter->condition.ptr == NULL,
        .has_rank = parameter->has_shape,
        .shape = parameter->shape,
        .rank = parameter->has_shape ? parameter->rank : 0,
    };
    if (parameter->library != 0)
        to->use = use_of(program_text(from->eval->program, parameter->library), parameter);
    else if (parameter->is_running_state)
        to->use = PARAMETER_RUNNING;
    if (parameter->alternative.len > 0) {
        to->alternatives = &parameter->alternative;
        to->alternative_count = 1;
    }
    CG_TRY(take_key(&reader, from, functions, to, reterr));
    to->is_certain = to->is_certain && !reader.is_open;
    return CG_OK;
}

/* Is a program scanned? Then nobody outside builds its components. */
static bool is_program(const program *code_of)
{
    for (item_ref i = 1; i < code_of->items.count; i++) {
        const program_item *item = &code_of->items.at[i];
        const program_crate *crate =
            item->kind == ITEM_FUNCTION
                ? &code_of->crates.at[code_of->modules.at[item->module].crate]
                : NULL;

        if (crate && crate->is_scanned && !crate->is_library && !item->owner &&
            item->module == crate->root &&
            str_equal(program_text(code_of, item->name), CG_LIT("main")))
            return true;
    }
    return false;
}

/* What the calls themselves ask for; their root is called as the constructor calls it. */
static cg_code list_called(const as_called *called, const function_facts *functions,
                           const as_called_result *result, wanted_component *to, cg_err *reterr)
{
    const extract_component *component = &called->from->components.at[result->use->component];
    wanted_parameter *list = arena_zero(called->mem, (result->count + 1) * sizeof *list);

    if (list == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < result->count; i++) {
        CG_TRY(make_parameter(called->mem, called->from, functions, result->asked[i], &list[i],
                              reterr));
        list[i].root = component->roots[0];
    }
    to->parameters = list;
    to->parameter_count = result->count;
    return CG_OK;
}

/* What those who build a component say about it. */
static cg_code add_callers(const as_called *called, const function_facts *functions, size_t at,
                           wanted_component *to, wanted_parameter *parameters,
                           as_called_result *ret, cg_err *reterr)
{
    size_t count = called->from->uses.count;
    const extract_use *all = called->from->uses.at;
    key_step *steps = arena_zero(called->mem, (count + 1) * sizeof *steps);

    if (!steps)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        if (all[i].component == at && !tell_step(called->mem, called->from->eval->program,
                                                 functions, all[i].place, &steps[i]))
            return err_nomem(reterr);
    }
    for (size_t i = 0; i < count && to->renamed_by == NULL; i++) {
        if (all[i].component == at && all[i].is_renamed)
            to->renamed_by = &steps[i];
    }
    CG_TRY(as_called_apply(called, at, parameters, steps, ret, reterr));
    if (ret->use) {
        to->built_by = &steps[ret->use - all];
        to->maker = ret->use->function;
        to->maker_root = ret->use->root;
    }
    return ret->asked ? list_called(called, functions, ret, to, reterr) : CG_OK;
}

cg_code asked_make(heap *from_heap, arena *mem, const extraction *from,
                   const function_facts *functions, const tensor_header *header, asked_model *ret,
                   cg_err *reterr)
{
    size_t count = from->components.count;
    wanted_component *components = arena_zero(mem, (count + 1) * sizeof *components);
    as_called_result *callers = arena_zero(mem, (count + 1) * sizeof *callers);
    as_called called = {.heap = from_heap,
                        .mem = mem,
                        .from = from,
                        .header = header,
                        .is_program = is_program(from->eval->program)};

    if (components == NULL || callers == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        const extract_component *component = &from->components.at[i];
        size_t parameters = component->parameters.count;
        wanted_parameter *to = arena_zero(mem, (parameters + 1) * sizeof *to);

        if (to == NULL)
            return err_nomem(reterr);
        for (size_t j = 0; j < parameters; j++)
            CG_TRY(
                make_parameter(mem, from, functions, &component->parameters.at[j], &to[j], reterr));
        components[i] = (wanted_component){.name = component->qualified,
                                           .is_top_level = !component->is_nested,
                                           .parameters = to,
                                           .parameter_count = parameters};
        if (component->is_maker && component->root_count == 1) {
            components[i].maker = component->constructor;
            components[i].maker_root = component->roots[0];
        }
        if (header != NULL)
            CG_TRY(add_callers(&called, functions, i, &components[i], to, &callers[i], reterr));
        /* A type parameter of another one, that only its callers know. */
        if (header != NULL && component->is_within && callers[i].use == NULL)
            components[i].is_top_level = false;
    }
    *ret = (asked_model){mem, from, components, count, callers};
    return CG_OK;
}

/* --- merging --- */

/* A parameter of the document that was compared. */
typedef struct joined {
    model_parameter *record;
    key_pattern pattern;
    cg_str printed;
    cg_str family; /* what all keys of the record are called as, for people */
    size_t lead;   /* the first one with this record */
    const wanted_parameter *wanted;
    bool is_family;
    bool is_certain;
    uint64_t matched;
    const tensor_row *first;
    cg_str *missing; /* keys of it that the file lacks */
    size_t missing_count;
    size_t missing_room;
} joined;

typedef struct merge {
    const asked_model *model;
    heap *heap;
    const tensor_header *header;
    const doc_checkpoint *report;
    model_document *document;
    joined *all;
    size_t count;
    size_t *by_record; /* by parameter of the document: one more than the first in `all` */
    text_index by_key; /* into `all` */
    key_name *names;   /* of the tensors, in order */
    model_finding *findings;
    size_t finding_count;
} merge;

/* Was this component compared? The report names those it is about. */
static bool is_compared(const doc_checkpoint *report, cg_str name)
{
    const doc_checkpoint *parts = report->components.at;

    if (report->component.ptr != NULL && str_equal(report->component, name))
        return true;
    for (size_t i = 0; i < report->components.count; i++) {
        if (parts[i].component.ptr != NULL && str_equal(parts[i].component, name))
            return true;
    }
    return false;
}

/* The parameter records of the document by id, writable: the document is ours to change. */
static model_parameter *parameter_at(const merge *self, size_t index)
{
    const model_parameter *all = self->document->doc.parameters.at;

    return (model_parameter *)(uintptr_t)&all[index];
}

/* The constructor's parameter that number `at` of the compared ones is; NULL: none. */
static const extract_parameter *source_of(const merge *self, size_t component, size_t at)
{
    const extract_component *from = &self->model->from->components.at[component];
    const uint32_t *sources = self->model->callers[component].sources;
    size_t source = sources ? sources[at] : at;

    return source < from->parameters.count ? &from->parameters.at[source] : NULL;
}

static cg_code join_component(merge *self, size_t at, const text_index *ids, cg_err *reterr)
{
    const extract_component *component = &self->model->from->components.at[at];
    const wanted_component *compared = &self->model->components[at];
    const as_called_result *caller = &self->model->callers[at];
    arena *mem = self->model->mem;
    cg_str owner;

    if (!id_make(mem, MODEL_ID_KIND_COMPONENT, ID_PARTS(component->qualified), &owner))
        return err_nomem(reterr);
    for (size_t i = 0; i < compared->parameter_count; i++) {
        const extract_parameter *from = source_of(self, at, i);
        const wanted_parameter *wanted = &compared->parameters[i];
        joined *to = &self->all[self->count];
        cg_str id;
        size_t found;

        if (from == NULL || !str_equal(from->root, self->report->root))
            continue;
        if (!id_make(mem, MODEL_ID_KIND_PARAMETER, ID_PARTS(owner, from->root, from->printed),
                     &id) ||
            !key_pattern_make(mem, wanted->pieces, wanted->piece_count, &to->pattern))
            return err_nomem(reterr);
        found = index_find(ids, id);
        if (found == INDEX_NONE)
            continue;
        to->record = parameter_at(self, found);
        to->family = from->printed;
        to->wanted = wanted;
        const extract_use *use = caller->given ? caller->given[i] : caller->use;

        if (use && use->prefix.count &&
            !arena_format(mem, &to->family, "%.*s.%.*s", (int)use->printed.len, use->printed.ptr,
                          (int)from->printed.len, from->printed.ptr))
            return err_nomem(reterr);
        to->printed = caller->asked ? caller->asked[i]->printed : to->family;
        to->lead = self->by_record[found] ? self->by_record[found] - 1 : self->count;
        self->by_record[found] = to->lead + 1;
        to->is_family = to->pattern.number_count > 0;
        to->is_certain = wanted->is_certain;
        self->count++;
    }
    return CG_OK;
}

static cg_code join_parameters(merge *self, cg_err *reterr)
{
    const asked_model *model = self->model;
    text_index ids;
    size_t room = 1;
    cg_code code = CG_OK;

    for (size_t i = 0; i < model->count; i++)
        room += model->components[i].parameter_count;
    self->all = arena_zero(model->mem, room * sizeof *self->all);
    self->by_record = arena_zero(model->mem, (self->document->doc.parameters.count + 1) *
                                                 sizeof *self->by_record);
    if (self->all == NULL || self->by_record == NULL ||
        !index_build(&ids, self->heap, &self->document->doc.parameters, sizeof(model_parameter),
                     offsetof(model_parameter, id)))
        return err_nomem(reterr);
    for (size_t i = 0; code == CG_OK && i < model->count; i++) {
        if (is_compared(self->report, model->components[i].name))
            code = join_component(self, i, &ids, reterr);
    }
    index_free(&ids);
    return code;
}

/* The first tensor whose name does not come before `text`. */
static size_t first_tensor(const merge *self, cg_str text)
{
    size_t low = 0;
    size_t high = self->header->tensor_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(self->header->tensors[middle].name, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void match_family(merge *self, joined *to)
{
    const key_part *lead = &to->pattern.segments[0].parts[0];
    cg_str prefix = lead->number < 0 ? lead->text : CG_LIT("");

    for (size_t i = first_tensor(self, prefix); i < self->header->tensor_count; i++) {
        const tensor_row *row = &self->header->tensors[i];
        key_numbers numbers = {0};

        if (!str_starts_with(row->name, prefix))
            break;
        if (self->names[i].count != to->pattern.count ||
            !key_pattern_match(&to->pattern, 0, &self->names[i], 0, &numbers))
            continue;
        to->matched++;
        if (to->first == NULL)
            to->first = row;
    }
}

/* A key that is one name: that one, or with the last part that Candle takes instead. */
static cg_code match_single(merge *self, joined *to, const wanted_parameter *wanted, cg_err *reterr)
{
    size_t dot = str_find_last(to->printed, '.');
    size_t lead = dot == SIZE_MAX ? 0 : dot + 1;

    to->first = safetensors_find(self->header, to->printed);
    for (size_t i = 0; to->first == NULL && i < wanted->alternative_count; i++) {
        cg_str other = wanted->alternatives[i];
        cg_str name;

        if (!arena_format(self->model->mem, &name, "%.*s%.*s", (int)lead, to->printed.ptr,
                          (int)other.len, other.ptr))
            return err_nomem(reterr);
        to->first = safetensors_find(self->header, name);
    }
    to->matched = to->first != NULL;
    return CG_OK;
}

static cg_code match_all(merge *self, cg_err *reterr)
{
    arena *mem = self->model->mem;

    self->names = arena_take(mem, (self->header->tensor_count + 1) * sizeof *self->names);
    if (self->names == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->header->tensor_count; i++) {
        if (!key_name_make(mem, self->header->tensors[i].name, &self->names[i]))
            return err_nomem(reterr);
    }
    for (size_t i = 0; i < self->count; i++) {
        joined *to = &self->all[i];

        if (to->is_family && to->pattern.count > 0)
            match_family(self, to);
        else
            CG_TRY(match_single(self, to, to->wanted, reterr));
    }
    return CG_OK;
}

static cg_code keep_matches(merge *self, asked_matches *ret, cg_err *reterr)
{
    arena *mem = &self->document->mem;
    tree_match *matches = arena_take(self->model->mem, (self->count + 1) * sizeof *matches);

    if (matches == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->count; i++) {
        joined *from = &self->all[i];

        if (from->lead == i)
            from->record->checkpoint_shape = (sc_u64s){0};
        if (from->lead == i)
            from->record->checkpoint_dtype = (cg_str){0};
        matches[i] = (tree_match){from->record->id, from->matched};
        if (from->lead != i)
            matches[from->lead].tensors += from->matched;
    }
    for (size_t i = 0; i < self->count; i++) {
        joined *from = &self->all[i];
        uint64_t *shape;

        matches[i].tensors = matches[from->lead].tensors;
        if (from->first == NULL || from->record->checkpoint_dtype.ptr != NULL)
            continue;
        shape = arena_take(mem, (from->first->rank + 1) * sizeof *shape);
        if (shape == NULL)
            return err_nomem(reterr);
        for (uint32_t k = 0; k < from->first->rank; k++)
            shape[k] = from->first->shape[k];
        from->record->checkpoint_shape = (sc_u64s){shape, from->first->rank};
        from->record->checkpoint_dtype = tensor_dtype_name(from->first->dtype);
    }
    *ret = (asked_matches){matches, self->count};
    return CG_OK;
}

/* --- findings --- */

/* The compared parameter that a key of the report belongs to; NULL: none. */
static joined *owner_of(merge *self, cg_str key)
{
    size_t found = index_find(&self->by_key, key);
    key_name name;

    if (found != INDEX_NONE)
        return &self->all[self->all[found].lead];
    if (!key_name_make(self->model->mem, key, &name))
        return NULL;
    for (size_t i = 0; i < self->count; i++) {
        key_numbers numbers = {0};

        if (self->all[i].is_family && self->all[i].pattern.count == name.count &&
            key_pattern_match(&self->all[i].pattern, 0, &name, 0, &numbers))
            return &self->all[self->all[i].lead];
    }
    return NULL;
}

static cg_code add_missing(merge *self, sc_strs keys, cg_err *reterr)
{
    for (size_t i = 0; i < keys.count; i++) {
        joined *owner = owner_of(self, keys.at[i]);
        cg_str *grown;
        size_t room;

        if (owner == NULL)
            continue;
        if (owner->missing_count == owner->missing_room) {
            room = owner->missing_room * 2 + 4;
            grown = arena_take(self->model->mem, room * sizeof *grown);
            if (grown == NULL)
                return err_nomem(reterr);
            if (owner->missing_count > 0)
                memcpy(grown, owner->missing, owner->missing_count * sizeof *grown);
            owner->missing = grown;
            owner->missing_room = room;
        }
        owner->missing[owner->missing_count++] = keys.at[i];
    }
    return CG_OK;
}

static cg_code copy_texts(arena *mem, const cg_str *from, size_t count, sc_strs *ret,
                          cg_err *reterr)
{
    cg_str *to = arena_take(mem, (count + 1) * sizeof *to);

    if (to == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        if (!arena_text(mem, from[i], &to[i]))
            return err_nomem(reterr);
    }
    *ret = (sc_strs){to, count};
    return CG_OK;
}

/* One more finding; its message is `message` already, its place that of `parameter` (or none). */
static cg_code new_finding(merge *self, int rule, const joined *about, cg_str message,
                           model_finding **ret, cg_err *reterr)
{
    arena *mem = &self->document->mem;
    const rule_row *row = rule_find(asked_rules[rule]);
    model_finding *to = &self->findings[self->finding_count++];
    model_evidence *evidence = arena_zero(mem, sizeof *evidence);
    cg_str *related = arena_take(mem, 2 * sizeof *related);
    cg_str source = CG_LIT("");

    if (row == NULL)
        return cg_fail(reterr, PROBLEM_INTERNAL, "a rule without a row");
    if (evidence == NULL || related == NULL)
        return err_nomem(reterr);
    *to = (model_finding){.rule = row->code,
                          .severity = row->severity,
                          .confidence = MODEL_CONFIDENCE_PROVEN,
                          .message = message,
                          .help = row->fix};
    if (about != NULL) {
        to->source = about->record->source;
        to->location = about->record->location;
        to->confidence = about->is_certain ? MODEL_CONFIDENCE_PROVEN : MODEL_CONFIDENCE_CONDITIONAL;
        related[0] = about->record->id;
        to->related = (sc_strs){related, 1};
        source = to->source;
    }
    *evidence = (model_evidence){.kind = MODEL_EVIDENCE_KIND_CHECKPOINT,
                                 .confidence = to->confidence,
                                 .source = to->source,
                                 .detail = message};
    to->evidence = (sc_records){evidence, 1};
    if (!id_make(mem, MODEL_ID_KIND_FINDING, ID_PARTS(to->rule, source, message), &to->id))
        return err_nomem(reterr);
    *ret = to;
    return CG_OK;
}

/* `keys` below the root, as a finding has them. */
static cg_code name_keys(merge *self, model_finding *finding, const cg_str *keys, size_t count,
                         cg_err *reterr)
{
    arena *mem = &self->document->mem;
    model_keys *group = arena_zero(mem, sizeof *group);

    if (group == NULL || !arena_text(mem, self->report->root, &group->name))
        return err_nomem(reterr);
    CG_TRY(copy_texts(mem, keys, count, &group->keys, reterr));
    if (!texts_unique(mem, &group->keys))
        return err_nomem(reterr);
    finding->keys = (sc_records){group, 1};
    return CG_OK;
}

static cg_code tell_missing(merge *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->count; i++) {
        const joined *from = &self->all[i];
        model_finding *finding;
        cg_str message;
        bool is_good;

        if (from->missing_count == 0)
            continue;
        if (from->missing_count == 1)
            is_good = arena_format(&self->document->mem, &message,
                                   "the file holds no `%.*s`, which is asked for here",
                                   ERR_STR(from->missing[0]));
        else
            is_good = arena_format(&self->document->mem, &message,
                                   "the file holds no `%.*s` (%zu of them are missing)",
                                   ERR_STR(from->family), from->missing_count);
        if (!is_good)
            return err_nomem(reterr);
        CG_TRY(new_finding(self, RULE_MISSING, from, message, &finding, reterr));
        CG_TRY(name_keys(self, finding, from->missing, from->missing_count, reterr));
    }
    return CG_OK;
}

static cg_code tell_unclaimed(merge *self, cg_err *reterr)
{
    sc_strs keys = self->report->unclaimed;
    model_finding *finding;
    cg_str message;

    if (keys.count == 0)
        return CG_OK;
    if (!arena_format(&self->document->mem, &message,
                      "%zu tensor%s of the file %s asked for by nobody: `%.*s`%s", keys.count,
                      keys.count == 1 ? "" : "s", keys.count == 1 ? "is" : "are",
                      ERR_STR(keys.at[0]), keys.count == 1 ? "" : ", ..."))
        return err_nomem(reterr);
    CG_TRY(new_finding(self, RULE_UNCLAIMED, NULL, message, &finding, reterr));
    return name_keys(self, finding, keys.at, keys.count, reterr);
}

static cg_code name_shape(merge *self, model_operand_shape *to, cg_str operand, const cg_str *axes,
                          size_t count, cg_err *reterr)
{
    to->name = operand;
    return copy_texts(&self->document->mem, axes, count, &to->axes, reterr);
}

static void print_axes(buf *to, const cg_str *axes, size_t count)
{
    buf_byte(to, '(');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add(to, CG_LIT(", "));
        buf_add(to, axes[i]);
    }
    buf_byte(to, ')');
}

/* `head.weight` is (3, 8) in the file and (classes, 9) here */
static cg_code say_shapes(merge *self, const doc_tensor_mismatch *row, const cg_str *axes,
                          cg_str *ret, cg_err *reterr)
{
    bool is_good;
    buf text;

    buf_init(&text, self->heap, (size_t)1 << 20);
    buf_addf(&text, "`%.*s` is ", ERR_STR(row->file_key));
    print_axes(&text, axes, row->file_shape.count);
    buf_add(&text, CG_LIT(" in the file and "));
    print_axes(&text, row->model_shape.at, row->model_shape.count);
    buf_add(&text, CG_LIT(" here"));
    is_good = !text.failed && arena_text(&self->document->mem, buf_text(&text), ret);
    buf_free(&text);
    return is_good ? CG_OK : err_nomem(reterr);
}

static cg_code tell_shapes(merge *self, cg_err *reterr)
{
    const doc_tensor_mismatch *rows = self->report->shape_mismatches.at;
    arena *mem = &self->document->mem;

    for (size_t i = 0; i < self->report->shape_mismatches.count; i++) {
        const doc_tensor_mismatch *row = &rows[i];
        model_operand_shape *shapes = arena_zero(mem, 2 * sizeof *shapes);
        cg_str *axes = arena_take(self->model->mem, (row->file_shape.count + 1) * sizeof *axes);
        model_finding *finding;
        cg_str message;

        if (shapes == NULL || axes == NULL)
            return err_nomem(reterr);
        for (size_t k = 0; k < row->file_shape.count; k++) {
            if (!arena_format(self->model->mem, &axes[k], "%" PRIu64, row->file_shape.at[k]))
                return err_nomem(reterr);
        }
        CG_TRY(say_shapes(self, row, axes, &message, reterr));
        CG_TRY(new_finding(self, RULE_OTHER_SHAPE, owner_of(self, row->key), message, &finding,
                           reterr));
        CG_TRY(name_shape(self, &shapes[0], CG_LIT("checkpoint"), axes, row->file_shape.count,
                          reterr));
        CG_TRY(name_shape(self, &shapes[1], CG_LIT("model"), row->model_shape.at,
                          row->model_shape.count, reterr));
        finding->shapes = (sc_records){shapes, 2};
    }
    return CG_OK;
}

static cg_code add_findings(merge *self, cg_err *reterr)
{
    sc_records *list = &self->document->doc.findings;
    sc_records keys = {self->all, self->count};
    size_t room = list->count + self->count + self->report->shape_mismatches.count + 2;
    cg_code code;

    self->findings = arena_zero(&self->document->mem, room * sizeof *self->findings);
    if (self->findings == NULL ||
        !index_build(&self->by_key, self->heap, &keys, sizeof(joined), offsetof(joined, printed)))
        return err_nomem(reterr);
    if (list->count > 0)
        memcpy(self->findings, list->at, list->count * sizeof *self->findings);
    self->finding_count = list->count;
    code = add_missing(self, self->report->missing_certain, reterr);
    if (code == CG_OK)
        code = add_missing(self, self->report->missing_conditional, reterr);
    if (code == CG_OK)
        code = tell_missing(self, reterr);
    if (code == CG_OK)
        code = tell_shapes(self, reterr);
    if (code == CG_OK)
        code = tell_unclaimed(self, reterr);
    index_free(&self->by_key);
    if (code == CG_OK)
        *list = (sc_records){self->findings, self->finding_count};
    return code;
}

cg_code asked_merge(const asked_model *self, heap *from, const tensor_header *header,
                    const doc_checkpoint *report, model_document *document,
                    asked_matches *ret_matches, cg_err *reterr)
{
    merge work = {
        .model = self, .heap = from, .header = header, .report = report, .document = document};

    CG_TRY(join_parameters(&work, reterr));
    CG_TRY(match_all(&work, reterr));
    CG_TRY(keep_matches(&work, ret_matches, reterr));
    CG_TRY(add_findings(&work, reterr));
    return model_normalise(document, reterr);
}
