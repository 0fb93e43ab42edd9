#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>

#include "base/buf.h"
#include "candlegraph/scan.h"
#include "support/tree.h"

#include <cmocka.h>

static tree files;
static heap memory;
static buf out;
static cg_env env = {.size = sizeof env};
static cg_err err;

static const char manifest[] = "[package]\n"
                               "name = \"ear\"\n"
                               "version = \"1.0.0\"\n"
                               "edition = \"2021\"\n"
                               "[features]\n"
                               "loud = []\n"
                               "[dependencies]\n"
                               "candle-core = \"0.11\"\n"
                               "candle-nn = \"0.11\"\n";
static const char source[] =
    "use candle_core::Result;\n"
    "use candle_nn::{linear, Linear, VarBuilder};\n"
    "pub struct Ear { drum: Linear }\n"
    "impl Ear {\n"
    "    pub fn new(vb: VarBuilder) -> Result<Self> {\n"
    "        // candle-graph: allow(builder-unused, gradient-cut) some reason\n"
    "        let _unused = vb.pp(\"nerve\");\n"
    "        Ok(Self { drum: linear(4, 2, vb.pp(\"drum\"))? })\n"
    "    }\n"
    "}\n";

static int begin(void **state)
{
    (void)state;
    tree_make(&files);
    tree_write(&files, "ear/Cargo.toml", manifest);
    tree_write(&files, "ear/src/lib.rs", source);
    heap_init(&memory, NULL);
    buf_init(&out, &memory, SIZE_MAX);
    memset(&err, 0, sizeof err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tree_remove(&files);
    buf_free(&out);
    return 0;
}

static cg_code add(void *context, const char *bytes, size_t count)
{
    (void)context;
    buf_add(&out, (cg_str){bytes, count});
    return CG_OK;
}

static cg_sink sink(void)
{
    buf_clear(&out);
    return (cg_sink){NULL, add};
}

static bool holds(const char *text)
{
    return str_find(buf_text(&out), str_from(text)) != SIZE_MAX;
}

static cg_scan *open_with(cg_scan_request request)
{
    cg_scan *scan = NULL;
    char path[1200];

    (void)snprintf(path, sizeof path, "%s/ear", files.root);
    request.size = sizeof request;
    request.path = path;
    assert_int_equal(cg_scan_open(&env, &request, &scan, &err), CG_OK);
    return scan;
}

static cg_scan_facts facts_of(const cg_scan *scan)
{
    cg_scan_facts facts = {.size = sizeof facts};

    cg_scan_facts_of(scan, &facts);
    return facts;
}

/* A checkpoint with drum.weight of two rows and `columns` columns, and drum.bias. */
static void write_checkpoint(unsigned columns)
{
    char header[300];
    char all[500];
    int len =
        snprintf(header, sizeof header,
                 "{\"drum.weight\":{\"dtype\":\"F32\",\"shape\":[2,%u],\"data_offsets\":[0,%u]"
                 "},\"drum.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[%u,%u]}}",
                 columns, 8 * columns, 8 * columns, 8 * columns + 8);
    FILE *file = fopen(tree_place(&files, "c.safetensors").ptr, "wb");

    assert_non_null(file);
    memset(all, 0, sizeof all);
    all[0] = (char)(len & 255);
    all[1] = (char)(len >> 8);
    memcpy(all + 8, header, (size_t)len);
    assert_int_equal(fwrite(all, 1, 8 + (size_t)len + 8 * columns + 8, file),
                     8 + (size_t)len + 8 * columns + 8);
    assert_int_equal(fclose(file), 0);
}

static void documents_of_a_small_crate(void **state)
{
    cg_format json = {.size = sizeof json};
    cg_format text = {.size = sizeof text, .kind = CG_FORMAT_TEXT};
    cg_scan_query query = {.size = sizeof query, .kind = "parameters"};
    cg_scan *scan = open_with((cg_scan_request){0});

    (void)state;
    assert_int_equal(facts_of(scan).component_count, 1);
    assert_int_equal(facts_of(scan).parameter_count, 2);
    assert_true(str_equal(facts_of(scan).package, CG_LIT("ear")));
    assert_int_equal(cg_write_model(scan, &json, sink(), NULL), CG_OK);
    assert_true(holds("\"schema\": \"candle-graph/model/1\""));
    assert_int_equal(cg_write_model(scan, &text, sink(), NULL), CG_OK);
    assert_true(holds("ear 1.0.0"));
    assert_int_equal(cg_write_tree(scan, "Ear", &text, sink(), NULL), CG_OK);
    assert_true(holds("drum.weight  (2, 4)"));
    assert_int_equal(cg_write_scan_query(scan, &query, &json, sink(), NULL), CG_OK);
    assert_true(holds("\"total\": 2"));
    query.kind = "nothing";
    assert_int_equal(cg_write_scan_query(scan, &query, &json, sink(), NULL), CG_USAGE);
    for (cg_message_format kind = CG_MESSAGE_HUMAN; kind <= CG_MESSAGE_GITHUB; kind++)
        assert_int_equal(cg_write_findings(scan, kind, sink(), NULL), CG_OK);
    assert_int_equal(cg_write_findings(scan, 99, sink(), NULL), CG_USAGE);
    cg_scan_free(scan);
}

/* What `check` asks for when it prints no document. */
static void findings_alone_are_the_same_findings(void **state)
{
    static const char computing[] =
        "use candle_core::{Result, Tensor};\n"
        "use candle_nn::{linear, Linear, Module, VarBuilder};\n"
        "pub struct Ear { drum: Linear }\n"
        "impl Ear {\n"
        "    pub fn new(vb: VarBuilder) -> Result<Self> {\n"
        "        Ok(Self { drum: linear(4, 2, vb.pp(\"drum\"))? })\n"
        "    }\n"
        "    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {\n"
        "        candle_nn::ops::softmax_last_dim(&self.drum.forward(x)?)?.log()\n"
        "    }\n"
        "}\n";
    cg_format json = {.size = sizeof json};
    char all[4000];
    cg_scan *scan;

    (void)state;
    tree_write(&files, "ear/src/lib.rs", computing);
    scan = open_with((cg_scan_request){0});
    assert_int_equal(cg_write_model(scan, &json, sink(), NULL), CG_OK);
    assert_true(holds("tensor:train:"));
    assert_int_equal(cg_write_findings(scan, CG_MESSAGE_HUMAN, sink(), NULL), CG_OK);
    assert_true(holds("gradient-cut"));
    (void)snprintf(all, sizeof all, "%.*s", (int)out.len, out.at);
    cg_scan_free(scan);
    scan = open_with((cg_scan_request){.is_findings = true});
    assert_int_equal(cg_write_findings(scan, CG_MESSAGE_HUMAN, sink(), NULL), CG_OK);
    assert_int_equal(out.len, strlen(all));
    assert_memory_equal(out.at, all, out.len);
    assert_int_equal(cg_write_model(scan, &json, sink(), NULL), CG_OK);
    assert_false(holds("tensor:train:"));
    cg_scan_free(scan);
    /* Guesses are made of what functions do. */
    scan = open_with((cg_scan_request){.is_findings = true, .is_heuristic = true});
    assert_int_equal(cg_write_model(scan, &json, sink(), NULL), CG_OK);
    assert_true(holds("tensor:train:"));
    cg_scan_free(scan);
}

static void comments_allow_what_they_name(void **state)
{
    cg_scan *scan = open_with((cg_scan_request){0});

    (void)state;
    assert_int_equal(cg_write_findings(scan, CG_MESSAGE_SHORT, sink(), NULL), CG_OK);
    assert_false(holds("[builder-unused]"));
    assert_true(holds("[unused-suppression]"));
    cg_scan_free(scan);
}

static void a_checkpoint_adds_shapes_and_findings(void **state)
{
    const char *deny[] = {"checkpoint-shape-mismatch"};
    cg_format json = {.size = sizeof json};
    cg_scan *scan;
    char path[1200];

    (void)state;
    write_checkpoint(5);
    (void)snprintf(path, sizeof path, "%s", tree_place(&files, "c.safetensors").ptr);
    scan = open_with((cg_scan_request){.checkpoint = path});
    assert_int_equal(cg_write_checkpoint(scan, &json, sink(), NULL), CG_USAGE);
    assert_int_equal(cg_scan_checkpoint(scan, path, NULL, NULL, &err), CG_OK);
    assert_int_equal(cg_scan_checkpoint(scan, path, NULL, NULL, NULL), CG_USAGE);
    assert_int_equal(cg_write_checkpoint(scan, &json, sink(), NULL), CG_OK);
    assert_true(holds("\"matched_tensors\": 1"));
    assert_int_equal(cg_write_model(scan, &json, sink(), NULL), CG_OK);
    assert_true(holds("\"checkpoint_dtype\": \"F32\""));
    assert_true(holds("checkpoint-shape-mismatch"));
    assert_true(facts_of(scan).has_checkpoint);
    assert_int_equal(cg_scan_gate(scan, CG_STRICT_SOURCE, NULL, 0, NULL, NULL, NULL), CG_OK);
    assert_int_equal(cg_scan_gate(scan, CG_STRICT_ALL, NULL, 0, NULL, NULL, NULL), CG_GATE);
    assert_int_equal(cg_scan_gate(scan, CG_STRICT_NONE, deny, 1, NULL, NULL, NULL), CG_GATE);
    assert_int_equal(cg_write_key_map(scan, sink(), NULL), CG_OK);
    assert_true(holds("candle-graph/key-map/1"));
    cg_scan_free(scan);
}

static void a_refused_checkpoint_costs_no_scan(void **state)
{
    cg_scan_request request = {.size = sizeof request, .path = "/nowhere"};
    cg_scan *scan = NULL;
    char path[1200];

    (void)state;
    tree_write(&files, "cut.safetensors", "ab");
    (void)snprintf(path, sizeof path, "%s", tree_place(&files, "cut.safetensors").ptr);
    request.checkpoint = path;
    assert_int_equal(cg_scan_open(&env, &request, &scan, &err), CG_INPUT);
    assert_null(scan);
    assert_string_equal(err.problem, "safetensors-length");
}

static void an_audit_stays_out_of_the_sources(void **state)
{
    cg_scan *scan = open_with((cg_scan_request){0});
    char place[1200];

    (void)state;
    (void)snprintf(place, sizeof place, "%s/out", files.root);
    assert_int_equal(cg_audit(scan, place, &err), CG_OK);
    assert_true(tree_has(&files, "out/model-ir.json"));
    assert_false(tree_has(&files, "out/checkpoint.json"));
    (void)snprintf(place, sizeof place, "%s/ear/src", files.root);
    assert_int_equal(cg_audit(scan, place, &err), CG_OUTPUT_REFUSED);
    assert_false(tree_has(&files, "ear/src/summary.json"));
    cg_scan_free(scan);
}

static void a_baseline_is_compared(void **state)
{
    const char *features[] = {"loud"};
    cg_scan *scan = open_with((cg_scan_request){.features = features, .feature_count = 1});
    char place[1200];

    (void)state;
    assert_int_equal(cg_write_baseline(scan, CG_BASELINE_READABLE, sink(), NULL), CG_OK);
    buf_byte(&out, '\0');
    tree_write(&files, "base.txt", out.at);
    (void)snprintf(place, sizeof place, "%s/base.txt", files.root);
    assert_int_equal(cg_scan_baseline(scan, place, sink(), &err), CG_OK);
    assert_int_equal(out.len, 0);
    cg_scan_free(scan);
    tree_write(&files, "ear/src/lib.rs", "pub struct Nothing;\n");
    scan = open_with((cg_scan_request){0});
    assert_int_equal(cg_scan_baseline(scan, place, sink(), &err), CG_GATE);
    assert_true(holds("drum.weight"));
    cg_scan_free(scan);
}

static bool is_cached(const char *cache, const char *const *features, size_t count)
{
    cg_scan *scan = open_with(
        (cg_scan_request){.cache_directory = cache, .features = features, .feature_count = count});
    bool is_from_cache = facts_of(scan).is_from_cache;

    cg_scan_free(scan);
    return is_from_cache;
}

static void the_cache_holds_until_something_changes(void **state)
{
    const char *features[] = {"loud"};
    char cache[1200];

    (void)state;
    (void)snprintf(cache, sizeof cache, "%s/cache", files.root);
    assert_false(is_cached(cache, NULL, 0));
    assert_true(is_cached(cache, NULL, 0));
    assert_false(is_cached(cache, features, 1));
    assert_true(is_cached(cache, features, 1));
    assert_true(is_cached(cache, NULL, 0));
    tree_write(&files, "ear/src/lib.rs", "mod more; pub struct Nothing;\n");
    assert_false(is_cached(cache, NULL, 0));
    assert_true(is_cached(cache, NULL, 0));
    tree_write(&files, "ear/src/more.rs", "");
    assert_false(is_cached(cache, NULL, 0));
    tree_write(&files, "ear/candle-graph.toml", "source-load = \"allow\"\n");
    assert_false(is_cached(cache, NULL, 0));
    tree_write(&files, "ear/src/bin/tool.rs", "fn main() {}\n");
    assert_false(is_cached(cache, NULL, 0));
    tree_write(&files, "ear/Cargo.lock", "version = 4\n");
    assert_false(is_cached(cache, NULL, 0));
    assert_true(is_cached(cache, NULL, 0));
}

static void a_scan_from_the_cache_can_be_compared(void **state)
{
    cg_format text = {.size = sizeof text, .kind = CG_FORMAT_TEXT};
    cg_scan *scan;
    char cache[1200];
    char path[1200];

    (void)state;
    write_checkpoint(4);
    (void)snprintf(cache, sizeof cache, "%s/cache", files.root);
    (void)snprintf(path, sizeof path, "%s", tree_place(&files, "c.safetensors").ptr);
    assert_false(is_cached(cache, NULL, 0));
    scan = open_with((cg_scan_request){.cache_directory = cache});
    assert_true(facts_of(scan).is_from_cache);
    assert_int_equal(cg_scan_checkpoint(scan, path, "vb", "Ear", &err), CG_OK);
    assert_int_equal(cg_write_tree(scan, NULL, &text, sink(), NULL), CG_OK);
    assert_true(holds("F32 40 bytes"));
    cg_scan_free(scan);
}

static void what_is_not_there_is_refused(void **state)
{
    const char *features[] = {"quiet"};
    cg_scan_request request = {.size = sizeof request, .path = "/nowhere/at/all"};
    cg_scan *scan = NULL;
    char path[1200];

    (void)state;
    assert_int_equal(cg_scan_open(&env, &request, &scan, &err), CG_NOT_FOUND);
    memset(&err, 0, sizeof err);
    (void)snprintf(path, sizeof path, "%s/ear", files.root);
    request.path = path;
    request.features = features;
    request.feature_count = 1;
    assert_int_equal(cg_scan_open(&env, &request, &scan, &err), CG_INPUT);
    assert_null(scan);
}

static void codes_are_explained(void **state)
{
    cg_format text = {.size = sizeof text, .kind = CG_FORMAT_TEXT};
    cg_format json = {.size = sizeof json};

    (void)state;
    assert_int_equal(cg_write_explanation(&env, "builder-unused", &text, sink(), NULL), CG_OK);
    assert_true(holds("builder-unused"));
    assert_int_equal(cg_write_explanation(&env, NULL, &json, sink(), NULL), CG_OK);
    assert_true(holds("\"checkpoint-missing\""));
    assert_int_equal(cg_write_explanation(&env, "nothing", &json, sink(), NULL), CG_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(documents_of_a_small_crate, begin, end),
        cmocka_unit_test_setup_teardown(findings_alone_are_the_same_findings, begin, end),
        cmocka_unit_test_setup_teardown(comments_allow_what_they_name, begin, end),
        cmocka_unit_test_setup_teardown(a_checkpoint_adds_shapes_and_findings, begin, end),
        cmocka_unit_test_setup_teardown(a_refused_checkpoint_costs_no_scan, begin, end),
        cmocka_unit_test_setup_teardown(an_audit_stays_out_of_the_sources, begin, end),
        cmocka_unit_test_setup_teardown(a_baseline_is_compared, begin, end),
        cmocka_unit_test_setup_teardown(the_cache_holds_until_something_changes, begin, end),
        cmocka_unit_test_setup_teardown(a_scan_from_the_cache_can_be_compared, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(codes_are_explained, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
