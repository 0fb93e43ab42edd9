/* Version, codes, ceilings and the one-line form of an error. */
#include "base/heap.h"
#include "base/num.h"
#include "candlegraph/candlegraph.h"

#include <stdio.h>

const char *cg_version(void)
{
    return CG_VERSION_TEXT;
}

const char *cg_code_name(cg_code code)
{
    switch (code) {
#define X(name, number, status, text)                                                              \
    case number: return #name;
        CG_CODES(X)
#undef X
    default: return "UNKNOWN";
    }
}

int cg_code_exit_status(cg_code code)
{
    switch (code) {
#define X(name, number, status, text)                                                              \
    case number: return status;
        CG_CODES(X)
#undef X
    default: return 70;
    }
}

void cg_limits_default(cg_limits *ret)
{
    limits_default(ret);
}

bool cg_limits_set(cg_limits *limits, const char *word, uint64_t value)
{
    int limit = limit_find(str_from(word));

    if (limit < 0 || value == 0)
        return false;
    limits->value[limit] = value;
    return true;
}

size_t cg_err_format(const cg_err *err, char *to, size_t room)
{
    char place[64] = "";
    int len;

    if (room == 0)
        return 0;
    if (err->line > 0 && err->has_offset)
        snprintf(place, sizeof place, "%llu (byte %llu): ", (unsigned long long)err->line,
                 (unsigned long long)err->offset);
    else if (err->line > 0)
        snprintf(place, sizeof place, "%llu: ", (unsigned long long)err->line);
    len = snprintf(to, room, "error[%s]: %s%s%s%s%s%s",
                   err->problem != NULL ? err->problem : "unknown", err->file,
                   err->file[0] == '\0' ? "" : (place[0] == '\0' ? ": " : ":"), place, err->text,
                   err->help != NULL ? "; " : "", err->help != NULL ? err->help : "");
    if (len < 0) {
        to[0] = '\0';
        return 0;
    }
    return (size_t)len < room ? (size_t)len : room - 1;
}
