#include "model/phases.h"

static const char *const INFER_WORDS[] = {
    "eval",       "evals",       "evaluate",  "evaluates", "evaluation",
    "infer",      "infers",      "inference", "predict",   "predicts",
    "prediction", "predictions", "predictor", "evaluator", "evaluations",
};
static const char *const TRAIN_WORDS[] = {
    "train",    "trains", "training",  "trainer",    "loss",     "losses",
    "backward", "optim",  "optimizer", "optimizers", "optimize", "optimise",
};

#define IS_IN(list, word) is_among(list, sizeof(list) / sizeof *(list), word)

/* Is the word one of these, letters of any case? */
static bool is_among(const char *const *list, size_t count, cg_str word)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal_nocase(word, str_from(list[i])))
            return true;
    }
    return false;
}

/* The words of a snake-case text (or a path of such), as the phases they hint at. */
static uint8_t hints_of(cg_str text)
{
    uint8_t hints = 0;
    size_t begin = 0;

    for (size_t i = 0; i <= text.len; i++) {
        cg_str word = {text.ptr + begin, i - begin};

        if (i < text.len && text.ptr[i] != '_' && text.ptr[i] != ':')
            continue;
        if (IS_IN(INFER_WORDS, word))
            hints |= PHASES_INFER;
        if (IS_IN(TRAIN_WORDS, word))
            hints |= PHASES_TRAIN;
        begin = i + 1;
    }
    return hints;
}

uint8_t phases_of(const function_fact *function)
{
    cg_str modules = function->qualified;
    size_t colon;
    uint8_t hints;

    if (function->is_loss)
        return PHASES_TRAIN;
    if (str_equal(function->name, CG_LIT("forward")) ||
        str_equal(function->name, CG_LIT("forward_t")))
        return PHASES_TRAIN | PHASES_INFER;
    hints = hints_of(function->name);
    colon = str_find_last(modules, ':');
    if (hints == 0 && colon != SIZE_MAX)
        hints = hints_of((cg_str){modules.ptr, colon});
    return hints == 0 ? PHASES_TRAIN : hints;
}

bool phases_is_named_loss(cg_str name)
{
    size_t begin = 0;

    for (size_t i = 0; i <= name.len; i++) {
        cg_str word = {name.ptr + begin, i - begin};

        if (i < name.len && name.ptr[i] != '_')
            continue;
        if (str_equal_nocase(word, CG_LIT("loss")) || str_equal_nocase(word, CG_LIT("losses")))
            return true;
        begin = i + 1;
    }
    return false;
}
