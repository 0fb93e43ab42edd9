#include "work.h"

#include "print.h"

#define STOPPED_STATUS 130

static cg_code open_beside_crate(work *self)
{
    const char *path = self->args->value[OPTION_OUTPUT];
    const char *inputs[1] = {self->args->value[OPTION_CHECK]};
    cg_code code = cg_scan_guard(self->scan, path, &self->output_err);

    if (code != CG_OK)
        return code;
    return cg_output_open(&self->env, path, inputs, inputs[0] != NULL, &self->output,
                          &self->output_err);
}

/* Open the file of --output; it must not be what was read. */
static cg_code open_output(work *self)
{
    const char *inputs[4] = {self->args->argument, NULL, NULL, NULL};
    size_t count = inputs[0] != NULL;
    size_t file_count = 0;
    char trace[4096];
    cg_input_kind kind;

    if (self->scan != NULL)
        return open_beside_crate(self);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        file_count += self->args->file_count[i];
    if (file_count > 0 && self->args->command != COMMAND_REPORT)
        return cg_output_open(&self->env, self->args->value[OPTION_OUTPUT],
                              (const char *const *)self->args->files, file_count, &self->output,
                              &self->output_err);
    if (args_has(self->args, OPTION_MANIFEST))
        inputs[count++] = self->args->value[OPTION_MANIFEST];
    if (args_has(self->args, OPTION_AGAINST))
        inputs[count++] = self->args->value[OPTION_AGAINST];

    /* A directory is read through the trace in it. */
    if (self->args->argument != NULL && strlen(inputs[0]) + sizeof "/trace.jsonl" <= sizeof trace) {
        cg_err err = {0};
        cg_code code;

        (void)snprintf(trace, sizeof trace, "%s/trace.jsonl", inputs[0]);
        code = cg_input_kind_of(&self->env, trace, &kind, &err);
        if (code == CG_OK || code == CG_INPUT) {
            inputs[count++] = trace;
        } else if (!args_is_missing(code, &err)) {
            self->output_err = err;
            return code;
        }
    }
    return cg_output_open(&self->env, self->args->value[OPTION_OUTPUT], inputs, count,
                          &self->output, &self->output_err);
}

/* Was the work asked to stop? Remembered, for its exit status. */
static bool is_stopped(work *self)
{
    const cli_io *io = self->io;

    if (io->is_stopped != NULL && io->is_stopped(io->context))
        self->progress.is_stopped = true;
    return self->progress.is_stopped;
}

/*
 * Where documents go. The file of --output is opened with the first byte, so a
 * document that is refused leaves nothing, not even a folder.
 */
static cg_code write_folded(void *context, const char *bytes, size_t count)
{
    work *self = context;
    cg_sink sink = self->io->out;
    cg_code code;

    if (self->progress.is_drawn)
        progress_erase(&self->progress);
    if (is_stopped(self))
        return CG_CLOSED;
    if (args_has(self->args, OPTION_OUTPUT)) {
        if (self->output == NULL && open_output(self) != CG_OK) {
            self->output = NULL;
            return CG_OUTPUT;
        }
        sink = cg_output_sink(self->output);
    }
    code = sink.write(sink.context, bytes, count);
    if (code == CG_CLOSED)
        (void)is_stopped(self);
    return code;
}

cg_code work_write(void *context, const char *bytes, size_t count)
{
    work *self = context;

    return fold_write(&self->fold, bytes, count);
}

void work_keep_lines(work *self)
{
    self->fold.width = 0;
}

