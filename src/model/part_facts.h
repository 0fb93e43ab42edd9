/*
 * part_facts - what model/rescan asks of a scan of a part of a crate, beside its document.
 *
 *   CG_TRY(part_facts_of(scan, mem, &facts, reterr));      texts are the scan's or in `mem`
 *   part_facts_pack(&facts, &out);  ... part_facts_take(&in, &facts) ...
 *
 * The scan of the part as it was is the same after every edit that concerns the same part: with its
 * facts and its document kept it need not be made again.
 */
#ifndef CG_MODEL_PART_FACTS_H
#define CG_MODEL_PART_FACTS_H

#include "model/runs.h"

typedef struct part_component {
    cg_str qualified;
    cg_str type; /* name of its struct or enum; absent: it is a function */
    cg_str file; /* of the type, absolute */
    const cg_str *roots;
    size_t root_count;
    bool is_skipped; /* was not evaluated */
    bool is_nested;
} part_component;

/* A struct or enum. */
typedef struct part_type {
    cg_str name;
    cg_str file; /* absolute */
} part_type;

/* A function that has to do with making builders, as far as the scan knows. */
typedef struct part_maker {
    cg_str id;
    bool is_itself; /* model/functions says so */
    bool is_driver; /* model/drivers does */
    bool is_listed; /* in the document, with parameters of these types */
    const cg_str *types;
    size_t type_count;
} part_maker;

typedef struct part_facts {
    bool is_near;    /* a budget was used up or nearly so, or who makes builders is a component */
    bool is_program; /* of model/inference */
    bool is_loading;
    bool is_training;
    bool has_cut; /* a finding about a cut gradient */
    const program_input *inputs;
    size_t input_count;
    const part_component *components;
    size_t component_count;
    const part_type *types;
    size_t type_count;
    const part_maker *makers;
    size_t maker_count;
    const runs_site *sites; /* of the document's assembly sites */
    size_t site_count;
} part_facts;

cg_code part_facts_of(scan *from, arena *mem, part_facts *ret, cg_err *reterr) CG_MUST;
void part_facts_pack(const part_facts *self, pack_writer *out);
/* Into the reader's memory; false: it is no such thing, or in->is_short. */
bool part_facts_take(pack_reader *in, part_facts *ret) CG_MUST;

#endif
