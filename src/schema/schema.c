#include "schema/schema.h"

#include <string.h>

#include "base/num.h"

const char no_sub = 0;

/*
 * Bytewise key order per table, found once per document and kept in the
 * writer: computing it for each of a million rows would dominate the output.
 */
#define ORDER_SLOTS 128

typedef struct table_order {
    const sc_table *table;
    uint8_t fields[SC_MAX_FIELDS];
} table_order;

typedef struct order_cache {
    table_order slots[ORDER_SLOTS];
} order_cache;

int sc_find_word(const sc_words *words, cg_str word)
{
    if (word.len == 0)
        return -1;
    for (unsigned i = 0; i < words->count; i++) {
        if (str_equal(words->at[i], word))
            return (int)i;
    }
    return -1;
}

static void order_fields(const sc_table *table, uint8_t *order)
{
    for (uint8_t i = 0; i < table->count; i++) {
        unsigned at = i;

        while (at > 0 && str_compare(table->fields[order[at - 1]].key, table->fields[i].key) > 0) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

/* NULL when there is no memory; the writer then remembers the failure. */
static const uint8_t *sorted_order(jsonw *out, const sc_table *table)
{
    order_cache *cache = out->scratch;
    size_t at = ((uintptr_t)table >> 4) % ORDER_SLOTS;

    if (cache == NULL) {
        cache = heap_resize(out->heap, NULL, 0, sizeof *cache);
        if (cache == NULL) {
            if (out->code == CG_OK)
                out->code = CG_NOMEM;
            return NULL;
        }
        memset(cache, 0, sizeof *cache);
        out->scratch = cache;
        out->scratch_size = sizeof *cache;
    }
    for (size_t tries = 0; tries < ORDER_SLOTS; tries++) {
        table_order *slot = &cache->slots[at];

        if (slot->table == table)
            return slot->fields;
        if (slot->table == NULL) {
            slot->table = table;
            order_fields(table, slot->fields);
            return slot->fields;
        }
        at = (at + 1) % ORDER_SLOTS;
    }
    /* More tables than slots in one document: use the last one as room. */
    order_fields(table, cache->slots[at].fields);
    cache->slots[at].table = table;
    return cache->slots[at].fields;
}

static bool is_set(const sc_field *field, const void *member)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: return ((const cg_str *)member)->ptr != NULL;
    case SC_OPT_U64: return ((const opt_u64 *)member)->is_set;
    case SC_OPT_F64: return ((const opt_f64 *)member)->is_set;
    case SC_WORD: return *(const uint8_t *)member != 0;
    case SC_U64S: return ((const sc_u64s *)member)->count > 0;
    case SC_STRS: return ((const sc_strs *)member)->count > 0;
    case SC_RECORD: return *(const void *const *)member != NULL;
    case SC_RECORDS: return ((const sc_records *)member)->count > 0;
    case SC_MAP: return ((const sc_map *)member)->count > 0;
    case SC_COUNTS: return ((const sc_counts *)member)->count > 0;
    case SC_OPT_BOOL: return *(const opt_bool *)member != BOOL_UNKNOWN;
    case SC_ENTRIES: return ((const sc_records *)member)->count > 0;
    case SC_AXES: return ((const sc_strs *)member)->count > 0;
    case SC_TAGGED: {
        const sc_tagged *tagged = member;

        return tagged->word != 0 || tagged->record != NULL;
    }
    case SC_STREAM: return ((const sc_stream *)member)->emit != NULL;
    case SC_U64:
    case SC_F64:
    case SC_BOOL:
    case SC_TAG: return true;
    }
    return true;
}

static void write_value(jsonw *out, const sc_table *table, const sc_field *field,
                        const void *member);

/* Texts that an integer of a document would read back as. */
static bool is_whole_number(cg_str text, uint64_t *ret)
{
    return (text.len == 1 || (text.len > 0 && text.ptr[0] != '0')) && num_read_u64(text, ret);
}

static void write_axes(jsonw *out, const sc_strs *list)
{
    jw_array(out);
    for (size_t i = 0; i < list->count; i++) {
        uint64_t number;

        if (is_whole_number(list->at[i], &number))
            jw_u64(out, number);
        else
            jw_str(out, list->at[i]);
    }
    jw_end(out);
}

/* The one member of a table that is set; tables of tags have few. */
static void write_tag(jsonw *out, const sc_table *table, const void *record)
{
    jw_object(out);
    for (uint16_t i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];
        const void *member = (const char *)record + field->offset;

        if (is_set(field, member)) {
            jw_name(out, field->key);
            write_value(out, table, field, member);
            break;
        }
    }
    jw_end(out);
}

