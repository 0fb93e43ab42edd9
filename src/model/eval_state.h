/*
 * eval_state - what the files of the interpreter share: variables, alternatives, jumps, and which
 * file evaluates what.
 *
 * A variable is a cell; cells hang together from the newest to the oldest, closures keep the end of
 * the chain they saw. Assignments are written down while alternatives are open, so that each way
 * begins with the same variables and all can be joined afterwards.
 *
 * An expression that does not come back is VALUE_NEVER, and `state->jump` says where it went.
 * Nodes are always fetched by index: macros that are expanded move the trees.
 */
#ifndef CG_MODEL_EVAL_STATE_H
#define CG_MODEL_EVAL_STATE_H

#include "model/catalogue.h"
#include "model/eval.h"
#include "model/value_kinds.h"

#define NEAR_A_BUDGET 2u /* this part of it */
#define PLACE_STEPS   8u
#define WORK_OF_STEP  16u

typedef struct cell {
    sym name;
    val value; /* VALUE_REFERENCE: the variable is a `&mut` */
    uint32_t serial;
    uint32_t read, read_before; /* by state->clock; not by what only adds to it */
    uint32_t stamp;             /* working mark of who looks through the journal */
    struct cell *before;
} cell;

typedef struct place_step {
    sym field;      /* 0: an index */
    uint32_t index; /* of a list, tuple, entry of a map; UINT32_MAX: some item */
    bool is_inside; /* what is in the Option */
    bool is_each;   /* an item that stands for many: what is written is written to all */
} place_step;

/* Where something can be stored. */
typedef struct place_value {
    cell *root;
    uint32_t count;
    place_step steps[PLACE_STEPS];
} place_value;

enum jump_kind { JUMP_NONE, JUMP_ERROR, JUMP_RETURN, JUMP_BREAK, JUMP_CONTINUE };

/* A loop that is being walked. */
typedef struct loop_scope {
    struct loop_scope *around;
    sym label;
    val result;         /* of `break x`, joined */
    uint32_t condition; /* what all further rounds depend on, because one way may have left */
    bool is_left;       /* some way broke out */
    bool is_block;      /* a block with a label: only `break 'label` is for it */
} loop_scope;

struct frame {
    struct frame *caller;
    cell *top;
    item_ref function;
    module_ref module;
    file_ref file;
    type_bindings bindings;
    type_ref result; /* declared, 0 unknown */
    val returned;    /* by `return`, joined; 0 none yet */
    bool is_option;  /* `?` gives None back */
    loop_scope *loop;
    size_t first_pending;
    uint32_t node_behind; /* of the flow graph: made when some way had returned; 0: none had */
    cg_str behind;        /* the condition of that way */
    const val *args;      /* of the call, to see when nothing changes any more */
    size_t arg_count;
};

typedef struct journal_entry {
    cell *cell;
    val old;
} journal_entry;

/* Parameters recorded by a way that returned early: an alternative to the rest of the function. */
typedef struct pending_return {
    size_t begin, end;
    cg_str text;
} pending_return;

/* What is remembered about a node: what its path means, which type it is, which module it makes. */
typedef struct node_fact {
    name_def def;
    type_ref type;
    module_ref module;
    ast_ref expansion;
    bool has_def[3]; /* by name_space; only the last one asked for is kept */
    bool has_type, has_module;
    bool is_generic; /* the type mentions a parameter */
} node_fact;

typedef struct function_parameter {
    ast_ref pattern; /* 0: self */
    ast_ref type_node;
    bool is_self;
    bool is_reference; /* `&mut` */
} function_parameter;

typedef struct function_fact {
    const function_parameter *parameters;
    size_t parameter_count;
    const sym *generics; /* its own type parameters */
    size_t generic_count;
    ast_ref result;
    ast_ref body;
    bool is_heavy; /* it used up the budget of side work once in this evaluation */
} function_fact;

/* Known values of a type: model/eval_example. */
typedef struct example_list {
    val *at;
    size_t count;
    bool is_done;
} example_list;

typedef struct node_table {
    uint32_t *facts; /* by node; 0 none yet */
    size_t count;
} node_table;

