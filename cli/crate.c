#include "crate.h"

#include "print.h"

/* --- which crate --- */

static int crate_path(const cli_io *io, const cli_args *args, const char *word, const char **ret)
{
    bool has_path = args_has(args, OPTION_PATH);
    bool has_manifest = args_has(args, OPTION_MANIFEST_PATH);

    if (has_path && has_manifest)
        return args_usage(io, args, "`--path` and `--manifest-path` exclude each other");
    if (word != NULL && (has_path || has_manifest))
        return args_usage(io, args, "the crate is given twice: `%s` and `--%s`",
                          print_safe_word(word).at, has_path ? "path" : "manifest-path");
    *ret = word != NULL   ? word
           : has_path     ? args->value[OPTION_PATH]
           : has_manifest ? args->value[OPTION_MANIFEST_PATH]
                          : ".";
    return 0;
}

int crate_check_format(const cli_io *io, const cli_args *args, bool is_crate)
{
    const char *word = args_has(args, OPTION_FORMAT) ? args->value[OPTION_FORMAT] : "json";

    if (!is_crate && (strcmp(word, "tree") == 0 || strcmp(word, "html") == 0))
        return args_usage(io, args, "`--format %s` is for crates; a run has text and json", word);
    if (strcmp(word, "html") != 0)
        return 0;
    if (args->command != COMMAND_CHECK && args->command != COMMAND_REPORT &&
        (args->command != COMMAND_SCAN || args_has(args, OPTION_QUERY)))
        return args_usage(io, args,
                          "`--format html` is for check and report; `view` writes it too");
    if (!cg_page_is_built())
        return args_planned(io, "this program was built without the viewer (CG_VIEWER=OFF)");
    return 0;
}

/* --- conflicts --- */

static int exclude(const cli_io *io, const cli_args *args, enum option a, enum option b)
{
    if (!args_has(args, a) || !args_has(args, b))
        return 0;
    return args_usage(io, args, "`--%s` and `--%s` exclude each other", option_rows[a].word,
                      option_rows[b].word);
}

static int need(const cli_io *io, const cli_args *args, enum option a, enum option b)
{
    if (!args_has(args, a) || args_has(args, b))
        return 0;
    return args_usage(io, args, "`--%s` needs `--%s`", option_rows[a].word, option_rows[b].word);
}

/* Two files of one command under one name: the second would replace the first. */
static int check_outputs(const cli_io *io, const cli_args *args)
{
    static const enum option files[] = {OPTION_OUTPUT, OPTION_UPDATE_BASELINE, OPTION_KEY_MAP};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (size_t j = 0; j < i; j++) {
            if (args_has(args, files[i]) && args_has(args, files[j]) &&
                strcmp(args->value[files[i]], args->value[files[j]]) == 0)
                return args_usage(io, args, "`--%s` and `--%s` name the same file",
                                  option_rows[files[j]].word, option_rows[files[i]].word);
        }
    }
    return 0;
}

/* The audit writes its own files after the key map, which would be gone. */
static int check_key_map(const cli_io *io, const cli_args *args)
{
    static const char *const names[] = {
#define X(id, name, need) name,
        CG_AUDIT_FILES(X)
#undef X
    };
    const char *map = args->value[OPTION_KEY_MAP];
    size_t length = args->argument != NULL ? strlen(args->argument) : 0;

    if (args->command != COMMAND_AUDIT || map == NULL || length == 0)
        return 0;
    while (length > 1 && args->argument[length - 1] == '/')
        length--;
    if (strncmp(map, args->argument, length) != 0 || map[length] != '/')
        return 0;
    map += length;
    map += strspn(map, "/");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(map, names[i]) == 0)
            return args_usage(io, args, "`--key-map` names a file that the audit writes itself: %s",
                              names[i]);
    }
    return 0;
}

static int check_sources(const cli_io *io, const cli_args *args)
{
    size_t count;
    const char *const *words = args_files(args, OPTION_SOURCE, &count);

    for (size_t i = 0; i < count; i++) {
        const char *is = strchr(words[i], '=');

        if (is == NULL || is == words[i] || is[1] == '\0')
            return args_usage(io, args, "`--source` wants NAME=DIR, not `%s`",
                              print_safe_word(words[i]).at);
    }
    return 0;
}

