#include "unit/base/failing.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "exec/trace.h"

/* In all texts here ' stands for ". */

#define CONTRACT                                                                                   \
    "'capture_contract':{'measurement_scope':'profiled_work','operations':'none',"                 \
    "'logical_memory':'none','physical_memory':'none','device_timing':'none'}"
#define META_AS(schema)                                                                            \
    "{'kind':'meta','schema':'" schema "','run_id':'r','correlation_id':'c','entrypoint':'e',"     \
    "'phase':'train','timestamp':'t','capture_step':1,'warmup_steps':0,'device':'cpu',"            \
    "'timing_mode':'host'," CONTRACT ",'tags':{}}\n"
#define META META_AS("candle-graph/trace/10")
#define SPAN(id, start)                                                                            \
    "{'kind':'span_start','id':'" id "','name':'n','start_ns':" start ",'span_kind':'op'}\n"
#define CHILD(id, parent)                                                                          \
    "{'kind':'span_start','id':'" id "','parent_id':'" parent "','name':'n','start_ns':1,"         \
    "'span_kind':'op'}\n"
#define END(id, duration) "{'kind':'span_end','id':'" id "','duration_ns':" duration "}\n"
#define OP_AT(time, duration)                                                                      \
    "{'kind':'op','span_id':'s','op_name':'o','shape':[2],'dtype':'f32','device':'d',"             \
    "'duration_ns':" duration ",'timestamp_ns':" time ",'input_dense_bytes':0}\n"
#define TENSOR(rest)                                                                               \
    "{'kind':'tensor','span_id':'s','tensor_id':'t','dtype':'f32','device':'d'," rest "}\n"
#define STATS(label, shape, elements, non_finite, rms, abs_max, mean)                              \
    "{'kind':'tensor_stats','span_id':'s','label':'" label "','shape':" shape                      \
    ",'dtype':'f32','elements':" elements ",'non_finite':" non_finite ",'rms':" rms                \
    ",'abs_max':" abs_max ",'mean':" mean "}\n"
#define MEMORY_AT(time)                                                                            \
    "{'kind':'memory','timestamp_ns':" time ",'storage_id':'a','tensor_id':'t','span_id':'s',"     \
    "'device':'d','bytes':1,'action':'alloc','dtype':'f32'}\n"
#define SAMPLE_AT(time) "{'kind':'device_memory','timestamp_ns':" time ",'device':'d'}\n"
#define INTERVAL_AT(time)                                                                          \
    "{'kind':'device_interval','span_id':'s','device':'d','stream_id':'0','clock_id':'c',"         \
    "'backend':'b','start_ns':" time ",'duration_ns':1}\n"
#define COMPLETE_AT(time) "{'kind':'terminal','outcome':'complete','timestamp_ns':" time "}\n"
#define COMPLETE          COMPLETE_AT("1000")
#define FAILED(rest)      "{'kind':'terminal','outcome':'failed','timestamp_ns':1000" rest "}\n"

typedef struct text {
    char at[1 << 16];
    size_t len;
    size_t mark; /* where the @ stood, SIZE_MAX without one */
} text;

/* Copy `from`, with " for ', without the one @. */
static void set(text *self, cg_str from)
{
    self->len = 0;
    self->mark = SIZE_MAX;
    assert_true(from.len < sizeof self->at);
    for (size_t i = 0; i < from.len; i++) {
        if (from.ptr[i] == '@') {
            assert_true(self->mark == SIZE_MAX);
            self->mark = self->len;
        } else {
            self->at[self->len++] = from.ptr[i];
            if (from.ptr[i] == '\'')
                self->at[self->len - 1] = '"';
        }
    }
}

static cg_str slice(const text *self)
{
    return (cg_str){self->at, self->len};
}

static uint64_t line_of(const text *self, size_t at)
{
    uint64_t line = 1;

    for (size_t i = 0; i < at; i++)
        line += self->at[i] == '\n';
    /* Behind the last newline there is no line any more. */
    return at == self->len && at > 0 && self->at[at - 1] == '\n' ? line - 1 : line;
}

/* Refused for `problem`, at the place of the @. */
static void refuse_text(const cg_env *env, const char *problem, cg_str from)
{
    trace_doc *doc = NULL;
    cg_err err = {0};
    cg_code code;
    text t;

    set(&t, from);
    code = trace_read_text(env, slice(&t), &doc, &err);
    if (code == CG_OK)
        fail_msg("read, instead of %s: %.*s", problem, (int)t.len, t.at);
    assert_null(doc);
    assert_int_equal(code, err.code);
    if (strcmp(err.problem, problem) != 0)
        fail_msg("%s (%s) instead of %s: %.*s", err.problem, err.text, problem, (int)t.len, t.at);
    assert_true(t.mark != SIZE_MAX);
    assert_true(err.has_offset);
    if (err.offset != t.mark || err.line != (t.len == 0 ? 0 : line_of(&t, t.mark)))
        fail_msg("%s at line %" PRIu64 ", byte %" PRIu64 ", not %zu (%s): %.*s", problem, err.line,
                 err.offset, t.mark, err.text, (int)t.len, t.at);
    assert_true(err.text[0] != '\0');
}

#define REFUSED(problem, literal) refuse_text(NULL, (problem), CG_LIT(literal))

static trace_doc *accept_text(const cg_env *env, cg_str from)
{
    trace_doc *doc = NULL;
    cg_err err = {0};
    text t;

    set(&t, from);
    if (trace_read_text(env, slice(&t), &doc, &err) != CG_OK)
        fail_msg("%s at line %" PRIu64 ": %s: %.*s", err.problem, err.line, err.text, (int)t.len,
                 t.at);
    return doc;
}

#define ACCEPTED(literal) accept_text(NULL, CG_LIT(literal))

static void accepted(cg_str from)
{
    trace_free(accept_text(NULL, from));
}

static void expect_symbol(const trace_doc *doc, sym symbol, const char *want)
{
    assert_true(symbol != 0);
    assert_text(trace_text(doc, symbol), want);
}

/* --- framing --- */

static void white_space_of_unicode_around_records_is_trimmed(void **state)
{
    static const char *const spaces[] = {" ",
                                         "\t",
                                         "\r",
                                         "\v",
                                         "\f",
                                         "\xc2\x85",
                                         "\xc2\xa0",
                                         "\xe1\x9a\x80",
                                         "\xe2\x80\x80",
                                         "\xe2\x80\x8a",
                                         "\xe2\x80\xa8",
                                         "\xe2\x80\xa9",
                                         "\xe2\x80\xaf",
                                         "\xe2\x81\x9f",
                                         "\xe3\x80\x80",
                                         " \t\xc2\xa0\r"};
    char whole[4096];

    (void)state;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        snprintf(whole, sizeof whole, "%s\n%s%s%s%s%s\n", spaces[i], META, spaces[i],
                 "{'kind':'terminal','outcome':'complete','timestamp_ns':0}", spaces[i],
                 "\n" /* a blank line behind the last record */);
        accepted(str_from(whole));
    }
}

static void what_is_not_white_space_stays(void **state)
{
    (void)state;
    REFUSED("trace-json", META "@\xe2\x80\x8b" COMPLETE); /* zero width space */
    REFUSED("trace-json", META "@\x1c" COMPLETE);         /* file separator */
    REFUSED("trace-json", META "@\x1f\n" COMPLETE);
    REFUSED("trace-utf8", META "@\xe2\x80\n" COMPLETE);    /* half a white space */
    REFUSED("trace-json", META "{'kind'@\xc2\xa0:'x'}\n"); /* only around records */
}

