#include "join/key_pattern.h"

#include <inttypes.h>

#include "base/num.h"

/* --- making --- */

static int8_t number_of(key_pattern *self, const key_piece *piece)
{
    for (uint32_t i = 0; i < self->number_count; i++) {
        if (str_equal(self->numbers[i]->text, piece->text) && !str_equal(piece->text, CG_LIT("_")))
            return (int8_t)i;
    }
    if (self->number_count == KEY_NUMBERS)
        return INT8_MAX;
    self->numbers[self->number_count] = piece;
    return (int8_t)self->number_count++;
}

/* Parts and segments of the pieces, counted when `segments` is NULL. */
typedef struct making {
    key_segment *segments;
    key_part *parts;
    uint32_t segment_count;
    uint32_t part_count;
    uint32_t open; /* parts of the segment that is being made */
} making;

static void close_segment(making *to)
{
    if (to->segments != NULL) {
        key_segment *segment = &to->segments[to->segment_count];

        segment->parts = to->parts + to->part_count - to->open;
        segment->count = to->open;
    }
    to->segment_count++;
    to->open = 0;
}

static void add_part(making *to, cg_str text, int8_t number, uint32_t piece)
{
    if (to->segments != NULL) {
        to->parts[to->part_count] = (key_part){text, number};
        if (to->open == 0)
            to->segments[to->segment_count].piece = piece;
    }
    to->part_count++;
    to->open++;
}

/* Between two dots, and before and behind one, is a segment, and be it empty. */
static void end_segment(making *to, uint32_t piece)
{
    if (to->open == 0)
        add_part(to, CG_LIT(""), -1, piece);
    close_segment(to);
}

static void take_pieces(const key_piece *pieces, size_t count, key_pattern *self, making *to)
{
    for (size_t i = 0; i < count; i++) {
        cg_str text = pieces[i].text;
        size_t start = 0;

        if (pieces[i].is_number) {
            add_part(to, text, number_of(self, &pieces[i]), (uint32_t)i);
            continue;
        }
        for (size_t at = 0; at <= text.len; at++) {
            if (at < text.len && text.ptr[at] != '.')
                continue;
            if (at > start)
                add_part(to, (cg_str){text.ptr + start, at - start}, -1, (uint32_t)i);
            if (at < text.len)
                end_segment(to, (uint32_t)i);
            start = at + 1;
        }
    }
    if (count > 0)
        end_segment(to, (uint32_t)count - 1);
}

bool key_pattern_make(arena *mem, const key_piece *pieces, size_t count, key_pattern *ret)
{
    key_pattern self = {0};
    making counted = {0};
    making made = {0};

    take_pieces(pieces, count, &self, &counted);
    made.segments = arena_zero(mem, (counted.segment_count + 1) * sizeof *made.segments);
    made.parts = arena_take(mem, (counted.part_count + 1) * sizeof *made.parts);
    if (made.segments == NULL || made.parts == NULL)
        return false;
    self.number_count = 0;
    take_pieces(pieces, count, &self, &made);
    self.segments = made.segments;
    self.count = made.segment_count;
    *ret = self;
    return true;
}

bool key_name_make(arena *mem, cg_str text, key_name *ret)
{
    uint32_t count = 1;
    cg_str *segments;
    size_t start = 0;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '.';
    segments = arena_take(mem, count * sizeof *segments);
    if (segments == NULL || text.ptr == NULL)
        return false;
    *ret = (key_name){text, segments, count};
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != '.')
            continue;
        *segments++ = (cg_str){text.ptr + start, i - start};
        start = i + 1;
    }
    return true;
}

/* --- matching --- */

/* Digits, with zeros before them or without. */
static bool read_digits(cg_str text, uint64_t *ret)
{
    while (text.len > 1 && text.ptr[0] == '0')
        text = (cg_str){text.ptr + 1, text.len - 1};
    return num_read_u64(text, ret);
}

/* The number at the front of `text`: its length, 0 when it is none as it would be printed. */
static size_t leading_number(cg_str text, const key_piece *as, uint64_t *ret)
{
    size_t blanks = 0;
    size_t count = 0;

    while (as->fill == ' ' && blanks + 1 < as->width && blanks < text.len &&
           text.ptr[blanks] == ' ')
        blanks++;
    text = (cg_str){text.ptr + blanks, text.len - blanks};
    while (count < text.len && text.ptr[count] >= '0' && text.ptr[count] <= '9')
        count++;
    if (count == 0 || blanks + count < as->width || (blanks > 0 && blanks + count > as->width) ||
        (count > 1 && text.ptr[0] == '0' && !(as->fill == '0' && count == as->width)) ||
        !read_digits((cg_str){text.ptr, count}, ret))
        return 0;
    return blanks + count;
}

