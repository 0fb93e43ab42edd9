/*
 * toml - a TOML document as a flat tree of values.
 *
 *   toml_document *doc;
 *   CG_TRY(toml_read(env, heap, text, &doc, reterr));
 *   uint32_t package = toml_get(doc, TOML_ROOT, CG_LIT("package"));      TOML_NONE: not there
 *   cg_str name = toml_text(doc, toml_get(doc, package, CG_LIT("name")));
 *   for (uint32_t i = doc->nodes.at[package].first; i != TOML_NONE; i = doc->nodes.at[i].next)
 *   toml_free(doc);
 *
 * TOML 1.0 through the tree-sitter grammar; line ends and a last comma inside inline tables (1.1)
 * are accepted. Keys are unique, dates are text. A broken document is one error with its line;
 * nothing of it is used. Everything lent lives as long as the document, which keeps no pointer to
 * the text it was read from.
 */
#ifndef CG_CODEC_TOML_H
#define CG_CODEC_TOML_H

#include "base/arena.h"
#include "base/vec.h"

#define TOML_ROOT  0u
#define TOML_NONE  UINT32_MAX
#define TOML_DEPTH 100u              /* tables and arrays inside each other */
#define TOML_BYTES ((size_t)2 << 20) /* larger is a mistake or an attack */

enum toml_kind {
    TOML_TABLE,
    TOML_ARRAY,
    TOML_STRING,
    TOML_INTEGER,
    TOML_FLOAT,
    TOML_BOOLEAN,
    TOML_DATETIME
};

typedef struct toml_node {
    cg_str key;  /* in a table; absent in an array */
    cg_str text; /* of a string; of a date as written */
    int64_t integer;
    double number; /* of a float, and of an integer */
    uint32_t parent, first, last, next;
    uint32_t count; /* children */
    uint32_t line;
    uint8_t kind;
    uint8_t origin; /* toml.c's own: how a table came to be */
    bool is_true;
} toml_node;

typedef struct toml_document {
    heap *heap;
    arena mem;
    VEC(toml_node) nodes;
    uint32_t *slots; /* by parent and key */
    size_t slot_count;
    uint64_t seed;
} toml_document;

/* CG_INPUT with a line, CG_LIMIT, CG_NOMEM. `env` may be NULL. */
cg_code toml_read(const cg_env *env, heap *from, cg_str text, toml_document **ret,
                  cg_err *reterr) CG_MUST;
void toml_free(toml_document *doc);

/* The value of `key` in a table; TOML_NONE when `table` is none, no table, or has no such key. */
uint32_t toml_get(const toml_document *doc, uint32_t table, cg_str key);

/* Absent, or false, unless the node is there and of that kind. */
cg_str toml_text(const toml_document *doc, uint32_t node);
bool toml_boolean(const toml_document *doc, uint32_t node, bool *ret);
bool toml_is(const toml_document *doc, uint32_t node, enum toml_kind kind);
/* "a string", "a table", ... for messages. */
const char *toml_kind_name(const toml_document *doc, uint32_t node);

#endif
