#include "model/query.h"

#include <inttypes.h>

#include "base/sort.h"
#include "codec/escape.h"
#include "model/doctor.h"
#include "model/ids.h"
#include "model/path.h"
#include "model/rows.h"
#include "model/select.h"
#include "model/singles.h"

static bool is_spelling(cg_str word, cg_str known)
{
    if (word.len != known.len)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        char byte = word.ptr[i] == '-' ? '_' : word.ptr[i];

        if (byte != known.ptr[i])
            return false;
    }
    return true;
}

static bool is_alias(cg_str word, cg_str aliases)
{
    size_t start = 0;

    for (size_t at = 0; at <= aliases.len; at++) {
        if (at < aliases.len && aliases.ptr[at] != ' ')
            continue;
        if (at > start && is_spelling(word, (cg_str){aliases.ptr + start, at - start}))
            return true;
        start = at + 1;
    }
    return false;
}

int query_kind(cg_str word)
{
    for (int kind = 0; kind < ASK_KIND_COUNT; kind++) {
        if (is_spelling(word, ask_kinds[kind].word) || is_alias(word, ask_kinds[kind].aliases))
            return kind;
    }
    return -1;
}

/* --- open --- */

static cg_str id_of(const model_answer *self, uint32_t index)
{
    enum model_list list = select_list(self->request.kind);

    return model_id_at(model_list_of((model_doc *)(uintptr_t)self->from.doc, list),
                       model_list_table(list), index);
}

static bool id_before(const void *context, uint32_t a, uint32_t b)
{
    return id_compare(id_of(context, a), id_of(context, b)) < 0;
}

static bool entrypoint_before(const void *context, uint32_t a, uint32_t b)
{
    const model_answer *self = context;
    const sc_records *functions = &self->from.doc->functions;
    bool a_is_component = ask_is_of_component(&self->from, MODEL_AT(*functions, model_function, a));
    bool b_is_component = ask_is_of_component(&self->from, MODEL_AT(*functions, model_function, b));

    if (a_is_component != b_is_component)
        return a_is_component;
    return id_before(context, a, b);
}

static cg_code pick(model_answer *self, cg_err *reterr)
{
    enum ask_kind kind = self->request.kind;
    const ask_kind_row *row = &ask_kinds[kind];
    uint32_t *room;

    CG_TRY(select_records(&self->from, kind, self->request.select, &self->picks, reterr));
    if (row->select == ASK_SELECT_ONE && self->picks.count > 1)
        return cg_fail(reterr, PROBLEM_QUERY_SELECT,
                       "the selector `%.*s` matches %zu records, %.*s takes one",
                       ERR_STR(self->request.select), self->picks.count, ERR_STR(row->word));
    self->total = self->picks.count;
    if (!row->is_sorted)
        return CG_OK;
    room = arena_take(&self->from.mem, (self->picks.count + 1) * sizeof *room);
    if (room == NULL)
        return err_nomem(reterr);
    sort_with(self->picks.at, room, self->picks.count,
              kind == ASK_KIND_ENTRYPOINTS ? entrypoint_before : id_before, self);
    return CG_OK;
}

