#include "schema/nsight_schema.h"

#define C(column, rule, names) [NSIGHT_##column] = {{names, sizeof(names) - 1}, RULE_##rule},
#define RULE_REQUIRED          true
#define RULE_OPTIONAL          false
static const nsight_column_row summary_columns[NSIGHT_COLUMN_COUNT] = {NSIGHT_SUMMARY_COLUMNS(C)};
static const nsight_column_row timeline_columns[NSIGHT_COLUMN_COUNT] = {NSIGHT_TIMELINE_COLUMNS(C)};
static const nsight_column_row projected_columns[NSIGHT_COLUMN_COUNT] = {
    NSIGHT_PROJECTED_COLUMNS(C)};
#undef C

const nsight_column_row *nsight_columns(unsigned report)
{
    if (report == GPU_REPORT_NVTX)
        return projected_columns;
    return report == GPU_REPORT_TIMELINE ? timeline_columns : summary_columns;
}
