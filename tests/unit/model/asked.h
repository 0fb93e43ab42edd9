/*
 * asked - a function of a little crate is evaluated, and what it asks its builders for is printed.
 *
 *   asked a;
 *   asked_begin(&a, "pub fn make(vb: VarBuilder) -> Result<Linear> { linear(2, 3, vb.pp(\"a\"))
 * }");
 *   asked_is(&a, "make", "a.weight [3, 2]\na.bias [3]\n");
 *   asked_end(&a);
 *
 * A line is the key, the shape (`-`: none), and ` ?` when it is conditional. Behind the keys
 * come lines
 * for faults, `! rule`.
 */
#ifndef CG_TESTS_UNIT_MODEL_ASKED_H
#define CG_TESTS_UNIT_MODEL_ASKED_H

#include "little.h"
#include "model/catalogue.h"
#include "model/eval_state.h"
#include "model/expr_print.h"

#define ASKED_PRELUDE                                                                              \
    "use candle::{Result, Tensor, DType, Device, D};\n"                                            \
    "use candle_nn::{linear, linear_b, linear_no_bias, layer_norm, embedding, conv2d, Linear, "    \
    "LayerNorm, Embedding, Conv2d, Conv2dConfig, Module, VarBuilder, VarMap, Activation};\n"

typedef struct asked {
    little crate;
    expr_pool exprs;
    eval *eval;
    catalogue catalogue;
    val result;
} asked;

static inline void asked_begin(asked *self, const char *source)
{
    static char text[1 << 16];

    memset(self, 0, sizeof *self);
    little_begin(&self->crate);
    little_write(&self->crate, "Cargo.toml", LITTLE_MANIFEST);
    assert_true(snprintf(text, sizeof text, "%s%s", ASKED_PRELUDE, source) < (int)sizeof text);
    little_write(&self->crate, "src/lib.rs", text);
    little_load(&self->crate, "");
    assert_true(expr_pool_init(&self->exprs, &self->crate.heap));
    assert_int_equal(
        eval_new(&self->crate.program, self->crate.types, &self->exprs, &self->eval, NULL), CG_OK);
    self->catalogue.candle_core = CATALOGUE_VERSION(0, 11, 0);
    self->catalogue.candle_nn = CATALOGUE_VERSION(0, 11, 0);
    self->eval->catalogue = &self->catalogue;
}

static inline void asked_end(asked *self)
{
    eval_free(self->eval);
    expr_pool_free(&self->exprs);
    little_end(&self->crate);
}

/* The builder a parameter of this type is, else 0. */
static inline val asked_argument(asked *self, file_ref file, module_ref module, ast_ref node,
                                 cg_str name)
{
    builder_value builder = {0};
    value made = {.kind = VALUE_BUILDER, .is_known = true};
    type_ref type = 0;

    assert_int_equal(type_lower(self->crate.types, module, file, node, NULL, &type, NULL), CG_OK);
    type = value_transparent(self->eval->values, type);
    if (value_class(self->eval->values, type) == CLASS_OPTION) {
        type_ref inside = type_at(self->crate.types, type)->args[0];

        if (!value_is_builder_type(self->eval->values, inside))
            return 0;
        builder.root =
            trail_add_root(self->eval->trail, &(trail_root){.name = name, .is_optional = true});
        made.type = inside;
        made.as.builder = &builder;
        val some = value_make(self->eval->values, &made);

        some = value_list(self->eval->values, VALUE_SOME, &some, 1);
        return value_join(self->eval->values, some, value_plain(self->eval->values, VALUE_NOTHING));
    }
    if (!value_is_builder_type(self->eval->values, type))
        return 0;
    builder.root = trail_add_root(self->eval->trail, &(trail_root){.name = name});
    made.type = type;
    made.as.builder = &builder;
    return value_make(self->eval->values, &made);
}

/* Evaluate the function from scratch. */
static inline void asked_run(asked *self, const char *function)
{
    program *of = &self->crate.program;
    item_ref item = little_item(&self->crate, function);
    const function_fact *fact;
    val args[16] = {0};

    if (!item)
        fail_msg("no function %s", function);
    eval_begin(self->eval, 0);
    trail_reset(self->eval->trail);
    assert_int_equal(eval_function_fact(self->eval, item, &fact), CG_OK);
    program_item at = of->items.at[item];

    for (size_t i = 0; i < fact->parameter_count && i < 16; i++) {
        const ast *tree = program_tree(of, at.file);
        ast_ref pattern = fact->parameters[i].pattern;

        if (fact->parameters[i].type_node)
            args[i] = asked_argument(self, at.file, at.module, fact->parameters[i].type_node,
                                     pattern ? program_text(of, ast_at(tree, pattern)->text)
                                             : CG_LIT(""));
    }
    uint32_t own = trail_add_instance(self->eval->trail, &(trail_instance){.constructor = item});

    assert_int_not_equal(own, 0);
    self->eval->trail->instance = own;
    assert_int_equal(eval_call(self->eval, item, NULL, args, fact->parameter_count,
                               (model_place){at.file, 0, 0, item}, &self->result),
                     CG_OK);
    assert_int_not_equal(self->result, 0);
}

static inline void asked_print(asked *self, buf *out)
{
    trail *track = self->eval->trail;

    for (size_t i = 1; i < track->parameters.count; i++) {
        const trail_parameter *at = &track->parameters.at[i];

        for (size_t j = 0; j < at->key.count; j++) {
            if (at->key.at[j].is_hole)
                buf_byte(out, '{');
            buf_add(out, at->key.at[j].text);
            if (at->key.at[j].is_hole)
                buf_byte(out, '}');
        }
        buf_add(out, at->has_shape ? CG_LIT(" [") : CG_LIT(" -"));
        for (uint32_t j = 0; at->has_shape && j < at->rank; j++) {
            if (j)
                buf_add(out, CG_LIT(", "));
            expr_print(&self->exprs, at->shape[j], out);
        }
        if (at->has_shape)
            buf_byte(out, ']');
        buf_add(out, at->condition ? CG_LIT(" ?\n") : CG_LIT("\n"));
    }
    for (size_t i = 1; i < track->faults.count; i++)
        buf_addf(out, "! %s\n", track->faults.at[i].rule);
}

static inline void asked_is(asked *self, const char *function, const char *want)
{
    buf out;

    asked_run(self, function);
    buf_init(&out, &self->crate.heap, 1 << 20);
    asked_print(self, &out);
    buf_byte(&out, '\0');
    assert_false(out.failed);
    if (strcmp(out.at, want) != 0)
        fail_msg("%s asks for:\n%sbut should for:\n%s", function, out.at, want);
    buf_free(&out);
}

/* One source, one function. */
static inline void asks(const char *source, const char *want)
{
    asked a;

    asked_begin(&a, source);
    asked_is(&a, "make", want);
    asked_end(&a);
}

#endif
