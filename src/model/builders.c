#include "model/builders.h"

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
