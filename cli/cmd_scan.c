/* check, tree, audit, explain, report of a crate, and the older spelling without a command. */
#include "crate.h"
#include "print.h"

/* --- findings --- */

static cg_message_format message_format(const cli_args *args)
{
    static const char *const words[] = {
#define X(name, word) word,
        CG_MESSAGE_FORMATS(X)
#undef X
    };

    for (cg_message_format i = 0;
         args_has(args, OPTION_MESSAGE_FORMAT) && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], args->value[OPTION_MESSAGE_FORMAT]) == 0)
            return i;
    }
    return CG_MESSAGE_HUMAN;
}

/* For people the diagnosis of a checkpoint comes first: it tells what findings have in common. */
static cg_code write_findings(crate_work *self, cg_sink sink)
{
    cg_message_format kind = message_format(self->work.args);
    cg_format text = self->work.format;
    cg_code code = CG_OK;

    text.kind = CG_FORMAT_TEXT;
    if (self->checkpoint != NULL && kind == CG_MESSAGE_HUMAN)
        code = cg_write_checkpoint(self->scan, &text, sink, &self->work.err);
    if (code == CG_OK)
        code = cg_write_findings(self->scan, kind, sink, &self->work.err);
    return code;
}

/* The findings where the document does not go; that nobody listens there is no failure. */
static cg_code tell_findings(crate_work *self)
{
    cg_code code;

    progress_erase(&self->work.progress);
    code = write_findings(self, self->work.io->err);
    return code == CG_OUTPUT || code == CG_CLOSED ? CG_OK : code;
}

/* What runs show, behind what the source says. */
static cg_code tell_join(crate_work *self)
{
    cg_format text = self->work.format;

    text.kind = CG_FORMAT_TEXT;
    return crate_write_join(self, &text);
}

/* --- check --- */

int run_check(const cli_io *io, const cg_env *env, const cli_args *args)
{
    crate_work self;
    int status = crate_start(&self, io, env, args, args->argument);
    cg_code code;

    if (status != 0)
        return status;
    if (args_has(args, OPTION_FORMAT)) {
        code = crate_write_model(&self);
        if (code == CG_OK)
            code = tell_findings(&self);
    } else {
        if (message_format(args) != CG_MESSAGE_HUMAN)
            work_keep_lines(&self.work);
        code = write_findings(&self, (cg_sink){&self.work, work_write});
        if (code == CG_OK && args_has(args, OPTION_TRACE) &&
            message_format(args) == CG_MESSAGE_HUMAN)
            code = tell_join(&self);
    }
    return crate_end(&self, code, CG_STRICT_SOURCE);
}

/* --- tree --- */

int run_tree(const cli_io *io, const cg_env *env, const cli_args *args)
{
    crate_work self;
    int status = crate_start(&self, io, env, args, args->argument);
    cg_code code;

    if (status != 0)
        return status;
    code = cg_write_tree(self.scan, args->value[OPTION_COMPONENT], &self.work.format,
                         (cg_sink){&self.work, work_write}, &self.work.err);
    return crate_end(&self, code, CG_STRICT_NONE);
}

/* --- audit --- */

enum need { ALWAYS, RUNTIME_TRACE, VIEWER, CHECKPOINT, RUNS };

static const struct {
    const char *name;
    enum need need;
} audit_rows[] = {
#define X(id, name, need) {name, need},
    CG_AUDIT_FILES(X)
#undef X
};

/*
 * What was written, and what was not looked at. Without a checkpoint and runs nothing else is
 * printed, and an empty answer reads as if the checkpoint of the crate fitted.
 */
static void tell_files(crate_work *self, const char *directory)
{
    enum option option =
        args_has(self->work.args, OPTION_AUDIT_DIR) ? OPTION_AUDIT_CHECKPOINT : OPTION_CHECKPOINT;
    const bool is_there[] = {[ALWAYS] = true,
                             [RUNTIME_TRACE] = args_has(self->work.args, OPTION_RUNTIME_TRACE),
                             [VIEWER] = cg_page_is_built(),
                             [CHECKPOINT] = false,
                             [RUNS] = false};
    const char *comma = "";
    printer out;

    progress_erase(&self->work.progress);
    print_open(&out, self->work.io->err);
    print_format(&out, "wrote into %s: ", print_safe_word(directory).at);
    for (size_t i = 0; i < sizeof audit_rows / sizeof audit_rows[0]; i++) {
        if (!is_there[audit_rows[i].need])
            continue;
        print_format(&out, "%s%s", comma, audit_rows[i].name);
        comma = ", ";
    }
    print_format(&out, "\ncompared with no checkpoint; --%s FILE says whether a file fits\n",
                 option_rows[option].word);
    (void)print_close(&out);
}

