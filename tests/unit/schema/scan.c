#include "unit/base/failing.h"

#include "base/buf.h"
#include "base/num.h"
#include "schema/reader.h"
#include "schema/scan.h"
#include "schema/trace_schema.h"
#include "support/same_record.h"

#define ROUNDS 400000


typedef struct fixture {
    heap from;
    arena mem;
    json_reader reader;
    buf line;
    uint64_t random;
} fixture;

static void begin(fixture *f)
{
    heap_init(&f->from, NULL);
    arena_init(&f->mem, &f->from);
    json_init(&f->reader, &f->from, 127);
    buf_init(&f->line, &f->from, 1 << 20);
    f->random = UINT64_C(0x9e3779b97f4a7c15);
}

static void end(fixture *f)
{
    buf_free(&f->line);
    json_free(&f->reader);
    arena_free(&f->mem);
    assert_int_equal(f->from.used_bytes, 0);
}

/* xorshift64*: the same lines in every run and on every machine. */
static uint64_t draw(fixture *f, uint64_t below)
{
    f->random ^= f->random >> 12;
    f->random ^= f->random << 25;
    f->random ^= f->random >> 27;
    return (f->random * UINT64_C(0x2545f4914f6cdd1d) >> 11) % below;
}

static bool chance(fixture *f, unsigned percent)
{
    return draw(f, 100) < percent;
}

static void put(fixture *f, const char *text)
{
    buf_add(&f->line, str_from(text));
}

#define PICK(f, list) (list)[draw((f), sizeof(list) / sizeof((list)[0]))]

static void put_space(fixture *f, bool is_odd)
{
    static const char *const spaces[] = {" ", "\t", "\r", "  ", "\n", "\xc2\xa0"};

    if (is_odd && chance(f, 3))
        put(f, PICK(f, spaces));
}

static void put_text(fixture *f, bool is_odd)
{
    static const char *const exotic[] = {"\\\"",
                                         "\\\\",
                                         "\\/",
                                         "\\n",
                                         "\\u0000",
                                         "\\u00e9",
                                         "\\ud83d\\ude00",
                                         "\\ud83d",
                                         "\\x",
                                         "\xc3\xa9",
                                         "\xf0\x9f\x98\x80",
                                         "\xff",
                                         "\xc2",
                                         "\x01",
                                         "\x1f",
                                         "\x7f",
                                         "\n",
                                         "'",
                                         "\\"};
    uint64_t len = draw(f, chance(f, 20) ? 40 : 9);

    buf_byte(&f->line, '"');
    for (uint64_t i = 0; i < len; i++) {
        if (is_odd && chance(f, 2))
            put(f, PICK(f, exotic));
        else
            buf_byte(&f->line, "abcXYZ019_-./: {}[],~"[draw(f, 21)]);
    }
    buf_byte(&f->line, '"');
}

static void put_u64(fixture *f, bool is_odd)
{
    static const char *const edges[] = {"0",
                                        "1",
                                        "9",
                                        "10",
                                        "9007199254740991",
                                        "9007199254740993",
                                        "4294967296",
                                        "999999999999999999",
                                        "1000000000000000000",
                                        "9999999999999999999"};
    static const char *const odd[] = {"10000000000000000000",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "18446744073709551620",
                                      "99999999999999999999",
                                      "00",
                                      "01",
                                      "-0",
                                      "-1",
                                      "1.0",
                                      "1e2",
                                      "\"5\"",
                                      "null",
                                      "1.",
                                      "+1",
                                      "0x1",
                                      "",
                                      "1_0",
                                      "123456789012345678901234567890"};
    char digits[NUM_U64_ROOM];

    if (is_odd && chance(f, 8)) {
        put(f, PICK(f, odd));
    } else if (chance(f, 40)) {
        put(f, PICK(f, edges));
    } else {
        uint64_t value = draw(f, UINT64_MAX) >> draw(f, 53);

        buf_add(&f->line, (cg_str){digits, num_write_u64(digits, value)});
    }
}

static double draw_double(fixture *f)
{
    uint64_t bits = draw(f, UINT64_MAX) << 11 ^ draw(f, UINT64_MAX);
    double value;

    if (chance(f, 60)) /* magnitudes that people meet */
        return ((double)draw(f, UINT64_C(1) << 40) - (double)(UINT64_C(1) << 39)) /
               (double)(UINT64_C(1) << draw(f, 40));
    memcpy(&value, &bits, sizeof value);
    return value - value == 0.0 ? value : 0.0;
}

