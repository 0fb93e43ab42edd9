/*
 * runs - small runs for comparisons and series, made in place.
 *
 *   run_facts of = {.id = "a1", .sample_ns = 1000, .implementation = "a"};
 *   source from = run_open(NULL, &of);
 *   ...
 *   source_close(&from);
 *
 * A run is in order unless a fact says otherwise.
 */
#ifndef CG_TESTS_RUNS_H
#define CG_TESTS_RUNS_H

#include "compare/source.h"
#include "unit/exec/lines.h"

typedef struct run_facts {
    const char *id;
    uint64_t sample_ns;
    const char *implementation; /* NULL: no implementation id */
    const char *pair;           /* NULL: no pair id */
    const char *workload;       /* NULL: "w" */
    const char *device;         /* NULL: cpu */
    const char *more;           /* lines of the measured span, with \n between */
    const char *entrypoint;     /* NULL: "e" */
    uint64_t step;              /* 0: 2 */
    bool has_no_identity;
    bool is_profiled; /* not production equivalent */
    bool is_failed;
    bool has_no_region;
    bool has_two_regions;
} run_facts;

static inline const char *run_or(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

static inline void run_identity(const run_facts *of, char *to, size_t room)
{
    char implementation[64] = "";
    char pair[64] = "";

    to[0] = '\0';
    if (of->has_no_identity)
        return;
    if (of->implementation != NULL)
        snprintf(implementation, sizeof implementation, "'implementation_id':'%s',",
                 of->implementation);
    if (of->pair != NULL)
        snprintf(pair, sizeof pair, ",'pair_id':'%s'", of->pair);
    snprintf(to, room,
             "'comparison_identity':{%s'workload_id':'%s','model_id':'m','config_id':'c',"
             "'data_id':'d','seed_policy':'s','physical_batch':1,'accumulation_steps':1,"
             "'precision':'f32','device_state':'idle'%s},",
             implementation, run_or(of->workload, "w"), pair);
}

static inline source run_open(const cg_env *env, const run_facts *of)
{
    uint64_t end = of->sample_ns + 10;
    trace_doc *trace = NULL;
    char identity[512];
    cg_err err = {0};
    lines text = {0};
    source ret;

    run_identity(of, identity, sizeof identity);
    lines_add(&text,
              "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'%s','correlation_id':'c',"
              "'entrypoint':'%s','phase':'infer','timestamp':'t','capture_step':%" PRIu64
              ",'warmup_steps':1,'device':'%s','timing_mode':'host','tags':{},%s"
              "'capture_contract':{'measurement_scope':'%s'," LINES_LEVELS("partial") "}}",
              of->id, run_or(of->entrypoint, "e"), of->step > 0 ? of->step : 2,
              run_or(of->device, "cpu"), identity,
              of->is_profiled ? "profiled_work" : "production_equivalent");
    lines_start(&text, "s1", NULL, "root", 0, LINES_FUNCTION);
    lines_start(&text, "s2", "s1", "call", 5,
                of->has_no_region ? LINES_FUNCTION : LINES_FUNCTION ",'measured':true");
    if (of->more != NULL)
        lines_add(&text, "%s", of->more);
    lines_end(&text, "s2", of->sample_ns);
    if (of->has_two_regions)
        lines_measured(&text, "s3", "s1", "again", end - 1, end - 1);
    lines_end(&text, "s1", end);
    if (of->is_failed)
        lines_add(&text,
                  "{'kind':'terminal','outcome':'failed','timestamp_ns':%" PRIu64
                  ",'reason':'died'}",
                  end);
    else
        lines_complete(&text, end);
    if (trace_read_text(env, (cg_str){text.at, text.len}, &trace, &err) != CG_OK)
        print_error("line %" PRIu64 ": %s\n", err.line, err.text);
    assert_non_null(trace);
    free(text.at);
    assert_int_equal(source_take_trace(trace, &ret, &err), CG_OK);
    return ret;
}

#endif
