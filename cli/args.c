#include "args.h"

#include <stdarg.h>

#include "help.h"

#define EXIT_USAGE 2

const command_row command_rows[COMMAND_COUNT] = {
#define COMMAND(name, word, status, plane, argument, must, synopsis, about, more)                  \
    [COMMAND_##name] = {(word), STATUS_##status, PLANE_##plane, (argument),                        \
                        (must), (synopsis),      (about),       (more)},
#include "commands.def"
};

#define TYPE_FLAG         VALUE_FLAG, NULL
#define TYPE_FILE         VALUE_FILE, NULL
#define TYPE_FILES        VALUE_FILES, NULL
#define TYPE_TEXT         VALUE_TEXT, NULL
#define TYPE_TEXTS        VALUE_TEXTS, NULL
#define TYPE_NUMBER       VALUE_NUMBER, NULL
#define TYPE_QUERY        VALUE_QUERY, args_query_words
#define TYPE_CEILING      VALUE_CEILING, args_ceiling_words
#define TYPE_WORDS(words) VALUE_WORDS, words
#define TYPE_MAYBE(words) VALUE_MAYBE, words

const option_row option_rows[OPTION_COUNT] = {
#define OPTION(name, word, letter, value, type, in, status, about)                                 \
    [OPTION_##name] = {(word), (letter), (value), TYPE_##type, (in), STATUS_##status, (about)},
#include "commands.def"
};

const char args_query_words[] =
#define X(name, word, graph, filter, collection, about) word " "
    CG_QUERIES(X)
#undef X
    ;

const char args_ceiling_words[] =
#define X(name, word, value, why) word " "
    CG_LIMITS(X)
#undef X
    ;

static const char command_words[] =
#define COMMAND(name, word, status, plane, argument, must, synopsis, about, more) word " "
#include "commands.def"
    ;

const char *args_variable(const cli_io *io, const char *name)
{
    const char *value = io->variable != NULL ? io->variable(io->context, name) : NULL;

    return value != NULL && *value != '\0' ? value : NULL;
}

uint32_t args_columns(const cli_io *io)
{
    const char *columns = io->is_out_terminal ? args_variable(io, "COLUMNS") : NULL;
    uint32_t width = 0;

    for (; columns != NULL && *columns >= '0' && *columns <= '9' && width < 1000; columns++)
        width = width * 10 + (uint32_t)(*columns - '0');
    if (width == 0 && io->is_out_terminal)
        width = io->width;
    return width > 1000 ? 1000 : width;
}

int args_find_command(const char *word)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(command_rows[i].word, word) == 0)
            return i;
    }
    return -1;
}

static void tell(printer *out, const char *id, const char *format, va_list arguments)
    CG_PRINTF(3, 0);
static void tell(printer *out, const char *id, const char *format, va_list arguments)
{
    char text[1800];

    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        text[0] = '\0';
    print_format(out, "candle-graph: error[%s]: %s\n", id, text);
}

int args_usage(const cli_io *io, const cli_args *from, const char *format, ...)
{
    printer out;
    va_list arguments;

    print_open(&out, io->err);
    va_start(arguments, format);
    tell(&out, "usage", format, arguments);
    va_end(arguments);
    if (from->command < 0) {
        print_format(&out, "usage: %s COMMAND ...\ntry `%s help`\n", from->program, from->program);
    } else {
        help_write_usage(&out, from->program, from->command, help_width(io));
        print_format(&out, "try `%s help %s`\n", from->program, command_rows[from->command].word);
    }
    (void)print_close(&out);
    return EXIT_USAGE;
}

int args_planned(const cli_io *io, const char *format, ...)
{
    printer out;
    va_list arguments;

    print_open(&out, io->err);
    va_start(arguments, format);
    tell(&out, "planned", format, arguments);
    va_end(arguments);
    (void)print_close(&out);
    return cg_code_exit_status(CG_PLANNED);
}

/* The hint of an error: "; did you mean `x`?", or nothing. */
typedef struct hint {
    char at[96];
} hint;

