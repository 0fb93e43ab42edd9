/*
 * runtime_schema - candle-graph/runtime as structures and tables, expanded from runtime.def.
 *
 * A record is one structure, rec_runtime_tensor, whichever form it came in: table_runtime_tensor
 * is that of documents, table_runtime_tensor_line that of lines, with `kind` in front.
 */
#ifndef CG_SCHEMA_RUNTIME_SCHEMA_H
#define CG_SCHEMA_RUNTIME_SCHEMA_H

#include "schema/runtime.def"
#include "schema/schema.h"
#include "schema/trace_schema.h"

SC_STRUCT(RUNTIME_META_FIELDS, rec_runtime_meta)
#define X(prefix, name, tag, list) SC_STRUCT(prefix##_LINE_FIELDS, rec_##name)
RUNTIME_RECORDS(X)
#undef X
SC_STRUCT(RUNTIME_DOC_FIELDS, rec_runtime_doc)

#define X(prefix, name, tag) extern const sc_table table_##name;
RUNTIME_TABLES(X)
#undef X

enum runtime_record {
#define X(prefix, name, tag, list) RECORD_##prefix,
    RUNTIME_RECORDS(X)
#undef X
        RUNTIME_RECORD_COUNT
};

/* Is it one of the three? */
bool runtime_schema_is_known(cg_str schema);

#endif
