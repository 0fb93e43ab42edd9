#include "rust/words.h"

#define BITS (WORDS_FILTER * 64u)

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           (byte >= '0' && byte <= '9') || (unsigned char)byte >= 0x80;
}

bool words_next(cg_str text, size_t *at, cg_str *ret)
{
    size_t start = *at, end;

    while (start < text.len && !is_word_byte(text.ptr[start]))
        start++;
    for (end = start; end < text.len && is_word_byte(text.ptr[end]);)
        end++;
    *at = end;
    *ret = end > start ? (cg_str){text.ptr + start, end - start} : (cg_str){0};
    return end > start;
}

/* Two bits for every word. */
static void bits_of(cg_str word, size_t ret[2])
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < word.len; i++)
        hash = (hash ^ (unsigned char)word.ptr[i]) * 0x100000001b3u;
    hash ^= hash >> 29;
    ret[0] = (size_t)(hash % BITS);
    ret[1] = (size_t)((hash >> 20) % BITS);
}

void words_note(uint64_t filter[WORDS_FILTER], cg_str text)
{
    size_t bits[2];
    cg_str word;

    for (size_t at = 0; words_next(text, &at, &word);) {
        bits_of(word, bits);
        for (unsigned k = 0; k < 2; k++)
            filter[bits[k] / 64] |= (uint64_t)1 << bits[k] % 64;
    }
}

bool words_may_have(const uint64_t filter[WORDS_FILTER], cg_str word)
{
    size_t bits[2];

    bits_of(word, bits);
    return (filter[bits[0] / 64] >> bits[0] % 64 & 1) && (filter[bits[1] / 64] >> bits[1] % 64 & 1);
}
