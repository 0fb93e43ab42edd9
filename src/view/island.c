#include "view/island.h"

#include "codec/escape.h"

static bool is_space(char at)
{
    return at == ' ' || at == '\t' || at == '\r' || at == '\n';
}

/* Behind the text that begins at `at` with its quotation mark. */
static size_t end_of_text(cg_str json, size_t at)
{
    for (at++; at < json.len && json.ptr[at] != '"'; at++)
        at += json.ptr[at] == '\\';
    return at < json.len ? at + 1 : json.len;
}

cg_code island_write(heap *memory, cg_str json, cg_sink sink, cg_err *reterr)
{
    buf text;
    cg_code code;

    buf_init(&text, memory, SIZE_MAX);
    for (size_t at = 0; at < json.len;) {
        size_t end = at;

        if (json.ptr[at] == '"')
            end = end_of_text(json, at);
        while (end < json.len && json.ptr[end] != '"' && !is_space(json.ptr[end]))
            end++;
        esc_script(&text, (cg_str){json.ptr + at, end - at});
        for (at = end; at < json.len && is_space(json.ptr[at]);)
            at++;
    }
    code = text.failed ? err_nomem(reterr) : sink.write(sink.context, text.at, text.len);
    buf_free(&text);
    return code;
}
