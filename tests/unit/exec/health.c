#include "unit/exec/lines.h"

#include "exec/gradient.h"

/* Codes that some test has seen reported; the last test looks for gaps. */
static bool is_seen[HEALTH_CODE_COUNT];

/* A valid start: root a 0..100, measured b 10..90 in it. */
static lines begin_as(const char *phase, const char *rest, const char *contract)
{
    lines text = {0};

    lines_meta_of(&text, phase, rest, contract);
    lines_span(&text, "a", NULL, "root", 0, 100);
    lines_measured(&text, "b", "a", "call", 10, 90);
    return text;
}

static lines begin(void)
{
    return begin_as("infer", "", LINES_LEVELS("none"));
}

static analysis judge(lines *text)
{
    lines_complete(text, 1000);
    return analyse_trace(lines_read(text));
}

static analysis judge_failed(lines *text)
{
    lines_add(text, "{'kind':'terminal','outcome':'failed','timestamp_ns':1000,'reason':'out of "
                    "power'}");
    return analyse_trace(lines_read(text));
}

static bool is_absence(uint8_t code)
{
    return code >= HEALTH_NO_OPERATIONS && code <= HEALTH_NO_OPTIMIZER;
}

/* All issues but absences as "E code: message" lines. */
static void assert_issues(const analysis *of, const char *want)
{
    buf out;

    buf_init(&out, of->heap, 1 << 20);
    for (size_t i = 0; i < of->health.issues.count; i++) {
        const health_issue *issue = &of->health.issues.at[i];

        is_seen[issue->code] = true;
        if (is_absence(issue->code))
            continue;
        buf_add(&out, issue->is_error ? CG_LIT("E ") : CG_LIT("W "));
        buf_add(&out, health_code_word(issue->code));
        buf_add(&out, CG_LIT(": "));
        health_message(&of->health, issue, &out);
        buf_byte(&out, '\n');
    }
    assert_false(out.failed);
    assert_text(buf_text(&out), want);
    buf_free(&out);
}

/* Judge the trace, compare, and free. */
static void expect(lines *text, const char *want)
{
    analysis of = judge(text);

    assert_issues(&of, want);
    assert_int_equal(of.health.is_valid, of.health.error_count == 0);
    assert_true(of.health.is_complete);
    analysis_free(&of);
}

static void expect_failed(lines *text, const char *want)
{
    analysis of = judge_failed(text);

    assert_issues(&of, want);
    assert_false(of.health.is_complete);
    analysis_free(&of);
}

static void a_sound_trace_only_lacks_things(void **state)
{
    lines text = begin_as("train", "", LINES_LEVELS("none"));
    analysis of = judge(&text);
    const uint8_t want[] = {
        HEALTH_NO_OPERATIONS,      HEALTH_NO_TENSORS,       HEALTH_NO_LOGICAL_MEMORY,
        HEALTH_NO_PHYSICAL_MEMORY, HEALTH_NO_DEVICE_TIMING, HEALTH_NO_GRADIENTS,
        HEALTH_NO_FORWARD,         HEALTH_NO_BACKWARD,      HEALTH_NO_OPTIMIZER};

    (void)state;
    assert_int_equal(of.health.issues.count, sizeof want);
    for (size_t i = 0; i < sizeof want; i++)
        assert_int_equal(of.health.issues.at[i].code, want[i]);
    assert_true(of.health.is_valid);
    assert_int_equal(of.health.warning_count, sizeof want);
    assert_issues(&of, "");
    assert_int_equal(of.health.measured_span, 1);
    assert_int_equal(of.health.closed_measured_count, 1);
    assert_false(of.health.has_gradient_warning); /* gradients_absent is none */
    analysis_free(&of);
    text = begin();
    of = judge(&text);
    assert_int_equal(of.health.warning_count, 5);
    analysis_free(&of);
}

