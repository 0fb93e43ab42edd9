/*
 * shown_flow - the data flow of one phase on the page of a model: functions, tensors, operations.
 */
#ifndef CG_VIEW_SHOWN_FLOW_H
#define CG_VIEW_SHOWN_FLOW_H

#include "view/shown.h"

/* A phase of the document in the making. */
typedef struct flow_part {
    shown_work *of;
    const model_flow *flow;
} flow_part;

/* Its lists, which are written when the document is; `part` must stay until then. */
doc_shown_flow shown_flow_of(const flow_part *part);

#endif
