/*
 * workbench - one workbench for every test of a program: `b`, made by `begin`, freed by `end`.
 *
 * To be included once, after cmocka's header; the tests are registered with
 * cmocka_unit_test_setup_teardown(test, begin, end).
 */
#ifndef CG_TESTS_SUPPORT_WORKBENCH_H
#define CG_TESTS_SUPPORT_WORKBENCH_H

#include "support/library_calls.h"

static workbench b;

static inline int begin(void **state)
{
    (void)state;
    workbench_begin(&b);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    workbench_end(&b);
    return 0;
}

static inline enum value_kind kind_of(val which)
{
    return which == 0 ? VALUE_NONE : (enum value_kind)value_at(b.eval->values, which)->kind;
}

/* 1, 0, or -1 for what is not a known bool. */
static inline int truth_of(val which)
{
    const value *at = value_at(b.eval->values, which);

    return at->kind != VALUE_BOOL || !at->is_known ? -1 : at->as.number != 0;
}

#endif
