/*
 * os_parallel - the same work on many items, on several threads.
 */
#ifndef CG_BASE_OS_PARALLEL_H
#define CG_BASE_OS_PARALLEL_H

#include "candlegraph/base.h"

#define OS_PARALLEL_MOST 8

/* Threads that are worth starting on this machine, 1 ... OS_PARALLEL_MOST. */
unsigned os_parallel_width(void);

/*
 * Call work(context, worker, item) once for each item 0 ... count - 1, in ascending order as
 * workers become free; worker is 0 ... workers - 1. The caller's thread is worker 0. Threads that
 * cannot be started are done without. Returns when all items are done. Items must not depend on
 * each other; results are left in the context.
 */
void os_parallel(unsigned workers, size_t count,
                 void (*work)(void *context, unsigned worker, size_t item), void *context);

#endif
