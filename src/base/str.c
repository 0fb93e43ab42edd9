#include "base/str.h"

cg_str str_from(const char *text)
{
    if (text == NULL)
        return (cg_str){NULL, 0};
    return (cg_str){text, strlen(text)};
}

int str_compare(cg_str a, cg_str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared == 0 ? 0 : memcmp(a.ptr, b.ptr, shared);

    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

bool str_starts_with(cg_str text, cg_str prefix)
{
    return text.len >= prefix.len &&
           (prefix.len == 0 || memcmp(text.ptr, prefix.ptr, prefix.len) == 0);
}

bool str_ends_with(cg_str text, cg_str suffix)
{
    return text.len >= suffix.len && (suffix.len == 0 || memcmp(text.ptr + (text.len - suffix.len),
                                                                suffix.ptr, suffix.len) == 0);
}

size_t str_find(cg_str text, cg_str part)
{
    size_t at = 0;

    if (part.len == 0)
        return 0;
    while (text.len - at >= part.len) {
        size_t span = text.len - at - part.len + 1;
        const char *hit = memchr(text.ptr + at, part.ptr[0], span);

        if (hit == NULL)
            return SIZE_MAX;
        if (memcmp(hit, part.ptr, part.len) == 0)
            return (size_t)(hit - text.ptr);
        at = (size_t)(hit - text.ptr) + 1;
    }
    return SIZE_MAX;
}

size_t str_find_last(cg_str text, char byte)
{
    for (size_t i = text.len; i > 0; i--)
        if (text.ptr[i - 1] == byte)
            return i - 1;
    return SIZE_MAX;
}

/* --- UTF-8 --- */

/*
 * Length of the well-formed sequence at *p, 0 when there is none; *ret is its code point.
 * The second byte decides about overlong forms, surrogates and the end of the code space
 * (Unicode standard, table 3-7).
 */
static size_t utf8_decode(const unsigned char *p, size_t room, uint32_t *ret)
{
    unsigned lead = p[0];
    unsigned low = 0x80;
    unsigned high = 0xBF;
    size_t size;
    uint32_t value;

    if (lead < 0x80) {
        *ret = lead;
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        size = 2;
        value = lead & 0x1F;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        size = 3;
        value = lead & 0x0F;
        low = lead == 0xE0 ? 0xA0 : low;
        high = lead == 0xED ? 0x9F : high;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        size = 4;
        value = lead & 0x07;
        low = lead == 0xF0 ? 0x90 : low;
        high = lead == 0xF4 ? 0x8F : high;
    } else {
        return 0;
    }
    if (room < size || p[1] < low || p[1] > high)
        return 0;
    value = value << 6 | (p[1] & 0x3Fu);
    for (size_t i = 2; i < size; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (p[i] & 0x3Fu);
    }
    *ret = value;
    return size;
}

size_t str_utf8_error(cg_str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t at = 0;

    while (at < text.len) {
        uint64_t word;
        uint32_t code_point;
        size_t size;

        if (text.len - at >= 8) {
            memcpy(&word, p + at, 8);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += 8;
                continue;
            }
        }
        size = utf8_decode(p + at, text.len - at, &code_point);
        if (size == 0)
            return at;
        at += size;
    }
    return SIZE_MAX;
}

uint32_t str_next(cg_str text, size_t *at)
{
    uint32_t code_point;
    size_t size = utf8_decode((const unsigned char *)text.ptr + *at, text.len - *at, &code_point);

    if (size == 0) {
        *at += 1;
        return 0xFFFD;
    }
    *at += size;
    return code_point;
}

/* --- white space --- */

static bool is_white_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

/* Bytes of the white space that ends `text`, 0 when it ends otherwise. */
static size_t white_space_at_end(cg_str text)
{
    /* White space takes at most three bytes of UTF-8. */
    for (size_t size = 1; size <= 3 && size <= text.len; size++) {
        const unsigned char *p = (const unsigned char *)text.ptr + (text.len - size);
        uint32_t code_point;

        if (utf8_decode(p, size, &code_point) == size)
            return is_white_space(code_point) ? size : 0;
    }
    return 0;
}

