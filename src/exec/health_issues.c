#include "exec/health_issues.h"

void health_add_issue(check *self, bool is_error, enum health_code code, uint32_t a, uint32_t b)
{
    health_report *report = self->report;
    health_issue *issue = vec_add(self->heap, &report->issues);

    if (issue == NULL) {
        self->has_room = false;
        return;
    }
    *issue = (health_issue){.code = (uint8_t)code, .is_error = is_error, .a = a, .b = b};
    if (is_error)
        report->error_count++;
    else
        report->warning_count++;
}

void health_error(check *self, enum health_code code, uint32_t a, uint32_t b)
{
    health_add_issue(self, true, code, a, b);
}

void health_warning(check *self, enum health_code code)
{
    health_add_issue(self, false, code, 0, 0);
}

void health_by_outcome(check *self, enum health_code code, uint32_t a, uint32_t b)
{
    health_add_issue(self, !self->is_failed, code, a, b);
}

void health_error_at(check *self, enum health_code code, uint8_t what, uint32_t a)
{
    health_report *report = self->report;
    size_t count = report->issues.count;

    health_add_issue(self, true, code, a, 0);
    if (report->issues.count > count)
        report->issues.at[count].what = what;
}
