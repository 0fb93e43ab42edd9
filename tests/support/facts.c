#include "support/facts.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

void facts_begin(capture *self, const char *contract)
{
    self->len = 0;
    self->gradient_count = 0;
    capture_line(
        self,
        "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'r',"
        "'correlation_id':'c','entrypoint':'e','phase':'infer','timestamp':'t','capture_step':1,"
        "'warmup_steps':0,'device':'cpu','timing_mode':'host','tags':{},"
        "'capture_contract':{'measurement_scope':'profiled_work',%s}}",
        contract);
}

evidence *facts_complete(capture *self, uint64_t end)
{
    return capture_any(self, CAPTURE_COMPLETE, end);
}

evidence *facts_failed(capture *self, uint64_t end)
{
    return capture_any(self, CAPTURE_FAILED, end);
}

void facts_rich(capture *self)
{
    capture_span(self, "s1", NULL, "root", 0, 100);
    capture_measured(self, "s2", "s1", "update", 10, 80);
    capture_span(self, "s3", "s2", "layer", 20, 40);
    capture_tensor(self, "s3", "w", "weight", "parameter");
    capture_tensor(self, "s3", "x", NULL, NULL);
    capture_op(self, "s3", "mul", "w,x", "y", 20, 10);
    capture_op(self, "s3", "add", "y,x", "z", 30, 10);
    capture_stats(self, "s3", "weight", 0);
    capture_stats(self, "s3", "out", 2);
    capture_memory(self, "s3", "alloc", "a", 64, 21);
    capture_memory(self, "s3", "alloc", "b", 32, 31);
    capture_memory(self, "s3", "free", "a", 64, 40);
    capture_interval(self, "s3", "gpu", "k", 0, 7);
    capture_line(self, "{'kind':'device_memory','timestamp_ns':50,'device':'gpu','used_bytes':9}");
    capture_gradient(self, "vb", "w");
    capture_gradient(self, "vb", "b");
}

static cg_code append(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

cg_sink facts_sink(buf *to)
{
    return (cg_sink){to, append};
}