static void line_ends_may_be_missing_doubled_or_foreign(void **state)
{
    trace_doc *doc;

    (void)state;
    accepted(CG_LIT(META "{'kind':'terminal','outcome':'complete','timestamp_ns':0}"));
    accepted(CG_LIT(META "{'kind':'terminal','outcome':'complete','timestamp_ns':0}\r"));
    accepted(CG_LIT("\n\n\r\n \n" META "\n\n" COMPLETE "\n\n  \n"));
    doc = ACCEPTED(META SPAN("s", "0") "\n\r\n" COMPLETE "\r\n");
    assert_true(doc->event_count == 3);
    trace_free(doc);
    /* A lone CR does not end a line. */
    REFUSED("trace-json",
            "{'kind':'terminal','outcome':'complete','timestamp_ns':0}\r@{'kind':'span_end'}");
}

static void a_record_that_starts_late_is_placed_at_its_first_byte(void **state)
{
    (void)state;
    REFUSED("trace-unknown-kind", "\r\n \xc2\xa0@{'kind':'x'}");
    REFUSED("field-missing", META "  \t @{'kind':'span_end'}\n" COMPLETE);
}

static void a_byte_order_mark_is_named(void **state)
{
    (void)state;
    REFUSED("trace-byte-order-mark", "@\xef\xbb\xbf" META COMPLETE);
    REFUSED("trace-byte-order-mark", "@\xef\xbb\xbf"
                                     "{'\xff':1}\n");
    REFUSED("trace-byte-order-mark", "@\xef\xbb\xbf\n" META COMPLETE);
    REFUSED("trace-byte-order-mark", META "@\xef\xbb\xbf" COMPLETE);
}

static void bytes_that_are_not_utf_8_are_refused_wherever_they_stand(void **state)
{
    (void)state;
    REFUSED("trace-utf8", META "{'kind':'span_end','id':'a@\xff'}\n" COMPLETE);
    REFUSED("trace-utf8", META "{'kind':'span_end','id':'@\xc0\x80'}\n" COMPLETE); /* overlong */
    REFUSED("trace-utf8",
            META "{'kind':'span_end','id':'@\xed\xa0\x80'}\n" COMPLETE); /* surrogate */
    REFUSED("trace-utf8", META "{'kind':'span_end','id':'@\xf4\x90\x80\x80'}\n" COMPLETE);
    REFUSED("trace-utf8", META "{'kind':'span_end','id':'@\xc3'}\n" COMPLETE);
    REFUSED("trace-utf8", META "{'kind':'span_end','id':'x','unknown':['@\x80']}\n" COMPLETE);
    REFUSED("trace-utf8", META "{'kind':'span_end','id':'x','@\xfe':1}\n" COMPLETE);
    REFUSED("trace-utf8", META "@\xff\n" COMPLETE);
    REFUSED("trace-utf8", META COMPLETE "@\xff");
}

static void a_line_is_one_json_object(void **state)
{
    (void)state;
    REFUSED("trace-record", META "@[1]\n" COMPLETE);
    REFUSED("trace-record", META "@5\n");
    REFUSED("trace-record", META "@'x'\n");
    REFUSED("trace-record", META "@null\n");
    REFUSED("trace-record", META "@['span_end','s3',5]\n");
    REFUSED("trace-record", META "@{}\n");
    REFUSED("trace-record", META "@{'Kind':'op'}\n");
    REFUSED("trace-json", META "{'kind':'span_end','id':'s'} @{'kind':'span_end','id':'s'}\n");
    REFUSED("trace-json", META "@x\n");
    REFUSED("trace-json", META "{'kind':@}\n");
    REFUSED("trace-json", META "{'kind':'x'@,}\n");
    REFUSED("trace-json", META "{'kind':'x'@\n}\n");
    REFUSED("trace-json", META "{'kind' @'x'}\n");
    REFUSED("trace-json", META "{@kind:1}\n");
    REFUSED("trace-json", META "{'kind':@tru}\n");
    REFUSED("trace-json", META "{'kind':@NaN}\n");
    REFUSED("trace-json", META "{'kind':@Infinity}\n");
    REFUSED("trace-json", META "{'kind':-@Infinity}\n");
    REFUSED("trace-json", META "{'kind':@01}\n");
    REFUSED("trace-json", META "{'kind':@+1}\n");
    REFUSED("trace-json", META "{'kind':1.@}\n");
    REFUSED("trace-json", META "{'kind':1e@}\n");
    REFUSED("trace-json", META "{'kind':@.5}\n");
    REFUSED("trace-json", META "{'kind':@1e400}\n");
    REFUSED("trace-json", META "{'unknown':@-1e999999,'kind':'x'}\n");
    REFUSED("trace-json", META "{'kind':'@\x01'}\n");
    REFUSED("trace-json", META "{'kind':'@\t'}\n");
    REFUSED("trace-json", META "{'kind':'\\@x'}\n");
    REFUSED("trace-json", META "{'kind':'\\ud800@'}\n");
    REFUSED("trace-json", META "{'kind':'@\\udc00'}\n");
    REFUSED("trace-json", META "{'kind':'\\ud800@\\u0041'}\n");
    REFUSED("trace-json", META "{'kind':'x'} @// comment\n");
    REFUSED("trace-json", META "{'kind':'x'}@}\n");
    REFUSED("trace-json", META "{'kind':['x'@}\n");
}

static void json_goes_127_containers_deep(void **state)
{
    cg_limits limits;
    const cg_env env = {.size = sizeof env, .limits = &limits};
    char whole[8192];
    char inner[1024];

    (void)state;
    limits_default(&limits);
    for (size_t depth = 126; depth <= 128; depth++) {
        size_t lists = depth - 1;

        memset(inner, '[', lists);
        memset(inner + lists, ']', lists);
        inner[2 * lists] = '\0';
        snprintf(whole, sizeof whole,
                 "%s{'kind':'terminal','outcome':'complete',"
                 "'timestamp_ns':0,'unknown':%s}\n",
                 META, inner);
        if (depth <= 127) {
            accepted(str_from(whole));
        } else {
            limits.value[CG_LIMIT_JSON_DEPTH] = 128;
            trace_free(accept_text(&env, str_from(whole)));
            /* The mark stands before the container that is too deep. */
            memmove(inner + lists, inner + lists - 1, lists + 1);
            inner[lists - 1] = '@';
            inner[2 * lists] = ']';
            inner[2 * lists + 1] = '\0';
            snprintf(whole, sizeof whole,
                     "%s{'kind':'terminal','outcome':'complete',"
                     "'timestamp_ns':0,'unknown':%s}\n",
                     META, inner);
            refuse_text(NULL, "trace-depth", str_from(whole));
        }
    }
}

static void a_writer_that_died_is_told_from_a_broken_one(void **state)
{
    (void)state;
    REFUSED("trace-record-cut-off", META "{'kind':'span_e@");
    REFUSED("trace-record-cut-off", META "{'kind':'span_end','id':'\xe2\x82@"); /* in a character */
    REFUSED("trace-record-cut-off", META "{@");
    REFUSED("trace-record-cut-off", "{'kind':'meta','schema':'candle-graph/trace/10'@");
    /* The line was ended, so it is not the death of the writer. */
    REFUSED("trace-json", META "{'kind':'span_end','id':'s'@\n");
    REFUSED("trace-json", META "{'kind':'span_end' @'id':'s");
}

