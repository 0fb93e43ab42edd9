/* What an evaluation came across: certainty of alternatives, steps, modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/trail.h"

typedef struct walk {
    heap heap;
    trail trail;
} walk;

static void begin(walk *self)
{
    heap_init(&self->heap, NULL);
    assert_true(trail_init(&self->trail, &self->heap));
    assert_int_equal(trail_add_root(&self->trail, &(trail_root){.name = CG_LIT("vb")}), 1);
}

static void end(walk *self)
{
    trail_free(&self->trail);
    assert_int_equal(self->heap.used_bytes, 0);
}

/* Ask for a key; its shape is one axis. */
static void ask(walk *self, const char *key, expr axis)
{
    static text_piece pieces[64];
    static size_t count;
    text_piece *piece = &pieces[count++ % 64];

    *piece = (text_piece){.text = str_from(key)};
    assert_true(trail_add_parameter(
        &self->trail,
        &(trail_parameter){
            .root = 1, .key = {piece, 1}, .shape = &axis, .rank = 1, .has_shape = true}));
}

/* `a?b c`: keys in order, those with `?` conditional. */
static void expect(walk *self, const char *want)
{
    buf out;

    buf_init(&out, &self->heap, 4096);
    for (size_t i = 1; i < self->trail.parameters.count; i++) {
        buf_add(&out, self->trail.parameters.at[i].key.at[0].text);
        buf_byte(&out, self->trail.parameters.at[i].condition ? '?' : ' ');
    }
    buf_byte(&out, '\0');
    assert_string_equal(out.at, want);
    buf_free(&out);
}

static void keys_of_all_ways_are_certain_and_stand_once(void **state)
{
    const bool returns[2] = {true, true};
    trail_mark marks[3];
    walk w;

    (void)state;
    begin(&w);
    ask(&w, "before", 1);
    marks[0] = trail_position(&w.trail);
    ask(&w, "both", 1);
    ask(&w, "left", 1);
    marks[1] = trail_position(&w.trail);
    ask(&w, "right", 1);
    ask(&w, "both", 2);
    marks[2] = trail_position(&w.trail);
    assert_true(trail_join(&w.trail, marks, 2, returns, CG_LIT("if x")));
    expect(&w, "before both left?right?");
    /* The shapes differ: the axis is not known. */
    assert_int_equal(w.trail.parameters.at[2].shape[0], EXPR_NONE);
    assert_true(
        str_equal(w.trail.conditions.at[w.trail.parameters.at[3].condition], CG_LIT("if x")));
    end(&w);
}

static void a_way_that_fails_is_no_alternative(void **state)
{
    const bool returns[2] = {false, true};
    trail_mark marks[3];
    walk w;

    (void)state;
    begin(&w);
    marks[0] = trail_position(&w.trail);
    ask(&w, "failing", 1);
    marks[1] = trail_position(&w.trail);
    ask(&w, "good", 1);
    marks[2] = trail_position(&w.trail);
    assert_true(trail_join(&w.trail, marks, 2, returns, CG_LIT("if x")));
    expect(&w, "failing?good ");
    end(&w);
}

static void the_outermost_reason_is_kept(void **state)
{
    const bool returns[2] = {true, true};
    trail_mark outer[3], inner[3];
    walk w;

    (void)state;
    begin(&w);
    outer[0] = trail_position(&w.trail);
    inner[0] = trail_position(&w.trail);
    ask(&w, "a", 1);
    inner[1] = inner[2] = trail_position(&w.trail);
    assert_true(trail_join(&w.trail, inner, 2, returns, CG_LIT("if inner")));
    ask(&w, "b", 1);
    outer[1] = trail_position(&w.trail);
    ask(&w, "a", 1);
    ask(&w, "b", 1);
    outer[2] = trail_position(&w.trail);
    assert_true(trail_join(&w.trail, outer, 2, returns, CG_LIT("if outer")));
    /* In one way `a` is only perhaps there. */
    expect(&w, "a?b ");
    assert_true(
        str_equal(w.trail.conditions.at[w.trail.parameters.at[1].condition], CG_LIT("if inner")));
    end(&w);
}