static int check_options(const cli_io *io, const cli_args *args)
{
    static const struct {
        enum option a, b;
        bool is_needed;
    } rules[] = {
        {OPTION_ALL_FEATURES, OPTION_NO_DEFAULT_FEATURES, false},
        {OPTION_CHECK, OPTION_UPDATE_BASELINE, false},
        {OPTION_BASELINE_KIND, OPTION_UPDATE_BASELINE, true},
        {OPTION_VERIFY_ROOT, OPTION_CHECKPOINT, true},
        {OPTION_KEY_MAP, OPTION_CHECKPOINT, true},
        {OPTION_AUDIT_DIR, OPTION_OUTPUT, false},
        {OPTION_AUDIT_DIR, OPTION_QUERY, false},
        {OPTION_AUDIT_DIR, OPTION_CHECKPOINT, false},
        {OPTION_AUDIT_CHECKPOINT, OPTION_AUDIT_DIR, true},
        {OPTION_AUDIT_VERIFY_ROOT, OPTION_AUDIT_CHECKPOINT, true},
        {OPTION_MODEL_IR, OPTION_QUERY, false},
    };
    static const enum option of_query[] = {OPTION_SELECT, OPTION_TO, OPTION_LIMIT, OPTION_OFFSET};
    int status = 0;

    for (size_t i = 0; status == 0 && i < sizeof rules / sizeof rules[0]; i++)
        status = rules[i].is_needed ? need(io, args, rules[i].a, rules[i].b)
                                    : exclude(io, args, rules[i].a, rules[i].b);
    for (size_t i = 0; status == 0 && i < sizeof of_query / sizeof of_query[0]; i++) {
        if (args->command == COMMAND_SCAN)
            status = need(io, args, of_query[i], OPTION_QUERY);
    }
    if (status == 0 && args->command != COMMAND_TREE && !args_has(args, OPTION_TRACE))
        status = need(io, args, OPTION_COMPONENT,
                      args->command == COMMAND_SCAN && args_has(args, OPTION_AUDIT_DIR)
                          ? OPTION_AUDIT_CHECKPOINT
                          : OPTION_CHECKPOINT);
    if (status == 0)
        status = check_outputs(io, args);
    if (status == 0)
        status = check_key_map(io, args);
    if (status == 0)
        status = check_sources(io, args);
    if (status == 0 && args_run_option(args) != NULL)
        status =
            args_usage(io, args, "`--%s` is for runs, and this is a crate", args_run_option(args));
    return status != 0 ? status : crate_check_format(io, args, true);
}

/* --- the cache --- */

/* Where results are kept; NULL: nowhere. */
static const char *cache_directory(crate_work *self, const cli_io *io, const cli_args *args)
{
    const char *wish = args_variable(io, "CANDLE_GRAPH_CACHE");
    const char *own = args_variable(io, "CANDLE_GRAPH_CACHE_DIR");
    const char *shared = args_variable(io, "XDG_CACHE_HOME");
    const char *home = args_variable(io, "HOME");
    int len = -1;

    if (!args_has(args, OPTION_CACHE) && (wish == NULL || !print_has_word("1 true yes", wish)))
        return NULL;
    if (own != NULL)
        len = snprintf(self->cache, sizeof self->cache, "%s", own);
    else if (shared != NULL && shared[0] == '/')
        len = snprintf(self->cache, sizeof self->cache, "%s/candle-graph", shared);
    else if (home != NULL)
        len = snprintf(self->cache, sizeof self->cache, "%s/.cache/candle-graph", home);
    return len > 0 && (size_t)len < sizeof self->cache ? self->cache : NULL;
}

/* --- start --- */

/* Another file of the command: written at once, whole or not at all. */
typedef cg_code write_side(const cg_scan *scan, const cli_args *args, cg_sink sink, cg_err *reterr);

