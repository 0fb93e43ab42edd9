#include "exec/nsight_manifest.h"

#include <inttypes.h>

#include "base/intern.h"
#include "codec/json.h"
#include "schema/nsight_schema.h"
#include "schema/reader.h"

cg_code nsight_labels_of(heap *from, arena *mem, sc_strs required, sc_strs gpu_expected,
                         sc_strs cpu_only, nsight_labels *ret, cg_err *reterr)
{
    bool has_classes = gpu_expected.count > 0 || cpu_only.count > 0;
    nsight_set sets[3];

    CG_TRY(nsight_set_make(from, mem, required, &sets[0], reterr));
    CG_TRY(nsight_set_make(from, mem, has_classes ? gpu_expected : required, &sets[1], reterr));
    CG_TRY(nsight_set_make(from, mem, cpu_only, &sets[2], reterr));
    *ret = (nsight_labels){sets[0].texts, sets[1].texts, sets[2].texts};
    return CG_OK;
}

/* --- reading --- */

static cg_code parse(nsight_files *files, json_reader *reader, cg_str text,
                     doc_nsight_manifest **ret, cg_err *reterr)
{
    doc_nsight_manifest *manifest = arena_take(files->mem, sizeof *manifest);
    yyjson_val *value;
    json_fault fault;
    cg_code code;

    if (manifest == NULL)
        return err_nomem(reterr);
    code = json_read(reader, text, &value, &fault);
    if (code == CG_NOMEM)
        return err_nomem(reterr);
    if (code != CG_OK)
        return cg_fail(reterr, PROBLEM_FIELD_TYPE, "no JSON document: %s at byte %zu", fault.text,
                       fault.offset);
    CG_TRY(sc_read(&table_nsight_manifest, value, files->mem, manifest, reterr));
    CG_TRY(sc_keep(&table_nsight_manifest, manifest, files->mem, reterr));
    *ret = manifest;
    return CG_OK;
}

cg_code nsight_manifest_read(nsight_files *files, nsight_notes *notes, doc_nsight_manifest **ret,
                             cg_err *reterr)
{
    uint64_t ceiling = limit_of(files->env, CG_LIMIT_JSON_DOCUMENT_BYTES);
    cg_err fault = {0};
    json_reader reader;
    buf text;
    cg_code code;

    *ret = NULL;
    json_init(&reader, files->heap, limit_of(files->env, CG_LIMIT_JSON_DEPTH));
    buf_init(&text, files->heap, ceiling < SIZE_MAX ? (size_t)ceiling : SIZE_MAX);
    code = nsight_files_text(files, CG_LIT(NSIGHT_MANIFEST_FILE), &text, &fault);
    if (code == CG_OK)
        code = parse(files, &reader, buf_text(&text), ret, &fault);
    buf_free(&text);
    json_free(&reader);
    if (nsight_is_fault(code)) {
        nsight_note(notes, NSIGHT_MANIFEST_FILE " is not used: %s", fault.text);
        return CG_OK;
    }
    if (code != CG_OK && reterr != NULL && reterr->code == CG_OK)
        *reterr = fault;
    return code;
}

/* --- checking --- */

typedef struct check {
    nsight_files *files;
    const doc_nsight_manifest *manifest;
    const nsight_used *used;
    nsight_notes *notes;
    intern paths; /* declared so far */
} check;

static cg_code check_labels(check *self, sc_strs declared, sc_strs wanted, const char *what,
                            bool flags_duplicates, cg_err *reterr)
{
    nsight_set set;

    CG_TRY(nsight_set_make(self->files->heap, self->files->mem, declared, &set, reterr));
    if (flags_duplicates && set.had_duplicates)
        nsight_note(self->notes, "the manifest repeats %s labels", what);
    if (!nsight_set_equal(set.texts, wanted))
        nsight_note(self->notes, "the %s labels of the manifest are not those of the trace", what);
    return CG_OK;
}

