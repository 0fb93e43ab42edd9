#include "model/runtime_trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "codec/lines.h"
#include "schema/reader.h"
#include "schema/scan.h"

#define PROGRESS_LINES 65536
#define NEAR           4096u /* a power of two */

/* What a reading needs besides the trace it fills. */
typedef struct reading {
    const cg_env *env;
    runtime_trace *trace;
    json_reader json;
    arena scratch; /* of one line */
    uint64_t event_ceiling;
    uint64_t rank_ceiling;
    uint64_t record_count;
    uint64_t meta_line; /* 0: none so far */
    sym last[2];        /* neighbours tend to repeat device and dtype */
    sym near[NEAR];     /* ids and keys come again and again */
} reading;

typedef union any_record {
#define X(prefix, name, tag, list) rec_##name name;
    RUNTIME_RECORDS(X)
#undef X
    rec_runtime_meta meta;
} any_record;

/* The kinds of lines: records with an event id, then `meta`. */
#define KIND_META RUNTIME_RECORD_COUNT

static const cg_str kinds[] = {
#define X(prefix, name, tag, list) {tag, sizeof(tag) - 1},
    RUNTIME_RECORDS(X)
#undef X
        {"meta", 4}};

static const sc_table *const tables[] = {
#define X(prefix, name, tag, list) &table_##name##_line,
    RUNTIME_RECORDS(X)
#undef X
    & table_runtime_meta};

/* --- records --- */

#define SYMBOL(target, text)                                                                       \
    do {                                                                                           \
        (target) = intern_add(&trace->texts, (text));                                              \
        if ((target) == 0)                                                                         \
            return err_nomem(reterr);                                                              \
    } while (0)

