#include "model/runtime_merge.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "model/ids.h"
#include "model/index.h"
#include "model/normalise.h"
#include "model/rules.h"
#include "model/runtime_keys.h"

/* Of an operation that ran a million times the first observations are evidence enough. */
#define EVIDENCE_MOST 1000u

typedef struct merging {
    const runtime_facts *facts;
    const runtime_trace *trace;
    model_document *document;
    arena *mem; /* of the document */
    arena scratch;
    buf text;
    text_index tensors;
    text_index operations;
    text_index operation_places; /* by `source` */
    text_index makers;           /* operations by `output` */
    text_index tensor_names;
    runtime_keys keys;
    runtime_key_list found;
    uint32_t *room[MODEL_LIST_COUNT]; /* of the evidence of each record, 0: as much as there is */
    VEC(model_finding) findings;
    uint64_t unmapped;
    uint64_t mismatches;
} merging;

cg_str runtime_state_word(uint8_t state)
{
    return sc_word(&words_gradient_state, state);
}

/* --- texts --- */

static cg_str traced(const merging *self, sym symbol)
{
    return runtime_text(self->trace, symbol);
}

static bool keep(merging *self, cg_str *ret)
{
    bool is_good = !self->text.failed && arena_text(self->mem, buf_text(&self->text), ret);

    buf_clear(&self->text);
    return is_good;
}

static void say_number(buf *to, double value)
{
    char digits[NUM_F64_ROOM];

    buf_add(to, (cg_str){digits, num_write_f64(digits, value)});
}

static void say_step(buf *to, bool has_step, uint64_t step)
{
    if (has_step)
        buf_addf(to, " at step %" PRIu64, step);
}

static void say_event(merging *self, uint32_t event)
{
    buf_add(&self->text, CG_LIT(" (event "));
    event_ids_say(&self->trace->events, event, &self->text);
    buf_byte(&self->text, ')');
}

static void say_gradient(merging *self, const runtime_gradient *from)
{
    buf_add(&self->text, runtime_state_word(from->state));
    if (from->has_norm) {
        buf_add(&self->text, CG_LIT(", norm "));
        say_number(&self->text, from->norm);
    }
    say_step(&self->text, from->has_step, from->step);
}

/* --- evidence --- */

static const sc_records *evidence_of(const merging *self, enum model_list list, size_t index)
{
    const model_doc *doc = &self->document->doc;

    switch (list) {
    case MODEL_TENSORS: return &MODEL_AT(doc->tensors, model_tensor, index)->evidence;
    case MODEL_OPERATIONS: return &MODEL_AT(doc->operations, model_operation, index)->evidence;
    case MODEL_PARAMETERS: return &MODEL_AT(doc->parameters, model_parameter, index)->evidence;
    default: return &MODEL_AT(doc->findings, model_finding, index)->evidence;
    }
}

/* Room for `more` entries behind those of a record; lists grow by half. */
static model_evidence *reserve_evidence(merging *self, enum model_list list, size_t index,
                                        size_t more)
{
    /* The document is ours to change. */
    sc_records *to = (sc_records *)(uintptr_t)evidence_of(self, list, index);
    size_t count = model_list_of(&self->document->doc, list)->count;
    size_t need = to->count + more;
    model_evidence *grown;

    if (self->room[list] == NULL) {
        self->room[list] = arena_zero(&self->scratch, (count + 1) * sizeof *self->room[list]);
        if (self->room[list] == NULL)
            return NULL;
    }
    if (need > self->room[list][index]) {
        size_t room = need + need / 2;

        grown = arena_zero(self->mem, (room + 1) * sizeof *grown);
        if (grown == NULL)
            return NULL;
        if (to->count > 0)
            memcpy(grown, to->at, to->count * sizeof *grown);
        to->at = grown;
        self->room[list][index] = (uint32_t)room;
    }
    grown = (model_evidence *)(uintptr_t)to->at + to->count;
    to->count = need;
    return grown;
}

/* One more entry, whose detail is the text collected so far. */
static cg_code add_evidence(merging *self, enum model_list list, size_t index, uint8_t confidence,
                            cg_str source, cg_err *reterr)
{
    model_evidence *to = reserve_evidence(self, list, index, 1);

    if (to == NULL)
        return err_nomem(reterr);
    *to = (model_evidence){.kind = MODEL_EVIDENCE_KIND_RUNTIME, .confidence = confidence};
    if (!arena_text(self->mem, source, &to->source) || !keep(self, &to->detail))
        return err_nomem(reterr);
    return CG_OK;
}

/* --- findings --- */