static bool make_single(model_answer *self, bool *ret_is_single)
{
    const model_request *request = &self->request;
    uint64_t limit = request->is_limit_given ? request->limit : 0;

    *ret_is_single = true;
    switch (request->kind) {
    case ASK_KIND_SUMMARY: return single_summary(&self->from, &self->single);
    case ASK_KIND_DOCTOR: return doctor_make(&self->from, &self->single);
    case ASK_KIND_ARCHITECTURE: return single_architecture(&self->from, &self->single);
    case ASK_KIND_CARGO: return single_cargo(&self->from, &self->single);
    case ASK_KIND_PIPELINE: return single_pipeline(&self->from, &self->single);
    case ASK_KIND_RUNTIME: return single_runtime(&self->from, &self->single);
    case ASK_KIND_MODEL_IMPROVEMENT: return improvement_make(&self->from, &self->single);
    case ASK_KIND_PROFILE: return single_profile(&self->from, &self->single);
    case ASK_KIND_GRAPH_TRAIN:
        return single_graph(&self->from, MODEL_PHASE_TRAIN, request->select, limit, &self->single);
    case ASK_KIND_GRAPH_INFER:
        return single_graph(&self->from, MODEL_PHASE_INFER, request->select, limit, &self->single);
    case ASK_KIND_COMPONENTS:
    case ASK_KIND_COMPONENT:
    case ASK_KIND_MODULES:
    case ASK_KIND_COMPOSITION:
    case ASK_KIND_ASSEMBLY:
    case ASK_KIND_STAGES:
    case ASK_KIND_ARTIFACTS:
    case ASK_KIND_ENTRYPOINTS:
    case ASK_KIND_FUNCTIONS:
    case ASK_KIND_FUNCTION:
    case ASK_KIND_PARAMETERS:
    case ASK_KIND_PARAMETER:
    case ASK_KIND_TENSORS:
    case ASK_KIND_TENSOR:
    case ASK_KIND_OPERATIONS:
    case ASK_KIND_OPERATION:
    case ASK_KIND_OPTIMIZERS:
    case ASK_KIND_FINDINGS:
    case ASK_KIND_PATH:
    case ASK_KIND_COUNT: break;
    }
    *ret_is_single = false;
    return true;
}

static cg_code answer(model_answer *self, cg_err *reterr)
{
    const model_request *request = &self->request;
    const ask_kind_row *row = &ask_kinds[request->kind];
    bool is_single;

    if (request->limit == 0)
        return cg_fail(reterr, PROBLEM_QUERY_LIMIT, "the limit of a query must be above zero");
    if (row->select == ASK_SELECT_ONE && request->select.ptr == NULL)
        return cg_fail(reterr, PROBLEM_QUERY_SELECT, "%.*s needs a selector", ERR_STR(row->word));
    if (request->kind == ASK_KIND_PATH) {
        if (request->to.ptr == NULL)
            return cg_fail(reterr, PROBLEM_QUERY_SELECT, "%.*s needs a second end (--to)",
                           ERR_STR(row->word));
        CG_TRY(path_find(&self->from, request->select, request->to, &self->hops, reterr));
        self->total = self->hops.count;
        return CG_OK;
    }
    if (!make_single(self, &is_single))
        return err_nomem(reterr);
    self->total = 1;
    return is_single ? CG_OK : pick(self, reterr);
}

cg_code query_open(model_answer *ret, heap *from, const model_document *document,
                   const model_request *request, cg_err *reterr)
{
    model_answer self = {.request = *request};
    cg_code code;
    uint64_t rest;

    *ret = self;
    CG_TRY(ask_begin(&ret->from, from, document, reterr));
    code = answer(ret, reterr);
    if (code != CG_OK) {
        query_close(ret);
        return code;
    }
    ret->offset = request->offset < ret->total ? request->offset : ret->total;
    rest = ret->total - ret->offset;
    ret->returned = request->limit < rest ? request->limit : rest;
    return CG_OK;
}

void query_close(model_answer *self)
{
    ask_close(&self->from);
}

/* --- items --- */

/* A finding is shown whole when the selector is its id. */
static bool is_whole(const model_answer *self, uint32_t index)
{
    return self->request.kind == ASK_KIND_FINDINGS && self->request.select.ptr != NULL &&
           str_equal(id_of(self, index), self->request.select);
}

/* Item `number` of the answer; what it needs beyond the document lives in `mem`. */
static bool item_at(model_answer *self, uint64_t number, arena *mem, ask_item *ret)
{
    uint32_t index;

    if (self->single.table != NULL) {
        *ret = self->single;
        return true;
    }
    if (self->request.kind == ASK_KIND_PATH) {
        *ret = (ask_item){&table_ask_hop, MODEL_AT(self->hops, ask_hop, number)};
        return true;
    }
    index = self->picks.at[number];
    return row_make(&self->from, self->request.kind, index, is_whole(self, index), mem, ret);
}

bool query_item(model_answer *self, uint64_t index, arena *mem, ask_item *ret)
{
    return item_at(self, self->offset + index, mem, ret);
}

