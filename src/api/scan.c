/* A crate: opening it, and its documents. */
#include "api/scan.h"

#include "api/caller.h"
#include "api/scan_repository.h"
#include "exec/health.h"
#include "model/baseline.h"
#include "model/cargo_lines.h"
#include "model/explain.h"
#include "model/findings_out.h"
#include "model/gate.h"
#include "model/query.h"
#include "model/runtime_merge.h"
#include "model/runtime_text.h"
#include "model/sarif.h"
#include "model/text_answer.h"
#include "model/text_model.h"

#include <string.h>

/* --- open --- */

/* The caller's words, which stay only for the call. */
static bool copy_word(arena *mem, const char *from, cg_str *ret)
{
    return arena_text(mem, str_from(from), ret);
}

static bool copy_words(arena *mem, const char *const *from, size_t count, cargo_strs *ret)
{
    cg_str *words = arena_take(mem, (count + 1) * sizeof *words);

    for (size_t i = 0; words != NULL && i < count; i++) {
        if (!copy_word(mem, from[i], &words[i]))
            return false;
    }
    *ret = (cargo_strs){words, count};
    return words != NULL;
}

static cg_code take_request(cg_scan *self, const cg_scan_request *request, cg_err *reterr)
{
    scan_options *options = &self->options;
    arena *mem = &self->mem;

    if (request->size < offsetof(cg_scan_request, path) + sizeof request->path)
        return cg_fail(reterr, PROBLEM_USAGE, "a request begins with its size and has a path");
    options->is_heuristic = request->is_heuristic;
    options->is_structure = request->is_structure;
    options->is_findings = request->is_findings && !request->is_heuristic &&
                           request->cache_directory == NULL && request->runtime_trace == NULL;
    options->cargo.is_all_features = request->has_all_features;
    options->cargo.is_no_default_features = request->has_no_default_features;
    options->cargo.is_asking = request->asks_cargo;
    if (!copy_word(mem, request->path != NULL ? request->path : ".", &self->path) ||
        !copy_word(mem, request->package, &options->cargo.package) ||
        !copy_word(mem, request->target, &options->cargo.target) ||
        !copy_word(mem, request->cargo_target, &options->cargo.cargo_target) ||
        !copy_word(mem, request->root, &options->root) ||
        !copy_words(mem, request->features, request->feature_count, &options->cargo.features) ||
        !copy_words(mem, request->sources, request->source_count, &options->cargo.sources))
        return err_nomem(reterr);
    return CG_OK;
}

cg_code scan_open_header(cg_scan *self, const char *path, cg_err *reterr)
{
    if (self->has_header && str_equal(self->checkpoint_path, str_from(path)))
        return CG_OK;
    if (self->has_header)
        safetensors_free(&self->header);
    self->has_header = false;
    if (!copy_word(&self->mem, path, &self->checkpoint_path))
        return err_nomem(reterr);
    CG_TRY(safetensors_open(self->env, &self->heap, self->checkpoint_path, &self->header, reterr));
    self->has_header = true;
    return CG_OK;
}

static cg_code read_program(cg_scan *self, cg_err *reterr)
{
    scan_options options = self->options;
    cg_code code;

    options.graph = self->cache.graph; /* read already when there is a cache */
    code = scan_open(self->env, self->path, &options, &self->of, reterr);
    return code == CG_NOMEM ? err_nomem(reterr) : code;
}

cg_code scan_program_of(cg_scan *self, cg_err *reterr)
{
    return self->of != NULL ? CG_OK : read_program(self, reterr);
}

static cg_code read_runtime(cg_scan *self, const char *path, cg_err *reterr)
{
    if (!copy_word(&self->mem, path, &self->runtime_path))
        return err_nomem(reterr);
    CG_TRY(runtime_read_file(self->env, self->runtime_path, &self->runtime, reterr));
    return runtime_facts_make(&self->mem, self->runtime, &self->facts, reterr);
}

static bool has_runtime_findings(const model_doc *doc)
{
    for (size_t i = 0; i < doc->findings.count; i++) {
        if (scan_origin_of(MODEL_AT(doc->findings, model_finding, i)->rule) == ORIGIN_RUNTIME)
            return true;
    }
    return false;
}

/* After the cache, which knows nothing of runs. */
static cg_code merge_runtime(cg_scan *self, cg_err *reterr)
{
    if (self->runtime == NULL)
        return CG_OK;
    CG_TRY(runtime_merge(&self->facts, self->document, reterr));
    /* What the project allows stands in its sources: do not read them for nothing. */
    if (!has_runtime_findings(&self->document->doc))
        return CG_OK;
    CG_TRY(scan_program_of(self, reterr));
    return scan_allow(self, ORIGIN_RUNTIME, reterr);
}

