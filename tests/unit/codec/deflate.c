#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "codec/deflate.h"
#include "unit/base/failing.h"

#include <cmocka.h>

/*
 * An inflater of the plainest kind, which reads what RFC 1951 says bit by bit. Codes that are over-
 * or undersubscribed are refused: browsers refuse them too.
 */
typedef struct bits {
    const unsigned char *at;
    size_t len;
    uint64_t place;
} bits;

static unsigned take(bits *from, unsigned count)
{
    unsigned value = 0;

    for (unsigned i = 0; i < count; i++, from->place++) {
        assert_true(from->place / 8 < from->len);
        value |= ((unsigned)from->at[from->place / 8] >> from->place % 8 & 1u) << i;
    }
    return value;
}

typedef struct table {
    unsigned count[16];
    unsigned symbols[320];
} table;

static void make_table(table *ret, const unsigned *lengths, unsigned count)
{
    unsigned at[16] = {0};
    unsigned left = 1u << 15;

    memset(ret, 0, sizeof *ret);
    for (unsigned i = 0; i < count; i++)
        ret->count[lengths[i]]++;
    ret->count[0] = 0;
    for (unsigned i = 1; i < 16; i++) {
        assert_true(left >= ret->count[i] << (15 - i));
        left -= ret->count[i] << (15 - i);
        at[i] = i == 1 ? 0 : at[i - 1] + ret->count[i - 1];
    }
    assert_int_equal(left, 0);
    for (unsigned i = 0; i < count; i++) {
        if (lengths[i] > 0)
            ret->symbols[at[lengths[i]]++] = i;
    }
}

static unsigned take_symbol(bits *from, const table *with)
{
    unsigned code = 0, first = 0, index = 0;

    for (unsigned length = 1; length < 16; length++) {
        code |= take(from, 1);
        if (code - first < with->count[length])
            return with->symbols[index + code - first];
        index += with->count[length];
        first = (first + with->count[length]) << 1;
        code <<= 1;
    }
    fail_msg("a code word that is none");
    return 0;
}

static void read_tables(bits *from, table *literals, table *distances)
{
    static const unsigned order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                     11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned literal_count = take(from, 5) + 257;
    unsigned distance_count = take(from, 5) + 1;
    unsigned sent = take(from, 4) + 4;
    unsigned lengths[320] = {0};
    table own;

    for (unsigned i = 0; i < sent; i++)
        lengths[order[i]] = take(from, 3);
    make_table(&own, lengths, 19);
    for (unsigned i = 0; i < literal_count + distance_count;) {
        unsigned symbol = take_symbol(from, &own);
        unsigned times = 1;
        unsigned value = symbol;

        if (symbol == 16) {
            assert_true(i > 0);
            value = lengths[i - 1];
            times = 3 + take(from, 2);
        } else if (symbol > 16) {
            value = 0;
            times = symbol == 17 ? 3 + take(from, 3) : 11 + take(from, 7);
        }
        for (; times > 0; times--) {
            assert_true(i < literal_count + distance_count);
            lengths[i++] = value;
        }
    }
    make_table(literals, lengths, literal_count);
    make_table(distances, lengths + literal_count, distance_count);
}