static void coverage_counts_every_kind(void **state)
{
    static const uint64_t want[COVERAGE_COUNT] = {4, 3, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1};
    lines text = begin();
    analysis of;

    (void)state;
    lines_start(&text, "c", "b", "n", 20, LINES_FUNCTION ",'step':'forward'");
    lines_start(&text, "d", "b", "n", 20, LINES_FUNCTION ",'step':'backward'");
    lines_end(&text, "d", 1);
    lines_op(&text, "b", "o", "'x'", "'y'", 20, 30);
    lines_op(&text, "b", "o", "", "null", 20, 30);
    lines_add(&text, "{'kind':'tensor','span_id':'b','tensor_id':'t','shape':[],'dtype':'f32',"
                     "'device':'d'}");
    lines_memory(&text, "alloc", "b", "m", "t", 1, 20);
    lines_add(&text, "{'kind':'device_memory','timestamp_ns':1,'device':'d','used_bytes':1}");
    lines_add(&text, "{'kind':'device_interval','span_id':'b','device':'d','stream_id':'0',"
                     "'clock_id':'k','backend':'x','start_ns':0,'duration_ns':1}");
    lines_add(&text, "{'kind':'gradient','event_id':'g','root':'r','key':'k','state':'missing'}");
    lines_add(&text, "{'kind':'edge','edge_kind':'call','from_span':'a','to_span':'b',"
                     "'host_duration_ns':80}");
    lines_add(&text, "{'kind':'edge','edge_kind':'data','from_tensor':'x','to_tensor':'y'}");
    lines_add(&text, "{'kind':'edge','edge_kind':'data','from_tensor':'t','to_tensor':'y'}");
    of = judge(&text);
    for (unsigned i = 0; i < COVERAGE_COUNT; i++)
        if (i != COVERAGE_OPTIMIZER_SPANS)
            assert_int_equal(of.health.coverage[i], want[i]);
    assert_int_equal(of.health.coverage[COVERAGE_OPTIMIZER_SPANS], 0);
    assert_issues(&of, "E open_span: span `c` (`n`) was never ended\n"
                       "W retained_allocations: storages that are still allocated at the end of "
                       "the capture: 1\n");
    analysis_free(&of);
}

static void the_first_broken_rule_of_the_run_is_told(void **state)
{
    static const struct {
        const char *identity;
        const char *want;
    } cases[] = {
        {"'workload_id':'w','model_id':' ','config_id':'','data_id':'d','seed_policy':'s',"
         "'physical_batch':0,'accumulation_steps':1,'precision':'p','device_state':'x'",
         "has a blank model id in its comparison identity"},
        {"'workload_id':'w','model_id':'m','config_id':'c','data_id':'d','seed_policy':'s',"
         "'physical_batch':0,'accumulation_steps':1,'precision':'p','device_state':'x'",
         "has physical batch 0 in its comparison identity"},
        {"'workload_id':'w','model_id':'m','config_id':'c','data_id':'d','seed_policy':'s',"
         "'physical_batch':1,'accumulation_steps':0,'precision':'p','device_state':'x'",
         "has 0 accumulation steps in its comparison identity"},
        {"'workload_id':'w','model_id':'m','config_id':'c','data_id':'d','seed_policy':'s',"
         "'physical_batch':1,'accumulation_steps':0,'precision':'p','device_state':'x',"
         "'pair_id':''",
         "has a blank pair id in its comparison identity"},
        {"'workload_id':'w','model_id':'m','config_id':'c','data_id':'d','seed_policy':'s',"
         "'physical_batch':1,'accumulation_steps':0,'precision':'p','device_state':'x',"
         "'pair_id':'','implementation_id':'\\u00a0'",
         "has a blank implementation id in its comparison identity"},
    };
    char rest[600];
    char want[200];

    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        lines text;

        snprintf(rest, sizeof rest, "'comparison_identity':{%s},", cases[i].identity);
        snprintf(want, sizeof want, "E run_provenance_invalid: the run %s\n", cases[i].want);
        text = begin_as("infer", rest, LINES_LEVELS("none"));
        expect(&text, want);
    }
}

static void documents_made_in_memory_are_judged_too(void **state)
{
    lines text = begin();
    analysis of = judge(&text);
    trace_doc *trace = of.trace;

    (void)state;
    health_free(&of.health);
    trace->run.warmup_steps = 2;
    trace->failure_reason = CG_LIT("why");
    trace->terminal_ns = 99;
    trace->spans.at[1].id = trace->spans.at[0].id;
    assert_int_equal(health_check(of.heap, trace, &of.memory, &of.health, NULL), CG_OK);
    assert_issues(&of,
                  "E run_provenance_invalid: the run has as many warm-up steps as capture steps, "
                  "or more\n"
                  "E complete_with_failure_reason: the capture is complete, but gives a reason for "
                  "a failure: why\n"
                  "E terminal_precedes_evidence: the capture ends at 99 ns, but holds evidence up "
                  "to 100 ns\n"
                  "E duplicate_span_id: span id `a` is used more than once\n");
    health_free(&of.health);
    trace->outcome = OUTCOME_FAILED;
    trace->run.capture_step = 0;
    trace->run.device = CG_LIT(" ");
    trace->failure_reason = (cg_str){0};
    assert_int_equal(health_check(of.heap, trace, &of.memory, &of.health, NULL), CG_OK);
    assert_int_equal(of.health.issues.at[0].code, HEALTH_RUN_PROVENANCE);
    assert_int_equal(of.health.issues.at[1].code, HEALTH_FAILED_WITHOUT_REASON);
    assert_int_equal(of.health.issues.at[2].code, HEALTH_TERMINAL_PRECEDES);
    assert_int_equal(of.health.issues.at[3].code, HEALTH_CAPTURE_FAILED);
    is_seen[HEALTH_FAILED_WITHOUT_REASON] = true;
    analysis_free(&of);
}

