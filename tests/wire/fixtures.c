/* The fixture traces, and the verdict on every invalid one (tests/data/invalid/verdicts.json). */
#include "unit/base/failing.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/os.h"
#include "exec/trace.h"
#include "schema/reader.h"
#include "support/records.h"
#include "support/same_record.h"

#define TRACES  "tests/data/traces"
#define INVALID "tests/data/invalid"

static void read_file(heap *from, const char *path, buf *ret)
{
    cg_err err = {0};

    buf_init(ret, from, SIZE_MAX);
    if (os_read_whole(NULL, str_from(path), ret, &err) != CG_OK)
        fail_msg("%s: %s", path, err.text);
}

static yyjson_val *member(yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);

    if (value == NULL)
        fail_msg("no `%s` in verdicts.json", key);
    return value;
}

static void every_invalid_trace_gets_its_verdict(void **state)
{
    unsigned refused = 0;
    unsigned read = 0;
    json_reader reader;
    json_fault fault;
    yyjson_val *list = NULL;
    yyjson_val *row;
    heap from;
    buf text;
    size_t i;
    size_t count;

    (void)state;
    heap_init(&from, NULL);
    json_init(&reader, &from, 127);
    read_file(&from, INVALID "/verdicts.json", &text);
    assert_int_equal(json_read(&reader, buf_text(&text), &list, &fault), CG_OK);
    yyjson_arr_foreach(list, i, count, row)
    {
        bool at_parse = str_equal(json_text(member(row, "stage")), CG_LIT("parse"));
        cg_str name = json_text(member(row, "file"));
        trace_doc *doc = NULL;
        cg_err err = {0};
        char path[512];
        cg_code code;

        snprintf(path, sizeof path, INVALID "/%.*s", (int)name.len, name.ptr);
        code = trace_read_file(NULL, str_from(path), &doc, &err);
        if (code != (at_parse ? CG_INPUT : CG_OK))
            fail_msg("%s: %s%s", path,
                     at_parse ? "read, but must be refused" : "refused: ", err.text);
        if (at_parse) {
            refused++;
            /* Every refusal has its place; an empty input has no line. */
            if (!err.has_offset || (err.line == 0 && err.offset > 0))
                fail_msg("%s: no place: %s", path, err.text);
            assert_string_equal(err.file, path);
        } else {
            read++;
        }
        trace_free(doc);
    }
    assert_true(refused > 70 && read > 70);
    buf_free(&text);
    json_free(&reader);
    assert_int_equal(from.used_bytes, 0);
}

/* The reference takes arrays for records and objects for words; we do not (format page). */
static bool is_positional(const char *name)
{
    return strcmp(name, "quirk-array-records.jsonl") == 0 ||
           strcmp(name, "quirk-enum-as-object.jsonl") == 0;
}

static const sc_table *table_of(yyjson_val *object)
{
    const char *data = "data";

    for (size_t i = 0; i < RECORD_COUNT; i++) {
        const sc_table *table = record_examples[i].table;

        if (!yyjson_equals_strn(yyjson_obj_get(object, "kind"), table->tag.ptr, table->tag.len))
            continue;
        if (i == RECORD_CALL_EDGE && yyjson_equals_str(yyjson_obj_get(object, "edge_kind"), data))
            continue;
        return table;
    }
    fail_msg("a kind of record without example");
    return NULL;
}

/* Read, write in both orders, read again: the same. Returns whether the bytes are the same too. */
static bool round_trip(heap *from, json_reader *first, json_reader *second, cg_str line)
{
    bool is_verbatim = false;
    yyjson_val *object = NULL;
    json_fault fault;
    arena mem;
    buf out;

    arena_init(&mem, from);
    buf_init(&out, from, SIZE_MAX);
    assert_int_equal(json_read(first, line, &object, &fault), CG_OK);
    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        const sc_table *table = table_of(object);
        yyjson_val *object_again = NULL;
        rec_any record;
        rec_any again;
        jsonw to;

        buf_clear(&out);
        assert_int_equal(sc_read(table, object, &mem, &record, NULL), CG_OK);
        assert_int_equal(jw_init(&to, from, (cg_sink){&out, record_sink}, false, is_sorted != 0),
                         CG_OK);
        sc_write(&to, table, &record);
        assert_int_equal(jw_finish(&to, NULL), CG_OK);
        if (is_sorted == 0)
            is_verbatim = str_equal(line, buf_text(&out));
        assert_int_equal(json_read(second, buf_text(&out), &object_again, &fault), CG_OK);
        assert_int_equal(sc_read(table, object_again, &mem, &again, NULL), CG_OK);
        if (!same_record(table, &record, &again))
            fail_msg("changed by writing: %.*s", (int)line.len, line.ptr);
    }
    buf_free(&out);
    arena_free(&mem);
    return is_verbatim;
}

static void every_valid_trace_is_read_and_its_records_survive_writing(void **state)
{
    DIR *folder = opendir(TRACES);
    unsigned traces = 0;
    unsigned records = 0;
    unsigned verbatim = 0;
    json_reader first;
    json_reader second;
    heap from;

    (void)state;
    assert_non_null(folder);
    heap_init(&from, NULL);
    json_init(&first, &from, 127);
    json_init(&second, &from, 127);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        trace_doc *doc = NULL;
        cg_err err = {0};
        char path[512];
        cg_code code;
        cg_str rest;
        buf text;

        if (strstr(entry->d_name, ".jsonl") == NULL)
            continue;
        snprintf(path, sizeof path, TRACES "/%.300s", entry->d_name);
        code = trace_read_file(NULL, str_from(path), &doc, &err);
        trace_free(doc);
        if (is_positional(entry->d_name)) {
            assert_int_equal(code, CG_INPUT);
            continue;
        }
        if (code != CG_OK)
            fail_msg("%s:%" PRIu64 ": %s", path, err.line, err.text);
        traces++;
        read_file(&from, path, &text);
        for (rest = buf_text(&text); rest.len > 0;) {
            size_t len = str_find(rest, CG_LIT("\n"));
            cg_str line = {rest.ptr, len == SIZE_MAX ? rest.len : len};
            size_t step = line.len + (len != SIZE_MAX);

            rest = (cg_str){rest.ptr + step, rest.len - step};
            line = str_trim(line);
            if (line.len > 0) {
                records++;
                verbatim += round_trip(&from, &first, &second, line);
            }
        }
        buf_free(&text);
    }
    closedir(folder);
    assert_true(traces >= 35);
    /* Most fixtures are spelled as a writer spells them: our bytes are theirs. */
    print_message("%u records of %u traces, %u written byte for byte\n", records, traces, verbatim);
    assert_true(verbatim > records / 2);
    json_free(&second);
    json_free(&first);
    assert_int_equal(from.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_invalid_trace_gets_its_verdict),
        cmocka_unit_test(every_valid_trace_is_read_and_its_records_survive_writing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
