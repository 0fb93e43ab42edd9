#include "schema/pack.h"

#include <string.h>

/*
 * Head, texts (length and offset of each), bytes of the texts, values. A value is 4 or 8 bytes, not
 * aligned; a list is its length and its values.
 */
typedef struct pack_head {
    uint64_t magic;
    uint64_t sum; /* of everything behind the head */
    uint64_t text_bytes;
    uint64_t value_bytes;
    uint32_t text_count; /* without the absent one */
    uint32_t spare;
} pack_head;

typedef struct pack_span {
    uint32_t offset;
    uint32_t len;
} pack_span;

#define PACK_MAGIC 0x314b434150474343u

static uint64_t word_at(const char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

static uint64_t mixed(uint64_t lane, const char *bytes)
{
    return (lane ^ word_at(bytes)) * 0x9e3779b97f4a7c15u + (lane >> 29);
}

/*
 * Against bits that fell over, not against people: what those write is checked value by value. Four
 * variables, not an array: vectors without a product of 64 bits are half as fast.
 */
static uint64_t sum_of(const char *bytes, size_t count)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, sum = count;
    size_t at = 0;

    for (; count - at >= 4 * sizeof a; at += 4 * sizeof a) {
        a = mixed(a, bytes + at);
        b = mixed(b, bytes + at + sizeof a);
        c = mixed(c, bytes + at + 2 * sizeof a);
        d = mixed(d, bytes + at + 3 * sizeof a);
    }
    for (; at < count; at++)
        sum = (sum ^ (unsigned char)bytes[at]) * 0x100000001b3u;
    uint64_t lanes[] = {a, b, c, d};

    for (unsigned i = 0; i < 4; i++)
        sum = (sum ^ lanes[i] ^ (lanes[i] >> 32)) * 0xff51afd7ed558ccdu;
    return sum ^ (sum >> 31);
}

/* --- writing --- */

bool pack_begin(pack_writer *self, heap *from, uint64_t seed)
{
    *self = (pack_writer){.heap = from};
    buf_init(&self->words, from, SIZE_MAX / 2);
    return intern_init(&self->texts, from, seed);
}

static void add_bytes(pack_writer *self, const void *bytes, size_t count)
{
    buf_add(&self->words, (cg_str){bytes, count});
}

static void add_count(pack_writer *self, size_t count)
{
    uint32_t small = (uint32_t)count;

    self->failed = self->failed || count >= UINT32_MAX;
    add_bytes(self, &small, sizeof small);
}

void pack_number(pack_writer *self, uint64_t number)
{
    add_bytes(self, &number, sizeof number);
}

void pack_text(pack_writer *self, cg_str text)
{
    sym number = text.ptr != NULL ? intern_add(&self->texts, text) : 0;

    self->failed = self->failed || (text.ptr != NULL && number == 0);
    add_bytes(self, &number, sizeof number);
}

static void add_record(pack_writer *self, const sc_table *table, const void *record,
                       unsigned depth);

static void add_texts(pack_writer *self, const sc_strs *list)
{
    add_count(self, list->count);
    for (size_t i = 0; i < list->count; i++)
        pack_text(self, list->at[i]);
}

static void add_records(pack_writer *self, const sc_table *table, const sc_records *list,
                        unsigned depth)
{
    add_count(self, list->count);
    for (size_t i = 0; i < list->count; i++)
        add_record(self, table, (const char *)list->at + i * table->size, depth);
}

static void add_optional(pack_writer *self, const sc_table *table, const void *record,
                         unsigned depth)
{
    add_count(self, record != NULL);
    if (record != NULL)
        add_record(self, table, record, depth);
}

