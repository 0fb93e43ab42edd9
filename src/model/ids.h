/*
 * ids - the stable names of everything a model document speaks of.
 *
 * An id is its kind and its parts, joined with `:`. In a part the five bytes
 * % : / \ and space become %25 %3A %2F %5C %20; all others stay, UTF-8 too. An
 * id that is a part of another id is escaped again. Ids follow from names
 * alone: not from addresses, numbers of lines or the order of files.
 *
 * Every function puts its text into `mem` and answers false when there is no
 * memory.
 */
#ifndef CG_MODEL_IDS_H
#define CG_MODEL_IDS_H

#include "base/arena.h"
#include "schema/model_schema.h"

/* For id_make: ID_PARTS(component, root, key). */
#define ID_PARTS(...)                                                                              \
    (const cg_str[]){__VA_ARGS__}, sizeof((const cg_str[]){__VA_ARGS__}) / sizeof(cg_str)

/*
 * `kind` is MODEL_ID_KIND_...; the parts, in order:
 *
 *   ANALYSIS              build id, or the absolute path of a directory without manifest
 *   FUNCTION              qualified name, cfg predicates (id_function)
 *   COMPONENT             qualified name of the type
 *   MODULE                component, root, prefix, type name, number of the instance (id_module)
 *   PARAMETER             component, root, key
 *   TENSOR                of a contract: function, name. Of the dataflow: id_flow
 *   OPERATION             id_flow
 *   COMPOSITION_EDGE      parent component, child component, field
 *   ARCHITECTURE_EDGE     from, to, function
 *   ASSEMBLY_SITE         function, component, root, prefixes joined with / (id_assembly)
 *   STAGE                 qualified name of the function, name; or the function alone
 *   SUBPROCESS_STAGE      as STAGE
 *   ARTIFACT              what identifies it
 *   OPTIMIZER_MEMBERSHIP  stage, variable map, qualified name of the function
 *   FINDING               rule, source or empty, message (model_finish does it)
 */
bool id_make(arena *mem, uint8_t kind, const cg_str *parts, size_t count, cg_str *ret) CG_MUST;

bool id_function(arena *mem, cg_str qualified_name, sc_strs cfg_predicates, cg_str *ret) CG_MUST;
/* Instance 0 is the component's own. */
bool id_module(arena *mem, cg_str component, cg_str root, cg_str prefix, cg_str type_name,
               uint64_t instance, cg_str *ret) CG_MUST;
/* A tensor or an operation of the dataflow: MODEL_PHASE_..., function, number of the node. */
bool id_flow(arena *mem, uint8_t kind, uint8_t phase, cg_str function, uint64_t node,
             cg_str *ret) CG_MUST;
bool id_assembly(arena *mem, cg_str function, cg_str component, cg_str root, sc_strs prefix_chain,
                 cg_str *ret) CG_MUST;

/*
 * candle-graph/build/1:<16 digits> of a configuration: FNV-1a over names,
 * features, cfg lines and versions of the Candle packages. `features` and `cfg`
 * must be in bytewise order and hold nothing twice, `candle` is sorted by name.
 * The text of the sources does not enter.
 */
bool id_build(arena *mem, cg_str package, cg_str version, cg_str target, sc_strs features,
              sc_strs cfg, sc_map candle, cg_str *ret) CG_MUST;

/*
 * Order of two ids for people: bytewise, but a decimal number after the last
 * colon counts as a number, so that `x:2` comes before `x:10`.
 */
int id_compare(cg_str a, cg_str b);

#endif
