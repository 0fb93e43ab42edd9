/*
 * trail - what an evaluation came across, in order: parameters asked for, modules built, builders
 * made and
 * used up, calls that could not be followed.
 *
 * Entries carry how certain they are. While alternatives are evaluated, the trail is marked before
 * each and
 * joined after all: an entry found on every way (same root, key) stays as certain as its least
 * certain
 * occurrence and stands once, all others become conditional.
 */
#ifndef CG_MODEL_TRAIL_H
#define CG_MODEL_TRAIL_H

#include "base/number_map.h"
#include "model/value.h"

/* A repetition the interpreter is inside of. */
typedef struct trail_repeat {
    uint32_t around; /* enclosing repeat, 0 none */
    sym symbol;      /* index name as printed in holes */
    expr count;      /* 0 unknown */
    cg_str text;     /* `i in 0..n`, as model/1 prints it */
} trail_repeat;

/*
 * A module instance: the component's own (1), and each call of a constructor of a read type with a
 * builder.
 */
typedef struct trail_instance {
    uint32_t parent; /* 0 for the component's own */
    type_ref type;
    item_ref constructor;
    sym field;     /* of the parent that receives it; set afterwards when a binding leads there */
    uint32_t root; /* builder root */
    text_pieces prefix;
    uint32_t repeat;
    uint32_t condition;
    model_place place; /* of the call */
    val result;        /* set when the call returned */
    const val *args;   /* of the call, the receiver first; NULL for the component's own */
    uint32_t arg_count;
} trail_instance;

typedef struct trail_parameter {
    uint32_t instance;
    uint32_t root;
    text_pieces key; /* whole, dotted */
    const builder_step *last;
    const expr *shape; /* axes; an axis 0 is unknown */
    uint32_t rank;
    bool has_shape;
    bool is_mixed;     /* shapes of different ranks came together: none is given */
    cg_str shape_text; /* when the rank is unknown but a text can be shown; else absent */
    val dtype;         /* 0: the builder's */
    val device;        /* of the builder, 0 when nobody says it */
    cg_str how;        /* as written: `candle_nn::linear`, `get` */
    sym library;       /* canonical path of the catalogue row, 0 for a raw get */
    uint32_t repeat;
    uint32_t condition; /* 0: certain */
    model_place place;  /* of the registering call in the crate */
    item_ref via; /* function that the root's owner called to get here; 0: its own code asks */
    cg_str alternative; /* last part of the key that is taken instead when the checkpoint has
                            it: `gamma` for `weight`; absent mostly */
    bool is_running_state;
    uint64_t hash; /* of root and key; trail_add_parameter's own */
} trail_parameter;

/*
 * A builder root: a parameter of the constructor, or one made inside (from_varmap,
 * from_mmaped_safetensors).
 */
typedef struct trail_root {
    cg_str name;    /* not copied: lives as long as whoever made the root wants to know it */
    uint8_t source; /* enum builder_source */
    item_ref owner; /* function it is made in or, by a helper that gives it back, for; 0: none */
    val varmap;
    bool is_optional;
    bool is_quantized; /* what comes from it is never trained */
    bool is_rekeyed;   /* made of a map of tensors that is not a file's as it was read */
    val dtype;
    model_place place;
} trail_root;

/* Of a key that went through a renamer nobody could follow. */
#define BUILDER_RENAMED_CONDITION "keys are renamed"

enum builder_source {
    BUILDER_PARAMETER,
    BUILDER_VARMAP,
    BUILDER_MMAP,
    BUILDER_TENSORS,
    BUILDER_BUFFERED,
    BUILDER_OTHER
};

/* Something that could not be followed, or is wrong; becomes a finding. */
typedef struct trail_fault {
    const char *rule; /* structure-unresolved, analysis-budget, ... */
    cg_str message;
    model_place place;
    uint32_t instance;
} trail_fault;

/* A variable, or a field of one, that holds a map of variables or a module at some moment. */
typedef struct trail_holder {
    cg_str name; /* `maps.head` */
    val held;
} trail_holder;

/*
 * A call that took part in optimizer or map handling: VarMap::new, load, save, AdamW::new(vars,
 * ...).
 */
typedef struct trail_event {
    uint8_t kind; /* enum trail_event_kind */
    val subject, detail;
    uint32_t condition;
    uint32_t parameters; /* how many parameters had been registered when it happened */
    model_place place;
    const trail_holder *holders; /* of OPTIMIZER and VARMAP_LOAD: see model/holders.h */
    uint32_t holder_count;
} trail_event;

enum trail_event_kind {
    EVENT_VARMAP_LOAD,
    EVENT_OPTIMIZER,
    EVENT_VARMAP_SAVE,
    EVENT_BACKWARD,
    EVENT_BUILDER_FROM_VARMAP,
    EVENT_VARMAP_TOUCHED /* something else was put into it, or may have been */
};

typedef struct trail {
    heap *heap;
    arena mem;
    VEC(trail_root) roots; /* 0 unused, as in the following */
    VEC(trail_instance) instances;
    VEC(trail_parameter) parameters;
    VEC(trail_repeat) repeats;
    VEC(cg_str) conditions;         /* texts: `if cfg.bias`, `match cfg.activation` */
    VEC(builder_step) unused_steps; /* from 0; no step of the same place was ever used */
    VEC(trail_fault) faults;
    VEC(trail_event) events;
    uint32_t steps;    /* builder steps made so far: the serial of the last one */
    uint32_t instance; /* the current ones */
    uint32_t repeat;
    uint32_t condition;
    model_place outside;    /* the call by which the scanned crate was left; file 0: it is not */
    number_map used_places; /* (file, end) of steps that were used */
} trail;

bool trail_init(trail *self, heap *from);
void trail_reset(trail *self);
void trail_free(trail *self);

/*
 * Each: false (0) when out of memory. Certainty, repeat and instance are the current ones; a
 * condition
 * of the entry itself, or an optional root, makes it conditional too. The same fault at the same
 * place
 * is kept once.
 */
bool trail_add_parameter(trail *self, const trail_parameter *entry);
bool trail_add_fault(trail *self, const char *rule, model_place place, const char *format, ...)
    CG_PRINTF(4, 5);
uint32_t trail_add_instance(trail *self, const trail_instance *entry);
uint32_t trail_add_root(trail *self, const trail_root *entry);
uint32_t trail_add_condition(trail *self, cg_str text);
uint32_t trail_add_repeat(trail *self, const trail_repeat *entry);
bool trail_add_event(trail *self, const trail_event *entry);
/*
 * A step was made (pp), and a step was used by a registration, by being handed to something
 * unknown, or further prefixed.
 */
bool trail_step_made(trail *self, const builder_step *step);
void trail_step_used(trail *self, const builder_step *step);

/* Alternatives: mark before the first, then between ways, then join. */
typedef struct trail_mark {
    size_t parameters, instances, faults, events;
} trail_mark;

trail_mark trail_position(const trail *self);
/* Forget what was recorded after the mark: it will be recorded again, with other values. */
void trail_forget(trail *self, trail_mark mark);
/* Bring the parameters from spans[0].start to the last one's end into the order of the spans. */
typedef struct trail_span {
    size_t start, end;
} trail_span;
bool trail_arrange(trail *self, size_t begin, const trail_span *spans, size_t count);
/*
 * marks[0..ways] are the positions before each way and after the last. `returns[i]` false: that
 * way never comes back
 * (an error, a panic), it does not count as an alternative but what it asked for stays,
 * conditional.
 */
bool trail_join(trail *self, const trail_mark *marks, size_t ways, const bool *returns,
                cg_str condition);

#endif
