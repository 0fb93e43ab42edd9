/*
 * candlegraph - read a recorded run, qualify it, ask it questions.
 *
 *   cg_env env = {.size = sizeof env};   // with `err` and `sink` explained in base.h
 *   cg_run *run = NULL;
 *   if (cg_run_open(&env, "run.jsonl", &run, &err) != CG_OK ||
 *       cg_write_report(run, sink, &err) != CG_OK)
 *       puts(err.text);
 *   cg_run_free(run);
 *
 * A run is opened once: the trace is read and refused as a whole or analysed
 * as a whole (health, timing, memory, gradients, capabilities, graph). What
 * was not recorded is absent, never zero. Host time, device clocks, logical
 * storage and physical memory are separate planes and never added up.
 *
 * Ownership: a cg_run is owned by the caller; every cg_str read from it
 * borrows from the run. Threads: a run is immutable once open and may be read
 * from several threads; opening needs no lock. Errors: every call that can
 * fail returns a cg_code and fills *reterr (may be NULL). Outputs are written
 * only on success.
 */
#ifndef CANDLEGRAPH_CANDLEGRAPH_H
#define CANDLEGRAPH_CANDLEGRAPH_H

#include "candlegraph/base.h"
#include "candlegraph/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- library ---------------------------------------------------------- */

/* CG_VERSION_TEXT of the library that runs. */
CG_API const char *cg_version(void);
/* Name of a code without its CG_, such as `NOT_FOUND`; static. `UNKNOWN`: there is no such code. */
CG_API const char *cg_code_name(cg_code code);
/* What the command line would exit with; 70 for a number that is no code. */
CG_API int cg_code_exit_status(cg_code code);
/* Every ceiling at its default, and `size` set. */
CG_API void cg_limits_default(cg_limits *ret);
/* Move a ceiling by its option word, such as `spans`. False: no such word, or value 0. */
CG_API bool cg_limits_set(cg_limits *limits, const char *word, uint64_t value);
/* One line, terminated, safe for a terminal: `error[ID]: FILE:LINE: ... ` Returns its length. */
CG_API size_t cg_err_format(const cg_err *err, char *to, size_t room);

/* ---- open ------------------------------------------------------------- */

/* One recorded run, read and analysed; opened below, released with cg_run_free. */
typedef struct cg_run cg_run;

/* What an input is. */
typedef uint32_t cg_input_kind;
enum {
    CG_INPUT_RAW_TRACE = 1, /* a trace file, or a folder with trace.jsonl alone */
    CG_INPUT_BUNDLE = 2,    /* a published bundle */
    CG_INPUT_CRATE = 3,     /* a folder with Cargo.toml or Rust sources */
    CG_INPUT_MODEL = 4,     /* a file with candle-graph/model/1 */
    CG_INPUT_DOCUMENT = 5,  /* a file with comparison/6, series/1, campaign-status/1 or join/1 */
    CG_INPUT_CAMPAIGN = 6   /* the plan of a campaign, campaign/1 */
};

/* What is at `path`? Refuses what is missing or ambiguous, with the reason. */
CG_API cg_code cg_input_kind_of(const cg_env *env, const char *path, cg_input_kind *ret,
                                cg_err *reterr) CG_MUST;

/*
 * Read and analyse the trace at `path` (file, pipe or folder).
 * CG_NOT_FOUND, CG_INPUT, CG_LIMIT, CG_NOMEM, CG_INTERRUPTED.
 */
CG_API cg_code cg_run_open(const cg_env *env, const char *path, cg_run **ret,
                           cg_err *reterr) CG_MUST;
/* As cg_run_open, from bytes in memory; `name` is the path in messages and documents. */
CG_API cg_code cg_run_read(const cg_env *env, const void *bytes, size_t count, const char *name,
                           cg_run **ret, cg_err *reterr) CG_MUST;
/*
 * The trace at `path` with the Nsight exports of a folder; NULL: none. Bad exports become part
 * of the evidence. The path of a bundle is refused: it has its own.
 */
