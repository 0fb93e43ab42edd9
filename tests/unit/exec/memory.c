#include "unit/exec/lines.h"

#include "exec/memory.h"

#define OPEN_TRACE LINES_LEVELS("none")

static lines begin(void)
{
    lines text = {0};

    lines_meta(&text, OPEN_TRACE);
    lines_span(&text, "s", NULL, "root", 0, UINT64_MAX);
    return text;
}

static void event(lines *text, const char *action, const char *device, const char *storage,
                  const char *tensor, uint64_t bytes, uint64_t at, const char *category)
{
    lines_add(text,
              "{'kind':'memory','timestamp_ns':%" PRIu64 ",'storage_id':'%s','tensor_id':'%s',"
              "'span_id':'s','device':'%s','bytes':%" PRIu64
              ",'action':'%s','dtype':'u8','category':'%s'}",
              at, storage, tensor, device, bytes, action, category);
}

static trace_doc *end(lines *text)
{
    lines_complete(text, UINT64_MAX);
    return lines_read(text);
}

static memory_plane replay(trace_doc *trace)
{
    memory_plane plane;

    assert_int_equal(memory_replay(&trace->heap, trace, &plane, NULL), CG_OK);
    return plane;
}

static void done(trace_doc *trace, memory_plane *plane)
{
    memory_free(plane);
    trace_free(trace);
}

static cg_str storage_of(const memory_plane *plane, size_t lifetime)
{
    uint32_t alloc = plane->lifetimes.at[lifetime].alloc_event;

    return trace_text(plane->trace, plane->trace->memory.at[alloc].storage_id);
}

static cg_str tensor_of(const memory_plane *plane, size_t lifetime, uint32_t index)
{
    assert_true(index < plane->lifetimes.at[lifetime].tensors_count);
    return trace_text(plane->trace,
                      plane->tensors.at[plane->lifetimes.at[lifetime].tensors_at + index]);
}

static void no_events_make_an_empty_plane(void **state)
{
    lines text = begin();
    trace_doc *trace = end(&text);
    memory_plane plane = replay(trace);

    (void)state;
    assert_false(plane.has_peak);
    assert_int_equal(plane.lifetimes.count, 0);
    done(trace, &plane);
}

static void events_are_replayed_by_time_and_then_stream_order(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;

    (void)state;
    event(&text, "free", "d", "a", "t", 5, 30, "other");
    event(&text, "alloc", "d", "a", "t", 5, 10, "other");
    event(&text, "alloc", "d", "b", "t", 7, 10, "other");
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.order.at[0], 1);
    assert_int_equal(plane.order.at[1], 2);
    assert_int_equal(plane.order.at[2], 0);
    assert_int_equal(plane.faults.count, 0);
    assert_int_equal(plane.peak_live_bytes, 12);
    assert_int_equal(plane.retained_count, 1);
    assert_true(plane.lifetimes.at[0].is_closed);
    assert_int_equal(plane.lifetimes.at[0].end_ns, 30);
    assert_false(plane.lifetimes.at[1].is_closed);
    done(trace, &plane);
}

static void the_peak_is_the_first_strict_maximum_after_a_timestamp(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;

    (void)state;
    event(&text, "free", "d", "x", "t", 1, 1, "other"); /* a point, but no peak yet */
    event(&text, "alloc", "d", "a", "t", 5, 10, "other");
    event(&text, "free", "d", "a", "t", 5, 20, "other");
    event(&text, "alloc", "d", "b", "t", 5, 20, "other"); /* nets out: still 5 */
    event(&text, "alloc", "d", "c", "t", 90, 30, "other");
    event(&text, "free", "d", "c", "t", 90, 30, "other"); /* never shows */
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.peak_ns, 10);
    assert_int_equal(plane.peak_live_bytes, 5);
    assert_int_equal(plane.allocated_bytes, 100);
    assert_int_equal(plane.faults.count, 1);
    assert_int_equal(plane.faults.at[0].kind, MEMORY_UNPAIRED_FREE);
    done(trace, &plane);
}

