/*
 * rescan_base - what is known of a crate that was scanned as a whole, for model/rescan.
 */
#ifndef CG_MODEL_RESCAN_BASE_H
#define CG_MODEL_RESCAN_BASE_H

#include "model/runs.h"
#include "rust/edit.h"

#define RESCAN_NO_FILE UINT32_MAX

/* A file of the scanned crates. */
typedef struct rescan_file {
    cg_str path;     /* absolute */
    cg_str shown;    /* as locations have it */
    uint64_t bytes;  /* of its text */
    const ast *tree; /* when it is kept, only */
    cg_str text;     /* when it is kept, only */
    uint32_t above;  /* the file that declares its module; RESCAN_NO_FILE: none */
    bool is_alone;   /* no other file that was read is shown by the same path */
    bool is_near;    /* what evaluations of it find may depend on how much text it is */
    bool is_always;  /* what it declares is found without being named: it belongs to every part */
    const uint64_t *words; /* a filter of its words: rust/words */
} rescan_file;

typedef struct rescan_link {
    uint32_t from; /* in files */
    uint32_t to;
} rescan_link;

typedef struct rescan_base {
    bool is_possible; /* false: scan the whole, whatever changed */
    rescan_file *files;
    size_t file_count;
    rescan_link *links; /* who uses what of whom */
    size_t link_count;
    program_input *inputs; /* of the program, in the order of reading */
    size_t input_count;
    const cg_str *traits; /* names of those that the scanned crates declare */
    size_t trait_count;
    const cg_str *listed; /* names of structs all fields of which were asked for */
    size_t listed_count;
    runs runs;
} rescan_base;

/* What became of one of the files that changed. */
typedef struct rescan_change {
    uint32_t file;
    bool is_exact; /* all that `edit` does not tell of is as it was, and it says where */
    edit edit;
} rescan_change;

#endif
