/*
 * findings_schema - findings/1, explain/1, SARIF and the lines of cargo as
 * structures and tables, expanded from findings.def.
 */
#ifndef CG_SCHEMA_FINDINGS_SCHEMA_H
#define CG_SCHEMA_FINDINGS_SCHEMA_H

#include "schema/findings.def"
#include "schema/model_schema.h"

#define FINDINGS_SCHEMA "candle-graph/findings/1"
#define EXPLAIN_SCHEMA  "candle-graph/explain/1"

/* As MODEL_FINDING_SEVERITY_, in the words of SARIF and cargo. */
enum {
#define W(name, word) SARIF_LEVEL_##name,
    SARIF_LEVEL_WORDS(W)
#undef W
};
extern const sc_words words_sarif_level;

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, name)                                                               \
    extern const sc_table table_##name;
FINDINGS_TABLES(X)
#undef X

#endif
