/*
 * record - the probe: record one selected update or call of a running program.
 *
 *   cg_record_run run;
 *   cg_record *session = NULL;
 *   cg_record_run_training(&run, "app::train", step, "cpu");
 *   if (cg_record_selected(&selector, step)) // when it fails, the program runs unrecorded
 *       (void)cg_record_open("run.jsonl", &run, NULL, &session, &err);
 *
 *   cg_record_name matmul = cg_record_intern(session, "matmul");       // once
 *   cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "update"));
 *   cg_record_span call = cg_record_span_begin(session, matmul, CG_RECORD_OP);
 *   // here the program multiplies
 *   cg_record_span_end(session, call);
 *   cg_record_span_end(session, region);
 *   if (cg_record_finish(session, NULL, &err) != CG_OK) puts(err.text);
 *
 * Every call accepts a NULL session and does nothing then, so a program that is
 * not being recorded runs the same code. No call changes, stops or kills the
 * program: wrong arguments are remembered and returned by cg_record_finish,
 * the record they came with is left out and counted. Calls block only where
 * CG_RECORD_WAIT was chosen and the thread's ring is full.
 *
 * Threads: any number of threads record into one session, without a lock. Each
 * has a stack of open spans of its own; the first one stands on the root span,
 * or on the span given to cg_record_span_begin_under. Opening, interning,
 * flushing and finishing take a lock. After cg_record_finish the session is
 * gone; a thread that still records into it is ignored.
 *
 * A killed process: what was recorded before the last instruction is in
 * `PATH.spool`; `candle-graph recover` makes a failed capture of it.
 * No signal handler is installed. After fork() the child's records are ignored
 * and cg_record_finish in the child only answers CG_USAGE; the parent goes on.
 *
 * CG_RECORD_OFF, defined before this header, turns every call into nothing.
 */
#ifndef CANDLEGRAPH_RECORD_H
#define CANDLEGRAPH_RECORD_H

#include "candlegraph/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- words ------------------------------------------------------------- */

/* Phase: what kind of call is recorded. */
enum { CG_RECORD_TRAIN = 0, CG_RECORD_INFER = 1 };
/* Timing mode: do host times include waiting for the device? */
enum { CG_RECORD_HOST = 0, CG_RECORD_DEVICE_SYNCHRONIZED = 1 };
/* Coverage level: how much of a plane is recorded. */
enum { CG_RECORD_NONE = 0, CG_RECORD_PARTIAL = 1, CG_RECORD_COMPLETE = 2 };
/* Span kind: what a span stands for. */
enum { CG_RECORD_FUNCTION = 0, CG_RECORD_OP = 1, CG_RECORD_MODULE = 2 };
/* Step of a span: its part of a training step. */
enum {
    CG_RECORD_NO_STEP = 0,
    CG_RECORD_FORWARD = 1,
    CG_RECORD_BACKWARD = 2,
    CG_RECORD_OPTIMIZER = 3
};
/* Measurement scope: how close the recorded work is to production. */
enum {
    CG_RECORD_SCOPE_UNKNOWN = 0,
    CG_RECORD_PROFILED_WORK = 1,
    CG_RECORD_PRODUCTION_EQUIVALENT = 2
};
/* Category: what a tensor is for. */
enum {
    CG_RECORD_OTHER = 0,
    CG_RECORD_PARAMETER = 1,
    CG_RECORD_ACTIVATION = 2,
    CG_RECORD_GRADIENT = 3,
    CG_RECORD_OPTIMIZER_STATE = 4
};
/* State of a gradient after the backward pass. */
enum { CG_RECORD_PRESENT = 0, CG_RECORD_MISSING = 1, CG_RECORD_ZERO = 2, CG_RECORD_NON_FINITE = 3 };
/* Expectation of a family: its gradients must, must not, or may be there. */
enum { CG_RECORD_ACTIVE = 0, CG_RECORD_INACTIVE = 1, CG_RECORD_DATA_CONDITIONAL = 2 };
/* What a thread does when its ring is full. */
enum { CG_RECORD_WAIT = 0, CG_RECORD_DROP = 1 };
/* Element types of a tensor view. */
enum {
    CG_RECORD_F32 = 0,
    CG_RECORD_F64,
    CG_RECORD_F16,
    CG_RECORD_BF16,
    CG_RECORD_I8,
    CG_RECORD_U8,
    CG_RECORD_I16,
    CG_RECORD_U16,
    CG_RECORD_I32,
    CG_RECORD_U32,
    CG_RECORD_I64,
    CG_RECORD_U64,
    CG_RECORD_BOOL
};