static cg_code write_file(crate_work *self, const char *path, write_side *write)
{
    const char *inputs[2];
    size_t input_count = 0;
    cg_err *err = &self->work.err;
    cg_output *output;
    cg_code code;

    if (self->checkpoint != NULL)
        inputs[input_count++] = self->checkpoint;
    if (args_has(self->work.args, OPTION_RUNTIME_TRACE))
        inputs[input_count++] = self->work.args->value[OPTION_RUNTIME_TRACE];
    code = cg_scan_guard(self->scan, path, err);
    if (code == CG_OK)
        code = cg_output_open(&self->work.env, path, inputs, input_count, &output, err);
    if (code != CG_OK)
        return code;
    code = write(self->scan, self->work.args, cg_output_sink(output), err);
    if (code != CG_OK && code != CG_OUTPUT) {
        cg_output_drop(output);
        return code;
    }
    memset(err, 0, sizeof *err);
    return cg_output_commit(output, err);
}

/* What --baseline-kind asks for. */
static cg_baseline_kind kind_of_baseline(const cli_args *args)
{
    const char *word =
        args_has(args, OPTION_BASELINE_KIND) ? args->value[OPTION_BASELINE_KIND] : "";

    return strcmp(word, "readable") == 0   ? CG_BASELINE_READABLE
           : strcmp(word, "findings") == 0 ? CG_BASELINE_FINDINGS
                                           : CG_BASELINE_FINGERPRINT;
}

static cg_code write_baseline(const cg_scan *scan, const cli_args *args, cg_sink sink,
                              cg_err *reterr)
{
    return cg_write_baseline(scan, kind_of_baseline(args), sink, reterr);
}

static cg_code write_key_map(const cg_scan *scan, const cli_args *args, cg_sink sink,
                             cg_err *reterr)
{
    (void)args;
    return cg_write_key_map(scan, sink, reterr);
}

/* Failures whose cause is in work.err, whatever standard output does. */
static int refuse(crate_work *self, cg_code code)
{
    const cli_io *io = self->work.io;
    bool is_stopped = self->work.progress.is_stopped;

    progress_erase(&self->work.progress);
    if (code != CG_OK && self->work.err.code != CG_OK && !is_stopped && code != CG_INTERRUPTED) {
        work_print_error(io, &self->work.err);
        return cg_code_exit_status(code);
    }
    return work_tell(&self->work, code);
}

/* What the file at `path` has of findings goes out of the scan. */
static cg_code leave_known(crate_work *self, const char *path)
{
    uint64_t known = 0;
    uint64_t gone = 0;
    printer out;
    cg_code code = cg_scan_take_known(self->scan, path, &known, &gone, &self->work.err);

    if (code != CG_OK || known + gone == 0)
        return code;
    progress_erase(&self->work.progress);
    print_open(&out, self->work.io->err);
    print_format(&out, "%s: %llu known finding%s left out", print_safe_word(path).at,
                 (unsigned long long)known, known == 1 ? "" : "s");
    if (gone > 0)
        print_format(&out, "; %llu gone since, --update-baseline takes them out",
                     (unsigned long long)gone);
    print_format(&out, "\n");
    (void)print_close(&out);
    return CG_OK;
}

/* A baseline of findings says what is known, one of the model how it is to be. */
static cg_code check_baseline(crate_work *self, const char *path)
{
    cg_baseline_kind kind = CG_BASELINE_FINGERPRINT;
    cg_code code = cg_baseline_kind_of(&self->work.env, path, &kind, &self->work.err);

    if (code != CG_OK)
        return code;
    if (kind == CG_BASELINE_FINDINGS)
        return leave_known(self, path);
    progress_erase(&self->work.progress);
    return cg_scan_baseline(self->scan, path, self->work.io->err, &self->work.err);
}

