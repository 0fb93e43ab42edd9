#include "codec/jsonw.h"

#include <assert.h>
#include <math.h>

#include "base/num.h"

#define JW_BUFFER ((size_t)64 << 10)
/* More than any structure, number or indentation that is written in one go. */
#define JW_STEP ((size_t)(2 * JW_DEPTH + NUM_F64_ROOM + JW_INDENT + 8))
/* Blanks are written so many at a time, the last ones to be written over. */
#define JW_INDENT 16

cg_code jw_init(jsonw *self, heap *from, cg_sink sink, bool is_pretty, bool is_sorted)
{
    *self = (jsonw){.sink = sink, .heap = from, .is_pretty = is_pretty, .is_sorted = is_sorted};
    self->buffer = heap_resize(from, NULL, 0, JW_BUFFER);
    if (self->buffer == NULL)
        self->code = CG_NOMEM;
    else
        self->capacity = JW_BUFFER;
    return self->code;
}

static void jw_send(jsonw *self, const char *bytes, size_t count)
{
    if (self->code != CG_OK || count == 0)
        return;
    self->code = self->sink.write(self->sink.context, bytes, count);
    if (self->code == CG_OK)
        self->written_bytes += count;
}

static void jw_flush(jsonw *self)
{
    jw_send(self, self->buffer, self->len);
    self->len = 0;
}

/* Room for `count` bytes, at most the whole buffer. NULL after a failure. */
static inline char *jw_room(jsonw *self, size_t count)
{
    if (self->capacity - self->len < count) {
        jw_flush(self);
        if (self->capacity < count)
            return NULL;
    }
    return self->buffer + self->len;
}

static void jw_raw(jsonw *self, const char *bytes, size_t count)
{
    if (self->capacity - self->len < count) {
        jw_flush(self);
        if (self->capacity < count) {
            jw_send(self, bytes, count);
            return;
        }
    }
    memcpy(self->buffer + self->len, bytes, count);
    self->len += count;
}

/* --- structure --- */

static inline char *jw_new_line(const jsonw *self, char *at)
{
    char *end = at + 1 + 2 * (size_t)self->depth;

    *at++ = '\n';
    for (; at < end; at += JW_INDENT)
        memset(at, ' ', JW_INDENT);
    return end;
}

/* What stands before a value or key; `at` has room for it. */
static inline char *jw_before(jsonw *self, char *at)
{
    if (self->after_key) {
        self->after_key = false;
        return at;
    }
    if (self->depth == 0)
        return at;
    if (self->has_items[self->depth - 1])
        *at++ = ',';
    self->has_items[self->depth - 1] = true;
    return self->is_pretty ? jw_new_line(self, at) : at;
}

static inline char *jw_begin_value(jsonw *self)
{
    char *at = jw_room(self, JW_STEP);

    assert(self->after_key || self->depth == 0 || self->is_array[self->depth - 1]);
    return at == NULL ? NULL : jw_before(self, at);
}

static inline void jw_end_value(jsonw *self, const char *at)
{
    self->len = (size_t)(at - self->buffer);
}

static void jw_open(jsonw *self, char bracket)
{
    char *at = jw_begin_value(self);

    assert(self->depth < JW_DEPTH);
    if (at == NULL)
        return;
    if (self->depth >= JW_DEPTH) {
        if (self->code == CG_OK)
            self->code = CG_INTERNAL;
        return;
    }
    *at++ = bracket;
    self->has_items[self->depth] = false;
    self->is_array[self->depth] = bracket == '[';
    self->depth++;
    jw_end_value(self, at);
}

void jw_object(jsonw *self)
{
    jw_open(self, '{');
}

void jw_array(jsonw *self)
{
    jw_open(self, '[');
}

void jw_end(jsonw *self)
{
    char *at = jw_room(self, JW_STEP);

    assert(self->depth > 0 || self->code != CG_OK);
    assert(!self->after_key);
    if (at == NULL || self->depth == 0)
        return;
    self->depth--;
    if (self->is_pretty && self->has_items[self->depth])
        at = jw_new_line(self, at);
    *at++ = self->is_array[self->depth] ? ']' : '}';
    jw_end_value(self, at);
}

/* --- text --- */

