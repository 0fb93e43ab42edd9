/*
 * entry - the functions people enter a model by, each run once on tensors nobody knows.
 *
 * A method is run with the value its type's own constructor gave, so that its layers have the
 * parameters they asked for; so is a free function that takes such a value. What a function gives
 * that is itself a computation (`resnet18(vb) -> Func`) is called: the function stands for it.
 * Tensors that come from outside are inputs. While one entry's graph exists, all readers look at
 * it; then it is gone, and nothing of it may be kept but symbols.
 *
 *   entries all;
 *   entries_begin(&all, eval, facts, readers, 2, reterr);      eval->flow is on from now on
 *   extract_options.made = entries_of_component, .context = &all;
 *   extract_run(...);                                          runs the entries of every component
 *   entries_of_makers(&all, components, reterr);               those that are components themselves
 *   entries_rest(&all, reterr);                                those of all others
 *   entries_end(&all);                                         eval->flow is off again
 *
 * An entry costs what is evaluated below it, up to a limit that is reported.
 */
#ifndef CG_MODEL_ENTRY_H
#define CG_MODEL_ENTRY_H

#include "model/draft.h"
#include "model/extract.h"
#include "model/flow.h"
#include "model/phases.h"

typedef struct entry_run {
    const function_fact *function;
    const extract_component *component; /* whose constructor made the receiver; NULL: none did */
    size_t component_index;             /* in the extraction; SIZE_MAX: none */
    uint8_t phases;                     /* PHASES_TRAIN | PHASES_INFER */
    bool is_maker;      /* it makes the parameters of the component itself, on its way */
    bool is_loss;       /* computes a loss: of the library, by its own name, or it calls backward */
    bool is_cut;        /* something was not followed to its end */
    size_t first_fault; /* of the run, in the trail */
    val result;
    /* Tensors of what the constructor gave: the receiver holds them, and what made them. */
    const node_ref *held;
    const sym *held_in; /* by held: the field of what the constructor gave, 0 none of its own */
    size_t held_count;
    const node_ref *outputs; /* tensors of the result, in order, each once */
    size_t output_count;
    /* Learned from: the subject of `backward`, else the losses in the result, else the result. */
    const node_ref *goals;
    size_t goal_count;
    flow *graph;     /* settled */
    flow_mark since; /* what lies before was made by the constructor */
} entry_run;

typedef struct entry_reader {
    void *context;
    cg_code (*read)(void *context, const entry_run *run, cg_err *reterr);
} entry_reader;

typedef struct entries {
    heap *heap;
    arena mem; /* of one run */
    eval *eval;
    const function_facts *functions;
    const entry_reader *readers;
    size_t reader_count;
    bool *is_done;   /* by function fact */
    uint8_t *slots;  /* by function fact: which argument the constructed value is */
    bool *is_made;   /* by item: a type with methods that take or give tensors */
    uint32_t *first; /* by item of the type it works with: 1 + the first one, 0 none */
    uint32_t *next;  /* by function fact: 1 + the next one of the type */
    size_t item_count;
    flow_mark empty;
    const node_ref *held; /* of the component whose entries are run */
    const sym *held_in;
    size_t held_count;
    VEC(uint64_t) spent; /* steps, by file of the function */
    uint64_t steps_left; /* of all entries together */
    uint64_t steps_sure; /* of the one that runs, in a somewhat smaller file, too */
    bool is_near;        /* what one of them finds may depend on how much text there is */
    cg_err *reterr;
} entries;

cg_code entries_begin(entries *self, eval *interpreter, const function_facts *functions,
                      const entry_reader *readers, size_t count, cg_err *reterr) CG_MUST;
/* For extract_options.made. */
cg_code entries_of_component(void *context, const extract_component *component, size_t index,
                             cg_err *reterr);
cg_code entries_of_makers(entries *self, const extraction *components, cg_err *reterr) CG_MUST;
cg_code entries_rest(entries *self, cg_err *reterr) CG_MUST;
void entries_end(entries *self);

#endif
