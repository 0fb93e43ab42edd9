/*
 * args - the command line, read against the one table of commands and options.
 *
 * Options stand before or after the positional; `--word=VALUE`, `--word VALUE`,
 * `-oVALUE`, `-o VALUE`; `--` ends them. Whatever is wrong is told on `err` as
 * one line, the usage, and where to read more.
 */
#ifndef CG_CLI_ARGS_H
#define CG_CLI_ARGS_H

#include "cli.h"

enum command {
#define COMMAND(name, word, status, plane, argument, must, synopsis, about, more) COMMAND_##name,
#include "commands.def"
    COMMAND_COUNT
};

enum option {
#define OPTION(name, word, letter, value, type, in, status, about) OPTION_##name,
#include "commands.def"
    OPTION_COUNT
};

_Static_assert(OPTION_COUNT <= 64, "cli_args.given has a bit for each");

/* Sets of commands. */
#define IN(name)   (UINT32_C(1) << COMMAND_##name)
#define IN_ALL     UINT32_MAX
#define IN_COHORTS (IN(COMPARE) | IN(CAMPAIGN_STATUS) | IN(SERIES))
#define IN_DOCUMENTS                                                                               \
    (IN(IMPORT) | IN(SUMMARY) | IN(QUERY) | IN(OVERVIEW) | IN(PROTOCOL) | IN(REPORT) |             \
     IN(VERIFY) | IN(RECOVER) | IN_COHORTS | IN(CHECK) | IN(TREE) | IN(AUDIT) | IN(PROFILE) |      \
     IN(EXPLAIN) | IN(SCAN))
/* Those that read crates, some of them runs too. */
#define IN_CRATES                                                                                  \
    (IN(CHECK) | IN(REPORT) | IN(QUERY) | IN(AUDIT) | IN(TREE) | IN(PROFILE) | IN(VIEW) |          \
     IN(SUMMARY) | IN(OVERVIEW) | IN(SCAN))
#define IN_CHECKPOINTS                                                                             \
    (IN(CHECK) | IN(REPORT) | IN(QUERY) | IN(AUDIT) | IN(TREE) | IN(VIEW) | IN(SCAN))

enum status { STATUS_READY, STATUS_PLANNED, STATUS_HIDDEN };
enum plane { PLANE_EXECUTION, PLANE_STATIC, PLANE_BOTH, PLANE_LOCAL };
enum value_type {
    VALUE_FLAG,
    VALUE_FILE,
    VALUE_FILES, /* one or more behind one word, may be repeated; one only with `report` */
    VALUE_TEXT,
    VALUE_TEXTS, /* may be repeated, one value each */
    VALUE_NUMBER,
    VALUE_QUERY,
    VALUE_CEILING,
    VALUE_WORDS,
    VALUE_MAYBE /* a flag, or one of the words behind `=` */
};

typedef struct command_row {
    const char *word;
    uint8_t status;
    uint8_t plane;
    const char *argument;
    bool must;
    const char *synopsis;
    const char *about;
    const char *more;
} command_row;

typedef struct option_row {
    const char *word;
    char letter;
    const char *value;
    uint8_t type;
    const char *words; /* with VALUE_WORDS, separated by blanks */
    uint32_t in;
    uint8_t status;
    const char *about;
} option_row;

extern const command_row command_rows[COMMAND_COUNT];
extern const option_row option_rows[OPTION_COUNT];

/* All words of something, separated by blanks, for hints, help and completions. */
extern const char args_query_words[];
extern const char args_ceiling_words[];

typedef struct cli_args {
    bool is_cargo;        /* called as cargo-candle-graph */
    const char *program;  /* as the user types it: `candle-graph` or `cargo candle-graph` */
    int command;          /* enum command, -1 = none was given */
    const char *argument; /* the positional, NULL = none */
    const char *second;   /* `query KIND CRATE`, `audit DIR CRATE`; NULL = none */
    uint64_t given;       /* bit per option */
    char **files;         /* values of VALUE_FILES and VALUE_TEXTS, option by option; in argv */
    size_t file_count[OPTION_COUNT];
    const char *value[OPTION_COUNT];
    uint64_t number[OPTION_COUNT];
    cg_limits limits;
} cli_args;

enum args_next { ARGS_RUN, ARGS_HELP, ARGS_VERSION, ARGS_USAGE, ARGS_PLANNED };

/* ARGS_USAGE and ARGS_PLANNED have been told on io->err; env serves to look at paths. */
enum args_next args_read(const cli_io *io, const cg_env *env, int argc, char **argv, cli_args *ret);

static inline bool args_has(const cli_args *self, enum option option)
{
    return (self->given >> option & 1) != 0;
}

/* The values of a VALUE_FILES or VALUE_TEXTS option in the order they were given. */
const char *const *args_files(const cli_args *self, enum option option, size_t *ret_count);

/* The first option given that only crates have, or only runs; NULL: none. */
const char *args_crate_option(const cli_args *self);
const char *args_run_option(const cli_args *self);

/* Of the environment; NULL when it is unset or empty. */
const char *args_variable(const cli_io *io, const char *name);
/* Cells of a line of the terminal that standard output is; 0: no terminal, or not known. */
uint32_t args_columns(const cli_io *io);

int args_find_command(const char *word);
/* Does the failure of looking at a path say that nothing is there? */
bool args_is_missing(cg_code code, const cg_err *err);
/* One line of error, the usage of the command, where to read more. Returns the exit status 2. */
int args_usage(const cli_io *io, const cli_args *from, const char *format, ...) CG_PRINTF(3, 4);
/* One line: not in this version. Returns the exit status 2. */
int args_planned(const cli_io *io, const char *format, ...) CG_PRINTF(2, 3);

#endif