CG_API cg_code cg_run_open_with_nsight(const cg_env *env, const char *path,
                                       const char *nsight_directory, cg_run **ret,
                                       cg_err *reterr) CG_MUST;
/* Release a run, and with it every text that was read from it. NULL is allowed. */
CG_API void cg_run_free(cg_run *run);

/* ---- documents -------------------------------------------------------- */

/* A document for programs, or the same facts for people. */
typedef uint32_t cg_format_kind;
enum { CG_FORMAT_JSON = 0, CG_FORMAT_TEXT = 1 };

/*
 * How a document is written; NULL instead of one: JSON. Every cg_write function that takes one ends
 * the document with a line feed, writes it through `sink` in pieces, and writes nothing when it
 * refuses. Of a run any number of threads may write at once.
 */
typedef struct cg_format {
    uint32_t size;       /* sizeof(cg_format) of the caller */
    cg_format_kind kind; /* JSON or text */
    bool has_color;      /* text: ANSI colours */
    uint32_t width;      /* text: cells of a line, 0 = 100 */
    uint64_t rows;       /* text: rows of a long table, 0 = 20 */
} cg_format;

/* candle-graph/evidence/4: everything that was derived. Text form: the report. */
CG_API cg_code cg_write_evidence(const cg_run *run, const cg_format *format, cg_sink sink,
                                 cg_err *reterr) CG_MUST;
/* candle-graph/summary/5: health, capabilities, findings, planes. */
CG_API cg_code cg_write_summary(const cg_run *run, const cg_format *format, cg_sink sink,
                                cg_err *reterr) CG_MUST;
/* candle-graph/overview/1: the first screen. */
CG_API cg_code cg_write_overview(const cg_run *run, const cg_format *format, cg_sink sink,
                                 cg_err *reterr) CG_MUST;
/* The report as Markdown; text from the trace is escaped. */
CG_API cg_code cg_write_report(const cg_run *run, cg_sink sink, cg_err *reterr) CG_MUST;
/*
 * The run as one HTML file that needs no network, with its data as candle-graph/viewer/5 in the
 * element `cg-payload`. CG_PLANNED when the library was built without the viewer.
 */
CG_API cg_code cg_write_page(const cg_run *run, cg_sink sink, cg_err *reterr) CG_MUST;
/* Has this library the viewer? Without it every call that writes a page answers CG_PLANNED. */
CG_API bool cg_page_is_built(void);
/*
 * Two runs in one such page: `run` as above, `against` in the element `cg-against-payload`, and
 * what one says of the other (comparison/6 of the two, never eligible) in `cg-comparison`.
 */
CG_API cg_code cg_write_page_against(const cg_env *env, const cg_run *run, const cg_run *against,
                                     cg_sink sink, cg_err *reterr) CG_MUST;

/*
 * Kinds of questions: name, needs a graph, takes label filters, is a
 * collection (paging), what it answers. Those marked `ours` are not in the
 * wire contract's first set.
 */
#define CG_QUERIES(X)                                                                              \
    X(SLOWEST_HOST, "slowest-host", true, false, false, "spans by own host time")                  \
    X(SLOWEST_DEVICE, "slowest-device", true, false, false, "spans by device busy time")           \
    X(HEAVIEST, "heaviest", true, false, false, "spans and operations by allocated bytes")         \
    X(MEMORY, "memory", false, false, false, "logical storage and physical memory")                \
    X(SPANS, "spans", true, true, true, "all nodes and edges of the derived graph")                \
    X(TENSORS, "tensors", true, true, true, "recorded tensors")                                    \
    X(TENSOR_STATS, "tensor-stats", false, true, true, "recorded tensor statistics")               \
    X(GRADIENTS, "gradients", true, true, true, "gradients, also when they are missing")           \
    X(CAPABILITIES, "capabilities", false, false, false, "what the capture may be used for")       \
    X(GPU_STATUS, "gpu-status", false, false, false, "state of the Nsight evidence")               \
    X(GPU_CORRELATION, "gpu-correlation", false, false, false, "labels against projected ranges")  \
    X(GPU_PHASES, "gpu-phases", false, false, false, "projected ranges and attributed GPU time")   \
    X(GPU_KERNELS, "gpu-kernels", false, false, false, "GPU kernels by total time")                \
    X(GPU_GAPS, "gpu-attribution-gaps", false, false, false, "what could not be attributed")       \
    X(LABELS, "labels", false, false, true, "every label of the trace, with counts")               \
    X(MODULE_TREE, "module-tree", false, false, false, "span tree with time, memory and share")    \
    X(NAN_ORIGIN, "nan-origin", false, false, false, "where the first non-finite value was made")  \
    X(GAPS, "gaps", false, false, true, "host time inside the measured region no span covers")

