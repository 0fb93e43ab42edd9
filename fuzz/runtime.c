/*
 * runtime - the reader of runtime traces on arbitrary bytes, and what follows from what it takes.
 *
 * A text gives the same answer whole and in small pieces. A refusal names problem and place. Lines
 * that are read without a tree give what the JSON reader gives. Facts add up, and a small document
 * is in order after the merge.
 */
#include "check.h"
#include "pieces.h"

#include "../tests/support/same_record.h"
#include "base/os.h"
#include "model/draft.h"
#include "model/runtime_merge.h"
#include "model/runtime_text.h"
#include "schema/reader.h"
#include "schema/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the fast path --- */

typedef union any_record {
#define X(prefix, name, tag, list) rec_##name name;
    RUNTIME_RECORDS(X)
#undef X
} any_record;

static const sc_table *const tables[] = {
#define X(prefix, name, tag, list) &table_##name##_line,
    RUNTIME_RECORDS(X)
#undef X
};

static void check_line(cg_str line)
{
    json_reader reader;
    heap from;
    arena mem;
    cg_str tag;
    size_t rest;

    if (!scan_tag(line, &table_runtime_meta, &tag, &rest))
        return;
    heap_init(&from, NULL);
    arena_init(&mem, &from);
    json_init(&reader, &from, 127);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        any_record scanned;
        any_record parsed;
        yyjson_val *object = NULL;
        json_fault fault;

        if (!str_equal(tables[i]->tag, tag) || !scan_fields(tables[i], line, rest, &mem, &scanned))
            continue;
        CHECK(json_read(&reader, line, &object, &fault) == CG_OK);
        CHECK(sc_read(tables[i], object, &mem, &parsed, NULL) == CG_OK);
        CHECK(same_record(tables[i], &scanned, &parsed));
    }
    json_free(&reader);
    arena_free(&mem);
    CHECK(from.used_bytes == 0);
}

/* --- a document to merge into --- */

static void make_document(heap *from, model_document *ret)
{
    model_draft draft;
    model_parameter *parameter;
    model_operation *operation;
    model_tensor *tensor;
    model_finding *finding;

    model_draft_init(&draft, from);
    draft.analysis_id = CG_LIT("analysis:a");
    for (unsigned i = 0; i < 2; i++) {
        parameter = draft_parameter(&draft);
        CHECK(parameter != NULL);
        parameter->id = i == 0 ? CG_LIT("parameter:a") : CG_LIT("parameter:b");
        parameter->builder_root = CG_LIT("vb");
        parameter->key = i == 0 ? CG_LIT("w") : CG_LIT("l.{i}.w{j}.{i}");
    }
    tensor = draft_tensor(&draft);
    operation = draft_operation(&draft);
    finding = draft_finding(&draft);
    CHECK(tensor != NULL && operation != NULL && finding != NULL);
    tensor->id = CG_LIT("t");
    tensor->name = CG_LIT("x");
    operation->id = CG_LIT("o");
    operation->output = tensor->id;
    operation->source = CG_LIT("a.rs:1");
    finding->rule = CG_LIT("numeric-domain-violation");
    finding->message = CG_LIT("m");
    finding->source = CG_LIT("a.rs:1");
    CHECK(model_finish(&draft, ret, NULL) == CG_OK);
}

/* --- facts --- */

static void check_facts(const runtime_trace *trace, const runtime_facts *facts)
{
    uint64_t count = 0;

    for (size_t i = 0; i < facts->gradient_count; i++) {
        const gradient_fact *fact = &facts->gradients[i];

        count += fact->count;
        CHECK(fact->states[0] + fact->states[1] + fact->states[2] + fact->states[3] == fact->count);
        CHECK(fact->headline != NULL || fact->disputed != NULL);
        CHECK(fact->headline == NULL || fact->states[fact->headline->state] > 0);
    }
    CHECK(count == trace->gradients.count);
    count = 0;
    for (size_t i = 0; i < facts->tensor_count; i++) {
        const tensor_fact *fact = &facts->tensors[i];

        count += fact->count;
        CHECK((fact->agreed == NULL) == (fact->differing != 0));
        CHECK(tensor_fact_at(facts, fact, 0)->static_id == fact->static_id);
    }
    CHECK(count <= trace->tensors.count);
    count = 0;
    for (size_t i = 0; i < facts->value_count; i++)
        count += facts->values[i].count;
    CHECK(count == trace->values.count);
    for (size_t i = 0; i < facts->edge_count; i++) {
        const model_timing *timing = &facts->edges[i].timing;

        CHECK(timing->samples > 0 && timing->min_ns <= timing->max_ns);
    }
}

static cg_code drop(void *context, const char *bytes, size_t count)
{
    (void)bytes;
    *(uint64_t *)context += count;
    return CG_OK;
}

static void use(runtime_trace *trace)
{
    const runtime_style style = {80, 5};
    uint64_t written = 0;
    model_document document;
    runtime_facts facts;
    heap from;
    arena mem;
    jsonw out;
    buf text;

    heap_init(&from, NULL);
    arena_init(&mem, &from);
    buf_init(&text, &from, SIZE_MAX / 2);
    CHECK(runtime_facts_make(&mem, trace, &facts, NULL) == CG_OK);
    check_facts(trace, &facts);
    make_document(&from, &document);
    CHECK(runtime_merge(&facts, &document, NULL) == CG_OK);
    CHECK(document.doc.runtime != NULL);
    for (size_t i = 1; i < document.doc.findings.count; i++)
        CHECK(str_compare(MODEL_AT(document.doc.findings, model_finding, i - 1)->id,
                          MODEL_AT(document.doc.findings, model_finding, i)->id) < 0);
    runtime_text_run(&document.doc, &facts, &style, &text);
    runtime_text_profile(&document.doc, &facts, &style, &text);
    CHECK(!text.failed && text.len > 0 && str_utf8_error(buf_text(&text)) == SIZE_MAX);
    /* Nothing of the trace is borrowed. */
    buf_free(&text);
    arena_free(&mem);
    runtime_free(trace);
    CHECK(jw_init(&out, &from, (cg_sink){&written, drop}, false, false) == CG_OK);
    model_write(&document.doc, &out);
    CHECK(jw_finish(&out, NULL) == CG_OK && written > 0);
    model_free(&document);
    CHECK(from.used_bytes == 0);
}

/* --- reading --- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str text = {(const char *)data, size};
    pieces end = {text, 1 + size % 61};
    os_calls calls = {.context = &end, .read = pieces_read};
    os_file file = {.os = &calls, .handle = -1};
    runtime_trace *trace = NULL;
    runtime_trace *again = NULL;
    cg_err err = {0};
    cg_err err_again = {0};
    cg_code code = runtime_read_text(NULL, text, &trace, &err);

    check_line(text);
    CHECK(runtime_read_open(NULL, &file, &again, &err_again) == code);
    if (code != CG_OK) {
        CHECK(trace == NULL && again == NULL);
        CHECK(code == CG_INPUT || code == CG_LIMIT);
        CHECK(err.code == code && err.problem[0] != '\0' && err.text[0] != '\0');
        CHECK(!err.has_offset || err.offset <= size);
        CHECK(err.problem == err_again.problem && err.line == err_again.line &&
              err.offset == err_again.offset && strcmp(err.text, err_again.text) == 0);
        return 0;
    }
    CHECK(again->gradients.count == trace->gradients.count &&
          again->tensors.count == trace->tensors.count &&
          again->events.ids.count == trace->events.ids.count);
    runtime_free(again);
    use(trace);
    return 0;
}
