/*
 * normalise - one order, no record twice, counted: the last step of every document.
 *
 * Lists are ordered by id (bytes); stages by their order, then id; assembly
 * sites keep the order of the source. Of records with one id the first stays,
 * but stages and assembly sites are all kept, and findings are joined:
 * evidence and related ids of all of them. Lists of ids inside records are
 * sets. Done twice, nothing changes.
 */
#ifndef CG_MODEL_NORMALISE_H
#define CG_MODEL_NORMALISE_H

#include "model/document.h"

/* Put `document` in order and count it. Fails with CG_NOMEM, the document is then unusable. */
cg_code model_normalise(model_document *document, cg_err *reterr) CG_MUST;
/* The same where some lists are known to be in order, each id once. */
cg_code model_normalise_lists(model_document *document, bool (*is_ordered)(enum model_list list),
                              cg_err *reterr) CG_MUST;

/* The findings of a document again, in which places of files have moved. Fails with CG_NOMEM. */
cg_code findings_normalise(model_document *document, cg_err *reterr) CG_MUST;

/* Texts in bytewise order, each once; the list is a new one in `mem` when anything changes. */
bool texts_unique(arena *mem, sc_strs *list) CG_MUST;
/* The same, but all of them stay. */
bool texts_sorted(arena *mem, sc_strs *list) CG_MUST;

#endif
