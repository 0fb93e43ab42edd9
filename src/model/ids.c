#include "model/ids.h"

#include "base/buf.h"
#include "base/num.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)

static const char *escape_of(char byte)
{
    switch (byte) {
    case '%': return "%25";
    case ':': return "%3A";
    case '/': return "%2F";
    case '\\': return "%5C";
    case ' ': return "%20";
    }
    return NULL;
}

/* What an escape is longer than its byte. */
static const uint8_t longer[256] = {['%'] = 2, [':'] = 2, ['/'] = 2, ['\\'] = 2, [' '] = 2};

static size_t escaped_size(cg_str part)
{
    size_t size = part.len;

    for (size_t i = 0; i < part.len; i++)
        size += longer[(unsigned char)part.ptr[i]];
    return size;
}

static char *add_escaped(char *at, cg_str part)
{
    for (size_t i = 0; i < part.len; i++) {
        char byte = part.ptr[i];

        if (longer[(unsigned char)byte] == 0) {
            *at++ = byte;
        } else {
            memcpy(at, escape_of(byte), 3);
            at += 3;
        }
    }
    return at;
}

bool id_make(arena *mem, uint8_t kind, const cg_str *parts, size_t count, cg_str *ret)
{
    cg_str word = sc_word(&words_model_id_kind, kind);
    size_t size = word.len;
    char *bytes;
    char *at;

    for (size_t i = 0; i < count; i++)
        size += 1 + escaped_size(parts[i]);
    bytes = arena_bytes(mem, size + 1);
    if (bytes == NULL)
        return false;
    memcpy(bytes, word.ptr, word.len);
    at = bytes + word.len;
    for (size_t i = 0; i < count; i++) {
        *at++ = ':';
        at = add_escaped(at, parts[i]);
    }
    *at = '\0';
    *ret = (cg_str){bytes, size};
    return true;
}

/* The texts with `between` between them, in room that the caller's arena takes back. */
static bool join(arena *mem, sc_strs list, cg_str between, cg_str *ret)
{
    size_t size = 0;
    char *at;

    for (size_t i = 0; i < list.count; i++)
        size += list.at[i].len + (i > 0 ? between.len : 0);
    at = arena_bytes(mem, size + 1);
    if (at == NULL)
        return false;
    *ret = (cg_str){at, size};
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0) {
            memcpy(at, between.ptr, between.len);
            at += between.len;
        }
        if (list.at[i].len > 0)
            memcpy(at, list.at[i].ptr, list.at[i].len);
        at += list.at[i].len;
    }
    return true;
}

bool id_function(arena *mem, cg_str qualified_name, sc_strs cfg_predicates, cg_str *ret)
{
    cg_str predicates;

    return join(mem, cfg_predicates, CG_LIT(" && "), &predicates) &&
           id_make(mem, MODEL_ID_KIND_FUNCTION, ID_PARTS(qualified_name, predicates), ret);
}

bool id_module(arena *mem, cg_str component, cg_str root, cg_str prefix, cg_str type_name,
               uint64_t instance, cg_str *ret)
{
    char digits[NUM_U64_ROOM];
    cg_str number = {digits, num_write_u64(digits, instance)};

    return id_make(mem, MODEL_ID_KIND_MODULE, ID_PARTS(component, root, prefix, type_name, number),
                   ret);
}

bool id_flow(arena *mem, uint8_t kind, uint8_t phase, cg_str function, uint64_t node, cg_str *ret)
{
    char digits[NUM_U64_ROOM];
    cg_str number = {digits, num_write_u64(digits, node)};

    return id_make(mem, kind, ID_PARTS(sc_word(&words_model_phase, phase), function, number), ret);
}

bool id_assembly(arena *mem, cg_str function, cg_str component, cg_str root, sc_strs prefix_chain,
                 cg_str *ret)
{
    cg_str chain;

    return join(mem, prefix_chain, CG_LIT("/"), &chain) &&
           id_make(mem, MODEL_ID_KIND_ASSEMBLY_SITE, ID_PARTS(function, component, root, chain),
                   ret);
}

static uint64_t fnv(uint64_t hash, cg_str text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (uint8_t)text.ptr[i]) * FNV_PRIME;
    return hash;
}

/* The text and the NUL that ends it. */
static uint64_t fnv_field(uint64_t hash, cg_str text)
{
    return fnv(hash, text) * FNV_PRIME;
}

bool id_build(arena *mem, cg_str package, cg_str version, cg_str target, sc_strs features,
              sc_strs cfg, sc_map candle, cg_str *ret)
{
    uint64_t hash = fnv_field(FNV_OFFSET, CG_LIT(MODEL_BUILD));

    hash = fnv_field(hash, package);
    hash = fnv_field(hash, version);
    hash = fnv_field(hash, target);
    for (size_t i = 0; i < features.count; i++)
        hash = fnv_field(fnv(hash, CG_LIT("feature=")), features.at[i]);
    for (size_t i = 0; i < cfg.count; i++)
        hash = fnv_field(fnv(hash, CG_LIT("cfg=")), cfg.at[i]);
    for (size_t i = 0; i < candle.count; i++) {
        hash = fnv(fnv(hash, CG_LIT("candle=")), candle.at[i].key);
        hash = fnv_field(fnv(hash, CG_LIT("@")), candle.at[i].value);
    }
    return arena_format(mem, ret, MODEL_BUILD ":%08lx%08lx", (unsigned long)(hash >> 32),
                        (unsigned long)(hash & UINT32_MAX));
}

/* An id as its order sees it: the text, its last number as if written with 20 digits. */
typedef struct order_key {
    cg_str head;
    char digits[NUM_U64_ROOM];
    size_t size;
} order_key;

static order_key key_of(cg_str id)
{
    order_key key = {.head = id, .size = id.len};
    size_t colon = str_find_last(id, ':');
    uint64_t number;
    size_t count;

    if (colon == SIZE_MAX ||
        !num_read_u64((cg_str){id.ptr + colon + 1, id.len - colon - 1}, &number))
        return key;
    count = num_write_u64(key.digits, number);
    memmove(key.digits + sizeof key.digits - count, key.digits, count);
    memset(key.digits, '0', sizeof key.digits - count);
    key.head.len = colon + 1;
    key.size = key.head.len + sizeof key.digits;
    return key;
}

static char byte_at(const order_key *key, size_t at)
{
    return at < key->head.len ? key->head.ptr[at] : key->digits[at - key->head.len];
}

int id_compare(cg_str a, cg_str b)
{
    order_key x = key_of(a);
    order_key y = key_of(b);
    size_t at = x.head.len < y.head.len ? x.head.len : y.head.len;
    int order = at > 0 ? memcmp(a.ptr, b.ptr, at) : 0;

    if (order != 0)
        return order;
    for (; at < x.size && at < y.size; at++) {
        if (byte_at(&x, at) != byte_at(&y, at))
            return (uint8_t)byte_at(&x, at) < (uint8_t)byte_at(&y, at) ? -1 : 1;
    }
    return x.size < y.size ? -1 : x.size > y.size;
}
