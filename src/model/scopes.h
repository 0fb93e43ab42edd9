/*
 * scopes - which names every module binds: its items, and the leaves of its `use` trees.
 *
 * The tables follow the program: whatever was collected since the last look is taken in by
 * scopes_follow. Nothing is resolved here; model/names does that and keeps its answers in the
 * imports.
 */
#ifndef CG_MODEL_SCOPES_H
#define CG_MODEL_SCOPES_H

#include "model/paths.h"

enum { BIND_ITEM, BIND_MODULE, BIND_IMPORT };

#define SPACE_COUNT   3
#define SPACE_BIT(of) (1u << (of))
#define SPACE_ALL     7u

typedef struct binding {
    uint8_t kind;
    uint8_t spaces; /* SPACE_BITs */
    uint8_t visibility;
    int8_t cfg;
    uint32_t target;         /* item, module or import */
    uint32_t earlier;        /* of the same module and name, 0: none */
    uint32_t next_in_module; /* backwards, 0: none */
    sym name;
} binding;

enum { IMPORT_UNKNOWN, IMPORT_BUSY, IMPORT_KNOWN };

typedef struct import {
    module_ref module;
    file_ref file;
    ast_ref node;   /* the leaf of the tree */
    uint32_t first; /* segments.at[first .. first + count) */
    uint16_t count;
    bool is_global; /* `::x`, or extern crate */
    bool is_glob;
    bool is_module; /* `{self}`: the type name space only */
    uint8_t visibility;
    int8_t cfg;
    uint8_t state[SPACE_COUNT];
    uint32_t next_glob; /* of the same module, in source order, 0: none */
    name_def found[SPACE_COUNT];
} import;

typedef struct names {
    program *program;
    VEC(binding) bindings; /* 0 unused, as in the following */
    VEC(import) imports;
    VEC(sym) segments;
    number_map by_name;   /* (module, name) -> last binding */
    number_map by_module; /* (1, module) -> last binding */
    number_map globs;     /* (1, module) -> first glob import */
    number_map last_glob; /* (1, module) -> last glob import */
    size_t seen_items, seen_modules, seen_uses;
    number_map members; /* model/names' memory, see there */
    number_map lexical;
    VEC(name_def) answers;
    number_map children;  /* (path, segment) -> path */
    number_map canonical; /* (1, path) -> path */
    number_map reachable; /* (1, item) -> 1; (2, crate) -> 1 when that crate was walked */
    VEC(uint64_t) active; /* questions being answered */
    uint32_t cut;         /* the outermost of them that an answer had to leave open */
    uint32_t fuel;
    file_ref asking; /* where the path that is being followed stands */
    sym word_self, word_super, word_crate, word_dollar_crate, word_upper_self, word_underscore;
} names;

cg_code scopes_new(program *self, names **ret, cg_err *reterr) CG_MUST;
/* Take in what the program has collected since. */
cg_code scopes_follow(names *self, cg_err *reterr) CG_MUST;

#endif
