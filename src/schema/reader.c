#include "schema/reader.h"

#include <string.h>

#include "base/num.h"
#include "base/sort.h"

static cg_code wrong_type(const sc_table *table, const sc_field *field, yyjson_val *value,
                          const char *expected, cg_err *reterr)
{
    return cg_fail(reterr, PROBLEM_FIELD_TYPE, "`%.*s` of %s must be %s, found %s",
                   ERR_STR(field->key), table->name, expected, json_kind_name(value));
}

/* The items of a list, or the keys of an object, and room for as many of `size` bytes. */
typedef struct items {
    yyjson_val *first;
    size_t count;
    void *at;
} items;

static cg_code open_items(yyjson_val *value, size_t size, arena *mem, items *ret, cg_err *reterr)
{
    ret->count = unsafe_yyjson_get_len(value);
    ret->first = ret->count > 0 ? unsafe_yyjson_get_first(value) : NULL;
    if (ret->count > SIZE_MAX / size)
        return err_nomem(reterr);
    ret->at = arena_zero(mem, ret->count > 0 ? ret->count * size : 1);
    return ret->at != NULL ? CG_OK : err_nomem(reterr);
}

static cg_code read_u64s(const sc_table *table, const sc_field *field, yyjson_val *value,
                         arena *mem, sc_u64s *ret, cg_err *reterr)
{
    static const char expected[] = "a list of non-negative integers";
    items list;
    uint64_t *at;
    yyjson_val *item;

    if (!yyjson_is_arr(value))
        return wrong_type(table, field, value, expected, reterr);
    CG_TRY(open_items(value, sizeof *at, mem, &list, reterr));
    at = list.at;
    item = list.first;
    for (size_t i = 0; i < list.count; i++) {
        if (!json_u64(item, &at[i]))
            return wrong_type(table, field, item, expected, reterr);
        item = unsafe_yyjson_get_next(item);
    }
    *ret = (sc_u64s){at, list.count};
    return CG_OK;
}

/* Texts; with `takes_numbers` an item may be an integer, which is kept as its digits. */
static cg_code read_strs(const sc_table *table, const sc_field *field, yyjson_val *value,
                         bool takes_numbers, arena *mem, sc_strs *ret, cg_err *reterr)
{
    const char *expected = takes_numbers ? "a list of texts and integers" : "a list of texts";
    items list;
    cg_str *at;
    yyjson_val *item;

    if (!yyjson_is_arr(value))
        return wrong_type(table, field, value, expected, reterr);
    CG_TRY(open_items(value, sizeof *at, mem, &list, reterr));
    at = list.at;
    item = list.first;
    for (size_t i = 0; i < list.count; i++) {
        uint64_t number;

        if (yyjson_is_str(item)) {
            at[i] = json_text(item);
        } else if (takes_numbers && json_u64(item, &number)) {
            char *digits = arena_bytes(mem, NUM_U64_ROOM);

            if (digits == NULL)
                return err_nomem(reterr);
            at[i] = (cg_str){digits, num_write_u64(digits, number)};
        } else {
            return wrong_type(table, field, item, expected, reterr);
        }
        item = unsafe_yyjson_get_next(item);
    }
    *ret = (sc_strs){at, list.count};
    return CG_OK;
}

/* Tables nest as deep as we define them, never as deep as the input. */
static cg_code read_records(const sc_table *table, const sc_field *field, yyjson_val *value,
                            arena *mem, sc_records *ret, cg_err *reterr)
{
    const sc_table *sub = field->sub;
    items list;
    char *at;
    yyjson_val *item;

    if (!yyjson_is_arr(value))
        return wrong_type(table, field, value, "a list of objects", reterr);
    CG_TRY(open_items(value, sub->size, mem, &list, reterr));
    at = list.at;
    item = list.first;
    for (size_t i = 0; i < list.count; i++) {
        CG_TRY(sc_read(sub, item, mem, at + i * sub->size, reterr));
        item = unsafe_yyjson_get_next(item);
    }
    *ret = (sc_records){at, list.count};
    return CG_OK;
}

static bool is_pair_before(const void *context, uint32_t a, uint32_t b)
{
    const sc_pair *pairs = context;

    return str_compare(pairs[a].key, pairs[b].key) < 0;
}

