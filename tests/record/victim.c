/*
 * victim - a program that records until something happens to it.
 *
 *   victim run DIR THREADS HOW    record into DIR/run.jsonl; each thread counts in DIR/progress
 *                                 every record that is finished, after the call returned
 *   victim recover SPOOL OUT      recover, print `records dropped cut` and the open spans
 *
 * HOW: `forever` (somebody kills it), `exit` (_exit(37) after some milliseconds), `abort`,
 * `full` (files may not grow beyond 1 MiB: finish then fails, the status is 41),
 * `drop` (the same with a dropping ring), `done` (a few thousand records each, finish, status 0).
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "candlegraph/record.h"

#define THREADS_MOST 64
#define RING_BYTES   (64u << 10)
#define DISK_BYTES   (1u << 20)
#define BRISK_TURNS  2048u
#define TURN_BYTES   64u /* the least that one turn of a worker leaves in its ring */

typedef struct progress {
    _Atomic uint64_t opened; /* cg_record_open returned */
    _Atomic uint64_t finished[THREADS_MOST];
} progress;

typedef struct worker {
    cg_record *session;
    progress *shared;
    unsigned index;
    uint64_t least; /* records to make, 0 = without end */
} worker;

static _Atomic int stop;

static void pause_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

static void *work(void *argument)
{
    worker *self = argument;
    char text[32];

    snprintf(text, sizeof text, "thread-%u", self->index);
    cg_record_name label = cg_record_intern(self->session, text);
    for (uint64_t i = 1; (self->least == 0 || i <= self->least) && !stop; i++) {
        cg_record_span span = cg_record_span_begin(self->session, label, CG_RECORD_FUNCTION);

        cg_record_scalar(self->session, span, label, (double)i);
        if (i % 997 == 0) {
            snprintf(text, sizeof text, "name-%u-%llu", self->index, (unsigned long long)i);
            cg_record_scalar(self->session, span, cg_record_intern(self->session, text), 1);
        }
        cg_record_span_end(self->session, span);
        atomic_store(&self->shared->finished[self->index], i);
        /* Some go slowly, and all do after a while, or traces get too long to check. */
        if (i % 128 == 0 && i > BRISK_TURNS && self->least == 0) {
            pause_us(2000);
        } else if (i % 128 == 0 && self->index % 2 == 1) {
            pause_us(100);
        } else if (i % 1024 == 0) {
            pause_us(500);
        }
    }
    return NULL;
}

static progress *share(const char *folder)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/progress", folder);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof(progress)) != 0) {
        perror(path);
        exit(2);
    }
    return mmap(NULL, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static uint64_t finished_in_all(const progress *shared, unsigned threads)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < threads; i++) {
        total += atomic_load(&shared->finished[i]);
    }
    return total;
}

/*
 * Until the spool can grow no more, and until more was recorded after that than the rings and one
 * last chunk can hold: then something was dropped, however slow this machine is.
 */
static void wait_for_drops(const char *spool, const progress *shared, unsigned threads)
{
    const uint64_t held = (threads + 1) * (uint64_t)(RING_BYTES / TURN_BYTES);
    struct stat about = {0};

    while (stat(spool, &about) != 0 || about.st_size < (off_t)DISK_BYTES) {
        pause_us(1000);
    }
    const uint64_t before = finished_in_all(shared, threads);
    while (finished_in_all(shared, threads) <= before + held) {
        pause_us(1000);
    }
}

static int run(const char *folder, unsigned threads, const char *how)
{
    char path[4096];
    cg_record_run about;
    cg_record_options options = {.size = sizeof options, .ring_bytes = RING_BYTES};
    cg_record *session = NULL;
    cg_err err = {0};
    progress *shared = share(folder);
    worker workers[THREADS_MOST];
    pthread_t handles[THREADS_MOST];
    bool is_full = strcmp(how, "full") == 0 || strcmp(how, "drop") == 0;

    if (is_full) {
        struct rlimit most = {DISK_BYTES, DISK_BYTES};

        setrlimit(RLIMIT_FSIZE, &most);
        options.full_ring = strcmp(how, "drop") == 0 ? CG_RECORD_DROP : CG_RECORD_WAIT;
    }
    snprintf(path, sizeof path, "%s/run.jsonl", folder);
    cg_record_run_training(&about, "victim::train", 3, "cpu");
    if (cg_record_open(path, &about, &options, &session, &err) != CG_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    shared->opened = 1;
    cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "region"));
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (worker){session, shared, i, strcmp(how, "done") == 0 ? 5000 : 0};
        pthread_create(&handles[i], NULL, work, &workers[i]);
    }
    if (strcmp(how, "exit") == 0 || strcmp(how, "abort") == 0) {
        pause_us(1000 + (long)getpid() % 40 * 500);
        if (how[0] == 'e') {
            _exit(37);
        }
        abort();
    }
    if (strcmp(how, "forever") == 0) {
        pause();
    }
    if (is_full) {
        snprintf(path, sizeof path, "%s/run.jsonl.spool", folder);
        wait_for_drops(path, shared, threads);
        stop = 1;
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
    }
    cg_record_span_end(session, region);
    if (cg_record_finish(session, NULL, &err) != CG_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 41;
    }
    return 0;
}

static int recover(const char *spool, const char *output)
{
    cg_record_recovery account = {.size = sizeof account};
    cg_err err = {0};

    if (cg_record_recover(spool, output, &account, &err) != CG_OK) {
        fprintf(stderr, "%s: %s\n", err.problem, err.text);
        return 1;
    }
    printf("%llu %llu %d\n", (unsigned long long)account.records_recovered,
           (unsigned long long)account.records_dropped, account.is_cut);
    for (size_t i = 0; i < account.open_span_count; i++) {
        printf("s%llu %.*s\n", (unsigned long long)account.open_spans[i].number,
               (int)account.open_spans[i].name.len, account.open_spans[i].name.ptr);
    }
    cg_record_recovery_free(&account);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "run") == 0) {
        unsigned threads = (unsigned)strtoul(argv[3], NULL, 10);

        return threads == 0 || threads > THREADS_MOST ? 2 : run(argv[2], threads, argv[4]);
    }
    if (argc == 4 && strcmp(argv[1], "recover") == 0) {
        return recover(argv[2], argv[3]);
    }
    fprintf(stderr, "usage: victim run DIR THREADS HOW | victim recover SPOOL OUT\n");
    return 2;
}
