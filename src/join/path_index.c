#include "join/path_index.h"

#define NONE  UINT32_MAX
#define BOUND 8u /* placeholders of one text; one with more fits nothing */

#define PLACEHOLDER 64u /* bytes of one, braces and all */

/* --- forms --- */

static void path_canonical(cg_str name, buf *out)
{
    for (size_t i = 0; i < name.len; i++) {
        char byte = name.ptr[i];

        if (byte == ':' && i + 1 < name.len && name.ptr[i + 1] == ':') {
            byte = '.';
            i++;
        }
        buf_byte(out, byte == '/' ? '.' : byte);
    }
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Length of the placeholder at `at`, 0 when there is none. */
static size_t placeholder_at(cg_str text, size_t at)
{
    size_t most = text.len - at < PLACEHOLDER ? text.len - at : PLACEHOLDER;

    if (text.ptr[at] != '{')
        return 0;
    for (size_t i = 1; i < most; i++) {
        if (text.ptr[at + i] == '}')
            return i + 1;
    }
    return 0;
}

static bool has_placeholder(cg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (placeholder_at(text, i) > 0)
            return true;
    }
    return false;
}

/* Numbers and placeholders that touch, as one byte. */
static void add_shape(cg_str text, buf *out)
{
    bool was_number = false;
    size_t at = 0;

    while (at < text.len) {
        size_t len = placeholder_at(text, at);

        if (len == 0 && is_digit(text.ptr[at]))
            len = 1; /* digit by digit: those that follow are of the same number */
        if (len == 0)
            buf_byte(out, text.ptr[at]);
        else if (!was_number)
            buf_byte(out, '#');
        was_number = len > 0;
        at += len > 0 ? len : 1;
    }
}

/* Does a name, both in canonical form, fit a text with placeholders? */
static bool path_fits(cg_str text, cg_str name)
{
    struct {
        cg_str name, number;
    } bound[BOUND];
    size_t count = 0;
    size_t at = 0;
    size_t in = 0;

    while (at < text.len) {
        size_t len = placeholder_at(text, at);
        cg_str mark = {text.ptr + at, len};
        cg_str number = {name.ptr + in, 0};
        size_t known = 0;

        if (len == 0) {
            if (in == name.len || text.ptr[at] != name.ptr[in])
                return false;
            at++;
            in++;
            continue;
        }
        while (in + number.len < name.len && is_digit(name.ptr[in + number.len]))
            number.len++;
        if (in + len <= name.len && str_equal(mark, (cg_str){name.ptr + in, len}))
            number.len = len; /* a name that leaves it open as well */
        if (number.len == 0 ||
            (number.len > 1 && number.ptr[0] == '0' && str_find(mark, CG_LIT(":0")) == SIZE_MAX))
            return false;
        while (known < count && !str_equal(bound[known].name, mark))
            known++;
        if (known < count && !str_equal(bound[known].number, number))
            return false;
        if (known == count) {
            if (count == BOUND)
                return false;
            bound[count].name = mark;
            bound[count++].number = number;
        }
        at += len;
        in += number.len;
    }
    return in == name.len;
}

/* --- the index --- */

bool path_index_init(path_index *self, heap *from, uint64_t seed)
{
    *self = (path_index){0};
    buf_init(&self->room, from, SIZE_MAX / 2);
    buf_init(&self->shape, from, SIZE_MAX / 2);
    if (!intern_init(&self->texts, from, seed))
        return false;
    if (intern_init(&self->shapes, from, seed)) {
        self->heap = from;
        return true;
    }
    intern_free(&self->texts);
    return false;
}

void path_index_free(path_index *self)
{
    if (self->heap == NULL)
        return;
    intern_free(&self->texts);
    intern_free(&self->shapes);
    vec_free(self->heap, &self->entries);
    vec_free(self->heap, &self->first_of_text);
    vec_free(self->heap, &self->first_of_shape);
    buf_free(&self->room);
    buf_free(&self->shape);
}

static bool chain(heap *from, uint32_t **at, size_t *count, size_t *capacity, sym symbol,
                  path_entry *entries, uint32_t fresh)
{
    uint32_t *link;

    if (symbol >= *count) {
        if (!vec_grow(from, (void **)at, capacity, (size_t)symbol + 1, sizeof **at))
            return false;
        while (*count <= symbol)
            (*at)[(*count)++] = NONE;
    }
    /* The newest first: look-ups turn the order around. */
    link = &(*at)[symbol];
    entries[fresh].next = *link;
    *link = fresh;
    return true;
}

bool path_index_add(path_index *self, cg_str text, uint32_t value)
{
    uint32_t fresh = (uint32_t)self->entries.count;
    path_entry *entry;
    sym symbol;

    if (text.len == 0)
        return true;
    buf_clear(&self->room);
    path_canonical(text, &self->room);
    symbol = self->room.failed ? 0 : intern_add(&self->texts, buf_text(&self->room));
    entry = symbol != 0 ? vec_add(self->heap, &self->entries) : NULL;
    if (entry == NULL)
        return false;
    *entry = (path_entry){intern_text_of(&self->texts, symbol), value, NONE};
    if (!has_placeholder(entry->text))
        return chain(self->heap, &self->first_of_text.at, &self->first_of_text.count,
                     &self->first_of_text.capacity, symbol, self->entries.at, fresh);
    buf_clear(&self->shape);
    add_shape(entry->text, &self->shape);
    symbol = self->shape.failed ? 0 : intern_add(&self->shapes, buf_text(&self->shape));
    return symbol != 0 && chain(self->heap, &self->first_of_shape.at, &self->first_of_shape.count,
                                &self->first_of_shape.capacity, symbol, self->entries.at, fresh);
}

static void reverse(uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t last = values[count - 1 - i];

        values[count - 1 - i] = values[i];
        values[i] = last;
    }
}

static uint32_t first_of(const uint32_t *at, size_t count, sym symbol)
{
    return symbol != 0 && symbol < count ? at[symbol] : NONE;
}

bool path_index_find(path_index *self, cg_str name, path_hits *hits)
{
    uint32_t at;
    cg_str canonical;

    hits->values.count = 0;
    hits->is_template = false;
    buf_clear(&self->room);
    path_canonical(name, &self->room);
    if (self->room.failed)
        return false;
    canonical = buf_text(&self->room);
    at = first_of(self->first_of_text.at, self->first_of_text.count,
                  intern_find(&self->texts, canonical));
    if (at == NONE && self->first_of_shape.count > 0) {
        hits->is_template = true;
        buf_clear(&self->shape);
        add_shape(canonical, &self->shape);
        if (self->shape.failed)
            return false;
        at = first_of(self->first_of_shape.at, self->first_of_shape.count,
                      intern_find(&self->shapes, buf_text(&self->shape)));
    }
    for (; at != NONE; at = self->entries.at[at].next) {
        uint32_t *value;

        if (hits->is_template && !path_fits(self->entries.at[at].text, canonical))
            continue;
        value = vec_add(self->heap, &hits->values);
        if (value == NULL)
            return false;
        *value = self->entries.at[at].value;
    }
    reverse(hits->values.at, hits->values.count);
    return true;
}

void path_hits_free(heap *from, path_hits *self)
{
    vec_free(from, &self->values);
}
