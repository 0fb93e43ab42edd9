#include <setjmp.h>
#include <stdarg.h>

#include "model/cargo_lines.h"
#include "model/explain.h"
#include "model/findings_out.h"
#include "model/rules.h"
#include "model/sarif.h"
#include "support/model.h"

#include <cmocka.h>

static heap memory;
static model_document sample;
static findings_view view;
static buf out;

static int begin(void **state)
{
    (void)state;
    heap_init(&memory, NULL);
    model_sample_document(&memory, &sample);
    buf_init(&out, &memory, SIZE_MAX);
    return findings_order(&sample.mem, &sample.doc, &view) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    model_free(&sample);
    buf_free(&out);
    return memory.used_bytes == 0 ? 0 : -1;
}

static void expect_text(const char *want)
{
    assert_false(out.failed);
    buf_byte(&out, '\0');
    assert_string_equal(out.at, want);
}

static void open_json(jsonw *writer)
{
    assert_int_equal(jw_init(writer, &memory, model_sink(&out), false, false), CG_OK);
}

static void close_json(jsonw *writer)
{
    assert_int_equal(jw_finish(writer, NULL), CG_OK);
    model_expect_json(&memory, buf_text(&out));
}

static void the_document_has_the_fields_of_each_code(void **state)
{
    jsonw writer;

    (void)state;
    open_json(&writer);
    findings_json(&view, &writer);
    close_json(&writer);
    model_expect_holds(&out, "{\"schema\":\"candle-graph/findings/1\",\"analysis_id\":"
                             "\"analysis:sample\",\"counts\":{\"error\":1,\"warning\":1,"
                             "\"information\":0},\"findings\":[{\"id\":\"finding:gradient-cut:");
    model_expect_holds(&out,
                       "\"operation\":\"candle_core::Tensor::detach\",\"condition\":\"always\","
                       "\"entries\":[\"Net::loss\"],\"severed\":{\"vb\":[\"layers.{i}.b\","
                       "\"layers.{i}.w\"]},\"still_trained\":{\"vb\":[\"head.w\"]},"
                       "\"alternative\":null,\"effect\":\"no_gradient\"}");
    model_expect_holds(&out, "\"help\":null,\"operation\":\"candle_core::Tensor::add\"}");
    model_expect_holds(&out, "\"location\":{\"file\":\"src/net.rs\",\"line\":22,\"column\":9,"
                             "\"byte_start\":880,\"byte_end\":892}");
}

static void people_get_place_code_and_help(void **state)
{
    (void)state;
    findings_human(&view, &out);
    expect_text("warning: `detach` has no backward step\n"
                "  --> src/net.rs:22:9\n"
                "  = code: gradient-cut\n"
                "  = confidence: conditional\n"
                "  = severed: layers.{i}.b, layers.{i}.w\n"
                "  = help: leave it out while training\n"
                "error: `add` gets F32 and U8\n"
                "  --> src/net.rs:30:9\n"
                "  = code: dtype-conflict\n"
                "\n"
                "candle-graph check: 1 error(s), 1 warning(s), 0 note(s)\n");
}

static void notes_are_counted_not_shown(void **state)
{
    model_finding *first = (model_finding *)MODEL_AT(sample.doc.findings, model_finding, 0);

    (void)state;
    first->severity = MODEL_FINDING_SEVERITY_INFORMATION;
    first->rule = CG_LIT("compiler-semantic-evidence");
    assert_true(findings_order(&sample.mem, &sample.doc, &view));
    findings_short(&view, &out);
    findings_human(&view, &out);
    model_expect_holds(&out, "1 note(s); --message-format json lists the notes");
    assert_true(str_find(buf_text(&out), CG_LIT("note:")) == SIZE_MAX);
    assert_true(str_find(buf_text(&out), CG_LIT("note[")) == SIZE_MAX);
}

static void short_lines_begin_with_the_place(void **state)
{
    (void)state;
    findings_short(&view, &out);
    expect_text("src/net.rs:22:9: warning[gradient-cut]: `detach` has no backward step\n"
                "src/net.rs:30:9: error[dtype-conflict]: `add` gets F32 and U8\n");
}

static void workflow_commands_are_escaped(void **state)
{
    model_finding *first = (model_finding *)MODEL_AT(sample.doc.findings, model_finding, 0);

    (void)state;
    first->message = CG_LIT("100% \x1b[31m\nred");
    findings_github(&view, &(findings_home){0}, &out);
    model_expect_holds(&out, "::warning file=src/net.rs,line=22,col=9,title=gradient-cut::");
    model_expect_holds(&out, "::error file=src/net.rs,line=30,col=9,title=dtype-conflict::100%25 "
                             "\\x1b[31m%0Ared\n");
}

