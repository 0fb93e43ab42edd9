/*
 * sample - the model document of support/model.h for one test at a time, and a buffer.
 *
 * Included once by a test program; its tests are set up with sample_begin and sample_end, which
 * fails when something of the memory was not given back.
 */
#ifndef CG_TESTS_SUPPORT_SAMPLE_H
#define CG_TESTS_SUPPORT_SAMPLE_H

#include "support/model.h"

static heap memory;
static model_document sample;
static buf sample_out;

static int sample_begin(void **state)
{
    (void)state;
    heap_init(&memory, NULL);
    model_sample_document(&memory, &sample);
    buf_init(&sample_out, &memory, SIZE_MAX);
    return 0;
}

static int sample_end(void **state)
{
    (void)state;
    model_free(&sample);
    buf_free(&sample_out);
    return memory.used_bytes == 0 ? 0 : -1;
}

#endif