/* The schema of the traces that are written. */
#define CG_RECORD_TRACE_SCHEMA "candle-graph/trace/10"
/* The schema of the text that the digest of a gradient manifest is made of. */
#define CG_RECORD_GRADIENT_MANIFEST_SCHEMA "candle-graph/gradient-manifest/1"

/* ---- values ------------------------------------------------------------ */

typedef struct cg_record cg_record; /* a session */

/* Interned text of one session. 0 is no text. */
typedef uint32_t cg_record_name;
/* Interned shape, element type and device of one session. 0 is none. */
typedef uint32_t cg_record_layout;
/* A reading of the counter the recorder uses. 0 is none. */
typedef uint64_t cg_record_time;
/*
 * Identity of a tensor or a storage: any number below 2^63 (an address, a serial number), or
 * what cg_record_text_id made of a text. 0 is none.
 */
typedef uint64_t cg_record_id;

/* An open or closed span: a value, to be copied and handed to other threads freely. */
typedef struct cg_record_span {
    uint64_t reference; /* 0 = none */
    uint32_t session;   /* which session it belongs to; the others ignore it */
    uint32_t reserved;  /* 0 */
} cg_record_span;

/* Most invocations are not recorded; theirs is the path without a jump. */
#if defined(__GNUC__)
#define CG_RECORD_RARELY(condition) __builtin_expect(condition, 0)
#else
#define CG_RECORD_RARELY(condition) (condition)
#endif

/* Whether an invocation is the selected one: one comparison. */
typedef struct cg_record_selector {
    uint64_t invocation; /* one-based, 0 = never */
} cg_record_selector;

/* Is `invocation`, counted from 1, the selected one? */
static inline bool cg_record_selected(const cg_record_selector *selector, uint64_t invocation)
{
    return CG_RECORD_RARELY(selector->invocation == invocation) && selector->invocation != 0;
}

/* ---- description of the run -------------------------------------------- */

/* A parameter whose gradient is owed: root (its set of parameters), key in it, family. */
typedef struct cg_record_gradient_entry {
    const char *root, *key, *family;
} cg_record_gradient_entry;

/* What is expected of the parameters of one family. */
typedef struct cg_record_family {
    const char *family;   /* its name, as in the entries */
    uint32_t expectation; /* CG_RECORD_ACTIVE ... */
    uint64_t min_present; /* so many gradients at least */
} cg_record_family;

/* The exact manifest: which gradients are owed. The digest is computed. */
typedef struct cg_record_gradients {
    const cg_record_gradient_entry *expected; /* each root and key once; their order counts */
    size_t expected_count;
    const cg_record_family *families; /* every family of an entry, once */
    size_t family_count;
} cg_record_gradients;

/* What the capture promises to hold. Zeroed, with `size` set: nothing is promised. */
typedef struct cg_record_contract {
    uint32_t size;                           /* sizeof(cg_record_contract) of the caller */
    uint32_t measurement_scope;              /* CG_RECORD_SCOPE_UNKNOWN ... */
    uint32_t operations, tensors, gradients; /* CG_RECORD_NONE ... */
    uint32_t logical_memory, physical_memory, device_timing; /* CG_RECORD_NONE ... */
    const cg_record_gradients *gradient_manifest; /* with gradients == CG_RECORD_COMPLETE, only */
    const char *const *required_labels;           /* span names that must occur */
    size_t required_label_count;
    const char *const *gpu_labels; /* those of them that run on a device */
    size_t gpu_label_count;
    const char *const *cpu_labels; /* those that do not; together they are all of them, or none */
    size_t cpu_label_count;
} cg_record_contract;

