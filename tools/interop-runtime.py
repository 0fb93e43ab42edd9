#!/usr/bin/env python3
"""interop-runtime: do we take the runtime traces that the reference takes, and say the same?

usage: interop-runtime.py OURS THEIRS CRATE [--count N] [--first SEED] [--only SEED]

OURS and THEIRS are `candle-graph` executables. N (300 without) documents and streams of lines are
made up, right ones and wrong ones, about the tensors and parameters of CRATE (its .rs files are
copied into a folder without a manifest, so that nobody runs cargo). Both programs are asked
`CRATE --query runtime --runtime-trace FILE`; they must both refuse, or both answer the same.

Where ours is meant to differ, a small model of the rules, here in Python, tells what each of the
two has to say, and both are held to it. Those differences are the rows of docs/interop.md; which
ones came up is counted. Any other difference is a line, and the exit status is then 1.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

STATES = ("present", "missing", "zero", "non_finite")
LISTS = {"tensor": "tensors", "operation": "operations", "gradient": "gradients",
         "value": "values", "edge_timing": "edge_timings"}
REQUIRED = {"tensor": "event_id shape dtype device contiguous requires_grad".split(),
            "operation": "event_id op".split(), "gradient": "event_id root key state".split(),
            "value": "event_id min max abs_max".split(),
            "edge_timing": "event_id from_static_id to_static_id duration_ns".split()}


class Raw(float):
    """A number as it is spelled."""

    def __new__(cls, text):
        self = super().__new__(cls, 0.0)
        self.text = text
        return self

    def __repr__(self):
        return self.text


def dump(value, indent=None):
    return json.dumps(value, indent=indent, separators=(",", ": ") if indent else (",", ":"))


class Maker:
    """One made-up trace."""

    def __init__(self, seed, tensors, keys, analysis):
        self.random = random.Random(seed)
        self.tensors, self.keys, self.analysis = tensors, keys, analysis
        self.count = 0
        self.records = []

    def event(self):
        self.count += 1
        return "e%d" % self.count

    def maybe(self, record, name, value, often=0.5):
        chance = self.random.random()
        if chance < often:
            record[name] = value
        elif chance > 0.95:
            record[name] = None

    def number(self):
        return self.random.choice([0, 1, 0.5, -2.5, 1e-7, 123456.75, 3, 1e20, -0.0])

    def step(self):
        return self.random.choice([0, 0, 1, 2, 3, 7, 2 ** 64 - 1])

    def tensor(self):
        pick = self.random.choice
        record = {"kind": "tensor", "event_id": self.event()}
        self.maybe(record, "static_id", pick(self.tensors + ["tensor:none:%d" % i
                                                             for i in range(3)]), 0.8)
        self.maybe(record, "source", pick(["src/lib.rs:4", "probe"]))
        self.maybe(record, "step", self.step())
        record["shape"] = pick([[], [2, 3], [2, 3], [2, 3], [4], [0, 1]])
        record["dtype"] = pick(["F32", "F32", "F32", "BF16", "weird"])
        record["device"] = pick(["cpu", "cpu", "cpu", "cuda:0", "Metal"])
        record["contiguous"] = self.random.random() < 0.9
        record["requires_grad"] = self.random.random() < 0.1
        self.maybe(record, "storage_id", "s1", 0.2)
        return record

    def operation(self):
        pick = self.random.choice
        record = {"kind": "operation", "event_id": self.event(), "op": pick(["matmul", "add"])}
        self.maybe(record, "static_id", pick(["operation:a", "operation:b"]))
        self.maybe(record, "source", "src/lib.rs:4", 0.2)
        if self.random.random() < 0.7:
            record["inputs"] = pick([[], ["x"], ["x", "y"]])
        self.maybe(record, "output", "z", 0.3)
        self.maybe(record, "step", self.step())
        self.maybe(record, "duration_ns", pick([0, 7, 4200, 10 ** 12]), 0.7)
        return record

    def gradient(self):
        pick = self.random.choice
        state = pick(STATES)
        record = {"kind": "gradient", "event_id": self.event(), "root": pick(["vb", "vb", "other"]),
                  "key": pick(self.keys), "state": state}
        self.maybe(record, "step", self.step(), 0.7)
        if state == "present" and self.random.random() < 0.8:
            record["norm"] = pick([0.5, 0.5, 2, 1e-30])
        if state == "zero" and self.random.random() < 0.6:
            record["norm"] = pick([0.0, 0.0, -0.0, 0])
        if state in ("missing", "non_finite") and self.random.random() < 0.2:
            record["norm"] = None
        return record

    def value(self):
        record = {"kind": "value", "event_id": self.event()}
        self.maybe(record, "static_id", self.random.choice(["tensor:none:1"] + self.tensors), 0.3)
        self.maybe(record, "source", self.random.choice(["a", "b", "c"]), 0.7)
        self.maybe(record, "step", self.step())
        record.update(min=self.number(), max=self.number(), abs_max=self.number())
        if self.random.random() < 0.7:
            record["nonfinite_count"] = self.random.choice([0, 0, 0, 2])
            record["saturated_count"] = self.random.choice([0, 0, 3])
        return record

    def edge_timing(self):
        record = {"kind": "edge_timing", "event_id": self.event(),
                  "from_static_id": self.random.choice("ab"),
                  "to_static_id": self.random.choice("bc"),
                  "duration_ns": self.random.choice([0, 17, 18, 2 ** 40])}
        self.maybe(record, "step", self.step(), 0.3)
        return record

    def meta(self):
        pick = self.random.choice
        run = {"entrypoint": pick(["Net::step", "", "x y"]), "profile": pick(["release", "debug"])}
        if self.random.random() < 0.5:
            run["cargo_features"] = pick([[], ["b", "a", "a"]])
        if self.random.random() < 0.5:
            run["cfg"] = ["unix"]
        self.maybe(run, "analysis_id", pick([self.analysis, self.analysis, "other"]), 0.4)
        self.maybe(run, "build_id", "candle-graph/build/1:0", 0.3)
        self.maybe(run, "phase", pick(["train", "Training", "infer", "EVAL", "evaluate",
                                       "inference", "warm-up", ""]), 0.6)
        return pick(["candle-graph/runtime/%d" % n for n in (1, 2, 3)]), run

    # --- mistakes: each makes the trace wrong, or only odd ---

    def spoil(self, record):
        """Something about one record."""
        kind = record.get("kind")
        pick = self.random.choice
        mistake = pick(("drop", "null", "type", "event", "twice", "extra", "number", "gradient",
                        "null", "bounds"))
        field = pick(REQUIRED.get(kind, ["event_id"]))
        if mistake == "drop":
            record.pop(field, None)
        elif mistake == "null":
            record[field] = None
        elif mistake == "type":
            record[field] = pick([1, "x", [], {}, True, -1, 1.5, ["x"]])
        elif mistake == "event":
            record["event_id"] = pick(["", " ", "e1"])
        elif mistake == "extra":
            record["more"] = pick([1, {"a": [1, {"b": None}]}, "x"])
        elif mistake == "number":
            name = pick(["step", "duration_ns", "nonfinite_count", "saturated_count", "norm"])
            record[name] = pick([-1, 1.0, Raw("1e3"), Raw("-0"), 2 ** 64, "1", True, Raw("1e400")])
        elif mistake == "gradient" and kind == "gradient":
            record["norm"] = pick([0.0, -0.0, 1.0, -3])
            record["state"] = pick(STATES + ("Missing", "lost"))
        elif mistake == "bounds" and kind == "value":
            record[pick(["min", "max", "abs_max"])] = None

    def spoil_text(self, lines):
        """Something about the text; lines[0] may be the meta line."""
        pick = self.random.choice
        mistake = pick(("blank", "pad", "cut", "kind", "no kind", "value", "two", "second meta",
                        "no meta", "twice", "crlf", "mark"))
        at = self.random.randrange(len(lines))
        if mistake == "blank":
            lines.insert(at, pick(["", "  ", "\t"]))
        elif mistake == "pad":
            lines[at] = " \t" + lines[at] + "  "
        elif mistake == "cut":
            lines[at] = lines[at][:self.random.randrange(len(lines[at]) + 1)]
        elif mistake == "kind":
            lines.insert(at, '{"kind":"span","event_id":"q"}')
        elif mistake == "no kind":
            lines[at] = lines[at].replace('"kind"', '"kin"')
        elif mistake == "value":
            lines.insert(at, pick(["[]", "3", "null", '"x"', "{}"]))
        elif mistake == "two":
            lines[at] = lines[at] + " " + lines[at]
        elif mistake == "second meta":
            lines.append(lines[0])
        elif mistake == "no meta":
            lines.pop(0)
        elif mistake == "twice":
            lines[at] = lines[at].replace('"event_id"', '"event_id":"x","event_id"', 1)
        elif mistake == "crlf":
            lines[:] = [line + "\r" for line in lines]
        else:
            lines[0] = "\ufeff" + lines[0]

    def make(self):
        pick = self.random.choice
        schema, run = self.meta()
        makers = [self.tensor, self.operation, self.gradient, self.gradient, self.gradient,
                  self.value, self.edge_timing]
        self.records = [pick(makers)() for _ in range(pick([0, 0, 1, 2, 3, 8, 20, 60]))]
        if self.records and self.random.random() < 0.35:
            self.spoil(pick(self.records))
        if self.random.random() < 0.05:
            schema = pick(["candle-graph/runtime/4", "", "candle-graph/trace/10", 3, None])
        if self.random.random() < 0.05:
            run[pick(["entrypoint", "profile"])] = pick([None, 1, []])
        if self.random.random() < 0.04:
            run[pick(["cargo_features", "cfg"])] = pick([None, "a", [1]])
        if self.random.random() < 0.4:
            return self.document(schema, run)
        return self.lines(schema, run)

    def document(self, schema, run):
        document = {"schema": schema, "run": run}
        for kind, name in LISTS.items():
            rows = [{k: v for k, v in r.items() if k != "kind"}
                    for r in self.records if r.get("kind") == kind]
            if rows or self.random.random() < 0.5:
                document[name] = rows
        if self.random.random() < 0.1:
            document.pop(self.random.choice(list(document)))
        if self.random.random() < 0.1:
            document["kind"] = "meta"
        if self.random.random() < 0.05:
            document[self.random.choice(list(LISTS.values()))] = None
        text = dump(document, self.random.choice([None, None, 2]))
        if self.random.random() < 0.05:
            text = text[:-self.random.randrange(1, 9)]
        if self.random.random() < 0.05:
            text += self.random.choice(["x", "{}", "\n{}", "\n" + text])
        return text + self.random.choice(["", "\n", "\n\n"])

    def lines(self, schema, run):
        lines = [dump(dict({"kind": "meta", "schema": schema}, **run))]
        lines += [dump(record) for record in self.records]
        if self.random.random() < 0.15:
            self.random.shuffle(lines)
        elif self.random.random() < 0.3:
            self.spoil_text(lines)
        return "\n".join(lines) + self.random.choice(["", "\n", "\n"])


# --- what each has to say ---


def parse(text):
    """(run, records) of a trace that was taken."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    try:
        whole = json.loads(text)
        if "schema" in whole and "run" in whole:
            records = [dict(row, kind=kind) for kind, name in LISTS.items()
                       for row in whole.get(name, [])]
            return dict(whole["run"], schema=whole["schema"]), records
    except ValueError:
        pass
    rows = [json.loads(line) for line in lines]
    return (next(row for row in rows if row["kind"] == "meta"),
            [row for row in rows if row["kind"] != "meta"])


