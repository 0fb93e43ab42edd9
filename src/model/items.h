/*
 * items - the tables of a program: crates, files, modules, items. What they mean and who fills them
 * stands in model/program.h.
 */
#ifndef CG_MODEL_ITEMS_H
#define CG_MODEL_ITEMS_H

#include "base/number_map.h"
#include "cargo/workspace.h"
#include "rust/expand.h"
#include "schema/schema.h"

typedef uint32_t file_ref;
typedef uint32_t crate_ref;
typedef uint32_t module_ref;
typedef uint32_t item_ref;

enum crate_kind {
    CRATE_SOURCE,  /* its source is read */
    CRATE_LIBRARY, /* known by name only, never read: std, core, alloc, candle_core, candle_nn, and
                      packages that neither belong to the user nor build on candle */
    CRATE_ABSENT   /* a dependency whose source cannot be found */
};

typedef struct program_crate {
    sym name;         /* as `extern` name of the package itself: candle_core, not a renamed one */
    sym shown;        /* begins the qualified names of its items; 0: nothing does */
    bool is_apart;    /* no other target has its root in the folder of this one's */
    uint8_t kind;     /* enum crate_kind */
    bool is_scanned;  /* what the user asked about */
    bool is_library;  /* the library target of its package */
    bool is_2015;     /* paths of `use` begin at the crate's root */
    uint32_t package; /* in cargo_graph, or CARGO_MISSING */
    module_ref root;  /* 0 unless CRATE_SOURCE */
} program_crate;

typedef struct program_file {
    rust_source source; /* path: relative to its package's root; absolute outside of it */
    cg_str full_path;
    ast tree;
    crate_ref crate;
} program_file;

typedef struct program_module {
    module_ref parent; /* 0 for a crate root */
    crate_ref crate;
    file_ref file; /* 0: not read yet (program_open), or it cannot be read */
    ast_ref body;  /* AST_SOURCE_FILE, AST_DECLARATION_LIST, or AST_BLOCK of a block with items */
    item_ref item; /* its AST_MOD_ITEM, 0 for a root and for blocks */
    sym name;      /* 0 for a root and for blocks */
    bool is_block; /* items inside a function body: names not found here are looked up in parent */
    bool is_pending; /* of a dependency, its file is read by program_open */
    bool has_macros; /* #[macro_use]: its macros are seen behind it */
    int8_t cfg;      /* 1 active, 0 undecided (inactive ones are not loaded) */
    sc_strs cfg_predicates;
    cg_str directory; /* where files of `mod x;` inside it lie; absent: in that of the parent, in
                         a directory of its own name */
    cg_str path_base; /* what #[path] inside it is relative to; absent: the same as directory */
    cg_str wanted;    /* file of a pending module when #[path] names it, else absent */
} program_module;

enum item_kind {
    ITEM_NONE,
    ITEM_FUNCTION, /* free, method, or associated; also of a trait */
    ITEM_STRUCT,
    ITEM_ENUM,
    ITEM_VARIANT,
    ITEM_UNION,
    ITEM_TRAIT,
    ITEM_TYPE_ALIAS, /* also an associated type */
    ITEM_CONST,      /* also static, also associated */
    ITEM_IMPL,
    ITEM_MACRO,
    ITEM_MODULE
};

enum item_visibility { VISIBLE_PRIVATE, VISIBLE_PUBLIC, VISIBLE_CRATE, VISIBLE_RESTRICTED };

typedef struct program_item {
    uint8_t kind;       /* enum item_kind */
    uint8_t visibility; /* enum item_visibility; members of traits and variants: of their owner */
    int8_t cfg;         /* 1 active, 0 undecided */
    bool has_self;      /* a function with a receiver */
    bool is_exported;   /* #[macro_export] */
    bool is_listed;     /* all its fields were asked for, whatever they are called */
    sym name;           /* 0 for an impl */
    module_ref module;  /* where it stands */
    file_ref file;
    ast_ref node;
    item_ref owner; /* impl, trait or enum it belongs to, 0 for free ones */
    item_ref next_in_owner;
    item_ref first_in_owner; /* of an impl, trait, enum: its members, in source order */
    module_ref target;       /* of ITEM_MODULE */
    sc_strs cfg_predicates;  /* printed token texts, sorted, unique, inherited ones included */
} program_item;

/* A `use` or `extern crate` declaration; model/names reads it. */
typedef struct program_use {
    module_ref module;
    file_ref file;
    ast_ref node; /* AST_USE_DECLARATION or AST_EXTERN_CRATE_DECLARATION */
    uint8_t visibility;
    int8_t cfg;
} program_use;

/* Something that could not be loaded or understood; becomes a finding. */
typedef struct program_fault {
    const char *rule; /* of rule.def: source-load, cargo-context, ... */
    cg_str message;
    crate_ref crate;
    file_ref file; /* 0: none */
    uint32_t start, end;
    cg_str path;   /* when there is no file */
    bool is_minor; /* a gap of the grammar in valid Rust; next to nothing is lost */
} program_fault;

