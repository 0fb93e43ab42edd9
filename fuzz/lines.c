/*
 * lines - the line reader against a plain search for newlines.
 *
 * The first four bytes choose: size of the pieces that arrive, ceiling of a line, ceiling of the
 * whole (0: the default), and the read that fails (0: none).
 */
#include "check.h"
#include "pieces.h"

#include "codec/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct source {
    pieces from;
    size_t reads;
    size_t fail_at;
} source;

static cg_code fill(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    source *self = context;

    if (++self->reads == self->fail_at)
        return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "as planned");
    CHECK(count > 0);
    *ret = pieces_take(&self->from, to, count);
    return CG_OK;
}

static void check_refusal(cg_code code, const cg_err *err, const source *from, cg_str text,
                          size_t at, size_t len, uint64_t line_ceiling, uint64_t total_ceiling)
{
    CHECK(code == err->code);
    if (code == CG_NOT_FOUND) {
        CHECK(from->reads == from->fail_at);
        return;
    }
    CHECK(code == CG_LIMIT);
    CHECK(err->has_offset && err->offset == at);
    CHECK(len > line_ceiling || at + len + (at + len < text.len) > total_ceiling);
}

static void run(const cg_env *env, source from, cg_str text)
{
    uint64_t line_ceiling = limit_of(env, CG_LIMIT_LINE_BYTES);
    uint64_t total_ceiling = limit_of(env, CG_LIMIT_DOCUMENT_BYTES);
    uint64_t number = 0;
    size_t at = 0;
    cg_err err = {0};
    lines reader;
    heap memory;

    heap_init(&memory, env);
    CHECK(lines_init(&reader, &memory, env, fill, &from, &err) == CG_OK);
    for (;;) {
        size_t found = str_find((cg_str){text.ptr + at, text.len - at}, CG_LIT("\n"));
        size_t len = found == SIZE_MAX ? text.len - at : found;
        bool has_more = false;
        cg_str line;
        cg_code code = lines_next(&reader, &line, &has_more, &err);

        if (code != CG_OK) {
            check_refusal(code, &err, &from, text, at, len, line_ceiling, total_ceiling);
            break;
        }
        CHECK(has_more == (at < text.len));
        if (!has_more)
            break;
        CHECK(line.len == len && len <= line_ceiling);
        CHECK(memcmp(line.ptr, text.ptr + at, len) == 0);
        CHECK(reader.number == ++number);
        CHECK(reader.line_offset == at);
        CHECK(reader.line_is_closed == (found != SIZE_MAX));
        at += len + (found != SIZE_MAX);
        CHECK(reader.offset == at && at <= total_ceiling);
    }
    lines_free(&reader);
    CHECK(memory.used_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_limits limits;
    const cg_env env = {.size = sizeof env, .limits = &limits};
    source from;
    cg_str text;

    if (size < 4)
        return 0;
    text = (cg_str){(const char *)data + 4, size - 4};
    limits_default(&limits);
    if (data[1] != 0)
        limits.value[CG_LIMIT_LINE_BYTES] = data[1];
    if (data[2] != 0)
        limits.value[CG_LIMIT_DOCUMENT_BYTES] = data[2];
    from = (source){{text, data[0] == 0 ? SIZE_MAX : data[0]}, 0, data[3]};
    run(&env, from, text);
    return 0;
}
