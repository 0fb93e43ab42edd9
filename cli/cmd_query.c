/* query: one question, to a run or to a crate; the input and the kind decide. */
#include "crate.h"
#include "print.h"

static bool is_collection(cg_query_kind kind)
{
    static const bool collections[CG_QUERY_COUNT] = {
#define X(name, word, graph, filter, collection, about) [CG_QUERY_##name] = (collection),
        CG_QUERIES(X)
#undef X
    };

    return collections[kind];
}

static bool is_of_runs(const char *word)
{
    return print_has_word(args_query_words, word);
}

/* What is at the path, as far as that can be told. */
enum input { INPUT_UNKNOWN, INPUT_NOTHING, INPUT_CRATE, INPUT_RUN };

static enum input input_of(const cg_env *env, const char *path)
{
    cg_input_kind kind = 0;
    cg_err err;
    cg_code code;

    memset(&err, 0, sizeof err);
    code = cg_input_kind_of(env, path, &kind, &err);
    if (args_is_missing(code, &err))
        return INPUT_NOTHING;
    return code != CG_OK ? INPUT_UNKNOWN : kind == CG_INPUT_CRATE ? INPUT_CRATE : INPUT_RUN;
}

static int no_such_kind(const cli_io *io, const cli_args *args, const char *word, bool may_be_file)
{
    const char *of_crates = cg_scan_query_words();
    const char *what = may_be_file ? "there is no kind and no file" : "unknown kind";
    char near[64];

    if (print_nearest(word, args_query_words, near, sizeof near) ||
        print_nearest(word, of_crates, near, sizeof near))
        return args_usage(io, args,
                          "%s `%s`; did you mean `%s`? kinds for a run: %s; for a crate: %s", what,
                          print_safe_word(word).at, near, print_list_of(args_query_words).at,
                          print_list_of(of_crates).at);
    return args_usage(io, args, "%s `%s`; kinds for a run: %s; for a crate: %s", what,
                      print_safe_word(word).at, print_list_of(args_query_words).at,
                      print_list_of(of_crates).at);
}

/* --- a run --- */

static int query_run(const cli_io *io, const cg_env *env, const cli_args *args, const char *word)
{
    bool is_paged =
        args_has(args, OPTION_LIMIT) || args_has(args, OPTION_OFFSET) || args_has(args, OPTION_ALL);
    cg_query query;

    memset(&query, 0, sizeof query);
    query.size = sizeof query;
    if (!cg_query_find(word, &query.kind))
        return no_such_kind(io, args, word, false);
    if (args_crate_option(args) != NULL)
        return args_usage(io, args, "`--%s` is for crates, and `%s` is none",
                          args_crate_option(args), print_safe_word(args->argument).at);
    if (args_has(args, OPTION_LABEL) && args_has(args, OPTION_LABEL_PREFIX))
        return args_usage(io, args, "`--label` and `--label-prefix` exclude each other");
    if (args_has(args, OPTION_ALL) &&
        (args_has(args, OPTION_LIMIT) || args_has(args, OPTION_OFFSET)))
        return args_usage(io, args, "`--all` excludes `--limit` and `--offset`");
    if (is_paged && !is_collection(query.kind))
        return args_usage(io, args, "kind `%s` is no collection: it cannot be paged", word);
    if (args_has(args, OPTION_LABEL))
        query.label = (cg_str){args->value[OPTION_LABEL], strlen(args->value[OPTION_LABEL])};
    if (args_has(args, OPTION_LABEL_PREFIX))
        query.label_prefix =
            (cg_str){args->value[OPTION_LABEL_PREFIX], strlen(args->value[OPTION_LABEL_PREFIX])};
    query.has_limit = is_paged;
    query.limit = args_has(args, OPTION_LIMIT) ? args->number[OPTION_LIMIT] : UINT64_MAX;
    query.offset = args->number[OPTION_OFFSET];
    return run_document(io, env, args, &query);
}

/* --- `query INPUT --kind K` --- */

