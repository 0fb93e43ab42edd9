/*
 * safetensors - headers and indexes. The first byte chooses, the next two are the length of the
 * data part; what is accepted must keep the promises of the header file.
 */
#include "check.h"

#include "codec/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_header(const tensor_header *header, uint64_t data_bytes)
{
    uint64_t total = 0;

    for (size_t i = 0; i < header->tensor_count; i++) {
        const tensor_row *row = &header->tensors[i];

        CHECK(i == 0 || str_compare(header->tensors[i - 1].name, row->name) < 0);
        CHECK(row->begin <= row->end && row->end <= data_bytes);
        CHECK(row->dtype < TENSOR_DTYPE_COUNT);
        CHECK(safetensors_find(header, row->name) == row);
        total += row->end - row->begin;
    }
    CHECK(total == data_bytes);
}

static void read_header(heap *from, cg_str text, uint64_t data_bytes)
{
    tensor_header header;
    cg_err err = {0};
    cg_code code = safetensors_parse(NULL, from, CG_LIT("f"), text, data_bytes, &header, &err);

    CHECK(code == err.code);
    if (code != CG_OK) {
        CHECK(code == CG_INPUT && err.text[0] != '\0');
        return;
    }
    check_header(&header, data_bytes);
    safetensors_free(&header);
}

static void read_index(heap *from, cg_str text)
{
    tensor_listings listed;
    cg_err err = {0};
    arena mem;

    arena_init(&mem, from);
    if (safetensors_index(NULL, from, &mem, text, &listed, &err) == CG_OK) {
        for (size_t i = 0; i < listed.count; i++) {
            CHECK(i == 0 || str_compare(listed.at[i - 1].name, listed.at[i].name) < 0);
            CHECK(listed.at[i].file.len > 0 && listed.at[i].file.ptr[0] != '/');
            CHECK(!str_starts_with(listed.at[i].file, CG_LIT("../")));
        }
    }
    arena_free(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heap from;

    if (size < 3)
        return 0;
    heap_init(&from, NULL);
    if (data[0] % 4 == 3)
        read_index(&from, (cg_str){(const char *)data + 3, size - 3});
    else
        read_header(&from, (cg_str){(const char *)data + 3, size - 3},
                    (uint64_t)data[1] | (uint64_t)data[2] << 8);
    CHECK(from.used_bytes == 0);
    return 0;
}
