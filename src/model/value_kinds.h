/*
 * value_kinds - what is known about types by their path, and values compared, typed and renamed.
 */
#ifndef CG_MODEL_VALUE_KINDS_H
#define CG_MODEL_VALUE_KINDS_H

#include "model/value.h"

/* What the interpreter has to know about a type that is no item of read source. */
enum type_class {
    CLASS_UNSEEN,
    CLASS_OTHER,
    CLASS_OPTION,
    CLASS_RESULT,
    CLASS_WRAPPER, /* Box, Rc, Arc, RefCell, ...: transparent */
    CLASS_LIST,
    CLASS_MAP,
    CLASS_TEXT,
    CLASS_INT,
    CLASS_FLOAT,
    CLASS_BOOL,
    CLASS_CHAR,
    CLASS_TENSOR,
    CLASS_DTYPE,
    CLASS_DEVICE,
    CLASS_BUILDER,
    CLASS_VARMAP
};

/* Of an external or primitive type, else CLASS_OTHER. */
enum type_class value_class(values *self, type_ref type);
/* Through Result, Box, Arc, ... but not through Option. */
type_ref value_transparent(values *self, type_ref type);
/* Is it a VarBuilder: candle's, or a struct of that name in read source? */
bool value_is_builder_type(values *self, type_ref type);
/* The type a value has, 0 when nothing tells it. */
type_ref value_type(values *self, val which);
/* Certainly the same at run time. */
bool value_equal(const values *self, val a, val b);
/* What value_join makes of one after the other. 0: there are none, or no memory. */
val value_join_all(values *self, const val *items, size_t count);
/* The same for the items of a list; of a repetition its item. */
val value_join_items(values *self, const value *list);
/* A value that says nothing about itself becomes what `type` says. */
val value_with_type(values *self, val which, type_ref type);
/* Every occurrence of the symbol replaced, in numbers, texts and what holds them. */
val value_substitute(values *self, val which, expr symbol, expr by);
/* `name`, or `name.more`, in the memory of the values. */
bool value_name(values *self, cg_str text, const char *between, cg_str more, cg_str *ret);

/* Values made after the mark are forgotten; none of them may be used again. */
values_mark values_position(const values *self);
void values_forget(values *self, values_mark mark);

static inline val value_plain(const values *self, enum value_kind kind)
{
    return self->plain[kind];
}

static inline enum value_kind value_kind_of(const values *self, val which)
{
    return (enum value_kind)value_at(self, which)->kind;
}

/* 1 true, 0 false, -1 not known. */
static inline int value_truth(const values *self, val which)
{
    const value *at = value_at(self, which);

    return at->kind == VALUE_BOOL && at->is_known ? at->as.number != 0 : -1;
}

#endif
