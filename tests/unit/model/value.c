/* Abstract values: what a type says, joins, fields, texts. */
#include "asked.h"

typedef struct made {
    asked a;
    values *all;
} made;

static void begin(made *self, const char *source)
{
    asked_begin(&self->a, source);
    self->all = self->a.eval->values;
}

static sym name(made *self, const char *text)
{
    return intern_add(&self->a.crate.program.names, str_from(text));
}

static type_ref item_type(made *self, const char *path)
{
    type_ref type = 0;

    assert_int_equal(
        type_of_item(self->a.crate.types, little_item(&self->a.crate, path), &type, NULL), CG_OK);
    return type;
}

static void prints(made *self, val which, const char *want)
{
    cg_str text;

    assert_true(value_print(self->all, which, &text));
    if (!str_equal(text, str_from(want)))
        fail_msg("printed `%.*s`, wanted `%s`", (int)text.len, text.ptr, want);
}

static val number(made *self, int64_t digits)
{
    return value_int(self->all, expr_const(&self->a.exprs, digits));
}

static void fields_of_unknown_structs_are_named_after_them(void **state)
{
    made m;
    val cfg;

    (void)state;
    begin(&m,
          "pub struct Cfg { pub dim: usize, pub on: bool, pub inner: Inner, pub list: Vec<u32>,\n"
          "  pub more: Option<usize>, pub pair: (usize, f64), pub text: String }\n"
          "pub struct Inner { pub deep: usize }\n");
    cfg = value_of_type(m.all, item_type(&m, "Cfg"), CG_LIT("cfg"));
    prints(&m, value_field_of(m.all, cfg, name(&m, "dim")), "cfg.dim");
    prints(&m, value_field_of(m.all, cfg, name(&m, "on")), "cfg.on");
    prints(&m,
           value_field_of(m.all, value_field_of(m.all, cfg, name(&m, "inner")), name(&m, "deep")),
           "cfg.inner.deep");
    prints(&m, value_field_of(m.all, value_field_of(m.all, cfg, name(&m, "pair")), name(&m, "0")),
           "cfg.pair.0");
    prints(&m, value_field_of(m.all, cfg, name(&m, "text")), "cfg.text");
    assert_int_equal(value_field_of(m.all, cfg, name(&m, "absent")), 0);
    val more = value_field_of(m.all, cfg, name(&m, "more"));

    assert_int_equal(value_kind_of(m.all, more), VALUE_CHOICE);
    assert_int_equal(value_kind_of(m.all, value_at(m.all, more)->as.items[1]), VALUE_NOTHING);
    val list = value_field_of(m.all, cfg, name(&m, "list"));
    const value *repeat = value_at(m.all, value_at(m.all, list)->as.items[0]);

    assert_int_equal(repeat->kind, VALUE_REPEAT);
    prints(&m, repeat->as.repeat.items[0], "cfg.list[index]");
    prints(&m, value_int(m.all, repeat->as.repeat.count), "cfg.list.len()");
    asked_end(&m.a);
}

static void a_field_can_be_replaced(void **state)
{
    made m;
    val cfg, other;

    (void)state;
    begin(&m, "pub struct Cfg { pub dim: usize, pub n: usize }\n");
    cfg = value_of_type(m.all, item_type(&m, "Cfg"), CG_LIT("cfg"));
    other = value_with_field(m.all, cfg, name(&m, "dim"), number(&m, 7));
    prints(&m, value_field_of(m.all, other, name(&m, "dim")), "7");
    prints(&m, value_field_of(m.all, other, name(&m, "n")), "cfg.n");
    prints(&m, value_field_of(m.all, cfg, name(&m, "dim")), "cfg.dim");
    asked_end(&m.a);
}

