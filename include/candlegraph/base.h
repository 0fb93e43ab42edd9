/*
 * base - the words every part of candle-graph shares: result codes, the error
 * report, text slices, the allocator, ceilings and the environment of a call.
 *
 * Types only; every function is declared in the header of its subject. What calls are given:
 *
 *   cg_env env = {.size = sizeof env}; // the C library's memory, the default ceilings
 *   cg_err err = {0};                  // nothing has gone wrong yet
 *
 * A structure that may grow begins with `size`. Whoever makes one sets it to the sizeof of the
 * structure and leaves zero what is not meant, also where a call fills it: what a later version
 * adds is neither read from nor written to a program that does not know of it.
 *
 * Threads: all of these are plain values. A cg_env and what it points to must
 * stay unchanged while a call that received it runs.
 */
#ifndef CANDLEGRAPH_BASE_H
#define CANDLEGRAPH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(CG_BUILD_SHARED) && defined(__GNUC__)
#define CG_API __attribute__((visibility("default")))
#else
#define CG_API
#endif

#if defined(__GNUC__)
#define CG_MUST                __attribute__((warn_unused_result))
#define CG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CG_MUST
#define CG_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Result codes: name, number, exit status of the command line, meaning.
 * Numbers never change and are never used again.
 */
#define CG_CODES(X)                                                                                \
    X(OK, 0, 0, "done")                                                                            \
    X(USAGE, 1, 2, "the call or the command line is wrong")                                        \
    X(INPUT, 2, 1, "an input was refused")                                                         \
    X(NOT_FOUND, 3, 1, "a named input is missing or cannot be read")                               \
    X(LIMIT, 4, 1, "a ceiling was reached")                                                        \
    X(NO_GRAPH, 5, 1, "the capture has no derived graph")                                          \
    X(NOMEM, 6, 3, "memory could not be obtained")                                                 \
    X(OUTPUT, 7, 3, "an output could not be written")                                              \
    X(OUTPUT_REFUSED, 8, 1, "an output would damage an input or a bundle")                         \
    X(INTERRUPTED, 9, 130, "stopped on request")                                                   \
    X(PLANNED, 10, 2, "not available in this version")                                             \
    X(INTERNAL, 11, 70, "a defect of candle-graph")                                                \
    X(CLOSED, 12, 0, "the reader of the output went away")                                         \
    X(GATE, 13, 1, "a verdict that was asked to be strict is negative")                            \
    X(DURABILITY, 14, 4, "published, but durability or the receipt failed")

/* A result: CG_OK, or one of the other CG_ codes of CG_CODES. */
typedef uint32_t cg_code;
enum {
#define CG_ROW_(name, number, status, text) CG_##name = number,
    CG_CODES(CG_ROW_)
#undef CG_ROW_
};

/* Text: pointer and length, not owned, may hold NUL bytes; ptr == NULL means absent. */
typedef struct cg_str {
    const char *ptr;
    size_t len; /* bytes; UTF-8 unless it is said to be anything */
} cg_str;

/*
 * What went wrong. Zero it before the first call it is given to: it is filled
 * only on failure, and while `code` is not CG_OK the first cause stays. Later
 * frames add the place they know. `text` is printable and safe for a terminal.
 * Plain value of the caller, nothing in it is to be freed.
 */
typedef struct cg_err {
    cg_code code;        /* what the call returned */
    const char *problem; /* stable id such as "trace-second-meta"; static */
    const char *help;    /* what to do, a sentence; static, may be NULL */
    uint64_t line;       /* 1-based, 0 = unknown */
    uint64_t offset;     /* bytes from the start of the input, meaningful with line or problem */
    bool has_offset;
    char file[256]; /* as given by the user, escaped and perhaps shortened; "" = none */
    char text[480]; /* what was found and what was expected */
} cg_err;

/*
 * The allocator. resize(context, NULL, 0, n) obtains, resize(context, p, n, 0)
 * releases, anything else moves. NULL on failure, p then stays valid.
 * Must be callable from the thread that makes the call it serves.
 */
typedef struct cg_allocator {
    void *context;
    void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
} cg_allocator;

