#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct problem_row {
    const char *id;
    const char *help;
    cg_code code;
} problem_row;

static const problem_row problem_rows[PROBLEM_COUNT] = {
#define PROBLEM(name, id, code, help) [PROBLEM_##name] = {(id), (help), (code)},
#include "base/problem.def"
#undef PROBLEM
};

const char *problem_id(enum problem problem)
{
    return problem_rows[problem].id;
}

static const char *problem_help(enum problem problem)
{
    return problem_rows[problem].help;
}

cg_code problem_code(enum problem problem)
{
    return problem_rows[problem].code;
}

#define ELLIPSIS      "\xE2\x80\xA6"
#define ELLIPSIS_SIZE (sizeof ELLIPSIS - 1)

/* Escaped copy with a NUL; when it does not fit, or `is_cut`, it ends with an ellipsis. */
static void store_head(char *out, size_t room, cg_str text, bool is_cut)
{
    char piece[STR_SAFE_ROOM];
    size_t len = 0;
    size_t border = 0; /* the last place that leaves room for the ellipsis */
    size_t at = 0;

    while (at < text.len) {
        size_t size = str_next_safe(text, &at, piece);

        if (len + size + 1 > room) {
            is_cut = true;
            break;
        }
        memcpy(out + len, piece, size);
        len += size;
        if (len + ELLIPSIS_SIZE + 1 <= room)
            border = len;
    }
    if (is_cut) {
        memcpy(out + border, ELLIPSIS, ELLIPSIS_SIZE);
        len = border + ELLIPSIS_SIZE;
    }
    out[len] = '\0';
}

/* The same for paths, whose end says more than their beginning. */
static void store_tail(char *out, size_t room, cg_str text)
{
    char piece[STR_SAFE_ROOM];
    size_t total = 0;
    size_t at = 0;
    size_t len = 0;

    while (at < text.len)
        total += str_next_safe(text, &at, piece);
    at = 0;
    if (total + 1 > room) {
        while (total + ELLIPSIS_SIZE + 1 > room)
            total -= str_next_safe(text, &at, piece);
        memcpy(out, ELLIPSIS, ELLIPSIS_SIZE);
        len = ELLIPSIS_SIZE;
    }
    while (at < text.len) {
        size_t size = str_next_safe(text, &at, piece);

        memcpy(out + len, piece, size);
        len += size;
    }
    out[len] = '\0';
}

/* Begin of the character that a cut at `at` would split. */
static size_t char_border(const char *text, size_t at)
{
    size_t border = at;

    for (unsigned i = 0; i < 3 && border > 0 && ((unsigned char)text[border] & 0xC0) == 0x80; i++)
        border--;
    return ((unsigned char)text[border] & 0xC0) == 0x80 ? at : border;
}

cg_code cg_fail(cg_err *reterr, enum problem problem, const char *format, ...)
{
    char raw[1024];
    va_list arguments;
    int size;
    size_t len;

    if (reterr == NULL)
        return problem_code(problem);
    if (reterr->code != CG_OK)
        return reterr->code;
    va_start(arguments, format);
    size = vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    len = size < 0 ? 0 : (size_t)size;
    if (len >= sizeof raw)
        len = char_border(raw, sizeof raw - 1);
    reterr->code = problem_code(problem);
    reterr->problem = problem_id(problem);
    reterr->help = problem_help(problem);
    store_head(reterr->text, sizeof reterr->text, (cg_str){raw, len},
               size > 0 && len < (size_t)size);
    return reterr->code;
}

cg_str err_shorten(cg_str text)
{
    if (text.ptr == NULL)
        return CG_LIT("");
    if (text.len > 80)
        text.len = char_border(text.ptr, 80);
    return text;
}

void err_at_line(cg_err *reterr, uint64_t line, uint64_t offset)
{
    if (reterr == NULL || reterr->code == CG_OK)
        return;
    if (reterr->line == 0)
        reterr->line = line;
    if (!reterr->has_offset) {
        reterr->offset = offset;
        reterr->has_offset = true;
    }
}

void err_in_file(cg_err *reterr, cg_str file)
{
    if (reterr == NULL || reterr->code == CG_OK || reterr->file[0] != '\0')
        return;
    store_tail(reterr->file, sizeof reterr->file, file);
}

cg_code err_nomem(cg_err *reterr)
{
    return cg_fail(reterr, PROBLEM_NOMEM, "out of memory");
}
