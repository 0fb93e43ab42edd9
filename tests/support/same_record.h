/*
 * same_record - are two structures of one table equal, down to the bits of their numbers?
 *
 * Header only, so that fuzz targets can use it without the test library.
 */
#ifndef CG_TESTS_SUPPORT_SAME_RECORD_H
#define CG_TESTS_SUPPORT_SAME_RECORD_H

#include <string.h>

#include "schema/schema.h"

static inline bool same_text(cg_str a, cg_str b)
{
    if (a.ptr == NULL || b.ptr == NULL)
        return a.ptr == b.ptr;
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static inline bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static inline bool same_record(const sc_table *table, const void *a, const void *b);

static inline bool same_records(const sc_table *sub, const sc_records *a, const sc_records *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_record(sub, (const char *)a->at + i * sub->size,
                         (const char *)b->at + i * sub->size))
            return false;
    return true;
}

static inline bool same_map(const sc_map *a, const sc_map *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_text(a->at[i].key, b->at[i].key) || !same_text(a->at[i].value, b->at[i].value))
            return false;
    return true;
}

static inline bool same_member(const sc_field *field, const void *a, const void *b)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: return same_text(*(const cg_str *)a, *(const cg_str *)b);
    case SC_U64: return *(const uint64_t *)a == *(const uint64_t *)b;
    case SC_OPT_U64: {
        const opt_u64 *x = a;
        const opt_u64 *y = b;

        return x->is_set == y->is_set && (!x->is_set || x->value == y->value);
    }
    case SC_F64: return same_bits(*(const double *)a, *(const double *)b);
    case SC_OPT_F64: {
        const opt_f64 *x = a;
        const opt_f64 *y = b;

        return x->is_set == y->is_set && (!x->is_set || same_bits(x->value, y->value));
    }
    case SC_BOOL: return *(const bool *)a == *(const bool *)b;
    case SC_WORD: return *(const uint8_t *)a == *(const uint8_t *)b;
    case SC_U64S: {
        const sc_u64s *x = a;
        const sc_u64s *y = b;

        return x->count == y->count &&
               (x->count == 0 || memcmp(x->at, y->at, x->count * sizeof x->at[0]) == 0);
    }
    case SC_OPT_BOOL: return *(const opt_bool *)a == *(const opt_bool *)b;
    case SC_AXES:
    case SC_STRS: {
        const sc_strs *x = a;
        const sc_strs *y = b;

        for (size_t i = 0; x->count == y->count && i < x->count; i++)
            if (!same_text(x->at[i], y->at[i]))
                return false;
        return x->count == y->count;
    }
    case SC_RECORD: {
        const void *x = *(const void *const *)a;
        const void *y = *(const void *const *)b;

        if (x == NULL || y == NULL)
            return x == y;
        return same_record(field->sub, x, y);
    }
    case SC_ENTRIES:
    case SC_RECORDS: return same_records(field->sub, a, b);
    case SC_MAP: return same_map(a, b);
    case SC_TAGGED: {
        const sc_tagged *x = a;
        const sc_tagged *y = b;
        const sc_tags *tags = field->sub;

        if (x->record == NULL || y->record == NULL)
            return x->record == y->record && x->word == y->word;
        return same_record(tags->table, x->record, y->record);
    }
    case SC_TAG: return true;
    case SC_COUNTS:
    case SC_STREAM: return false;
    }
    return false;
}

/* Tables nest as deep as we define them. */
static inline bool same_record(const sc_table *table, const void *a, const void *b)
{
    for (uint16_t i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];

        if (!same_member(field, (const char *)a + field->offset, (const char *)b + field->offset))
            return false;
    }
    return true;
}

#endif
