/*
 * model_schema - candle-graph/model/1 as C structures and tables, expanded from
 * model.def: model_component ..., table_model_component ..., words_model_role ...
 *
 * A record that was cleared says "unknown" everywhere; a STR that is absent
 * (ptr NULL) is written as null where the document allows that and as null,
 * wrongly, elsewhere: model_finish (model/document.h) makes those empty.
 */
#ifndef CG_SCHEMA_MODEL_SCHEMA_H
#define CG_SCHEMA_MODEL_SCHEMA_H

#include "schema/model.def"
#include "schema/schema.h"

#define MODEL_SCHEMA   "candle-graph/model/1"
#define MODEL_BUILD    "candle-graph/build/1"
#define MODEL_NO_DTYPE "Unknown" /* model_tensor.dtype when nothing is known */

enum {
#define W(name, word) MODEL_ID_KIND_##name,
    MODEL_ID_KIND_WORDS(W)
#undef W
        MODEL_ID_KIND_COUNT
};
enum {
#define W(name, word) MODEL_CONFIDENCE_##name,
    MODEL_CONFIDENCE_WORDS(W)
#undef W
        MODEL_CONFIDENCE_COUNT
};
enum {
#define W(name, word) MODEL_EVIDENCE_KIND_##name,
    MODEL_EVIDENCE_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_FINDING_SEVERITY_##name,
    MODEL_FINDING_SEVERITY_WORDS(W)
#undef W
        MODEL_FINDING_SEVERITY_COUNT
};
enum {
#define W(name, word) MODEL_CERTAINTY_##name,
    MODEL_CERTAINTY_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_CFG_SOURCE_##name,
    MODEL_CFG_SOURCE_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_BUILDER_ROLE_##name,
    MODEL_BUILDER_ROLE_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_PARAMETER_ROLE_##name,
    MODEL_PARAMETER_ROLE_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_VISIBILITY_##name,
    MODEL_VISIBILITY_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_PHASE_##name,
    MODEL_PHASE_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_TENSOR_ROLE_##name,
    MODEL_TENSOR_ROLE_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_DEVICE_##name,
    MODEL_DEVICE_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_LAYOUT_##name,
    MODEL_LAYOUT_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_STAGE_KIND_##name,
    MODEL_STAGE_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_DISPATCH_##name,
    MODEL_DISPATCH_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_ARTIFACT_KIND_##name,
    MODEL_ARTIFACT_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_SOURCE_KIND_##name,
    MODEL_SOURCE_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) MODEL_EFFECT_##name,
    MODEL_EFFECT_WORDS(W)
#undef W
};

#define X(prefix, name, text) extern const sc_words words_##name;
MODEL_WORDS(X)
#undef X

extern const sc_tags tags_model_device;
extern const sc_tags tags_model_layout;

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, name)                                                               \
    extern const sc_table table_##name;
MODEL_TABLES(X)
#undef X

enum model_list {
#define X(name, record, member) MODEL_##name,
    MODEL_LISTS(X)
#undef X
        MODEL_LIST_COUNT
};

#endif
