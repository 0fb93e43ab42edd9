/*
 * train - a small neural network in plain C that records one of its updates.
 *
 *   train [--step N] [--out FILE] [--updates N] [--slow MS] [--build NAME] [--die] [--off]
 *
 * Two threads share every batch: forward and backward on half of it each, then one step of Adam.
 * The data are points in three rings, made here; training ends when the network tells them apart,
 * or fails. Update N (default 10) is captured with every kind of record there is.
 *   --slow MS   sleep MS milliseconds in each layer of the captured update
 *   --build NAME  which build of the program this is: makes the runs of two builds comparable
 *   --die       kill the process by SIGKILL in the middle of the captured update
 *   --off       do not record: the same calls, on a NULL session
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "candlegraph/record.h"

#define LAYERS     3
#define BATCH      128
#define HALF       (BATCH / 2)
#define CLASSES    3
#define WIDEST     32
#define PARAMETERS (2 * LAYERS)

static const int sizes[LAYERS + 1] = {2, WIDEST, WIDEST, CLASSES};

typedef struct parameter {
    const char *key;
    int rows, columns;
    float *value, *gradient, *mean, *square;
    cg_record_id id;
} parameter;

static parameter parameters[PARAMETERS] = {
    {"layer1.weight", 2, WIDEST, NULL, NULL, NULL, NULL, 0},
    {"layer1.bias", 1, WIDEST, NULL, NULL, NULL, NULL, 0},
    {"layer2.weight", WIDEST, WIDEST, NULL, NULL, NULL, NULL, 0},
    {"layer2.bias", 1, WIDEST, NULL, NULL, NULL, NULL, 0},
    {"layer3.weight", WIDEST, CLASSES, NULL, NULL, NULL, NULL, 0},
    {"layer3.bias", 1, CLASSES, NULL, NULL, NULL, NULL, 0},
};

/* What one thread works with; buffers are made anew for every update. */
typedef struct half {
    int index;
    float *inputs; /* HALF x 2 */
    const int *labels;
    float *outputs[LAYERS]; /* after the layer's activation */
    float *gradients[PARAMETERS];
    double loss;
    int correct;
    cg_record *session;
    cg_record_span parent;
    bool is_dying;
} half;

static struct {
    long step, updates, slow_ms;
    const char *out;
    const char *build;
    bool is_dying, is_off;
} options = {10, 2000, 0, "train.jsonl", NULL, false, false};

/* --- small things --- */

static uint64_t random_state = 88172645463325252u;

