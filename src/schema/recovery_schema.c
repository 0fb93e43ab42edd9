#include "schema/recovery_schema.h"

#define F SC_FIELD

#define RECORD_TYPE rec_recovery_cut
static const sc_field recovery_cut_fields[] = {RECOVERY_CUT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_recovery_span
static const sc_field recovery_span_fields[] = {RECOVERY_SPAN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_recovery
static const sc_field recovery_fields[] = {RECOVERY_FIELDS(F)};
#undef RECORD_TYPE
#undef F

#define TABLE(name, text)                                                                          \
    const sc_table table_##name = {text,                                                           \
                                   {"", 0},                                                        \
                                   name##_fields,                                                  \
                                   sizeof name##_fields / sizeof name##_fields[0],                 \
                                   sizeof(rec_##name)};
TABLE(recovery_cut, "the record that was cut off")
TABLE(recovery_span, "an open span")
TABLE(recovery, "the account of a recovery")
