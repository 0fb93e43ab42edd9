/* Opening a run, its facts and its documents. */
#include "base/buf.h"
#include "api/caller.h"
#include "api/run.h"
#include "base/os_dir.h"
#include "publish/receipt.h"
#include "schema/join_schema.h"
#include "view/page.h"
#include "view/report.h"
#include "view/text.h"

#include <string.h>

#define TRACE_FILE    "trace.jsonl"
#define MANIFEST_FILE "Cargo.toml"

/* --- what is at a path? --- */

/* The directory a path lies in: "." for a bare name. */
static cg_str parent_of(cg_str path)
{
    size_t slash;

    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    slash = str_find_last(path, '/');
    if (slash == SIZE_MAX)
        return CG_LIT(".");
    while (slash > 0 && path.ptr[slash - 1] == '/')
        slash--;
    return (cg_str){path.ptr, slash > 0 ? slash : 1};
}

static bool join(arena *mem, cg_str directory, const char *name, cg_str *ret)
{
    bool has_slash = directory.len > 0 && directory.ptr[directory.len - 1] == '/';

    return arena_format(mem, ret, "%.*s%s%s", (int)directory.len, directory.ptr,
                        has_slash ? "" : "/", name);
}

/* Is there an entry `name` in `directory`, of whatever kind? */
static cg_code has_entry(const cg_env *env, arena *mem, cg_str directory, const char *name,
                         enum os_kind *ret, cg_err *reterr)
{
    cg_str path;

    if (!join(mem, directory, name, &path))
        return err_nomem(reterr);
    return os_kind_of(env, path, true, ret, reterr);
}

typedef struct place {
    bool takes_augmented; /* in: whoever names Nsight exports may name those beside the trace */
    cg_input_kind kind;
    bool is_file; /* the trace was named itself, and is neither a pipe nor part of a bundle */
    cg_str trace_path;
    cg_str bundle_root;
} place;

static cg_code refuse_augmented(const cg_env *env, arena *mem, cg_str directory, cg_str path,
                                cg_err *reterr)
{
    static const char *const derived[] = {"evidence.json", "nsight"};

    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
        enum os_kind kind;

        CG_TRY(has_entry(env, mem, directory, derived[i], &kind, reterr));
        if (kind != OS_MISSING) {
            cg_fail(reterr, PROBLEM_INPUT_AUGMENTED,
                    "`%s` lies beside the trace without a bundle.json", derived[i]);
            err_in_file(reterr, path);
            return CG_INPUT;
        }
    }
    return CG_OK;
}

/* Rust files below `src`: how many directories inside each other, and entries, are looked at. */
#define SOURCE_LEVELS  4u
#define SOURCE_ENTRIES 20000u

/* A directory to look through, and how deep it lies. */
typedef struct source_place {
    cg_str path;
    unsigned level;
} source_place;

/* The entries of a directory; none when it is not there or too large. */
static cg_code list_of(const cg_env *env, arena *mem, cg_str path, os_entries *ret, cg_err *reterr)
{
    cg_err cause = {0};
    os_dir dir;
    cg_code code = os_dir_open(env, path, &dir, &cause);

    *ret = (os_entries){0};
    if (code == CG_OK) {
        code = os_dir_list(&dir, mem->heap, mem, SOURCE_ENTRIES, ret, &cause);
        os_dir_close(&dir);
    }
    if (code == CG_OK)
        return CG_OK;
    *ret = (os_entries){0};
    if (code == CG_LIMIT || cause.problem == problem_id(PROBLEM_INPUT_MISSING))
        return CG_OK;
    err_in_file(&cause, path);
    if (reterr != NULL && reterr->code == CG_OK)
        *reterr = cause;
    return code;
}

