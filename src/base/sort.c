#include "base/sort.h"

/* Below this many items insertion is the fastest order. */
#define SORT_FEW        32
#define SORT_DIGIT_BITS 11
#define SORT_DIGITS     ((size_t)1 << SORT_DIGIT_BITS)

/* --- by key --- */

static void insert_by_u64(uint32_t *items, size_t count, const uint64_t *keys)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t item = items[i];
        uint64_t key = keys[item];
        size_t at = i;

        for (; at > 0 && keys[items[at - 1]] > key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* One stable pass from `from` to `to` by the digit at `shift`; false when all digits are equal. */
static bool pass_by_u64(const uint32_t *from, uint32_t *to, size_t count, const uint64_t *keys,
                        unsigned shift, uint64_t mask)
{
    uint32_t starts[SORT_DIGITS] = {0};
    uint32_t start = 0;

    for (size_t i = 0; i < count; i++)
        starts[keys[from[i]] >> shift & mask]++;
    if (starts[keys[from[0]] >> shift & mask] == count)
        return false;
    for (size_t digit = 0; digit <= mask; digit++) {
        uint32_t size = starts[digit];

        starts[digit] = start;
        start += size;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[keys[from[i]] >> shift & mask]++] = from[i];
    return true;
}

/* Number of the highest bit of a value that is not zero, from 1. */
static unsigned bit_width(uint64_t value)
{
    unsigned width = 0;

    for (; value != 0; value >>= 1)
        width++;
    return width;
}

void sort_by_u64(uint32_t *items, uint32_t *room, size_t count, const uint64_t *keys)
{
    uint32_t *from = items;
    uint32_t *to = room;
    uint64_t changes = 0;
    bool is_sorted = true;
    unsigned low = 0;
    unsigned high;
    unsigned passes;
    unsigned bits;

    for (size_t i = 1; i < count; i++) {
        changes |= keys[items[i]] ^ keys[items[0]];
        is_sorted = is_sorted && keys[items[i - 1]] <= keys[items[i]];
    }
    if (is_sorted)
        return;
    if (count <= SORT_FEW) {
        insert_by_u64(items, count, keys);
        return;
    }
    /* Only the bits between the lowest and the highest that vary are looked at, in equal parts. */
    high = bit_width(changes);
    while ((changes >> low & 1) == 0)
        low++;
    passes = (high - low + SORT_DIGIT_BITS - 1) / SORT_DIGIT_BITS;
    bits = (high - low + passes - 1) / passes;
    for (; low < high; low += bits) {
        uint64_t mask = (UINT64_C(1) << bits) - 1;
        uint32_t *other = from;

        if ((changes >> low & mask) == 0 || !pass_by_u64(from, to, count, keys, low, mask))
            continue;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

/*
 * --- symbols by text ---
 *
 * A run of symbols that agree up to some offset is ordered by the next three bytes, then each run
 * of equal ones is looked at three bytes further. A key is those bytes, the number of bytes left (4
 * means more than three) and, in the lower half, the symbol: so "a" and "a\0" differ, and a run
 * that has nothing left holds one text only.
 */

#define KEY_BYTES    3
#define KEY_HAS_MORE 4

typedef struct symbol_run {
    size_t first, end;
    size_t offset;   /* bytes that all texts of the run share */
    bool is_ordered; /* by the keys at `offset`; its equal ones are still to be ordered */
} symbol_run;

static uint32_t text_key(const intern_text *text, size_t offset)
{
    const unsigned char *p = (const unsigned char *)text->ptr + offset;
    size_t left = text->len - offset;
    uint32_t key = 0;

    if (left > KEY_BYTES)
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | KEY_HAS_MORE;
    for (size_t i = 0; i < left; i++)
        key |= (uint32_t)p[i] << (24 - 8 * i);
    return key | (uint32_t)left;
}

static size_t shared_length(const intern_text *a, const intern_text *b, size_t offset, size_t end)
{
    while (offset + 8 <= end) {
        uint64_t left;
        uint64_t right;

        memcpy(&left, a->ptr + offset, 8);
        memcpy(&right, b->ptr + offset, 8);
        if (left != right)
            break;
        offset += 8;
    }
    while (offset < end && a->ptr[offset] == b->ptr[offset])
        offset++;
    return offset;
}

/* How far all texts of the run agree. */
static size_t run_shared_length(const uint32_t *items, const symbol_run *run,
                                const intern_text *texts)
{
    const intern_text *first = &texts[items[run->first]];
    size_t end = first->len;

    for (size_t i = run->first + 1; i < run->end && end > run->offset; i++) {
        const intern_text *text = &texts[items[i]];

        if (text->len < end)
            end = text->len;
        end = shared_length(first, text, run->offset, end);
    }
    return end;
}

static void insert_keys(uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        size_t at = i;

        /* The upper half decides: equal symbols, and only they, have equal texts. */
        for (; at > 0 && keys[at - 1] >> 32 > key >> 32; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static void count_to_starts(uint32_t *counts)
{
    uint32_t start = 0;

    for (size_t digit = 0; digit < 256; digit++) {
        uint32_t size = counts[digit];

        counts[digit] = start;
        start += size;
    }
}

/*
 * Radix order of keys by their upper half. The only room is two arrays of 32 bits, so keys go
 * there in halves and come back whole.
 */
static void radix_keys(uint64_t *keys, uint32_t *lows, uint32_t *highs, size_t count)
{
    uint32_t starts[4][256] = {{0}};
    bool is_split = false;

    for (size_t i = 0; i < count; i++)
        for (unsigned byte = 0; byte < 4; byte++)
            starts[byte][keys[i] >> (32 + 8 * byte) & 255]++;
    for (unsigned byte = 0; byte < 4; byte++) {
        uint32_t *start = starts[byte];
        unsigned shift = 8 * byte;
        uint32_t high = is_split ? highs[0] : (uint32_t)(keys[0] >> 32);

        if (start[high >> shift & 255] == count)
            continue;
        count_to_starts(start);
        if (is_split) {
            for (size_t i = 0; i < count; i++)
                keys[start[highs[i] >> shift & 255]++] = (uint64_t)highs[i] << 32 | lows[i];
        } else {
            for (size_t i = 0; i < count; i++) {
                uint32_t at = start[keys[i] >> (32 + shift) & 255]++;

                highs[at] = (uint32_t)(keys[i] >> 32);
                lows[at] = (uint32_t)keys[i];
            }
        }
        is_split = !is_split;
    }
    if (is_split)
        for (size_t i = 0; i < count; i++)
            keys[i] = (uint64_t)highs[i] << 32 | lows[i];
}

/* Order a run by its next bytes; keys[first..end) tell afterwards which are equal. */
static void order_run(uint32_t *items, uint32_t *room, uint64_t *keys, symbol_run *run,
                      const intern_text *texts)
{
    size_t count = run->end - run->first;
    uint64_t changes = 0;
    bool is_sorted = true;

    items += run->first;
    room += run->first;
    keys += run->first;
    for (size_t i = 0; i < count; i++) {
        keys[i] = (uint64_t)text_key(&texts[items[i]], run->offset) << 32 | items[i];
        changes |= keys[i] ^ keys[0];
        is_sorted = is_sorted && (i == 0 || keys[i - 1] >> 32 <= keys[i] >> 32);
    }
    run->is_ordered = true;
    if (is_sorted && changes >> 32 != 0)
        return;
    if (is_sorted) {
        /* All equal: a long common beginning is skipped at once. */
        symbol_run whole = {0, count, run->offset, false};

        run->offset = run_shared_length(items, &whole, texts);
        run->is_ordered = (keys[0] >> 32 & 255) != KEY_HAS_MORE;
        return;
    }
    if (count <= SORT_FEW)
        insert_keys(keys, count);
    else
        radix_keys(keys, items, room, count);
    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)keys[i];
}

void sort_symbols(uint32_t *items, uint32_t *room, uint64_t *keys, size_t count, const intern *of)
{
    /* The smaller part always goes first, so the stack is as deep as the width of a count. */
    symbol_run stack[66];
    const intern_text *texts;
    size_t depth = 0;

    if (count < 2)
        return;
    texts = of->texts.at;
    stack[depth++] = (symbol_run){0, count, 0, false};
    while (depth > 0) {
        symbol_run run = stack[--depth];
        symbol_run equal;

        if (run.end - run.first < 2)
            continue;
        if (!run.is_ordered) {
            order_run(items, room, keys, &run, texts);
            stack[depth++] = run;
            continue;
        }
        equal = (symbol_run){run.first, run.first + 1, run.offset + KEY_BYTES, false};
        while (equal.end < run.end && keys[equal.end] >> 32 == keys[run.first] >> 32)
            equal.end++;
        if ((keys[run.first] >> 32 & 255) != KEY_HAS_MORE)
            equal.first = equal.end; /* one text, several times */
        run.first = equal.end;
        if (equal.end - equal.first > run.end - run.first) {
            stack[depth++] = equal;
            stack[depth++] = run;
        } else {
            stack[depth++] = run;
            stack[depth++] = equal;
        }
    }
}

/* --- by a function --- */

static void insert_with(uint32_t *items, size_t count,
                        bool (*before)(const void *context, uint32_t a, uint32_t b),
                        const void *context)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t item = items[i];
        size_t at = i;

        for (; at > 0 && before(context, item, items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Merge items[0..width) and items[width..count), each in order; `room` holds the left part. */
static void merge_with(uint32_t *items, uint32_t *room, size_t width, size_t count,
                       bool (*before)(const void *context, uint32_t a, uint32_t b),
                       const void *context)
{
    size_t left = 0;
    size_t right = width;
    size_t at = 0;

    if (!before(context, items[width], items[width - 1]))
        return;
    memcpy(room, items, width * sizeof *items);
    while (left < width && right < count)
        items[at++] = before(context, items[right], room[left]) ? items[right++] : room[left++];
    memcpy(items + at, room + left, (width - left) * sizeof *items);
}

void sort_with(uint32_t *items, uint32_t *room, size_t count,
               bool (*before)(const void *context, uint32_t a, uint32_t b), const void *context)
{
    const size_t few = 12;

    for (size_t first = 0; first < count; first += few)
        insert_with(items + first, count - first < few ? count - first : few, before, context);
    for (size_t width = few; width < count; width *= 2) {
        size_t left;

        for (size_t first = 0; (left = count - first) > width; first += 2 * width) {
            size_t pair = left / 2 < width ? left : 2 * width;

            merge_with(items + first, room, width, pair, before, context);
            if (pair == left)
                break;
        }
    }
}

/* --- texts that begin alike --- */

/* How many bytes the texts have in common, `from` of which are known. */
static uint32_t shared_from(cg_str a, cg_str b, uint32_t from)
{
    size_t most = a.len < b.len ? a.len : b.len;
    size_t at = from;
    uint64_t x;
    uint64_t y;

    for (; at + sizeof x <= most; at += sizeof x) {
        memcpy(&x, a.ptr + at, sizeof x);
        memcpy(&y, b.ptr + at, sizeof y);
        if (x != y)
            break;
    }
    while (at < most && a.ptr[at] == b.ptr[at])
        at++;
    return (uint32_t)at;
}

/* Two runs, or one and nothing. An item's `shared` is with the item before it in its run. */
typedef struct text_run {
    const uint32_t *at;
    const uint32_t *shared;
    size_t count;
    uint32_t with_last; /* what its first item has in common with the item that was placed last */
} text_run;

static void take_text(text_run *from, uint32_t *item, uint32_t *shared)
{
    *item = *from->at++;
    *shared = from->with_last;
    from->shared++;
    if (--from->count > 0)
        from->with_last = *from->shared;
}

/*
 * Of two items the one that has more in common with what was placed last comes first; only where
 * both have the same in common is there anything to compare.
 */
static void merge_texts(text_run a, text_run b, uint32_t *items, uint32_t *shared,
                        const cg_str *texts)
{
    while (a.count > 0 && b.count > 0) {
        bool is_a = a.with_last > b.with_last;

        if (a.with_last == b.with_last) {
            cg_str x = texts[*a.at];
            cg_str y = texts[*b.at];
            uint32_t same = shared_from(x, y, a.with_last);

            is_a = same == x.len ||
                   (same < y.len && (unsigned char)x.ptr[same] < (unsigned char)y.ptr[same]);
            take_text(is_a ? &a : &b, items++, shared++);
            *(is_a ? &b.with_last : &a.with_last) = same;
            continue;
        }
        take_text(is_a ? &a : &b, items++, shared++);
    }
    while (a.count > 0)
        take_text(&a, items++, shared++);
    while (b.count > 0)
        take_text(&b, items++, shared++);
}

void sort_texts(uint32_t *items, uint32_t *room, uint32_t *shared, size_t count,
                const cg_str *texts)
{
    uint32_t *from = items;
    uint32_t *to = room;
    uint32_t *from_shared = shared;
    uint32_t *to_shared = shared + count;

    for (size_t i = 0; i < count; i++)
        from_shared[i] = 0;
    for (size_t width = 1; width < count; width *= 2) {
        uint32_t *other;

        for (size_t first = 0, next; first < count; first = next) {
            size_t left = count - first;
            size_t middle = left < width ? left : width;
            size_t rest = left - middle < width ? left - middle : width;

            merge_texts((text_run){from + first, from_shared + first, middle, 0},
                        (text_run){from + first + middle, from_shared + first + middle, rest, 0},
                        to + first, to_shared + first, texts);
            next = first + middle + rest;
        }
        other = from, from = to, to = other;
        other = from_shared, from_shared = to_shared, to_shared = other;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
