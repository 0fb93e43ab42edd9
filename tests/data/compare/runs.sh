# Small runs for the cases of compare and series: `. $DATA/compare/runs.sh`.

# trace ID NANOSECONDS BUILD [PAIR [STEP [KEPT [RMS]]]]: one trace on standard output
trace()
{
    id=$1 ns=$2 build=$3 pair=$4 step=${5:-2} kept=${6:-0} rms=${7:-1.0}
    printf '{"kind":"meta","schema":"candle-graph/trace/10","run_id":"%s","correlation_id":"c",' "$id"
    printf '"entrypoint":"ear::hear","phase":"infer","timestamp":"t","capture_step":%s,' "$step"
    printf '"warmup_steps":1,"device":"cpu","timing_mode":"host","tags":{},"capture_contract":{'
    printf '"measurement_scope":"production_equivalent","operations":"none","logical_memory":'
    printf '"partial","physical_memory":"none","device_timing":"none"},"comparison_identity":{'
    printf '"implementation_id":"%s","workload_id":"w","model_id":"m","config_id":"c",' "$build"
    printf '"data_id":"d","seed_policy":"s","physical_batch":1,"accumulation_steps":1,'
    printf '"precision":"f32","device_state":"idle"'
    [ -z "$pair" ] || printf ',"pair_id":"%s"' "$pair"
    printf '}}\n'
    printf '{"kind":"span_start","id":"s1","name":"root","start_ns":0,"span_kind":"function"}\n'
    printf '{"kind":"span_start","id":"s2","parent_id":"s1","name":"ear/hear","start_ns":1,'
    printf '"span_kind":"function","measured":true}\n'
    printf '{"kind":"tensor_stats","span_id":"s2","label":"ear/out","shape":[2],"dtype":"f32",'
    printf '"elements":2,"non_finite":0,"rms":%s,"abs_max":%s,"mean":0.0}\n' "$rms" "$rms"
    if [ "$kept" != 0 ]; then
        printf '{"kind":"memory","timestamp_ns":2,"storage_id":"k","tensor_id":"t","span_id":"s2",'
        printf '"device":"cpu","bytes":%s,"action":"alloc","dtype":"u8"}\n' "$kept"
    fi
    printf '{"kind":"span_end","id":"s2","duration_ns":%s}\n' "$ns"
    printf '{"kind":"span_end","id":"s1","duration_ns":%s}\n' $((ns + 2))
    printf '{"kind":"terminal","outcome":"complete","timestamp_ns":%s}\n' $((ns + 2))
}

# publish NAME TRACE...: the bundle NAME of such a trace
publish()
{
    name=$1
    shift
    trace "$@" > "$name.jsonl"
    candle-graph report "$name.jsonl" --bundle "./$name" > "$name.receipt" && rm "$name.jsonl" "$name.receipt"
}

# cohorts trace|publish [paired]: a1..a5 and b1..b5, the vector of the comparison contract
cohorts()
{
    i=0
    for times in 1000/955 1040/940 990/1003 1013/971 1075/969; do
        i=$((i + 1))
        pair=${2:+p$i}
        if [ "$1" = trace ]; then
            trace a$i ${times%/*} old "$pair" > a$i.jsonl
            trace b$i ${times#*/} new "$pair" 2 0 2.0 > b$i.jsonl
        else
            publish a$i a$i ${times%/*} old "$pair"
            publish b$i b$i ${times#*/} new "$pair" 2 0 2.0
        fi
    done
}

# campaign: a plan of three captures, all published; steps 10, 20, 30 keep 64, 128, 192 bytes
campaign()
{
    mkdir -p runs
    for step in 10 20 30; do
        publish runs/step-$step run-$step $((step * 100)) old '' $step $((step * 64 / 10)) $step.5
    done
    plan runs/step-10 runs/step-20 runs/step-30 > campaign.json
}

# plan BUNDLE...: a campaign of them at steps 10, 20, ...
plan()
{
    printf '{"schema":"candle-graph/campaign/1","campaign_id":"ears","entrypoint":"ear::hear",'
    printf '"planned":['
    step=0
    for bundle in "$@"; do
        step=$((step + 10))
        [ $step = 10 ] || printf ','
        printf '{"capture_step":%s,"bundle":"%s"}' $step "$bundle"
    done
    printf ']}\n'
}
