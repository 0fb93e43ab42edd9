/*
 * cfg - conditional compilation: is this predicate true of what is built?
 *
 * Predicates are Rust's: all(..), any(..), not(..), `name`, `name = "value"`, true, false, with any
 * white space and comments between tokens. What no table can know - another function, a name that
 * a build script may set, anything without a set - is undecided, and so is broken text.
 */
#ifndef CG_CARGO_CFG_H
#define CG_CARGO_CFG_H

#include "base/arena.h"
#include "base/vec.h"

typedef struct cargo_strs {
    const cg_str *at;
    size_t count;
} cargo_strs;

enum cfg_truth { CFG_FALSE, CFG_TRUE, CFG_UNDECIDED };

typedef struct cfg_set {
    cargo_strs lines; /* sorted, unique: `unix`, `feature="cuda"` */
    bool is_known;    /* false: nothing can be decided */
    bool is_open;     /* a build script may set names that rustc does not */
} cfg_set;

/*
 * The truth of a predicate, or of one inside `cfg(..)`, `cfg!(..)` or plain parentheses. At most
 * CFG_DEPTH parentheses inside each other are followed; deeper text is undecided.
 */
#define CFG_DEPTH 128
enum cfg_truth cfg_eval(const cfg_set *set, cg_str predicate);

/* Three-valued and: of a list of predicates that all must hold. Nothing: CFG_TRUE. */
enum cfg_truth cfg_and(enum cfg_truth a, enum cfg_truth b);

enum cfg_attribute_kind {
    CFG_ATTRIBUTE_OTHER,   /* not about cfg */
    CFG_ATTRIBUTE_CFG,     /* cfg(predicate) */
    CFG_ATTRIBUTE_CFG_ATTR /* cfg_attr(predicate, rest) */
};

typedef struct cfg_attribute {
    enum cfg_attribute_kind kind;
    cg_str predicate;
    cg_str rest; /* the attributes behind the first comma: `path = "a.rs", allow(x)` */
} cfg_attribute;

/* Take an attribute apart: `#[cfg(unix)]`, `#![..]`, or what stands inside the brackets. */
cfg_attribute cfg_attribute_read(cg_str text);

/*
 * The next attribute of a list separated by commas (cfg_attribute.rest), trimmed; moves `rest`
 * behind it. false at the end.
 */
bool cfg_attribute_next(cg_str *rest, cg_str *ret);

/* --- the built-in table --- */

/* The triple this program was built for, or the nearest one of the table. */
cg_str cfg_host(void);
/* Is the triple in the table? */
bool cfg_has_target(cg_str triple);
/* What `rustc --print cfg` says for it: sorted lines in `mem`; false when out of memory. */
bool cfg_target_lines(arena *mem, cg_str triple, cargo_strs *ret);

/* Make a set of lines in any order, with `feature="F"` for every feature. */
bool cfg_set_make(arena *mem, cargo_strs lines, cargo_strs features, cfg_set *ret);

#endif
