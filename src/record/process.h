/*
 * process - what all sessions of a process share: the sessions there are, and which thread has
 * which lane of them.
 *
 * A thread gets a lane of a session when it first records there and gives it back when it ends; in
 * the child of a fork there are no sessions. Everything here takes the process lock.
 */
#ifndef CG_RECORD_PROCESS_H
#define CG_RECORD_PROCESS_H

#include "record/lane.h"

/* To be called before the others. False: no thread key is left. */
bool process_prepare(void);
/* A session that nobody uses, with a serial of its own, deaf until it is open; NULL: no memory. */
cg_record *process_take_session(void);
/* Take the session out of use. CG_USAGE when it is not in use here. */
cg_code process_close_session(cg_record *session, cg_err *reterr);
/* Lanes of threads that may be inside a call lose their ring; these threads clear up themselves. */
void process_release_lanes(cg_record *session);
/*
 * Making a ring takes the kernel most of a millisecond: one is kept ready, so that a thread that
 * records for the first time inside a measured region does not spend it there.
 */
void process_make_spare_lane(cg_record *session);

#endif