static int baseline(crate_work *self)
{
    const cli_args *args = self->work.args;
    const cli_io *io = self->work.io;
    bool is_known = kind_of_baseline(args) == CG_BASELINE_FINDINGS;
    printer out;
    cg_code code = CG_OK;

    if (args_has(args, OPTION_UPDATE_BASELINE)) {
        code = write_file(self, args->value[OPTION_UPDATE_BASELINE], write_baseline);
        if (code == CG_OK) {
            progress_erase(&self->work.progress);
            print_open(&out, io->err);
            print_format(&out, "updated %s baseline %s\n", is_known ? "findings" : "model",
                         print_safe_word(args->value[OPTION_UPDATE_BASELINE]).at);
            (void)print_close(&out);
        }
        if (code == CG_OK && is_known)
            code = leave_known(self, args->value[OPTION_UPDATE_BASELINE]);
    } else if (args_has(args, OPTION_CHECK)) {
        code = check_baseline(self, args->value[OPTION_CHECK]);
    }
    return code == CG_OK ? 0 : refuse(self, code);
}

/* Is what functions compute neither shown nor judged? */
static bool is_structure_enough(const cli_args *args)
{
    static const enum option judging[] = {
        OPTION_STRICT,     OPTION_DENY,      OPTION_CHECK,           OPTION_UPDATE_BASELINE,
        OPTION_CHECKPOINT, OPTION_HEURISTIC, OPTION_AUDIT_CHECKPOINT};

    for (size_t i = 0; i < sizeof judging / sizeof judging[0]; i++) {
        if (args_has(args, judging[i]))
            return false;
    }
    return args->command == COMMAND_TREE;
}

/* Are only findings shown, so that nobody asks for the tensors of functions? */
static bool are_findings_enough(const cli_args *args)
{
    static const enum option asking[] = {OPTION_FORMAT,     OPTION_CHECK, OPTION_UPDATE_BASELINE,
                                         OPTION_CHECKPOINT, OPTION_TRACE, OPTION_RUNTIME_TRACE};

    for (size_t i = 0; i < sizeof asking / sizeof asking[0]; i++) {
        if (args_has(args, asking[i]))
            return false;
    }
    return args->command == COMMAND_CHECK;
}

/* A file that is no document counts as a trace until somebody reads it. */
static const char *what_is(cg_input_kind kind)
{
    switch (kind) {
    case CG_INPUT_BUNDLE: return "a bundle";
    case CG_INPUT_MODEL: return "a model document";
    case CG_INPUT_DOCUMENT: return "a document about runs";
    case CG_INPUT_CAMPAIGN: return "the plan of a campaign";
    default: return "a run or another file";
    }
}

static int open_crate(crate_work *self, const char *path)
{
    const cli_args *args = self->work.args;
    cg_scan_request request;
    cg_input_kind kind = 0;
    cg_code code;

    if (cg_input_kind_of(&self->work.env, path, &kind, NULL) == CG_OK && kind != CG_INPUT_CRATE)
        return args_usage(self->work.io, args,
                          "`%s` is %s, and `%s` reads crates: a folder with Cargo.toml, or a .rs "
                          "file",
                          print_safe_word(path).at, what_is(kind),
                          command_rows[args->command].word);
    memset(&request, 0, sizeof request);
    request.size = sizeof request;
    request.path = path;
    request.package = args->value[OPTION_PACKAGE];
    request.target = args->value[OPTION_TARGET];
    request.cargo_target = args->value[OPTION_CARGO_TARGET];
    request.root = args->value[OPTION_ROOT];
    request.features = args_files(args, OPTION_FEATURES, &request.feature_count);
    request.sources = args_files(args, OPTION_SOURCE, &request.source_count);
    request.has_all_features = args_has(args, OPTION_ALL_FEATURES);
    request.has_no_default_features = args_has(args, OPTION_NO_DEFAULT_FEATURES);
    request.asks_cargo = args_has(args, OPTION_CARGO);
    request.is_heuristic = args_has(args, OPTION_HEURISTIC);
    request.cache_directory = cache_directory(self, self->work.io, args);
    request.checkpoint = self->checkpoint;
    request.is_structure = is_structure_enough(args);
    request.is_findings = are_findings_enough(args);
    request.runtime_trace = args->value[OPTION_RUNTIME_TRACE];
    code = cg_scan_open(&self->work.env, &request, &self->scan, &self->work.err);
    return code == CG_OK ? 0 : refuse(self, code);
}

