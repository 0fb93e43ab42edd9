/* A packed model document: the bytes as a file, and as the values of one whose head is right. */
#include "model/document.h"
#include "schema/pack.h"

static cg_code drop(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OK;
}

static void read_one(heap *from, cg_str bytes)
{
    model_doc doc = {0};
    pack_reader in;
    arena mem;
    jsonw out;

    arena_init(&mem, from);
    if (pack_open(&in, &mem, bytes) && pack_take(&in, &table_model_doc, &doc) &&
        jw_init(&out, from, (cg_sink){NULL, drop}, false, false) == CG_OK) {
        model_write(&doc, &out);
        (void)!jw_finish(&out, NULL);
    }
    arena_free(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cg_str bytes = {(const char *)data, size};
    pack_writer made;
    heap memory;
    buf file;

    heap_init(&memory, NULL);
    read_one(&memory, bytes);
    buf_init(&file, &memory, SIZE_MAX / 2);
    if (pack_begin(&made, &memory, 1)) {
        pack_text(&made, CG_LIT("a"));
        pack_text(&made, CG_LIT(""));
        pack_text(&made, CG_LIT("component:a"));
        made.words.len = 0;
        buf_add(&made.words, bytes);
        if (pack_end(&made, &file))
            read_one(&memory, buf_text(&file));
    }
    pack_free(&made);
    buf_free(&file);
    return 0;
}
