#include "unit/base/failing.h"

#include "base/num.h"
#include "base/sort.h"

#define MOST 5000

static uint32_t items[MOST];
static uint32_t wanted[MOST];
static uint32_t room[MOST];
static uint64_t keys[MOST];

/* The plain way: insertion, which is stable. */
static void sort_plainly(uint32_t *list, size_t count,
                         bool (*before)(const void *, uint32_t, uint32_t), const void *context)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t item = list[i];
        size_t at = i;

        for (; at > 0 && before(context, item, list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = item;
    }
}

static bool is_key_less(const void *context, uint32_t a, uint32_t b)
{
    const uint64_t *by = context;

    return by[a] < by[b];
}

static bool is_text_less(const void *context, uint32_t a, uint32_t b)
{
    return str_compare(intern_text_of(context, a), intern_text_of(context, b)) < 0;
}

static void keys_of_all_shapes_are_ordered_stably(void **state)
{
    static const unsigned shifts[] = {0, 20, 40, 56, 63};
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, 100, 1500};
    uint64_t seed = 11;

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t shape = 0; shape < 9; shape++) {
            size_t count = counts[c];

            for (uint32_t i = 0; i < count; i++) {
                uint64_t bits = test_random(&seed);

                items[i] = i;
                if (shape < 5)
                    keys[i] = bits >> shifts[shape];
                else if (shape == 5)
                    keys[i] = 1000000 - i;
                else if (shape == 6)
                    keys[i] = (bits & 7) << 60 | (bits >> 8 & 3); /* both ends vary only */
                else if (shape == 7)
                    keys[i] = UINT64_C(0xABCDEF) << 40 | (bits & 0xFFFFF) << 4;
                else
                    keys[i] = 5;
            }
            memcpy(wanted, items, sizeof items);
            sort_plainly(wanted, count, is_key_less, keys);
            sort_by_u64(items, room, count, keys);
            assert_memory_equal(items, wanted, count * sizeof *items);
            sort_by_u64(items, room, count, keys);
            assert_memory_equal(items, wanted, count * sizeof *items);
        }
    }
}

static void indices_may_be_a_part_of_the_keys(void **state)
{
    uint32_t few[] = {9, 3, 3, 7};
    uint32_t more[4];
    const uint64_t by[] = {0, 0, 0, 5, 0, 0, 0, 5, 0, 1};
    const uint32_t want[] = {9, 3, 3, 7};

    (void)state;
    sort_by_u64(few, more, 4, by);
    assert_memory_equal(few, want, sizeof want);
}

static void fill_texts(intern *table, unsigned shape, uint32_t count, uint64_t *seed)
{
    for (uint32_t i = 0; intern_count(table) <= count; i++) {
        char text[64];
        uint64_t bits = test_random(seed);
        size_t len = 0;

        switch (shape) {
        case 0: /* counting names */
            text[len++] = 's';
            len += num_write_u64(text + len, i);
            break;
        case 1: /* NUL bytes and lengths */
            len = bits % 12;
            memset(text, 0, sizeof text);
            if (len > 0)
                text[(bits >> 8) % len] = (char)(bits >> 16 & 1);
            break;
        case 2: /* a common beginning, then any bytes */
            memcpy(text, "a common beginning", 18);
            len = 18 + bits % 9;
            for (size_t j = 18; j < len; j++)
                text[j] = (char)(bits >> 7 * (j - 18));
            break;
        case 3: /* two letters, any length */
            len = bits % 40;
            for (size_t j = 0; j < len; j++)
                text[j] = (bits >> (8 + j) & 1) != 0 ? 'b' : '\xFF';
            break;
        default: /* groups with long beginnings of their own */
            memset(text, (int)('a' + bits % 3), 30);
            len = 27 + (bits >> 8) % 4;
            len += num_write_u64(text + len, i % 700);
            break;
        }
        intern_add(table, (cg_str){text, len});
        if (i > 50000)
            break;
    }
}

