#include "unit/base/failing.h"

#include <stdio.h>

#include "schema/reader.h"
#include "support/records.h"
#include "support/same_record.h"

typedef struct fixture {
    heap from;
    arena mem;
    json_reader reader;
    buf text;
    cg_err err;
    rec_any record;
} fixture;

static void begin(fixture *f)
{
    heap_init(&f->from, NULL);
    arena_init(&f->mem, &f->from);
    json_init(&f->reader, &f->from, 127);
    buf_init(&f->text, &f->from, SIZE_MAX);
}

static void end(fixture *f)
{
    buf_free(&f->text);
    json_free(&f->reader);
    arena_free(&f->mem);
    assert_int_equal(f->from.used_bytes, 0);
}

static cg_code read_one(fixture *f, const sc_table *table, const char *text)
{
    yyjson_val *object = NULL;
    json_fault fault = {0};

    buf_clear(&f->text);
    record_text(&f->text, text);
    memset(&f->err, 0, sizeof f->err);
    if (json_read(&f->reader, buf_text(&f->text), &object, &fault) != CG_OK)
        fail_msg("not JSON (%s): %s", fault.text, text);
    return sc_read(table, object, &f->mem, &f->record, &f->err);
}

static void accept(fixture *f, const sc_table *table, const char *text)
{
    if (read_one(f, table, text) != CG_OK)
        fail_msg("%s: %s", f->err.text, text);
}

static void refuse(fixture *f, const sc_table *table, const char *problem, const char *text)
{
    if (read_one(f, table, text) != CG_INPUT)
        fail_msg("read: %s", text);
    if (strcmp(f->err.problem, problem) != 0)
        fail_msg("%s (%s) instead of %s: %s", f->err.problem, f->err.text, problem, text);
}

static void a_required_field_must_be_there(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    refuse(&f, &table_span_end, "field-missing", "{'kind':'span_end','duration_ns':1}");
    assert_string_equal(f.err.text, "`id` of a `span_end` record is missing");
    refuse(&f, &table_span_end, "field-missing", "{}");
    refuse(&f, &table_op, "field-missing",
           "{'kind':'op','span_id':'s','op_name':'o','shape':[],'dtype':'f32','device':'d',"
           "'duration_ns':1}");
    end(&f);
}

/* Take each field out of the full example: refused exactly when it is required. */
static void every_field_is_as_necessary_as_its_table_says(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        const sc_table *table = record_examples[i].table;

        for (unsigned gone = 0; gone < table->count; gone++) {
            const sc_field *field = &table->fields[gone];
            char key[80];
            char *at;
            cg_code code;
            char text[4096];

            snprintf(text, sizeof text, "%s", record_examples[i].full);
            snprintf(key, sizeof key, "'%.*s':", (int)field->key.len, field->key.ptr);
            at = strstr(text, key);
            assert_non_null(at);
            at[1] = '~'; /* unknown now */
            code = read_one(&f, table, text);
            if (field->rule == SC_REQUIRED) {
                assert_int_equal(code, CG_INPUT);
                assert_string_equal(f.err.problem, "field-missing");
            } else if (code != CG_OK) {
                fail_msg("%s: %s", f.err.text, text);
            }
        }
    }
    end(&f);
}

static void a_known_field_comes_once_an_unknown_one_as_often_as_it_likes(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    refuse(&f, &table_span_end, "field-twice", "{'kind':'span_end','id':'a','id':'a'}");
    refuse(&f, &table_span_end, "field-twice", "{'kind':'span_end','id':'a','kind':'span_end'}");
    refuse(&f, &table_terminal, "field-twice",
           "{'kind':'terminal','outcome':'complete','timestamp_ns':1,'reason':null,"
           "'reason':null}");
    refuse(&f, &table_meta, "field-twice",
           "{'capture_contract':{'operations':'none','operations':'none'}}");
    /* The key counts after its escapes are undone. */
    refuse(&f, &table_span_end, "field-twice", "{'kind':'span_end','id':'a','\\u0069d':'a'}");
    accept(&f, &table_span_end, "{'x':1,'kind':'span_end','x':{'id':'b'},'id':'a','x':[]}");
    assert_text(f.record.span_end.id, "a");
    accept(&f, &table_span_end, "{'kind':'span_end','id':'a','Id':'b','id ':'c'}");
    end(&f);
}

