#include "rust/rules.h"
#include "unit/base/failing.h"

typedef struct rule_fact {
    const char *pattern;
    const char *body;
    const char *input;
    const char *want; /* NULL: does not fit; spaces do not count */
} rule_fact;

static void assert_same_tokens(cg_str got, const char *want)
{
    cg_str wanted = str_from(want);
    size_t at_got = 0;
    size_t at_want = 0;
    rust_token a;
    rust_token b;

    for (;;) {
        bool has_got = token_next(got, &at_got, &a);
        bool has_want = token_next(wanted, &at_want, &b);

        if (has_got != has_want ||
            (has_got && !str_equal(token_text(got, &a), token_text(wanted, &b)))) {
            print_error("got `%.*s`, want `%s`\n", (int)got.len, got.ptr, want);
            fail();
        }
        if (!has_got)
            return;
    }
}

static void rules_fit_as_the_compiler_has_them(void **state)
{
    static const rule_fact facts[] = {
        {"", "1", "", "1"},
        {"", "1", "x", NULL},
        {"a => b", "1", "a=>b", "1"},
        {"a => b", "1", "a == b", NULL},
        {"$x:ident", "let $x;", "a", "let a;"},
        {"$x:ident", "1", "a b", NULL},
        {"$x:ident", "1", "1", NULL},
        {"$x:ident", "1", "_", NULL},
        {"$x:expr", "$x + 1", "a", "a + 1"},
        {"$x:expr", "$x * 2", "a + b", "(a + b) * 2"},
        {"$x:expr, $y:expr", "$y", "f(a, b), c::<d, e>()", "(c::<d, e>())"},
        {"$x:expr, $y:expr", "$x", "|a, b| a, c", "(|a, b| a)"},
        {"$x:expr => $y:ty", "$y: $x", "a >= b => Vec<u8, A>", "Vec<u8, A>: (a >= b)"},
        {"$t:ty", "$t::new()", "T", "T::new()"},
        {"$t:ty", "$t::new()", "Vec<T>", "<Vec<T>>::new()"},
        {"$t:ty = $e:expr", "$t $e", "Fn(A) -> B = 1", "Fn(A) -> B 1"},
        {"$t:ty, $p:path", "$t $p", "[u8; 2], a::b", "[u8; 2] a::b"},
        {"$l:literal $m:literal $n:literal", "$l $m $n", "-1 true \"a\"", "-1 true \"a\""},
        {"$l:literal", "$l", "a", NULL},
        {"$b:block", "$b", "{ a }", "{ a }"},
        {"$l:lifetime", "$l", "'a", "'a"},
        {"$v:vis fn", "$v x", "pub(crate) fn", "pub(crate) x"},
        {"$v:vis fn", "$v x", "fn", "x"},
        {"$p:pat => $e:expr", "$p => $e", "A | B(_) => c", "A | B(_) => c"},
        {"$p:pat_param | $q:ident", "$p $q", "A(b) | c", "A(b) c"},
        {"$a:tt $b:tt", "$b $a", "(a b) =>", "=> (a b)"},
        {"$i:item $j:item", "$j", "struct A; fn b() {}", "fn b() {}"},
        {"$($x:expr),*", "[$($x),*]", "", "[]"},
        {"$($x:expr),*", "[$($x),*]", "a, b", "[a, b]"},
        {"$($x:expr),*", "1", "a, b,", NULL},
        {"$($x:expr),* $(,)?", "[$($x,)*]", "a, b,", "[a, b,]"},
        {"$($x:ident)+", "1", "", NULL},
        {"$(a)? $x:ident", "$x", "a b", "b"},
        {"$(a)? $x:ident", "$x", "b", "b"},
        {"$($k:ident : $v:expr);*", "$($k = $v;)*", "a: 1; b: 2", "a = 1; b = 2;"},
        {"$($a:ident [$($b:ident)*])*", "$($a($($b),*))*", "x [y z] w []", "x(y, z) w()"},
        {"$a:ident $($b:ident)*", "$($a.$b)*", "x y z", "x.y x.z"},
        {"($($a:ident)*) ($($b:ident)*)", "$($a $b)*", "(x y) (z)", NULL},
        {"($($a:ident)*) ($($b:ident)*)", "$($a $b)*", "(x y) (z w)", "x z y w"},
        {"$x:ident", "$crate::$x $y", "a", "$crate::a $y"},
        {"$x:ident", "$($x)*", "a", NULL},
        {"$($x:ident)*", "$x", "a", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        failing memory = {0};
        rules_work work;
        bool fits;
        heap from;
        arena mem;

        heap_init(&from, failing_env(&memory));
        arena_init(&mem, &from);
        assert_true(rules_begin(&work, &from, &mem, str_from(facts[i].input)));
        assert_true(rules_apply(&work, str_from(facts[i].pattern), str_from(facts[i].body), &fits));
        if (fits != (facts[i].want != NULL))
            print_error("%s <- %s\n", facts[i].pattern, facts[i].input);
        assert_int_equal(fits, facts[i].want != NULL);
        if (fits)
            assert_same_tokens(buf_text(&work.out), facts[i].want);
        rules_end(&work);
        arena_free(&mem);
        assert_nothing_held(&memory, &from);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_fit_as_the_compiler_has_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
