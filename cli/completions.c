#include "help.h"
#include "print.h"

static bool is_listed(const command_row *row)
{
    return row->status == STATUS_READY;
}

static bool is_offered(const option_row *row, size_t command)
{
    return row->status == STATUS_READY && (row->in >> command & 1) != 0;
}

/* In single quotes for every one of the three shells: quotes of the text become typographic. */
static void quoted(printer *out, const char *text)
{
    print_text(out, "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            print_text(out, "\xE2\x80\x99");
        else
            print_format(out, "%c", *text);
    }
    print_text(out, "'");
}

static void command_words(printer *out)
{
    const char *gap = "";

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (is_listed(&command_rows[i])) {
            print_format(out, "%s%s", gap, command_rows[i].word);
            gap = " ";
        }
    }
}

cg_code help_write_bash(cg_sink sink)
{
    printer out;

    print_open(&out, sink);
    print_text(&out, "# bash completion of candle-graph\n"
                     "_candle_graph()\n{\n"
                     "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    local command= options= i\n"
                     "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                     "        case ${COMP_WORDS[i]} in\n"
                     "        -*|candle-graph) ;;\n"
                     "        *) command=${COMP_WORDS[i]}; break ;;\n"
                     "        esac\n"
                     "    done\n"
                     "    case $before in\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_rows[i];

        /* What may have a value has it behind `=`, in the same word. */
        if (row->status != STATUS_READY || row->type == VALUE_FLAG || row->type == VALUE_MAYBE)
            continue;
        print_format(&out, "    --%s%s%c) ", row->word, row->letter != '\0' ? "|-" : "",
                     row->letter != '\0' ? row->letter : ' ');
        if (row->type == VALUE_FILE || row->type == VALUE_FILES)
            print_text(&out, "COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
        else if (row->words != NULL)
            print_format(&out, "COMPREPLY=($(compgen -W \"%s\" -- \"$word\")); return ;;\n",
                         row->words);
        else
            print_text(&out, "return ;;\n");
    }
    print_text(&out, "    esac\n    case $command in\n    '') COMPREPLY=($(compgen -W \"");
    command_words(&out);
    print_text(&out, "\" -- \"$word\")); return ;;\n    help) COMPREPLY=($(compgen -W \"");
    command_words(&out);
    print_text(&out, "\" -- \"$word\")); return ;;\n"
                     "    completions) COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$word\")); "
                     "return ;;\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!is_listed(&command_rows[i]))
            continue;
        print_format(&out, "    %s) options=\"", command_rows[i].word);
        for (size_t j = 0; j < OPTION_COUNT; j++) {
            if (is_offered(&option_rows[j], i))
                print_format(&out, " --%s", option_rows[j].word);
        }
        print_text(&out, "\" ;;\n");
    }
    print_text(&out, "    esac\n"
                     "    case $word in\n"
                     "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
                     "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                     "    esac\n}\n"
                     "complete -o filenames -F _candle_graph candle-graph cargo-candle-graph\n");
    return print_close(&out);
}

/* `text` inside an _arguments specification: brackets and colons would end it. */
static void zsh_text(printer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            print_text(out, "\xE2\x80\x99");
        else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            print_format(out, "\\%c", *text);
        else
            print_format(out, "%c", *text);
    }
}

static void zsh_option(printer *out, const option_row *row)
{
    print_format(out, " \\\n            '%s--%s%s[",
                 row->type == VALUE_CEILING || row->type == VALUE_FILES || row->type == VALUE_TEXTS
                     ? "*"
                     : "",
                 row->word,
                 row->type == VALUE_MAYBE ? ""
                 : row->value != NULL     ? "="
                                          : "");
    zsh_text(out, row->about);
    print_text(out, "]");
    if (row->type == VALUE_FILE || row->type == VALUE_FILES)
        print_format(out, ":%s:_files", row->value);
    else if (row->words != NULL && row->type != VALUE_MAYBE)
        print_format(out, ":%s:(%s)", row->type == VALUE_CEILING ? "NAME" : row->value, row->words);
    else if (row->value != NULL && row->type != VALUE_MAYBE)
        print_format(out, ":%s: ", row->value);
    print_text(out, "'");
}