/* Its message is the text collected so far. */
static cg_code add_finding(merging *self, enum rule rule, uint8_t severity, uint8_t confidence,
                           model_finding **ret, cg_err *reterr)
{
    model_finding *to = vec_add(self->document->heap, &self->findings);
    const cg_str none = CG_LIT("");

    if (to == NULL)
        return err_nomem(reterr);
    *to = (model_finding){.rule = rules[rule].code,
                          .severity = severity,
                          .confidence = confidence,
                          .help = rules[rule].fix};
    if (!keep(self, &to->message) ||
        !id_make(self->mem, MODEL_ID_KIND_FINDING, ID_PARTS(to->rule, none, to->message), &to->id))
        return err_nomem(reterr);
    *ret = to;
    return CG_OK;
}

static cg_code relate(merging *self, model_finding *finding, cg_str id, cg_err *reterr)
{
    cg_str *ids = arena_take(self->mem, (finding->related.count + 1) * sizeof *ids);

    if (ids == NULL)
        return err_nomem(reterr);
    if (finding->related.count > 0)
        memcpy(ids, finding->related.at, finding->related.count * sizeof *ids);
    if (!arena_text(self->mem, id, &ids[finding->related.count]))
        return err_nomem(reterr);
    finding->related = (sc_strs){ids, finding->related.count + 1};
    return CG_OK;
}

static cg_code name_key(merging *self, model_finding *finding, cg_str root, cg_str key,
                        cg_err *reterr)
{
    model_keys *group = arena_zero(self->mem, sizeof *group);
    cg_str *keys = arena_take(self->mem, sizeof *keys);

    if (group == NULL || keys == NULL || !arena_text(self->mem, root, &group->name) ||
        !arena_text(self->mem, key, keys))
        return err_nomem(reterr);
    group->keys = (sc_strs){keys, 1};
    finding->keys = (sc_records){group, 1};
    return CG_OK;
}

/* --- identity --- */

static cg_code check_identity(merging *self, const char *field, cg_str expected, cg_str observed,
                              cg_err *reterr)
{
    model_finding *finding;

    if (expected.len == 0 || observed.ptr == NULL || str_equal(expected, observed))
        return CG_OK;
    self->mismatches++;
    buf_addf(&self->text, "%s of the trace is another: expected ", field);
    buf_add(&self->text, expected);
    buf_add(&self->text, CG_LIT(", observed "));
    buf_add(&self->text, observed);
    buf_add(&self->text, CG_LIT("; nothing of the trace was merged"));
    return add_finding(self, RULE_CODE_RUNTIME_IDENTITY, MODEL_FINDING_SEVERITY_ERROR,
                       MODEL_CONFIDENCE_UNKNOWN, &finding, reterr);
}

static cg_code check_identities(merging *self, cg_err *reterr)
{
    const model_doc *doc = &self->document->doc;
    const model_cargo *cargo = doc->cargo;
    const rec_runtime_meta *run = &self->trace->run;

    CG_TRY(check_identity(self, "analysis_id", doc->analysis_id, run->analysis_id, reterr));
    return check_identity(self, "build_id", cargo != NULL ? cargo->build_id : (cg_str){0},
                          run->build_id, reterr);
}

/* --- tensors --- */

/* The first number between the punctuation of a device's text. */
static opt_u64 ordinal_of(cg_str text)
{
    opt_u64 ret = {0};
    size_t start = 0;

    for (size_t at = 0; at <= text.len; at++) {
        if (at < text.len && text.ptr[at] != ':' && text.ptr[at] != '(' && text.ptr[at] != ')')
            continue;
        if (at > start && num_read_u64((cg_str){text.ptr + start, at - start}, &ret.value)) {
            ret.is_set = true;
            return ret;
        }
        start = at + 1;
    }
    return ret;
}

static bool starts_with(cg_str text, cg_str word)
{
    return text.len >= word.len && str_equal_nocase((cg_str){text.ptr, word.len}, word);
}

static bool device_of(arena *mem, cg_str text, sc_tagged *ret)
{
    model_device_data *data;
    model_cuda *cuda;

    *ret = (sc_tagged){.word = MODEL_DEVICE_UNKNOWN};
    if (str_equal_nocase(text, CG_LIT("cpu")))
        ret->word = MODEL_DEVICE_CPU;
    else if (starts_with(text, CG_LIT("metal")))
        ret->word = MODEL_DEVICE_METAL;
    if (!starts_with(text, CG_LIT("cuda")))
        return true;
    data = arena_zero(mem, sizeof *data);
    cuda = arena_zero(mem, sizeof *cuda);
    if (data == NULL || cuda == NULL)
        return false;
    cuda->ordinal = ordinal_of(text);
    data->cuda = cuda;
    ret->record = data;
    return true;
}