static void roots_and_measured_spans_are_counted(void **state)
{
    lines text = begin();

    (void)state;
    lines_measured(&text, "c", NULL, "other", 0, 5);
    expect(&text, "E root_count: the trace must have exactly 1 span without a parent, it has 2\n"
                  "E measurement_count: the trace must have exactly 1 measured span, it has 2\n");
    text = (lines){0};
    lines_meta(&text, LINES_LEVELS("none"));
    expect_failed(&text,
                  "W capture_failed: out of power\n"
                  "E root_count: the trace must have exactly 1 span without a parent, it has 0\n");
}

static void spans_are_checked_in_id_order(void **state)
{
    lines text = begin();

    (void)state;
    lines_span(&text, "z", "b", "late", 80, 95);
    lines_span(&text, "k", "b", "early", 5, 20);
    lines_span(&text, "m", "nobody", "lost", 20, 30);
    lines_start(&text, "n", "b", "open", 20, LINES_FUNCTION);
    lines_span(&text, "o", "b", "equal", 10, 90);
    expect(&text,
           "E child_outside_parent: span `k` (`early`) runs from 5 ns to 20 ns, outside its parent "
           "`b` (`call`), which runs from 10 ns to 90 ns\n"
           "E unknown_parent: span `m` (`lost`) names parent `nobody`, which does not exist\n"
           "E open_span: span `n` (`open`) was never ended\n"
           "E child_outside_parent: span `z` (`late`) runs from 80 ns to 95 ns, outside its parent "
           "`b` (`call`), which runs from 10 ns to 90 ns\n");
}

static void every_span_that_leads_into_a_cycle_is_told(void **state)
{
    lines text = begin();

    (void)state;
    lines_span(&text, "c", "e", "n", 20, 30);
    lines_span(&text, "d", "c", "n", 20, 30);
    lines_span(&text, "e", "d", "n", 20, 30);
    lines_span(&text, "f", "e", "leads", 20, 30);
    lines_span(&text, "g", "g", "self", 20, 30);
    lines_span(&text, "h", "b", "sound", 20, 30);
    expect(&text, "E span_cycle: the parents of span `c` (`n`) form a cycle and lead to no root\n"
                  "E span_cycle: the parents of span `d` (`n`) form a cycle and lead to no root\n"
                  "E span_cycle: the parents of span `e` (`n`) form a cycle and lead to no root\n"
                  "E span_cycle: the parents of span `f` (`leads`) form a cycle and lead to no "
                  "root\n"
                  "E span_cycle: the parents of span `g` (`self`) form a cycle and lead to no "
                  "root\n");
}

static void references_to_unknown_spans_are_told_kind_by_kind(void **state)
{
    lines text = begin();

    (void)state;
    lines_add(&text, "{'kind':'device_interval','span_id':'x','device':'d','stream_id':'0',"
                     "'clock_id':'k','backend':'y','start_ns':4,'duration_ns':0}");
    lines_memory(&text, "free", "x", "m", "t", 1, 20);
    lines_add(&text, "{'kind':'tensor_stats','span_id':'x','label':'l','shape':[],'dtype':'f64',"
                     "'elements':1,'non_finite':0,'rms':0,'abs_max':0,'mean':0}");
    lines_add(&text, "{'kind':'tensor','span_id':'x','tensor_id':'t','shape':[],'dtype':'f32',"
                     "'device':'d'}");
    lines_op(&text, "x", "o", "", "null", 20, 30);
    expect(
        &text,
        "E unknown_span: operation 1 (`o`) names span `x`, which does not exist\n"
        "E unknown_span: tensor `t` names span `x`, which does not exist\n"
        "E unknown_span: the statistics record of label `l` names span `x`, which does not exist\n"
        "E unknown_span: the memory event of storage `m` on device `cpu` at 20 ns names span "
        "`x`, which does not exist\n"
        "E unknown_span: a device interval on device `d` at 4 ns of its clock names span `x`, "
        "which does not exist\n"
        "E empty_device_interval: the device interval of span `x` on device `d` at 4 ns of "
        "clock `k` lasts 0 ns\n"
        "E unpaired_free: storage `m` on device `cpu` is freed at 20 ns, but it is not "
        "allocated then\n");
}

