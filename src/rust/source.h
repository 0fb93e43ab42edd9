/*
 * source - the text of one Rust file, and where in it something stands.
 *
 * Offsets are bytes from 0; lines and columns count from 1, columns in
 * characters (code points).
 */
#ifndef CG_RUST_SOURCE_H
#define CG_RUST_SOURCE_H

#include "base/arena.h"

/* The first character at or behind a place, and how many come before it. */
typedef struct source_mark {
    uint32_t offset;
    uint32_t count;
} source_mark;

typedef struct rust_source {
    cg_str path; /* as shown to users: relative to the crate, `/` between parts */
    cg_str text; /* UTF-8; bytes that are not are kept and counted as one character each */
    const uint32_t *lines; /* offset of the first byte of each line */
    uint32_t line_count;
    const source_mark *marks; /* one each 1024 bytes; NULL: every byte is a character */
} rust_source;

typedef struct rust_place {
    uint32_t line;
    uint32_t column;
} rust_place;

/* Index the lines of `text`, which must outlive the source. Line table in `mem`. */
bool source_init(rust_source *self, arena *mem, cg_str path, cg_str text);
/* However long the line is, in a few steps. */
rust_place source_place(const rust_source *self, uint32_t offset);

#endif