static double random_unit(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static void *must_make(size_t bytes)
{
    void *block = calloc(1, bytes);

    if (block == NULL) {
        fprintf(stderr, "train: no memory\n");
        exit(2);
    }
    return block;
}

static size_t elements_of(const parameter *p)
{
    return (size_t)p->rows * (size_t)p->columns;
}

static void make_batch(float *inputs, int *labels, int count)
{
    for (int i = 0; i < count; i++) {
        int label = (int)(random_unit() * CLASSES);
        double radius = label + 0.25 + 0.5 * random_unit();
        double angle = 6.283185307179586 * random_unit();

        inputs[2 * i] = (float)(radius * cos(angle));
        inputs[2 * i + 1] = (float)(radius * sin(angle));
        labels[i] = label;
    }
}

static void pause_if_slow(const half *self)
{
    if (options.slow_ms > 0 && self->session != NULL) {
        struct timespec time = {options.slow_ms / 1000, options.slow_ms % 1000 * 1000000};

        nanosleep(&time, NULL);
    }
}

/* --- recording --- */

static cg_record_layout matrix_layout(cg_record *session, int rows, int columns)
{
    const uint64_t shape[2] = {(uint64_t)rows, (uint64_t)columns};

    return cg_record_intern_layout(session, "f32", "cpu", shape, 2);
}

static cg_record_id id_of(const void *buffer)
{
    return (cg_record_id)(uintptr_t)buffer;
}

/* A matrix that came to be: an allocation, or its end. */
static void note_memory(cg_record *session, cg_record_span span, const float *buffer, int rows,
                        int columns, uint32_t category, bool is_free)
{
    cg_record_memory_args memory = {.size = sizeof memory,
                                    .category = category,
                                    .storage = id_of(buffer),
                                    .tensor = id_of(buffer),
                                    .bytes = (uint64_t)rows * (uint64_t)columns * sizeof *buffer,
                                    .layout = matrix_layout(session, rows, columns)};

    if (is_free) {
        cg_record_memory_free(session, span, &memory);
    } else {
        cg_record_memory_alloc(session, span, &memory);
    }
}

static void note_stats(cg_record *session, cg_record_span span, const char *label,
                       const float *values, int rows, int columns)
{
    const uint64_t shape[2] = {(uint64_t)rows, (uint64_t)columns};
    cg_record_view view = {
        .size = sizeof view, .type = CG_RECORD_F32, .data = values, .rank = 2, .shape = shape};

    if (session != NULL) {
        cg_record_tensor_stats(session, span, cg_record_intern(session, label), &view);
    }
}

/* --- the network --- */

/* outputs = inputs x weight + bias, then the rectifier but in the last layer. */
static void layer_forward(half *self, int layer, const float *inputs, cg_record_span span)
{
    const parameter *weight = &parameters[2 * layer];
    const parameter *bias = &parameters[2 * layer + 1];
    float *outputs = self->outputs[layer];
    cg_record_time start = cg_record_now(self->session);

    for (int row = 0; row < HALF; row++) {
        for (int column = 0; column < weight->columns; column++) {
            float sum = bias->value[column];

            for (int i = 0; i < weight->rows; i++) {
                sum += inputs[row * weight->rows + i] * weight->value[i * weight->columns + column];
            }
            outputs[row * weight->columns + column] = layer < LAYERS - 1 && sum < 0 ? 0 : sum;
        }
    }
    if (self->session != NULL) {
        const cg_record_id used[3] = {id_of(inputs), weight->id, bias->id};
        cg_record_op_args op = {
            .size = sizeof op,
            .name = cg_record_intern(self->session, layer < LAYERS - 1 ? "linear_relu" : "linear"),
            .layout = matrix_layout(self->session, HALF, weight->columns),
            .input_count = 3,
            .inputs = used,
            .output = id_of(outputs),
            .start = start,
            .input_dense_bytes = sizeof(float) * ((uint64_t)(HALF * weight->rows) +
                                                  elements_of(weight) + elements_of(bias))};
        cg_record_tensor_args tensor = {.size = sizeof tensor,
                                        .id = id_of(outputs),
                                        .layout = op.layout,
                                        .category = CG_RECORD_ACTIVATION};

        cg_record_op(self->session, span, &op);
        cg_record_tensor(self->session, span, &tensor);
        cg_record_data_edge(self->session, id_of(inputs), id_of(outputs));
    }
    pause_if_slow(self);
}

static void forward(half *self, cg_record_span parent)
{
    static const char *const names[2][LAYERS] = {{"half0/layer1", "half0/layer2", "half0/layer3"},
                                                 {"half1/layer1", "half1/layer2", "half1/layer3"}};
    const float *inputs = self->inputs;

    for (int layer = 0; layer < LAYERS; layer++) {
        const char *name = names[self->index][layer];
        cg_record_span span = cg_record_span_begin(
            self->session, cg_record_intern(self->session, name), CG_RECORD_MODULE);

        layer_forward(self, layer, inputs, span);
        if (self->is_dying && layer == 1) {
            raise(SIGKILL);
        }
        cg_record_call_edge(self->session, parent, span);
        cg_record_span_end(self->session, span);
        note_stats(self->session, parent, name, self->outputs[layer], HALF, sizes[layer + 1]);
        inputs = self->outputs[layer];
    }
}

/* Softmax and cross entropy: the loss, and its gradient in place of the last outputs. */
static void loss_gradient(half *self)
{
    float *outputs = self->outputs[LAYERS - 1];

    self->loss = 0;
    self->correct = 0;
    for (int row = 0; row < HALF; row++) {
        float *line = outputs + row * CLASSES;
        float largest = fmaxf(line[0], fmaxf(line[1], line[2]));
        float sum = 0;
        int best = 0;

        for (int i = 0; i < CLASSES; i++) {
            best = line[i] > line[best] ? i : best;
        }
        for (int i = 0; i < CLASSES; i++) {
            line[i] = expf(line[i] - largest);
            sum += line[i];
        }
        self->correct += best == self->labels[row];
        self->loss -= (double)logf(line[self->labels[row]] / sum) / BATCH;
        for (int i = 0; i < CLASSES; i++) {
            line[i] = (line[i] / sum - (i == self->labels[row] ? 1 : 0)) / BATCH;
        }
    }
}

/* `above`: gradient of the layer's outputs; turned into that of its inputs in `below`. */
static void layer_backward(half *self, int layer, const float *above, float *below)
{
    const parameter *weight = &parameters[2 * layer];
    const float *inputs = layer == 0 ? self->inputs : self->outputs[layer - 1];
    float *weight_gradient = self->gradients[2 * layer];
    float *bias_gradient = self->gradients[2 * layer + 1];

    for (int row = 0; row < HALF; row++) {
        for (int column = 0; column < weight->columns; column++) {
            float slope = above[row * weight->columns + column];

            bias_gradient[column] += slope;
            for (int i = 0; i < weight->rows; i++) {
                weight_gradient[i * weight->columns + column] +=
                    slope * inputs[row * weight->rows + i];
            }
        }
        for (int i = 0; i < weight->rows && below != NULL; i++) {
            float sum = 0;

            for (int column = 0; column < weight->columns; column++) {
                sum += above[row * weight->columns + column] *
                       weight->value[i * weight->columns + column];
            }
            below[row * weight->rows + i] = inputs[row * weight->rows + i] > 0 ? sum : 0;
        }
    }
}

static void backward(half *self, cg_record_span parent)
{
    float *above = self->outputs[LAYERS - 1];
    float *buffers[2] = {must_make(sizeof(float) * HALF * WIDEST),
                         must_make(sizeof(float) * HALF * WIDEST)};

    for (int i = 0; i < 2; i++) {
        note_memory(self->session, parent, buffers[i], HALF, WIDEST, CG_RECORD_GRADIENT, false);
    }
    for (int layer = LAYERS; layer-- > 0;) {
        cg_record_time start = cg_record_now(self->session);
        float *below = layer == 0 ? NULL : buffers[layer & 1];

        layer_backward(self, layer, above, below);
        if (self->session != NULL) {
            const cg_record_id used[2] = {id_of(above), parameters[2 * layer].id};
            cg_record_op_args op = {.size = sizeof op,
                                    .name = cg_record_intern(self->session, "linear_backward"),
                                    .layout = matrix_layout(self->session, HALF, sizes[layer]),
                                    .input_count = 2,
                                    .inputs = used,
                                    .output = below != NULL ? id_of(below) : 0,
                                    .start = start};

            cg_record_op(self->session, parent, &op);
        }
        above = below;
        pause_if_slow(self);
    }
    for (int i = 0; i < 2; i++) {
        note_memory(self->session, parent, buffers[i], HALF, WIDEST, CG_RECORD_GRADIENT, true);
        free(buffers[i]);
    }
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One half of the batch, on a thread of its own: its spans stand under the update. */
static void *work(void *argument)
{
    half *self = argument;
    cg_record *session = self->session;
    uint64_t begun = monotonic_ns();
    static const char *const names[2][2] = {{"half0/forward", "half0/backward"},
                                            {"half1/forward", "half1/backward"}};

    cg_record_span span = cg_record_span_begin_under(
        session, self->parent, cg_record_intern(session, names[self->index][0]), CG_RECORD_FUNCTION,
        CG_RECORD_FORWARD);
    for (int layer = 0; layer < LAYERS; layer++) {
        self->outputs[layer] = must_make(sizeof(float) * HALF * WIDEST);
        note_memory(session, span, self->outputs[layer], HALF, sizes[layer + 1],
                    CG_RECORD_ACTIVATION, false);
    }
    forward(self, span);
    loss_gradient(self);
    cg_record_span_end(session, span);

    span = cg_record_span_begin_under(session, self->parent,
                                      cg_record_intern(session, names[self->index][1]),
                                      CG_RECORD_FUNCTION, CG_RECORD_BACKWARD);
    backward(self, span);
    for (int layer = 0; layer < LAYERS; layer++) {
        note_memory(session, span, self->outputs[layer], HALF, sizes[layer + 1],
                    CG_RECORD_ACTIVATION, true);
        free(self->outputs[layer]);
    }
    if (session != NULL) {
        /* This thread as a device: its time on a clock that is not the trace's. */
        cg_record_device_interval_args interval = {
            .size = sizeof interval,
            .device = cg_record_intern(session, "cpu"),
            .stream = cg_record_intern(session, self->index == 0 ? "thread-0" : "thread-1"),
            .clock = cg_record_intern(session, "monotonic"),
            .backend = cg_record_intern(session, "pthread"),
            .start_ns = begun,
            .duration_ns = monotonic_ns() - begun + 1};

        cg_record_device_interval(session, span, &interval);
    }
    cg_record_span_end(session, span);
    return NULL;
}

static void adam(long step)
{
    double correction = sqrt(1 - pow(0.999, (double)step)) / (1 - pow(0.9, (double)step));

    for (int i = 0; i < PARAMETERS; i++) {
        parameter *p = &parameters[i];

        for (size_t j = 0; j < elements_of(p); j++) {
            p->mean[j] += 0.1f * (p->gradient[j] - p->mean[j]);
            p->square[j] += 0.001f * (p->gradient[j] * p->gradient[j] - p->square[j]);
            p->value[j] -= (float)(0.01 * correction) * p->mean[j] / (sqrtf(p->square[j]) + 1e-8f);
        }
    }
}

/* The bytes this process has in memory, as the kernel counts them; 0 when it does not tell. */
static uint64_t resident_bytes(void)
{
    char text[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    uint64_t pages = 0;

    if (file != NULL) {
        if (fgets(text, sizeof text, file) != NULL && strchr(text, ' ') != NULL) {
            pages = strtoull(strchr(text, ' '), NULL, 10);
        }
        fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void note_update(cg_record *session, cg_record_span region, double loss)
{
    cg_record_name root = cg_record_intern(session, "vars");

    if (session == NULL) {
        return;
    }
    cg_record_scalar(session, region, cg_record_intern(session, "loss"), loss);
    for (int i = 0; i < PARAMETERS; i++) {
        const parameter *p = &parameters[i];
        const uint64_t shape[2] = {(uint64_t)p->rows, (uint64_t)p->columns};
        cg_record_view view = {.size = sizeof view,
                               .type = CG_RECORD_F32,
                               .data = p->gradient,
                               .rank = 2,
                               .shape = shape};
        cg_record_tensor_args tensor = {.size = sizeof tensor,
                                        .label = cg_record_intern(session, p->key),
                                        .id = p->id,
                                        .layout = matrix_layout(session, p->rows, p->columns),
                                        .category = CG_RECORD_PARAMETER,
                                        .is_grad_required = true};

        cg_record_tensor(session, region, &tensor);
        cg_record_gradient_view(session, root, cg_record_intern(session, p->key), &view);
        note_stats(session, region, p->key, p->value, p->rows, p->columns);
    }
    cg_record_gradient_view(session, root, cg_record_intern(session, "rings.radius"), NULL);
    uint64_t used = resident_bytes();
    if (used > 0) {
        cg_record_device_memory_args sample = {.size = sizeof sample,
                                               .device = cg_record_intern(session, "cpu"),
                                               .has_used = true,
                                               .used_bytes = used};

        cg_record_device_memory(session, &sample);
    }
}

/* One update over both halves; returns how many of the batch were told right. */
static int update(long step, float *inputs, int *labels, cg_record *session)
{
    half halves[2];
    pthread_t thread;
    double loss = 0;
    int correct = 0;
    cg_record_time made = cg_record_now(session);

    make_batch(inputs, labels, BATCH);
    cg_record_span none = {0, 0, 0};
    cg_record_span_completed(session, none, cg_record_intern(session, "make_batch"),
                             CG_RECORD_FUNCTION, made, cg_record_now(session));
    cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "update"));
    for (int i = 0; i < 2; i++) {
        memset(&halves[i], 0, sizeof halves[i]);
        halves[i].index = i;
        halves[i].inputs = inputs + i * HALF * 2;
        halves[i].labels = labels + i * HALF;
        halves[i].session = session;
        halves[i].parent = region;
        halves[i].is_dying = options.is_dying && session != NULL && i == 0;
        for (int j = 0; j < PARAMETERS; j++) {
            halves[i].gradients[j] = must_make(sizeof(float) * elements_of(&parameters[j]));
        }
    }
    bool is_alone = pthread_create(&thread, NULL, work, &halves[1]) != 0;
    work(&halves[0]);
    if (is_alone) {
        work(&halves[1]);
    } else {
        pthread_join(thread, NULL);
    }
    cg_record_span optimizer = cg_record_step_begin(session, cg_record_intern(session, "adam"),
                                                    CG_RECORD_OPTIMIZER, CG_RECORD_FUNCTION);
    for (int j = 0; j < PARAMETERS; j++) {
        for (size_t k = 0; k < elements_of(&parameters[j]); k++) {
            parameters[j].gradient[k] = halves[0].gradients[j][k] + halves[1].gradients[j][k];
        }
        free(halves[0].gradients[j]);
        free(halves[1].gradients[j]);
    }
    adam(step);
    cg_record_span_end(session, optimizer);
    loss = halves[0].loss + halves[1].loss;
    correct = halves[0].correct + halves[1].correct;
    note_update(session, region, loss);
    cg_record_span_end(session, region);
    return correct;
}

static void make_parameters(void)
{
    for (int i = 0; i < PARAMETERS; i++) {
        parameter *p = &parameters[i];
        double range = i % 2 == 0 ? sqrt(6.0 / p->rows) : 0;

        p->value = must_make(sizeof(float) * elements_of(p));
        p->gradient = must_make(sizeof(float) * elements_of(p));
        p->mean = must_make(sizeof(float) * elements_of(p));
        p->square = must_make(sizeof(float) * elements_of(p));
        p->id = id_of(p->value);
        for (size_t j = 0; j < elements_of(p); j++) {
            p->value[j] = (float)(range * (2 * random_unit() - 1));
        }
    }
}

static cg_record *open_session(long step)
{
    cg_record_gradient_entry entries[PARAMETERS + 1];
    const cg_record_family families[] = {{"network", CG_RECORD_ACTIVE, PARAMETERS},
                                         {"constants", CG_RECORD_INACTIVE, 0}};
    const cg_record_gradients manifest = {entries, PARAMETERS + 1, families, 2};
    const char *labels[] = {"update", "adam"};
    /* The update does what every update does; recording it costs both builds the same. */
    const uint32_t scope =
        options.build != NULL ? CG_RECORD_PRODUCTION_EQUIVALENT : CG_RECORD_PROFILED_WORK;
    const cg_record_contract contract = {.size = sizeof contract,
                                         .measurement_scope = scope,
                                         .operations = CG_RECORD_PARTIAL,
                                         .tensors = CG_RECORD_PARTIAL,
                                         .gradients = CG_RECORD_COMPLETE,
                                         .logical_memory = CG_RECORD_PARTIAL,
                                         .physical_memory = CG_RECORD_PARTIAL,
                                         .device_timing = CG_RECORD_PARTIAL,
                                         .gradient_manifest = &manifest,
                                         .required_labels = labels,
                                         .required_label_count = 2};
    const cg_record_identity identity = {.size = sizeof identity,
                                         .implementation_id = options.build,
                                         .workload_id = "rings",
                                         .model_id = "mlp-2-32-32-3",
                                         .config_id = "adam-0.01",
                                         .data_id = "rings-generated",
                                         .seed_policy = "fixed",
                                         .physical_batch = BATCH,
                                         .accumulation_steps = 1,
                                         .precision = "f32",
                                         .device_state = "shared"};
    const cg_record_tag tags[] = {{"example", "train"}};
    cg_record *session = NULL;
    cg_record_run run;
    cg_err err = {0};

    for (int i = 0; i < PARAMETERS; i++) {
        entries[i] = (cg_record_gradient_entry){"vars", parameters[i].key, "network"};
    }
    entries[PARAMETERS] = (cg_record_gradient_entry){"vars", "rings.radius", "constants"};
    cg_record_run_training(&run, "train::rings", (uint64_t)step, "cpu");
    run.contract = &contract;
    run.identity = &identity;
    run.tags = tags;
    run.tag_count = 1;
    if (cg_record_open(options.out, &run, NULL, &session, &err) != CG_OK) {
        fprintf(stderr, "train: not recording: %s\n", err.text);
    }
    return session;
}

static int train(void)
{
    float *inputs = must_make(sizeof(float) * 2 * BATCH);
    int *labels = must_make(sizeof(int) * BATCH);
    cg_record_selector selector;
    double accuracy = 0;
    int status = 0;
    long step = 0;

    cg_record_select(&selector, options.is_off ? 0 : (uint64_t)options.step);
    make_parameters();
    while (step < options.updates && (accuracy < 0.97 || step < options.step)) {
        cg_record *session = NULL;
        cg_err err = {0};

        step++;
        if (cg_record_selected(&selector, (uint64_t)step)) {
            session = open_session(step);
        }
        int correct = update(step, inputs, labels, session);
        accuracy += 0.05 * ((double)correct / BATCH - accuracy);
        if (session != NULL) {
            if (cg_record_finish(session, NULL, &err) == CG_OK) {
                printf("update %ld recorded: %s\n", step, options.out);
            } else {
                fprintf(stderr, "train: recording: %s\n", err.text);
                status = 1;
            }
        }
    }
    printf("%.1f %% of the points told right after %ld updates\n", 100 * accuracy, step);
    for (int i = 0; i < PARAMETERS; i++) {
        free(parameters[i].value);
        free(parameters[i].gradient);
        free(parameters[i].mean);
        free(parameters[i].square);
    }
    free(inputs);
    free(labels);
    return accuracy < 0.95 ? 1 : status;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--die") == 0) {
            options.is_dying = true;
        } else if (strcmp(argv[i], "--off") == 0) {
            options.is_off = true;
        } else if (strcmp(argv[i], "--out") == 0 && value[0] != '\0') {
            options.out = argv[++i];
        } else if (strcmp(argv[i], "--step") == 0) {
            options.step = strtol(argv[++i] != NULL ? value : "", NULL, 10);
        } else if (strcmp(argv[i], "--updates") == 0) {
            options.updates = strtol(argv[++i] != NULL ? value : "", NULL, 10);
        } else if (strcmp(argv[i], "--slow") == 0) {
            options.slow_ms = strtol(argv[++i] != NULL ? value : "", NULL, 10);
        } else if (strcmp(argv[i], "--build") == 0 && value[0] != '\0') {
            options.build = argv[++i];
        } else {
            fprintf(stderr, "usage: train [--step N] [--out FILE] [--updates N] [--slow MS] "
                            "[--build NAME] [--die] [--off]\n");
            return 2;
        }
    }
    if (options.step < 1 || options.updates < options.step) {
        fprintf(stderr, "train: --step counts from 1 and lies within --updates\n");
        return 2;
    }
    return train();
}
