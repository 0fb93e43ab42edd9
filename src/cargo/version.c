#include "cargo/version.h"

#include "base/num.h"

/* The text up to `byte`, which is skipped; all of it when there is none. */
static cg_str take_until(cg_str *text, char byte, bool *ret_found)
{
    cg_str head = *text;
    const char *at = text->len > 0 ? memchr(text->ptr, byte, text->len) : NULL;

    *ret_found = at != NULL;
    if (at == NULL) {
        *text = (cg_str){text->ptr + text->len, 0};
        return head;
    }
    head.len = (size_t)(at - head.ptr);
    *text = (cg_str){at + 1, text->len - head.len - 1};
    return head;
}

/* Identifiers with dots between, none empty. */
static bool is_label(cg_str text)
{
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        bool is_word = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                       (byte >= 'A' && byte <= 'Z') || byte == '-';

        if (!is_word && (byte != '.' || len == 0))
            return false;
        len = is_word ? len + 1 : 0;
    }
    return len > 0;
}

/* Takes `-pre` and `+build` off the end; false when they are malformed. */
static bool split_labels(cg_str *text, cg_str *ret_pre, cg_str *ret_build)
{
    bool has_build = false;
    bool has_pre = false;
    cg_str rest = *text;
    cg_str head = take_until(&rest, '+', &has_build);
    cg_str pre = head;

    *ret_build = has_build ? rest : CG_LIT("");
    *text = take_until(&pre, '-', &has_pre);
    *ret_pre = has_pre ? pre : CG_LIT("");
    return (!has_build || is_label(*ret_build)) && (!has_pre || is_label(*ret_pre));
}

bool version_read(cg_str text, version *ret)
{
    version found = {0};
    bool has_more = true;

    if (!split_labels(&text, &found.pre, &found.build))
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (!has_more || !num_read_u64(take_until(&text, '.', &has_more), &found.number[i]))
            return false;
    }
    if (has_more)
        return false;
    *ret = found;
    return true;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Identifiers in turn: numbers before words, numbers by value, fewer before more. */
static int compare_labels(cg_str a, cg_str b)
{
    bool has_a = a.len > 0;
    bool has_b = b.len > 0;

    while (has_a && has_b) {
        cg_str x = take_until(&a, '.', &has_a);
        cg_str y = take_until(&b, '.', &has_b);
        uint64_t m = 0;
        uint64_t n = 0;
        bool is_m = num_read_u64(x, &m);
        bool is_n = num_read_u64(y, &n);
        int order = is_m && is_n   ? compare_u64(m, n)
                    : is_m != is_n ? (is_m ? -1 : 1)
                                   : str_compare(x, y);

        if (order != 0)
            return order;
    }
    return has_a ? 1 : has_b ? -1 : 0;
}

int version_compare(const version *a, const version *b)
{
    int order = 0;

    for (unsigned i = 0; i < 3 && order == 0; i++)
        order = compare_u64(a->number[i], b->number[i]);
    if (order == 0 && (a->pre.len == 0) != (b->pre.len == 0))
        order = a->pre.len == 0 ? 1 : -1;
    if (order == 0)
        order = compare_labels(a->pre, b->pre);
    return order != 0 ? order : compare_labels(a->build, b->build);
}

int version_compare_text(cg_str a, cg_str b)
{
    version x;
    version y;
    bool is_x = version_read(a, &x);
    bool is_y = version_read(b, &y);

    if (is_x && is_y)
        return version_compare(&x, &y);
    return is_x != is_y ? (is_x ? 1 : -1) : str_compare(a, b);
}

/* --- requirements --- */

enum operation {
    OP_CARET,
    OP_TILDE,
    OP_EXACT,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL
};

typedef struct comparator {
    enum operation operation;
    version of;     /* missing parts are 0 */
    unsigned parts; /* numbers written: 0 for `*` */
} comparator;

static cg_str skip_spaces(cg_str text, size_t count)
{
    text = (cg_str){text.ptr + count, text.len - count};
    while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t'))
        text = (cg_str){text.ptr + 1, text.len - 1};
    return text;
}

