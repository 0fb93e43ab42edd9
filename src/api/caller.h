/*
 * caller - structures of the caller, as this version knows them.
 *
 * They begin with the size the caller was compiled with; fields behind it do
 * not exist there. Here they are zero, which every such field takes as "not given".
 */
#ifndef CG_API_CALLER_H
#define CG_API_CALLER_H

#include "candlegraph/candlegraph.h"
#include "view/text_page.h"

/* The structure at `from` into the `room` bytes at `ret`; NULL: all zero. */
void caller_read(void *ret, size_t room, const void *from);
/* Does the caller want text? Then how, with the defaults filled in. */
bool caller_wants_text(const cg_format *format, text_style *ret);

#endif
