/*
 * escape - nothing that acts leaves through a door, and nothing is lost on the way.
 *
 * Each output is walked beside its input: every code point must come out in exactly the form its
 * door promises, so the output can be read back.
 */
#include "check.h"

#include "base/err.h"
#include "codec/escape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What terminals, pagers and logs act on, written from the Unicode tables rather than our code. */
static bool is_active(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x061C || c == 0x200B ||
           c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x2064) || (c >= 0x2066 && c <= 0x206F) || c == 0xFEFF;
}

static void check_harmless(cg_str text, bool may_break)
{
    CHECK(str_utf8_error(text) == SIZE_MAX);
    for (size_t at = 0; at < text.len;) {
        uint32_t c = str_next(text, &at);

        CHECK(!is_active(c) || (may_break && (c == '\n' || c == '\t')));
    }
}

/* Does `text` go on with `part` at *at? Then move behind it. */
static bool goes_on(cg_str text, size_t *at, cg_str part)
{
    if (text.len - *at < part.len || memcmp(text.ptr + *at, part.ptr, part.len) != 0)
        return false;
    *at += part.len;
    return true;
}

static bool goes_on_safe(cg_str out, size_t *at, cg_str text, size_t *from)
{
    char piece[STR_SAFE_ROOM];
    size_t size = str_next_safe(text, from, piece);

    CHECK(size > 0 && size <= sizeof piece);
    return goes_on(out, at, (cg_str){piece, size});
}

static void check_tty(cg_str text, cg_str out)
{
    size_t at = 0;

    check_harmless(out, false);
    for (size_t i = 0; i < text.len;)
        CHECK(goes_on_safe(out, &at, text, &i));
    CHECK(at == out.len);
}

static void check_md(cg_str text, cg_str out)
{
    size_t at = 0;

    check_harmless(out, false);
    for (size_t i = 0; i < text.len;) {
        char c = text.ptr[i];

        if (c == '<' || c == '>' || c == '&') {
            CHECK(goes_on(out, &at,
                          c == '<'   ? CG_LIT("&lt;")
                          : c == '>' ? CG_LIT("&gt;")
                                     : CG_LIT("&amp;")));
            i++;
        } else if (c >= 0x20 && c < 0x7F) {
            bool is_escaped = goes_on(out, &at, CG_LIT("\\"));

            CHECK(is_escaped || memchr("\\`|*_[]", c, 7) == NULL);
            CHECK(goes_on(out, &at, (cg_str){&c, 1}));
            i++;
        } else {
            CHECK(goes_on_safe(out, &at, text, &i));
        }
    }
    CHECK(at == out.len);
}

static cg_str html_entity(char c)
{
    switch (c) {
    case '&': return CG_LIT("&amp;");
    case '<': return CG_LIT("&lt;");
    case '>': return CG_LIT("&gt;");
    case '"': return CG_LIT("&quot;");
    case '\'': return CG_LIT("&#39;");
    default: return (cg_str){NULL, 0};
    }
}

static void check_html(cg_str text, cg_str out)
{
    size_t at = 0;

    check_harmless(out, true);
    for (size_t i = 0; i < text.len;) {
        char c = text.ptr[i];
        cg_str entity = html_entity(c);

        if (entity.len > 0 || c == '\n' || c == '\t') {
            CHECK(goes_on(out, &at, entity.len > 0 ? entity : (cg_str){&c, 1}));
            i++;
        } else {
            CHECK(goes_on_safe(out, &at, text, &i));
        }
    }
    CHECK(at == out.len);
}

static void check_script(cg_str text, cg_str out)
{
    size_t at = 0;

    for (size_t i = 0; i < text.len;) {
        char c = text.ptr[i];
        size_t end = i;

        if (c == '<' || c == '>' || c == '&') {
            CHECK(goes_on(out, &at,
                          c == '<'   ? CG_LIT("\\u003c")
                          : c == '>' ? CG_LIT("\\u003e")
                                     : CG_LIT("\\u0026")));
            i++;
        } else if (goes_on(text, &end, CG_LIT("\xE2\x80\xA8"))) {
            CHECK(goes_on(out, &at, CG_LIT("\\u2028")));
            i = end;
        } else if (goes_on(text, &end, CG_LIT("\xE2\x80\xA9"))) {
            CHECK(goes_on(out, &at, CG_LIT("\\u2029")));
            i = end;
        } else {
            CHECK(goes_on(out, &at, (cg_str){&c, 1}));
            i++;
        }
    }
    CHECK(at == out.len);
    for (size_t i = 0; i < out.len; i++)
        CHECK(out.ptr[i] != '<' && out.ptr[i] != '>' && out.ptr[i] != '&');
}

/* Error texts and file names are escaped while they are stored. */
static void check_err(cg_str text)
{
    cg_err err = {0};

    cg_fail(&err, PROBLEM_INPUT_KIND, "%.*s", ERR_STR(text));
    err_in_file(&err, text);
    check_harmless(str_from(err.text), false);
    check_harmless(str_from(err.file), false);
}

static void run_door(heap *from, void (*door)(buf *, cg_str), void (*check)(cg_str, cg_str),
                     cg_str text)
{
    buf out;

    buf_init(&out, from, SIZE_MAX);
    door(&out, text);
    CHECK(!out.failed);
    check(text, buf_text(&out));
    if (door == esc_tty) {
        /* What is harmless already stays as it is. */
        buf again;

        buf_init(&again, from, SIZE_MAX);
        door(&again, buf_text(&out));
        CHECK(str_equal(buf_text(&again), buf_text(&out)));
        buf_free(&again);
    }
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str text = {(const char *)data, size};
    heap from;

    heap_init(&from, NULL);
    run_door(&from, esc_tty, check_tty, text);
    run_door(&from, esc_md, check_md, text);
    run_door(&from, esc_html, check_html, text);
    run_door(&from, esc_script, check_script, text);
    check_err(text);
    CHECK(from.used_bytes == 0);
    return 0;
}
