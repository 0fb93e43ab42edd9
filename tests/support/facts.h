/*
 * facts - captures whose contract matters, also those that are not in order,
 * and documents as text.
 */
#ifndef CG_TESTS_SUPPORT_FACTS_H
#define CG_TESTS_SUPPORT_FACTS_H

#include "support/capture.h"

/* As capture_begin, with the contract's fields given (' stands for "). */
void facts_begin(capture *self, const char *contract);
/* As capture_complete and capture_failed; the result may be structurally invalid. */
evidence *facts_complete(capture *self, uint64_t end);
evidence *facts_failed(capture *self, uint64_t end);
/* A measured region, a closed span with everything that can be recorded, and its end at 100. */
void facts_rich(capture *self);

/* A sink that appends to a buf. */
cg_sink facts_sink(buf *to);

#endif
