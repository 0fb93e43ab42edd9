/*
 * Following an edit while memory runs out or a call of the kernel fails: what is answered is what a
 * scan without a cache says, and every byte and every file is given back.
 *
 * ctest-timeout: 300
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "candlegraph/scan.h"
#include "support/faults.h"
#include "support/memory.h"
#include "support/tree.h"

#include <cmocka.h>

#define FILES     8u
#define POSITIONS 120u /* requests or calls that are made to fail, spread over all of them */

static tree files;
static char crate[1200];
static char cache[1200];

static void put_layer(unsigned which, unsigned size)
{
    char name[64];
    char text[1000];

    (void)snprintf(name, sizeof name, "c/src/layer%u.rs", which);
    (void)snprintf(text, sizeof text,
                   "use candle_core::Result;\n"
                   "use candle_nn::{linear, Linear, VarBuilder};\n"
                   "pub struct Layer%u { inner: Linear }\n"
                   "impl Layer%u {\n"
                   "    pub fn new(vb: VarBuilder) -> Result<Self> {\n"
                   "        let inner = linear(4, %u, vb.pp(\"inner\"))?;\n"
                   "        Ok(Self { inner })\n"
                   "    }\n"
                   "}\n",
                   which, which, size);
    tree_write(&files, name, text);
}

static int begin(void **state)
{
    char root[1000] = "";

    (void)state;
    tree_make(&files);
    tree_write(&files, "c/Cargo.toml",
               "[package]\nname = \"c\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"
               "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n");
    for (unsigned i = 0; i < FILES; i++) {
        size_t len = strlen(root);

        put_layer(i, 4);
        (void)snprintf(root + len, sizeof root - len, "pub mod layer%u;\n", i);
    }
    tree_write(&files, "c/src/lib.rs", root);
    (void)snprintf(crate, sizeof crate, "%s/c", files.root);
    (void)snprintf(cache, sizeof cache, "%s/cache", files.root);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tree_remove(&files);
    return 0;
}

static cg_code add(void *context, const char *bytes, size_t count)
{
    uint64_t *sum = context;

    for (size_t i = 0; i < count; i++)
        *sum = (*sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return CG_OK;
}

/* A sum of the document. */
static cg_code scan_crate(const cg_env *env, const char *directory, uint64_t *ret)
{
    cg_scan_request request = {
        .size = sizeof request, .path = crate, .is_structure = true, .cache_directory = directory};
    cg_format json = {.size = sizeof json};
    cg_scan *scan = NULL;
    cg_code code = cg_scan_open(env, &request, &scan, NULL);

    *ret = UINT64_C(0xcbf29ce484222325);
    if (code == CG_OK)
        code = cg_write_model(scan, &json, (cg_sink){ret, add}, NULL);
    cg_scan_free(scan);
    return code;
}

static uint64_t sum_without_cache(void)
{
    cg_env env = {.size = sizeof env};
    uint64_t sum;

    assert_int_equal(scan_crate(&env, NULL, &sum), CG_OK);
    return sum;
}

/* Another edit of a function: of one that was edited before, or of another one. */
static void edit(uint64_t at, bool is_again)
{
    put_layer(is_again ? 3 : (unsigned)(at % FILES), (unsigned)(at % 50000) + 5);
}

static void follow_without_memory(bool is_once, bool is_again)
{
    memory all = {0};
    cg_allocator allocator = {&all, memory_resize};
    cg_env env = {.size = sizeof env, .allocator = &allocator};
    uint64_t requests, sum;

    assert_int_equal(scan_crate(&env, cache, &sum), CG_OK);
    edit(1, is_again);
    all = (memory){0};
    assert_int_equal(scan_crate(&env, cache, &sum), CG_OK);
    requests = all.requests;
    for (uint64_t at = 1; at <= requests; at += requests / POSITIONS + 1) {
        uint64_t wanted;
        cg_code code;

        edit(at + 1, is_again);
        wanted = sum_without_cache();
        all = (memory){.fail_at = at, .is_once = is_once};
        code = scan_crate(&env, cache, &sum);
        assert_int_equal(all.live_bytes, 0);
        assert_true(code == CG_OK || code == CG_NOMEM);
        if (code == CG_OK && sum != wanted)
            fail_msg("request %llu of %llu: answered, and otherwise", (unsigned long long)at,
                     (unsigned long long)requests);
    }
}

static void without_memory_an_edit_is_followed_or_refused(void **state)
{
    (void)state;
    follow_without_memory(false, false);
    follow_without_memory(true, false);
}

static void without_memory_what_was_kept_is_not_mistaken(void **state)
{
    (void)state;
    follow_without_memory(false, true);
    follow_without_memory(true, true);
}

static void follow_without_kernel(bool is_again)
{
    faults kernel;
    os_calls table = faults_table(&kernel);
    cg_env env = {.size = sizeof env, .os = &table};
    uint64_t calls, sum;

    faults_arm(&kernel, FAULT_NONE, 0, 0);
    assert_int_equal(scan_crate(&env, cache, &sum), CG_OK);
    edit(1, is_again);
    faults_arm(&kernel, FAULT_NONE, 0, 0);
    assert_int_equal(scan_crate(&env, cache, &sum), CG_OK);
    calls = kernel.calls;
    for (uint64_t at = 1; at <= calls; at += calls / POSITIONS + 1) {
        uint64_t wanted;

        edit(at + 1, is_again);
        wanted = sum_without_cache();
        faults_arm(&kernel, FAULT_ERROR, at, EIO);
        (void)scan_crate(&env, cache, &sum);
        assert_int_equal(kernel.open_files, 0);
        /* A file that cannot be read is left out of a document; the next scan reads it. */
        faults_arm(&kernel, FAULT_NONE, 0, 0);
        assert_int_equal(scan_crate(&env, cache, &sum), CG_OK);
        if (sum != wanted)
            fail_msg("call %llu of %llu: what is kept is not what is there", (unsigned long long)at,
                     (unsigned long long)calls);
    }
}

static void calls_that_fail_leave_nothing_wrong_behind(void **state)
{
    (void)state;
    follow_without_kernel(false);
    follow_without_kernel(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_memory_an_edit_is_followed_or_refused, begin, end),
        cmocka_unit_test_setup_teardown(without_memory_what_was_kept_is_not_mistaken, begin, end),
        cmocka_unit_test_setup_teardown(calls_that_fail_leave_nothing_wrong_behind, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
