/*
 * lines - a byte stream as lines, with ceilings, in one reused buffer.
 *
 * Lines end with `\n`; the last one may lack it. A line is returned without
 * its newline and untrimmed, and is valid until the next call. Nothing but the
 * longest line is ever held.
 */
#ifndef CG_CODEC_LINES_H
#define CG_CODEC_LINES_H

#include "base/os.h"

typedef struct lines {
    heap *heap;
    /* Fill up to `count` bytes; *ret == 0 is the end. */
    cg_code (*fill)(void *context, void *to, size_t count, size_t *ret, cg_err *reterr);
    void *context;
    char *buffer;
    size_t capacity;
    size_t start, end;
    bool at_end;
    uint64_t line_ceiling;
    uint64_t total_ceiling;
    uint64_t offset;      /* of buffer[start] in the stream */
    uint64_t number;      /* of the line last returned, from 1 */
    uint64_t line_offset; /* of its first byte */
    bool line_is_closed;  /* it ended with a newline */
} lines;

cg_code lines_init(lines *self, heap *heap, const cg_env *env,
                   cg_code (*fill)(void *, void *, size_t, size_t *, cg_err *), void *context,
                   cg_err *reterr) CG_MUST;
void lines_free(lines *self);
/* The usual `fill`: `context` is an open os_file, or a cg_str that shrinks as it is read. */
cg_code lines_fill_file(void *context, void *to, size_t count, size_t *ret, cg_err *reterr) CG_MUST;
cg_code lines_fill_text(void *context, void *to, size_t count, size_t *ret, cg_err *reterr) CG_MUST;
/* *ret_more false: no further line. */
cg_code lines_next(lines *self, cg_str *ret, bool *ret_more, cg_err *reterr) CG_MUST;

#endif