static cg_code find_document(cg_scan *self, const cg_scan_request *request, cg_err *reterr)
{
    cache_place *cache = &self->cache;

    if (request->cache_directory != NULL) {
        CG_TRY(cache_find(self->env, &self->heap, &self->mem, str_from(request->cache_directory),
                          self->path, &self->options, cache, reterr));
        CG_TRY(cache_read(cache, &self->stored, &self->is_from_cache, reterr));
        self->document = &self->stored;
        if (self->is_from_cache)
            return CG_OK;
    }
    CG_TRY(read_program(self, reterr));
    self->document = scan_document(self->of);
    CG_TRY(scan_allow(self, ORIGIN_SOURCE, reterr));
    if (request->cache_directory != NULL)
        return cache_write(cache, self->of, self->document, reterr);
    return CG_OK;
}

static cg_code open_scan(cg_scan *self, const cg_scan_request *request, cg_err *reterr)
{
    CG_TRY(take_request(self, request, reterr));
    if (request->checkpoint != NULL)
        CG_TRY(scan_open_header(self, request->checkpoint, reterr));
    if (request->runtime_trace != NULL)
        CG_TRY(read_runtime(self, request->runtime_trace, reterr));
    CG_TRY(find_document(self, request, reterr));
    return merge_runtime(self, reterr);
}

cg_code cg_scan_open(const cg_env *env, const cg_scan_request *request, cg_scan **ret,
                     cg_err *reterr)
{
    cg_scan_request wanted;
    heap start;
    cg_scan *self;
    cg_code code;

    caller_read(&wanted, sizeof wanted, request);
    heap_init(&start, env);
    self = heap_resize(&start, NULL, 0, sizeof *self);
    if (self == NULL)
        return err_nomem(reterr);
    memset(self, 0, sizeof *self);
    self->heap = start;
    self->env = env;
    arena_init(&self->mem, &self->heap);
    code = open_scan(self, &wanted, reterr);
    if (code == CG_OK && self->heap.is_short)
        code = CG_NOMEM;
    if (code != CG_OK) {
        cg_scan_free(self);
        return code == CG_NOMEM ? err_nomem(reterr) : code;
    }
    *ret = self;
    return CG_OK;
}

void cg_scan_free(cg_scan *self)
{
    if (self == NULL)
        return;
    scan_runs_free(self);
    if (self->is_from_cache)
        model_free(&self->stored);
    scan_free(self->of);
    cache_end(&self->cache);
    if (self->has_header)
        safetensors_free(&self->header);
    runtime_free(self->runtime);
    arena_free(&self->mem);
    heap_release(&self->heap, self, sizeof *self);
}

/* --- facts --- */

void cg_scan_facts_of(const cg_scan *self, cg_scan_facts *ret)
{
    const model_doc *doc = &self->document->doc;
    const model_cargo *cargo = doc->cargo;
    const doc_checkpoint *checkpoint = &self->checkpoint;
    cg_scan_facts facts = {
        .component_count = doc->components.count,
        .parameter_count = doc->parameters.count,
        .module_count = doc->modules.count,
        .function_count = doc->functions.count,
        .has_checkpoint = self->has_checkpoint,
        .is_from_cache = self->is_from_cache,
        .analysis_id = doc->analysis_id,
    };
    size_t size = ret->size < sizeof facts ? ret->size : sizeof facts;

    if (cargo != NULL) {
        facts.package = cargo->package_name;
        facts.version = cargo->package_version;
    }
    for (size_t i = 0; i < doc->findings.count; i++) {
        const model_finding *finding = MODEL_AT(doc->findings, model_finding, i);

        if (str_equal(finding->rule, CG_LIT("source-load")) && facts.unread_count++ == 0) {
            facts.unread = finding->message;
            facts.unread_place = finding->source;
        }
        switch (finding->severity) {
        case MODEL_FINDING_SEVERITY_ERROR: facts.error_count++; break;
        case MODEL_FINDING_SEVERITY_WARNING: facts.warning_count++; break;
        default: facts.information_count++; break;
        }
    }
    if (self->has_checkpoint) {
        facts.missing_count =
            checkpoint->missing_certain.count + checkpoint->missing_conditional.count;
        facts.unclaimed_count = checkpoint->unclaimed.count;
    }
    if (doc->runtime != NULL) {
        facts.has_runtime_trace = true;
        facts.runtime_observations = ((const model_coverage *)doc->coverage)->runtime_observations;
        facts.identity_mismatches = ((const model_runtime *)doc->runtime)->identity_mismatches;
    }
    facts.size = (uint32_t)size;
    memcpy(ret, &facts, size);
}

