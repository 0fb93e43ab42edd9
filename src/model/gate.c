#include "model/gate.h"

#include "model/rules.h"

bool gate_add_words(arena *mem, cg_str text, sc_strs *list)
{
    size_t most = list->count + 1;
    cg_str *words;
    size_t start = 0;

    for (size_t i = 0; i < text.len; i++)
        most += text.ptr[i] == ',';
    words = arena_take(mem, most * sizeof *words);
    if (words == NULL)
        return false;
    if (list->count > 0)
        memcpy(words, list->at, list->count * sizeof *words);
    list->at = words;
    for (size_t at = 0; at <= text.len; at++) {
        cg_str word;

        if (at < text.len && text.ptr[at] != ',')
            continue;
        word = str_trim((cg_str){text.ptr + start, at - start});
        if (word.len > 0)
            words[list->count++] = word;
        start = at + 1;
    }
    return true;
}

bool gate_judge(arena *mem, const model_doc *doc, sc_strs deny, gate_verdict *ret)
{
    cg_str *unknown = arena_take(mem, (deny.count + 1) * sizeof *unknown);
    gate_verdict verdict = {0};

    if (unknown == NULL)
        return false;
    for (size_t i = 0; i < deny.count; i++) {
        if (!rule_is_known(deny.at[i]))
            unknown[verdict.unknown.count++] = deny.at[i];
    }
    verdict.unknown.at = unknown;
    for (size_t i = 0; i < doc->findings.count; i++) {
        const model_finding *finding = MODEL_AT(doc->findings, model_finding, i);
        bool is_denied = false;

        if (finding->confidence != MODEL_CONFIDENCE_PROVEN)
            continue;
        verdict.proven_errors += finding->severity == MODEL_FINDING_SEVERITY_ERROR;
        verdict.missing += finding->severity == MODEL_FINDING_SEVERITY_WARNING &&
                           str_equal(finding->rule, rules[RULE_CODE_CHECKPOINT_MISSING].code);
        for (size_t k = 0; k < deny.count && !is_denied; k++)
            is_denied = rule_is_named(finding->rule, deny.at[k]);
        verdict.denied += is_denied;
    }
    *ret = verdict;
    return true;
}

cg_code gate_result(const gate_verdict *verdict, bool is_strict, cg_err *reterr)
{
    if (is_strict && verdict->proven_errors > 0)
        return cg_fail(reterr, PROBLEM_GATE_FINDINGS, "%zu proven error%s", verdict->proven_errors,
                       verdict->proven_errors == 1 ? "" : "s");
    if (is_strict && verdict->missing > 0)
        return cg_fail(reterr, PROBLEM_GATE_FINDINGS,
                       "the checkpoint lacks keys of %zu parameter%s that every run asks for",
                       verdict->missing, verdict->missing == 1 ? "" : "s");
    if (verdict->denied > 0)
        return cg_fail(reterr, PROBLEM_GATE_FINDINGS, "%zu proven finding%s with denied codes",
                       verdict->denied, verdict->denied == 1 ? "" : "s");
    return CG_OK;
}
