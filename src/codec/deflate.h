/*
 * deflate - bytes made smaller, as a zlib stream (RFC 1950, 1951) that browsers read by themselves.
 *
 * The same bytes always give the same stream, on every machine: pages are derived again and
 * compared byte for byte, which no library promises across its versions (decision 0043). One pass
 * with lazy matching, one dynamic block for some ten thousand tokens.
 */
#ifndef CG_CODEC_DEFLATE_H
#define CG_CODEC_DEFLATE_H

#include "base/buf.h"

/*
 * Append the stream to `ret`. Fails with CG_NOMEM, CG_LIMIT (4 GiB). Working memory: about half a
 * mebibyte, whatever the size.
 */
cg_code deflate_write(heap *from, cg_str data, buf *ret, cg_err *reterr) CG_MUST;

/* Append `data` in base64, padded. */
void base64_write(cg_str data, buf *ret);

#endif
