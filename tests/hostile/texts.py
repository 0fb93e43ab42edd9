#!/usr/bin/env python3
# ctest: @CLI@
"""texts: no byte of a trace reaches a terminal raw, whichever field it stands in.

usage: texts.py CANDLE_GRAPH

Every text field of every record is filled with control characters, in a healthy, a failed and an
invalid capture; every document is printed as text in several widths. No control character, no
bidirectional override and no line wider than its table may be in the output.
"""
import json
import os
import subprocess
import sys
import tempfile

KINDS = ("slowest-host slowest-device heaviest memory spans tensors tensor-stats gradients "
         "capabilities labels module-tree nan-origin gaps").split()
EVIL = "\x1b[2J\x1b]0;x\x07\b\r\n\t\0\x7f\x9b31m\u202e\u2066\u2028\ufeff|`<b>"
LONG = EVIL + "n" * 3000


def evil(place, tail=EVIL):
    return place + tail


def records(outcome):
    root, child = evil("s1"), evil("s2", LONG)
    inputs = [evil("in"), evil("more")]
    level = {"measurement_scope": "unknown", "operations": "complete", "tensors": "complete",
             "logical_memory": "complete", "physical_memory": "complete",
             "device_timing": "complete", "required_semantic_labels": [evil("leaf")]}
    yield {"kind": "meta", "schema": "candle-graph/trace/10", "run_id": evil("run"),
           "correlation_id": evil("pair"), "entrypoint": evil("entry"), "phase": "train",
           "timestamp": evil("now"), "capture_step": 1, "warmup_steps": 0, "device": evil("cpu"),
           "timing_mode": "host", "capture_contract": level, "candle_version": evil("0"),
           "tags": {evil("key"): evil("value", LONG)}}
    yield {"kind": "span_start", "id": root, "name": evil("root", LONG), "start_ns": 0,
           "span_kind": "function", "measured": True}
    yield {"kind": "span_start", "id": child, "parent_id": root, "name": evil("leaf"),
           "start_ns": 10, "span_kind": "module", "step": "forward"}
    for span in (root, child):
        yield {"kind": "op", "span_id": span, "op_name": evil("mul"), "inputs": inputs,
               "output": evil("out", LONG), "shape": [2], "dtype": evil("f32"),
               "device": evil("cpu"), "duration_ns": 5, "timestamp_ns": 10, "input_dense_bytes": 0}
    for name in inputs + [evil("out", LONG)]:
        yield {"kind": "tensor", "span_id": child, "tensor_id": name, "label": evil("label" + name),
               "shape": [2], "dtype": evil("f32"), "device": evil("cpu")}
    for i, name in enumerate(inputs + [evil("out", LONG)]):
        yield {"kind": "tensor_stats", "span_id": child, "label": evil("label" + name),
               "shape": [2], "dtype": evil("f32"), "elements": 2, "non_finite": i // 2, "rms": 0.5,
               "abs_max": 1.0, "mean": 0.0}
    yield {"kind": "memory", "timestamp_ns": 12, "storage_id": evil("st"), "tensor_id": evil("out"),
           "span_id": child, "op_name": evil("mul"), "device": evil("cpu"), "bytes": 8,
           "action": "alloc", "dtype": evil("f32")}
    yield {"kind": "device_memory", "timestamp_ns": 12, "device": evil("gpu"), "used_bytes": 1}
    yield {"kind": "device_interval", "span_id": child, "device": evil("gpu"),
           "stream_id": evil("0"), "clock_id": evil("clock"), "backend": evil("b"), "start_ns": 1,
           "duration_ns": 2}
    yield {"kind": "gradient", "event_id": evil("g"), "root": evil("vb"), "key": evil("w"),
           "state": "missing"}
    yield {"kind": "edge", "edge_kind": "data", "from_tensor": inputs[0], "to_tensor": inputs[1]}
    if outcome == "invalid":
        yield {"kind": "tensor", "span_id": evil("nowhere"), "tensor_id": evil("t"), "shape": [],
               "dtype": "f32", "device": "d"}
        yield {"kind": "edge", "edge_kind": "call", "from_span": evil("a"), "to_span": evil("b"),
               "host_duration_ns": 1}
    if outcome != "failed":
        yield {"kind": "span_end", "id": child, "duration_ns": 20}
    yield {"kind": "span_end", "id": root, "duration_ns": 100}
    reason = {"outcome": "failed", "reason": evil("why")} if outcome == "failed" else {}
    yield {"kind": "terminal", "outcome": "complete", "timestamp_ns": 100, **reason}


def is_raw(char):
    code = ord(char)
    return (code < 0x20 and char != "\n" or 0x7f <= code <= 0x9f or 0x202a <= code <= 0x202e or
            0x2066 <= code <= 0x2069 or char in "\u2028\u2029\ufeff")


def main():
    program = os.path.abspath(sys.argv[1])
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.jsonl")
        for outcome in ("complete", "failed", "invalid"):
            with open(trace, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(record) + "\n" for record in records(outcome))
            commands = [["import"], ["overview"], ["summary"]]
            commands += [["query", "--kind", kind] for kind in KINDS]
            for command in commands:
                for width in ("60", "100", "1000"):
                    done = subprocess.run([program, command[0], trace] + command[1:] +
                                          ["--format", "text", "--width", width],
                                          capture_output=True, check=False)
                    shown = (done.stdout + done.stderr).decode("utf-8")
                    what = "%s of a capture that is %s, width %s" % (command, outcome, width)
                    if done.returncode not in (0, 1) or not shown:
                        sys.exit("%s: status %d, %s" % (what, done.returncode, shown))
                    if any(map(is_raw, shown)):
                        sys.exit("%s: %r" % (what, next(filter(is_raw, shown))))
                    if "n" * 1100 in shown and command != ["import"]:
                        sys.exit(what + ": a name is printed whole")
                    count += 1
    print("%d documents are clean" % count)


if __name__ == "__main__":
    main()
