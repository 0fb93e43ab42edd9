#include "print.h"

#include <stdarg.h>

void print_open(printer *self, cg_sink sink)
{
    self->sink = sink;
    self->code = CG_OK;
    self->len = 0;
}

static void flush(printer *self)
{
    if (self->code == CG_OK && self->len > 0)
        self->code = self->sink.write(self->sink.context, self->at, self->len);
    self->len = 0;
}

size_t print_fill(char *room, size_t size, size_t *len, const char *bytes, size_t count)
{
    size_t part = size - *len < count ? size - *len : count;

    memcpy(room + *len, bytes, part);
    *len += part;
    return part;
}

static void add(printer *self, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t part = print_fill(self->at, sizeof self->at, &self->len, bytes, count);

        if (part == 0)
            flush(self);
        bytes += part;
        count -= part;
    }
}

void print_text(printer *self, const char *text)
{
    add(self, text, strlen(text));
}

void print_format(printer *self, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0)
        add(self, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

static void pad(printer *self, size_t from, size_t to)
{
    for (; from < to; from++)
        add(self, " ", 1);
}

/* The words of `text` from `column` on, of a line that is at `indent` already. */
static void wrap(printer *self, const char *text, size_t indent, size_t width)
{
    size_t column = indent;

    while (*text != '\0') {
        size_t size = strcspn(text, " ");

        if (column > indent && column + 1 + size > width) {
            add(self, "\n", 1);
            pad(self, 0, indent);
            column = indent;
        }
        if (column > indent) {
            add(self, " ", 1);
            column++;
        }
        add(self, text, size);
        column += size;
        text += size;
        while (*text == ' ')
            text++;
    }
    add(self, "\n", 1);
}

void print_wrapped(printer *self, const char *text, size_t indent, size_t width)
{
    pad(self, 0, indent);
    wrap(self, text, indent, width);
}

void print_row(printer *self, const char *head, size_t column, const char *text, size_t width)
{
    size_t size = strlen(head);

    add(self, head, size);
    if (size > column) {
        add(self, "\n", 1);
        size = 0;
    }
    pad(self, size, column);
    wrap(self, text, column, width);
}

cg_code print_close(printer *self)
{
    flush(self);
    return self->code;
}

/* Length of the well-formed UTF-8 sequence at `text`, 0 when there is none; its code point. */
static size_t decode(const unsigned char *text, uint32_t *ret)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = text[0] < 0x80             ? 1
                  : (text[0] & 0xE0) == 0xC0 ? 2
                  : (text[0] & 0xF0) == 0xE0 ? 3
                  : (text[0] & 0xF8) == 0xF0 ? 4
                                             : 0;
    uint32_t point;

    if (size <= 1) {
        *ret = text[0];
        return size;
    }
    point = text[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (text[i] & 0x3Fu);
    }
    if (point < smallest[size] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return 0;
    *ret = point;
    return size;
}

static bool is_harmless(uint32_t point)
{
    return point >= 0x20 && !(point >= 0x7F && point <= 0x9F) && point != 0xAD && point != 0x61C &&
           point != 0x180E && !(point >= 0x200B && point <= 0x200F) &&
           !(point >= 0x2028 && point <= 0x202E) && !(point >= 0x2060 && point <= 0x206F) &&
           point != 0xFEFF && !(point >= 0xFFF9 && point <= 0xFFFB) &&
           !(point >= 0xE0000 && point <= 0xE0FFF);
}

print_safe print_safe_word(const char *word)
{
    print_safe ret;
    const unsigned char *text = (const unsigned char *)word;
    size_t len = 0;

    while (*text != '\0') {
        uint32_t point = 0;
        size_t size = decode(text, &point);
        bool is_plain = size > 0 && is_harmless(point);

        if (size == 0)
            size = 1;
        if (len + 4 * size + 4 > sizeof ret.at) {
            memcpy(ret.at + len, "\xE2\x80\xA6", 3);
            len += 3;
            break;
        }
        for (size_t i = 0; i < size; i++) {
            if (is_plain)
                ret.at[len++] = (char)text[i];
            else
                len += (size_t)snprintf(ret.at + len, sizeof ret.at - len, "\\x%02x", text[i]);
        }
        text += size;
    }
    ret.at[len] = '\0';
    return ret;
}

#define WORD_ROOM 40

/* Edits (insert, delete, replace, swap of neighbours) between two words. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][WORD_ROOM + 1];
    size_t *before = rows[0];
    size_t *last = rows[1];
    size_t *now = rows[2];

    for (size_t j = 0; j <= b_len; j++)
        last[j] = j;
    memcpy(before, last, sizeof rows[0]);
    for (size_t i = 1; i <= a_len; i++) {
        size_t *free_row = before;

        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        before = last;
        last = now;
        now = free_row;
    }
    return last[b_len];
}

bool print_nearest(const char *word, const char *words, char *ret, size_t room)
{
    size_t len = strlen(word);
    size_t best = SIZE_MAX;

    if (len == 0 || len > WORD_ROOM)
        return false;
    for (const char *at = words; *at != '\0';) {
        size_t size = strcspn(at, " ");
        size_t far = size <= WORD_ROOM ? distance(word, len, at, size) : SIZE_MAX;
        bool is_begin = len >= 3 && size > len && memcmp(word, at, len) == 0;

        if (is_begin && far > 1)
            far = 1;
        if (far <= 1 + len / 4 && far < len && far < best && size < room) {
            best = far;
            memcpy(ret, at, size);
            ret[size] = '\0';
        }
        at += size;
        at += *at == ' ';
    }
    return best != SIZE_MAX;
}

print_list print_list_of(const char *words)
{
    print_list ret;
    size_t len = 0;

    for (const char *at = words; *at != '\0';) {
        size_t size = strcspn(at, " ");

        if (len + size + 3 > sizeof ret.at)
            break;
        if (len > 0) {
            memcpy(ret.at + len, ", ", 2);
            len += 2;
        }
        memcpy(ret.at + len, at, size);
        len += size;
        at += size;
        at += *at == ' ';
    }
    ret.at[len] = '\0';
    return ret;
}

bool print_has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = words; *at != '\0';) {
        size_t size = strcspn(at, " ");

        if (size == len && memcmp(at, word, len) == 0)
            return true;
        at += size;
        at += *at == ' ';
    }
    return false;
}
