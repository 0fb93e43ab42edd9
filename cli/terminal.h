/*
 * terminal - the process as it really is: descriptors, signals, the terminal.
 * The one file of cli/ that knows the kernel.
 */
#ifndef CG_CLI_TERMINAL_H
#define CG_CLI_TERMINAL_H

#include "cli.h"

/*
 * Make descriptors 0 to 2 safe to use, ignore SIGPIPE, note SIGINT and
 * SIGTERM, and describe all that. To be called once, first of all.
 */
void terminal_open(cli_io *ret);
/* Close standard output, where a full disk may show last; the exit status to end with. */
int terminal_close(int status);

#endif
