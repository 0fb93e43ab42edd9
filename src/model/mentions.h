/*
 * mentions - who can notice that items of a file came, went, or are other ones.
 *
 *   CG_TRY(mentions_find(&question, mem, &found, reterr));
 *   if (found.is_known) ... evaluations that ran one of found.functions ...
 *
 * An item matters to those whose text has one of its words (rust/edit_words), and to those that
 * say the name of something whose declaration has one: of a struct with a field of that type, of a
 * function that takes it. Followed are the texts as they were; what is new is among what has
 * changed itself.
 */
#ifndef CG_MODEL_MENTIONS_H
#define CG_MODEL_MENTIONS_H

#include "model/rescan_base.h"

typedef struct mentions_question {
    heap *heap;
    const rescan_base *base;
    const rescan_change *changes;
    size_t change_count;
    const sc_records *listed; /* functions of the document */
    /* What a file was, and its tree. */
    cg_code (*load)(void *context, size_t file, program_text_given *ret, cg_err *reterr);
    void *context;
} mentions_question;

typedef struct mentions {
    bool is_known;    /* false: anybody may notice it */
    bool *functions;  /* of the base's runs */
    bool *components; /* of the base's runs */
    bool *files;      /* something in it says so, or may be called otherwise */
} mentions;

cg_code mentions_find(const mentions_question *about, arena *mem, mentions *ret,
                      cg_err *reterr) CG_MUST;

#endif