/* What the answer depends on: a cache is right as long as all of these are the same. */
enum program_input_kind {
    INPUT_FILE,
    INPUT_MISSING,  /* was looked for and is not there */
    INPUT_DIRECTORY /* of a directory scan; digest of the sorted names, each ended by NUL */
};

typedef struct program_input {
    cg_str path;  /* absolute */
    uint8_t kind; /* enum program_input_kind */
    uint8_t sum[DIGEST_BYTES];
} program_input;

/* One text that is taken instead of the file's. */
typedef struct program_text_given {
    cg_str path; /* absolute */
    cg_str text;
    cg_str tree; /* of this text, by rust/kept; absent: it is parsed */
} program_text_given;

/* A method of files that are left out, by its name: `id` when it is the only one. */
typedef struct program_method {
    cg_str name;
    cg_str id; /* of the function; absent: there are several */
} program_method;

/* Which evaluations of a part are made, by qualified names: model/runs. */
typedef struct program_roots {
    const intern *evaluated; /* constructors and drivers that are evaluated */
    const intern *run;       /* functions that the others run */
    const intern *made;      /* components that the others make inside of theirs */
    const intern *left;      /* components that are not evaluated; others are, whoever makes them */
    uint64_t spent;          /* steps of the others */
} program_roots;

/* A program of which only some files are read at once: model/rescan. */
typedef struct program_part {
    const cg_str *wanted; /* absolute paths */
    size_t wanted_count;
    const program_text_given *texts;
    size_t text_count;
    const program_roots *roots; /* NULL: all are evaluated */
    const uint64_t *spent;      /* with roots, for each text: steps of evaluations left out */
    const program_method *methods;
    size_t method_count;
    uint64_t left_bytes; /* of files that are left out: budgets are those of the whole crate */
} program_part;

/* An evaluation: which function it began with, and all that it ran. */
typedef struct program_run {
    item_ref function;
    uint32_t first; /* in `ran` */
    uint32_t count;
    uint32_t component; /* in the extraction; UINT32_MAX: a driver */
    uint64_t steps;
    bool is_near; /* a budget was used up or nearly so: the size of what it ran matters, too */
} program_run;

/* Who decided about an assembly site. */
typedef struct program_site {
    item_ref function; /* it stands in */
    uint32_t met_by; /* the component that came by first, in the extraction; UINT32_MAX: a driver */
    item_ref driver; /* then which */
    bool is_own;     /* listed as the evaluation of that function has it */
} program_site;

typedef struct program {
    const cg_env *env;
    heap *heap;
    arena mem;
    intern names;
    rust_parser *parser;
    cargo_graph *cargo;
    VEC(program_file *) files; /* 0 unused, as in the following */
    VEC(program_crate) crates;
    VEC(program_module) modules;
    VEC(program_item) items;
    VEC(program_use) uses;
    VEC(program_fault) faults; /* from 0 */
    VEC(program_input) inputs; /* from 0, in the order of reading; manifests are cargo's */
    crate_ref scanned;        /* what the user asked about; other targets are crates of their own */
    number_map text_by_path;  /* (1, path) -> file with that text */
    number_map item_by_node;  /* (file, node) -> item */
    number_map block_by_node; /* (file, block) -> module */
    number_map crate_by_target; /* (package + 1, target) -> crate */
    number_map crate_by_name;   /* (1, name) -> crate that is not read */
    const program_part *part;   /* NULL: scanned crates are read whole */
    VEC(file_ref) late;         /* read though they are not of the part, because of a name in it */
    /*
     * (file, file) for each that uses something of the other: names it, calls into it. What follows
     * from a file can change only with files that are reached over these.
     */
    number_map edges;
    VEC(program_run) runs; /* of the scanned crates' constructors and drivers */
    VEC(item_ref) ran;
    VEC(program_site) sites;    /* of the document's assembly sites, in order */
    struct collect *collecting; /* model/collect's own */
    struct names *scopes;       /* model/names' own, made at the first question */
    void (*free_scopes)(struct program *self);
} program;

/* A record of assembly sites was made; false: out of memory. */
static inline bool program_note_site(program *self, program_site what)
{
    program_site *slot = vec_add(self->heap, &self->sites);

    if (slot != NULL)
        *slot = what;
    return slot != NULL;
}

/* False: out of memory. */
static inline bool program_edge(program *self, file_ref from, file_ref to)
{
    return from == 0 || to == 0 || from == to ||
           number_map_put(&self->edges, number_map_key(from, to), 1) != NULL;
}

static inline const ast *program_tree(const program *self, file_ref file)
{
    return &self->files.at[file]->tree;
}

static inline cg_str program_text(const program *self, sym name)
{
    return intern_text_of(&self->names, name);
}

#endif
