/*
 * candle_module - layers of candle-nn: what their constructors ask for, what the layers keep,
 * what their methods give. All of it is data, candle_modules.def.
 */
#ifndef CG_MODEL_CANDLE_MODULE_H
#define CG_MODEL_CANDLE_MODULE_H

#include "model/std_call.h"

/*
 * A constructor or a configuration's function by canonical path; stays unknown when no row has
 * it.
 */
cg_code module_call(library_call *call, cg_str path);
/* Is it a constructor of the table? Then nothing else may answer the call. */
bool module_has(cg_str path);
/*
 * A variant of one of the library's enums, with the arguments of the call:
 * `candle_nn::Init::Const`.
 */
cg_code module_variant(library_call *call, cg_str path);
/* A method of a layer, configuration, cache or optimizer of the library. */
cg_code module_method(library_call *call, cg_str type_path);

#endif
