/*
 * record - what recording costs, against bare reads of the counter the recorder uses.
 *
 * One line per promise: `name value unit budget verdict`. Figures are CPU time: of the recording
 * thread around the loop, and of the whole process with all flushing (not finish, which has its own
 * line). Everything is kept in the spool. A thread records in slices that take turns with slices of
 * as many reads: the thread's ratio is the median of the slices' ratios, the process's that of all
 * the CPU time of the session, rings made and blocks written included, to all the reads done in it.
 * Each figure is the median of all rounds, the rounds of all rows taking turns, since the machine
 * is rarely alone with us.
 *
 * usage: bench_record [EVENTS] [ROUNDS] [RING_BYTES]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "candlegraph/record.h"
#include "record/clock.h"
#include "row.h"

#define ROUNDS_MOST  31
#define SLICES       100
#define GATE_SLICES  101
#define THREADS_MOST 2

enum kind { SPANS, OPS, NEW_OPS, TENSORS, SCALARS, TEXT_IDS, KINDS };

static const char *const kind_names[KINDS] = {"span",   "op",     "op_unlike",
                                              "tensor", "scalar", "tensor_text_id"};

static unsigned long event_count = 400000;
static unsigned round_count = 15;
static unsigned ring_bytes;
static enum clock_kind counter;
static char path[256];
static int failed;

static double cpu_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double median(double *values, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        for (unsigned j = i; j > 0 && values[j - 1] > values[j]; j--) {
            double moved = values[j];

            values[j] = values[j - 1];
            values[j - 1] = moved;
        }
    }
    return values[count / 2];
}

static void promise(const char *name, double value, const char *unit, double budget)
{
    failed |= !row_most(name, value, unit, budget);
}

/* --- the loops --- */

typedef struct worker {
    cg_record *session;
    enum kind kind;
    cg_record_name name;
    cg_record_layout layout;
    double record_ns;    /* per event, of this thread */
    double read_ns;      /* per read */
    double ratio;        /* of both, not yet per number of reads */
    double all_reads_ns; /* as many as events */
    pthread_t thread;
    pthread_barrier_t *begin;
} worker;

static void record(const worker *self, unsigned long events)
{
    cg_record *session = self->session;
    cg_record_span root = cg_record_root(session);
    cg_record_name name = self->name;
    cg_record_layout layout = self->layout;
    cg_record_id inputs[3] = {11, 12, 14};
    cg_record_op_args op = {.size = sizeof op,
                            .name = name,
                            .layout = layout,
                            .input_count = 2,
                            .inputs = inputs,
                            .output = 13,
                            .input_dense_bytes = 64};
    cg_record_tensor_args tensor = {
        .size = sizeof tensor, .label = name, .id = 1, .layout = layout};

    switch (self->kind) {
    case SPANS:
        for (unsigned long i = 0; i < events; i++) {
            cg_record_span_end(session, cg_record_span_begin(session, name, CG_RECORD_FUNCTION));
        }
        break;
    case OPS:
        for (unsigned long i = 0; i < events; i++) {
            op.output = i + 1;
            op.duration_ns = i & 15;
            cg_record_op(session, root, &op);
        }
        break;
    case NEW_OPS: /* none has in common with an earlier one what the recorder would leave out */
        for (unsigned long i = 0; i < events; i++) {
            op.output = i + 1;
            op.duration_ns = i & 15;
            op.input_dense_bytes = i;
            op.input_count = (uint32_t)(i & 3);
            cg_record_op(session, root, &op);
        }
        break;
    case TENSORS:
        for (unsigned long i = 0; i < events; i++) {
            tensor.id = i + 1;
            cg_record_tensor(session, root, &tensor);
        }
        break;
    case SCALARS:
        for (unsigned long i = 0; i < events; i++) {
            cg_record_scalar(session, root, name, (double)i);
        }
        break;
    case TEXT_IDS:
        for (unsigned long i = 0; i < events; i++) {
            tensor.id = cg_record_text_id(session, (i & 1) != 0 ? "TensorId(17)" : "TensorId(18)");
            cg_record_tensor(session, root, &tensor);
        }
        break;
    case KINDS: break;
    }
}

