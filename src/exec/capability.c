#include "exec/capability.h"

#include <inttypes.h>

#define TEXT(text) {text, sizeof(text) - 1}
static const cg_str source_none = TEXT("none");
static const cg_str source_validation = TEXT(TRACE_SCHEMA_10 " validation");
#undef TEXT

cg_str capability_level_word(uint8_t level)
{
    return sc_word(&words_capability_level, level);
}

cg_str capability_kind_word(enum capability_kind kind)
{
#define X(name, key, word, text) {word, sizeof(word) - 1},
    static const cg_str words[] = {CAPABILITIES(X)};
#undef X
    return words[kind];
}

cg_str capability_title(enum capability_kind kind)
{
#define X(name, key, word, text) {text, sizeof(text) - 1},
    static const cg_str titles[] = {CAPABILITIES(X)};
#undef X
    return titles[kind];
}

typedef struct builder {
    arena *mem;
    const trace_doc *trace;
    const rec_contract *contract;
    const health_report *health;
    const gpu_evidence *gpu;
    capability *at;
    bool failed; /* out of memory */
} builder;

static void put(builder *self, enum capability_kind kind, uint8_t level, cg_str source,
                cg_str reason)
{
    self->at[kind] = (capability){
        .level = level,
        .source = level == CAPABILITY_UNAVAILABLE ? source_none : source,
        .reason = reason,
    };
}

typedef struct observation {
    cg_str source;
    const char *one;
    const char *many;
} observation;

/* Declared level against the number of observations: planes, "capabilities". */
static void put_counted(builder *self, enum capability_kind kind, uint8_t declared, size_t count)
{
#define X(name, source, one, many) [CAPABILITY_##name] = {{source, sizeof(source) - 1}, one, many},
    static const observation observations[CAPABILITY_COUNT] = {OBSERVATIONS(X)};
#undef X
    const observation *about = &observations[kind];
    const char *noun = count == 1 ? about->one : about->many;
    cg_str word = sc_word(&words_level, declared);
    uint8_t level = CAPABILITY_PARTIAL;
    cg_str reason = {0};
    bool is_made;

    if (count == 0)
        level = declared == LEVEL_COMPLETE ? CAPABILITY_INVALID : CAPABILITY_UNAVAILABLE;
    else if (declared == LEVEL_COMPLETE)
        level = CAPABILITY_COMPLETE;

    if (count == 0)
        is_made = arena_format(self->mem, &reason, "declared %.*s, %sno %s recorded", ERR_STR(word),
                               declared == LEVEL_COMPLETE ? "but " : "", noun);
    else if (declared == LEVEL_NONE)
        is_made =
            arena_format(self->mem, &reason, "not declared, but %zu %s recorded", count, noun);
    else
        is_made = arena_format(self->mem, &reason, "declared %.*s, %zu %s recorded", ERR_STR(word),
                               count, noun);
    if (!is_made)
        self->failed = true;
    put(self, kind, level, about->source, reason);
}

static void put_structure(builder *self)
{
    uint64_t errors = self->health->error_count;
    cg_str reason = CG_LIT("every structural rule holds");

    if (!self->health->is_valid &&
        !arena_format(self->mem, &reason, "%" PRIu64 " structural error%s, listed as health issues",
                      errors, errors == 1 ? "" : "s"))
        self->failed = true;
    put(self, CAPABILITY_STRUCTURE,
        self->health->is_valid ? CAPABILITY_COMPLETE : CAPABILITY_INVALID, source_validation,
        reason);
}

/* What is wrong with an invalid trace and what it therefore does not give. */
static cg_str broken(builder *self, const char *consequence)
{
    uint64_t absent = self->health->absent_gradients;
    cg_str said = CG_LIT("the trace has structural errors");

    if (self->health->has_other_error || !self->health->has_gradient_error) {
        if (!arena_format(self->mem, &said, "a structurally invalid trace %s", consequence))
            self->failed = true;
    } else if (absent == 0) {
        if (!arena_format(self->mem, &said, "a trace that breaks its gradient contract %s",
                          consequence))
            self->failed = true;
    } else if (!arena_format(self->mem, &said,
                             "%" PRIu64 " declared gradient%s not present; such a trace %s", absent,
                             absent == 1 ? " is" : "s are", consequence)) {
        self->failed = true;
    }
    return said;
}