static hint hint_of(const char *word, const char *words, const char *before)
{
    hint ret;
    char near[64];

    ret.at[0] = '\0';
    if (print_nearest(word, words, near, sizeof near))
        (void)snprintf(ret.at, sizeof ret.at, "; did you mean `%s%s`?", before, near);
    return ret;
}

static hint option_hint(const cli_args *self, const char *word)
{
    char words[1536];
    size_t len = 0;

    words[0] = '\0';
    for (size_t i = 0; i < OPTION_COUNT && len < sizeof words - 64; i++) {
        const option_row *row = &option_rows[i];

        if (row->status == STATUS_READY &&
            (self->command < 0 || (row->in >> self->command & 1) != 0))
            len += (size_t)snprintf(words + len, sizeof words - len, "%s ", row->word);
    }
    return hint_of(word, words, "--");
}

static bool read_number(const char *text, uint64_t *ret)
{
    uint64_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        uint64_t digit = (uint64_t)(unsigned char)*text - '0';

        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

/* NAME=VALUE; VALUE may end in K, M or G. Zero would mean "no ceiling" and is refused. */
static enum args_next read_ceiling(const cli_io *io, cli_args *self, const char *text)
{
    char name[64];
    char digits[32];
    size_t size = strcspn(text, "=");
    size_t len;
    uint64_t value;
    uint64_t unit = 1;

    if (text[size] != '=' || size >= sizeof name) {
        args_usage(io, self, "`--ceiling` wants NAME=VALUE, not `%s`; names: %s",
                   print_safe_word(text).at, print_list_of(args_ceiling_words).at);
        return ARGS_USAGE;
    }
    memcpy(name, text, size);
    name[size] = '\0';
    text += size + 1;
    len = strlen(text);
    if (len > 1 && len < sizeof digits) {
        char last = text[len - 1];

        unit = last == 'K' ? 1u << 10 : last == 'M' ? 1u << 20 : last == 'G' ? 1u << 30 : 1;
        len -= unit != 1;
    }
    if (len >= sizeof digits)
        len = sizeof digits - 1;
    memcpy(digits, text, len);
    digits[len] = '\0';
    if (!read_number(digits, &value) || value == 0 || value > UINT64_MAX / unit) {
        args_usage(io, self, "`%s` is no ceiling: a whole number above zero, K, M or G may follow",
                   print_safe_word(text).at);
        return ARGS_USAGE;
    }
    if (!cg_limits_set(&self->limits, name, value * unit)) {
        hint near = hint_of(name, args_ceiling_words, "");

        args_usage(io, self, "there is no ceiling `%s`%s names: %s", print_safe_word(name).at,
                   near.at[0] != '\0' ? near.at : ";", print_list_of(args_ceiling_words).at);
        return ARGS_USAGE;
    }
    return ARGS_RUN;
}

/* One value or a list? Known once the command is. */
static bool is_list(const cli_args *self, const option_row *row)
{
    return row->type == VALUE_TEXTS ||
           (row->type == VALUE_FILES && self->command != COMMAND_REPORT);
}

/* Where the values of an option end among all files. */
static size_t files_end(const cli_args *self, enum option option)
{
    size_t end = 0;

    for (size_t i = 0; i <= (size_t)option; i++)
        end += self->file_count[i];
    return end;
}

/*
 * Files are gathered at the front of argv, where only words stand that have been read: every
 * value takes a word of its own.
 */
static void keep_file(cli_args *self, enum option option, const char *value)
{
    size_t place = files_end(self, option);
    size_t count = files_end(self, OPTION_COUNT - 1);

    memmove(self->files + place + 1, self->files + place, (count - place) * sizeof *self->files);
    memcpy(&self->files[place], &value, sizeof value);
    self->file_count[option]++;
}

/* Of commands that read both, what runs have: label filters, validity, exports. */
#define RUN_OPTIONS                                                                                \
    (BIT(LABEL) | BIT(LABEL_PREFIX) | BIT(REQUIRE_VALID) | BIT(BUNDLE) | BIT(NSIGHT_DIR) |         \
     BIT(AGAINST))
#define BIT(name) (UINT64_C(1) << OPTION_##name)
/* What both have. */
#define SHARED_OPTIONS                                                                             \
    (BIT(KIND) | BIT(LIMIT) | BIT(OFFSET) | BIT(ALL) | BIT(OUTPUT) | BIT(FORMAT) | BIT(COLOR) |    \
     BIT(WIDTH) | BIT(ROWS) | BIT(CEILING) | BIT(HELP) | BIT(VERSION))

static const char *first_of(uint64_t options)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if ((options >> i & 1) != 0)
            return option_rows[i].word;
    }
    return NULL;
}