static bool shape_of(merging *self, const runtime_tensor *from, const model_shape *before,
                     model_shape **ret)
{
    model_shape *shape = arena_zero(self->mem, sizeof *shape);
    model_dimension *axes = arena_zero(self->mem, ((size_t)from->shape.rank + 1) * sizeof *axes);

    if (shape == NULL || axes == NULL)
        return false;
    for (uint32_t i = 0; i < from->shape.rank; i++) {
        if (!arena_format(self->mem, &axes[i].expr, "%" PRIu64,
                          self->trace->axes.at[from->shape.at + i]))
            return false;
    }
    if (before != NULL)
        shape->source_expr = before->source_expr;
    shape->rank = (opt_u64){.value = from->shape.rank, .is_set = true};
    shape->dimensions = (sc_records){axes, from->shape.rank};
    *ret = shape;
    return true;
}

static cg_code refine_tensor(merging *self, size_t index, const runtime_tensor *from,
                             cg_err *reterr)
{
    model_tensor *to =
        (model_tensor *)(uintptr_t)MODEL_AT(self->document->doc.tensors, model_tensor, index);
    model_shape *shape;

    if (!shape_of(self, from, to->shape, &shape) ||
        !arena_text(self->mem, traced(self, from->dtype), &to->dtype) ||
        !device_of(self->mem, traced(self, from->device), &to->device))
        return err_nomem(reterr);
    to->shape = shape;
    to->layout = (sc_tagged){.word = from->is_contiguous ? MODEL_LAYOUT_CONTIGUOUS
                                                         : MODEL_LAYOUT_NON_CONTIGUOUS};
    to->requires_grad = from->is_grad_required ? BOOL_TRUE : BOOL_FALSE;
    buf_add(&self->text, CG_LIT("agreed runtime observation "));
    event_ids_say(&self->trace->events, from->event, &self->text);
    return add_evidence(self, MODEL_TENSORS, index, MODEL_CONFIDENCE_PROVEN,
                        traced(self, from->source), reterr);
}

static const char *const aspects[ASPECT_COUNT] = {"dtype", "device", "shape", "layout",
                                                  "requires_grad"};

static cg_code doubt_tensor(merging *self, size_t index, const tensor_fact *fact, cg_err *reterr)
{
    buf_addf(&self->text, "%" PRIu32 " runtime observations differ in ", fact->count);
    for (unsigned i = 0, said = 0; i < ASPECT_COUNT; i++) {
        if (fact->differing >> i & 1)
            buf_addf(&self->text, "%s%s", said++ > 0 ? ", " : "", aspects[i]);
    }
    return add_evidence(self, MODEL_TENSORS, index, MODEL_CONFIDENCE_UNKNOWN, (cg_str){0}, reterr);
}

static cg_code merge_tensors(merging *self, cg_err *reterr)
{
    model_finding *finding;

    for (size_t i = 0; i < self->facts->tensor_count; i++) {
        const tensor_fact *fact = &self->facts->tensors[i];
        size_t found = index_find(&self->tensors, traced(self, fact->static_id));

        if (found == INDEX_NONE)
            self->unmapped += fact->agreed != NULL;
        else if (fact->agreed != NULL)
            CG_TRY(refine_tensor(self, found, fact->agreed, reterr));
        else
            CG_TRY(doubt_tensor(self, found, fact, reterr));
    }
    if (self->unmapped == 0)
        return CG_OK;
    buf_addf(&self->text, "%" PRIu64 " tensor%s of the trace %s no place in this model",
             self->unmapped, self->unmapped == 1 ? "" : "s", self->unmapped == 1 ? "has" : "have");
    return add_finding(self, RULE_CODE_RUNTIME_UNMAPPED, MODEL_FINDING_SEVERITY_INFORMATION,
                       MODEL_CONFIDENCE_UNKNOWN, &finding, reterr);
}

/* The value of an aspect as text, in the scratch arena. */
static bool aspect_text(merging *self, unsigned aspect, const runtime_tensor *from, cg_str *ret)
{
    bool is_good;
    buf text;

    switch (aspect) {
    case ASPECT_DTYPE: *ret = traced(self, from->dtype); return true;
    case ASPECT_DEVICE: *ret = traced(self, from->device); return true;
    case ASPECT_LAYOUT: *ret = from->is_contiguous ? CG_LIT("true") : CG_LIT("false"); return true;
    case ASPECT_GRAD: *ret = from->is_grad_required ? CG_LIT("true") : CG_LIT("false"); return true;
    default: break;
    }
    buf_init(&text, self->document->heap, SIZE_MAX / 2);
    buf_byte(&text, '[');
    for (uint32_t i = 0; i < from->shape.rank; i++)
        buf_addf(&text, "%s%" PRIu64, i > 0 ? ", " : "", self->trace->axes.at[from->shape.at + i]);
    buf_byte(&text, ']');
    is_good = !text.failed && arena_text(&self->scratch, buf_text(&text), ret);
    buf_free(&text);
    return is_good;
}

