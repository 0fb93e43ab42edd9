/*
 * shown_views - the document of a model's page, candle-graph/viewer/1, of the rows chosen.
 */
#ifndef CG_VIEW_SHOWN_VIEWS_H
#define CG_VIEW_SHOWN_VIEWS_H

#include "view/shown.h"

/* Write all of it to self->out; what fails is in self->out.code. */
void shown_write(shown_work *self);

#endif
