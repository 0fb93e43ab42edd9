#include "support/capture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

void capture_line(capture *self, const char *format, ...)
{
    va_list arguments;
    size_t from = self->len;
    int len;

    va_start(arguments, format);
    len = vsnprintf(self->text + from, sizeof self->text - from, format, arguments);
    va_end(arguments);
    assert_true(len >= 0 && (size_t)len + 1 < sizeof self->text - from);
    self->len += (size_t)len;
    for (size_t i = from; i < self->len; i++)
        if (self->text[i] == '\'')
            self->text[i] = '"';
    self->text[self->len++] = '\n';
}

void capture_begin(capture *self)
{
    self->len = 0;
    self->gradient_count = 0;
    capture_line(self,
                 "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'r',"
                 "'correlation_id':'c','entrypoint':'e','phase':'infer',"
                 "'timestamp':'t','capture_step':1,'warmup_steps':0,'device':'cpu',"
                 "'timing_mode':'host','tags':{},"
                 "'capture_contract':{'measurement_scope':'profiled_work','operations':'partial',"
                 "'tensors':'partial','gradients':'partial','logical_memory':'partial',"
                 "'physical_memory':'none','device_timing':'partial'}}");
}

static void capture_start(capture *self, const char *id, const char *parent, const char *name,
                          uint64_t start, bool is_measured)
{
    capture_line(self,
                 "{'kind':'span_start','id':'%s',%s%s%s'name':'%s','start_ns':%" PRIu64
                 ",'span_kind':'function','measured':%s}",
                 id, parent == NULL ? "" : "'parent_id':'", parent == NULL ? "" : parent,
                 parent == NULL ? "" : "',", name, start, is_measured ? "true" : "false");
}

static void capture_end(capture *self, const char *id, uint64_t duration)
{
    capture_line(self, "{'kind':'span_end','id':'%s','duration_ns':%" PRIu64 "}", id, duration);
}

void capture_span(capture *self, const char *id, const char *parent, const char *name,
                  uint64_t start, uint64_t duration)
{
    capture_start(self, id, parent, name, start, false);
    capture_end(self, id, duration);
}

void capture_measured(capture *self, const char *id, const char *parent, const char *name,
                      uint64_t start, uint64_t duration)
{
    capture_start(self, id, parent, name, start, true);
    capture_end(self, id, duration);
}

void capture_open(capture *self, const char *id, const char *parent, const char *name,
                  uint64_t start, bool is_measured)
{
    capture_start(self, id, parent, name, start, is_measured);
}

void capture_op(capture *self, const char *span, const char *name, const char *inputs,
                const char *output, uint64_t start, uint64_t duration)
{
    char list[512];
    size_t at = 0;

    for (const char *from = inputs; *from != '\0'; from++) {
        int len = snprintf(list + at, sizeof list - at, *from == ',' ? "','" : "%c", *from);

        assert_true(len > 0 && (size_t)len < sizeof list - at);
        at += (size_t)len;
    }
    list[at] = '\0';
    capture_line(self,
                 "{'kind':'op','span_id':'%s','op_name':'%s','inputs':[%s%s%s],%s%s%s'shape':[8],"
                 "'dtype':'f32','device':'cpu','duration_ns':%" PRIu64 ",'timestamp_ns':%" PRIu64
                 ",'input_dense_bytes':0}",
                 span, name, at > 0 ? "'" : "", list, at > 0 ? "'" : "",
                 output == NULL ? "" : "'output':'", output == NULL ? "" : output,
                 output == NULL ? "" : "',", duration, start);
}

void capture_tensor(capture *self, const char *span, const char *id, const char *label,
                    const char *category)
{
    capture_line(self,
                 "{'kind':'tensor','span_id':'%s','tensor_id':'%s',%s%s%s'shape':[8],"
                 "'dtype':'f32','device':'cpu','category':'%s'}",
                 span, id, label == NULL ? "" : "'label':'", label == NULL ? "" : label,
                 label == NULL ? "" : "',", category == NULL ? "other" : category);
}

void capture_stats(capture *self, const char *span, const char *label, uint64_t non_finite)
{
    capture_line(self,
                 "{'kind':'tensor_stats','span_id':'%s','label':'%s','shape':[8],'dtype':'f32',"
                 "'elements':8,'non_finite':%" PRIu64 ",'rms':0.0,'abs_max':0.0,'mean':0.0}",
                 span, label, non_finite);
}

void capture_memory(capture *self, const char *span, const char *action, const char *storage,
                    uint64_t bytes, uint64_t at)
{
    capture_line(self,
                 "{'kind':'memory','timestamp_ns':%" PRIu64 ",'storage_id':'%s','tensor_id':'%s',"
                 "'span_id':'%s','device':'cpu','bytes':%" PRIu64 ",'action':'%s','dtype':'u8'}",
                 at, storage, storage, span, bytes, action);
}

void capture_interval(capture *self, const char *span, const char *device, const char *clock,
                      uint64_t start, uint64_t duration)
{
    capture_line(self,
                 "{'kind':'device_interval','span_id':'%s','device':'%s','stream_id':'0',"
                 "'clock_id':'%s','backend':'b','start_ns':%" PRIu64 ",'duration_ns':%" PRIu64 "}",
                 span, device, clock, start, duration);
}

void capture_gradient(capture *self, const char *root, const char *key)
{
    capture_line(self,
                 "{'kind':'gradient','event_id':'g%u','root':'%s','key':'%s','state':'missing'}",
                 self->gradient_count++, root, key);
}

evidence *capture_any(capture *self, const char *outcome, uint64_t end)
{
    trace_doc *trace = NULL;
    evidence *ret = NULL;
    cg_err err = {0};

    capture_line(self, "{'kind':'terminal','outcome':%s,'timestamp_ns':%" PRIu64 "}", outcome, end);
    if (trace_read_text(NULL, (cg_str){self->text, self->len}, &trace, &err) != CG_OK ||
        evidence_build(NULL, trace, &ret, &err) != CG_OK)
        fail_msg("line %" PRIu64 ": %s", err.line, err.text);
    return ret;
}

static evidence *valid(evidence *ret)
{
    if (!ret->health.is_valid)
        fail_msg("the capture of this test is not structurally valid");
    return ret;
}

evidence *capture_complete(capture *self, uint64_t end)
{
    return valid(capture_any(self, CAPTURE_COMPLETE, end));
}

evidence *capture_failed(capture *self, uint64_t end)
{
    return valid(capture_any(self, CAPTURE_FAILED, end));
}

void capture_add_text(const evidence *from, sym symbol, buf *out)
{
    buf_add(out, symbol == 0 ? CG_LIT("-") : trace_text(from->trace, symbol));
}

void capture_expect(buf *out, const char *want)
{
    buf_byte(out, '\0');
    assert_false(out->failed);
    assert_string_equal(out->at, want);
    buf_clear(out);
}
