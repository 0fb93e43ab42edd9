/*
 * recovery_schema - candle-graph/recovery/1 as structures and tables.
 */
#ifndef CG_SCHEMA_RECOVERY_SCHEMA_H
#define CG_SCHEMA_RECOVERY_SCHEMA_H

#include "schema/schema.h"
#include "schema/recovery.def"

#define RECOVERY_SCHEMA "candle-graph/recovery/1"

SC_STRUCT(RECOVERY_CUT_FIELDS, rec_recovery_cut)
SC_STRUCT(RECOVERY_SPAN_FIELDS, rec_recovery_span)
SC_STRUCT(RECOVERY_FIELDS, rec_recovery)

extern const sc_table table_recovery_cut;
extern const sc_table table_recovery_span;
extern const sc_table table_recovery;

#endif
