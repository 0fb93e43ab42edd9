/*
 * manifest - bundle.json: which files a bundle consists of, and who wrote it.
 *
 * Reading refuses everything that could mean two things: unsafe paths, a path
 * declared twice, the manifest among its own files, digests of another form.
 * Unknown fields, key order, white space and the case of digests are free.
 */
#ifndef CG_PUBLISH_MANIFEST_H
#define CG_PUBLISH_MANIFEST_H

#include "base/digest.h"
#include "base/os_tree.h"
#include "schema/publish_schema.h"

typedef struct manifest_file {
    cg_str path;
    uint64_t bytes;
    uint8_t sum[DIGEST_BYTES];
    os_identity identity; /* while verifying: what was found */
    bool is_found;
} manifest_file;

typedef struct manifest {
    cg_str run_id;
    cg_str producer_name; /* absent: no marker */
    cg_str producer_version;
    manifest_file *files; /* sorted bytewise by path */
    size_t count;
} manifest;

/* Parse; texts and files live in `mem`. CG_INPUT, CG_LIMIT, CG_NOMEM. */
cg_code manifest_read(const cg_env *env, heap *from, arena *mem, cg_str text, manifest *ret,
                      cg_err *reterr) CG_MUST;
/* Write `from`, whose files must be sorted, with this program's marker. */
cg_code manifest_write(heap *heap, const manifest *from, cg_sink sink, cg_err *reterr) CG_MUST;
/* The file of that path, NULL when it is not declared. */
manifest_file *manifest_find(const manifest *self, cg_str path);
/* Is some declared file below the directory `path`? */
bool manifest_has_directory(const manifest *self, cg_str path);
/* Order files by path. */
void manifest_sort(manifest_file *files, manifest_file *room, size_t count);
/* Was it written by this very version? */
bool manifest_is_ours(const manifest *self);

#endif
