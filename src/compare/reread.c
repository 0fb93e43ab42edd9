#include "compare/reread.h"

#include "schema/compare_schema.h"
#include "schema/join_schema.h"
#include "schema/reader.h"

#define REREAD_DEPTH 127

/* One object of `table`; nothing of it is kept. */
static cg_code check_record(const sc_table *table, yyjson_val *value, arena *mem, cg_err *reterr)
{
    void *room = arena_take(mem, table->size);

    return room == NULL ? err_nomem(reterr) : sc_read(table, value, mem, room, reterr);
}

static cg_code refuse_member(cg_str key, const char *what, yyjson_val *value, cg_err *reterr)
{
    return cg_fail(reterr, PROBLEM_FIELD_TYPE, "`%.*s` wants %s, not %s", ERR_STR(key), what,
                   json_kind_name(value));
}

/* The member of `object` called as field `index` of series/1: name -> rows of `table`. */
static cg_code check_rows_by_name(yyjson_val *object, cg_str key, const sc_table *table,
                                  bool is_required, arena *mem, cg_err *reterr)
{
    yyjson_val *map = yyjson_obj_getn(object, key.ptr, key.len);
    yyjson_val *name;
    yyjson_obj_iter names;

    if (map == NULL && !is_required)
        return CG_OK;
    if (map == NULL)
        return cg_fail(reterr, PROBLEM_FIELD_MISSING, "`%.*s` is missing", ERR_STR(key));
    if (!yyjson_is_obj(map))
        return refuse_member(key, "an object", map, reterr);
    yyjson_obj_iter_init(map, &names);
    while ((name = yyjson_obj_iter_next(&names)) != NULL) {
        yyjson_val *rows = yyjson_obj_iter_get_val(name);
        yyjson_val *row;
        size_t at;
        size_t count;

        if (!yyjson_is_arr(rows))
            return refuse_member(json_text(name), "a list", rows, reterr);
        yyjson_arr_foreach(rows, at, count, row)
        {
            arena_place mark = arena_mark(mem);

            CG_TRY(check_record(table, row, mem, reterr));
            arena_reset(mem, mark);
        }
    }
    return CG_OK;
}

static cg_code check_series(yyjson_val *root, arena *mem, cg_err *reterr)
{
    enum { STATS = 6, GRADIENTS = 7, RESIDUALS = 8 };
    const sc_field *fields = table_series.fields;

    CG_TRY(check_record(&table_series_reread, root, mem, reterr));
    CG_TRY(check_rows_by_name(root, fields[STATS].key, &table_series_stats, true, mem, reterr));
    CG_TRY(
        check_rows_by_name(root, fields[GRADIENTS].key, &table_series_gradient, true, mem, reterr));
    return check_rows_by_name(root, fields[RESIDUALS].key, &table_series_residual, false, mem,
                              reterr);
}

/* The kind with this schema, or REREAD_KIND_COUNT. */
static enum reread_kind kind_of(cg_str schema)
{
    const cg_str names[REREAD_KIND_COUNT] = {
        [REREAD_COMPARISON] = schema_id_text(SCHEMA_COMPARISON),
        [REREAD_SERIES] = schema_id_text(SCHEMA_SERIES),
        [REREAD_CAMPAIGN] = schema_id_text(SCHEMA_CAMPAIGN_STATUS),
        [REREAD_JOIN] = CG_LIT(JOIN_SCHEMA),
    };
    unsigned kind = 0;

    while (kind < REREAD_KIND_COUNT && !str_equal(schema, names[kind]))
        kind++;
    return (enum reread_kind)kind;
}

static cg_code check_root(yyjson_val *root, arena *mem, enum reread_kind *ret, cg_err *reterr)
{
    cg_str key = table_series.fields[0].key;
    yyjson_val *schema = yyjson_obj_getn(root, key.ptr, key.len);

    if (!yyjson_is_str(schema))
        return cg_fail(reterr, PROBLEM_DOCUMENT_KIND, "the document names no schema");
    *ret = kind_of(json_text(schema));
    switch (*ret) {
    case REREAD_COMPARISON: return check_record(&table_comparison, root, mem, reterr);
    case REREAD_SERIES: return check_series(root, mem, reterr);
    case REREAD_CAMPAIGN: return check_record(&table_campaign_reread, root, mem, reterr);
    case REREAD_JOIN: return check_record(&table_join_doc, root, mem, reterr);
    case REREAD_KIND_COUNT: break;
    }
    return cg_fail(reterr, PROBLEM_DOCUMENT_KIND, "its schema is `%.*s`",
                   ERR_STR(json_text(schema)));
}

cg_code reread_check(heap *from, cg_str text, enum reread_kind *ret, cg_err *reterr)
{
    json_reader reader;
    json_fault fault;
    yyjson_val *root;
    arena mem;
    cg_code code;

    arena_init(&mem, from);
    json_init(&reader, from, REREAD_DEPTH);
    code = json_read(&reader, text, &root, &fault);
    if (code == CG_NOMEM) {
        code = err_nomem(reterr);
    } else if (code != CG_OK) {
        code = cg_fail(reterr, PROBLEM_DOCUMENT_JSON, "%s", fault.text);
        err_at_line(reterr, 0, fault.offset);
    } else {
        code = check_root(root, &mem, ret, reterr);
    }
    json_free(&reader);
    arena_free(&mem);
    return code;
}