#define WORDS(W)                                                                                   \
    W(SELF, "self")                                                                                \
    W(SELF_TYPE, "Self")                                                                           \
    W(SOME, "Some")                                                                                \
    W(NONE, "None")                                                                                \
    W(OK, "Ok")                                                                                    \
    W(ERR, "Err")                                                                                  \
    W(INDEX, "index")                                                                              \
    W(DEFAULT, "default")                                                                          \
    W(FROM, "from")                                                                                \
    W(INTO, "into")                                                                                \
    W(CLONE, "clone")                                                                              \
    W(NEW, "new")                                                                                  \
    W(DEREF, "deref")                                                                              \
    W(DEREF_MUT, "deref_mut")                                                                      \
    W(UNWRAP, "unwrap")                                                                            \
    W(EXPECT, "expect")                                                                            \
    W(BORROW_MUT, "borrow_mut")                                                                    \
    W(AS_MUT, "as_mut")                                                                            \
    W(LOCK, "lock")                                                                                \
    W(WRITE, "write")                                                                              \
    W(UNDERSCORE, "_")                                                                             \
    W(CFG, "cfg")                                                                                  \
    W(VEC, "vec")                                                                                  \
    W(STRINGIFY, "stringify")                                                                      \
    W(MATCHES, "matches")                                                                          \
    W(LET, "let")                                                                                  \
    W(NEXT, "next")                                                                                \
    W(INTO_ITER, "into_iter")

enum word {
#define W(name, text) WORD_##name,
    WORDS(W)
#undef W
        WORD_COUNT
};

/*
 * What an operator made of numbers of which one is one of several: loops in loops ask for the same
 * again and again. Of a number its expression counts, of a choice which value it is.
 */
typedef struct worked_out {
    uint64_t left, right;
    uint64_t work; /* counted for it */
    ast_ref node;
    file_ref file;
    uint32_t forgets; /* of the values, then */
    val result;       /* 0: nothing is remembered */
    uint8_t op;
} worked_out;

#define WORKED_OUT 64u

typedef struct eval_state {
    arena mem;  /* frames and cells of one evaluation */
    arena keep; /* facts about functions */
    sym words[WORD_COUNT];
    frame *frame;
    uint32_t nesting;
    uint32_t calls;
    uint64_t steps;
    uint64_t work;           /* of the values, when it was counted last */
    uint64_t share;          /* the most steps of this evaluation */
    uint64_t side_most;      /* the same while side work is done, see eval_call.c; 0 none */
    uint64_t side_spent;     /* by all of it */
    bool is_again;           /* between eval_again and the next eval_begin */
    bool is_building;        /* the function that was called first was given a builder */
    uint64_t spent;          /* by evaluations before this one */
    VEC(uint64_t) spent_for; /* by file: of these */
    file_ref owner;          /* of this evaluation */
    uint64_t code_size;      /* of the files that were counted */
    size_t counted_files;
    uint32_t fans; /* calls of any impl of a trait that are open */
    uint32_t cells;
    uint32_t stamp;
    uint32_t clock;
    uint32_t watching; /* alternatives and loops that are open */
    uint64_t rounds;   /* of all loops that are being unrolled, multiplied; less one */
    VEC(journal_entry) journal;
    VEC(pending_return) pendings;
    VEC(ast_ref) spine; /* stack of evaluate */
    uint8_t jump;       /* enum jump_kind, of the last VALUE_NEVER */
    sym jump_label;
    type_ref expected;     /* of the expression that is evaluated next; taken at once */
    bool is_cut;           /* the budget's fault was recorded */
    VEC(node_table) nodes; /* by file */
    VEC(node_fact) facts;
    VEC(function_fact *) functions; /* by item */
    VEC(val) constants;             /* by item, as the next: of this evaluation */
    VEC(example_list *) examples;
    VEC(item_ref) made;                /* whose constants and examples these are */
    VEC(function_fact *) heavy;        /* of this evaluation */
    bool is_collecting;                /* examples are being made */
    VEC(uint32_t) ran_in;              /* by item: the evaluation it was last run in, from 1 */
    bool is_near;                      /* a budget of side work was used up, or nearly so */
    worked_out worked_out[WORKED_OUT]; /* in this evaluation */
} eval_state;

