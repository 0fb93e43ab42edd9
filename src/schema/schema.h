/*
 * schema - the tables every document is described by, and the one writer.
 *
 * The reader is schema/reader.h: it needs the JSON library, the writer does not,
 * so the recorder can use this half alone.
 *
 * A table describes a JSON object and the C structure that holds it. Types:
 *
 *   STR      cg_str           text
 *   U64      uint64_t         0..2^64-1, written as plain integer
 *   OPT_U64  opt_u64
 *   F64      double           finite
 *   OPT_F64  opt_f64
 *   BOOL     bool
 *   OPT_BOOL opt_bool         true, false, or not known
 *   WORD     uint8_t          index into a list of words; OPTIONAL: 0 = absent
 *   U64S     sc_u64s          list of U64
 *   STRS     sc_strs          list of STR
 *   RECORD   const void *     one object of another table, NULL = absent
 *   RECORDS  sc_records       list of objects of another table
 *   MAP      sc_map           text -> text, sorted bytewise by key
 *   COUNTS   sc_counts        text -> U64, written in the given order
 *   ENTRIES  sc_records       an object with keys of its own: each record of the table is a member,
 *                             its first field the key (STR), its second the value
 *   AXES     sc_strs          list of texts; whole numbers are written as integers
 *   TAGGED   sc_tagged        a word, or an object with one member: "cpu", {"cuda": ...}
 *   TAG      char             the constant word of the table (`kind`)
 *   STREAM   sc_stream        written by a function, never read
 *
 * Rules: REQUIRED must be there (of an OPT type it may be null, and is written
 * so when unset); OPTIONAL may be absent or null and is left out when unset;
 * DEFAULTED may be absent (zero), is always written, null is refused;
 * OMIT_EMPTY as DEFAULTED but left out when empty; NULLABLE may be absent or
 * null and is written as null when unset.
 *
 * Unknown fields are ignored, a known field given twice is refused.
 */
#ifndef CG_SCHEMA_SCHEMA_H
#define CG_SCHEMA_SCHEMA_H

#include "codec/jsonw.h"

typedef struct sc_u64s {
    const uint64_t *at;
    size_t count;
} sc_u64s;

typedef struct sc_strs {
    const cg_str *at;
    size_t count;
} sc_strs;

typedef struct sc_records {
    const void *at;
    size_t count;
} sc_records;

typedef struct sc_pair {
    cg_str key;
    cg_str value;
} sc_pair;

typedef struct sc_map {
    const sc_pair *at;
    size_t count;
} sc_map;

typedef struct sc_count {
    cg_str key;
    uint64_t value;
} sc_count;

typedef struct sc_counts {
    const sc_count *at;
    size_t count;
} sc_counts;

typedef enum opt_bool { BOOL_UNKNOWN, BOOL_FALSE, BOOL_TRUE } opt_bool;

/* With `record` set that, a structure of the table, of which exactly one member is written. */
typedef struct sc_tagged {
    uint8_t word;
    const void *record;
} sc_tagged;

/* Writes exactly one JSON value. emit == NULL means absent. */
typedef struct sc_stream {
    void (*emit)(jsonw *out, const void *context);
    const void *context;
} sc_stream;

typedef cg_str sc_type_STR;
typedef uint64_t sc_type_U64;
typedef opt_u64 sc_type_OPT_U64;
typedef double sc_type_F64;
typedef opt_f64 sc_type_OPT_F64;
typedef bool sc_type_BOOL;
typedef opt_bool sc_type_OPT_BOOL;
typedef uint8_t sc_type_WORD;
typedef sc_u64s sc_type_U64S;
typedef sc_strs sc_type_STRS;
typedef const void *sc_type_RECORD;
typedef sc_records sc_type_RECORDS;
typedef sc_map sc_type_MAP;
typedef sc_counts sc_type_COUNTS;
typedef sc_records sc_type_ENTRIES;
typedef sc_strs sc_type_AXES;
typedef sc_tagged sc_type_TAGGED;
typedef char sc_type_TAG;
typedef sc_stream sc_type_STREAM;

