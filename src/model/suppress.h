/*
 * suppress - findings that the project has looked at and decided about.
 *
 * A comment `// candle-graph: allow(code) reason` covers the line below it, or
 * its own when code stands before it; comments on several lines in a row cover
 * the line below the last one. A
 * level changes what findings of a rule are, wherever they stand. What allows
 * nothing becomes a finding of its own, `unused-suppression`.
 */
#ifndef CG_MODEL_SUPPRESS_H
#define CG_MODEL_SUPPRESS_H

#include "model/document.h"

/* One code of one comment. */
typedef struct suppress_comment {
    cg_str file; /* as locations of findings spell it */
    uint64_t line;
    cg_str code;      /* as rule_is_named takes it */
    bool is_trailing; /* behind code, on its line */
    uint64_t column, byte_start, byte_end;
} suppress_comment;

enum suppress_word { SUPPRESS_ALLOW, SUPPRESS_INFORMATION, SUPPRESS_WARNING, SUPPRESS_ERROR };

/* One line of `candle-graph.toml` or `[package.metadata.candle-graph]`. */
typedef struct suppress_level {
    cg_str code;
    uint8_t word;  /* SUPPRESS_ */
    cg_str source; /* `candle-graph.toml:3`, for unused ones */
} suppress_level;

typedef struct suppress_list {
    const suppress_comment *comments;
    size_t comment_count;
    const suppress_level *levels; /* the last one that names a code counts */
    size_t level_count;
} suppress_list;

/* The word of a level: allow, information, warning (warn, too), error (deny, too); -1: none. */
int suppress_word_of(cg_str word);
/* Apply to a finished document, which is put in order again. `ret_count`: how many are gone. */
cg_code suppress_apply(model_document *document, const suppress_list *list, size_t *ret_count,
                       cg_err *reterr) CG_MUST;

#endif
