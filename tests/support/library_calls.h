/*
 * library_calls - an interpreter without any source, to call functions and methods of libraries
 * on values made by hand.
 *
 *   workbench bench;
 *   workbench_begin(&bench);
 *   val list = on(&bench, number(&bench, 3), "max", number(&bench, 4));
 *   assert_printed(&bench, list, "4");
 *   workbench_end(&bench);
 *
 * Calls that stay unknown give 0. Names of up to seven arguments, then a 0.
 */
#ifndef CG_TESTS_SUPPORT_LIBRARY_CALLS_H
#define CG_TESTS_SUPPORT_LIBRARY_CALLS_H

#include "model/catalogue.h"
#include "model/eval.h"

typedef struct workbench {
    heap heap;
    program program;
    types *types;
    expr_pool exprs;
    catalogue catalogue;
    eval *eval;
} workbench;

void workbench_begin(workbench *self);
void workbench_end(workbench *self);

val number(workbench *self, int64_t value);
val symbol(workbench *self, const char *name);
val text(workbench *self, const char *literal);
val real(workbench *self, double value);
val truth(workbench *self, bool value);
/* A bool that is not known. */
val maybe(workbench *self, const char *condition);
val some(workbench *self, val inner);
val none(workbench *self);
val either(workbench *self, val a, val b);
/* A library function as a value. */
val function(workbench *self, const char *path);
/* A builder parameter called `vb`. */
val builder(workbench *self);
/* An external type without arguments. */
type_ref external(workbench *self, const char *path);

/* Arguments end with 0. */
val list_of(workbench *self, ...);
val tuple_of(workbench *self, ...);
/* `lo..hi`, as written by numbers or symbols. */
val range(workbench *self, val low, val high);
val on(workbench *self, val receiver, const char *method, ...);
val called(workbench *self, const char *path, ...);
val macro(workbench *self, const char *name, ...);
val constant(workbench *self, const char *path);

#define assert_printed(bench, value, wanted)                                                       \
    assert_string_equal(printed((bench), (value)), (wanted))
/* As value_print, in a buffer that the next call overwrites; `none` for 0. */
const char *printed(workbench *self, val value);
/*
 * Everything registered so far, one line each: `key [shape] if condition`, holes as `{x}`; then it
 * is forgotten.
 */
const char *registered(workbench *self);

#endif
