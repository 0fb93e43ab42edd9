/*
 * features - which features of one package are on, which optional dependencies they bring in, and
 * what they ask of the dependencies.
 *
 * Features are only ever turned on; turning one on again costs nothing.
 */
#ifndef CG_CARGO_FEATURES_H
#define CG_CARGO_FEATURES_H

#include "cargo/manifest.h"

typedef struct feature_request {
    cg_str dependency; /* as features call it */
    cg_str feature;    /* of that package */
    bool is_weak;      /* `d?/f`: only when something else brings the dependency in */
} feature_request;

typedef struct feature_state {
    heap *heap;
    const cargo_manifest *manifest;
    bool *is_on;           /* by feature */
    bool *is_brought_in;   /* by dependency: optional ones that features bring in */
    VEC(uint32_t) pending; /* features whose values are still to be looked at */
    VEC(feature_request) requests;
} feature_state;

cg_code features_init(feature_state *self, heap *from, arena *mem, const cargo_manifest *manifest,
                      cg_err *reterr) CG_MUST;
void features_free(feature_state *self);

/*
 * Turn on `f`, `dep:d`, `d/f` or `d?/f` and all that follows. *ret_is_known is false, and nothing
 * happens, when the package has no such feature or dependency.
 */
cg_code features_enable(feature_state *self, cg_str name, bool *ret_is_known,
                        cg_err *reterr) CG_MUST;

/* Names of those that are on, or of all, sorted. */
cg_code features_list(const feature_state *self, arena *mem, bool is_all, cargo_strs *ret,
                      cg_err *reterr) CG_MUST;

#endif
