/*
 * lines - a trace written in place, line by line, and everything derived from it.
 *
 *   lines text = {0};
 *   lines_meta(&text, "'operations':'complete'");
 *   lines_span(&text, "a", NULL, "root", 0, 100, "");
 *   lines_measured(&text, "b", "a", "call", 10, 50);
 *   analyse(&text, 100, &of);
 *   ...
 *   analysis_free(&of);
 *
 * In all texts ' stands for ". A trace that is refused fails the test.
 */
#ifndef CG_TESTS_LINES_H
#define CG_TESTS_LINES_H

#include <inttypes.h>
#include <stdio.h>

#include "exec/graph.h"
#include "unit/base/failing.h"

typedef struct lines {
    char *at;
    size_t len;
    size_t capacity;
} lines;

CG_PRINTF(2, 3) static inline void lines_add(lines *self, const char *format, ...)
{
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert_true(len >= 0);
    if (self->capacity - self->len < (size_t)len + 2) {
        self->capacity = 2 * self->capacity + (size_t)len + 2;
        self->at = realloc(self->at, self->capacity);
        assert_non_null(self->at);
    }
    va_start(arguments, format);
    vsnprintf(self->at + self->len, (size_t)len + 1, format, arguments);
    va_end(arguments);
    for (size_t i = self->len; i < self->len + (size_t)len; i++)
        if (self->at[i] == '\'')
            self->at[i] = '"';
    self->len += (size_t)len;
    self->at[self->len++] = '\n';
}

/* `contract`: members of the capture contract, before its required ones. */
static inline void lines_meta_of(lines *self, const char *phase, const char *rest,
                                 const char *contract)
{
    lines_add(self,
              "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'r','correlation_id':'c',"
              "'entrypoint':'e','phase':'%s','timestamp':'t','capture_step':2,'warmup_steps':1,"
              "'device':'cpu','timing_mode':'host','tags':{},%s'capture_contract':{%s%s"
              "'measurement_scope':'profiled_work'}}",
              phase, rest, contract, contract[0] != '\0' ? "," : "");
}

#define LINES_LEVELS(memory)                                                                       \
    "'operations':'none','physical_memory':'none','device_timing':'none',"                         \
    "'logical_memory':'" memory "'"

static inline void lines_meta(lines *self, const char *contract)
{
    lines_meta_of(self, "infer", "", contract);
}

static inline void lines_start(lines *self, const char *id, const char *parent, const char *name,
                               uint64_t start, const char *rest)
{
    lines_add(self, "{'kind':'span_start','id':'%s',%s%s%s'name':'%s','start_ns':%" PRIu64 "%s}",
              id, parent == NULL ? "" : "'parent_id':'", parent == NULL ? "" : parent,
              parent == NULL ? "" : "',", name, start, rest);
}

static inline void lines_end(lines *self, const char *id, uint64_t duration)
{
    lines_add(self, "{'kind':'span_end','id':'%s','duration_ns':%" PRIu64 "}", id, duration);
}

#define LINES_FUNCTION ",'span_kind':'function'"

static inline void lines_span(lines *self, const char *id, const char *parent, const char *name,
                              uint64_t start, uint64_t end)
{
    lines_start(self, id, parent, name, start, LINES_FUNCTION);
    lines_end(self, id, end - start);
}

static inline void lines_measured(lines *self, const char *id, const char *parent, const char *name,
                                  uint64_t start, uint64_t end)
{
    lines_start(self, id, parent, name, start, LINES_FUNCTION ",'measured':true");
    lines_end(self, id, end - start);
}

/* inputs: a JSON list without brackets; output: a JSON value. */
static inline void lines_op(lines *self, const char *span, const char *name, const char *inputs,
                            const char *output, uint64_t start, uint64_t end)
{
    lines_add(self,
              "{'kind':'op','span_id':'%s','op_name':'%s','inputs':[%s],'output':%s,'shape':[2],"
              "'dtype':'f32','device':'cpu','duration_ns':%" PRIu64 ",'timestamp_ns':%" PRIu64
              ",'input_dense_bytes':0}",
              span, name, inputs, output, end - start, start);
}

static inline void lines_memory(lines *self, const char *action, const char *span,
                                const char *storage, const char *tensor, uint64_t bytes,
                                uint64_t at)
{
    lines_add(self,
              "{'kind':'memory','timestamp_ns':%" PRIu64 ",'storage_id':'%s','tensor_id':'%s',"
              "'span_id':'%s','device':'cpu','bytes':%" PRIu64 ",'action':'%s','dtype':'u8'}",
              at, storage, tensor, span, bytes, action);
}

static inline void lines_complete(lines *self, uint64_t end)
{
    lines_add(self, "{'kind':'terminal','outcome':'complete','timestamp_ns':%" PRIu64 "}", end);
}

/* Read the text and drop it. */
static inline trace_doc *lines_read(lines *self)
{
    trace_doc *trace = NULL;
    cg_err err = {0};
    cg_code code = trace_read_text(NULL, (cg_str){self->at, self->len}, &trace, &err);

    if (code != CG_OK)
        print_error("line %" PRIu64 ": %s: %s\n", err.line, err.problem, err.text);
    assert_int_equal(code, CG_OK);
    free(self->at);
    *self = (lines){0};
    return trace;
}

typedef struct analysis {
    trace_doc *trace;
    heap *heap;
    memory_plane memory;
    timing_plane timing;
    health_report health;
    graph graph;         /* with the peaks of every span */
    graph summary_graph; /* as graph_build left it */
    bool has_graph;
} analysis;

static inline analysis analyse_trace(trace_doc *trace)
{
    analysis of = {.trace = trace, .heap = &trace->heap};

    assert_int_equal(memory_replay(of.heap, trace, &of.memory, NULL), CG_OK);
    assert_int_equal(timing_build(of.heap, trace, &of.timing, NULL), CG_OK);
    assert_int_equal(health_check(of.heap, trace, &of.memory, &of.health, NULL), CG_OK);
    return of;
}

/*
 * Read, replay, judge, and build the graph when there is one. Ends a complete capture. The graph
 * points into *ret, which must stay where it is.
 */
static inline void analyse(lines *self, uint64_t end, analysis *ret)
{
    cg_err err = {0};

    lines_complete(self, end);
    *ret = analyse_trace(lines_read(self));
    if (ret->health.is_valid) {
        cg_code code = graph_build(ret->heap, ret->trace, &ret->health, &ret->memory, &ret->timing,
                                   &ret->graph, &err);

        if (code != CG_OK)
            print_error("%s: %s\n", err.problem, err.text);
        assert_int_equal(code, CG_OK);
        ret->summary_graph = ret->graph;
        assert_int_equal(graph_complete(ret->heap, &ret->graph, &err), CG_OK);
        ret->has_graph = true;
    }
}

/* Everything is given back, to the byte. */
static inline void analysis_free(analysis *of)
{
    if (of->has_graph) {
        graph_uncomplete(of->heap, &of->graph);
        of->graph = of->summary_graph;
    }
    graph_free(&of->graph);
    health_free(&of->health);
    timing_free(&of->timing);
    memory_free(&of->memory);
    trace_free(of->trace);
}

static inline uint32_t span_index(const trace_doc *trace, const char *id)
{
    uint32_t span = trace_span_of(trace, intern_find(&trace->texts, str_from(id)));

    assert_int_not_equal(span, TRACE_NONE);
    return span;
}

#endif
