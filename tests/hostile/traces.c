/*
 * Traces that were written to hurt: for every one either the problem and the
 * line it must be refused with, or the health issue it must be read with. What
 * is large is generated here; nothing may take more than a few seconds.
 *
 * ctest-timeout: 300
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/num.h"
#include "candlegraph/candlegraph.h"

#include <cmocka.h>

#define MILLION 1000000u

static const char meta[] =
    "{\"kind\":\"meta\",\"schema\":\"candle-graph/trace/10\",\"run_id\":\"r\","
    "\"correlation_id\":\"c\",\"entrypoint\":\"e\",\"phase\":\"infer\",\"timestamp\":\"t\","
    "\"capture_step\":1,\"warmup_steps\":0,\"device\":\"cpu\",\"timing_mode\":\"host\","
    "\"tags\":{},\"capture_contract\":{\"measurement_scope\":\"profiled_work\","
    "\"operations\":\"none\",\"logical_memory\":\"none\",\"physical_memory\":\"none\","
    "\"device_timing\":\"none\"}}\n";
static const char root[] =
    "{\"kind\":\"span_start\",\"id\":\"s0\",\"name\":\"root\",\"start_ns\":0,"
    "\"span_kind\":\"function\",\"measured\":true}\n"
    "{\"kind\":\"span_end\",\"id\":\"s0\",\"duration_ns\":18446744073709551615}\n";
static const char terminal[] =
    "{\"kind\":\"terminal\",\"outcome\":\"complete\",\"timestamp_ns\":18446744073709551615}\n";

static heap plain;

static void add(buf *out, const char *text)
{
    buf_add(out, str_from(text));
}

static bool has_issue(const cg_run *run, const char *code)
{
    cg_issue issue;

    for (uint64_t i = 0; cg_run_issue(run, i, &issue); i++)
        if (str_equal(issue.code, str_from(code)))
            return true;
    return false;
}

/* problem: id it is refused with at `line`; else issue: NULL when it must be structurally valid. */
typedef struct verdict {
    const char *problem;
    uint64_t line;
    const char *issue;
} verdict;

static unsigned inputs_read;

static cg_code count_bytes(void *context, const char *bytes, size_t count)
{
    uint64_t *total = context;

    (void)bytes;
    *total += count;
    return CG_OK;
}

/* What can be read can be shown, in a time that fits its size. */
static void expect_documents(const char *name, const cg_run *run)
{
    const cg_format json = {.size = sizeof json, .kind = CG_FORMAT_JSON};
    const cg_format text = {.size = sizeof text, .kind = CG_FORMAT_TEXT};
    uint64_t total = 0;
    const cg_sink sink = {&total, count_bytes};
    cg_err err = {0};

    if (cg_write_evidence(run, &json, sink, &err) != CG_OK ||
        cg_write_summary(run, &text, sink, &err) != CG_OK ||
        cg_write_overview(run, &text, sink, &err) != CG_OK)
        fail_msg("%s: is read, but not shown: %s", name, err.text);
    assert_true(total > 0);
}

static void expect_with(const cg_env *env, const char *name, cg_str text, verdict want)
{
    cg_err err = {0};
    cg_run *run = NULL;
    cg_code code = cg_run_read(env, text.ptr, text.len, "hostile.jsonl", &run, &err);
    cg_run_facts facts = {.size = sizeof facts};

    inputs_read++;
    if (want.problem != NULL) {
        if (code == CG_OK)
            fail_msg("%s: was read, expected %s", name, want.problem);
        if (strcmp(err.problem, want.problem) != 0 || err.line != want.line)
            fail_msg("%s: %s in line %" PRIu64 " (%s), expected %s in line %" PRIu64, name,
                     err.problem, err.line, err.text, want.problem, want.line);
        assert_null(run);
        for (const char *at = err.text; *at != '\0'; at++)
            assert_true((unsigned char)*at >= 0x20 && (unsigned char)*at != 0x7f);
        return;
    }
    if (code != CG_OK)
        fail_msg("%s: %s in line %" PRIu64 " (%s)", name, err.problem, err.line, err.text);
    cg_run_facts_of(run, &facts);
    if (facts.is_structurally_valid != (want.issue == NULL))
        fail_msg("%s: structurally %s", name, facts.is_structurally_valid ? "valid" : "invalid");
    if (want.issue != NULL && !has_issue(run, want.issue))
        fail_msg("%s: without the issue %s", name, want.issue);
    expect_documents(name, run);
    cg_run_free(run);
}

static void expect(const char *name, const buf *text, verdict want)
{
    const cg_env env = {.size = sizeof env};

    assert_false(text->failed);
    expect_with(&env, name, buf_text(text), want);
}

