#include "base/number_set.h"

#include <string.h>

#define WORD      64u
#define WORD_BITS 6u

static size_t words_for(size_t count)
{
    return (count + WORD - 1) / WORD;
}

bool number_set_init(number_set *self, heap *from, size_t count)
{
    uint64_t *words;
    size_t size = words_for(count);

    memset(self, 0, sizeof *self);
    self->heap = from;
    self->count = count;
    for (self->words = size; size > 1; self->words += size)
        size = words_for(size);
    if (self->words == 0)
        return true;
    words = heap_resize(from, NULL, 0, self->words * sizeof *words);
    if (words == NULL) {
        self->words = 0;
        return false;
    }
    memset(words, 0, self->words * sizeof *words);
    for (size = words_for(count); size > 0; size = size > 1 ? words_for(size) : 0) {
        self->level[self->levels++] = words;
        words += size;
    }
    return true;
}

void number_set_free(number_set *self)
{
    if (self->words > 0)
        heap_resize(self->heap, self->level[0], self->words * sizeof *self->level[0], 0);
    memset(self, 0, sizeof *self);
}

void number_set_put(number_set *self, size_t number)
{
    for (unsigned i = 0; i < self->levels; i++, number >>= WORD_BITS)
        self->level[i][number / WORD] |= UINT64_C(1) << number % WORD;
}

void number_set_drop(number_set *self, size_t number)
{
    for (unsigned i = 0; i < self->levels; i++, number >>= WORD_BITS) {
        uint64_t *word = &self->level[i][number / WORD];

        *word &= ~(UINT64_C(1) << number % WORD);
        if (*word != 0)
            return;
    }
}

static unsigned lowest(uint64_t word)
{
    return (unsigned)__builtin_ctzll(word);
}

size_t number_set_next(const number_set *self, size_t from)
{
    size_t count = self->count; /* of the level */
    unsigned level = 0;

    /* Up until a word has something behind `from`, then down to its lowest bits. */
    for (;;) {
        uint64_t word;

        if (level == self->levels || from >= count)
            return self->count;
        word = self->level[level][from / WORD] & UINT64_MAX << from % WORD;
        if (word != 0) {
            from = from / WORD * WORD + lowest(word);
            break;
        }
        from = from / WORD + 1;
        count = words_for(count);
        level++;
    }
    while (level-- > 0)
        from = from * WORD + lowest(self->level[level][from]);
    return from;
}