const char *args_crate_option(const cli_args *self)
{
    return first_of(self->given & ~(RUN_OPTIONS | SHARED_OPTIONS));
}

const char *args_run_option(const cli_args *self)
{
    return first_of(self->given & RUN_OPTIONS);
}

const char *const *args_files(const cli_args *self, enum option option, size_t *ret_count)
{
    *ret_count = self->file_count[option];
    return (const char *const *)(self->files + files_end(self, option) - *ret_count);
}

static enum args_next take_value(const cli_io *io, cli_args *self, enum option option,
                                 const char *value)
{
    const option_row *row = &option_rows[option];

    if (args_has(self, option) && row->type != VALUE_CEILING && !is_list(self, row)) {
        args_usage(io, self, "`--%s` is given twice", row->word);
        return ARGS_USAGE;
    }
    self->given |= UINT64_C(1) << option;
    self->value[option] = value;
    switch ((enum value_type)row->type) {
    case VALUE_FLAG:
    case VALUE_TEXT:
    case VALUE_QUERY: return ARGS_RUN;
    case VALUE_TEXTS: keep_file(self, option, value); return ARGS_RUN;
    case VALUE_FILE:
    case VALUE_FILES:
        if (*value != '\0') {
            if (row->type == VALUE_FILES)
                keep_file(self, option, value);
            return ARGS_RUN;
        }
        args_usage(io, self, "`--%s` needs a %s, not an empty text", row->word, row->value);
        return ARGS_USAGE;
    case VALUE_NUMBER:
        if (read_number(value, &self->number[option]))
            return ARGS_RUN;
        args_usage(io, self, "`--%s` wants a whole number, not `%s`", row->word,
                   print_safe_word(value).at);
        return ARGS_USAGE;
    case VALUE_CEILING: return read_ceiling(io, self, value);
    case VALUE_MAYBE:
        if (value == NULL)
            return ARGS_RUN;
        /* fallthrough */
    case VALUE_WORDS:
        if (print_has_word(row->words, value))
            return ARGS_RUN;
        args_usage(io, self, "`--%s` wants one of: %s; not `%s`%s", row->word,
                   print_list_of(row->words).at, print_safe_word(value).at,
                   hint_of(value, row->words, "").at);
        return ARGS_USAGE;
    }
    return ARGS_RUN;
}

static int find_long(const char *word, size_t len)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (strlen(option_rows[i].word) == len && memcmp(option_rows[i].word, word, len) == 0)
            return i;
    }
    return -1;
}

static int find_letter(char letter)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_rows[i].letter == letter && letter != '\0')
            return i;
    }
    return -1;
}

static enum args_next found(enum option option)
{
    return option == OPTION_HELP ? ARGS_HELP : option == OPTION_VERSION ? ARGS_VERSION : ARGS_RUN;
}

/* The value of an option that stands in the next argument. */
static const char *next_value(const cli_io *io, const cli_args *self, int argc, char **argv,
                              int *at, const option_row *row)
{
    const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;

    if (next == NULL || (next[0] == '-' && next[1] != '\0')) {
        args_usage(io, self, "`--%s` needs a value%s", row->word,
                   next != NULL ? "; one that begins with a dash is written behind `=`" : "");
        return NULL;
    }
    *at += 1;
    return next;
}

/* What follows the first value of a list, up to the next option. */
static enum args_next take_more(const cli_io *io, cli_args *self, int argc, char **argv, int *at,
                                enum option option)
{
    enum args_next next = ARGS_RUN;

