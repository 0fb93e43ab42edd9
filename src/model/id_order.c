#include "model/id_order.h"

#include "base/sort.h"

#define NUMBER_DIGITS 7
#define NUMBER_BITS   25 /* 11^7 numbers: a digit or none at each place */
#define HEADS_RECENT  2  /* of both phases: they take turns */
#define HEADS_INSIDE  4  /* how often a head may begin with others, on average */
#define HEADS_MOST    ((size_t)1 << (32 - 1))
#define INTERN_SEED   UINT64_C(0x9e3779b97f4a7c15)

static cg_str id_of(void *const *records, size_t index)
{
    return *(const cg_str *)records[index];
}

/* --- numbered ids --- */

/* The text before the last number, and the number so that texts and keys have one order. */
static bool split_id(cg_str id, cg_str *ret_head, uint32_t *ret_number)
{
    size_t at = id.len;
    uint32_t number = 0;

    while (at > 0 && id.ptr[at - 1] >= '0' && id.ptr[at - 1] <= '9' && id.len - at <= NUMBER_DIGITS)
        at--;
    if (at == id.len || id.len - at > NUMBER_DIGITS)
        return false;
    for (size_t i = 0; i < NUMBER_DIGITS; i++)
        number = number * 11 + (at + i < id.len ? (uint32_t)(id.ptr[at + i] - '0') + 1 : 0);
    *ret_head = (cg_str){id.ptr, at};
    *ret_number = number;
    return true;
}

typedef struct heads {
    intern texts;
    cg_str recent[HEADS_RECENT];
    sym recent_symbol[HEADS_RECENT];
    size_t next;
} heads;

static sym head_symbol(heads *self, cg_str head)
{
    sym symbol;

    for (size_t i = 0; i < HEADS_RECENT; i++) {
        if (self->recent_symbol[i] != 0 && str_equal(self->recent[i], head))
            return self->recent_symbol[i];
    }
    symbol = intern_add(&self->texts, head);
    self->recent[self->next] = head;
    self->recent_symbol[self->next] = symbol;
    self->next = (self->next + 1) % HEADS_RECENT;
    return symbol;
}

/*
 * Heads decide before numbers only where no head goes on as a number could: behind a head there is
 * a digit, so a longer head must go on with something that comes after all digits.
 */
static bool is_decided_by_heads(const intern *texts, const uint32_t *sorted, size_t count)
{
    size_t budget = HEADS_INSIDE * count;

    for (size_t i = 0; i < count; i++) {
        cg_str head = intern_text_of(texts, sorted[i]);

        for (size_t k = i + 1; k < count; k++) {
            cg_str longer = intern_text_of(texts, sorted[k]);

            if (!str_starts_with(longer, head))
                break;
            if ((unsigned char)longer.ptr[head.len] <= '9' || budget-- == 0)
                return false;
        }
    }
    return true;
}

/* Symbols of the heads to their ranks, in the upper part of the keys. */
static bool rank_heads(heap *from, const heads *self, uint64_t *keys, size_t count, bool *ret_fits)
{
    size_t heads_count = intern_count(&self->texts) - 1;
    size_t bytes = (3 * heads_count + 1) * sizeof(uint32_t);
    size_t room_bytes = (heads_count + 1) * sizeof(uint64_t);
    uint32_t *sorted = heap_resize(from, NULL, 0, bytes);
    uint64_t *room = heap_resize(from, NULL, 0, room_bytes);
    bool is_good = sorted != NULL && room != NULL;

    if (is_good) {
        uint32_t *rank = sorted + 2 * heads_count;

        for (size_t i = 0; i < heads_count; i++)
            sorted[i] = (uint32_t)(i + 1);
        sort_symbols(sorted, sorted + heads_count, room, heads_count, &self->texts);
        *ret_fits = is_decided_by_heads(&self->texts, sorted, heads_count);
        for (size_t i = 0; i < heads_count; i++)
            rank[sorted[i]] = (uint32_t)i;
        for (size_t i = 0; i < count; i++) {
            uint64_t number = keys[i] & ((UINT64_C(1) << NUMBER_BITS) - 1);

            keys[i] = (uint64_t)rank[keys[i] >> NUMBER_BITS] << NUMBER_BITS | number;
        }
    }
    heap_resize(from, sorted, sorted != NULL ? bytes : 0, 0);
    heap_resize(from, room, room != NULL ? room_bytes : 0, 0);
    return is_good;
}

/* Keys that have the order of the ids; *ret_fits is false where there are none. */
static bool number_keys(heap *from, void *const *records, size_t count, uint64_t *keys,
                        bool *ret_fits)
{
    heads all;
    bool is_good;

    *ret_fits = count < HEADS_MOST;
    all = (heads){.next = 0};
    if (!intern_init(&all.texts, from, INTERN_SEED))
        return false;
    is_good = true;
    for (size_t i = 0; i < count && is_good && *ret_fits; i++) {
        cg_str head;
        uint32_t number;
        sym symbol;

        *ret_fits = split_id(id_of(records, i), &head, &number);
        if (!*ret_fits)
            break;
        symbol = head_symbol(&all, head);
        is_good = symbol != 0 || head.len == 0;
        *ret_fits = head.len > 0;
        keys[i] = (uint64_t)symbol << NUMBER_BITS | number;
    }
    if (is_good && *ret_fits)
        is_good = rank_heads(from, &all, keys, count, ret_fits);
    intern_free(&all.texts);
    return is_good;
}

/* --- any ids --- */

/* Ids go on alike for a hundred bytes and part a few at a time. */
static bool order_texts(heap *from, void *const *records, size_t count, uint32_t *order)
{
    size_t bytes = (count + 1) * (sizeof(cg_str) + 2 * sizeof(uint32_t));
    cg_str *ids = heap_resize(from, NULL, 0, bytes);

    if (ids == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        ids[i] = id_of(records, i);
    sort_texts(order, order + count, (uint32_t *)(ids + count), count, ids);
    heap_resize(from, ids, bytes, 0);
    return true;
}

static bool is_ascending(void *const *records, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (str_compare(id_of(records, i - 1), id_of(records, i)) >= 0)
            return false;
    }
    return true;
}

bool id_order(heap *from, void *const *records, size_t count, uint32_t *order, size_t *ret_count)
{
    size_t bytes = (count + 1) * sizeof(uint64_t);
    size_t kept = 0;
    uint64_t *keys;
    bool has_keys = false;
    bool is_good;

    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    *ret_count = count;
    if (is_ascending(records, count))
        return true;
    keys = heap_resize(from, NULL, 0, bytes);
    is_good = keys != NULL && number_keys(from, records, count, keys, &has_keys);
    if (is_good && has_keys)
        sort_by_u64(order, order + count, count, keys);
    else if (is_good)
        is_good = order_texts(from, records, count, order);
    for (size_t i = 0; i < count && is_good; i++) {
        uint32_t at = order[i];
        uint32_t last = kept > 0 ? order[kept - 1] : 0;

        if (kept > 0 && (has_keys ? keys[last] == keys[at]
                                  : str_equal(id_of(records, last), id_of(records, at))))
            continue;
        order[kept++] = at;
    }
    heap_resize(from, keys, keys != NULL ? bytes : 0, 0);
    *ret_count = kept;
    return is_good;
}
