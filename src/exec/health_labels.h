/*
 * health_labels - rules 41 to 48: labels that must occur, and which of two classes they are of.
 */
#ifndef CG_EXEC_HEALTH_LABELS_H
#define CG_EXEC_HEALTH_LABELS_H

#include "exec/health_issues.h"

/* Where a label is listed. */
enum { LABEL_REQUIRED = 1, LABEL_GPU = 2, LABEL_CPU = 4, LABEL_CLASSES = LABEL_GPU | LABEL_CPU };

/* False: no memory. */
bool health_check_labels(check *self);

#endif
