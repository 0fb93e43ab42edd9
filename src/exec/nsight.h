/*
 * nsight - Nsight exports beside a run, as the `gpu` object of evidence/4.
 *
 * A directory holds CSV exports of five reports, a raw report and perhaps a
 * capture-manifest.json. Tables are normalised, projected NVTX ranges are
 * compared with the semantic labels of the trace, GPU operations are
 * attributed to ranges, and the manifest binds the files to the run. All on
 * the full population; what is kept is capped: 100 rows of a summary file, 500
 * of each time line.
 *
 * Bad files are no failure of the call: they become diagnostics, which name files relative to the
 * directory and never the directory itself. A directory that is missing, or a
 * used file that cannot be read, gives the status `failed`.
 */
#ifndef CG_EXEC_NSIGHT_H
#define CG_EXEC_NSIGHT_H

#include "base/os_dir.h"
#include "schema/evidence_schema.h"

#define NSIGHT_SUMMARY_ROWS  100
#define NSIGHT_TIMELINE_ROWS 500
#define NSIGHT_ENTRIES       100000 /* of the directory */

/* One value of `limits`. */
typedef struct gpu_limit {
    cg_str file;
    doc_gpu_limit rows;
} gpu_limit;

/* What a kind of report can be used for. */
typedef struct gpu_report {
    uint8_t status; /* GPU_STATUS_ */
    cg_str reason;  /* absent when available */
    uint64_t total; /* rows of all its files, meaningful when available */
} gpu_report;

/* Nsight evidence as it goes to the wire; `wire` points at the parts beside it. */
typedef struct gpu_evidence {
    doc_gpu wire;
    doc_gpu_provenance provenance;
    doc_gpu_coverage coverage;
    doc_gpu_correlation correlation;
    doc_gpu_ledger ledger;
    const gpu_limit *limits; /* by file */
    size_t limit_count;
    gpu_report reports[GPU_REPORT_COUNT];
} gpu_evidence;

/* What is asked for. */
typedef struct nsight_source {
    cg_str directory;   /* absent: there is none */
    os_dir *opened;     /* the directory, open already, and taken over; NULL: opened by its name */
    bool follows_links; /* links to files count as files */
    cg_str run_id;
    cg_str correlation_id;
    sc_strs required_labels; /* as the contract of the trace has them */
    sc_strs gpu_labels;
    sc_strs cpu_labels;
} nsight_source;

/*
 * Fill *ret, which must stay where it is: its parts point at each other. Lists
 * and texts live in `mem`, working memory comes from `heap`.
 * Fails with CG_NOMEM and CG_INTERRUPTED only.
 * O(n log n) in rows, for each set of join keys in use.
 */
cg_code nsight_read(const cg_env *env, heap *heap, arena *mem, const nsight_source *source,
                    gpu_evidence *ret, cg_err *reterr) CG_MUST;

/*
 * For evidence that was read from a document: link the parts of `gpu` (all but `reports` is
 * given) and tell from coverage, diagnostics and limits what each report can be used for.
 * A report counts as failed when a diagnostic names it. False: out of memory.
 */
bool nsight_relink(arena *mem, gpu_evidence *gpu);

#endif