void work_print_error(const cli_io *io, const cg_err *err)
{
    char text[1600];
    printer out;

    (void)cg_err_format(err, text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    print_open(&out, io->err);
    print_format(&out, "candle-graph: %s\n", text);
    (void)print_close(&out);
}

/* Standard output failed and nobody could say why but the one who owns it. */
static int out_failed(const cli_io *io, cg_code code)
{
    const char *why = io->out_problem != NULL ? io->out_problem(io->context) : NULL;
    printer out;

    if (code == CG_CLOSED)
        return 0;
    print_open(&out, io->err);
    print_format(&out,
                 "candle-graph: error[output]: standard output could not be written%s%s; "
                 "check free space and permissions\n",
                 why != NULL ? ": " : "", why != NULL ? why : "");
    (void)print_close(&out);
    return cg_code_exit_status(CG_OUTPUT);
}

/* Tell `code`, the result of the work; the exit status. */
int work_tell(work *self, cg_code code)
{
    progress_erase(&self->progress);
    if (self->progress.is_stopped || code == CG_INTERRUPTED)
        return STOPPED_STATUS;
    if (code == CG_OK || code == CG_CLOSED)
        return 0;
    if (self->output_err.code != CG_OK) {
        work_print_error(self->io, &self->output_err);
        return cg_code_exit_status(self->output_err.code);
    }
    if (code == CG_OUTPUT && !args_has(self->args, OPTION_OUTPUT))
        return out_failed(self->io, code);
    if (self->err.code == CG_OK)
        self->err.code = code;
    work_print_error(self->io, &self->err);
    return cg_code_exit_status(code);
}

/* Commit or drop the file of --output; the code of the whole work. */
cg_code work_finish(work *self, cg_code code)
{
    cg_code last = code == CG_OK ? fold_close(&self->fold) : CG_OK;

    if (code == CG_OK)
        code = last;
    if (self->output == NULL)
        return code;
    if (self->progress.is_stopped || (code != CG_OK && code != CG_OUTPUT)) {
        cg_output_drop(self->output);
    } else {
        /* The file knows best why it could not be written. */
        memset(&self->err, 0, sizeof self->err);
        code = cg_output_commit(self->output, &self->err);
    }
    self->output = NULL;
    return code;
}

static bool wants_color(const cli_io *io, const cli_args *args)
{
    const char *when = args_has(args, OPTION_COLOR) ? args->value[OPTION_COLOR] : "auto";
    const char *term = args_variable(io, "TERM");

    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return io->is_out_terminal && !args_has(args, OPTION_OUTPUT) &&
           args_variable(io, "NO_COLOR") == NULL && (term == NULL || strcmp(term, "dumb") != 0);
}

static uint32_t small(uint64_t value)
{
    return value > 1000 ? 1000 : (uint32_t)value;
}

static uint32_t wanted_width(const cli_io *io, const cli_args *args)
{
    if (args_has(args, OPTION_WIDTH))
        return small(args->number[OPTION_WIDTH]);
    if (args_has(args, OPTION_OUTPUT))
        return 0;
    return args_columns(io);
}

/* HTML, whose lines are not for a terminal. */
static bool is_page(const cli_args *args)
{
    return args->command == COMMAND_VIEW ||
           (args_has(args, OPTION_FORMAT) && strcmp(args->value[OPTION_FORMAT], "html") == 0);
}

void work_start(work *self, const cli_io *io, const cg_env *env, const cli_args *args)
{
    memset(self, 0, sizeof *self);
    self->io = io;
    self->args = args;
    if (env != NULL)
        self->env = *env;
    self->env.size = sizeof self->env;
    self->env.limits = &args->limits;
    progress_start(&self->progress, io, env);
    self->env.progress = progress_report;
    self->env.progress_context = &self->progress;
    self->format.size = sizeof self->format;
    if (args_has(args, OPTION_FORMAT))
        self->format.kind =
            strcmp(args->value[OPTION_FORMAT], "json") != 0 ? CG_FORMAT_TEXT : CG_FORMAT_JSON;
    else
        self->format.kind =
            io->is_out_terminal && !args_has(args, OPTION_OUTPUT) ? CG_FORMAT_TEXT : CG_FORMAT_JSON;
    self->format.has_color = wants_color(io, args);
    self->format.width = wanted_width(io, args);
    fold_open(&self->fold, (cg_sink){self, write_folded}, is_page(args) ? 0 : self->format.width);
    if (self->format.kind != CG_FORMAT_TEXT)
        work_keep_lines(self);
    self->format.rows = args_has(args, OPTION_ROWS)  ? args->number[OPTION_ROWS]
                        : args_has(args, OPTION_ALL) ? UINT64_MAX
                                                     : 0;
}

int work_said(const cli_io *io, cg_code code)
{
    return code == CG_OK ? 0 : out_failed(io, code);
}
