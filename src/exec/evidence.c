#include "exec/evidence.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/sort.h"

/* What has been built, in order; each stage needs those before it. */
enum stage {
    STAGE_MEMORY,
    STAGE_SAMPLES,
    STAGE_TIMING,
    STAGE_HEALTH,
    STAGE_NSIGHT,
    STAGE_CAPABILITIES,
    STAGE_GRAPH,
    STAGE_CONCLUSIONS,
    STAGE_COUNT
};

static const char *const stage_names[] = {
    "memory replay",  "memory samples",    "device timing", "structural health",
    "Nsight exports", "capability levels", "derived graph", "conclusions",
};

/* Frees what the first `built` stages own, and the trace. */
static void release(evidence *self, unsigned built)
{
    trace_doc *trace = self->trace;

    if (self->has_graph)
        graph_free(&self->graph);
    if (built > STAGE_HEALTH)
        health_free(&self->health);
    if (built > STAGE_TIMING)
        timing_free(&self->timing);
    if (built > STAGE_SAMPLES)
        physical_free(&self->physical);
    if (built > STAGE_MEMORY)
        memory_free(&self->memory);
    arena_free(&self->arena);
    heap_resize(&trace->heap, self, sizeof *self, 0);
    trace_free(trace);
}

void evidence_free(evidence *self)
{
    if (self != NULL)
        release(self, STAGE_COUNT);
}

void evidence_view(const evidence *from, heap *work, evidence *ret)
{
    *work = *from->heap;
    *ret = *from;
    ret->heap = work;
    ret->memory.heap = work;
    ret->physical.heap = work;
    ret->timing.heap = work;
    ret->health.heap = work;
    if (ret->has_graph) {
        ret->graph.heap = work;
        ret->graph.memory = &ret->memory;
        ret->graph.timing = &ret->timing;
    }
}

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

static evidence_finding *add_finding(evidence *self, uint8_t code, cg_str source,
                                     enum capability_kind requires)
{
    evidence_finding *finding = &self->findings[self->finding_count++];

    *finding = (evidence_finding){
        .code = sc_word(&words_finding, code),
        .source = source,
        .requires = {(uint8_t) requires},
        .requires_count = 1,
        .qualification = self->capabilities.at[requires].level,
    };
    return finding;
}

static bool find_host_time(evidence *self)
{
    const graph_host_row *row = &self->graph.host[0];
    const trace_span *span;
    evidence_finding *finding;
    cg_str name;

    if (!self->has_graph || self->graph.host_count == 0)
        return true;
    span = &self->trace->spans.at[row->span];
    name = trace_text(self->trace, span->name);
    finding = add_finding(self, FINDING_HOST_SELF_TIME, trace_text(self->trace, span->id),
                          CAPABILITY_HOST_TIME);
    return arena_format(
        &self->arena, &finding->summary,
        "of functions and modules `%.*s` has the largest own host time in the measured "
        "region: %.2f ms",
        (int)name.len, name.ptr, milliseconds(row->clipped_self_ns));
}

static bool find_device_time(evidence *self)
{
    const graph_device_row *row = &self->graph.device[0];
    const trace_span *span;
    const timing_row *timing;
    evidence_finding *finding;
    cg_str name, device;

    if (!self->has_graph || self->graph.device_count == 0)
        return true;
    span = &self->trace->spans.at[row->span];
    timing = &self->timing.spans.at[row->timing];
    name = trace_text(self->trace, span->name);
    device = trace_text(self->trace, timing->device);
    finding = add_finding(self, FINDING_DEVICE_BUSY_TIME, trace_text(self->trace, span->id),
                          CAPABILITY_DEVICE_TIME);
    return arena_format(
        &self->arena, &finding->summary,
        "`%.*s` has the largest device busy time in the measured region: %.2f ms on `%.*s`",
        (int)name.len, name.ptr, milliseconds(timing->busy_ns), (int)device.len, device.ptr);
}

/* The first kernel on the wire, which with several files need not be the largest (wire rule). */
static bool find_kernel(evidence *self)
{
    const doc_gpu_summary_row *kernels = self->gpu.wire.kernels.at;
    const capability *at = self->capabilities.at;
    evidence_finding *finding;

    if (!self->health.is_complete || !self->health.is_valid || self->gpu.wire.kernels.count == 0 ||
        !capability_is_available(&self->capabilities, CAPABILITY_GPU_CORRELATION) ||
        !capability_is_available(&self->capabilities, CAPABILITY_PROVENANCE))
        return true;
    finding = add_finding(self, FINDING_NSIGHT_KERNEL, CG_LIT("nsight.cuda_gpu_kern_sum"),
                          CAPABILITY_GPU_CORRELATION);
    finding->
        requires[
                finding->requires_count++] = CAPABILITY_PROVENANCE;
    if (at[CAPABILITY_PROVENANCE].level < finding->qualification)
        finding->qualification = at[CAPABILITY_PROVENANCE].level;
    return arena_format(&self->arena, &finding->summary,
                        "`%.*s` leads the first Nsight kernel summary: %.2f ms in total",
                        (int)kernels[0].name.len, kernels[0].name.ptr,
                        milliseconds(kernels[0].total_ns));
}

