/*
 * std_handlers - every handler that std_functions.def names, and how the tables are asked.
 */
#ifndef CG_MODEL_STD_HANDLERS_H
#define CG_MODEL_STD_HANDLERS_H

#include "model/std_call.h"

/* What a value is to the tables of methods. */
enum std_family {
    STD_ANY, /* every value, after its own family; also Result, whose Ok is its value */
    STD_OPTION,
    STD_BOOL,
    STD_INT,
    STD_FLOAT,
    STD_CHAR,
    STD_TEXT,
    STD_LIST, /* collections and iterators */
    STD_MAP,
    STD_UNKNOWN, /* nothing says what it is */
    STD_FAMILY_COUNT
};

/*
 * Run the row of this family, or of STD_ANY; a call without a row stays unknown. Choices are not
 * taken apart.
 */
cg_code std_run(library_call *call, enum std_family family);
/* A method of another value while a call is answered; unknown ones give an opaque value. */
cg_code std_run_on(library_call *call, val receiver, const char *name, const val *args,
                   size_t count, val *ret);
/*
 * An iterable as VALUE_LIST; when it is one repetition over an index, the index is called as the
 * closure's parameter is.
 */
cg_code std_items(library_call *call, val iterable, val closure, val *ret);
/* `iter`, `into_iter`, ...: as an iterator, that is a list without type. */
val std_list_of(eval *self, type_ref type, const val *items, size_t count);
/* A finished collection. */
val std_vec_of(eval *self, const val *items, size_t count);
/* The collection as one of this type has it: a BTreeMap and a BTreeSet in order; 0: no memory. */
val std_ordered(eval *self, val which, type_ref type);
/* A list whose type is a collection, as opposed to an iterator. */
bool std_is_collection(const eval *self, val list);
/* The receiver afterwards: item k is any of them, and if not `is_whole` some have gone. */
cg_code list_scatter(library_call *call, bool is_whole);
/* What `Default::default()` is printed as when nothing says of which type. */
#define STD_DEFAULT "Default::default()"
/* The default value of a type; 0: not known. */
val std_default(eval *self, type_ref type);

#define METHOD(family, name, handler) cg_code handler(library_call *call);
#define FUNCTION(name, handler)       cg_code handler(library_call *call);
#define CONSTANT(name, number)
#include "model/std_functions.def"
#undef METHOD
#undef FUNCTION
#undef CONSTANT

#endif