/* A Rust file in the directory, or somewhere below its `src`; absent: none was seen. */
static cg_code find_source(const cg_env *env, arena *mem, cg_str directory, cg_str *ret,
                           cg_err *reterr)
{
    VEC(source_place) open = {0};
    source_place *added = vec_add(mem->heap, &open);
    size_t seen = 0;
    cg_code code = CG_OK;

    *ret = (cg_str){0};
    if (added == NULL)
        return err_nomem(reterr);
    *added = (source_place){directory, 0};
    while (code == CG_OK && open.count > 0 && ret->ptr == NULL && seen < SOURCE_ENTRIES) {
        source_place at = open.at[--open.count];
        os_entries list;

        code = list_of(env, mem, at.path, &list, reterr);
        for (size_t i = 0; code == CG_OK && i < list.count && ret->ptr == NULL; i++) {
            cg_str name = list.at[i].name;
            bool is_inside = at.level > 0 || str_equal(name, CG_LIT("src"));

            seen++;
            if (list.at[i].kind == OS_FILE && str_ends_with(name, CG_LIT(".rs"))) {
                *ret = name;
            } else if (list.at[i].kind == OS_DIRECTORY && is_inside && at.level < SOURCE_LEVELS) {
                added = vec_add(mem->heap, &open);
                if (added == NULL || !join(mem, at.path, name.ptr, &added->path))
                    code = err_nomem(reterr);
                else
                    added->level = at.level + 1;
            }
        }
    }
    vec_free(mem->heap, &open);
    return code;
}

static cg_code refuse_both(cg_str path, cg_str source, const char *what, const char *file,
                           cg_err *reterr)
{
    cg_fail(reterr, PROBLEM_INPUT_KIND, "holds both a crate (`%.*s`) and a %s (`%s`)",
            ERR_STR(source), what, file);
    err_in_file(reterr, path);
    return CG_INPUT;
}

static cg_code look_at_directory(const cg_env *env, arena *mem, cg_str path, place *ret,
                                 cg_err *reterr)
{
    cg_str source = CG_LIT(MANIFEST_FILE);
    enum os_kind sealed;
    enum os_kind trace;
    enum os_kind described;

    CG_TRY(has_entry(env, mem, path, "bundle.json", &sealed, reterr));
    CG_TRY(has_entry(env, mem, path, TRACE_FILE, &trace, reterr));
    CG_TRY(has_entry(env, mem, path, MANIFEST_FILE, &described, reterr));
    if (sealed != OS_MISSING) {
        if (described != OS_MISSING)
            return refuse_both(path, source, "bundle", "bundle.json", reterr);
        ret->kind = CG_INPUT_BUNDLE;
        ret->bundle_root = path;
        return CG_OK;
    }
    if (described == OS_MISSING)
        CG_TRY(find_source(env, mem, path, &source, reterr));
    if (source.ptr != NULL) {
        if (trace != OS_MISSING)
            return refuse_both(path, source, "trace", TRACE_FILE, reterr);
        ret->kind = CG_INPUT_CRATE;
        return CG_OK;
    }
    if (trace != OS_FILE) {
        cg_fail(reterr, PROBLEM_INPUT_KIND,
                "a folder without %s, bundle.json, Cargo.toml or Rust files", TRACE_FILE);
        err_in_file(reterr, path);
        return CG_INPUT;
    }
    if (!ret->takes_augmented)
        CG_TRY(refuse_augmented(env, mem, path, path, reterr));
    ret->kind = CG_INPUT_RAW_TRACE;
    return join(mem, path, TRACE_FILE, &ret->trace_path) ? CG_OK : err_nomem(reterr);
}

static bool is_manifest(cg_str path)
{
    size_t slash = str_find_last(path, '/');
    size_t lead = slash == SIZE_MAX ? 0 : slash + 1;

    return str_equal((cg_str){path.ptr + lead, path.len - lead}, CG_LIT(MANIFEST_FILE));
}

/* How far into a file its schema is looked for. */
#define SCHEMA_REACH 4096u

/* Behind the text that begins at `at` with its quotation mark; `count` when it does not end. */
static size_t end_of_text(const char *bytes, size_t count, size_t at)
{
    for (at++; at < count && bytes[at] != '"'; at++)
        at += bytes[at] == '\\';
    return at < count ? at + 1 : count;
}

