/*
 * moved - a document whose files have been edited around what it speaks of: the same rows, at their
 * places of today.
 *
 *   moved_file files[] = {{shown, &change}};                        model/edit's, by file
 *   if (moved_texts(&in, files, 1, &is_good) && is_good)            of the packed document
 *       ... pack_take(&in, &table_model_doc, &document.doc) ...
 *   CG_TRY(moved_places(&document, files, 1, reterr));
 *
 * A place in a file stands in a record of lines and bytes, and as text (`src/model.rs:12`) in
 * sources, evidence and ids. What stood in a body that says something else now gets a line that no
 * file has; is one left at the end (moved_is_whole), the document is not right.
 */
#ifndef CG_MODEL_MOVED_H
#define CG_MODEL_MOVED_H

#include "model/document.h"
#include "rust/edit.h"
#include "schema/pack.h"

#define MOVED_NOWHERE 0x40000000u /* and more: lines and bytes of what is no more */

typedef struct moved_file {
    cg_str shown; /* as places have it */
    const edit *change;
} moved_file;

/*
 * *ret_is_good is false, and nothing is changed, when a line has become several: nobody knows which
 * is meant.
 */
bool moved_texts(pack_reader *self, const moved_file *files, size_t count,
                 bool *ret_is_good) CG_MUST;
/* Records of places; lists that are ordered by their texts are put in order again. */
cg_code moved_places(model_document *document, const moved_file *files, size_t count,
                     cg_err *reterr) CG_MUST;
/* Does every record of a place say where it is today? */
bool moved_is_whole(const model_document *document);

#endif
