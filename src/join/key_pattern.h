/*
 * key_pattern - the key of a parameter as a pattern, and the names of a file that it stands for.
 *
 * A key is a list of segments, a segment a list of pieces: text as it is written, or a number that
 * a loop counts (`layers.{i}.attn`: three segments, the second one number). Placeholders of one
 * name are one number, but for `_`, which is no name. They match decimal digits and nothing else:
 * filled up to their width where the source gives them one, without leading zeros else.
 *
 * Patterns borrow the texts they are made of and live in the arena they were made in.
 */
#ifndef CG_JOIN_KEY_PATTERN_H
#define CG_JOIN_KEY_PATTERN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "model/expr.h"

#define KEY_NUMBERS 8u      /* placeholders of one key; more make it match nothing */
#define KEY_FAMILY  100000u /* members of one family */

/* Which numbers the members of a family have, between the lowest and the highest of them. */
enum key_spacing {
    KEY_STEPS, /* every one that is `step` from the next */
    KEY_EVEN,  /* as far apart as each other, nobody knows how far */
    KEY_NAMED  /* nobody knows: those a file names are all that can be told */
};

/* As the reader of the source has it. `text` may hold dots: the key is split at them. */
typedef struct key_piece {
    cg_str text; /* what is written, or the placeholder's name */
    bool is_number;
    expr number;     /* of the pool that shapes are in; EXPR_NONE: the symbol called `text` */
    expr counter;    /* the symbol in it that a loop counts; EXPR_NONE: not known which */
    opt_u64 first;   /* the lowest number the loop counts; unset: not known */
    opt_u64 step;    /* unset: 1 */
    uint8_t spacing; /* enum key_spacing */
    opt_u64 end;     /* one past the highest, when the source says so */
    uint8_t width;   /* places that it takes at least, 0: none are filled */
    char fill;       /* '0' or ' ' */
} key_piece;

typedef struct key_part {
    cg_str text;   /* without dots */
    int8_t number; /* index of the placeholder, -1: text */
} key_part;

typedef struct key_segment {
    const key_part *parts;
    uint32_t count;
    uint32_t piece; /* index of the first piece that it is made of */
} key_segment;

typedef struct key_pattern {
    const key_segment *segments;
    uint32_t count;
    uint32_t number_count;
    const key_piece *numbers[KEY_NUMBERS]; /* the first piece of each placeholder */
} key_pattern;

/* What the placeholders stand for; bit k of `bound` tells that number k is known. */
typedef struct key_numbers {
    uint64_t at[KEY_NUMBERS];
    uint32_t bound;
} key_numbers;

/* A name of a file, split at its dots. */
typedef struct key_name {
    cg_str text;
    const cg_str *segments;
    uint32_t count;
} key_name;

/* Members of a family: all their numbers. `is_counted`: false when the file names none of them. */
typedef struct key_family {
    key_numbers *at;
    size_t count;
    bool is_counted;
} key_family;

bool key_pattern_make(arena *mem, const key_piece *pieces, size_t count, key_pattern *ret);
bool key_name_make(arena *mem, cg_str text, key_name *ret);
/* The first of `names`, which are sorted, that does not come before `text`; `count`: none. */
size_t key_name_first(const key_name *names, size_t count, cg_str text);

/*
 * Do the segments from `from` on match the name's segments from `at` on, to the end of both?
 * Numbers already bound must be equal; the others become bound.
 */
bool key_pattern_match(const key_pattern *self, uint32_t from, const key_name *name, uint32_t at,
                       key_numbers *numbers);
/* One segment. */
bool key_segment_match(const key_pattern *self, uint32_t segment, cg_str text,
                       key_numbers *numbers);

/* Segments [from, to) joined by dots; numbers that are not bound as `{name}`. */
void key_pattern_print(const key_pattern *self, uint32_t from, uint32_t to,
                       const key_numbers *numbers, buf *out);
bool key_pattern_text(arena *mem, heap *from, const key_pattern *self, const key_numbers *numbers,
                      cg_str *ret);

/*
 * The members of a family, as far as `names` (bytewise by text) tell: every number a loop passes
 * up to the highest one named in its place, so that a member the file lacks is there too, where the
 * source says which numbers those are. With
 * `is_filled`, a member whose inner numbers the file does not name has those of its siblings, else
 * it is left out. `start` binds numbers that are known otherwise.
 */
cg_code key_pattern_expand(heap *from, arena *mem, const key_pattern *self, const key_name *names,
                           size_t name_count, key_numbers start, bool is_filled, key_family *ret,
                           cg_err *reterr);

#endif