def same_gradient(a, b):
    return a["state"] == b["state"] and a.get("norm") == b.get("norm")


def judge(facts):
    """(their class, ours, their conflict, ours, their findings, ours) of one parameter."""
    def step_of(fact):
        return -1 if fact.get("step") is None else fact["step"]
    facts = sorted(facts, key=lambda f: (step_of(f), f["event_id"].encode()))
    stepped = all(fact.get("step") is not None for fact in facts)
    agreed = facts[0] if all(same_gradient(facts[0], fact) for fact in facts) else None
    theirs = facts[-1] if stepped else agreed
    their_conflict = theirs is None
    runs = collections.OrderedDict()
    for fact in facts:
        runs.setdefault(step_of(fact), []).append(fact)
    disputed = {step for step, run in runs.items()
                if not all(same_gradient(run[0], fact) for fact in run)}
    our_conflict = bool(disputed) or (not stepped and agreed is None)
    if stepped:
        ours = None if step_of(facts[-1]) in disputed else facts[-1]
    else:
        ours = agreed
    earlier = stepped and any(run[0]["state"] == "non_finite" and step not in disputed
                              for step, run in runs.items())
    bad = ("missing", "zero", "non_finite")
    their_findings = int(theirs is not None and agreed is not None and theirs["state"] in bad)
    our_findings = int(ours is not None and ours["state"] in bad)
    if earlier and (ours is None or ours["state"] != "non_finite"):
        our_findings += 1
    return theirs, ours, their_conflict, our_conflict, their_findings, our_findings


