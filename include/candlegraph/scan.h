/*
 * scan - what the source of a Candle crate says: components, parameters, findings.
 *
 *   cg_scan_request request = {.size = sizeof request, .path = "path/to/crate"};
 *   cg_scan *scan = NULL;                // `env`, `err` and `sink`: see base.h
 *   if (cg_scan_open(&env, &request, &scan, &err) != CG_OK ||
 *       cg_write_findings(scan, CG_MESSAGE_HUMAN, sink, &err) != CG_OK)
 *       puts(err.text);
 *   cg_scan_free(scan);
 *
 * Files are read, nothing is run: no build script, no macro, no compiler, and no cargo unless the
 * request asks for it. What is missing (a lock file, sources of a dependency) is a finding, not a
 * failure.
 *
 * Ownership, threads and errors are those of candlegraph.h; a scan is used by one thread at a time,
 * and `env` must outlive it.
 */
#ifndef CANDLEGRAPH_SCAN_H
#define CANDLEGRAPH_SCAN_H

#include "candlegraph/candlegraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The source of one crate, read; opened below, released with cg_scan_free. */
typedef struct cg_scan cg_scan;

/* What to read, and how much of it. Texts are borrowed while cg_scan_open runs. */
typedef struct cg_scan_request {
    uint32_t size;               /* sizeof(cg_scan_request) of the caller */
    const char *path;            /* a folder, a Cargo.toml, or a file in a crate; NULL: "." */
    const char *package;         /* member of a workspace; NULL: the one at the path */
    const char *target;          /* triple; NULL: the host's */
    const char *cargo_target;    /* name of a target; NULL: the library and all binaries */
    const char *root;            /* only this component; NULL: all */
    const char *const *features; /* each may hold several names, separated by commas */
    size_t feature_count;
    const char *const *sources; /* NAME=DIR: where a dependency's sources lie */
    size_t source_count;
    bool has_all_features;        /* turn all of them on */
    bool has_no_default_features; /* leave the default ones off */
    bool asks_cargo;   /* run `cargo metadata` and `rustc --print cfg`, offline and locked */
    bool is_heuristic; /* also guesses from names: stages, artifacts, call order */
    const char *cache_directory; /* keep and use results there; NULL: no cache */
    const char *checkpoint; /* will be compared: its headers are read first, so that a file that
                               is refused costs no scan; NULL: none */
    bool is_structure; /* components, modules, parameters and functions only: not what functions
                          compute, and no findings about that */
    const char *runtime_trace; /* candle-graph/runtime of a run of the crate: read first, and merged
                                  into the document; NULL: none */
    bool is_findings; /* only findings will be written: they are the same, and documents have no
                         tensors, operations and uses of parameters. Taken for false with
                         is_heuristic, a cache or a runtime trace, which need those */
} cg_scan_request;

/*
 * Read the crate. Comments `// candle-graph: allow(CODE) REASON` and the levels of
 * candle-graph.toml beside the manifest, or of [package.metadata.candle-graph], have been applied
 * to the findings.
 * CG_NOT_FOUND, CG_INPUT, CG_LIMIT, CG_NOMEM, CG_INTERRUPTED. A cache that cannot be used or
 * written is no failure.
 */
CG_API cg_code cg_scan_open(const cg_env *env, const cg_scan_request *request, cg_scan **ret,
                            cg_err *reterr) CG_MUST;
/* Release a scan, its checkpoint and its runs, and every text read from it. NULL is allowed. */
CG_API void cg_scan_free(cg_scan *scan);

/*
 * Compare a checkpoint (a .safetensors file, an index of shards, a folder with one of them) with
 * the parameters below `root` of `component`; NULL: the first root, every component that is
 * not part of another. Only headers are read. Later documents have its shapes and dtypes, and
 * findings for what does not fit. At most once for a scan.
 */
CG_API cg_code cg_scan_checkpoint(cg_scan *scan, const char *path, const char *root,
                                  const char *component, cg_err *reterr) CG_MUST;

/* What was found, in numbers and names. */
typedef struct cg_scan_facts {
    uint32_t size; /* sizeof(cg_scan_facts) of the caller */
    /* Of the model document; a family of parameters (`layers.{i}.w`) counts as one. */
    uint64_t component_count, parameter_count, module_count, function_count;
    /* Findings by severity, as the levels of the project left them. */
    uint64_t error_count, warning_count, information_count;
    uint64_t missing_count, unclaimed_count; /* keys, with a checkpoint */
    bool has_checkpoint;                     /* cg_scan_checkpoint has succeeded */
    bool is_from_cache;                      /* nothing was analysed again */
    cg_str analysis_id;                      /* digest of everything that was read */
    cg_str package, version;                 /* of the crate, absent without a manifest */
    bool has_runtime_trace;                  /* one was merged */
    /* With a runtime trace: its records, and the findings that it is of another scan or build. */
    uint64_t runtime_observations, identity_mismatches;
    uint64_t unread_count;       /* places in the sources that could not be read */
    cg_str unread, unread_place; /* why the first of them, and where; absent without any */
} cg_scan_facts;
/* What was found, in numbers; the texts live as long as the scan. Never fails. */
CG_API void cg_scan_facts_of(const cg_scan *scan, cg_scan_facts *ret);