/* What follows `"schema":` among the members of the object that the file begins with. */
static cg_str schema_of(const char *bytes, size_t count)
{
    cg_str key = table_model_doc.fields[0].key;
    unsigned depth = 0;
    cg_str last = {0}; /* the text before this place */
    bool is_value = false;

    for (size_t at = 0; at < count; at++) {
        switch (bytes[at]) {
        case ' ':
        case '\t':
        case '\r':
        case '\n': continue;
        case '"': {
            size_t end = end_of_text(bytes, count, at);

            if (end == count)
                return (cg_str){0};
            if (is_value && depth == 1 && str_equal(last, key))
                return (cg_str){bytes + at + 1, end - at - 2};
            last = (cg_str){bytes + at + 1, end - at - 2};
            at = end - 1;
            continue;
        }
        case ':': is_value = true; continue;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']':
            if (depth-- <= 1)
                return (cg_str){0};
            break;
        default: break;
        }
        if (depth == 0)
            return (cg_str){0};
        is_value = false;
        last = (cg_str){0};
    }
    return (cg_str){0};
}

static const struct {
    cg_input_kind kind;
    enum schema_id schema;
} document_kinds[] = {
    {CG_INPUT_DOCUMENT, SCHEMA_COMPARISON},
    {CG_INPUT_DOCUMENT, SCHEMA_SERIES},
    {CG_INPUT_DOCUMENT, SCHEMA_CAMPAIGN_STATUS},
    {CG_INPUT_CAMPAIGN, SCHEMA_CAMPAIGN},
};

/* Which document is in the file? What names none of ours is a trace. */
static cg_code document_kind_of(const cg_env *env, cg_str path, cg_input_kind *ret, cg_err *reterr)
{
    char bytes[SCHEMA_REACH];
    size_t count = 0;
    os_file file;
    cg_str schema;
    cg_code code;

    CG_TRY(os_open_read(env, path, &file, reterr));
    code = os_read(&file, bytes, sizeof bytes, &count, reterr);
    os_close(&file);
    if (code != CG_OK) {
        err_in_file(reterr, path);
        return code;
    }
    schema = schema_of(bytes, count);
    *ret = CG_INPUT_RAW_TRACE;
    if (str_equal(schema, CG_LIT(MODEL_SCHEMA)))
        *ret = CG_INPUT_MODEL;
    if (str_equal(schema, CG_LIT(JOIN_SCHEMA)))
        *ret = CG_INPUT_DOCUMENT;
    for (size_t i = 0; i < sizeof document_kinds / sizeof document_kinds[0]; i++) {
        if (str_equal(schema, schema_id_text(document_kinds[i].schema)))
            *ret = document_kinds[i].kind;
    }
    return CG_OK;
}

/* A trace that never came may have left its spool. */
static cg_code tell_missing(const cg_env *env, arena *mem, cg_str path, cg_err *reterr)
{
    enum os_kind kind = OS_MISSING;
    cg_str spool;

    if (!arena_format(mem, &spool, "%.*s.spool", (int)path.len, path.ptr))
        return err_nomem(reterr);
    if (os_kind_of(env, spool, true, &kind, NULL) == CG_OK && kind == OS_FILE)
        cg_fail(reterr, PROBLEM_TRACE_LEFT,
                "no such file; its recorder left a spool beside it, with `.spool` behind the name");
    else
        cg_fail(reterr, PROBLEM_INPUT_MISSING, "no such file or directory");
    err_in_file(reterr, path);
    return CG_NOT_FOUND;
}

