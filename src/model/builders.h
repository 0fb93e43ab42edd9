/*
 * builders - which types are a VarBuilder: Candle's own, and the quantized one of
 * candle-transformers.
 */
#ifndef CG_MODEL_BUILDERS_H
#define CG_MODEL_BUILDERS_H

#include "model/types.h"

enum builder_type { BUILDER_NONE, BUILDER_FLOAT, BUILDER_QUANTIZED };

enum builder_type builder_type_of(const types *known, type_ref type);

#endif
