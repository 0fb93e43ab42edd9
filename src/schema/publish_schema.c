#include "schema/publish_schema.h"

#define X(name, path) {path, sizeof(path) - 1},
static const cg_str member_list[] = {BUNDLE_MEMBERS(X)};
#undef X

cg_str bundle_member_path(enum bundle_member member)
{
    return member_list[member];
}

#define W SC_WORD_ROW
static const cg_str publication_status_list[] = {PUBLICATION_STATUS_WORDS(W)};
static const cg_str semantic_status_list[] = {SEMANTIC_STATUS_WORDS(W)};
#undef W

#define X SC_WORDS_ROW
PUBLISH_WORDS(X)
#undef X

#define F SC_FIELD

#define RECORD_TYPE doc_bundle_file
static const sc_field bundle_file_fields[] = {BUNDLE_FILE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_producer
static const sc_field producer_fields[] = {PRODUCER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_marker
static const sc_field marker_fields[] = {MARKER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_bundle
static const sc_field bundle_fields[] = {BUNDLE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_trace_head
static const sc_field trace_head_fields[] = {TRACE_HEAD_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_receipt
static const sc_field receipt_fields[] = {RECEIPT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_publication
static const sc_field publication_fields[] = {PUBLICATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_semantic
static const sc_field semantic_fields[] = {SEMANTIC_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_verify
static const sc_field verify_fields[] = {VERIFY_FIELDS(F)};
#undef RECORD_TYPE

#define X SC_TABLE_ROW
PUBLISH_TABLES(X)
#undef X

#define X(name, key, inner) {{key, sizeof(key) - 1}, {inner, sizeof(inner) - 1}},
const evidence_part_row evidence_part_rows[PART_COUNT] = {EVIDENCE_PARTS(X)};
#undef X

/* One dotted part after another; `*` stands for one whole part. */
static bool matches(cg_str path, cg_str pattern)
{
    size_t at = 0;

    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] == '*') {
            while (at < path.len && path.ptr[at] != '.' && path.ptr[at] != '[')
                at++;
            continue;
        }
        if (at >= path.len || path.ptr[at] != pattern.ptr[i])
            return false;
        at++;
    }
    return at == path.len;
}

static bool matches_any(cg_str path, const cg_str *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (matches(path, patterns[i]))
            return true;
    }
    return false;
}

#define X(pattern) {pattern, sizeof(pattern) - 1},
static const cg_str free_texts[] = {FREE_TEXTS(X)};
static const cg_str data_objects[] = {DATA_OBJECTS(X)};
#undef X

bool evidence_is_free_text(cg_str path)
{
    return matches_any(path, free_texts, sizeof free_texts / sizeof free_texts[0]);
}

bool evidence_is_data_object(cg_str path)
{
    return matches_any(path, data_objects, sizeof data_objects / sizeof data_objects[0]);
}

bool evidence_is_field(cg_str key)
{
    static const sc_table *const tables[] = {
#define X(prefix, name, text) &table_##name,
        EVIDENCE_TABLES(X) TRACE_PARTS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (uint16_t k = 0; k < tables[i]->count; k++) {
            if (str_equal(tables[i]->fields[k].key, key))
                return true;
        }
    }
    return false;
}