static void every_cut_through_a_record_is_a_cut(void **state)
{
    static const char record[] =
        "{'kind':'tensor_stats','span_id':'s\\u00e9\\ud83d\\ude00','label':'\xc3\xa9\xe2\x82\xac"
        "\xf0\x9f\x98\x80\\n','shape':[12,0],'dtype':'f32','elements':0,'non_finite':0,'rms':0.25,"
        "'abs_max':-1.5e-3,'mean':0,'more':{'a':true,'b':[false,null,{}]}}";

    (void)state;
    for (size_t len = 1; len + 1 < sizeof record; len++) {
        char whole[4096];

        snprintf(whole, sizeof whole, "%s%.*s@", META, (int)len, record);
        refuse_text(NULL, "trace-record-cut-off", str_from(whole));
    }
}

/* --- values --- */

static void the_kind_may_stand_anywhere_but_once(void **state)
{
    (void)state;
    accepted(CG_LIT("{'tags':{},'run_id':'r','correlation_id':'c','entrypoint':'e','phase':'train',"
                    "'timestamp':'t','capture_step':1,'warmup_steps':0,'device':'cpu',"
                    "'timing_mode':'host'," CONTRACT ",'schema':'candle-graph/trace/10',"
                    "'kind':'meta'}\n{'timestamp_ns':0,'kind':'terminal','outcome':'complete'}"));
    REFUSED("field-twice", META "@{'kind':'span_end','kind':'span_end','id':'s'}\n");
    REFUSED("field-twice", META "@{'kind':'span_end','id':'s','kind':5}\n");
    REFUSED("field-type", META "@{'kind':5}\n");
    REFUSED("field-type", META "@{'kind':null}\n");
    REFUSED("trace-unknown-kind", META "@{'kind':'Span_end','id':'s'}\n");
    REFUSED("trace-unknown-kind", META "@{'kind':'','id':'s'}\n");
    REFUSED("trace-unknown-kind", META "@{'kind':'span_end ','id':'s'}\n");
}

static void edges_are_two_kinds_of_record(void **state)
{
    trace_doc *doc;

    (void)state;
    doc = ACCEPTED(
        META
        "{'kind':'edge','edge_kind':'call','from_span':'a','to_span':'b','host_duration_ns':7}\n"
        "{'from_tensor':'x','to_tensor':'y','edge_kind':'d\\u0061ta','kind':'edge',"
        "'from_span':5}\n" COMPLETE);
    assert_int_equal(doc->edges.count, 2);
    assert_int_equal(doc->edges.at[0].kind, EDGE_KIND_CALL);
    assert_true(doc->edges.at[0].duration_ns == 7);
    expect_symbol(doc, doc->edges.at[0].from, "a");
    assert_int_equal(doc->edges.at[1].kind, EDGE_KIND_DATA);
    expect_symbol(doc, doc->edges.at[1].to, "y");
    trace_free(doc);
    REFUSED("field-missing", META "@{'kind':'edge','from_span':'a','to_span':'b'}\n");
    REFUSED("unknown-word", META "@{'kind':'edge','edge_kind':'calls'}\n");
    REFUSED("field-type", META "@{'kind':'edge','edge_kind':1}\n");
    REFUSED("field-twice", META "@{'kind':'edge','edge_kind':'call','from_span':'a','to_span':'b',"
                                "'host_duration_ns':1,'edge_kind':'data'}\n");
    REFUSED("field-missing",
            META "@{'kind':'edge','edge_kind':'data','from_span':'a','to_span':'b'}\n");
    REFUSED("field-missing",
            META "@{'kind':'edge','edge_kind':'call','from_tensor':'a','to_tensor':'b'}\n");
}

static void unknown_fields_are_ignored_at_every_level(void **state)
{
    (void)state;
    accepted(CG_LIT(
        "{'x':1,'kind':'meta','schema':'candle-graph/trace/10','run_id':'r','correlation_id':'c',"
        "'x':2,'entrypoint':'e','phase':'train','timestamp':'t','capture_step':1,'warmup_steps':0,"
        "'device':'cpu','timing_mode':'host','capture_contract':{'x':[],'x':{},"
        "'measurement_scope':'unknown','operations':'none','gradients':'complete',"
        "'gradient_contract':{'y':null,'manifest_sha256':'','expected':[{'root':'','key':'',"
        "'family':'','z':1,'z':1}],'families':[{'family':'','expectation':'active',"
        "'min_present':1,'z':[[]]}]},'logical_memory':'none','physical_memory':'none',"
        "'device_timing':'none'},'comparison_identity':{'workload_id':'','model_id':'',"
        "'config_id':'','data_id':'','seed_policy':'','physical_batch':0,'accumulation_steps':0,"
        "'precision':'','device_state':'','u':1},'tags':{}}\n" COMPLETE));
}

static void nulls_and_absences_give_the_defaults(void **state)
{
    /* clang-format off */
    trace_doc *doc = ACCEPTED(
        META
        "{'kind':'span_start','id':'s','parent_id':null,'name':'n','start_ns':1,'span_kind':'op',"
        "'step':null}\n"
        "{'kind':'span_end','id':'s'}\n"
        "{'kind':'op','span_id':'s','op_name':'o','output':null,'shape':[],'dtype':'?',"
        "'device':'d','duration_ns':2,'output_dense_bytes':null,'input_dense_bytes':0}\n"
        "{'kind':'tensor','span_id':'s','tensor_id':'t','label':null,'shape':[],'dtype':'?',"
        "'device':'d','dense_bytes':null}\n"
        MEMORY_AT("3") SAMPLE_AT("4")
        "{'kind':'gradient','event_id':'g','root':'r','key':'k','state':'missing','norm':null}\n"
        "{'kind':'terminal','outcome':'complete','timestamp_ns':9,'reason':null}\n");
    /* clang-format on */

    (void)state;
    assert_int_equal(doc->outcome, OUTCOME_COMPLETE);
    assert_null(doc->failure_reason.ptr);
    assert_false(doc->run.is_device_synchronized);
    assert_null(doc->run.identity);
    assert_null(doc->run.candle_version.ptr);
    assert_int_equal(doc->spans.at[0].parent_id, 0);
    assert_int_equal(doc->spans.at[0].parent, TRACE_NONE);
    assert_int_equal(doc->spans.at[0].step, STEP_NONE);
    assert_false(doc->spans.at[0].is_measured);
    assert_true(doc->spans.at[0].is_closed);
    assert_true(doc->spans.at[0].duration_ns == 0);
    assert_int_equal(doc->ops.at[0].output, 0);
    assert_int_equal(doc->ops.at[0].inputs_count, 0);
    assert_true(doc->ops.at[0].timestamp_ns == 0);
    assert_false(doc->ops.at[0].has_dense_bytes);
    assert_int_equal(doc->tensors.at[0].label, 0);
    assert_int_equal(doc->tensors.at[0].category, CATEGORY_OTHER);
    assert_false(doc->tensors.at[0].is_grad_required);
    assert_false(doc->tensors.at[0].has_dense_bytes);
    assert_int_equal(doc->memory.at[0].shape.rank, 0);
    assert_int_equal(doc->memory.at[0].category, CATEGORY_OTHER);
    assert_int_equal(doc->memory.at[0].op_name, 0);
    assert_int_equal(doc->samples.at[0].present, 0);
    assert_false(doc->gradients.at[0].has_norm);
    trace_free(doc);
    REFUSED("field-type", META "@{'kind':'span_end','id':'s','duration_ns':null}\n");
    REFUSED("field-type", META "@" TENSOR("'shape':[],'category':null"));
    REFUSED("field-type", META "@" TENSOR("'shape':[],'requires_grad':null"));
}