/* --- writing --- */

/* Writers draw from a heap of their own, so that a scan that is only read stays as it is. */
typedef struct writing {
    heap heap;
    arena mem;
    buf text;
    cg_sink sink;
} writing;

static void begin(writing *self, const cg_env *env, cg_sink sink)
{
    heap_init(&self->heap, env);
    arena_init(&self->mem, &self->heap);
    buf_init(&self->text, &self->heap, SIZE_MAX / 2);
    self->sink = sink;
}

static cg_code end(writing *self, cg_code code, cg_err *reterr)
{
    if (code == CG_OK && (self->text.failed || self->heap.is_short))
        code = err_nomem(reterr);
    if (code == CG_OK && self->text.len > 0)
        code = self->sink.write(self->sink.context, self->text.at, self->text.len);
    buf_free(&self->text);
    arena_free(&self->mem);
    return code;
}

/* One pretty JSON document through `write`. */
static cg_code write_json(writing *self, void (*write)(const void *from, jsonw *out),
                          const void *from, cg_err *reterr)
{
    jsonw out;
    cg_code code = jw_init(&out, &self->heap, self->sink, true, false);

    if (code != CG_OK)
        return err_nomem(reterr);
    write(from, &out);
    return jw_finish(&out, reterr);
}

static void emit_model(const void *from, jsonw *out)
{
    model_write(from, out);
}

cg_code cg_write_model(const cg_scan *self, const cg_format *format, cg_sink sink, cg_err *reterr)
{
    const model_doc *doc = &self->document->doc;
    text_style style;
    writing to;

    begin(&to, self->env, sink);
    if (!caller_wants_text(format, &style))
        return end(&to, write_json(&to, emit_model, doc, reterr), reterr);
    text_model_summary(doc, &to.text);
    return end(&to, CG_OK, reterr);
}

/* --- questions --- */

bool cg_scan_query_exists(const char *kind)
{
    return kind != NULL && (query_kind(str_from(kind)) >= 0 || strcmp(kind, "join") == 0);
}

const char *cg_scan_query_words(void)
{
#define X(name, word, aliases, select, is_sorted, item) word " "
    static const char words[] = STATIC_QUERIES(X) "join";
#undef X

    return words;
}

static void emit_answer(const void *from, jsonw *out)
{
    /* Items are made while they are written, with room of the answer. */
    query_write((model_answer *)(uintptr_t)from, out);
}

/* The kinds about a run tell people more than the document holds. */
static bool run_text(const cg_scan *self, enum ask_kind kind, const text_style *style, buf *to)
{
    runtime_style how = {style->width, (size_t)style->rows};
    const runtime_facts *facts = self->runtime != NULL ? &self->facts : NULL;

    if (kind == ASK_KIND_RUNTIME)
        runtime_text_run(&self->document->doc, facts, &how, to);
    else if (kind == ASK_KIND_PROFILE)
        runtime_text_profile(&self->document->doc, facts, &how, to);
    else
        return false;
    return true;
}

static cg_code ask_model(const cg_scan *self, const model_request *request, bool is_brief,
                         const cg_format *format, cg_sink sink, cg_err *reterr)
{
    model_answer answer;
    text_style style;
    writing to;
    cg_code code;

    begin(&to, self->env, sink);
    code = query_open(&answer, &to.heap, self->document, request, reterr);
    if (code != CG_OK)
        return end(&to, code, reterr);
    if (caller_wants_text(format, &style) && is_brief)
        query_text(&answer, &to.text);
    else if (caller_wants_text(format, &style) && run_text(self, request->kind, &style, &to.text))
        code = CG_OK;
    else if (caller_wants_text(format, &style))
        answer_text(&answer, &(answer_style){style.width, (size_t)style.rows}, &to.text);
    else
        code = write_json(&to, emit_answer, &answer, reterr);
    query_close(&answer);
    return end(&to, code, reterr);
}

