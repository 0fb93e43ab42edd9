/*
 * gate - which findings make a check fail.
 *
 * Only proven findings do: errors when the check is strict, keys that every run asks a checkpoint
 * for and that it lacks, and those of the denied rules, whatever their severity. Everything has
 * been printed before.
 */
#ifndef CG_MODEL_GATE_H
#define CG_MODEL_GATE_H

#include "model/document.h"

typedef struct gate_verdict {
    size_t proven_errors;
    size_t missing;  /* warnings of keys that the checkpoint lacks: the model cannot be built */
    size_t denied;   /* proven findings of denied rules */
    sc_strs unknown; /* denied words that name no rule: a warning, no failure */
} gate_verdict;

/* The words of `A,B` without blanks, behind those already in the list; may be called repeatedly. */
bool gate_add_words(arena *mem, cg_str text, sc_strs *list) CG_MUST;
/* `deny` holds words as rule_is_named takes them. */
bool gate_judge(arena *mem, const model_doc *doc, sc_strs deny, gate_verdict *ret) CG_MUST;
/*
 * CG_OK, or CG_GATE with a sentence: proven errors and missing keys count only when strict, denied
 * ones always.
 */
cg_code gate_result(const gate_verdict *verdict, bool is_strict, cg_err *reterr) CG_MUST;

#endif