/* --- one strange line, the second of a sound trace --- */

typedef struct strange_line {
    const char *name;
    cg_str line;
    const char *problem; /* NULL: to be read, and valid */
} strange_line;

#define LINE(text) {(text), sizeof(text) - 1}
#define STATS(shape, elements, numbers)                                                            \
    LINE("{\"kind\":\"tensor_stats\",\"span_id\":\"s0\",\"label\":\"l\",\"dtype\":\"f32\","        \
         "\"shape\":" shape ",\"elements\":" elements "," numbers "}")
#define VALUES(non_finite, rms, abs_max, mean)                                                     \
    "\"non_finite\":" non_finite ",\"rms\":" rms ",\"abs_max\":" abs_max ",\"mean\":" mean
#define ZEROS       VALUES("0", "0", "0", "0")
#define ZERO_DIGITS "0000000000000000000000000"
#define TENSOR_TEXT(fields)                                                                        \
    "{\"kind\":\"tensor\",\"span_id\":\"s0\",\"tensor_id\":\"x\",\"dtype\":\"f32\","               \
    "\"device\":\"cpu\"," fields "}"
#define TENSOR(fields) LINE(TENSOR_TEXT(fields))
#define EXTRA(value)   TENSOR("\"shape\":[],\"label\":" value)

