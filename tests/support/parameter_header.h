/*
 * parameter_header - a safetensors header from a few lines of text, for tests.
 *
 *   wte.weight F32 24 8
 *   scale F32
 */
#ifndef CG_TESTS_SUPPORT_PARAMETER_HEADER_H
#define CG_TESTS_SUPPORT_PARAMETER_HEADER_H

#include "codec/safetensors.h"

/* A line that cannot be read, or a header that is refused, ends the program. */
void parameter_header_read(heap *from, cg_str text, tensor_header *ret);

#endif
