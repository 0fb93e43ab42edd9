/* main - the process, wired to cli_run. */
#include "cli.h"
#include "terminal.h"

int main(int argc, char **argv)
{
    cli_io io;
    cg_env env;

    terminal_open(&io);
    memset(&env, 0, sizeof env);
    env.size = sizeof env;
    return terminal_close(cli_run(&io, &env, argc, argv));
}
