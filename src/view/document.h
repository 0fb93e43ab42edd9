/*
 * document - the JSON documents of one run, as the wire contract spells them.
 *
 * evidence/4 keeps the order of the tables; summary/5, overview/1 and
 * trace-query/5 have all keys sorted bytewise at every depth. All are pretty
 * printed and end with a newline. Rows are streamed: nothing but the sink's
 * buffer is held.
 */
#ifndef CG_VIEW_DOCUMENT_H
#define CG_VIEW_DOCUMENT_H

#include "candlegraph/base.h"
#include "exec/questions.h"
#include "view/parts.h"

typedef struct document_query {
    uint32_t kind; /* CG_QUERY_ number; document.c does not see the public header */
    cg_str word;   /* as on the command line, echoed in `kind` */
    cg_str label;
    cg_str label_prefix;
    bool has_limit;
    uint64_t limit;
    uint64_t offset;
} document_query;

cg_code document_evidence(const evidence *from, cg_sink sink, cg_err *reterr) CG_MUST;
cg_code document_summary(const evidence *from, const document_input *input, cg_sink sink,
                         cg_err *reterr) CG_MUST;
cg_code document_overview(const evidence *from, const document_input *input, cg_sink sink,
                          cg_err *reterr) CG_MUST;
/*
 * Can it be answered, in whatever form? Some kinds need the derived graph, others a trace whose
 * spans and records are sound; what gradients came is told of a capture too whose only errors are
 * about gradients. Fails with PROBLEM_FILTER, PROBLEM_NO_GRAPH.
 */
cg_code document_query_check(const evidence *from, const document_query *query,
                             cg_err *reterr) CG_MUST;
cg_code document_query_write(const evidence *from, const document_input *input,
                             const document_query *query, cg_sink sink, cg_err *reterr) CG_MUST;

/* Answers that a page shows beside its island: page-answers/1, lists of 1000 rows at most. */
cg_code document_answers(const evidence *from, cg_sink sink, cg_err *reterr) CG_MUST;

typedef struct document_command {
    cg_str name;
    cg_str about;
} document_command;
cg_code document_protocol(heap *heap, const document_command *commands, size_t count, cg_sink sink,
                          cg_err *reterr) CG_MUST;

#endif
