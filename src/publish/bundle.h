/*
 * bundle - a published bundle, verified and held open.
 *
 * Verification, first failure wins: the manifest (its size before its content),
 * then a walk through the directory that meets every declared file and nothing
 * else, then type and size of all files, then their digests, then the run id
 * of the trace's first record. The directory is opened once and everything is
 * reached through its handle without following links; the members that are
 * read later stay open, so what was hashed is what is read. bundle_recheck
 * proves afterwards that nobody wrote to them meanwhile.
 *
 * A bundle proves integrity, not authorship: whoever hashes a forgery again
 * has a bundle. publish/semantic is about that.
 */
#ifndef CG_PUBLISH_BUNDLE_H
#define CG_PUBLISH_BUNDLE_H

#include "publish/manifest.h"

typedef struct bundle {
    heap heap;
    arena arena;
    const cg_env *env;
    os_dir root;
    manifest manifest;
    uint8_t manifest_sum[DIGEST_BYTES];
    char manifest_hex[DIGEST_HEX];
    os_identity manifest_identity;
    uint64_t bytes;               /* of all declared files */
    bool is_trace_left;           /* the reader of the trace hashes it */
    os_file pinned[MEMBER_COUNT]; /* handle -1: not declared, or a directory */
} bundle;

/* Verify the bundle at `path` (a link to its directory is followed). The env must outlive it. */
cg_code bundle_open(const cg_env *env, cg_str path, bundle **ret, cg_err *reterr) CG_MUST;
/*
 * The same but for the content of the trace, for a reader that hashes what it reads: the trace is
 * to be read from its pin, and the bundle is verified once bundle_settle_trace said so. What is
 * hashed once is read once.
 */
cg_code bundle_open_for_trace(const cg_env *env, cg_str path, bundle **ret, cg_err *reterr) CG_MUST;
/*
 * CG_OK: `sum`, of all that was read of the trace, is what the manifest declares. NULL: the reader
 * gave up; CG_OK is then a trace as declared, the run id included, and the reader's own reason
 * counts. Else what verification says of the trace now, or input-changed.
 */
cg_code bundle_settle_trace(bundle *self, const uint8_t *sum, cg_err *reterr) CG_MUST;
/* As bundle_open, through an open directory, which is taken over in every case. */
cg_code bundle_open_at(const cg_env *env, os_dir *directory, bundle **ret, cg_err *reterr) CG_MUST;
void bundle_free(bundle *self);

/* The manifest and the members that may have been read are what they were: else input-changed. */
cg_code bundle_recheck(bundle *self, cg_err *reterr) CG_MUST;

/* Is the member declared? */
static inline bool bundle_has(const bundle *self, enum bundle_member member)
{
    return self->pinned[member].handle >= 0;
}
/* The whole member, appended to `ret`; its digest is checked once more on what was read. */
cg_code bundle_read(bundle *self, enum bundle_member member, buf *ret, cg_err *reterr) CG_MUST;
/* Open the directory with the Nsight files; *ret_has false: there are none. */
cg_code bundle_open_nsight(bundle *self, os_dir *ret, bool *ret_has, cg_err *reterr) CG_MUST;

/* The receipt; borrows from the bundle. */
doc_receipt bundle_receipt(const bundle *self);

/* Tell `cause` as `problem`, unless memory, a ceiling or the user stopped the work. */
cg_code bundle_fail(enum problem problem, const cg_err *cause, cg_err *reterr);

#endif