static void emit_items(jsonw *out, const void *context)
{
    model_answer *self = (model_answer *)(uintptr_t)context;
    arena *mem = &self->from.mem;

    jw_array(out);
    for (uint64_t i = 0; i < self->returned; i++) {
        arena_place place = arena_mark(mem);
        ask_item item;

        if (item_at(self, self->offset + i, mem, &item)) {
            out->is_sorted = true;
            sc_write(out, item.table, item.record);
            out->is_sorted = false;
        } else if (out->code == CG_OK) {
            out->code = CG_NOMEM;
        }
        arena_reset(mem, place);
    }
    jw_end(out);
}

void query_write(model_answer *self, jsonw *out)
{
    ask_envelope envelope = {.schema = CG_LIT(ASK_SCHEMA),
                             .analysis_id = self->from.doc->analysis_id,
                             .kind = ask_kinds[self->request.kind].word,
                             .selector = self->request.select,
                             .total = self->total,
                             .returned = self->returned,
                             .offset = self->offset,
                             .is_truncated = self->offset + self->returned < self->total,
                             .items = {emit_items, self}};

    sc_write(out, &table_ask_envelope, &envelope);
}

/* --- text --- */

static const sc_field *field_of(const sc_table *table, cg_str key)
{
    for (unsigned i = 0; i < table->count; i++) {
        if (str_equal(table->fields[i].key, key))
            return &table->fields[i];
    }
    return NULL;
}

/* The text of a member, absent when there is none of that key. */
static cg_str text_of(const ask_item *item, cg_str key)
{
    const sc_field *field = field_of(item->table, key);
    const void *member = field == NULL ? NULL : (const char *)item->record + field->offset;

    if (field == NULL)
        return (cg_str){0};
    if (field->type == SC_STR)
        return *(const cg_str *)member;
    return field->type == SC_WORD ? sc_word(field->sub, *(const uint8_t *)member) : (cg_str){0};
}

static void text_drills(const ask_item *item, buf *out)
{
    const sc_field *field = field_of(item->table, CG_LIT("drill_down"));
    const sc_records *list;

    if (field == NULL)
        return;
    list = (const void *)((const char *)item->record + field->offset);
    for (size_t i = 0; i < list->count; i++) {
        buf_add(out, i == 0 ? CG_LIT("  \xe2\x86\x92 ") : CG_LIT(", "));
        buf_add(out, sc_word(&words_ask_drill, MODEL_AT(*list, ask_drill, i)->kind));
    }
}

static void text_item(const ask_item *item, buf *out)
{
    static const cg_str names[] = {{"name", 4}, {"key", 3}, {"message", 7}};
    cg_str id = text_of(item, CG_LIT("id"));
    cg_str name = {0};
    cg_str source = text_of(item, CG_LIT("source"));

    for (size_t i = 0; i < sizeof names / sizeof names[0] && name.ptr == NULL; i++)
        name = text_of(item, names[i]);
    if (id.ptr == NULL)
        id = name.ptr != NULL ? name : CG_LIT("-");
    buf_add(out, CG_LIT("  "));
    esc_tty(out, id);
    if (name.ptr != NULL && !str_equal(name, id)) {
        buf_add(out, CG_LIT("  "));
        esc_tty(out, name);
    }
    if (source.ptr != NULL) {
        buf_add(out, CG_LIT("  @"));
        esc_tty(out, source);
    }
    text_drills(item, out);
    buf_byte(out, '\n');
}

void query_text(model_answer *self, buf *out)
{
    arena *mem = &self->from.mem;

    buf_addf(out, "query %s: %" PRIu64 " result%s", ask_kinds[self->request.kind].camel,
             self->total, self->total == 1 ? "" : "s");
    if (self->offset > 0 || self->offset + self->returned < self->total)
        buf_addf(out, " (offset %" PRIu64 ", showing %" PRIu64 ")", self->offset, self->returned);
    buf_byte(out, '\n');
    for (uint64_t i = 0; i < self->returned; i++) {
        arena_place place = arena_mark(mem);
        ask_item item;

        if (item_at(self, self->offset + i, mem, &item))
            text_item(&item, out);
        else
            out->failed = true;
        arena_reset(mem, place);
    }
}
