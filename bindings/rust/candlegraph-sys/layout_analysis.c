/*
 * layout_analysis - the sizes that src/analysis.rs asserts, as the C compiler has them.
 */
#include "candlegraph/candlegraph.h"

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(cg_env) == 48, "cg_env");
_Static_assert(sizeof(cg_format) == 24, "cg_format");
_Static_assert(sizeof(cg_query) == 64, "cg_query");
_Static_assert(sizeof(cg_publish_request) == 40, "cg_publish_request");
_Static_assert(sizeof(cg_publication_facts) == 72, "cg_publication_facts");
_Static_assert(sizeof(cg_capture_plan) == 48, "cg_capture_plan");
_Static_assert(sizeof(cg_compare_request) == 64, "cg_compare_request");
_Static_assert(sizeof(cg_series_request) == 56, "cg_series_request");
#endif

typedef int candlegraph_sys_analysis_sizes_agree;
