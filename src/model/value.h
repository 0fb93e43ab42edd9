/*
 * value - what the interpreter computes with: abstract values of Rust expressions.
 *
 * A value is an index; values never change and are shared freely. References, Box, Rc and Arc are
 * transparent, and so is Ok(x): a Result is its value, or VALUE_ERROR. What is not known is still
 * typed
 * where the source says the type, and carries the text it would be printed as, so that
 * `cfg.hidden_size` stays `cfg.hidden_size` all the way into a shape.
 */
#ifndef CG_MODEL_VALUE_H
#define CG_MODEL_VALUE_H

#include "model/expr.h"
#include "model/types.h"

typedef uint32_t val; /* 0: nothing yet, not a value */

enum value_kind {
    VALUE_NONE,
    VALUE_UNKNOWN, /* type, text */
    VALUE_NEVER,   /* of `return`, `panic!()`, `break`: the way ends here */
    VALUE_ERROR,   /* Err(_) */
    VALUE_UNIT,
    VALUE_BOOL,  /* number 0 or 1 when known, else text says the condition */
    VALUE_INT,   /* number: an expr; type: which integer, 0 if not known */
    VALUE_FLOAT, /* real when is_known; else text */
    VALUE_CHAR,
    VALUE_TEXT,    /* a string: pieces */
    VALUE_BUILDER, /* a VarBuilder: builder */
    VALUE_TENSOR,  /* number: node of the flow graph */
    VALUE_STRUCT,  /* type (an item, or a library's module such as candle_nn::Linear), fields */
    VALUE_ENUM,    /* type, variant name, fields (positional: names 0) */
    VALUE_SOME,    /* items[0] */
    VALUE_NOTHING, /* None */
    VALUE_TUPLE,   /* items */
    VALUE_LIST,    /* items; Vec, array, slice, iterator alike. An item may be VALUE_REPEAT */
    VALUE_REPEAT,  /* only inside lists: items[0] for every value of the index, count times */
    VALUE_RANGE,   /* items lo, hi (0 when open); is_inclusive */
    VALUE_MAP,     /* HashMap, BTreeMap: items key, value, key, value, ... */
    VALUE_LAZY,    /* an iterator nobody walked: items the iterable, arguments; lazy (std_lazy.h) */
    VALUE_CHOICE,  /* one of items, it is not known which; never nested, at most VALUE_CHOICES */
    VALUE_CLOSURE, /* closure */
    VALUE_FUNCTION, /* item with bindings, or a library function by path (text) */
    VALUE_TYPE,     /* a type as a value: `T` in `T::new` */
    VALUE_VARMAP,   /* candle_nn::VarMap; number: which one, by creation */
    VALUE_DTYPE,    /* text: `F32`, or the expression it came from when not is_known */
    VALUE_DEVICE,   /* text: `cpu`, `cuda`, `metal`, or an expression */
    VALUE_REFERENCE /* `&mut place`, only between model/eval* and the variables it keeps, and in the
                       items of what was lent (`iter_mut`, `last_mut`: eval_lent): reference. What
                       library functions get, and what functions give and places hold, is the value
                       behind it */
};

#define VALUE_CHOICES    16
#define VALUE_ITEMS_MOST UINT16_MAX /* a longer list is not known any more */
#define VALUE_TEXT_MOST  16384u     /* bytes of a string; the rest becomes a hole */

/* A string, or the dotted prefix of a builder: literal text and holes. */
typedef struct text_piece {
    cg_str text; /* the literal, or what stands for the hole: `i`, `cfg.name` */
    expr number; /* the hole is this integer; 0: a literal, or a hole that is a string */
    bool is_hole;
    uint8_t width; /* of a number: `{i:02}` has two places, 0: as many as it takes */
    char fill;     /* '0' or ' ' */
} text_piece;

typedef struct text_pieces {
    const text_piece *at;
    size_t count;
} text_pieces;

/* Where in the source: the byte range of a node. */
typedef struct model_place {
    file_ref file;
    uint32_t start, end;
    item_ref function; /* whose body holds it, 0 outside of functions */
} model_place;

/* One call that added to a builder's prefix. */
typedef struct builder_step {
    const struct builder_step *before;
    text_pieces added;
    model_place place;
    uint32_t serial; /* of all steps of the evaluation */
} builder_step;

/* What `rename` and `rename_f` put around a builder: names go through it, then into that one. */
typedef struct builder_rename {
    const struct builder_rename *inner; /* of the builder that was renamed; NULL: none */
    val renamer;                        /* a function of a name, or a Renamer */
    text_pieces prefix;                 /* of the builder that was renamed */
    bool has_prefix;
} builder_rename;

typedef struct builder_value {
    uint32_t root;            /* in the trail's roots: a parameter, or a builder made inside */
    text_pieces prefix;       /* joined: `encoder.layer.{i}` */
    const builder_step *last; /* NULL at the root */
    val dtype, device;        /* 0 unknown */
    uint32_t condition;       /* why it may be absent (evaluation's conditions), 0: it is there */
    uint32_t depth;           /* steps since the root */
    const builder_rename *rename; /* NULL: keys are what is asked for */
    bool is_quantized;
} builder_value;

typedef struct value_field {
    sym name; /* 0 positional */
    val value;
} value_field;

