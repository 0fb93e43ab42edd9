/* Which hazards of the source a run has shown, and what was not finite. */
#include "join/join_part.h"

#define NONE  DECLARED_NONE
#define SHOWN 8u /* witnesses of one hazard that are told */

static const char *const codes[] = {"numeric-domain-violation", "zero-times-infinity",
                                    "unstable-library-loss"};

typedef struct hazard {
    uint32_t finding;
    uint32_t function; /* number; NONE: nobody knows */
    VEC(join_witness) seen;
    uint64_t count;
    uint8_t verdict;
} hazard;

typedef struct charge {
    uint32_t hazard;
    uint8_t verdict, rule;
} charge;

/* A stretch of numbers.charges. */
typedef struct charges {
    uint32_t at, count;
} charges;

typedef struct numbers {
    const join *from;
    declared *crate;
    arena *mem;
    VEC(hazard) hazards;
    VEC(charge) charges;
    VEC(charges) found;
    number_map known; /* (function + 1, operation + 1) -> found */
    buf name, other;
} numbers;

/* --- the hazards --- */

static bool is_hazard(cg_str rule)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (str_is(rule, codes[i]))
            return true;
    }
    return false;
}

static const model_finding *finding_of(const numbers *self, const hazard *at)
{
    return MODEL_AT(self->from->doc->findings, model_finding, at->finding);
}

static bool find_hazards(numbers *self)
{
    const model_doc *doc = self->from->doc;

    for (uint32_t i = 0; i < doc->findings.count; i++) {
        const model_finding *finding = MODEL_AT(doc->findings, model_finding, i);
        hazard *fresh;
        size_t function;

        if (!is_hazard(finding->rule))
            continue;
        fresh = vec_add(self->from->heap, &self->hazards);
        if (fresh == NULL)
            return false;
        *fresh = (hazard){.finding = i, .function = NONE};
        if (finding->function_id.ptr == NULL)
            continue;
        function = index_find(&self->crate->function_ids, finding->function_id);
        fresh->function = function != INDEX_NONE ? (uint32_t)function : NONE;
    }
    return true;
}

/* --- does an operation of a run do what the finding is about? --- */

static bool is_same_place(const model_location *a, const model_location *b)
{
    return a != NULL && b != NULL && a->byte_start == b->byte_start && a->line == b->line &&
           str_equal(a->file, b->file);
}

static bool is_called(numbers *self, cg_str declared_name, cg_str recorded)
{
    buf_clear(&self->name);
    buf_clear(&self->other);
    declared_operation_name(declared_name, &self->name);
    declared_operation_name(recorded, &self->other);
    return str_equal(buf_text(&self->name), buf_text(&self->other));
}

/* By the operation that fails, or by the library's function whose body it is in. */
static bool is_operation_of(numbers *self, const hazard *at, cg_str recorded)
{
    const model_finding *finding = finding_of(self, at);
    const declared *crate = self->crate;

    if (finding->operation.ptr != NULL && is_called(self, finding->operation, recorded))
        return true;
    if (at->function == NONE)
        return false;
    for (uint32_t item = declared_in_function(self->crate, at->function, recorded, true);
         item != NONE; item = crate->next_in_function[item]) {
        const model_operation *operation =
            MODEL_AT(self->from->doc->operations, model_operation,
                     declared_place(crate, JOIN_ITEM_OPERATION, item));

        if (is_same_place(operation->location, finding->location))
            return true;
    }
    return false;
}

static const model_location *place_of_operation(const numbers *self, uint32_t item)
{
    if (item == NONE || declared_kind(self->crate, item) != JOIN_ITEM_OPERATION)
        return NULL;
    return MODEL_AT(self->from->doc->operations, model_operation,
                    declared_place(self->crate, JOIN_ITEM_OPERATION, item))
        ->location;
}

/* --- one broken value against the hazards --- */

static bool add_witness(numbers *self, hazard *at, const join_break *from, uint8_t verdict,
                        uint8_t rule)
{
    join_witness *fresh;

    at->count++;
    at->verdict = at->count == 1 || verdict < at->verdict ? verdict : at->verdict;
    if (at->seen.count >= SHOWN)
        return true;
    fresh = vec_add(self->from->heap, &at->seen);
    if (fresh == NULL)
        return false;
    *fresh = (join_witness){.run = from->row.run,
                            .run_id = from->row.run_id,
                            .record = from->row.record,
                            .plane = JOIN_PLANE_EXECUTION,
                            .worth = from->row.worth,
                            .rule = rule,
                            .label = from->row.label,
                            .span = from->row.span,
                            .span_id = from->row.span_id,
                            .operation = from->row.operation,
                            .non_finite = from->row.non_finite,
                            .elements = from->row.elements};
    return true;
}