/* A kind of question to a run: CG_QUERY_SLOWEST_HOST and so on. */
typedef uint32_t cg_query_kind;
enum {
#define CG_ROW_(name, word, graph, filter, collection, about) CG_QUERY_##name,
    CG_QUERIES(CG_ROW_)
#undef CG_ROW_
        CG_QUERY_COUNT
};

/* A question; at most one of the two filters. */
typedef struct cg_query {
    uint32_t size;       /* sizeof(cg_query) of the caller */
    cg_query_kind kind;  /* what is asked */
    cg_str label;        /* exact filter, absent = none; an empty label is a filter too */
    cg_str label_prefix; /* prefix filter, absent = none */
    bool has_limit;      /* page a collection: adds total, returned, offset, truncated */
    uint64_t limit;      /* rows at most, with has_limit; UINT64_MAX: all of them */
    uint64_t offset;     /* rows left out at the start, with has_limit */
} cg_query;

/* Kind by its word; false: no such kind, *ret is left alone. */
CG_API bool cg_query_find(const char *word, cg_query_kind *ret);
/* Word of a kind, such as `slowest-host`; static, empty for a number that is none. */
CG_API const char *cg_query_word(cg_query_kind kind);
/*
 * candle-graph/trace-query/5. CG_INPUT for a filter the kind does not take,
 * CG_NO_GRAPH when the kind needs a graph and there is none.
 */
CG_API cg_code cg_write_query(const cg_run *run, const cg_query *query, const cg_format *format,
                              cg_sink sink, cg_err *reterr) CG_MUST;

/* A command of the wire contract, for candle-graph/protocol/1; texts that the caller keeps. */
typedef struct cg_command_row {
    const char *name;  /* as it is typed */
    const char *about; /* one sentence */
} cg_command_row;

/* candle-graph/protocol/1: schemas and the commands given. */
CG_API cg_code cg_write_protocol(const cg_env *env, const cg_command_row *commands, size_t count,
                                 const cg_format *format, cg_sink sink, cg_err *reterr) CG_MUST;

/* ---- facts ------------------------------------------------------------ */

/* What a run was, in numbers and names, as far as it was recorded. */
typedef struct cg_run_facts {
    uint32_t size;                       /* sizeof(cg_run_facts) of the caller */
    bool is_structurally_valid;          /* health found no error */
    bool is_capture_complete;            /* its terminal says so */
    bool has_graph;                      /* valid and complete: conclusions may be drawn */
    bool is_train;                       /* else inference */
    uint64_t error_count, warning_count; /* health issues */
    uint64_t event_count, byte_count;    /* records and bytes of the trace */
    /* Records of each kind. */
    uint64_t span_count, operation_count, tensor_count, statistics_count, memory_event_count,
        gradient_count;
    uint64_t outer_wall_time_ns; /* with has_graph: host time of the measured region */
    uint64_t capture_step;       /* update or call that was recorded, from 1 */
    /* Texts of the description; borrowed from the run. */
    cg_str run_id, correlation_id, entrypoint, device;
} cg_run_facts;

/* What the run was, in numbers; the texts live as long as the run. Never fails. */
CG_API void cg_run_facts_of(const cg_run *run, cg_run_facts *ret);

