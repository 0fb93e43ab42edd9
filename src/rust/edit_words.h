/*
 * edit_words - by which words somebody else can notice that an item came, went, or is another one.
 *
 *   edit_words_come(&words, trees, EDIT_NOW, item);     an item that is new
 *   edit_words_change(&words, trees, before, after);    one of which more than a body has changed
 *
 * Whoever says none of the words, in its own text or in that of what it uses, finds the same as
 * before. `is_open`: it cannot be told so; modules, macros, traits, public `use`, impls of
 * operators and for types of others concern more than who names them.
 */
#ifndef CG_RUST_EDIT_WORDS_H
#define CG_RUST_EDIT_WORDS_H

#include "rust/ast.h"

enum edit_side { EDIT_THEN, EDIT_NOW };

/* Who can mean what a word stands for. */
enum edit_reach {
    EDIT_IN_MODULE,    /* a private `use` brings it: this file, and modules inside of it */
    EDIT_BY_USERS,     /* it was there, or belongs to a type: who uses something of the file */
    EDIT_BY_TRAIT,     /* a trait: the same; everybody, when the trait is no library's */
    EDIT_BY_ANYONE,    /* new */
    EDIT_AS_COMPONENT, /* a type that is made another way: no more than its name matters */
    EDIT_AS_LITERAL    /* a struct with a field more or less that leads nowhere: users who write it
                          out, or ask for all its fields */
};

typedef struct edit_word {
    cg_str text; /* of the source */
    uint8_t reach;
} edit_word;

/* There is one method more, or one less, of that name. */
typedef struct edit_method {
    cg_str name;
    bool is_new;
} edit_method;

typedef struct edit_words {
    heap *heap;
    const ast *trees[2]; /* by enum edit_side */
    VEC(edit_word) all;
    VEC(edit_method) methods;
    bool is_open;
    bool is_short;
} edit_words;

void edit_words_free(edit_words *self);

/* An item that only one of the trees has. */
void edit_words_come(edit_words *self, enum edit_side side, ast_ref item);
/* Items of the same kind and name. */
void edit_words_change(edit_words *self, ast_ref before, ast_ref after);
/* The same, and their attributes say something else. */
void edit_words_change_all(edit_words *self, ast_ref before, ast_ref after);
/* The `use` declarations that only one of the trees has, all of both. */
void edit_words_uses(edit_words *self, const ast_ref *before, size_t before_count,
                     const ast_ref *after, size_t after_count);
/* Can a function be a constructor: is it given something besides `self`, and gives something? */
bool edit_words_may_make(const ast *tree, ast_ref function);
/* An attribute of an item that says nothing about what the item means. */
bool edit_words_is_idle(const ast *tree, ast_ref attribute);

#endif
