/*
 * str - text slices: compare, find, trim, split, check.
 *
 * A slice is a pointer and a length; it owns nothing and may hold NUL bytes.
 * An absent slice has a NULL pointer and is different from an empty one.
 */
#ifndef CG_BASE_STR_H
#define CG_BASE_STR_H

#include <string.h>

#include "candlegraph/base.h"

#define CG_LIT(text) ((cg_str){(text), sizeof(text) - 1})

typedef struct opt_u64 {
    uint64_t value;
    bool is_set;
} opt_u64;

typedef struct opt_f64 {
    double value;
    bool is_set;
} opt_f64;

/* A slice over a NUL-terminated string; absent for NULL. */
cg_str str_from(const char *text);

static inline uint64_t str_load(const char *at, size_t count)
{
    uint64_t word = 0;

    memcpy(&word, at, count);
    return word;
}

/* Inline for up to 16 bytes: nearly every key and id, and a call costs more than the comparison. */
static inline bool str_equal(cg_str a, cg_str b)
{
    size_t len = a.len;

    if (len != b.len)
        return false;
    if (len > 16)
        return memcmp(a.ptr, b.ptr, len) == 0;
    if (len >= 8)
        return str_load(a.ptr, 8) == str_load(b.ptr, 8) &&
               str_load(a.ptr + len - 8, 8) == str_load(b.ptr + len - 8, 8);
    if (len >= 4)
        return str_load(a.ptr, 4) == str_load(b.ptr, 4) &&
               str_load(a.ptr + len - 4, 4) == str_load(b.ptr + len - 4, 4);
    for (size_t i = 0; i < len; i++) {
        if (a.ptr[i] != b.ptr[i])
            return false;
    }
    return true;
}

/* The same with a word of a table: most differ in the first byte, and are not measured for it. */
static inline bool str_is(cg_str text, const char *word)
{
    return text.len == 0 ? word[0] == '\0'
                         : text.ptr[0] == word[0] && str_equal(text, str_from(word));
}

/* Bytewise order as memcmp, a prefix sorts first. */
int str_compare(cg_str a, cg_str b);

bool str_starts_with(cg_str text, cg_str prefix);
bool str_ends_with(cg_str text, cg_str suffix);

/* Offset of the first occurrence, or SIZE_MAX. */
size_t str_find(cg_str text, cg_str part);
/* Offset of the last `byte`, or SIZE_MAX. */
size_t str_find_last(cg_str text, char byte);

/* Without Unicode white space (White_Space property) on both sides. */
cg_str str_trim(cg_str text);
/* Nothing but Unicode white space? */
bool str_is_blank(cg_str text);

/* Offset of the first byte that is not part of well-formed UTF-8, or SIZE_MAX. */
size_t str_utf8_error(cg_str text);

/*
 * Decode one code point at *at (must be below text.len) and move *at behind
 * it. A malformed byte yields 0xFFFD and moves by one.
 */
uint32_t str_next(cg_str text, size_t *at);

/*
 * Write the code point at *at in a form that no terminal, pager or log acts on, and move *at behind
 * it. Control and malformed bytes become \xNN (\n, \t, \r by letter), bidirectional controls,
 * separators and invisible characters \uNNNN; everything else stays as it is. Returns the number of
 * bytes written.
 */
#define STR_SAFE_ROOM 12
size_t str_next_safe(cg_str text, size_t *at, char *out);

/* Cells a code point takes on a terminal: 0, 1 or 2. */
unsigned str_cells(uint32_t code_point);

/* ASCII only; `text` may be of any case, `lower` must be lower case. */
bool str_equal_nocase(cg_str text, cg_str lower);

#endif
