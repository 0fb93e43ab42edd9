/*
 * viewer_schema - the island of a run's page as C structures and tables,
 * expanded from viewer.def: doc_viewer, table_viewer ...
 */
#ifndef CG_SCHEMA_VIEWER_SCHEMA_H
#define CG_SCHEMA_VIEWER_SCHEMA_H

#include "schema/evidence_schema.h"
#include "schema/viewer.def"

enum viewer_list {
#define X(name, path) VIEWER_LIST_##name,
    VIEWER_LISTS(X)
#undef X
        VIEWER_LIST_COUNT
};

/* Where the list stands in the document. */
cg_str viewer_list_path(enum viewer_list list);

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, doc_##name)                                                         \
    extern const sc_table table_##name;
VIEWER_TABLES(X)
#undef X

#endif
