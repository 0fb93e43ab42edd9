/*
 * runs - which functions every evaluation of a scan ran: what after an edit has to be evaluated
 * again.
 *
 *   CG_TRY(runs_keep(scan, places, mem, &kept, reterr));      after a whole scan
 *   runs_pack(&kept, &out);  ... runs_take(&in, file_count, &kept) ...
 *
 *   CG_TRY(runs_choose(&kept, file_count, heap, about, &choice, reterr));
 *   part.roots = &choice.roots; ... scan ...
 *   runs_forget(&choice);
 *
 * An evaluation (of a constructor, of a driver) that ran no function whose body has changed comes
 * to what it came to. Names stand for functions: what has the name of an evaluation that must be
 * made again is made again, too.
 */
#ifndef CG_MODEL_RUNS_H
#define CG_MODEL_RUNS_H

#include "model/scan.h"
#include "schema/pack.h"

#define RUNS_NONE UINT32_MAX

typedef struct runs_function {
    cg_str path;     /* qualified */
    uint32_t file;   /* in files of the base */
    uint32_t number; /* as rust/edit counts; RUNS_NONE: made by a macro */
} runs_function;

typedef struct runs_one {
    uint32_t function;  /* in functions */
    uint32_t component; /* in components; RUNS_NONE: a driver */
    uint64_t steps;
    uint32_t first; /* in ran */
    uint32_t count;
} runs_one;

/* Who came by an assembly site first. */
typedef struct runs_site {
    cg_str met_by; /* component or driver */
    bool is_of_driver;
    bool is_own; /* listed as the evaluation of the function has it in which it stands */
} runs_site;

typedef struct runs {
    bool is_whole; /* false: none can be left out */
    const runs_function *functions;
    size_t function_count;
    const runs_one *all;
    size_t count;
    const uint32_t *ran; /* functions */
    size_t ran_count;
    const cg_str *components; /* qualified names, in the order of the extraction */
    size_t component_count;
    const runs_site *sites; /* of the document, in order */
    size_t site_count;
    const uint64_t *made; /* number_map_key(component, another one that it makes inside) */
    size_t made_count;
} runs;

typedef struct runs_choice {
    intern evaluated, run, made, left;
    program_roots roots;
    arena mem;
    const bool *components; /* by component: evaluated */
    const bool *files;      /* of the base: has a chosen root */
    const uint64_t *spent;  /* by file of the base: steps of evaluations that are left out */
} runs_choice;

/* `places`: file_ref -> file of the base or RUNS_NONE. Texts are the scan's or in `mem`. */
cg_code runs_keep(const scan *from, const uint32_t *places, arena *mem, runs *ret,
                  cg_err *reterr) CG_MUST;
void runs_pack(const runs *self, pack_writer *out);
bool runs_take(pack_reader *in, size_t file_count, runs *ret) CG_MUST;

/*
 * Those that ran a function that is changed, or begin in such a file, or make such a component;
 * NULL: does not matter.
 */
typedef struct runs_question {
    const bool *functions;
    const bool *files;
    const bool *components;
} runs_question;

/* To be forgotten whatever comes of it. */
cg_code runs_choose(const runs *self, size_t file_count, heap *from, runs_question about,
                    runs_choice *ret, cg_err *reterr) CG_MUST;
void runs_forget(runs_choice *self);
/* What is known of every record of a scan's assembly sites, in `mem`. */
cg_code runs_sites(const scan *from, arena *mem, const runs_site **ret, size_t *ret_count,
                   cg_err *reterr) CG_MUST;
void runs_pack_sites(const runs_site *sites, size_t count, pack_writer *out);
bool runs_take_sites(pack_reader *in, const runs_site **ret, size_t *ret_count) CG_MUST;
/* The place of a component in the list; RUNS_NONE: there is none of that name. */
uint32_t runs_component(const runs *self, cg_str name);

#endif
