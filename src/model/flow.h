/*
 * flow - what tensors are made of: a graph that grows while the interpreter runs.
 *
 * NODES. One node is one tensor. Numbers ascend in the order of evaluation, so an operand always
 * has a smaller number than the result, except around FLOW_LOOP nodes. Nodes that only a trial
 * round of a loop made are `is_forgotten`: skip them, nothing alive is made of them.
 *
 *   FLOW_PARAMETER  a builder was asked for it: `parameter` has root and key as the trail has them
 *   FLOW_INPUT      a parameter of the function that is run, or a field nobody set: `name`
 *   FLOW_CONSTANT   made from sizes and numbers: Tensor::zeros, from_vec. `is_variable`: a Var
 *   FLOW_OPERATION  `row` says which; `name` is the canonical path as resolved
 *   FLOW_JOIN       one of its operands, it is not known which (if, match)
 *   FLOW_LOOP       a variable at the beginning of a round: what it was before the loop
 *                   (FLOW_BEFORE), or what the round before left (FLOW_CARRIED, an edge from a
 *                   larger number); behind the loop the same node stands for the variable
 *   FLOW_UNKNOWN    `name` says what was not understood: `rope_kernel(q)`. Operands are kept: the
 *                   chain is never lost, only what happens in between
 *
 * A node stands at `place`: the call as written in read source; `place.function` is the function
 * whose body holds it. Nodes whose `body` is not 0 are steps inside of a function of the library
 * (binary_cross_entropy_with_logit): `body` is the node of the call, the place is the call's. They
 * exist for numbers only; the call has a FLOW_BODY edge from the last of them.
 * `is_conditional`: it was made on one of several ways (`condition`) or behind one that may have
 * left. What fails there fails only when that way is taken: never more than conditional.
 *
 * EDGES go from operand to result and are kept at the result: flow_edges(graph, n, &count).
 * `passes` says whether a gradient can come back along the edge:
 *
 *   FLOW_PASSES   yes
 *   FLOW_SEVERED  no: the operation has no backward step, or the result is integer, or the operand
 *                 is an index or a mask, or its numbers went through host memory (FLOW_HOST)
 *   FLOW_DEPENDS  on how the operand lies in memory, which is not known; where it is known the
 *                 edge says FLOW_PASSES or FLOW_SEVERED
 *   FLOW_FAILS    backward() returns an error here: loud, so not a cut
 *   FLOW_UNSURE   the operation is not known
 *
 * GRADIENT CUTS. Walk backwards from the losses (or the outputs):
 *
 *   uint8_t *reach;                       for every node: FLOW_REACHED, FLOW_MAYBE, FLOW_CUT,
 *   flow_reach(graph, losses, count, mem, &reach)         FLOW_APART
 *
 * A FLOW_PARAMETER (not is_running_state) is still trained when REACHED, severed when CUT, severed
 * on some condition when MAYBE, and has nothing to do with the loss when APART. The calls to name:
 *   for CUT   nodes with a FLOW_SEVERED edge from a node that is CUT and carries (FLOW_YES): the
 *             gradient got as far as there from the loss's side, the parameter's side is lost
 *   for MAYBE nodes that are REACHED with a FLOW_DEPENDS edge from a node that is MAYBE
 * flow_severing(graph, n) is the condition word (`always`, `contiguous_input`,
 * `contiguous_input_with_bias`, `host_values`, ...), operation_alternative(row) the twin that has a
 * gradient. FLOW_BODY edges are not walked.
 *
 * FACTS of a node: flow_facts, and flow_dtype. Unknown is always said, never guessed. They get
 * better until the evaluation is over: call flow_settle once before reading.
 *
 * REQUIREMENTS. What an operation needs and what was found, in the order of nodes; see enum
 * flow_need. Kept are all about numbers, and of the others those that do not hold. CHECK_FAILS is
 * proven by facts, CHECK_UNKNOWN means that a fact is missing. Those of forgotten nodes are void.
 *
 * PHASES. The training flag is data (`train`): both phases have this graph. For inference take
 * every edge for severed.
 *
 *   flow *graph;
 *   flow_new(eval->values, eval->trail, heap, &graph);
 *   eval->flow = graph;
 *   ... run the constructor ...                     parameters become nodes
 *   flow_mark base = flow_position(graph);
 *   for every entrypoint: eval_call(...); flow_settle(graph, base); read; flow_reset(graph, base);
 *   flow_free(graph);
 *
 * Whoever holds values made after `base` must not use their nodes after flow_reset. Symbols
 * outlive the graph; texts live in its arena and go with the reset.
 */
