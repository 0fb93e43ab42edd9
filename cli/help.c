#include "help.h"

#include "candlegraph/scan.h"

#define WIDTH        92
#define LEAST_WIDTH  72
#define MOST_WIDTH   100
#define NAME_COLUMN  19 /* where what is said of a command begins */
#define ABOUT_COLUMN 29 /* of an option */

/* Options that most commands share come behind a command's own, in groups. */
enum group { GROUP_OWN, GROUP_CRATE, GROUP_SHARED, GROUP_COUNT };

static const char *const group_heads[GROUP_COUNT] = {
    [GROUP_OWN] = "Options", [GROUP_CRATE] = "Options of a crate", [GROUP_SHARED] = "Any command"};

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

static const struct {
    int command;
    const char *line;
    const char *about;
} example_rows[] = {
#define EXAMPLE(name, line, about) {COMMAND_##name, line, about},
#include "commands.def"
};

const char *help_example(int command, size_t index, const char **ret_text)
{
    for (size_t i = 0; i < sizeof example_rows / sizeof *example_rows; i++) {
        if (example_rows[i].command == command && index-- == 0) {
            *ret_text = example_rows[i].about;
            return example_rows[i].line;
        }
    }
    return NULL;
}

const char *help_about(const option_row *row, uint32_t in)
{
    if (row != &option_rows[OPTION_FORMAT])
        return row->about;
    if (in == IN(CHECK))
        return "print the model, not the findings: text, tree, html (the page) or json";
    if (in == IN(REPORT))
        return "text or json, of a crate also tree and html (the page); without it text on a "
               "terminal, else json";
    if (in == IN(QUERY))
        return "text or json, of a crate also tree, a line an item; without it text on a "
               "terminal, else json";
    return row->about;
}

size_t help_width(const cli_io *io)
{
    size_t width = args_columns(io);

    if (width == 0)
        return WIDTH;
    return width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
}

/* Length of the first part of a synopsis that stays in one line: `[--to S]`. */
static size_t part_size(const char *text)
{
    size_t depth = 0;
    size_t i = 0;

    for (; text[i] != '\0' && text[i] != '\n' && (text[i] != ' ' || depth > 0); i++) {
        if (text[i] == '[' || text[i] == '(')
            depth++;
        else if (text[i] == ']' || text[i] == ')')
            depth--;
    }
    return i;
}

void help_write_usage(printer *out, const char *program, int command, size_t width)
{
    const command_row *row = &command_rows[command];
    const char *at = row->synopsis;
    const char *word = "usage: ";

    do {
        size_t indent = strlen(word) + strlen(program) + 1 + strlen(row->word);
        size_t column = indent;

        print_format(out, "%s%s %s", word, program, row->word);
        while (*at != '\0' && *at != '\n') {
            size_t size = part_size(at);

            if (column > indent && column + 1 + size > width) {
                print_format(out, "\n%*s", (int)indent, "");
                column = indent;
            }
            print_format(out, " %.*s", (int)size, at);
            column += 1 + size;
            at += size;
            at += strspn(at, " ");
        }
        print_text(out, "\n");
        word = "       ";
    } while (*at++ == '\n');
}

static void commands(printer *out, enum status status, size_t width)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char head[40];

        (void)snprintf(head, sizeof head, "  %s", command_rows[i].word);
        if (command_rows[i].status == status)
            print_row(out, head, NAME_COLUMN, command_rows[i].about, width);
    }
}

static enum group group_of(const option_row *row)
{
    if ((row->in & IN_DOCUMENTS) == IN_DOCUMENTS)
        return GROUP_SHARED;
    return (row->in & IN_CHECKPOINTS) == (IN_CHECKPOINTS & ~IN(TREE)) ||
                   (row->in & IN_CHECKPOINTS) == IN_CHECKPOINTS
               ? GROUP_CRATE
               : GROUP_OWN;
}

static void option(printer *out, const option_row *row, uint32_t in, size_t width)
{
    char head[60];

    (void)snprintf(head, sizeof head, "  %c%c%s--%s%s%s%s", row->letter != '\0' ? '-' : ' ',
                   row->letter != '\0' ? row->letter : ' ', row->letter != '\0' ? ", " : "  ",
                   row->word,
                   row->value == NULL         ? ""
                   : row->type == VALUE_MAYBE ? "[="
                                              : " ",
                   row->value != NULL ? row->value : "", row->type == VALUE_MAYBE ? "]" : "");
    print_row(out, head, ABOUT_COLUMN, help_about(row, in), width);
}

