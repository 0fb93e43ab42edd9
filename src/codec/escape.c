#include "codec/escape.h"

/* Printable ASCII passes every door as it is unless a door says otherwise. */
static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7F;
}

/* Add the code point at *at in its safe form and move behind it. */
static void add_safe(buf *out, cg_str text, size_t *at)
{
    char piece[STR_SAFE_ROOM];
    size_t size = str_next_safe(text, at, piece);

    buf_add(out, (cg_str){piece, size});
}

void esc_tty(buf *out, cg_str text)
{
    size_t at = 0;

    while (at < text.len) {
        size_t first = at;

        while (at < text.len && is_plain(text.ptr[at]))
            at++;
        buf_add(out, (cg_str){text.ptr + first, at - first});
        if (at < text.len)
            add_safe(out, text, &at);
    }
}

static cg_str md_entity(char c)
{
    switch (c) {
    case '<': return CG_LIT("&lt;");
    case '>': return CG_LIT("&gt;");
    case '&': return CG_LIT("&amp;");
    default: return (cg_str){NULL, 0};
    }
}

/*
 * Does a block begin here when `text` begins a line? Headings, lists, rules and underlines do;
 * *ret is the offset of the character that a backslash takes its meaning from.
 */
static bool md_block(cg_str text, size_t *ret)
{
    size_t at = 0;
    size_t digits;
    bool is_last;

    while (at < text.len && text.ptr[at] == ' ')
        at++;
    digits = at;
    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
        at++;
    if (at == text.len)
        return false;
    *ret = at;
    is_last = at + 1 == text.len;
    if (at > digits)
        return (text.ptr[at] == '.' || text.ptr[at] == ')') && (is_last || text.ptr[at + 1] == ' ');
    if (text.ptr[at] == '#' || text.ptr[at] == '=')
        return true;
    return (text.ptr[at] == '-' || text.ptr[at] == '+') &&
           (is_last || text.ptr[at + 1] == ' ' || text.ptr[at + 1] == text.ptr[at]);
}

void esc_md(buf *out, cg_str text)
{
    size_t block;
    size_t at = 0;

    /* A caller may have begun the line with "- " or the like: every text counts as a beginning. */
    if (!md_block(text, &block))
        block = SIZE_MAX;
    while (at < text.len) {
        char c = text.ptr[at];
        cg_str entity = md_entity(c);

        if (!is_plain(c)) {
            add_safe(out, text, &at);
            continue;
        }
        if (entity.len > 0) {
            buf_add(out, entity);
        } else {
            /* The backslash too: it would take the meaning from the one that is put behind it. */
            if (at == block || memchr("\\`|*_[]~$", c, 9) != NULL)
                buf_byte(out, '\\');
            buf_byte(out, c);
        }
        at++;
    }
}

void esc_html(buf *out, cg_str text)
{
    size_t at = 0;

    while (at < text.len) {
        char c = text.ptr[at];

        if (!is_plain(c) && c != '\n' && c != '\t') {
            add_safe(out, text, &at);
            continue;
        }
        at++;
        switch (c) {
        case '&': buf_add(out, CG_LIT("&amp;")); break;
        case '<': buf_add(out, CG_LIT("&lt;")); break;
        case '>': buf_add(out, CG_LIT("&gt;")); break;
        case '"': buf_add(out, CG_LIT("&quot;")); break;
        case '\'': buf_add(out, CG_LIT("&#39;")); break;
        default: buf_byte(out, c); break;
        }
    }
}

/* Length of what must not stand in a script element at the beginning of `text`; 0: nothing. */
static size_t script_active(cg_str text)
{
    if (text.ptr[0] == '<' || text.ptr[0] == '>' || text.ptr[0] == '&')
        return 1;
    if (str_starts_with(text, CG_LIT("\xE2\x80\xA8")) ||
        str_starts_with(text, CG_LIT("\xE2\x80\xA9")))
        return 3;
    return 0;
}

void esc_script(buf *out, cg_str json)
{
    size_t first = 0;
    size_t at = 0;

    while (at < json.len) {
        cg_str rest = {json.ptr + at, json.len - at};
        size_t size = script_active(rest);

        if (size == 0) {
            at++;
            continue;
        }
        buf_add(out, (cg_str){json.ptr + first, at - first});
        if (size == 1)
            buf_addf(out, "\\u00%02x", (unsigned)rest.ptr[0]);
        else
            buf_addf(out, "\\u20%02x", (unsigned)(unsigned char)rest.ptr[2] - 0x80u);
        at += size;
        first = at;
    }
    buf_add(out, (cg_str){json.ptr + first, json.len - first});
}
