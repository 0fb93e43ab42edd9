/*
 * literals - what a string or character of Rust source stands for.
 *
 * Values are UTF-8 with line ends as the compiler sees them (`\r\n` is `\n`). What is no UTF-8, or
 * an escape of no character, is U+FFFD; a byte of `b"\xff"` is the character of that number.
 */
#ifndef CG_RUST_LITERALS_H
#define CG_RUST_LITERALS_H

#include "base/buf.h"

enum literal_form {
    LITERAL_QUOTED, /* "..", b"..", c"..", '..', b'..' */
    LITERAL_RAW,    /* r"..", r#".."# and the like */
    LITERAL_BARE,   /* no literal: only made UTF-8 */
};

/*
 * The value of `text`, a whole literal. It is part of `text` where nothing had to be changed, else
 * in `room`, until that is used again. `is_utf8`: the text is known to be. False: out of memory.
 */
bool literal_value(buf *room, cg_str text, enum literal_form form, bool is_utf8, cg_str *ret);

#endif
