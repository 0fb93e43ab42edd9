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
 * way.
 *
 * *ret_is_done is false, and nothing is changed, whenever there is a doubt: more than bodies of
 * functions changed, most of the crate uses what changed, or the whole does not hold what the part
 * says. Then the crate is scanned again.
 */
#ifndef CG_MODEL_RESCAN_H
#define CG_MODEL_RESCAN_H

#include "model/runs.h"
#include "rust/edit.h"

#define RESCAN_NO_FILE UINT32_MAX

/* A file of the scanned crates. */
typedef struct rescan_file {
    cg_str path;     /* absolute */
    cg_str shown;    /* as locations have it */
    uint64_t bytes;  /* of its text */
    const ast *tree; /* when it is kept, only */
    cg_str text;     /* when it is kept, only */
    uint32_t above;  /* the file that declares its module; RESCAN_NO_FILE: none */
    bool is_alone;   /* no other file that was read is shown by the same path */
    bool is_near;    /* what evaluations of it find may depend on how much text it is */
    bool is_always;  /* what it declares is found without being named: it belongs to every part */
} rescan_file;

typedef struct rescan_link {
    uint32_t from; /* in files */
    uint32_t to;
} rescan_link;

typedef struct rescan_base {
    bool is_possible; /* false: scan the whole, whatever changed */
    rescan_file *files;
    size_t file_count;
    rescan_link *links; /* who uses what of whom */
    size_t link_count;
    program_input *inputs; /* of the program, in the order of reading */
    size_t input_count;
    runs runs;
} rescan_base;

/* What became of one of the files that changed. */
typedef struct rescan_change {
    uint32_t file;
    bool is_exact; /* all that is not in `edit.changed` is as it was, and `edit` says where */
    edit edit;
} rescan_change;

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
} rescan_work;

/* Texts and paths stay those of the scan's program. */
cg_code rescan_keep(const scan *from, arena *mem, rescan_base *ret, cg_err *reterr) CG_MUST;
/*
 * One change for each file, in `mem`. *ret_is_bodies is false when something else than bodies of
 * functions has changed: the crate must be scanned again.
 */
cg_code rescan_compare(const rescan_work *work, arena *mem, rescan_change *ret, bool *ret_is_bodies,
                       cg_err *reterr) CG_MUST;
/* After rescan_compare has found nothing but bodies. */
cg_code rescan_run(const rescan_work *work, model_document *document, bool *ret_is_done,
                   cg_err *reterr) CG_MUST;

#endif