static void put_f64(fixture *f, bool is_odd)
{
    static const char *const edges[] = {"0",
                                        "-0",
                                        "0.0",
                                        "-0.0",
                                        "1",
                                        "-1",
                                        "0.5",
                                        "-12.25",
                                        "0.1",
                                        "0.3",
                                        "1.1",
                                        "100.01",
                                        "999999999999999",
                                        "-999999999999999",
                                        "99999999999999.9",
                                        "0.99999999999999",
                                        "0.00000000000001",
                                        "123456789.012345",
                                        "7.00000000000000",
                                        "0.10000000000000"};
    static const char *const odd[] = {"9999999999999999",
                                      "0.123456789012345",
                                      "0.1234567890123456789",
                                      "9007199254740993.0",
                                      "1e5",
                                      "1E5",
                                      "1e+5",
                                      "1.5e-3",
                                      "5e-324",
                                      "2e-400",
                                      "1e400",
                                      "-1e999999",
                                      "00.5",
                                      ".5",
                                      "1.",
                                      "-",
                                      "-.5",
                                      "01",
                                      "NaN",
                                      "Infinity",
                                      "null",
                                      "\"1\"",
                                      "1e",
                                      "1e+",
                                      "0x1p3",
                                      "1.5.5",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "31.245270191439438"};
    char digits[NUM_F64_ROOM];

    if (is_odd && chance(f, 12))
        put(f, PICK(f, odd));
    else if (chance(f, 40))
        put(f, PICK(f, edges));
    else if (chance(f, 50))
        buf_addf(&f->line, "%.*f", (int)draw(f, 16),
                 ((double)draw(f, UINT64_C(1) << 50) - (double)(UINT64_C(1) << 49)) / 1024.0);
    else if (chance(f, 20))
        buf_addf(&f->line, "%.17g", draw_double(f));
    else
        buf_add(&f->line, (cg_str){digits, num_write_f64(digits, draw_double(f))});
}

static void put_value(fixture *f, const sc_field *field, bool is_odd)
{
    static const char *const bools[] = {"true", "false"};
    static const char *const odd[] = {"null", "{}", "[]", "\"\"", "0", "tru", "True", "[null]"};

    if (is_odd && chance(f, 3)) {
        put(f, PICK(f, odd));
        return;
    }
    switch ((enum sc_type)field->type) {
    case SC_STR: put_text(f, is_odd); return;
    case SC_U64:
    case SC_OPT_U64: put_u64(f, is_odd); return;
    case SC_F64:
    case SC_OPT_F64: put_f64(f, is_odd); return;
    case SC_BOOL: put(f, PICK(f, bools)); return;
    case SC_WORD: {
        const sc_words *words = field->sub;

        buf_byte(&f->line, '"');
        buf_add(&f->line, words->at[draw(f, words->count)]);
        buf_byte(&f->line, '"');
        return;
    }
    case SC_U64S:
    case SC_STRS: {
        /* Around the longest list that scan takes, now and then. */
        uint64_t count = chance(f, 3) ? 62 + draw(f, 5) : draw(f, 5);

        buf_byte(&f->line, '[');
        for (uint64_t i = 0; i < count; i++) {
            if (i > 0)
                buf_byte(&f->line, ',');
            if (field->type == SC_STRS)
                put_text(f, is_odd);
            else
                put_u64(f, is_odd);
            put_space(f, is_odd);
        }
        put(f, is_odd && chance(f, 2) ? ",]" : "]");
        return;
    }
    case SC_RECORD:
    case SC_RECORDS:
    case SC_MAP:
    case SC_COUNTS:
    case SC_OPT_BOOL:
    case SC_ENTRIES:
    case SC_AXES:
    case SC_TAGGED:
    case SC_TAG:
    case SC_STREAM: put(f, "{}"); return;
    }
}

static void put_member(fixture *f, const sc_table *table, unsigned number, bool is_odd)
{
    const sc_field *field = &table->fields[number];

    put_space(f, is_odd);
    buf_addf(&f->line, "\"%.*s\"", (int)field->key.len, field->key.ptr);
    put_space(f, is_odd);
    buf_byte(&f->line, ':');
    put_space(f, is_odd);
    if (field->type == SC_TAG)
        buf_addf(&f->line, "\"%.*s\"", (int)table->tag.len, table->tag.ptr);
    else
        put_value(f, field, is_odd);
    put_space(f, is_odd);
}

