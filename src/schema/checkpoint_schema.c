#include "schema/checkpoint_schema.h"

#define X(name, word) {word, sizeof(word) - 1},
const cg_str diagnosis_words[DIAGNOSIS_COUNT] = {DIAGNOSES(X)};
#undef X

#define F SC_FIELD

#define RECORD_TYPE doc_template_match
static const sc_field template_match_fields[] = {TEMPLATE_MATCH_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_tensor_mismatch
static const sc_field tensor_mismatch_fields[] = {TENSOR_MISMATCH_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_checkpoint_shard
static const sc_field checkpoint_shard_fields[] = {CHECKPOINT_SHARD_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_index_difference
static const sc_field index_difference_fields[] = {INDEX_DIFFERENCE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_call_place
static const sc_field call_place_fields[] = {CALL_PLACE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_prefix_call
static const sc_field prefix_call_fields[] = {PREFIX_CALL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_diagnosis
static const sc_field diagnosis_fields[] = {DIAGNOSIS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_checkpoint
static const sc_field checkpoint_fields[] = {CHECKPOINT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_key_map
static const sc_field key_map_fields[] = {KEY_MAP_FIELDS(F)};
#undef RECORD_TYPE
#undef F

#define X(prefix, name, text) SC_TABLE_OF(name, text, "", doc_##name)
CHECKPOINT_TABLES(X)
#undef X