static void events_outside_their_span_are_told(void **state)
{
    lines text = begin();

    (void)state;
    lines_op(&text, "b", "early", "", "null", 9, 30);
    lines_op(&text, "b", "late", "", "null", 90, 91);
    lines_op(&text, "b", "fits", "", "null", 10, 90);
    lines_memory(&text, "alloc", "b", "m", "t", 1, 9);
    lines_memory(&text, "free", "b", "m", "t", 1, 91);
    lines_add(&text, "{'kind':'device_memory','timestamp_ns':7,'device':'d'}");
    expect(&text,
           "E operation_outside_span: operation 1 (`early`) runs from 9 ns to 30 ns outside its "
           "span `b` (`call`), which runs from 10 ns to 90 ns\n"
           "E operation_outside_span: operation 2 (`late`) runs from 90 ns to 91 ns outside its "
           "span `b` (`call`), which runs from 10 ns to 90 ns\n"
           "E memory_outside_span: the allocation of storage `m` on device `cpu` at 9 ns is "
           "outside its span `b` (`call`), which runs from 10 ns to 90 ns\n"
           "E memory_outside_span: the free of storage `m` on device `cpu` at 91 ns is outside its "
           "span `b` (`call`), which runs from 10 ns to 90 ns\n"
           "E empty_device_memory_sample: the memory sample of device `d` at 7 ns measures "
           "nothing: used, free, reserved and capacity bytes are all absent\n");
}

static void edges_are_checked_in_stream_order(void **state)
{
    lines text = begin();

    (void)state;
    lines_op(&text, "b", "o", "'in'", "'out'", 20, 30);
    lines_add(&text, "{'kind':'edge','edge_kind':'call','from_span':'x','to_span':'b',"
                     "'host_duration_ns':1}");
    lines_add(&text, "{'kind':'edge','edge_kind':'call','from_span':'b','to_span':'a',"
                     "'host_duration_ns':1}");
    lines_add(&text, "{'kind':'edge','edge_kind':'call','from_span':'b','to_span':'b',"
                     "'host_duration_ns':80}");
    lines_add(&text, "{'kind':'edge','edge_kind':'data','from_tensor':'in','to_tensor':''}");
    lines_add(&text, "{'kind':'edge','edge_kind':'data','from_tensor':'in','to_tensor':'b'}");
    lines_add(&text, "{'kind':'edge','edge_kind':'data','from_tensor':'in','to_tensor':'out'}");
    expect(&text,
           "E unknown_call_edge_span: the call edge from `x` to `b` names span `x`, which does not "
           "exist\n"
           "E call_edge_hierarchy_mismatch: the call edge from `b` to `a` is not in the span tree: "
           "span `a` (`root`) has no parent\n"
           "E call_edge_duration_mismatch: the call edge from `b` to `a` lasts 1 ns, but span `a` "
           "(`root`) lasts 100 ns\n"
           "E call_edge_hierarchy_mismatch: the call edge from `b` to `b` is not in the span tree: "
           "span `b` (`call`) has parent `a`\n"
           "E empty_data_edge_endpoint: the data edge from `in` to `` has an empty endpoint\n"
           "E unknown_data_edge_tensor: the data edge from `in` to `b` names tensor `b`, which no "
           "tensor event and no operation names\n");
}

static void memory_faults_are_told_in_replay_order(void **state)
{
    lines text = begin();

    (void)state;
    lines_memory(&text, "free", "b", "m", "t", 4, 40);
    lines_memory(&text, "alloc", "b", "m", "t", 5, 20);
    lines_memory(&text, "alloc", "b", "m", "t", 5, 25);
    lines_memory(&text, "alloc", "b", "m", "u", 6, 30);
    lines_memory(&text, "alloc", "b", "kept", "t", 6, 30);
    expect(
        &text,
        "E duplicate_allocation: storage `m` on device `cpu` is allocated again at 25 ns for "
        "tensor `t`, which already holds it\n"
        "E allocation_size_mismatch: storage `m` on device `cpu` was allocated with 5 bytes, but "
        "is allocated again at 30 ns with 6 bytes\n"
        "E allocation_size_mismatch: storage `m` on device `cpu` was allocated with 5 bytes, but "
        "is freed at 40 ns with 4 bytes\n"
        "W retained_allocations: storages that are still allocated at the end of the capture: "
        "1\n");
}

static void gradient(lines *text, const char *event, const char *key, const char *state,
                     const char *norm)
{
    lines_add(text, "{'kind':'gradient','event_id':'%s','root':'r','key':'%s','state':'%s'%s}",
              event, key, state, norm);
}