static void equal_values_stay_and_others_are_choices(void **state)
{
    made m;
    val four, five, both, truth;

    (void)state;
    begin(&m, "");
    four = number(&m, 4);
    five = number(&m, 5);
    assert_int_equal(value_join(m.all, four, number(&m, 4)), four);
    both = value_join(m.all, four, five);
    assert_int_equal(value_at(m.all, both)->count, 2);
    assert_true(value_equal(m.all, value_join(m.all, both, five), both));
    assert_int_equal(value_number(m.all, both), EXPR_NONE);
    truth = value_join(m.all, m.all->truth[0], m.all->truth[1]);
    assert_int_equal(value_truth(m.all, truth), -1);
    /* An error is no other value; what never comes back is none at all. */
    assert_int_equal(value_join(m.all, value_plain(m.all, VALUE_ERROR), four), four);
    assert_int_equal(value_join(m.all, four, value_plain(m.all, VALUE_NEVER)), four);
    for (int64_t i = 0; i < 40; i++)
        both = value_join(m.all, both, number(&m, i));
    assert_int_equal(value_kind_of(m.all, both), VALUE_UNKNOWN);
    asked_end(&m.a);
}

static void structs_are_joined_field_by_field(void **state)
{
    made m;
    type_ref type;

    (void)state;
    begin(&m, "pub struct P { pub a: usize, pub b: usize }\n");
    type = item_type(&m, "P");
    value_field left[2] = {{name(&m, "a"), number(&m, 1)}, {name(&m, "b"), number(&m, 2)}};
    value_field right[2] = {{name(&m, "a"), number(&m, 1)}, {name(&m, "b"), number(&m, 3)}};
    val both =
        value_join(m.all, value_struct(m.all, type, left, 2), value_struct(m.all, type, right, 2));

    assert_int_equal(value_kind_of(m.all, both), VALUE_STRUCT);
    prints(&m, value_field_of(m.all, both, name(&m, "a")), "1");
    assert_int_equal(value_kind_of(m.all, value_field_of(m.all, both, name(&m, "b"))),
                     VALUE_CHOICE);
    asked_end(&m.a);
}

/* Numbers, choices of them, and now and then something else. */
static val any_value(made *self, uint32_t *seed)
{
    uint32_t bits = *seed = *seed * 1664525u + 1013904223u;
    uint32_t what = bits >> 28;
    val a = number(self, bits >> 20 & 15), b = number(self, bits >> 16 & 15), pair[2] = {a, b};

    if (what == 0)
        return value_int(self->all, EXPR_NONE);
    if (what == 1)
        return value_plain(self->all, VALUE_NOTHING);
    if (what == 2)
        return value_list(self->all, VALUE_TUPLE, pair, 2);
    if (what == 3)
        return value_plain(self->all, VALUE_NEVER);
    if (what < 8)
        return value_join(self->all, value_join(self->all, a, b), number(self, bits >> 12 & 15));
    return a;
}

static bool is_alike(const values *all, val a, val b)
{
    const value *x = value_at(all, a), *y = value_at(all, b);

    return value_equal(all, a, b) || (x->kind == VALUE_UNKNOWN && y->kind == VALUE_UNKNOWN &&
                                      x->type == y->type && !x->text.len && !y->text.len);
}

static void many_are_joined_as_one_after_the_other(void **state)
{
    uint32_t seed = 7;
    made m;

    (void)state;
    begin(&m, "");
    for (unsigned round = 0; round < 3000; round++) {
        val items[40], one = 0, all, list, again;
        size_t count = 1 + round % 40;
        uint64_t work;

        for (size_t i = 0; i < count; i++)
            items[i] =
                round % 3 ? number(&m, (seed = seed * 69069u + 1u) >> 28) : any_value(&m, &seed);
        work = m.all->work;
        for (size_t i = 0; i < count; i++)
            one = one ? value_join(m.all, one, items[i]) : items[i];
        work = m.all->work - work;
        m.all->work = 0;
        all = value_join_all(m.all, items, count);
        assert_true(is_alike(m.all, one, all));
        assert_int_equal(m.all->work, work);
        list = value_list(m.all, VALUE_LIST, items, count);
        m.all->work = 0;
        all = value_join_items(m.all, value_at(m.all, list));
        assert_true(is_alike(m.all, one, all));
        assert_int_equal(m.all->work, work);
        /* Another list of the same items, and one more of them. */
        list = value_list(m.all, VALUE_LIST, items, count);
        m.all->work = 0;
        again = value_join_items(m.all, value_at(m.all, list));
        assert_int_equal(again, all);
        assert_int_equal(m.all->work, work);
    }
    asked_end(&m.a);
}