/* ---- documents -------------------------------------------------------- */

/* candle-graph/model/1; as text a summary. */
CG_API cg_code cg_write_model(const cg_scan *scan, const cg_format *format, cg_sink sink,
                              cg_err *reterr) CG_MUST;

/*
 * One offline HTML page of the model, with what a checkpoint added, as candle-graph/viewer/1 in a
 * frame that shows it. CG_PLANNED without the viewer (cg_page_is_built).
 */
CG_API cg_code cg_write_model_page(const cg_scan *scan, cg_sink sink, cg_err *reterr) CG_MUST;
/* The same of a document that cg_write_model wrote, at `path`. CG_INPUT when it is none. */
CG_API cg_code cg_write_model_file_page(const cg_env *env, const char *path, cg_sink sink,
                                        cg_err *reterr) CG_MUST;

/* A question to a crate. */
typedef struct cg_scan_query {
    uint32_t size;      /* sizeof(cg_scan_query) of the caller */
    const char *kind;   /* `parameters`, `graph-train`; `-` and `_` are equal */
    const char *select; /* NULL: all */
    const char *to;     /* other end of a path */
    bool has_limit;     /* else 100 rows */
    uint64_t limit;     /* rows at most, with has_limit; UINT64_MAX: all of them */
    uint64_t offset;    /* rows left out at the start */
    bool is_brief;      /* text: a line for each item, with its id */
} cg_scan_query;

/* Is it a kind of question to a crate? `join` is one, which cg_write_join answers. */
CG_API bool cg_scan_query_exists(const char *kind);
/* All of them, separated by blanks; static. */
CG_API const char *cg_scan_query_words(void);
/*
 * candle-graph/query/1: rows in a fixed order, and how many there are.
 * CG_USAGE: no such kind. CG_INPUT: a selector that is missing or fits several things, or limit 0.
 */
CG_API cg_code cg_write_scan_query(const cg_scan *scan, const cg_scan_query *query,
                                   const cg_format *format, cg_sink sink, cg_err *reterr) CG_MUST;
/* candle-graph/tree/1: modules with parameters and bytes; component NULL: all at the top. */
CG_API cg_code cg_write_tree(const cg_scan *scan, const char *component, const cg_format *format,
                             cg_sink sink, cg_err *reterr) CG_MUST;
/* candle-graph/checkpoint report of the last cg_scan_checkpoint. CG_USAGE without one. */
CG_API cg_code cg_write_checkpoint(const cg_scan *scan, const cg_format *format, cg_sink sink,
                                   cg_err *reterr) CG_MUST;
/* candle-graph/key-map/1: model key -> key of the file, of every rename that is settled. */
CG_API cg_code cg_write_key_map(const cg_scan *scan, cg_sink sink, cg_err *reterr) CG_MUST;

/*
 * Join a run (a trace or a bundle) with the crate; any number of them, one after the other, and
 * after cg_scan_checkpoint. `component`, of the first call: name of the one whose parameters the
 * gradients are; NULL: the one that fits. Nothing of the crate gets into the run's evidence, nor of
 * the run into the model document. CG_NOT_FOUND, CG_INPUT, CG_USAGE, CG_INTERRUPTED.
 */
CG_API cg_code cg_scan_join(cg_scan *scan, const char *path, const char *component,
                            cg_err *reterr) CG_MUST;

/* Which rows of a join to show. */
typedef struct cg_join_query {
    uint32_t size;      /* sizeof(cg_join_query) of the caller */
    const char *select; /* only rows with this in an id or a name; NULL: all */
    bool has_limit;     /* else 100 rows of each list */
    uint64_t limit;     /* rows of each list at most, with has_limit */
    uint64_t offset;    /* rows of each list left out at the start */
} cg_join_query;
/* candle-graph/join/1: what never ran, never learned and why, and what ran. CG_USAGE: no runs. */
CG_API cg_code cg_write_join(const cg_scan *scan, const cg_join_query *query,
                             const cg_format *format, cg_sink sink, cg_err *reterr) CG_MUST;

/*
 * One offline HTML page of the crate and the runs that were joined: the model in the element
 * `cg-model-payload`, the join in `cg-join`, and the first run, when it can be read once more, in
 * `cg-payload`. CG_USAGE without runs, CG_PLANNED without the viewer.
 */
CG_API cg_code cg_write_join_page(const cg_scan *scan, cg_sink sink, cg_err *reterr) CG_MUST;

/* CG_MESSAGE_FORMATS: forms of the list of findings, by the words of --message-format. */
#define CG_MESSAGE_FORMATS(X)                                                                      \
    X(HUMAN, "human")                                                                              \
    X(SHORT, "short")                                                                              \
    X(JSON, "json")                                                                                \
    X(CARGO_JSON, "cargo-json")                                                                    \
    X(SARIF, "sarif")                                                                              \
    X(GITHUB, "github")
