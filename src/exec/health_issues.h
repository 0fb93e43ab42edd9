/*
 * health_issues - what all rules of health work on, and how they find fault.
 */
#ifndef CG_EXEC_HEALTH_ISSUES_H
#define CG_EXEC_HEALTH_ISSUES_H

#include "exec/health.h"

/* Rows an issue can point to, where one code serves several kinds (rule 12). */
enum { AT_OPERATION, AT_TENSOR, AT_STATISTICS, AT_MEMORY, AT_INTERVAL };

/* What the run breaks (rule 1), in the order of the check; the text completes "the run ...". */
#define RUN_RULES(R)                                                                               \
    R(RUN_ID, "has a blank run id")                                                                \
    R(CORRELATION_ID, "has a blank correlation id")                                                \
    R(ENTRYPOINT, "has a blank entrypoint")                                                        \
    R(TIMESTAMP, "has a blank timestamp")                                                          \
    R(DEVICE, "has a blank device")                                                                \
    R(CAPTURE_STEP, "has capture step 0, steps count from 1")                                      \
    R(WARMUP, "has as many warm-up steps as capture steps, or more")                               \
    R(WORKLOAD, "has a blank workload id in its comparison identity")                              \
    R(MODEL, "has a blank model id in its comparison identity")                                    \
    R(CONFIG, "has a blank config id in its comparison identity")                                  \
    R(DATA, "has a blank data id in its comparison identity")                                      \
    R(SEED, "has a blank seed policy in its comparison identity")                                  \
    R(PRECISION, "has a blank precision in its comparison identity")                               \
    R(DEVICE_STATE, "has a blank device state in its comparison identity")                         \
    R(IMPLEMENTATION, "has a blank implementation id in its comparison identity")                  \
    R(PAIR, "has a blank pair id in its comparison identity")                                      \
    R(BATCH, "has physical batch 0 in its comparison identity")                                    \
    R(ACCUMULATION, "has 0 accumulation steps in its comparison identity")

enum run_rule {
#define R(name, text) RUN_##name,
    RUN_RULES(R)
#undef R
        RUN_SOUND
};

typedef struct check {
    const trace_doc *trace;
    const memory_plane *memory;
    heap *heap;
    health_report *report;
    bool is_failed;   /* outcome of the capture */
    bool has_room;    /* false once an issue could not be kept */
    uint64_t last_ns; /* latest host evidence */
    intern labels;    /* required and classified labels; few of them need to occur in the trace */
} check;

/* `a` and `b`: what the message needs, by code. Without memory: has_room. */
void health_add_issue(check *self, bool is_error, enum health_code code, uint32_t a, uint32_t b);
void health_error(check *self, enum health_code code, uint32_t a, uint32_t b);
void health_error_at(check *self, enum health_code code, uint8_t what, uint32_t a);
void health_warning(check *self, enum health_code code);
/* An error on a complete capture; what a failed one may well lack. */
void health_by_outcome(check *self, enum health_code code, uint32_t a, uint32_t b);

#endif
