/*
 * health - is this trace fit to draw conclusions from?
 *
 * Input is a parsed trace and its replayed memory; output is a verdict and an
 * ordered list of issues. The verdict is a pure function of the trace.
 * Issues are small rows; their text is made when it is asked for, so that a
 * trace with a million faults costs twenty bytes each.
 */
#ifndef CG_EXEC_HEALTH_H
#define CG_EXEC_HEALTH_H

#include "exec/memory.h"

/* code word of the wire; order of the table is free. */
enum health_code {
#define HEALTH(name, word, severity, title, mend) HEALTH_##name,
#include "exec/health.def"
#undef HEALTH
    HEALTH_CODE_COUNT
};

/* Members of the gradient families, kept only when a family is at fault. */
typedef struct health_families {
    VEC(uint32_t) entries;  /* manifest entries, family by family in declared order */
    VEC(uint32_t) entry_at; /* by family: its first in `entries`, and one more */
    VEC(uint8_t) states;    /* by manifest entry: GRADIENT_STATE_, HEALTH_NOT_RECORDED */
} health_families;

#define HEALTH_NOT_RECORDED UINT8_MAX

typedef struct health_issue {
    uint8_t code;  /* health_code */
    bool is_error; /* else a warning */
    uint8_t what;  /* private to health: a detail of the code */
    uint32_t a, b; /* private to health: rows of the trace or counts, by code */
} health_issue;

enum health_counter {
    COVERAGE_SPANS,
    COVERAGE_CLOSED_SPANS,
    COVERAGE_ROOT_SPANS,
    COVERAGE_MEASURED_SPANS,
    COVERAGE_OPERATIONS,
    COVERAGE_TENSORS,
    COVERAGE_MEMORY_EVENTS,
    COVERAGE_DEVICE_MEMORY_SAMPLES,
    COVERAGE_DEVICE_INTERVALS,
    COVERAGE_GRADIENTS,
    COVERAGE_CALL_EDGES,
    COVERAGE_DATA_EDGES,
    COVERAGE_FORWARD_SPANS,
    COVERAGE_BACKWARD_SPANS,
    COVERAGE_OPTIMIZER_SPANS,
    COVERAGE_COUNT
};

typedef struct health_report {
    const trace_doc *trace;
    heap *heap;
    bool is_valid;    /* no error */
    bool is_complete; /* terminal outcome complete */
    uint64_t error_count;
    uint64_t warning_count;
    VEC(health_issue) issues; /* in the order of docs/schemas/evidence.md, health */
    uint64_t coverage[COVERAGE_COUNT];
    /* What capabilities need to know. */
    bool is_gradient_contract_valid; /* contract present and well formed, digest included */
    bool has_gradient_error;
    bool has_gradient_warning;
    bool has_other_error;      /* an error that is not of the gradients */
    uint64_t absent_gradients; /* declared, and at fault for not being recorded or present */
    bool are_labels_exact;     /* required labels unique, each naming exactly one span */
    uint32_t measured_span;    /* index of the single measured span, TRACE_NONE otherwise */
    uint32_t closed_measured_count;
    arena texts;              /* private: what is wrong with the gradient contract */
    cg_str contract_problem;  /* private */
    health_families families; /* private */
} health_report;

/* O(n log n), no recursion. Fails with CG_NOMEM or CG_LIMIT only. */
cg_code health_check(heap *from, const trace_doc *trace, const memory_plane *memory,
                     health_report *ret, cg_err *reterr) CG_MUST;
void health_free(health_report *report);

cg_str health_code_word(uint8_t code);

enum health_severity { HEALTH_ERROR, HEALTH_WARNING, HEALTH_EITHER };

/* What is known about every issue of a code. */
typedef struct health_row {
    cg_str word;
    uint8_t severity; /* HEALTH_EITHER: an error of a complete capture, a warning of a failed one */
    cg_str title;
    cg_str mend; /* what to do */
} health_row;

extern const health_row health_rows[HEALTH_CODE_COUNT];

/* The row of a code, or NULL. */
const health_row *health_row_find(cg_str word);

/*
 * Append the message of an issue. Text from the trace stays raw: escape it for
 * its destination. A gradient family message names the family and the first 20
 * keys at fault with their state, and nothing that is in order.
 */
void health_message(const health_report *report, const health_issue *issue, buf *out);
/* The same for people: no more than `most` keys are named. */
void health_message_short(const health_report *report, const health_issue *issue, uint64_t most,
                          buf *out);

#endif