#define PRESENT "present", ",'norm':0.5"

static void gradient_events_are_checked_without_a_contract(void **state)
{
    lines text = begin();
    analysis of;

    (void)state;
    gradient(&text, " ", "k", "missing", "");
    gradient(&text, "g", "", "missing", "");
    gradient(&text, "g", "l", "present", "");
    gradient(&text, "h", "m", "zero", ",'norm':-0.0");
    gradient(&text, "i", "n", PRESENT);
    of = judge(&text);
    assert_issues(&of,
                  "E empty_gradient_event_id: the gradient event for key `k` of root `r` has a "
                  "blank event id\n"
                  "E empty_gradient_parameter_key: gradient event `g` has a blank root or key\n"
                  "E duplicate_gradient_event_id: gradient event id `g` is used again, for key `l` "
                  "of root `r`\n"
                  "E gradient_state_norm_inconsistent: gradient event `g` for key `l` of root `r` "
                  "is in state `present` without a norm, which needs a norm above 0\n"
                  "E gradient_state_norm_inconsistent: gradient event `h` for key `m` of root `r` "
                  "is in state `zero` with norm -0, which needs the norm 0\n");
    assert_true(of.health.has_gradient_error);
    assert_false(of.health.is_gradient_contract_valid);
    analysis_free(&of);
    text = begin();
    gradient(&text, "g", "", "missing", "");
    of = judge(&text);
    assert_false(of.health.has_gradient_error); /* a blank key is not one of its codes */
    analysis_free(&of);
}

/*
 * Members of a contract with a manifest of root `r`. keys: key and family; families: JSON objects;
 * digest_tail is put behind the right digest.
 */
static void add_contract(char *to, size_t room, const char *level, const char *const keys[][2],
                         size_t count, const char *families, const char *digest_tail)
{
    rec_manifest_entry entries[64];
    rec_gradient_contract contract = {.expected = {entries, count}};
    char text[GRADIENT_DIGEST_TEXT];
    size_t len;

    for (size_t i = 0; i < count; i++)
        entries[i] = (rec_manifest_entry){CG_LIT("r"), str_from(keys[i][0]), str_from(keys[i][1])};
    assert_int_equal(gradient_digest(&contract, text, NULL), CG_OK);
    len = (size_t)snprintf(
        to, room,
        LINES_LEVELS("none") ",'gradients':'%s','gradient_contract':{"
                             "'manifest_sha256':'%.*s%s','families':[%s],'expected':[",
        level, (int)sizeof text, text, digest_tail, families);
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(to + len, room - len, "%s{'root':'r','key':'%s','family':'%s'}",
                                i > 0 ? "," : "", keys[i][0], keys[i][1]);
    snprintf(to + len, room - len, "]}");
}

#define FAMILIES                                                                                   \
    "{'family':'live','expectation':'active','min_present':2},"                                    \
    "{'family':'cold','expectation':'inactive','min_present':0},"                                  \
    "{'family':'maybe','expectation':'data_conditional','min_present':2}"

static const char *const keys[][2] = {{"a", "live"}, {"b", "live"},  {"c", "cold"},
                                      {"d", "cold"}, {"e", "maybe"}, {"f", "maybe"}};

static lines begin_contract(const char *level, const char *digest_tail)
{
    char contract[2000];

    add_contract(contract, sizeof contract, level, keys, 6, FAMILIES, digest_tail);
    return begin_as("infer", "", contract);
}

static void a_kept_contract_has_no_issue(void **state)
{
    lines text = begin_contract("complete", "");
    analysis of;

    (void)state;
    gradient(&text, "1", "a", PRESENT);
    gradient(&text, "2", "b", PRESENT);
    gradient(&text, "3", "c", "missing", "");
    gradient(&text, "4", "d", "missing", "");
    gradient(&text, "5", "e", "zero", ",'norm':0.0");
    gradient(&text, "6", "f", "missing", "");
    of = judge(&text);
    assert_issues(&of, "");
    assert_true(of.health.is_gradient_contract_valid);
    assert_false(of.health.has_gradient_error);
    assert_int_equal(of.health.families.entries.count, 0); /* nothing is kept */
    analysis_free(&of);
}

