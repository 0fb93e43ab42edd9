/* The tables of std_functions.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/str.h"
#include "model/catalogue.h"
#include "model/std_handlers.h"

typedef struct row {
    int family;
    const char *name;
} row;

static const row methods[] = {
#define METHOD(family, name, handler) {STD_##family, name},
#define FUNCTION(name, handler)
#define CONSTANT(name, number)
#include "model/std_functions.def"
#undef METHOD
#undef FUNCTION
#undef CONSTANT
};

static const row functions[] = {
#define METHOD(family, name, handler)
#define FUNCTION(name, handler) {0, name},
#define CONSTANT(name, number)
#include "model/std_functions.def"
#undef METHOD
#undef FUNCTION
#undef CONSTANT
};

static void assert_sorted(const row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int order = rows[i - 1].family - rows[i].family;

        if (order == 0)
            order = str_compare(str_from(rows[i - 1].name), str_from(rows[i].name));
        if (order >= 0)
            fail_msg("`%s` stands before `%s`", rows[i - 1].name, rows[i].name);
    }
}

static void rows_stand_in_the_order_they_are_looked_up_by(void **state)
{
    (void)state;
    assert_sorted(methods, sizeof methods / sizeof methods[0]);
    assert_sorted(functions, sizeof functions / sizeof functions[0]);
}

static void versions_are_read(void **state)
{
    (void)state;
    assert_int_equal(catalogue_version(CG_LIT("0.11.1")), CATALOGUE_VERSION(0, 11, 1));
    assert_int_equal(catalogue_version(CG_LIT("0.9.2-alpha.1")), CATALOGUE_VERSION(0, 9, 2));
    assert_int_equal(catalogue_version(CG_LIT("1.2")), CATALOGUE_VERSION(1, 2, 0));
    assert_int_equal(catalogue_version(CG_LIT("")), 0);
    assert_int_equal(catalogue_version(CG_LIT("x.1")), 0);
    assert_int_equal(catalogue_version(CG_LIT("1..2")), 0);
    assert_true(catalogue_is_verified(CATALOGUE_VERSION(0, 9, 2)));
    assert_false(catalogue_is_verified(CATALOGUE_VERSION(0, 12, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stand_in_the_order_they_are_looked_up_by),
        cmocka_unit_test(versions_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