/* What makes runs comparable. implementation_id and pair_id may be NULL. */
typedef struct cg_record_identity {
    uint32_t size;                 /* sizeof(cg_record_identity) of the caller */
    const char *implementation_id; /* what may differ between runs that are compared */
    /* The task, the model, its configuration, the data, how randomness was fixed. */
    const char *workload_id, *model_id, *config_id, *data_id, *seed_policy;
    uint64_t physical_batch;     /* samples of one call */
    uint64_t accumulation_steps; /* calls of one update */
    const char *precision;       /* the arithmetic */
    const char *device_state;    /* clocks, power, temperature, as far as they were controlled */
    const char *pair_id;         /* names the two runs of a pair */
} cg_record_identity;

/* A text of the program's own, kept with the trace. */
typedef struct cg_record_tag {
    const char *key, *value; /* keys `candle-graph.…` are the recorder's own */
} cg_record_tag;

/*
 * One update or call that will be recorded. Fill it with cg_record_run_training or
 * cg_record_run_inference, then change what is special. Borrowed while cg_record_open runs.
 */
typedef struct cg_record_run {
    uint32_t size;               /* sizeof(cg_record_run) of the caller */
    uint32_t phase;              /* CG_RECORD_TRAIN or CG_RECORD_INFER */
    const char *entrypoint;      /* the function that is observed */
    const char *run_id;          /* NULL: run-PID-NANOSECONDS */
    const char *correlation_id;  /* NULL: ENTRYPOINT/update-STEP or ENTRYPOINT/inference-STEP */
    const char *device;          /* `cpu`, `cuda:0`, `metal:0`, or free text */
    uint64_t capture_step;       /* which update or call, from 1 */
    uint64_t warmup_steps;       /* how many came before it; below capture_step */
    uint32_t timing_mode;        /* CG_RECORD_HOST or CG_RECORD_DEVICE_SYNCHRONIZED */
    bool is_device_synchronized; /* the measured region waits for its device */
    const cg_record_contract *contract; /* NULL: nothing is promised */
    const cg_record_identity *identity; /* NULL: none */
    const cg_record_tag *tags;          /* each key once */
    size_t tag_count;
} cg_record_run;

/* How to record; zeroed, with `size` set, as good as NULL. */
typedef struct cg_record_options {
    uint32_t size;       /* sizeof(cg_record_options) of the caller */
    uint32_t full_ring;  /* CG_RECORD_WAIT or CG_RECORD_DROP */
    uint32_t ring_bytes; /* of each thread; rounded up to a power of two, 0 = 2 MiB */
} cg_record_options;

/* What cg_record_finish wrote. */
typedef struct cg_record_result {
    uint32_t size;         /* sizeof(cg_record_result) of the caller */
    bool is_complete;      /* the terminal says `complete` */
    uint64_t records;      /* lines of the trace */
    uint64_t spans;        /* spans that were begun */
    uint64_t dropped;      /* records a full ring refused */
    uint64_t refused;      /* records left out because of their arguments */
    uint64_t out_of_order; /* spans whose end came after their parent's */
} cg_record_result;

/* ---- arguments of records ---------------------------------------------- */

/* One call that made a tensor. `size`, here and below: sizeof of the structure, of the caller. */
typedef struct cg_record_op_args {
    uint32_t size;
    cg_record_name name;        /* what was computed */
    cg_record_layout layout;    /* of the output */
    uint32_t input_count;       /* at most 255 */
    const cg_record_id *inputs; /* tensors */
    cg_record_id output;        /* a tensor; 0: none */
    uint64_t duration_ns;       /* with start: it ran from there on; without: it ended now */
    cg_record_time start;       /* a reading; without a duration: it ran from there until now */
    uint64_t input_dense_bytes; /* of all inputs together, when they are dense */
} cg_record_op_args;

