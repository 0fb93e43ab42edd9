/*
 * scan - the fast path against the JSON reader, one record a run.
 *
 * What scan takes, the JSON reader takes too, and both make the same structure of it.
 */
#include "check.h"

#include "../tests/support/same_record.h"
#include "schema/reader.h"
#include "schema/scan.h"
#include "schema/trace_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str line = {(const char *)data, size};
    json_reader reader;
    heap from;
    arena mem;
    cg_str tag;
    size_t rest;

    if (!scan_tag(line, &table_span_end, &tag, &rest))
        return 0;
    CHECK(rest <= size);
    heap_init(&from, NULL);
    arena_init(&mem, &from);
    json_init(&reader, &from, 127);
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        rec_any scanned;
        rec_any parsed;
        yyjson_val *object = NULL;
        json_fault fault;

        if (!str_equal(trace_tables[i]->tag, tag) ||
            !scan_fields(trace_tables[i], line, rest, &mem, &scanned))
            continue;
        CHECK(json_read(&reader, line, &object, &fault) == CG_OK);
        CHECK(yyjson_equals_strn(yyjson_obj_get(object, "kind"), tag.ptr, tag.len));
        CHECK(sc_read(trace_tables[i], object, &mem, &parsed, NULL) == CG_OK);
        CHECK(same_record(trace_tables[i], &scanned, &parsed));
    }
    json_free(&reader);
    arena_free(&mem);
    CHECK(from.used_bytes == 0);
    return 0;
}