    while (next == ARGS_RUN && *at + 1 < argc &&
           (argv[*at + 1][0] != '-' || argv[*at + 1][1] == '\0')) {
        *at += 1;
        next = take_value(io, self, option, argv[*at]);
    }
    return next;
}

static enum args_next read_long(const cli_io *io, cli_args *self, int argc, char **argv, int *at)
{
    const char *word = argv[*at] + 2;
    size_t len = strcspn(word, "=");
    int option = find_long(word, len);
    const option_row *row;
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    enum args_next next;

    if (option < 0) {
        char name[64];

        (void)snprintf(name, sizeof name, "%.*s", (int)(len < 60 ? len : 60), word);
        args_usage(io, self, "unknown option `--%s`%s", print_safe_word(name).at,
                   option_hint(self, name).at);
        return ARGS_USAGE;
    }
    row = &option_rows[option];
    if (row->type == VALUE_FLAG) {
        if (value != NULL) {
            args_usage(io, self, "`--%s` takes no value", row->word);
            return ARGS_USAGE;
        }
        if (found((enum option)option) != ARGS_RUN)
            return found((enum option)option);
    } else if (value == NULL && row->type != VALUE_MAYBE) {
        value = next_value(io, self, argc, argv, at, row);
        if (value == NULL)
            return ARGS_USAGE;
        next = take_value(io, self, (enum option)option, value);
        return next == ARGS_RUN && row->type == VALUE_FILES && is_list(self, row)
                   ? take_more(io, self, argc, argv, at, (enum option)option)
                   : next;
    }
    return take_value(io, self, (enum option)option, value);
}

static enum args_next read_letters(const cli_io *io, cli_args *self, int argc, char **argv, int *at)
{
    const char *word = argv[*at] + 1;

    while (*word != '\0') {
        int option = find_letter(*word);
        const option_row *row;
        const char *value;

        if (option < 0) {
            args_usage(io, self, "unknown option `%s`", print_safe_word(argv[*at]).at);
            return ARGS_USAGE;
        }
        row = &option_rows[option];
        if (row->type == VALUE_FLAG)
            return found((enum option)option); /* both letters of this kind end the reading */
        if (word[1] == '\0')
            value = next_value(io, self, argc, argv, at, row);
        else
            value = word[1] == '=' ? word + 2 : word + 1;
        return value == NULL ? ARGS_USAGE : take_value(io, self, (enum option)option, value);
    }
    return ARGS_RUN;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text);
    size_t size = strlen(end);

    return len >= size && memcmp(text + len - size, end, size) == 0;
}

bool args_is_missing(cg_code code, const cg_err *err)
{
    return code == CG_NOT_FOUND && err->problem != NULL &&
           strcmp(err->problem, "input-missing") == 0;
}

/* The first word is no command: perhaps it is what a command wants, or the old form. */
static enum args_next no_such_command(const cli_io *io, const cg_env *env, cli_args *self,
                                      const char *word)
{
    cg_input_kind kind = 0;
    cg_err err;
    cg_code code;

    memset(&err, 0, sizeof err);
    code = cg_input_kind_of(env, word, &kind, &err);
    if (!args_is_missing(code, &err)) {
        print_safe safe = print_safe_word(word);

        if (code != CG_OK || kind == CG_INPUT_CRATE || ends_with(word, ".rs")) {
            self->command = COMMAND_SCAN;
            self->argument = word;
            return ARGS_RUN;
        }
        args_usage(io, self, "`%s` is no command; did you mean `%s overview %s`?", safe.at,
                   self->program, safe.at);
        return ARGS_USAGE;
    }
    args_usage(io, self, "unknown command `%s`%s", print_safe_word(word).at,
               hint_of(word, command_words, "").at);
    return ARGS_USAGE;
}