/* A tensor that was seen. */
typedef struct cg_record_tensor_args {
    uint32_t size;
    cg_record_name label;    /* of the observation, not of the tensor; 0: none */
    cg_record_id id;         /* which tensor */
    cg_record_layout layout; /* its shape, element type and device */
    uint32_t category;       /* CG_RECORD_OTHER ... */
    bool is_grad_required;   /* it takes part in differentiation */
} cg_record_tensor_args;

/* A strided view of host memory. Strides count elements; NULL: contiguous, last axis fastest. */
typedef struct cg_record_view {
    uint32_t size;
    uint32_t type;          /* CG_RECORD_F32 ... */
    const void *data;       /* the element at index 0 of every axis */
    uint32_t rank;          /* at most 64 */
    const uint64_t *shape;  /* `rank` axes */
    const int64_t *strides; /* `rank` of them, or NULL */
} cg_record_view;

/* What is known of the elements of a tensor. */
typedef struct cg_record_stats {
    uint64_t elements;         /* product of the axes */
    uint64_t non_finite;       /* NaN or infinite ones */
    double rms, abs_max, mean; /* 0 when anything is not finite */
} cg_record_stats;

/* A block of logical storage that is taken or given back. */
typedef struct cg_record_memory_args {
    uint32_t size;
    uint32_t category;       /* CG_RECORD_OTHER ... */
    cg_record_id storage;    /* the block */
    cg_record_id tensor;     /* for which tensor */
    uint64_t bytes;          /* size of the block */
    cg_record_layout layout; /* of the tensor; its device is where the block lies */
    cg_record_name op_name;  /* by which operation; 0: none */
    cg_record_time time;     /* 0: now */
} cg_record_memory_args;

/* What a device said about its memory. */
typedef struct cg_record_device_memory_args {
    uint32_t size;
    cg_record_name device;                               /* which device */
    bool has_used, has_free, has_reserved, has_capacity; /* at least one */
    uint64_t used_bytes, free_bytes;                     /* in use, and not */
    uint64_t reserved_bytes, capacity_bytes;             /* held by the allocator; all there is */
    cg_record_time time;                                 /* 0: now */
} cg_record_device_memory_args;

/* An interval on a device clock, which has nothing to do with the host's. */
typedef struct cg_record_device_interval_args {
    uint32_t size;
    cg_record_name device, stream; /* which device, which of its queues */
    cg_record_name clock;          /* of start_ns; times of different clocks are not compared */
    cg_record_name backend;        /* who measured */
    uint64_t start_ns;             /* on that clock */
    uint64_t duration_ns;          /* on that clock, not 0 */
} cg_record_device_interval_args;

/* ---- calls -------------------------------------------------------------- */

#ifndef CG_RECORD_OFF
#define CG_RECORD_DOES(name, parameters)                 CG_API void name parameters;
#define CG_RECORD_GIVES(type, name, parameters, nothing) CG_API type name parameters;
#else
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define CG_RECORD_DOES(name, parameters)                                                           \
    static inline void name parameters                                                             \
    {                                                                                              \
    }
#define CG_RECORD_GIVES(type, name, parameters, nothing)                                           \
    static inline type name parameters                                                             \
    {                                                                                              \
        type none = nothing;                                                                       \
        return none;                                                                               \
    }
#endif
#define CG_RECORD_NO_SPAN {0, 0, 0}

/*
 * Fill `run` for update `step` (from 1) of a training; those before it count as warm-up, nothing is
 * promised. The texts are borrowed. Never fails.
 */
CG_RECORD_DOES(cg_record_run_training,
               (cg_record_run * run, const char *entrypoint, uint64_t step, const char *device))
/* Fill `run` for call `step` of something that trains nothing; else as cg_record_run_training. */
CG_RECORD_DOES(cg_record_run_inference,
               (cg_record_run * run, const char *entrypoint, uint64_t step, const char *device))
/* Timing mode device_synchronized and the flag of the measured region. */
CG_RECORD_DOES(cg_record_run_synchronized, (cg_record_run * run))
/* False, and a selector that never fires, for invocation 0. */
CG_RECORD_GIVES(bool, cg_record_select, (cg_record_selector * selector, uint64_t invocation), false)