static void storages_of_two_devices_may_share_an_id(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;

    (void)state;
    event(&text, "alloc", "d2", "a", "t", 5, 1, "other");
    event(&text, "alloc", "d1", "a", "t", 7, 2, "other");
    event(&text, "free", "d2", "a", "t", 5, 3, "other");
    event(&text, "alloc", "d2", "a", "t", 11, 4, "other");
    event(&text, "free", "d1", "a", "t", 7, 5, "other");
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.faults.count, 0);
    assert_int_equal(plane.allocation_count, 3);
    assert_int_equal(plane.free_count, 2);
    assert_int_equal(plane.peak_ns, 4);
    assert_int_equal(plane.devices.count, 2);
    assert_text(trace_text(trace, plane.devices.at[0].device), "d1");
    assert_int_equal(plane.devices.at[0].peak_bytes, 7);
    assert_int_equal(plane.devices.at[0].peak_ns, 2);
    assert_int_equal(plane.devices.at[1].peak_bytes, 11);
    assert_int_equal(plane.devices.at[1].allocated_bytes, 16);
    done(trace, &plane);
}

static void a_device_that_only_frees_has_a_row_and_no_peak(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;

    (void)state;
    event(&text, "free", "d", "a", "t", 5, 1, "other");
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.devices.count, 1);
    assert_false(plane.devices.at[0].has_peak);
    assert_int_equal(plane.lifetime_of.at[0], TRACE_NONE);
    done(trace, &plane);
}

static void aliases_join_a_lifetime_and_are_sorted(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;

    (void)state;
    event(&text, "alloc", "d", "a", "m", 5, 1, "other");
    event(&text, "alloc", "d", "a", "z", 5, 2, "other");
    event(&text, "alloc", "d", "a", "b", 5, 3, "other");
    event(&text, "free", "d", "a", "c", 5, 4, "other");
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.faults.count, 0);
    assert_int_equal(plane.lifetimes.count, 1);
    assert_int_equal(plane.lifetimes.at[0].tensors_count, 4);
    assert_text(tensor_of(&plane, 0, 0), "b");
    assert_text(tensor_of(&plane, 0, 1), "c");
    assert_text(tensor_of(&plane, 0, 2), "m");
    assert_text(tensor_of(&plane, 0, 3), "z");
    assert_int_equal(plane.lifetime_of.at[3], 0);
    done(trace, &plane);
}

static void a_name_that_came_with_a_wrong_size_is_listed_but_may_come_again(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;

    (void)state;
    event(&text, "alloc", "d", "a", "m", 5, 1, "other");
    event(&text, "alloc", "d", "a", "n", 6, 2, "other"); /* mismatch; 5 bytes stay */
    event(&text, "alloc", "d", "a", "n", 5, 3, "other"); /* an alias now */
    event(&text, "alloc", "d", "a", "n", 5, 4, "other"); /* and now twice */
    event(&text, "alloc", "d", "a", "m", 5, 5, "other"); /* the first name, twice */
    event(&text, "free", "d", "a", "m", 6, 6, "other");  /* mismatch; the key is gone */
    event(&text, "free", "d", "a", "m", 5, 7, "other");
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.faults.count, 5);
    assert_int_equal(plane.faults.at[0].event, 1);
    assert_int_equal(plane.faults.at[0].kind, MEMORY_SIZE_MISMATCH);
    assert_int_equal(plane.faults.at[1].event, 3);
    assert_int_equal(plane.faults.at[1].kind, MEMORY_DUPLICATE);
    assert_int_equal(plane.faults.at[2].event, 4);
    assert_int_equal(plane.faults.at[2].kind, MEMORY_DUPLICATE);
    assert_int_equal(plane.faults.at[3].event, 5);
    assert_int_equal(plane.faults.at[3].kind, MEMORY_SIZE_MISMATCH);
    assert_int_equal(plane.faults.at[4].kind, MEMORY_UNPAIRED_FREE);
    assert_int_equal(plane.lifetimes.at[0].tensors_count, 2);
    assert_int_equal(plane.peak_live_bytes, 5);
    done(trace, &plane);
}

static void lifetimes_are_ordered_by_start_device_and_storage(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;

    (void)state;
    event(&text, "alloc", "d", "z", "tz", 1, 5, "other");
    event(&text, "alloc", "d", "y", "ty", 2, 5, "other");
    event(&text, "alloc", "c", "z", "tc", 3, 5, "other");
    event(&text, "free", "d", "y", "other", 2, 5, "other");
    event(&text, "alloc", "d", "y", "again", 4, 5, "other"); /* after its first life */
    event(&text, "alloc", "d", "a", "ta", 5, 4, "other");
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.lifetimes.count, 5);
    assert_text(storage_of(&plane, 0), "a");
    assert_text(storage_of(&plane, 1), "z");
    assert_text(tensor_of(&plane, 1, 0), "tc");
    assert_text(storage_of(&plane, 2), "y");
    assert_true(plane.lifetimes.at[2].is_closed);
    assert_text(tensor_of(&plane, 2, 0), "other");
    assert_text(tensor_of(&plane, 2, 1), "ty");
    assert_text(tensor_of(&plane, 3, 0), "again");
    assert_text(tensor_of(&plane, 4, 0), "tz");
    assert_int_equal(plane.lifetime_of.at[0], 4);
    assert_int_equal(plane.lifetime_of.at[3], 2);
    done(trace, &plane);
}

