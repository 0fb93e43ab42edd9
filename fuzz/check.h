/*
 * check - what every target says when something that must hold does not.
 *
 * A target is one file with LLVMFuzzerTestOneInput; a condition that fails aborts, which is what
 * the fuzzer and the replay driver report.
 */
#ifndef CG_FUZZ_CHECK_H
#define CG_FUZZ_CHECK_H

#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

#endif