static void the_same_module_on_all_ways_is_one(void **state)
{
    const bool returns[2] = {true, true};
    trail_mark marks[3];
    walk w;

    (void)state;
    begin(&w);
    w.trail.instance = trail_add_instance(&w.trail, &(trail_instance){.type = 1});
    marks[0] = trail_position(&w.trail);
    for (size_t i = 0; i < 2; i++) {
        w.trail.instance = trail_add_instance(&w.trail, &(trail_instance){.parent = 1, .type = 2});
        ask(&w, i ? "b" : "a", 1);
        ask(&w, "c", 1);
        w.trail.instance = 1;
        marks[i + 1] = trail_position(&w.trail);
    }
    assert_true(trail_join(&w.trail, marks, 2, returns, CG_LIT("if x")));
    assert_int_equal(w.trail.instances.count, 3);
    assert_int_equal(w.trail.instances.at[2].condition, 0);
    expect(&w, "a?c b?");
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(w.trail.parameters.at[i].instance, 2);
    end(&w);
}

static void what_was_forgotten_is_gone(void **state)
{
    walk w;
    trail_mark mark;

    (void)state;
    begin(&w);
    ask(&w, "a", 1);
    mark = trail_position(&w.trail);
    ask(&w, "b", 1);
    trail_forget(&w.trail, mark);
    expect(&w, "a ");
    trail_reset(&w.trail);
    expect(&w, "");
    end(&w);
}

static void spans_can_be_put_in_order(void **state)
{
    const trail_span spans[3] = {{3, 4}, {1, 2}, {2, 3}};
    walk w;

    (void)state;
    begin(&w);
    ask(&w, "a", 1);
    ask(&w, "b", 1);
    ask(&w, "c", 1);
    assert_true(trail_arrange(&w.trail, 1, spans, 3));
    expect(&w, "c a b ");
    end(&w);
}

static void an_optional_root_makes_conditional(void **state)
{
    text_piece piece = {.text = CG_LIT("a")};
    walk w;

    (void)state;
    begin(&w);
    assert_int_equal(
        trail_add_root(&w.trail, &(trail_root){.name = CG_LIT("also"), .is_optional = true}), 2);
    assert_true(trail_add_parameter(&w.trail, &(trail_parameter){.root = 2, .key = {&piece, 1}}));
    expect(&w, "a?");
    end(&w);
}

static void steps_are_unused_until_some_evaluation_uses_their_place(void **state)
{
    builder_step first = {.place = {.file = 1, .start = 5, .end = 9}, .serial = 1};
    builder_step again = first;
    builder_step other = {.place = {.file = 1, .start = 5, .end = 12}, .serial = 3};
    walk w;

    (void)state;
    begin(&w);
    again.serial = 2;
    assert_true(trail_step_made(&w.trail, &first));
    assert_true(trail_step_made(&w.trail, &again));
    assert_true(trail_step_made(&w.trail, &other));
    trail_step_used(&w.trail, &again);
    assert_int_equal(w.trail.unused_steps.count, 1);
    assert_true(trail_step_made(&w.trail, &first));
    assert_int_equal(w.trail.unused_steps.count, 1);
    assert_int_equal(w.trail.unused_steps.at[0].serial, 3);
    end(&w);
}

static void a_fault_is_said_once(void **state)
{
    const model_place place = {.file = 1, .start = 2, .end = 3};
    walk w;

    (void)state;
    begin(&w);
    assert_true(trail_add_fault(&w.trail, "structure-unresolved", place, "%s", "a"));
    assert_true(trail_add_fault(&w.trail, "structure-unresolved", place, "%s", "b"));
    assert_int_equal(w.trail.faults.count, 2);
    assert_true(str_equal(w.trail.faults.at[1].message, CG_LIT("a")));
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_all_ways_are_certain_and_stand_once),
        cmocka_unit_test(a_way_that_fails_is_no_alternative),
        cmocka_unit_test(the_outermost_reason_is_kept),
        cmocka_unit_test(the_same_module_on_all_ways_is_one),
        cmocka_unit_test(what_was_forgotten_is_gone),
        cmocka_unit_test(spans_can_be_put_in_order),
        cmocka_unit_test(an_optional_root_makes_conditional),
        cmocka_unit_test(steps_are_unused_until_some_evaluation_uses_their_place),
        cmocka_unit_test(a_fault_is_said_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
