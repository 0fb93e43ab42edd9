#include "rust/literals.h"

/* A code point, or U+FFFD for what is none. */
static void add_point(buf *out, uint32_t point)
{
    char bytes[4];
    size_t len = 0;

    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        point = 0xfffd;
    if (point < 0x80) {
        bytes[len++] = (char)point;
    } else if (point < 0x800) {
        bytes[len++] = (char)(0xc0 | point >> 6);
        bytes[len++] = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        bytes[len++] = (char)(0xe0 | point >> 12);
        bytes[len++] = (char)(0x80 | (point >> 6 & 0x3f));
        bytes[len++] = (char)(0x80 | (point & 0x3f));
    } else {
        bytes[len++] = (char)(0xf0 | point >> 18);
        bytes[len++] = (char)(0x80 | (point >> 12 & 0x3f));
        bytes[len++] = (char)(0x80 | (point >> 6 & 0x3f));
        bytes[len++] = (char)(0x80 | (point & 0x3f));
    }
    buf_add(out, (cg_str){bytes, len});
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Hexadecimal digits from *at, `most` of them, `_` between them ignored. */
static uint32_t read_hex(cg_str text, size_t *at, size_t most)
{
    uint32_t value = 0;

    for (size_t i = 0; i < most && *at < text.len; i++, ++*at) {
        int digit = hex_digit(text.ptr[*at]);

        if (text.ptr[*at] == '_')
            continue;
        if (digit < 0)
            break;
        value = value << 4 | (uint32_t)digit;
    }
    return value;
}

/* The escape behind a backslash; *at is behind the backslash and moves behind the escape. */
static void add_escape(buf *out, cg_str text, size_t *at)
{
    char c = text.ptr[(*at)++];

    switch (c) {
    case 'n': buf_byte(out, '\n'); break;
    case 't': buf_byte(out, '\t'); break;
    case 'r': buf_byte(out, '\r'); break;
    case '0': buf_byte(out, '\0'); break;
    case 'x': add_point(out, read_hex(text, at, 2)); break;
    case 'u':
        if (*at < text.len && text.ptr[*at] == '{') {
            ++*at;
            add_point(out, read_hex(text, at, 16));
            if (*at < text.len && text.ptr[*at] == '}')
                ++*at;
        }
        break;
    case '\r':
    case '\n':
        while (*at < text.len && memchr(" \t\r\n", text.ptr[*at], 4) != NULL)
            ++*at;
        break;
    default: /* quotes, the backslash itself, and what is no escape */
        --*at;
        add_point(out, str_next(text, at));
        break;
    }
}

/* Between the quotes of a string or character, whatever stands before them. */
static cg_str between_quotes(cg_str text)
{
    size_t start = 0;

    while (start < text.len && text.ptr[start] != '"' && text.ptr[start] != '\'')
        start++;
    if (start + 1 >= text.len)
        return (cg_str){"", 0};
    if (text.ptr[text.len - 1] == text.ptr[start])
        text.len--;
    return (cg_str){text.ptr + start + 1, text.len - start - 1};
}

static cg_str between_hashes(cg_str text)
{
    size_t start = 0;
    size_t hashes = 0;

    while (start < text.len && text.ptr[start] != '"') {
        hashes += text.ptr[start] == '#';
        start++;
    }
    if (start + 1 + hashes + 1 > text.len)
        return (cg_str){"", 0};
    return (cg_str){text.ptr + start + 1, text.len - start - 2 - hashes};
}

bool literal_value(buf *room, cg_str text, enum literal_form form, bool is_utf8, cg_str *ret)
{
    bool has_escapes = form == LITERAL_QUOTED;
    size_t at = 0;

    if (form == LITERAL_QUOTED)
        text = between_quotes(text);
    else if (form == LITERAL_RAW)
        text = between_hashes(text);
    if ((!has_escapes || memchr(text.ptr, '\\', text.len) == NULL) && is_utf8 &&
        memchr(text.ptr, '\r', text.len) == NULL) {
        *ret = text;
        return true;
    }
    buf_clear(room);
    while (at < text.len) {
        char c = text.ptr[at];

        if (c == '\\' && has_escapes && at + 1 < text.len) {
            at++;
            add_escape(room, text, &at);
        } else if (c == '\r' && at + 1 < text.len && text.ptr[at + 1] == '\n') {
            at++;
        } else {
            add_point(room, str_next(text, &at));
        }
    }
    *ret = buf_text(room);
    return !room->failed;
}