/* Something health found fault with. */
typedef struct cg_issue {
    bool is_error; /* else a warning */
    cg_str code;   /* such as `gradient_manifest_missing`; static */
} cg_issue;
/* Health issue `index` from 0, in the order of the evidence. False, *ret left alone: no more. */
CG_API bool cg_run_issue(const cg_run *run, uint64_t index, cg_issue *ret);

/* One span; times in nanoseconds of the host clock, bytes logical, texts borrowed from the run. */
typedef struct cg_span {
    cg_str id, name, parent_id; /* parent_id absent for a root */
    uint64_t start_ns;          /* since the session began */
    /* Time with and without what is inside, with has_graph; else both are the recorded duration. */
    uint64_t total_ns, self_ns;
    bool is_closed;           /* its end was recorded; else the times are 0 */
    bool is_measured;         /* it is the measured region */
    bool has_allocated;       /* with has_graph: something was allocated, logical memory recorded */
    uint64_t allocated_bytes; /* directly in the span; peaks: `spans` and `module-tree` */
} cg_span;
/* Span `index` from 0, in bytewise order of ids. False, *ret left alone: no more. */
CG_API bool cg_run_span(const cg_run *run, uint64_t index, cg_span *ret);

/* ---- bundles: verify -------------------------------------------------- */

/*
 * A bundle is a folder with bundle.json, trace.jsonl, evidence.json and
 * more; cg_run_open reads it like a trace, after verifying it. What a document
 * then shows is derived from the trace, and refused where the published
 * evidence says otherwise (`bundle-evidence-differs`).
 */
typedef uint32_t cg_verify_depth;
enum {
    CG_VERIFY_BYTES = 0,    /* files, sizes, digests, run id */
    CG_VERIFY_SEMANTIC = 1, /* also: what is in it follows from its trace */
    CG_VERIFY_STRICT = 2    /* also: nothing in it could not be checked that way */
};

/* What a verification found; immutable, as a run is. */
typedef struct cg_verification cg_verification;

/*
 * Verify the bundle at `path`; nothing is written. A bundle that is not what it declares is refused
 * with CG_INPUT and a problem `bundle-...`. CG_NOT_FOUND, CG_LIMIT, CG_NOMEM, CG_INTERRUPTED.
 * *ret is released with cg_verification_free.
 */
CG_API cg_code cg_bundle_verify(const cg_env *env, const char *path, cg_verify_depth depth,
                                cg_verification **ret, cg_err *reterr) CG_MUST;
/* Release a verification, and every text that was read from it. NULL is allowed. */
CG_API void cg_verification_free(cg_verification *verification);
/* candle-graph/verify/1 */
CG_API cg_code cg_write_verification(const cg_verification *verification, const cg_format *format,
                                     cg_sink sink, cg_err *reterr) CG_MUST;

/* What was verified, in numbers and names. */
typedef struct cg_verification_facts {
    uint32_t size;                          /* sizeof(cg_verification_facts) of the caller */
    cg_str run_id, manifest_sha256;         /* of the run; digest of bundle.json, in hexadecimal */
    cg_str producer_name, producer_version; /* who wrote the bundle; absent: no marker */
    uint64_t file_count, byte_count;        /* the declared ones, all of which were read */
    uint64_t unchecked_count;               /* files that only their writer could derive again */
} cg_verification_facts;
/* What was verified, in numbers; the texts live as long as the verification. Never fails. */
CG_API void cg_verification_facts_of(const cg_verification *verification,
                                     cg_verification_facts *ret);

/* ---- bundles: publish ------------------------------------------------- */

/* A trace, and where its bundle is to stand. */
typedef struct cg_publish_request {
    uint32_t size;                /* sizeof(cg_publish_request) of the caller */
    const char *trace_path;       /* a file, or a pipe that is read once */
    const char *nsight_directory; /* regular files only; NULL: none */
    const char *bundle_path;      /* must not exist, or hold the same inputs already */
    const char *receipt_path;     /* where the caller will write the receipt, to refuse that in
                                     time; NULL: no file */
} cg_publish_request;

