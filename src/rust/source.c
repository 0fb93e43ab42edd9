#include "rust/source.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

#define STRIDE 1024u

static bool is_ascii_word(const char *at)
{
    return (str_load(at, 8) & UINT64_C(0x8080808080808080)) == 0;
}

/* Marks for text that is not all ASCII. */
static bool mark_characters(rust_source *self, arena *mem, size_t len)
{
    source_mark *marks;
    uint32_t count = 0;
    size_t at = 0, next = 0;

    while (len - at >= 8 && is_ascii_word(self->text.ptr + at))
        at += 8;
    while (at < len && (unsigned char)self->text.ptr[at] < 0x80)
        at++;
    if (at == len)
        return true;
    marks = arena_take(mem, (len / STRIDE + 1) * sizeof *marks);
    if (marks == NULL)
        return false;
    for (at = 0; at < len;) {
        while (next * STRIDE <= at)
            marks[next++] = (source_mark){(uint32_t)at, count};
        if (len - at >= 8 && at + 8 <= next * STRIDE && is_ascii_word(self->text.ptr + at)) {
            at += 8;
            count += 8;
            continue;
        }
        str_next(self->text, &at);
        count++;
    }
    while (next <= len / STRIDE)
        marks[next++] = (source_mark){(uint32_t)len, count};
    self->marks = marks;
    return true;
}

/* How many characters begin in text[at, end); one begins at `at`. */
static uint32_t count_characters(cg_str text, size_t at, size_t end)
{
    uint32_t count = 0;

    while (at < end) {
        if (end - at >= 8 && is_ascii_word(text.ptr + at)) {
            at += 8;
            count += 8;
            continue;
        }
        str_next(text, &at);
        count++;
    }
    return count;
}

/* How many characters begin before the offset. */
static uint32_t characters_before(const rust_source *self, size_t offset)
{
    source_mark from = self->marks[offset / STRIDE];

    return from.count + count_characters(self->text, from.offset, offset);
}

/* How many characters begin in [at, end), where a line begins at `at`. */
static uint32_t characters_between(const rust_source *self, size_t at, size_t end)
{
    if (self->marks == NULL)
        return (uint32_t)(end - at);
    return end - at <= STRIDE ? count_characters(self->text, at, end)
                              : characters_before(self, end) - characters_before(self, at);
}

bool source_init(rust_source *self, arena *mem, cg_str path, cg_str text)
{
    /* An absent text has no end to point at. */
    if (text.ptr == NULL)
        text = (cg_str){"", 0};
    size_t len = text.len < UINT32_MAX ? text.len : UINT32_MAX - 1;
    const char *end = text.ptr + len;
    uint32_t count = 1;
    uint32_t *lines;

    for (const char *at = text.ptr; len > 0 && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        count++;
    lines = arena_take(mem, count * sizeof *lines);
    if (lines == NULL)
        return false;
    lines[0] = 0;
    count = 1;
    for (const char *at = text.ptr; len > 0 && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines[count++] = (uint32_t)(at + 1 - text.ptr);
    *self = (rust_source){.path = path, .text = text, .lines = lines, .line_count = count};
    return mark_characters(self, mem, len);
}

rust_place source_place(const rust_source *self, uint32_t offset)
{
    uint32_t low = 0;
    uint32_t high = self->line_count;
    size_t at;

    if (offset > self->text.len)
        offset = (uint32_t)self->text.len;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (self->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    at = self->lines[low];
    if (low == 0 && str_starts_with(self->text, CG_LIT(BYTE_ORDER_MARK)))
        at = sizeof BYTE_ORDER_MARK - 1;
    return (rust_place){
        .line = low + 1,
        .column = at < offset ? 1 + characters_between(self, at, offset) : 1,
    };
}
