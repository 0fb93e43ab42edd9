#include "base/os_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_BLOCK   ((size_t)32 << 10)
#define RUN_POLL_MS 50

typedef struct run_pipes {
    int output[2];
    int errors[2];
} run_pipes;

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static void close_pipes(run_pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        close_end(&pipes->output[i]);
        close_end(&pipes->errors[i]);
    }
}

static cg_code cannot_run(const char *program, int number, cg_err *reterr)
{
    char room[128];
    cg_str name = str_from(program);

    return cg_fail(reterr, PROBLEM_RUN, "`%.*s` cannot be run: %s", ERR_STR(name),
                   strerror_r(number, room, sizeof room));
}

/* In a process group of its own, so that what it started can be killed with it. */
static int spawn(const os_command *command, const run_pipes *pipes, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all;
    sigset_t none;
    int number = posix_spawn_file_actions_init(&actions);

    if (number != 0)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (number != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return number;
    }
    sigemptyset(&none);
    sigfillset(&all);
    number = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (number == 0)
        number = posix_spawn_file_actions_adddup2(&actions, pipes->output[1], STDOUT_FILENO);
    if (number == 0)
        number = posix_spawn_file_actions_adddup2(&actions, pipes->errors[1], STDERR_FILENO);
    if (number == 0)
        number = posix_spawn_file_actions_addchdir_np(&actions, command->directory);
    if (number == 0)
        number = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (number == 0)
        number = posix_spawnattr_setsigmask(&attributes, &none);
    if (number == 0)
        number = posix_spawnattr_setsigdefault(&attributes, &all);
    if (number == 0)
        number = posix_spawn(ret, command->program, &actions, &attributes,
                             (char *const *)(uintptr_t)command->arguments,
                             (char *const *)(uintptr_t)command->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

/* What waits in one pipe; its end is closed when the program closed it. */
static void take(int *end, buf *to)
{
    char *room = buf_room(to, RUN_BLOCK);
    char rest[4096];
    ssize_t got;

    do
        got = read(*end, room != NULL ? room : rest, room != NULL ? RUN_BLOCK : sizeof rest);
    while (got < 0 && errno == EINTR);
    if (got > 0 && room != NULL)
        to->len += (size_t)got;
    if (got == 0 || (got < 0 && errno != EAGAIN))
        close_end(end);
}

/* Read both pipes to their ends. */
static cg_code collect(const cg_env *env, const os_command *command, run_pipes *pipes, buf *output,
                       buf *errors, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    uint64_t start = os->monotonic_ns(os->context);
    cg_str name = str_from(command->program);

    while (pipes->output[0] >= 0 || pipes->errors[0] >= 0) {
        struct pollfd waiting[2] = {{.fd = pipes->output[0], .events = POLLIN},
                                    {.fd = pipes->errors[0], .events = POLLIN}};
        int ready = poll(waiting, 2, RUN_POLL_MS);

        if (ready < 0 && errno != EINTR)
            return cannot_run(command->program, errno, reterr);
        if (ready > 0 && waiting[0].revents != 0)
            take(&pipes->output[0], output);
        if (ready > 0 && waiting[1].revents != 0)
            take(&pipes->errors[0], errors);
        if (output->failed)
            return cg_fail(reterr, PROBLEM_RUN, "`%.*s` writes too much", ERR_STR(name));
        if (os->monotonic_ns(os->context) - start > command->timeout_ns)
            return cg_fail(reterr, PROBLEM_RUN, "`%.*s` takes too long", ERR_STR(name));
        if (!env_progress(env, "waiting for cargo", 0, 0))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped while a program was running");
    }
    return CG_OK;
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Has the child ended? It stays a zombie, so that its process group is not another's meanwhile. */
static bool has_ended(pid_t child)
{
    siginfo_t about = {0};
    int result;

    do
        result = waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT);
    while (result != 0 && errno == EINTR);
    return result != 0 || about.si_pid == child;
}

/* It closed its output and may still be busy: wait as long as it may take, then kill it. */
static cg_code reap(const cg_env *env, const os_command *command, pid_t child, cg_code code,
                    int *ret_status, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    uint64_t start = os->monotonic_ns(os->context);
    struct timespec pause = {0, 2000000};
    cg_str name = str_from(command->program);
    int status = 0;
    pid_t ended;

    while (code == CG_OK && !has_ended(child)) {
        if (os->monotonic_ns(os->context) - start > command->timeout_ns)
            code = cg_fail(reterr, PROBLEM_RUN, "`%.*s` takes too long", ERR_STR(name));
        else
            nanosleep(&pause, NULL);
    }
    kill(-child, SIGKILL);
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    *ret_status = status_of(status);
    return code;
}

cg_code os_run(const cg_env *env, const os_command *command, buf *output, buf *errors,
               int *ret_status, cg_err *reterr)
{
    run_pipes pipes = {{-1, -1}, {-1, -1}};
    int status = 0;
    pid_t child = 0;
    cg_code code;
    int number = 0;

    if (pipe2(pipes.output, O_CLOEXEC | O_NONBLOCK) != 0 ||
        pipe2(pipes.errors, O_CLOEXEC | O_NONBLOCK) != 0)
        number = errno;
    /* The program's own ends wait as everybody expects; the flag is of the open file, not ours. */
    if (number == 0 &&
        (fcntl(pipes.output[1], F_SETFL, 0) != 0 || fcntl(pipes.errors[1], F_SETFL, 0) != 0))
        number = errno;
    if (number == 0)
        number = spawn(command, &pipes, &child);
    if (number != 0) {
        close_pipes(&pipes);
        return cannot_run(command->program, number, reterr);
    }
    close_end(&pipes.output[1]);
    close_end(&pipes.errors[1]);
    code = collect(env, command, &pipes, output, errors, reterr);
    close_pipes(&pipes);
    code = reap(env, command, child, code, &status, reterr);
    if (code == CG_OK)
        *ret_status = status;
    return code;
}

cg_str os_variable(const char *name)
{
    cg_str text = str_from(getenv(name));

    return text.len > 0 ? text : (cg_str){0};
}

cg_code os_real_path(cg_str path, arena *mem, cg_str *ret, cg_err *reterr)
{
    char name[PATH_MAX];
    char real[PATH_MAX];
    char room[128];
    bool is_missing;
    cg_code code;
    int number;

    errno = ENOENT;
    if (path.len >= sizeof name)
        errno = ENAMETOOLONG;
    if (path.len > 0 && path.len < sizeof name && memchr(path.ptr, '\0', path.len) == NULL) {
        memcpy(name, path.ptr, path.len);
        name[path.len] = '\0';
        if (realpath(name, real) != NULL)
            return arena_text(mem, str_from(real), ret) ? CG_OK : err_nomem(reterr);
    }
    number = errno;
    if (number == ENOMEM)
        return err_nomem(reterr);
    is_missing = number == ENOENT || number == ENOTDIR || number == ELOOP || number == ENAMETOOLONG;
    code = cg_fail(reterr, is_missing ? PROBLEM_INPUT_MISSING : PROBLEM_INPUT_UNREADABLE,
                   "cannot be found: %s", strerror_r(number, room, sizeof room));
    err_in_file(reterr, path);
    errno = number;
    return code;
}

bool os_is_program(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}