static int audit(crate_work *self, const char *directory)
{
    cg_code code = cg_audit(self->scan, directory, &self->work.err);
    int status;

    if (code != CG_OK) {
        /* Of the files, not of standard output. */
        progress_erase(&self->work.progress);
        if (self->work.err.code != CG_OK) {
            work_print_error(self->work.io, &self->work.err);
            status = cg_code_exit_status(code);
        } else {
            status = work_tell(&self->work, code);
        }
        cg_scan_free(self->scan);
        return status;
    }
    if (self->checkpoint != NULL)
        code = cg_write_checkpoint(self->scan, &self->work.format,
                                   (cg_sink){&self->work, work_write}, &self->work.err);
    /* One document to a program: that of the checkpoint, when there is one. */
    if (code == CG_OK && args_has(self->work.args, OPTION_TRACE) &&
        (self->checkpoint == NULL || self->work.format.kind == CG_FORMAT_TEXT))
        code = crate_write_join(self, &self->work.format);
    if (self->checkpoint == NULL && !args_has(self->work.args, OPTION_TRACE))
        tell_files(self, directory);
    return crate_end(self, code, CG_STRICT_NONE);
}

int run_audit(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_input_kind kind = 0;
    cg_err err = {0};
    crate_work self;
    cg_code code;
    int status;

    /* Other commands take the crate first; its folder is not where the files should go. */
    if (args->second == NULL && !args_has(args, OPTION_PATH) &&
        !args_has(args, OPTION_MANIFEST_PATH)) {
        code = cg_input_kind_of(env, args->argument, &kind, &err);
        if (code == CG_OK && kind == CG_INPUT_CRATE)
            return args_usage(io, args,
                              "`%s` holds a crate; the first word is the folder to write into: "
                              "`%s audit DIR --path %s`",
                              print_safe_word(args->argument).at, args->program,
                              print_safe_word(args->argument).at);
        /* What cannot be looked at may be a crate. */
        if (code != CG_OK && code != CG_INPUT && !args_is_missing(code, &err)) {
            work_print_error(io, &err);
            return cg_code_exit_status(code);
        }
    }
    status = crate_start(&self, io, env, args, args->second);
    return status != 0 ? status : audit(&self, args->argument);
}

/* --- profile --- */

int run_profile(const cli_io *io, const cg_env *env, const cli_args *args)
{
    if (!args_has(args, OPTION_RUNTIME_TRACE))
        return args_usage(io, args, "`profile` needs `--runtime-trace`");
    return crate_query(io, env, args, command_rows[COMMAND_PROFILE].word, args->argument);
}

/* --- report --- */

int run_report_crate(const cli_io *io, const cg_env *env, const cli_args *args)
{
    crate_work self;
    int status = crate_start(&self, io, env, args, args->argument);
    cg_code code;

    if (status != 0)
        return status;
    code = crate_write_model(&self);
    if (code == CG_OK && args_has(args, OPTION_MESSAGE_FORMAT))
        code = tell_findings(&self);
    return crate_end(&self, code, CG_STRICT_NONE);
}

/* --- summary and overview --- */

int run_summary_crate(const cli_io *io, const cg_env *env, const cli_args *args)
{
    crate_work self;
    cg_sink sink;
    int status = crate_start(&self, io, env, args, args->argument);
    cg_scan_query query;
    cg_code code;

    if (status != 0)
        return status;
    memset(&query, 0, sizeof query);
    query.size = sizeof query;
    query.kind = "summary";
    sink = (cg_sink){&self.work, work_write};
    if (self.work.format.kind == CG_FORMAT_TEXT)
        code = cg_write_model(self.scan, &self.work.format, sink, &self.work.err);
    else
        code = cg_write_scan_query(self.scan, &query, &self.work.format, sink, &self.work.err);
    return crate_end(&self, code, CG_STRICT_NONE);
}

/* --- explain --- */

int run_explain(const cli_io *io, const cg_env *env, const cli_args *args)
{
    int status = crate_check_format(io, args, true);
    work self;
    cg_code code;

    if (status != 0)
        return status;
    work_start(&self, io, env, args);
    code = cg_write_explanation(&self.env, args->argument, &self.format,
                                (cg_sink){&self, work_write}, &self.err);
    return work_tell(&self, work_finish(&self, code));
}

/* --- without a command --- */

int run_scan(const cli_io *io, const cg_env *env, const cli_args *args)
{
    const char *kind = args->value[OPTION_QUERY];
    crate_work self;
    int status;
    cg_code code;

    if (kind != NULL && !cg_scan_query_exists(kind))
        return args_usage(io, args, "unknown kind `%s`; kinds for a crate: %s",
                          print_safe_word(kind).at, print_list_of(cg_scan_query_words()).at);
    if (kind != NULL)
        return crate_query(io, env, args, kind, args->argument);
    status = crate_start(&self, io, env, args, args->argument);
    if (status != 0)
        return status;
    if (args_has(args, OPTION_AUDIT_DIR))
        return audit(&self, args->value[OPTION_AUDIT_DIR]);
    code = crate_write_model(&self);
    if (code == CG_OK && args_has(args, OPTION_DIAGNOSTICS))
        code = tell_findings(&self);
    return crate_end(&self, code, CG_STRICT_NONE);
}