/*
 * Words as people write them (`training`, `eval`, `fwd`, `backprop`, `optim` …), in any case.
 * False: neither a phase nor a part of a step. What the word does not name is left as it is.
 */
CG_RECORD_GIVES(bool, cg_record_parse_phase, (const char *word, uint32_t *phase, uint32_t *step),
                false)
/* `f32` and so on for an element type, NULL for none. */
CG_RECORD_GIVES(const char *, cg_record_type_name, (uint32_t type), NULL)
/* Product of the axes times the size of an element, saturating; false: dtype not known. */
CG_RECORD_GIVES(bool, cg_record_dense_bytes,
                (const char *dtype, const uint64_t *shape, uint32_t rank, uint64_t *ret), false)
/* Parameters are parameters; else what the part of the step makes of a tensor. */
CG_RECORD_GIVES(uint32_t, cg_record_category_of, (uint32_t step, bool is_parameter), 0)

/*
 * Open a session that will write `path`. Missing parent folders are made, `path.spool` is
 * created beside it; `path` itself appears whole at finish. CG_USAGE: the description breaks a
 * rule of the format, nothing was created. CG_OUTPUT, CG_NOMEM. *ret is NULL on failure.
 */
CG_RECORD_GIVES(cg_code, cg_record_open,
                (const char *path, const cg_record_run *run, const cg_record_options *options,
                 cg_record **ret, cg_err *reterr),
                CG_OK)
/*
 * Write the trace, fsync it, put it in place, remove the spool. The session is gone in any case.
 * CG_USAGE: a span is still open (the trace is then a failed capture), or an argument was wrong
 * (the trace is complete but for the records left out). CG_OUTPUT: the trace could not be written;
 * the spool stays and can be recovered. `ret` may be NULL.
 */
CG_RECORD_GIVES(cg_code, cg_record_finish,
                (cg_record * session, cg_record_result *ret, cg_err *reterr), CG_OK)
/* As cg_record_finish, for a run that failed: open spans stay open. A blank reason becomes a stated
   one. */
CG_RECORD_GIVES(cg_code, cg_record_finish_failed,
                (cg_record * session, const char *reason, cg_record_result *ret, cg_err *reterr),
                CG_OK)
/* Everything recorded so far into the spool, and fsync. */
CG_RECORD_GIVES(cg_code, cg_record_flush, (cg_record * session, cg_err *reterr), CG_OK)

/* The counter now. */
CG_RECORD_GIVES(cg_record_time, cg_record_now, (const cg_record *session), 0)
/* Nanoseconds since the session began. */
CG_RECORD_GIVES(uint64_t, cg_record_elapsed_ns, (const cg_record *session), 0)
/* What the counter read when CLOCK_MONOTONIC said `monotonic_ns`, not before the session began. */
CG_RECORD_GIVES(cg_record_time, cg_record_time_of,
                (const cg_record *session, uint64_t monotonic_ns), 0)
/* What it read so many nanoseconds after the session began. */
CG_RECORD_GIVES(cg_record_time, cg_record_time_at, (const cg_record *session, uint64_t elapsed_ns),
                0)

/* The number of a text (at most 8 KiB); equal texts have the same one. 0: it was refused. */
CG_RECORD_GIVES(cg_record_name, cg_record_intern, (cg_record * session, const char *text), 0)
/* As cg_record_intern, for a text that does not end with a NUL. */
CG_RECORD_GIVES(cg_record_name, cg_record_intern_str, (cg_record * session, cg_str text), 0)
/* The number of an element type, a device and a shape of `rank` axes. 0: it was refused. */
CG_RECORD_GIVES(cg_record_layout, cg_record_intern_layout,
                (cg_record * session, const char *dtype, const char *device, const uint64_t *shape,
                 uint32_t rank),
                0)
/* A tensor or a storage that a text names. */
CG_RECORD_GIVES(cg_record_id, cg_record_text_id, (cg_record * session, const char *text), 0)