cg_code help_write_zsh(cg_sink sink)
{
    printer out;

    print_open(&out, sink);
    print_text(&out, "#compdef candle-graph cargo-candle-graph\n"
                     "_candle_graph()\n{\n"
                     "    local -a commands\n"
                     "    commands=(\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (is_listed(&command_rows[i])) {
            print_format(&out, "        '%s:", command_rows[i].word);
            zsh_text(&out, command_rows[i].about);
            print_text(&out, "'\n");
        }
    }
    print_text(&out, "    )\n"
                     "    if ((CURRENT == 2)); then\n"
                     "        _describe command commands\n"
                     "        return\n"
                     "    fi\n"
                     "    local command=$words[2]\n"
                     "    shift words\n"
                     "    ((CURRENT--))\n"
                     "    case $command in\n"
                     "    help) _describe command commands ;;\n"
                     "    completions) _arguments '1:SHELL:(bash zsh fish)' ;;\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const command_row *row = &command_rows[i];

        if (!is_listed(row) || i == COMMAND_HELP || i == COMMAND_COMPLETIONS)
            continue;
        print_format(&out, "    %s)\n        _arguments -S", row->word);
        for (size_t j = 0; j < OPTION_COUNT; j++) {
            if (is_offered(&option_rows[j], i))
                zsh_option(&out, &option_rows[j]);
        }
        if (row->argument != NULL)
            print_format(&out, " \\\n            '1:%s:_files'", row->argument);
        print_text(&out, " ;;\n");
    }
    print_text(&out, "    esac\n}\n_candle_graph \"$@\"\n");
    return print_close(&out);
}

cg_code help_write_fish(cg_sink sink)
{
    printer out;

    print_open(&out, sink);
    print_text(&out, "# fish completion of candle-graph\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!is_listed(&command_rows[i]))
            continue;
        print_format(&out, "complete -c candle-graph -n __fish_use_subcommand -f -a %s -d ",
                     command_rows[i].word);
        quoted(&out, command_rows[i].about);
        print_text(&out, "\n");
    }
    print_text(&out, "complete -c candle-graph -n '__fish_seen_subcommand_from completions' -f -a "
                     "'bash zsh fish'\n"
                     "complete -c candle-graph -n '__fish_seen_subcommand_from help' -f -a '");
    command_words(&out);
    print_text(&out, "'\n");
    for (size_t j = 0; j < OPTION_COUNT; j++) {
        const option_row *row = &option_rows[j];
        const char *gap = "";

        if (row->status != STATUS_READY)
            continue;
        print_text(&out, "complete -c candle-graph");
        if (row->in != IN_ALL) {
            print_text(&out, " -n '__fish_seen_subcommand_from ");
            for (size_t i = 0; i < COMMAND_COUNT; i++) {
                if (is_listed(&command_rows[i]) && is_offered(row, i)) {
                    print_format(&out, "%s%s", gap, command_rows[i].word);
                    gap = " ";
                }
            }
            print_text(&out, "'");
        }
        print_format(&out, " -l %s", row->word);
        if (row->letter != '\0')
            print_format(&out, " -s %c", row->letter);
        if (row->type == VALUE_FILE || row->type == VALUE_FILES)
            print_text(&out, " -r -F");
        else if (row->words != NULL && row->type != VALUE_MAYBE)
            print_format(&out, " -x -a '%s'", row->words);
        else if (row->type != VALUE_FLAG && row->type != VALUE_MAYBE)
            print_text(&out, " -x");
        print_text(&out, " -d ");
        quoted(&out, row->about);
        print_text(&out, "\n");
    }
    print_text(&out, "complete -c cargo-candle-graph -w candle-graph\n");
    return print_close(&out);
}
