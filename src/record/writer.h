/*
 * writer - the thread that moves what the rings hold to chunks of the spool.
 *
 * It sleeps until a ring is half full, a flush or a spare lane is wanted. While the spool cannot be
 * written it tries again every tenth of a second, and recording drops what finds no room.
 */
#ifndef CG_RECORD_WRITER_H
#define CG_RECORD_WRITER_H

#include "record/lane.h"

/* 0 or the error. */
int writer_start(cg_record *session);
/* Waits for its end; harmless when it never started. What is in the rings stays there. */
void writer_stop(cg_record *session);
/* Both clocks of this moment into the header, for who recovers the spool. */
void session_note_clock(cg_record *session);

#endif
