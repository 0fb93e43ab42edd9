#include "base/os_parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct shift {
    void (*work)(void *context, unsigned worker, size_t item);
    void *context;
    size_t count;
    atomic_size_t next;
} shift;

typedef struct worker {
    shift *shift;
    unsigned number;
    pthread_t thread;
    bool is_started;
} worker;

unsigned os_parallel_width(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (online < 1)
        return 1;
    return online > OS_PARALLEL_MOST ? OS_PARALLEL_MOST : (unsigned)online;
}

static void *toil(void *context)
{
    worker *self = context;

    for (;;) {
        size_t item = atomic_fetch_add(&self->shift->next, 1);

        if (item >= self->shift->count)
            return NULL;
        self->shift->work(self->shift->context, self->number, item);
    }
}

/* Signals stay with the threads of the program: ours take none. */
static void start(worker *self)
{
    sigset_t all;
    sigset_t before;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    self->is_started = pthread_create(&self->thread, NULL, toil, self) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void os_parallel(unsigned workers, size_t count,
                 void (*work)(void *context, unsigned worker, size_t item), void *context)
{
    worker all[OS_PARALLEL_MOST] = {{0}};
    shift shared = {.work = work, .context = context, .count = count};

    atomic_init(&shared.next, 0);
    if (workers > OS_PARALLEL_MOST)
        workers = OS_PARALLEL_MOST;
    for (unsigned i = 0; i < workers; i++) {
        all[i].shift = &shared;
        all[i].number = i;
        if (i > 0 && i < count)
            start(&all[i]);
    }
    if (workers > 0)
        toil(&all[0]);
    for (unsigned i = 1; i < workers; i++) {
        if (all[i].is_started)
            pthread_join(all[i].thread, NULL);
    }
}
