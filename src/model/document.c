#include "model/document.h"

#include "base/num.h"
#include "schema/reader.h"

/* More than any document that can be written: the tables nest six levels deep. */
#define MODEL_DEPTH 127

sc_records *model_list_of(model_doc *doc, enum model_list list)
{
    switch (list) {
#define X(name, record, member)                                                                    \
    case MODEL_##name: return &doc->member;
        MODEL_LISTS(X)
#undef X
    case MODEL_LIST_COUNT: break;
    }
    return NULL;
}

const sc_table *model_list_table(enum model_list list)
{
    switch (list) {
#define X(name, record, member)                                                                    \
    case MODEL_##name: return &table_model_##record;
        MODEL_LISTS(X)
#undef X
    case MODEL_LIST_COUNT: break;
    }
    return NULL;
}

void model_write(const model_doc *doc, jsonw *out)
{
    sc_write(out, &table_model_doc, doc);
}

static cg_code read_text(model_document *self, json_reader *reader, cg_str text, cg_err *reterr)
{
    yyjson_val *root;
    json_fault fault;
    cg_code code = json_read(reader, text, &root, &fault);

    if (code == CG_INPUT) {
        code = cg_fail(reterr, PROBLEM_MODEL_JSON, "%s", fault.text);
        err_at_line(reterr, 0, fault.offset);
    }
    if (code != CG_OK)
        return code == CG_NOMEM ? err_nomem(reterr) : code;
    CG_TRY(sc_read(&table_model_doc, root, &self->mem, &self->doc, reterr));
    if (!str_equal(self->doc.schema, CG_LIT(MODEL_SCHEMA)))
        return cg_fail(reterr, PROBLEM_MODEL_SCHEMA, "the schema is `%.*s`, expected `%s`",
                       ERR_STR(self->doc.schema), MODEL_SCHEMA);
    return sc_keep(&table_model_doc, &self->doc, &self->mem, reterr);
}

cg_code model_read(heap *from, cg_str text, model_document *ret, cg_err *reterr)
{
    model_document read = {.heap = from};
    json_reader reader;
    cg_code code;

    arena_init(&read.mem, from);
    json_init(&reader, from, MODEL_DEPTH);
    code = read_text(&read, &reader, text, reterr);
    json_free(&reader);
    if (code != CG_OK) {
        arena_free(&read.mem);
        return code;
    }
    *ret = read;
    return CG_OK;
}

void model_free(model_document *self)
{
    arena_free(&self->mem);
    self->doc = (model_doc){0};
}

/* Take a number after the last colon off the end of `text`. */
static bool take_number(cg_str *text, uint64_t *ret)
{
    size_t colon = str_find_last(*text, ':');

    if (colon == SIZE_MAX ||
        !num_read_u64((cg_str){text->ptr + colon + 1, text->len - colon - 1}, ret))
        return false;
    text->len = colon;
    return true;
}

model_place_text model_place_of(const model_location *location, cg_str source)
{
    model_place_text place = {.file = source};
    uint64_t last;
    uint64_t before;

    if (location != NULL)
        return (model_place_text){location->file, location->line, location->column};
    if (source.ptr == NULL || !take_number(&place.file, &last))
        return place;
    place.line = last;
    if (take_number(&place.file, &before)) {
        place.line = before;
        place.column = last;
    }
    return place;
}
