/*
 * safetensors - what tensors a checkpoint holds, from its headers alone.
 *
 *   tensor_header header;
 *   code = safetensors_open(env, heap, path, &header, reterr);
 *   const tensor_row *row = safetensors_find(&header, CG_LIT("lm_head.weight"));
 *   safetensors_free(&header);
 *
 * `path` is a .safetensors file, an index (`*.index.json`) that spreads tensors over shards, or a
 * directory that holds one of them. A file is
 *
 *   8 bytes   length N of the header, little endian, at most SAFETENSORS_HEADER_BYTES
 *   N bytes   {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
 *              "__metadata__": {"key": "text"}}
 *   the data  every byte belongs to exactly one tensor
 *
 * and only the first 8 + N bytes are read. What Candle's own reader refuses is refused: sizes that
 * do not follow from shape and dtype, holes, overlaps, trailing bytes. GGUF, PyTorch, NumPy and
 * other files are recognised and refused by name.
 *
 * A shard that is absent is no refusal: its tensors are `promised`. Shards lie in the directory of
 * the index or below; a path that leads elsewhere is refused. Like Candle, which asks the shards
 * and not the map, a tensor counts when any shard has it; where the map says otherwise, there is
 * a difference.
 *
 * Names are as the file has them: any Unicode text, NUL included. Escape them before they go out.
 * The header owns everything it lends. Another format gets a reader of its own that fills the same
 * structure.
 */
#ifndef CG_CODEC_SAFETENSORS_H
#define CG_CODEC_SAFETENSORS_H

#include "base/arena.h"

#define SAFETENSORS_HEADER_BYTES UINT64_C(100000000)
#define SAFETENSORS_NAME_BYTES   65536u
#define SAFETENSORS_SHARDS       10000u

/* Name as written, bits of an element. */
#define TENSOR_DTYPES(X)                                                                           \
    X(BOOL, 8)                                                                                     \
    X(F4, 4)                                                                                       \
    X(F6_E2M3, 6)                                                                                  \
    X(F6_E3M2, 6)                                                                                  \
    X(U8, 8)                                                                                       \
    X(I8, 8)                                                                                       \
    X(F8_E5M2, 8)                                                                                  \
    X(F8_E4M3, 8)                                                                                  \
    X(F8_E8M0, 8)                                                                                  \
    X(I16, 16)                                                                                     \
    X(U16, 16)                                                                                     \
    X(F16, 16)                                                                                     \
    X(BF16, 16)                                                                                    \
    X(I32, 32)                                                                                     \
    X(U32, 32)                                                                                     \
    X(F32, 32)                                                                                     \
    X(F64, 64)                                                                                     \
    X(I64, 64)                                                                                     \
    X(U64, 64)

enum tensor_dtype {
#define X(name, bits) TENSOR_##name,
    TENSOR_DTYPES(X)
#undef X
        TENSOR_DTYPE_COUNT
};

typedef struct tensor_row {
    cg_str name;
    const uint64_t *shape;
    uint32_t rank;
    uint32_t file; /* index into files */
    enum tensor_dtype dtype;
    uint64_t begin, end; /* bytes of the data, from the end of its file's header */
} tensor_row;

typedef struct tensor_file {
    cg_str name; /* as the index has it; the path for a single file */
    bool is_present;
    uint64_t tensor_count; /* in the header; for an absent shard what the index promises of it */
} tensor_file;

/* A tensor that the index puts elsewhere than it is. */
typedef struct tensor_difference {
    cg_str name;
    cg_str listed; /* the shard of the index; absent: the index does not list it */
    cg_str found;  /* the shard that has it; absent: none of those that are there */
} tensor_difference;

typedef struct tensor_header {
    heap *heap;
    arena mem;
    const tensor_row *tensors; /* bytewise by name */
    size_t tensor_count;
    const tensor_file *files; /* bytewise by name */
    size_t file_count;
    const tensor_difference *differences; /* bytewise by name; also those in absent shards */
    size_t difference_count;
    bool is_indexed;
} tensor_header;

/* Fails with CG_NOT_FOUND, CG_INPUT (safetensors-...), CG_NOMEM, CG_INTERRUPTED. */
cg_code safetensors_open(const cg_env *env, heap *from, cg_str path, tensor_header *ret,
                         cg_err *reterr) CG_MUST;
void safetensors_free(tensor_header *self);

/* The header text of one file whose data part has `data_bytes`; `name` for `files`. */
cg_code safetensors_parse(const cg_env *env, heap *from, cg_str name, cg_str text,
                          uint64_t data_bytes, tensor_header *ret, cg_err *reterr) CG_MUST;

/* Bytewise by name, NULL when there is none. */
const tensor_row *safetensors_find(const tensor_header *self, cg_str name);
cg_str tensor_dtype_name(enum tensor_dtype dtype);

/* The map of an index: tensor -> shard, as listed; checked, in `mem`. For safetensors_open. */
typedef struct tensor_listing {
    cg_str name;
    cg_str file;
} tensor_listing;

typedef struct tensor_listings {
    const tensor_listing *at; /* bytewise by name */
    size_t count;
} tensor_listings;

cg_code safetensors_index(const cg_env *env, heap *from, arena *mem, cg_str text,
                          tensor_listings *ret, cg_err *reterr) CG_MUST;

#endif