/* The functions in question when the recorded operation is known by name only: all the same one? */
static bool is_only_function(numbers *self, cg_str recorded, uint32_t *ret)
{
    uint32_t function = NONE;

    for (size_t i = 0; i < self->hazards.count; i++) {
        const hazard *at = &self->hazards.at[i];

        if (!is_operation_of(self, at, recorded))
            continue;
        if (function != NONE && at->function != function)
            return false;
        function = at->function;
    }
    *ret = function;
    return function != NONE;
}

/* The one function with a hazard that the recorded function is, or reaches through calls. */
static bool function_in_reach(numbers *self, uint32_t start, uint32_t *ret)
{
    const model_doc *doc = self->from->doc;
    arena_place mark = arena_mark(self->mem);
    bool *is_start;
    bool *is_reached = NULL;
    uint32_t function = NONE;
    bool is_one = true;

    for (size_t i = 0; i < self->hazards.count; i++) {
        if (self->hazards.at[i].function == start) {
            *ret = start;
            return true;
        }
    }
    is_start = arena_zero(self->mem, doc->functions.count + 1);
    if (is_start != NULL) {
        is_start[start] = true;
        is_reached = join_reach(self->from, self->mem, is_start);
    }
    for (size_t i = 0; is_reached != NULL && i < self->hazards.count; i++) {
        uint32_t at = self->hazards.at[i].function;

        if (at == NONE || !is_reached[at] || at == function)
            continue;
        is_one = function == NONE;
        function = at;
        if (!is_one)
            break;
    }
    arena_reset(self->mem, mark);
    *ret = function;
    return is_one && function != NONE;
}

/* The hazards that an operation inside a function shows, if its result is not finite. */
static bool find_charges(numbers *self, const join_break *from, charges *ret)
{
    const model_location *place = place_of_operation(self, from->operation_item);
    cg_str operation = from->row.operation;
    bool has_operation = operation.ptr != NULL;
    uint32_t function = NONE;
    uint8_t rule = JOIN_RULE_RECORDED_INSIDE;

    *ret = (charges){.at = (uint32_t)self->charges.count};
    if (from->function != NONE && function_in_reach(self, from->function, &function)) {
        rule = has_operation ? JOIN_RULE_OPERATION_IN_FUNCTION : JOIN_RULE_RECORDED_INSIDE;
    } else if (has_operation && is_only_function(self, operation, &function)) {
        rule = JOIN_RULE_OPERATION_NAME;
    }
    for (uint32_t i = 0; i < self->hazards.count; i++) {
        const hazard *at = &self->hazards.at[i];
        bool is_there = place != NULL && is_same_place(place, finding_of(self, at)->location);
        bool is_it = has_operation && is_operation_of(self, at, operation);
        charge *fresh;

        if (!is_there &&
            (function == NONE || at->function != function || (has_operation && !is_it)))
            continue;
        fresh = vec_add(self->from->heap, &self->charges);
        if (fresh == NULL)
            return false;
        *fresh = (charge){.hazard = i,
                          .verdict = has_operation ? JOIN_VERDICT_SHOWN : JOIN_VERDICT_CONSISTENT,
                          .rule = is_there ? JOIN_RULE_OPERATION_IN_FUNCTION : rule};
        ret->count++;
    }
    return true;
}

static bool judge(numbers *self, const join_break *from, uint32_t *ret_finding)
{
    uint32_t *known;
    charges of;

    *ret_finding = NONE;
    if (from->row.part == JOIN_PART_PROPAGATOR || self->hazards.count == 0)
        return true;
    /* What is charged follows from function and operation: found once for each pair. */
    known = number_map_put(&self->known, number_map_key(from->function + 1, from->operation + 1),
                           (uint32_t)self->found.count);
    if (known == NULL)
        return false;
    if (*known == self->found.count) {
        charges *fresh = vec_add(self->from->heap, &self->found);

        if (fresh == NULL || !find_charges(self, from, fresh))
            return false;
    }
    of = self->found.at[*known];
    for (uint32_t i = of.at; i < of.at + of.count; i++) {
        const charge *at = &self->charges.at[i];
        hazard *charged = &self->hazards.at[at->hazard];

        if (!add_witness(self, charged, from, at->verdict, at->rule))
            return false;
        if (*ret_finding == NONE)
            *ret_finding = charged->finding;
    }
    return true;
}

/* --- what was not finite --- */