cg_code cg_write_scan_query(const cg_scan *self, const cg_scan_query *query,
                            const cg_format *format, cg_sink sink, cg_err *reterr)
{
    model_request request = MODEL_REQUEST;
    cg_scan_query asked;
    int kind;

    caller_read(&asked, sizeof asked, query);
    if (asked.kind == NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "a query begins with its size and has a kind");
    kind = query_kind(str_from(asked.kind));
    if (kind < 0 && strcmp(asked.kind, "join") == 0)
        return cg_fail(reterr, PROBLEM_USAGE, "kind `join` is what cg_write_join writes");
    if (kind < 0)
        return cg_fail(reterr, PROBLEM_USAGE, "query kind `%.*s` does not exist",
                       ERR_STR(str_from(asked.kind)));
    request.kind = (enum ask_kind)kind;
    request.select = str_from(asked.select);
    request.to = str_from(asked.to);
    request.offset = asked.offset;
    if (asked.has_limit) {
        request.limit = asked.limit;
        request.is_limit_given = true;
    }
    return ask_model(self, &request, asked.is_brief, format, sink, reterr);
}

/* --- tree --- */

static void emit_tree(const void *from, jsonw *out)
{
    tree_json(from, out);
}

cg_code cg_write_tree(const cg_scan *self, const char *component, const cg_format *format,
                      cg_sink sink, cg_err *reterr)
{
    tree_options options = {.component = str_from(component),
                            .matches = self->matches,
                            .match_count = self->match_count};
    text_style style;
    tree made;
    writing to;
    cg_code code;

    begin(&to, self->env, sink);
    code = module_tree_make(&to.mem, &to.heap, &self->document->doc, &options, &made, reterr);
    if (code != CG_OK)
        return end(&to, code, reterr);
    if (caller_wants_text(format, &style))
        tree_text(&made, &self->document->doc, &options, &to.text);
    else
        code = write_json(&to, emit_tree, &made, reterr);
    return end(&to, code, reterr);
}

/* --- findings --- */

static void emit_findings(const void *from, jsonw *out)
{
    findings_json(from, out);
}

static size_t count_errors(const model_doc *doc)
{
    size_t count = 0;

    for (size_t i = 0; i < doc->findings.count; i++) {
        const model_finding *finding = MODEL_AT(doc->findings, model_finding, i);

        count += finding->severity == MODEL_FINDING_SEVERITY_ERROR &&
                 finding->confidence == MODEL_CONFIDENCE_PROVEN;
    }
    return count;
}

static cg_code write_sarif(writing *to, const cg_scan *self, const findings_view *view,
                           cg_err *reterr)
{
    findings_home home;
    jsonw out;
    cg_code code;
    cg_code last;

    CG_TRY(scan_home(self->env, view->doc, self->path, &to->mem, &home, reterr));
    if (jw_init(&out, &to->heap, to->sink, true, false) != CG_OK)
        return err_nomem(reterr);
    code = sarif_write(view, &home, &to->mem, &out, reterr);
    last = jw_finish(&out, reterr);
    return code != CG_OK ? code : last;
}

static cg_code write_github(writing *to, const cg_scan *self, const findings_view *view,
                            cg_err *reterr)
{
    findings_home home;

    CG_TRY(scan_home(self->env, view->doc, self->path, &to->mem, &home, reterr));
    findings_github(view, &home, &to->text);
    return CG_OK;
}

/* What the manifest says of the target that is scanned first. A cached document has no graph. */
static cg_code write_cargo_lines(writing *to, const cg_scan *self, const findings_view *view,
                                 cg_err *reterr)
{
    cargo_graph *opened = NULL;
    const cargo_graph *graph = self->of != NULL ? scan_program(self->of)->cargo : NULL;
    cargo_lines_target target = {{0}, {0}, {0}};
    cg_code code = CG_OK;

    if (graph == NULL && view->doc->cargo != NULL) {
        CG_TRY(cargo_graph_open(self->env, &to->heap, self->path, &self->options.cargo, &opened,
                                reterr));
        graph = opened;
    }
    if (graph != NULL && graph->root != CARGO_MISSING) {
        const cargo_package *package = &graph->packages.at[graph->root];

        target.edition = package->edition;
        for (size_t i = 0; i < graph->selected_count; i++) {
            const cargo_target *at = &package->targets[graph->selected[i]];

            if (!str_equal(at->name, graph->selected_target))
                continue;
            target.kind = at->is_proc_macro ? CG_LIT("proc-macro") : manifest_target_key(at->kind);
            target.src_path = at->path;
            break;
        }
    }
    code =
        cargo_lines_write(view, &target, count_errors(view->doc) == 0, &to->heap, to->sink, reterr);
    cargo_graph_free(opened);
    return code;
}

