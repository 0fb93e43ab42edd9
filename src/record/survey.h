/*
 * survey - the first pass over a spool: names and layouts as JSON, and how far each lane is sound.
 *
 * A stream is sound up to the first record that breaks a rule; what follows is not read again.
 * Texts that are given out are part of the converter.
 */
#ifndef CG_RECORD_SURVEY_H
#define CG_RECORD_SURVEY_H

#include "record/converter.h"

/* Failures are kept in the converter: has_no_memory, has_failed. */
void survey_spool(converter *self);

/* With its quotes; absent when there is none. */
cg_str name_json(const converter *self, uint32_t name);
/* For a place that must have a text. */
cg_str name_or_unknown(const converter *self, uint32_t name);
/* There, and not blank. */
bool name_is_label(const converter *self, uint32_t label);

/* NULL when there is none of this number. */
const layout_entry *layout_find(const converter *self, uint32_t layout);
/* Shape, dtype and device as fields of a record; the first two of them; those of a scalar. */
cg_str layout_text(const converter *self, const layout_entry *layout);
cg_str layout_shape_dtype(const converter *self, const layout_entry *layout);
cg_str layout_of_scalar(converter *self);

#endif
