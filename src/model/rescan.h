/*
 * rescan - the document of a crate of which a few function bodies have changed, from the document
 * before the change.
 *
 *   rescan_keep(scan, mem, &base, reterr)           after a whole scan: what is needed later
 *   rescan_run(&work, &document, &is_done, reterr)  `document` was that of `base`, now of today
 *
 * Two scans are made of the same part of the crate, one with the texts as they were, one as they
 * are: of the files with evaluations that ran something that has changed (model/runs), and all that
 * these use. Where that is not known it is the files that have changed, those that use something of
 * them, and all that these use.
 * What differs between the two documents is exchanged in the whole one, if the whole one holds it
 * exactly as the part had it; a record that needed more than the part is noticed this
 * way. The first of the two scans is the same after every edit of the same functions: it can be
 * kept.
 *
 * Where more than bodies has changed (a function that is new, a field, a `use`), what has changed
 * are also the functions that can notice it (model/mentions).
 *
 * *ret_is_done is false, and nothing is changed, whenever there is a doubt: nobody knows who can
 * notice what has changed, most of the crate uses it, or the whole does not hold what the part
 * says. Then the crate is scanned again.
 */
#ifndef CG_MODEL_RESCAN_H
#define CG_MODEL_RESCAN_H

#include "model/rescan_base.h"

typedef struct rescan_work {
    const cg_env *env;
    heap *heap;
    cg_str path;
    scan_options options; /* of the whole scan */
    cargo_graph *graph;
    const rescan_base *base;
    program_text_given *changed; /* files of the base, with their texts, and then trees, of today */
    size_t changed_count;
    /* The text that a file of the base had then, and its tree; CG_NOT_FOUND: not there any more. */
    cg_code (*load)(void *context, size_t file, program_text_given *ret, cg_err *reterr);
    void *context;
    /*
     * When every change is exact: only evaluations that ran what has changed are made again, and
     * the document has been moved (model/moved). NULL: those of all files that use what changed.
     */
    const rescan_change *traced;
    /*
     * What was kept of a part of the base as it was, under this key; CG_NOT_FOUND: nothing. It must
     * stay. With `traced` alone. NULL: nothing is kept.
     */
    cg_code (*find_part)(void *context, const uint8_t key[DIGEST_BYTES], cg_str *ret,
                         cg_err *reterr);
    cg_code (*keep_part)(void *context, const uint8_t key[DIGEST_BYTES], cg_str bytes,
                         cg_err *reterr);
} rescan_work;

/* Texts and paths stay those of the scan's program. */
cg_code rescan_keep(const scan *from, arena *mem, rescan_base *ret, cg_err *reterr) CG_MUST;
/*
 * One change for each file, in `mem`. *ret_is_known is false when it cannot be told who can notice
 * it: the crate must be scanned again.
 */
cg_code rescan_compare(const rescan_work *work, arena *mem, rescan_change *ret, bool *ret_is_known,
                       cg_err *reterr) CG_MUST;
/* After rescan_compare has found that it is known. */
cg_code rescan_run(const rescan_work *work, model_document *document, bool *ret_is_done,
                   cg_err *reterr) CG_MUST;

#endif