static void sums_saturate_and_come_down_again(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;

    (void)state;
    event(&text, "alloc", "d", "a", "t", UINT64_MAX, 1, "other");
    event(&text, "alloc", "d", "b", "t", 9, 2, "other");
    event(&text, "free", "d", "a", "t", UINT64_MAX, 3, "other");
    event(&text, "alloc", "d", "c", "t", 1, 4, "other");
    trace = end(&text);
    plane = replay(trace);
    assert_true(plane.allocated_bytes == UINT64_MAX);
    assert_true(plane.peak_live_bytes == UINT64_MAX);
    assert_int_equal(plane.peak_ns, 1);
    done(trace, &plane);
}

typedef struct seen {
    char text[1000];
    size_t len;
} seen;

static bool note_point(void *context, memory_point total, const memory_live *by_device,
                       const memory_live by_category[CATEGORY_COUNT])
{
    seen *self = context;

    self->len += (size_t)snprintf(self->text + self->len, sizeof self->text - self->len,
                                  "%" PRIu64 ":%" PRIu64 " d0 %" PRIu64 "/%" PRIu64 " d1 %" PRIu64
                                  "/%" PRIu64 " act %" PRIu64 "/%" PRIu64 ";",
                                  total.timestamp_ns, total.live_bytes, by_device[0].bytes,
                                  by_device[0].count, by_device[1].bytes, by_device[1].count,
                                  by_category[CATEGORY_ACTIVATION].bytes,
                                  by_category[CATEGORY_ACTIVATION].count);
    return true;
}

static void the_walk_gives_running_totals_at_every_timestamp(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;
    seen points = {0};

    (void)state;
    event(&text, "alloc", "e", "a", "t", 5, 1, "activation");
    event(&text, "alloc", "d", "b", "t", 0, 2, "activation"); /* no bytes, but live */
    event(&text, "alloc", "e", "a", "u", 5, 3, "gradient");   /* an alias changes nothing */
    event(&text, "free", "e", "a", "t", 5, 4, "gradient");    /* category of the allocation */
    event(&text, "free", "e", "a", "t", 5, 5, "other");       /* unpaired */
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(memory_walk(&plane, note_point, &points, NULL), CG_OK);
    assert_string_equal(points.text, "1:5 d0 0/0 d1 5/1 act 5/1;2:5 d0 0/1 d1 5/1 act 5/2;"
                                     "3:5 d0 0/1 d1 5/1 act 5/2;4:0 d0 0/1 d1 0/0 act 0/1;"
                                     "5:0 d0 0/1 d1 0/0 act 0/1;");
    done(trace, &plane);
}

static void the_peak_set_holds_what_is_live_after_the_peak(void **state)
{
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;
    memory_list list = {0};

    (void)state;
    event(&text, "alloc", "d", "gone", "t", 5, 1, "other");
    event(&text, "alloc", "d", "kept", "t", 3, 2, "other");
    event(&text, "free", "d", "gone", "t", 5, 3, "other");
    event(&text, "alloc", "d", "big", "t", 9, 3, "other");
    event(&text, "alloc", "d", "short", "t", 9, 3, "other");
    event(&text, "free", "d", "short", "t", 9, 3, "other");
    event(&text, "free", "d", "big", "t", 9, 4, "other");
    event(&text, "alloc", "d", "late", "t", 1, 5, "other");
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.peak_ns, 3);
    assert_int_equal(memory_peak_set(&plane, &list, NULL), CG_OK);
    assert_int_equal(list.count, 2);
    assert_text(storage_of(&plane, list.at[0]), "kept");
    assert_text(storage_of(&plane, list.at[1]), "big");
    vec_free(&trace->heap, &list);
    done(trace, &plane);
}