/* The runs of --trace, one after the other. */
static int join_runs(crate_work *self)
{
    const cli_args *args = self->work.args;
    size_t count;
    const char *const *paths = args_files(args, OPTION_TRACE, &count);
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < count; i++)
        code = cg_scan_join(self->scan, paths[i], args->value[OPTION_COMPONENT], &self->work.err);
    return code == CG_OK ? 0 : refuse(self, code);
}

int crate_start(crate_work *self, const cli_io *io, const cg_env *env, const cli_args *args,
                const char *word)
{
    bool is_audit = args_has(args, OPTION_AUDIT_CHECKPOINT);
    const char *path = NULL;
    int status = check_options(io, args);
    cg_code code = CG_OK;

    memset(self, 0, sizeof *self);
    if (status == 0)
        status = crate_path(io, args, word, &path);
    if (status != 0)
        return status;
    work_start(&self->work, io, env, args);
    self->checkpoint = args->value[is_audit ? OPTION_AUDIT_CHECKPOINT : OPTION_CHECKPOINT];
    self->verify_root = args->value[is_audit ? OPTION_AUDIT_VERIFY_ROOT : OPTION_VERIFY_ROOT];
    status = open_crate(self, path);
    if (status == 0) {
        self->work.scan = self->scan;
        status = baseline(self);
    }
    if (status == 0 && self->checkpoint != NULL) {
        code = cg_scan_checkpoint(self->scan, self->checkpoint, self->verify_root,
                                  args->value[OPTION_COMPONENT], &self->work.err);
        if (code == CG_OK && args_has(args, OPTION_KEY_MAP))
            code = write_file(self, args->value[OPTION_KEY_MAP], write_key_map);
        status = code == CG_OK ? 0 : refuse(self, code);
    }
    if (status == 0)
        status = join_runs(self);
    if (status != 0) {
        cg_scan_free(self->scan);
        self->scan = NULL;
    }
    return status;
}

/* --- end --- */

static void warn_of_word(void *context, cg_str word)
{
    const cli_io *io = context;
    char text[80];
    printer out;

    (void)snprintf(text, sizeof text, "%.*s", (int)(word.len < 70 ? word.len : 70), word.ptr);
    print_open(&out, io->err);
    print_format(&out, "candle-graph: warning: `--deny %s` is no code; `explain` lists the codes\n",
                 print_safe_word(text).at);
    (void)print_close(&out);
}

/* Does the command show its user the findings, or a text that counts what is unread? */
static bool shows_unread(const crate_work *self)
{
    const cli_args *args = self->work.args;

    switch (args->command) {
    case COMMAND_QUERY:
    case COMMAND_AUDIT: return false;
    case COMMAND_SUMMARY:
    case COMMAND_TREE: return self->work.format.kind == CG_FORMAT_TEXT;
    default: return !args_has(args, OPTION_QUERY);
    }
}

static print_safe safe_text(cg_str text)
{
    char word[200];

    (void)snprintf(word, sizeof word, "%.*s", (int)(text.len < 190 ? text.len : 190),
                   text.ptr == NULL ? "" : text.ptr);
    return print_safe_word(word);
}

/* An answer that may lack something says so, where no program takes it for the answer. */
static void tell_unread(const crate_work *self)
{
    cg_scan_facts facts = {.size = sizeof facts};
    printer out;

    if (shows_unread(self))
        return;
    cg_scan_facts_of(self->scan, &facts);
    if (facts.unread_count == 0)
        return;
    print_open(&out, self->work.io->err);
    print_format(
        &out,
        "candle-graph: warning: %llu place%s in the sources could not be read, and what is "
        "there is not in this answer: %s: %s%s\n",
        (unsigned long long)facts.unread_count, facts.unread_count == 1 ? "" : "s",
        safe_text(facts.unread_place).at, safe_text(facts.unread).at,
        facts.unread_count == 1 ? "" : "; `candle-graph check` names all");
    (void)print_close(&out);
}