static cg_code read_map(const sc_table *table, const sc_field *field, yyjson_val *value, arena *mem,
                        sc_map *ret, cg_err *reterr)
{
    items list;
    items order;
    size_t kept = 0;
    sc_pair *read, *at;
    uint32_t *from;
    yyjson_val *key;

    if (!yyjson_is_obj(value))
        return wrong_type(table, field, value, "an object of texts", reterr);
    CG_TRY(open_items(value, 2 * sizeof *at, mem, &list, reterr));
    CG_TRY(open_items(value, 2 * sizeof *from, mem, &order, reterr));
    if (list.count > UINT32_MAX)
        return err_nomem(reterr);
    read = list.at;
    at = read + list.count;
    from = order.at;
    key = list.first;
    for (size_t i = 0; i < list.count; i++) {
        yyjson_val *text = key + 1;

        if (!yyjson_is_str(text))
            return wrong_type(table, field, text, "an object of texts", reterr);
        read[i] = (sc_pair){json_text(key), json_text(text)};
        from[i] = (uint32_t)i;
        key = unsafe_yyjson_get_next(text);
    }
    sort_with(from, from + list.count, list.count, is_pair_before, read);
    /* The wire rule for maps: the last of equal keys counts. */
    for (size_t i = 0; i < list.count; i++) {
        if (i + 1 < list.count && str_equal(read[from[i]].key, read[from[i + 1]].key))
            continue;
        at[kept++] = read[from[i]];
    }
    *ret = (sc_map){at, kept};
    return CG_OK;
}

static cg_code read_value(const sc_table *table, const sc_field *field, yyjson_val *value,
                          arena *mem, void *member, cg_err *reterr);

static cg_code read_entries(const sc_table *table, const sc_field *field, yyjson_val *value,
                            arena *mem, sc_records *ret, cg_err *reterr)
{
    const sc_table *sub = field->sub;
    items list;
    char *at;
    yyjson_val *key;

    if (!yyjson_is_obj(value))
        return wrong_type(table, field, value, "an object", reterr);
    CG_TRY(open_items(value, sub->size, mem, &list, reterr));
    at = list.at;
    key = list.first;
    for (size_t i = 0; i < list.count; i++) {
        char *record = at + i * sub->size;

        *(cg_str *)(void *)(record + sub->fields[0].offset) = json_text(key);
        CG_TRY(
            read_value(sub, &sub->fields[1], key + 1, mem, record + sub->fields[1].offset, reterr));
        key = unsafe_yyjson_get_next(key + 1);
    }
    *ret = (sc_records){at, list.count};
    return CG_OK;
}

static cg_code read_tagged(const sc_table *table, const sc_field *field, yyjson_val *value,
                           arena *mem, sc_tagged *ret, cg_err *reterr)
{
    const sc_tags *tags = field->sub;
    void *record;

    if (yyjson_is_str(value)) {
        int word = sc_find_word(tags->words, json_text(value));

        if (word < 0)
            return cg_fail(reterr, PROBLEM_FIELD_WORD, "`%.*s` is no %s (`%.*s` of %s)",
                           ERR_STR(json_text(value)), tags->words->name, ERR_STR(field->key),
                           table->name);
        *ret = (sc_tagged){.word = (uint8_t)word};
        return CG_OK;
    }
    if (!yyjson_is_obj(value))
        return wrong_type(table, field, value, "a text or an object", reterr);
    record = arena_take(mem, tags->table->size);
    if (record == NULL)
        return err_nomem(reterr);
    CG_TRY(sc_read(tags->table, value, mem, record, reterr));
    *ret = (sc_tagged){.record = record};
    return CG_OK;
}

