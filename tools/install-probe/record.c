/* Records one update with two spans to argv[1]. */
#ifdef PROBE_EMBEDDED
#include "candlegraph_record.h"
#else
#include <candlegraph/record.h>
#endif
#include <stdio.h>

int main(int argc, char **argv)
{
    cg_err err = {0};
    cg_record_run run = {.size = sizeof run};
    cg_record *session = NULL;

    if (argc != 2) {
        return 2;
    }
    cg_record_run_training(&run, "probe::train", 1, "cpu");
    if (cg_record_open(argv[1], &run, NULL, &session, &err) != CG_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }

    cg_record_span region =
        cg_record_measure_begin(session, cg_record_intern(session, "probe/update"));
    cg_record_span call =
        cg_record_span_begin(session, cg_record_intern(session, "probe/matmul"), CG_RECORD_OP);

    cg_record_span_end(session, call);
    cg_record_span_end(session, region);
    if (cg_record_finish(session, NULL, &err) != CG_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    return 0;
}
