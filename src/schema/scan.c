#include "schema/scan.h"

#include <string.h>

/* One record is read by one function; the parts must not become calls. */
#if defined(__GNUC__)
#define INLINE inline __attribute__((always_inline))
#else
#define INLINE inline
#endif

/* Where we are; `p` never passes `end`. */
typedef struct cursor {
    const char *p;
    const char *end;
} cursor;

static INLINE bool take(cursor *at, char byte)
{
    if (at->p == at->end || *at->p != byte)
        return false;
    at->p++;
    return true;
}

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* High bits where a byte is a quote, a back-slash, below 0x20 or above 0x7f. */
static uint64_t special_bytes(uint64_t word)
{
    uint64_t quote = word ^ (ONES * '"');
    uint64_t slash = word ^ (ONES * '\\');
    uint64_t found = (quote - ONES) & ~quote;

    found |= (slash - ONES) & ~slash;
    found |= (word - ONES * 0x20) & ~word;
    found |= word;
    return found & HIGHS;
}

/* Eight bytes with the first one lowest, whatever the machine. */
static uint64_t load_word(const char *p)
{
    uint64_t word;

    memcpy(&word, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Bytes before the first marked one; `marks` is not 0. */
static unsigned first_mark(uint64_t marks)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(marks) / 8;
#else
    unsigned count = 0;

    for (; (marks & 0x80) == 0; marks >>= 8)
        count++;
    return count;
#endif
}

/* The text behind an opening quote, up to its closing one. */
static INLINE bool take_text(cursor *at, cg_str *ret)
{
    const char *start = at->p;
    const char *p = start;

    while (at->end - p >= 8) {
        uint64_t marks = special_bytes(load_word(p));

        if (marks != 0) {
            /* Only the first mark is certain: the subtraction may borrow from bytes above. */
            p += first_mark(marks);
            if (*p != '"')
                return false;
            *ret = (cg_str){start, (size_t)(p - start)};
            at->p = p + 1;
            return true;
        }
        p += 8;
    }
    for (; p < at->end; p++) {
        unsigned char byte = (unsigned char)*p;

        if (byte == '"') {
            *ret = (cg_str){start, (size_t)(p - start)};
            at->p = p + 1;
            return true;
        }
        if (byte == '\\' || byte < 0x20 || byte >= 0x80)
            return false;
    }
    return false;
}

/* Up to 19 digits: those cannot overflow. */
static INLINE bool take_u64(cursor *at, uint64_t *ret)
{
    const char *start = at->p;
    const char *p = start;
    uint64_t value = 0;

    while (p < at->end && *p >= '0' && *p <= '9') {
        value = value * 10 + (uint64_t)(*p - '0');
        p++;
    }
    if (p == start || p - start > 19 || (*start == '0' && p - start > 1))
        return false;
    at->p = p;
    *ret = value;
    return true;
}

/*
 * Decimals with at most 15 digits and a small exponent: mantissa and power of
 * ten are exact doubles then, so one operation rounds correctly.
 */
static bool take_f64(cursor *at, double *ret)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool is_negative = take(at, '-');
    const char *start = at->p;
    const char *p = start;
    uint64_t mantissa = 0;
    size_t whole;
    size_t fraction = 0;
    double value;

    while (p < at->end && *p >= '0' && *p <= '9' && p - start <= 15)
        mantissa = mantissa * 10 + (uint64_t)(*p++ - '0');
    whole = (size_t)(p - start);
    if (whole == 0 || whole > 15 || (*start == '0' && whole > 1))
        return false;
    if (p < at->end && *p == '.') {
        const char *point = ++p;

        while (p < at->end && *p >= '0' && *p <= '9' && p - point <= 15)
            mantissa = mantissa * 10 + (uint64_t)(*p++ - '0');
        fraction = (size_t)(p - point);
        if (fraction == 0 || whole + fraction > 15)
            return false;
    }
    if (p < at->end && (*p == 'e' || *p == 'E' || (*p >= '0' && *p <= '9')))
        return false;
    value = (double)mantissa / powers[fraction];
    *ret = is_negative ? -value : value;
    at->p = p;
    return true;
}

