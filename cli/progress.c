#include "progress.h"

#include "print.h"

#define QUIET_NS    UINT64_C(500000000)
#define INTERVAL_NS UINT64_C(100000000)

void progress_start(progress *self, const cli_io *io, const cg_env *outer)
{
    const char *term = io->variable != NULL ? io->variable(io->context, "TERM") : NULL;

    memset(self, 0, sizeof *self);
    self->io = io;
    self->outer = outer;
    self->is_shown =
        io->is_err_terminal && io->now_ns != NULL && (term == NULL || strcmp(term, "dumb") != 0);
    if (self->is_shown)
        self->start_ns = io->now_ns(io->context);
}

static void draw(progress *self, const char *stage, uint64_t done, uint64_t total)
{
    printer out;

    print_open(&out, self->io->err);
    print_format(&out, "\r\x1b[K%.40s", stage != NULL ? stage : "working");
    if (total > 0 && done <= total)
        print_format(&out, " %u %%", (unsigned)((double)done / (double)total * 100.0));
    else if (done > 0)
        print_format(&out, " %llu", (unsigned long long)done);
    (void)print_close(&out);
    self->is_drawn = true;
}

bool progress_report(void *context, const char *stage, uint64_t done, uint64_t total)
{
    progress *self = context;
    const cli_io *io = self->io;

    if (io->is_stopped != NULL && io->is_stopped(io->context))
        self->is_stopped = true;
    if (self->outer != NULL && self->outer->progress != NULL &&
        !self->outer->progress(self->outer->progress_context, stage, done, total))
        self->is_stopped = true;
    if (self->is_stopped)
        return false;
    if (self->is_shown) {
        uint64_t now = io->now_ns(io->context);

        if (now - self->start_ns >= QUIET_NS && now - self->last_ns >= INTERVAL_NS) {
            draw(self, stage, done, total);
            self->last_ns = now;
        }
    }
    return true;
}

void progress_erase(progress *self)
{
    if (self->is_drawn)
        (void)self->io->err.write(self->io->err.context, "\r\x1b[K", 4);
    self->is_drawn = false;
}
