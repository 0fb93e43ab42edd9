#include "candlegraph/record.h"

#include "record/names.h"
#include "record/session.h"
#include "record/stats.h"

/* --- words and sizes --- */

bool cg_record_parse_phase(const char *word, uint32_t *phase, uint32_t *step)
{
    static const struct {
        char word[12];
        uint8_t phase; /* 2 = not a phase */
        uint8_t step;
    } words[] = {{"train", CG_RECORD_TRAIN, 0},       {"training", CG_RECORD_TRAIN, 0},
                 {"infer", CG_RECORD_INFER, 0},       {"inference", CG_RECORD_INFER, 0},
                 {"eval", CG_RECORD_INFER, 0},        {"evaluation", CG_RECORD_INFER, 0},
                 {"forward", 2, CG_RECORD_FORWARD},   {"fwd", 2, CG_RECORD_FORWARD},
                 {"backward", 2, CG_RECORD_BACKWARD}, {"bwd", 2, CG_RECORD_BACKWARD},
                 {"backprop", 2, CG_RECORD_BACKWARD}, {"optimizer", 2, CG_RECORD_OPTIMIZER},
                 {"optim", 2, CG_RECORD_OPTIMIZER},   {"step", 2, CG_RECORD_OPTIMIZER}};
    cg_str text = str_trim(str_from(word != NULL ? word : ""));

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_equal_nocase(text, str_from(words[i].word))) {
            if (words[i].phase != 2 && phase != NULL) {
                *phase = words[i].phase;
            }
            if (words[i].phase == 2 && step != NULL) {
                *step = words[i].step;
            }
            return true;
        }
    }
    return false;
}

const char *cg_record_type_name(uint32_t type)
{
    return stats_type_name(type);
}

bool cg_record_dense_bytes(const char *dtype, const uint64_t *shape, uint32_t rank, uint64_t *ret)
{
    return dtype != NULL && ret != NULL && (rank == 0 || shape != NULL) &&
           json_dense_bytes(shape, rank, str_from(dtype), ret);
}

uint32_t cg_record_category_of(uint32_t step, bool is_parameter)
{
    return is_parameter                  ? CG_RECORD_PARAMETER
           : step == CG_RECORD_BACKWARD  ? CG_RECORD_GRADIENT
           : step == CG_RECORD_OPTIMIZER ? CG_RECORD_OPTIMIZER_STATE
                                         : CG_RECORD_ACTIVATION;
}

/* --- the run --- */

static void fill_run(cg_record_run *run, uint32_t phase, const char *entrypoint, uint64_t step,
                     const char *device)
{
    *run = (cg_record_run){.size = sizeof *run,
                           .phase = phase,
                           .entrypoint = entrypoint,
                           .device = device,
                           .capture_step = step,
                           .warmup_steps = step > 0 ? step - 1 : 0};
}

void cg_record_run_training(cg_record_run *run, const char *entrypoint, uint64_t step,
                            const char *device)
{
    fill_run(run, CG_RECORD_TRAIN, entrypoint, step, device);
}

void cg_record_run_inference(cg_record_run *run, const char *entrypoint, uint64_t step,
                             const char *device)
{
    fill_run(run, CG_RECORD_INFER, entrypoint, step, device);
}

void cg_record_run_synchronized(cg_record_run *run)
{
    run->timing_mode = CG_RECORD_DEVICE_SYNCHRONIZED;
    run->is_device_synchronized = true;
}

bool cg_record_select(cg_record_selector *selector, uint64_t invocation)
{
    selector->invocation = invocation;
    return invocation != 0;
}

cg_code cg_record_open(const char *path, const cg_record_run *run, const cg_record_options *options,
                       cg_record **ret, cg_err *reterr)
{
    cg_record *session = NULL;
    cg_code code = session_open(path, run, options, &rec_sys_kernel, &session, reterr);

    if (ret != NULL) {
        *ret = session;
    } else if (session != NULL) {
        session_end(session, CG_LIT("opened by nobody"), NULL, NULL);
    }
    return code;
}

cg_code cg_record_finish(cg_record *session, cg_record_result *ret, cg_err *reterr)
{
    return session == NULL ? CG_OK : session_end(session, (cg_str){NULL, 0}, ret, reterr);
}

cg_code cg_record_finish_failed(cg_record *session, const char *reason, cg_record_result *ret,
                                cg_err *reterr)
{
    cg_str text = str_from(reason);

    if (session == NULL) {
        return CG_OK;
    }
    if (reason == NULL || str_is_blank(text)) {
        text = CG_LIT("the program gave no reason");
    }
    return session_end(session, text, ret, reterr);
}

cg_code cg_record_flush(cg_record *session, cg_err *reterr)
{
    return session == NULL ? CG_OK : session_flush(session, reterr);
}

/* --- time --- */

cg_record_time cg_record_now(const cg_record *session)
{
    return session == NULL ? 0 : clock_read(session->clock);
}

/* The rate as known by now. */
static uint64_t rate_of(const spool_header *header)
{
    clock_pair seen = {header->seen_ticks, header->seen_ns};
    /* The writer may be storing the pair. */
    bool is_pair = seen.ticks != 0 && seen.ticks == header->seen_ticks;

    return !is_pair ? header->rate : clock_rate(header->begin, seen, header->rate);
}

uint64_t cg_record_elapsed_ns(const cg_record *session)
{
    if (session == NULL || !session_is_open(session)) {
        return 0;
    }
    const spool_header *header = session->header;
    uint64_t now = clock_read(session->clock);

    return now <= header->begin.ticks ? 0 : clock_ns(now - header->begin.ticks, rate_of(header));
}

cg_record_time cg_record_time_at(const cg_record *session, uint64_t elapsed_ns)
{
    if (session == NULL || !session_is_open(session)) {
        return 0;
    }
    const spool_header *header = session->header;
    double ticks = (double)elapsed_ns * 4294967296.0 / (double)rate_of(header);

    return header->begin.ticks + (ticks < 9e18 ? (uint64_t)ticks : UINT64_C(9000000000000000000));
}

cg_record_time cg_record_time_of(const cg_record *session, uint64_t monotonic_ns)
{
    if (session == NULL || !session_is_open(session)) {
        return 0;
    }
    /* From the nearest moment that is known on both clocks, which is now. */
    clock_pair now = clock_now(session->clock);
    const spool_header *header = session->header;
    uint64_t rate = clock_rate(header->begin, now, header->rate);
    uint64_t back = now.ns > monotonic_ns ? now.ns - monotonic_ns : 0;
    double ticks = (double)back * 4294967296.0 / (double)rate;

    return ticks >= (double)(now.ticks - header->begin.ticks) ? header->begin.ticks
                                                              : now.ticks - (uint64_t)ticks;
}

/* --- names --- */

cg_record_name cg_record_intern_str(cg_record *session, cg_str text)
{
    return session == NULL || !session_is_open(session) ? 0 : names_text(session, text);
}

cg_record_name cg_record_intern(cg_record *session, const char *text)
{
    return cg_record_intern_str(session, str_from(text));
}

cg_record_layout cg_record_intern_layout(cg_record *session, const char *dtype, const char *device,
                                         const uint64_t *shape, uint32_t rank)
{
    return session == NULL || !session_is_open(session)
               ? 0
               : names_layout(session, str_from(dtype), str_from(device), shape, rank);
}

cg_record_id cg_record_text_id(cg_record *session, const char *text)
{
    cg_record_name name = cg_record_intern(session, text);

    return name == 0 ? 0 : UINT64_C(1) << 63 | name;
}
