/*
 * nsight_manifest - capture-manifest.json: does it describe these files and
 * this run?
 *
 * Every rule that does not hold is a sentence of its own. Rows are kept in
 * any case; what suffers is the binding.
 */
#ifndef CG_EXEC_NSIGHT_MANIFEST_H
#define CG_EXEC_NSIGHT_MANIFEST_H

#include "exec/nsight_files.h"
#include "exec/nsight_set.h"

/* The labels of a contract, resolved. */
typedef struct nsight_labels {
    sc_strs required;
    sc_strs gpu_expected; /* the required ones when no class is declared */
    sc_strs cpu_only;
} nsight_labels;

/* Sorted sets in `mem`. CG_NOMEM. */
cg_code nsight_labels_of(heap *heap, arena *mem, sc_strs required, sc_strs gpu_expected,
                         sc_strs cpu_only, nsight_labels *ret, cg_err *reterr) CG_MUST;

/* *ret NULL and one note: missing, unreadable or malformed. CG_NOMEM, CG_INTERRUPTED. */
cg_code nsight_manifest_read(nsight_files *files, nsight_notes *notes, doc_nsight_manifest **ret,
                             cg_err *reterr) CG_MUST;

/* What was used of the directory. */
typedef struct nsight_used {
    const doc_artifact *tables; /* sorted by path */
    size_t table_count;
    const doc_artifact *raw_report; /* NULL: none */
} nsight_used;

/*
 * Check the manifest against files and labels, and its ids against the run; each failure is a note.
 * Declared files that were not used are read for their digest.
 */
cg_code nsight_manifest_check(nsight_files *files, const doc_nsight_manifest *manifest,
                              const nsight_used *used, const nsight_labels *labels, cg_str run_id,
                              cg_str correlation_id, nsight_notes *notes, cg_err *reterr) CG_MUST;

#endif
