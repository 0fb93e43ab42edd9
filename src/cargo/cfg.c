#include "cargo/cfg.h"


/* --- tokens --- */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_TEXT, TOKEN_SIGN, TOKEN_BROKEN };

typedef struct token {
    enum token_kind kind;
    cg_str text; /* of a string: what is between the quotes */
} token;

static bool is_word_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || (unsigned char)byte >= 0x80;
}

/* Behind white space and comments. A block comment ends at its first end. */
static size_t skip_blank(cg_str text, size_t at)
{
    while (at < text.len) {
        cg_str rest = {text.ptr + at, text.len - at};
        size_t size = 0;

        if (rest.ptr[0] == ' ' || (rest.ptr[0] >= '\t' && rest.ptr[0] <= '\r')) {
            size = 1;
        } else if (str_starts_with(rest, CG_LIT("//"))) {
            size_t end = str_find(rest, CG_LIT("\n"));

            size = end == SIZE_MAX ? rest.len : end;
        } else if (str_starts_with(rest, CG_LIT("/*"))) {
            size_t end = str_find(rest, CG_LIT("*/"));

            size = end == SIZE_MAX ? rest.len : end + 2;
        } else {
            break;
        }
        at += size;
    }
    return at;
}

/* A string at `at`, with its quotes; 0 when it is none, SIZE_MAX when it does not end. */
static size_t string_size(cg_str text, size_t at, cg_str *ret)
{
    size_t hashes = 0;
    size_t start = at;
    bool is_raw = text.ptr[at] == 'r';

    if (is_raw)
        at++;
    while (is_raw && at < text.len && text.ptr[at] == '#') {
        hashes++;
        at++;
    }
    if (at >= text.len || text.ptr[at] != '"')
        return 0;
    for (size_t i = at + 1; i < text.len; i++) {
        size_t found = 0;

        if (text.ptr[i] == '\\' && !is_raw) {
            i++;
            continue;
        }
        if (text.ptr[i] != '"')
            continue;
        while (found < hashes && i + 1 + found < text.len && text.ptr[i + 1 + found] == '#')
            found++;
        if (found == hashes) {
            *ret = (cg_str){text.ptr + at + 1, i - at - 1};
            return i + 1 + hashes - start;
        }
    }
    return SIZE_MAX;
}

static token next_token(cg_str text, size_t *at)
{
    cg_str content = {0};
    size_t start;
    size_t size;

    *at = skip_blank(text, *at);
    start = *at;
    if (start >= text.len)
        return (token){TOKEN_END, {0}};
    if (text.ptr[start] == '"' || text.ptr[start] == 'r') {
        size = string_size(text, start, &content);
        if (size == SIZE_MAX) {
            *at = text.len;
            return (token){TOKEN_BROKEN, {0}};
        }
        if (size > 0) {
            *at = start + size;
            return (token){TOKEN_TEXT, content};
        }
        if (str_starts_with((cg_str){text.ptr + start, text.len - start}, CG_LIT("r#")))
            start = *at += 2;
    }
    while (*at < text.len && is_word_byte(text.ptr[*at]))
        (*at)++;
    if (*at > start)
        return (token){TOKEN_WORD, {text.ptr + start, *at - start}};
    if (start >= text.len)
        return (token){TOKEN_BROKEN, {0}};
    *at = start + 1;
    return (token){TOKEN_SIGN, {text.ptr + start, 1}};
}

static bool is_sign(token of, char sign)
{
    return of.kind == TOKEN_SIGN && of.text.ptr[0] == sign;
}

/* --- sets --- */

static bool cfg_set_has(const cfg_set *set, cg_str line)
{
    for (size_t i = 0; i < set->lines.count; i++) {
        if (str_equal(set->lines.at[i], line))
            return true;
    }
    return false;
}

/* Is it `name="value"`? */
static bool is_pair(cg_str line, cg_str name, cg_str value)
{
    return line.len == name.len + value.len + 3 && str_starts_with(line, name) &&
           line.ptr[name.len] == '=' && line.ptr[name.len + 1] == '"' &&
           str_equal((cg_str){line.ptr + name.len + 2, value.len}, value);
}

static bool has_pair(const cfg_set *set, cg_str name, cg_str value)
{
    for (size_t i = 0; i < set->lines.count; i++) {
        if (is_pair(set->lines.at[i], name, value))
            return true;
    }
    return false;
}