static void physical_extremes_take_the_earliest_timestamp(void **state)
{
    lines text = begin();
    trace_doc *trace;
    physical_plane plane;
    const physical_device *device;

    (void)state;
    lines_add(&text, "{'kind':'device_memory','timestamp_ns':9,'device':'g','used_bytes':7,"
                     "'free_bytes':1,'capacity_bytes':8}");
    lines_add(&text, "{'kind':'device_memory','timestamp_ns':5,'device':'g','used_bytes':7,"
                     "'free_bytes':1,'reserved_bytes':2}");
    lines_add(&text, "{'kind':'device_memory','timestamp_ns':5,'device':'f','used_bytes':3}");
    lines_add(&text, "{'kind':'device_memory','timestamp_ns':6,'device':'g'}");
    trace = end(&text);
    assert_int_equal(physical_build(&trace->heap, trace, &plane, NULL), CG_OK);
    assert_int_equal(plane.order.at[0], 2);
    assert_int_equal(plane.order.at[1], 1);
    assert_int_equal(plane.order.at[2], 3);
    assert_int_equal(plane.order.at[3], 0);
    assert_int_equal(plane.devices.count, 2);
    assert_text(trace_text(trace, plane.devices.at[0].device), "f");
    assert_false(plane.devices.at[0].minimum_free.is_set);
    device = &plane.devices.at[1];
    assert_int_equal(device->sample_count, 3);
    assert_int_equal(device->counts[0], 2);
    assert_int_equal(device->counts[2], 1);
    assert_int_equal(device->peak_used.value, 7);
    assert_int_equal(device->peak_used_ns.value, 5);
    assert_int_equal(device->minimum_free_ns.value, 5);
    assert_int_equal(device->maximum_capacity.value, 8);
    physical_free(&plane);
    trace_free(trace);
}

/* Must be linear: aliases of one storage, devices of one storage id, one timestamp for all. */
static void many_names_of_one_storage_are_handled(void **state)
{
    enum { COUNT = 40000 };
    lines text = begin();
    trace_doc *trace;
    memory_plane plane;
    char name[20];

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "t%u", i);
        event(&text, "alloc", "d", "a", name, 8, 1, "other");
        event(&text, "alloc", name, "a", "t", 8, 1, "other");
    }
    trace = end(&text);
    plane = replay(trace);
    assert_int_equal(plane.faults.count, 0);
    assert_int_equal(plane.lifetimes.count, COUNT + 1);
    assert_int_equal(plane.lifetimes.at[0].tensors_count, COUNT);
    assert_text(tensor_of(&plane, 0, COUNT - 1), "t9999");
    assert_int_equal(plane.peak_live_bytes, 8 * (COUNT + 1));
    done(trace, &plane);
}

static void memory_that_is_refused_is_reported_and_given_back(void **state)
{
    lines text = begin();
    trace_doc *trace;
    bool was_refused = true;

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        event(&text, "alloc", i % 2 ? "d" : "c", i % 3 ? "x" : "y", i % 5 ? "t" : "u", 8,
              40 - i / 2, "other");
        lines_add(&text, "{'kind':'device_memory','timestamp_ns':%u,'device':'g%u','used_bytes':3}",
                  100 - i, i % 7);
    }
    trace = end(&text);
    for (size_t k = 1; was_refused; k++) {
        failing refusing = {.fail_at = k};
        heap from;
        memory_plane plane;
        physical_plane physical;
        cg_err err = {0};

        heap_init(&from, failing_env(&refusing));
        was_refused = memory_replay(&from, trace, &plane, &err) != CG_OK;
        if (!was_refused) {
            was_refused = physical_build(&from, trace, &physical, &err) != CG_OK;
            physical_free(&physical);
        }
        assert_int_equal(err.code, was_refused ? CG_NOMEM : CG_OK);
        memory_free(&plane);
        memory_free(&plane); /* twice is fine */
        assert_nothing_held(&refusing, &from);
    }
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_events_make_an_empty_plane),
        cmocka_unit_test(events_are_replayed_by_time_and_then_stream_order),
        cmocka_unit_test(the_peak_is_the_first_strict_maximum_after_a_timestamp),
        cmocka_unit_test(storages_of_two_devices_may_share_an_id),
        cmocka_unit_test(a_device_that_only_frees_has_a_row_and_no_peak),
        cmocka_unit_test(aliases_join_a_lifetime_and_are_sorted),
        cmocka_unit_test(a_name_that_came_with_a_wrong_size_is_listed_but_may_come_again),
        cmocka_unit_test(lifetimes_are_ordered_by_start_device_and_storage),
        cmocka_unit_test(sums_saturate_and_come_down_again),
        cmocka_unit_test(the_walk_gives_running_totals_at_every_timestamp),
        cmocka_unit_test(the_peak_set_holds_what_is_live_after_the_peak),
        cmocka_unit_test(physical_extremes_take_the_earliest_timestamp),
        cmocka_unit_test(many_names_of_one_storage_are_handled),
        cmocka_unit_test(memory_that_is_refused_is_reported_and_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
