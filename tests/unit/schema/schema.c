#include "unit/base/failing.h"

#include "schema/reader.h"
#include "schema/schema.h"
#include "support/records.h"
#include "support/same_record.h"

typedef struct fixture {
    heap from;
    arena mem;
    json_reader first;
    json_reader second; /* texts of a record borrow from its reader */
    buf text;
    buf out;
} fixture;

static void begin(fixture *f)
{
    heap_init(&f->from, NULL);
    arena_init(&f->mem, &f->from);
    json_init(&f->first, &f->from, 127);
    json_init(&f->second, &f->from, 127);
    buf_init(&f->text, &f->from, SIZE_MAX);
    buf_init(&f->out, &f->from, SIZE_MAX);
}

static void end(fixture *f)
{
    buf_free(&f->out);
    buf_free(&f->text);
    json_free(&f->second);
    json_free(&f->first);
    arena_free(&f->mem);
    assert_int_equal(f->from.used_bytes, 0);
}

static void parse(fixture *f, json_reader *reader, const sc_table *table, cg_str text, void *ret)
{
    yyjson_val *object = NULL;
    json_fault fault = {0};
    cg_err err = {0};

    if (json_read(reader, text, &object, &fault) != CG_OK)
        fail_msg("%s: %.*s", fault.text, (int)text.len, text.ptr);
    if (sc_read(table, object, &f->mem, ret, &err) != CG_OK)
        fail_msg("%s: %.*s", err.text, (int)text.len, text.ptr);
}

static void write(fixture *f, const sc_table *table, const void *record, bool is_sorted)
{
    const cg_sink sink = {&f->out, record_sink};
    jsonw out;

    buf_clear(&f->out);
    assert_int_equal(jw_init(&out, &f->from, sink, false, is_sorted), CG_OK);
    sc_write(&out, table, record);
    assert_int_equal(jw_finish(&out, NULL), CG_OK);
    /* The compact form of a whole document may or may not end its line. */
    while (f->out.len > 0 && f->out.at[f->out.len - 1] == '\n')
        f->out.len--;
}

/* Keys of every object ascend bytewise. */
static void expect_sorted_keys(yyjson_val *root, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        yyjson_val *object = root + i;
        yyjson_val *key = yyjson_is_obj(object) ? object + 1 : NULL;
        cg_str last = {NULL, 0};

        for (size_t n = yyjson_is_obj(object) ? unsafe_yyjson_get_len(object) : 0; n > 0; n--) {
            if (last.ptr != NULL)
                assert_true(str_compare(last, json_text(key)) < 0);
            last = json_text(key);
            key = unsafe_yyjson_get_next(key + 1);
        }
    }
}

static void expect_out(fixture *f, const char *want)
{
    buf_clear(&f->text);
    record_text(&f->text, want);
    if (!str_equal(buf_text(&f->out), buf_text(&f->text)))
        fail_msg("wrote %.*s\n want %.*s", (int)f->out.len, f->out.at, (int)f->text.len,
                 f->text.at);
}

static void every_record_is_written_as_it_was_read(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        const record_example *example = &record_examples[i];
        rec_any record;

        buf_clear(&f.text);
        record_text(&f.text, example->full);
        parse(&f, &f.first, example->table, buf_text(&f.text), &record);
        write(&f, example->table, &record, false);
        expect_out(&f, example->full);

        buf_clear(&f.text);
        record_text(&f.text, example->least);
        parse(&f, &f.first, example->table, buf_text(&f.text), &record);
        write(&f, example->table, &record, false);
        expect_out(&f, example->again);
    }
    end(&f);
}

static void every_record_survives_both_orders_of_writing(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    for (size_t i = 0; i < 4 * (size_t)RECORD_COUNT; i++) {
        const record_example *example = &record_examples[i / 4];
        bool is_sorted = i % 2 == 1;
        rec_any record;
        rec_any again;

        buf_clear(&f.text);
        record_text(&f.text, i / 2 % 2 == 0 ? example->full : example->least);
        parse(&f, &f.first, example->table, buf_text(&f.text), &record);
        write(&f, example->table, &record, is_sorted);
        parse(&f, &f.second, example->table, buf_text(&f.out), &again);
        if (is_sorted)
            expect_sorted_keys(f.second.doc->root, f.second.doc_count);
        if (!same_record(example->table, &record, &again))
            fail_msg("differs: %.*s", (int)f.out.len, f.out.at);
    }
    end(&f);
}

static void the_members_alone_are_written_into_an_open_object(void **state)
{
    const rec_span_end record = {.id = CG_LIT("s1"), .duration_ns = 7};
    fixture f;
    jsonw out;

    (void)state;
    begin(&f);
    assert_int_equal(jw_init(&out, &f.from, (cg_sink){&f.out, record_sink}, false, false), CG_OK);
    jw_object(&out);
    jw_key(&out, CG_LIT("before"));
    jw_bool(&out, true);
    sc_write_members(&out, &table_span_end, &record);
    jw_end(&out);
    assert_int_equal(jw_finish(&out, NULL), CG_OK);
    expect_out(&f, "{'before':true,'kind':'span_end','id':'s1','duration_ns':7}");
    end(&f);
}

/* --- rules that no trace record has --- */

static const sc_words color_words = {"color", (const cg_str[]){{"", 0}, {"red", 3}, {"blue", 4}},
                                     3};