static void put_outer_wall(builder *self)
{
    uint32_t closed = self->health->closed_measured_count;
    cg_str source = CG_LIT("measured span");
    cg_str reason = CG_LIT("exactly one closed measured span");
    uint8_t level = CAPABILITY_COMPLETE;

    if (!self->health->is_valid) {
        level = CAPABILITY_INVALID;
        source = source_validation;
        reason = broken(self, "has no trusted measured region");
    } else if (!self->health->is_complete) {
        level = CAPABILITY_UNAVAILABLE;
        reason = CG_LIT("the capture failed, so its measured region was not accepted");
    } else if (closed != 1) {
        level = CAPABILITY_INVALID;
        if (!arena_format(self->mem, &reason,
                          "expected exactly one closed measured span, found %" PRIu32, closed))
            self->failed = true;
    }
    put(self, CAPABILITY_OUTER_WALL, level, source, reason);
}

static void put_host_time(builder *self)
{
    if (!self->health->is_valid)
        put(self, CAPABILITY_HOST_TIME, CAPABILITY_INVALID, source_validation,
            broken(self, "gives no times to rely on"));
    else if (!self->health->is_complete)
        put(self, CAPABILITY_HOST_TIME, CAPABILITY_UNAVAILABLE, source_none,
            CG_LIT("the capture failed, so its span intervals were not accepted"));
    else
        put(self, CAPABILITY_HOST_TIME, CAPABILITY_COMPLETE, CG_LIT("span wall intervals"),
            CG_LIT("every span is closed and lies within its parent"));
}

static void put_exact_gradients(builder *self)
{
    const rec_gradient_contract *exact = self->contract->gradient_contract;
    cg_str source = CG_LIT("exact gradient contract");
    uint8_t level = CAPABILITY_INVALID;
    cg_str reason = {0};

    if (exact == NULL) {
        reason = CG_LIT("declared complete, but the capture has no gradient contract");
    } else if (!self->health->is_gradient_contract_valid) {
        reason = CG_LIT("declared complete, but the gradient contract is malformed");
    } else if (self->health->has_gradient_error) {
        reason = CG_LIT("declared complete, but the recorded gradients break the contract");
    } else if (self->health->has_gradient_warning) {
        level = CAPABILITY_PARTIAL;
        reason = CG_LIT("declared complete, but the capture failed before every key was seen");
    } else {
        level = CAPABILITY_COMPLETE;
        if (!arena_format(self->mem, &reason,
                          "declared complete, %zu gradients recorded for %zu manifest entries",
                          self->trace->gradients.count, exact->expected.count))
            self->failed = true;
    }
    put(self, CAPABILITY_GRADIENTS, level, source, reason);
}

static void put_gpu_correlation(builder *self)
{
    cg_str source = CG_LIT("Nsight NVTX projection");
    cg_str reason = self->gpu->correlation.reason;
    uint8_t level = CAPABILITY_PARTIAL;

    if (!self->health->are_labels_exact) {
        level = CAPABILITY_INVALID;
        source = CG_LIT("trace semantic labels");
        reason = CG_LIT("required semantic labels must be distinct and name exactly one span each");
    } else if (self->gpu->wire.status == GPU_STATUS_FAILED) {
        level = CAPABILITY_INVALID;
        source = CG_LIT("Nsight normalization");
        reason = CG_LIT("the Nsight files could not be read");
    } else if (self->gpu->wire.status == GPU_STATUS_UNAVAILABLE) {
        level = CAPABILITY_UNAVAILABLE;
        reason = CG_LIT("no Nsight evidence to correlate with semantic labels");
    } else if (self->gpu->correlation.is_complete) {
        level = CAPABILITY_COMPLETE;
    }
    put(self, CAPABILITY_GPU_CORRELATION, level, source, reason);
}