/* 0: as it is; 1: \u00xx; else the letter behind the backslash. */
static const char jw_escapes[256] = {
    1,           1,
    1,           1,
    1,           1,
    1,           1,
    'b',         't',
    'n',         1,
    'f',         'r',
    1,           1, /* 0x00 */
    1,           1,
    1,           1,
    1,           1,
    1,           1,
    1,           1,
    1,           1,
    1,           1,
    1,           1, /* 0x10 */
    ['"'] = '"', ['\\'] = '\\',
};

#define JW_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * Zero when none of eight bytes needs an escape. The subtractions can report a byte behind a hit
 * too, but never a hit where there is none, so zero is exact; what they say of a byte above 0x7f
 * is no hit.
 */
static inline uint64_t jw_needs_escape(uint64_t word)
{
    uint64_t quote = word ^ JW_EACH('"');
    uint64_t back = word ^ JW_EACH('\\');

    return ((word - JW_EACH(0x20)) | (quote - JW_EACH(1)) | (back - JW_EACH(1))) & ~word &
           JW_EACH(0x80);
}

static char *jw_escape(char *at, unsigned char byte)
{
    char letter = jw_escapes[byte];

    *at++ = '\\';
    if (letter != 1) {
        *at++ = letter;
        return at;
    }
    memcpy(at, "u00", 3);
    at[3] = "0123456789abcdef"[byte >> 4];
    at[4] = "0123456789abcdef"[byte & 15];
    return at + 5;
}

static char *jw_bytes(char *at, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (jw_escapes[(unsigned char)text[i]] == 0)
            *at++ = text[i];
        else
            at = jw_escape(at, (unsigned char)text[i]);
    }
    return at;
}

/*
 * The inside of a string that fits the buffer even when every byte is escaped. Most texts are
 * names and ids without anything to escape: eight bytes at a time, the last eight overlapping.
 */
static char *jw_short_text(char *at, const char *text, size_t len)
{
    bool is_verbatim = true;
    uint64_t word;

    if (len < 8) {
        uint32_t first;
        uint32_t last;

        if (len < 4)
            return jw_bytes(at, text, len);
        memcpy(&first, text, 4);
        memcpy(&last, text + len - 4, 4);
        if (jw_needs_escape((uint64_t)first << 32 | last) != 0)
            return jw_bytes(at, text, len);
        memcpy(at, &first, 4);
        memcpy(at + len - 4, &last, 4);
        return at + len;
    }
    while (len >= 8) {
        memcpy(&word, text, 8);
        if (jw_needs_escape(word) == 0) {
            memcpy(at, &word, 8);
            at += 8;
        } else {
            at = jw_bytes(at, text, 8);
            is_verbatim = false;
        }
        text += 8;
        len -= 8;
    }
    if (len == 0)
        return at;
    memcpy(&word, text + len - 8, 8);
    if (!is_verbatim || jw_needs_escape(word) != 0)
        return jw_bytes(at, text, len);
    memcpy(at + len - 8, &word, 8);
    return at + len;
}

static size_t jw_clean_length(const char *text, size_t len)
{
    size_t i = 0;

    for (; len - i >= 8; i += 8) {
        uint64_t word;

        memcpy(&word, text + i, 8);
        if (jw_needs_escape(word) != 0)
            break;
    }
    while (i < len && jw_escapes[(unsigned char)text[i]] == 0)
        i++;
    return i;
}

static void jw_long_text(jsonw *self, cg_str text)
{
    size_t done = 0;

    jw_raw(self, "\"", 1);
    while (done < text.len && self->code == CG_OK) {
        size_t clean = jw_clean_length(text.ptr + done, text.len - done);

        jw_raw(self, text.ptr + done, clean);
        done += clean;
        if (done < text.len) {
            char *at = jw_room(self, 8);

            if (at == NULL)
                return;
            jw_end_value(self, jw_escape(at, (unsigned char)text.ptr[done]));
            done++;
        }
    }
    jw_raw(self, "\"", 1);
}

static inline bool jw_is_short(cg_str text)
{
    return text.len <= (JW_BUFFER - 2 * JW_STEP) / 6;
}