#define INNER_FIELDS(F) F(U64, number, "number", REQUIRED, no_sub)
SC_STRUCT(INNER_FIELDS, rec_inner)
#define RULES_FIELDS(F)                                                                            \
    F(STR, text, "text", NULLABLE, no_sub)                                                         \
    F(OPT_U64, count, "count", NULLABLE, no_sub)                                                   \
    F(OPT_F64, ratio, "ratio", NULLABLE, no_sub)                                                   \
    F(WORD, color, "color", NULLABLE, color_words)                                                 \
    F(RECORD, inner, "inner", NULLABLE, table_inner)                                               \
    F(RECORDS, rows, "rows", OMIT_EMPTY, table_inner)                                              \
    F(U64S, numbers, "numbers", OMIT_EMPTY, no_sub)                                                \
    F(MAP, map, "map", OMIT_EMPTY, no_sub)                                                         \
    F(COUNTS, counts, "counts", OMIT_EMPTY, no_sub)                                                \
    F(STREAM, stream, "stream", OPTIONAL, no_sub)
SC_STRUCT(RULES_FIELDS, rec_rules)

#define F(type, member, key, rule, sub)                                                            \
    {{key, sizeof(key) - 1}, SC_##type, SC_##rule, offsetof(RECORD_TYPE, member), &sub},
#define RECORD_TYPE rec_inner
static const sc_field inner_fields[] = {INNER_FIELDS(F)};
#undef RECORD_TYPE
static const sc_table table_inner = {"inner", {"", 0}, inner_fields, 1, sizeof(rec_inner)};
#define RECORD_TYPE rec_rules
static const sc_field rules_fields[] = {RULES_FIELDS(F)};
#undef RECORD_TYPE
#undef F
static const sc_table table_rules = {"rules",
                                     {"", 0},
                                     rules_fields,
                                     sizeof rules_fields / sizeof rules_fields[0],
                                     sizeof(rec_rules)};

static void emit_pair(jsonw *out, const void *context)
{
    jw_array(out);
    jw_u64(out, *(const uint64_t *)context);
    jw_null(out);
    jw_end(out);
}

static void unset_members_are_null_or_left_out_by_their_rule(void **state)
{
    const rec_rules nothing = {0};
    fixture f;

    (void)state;
    begin(&f);
    write(&f, &table_rules, &nothing, false);
    expect_out(&f, "{'text':null,'count':null,'ratio':null,'color':null,'inner':null}");
    write(&f, &table_rules, &nothing, true);
    expect_out(&f, "{'color':null,'count':null,'inner':null,'ratio':null,'text':null}");
    end(&f);
}

static void set_members_are_written_in_full(void **state)
{
    const rec_inner inner = {5};
    const rec_inner rows[] = {{1}, {2}};
    const uint64_t numbers[] = {0, UINT64_MAX};
    const sc_pair pairs[] = {{CG_LIT("a"), CG_LIT("1")}, {CG_LIT("b"), CG_LIT("")}};
    const sc_count counts[] = {{CG_LIT("z"), 1}, {CG_LIT("y"), 2}};
    const uint64_t streamed = 9;
    const rec_rules record = {
        .text = CG_LIT(""),
        .count = {0, true},
        .ratio = {-0.0, true},
        .color = 2,
        .inner = &inner,
        .rows = {rows, 2},
        .numbers = {numbers, 2},
        .map = {pairs, 2},
        .counts = {counts, 2},
        .stream = {emit_pair, &streamed},
    };
    fixture f;

    (void)state;
    begin(&f);
    write(&f, &table_rules, &record, false);
    expect_out(&f, "{'text':'','count':0,'ratio':-0.0,'color':'blue','inner':{'number':5},"
                   "'rows':[{'number':1},{'number':2}],'numbers':[0,18446744073709551615],"
                   "'map':{'a':'1','b':''},'counts':{'z':1,'y':2},'stream':[9,null]}");
    end(&f);
}

static void words_are_found_by_their_whole_spelling(void **state)
{
    (void)state;
    assert_int_equal(sc_find_word(&color_words, CG_LIT("red")), 1);
    assert_int_equal(sc_find_word(&color_words, CG_LIT("blue")), 2);
    assert_int_equal(sc_find_word(&color_words, CG_LIT("Red")), -1);
    assert_int_equal(sc_find_word(&color_words, CG_LIT("re")), -1);
    assert_int_equal(sc_find_word(&color_words, CG_LIT("redd")), -1);
    assert_int_equal(sc_find_word(&color_words, CG_LIT("")), -1);
    assert_text(sc_word(&color_words, 2), "blue");
}

static void a_writer_without_memory_for_the_order_says_so(void **state)
{
    const rec_span_end record = {.id = CG_LIT("s1")};
    failing memory = {.fail_at = 2}; /* the first is the buffer of the writer */
    heap from;
    heap text;
    buf bytes;
    jsonw out;

    (void)state;
    heap_init(&from, failing_env(&memory));
    heap_init(&text, NULL);
    buf_init(&bytes, &text, SIZE_MAX);
    assert_int_equal(jw_init(&out, &from, (cg_sink){&bytes, record_sink}, false, true), CG_OK);
    sc_write(&out, &table_span_end, &record);
    assert_int_equal(jw_finish(&out, NULL), CG_NOMEM);
    buf_free(&bytes);
    assert_nothing_held(&memory, &from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_written_as_it_was_read),
        cmocka_unit_test(every_record_survives_both_orders_of_writing),
        cmocka_unit_test(the_members_alone_are_written_into_an_open_object),
        cmocka_unit_test(unset_members_are_null_or_left_out_by_their_rule),
        cmocka_unit_test(set_members_are_written_in_full),
        cmocka_unit_test(words_are_found_by_their_whole_spelling),
        cmocka_unit_test(a_writer_without_memory_for_the_order_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
