/*
 * rules - what is known about every code a finding can have.
 */
#ifndef CG_MODEL_RULES_H
#define CG_MODEL_RULES_H

#include "schema/model_schema.h"

/* Fields of findings/1 that a code has beyond the common ones, in the order of writing. */
enum rule_field {
    RULE_OPERATION = 1 << 0,
    RULE_CONDITION = 1 << 1,
    RULE_ENTRIES = 1 << 2,
    RULE_SEVERED = 1 << 3,
    RULE_STILL_TRAINED = 1 << 4,
    RULE_ALTERNATIVE = 1 << 5,
    RULE_SHAPES = 1 << 6,
    RULE_DTYPE = 1 << 7,
    RULE_DEVICE = 1 << 8,
    RULE_DEVICES = 1 << 9,
    RULE_PRODUCER = 1 << 10,
    RULE_EFFECT = 1 << 11,
    RULE_KEYS = 1 << 12,
    RULE_PREFIX = 1 << 13,
    RULE_NONE = 0
};

enum rule {
#define RULE(name, code, severity, fields, title, means, hurts, bad, good, fix) RULE_CODE_##name,
#include "model/rule.def"
#undef RULE
    RULE_CODE_COUNT
};

typedef struct rule_row {
    cg_str code;
    uint8_t severity; /* MODEL_FINDING_SEVERITY_, what the rule starts from */
    uint16_t fields;  /* RULE_OPERATION | ... */
    cg_str title;
    cg_str means;
    cg_str hurts;
    cg_str bad; /* empty: no sample */
    cg_str good;
    cg_str fix;
} rule_row;

extern const rule_row rules[RULE_CODE_COUNT];

/* The row of a code (any case), or NULL. */
const rule_row *rule_find(cg_str code);
/*
 * Does `word` name `code`: is it the code, or a prefix of it that ends before
 * a dash? Blanks around the word and the case of letters do not count.
 */
bool rule_is_named(cg_str code, cg_str word);
/* Does the word name any rule at all? */
bool rule_is_known(cg_str word);

#endif
