/*
 * manifest - bundle.json on arbitrary bytes.
 *
 * What is accepted has safe, distinct, sorted paths, each of which is found again, with the
 * directories above it; written and read again it says the same.
 */
#include "check.h"

#include "publish/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cg_code add(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

static void check_paths(const manifest *of)
{
    for (size_t i = 0; i < of->count; i++) {
        cg_str path = of->files[i].path;

        CHECK(os_dir_is_safe(path));
        CHECK(i == 0 || str_compare(of->files[i - 1].path, path) < 0);
        CHECK(manifest_find(of, path) == &of->files[i]);
        for (size_t k = 0; k < path.len; k++) {
            if (path.ptr[k] == '/' && k > 0)
                CHECK(manifest_has_directory(of, (cg_str){path.ptr, k}));
        }
    }
}

static void check_again(heap *from, arena *mem, const manifest *of)
{
    manifest again;
    buf text;

    buf_init(&text, from, SIZE_MAX);
    CHECK(manifest_write(from, of, (cg_sink){&text, add}, NULL) == CG_OK);
    CHECK(manifest_read(NULL, from, mem, buf_text(&text), &again, NULL) == CG_OK);
    buf_free(&text);
    CHECK(str_equal(again.run_id, of->run_id) && again.count == of->count);
    CHECK((again.producer_name.ptr == NULL) == (of->producer_name.ptr == NULL));
    for (size_t i = 0; i < of->count; i++) {
        CHECK(str_equal(again.files[i].path, of->files[i].path));
        CHECK(again.files[i].bytes == of->files[i].bytes);
        CHECK(memcmp(again.files[i].sum, of->files[i].sum, DIGEST_BYTES) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_err err = {0};
    manifest of;
    heap memory;
    arena mem;
    cg_code code;

    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    code = manifest_read(NULL, &memory, &mem, (cg_str){(const char *)data, size}, &of, &err);
    if (code == CG_OK) {
        check_paths(&of);
        check_again(&memory, &mem, &of);
    } else {
        CHECK(code == err.code && err.problem != NULL);
    }
    arena_free(&mem);
    CHECK(memory.used_bytes == 0);
    return 0;
}
