/*
 * streams - records of a spool's lanes, one after another and merged.
 *
 * A record is handed out only when it is whole and of a known kind; a stream that breaks a rule
 * ends there (`is_broken`). Every size is checked against what the stream holds. Short forms are
 * handed out in full, so that nobody else knows them.
 */
#ifndef CG_RECORD_STREAMS_H
#define CG_RECORD_STREAMS_H

#include "record/spool.h"

typedef struct stream_reader {
    const spool *source;
    const spool_stream *stream;
    size_t run;      /* the next one to take from */
    uint64_t run_at; /* bytes taken of it */
    char *buffer;
    size_t at, have, capacity;
    struct stream_memory *memory; /* what short forms refer to */
    bool is_broken;               /* a record that cannot be */
    bool has_failed;              /* the file could not be read */
} stream_reader;

bool stream_open(stream_reader *self, const spool *source, size_t index, size_t buffer_bytes);
/* The next record, valid until the next call; NULL at the end. */
const slot *stream_next(stream_reader *self);
void stream_close(stream_reader *self);

#endif