class Wanted:
    """The fields in which the two may differ, of each."""

    def __init__(self, text, item):
        _, records = parse(text)
        self.rows = set()
        self.theirs, self.ours = {}, {}
        is_merged = item["summary"]["identity_mismatches"] == 0
        groups = collections.OrderedDict()
        for record in records:
            if record["kind"] == "gradient":
                groups.setdefault((record["root"], record["key"]), []).append(record)
        told = [judge(facts) for facts in groups.values()]
        for state in STATES[1:]:
            name = state + "_gradients"
            self.theirs[name] = sum(t[0] is not None and t[0]["state"] == state for t in told)
            self.ours[name] = sum(t[1] is not None and t[1]["state"] == state for t in told)
        self.theirs["gradient_conflicts"] = sum(t[2] for t in told)
        self.ours["gradient_conflicts"] = sum(t[3] for t in told)
        values = {(r.get("static_id"), r.get("source")): [False, False] for r in records
                  if r["kind"] == "value"}
        for record in records:
            if record["kind"] == "value":
                seen = values[(record.get("static_id"), record.get("source"))]
                seen[0] |= record.get("nonfinite_count", 0) > 0 or None in (
                    record["min"], record["max"], record["abs_max"])
                seen[1] |= record.get("saturated_count", 0) > 0
        probes = sum(a + b for a, b in values.values()) if is_merged else 0
        more = sum(t[5] - t[4] for t in told) if is_merged else 0
        conflicts = self.ours["gradient_conflicts"] - self.theirs["gradient_conflicts"]
        self.difference = more + conflicts + probes
        if probes:
            self.rows.add("values-are-findings")
        if any(t[0] is not t[1] or t[2] != t[3] for t in told):
            self.rows.add("contradictions-of-one-step")
        if is_merged and any(t[4] != t[5] for t in told):
            self.rows.add("series-are-findings")


