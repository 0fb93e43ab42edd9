/*
 * builders - which types are a VarBuilder: Candle's own, and the quantized one of
 * candle-transformers.
 */
#ifndef CG_MODEL_BUILDERS_H
#define CG_MODEL_BUILDERS_H

#include "model/types.h"

enum builder_type { BUILDER_NONE, BUILDER_FLOAT, BUILDER_QUANTIZED };

enum builder_type builder_type_of(const types *known, type_ref type);
/* Is there one inside: `&VarBuilder`, `Option<VarBuilder>`, `(VarMap, VarBuilder)`? */
bool builder_is_within(const types *known, type_ref type);
/* Does the function get one, and does it give one back? */
cg_code builder_of_function(types *known, item_ref function, bool *ret_takes, bool *ret_gives,
                            cg_err *reterr) CG_MUST;

#endif
