/*
 * campaign - a plan of captures over a long run, and what has become of it.
 *
 * The manifest (candle-graph/campaign/1) names steps and bundles; bundles lie
 * relative to the directory of the manifest. A manifest that could mean two
 * things is refused: unsafe paths, one step or one place planned twice (places
 * are compared normalised: `a//b` and `a/./b` are one). What is wrong with a
 * capture is a state, never a failure of the call.
 *
 *   missing              nothing stands at the path
 *   verification_failed  not a bundle that verifies, or its trace is refused
 *   identity_mismatch    another entrypoint or another step than planned
 *   failed_run           a verified bundle of a run that failed
 *   published            a verified bundle of a complete run, valid or not
 */
#ifndef CG_COMPARE_CAMPAIGN_H
#define CG_COMPARE_CAMPAIGN_H

#include "compare/source.h"
#include "schema/compare_schema.h"

typedef struct campaign_capture {
    uint64_t step;
    cg_str bundle;  /* as planned */
    cg_str path;    /* that, from the directory of the manifest */
    uint8_t state;  /* CAPTURE_STATE_ */
    bool is_valid;  /* structurally, with `published` and `failed_run` */
    cg_str message; /* absent: none */
    cg_str run_id;
    cg_str reason;
    cg_str manifest; /* 64 digits */
} campaign_capture;

typedef struct campaign {
    heap heap;
    arena arena;
    const cg_env *env;
    cg_str id;
    cg_str entrypoint;
    campaign_capture *captures; /* by step */
    size_t count;
} campaign;

/* Read the manifest; every state is `missing` until examined. The env must outlive the campaign. */
cg_code campaign_read(const cg_env *env, cg_str path, campaign **ret, cg_err *reterr) CG_MUST;
/* The same of the text of a manifest that would stand at `path`. */
cg_code campaign_read_text(const cg_env *env, cg_str path, cg_str text, campaign **ret,
                           cg_err *reterr) CG_MUST;
void campaign_free(campaign *self);

/*
 * Find the state of one capture. With `ret` the source of a published capture is handed out
 * (close it), else *ret is empty. Fails only for memory, or when asked to stop.
 */
cg_code campaign_examine(campaign *self, size_t index, source *ret, cg_err *reterr) CG_MUST;
/* Examine all of them. */
cg_code campaign_examine_all(campaign *self, cg_err *reterr) CG_MUST;

size_t campaign_state_count(const campaign *self, unsigned state);

#endif