static void null_is_absent_for_optional_fields_only(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    accept(&f, &table_span_start,
           "{'kind':'span_start','id':'a','parent_id':null,'name':'n','start_ns':1,"
           "'span_kind':'op','step':null}");
    assert_null(f.record.span_start.parent_id.ptr);
    assert_int_equal(f.record.span_start.step, STEP_NONE);
    accept(&f, &table_device_memory,
           "{'kind':'device_memory','timestamp_ns':1,'device':'d','used_bytes':null}");
    assert_false(f.record.device_memory.used_bytes.is_set);
    accept(&f, &table_gradient,
           "{'kind':'gradient','event_id':'e','root':'r','key':'k','state':'zero','norm':null}");
    assert_false(f.record.gradient.norm.is_set);
    refuse(&f, &table_span_start, "field-type",
           "{'kind':'span_start','id':'a','name':'n','start_ns':1,'span_kind':'op',"
           "'measured':null}");
    assert_string_equal(f.err.text,
                        "`measured` of a `span_start` record must be true or false, found null");
    refuse(&f, &table_span_end, "field-type", "{'kind':'span_end','id':null}");
    refuse(&f, &table_span_end, "field-type", "{'kind':'span_end','id':'a','duration_ns':null}");
    refuse(&f, &table_tensor_event, "field-type", "{'requires_grad':null}");
    refuse(&f, &table_tensor_event, "field-type", "{'category':null}");
    refuse(&f, &table_memory, "field-type", "{'shape':null}");
    refuse(&f, &table_op, "field-type", "{'inputs':null}");
    refuse(&f, &table_op, "field-type", "{'timestamp_ns':null}");
    refuse(&f, &table_meta, "field-type", "{'measured_region_device_synchronized':null}");
    refuse(&f, &table_meta, "field-type", "{'tags':null}");
    refuse(&f, &table_meta, "field-type", "{'capture_contract':null}");
    refuse(&f, &table_contract, "field-type", "{'tensors':null}");
    refuse(&f, &table_contract, "field-type", "{'gpu_expected_semantic_labels':null}");
    accept(&f, &table_contract,
           "{'measurement_scope':'unknown','operations':'none','gradient_contract':null,"
           "'logical_memory':'none','physical_memory':'none','device_timing':'none'}");
    end(&f);
}

static void integers_are_whole_and_plain(void **state)
{
    static const char *const wrong[] = {
        "-1",     "-0",  "1.0", "0.0", "1e2", "'5'", "true", "null", "18446744073709551616",
        "1e-400", "[1]", "{}"};
    char text[120];
    fixture f;

    (void)state;
    begin(&f);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "{'duration_ns':%s}", wrong[i]);
        refuse(&f, &table_span_end, "field-type", text);
        snprintf(text, sizeof text, "{'shape':[1,%s]}", wrong[i]);
        refuse(&f, &table_op, "field-type", text);
        snprintf(text, sizeof text, "{'min_present':%s}", wrong[i]);
        refuse(&f, &table_family, "field-type", text);
    }
    accept(&f, &table_span_end, "{'kind':'span_end','id':'a','duration_ns':18446744073709551615}");
    assert_true(f.record.span_end.duration_ns == UINT64_MAX);
    accept(&f, &table_span_end, "{'kind':'span_end','id':'a','duration_ns':0}");
    assert_true(f.record.span_end.duration_ns == 0);
    end(&f);
}

static double read_norm(fixture *f, const char *spelling)
{
    char text[200];

    snprintf(text, sizeof text,
             "{'kind':'gradient','event_id':'e','root':'r','key':'k','state':'zero','norm':%s}",
             spelling);
    accept(f, &table_gradient, text);
    assert_true(f->record.gradient.norm.is_set);
    return f->record.gradient.norm.value;
}

