/*
 * records - one example of every record, in the writer's own spelling: with every field, and with
 * what must be there. For tests that walk over all tables.
 */
#ifndef CG_TESTS_SUPPORT_RECORDS_H
#define CG_TESTS_SUPPORT_RECORDS_H

#include "base/buf.h"
#include "schema/trace_schema.h"

typedef struct record_example {
    const sc_table *table;
    const char *full;  /* every field set; written again to the same bytes */
    const char *least; /* required fields only */
    const char *again; /* what is written for `least`: defaults appear */
} record_example;

/* ' stands for " in all texts: use record_text. */
extern const record_example record_examples[RECORD_COUNT];

/* `text` with " for ', into `out`. */
void record_text(buf *out, const char *text);
/* A sink that appends to the buf in `context`. */
cg_code record_sink(void *context, const char *bytes, size_t count);

#endif
