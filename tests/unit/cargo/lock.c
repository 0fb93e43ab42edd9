#include "../base/failing.h"

#include "cargo/lock.h"

typedef struct reading {
    heap memory;
    arena mem;
    cargo_lock lock;
} reading;

static void begin(reading *self, const char *text)
{
    cg_err err = {0};

    heap_init(&self->memory, NULL);
    arena_init(&self->mem, &self->memory);
    if (lock_read(NULL, &self->mem, &self->memory, str_from(text), &self->lock, &err) != CG_OK)
        fail_msg("%s", err.text);
}

static void end(reading *self)
{
    arena_free(&self->mem);
    assert_int_equal(self->memory.used_bytes, 0);
}

#define BODY                                                                                       \
    "[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"rand 0.8.5\",\n "      \
    "\"candle-core\",\n]\n\n[[package]]\nname = \"rand\"\nversion = \"0.9.1\"\nsource = "          \
    "\"registry+x\"\nchecksum = \"00\"\n\n[[package]]\nname = \"rand\"\nversion = "                \
    "\"0.8.5\"\nsource = \"registry+x\"\n\n[[package]]\nname = \"candle-core\"\nversion = "        \
    "\"0.11.0\"\nsource = \"git+https://h/candle.git?rev=1#abc\"\n"

/* The same facts, however the file is written. */
static void check_facts(const char *text)
{
    reading at;
    size_t app;
    size_t first = 0;

    begin(&at, text);
    assert_int_equal(at.lock.count, 4);
    assert_int_equal(lock_find(&at.lock, CG_LIT("rand"), &first), 2);
    assert_text(at.lock.packages[first].version, "0.8.5");
    assert_text(at.lock.packages[first + 1].version, "0.9.1");
    app = lock_find_version(&at.lock, CG_LIT("app"), (cg_str){0});
    assert_text(at.lock.packages[app].name, "app");
    assert_null(at.lock.packages[app].source.ptr);
    assert_int_equal(lock_resolve(&at.lock, app, CG_LIT("rand"), CG_LIT("0.8")), first);
    /* The package's own list decides, not the requirement. */
    assert_int_equal(lock_resolve(&at.lock, app, CG_LIT("rand"), CG_LIT("*")), first);
    assert_int_equal(lock_resolve(&at.lock, LOCK_NONE, CG_LIT("rand"), CG_LIT("*")), first + 1);
    assert_int_equal(lock_resolve(&at.lock, LOCK_NONE, CG_LIT("rand"), CG_LIT("7")), LOCK_NONE);
    assert_int_equal(lock_resolve(&at.lock, app, CG_LIT("serde"), CG_LIT("*")), LOCK_NONE);
    assert_text(
        at.lock.packages[lock_resolve(&at.lock, app, CG_LIT("candle-core"), (cg_str){0})].source,
        "git+https://h/candle.git?rev=1#abc");
    end(&at);
}

static void the_usual_form_is_read(void **state)
{
    (void)state;
    check_facts("# generated\nversion = 4\n\n" BODY);
    check_facts("version = 3\r\n" BODY);
    check_facts(BODY);
    check_facts(BODY "\n[metadata]\n\"checksum rand 0.9.1 (registry+x)\" = \"00\"\n");
}

static void any_other_form_is_read_too(void **state)
{
    (void)state;
    check_facts("version=4\n" BODY);
    check_facts("other = [1, 2]\n" BODY "\n[[patch.unused]]\nname = 'x'\nversion = '1.0.0'\n");
    check_facts(BODY "\n[patch]\nx = 1\n");
}

static void broken_files_are_refused(void **state)
{
    heap memory;
    arena mem;
    cargo_lock lock;
    cg_err err = {0};

    (void)state;
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    assert_int_equal(
        lock_read(NULL, &mem, &memory, CG_LIT("[[package]]\nname = \"x\n"), &lock, &err), CG_INPUT);
    assert_int_equal(err.line, 2);
    assert_int_equal(
        lock_read(NULL, &mem, &memory, CG_LIT("[[package]]\ndependencies = [\n"), &lock, NULL),
        CG_INPUT);
    arena_free(&mem);
    assert_int_equal(memory.used_bytes, 0);
}

static void entries_have_a_name_and_perhaps_a_version(void **state)
{
    cg_str number;

    (void)state;
    assert_text(lock_entry_name(CG_LIT("a"), &number), "a");
    assert_null(number.ptr);
    assert_text(lock_entry_name(CG_LIT("a 1.0.0 (registry+x)"), &number), "a");
    assert_text(number, "1.0.0");
}

static void every_failing_request_is_reported_and_nothing_is_held(void **state)
{
    static const char *const texts[] = {BODY, "x = 1\n" BODY};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        cg_code code = CG_NOMEM;

        for (size_t k = 1; code != CG_OK; k++) {
            failing memory = {.fail_at = k};
            cargo_lock lock;
            arena mem;
            heap from;

            heap_init(&from, failing_env(&memory));
            arena_init(&mem, &from);
            code = lock_read(&memory.env, &mem, &from, str_from(texts[i]), &lock, NULL);
            assert_true(code == CG_OK || code == CG_NOMEM);
            arena_free(&mem);
            assert_nothing_held(&memory, &from);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_form_is_read),
        cmocka_unit_test(any_other_form_is_read_too),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(entries_have_a_name_and_perhaps_a_version),
        cmocka_unit_test(every_failing_request_is_reported_and_nothing_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
