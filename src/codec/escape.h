/*
 * escape - the only doors through which text from input leaves for a place
 * that could act on it.
 */
#ifndef CG_CODEC_ESCAPE_H
#define CG_CODEC_ESCAPE_H

#include "base/buf.h"

/*
 * Terminal: C0, DEL, C1 and malformed bytes as \xNN (\n, \t, \r as \n \t \r), bidirectional
 * controls, zero-width and line/paragraph separators as \uNNNN, back-slash as it is.
 */
void esc_tty(buf *out, cg_str text);
/* Markdown cell or line: as esc_tty, and | ` < > & * _ [ ] escaped so that nothing is markup. */
void esc_md(buf *out, cg_str text);
/* HTML text and attribute values. */
void esc_html(buf *out, cg_str text);
/* JSON text inside a script element: < > & U+2028 U+2029 as \uNNNN. */
void esc_script(buf *out, cg_str json);

#endif