/* Names that only the compiler, Cargo and its tools set: a build script cannot be behind them. */
static bool is_well_known(cg_str name)
{
    static const char *const names[] = {"feature", "test",    "doc",       "doctest",
                                        "unix",    "windows", "panic",     "debug_assertions",
                                        "miri",    "clippy",  "rustfmt",   "overflow_checks",
                                        "docsrs",  "loom",    "ub_checks", "proc_macro"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (str_is(name, names[i]))
            return true;
    }
    return str_starts_with(name, CG_LIT("target_"));
}

static enum cfg_truth truth_of(const cfg_set *set, cg_str name, const cg_str *value)
{
    bool is_set;

    if (value == NULL && str_equal(name, CG_LIT("true")))
        return CFG_TRUE;
    if (value == NULL && str_equal(name, CG_LIT("false")))
        return CFG_FALSE;
    if (set == NULL || !set->is_known)
        return CFG_UNDECIDED;
    is_set = value == NULL ? cfg_set_has(set, name) : has_pair(set, name, *value);
    if (is_set)
        return CFG_TRUE;
    return set->is_open && !is_well_known(name) ? CFG_UNDECIDED : CFG_FALSE;
}

/* --- evaluation --- */

enum operation { OP_ALL, OP_ANY, OP_NOT, OP_ONE, OP_UNKNOWN };

typedef struct frame {
    enum operation operation;
    enum cfg_truth truth;
    unsigned count;
} frame;

enum cfg_truth cfg_and(enum cfg_truth a, enum cfg_truth b)
{
    if (a == CFG_FALSE || b == CFG_FALSE)
        return CFG_FALSE;
    return a == CFG_TRUE && b == CFG_TRUE ? CFG_TRUE : CFG_UNDECIDED;
}

static enum cfg_truth cfg_or(enum cfg_truth a, enum cfg_truth b)
{
    if (a == CFG_TRUE || b == CFG_TRUE)
        return CFG_TRUE;
    return a == CFG_FALSE && b == CFG_FALSE ? CFG_FALSE : CFG_UNDECIDED;
}

static void add_operand(frame *to, enum cfg_truth truth)
{
    switch (to->operation) {
    case OP_ALL: to->truth = cfg_and(to->truth, truth); break;
    case OP_ANY: to->truth = cfg_or(to->truth, truth); break;
    case OP_NOT:
        to->truth = truth == CFG_UNDECIDED ? CFG_UNDECIDED
                    : truth == CFG_TRUE    ? CFG_FALSE
                                           : CFG_TRUE;
        break;
    case OP_ONE: to->truth = truth; break;
    case OP_UNKNOWN: break;
    }
    to->count++;
}

static frame open_frame(cg_str name)
{
    if (str_equal(name, CG_LIT("all")))
        return (frame){OP_ALL, CFG_TRUE, 0};
    if (str_equal(name, CG_LIT("any")))
        return (frame){OP_ANY, CFG_FALSE, 0};
    if (str_equal(name, CG_LIT("not")))
        return (frame){OP_NOT, CFG_UNDECIDED, 0};
    if (name.len == 0 || str_equal(name, CG_LIT("cfg")))
        return (frame){OP_ONE, CFG_UNDECIDED, 0};
    return (frame){OP_UNKNOWN, CFG_UNDECIDED, 0};
}

/* Behind the `)` that closes the group we are in; false: it is never closed. */
static bool skip_group(cg_str text, size_t *at)
{
    size_t depth = 1;

    while (depth > 0) {
        token next = next_token(text, at);

        if (next.kind == TOKEN_END || next.kind == TOKEN_BROKEN)
            return false;
        depth += is_sign(next, '(');
        depth -= is_sign(next, ')');
    }
    return true;
}

/* A name has been read: a pair, a plain name, or the head of a group (then *ret_is_group). */
static bool read_operand(const cfg_set *set, cg_str text, size_t *at, cg_str name,
                         enum cfg_truth *ret, bool *ret_is_group)
{
    size_t behind = *at;
    token next = next_token(text, &behind);

    *ret_is_group = false;
    if (is_sign(next, '!')) {
        *at = behind;
        next = next_token(text, &behind);
        if (!is_sign(next, '('))
            return false;
    }
    if (is_sign(next, '(')) {
        *at = behind;
        *ret_is_group = true;
        return true;
    }
    if (!is_sign(next, '=')) {
        *ret = truth_of(set, name, NULL);
        return true;
    }
    next = next_token(text, &behind);
    *at = behind;
    *ret = next.kind == TOKEN_TEXT ? truth_of(set, name, &next.text) : CFG_UNDECIDED;
    return next.kind == TOKEN_TEXT;
}

enum cfg_truth cfg_eval(const cfg_set *set, cg_str predicate)
{
    frame open[CFG_DEPTH + 1] = {{OP_ONE, CFG_UNDECIDED, 0}};
    size_t depth = 0;
    size_t at = 0;

