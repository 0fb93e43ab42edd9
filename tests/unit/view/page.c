#include <setjmp.h>
#include <stdarg.h>

#include "support/facts.h"
#include "unit/base/failing.h"
#include "view/page.h"
#include "view/payload.h"

#include <cmocka.h>

static evidence *some_run(void)
{
    capture c;

    capture_begin(&c);
    facts_rich(&c);
    return capture_complete(&c, 100);
}

static void write(const evidence *e, buf *ret)
{
    buf_init(ret, e->heap, SIZE_MAX);
    assert_int_equal(page_write(e, facts_sink(ret), NULL), CG_OK);
}

static void the_island_stands_in_the_page_as_it_is(void **state)
{
    evidence *e = some_run();
    buf page, island, element;

    (void)state;
    if (!page_is_built()) {
        evidence_free(e);
        skip();
    }
    write(e, &page);
    buf_init(&island, e->heap, SIZE_MAX);
    assert_int_equal(payload_write(e, facts_sink(&island), NULL), CG_OK);
    buf_init(&element, e->heap, SIZE_MAX);
    buf_add(&element, CG_LIT("<script id=\"cg-payload\" type=\"application/json\">"));
    buf_add(&element, buf_text(&island));
    buf_add(&element, CG_LIT("</script>"));
    assert_true(str_starts_with(buf_text(&page), CG_LIT("<!DOCTYPE html>\n<html ")));
    assert_true(str_ends_with(buf_text(&page), CG_LIT("</html>\n")));
    assert_true(str_find(buf_text(&page), buf_text(&element)) != SIZE_MAX);
    assert_true(str_find(buf_text(&page), CG_LIT("default-src 'none'")) != SIZE_MAX);
    buf_free(&page);
    buf_free(&island);
    buf_free(&element);
    evidence_free(e);
}

static void the_same_evidence_gives_the_same_bytes(void **state)
{
    evidence *e = some_run();
    buf first, second;

    (void)state;
    if (!page_is_built()) {
        evidence_free(e);
        skip();
    }
    write(e, &first);
    write(e, &second);
    assert_true(str_equal(buf_text(&first), buf_text(&second)));
    buf_free(&first);
    buf_free(&second);
    evidence_free(e);
}

/* A sink that refuses the k-th write. */
typedef struct refusing {
    unsigned left;
    size_t bytes;
} refusing;

static cg_code refuse(void *context, const char *bytes, size_t count)
{
    refusing *self = context;

    (void)bytes;
    if (self->left == 0)
        return CG_OUTPUT;
    self->left--;
    self->bytes += count;
    return CG_OK;
}

static void a_refusing_sink_is_reported(void **state)
{
    evidence *e = some_run();
    cg_code code = page_is_built() ? CG_OUTPUT : CG_PLANNED;

    (void)state;
    for (unsigned k = 0; k < 12; k++) {
        refusing sink = {.left = k};
        cg_err err = {0};

        assert_int_equal(page_write(e, (cg_sink){&sink, refuse}, &err), code);
        assert_int_equal(err.code, code);
    }
    evidence_free(e);
}

static void without_memory_nothing_is_written(void **state)
{
    evidence *e = some_run();
    cg_allocator allocator = e->heap->allocator;
    failing memory = {.fail_at = 1};
    refusing sink = {.left = 10};
    cg_code code;

    (void)state;
    failing_env(&memory);
    e->heap->allocator = memory.allocator;
    code = page_write(e, (cg_sink){&sink, refuse}, NULL);
    e->heap->allocator = allocator;
    assert_int_equal(code, page_is_built() ? CG_NOMEM : CG_PLANNED);
    assert_int_equal(sink.bytes, 0);
    evidence_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_island_stands_in_the_page_as_it_is),
        cmocka_unit_test(the_same_evidence_gives_the_same_bytes),
        cmocka_unit_test(a_refusing_sink_is_reported),
        cmocka_unit_test(without_memory_nothing_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
