/*
 * complaint - say what is wrong and go on, so that one run shows all of it.
 */
#ifndef CG_TESTS_SUPPORT_COMPLAINT_H
#define CG_TESTS_SUPPORT_COMPLAINT_H

#include "candlegraph/base.h"

extern unsigned complaints; /* how many there were; the first forty are printed */

void complain(const char *format, ...) CG_PRINTF(1, 2);

#endif