static int query_with_kind(const cli_io *io, const cg_env *env, const cli_args *args)
{
    const char *word = args->value[OPTION_KIND];
    bool is_of_crates = cg_scan_query_exists(word);
    enum input input;

    if (args->second != NULL)
        return args_usage(io, args, "one word too many: `%s`", print_safe_word(args->second).at);
    if (!is_of_crates && !is_of_runs(word))
        return no_such_kind(io, args, word, false);
    if (args->argument == NULL) {
        if (is_of_crates && (!is_of_runs(word) || args_has(args, OPTION_PATH) ||
                             args_has(args, OPTION_MANIFEST_PATH)))
            return crate_query(io, env, args, word, NULL);
        return args_usage(io, args, "`query` needs RUN");
    }
    input = input_of(env, args->argument);
    if (is_of_crates && !is_of_runs(word) && input == INPUT_RUN)
        return args_usage(
            io, args, "kind `%s` asks about a crate, and `%s` is a run; kinds for a run: %s", word,
            print_safe_word(args->argument).at, print_list_of(args_query_words).at);
    if (!is_of_crates && input == INPUT_CRATE)
        return args_usage(
            io, args, "kind `%s` asks about a run, and `%s` is a crate; kinds for a crate: %s",
            word, print_safe_word(args->argument).at, print_list_of(cg_scan_query_words()).at);
    if (is_of_crates && (input == INPUT_CRATE || !is_of_runs(word)))
        return crate_query(io, env, args, word, args->argument);
    return query_run(io, env, args, word);
}

/* --- `query K` --- */

/* Rather the name of a thing than that of a folder? */
static bool is_selector(const char *kind, const char *word)
{
    return strchr(word, '/') == NULL &&
           (strchr(word, ':') != NULL ||
            print_has_word("component function parameter tensor operation path", kind));
}

static int query_of_crate(const cli_io *io, const cg_env *env, const cli_args *args)
{
    const char *word = args->argument;

    if (args->second != NULL && input_of(env, args->second) == INPUT_RUN) {
        if (is_of_runs(word))
            return args_usage(io, args, "did you mean `%s query %s --kind %s`?", args->program,
                              print_safe_word(args->second).at, word);
        return args_usage(
            io, args, "kind `%s` asks about a crate, and `%s` is a run; kinds for a run: %s", word,
            print_safe_word(args->second).at, print_list_of(args_query_words).at);
    }
    if (args->second != NULL && !args_has(args, OPTION_SELECT) && is_selector(word, args->second) &&
        input_of(env, args->second) == INPUT_NOTHING)
        return args_usage(io, args,
                          "there is no crate `%s`; what is asked about is selected: `%s query %s "
                          "--select %s`",
                          print_safe_word(args->second).at, args->program, word,
                          print_safe_word(args->second).at);
    return crate_query(io, env, args, word, args->second);
}

int run_query(const cli_io *io, const cg_env *env, const cli_args *args)
{
    const char *word = args->argument;

    if (args_has(args, OPTION_KIND))
        return query_with_kind(io, env, args);
    if (word == NULL)
        return args_usage(io, args,
                          "`query` needs RUN and `--kind K`, or the kind of a question to a "
                          "crate; kinds for a run: %s; for a crate: %s",
                          print_list_of(args_query_words).at,
                          print_list_of(cg_scan_query_words()).at);
    if (cg_scan_query_exists(word))
        return query_of_crate(io, env, args);
    if (is_of_runs(word) && args->second != NULL)
        return args_usage(io, args, "did you mean `%s query %s --kind %s`?", args->program,
                          print_safe_word(args->second).at, word);
    if (is_of_runs(word))
        return args_usage(io, args, "`%s` is a kind, RUN is missing: `%s query RUN --kind %s`",
                          word, args->program, word);
    if (args->second != NULL && input_of(env, word) != INPUT_NOTHING &&
        (is_of_runs(args->second) || cg_scan_query_exists(args->second)))
        return args_usage(io, args, "did you mean `%s query %s --kind %s`?", args->program,
                          print_safe_word(word).at, args->second);
    if (input_of(env, word) == INPUT_CRATE)
        return args_usage(io, args, "`--kind` is missing; kinds for a crate: %s",
                          print_list_of(cg_scan_query_words()).at);
    if (input_of(env, word) != INPUT_NOTHING)
        return args_usage(io, args, "`--kind` is missing; kinds for a run: %s; for a crate: %s",
                          print_list_of(args_query_words).at,
                          print_list_of(cg_scan_query_words()).at);
    return no_such_kind(io, args, word, true);
}
