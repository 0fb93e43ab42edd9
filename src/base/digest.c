/* The functions of libcrypto that need no memory and no set-up (docs/decisions/0068). */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/digest.h"

#include <openssl/sha.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof((digest *)0)->state, "the state has room");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(uint64_t), "and lies well");
_Static_assert(SHA256_DIGEST_LENGTH == DIGEST_BYTES, "SHA-256");

static SHA256_CTX *context_of(digest *self)
{
    return (SHA256_CTX *)(void *)self->state;
}

static cg_code digest_fail(cg_err *reterr)
{
    return cg_fail(reterr, PROBLEM_INTERNAL, "the SHA-256 of libcrypto failed");
}

cg_code digest_start(digest *self, cg_err *reterr)
{
    self->is_running = SHA256_Init(context_of(self)) == 1;
    return self->is_running ? CG_OK : digest_fail(reterr);
}

void digest_add(digest *self, const void *bytes, size_t count)
{
    if (self->is_running && count > 0)
        self->is_running = SHA256_Update(context_of(self), bytes, count) == 1;
}

cg_code digest_finish(digest *self, uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    uint8_t bytes[DIGEST_BYTES];
    bool is_done = self->is_running && SHA256_Final(bytes, context_of(self)) == 1;

    self->is_running = false;
    if (!is_done)
        return digest_fail(reterr);
    memcpy(ret, bytes, DIGEST_BYTES);
    return CG_OK;
}

void digest_drop(digest *self)
{
    self->is_running = false;
}

void digest_hex(const uint8_t bytes[DIGEST_BYTES], char ret[DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
}
