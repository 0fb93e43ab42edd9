#include "../base/failing.h"

#include <stdio.h>

#include "base/buf.h"
#include "codec/toml.h"

/* The document as one line: keys, values, and nothing that the text could hide. */
static void print(const toml_document *doc, buf *out)
{
    uint32_t at = TOML_ROOT;
    bool is_entering = true;

    for (;;) {
        const toml_node *node = &doc->nodes.at[at];

        if (is_entering) {
            if (node->key.ptr != NULL)
                buf_addf(out, "%.*s=", (int)node->key.len, node->key.ptr);
            switch ((enum toml_kind)node->kind) {
            case TOML_TABLE: buf_byte(out, '{'); break;
            case TOML_ARRAY: buf_byte(out, '['); break;
            case TOML_STRING:
            case TOML_DATETIME: buf_addf(out, "'%.*s'", (int)node->text.len, node->text.ptr); break;
            case TOML_INTEGER: buf_addf(out, "%lld", (long long)node->integer); break;
            case TOML_FLOAT: buf_addf(out, "%g", node->number); break;
            case TOML_BOOLEAN: buf_addf(out, "%s", node->is_true ? "true" : "false"); break;
            }
            if (node->first != TOML_NONE) {
                at = node->first;
                continue;
            }
        }
        if (node->kind == TOML_TABLE)
            buf_byte(out, '}');
        if (node->kind == TOML_ARRAY)
            buf_byte(out, ']');
        if (at == TOML_ROOT)
            return;
        is_entering = node->next != TOML_NONE;
        if (is_entering)
            buf_byte(out, ' ');
        at = is_entering ? node->next : node->parent;
    }
}

static void expect(const char *text, const char *want)
{
    toml_document *doc;
    heap memory;
    cg_err err = {0};
    buf out;

    heap_init(&memory, NULL);
    buf_init(&out, &memory, 1 << 16);
    if (toml_read(NULL, &memory, str_from(text), &doc, &err) != CG_OK)
        fail_msg("line %u: %s", (unsigned)err.line, err.text);
    print(doc, &out);
    assert_text(buf_text(&out), want);
    buf_free(&out);
    toml_free(doc);
    assert_int_equal(memory.used_bytes, 0);
}

static void expect_refused(const char *text, unsigned line)
{
    toml_document *doc = NULL;
    heap memory;
    cg_err err = {0};

    heap_init(&memory, NULL);
    assert_int_equal(toml_read(NULL, &memory, str_from(text), &doc, &err), CG_INPUT);
    assert_string_equal(err.problem, "toml");
    assert_int_equal(err.line, line);
    assert_null(doc);
    assert_int_equal(memory.used_bytes, 0);
}

static void every_kind_of_value_is_read(void **state)
{
    (void)state;
    expect("", "{}");
    expect("a = 1\nb = \"x\" # c\nc = true\nd = -1.5e3\n", "{a=1 b='x' c=true d=-1500}");
    expect("a = 0xFF\nb = 0o17\nc = 0b11\nd = 1_000\ne = +5\nf = -9223372036854775808",
           "{a=255 b=15 c=3 d=1000 e=5 f=-9223372036854775808}");
    expect("a = inf\nb = -inf\nc = 6.5_0e1_0", "{a=inf b=-inf c=6.5e+10}");
    expect("a = 1979-05-27T07:32:00Z\nb = 07:32:00", "{a='1979-05-27T07:32:00Z' b='07:32:00'}");
    expect("a = [1, [\"x\"], {b = 2},\n]\nc = {}", "{a=[1 ['x'] {b=2}] c={}}");
    expect("\xEF\xBB\xBF"
           "a = 1\r\nb = 2\r\n",
           "{a=1 b=2}");
}

static void strings_are_decoded(void **state)
{
    (void)state;
    expect("a = \"\\t\\\"\\\\\\u00e9\\U0001F600\"", "{a='\t\"\\\xC3\xA9\xF0\x9F\x98\x80'}");
    expect("a = 'C:\\x'", "{a='C:\\x'}");
    expect("a = \"\"\"\nx\\\n   y\nz\"\"\"", "{a='xy\nz'}");
    expect("a = '''\nx\\'y'''", "{a='x\\'y'}");
    expect("a = \"\"", "{a=''}");
    expect_refused("a = 1\nb = \"\\ud800\"", 2);
}

static void tables_come_from_headers_dots_and_braces(void **state)
{
    (void)state;
    expect("a.b.c = 1\na.b.d = 2\n\"x.y\".z = 3", "{a={b={c=1 d=2}} x.y={z=3}}");
    expect("[a.b]\nc = 1\n[a]\nd = 2", "{a={b={c=1} d=2}}");
    expect("[[a]]\nb = 1\n[a.c]\nd = 2\n[[a]]\nb = 3", "{a=[{b=1 c={d=2}} {b=3}]}");
    expect("[t.'cfg(unix)'.d]\nx = '1'", "{t={cfg(unix)={d={x='1'}}}}");
    /* TOML 1.1 */
    expect("a = {\n  b = 1,\n  c = [2],\n}\nd = 3", "{a={b=1 c=[2]} d=3}");
}

