/*
 * sha256 - the digest of the gradient manifest.
 *
 * The recorder has no third-party code, and the manifest is a few kilobytes hashed once: plain C
 * is fast enough. Everything else in the project uses base/digest.
 */
#ifndef CG_RECORD_SHA256_H
#define CG_RECORD_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t state[8];
    uint64_t count; /* bytes so far */
    uint8_t block[64];
} sha256;

void sha256_init(sha256 *self);
void sha256_add(sha256 *self, const void *bytes, size_t count);
/* 64 lower-case hexadecimal digits and a NUL. */
void sha256_hex(sha256 *self, char ret[65]);

#endif