static void put_record(fixture *f, const sc_table *table, bool is_odd)
{
    unsigned order[SC_MAX_FIELDS];
    bool has_items = false;

    for (unsigned i = 0; i < table->count; i++)
        order[i] = i;
    if (is_odd && chance(f, 25)) {
        unsigned a = (unsigned)draw(f, table->count);
        unsigned b = (unsigned)draw(f, table->count);
        unsigned held = order[a];

        order[a] = order[b];
        order[b] = held;
    }
    buf_byte(&f->line, '{');
    for (unsigned i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[order[i]];

        if (field->rule != SC_REQUIRED ? chance(f, 40) : is_odd && chance(f, 2))
            continue;
        if (has_items)
            buf_byte(&f->line, ',');
        has_items = true;
        put_member(f, table, order[i], is_odd);
        if (is_odd && chance(f, 1)) { /* once more */
            buf_byte(&f->line, ',');
            put_member(f, table, order[i], is_odd);
        }
        if (is_odd && chance(f, 1))
            put(f, ",\"unknown\":[{}]");
    }
    put(f, is_odd && chance(f, 1) ? "}}" : "}");
}

static void spoil(fixture *f)
{
    for (uint64_t times = 1 + draw(f, 3); times > 0 && f->line.len > 0; times--) {
        size_t at = draw(f, f->line.len);

        switch (draw(f, 4)) {
        case 0: /* cut off */ f->line.len = at; break;
        case 1: f->line.at[at] = (char)draw(f, 256); break;
        case 2: f->line.at[at] = "\"\\{}[]:,0123456789.-eE \n"[draw(f, 25)]; break;
        case 3: /* drop one byte */
            memmove(f->line.at + at, f->line.at + at + 1, f->line.len - at - 1);
            f->line.len--;
            break;
        }
    }
}

static const sc_table *table_of(cg_str tag, const sc_table *preferred)
{
    if (str_equal(preferred->tag, tag))
        return preferred;
    for (size_t i = 0; i < RECORD_COUNT; i++)
        if (str_equal(trace_tables[i]->tag, tag))
            return trace_tables[i];
    return NULL;
}

/* 1: scan took the line, and the JSON reader made the same of it; 0: scan left it. */
static unsigned compare(fixture *f, const sc_table *preferred)
{
    cg_str line = buf_text(&f->line);
    arena_place place = arena_mark(&f->mem);
    const sc_table *table;
    rec_any scanned;
    rec_any parsed;
    json_fault fault;
    yyjson_val *object;
    cg_str tag;
    size_t rest;
    unsigned taken = 0;

    if (scan_tag(line, &table_span_end, &tag, &rest)) {
        table = table_of(tag, preferred);
        if (table != NULL && scan_fields(table, line, rest, &f->mem, &scanned)) {
            taken = 1;
            if (json_read(&f->reader, line, &object, &fault) != CG_OK)
                fail_msg("scan takes what JSON is not: %.*s", (int)line.len, line.ptr);
            if (sc_read(table, object, &f->mem, &parsed, NULL) != CG_OK)
                fail_msg("scan takes what the reader refuses: %.*s", (int)line.len, line.ptr);
            if (!same_record(table, &scanned, &parsed))
                fail_msg("scan reads something else: %.*s", (int)line.len, line.ptr);
        }
    }
    arena_reset(&f->mem, place);
    return taken;
}

static void what_scan_takes_the_json_reader_reads_to_the_same(void **state)
{
    unsigned plain_taken = 0;
    unsigned plain = 0;
    unsigned odd_taken = 0;
    fixture f;

    (void)state;
    begin(&f);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const sc_table *table = trace_tables[draw(&f, RECORD_COUNT)];
        bool is_odd = i % 2 == 1;

        buf_clear(&f.line);
        put_record(&f, table, is_odd);
        if (i % 4 == 3)
            spoil(&f);
        assert_false(f.line.failed);
        if (is_odd) {
            odd_taken += compare(&f, table);
        } else {
            plain++;
            plain_taken += compare(&f, table);
        }
    }
    /* The comparison means something only when scan takes a good part. */
    assert_true(plain_taken > plain / 3);
    assert_true(odd_taken > ROUNDS / 50);
    end(&f);
}

