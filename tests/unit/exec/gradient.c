#include <math.h>
#include <stdio.h>

#include "unit/base/failing.h"

#include "exec/gradient.h"

/* As CG_LIT, for static tables. */
#define TEXT(text) {(text), sizeof(text) - 1}

static const rec_manifest_entry vector[] = {
    {TEXT("net"), TEXT("a.w"), TEXT("live")},
    {TEXT("net"), TEXT("b.w"), TEXT("live")},
    {TEXT("net"), TEXT("c.\xc3\xa9"), TEXT("cold")},
    {TEXT("aux"), TEXT("g"), TEXT("maybe")},
};
static const rec_family families[] = {
    {TEXT("live"), EXPECTATION_ACTIVE, 1},
    {TEXT("cold"), EXPECTATION_INACTIVE, 0},
    {TEXT("maybe"), EXPECTATION_DATA_CONDITIONAL, 1},
};
#define VECTOR_DIGEST "sha256:12cacfa7a7dd7fe73a2af4c9c3b9824dcf0f8c9b8043a57397250a1e77825c98"

static heap plain;

static rec_gradient_contract contract(void)
{
    return (rec_gradient_contract){
        .manifest_sha256 = CG_LIT(VECTOR_DIGEST),
        .expected = {vector, sizeof vector / sizeof *vector},
        .families = {families, sizeof families / sizeof *families},
    };
}

static void the_digest_is_the_known_one(void **state)
{
    rec_gradient_contract vectors = contract();
    char text[GRADIENT_DIGEST_TEXT];

    (void)state;
    assert_int_equal(gradient_digest(&vectors, text, NULL), CG_OK);
    assert_text((cg_str){text, sizeof text}, VECTOR_DIGEST);
}

static void long_names_are_digested_as_short_ones_are(void **state)
{
    static char name[10000];
    rec_manifest_entry entry = {{name, sizeof name}, CG_LIT("k"), CG_LIT("f")};
    rec_gradient_contract one = {.expected = {&entry, 1}};
    char text[GRADIENT_DIGEST_TEXT];
    char want[GRADIENT_DIGEST_TEXT];
    uint8_t sum[DIGEST_BYTES];
    digest plain_digest;

    (void)state;
    memset(name, 'x', sizeof name);
    assert_int_equal(gradient_digest(&one, text, NULL), CG_OK);
    assert_int_equal(digest_start(&plain_digest, NULL), CG_OK);
    digest_add(&plain_digest, "candle-graph/gradient-manifest/1\0\x10\x27\0\0\0\0\0\0", 41);
    digest_add(&plain_digest, name, sizeof name);
    digest_add(&plain_digest, "\1\0\0\0\0\0\0\0k\1\0\0\0\0\0\0\0f", 18);
    assert_int_equal(digest_finish(&plain_digest, sum, NULL), CG_OK);
    memcpy(want, "sha256:", 7);
    digest_hex(sum, want + 7);
    assert_memory_equal(text, want, sizeof text);
}

/* What is wrong with the contract, its digest made right first; NULL text when nothing is. */
static cg_str problem_of(arena *mem, rec_gradient_contract broken)
{
    char text[GRADIENT_DIGEST_TEXT];
    cg_str problem = {0};

    assert_int_equal(gradient_digest(&broken, text, NULL), CG_OK);
    broken.manifest_sha256 = (cg_str){text, sizeof text};
    assert_int_equal(gradient_contract_check(mem, &broken, &problem, NULL), CG_OK);
    return problem;
}

static void a_sound_contract_has_no_problem(void **state)
{
    rec_gradient_contract sound = contract();
    arena mem;
    cg_str problem;

    (void)state;
    arena_init(&mem, &plain);
    assert_int_equal(gradient_contract_check(&mem, &sound, &problem, NULL), CG_OK);
    assert_null(problem.ptr);
    arena_free(&mem);
}

static void a_wrong_digest_is_told_with_the_right_one(void **state)
{
    rec_gradient_contract broken = contract();
    arena mem;
    cg_str problem;

    (void)state;
    arena_init(&mem, &plain);
    broken.manifest_sha256 = CG_LIT("sha256:00");
    assert_int_equal(gradient_contract_check(&mem, &broken, &problem, NULL), CG_OK);
    assert_text(problem, "the digest is `sha256:00`, but the manifest gives `" VECTOR_DIGEST "`");
    broken.expected.count = 0;
    assert_text(problem_of(&mem, broken), "the manifest lists no key");
    broken = contract();
    broken.families.count = 0;
    assert_text(problem_of(&mem, broken), "no family is declared");
    arena_free(&mem);
}

static void every_broken_entry_is_named(void **state)
{
    static const struct {
        rec_manifest_entry entry; /* in place of the second */
        const char *problem;
    } cases[] = {
        {{TEXT("net"), TEXT(" \t"), TEXT("live")},
         "entry 2 of the manifest has a blank root, key or family"},
        {{TEXT("net"), TEXT("a.w"), TEXT("cold")},
         "entries 1 and 2 of the manifest are both key `a.w` of root `net`"},
        {{TEXT("ne"), TEXT("ta.w"), TEXT("lone")},
         "family `lone` of entry 2 of the manifest is not declared"},
    };
    rec_manifest_entry entries[4];
    rec_gradient_contract broken = contract();
    arena mem;

    (void)state;
    arena_init(&mem, &plain);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(entries, vector, sizeof entries);
        entries[1] = cases[i].entry;
        broken.expected = (sc_records){entries, 4};
        assert_text(problem_of(&mem, broken), cases[i].problem);
    }
    arena_free(&mem);
}

