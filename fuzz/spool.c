/*
 * spool - the reader of spools: whatever a file holds, the trace made of it is one that the
 * reader of traces accepts.
 *
 * The first byte chooses: even, the rest is a file; odd, the rest is the streams of up to three
 * lanes (the second byte cuts it), as if all sums had been right.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/trace.h"
#include "record/convert.h"
#include "record/recover.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct files {
    const uint8_t *data;
    size_t size;
    char *out;
    size_t out_count, out_capacity;
} files;

static int64_t read_at(void *context, int file, void *to, size_t count, uint64_t at)
{
    files *self = context;

    (void)file;
    if (at >= self->size) {
        return 0;
    }
    count = count < self->size - at ? count : self->size - (size_t)at;
    memcpy(to, self->data + at, count);
    return (int64_t)count;
}

static int64_t write_at(void *context, int file, const void *from, size_t count, uint64_t at)
{
    files *self = context;

    (void)file;
    if (at + count > self->out_capacity) {
        size_t capacity = (size_t)(at + count) * 2;
        char *out = realloc(self->out, capacity);

        if (out == NULL) {
            errno = ENOSPC;
            return -1;
        }
        self->out = out;
        self->out_capacity = capacity;
    }
    memcpy(self->out + at, from, count);
    self->out_count = (size_t)at + count;
    return (int64_t)count;
}

static int truncate_to(void *context, int file, uint64_t count)
{
    files *self = context;

    (void)file;
    self->out_count = (size_t)count;
    return 0;
}

static void must_be_readable(const files *self)
{
    cg_env env = {.size = sizeof env};
    trace_doc *doc = NULL;
    cg_err err = {0};
    cg_code code = trace_read_text(&env, (cg_str){self->out, self->out_count}, &doc, &err);

    if (code == CG_OK) {
        trace_free(doc);
    } else if (code == CG_INPUT) {
        fprintf(stderr, "%llu: %s\n", (unsigned long long)err.line, err.text);
        abort();
    }
}

static void run_file(rec_sys *sys, files *self)
{
    cg_record_recovery account = {.size = sizeof account};

    if (recover_file(sys, 0, self->size, 1, "input", &account, NULL) == CG_OK) {
        /* The description of a raw file is unchecked text: the trace is ours, its meta is not. */
        cg_record_recovery_free(&account);
    }
}

/* A description as a session makes it, and the given streams. */
static void run_streams(rec_sys *sys, files *self, const uint8_t *data, size_t size)
{
    static const char *const pieces[SPOOL_PIECES] = {
        "{\"kind\":\"meta\",\"schema\":\"candle-graph/trace/10\",\"run_id\":\"r\","
        "\"correlation_id\":\"c\",\"entrypoint\":\"e\",\"phase\":\"infer\",\"timestamp\":\"t\","
        "\"capture_step\":1,\"warmup_steps\":0,\"device\":\"cpu\",\"timing_mode\":\"host\","
        "\"capture_contract\":{\"measurement_scope\":\"unknown\"",
        "", ",\"required_semantic_labels\":[]},\"tags\":{", "", ""};
    spool_header *header = calloc(1, sizeof *header);
    char *room = malloc(size + 64);
    spool_stream streams[3];
    spool_run runs[3];
    spool source = {.sys = sys, .header = header, .streams = streams, .stream_count = 3};
    convert_account account;
    int error = 0;

    if (header == NULL || room == NULL || size < 1) {
        free(header);
        free(room);
        return;
    }
    size_t cut = data[0];
    data++;
    size--;
    header->rate = UINT64_C(1) << 32;
    header->begin = (clock_pair){1, 1};
    header->levels[SPOOL_OPERATIONS] = CG_RECORD_COMPLETE;
    for (unsigned i = 0; i < SPOOL_PIECES; i++) {
        source.pieces[i] = pieces[i];
        header->piece_bytes[i] = strlen(pieces[i]);
    }
    size_t at = 0;
    for (unsigned i = 0; i < 3; i++) {
        size_t bytes = i == 2 ? size - at : cut * SPOOL_UNIT;

        bytes = bytes > size - at ? size - at : bytes;
        bytes -= bytes % SPOOL_UNIT;
        memcpy(room + at, data + at, bytes);
        runs[i] = (spool_run){0, bytes, 0, room + at};
        streams[i] =
            (spool_stream){.lane = i + 1, .runs = &runs[i], .count = bytes > 0, .end = bytes};
        at += bytes;
    }
    for (int mode = 0; mode < 2; mode++) {
        convert_job job = {.spool = &source, .is_recovery = mode == 1, .is_failed = mode == 1};

        self->out_count = 0;
        if (convert(&job, 1, &account, &error) == CG_OK) {
            must_be_readable(self);
        }
        convert_account_free(&account);
    }
    free(header);
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    files self = {.data = data + 1, .size = size - 1};
    rec_sys sys = {
        .context = &self, .read_at = read_at, .write_at = write_at, .truncate = truncate_to};

    if (size < 1) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        run_file(&sys, &self);
    } else {
        run_streams(&sys, &self, data + 1, size - 1);
    }
    free(self.out);
    return 0;
}
