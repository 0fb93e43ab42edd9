/*
 * Write runtime traces of every form, version and kind of record, for readers of others.
 *
 * usage: runtime-samples FOLDER COUNT
 *
 * Prints a line for each file: its name, and how many tensors, operations, gradients, values and
 * edge timings it has.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candlegraph/runtime.h"

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

static const char *text(void)
{
    static const char *const texts[] = {"layers.0.weight",
                                        "",
                                        "\xc3\xa9t\xc3\xa9 \xe2\x88\x91",
                                        "tab\tquote\"slash\\",
                                        "line\nfeed",
                                        "\x01\x1f\x7f",
                                        "\xf0\x9f\x95\xaf",
                                        "src/model.rs:12"};

    return texts[draw(sizeof texts / sizeof *texts)];
}

static const char *maybe(void)
{
    return draw(2) == 0 ? NULL : text();
}

static double number(void)
{
    static const double numbers[] = {
        0.0, -0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, 1e16, 1e-5, 123456, 3.4028234663852886e38};

    return numbers[draw(sizeof numbers / sizeof *numbers)];
}

static void must(cg_code code, const cg_err *err)
{
    if (code != CG_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static void write_gradient(cg_runtime *out, const char *event_id, cg_err *err)
{
    cg_runtime_gradient record = {.size = sizeof record,
                                  .event_id = event_id,
                                  .root = "vb",
                                  .key = text(),
                                  .state = (uint32_t)draw(4),
                                  .has_step = draw(2) == 0,
                                  .step = draw(5)};

    if (record.state != CG_RUNTIME_MISSING && draw(2) == 0) {
        record.has_norm = true;
        record.norm = record.state == CG_RUNTIME_PRESENT ? 0.25
                      : record.state == CG_RUNTIME_ZERO  ? 0
                                                         : NAN;
    }
    must(cg_runtime_write_gradient(out, &record, err), err);
}

static void write_records(cg_runtime *out, uint64_t count, uint64_t counts[5], cg_err *err)
{
    static const uint64_t shape[] = {2, 0, UINT64_C(18446744073709551615), 7};
    const char *inputs[] = {"tensor:1", "tensor:2"};

    for (uint64_t i = 0; i < count; i++) {
        uint64_t kind = draw(5);
        char id[32];

        snprintf(id, sizeof id, "e%u", (unsigned)i);
        counts[kind]++;
        if (kind == 0) {
            cg_runtime_tensor record = {.size = sizeof record,
                                        .rank = (uint32_t)draw(4),
                                        .shape = shape,
                                        .event_id = id,
                                        .static_id = maybe(),
                                        .source = maybe(),
                                        .dtype = "F32",
                                        .device = text(),
                                        .storage_id = maybe(),
                                        .is_contiguous = draw(2) == 0,
                                        .is_grad_required = draw(2) == 0,
                                        .has_step = draw(2) == 0,
                                        .step = draw(9)};

            must(cg_runtime_write_tensor(out, &record, err), err);
        } else if (kind == 1) {
            cg_runtime_operation record = {.size = sizeof record,
                                           .event_id = id,
                                           .op = text(),
                                           .static_id = maybe(),
                                           .source = maybe(),
                                           .inputs = inputs,
                                           .input_count = draw(3),
                                           .output = maybe(),
                                           .has_step = draw(2) == 0,
                                           .has_duration = draw(2) == 0,
                                           .duration_ns = draw(2) == 0 ? UINT64_MAX : draw(1000)};

            must(cg_runtime_write_operation(out, &record, err), err);
        } else if (kind == 2) {
            write_gradient(out, id, err);
        } else if (kind == 3) {
            cg_runtime_value record = {.size = sizeof record,
                                       .event_id = id,
                                       .static_id = maybe(),
                                       .source = maybe(),
                                       .has_step = draw(2) == 0,
                                       .step = UINT64_MAX,
                                       .min = number(),
                                       .max = number(),
                                       .abs_max = number(),
                                       .nonfinite_count = draw(3),
                                       .saturated_count = draw(3)};

            must(cg_runtime_write_value(out, &record, err), err);
        } else {
            cg_runtime_edge record = {.size = sizeof record,
                                      .event_id = id,
                                      .from_static_id = text(),
                                      .to_static_id = text(),
                                      .duration_ns = draw(1000),
                                      .has_step = draw(2) == 0,
                                      .step = draw(4)};

            must(cg_runtime_write_edge(out, &record, err), err);
        }
    }
}

/* Timed operations, one inside the other, and the edges that are timed with them. */
static void write_timed(cg_runtime *out, uint64_t counts[5], cg_err *err)
{
    const char *inputs[] = {"tensor:a"};
    cg_runtime_timed outer;
    cg_runtime_timed inner;

    for (uint64_t step = 0; step < 2; step++) {
        cg_runtime_set_step(out, step);
        must(cg_runtime_begin(out, "operation:a", "forward", inputs, 1, &outer, err), err);
        must(cg_runtime_begin(out, "operation:b", "matmul", NULL, 0, &inner, err), err);
        must(cg_runtime_time_edge(out, "operation:a", "operation:b", 17, err), err);
        must(cg_runtime_end(out, &inner, NULL, NULL, err), err);
        must(cg_runtime_end(out, &outer, "tensor:b", NULL, err), err);
        counts[1] += 2;
        counts[4]++;
    }
}

int main(int argc, char **argv)
{
    static const char *const schemas[] = {NULL, CG_RUNTIME_SCHEMA_1, CG_RUNTIME_SCHEMA_2,
                                          CG_RUNTIME_SCHEMA_3};
    static const char *const features[] = {"cuda", "extra"};

    if (argc != 3) {
        return 2;
    }
    for (int i = 0; i < atoi(argv[2]); i++) {
        uint64_t counts[5] = {0};
        cg_err err = {0};
        cg_runtime *out = NULL;
        cg_runtime_run run;
        char path[4096];
        bool is_profile = i % 4 == 3;
        uint32_t form = draw(2) == 0 ? CG_RUNTIME_LINES : CG_RUNTIME_DOCUMENT;

        seed = (uint64_t)i * 7919 + 1;
        cg_runtime_run_profile(&run, (uint32_t)i / 4 % 2, "Net::forward");
        if (!is_profile) {
            run.schema = schemas[i % 3];
            run.entrypoint = text();
            run.phase = maybe();
            run.cargo_features = features;
            run.cargo_feature_count = draw(3);
            run.cfg = features;
            run.cfg_count = draw(3);
        }
        snprintf(path, sizeof path, "%s/sample-%03d.%s", argv[1], i,
                 form == CG_RUNTIME_LINES ? "jsonl" : "json");
        must(cg_runtime_open(path, form, &run, &out, &err), &err);
        if (is_profile) {
            write_timed(out, counts, &err);
        } else {
            write_records(out, 1 + draw(30), counts, &err);
        }
        must(cg_runtime_finish(out, NULL, &err), &err);
        printf("%s", strrchr(path, '/') + 1);
        for (int kind = 0; kind < 5; kind++) {
            printf(" %llu", (unsigned long long)counts[kind]);
        }
        printf("\n");
    }
    return 0;
}
