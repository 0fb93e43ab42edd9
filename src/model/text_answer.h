/*
 * text_answer - an answer to a question about a model, for people.
 *
 * Every item has a title with its place, below it what it holds: short values side by side, lists
 * as they fit, parts indented. Long lists say how many more there are; ids are shown without their
 * escapes, and only where nothing else names an item. Safe for a terminal.
 *
 * query_text (model/query.h) is the short form: one line an item, with its id.
 */
#ifndef CG_MODEL_TEXT_ANSWER_H
#define CG_MODEL_TEXT_ANSWER_H

#include "model/query.h"

typedef struct answer_style {
    size_t width; /* cells of a line; words longer than that stay whole */
    size_t rows;  /* entries of a list inside an item */
} answer_style;

void answer_text(model_answer *self, const answer_style *style, buf *out);

#endif