#ifndef CG_MODEL_FLOW_H
#define CG_MODEL_FLOW_H

#include "base/number_map.h"
#include "model/interval.h"
#include "model/operation.h"
#include "model/trail.h"

typedef uint32_t node_ref; /* 0: none */

#define FLOW_AXES 8u /* of a tensor that is followed; what has more is of unknown rank */

enum flow_kind {
    FLOW_NONE,
    FLOW_PARAMETER,
    FLOW_INPUT,
    FLOW_CONSTANT,
    FLOW_OPERATION,
    FLOW_JOIN,
    FLOW_LOOP,
    FLOW_UNKNOWN,
};

enum flow_role {
    FLOW_SELF, /* the receiver, or the first argument of a function */
    FLOW_LHS,  /* of + - * / and the methods of these names */
    FLOW_RHS,
    FLOW_ARGUMENT, /* `index` says which, from 0, the receiver not counted */
    FLOW_ITEM,     /* of a list: cat, stack; `index` */
    FLOW_MODULE,   /* a tensor the layer keeps: `name` is its field, `weight` */
    FLOW_WAY,      /* of a join; `index` */
    FLOW_BEFORE,
    FLOW_CARRIED,
    FLOW_HOST, /* the numbers of it were read into host memory: to_vec1, to_scalar, ... */
    FLOW_BODY,
};

enum flow_pass { FLOW_PASSES, FLOW_SEVERED, FLOW_DEPENDS, FLOW_FAILS, FLOW_UNSURE };

typedef struct flow_edge {
    node_ref from;
    sym name; /* FLOW_MODULE: the field */
    uint8_t role;
    uint8_t passes;
    uint16_t index;
} flow_edge;

enum flow_element {
    ELEMENT_UNKNOWN,
    ELEMENT_U8,
    ELEMENT_U32,
    ELEMENT_I16,
    ELEMENT_I32,
    ELEMENT_I64,
    ELEMENT_BF16,
    ELEMENT_F16,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_F8E4M3,
};

enum flow_layout { FLOW_ANY_LAYOUT, FLOW_CONTIGUOUS, FLOW_STRIDED };
/*
 * How it is strided: only the last two axes swapped, an axis of the batch moved, spread over new
 * axes, a piece of every row of the first axis (contiguous when there is one row), else.
 */
enum flow_stride {
    STRIDE_NONE,
    STRIDE_MATRIX,
    STRIDE_BATCH,
    STRIDE_SPREAD,
    STRIDE_ROWS,
    STRIDE_OTHER
};
enum flow_device { FLOW_ANY_DEVICE, FLOW_CPU, FLOW_CUDA, FLOW_METAL, FLOW_SAME_DEVICE };
enum flow_answer { FLOW_NO, FLOW_YES, FLOW_PERHAPS };

typedef struct flow_facts {
    expr axes[FLOW_AXES]; /* 0: not known. Without has_rank the last `rank` axes are known */
    uint8_t rank;
    bool has_rank;
    uint8_t layout;  /* enum flow_layout */
    uint8_t device;  /* enum flow_device */
    uint8_t carries; /* enum flow_answer: does a trainable parameter reach it over passing edges? */
    sym device_name; /* FLOW_SAME_DEVICE: the expression, `x.device()` */
    uint8_t stride;  /* enum flow_stride */
    node_ref strided_by; /* FLOW_STRIDED: the call that made it so (transpose, narrow, ...) */
    uint32_t dtype;      /* class: see flow_dtype */
    interval domain;
    val scalar; /* the number all elements are, 0: none known */
} flow_facts;