# --- comparing ---


class Comparison:
    def __init__(self, ours, theirs, folder, crate):
        self.programs, self.folder, self.crate = (ours, theirs), folder, crate
        self.tensors, self.keys, self.analysis = self.look()

    def ask(self, program, path):
        done = subprocess.run([program, self.crate, "--query", "runtime", "--runtime-trace", path,
                               "--format", "json"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode not in (0, 1):
            return None, "exit %d: %s" % (done.returncode, done.stderr[:200])
        if done.returncode == 0:
            return json.loads(done.stdout)["items"][0], ""
        return None, done.stderr.strip()[:200]

    def look(self):
        """What both call the same in the crate."""
        found = []
        for program in self.programs:
            done = subprocess.run([program, self.crate, "--format", "json"], capture_output=True,
                                  text=True, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                sys.exit("interop-runtime: %s: %s" % (program, done.stderr))
            found.append(json.loads(done.stdout))
        tensors = [set(row["id"] for row in document["tensors"]) for document in found]
        keys = sorted({row["key"] for row in found[0]["parameters"]})
        keys = [key.replace("{i}", number) for key in keys for number in ("0", "1")]
        return sorted(tensors[0] & tensors[1])[:4], sorted(set(keys))[:6], found[0]["analysis_id"]

    def one(self, seed):
        maker = Maker(seed, self.tensors, self.keys, self.analysis)
        text = maker.make()
        path = os.path.join(self.folder, "t%d.jsonl" % seed)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        ours, why = self.ask(self.programs[0], path)
        theirs, reason = self.ask(self.programs[1], path)
        lines = [line for line in text.split("\n") if line.strip()]
        if theirs is None and ours is not None:
            return self.taken(text, lines, ours, reason)
        if ours is None and theirs is not None:
            return set(), ["seed %d: ours refuses: %s" % (seed, why)], "refused"
        if ours is None:
            return set(), [], "refused"
        wanted = Wanted(text, theirs)
        problems = []
        for name in wanted.ours:
            if ours["summary"][name] != wanted.ours[name]:
                problems.append("%s of ours is %s, want %s" % (name, ours["summary"][name],
                                                               wanted.ours[name]))
            if theirs["summary"][name] != wanted.theirs[name]:
                problems.append("%s of theirs is %s, want %s" % (name, theirs["summary"][name],
                                                                 wanted.theirs[name]))
            ours["summary"][name] = theirs["summary"][name] = None
        counts = [item.pop("gradient_finding_count") for item in (ours, theirs)]
        if counts[0] - counts[1] != wanted.difference:
            problems.append("%d findings of ours, %d of theirs, want a difference of %d"
                            % (*counts, wanted.difference))
        if ours != theirs:
            problems.append("ours %s, theirs %s" % (dump(ours), dump(theirs)))
        if dump(ours) != dump(theirs) and ours == theirs:
            problems.append("the order of fields differs")
        return wanted.rows, ["seed %d: %s" % (seed, text) for text in problems], "taken"

    @staticmethod
    def taken(text, lines, ours, reason):
        """Only ours takes it: for one of the listed reasons?"""
        if len(lines) == 1 and "\n" not in text.strip() and '"kind"' in text:
            return {"one-line-streams"}, [], "refused"
        records = parse(text)[1]
        if any(row["kind"] == "value" and None in (row["min"], row["max"], row["abs_max"])
               for row in records) and "f64" in reason:
            return {"bounds-may-be-null"}, [], "refused"
        return set(), ["ours takes what theirs refuses: %s: %s" % (reason, text[:300])], "taken"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("crate")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    tally, rows, failures = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        crate = os.path.join(folder, "crate")
        os.mkdir(crate)
        for path in glob.glob(os.path.join(options.crate, "**", "*.rs"), recursive=True):
            shutil.copy(path, crate)
        work = Comparison(os.path.abspath(options.ours), os.path.abspath(options.theirs), folder,
                          crate)
        seeds = ([options.only] if options.only is not None
                 else range(options.first, options.first + options.count))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for shown, problems, verdict in pool.map(work.one, seeds):
                rows.update(shown)
                tally[verdict] += 1
                failures += problems
    for line in failures:
        print(line)
    print("runtime: %d traces, %d taken, %d refused by the reference, %d differences, rows: %s" % (
        sum(tally.values()), tally["taken"], tally["refused"], len(failures),
        ", ".join("%s %d" % row for row in sorted(rows.items())) or "none"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