/* --- variables: eval.c --- */

cell *cell_find(const frame *scope, sym name);
cg_code cell_add(eval *self, sym name, val with);
cg_code cell_assign(eval *self, cell *to, val with);
frame *frame_new(eval *self, const frame *like);
/* The value behind a reference; else the value. */
val eval_deref(eval *self, val which);
/* The function is run by this evaluation; false: out of memory. */
bool eval_ran(eval *self, item_ref function);
/* The item's constant or examples are of this evaluation, and go with it. */
cg_code eval_made(eval *self, item_ref item);
/*
 * eval_ways, the first way having begun before: what was recorded since `from` (NULL: nothing) is
 * what it takes to get there. A match on a Result is an example: the call was tried, and either
 * it went well or the other way was taken.
 */
cg_code eval_ways_from(eval *self, const trail_mark *from, size_t count, cg_str condition,
                       cg_code (*body)(void *context, size_t way, val *ret), void *context,
                       val *ret);
/* A fault that something was cut off; once per evaluation. */
cg_code eval_cut(eval *self, ast_ref node, const char *what);
model_place eval_place(const eval *self, ast_ref node);
/* `if cfg.bias`: word and the node's source text, white space folded. */
cg_str eval_source(eval *self, const char *word, ast_ref node);
node_fact *eval_fact(eval *self, file_ref file, ast_ref node);
cg_code eval_type(eval *self, ast_ref node, type_ref *ret);

/* --- what it is about: eval_name.c --- */

enum target_kind {
    TARGET_NONE,     /* not found: `path` is its text */
    TARGET_LOCAL,    /* a variable: value */
    TARGET_ITEM,     /* function, constant, struct, variant, macro */
    TARGET_MEMBER,   /* of a type: `Type::name`, not looked up yet */
    TARGET_TRAIT,    /* `Trait::name`: the receiver or what is wanted decides */
    TARGET_EXTERNAL, /* path */
    TARGET_WORD      /* Some, None, Ok, Err */
};

typedef struct target {
    uint8_t kind;
    enum word word;
    item_ref item;
    type_ref type;
    sym name;
    sym path;
    item_ref trait_item;
    val value;
    ast_ref arguments; /* type arguments of the last segment */
} target;

cg_code eval_target(eval *self, ast_ref path, target *ret);
/* The type a path names that stands before `::name`, or in a struct expression. */
cg_code eval_path_type(eval *self, ast_ref path, type_ref *ret);
/* A variant of an enum of read source, 0 none. */
item_ref eval_variant(const eval *self, type_ref type, sym name);
/* The canonical path of a type's member: `candle_nn::Linear::new`. */
sym eval_member_path(eval *self, type_ref type, sym name);
cg_code eval_target_value(eval *self, const target *target, ast_ref node, val *ret);
/* Declared types of a struct's or variant's positional and named fields. */
cg_code eval_item_fields(eval *self, item_ref item, type_ref owner, cg_str text, bool is_typed,
                         val *ret);

/* --- expressions --- */

cg_code evaluate(eval *self, ast_ref node, val *ret);
cg_code evaluate_block(eval *self, ast_ref block, val *ret);
/* Statements of a block or macro, without a scope of their own. */
cg_code evaluate_statements(eval *self, ast_ref first, val *ret);
/*
 * A condition: 1, 0 or -1; variables of `let` patterns are bound. *ret_never: it did not come
 * back.
 */
cg_code evaluate_condition(eval *self, ast_ref node, int *ret, bool *ret_never);
cg_code evaluate_macro(eval *self, ast_ref node, bool is_statement, val *ret);
cg_code evaluate_for(eval *self, ast_ref node, val *ret);
cg_code evaluate_while(eval *self, ast_ref node, val *ret);
cg_code evaluate_match(eval *self, ast_ref node, val *ret);
/*
 * What an iterator of read source gives: `next` as often as nobody knows, or what its `into_iter`
 * gives. *ret_known false: the value's type has neither.
 */
cg_code eval_own_items(eval *self, val iterable, bool *ret_known, val *ret);

/* --- operators: eval_number.c --- */