static bool take_bool(cursor *at, bool *ret)
{
    if (at->end - at->p >= 4 && memcmp(at->p, "true", 4) == 0) {
        at->p += 4;
        *ret = true;
        return true;
    }
    if (at->end - at->p >= 5 && memcmp(at->p, "false", 5) == 0) {
        at->p += 5;
        *ret = false;
        return true;
    }
    return false;
}

/*
 * Lists longer than this are left to the general reader. Room for the longest
 * is taken at once: the memory is that of one record.
 */
#define LIST_ITEMS 64

static INLINE bool take_u64s(cursor *at, arena *mem, sc_u64s *ret)
{
    uint64_t *items = arena_take(mem, LIST_ITEMS * sizeof *items);
    size_t count = 0;

    if (items == NULL || !take(at, '['))
        return false;
    if (!take(at, ']')) {
        do {
            if (count == LIST_ITEMS || !take_u64(at, &items[count]))
                return false;
            count++;
        } while (take(at, ','));
        if (!take(at, ']'))
            return false;
    }
    *ret = (sc_u64s){items, count};
    return true;
}

static INLINE bool take_strs(cursor *at, arena *mem, sc_strs *ret)
{
    cg_str *items = arena_take(mem, LIST_ITEMS * sizeof *items);
    size_t count = 0;

    if (items == NULL || !take(at, '['))
        return false;
    if (!take(at, ']')) {
        do {
            if (count == LIST_ITEMS || !take(at, '"') || !take_text(at, &items[count]))
                return false;
            count++;
        } while (take(at, ','));
        if (!take(at, ']'))
            return false;
    }
    *ret = (sc_strs){items, count};
    return true;
}

/* Up to 16 bytes of constant size compile to loads, more to a call: hence two overlapping parts. */
static INLINE bool is_same(const char *a, const char *b, size_t count)
{
    if (count <= 16)
        return memcmp(a, b, count) == 0;
    return memcmp(a, b, 16) == 0 && (count <= 32 ? memcmp(a + count - 16, b + count - 16, 16) == 0
                                                 : memcmp(a + 16, b + 16, count - 16) == 0);
}

/* `"key":`, a constant of `count` bytes: the comparison becomes a few instructions. */
static INLINE bool take_constant(cursor *at, const char *key, size_t count)
{
    if ((size_t)(at->end - at->p) < count || !is_same(at->p, key, count))
        return false;
    at->p += count;
    return true;
}

/* One value per type of schema.h; those that plain lines do not hold answer "no". */
static INLINE bool take_STR(cursor *at, arena *mem, const void *sub, cg_str *ret)
{
    (void)mem;
    (void)sub;
    return take(at, '"') && take_text(at, ret);
}

static INLINE bool take_U64(cursor *at, arena *mem, const void *sub, uint64_t *ret)
{
    (void)mem;
    (void)sub;
    return take_u64(at, ret);
}

static INLINE bool take_OPT_U64(cursor *at, arena *mem, const void *sub, opt_u64 *ret)
{
    (void)mem;
    (void)sub;
    ret->is_set = true;
    return take_u64(at, &ret->value);
}

static INLINE bool take_F64(cursor *at, arena *mem, const void *sub, double *ret)
{
    (void)mem;
    (void)sub;
    return take_f64(at, ret);
}

static INLINE bool take_OPT_F64(cursor *at, arena *mem, const void *sub, opt_f64 *ret)
{
    (void)mem;
    (void)sub;
    ret->is_set = true;
    return take_f64(at, &ret->value);
}

static INLINE bool take_BOOL(cursor *at, arena *mem, const void *sub, bool *ret)
{
    (void)mem;
    (void)sub;
    return take_bool(at, ret);
}

static INLINE bool take_WORD(cursor *at, arena *mem, const void *sub, uint8_t *ret)
{
    cg_str text;
    int word;

    (void)mem;
    if (!take(at, '"') || !take_text(at, &text))
        return false;
    word = sc_find_word(sub, text);
    *ret = (uint8_t)word;
    return word >= 0;
}

static INLINE bool take_U64S(cursor *at, arena *mem, const void *sub, sc_u64s *ret)
{
    (void)sub;
    return take_u64s(at, mem, ret);
}

static INLINE bool take_STRS(cursor *at, arena *mem, const void *sub, sc_strs *ret)
{
    (void)sub;
    return take_strs(at, mem, ret);
}