/* Help or version behind a command that is not there yet? */
static enum args_next planned_command(const cli_io *io, const cli_args *self, int argc, char **argv,
                                      int at)
{
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0)
            return ARGS_HELP;
    }
    args_planned(io, "`%s` is not in this version yet; `%s help` lists what is",
                 command_rows[self->command].word, self->program);
    return ARGS_PLANNED;
}

/* An option that stands for the positional, where that is a crate. */
static bool names_crate(const cli_args *self)
{
    return self->command != COMMAND_AUDIT &&
           (args_has(self, OPTION_PATH) || args_has(self, OPTION_MANIFEST_PATH));
}

/* Everything was read; does it fit together? */
static enum args_next check(const cli_io *io, const cli_args *self)
{
    const command_row *row;

    if (self->command < 0) {
        args_usage(io, self, "no command was given");
        return ARGS_USAGE;
    }
    row = &command_rows[self->command];
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!args_has(self, (enum option)i))
            continue;
        if ((option_rows[i].in >> self->command & 1) == 0) {
            args_usage(io, self, "`%s` has no option `--%s`", row->word, option_rows[i].word);
            return ARGS_USAGE;
        }
        if (option_rows[i].status == STATUS_PLANNED) {
            args_planned(io, "`--%s` is not in this version yet: the model is that of the sources",
                         option_rows[i].word);
            return ARGS_PLANNED;
        }
    }
    if (row->must && self->argument == NULL && !names_crate(self)) {
        args_usage(io, self, "`%s` needs %s", row->word, row->argument);
        return ARGS_USAGE;
    }
    return ARGS_RUN;
}

static enum args_next take_word(const cli_io *io, const cg_env *env, cli_args *self, int argc,
                                char **argv, int at)
{
    const char *word = argv[at];
    const command_row *row;

    if (self->command < 0) {
        self->command = args_find_command(word);
        if (self->command < 0)
            return no_such_command(io, env, self, word);
        if (command_rows[self->command].status == STATUS_PLANNED)
            return planned_command(io, self, argc, argv, at + 1);
        return ARGS_RUN;
    }
    row = &command_rows[self->command];
    if (row->argument != NULL && self->argument == NULL) {
        if (*word == '\0' && self->command == COMMAND_AUDIT) {
            args_usage(io, self, "`audit` needs a %s, not an empty text", row->argument);
            return ARGS_USAGE;
        }
        self->argument = word;
        return ARGS_RUN;
    }
    if ((self->command == COMMAND_QUERY || self->command == COMMAND_AUDIT) &&
        self->second == NULL) {
        self->second = word;
        return ARGS_RUN;
    }
    args_usage(io, self, "one word too many: `%s`", print_safe_word(word).at);
    return ARGS_USAGE;
}

static void start(cli_args *self, const char *name)
{
    const char *slash = name != NULL ? strrchr(name, '/') : NULL;
    const char *base = slash != NULL ? slash + 1 : name != NULL ? name : "";

    memset(self, 0, sizeof *self);
    self->is_cargo = strncmp(base, "cargo-", 6) == 0;
    self->program = self->is_cargo ? "cargo candle-graph" : "candle-graph";
    self->command = -1;
    self->limits.size = sizeof self->limits;
    cg_limits_default(&self->limits);
}

enum args_next args_read(const cli_io *io, const cg_env *env, int argc, char **argv, cli_args *ret)
{
    bool is_ended = false;
    int at = 1;

    start(ret, argc > 0 ? argv[0] : NULL);
    ret->files = argv + 1;
    if (ret->is_cargo && argc > 1 && strcmp(argv[1], "candle-graph") == 0)
        at = 2;
    for (; at < argc; at++) {
        enum args_next next;

        if (!is_ended && strcmp(argv[at], "--") == 0) {
            is_ended = true;
            continue;
        }
        if (is_ended || argv[at][0] != '-' || argv[at][1] == '\0')
            next = take_word(io, env, ret, argc, argv, at);
        else if (argv[at][1] != '-')
            next = read_letters(io, ret, argc, argv, &at);
        else
            next = read_long(io, ret, argc, argv, &at);
        if (next != ARGS_RUN)
            return next;
    }
    return check(io, ret);
}