bool key_segment_match(const key_pattern *self, uint32_t segment, cg_str text, key_numbers *numbers)
{
    const key_segment *in = &self->segments[segment];

    for (uint32_t i = 0; i < in->count; i++) {
        const key_part *part = &in->parts[i];
        uint64_t value = 0;
        size_t len = part->text.len;

        if (part->number >= (int8_t)KEY_NUMBERS)
            return false;
        if (part->number >= 0) {
            uint32_t bit = 1u << part->number;

            len = leading_number(text, self->numbers[part->number], &value);
            if (len == 0 || ((numbers->bound & bit) != 0 && numbers->at[part->number] != value))
                return false;
            numbers->bound |= bit;
            numbers->at[part->number] = value;
        } else if (!str_starts_with(text, part->text)) {
            return false;
        }
        text = (cg_str){text.ptr + len, text.len - len};
    }
    return text.len == 0;
}

bool key_pattern_match(const key_pattern *self, uint32_t from, const key_name *name, uint32_t at,
                       key_numbers *numbers)
{
    key_numbers found = *numbers;

    if (from > self->count || at > name->count || self->count - from != name->count - at)
        return false;
    /* From the end: the last segments tell keys apart. */
    for (uint32_t i = self->count - from; i > 0; i--) {
        if (!key_segment_match(self, from + i - 1, name->segments[at + i - 1], &found))
            return false;
    }
    *numbers = found;
    return true;
}

/* --- text --- */

void key_pattern_print(const key_pattern *self, uint32_t from, uint32_t to,
                       const key_numbers *numbers, buf *out)
{
    for (uint32_t i = from; i < to; i++) {
        const key_segment *segment = &self->segments[i];

        if (i > from)
            buf_byte(out, '.');
        for (uint32_t j = 0; j < segment->count; j++) {
            const key_part *part = &segment->parts[j];
            bool is_bound = numbers != NULL && part->number >= 0 &&
                            part->number < (int8_t)KEY_NUMBERS &&
                            (numbers->bound >> part->number & 1) != 0;

            if (is_bound && self->numbers[part->number]->width > 0)
                buf_addf(out, self->numbers[part->number]->fill == '0' ? "%0*" PRIu64 : "%*" PRIu64,
                         (int)self->numbers[part->number]->width, numbers->at[part->number]);
            else if (is_bound)
                buf_addf(out, "%" PRIu64, numbers->at[part->number]);
            else if (part->number >= 0)
                buf_addf(out, "{%.*s}", (int)part->text.len, part->text.ptr);
            else
                buf_add(out, part->text);
        }
    }
}

bool key_pattern_text(arena *mem, heap *from, const key_pattern *self, const key_numbers *numbers,
                      cg_str *ret)
{
    buf text;
    bool is_done;

    buf_init(&text, from, UINT32_MAX);
    key_pattern_print(self, 0, self->count, numbers, &text);
    is_done = !text.failed && arena_text(mem, buf_text(&text), ret);
    buf_free(&text);
    return is_done;
}

/* --- families --- */

typedef VEC(key_numbers) number_list;
typedef VEC(uint64_t) value_list;

typedef struct expansion {
    heap *heap;
    const key_pattern *pattern;
    const key_name *names;
    size_t name_count;
    buf prefix;
    value_list values;
    bool is_filled;      /* count members like their siblings where the file names none */
    number_list pending; /* those */
    opt_u64 sibling_first, sibling_last;
} expansion;

/* The numbers of the pattern's segment that nothing has bound yet. */
static uint32_t open_numbers(const key_pattern *self, uint32_t segment, uint32_t bound)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < self->segments[segment].count; i++) {
        int8_t number = self->segments[segment].parts[i].number;

        if (number >= 0 && number < (int8_t)KEY_NUMBERS)
            open |= 1u << number;
    }
    return open & ~bound;
}

