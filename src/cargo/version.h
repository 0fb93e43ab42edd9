/*
 * version - semantic versions and the requirements of Cargo manifests.
 *
 * Requirements are what Cargo accepts: `1.2`, `^1.2.3`, `~1.2`, `=1.2.3`, `>=1, <2`, `1.*`, `*`.
 * A pre-release is allowed only where the requirement names one of the same major.minor.patch.
 */
#ifndef CG_CARGO_VERSION_H
#define CG_CARGO_VERSION_H

#include "base/str.h"

typedef struct version {
    uint64_t number[3];
    cg_str pre;   /* behind `-`, borrowed; empty: a release */
    cg_str build; /* behind `+` */
} version;

/* `1.2.3-pre+build`, whole; false on anything else. */
bool version_read(cg_str text, version *ret);
/* Order by precedence; the build part counts last, so that no two spellings are equal. */
int version_compare(const version *a, const version *b);
/* The order of two texts; what is no version comes before every version. */
int version_compare_text(cg_str a, cg_str b);

enum version_fit { VERSION_NO, VERSION_YES, VERSION_BROKEN /* the requirement has no meaning */ };

/* An absent or empty requirement allows every release. */
enum version_fit version_fits(cg_str requirement, const version *candidate);
bool version_text_fits(cg_str requirement, cg_str candidate);

#endif
