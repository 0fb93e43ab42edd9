/*
 * contracts - what the named tensors of every function are: its parameters, variables and results.
 *
 * A reader of entries (model/entry). A function that is an entry is described as its own run found
 * it; any other as the first run of its own file that came through it, else as the first of all:
 * who else uses a function changes nothing. Of functions that nothing runs only the parameters are
 * known, and those declare no more than that they are tensors.
 */
#ifndef CG_MODEL_CONTRACTS_H
#define CG_MODEL_CONTRACTS_H

#include "model/entry.h"
#include "model/tensor_rows.h"

/* The rows of one function, until it is known that no better run comes. */
typedef struct contract_rows {
    model_tensor *at;
    size_t count;
    uint8_t rank; /* of the run: enum in contracts.c */
} contract_rows;

typedef struct contracts {
    heap *heap;
    arena work; /* of one function */
    program *program;
    const function_facts *functions;
    model_draft *draft;
    tensor_rows *rows;
    contract_rows *found; /* by function fact */
} contracts;

bool contracts_init(contracts *self, program *code_of, const function_facts *functions,
                    model_draft *draft, tensor_rows *rows) CG_MUST;
/* For entry_reader.read; the context is the contracts. */
cg_code contracts_read(void *context, const entry_run *run, cg_err *reterr);
/* All rows, those of functions no run came through included. */
cg_code contracts_rest(contracts *self, cg_err *reterr) CG_MUST;
void contracts_free(contracts *self);

#endif