static const strange_line strange_lines[] = {
    {"exponent beyond every double", STATS("[]", "1", VALUES("0", "1e999999", "0", "0")),
     "trace-json"},
    {"negative beyond every double", STATS("[]", "1", VALUES("0", "0", "0", "-1e400")),
     "trace-json"},
    {"exponent below every double", STATS("[]", "1", VALUES("0", "1e-999999", "0", "0")), NULL},
    {"minus zero as a statistic", STATS("[]", "1", VALUES("0", "-0.0", "-0", "-0.0")), NULL},
    {"two to the 53rd and one", TENSOR("\"shape\":[],\"dense_bytes\":9007199254740993"), NULL},
    {"two to the 64th less one", TENSOR("\"shape\":[],\"dense_bytes\":18446744073709551615"), NULL},
    {"two to the 64th", TENSOR("\"shape\":[],\"dense_bytes\":18446744073709551616"), "field-type"},
    {"integer of a hundred digits",
     TENSOR("\"shape\":[],\"dense_bytes\":1" ZERO_DIGITS ZERO_DIGITS ZERO_DIGITS ZERO_DIGITS),
     "field-type"},
    {"minus one as a count", TENSOR("\"shape\":[],\"dense_bytes\":-1"), "field-type"},
    {"minus zero as a count", TENSOR("\"shape\":[],\"dense_bytes\":-0"), "field-type"},
    {"fraction as a count", TENSOR("\"shape\":[],\"dense_bytes\":1.0"), "field-type"},
    {"exponent as a count", TENSOR("\"shape\":[],\"dense_bytes\":1e2"), "field-type"},
    {"text as a count", TENSOR("\"shape\":[],\"dense_bytes\":\"5\""), "field-type"},
    {"leading zero", TENSOR("\"shape\":[],\"dense_bytes\":01"), "trace-json"},
    {"leading plus", TENSOR("\"shape\":[],\"dense_bytes\":+1"), "trace-json"},
    {"no digit before the point", TENSOR("\"shape\":[],\"dense_bytes\":.5"), "trace-json"},
    {"no digit behind the point", TENSOR("\"shape\":[],\"dense_bytes\":1."), "trace-json"},
    {"hexadecimal", TENSOR("\"shape\":[],\"dense_bytes\":0x10"), "trace-json"},
    {"NaN", STATS("[]", "1", VALUES("0", "NaN", "0", "0")), "trace-json"},
    {"Infinity", STATS("[]", "1", VALUES("0", "Infinity", "0", "0")), "trace-json"},
    {"nan in small letters", STATS("[]", "1", VALUES("0", "nan", "0", "0")), "trace-json"},

    {"byte ff", EXTRA("\"\xff\""), "trace-utf8"},
    {"lone continuation byte", EXTRA("\"\x80\""), "trace-utf8"},
    {"overlong slash of two bytes", EXTRA("\"\xc0\xaf\""), "trace-utf8"},
    {"overlong slash of three bytes", EXTRA("\"\xe0\x80\xaf\""), "trace-utf8"},
    {"overlong slash of four bytes", EXTRA("\"\xf0\x80\x80\xaf\""), "trace-utf8"},
    {"surrogate as bytes", EXTRA("\"\xed\xa0\x80\""), "trace-utf8"},
    {"beyond the last code point", EXTRA("\"\xf4\x90\x80\x80\""), "trace-utf8"},
    {"sequence without its end", EXTRA("\"\xe2\x82\""), "trace-utf8"},
    {"bad byte in an unknown field", TENSOR("\"shape\":[],\"x\xfe\":1"), "trace-utf8"},
    {"last code point", EXTRA("\"\xf4\x8f\xbf\xbf\""), NULL},
    {"noncharacter", EXTRA("\"\xef\xbf\xbe\""), NULL},
    {"lone high surrogate", EXTRA("\"\\ud800\""), "trace-json"},
    {"lone low surrogate", EXTRA("\"\\udc00\""), "trace-json"},
    {"surrogates the wrong way round", EXTRA("\"\\udc00\\ud800\""), "trace-json"},
    {"high surrogate and a letter", EXTRA("\"\\ud800\\u0041\""), "trace-json"},
    {"surrogate pair", EXTRA("\"\\ud83d\\ude00\""), NULL},
    {"escaped NUL", EXTRA("\"a\\u0000b\""), NULL},
    {"raw NUL in a text", EXTRA("\"a\0b\""), "trace-json"},
    {"raw NUL between tokens", TENSOR("\0\"shape\":[]"), "trace-json"},
    {"raw tab in a text", EXTRA("\"a\tb\""), "trace-json"},
    {"raw escape byte in a text", EXTRA("\"\x1b[2J\""), "trace-json"},
    {"terminal sequence as escapes", EXTRA("\"\\u001b]0;x\\u0007\\u009b2J\""), NULL},
    {"bidirectional override", EXTRA("\"\xe2\x80\xae\""), NULL},
    {"escape that does not exist", EXTRA("\"\\x41\""), "trace-json"},
    {"escape of three digits", EXTRA("\"\\u041\""), "trace-json"},
    {"byte order mark", LINE("\xef\xbb\xbf{\"kind\":\"x\"}"), "trace-byte-order-mark"},

    {"known field twice", TENSOR("\"shape\":[],\"shape\":[]"), "field-twice"},
    {"known field twice by an escape", TENSOR("\"shape\":[],\"sh\\u0061pe\":[]"), "field-twice"},
    {"kind twice", TENSOR("\"shape\":[],\"kind\":\"tensor\""), "field-twice"},
    {"unknown field twice", TENSOR("\"shape\":[],\"u\":1,\"u\":{}"), NULL},
    {"field named __proto__", TENSOR("\"shape\":[],\"__proto__\":{\"x\":1}"), NULL},
    {"empty field name", TENSOR("\"shape\":[],\"\":1"), NULL},
    {"null where a default exists", TENSOR("\"shape\":[],\"category\":null"), "field-type"},
    {"null for an optional field", TENSOR("\"shape\":[],\"label\":null"), NULL},
    {"required field missing", TENSOR("\"label\":\"x\""), "field-missing"},
    {"unknown word", TENSOR("\"shape\":[],\"category\":\"Parameter\""), "unknown-word"},
    {"object for a text", EXTRA("{}"), "field-type"},

    {"comment", TENSOR("/* */\"shape\":[]"), "trace-json"},
    {"comma before the end", TENSOR("\"shape\":[],"), "trace-json"},
    {"single quotes", LINE("{'kind':'tensor'}"), "trace-json"},
    {"two records in a line",
     LINE("{\"kind\":\"span_end\",\"id\":\"s9\"} {\"kind\":\"span_end\",\"id\":\"s9\"}"),
     "trace-json"},
    {"one bracket too many", LINE("{\"kind\":\"span_end\",\"id\":\"s9\"}}"), "trace-json"},
    {"array as a record", LINE("[\"span_end\",\"s0\",5]"), "trace-record"},
    {"number as a record", LINE("5"), "trace-record"},
    {"text as a record", LINE("\"kind\""), "trace-record"},
    {"null as a record", LINE("null"), "trace-record"},
    {"record without kind", LINE("{\"id\":\"s0\"}"), "trace-record"},
    {"kind is a number", LINE("{\"kind\":7}"), "field-type"},
    {"kind in capitals", LINE("{\"kind\":\"Tensor\"}"), "trace-unknown-kind"},
    {"kind with a NUL behind it", LINE("{\"kind\":\"tensor\\u0000\"}"), "trace-unknown-kind"},
    {"white space of many scripts", LINE("\xc2\xa0\xe2\x80\xa8\xe3\x80\x80\xc2\x85\t \r"), NULL},
    {"record in exotic white space", LINE("\xe2\x80\xa8" TENSOR_TEXT("\"shape\":[]") "\xc2\xa0"),
     NULL},

    {"shape whose product overflows",
     TENSOR("\"shape\":[18446744073709551615,18446744073709551615]"), NULL},
    {"shape with a zero and an overflow", TENSOR("\"shape\":[0,18446744073709551615,2]"), NULL},
    {"negative axis", TENSOR("\"shape\":[-1]"), "field-type"},
    {"axis beyond 64 bits", TENSOR("\"shape\":[18446744073709551616]"), "field-type"},
    {"statistics whose shape overflows", STATS("[4294967296,4294967296]", "0", ZEROS),
     "trace-tensor-stats"},
    {"statistics of zero times an overflow",
     STATS("[0,18446744073709551615,18446744073709551615]", "0", ZEROS), NULL},
    {"statistics of an overflow times zero",
     STATS("[18446744073709551615,18446744073709551615,0]", "0", ZEROS), "trace-tensor-stats"},
    {"statistics of another element count", STATS("[2,3]", "5", ZEROS), "trace-tensor-stats"},
    {"more non-finite values than elements", STATS("[]", "1", VALUES("2", "0", "0", "0")),
     "trace-tensor-stats"},
    {"negative rms", STATS("[]", "1", VALUES("0", "-1e-300", "0", "0")), "trace-tensor-stats"},
};