/* The root span, which begins and ends with the session. */
CG_RECORD_GIVES(cg_record_span, cg_record_root, (const cg_record *session), CG_RECORD_NO_SPAN)
/* The innermost open span of this thread, the root when there is none. */
CG_RECORD_GIVES(cg_record_span, cg_record_current, (cg_record * session), CG_RECORD_NO_SPAN)
/*
 * A span that another thread began may be the parent here; it becomes the base of this thread's
 * stack while the new span is open.
 */
CG_RECORD_GIVES(cg_record_span, cg_record_span_begin_under,
                (cg_record * session, cg_record_span parent, cg_record_name name, uint32_t kind,
                 uint32_t step),
                CG_RECORD_NO_SPAN)
/* Concurrent work that is over; parent none: the root. start < end <= now. */
CG_RECORD_DOES(cg_record_span_completed,
               (cg_record * session, cg_record_span parent, cg_record_name name, uint32_t kind,
                cg_record_time start, cg_record_time end))

/* The reduction alone: f64 with scaling; non-finite elements are counted on the original type. */
CG_RECORD_GIVES(bool, cg_record_reduce, (const cg_record_view *view, cg_record_stats *ret), false)
/* Statistics of a view, reduced here and now. `label` must not be blank. */
CG_RECORD_DOES(cg_record_tensor_stats, (cg_record * session, cg_record_span span,
                                        cg_record_name label, const cg_record_view *view))
/* Statistics that were reduced elsewhere, on a device for example. `label` must not be blank. */
CG_RECORD_DOES(cg_record_tensor_stats_of,
               (cg_record * session, cg_record_span span, cg_record_name label,
                cg_record_layout layout, const cg_record_stats *stats))
/* A block of storage was taken, in the span. */
CG_RECORD_DOES(cg_record_memory_alloc,
               (cg_record * session, cg_record_span span, const cg_record_memory_args *args))
/* A block of storage was given back; storage, tensor and bytes as they were when it was taken. */
CG_RECORD_DOES(cg_record_memory_free,
               (cg_record * session, cg_record_span span, const cg_record_memory_args *args))
/* A reading of a device's own account of its memory. */
CG_RECORD_DOES(cg_record_device_memory,
               (cg_record * session, const cg_record_device_memory_args *args))
/* An interval the device was busy for what the span caused. */
CG_RECORD_DOES(cg_record_device_interval, (cg_record * session, cg_record_span span,
                                           const cg_record_device_interval_args *args))
/* `norm` counts for CG_RECORD_PRESENT (finite, above 0) only; give 0 otherwise. */
CG_RECORD_DOES(cg_record_gradient, (cg_record * session, cg_record_name root, cg_record_name key,
                                    uint32_t state, double norm))
/* State and L2 norm from a view; a NULL view is a missing gradient. */
CG_RECORD_DOES(cg_record_gradient_view, (cg_record * session, cg_record_name root,
                                         cg_record_name key, const cg_record_view *view))
/* All gradients of a manifest in its order: views[i] belongs to expected[i], NULL is missing. */
CG_RECORD_DOES(cg_record_gradient_manifest,
               (cg_record * session, const cg_record_gradients *manifest,
                const cg_record_view *const *views))
/* `from` is the parent of `to`; the duration written is that of `to`. */
CG_RECORD_DOES(cg_record_call_edge, (cg_record * session, cg_record_span from, cg_record_span to))
/* Both must be tensors of this trace: recorded, or input or output of an operation. */
CG_RECORD_DOES(cg_record_data_edge, (cg_record * session, cg_record_id from, cg_record_id to))

/* The hot calls; a NULL session costs one comparison. */
#ifndef CG_RECORD_OFF
#define CG_RECORD_WHEN(session, name, parameters, arguments)                                       \
    CG_API void name##_on parameters;                                                              \
    static inline void name parameters                                                             \
    {                                                                                              \
        if (CG_RECORD_RARELY(session != NULL)) {                                                   \
            name##_on arguments;                                                                   \
        }                                                                                          \
    }