/* A few bytes of the text: its end, and where keys have their number. */
static uint64_t glance(cg_str text)
{
    uint64_t mixed = text.len;
    uint64_t word = 0;
    size_t last = text.len - sizeof word;

    if (text.len < sizeof word) {
        if (text.len > 0)
            memcpy(&word, text.ptr, text.len);
        return (mixed ^ word) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    }
    for (size_t part = 1; part <= 4; part *= 2) {
        memcpy(&word, text.ptr + last / part, sizeof word);
        mixed = (mixed ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        mixed ^= mixed >> 32;
    }
    return mixed;
}

/* As intern_add, without a hash over the whole text when it was here a while ago. */
static sym symbol_near(reading *r, cg_str text)
{
    intern *texts = &r->trace->texts;
    sym *near = &r->near[glance(text) % NEAR];

    if (*near == 0 || !str_equal(intern_text_of(texts, *near), text))
        *near = intern_add(texts, text);
    return *near;
}

#define NEAR_SYMBOL(target, text)                                                                  \
    do {                                                                                           \
        (target) = 0;                                                                              \
        if ((text).ptr != NULL) {                                                                  \
            (target) = symbol_near(r, (text));                                                     \
            if ((target) == 0)                                                                     \
                return err_nomem(reterr);                                                          \
        }                                                                                          \
    } while (0)

#define REPEATED_SYMBOL(target, last, text)                                                        \
    do {                                                                                           \
        if ((last) == 0 || !str_equal(intern_text_of(&trace->texts, (last)), (text)))              \
            SYMBOL(last, text);                                                                    \
        (target) = (last);                                                                         \
    } while (0)

#define ADD_ROW(row, rows)                                                                         \
    do {                                                                                           \
        (row) = vec_add(&trace->heap, &trace->rows);                                               \
        if ((row) == NULL)                                                                         \
            return err_nomem(reterr);                                                              \
        memset((row), 0, sizeof *(row));                                                           \
    } while (0)

/* An event id is used once in all lists together. */
static cg_code take_event(reading *r, cg_str id, uint32_t *ret, cg_err *reterr)
{
    if (r->record_count >= r->event_ceiling)
        return cg_fail(reterr, PROBLEM_LIMIT, "more records than `events` allows (%" PRIu64 ")",
                       r->event_ceiling);
    if (id.len == 0)
        return cg_fail(reterr, PROBLEM_RUNTIME_EVENT, "the event id is empty");
    *ret = event_ids_add(&r->trace->events, id);
    if (*ret == 0)
        return err_nomem(reterr);
    if (*ret == EVENT_KNOWN)
        return cg_fail(reterr, PROBLEM_RUNTIME_EVENT, "the event id `%.*s` is used twice",
                       ERR_STR(id));
    r->record_count++;
    return CG_OK;
}

static cg_code keep_shape(reading *r, sc_u64s shape, runtime_shape *ret, cg_err *reterr)
{
    runtime_trace *trace = r->trace;
    size_t at = trace->axes.count;

    *ret = (runtime_shape){0, 0};
    if (shape.count == 0)
        return CG_OK;
    if (shape.count > r->rank_ceiling)
        return cg_fail(reterr, PROBLEM_LIMIT,
                       "a shape of %zu axes exceeds `tensor-rank` (%" PRIu64 ")", shape.count,
                       r->rank_ceiling);
    /* The same shape tends to come again at once: share it. */
    if (shape.count <= at &&
        memcmp(trace->axes.at + at - shape.count, shape.at, shape.count * sizeof *shape.at) == 0) {
        *ret = (runtime_shape){(uint32_t)(at - shape.count), (uint32_t)shape.count};
        return CG_OK;
    }
    if (at + shape.count > UINT32_MAX)
        return cg_fail(reterr, PROBLEM_LIMIT, "more than 2^32 tensor axes");
    if (!vec_reserve(&trace->heap, &trace->axes, at + shape.count))
        return err_nomem(reterr);
    memcpy(trace->axes.at + at, shape.at, shape.count * sizeof *shape.at);
    trace->axes.count = at + shape.count;
    *ret = (runtime_shape){(uint32_t)at, (uint32_t)shape.count};
    return CG_OK;
}

static cg_code add_runtime_tensor(reading *r, const rec_runtime_tensor *from, cg_err *reterr)
{
    runtime_trace *trace = r->trace;
    runtime_tensor *row;

    ADD_ROW(row, tensors);
    CG_TRY(take_event(r, from->event_id, &row->event, reterr));
    NEAR_SYMBOL(row->static_id, from->static_id);
    NEAR_SYMBOL(row->source, from->source);
    REPEATED_SYMBOL(row->dtype, r->last[0], from->dtype);
    REPEATED_SYMBOL(row->device, r->last[1], from->device);
    row->is_contiguous = from->is_contiguous;
    row->is_grad_required = from->is_grad_required;
    return keep_shape(r, from->shape, &row->shape, reterr);
}

static cg_code add_runtime_operation(reading *r, const rec_runtime_operation *from, cg_err *reterr)
{
    runtime_trace *trace = r->trace;
    runtime_operation *row;

    ADD_ROW(row, operations);
    CG_TRY(take_event(r, from->event_id, &row->event, reterr));
    NEAR_SYMBOL(row->static_id, from->static_id);
    NEAR_SYMBOL(row->op, from->op);
    row->has_duration = from->duration_ns.is_set;
    row->duration_ns = from->duration_ns.value;
    return CG_OK;
}

static cg_code check_gradient(const rec_runtime_gradient *from, cg_err *reterr)
{
    const opt_f64 *norm = &from->norm;
    const char *why = NULL;

    if (!norm->is_set)
        return CG_OK;
    switch (from->state) {
    case GRADIENT_STATE_MISSING: why = "a missing gradient has no norm"; break;
    case GRADIENT_STATE_ZERO:
        why = norm->value != 0.0 ? "the norm of a zero gradient is 0" : NULL;
        break;
    case GRADIENT_STATE_PRESENT:
        if (norm->value == 0.0 || !isfinite(norm->value))
            why = "the norm of a present gradient is finite and not 0";
        break;
    default:
        why = isfinite(norm->value) ? "the norm of a non-finite gradient is not finite" : NULL;
        break;
    }
    if (why == NULL)
        return CG_OK;
    return cg_fail(reterr, PROBLEM_RUNTIME_GRADIENT,
                   "`%.*s` of `%.*s` in event `%.*s`: %s, found %g", ERR_STR(from->key),
                   ERR_STR(from->root), ERR_STR(from->event_id), why, norm->value);
}

static cg_code add_runtime_gradient(reading *r, const rec_runtime_gradient *from, cg_err *reterr)
{
    runtime_trace *trace = r->trace;
    runtime_gradient *row;

    CG_TRY(check_gradient(from, reterr));
    ADD_ROW(row, gradients);
    CG_TRY(take_event(r, from->event_id, &row->event, reterr));
    NEAR_SYMBOL(row->root, from->root);
    NEAR_SYMBOL(row->key, from->key);
    row->state = from->state;
    row->has_step = from->step.is_set;
    row->step = from->step.value;
    row->has_norm = from->norm.is_set;
    row->norm = from->norm.value;
    return CG_OK;
}

static cg_code add_runtime_value(reading *r, const rec_runtime_value *from, cg_err *reterr)
{
    runtime_trace *trace = r->trace;
    runtime_value *row;

    ADD_ROW(row, values);
    CG_TRY(take_event(r, from->event_id, &row->event, reterr));
    NEAR_SYMBOL(row->static_id, from->static_id);
    NEAR_SYMBOL(row->source, from->source);
    row->has_step = from->step.is_set;
    row->step = from->step.value;
    row->nonfinite_count = from->nonfinite_count;
    row->saturated_count = from->saturated_count;
    row->min = from->min.value;
    row->max = from->max.value;
    row->is_unbounded = !from->min.is_set || !from->max.is_set || !from->abs_max.is_set;
    return CG_OK;
}

static cg_code add_runtime_edge(reading *r, const rec_runtime_edge *from, cg_err *reterr)
{
    runtime_trace *trace = r->trace;
    runtime_edge *row;

    ADD_ROW(row, edges);
    CG_TRY(take_event(r, from->event_id, &row->event, reterr));
    NEAR_SYMBOL(row->from, from->from);
    NEAR_SYMBOL(row->to, from->to);
    row->duration_ns = from->duration_ns;
    return CG_OK;
}

static cg_code take_run(reading *r, cg_str schema, const rec_runtime_meta *run, cg_err *reterr)
{
    runtime_trace *trace = r->trace;

    trace->run = *run;
    if (!arena_text(&trace->mem, schema, &trace->schema))
        return err_nomem(reterr);
    return sc_keep(&table_runtime_run, &trace->run, &trace->mem, reterr);
}

/* --- lines --- */

static cg_code add_record(reading *r, unsigned kind, const any_record *record, uint64_t line,
                          cg_err *reterr)
{
    switch (kind) {
#define X(prefix, name, tag, list)                                                                 \
    case RECORD_##prefix: return add_##name(r, &record->name, reterr);
        RUNTIME_RECORDS(X)
#undef X
    default: break;
    }
    if (r->meta_line > 0)
        return cg_fail(reterr, PROBLEM_RUNTIME_META,
                       "a second `meta` record; the first stands on line %" PRIu64, r->meta_line);
    r->meta_line = line;
    return take_run(r, record->meta.schema, &record->meta, reterr);
}

/* The value of a member, the last one if it comes more than once; NULL: there is none. */
static yyjson_val *member_of(yyjson_val *object, cg_str key)
{
    yyjson_val *found = NULL;
    yyjson_val *at = unsafe_yyjson_get_first(object);

    for (size_t i = unsafe_yyjson_get_len(object); i > 0; i--) {
        if (str_equal(json_text(at), key))
            found = at + 1;
        at = unsafe_yyjson_get_next(at + 1);
    }
    return found;
}

static cg_str key_of_kind(void)
{
    return table_runtime_meta.fields[0].key;
}

static cg_code find_kind(yyjson_val *object, unsigned *ret, cg_err *reterr)
{
    static const sc_words words = {"record kind", kinds, sizeof kinds / sizeof kinds[0]};
    yyjson_val *kind;
    int found;

    if (!yyjson_is_obj(object))
        return cg_fail(reterr, PROBLEM_RUNTIME_RECORD, "the line holds %s instead of a record",
                       json_kind_name(object));
    kind = member_of(object, key_of_kind());
    if (kind == NULL)
        return cg_fail(reterr, PROBLEM_RUNTIME_RECORD, "the record has no `kind`");
    if (!yyjson_is_str(kind))
        return cg_fail(reterr, PROBLEM_FIELD_TYPE, "`kind` must be a text, found %s",
                       json_kind_name(kind));
    found = sc_find_word(&words, json_text(kind));
    if (found < 0)
        return cg_fail(reterr, PROBLEM_RUNTIME_RECORD, "`%.*s` is no record kind",
                       ERR_STR(json_text(kind)));
    *ret = (unsigned)found;
    return CG_OK;
}

/* Another format is told as such, not by the fields it lacks. */
static cg_code check_schema(yyjson_val *schema, cg_err *reterr)
{
    if (schema == NULL || !yyjson_is_str(schema) || runtime_schema_is_known(json_text(schema)))
        return CG_OK;
    return cg_fail(reterr, PROBLEM_RUNTIME_SCHEMA, "schema `%.*s` is not known",
                   ERR_STR(json_text(schema)));
}

/* A line as writers make it; false: let the JSON library decide. */
static bool read_plain(reading *r, cg_str text, unsigned *ret_kind, any_record *ret)
{
    cg_str tag;
    size_t rest;

    if (!scan_tag(text, &table_runtime_meta, &tag, &rest))
        return false;
    for (unsigned i = 0; i < RUNTIME_RECORD_COUNT; i++) {
        if (str_equal(tag, kinds[i])) {
            *ret_kind = i;
            return scan_fields(tables[i], text, rest, &r->scratch, ret);
        }
    }
    return false;
}

static cg_code json_failed(const json_fault *fault, cg_err *reterr)
{
    return cg_fail(reterr, PROBLEM_RUNTIME_JSON, "%s%s", fault->is_depth ? "nested too deep: " : "",
                   fault->text);
}

static cg_code read_json(reading *r, cg_str text, unsigned *ret_kind, any_record *ret,
                         uint64_t *offset, cg_err *reterr)
{
    json_fault fault = {0};
    yyjson_val *object = NULL;
    cg_code code = json_read(&r->json, text, &object, &fault);

    if (code == CG_INPUT) {
        *offset += fault.offset;
        return json_failed(&fault, reterr);
    }
    if (code != CG_OK)
        return err_nomem(reterr);
    CG_TRY(find_kind(object, ret_kind, reterr));
    if (*ret_kind == KIND_META)
        CG_TRY(check_schema(member_of(object, table_runtime_doc.fields[0].key), reterr));
    return sc_read(tables[*ret_kind], object, &r->scratch, ret, reterr);
}

/* One line, trimmed and not empty. */
static cg_code add_line(reading *r, cg_str text, uint64_t line, uint64_t offset, cg_err *reterr)
{
    arena_place place = arena_mark(&r->scratch);
    unsigned kind = KIND_META;
    any_record record;
    cg_code code = CG_OK;

    if (!read_plain(r, text, &kind, &record))
        code = read_json(r, text, &kind, &record, &offset, reterr);
    if (code == CG_OK)
        code = add_record(r, kind, &record, line, reterr);
    if (code != CG_OK)
        err_at_line(reterr, line, offset);
    arena_reset(&r->scratch, place);
    return code;
}

/* The next line that holds something; *ret_more false: there is none. */
static cg_code next_line(reading *r, lines *from, uint64_t total, cg_str *ret, uint64_t *ret_offset,
                         bool *ret_more, cg_err *reterr)
{
    cg_str line;

    for (;;) {
        CG_TRY(lines_next(from, &line, ret_more, reterr));
        if (!*ret_more)
            return CG_OK;
        if (from->number % PROGRESS_LINES == 0 &&
            !env_progress(r->env, "reading the runtime trace", from->offset, total))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped while reading the runtime trace");
        /* Most lines have nothing to trim. */
        *ret = line.len > 1 && line.ptr[0] == '{' && line.ptr[line.len - 1] == '}' ? line
                                                                                   : str_trim(line);
        if (ret->len == 0)
            continue;
        *ret_offset = from->line_offset + (uint64_t)(ret->ptr - line.ptr);
        return CG_OK;
    }
}

static cg_code read_lines(reading *r, lines *from, uint64_t total, cg_err *reterr)
{
    cg_str text;
    uint64_t offset;
    bool has_more;

    for (;;) {
        CG_TRY(next_line(r, from, total, &text, &offset, &has_more, reterr));
        if (!has_more)
            break;
        CG_TRY(add_line(r, text, from->number, offset, reterr));
    }
    if (r->meta_line > 0)
        return CG_OK;
    cg_fail(reterr, PROBLEM_RUNTIME_META, "no `meta` record");
    err_at_line(reterr, from->number, from->offset);
    return CG_INPUT;
}

/* --- documents --- */

static cg_code add_document(reading *r, yyjson_val *object, cg_err *reterr)
{
    rec_runtime_doc doc;

    CG_TRY(check_schema(member_of(object, table_runtime_doc.fields[0].key), reterr));
    CG_TRY(sc_read(&table_runtime_doc, object, &r->scratch, &doc, reterr));
    CG_TRY(take_run(r, doc.schema, doc.run, reterr));
#define X(prefix, name, tag, list)                                                                 \
    for (size_t i = 0; i < doc.list.count; i++)                                                    \
        CG_TRY(add_##name(r, &((const rec_##name *)doc.list.at)[i], reterr));
    RUNTIME_RECORDS(X)
#undef X
    return CG_OK;
}

/* Where in a text over several lines. */
static void tell_place(cg_err *reterr, cg_str text, size_t offset, uint64_t line, uint64_t start)
{
    for (size_t i = 0; i < offset && i < text.len; i++)
        line += text.ptr[i] == '\n';
    err_at_line(reterr, line, start + offset);
}

static bool is_document(yyjson_val *value)
{
    return yyjson_is_obj(value) && member_of(value, table_runtime_doc.fields[0].key) != NULL &&
           member_of(value, table_runtime_doc.fields[1].key) != NULL;
}

static cg_code read_document(reading *r, cg_str text, uint64_t line, uint64_t start, cg_err *reterr)
{
    json_fault fault = {0};
    yyjson_val *value = NULL;
    cg_code code = json_read(&r->json, text, &value, &fault);

    if (code == CG_INPUT) {
        code = json_failed(&fault, reterr);
        tell_place(reterr, text, fault.offset, line, start);
        return code;
    }
    if (code != CG_OK)
        return err_nomem(reterr);
    code = yyjson_is_obj(value)
               ? add_document(r, value, reterr)
               : cg_fail(reterr, PROBLEM_RUNTIME_RECORD, "the input holds %s instead of a document",
                         json_kind_name(value));
    if (code == CG_INPUT)
        err_at_line(reterr, line, start);
    return code;
}

/* The rest of the input behind its first line, as it stands there. */
static cg_code gather(lines *from, buf *to, cg_err *reterr)
{
    cg_str line;
    bool has_more;

    for (;;) {
        CG_TRY(lines_next(from, &line, &has_more, reterr));
        if (!has_more)
            return CG_OK;
        buf_byte(to, '\n');
        buf_add(to, line);
        if (to->failed)
            return cg_fail(reterr, PROBLEM_LIMIT,
                           "the document is larger than `json-document-bytes`");
    }
}

/* What the first line that holds something is. */
enum first_line { FIRST_RECORD, FIRST_DOCUMENT, FIRST_EITHER, FIRST_PART };

static cg_code judge(reading *r, cg_str text, enum first_line *ret, cg_err *reterr)
{
    json_fault fault = {0};
    yyjson_val *value = NULL;
    cg_code code = json_read(&r->json, text, &value, &fault);

    if (code != CG_OK && code != CG_INPUT)
        return err_nomem(reterr);
    if (code == CG_INPUT)
        *ret = fault.is_truncated && text.ptr[0] == '{' ? FIRST_PART : FIRST_RECORD;
    else if (!is_document(value))
        *ret = FIRST_RECORD;
    else
        *ret = member_of(value, key_of_kind()) != NULL ? FIRST_EITHER : FIRST_DOCUMENT;
    return CG_OK;
}

static cg_code read_form(reading *r, lines *from, buf *first, uint64_t total, cg_err *reterr)
{
    enum first_line form = FIRST_RECORD;
    uint64_t offset = 0;
    uint64_t line;
    bool has_more;
    cg_str text;

    CG_TRY(next_line(r, from, total, &text, &offset, &has_more, reterr));
    if (!has_more)
        return cg_fail(reterr, PROBLEM_RUNTIME_META, "the input holds nothing");
    line = from->number;
    CG_TRY(judge(r, text, &form, reterr));
    if (form != FIRST_RECORD) {
        buf_add(first, text);
        if (first->failed)
            return err_nomem(reterr);
    }
    if (form == FIRST_PART) {
        CG_TRY(gather(from, first, reterr));
    } else if (form != FIRST_RECORD) {
        uint64_t next_offset = 0;

        CG_TRY(next_line(r, from, total, &text, &next_offset, &has_more, reterr));
        if (has_more) {
            /* More than one value: lines, whatever the first one looks like. */
            CG_TRY(add_line(r, buf_text(first), line, offset, reterr));
            CG_TRY(add_line(r, text, from->number, next_offset, reterr));
            return read_lines(r, from, total, reterr);
        }
    } else {
        CG_TRY(add_line(r, text, line, offset, reterr));
        return read_lines(r, from, total, reterr);
    }
    return read_document(r, str_trim(buf_text(first)), line, offset, reterr);
}

/* --- reading --- */

static cg_code read_from(const cg_env *env,
                         cg_code (*fill)(void *, void *, size_t, size_t *, cg_err *), void *context,
                         uint64_t total, runtime_trace **ret, cg_err *reterr)
{
    heap start;
    reading r = {.env = env};
    lines from = {0};
    runtime_trace *trace;
    buf first;
    cg_code code;

    heap_init(&start, env);
    trace = heap_resize(&start, NULL, 0, sizeof *trace);
    if (trace == NULL)
        return err_nomem(reterr);
    memset(trace, 0, sizeof *trace);
    trace->heap = start;
    arena_init(&trace->mem, &trace->heap);
    r.trace = trace;
    r.event_ceiling = limit_of(env, CG_LIMIT_EVENTS);
    if (r.event_ceiling > UINT32_MAX / 2)
        r.event_ceiling = UINT32_MAX / 2;
    r.rank_ceiling = limit_of(env, CG_LIMIT_TENSOR_RANK);
    arena_init(&r.scratch, &trace->heap);
    json_init(&r.json, &trace->heap, limit_of(env, CG_LIMIT_JSON_DEPTH));
    buf_init(&first, &trace->heap, (size_t)limit_of(env, CG_LIMIT_JSON_DOCUMENT_BYTES));
    code = intern_init(&trace->texts, &trace->heap, os_random(env)) &&
                   event_ids_init(&trace->events, &trace->heap, os_random(env)) &&
                   arena_take(&r.scratch, 1) != NULL
               ? CG_OK
               : err_nomem(reterr);
    if (code == CG_OK)
        code = lines_init(&from, &trace->heap, env, fill, context, reterr);
    if (code == CG_OK) {
        /* A document may stand on one line. */
        from.line_ceiling = limit_of(env, CG_LIMIT_JSON_DOCUMENT_BYTES);
        code = read_form(&r, &from, &first, total, reterr);
        lines_free(&from);
    }
    buf_free(&first);
    json_free(&r.json);
    arena_free(&r.scratch);
    if (code != CG_OK) {
        runtime_free(trace);
        return code;
    }
    *ret = trace;
    return CG_OK;
}

cg_code runtime_read_open(const cg_env *env, os_file *file, runtime_trace **ret, cg_err *reterr)
{
    return read_from(env, lines_fill_file, file, file->size, ret, reterr);
}

cg_code runtime_read_file(const cg_env *env, cg_str path, runtime_trace **ret, cg_err *reterr)
{
    os_file file;
    cg_code code;

    CG_TRY(os_open_read(env, path, &file, reterr));
    code = runtime_read_open(env, &file, ret, reterr);
    os_close(&file);
    if (code != CG_OK)
        err_in_file(reterr, path);
    return code;
}

cg_code runtime_read_text(const cg_env *env, cg_str text, runtime_trace **ret, cg_err *reterr)
{
    cg_str rest = {text.ptr != NULL ? text.ptr : "", text.len};

    return read_from(env, lines_fill_text, &rest, text.len, ret, reterr);
}

void runtime_free(runtime_trace *self)
{
    if (self == NULL)
        return;
    vec_free(&self->heap, &self->axes);
    vec_free(&self->heap, &self->edges);
    vec_free(&self->heap, &self->values);
    vec_free(&self->heap, &self->gradients);
    vec_free(&self->heap, &self->operations);
    vec_free(&self->heap, &self->tensors);
    event_ids_free(&self->events);
    intern_free(&self->texts);
    arena_free(&self->mem);
    heap_release(&self->heap, self, sizeof *self);
}