static void strange_lines_are_refused_where_they_stand(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    for (size_t i = 0; i < sizeof strange_lines / sizeof strange_lines[0]; i++) {
        const strange_line *at = &strange_lines[i];

        buf_clear(&text);
        add(&text, meta);
        buf_add(&text, at->line);
        buf_byte(&text, '\n');
        add(&text, root);
        add(&text, terminal);
        expect(at->name, &text, (verdict){at->problem, at->problem == NULL ? 0 : 2, NULL});
    }
    buf_free(&text);
}

/* --- whole streams --- */

typedef struct stream {
    const char *name;
    const char *parts[6];
    verdict want;
} stream;

#define START_OF(id, parent, start)                                                                \
    "{\"kind\":\"span_start\",\"id\":\"" id "\",\"parent_id\":\"" parent                           \
    "\",\"name\":\"n\",\"start_ns\":" start ",\"span_kind\":\"function\"}\n"
#define END_OF(id, duration)                                                                       \
    "{\"kind\":\"span_end\",\"id\":\"" id "\",\"duration_ns\":" duration "}\n"
#define SPAN_OF(id, parent, start, duration) START_OF(id, parent, start) END_OF(id, duration)
#define MOST                                 "18446744073709551615"
#define OP_IN(span, start, duration)                                                               \
    "{\"kind\":\"op\",\"span_id\":\"" span "\",\"op_name\":\"o\",\"shape\":[],\"dtype\":\"f32\","  \
    "\"device\":\"cpu\",\"input_dense_bytes\":0,\"timestamp_ns\":" start                           \
    ",\"duration_ns\":" duration "}\n"

#define TERMINAL_OF(outcome, reason)                                                               \
    "{\"kind\":\"terminal\",\"outcome\":\"" outcome "\"," reason "\"timestamp_ns\":" MOST "}\n"
#define DATA_EDGE(from, to)                                                                        \
    "{\"kind\":\"edge\",\"edge_kind\":\"data\",\"from_tensor\":\"" from "\",\"to_tensor\":\"" to   \
    "\"}\n"

