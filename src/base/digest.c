#include "base/digest.h"

#include <openssl/err.h>
#include <openssl/evp.h>

cg_code digest_start(digest *self, cg_err *reterr)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    self->state = NULL;
    if (context == NULL)
        return err_nomem(reterr);
    ERR_set_mark();
    if (EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1) {
        unsigned long reason = ERR_peek_last_error();

        ERR_pop_to_mark();
        EVP_MD_CTX_free(context);
        /* Without memory there is none for the reason either. */
        if (reason == 0 || ERR_GET_REASON(reason) == ERR_R_MALLOC_FAILURE)
            return err_nomem(reterr);
        return cg_fail(reterr, PROBLEM_INTERNAL, "the SHA-256 of libcrypto cannot be used");
    }
    ERR_clear_last_mark();
    self->state = context;
    return CG_OK;
}

void digest_add(digest *self, const void *bytes, size_t count)
{
    if (self->state == NULL || count == 0)
        return;
    /* A digest without state is a digest that failed. */
    if (EVP_DigestUpdate(self->state, bytes, count) != 1)
        digest_drop(self);
}

cg_code digest_finish(digest *self, uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    uint8_t bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    bool is_done = self->state != NULL && EVP_DigestFinal_ex(self->state, bytes, &size) == 1;

    digest_drop(self);
    if (!is_done || size != DIGEST_BYTES)
        return cg_fail(reterr, PROBLEM_INTERNAL, "the SHA-256 of libcrypto failed");
    memcpy(ret, bytes, DIGEST_BYTES);
    return CG_OK;
}

void digest_drop(digest *self)
{
    EVP_MD_CTX_free(self->state);
    self->state = NULL;
}

void digest_hex(const uint8_t bytes[DIGEST_BYTES], char ret[DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
}
