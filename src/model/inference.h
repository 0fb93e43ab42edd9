/*
 * inference - does a program only use a model that others trained?
 *
 * A binary without a library is known whole: when it loads weights and names nothing that variables
 * or gradients are made with, a call that lets no gradient through does no harm, and its finding is
 * a note. What a library's users do is not known, nor what is in targets that are not read.
 */
#ifndef CG_MODEL_INFERENCE_H
#define CG_MODEL_INFERENCE_H

#include "model/draft.h"
#include "model/program.h"

typedef struct inference_facts {
    bool is_program; /* the package is one binary and has no other target */
    bool loads;      /* it names a builder of weights from files */
    bool trains;     /* it names variables, gradients or optimizers, imports aside */
} inference_facts;

/* Without a program nothing else is looked at. */
inference_facts inference_find(const program *code_of);
/* Findings of gradients that nobody asks for become notes. */
cg_code inference_settle(const program *code_of, model_draft *draft, cg_err *reterr) CG_MUST;

#endif
