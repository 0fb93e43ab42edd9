/* compare: two cohorts of runs, or a plan to measure them by. */
#include "print.h"
#include "work.h"

#define PAIRS_DEFAULT 10
#define DIGITS_MOST   15 /* digits a double holds exactly */

/* Decimal digits with an optional fraction; no sign, no exponent, whatever the locale. */
static bool read_percent(const char *text, double *ret)
{
    double value = 0;
    double scale = 1;
    int digits = 0;
    bool is_fraction = false;

    for (; *text != '\0'; text++) {
        if (*text == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (*text < '0' || *text > '9' || ++digits > DIGITS_MOST)
            return false;
        value = value * 10 + (*text - '0');
        scale *= is_fraction ? 10 : 1;
    }
    *ret = value / scale;
    return digits > 0;
}

static int run_plan(const cli_io *io, const cg_env *env, const cli_args *args)
{
    uint64_t pairs = args_has(args, OPTION_PAIRS) ? args->number[OPTION_PAIRS] : PAIRS_DEFAULT;
    work self;
    cg_code code;

    if (args_has(args, OPTION_BASELINE) || args_has(args, OPTION_CANDIDATE))
        return args_usage(io, args, "`compare plan` comes before there are runs to compare");
    if (pairs < 5 || pairs > 100000)
        return args_usage(io, args,
                          "`--pairs` wants 5 to 100000: a verdict needs at least 5 runs "
                          "of each build");
    work_start(&self, io, env, args);
    code = cg_write_compare_plan(&self.env, pairs, &self.format, (cg_sink){&self, work_write},
                                 &self.err);
    return work_tell(&self, work_finish(&self, code));
}

/* --require-not-slower, of runs that may be compared. */
static int gate_slower(const work *self, const cg_comparison *comparison)
{
    cg_comparison_facts facts = {.size = sizeof facts};
    printer out;

    cg_comparison_facts_of(comparison, &facts);
    if (facts.verdict != CG_VERDICT_SLOWER)
        return 0;
    print_open(&out, self->io->err);
    print_text(&out, "candle-graph: error[gate-require-not-slower]: the candidate is slower; see "
                     "the interval in the output\n");
    (void)print_close(&out);
    return cg_code_exit_status(CG_GATE);
}

/* --require-eligible and --require-not-slower, after the whole output. */
static int gate(const work *self, const cg_comparison *comparison, const char *option)
{
    printer out;
    cg_str code;

    if (!cg_comparison_reason(comparison, 0, &code))
        return 0;
    print_open(&out, self->io->err);
    print_format(&out, "candle-graph: error[gate-%s]: the runs may not be compared: ", option);
    for (uint64_t i = 0; cg_comparison_reason(comparison, i, &code); i++)
        print_format(&out, "%s%.*s", i > 0 ? ", " : "", (int)code.len, code.ptr);
    print_text(&out, "; see the reasons in the output\n");
    (void)print_close(&out);
    return cg_code_exit_status(CG_GATE);
}

/* Read the options into *ret; 0 or the exit status. */
static int request_of(const cli_io *io, const cli_args *args, cg_compare_request *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->size = sizeof *ret;
    ret->baseline = args_files(args, OPTION_BASELINE, &ret->baseline_count);
    ret->candidate = args_files(args, OPTION_CANDIDATE, &ret->candidate_count);
    ret->are_traces = args_has(args, OPTION_UNVERIFIED_TRACES);
    ret->is_calibrated = args_has(args, OPTION_CALIBRATE);
    ret->has_min_effect = args_has(args, OPTION_MIN_EFFECT);
    if (ret->has_min_effect &&
        !read_percent(args->value[OPTION_MIN_EFFECT], &ret->min_effect_percent))
        return args_usage(io, args, "`--min-effect` wants percent such as 2 or 0.5, not `%s`",
                          print_safe_word(args->value[OPTION_MIN_EFFECT]).at);
    if (ret->baseline_count == 0 || ret->candidate_count == 0)
        return args_usage(io, args, "`compare` needs `--%s RUN...`",
                          ret->baseline_count == 0 ? "baseline" : "candidate");
    if (args_has(args, OPTION_PAIRS))
        return args_usage(io, args, "`--pairs` belongs to `compare plan`");
    return 0;
}

int run_compare(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_compare_request request;
    cg_comparison *comparison = NULL;
    work self;
    cg_code code;
    int status;

    if (args->argument != NULL && strcmp(args->argument, "plan") == 0)
        return run_plan(io, env, args);
    if (args->argument != NULL)
        return args_usage(io, args, "`%s` stands alone: runs follow `--baseline` or `--candidate`",
                          print_safe_word(args->argument).at);
    status = request_of(io, args, &request);
    if (status != 0)
        return status;
    work_start(&self, io, env, args);
    code = cg_compare(&self.env, &request, &comparison, &self.err);
    if (code != CG_OK)
        return work_tell(&self, code);
    code = cg_write_comparison(comparison, &self.format, (cg_sink){&self, work_write}, &self.err);
    status = work_tell(&self, work_finish(&self, code));
    if (status == 0 && args_has(args, OPTION_REQUIRE_ELIGIBLE))
        status = gate(&self, comparison, "require-eligible");
    if (status == 0 && args_has(args, OPTION_REQUIRE_NOT_SLOWER)) {
        status = gate(&self, comparison, "require-not-slower");
        if (status == 0)
            status = gate_slower(&self, comparison);
    }
    cg_comparison_free(comparison);
    return status;
}