/* A parameter: what the trail knows of it, by content. Equal root and key: the same node. */
typedef struct flow_parameter {
    uint32_t root; /* trail_root */
    text_pieces key;
    cg_str printed;
    bool is_running_state; /* never trained */
} flow_parameter;

typedef struct flow_node {
    uint8_t kind;
    bool is_forgotten;
    bool is_conditional; /* under a condition of the trail: `condition` */
    operation row;
    uint16_t part; /* which of the tensors the call gives: chunk, split */
    sym name;
    sym condition; /* text, 0 none */
    sym repeat;    /* text `i in 0..n`, 0: outside of loops */
    node_ref body;
    val compared; /* of a comparison: the number, 0 none */
    uint32_t first_edge, edge_count;
    int8_t rank_step; /* rank = rank of edge 0 + this, when has_rank_link */
    bool has_rank_link;
    bool is_same_shape; /* the sizes are those of edge 0 too */
    bool is_variable;   /* a Var made here: a trained leaf that no builder knows */
    const flow_parameter *parameter;
    model_place place;
    model_place inside; /* of a call in a dependency: where it stands there; file 0: in none */
    flow_facts facts;
} flow_node;

enum flow_need {
    /* log, pow: operand > 0. FAILS: 0 or less can occur. UNKNOWN: its numbers are not known */
    FLOW_NEED_POSITIVE,
    FLOW_NEED_NONNEGATIVE, /* sqrt: operand >= 0 */
    /* divisors, recip: operand is not 0. operand 0: the divisor is the number 0 itself */
    FLOW_NEED_NONZERO,
    /* no 0 times a logarithm that can be infinite: operand is the 0, other the log. FAILS only */
    FLOW_NEED_FINITE,
    /*
     * Operands have one dtype. FAILS: two known ones differ (conflict). UNKNOWN: one is known, the
     * other is not (risk)
     */
    FLOW_NEED_DTYPE,
    FLOW_NEED_SHAPE,   /* operands fit. FAILS: sizes that can never be equal; `text` has both */
    FLOW_NEED_DEVICE,  /* operands are on one device. FAILS: two known ones differ */
    FLOW_NEED_LAYOUT,  /* operand lies as needed. FAILS: strided; other is the call that did it */
    FLOW_NEED_KERNEL,  /* dtype and device have a kernel. FAILS: `text` says what has none */
    FLOW_NEED_INTEGER, /* ids and conditions are integers. FAILS: they are floats */
    FLOW_NEED_RANK,    /* operand has the rank the operation wants. FAILS: it has another */
    FLOW_NEED_COUNT
};

typedef struct flow_requirement {
    node_ref node;
    node_ref operand;      /* the one it is about */
    node_ref other;        /* the one it does not fit to, 0 */
    uint8_t need;          /* enum flow_need */
    uint8_t result;        /* enum check */
    bool is_assumed;       /* holds because an `eps` is taken for positive */
    node_ref open_operand; /* DTYPE, UNKNOWN: whose dtype was not known when it was met */
    bool is_named;         /* and is said to be that of something: `vb.dtype()` */
    cg_str call;       /* of a call that makes no tensor, `candle_core::Tensor::dims3`: its path, */
    model_place place; /* and where it stands; absent: `node` is the call */
    cg_str text;       /* for people: `(b, 768) and (1024, 4)`; absent when the facts say it all */
} flow_requirement;

typedef struct flow_class { /* of dtypes that are equal */
    uint32_t parent;
    uint8_t element;
    sym source; /* who names it: `vb.dtype()`, `x.dtype()`; 0 nobody */
} flow_class;

typedef struct flow_class_change {
    uint32_t which;
    flow_class before;
} flow_class_change;