static void integers_reach_from_zero_to_two_to_the_64(void **state)
{
    trace_doc *doc =
        ACCEPTED(META SPAN("s", "18446744073709551615") COMPLETE_AT("18446744073709551615"));

    (void)state;
    assert_true(doc->spans.at[0].start_ns == UINT64_MAX);
    assert_true(doc->terminal_ns == UINT64_MAX);
    trace_free(doc);
    REFUSED("field-type", META "@" SPAN("s", "18446744073709551616") COMPLETE);
    REFUSED("field-type", META "@" SPAN("s", "-1") COMPLETE);
    REFUSED("field-type", META "@" SPAN("s", "-0") COMPLETE);
    REFUSED("field-type", META "@" SPAN("s", "1.0") COMPLETE);
    REFUSED("field-type", META "@" SPAN("s", "1e2") COMPLETE);
    REFUSED("field-type", META "@" SPAN("s", "'5'") COMPLETE);
    REFUSED("trace-json", META "{'kind':'span_start','id':'s','name':'n','start_ns':@05}\n");
    REFUSED("field-type", META "@" TENSOR("'shape':[-1]") COMPLETE);
    REFUSED("field-type", META "@" TENSOR("'shape':[1.5]") COMPLETE);
}

static void texts_keep_nul_and_escapes_and_may_be_empty(void **state)
{
    trace_doc *doc = ACCEPTED(META "{'kind':'span_start','id':'','name':'a\\u0000b\\ud83d\\ude00',"
                                   "'start_ns':0,'span_kind':'op'}\n" COMPLETE);

    (void)state;
    expect_symbol(doc, doc->spans.at[0].id, "");
    assert_true(str_equal(trace_text(doc, doc->spans.at[0].name), CG_LIT("a\0b\xf0\x9f\x98\x80")));
    trace_free(doc);
    /* Different spellings of one id are one id. */
    REFUSED("trace-span-started-twice", META SPAN("s1", "0") "@" SPAN("s\\u0031", "0"));
}

static void the_meta_record_fills_the_run(void **state)
{
    trace_doc *doc = ACCEPTED(
        "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'r9','correlation_id':'c9',"
        "'entrypoint':'e9','phase':'infer','timestamp':'t9','capture_step':3,'warmup_steps':2,"
        "'device':'cuda:0','measured_region_device_synchronized':true,"
        "'timing_mode':'device_synchronized','capture_contract':{"
        "'measurement_scope':'production_equivalent','operations':'complete','tensors':'partial',"
        "'gradients':'complete','gradient_contract':{'manifest_sha256':'sha256:x','expected':["
        "{'root':'w','key':'a','family':'f'}],'families':[{'family':'f','expectation':'active',"
        "'min_present':1}]},'logical_memory':'none','physical_memory':'none',"
        "'device_timing':'partial','required_semantic_labels':['p','q'],"
        "'cpu_only_semantic_labels':['p']},'comparison_identity':{'workload_id':'w',"
        "'model_id':'m','config_id':'c','data_id':'d','seed_policy':'s','physical_batch':8,"
        "'accumulation_steps':2,'precision':'f32','device_state':'warm'},"
        "'tags':{'b':'2','a':'1'},'candle_version':'0.9'}\n" COMPLETE);
    const rec_contract *contract = doc->run.contract;
    const rec_gradient_contract *gradients = contract->gradient_contract;
    const rec_manifest_entry *entries = gradients->expected.at;
    const rec_family *families = gradients->families.at;
    const rec_identity *identity = doc->run.identity;

    (void)state;
    assert_text(doc->run.run_id, "r9");
    assert_int_equal(doc->run.phase, PHASE_INFER);
    assert_true(doc->run.capture_step == 3);
    assert_true(doc->run.is_device_synchronized);
    assert_int_equal(doc->run.timing_mode, TIMING_MODE_DEVICE_SYNCHRONIZED);
    assert_int_equal(contract->measurement_scope, SCOPE_PRODUCTION_EQUIVALENT);
    assert_int_equal(contract->operations, LEVEL_COMPLETE);
    assert_int_equal(contract->device_timing, LEVEL_PARTIAL);
    assert_text(gradients->manifest_sha256, "sha256:x");
    assert_int_equal(gradients->expected.count, 1);
    assert_text(entries[0].key, "a");
    assert_int_equal(families[0].expectation, EXPECTATION_ACTIVE);
    assert_true(families[0].min_present == 1);
    assert_int_equal(contract->required_semantic_labels.count, 2);
    assert_text(contract->required_semantic_labels.at[1], "q");
    assert_int_equal(contract->gpu_expected_semantic_labels.count, 0);
    assert_text(identity->device_state, "warm");
    assert_null(identity->pair_id.ptr);
    assert_int_equal(doc->run.tags.count, 2);
    assert_text(doc->run.tags.at[0].key, "a");
    assert_text(doc->run.candle_version, "0.9");
    assert_false(doc->is_trace_9);
    trace_free(doc);
}

/* --- order of records --- */

static void nothing_follows_the_terminal(void **state)
{
    (void)state;
    REFUSED("trace-after-terminal", META COMPLETE "@" SPAN("s", "0"));
    REFUSED("trace-after-terminal", META COMPLETE "\n@" COMPLETE);
    REFUSED("trace-after-terminal", META COMPLETE "@" META COMPLETE);
    /* A terminal may come while spans are open. */
    accepted(CG_LIT(META SPAN("s", "0") COMPLETE));
}

static void the_meta_is_the_first_record_and_the_only_one(void **state)
{
    (void)state;
    REFUSED("trace-second-meta", META "@" META COMPLETE);
    REFUSED("trace-second-meta", META SPAN("s", "0") "\n@" META COMPLETE);
    REFUSED("trace-meta-not-first", SPAN("s", "0") "@" META COMPLETE);
    REFUSED("trace-no-meta", SPAN("s", "0") COMPLETE "@");
    accepted(CG_LIT("\n\n" META COMPLETE));
}

static void a_span_starts_once_and_ends_once_after_that(void **state)
{
    (void)state;
    REFUSED("trace-span-started-twice", META SPAN("s", "0") "@" SPAN("s", "0") COMPLETE);
    REFUSED("trace-span-started-twice",
            META SPAN("s", "0") END("s", "1") "@" SPAN("s", "0") COMPLETE);
    REFUSED("trace-end-of-unknown-span", META "@" END("s", "1") SPAN("s", "0") COMPLETE);
    REFUSED("trace-end-of-unknown-span", META SPAN("s", "0") "@" END("t", "1") COMPLETE);
    /* A text that is known for something else is no span. */
    REFUSED("trace-end-of-unknown-span", META SPAN("s", "0") "@" END("n", "1") COMPLETE);
    REFUSED("trace-span-ended-twice", META SPAN("s", "0") END("s", "1") "@" END("s", "1"));
    accepted(CG_LIT(META SPAN("a", "0") SPAN("b", "0") END("a", "1") END("b", "1") COMPLETE));
}

