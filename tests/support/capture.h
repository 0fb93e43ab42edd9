/*
 * capture - small traces, written line by line in place, and their evidence.
 *
 *   capture c;
 *   capture_begin(&c);
 *   capture_span(&c, "s1", NULL, "root", 0, 100);
 *   evidence *e = capture_complete(&c, 100);
 *   ...
 *   evidence_free(e);
 *
 * Every call fails the running test when the text grows too long or the
 * evidence cannot be built. Not for traces that are meant to be refused.
 */
#ifndef CG_TESTS_SUPPORT_CAPTURE_H
#define CG_TESTS_SUPPORT_CAPTURE_H

#include "exec/evidence.h"

typedef struct capture {
    char text[1 << 16];
    size_t len;
    unsigned gradient_count;
} capture;

void capture_begin(capture *self);
/* One line; ' stands for ". */
void capture_line(capture *self, const char *format, ...) CG_PRINTF(2, 3);
/* A span and its end; capture_measured: the measured one; capture_open: without an end. */
void capture_span(capture *self, const char *id, const char *parent, const char *name,
                  uint64_t start, uint64_t duration);
void capture_measured(capture *self, const char *id, const char *parent, const char *name,
                      uint64_t start, uint64_t duration);
void capture_open(capture *self, const char *id, const char *parent, const char *name,
                  uint64_t start, bool is_measured);
/* inputs: tensor ids with commas between, "" = none; output: NULL = none. */
void capture_op(capture *self, const char *span, const char *name, const char *inputs,
                const char *output, uint64_t start, uint64_t duration);
/* label: NULL = none; category: NULL = other. */
void capture_tensor(capture *self, const char *span, const char *id, const char *label,
                    const char *category);
/* Of eight elements. */
void capture_stats(capture *self, const char *span, const char *label, uint64_t non_finite);
void capture_memory(capture *self, const char *span, const char *action, const char *storage,
                    uint64_t bytes, uint64_t at);
void capture_interval(capture *self, const char *span, const char *device, const char *clock,
                      uint64_t start, uint64_t duration);
void capture_gradient(capture *self, const char *root, const char *key);

/* Valid ones; capture_any takes what comes. */
evidence *capture_complete(capture *self, uint64_t end);
evidence *capture_failed(capture *self, uint64_t end);
#define CAPTURE_COMPLETE "'complete'"
#define CAPTURE_FAILED   "'failed','reason':'stopped'"
evidence *capture_any(capture *self, const char *outcome, uint64_t end);

/* The text of a symbol, "-" for 0, appended. */
void capture_add_text(const evidence *from, sym symbol, buf *out);
/* Fails when `out` differs from `want` and shows both; clears it. */
void capture_expect(buf *out, const char *want);

#endif