static cg_code look_at(const cg_env *env, arena *mem, cg_str path, place *ret, cg_err *reterr)
{
    enum os_kind kind;
    enum os_kind sealed;
    cg_str parent;

    CG_TRY(os_kind_of(env, path, true, &kind, reterr));
    switch (kind) {
    case OS_MISSING: return tell_missing(env, mem, path, reterr);
    case OS_DIRECTORY: return look_at_directory(env, mem, path, ret, reterr);
    case OS_LINK:
    case OS_OTHER:
        cg_fail(reterr, PROBLEM_INPUT_KIND, "neither a file, a pipe nor a folder");
        err_in_file(reterr, path);
        return CG_INPUT;
    case OS_PIPE:
        ret->kind = CG_INPUT_RAW_TRACE;
        ret->trace_path = path;
        return CG_OK;
    case OS_FILE: break;
    }
    if (str_ends_with(path, CG_LIT(".rs")) || is_manifest(path)) {
        ret->kind = CG_INPUT_CRATE;
        return CG_OK;
    }
    parent = parent_of(path);
    CG_TRY(has_entry(env, mem, parent, "bundle.json", &sealed, reterr));
    if (sealed != OS_MISSING) {
        ret->kind = CG_INPUT_BUNDLE;
        ret->bundle_root = parent;
        return CG_OK;
    }
    if (!ret->takes_augmented)
        CG_TRY(refuse_augmented(env, mem, parent, path, reterr));
    ret->kind = CG_INPUT_RAW_TRACE;
    ret->trace_path = path;
    ret->is_file = true;
    return CG_OK;
}

cg_code cg_input_kind_of(const cg_env *env, const char *path, cg_input_kind *ret, cg_err *reterr)
{
    heap memory;
    arena room;
    place at = {0};
    cg_code code;

    heap_init(&memory, env);
    arena_init(&room, &memory);
    code = look_at(env, &room, str_from(path), &at, reterr);
    if (code == CG_OK && at.is_file)
        code = document_kind_of(env, at.trace_path, &at.kind, reterr);
    arena_free(&room);
    if (code == CG_OK)
        *ret = at.kind;
    return code;
}

/* --- open --- */

static cg_code new_run(const cg_env *env, cg_run **ret, cg_err *reterr)
{
    heap start;
    cg_run *run;

    heap_init(&start, env);
    run = heap_resize(&start, NULL, 0, sizeof *run);
    if (run == NULL)
        return err_nomem(reterr);
    memset(run, 0, sizeof *run);
    run->heap = start;
    arena_init(&run->arena, &run->heap);
    *ret = run;
    return CG_OK;
}

void cg_run_free(cg_run *run)
{
    if (run == NULL)
        return;
    evidence_free(run->evidence);
    arena_free(&run->arena);
    heap_release(&run->heap, run, sizeof *run);
}

static void emit_receipt(jsonw *out, const void *context)
{
    sc_write(out, &table_receipt, context);
}

/* Derive from the verified bundle and compare; the bundle is closed when that is done. */
static cg_code read_bundle(cg_run *run, bundle *from, cg_err *reterr)
{
    doc_receipt receipt = bundle_receipt(from);

    CG_TRY(receipt_keep(&receipt, &run->arena, &run->receipt, reterr));
    CG_TRY(bundle_derive(from, &run->evidence, reterr));
    CG_TRY(bundle_compare(from, run->evidence, &run->arena, &run->difference, reterr));
    run->input.verification = (sc_stream){emit_receipt, &run->receipt};
    return bundle_recheck(from, reterr);
}

static cg_code open_bundle(const cg_env *env, cg_run *run, cg_str path, cg_str root, cg_err *reterr)
{
    bundle *from;
    cg_code code;

    if (!arena_text(&run->arena, path, &run->input.requested_path) ||
        !arena_text(&run->arena, root, &run->input.bundle_root) ||
        !join(&run->arena, root, TRACE_FILE, &run->input.trace_path))
        return err_nomem(reterr);
    CG_TRY(bundle_open(env, root, &from, reterr));
    code = read_bundle(run, from, reterr);
    bundle_free(from);
    return code;
}

/* A document must not show what the published evidence says otherwise. */
static cg_code check_parts(const cg_run *run, uint32_t shown, cg_err *reterr)
{
    const difference *found = &run->difference;

    for (unsigned i = 0; i < PART_COUNT; i++) {
        if ((found->parts & shown & UINT32_C(1) << i) == 0)
            continue;
        cg_fail(reterr, PROBLEM_BUNDLE_DIFFERS, "`%.*s` is not what follows from the trace",
                ERR_STR(found->place[i]));
        err_in_file(reterr, run->input.requested_path);
        return CG_INPUT;
    }
    return CG_OK;
}