/* What only shows at the end of a stream is reported with its last line. */
static const stream streams[] = {
    {"nothing", {""}, {"trace-no-meta", 0, NULL}},
    {"blank lines", {"\n \n\r\n\t\n"}, {"trace-no-meta", 4, NULL}},
    {"meta alone", {meta}, {"trace-no-terminal", 1, NULL}},
    {"no terminal", {meta, root}, {"trace-no-terminal", 3, NULL}},
    {"no meta", {root, terminal}, {"trace-no-meta", 3, NULL}},
    {"meta late", {root, meta, terminal}, {"trace-meta-not-first", 3, NULL}},
    {"meta twice", {meta, meta, root, terminal}, {"trace-second-meta", 2, NULL}},
    {"terminal twice", {meta, root, terminal, terminal}, {"trace-after-terminal", 5, NULL}},
    {"terminal not last", {meta, terminal, root}, {"trace-after-terminal", 3, NULL}},
    {"blank lines count as lines",
     {meta, "\n\n", "5\n", root, terminal},
     {"trace-record", 4, NULL}},
    {"byte order mark", {"\xef\xbb\xbf", meta, root, terminal}, {"trace-byte-order-mark", 1, NULL}},
    {"zip file", {"PK\x03\x04"}, {"trace-json", 1, NULL}},
    {"terminal before the evidence",
     {meta, root, "{\"kind\":\"terminal\",\"outcome\":\"complete\",\"timestamp_ns\":1}\n"},
     {"trace-terminal-too-early", 4, NULL}},
    {"complete with a reason",
     {meta, root, TERMINAL_OF("complete", "\"reason\":\"x\",")},
     {"trace-terminal-reason", 4, NULL}},
    {"failed without a reason",
     {meta, root, TERMINAL_OF("failed", "\"reason\":\" \",")},
     {"trace-terminal-reason", 4, NULL}},
    {"span started twice",
     {meta, root, START_OF("s0", "s0", "1"), terminal},
     {"trace-span-started-twice", 4, NULL}},
    {"end of an unknown span",
     {meta, END_OF("s0", "1"), root, terminal},
     {"trace-end-of-unknown-span", 2, NULL}},
    {"span ended twice",
     {meta, root, END_OF("s0", "1"), terminal},
     {"trace-span-ended-twice", 4, NULL}},

    {"no span at all", {meta, terminal}, {NULL, 0, "root_count"}},
    {"orphan",
     {meta, root, START_OF("a", "nobody", "0"), END_OF("a", "1"), terminal},
     {NULL, 0, "unknown_parent"}},
    {"its own parent",
     {meta, root, START_OF("a", "a", "0"), END_OF("a", "1"), terminal},
     {NULL, 0, "span_cycle"}},
    {"parents in a circle",
     {meta, root, SPAN_OF("a", "b", "0", "1"), SPAN_OF("b", "c", "0", "1"),
      SPAN_OF("c", "a", "0", "1"), terminal},
     {NULL, 0, "span_cycle"}},
    {"circle and nothing else",
     {meta, SPAN_OF("a", "b", "0", "1"), SPAN_OF("b", "a", "0", "1"), terminal},
     {NULL, 0, "span_cycle"}},
    {"child ends after its parent",
     {meta, root, SPAN_OF("a", "s0", "5", "5"), SPAN_OF("b", "a", "6", "5"), terminal},
     {NULL, 0, "child_outside_parent"}},
    {"child starts before its parent",
     {meta, root, SPAN_OF("a", "s0", "5", "5"), SPAN_OF("b", "a", "4", "2"), terminal},
     {NULL, 0, "child_outside_parent"}},
    {"end beyond 64 bits", {meta, root, SPAN_OF("a", "s0", MOST, MOST), terminal}, {NULL, 0, NULL}},
    {"durations that add up beyond 64 bits",
     {meta, root, SPAN_OF("a", "s0", "0", MOST), SPAN_OF("b", "s0", "0", MOST),
      OP_IN("s0", "1", MOST) OP_IN("s0", "0", MOST), terminal},
     {NULL, 0, NULL}},
    {"span never closed", {meta, root, START_OF("a", "s0", "0"), terminal}, {NULL, 0, "open_span"}},
    {"operation of nobody",
     {meta, root, OP_IN("zz", "0", "1"), terminal},
     {NULL, 0, "unknown_span"}},
    {"edge to nowhere",
     {meta, root, DATA_EDGE("a", ""), terminal},
     {NULL, 0, "empty_data_edge_endpoint"}},
    {"empty ids",
     {meta, root, SPAN_OF("", "s0", "0", "1"), OP_IN("", "0", "1"), terminal},
     {NULL, 0, NULL}},
    {"span called like an operation",
     {meta, root, OP_IN("s0", "0", "1"), SPAN_OF("s0/op/0", "s0", "0", "1"), terminal},
     {"graph-id-collision", 0, NULL}},
};

static void streams_are_judged_as_a_whole(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        const stream *at = &streams[i];

        buf_clear(&text);
        for (size_t k = 0; k < 6 && at->parts[k] != NULL; k++)
            add(&text, at->parts[k]);
        expect(at->name, &text, at->want);
    }
    buf_free(&text);
}

