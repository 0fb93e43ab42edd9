#include "help.h"

#include "candlegraph/scan.h"

#include "print.h"

#define WIDTH 92

static const char *const exit_rows[][2] = {
    {"0", "done; an invalid or failed run that was described is a success"},
    {"1", "an input was refused, or a verdict that was asked to be strict is negative"},
    {"2", "the command line is wrong, or asks for what this version does not have"},
    {"3", "the output could not be written, or memory was short"},
    {"4", "published, but durability or the receipt failed"},
    {"70", "a defect of candle-graph"},
    {"130", "stopped on request"},
};

const char *help_exit_status(size_t index, const char **ret_text)
{
    if (index >= sizeof exit_rows / sizeof *exit_rows)
        return NULL;
    *ret_text = exit_rows[index][1];
    return exit_rows[index][0];
}

static void commands(printer *out, enum status status)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (command_rows[i].status == status)
            print_format(out, "  %-16s %s\n", command_rows[i].word, command_rows[i].about);
    }
}

static void options(printer *out, uint32_t in, bool only_shared)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_rows[i];
        bool is_shared = (row->in & IN_DOCUMENTS) == IN_DOCUMENTS;
        char head[40];

        if (row->status != STATUS_READY || (row->in & in) == 0 || (only_shared && !is_shared))
            continue;
        (void)snprintf(head, sizeof head, "%c%c%s--%s%s%s%s", row->letter != '\0' ? '-' : ' ',
                       row->letter != '\0' ? row->letter : ' ', row->letter != '\0' ? ", " : "  ",
                       row->word,
                       row->value == NULL         ? ""
                       : row->type == VALUE_MAYBE ? "[="
                                                  : " ",
                       row->value != NULL ? row->value : "", row->type == VALUE_MAYBE ? "]" : "");
        /* A head that is too long has its line for itself. */
        if (strlen(head) > 26)
            print_format(out, "  %s\n  %-26s %s\n", head, "", row->about);
        else
            print_format(out, "  %-26s %s\n", head, row->about);
    }
}

static bool is_anything(uint8_t status)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (command_rows[i].status == status)
            return true;
    }
    return false;
}

cg_code help_write_all(cg_sink sink, const cli_args *from)
{
    printer out;
    const char *code;
    const char *text;

    print_open(&out, sink);
    print_format(&out,
                 "candle-graph %s: explain Candle models, by their sources and by recorded runs\n\n"
                 "usage: %s COMMAND ...\n\nCommands\n",
                 cg_version(), from->program);
    commands(&out, STATUS_READY);
    if (is_anything(STATUS_PLANNED)) {
        print_text(&out, "\nComing, not in this version\n");
        commands(&out, STATUS_PLANNED);
    }
    print_text(&out, "\nOptions\n");
    options(&out, IN_DOCUMENTS, true);
    print_text(&out, "\nExit status\n");
    for (size_t i = 0; (code = help_exit_status(i, &text)) != NULL; i++)
        print_format(&out, "  %-4s %s\n", code, text);
    print_format(&out,
                 "\n%s check                  start here with a crate,\n"
                 "%s overview TRACE         with a recorded run\n"
                 "%s help query             one command in detail\n",
                 from->program, from->program, from->program);
    return print_close(&out);
}

static void kinds(printer *out)
{
    static const struct {
        const char *word;
        const char *about;
        bool needs_graph;
        bool takes_filter;
        bool is_collection;
    } rows[] = {
#define X(name, word, graph, filter, collection, about) {word, about, graph, filter, collection},
        CG_QUERIES(X)
#undef X
    };

    print_text(
        out,
        "\nKinds for a run (g: only for valid, complete captures; l: label filters; p: paging)\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        print_format(out, "  %-21s %c%c%c  %s\n", rows[i].word, rows[i].needs_graph ? 'g' : ' ',
                     rows[i].takes_filter ? 'l' : ' ', rows[i].is_collection ? 'p' : ' ',
                     rows[i].about);
    print_text(out, "\nKinds for a crate\n");
    print_wrapped(out, print_list_of(cg_scan_query_words()).at, 2, 78);
}

static void ceilings(printer *out)
{
    static const struct {
        const char *word;
        uint64_t value;
        const char *why;
    } rows[] = {
#define X(name, word, value, why) {word, value, why},
        CG_LIMITS(X)
#undef X
    };

    print_text(out, "\nCeilings\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        print_format(out, "  %-20s %12llu  %s\n", rows[i].word, (unsigned long long)rows[i].value,
                     rows[i].why);
}

cg_code help_write_command(cg_sink sink, const cli_args *from, int command)
{
    const command_row *row = &command_rows[command];
    uint32_t bit = UINT32_C(1) << command;
    printer out;

    print_open(&out, sink);
    print_format(&out, "%s %s: %s\n\nusage: %s %s%s%s\n", from->program, row->word, row->about,
                 from->program, row->word, row->synopsis[0] != '\0' ? " " : "", row->synopsis);
    if (row->status == STATUS_PLANNED) {
        print_text(&out, "\nThis command is not in this version yet.\n");
        return print_close(&out);
    }
    if (row->more[0] != '\0') {
        print_text(&out, "\n");
        print_wrapped(&out, row->more, 0, WIDTH);
    }
    if (command == COMMAND_QUERY)
        kinds(&out);
    print_text(&out, "\nOptions\n");
    options(&out, bit, false);
    if ((bit & IN_DOCUMENTS) != 0 && command != COMMAND_PROTOCOL)
        ceilings(&out);
    return print_close(&out);
}