static cg_code read_value(const sc_table *table, const sc_field *field, yyjson_val *value,
                          arena *mem, void *member, cg_err *reterr)
{
    switch ((enum sc_type)field->type) {
    case SC_STR:
        if (!yyjson_is_str(value))
            return wrong_type(table, field, value, "a text", reterr);
        *(cg_str *)member = json_text(value);
        return CG_OK;
    case SC_U64:
        if (!json_u64(value, member))
            return wrong_type(table, field, value, "an integer from 0 to 2^64-1", reterr);
        return CG_OK;
    case SC_OPT_U64: {
        opt_u64 *number = member;

        if (!json_u64(value, &number->value))
            return wrong_type(table, field, value, "an integer from 0 to 2^64-1", reterr);
        number->is_set = true;
        return CG_OK;
    }
    case SC_F64:
        if (!json_f64(value, member))
            return wrong_type(table, field, value, "a number", reterr);
        return CG_OK;
    case SC_OPT_F64: {
        opt_f64 *number = member;

        if (!json_f64(value, &number->value))
            return wrong_type(table, field, value, "a number", reterr);
        number->is_set = true;
        return CG_OK;
    }
    case SC_BOOL:
        if (!yyjson_is_bool(value))
            return wrong_type(table, field, value, "true or false", reterr);
        *(bool *)member = unsafe_yyjson_get_bool(value);
        return CG_OK;
    case SC_WORD: {
        const sc_words *words = field->sub;
        int word;

        if (!yyjson_is_str(value))
            return wrong_type(table, field, value, "a text", reterr);
        word = sc_find_word(words, json_text(value));
        if (word < 0)
            return cg_fail(reterr, PROBLEM_FIELD_WORD, "`%.*s` is no %s (`%.*s` of %s)",
                           ERR_STR(json_text(value)), words->name, ERR_STR(field->key),
                           table->name);
        *(uint8_t *)member = (uint8_t)word;
        return CG_OK;
    }
    case SC_U64S: return read_u64s(table, field, value, mem, member, reterr);
    case SC_STRS: return read_strs(table, field, value, false, mem, member, reterr);
    case SC_RECORD: {
        const sc_table *sub = field->sub;
        void *record = arena_take(mem, sub->size);

        if (record == NULL)
            return err_nomem(reterr);
        CG_TRY(sc_read(sub, value, mem, record, reterr));
        *(const void **)member = record;
        return CG_OK;
    }
    case SC_RECORDS: return read_records(table, field, value, mem, member, reterr);
    case SC_MAP: return read_map(table, field, value, mem, member, reterr);
    case SC_OPT_BOOL:
        if (!yyjson_is_bool(value))
            return wrong_type(table, field, value, "true or false", reterr);
        *(opt_bool *)member = unsafe_yyjson_get_bool(value) ? BOOL_TRUE : BOOL_FALSE;
        return CG_OK;
    case SC_ENTRIES: return read_entries(table, field, value, mem, member, reterr);
    case SC_AXES: return read_strs(table, field, value, true, mem, member, reterr);
    case SC_TAGGED: return read_tagged(table, field, value, mem, member, reterr);
    case SC_TAG: return CG_OK;
    case SC_COUNTS:
    case SC_STREAM: break;
    }
    return cg_fail(reterr, PROBLEM_INTERNAL, "`%.*s` of %s is written, never read",
                   ERR_STR(field->key), table->name);
}

/* Writers keep the order of the table, so the next field is nearly always the one expected. */
static unsigned find_field(const sc_table *table, cg_str key, unsigned expected)
{
    if (expected < table->count && str_equal(table->fields[expected].key, key))
        return expected;
    for (unsigned i = 0; i < table->count; i++) {
        if (str_equal(table->fields[i].key, key))
            return i;
    }
    return table->count;
}

static bool is_null_allowed(const sc_field *field)
{
    return field->rule == SC_OPTIONAL || field->rule == SC_NULLABLE ||
           (field->rule == SC_REQUIRED && (field->type == SC_OPT_F64 || field->type == SC_OPT_U64));
}

cg_code sc_read(const sc_table *table, yyjson_val *object, arena *mem, void *ret, cg_err *reterr)
{
    uint32_t seen = 0;
    unsigned expected = 0;
    size_t count;
    yyjson_val *key;

    if (!yyjson_is_obj(object))
        return cg_fail(reterr, PROBLEM_FIELD_TYPE, "%s must be an object, found %s", table->name,
                       json_kind_name(object));
    memset(ret, 0, table->size);
    count = unsafe_yyjson_get_len(object);
    key = unsafe_yyjson_get_first(object);
    for (size_t i = 0; i < count; i++) {
        yyjson_val *value = key + 1;
        unsigned number = find_field(table, json_text(key), expected);

        if (number < table->count) {
            const sc_field *field = &table->fields[number];

            if (seen & (UINT32_C(1) << number))
                return cg_fail(reterr, PROBLEM_FIELD_TWICE, "`%.*s` of %s is given twice",
                               ERR_STR(field->key), table->name);
            seen |= UINT32_C(1) << number;
            expected = number + 1;
            if (!(is_null_allowed(field) && yyjson_is_null(value)))
                CG_TRY(read_value(table, field, value, mem, (char *)ret + field->offset, reterr));
        }
        key = unsafe_yyjson_get_next(value);
    }
    for (unsigned i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];

        if (field->rule == SC_REQUIRED && !(seen & (UINT32_C(1) << i)))
            return cg_fail(reterr, PROBLEM_FIELD_MISSING, "`%.*s` of %s is missing",
                           ERR_STR(field->key), table->name);
    }
    return CG_OK;
}