static evidence_fact *add_fact(evidence *self, uint8_t code, cg_str label, uint8_t source,
                               enum capability_kind kind)
{
    evidence_fact *fact = &self->facts[self->fact_count++];

    *fact = (evidence_fact){
        .code = sc_word(&words_fact, code),
        .label = label,
        .value_kind = FACT_COUNT,
        .source = sc_word(&words_fact_source, source),
        .capability = (uint8_t)kind,
    };
    return fact;
}

static void add_gradient_facts(evidence *self)
{
    const rec_contract *contract = self->trace->run.contract;
    const rec_gradient_contract *exact = contract->gradient_contract;
    evidence_fact *fact;

    if (capability_is_available(&self->capabilities, CAPABILITY_GRADIENTS) && exact != NULL) {
        fact = add_fact(self, FACT_CODE_MANIFEST_SHA256, CG_LIT("gradient manifest digest"),
                        FACT_SOURCE_GRADIENT_CONTRACT, CAPABILITY_GRADIENTS);
        fact->value_kind = FACT_TEXT;
        fact->text = exact->manifest_sha256;
        fact = add_fact(self, FACT_CODE_MANIFEST_ENTRIES, CG_LIT("gradient manifest entries"),
                        FACT_SOURCE_GRADIENT_CONTRACT, CAPABILITY_GRADIENTS);
        fact->number = exact->expected.count;
        fact = add_fact(self, FACT_CODE_FAMILIES, CG_LIT("gradient families with an expectation"),
                        FACT_SOURCE_GRADIENT_CONTRACT, CAPABILITY_GRADIENTS);
        fact->number = exact->families.count;
    }
    if (self->has_graph && self->trace->gradients.count > 0) {
        fact = add_fact(self, FACT_CODE_GRADIENTS, CG_LIT("gradients that are not present"),
                        FACT_SOURCE_GRADIENT, CAPABILITY_GRADIENTS);
        for (size_t i = 0; i < self->trace->gradients.count; i++)
            fact->number += self->trace->gradients.at[i].state != GRADIENT_STATE_PRESENT;
    }
}

static void add_facts(evidence *self)
{
    evidence_fact *fact;

    if (capability_is_available(&self->capabilities, CAPABILITY_OUTER_WALL) &&
        self->health.measured_span != TRACE_NONE) {
        fact = add_fact(self, FACT_CODE_OUTER_WALL_TIME, CG_LIT("wall time of the measured region"),
                        FACT_SOURCE_MEASURED_SPAN, CAPABILITY_OUTER_WALL);
        fact->value_kind = FACT_DURATION_NS;
        fact->number = self->trace->spans.at[self->health.measured_span].duration_ns;
    }
    add_gradient_facts(self);
    if (capability_is_available(&self->capabilities, CAPABILITY_LOGICAL_MEMORY) &&
        self->memory.has_peak) {
        fact = add_fact(self, FACT_CODE_LOGICAL_PEAK, CG_LIT("peak of live logical storage"),
                        FACT_SOURCE_LIFETIMES, CAPABILITY_LOGICAL_MEMORY);
        fact->value_kind = FACT_BYTES;
        fact->number = self->memory.peak_live_bytes;
    }
}

/* --- gaps --- */

static bool text_before(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *texts = context;

    return str_compare(texts[a], texts[b]) < 0;
}

static bool collect_gaps(evidence *self, cg_str *texts, size_t *ret_count)
{
    buf message;
    size_t count = 0;
    bool is_done = true;

    buf_init(&message, self->heap, SIZE_MAX);
    for (size_t i = 0; i < self->health.issues.count && is_done; i++) {
        if (self->health.issues.at[i].is_error)
            continue;
        buf_clear(&message);
        evidence_issue_text(self, i, &message);
        is_done = !message.failed && arena_text(&self->arena, buf_text(&message), &texts[count++]);
    }
    buf_free(&message);
    for (size_t i = 0; i < CAPABILITY_COUNT; i++) {
        if (self->capabilities.at[i].level != CAPABILITY_COMPLETE)
            texts[count++] = self->capabilities.at[i].reason;
    }
    *ret_count = count;
    return is_done;
}

/* The texts in `order` without repetitions, as the list of the document. */
static bool keep_gaps(evidence *self, const cg_str *texts, const uint32_t *order, size_t count)
{
    cg_str *kept = arena_take(&self->arena, count * sizeof *kept);
    size_t kept_count = 0;

    if (kept == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (kept_count == 0 || !str_equal(kept[kept_count - 1], texts[order[i]]))
            kept[kept_count++] = texts[order[i]];
    }
    self->gaps = (sc_strs){kept, kept_count};
    return true;
}