/* What was published, or had been already; immutable, as a run is. */
typedef struct cg_publication cg_publication;

/*
 * Publish a trace as a bundle, whole or not at all. A repetition finds the work
 * done. CG_OUTPUT_REFUSED: something else stands there (`bundle-conflict`), or
 * the place lies in a bundle. CG_DURABILITY: the bundle is there, but may not
 * survive a loss of power.
 */
CG_API cg_code cg_publish(const cg_env *env, const cg_publish_request *request,
                          cg_publication **ret, cg_err *reterr) CG_MUST;
/* Release what is known of a publication; the bundle stays. NULL is allowed. */
CG_API void cg_publication_free(cg_publication *publication);
/* candle-graph/publication/1 */
CG_API cg_code cg_write_publication(const cg_publication *publication, const cg_format *format,
                                    cg_sink sink, cg_err *reterr) CG_MUST;

/* What a publication is, in numbers and names. */
typedef struct cg_publication_facts {
    uint32_t size;                   /* sizeof(cg_publication_facts) of the caller */
    bool is_already_published;       /* nothing was written */
    cg_str bundle_path;              /* as it was given */
    cg_str run_id, manifest_sha256;  /* of the run; digest of bundle.json, in hexadecimal */
    uint64_t file_count, byte_count; /* the declared ones */
} cg_publication_facts;
/* What was published, in numbers; the texts live as long as the publication. Never fails. */
CG_API void cg_publication_facts_of(const cg_publication *publication, cg_publication_facts *ret);

/* ---- bundles: one planned capture ------------------------------------- */

/*
 * The life of a planned capture: begin, record to cg_capture_trace_path, publish.
 *
 *   code = cg_capture_begin(&env, "runs/update-4", &plan, &capture, &already, &err);
 *   if (already != NULL) ... done in an earlier run ...
 *   ... record to cg_capture_trace_path(capture), finish the recording ...
 *   code = cg_capture_publish(capture, &publication, &err);
 *   cg_capture_free(capture);
 *
 * A run that is killed in between leaves the destination absent or complete; the next one begins
 * again or finds it published. A destination that holds another capture is a conflict, always.
 */
typedef struct cg_capture_plan {
    uint32_t size;              /* sizeof(cg_capture_plan) of the caller */
    const char *entrypoint;     /* this and what follows must be in the trace as it is here */
    const char *correlation_id; /* what the capture shares with profilers that watch it */
    const char *device;         /* `cpu`, `cuda:0` ... */
    uint64_t capture_step;      /* from 1 */
    bool is_train;              /* else inference */
} cg_capture_plan;

/* A planned capture under way; used by one thread at a time. */
typedef struct cg_capture cg_capture;

/*
 * On success one of *ret and *ret_already is not NULL. `env` must outlive the
 * capture. Folders on the way to the destination are made.
 */
CG_API cg_code cg_capture_begin(const cg_env *env, const char *bundle_path,
                                const cg_capture_plan *plan, cg_capture **ret,
                                cg_publication **ret_already, cg_err *reterr) CG_MUST;
/* The path to record to; nothing stands there yet. */
CG_API const char *cg_capture_trace_path(const cg_capture *capture);
/* Nsight exports to be published with it; the folder is read when publishing. */
CG_API cg_code cg_capture_set_nsight(cg_capture *capture, const char *directory,
                                     cg_err *reterr) CG_MUST;
/*
 * Publish the recorded trace, which must be of the plan and of a complete capture. *ret is released
 * with cg_publication_free. On failure the trace stays where it is, and the call may be repeated.
 * The codes are those of cg_publish.
 */
CG_API cg_code cg_capture_publish(cg_capture *capture, cg_publication **ret,
                                  cg_err *reterr) CG_MUST;
/* Publish the recorded trace of a failed capture; else as cg_capture_publish. */
CG_API cg_code cg_capture_publish_failed(cg_capture *capture, cg_publication **ret,
                                         cg_err *reterr) CG_MUST;
