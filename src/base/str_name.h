/*
 * str_name - arguments of `%.*s` for text that goes on into documents.
 *
 * ERR_STR shortens what comes from an input, for messages. A name that others
 * compare must not be cut to the length of a message: two long ones would
 * become equal.
 */
#ifndef CG_BASE_STR_NAME_H
#define CG_BASE_STR_NAME_H

#include "base/str.h"

/* All of it. */
#define STR_ALL(text) (int)(text).len, (text).ptr

/*
 * For a name that is made of other names, again and again: 500 bytes of it, so that a chain of a
 * hundred thousand calls makes no text of that length squared.
 */
#define STR_NAME(text) (int)str_name_len(text), (text).ptr

static inline size_t str_name_len(cg_str text)
{
    size_t len = text.len < 500 ? text.len : 500;

    while (len > 0 && len < text.len && ((unsigned char)text.ptr[len] & 0xc0u) == 0x80u)
        len--;
    return len;
}

#endif