static void read_block(bits *from, buf *out)
{
    static const unsigned length_from[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                           15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                           67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const unsigned length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    table literals, distances;

    read_tables(from, &literals, &distances);
    for (;;) {
        unsigned symbol = take_symbol(from, &literals);
        unsigned length, distance, extra;

        if (symbol == 256)
            return;
        if (symbol < 256) {
            buf_byte(out, (char)symbol);
            continue;
        }
        assert_true(symbol < 286);
        length = length_from[symbol - 257] + take(from, length_bits[symbol - 257]);
        symbol = take_symbol(from, &distances);
        extra = symbol < 2 ? 0 : symbol / 2 - 1;
        distance = symbol < 2 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;
        distance += take(from, extra);
        assert_true(distance <= out->len);
        for (; length > 0; length--)
            buf_byte(out, out->at[out->len - distance]);
    }
}

static void inflate(cg_str data, buf *out)
{
    bits from = {(const unsigned char *)data.ptr, data.len, 0};
    unsigned is_last;

    assert_int_equal((take(&from, 8) * 256 + take(&from, 8)) % 31, 0);
    do {
        is_last = take(&from, 1);
        assert_int_equal(take(&from, 2), 2);
        read_block(&from, out);
    } while (!is_last);
    assert_int_equal((from.place + 7) / 8 + 4, data.len);
}

/* Back and forth; how many bytes it took. */
static size_t round_trip(cg_str data)
{
    heap memory;
    buf small, again;
    size_t size;

    heap_init(&memory, NULL);
    buf_init(&small, &memory, SIZE_MAX);
    buf_init(&again, &memory, SIZE_MAX);
    assert_int_equal(deflate_write(&memory, data, &small, NULL), CG_OK);
    inflate(buf_text(&small), &again);
    assert_int_equal(again.len, data.len);
    assert_true(data.len == 0 || memcmp(again.at, data.ptr, data.len) == 0);
    size = small.len;
    buf_free(&small);
    buf_free(&again);
    assert_int_equal(memory.used_bytes, 0);
    return size;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return *seed >> 8;
}

static void what_is_deflated_comes_back(void **state)
{
    static char data[200000];
    uint32_t seed = 7;

    (void)state;
    assert_true(round_trip((cg_str){"", 0}) < 100);
    for (size_t len = 1; len < 300; len++) {
        for (size_t i = 0; i < len; i++)
            data[i] = (char)(i % 3 == 0 ? 'a' : next_random(&seed) % 4);
        round_trip((cg_str){data, len});
    }
    /* All alike; all different; a few values; long repeats at every distance up to the window. */
    memset(data, 'x', sizeof data);
    assert_true(round_trip((cg_str){data, sizeof data}) < 1000);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)next_random(&seed);
    assert_true(round_trip((cg_str){data, sizeof data}) < sizeof data + sizeof data / 50);
    for (size_t i = 40000; i < sizeof data; i++)
        data[i] = next_random(&seed) % 50 == 0 ? (char)next_random(&seed)
                                               : data[i - 1 - next_random(&seed) % 32768];
    round_trip((cg_str){data, sizeof data});
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = i >= 32768 ? data[i - 32768] : (char)next_random(&seed);
    assert_true(round_trip((cg_str){data, sizeof data}) < 60000);
}

/* Uses that grow like Fibonacci give the deepest code there is: it must be cut at 15 bits. */
static void a_deep_code_is_limited(void **state)
{
    static char data[400000];
    size_t len = 0;
    size_t a = 1, b = 1;

    (void)state;
    for (int symbol = 0; symbol < 24 && len + a < sizeof data; symbol++) {
        size_t next = a + b;

        for (size_t i = 0; i < a; i++)
            data[len++] = (char)(symbol * 7);
        a = b;
        b = next;
    }
    /* Shuffled, so that few of them become matches. */
    for (size_t i = len, seed = 3; i > 1; i--) {
        size_t at;
        char other;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        at = (size_t)(seed >> 33) % i;
        other = data[at];
        data[at] = data[i - 1];
        data[i - 1] = other;
    }
    round_trip((cg_str){data, len});
}

static void the_same_bytes_give_the_same_stream(void **state)
{
    heap memory;
    buf first, second;
    cg_str text = CG_LIT("one two three one two three one two three four");

    (void)state;
    heap_init(&memory, NULL);
    buf_init(&first, &memory, SIZE_MAX);
    buf_init(&second, &memory, SIZE_MAX);
    assert_int_equal(deflate_write(&memory, text, &first, NULL), CG_OK);
    assert_int_equal(deflate_write(&memory, text, &second, NULL), CG_OK);
    assert_true(str_equal(buf_text(&first), buf_text(&second)));
    buf_free(&first);
    buf_free(&second);
}

static void without_memory_nothing_leaks(void **state)
{
    (void)state;
    for (unsigned k = 1; k < 4; k++) {
        failing room = {.fail_at = k};
        heap memory;
        buf out;
        cg_code code;

        failing_env(&room);
        heap_init(&memory, NULL);
        memory.allocator = room.allocator;
        buf_init(&out, &memory, SIZE_MAX);
        code = deflate_write(&memory, CG_LIT("some text, some text"), &out, NULL);
        assert_int_equal(code, k < 3 ? CG_NOMEM : CG_OK);
        buf_free(&out);
        assert_int_equal(room.blocks, 0);
    }
}

static void base64_is_padded(void **state)
{
    static const char *const pairs[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe", "//4="}};
    heap memory;

    (void)state;
    heap_init(&memory, NULL);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        buf out;

        buf_init(&out, &memory, SIZE_MAX);
        base64_write((cg_str){pairs[i][0], strlen(pairs[i][0])}, &out);
        assert_true(str_equal(buf_text(&out), (cg_str){pairs[i][1], strlen(pairs[i][1])}));
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_deflated_comes_back),
        cmocka_unit_test(a_deep_code_is_limited),
        cmocka_unit_test(the_same_bytes_give_the_same_stream),
        cmocka_unit_test(without_memory_nothing_leaks),
        cmocka_unit_test(base64_is_padded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