static void github_gets_files_as_the_repository_names_them(void **state)
{
    model_finding *first = (model_finding *)MODEL_AT(sample.doc.findings, model_finding, 0);
    model_location elsewhere = *(const model_location *)first->location;

    (void)state;
    findings_github(&view, &(findings_home){CG_LIT("/r"), CG_LIT("/r/crates/net"), {0}}, &out);
    model_expect_holds(&out, "file=crates/net/src/net.rs,line=30,");
    findings_github(&view, &(findings_home){CG_LIT("/r"), CG_LIT("/r"), {0}}, &out);
    model_expect_holds(&out, "error file=src/net.rs,line=30,");
    findings_github(&view, &(findings_home){CG_LIT("/"), CG_LIT("/net"), {0}}, &out);
    model_expect_holds(&out, "file=net/src/net.rs,line=30,");
    elsewhere.file = CG_LIT("/r/shared/loss.rs");
    first->location = &elsewhere;
    findings_github(&view, &(findings_home){CG_LIT("/r"), CG_LIT("/r/crates/net"), {0}}, &out);
    model_expect_holds(&out, "file=shared/loss.rs,line=");
    findings_github(&view, &(findings_home){CG_LIT("/r/sha"), CG_LIT("/r/sha/net"), {0}}, &out);
    model_expect_holds(&out, "file=/r/shared/loss.rs,line=");
}

static void sarif_of(const findings_home *home)
{
    jsonw writer;

    out.len = 0;
    open_json(&writer);
    assert_int_equal(sarif_write(&view, home, &sample.mem, &writer, NULL), CG_OK);
    close_json(&writer);
}

static void sarif_names_files_from_the_top_and_every_result_has_a_place(void **state)
{
    model_finding *first = (model_finding *)MODEL_AT(sample.doc.findings, model_finding, 0);
    const findings_home home = {CG_LIT("/r"), CG_LIT("/r/my net"), CG_LIT("Cargo.toml")};

    (void)state;
    sarif_of(&home);
    model_expect_holds(&out, "{\"uri\":\"my%20net/src/net.rs\",\"uriBaseId\":\"%SRCROOT%\"}");
    first->source = (cg_str){0};
    first->location = NULL;
    sarif_of(&home);
    model_expect_holds(&out, "{\"uri\":\"my%20net/Cargo.toml\",\"uriBaseId\":\"%SRCROOT%\"},"
                             "\"region\":{\"startLine\":1}");
}

static void sarif_describes_every_rule_it_names(void **state)
{
    model_finding *first = (model_finding *)MODEL_AT(sample.doc.findings, model_finding, 0);
    jsonw writer;
    buf index;

    (void)state;
    first->rule = CG_LIT("rule-of-tomorrow");
    open_json(&writer);
    assert_int_equal(sarif_write(&view, &(findings_home){0}, &sample.mem, &writer, NULL), CG_OK);
    close_json(&writer);
    model_expect_holds(&out, "\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":");
    model_expect_holds(&out, "{\"id\":\"rule-of-tomorrow\"}]}}");
    model_expect_holds(&out, "\"columnKind\":\"unicodeCodePoints\"");
    model_expect_holds(&out, "\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"src/net.rs\","
                             "\"uriBaseId\":\"%SRCROOT%\"},\"region\":{\"startLine\":22,"
                             "\"startColumn\":9,\"byteOffset\":880,\"byteLength\":12}}");
    buf_init(&index, &memory, SIZE_MAX);
    buf_addf(&index, "\"ruleId\":\"rule-of-tomorrow\",\"ruleIndex\":%d,", RULE_CODE_COUNT);
    buf_byte(&index, '\0');
    model_expect_holds(&out, index.at);
    buf_free(&index);
}

static void lines_of_cargo_are_one_object_each(void **state)
{
    size_t lines = 0;
    size_t start = 0;

    (void)state;
    assert_int_equal(cargo_lines_write(&view, NULL, false, &memory, model_sink(&out), NULL), CG_OK);
    for (size_t at = 0; at < out.len; at++) {
        if (out.at[at] == '\n') {
            model_expect_json(&memory, (cg_str){out.at + start, at - start});
            start = at + 1;
            lines++;
        }
    }
    assert_int_equal(lines, 3);
    model_expect_holds(&out, "\"level\":\"warning\"");
    model_expect_holds(&out, "{\"reason\":\"build-finished\",\"success\":false}\n");
}

static void every_rule_can_be_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULE_CODE_COUNT; i++) {
        jsonw writer;

        buf_clear(&out);
        open_json(&writer);
        explain_json(&rules[i], &writer);
        close_json(&writer);
        buf_clear(&out);
        explain_text(&rules[i], 72, &out);
        model_expect_holds(&out, "What to do");
        assert_true(rules[i].title.len > 0 && rules[i].means.len > 0 && rules[i].hurts.len > 0);
        assert_ptr_equal(rule_find(rules[i].code), &rules[i]);
    }
    assert_null(rule_find(CG_LIT("dtype")));
    assert_non_null(rule_find(CG_LIT("Gradient-Cut")));
}

static void nothing_is_said_when_there_is_nothing(void **state)
{
    model_doc empty = {0};
    findings_view none;

    (void)state;
    assert_true(findings_order(&sample.mem, &empty, &none));
    findings_human(&none, &out);
    findings_short(&none, &out);
    assert_int_equal(out.len, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_document_has_the_fields_of_each_code),
        TEST(people_get_place_code_and_help),
        TEST(notes_are_counted_not_shown),
        TEST(short_lines_begin_with_the_place),
        TEST(workflow_commands_are_escaped),
        TEST(github_gets_files_as_the_repository_names_them),
        TEST(sarif_names_files_from_the_top_and_every_result_has_a_place),
        TEST(sarif_describes_every_rule_it_names),
        TEST(lines_of_cargo_are_one_object_each),
        TEST(every_rule_can_be_explained),
        TEST(nothing_is_said_when_there_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
