/* Lists, iterators, maps: handlers of std_functions.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/workbench.h"

static void known_lists_are_walked(void **state)
{
    (void)state;
    val list = list_of(&b, number(&b, 1), number(&b, 2), number(&b, 3), 0);

    assert_printed(&b, on(&b, list, "sum", 0), "6");
    assert_printed(&b, on(&b, list, "product", 0), "6");
    assert_printed(&b, on(&b, on(&b, list, "max", 0), "unwrap", 0), "3");
    assert_printed(&b, on(&b, on(&b, list, "rev", 0), "next", 0),
                   printed(&b, some(&b, number(&b, 3))));
    assert_printed(&b, on(&b, on(&b, list, "skip", number(&b, 1), 0), "len", 0), "2");
    assert_printed(&b, on(&b, on(&b, list, "take", number(&b, 9), 0), "len", 0), "3");
    assert_printed(&b, on(&b, on(&b, list, "step_by", number(&b, 2), 0), "len", 0), "2");
    assert_printed(&b, on(&b, on(&b, list, "windows", number(&b, 2), 0), "len", 0), "2");
    assert_printed(&b, on(&b, on(&b, list, "chunks", number(&b, 2), 0), "len", 0), "2");
    assert_printed(&b, on(&b, on(&b, list, "chain", list, 0), "len", 0), "6");
    assert_int_equal(truth_of(on(&b, list, "contains", number(&b, 2), 0)), 1);
    assert_int_equal(truth_of(on(&b, list, "contains", number(&b, 7), 0)), 0);
    assert_int_equal(truth_of(on(&b, list, "contains", symbol(&b, "n"), 0)), -1);
    assert_int_equal(kind_of(on(&b, list, "get", number(&b, 7), 0)), VALUE_NOTHING);
    assert_printed(&b, on(&b, on(&b, list, "get", number(&b, 1), 0), "unwrap", 0), "2");
}

static void pairs_are_made_and_taken_apart(void **state)
{
    (void)state;
    val list = list_of(&b, number(&b, 4), number(&b, 5), 0);
    val pairs = on(&b, on(&b, list, "iter", 0), "enumerate", 0);

    assert_printed(&b, pairs, "[(0, 4), (1, 5)]");
    assert_printed(&b, on(&b, pairs, "unzip", 0), "([0, 1], [4, 5])");
    assert_printed(&b, on(&b, list, "zip", range(&b, number(&b, 0), number(&b, 9)), 0),
                   "[(4, 0), (5, 1)]");
}

static void windows_of_what_is_not_known_tell_their_items_apart(void **state)
{
    val sizes = on(&b, range(&b, number(&b, 0), symbol(&b, "n")), "windows", number(&b, 2), 0);
    val window =
        value_at(b.eval->values, value_at(b.eval->values, sizes)->as.items[0])->as.repeat.items[0];

    (void)state;
    assert_printed(&b, window, "[index, index + 1]");
    assert_printed(&b, on(&b, sizes, "len", 0), "n - 1");
}

static void a_closure_runs_for_every_item(void **state)
{
    (void)state;
    val list = list_of(&b, number(&b, 4), number(&b, 5), 0);
    val somes = on(&b, list, "map", function(&b, "std::option::Option::Some"), 0);

    assert_int_equal(kind_of(somes), VALUE_LAZY);
    assert_printed(&b, on(&b, on(&b, somes, "flatten", 0), "collect", 0), "[4, 5]");
    assert_printed(&b, on(&b, list, "fold", number(&b, 0), function(&b, "std::cmp::max"), 0), "5");
    somes = on(&b, list, "flat_map", function(&b, "std::option::Option::Some"), 0);
    assert_int_equal(kind_of(somes), VALUE_LAZY);
    assert_printed(&b, on(&b, somes, "collect", 0), "[4, 5]");
    assert_int_equal(kind_of(on(&b, list, "for_each", function(&b, "usize::from"), 0)), VALUE_UNIT);
}

static void an_iterator_goes_as_far_as_it_is_asked_to(void **state)
{
    (void)state;
    val list = list_of(&b, number(&b, 4), number(&b, 5), number(&b, 6), 0);
    val same = on(&b, list, "map", function(&b, "usize::from"), 0);

    assert_printed(&b, on(&b, same, "nth", number(&b, 1), 0), "Some(5)");
    same = b.eval->updated_receiver;
    assert_int_equal(kind_of(same), VALUE_LAZY);
    assert_printed(&b, on(&b, same, "len", 0), "1");
    assert_printed(&b, on(&b, same, "next", 0), "Some(6)");
    assert_int_equal(kind_of(on(&b, b.eval->updated_receiver, "next", 0)), VALUE_NOTHING);
}

static void a_range_is_known_or_one_repetition(void **state)
{
    (void)state;
    val known = range(&b, number(&b, 0), number(&b, 3));
    val open = range(&b, number(&b, 0), symbol(&b, "n"));

    assert_printed(&b, on(&b, known, "len", 0), "3");
    assert_printed(&b, on(&b, open, "count", 0), "n");
    assert_printed(&b, on(&b, known, "sum", 0), "3");
    assert_printed(&b, on(&b, on(&b, open, "map", function(&b, "usize::from"), 0), "len", 0), "n");
    assert_printed(&b, called(&b, "std::array::from_fn", function(&b, "usize::from"), 0),
                   "[index; ?]");
}

static void a_collection_is_no_iterator_any_more(void **state)
{
    (void)state;
    val list = list_of(&b, number(&b, 4), number(&b, 5), 0);
    val vec = on(&b, list, "collect", 0);

    assert_int_equal(value_at(b.eval->values, vec)->type, external(&b, "std::vec::Vec"));
    assert_int_equal(kind_of(on(&b, vec, "map", function(&b, "std::option::Option::Some"), 0)),
                     VALUE_SOME);
    assert_int_equal(value_at(b.eval->values, on(&b, vec, "iter", 0))->type, 0);
    b.eval->wanted = external(&b, "std::string::String");
    assert_printed(&b, on(&b, list_of(&b, text(&b, "a"), text(&b, "b"), 0), "collect", 0), "ab");
    assert_printed(
        &b, on(&b, list_of(&b, text(&b, "a"), text(&b, "b"), 0), "join", text(&b, "."), 0), "a.b");
}

static void collections_grow_and_shrink(void **state)
{
    (void)state;
    val vec = called(&b, "std::vec::Vec::new", 0);

    on(&b, vec, "push", number(&b, 4), 0);
    vec = b.eval->updated_receiver;
    on(&b, vec, "extend", list_of(&b, number(&b, 5), number(&b, 6), 0), 0);
    vec = b.eval->updated_receiver;
    assert_printed(&b, vec, "[4, 5, 6]");
    on(&b, vec, "insert", number(&b, 0), number(&b, 3), 0);
    assert_printed(&b, b.eval->updated_receiver, "[3, 4, 5, 6]");
    assert_printed(&b, on(&b, on(&b, vec, "pop", 0), "unwrap", 0), "6");
    on(&b, vec, "pop", 0);
    assert_printed(&b, b.eval->updated_receiver, "[4, 5]");
    assert_printed(&b, on(&b, vec, "remove", number(&b, 1), 0), "5");
    assert_printed(&b, b.eval->updated_receiver, "[4, 6]");
    on(&b, vec, "truncate", number(&b, 1), 0);
    assert_printed(&b, b.eval->updated_receiver, "[4]");
    on(&b, vec, "clear", 0);
    assert_printed(&b, on(&b, b.eval->updated_receiver, "is_empty", 0), "true");
}

static void the_vec_macro_repeats(void **state)
{
    (void)state;
    assert_printed(&b, macro(&b, "vec", number(&b, 1), number(&b, 2), 0), "[1, 2]");
    assert_printed(&b, macro(&b, "vec", number(&b, 7), range(&b, number(&b, 0), number(&b, 3)), 0),
                   "[7, 7, 7]");
    assert_printed(&b,
                   on(&b,
                      macro(&b, "vec", number(&b, 7), range(&b, number(&b, 0), symbol(&b, "n")), 0),
                      "len", 0),
                   "n");
}

static void searching_gives_what_it_may_be(void **state)
{
    (void)state;
    val list = list_of(&b, text(&b, "weight"), text(&b, "gamma"), 0);
    val found = on(&b, list, "find", function(&b, "unknown::function"), 0);

    assert_int_equal(kind_of(found), VALUE_CHOICE);
    found = on(&b, found, "unwrap_or", text(&b, "weight"), 0);
    assert_int_equal(kind_of(found), VALUE_CHOICE);
    assert_int_equal(value_at(b.eval->values, found)->count, 2);
}

static void maps_find_literal_keys(void **state)
{
    (void)state;
    val map = called(&b, "std::collections::HashMap::new", 0);

    on(&b, map, "insert", text(&b, "a"), number(&b, 1), 0);
    map = b.eval->updated_receiver;
    on(&b, map, "insert", text(&b, "b"), number(&b, 2), 0);
    map = b.eval->updated_receiver;
    assert_printed(&b, on(&b, on(&b, map, "get", text(&b, "b"), 0), "unwrap", 0), "2");
    assert_int_equal(kind_of(on(&b, map, "get", text(&b, "c"), 0)), VALUE_NOTHING);
    assert_int_equal(truth_of(on(&b, map, "contains_key", text(&b, "a"), 0)), 1);
    assert_printed(&b, on(&b, map, "values", 0), "[1, 2]");
    assert_printed(&b, on(&b, map, "len", 0), "2");
    map = called(&b, "std::collections::HashMap::from",
                 list_of(&b, tuple_of(&b, text(&b, "x"), number(&b, 9), 0), 0), 0);
    assert_printed(&b, on(&b, on(&b, map, "get", text(&b, "x"), 0), "unwrap", 0), "9");
}

static void what_is_not_known_at_all_stays_open(void **state)
{
    (void)state;
    val thing = value_unknown(b.eval->values, 0, CG_LIT("cfg.x"));

    assert_int_equal(kind_of(on(&b, thing, "iter", 0)), VALUE_LIST);
    assert_printed(&b, on(&b, thing, "len", 0), "cfg.x.len()");
    assert_int_equal(kind_of(on(&b, thing, "is_some", 0)), VALUE_BOOL);
    assert_int_equal(on(&b, thing, "method_of_somebody", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_lists_are_walked, begin, end),
        cmocka_unit_test_setup_teardown(pairs_are_made_and_taken_apart, begin, end),
        cmocka_unit_test_setup_teardown(windows_of_what_is_not_known_tell_their_items_apart, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_closure_runs_for_every_item, begin, end),
        cmocka_unit_test_setup_teardown(an_iterator_goes_as_far_as_it_is_asked_to, begin, end),
        cmocka_unit_test_setup_teardown(a_range_is_known_or_one_repetition, begin, end),
        cmocka_unit_test_setup_teardown(a_collection_is_no_iterator_any_more, begin, end),
        cmocka_unit_test_setup_teardown(collections_grow_and_shrink, begin, end),
        cmocka_unit_test_setup_teardown(the_vec_macro_repeats, begin, end),
        cmocka_unit_test_setup_teardown(searching_gives_what_it_may_be, begin, end),
        cmocka_unit_test_setup_teardown(maps_find_literal_keys, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_known_at_all_stays_open, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