static void add_field(pack_writer *self, const sc_field *field, const void *member, unsigned depth)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: pack_text(self, *(const cg_str *)member); return;
    case SC_U64: pack_number(self, *(const uint64_t *)member); return;
    case SC_F64: add_bytes(self, member, sizeof(double)); return;
    case SC_OPT_U64:
        add_count(self, ((const opt_u64 *)member)->is_set);
        pack_number(self, ((const opt_u64 *)member)->value);
        return;
    case SC_OPT_F64:
        add_count(self, ((const opt_f64 *)member)->is_set);
        add_bytes(self, &((const opt_f64 *)member)->value, sizeof(double));
        return;
    case SC_BOOL: add_count(self, *(const bool *)member); return;
    case SC_WORD: add_count(self, *(const uint8_t *)member); return;
    case SC_OPT_BOOL: add_count(self, *(const opt_bool *)member); return;
    case SC_U64S: {
        const sc_u64s *list = member;

        /* An empty list is not the same as none. */
        add_count(self, list->at != NULL ? list->count + 1 : 0);
        for (size_t i = 0; i < list->count; i++)
            pack_number(self, list->at[i]);
        return;
    }
    case SC_STRS:
    case SC_AXES: add_texts(self, member); return;
    case SC_RECORD: add_optional(self, field->sub, *(const void *const *)member, depth + 1); return;
    case SC_RECORDS:
    case SC_ENTRIES: add_records(self, field->sub, member, depth + 1); return;
    case SC_MAP: {
        const sc_map *map = member;

        add_count(self, map->count);
        for (size_t i = 0; i < map->count; i++) {
            pack_text(self, map->at[i].key);
            pack_text(self, map->at[i].value);
        }
        return;
    }
    case SC_COUNTS: {
        const sc_counts *map = member;

        add_count(self, map->count);
        for (size_t i = 0; i < map->count; i++) {
            pack_text(self, map->at[i].key);
            pack_number(self, map->at[i].value);
        }
        return;
    }
    case SC_TAGGED: {
        const sc_tagged *tagged = member;

        add_count(self, tagged->word);
        add_optional(self, ((const sc_tags *)field->sub)->table, tagged->record, depth + 1);
        return;
    }
    case SC_TAG:
    case SC_STREAM: return;
    }
}

static void add_record(pack_writer *self, const sc_table *table, const void *record, unsigned depth)
{
    if (depth >= PACK_DEPTH) {
        self->failed = true;
        return;
    }
    for (uint16_t i = 0; i < table->count; i++)
        add_field(self, &table->fields[i], (const char *)record + table->fields[i].offset, depth);
}

void pack_record(pack_writer *self, const sc_table *table, const void *record)
{
    add_record(self, table, record, 0);
}

/* --- comparing --- */

static bool is_same_record(const sc_table *table, const void *a, const void *b, unsigned depth);

static bool is_same_text(cg_str a, cg_str b)
{
    return (a.ptr == NULL) == (b.ptr == NULL) && (a.ptr == b.ptr || str_equal(a, b)) &&
           a.len == b.len;
}

static bool are_same_texts(const sc_strs *a, const sc_strs *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        if (!is_same_text(a->at[i], b->at[i]))
            return false;
    }
    return a->count == b->count;
}

static bool are_same_numbers(const sc_u64s *a, const sc_u64s *b)
{
    return a->count == b->count && (a->at == NULL) == (b->at == NULL) &&
           (a->count == 0 || memcmp(a->at, b->at, a->count * sizeof *a->at) == 0);
}

static bool are_same_records(const sc_table *table, const sc_records *a, const sc_records *b,
                             unsigned depth)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        if (!is_same_record(table, (const char *)a->at + i * table->size,
                            (const char *)b->at + i * table->size, depth))
            return false;
    }
    return a->count == b->count;
}

static bool is_same_optional(const sc_table *table, const void *a, const void *b, unsigned depth)
{
    return a == NULL || b == NULL ? a == b : is_same_record(table, a, b, depth);
}

static bool is_same_map(const sc_map *a, const sc_map *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        if (!is_same_text(a->at[i].key, b->at[i].key) ||
            !is_same_text(a->at[i].value, b->at[i].value))
            return false;
    }
    return a->count == b->count;
}

