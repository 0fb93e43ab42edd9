#include "rust/tokens.h"

static char char_at(cg_str text, size_t at)
{
    return at < text.len ? text.ptr[at] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c) ||
           (unsigned char)c >= 0x80;
}

static bool is_mark(char c)
{
    return c != '\0' && strchr("~!@#$%^&*-=+|;:,<.>/?\\`", c) != NULL;
}

static bool is_comment(cg_str text, size_t at)
{
    return char_at(text, at) == '/' &&
           (char_at(text, at + 1) == '/' || char_at(text, at + 1) == '*');
}

static size_t skip_comment(cg_str text, size_t at)
{
    size_t depth = 1;

    if (text.ptr[at + 1] == '/') {
        while (at < text.len && text.ptr[at] != '\n')
            at++;
        return at;
    }
    for (at += 2; at < text.len && depth > 0; at++) {
        if (text.ptr[at] == '*' && char_at(text, at + 1) == '/') {
            depth--;
            at++;
        } else if (text.ptr[at] == '/' && char_at(text, at + 1) == '*') {
            depth++;
            at++;
        }
    }
    return at;
}

/* Anything that begins no token is a space: blanks, control characters, a byte order mark. */
static size_t skip_space(cg_str text, size_t at)
{
    while (at < text.len) {
        char c = text.ptr[at];

        if (is_comment(text, at))
            at = skip_comment(text, at);
        else if (is_word(c) || is_mark(c) || (c != '\0' && strchr("\"'()[]{}", c) != NULL))
            break;
        else
            at++;
    }
    return at;
}

/* `at` is behind the opening quote; the end is behind the closing one and a suffix. */
static size_t skip_quoted(cg_str text, size_t at, char quote)
{
    while (at < text.len && text.ptr[at] != quote)
        at += text.ptr[at] == '\\' ? 2 : 1;
    at = at < text.len ? at + 1 : text.len;
    while (is_word(char_at(text, at)))
        at++;
    return at;
}

/* `at` is at the hashes or the quote of a raw string; 0 when there is none. */
static size_t skip_raw(cg_str text, size_t at)
{
    size_t hashes = 0;

    while (char_at(text, at) == '#') {
        hashes++;
        at++;
    }
    if (char_at(text, at) != '"')
        return 0;
    for (at++; at < text.len; at++) {
        size_t i = 0;

        if (text.ptr[at] != '"')
            continue;
        while (i < hashes && char_at(text, at + 1 + i) == '#')
            i++;
        if (i == hashes)
            return at + 1 + hashes;
    }
    return text.len;
}

static size_t skip_word(cg_str text, size_t at)
{
    while (at < text.len && is_word(text.ptr[at]))
        at++;
    return at;
}

static size_t skip_number(cg_str text, size_t at)
{
    bool is_decimal = !(text.ptr[at] == '0' && strchr("xbo", char_at(text, at + 1)) != NULL &&
                        char_at(text, at + 1) != '\0');

    at = skip_word(text, at);
    if (!is_decimal)
        return at;
    if (char_at(text, at) == '.' && char_at(text, at + 1) != '.' &&
        (!is_word(char_at(text, at + 1)) || is_digit(char_at(text, at + 1))))
        at = skip_word(text, at + 1);
    if ((text.ptr[at - 1] == 'e' || text.ptr[at - 1] == 'E') &&
        (char_at(text, at) == '+' || char_at(text, at) == '-') && is_digit(char_at(text, at + 1)))
        at = skip_word(text, at + 1);
    return at;
}