static void tensor_statistics_agree_with_themselves(void **state)
{
    trace_doc *doc;

    (void)state;
    REFUSED("trace-tensor-stats", META "@" STATS("", "[2]", "2", "0", "1", "1", "1"));
    REFUSED("trace-tensor-stats", META "@" STATS(" \\t", "[2]", "2", "0", "1", "1", "1"));
    REFUSED("trace-tensor-stats", META "@" STATS("\xe3\x80\x80", "[2]", "2", "0", "1", "1", "1"));
    REFUSED("trace-tensor-stats", META "@" STATS("l", "[2,3]", "5", "0", "1", "1", "1"));
    REFUSED("trace-tensor-stats", META "@" STATS("l", "[]", "0", "0", "1", "1", "1"));
    REFUSED("trace-tensor-stats",
            META "@" STATS("l", "[4294967296,4294967296]", "0", "0", "1", "1", "1"));
    REFUSED("trace-tensor-stats",
            META "@" STATS("l", "[4294967296,4294967296,0]", "0", "0", "1", "1", "1"));
    REFUSED("trace-tensor-stats", META "@" STATS("l", "[2]", "2", "3", "1", "1", "1"));
    REFUSED("trace-tensor-stats", META "@" STATS("l", "[2]", "2", "0", "-1", "1", "1"));
    REFUSED("trace-tensor-stats", META "@" STATS("l", "[2]", "2", "0", "1", "-5e-324", "1"));
    doc = ACCEPTED(META STATS("l", "[0,4294967296,4294967296]", "0", "0", "0", "0", "0") STATS(
        "l", "[4294967296,4294967295]", "18446744069414584320", "18446744069414584320", "-0.0",
        "-0.0", "-0.0") STATS("l", "[]", "1", "0", "1e-400", "5e-324", "-0") COMPLETE);
    assert_int_equal(doc->stats.count, 3);
    assert_true(signbit(doc->stats.at[1].mean) && doc->stats.at[1].mean == 0.0);
    assert_true(signbit(doc->stats.at[1].rms));
    assert_true(doc->stats.at[2].rms == 0.0 && !signbit(doc->stats.at[2].rms));
    assert_true(doc->stats.at[2].abs_max == 5e-324);
    assert_true(signbit(doc->stats.at[2].mean));
    trace_free(doc);
}

/* --- the end of the stream --- */

static void what_is_missing_at_the_end_is_named(void **state)
{
    (void)state;
    REFUSED("trace-no-meta", "@");
    REFUSED("trace-no-meta", "\n \n@");
    REFUSED("trace-no-meta", COMPLETE "@"); /* before a missing terminal */
    REFUSED("trace-no-meta", SPAN("s", "0") "@");
    REFUSED("trace-no-terminal", META "@");
    REFUSED("trace-no-terminal", META SPAN("s", "0") "\n@");
    REFUSED("trace-no-terminal", META "{'kind':'span_start','id':'s','name':'n','start_ns':0,"
                                      "'span_kind':'op'}@");
}

static void two_schemas_are_read(void **state)
{
    trace_doc *doc = ACCEPTED(META_AS("candle-graph/trace/9") SPAN("s", "0") COMPLETE);

    (void)state;
    assert_true(doc->is_trace_9);
    trace_free(doc);
    REFUSED("trace-schema", "@" META_AS("candle-graph/trace/8") COMPLETE);
    REFUSED("trace-schema", "@" META_AS("candle-graph/trace/11") COMPLETE);
    REFUSED("trace-schema", "@" META_AS("candle-graph/trace/10 ") COMPLETE);
    REFUSED("trace-schema", "@" META_AS("") COMPLETE);
    REFUSED("trace-schema", "\n @" META_AS("candle-graph/trace/1") SPAN("s", "0") COMPLETE);
    /* Later rules of the stream come first. */
    REFUSED("trace-no-terminal", META_AS("candle-graph/trace/8") "@");
    REFUSED("trace-schema", "@" META_AS("x") STATS("l", "[2]", "2", "0", "1", "1", "1") COMPLETE);
}

static void trace_9_has_no_tensor_statistics(void **state)
{
    (void)state;
    REFUSED("trace-9-tensor-stats",
            META_AS("candle-graph/trace/9")
                SPAN("s", "0") "@" STATS("l", "[2]", "2", "0", "1", "1", "1")
                    STATS("l", "[2]", "2", "0", "1", "1", "1") COMPLETE);
    /* Statistics that disagree with themselves are found where they stand. */
    REFUSED("trace-tensor-stats",
            META_AS("candle-graph/trace/9") "@" STATS("l", "[2]", "3", "0", "1", "1", "1"));
}

static void a_reason_belongs_to_a_failed_capture(void **state)
{
    trace_doc *doc;

    (void)state;
    REFUSED("trace-terminal-reason", META "@{'kind':'terminal','outcome':'complete',"
                                          "'timestamp_ns':0,'reason':'why'}\n");
    REFUSED("trace-terminal-reason", META "@{'kind':'terminal','outcome':'complete',"
                                          "'timestamp_ns':0,'reason':''}\n");
    REFUSED("trace-terminal-reason", META "@" FAILED(""));
    REFUSED("trace-terminal-reason", META "@" FAILED(",'reason':null"));
    REFUSED("trace-terminal-reason", META "@" FAILED(",'reason':''"));
    REFUSED("trace-terminal-reason", META "@" FAILED(",'reason':' \\u00a0 '"));
    doc = ACCEPTED(META FAILED(",'reason':' out of memory'"));
    assert_int_equal(doc->outcome, OUTCOME_FAILED);
    assert_text(doc->failure_reason, " out of memory");
    trace_free(doc);
}

static void the_terminal_is_not_before_the_latest_host_evidence(void **state)
{
    (void)state;
#define EARLY "trace-terminal-too-early"
    REFUSED(EARLY, META SPAN("s", "11") "@" COMPLETE_AT("10"));
    accepted(CG_LIT(META SPAN("s", "10") COMPLETE_AT("10")));
    REFUSED(EARLY, META SPAN("s", "5") END("s", "6") "@" COMPLETE_AT("10"));
    accepted(CG_LIT(META SPAN("s", "5") END("s", "5") COMPLETE_AT("10")));
    REFUSED(EARLY, META OP_AT("5", "6") "@" COMPLETE_AT("10"));
    accepted(CG_LIT(META OP_AT("5", "5") COMPLETE_AT("10")));
    REFUSED(EARLY, META MEMORY_AT("11") "@" COMPLETE_AT("10"));
    accepted(CG_LIT(META MEMORY_AT("10") COMPLETE_AT("10")));
    REFUSED(EARLY, META SAMPLE_AT("11") "@" COMPLETE_AT("10"));
    accepted(CG_LIT(META SAMPLE_AT("10") COMPLETE_AT("10")));
    /* A device clock is not host time. */
    accepted(CG_LIT(META INTERVAL_AT("11") COMPLETE_AT("10")));
    accepted(CG_LIT(META COMPLETE_AT("0")));
    /* Sums saturate, and can then be reached. */
    REFUSED(EARLY, META SPAN("s", "18446744073709551615")
                       END("s", "5") "@" COMPLETE_AT("18446744073709551614"));
    accepted(CG_LIT(META SPAN("s", "18446744073709551615") END("s", "5")
                        COMPLETE_AT("18446744073709551615")));
    /* The reason is judged before the time. */
    REFUSED("trace-terminal-reason", META SPAN("s", "2000") "@" FAILED(""));
#undef EARLY
}

