#include "model/rules.h"

#define TEXT(text) {text, sizeof(text) - 1}

/* The field words of rule.def without their prefix, for the table only. */
enum {
    NONE = RULE_NONE,
    OPERATION = RULE_OPERATION,
    CONDITION = RULE_CONDITION,
    ENTRIES = RULE_ENTRIES,
    SEVERED = RULE_SEVERED,
    STILL_TRAINED = RULE_STILL_TRAINED,
    ALTERNATIVE = RULE_ALTERNATIVE,
    SHAPES = RULE_SHAPES,
    DTYPE = RULE_DTYPE,
    DEVICE = RULE_DEVICE,
    DEVICES = RULE_DEVICES,
    PRODUCER = RULE_PRODUCER,
    EFFECT = RULE_EFFECT,
    KEYS = RULE_KEYS,
    PREFIX = RULE_PREFIX
};

const rule_row rules[RULE_CODE_COUNT] = {
#define RULE(name, code, severity, fields, title, means, hurts, bad, good, fix)                    \
    {TEXT(code),         MODEL_FINDING_SEVERITY_##severity,                                        \
     (uint16_t)(fields), TEXT(title),                                                              \
     TEXT(means),        TEXT(hurts),                                                              \
     TEXT(bad),          TEXT(good),                                                               \
     TEXT(fix)},
#include "model/rule.def"
#undef RULE
};

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool starts_with(cg_str text, cg_str part)
{
    if (part.len > text.len)
        return false;
    for (size_t i = 0; i < part.len; i++) {
        if (lower(text.ptr[i]) != lower(part.ptr[i]))
            return false;
    }
    return true;
}

const rule_row *rule_find(cg_str code)
{
    for (size_t i = 0; i < RULE_CODE_COUNT; i++) {
        if (rules[i].code.len == code.len && starts_with(rules[i].code, code))
            return &rules[i];
    }
    return NULL;
}

bool rule_is_named(cg_str code, cg_str word)
{
    word = str_trim(word);
    return word.len > 0 && starts_with(code, word) &&
           (code.len == word.len || code.ptr[word.len] == '-');
}

bool rule_is_known(cg_str word)
{
    for (size_t i = 0; i < RULE_CODE_COUNT; i++) {
        if (rule_is_named(rules[i].code, word))
            return true;
    }
    return false;
}
