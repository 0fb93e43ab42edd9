/*
 * launch - run a program and say what it cost: CPU seconds, wall seconds and peak bytes, on the
 * standard error of this program; what the other prints on its standard output is thrown away.
 *
 * A launcher of its own, since the kernel counts for a program's peak what was there before it was
 * started: with a large program in this place, as a Python is, small peaks could not be seen.
 *
 * usage: bench_launch PROGRAM [ARGUMENT]...        the exit status is the program's
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double wall_s(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    struct rusage usage = {0};
    double start = wall_s();
    int status = 0;
    pid_t child;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_launch PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 &&
            dup2(nothing, STDERR_FILENO) >= 0)
            execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child ||
        getrusage(RUSAGE_CHILDREN, &usage) != 0) {
        fprintf(stderr, "bench_launch: nothing can be started\n");
        return 126;
    }
    fprintf(stderr, "%.6f %.6f %ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime),
            wall_s() - start, usage.ru_maxrss * 1024L);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
