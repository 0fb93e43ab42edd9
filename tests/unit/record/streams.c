/*
 * Short forms of records are handed out in full, whatever a file says they refer to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/streams.h"

typedef struct tape {
    _Alignas(16) char bytes[4096];
    size_t count;
} tape;

static void *put(tape *self, size_t bytes)
{
    void *at = self->bytes + self->count;

    self->count += (bytes + SPOOL_UNIT - 1) / SPOOL_UNIT * SPOOL_UNIT;
    return at;
}

static void put_near(tape *self, uint32_t parent, uint32_t after)
{
    slot_begin_near *at = put(self, sizeof *at);

    *at = (slot_begin_near){.kind = SPOOL_BEGIN_NEAR,
                            .flags = 6,
                            .parent_lane = 3,
                            .parent = parent,
                            .name = 9,
                            .after = after};
}

static void put_narrow(tape *self, uint8_t place, uint32_t name, uint32_t input_count)
{
    slot_op_narrow *at = put(self, offsetof(slot_op_narrow, inputs) + 4 * (size_t)input_count);

    at->head = (slot){SPOOL_OP_NARROW, place, 1, 2, 1000};
    at->name = name;
    at->layout_inputs = 5 | input_count << 24;
    at->output = 77;
    at->duration = 4;
    at->input_dense = 640;
    for (uint32_t i = 0; i < input_count; i++) {
        at->inputs[i] = 100 + i;
    }
}

static void put_again(tape *self, uint8_t place, uint32_t output, uint32_t input_count)
{
    slot_op_again *at = put(self, sizeof *at + 4 * (size_t)input_count);

    at->head = (slot){SPOOL_OP_AGAIN, place, 2, 6, 2000};
    at->output = output;
    at->duration = 8;
    for (uint32_t i = 0; i < input_count; i++) {
        at->inputs[i] = 200 + i;
    }
}

typedef struct reading {
    spool source;
    spool_stream stream;
    spool_run run;
    stream_reader reader;
} reading;

static void start(reading *self, const tape *from)
{
    memset(self, 0, sizeof *self);
    self->run = (spool_run){0, from->count, 0, from->bytes};
    self->stream = (spool_stream){.lane = 1, .runs = &self->run, .count = 1, .end = from->count};
    self->source = (spool){.streams = &self->stream, .stream_count = 1};
    assert_true(stream_open(&self->reader, &self->source, 0, 0));
}

static void expect_op(const slot *at, uint32_t name, uint64_t output, uint32_t input_count,
                      uint64_t first_input)
{
    const slot_op *op = (const slot_op *)(const void *)at;

    assert_non_null(op);
    assert_int_equal(op->head.kind, SPOOL_OP);
    assert_int_equal(op->head.flags, 0);
    assert_int_equal(op->name, name);
    assert_int_equal(op->layout_inputs, 5 | input_count << 24);
    assert_int_equal(op->output, output);
    assert_int_equal(op->input_dense, 640);
    for (uint32_t i = 0; i < input_count; i++) {
        assert_int_equal(op->inputs[i], first_input + i);
    }
}

static void expect_end(reading *self, bool is_broken)
{
    assert_null(stream_next(&self->reader));
    assert_int_equal(self->reader.is_broken, is_broken);
    stream_close(&self->reader);
}

static void a_near_begin_counts_on_from_the_last(void **state)
{
    tape records = {.count = 0};
    reading one;

    (void)state;
    put_near(&records, 1, UINT32_MAX); /* the first of a lane that began with the machine */
    *(slot_begin *)put(&records, sizeof(slot_begin)) =
        (slot_begin){.head = {SPOOL_BEGIN, 2, 0, 2, UINT64_C(1) << 40}, .name = 8, .parent = 1};
    put_near(&records, 2, 30);
    *(slot_completed *)put(&records, sizeof(slot_completed)) =
        (slot_completed){.head = {SPOOL_COMPLETED, 0, 0, 1, 7}, .name = 8, .number = 4};
    put_near(&records, 3, 12);
    start(&one, &records);
    const slot_begin *at = (const slot_begin *)stream_next(&one.reader);
    assert_int_equal(at->head.kind, SPOOL_BEGIN);
    assert_int_equal(at->head.span, 1);
    assert_int_equal(at->head.time, UINT32_MAX);
    assert_int_equal(stream_next(&one.reader)->time, UINT64_C(1) << 40);
    at = (const slot_begin *)stream_next(&one.reader);
    assert_int_equal(at->head.span, 3);
    assert_int_equal(at->head.lane, 3);
    assert_int_equal(at->head.flags, 6);
    assert_int_equal(at->parent, 2);
    assert_int_equal(at->name, 9);
    assert_int_equal(at->head.time, (UINT64_C(1) << 40) + 30);
    assert_int_equal(stream_next(&one.reader)->kind, SPOOL_COMPLETED);
    at = (const slot_begin *)stream_next(&one.reader);
    assert_int_equal(at->head.span, 5);
    assert_int_equal(at->head.time, (UINT64_C(1) << 40) + 42);
    expect_end(&one, false);
}

