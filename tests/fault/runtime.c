/*
 * Reading a run and merging it into a document while memory runs out: the call says so, and every
 * byte is given back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "model/runtime_merge.h"
#include "model/runtime_text.h"
#include "support/memory.h"
#include "support/model.h"

#include <cmocka.h>

#define GRADIENT(event, key, rest)                                                                 \
    "{\"kind\":\"gradient\",\"event_id\":\"" event "\",\"root\":\"vb\",\"key\":\"" key "\"," rest  \
    "}\n"
#define TENSOR(event, rest)                                                                        \
    "{\"kind\":\"tensor\",\"event_id\":\"" event                                                   \
    "\",\"static_id\":\"tensor:train:function%3Anet%253A%253ANet%253A%253Aforward%3A:2\","         \
    "\"source\":\"p\",\"shape\":[2,3],\"dtype\":\"F32\",\"device\":\"cuda:1\"," rest "}\n"

static const char *const lines[] = {
    "{\"kind\":\"meta\",\"schema\":\"candle-graph/runtime/3\",\"entrypoint\":\"e\","
    "\"profile\":\"p\",\"cargo_features\":[\"a\"],\"cfg\":[\"b\"],\"phase\":\"train\"}\n",
    GRADIENT("g1", "layers.0.weight", "\"state\":\"missing\",\"step\":2"),
    GRADIENT("g2", "layers.0.weight", "\"state\":\"non_finite\",\"step\":1"),
    GRADIENT("g3", "x", "\"state\":\"present\",\"step\":1,\"norm\":0.5"),
    GRADIENT("g4", "x", "\"state\":\"zero\",\"step\":1,\"norm\":0.0"),
    TENSOR("t1", "\"contiguous\":true,\"requires_grad\":false"),
    TENSOR("t2", "\"contiguous\":true,\"requires_grad\":true"),
    "{\"kind\":\"operation\",\"event_id\":\"o\",\"op\":\"matmul\",\"static_id\":"
    "\"operation:train:function%3Anet%253A%253ANet%253A%253Aforward%3A:10\","
    "\"inputs\":[\"x\"],\"duration_ns\":5}\n",
    "{\"kind\":\"value\",\"event_id\":\"v\",\"source\":\"src/net.rs:21\",\"min\":null,"
    "\"max\":1.5,\"abs_max\":2,\"nonfinite_count\":1,\"saturated_count\":1}\n",
    "{\"kind\":\"edge_timing\",\"event_id\":\"e\",\"from_static_id\":\"a\","
    "\"to_static_id\":\"b\",\"duration_ns\":1}\n",
};
static const char document[] =
    "{\"schema\":\"candle-graph/runtime/2\",\n\"run\":{\"entrypoint\":\"e\",\"profile\":\"p\"},\n"
    "\"tensors\":[{\"event_id\":\"t\",\"static_id\":\"gone\",\"shape\":[],\"dtype\":\"F32\","
    "\"device\":\"cpu\",\"contiguous\":true,\"requires_grad\":false}]}\n";

static cg_code merge_and_show(runtime_trace *trace, model_document *sample, cg_err *err)
{
    const runtime_style style = {60, 2};
    runtime_facts facts;
    arena mem;
    buf out;
    cg_code code;

    arena_init(&mem, sample->heap);
    buf_init(&out, sample->heap, SIZE_MAX);
    code = runtime_facts_make(&mem, trace, &facts, err);
    if (code == CG_OK)
        code = runtime_merge(&facts, sample, err);
    if (code == CG_OK) {
        runtime_text_run(&sample->doc, &facts, &style, &out);
        runtime_text_profile(&sample->doc, &facts, &style, &out);
        if (out.failed)
            code = err_nomem(err);
    }
    buf_free(&out);
    arena_free(&mem);
    return code;
}

/* The document is there before memory runs out. */
static cg_code run(memory *all, uint64_t fail_at, const char *text, cg_err *err)
{
    cg_allocator allocator = {all, memory_resize};
    cg_env env = {.size = sizeof env, .allocator = &allocator};
    runtime_trace *trace = NULL;
    model_document sample;
    heap from;
    cg_code code;

    *all = (memory){0};
    heap_init(&from, &env);
    model_sample_document(&from, &sample);
    all->requests = 0;
    all->fail_at = fail_at;
    code = runtime_read_text(&env, str_from(text), &trace, err);
    if (code == CG_OK)
        code = merge_and_show(trace, &sample, err);
    runtime_free(trace);
    model_free(&sample);
    return code;
}

static void fail_each(const char *text)
{
    memory all;
    cg_err err = {0};
    uint64_t requests;

    assert_int_equal(run(&all, 0, text, &err), CG_OK);
    assert_int_equal(all.live_bytes, 0);
    requests = all.requests;
    assert_true(requests > 10);
    for (uint64_t at = 1; at <= requests; at++) {
        err = (cg_err){0};
        assert_int_equal(run(&all, at, text, &err), CG_NOMEM);
        assert_int_equal(err.code, CG_NOMEM);
        assert_int_equal(all.live_bytes, 0);
    }
}

static void without_memory_lines_are_refused(void **state)
{
    heap plain;
    buf text;

    (void)state;
    heap_init(&plain, NULL);
    buf_init(&text, &plain, SIZE_MAX);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        buf_add(&text, str_from(lines[i]));
    buf_byte(&text, '\0');
    assert_false(text.failed);
    fail_each(text.at);
    buf_free(&text);
}

static void without_memory_a_document_is_refused(void **state)
{
    (void)state;
    fail_each(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_lines_are_refused),
        cmocka_unit_test(without_memory_a_document_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