static void family_messages_name_the_keys_at_fault_only(void **state)
{
    lines text = begin_contract("complete", "");
    analysis of;

    (void)state;
    gradient(&text, "1", "a", PRESENT);
    gradient(&text, "2", "b", "zero", ",'norm':0.0");
    gradient(&text, "3", "c", "missing", "");
    gradient(&text, "4", "d", PRESENT);
    gradient(&text, "5", "e", PRESENT);
    gradient(&text, "6", "f", "non_finite", "");
    of = judge(&text);
    assert_issues(
        &of, "E gradient_active_family_below_minimum: gradient family `live` is declared "
             "active and needs 2 present gradients, it has 1; not present: `b` of root `r` "
             "(zero)\n"
             "E gradient_inactive_family_leakage: gradient family `cold` is declared inactive, "
             "but gradients reached it: `d` of root `r` (present)\n"
             "E gradient_family_non_finite: gradient family `maybe` has gradients that are not "
             "finite: `f` of root `r` (non_finite)\n"
             "E gradient_conditional_family_below_minimum: gradient family `maybe` depends on "
             "the data and needs 2 present gradients, it has 1; not present: `f` of root `r` "
             "(non_finite)\n");
    assert_true(of.health.is_gradient_contract_valid);
    assert_true(of.health.has_gradient_error);
    assert_false(of.health.has_other_error);
    assert_int_equal(of.health.absent_gradients, 2); /* `b` and `f`; `c` and `d` owe nothing */
    analysis_free(&of);
}

static void the_manifest_is_compared_key_by_key(void **state)
{
    lines text = begin_contract("complete", "");

    (void)state;
    gradient(&text, "1", "a", PRESENT);
    gradient(&text, "9", "zz", "missing", "");
    gradient(&text, "2", "b", PRESENT);
    gradient(&text, "8", "b", PRESENT);
    gradient(&text, "7", "b", "missing", "");
    gradient(&text, "3", "c", "missing", "");
    gradient(&text, "x", "aa", "missing", "");
    gradient(&text, "y", "aa", "missing", "");
    expect(&text,
           "E gradient_manifest_duplicate_key: key `aa` of root `r` has 2 gradient events, "
           "it must have exactly 1\n"
           "E gradient_manifest_undeclared_key: key `aa` of root `r` has a gradient event, "
           "but is not in the gradient manifest\n"
           "E gradient_manifest_duplicate_key: key `b` of root `r` has 3 gradient events, it "
           "must have exactly 1\n"
           "E gradient_manifest_undeclared_key: key `zz` of root `r` has a gradient event, "
           "but is not in the gradient manifest\n"
           "E gradient_manifest_missing_key: key `d` of root `r` is in the gradient "
           "manifest, but has no gradient event\n"
           "E gradient_manifest_missing_key: key `e` of root `r` is in the gradient "
           "manifest, but has no gradient event\n"
           "E gradient_manifest_missing_key: key `f` of root `r` is in the gradient "
           "manifest, but has no gradient event\n");
}

static void a_failed_capture_may_lack_keys(void **state)
{
    lines text = begin_contract("complete", "");
    analysis of;

    (void)state;
    gradient(&text, "1", "a", "missing", "");
    gradient(&text, "3", "c", "missing", "");
    gradient(&text, "4", "d", "missing", "");
    gradient(&text, "5", "e", PRESENT);
    gradient(&text, "6", "f", "missing", "");
    of = judge_failed(&text);
    assert_issues(&of, "W capture_failed: out of power\n"
                       "W gradient_manifest_missing_key: key `b` of root `r` is in the gradient "
                       "manifest, but has no gradient event\n"
                       "E gradient_conditional_family_below_minimum: gradient family `maybe` "
                       "depends on the data and needs 2 present gradients, it has 1; not present: "
                       "`f` of root `r` (missing)\n");
    assert_true(of.health.has_gradient_warning);
    analysis_free(&of);
}

static void twenty_keys_are_named_and_the_rest_counted(void **state)
{
    static char names[25][8];
    const char *many[25][2];
    char contract[4000];
    lines text;
    analysis of;
    buf out;

    (void)state;
    for (unsigned i = 0; i < 25; i++) {
        snprintf(names[i], sizeof names[i], "k%u", i);
        many[i][0] = names[i];
        many[i][1] = "f";
    }
    add_contract(contract, sizeof contract, "complete", (const char *const(*)[2])many, 25,
                 "{'family':'f','expectation':'active','min_present':1}", "");
    text = begin_as("infer", "", contract);
    for (unsigned i = 0; i < 24; i++)
        gradient(&text, names[i], names[i], "missing", "");
    of = judge(&text);
    assert_int_equal(of.health.issues.at[0].code, HEALTH_MANIFEST_MISSING);
    assert_int_equal(of.health.issues.at[1].code, HEALTH_FAMILY_ACTIVE_LOW);
    buf_init(&out, of.heap, 1 << 20);
    health_message(&of.health, &of.health.issues.at[1], &out);
    assert_true(str_ends_with(buf_text(&out), CG_LIT("`k19` of root `r` (missing) and 5 more")));
    buf_free(&out);
    analysis_free(&of);
}

