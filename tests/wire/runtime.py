#!/usr/bin/env python3
# ctest: @CLI@
"""candle-graph/runtime: what is taken, what is refused, and what a run does to a model document.

Every file of tests/data/runtime is asked about with `query runtime`: expect.json says which fields
the summary has, or which problem is told at which line. Then runs of the crates of tests/data are
made up, and the model document, the findings and the answers are looked at.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(REPO, "tests", "data", "runtime")
CRATE = os.path.join(REPO, "tests", "data", "crates", "mlp")
META = {"kind": "meta", "schema": "candle-graph/runtime/3", "entrypoint": "Mlp::step",
        "profile": "release"}
LOSS = """use candle_core::{Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder};
pub struct Ear { drum: Linear }
impl Ear {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { drum: linear(4, 4, vb.pp("drum"))? })
    }
    pub fn loss(&self, xs: &Tensor) -> Result<Tensor> {
        let level = self.drum.forward(xs)?.relu()?.log()?;
        level.mean_all()
    }
}
"""


class Failed(Exception):
    pass


def need(fact, *text):
    if not fact:
        raise Failed(" ".join(str(part) for part in text))


class Program:
    def __init__(self, path, folder):
        self.path, self.folder, self.count = path, folder, 0

    def run(self, *argv):
        return subprocess.run([self.path, *argv], capture_output=True, check=False)

    def json(self, *argv, code=0):
        done = self.run(*argv)
        need(done.returncode == code, argv, "exit", done.returncode, done.stderr.decode())
        return json.loads(done.stdout)

    def trace(self, records, meta=None):
        """A trace of lines with these records; those without an event id get one."""
        self.count += 1
        path = os.path.join(self.folder, "trace%d.jsonl" % self.count)
        with open(path, "w", encoding="utf-8") as file:
            for number, record in enumerate([dict(META, **(meta or {}))] + records):
                if record.get("kind") != "meta":
                    record = dict({"event_id": "e%d" % number}, **record)
                file.write(json.dumps(record) + "\n")
        return path

    def report(self, records, meta=None, crate=CRATE):
        return self.json("report", crate, "--runtime-trace", self.trace(records, meta),
                         "--format", "json")


def gradient(key, state, step=None, norm=None, root="vb"):
    record = {"kind": "gradient", "root": root, "key": key, "state": state}
    if step is not None:
        record["step"] = step
    if norm is not None:
        record["norm"] = norm
    return record


def tensor(static_id, **more):
    return dict({"kind": "tensor", "static_id": static_id, "shape": [2, 3], "dtype": "F32",
                 "device": "cpu", "contiguous": True, "requires_grad": False}, **more)


def value(**more):
    return dict({"kind": "value", "min": -1.0, "max": 2.0, "abs_max": 2.0}, **more)


def by_id(document, part, key):
    found = [row for row in document[part] if row["id"] == key]
    need(len(found) == 1, part, key, "stands", len(found), "times")
    return found[0]


def findings(document, rule):
    return [row for row in document["findings"] if row["rule"] == rule]


def runtime_evidence(record):
    return [row for row in record["evidence"] if row["kind"] == "runtime"]


# --- files ---


def check_refused(program, name, want, done):
    text = done.stderr.decode()
    need(done.returncode == 1, "exit", done.returncode, text)
    need(done.stdout == b"", "something on standard output")
    need(text.count("\n") == 1, "more than one line:", text)
    need("error[%s]" % want["problem"] in text, "want", want["problem"], "got", text)
    if want["line"] is not None:
        need(re.search(re.escape(name) + ":%d[: ]" % want["line"], text), "line of", text)


def check_accepted(want, done):
    need(done.returncode == 0, "exit", done.returncode, done.stderr.decode())
    answer = json.loads(done.stdout)
    item = answer["items"][0]
    need(answer["total"] == 1 and item["id"] == "runtime", "one item")
    for key, expected in want["summary"].items():
        need(item["summary"].get(key) == expected, key, "is", item["summary"].get(key))


def every_file_is_taken_or_refused(program):
    with open(os.path.join(DATA, "expect.json"), encoding="utf-8") as file:
        expect = json.load(file)
    need(sorted(expect) == sorted(set(os.listdir(DATA)) - {"expect.json"}), "files and expect.json")
    for name, want in sorted(expect.items()):
        done = program.run("query", "runtime", "--path", CRATE, "--runtime-trace",
                           os.path.join(DATA, name), "--format", "json")
        try:
            if "problem" in want:
                check_refused(program, name, want, done)
            else:
                check_accepted(want, done)
        except Failed as failed:
            raise Failed("%s: %s" % (name, failed)) from None


def a_refused_trace_costs_no_scan(program):
    for argv in (["check", CRATE], ["report", CRATE], ["audit", program.folder + "/out", CRATE],
                 ["view", CRATE, "-o", program.folder + "/p.html"], ["profile", CRATE]):
        done = program.run(*argv, "--runtime-trace", os.path.join(DATA, "second_meta.jsonl"))
        need(done.returncode == 1 and b"runtime-meta" in done.stderr, argv, done.stderr.decode())
    need(not os.path.exists(program.folder + "/out"), "an audit was begun")


# --- tensors ---


def agreed_observations_replace_facts(program):
    plain = program.json("report", CRATE, "--format", "json")
    target = next(t for t in plain["tensors"] if t["dtype"] == "Unknown")
    key = target["id"]
    for text, device in (("cpu", "cpu"), ("CPU", "cpu"), ("cuda", {"cuda": {"ordinal": None}}),
                         ("cuda:3", {"cuda": {"ordinal": 3}}), ("metal:0", "metal"),
                         ("Cuda(CudaDevice(1))", {"cuda": {"ordinal": 1}}), (" cpu", "unknown"),
                         ("npu", "unknown")):
        document = program.report([tensor(key, device=text, event_id="b", source="probe.rs:1"),
                                   tensor(key, device=text, event_id="a", step=4)])
        found = by_id(document, "tensors", key)
        need(found["device"] == device, text, "became", found["device"])
    need(found["shape"]["rank"] == 2 and found["dtype"] == "F32", "shape and dtype", found)
    need(found["shape"]["dimensions"] == [{"name": None, "expr": "2"}, {"name": None, "expr": "3"}],
         "dimensions", found["shape"])
    need(found["shape"]["source_expr"] == target["shape"]["source_expr"], "source_expr")
    need(found["layout"] == "contiguous" and found["requires_grad"] is False, "layout, gradient")
    last = runtime_evidence(found)
    need(len(last) == 1 and last[0]["confidence"] == "proven", "one entry of evidence", last)
    need("agreed runtime observation a" in last[0]["detail"], "the first event", last)
    need(document["coverage"]["tensors_with_dtype"] == plain["coverage"]["tensors_with_dtype"] + 1,
         "coverage")
    need(document["coverage"]["runtime_observations"] == 2, "observations are counted")


def observations_that_differ_stay_unknown(program):
    plain = program.json("report", CRATE, "--format", "json")
    target = plain["tensors"][0]
    changes = {"dtype": "F16", "device": "cuda:0", "shape": [2, 4], "contiguous": False,
               "requires_grad": True}
    for field, other in changes.items():
        document = program.report([tensor(target["id"]), tensor(target["id"], **{field: other}),
                                   tensor(target["id"])])
        told = findings(document, "runtime-tensor-conflict")
        need(len(told) == 1 and told[0]["severity"] == "error", field, told)
        need(told[0]["confidence"] == "unknown" and told[0]["related"] == [target["id"]], field)
        found = by_id(document, "tensors", target["id"])
        for part in ("shape", "dtype", "device", "layout", "requires_grad"):
            need(found[part] == target[part], part, "was refined")
        need([row["confidence"] for row in runtime_evidence(found)] == ["unknown"], "evidence")
        need(document["runtime"]["tensor_conflicts"] == 1, "one conflict")
    document = program.report([tensor(target["id"]), tensor(target["id"], **changes)])
    told = sorted(row["message"] for row in findings(document, "runtime-tensor-conflict"))
    need(len(told) == 5 and document["runtime"]["tensor_conflicts"] == 5, "five conflicts", told)
    need(any("[2, 3], [2, 4]" in text for text in told), "values in order", told)
    need(any("F16, F32" in text for text in told), "values in order", told)
    done = program.run("check", CRATE, "--strict", "--runtime-trace",
                       program.trace([tensor("x"), tensor("x", dtype="F16")]))
    need(done.returncode == 0, "a conflict is no proof", done.stderr)


def what_the_model_lacks_is_counted(program):
    document = program.report([tensor("tensor:a"), tensor("tensor:a"), tensor("tensor:b"),
                               tensor("tensor:c"), tensor("tensor:c", dtype="F16"),
                               dict(tensor("x"), static_id=None)])
    told = findings(document, "runtime-unmapped")
    need(len(told) == 1 and told[0]["message"].startswith("2 tensors"), told)
    need((told[0]["severity"], told[0]["confidence"]) == ("information", "unknown"), told)


# --- gradients ---


def classes(document):
    run = document["runtime"]
    return (run["missing_gradients"], run["zero_gradients"], run["non_finite_gradients"],
            run["gradient_conflicts"])


def gradients_are_classified_by_step(program):
    p, m, z, n = "present", "missing", "zero", "non_finite"
    cases = [
        # observations (state, step, norm), classes, severities of runtime-gradient findings
        ([(p, None, 1.0)], (0, 0, 0, 0), []),
        ([(m, None, None), (m, None, None)], (1, 0, 0, 0), ["warning"]),
        ([(p, None, 1.0), (p, None, 2.0)], (0, 0, 0, 1), []),
        ([(p, None, 1.0), (p, None, None)], (0, 0, 0, 1), []),
        ([(p, None, 1.0), (m, None, None)], (0, 0, 0, 1), []),
        ([(p, 0, 1.0), (p, 1, 2.0)], (0, 0, 0, 0), []),
        ([(p, 0, 1.0), (m, 1, None)], (1, 0, 0, 0), ["warning"]),
        ([(m, 0, None), (p, 1, 1.0)], (0, 0, 0, 0), []),
        ([(z, 7, 0.0), (p, 3, 1.0)], (0, 1, 0, 0), ["warning"]),
        ([(p, 0, 1.0), (n, 1, None)], (0, 0, 1, 0), ["error"]),
        ([(n, 0, None), (n, 1, None)], (0, 0, 1, 0), ["error"]),
        # an earlier step that was not finite is told, whatever came later
        ([(n, 0, None), (p, 1, 1.0)], (0, 0, 0, 0), ["error"]),
        ([(n, 0, None), (m, 1, None)], (1, 0, 0, 0), ["error", "warning"]),
        # contradictions within a step
        ([(p, 2, 1.0), (m, 2, None)], (0, 0, 0, 1), []),
        ([(p, 2, 1.0), (p, 2, 1.0)], (0, 0, 0, 0), []),
        ([(p, 0, 1.0), (m, 0, None), (p, 1, 1.0)], (0, 0, 0, 1), []),
        ([(p, 0, 1.0), (m, 0, None), (z, 1, 0.0)], (0, 1, 0, 1), ["warning"]),
        # a fact without a step could be of any
        ([(p, None, 1.0), (p, 3, 1.0)], (0, 0, 0, 0), []),
        ([(m, None, None), (m, 3, None)], (1, 0, 0, 0), ["warning"]),
        ([(p, None, 1.0), (p, 3, 2.0)], (0, 0, 0, 1), []),
        ([(n, None, None), (p, 3, 2.0)], (0, 0, 0, 1), []),
    ]
    for observations, want, severities in cases:
        for order in (observations, observations[::-1]):
            document = program.report([gradient("input.weight", *row) for row in order])
            need(classes(document) == want, order, "gave", classes(document), "want", want)
            told = findings(document, "runtime-gradient")
            need(sorted(row["severity"] for row in told) == severities, order, told)
            need(all(row["confidence"] == "proven" for row in told), told)
            need(len(findings(document, "runtime-gradient-conflict")) == want[3], order)
            asked = program.json("query", "runtime", "--path", CRATE, "--runtime-trace",
                                 program.trace([gradient("input.weight", *row) for row in order]),
                                 "--format", "json")["items"][0]
            need(asked["gradient_finding_count"] == len(severities) + want[3], order, asked)


def steps_that_are_not_finite_are_remembered(program):
    document = program.report([gradient("a", "non_finite", 9), gradient("b", "non_finite", 4),
                               gradient("b", "present", 5, 1.0), gradient("c", "non_finite")])
    need(document["runtime"]["first_non_finite_step"] == 4, document["runtime"])
    document = program.report([gradient("c", "non_finite")])
    need("first_non_finite_step" not in document["runtime"], "no step, no first step")


def findings_name_the_parameter(program):
    document = program.report([gradient("input.weight", "missing", 1),
                               gradient("nobody.weight", "missing", 1),
                               gradient("input.weight", "zero", 1, 0.0, root="other")])
    told = findings(document, "runtime-gradient")
    need(len(told) == 3, told)
    ours = [row for row in told if row["keys"] == {"vb": ["input.weight"]}]
    parameter = next(p for p in document["parameters"]
                     if p["key"] == "input.weight" and p["builder_root"] == "vb")
    need(len(ours) == 1 and ours[0]["related"] == [parameter["id"]], ours)
    need(all(row["related"] == [] for row in told if row not in ours), "no other parameter")
    entry = runtime_evidence(parameter)
    need(len(entry) == 1 and "missing at step 1" in entry[0]["detail"], entry)
    need(parameter["certainty"] == "certain", "certainty stays")
    done = program.run("check", CRATE, "--runtime-trace",
                       program.trace([gradient("input.weight", "non_finite", 1)]))
    need(done.returncode == 1, "a gradient that is not finite fails a check")
    done = program.run("check", CRATE, "--deny", "runtime", "--runtime-trace",
                       program.trace([gradient("input.weight", "missing", 1)]))
    need(done.returncode == 1, "a denied rule fails a check")


def layer_numbers_meet_their_family(program):
    keys = ["blocks.0.norm.weight", "blocks.7.norm.weight", "blocks.00.norm.weight",
            "blocks.x.norm.weight", "blocks.1.norm.weight.extra", "blocks..norm.weight",
            "blocks.12.up.weight"]
    document = program.report([gradient(key, "present", 0, 1.0) for key in keys])
    family = next(p for p in document["parameters"] if p["key"] == "blocks.{i}.norm.weight")
    details = [row["detail"] for row in runtime_evidence(family)]
    need(len(details) == 2, details)
    need("blocks.0.norm.weight" in details[0] and "blocks.7.norm.weight" in details[1], details)
    other = next(p for p in document["parameters"] if p["key"] == "blocks.{i}.up.weight")
    need(len(runtime_evidence(other)) == 1, "the other family")
    document = program.report([gradient("blocks.3.norm.bias", "missing", 0)])
    family = next(p for p in document["parameters"] if p["key"] == "blocks.{i}.norm.bias")
    told = findings(document, "runtime-gradient")
    need(told[0]["related"] == [family["id"]], told)
    need(told[0]["keys"] == {"vb": ["blocks.3.norm.bias"]}, told)


# --- operations, edges, values ---


def durations_become_a_timing(program):
    plain = program.json("report", CRATE, "--format", "json")
    one, two = [row["id"] for row in plain["operations"] if row["execution_phase"] == "infer"][:2]
    records = [{"kind": "operation", "op": "matmul", "static_id": one, "duration_ns": ns}
               for ns in (10, 20, 45)]
    records += [{"kind": "operation", "op": "matmul", "static_id": one},
                {"kind": "operation", "op": "add", "static_id": two, "duration_ns": 1000},
                {"kind": "operation", "op": "add", "static_id": "operation:none", "duration_ns": 5},
                {"kind": "edge_timing", "from_static_id": one, "to_static_id": two,
                 "duration_ns": 7}]
    trace = program.trace(records, {"phase": "infer"})
    document = program.json("report", CRATE, "--runtime-trace", trace, "--format", "json")
    found = by_id(document, "operations", one)
    need(found["timing"] == {"samples": 3, "avg_ns": 25, "min_ns": 10, "max_ns": 45}, found)
    need(len(runtime_evidence(found)) == 4, "every observation is evidence")
    need("timing" not in by_id(document, "operations", plain["operations"][-1]["id"]), "no other")
    need(document["runtime"]["avg_operation_duration_ns"] == 216, document["runtime"])
    for argv in (["query", "profile", "--path", CRATE], ["profile", CRATE],
                 ["profile", "--path", CRATE]):
        item = program.json(*argv, "--runtime-trace", trace, "--format", "json")["items"][0]
        need([row["id"] for row in item["slowest_operations"]] == [two, one], item)
        need(item["slowest_operations"][0]["phase"] == "infer", item)
        need(item["runtime"] == document["runtime"], "the summary")
        need([row["kind"] for row in item["drill_down"]] == ["graph-train", "graph-infer",
                                                             "runtime"], item)
    graph = program.json("query", "graph-infer", "--path", CRATE, "--runtime-trace", trace,
                         "--format", "json")["items"][0]
    timed = {row["id"]: row["timing"] for row in graph["operations"] if row["timing"]}
    need(sorted(timed) == sorted([one, two]) and timed[one] == found["timing"], timed)
    text = program.run("profile", CRATE, "--runtime-trace", trace, "--format", "text").stdout
    need(text.decode().index(by_id(plain, "operations", two)["name"])
         < text.decode().index("45 ns"), "slowest first", text.decode())
    need("1 of 3 ids are not in this model" in text.decode(), text.decode())
    item = program.json("query", "profile", "--path", CRATE, "--format", "json")["items"][0]
    need(item["slowest_operations"] == [] and item["runtime"] is None, "without a trace", item)


def many_observations_are_summed_up(program):
    plain = program.json("report", CRATE, "--format", "json")
    one = plain["operations"][0]["id"]
    document = program.report([{"kind": "operation", "op": "x", "static_id": one,
                                "duration_ns": i} for i in range(1100)])
    entries = runtime_evidence(by_id(document, "operations", one))
    need(len(entries) == 1001 and "100 more" in entries[-1]["detail"], len(entries), entries[-1])
    need(by_id(document, "operations", one)["timing"]["samples"] == 1100, "all are timed")


def values_are_told_at_their_tensor(program):
    plain = program.json("report", CRATE, "--format", "json")
    operation = plain["operations"][0]
    output = operation["output"]
    for probe in ({"static_id": output}, {"static_id": operation["id"]},
                  {"source": operation["source"]}):
        document = program.report([value(min=-2, saturated_count=5, step=3, **probe),
                                   value(max=9, nonfinite_count=2, step=6, **probe),
                                   value(nonfinite_count=1, step=8, **probe)])
        told = findings(document, "runtime-nonfinite-value")
        need(len(told) == 1 and told[0]["severity"] == "warning", probe, told)
        need("3 values" in told[0]["message"] and "step 6" in told[0]["message"], told)
        need(told[0]["confidence"] == "proven", told)
        if "static_id" in probe:
            need(output in told[0]["related"], told)
            entry = runtime_evidence(by_id(document, "tensors", output))
            need(len(entry) == 1 and "from -2.0 to 9.0" in entry[0]["detail"], entry)
        told = findings(document, "runtime-saturation")
        need(len(told) == 1 and told[0]["severity"] == "information", told)
        need("5 saturated values" in told[0]["message"] and "step 3" in told[0]["message"], told)
    document = program.report([value(static_id=output, max=None)])
    told = findings(document, "runtime-nonfinite-value")
    need(len(told) == 1 and "no finite bound" in told[0]["message"], told)
    document = program.report([value(static_id=output)])
    need(not findings(document, "runtime-nonfinite-value"), "nothing was wrong")


def values_confirm_a_numeric_finding(program):
    crate = os.path.join(program.folder, "ear")
    os.makedirs(crate)
    with open(os.path.join(crate, "lib.rs"), "w", encoding="utf-8") as file:
        file.write(LOSS)
    plain = program.json("report", crate, "--format", "json")
    hazard = [row for row in plain["findings"] if row["rule"] == "numeric-domain-violation"]
    need(len(hazard) >= 1, "the crate has a hazard")
    document = program.report([value(source=hazard[0]["source"], nonfinite_count=1, step=2)],
                              crate=crate)
    told = findings(document, "runtime-nonfinite-value")
    need(hazard[0]["id"] in told[0]["related"], told)
    confirmed = by_id(document, "findings", hazard[0]["id"])
    entry = runtime_evidence(confirmed)
    need(len(entry) == 1 and "confirmed by the run" in entry[0]["detail"], confirmed)
    need(confirmed["confidence"] == hazard[0]["confidence"], "a run makes nothing universal")
    need(confirmed["severity"] == hazard[0]["severity"], "severity stays")


# --- identity ---


def another_identity_merges_nothing(program):
    plain = program.json("report", CRATE, "--format", "json")
    target = plain["tensors"][0]
    records = [tensor(target["id"]), gradient("input.weight", "missing", 1),
               tensor("x"), tensor("y"), tensor("y", dtype="F16"),
               gradient("head.weight", "present", 1, 1.0), gradient("head.weight", "zero", 1),
               value(source="a", nonfinite_count=1),
               {"kind": "operation", "op": "x", "static_id": plain["operations"][0]["id"],
                "duration_ns": 4}]
    own = {"analysis_id": plain["analysis_id"], "build_id": plain["cargo"]["build_id"]}
    for meta, count in ((dict(own, analysis_id="other"), 1), (dict(own, build_id="other"), 1),
                        ({"analysis_id": "a", "build_id": "b"}, 2)):
        document = program.report(records, meta)
        told = findings(document, "runtime-identity")
        need(len(told) == count and document["runtime"]["identity_mismatches"] == count, told)
        need(all((row["severity"], row["confidence"]) == ("error", "unknown") for row in told), told)
        need(all("other" in row["message"] or "observed " in row["message"] for row in told), told)
        rules = {row["rule"] for row in document["findings"] if row["rule"].startswith("runtime-")}
        need(rules == {"runtime-identity", "runtime-tensor-conflict", "runtime-gradient-conflict"},
             rules)
        need(by_id(document, "tensors", target["id"]) == target, "a tensor was refined")
        need(document["operations"] == plain["operations"], "an operation was refined")
        need(document["parameters"] == plain["parameters"], "a parameter was refined")
        need(document["runtime"]["missing_gradients"] == 1, "the summary is there all the same")
        need(document["coverage"]["runtime_observations"] == len(records), "and the count")
    for meta in (own, {"analysis_id": own["analysis_id"]}, {}):
        document = program.report(records, meta)
        need(not findings(document, "runtime-identity"), meta)
        need(by_id(document, "tensors", target["id"]) != target, "nothing was refined")
    done = program.run("check", CRATE, "--strict", "--runtime-trace",
                       program.trace(records[:1], {"build_id": "other"}))
    need(done.returncode == 0, "an identity never fails a gate")


# --- where it goes ---


def every_command_has_the_run(program):
    trace = program.trace([gradient("input.weight", "missing", 1), value(source="a",
                                                                         saturated_count=1)])
    plain = program.json("query", "doctor", "--path", CRATE, "--format", "json")["items"][0]
    need(plain["trust"]["runtime_evidence"] is False, "no run")
    item = program.json("query", "doctor", "--path", CRATE, "--runtime-trace", trace,
                        "--format", "json")["items"][0]
    need(item["trust"]["runtime_evidence"] is True, item["trust"])
    item = program.json("query", "model-improvement", "--path", CRATE, "--runtime-trace", trace,
                        "--format", "json")["items"][0]
    need(item["gradient_gaps"] == {"first_non_finite_step": None, "missing": 1, "non_finite": 0,
                                   "saturating_activations": 1, "value_observations": 1,
                                   "zero": 0}, item["gradient_gaps"])
    out = os.path.join(program.folder, "audit")
    done = program.run("audit", out, CRATE, "--runtime-trace", trace)
    need(done.returncode == 0, done.stderr.decode())
    with open(os.path.join(out, "runtime.json"), encoding="utf-8") as file:
        answer = json.load(file)
    need(answer == program.json("query", "runtime", "--path", CRATE, "--runtime-trace", trace,
                                "--format", "json"), "runtime.json is the answer")
    with open(os.path.join(out, "model-ir.json"), encoding="utf-8") as file:
        document = json.load(file)
    need(document["runtime"]["missing_gradients"] == 1, "the document of the audit")
    if os.path.exists(os.path.join(out, "model.html")):
        with open(os.path.join(out, "model.html"), encoding="utf-8") as file:
            page = file.read()
        island = re.search(r'id="cg-payload" type="application/json">(.*?)</script>', page, re.S)
        need(json.loads(island.group(1))["runtime"]["missing_gradients"] == 1, "the page")
    done = program.run("audit", os.path.join(program.folder, "plain"), CRATE)
    need(not os.path.exists(os.path.join(program.folder, "plain", "runtime.json")), "no run")


def an_audit_cuts_nothing(program):
    trace = program.trace([gradient("lost.%d" % i, "missing", 1) for i in range(250)])
    out = os.path.join(program.folder, "long")
    need(program.run("audit", out, CRATE, "--runtime-trace", trace).returncode == 0, "audit")
    with open(os.path.join(out, "findings.json"), encoding="utf-8") as file:
        answer = json.load(file)
    need(answer["truncated"] is False and len(answer["items"]) >= 250, answer["returned"])


def a_cached_scan_knows_nothing_of_runs(program):
    env = dict(os.environ, CANDLE_GRAPH_CACHE_DIR=os.path.join(program.folder, "cache"))
    trace = program.trace([gradient("input.weight", "missing", 1)])
    answers = []
    for more in ([], ["--runtime-trace", trace], [], ["--runtime-trace", trace]):
        done = subprocess.run([program.path, "report", CRATE, "--cache", "--format", "json", *more],
                              capture_output=True, check=True, env=env)
        answers.append(done.stdout)
    need(answers[0] == answers[2] and answers[1] == answers[3], "the cache changed an answer")
    need(json.loads(answers[0])["runtime"] is None, "no run")
    need(json.loads(answers[3])["runtime"]["missing_gradients"] == 1, "the run")
    need(answers[1] == program.run("report", CRATE, "--format", "json", "--runtime-trace",
                                   trace).stdout, "as without a cache")


def what_a_run_found_can_be_allowed(program):
    crate = os.path.join(program.folder, "allowing")
    os.makedirs(os.path.join(crate, "src"))
    with open(os.path.join(crate, "Cargo.toml"), "w", encoding="utf-8") as file:
        file.write('[package]\nname = "ear"\nversion = "0.1.0"\nedition = "2021"\n'
                   '[dependencies]\ncandle-nn = "0.11"\n')
    with open(os.path.join(crate, "src", "lib.rs"), "w", encoding="utf-8") as file:
        file.write(LOSS)
    with open(os.path.join(crate, "candle-graph.toml"), "w", encoding="utf-8") as file:
        file.write('[levels]\nruntime-gradient = "allow"\n')
    plain = program.json("report", crate, "--format", "json")
    need(not findings(plain, "unused-suppression"), "no run: nothing to allow")
    document = program.report([gradient("drum.weight", "missing", 1)], crate=crate)
    need(not findings(document, "runtime-gradient"), "allowed")
    document = program.report([value(source="a", saturated_count=1)], crate=crate)
    need(len(findings(document, "unused-suppression")) == 1, "allowed for nothing")


def a_baseline_has_what_a_run_found(program):
    path = os.path.join(program.folder, "baseline")
    trace = program.trace([gradient("input.weight", "missing", 1)])
    program.run("report", CRATE, "--update-baseline", path, "--runtime-trace", trace)
    with open(path, encoding="utf-8") as file:
        need("finding\truntime-gradient\twarning\n" in file.read(), "in the fingerprint")
    done = program.run("report", CRATE, "--check", path)
    need(done.returncode == 1, "without the run the baseline differs")


def text_answers_first(program):
    trace = program.trace([gradient("blocks.%d.norm.%s" % (i, leaf), "missing", step)
                           for step in (0, 1) for i in (0, 1) for leaf in ("weight", "bias")]
                          + [gradient("head.weight", "present", step, 1.0) for step in (0, 1)])
    text = program.run("query", "runtime", "--path", CRATE, "--runtime-trace", trace, "--format",
                       "text").stdout.decode()
    lines = text.splitlines()
    need(lines[0] == "of 5 parameters: 4 never moved, 1 moved", text)
    need(lines[2] == "never moved (4):", text)
    need(lines[3].split() == "vb:blocks.0.norm bias missing, weight missing".split(), text)
    need(text.index("never moved (4)") < text.index("moved (1)"), text)
    need("query findings --select runtime-" in text, "what to ask next")
    text = program.run("query", "runtime", "--path", CRATE, "--format", "text").stdout.decode()
    need("--runtime-trace" in text, "what to give", text)
    long = program.trace([gradient("m.%d.w" % i, "missing") for i in range(300)])
    text = program.run("query", "runtime", "--path", CRATE, "--runtime-trace", long, "--format",
                       "text", "--rows", "5").stdout.decode()
    need("... and 295 more in 295 modules" in text, text)


def names_are_safe_for_a_terminal(program):
    trace = program.trace([gradient("a\u001b[31m.w\u202e", "missing"),
                           {"kind": "operation", "op": "\u009b0m", "static_id": "x\n",
                            "duration_ns": 1},
                           {"kind": "edge_timing", "from_static_id": "\u001b]0;", "to_static_id": "b",
                            "duration_ns": 1}], {"entrypoint": "\u001b[0m"})
    for argv in (["query", "runtime", "--path", CRATE], ["profile", CRATE], ["check", CRATE]):
        done = program.run(*argv, "--runtime-trace", trace,
                           *(["--format", "text"] if argv[0] != "check" else []))
        for bad in ("\u001b", "\u009b", "\u202e"):
            need(bad not in done.stdout.decode(), argv, repr(bad))


def main():
    failed = 0
    tests = [every_file_is_taken_or_refused, a_refused_trace_costs_no_scan,
             agreed_observations_replace_facts, observations_that_differ_stay_unknown,
             what_the_model_lacks_is_counted, gradients_are_classified_by_step,
             steps_that_are_not_finite_are_remembered, findings_name_the_parameter,
             layer_numbers_meet_their_family, durations_become_a_timing,
             many_observations_are_summed_up, values_are_told_at_their_tensor,
             values_confirm_a_numeric_finding, another_identity_merges_nothing,
             every_command_has_the_run, an_audit_cuts_nothing,
             a_cached_scan_knows_nothing_of_runs, what_a_run_found_can_be_allowed,
             a_baseline_has_what_a_run_found, text_answers_first, names_are_safe_for_a_terminal]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Program(sys.argv[1], folder))
                print("ok %s" % test.__name__)
            except Failed as why:
                failed += 1
                print("FAILED %s: %s" % (test.__name__, why))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
