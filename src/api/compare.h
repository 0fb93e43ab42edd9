/*
 * compare - a comparison behind its public handle.
 */
#ifndef CG_API_COMPARE_H
#define CG_API_COMPARE_H

#include "candlegraph/candlegraph.h"
#include "compare/comparison.h"

struct cg_comparison {
    heap heap; /* of the handle itself */
    comparison *of;
};

#endif