#define VALUES_SHOWN 20u

static cg_code tell_conflict(merging *self, const tensor_fact *fact, unsigned aspect,
                             cg_err *reterr)
{
    arena_place place = arena_mark(&self->scratch);
    cg_str *values = arena_take(&self->scratch, (fact->count + 1) * sizeof *values);
    cg_str id = traced(self, fact->static_id);
    sc_strs list = {values, 0};
    model_finding *finding;

    if (values == NULL)
        return err_nomem(reterr);
    for (uint32_t i = 0; i < fact->count; i++) {
        const runtime_tensor *at = tensor_fact_at(self->facts, fact, i);

        if (!aspect_text(self, aspect, at, &values[list.count]))
            return err_nomem(reterr);
        /* Neighbours repeat: keep the list that is sorted short. */
        if (list.count == 0 || !str_equal(values[list.count - 1], values[list.count]))
            list.count++;
    }
    if (!texts_unique(&self->scratch, &list))
        return err_nomem(reterr);
    buf_add(&self->text, id);
    buf_addf(&self->text, " was observed with more than one %s: ", aspects[aspect]);
    for (size_t i = 0; i < list.count && i < VALUES_SHOWN; i++) {
        buf_addf(&self->text, "%s", i > 0 ? ", " : "");
        buf_add(&self->text, list.at[i]);
    }
    if (list.count > VALUES_SHOWN)
        buf_addf(&self->text, " and %zu more", list.count - VALUES_SHOWN);
    CG_TRY(add_finding(self, RULE_CODE_RUNTIME_TENSOR_CONFLICT, MODEL_FINDING_SEVERITY_ERROR,
                       MODEL_CONFIDENCE_UNKNOWN, &finding, reterr));
    arena_reset(&self->scratch, place);
    return relate(self, finding, id, reterr);
}

static cg_code tell_tensor_conflicts(merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->tensor_count; i++) {
        const tensor_fact *fact = &self->facts->tensors[i];

        for (unsigned aspect = 0; aspect < ASPECT_COUNT; aspect++) {
            if (fact->differing >> aspect & 1)
                CG_TRY(tell_conflict(self, fact, aspect, reterr));
        }
    }
    return CG_OK;
}

/* --- gradients --- */

static cg_str parameter_id(const merging *self, uint32_t index)
{
    return MODEL_AT(self->document->doc.parameters, model_parameter, index)->id;
}

static cg_code find_parameters(merging *self, const gradient_fact *fact, cg_err *reterr)
{
    return runtime_keys_find(&self->keys, &self->scratch, traced(self, fact->root),
                             traced(self, fact->key), &self->found)
               ? CG_OK
               : err_nomem(reterr);
}

static cg_code relate_parameters(merging *self, const gradient_fact *fact, model_finding *finding,
                                 cg_err *reterr)
{
    for (size_t i = 0; i < self->found.count; i++)
        CG_TRY(relate(self, finding, parameter_id(self, self->found.at[i]), reterr));
    return name_key(self, finding, traced(self, fact->root), traced(self, fact->key), reterr);
}

static void say_key(merging *self, const gradient_fact *fact)
{
    buf_byte(&self->text, '`');
    buf_add(&self->text, traced(self, fact->root));
    buf_byte(&self->text, ':');
    buf_add(&self->text, traced(self, fact->key));
    buf_byte(&self->text, '`');
}

/* What the run says about the gradient, at every parameter that the key is. */
static cg_code note_gradient(merging *self, const gradient_fact *fact, const runtime_gradient *at,
                             cg_err *reterr)
{
    for (size_t i = 0; i < self->found.count; i++) {
        buf_add(&self->text, CG_LIT("runtime gradient of "));
        say_key(self, fact);
        buf_add(&self->text, CG_LIT(": "));
        say_gradient(self, at);
        say_event(self, at->event);
        CG_TRY(add_evidence(self, MODEL_PARAMETERS, self->found.at[i], MODEL_CONFIDENCE_PROVEN,
                            (cg_str){0}, reterr));
    }
    return CG_OK;
}

static cg_code doubt_gradient(merging *self, const gradient_fact *fact, cg_err *reterr)
{
    for (size_t i = 0; i < self->found.count; i++) {
        buf_add(&self->text, CG_LIT("runtime observations of the gradient of "));
        say_key(self, fact);
        buf_add(&self->text, CG_LIT(" contradict each other"));
        say_step(&self->text, fact->disputed->has_step, fact->disputed->step);
        CG_TRY(add_evidence(self, MODEL_PARAMETERS, self->found.at[i], MODEL_CONFIDENCE_UNKNOWN,
                            (cg_str){0}, reterr));
    }
    return CG_OK;
}

