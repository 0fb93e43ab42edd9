/*
 * difference - where a model and a file disagree, and the rows that explain it.
 *
 * The comparison fills it; each part of the diagnosis takes keys that nobody has explained yet and
 * adds rows. A key is explained once.
 */
#ifndef CG_JOIN_DIFFERENCE_H
#define CG_JOIN_DIFFERENCE_H

#include "codec/safetensors.h"
#include "join/parameters.h"
#include "join/shape_match.h"
#include "schema/checkpoint_schema.h"

#define KEY_NOWHERE UINT32_MAX

/* A key the model asks for. */
typedef struct model_key {
    key_name name; /* a template keeps its `{i}` */
    const key_pattern *pattern;
    key_numbers numbers;
    const wanted_parameter *from;
    const expr *shape;    /* with the numbers filled in */
    shape_values *values; /* of its component */
    bool is_template;
    bool is_certain;
    const tensor_row *tensor; /* the tensor of that name; NULL: missing */
    bool has_other_shape;
    bool has_open_shape; /* the code leaves some of it open: not compared to the end */
    cg_str shard;        /* which the index promises it in; absent: it does not */
    bool is_shard_absent;
    bool is_explained;
    uint32_t partner; /* index into spare: the tensor that was meant */
} model_key;

/* A tensor nobody claims. */
typedef struct spare_tensor {
    key_name name;
    const tensor_row *row;
    bool is_explained;
} spare_tensor;

typedef struct difference {
    heap *heap;
    arena *mem;
    expr_pool *pool;
    shape_values *values; /* by component */
    size_t value_count;
    model_key *keys; /* bytewise by name, matched ones too */
    size_t key_count;
    spare_tensor *spare; /* bytewise by name */
    size_t spare_count;
    const key_name *names; /* all of the file and its index, bytewise */
    size_t name_count;
    const tensor_header *header;
    const key_step *renamed_by; /* a call whose builder changes names; NULL: none */
    VEC(doc_diagnosis) rows;
    VEC(sc_pair) shifts; /* prefixes that were found to be shifted, the model's and the file's */
} difference;

typedef struct key_pair {
    uint32_t key;
    uint32_t spare; /* KEY_NOWHERE: none */
} key_pair;

typedef struct key_pairs {
    key_pair *at;
    size_t count;
    size_t capacity;
} key_pairs;

/* Does the model lack this key, with nothing said about it yet? */
static inline bool key_is_open(const model_key *key)
{
    return key->tensor == NULL && !key->is_explained;
}

/* Are there keys and tensors, at least one of each, that nothing is said about? */
bool difference_is_open(const difference *self);
/* Index of the unexplained spare tensor of that name, or KEY_NOWHERE. */
uint32_t difference_find_spare(const difference *self, cg_str name);
/* Is there a name in the file that begins with these segments? */
bool difference_has_prefix(const difference *self, cg_str prefix);
enum shape_answer difference_shape(difference *self, const model_key *key, const tensor_row *row);
/* The key with the prefix that a shift gives it; itself when none does. Absent: out of memory. */
cg_str difference_shifted(difference *self, cg_str key);
/* Let the tensors that were found under other names bind symbols too. */
cg_code difference_learn(difference *self, cg_err *reterr) CG_MUST;
cg_code difference_add_pair(difference *self, key_pairs *to, uint32_t key, uint32_t spare,
                            cg_err *reterr) CG_MUST;

/*
 * Add a row for these pairs: their keys, their file keys, and with `is_mapped` the key map. They
 * are explained from now on. *ret may be filled with more; it is valid until the next row.
 */
cg_code difference_add_row(difference *self, enum diagnosis_code code, const key_pairs *pairs,
                           bool is_mapped, cg_str explanation, doc_diagnosis **ret,
                           cg_err *reterr) CG_MUST;
/* `prefix.rest`, without the dot when there is no prefix; absent when out of memory. */
cg_str difference_join(difference *self, cg_str prefix, cg_str rest);
/* Text of the difference's arena; absent when out of memory. */
cg_str difference_text(difference *self, const char *format, ...) CG_PRINTF(2, 3);

#endif
