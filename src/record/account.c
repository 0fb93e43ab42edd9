#include "record/account.h"

#include <string.h>

uint64_t losses_total(const uint64_t counts[SPOOL_KINDS])
{
    uint64_t total = 0;

    for (unsigned i = 0; i < SPOOL_KINDS; i++) {
        total += counts[i];
    }
    return total;
}

void convert_account_free(convert_account *self)
{
    rec_free(self->open_spans);
    text_free(&self->names);
    text_free(&self->reason);
    memset(self, 0, sizeof *self);
}
