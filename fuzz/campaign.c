/*
 * campaign - a campaign/1 manifest of arbitrary bytes.
 *
 * What is accepted has a name, captures in the order of their steps, each once, at safe paths
 * below the directory of the manifest; nothing is said of them before they are examined.
 */
#include "check.h"

#include "compare/campaign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_captures(const campaign *of)
{
    cg_str directory = CG_LIT("plans/");

    CHECK(of->count > 0 && !str_is_blank(of->id) && !str_is_blank(of->entrypoint));
    for (size_t i = 0; i < of->count; i++) {
        const campaign_capture *capture = &of->captures[i];

        CHECK(i == 0 || of->captures[i - 1].step < capture->step);
        CHECK(i == 0 || !str_equal(of->captures[i - 1].bundle, capture->bundle));
        CHECK(os_dir_is_safe(capture->bundle));
        CHECK(capture->path.len == directory.len + capture->bundle.len);
        CHECK(memcmp(capture->path.ptr, directory.ptr, directory.len) == 0);
        CHECK(capture->state == CAPTURE_STATE_MISSING);
        CHECK(capture->message.ptr == NULL && capture->run_id.ptr == NULL);
    }
    CHECK(campaign_state_count(of, CAPTURE_STATE_MISSING) == of->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str text = {(const char *)data, size};
    campaign *of = NULL;
    cg_err err = {0};
    cg_code code = campaign_read_text(NULL, CG_LIT("plans/plan.json"), text, &of, &err);

    if (code == CG_OK)
        check_captures(of);
    else
        CHECK(of == NULL && code == err.code && err.problem != NULL);
    campaign_free(of);
    return 0;
}