static void a_joined_list_is_forgotten_with_its_values(void **state)
{
    made m;
    const value *joined;
    val items[2], list;

    (void)state;
    begin(&m, "");
    values_mark mark = values_position(m.all);

    items[0] = number(&m, 1);
    items[1] = number(&m, 2);
    list = value_list(m.all, VALUE_LIST, items, 2);
    joined = value_at(m.all, value_join_items(m.all, value_at(m.all, list)));
    prints(&m, joined->as.items[0], "1");
    values_forget(m.all, mark);
    items[0] = number(&m, 3);
    items[1] = number(&m, 4);
    list = value_list(m.all, VALUE_LIST, items, 2);
    joined = value_at(m.all, value_join_items(m.all, value_at(m.all, list)));
    prints(&m, joined->as.items[0], "3");
    asked_end(&m.a);
}

static void symbols_are_replaced_in_numbers_and_texts(void **state)
{
    made m;
    val list, item;
    expr index, next;

    (void)state;
    begin(&m, "pub struct Cfg { pub dims: Vec<usize>, pub parts: Vec<Part> }\n"
              "pub struct Part { pub n: usize }\n");
    val cfg = value_of_type(m.all, item_type(&m, "Cfg"), CG_LIT("cfg"));

    index = expr_symbol(&m.a.exprs, CG_LIT("index"));
    next = expr_binary(&m.a.exprs, EXPR_ADD, expr_symbol(&m.a.exprs, CG_LIT("i")),
                       expr_const(&m.a.exprs, 1));
    list = value_at(m.all, value_field_of(m.all, cfg, name(&m, "dims")))->as.items[0];
    item = value_at(m.all, list)->as.repeat.items[0];
    prints(&m, value_substitute(m.all, item, index, next), "cfg.dims[i + 1]");
    list = value_at(m.all, value_field_of(m.all, cfg, name(&m, "parts")))->as.items[0];
    item = value_substitute(m.all, value_at(m.all, list)->as.repeat.items[0], index, next);
    prints(&m, value_field_of(m.all, item, name(&m, "n")), "cfg.parts[i + 1].n");
    prints(&m, value_substitute(m.all, value_int(m.all, index), index, next), "i + 1");
    asked_end(&m.a);
}

static void builders_are_seen_from_outside(void **state)
{
    made m;
    builder_value builder = {.root = 1};
    value shape = {.kind = VALUE_BUILDER, .as.builder = &builder};
    val inner, some, pair[2];

    (void)state;
    begin(&m, "");
    inner = value_make(m.all, &shape);
    some = value_list(m.all, VALUE_SOME, &inner, 1);
    pair[0] = number(&m, 1);
    pair[1] = some;
    assert_true(value_at(m.all, value_list(m.all, VALUE_TUPLE, pair, 2))->has_builder);
    assert_false(value_at(m.all, value_list(m.all, VALUE_TUPLE, pair, 1))->has_builder);
    asked_end(&m.a);
}

static void pointers_to_values_last(void **state)
{
    made m;
    const value *first;
    val which;

    (void)state;
    begin(&m, "");
    which = number(&m, 12345);
    first = value_at(m.all, which);
    for (int64_t i = 0; i < 5000; i++)
        assert_int_not_equal(number(&m, i), 0);
    assert_ptr_equal(first, value_at(m.all, which));
    values_mark mark = values_position(m.all);
    uint32_t count = m.all->count;

    assert_int_not_equal(value_text(m.all, CG_LIT("forgotten")), 0);
    values_forget(m.all, mark);
    assert_int_equal(m.all->count, count);
    asked_end(&m.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_unknown_structs_are_named_after_them),
        cmocka_unit_test(a_field_can_be_replaced),
        cmocka_unit_test(equal_values_stay_and_others_are_choices),
        cmocka_unit_test(structs_are_joined_field_by_field),
        cmocka_unit_test(many_are_joined_as_one_after_the_other),
        cmocka_unit_test(a_joined_list_is_forgotten_with_its_values),
        cmocka_unit_test(symbols_are_replaced_in_numbers_and_texts),
        cmocka_unit_test(builders_are_seen_from_outside),
        cmocka_unit_test(pointers_to_values_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