/* --- what the reader makes of it --- */

static void spans_are_ordered_bytewise_and_know_their_parents(void **state)
{
    static const char *const want[] = {"",   "B",         "a",        "a.b",
                                       "s",  "s1",        "s10",      "s2",
                                       "s9", "s\xc3\xa9", "\xc3\xa9", "\xf0\x9f\x98\x80"};
    trace_doc *doc = ACCEPTED(
        META SPAN("s2", "0") CHILD("s9", "s10") SPAN("\xf0\x9f\x98\x80", "0") SPAN("s10", "0")
            CHILD("a", "nobody") SPAN("", "0") CHILD("s1", "") CHILD("s", "s") SPAN("B", "0")
                CHILD("\xc3\xa9", "s\xc3\xa9") SPAN("s\xc3\xa9", "0") SPAN("a.b", "0") COMPLETE);
    const trace_span *spans = doc->spans.at;

    (void)state;
    assert_int_equal(doc->spans.count, sizeof want / sizeof want[0]);
    for (uint32_t i = 0; i < doc->spans.count; i++) {
        expect_symbol(doc, spans[i].id, want[i]);
        assert_int_equal(trace_span_of(doc, spans[i].id), i);
    }
    assert_int_equal(spans[8].parent, 6); /* s9 -> s10, which starts later */
    assert_int_equal(spans[5].parent, 0); /* s1 -> the empty id */
    assert_int_equal(spans[4].parent, 4); /* s is its own parent */
    assert_int_equal(spans[10].parent, 9);
    assert_int_equal(spans[2].parent, TRACE_NONE); /* unknown, */
    expect_symbol(doc, spans[2].parent_id, "nobody");
    assert_int_equal(spans[7].parent, TRACE_NONE); /* and none */
    assert_int_equal(spans[7].parent_id, 0);
    assert_int_equal(spans[7].order, 0);
    assert_int_equal(spans[3].order, 11);
    assert_int_equal(trace_span_of(doc, 0), TRACE_NONE);
    assert_int_equal(trace_span_of(doc, intern_find(&doc->texts, CG_LIT("nobody"))), TRACE_NONE);
    assert_int_equal(trace_span_of(doc, UINT32_MAX), TRACE_NONE);
    trace_free(doc);
}

static void other_rows_keep_the_order_of_the_stream(void **state)
{
    trace_doc *doc = ACCEPTED(META OP_AT("9", "0") OP_AT("3", "0") OP_AT("5", "0") TENSOR(
        "'shape':[2,3],'label':'b'") TENSOR("'shape':[2,3],'label':'a'") COMPLETE);

    (void)state;
    assert_true(doc->ops.at[0].timestamp_ns == 9);
    assert_true(doc->ops.at[1].timestamp_ns == 3);
    assert_true(doc->ops.at[2].timestamp_ns == 5);
    expect_symbol(doc, doc->tensors.at[0].label, "b");
    expect_symbol(doc, doc->tensors.at[1].label, "a");
    trace_free(doc);
}

static void the_dense_footprint_is_filled_in_when_it_can_be(void **state)
{
    /* clang-format off */
    trace_doc *doc = ACCEPTED(
        META OP_AT("0", "0")
        TENSOR("'shape':[2,3]")
        TENSOR("'shape':[2,3],'dense_bytes':7")
        TENSOR("'shape':[18446744073709551615,2]")
        TENSOR("'shape':[]")
        "{'kind':'tensor','span_id':'s','tensor_id':'t','dtype':' BF16 ','shape':[3],"
        "'device':'d'}\n"
        "{'kind':'tensor','span_id':'s','tensor_id':'t','dtype':'q8','device':'d','shape':[3]}\n"
        COMPLETE);
    /* clang-format on */

    (void)state;
    assert_true(doc->ops.at[0].has_dense_bytes && doc->ops.at[0].dense_bytes == 8);
    assert_true(doc->tensors.at[0].has_dense_bytes && doc->tensors.at[0].dense_bytes == 24);
    assert_true(doc->tensors.at[1].has_dense_bytes && doc->tensors.at[1].dense_bytes == 7);
    assert_true(doc->tensors.at[2].dense_bytes == UINT64_MAX);
    assert_true(doc->tensors.at[3].dense_bytes == 4);
    assert_true(doc->tensors.at[4].dense_bytes == 6);
    assert_false(doc->tensors.at[5].has_dense_bytes);
    /* dtypes are kept as they were given */
    expect_symbol(doc, doc->tensors.at[4].dtype, " BF16 ");
    trace_free(doc);
}

static void a_span_without_an_end_is_open(void **state)
{
    trace_doc *doc = ACCEPTED(META SPAN("s1", "7") SPAN("s2", "8") END("s2", "5") COMPLETE);

    (void)state;
    assert_false(doc->spans.at[0].is_closed);
    assert_true(doc->spans.at[0].duration_ns == 0);
    assert_true(trace_span_end(&doc->spans.at[0]) == 7);
    assert_true(doc->spans.at[1].is_closed);
    assert_true(trace_span_end(&doc->spans.at[1]) == 13);
    trace_free(doc);
}

static void shapes_are_kept_whole_even_when_shared(void **state)
{
    trace_doc *doc = ACCEPTED(META TENSOR("'shape':[2,3]") TENSOR("'shape':[3]") TENSOR(
        "'shape':[2,3]") TENSOR("'shape':[3,2,3]") TENSOR("'shape':[]") COMPLETE);
    static const uint64_t want[5][3] = {{2, 3}, {3}, {2, 3}, {3, 2, 3}, {0}};
    static const size_t ranks[5] = {2, 1, 2, 3, 0};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        sc_u64s axes = trace_axes(doc, doc->tensors.at[i].shape);

        assert_int_equal(axes.count, ranks[i]);
        for (size_t n = 0; n < ranks[i]; n++)
            assert_true(axes.at[n] == want[i][n]);
    }
    trace_free(doc);
}

/* --- streaming --- */

/* clang-format off */
#define EVERYTHING                                                                                 \
    META SPAN("s2", "5") SPAN("s10", "6") CHILD("\xc3\xa9", "s2") "\r\n" END("s10", "7")           \
    OP_AT("5", "6")                                                                                \
    "{'kind':'op','span_id':'s2','op_name':'add','inputs':['a','b'],'output':'c','shape':[2,3],"   \
    "'dtype':'f32','device':'d','duration_ns':1,'timestamp_ns':2,'input_dense_bytes':3}\n"         \
    TENSOR("'shape':[2,3]") TENSOR("'shape':[4],'label':'\\u00e9'")                                \
    STATS("l", "[2]", "2", "1", "0.5", "1e16", "-0.0") MEMORY_AT("7")                              \
    "{'kind':'device_memory','timestamp_ns':8,'device':'d','used_bytes':1,'capacity_bytes':2}\n"   \
    INTERVAL_AT("9")                                                                               \
    "{'kind':'gradient','event_id':'g','root':'w','key':'k','state':'present','norm':0.25}\n"      \
    "{'kind':'edge','edge_kind':'data','from_tensor':'a','to_tensor':'c'}\n"                       \
    "{'kind':'edge','edge_kind':'call','from_span':'s2','to_span':'s10','host_duration_ns':7}\n"   \
    FAILED(",'reason':'why'")