static void put_provenance(builder *self)
{
    const doc_gpu_provenance *provenance = &self->gpu->provenance;
    cg_str source = CG_LIT("capture-manifest.json");
    cg_str reason = CG_LIT("the capture manifest binds every used Nsight file to this run");
    uint8_t level = CAPABILITY_COMPLETE;

    if (self->gpu->wire.status == GPU_STATUS_UNAVAILABLE) {
        level = CAPABILITY_UNAVAILABLE;
        reason = CG_LIT("no Nsight evidence to bind to this run");
    } else if (self->gpu->wire.status == GPU_STATUS_FAILED) {
        level = CAPABILITY_INVALID;
        source = CG_LIT("Nsight artifact manifest");
        reason = CG_LIT("the Nsight files could not be read, so nothing is bound");
    } else if (provenance->binding == BINDING_PARTIAL) {
        level = CAPABILITY_PARTIAL;
        source = CG_LIT("Nsight artifact hashes");
        reason = CG_LIT("Nsight files have digests, but no manifest binds them to this run");
    } else if (provenance->binding == BINDING_MISMATCH) {
        level = CAPABILITY_INVALID;
        reason = CG_LIT("the capture manifest does not agree with the files or with this run");
    }
    put(self, CAPABILITY_PROVENANCE, level, source, reason);
}

/* What a broken or cut-off trace does to the levels found so far. */
static void qualify(builder *self)
{
    static const uint8_t affected[] = {
        CAPABILITY_DEVICE_TIME,     CAPABILITY_OPERATIONS,     CAPABILITY_TENSORS,
        CAPABILITY_GRADIENTS,       CAPABILITY_LOGICAL_MEMORY, CAPABILITY_GPU_CORRELATION,
        CAPABILITY_PHYSICAL_MEMORY, CAPABILITY_PROVENANCE,
    };
    const size_t count = sizeof affected / sizeof affected[0];
    const size_t spared = 2; /* the last two survive an invalid trace */

    for (size_t i = 0; !self->health->is_valid && i < count - spared; i++) {
        capability *one = &self->at[affected[i]];

        if (one->level >= CAPABILITY_PARTIAL)
            put(self, affected[i], CAPABILITY_INVALID, source_validation,
                broken(self, "gives nothing to rely on"));
    }
    for (size_t i = 0; !self->health->is_complete && i < count; i++) {
        capability *one = &self->at[affected[i]];

        if (one->level != CAPABILITY_COMPLETE)
            continue;
        one->level = CAPABILITY_PARTIAL;
        if (!arena_format(self->mem, &one->reason, "%.*s; the capture failed and may be cut short",
                          (int)one->reason.len, one->reason.ptr))
            self->failed = true;
    }
}

cg_code capability_build(arena *mem, const trace_doc *trace, const health_report *health,
                         const timing_plane *timing, const gpu_evidence *gpu, capability_set *ret,
                         cg_err *reterr)
{
    capability_set set = {0};
    const rec_contract *contract = trace->run.contract;
    builder self = {.mem = mem,
                    .trace = trace,
                    .contract = contract,
                    .health = health,
                    .gpu = gpu,
                    .at = set.at};

    (void)timing; /* its coverage follows from the same two numbers */
    put_structure(&self);
    put_outer_wall(&self);
    put_host_time(&self);
    put_counted(&self, CAPABILITY_DEVICE_TIME, contract->device_timing, trace->intervals.count);
    put_counted(&self, CAPABILITY_OPERATIONS, contract->operations, trace->ops.count);
    put_counted(&self, CAPABILITY_TENSORS, contract->tensors, trace->tensors.count);
    if (contract->gradients == LEVEL_COMPLETE)
        put_exact_gradients(&self);
    else
        put_counted(&self, CAPABILITY_GRADIENTS, contract->gradients, trace->gradients.count);
    put_counted(&self, CAPABILITY_LOGICAL_MEMORY, contract->logical_memory, trace->memory.count);
    put_counted(&self, CAPABILITY_PHYSICAL_MEMORY, contract->physical_memory, trace->samples.count);
    put_gpu_correlation(&self);
    put_provenance(&self);
    qualify(&self);
    if (self.failed)
        return err_nomem(reterr);
    *ret = set;
    return CG_OK;
}
