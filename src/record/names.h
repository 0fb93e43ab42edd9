/*
 * names - texts and layouts of a session by number.
 *
 * The definition of a number goes into the lane of the thread that asked for it, before the
 * number is handed out: whoever finds a record finds what it names.
 */
#ifndef CG_RECORD_NAMES_H
#define CG_RECORD_NAMES_H

#include "record/lane.h"

typedef struct names names;

names *names_make(void);
void names_free(names *self);
/* 0: too long, no memory, or no room in a ring that drops. Blank texts have the top bit set. */
cg_record_name names_text(cg_record *session, cg_str text);
cg_record_layout names_layout(cg_record *session, cg_str dtype, cg_str device,
                              const uint64_t *shape, uint32_t rank);

#endif