typedef struct flow_memo { /* what stood under a key of by_name or by_pair before */
    uint64_t key;
    uint32_t before;
    bool is_pair;
} flow_memo;

typedef struct flow_host_read { /* numbers that left a tensor: `x.to_vec1()` */
    node_ref node;
    cg_str text;
    sym name; /* canonical path of the call */
    model_place place;
} flow_host_read;

typedef struct flow {
    heap *heap;
    arena mem;
    values *values;
    trail *trail;
    program *program;
    VEC(flow_node) nodes; /* 0 unused */
    VEC(flow_edge) edges;
    VEC(flow_class) classes;        /* 0: nothing known */
    VEC(flow_class_change) journal; /* what to undo when marks are reset, like the next */
    VEC(flow_memo) memos;
    VEC(flow_requirement) requirements;
    VEC(flow_host_read) host_reads;
    VEC(node_ref) lost; /* given to calls that nobody follows: they may do anything with them */
    VEC(uint32_t) uncovered; /* names (sym) of candle's calls no row has, once per call */
    number_map by_name;      /* inputs and parameters; 0: none */
    number_map by_pair;      /* joins; 0: none */
    number_map rows;         /* canonical path (sym) -> operation */
    arena calls;             /* room of operations that are done: flow_call.h */
    struct flow_call *ended_calls;
    uint32_t ways;    /* alternatives that are being walked, inside each other */
    bool is_widening; /* joins are made for the next round of a loop */
    bool failed;      /* out of memory somewhere: ask once */
} flow;

bool flow_new(values *over, trail *of, heap *from, flow **ret);
void flow_free(flow *self);

typedef struct flow_mark {
    uint32_t nodes, edges, classes, journal, memos, requirements, uncovered, host_reads, lost;
    arena_place place;
} flow_mark;

flow_mark flow_position(const flow *self);
/* Everything made after the mark is gone. */
void flow_reset(flow *self, flow_mark mark);
/* A trial round is over: what it made is marked. Numbers stay valid. */
void flow_forget(flow *self, flow_mark mark);

static inline const flow_node *flow_at(const flow *self, node_ref which)
{
    return &self->nodes.at[which];
}

static inline const flow_edge *flow_edges(const flow *self, node_ref of, size_t *ret_count)
{
    *ret_count = self->nodes.at[of].edge_count;
    return self->edges.at + self->nodes.at[of].first_edge;
}

/*
 * The node of a tensor-like value (also Some, choices, unknown ones), 0: it is none. Made when it
 * has none yet.
 */
node_ref flow_of(flow *self, val which);
/*
 * The dtype, ELEMENT_UNKNOWN when not known. *ret_source: who it is equal to, `vb.dtype()`, 0
 * nobody; also set when the dtype is known. `F32`, `BF16`: flow_element_name.
 */
enum flow_element flow_dtype(const flow *self, node_ref of, sym *ret_source);
const char *flow_element_name(enum flow_element which);
/* By that name; ELEMENT_UNKNOWN when it is none. */
enum flow_element flow_element_of(cg_str name);
/* `(b, 12, cfg.hidden_size)`, `(.., 768)` without a rank, `?`; in the arena. */
cg_str flow_shape_text(flow *self, node_ref of);
/* Why no gradient comes back through it; NULL: it does. */
const char *flow_severing(const flow *self, node_ref of);
/*
 * Facts follow from each other in both directions; requirements are looked at again. After an
 * evaluation.
 */
bool flow_settle(flow *self, flow_mark since);

enum flow_reached { FLOW_APART, FLOW_CUT, FLOW_MAYBE, FLOW_REACHED };

/*
 * From which nodes these are made: ret[n] for every node. FLOW_REACHED: over passing edges only;
 * FLOW_MAYBE: FLOW_DEPENDS or FLOW_UNSURE on every way; FLOW_CUT: every way is severed; FLOW_APART:
 * no way.
 * Time and memory O(nodes + edges).
 */
bool flow_reach(const flow *self, const node_ref *from, size_t count, arena *mem, uint8_t **ret);

#endif
