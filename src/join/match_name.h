/*
 * match_name - the names of a run (spans, operations, labels) against what a crate declares.
 *
 * Each look-up gives one thing, or several that fit equally well and that nobody chooses between,
 * or nothing. The rule it went by is part of the answer. What is tried, the surest first:
 *
 *   span       id; qualified name of a function or an end of two segments or more; path of a module
 *              or layer below the one around the span; such a path from the top; own name of a
 *              function; end of a module's path; name of a type;
 *              path of the fields that hold a module
 *   label      id; key of a parameter, or an end of one; path of a module or layer; tensor of the
 *              function around it; such a path with one segment behind it; both of fields
 *   operation  in the function around it, by name; of the whole crate, where it is written once
 *
 * A first segment that names the crate, a component or the root of the run's gradients is left off
 * when nothing fits otherwise. Of several those in use are kept: of the component that was named,
 * then of the one whose function is around, then of those that ran, then of those that are no part
 * of another.
 */
#ifndef CG_JOIN_MATCH_NAME_H
#define CG_JOIN_MATCH_NAME_H

#include "join/declared.h"

typedef struct name_match {
    uint32_t item; /* DECLARED_NONE: nothing, or several */
    uint8_t rule;
    size_t left_off;                         /* bytes of the name that were left off */
    uint32_t candidates_at, candidate_count; /* several: stretch of matcher.candidates */
} name_match;

/* What is around a record: the nearest function, and the path of the nearest module. */
typedef struct name_context {
    uint32_t function; /* its number; DECLARED_NONE: none */
    cg_str path;       /* empty: none */
} name_context;

typedef struct matcher {
    declared *from;
    uint32_t asked;  /* component; DECLARED_NONE: none */
    bool *is_used;   /* by component: it ran, or has the gradients */
    uint8_t phase;   /* MODEL_PHASE_ of the run */
    uint32_t around; /* component of the function around the name; DECLARED_NONE: none */
    cg_str crate;    /* as paths write it; absent: no name */
    intern heads;    /* other first segments that may be left off, squeezed */
    path_hits hits;
    VEC(uint32_t) candidates;
    VEC(uint32_t) found;
    intern ids; /* filled when the first id is met */
    VEC(uint32_t) item_of_id;
    buf room;
    bool failed; /* out of memory */
} matcher;

cg_code matcher_init(matcher *self, declared *from, uint32_t asked, uint8_t phase, uint64_t seed,
                     cg_err *reterr) CG_MUST;
void matcher_free(matcher *self);

/* The component of a function that ran, or of gradients, is in use from now on. */
void matcher_use(matcher *self, uint32_t component);

/* Names of the run may begin with this. */
void matcher_add_head(matcher *self, cg_str head);

/* Functions alone, whose names need no context. */
name_match match_function(matcher *self, cg_str name);
name_match match_span(matcher *self, cg_str name, const name_context *around);
name_match match_label(matcher *self, cg_str label, const name_context *around);
name_match match_operation(matcher *self, cg_str name, const name_context *around);

/*
 * The path below which spans inside this one are looked for: of a module the path it was matched
 * with, of a function the one module of its owner's type. It is put behind what `out` holds; false:
 * that of the span around stays.
 */
bool match_path(matcher *self, const name_match *match, cg_str name, const name_context *around,
                buf *out);

#endif
