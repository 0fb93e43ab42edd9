/*
 * err - one error type, and the table of everything that can be refused.
 *
 * A function that can fail returns a cg_code and takes `cg_err *reterr` last;
 * it may be NULL. The first cause is kept: a cg_err that already holds a code
 * is not overwritten. Texts are escaped for a terminal while being stored.
 */
#ifndef CG_BASE_ERR_H
#define CG_BASE_ERR_H

#include "base/str.h"

enum problem {
#define PROBLEM(name, id, code, help) PROBLEM_##name,
#include "base/problem.def"
#undef PROBLEM
    PROBLEM_COUNT
};

#define CG_TRY(expression)                                                                         \
    do {                                                                                           \
        cg_code code_ = (expression);                                                              \
        if (code_ != CG_OK)                                                                        \
            return code_;                                                                          \
    } while (0)

/*
 * Record a problem and return its code. The format accepts what printf
 * accepts; give text from input as `%.*s` with err_arg().
 */
cg_code cg_fail(cg_err *reterr, enum problem problem, const char *format, ...) CG_PRINTF(3, 4);

/* Arguments for `%.*s`: a slice shortened to 80 bytes at a character border. */
#define ERR_STR(text) (int)err_shorten(text).len, err_shorten(text).ptr
cg_str err_shorten(cg_str text);

/* Add the place when it is not known yet. */
void err_at_line(cg_err *reterr, uint64_t line, uint64_t offset);
void err_in_file(cg_err *reterr, cg_str file);

/* "out of memory" in one word, for the many places that need it. */
cg_code err_nomem(cg_err *reterr);

/* "input" -> id and code of the table. */
const char *problem_id(enum problem problem);
cg_code problem_code(enum problem problem);

#endif