#define PARTS_SUMMARY                                                                              \
    (PART(HEALTH) | PART(CAPABILITIES) | PART(FINDINGS) | PART(GAPS) | PART(STATS) |               \
     PART(TIMING) | PART(MEMORY) | PART(GPU) | PART(GRAPH_GRADIENTS) | PART(GRAPH_SUMMARY))

/* What an answer of trace-query/5 shows; kinds that evidence/4 has no part for show none. */
static uint32_t parts_of_query(cg_query_kind kind)
{
    static const uint32_t parts[CG_QUERY_COUNT] = {
        [CG_QUERY_SLOWEST_HOST] = PART(GRAPH_SUMMARY),
        [CG_QUERY_SLOWEST_DEVICE] = PART(GRAPH_SUMMARY),
        [CG_QUERY_HEAVIEST] = PART(GRAPH_SUMMARY) | PART(GRAPH_SPANS),
        [CG_QUERY_MEMORY] = PART(MEMORY),
        [CG_QUERY_SPANS] = PART(GRAPH_SPANS) | PART(GRAPH_EDGES),
        [CG_QUERY_TENSORS] = PART(GRAPH_TENSORS),
        [CG_QUERY_TENSOR_STATS] = PART(STATS),
        [CG_QUERY_GRADIENTS] = PART(GRAPH_GRADIENTS),
        [CG_QUERY_GPU_STATUS] = PART(GPU),
        [CG_QUERY_GPU_CORRELATION] = PART(GPU),
        [CG_QUERY_GPU_PHASES] = PART(GPU),
        [CG_QUERY_GPU_KERNELS] = PART(GPU),
        [CG_QUERY_GPU_GAPS] = PART(GPU),
    };

    return parts[kind] | PART(CAPABILITIES);
}

/* `nsight` absent: none. */
static cg_code open_place(const cg_env *env, cg_run *run, cg_str path, cg_str nsight,
                          cg_err *reterr)
{
    place at = {.takes_augmented = nsight.ptr != NULL};
    trace_doc *trace;

    CG_TRY(look_at(env, &run->arena, path, &at, reterr));
    if (at.kind == CG_INPUT_BUNDLE && nsight.ptr != NULL)
        return cg_fail(reterr, PROBLEM_INPUT_KIND,
                       "a bundle has its own Nsight files; none can be added to it");
    if (at.kind == CG_INPUT_BUNDLE)
        return open_bundle(env, run, path, at.bundle_root, reterr);
    if (at.kind == CG_INPUT_CRATE)
        return cg_fail(reterr, PROBLEM_INPUT_KIND, "this is a crate, not a run");
    if (!arena_text(&run->arena, path, &run->input.requested_path) ||
        !arena_text(&run->arena, at.trace_path, &run->input.trace_path))
        return err_nomem(reterr);
    CG_TRY(trace_read_file(env, run->input.trace_path, &trace, reterr));
    return evidence_build_with_nsight(env, trace, nsight, true, &run->evidence, reterr);
}

cg_code cg_run_open(const cg_env *env, const char *path, cg_run **ret, cg_err *reterr)
{
    return cg_run_open_with_nsight(env, path, NULL, ret, reterr);
}

cg_code cg_run_open_with_nsight(const cg_env *env, const char *path, const char *nsight_directory,
                                cg_run **ret, cg_err *reterr)
{
    cg_str nsight = {0};
    cg_run *run;
    cg_code code;

    if (nsight_directory != NULL)
        nsight = str_from(nsight_directory);
    CG_TRY(new_run(env, &run, reterr));
    code = open_place(env, run, str_from(path), nsight, reterr);
    if (code != CG_OK) {
        err_in_file(reterr, str_from(path));
        cg_run_free(run);
        return code;
    }
    *ret = run;
    return CG_OK;
}

static cg_code open_bytes(const cg_env *env, cg_run *run, cg_str text, cg_str name, cg_err *reterr)
{
    trace_doc *trace;

    if (!arena_text(&run->arena, name, &run->input.requested_path))
        return err_nomem(reterr);
    run->input.trace_path = run->input.requested_path;
    CG_TRY(trace_read_text(env, text, &trace, reterr));
    return evidence_build(env, trace, &run->evidence, reterr);
}