static void levels_and_contracts_belong_together(void **state)
{
    lines text = begin_as("infer", "", LINES_LEVELS("none") ",'gradients':'complete'");

    (void)state;
    gradient(&text, "1", "a", PRESENT);
    expect(&text, "E gradient_contract_missing: gradients are declared complete, but there is no "
                  "gradient contract\n");
    text = begin_contract("partial", "");
    expect(&text,
           "E gradient_contract_without_complete_coverage: there is a gradient contract, but "
           "gradients are declared `partial` instead of complete\n");
}

static void an_invalid_contract_stops_the_comparison(void **state)
{
    lines text = begin_contract("complete", "0");
    analysis of = judge(&text);
    const health_issue *issue = &of.health.issues.at[0];
    buf out;

    (void)state;
    is_seen[HEALTH_GRADIENT_CONTRACT] = true;
    assert_int_equal(issue->code, HEALTH_GRADIENT_CONTRACT);
    assert_int_equal(of.health.error_count, 1);
    assert_true(of.health.has_gradient_error);
    assert_false(of.health.is_gradient_contract_valid);
    buf_init(&out, of.heap, 1 << 20);
    health_message(&of.health, issue, &out);
    assert_true(str_starts_with(buf_text(&out),
                                CG_LIT("the gradient contract is not valid: the digest is `")));
    buf_free(&out);
    analysis_free(&of);
}

#define LABELS(required, gpu, cpu)                                                                 \
    LINES_LEVELS("none")                                                                           \
    ",'required_semantic_labels':[" required "],'gpu_expected_semantic_labels':[" gpu              \
    "],'cpu_only_semantic_labels':[" cpu "]"

static void required_labels_name_exactly_one_span(void **state)
{
    lines text = begin_as("infer", "", LABELS("'call','root'", "", ""));
    analysis of = judge(&text);

    (void)state;
    assert_issues(&of, "");
    assert_true(of.health.are_labels_exact);
    analysis_free(&of);
    text = begin_as("infer", "", LABELS("'call',' ','call','nobody','b'", "", ""));
    lines_span(&text, "c", "b", "call", 20, 30);
    of = judge(&text);
    assert_issues(&of,
                  "E required_semantic_label_cardinality: required semantic label `call` must name "
                  "exactly 1 span, it names 2\n"
                  "E empty_required_semantic_label: required semantic label 2 is blank\n"
                  "E required_semantic_label_cardinality: required semantic label ` ` must name "
                  "exactly 1 span, it names 0\n"
                  "E duplicate_required_semantic_label: required semantic label `call` is declared "
                  "more than once\n"
                  "E required_semantic_label_cardinality: required semantic label `call` must name "
                  "exactly 1 span, it names 2\n"
                  "E required_semantic_label_cardinality: required semantic label `nobody` must "
                  "name exactly 1 span, it names 0\n"
                  "E required_semantic_label_cardinality: required semantic label `b` must name "
                  "exactly 1 span, it names 0\n");
    assert_false(of.health.are_labels_exact);
    analysis_free(&of);
}

static void classes_partition_the_required_labels(void **state)
{
    lines text = begin_as("infer", "", LABELS("'call','root'", "'call'", "'root'"));

    (void)state;
    expect(&text, "");
    text = begin_as("infer", "", LABELS("'call','root'", "'call','call',''", "'call','other'"));
    expect(&text,
           "E duplicate_semantic_label_classification: GPU-expected semantic label `call` is in "
           "its class more than once\n"
           "E overlapping_semantic_label_classification: GPU-expected semantic label `call` is "
           "classified already\n"
           "E empty_semantic_label_classification: GPU-expected semantic label 3 is blank\n"
           "E unrequired_semantic_label_classification: GPU-expected semantic label `` is not "
           "among the required semantic labels\n"
           "E overlapping_semantic_label_classification: CPU-only semantic label `call` is "
           "classified already\n"
           "E unrequired_semantic_label_classification: CPU-only semantic label `other` is not "
           "among the required semantic labels\n"
           "E incomplete_semantic_label_partition: the classes must hold exactly the required "
           "semantic labels: 1 required ones are in no class, 2 classified ones are not "
           "required\n");
}

