#include <setjmp.h>
#include <stdarg.h>

#include "model/query.h"
#include "support/sample.h"

#include <cmocka.h>

static model_request ask_for(const char *kind, const char *select)
{
    model_request request = MODEL_REQUEST;
    int found = query_kind(str_from(kind));

    assert_true(found >= 0);
    request.kind = (enum ask_kind)found;
    request.select = str_from(select);
    return request;
}

/* The answer as compact JSON. */
static void answer(const model_request *request, buf *out)
{
    model_answer made;
    jsonw writer;

    buf_init(out, &memory, SIZE_MAX);
    assert_int_equal(query_open(&made, &memory, &sample, request, NULL), CG_OK);
    assert_int_equal(jw_init(&writer, &memory, model_sink(out), false, false), CG_OK);
    query_write(&made, &writer);
    assert_int_equal(jw_finish(&writer, NULL), CG_OK);
    query_close(&made);
    model_expect_json(&memory, buf_text(out));
}

static void expect_part(const char *kind, const char *select, const char *part)
{
    model_request request = ask_for(kind, select);
    buf out;

    answer(&request, &out);
    model_expect_holds(&out, part);
    buf_free(&out);
}

static void expect_refused(const model_request *request, const char *problem)
{
    model_answer made;
    cg_err error = {0};

    assert_int_equal(query_open(&made, &memory, &sample, request, &error), CG_INPUT);
    assert_string_equal(error.problem, problem);
}

static void every_spelling_names_its_kind(void **state)
{
    (void)state;
    assert_int_equal(query_kind(CG_LIT("trust")), ASK_KIND_DOCTOR);
    assert_int_equal(query_kind(CG_LIT("graph-train")), ASK_KIND_GRAPH_TRAIN);
    assert_int_equal(query_kind(CG_LIT("train_graph")), ASK_KIND_GRAPH_TRAIN);
    assert_int_equal(query_kind(CG_LIT("checkpoint-assembly")), ASK_KIND_ASSEMBLY);
    assert_int_equal(query_kind(CG_LIT("Summary")), -1);
    assert_int_equal(query_kind(CG_LIT("")), -1);
}

static void every_kind_answers(void **state)
{
    (void)state;
    for (int kind = 0; kind < ASK_KIND_COUNT; kind++) {
        model_request request = MODEL_REQUEST;
        buf out;

        request.kind = (enum ask_kind)kind;
        if (kind == ASK_KIND_PATH) {
            request.select = CG_LIT("x");
            request.to = CG_LIT("matmul");
        } else if (ask_kinds[kind].select == ASK_SELECT_ONE) {
            request.select = CG_LIT("nothing has this name");
        }
        answer(&request, &out);
        buf_free(&out);
    }
}

static void an_exact_id_wins_over_longer_ones(void **state)
{
    (void)state;
    expect_part("tensor", "tensor:train:function%3Anet%253A%253ANet%253A%253Aforward%3A:2",
                "\"total\":1,");
    expect_part("component", "net::Net", "\"qualified_name\":\"net::Net\"");
    expect_part("parameters", "LAYERS", "\"total\":2,");
    expect_part("parameter", "vb:head.w", "\"total\":1,");
    expect_part("component", "nobody", "\"total\":0,\"returned\":0,");
}

static void keys_of_items_are_in_order_and_the_envelope_keeps_its_own(void **state)
{
    (void)state;
    expect_part("operations", NULL,
                "\"kind\":\"operations\",\"selector\":null,\"total\":1,\"returned\":1,"
                "\"offset\":0,\"truncated\":false,\"items\":[{\"drill_down\":[{\"kind\":"
                "\"operation\",\"select\":");
    expect_part("graph-train", "net::Net::forward", "\"role\":\"Input\"");
    expect_part("graph-train", "nobody", "\"tensor_count\":0,");
}

static void pages_are_cut_and_say_so(void **state)
{
    model_request request = ask_for("parameters", NULL);
    buf out;

    (void)state;
    request.limit = 1;
    request.offset = 1;
    answer(&request, &out);
    model_expect_holds(&out, "\"total\":3,\"returned\":1,\"offset\":1,\"truncated\":true");
    buf_free(&out);
    request.offset = 9;
    answer(&request, &out);
    model_expect_holds(&out, "\"returned\":0,\"offset\":3,\"truncated\":false,\"items\":[]");
    buf_free(&out);
    request.kind = ASK_KIND_GRAPH_TRAIN;
    request.offset = 0;
    request.is_limit_given = true;
    answer(&request, &out);
    model_expect_holds(&out, "\"tensor_count\":2");
    model_expect_holds(&out, "\"tensors_truncated\":true");
    buf_free(&out);
}

static void paths_come_in_their_order(void **state)
{
    model_request request = ask_for("path", "x");
    model_answer made;
    buf out;

    (void)state;
    request.to = CG_LIT("result_of_matmul");
    buf_init(&out, &memory, SIZE_MAX);
    assert_int_equal(query_open(&made, &memory, &sample, &request, NULL), CG_OK);
    query_text(&made, &out);
    query_close(&made);
    model_expect_holds(&out, "query Path: 3 results\n  tensor:train:");
    buf_free(&out);
    request.select = CG_LIT("result_of_matmul");
    request.to = CG_LIT("x");
    expect_refused(&request, "query-no-path");
}

static void what_cannot_be_answered_is_refused(void **state)
{
    model_request request = ask_for("component", NULL);

    (void)state;
    expect_refused(&request, "query-select");
    request.select = CG_LIT("component:");
    expect_refused(&request, "query-select");
    request.kind = ASK_KIND_PATH;
    expect_refused(&request, "query-select");
    request.to = CG_LIT("no such thing");
    expect_refused(&request, "query-select");
    request.kind = ASK_KIND_SUMMARY;
    request.limit = 0;
    expect_refused(&request, "query-limit");
}

static void a_finding_is_whole_when_named_by_its_id(void **state)
{
    (void)state;
    expect_part("findings", "dtype-conflict", "\"related\":0");
    expect_part("findings",
                "finding:dtype-conflict:src%2Fnet.rs%3A30:`add`%20gets%20F32%20and%20U8",
                "\"evidence\":[]");
    expect_part("doctor", NULL,
                "\"finding_counts_by_rule\":{\"dtype-conflict\":1,\"gradient-cut\":1}");
    expect_part("model_improvement", NULL, "\"proven_error_count\":1");
    expect_part("summary", NULL, "\"finding_counts\":{\"error\":1,\"warning\":1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_names_its_kind),
        cmocka_unit_test(every_kind_answers),
        cmocka_unit_test(an_exact_id_wins_over_longer_ones),
        cmocka_unit_test(keys_of_items_are_in_order_and_the_envelope_keeps_its_own),
        cmocka_unit_test(pages_are_cut_and_say_so),
        cmocka_unit_test(paths_come_in_their_order),
        cmocka_unit_test(what_cannot_be_answered_is_refused),
        cmocka_unit_test(a_finding_is_whole_when_named_by_its_id),
    };

    return cmocka_run_group_tests(tests, sample_begin, sample_end);
}