static cg_code tell_gradient(merging *self, const gradient_fact *fact, const runtime_gradient *at,
                             cg_err *reterr)
{
    bool is_error = at->state == GRADIENT_STATE_NON_FINITE;
    model_finding *finding;

    say_key(self, fact);
    buf_add(&self->text, at->state == GRADIENT_STATE_MISSING
                             ? CG_LIT(" got no gradient in the run: ")
                         : at->state == GRADIENT_STATE_ZERO
                             ? CG_LIT(" got a gradient of zero in the run: ")
                             : CG_LIT(" got a gradient that is not finite in the run: "));
    say_gradient(self, at);
    if (at != fact->headline && fact->headline != NULL) {
        buf_add(&self->text, CG_LIT(", later "));
        say_gradient(self, fact->headline);
    }
    CG_TRY(add_finding(self, RULE_CODE_RUNTIME_GRADIENT,
                       is_error ? MODEL_FINDING_SEVERITY_ERROR : MODEL_FINDING_SEVERITY_WARNING,
                       MODEL_CONFIDENCE_PROVEN, &finding, reterr));
    return relate_parameters(self, fact, finding, reterr);
}

static cg_code merge_gradients(merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->gradient_count; i++) {
        const gradient_fact *fact = &self->facts->gradients[i];

        CG_TRY(find_parameters(self, fact, reterr));
        if (fact->headline != NULL)
            CG_TRY(note_gradient(self, fact, fact->headline, reterr));
        if (fact->first_nonfinite != NULL) {
            CG_TRY(note_gradient(self, fact, fact->first_nonfinite, reterr));
            CG_TRY(tell_gradient(self, fact, fact->first_nonfinite, reterr));
        }
        if (fact->disputed != NULL)
            CG_TRY(doubt_gradient(self, fact, reterr));
        if (fact->headline != NULL && fact->headline->state != GRADIENT_STATE_PRESENT)
            CG_TRY(tell_gradient(self, fact, fact->headline, reterr));
    }
    return CG_OK;
}

static cg_code tell_gradient_conflicts(merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->gradient_count; i++) {
        const gradient_fact *fact = &self->facts->gradients[i];
        model_finding *finding;
        unsigned said = 0;

        if (fact->disputed == NULL)
            continue;
        CG_TRY(find_parameters(self, fact, reterr));
        say_key(self, fact);
        buf_add(&self->text, CG_LIT(" has gradients that contradict each other"));
        say_step(&self->text, fact->disputed->has_step, fact->disputed->step);
        buf_add(&self->text, CG_LIT(": "));
        for (uint8_t state = 0; state < 4; state++) {
            if (!(fact->disputed_states >> state & 1))
                continue;
            buf_addf(&self->text, "%s", said++ > 0 ? ", " : "");
            buf_add(&self->text, runtime_state_word(state));
        }
        if (said == 1)
            buf_add(&self->text, CG_LIT(" with different norms"));
        CG_TRY(add_finding(self, RULE_CODE_RUNTIME_GRADIENT_CONFLICT, MODEL_FINDING_SEVERITY_ERROR,
                           MODEL_CONFIDENCE_UNKNOWN, &finding, reterr));
        CG_TRY(relate_parameters(self, fact, finding, reterr));
    }
    return CG_OK;
}

/* --- operations --- */

static cg_code note_operation(merging *self, size_t index, const operation_fact *fact,
                              cg_err *reterr)
{
    uint32_t shown = fact->count < EVIDENCE_MOST ? fact->count : EVIDENCE_MOST;

    for (uint32_t i = 0; i < shown; i++) {
        const runtime_operation *at = operation_fact_at(self->facts, fact, i);

        buf_add(&self->text, CG_LIT("runtime operation "));
        event_ids_say(&self->trace->events, at->event, &self->text);
        buf_add(&self->text, CG_LIT(" observed as "));
        buf_add(&self->text, traced(self, at->op));
        if (at->has_duration)
            buf_addf(&self->text, ", %" PRIu64 " ns", at->duration_ns);
        CG_TRY(add_evidence(self, MODEL_OPERATIONS, index, MODEL_CONFIDENCE_PROVEN, (cg_str){0},
                            reterr));
    }
    if (shown == fact->count)
        return CG_OK;
    buf_addf(&self->text, "%" PRIu32 " more runtime observations", fact->count - shown);
    return add_evidence(self, MODEL_OPERATIONS, index, MODEL_CONFIDENCE_PROVEN, (cg_str){0},
                        reterr);
}