static bool are_same_counts(const sc_counts *a, const sc_counts *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        if (!is_same_text(a->at[i].key, b->at[i].key) || a->at[i].value != b->at[i].value)
            return false;
    }
    return a->count == b->count;
}

static bool is_same_tagged(const sc_tags *tags, const sc_tagged *a, const sc_tagged *b,
                           unsigned depth)
{
    return a->word == b->word && is_same_optional(tags->table, a->record, b->record, depth);
}

static bool is_same_field(const sc_field *field, const void *a, const void *b, unsigned depth)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: return is_same_text(*(const cg_str *)a, *(const cg_str *)b);
    case SC_U64: return *(const uint64_t *)a == *(const uint64_t *)b;
    case SC_F64: return memcmp(a, b, sizeof(double)) == 0;
    case SC_OPT_U64:
        return ((const opt_u64 *)a)->is_set == ((const opt_u64 *)b)->is_set &&
               ((const opt_u64 *)a)->value == ((const opt_u64 *)b)->value;
    case SC_OPT_F64:
        return ((const opt_f64 *)a)->is_set == ((const opt_f64 *)b)->is_set &&
               memcmp(&((const opt_f64 *)a)->value, &((const opt_f64 *)b)->value, sizeof(double)) ==
                   0;
    case SC_BOOL: return *(const bool *)a == *(const bool *)b;
    case SC_WORD: return *(const uint8_t *)a == *(const uint8_t *)b;
    case SC_OPT_BOOL: return *(const opt_bool *)a == *(const opt_bool *)b;
    case SC_U64S: return are_same_numbers(a, b);
    case SC_STRS:
    case SC_AXES: return are_same_texts(a, b);
    case SC_RECORD:
        return is_same_optional(field->sub, *(const void *const *)a, *(const void *const *)b,
                                depth + 1);
    case SC_RECORDS:
    case SC_ENTRIES: return are_same_records(field->sub, a, b, depth + 1);
    case SC_MAP: return is_same_map(a, b);
    case SC_COUNTS: return are_same_counts(a, b);
    case SC_TAGGED: return is_same_tagged(field->sub, a, b, depth + 1);
    case SC_TAG:
    case SC_STREAM: return true;
    }
    return false;
}

static bool is_same_record(const sc_table *table, const void *a, const void *b, unsigned depth)
{
    if (depth >= PACK_DEPTH)
        return false;
    for (uint16_t i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];

        if (!is_same_field(field, (const char *)a + field->offset, (const char *)b + field->offset,
                           depth))
            return false;
    }
    return true;
}

bool pack_equal(const sc_table *table, const void *a, const void *b)
{
    return is_same_record(table, a, b, 0);
}

/* --- writing it all --- */

bool pack_end(pack_writer *self, buf *ret)
{
    size_t count = intern_count(&self->texts);
    pack_head head = {.magic = PACK_MAGIC, .text_count = (uint32_t)(count - 1)};
    size_t start = ret->len;
    uint64_t offset = 0;

    if (self->failed || self->words.failed)
        return false;
    for (size_t i = 1; i < count; i++)
        head.text_bytes += intern_text_of(&self->texts, (sym)i).len;
    head.value_bytes = self->words.len;
    if (head.text_bytes >= UINT32_MAX ||
        buf_room(ret, sizeof head + count * sizeof(pack_span) + head.text_bytes +
                          self->words.len) == NULL)
        return false;
    buf_add(ret, (cg_str){(const char *)&head, sizeof head});
    for (size_t i = 1; i < count; i++) {
        pack_span span = {(uint32_t)offset, (uint32_t)intern_text_of(&self->texts, (sym)i).len};

        buf_add(ret, (cg_str){(const char *)&span, sizeof span});
        offset += span.len;
    }
    for (size_t i = 1; i < count; i++)
        buf_add(ret, intern_text_of(&self->texts, (sym)i));
    buf_add(ret, buf_text(&self->words));
    if (ret->failed)
        return false;
    head.sum = sum_of(ret->at + start + sizeof head, ret->len - start - sizeof head);
    memcpy(ret->at + start, &head, sizeof head);
    return true;
}

