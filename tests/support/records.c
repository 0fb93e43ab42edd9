#include "support/records.h"

/* One record is one text. */
/* clang-format off */
#define RUN_HEAD                                                                                   \
    "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'r1','correlation_id':'c1',"         \
    "'entrypoint':'toy::step',"
#define LEVELS \
    "'logical_memory':'partial','physical_memory':'none','device_timing':'complete',"
#define CONTRACT_HEAD "'measurement_scope':'profiled_work','operations':'complete',"

const record_example record_examples[RECORD_COUNT] = {
    [RECORD_META] =
        {&table_meta,
         RUN_HEAD
         "'phase':'infer','timestamp':'2031-02-03T04:05:06Z','capture_step':5,'warmup_steps':4,"
         "'device':'cuda:0','measured_region_device_synchronized':true,"
         "'timing_mode':'device_synchronized','capture_contract':{" CONTRACT_HEAD
         "'tensors':'partial','gradients':'complete','gradient_contract':{"
         "'manifest_sha256':'sha256:00','expected':[{'root':'w','key':'a','family':'f'},"
         "{'root':'w','key':'b','family':'g'}],'families':[{'family':'f','expectation':'inactive',"
         "'min_present':0},{'family':'g','expectation':'data_conditional','min_present':1}]},"
         LEVELS
         "'required_semantic_labels':['x','y'],'gpu_expected_semantic_labels':['x'],"
         "'cpu_only_semantic_labels':['y']},'comparison_identity':{'implementation_id':'i',"
         "'workload_id':'w','model_id':'m','config_id':'c','data_id':'d','seed_policy':'fixed',"
         "'physical_batch':8,'accumulation_steps':2,'precision':'f32','device_state':'cold',"
         "'pair_id':'p'},'tags':{'A':'1','a':'2','\xc3\xa9':''},'candle_version':'0.9'}",
         RUN_HEAD
         "'phase':'train','timestamp':'t','capture_step':1,'warmup_steps':0,'device':'cpu',"
         "'timing_mode':'host','capture_contract':{" CONTRACT_HEAD
         "'logical_memory':'partial','physical_memory':'none','device_timing':'complete'},"
         "'tags':{}}",
         RUN_HEAD
         "'phase':'train','timestamp':'t','capture_step':1,'warmup_steps':0,'device':'cpu',"
         "'measured_region_device_synchronized':false,'timing_mode':'host','capture_contract':{"
         CONTRACT_HEAD
         "'tensors':'none','gradients':'none'," LEVELS
         "'required_semantic_labels':[]},'tags':{}}"},
    [RECORD_SPAN_START] =
        {&table_span_start,
         "{'kind':'span_start','id':'s2','parent_id':'s1','name':'call','start_ns':7,"
         "'span_kind':'module','measured':true,'step':'optimizer'}",
         "{'kind':'span_start','id':'','name':'','start_ns':0,'span_kind':'op'}",
         "{'kind':'span_start','id':'','name':'','start_ns':0,'span_kind':'op','measured':false}"},
    [RECORD_SPAN_END] =
        {&table_span_end,
         "{'kind':'span_end','id':'s2','duration_ns':18446744073709551615}",
         "{'kind':'span_end','id':'s2'}",
         "{'kind':'span_end','id':'s2','duration_ns':0}"},
    [RECORD_OP] =
        {&table_op,
         "{'kind':'op','span_id':'s2','op_name':'matmul','inputs':['x','w'],'output':'y',"
         "'shape':[2,3],'dtype':'f32','device':'cpu','duration_ns':4,'timestamp_ns':9,"
         "'output_dense_bytes':24,'input_dense_bytes':36}",
         "{'kind':'op','span_id':'s2','op_name':'matmul','shape':[],'dtype':'f32','device':'cpu',"
         "'duration_ns':4,'input_dense_bytes':36}",
         "{'kind':'op','span_id':'s2','op_name':'matmul','inputs':[],'shape':[],'dtype':'f32',"
         "'device':'cpu','duration_ns':4,'timestamp_ns':0,'input_dense_bytes':36}"},
    [RECORD_TENSOR_EVENT] =
        {&table_tensor_event,
         "{'kind':'tensor','span_id':'s2','tensor_id':'x','label':'in','shape':[0,7],"
         "'dtype':'bf16','device':'cpu','requires_grad':true,'dense_bytes':0,"
         "'category':'parameter'}",
         "{'kind':'tensor','span_id':'s2','tensor_id':'x','shape':[1],'dtype':'d','device':'cpu'}",
         "{'kind':'tensor','span_id':'s2','tensor_id':'x','shape':[1],'dtype':'d','device':'cpu',"
         "'requires_grad':false,'category':'other'}"},
    [RECORD_STATS_EVENT] =
        {&table_stats_event,
         "{'kind':'tensor_stats','span_id':'s2','label':'out','shape':[2],'dtype':'f64',"
         "'elements':2,'non_finite':1,'rms':0.5,'abs_max':1e+16,'mean':-0.0}",
         "{'kind':'tensor_stats','span_id':'s2','label':'out','shape':[],'dtype':'f64',"
         "'elements':1,'non_finite':0,'rms':5e-324,'abs_max':1.0,'mean':-1.0}",
         "{'kind':'tensor_stats','span_id':'s2','label':'out','shape':[],'dtype':'f64',"
         "'elements':1,'non_finite':0,'rms':5e-324,'abs_max':1.0,'mean':-1.0}"},
    [RECORD_MEMORY] =
        {&table_memory,
         "{'kind':'memory','timestamp_ns':3,'storage_id':'A','tensor_id':'t','span_id':'s2',"
         "'op_name':'mul','device':'cpu','bytes':64,'action':'free','shape':[4,4],'dtype':'f32',"
         "'category':'optimizer'}",
         "{'kind':'memory','timestamp_ns':3,'storage_id':'A','tensor_id':'t','span_id':'s2',"
         "'device':'cpu','bytes':64,'action':'alloc','dtype':'f32'}",
         "{'kind':'memory','timestamp_ns':3,'storage_id':'A','tensor_id':'t','span_id':'s2',"
         "'device':'cpu','bytes':64,'action':'alloc','shape':[],'dtype':'f32',"
         "'category':'other'}"},
    [RECORD_DEVICE_MEMORY] =
        {&table_device_memory,
         "{'kind':'device_memory','timestamp_ns':3,'device':'cuda:0','used_bytes':1,"
         "'free_bytes':2,'reserved_bytes':0,'capacity_bytes':4}",
         "{'kind':'device_memory','timestamp_ns':3,'device':'cuda:0'}",
         "{'kind':'device_memory','timestamp_ns':3,'device':'cuda:0'}"},
    [RECORD_DEVICE_INTERVAL] =
        {&table_device_interval,
         "{'kind':'device_interval','span_id':'s2','device':'cuda:0','stream_id':'7',"
         "'clock_id':'k','backend':'cuda','start_ns':1,'duration_ns':2}",
         "{'kind':'device_interval','span_id':'','device':'','stream_id':'','clock_id':'',"
         "'backend':'','start_ns':0,'duration_ns':0}",
         "{'kind':'device_interval','span_id':'','device':'','stream_id':'','clock_id':'',"
         "'backend':'','start_ns':0,'duration_ns':0}"},
    [RECORD_GRADIENT] =
        {&table_gradient,
         "{'kind':'gradient','event_id':'g1','root':'w','key':'a','state':'present',"
         "'norm':0.00001}",
         "{'kind':'gradient','event_id':'g1','root':'w','key':'a','state':'non_finite'}",
         "{'kind':'gradient','event_id':'g1','root':'w','key':'a','state':'non_finite'}"},
    [RECORD_CALL_EDGE] =
        {&table_call_edge,
         "{'kind':'edge','edge_kind':'call','from_span':'s1','to_span':'s2',"
         "'host_duration_ns':5}",
         "{'kind':'edge','edge_kind':'call','from_span':'','to_span':'','host_duration_ns':0}",
         "{'kind':'edge','edge_kind':'call','from_span':'','to_span':'','host_duration_ns':0}"},
    [RECORD_DATA_EDGE] =
        {&table_data_edge,
         "{'kind':'edge','edge_kind':'data','from_tensor':'x','to_tensor':'y'}",
         "{'kind':'edge','edge_kind':'data','from_tensor':'','to_tensor':''}",
         "{'kind':'edge','edge_kind':'data','from_tensor':'','to_tensor':''}"},
    [RECORD_TERMINAL] =
        {&table_terminal,
         "{'kind':'terminal','outcome':'failed','timestamp_ns':9,'reason':'out\\nof \\\"x\\\"'}",
         "{'kind':'terminal','outcome':'complete','timestamp_ns':9}",
         "{'kind':'terminal','outcome':'complete','timestamp_ns':9}"},
};
/* clang-format on */

void record_text(buf *out, const char *text)
{
    for (; *text != '\0'; text++)
        buf_byte(out, *text == '\'' ? '"' : *text);
}

cg_code record_sink(void *context, const char *bytes, size_t count)
{
    buf *out = context;

    buf_add(out, (cg_str){bytes, count});
    return out->failed ? CG_OUTPUT : CG_OK;
}
