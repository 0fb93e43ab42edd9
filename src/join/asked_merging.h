/*
 * asked_merging - parameters of a document beside what a file has for them.
 */
#ifndef CG_JOIN_ASKED_MERGING_H
#define CG_JOIN_ASKED_MERGING_H

#include "join/asked.h"
#include "join/key_pattern.h"
#include "model/document.h"
#include "model/index.h"
#include "schema/checkpoint_schema.h"

/* A parameter of the document that was compared. */
typedef struct asked_joined {
    model_parameter *record;
    key_pattern pattern;
    cg_str printed;
    cg_str family; /* what all keys of the record are called as, for people */
    size_t lead;   /* the first one with this record */
    const wanted_parameter *wanted;
    bool is_family;
    bool is_certain;
    uint64_t matched;
    const tensor_row *first;
    cg_str *missing; /* keys of it that the file lacks */
    size_t missing_count;
    size_t missing_room;
} asked_joined;

typedef struct asked_merging {
    const asked_model *model;
    heap *heap;
    const tensor_header *header;
    const doc_checkpoint *report;
    model_document *document;
    asked_joined *all;
    size_t count;
    size_t *by_record; /* by parameter of the document: one more than the first in `all` */
    text_index by_key; /* into `all` */
    key_name *names;   /* of the tensors, in order */
    model_finding *findings;
    size_t finding_count;
} asked_merging;

#endif