static bool find_broken(numbers *self, sc_records *ret)
{
    const join *from = self->from;
    join_broken *rows = arena_take(self->mem, (from->breaks.count + 1) * sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < from->breaks.count; i++) {
        const join_break *at = &from->breaks.at[i];
        uint32_t item = at->operation_item != NONE ? at->operation_item : at->item;
        uint32_t finding;

        rows[i] = at->row;
        if (item == NONE && at->function != NONE)
            item = declared_item(self->crate, JOIN_ITEM_FUNCTION, at->function);
        if (item != NONE && declared_kind(self->crate, item) != DECLARED_LAYER)
            rows[i].id = join_item_of(self->crate, item).id;
        if (!judge(self, at, &finding))
            return false;
        if (finding != NONE)
            rows[i].finding = MODEL_AT(from->doc->findings, model_finding, finding)->id;
    }
    *ret = (sc_records){rows, from->breaks.count};
    return true;
}

/* Gradients that were not finite stand behind the labels. */
static bool add_gradients(numbers *self, sc_records *io)
{
    const join *from = self->from;
    size_t extra = 0;
    join_broken *rows;
    size_t at = io->count;

    for (size_t i = 0; i < from->gradients.count; i++)
        extra += from->gradients.at[i].states[GRADIENT_STATE_NON_FINITE] > 0 ? 1 : 0;
    if (extra == 0)
        return true;
    rows = arena_take(self->mem, (io->count + extra) * sizeof *rows);
    if (rows == NULL)
        return false;
    if (io->count > 0)
        memcpy(rows, io->at, io->count * sizeof *rows);
    for (size_t i = 0; i < from->gradients.count; i++) {
        const join_gradient *event = &from->gradients.at[i];
        const join_run *run = &from->runs.at[event->run];

        if (event->states[GRADIENT_STATE_NON_FINITE] == 0)
            continue;
        rows[at] = (join_broken){.run = event->run,
                                 .run_id = run->run_id,
                                 .record = JOIN_RECORD_GRADIENT,
                                 .worth = run->worth,
                                 .label = intern_text_of(&from->texts, event->key),
                                 .part = JOIN_PART_UNDECIDED,
                                 .non_finite = event->states[GRADIENT_STATE_NON_FINITE]};
        for (size_t k = 0; k < OBSERVED_STATES; k++)
            rows[at].elements += event->states[k];
        if (event->item != NONE)
            rows[at].id = join_item_of(self->crate, event->item).id;
        at++;
    }
    *io = (sc_records){rows, at};
    return true;
}

static bool tell_hazards(numbers *self, sc_records *ret)
{
    join_hazard *rows = arena_take(self->mem, (self->hazards.count + 1) * sizeof *rows);
    size_t count = 0;

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < self->hazards.count; i++) {
        const hazard *at = &self->hazards.at[i];
        const model_finding *finding = finding_of(self, at);
        join_witness *seen;

        if (at->count == 0)
            continue;
        seen = arena_take(self->mem, at->seen.count * sizeof *seen);
        if (seen == NULL)
            return false;
        memcpy(seen, at->seen.at, at->seen.count * sizeof *seen);
        rows[count++] = (join_hazard){.finding = finding->id,
                                      .code = finding->rule,
                                      .operation = finding->operation,
                                      .confidence = finding->confidence,
                                      .function = finding->function,
                                      .location = finding->location,
                                      .help = finding->help,
                                      .message = finding->message,
                                      .verdict = at->verdict,
                                      .shown_by = {seen, at->seen.count},
                                      .shown_count = at->count};
    }
    *ret = (sc_records){rows, count};
    return true;
}

cg_code join_numbers_find(const join *from, arena *mem, join_numbers *ret, cg_err *reterr)
{
    numbers work = {.from = from, .crate = (declared *)(uintptr_t)&from->crate, .mem = mem};
    bool is_good;

    number_map_init(&work.known, from->heap);
    buf_init(&work.name, from->heap, SIZE_MAX / 2);
    buf_init(&work.other, from->heap, SIZE_MAX / 2);
    is_good = find_hazards(&work) && find_broken(&work, &ret->broken) &&
              add_gradients(&work, &ret->broken) && tell_hazards(&work, &ret->hazards) &&
              !work.name.failed && !work.other.failed;
    ret->hazard_count = work.hazards.count;
    for (size_t i = 0; i < work.hazards.count; i++)
        vec_free(from->heap, &work.hazards.at[i].seen);
    vec_free(from->heap, &work.hazards);
    vec_free(from->heap, &work.charges);
    vec_free(from->heap, &work.found);
    number_map_free(&work.known);
    buf_free(&work.name);
    buf_free(&work.other);
    return is_good ? CG_OK : err_nomem(reterr);
}
