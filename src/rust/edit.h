/*
 * edit - what became of the functions and items of a file, and where everything in it stands now.
 *
 *   CG_TRY(edit_find(&before, &after, mem, &change, &is_known, reterr));
 *   if (is_known && edit_start(&change, offset, &now)) ...
 *
 * Two trees of one file are laid side by side. *ret_is_known is true when everything but `changed`
 * and what `words` tell of says the same, token by token: between items, fields and statements
 * there may be other blanks and comments, elsewhere none, for what stands there can be printed as
 * it is written. `changed` are the functions whose bodies say something else. A body says the same
 * when its statements do, but for one that binds a number or a text to a name nobody asks for:
 * whoever runs it cannot tell.
 *
 * Functions, structs, constants, `use`s and impls may come, go and change (`has_items`): `words`
 * (rust/edit_words) are those by which others can notice it. Functions that went or take something
 * else are among the changed ones.
 *
 * A function that is changed declares nothing in its body that concerns more than who runs it: no
 * function, type, impl or macro. What a `use` or a constant in it means, nobody else asks.
 */
#ifndef CG_RUST_EDIT_H
#define CG_RUST_EDIT_H

#include "rust/edit_words.h"

/* Bytes more or less: budgets are by the size of files, and must not be another one for this. */
#define EDIT_MOST_MOVED ((size_t)8192)

/* Text that is the same in both: start and end before, and where it begins now. */
typedef struct edit_run {
    uint32_t start;
    uint32_t end;
    uint32_t now;
} edit_run;

typedef struct edit {
    const rust_source *before;
    const rust_source *after;
    const edit_run *runs; /* in order */
    size_t run_count;
    const uint32_t
        *changed; /* functions, by number: from 0 in the order of the file, nested ones too */
    size_t changed_count;
    bool has_items;
    bool has_idle; /* statements that nobody can notice came or went */
    const edit_word *words;
    size_t word_count;
    const edit_method *methods; /* that came and went */
    size_t method_count;
} edit;

/* Kinds of nodes that declare something for others, wherever they stand. */
bool edit_declares(uint8_t kind);
/* Trees as they were parsed. The result lies in `mem`. */
cg_code edit_find(const ast *before, const ast *after, arena *mem, edit *ret, bool *ret_is_known,
                  cg_err *reterr) CG_MUST;

/* Where a node that began or ended there does so now; false: it stood in a changed body. */
bool edit_start(const edit *self, uint32_t offset, uint32_t *ret);
bool edit_end(const edit *self, uint32_t offset, uint32_t *ret);
/* The same for a line with something on it; *ret_is_torn: it has become several. */
bool edit_line(const edit *self, uint32_t line, uint32_t *ret, bool *ret_is_torn);

#endif
