#include "unit/base/failing.h"

#include "join/checkpoint_choice.h"
#include "support/parameter_header.h"
#include "support/parameter_list.h"

/* What is chosen of `Net` and `aux::Head`; their parameters hang on the builders given. */
typedef struct world {
    heap heap;
    arena mem;
    tensor_header header;
    key_piece pieces[4];
    wanted_parameter parameters[4];
    wanted_component components[2];
    const wanted_component **chosen;
    size_t count;
    cg_str root;
} world;

static const char *const keys[] = {"a.weight", "b.weight", "c.weight", "d.weight"};

static void begin(world *self, const char *file, const char *const roots[4])
{
    *self = (world){0};
    heap_init(&self->heap, NULL);
    arena_init(&self->mem, &self->heap);
    parameter_header_read(&self->heap, str_from(file), &self->header);
    for (size_t i = 0; i < 4; i++) {
        self->pieces[i] = (key_piece){.text = str_from(keys[i])};
        self->parameters[i] = (wanted_parameter){
            .root = str_from(roots[i]), .pieces = &self->pieces[i], .piece_count = 1};
    }
    self->components[0] = (wanted_component){.name = CG_LIT("aux::Head"),
                                             .is_top_level = true,
                                             .parameters = &self->parameters[3],
                                             .parameter_count = 1};
    self->components[1] = (wanted_component){.name = CG_LIT("Net"),
                                             .is_top_level = true,
                                             .parameters = self->parameters,
                                             .parameter_count = 3};
}

static cg_code choose(world *self, checkpoint_choice options, cg_err *reterr)
{
    return checkpoint_choose(&self->mem, self->components, 2, &self->header, &options,
                             &self->chosen, &self->count, &self->root, reterr);
}

static void end(world *self)
{
    safetensors_free(&self->header);
    arena_free(&self->mem);
    assert_int_equal(self->heap.used_bytes, 0);
}

static const char *const two_builders[] = {"actor", "actor", "critic", "critic"};

static void of_several_builders_the_one_that_the_file_is_of(void **state)
{
    world w;

    (void)state;
    begin(&w, "c.weight F32 2\nd.weight F32 2\n", two_builders);
    assert_int_equal(choose(&w, (checkpoint_choice){0}, NULL), CG_OK);
    assert_text(w.root, "critic");
    /* By name, and both have a key below that builder. */
    assert_int_equal(w.count, 2);
    assert_text(w.chosen[0]->name, "Net");
    assert_text(w.chosen[1]->name, "aux::Head");
    end(&w);
}

static void a_component_without_the_builder_is_left_out(void **state)
{
    world w;

    (void)state;
    begin(&w, "a.weight F32 2\nb.weight F32 2\n", two_builders);
    assert_int_equal(choose(&w, (checkpoint_choice){0}, NULL), CG_OK);
    assert_text(w.root, "actor");
    assert_int_equal(w.count, 1);
    assert_text(w.chosen[0]->name, "Net");
    end(&w);
}

static void what_was_asked_for_is_taken(void **state)
{
    world w;
    cg_err err = {0};

    (void)state;
    begin(&w, "a.weight F32 2\n", two_builders);
    assert_int_equal(choose(&w, (checkpoint_choice){.root = CG_LIT("critic")}, NULL), CG_OK);
    assert_text(w.root, "critic");
    assert_int_equal(choose(&w, (checkpoint_choice){.component = CG_LIT("Head")}, NULL), CG_OK);
    assert_text(w.root, "critic");
    assert_int_equal(w.count, 1);
    assert_text(w.chosen[0]->name, "aux::Head");
    /* Part of a name is none. */
    assert_int_equal(choose(&w, (checkpoint_choice){.component = CG_LIT("ead")}, &err), CG_INPUT);
    end(&w);
}

static void without_parameters_the_builder_is_vb(void **state)
{
    world w;

    (void)state;
    begin(&w, "a.weight F32 2\n", two_builders);
    w.components[0].parameter_count = w.components[1].parameter_count = 0;
    assert_int_equal(choose(&w, (checkpoint_choice){0}, NULL), CG_OK);
    assert_text(w.root, "vb");
    assert_int_equal(w.count, 0);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_several_builders_the_one_that_the_file_is_of),
        cmocka_unit_test(a_component_without_the_builder_is_left_out),
        cmocka_unit_test(what_was_asked_for_is_taken),
        cmocka_unit_test(without_parameters_the_builder_is_vb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