static cg_code merge_operations(merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->operation_count; i++) {
        const operation_fact *fact = &self->facts->operations[i];
        size_t found = index_find(&self->operations, traced(self, fact->static_id));
        model_operation *to;
        model_timing *timing;

        if (found == INDEX_NONE)
            continue;
        CG_TRY(note_operation(self, found, fact, reterr));
        if (fact->timing.samples == 0)
            continue;
        timing = arena_take(self->mem, sizeof *timing);
        if (timing == NULL)
            return err_nomem(reterr);
        *timing = fact->timing;
        to = (model_operation *)(uintptr_t)MODEL_AT(self->document->doc.operations, model_operation,
                                                    found);
        to->timing = timing;
    }
    return CG_OK;
}

/* --- values --- */

/* Where a probe of values stands in the model. */
typedef struct probe {
    size_t tensor; /* INDEX_NONE: it is no tensor of this model */
    cg_str place;  /* in the source, as findings have it; or absent */
} probe;

static void take_operation(const merging *self, size_t index, probe *ret)
{
    const model_operation *at = MODEL_AT(self->document->doc.operations, model_operation, index);

    ret->tensor = index_find(&self->tensors, at->output);
    ret->place = at->source;
}

/* By its id; else by a place that an operation stands at, or a name that one tensor has. */
static probe find_probe(const merging *self, const value_fact *fact)
{
    cg_str id = traced(self, fact->static_id);
    cg_str source = traced(self, fact->source);
    probe ret = {INDEX_NONE, {0}};
    size_t found;

    if (id.ptr != NULL) {
        ret.tensor = index_find(&self->tensors, id);
        found = index_find(&self->operations, id);
        if (ret.tensor == INDEX_NONE && found != INDEX_NONE)
            take_operation(self, found, &ret);
    }
    if (source.ptr == NULL || ret.place.ptr != NULL)
        return ret;
    found = index_find(&self->operation_places, source);
    if (found != INDEX_NONE && ret.tensor == INDEX_NONE)
        take_operation(self, found, &ret);
    else if (found != INDEX_NONE)
        ret.place = source;
    if (ret.tensor == INDEX_NONE)
        ret.tensor = index_find(&self->tensor_names, source);
    return ret;
}

/* What made a tensor is where a finding about it stands. */
static probe place_of(const merging *self, const value_fact *fact)
{
    probe ret = find_probe(self, fact);
    const model_doc *doc = &self->document->doc;
    size_t maker;

    if (ret.place.ptr != NULL || ret.tensor == INDEX_NONE)
        return ret;
    maker = index_find(&self->makers, MODEL_AT(doc->tensors, model_tensor, ret.tensor)->id);
    if (maker != INDEX_NONE)
        ret.place = MODEL_AT(doc->operations, model_operation, maker)->source;
    return ret;
}

static void say_probe(merging *self, const value_fact *fact)
{
    cg_str source = traced(self, fact->source);

    if (source.ptr == NULL)
        source = traced(self, fact->static_id);
    if (source.ptr == NULL) {
        buf_add(&self->text, CG_LIT("a probe without a name"));
        return;
    }
    buf_byte(&self->text, '`');
    buf_add(&self->text, source);
    buf_byte(&self->text, '`');
}

static cg_code note_values(merging *self, size_t tensor, const value_fact *fact, cg_err *reterr)
{
    buf_addf(&self->text, "runtime values of %" PRIu32 " observation%s: ", fact->count,
             fact->count == 1 ? "" : "s");
    if (fact->has_bounds) {
        buf_add(&self->text, CG_LIT("from "));
        say_number(&self->text, fact->min);
        buf_add(&self->text, CG_LIT(" to "));
        say_number(&self->text, fact->max);
    }
    if (fact->is_unbounded)
        buf_addf(&self->text, "%sunbounded", fact->has_bounds ? ", also " : "");
    buf_addf(&self->text, "; %" PRIu64 " not finite, %" PRIu64 " saturated", fact->nonfinite_count,
             fact->saturated_count);
    return add_evidence(self, MODEL_TENSORS, tensor, MODEL_CONFIDENCE_PROVEN,
                        traced(self, fact->source), reterr);
}

static bool is_numeric(cg_str rule)
{
    return str_equal(rule, rules[RULE_CODE_NUMERIC_DOMAIN_VIOLATION].code) ||
           str_equal(rule, rules[RULE_CODE_ZERO_TIMES_INFINITY].code) ||
           str_equal(rule, rules[RULE_CODE_UNSTABLE_LIBRARY_LOSS].code);
}

