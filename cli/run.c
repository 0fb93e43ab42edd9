#include "args.h"
#include "crate.h"
#include "help.h"
#include "print.h"
#include "work.h"

/* --- documents of a run ------------------------------------------------ */

static cg_code write_run(work *self, const cg_run *run, const cg_query *query)
{
    cg_sink sink = {self, work_write};

    switch (self->args->command) {
    case COMMAND_IMPORT: return cg_write_evidence(run, &self->format, sink, &self->err);
    case COMMAND_SUMMARY: return cg_write_summary(run, &self->format, sink, &self->err);
    case COMMAND_OVERVIEW: return cg_write_overview(run, &self->format, sink, &self->err);
    default: return cg_write_query(run, query, &self->format, sink, &self->err);
    }
}

/* --require-valid, after the whole output. */
static int gate(const work *self, const cg_run *run)
{
    cg_run_facts facts;
    printer out;
    const char *gap = "";

    memset(&facts, 0, sizeof facts);
    facts.size = sizeof facts;
    cg_run_facts_of(run, &facts);
    if (facts.is_structurally_valid && facts.is_capture_complete)
        return 0;
    print_open(&out, self->io->err);
    print_format(&out, "candle-graph: error[gate-require-valid]: %s: ",
                 print_safe_word(self->args->argument).at);
    if (!facts.is_structurally_valid) {
        print_format(&out, "structurally_valid is false (%llu error%s)",
                     (unsigned long long)facts.error_count, facts.error_count == 1 ? "" : "s");
        gap = ", ";
    }
    if (!facts.is_capture_complete)
        print_format(&out, "%scapture_complete is false", gap);
    print_text(&out, "; see the health issues in the output\n");
    (void)print_close(&out);
    return cg_code_exit_status(CG_GATE);
}

/* `query` is NULL but for queries. */
int run_document(const cli_io *io, const cg_env *env, const cli_args *args, const cg_query *query)
{
    cg_run *run = NULL;
    work self;
    cg_code code;
    int status = crate_check_format(io, args, false);

    if (status != 0)
        return status;
    work_start(&self, io, env, args);
    code = cg_run_open(&self.env, args->argument, &run, &self.err);
    if (code != CG_OK)
        return work_tell(&self, code);
    code = write_run(&self, run, query);
    code = work_finish(&self, code);
    status = work_tell(&self, code);
    if (status == 0 && args_has(args, OPTION_REQUIRE_VALID))
        status = gate(&self, run);
    cg_run_free(run);
    return status;
}

/* summary and overview: of a run, or of a crate. */
static int run_summary(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_input_kind kind = CG_INPUT_CRATE;
    cg_code code = CG_OK;
    cg_err err = {0};

    if (args->argument != NULL)
        code = cg_input_kind_of(env, args->argument, &kind, &err);
    if (code == CG_OK && kind == CG_INPUT_CRATE)
        return run_summary_crate(io, env, args);
    if (code != CG_OK && args_crate_option(args) != NULL) {
        work_print_error(io, &err);
        return cg_code_exit_status(code);
    }
    if (args_crate_option(args) != NULL)
        return args_usage(io, args, "`--%s` is for crates, and `%s` is none",
                          args_crate_option(args), print_safe_word(args->argument).at);
    return run_document(io, env, args, NULL);
}

static int run_protocol(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_command_row rows[COMMAND_COUNT];
    size_t count = 0;
    work self;
    cg_code code;

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (i == COMMAND_VIEW && !cg_page_is_built())
            continue;
        if (command_rows[i].plane != PLANE_LOCAL)
            rows[count++] = (cg_command_row){command_rows[i].word, command_rows[i].about};
    }
    work_start(&self, io, env, args);
    code = cg_write_protocol(&self.env, rows, count, &self.format, (cg_sink){&self, work_write},
                             &self.err);
    code = work_finish(&self, code);
    return work_tell(&self, code);
}

/* --- texts ------------------------------------------------------------- */