cg_code cg_write_findings(const cg_scan *self, cg_message_format kind, cg_sink sink, cg_err *reterr)
{
    const model_doc *doc = &self->document->doc;
    findings_view view;
    writing to;
    cg_code code = CG_OK;

    begin(&to, self->env, sink);
    if (!findings_order(&to.mem, doc, &view))
        return end(&to, err_nomem(reterr), reterr);
    switch (kind) {
    case CG_MESSAGE_HUMAN:
        if (self->has_checkpoint)
            view.told_elsewhere = CG_LIT("checkpoint-");
        findings_human(&view, &to.text);
        break;
    case CG_MESSAGE_SHORT: findings_short(&view, &to.text); break;
    case CG_MESSAGE_GITHUB: code = write_github(&to, self, &view, reterr); break;
    case CG_MESSAGE_JSON: code = write_json(&to, emit_findings, &view, reterr); break;
    case CG_MESSAGE_SARIF: code = write_sarif(&to, self, &view, reterr); break;
    case CG_MESSAGE_CARGO_JSON: code = write_cargo_lines(&to, self, &view, reterr); break;
    default:
        code = cg_fail(reterr, PROBLEM_USAGE, "message format %u does not exist", (unsigned)kind);
    }
    return end(&to, code, reterr);
}

static void emit_rule(const void *from, jsonw *out)
{
    explain_json(from, out);
}

static void emit_rules(const void *from, jsonw *out)
{
    (void)from;
    jw_array(out);
    for (size_t i = 0; i < RULE_CODE_COUNT; i++)
        explain_json(&rules[i], out);
    jw_end(out);
}

/* An issue of a run's health, told like a rule. */
static rule_row rule_of_health(const health_row *row)
{
    bool is_warning = row->severity == HEALTH_WARNING;

    return (rule_row){
        .code = row->word,
        .severity = is_warning ? MODEL_FINDING_SEVERITY_WARNING : MODEL_FINDING_SEVERITY_ERROR,
        .title = row->title,
        .means = row->severity == HEALTH_EITHER
                     ? CG_LIT("What was recorded of the run contradicts itself or its contract; of "
                              "a capture that failed this is a warning.")
                 : is_warning ? CG_LIT("The run's record leaves something out.")
                              : CG_LIT("What was recorded of the run contradicts itself or its "
                                       "contract."),
        .hurts = is_warning ? CG_LIT("What rests on it cannot be answered; the rest stands.")
                            : CG_LIT("Nothing may be concluded from such a capture: no times, no "
                                     "graph, no comparison."),
        .fix = row->mend};
}

cg_code cg_write_explanation(const cg_env *env, const char *code, const cg_format *format,
                             cg_sink sink, cg_err *reterr)
{
    const rule_row *row = NULL;
    rule_row of_health;
    text_style style;
    writing to;
    bool is_text = caller_wants_text(format, &style);

    if (code != NULL) {
        cg_str word = str_trim(str_from(code));
        const health_row *issue = health_row_find(word);

        row = rule_find(word);
        if (row == NULL && issue != NULL) {
            of_health = rule_of_health(issue);
            row = &of_health;
        }
        if (row == NULL)
            return cg_fail(reterr, PROBLEM_RULE, "no finding has the code `%.*s`",
                           ERR_STR(str_from(code)));
    }
    begin(&to, env, sink);
    if (!is_text)
        return end(&to, write_json(&to, row != NULL ? emit_rule : emit_rules, row, reterr), reterr);
    if (row != NULL)
        explain_text(row, style.width, &to.text);
    else
        explain_list(&to.text);
    return end(&to, CG_OK, reterr);
}

/* --- gates --- */

/* Proven errors that come from a comparison with a checkpoint. */
static size_t count_checkpoint_errors(const model_doc *doc)
{
    size_t count = 0;

    for (size_t i = 0; i < doc->findings.count; i++) {
        const model_finding *finding = MODEL_AT(doc->findings, model_finding, i);

        count += finding->severity == MODEL_FINDING_SEVERITY_ERROR &&
                 finding->confidence == MODEL_CONFIDENCE_PROVEN &&
                 scan_origin_of(finding->rule) == ORIGIN_CHECKPOINT;
    }
    return count;
}