static void a_failed_capture_is_judged_mildly(void **state)
{
    lines text = {0};

    (void)state;
    lines_meta(&text, LABELS("'call'", "", "'root'"));
    lines_start(&text, "a", NULL, "root", 0, LINES_FUNCTION);
    expect_failed(&text,
                  "W capture_failed: out of power\n"
                  "W open_span: span `a` (`root`) was never ended\n"
                  "W required_semantic_label_cardinality: required semantic label `call` must name "
                  "exactly 1 span, it names 0\n"
                  "W unrequired_semantic_label_classification: CPU-only semantic label `root` is "
                  "not among the required semantic labels\n"
                  "W incomplete_semantic_label_partition: the classes must hold exactly the "
                  "required semantic labels: 1 required ones are in no class, 1 classified ones "
                  "are not required\n");
}

/* Must be linear: a chain of parents that ends in a cycle, and faults without end. */
static void many_faults_are_kept_small(void **state)
{
    enum { COUNT = 50000 };
    lines text = begin();
    analysis of;
    char name[20];
    char parent[20];

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "s%u", i);
        snprintf(parent, sizeof parent, "s%u", (i + 1) % COUNT);
        lines_span(&text, name, parent, "n", 20, 30);
    }
    of = judge(&text);
    assert_int_equal(of.health.error_count, COUNT);
    assert_int_equal(of.health.issues.at[COUNT - 1].code, HEALTH_SPAN_CYCLE);
    assert_true(sizeof(health_issue) <= 12);
    analysis_free(&of);
}

static void memory_that_is_refused_is_reported_and_given_back(void **state)
{
    char contract[2000];
    size_t len;
    lines text;
    analysis of;
    bool was_refused = true;

    (void)state;
    add_contract(contract, sizeof contract, "complete", keys, 6, FAMILIES, "");
    len = strlen(contract);
    snprintf(contract + len, sizeof contract - len,
             ",'required_semantic_labels':['call','x'],'cpu_only_semantic_labels':['call']");
    text = begin_as("infer", "", contract);
    lines_span(&text, "s0", "s1", "n", 20, 30);
    lines_span(&text, "s1", "s0", "n", 20, 30);
    lines_op(&text, "b", "o", "'in'", "'out'", 20, 30);
    lines_add(&text, "{'kind':'edge','edge_kind':'data','from_tensor':'in','to_tensor':'b'}");
    gradient(&text, "9", "zz", "missing", "");
    gradient(&text, "8", "yy", "missing", "");
    gradient(&text, "1", "a", PRESENT);
    of = judge(&text);
    for (size_t k = 1; was_refused; k++) {
        failing refusing = {.fail_at = k};
        heap from;
        health_report report;
        cg_err err = {0};

        heap_init(&from, failing_env(&refusing));
        was_refused = health_check(&from, of.trace, &of.memory, &report, &err) != CG_OK;
        assert_int_equal(err.code, was_refused ? CG_NOMEM : CG_OK);
        health_free(&report);
        health_free(&report);
        assert_nothing_held(&refusing, &from);
    }
    analysis_free(&of);
}

static void every_code_was_seen(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HEALTH_CODE_COUNT; i++) {
        if (!is_seen[i])
            print_error("%s was never reported\n", health_code_word((uint8_t)i).ptr);
        assert_true(is_seen[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_trace_only_lacks_things),
        cmocka_unit_test(coverage_counts_every_kind),
        cmocka_unit_test(the_first_broken_rule_of_the_run_is_told),
        cmocka_unit_test(documents_made_in_memory_are_judged_too),
        cmocka_unit_test(roots_and_measured_spans_are_counted),
        cmocka_unit_test(spans_are_checked_in_id_order),
        cmocka_unit_test(every_span_that_leads_into_a_cycle_is_told),
        cmocka_unit_test(references_to_unknown_spans_are_told_kind_by_kind),
        cmocka_unit_test(events_outside_their_span_are_told),
        cmocka_unit_test(edges_are_checked_in_stream_order),
        cmocka_unit_test(memory_faults_are_told_in_replay_order),
        cmocka_unit_test(gradient_events_are_checked_without_a_contract),
        cmocka_unit_test(a_kept_contract_has_no_issue),
        cmocka_unit_test(family_messages_name_the_keys_at_fault_only),
        cmocka_unit_test(the_manifest_is_compared_key_by_key),
        cmocka_unit_test(a_failed_capture_may_lack_keys),
        cmocka_unit_test(twenty_keys_are_named_and_the_rest_counted),
        cmocka_unit_test(levels_and_contracts_belong_together),
        cmocka_unit_test(an_invalid_contract_stops_the_comparison),
        cmocka_unit_test(required_labels_name_exactly_one_span),
        cmocka_unit_test(classes_partition_the_required_labels),
        cmocka_unit_test(a_failed_capture_is_judged_mildly),
        cmocka_unit_test(many_faults_are_kept_small),
        cmocka_unit_test(memory_that_is_refused_is_reported_and_given_back),
        cmocka_unit_test(every_code_was_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