cg_code cg_run_read(const cg_env *env, const void *bytes, size_t count, const char *name,
                    cg_run **ret, cg_err *reterr)
{
    cg_run *run;
    cg_code code;

    CG_TRY(new_run(env, &run, reterr));
    code = open_bytes(env, run, (cg_str){bytes, count}, str_from(name), reterr);
    if (code != CG_OK) {
        err_in_file(reterr, str_from(name));
        cg_run_free(run);
        return code;
    }
    *ret = run;
    return CG_OK;
}

/* --- documents --- */

cg_code cg_write_evidence(const cg_run *run, const cg_format *format, cg_sink sink, cg_err *reterr)
{
    text_style style;

    CG_TRY(check_parts(run, PARTS_ALL, reterr));
    if (caller_wants_text(format, &style))
        return text_evidence(run->evidence, &run->input, &style, sink, reterr);
    return document_evidence(run->evidence, sink, reterr);
}

cg_code cg_write_summary(const cg_run *run, const cg_format *format, cg_sink sink, cg_err *reterr)
{
    text_style style;

    CG_TRY(check_parts(run, PARTS_SUMMARY, reterr));
    if (caller_wants_text(format, &style))
        return text_summary(run->evidence, &run->input, &style, sink, reterr);
    return document_summary(run->evidence, &run->input, sink, reterr);
}

cg_code cg_write_overview(const cg_run *run, const cg_format *format, cg_sink sink, cg_err *reterr)
{
    text_style style;
    /* Of the nodes it shows only how many there are. */
    uint32_t counted = run->difference.lengths & PART(GRAPH_SPANS);

    CG_TRY(check_parts(run, PARTS_SUMMARY | counted, reterr));
    if (caller_wants_text(format, &style))
        return text_overview(run->evidence, &run->input, &style, sink, reterr);
    return document_overview(run->evidence, &run->input, sink, reterr);
}

cg_code cg_write_report(const cg_run *run, cg_sink sink, cg_err *reterr)
{
    CG_TRY(check_parts(run, PARTS_ALL, reterr));
    return report_write(run->evidence, sink, reterr);
}

bool cg_page_is_built(void)
{
    return page_is_built();
}

cg_code run_check_whole(const cg_run *run, cg_err *reterr)
{
    return check_parts(run, PARTS_ALL, reterr);
}

cg_code cg_write_page(const cg_run *run, cg_sink sink, cg_err *reterr)
{
    CG_TRY(run_check_whole(run, reterr));
    return page_write(run->evidence, sink, reterr);
}

/* --- queries --- */