cg_code cg_scan_gate(const cg_scan *self, cg_strictness strictness, const char *const *deny,
                     size_t deny_count, void (*warn)(void *context, cg_str word), void *context,
                     cg_err *reterr)
{
    const model_doc *doc = &self->document->doc;
    gate_verdict verdict;
    sc_strs words = {0};
    writing to;
    bool is_good = true;
    cg_code code;

    begin(&to, self->env, (cg_sink){0});
    for (size_t i = 0; is_good && i < deny_count; i++)
        is_good = gate_add_words(&to.mem, str_from(deny[i]), &words);
    if (!is_good || !gate_judge(&to.mem, doc, words, &verdict))
        return end(&to, err_nomem(reterr), reterr);
    for (size_t i = 0; warn != NULL && i < verdict.unknown.count; i++)
        warn(context, verdict.unknown.at[i]);
    if (strictness == CG_STRICT_SOURCE) {
        verdict.proven_errors -= count_checkpoint_errors(doc);
        verdict.missing = 0;
    }
    code = gate_result(&verdict, strictness != CG_STRICT_NONE, reterr);
    return end(&to, code, reterr);
}

cg_code cg_write_baseline(const cg_scan *self, cg_baseline_kind kind, cg_sink sink, cg_err *reterr)
{
    static const enum baseline_kind kinds[] = {
        [CG_BASELINE_FINGERPRINT] = BASELINE_FINGERPRINT,
        [CG_BASELINE_READABLE] = BASELINE_READABLE,
        [CG_BASELINE_FINDINGS] = BASELINE_FINDINGS,
    };
    writing to;
    cg_code code;

    if (kind > CG_BASELINE_FINDINGS)
        return cg_fail(reterr, PROBLEM_USAGE, "kind of baseline %u does not exist", (unsigned)kind);
    begin(&to, self->env, sink);
    code = baseline_write(&to.heap, &self->document->doc, kinds[kind], &to.text, reterr);
    return end(&to, code, reterr);
}

/* A baseline is read whole: a line for each record, none of which is long. */
static cg_code read_baseline(const cg_env *env, const char *path, heap *from, buf *ret,
                             cg_err *reterr)
{
    buf_init(ret, from, (size_t)1 << 30);
    return os_read_whole(env, str_from(path), ret, reterr);
}

static cg_code in_file(cg_code code, const char *path, cg_err *reterr)
{
    if (code != CG_OK)
        err_in_file(reterr, str_from(path));
    return code;
}

cg_code cg_scan_baseline(const cg_scan *self, const char *path, cg_sink sink, cg_err *reterr)
{
    bool is_equal = true;
    writing to;
    buf text;
    cg_code code;

    begin(&to, self->env, sink);
    code = read_baseline(self->env, path, &to.heap, &text, reterr);
    if (code == CG_OK)
        code = baseline_compare(&to.heap, buf_text(&text), &self->document->doc, &is_equal,
                                &to.text, reterr);
    code = in_file(code, path, reterr);
    buf_free(&text);
    code = end(&to, code, reterr);
    if (code == CG_OK && !is_equal)
        code = in_file(
            cg_fail(reterr, PROBLEM_BASELINE_DIFFERS, "the model is not that of the baseline"),
            path, reterr);
    return code;
}

cg_code cg_baseline_kind_of(const cg_env *env, const char *path, cg_baseline_kind *ret,
                            cg_err *reterr)
{
    enum baseline_kind kind = BASELINE_FINGERPRINT;
    heap memory;
    buf text;
    cg_code code;

    heap_init(&memory, env);
    code = read_baseline(env, path, &memory, &text, reterr);
    if (code == CG_OK)
        code = baseline_kind_of(buf_text(&text), &kind, reterr);
    buf_free(&text);
    if (code == CG_OK)
        *ret = kind == BASELINE_FINDINGS   ? CG_BASELINE_FINDINGS
               : kind == BASELINE_READABLE ? CG_BASELINE_READABLE
                                           : CG_BASELINE_FINGERPRINT;
    return in_file(code, path, reterr);
}

cg_code cg_scan_take_known(cg_scan *self, const char *path, uint64_t *ret_known, uint64_t *ret_gone,
                           cg_err *reterr)
{
    size_t known = 0;
    size_t gone = 0;
    buf text;
    cg_code code = read_baseline(self->env, path, &self->heap, &text, reterr);

    if (code == CG_OK)
        code = baseline_take_known(&self->heap, buf_text(&text), self->document, &known, &gone,
                                   reterr);
    buf_free(&text);
    if (code == CG_OK && ret_known != NULL)
        *ret_known = known;
    if (code == CG_OK && ret_gone != NULL)
        *ret_gone = gone;
    return in_file(code, path, reterr);
}
