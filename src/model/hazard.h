/*
 * hazard - calls that can stop a run or spoil its numbers: what operations need, against what the
 * graphs of the entries say about their operands.
 *
 * A reader of entries (model/entry). One hazard per code and call in the scanned crate, whatever
 * the number of entries, loops and steps inside of a library's function that show it: the severest
 * impact and the strongest proof are kept. Everything is copied, the graphs may go.
 *
 *   hazards all;
 *   hazards_init(&all, eval, heap);
 *   entry_reader reader = {&all, hazards_read};     of model/hazard_read; entries run
 *   all.rows, then contract_findings(...)
 *   hazards_free(&all);
 *
 * Silence: what is done to tensors nobody knows is no hazard. Rows of operations say that it was
 * not known (model/dataflow), and `doctor` counts them.
 */
#ifndef CG_MODEL_HAZARD_H
#define CG_MODEL_HAZARD_H

#include "model/impact.h"

typedef struct hazard_operand {
    cg_str name;        /* `lhs`, `rhs`, `weight`, `args[1]` */
    cg_str label;       /* what it is: `sigmoid`, `x`, `fc.weight` */
    const cg_str *axes; /* as printed; `..` in front: any number of axes that are not known */
    size_t axis_count;
    uint8_t element;    /* enum flow_element */
    uint8_t device;     /* enum flow_device */
    cg_str device_name; /* FLOW_SAME_DEVICE: `vb.device()` */
} hazard_operand;

typedef struct hazard {
    uint8_t code;         /* enum rule */
    uint8_t need;         /* enum flow_need */
    uint8_t severity;     /* MODEL_FINDING_SEVERITY_ */
    uint8_t confidence;   /* MODEL_CONFIDENCE_ */
    uint8_t impact;       /* enum impact */
    bool is_size_certain; /* of a layout: no axis can be 1 */
    bool is_swapped;      /* of dtype-risk: the first operand's is the one that is not known */
    model_place place;
    cg_str operation;   /* canonical path of what fails */
    cg_str call;        /* of the library's function whose body it is in; absent: the call itself */
    const char *domain; /* what the operand can be, as a phrase; NULL: not about numbers */
    cg_str detail;      /* more for people; absent: none */
    hazard_operand operands[2];
    cg_str producer; /* what made the layout: canonical path, absent when not known */
    model_place producer_place;
    VEC(uint32_t) entries; /* items of the functions it was met from */
} hazard;

/*
 * A call without a kernel if its tensors lie on the CPU (and are BF16), which the function does not
 * say: whoever makes the component may.
 */
typedef struct hazard_guess {
    hazard what;          /* without entries */
    item_ref function;    /* of the entry */
    item_ref constructor; /* of the component, 0: none */
    cg_str device_root;   /* `vb`: it lies where that builder puts it; absent: nobody says */
    cg_str dtype_root;    /* has the dtype of that builder; absent: it is known */
} hazard_guess;

typedef struct hazards {
    heap *heap;
    arena mem;
    arena work; /* of one entry */
    const eval *eval;
    VEC(hazard) rows;   /* in the order they were met */
    number_map by_call; /* file and place -> first row there + 1 */
    VEC(uint32_t) next; /* by row: 1 + the next one of the same key */
    VEC(hazard_guess) guesses;
} hazards;

void hazards_init(hazards *self, const eval *interpreter, heap *from);
void hazards_free(hazards *self);

#endif