static void an_operation_again_takes_what_its_place_holds(void **state)
{
    tape records = {.count = 0};
    reading one;

    (void)state;
    put_narrow(&records, 4, 11, 2);
    put_narrow(&records, 255, 12, 5);
    put_again(&records, 4, 301, 2);
    put_again(&records, 255, 302, 5);
    put_narrow(&records, 4, 13, 0);
    put_again(&records, 4, UINT32_MAX, 0);
    start(&one, &records);
    expect_op(stream_next(&one.reader), 11, 77, 2, 100);
    expect_op(stream_next(&one.reader), 12, 77, 5, 100);
    const slot *again = stream_next(&one.reader);
    expect_op(again, 11, 301, 2, 200);
    assert_int_equal(again->lane, 2);
    assert_int_equal(again->span, 6);
    assert_int_equal(again->time, 2000);
    assert_int_equal(((const slot_op *)(const void *)again)->duration, 8);
    expect_op(stream_next(&one.reader), 12, 302, 5, 200);
    expect_op(stream_next(&one.reader), 13, 77, 0, 0);
    expect_op(stream_next(&one.reader), 13, UINT32_MAX, 0, 0);
    expect_end(&one, false);
}

static void the_most_inputs_fit(void **state)
{
    tape records = {.count = 0};
    reading one;

    (void)state;
    put_narrow(&records, 0, 11, 255);
    put_again(&records, 0, 12, 255);
    start(&one, &records);
    expect_op(stream_next(&one.reader), 11, 77, 255, 100);
    expect_op(stream_next(&one.reader), 11, 12, 255, 200);
    expect_end(&one, false);
}

static void an_empty_place_ends_the_stream(void **state)
{
    tape records = {.count = 0};
    reading one;

    (void)state;
    put_narrow(&records, 4, 11, 2);
    put_again(&records, 5, 301, 2);
    start(&one, &records);
    expect_op(stream_next(&one.reader), 11, 77, 2, 100);
    expect_end(&one, true);
}

static void an_operation_that_is_cut_ends_the_stream(void **state)
{
    tape records = {.count = 0};
    reading one;

    (void)state;
    put_narrow(&records, 4, 11, 9);
    put_again(&records, 4, 301, 9);
    records.count -= SPOOL_UNIT;
    start(&one, &records);
    expect_op(stream_next(&one.reader), 11, 77, 9, 100);
    expect_end(&one, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_near_begin_counts_on_from_the_last),
        cmocka_unit_test(an_operation_again_takes_what_its_place_holds),
        cmocka_unit_test(the_most_inputs_fit),
        cmocka_unit_test(an_empty_place_ends_the_stream),
        cmocka_unit_test(an_operation_that_is_cut_ends_the_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