/* Release a capture; a trace that was not published stays where it is. NULL is allowed. */
CG_API void cg_capture_free(cg_capture *capture);

/* ---- compare ---------------------------------------------------------- */

/*
 * Two cohorts of runs: may they be compared, and did the candidate change the
 * time of the measured region? A run that cannot be verified or read fails the
 * call. Runs that may not be compared do not: the comparison says why
 * (`ineligible`, with reasons) and concludes nothing. The order of the runs
 * matters, the interval is resampled by place.
 */
typedef struct cg_compare_request {
    uint32_t size;                          /* sizeof(cg_compare_request) of the caller */
    const char *const *baseline;            /* paths of the build to compare with */
    const char *const *candidate;           /* paths of the build that was changed */
    size_t baseline_count, candidate_count; /* at least one each */
    bool are_traces;           /* raw trace files, never eligible; else published bundles */
    bool has_min_effect;       /* a verdict needs an interval wholly beyond that many percent */
    double min_effect_percent; /* of the baseline's median, not negative */
    bool is_calibrated;        /* also: the baseline against itself, spread and drift */
} cg_compare_request;

/* A comparison that was made; immutable, as a run is. */
typedef struct cg_comparison cg_comparison;

/*
 * Read and compare. *ret is freed with cg_comparison_free, NULL on failure. CG_USAGE: an empty
 * group, the same run twice or no number; else the codes of reading or verifying the run at fault.
 */
CG_API cg_code cg_compare(const cg_env *env, const cg_compare_request *request, cg_comparison **ret,
                          cg_err *reterr) CG_MUST;
/* Release a comparison, and every text that was read from it. NULL is allowed. */
CG_API void cg_comparison_free(cg_comparison *comparison);
/* candle-graph/comparison/6 */
CG_API cg_code cg_write_comparison(const cg_comparison *comparison, const cg_format *format,
                                   cg_sink sink, cg_err *reterr) CG_MUST;

/* One offline HTML page of it, with its document in the element `cg-comparison`. CG_PLANNED. */
CG_API cg_code cg_write_comparison_page(const cg_comparison *comparison, cg_sink sink,
                                        cg_err *reterr) CG_MUST;

/* What a comparison concludes. */
typedef uint32_t cg_verdict;
enum {
    CG_VERDICT_INELIGIBLE = 0,   /* the runs may not be compared; cg_comparison_reason says why */
    CG_VERDICT_INCONCLUSIVE = 1, /* the interval holds 0, or is within the effect asked for */
    CG_VERDICT_FASTER = 2,       /* the candidate takes less time */
    CG_VERDICT_SLOWER = 3        /* it takes more */
};

/* A comparison in numbers; host time of the measured region, in nanoseconds. */
typedef struct cg_comparison_facts {
    uint32_t size;                                  /* sizeof(cg_comparison_facts) of the caller */
    cg_verdict verdict;                             /* what it concludes */
    bool is_comparable;                             /* no reason speaks against it */
    bool is_paired;                                 /* the runs come in pairs, by their identity */
    uint64_t baseline_count, candidate_count;       /* runs */
    double baseline_median_ns, candidate_median_ns; /* with is_comparable */
    double median_delta_ns;                         /* the candidate's less the baseline's */
    double lower_delta_ns, upper_delta_ns;          /* with is_comparable: 95 % interval of it */
} cg_comparison_facts;
/* The verdict and its numbers. Never fails. */
CG_API void cg_comparison_facts_of(const cg_comparison *comparison, cg_comparison_facts *ret);
/* Distinct reason codes, sorted, `index` from 0, alive with the comparison. False: no more. */
CG_API bool cg_comparison_reason(const cg_comparison *comparison, uint64_t index, cg_str *ret);

/*
 * candle-graph/compare-plan/1: an order in which to measure pairs of runs, so
 * that a machine that drifts hits both builds alike. 5 to 100 000 pairs.
 */
CG_API cg_code cg_write_compare_plan(const cg_env *env, uint64_t pairs, const cg_format *format,
                                     cg_sink sink, cg_err *reterr) CG_MUST;