/* One of them: CG_MESSAGE_HUMAN and so on. */
typedef uint32_t cg_message_format;
enum {
#define CG_ROW_(name, word) CG_MESSAGE_##name,
    CG_MESSAGE_FORMATS(CG_ROW_)
#undef CG_ROW_
};
/*
 * HUMAN leaves what concerns a checkpoint to the text of cg_write_checkpoint, when there is one.
 * GITHUB and SARIF name files from the top of the repository: $GITHUB_WORKSPACE when the crate lies
 * there, else the nearest folder above it with an entry `.git`, else the crate's own. The others
 * name them from the crate's folder. In SARIF every result has a place.
 */
CG_API cg_code cg_write_findings(const cg_scan *scan, cg_message_format kind, cg_sink sink,
                                 cg_err *reterr) CG_MUST;

/* What a code of a finding means; CODE NULL: the list of codes. CG_NOT_FOUND. */
CG_API cg_code cg_write_explanation(const cg_env *env, const char *code, const cg_format *format,
                                    cg_sink sink, cg_err *reterr) CG_MUST;

/* ---- gates ------------------------------------------------------------ */

/* Which findings fail a gate; all of them only when proven. */
typedef uint32_t cg_strictness;
enum {
    CG_STRICT_NONE = 0,   /* those of denied codes */
    CG_STRICT_SOURCE = 1, /* and errors in the source, not those of a checkpoint */
    CG_STRICT_ALL = 2     /* and those of a checkpoint, keys it lacks that every run asks for too */
};

/*
 * CG_GATE when a proven finding is an error (as `strictness` says) or of a denied rule. `deny`:
 * words as `--deny` takes them. `warn` is called with each word that names no rule; NULL: nobody
 * is told.
 */
CG_API cg_code cg_scan_gate(const cg_scan *scan, cg_strictness strictness, const char *const *deny,
                            size_t deny_count, void (*warn)(void *context, cg_str word),
                            void *context, cg_err *reterr) CG_MUST;

/* How much a saved baseline knows. */
typedef uint32_t cg_baseline_kind;
enum { CG_BASELINE_FINGERPRINT = 0, CG_BASELINE_READABLE = 1, CG_BASELINE_FINDINGS = 2 };

/*
 * What the model is like, as a text file to keep beside the source: FINGERPRINT has components,
 * parameters, functions and the findings by rule, READABLE shapes, certainty and numbers of
 * findings as well, FINDINGS the findings alone. No lines of source, moving code changes nothing.
 * CG_OUTPUT, CG_NOMEM.
 */
CG_API cg_code cg_write_baseline(const cg_scan *scan, cg_baseline_kind kind, cg_sink sink,
                                 cg_err *reterr) CG_MUST;
/* Compare with the baseline at `path`; what differs goes to `sink`. CG_GATE when something does. */
CG_API cg_code cg_scan_baseline(const cg_scan *scan, const char *path, cg_sink sink,
                                cg_err *reterr) CG_MUST;
/* Which kind of baseline is the file at `path`? CG_INPUT when it is none. */
CG_API cg_code cg_baseline_kind_of(const cg_env *env, const char *path, cg_baseline_kind *ret,
                                   cg_err *reterr) CG_MUST;
/*
 * Take the findings that the baseline of kind FINDINGS at `path` has out of the scan: what is
 * written from here on, and the gate, are about the others. Before cg_scan_checkpoint, whose
 * findings are always told. *ret_known: how many went; *ret_gone: how many of the file's are not
 * found any more; both may be NULL. CG_INPUT when it is another kind of file.
 */
CG_API cg_code cg_scan_take_known(cg_scan *scan, const char *path, uint64_t *ret_known,
                                  uint64_t *ret_gone, cg_err *reterr) CG_MUST;

/*
 * May an output be written to `path`? CG_OUTPUT_REFUSED when it is the crate's manifest, lock file
 * or checkpoint, or would lie among its own sources.
 */
CG_API cg_code cg_scan_guard(const cg_scan *scan, const char *path, cg_err *reterr) CG_MUST;

/* The files of an audit, in the order they are written, and what each of them needs. */
#define CG_AUDIT_FILES(X)                                                                          \
    X(SUMMARY, "summary.json", ALWAYS)                                                             \
    X(DOCTOR, "doctor.json", ALWAYS)                                                               \
    X(IMPROVEMENT, "model-improvement.json", ALWAYS)                                               \
    X(FINDINGS, "findings.json", ALWAYS)                                                           \
    X(MODEL, "model-ir.json", ALWAYS)                                                              \
    X(RUNTIME, "runtime.json", RUNTIME_TRACE)                                                      \
    X(PAGE, "model.html", VIEWER)                                                                  \
    X(CHECKPOINT, "checkpoint.json", CHECKPOINT)                                                   \
    X(JOIN, "join.json", RUNS)
/*
 * Write the audit into `directory`, which is made if need be. Each file appears whole or not at
 * all. CG_OUTPUT_REFUSED inside a bundle or the crate's own sources.
 */
CG_API cg_code cg_audit(const cg_scan *scan, const char *directory, cg_err *reterr) CG_MUST;

#ifdef __cplusplus
}
#endif

#endif
