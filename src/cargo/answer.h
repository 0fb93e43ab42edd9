/*
 * answer - what cargo and rustc say of a crate, as packages of its graph.
 *
 * For those who opted in. Who does not answer, or contradicts itself, is a diagnostic, and the
 * files are read as if nobody had been asked.
 */
#ifndef CG_CARGO_ANSWER_H
#define CG_CARGO_ANSWER_H

#include "cargo/graph.h"

/*
 * Ask about the package in `directory` with these features. Sets the target's cfg, and with an
 * answer of cargo one package for each of it at the same index, `root`, and is_answered.
 */
cg_code answer_take(cargo_graph *graph, cg_str directory, cargo_strs features,
                    cg_err *reterr) CG_MUST;

#endif