/*
 * CG_LIMITS, the ceilings on what is read: name, option word, default, why. What exceeds one is
 * refused with CG_LIMIT. Raising one is the caller's choice; zero never means "no ceiling".
 */
#define CG_LIMITS(X)                                                                               \
    X(JSON_DEPTH, "json-depth", 127u, "the wire rules read 127 nested containers, refuse 128")     \
    X(LINE_BYTES, "line-bytes", 64u << 20, "the longest record; larger is a mistake or an attack") \
    X(DOCUMENT_BYTES, "document-bytes", UINT64_C(4) << 30, "a trace larger than this is split")    \
    X(EVENTS, "events", UINT64_C(100000000), "records of one trace")                               \
    X(SPANS, "spans", UINT64_C(10000000), "spans of one trace")                                    \
    X(TAGS, "tags", UINT64_C(10000), "entries of the tag map")                                     \
    X(TENSOR_RANK, "tensor-rank", 64u, "axes of one shape")                                        \
    X(MEMORY_BYTES, "memory-bytes", UINT64_C(8) << 30, "memory held by one document")              \
    X(JSON_DOCUMENT_BYTES, "json-document-bytes", UINT64_C(1) << 30,                               \
      "a JSON document that is read whole")                                                        \
    X(CSV_CELL_BYTES, "csv-cell-bytes", UINT64_C(1) << 20, "one cell of an exported table")        \
    X(CSV_ROW_CELLS, "csv-row-cells", 4096u, "cells of one row of an exported table")              \
    X(CSV_ROWS, "csv-rows", UINT64_C(10000000), "rows of one exported table")                      \
    X(BUNDLE_FILES, "bundle-files", UINT64_C(100000), "files of one bundle")                       \
    X(BUNDLE_DEPTH, "bundle-depth", 16u, "folders inside each other in a bundle")                  \
    X(BUNDLE_PATH_BYTES, "bundle-path-bytes", 1024u, "a file name inside a bundle, as declared")   \
    X(MANIFEST_BYTES, "manifest-bytes", 16u << 20, "bundle.json; larger is a mistake or an attack")

enum {
#define CG_ROW_(name, word, value, why) CG_LIMIT_##name,
    CG_LIMITS(CG_ROW_)
#undef CG_ROW_
        CG_LIMIT_COUNT
};

/* All ceilings; begin with cg_limits_default, which fills every value. */
typedef struct cg_limits {
    uint32_t size; /* sizeof(cg_limits) of the caller */
    uint64_t
        value[CG_LIMIT_COUNT]; /* by CG_LIMIT_NAME; bytes, counts or levels, as its name says */
} cg_limits;

struct os_calls;

/*
 * What a call may use. A zeroed cg_env with `size` set is complete: malloc,
 * the kernel, default ceilings, no progress report. Borrowed, with all it
 * points to, while the call runs, and as long as what it opened where that
 * says so.
 */
typedef struct cg_env {
    uint32_t size;                 /* sizeof(cg_env) of the caller */
    const cg_allocator *allocator; /* NULL: the C library's */
    const struct os_calls *os;     /* NULL: the kernel; anything else is for tests */
    const cg_limits *limits;       /* NULL: the defaults */
    /* Called a few times a second at most during long work, in the thread of the call; `total` is 0
       when unknown. False stops the call with CG_INTERRUPTED. NULL: nobody is told. */
    bool (*progress)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *progress_context; /* handed to it */
} cg_env;

/*
 * Where output goes: `write` is called with pieces in order, in the thread of the call, and returns
 * CG_OK, CG_OUTPUT, or CG_CLOSED when nobody reads any more. Anything but CG_OK ends the call. With
 * this one `cg_sink sink = {stdout, write_to};` prints; a file that must be whole: cg_output_open.
 *
 *   static cg_code write_to(void *file, const char *bytes, size_t count)
 *   {
 *       return fwrite(bytes, 1, count, (FILE *)file) == count ? CG_OK : CG_OUTPUT;
 *   }
 */
typedef struct cg_sink {
    void *context; /* handed to write */
    cg_code (*write)(void *context, const char *bytes, size_t count);
} cg_sink;

#ifdef __cplusplus
}
#endif

#endif
