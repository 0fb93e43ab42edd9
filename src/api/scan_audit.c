/* An audit: the documents of a crate as files of one directory. */
#include "api/caller.h"
#include "api/scan.h"
#include "base/os_place.h"

#include <string.h>

#define ROWS_OF_JOIN 10000u /* of each list of join.json */

typedef struct audit {
    const cg_scan *scan;
    const char *directory;
    arena *mem;
    uint64_t finding_count;
} audit;

/* --- what must not be written over --- */

static cg_code refuse(enum problem problem, const char *path, const char *why, cg_err *reterr)
{
    cg_code code = cg_fail(reterr, problem, "%s", why);

    err_in_file(reterr, str_from(path));
    return code;
}

/* `name` beside the manifest; absent: the crate has none. */
static cg_code beside_manifest(const cg_scan *self, arena *mem, const char *name, cg_str *ret,
                               cg_err *reterr)
{
    const model_cargo *cargo = self->document->doc.cargo;
    size_t slash = cargo != NULL ? str_find_last(cargo->manifest_path, '/') : SIZE_MAX;

    *ret = (cg_str){0};
    if (slash == SIZE_MAX)
        return CG_OK;
    return arena_format(mem, ret, "%.*s/%s", (int)slash, cargo->manifest_path.ptr, name)
               ? CG_OK
               : err_nomem(reterr);
}

static cg_code guard_file(const cg_scan *self, const char *path, cg_str file, cg_err *reterr)
{
    bool is_met = false;

    if (file.ptr == NULL)
        return CG_OK;
    CG_TRY(os_same_file(self->env, str_from(path), file, &is_met, reterr));
    return is_met ? refuse(PROBLEM_OUTPUT_INPUT, path, "the output is an input of this command",
                           reterr)
                  : CG_OK;
}

static cg_code guard(const cg_scan *self, arena *mem, const char *path, cg_err *reterr)
{
    static const char *const inputs[] = {"Cargo.toml", "Cargo.lock", "candle-graph.toml"};
    bool is_met = false;
    cg_str place;

    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        CG_TRY(beside_manifest(self, mem, inputs[i], &place, reterr));
        CG_TRY(guard_file(self, path, place, reterr));
    }
    if (self->has_header)
        CG_TRY(guard_file(self, path, self->checkpoint_path, reterr));
    CG_TRY(guard_file(self, path, self->runtime_path, reterr));
    for (size_t i = 0; i < scan_run_count(self); i++) {
        cg_str run = scan_run_path(self, i);

        CG_TRY(guard_file(self, path, run, reterr));
        if (!arena_format(mem, &place, "%.*s/trace.jsonl", (int)run.len, run.ptr))
            return err_nomem(reterr);
        CG_TRY(guard_file(self, path, place, reterr));
    }
    CG_TRY(beside_manifest(self, mem, "src", &place, reterr));
    if (place.ptr != NULL)
        CG_TRY(os_is_within(self->env, str_from(path), place, &is_met, reterr));
    return is_met ? refuse(PROBLEM_OUTPUT_SOURCE, path,
                           "the output would lie among the crate's own sources", reterr)
                  : CG_OK;
}

cg_code cg_scan_guard(const cg_scan *self, const char *path, cg_err *reterr)
{
    heap memory;
    arena room;
    cg_code code;

    heap_init(&memory, self->env);
    arena_init(&room, &memory);
    code = guard(self, &room, path, reterr);
    arena_free(&room);
    return code;
}

/* A folder of its own: beside the manifest its files would pass for the crate's. */
static cg_code guard_directory(const cg_scan *self, arena *mem, const char *directory,
                               cg_err *reterr)
{
    bool is_met = false;
    cg_str place;

    CG_TRY(cg_scan_guard(self, directory, reterr));
    CG_TRY(beside_manifest(self, mem, ".", &place, reterr));
    if (place.ptr != NULL)
        CG_TRY(os_same_file(self->env, str_from(directory), place, &is_met, reterr));
    return is_met ? refuse(PROBLEM_OUTPUT_SOURCE, directory,
                           "the audit would lie beside the crate's manifest", reterr)
                  : CG_OK;
}

/* --- the files --- */

enum {
#define X(id, name, need) AUDIT_##id,
    CG_AUDIT_FILES(X)
#undef X
        AUDIT_COUNT
};

enum need { ALWAYS, RUNTIME_TRACE, VIEWER, CHECKPOINT, RUNS };

static const struct {
    const char *name;
    enum need need;
} files[] = {
#define X(id, name, need) {name, need},
    CG_AUDIT_FILES(X)
#undef X
};

typedef cg_code write_document(const audit *self, cg_sink sink, cg_err *reterr);

