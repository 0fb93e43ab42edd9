/*
 * tokens - Rust text as the tokens a macro sees.
 *
 * Marks are single characters, as in a token stream: `=>` is `=` joined to `>`. Comments are left
 * out, delimiters are tokens of their own. Any text gives some tokens; an unclosed literal
 * reaches to the end.
 */
#ifndef CG_RUST_TOKENS_H
#define CG_RUST_TOKENS_H

#include "base/arena.h"

enum rust_token_kind {
    RUST_IDENT,    /* also keywords, `_`, `r#type` */
    RUST_LIFETIME, /* `'a` */
    RUST_LITERAL,
    RUST_MARK,
    RUST_OPEN,
    RUST_CLOSE,
};

typedef struct rust_token {
    uint32_t start; /* bytes in the text, half open */
    uint32_t end;
    uint32_t partner; /* tokens_read: index of the other delimiter, or of this one without any */
    uint8_t kind;
    char mark;     /* of a mark or delimiter */
    bool is_joint; /* a mark with another one directly behind it */
} rust_token;

typedef struct rust_tokens {
    cg_str text;
    rust_token *at; /* in the arena */
    uint32_t count;
} rust_tokens;

/* The token at *at or behind it; *at moves behind it. False at the end. */
bool token_next(cg_str text, size_t *at, rust_token *ret);

/* All of them; false when out of memory. */
bool tokens_read(arena *mem, cg_str text, rust_tokens *ret);

static inline cg_str token_text(cg_str text, const rust_token *token)
{
    return (cg_str){text.ptr + token->start, token->end - token->start};
}

/* How many marks from here on are one operator outside of macros: `->` 2, `..=` 3, `+` 1. */
size_t token_operator(cg_str text, size_t at);

#endif