    for (;;) {
        token next = next_token(predicate, &at);
        enum cfg_truth truth = CFG_UNDECIDED;
        bool is_group = is_sign(next, '(');

        if (next.kind == TOKEN_END)
            return depth == 0 && open[0].count == 1 ? open[0].truth : CFG_UNDECIDED;
        if (is_sign(next, ',') && depth > 0 && open[depth].count > 0)
            continue;
        if (is_sign(next, ')') && depth > 0) {
            frame *done = &open[depth--];
            bool is_single = done->operation == OP_NOT || done->operation == OP_ONE;

            if (is_single && done->count != 1)
                return CFG_UNDECIDED;
            add_operand(&open[depth], done->truth);
            continue;
        }
        if (next.kind != TOKEN_WORD && !is_group)
            return CFG_UNDECIDED;
        if (!is_group && !read_operand(set, predicate, &at, next.text, &truth, &is_group))
            return CFG_UNDECIDED;
        if (!is_group) {
            add_operand(&open[depth], truth);
            continue;
        }
        if (depth == CFG_DEPTH)
            return CFG_UNDECIDED;
        open[++depth] = open_frame(next.kind == TOKEN_WORD ? next.text : CG_LIT(""));
        if (open[depth].operation == OP_UNKNOWN) {
            if (!skip_group(predicate, &at))
                return CFG_UNDECIDED;
            add_operand(&open[--depth], CFG_UNDECIDED);
        }
    }
}

/* --- attributes --- */

/* Without `#[ ]` or `#![ ]` around it. */
static cg_str inside_brackets(cg_str text)
{
    size_t at = 0;
    token next;

    text = str_trim(text);
    next = next_token(text, &at);
    if (!is_sign(next, '#'))
        return text;
    next = next_token(text, &at);
    if (is_sign(next, '!'))
        next = next_token(text, &at);
    if (!is_sign(next, '[') || text.ptr[text.len - 1] != ']' || at + 1 > text.len)
        return text;
    return str_trim((cg_str){text.ptr + at, text.len - 1 - at});
}

/* The length of `text` up to the first comma outside of brackets, or all of it. */
static size_t find_comma(cg_str text)
{
    size_t depth = 0;
    size_t at = 0;

    for (;;) {
        token next = next_token(text, &at);

        if (next.kind == TOKEN_END || next.kind == TOKEN_BROKEN)
            return text.len;
        if (is_sign(next, '(') || is_sign(next, '[') || is_sign(next, '{'))
            depth++;
        if ((is_sign(next, ')') || is_sign(next, ']') || is_sign(next, '}')) && depth > 0)
            depth--;
        if (is_sign(next, ',') && depth == 0)
            return at - 1;
    }
}

cfg_attribute cfg_attribute_read(cg_str text)
{
    cfg_attribute found = {0};
    size_t at = 0;
    size_t comma;
    cg_str inner;
    token name;

    text = inside_brackets(text);
    name = next_token(text, &at);
    if (name.kind != TOKEN_WORD || !is_sign(next_token(text, &at), '(') || at >= text.len ||
        text.ptr[text.len - 1] != ')')
        return found;
    inner = (cg_str){text.ptr + at, text.len - 1 - at};
    if (str_equal(name.text, CG_LIT("cfg"))) {
        found.kind = CFG_ATTRIBUTE_CFG;
        found.predicate = str_trim(inner);
    } else if (str_equal(name.text, CG_LIT("cfg_attr"))) {
        found.kind = CFG_ATTRIBUTE_CFG_ATTR;
        comma = find_comma(inner);
        found.predicate = str_trim((cg_str){inner.ptr, comma});
        if (comma < inner.len)
            found.rest = str_trim((cg_str){inner.ptr + comma + 1, inner.len - comma - 1});
    }
    return found;
}

bool cfg_attribute_next(cg_str *rest, cg_str *ret)
{
    while (rest->len > 0) {
        size_t comma = find_comma(*rest);
        cg_str part = str_trim((cg_str){rest->ptr, comma});
        size_t skip = comma < rest->len ? comma + 1 : comma;

        *rest = (cg_str){rest->ptr + skip, rest->len - skip};
        if (part.len > 0) {
            *ret = part;
            return true;
        }
    }
    return false;
}

/* --- the built-in table --- */

typedef struct target_row {
    const char *triple, *arch, *os, *env, *abi, *family, *vendor, *endian, *width, *panic;
    const char *atomics, *features;
} target_row;

static const target_row targets[] = {
#define TARGET(...) {__VA_ARGS__},
#include "cargo/targets.def"
#undef TARGET
};

