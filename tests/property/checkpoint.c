/*
 * Random models against random changes of a file that fits: whatever the change, every missing,
 * unclaimed or differing key is in exactly one row, and a change of a known kind is told.
 */
#include "unit/base/failing.h"

#include "join/checkpoint.h"
#include "support/parameter_header.h"
#include "support/parameter_list.h"

#define ROUNDS 300

typedef struct world {
    heap heap;
    arena mem;
    expr_pool pool;
    tensor_header header;
    doc_checkpoint doc;
    uint64_t seed;
    buf model, file;
} world;

static uint64_t draw(world *self, uint64_t below)
{
    self->seed = self->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (self->seed >> 33) % below;
}

static const char *const modules[] = {"amber", "birch", "cedar", "dune", "ember", "fjord"};

enum change { NOTHING, PREFIX, LIST, MODULE, GAMMA, TURNED, DROPPED, EXTRA, CHANGE_COUNT };

/* Both sides of a model with one list; widths differ, so that shapes tell modules apart. */
static void make(world *self, enum change change, uint64_t changed, uint64_t layers, uint64_t count)
{
    const char *front = change == PREFIX ? "outer." : "";
    const char *list = change == LIST ? "stack" : "rows";

    for (uint64_t i = 0; i < count; i++) {
        buf_addf(&self->model, "vb rows.{i}.%s.weight = w%u, n : linear\n", modules[i],
                 (unsigned)i);
        buf_addf(&self->model, "vb rows.{i}.%s.bias = w%u : linear\n", modules[i], (unsigned)i);
    }
    buf_addf(&self->model, "vb rows.{i}.norm.weight = n : norm\nvb rows.{i}.norm.bias = n : norm\n"
                           "vb final.weight = n : norm\n");
    for (uint64_t l = 0; l < layers; l++) {
        for (uint64_t i = 0; i < count; i++) {
            bool is_it = i == changed;
            const char *name = change == MODULE && is_it ? "zephyr" : modules[i];
            unsigned width = 20 + 3 * (unsigned)i;

            if (change == DROPPED && is_it && l == 0)
                continue;
            if (change == TURNED && is_it)
                buf_addf(&self->file, "%s%s.%u.%s.weight F32 7 %u\n", front, list, (unsigned)l,
                         name, width);
            else
                buf_addf(&self->file, "%s%s.%u.%s.weight F32 %u 7\n", front, list, (unsigned)l,
                         name, width);
            buf_addf(&self->file, "%s%s.%u.%s.bias F32 %u\n", front, list, (unsigned)l, name,
                     width);
        }
        buf_addf(&self->file, "%s%s.%u.norm.%s F32 7\n%s%s.%u.norm.%s F32 7\n", front, list,
                 (unsigned)l, change == GAMMA ? "gamma" : "weight", front, list, (unsigned)l,
                 change == GAMMA ? "beta" : "bias");
    }
    buf_addf(&self->file, "%sfinal.weight F32 7\n%s", front,
             change == EXTRA ? "left.over.weight F32 3\n" : "");
}

static size_t count_in(const sc_strs *keys, cg_str key)
{
    size_t count = 0;

    for (size_t i = 0; i < keys->count; i++)
        count += str_equal(keys->at[i], key);
    return count;
}

static void assert_once(const doc_checkpoint *doc, cg_str key, bool is_model)
{
    const doc_diagnosis *rows = doc->diagnosis.at;
    size_t count = 0;

    for (size_t i = 0; i < doc->diagnosis.count; i++) {
        if (!str_equal(rows[i].code, diagnosis_words[DIAGNOSIS_DTYPE_ONLY]) &&
            (is_model || !str_equal(rows[i].code, diagnosis_words[DIAGNOSIS_TIED_WEIGHT])))
            count += count_in(is_model ? &rows[i].keys : &rows[i].file_keys, key);
    }
    if (count != 1)
        print_error("%.*s\n", (int)key.len, key.ptr);
    assert_int_equal(count, 1);
}

static void check(const doc_checkpoint *doc, enum change change)
{
    static const int expected[CHANGE_COUNT] = {
        [NOTHING] = DIAGNOSIS_COUNT,       [PREFIX] = DIAGNOSIS_PREFIX_SHIFTED,
        [LIST] = DIAGNOSIS_RENAMED,        [MODULE] = DIAGNOSIS_RENAMED,
        [GAMMA] = DIAGNOSIS_RENAMED,       [TURNED] = DIAGNOSIS_TRANSPOSED,
        [DROPPED] = DIAGNOSIS_UNEXPLAINED, [EXTRA] = DIAGNOSIS_UNEXPLAINED};
    const doc_diagnosis *rows = doc->diagnosis.at;
    const doc_tensor_mismatch *mismatches = doc->shape_mismatches.at;

    for (size_t i = 0; i < doc->missing_certain.count; i++)
        assert_once(doc, doc->missing_certain.at[i], true);
    for (size_t i = 0; i < doc->unclaimed.count; i++)
        assert_once(doc, doc->unclaimed.at[i], false);
    for (size_t i = 0; i < doc->shape_mismatches.count; i++)
        assert_once(doc, mismatches[i].key, true);
    assert_int_equal(doc->diagnosis.count, change == NOTHING ? 0 : 1);
    if (change != NOTHING)
        assert_true(str_equal(rows[0].code, diagnosis_words[expected[change]]));
}

static void one_round(uint64_t seed)
{
    checkpoint_options options = {.root = CG_LIT("vb")};
    parameter_list list;
    cg_err err = {0};
    world w = {.seed = seed};
    enum change change = (enum change)(seed % CHANGE_COUNT);
    uint64_t count = 2 + draw(&w, 5);
    uint64_t layers = 2 + draw(&w, 4);

    heap_init(&w.heap, NULL);
    arena_init(&w.mem, &w.heap);
    buf_init(&w.model, &w.heap, 1u << 20);
    buf_init(&w.file, &w.heap, 1u << 20);
    assert_true(expr_pool_init(&w.pool, &w.heap));
    make(&w, change, draw(&w, count), layers, count);
    parameter_list_read(&w.mem, &w.pool, buf_text(&w.model), &list);
    parameter_header_read(&w.heap, buf_text(&w.file), &w.header);
    assert_int_equal(checkpoint_compare(&w.heap, &w.mem, &w.pool, list.components, list.count,
                                        &w.header, &options, &w.doc, &err),
                     CG_OK);
    check(&w.doc, change);
    safetensors_free(&w.header);
    buf_free(&w.model);
    buf_free(&w.file);
    expr_pool_free(&w.pool);
    arena_free(&w.mem);
    assert_int_equal(w.heap.used_bytes, 0);
}

static void every_change_is_told_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++)
        one_round(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_change_is_told_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