static cg_str read_operation(cg_str text, enum operation *ret)
{
    *ret = OP_CARET;
    if (str_starts_with(text, CG_LIT("<="))) {
        *ret = OP_LESS_EQUAL;
        return skip_spaces(text, 2);
    }
    if (str_starts_with(text, CG_LIT(">="))) {
        *ret = OP_GREATER_EQUAL;
        return skip_spaces(text, 2);
    }
    switch (text.len > 0 ? *text.ptr : '\0') {
    case '^': return skip_spaces(text, 1);
    case '~': *ret = OP_TILDE; return skip_spaces(text, 1);
    case '=': *ret = OP_EXACT; return skip_spaces(text, 1);
    case '<': *ret = OP_LESS; return skip_spaces(text, 1);
    case '>': *ret = OP_GREATER; return skip_spaces(text, 1);
    default: return text;
    }
}

static bool is_wild(cg_str text)
{
    return text.len == 1 && (*text.ptr == '*' || *text.ptr == 'x' || *text.ptr == 'X');
}

static bool read_comparator(cg_str text, comparator *ret)
{
    comparator found = {0};
    bool has_more = true;
    bool has_wild = false;

    text = read_operation(str_trim(text), &found.operation);
    if (!split_labels(&text, &found.of.pre, &found.of.build))
        return false;
    for (unsigned i = 0; i < 3 && has_more; i++) {
        cg_str part = take_until(&text, '.', &has_more);

        if (is_wild(part))
            has_wild = true;
        else if (has_wild || !num_read_u64(part, &found.of.number[found.parts++]))
            return false;
    }
    if (has_more || (found.of.pre.len > 0 && found.parts < 3))
        return false;
    /* `1.*` is `=1`: within what is written. */
    if (has_wild && found.operation == OP_CARET)
        found.operation = OP_EXACT;
    *ret = found;
    return true;
}

/* Do the first `count` numbers agree? */
static bool agrees(const comparator *with, const version *candidate, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (with->of.number[i] != candidate->number[i])
            return false;
    }
    return true;
}

/* Of candidate and what is written, missing numbers left open; builds do not count. */
static int compare_written(const comparator *with, const version *candidate)
{
    int order = 0;

    for (unsigned i = 0; i < with->parts && order == 0; i++)
        order = compare_u64(candidate->number[i], with->of.number[i]);
    if (order != 0 || with->parts < 3)
        return order;
    if ((candidate->pre.len == 0) != (with->of.pre.len == 0))
        return candidate->pre.len == 0 ? 1 : -1;
    return compare_labels(candidate->pre, with->of.pre);
}

static bool fits(const comparator *with, const version *candidate)
{
    int order = compare_written(with, candidate);
    unsigned fixed = 0;

    switch (with->operation) {
    case OP_EXACT: return order == 0;
    case OP_LESS: return order < 0;
    case OP_LESS_EQUAL: return order <= 0;
    case OP_GREATER: return order > 0;
    case OP_GREATER_EQUAL: return order >= 0;
    case OP_TILDE: return order >= 0 && agrees(with, candidate, with->parts < 2 ? with->parts : 2);
    case OP_CARET:
        /* Up to and with the first number that is not 0, else all that is written. */
        while (fixed < with->parts && with->of.number[fixed] == 0)
            fixed++;
        if (fixed < with->parts)
            fixed++;
        return order >= 0 && agrees(with, candidate, fixed);
    }
    return false;
}

enum version_fit version_fits(cg_str requirement, const version *candidate)
{
    bool is_fit = true;
    bool is_pre_named = candidate->pre.len == 0;
    bool has_more = true;
    cg_str rest = requirement;

    if (str_is_blank(requirement))
        return is_pre_named ? VERSION_YES : VERSION_NO;
    while (has_more) {
        comparator with;
        cg_str part = take_until(&rest, ',', &has_more);

        if (str_is_blank(part) && !has_more)
            break;
        if (!read_comparator(part, &with))
            return VERSION_BROKEN;
        is_fit = is_fit && fits(&with, candidate);
        if (with.of.pre.len > 0 && agrees(&with, candidate, 3))
            is_pre_named = true;
    }
    return is_fit && is_pre_named ? VERSION_YES : VERSION_NO;
}

bool version_text_fits(cg_str requirement, cg_str candidate)
{
    version found;

    return version_read(candidate, &found) && version_fits(requirement, &found) == VERSION_YES;
}
