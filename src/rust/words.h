/*
 * words - the words of a text, whatever they mean there: names, keywords, numbers, also those in
 * comments and strings.
 *
 *   for (size_t at = 0; words_next(text, &at, &word);) ...
 *
 * A filter answers whether a text may have a word without the text at hand: "no" is certain.
 */
#ifndef CG_RUST_WORDS_H
#define CG_RUST_WORDS_H

#include "base/str.h"

#define WORDS_FILTER 256u /* numbers of a filter */

/* The word at or behind `*at`, which is moved behind it; false: there is none. */
bool words_next(cg_str text, size_t *at, cg_str *ret);

/* The filter begins with zeros. */
void words_note(uint64_t filter[WORDS_FILTER], cg_str text);
bool words_may_have(const uint64_t filter[WORDS_FILTER], cg_str word);

#endif
