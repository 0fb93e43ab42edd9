#include "model/event_ids.h"

#include <string.h>

#include "base/num.h"

#define FIRST_BLOCKS ((size_t)1024)
#define DIGITS       18u /* of a number; more belong to the beginning */
#define NEIGHBOURS   64u /* numbers of one block */
#define TOGETHER     8u  /* blocks that lie beside each other */
#define NO_BLOCK     UINT64_MAX

bool event_ids_init(event_ids *self, heap *from, uint64_t seed)
{
    event_id *none;

    *self = (event_ids){.heap = from, .seed = seed};
    if (!intern_init(&self->beginnings, from, seed))
        return false;
    none = vec_add(from, &self->ids);
    self->blocks = heap_resize(from, NULL, 0, FIRST_BLOCKS * sizeof *self->blocks);
    self->block_room = self->blocks != NULL ? FIRST_BLOCKS : 0;
    if (none == NULL || self->blocks == NULL) {
        event_ids_free(self);
        return false;
    }
    *none = (event_id){0, 0};
    memset(self->blocks, 0, FIRST_BLOCKS * sizeof *self->blocks);
    return true;
}

void event_ids_free(event_ids *self)
{
    if (self->heap == NULL)
        return;
    heap_resize(self->heap, self->blocks, self->block_room * sizeof *self->blocks, 0);
    vec_free(self->heap, &self->ids);
    intern_free(&self->beginnings);
    *self = (event_ids){0};
}

/* --- an id as beginning and number --- */

/*
 * The number is the longest end of digits without a leading zero. A text has one such reading, and
 * the reading gives the text back.
 */
static uint64_t split(cg_str text, cg_str *ret_beginning)
{
    size_t most = text.len > DIGITS ? text.len - DIGITS : 0;
    size_t at = text.len;
    uint64_t number = 0;

    while (at > most && text.ptr[at - 1] >= '0' && text.ptr[at - 1] <= '9')
        at--;
    while (at + 1 < text.len && text.ptr[at] == '0')
        at++;
    *ret_beginning = (cg_str){text.ptr, at};
    if (at == text.len)
        return EVENT_NO_NUMBER;
    for (; at < text.len; at++)
        number = number * 10 + (uint64_t)(text.ptr[at] - '0');
    return number;
}

/* NULL: out of memory. */
static event_recent *beginning_of(event_ids *self, cg_str text)
{
    event_recent *ret;

    for (unsigned i = 0; i < EVENT_RECENT; i++) {
        ret = &self->recent[i];
        if (ret->beginning != 0 && str_equal(ret->text, text))
            return ret;
    }
    ret = &self->recent[self->next_recent];
    self->next_recent = (self->next_recent + 1) % EVENT_RECENT;
    *ret = (event_recent){.beginning = intern_add(&self->beginnings, text), .block = NO_BLOCK};
    if (ret->beginning == 0)
        return NULL;
    ret->text = intern_text_of(&self->beginnings, ret->beginning);
    return ret;
}

/* --- the table --- */

static size_t place_of(const event_ids *self, sym beginning, uint64_t block)
{
    uint64_t mixed = self->seed ^ (uint64_t)beginning * UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed ^= block / TOGETHER * UINT64_C(0x94d049bb133111eb);
    mixed = (mixed ^ mixed >> 31) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)((mixed ^ mixed >> 32) + block % TOGETHER) & (self->block_room - 1);
}

/* The block, or the free place where it belongs. */
static event_block *find_block(const event_ids *self, sym beginning, uint64_t block)
{
    size_t at = place_of(self, beginning, block);

    while (self->blocks[at].beginning != 0 &&
           (self->blocks[at].beginning != beginning || self->blocks[at].block != block))
        at = (at + 1) & (self->block_room - 1);
    return &self->blocks[at];
}

static bool grow(event_ids *self)
{
    size_t had = self->block_room;
    event_block *before = self->blocks;
    event_block *wider = heap_resize(self->heap, NULL, 0, 2 * had * sizeof *wider);

    if (wider == NULL)
        return false;
    memset(wider, 0, 2 * had * sizeof *wider);
    self->blocks = wider;
    self->block_room = 2 * had;
    for (size_t i = 0; i < had; i++) {
        if (before[i].beginning != 0)
            *find_block(self, before[i].beginning, before[i].block) = before[i];
    }
    for (unsigned i = 0; i < EVENT_RECENT; i++)
        self->recent[i].block = NO_BLOCK;
    heap_resize(self->heap, before, had * sizeof *before, 0);
    return true;
}

/* Mark the number; *ret_is_new false: it was marked. false: out of memory. */
static bool mark(event_ids *self, event_recent *recent, uint64_t number, bool *ret_is_new)
{
    uint64_t bit = UINT64_C(1) << number % NEIGHBOURS;
    event_block *block = &self->blocks[recent->at];

    if (recent->block != number / NEIGHBOURS) {
        if (self->block_count * 2 >= self->block_room && !grow(self))
            return false;
        block = find_block(self, recent->beginning, number / NEIGHBOURS);
        recent->block = number / NEIGHBOURS;
        recent->at = (size_t)(block - self->blocks);
    }
    if (block->beginning == 0) {
        *block = (event_block){.block = number / NEIGHBOURS, .beginning = recent->beginning};
        self->block_count++;
    }
    *ret_is_new = (block->bits & bit) == 0;
    block->bits |= bit;
    return true;
}

uint32_t event_ids_add(event_ids *self, cg_str text)
{
    bool is_new = false;
    event_recent *recent;
    event_id *added;
    cg_str beginning;
    uint64_t number = split(text, &beginning);

    recent = beginning_of(self, beginning);
    if (recent == NULL || self->ids.count >= EVENT_KNOWN || !mark(self, recent, number, &is_new))
        return 0;
    if (!is_new)
        return EVENT_KNOWN;
    added = vec_add(self->heap, &self->ids);
    if (added == NULL)
        return 0;
    *added = (event_id){.number = number, .beginning = recent->beginning};
    return (uint32_t)(self->ids.count - 1);
}

/* --- texts --- */

/* Beginning and digits of an id; the digits are in `room`. */
static void parts_of(const event_ids *self, uint32_t id, char room[NUM_U64_ROOM], cg_str ret[2])
{
    const event_id *at = &self->ids.at[id];

    ret[0] = intern_text_of(&self->beginnings, at->beginning);
    ret[1] = (cg_str){room, 0};
    if (at->number != EVENT_NO_NUMBER)
        ret[1].len = num_write_u64(room, at->number);
}

void event_ids_say(const event_ids *self, uint32_t id, buf *to)
{
    char room[NUM_U64_ROOM];
    cg_str parts[2];

    parts_of(self, id, room, parts);
    buf_add(to, parts[0]);
    buf_add(to, parts[1]);
}

static int byte_at(const cg_str parts[2], size_t at)
{
    if (at < parts[0].len)
        return (unsigned char)parts[0].ptr[at];
    at -= parts[0].len;
    return at < parts[1].len ? (unsigned char)parts[1].ptr[at] : -1;
}

int event_ids_compare(const event_ids *self, uint32_t a, uint32_t b)
{
    char rooms[2][NUM_U64_ROOM];
    cg_str x[2];
    cg_str y[2];
    size_t at = 0;

    parts_of(self, a, rooms[0], x);
    parts_of(self, b, rooms[1], y);
    if (self->ids.at[a].beginning == self->ids.at[b].beginning)
        at = x[0].len;
    for (;; at++) {
        int left = byte_at(x, at);
        int right = byte_at(y, at);

        if (left != right || left < 0)
            return left - right;
    }
}