struct frame; /* eval.h: the variables a closure sees */

typedef struct closure_value {
    file_ref file;
    module_ref module;
    ast_ref node; /* AST_CLOSURE_EXPRESSION */
    struct frame *frame;
    item_ref function; /* it stands in */
    val self;
    type_bindings bindings;
} closure_value;

typedef struct value {
    uint8_t kind;
    bool is_known;
    bool is_inclusive;  /* VALUE_RANGE; of a VALUE_REPEAT: its index counts down; of a
                          VALUE_LIST: it is an array, no iterator */
    bool has_builder;   /* set by value_make: a builder, or one lies somewhere inside */
    uint16_t count;     /* of items or fields */
    bool has_reference; /* set by value_make: VALUE_REFERENCE, or one lies in its items or fields */
    bool is_settled;    /* VALUE_CHOICE: joining its items again gives the same ones */
    sym variant;        /* VALUE_ENUM; of a VALUE_LAZY the method; of a VALUE_REPEAT the method that
                           may have left some of its rounds out, 0: none did */
    type_ref type;
    cg_str text;
    union {
        uint64_t number;
        double real;
        const val *items;
        const value_field *fields;
        text_pieces pieces;
        const builder_value *builder;
        const closure_value *closure;
        struct {
            const val *items;
            sym symbol; /* VALUE_REPEAT */
            expr count;
        } repeat;
        struct {
            const val *items; /* VALUE_LAZY */
            const struct model_place *place;
            uint32_t depth; /* iterators inside, itself included */
        } lazy;
        struct {
            item_ref item;
            const type_bindings *bindings;
            val self; /* bound receiver, 0 */
        } function;
        const struct place_value *reference;
    } as;
} value;

#define VALUES_PAGE 512u /* values lie in pages: a pointer from value_at stays good */

/* The list that was appended to last: the next item goes behind it without a copy. */
typedef struct list_tail {
    val *items;
    uint32_t used, room;
} list_tail;

/* What the items of a list were joined to the last time: loops in loops ask again and again. */
typedef struct joined_list {
    const val *items; /* NULL: none yet */
    size_t count;
    val result;
    uint64_t work;   /* counted for it */
    bool has_tensor; /* a tensor of the flow graph is in it, which may be forgotten */
} joined_list;

typedef struct values {
    heap *heap;
    arena mem; /* texts, lists, builders of values */
    expr_pool *exprs;
    types *types;
    program *program;
    VEC(value *) pages;
    uint32_t count;
    uint64_t work; /* items and pieces copied so far: what the interpreter's budget counts too */
    list_tail tail;
    joined_list joined;
    uint32_t first; /* count when the evaluation began: numbers in names are counted from it */
    VEC(uint8_t) classes;           /* of type paths, by sym: value_kinds.h */
    val plain[VALUE_REFERENCE + 1]; /* unit, none, never, error: made once */
    val truth[2];
    /* Two tensors of the flow graph become one (model/flow); 0: they are not two tensors. */
    struct flow *flow;
    val (*join_tensors)(struct flow *flow, val a, val b);
    uint64_t tensor_joins; /* how often it was asked */
    /* Two places become one that is either (model/eval_place); 0: it cannot be said as one. */
    val (*join_places)(struct values *self, const value *a, const value *b);
    uint32_t forgets; /* numbers of values mean others since then */
} values;

/* What may be forgotten again, with everything made after it. */
typedef struct values_mark {
    uint32_t count;
    arena_place place;
} values_mark;

bool values_init(values *self, heap *from, expr_pool *exprs, types *over);
void values_free(values *self);

static inline const value *value_at(const values *self, val which)
{
    return &self->pages.at[which / VALUES_PAGE][which % VALUES_PAGE];
}

/*
 * Makers; 0 when out of memory. Lists, texts and the builder are copied, prefixes and steps are
 * not.
 */
val value_make(values *self, const value *shape);
val value_unknown(values *self, type_ref type, cg_str text);
val value_int(values *self, expr number);
val value_text(values *self, cg_str literal);
val value_list(values *self, enum value_kind kind, const val *items, size_t count);
/* A copy of a VALUE_LIST with one more item; in constant time when the list was made so. */
val value_append(values *self, val list, val item);
val value_struct(values *self, type_ref type, const value_field *fields, size_t count);
/*
 * What a parameter or field of this type is when nothing else is known: integers are symbols
 * named `text`, structs are unknown values whose fields will be named `text.field`, `Option<T>` is
 * a
 * choice, lists are repetitions of their element type (`{index}`), builders are roots the caller
 * makes.
 */
val value_of_type(values *self, type_ref type, cg_str text);
/*
 * Both ways are possible: equal values stay, structs of one type join field by field, else a
 * choice.
 */
val value_join(values *self, val a, val b);
/* The field, through choices and unknown values of a known type; 0 when there is none. */
val value_field_of(values *self, val of, sym name);
/* A copy with one field replaced. */
val value_with_field(values *self, val of, sym name, val value);
/* As it is printed in shapes, conditions and holes: `cfg.hidden_size`, `4`, `i + 1`. */
bool value_print(values *self, val which, cg_str *ret);
/* The integer, 0 when it is none. */
expr value_number(const values *self, val which);

#endif