static void reals_take_every_json_spelling(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    assert_true(same_bits(read_norm(&f, "1"), 1.0));
    assert_true(same_bits(read_norm(&f, "-7"), -7.0));
    assert_true(same_bits(read_norm(&f, "0"), 0.0));
    assert_true(same_bits(read_norm(&f, "-0"), -0.0));
    assert_true(same_bits(read_norm(&f, "-0.0"), -0.0));
    assert_true(same_bits(read_norm(&f, "-0e5"), -0.0));
    assert_true(same_bits(read_norm(&f, "1e2"), 100.0));
    assert_true(same_bits(read_norm(&f, "1E+2"), 100.0));
    assert_true(same_bits(read_norm(&f, "1.5e-1"), 0.15));
    assert_true(same_bits(read_norm(&f, "5e-324"), 5e-324));
    assert_true(same_bits(read_norm(&f, "1e-400"), 0.0));
    assert_true(same_bits(read_norm(&f, "-1e-400"), -0.0));
    assert_true(same_bits(read_norm(&f, "1.7976931348623157e308"), 1.7976931348623157e308));
    assert_true(same_bits(read_norm(&f, "18446744073709551616"), 18446744073709551616.0));
    assert_true(same_bits(read_norm(&f, "9007199254740993"), 9007199254740992.0));
    /* A value that the reference reads one unit off (quirk Q1). */
    assert_true(same_bits(read_norm(&f, "31.245270191439438"), 31.245270191439438));
    refuse(&f, &table_gradient, "field-type", "{'norm':'1'}");
    refuse(&f, &table_gradient, "field-type", "{'norm':true}");
    refuse(&f, &table_stats_event, "field-type", "{'rms':null}");
    end(&f);
}

static void words_lists_and_objects_have_their_type(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    refuse(&f, &table_span_start, "unknown-word", "{'span_kind':'Op'}");
    assert_string_equal(f.err.text, "`Op` is no span kind (`span_kind` of a `span_start` record)");
    refuse(&f, &table_span_start, "unknown-word", "{'span_kind':''}");
    refuse(&f, &table_span_start, "unknown-word", "{'step':''}");
    refuse(&f, &table_span_start, "field-type", "{'span_kind':{'op':null}}");
    refuse(&f, &table_span_start, "field-type", "{'span_kind':1}");
    refuse(&f, &table_span_start, "field-type", "{'measured':'true'}");
    refuse(&f, &table_span_start, "field-type", "{'measured':1}");
    refuse(&f, &table_span_start, "field-type", "{'id':5}");
    refuse(&f, &table_op, "field-type", "{'inputs':'x'}");
    refuse(&f, &table_op, "field-type", "{'inputs':['x',1]}");
    refuse(&f, &table_op, "field-type", "{'shape':{}}");
    refuse(&f, &table_meta, "field-type", "{'tags':[]}");
    refuse(&f, &table_meta, "field-type", "{'tags':{'a':1}}");
    refuse(&f, &table_meta, "field-type", "{'capture_contract':[]}");
    assert_string_equal(f.err.text, "the capture contract must be an object, found an array");
    refuse(&f, &table_gradient_contract, "field-type", "{'expected':{}}");
    refuse(&f, &table_gradient_contract, "field-type", "{'expected':['a']}");
    refuse(&f, &table_gradient_contract, "unknown-word",
           "{'families':[{'family':'f','expectation':'maybe'}]}");
    refuse(&f, &table_span_end, "field-type", "['span_end','s3',5]");
    end(&f);
}