/* ---- campaigns and series --------------------------------------------- */

/* candle-graph/campaign-status/1: what has become of the captures `manifest` plans. */
CG_API cg_code cg_write_campaign_status(const cg_env *env, const char *manifest,
                                        const cg_format *format, cg_sink sink,
                                        cg_err *reterr) CG_MUST;

/* Which captures a series is made of; of `manifest` and `bundles` one is given. */
typedef struct cg_series_request {
    uint32_t size;              /* sizeof(cg_series_request) of the caller */
    const char *manifest;       /* a campaign whose captures are all published, or NULL */
    const char *const *bundles; /* without a manifest */
    size_t bundle_count;
    cg_str label_prefix; /* of labels and of `root/key`; absent = all */
    bool has_growth;     /* JSON: also bytes that stay, and which spans grow */
} cg_series_request;

/* candle-graph/series/1: times, statistics and gradients by captured step. */
CG_API cg_code cg_write_series(const cg_env *env, const cg_series_request *request,
                               const cg_format *format, cg_sink sink, cg_err *reterr) CG_MUST;

/*
 * One offline HTML page of a campaign: its status in the element `cg-campaign`, and in `cg-series`
 * the series of the captures that are published, growth included, when there are any. CG_PLANNED.
 */
CG_API cg_code cg_write_campaign_page(const cg_env *env, const char *manifest, cg_sink sink,
                                      cg_err *reterr) CG_MUST;
/*
 * One offline HTML page of a document in the file at `path`: comparison/6 in `cg-comparison`,
 * series/1 in `cg-series`, campaign-status/1 in `cg-campaign`, join/1 in `cg-join`. CG_INPUT for
 * anything else.
 */
CG_API cg_code cg_write_document_page(const cg_env *env, const char *path, cg_sink sink,
                                      cg_err *reterr) CG_MUST;

/* ---- recovery --------------------------------------------------------- */

/*
 * What a dead process left at `input`, as a failed capture at `output`: a spool
 * of the recorder, or a trace without its end. Every complete record goes
 * there, unchanged and in order, and one terminal whose reason names the spans
 * that were open. `output` is guarded and whole or not at all, as below; once
 * it is in place candle-graph/recovery/1, or its text form, goes to `account`.
 *
 * CG_NOT_FOUND, CG_INPUT (nothing to recover, or its process still records),
 * CG_LIMIT, CG_NOMEM, CG_OUTPUT, CG_OUTPUT_REFUSED, CG_INTERRUPTED. When only
 * the account could not be written the code is that of the sink, *reterr is
 * left alone, and the trace is there. For a spool, which is read in place, some
 * memory comes from the C library whatever the allocator of `env`.
 */
CG_API cg_code cg_recover(const cg_env *env, const char *input, const char *output,
                          const cg_format *format, cg_sink account, cg_err *reterr) CG_MUST;

/* ---- outputs ---------------------------------------------------------- */

/*
 * A file that appears whole or not at all. Refuses to land in an input, below
 * a folder that holds bundle.json, or through a link. Streams (a pipe, a
 * character device) are written directly.
 */
typedef struct cg_output cg_output;
/*
 * Open `path`, whose missing folders are made; `inputs` are the paths it must not be one of. Ended
 * with cg_output_commit or cg_output_drop. CG_OUTPUT, CG_OUTPUT_REFUSED, CG_NOMEM.
 */
CG_API cg_code cg_output_open(const cg_env *env, const char *path, const char *const *inputs,
                              size_t input_count, cg_output **ret, cg_err *reterr) CG_MUST;
/* What to write to, until the output is ended. A write that failed is told again by the commit. */
CG_API cg_sink cg_output_sink(cg_output *output);
/* fsync, rename into place; frees the output in every case. */
CG_API cg_code cg_output_commit(cg_output *output, cg_err *reterr) CG_MUST;
/* Leave nothing behind; frees the output. NULL is allowed. */
CG_API void cg_output_drop(cg_output *output);

#ifdef __cplusplus
}
#endif

#endif
