/*
 * help - what the table of commands looks like for a reader: help pages,
 * manual pages (roff), completion scripts.
 */
#ifndef CG_CLI_HELP_H
#define CG_CLI_HELP_H

#include "args.h"
#include "print.h"

/* Cells of a line of help: the terminal's, 72 to 100 of them; 92 where there is none. */
size_t help_width(const cli_io *io);
/* `usage: candle-graph COMMAND ...`, a line for each way to call it. */
void help_write_usage(printer *out, const char *program, int command, size_t width);
/* The list of commands, with what they share. */
cg_code help_write_all(const cli_io *io, const cli_args *from);
/* One command. */
cg_code help_write_command(const cli_io *io, const cli_args *from, int command);
/* candle-graph(1), or candle-graph-COMMAND(1). */
cg_code help_write_man(cg_sink out, int command);
/* What an option is for, in the words for commands of `in`. */
const char *help_about(const option_row *row, uint32_t in);
/* Line and meaning of example `index` of a command; NULL at the end. */
const char *help_example(int command, size_t index, const char **ret_text);
/* Exit status and meaning of row `index`; NULL at the end. */
const char *help_exit_status(size_t index, const char **ret_text);

typedef cg_code help_completions(cg_sink out);
help_completions help_write_bash;
help_completions help_write_zsh;
help_completions help_write_fish;

#endif
