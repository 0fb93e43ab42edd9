/*
 * crate - any bytes as the library of a Candle crate: scanned whole, and its documents written.
 *
 * The crate lies in a temporary folder that also stands for cargo's home, so that an answer depends
 * on the input alone. A scan succeeds whatever the text is, its documents can be written, the model
 * can be read back, and nothing is held afterwards. The form of the findings goes round with the
 * size of the input: all of them would cost a tenth of all runs.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#include "base/buf.h"
#include "candlegraph/scan.h"
#include "model/document.h"

#define FORMATS (CG_MESSAGE_GITHUB - CG_MESSAGE_HUMAN + 1)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/candle-graph-fuzz-XXXXXX";
static char source[sizeof folder + 16];

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void remove_folder(void)
{
    char path[sizeof folder + 16];

    (void)unlink(source);
    (void)snprintf(path, sizeof path, "%s/src", folder);
    (void)rmdir(path);
    (void)snprintf(path, sizeof path, "%s/Cargo.toml", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    static const char manifest[] =
        "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
        "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n";
    char path[sizeof folder + 16];

    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof path, "%s/src", folder);
    CHECK(mkdir(path, 0700) == 0);
    (void)snprintf(path, sizeof path, "%s/Cargo.toml", folder);
    write_file(path, manifest, sizeof manifest - 1);
    (void)snprintf(source, sizeof source, "%s/src/lib.rs", folder);
    CHECK(setenv("CARGO_HOME", folder, 1) == 0);
    (void)atexit(remove_folder);
}

static cg_code drop(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OK;
}

static cg_code keep(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

static void write_all(const cg_env *env, const cg_scan *scan, cg_message_format kind)
{
    const cg_format json = {.size = sizeof json, .kind = CG_FORMAT_JSON};
    const cg_sink nowhere = {NULL, drop};
    model_document document;
    heap memory;
    buf text;

    heap_init(&memory, env);
    buf_init(&text, &memory, SIZE_MAX);
    CHECK(cg_write_model(scan, &json, (cg_sink){&text, keep}, NULL) == CG_OK);
    CHECK(model_read(&memory, buf_text(&text), &document, NULL) == CG_OK);
    model_free(&document);
    buf_free(&text);
    CHECK(memory.used_bytes == 0);
    CHECK(cg_write_tree(scan, NULL, &json, nowhere, NULL) == CG_OK);
    CHECK(cg_write_findings(scan, kind, nowhere, NULL) == CG_OK);
    CHECK(cg_write_baseline(scan, CG_BASELINE_READABLE, nowhere, NULL) == CG_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cg_env env = {.size = sizeof env};
    cg_scan_request request = {.size = sizeof request, .path = folder};
    cg_scan *scan = NULL;

    if (source[0] == '\0')
        make_folder();
    write_file(source, data, size);
    CHECK(cg_scan_open(&env, &request, &scan, NULL) == CG_OK);
    write_all(&env, scan, (cg_message_format)(CG_MESSAGE_HUMAN + size % FORMATS));
    cg_scan_free(scan);
    return 0;
}