size_t key_name_first(const key_name *names, size_t count, cg_str text)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(names[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The names that begin with the text in `prefix`: the first, and one past the last. */
static void find_range(const expansion *self, size_t *ret_first, size_t *ret_end)
{
    cg_str prefix = buf_text(&self->prefix);
    size_t low = key_name_first(self->names, self->name_count, prefix);
    size_t high = self->name_count;

    *ret_first = low;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_starts_with(self->names[middle].text, prefix))
            low = middle + 1;
        else
            high = middle;
    }
    *ret_end = low;
}

static bool add_value(expansion *self, uint64_t value)
{
    uint64_t *added;

    /* Names come in order, so the same number mostly comes again at once. */
    for (size_t i = self->values.count; i > 0 && i + 4 > self->values.count; i--) {
        if (self->values.at[i - 1] == value)
            return true;
    }
    added = vec_add(self->heap, &self->values);
    if (added != NULL)
        *added = value;
    return added != NULL;
}

static bool has_value(const expansion *self, uint64_t value)
{
    for (size_t i = 0; i < self->values.count; i++) {
        if (self->values.at[i] == value)
            return true;
    }
    return false;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/*
 * How far apart members are. Where nobody knows: as far as the named ones allow, for what lies
 * between those is asked for whatever the step is.
 */
static uint64_t step_between(const expansion *self, const key_piece *piece, uint64_t first)
{
    uint64_t step = 0;

    if (piece->spacing != KEY_EVEN)
        return piece->step.is_set && piece->step.value > 0 ? piece->step.value : 1;
    for (size_t i = 0; i < self->values.count; i++) {
        if (self->values.at[i] > first)
            step = common_divisor(self->values.at[i] - first, step);
    }
    return step > 0 ? step : 1;
}

static bool add_member(key_numbers base, unsigned number, uint64_t value, number_list *to,
                       heap *from)
{
    key_numbers *added = vec_add(from, to);

    if (added == NULL)
        return false;
    base.at[number] = value;
    base.bound |= 1u << number;
    *added = base;
    return true;
}

static bool add_values(expansion *self, const key_piece *piece, unsigned number, key_numbers base,
                       number_list *to)
{
    for (size_t i = 0; i < self->values.count && to->count <= KEY_FAMILY; i++) {
        uint64_t value = self->values.at[i];

        if ((!piece->end.is_set || value < piece->end.value) &&
            !add_member(base, number, value, to, self->heap))
            return false;
    }
    return true;
}

/* From the loop's first number to the highest named one, or just those named when that is many. */
static bool add_members(expansion *self, const key_piece *piece, unsigned number, key_numbers base,
                        number_list *to)
{
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    uint64_t step;

    if (piece->spacing == KEY_NAMED)
        return add_values(self, piece, number, base, to);
    for (size_t i = 0; i < self->values.count; i++) {
        first = self->values.at[i] < first ? self->values.at[i] : first;
        last = self->values.at[i] > last ? self->values.at[i] : last;
    }
    if (piece->first.is_set)
        first = piece->first.value;
    if (piece->end.is_set) {
        if (piece->end.value <= first)
            return true;
        last = piece->end.value - 1;
    } else if (self->values.count == 0) {
        return true;
    }
    step = step_between(self, piece, first);
    for (uint64_t value = first, count = 0; value <= last; value += step, count++) {
        if (count > 64 + 4 * (uint64_t)self->values.count && !piece->end.is_set &&
            !has_value(self, value))
            continue;
        if (count > KEY_FAMILY || to->count > KEY_FAMILY)
            break;
        if (!add_member(base, number, value, to, self->heap))
            return false;
        if (value > UINT64_MAX - step)
            break;
    }
    return true;
}

/* Several new numbers in one segment: the pairs that are named, nobody can count others. */
static bool add_named(expansion *self, uint32_t segment, size_t first, size_t end, key_numbers base,
                      number_list *to)
{
    size_t start = to->count;

    for (size_t i = first; i < end; i++) {
        key_numbers found = base;
        bool is_new = true;
        key_numbers *added;

        if (self->names[i].count <= segment ||
            !key_segment_match(self->pattern, segment, self->names[i].segments[segment], &found))
            continue;
        for (size_t j = start; j < to->count && is_new; j++)
            is_new = memcmp(&to->at[j], &found, sizeof found) != 0;
        if (!is_new || to->count > KEY_FAMILY)
            continue;
        added = vec_add(self->heap, to);
        if (added == NULL)
            return false;
        *added = found;
    }
    return true;
}

static void note_siblings(expansion *self)
{
    for (size_t i = 0; i < self->values.count; i++) {
        uint64_t value = self->values.at[i];

        if (!self->sibling_first.is_set || value < self->sibling_first.value)
            self->sibling_first = (opt_u64){value, true};
        if (!self->sibling_last.is_set || value > self->sibling_last.value)
            self->sibling_last = (opt_u64){value, true};
    }
}

static bool expand_segment(expansion *self, uint32_t segment, key_numbers base, number_list *to)
{
    uint32_t open = open_numbers(self->pattern, segment, base.bound);
    unsigned number = 0;
    size_t first;
    size_t end;

    if (open == 0) {
        key_numbers *added = vec_add(self->heap, to);

        if (added != NULL)
            *added = base;
        return added != NULL;
    }
    buf_clear(&self->prefix);
    key_pattern_print(self->pattern, 0, segment, &base, &self->prefix);
    if (segment > 0)
        buf_byte(&self->prefix, '.');
    if (self->prefix.failed)
        return false;
    find_range(self, &first, &end);
    if ((open & (open - 1)) != 0)
        return add_named(self, segment, first, end, base, to);
    while ((open >> number & 1) == 0)
        number++;
    self->values.count = 0;
    for (size_t i = first; i < end; i++) {
        key_numbers found = base;

        if (self->names[i].count > segment &&
            key_segment_match(self->pattern, segment, self->names[i].segments[segment], &found) &&
            !add_value(self, found.at[number]))
            return false;
    }
    if (self->values.count == 0 && self->is_filled && segment > 0 && base.bound != 0 &&
        !self->pattern->numbers[number]->end.is_set) {
        key_numbers *added = vec_add(self->heap, &self->pending);

        if (added != NULL)
            *added = base;
        return added != NULL;
    }
    note_siblings(self);
    return add_members(self, self->pattern->numbers[number], number, base, to);
}

/* Members below a number that the file does not name: as many as elsewhere. */
static bool fill_pending(expansion *self, uint32_t segment, number_list *to)
{
    bool is_done = true;

    for (size_t i = 0; is_done && i < self->pending.count; i++) {
        key_numbers base = self->pending.at[i];
        uint32_t open = open_numbers(self->pattern, segment, base.bound);
        unsigned number = 0;

        while ((open >> number & 1) == 0)
            number++;
        self->values.count = 0;
        if (!self->sibling_last.is_set || self->pattern->numbers[number]->spacing == KEY_NAMED)
            continue;
        is_done = add_value(self, self->sibling_first.value) &&
                  add_value(self, self->sibling_last.value) &&
                  add_members(self, self->pattern->numbers[number], number, base, to);
    }
    self->pending.count = 0;
    self->sibling_first.is_set = false;
    self->sibling_last.is_set = false;
    return is_done;
}

cg_code key_pattern_expand(heap *from, arena *mem, const key_pattern *self, const key_name *names,
                           size_t name_count, key_numbers start, bool is_filled, key_family *ret,
                           cg_err *reterr)
{
    expansion work = {.heap = from,
                      .pattern = self,
                      .names = names,
                      .name_count = name_count,
                      .is_filled = is_filled};
    number_list now = {0};
    number_list next = {0};
    bool is_done = true;
    key_numbers *added = vec_add(from, &now);

    *ret = (key_family){0};
    buf_init(&work.prefix, from, UINT32_MAX);
    if (added != NULL)
        *added = start;
    is_done = added != NULL;
    for (uint32_t segment = 0; is_done && segment < self->count; segment++) {
        number_list empty;

        next.count = 0;
        for (size_t i = 0; is_done && i < now.count; i++)
            is_done = expand_segment(&work, segment, now.at[i], &next);
        is_done = is_done && fill_pending(&work, segment, &next);
        empty = now;
        now = next;
        next = empty;
    }
    if (is_done && now.count > 0) {
        ret->at = arena_take(mem, now.count * sizeof *ret->at);
        is_done = ret->at != NULL;
        if (is_done)
            memcpy(ret->at, now.at, now.count * sizeof *ret->at);
        ret->count = now.count;
        ret->is_counted = true;
    }
    buf_free(&work.prefix);
    vec_free(from, &work.values);
    vec_free(from, &work.pending);
    vec_free(from, &now);
    vec_free(from, &next);
    return is_done ? CG_OK : err_nomem(reterr);
}
