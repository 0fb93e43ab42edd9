#include "schema/join_schema.h"

#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_item_list[] = {JOIN_ITEM_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_record_list[] = {JOIN_RECORD_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_plane_list[] = {JOIN_PLANE_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_input_list[] = {JOIN_INPUT_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_worth_list[] = {JOIN_WORTH_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_rule_list[] = {JOIN_RULE_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_scope_list[] = {JOIN_SCOPE_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_choice_list[] = {JOIN_CHOICE_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_basis_list[] = {JOIN_BASIS_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_tie_list[] = {JOIN_TIE_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_verdict_list[] = {JOIN_VERDICT_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_dispute_list[] = {JOIN_DISPUTE_WORDS(W)};
#undef W
#define W(name, word) {word, sizeof(word) - 1},
static const cg_str join_part_list[] = {JOIN_PART_WORDS(W)};
#undef W

#define X(prefix, name, text)                                                                      \
    const sc_words words_##name = {text, name##_list, sizeof name##_list / sizeof name##_list[0]};
JOIN_WORDS(X)
#undef X

#define F(type, member, key, rule, sub)                                                            \
    {{key, sizeof(key) - 1}, SC_##type, SC_##rule, offsetof(RECORD_TYPE, member), &sub},

#define RECORD_TYPE join_crate
static const sc_field join_crate_fields[] = {JOIN_CRATE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_root
static const sc_field join_root_fields[] = {JOIN_ROOT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_run
static const sc_field join_run_fields[] = {JOIN_RUN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_count
static const sc_field join_count_fields[] = {JOIN_COUNT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_learning
static const sc_field join_learning_fields[] = {JOIN_LEARNING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_summary
static const sc_field join_summary_fields[] = {JOIN_SUMMARY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_provenance
static const sc_field join_provenance_fields[] = {JOIN_PROVENANCE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_seen_shape
static const sc_field join_seen_shape_fields[] = {JOIN_SEEN_SHAPE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_states
static const sc_field join_states_fields[] = {JOIN_STATES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_values
static const sc_field join_values_fields[] = {JOIN_VALUES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_fact
static const sc_field join_fact_fields[] = {JOIN_FACT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_row
static const sc_field join_row_fields[] = {JOIN_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_absent
static const sc_field join_absent_fields[] = {JOIN_ABSENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_stranger
static const sc_field join_stranger_fields[] = {JOIN_STRANGER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_doubt
static const sc_field join_doubt_fields[] = {JOIN_DOUBT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_reason
static const sc_field join_reason_fields[] = {JOIN_REASON_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_starved
static const sc_field join_starved_fields[] = {JOIN_STARVED_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_disputed
static const sc_field join_disputed_fields[] = {JOIN_DISPUTED_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_witness
static const sc_field join_witness_fields[] = {JOIN_WITNESS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_hazard
static const sc_field join_hazard_fields[] = {JOIN_HAZARD_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_broken
static const sc_field join_broken_fields[] = {JOIN_BROKEN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_rows
static const sc_field join_rows_fields[] = {JOIN_ROWS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_absents
static const sc_field join_absents_fields[] = {JOIN_ABSENTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_strangers
static const sc_field join_strangers_fields[] = {JOIN_STRANGERS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_doubts
static const sc_field join_doubts_fields[] = {JOIN_DOUBTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_starveds
static const sc_field join_starveds_fields[] = {JOIN_STARVEDS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_disputeds
static const sc_field join_disputeds_fields[] = {JOIN_DISPUTEDS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_hazards
static const sc_field join_hazards_fields[] = {JOIN_HAZARDS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_brokens
static const sc_field join_brokens_fields[] = {JOIN_BROKENS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE join_doc
static const sc_field join_doc_fields[] = {JOIN_DOC_FIELDS(F)};
#undef RECORD_TYPE
#undef F

/* Written, never read: their names show in no message. */
#define X(prefix, name, tag)                                                                       \
    const sc_table table_##name = {#name,                                                          \
                                   {"", 0},                                                        \
                                   name##_fields,                                                  \
                                   sizeof name##_fields / sizeof name##_fields[0],                 \
                                   sizeof(name)};
JOIN_TABLES(X)
#undef X