static void symbols_are_ordered_by_their_text(void **state)
{
    static const uint32_t counts[] = {1, 3, 30, 40, 400, 1500};
    uint64_t seed = 5;

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (unsigned shape = 0; shape < 5; shape++) {
            heap from;
            intern table;
            size_t count;

            heap_init(&from, NULL);
            assert_true(intern_init(&table, &from, seed));
            fill_texts(&table, shape, counts[c], &seed);
            count = intern_count(&table) - 1;
            for (uint32_t i = 0; i < count; i++)
                items[i] = i + 1;
            for (size_t i = count; i > 1; i--) {
                size_t other = test_random(&seed) % i;
                uint32_t item = items[i - 1];

                items[i - 1] = items[other];
                items[other] = item;
            }
            if (shape % 2 == 0) /* symbols may come several times */
                for (size_t i = 0; i < count; i++)
                    items[i] = items[test_random(&seed) % (i + 1)];
            memcpy(wanted, items, sizeof items);
            sort_plainly(wanted, count, is_text_less, &table);
            sort_symbols(items, room, keys, count, &table);
            assert_memory_equal(items, wanted, count * sizeof *items);
            sort_symbols(items, room, keys, count, &table);
            assert_memory_equal(items, wanted, count * sizeof *items);
            intern_free(&table);
        }
    }
    sort_symbols(items, room, keys, 0, NULL);
}

static void a_text_comes_before_the_text_it_begins(void **state)
{
    heap from;
    intern table;
    char text[20] = {0};

    (void)state;
    heap_init(&from, NULL);
    assert_true(intern_init(&table, &from, 1));
    for (size_t len = sizeof text; len > 0; len--)
        intern_add(&table, (cg_str){text, len - 1});
    for (uint32_t i = 0; i < sizeof text; i++)
        items[i] = i + 1;
    sort_symbols(items, room, keys, sizeof text, &table);
    for (uint32_t i = 0; i < sizeof text; i++)
        assert_int_equal(items[i], sizeof text - i);
    intern_free(&table);
}

static void a_long_common_beginning_is_cheap(void **state)
{
    heap from;
    intern table;
    size_t len = 20000;
    char *text;

    (void)state;
    heap_init(&from, NULL);
    assert_true(intern_init(&table, &from, 1));
    text = heap_resize(&from, NULL, 0, len);
    memset(text, 'x', len);
    for (uint32_t i = 0; i < 2000; i++) {
        text[len - 2] = (char)(i * 7 >> 8);
        text[len - 1] = (char)(i * 7);
        assert_int_equal(intern_add(&table, (cg_str){text, len - (i == 1000)}), i + 1);
        items[i] = 2000 - i;
    }
    memcpy(wanted, items, sizeof items);
    sort_symbols(items, room, keys, 2000, &table);
    for (uint32_t i = 1; i < 2000; i++)
        assert_true(is_text_less(&table, items[i - 1], items[i]));
    heap_resize(&from, text, len, 0);
    intern_free(&table);
}

static bool is_tens_less(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a / 10 < b / 10;
}

static uint32_t shared[2 * MOST];
static cg_str texts[MOST];

static bool is_listed_less(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *by = context;

    return str_compare(by[a], by[b]) < 0;
}

/* The same shapes as the symbols', equal texts, empty ones, bytes above 127. */
static void texts_are_ordered_stably(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (unsigned shape = 0; shape < 5; shape++) {
        static const uint32_t counts[] = {0, 1, 2, 3, 7, 64, 1000, 1537};

        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            uint32_t count = counts[c];
            heap from;
            intern table;

            heap_init(&from, NULL);
            assert_true(intern_init(&table, &from, 1));
            fill_texts(&table, shape, count + 1, &seed);
            for (uint32_t i = 0; i < count; i++) {
                texts[i] = intern_text_of(
                    &table, 1 + (uint32_t)(test_random(&seed) % (intern_count(&table) - 1)));
                if (i % 17 == 3)
                    texts[i] = CG_LIT("\xff\xfe");
                if (i % 29 == 4)
                    texts[i] = CG_LIT("");
                items[i] = wanted[i] = i;
            }
            sort_plainly(wanted, count, is_listed_less, texts);
            sort_texts(items, room, shared, count, texts);
            assert_memory_equal(items, wanted, count * sizeof *items);
            intern_free(&table);
        }
    }
}

static void a_function_orders_stably(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (size_t count = 0; count < 300; count++) {
        for (size_t i = 0; i < count; i++)
            items[i] = (uint32_t)(test_random(&seed) % (count % 3 == 0 ? 50 : 5000));
        memcpy(wanted, items, sizeof items);
        sort_plainly(wanted, count, is_tens_less, NULL);
        sort_with(items, room, count, is_tens_less, NULL);
        assert_memory_equal(items, wanted, count * sizeof *items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_all_shapes_are_ordered_stably),
        cmocka_unit_test(indices_may_be_a_part_of_the_keys),
        cmocka_unit_test(symbols_are_ordered_by_their_text),
        cmocka_unit_test(a_text_comes_before_the_text_it_begins),
        cmocka_unit_test(a_long_common_beginning_is_cheap),
        cmocka_unit_test(texts_are_ordered_stably),
        cmocka_unit_test(a_function_orders_stably),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