static void every_broken_family_is_named(void **state)
{
    static const struct {
        rec_family family; /* in place of the second */
        const char *problem;
    } cases[] = {
        {{TEXT(""), EXPECTATION_INACTIVE, 0}, "family 2 has a blank name"},
        {{TEXT("live"), EXPECTATION_INACTIVE, 0}, "family `live` is declared twice"},
        {{TEXT("none"), EXPECTATION_INACTIVE, 0}, "family `none` has no key in the manifest"},
        {{TEXT("cold"), EXPECTATION_INACTIVE, 1},
         "inactive family `cold` asks for 1 present keys, it can ask for none"},
        {{TEXT("cold"), EXPECTATION_ACTIVE, 0},
         "family `cold` asks for 0 present keys, it can ask for 1 to 1"},
        {{TEXT("cold"), EXPECTATION_DATA_CONDITIONAL, 2},
         "family `cold` asks for 2 present keys, it can ask for 1 to 1"},
    };
    rec_family changed[3];
    rec_gradient_contract broken = contract();
    arena mem;

    (void)state;
    arena_init(&mem, &plain);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(changed, families, sizeof changed);
        changed[1] = cases[i].family;
        broken.families = (sc_records){changed, 3};
        assert_text(problem_of(&mem, broken), cases[i].problem);
    }
    arena_free(&mem);
}

static void a_large_contract_is_checked_key_by_key(void **state)
{
    enum { COUNT = 5000 };
    static char names[COUNT][8];
    static rec_manifest_entry entries[COUNT];
    rec_family one = {CG_LIT("f"), EXPECTATION_ACTIVE, COUNT};
    rec_gradient_contract large = {.expected = {entries, COUNT}, .families = {&one, 1}};
    arena mem;

    (void)state;
    arena_init(&mem, &plain);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "k%u", i);
        entries[i] = (rec_manifest_entry){CG_LIT("r"), str_from(names[i]), CG_LIT("f")};
    }
    assert_null(problem_of(&mem, large).ptr);
    entries[COUNT - 1].key = CG_LIT("k77");
    assert_text(problem_of(&mem, large),
                "entries 78 and 5000 of the manifest are both key `k77` of root `r`");
    arena_free(&mem);
}

static void a_norm_belongs_to_present_and_zero(void **state)
{
    const struct {
        uint8_t state;
        bool has_norm;
        double norm;
        bool fits;
    } cases[] = {
        {GRADIENT_STATE_PRESENT, true, 0.5, true},
        {GRADIENT_STATE_PRESENT, true, 5e-324, true},
        {GRADIENT_STATE_PRESENT, true, 0.0, false},
        {GRADIENT_STATE_PRESENT, true, -1.0, false},
        {GRADIENT_STATE_PRESENT, true, (double)INFINITY, false},
        {GRADIENT_STATE_PRESENT, false, 0.0, false},
        {GRADIENT_STATE_ZERO, true, 0.0, true},
        {GRADIENT_STATE_ZERO, true, -0.0, false},
        {GRADIENT_STATE_ZERO, true, 1.0, false},
        {GRADIENT_STATE_ZERO, false, 0.0, false},
        {GRADIENT_STATE_MISSING, false, 0.0, true},
        {GRADIENT_STATE_MISSING, true, 0.0, false},
        {GRADIENT_STATE_NON_FINITE, false, 0.0, true},
        {GRADIENT_STATE_NON_FINITE, true, 1.0, false},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        trace_gradient event = {
            .state = cases[i].state, .has_norm = cases[i].has_norm, .norm = cases[i].norm};

        assert_int_equal(gradient_norm_fits(&event), cases[i].fits);
    }
}

static void memory_that_is_refused_is_reported_and_given_back(void **state)
{
    rec_gradient_contract sound = contract();
    bool was_refused = true;

    (void)state;
    for (size_t k = 1; was_refused; k++) {
        failing refusing = {.fail_at = k};
        heap from;
        arena mem;
        cg_err err = {0};
        cg_str problem;

        heap_init(&from, failing_env(&refusing));
        arena_init(&mem, &from);
        was_refused = gradient_contract_check(&mem, &sound, &problem, &err) != CG_OK;
        assert_int_equal(err.code, was_refused ? CG_NOMEM : CG_OK);
        arena_free(&mem);
        assert_nothing_held(&refusing, &from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digest_is_the_known_one),
        cmocka_unit_test(long_names_are_digested_as_short_ones_are),
        cmocka_unit_test(a_sound_contract_has_no_problem),
        cmocka_unit_test(a_wrong_digest_is_told_with_the_right_one),
        cmocka_unit_test(every_broken_entry_is_named),
        cmocka_unit_test(every_broken_family_is_named),
        cmocka_unit_test(a_large_contract_is_checked_key_by_key),
        cmocka_unit_test(a_norm_belongs_to_present_and_zero),
        cmocka_unit_test(memory_that_is_refused_is_reported_and_given_back),
    };

    heap_init(&plain, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