/*
 * One function per record, unrolled from its field list. A record ends with
 * the first value that no comma follows; required fields may not be left.
 */
#define SKIP_REQUIRED   false
#define SKIP_OPTIONAL   true
#define SKIP_DEFAULTED  true
#define SKIP_OMIT_EMPTY true
#define SKIP_NULLABLE   true

#define FIELD(type, member, key, rule, sub)                                                        \
    if (has_ended || !take_constant(&at, "\"" key "\":", sizeof("\"" key "\":") - 1)) {            \
        if (!SKIP_##rule)                                                                          \
            return false;                                                                          \
    } else {                                                                                       \
        if (!take_##type(&at, mem, &sub, &ret->member))                                            \
            return false;                                                                          \
        if (!take(&at, ',')) {                                                                     \
            if (!take(&at, '}'))                                                                   \
                return false;                                                                      \
            has_ended = true;                                                                      \
        }                                                                                          \
    }

/* The tag stands first and has been read already. */
#define F(type, member, key, rule, sub) F_##type(type, member, key, rule, sub)
#define F_TAG(type, member, key, rule, sub)
#define F_STR     FIELD
#define F_U64     FIELD
#define F_OPT_U64 FIELD
#define F_F64     FIELD
#define F_OPT_F64 FIELD
#define F_BOOL    FIELD
#define F_WORD    FIELD
#define F_U64S    FIELD
#define F_STRS    FIELD

/* Records that come often; the others are read by the JSON library. */
#define PLAIN_RECORDS(X)                                                                           \
    X(SPAN_START, span_start)                                                                      \
    X(SPAN_END, span_end)                                                                          \
    X(OP, op)                                                                                      \
    X(TENSOR_EVENT, tensor_event)                                                                  \
    X(STATS_EVENT, stats_event)                                                                    \
    X(MEMORY, memory)                                                                              \
    X(DEVICE_MEMORY, device_memory)                                                                \
    X(DEVICE_INTERVAL, device_interval)                                                            \
    X(GRADIENT, gradient)
/* Of a runtime trace: field list, C name; the table has `_line` behind its name. */
#define PLAIN_RUNTIME(X)                                                                           \
    X(RUNTIME_TENSOR_LINE, runtime_tensor)                                                         \
    X(RUNTIME_OPERATION_LINE, runtime_operation)                                                   \
    X(RUNTIME_GRADIENT_LINE, runtime_gradient)                                                     \
    X(RUNTIME_VALUE_LINE, runtime_value)                                                           \
    X(RUNTIME_EDGE_LINE, runtime_edge)

#define X(prefix, name)                                                                            \
    static bool scan_##name(cursor at, arena *mem, rec_##name *ret)                                \
    {                                                                                              \
        bool has_ended = false;                                                                    \
                                                                                                   \
        (void)mem;                                                                                 \
        memset(ret, 0, sizeof *ret);                                                               \
        prefix##_FIELDS(F) return has_ended && at.p == at.end;                                     \
    }
PLAIN_RECORDS(X)
PLAIN_RUNTIME(X)
#undef X

bool scan_tag(cg_str line, const sc_table *like, cg_str *ret_tag, size_t *ret_rest)
{
    cg_str key = like->fields[0].key;
    cursor at = {line.ptr, line.ptr + line.len};

    if (!take(&at, '{') || !take(&at, '"') || !take_constant(&at, key.ptr, key.len) ||
        !take_constant(&at, "\":\"", 3) || !take_text(&at, ret_tag) || !take(&at, ','))
        return false;
    *ret_rest = (size_t)(at.p - line.ptr);
    return true;
}

bool scan_fields(const sc_table *table, cg_str line, size_t start, arena *mem, void *ret)
{
    cursor at = {line.ptr + start, line.ptr + line.len};

#define X(prefix, name)                                                                            \
    if (table == &table_##name)                                                                    \
        return scan_##name(at, mem, ret);
    PLAIN_RECORDS(X)
#undef X
#define X(prefix, name)                                                                            \
    if (table == &table_##name##_line)                                                             \
        return scan_##name(at, mem, ret);
    PLAIN_RUNTIME(X)
#undef X
    return false;
}
