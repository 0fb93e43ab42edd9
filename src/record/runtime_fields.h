/*
 * runtime_fields - what the records of a runtime trace must hold, and their fields as JSON.
 *
 *   runtime_record record = {RUNTIME_RECORD_TENSOR, .as.tensor = tensor};
 *   code = runtime_check(&record, reterr);
 *   ...
 *   runtime_put(&record, to);                   "event_id":"a","shape":[2,3],...
 *
 * Nothing here knows of files, threads, or which ids were used. A check says which field is
 * missing or contradicts another; a put wants a record that was checked, and begins behind `{`,
 * `,` or a field.
 */
#ifndef CG_RECORD_RUNTIME_FIELDS_H
#define CG_RECORD_RUNTIME_FIELDS_H

#include "candlegraph/runtime.h"
#include "record/json.h"

#define RUNTIME_TRY(call)                                                                          \
    do {                                                                                           \
        cg_code code_ = (call);                                                                    \
        if (code_ != CG_OK) {                                                                      \
            return code_;                                                                          \
        }                                                                                          \
    } while (0)

/* In the order of their lists in a document. */
typedef enum runtime_kind {
    RUNTIME_RECORD_TENSOR,
    RUNTIME_RECORD_OPERATION,
    RUNTIME_RECORD_GRADIENT,
    RUNTIME_RECORD_VALUE,
    RUNTIME_RECORD_EDGE,
    RUNTIME_RECORD_KINDS
} runtime_kind;

typedef struct runtime_record {
    runtime_kind kind;
    union {
        const cg_runtime_tensor *tensor;
        const cg_runtime_operation *operation;
        const cg_runtime_gradient *gradient;
        const cg_runtime_value *value;
        const cg_runtime_edge *edge;
    } as;
} runtime_record;

/* CG_USAGE: NULL, of another version of the header, or a field that is missing or wrong. */
cg_code runtime_check(const runtime_record *record, cg_err *reterr) CG_MUST;
/* Of an operation that is about to begin: what there must be then. */
cg_code runtime_check_begin(const char *static_id, const char *op, const char *const *inputs,
                            size_t input_count, cg_err *reterr) CG_MUST;
/* Of an edge without a record. */
cg_code runtime_check_ends(const char *from_static_id, const char *to_static_id,
                           cg_err *reterr) CG_MUST;
cg_code runtime_check_run(const cg_runtime_run *run, uint32_t form, cg_err *reterr) CG_MUST;

/* Of a record that was checked; may be NULL still. */
const char *runtime_event_id(const runtime_record *record);
/* Its fields. */
void runtime_put(const runtime_record *record, rec_text *to);
/* What a line of this kind begins with, and the list of a document. */
void runtime_put_kind(runtime_kind kind, rec_text *to);
void runtime_put_list(runtime_kind kind, rec_text *to);
/* The first line whole but for its end, or the document up to the first list. */
void runtime_put_head(const cg_runtime_run *run, bool is_document, rec_text *to);

#endif