/* The public list and the schema's table are the same questions in the same order. */
#define X(name, word, graph, filter, collection, about)                                            \
    _Static_assert((int)CG_QUERY_##name == (int)QUERY_##name, #name);
CG_QUERIES(X)
#undef X

static const char *const query_words[] = {
#define X(name, word, graph, filter, collection, about) word,
    CG_QUERIES(X)
#undef X
};

bool cg_query_find(const char *word, cg_query_kind *ret)
{
    for (cg_query_kind i = 0; i < CG_QUERY_COUNT; i++) {
        if (strcmp(query_words[i], word) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

const char *cg_query_word(cg_query_kind kind)
{
    return kind < CG_QUERY_COUNT ? query_words[kind] : "";
}

cg_code cg_write_query(const cg_run *run, const cg_query *query, const cg_format *format,
                       cg_sink sink, cg_err *reterr)
{
    text_style style;
    document_query question;
    cg_query asked;

    caller_read(&asked, sizeof asked, query);
    if (asked.size < offsetof(cg_query, kind) + sizeof asked.kind)
        return cg_fail(reterr, PROBLEM_USAGE, "a query begins with its size and has a kind");
    if (asked.kind >= CG_QUERY_COUNT)
        return cg_fail(reterr, PROBLEM_USAGE, "query kind %u does not exist", (unsigned)asked.kind);
    CG_TRY(check_parts(run, parts_of_query(asked.kind), reterr));
    question = (document_query){
        .kind = asked.kind,
        .word = str_from(cg_query_word(asked.kind)),
        .label = asked.label,
        .label_prefix = asked.label_prefix,
        .has_limit = asked.has_limit,
        .limit = asked.limit,
        .offset = asked.offset,
    };
    if (caller_wants_text(format, &style))
        return text_query(run->evidence, &run->input, &question, &style, sink, reterr);
    return document_query_write(run->evidence, &run->input, &question, sink, reterr);
}

cg_code cg_write_protocol(const cg_env *env, const cg_command_row *commands, size_t count,
                          const cg_format *format, cg_sink sink, cg_err *reterr)
{
    text_style style;
    heap memory;
    arena room;
    document_command *rows;
    cg_code code;

    heap_init(&memory, env);
    arena_init(&room, &memory);
    rows = arena_take(&room, (count > 0 ? count : 1) * sizeof *rows);
    if (rows == NULL) {
        code = err_nomem(reterr);
    } else {
        for (size_t i = 0; i < count; i++)
            rows[i] = (document_command){str_from(commands[i].name), str_from(commands[i].about)};
        if (caller_wants_text(format, &style)) {
            code = text_protocol(&memory, rows, count, &style, sink, reterr);
        } else {
            code = document_protocol(&memory, rows, count, sink, reterr);
        }
    }
    arena_free(&room);
    return code;
}

/* --- facts --- */

void cg_run_facts_of(const cg_run *run, cg_run_facts *ret)
{
    const evidence *from = run->evidence;
    const trace_doc *trace = from->trace;
    cg_run_facts facts = {
        .size = sizeof facts,
        .is_structurally_valid = from->health.is_valid,
        .is_capture_complete = from->health.is_complete,
        .has_graph = from->has_graph,
        .is_train = trace->run.phase == PHASE_TRAIN,
        .error_count = from->health.error_count,
        .warning_count = from->health.warning_count,
        .event_count = trace->event_count,
        .byte_count = trace->byte_count,
        .span_count = trace->spans.count,
        .operation_count = trace->ops.count,
        .tensor_count = trace->tensors.count,
        .statistics_count = trace->stats.count,
        .memory_event_count = trace->memory.count,
        .gradient_count = trace->gradients.count,
        .capture_step = trace->run.capture_step,
        .run_id = trace->run.run_id,
        .correlation_id = trace->run.correlation_id,
        .entrypoint = trace->run.entrypoint,
        .device = trace->run.device,
    };
    size_t size = ret->size < sizeof facts ? ret->size : sizeof facts;

    if (from->has_graph)
        facts.outer_wall_time_ns = from->graph.total_ns[from->graph.measured];
    facts.size = (uint32_t)size;
    memcpy(ret, &facts, size);
}

bool cg_run_issue(const cg_run *run, uint64_t index, cg_issue *ret)
{
    const health_report *health = &run->evidence->health;

    if (index >= health->issues.count)
        return false;
    ret->is_error = health->issues.at[index].is_error;
    ret->code = health_code_word(health->issues.at[index].code);
    return true;
}

bool cg_run_span(const cg_run *run, uint64_t index, cg_span *ret)
{
    const evidence *from = run->evidence;
    const trace_doc *trace = from->trace;
    const trace_span *span;
    cg_span row = {0};

    if (index >= trace->spans.count)
        return false;
    span = &trace->spans.at[index];
    row.id = trace_text(trace, span->id);
    row.name = trace_text(trace, span->name);
    if (span->parent_id != 0)
        row.parent_id = trace_text(trace, span->parent_id);
    row.start_ns = span->start_ns;
    row.total_ns = row.self_ns = span->duration_ns;
    row.is_closed = span->is_closed;
    row.is_measured = span->is_measured;
    if (from->has_graph) {
        row.total_ns = from->graph.total_ns[index];
        row.self_ns = from->graph.self_ns[index];
        if (from->graph.has_memory) {
            row.has_allocated = from->graph.has_allocated[index];
            row.allocated_bytes = row.has_allocated ? from->graph.allocated_bytes[index] : 0;
        }
    }
    *ret = row;
    return true;
}
