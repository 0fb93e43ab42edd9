#include "base/intern.h"

#include "base/num.h"

#define INTERN_FIRST_BITS 10
#define INTERN_LAST_BITS  32

#define PAGE_BITS     10
#define PAGE_SIZE     ((size_t)1 << PAGE_BITS)
#define NUMBER_DIGITS 8 /* keeps every page table below a megabyte */

/* Stands for a page whose texts go through the hash; never written. */
static sym refused_page[1];

/* --- hash: two multiplications for short texts, one more for every 16 bytes --- */

static uint64_t hash_mix(uint64_t a, uint64_t b)
{
    uint64_t high;
    uint64_t low = num_mul_wide(a, b, &high);

    return low ^ high;
}

static uint64_t hash_word(const char *p, size_t size)
{
    uint64_t word = 0;

    memcpy(&word, p, size);
    return word;
}

/* Odd numbers with even bits: the fractions of the square roots of 2, 3 and 5. */
#define HASH_A UINT64_C(0x6a09e667f3bcc909)
#define HASH_B UINT64_C(0xbb67ae8584caa73b)
#define HASH_C UINT64_C(0x3c6ef372fe94f82b)

/*
 * The last four bits of the text are not mixed but taken over as they are: names that count (`s10`,
 * `s11`, `t7/op/3`) come to lie in neighbouring slots, so a stream of them costs one cache line
 * for several names instead of one for each. Sixteen texts at most are neighbours for this reason.
 */