/* Thread CPU of `count` bare reads. */
static double read_time(unsigned long count)
{
    enum clock_kind clock = counter;
    volatile uint64_t kept = 0;
    double start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

    for (unsigned long i = 0; i < count; i++) {
        kept = clock_read(clock);
    }
    (void)kept;
    return cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

static double read_cost(void)
{
    return read_time(event_count) / (double)event_count;
}

static void *work(void *argument)
{
    static const uint64_t shape[2] = {32, 64};
    worker *self = argument;

    /* The ring is made before the loop, and counts for the process. */
    self->name = cg_record_intern(self->session, "layer/weight");
    self->layout = cg_record_intern_layout(self->session, "f32", "cpu", shape, 2);
    pthread_barrier_wait(self->begin);
    /*
     * In slices, reads and records by turns: what disturbs one slice (another program on the
     * core, a slower clock) disturbs both, and the median slice is a quiet one.
     */
    double ratios[SLICES];
    double records[SLICES];
    unsigned long events = event_count / SLICES;
    for (unsigned i = 0; i < SLICES; i++) {
        double read = read_time(events);
        double start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

        record(self, events);
        records[i] = (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)events;
        ratios[i] = records[i] / (read / (double)events);
        self->all_reads_ns += read;
    }
    self->ratio = median(ratios, SLICES);
    self->record_ns = median(records, SLICES);
    return NULL;
}

typedef struct figures {
    double thread_ratio, process_ratio, event_ns, process_ns, finish_rate, finish_bytes;
} figures;

/* One session, `threads` threads, all flushed. */
static figures run_once(enum kind kind, unsigned threads, unsigned reads)
{
    cg_record_run run;
    cg_record_options options = {.size = sizeof options, .ring_bytes = ring_bytes};
    cg_record_result result = {.size = sizeof result};
    cg_record *session = NULL;
    cg_err err = {0};
    figures ret = {0};
    worker workers[THREADS_MOST];
    pthread_barrier_t begin;

    cg_record_run_training(&run, "bench::record", 1, "cpu");
    if (cg_record_open(path, &run, &options, &session, &err) != CG_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    pthread_barrier_init(&begin, NULL, threads);
    double start = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (worker){.session = session, .kind = kind, .begin = &begin};
        if (i + 1 < threads) {
            pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        }
    }
    work(&workers[threads - 1]);
    for (unsigned i = 0; i + 1 < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    cg_record_flush(session, NULL);
    double process = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
    double thread_ratio = 0;
    double all_reads = 0;
    for (unsigned i = 0; i < threads; i++) {
        all_reads += workers[i].all_reads_ns;
        ret.event_ns += workers[i].record_ns / threads;
        thread_ratio += workers[i].ratio / reads / threads;
    }
    process -= all_reads;
    ret.thread_ratio = thread_ratio;
    ret.process_ns = process / (double)event_count / threads;
    ret.process_ratio = process / all_reads / reads;
    start = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (cg_record_finish(session, &result, &err) != CG_OK || !result.is_complete ||
        result.dropped + result.refused != 0) {
        fprintf(stderr, "finish: %s\n", err.text);
        exit(1);
    }
    double spent = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
    struct stat written = {0};
    (void)stat(path, &written);
    ret.finish_rate = (double)result.records / spent * 1e3;
    ret.finish_bytes = (double)written.st_size / spent;
    unlink(path);
    pthread_barrier_destroy(&begin);
    return ret;
}

/* A row of figures, and what its rounds measured. */
typedef struct row {
    enum kind kind;
    unsigned threads;
    double thread_budget, process_budget; /* reads; 0: none */
    double thread[ROUNDS_MOST], process[ROUNDS_MOST];
    double event[ROUNDS_MOST], whole[ROUNDS_MOST], finish[ROUNDS_MOST], bytes[ROUNDS_MOST];
} row;

static void measure(row *self, unsigned round)
{
    figures once = run_once(self->kind, self->threads, self->kind == SPANS ? 2 : 1);

    self->thread[round] = once.thread_ratio;
    self->process[round] = once.process_ratio;
    self->event[round] = once.event_ns;
    self->whole[round] = once.process_ns;
    self->finish[round] = once.finish_rate;
    self->bytes[round] = once.finish_bytes;
}

/* Nanoseconds of an event. */
static double tell(row *self)
{
    const char *plural = self->threads > 1 ? "_2_threads" : "";
    const char *kind = kind_names[self->kind];
    double ns = median(self->event, round_count);
    char name[64];

    if (self->thread_budget > 0) {
        snprintf(name, sizeof name, "%s%s.thread", kind, plural);
        promise(name, median(self->thread, round_count), "reads", self->thread_budget);
        snprintf(name, sizeof name, "%s%s.process", kind, plural);
        promise(name, median(self->process, round_count), "reads", self->process_budget);
    }
    snprintf(name, sizeof name, "%s%s.thread_ns", kind, plural);
    row_stated(name, ns, "ns");
    snprintf(name, sizeof name, "%s%s.process_ns", kind, plural);
    row_stated(name, median(self->whole, round_count), "ns");
    if (self->threads == 1 && self->kind != TEXT_IDS) {
        snprintf(name, sizeof name, "%s.finish", kind);
        failed |= !row_least(name, median(self->finish, round_count), "Mevents/s", 5);
        snprintf(name, sizeof name, "%s.finish_bytes", kind);
        row_stated(name, median(self->bytes, round_count), "GB/s");
    }
    return ns;
}

/* --- off --- */

/*
 * What a program that is not being recorded pays: the step in a register and a branch that is never
 * taken, or a span's two calls with a NULL session. Eight of them stand in one turn of the loop, so
 * the figure is theirs and an eighth of a loop. Slices are short, so that some are alone on the
 * core; nothing else is taken off.
 */
static inline void gate_once(const cg_record_selector *selector, uint64_t step, unsigned long *hits)
{
    __asm__ volatile("" : "+r"(step)); /* the compiler may not foresee the answer */
    if (cg_record_selected(selector, step)) {
        ++*hits;
        __asm__ volatile("" : "+r"(*hits)); /* nor make arithmetic of what is done then */
    }
}

static double gate_selector(unsigned long count)
{
    volatile uint64_t chosen = 77;
    cg_record_selector selector = {chosen};
    unsigned long hits = 0;
    double start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t step = 1000; step < count + 1000; step += 8) {
        gate_once(&selector, step, &hits);
        gate_once(&selector, step + 1, &hits);
        gate_once(&selector, step + 2, &hits);
        gate_once(&selector, step + 3, &hits);
        gate_once(&selector, step + 4, &hits);
        gate_once(&selector, step + 5, &hits);
        gate_once(&selector, step + 6, &hits);
        gate_once(&selector, step + 7, &hits);
    }
    double spent = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    failed |= hits != 0;
    return spent;
}

/* The barriers make each session one of its own to the compiler, as it is across calls. */
static inline void span_once(cg_record *session)
{
    __asm__ volatile("" : "+r"(session));
    cg_record_span span = cg_record_span_begin(session, 1, CG_RECORD_FUNCTION);

    __asm__ volatile("" : "+r"(session));
    cg_record_span_end(session, span);
}

static double gate_no_session(unsigned long count)
{
    cg_record *volatile where = NULL;
    cg_record *session = where;
    double start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

    for (unsigned long i = 0; i < count; i += 8) {
        span_once(session);
        span_once(session);
        span_once(session);
        span_once(session);
        span_once(session);
        span_once(session);
        span_once(session);
        span_once(session);
    }
    return cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

static double measure_gate(double (*gate)(unsigned long count))
{
    double figure[GATE_SLICES];
    unsigned long count = event_count / 8 * 8;

    for (unsigned i = 0; i < GATE_SLICES; i++) {
        figure[i] = gate(count) / (double)count;
    }
    return median(figure, GATE_SLICES);
}

/* The figure a trace carries, read back from one. */
static double calibrated_span_ns(void)
{
    cg_record_run run;
    cg_record *session = NULL;
    char line[4096] = "";
    double value = 0;

    cg_record_run_training(&run, "bench::record", 1, "cpu");
    if (cg_record_open(path, &run, NULL, &session, NULL) == CG_OK) {
        cg_record_finish(session, NULL, NULL);
        FILE *file = fopen(path, "r");
        if (file != NULL && fgets(line, sizeof line, file) != NULL) {
            const char *at = strstr(line, "\"span_ns\":");

            value = at != NULL ? strtod(at + 10, NULL) : 0;
        }
        if (file != NULL) {
            fclose(file);
        }
        unlink(path);
    }
    return value;
}

int main(int argc, char **argv)
{
    static row rows[] = {
        {.kind = SPANS, .threads = 1, .thread_budget = 1.3, .process_budget = 2.5},
        {.kind = OPS, .threads = 1, .thread_budget = 1.5, .process_budget = 4},
        {.kind = NEW_OPS, .threads = 1, .thread_budget = 1.5, .process_budget = 4},
        {.kind = TENSORS, .threads = 1, .thread_budget = 1.5, .process_budget = 4},
        {.kind = SCALARS, .threads = 1, .thread_budget = 1.5, .process_budget = 4},
        {.kind = SPANS, .threads = 2, .thread_budget = 1.3, .process_budget = 2.5},
        {.kind = OPS, .threads = 2, .thread_budget = 1.5, .process_budget = 4},
        {.kind = NEW_OPS, .threads = 2, .thread_budget = 1.5, .process_budget = 4},
        {.kind = TENSORS, .threads = 2, .thread_budget = 1.5, .process_budget = 4},
        {.kind = SCALARS, .threads = 2, .thread_budget = 1.5, .process_budget = 4},
        {.kind = TEXT_IDS, .threads = 1, .thread_budget = 0, .process_budget = 0},
    };
    const char *folder = getenv("TMPDIR");

    event_count = argc > 1 ? strtoul(argv[1], NULL, 10) : event_count;
    round_count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : round_count;
    counter = clock_choose();
    ring_bytes = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if (event_count == 0 || round_count == 0 || round_count > ROUNDS_MOST) {
        fprintf(stderr, "usage: bench_record [EVENTS] [ROUNDS up to %d] [RING_BYTES]\n",
                ROUNDS_MOST);
        return 2;
    }
    snprintf(path, sizeof path, "%s/bench-record-%ld.jsonl", folder != NULL ? folder : "/tmp",
             (long)getpid());
    promise("gate.selector", measure_gate(gate_selector), "ns", 1);
    promise("gate.no_session", measure_gate(gate_no_session), "ns", 1);
    row_stated("counter.read", read_cost(), "ns");
    /* Round by round through all rows: a spell of another program's work spoils a round or two of
     * each, not all rounds of one. */
    for (unsigned round = 0; round < round_count; round++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            measure(&rows[i], round);
        }
    }
    double span = tell(&rows[0]);
    for (size_t i = 1; i < sizeof rows / sizeof rows[0]; i++) {
        tell(&rows[i]);
    }
    double told = calibrated_span_ns();
    promise("calibration.off_by", (told > span ? told - span : span - told) / span * 100, "percent",
            30);
    return failed;
}