static bool keep_texts(sc_strs *list, arena *mem)
{
    cg_str *copy;

    if (list->count == 0)
        return true;
    copy = arena_take(mem, list->count * sizeof *copy);
    if (copy == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (!arena_text(mem, list->at[i], &copy[i]))
            return false;
    }
    list->at = copy;
    return true;
}

static bool keep_map(sc_map *map, arena *mem)
{
    sc_pair *copy;

    if (map->count == 0)
        return true;
    copy = arena_take(mem, map->count * sizeof *copy);
    if (copy == NULL)
        return false;
    for (size_t i = 0; i < map->count; i++) {
        if (!arena_text(mem, map->at[i].key, &copy[i].key) ||
            !arena_text(mem, map->at[i].value, &copy[i].value))
            return false;
    }
    map->at = copy;
    return true;
}

/* False without memory, or when *code says what else failed. */
static bool keep_record(const sc_table *sub, const void **record, arena *mem, cg_err *reterr,
                        cg_code *code)
{
    void *copy;

    if (*record == NULL)
        return true;
    copy = arena_take(mem, sub->size);
    if (copy == NULL)
        return false;
    memcpy(copy, *record, sub->size);
    *record = copy;
    *code = sc_keep(sub, copy, mem, reterr);
    return *code == CG_OK;
}

static bool keep_member(const sc_field *field, void *member, arena *mem, cg_err *reterr,
                        cg_code *code)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: {
        cg_str *text = member;

        return arena_text(mem, *text, text);
    }
    case SC_U64S: {
        sc_u64s *list = member;
        uint64_t *copy;

        if (list->count == 0)
            return true;
        copy = arena_take(mem, list->count * sizeof *copy);
        if (copy == NULL)
            return false;
        memcpy(copy, list->at, list->count * sizeof *copy);
        list->at = copy;
        return true;
    }
    case SC_AXES:
    case SC_STRS: return keep_texts(member, mem);
    case SC_RECORD: return keep_record(field->sub, member, mem, reterr, code);
    case SC_ENTRIES:
    case SC_RECORDS: {
        const sc_table *sub = field->sub;
        sc_records *list = member;
        char *copy;

        if (list->count == 0)
            return true;
        copy = arena_take(mem, list->count * sub->size);
        if (copy == NULL)
            return false;
        memcpy(copy, list->at, list->count * sub->size);
        list->at = copy;
        for (size_t i = 0; i < list->count; i++) {
            *code = sc_keep(sub, copy + i * sub->size, mem, reterr);
            if (*code != CG_OK)
                return false;
        }
        return true;
    }
    case SC_MAP: return keep_map(member, mem);
    case SC_TAGGED:
        return keep_record(((const sc_tags *)field->sub)->table, &((sc_tagged *)member)->record,
                           mem, reterr, code);
    case SC_U64:
    case SC_OPT_U64:
    case SC_F64:
    case SC_OPT_F64:
    case SC_BOOL:
    case SC_OPT_BOOL:
    case SC_WORD:
    case SC_TAG:
    case SC_COUNTS:
    case SC_STREAM: return true;
    }
    return true;
}

cg_code sc_keep(const sc_table *table, void *record, arena *mem, cg_err *reterr)
{
    for (unsigned i = 0; i < table->count; i++) {
        cg_code code = CG_OK;

        if (!keep_member(&table->fields[i], (char *)record + table->fields[i].offset, mem, reterr,
                         &code))
            return code != CG_OK ? code : err_nomem(reterr);
    }
    return CG_OK;
}
