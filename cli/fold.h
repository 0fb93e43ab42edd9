/*
 * fold - lines of text that are wider than the terminal, broken between words.
 *
 *   fold_open(&self, sink, width);             width 0: unknown, nothing is broken
 *   code = fold_write(&self, bytes, count);    as often as needed
 *   code = fold_close(&self);                  what is left of the last line
 *
 * Most views fit their lines themselves and pass unchanged. The rest of a broken line is indented
 * more than the line; a word that is wider than the terminal stays whole, so that it can be copied.
 */
#ifndef CG_CLI_FOLD_H
#define CG_CLI_FOLD_H

#include "candlegraph/candlegraph.h"

typedef struct fold {
    cg_sink sink;
    size_t width;
    size_t len;
    bool is_passing; /* a line longer than the room here: it goes on as it is */
    char at[8192];
} fold;

void fold_open(fold *self, cg_sink sink, size_t width);
cg_code fold_write(fold *self, const char *bytes, size_t count);
cg_code fold_close(fold *self);

#endif
