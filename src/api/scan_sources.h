/*
 * scan_sources - texts of a crate's files and their trees as they were at a scan, in one file
 * beside what scan_cache keeps, of which single ones are read.
 *
 *   CG_TRY(sources_write(env, heap, path, &base, places, reterr));
 *
 *   sources from = {.env = env, .mem = mem, .path = path, .places = places};
 *   CG_TRY(sources_read(&from, i, &given, reterr));
 *   sources_close(&from);
 *
 * The places are kept by the caller, with a digest of each: a file that is of another scan, or
 * damaged, is CG_NOT_FOUND.
 */
#ifndef CG_API_SCAN_SOURCES_H
#define CG_API_SCAN_SOURCES_H

#include "base/digest.h"
#include "model/rescan.h"

typedef struct kept_place {
    uint64_t start; /* first the text, then the tree */
    uint64_t text_bytes;
    uint64_t tree_bytes; /* 0: it is parsed again */
    uint8_t sum[DIGEST_BYTES];
} kept_place;

typedef struct sources {
    const cg_env *env;
    arena *mem; /* for what is read */
    cg_str path;
    const kept_place *places;
    bool is_open;
    os_file file;
} sources;

/* One place for each file of the base. */
cg_code sources_write(const cg_env *env, heap *from, cg_str path, const rescan_base *base,
                      kept_place *places, cg_err *reterr) CG_MUST;
cg_code sources_read(sources *self, size_t which, program_text_given *ret, cg_err *reterr) CG_MUST;
/* Harmless when nothing was read. */
void sources_close(sources *self);

#endif
