/*
 * scan_cache - finished documents of earlier scans, kept as long as nothing they depend on changes.
 *
 *   CG_TRY(cache_find(env, heap, mem, directory, path, options, &cache, reterr));
 *   CG_TRY(cache_read(&cache, &document, &is_there, reterr));
 *   ... scan, with cache.graph ...
 *   CG_TRY(cache_write(&cache, scan, document, reterr));
 *   cache_end(&cache);
 *
 * One file for each crate and set of options, for this version of this program. It lists every
 * file that was read, every one that was looked for in vain, and the directories that were
 * searched, with their stamps and digests, and what Cargo's files said. A stamp that is the same
 * is believed when nothing had touched the file since before the scan; else the content is looked
 * at. When only bodies of functions of the crate have changed, a document of structure alone is
 * brought up to date (model/rescan), and what of that serves the next edit of the same functions
 * is kept, too.
 *
 * A file that is damaged, of another version, or cannot be written is as good as none, and no
 * failure: only memory and the user's interruption are. Several processes may use the directory:
 * a file appears whole or not at all. Only the user may read what is kept.
 */
#ifndef CG_API_SCAN_CACHE_H
#define CG_API_SCAN_CACHE_H

#include "base/digest.h"
#include "model/scan.h"

typedef struct cache_place {
    const cg_env *env;
    heap *heap;
    arena *mem;
    cg_str file;         /* absent: nothing can be kept */
    cg_str sources_file; /* beside it: api/scan_sources */
    cg_str levels_file;  /* that of the project's levels, an input too */
    cg_str path;
    const scan_options *options;
    cargo_graph *graph; /* NULL: Cargo's files could not be read */
    uint64_t began_ns;
    uint8_t key[DIGEST_BYTES];   /* of version, path and options */
    uint8_t cargo[DIGEST_BYTES]; /* of what Cargo's files say */
} cache_place;

/* Where the document of this scan is kept; Cargo's files are read. Path and options must stay. */
cg_code cache_find(const cg_env *env, heap *from, arena *mem, cg_str directory, cg_str path,
                   const scan_options *options, cache_place *ret, cg_err *reterr) CG_MUST;
/* The document, which is the caller's then, if it is there and still right. */
cg_code cache_read(cache_place *self, model_document *ret, bool *ret_is_there,
                   cg_err *reterr) CG_MUST;
cg_code cache_write(const cache_place *self, const scan *from, const model_document *document,
                    cg_err *reterr) CG_MUST;
/* After everything that was made with the graph. Harmless for a cleared one. */
void cache_end(cache_place *self);

#endif