/* clang-format on */

static void add(buf *out, const trace_doc *doc, sym symbol)
{
    buf_byte(out, ' ');
    if (symbol == 0)
        buf_byte(out, '-');
    else
        buf_add(out, trace_text(doc, symbol));
}

static void add_shape(buf *out, const trace_doc *doc, trace_shape shape)
{
    sc_u64s axes = trace_axes(doc, shape);

    for (size_t i = 0; i < axes.count; i++)
        buf_addf(out, "%c%" PRIu64, i == 0 ? '[' : ',', axes.at[i]);
    buf_addf(out, "]");
}

/* All that the document says, as text. */
static void describe(buf *out, const trace_doc *doc)
{
    buf_addf(out, "%" PRIu64 " %" PRIu64 " %d %" PRIu64 " %.*s\n", doc->event_count,
             doc->byte_count, doc->outcome, doc->terminal_ns, (int)doc->failure_reason.len,
             doc->failure_reason.ptr == NULL ? "" : doc->failure_reason.ptr);
    for (size_t i = 0; i < doc->spans.count; i++) {
        const trace_span *span = &doc->spans.at[i];

        buf_addf(out, "%" PRIu64 " %" PRIu64 " %u %u %d %d %d %d", span->start_ns,
                 span->duration_ns, span->parent, span->order, span->kind, span->step,
                 span->is_measured, span->is_closed);
        add(out, doc, span->id);
        add(out, doc, span->name);
        add(out, doc, span->parent_id);
    }
    for (size_t i = 0; i < doc->ops.count; i++) {
        const trace_op *op = &doc->ops.at[i];

        buf_addf(out, "\n%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d", op->timestamp_ns,
                 op->duration_ns, op->dense_bytes, op->input_dense_bytes, op->has_dense_bytes);
        add_shape(out, doc, op->shape);
        for (uint32_t n = 0; n < op->inputs_count; n++)
            add(out, doc, doc->inputs.at[op->inputs_at + n]);
        add(out, doc, op->span_id);
        add(out, doc, op->name);
        add(out, doc, op->output);
    }
    for (size_t i = 0; i < doc->tensors.count; i++) {
        add_shape(out, doc, doc->tensors.at[i].shape);
        add(out, doc, doc->tensors.at[i].label);
        add(out, doc, doc->tensors.at[i].device);
    }
    for (size_t i = 0; i < doc->stats.count; i++)
        buf_addf(out, "\n%a %a %a", doc->stats.at[i].rms, doc->stats.at[i].abs_max,
                 doc->stats.at[i].mean);
    for (size_t i = 0; i < doc->memory.count; i++)
        add(out, doc, doc->memory.at[i].storage_id);
    for (size_t i = 0; i < doc->samples.count; i++)
        buf_addf(out, " %d %" PRIu64 " %" PRIu64, doc->samples.at[i].present,
                 doc->samples.at[i].bytes[0], doc->samples.at[i].bytes[3]);
    for (size_t i = 0; i < doc->intervals.count; i++)
        add(out, doc, doc->intervals.at[i].clock_id);
    for (size_t i = 0; i < doc->gradients.count; i++)
        buf_addf(out, " %a %d", doc->gradients.at[i].norm, doc->gradients.at[i].state);
    for (size_t i = 0; i < doc->edges.count; i++) {
        buf_addf(out, "\n%d %" PRIu64, doc->edges.at[i].kind, doc->edges.at[i].duration_ns);
        add(out, doc, doc->edges.at[i].from);
        add(out, doc, doc->edges.at[i].to);
    }
}

typedef struct pipe_end {
    cg_str rest;
    size_t piece; /* bytes of a read */
    size_t reads;
    size_t fail_at; /* the read that fails, 0: none */
} pipe_end;

static int64_t pipe_read(void *context, int file, void *to, size_t count)
{
    pipe_end *self = context;
    size_t taken = self->rest.len;

    (void)file;
    if (++self->reads == self->fail_at) {
        errno = EIO;
        return -1;
    }
    if (self->reads % 7 == 3) {
        errno = EINTR;
        return -1;
    }
    if (taken > self->piece)
        taken = self->piece;
    if (taken > count)
        taken = count;
    memcpy(to, self->rest.ptr, taken);
    self->rest.ptr += taken;
    self->rest.len -= taken;
    return (int64_t)taken;
}

static void pieces_of_any_size_make_the_same_document(void **state)
{
    static const size_t pieces[] = {1, 2, 3, 7, 64, 4096};
    trace_doc *whole = ACCEPTED(EVERYTHING);
    heap from;
    buf want;
    buf got;
    text t;

    (void)state;
    heap_init(&from, NULL);
    buf_init(&want, &from, SIZE_MAX);
    buf_init(&got, &from, SIZE_MAX);
    describe(&want, whole);
    trace_free(whole);
    set(&t, CG_LIT(EVERYTHING));
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        pipe_end end = {slice(&t), pieces[i], 0, 0};
        os_calls calls = {.context = &end, .read = pipe_read};
        os_file file = {.os = &calls, .handle = 3};
        trace_doc *doc = NULL;

        assert_int_equal(trace_read_open(NULL, &file, &doc, NULL), CG_OK);
        buf_clear(&got);
        describe(&got, doc);
        if (!str_equal(buf_text(&got), buf_text(&want)))
            fail_msg("pieces of %zu: %.*s", pieces[i], (int)got.len, got.at);
        trace_free(doc);
    }
    buf_free(&got);
    buf_free(&want);
    assert_int_equal(from.used_bytes, 0);
}

static void a_read_error_ends_the_reading(void **state)
{
    text t;

    (void)state;
    set(&t, CG_LIT(EVERYTHING));
    for (size_t k = 1; k < 20; k++) {
        pipe_end end = {slice(&t), 100, 0, k};
        os_calls calls = {.context = &end, .read = pipe_read};
        os_file file = {.os = &calls, .handle = 3};
        trace_doc *doc = NULL;
        cg_err err = {0};

        assert_int_equal(trace_read_open(NULL, &file, &doc, &err), CG_NOT_FOUND);
        assert_string_equal(err.problem, "input-unreadable");
        assert_null(doc);
    }
}

static void a_file_that_is_not_there_is_named(void **state)
{
    trace_doc *doc = NULL;
    cg_err err = {0};

    (void)state;
    assert_int_equal(trace_read_file(NULL, CG_LIT("tests/no-such-trace.jsonl"), &doc, &err),
                     CG_NOT_FOUND);
    assert_string_equal(err.problem, "input-missing");
    assert_string_equal(err.file, "tests/no-such-trace.jsonl");
    assert_null(doc);
}

/* --- ceilings --- */

static void refuse_limited(unsigned limit, uint64_t value, cg_str from)
{
    cg_limits limits;
    const cg_env env = {.size = sizeof env, .limits = &limits};

    limits_default(&limits);
    limits.value[limit] = value;
    refuse_text(&env, "limit", from);
    limits.value[limit] = value + 1;
    trace_free(accept_text(&env, from));
}