static cg_code write_kind(const audit *self, const char *kind, uint64_t limit, cg_sink sink,
                          cg_err *reterr)
{
    cg_scan_query query = {
        .size = sizeof query, .kind = kind, .has_limit = limit > 0, .limit = limit};

    return cg_write_scan_query(self->scan, &query, NULL, sink, reterr);
}

static cg_code write_summary(const audit *self, cg_sink sink, cg_err *reterr)
{
    return write_kind(self, "summary", 0, sink, reterr);
}

static cg_code write_doctor(const audit *self, cg_sink sink, cg_err *reterr)
{
    return write_kind(self, "doctor", 0, sink, reterr);
}

static cg_code write_improvement(const audit *self, cg_sink sink, cg_err *reterr)
{
    return write_kind(self, "model_improvement", 0, sink, reterr);
}

/* All of them: a list that is cut without a word misleads. */
static cg_code write_findings(const audit *self, cg_sink sink, cg_err *reterr)
{
    uint64_t limit = self->finding_count > 100 ? self->finding_count : 0;

    return write_kind(self, "findings", limit, sink, reterr);
}

static cg_code write_model(const audit *self, cg_sink sink, cg_err *reterr)
{
    return cg_write_model(self->scan, NULL, sink, reterr);
}

static cg_code write_runtime(const audit *self, cg_sink sink, cg_err *reterr)
{
    return write_kind(self, "runtime", 0, sink, reterr);
}

static cg_code write_page(const audit *self, cg_sink sink, cg_err *reterr)
{
    return cg_write_model_page(self->scan, sink, reterr);
}

static cg_code write_checkpoint(const audit *self, cg_sink sink, cg_err *reterr)
{
    return cg_write_checkpoint(self->scan, NULL, sink, reterr);
}

/* Whole, as far as that is any use: a run may name a million tensors. */
static cg_code write_join(const audit *self, cg_sink sink, cg_err *reterr)
{
    cg_join_query query = {.size = sizeof query, .has_limit = true, .limit = ROWS_OF_JOIN};

    return cg_write_join(self->scan, &query, NULL, sink, reterr);
}

static cg_code write_file(const audit *self, const char *name, write_document *write,
                          cg_err *reterr)
{
    const char *inputs[3];
    size_t count = 0;
    cg_output *output;
    cg_str path;
    cg_code code;

    if (self->scan->has_header)
        inputs[count++] = self->scan->checkpoint_path.ptr;
    if (self->scan->runtime != NULL)
        inputs[count++] = self->scan->runtime_path.ptr;
    if (!arena_format(self->mem, &path, "%s/%s", self->directory, name))
        return err_nomem(reterr);
    CG_TRY(cg_output_open(self->scan->env, path.ptr, inputs, count, &output, reterr));
    code = write(self, cg_output_sink(output), reterr);
    if (code == CG_OK || code == CG_OUTPUT) {
        if (reterr != NULL)
            memset(reterr, 0, sizeof *reterr);
        return cg_output_commit(output, reterr);
    }
    cg_output_drop(output);
    return code;
}

cg_code cg_audit(const cg_scan *self, const char *directory, cg_err *reterr)
{
    static write_document *const writers[] = {[AUDIT_SUMMARY] = write_summary,
                                              [AUDIT_DOCTOR] = write_doctor,
                                              [AUDIT_IMPROVEMENT] = write_improvement,
                                              [AUDIT_FINDINGS] = write_findings,
                                              [AUDIT_MODEL] = write_model,
                                              [AUDIT_RUNTIME] = write_runtime,
                                              [AUDIT_PAGE] = write_page,
                                              [AUDIT_CHECKPOINT] = write_checkpoint,
                                              [AUDIT_JOIN] = write_join};
    const bool is_there[] = {[ALWAYS] = true,
                             [RUNTIME_TRACE] = self->runtime != NULL,
                             [VIEWER] = cg_page_is_built(),
                             [CHECKPOINT] = self->has_checkpoint,
                             [RUNS] = scan_run_count(self) > 0};
    audit work = {
        .scan = self, .directory = directory, .finding_count = self->document->doc.findings.count};
    heap memory;
    arena room;
    cg_code code;

    /* Joined with a name, an empty path would be the root of the system. */
    if (directory == NULL || *directory == '\0')
        return cg_fail(reterr, PROBLEM_USAGE, "the folder to write the audit into has no name");
    heap_init(&memory, self->env);
    arena_init(&room, &memory);
    work.mem = &room;
    code = guard_directory(self, &room, directory, reterr);
    for (size_t i = 0; code == CG_OK && i < AUDIT_COUNT; i++) {
        if (is_there[files[i].need])
            code = write_file(&work, files[i].name, writers[i], reterr);
    }
    arena_free(&room);
    return code;
}
