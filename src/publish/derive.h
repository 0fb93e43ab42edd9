/*
 * derive - what follows from a bundle's trace, against what the bundle says.
 *
 * The evidence is derived again from the verified trace and Nsight files, and
 * compared with evidence.json: byte for byte where this very version wrote it,
 * else field by field, without wording and with 2 units in the last place for
 * floats. Documents show what was derived, and a document is refused when a
 * part of the published evidence that it shows differs (docs/decisions/0008).
 */
#ifndef CG_PUBLISH_DERIVE_H
#define CG_PUBLISH_DERIVE_H

#include "exec/evidence.h"
#include "publish/bundle.h"

#define PART(name) (UINT32_C(1) << PART_##name)
#define PARTS_ALL  ((UINT32_C(1) << PART_COUNT) - 1)

/* Which parts of the published evidence differ, and where each of them does first. */
typedef struct difference {
    uint32_t parts;
    uint32_t lengths; /* those that are lists of another length, or are there on one side only */
    cg_str place[PART_COUNT]; /* `timing.device_spans[2].busy_ns`, in the arena given */
} difference;

/* Evidence from the bundle's trace and Nsight files, through its open handles. */
cg_code bundle_derive(bundle *self, evidence **ret, cg_err *reterr) CG_MUST;

/*
 * Compare part by part. Unknown fields of the published evidence are ignored. Refused with
 * bundle-evidence: evidence that cannot be read, of another schema, or of another run.
 */
cg_code bundle_compare(bundle *self, const evidence *derived, arena *mem, difference *ret,
                       cg_err *reterr) CG_MUST;
/* Compare everything, unknown fields included; bundle-evidence-differs names the first place. */
cg_code bundle_compare_all(bundle *self, const evidence *derived, cg_err *reterr) CG_MUST;

/* The files that are derived from the trace, and how each of them is written. */
typedef struct derived_member {
    enum bundle_member member;
    cg_code (*write)(const evidence *from, cg_sink sink, cg_err *reterr);
} derived_member;
extern const derived_member derived_members[];
extern const size_t derived_member_count;

/* Does the bundle hold exactly what is derived for it? */
cg_code bundle_is_rederived(bundle *self, const evidence *derived, const derived_member *member,
                            bool *ret, cg_err *reterr) CG_MUST;

#endif