#define TAGGED                                                                                     \
    "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'r','correlation_id':'c',"           \
    "'entrypoint':'e','phase':'train','timestamp':'t','capture_step':1,'warmup_steps':0,"          \
    "'device':'cpu','timing_mode':'host'," CONTRACT ",'tags':"
#define DOTS "................................................................"
#define LONG_LINE                                                                                  \
    "{'kind':'terminal','outcome':'failed','timestamp_ns':1,'reason':'" DOTS DOTS DOTS DOTS DOTS   \
        DOTS DOTS DOTS DOTS DOTS "'}"

static void ceilings_hold_where_they_are_reached(void **state)
{
    (void)state;
    refuse_limited(CG_LIMIT_TENSOR_RANK, 2, CG_LIT(META "@" TENSOR("'shape':[1,2,3]") COMPLETE));
    refuse_limited(CG_LIMIT_SPANS, 1, CG_LIT(META SPAN("a", "0") "@" SPAN("b", "0") COMPLETE));
    refuse_limited(CG_LIMIT_EVENTS, 2, CG_LIT(META SPAN("a", "0") "\n@" COMPLETE));
    refuse_limited(CG_LIMIT_TAGS, 1, CG_LIT("@" TAGGED "{'a':'','b':''}}\n" COMPLETE));
    /* Equal keys are one tag. */
    accepted(CG_LIT(TAGGED "{'a':'','a':''}}\n" COMPLETE));
    refuse_limited(CG_LIMIT_LINE_BYTES, sizeof LONG_LINE - 2, CG_LIT(META "@" LONG_LINE));
}

static void the_rank_ceiling_is_64(void **state)
{
    char axes[512] = "";
    char whole[4096];

    (void)state;
    for (size_t i = 0; i < 64; i++)
        snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "1,");
    snprintf(whole, sizeof whole, "%s" TENSOR("'shape':[%.*s]") "%s", META, (int)strlen(axes) - 1,
             axes, COMPLETE);
    accepted(str_from(whole));
    snprintf(whole, sizeof whole, "%s@" TENSOR("'shape':[%s1]") "%s", META, axes, COMPLETE);
    refuse_text(NULL, "limit", str_from(whole));
}

static bool stop(void *context, const char *stage, uint64_t done, uint64_t total)
{
    uint64_t *calls = context;

    assert_non_null(stage);
    assert_true(done > 0 && done <= total);
    return ++*calls < 2;
}

static void a_caller_may_stop_a_long_reading(void **state)
{
    uint64_t calls = 0;
    const cg_env env = {.size = sizeof env, .progress = stop, .progress_context = &calls};
    size_t size = 200000;
    char *blank = malloc(size);
    trace_doc *doc = NULL;
    cg_err err = {0};

    (void)state;
    assert_non_null(blank);
    memset(blank, '\n', size);
    assert_int_equal(trace_read_text(&env, (cg_str){blank, size}, &doc, &err), CG_INTERRUPTED);
    assert_null(doc);
    assert_true(calls == 2);
    free(blank);
}

/* --- memory --- */

static void no_memory_is_an_error_and_nothing_is_left_behind(void **state)
{
    text t;

    (void)state;
    set(&t, CG_LIT(EVERYTHING));
    for (size_t k = 1;; k++) {
        failing memory = {.fail_at = k};
        trace_doc *doc = NULL;
        cg_err err = {0};
        cg_code code = trace_read_text(failing_env(&memory), slice(&t), &doc, &err);

        if (code == CG_OK) {
            assert_true(memory.requests < k);
            assert_true(k > 10);
            trace_free(doc);
        } else {
            assert_int_equal(code, CG_NOMEM);
            assert_string_equal(err.problem, "out-of-memory");
            assert_null(doc);
        }
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(memory.bytes, 0);
        if (code == CG_OK)
            break;
    }
}

static void a_refused_trace_leaves_nothing_behind(void **state)
{
    text t;

    (void)state;
    set(&t, CG_LIT(EVERYTHING));
    for (size_t len = 0; len < t.len; len++) {
        failing memory = {0};
        trace_doc *doc = NULL;
        cg_code code = trace_read_text(failing_env(&memory), (cg_str){t.at, len}, &doc, NULL);

        /* Only the last newline can be spared. */
        assert_int_equal(code, len == t.len - 1 ? CG_OK : CG_INPUT);
        trace_free(doc);
        assert_int_equal(memory.blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_of_unicode_around_records_is_trimmed),
        cmocka_unit_test(what_is_not_white_space_stays),
        cmocka_unit_test(line_ends_may_be_missing_doubled_or_foreign),
        cmocka_unit_test(a_record_that_starts_late_is_placed_at_its_first_byte),
        cmocka_unit_test(a_byte_order_mark_is_named),
        cmocka_unit_test(bytes_that_are_not_utf_8_are_refused_wherever_they_stand),
        cmocka_unit_test(a_line_is_one_json_object),
        cmocka_unit_test(json_goes_127_containers_deep),
        cmocka_unit_test(a_writer_that_died_is_told_from_a_broken_one),
        cmocka_unit_test(every_cut_through_a_record_is_a_cut),
        cmocka_unit_test(the_kind_may_stand_anywhere_but_once),
        cmocka_unit_test(edges_are_two_kinds_of_record),
        cmocka_unit_test(unknown_fields_are_ignored_at_every_level),
        cmocka_unit_test(nulls_and_absences_give_the_defaults),
        cmocka_unit_test(integers_reach_from_zero_to_two_to_the_64),
        cmocka_unit_test(texts_keep_nul_and_escapes_and_may_be_empty),
        cmocka_unit_test(the_meta_record_fills_the_run),
        cmocka_unit_test(nothing_follows_the_terminal),
        cmocka_unit_test(the_meta_is_the_first_record_and_the_only_one),
        cmocka_unit_test(a_span_starts_once_and_ends_once_after_that),
        cmocka_unit_test(tensor_statistics_agree_with_themselves),
        cmocka_unit_test(what_is_missing_at_the_end_is_named),
        cmocka_unit_test(two_schemas_are_read),
        cmocka_unit_test(trace_9_has_no_tensor_statistics),
        cmocka_unit_test(a_reason_belongs_to_a_failed_capture),
        cmocka_unit_test(the_terminal_is_not_before_the_latest_host_evidence),
        cmocka_unit_test(spans_are_ordered_bytewise_and_know_their_parents),
        cmocka_unit_test(other_rows_keep_the_order_of_the_stream),
        cmocka_unit_test(the_dense_footprint_is_filled_in_when_it_can_be),
        cmocka_unit_test(a_span_without_an_end_is_open),
        cmocka_unit_test(shapes_are_kept_whole_even_when_shared),
        cmocka_unit_test(pieces_of_any_size_make_the_same_document),
        cmocka_unit_test(a_read_error_ends_the_reading),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(ceilings_hold_where_they_are_reached),
        cmocka_unit_test(the_rank_ceiling_is_64),
        cmocka_unit_test(a_caller_may_stop_a_long_reading),
        cmocka_unit_test(no_memory_is_an_error_and_nothing_is_left_behind),
        cmocka_unit_test(a_refused_trace_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