static void what_is_said_twice_is_refused(void **state)
{
    (void)state;
    expect_refused("a = 1\na = 2", 2);
    expect_refused("[a]\n[b]\n[a]", 3);
    expect_refused("a = {}\n[a.b]", 2);
    expect_refused("a = [1]\n[[a]]", 2);
    expect_refused("a = 1\na.b = 2", 2);
    expect_refused("[[a]]\n[a]", 2);
}

static void broken_text_is_refused_with_its_line(void **state)
{
    (void)state;
    expect_refused("a = 1\nb = \nc = 2", 2);
    expect_refused("[p]\nname = \"abc\nversion = '1'", 2);
    expect_refused("<<<<<<< HEAD\n[package]\n", 1);
    expect_refused("a = 1\n\n\xFF", 3);
    expect_refused("a = 99999999999999999999", 1);
}

/* Containers inside each other, `depth` of them. */
static cg_code read_nested(size_t depth, const char *open, const char *close)
{
    size_t room = depth * (strlen(open) + strlen(close)) + 16;
    char *text = malloc(room);
    size_t len = 0;
    toml_document *doc = NULL;
    heap memory;
    cg_code code;

    assert_non_null(text);
    len += (size_t)snprintf(text, room, "a = ");
    for (size_t i = 0; i < depth; i++)
        len += (size_t)snprintf(text + len, room - len, "%s", open);
    for (size_t i = 0; i < depth; i++)
        len += (size_t)snprintf(text + len, room - len, "%s", close);
    heap_init(&memory, NULL);
    code = toml_read(NULL, &memory, (cg_str){text, len}, &doc, NULL);
    if (code == CG_OK)
        toml_free(doc);
    assert_int_equal(memory.used_bytes, 0);
    free(text);
    return code;
}

static void depth_has_a_ceiling(void **state)
{
    (void)state;
    assert_int_equal(read_nested(TOML_DEPTH, "[", "]"), CG_OK);
    assert_int_equal(read_nested(TOML_DEPTH + 1, "[", "]"), CG_INPUT);
    assert_int_equal(read_nested(200000, "[", "]"), CG_INPUT);
    assert_int_equal(read_nested(50000, "{a=", "}"), CG_INPUT);
}

static void look_up_says_what_is_not_there(void **state)
{
    toml_document *doc;
    heap memory;
    bool is_true = false;

    (void)state;
    heap_init(&memory, NULL);
    assert_int_equal(toml_read(NULL, &memory, CG_LIT("[a]\nb = true\nc = 'x'"), &doc, NULL), CG_OK);
    uint32_t a = toml_get(doc, TOML_ROOT, CG_LIT("a"));

    assert_true(toml_is(doc, a, TOML_TABLE));
    assert_int_equal(toml_get(doc, a, CG_LIT("x")), TOML_NONE);
    assert_int_equal(toml_get(doc, TOML_NONE, CG_LIT("x")), TOML_NONE);
    assert_true(toml_boolean(doc, toml_get(doc, a, CG_LIT("b")), &is_true));
    assert_true(is_true);
    assert_text(toml_text(doc, toml_get(doc, a, CG_LIT("c"))), "x");
    assert_null(toml_text(doc, a).ptr);
    assert_string_equal(toml_kind_name(doc, a), "a table");
    assert_int_equal(doc->nodes.at[toml_get(doc, a, CG_LIT("c"))].line, 3);
    toml_free(doc);
}

static void many_keys_are_found(void **state)
{
    heap memory;
    toml_document *doc;
    buf text;

    (void)state;
    heap_init(&memory, NULL);
    buf_init(&text, &memory, SIZE_MAX);
    for (unsigned i = 0; i < 20000; i++)
        buf_addf(&text, "k%u = %u\n", i, i);
    assert_int_equal(toml_read(NULL, &memory, buf_text(&text), &doc, NULL), CG_OK);
    for (unsigned i = 0; i < 20000; i += 997) {
        char key[16];

        snprintf(key, sizeof key, "k%u", i);
        assert_int_equal(doc->nodes.at[toml_get(doc, TOML_ROOT, str_from(key))].integer, i);
    }
    toml_free(doc);
    buf_free(&text);
    assert_int_equal(memory.used_bytes, 0);
}

static void every_failing_request_is_reported_and_nothing_is_held(void **state)
{
    cg_str text = CG_LIT("[a.b]\nc = [1, \"x\", {d = 1.5}]\n[[e]]\nf.g = 'h'\n");
    cg_code code = CG_NOMEM;

    (void)state;
    for (size_t k = 1; code != CG_OK; k++) {
        failing memory = {.fail_at = k};
        toml_document *doc = NULL;
        heap from;

        heap_init(&from, failing_env(&memory));
        code = toml_read(&memory.env, &from, text, &doc, NULL);
        assert_true(code == CG_OK || code == CG_NOMEM);
        if (code == CG_OK)
            toml_free(doc);
        assert_nothing_held(&memory, &from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(tables_come_from_headers_dots_and_braces),
        cmocka_unit_test(what_is_said_twice_is_refused),
        cmocka_unit_test(broken_text_is_refused_with_its_line),
        cmocka_unit_test(depth_has_a_ceiling),
        cmocka_unit_test(look_up_says_what_is_not_there),
        cmocka_unit_test(many_keys_are_found),
        cmocka_unit_test(every_failing_request_is_reported_and_nothing_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
