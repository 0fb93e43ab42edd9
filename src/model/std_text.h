/*
 * std_text - strings put together from literals and values.
 *
 *   std_text text;
 *   std_text_begin(&text, eval);
 *   std_text_add(&text, CG_LIT("layers."));
 *   std_text_value(&text, index);          an integer becomes digits or a hole, a string its pieces
 *   val whole = std_text_end(&text);       0: out of memory
 */
#ifndef CG_MODEL_STD_TEXT_H
#define CG_MODEL_STD_TEXT_H

#include "model/eval.h"

typedef struct std_text {
    eval *eval;
    VEC(text_piece) pieces;
    bool failed;
} std_text;

void std_text_begin(std_text *self, eval *eval);
void std_text_add(std_text *self, cg_str literal);
void std_text_add_pieces(std_text *self, text_pieces pieces);
/* As `{}` prints it. What is not known becomes a hole. */
void std_text_value(std_text *self, val value);
/* The string; everything but the result is gone. */
val std_text_end(std_text *self);
/* The same, but only the pieces; false: out of memory. */
bool std_text_end_pieces(std_text *self, text_pieces *ret);

/* The text when there is no hole in it; absent otherwise, and for what is no string. */
cg_str std_text_literal(eval *self, val value);
/* A character as text, or a string without holes. */
cg_str std_text_pattern(eval *self, val value);
/* The string of bytes from..to of a literal. */
val std_text_part(eval *self, cg_str literal, size_t from, size_t to);

/*
 * `format!`: positional arguments behind the format string, then perhaps one VALUE_STRUCT of
 * type 0 with named ones.
 * A format that is not known gives a hole.
 */
val std_text_format(eval *self, const val *args, size_t count);

#endif
