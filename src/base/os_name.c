#include "base/os_name.h"

#include <errno.h>
#include <string.h>

bool os_name(char *ret, size_t room, cg_str text)
{
    if (text.len == 0 || memchr(text.ptr, '\0', text.len) != NULL) {
        errno = ENOENT;
        return false;
    }
    if (text.len >= room) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(ret, text.ptr, text.len);
    ret[text.len] = '\0';
    return true;
}
