/*
 * document - a document of several runs of arbitrary bytes, and what stands of it in a page.
 *
 * What is refused says why. What is accepted is JSON that stays the same value as an island, and
 * the island of any JSON holds nothing that could end its element or begin another one.
 */
#include "check.h"

#include "base/buf.h"
#include "codec/json.h"
#include "compare/reread.h"
#include "view/island.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cg_code add(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

static void check_closed(cg_str island)
{
    for (size_t i = 0; i < island.len; i++) {
        CHECK(island.ptr[i] != '<' && island.ptr[i] != '>' && island.ptr[i] != '&');
        CHECK(island.ptr[i] != '\n' && island.ptr[i] != '\r' && island.ptr[i] != '\t');
    }
}

/* Is the island the same value as the text? */
static void check_same(heap *memory, cg_str text)
{
    json_reader first;
    json_reader second;
    json_fault fault;
    yyjson_val *before;
    yyjson_val *after;
    buf island;

    json_init(&first, memory, 127);
    json_init(&second, memory, 127);
    buf_init(&island, memory, SIZE_MAX);
    if (json_read(&first, text, &before, &fault) == CG_OK) {
        CHECK(island_write(memory, text, (cg_sink){&island, add}, NULL) == CG_OK);
        check_closed(buf_text(&island));
        CHECK(json_read(&second, buf_text(&island), &after, &fault) == CG_OK);
        CHECK(yyjson_equals(before, after));
    }
    buf_free(&island);
    json_free(&second);
    json_free(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str text = {(const char *)data, size};
    enum reread_kind kind = REREAD_KIND_COUNT;
    cg_err err = {0};
    heap memory;
    cg_code code;

    heap_init(&memory, NULL);
    code = reread_check(&memory, text, &kind, &err);
    CHECK(code == CG_OK ? kind < REREAD_KIND_COUNT : code == err.code && err.problem != NULL);
    check_same(&memory, text);
    return 0;
}