int crate_end(crate_work *self, cg_code code, cg_strictness strictness)
{
    const cli_args *args = self->work.args;
    size_t deny_count;
    const char *const *deny = args_files(args, OPTION_DENY, &deny_count);
    int status;

    code = work_finish(&self->work, code);
    status = work_tell(&self->work, code);
    if (status == 0) {
        tell_unread(self);
        memset(&self->work.err, 0, sizeof self->work.err);
        if (args_has(args, OPTION_STRICT))
            strictness = CG_STRICT_ALL;
        code = cg_scan_gate(self->scan, strictness, deny, deny_count, warn_of_word,
                            (void *)(uintptr_t)self->work.io, &self->work.err);
        status = code == CG_OK ? 0 : refuse(self, code);
    }
    cg_scan_free(self->scan);
    self->scan = NULL;
    return status;
}

/* --- documents --- */

cg_code crate_write_model(crate_work *self)
{
    const cli_args *args = self->work.args;
    cg_sink sink = {&self->work, work_write};

    if (args->command == COMMAND_VIEW ||
        (args_has(args, OPTION_FORMAT) && strcmp(args->value[OPTION_FORMAT], "html") == 0))
        return cg_write_model_page(self->scan, sink, &self->work.err);
    if (args_has(args, OPTION_FORMAT) && strcmp(args->value[OPTION_FORMAT], "tree") == 0)
        return cg_write_tree(self->scan, NULL, &self->work.format, sink, &self->work.err);
    return cg_write_model(self->scan, &self->work.format, sink, &self->work.err);
}

cg_code crate_write_join(crate_work *self, const cg_format *format)
{
    const cli_args *args = self->work.args;
    cg_join_query query;

    memset(&query, 0, sizeof query);
    query.size = sizeof query;
    query.select = args->value[OPTION_SELECT];
    query.has_limit = args_has(args, OPTION_LIMIT) || args_has(args, OPTION_ALL);
    query.limit = args_has(args, OPTION_ALL) ? UINT64_MAX : args->number[OPTION_LIMIT];
    query.offset = args->number[OPTION_OFFSET];
    return cg_write_join(self->scan, &query, format, (cg_sink){&self->work, work_write},
                         &self->work.err);
}

/* Runs belong to kind join, and kind join to runs. */
static int check_join(const cli_io *io, const cli_args *args, const char *kind)
{
    bool is_join = strcmp(kind, "join") == 0;

    if (is_join && !args_has(args, OPTION_TRACE))
        return args_usage(io, args, "kind `join` needs `--trace RUN`, a run of the crate");
    if (!is_join && args_has(args, OPTION_TRACE))
        return args_usage(io, args, "`--trace` is for kind `join`, not for `%s`",
                          print_safe_word(kind).at);
    return 0;
}

int crate_query(const cli_io *io, const cg_env *env, const cli_args *args, const char *kind,
                const char *word)
{
    cg_scan_query query;
    crate_work self;
    int status;
    cg_code code;

    if (args_has(args, OPTION_ALL) &&
        (args_has(args, OPTION_LIMIT) || args_has(args, OPTION_OFFSET)))
        return args_usage(io, args, "`--all` excludes `--limit` and `--offset`");
    status = check_join(io, args, kind);
    if (status == 0)
        status = crate_start(&self, io, env, args, word);
    if (status != 0)
        return status;
    if (strcmp(kind, "join") == 0)
        return crate_end(&self, crate_write_join(&self, &self.work.format), CG_STRICT_NONE);
    memset(&query, 0, sizeof query);
    query.size = sizeof query;
    query.kind = kind;
    query.select = args->value[OPTION_SELECT];
    query.to = args->value[OPTION_TO];
    query.has_limit = args_has(args, OPTION_LIMIT) || args_has(args, OPTION_ALL);
    query.limit = args_has(args, OPTION_ALL) ? UINT64_MAX : args->number[OPTION_LIMIT];
    query.offset = args->number[OPTION_OFFSET];
    query.is_brief =
        args_has(args, OPTION_FORMAT) && strcmp(args->value[OPTION_FORMAT], "tree") == 0;
    code = cg_write_scan_query(self.scan, &query, &self.work.format,
                               (cg_sink){&self.work, work_write}, &self.work.err);
    return crate_end(&self, code, CG_STRICT_NONE);
}
