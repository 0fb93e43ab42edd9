#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/guard.h"

#include <cmocka.h>

typedef struct job {
    size_t wanted; /* bytes, at last; 0: no more */
    void *blocks[20];
    bool is_done;
} job;

static void work(void *context)
{
    job *self = context;

    for (size_t i = 0; i < 20; i++)
        self->blocks[i] = i % 2 == 0 ? guard_malloc(i + 1) : guard_calloc(i, 3);
    for (size_t i = 0; i < 20; i += 3) {
        guard_free(self->blocks[i]);
        self->blocks[i] = NULL;
    }
    for (size_t i = 1; i < 20; i += 3) {
        memset(self->blocks[i], 7, i == 1 ? 3 : i);
        self->blocks[i] = guard_realloc(self->blocks[i], 1000 * i);
    }
    if (self->wanted > 0)
        (void)guard_realloc(self->blocks[1], self->wanted);
    self->is_done = true;
}

static void what_is_not_given_back_is_given_back_at_the_end(void **state)
{
    guard self = {0};
    job to = {0};

    (void)state;
    assert_true(guard_run(&self, work, &to));
    assert_true(to.is_done);
    assert_int_equal(((unsigned char *)to.blocks[4])[3], 7); /* kept between two runs */
    assert_true(guard_run(&self, work, &to));
    guard_end(&self);
    guard_end(&self);
}

static void work_is_left_where_memory_lacks(void **state)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - sizeof(guard_block), SIZE_MAX / 2};
    guard self = {0};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        job to = {.wanted = sizes[i]};

        assert_false(guard_run(&self, work, &to));
        assert_false(to.is_done);
        /* And goes on when there is some. */
        to.wanted = 0;
        assert_true(guard_run(&self, work, &to));
    }
    guard_end(&self);
}

#define MANY 3000u

/* Does the block hold what was written when it was `size` bytes long? */
static void check_block(const unsigned char *block, size_t size, unsigned char with)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(block[i], with);
    assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
}

static void churn(void *context)
{
    static unsigned char *blocks[MANY];
    static size_t sizes[MANY];

    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            size_t size = (i * 37u + round * 101u) % 1500u;
            size_t kept = blocks[i] == NULL || sizes[i] < size ? sizes[i] : size;

            if ((i + round) % 3 == 0) {
                guard_free(blocks[i]);
                blocks[i] = guard_calloc(size, 1);
                check_block(blocks[i], size, 0);
            } else {
                blocks[i] = guard_realloc(blocks[i], size);
                check_block(blocks[i], kept, (unsigned char)i);
            }
            memset(blocks[i], (int)(i & 255), size);
            sizes[i] = size;
        }
        for (unsigned i = 0; i < MANY; i++)
            check_block(blocks[i], sizes[i], (unsigned char)i);
    }
    memset(blocks, 0, sizeof blocks);
    memset(sizes, 0, sizeof sizes);
    *(bool *)context = true;
}

static void blocks_lie_apart_and_keep_what_they_hold(void **state)
{
    guard self = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        bool is_done = false;

        assert_true(guard_run(&self, churn, &is_done));
        assert_true(is_done);
        guard_end(&self); /* and all of it anew */
    }
}

static void overflow(void *context)
{
    (void)guard_calloc(SIZE_MAX / 2, 3);
    *(bool *)context = true;
}

static void a_product_that_overflows_is_no_block(void **state)
{
    guard self = {0};
    bool is_done = false;

    (void)state;
    assert_false(guard_run(&self, overflow, &is_done));
    assert_false(is_done);
}

static void without_a_guard_it_is_the_c_library(void **state)
{
    char *block = guard_malloc(3);

    (void)state;
    memcpy(block, "ab", 3);
    block = guard_realloc(block, 100000);
    assert_string_equal(block, "ab");
    guard_free(block);
    guard_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_back_is_given_back_at_the_end),
        cmocka_unit_test(work_is_left_where_memory_lacks),
        cmocka_unit_test(blocks_lie_apart_and_keep_what_they_hold),
        cmocka_unit_test(a_product_that_overflows_is_no_block),
        cmocka_unit_test(without_a_guard_it_is_the_c_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