void jw_key(jsonw *self, cg_str key)
{
    bool is_short = jw_is_short(key);
    char *at = jw_room(self, JW_STEP + (is_short ? 6 * key.len : 0));

    assert(key.ptr != NULL);
    assert(self->code != CG_OK ||
           (self->depth > 0 && !self->is_array[self->depth - 1] && !self->after_key));
    if (at == NULL)
        return;
    at = jw_before(self, at);
    if (is_short) {
        *at++ = '"';
        at = jw_short_text(at, key.ptr, key.len);
        *at++ = '"';
    } else {
        jw_end_value(self, at);
        jw_long_text(self, key);
        at = jw_room(self, 2);
        if (at == NULL)
            return;
    }
    *at++ = ':';
    if (self->is_pretty)
        *at++ = ' ';
    jw_end_value(self, at);
    self->after_key = true;
}

void jw_name(jsonw *self, cg_str name)
{
    char *at = jw_room(self, JW_STEP + name.len);

    assert(jw_clean_length(name.ptr, name.len) == name.len);
    assert(self->code != CG_OK ||
           (self->depth > 0 && !self->is_array[self->depth - 1] && !self->after_key));
    if (at == NULL)
        return;
    at = jw_before(self, at);
    *at++ = '"';
    memcpy(at, name.ptr, name.len);
    at += name.len;
    memcpy(at, "\": ", 3);
    jw_end_value(self, at + (self->is_pretty ? 3 : 2));
    self->after_key = true;
}

void jw_str(jsonw *self, cg_str text)
{
    bool is_short = jw_is_short(text);
    char *at;

    if (text.ptr == NULL) {
        jw_null(self);
        return;
    }
    at = jw_room(self, JW_STEP + (is_short ? 6 * text.len : 0));
    assert(self->code != CG_OK || self->after_key || self->depth == 0 ||
           self->is_array[self->depth - 1]);
    if (at == NULL)
        return;
    at = jw_before(self, at);
    if (!is_short) {
        jw_end_value(self, at);
        jw_long_text(self, text);
        return;
    }
    *at++ = '"';
    at = jw_short_text(at, text.ptr, text.len);
    *at++ = '"';
    jw_end_value(self, at);
}

/* --- other values --- */

void jw_u64(jsonw *self, uint64_t value)
{
    char *at = jw_begin_value(self);

    if (at != NULL)
        jw_end_value(self, at + num_write_u64(at, value));
}

void jw_i64(jsonw *self, int64_t value)
{
    char *at = jw_begin_value(self);

    if (at != NULL)
        jw_end_value(self, at + num_write_i64(at, value));
}

void jw_f64(jsonw *self, double value)
{
    char *at;

    if (!isfinite(value)) {
        jw_null(self);
        return;
    }
    at = jw_begin_value(self);
    if (at != NULL)
        jw_end_value(self, at + num_write_f64(at, value));
}

static void jw_word(jsonw *self, const char *word, size_t len)
{
    char *at = jw_begin_value(self);

    if (at == NULL)
        return;
    memcpy(at, word, len);
    jw_end_value(self, at + len);
}

void jw_bool(jsonw *self, bool value)
{
    jw_word(self, value ? "true" : "false", value ? 4 : 5);
}

void jw_null(jsonw *self)
{
    jw_word(self, "null", 4);
}

cg_code jw_finish(jsonw *self, cg_err *reterr)
{
    cg_code code;

    assert(self->code != CG_OK || (self->depth == 0 && !self->after_key));
    if (self->is_pretty && self->capacity > 0)
        jw_raw(self, "\n", 1);
    jw_flush(self);
    heap_resize(self->heap, self->buffer, self->capacity, 0);
    self->buffer = NULL;
    self->capacity = 0;
    heap_resize(self->heap, self->scratch, self->scratch_size, 0);
    self->scratch = NULL;
    self->scratch_size = 0;
    code = self->code;
    if (code == CG_NOMEM)
        return err_nomem(reterr);
    if (code == CG_INTERNAL)
        return cg_fail(reterr, PROBLEM_INTERNAL, "a document is nested too deeply to be written");
    if (code == CG_OUTPUT)
        return cg_fail(reterr, PROBLEM_OUTPUT, "the output could not be written");
    return code;
}
