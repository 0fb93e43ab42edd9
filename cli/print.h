/*
 * print - small texts to a sink, and words from the command line made harmless.
 */
#ifndef CG_CLI_PRINT_H
#define CG_CLI_PRINT_H

#include "candlegraph/candlegraph.h"

typedef struct printer {
    cg_sink sink;
    cg_code code; /* first failure of the sink; later text is skipped */
    size_t len;
    char at[2048];
} printer;

void print_open(printer *self, cg_sink sink);
void print_text(printer *self, const char *text);
/* One addition is at most 2047 bytes. */
void print_format(printer *self, const char *format, ...) CG_PRINTF(2, 3);
/* Words of `text` wrapped at `width` bytes, every line indented; ends with a newline. */
void print_wrapped(printer *self, const char *text, size_t indent, size_t width);
/*
 * A row of a list: `head`, and from `column` on `text`, wrapped at `width` bytes below itself. A
 * head that is too long has its line for itself.
 */
void print_row(printer *self, const char *head, size_t column, const char *text, size_t width);
/* Put behind *len what fits of `count` bytes; how many did, 0: `room` is full. */
size_t print_fill(char *room, size_t size, size_t *len, const char *bytes, size_t count);
/* Flush; the first failure. */
cg_code print_close(printer *self);

/* A word as it may be shown: controls, invisible and malformed bytes escaped, long ones cut. */
typedef struct print_safe {
    char at[104];
} print_safe;
print_safe print_safe_word(const char *word);

/*
 * The word of `words` (separated by blanks) nearest to `word`, copied to `ret`;
 * false when none is near enough to be what was meant.
 */
bool print_nearest(const char *word, const char *words, char *ret, size_t room);
/* Blank-separated words as they are shown: with commas. */
typedef struct print_list {
    char at[800];
} print_list;
print_list print_list_of(const char *words);
/* Is `word` one of the blank-separated `words`? */
bool print_has_word(const char *words, const char *word);

#endif
