#include "compare/reread.h"

#include "schema/compare_schema.h"
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

static cg_code check_root(yyjson_val *root, arena *mem, enum reread_kind *ret, cg_err *reterr)
{
    static const enum schema_id ids[REREAD_KIND_COUNT] = {
        [REREAD_COMPARISON] = SCHEMA_COMPARISON,
        [REREAD_SERIES] = SCHEMA_SERIES,
        [REREAD_CAMPAIGN] = SCHEMA_CAMPAIGN_STATUS,
    };
    cg_str key = table_series.fields[0].key;
    yyjson_val *schema = yyjson_obj_getn(root, key.ptr, key.len);
    unsigned kind = 0;

    if (!yyjson_is_str(schema))
        return cg_fail(reterr, PROBLEM_DOCUMENT_KIND, "the document names no schema");
    while (kind < REREAD_KIND_COUNT && !str_equal(json_text(schema), schema_id_text(ids[kind])))
        kind++;
    if (kind == REREAD_KIND_COUNT)
        return cg_fail(reterr, PROBLEM_DOCUMENT_KIND, "its schema is `%.*s`",
                       ERR_STR(json_text(schema)));
    if (kind == REREAD_SERIES)
        CG_TRY(check_series(root, mem, reterr));
    else
        CG_TRY(check_record(kind == REREAD_CAMPAIGN ? &table_campaign_reread : &table_comparison,
                            root, mem, reterr));
    *ret = (enum reread_kind)kind;
    return CG_OK;
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