static int say_version(const cli_io *io, const cli_args *args)
{
    printer out;

    print_open(&out, io->out);
    print_format(&out, "%s %s\n", args->is_cargo ? "cargo-candle-graph" : "candle-graph",
                 cg_version());
    return work_said(io, print_close(&out));
}

static int find_argument(const cli_io *io, const cli_args *args, int *ret)
{
    char words[512];
    char near[64];
    size_t len = 0;

    *ret = args->argument != NULL ? args_find_command(args->argument) : -1;
    if (args->argument == NULL || *ret >= 0)
        return 0;
    words[0] = '\0';
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        len += (size_t)snprintf(words + len, sizeof words - len, "%s ", command_rows[i].word);
    if (print_nearest(args->argument, words, near, sizeof near))
        return args_usage(io, args, "unknown command `%s`; did you mean `%s`?",
                          print_safe_word(args->argument).at, near);
    return args_usage(io, args, "unknown command `%s`", print_safe_word(args->argument).at);
}

static int say_help(const cli_io *io, const cli_args *args, int command)
{
    return work_said(io, command < 0 ? help_write_all(io, args)
                                     : help_write_command(io, args, command));
}

static int run_help(const cli_io *io, const cli_args *args)
{
    int command;
    int status = find_argument(io, args, &command);

    return status != 0 ? status : say_help(io, args, command);
}

static int run_man(const cli_io *io, const cli_args *args)
{
    int command;
    int status = find_argument(io, args, &command);

    return status != 0 ? status : work_said(io, help_write_man(io->out, command));
}

static int run_completions(const cli_io *io, const cli_args *args)
{
    static const struct {
        const char *word;
        help_completions *write;
    } shells[] = {{"bash", help_write_bash}, {"zsh", help_write_zsh}, {"fish", help_write_fish}};

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].word, args->argument) == 0)
            return work_said(io, shells[i].write(io->out));
    }
    return args_usage(io, args, "no completions for `%s`; there are some for bash, zsh and fish",
                      print_safe_word(args->argument).at);
}

int cli_run(const cli_io *io, const cg_env *env, int argc, char **argv)
{
    cli_args args;

    switch (args_read(io, env, argc, argv, &args)) {
    case ARGS_RUN: break;
    case ARGS_HELP: return say_help(io, &args, args.command);
    case ARGS_VERSION: return say_version(io, &args);
    case ARGS_USAGE: return cg_code_exit_status(CG_USAGE);
    case ARGS_PLANNED: return cg_code_exit_status(CG_PLANNED);
    }
    switch ((enum command)args.command) {
    case COMMAND_HELP: return run_help(io, &args);
    case COMMAND_VERSION: return say_version(io, &args);
    case COMMAND_COMPLETIONS: return run_completions(io, &args);
    case COMMAND_MAN: return run_man(io, &args);
    case COMMAND_PROTOCOL: return run_protocol(io, env, &args);
    case COMMAND_IMPORT: return run_document(io, env, &args, NULL);
    case COMMAND_SUMMARY:
    case COMMAND_OVERVIEW: return run_summary(io, env, &args);
    case COMMAND_QUERY: return run_query(io, env, &args);
    case COMMAND_REPORT: return run_report(io, env, &args);
    case COMMAND_VERIFY: return run_verify(io, env, &args);
    case COMMAND_VIEW: return run_view(io, env, &args);
    case COMMAND_COMPARE: return run_compare(io, env, &args);
    case COMMAND_CAMPAIGN_STATUS: return run_campaign_status(io, env, &args);
    case COMMAND_SERIES: return run_series(io, env, &args);
    case COMMAND_RECOVER: return run_recover(io, env, &args);
    case COMMAND_CHECK: return run_check(io, env, &args);
    case COMMAND_TREE: return run_tree(io, env, &args);
    case COMMAND_AUDIT: return run_audit(io, env, &args);
    case COMMAND_EXPLAIN: return run_explain(io, env, &args);
    case COMMAND_SCAN: return run_scan(io, env, &args);
    case COMMAND_PROFILE: return run_profile(io, env, &args);
    case COMMAND_COUNT: break;
    }
    return cg_code_exit_status(CG_INTERNAL);
}
