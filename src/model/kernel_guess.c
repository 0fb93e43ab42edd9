#include "model/kernel_guess.h"

#include "model/wiring.h"

static bool is_true(const hazard_guess *guess, const drivers *from, bool is_cpu_only)
{
    wiring_place device = {0}, dtype = {0};

    if (guess->device_root.ptr)
        device = wiring_of(from, guess->constructor, guess->device_root);
    if (guess->dtype_root.ptr)
        dtype = wiring_of(from, guess->constructor, guess->dtype_root);
    if (!str_equal(device.device, CG_LIT("cpu")) && (device.device.len > 0 || !is_cpu_only))
        return false;
    return !guess->dtype_root.ptr || str_equal(dtype.dtype, CG_LIT("BF16"));
}

static hazard *row_like(hazards *self, const hazard *what)
{
    for (size_t i = 0; i < self->rows.count; i++) {
        hazard *at = &self->rows.at[i];

        if (at->code == what->code && at->place.file == what->place.file &&
            at->place.start == what->place.start && at->place.end == what->place.end)
            return at;
    }
    return NULL;
}

cg_code kernel_guess_settle(hazards *self, const drivers *from, bool is_cpu_only, cg_err *reterr)
{
    for (size_t i = 0; i < self->guesses.count; i++) {
        const hazard_guess *guess = &self->guesses.at[i];
        hazard *row;
        bool is_known = false;
        uint32_t *entry;

        if (!is_true(guess, from, is_cpu_only))
            continue;
        row = row_like(self, &guess->what);
        if (!row) {
            row = vec_add(self->heap, &self->rows);
            if (!row)
                return err_nomem(reterr);
            *row = guess->what;
        }
        for (size_t k = 0; k < row->entries.count; k++)
            is_known = is_known || row->entries.at[k] == guess->function;
        entry = is_known ? NULL : vec_add(self->heap, &row->entries);
        if (entry)
            *entry = guess->function;
        else if (!is_known)
            return err_nomem(reterr);
    }
    return CG_OK;
}
