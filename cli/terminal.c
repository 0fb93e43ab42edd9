#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_signal;
static int out_error;

static void on_stop(int signal)
{
    stop_signal = signal;
}

static cg_code write_all(int file, const char *bytes, size_t count, int *ret_error)
{
    while (count > 0) {
        ssize_t size = write(file, bytes, count);

        if (size >= 0) {
            bytes += size;
            count -= (size_t)size;
        } else if (errno != EINTR) {
            *ret_error = errno;
            return errno == EPIPE ? CG_CLOSED : CG_OUTPUT;
        } else if (stop_signal != 0) {
            return CG_CLOSED; /* the reader may never go on */
        }
    }
    return CG_OK;
}

static cg_code write_out(void *context, const char *bytes, size_t count)
{
    (void)context;
    return write_all(STDOUT_FILENO, bytes, count, &out_error);
}

static cg_code write_err(void *context, const char *bytes, size_t count)
{
    int error;

    (void)context;
    return write_all(STDERR_FILENO, bytes, count, &error);
}

static const char *variable(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

static const char *out_problem(void *context)
{
    (void)context;
    return out_error != 0 ? strerror(out_error) : NULL;
}

static uint64_t now_ns(void *context)
{
    struct timespec now;

    (void)context;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static bool is_stopped(void *context)
{
    (void)context;
    return stop_signal != 0;
}

/*
 * A closed descriptor would be handed to the next file that is opened, and a
 * message would end in it. The stand-in cannot be written, so output to it
 * fails as it should.
 */
static void hold_descriptors(void)
{
    int file;

    do {
        file = open("/dev/null", O_RDONLY);
    } while (file >= 0 && file <= STDERR_FILENO);
    if (file > STDERR_FILENO)
        (void)close(file);
}

static void handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(signal, &action, NULL);
}

/* Stop cleanly at the first `signal`; who asks a second time does not want to wait. */
static void handle_stop(int signal)
{
    struct sigaction before;

    /* What the caller had ignored stays so: nohup, a job in the background. */
    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
        return;
    handle(signal, on_stop, (int)SA_RESETHAND);
}

void terminal_open(cli_io *ret)
{
    struct winsize size;

    memset(ret, 0, sizeof *ret);
    hold_descriptors();
    handle(SIGPIPE, SIG_IGN, 0);
    handle(SIGXFSZ, SIG_IGN, 0); /* a file that may not grow is a failed write */
    handle_stop(SIGHUP);
    handle_stop(SIGINT);
    handle_stop(SIGTERM);
    ret->out.write = write_out;
    ret->err.write = write_err;
    ret->is_out_terminal = isatty(STDOUT_FILENO) == 1;
    ret->is_err_terminal = isatty(STDERR_FILENO) == 1;
    if (ret->is_out_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        ret->width = size.ws_col;
    ret->variable = variable;
    ret->out_problem = out_problem;
    ret->now_ns = now_ns;
    ret->is_stopped = is_stopped;
}

int terminal_close(int status)
{
    static const char text[] = "candle-graph: error[output]: standard output could not be closed; "
                               "check free space and permissions\n";

    if (close(STDOUT_FILENO) == 0 || errno == EINTR || status != 0)
        return status;
    (void)write_err(NULL, text, sizeof text - 1);
    return cg_code_exit_status(CG_OUTPUT);
}