void pack_free(pack_writer *self)
{
    if (self->texts.heap != NULL)
        intern_free(&self->texts);
    buf_free(&self->words);
}

/* --- reading --- */

static bool is_inside(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

static bool open_texts(pack_reader *self, const pack_head *head, const char *spans, cg_str bytes)
{
    cg_str *texts = arena_take(self->mem, ((size_t)head->text_count + 1) * sizeof *texts);

    self->is_short = texts == NULL;
    if (texts == NULL || str_utf8_error(bytes) != SIZE_MAX)
        return false;
    texts[0] = (cg_str){NULL, 0};
    for (uint32_t i = 0; i < head->text_count; i++) {
        pack_span span;

        memcpy(&span, spans + (size_t)i * sizeof span, sizeof span);
        if (span.offset > bytes.len || span.len > bytes.len - span.offset ||
            (span.offset < bytes.len && is_inside((unsigned char)bytes.ptr[span.offset])) ||
            (span.offset + (size_t)span.len < bytes.len &&
             is_inside((unsigned char)bytes.ptr[span.offset + span.len])))
            return false;
        texts[i + 1] = (cg_str){bytes.ptr + span.offset, span.len};
    }
    self->texts = texts;
    self->text_count = head->text_count;
    return true;
}

bool pack_open(pack_reader *self, arena *mem, cg_str bytes)
{
    pack_head head;
    size_t left = bytes.len;
    const char *spans;

    *self = (pack_reader){.mem = mem};
    if (left < sizeof head)
        return false;
    memcpy(&head, bytes.ptr, sizeof head);
    left -= sizeof head;
    spans = bytes.ptr + sizeof head;
    if (head.magic != PACK_MAGIC || head.text_count > left / sizeof(pack_span) ||
        sum_of(spans, left) != head.sum)
        return false;
    left -= head.text_count * sizeof(pack_span);
    if (head.text_bytes > left || head.value_bytes != left - head.text_bytes)
        return false;
    self->at = spans + head.text_count * sizeof(pack_span) + head.text_bytes;
    self->end = self->at + head.value_bytes;
    return open_texts(self, &head, spans,
                      (cg_str){spans + head.text_count * sizeof(pack_span), head.text_bytes});
}

static bool take_bytes(pack_reader *self, void *ret, size_t count)
{
    if ((size_t)(self->end - self->at) < count)
        return false;
    memcpy(ret, self->at, count);
    self->at += count;
    return true;
}

static bool take_small(pack_reader *self, uint32_t *ret, uint32_t most)
{
    return take_bytes(self, ret, sizeof *ret) && *ret <= most;
}

bool pack_take_number(pack_reader *self, uint64_t *ret)
{
    return take_bytes(self, ret, sizeof *ret);
}

bool pack_take_text(pack_reader *self, cg_str *ret)
{
    uint32_t number;

    if (!take_small(self, &number, self->text_count))
        return false;
    *ret = self->texts[number];
    return true;
}

/* Room for a list of which every item takes at least `least` bytes in the file. */
static bool take_list(pack_reader *self, size_t least, size_t size, size_t *ret_count, void **ret)
{
    uint32_t count;

    *ret = NULL;
    if (!take_small(self, &count, UINT32_MAX) ||
        count > (size_t)(self->end - self->at) / (least > 0 ? least : 1))
        return false;
    *ret_count = count;
    if (count == 0)
        return true;
    *ret = arena_zero(self->mem, count * size);
    self->is_short = self->is_short || *ret == NULL;
    return *ret != NULL;
}

static bool take_record(pack_reader *self, const sc_table *table, void *ret, unsigned depth);

static bool take_texts(pack_reader *self, sc_strs *ret)
{
    cg_str *texts;
    void *room;

    if (!take_list(self, sizeof(uint32_t), sizeof *texts, &ret->count, &room))
        return false;
    texts = room;
    for (size_t i = 0; i < ret->count; i++) {
        if (!pack_take_text(self, &texts[i]) || texts[i].ptr == NULL)
            return false;
    }
    ret->at = texts;
    return true;
}

/* The least a record of the table takes. */
static size_t least_of(const sc_table *table)
{
    size_t count = 0;

    for (uint16_t i = 0; i < table->count; i++)
        count += table->fields[i].type != SC_TAG && table->fields[i].type != SC_STREAM;
    return count * sizeof(uint32_t);
}

/* Most lists are empty. */
static bool next_is_zero(const pack_reader *self)
{
    uint32_t number = 1;

    if ((size_t)(self->end - self->at) >= sizeof number)
        memcpy(&number, self->at, sizeof number);
    return number == 0;
}

static bool take_records(pack_reader *self, const sc_table *table, sc_records *ret, unsigned depth)
{
    void *room;

    if (next_is_zero(self)) {
        self->at += sizeof(uint32_t);
        *ret = (sc_records){0};
        return true;
    }
    if (!take_list(self, least_of(table), table->size, &ret->count, &room))
        return false;
    for (size_t i = 0; i < ret->count; i++) {
        if (!take_record(self, table, (char *)room + i * table->size, depth))
            return false;
    }
    ret->at = room;
    return true;
}

static bool take_optional(pack_reader *self, const sc_table *table, const void **ret,
                          unsigned depth)
{
    uint32_t is_there;
    void *room;

    *ret = NULL;
    if (!take_small(self, &is_there, 1))
        return false;
    if (is_there == 0)
        return true;
    room = arena_zero(self->mem, table->size);
    self->is_short = self->is_short || room == NULL;
    *ret = room;
    return room != NULL && take_record(self, table, room, depth);
}

static bool take_numbers(pack_reader *self, sc_u64s *ret)
{
    uint64_t *numbers;
    uint32_t count;

    if (!take_small(self, &count, UINT32_MAX))
        return false;
    if (count == 0)
        return true;
    count--;
    if (count > (size_t)(self->end - self->at) / sizeof *numbers)
        return false;
    numbers = arena_take(self->mem, (count + (size_t)1) * sizeof *numbers);
    self->is_short = self->is_short || numbers == NULL;
    if (numbers == NULL || !take_bytes(self, numbers, count * sizeof *numbers))
        return false;
    *ret = (sc_u64s){numbers, count};
    return true;
}

static bool take_map(pack_reader *self, sc_map *ret)
{
    sc_pair *pairs;
    void *room;

    if (!take_list(self, 2 * sizeof(uint32_t), sizeof *pairs, &ret->count, &room))
        return false;
    pairs = room;
    for (size_t i = 0; i < ret->count; i++) {
        if (!pack_take_text(self, &pairs[i].key) || !pack_take_text(self, &pairs[i].value) ||
            pairs[i].key.ptr == NULL || pairs[i].value.ptr == NULL)
            return false;
    }
    ret->at = pairs;
    return true;
}

static bool take_counts(pack_reader *self, sc_counts *ret)
{
    sc_count *pairs;
    void *room;

    if (!take_list(self, sizeof(uint32_t) + sizeof(uint64_t), sizeof *pairs, &ret->count, &room))
        return false;
    pairs = room;
    for (size_t i = 0; i < ret->count; i++) {
        if (!pack_take_text(self, &pairs[i].key) || !pack_take_number(self, &pairs[i].value) ||
            pairs[i].key.ptr == NULL)
            return false;
    }
    ret->at = pairs;
    return true;
}

static bool is_finite(double number)
{
    return number - number == 0;
}

static bool take_field(pack_reader *self, const sc_field *field, void *member, unsigned depth)
{
    uint32_t small;

    switch ((enum sc_type)field->type) {
    case SC_STR:
        return pack_take_text(self, member) &&
               (field->rule != SC_REQUIRED || ((cg_str *)member)->ptr != NULL);
    case SC_U64: return pack_take_number(self, member);
    case SC_F64: return take_bytes(self, member, sizeof(double)) && is_finite(*(double *)member);
    case SC_OPT_U64:
        if (!take_small(self, &small, 1))
            return false;
        ((opt_u64 *)member)->is_set = small != 0;
        return pack_take_number(self, &((opt_u64 *)member)->value);
    case SC_OPT_F64:
        if (!take_small(self, &small, 1))
            return false;
        ((opt_f64 *)member)->is_set = small != 0;
        return take_bytes(self, &((opt_f64 *)member)->value, sizeof(double)) &&
               is_finite(((opt_f64 *)member)->value);
    case SC_BOOL:
        if (!take_small(self, &small, 1))
            return false;
        *(bool *)member = small != 0;
        return true;
    case SC_WORD:
        if (!take_small(self, &small, ((const sc_words *)field->sub)->count - 1u))
            return false;
        *(uint8_t *)member = (uint8_t)small;
        return true;
    case SC_OPT_BOOL:
        if (!take_small(self, &small, BOOL_TRUE))
            return false;
        *(opt_bool *)member = (opt_bool)small;
        return true;
    case SC_U64S: return take_numbers(self, member);
    case SC_STRS:
    case SC_AXES: return take_texts(self, member);
    case SC_RECORD:
        return take_optional(self, field->sub, member, depth + 1) &&
               (field->rule != SC_REQUIRED || *(const void **)member != NULL);
    case SC_RECORDS:
    case SC_ENTRIES: return take_records(self, field->sub, member, depth + 1);
    case SC_MAP: return take_map(self, member);
    case SC_COUNTS: return take_counts(self, member);
    case SC_TAGGED: {
        const sc_tags *tags = field->sub;
        sc_tagged *tagged = member;

        if (!take_small(self, &small, tags->words->count - 1u))
            return false;
        tagged->word = (uint8_t)small;
        return take_optional(self, tags->table, &tagged->record, depth + 1);
    }
    case SC_TAG:
    case SC_STREAM: return true;
    }
    return false;
}

/* Texts and numbers are most of what there is: they are taken here, without a detour. */
static bool take_record(pack_reader *self, const sc_table *table, void *ret, unsigned depth)
{
    const cg_str *texts = self->texts;
    const char *at = self->at, *end = self->end;
    uint32_t text_count = self->text_count, number;

    if (depth >= PACK_DEPTH)
        return false;
    for (uint16_t i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];
        void *member = (char *)ret + field->offset;

        if (field->type == SC_STR && (size_t)(end - at) >= sizeof number) {
            memcpy(&number, at, sizeof number);
            at += sizeof number;
            if (number > text_count || (field->rule == SC_REQUIRED && texts[number].ptr == NULL))
                return false;
            *(cg_str *)member = texts[number];
        } else if (field->type == SC_U64 && (size_t)(end - at) >= sizeof(uint64_t)) {
            memcpy(member, at, sizeof(uint64_t));
            at += sizeof(uint64_t);
        } else {
            self->at = at;
            if (!take_field(self, field, member, depth))
                return false;
            at = self->at;
        }
    }
    self->at = at;
    return true;
}

bool pack_take(pack_reader *self, const sc_table *table, void *ret)
{
    return take_record(self, table, ret, 0);
}

/* Every item takes at least a number. */
void *pack_take_list(pack_reader *self, size_t size, size_t *ret_count)
{
    uint64_t count;
    void *at;

    if (!pack_take_number(self, &count) || count > (size_t)(self->end - self->at))
        return NULL;
    at = arena_zero(self->mem, ((size_t)count + 1) * size);
    self->is_short = self->is_short || at == NULL;
    *ret_count = (size_t)count;
    return at;
}

bool pack_is_done(const pack_reader *self)
{
    return self->at == self->end;
}