enum sc_type {
    SC_STR,
    SC_U64,
    SC_OPT_U64,
    SC_F64,
    SC_OPT_F64,
    SC_BOOL,
    SC_WORD,
    SC_U64S,
    SC_STRS,
    SC_RECORD,
    SC_RECORDS,
    SC_MAP,
    SC_COUNTS,
    SC_OPT_BOOL,
    SC_ENTRIES,
    SC_AXES,
    SC_TAGGED,
    SC_TAG,
    SC_STREAM
};

enum sc_rule { SC_REQUIRED, SC_OPTIONAL, SC_DEFAULTED, SC_OMIT_EMPTY, SC_NULLABLE };

typedef struct sc_words {
    const char *name; /* for messages */
    const cg_str *at;
    uint8_t count;
} sc_words;

#define SC_MAX_FIELDS 32

typedef struct sc_field {
    cg_str key;
    uint8_t type;
    uint8_t rule;
    uint16_t offset;
    const void *sub; /* sc_words, sc_table or sc_tags, by type */
} sc_field;

typedef struct sc_table {
    const char *name;
    cg_str tag;
    const sc_field *fields;
    uint16_t count;
    uint16_t size; /* of the C structure */
} sc_table;

/* `sub` of a TAGGED field; the fields of the table are OPTIONAL or NULLABLE. */
typedef struct sc_tags {
    const sc_words *words;
    const sc_table *table;
} sc_tags;

extern const char no_sub;

/* Write one object; keys in table order, or bytewise when out->is_sorted. */
void sc_write(jsonw *out, const sc_table *table, const void *record);
/* Only the members, inside an object the caller has opened (declaration order only). */
void sc_write_members(jsonw *out, const sc_table *table, const void *record);

static inline cg_str sc_word(const sc_words *words, uint8_t value)
{
    return words->at[value];
}

/* Index of `word`, or -1. */
int sc_find_word(const sc_words *words, cg_str word);

/* Declare the structure of a field list: SC_STRUCT(SPAN_END_FIELDS, rec_span_end). */
#define SC_MEMBER(type, member, key, rule, sub) sc_type_##type member;
#define SC_STRUCT(FIELDS, name)                                                                    \
    typedef struct name {                                                                          \
        FIELDS(SC_MEMBER)                                                                          \
    } name;

/*
 * Rows of a *_schema.c, for the lists of its .def. Fields of one record: with RECORD_TYPE defined
 * as its structure, static const sc_field name_fields[] = {NAME_FIELDS(SC_FIELD)}.
 */
#define SC_WORD_ROW(name, word) {word, sizeof(word) - 1},
#define SC_WORDS_ROW(prefix, name, text)                                                           \
    const sc_words words_##name = {text, name##_list, sizeof name##_list / sizeof name##_list[0]};
#define SC_FIELD(type, member, key, rule, sub)                                                     \
    {{key, sizeof(key) - 1}, SC_##type, SC_##rule, offsetof(RECORD_TYPE, member), &sub},
/* `text` is the record in messages, `record` its structure. */
#define SC_TABLE_OF(name, text, tag, record)                                                       \
    _Static_assert(sizeof name##_fields / sizeof name##_fields[0] <= SC_MAX_FIELDS, #name);        \
    const sc_table table_##name = {text,                                                           \
                                   {tag, sizeof(tag) - 1},                                         \
                                   name##_fields,                                                  \
                                   sizeof name##_fields / sizeof name##_fields[0],                 \
                                   sizeof(record)};
#define SC_TABLE_ROW(prefix, name, tag)       SC_TABLE_OF(name, #name, tag, doc_##name)
#define SC_PLAIN_TABLE_ROW(prefix, name, tag) SC_TABLE_OF(name, #name, tag, name)

#endif