/* The used file of this path, or NULL. */
static const doc_artifact *find_used(const nsight_used *used, cg_str path)
{
    size_t low = 0;
    size_t high = used->table_count;

    if (used->raw_report != NULL && str_equal(used->raw_report->path, path))
        return used->raw_report;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(used->tables[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < used->table_count && str_equal(used->tables[low].path, path) ? &used->tables[low]
                                                                              : NULL;
}

static bool is_digest_equal(cg_str declared, cg_str lower)
{
    return declared.len == lower.len && str_equal_nocase(declared, lower);
}

static cg_code check_content(check *self, const doc_artifact *declared, cg_err *reterr)
{
    const doc_artifact *found = find_used(self->used, declared->path);
    doc_artifact read;
    cg_err fault = {0};

    if (found == NULL) {
        cg_code code = nsight_files_digest(self->files, declared->path, &read, &fault);

        if (nsight_is_fault(code)) {
            nsight_note(self->notes, "a declared file is not there: %s", fault.text);
            return CG_OK;
        }
        if (code != CG_OK) {
            if (reterr != NULL && reterr->code == CG_OK)
                *reterr = fault;
            return code;
        }
        found = &read;
    }
    if (found->size_bytes != declared->size_bytes)
        nsight_note(self->notes, "`%.*s` has %" PRIu64 " bytes, the manifest declares %" PRIu64,
                    ERR_STR(declared->path), found->size_bytes, declared->size_bytes);
    if (!is_digest_equal(declared->sha256, found->sha256))
        nsight_note(self->notes, "the SHA-256 of `%.*s` is not the one that the manifest declares",
                    ERR_STR(declared->path));
    return CG_OK;
}

static cg_code check_artifact(check *self, const doc_artifact *declared, cg_err *reterr)
{
    size_t before = intern_count(&self->paths);

    if (intern_add(&self->paths, declared->path) == 0)
        return err_nomem(reterr);
    if (intern_count(&self->paths) == before) {
        nsight_note(self->notes, "`%.*s` is declared twice", ERR_STR(declared->path));
        return CG_OK;
    }
    if (!os_dir_is_safe(declared->path)) {
        nsight_note(self->notes, "the declared path `%.*s` leads out of the folder",
                    ERR_STR(declared->path));
        return CG_OK;
    }
    return check_content(self, declared, reterr);
}

static void check_declared(check *self, const doc_artifact *used)
{
    if (intern_find(&self->paths, used->path) == 0)
        nsight_note(self->notes, "the manifest does not declare `%.*s`", ERR_STR(used->path));
}

static cg_code check_artifacts(check *self, cg_err *reterr)
{
    const doc_artifact *artifacts = self->manifest->artifacts.at;

    for (size_t i = 0; i < self->manifest->artifacts.count; i++)
        CG_TRY(check_artifact(self, &artifacts[i], reterr));
    for (size_t i = 0; i < self->used->table_count; i++)
        check_declared(self, &self->used->tables[i]);
    if (self->used->raw_report != NULL)
        check_declared(self, self->used->raw_report);
    return CG_OK;
}

static cg_code check_all(check *self, const nsight_labels *labels, cg_err *reterr)
{
    const doc_nsight_manifest *manifest = self->manifest;
    bool has_classes = manifest->gpu_labels.count > 0 || manifest->cpu_labels.count > 0;

    if (!str_equal(manifest->schema, schema_id_text(SCHEMA_NSIGHT_CAPTURE)))
        nsight_note(self->notes, "the manifest says schema `%.*s`, expected `%.*s`",
                    ERR_STR(manifest->schema), ERR_STR(schema_id_text(SCHEMA_NSIGHT_CAPTURE)));
    if (self->used->raw_report == NULL)
        nsight_note(self->notes, "there is no raw report (*." NSIGHT_RAW_EXTENSION ")");
    CG_TRY(
        check_labels(self, manifest->required_labels, labels->required, "required", true, reterr));
    /* Repetitions among the required ones are told once. */
    CG_TRY(check_labels(self, has_classes ? manifest->gpu_labels : manifest->required_labels,
                        labels->gpu_expected, "GPU", has_classes, reterr));
    CG_TRY(check_labels(self, manifest->cpu_labels, labels->cpu_only, "CPU-only", true, reterr));
    return check_artifacts(self, reterr);
}

cg_code nsight_manifest_check(nsight_files *files, const doc_nsight_manifest *manifest,
                              const nsight_used *used, const nsight_labels *labels, cg_str run_id,
                              cg_str correlation_id, nsight_notes *notes, cg_err *reterr)
{
    check self = {.files = files, .manifest = manifest, .used = used, .notes = notes};
    const doc_nsight_run *run = manifest->run;
    const doc_nsight_correlation *correlation = manifest->correlation;
    cg_code code;

    if (!intern_init(&self.paths, files->heap, os_random(files->env)))
        return err_nomem(reterr);
    code = check_all(&self, labels, reterr);
    intern_free(&self.paths);
    if (code != CG_OK)
        return code;
    if (!str_equal(run->id, run_id))
        nsight_note(notes, "the manifest is about run `%.*s`, the trace about `%.*s`",
                    ERR_STR(run->id), ERR_STR(run_id));
    if (!str_equal(correlation->id, correlation_id))
        nsight_note(notes, "the manifest has correlation id `%.*s`, the trace `%.*s`",
                    ERR_STR(correlation->id), ERR_STR(correlation_id));
    return notes->failed ? err_nomem(reterr) : CG_OK;
}
