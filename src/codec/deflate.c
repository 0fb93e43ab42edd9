#include "codec/deflate.h"

#include <string.h>

#define WINDOW       32768u
#define HASH_BITS    15u
#define CHAIN        48u    /* candidates looked at for one match */
#define GOOD_ENOUGH  64u    /* a match this long is taken without looking further */
#define TOKENS       49152u /* in one block */
#define SHORTEST     4u
#define LONGEST      258u
#define END_OF_BLOCK 256u
#define LITERALS     286u
#define DISTANCES    30u
#define LENGTHS      19u /* symbols of the code for code lengths */
#define MOST_BITS    15u

static const uint16_t length_from[29] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                         15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                         67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                        2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_from[DISTANCES] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
static const uint8_t distance_bits[DISTANCES] = {0, 0, 0,  0,  1,  1,  2,  2,  3,  3,
                                                 4, 4, 5,  5,  6,  6,  7,  7,  8,  8,
                                                 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

/* A literal, or a match: the upper bit, the distance less one, and nine bits of length. */
typedef uint32_t token;
#define MATCH (UINT32_C(1) << 31)

/* A prefix code over at most LITERALS symbols. */
typedef struct code {
    uint32_t uses[LITERALS];
    uint8_t bits[LITERALS];
    uint16_t word[LITERALS]; /* as it is put into the stream: reversed */
    unsigned count;
} code;

typedef struct deflater {
    cg_str data;
    buf *out;
    uint64_t held; /* bits that are no whole byte yet */
    unsigned held_count;
    uint32_t *heads; /* by hash: last position with it, plus one */
    uint32_t
        *chains; /* by position in the window: the one before it with the same hash, plus one */
    token *tokens;
    size_t token_count;
    code literals, distances, lengths;
    uint8_t run[LITERALS + DISTANCES]; /* code lengths as they are sent */
} deflater;

static void put_bits(deflater *self, uint32_t value, unsigned count)
{
    self->held |= (uint64_t)value << self->held_count;
    self->held_count += count;
    while (self->held_count >= 8) {
        buf_byte(self->out, (char)(self->held & 0xff));
        self->held >>= 8;
        self->held_count -= 8;
    }
}

/* --- prefix codes --- */

/* The symbols that are used, by uses, then by number. At least two, so that the code is whole. */
static unsigned rank_symbols(code *self, uint16_t ranked[LITERALS])
{
    unsigned used = 0;

    for (unsigned i = 0; i < self->count; i++)
        used += self->uses[i] > 0;
    for (unsigned i = 0; used < 2; i++) {
        if (self->uses[i] == 0) {
            self->uses[i] = 1;
            used++;
        }
    }
    used = 0;
    for (unsigned i = 0; i < self->count; i++) {
        unsigned at = used;

        if (self->uses[i] == 0)
            continue;
        for (; at > 0 && self->uses[ranked[at - 1]] > self->uses[i]; at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = (uint16_t)i;
        used++;
    }
    return used;
}

/* How many leaves a tree of least cost has at each depth: two queues, then depths from the root. */
static void count_depths(const code *self, const uint16_t *ranked, unsigned used,
                         unsigned depths[LITERALS])
{
    uint64_t weight[2 * LITERALS];
    uint16_t parent[2 * LITERALS] = {0};
    uint16_t depth[2 * LITERALS] = {0};
    unsigned leaf = 0, inner = used, end = used;

    for (unsigned i = 0; i < used; i++)
        weight[i] = self->uses[ranked[i]];
    while (end < 2 * used - 1) {
        weight[end] = 0;
        for (unsigned k = 0; k < 2; k++) {
            bool is_leaf = leaf < used && (inner == end || weight[leaf] <= weight[inner]);
            unsigned least = is_leaf ? leaf++ : inner++;

            weight[end] += weight[least];
            parent[least] = (uint16_t)end;
        }
        end++;
    }
    memset(depths, 0, LITERALS * sizeof *depths);
    for (unsigned i = end - 1; i-- > 0;) {
        depth[i] = (uint16_t)(depth[parent[i]] + 1);
        if (i < used)
            depths[depth[i]]++;
    }
}

/* No word longer than `most`: what is too deep moves up, and others down until the code fits. */
static void limit_depths(unsigned depths[LITERALS], unsigned most)
{
    uint64_t total = 0;

    for (unsigned i = most + 1; i < LITERALS; i++) {
        depths[most] += depths[i];
        depths[i] = 0;
    }
    for (unsigned i = 1; i <= most; i++)
        total += (uint64_t)depths[i] << (most - i);
    while (total > UINT64_C(1) << most) {
        unsigned i = most - 1;

        while (depths[i] == 0)
            i--;
        depths[most]--;
        depths[i]--;
        depths[i + 1] += 2;
        total--;
    }
}

static void assign_words(code *self, const unsigned depths[LITERALS], unsigned most)
{
    uint32_t next[MOST_BITS + 2] = {0};

    for (unsigned i = 1; i <= most; i++)
        next[i + 1] = (next[i] + depths[i]) << 1;
    for (unsigned i = 0; i < self->count; i++) {
        uint32_t word = self->bits[i] > 0 ? next[self->bits[i]]++ : 0;
        uint32_t reversed = 0;

        for (unsigned bit = 0; bit < self->bits[i]; bit++)
            reversed |= (word >> bit & 1) << (self->bits[i] - 1 - bit);
        self->word[i] = (uint16_t)reversed;
    }
}

static void build_code(code *self, unsigned most)
{
    uint16_t ranked[LITERALS];
    unsigned depths[LITERALS];
    unsigned used = rank_symbols(self, ranked);
    unsigned at = used;

    count_depths(self, ranked, used, depths);
    limit_depths(depths, most);
    memset(self->bits, 0, sizeof self->bits);
    for (unsigned bits = 1; bits <= most; bits++) {
        for (unsigned i = 0; i < depths[bits]; i++)
            self->bits[ranked[--at]] = (uint8_t)bits;
    }
    assign_words(self, depths, most);
}

static void put_symbol(deflater *self, const code *with, unsigned symbol)
{
    put_bits(self, with->word[symbol], with->bits[symbol]);
}

/* --- blocks --- */

static unsigned length_symbol(unsigned length)
{
    unsigned at = 28;

    while (length_from[at] > length)
        at--;
    return at;
}

static unsigned distance_symbol(unsigned distance)
{
    unsigned low = 0, high = DISTANCES;

    while (high - low > 1) {
        unsigned middle = (low + high) / 2;

        if (distance_from[middle] <= distance)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static unsigned token_length(token from)
{
    return from & 511;
}

static unsigned token_distance(token from)
{
    return ((from & ~MATCH) >> 9) + 1;
}

static void count_tokens(deflater *self)
{
    memset(self->literals.uses, 0, sizeof self->literals.uses);
    memset(self->distances.uses, 0, sizeof self->distances.uses);
    self->literals.uses[END_OF_BLOCK] = 1;
    for (size_t i = 0; i < self->token_count; i++) {
        token from = self->tokens[i];

        if (from & MATCH) {
            self->literals.uses[257 + length_symbol(token_length(from))]++;
            self->distances.uses[distance_symbol(token_distance(from))]++;
        } else {
            self->literals.uses[from]++;
        }
    }
}

/* A step of the lengths' own run-length form: the symbol, its extra bits, how many it is. */
typedef struct run {
    unsigned symbol, extra, extra_bits, count;
} run;

static run next_run(const uint8_t *lengths, unsigned at, unsigned end)
{
    unsigned same = 1;

    while (at + same < end && lengths[at + same] == lengths[at] && same < 138)
        same++;
    if (lengths[at] == 0 && same >= 11)
        return (run){18, same - 11, 7, same};
    if (lengths[at] == 0 && same >= 3)
        return (run){17, same - 3, 3, same};
    if (at > 0 && lengths[at] == lengths[at - 1] && same >= 3) {
        same = same > 6 ? 6 : same;
        return (run){16, same - 3, 2, same};
    }
    return (run){lengths[at], 0, 0, 1};
}

static void put_codes(deflater *self)
{
    static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned sent = LENGTHS;
    unsigned end = LITERALS + DISTANCES;
    run step;

    memcpy(self->run, self->literals.bits, LITERALS);
    memcpy(self->run + LITERALS, self->distances.bits, DISTANCES);
    memset(self->lengths.uses, 0, sizeof self->lengths.uses);
    for (unsigned at = 0; at < end; at += step.count) {
        step = next_run(self->run, at, end);
        self->lengths.uses[step.symbol]++;
    }
    build_code(&self->lengths, 7);
    while (sent > 4 && self->lengths.bits[order[sent - 1]] == 0)
        sent--;
    put_bits(self, LITERALS - 257, 5);
    put_bits(self, DISTANCES - 1, 5);
    put_bits(self, sent - 4, 4);
    for (unsigned i = 0; i < sent; i++)
        put_bits(self, self->lengths.bits[order[i]], 3);
    for (unsigned at = 0; at < end; at += step.count) {
        step = next_run(self->run, at, end);
        put_symbol(self, &self->lengths, step.symbol);
        put_bits(self, step.extra, step.extra_bits);
    }
}

static void put_block(deflater *self, bool is_last)
{
    count_tokens(self);
    build_code(&self->literals, MOST_BITS);
    build_code(&self->distances, MOST_BITS);
    put_bits(self, is_last ? 1 : 0, 1);
    put_bits(self, 2, 2);
    put_codes(self);
    for (size_t i = 0; i < self->token_count; i++) {
        token from = self->tokens[i];

        if (from & MATCH) {
            unsigned length = length_symbol(token_length(from));
            unsigned distance = distance_symbol(token_distance(from));

            put_symbol(self, &self->literals, 257 + length);
            put_bits(self, token_length(from) - length_from[length], length_bits[length]);
            put_symbol(self, &self->distances, distance);
            put_bits(self, token_distance(from) - distance_from[distance], distance_bits[distance]);
        } else {
            put_symbol(self, &self->literals, from);
        }
    }
    put_symbol(self, &self->literals, END_OF_BLOCK);
    self->token_count = 0;
}

/* --- matches --- */

static uint32_t hash_at(const deflater *self, size_t at)
{
    const unsigned char *p = (const unsigned char *)self->data.ptr + at;
    uint32_t four =
        (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

    return four * UINT32_C(2654435761) >> (32 - HASH_BITS);
}

static void remember(deflater *self, size_t at)
{
    uint32_t *head;

    if (self->data.len - at < SHORTEST)
        return;
    head = &self->heads[hash_at(self, at)];
    self->chains[at % WINDOW] = *head;
    *head = (uint32_t)at + 1;
}

static unsigned match_length(const deflater *self, size_t at, size_t other, size_t most)
{
    const char *p = self->data.ptr;
    size_t length = 0;

    while (length < most && p[at + length] == p[other + length])
        length++;
    return (unsigned)length;
}

/* The longest match at `at` with what was remembered: its length, 0 when there is none. */
static unsigned find_match(const deflater *self, size_t at, unsigned better_than,
                           unsigned *ret_distance)
{
    size_t most = self->data.len - at < LONGEST ? self->data.len - at : LONGEST;
    unsigned best = better_than < SHORTEST - 1 ? SHORTEST - 1 : better_than;
    unsigned found = 0;
    uint32_t next;

    if (most < SHORTEST || best >= most)
        return 0;
    next = self->heads[hash_at(self, at)];
    for (unsigned i = 0; i < CHAIN && next > 0 && at - (next - 1) <= WINDOW; i++) {
        size_t other = next - 1;

        if (self->data.ptr[other + best] == self->data.ptr[at + best]) {
            unsigned length = match_length(self, at, other, most);

            if (length > best) {
                best = found = length;
                *ret_distance = (unsigned)(at - other);
                if (length >= GOOD_ENOUGH || length == most)
                    break;
            }
        }
        next = self->chains[other % WINDOW];
        /* Positions fall along a chain; a slot that was used again breaks it. */
        if (next > other)
            break;
    }
    return found;
}

static void add_token(deflater *self, token from)
{
    self->tokens[self->token_count++] = from;
    if (self->token_count == TOKENS)
        put_block(self, false);
}

static void put_data(deflater *self)
{
    size_t at = 0;
    unsigned held = 0, held_distance = 0; /* the match at `at`, if it was looked for already */

    while (at < self->data.len) {
        unsigned distance = held_distance, later_distance = 0, later = 0;
        unsigned length = held > 0 ? held : find_match(self, at, 0, &distance);

        held = 0;
        remember(self, at);
        if (length > 0 && length < GOOD_ENOUGH && at + 1 < self->data.len)
            later = find_match(self, at + 1, length, &later_distance);
        if (length == 0 || later > length) {
            add_token(self, (unsigned char)self->data.ptr[at++]);
            held = later;
            held_distance = later_distance;
            continue;
        }
        add_token(self, MATCH | (distance - 1) << 9 | length);
        for (unsigned i = 1; i < length; i++)
            remember(self, at + i);
        at += length;
    }
    put_block(self, true);
    if (self->held_count > 0)
        put_bits(self, 0, 8 - self->held_count);
}

static uint32_t adler32(cg_str data)
{
    uint32_t low = 1, high = 0;

    for (size_t at = 0; at < data.len;) {
        size_t end = data.len - at > 5552 ? at + 5552 : data.len; /* sums stay below 2^32 */

        for (; at < end; at++) {
            low += (unsigned char)data.ptr[at];
            high += low;
        }
        low %= 65521;
        high %= 65521;
    }
    return high << 16 | low;
}

cg_code deflate_write(heap *from, cg_str data, buf *ret, cg_err *reterr)
{
    size_t heads = (size_t)1 << HASH_BITS;
    size_t room_size = sizeof(deflater) + (heads + WINDOW + TOKENS) * sizeof(uint32_t);
    deflater *self;
    uint32_t check = adler32(data);

    if (data.len >= UINT32_MAX)
        return cg_fail(reterr, PROBLEM_LIMIT, "more than 4 GiB to compress");
    self = heap_resize(from, NULL, 0, room_size);
    if (self == NULL)
        return err_nomem(reterr);
    memset(self, 0, sizeof *self);
    self->data = data;
    self->out = ret;
    self->heads = (uint32_t *)(self + 1);
    self->chains = self->heads + heads;
    self->tokens = self->chains + WINDOW;
    memset(self->heads, 0, (heads + WINDOW) * sizeof *self->heads);
    self->literals.count = LITERALS;
    self->distances.count = DISTANCES;
    self->lengths.count = LENGTHS;
    put_bits(self, 0x9c78, 16);
    put_data(self);
    for (unsigned i = 0; i < 4; i++)
        put_bits(self, check >> (24 - 8 * i) & 0xff, 8);
    heap_resize(from, self, room_size, 0);
    return ret->failed ? err_nomem(reterr) : CG_OK;
}

void base64_write(cg_str data, buf *ret)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)data.ptr;

    for (size_t at = 0; at < data.len; at += 3) {
        size_t left = data.len - at;
        uint32_t three = (uint32_t)p[at] << 16 | (left > 1 ? (uint32_t)p[at + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)p[at + 2] : 0);
        char *to = buf_room(ret, 4);

        if (to == NULL)
            return;
        to[0] = digits[three >> 18];
        to[1] = digits[three >> 12 & 63];
        to[2] = left > 1 ? digits[three >> 6 & 63] : '=';
        to[3] = left > 2 ? digits[three & 63] : '=';
        ret->len += 4;
    }
}
