/*
 * trace - the trace reader on arbitrary bytes, and everything that is derived from what it takes.
 *
 * A text gives the same answer whole and in small pieces. A refusal names problem and place. An
 * accepted document is consistent in itself, and evidence and summary can be made of it.
 */
#include "check.h"
#include "pieces.h"

#include "exec/questions.h"
#include "exec/trace.h"
#include "view/document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_symbol(const trace_doc *doc, sym symbol)
{
    CHECK(symbol != 0 && symbol < intern_count(&doc->texts));
    CHECK(str_utf8_error(trace_text(doc, symbol)) == SIZE_MAX);
}

static void check_shape(const trace_doc *doc, trace_shape shape)
{
    CHECK((uint64_t)shape.at + shape.rank <= doc->axes.count);
}

static void check_spans(const trace_doc *doc)
{
    for (uint32_t i = 0; i < doc->spans.count; i++) {
        const trace_span *span = &doc->spans.at[i];

        check_symbol(doc, span->id);
        check_symbol(doc, span->name);
        CHECK(trace_span_of(doc, span->id) == i);
        CHECK(span->is_closed || span->duration_ns == 0);
        CHECK(trace_span_end(span) <= doc->terminal_ns);
        if (i > 0)
            CHECK(str_compare(trace_text(doc, doc->spans.at[i - 1].id), trace_text(doc, span->id)) <
                  0);
        if (span->parent_id == 0)
            CHECK(span->parent == TRACE_NONE);
        else
            CHECK(span->parent == trace_span_of(doc, span->parent_id));
    }
}

static void check_document(const trace_doc *doc)
{
    uint64_t rows = 2 + doc->spans.count + doc->ops.count + doc->tensors.count + doc->stats.count +
                    doc->memory.count + doc->samples.count + doc->intervals.count +
                    doc->gradients.count + doc->edges.count;

    check_spans(doc);
    for (size_t i = 0; i < doc->spans.count; i++)
        rows += doc->spans.at[i].is_closed;
    CHECK(rows == doc->event_count);
    for (size_t i = 0; i < doc->ops.count; i++) {
        check_symbol(doc, doc->ops.at[i].name);
        check_shape(doc, doc->ops.at[i].shape);
        CHECK((uint64_t)doc->ops.at[i].inputs_at + doc->ops.at[i].inputs_count <=
              doc->inputs.count);
    }
    for (size_t i = 0; i < doc->tensors.count; i++)
        check_shape(doc, doc->tensors.at[i].shape);
    for (size_t i = 0; i < doc->stats.count; i++) {
        check_shape(doc, doc->stats.at[i].shape);
        CHECK(doc->stats.at[i].non_finite <= doc->stats.at[i].elements);
        CHECK(!(doc->stats.at[i].rms < 0.0) && !(doc->stats.at[i].abs_max < 0.0));
    }
    for (size_t i = 0; i < doc->inputs.count; i++)
        check_symbol(doc, doc->inputs.at[i]);
    CHECK((doc->outcome == OUTCOME_FAILED) == (doc->failure_reason.ptr != NULL));
    CHECK(!doc->is_trace_9 || doc->stats.count == 0);
}

static cg_code drop(void *context, const char *bytes, size_t count)
{
    uint64_t *total = context;

    (void)bytes;
    *total += count;
    return CG_OK;
}

static void ask(const evidence *from)
{
    label_list labels;
    tree_list tree;
    origin_answer origin;
    idle_list idle;

    CHECK(labels_build(from->heap, from, &labels, NULL) == CG_OK);
    labels_free(&labels);
    CHECK(tree_build(from->heap, from, &tree, NULL) == CG_OK);
    tree_free(&tree);
    CHECK(origin_find(from->heap, from, &origin, NULL) == CG_OK);
    origin_free(&origin);
    CHECK(idle_build(from->heap, from, &idle, NULL) == CG_OK);
    idle_free(&idle);
}

/* Takes the document. */
static void derive(trace_doc *doc)
{
    const document_input input = {.requested_path = CG_LIT("trace.jsonl"),
                                  .trace_path = CG_LIT("trace.jsonl")};
    uint64_t written = 0;
    const cg_sink sink = {&written, drop};
    evidence *derived = NULL;
    cg_err err = {0};
    cg_code code = evidence_build(NULL, doc, &derived, &err);

    if (code != CG_OK) {
        /* A healthy trace whose ids collide in the graph is the one thing that is refused here. */
        CHECK(code == CG_INPUT && strcmp(err.problem, problem_id(PROBLEM_GRAPH_ID)) == 0);
        return;
    }
    CHECK(document_summary(derived, &input, sink, &err) == CG_OK);
    CHECK(document_overview(derived, &input, sink, &err) == CG_OK);
    CHECK(document_evidence(derived, sink, &err) == CG_OK);
    CHECK(written > 0);
    ask(derived);
    evidence_free(derived);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str text = {(const char *)data, size};
    pieces end = {text, 1 + size % 61};
    os_calls calls = {.context = &end, .read = pieces_read};
    os_file file = {.os = &calls, .handle = -1};
    trace_doc *doc = NULL;
    trace_doc *again = NULL;
    cg_err err = {0};
    cg_err err_again = {0};
    cg_code code = trace_read_text(NULL, text, &doc, &err);

    CHECK(trace_read_open(NULL, &file, &again, &err_again) == code);
    if (code != CG_OK) {
        CHECK(doc == NULL && again == NULL);
        CHECK(err.code == code && err.problem[0] != '\0' && err.text[0] != '\0');
        CHECK(code == CG_INPUT || code == CG_LIMIT);
        CHECK(err.has_offset && err.offset <= size);
        CHECK(err.line > 0 || size == 0);
        CHECK(err.problem == err_again.problem && err.line == err_again.line &&
              err.offset == err_again.offset && strcmp(err.text, err_again.text) == 0);
        return 0;
    }
    CHECK(doc->byte_count == size);
    CHECK(doc->event_count == again->event_count && doc->terminal_ns == again->terminal_ns &&
          doc->spans.count == again->spans.count &&
          intern_count(&doc->texts) == intern_count(&again->texts));
    trace_free(again);
    check_document(doc);
    derive(doc);
    return 0;
}