/* A word may begin a literal: r"..", r#".."#, b"..", b'..', br"..", c"..", cr".."; or be r#type. */
static size_t skip_word_or_literal(cg_str text, size_t at, uint8_t *ret_kind)
{
    char c = text.ptr[at];
    size_t prefix = 0;
    size_t end = 0;

    *ret_kind = RUST_LITERAL;
    if (c == 'b' || c == 'c')
        prefix++;
    if (char_at(text, at + prefix) == 'r')
        end = skip_raw(text, at + prefix + 1);
    else if (prefix > 0 && char_at(text, at + 1) == '"')
        end = skip_quoted(text, at + 2, '"');
    else if (c == 'b' && char_at(text, at + 1) == '\'')
        end = skip_quoted(text, at + 2, '\'');
    if (end != 0)
        return end;
    *ret_kind = RUST_IDENT;
    if (c == 'r' && char_at(text, at + 1) == '#' && is_word(char_at(text, at + 2)))
        at += 2;
    return skip_word(text, at);
}

static size_t skip_tick(cg_str text, size_t at, uint8_t *ret_kind)
{
    size_t behind = at + 1;

    *ret_kind = RUST_LITERAL;
    if (char_at(text, behind) == '\\')
        return skip_quoted(text, behind, '\'');
    if (behind < text.len)
        str_next(text, &behind);
    if (char_at(text, behind) == '\'')
        return behind + 1;
    *ret_kind = RUST_LIFETIME;
    return skip_word(text, at + 1);
}

bool token_next(cg_str text, size_t *at, rust_token *ret)
{
    rust_token token = {0};
    size_t start = skip_space(text, *at);
    size_t end = start + 1;
    char c;

    if (start >= text.len) {
        *at = text.len;
        return false;
    }
    c = text.ptr[start];
    if (is_digit(c)) {
        token.kind = RUST_LITERAL;
        end = skip_number(text, start);
    } else if (is_word(c)) {
        end = skip_word_or_literal(text, start, &token.kind);
    } else if (c == '"') {
        token.kind = RUST_LITERAL;
        end = skip_quoted(text, start + 1, '"');
    } else if (c == '\'') {
        end = skip_tick(text, start, &token.kind);
    } else {
        token.mark = c;
        token.kind = RUST_MARK;
        if (c == '(' || c == '[' || c == '{')
            token.kind = RUST_OPEN;
        else if (c == ')' || c == ']' || c == '}')
            token.kind = RUST_CLOSE;
        else
            token.is_joint = is_mark(char_at(text, end)) && !is_comment(text, end);
    }
    if (end > text.len)
        end = text.len;
    token.start = (uint32_t)start;
    token.end = (uint32_t)end;
    *at = end;
    *ret = token;
    return true;
}

/* Without a stack: an open delimiter keeps in `partner` the one that is open around it. */
static void find_partners(rust_tokens *self)
{
    uint32_t open = UINT32_MAX;

    for (uint32_t i = 0; i < self->count; i++) {
        rust_token *token = &self->at[i];

        token->partner = i;
        if (token->kind == RUST_OPEN) {
            token->partner = open;
            open = i;
        } else if (token->kind == RUST_CLOSE && open != UINT32_MAX) {
            uint32_t around = self->at[open].partner;

            token->partner = open;
            self->at[open].partner = i;
            open = around;
        }
    }
    while (open != UINT32_MAX) {
        uint32_t around = self->at[open].partner;

        self->at[open].partner = open;
        open = around;
    }
}

bool tokens_read(arena *mem, cg_str text, rust_tokens *ret)
{
    rust_tokens all = {.text = text};
    rust_token token;
    size_t at = 0;

    while (token_next(text, &at, &token))
        all.count++;
    all.at = arena_take(mem, (all.count + (size_t)1) * sizeof *all.at);
    if (all.at == NULL)
        return false;
    at = 0;
    for (uint32_t i = 0; i < all.count; i++)
        (void)token_next(text, &at, &all.at[i]);
    find_partners(&all);
    *ret = all;
    return true;
}

size_t token_operator(cg_str text, size_t at)
{
    static const char operators[][4] = {
        "<<=", ">>=", "...", "..=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&",
        "||",  "..",  "<<",  ">>",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|="};

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t len = strlen(operators[i]);

        if (text.len - at >= len && memcmp(text.ptr + at, operators[i], len) == 0)
            return len;
    }
    return 1;
}