#if defined(__aarch64__) || defined(_M_ARM64)
#define HOST_ARCH "aarch64"
#else
#define HOST_ARCH "x86_64"
#endif
#if defined(__APPLE__)
#define HOST_REST "-apple-darwin"
#elif defined(_WIN32)
#define HOST_REST "-pc-windows-msvc"
#elif defined(__FreeBSD__)
#define HOST_REST "-unknown-freebsd"
#elif defined(__linux__) && !defined(__GLIBC__)
#define HOST_REST "-unknown-linux-musl"
#else
#define HOST_REST "-unknown-linux-gnu"
#endif

cg_str cfg_host(void)
{
    return CG_LIT(HOST_ARCH HOST_REST);
}

static const target_row *find_target(cg_str triple)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (str_is(triple, targets[i].triple))
            return &targets[i];
    }
    return NULL;
}

bool cfg_has_target(cg_str triple)
{
    return find_target(triple) != NULL;
}

typedef struct lines {
    arena *mem;
    cg_str *at;
    size_t count, capacity;
    bool failed;
} lines;

static void add_line(lines *to, const char *name, cg_str value)
{
    if (to->failed || to->count == to->capacity ||
        !arena_format(to->mem, &to->at[to->count], "%s=\"%.*s\"", name, (int)value.len, value.ptr))
        to->failed = true;
    else
        to->count++;
}

/* One line per item of a list separated by commas; an empty list gives none. */
static void add_list(lines *to, const char *name, const char *list)
{
    cg_str rest = str_from(list);

    while (rest.len > 0) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t len = comma == NULL ? rest.len : (size_t)(comma - rest.ptr);
        size_t skip = comma == NULL ? len : len + 1;

        add_line(to, name, (cg_str){rest.ptr, len});
        rest = (cg_str){rest.ptr + skip, rest.len - skip};
    }
}

/* Sort, and leave out what stands there twice. */
static void order_lines(cg_str *at, size_t *count)
{
    size_t kept = 0;

    /* Insertion: some thirty lines, nearly sorted. */
    for (size_t i = 1; i < *count; i++) {
        cg_str line = at[i];
        size_t k = i;

        for (; k > 0 && str_compare(at[k - 1], line) > 0; k--)
            at[k] = at[k - 1];
        at[k] = line;
    }
    for (size_t i = 0; i < *count; i++) {
        if (kept == 0 || !str_equal(at[kept - 1], at[i]))
            at[kept++] = at[i];
    }
    *count = kept;
}

bool cfg_target_lines(arena *mem, cg_str triple, cargo_strs *ret)
{
    const target_row *row = find_target(triple);
    lines to = {.mem = mem, .capacity = 80};

    if (row == NULL)
        return false;
    to.at = arena_take(mem, to.capacity * sizeof *to.at);
    if (to.at == NULL)
        return false;
    to.at[to.count++] = CG_LIT("debug_assertions");
    add_list(&to, "panic", row->panic);
    add_line(&to, "target_abi", str_from(row->abi));
    add_line(&to, "target_arch", str_from(row->arch));
    add_line(&to, "target_endian", str_from(row->endian));
    add_line(&to, "target_env", str_from(row->env));
    add_list(&to, "target_family", row->family);
    add_list(&to, "target_feature", row->features);
    add_list(&to, "target_has_atomic", row->atomics);
    add_line(&to, "target_os", str_from(row->os));
    add_line(&to, "target_pointer_width", str_from(row->width));
    add_line(&to, "target_vendor", str_from(row->vendor));
    if (str_find(str_from(row->family), CG_LIT("unix")) != SIZE_MAX)
        to.at[to.count++] = CG_LIT("unix");
    if (str_find(str_from(row->family), CG_LIT("windows")) != SIZE_MAX)
        to.at[to.count++] = CG_LIT("windows");
    if (to.failed)
        return false;
    order_lines(to.at, &to.count);
    *ret = (cargo_strs){to.at, to.count};
    return true;
}

bool cfg_set_make(arena *mem, cargo_strs lines_in, cargo_strs features, cfg_set *ret)
{
    lines to = {.mem = mem, .capacity = lines_in.count + features.count};

    to.at = arena_take(mem, (to.capacity + 1) * sizeof *to.at);
    if (to.at == NULL)
        return false;
    for (size_t i = 0; i < lines_in.count; i++)
        to.at[to.count++] = lines_in.at[i];
    for (size_t i = 0; i < features.count; i++)
        add_line(&to, "feature", features.at[i]);
    if (to.failed)
        return false;
    order_lines(to.at, &to.count);
    *ret = (cfg_set){.lines = {to.at, to.count}, .is_known = true};
    return true;
}
