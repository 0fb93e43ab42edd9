#include "record/ring.h"
#include "record/session.h"

#define BATCH  200u
#define ROUNDS 15u

typedef void measured_call(cg_record *session, cg_record_span root);

static void one_span(cg_record *session, cg_record_span root)
{
    (void)root;
    cg_record_span_end_on(session, cg_record_begin_on(session, 1, 0));
}

static void one_op(cg_record *session, cg_record_span root)
{
    static const cg_record_id inputs[2] = {1, 2};
    const cg_record_op_args args = {.size = sizeof args,
                                    .name = 1,
                                    .layout = 1,
                                    .input_count = 2,
                                    .inputs = inputs,
                                    .output = 3,
                                    .duration_ns = 10};

    cg_record_op_on(session, root, &args);
}

static void one_tensor(cg_record *session, cg_record_span root)
{
    const cg_record_tensor_args args = {.size = sizeof args, .label = 1, .id = 1, .layout = 1};

    cg_record_tensor_on(session, root, &args);
}

static void one_scalar(cg_record *session, cg_record_span root)
{
    cg_record_scalar_on(session, root, 1, 0.5);
}

/* The median of a few batches: an interrupt falls into few of them. */
static double measure(cg_record *session, cg_record_span root, measured_call *call, uint64_t rate)
{
    uint64_t ticks[ROUNDS];

    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t start = clock_read(session->clock);

        for (unsigned i = 0; i < BATCH; i++) {
            call(session, root);
        }
        uint64_t took = clock_read(session->clock) - start;
        unsigned at = round;
        while (at > 0 && ticks[at - 1] > took) {
            ticks[at] = ticks[at - 1];
            at--;
        }
        ticks[at] = took;
    }
    /* In units of a hundredth: more digits would pretend. */
    return (double)(uint64_t)((double)clock_ns(ticks[ROUNDS / 2], rate) / BATCH * 100) / 100;
}

static record_cost measure_all(enum clock_kind clock, uint64_t rate)
{
    record_cost cost = {0};
    cg_record *session = rec_take(sizeof *session);
    lane *before = lane_here;
    lane scratch = {0};

    if (session == NULL) {
        return cost;
    }
    session->is_scratch = true;
    session->clock = clock;
    atomic_store(&session->serial, UINT32_MAX);
    atomic_store(&session->state, SESSION_OPEN);
    if (lane_make_anonymous(&scratch, session, SPOOL_RING_LEAST)) {
        cg_record_span root = {ROOT_REFERENCE, UINT32_MAX, 0};

        lane_here = &scratch;
        cost.span_ns = measure(session, root, one_span, rate);
        cost.op_ns = measure(session, root, one_op, rate);
        cost.tensor_ns = measure(session, root, one_tensor, rate);
        cost.scalar_ns = measure(session, root, one_scalar, rate);
        lane_here = before;
        lane_unmap(&scratch);
    }
    rec_free(scratch.stack);
    rec_free(session);
    return cost;
}

record_cost cost_measure(enum clock_kind clock, uint64_t rate)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    static record_cost known;

    pthread_mutex_lock(&once);
    if (known.span_ns == 0) {
        known = measure_all(clock, rate);
    }
    record_cost cost = known;
    pthread_mutex_unlock(&once);
    return cost;
}