static bool takes(fixture *f, const sc_table *table, const char *text, rec_any *ret)
{
    cg_str tag;
    size_t rest;

    buf_clear(&f->line);
    put(f, text);
    for (size_t i = 0; i < f->line.len; i++)
        if (f->line.at[i] == '\'')
            f->line.at[i] = '"';
    return scan_tag(buf_text(&f->line), &table_span_end, &tag, &rest) &&
           str_equal(tag, table->tag) && scan_fields(table, buf_text(&f->line), rest, &f->mem, ret);
}

static void the_writers_own_spelling_is_taken(void **state)
{
    rec_any record;
    fixture f;

    (void)state;
    begin(&f);
    assert_true(
        takes(&f, &table_span_end, "{'kind':'span_end','id':'s1','duration_ns':7}", &record));
    assert_int_equal(record.span_end.duration_ns, 7);
    assert_true(str_equal(record.span_end.id, CG_LIT("s1")));
    assert_true(takes(&f, &table_span_end, "{'kind':'span_end','id':''}", &record));
    assert_int_equal(record.span_end.duration_ns, 0);
    assert_non_null(record.span_end.id.ptr);
    assert_true(takes(&f, &table_span_start,
                      "{'kind':'span_start','id':'s2','parent_id':'s1','name':'n','start_ns':5,"
                      "'span_kind':'module','measured':true,'step':'backward'}",
                      &record));
    assert_true(record.span_start.is_measured);
    assert_int_equal(record.span_start.step, STEP_BACKWARD);
    assert_true(takes(&f, &table_gradient,
                      "{'kind':'gradient','event_id':'g','root':'r','key':'k','state':'zero',"
                      "'norm':-0.0}",
                      &record));
    assert_true(record.gradient.norm.is_set);
    assert_true(same_bits(record.gradient.norm.value, -0.0));
    end(&f);
}

static void everything_else_is_left_to_the_json_reader(void **state)
{
    static const char *const left[] = {
        "{'kind':'span_end','duration_ns':7,'id':'s1'}",
        "{'id':'s1','kind':'span_end'}",
        "{'kind':'span_end', 'id':'s1'}",
        "{'kind':'span_end','id':'s1'} ",
        " {'kind':'span_end','id':'s1'}",
        "{'kind':'span_end','id':'s\\u0031'}",
        "{'kind':'span_end','id':'\xc3\xa9'}",
        "{'kind':'span_end','id':'s1','duration_ns':18446744073709551615}",
        "{'kind':'span_end','id':'s1','duration_ns':null}",
        "{'kind':'span_end','id':'s1','duration_ns':-0}",
        "{'kind':'span_end','id':'s1','duration_ns':1.0}",
        "{'kind':'span_end','id':'s1','duration_ns':01}",
        "{'kind':'span_end','id':'s1','duration_ns':}",
        "{'kind':'span_end','id':'s1','x':1}",
        "{'kind':'span_end','id':'s1','id':'s1'}",
        "{'kind':'span_end','id':'s1',}",
        "{'kind':'span_end','id':'s1'}}",
        "{'kind':'span_end','id':'s1'",
        "{'kind':'span_end','id':'s1",
        "{'kind':'span_end','id':'s1\x1f'}",
        "{'kind':'span_end'}",
        "{'kind':'span_end',}",
        "{'kind':",
        "{",
        ""};
    rec_any record;
    fixture f;

    (void)state;
    begin(&f);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (takes(&f, &table_span_end, left[i], &record))
            fail_msg("taken: %s", left[i]);
    end(&f);
}

static void no_memory_for_a_list_is_a_no(void **state)
{
    failing memory = {.fail_at = 1};
    rec_any record;
    heap from;
    arena mem;
    cg_str line = CG_LIT("{\"kind\":\"tensor\",\"span_id\":\"s\",\"tensor_id\":\"t\",\"shape\":[1],"
                         "\"dtype\":\"f32\",\"device\":\"cpu\"}");
    cg_str tag;
    size_t rest;

    (void)state;
    heap_init(&from, failing_env(&memory));
    arena_init(&mem, &from);
    assert_true(scan_tag(line, &table_span_end, &tag, &rest));
    assert_false(scan_fields(&table_tensor_event, line, rest, &mem, &record));
    assert_true(scan_fields(&table_tensor_event, line, rest, &mem, &record));
    arena_free(&mem);
    assert_int_equal(memory.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_writers_own_spelling_is_taken),
        cmocka_unit_test(everything_else_is_left_to_the_json_reader),
        cmocka_unit_test(no_memory_for_a_list_is_a_no),
        cmocka_unit_test(what_scan_takes_the_json_reader_reads_to_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