/* A numeric hazard that the source warned of happened. */
static cg_code confirm(merging *self, const value_fact *fact, const probe *at,
                       model_finding *finding, cg_err *reterr)
{
    const model_doc *doc = &self->document->doc;

    for (size_t i = 0; at->place.len > 0 && i < doc->findings.count; i++) {
        const model_finding *hazard = MODEL_AT(doc->findings, model_finding, i);
        cg_str id = hazard->id;

        if (!is_numeric(hazard->rule) || !str_equal(at->place, hazard->source))
            continue;
        CG_TRY(relate(self, finding, id, reterr));
        buf_add(&self->text, CG_LIT("confirmed by the run: "));
        say_probe(self, fact);
        buf_add(&self->text, CG_LIT(" was not finite"));
        say_step(&self->text, fact->nonfinite->has_step, fact->nonfinite->step);
        say_event(self, fact->nonfinite->event);
        CG_TRY(add_evidence(self, MODEL_FINDINGS, i, MODEL_CONFIDENCE_PROVEN,
                            traced(self, fact->source), reterr));
    }
    return CG_OK;
}

static cg_code relate_tensor(merging *self, model_finding *finding, const probe *at, cg_err *reterr)
{
    if (at->tensor == INDEX_NONE)
        return CG_OK;
    return relate(self, finding,
                  MODEL_AT(self->document->doc.tensors, model_tensor, at->tensor)->id, reterr);
}

static cg_code tell_nonfinite(merging *self, const value_fact *fact, const probe *at,
                              cg_err *reterr)
{
    model_finding *finding;

    say_probe(self, fact);
    if (fact->nonfinite_count > 0)
        buf_addf(&self->text, " had %" PRIu64 " value%s that %s not finite, first",
                 fact->nonfinite_count, fact->nonfinite_count == 1 ? "" : "s",
                 fact->nonfinite_count == 1 ? "was" : "were");
    else
        buf_add(&self->text, CG_LIT(" had no finite bound, first"));
    say_step(&self->text, fact->nonfinite->has_step, fact->nonfinite->step);
    buf_add(&self->text, CG_LIT(" in event "));
    event_ids_say(&self->trace->events, fact->nonfinite->event, &self->text);
    CG_TRY(add_finding(self, RULE_CODE_RUNTIME_NONFINITE_VALUE, MODEL_FINDING_SEVERITY_WARNING,
                       MODEL_CONFIDENCE_PROVEN, &finding, reterr));
    CG_TRY(relate_tensor(self, finding, at, reterr));
    return confirm(self, fact, at, finding, reterr);
}

static cg_code tell_saturated(merging *self, const value_fact *fact, const probe *at,
                              cg_err *reterr)
{
    model_finding *finding;

    say_probe(self, fact);
    buf_addf(&self->text, " had %" PRIu64 " saturated value%s, first", fact->saturated_count,
             fact->saturated_count == 1 ? "" : "s");
    say_step(&self->text, fact->saturated->has_step, fact->saturated->step);
    buf_add(&self->text, CG_LIT(" in event "));
    event_ids_say(&self->trace->events, fact->saturated->event, &self->text);
    CG_TRY(add_finding(self, RULE_CODE_RUNTIME_SATURATION, MODEL_FINDING_SEVERITY_INFORMATION,
                       MODEL_CONFIDENCE_PROVEN, &finding, reterr));
    return relate_tensor(self, finding, at, reterr);
}

static cg_code merge_values(merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->value_count; i++) {
        const value_fact *fact = &self->facts->values[i];
        probe at = place_of(self, fact);

        if (at.tensor != INDEX_NONE)
            CG_TRY(note_values(self, at.tensor, fact, reterr));
        if (fact->nonfinite != NULL)
            CG_TRY(tell_nonfinite(self, fact, &at, reterr));
        if (fact->saturated != NULL)
            CG_TRY(tell_saturated(self, fact, &at, reterr));
    }
    return CG_OK;
}

/* --- summary --- */

static bool list_edges(merging *self, sc_records *ret)
{
    size_t count = self->facts->edge_count;
    model_edge_timing *rows = arena_zero(self->mem, (count + 1) * sizeof *rows);
    model_timing *timings = arena_take(self->mem, (count + 1) * sizeof *timings);

    if (rows == NULL || timings == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const edge_fact *from = &self->facts->edges[i];

        timings[i] = from->timing;
        rows[i].timing = &timings[i];
        if (!arena_text(self->mem, traced(self, from->from), &rows[i].from) ||
            !arena_text(self->mem, traced(self, from->to), &rows[i].to))
            return false;
    }
    *ret = (sc_records){rows, count};
    return true;
}