static void write_entries(jsonw *out, const sc_table *table, const sc_records *list)
{
    jw_object(out);
    for (size_t i = 0; i < list->count; i++) {
        const char *record = (const char *)list->at + i * table->size;

        jw_key(out, *(const cg_str *)(const void *)(record + table->fields[0].offset));
        write_value(out, table, &table->fields[1], record + table->fields[1].offset);
    }
    jw_end(out);
}

static void write_value(jsonw *out, const sc_table *table, const sc_field *field,
                        const void *member)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: jw_str(out, *(const cg_str *)member); return;
    case SC_U64: jw_u64(out, *(const uint64_t *)member); return;
    case SC_OPT_U64:
        if (is_set(field, member))
            jw_u64(out, ((const opt_u64 *)member)->value);
        else
            jw_null(out);
        return;
    case SC_F64: jw_f64(out, *(const double *)member); return;
    case SC_OPT_F64:
        if (is_set(field, member))
            jw_f64(out, ((const opt_f64 *)member)->value);
        else
            jw_null(out);
        return;
    case SC_BOOL: jw_bool(out, *(const bool *)member); return;
    case SC_WORD: jw_str(out, sc_word(field->sub, *(const uint8_t *)member)); return;
    case SC_U64S: {
        const sc_u64s *list = member;

        jw_array(out);
        for (size_t i = 0; i < list->count; i++)
            jw_u64(out, list->at[i]);
        jw_end(out);
        return;
    }
    case SC_STRS: {
        const sc_strs *list = member;

        jw_array(out);
        for (size_t i = 0; i < list->count; i++)
            jw_str(out, list->at[i]);
        jw_end(out);
        return;
    }
    case SC_RECORD: sc_write(out, field->sub, *(const void *const *)member); return;
    case SC_RECORDS: {
        const sc_records *list = member;
        const sc_table *sub = field->sub;

        jw_array(out);
        for (size_t i = 0; i < list->count; i++)
            sc_write(out, sub, (const char *)list->at + i * sub->size);
        jw_end(out);
        return;
    }
    case SC_MAP: {
        const sc_map *map = member;

        jw_object(out);
        for (size_t i = 0; i < map->count; i++) {
            jw_key(out, map->at[i].key);
            jw_str(out, map->at[i].value);
        }
        jw_end(out);
        return;
    }
    case SC_COUNTS: {
        const sc_counts *map = member;

        jw_object(out);
        for (size_t i = 0; i < map->count; i++) {
            jw_key(out, map->at[i].key);
            jw_u64(out, map->at[i].value);
        }
        jw_end(out);
        return;
    }
    case SC_OPT_BOOL: jw_bool(out, *(const opt_bool *)member == BOOL_TRUE); return;
    case SC_ENTRIES: write_entries(out, field->sub, member); return;
    case SC_AXES: write_axes(out, member); return;
    case SC_TAGGED: {
        const sc_tagged *tagged = member;
        const sc_tags *tags = field->sub;

        if (tagged->record != NULL)
            write_tag(out, tags->table, tagged->record);
        else
            jw_str(out, sc_word(tags->words, tagged->word));
        return;
    }
    case SC_TAG: jw_str(out, table->tag); return;
    case SC_STREAM: {
        const sc_stream *stream = member;

        stream->emit(out, stream->context);
        return;
    }
    }
}

static void write_member(jsonw *out, const sc_table *table, const sc_field *field,
                         const void *record)
{
    const void *member = (const char *)record + field->offset;
    enum sc_rule rule = field->rule;

    if (rule == SC_OPTIONAL || rule == SC_OMIT_EMPTY || rule == SC_NULLABLE) {
        /* An empty list is a value where null is one too: the shape of a scalar. */
        bool is_empty =
            rule == SC_NULLABLE && field->type == SC_U64S && ((const sc_u64s *)member)->at != NULL;

        if (!is_empty && !is_set(field, member)) {
            if (rule == SC_NULLABLE) {
                jw_name(out, field->key);
                jw_null(out);
            }
            return;
        }
    }
    jw_name(out, field->key);
    write_value(out, table, field, member);
}

void sc_write_members(jsonw *out, const sc_table *table, const void *record)
{
    for (uint16_t i = 0; i < table->count; i++)
        write_member(out, table, &table->fields[i], record);
}

void sc_write(jsonw *out, const sc_table *table, const void *record)
{
    const uint8_t *order = NULL;

    if (out->is_sorted) {
        order = sorted_order(out, table);
        if (order == NULL)
            return;
    }
    jw_object(out);
    if (order == NULL) {
        sc_write_members(out, table, record);
    } else {
        /* Read through `order` afresh each time: a nested table may share the last slot. */
        uint8_t fields[SC_MAX_FIELDS];

        memcpy(fields, order, table->count);
        for (uint16_t i = 0; i < table->count; i++)
            write_member(out, table, &table->fields[fields[i]], record);
    }
    jw_end(out);
}
