#include "codec/lines.h"

#include <inttypes.h>

#include "base/num.h"

#define LINES_BUFFER ((size_t)256 << 10)

cg_code lines_init(lines *self, heap *from, const cg_env *env,
                   cg_code (*fill)(void *, void *, size_t, size_t *, cg_err *), void *context,
                   cg_err *reterr)
{
    *self = (lines){.heap = from,
                    .fill = fill,
                    .context = context,
                    .line_ceiling = limit_of(env, CG_LIMIT_LINE_BYTES),
                    .total_ceiling = limit_of(env, CG_LIMIT_DOCUMENT_BYTES)};
    self->buffer = heap_resize(from, NULL, 0, LINES_BUFFER);
    if (self->buffer == NULL)
        return err_nomem(reterr);
    self->capacity = LINES_BUFFER;
    return CG_OK;
}

void lines_free(lines *self)
{
    heap_resize(self->heap, self->buffer, self->capacity, 0);
    self->buffer = NULL;
    self->capacity = 0;
    self->start = 0;
    self->end = 0;
    self->at_end = true;
}

static cg_code lines_refuse(const lines *self, const char *what, uint64_t ceiling, cg_err *reterr)
{
    cg_code code =
        cg_fail(reterr, PROBLEM_LIMIT, "%s of %" PRIu64 " bytes is exceeded", what, ceiling);

    err_at_line(reterr, self->number + 1, self->offset);
    return code;
}

/* Room behind the unfinished line, which is moved to the front. */
static cg_code lines_room(lines *self, cg_err *reterr)
{
    size_t wanted = self->capacity;
    char *moved;

    if (self->start > 0) {
        memmove(self->buffer, self->buffer + self->start, self->end - self->start);
        self->end -= self->start;
        self->start = 0;
    }
    if (self->end < self->capacity)
        return CG_OK;
    wanted = wanted > SIZE_MAX / 2 ? SIZE_MAX : wanted * 2;
    /* A line of exactly the ceiling, its newline, and no more. */
    if (wanted > self->line_ceiling && self->capacity <= self->line_ceiling)
        wanted = (size_t)self->line_ceiling + 1;
    moved = heap_resize(self->heap, self->buffer, self->capacity, wanted);
    if (moved == NULL)
        return err_nomem(reterr);
    self->buffer = moved;
    self->capacity = wanted;
    return CG_OK;
}

static cg_code lines_read(lines *self, cg_err *reterr)
{
    size_t count = 0;

    CG_TRY(lines_room(self, reterr));
    CG_TRY(self->fill(self->context, self->buffer + self->end, self->capacity - self->end, &count,
                      reterr));
    self->end += count;
    self->at_end = count == 0;
    return CG_OK;
}

/* Give out the line of `len` bytes that begins at `start` and is followed by `gap` bytes. */
static void lines_give(lines *self, size_t len, size_t gap, cg_str *ret)
{
    *ret = (cg_str){self->buffer + self->start, len};
    self->line_offset = self->offset;
    self->line_is_closed = gap > 0;
    self->number++;
    self->offset += len + gap;
    self->start += len + gap;
}

cg_code lines_next(lines *self, cg_str *ret, bool *ret_more, cg_err *reterr)
{
    size_t searched = 0; /* bytes of the line known to hold no newline */

    for (;;) {
        size_t held = self->end - self->start;
        const char *line = self->buffer + self->start;
        const char *newline =
            held > searched ? memchr(line + searched, '\n', held - searched) : NULL;
        size_t len = newline == NULL ? held : (size_t)(newline - line);

        if (len > self->line_ceiling)
            return lines_refuse(self, "the ceiling `line-bytes`", self->line_ceiling, reterr);
        if (num_sat_sub(self->total_ceiling, self->offset) < len + (newline != NULL))
            return lines_refuse(self, "the ceiling `document-bytes`", self->total_ceiling, reterr);
        if (newline != NULL || self->at_end) {
            *ret_more = newline != NULL || len > 0;
            if (*ret_more)
                lines_give(self, len, newline != NULL, ret);
            return CG_OK;
        }
        searched = held;
        CG_TRY(lines_read(self, reterr));
    }
}

cg_code lines_fill_file(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    return os_read(context, to, count, ret, reterr);
}

cg_code lines_fill_text(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    cg_str *rest = context;
    size_t taken = count < rest->len ? count : rest->len;

    (void)reterr;
    if (taken > 0)
        memcpy(to, rest->ptr, taken);
    rest->ptr += taken;
    rest->len -= taken;
    *ret = taken;
    return CG_OK;
}
