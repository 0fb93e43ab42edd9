#include "api/caller.h"

#include <string.h>

void caller_read(void *ret, size_t room, const void *from)
{
    uint32_t size = 0;

    memset(ret, 0, room);
    if (from != NULL)
        memcpy(&size, from, sizeof size);
    if (size >= sizeof size)
        memcpy(ret, from, size < room ? size : room);
}

bool caller_wants_text(const cg_format *format, text_style *ret)
{
    cg_format wanted;

    caller_read(&wanted, sizeof wanted, format);
    *ret = (text_style){.has_color = wanted.has_color, .width = wanted.width, .rows = wanted.rows};
    if (ret->width == 0)
        ret->width = 100;
    if (ret->width < 60)
        ret->width = 60;
    if (ret->rows == 0)
        ret->rows = 20;
    return wanted.kind == CG_FORMAT_TEXT;
}