cg_code eval_binary(eval *self, enum ast_op op, val left, val right, ast_ref node, val *ret);
cg_code eval_unary(eval *self, enum ast_op op, val operand, ast_ref node, val *ret);
cg_code eval_cast(eval *self, val from, type_ref type, ast_ref node, val *ret);
val eval_literal(eval *self, ast_ref node);

/* --- places: eval_place.c --- */

/* Where the expression's value lies; false: nowhere that can be written to. */
bool spot_of(eval *self, ast_ref node, place_value *ret);
val spot_read(eval *self, const place_value *place);
cg_code spot_write(eval *self, const place_value *place, val value);
/* `&mut place` as a value; 0: out of memory. */
val eval_reference(eval *self, const place_value *place);
/* Two references as one, of lists at an index that nobody knows (values.join_places). */
val eval_either_place(values *self, const value *a, const value *b);
/* Is it written to where it lies? Numbers and tensors are blurred when they are lent. */
bool eval_is_lendable(const eval *self, val which);
/*
 * What lies at the place with its items as references to where they lie, so that what is done to
 * them is done there: containers, structures and options; not numbers and tensors.
 */
cg_code eval_lent(eval *self, const place_value *place, val *ret);
/* The same value with what lies behind the references in it; 0: out of memory. */
val eval_settled(eval *self, val which);

/* --- patterns: eval_pattern.c --- */

enum verdict { MATCH_NO, MATCH_MAYBE, MATCH_YES };

/* Does the value fit? Variables are bound as far as it does. */
cg_code eval_match(eval *self, ast_ref pattern, val value, enum verdict *ret);
/* Does `Ok(..)` or `Err(..)`, as asked for, stand in the pattern? */
bool pattern_has_word(const eval *self, ast_ref pattern, enum word word);
/* The first name a pattern binds, 0 none. */
sym pattern_name(const eval *self, ast_ref pattern);

/* --- calls: eval_call.c --- */

cg_code eval_function_fact(eval *self, item_ref function, const function_fact **ret);
/* Call by target with evaluated arguments. */
cg_code eval_target_call(eval *self, const target *target, const val *args, size_t count,
                         ast_ref node, val *ret);
/* `receiver` (a node, 0 none) is where the value came from; `arguments`: type arguments. */
cg_code eval_method_at(eval *self, val value, ast_ref receiver, sym name, ast_ref arguments,
                       const val *args, size_t count, model_place place, val *ret);
/* A library function or method nobody knows: unknown, and a fault when a builder is lost. */
cg_code eval_unknown_call(eval *self, cg_str name, type_ref type, const val *args, size_t count,
                          model_place place, val *ret);
/* Default::default() of a type. */
cg_code eval_default(eval *self, type_ref type, model_place place, val *ret);

/* --- eval_example.c --- */

/* A field of an unknown value: strings are also what the crate's own configurations say. */
cg_code eval_with_examples(eval *self, val of, sym field, val found, val *ret);

/* --- shared --- */

static inline const ast *eval_tree(const eval *self)
{
    return program_tree(self->program, self->state->frame->file);
}

static inline const ast_node *eval_node(const eval *self, ast_ref node)
{
    return ast_at(eval_tree(self), node);
}

/* Of a list: is it an attribute, or left out by those before it? One flag for the list. */
bool eval_is_left_out(const eval *self, ast_ref node, bool *has_attribute);

static inline bool eval_is_never(const eval *self, val which)
{
    return value_at(self->values, which)->kind == VALUE_NEVER;
}

static inline val eval_plain(const eval *self, enum value_kind kind)
{
    return value_plain(self->values, kind);
}

static inline sym eval_word(const eval *self, enum word word)
{
    return self->state->words[word];
}

/* A made value, or no memory. */
static inline cg_code eval_give(eval *self, val made, val *ret)
{
    *ret = made;
    return made ? CG_OK : err_nomem(self->reterr);
}

/* The way ends here. */
static inline cg_code eval_leave(eval *self, enum jump_kind jump, sym label, val *ret)
{
    self->state->jump = (uint8_t)jump;
    self->state->jump_label = label;
    *ret = eval_plain(self, VALUE_NEVER);
    return CG_OK;
}

#endif
