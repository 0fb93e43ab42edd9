#include <setjmp.h>
#include <stdarg.h>

#include "support/facts.h"
#include "unit/base/failing.h"
#include "view/text_checkpoint.h"

#include <cmocka.h>

static const text_style plain = {.width = 80, .rows = 20};

typedef struct reading {
    heap heap;
    buf text;
} reading;

static void print(reading *self, const doc_checkpoint *doc)
{
    heap_init(&self->heap, NULL);
    buf_init(&self->text, &self->heap, SIZE_MAX);
    assert_int_equal(text_checkpoint(&self->heap, doc, NULL, &plain, facts_sink(&self->text), NULL),
                     CG_OK);
}

static void end(reading *self)
{
    buf_free(&self->text);
    assert_int_equal(self->heap.used_bytes, 0);
}

static bool has(const reading *self, const char *part)
{
    return str_find(buf_text(&self->text), str_from(part)) != SIZE_MAX;
}

static void a_file_that_fits_says_so(void **state)
{
    doc_checkpoint doc = {.root = CG_LIT("vb"),
                          .component = CG_LIT("Net"),
                          .matched_tensors = 1,
                          .checkpoint_tensors = 1};
    reading r;

    (void)state;
    print(&r, &doc);
    assert_true(has(&r, "Net  on `vb`\n"));
    assert_true(has(&r, "1 of 1 tensor fit\n"));
    assert_true(has(&r, "the checkpoint fits"));
    assert_false(has(&r, "missing"));
    end(&r);
}

static void names_of_a_file_are_harmless(void **state)
{
    const cg_str bad[] = {CG_LIT("a\x1b[2J"), CG_LIT("b\xe2\x80\xae")};
    const doc_diagnosis row = {.code = CG_LIT("unexplained"),
                               .file_keys = {bad, 2},
                               .explanation = CG_LIT("nobody asks for \x07 these")};
    const doc_checkpoint doc = {.root = CG_LIT("v\nb"),
                                .checkpoint_tensors = 2,
                                .unclaimed = {bad, 2},
                                .diagnosis = {&row, 1}};
    reading r;

    (void)state;
    print(&r, &doc);
    assert_true(has(&r, "0 of 2 tensors fit, 2 unclaimed\n"));
    assert_false(has(&r, "\x1b"));
    assert_false(has(&r, "\x07"));
    assert_false(has(&r, "\xe2\x80\xae"));
    assert_false(has(&r, "v\nb"));
    end(&r);
}

static void long_lists_are_cut_and_counted(void **state)
{
    cg_str keys[20];
    const doc_diagnosis row = {
        .code = CG_LIT("renamed"), .keys = {keys, 20}, .explanation = CG_LIT("e")};
    const doc_checkpoint doc = {
        .root = CG_LIT("vb"), .missing_certain = {keys, 20}, .diagnosis = {&row, 1}};
    reading r;

    (void)state;
    for (size_t i = 0; i < 20; i++)
        keys[i] = CG_LIT("key");
    print(&r, &doc);
    assert_true(has(&r, "20 keys missing\n"));
    assert_true(has(&r, "... and 12 more"));
    end(&r);
}

static void every_component_has_its_part(void **state)
{
    const doc_checkpoint_shard shard = {.file = CG_LIT("b.safetensors"), .tensors = 3};
    const doc_checkpoint parts[] = {
        {.root = CG_LIT("vb"), .component = CG_LIT("A"), .shards = {&shard, 1}},
        {.root = CG_LIT("vb"), .component = CG_LIT("B")}};
    const doc_checkpoint doc = {.root = CG_LIT("vb"), .components = {parts, 2}};
    reading r;

    (void)state;
    print(&r, &doc);
    assert_true(has(&r, "A  on `vb`"));
    assert_true(has(&r, "B  on `vb`"));
    assert_true(has(&r, "not there: b.safetensors"));
    end(&r);
}

static void what_the_file_decided_is_named(void **state)
{
    const doc_checkpoint doc = {.root = CG_LIT("vb"), .matched_tensors = 1};
    const cg_str text = CG_LIT("cfg.dim = 64, \x1b blocks: 3");
    reading r;

    (void)state;
    heap_init(&r.heap, NULL);
    buf_init(&r.text, &r.heap, SIZE_MAX);
    assert_int_equal(
        text_checkpoint(&r.heap, &doc, &(sc_strs){&text, 1}, &plain, facts_sink(&r.text), NULL),
        CG_OK);
    assert_true(has(&r, "the checkpoint fits with cfg.dim = 64, "));
    assert_true(has(&r, "blocks: 3"));
    assert_false(has(&r, "\x1b"));
    end(&r);
}

static void both_shapes_of_a_tensor_are_told(void **state)
{
    const cg_str key = CG_LIT("a.weight"), file = CG_LIT("a.gamma"), other = CG_LIT("b");
    const cg_str axes[] = {CG_LIT("16"), CG_LIT("3 * n")};
    const uint64_t sizes[] = {16, 5};
    const doc_tensor_mismatch mismatch = {key, file, {axes, 2}, {sizes, 2}};
    const doc_diagnosis rows[] = {
        {.code = CG_LIT("shape_mismatch"), .keys = {&key, 1}, .file_keys = {&file, 1}},
        {.code = CG_LIT("renamed"), .keys = {&other, 1}, .file_keys = {&other, 1}}};
    const doc_checkpoint doc = {
        .root = CG_LIT("vb"), .shape_mismatches = {&mismatch, 1}, .diagnosis = {rows, 2}};
    reading r;

    (void)state;
    print(&r, &doc);
    assert_true(has(&r, "code a.weight  [16, 3 * n]\n"));
    assert_true(has(&r, "file a.gamma  [16, 5]\n"));
    assert_true(has(&r, "code b\n"));
    end(&r);
}

static void every_refused_request_is_reported_and_nothing_stays(void **state)
{
    const cg_str key = CG_LIT("k");
    const doc_diagnosis row = {
        .code = CG_LIT("unexplained"), .keys = {&key, 1}, .explanation = CG_LIT("e")};
    const doc_checkpoint doc = {.root = CG_LIT("vb"), .diagnosis = {&row, 1}};
    cg_code code = CG_NOMEM;

    (void)state;
    for (size_t k = 1; code == CG_NOMEM; k++) {
        failing memory = {.fail_at = k};
        heap from;
        reading r;

        heap_init(&r.heap, NULL);
        buf_init(&r.text, &r.heap, SIZE_MAX);
        heap_init(&from, failing_env(&memory));
        code = text_checkpoint(&from, &doc, NULL, &plain, facts_sink(&r.text), NULL);
        assert_nothing_held(&memory, &from);
        end(&r);
    }
    assert_int_equal(code, CG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_fits_says_so),
        cmocka_unit_test(names_of_a_file_are_harmless),
        cmocka_unit_test(long_lists_are_cut_and_counted),
        cmocka_unit_test(every_component_has_its_part),
        cmocka_unit_test(what_the_file_decided_is_named),
        cmocka_unit_test(both_shapes_of_a_tensor_are_told),
        cmocka_unit_test(every_refused_request_is_reported_and_nothing_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
