#include "view/shown.h"

cg_str shown_text(shown_work *self, const buf *from)
{
    if (from->failed && self->out.code == CG_OK)
        self->out.code = CG_NOMEM;
    return buf_text(from);
}

cg_str shown_behind(cg_str text, size_t at)
{
    return at >= text.len ? text : (cg_str){text.ptr + at, text.len - at};
}

cg_str shown_behind_dot(cg_str text)
{
    size_t dot = str_find_last(text, '.');

    return dot == SIZE_MAX ? text : shown_behind(text, dot + 1);
}

cg_str shown_last_segments(cg_str path, unsigned count)
{
    for (size_t i = path.len; i >= 2; i--) {
        if (path.ptr[i - 1] != ':' || path.ptr[i - 2] != ':')
            continue;
        if (--count == 0)
            return shown_behind(path, i);
        i--;
    }
    return path;
}

void shown_no_shape(jsonw *out, const void *context)
{
    (void)context;
    jw_str(out, CG_LIT(SHOWN_NO_SHAPE));
}