/* Carriage returns alone end no line; before a line feed they are white space. */
static void line_ends_of_other_systems(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    for (int with_feed = 0; with_feed < 2; with_feed++) {
        buf_clear(&text);
        add(&text, meta);
        add(&text, root);
        add(&text, terminal);
        for (size_t i = 0; i < text.len; i++)
            if (text.at[i] == '\n' && !with_feed)
                text.at[i] = '\r';
        expect("carriage returns only", &text,
               with_feed ? (verdict){NULL, 0, NULL} : (verdict){"trace-json", 1, NULL});
    }
    buf_clear(&text);
    for (const char *at = meta; *at != '\0'; at++)
        add(&text, *at == '\n' ? "\r\n" : (char[]){*at, '\0'});
    add(&text, root);
    add(&text, terminal);
    text.len--; /* the last line needs no end */
    expect("carriage return and line feed", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

static void a_trace_cut_at_any_byte_is_refused(void **state)
{
    static const char *const words[] = {"trace-no-meta", "trace-no-terminal",
                                        "trace-record-cut-off"};
    const cg_env env = {.size = sizeof env};
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 0; text.len < 2048 - sizeof terminal; i++)
        buf_addf(&text,
                 "{\"kind\":\"tensor_stats\",\"span_id\":\"s0\",\"label\":\"h\xc3\xa9%u\","
                 "\"shape\":[2],\"dtype\":\"f32\",\"elements\":2,\"non_finite\":0,"
                 "\"rms\":1.5e-3,\"abs_max\":0.25,\"mean\":-0.125}\n",
                 i);
    add(&text, terminal);
    for (size_t len = 0; len + 1 < text.len; len++) {
        cg_err err = {0};
        cg_run *run = NULL;
        bool is_known = false;
        size_t lines = 1;

        assert_int_not_equal(cg_run_read(&env, text.at, len, "cut.jsonl", &run, &err), CG_OK);
        inputs_read++;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            is_known = is_known || strcmp(err.problem, words[i]) == 0;
        for (size_t i = 0; i < len; i++)
            lines += text.at[i] == '\n';
        /* A character cut in half is refused as such, in the last line all the same. */
        if (!is_known && strcmp(err.problem, "trace-utf8") != 0)
            fail_msg("cut at %zu: %s: %s", len, err.problem, err.text);
        if (len > 0 && text.at[len - 1] != '\n' && text.at[len - 1] != '}' && err.line != lines)
            fail_msg("cut at %zu: %s in line %" PRIu64 " instead of %zu", len, err.problem,
                     err.line, lines);
    }
    text.len--;
    expect("cut before the last line feed", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

/* --- size --- */

static void nest(buf *text, const char *open, const char *close, unsigned count)
{
    buf_clear(text);
    add(text, meta);
    add(text, "{\"kind\":\"tensor\",\"span_id\":\"s0\",\"tensor_id\":\"x\",\"dtype\":\"f32\","
              "\"device\":\"cpu\",\"shape\":[],\"unknown\":");
    for (unsigned i = 0; i < count; i++)
        add(text, open);
    add(text, "1");
    for (unsigned i = 0; i < count; i++)
        add(text, close);
    add(text, "}\n");
    add(text, root);
    add(text, terminal);
}

static void a_record_nests_127_containers(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    nest(&text, "[", "]", 126); /* the record is the first one */
    expect("127 levels of arrays", &text, (verdict){NULL, 0, NULL});
    nest(&text, "[", "]", 127);
    expect("128 levels of arrays", &text, (verdict){"trace-depth", 2, NULL});
    nest(&text, "{\"a\":", "}", 126);
    expect("127 levels of objects", &text, (verdict){NULL, 0, NULL});
    nest(&text, "{\"a\":", "}", 127);
    expect("128 levels of objects", &text, (verdict){"trace-depth", 2, NULL});
    nest(&text, "[", "", MILLION);
    expect("a million brackets that never close", &text, (verdict){"trace-json", 2, NULL});
    nest(&text, "[", "]", MILLION);
    expect("a million levels", &text, (verdict){"trace-depth", 2, NULL});
    buf_free(&text);
}

static void shapes_have_at_most_64_axes(void **state)
{
    static const unsigned ranks[] = {64, 65, 100000};
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        buf_clear(&text);
        add(&text, meta);
        add(&text, "{\"kind\":\"tensor\",\"span_id\":\"s0\",\"tensor_id\":\"x\",\"dtype\":\"f32\","
                   "\"device\":\"cpu\",\"shape\":[1");
        for (unsigned axis = 1; axis < ranks[i]; axis++)
            add(&text, ",1");
        add(&text, "]}\n");
        add(&text, root);
        add(&text, terminal);
        expect("rank", &text, ranks[i] <= 64 ? (verdict){0} : (verdict){"limit", 2, NULL});
    }
    buf_free(&text);
}

static void a_million_keys_in_one_record(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    for (int is_equal = 0; is_equal < 2; is_equal++) {
        buf_clear(&text);
        add(&text, meta);
        add(&text, "{\"kind\":\"tensor\",\"span_id\":\"s0\",\"tensor_id\":\"x\",\"dtype\":\"f32\","
                   "\"device\":\"cpu\",\"shape\":[]");
        for (unsigned i = 0; i < MILLION; i++)
            buf_addf(&text, ",\"k%u\":0", is_equal ? 7 : i);
        add(&text, "}\n");
        add(&text, root);
        add(&text, terminal);
        expect("a million keys", &text, (verdict){NULL, 0, NULL});
    }
    buf_free(&text);
}

static void tags_have_a_ceiling(void **state)
{
    static const unsigned counts[] = {10000, 10001, MILLION};
    const char *from = strstr(meta, "\"tags\":{") + strlen("\"tags\":{");
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        buf_clear(&text);
        buf_add(&text, (cg_str){meta, (size_t)(from - meta)});
        for (unsigned k = 0; k < counts[i]; k++)
            buf_addf(&text, "%s\"t%u\":\"\"", k > 0 ? "," : "", k);
        add(&text, from);
        add(&text, root);
        add(&text, terminal);
        expect("tags", &text, counts[i] <= 10000 ? (verdict){0} : (verdict){"limit", 1, NULL});
    }
    buf_free(&text);
}

static void long_lines_and_long_texts(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, "{\"kind\":\"tensor\",\"span_id\":\"s0\",\"tensor_id\":\"x\",\"dtype\":\"f32\","
               "\"device\":\"cpu\",\"shape\":[],\"label\":\"");
    buf_fill(&text, 'x', (size_t)10 << 20);
    add(&text, "\"}\n");
    add(&text, root);
    add(&text, terminal);
    expect("label of ten megabytes", &text, (verdict){NULL, 0, NULL});
    buf_clear(&text);
    add(&text, meta);
    buf_fill(&text, ' ', ((size_t)64 << 20) + 1);
    expect("line beyond 64 megabytes", &text, (verdict){"limit", 2, NULL});
    buf_clear(&text);
    add(&text, meta);
    for (unsigned i = 0; i < 4 * MILLION; i++)
        buf_byte(&text, '\n');
    add(&text, root);
    add(&text, terminal);
    expect("four million empty lines", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

static void ceilings_hold(void **state)
{
    cg_limits limits;
    const cg_env env = {.size = sizeof env, .limits = &limits};
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 0; i < 1000; i++)
        buf_addf(&text, START_OF("a%u", "s0", "0"), i);
    add(&text, terminal);
    cg_limits_default(&limits);
    assert_true(cg_limits_set(&limits, "spans", 500));
    expect_with(&env, "spans", buf_text(&text), (verdict){"limit", 503, NULL});
    cg_limits_default(&limits);
    assert_true(cg_limits_set(&limits, "events", 100));
    expect_with(&env, "events", buf_text(&text), (verdict){"limit", 101, NULL});
    cg_limits_default(&limits);
    assert_true(cg_limits_set(&limits, "line-bytes", 100));
    expect_with(&env, "line-bytes", buf_text(&text), (verdict){"limit", 1, NULL});
    buf_free(&text);
}

static void a_chain_of_a_million_spans(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 1; i <= MILLION; i++)
        buf_addf(&text, SPAN_OF("s%u", "s%u", "0", "1000"), i, i - 1, i);
    add(&text, terminal);
    expect("chain", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

static void a_chain_of_a_million_spans_of_no_length(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 1; i <= MILLION; i++)
        buf_addf(&text, SPAN_OF("s%u", "s%u", "7", "0"), i, i - 1, i);
    add(&text, terminal);
    expect("chain without length", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

static void a_circle_of_a_million_parents(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 1; i <= MILLION; i++)
        buf_addf(&text, SPAN_OF("s%u", "s%u", "0", "1"), i, i == 1 ? MILLION : i - 1, i);
    add(&text, terminal);
    expect("circle", &text, (verdict){NULL, 0, "span_cycle"});
    buf_free(&text);
}

static void a_million_roots(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 1; i <= MILLION; i++)
        buf_addf(&text,
                 "{\"kind\":\"span_start\",\"id\":\"s%u\",\"name\":\"n\",\"start_ns\":0,"
                 "\"span_kind\":\"module\"}\n",
                 i);
    add(&text, terminal);
    expect("roots", &text, (verdict){NULL, 0, "root_count"});
    buf_free(&text);
}

static void a_million_overlapping_children(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 1; i <= MILLION; i++)
        buf_addf(&text, SPAN_OF("s%u", "s0", "%u", "2000000"), i, i, i);
    add(&text, terminal);
    expect("star", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

static void a_million_overlapping_intervals(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 0; i < MILLION; i++)
        buf_addf(&text,
                 "{\"kind\":\"device_interval\",\"span_id\":\"s0\",\"device\":\"d\","
                 "\"stream_id\":\"%u\",\"clock_id\":\"k\",\"backend\":\"b\",\"start_ns\":%u,"
                 "\"duration_ns\":18446744073709551615}\n",
                 i % 7, MILLION - i);
    add(&text, terminal);
    expect("intervals", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

static void storages_beyond_64_bits(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 0; i < 3; i++)
        buf_addf(&text,
                 "{\"kind\":\"memory\",\"timestamp_ns\":%u,\"storage_id\":\"m%u\","
                 "\"tensor_id\":\"t\",\"span_id\":\"s0\",\"device\":\"d\","
                 "\"bytes\":18446744073709551615,\"action\":\"alloc\",\"dtype\":\"u8\"}\n",
                 i, i);
    for (unsigned i = 0; i < 3; i++)
        buf_addf(&text,
                 "{\"kind\":\"memory\",\"timestamp_ns\":%u,\"storage_id\":\"m%u\","
                 "\"tensor_id\":\"t\",\"span_id\":\"s0\",\"device\":\"d\","
                 "\"bytes\":18446744073709551615,\"action\":\"free\",\"dtype\":\"u8\"}\n",
                 i + 3, i);
    add(&text, terminal);
    expect("storages", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

/* A hundred thousand storages that are all alive together, below a deep chain. */
static void many_live_storages_below_a_deep_chain(void **state)
{
    enum { COUNT = 100000 };
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 1; i <= COUNT; i++)
        buf_addf(&text, SPAN_OF("s%u", "s%u", "0", "1000000"), i, i - 1, i);
    for (unsigned i = 0; i < 2 * COUNT; i++)
        buf_addf(&text,
                 "{\"kind\":\"memory\",\"timestamp_ns\":%u,\"storage_id\":\"m%u\","
                 "\"tensor_id\":\"t%u\",\"span_id\":\"s%u\",\"device\":\"d\","
                 "\"bytes\":8,\"action\":\"%s\",\"dtype\":\"u8\"}\n",
                 i, i % COUNT, i % COUNT, (unsigned)COUNT, i < COUNT ? "alloc" : "free");
    add(&text, terminal);
    expect("storages below a chain", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

/* Each with a storage that is gone before the next one comes. */
static void many_devices_one_after_another(void **state)
{
    enum { COUNT = 400000 };
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 0; i < 2 * COUNT; i++)
        buf_addf(&text,
                 "{\"kind\":\"memory\",\"timestamp_ns\":%u,\"storage_id\":\"m\","
                 "\"tensor_id\":\"t\",\"span_id\":\"s0\",\"device\":\"d%u\","
                 "\"bytes\":8,\"action\":\"%s\",\"dtype\":\"u8\"}\n",
                 i, i / 2, i % 2 == 0 ? "alloc" : "free");
    add(&text, terminal);
    expect("devices", &text, (verdict){NULL, 0, NULL});
    buf_free(&text);
}

static void a_million_faults(void **state)
{
    buf text;

    (void)state;
    buf_init(&text, &plain, SIZE_MAX);
    add(&text, meta);
    add(&text, root);
    for (unsigned i = 0; i < MILLION; i++)
        buf_addf(&text,
                 "{\"kind\":\"edge\",\"edge_kind\":\"data\",\"from_tensor\":\"a%u\","
                 "\"to_tensor\":\"b\"}\n",
                 i);
    add(&text, terminal);
    expect("faults", &text, (verdict){NULL, 0, "unknown_data_edge_tensor"});
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strange_lines_are_refused_where_they_stand),
        cmocka_unit_test(streams_are_judged_as_a_whole),
        cmocka_unit_test(line_ends_of_other_systems),
        cmocka_unit_test(a_trace_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_record_nests_127_containers),
        cmocka_unit_test(shapes_have_at_most_64_axes),
        cmocka_unit_test(a_million_keys_in_one_record),
        cmocka_unit_test(tags_have_a_ceiling),
        cmocka_unit_test(long_lines_and_long_texts),
        cmocka_unit_test(ceilings_hold),
        cmocka_unit_test(a_chain_of_a_million_spans),
        cmocka_unit_test(a_chain_of_a_million_spans_of_no_length),
        cmocka_unit_test(a_circle_of_a_million_parents),
        cmocka_unit_test(a_million_roots),
        cmocka_unit_test(a_million_overlapping_children),
        cmocka_unit_test(a_million_overlapping_intervals),
        cmocka_unit_test(storages_beyond_64_bits),
        cmocka_unit_test(many_live_storages_below_a_deep_chain),
        cmocka_unit_test(many_devices_one_after_another),
        cmocka_unit_test(a_million_faults),
    };
    int failed;

    heap_init(&plain, NULL);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_message("%u inputs, %.1f s of processor time\n", inputs_read,
                  (double)clock() / CLOCKS_PER_SEC);
    return failed;
}
