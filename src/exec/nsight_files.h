/*
 * nsight_files - the files of one Nsight directory: read, counted, digested.
 *
 * A file is opened once; what is hashed is what is parsed. A file whose size
 * does not agree with what was read changed meanwhile and is refused.
 */
#ifndef CG_EXEC_NSIGHT_FILES_H
#define CG_EXEC_NSIGHT_FILES_H

#include "base/digest.h"
#include "base/os_dir.h"
#include "base/vec.h"
#include "schema/evidence_schema.h"

typedef struct nsight_files {
    const cg_env *env;
    heap *heap;
    arena *mem;
    os_dir directory;
    unsigned flags; /* of os_dir_open_file */
} nsight_files;

/* A file while it is read; nsight_stream_fill is the `fill` of codec/csv. */
typedef struct nsight_stream {
    const nsight_files *files;
    os_file file;
    digest digest;
    uint64_t size; /* bytes read so far */
} nsight_stream;

cg_code nsight_stream_open(nsight_files *files, cg_str name, nsight_stream *ret,
                           cg_err *reterr) CG_MUST;
cg_code nsight_stream_fill(void *stream, void *to, size_t count, size_t *ret, cg_err *reterr);
/* Size and digest of a stream that was read to its end; `name` becomes the path. */
cg_code nsight_stream_artifact(nsight_stream *self, cg_str name, doc_artifact *ret,
                               cg_err *reterr) CG_MUST;
void nsight_stream_close(nsight_stream *self);

/* Read a file to its end for its size and digest alone. */
cg_code nsight_files_digest(nsight_files *files, cg_str name, doc_artifact *ret,
                            cg_err *reterr) CG_MUST;
/* Append the file to `ret`, at most to its ceiling. CG_LIMIT beyond. */
cg_code nsight_files_text(nsight_files *files, cg_str name, buf *ret, cg_err *reterr) CG_MUST;

/* Does this failure lie in the file, so that evidence can say so and go on? */
static inline bool nsight_is_fault(cg_code code)
{
    return code == CG_INPUT || code == CG_LIMIT || code == CG_NOT_FOUND;
}

/* --- sentences for people --- */

typedef struct nsight_notes {
    heap *heap;
    arena *mem;
    VEC(cg_str) texts;
    cg_str spare;
    bool failed; /* out of memory */
} nsight_notes;

/* Where the next sentence goes; never NULL. */
cg_str *nsight_notes_next(nsight_notes *self);
#define nsight_note(self, ...)                                                                     \
    do {                                                                                           \
        if (!arena_format((self)->mem, nsight_notes_next(self), __VA_ARGS__))                      \
            (self)->failed = true;                                                                 \
    } while (0)

/* All sentences as a list in the arena; the notes are freed. False: out of memory. */
bool nsight_notes_keep(nsight_notes *self, sc_strs *ret);
void nsight_notes_free(nsight_notes *self);

#endif