#define CG_RECORD_BEGINS(name, parameters, flags, label)                                           \
    static inline cg_record_span name parameters                                                   \
    {                                                                                              \
        cg_record_span none = CG_RECORD_NO_SPAN;                                                   \
        return CG_RECORD_RARELY(session != NULL) ? cg_record_begin_on(session, label, flags)       \
                                                 : none;                                           \
    }
/* kind | step << 2 | measured << 4 */
CG_API cg_record_span cg_record_begin_on(cg_record *session, cg_record_name name, uint32_t what);
#else
#define CG_RECORD_WHEN(session, name, parameters, arguments) CG_RECORD_DOES(name, parameters)
#define CG_RECORD_BEGINS(name, parameters, flags, label)                                           \
    CG_RECORD_GIVES(cg_record_span, name, parameters, CG_RECORD_NO_SPAN)
#endif

/* Begin a span inside the innermost open one of this thread. */
CG_RECORD_BEGINS(cg_record_span_begin, (cg_record * session, cg_record_name name, uint32_t kind),
                 kind & 3u, name)
/* Begin a span that is a part of a training step: CG_RECORD_FORWARD, _BACKWARD or _OPTIMIZER. */
CG_RECORD_BEGINS(cg_record_step_begin,
                 (cg_record * session, cg_record_name name, uint32_t step, uint32_t kind),
                 (kind & 3u) | (step & 3u) << 2, name)
/* The measured region; a complete capture has exactly one. */
CG_RECORD_BEGINS(cg_record_measure_begin, (cg_record * session, cg_record_name name), 1u << 4, name)
/*
 * End a span, on any thread. Spans still open inside it end with it and are counted as out of
 * order when their own end comes; a span ends once.
 */
CG_RECORD_WHEN(session, cg_record_span_end, (cg_record * session, cg_record_span span),
               (session, span))
/* An operation that was called in the span; `args` need not outlive the call. */
CG_RECORD_WHEN(session, cg_record_op,
               (cg_record * session, cg_record_span span, const cg_record_op_args *args),
               (session, span, args))
/* A tensor that was seen in the span; `args` need not outlive the call. */
CG_RECORD_WHEN(session, cg_record_tensor,
               (cg_record * session, cg_record_span span, const cg_record_tensor_args *args),
               (session, span, args))
/* `label` must not be blank. A value that is not finite is recorded as such. */
CG_RECORD_WHEN(session, cg_record_scalar,
               (cg_record * session, cg_record_span span, cg_record_name label, double value),
               (session, span, label, value))

/* ---- afterwards ---------------------------------------------------------- */

/* A span that was open when the process died. */
typedef struct cg_record_open_span {
    uint64_t number;   /* its id is `s` and this number */
    uint64_t start_ns; /* since the session began */
    cg_str name;       /* borrowed from the account */
} cg_record_open_span;

/* The account of a recovery. Zero it, set `size`; release it with cg_record_recovery_free. */
typedef struct cg_record_recovery {
    uint32_t size;              /* sizeof(cg_record_recovery) of the caller */
    uint64_t records_recovered; /* complete records, meta included, the added terminal not */
    uint64_t records_dropped;   /* that a full ring had dropped */
    uint64_t records_refused;   /* that had been left out because of their arguments */
    bool is_cut;                /* an incomplete part was left out: */
    /* where it began, counted from line 1 and from byte 0, and how long it was. */
    uint64_t cut_line, cut_offset, cut_bytes;
    cg_record_open_span *open_spans; /* the root first, then in order of start */
    size_t open_span_count;
    char *reason; /* the terminal's text */
    void *memory; /* the library's */
} cg_record_recovery;

/*
 * Turn the spool of a dead process into a failed capture at `output`.
 * CG_NOT_FOUND, CG_INPUT (no spool, damaged, or its process still records), CG_OUTPUT, CG_NOMEM.
 */
CG_RECORD_GIVES(cg_code, cg_record_recover,
                (const char *spool, const char *output, cg_record_recovery *ret, cg_err *reterr),
                CG_OK)
/* Release what the account holds, and zero it. */
CG_RECORD_DOES(cg_record_recovery_free, (cg_record_recovery * recovery))

#if defined(CG_RECORD_OFF) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif
