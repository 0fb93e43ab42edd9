"""Traces of the join fixtures, written from a few lines each: `python3 trace.py` writes all of them again."""
import hashlib
import json
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))


def digest(entries):
    hash = hashlib.sha256(b"candle-graph/gradient-manifest/1\0")
    for entry in entries:
        for part in (entry["root"], entry["key"], entry["family"]):
            hash.update(struct.pack("<Q", len(part.encode())) + part.encode())
    return "sha256:" + hash.hexdigest()


class Trace:
    def __init__(self, path, run_id, entrypoint, phase="train", step=3, operations="partial",
                 manifest=()):
        self.path, self.lines, self.open, self.at, self.spans = path, [], [], 0, 0
        self.gradients = 0
        contract = {"measurement_scope": "profiled_work", "operations": operations,
                    "tensors": "partial", "gradients": "none", "logical_memory": "none",
                    "physical_memory": "none", "device_timing": "none"}
        if manifest:
            entries = [{"root": root, "key": key, "family": "all"} for root, key in sorted(manifest)]
            contract["gradients"] = "complete"
            contract["gradient_contract"] = {
                "manifest_sha256": digest(entries), "expected": entries,
                "families": [{"family": "all", "expectation": "active",
                              "min_present": len([entry for entry in entries
                                                   if "running" not in entry["key"]])}]}
        self.line(kind="meta", schema="candle-graph/trace/10", run_id=run_id,
                  correlation_id=run_id + "/step", entrypoint=entrypoint, phase=phase,
                  timestamp="2027-03-04T05:06:07.000Z", capture_step=step, warmup_steps=step - 1,
                  device="cpu", measured_region_device_synchronized=False, timing_mode="host",
                  capture_contract=contract, tags={})
        self.begin(entrypoint)

    def line(self, **record):
        self.lines.append(json.dumps(record, separators=(",", ":")))

    def begin(self, name, kind="function", measured=False):
        self.spans += 1
        self.at += 10
        span = "s%d" % self.spans
        parent = {"parent_id": self.open[-1][0]} if self.open else {}
        self.line(kind="span_start", id=span, **parent, name=name, start_ns=self.at, span_kind=kind,
                  measured=measured)
        self.open.append((span, self.at))

    def end(self, count=1):
        for _ in range(count):
            span, start = self.open.pop()
            self.at += 10
            self.line(kind="span_end", id=span, duration_ns=self.at - start)

    def span(self, name, kind="module"):
        self.begin(name, kind)
        self.end()

    def op(self, name, inputs=(), output=None, shape=(2, 4)):
        self.at += 5
        self.line(kind="op", span_id=self.open[-1][0], op_name=name, inputs=list(inputs),
                  output=output, shape=list(shape), dtype="f32", device="cpu", duration_ns=5,
                  timestamp_ns=self.at - 5, input_dense_bytes=0)

    def tensor(self, label, tensor_id, shape=(2, 4), category="activation"):
        self.line(kind="tensor", span_id=self.open[-1][0], tensor_id=tensor_id, label=label,
                  shape=list(shape), dtype="f32", device="cpu", requires_grad=False,
                  category=category)

    def stats(self, label, shape=(2, 4), bad=0):
        count = 1
        for dim in shape:
            count *= dim
        value = 0.0 if bad == count else 0.5
        self.line(kind="tensor_stats", span_id=self.open[-1][0], label=label, shape=list(shape),
                  dtype="f32", elements=count, non_finite=bad, rms=value, abs_max=value, mean=value)

    def gradient(self, root, key, state):
        self.gradients += 1
        norm = {"norm": 0.25} if state == "present" else {"norm": 0.0} if state == "zero" else {}
        self.line(kind="gradient", event_id="gradient-%d" % self.gradients, root=root, key=key,
                  state=state, **norm)

    def finish(self, reason=None):
        if reason is None:
            self.end(len(self.open))
        self.line(kind="terminal", outcome="complete" if reason is None else "failed",
                  timestamp_ns=self.at, **({} if reason is None else {"reason": reason}))
        with open(os.path.join(HERE, self.path), "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")


READER = ["reader.mix.bias", "reader.mix.weight", "reader.norm.weight", "reader.words.weight"]
SCORE = ["score.bias", "score.weight"]


def judge(path, run_id, step, is_broken, reason=None, came=()):
    """spam-judge: the reader gets no gradient; at the later step the loss is not finite."""
    trace = Trace(path, run_id, "spam_judge::train", step=step,
                  manifest=[("params", key) for key in READER + SCORE])
    trace.begin("update", measured=True)
    trace.begin("Judge::loss")
    trace.begin("Judge::logits")
    trace.begin("Reader::forward")
    for layer in ("words", "mix", "norm"):
        trace.begin(layer, "module")
        trace.stats("reader/%s/out" % layer)
        trace.end()
    trace.end()
    trace.begin("score", "module")
    trace.tensor("score.weight", "w", (1, 4), "parameter")
    trace.tensor("logits", "z", (2, 1))
    trace.stats("logits", (2, 1))
    trace.end(2)
    trace.op("binary_cross_entropy_with_logit", ["z"], "l", ())
    trace.tensor("loss", "l", ())
    trace.stats("loss", (), 1 if is_broken else 0)
    if reason is not None:
        trace.finish(reason)
        return
    trace.end()
    trace.begin("backward")
    for key in READER:
        trace.gradient("params", key, dict(came).get(key, "missing"))
    for key in SCORE:
        trace.gradient("params", key, "non_finite" if is_broken else "present")
    trace.finish()


def broken():
    judge("broken/calm.jsonl", "calm", 3, False)
    judge("broken/sure.jsonl", "sure", 900, True)
    # Against what the source says.
    judge("broken/against.jsonl", "against", 4, False,
          came=(("reader.mix.bias", "present"), ("reader.mix.weight", "zero")))


def failed():
    judge("failed/killed.jsonl", "killed", 4, True, "out of memory in the backward pass")
    # Two measured regions: structurally invalid.
    judge("failed/twice.jsonl", "twice", 5, False)
    path = os.path.join(HERE, "failed/twice.jsonl")
    with open(path, encoding="utf-8") as file:
        lines = file.read().replace('"span_kind":"module","measured":false',
                                    '"span_kind":"module","measured":true')
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines)


def layers():
    """An encoder of four blocks; one block is skipped, one branch of every block never runs."""
    trace = Trace("layers/infer.jsonl", "infer", "tower::infer", phase="infer")
    trace.begin("predict", measured=True)
    trace.begin("tower::Tower::forward")
    trace.begin("embed", "module")
    trace.op("embedding", ["ids"], "e")
    trace.end()
    for block in (0, 1, 3):
        trace.begin("blocks/%d" % block, "module")
        trace.begin("attn", "module")
        trace.begin("query", "module")
        trace.end(2)
        trace.span("mlp")
        trace.stats("blocks.%d.attn" % block)
        trace.end()
    trace.span("norm")
    trace.begin("head", "module")
    trace.tensor("head.weight", "hw", (5, 4), "parameter")
    trace.op("linear", ["h", "hw"], "o")
    trace.end()
    trace.span("warm_cache", "function")
    trace.finish()


def pair():
    """Two models with equal keys: roots that name them, one that names nobody."""
    keys = ["fc1.bias", "fc1.weight", "fc2.bias", "fc2.weight"]
    trace = Trace("pair/named.jsonl", "named", "duel::train",
                  manifest=[(root, key) for root in ("Judge", "maker") for key in keys])
    trace.begin("update", measured=True)
    trace.begin("Maker::make")
    trace.span("fc1")
    trace.end()
    trace.begin("forward")
    trace.end()
    trace.begin("backward")
    for key in keys:
        trace.gradient("Judge", key, "present")
    for key in keys:
        trace.gradient("maker", key, "zero" if key.startswith("fc2") else "present")
    trace.finish()
    trace = Trace("pair/nameless.jsonl", "nameless", "duel::train", step=4,
                  manifest=[("vars", key) for key in keys + ["stray.weight"]])
    trace.begin("update", measured=True)
    for key in keys:
        trace.gradient("vars", key, "missing")
    trace.gradient("vars", "stray.weight", "present")
    trace.finish()


def driver():
    """The program puts `net.` in front of every key; one operation of a branch never runs."""
    keys = ["net.body.weight", "net.body.bias", "net.out.weight", "net.out.bias"]
    trace = Trace("driver/update.jsonl", "update", "two_layer::train_step", operations="complete",
                  manifest=[("vars", key) for key in keys])
    trace.begin("update", measured=True)
    trace.begin("Net::loss")
    trace.begin("Net::forward")
    trace.tensor("net.body.weight", "bw", (8, 8), "parameter")
    trace.tensor("net.out.weight", "ow", (1, 8), "parameter")
    trace.op("linear", ["x", "bw"], "h")
    trace.op("relu", ["h"], "r")
    trace.op("sort_of_magic", ["r"], "m")
    trace.op("linear", ["r", "ow"], "o", (2, 1))
    trace.stats("net/body/out")
    trace.end()
    trace.op("mse", ["o", "y"], "l", ())
    trace.end()
    trace.begin("backward")
    for key in keys:
        trace.gradient("vars", key, "present")
    trace.finish()


def running():
    """A VarMap lists the running statistics of a batch normalisation with the parameters."""
    keys = ["conv.bias", "conv.weight", "head.bias", "head.weight", "norm.bias",
            "norm.running_mean", "norm.running_var", "norm.weight"]
    trace = Trace("running/update.jsonl", "update", "stripes::step",
                  manifest=[("vb", key) for key in keys])
    trace.begin("update", measured=True)
    trace.span("Stripes::forward", "function")
    trace.begin("backward")
    for key in keys:
        trace.gradient("vb", key, "missing" if "running" in key else "present")
    trace.finish()


def fields():
    """Spans called like the fields, which are called otherwise than the keys."""
    trace = Trace("fields/infer.jsonl", "infer", "stack::infer", phase="infer")
    trace.begin("predict", measured=True)
    trace.begin("Stack::predict")
    for block in (0, 1):
        trace.begin("blocks.%d" % block, "module")
        trace.begin("mixing", "module")
        trace.span("in_proj")
        trace.end()
        trace.stats("blocks.%d.closing/out" % block)
        trace.end()
    trace.begin("model.h.2", "module")
    trace.span("closing")
    trace.end()
    trace.span("blocks.2.mixing")
    trace.span("last")
    trace.span("first")
    trace.finish()


for make in (broken, failed, layers, pair, driver, running, fields):
    os.makedirs(os.path.join(HERE, make.__name__), exist_ok=True)
    make()
