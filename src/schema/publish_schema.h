/*
 * publish_schema - the documents of published bundles as C structures and
 * tables, expanded from publish.def: doc_bundle, table_bundle ...
 */
#ifndef CG_SCHEMA_PUBLISH_SCHEMA_H
#define CG_SCHEMA_PUBLISH_SCHEMA_H

#include "schema/evidence_schema.h"
#include "schema/publish.def"

enum bundle_member {
#define X(name, path) MEMBER_##name,
    BUNDLE_MEMBERS(X)
#undef X
        MEMBER_COUNT
};

/* Path of a member inside a bundle. */
cg_str bundle_member_path(enum bundle_member member);

enum {
#define W(name, word) PUBLICATION_##name,
    PUBLICATION_STATUS_WORDS(W)
#undef W
};
enum {
#define W(name, word) SEMANTIC_##name,
    SEMANTIC_STATUS_WORDS(W)
#undef W
};

#define X(prefix, name, text) extern const sc_words words_##name;
PUBLISH_WORDS(X)
#undef X

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, doc_##name)                                                         \
    extern const sc_table table_##name;
PUBLISH_TABLES(X)
#undef X

enum evidence_part {
#define X(name, key, inner) PART_##name,
    EVIDENCE_PARTS(X)
#undef X
        PART_COUNT
};

typedef struct evidence_part_row {
    cg_str key;
    cg_str inner; /* key inside `graph`, empty for a part of the packet itself */
} evidence_part_row;
extern const evidence_part_row evidence_part_rows[PART_COUNT];

/* Is the text at `path` wording? `path` as in FREE_TEXTS, with the keys as they are. */
bool evidence_is_free_text(cg_str path);
/* Is there a field of that name in any part of the evidence? Others come from later versions. */
bool evidence_is_field(cg_str key);
/* Are the keys of the object at `path` data? */
bool evidence_is_data_object(cg_str path);

#endif
