#include "model/builders.h"

#define DEPTH_MOST  64u
#define VISITS_MOST 256u

enum builder_type builder_type_of(const types *known, type_ref type)
{
    const model_type *shape = type_at(known, type);
    const program *code = known->program;

    if (shape->kind == TYPE_EXTERNAL) {
        cg_str path = program_text(code, shape->name);

        return str_equal(path, CG_LIT("candle_nn::VarBuilder")) ||
                       str_equal(path, CG_LIT("candle_nn::var_builder::VarBuilderArgs")) ||
                       str_equal(path, CG_LIT("candle_nn::var_builder::ShardedVarBuilder"))
                   ? BUILDER_FLOAT
               /* Where the source is not there, models export it under their own names too. */
               : str_starts_with(path, CG_LIT("candle_transformers::")) &&
                       str_ends_with(path, CG_LIT("::VarBuilder"))
                   ? BUILDER_QUANTIZED
                   : BUILDER_NONE;
    }
    if (shape->kind != TYPE_ITEM)
        return BUILDER_NONE;
    const program_item *item = &code->items.at[shape->item];
    const program_module *module = &code->modules.at[item->module];

    return str_equal(program_text(code, item->name), CG_LIT("VarBuilder")) &&
                   str_equal(program_text(code, code->crates.at[module->crate].name),
                             CG_LIT("candle_transformers"))
               ? BUILDER_QUANTIZED
               : BUILDER_NONE;
}

bool builder_is_within(const types *known, type_ref type)
{
    type_ref open[DEPTH_MOST];
    size_t count = 1, visited = 0;

    open[0] = type;
    while (count > 0 && visited++ < VISITS_MOST) {
        const model_type *shape = type_at(known, open[--count]);

        if (builder_type_of(known, open[count]) != BUILDER_NONE)
            return true;
        for (size_t i = 0; i < shape->arg_count && count < DEPTH_MOST; i++)
            open[count++] = shape->args[i];
    }
    return false;
}

cg_code builder_of_function(types *known, item_ref function, bool *ret_takes, bool *ret_gives,
                            cg_err *reterr)
{
    type_ref type = 0;

    *ret_takes = false;
    *ret_gives = false;
    CG_TRY(type_of_item(known, function, &type, reterr));
    const model_type shape = *type_at(known, type);

    if (shape.kind != TYPE_FUNCTION || shape.arg_count == 0)
        return CG_OK;
    for (size_t i = 0; i + 1 < shape.arg_count && !*ret_takes; i++)
        *ret_takes = builder_is_within(known, shape.args[i]);
    *ret_gives = builder_is_within(known, shape.args[shape.arg_count - 1]);
    return CG_OK;
}
