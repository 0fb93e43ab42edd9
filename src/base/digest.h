/*
 * digest - streaming SHA-256 (libcrypto), and hexadecimal text. Takes no memory.
 */
#ifndef CG_BASE_DIGEST_H
#define CG_BASE_DIGEST_H

#include "base/err.h"

#define DIGEST_BYTES 32
#define DIGEST_HEX   64

typedef struct digest {
    uint64_t state[14];
    bool is_running; /* false before digest_start, after digest_finish and after a failure */
} digest;

cg_code digest_start(digest *self, cg_err *reterr) CG_MUST;
/* Failures are remembered and reported by digest_finish. */
void digest_add(digest *self, const void *bytes, size_t count);
cg_code digest_finish(digest *self, uint8_t ret[DIGEST_BYTES], cg_err *reterr) CG_MUST;
void digest_drop(digest *self);
/* 64 lower-case digits, no NUL. */
void digest_hex(const uint8_t bytes[DIGEST_BYTES], char ret[DIGEST_HEX]);

#endif