static void a_map_is_sorted_and_the_last_of_equal_keys_counts(void **state)
{
    const sc_map *tags = NULL;
    fixture f;

    (void)state;
    begin(&f);
    accept(&f, &table_meta,
           "{'kind':'meta','schema':'s','run_id':'r','correlation_id':'c','entrypoint':'e',"
           "'phase':'train','timestamp':'t','capture_step':1,'warmup_steps':0,'device':'d',"
           "'timing_mode':'host','capture_contract':{'measurement_scope':'unknown',"
           "'operations':'none','logical_memory':'none','physical_memory':'none',"
           "'device_timing':'none'},'tags':{'b':'1','\xc3\xa9':'2','a':'3','B':'4','b':'5',"
           "'':'6','ab':'7','b':'8'}}");
    tags = &f.record.meta.tags;
    assert_int_equal(tags->count, 6);
    assert_text(tags->at[0].key, "");
    assert_text(tags->at[1].key, "B");
    assert_text(tags->at[2].key, "a");
    assert_text(tags->at[3].key, "ab");
    assert_text(tags->at[4].key, "b");
    assert_text(tags->at[4].value, "8");
    assert_text(tags->at[5].key, "\xc3\xa9");
    end(&f);
}

static void texts_keep_every_byte_behind_their_escapes(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    accept(&f, &table_span_end,
           "{'kind':'span_end','id':'\\u0000\\b\\f\\n\\r\\t\\/\\\\\\\"\\u00e9\\ud83d\\ude00'}");
    assert_true(
        same_text(f.record.span_end.id, CG_LIT("\0\b\f\n\r\t/\\\"\xc3\xa9\xf0\x9f\x98\x80")));
    end(&f);
}

static void a_kept_record_outlives_its_json_reader(void **state)
{
    fixture f;

    (void)state;
    begin(&f);
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        const sc_table *table = record_examples[i].table;
        rec_any kept;
        arena long_lived;

        arena_init(&long_lived, &f.from);
        accept(&f, table, record_examples[i].full);
        kept = f.record;
        assert_int_equal(sc_keep(table, &kept, &long_lived, NULL), CG_OK);
        /* Whatever is borrowed still is gone now; a sanitizer would tell. */
        json_free(&f.reader);
        arena_free(&f.mem);
        arena_init(&f.mem, &f.from);
        accept(&f, table, record_examples[i].full);
        assert_true(same_record(table, &kept, &f.record));
        arena_free(&long_lived);
    }
    end(&f);
}

static void no_memory_is_an_error_of_its_own(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing memory = {0};
        rec_any record;
        rec_any kept;
        yyjson_val *object = NULL;
        json_fault fault;
        heap from;
        arena mem;
        json_reader reader;
        buf text;
        cg_code code;

        heap_init(&from, failing_env(&memory));
        arena_init(&mem, &from);
        json_init(&reader, &from, 127);
        buf_init(&text, &from, SIZE_MAX);
        record_text(&text, record_examples[RECORD_META].full);
        assert_int_equal(json_read(&reader, buf_text(&text), &object, &fault), CG_OK);
        memory.fail_at = memory.requests + k;
        code = sc_read(&table_meta, object, &mem, &record, NULL);
        if (code == CG_OK) {
            kept = record;
            code = sc_keep(&table_meta, &kept, &mem, NULL);
        }
        arena_free(&mem);
        json_free(&reader);
        buf_free(&text);
        assert_nothing_held(&memory, &from);
        if (code == CG_OK)
            break;
        assert_int_equal(code, CG_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_required_field_must_be_there),
        cmocka_unit_test(every_field_is_as_necessary_as_its_table_says),
        cmocka_unit_test(a_known_field_comes_once_an_unknown_one_as_often_as_it_likes),
        cmocka_unit_test(null_is_absent_for_optional_fields_only),
        cmocka_unit_test(integers_are_whole_and_plain),
        cmocka_unit_test(reals_take_every_json_spelling),
        cmocka_unit_test(words_lists_and_objects_have_their_type),
        cmocka_unit_test(a_map_is_sorted_and_the_last_of_equal_keys_counts),
        cmocka_unit_test(texts_keep_every_byte_behind_their_escapes),
        cmocka_unit_test(a_kept_record_outlives_its_json_reader),
        cmocka_unit_test(no_memory_is_an_error_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