static bool build_gaps(evidence *self)
{
    size_t room = 0, size = 0, count = 0;
    cg_str *texts;
    uint32_t *order;
    bool is_done = false;

    if (!num_add((size_t)self->health.warning_count, CAPABILITY_COUNT, &room) ||
        room > UINT32_MAX || !num_mul(room, sizeof *texts, &size))
        return false;
    texts = heap_resize(self->heap, NULL, 0, size);
    order = heap_resize(self->heap, NULL, 0, 2 * room * sizeof *order);
    if (texts != NULL && order != NULL && collect_gaps(self, texts, &count)) {
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)i;
        sort_with(order, order + room, count, text_before, texts);
        is_done = keep_gaps(self, texts, order, count);
    }
    if (texts != NULL)
        heap_resize(self->heap, texts, size, 0);
    if (order != NULL)
        heap_resize(self->heap, order, 2 * room * sizeof *order, 0);
    return is_done;
}

/* --- stages --- */

/* Where the Nsight exports lie. */
typedef struct nsight_place {
    cg_str directory;
    bool follows_links;
    os_dir *opened;
} nsight_place;

static cg_code read_nsight(const cg_env *env, evidence *self, const nsight_place *place,
                           cg_err *reterr)
{
    const rec_run *run = &self->trace->run;
    const rec_contract *contract = run->contract;
    const nsight_source source = {
        .directory = place->directory,
        .opened = place->opened,
        .follows_links = place->follows_links,
        .run_id = run->run_id,
        .correlation_id = run->correlation_id,
        .required_labels = contract->required_semantic_labels,
        .gpu_labels = contract->gpu_expected_semantic_labels,
        .cpu_labels = contract->cpu_only_semantic_labels,
    };

    return nsight_read(env, self->heap, &self->arena, &source, &self->gpu, reterr);
}

static cg_code build_conclusions(evidence *self, cg_err *reterr)
{
    add_facts(self);
    if (!find_host_time(self) || !find_device_time(self) || !find_kernel(self) || !build_gaps(self))
        return err_nomem(reterr);
    return CG_OK;
}

static cg_code build_stage(const cg_env *env, evidence *self, const nsight_place *nsight,
                           enum stage stage, cg_err *reterr)
{
    trace_doc *trace = self->trace;

    switch (stage) {
    case STAGE_MEMORY: return memory_replay(self->heap, trace, &self->memory, reterr);
    case STAGE_SAMPLES: return physical_build(self->heap, trace, &self->physical, reterr);
    case STAGE_TIMING: return timing_build(self->heap, trace, &self->timing, reterr);
    case STAGE_HEALTH: return health_check(self->heap, trace, &self->memory, &self->health, reterr);
    case STAGE_NSIGHT: return read_nsight(env, self, nsight, reterr);
    case STAGE_CAPABILITIES:
        return capability_build(&self->arena, trace, &self->health, &self->timing, &self->gpu,
                                &self->capabilities, reterr);
    case STAGE_GRAPH:
        if (!self->health.is_valid || !self->health.is_complete)
            return CG_OK;
        CG_TRY(graph_build(self->heap, trace, &self->health, &self->memory, &self->timing,
                           &self->graph, reterr));
        self->has_graph = true;
        return CG_OK;
    case STAGE_CONCLUSIONS: return build_conclusions(self, reterr);
    case STAGE_COUNT: break;
    }
    return cg_fail(reterr, PROBLEM_INTERNAL, "unknown stage %u", (unsigned)stage);
}

static cg_code build(const cg_env *env, trace_doc *trace, const nsight_place *nsight,
                     evidence **ret, cg_err *reterr)
{
    evidence *self = heap_resize(&trace->heap, NULL, 0, sizeof *self);

    if (self == NULL) {
        trace_free(trace);
        return err_nomem(reterr);
    }
    *self = (evidence){.trace = trace, .heap = &trace->heap};
    arena_init(&self->arena, self->heap);
    for (unsigned stage = 0; stage < STAGE_COUNT; stage++) {
        cg_code code;

        if (env_progress(env, stage_names[stage], stage, STAGE_COUNT))
            code = build_stage(env, self, nsight, (enum stage)stage, reterr);
        else
            code = cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request before %s",
                           stage_names[stage]);
        if (code != CG_OK) {
            release(self, stage);
            return code;
        }
    }
    *ret = self;
    return CG_OK;
}

cg_code evidence_build(const cg_env *env, trace_doc *trace, evidence **ret, cg_err *reterr)
{
    return build(env, trace, &(nsight_place){.opened = NULL}, ret, reterr);
}

cg_code evidence_build_with_nsight(const cg_env *env, trace_doc *trace, cg_str directory,
                                   bool follows_links, evidence **ret, cg_err *reterr)
{
    return build(env, trace, &(nsight_place){directory, follows_links, NULL}, ret, reterr);
}

cg_code evidence_build_opened(const cg_env *env, trace_doc *trace, os_dir *nsight, evidence **ret,
                              cg_err *reterr)
{
    const nsight_place place = {
        .directory = nsight != NULL ? CG_LIT("nsight") : (cg_str){0},
        .opened = nsight,
    };
    cg_code code = build(env, trace, &place, ret, reterr);

    if (nsight != NULL)
        os_dir_close(nsight);
    return code;
}