/* Those of one group that a command of `in` has, with its head; nothing when there are none. */
static void options(printer *out, uint32_t in, enum group group, size_t width)
{
    bool has_head = false;

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_rows[i];

        if (row->status != STATUS_READY || (row->in & in) == 0 || group_of(row) != group)
            continue;
        if (!has_head)
            print_format(out, "\n%s\n", group_heads[group]);
        has_head = true;
        option(out, row, in, width);
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

cg_code help_write_all(const cli_io *io, const cli_args *from)
{
    size_t width = help_width(io);
    char head[60];
    printer out;
    const char *code;
    const char *text;

    print_open(&out, io->out);
    (void)snprintf(head, sizeof head, "candle-graph %s: ", cg_version());
    print_row(&out, head, strlen(head),
              "explain Candle models, by their sources and by recorded runs", width);
    print_format(&out, "\nusage: %s COMMAND ...\n\nCommands\n", from->program);
    commands(&out, STATUS_READY, width);
    if (is_anything(STATUS_PLANNED)) {
        print_text(&out, "\nComing, not in this version\n");
        commands(&out, STATUS_PLANNED, width);
    }
    options(&out, IN_DOCUMENTS, GROUP_SHARED, width);
    print_text(&out, "\nExit status\n");
    for (size_t i = 0; (code = help_exit_status(i, &text)) != NULL; i++) {
        (void)snprintf(head, sizeof head, "  %s", code);
        print_row(&out, head, 7, text, width);
    }
    print_format(&out,
                 "\n%s check                  start here with a crate,\n"
                 "%s overview RUN           with a recorded run\n"
                 "%s help query             one command in detail\n",
                 from->program, from->program, from->program);
    return print_close(&out);
}

static void kinds(printer *out, size_t width)
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

    print_text(out, "\n");
    print_wrapped(out,
                  "Kinds for a run (g: only for valid, complete captures; l: label filters; "
                  "p: paging)",
                  0, width);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char head[60];

        (void)snprintf(head, sizeof head, "  %-21s %c%c%c", rows[i].word,
                       rows[i].needs_graph ? 'g' : ' ', rows[i].takes_filter ? 'l' : ' ',
                       rows[i].is_collection ? 'p' : ' ');
        print_row(out, head, 29, rows[i].about, width);
    }
    print_text(out, "\nKinds for a crate\n");
    print_wrapped(out, print_list_of(cg_scan_query_words()).at, 2, width);
}

static void examples(printer *out, const char *program, int command, size_t width)
{
    const char *about;
    const char *line;

    for (size_t i = 0; (line = help_example(command, i, &about)) != NULL; i++) {
        print_text(out, i == 0 ? "\nExamples\n" : "");
        print_format(out, "  %s %s\n", program, line);
        print_wrapped(out, about, 6, width);
    }
}

/* Those of a crate are seldom in the way, and its help is long: their names, and where to read. */
static void name_ceilings(printer *out, const char *command, size_t width)
{
    printer line;

    print_text(out, "\nCeilings\n");
    print_open(&line, out->sink);
    print_format(&line, "%s; their values: man candle-graph-%s",
                 print_list_of(args_ceiling_words).at, command);
    print_wrapped(out, line.at, 2, width);
}

static void ceilings(printer *out, size_t width)
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
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char head[60];

        (void)snprintf(head, sizeof head, "  %-20s %12llu", rows[i].word,
                       (unsigned long long)rows[i].value);
        print_row(out, head, 37, rows[i].why, width);
    }
}

cg_code help_write_command(const cli_io *io, const cli_args *from, int command)
{
    const command_row *row = &command_rows[command];
    uint32_t bit = UINT32_C(1) << command;
    size_t width = help_width(io);
    char head[60];
    printer out;

    print_open(&out, io->out);
    (void)snprintf(head, sizeof head, "%s %s: ", from->program, row->word);
    print_row(&out, head, strlen(head), row->about, width);
    print_text(&out, "\n");
    help_write_usage(&out, from->program, command, width);
    if (row->status == STATUS_PLANNED) {
        print_text(&out, "\nThis command is not in this version yet.\n");
        return print_close(&out);
    }
    if (row->more[0] != '\0') {
        print_text(&out, "\n");
        print_wrapped(&out, row->more, 0, width);
    }
    examples(&out, from->program, command, width);
    if (command == COMMAND_QUERY)
        kinds(&out, width);
    for (enum group group = GROUP_OWN; group < GROUP_COUNT; group++)
        options(&out, bit, group, width);
    if ((bit & IN_DOCUMENTS) != 0 && row->plane == PLANE_STATIC)
        name_ceilings(&out, row->word, width);
    else if ((bit & IN_DOCUMENTS) != 0 && command != COMMAND_PROTOCOL)
        ceilings(&out, width);
    return print_close(&out);
}
