/*
 * join_item - what a document says of an item: id, name, where it belongs, where it is written.
 *
 * A layer has no id and is no item of a document; its parameters are.
 */
#ifndef CG_JOIN_JOIN_ITEM_H
#define CG_JOIN_JOIN_ITEM_H

#include "join/declared.h"

typedef struct join_item {
    cg_str id;
    uint8_t kind;
    cg_str name;
    cg_str component; /* id; absent: of none */
    cg_str module;    /* path of the module or layer around it; absent: nobody knows */
    const model_location *location;
} join_item;

join_item join_item_of(const declared *from, uint32_t item);

/* The path a parameter's key stands below; empty: none. */
cg_str join_item_layer(cg_str key);

#endif