cg_str str_trim(cg_str text)
{
    while (text.len > 0) {
        size_t at = 0;

        if (!is_white_space(str_next(text, &at)))
            break;
        text.ptr += at;
        text.len -= at;
    }
    while (text.len > 0) {
        size_t size = white_space_at_end(text);

        if (size == 0)
            break;
        text.len -= size;
    }
    return text;
}

bool str_is_blank(cg_str text)
{
    size_t at = 0;

    while (at < text.len)
        if (!is_white_space(str_next(text, &at)))
            return false;
    return true;
}

/* --- what a terminal shows --- */

typedef struct code_range {
    uint32_t first, last;
} code_range;

static bool in_ranges(const code_range *ranges, size_t count, uint32_t c)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c > ranges[middle].last)
            low = middle + 1;
        else if (c < ranges[middle].first)
            high = middle;
        else
            return true;
    }
    return false;
}

#define IN_RANGES(table, c) in_ranges((table), sizeof(table) / sizeof *(table), (c))

/* Characters one cannot see, or that change how others are seen. */
static const code_range hidden_ranges[] = {
    {0x00AD, 0x00AD}, {0x034F, 0x034F},   {0x061C, 0x061C},   {0x115F, 0x1160},
    {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

/* Combining marks of the scripts one meets, and other characters without width. */
static const code_range zero_ranges[] = {
    {0x0300, 0x036F},   {0x0483, 0x0489},   {0x0591, 0x05BD},   {0x05BF, 0x05BF},
    {0x05C1, 0x05C2},   {0x05C4, 0x05C5},   {0x05C7, 0x05C7},   {0x0610, 0x061A},
    {0x061C, 0x061C},   {0x064B, 0x065F},   {0x0670, 0x0670},   {0x06D6, 0x06DC},
    {0x06DF, 0x06E4},   {0x06E7, 0x06E8},   {0x06EA, 0x06ED},   {0x0711, 0x0711},
    {0x0730, 0x074A},   {0x07A6, 0x07B0},   {0x07EB, 0x07F3},   {0x0816, 0x082D},
    {0x0859, 0x085B},   {0x0898, 0x089F},   {0x08CA, 0x0902},   {0x093A, 0x093A},
    {0x093C, 0x093C},   {0x0941, 0x0948},   {0x094D, 0x094D},   {0x0951, 0x0957},
    {0x0962, 0x0963},   {0x0981, 0x0981},   {0x09BC, 0x09BC},   {0x09C1, 0x09C4},
    {0x09CD, 0x09CD},   {0x0A01, 0x0A02},   {0x0A3C, 0x0A3C},   {0x0A41, 0x0A51},
    {0x0A70, 0x0A71},   {0x0A81, 0x0A82},   {0x0ABC, 0x0ABC},   {0x0AC1, 0x0AC8},
    {0x0ACD, 0x0ACD},   {0x0B3C, 0x0B3C},   {0x0B4D, 0x0B4D},   {0x0BCD, 0x0BCD},
    {0x0C3E, 0x0C40},   {0x0C46, 0x0C56},   {0x0CBC, 0x0CBC},   {0x0CCC, 0x0CCD},
    {0x0D41, 0x0D44},   {0x0D4D, 0x0D4D},   {0x0DCA, 0x0DCA},   {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E},   {0x0EB1, 0x0EB1},   {0x0EB4, 0x0EBC},
    {0x0EC8, 0x0ECE},   {0x0F18, 0x0F19},   {0x0F35, 0x0F35},   {0x0F37, 0x0F37},
    {0x0F39, 0x0F39},   {0x0F71, 0x0F7E},   {0x0F80, 0x0F84},   {0x0F86, 0x0F87},
    {0x0F8D, 0x0FBC},   {0x102D, 0x1030},   {0x1032, 0x1037},   {0x1039, 0x103A},
    {0x1160, 0x11FF},   {0x135D, 0x135F},   {0x1712, 0x1714},   {0x17B4, 0x17B5},
    {0x17B7, 0x17BD},   {0x17C6, 0x17C6},   {0x17C9, 0x17D3},   {0x180B, 0x180F},
    {0x1920, 0x1922},   {0x1AB0, 0x1ACE},   {0x1B00, 0x1B03},   {0x1B34, 0x1B34},
    {0x1DC0, 0x1DFF},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x20D0, 0x20F0},   {0x2CEF, 0x2CF1},   {0x2DE0, 0x2DFF},   {0x302A, 0x302D},
    {0x3099, 0x309A},   {0xA66F, 0xA672},   {0xA674, 0xA67D},   {0xA69E, 0xA69F},
    {0xA6F0, 0xA6F1},   {0xA802, 0xA802},   {0xA8C4, 0xA8C5},   {0xA8E0, 0xA8F1},
    {0xA926, 0xA92D},   {0xAAB0, 0xAAB0},   {0xAAB2, 0xAAB4},   {0xABED, 0xABED},
    {0xD7B0, 0xD7FF},   {0xFB1E, 0xFB1E},   {0xFE00, 0xFE0F},   {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x101FD, 0x101FD}, {0x1BCA0, 0x1BCA3},
    {0x1D165, 0x1D169}, {0x1D16D, 0x1D182}, {0x1D185, 0x1D18B}, {0x1D1AA, 0x1D1AD},
    {0x1DA00, 0x1DA36}, {0x1E000, 0x1E02A}, {0x1E8D0, 0x1E8D6}, {0x1E944, 0x1E94A},
    {0xE0000, 0xE0FFF},
};

/* East Asian wide and full-width, and pictures that are drawn two cells wide. */
static const code_range wide_ranges[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x2E99},
    {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x2FF0, 0x303E},   {0x3041, 0x3096},
    {0x309B, 0x30FF},   {0x3105, 0x312F},   {0x3131, 0x318E},   {0x3190, 0x31E3},
    {0x31EF, 0x321E},   {0x3220, 0x3247},   {0x3250, 0x4DBF},   {0x4E00, 0xA48C},
    {0xA490, 0xA4C6},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE10, 0xFE19},   {0xFE30, 0xFE6B},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x16FE4}, {0x17000, 0x18CD5}, {0x18D00, 0x18D08}, {0x1AFF0, 0x1B2FB},
    {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393},
    {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
    {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D},
    {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596},
    {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
    {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF}, {0x1F6EB, 0x1F6EC},
    {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945},
    {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD},
};

unsigned str_cells(uint32_t code_point)
{
    if (code_point < 0x300)
        return code_point >= 0x20 && (code_point < 0x7F || code_point >= 0xA0);
    if (IN_RANGES(zero_ranges, code_point))
        return 0;
    return IN_RANGES(wide_ranges, code_point) ? 2 : 1;
}

static size_t write_hex(char *out, char letter, uint32_t value, unsigned digits)
{
    out[0] = '\\';
    out[1] = letter;
    for (unsigned i = 0; i < digits; i++)
        out[2 + i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 15];
    return 2 + digits;
}

size_t str_next_safe(cg_str text, size_t *at, char *out)
{
    const unsigned char *p = (const unsigned char *)text.ptr + *at;
    uint32_t c;
    size_t size = utf8_decode(p, text.len - *at, &c);

    if (size == 0) {
        *at += 1;
        return write_hex(out, 'x', p[0], 2);
    }
    *at += size;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
        if (c == '\n' || c == '\t' || c == '\r') {
            out[0] = '\\';
            out[1] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
            return 2;
        }
        return write_hex(out, 'x', c, 2);
    }
    if (c >= 0xA0 && IN_RANGES(hidden_ranges, c))
        return c <= 0xFFFF ? write_hex(out, 'u', c, 4) : write_hex(out, 'U', c, 8);
    memcpy(out, p, size);
    return size;
}

bool str_equal_nocase(cg_str text, cg_str lower)
{
    if (text.len != lower.len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c != lower.ptr[i])
            return false;
    }
    return true;
}