static uint32_t hash_text(cg_str text, uint64_t seed)
{
    const char *p = text.ptr;
    size_t left = text.len > 0 ? text.len - 1 : 0;
    uint64_t last = text.len > 0 ? (unsigned char)text.ptr[left] : 0;
    uint64_t tail = (uint64_t)text.len ^ (last >> 4) << 60 ^ HASH_C ^ seed;
    uint64_t state = seed ^ HASH_C;
    uint64_t a = 0;
    uint64_t b = 0;

    for (; left > 16; p += 16, left -= 16)
        state = hash_mix(hash_word(p, 8) ^ HASH_A, hash_word(p + 8, 8) ^ state);
    if (left >= 8) {
        a = hash_word(p, 8);
        b = hash_word(p + left - 8, 8);
    } else if (left >= 4) {
        a = hash_word(p, 4);
        b = hash_word(p + left - 4, 4);
    } else if (left > 0) {
        a = (uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[left / 2] << 8 |
            (unsigned char)p[left - 1];
    }
    state = hash_mix(a ^ HASH_A, b ^ state);
    return (uint32_t)(hash_mix(state ^ HASH_B, tail) >> 32) ^ (uint32_t)(last & 15);
}

/*
 * --- table: the upper bits of a hash choose sixteen slots, the lowest four bits where a search
 * starts in them. So growing walks the old and the new table in the same direction ---
 */

static size_t slot_first(uint32_t hash, size_t slot_count)
{
    return ((size_t)((uint64_t)hash * slot_count >> 32) & ~(size_t)15) | (hash & 15);
}

static bool slots_set(intern *self, size_t slot_count)
{
    uint64_t *slots;
    size_t size;

    if (!num_mul(slot_count, sizeof *slots, &size))
        return false;
    slots = heap_resize(self->heap, NULL, 0, size);
    if (slots == NULL)
        return false;
    memset(slots, 0, size);
    for (size_t i = 0; i < self->slot_count; i++) {
        uint64_t slot = self->slots[i];
        size_t at;

        if (slot == 0)
            continue;
        at = slot_first((uint32_t)(slot >> 32), slot_count);
        while (slots[at] != 0)
            at = (at + 1) & (slot_count - 1);
        slots[at] = slot;
    }
    heap_resize(self->heap, self->slots, self->slot_count * sizeof *slots, 0);
    self->slots = slots;
    self->slot_count = slot_count;
    return true;
}

bool intern_init(intern *self, heap *from, uint64_t seed)
{
    intern_text *absent;

    *self = (intern){.heap = from, .seed = seed};
    arena_init(&self->texts_arena, from);
    absent = vec_add(from, &self->texts);
    if (absent == NULL)
        return false;
    *absent = (intern_text){NULL, 0, 0};
    if (!slots_set(self, (size_t)1 << INTERN_FIRST_BITS)) {
        intern_free(self);
        return false;
    }
    return true;
}

void intern_free(intern *self)
{
    heap_resize(self->heap, self->slots, self->slot_count * sizeof *self->slots, 0);
    self->slots = NULL;
    self->slot_count = 0;
    for (uint32_t i = 0; i < self->family_count; i++) {
        intern_family *family = &self->families[i];

        for (size_t page = 0; page < family->pages.count; page++) {
            if (family->pages.at[page] != refused_page)
                heap_resize(self->heap, family->pages.at[page], PAGE_SIZE * sizeof(sym), 0);
        }
        vec_free(self->heap, &family->pages);
    }
    self->family_count = 0;
    vec_free(self->heap, &self->texts);
    arena_free(&self->texts_arena);
}

/* The symbol of `text`, or 0 and in *ret_at the free slot where it belongs. */
static sym slot_find(const intern *self, cg_str text, uint32_t hash, size_t *ret_at)
{
    size_t at = slot_first(hash, self->slot_count);

    for (;; at = (at + 1) & (self->slot_count - 1)) {
        uint64_t slot = self->slots[at];

        if (slot == 0) {
            *ret_at = at;
            return 0;
        }
        if ((uint32_t)(slot >> 32) == hash && str_equal(intern_text_of(self, (sym)slot), text))
            return (sym)slot;
    }
}

/* --- numbered texts --- */

/* Prefix and canonical decimal number; false: not a numbered text. */
static bool split_number(cg_str text, size_t *ret_prefix_len, uint32_t *ret_number)
{
    size_t start = text.len;
    uint32_t number = 0;

    while (start > 0 && text.ptr[start - 1] >= '0' && text.ptr[start - 1] <= '9')
        start--;
    if (start == text.len || text.len - start > NUMBER_DIGITS || start > INTERN_PREFIX ||
        (text.ptr[start] == '0' && text.len - start > 1))
        return false;
    for (size_t i = start; i < text.len; i++)
        number = number * 10 + (uint32_t)(text.ptr[i] - '0');
    *ret_prefix_len = start;
    *ret_number = number;
    return true;
}

static bool is_family(const intern_family *family, cg_str text, size_t prefix_len)
{
    return family->prefix_len == prefix_len &&
           str_equal((cg_str){family->prefix, prefix_len}, (cg_str){text.ptr, prefix_len});
}

/* Index of the family, or family_count when there is none. */
static uint32_t find_family(const intern *self, cg_str text, size_t prefix_len)
{
    uint32_t at = self->family_by_first[(unsigned char)text.ptr[0]];

    if (at < self->family_count && is_family(&self->families[at], text, prefix_len))
        return at;
    for (at = 0; at < self->family_count; at++) {
        if (is_family(&self->families[at], text, prefix_len))
            break;
    }
    return at;
}

static sym new_symbol(intern *self, cg_str text, uint32_t hash)
{
    const char *copy = "";
    sym symbol;

    if (self->texts.count >= UINT32_MAX ||
        !vec_reserve(self->heap, &self->texts, self->texts.count + 1))
        return 0;
    if (text.len > 0) {
        char *bytes = arena_bytes(&self->texts_arena, text.len);

        if (bytes == NULL)
            return 0;
        memcpy(bytes, text.ptr, text.len);
        copy = bytes;
    }
    symbol = (sym)self->texts.count;
    self->texts.at[self->texts.count++] = (intern_text){copy, (uint32_t)text.len, hash};
    return symbol;
}

/* The page of a number, made if need be: NULL is out of memory, refused_page is "use the hash". */
static sym *take_page(intern *self, intern_family *family, uint32_t number)
{
    size_t at = number >> PAGE_BITS;
    sym *page;

    if (at >= family->pages.count) {
        if (!vec_reserve(self->heap, &family->pages, at + 1))
            return NULL;
        memset(family->pages.at + family->pages.count, 0,
               (at + 1 - family->pages.count) * sizeof family->pages.at[0]);
        family->pages.count = at + 1;
    }
    page = family->pages.at[at];
    if (page != NULL)
        return page;
    /* Numbers scattered over the whole range would take a page each. */
    if (self->page_count > 64 + self->texts.count / 64) {
        family->pages.at[at] = refused_page;
        return refused_page;
    }
    page = heap_resize(self->heap, NULL, 0, PAGE_SIZE * sizeof *page);
    if (page == NULL)
        return NULL;
    memset(page, 0, PAGE_SIZE * sizeof *page);
    family->pages.at[at] = page;
    self->page_count++;
    return page;
}

static sym add_hashed(intern *self, cg_str text)
{
    uint32_t hash = hash_text(text, self->seed);
    size_t at;
    sym symbol = slot_find(self, text, hash, &at);

    if (symbol != 0)
        return symbol;
    if (self->hashed_count > self->slot_count / 5 * 3) {
        if (self->slot_count >> INTERN_LAST_BITS != 0 || !slots_set(self, self->slot_count * 2))
            return 0;
        slot_find(self, text, hash, &at);
    }
    symbol = new_symbol(self, text, hash);
    if (symbol == 0)
        return 0;
    self->hashed_count++;
    self->slots[at] = (uint64_t)hash << 32 | symbol;
    return symbol;
}

sym intern_add(intern *self, cg_str text)
{
    size_t prefix_len;
    uint32_t number;
    uint32_t at;
    sym *page;
    sym *entry;

    if (text.ptr == NULL || text.len > UINT32_MAX)
        return 0;
    if (!split_number(text, &prefix_len, &number))
        return add_hashed(self, text);
    at = find_family(self, text, prefix_len);
    if (at == self->family_count) {
        intern_family *family = &self->families[at];

        if (at == INTERN_FAMILIES)
            return add_hashed(self, text);
        *family = (intern_family){.prefix_len = (uint8_t)prefix_len};
        memcpy(family->prefix, text.ptr, prefix_len);
        self->family_count++;
    }
    self->family_by_first[(unsigned char)text.ptr[0]] = (uint8_t)at;
    page = take_page(self, &self->families[at], number);
    if (page == refused_page)
        return add_hashed(self, text);
    if (page == NULL)
        return 0;
    entry = &page[number & (PAGE_SIZE - 1)];
    if (*entry == 0)
        *entry = new_symbol(self, text, 0);
    return *entry;
}

sym intern_find(const intern *self, cg_str text)
{
    size_t prefix_len;
    size_t slot;
    uint32_t number;

    if (text.ptr == NULL || text.len > UINT32_MAX)
        return 0;
    if (split_number(text, &prefix_len, &number)) {
        uint32_t at = find_family(self, text, prefix_len);
        const intern_family *family = &self->families[at];

        if (at < self->family_count) {
            const sym *page = number >> PAGE_BITS < family->pages.count
                                  ? family->pages.at[number >> PAGE_BITS]
                                  : NULL;

            if (page == NULL)
                return 0;
            if (page != refused_page)
                return page[number & (PAGE_SIZE - 1)];
        } else if (at < INTERN_FAMILIES) {
            return 0;
        }
    }
    return slot_find(self, text, hash_text(text, self->seed), &slot);
}
