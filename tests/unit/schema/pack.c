#include "unit/base/failing.h"

#include "model/draft.h"
#include "schema/pack.h"

static heap from;

static int set_up(void **state)
{
    (void)state;
    heap_init(&from, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return from.used_bytes != 0 ? -1 : 0;
}

static cg_code add(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

static void print(const model_doc *doc, buf *out)
{
    jsonw json;

    assert_int_equal(jw_init(&json, &from, (cg_sink){out, add}, true, false), CG_OK);
    model_write(doc, &json);
    assert_int_equal(jw_finish(&json, NULL), CG_OK);
}

/* A document with a bit of everything. */
static void make(model_document *ret)
{
    static const uint64_t shape[] = {2, 3};
    model_cargo cargo = {.package_name = CG_LIT("p")};
    sc_pair candle = {CG_LIT("candle-core"), CG_LIT("0.9.2")};
    model_draft draft;

    cargo.candle_packages = (sc_map){&candle, 1};
    model_draft_init(&draft, &from);
    draft.cargo = &cargo;
    for (unsigned i = 0; i < 3; i++) {
        model_parameter *parameter = draft_parameter(&draft);
        model_tensor *tensor = draft_tensor(&draft);
        model_finding *finding = draft_finding(&draft);
        model_location *location = arena_zero(&draft.mem, sizeof *location);

        assert_true(arena_format(&draft.mem, &parameter->id, "parameter:%u", i));
        assert_true(arena_format(&draft.mem, &tensor->id, "tensor:%u", i));
        location->file = CG_LIT("src/\xc3\xa4.rs");
        location->line = i;
        parameter->location = location;
        parameter->checkpoint_shape = (sc_u64s){shape, i};
        if (i == 2)
            parameter->checkpoint_shape = (sc_u64s){0};
        assert_true(draft_text(&draft, &parameter->uses, CG_LIT("operation:a")));
        assert_true(draft_evidence(&draft, &parameter->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                                   MODEL_CONFIDENCE_PROVEN, (cg_str){0}, CG_LIT("d")));
        assert_true(draft_cuda(&draft, (opt_u64){i, i > 0}, &tensor->device));
        finding->rule = CG_LIT("builder-unused");
        assert_true(arena_format(&draft.mem, &finding->message, "%u", i));
        assert_true(draft_key(&draft, &finding->severed, CG_LIT("vb"), CG_LIT("k")));
    }
    assert_int_equal(model_finish(&draft, ret, NULL), CG_OK);
    /* It outlives this function. */
    cargo = *(const model_cargo *)ret->doc.cargo;
    model_cargo *kept = arena_take(&ret->mem, sizeof *kept);
    sc_pair *pair = arena_take(&ret->mem, sizeof *pair);

    *pair = candle;
    *kept = cargo;
    kept->candle_packages.at = pair;
    ret->doc.cargo = kept;
}

static void pack(const model_doc *doc, buf *ret)
{
    pack_writer out;

    assert_true(pack_begin(&out, &from, 7));
    pack_number(&out, 42);
    pack_text(&out, CG_LIT("name"));
    pack_text(&out, (cg_str){0});
    pack_record(&out, &table_model_doc, doc);
    assert_true(pack_end(&out, ret));
    pack_free(&out);
}

static bool unpack(cg_str bytes, arena *mem, model_doc *ret)
{
    pack_reader in;
    uint64_t number;
    cg_str name, none;

    *ret = (model_doc){0};
    return pack_open(&in, mem, bytes) && pack_take_number(&in, &number) &&
           pack_take_text(&in, &name) && pack_take_text(&in, &none) && number == 42 &&
           str_equal(name, CG_LIT("name")) && none.ptr == NULL &&
           pack_take(&in, &table_model_doc, ret) && pack_is_done(&in);
}

static void what_was_packed_comes_back(void **state)
{
    model_document document;
    buf bytes, before, after;
    model_doc again;
    arena mem;

    (void)state;
    make(&document);
    arena_init(&mem, &from);
    buf_init(&bytes, &from, SIZE_MAX / 2);
    buf_init(&before, &from, SIZE_MAX / 2);
    buf_init(&after, &from, SIZE_MAX / 2);
    pack(&document.doc, &bytes);
    assert_true(unpack(buf_text(&bytes), &mem, &again));
    print(&document.doc, &before);
    print(&again, &after);
    assert_true(str_equal(buf_text(&before), buf_text(&after)));
    buf_free(&bytes);
    buf_free(&before);
    buf_free(&after);
    arena_free(&mem);
    model_free(&document);
}

static bool has_same_bytes(const sc_table *table, const void *a, const void *b)
{
    pack_writer out;
    size_t middle;
    bool is_same;

    assert_true(pack_begin(&out, &from, 7));
    pack_record(&out, table, a);
    middle = out.words.len;
    pack_record(&out, table, b);
    is_same =
        out.words.len == 2 * middle && memcmp(out.words.at, out.words.at + middle, middle) == 0;
    pack_free(&out);
    return is_same;
}

static void compare(const sc_table *table, const void *a, const void *b, bool is_same)
{
    assert_int_equal(has_same_bytes(table, a, b), is_same);
    assert_int_equal(pack_equal(table, a, b), is_same);
}

static void records_are_equal_when_their_bytes_are(void **state)
{
    model_document document;
    model_parameter *first, other;
    model_location place;
    model_doc again;
    arena mem;
    buf bytes;

    (void)state;
    make(&document);
    arena_init(&mem, &from);
    buf_init(&bytes, &from, SIZE_MAX / 2);
    pack(&document.doc, &bytes);
    assert_true(unpack(buf_text(&bytes), &mem, &again));
    compare(&table_model_doc, &document.doc, &again, true);
    for (enum model_list which = 0; which < MODEL_LIST_COUNT; which++) {
        const sc_table *table = model_list_table(which);
        sc_records *a = model_list_of(&document.doc, which), *b = model_list_of(&again, which);

        assert_int_equal(a->count, b->count);
        for (size_t i = 0; i < a->count; i++) {
            for (size_t k = 0; k < b->count; k++)
                compare(table, (const char *)a->at + i * table->size,
                        (const char *)b->at + k * table->size, i == k);
        }
    }
    first = (model_parameter *)(uintptr_t)document.doc.parameters.at;
    other = *first;
    other.condition = (cg_str){0};
    first->condition = CG_LIT("");
    compare(&table_model_parameter, first, &other, false);
    other = *first;
    other.location = NULL;
    compare(&table_model_parameter, first, &other, false);
    place = *(const model_location *)first->location;
    other.location = &place;
    compare(&table_model_parameter, first, &other, true);
    place.byte_end++;
    compare(&table_model_parameter, first, &other, false);
    other = *first;
    other.uses.count = 0;
    compare(&table_model_parameter, first, &other, false);
    other = *first;
    other.evidence.count = 0;
    compare(&table_model_parameter, first, &other, false);
    /* An empty list of numbers is not the same as none. */
    other = *first;
    first->checkpoint_shape = (sc_u64s){&(uint64_t){1}, 0};
    other.checkpoint_shape = (sc_u64s){0};
    compare(&table_model_parameter, first, &other, false);
    buf_free(&bytes);
    arena_free(&mem);
    model_free(&document);
}

static void a_changed_byte_and_a_missing_end_are_noticed(void **state)
{
    model_document document;
    model_doc again;
    arena mem;
    buf bytes;

    (void)state;
    make(&document);
    arena_init(&mem, &from);
    buf_init(&bytes, &from, SIZE_MAX / 2);
    pack(&document.doc, &bytes);
    for (size_t i = 0; i < bytes.len; i++) {
        arena_place mark = arena_mark(&mem);

        bytes.at[i] = (char)(bytes.at[i] ^ 0x20);
        /* The last word of the head is spare. */
        assert_true(!unpack(buf_text(&bytes), &mem, &again) || (i >= 36 && i < 40));
        bytes.at[i] = (char)(bytes.at[i] ^ 0x20);
        assert_false(unpack((cg_str){bytes.at, i}, &mem, &again));
        arena_reset(&mem, mark);
    }
    buf_free(&bytes);
    arena_free(&mem);
    model_free(&document);
}

/* Values that nobody wrote, behind a head that is right. */
static void any_values_are_read_or_refused(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        pack_writer out;
        pack_reader in;
        model_doc doc = {0};
        arena mem;
        buf bytes;

        arena_init(&mem, &from);
        buf_init(&bytes, &from, SIZE_MAX / 2);
        assert_true(pack_begin(&out, &from, 7));
        pack_text(&out, CG_LIT("a"));
        out.words.len = 0;
        for (unsigned i = 0; i < 400; i++) {
            uint32_t word;

            seed = seed * 6364136223846793005u + 1442695040888963407u;
            word = (uint32_t)(seed >> 33) % 100 < 97 ? (uint32_t)(seed >> 40) % 3
                                                     : (uint32_t)(seed >> 32);
            buf_add(&out.words, (cg_str){(const char *)&word, sizeof word});
        }
        assert_true(pack_end(&out, &bytes));
        assert_true(pack_open(&in, &mem, buf_text(&bytes)));
        if (pack_take(&in, &table_model_doc, &doc)) {
            buf text;

            buf_init(&text, &from, SIZE_MAX / 2);
            print(&doc, &text);
            buf_free(&text);
        }
        pack_free(&out);
        buf_free(&bytes);
        arena_free(&mem);
    }
}

static void texts_are_utf8(void **state)
{
    pack_writer out;
    pack_reader in;
    arena mem;
    buf bytes;

    (void)state;
    arena_init(&mem, &from);
    buf_init(&bytes, &from, SIZE_MAX / 2);
    assert_true(pack_begin(&out, &from, 7));
    pack_text(&out, CG_LIT("\xff"));
    assert_true(pack_end(&out, &bytes));
    assert_false(pack_open(&in, &mem, buf_text(&bytes)));
    pack_free(&out);
    buf_free(&bytes);
    arena_free(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_packed_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(records_are_equal_when_their_bytes_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_changed_byte_and_a_missing_end_are_noticed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(any_values_are_read_or_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_are_utf8, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