static cg_code summarise(merging *self, cg_err *reterr)
{
    const runtime_facts *facts = self->facts;
    const runtime_trace *trace = self->trace;
    model_doc *doc = &self->document->doc;
    model_coverage *coverage = arena_take(self->mem, sizeof *coverage);
    model_runtime *to = arena_zero(self->mem, sizeof *to);

    if (coverage == NULL || to == NULL)
        return err_nomem(reterr);
    *to = (model_runtime){
        .tensor_observations = trace->tensors.count,
        .operation_observations = trace->operations.count,
        .gradient_observations = trace->gradients.count,
        .missing_gradients = facts->classes[GRADIENT_STATE_MISSING],
        .zero_gradients = facts->classes[GRADIENT_STATE_ZERO],
        .non_finite_gradients = facts->classes[GRADIENT_STATE_NON_FINITE],
        .tensor_conflicts = facts->tensor_conflicts,
        .gradient_conflicts = facts->gradient_conflicts,
        .identity_mismatches = self->mismatches,
        .first_non_finite_step = facts->first_nonfinite_step,
        .saturating_activations = facts->saturating_sources,
        .value_observations = trace->values.count,
        .execution_phase = facts->phase,
        .avg_operation_duration_ns = facts->average_duration_ns,
    };
    if (!arena_text(self->mem, trace->schema, &to->trace_schema) ||
        !arena_text(self->mem, trace->run.entrypoint, &to->entrypoint) ||
        !arena_text(self->mem, trace->run.profile, &to->profile) ||
        !list_edges(self, &to->edge_timings))
        return err_nomem(reterr);
    *coverage =
        doc->coverage != NULL ? *(const model_coverage *)doc->coverage : (model_coverage){0};
    coverage->runtime_observations = trace->tensors.count + trace->operations.count +
                                     trace->gradients.count + trace->values.count +
                                     trace->edges.count;
    doc->coverage = coverage;
    doc->runtime = to;
    return CG_OK;
}

/* --- all --- */

static bool build_indexes(merging *self)
{
    heap *from = self->document->heap;
    const model_doc *doc = &self->document->doc;

    return index_build(&self->tensors, from, &doc->tensors, sizeof(model_tensor),
                       offsetof(model_tensor, id)) &&
           index_build(&self->operations, from, &doc->operations, sizeof(model_operation),
                       offsetof(model_operation, id)) &&
           index_build(&self->operation_places, from, &doc->operations, sizeof(model_operation),
                       offsetof(model_operation, source)) &&
           index_build(&self->makers, from, &doc->operations, sizeof(model_operation),
                       offsetof(model_operation, output)) &&
           index_build(&self->tensor_names, from, &doc->tensors, sizeof(model_tensor),
                       offsetof(model_tensor, name)) &&
           runtime_keys_make(&self->scratch, doc, &self->keys);
}

static cg_code join_findings(merging *self, cg_err *reterr)
{
    sc_records *list = &self->document->doc.findings;
    size_t count = list->count + self->findings.count;
    model_finding *all = arena_take(self->mem, (count + 1) * sizeof *all);

    if (all == NULL)
        return err_nomem(reterr);
    if (list->count > 0)
        memcpy(all, list->at, list->count * sizeof *all);
    if (self->findings.count > 0)
        memcpy(all + list->count, self->findings.at, self->findings.count * sizeof *all);
    *list = (sc_records){all, count};
    return CG_OK;
}

static cg_code merge_all(merging *self, cg_err *reterr)
{
    if (!build_indexes(self))
        return err_nomem(reterr);
    CG_TRY(check_identities(self, reterr));
    if (self->mismatches == 0) {
        CG_TRY(merge_tensors(self, reterr));
        CG_TRY(merge_gradients(self, reterr));
        CG_TRY(merge_operations(self, reterr));
        CG_TRY(merge_values(self, reterr));
    }
    CG_TRY(tell_tensor_conflicts(self, reterr));
    CG_TRY(tell_gradient_conflicts(self, reterr));
    CG_TRY(summarise(self, reterr));
    CG_TRY(join_findings(self, reterr));
    return model_normalise(self->document, reterr);
}

cg_code runtime_merge(const runtime_facts *facts, model_document *document, cg_err *reterr)
{
    merging self = {
        .facts = facts, .trace = facts->trace, .document = document, .mem = &document->mem};
    cg_code code;

    arena_init(&self.scratch, document->heap);
    buf_init(&self.text, document->heap, SIZE_MAX / 2);
    code = merge_all(&self, reterr);
    buf_free(&self.text);
    vec_free(document->heap, &self.findings);
    vec_free(document->heap, &self.found);
    index_free(&self.tensors);
    index_free(&self.operations);
    index_free(&self.operation_places);
    index_free(&self.makers);
    index_free(&self.tensor_names);
    arena_free(&self.scratch);
    return code;
}
