"""growth - n, 2n, 4n and 8n of many shapes: how CPU time and peak memory grow."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys

from campaign import Campaign

TIME, MEMORY = 2.3, 2.2  # at most, for each doubling
ENOUGH = 0.06            # seconds that n has to cost, so that the clock can tell
TRIES = 3                # of each size in each round; the least counts
ROUNDS = 4               # until the ratios are within their bounds
LARGEST = 1 << 21        # n is not doubled beyond


def put(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def rust(text):
    """A shape of source: text of n; the crate is looked through by check."""
    def make(place, folder, n):
        put(folder, "c/Cargo.toml", '[package]\nname = "c"\nversion = "1.0.0"\n'
                                    'edition = "2021"\n')
        put(folder, "c/src/lib.rs", text(n))
        return ["check", os.path.join(folder, "c")]
    return make


def trace(shape):
    def make(place, folder, n):
        path = os.path.join(folder, "trace.jsonl")
        subprocess.run([sys.executable, place.at("tools", "make-shapes"), shape, str(n), "-o",
                        path], check=True)
        return ["import", path]
    return make


def line(**fields):
    return json.dumps(fields) + "\n"


def meta():
    return line(kind="meta", schema="candle-graph/trace/10", run_id="r", correlation_id="r/1",
                entrypoint="e", phase="infer", timestamp="2031-02-03T04:05:06.000Z",
                capture_step=3, warmup_steps=2, device="cpu",
                measured_region_device_synchronized=False, timing_mode="host",
                capture_contract={"measurement_scope": "production_equivalent",
                                  "operations": "none", "tensors": "none", "gradients": "none",
                                  "logical_memory": "none", "physical_memory": "none",
                                  "device_timing": "none", "required_semantic_labels": []},
                tags={})


def same_id_twice(place, folder, n):
    """The last of n spans has the id of the first: refused, after all of them were read."""
    text = [meta(), line(kind="span_start", id="r", name="r", start_ns=0, span_kind="function")]
    for i in list(range(n)) + [0]:
        text.append('{"kind":"span_start","id":"s%d","parent_id":"r","name":"x","start_ns":%d,'
                    '"span_kind":"function"}\n{"kind":"span_end","id":"s%d","duration_ns":1}\n'
                    % (i, i, i))
    return ["import", put(folder, "trace.jsonl", "".join(text))]


def one_storage(place, folder, n):
    """One storage that lives n times."""
    text = [meta(), line(kind="span_start", id="r", name="r", start_ns=0, span_kind="function"),
            line(kind="span_start", id="m", parent_id="r", name="m", start_ns=0,
                 span_kind="function", measured=True)]
    for i in range(n):
        for word in ("alloc", "free"):
            text.append('{"kind":"memory","timestamp_ns":%d,"storage_id":"m","tensor_id":"t",'
                        '"span_id":"m","device":"cpu","bytes":64,"action":"%s","shape":[4,4],'
                        '"dtype":"f32","category":"activation"}\n' % (2 * i + 1, word))
    text += [line(kind="span_end", id="m", duration_ns=2 * n + 1),
             line(kind="span_end", id="r", duration_ns=2 * n + 1),
             line(kind="terminal", outcome="complete", timestamp_ns=2 * n + 1)]
    return ["import", put(folder, "trace.jsonl", "".join(text))]


def all_names(place, folder, n):
    """n spans, each with a name of its own."""
    text = [meta(), line(kind="span_start", id="r", name="r", start_ns=0, span_kind="function"),
            line(kind="span_start", id="m", parent_id="r", name="m", start_ns=0,
                 span_kind="function", measured=True)]
    for i in range(n):
        text.append('{"kind":"span_start","id":"s%d","parent_id":"m","name":"part/%d/of/all",'
                    '"start_ns":%d,"span_kind":"module"}\n'
                    '{"kind":"span_end","id":"s%d","duration_ns":1}\n' % (i, i, i, i))
    text += [line(kind="span_end", id="m", duration_ns=n), line(kind="span_end", id="r",
                                                                duration_ns=n),
             line(kind="terminal", outcome="complete", timestamp_ns=n)]
    return ["import", put(folder, "trace.jsonl", "".join(text))]


def many_files(place, folder, n):
    put(folder, "c/Cargo.toml", '[package]\nname = "c"\nversion = "1.0.0"\nedition = "2021"\n')
    put(folder, "c/src/lib.rs", "".join("mod m%d;\n" % i for i in range(n)))
    for i in range(n):
        put(folder, "c/src/m%d.rs" % i, "pub fn f%d() -> u32 { %d }\n" % (i, i))
    return ["check", os.path.join(folder, "c")]


def bundle_files(place, folder, n):
    """A bundle with n files of Nsight."""
    for i in range(n):
        put(folder, "n/notes-%d.txt" % i, "x\n")
        put(folder, "n/r%d_cuda_gpu_kern_sum.csv" % i,
            "Total Time (ns),Instances,Name\n500,2,gemm\n")
    subprocess.run([place.cli("release"), "report", place.at("tests/data/traces/base.jsonl"),
                    "--nsight-dir", os.path.join(folder, "n"), "--bundle",
                    os.path.join(folder, "b")], check=True, capture_output=True)
    return ["verify", os.path.join(folder, "b")]


def table_rows(place, folder, n):
    rows = "".join("%d,%d,kernel_%d\n" % (500 + i, 2, i) for i in range(n))
    put(folder, "n/r_cuda_gpu_kern_sum.csv", "Total Time (ns),Instances,Name\n" + rows)
    return ["view", place.at("tests/data/traces/base.jsonl"), "--nsight-dir",
            os.path.join(folder, "n"), "--output", os.path.join(folder, "p.html")]


def checkpoint(place, folder, n):
    """n tensors of no bytes, asked about with a crate that has none of them."""
    header = json.dumps({"layer.%d.weight" % i: {"dtype": "F32", "shape": [0],
                                                 "data_offsets": [0, 0]} for i in range(n)})
    path = os.path.join(folder, "c.safetensors")
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header.encode())
    return ["check", place.at("tests/data/crates/mlp"), "--checkpoint", path]


def runtime(place, folder, n):
    path = os.path.join(folder, "run.jsonl")
    text = [line(kind="meta", schema="candle-graph/runtime-trace/3", run_id="r")]
    for i in range(n):
        text.append('{"kind":"gradient","parameter":"layer.%d.weight","step":%d,'
                    '"status":"present","norm":0.5}\n' % (i % 97, i // 97))
    put(folder, "run.jsonl", "".join(text))
    return ["query", "runtime", place.at("tests/data/crates/mlp"), "--runtime-trace", path]


def functions(n):
    return "".join("pub fn f%d(x: u32) -> u32 { f%d(x) + 1 }\n" % (i, max(0, i - 1))
                   for i in range(n))


SHAPES = {
    "chain": trace("chain"), "zero-chain": trace("zero-chain"), "live": trace("live"),
    "star": trace("star"), "comb": trace("comb"), "overlap": trace("overlap"),
    "one-name": trace("one-name"), "gradients": trace("gradients"),
    "intervals": trace("intervals"), "edges": trace("edges"), "mixed": trace("mixed"),
    "all-names": all_names, "same-id-twice": same_id_twice, "one-storage": one_storage,
    "parentheses": rust(lambda n: "fn f() -> u32 { %s1%s }\n" % ("(" * n, ")" * n)),
    "blocks": rust(lambda n: "fn f() { %s%s }\n" % ("{" * n, "}" * n)),
    "generics": rust(lambda n: "type T = %su8%s;\n" % ("Vec<" * n, " >" * n)),
    "arms": rust(lambda n: "fn f(x: u32) -> u32 { match x { %s_ => 0 } }\n" % "".join(
        "%d => %d, " % (i, i) for i in range(n))),
    "methods": rust(lambda n: "fn f(x: T) -> T { x%s }\n" % "".join(
        ".m%d(1)" % (i % 10) for i in range(n))),
    "sums": rust(lambda n: "fn f(x: u32) -> u32 { x%s }\n" % (" + x" * n)),
    "comments": rust(lambda n: "%s%s fn f() {}\n" % ("/* " * n, "*/ " * n)),
    "functions": rust(functions),
    "fields": rust(lambda n: "pub struct S { %s }\n" % "".join(
        "pub f%d: u32, " % i for i in range(n))),
    "files": many_files, "bundle-files": bundle_files, "table-rows": table_rows,
    "checkpoint": checkpoint, "runtime": runtime,
}


class Growth(Campaign):
    name = "growth"
    promises = "P8 P1"
    about = "n, 2n, 4n and 8n of many shapes: CPU time at most x 2.3, memory x 2.2 each time"
    word = "shapes"
    asked = len(SHAPES)
    alone = True
    programs = {"release": ("candle-graph", "bench_launch")}

    def units(self, place):
        return list(SHAPES)

    def cost(self, place, make, n, tries):
        folder = os.path.join(place.scratch, "s")
        os.makedirs(folder)
        argv = make(place, folder, n)
        least = [float("inf"), float("inf")]
        for _ in range(tries):
            done = subprocess.run([place.build("release", "bench", "bench_launch"),
                                   place.cli("release"), *argv], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env=dict(os.environ, HOME=folder))
            told = done.stderr.strip().splitlines()[-1].split()
            if done.returncode not in (0, 1) or len(told) != 3:
                raise ValueError("n = %d: status %d, %s" % (n, done.returncode, done.stderr[-300:]))
            least = [min(least[0], float(told[0])), min(least[1], int(told[2]))]
        subprocess.run(["rm", "-rf", folder], check=True)
        return least

    def instructions(self, place, make, n):
        """Of the program, by valgrind: other work does not change them. None: no valgrind."""
        folder = os.path.join(place.scratch, "s")
        os.makedirs(folder)
        argv = make(place, folder, n)
        try:
            done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                   place.cli("release"), *argv], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env=dict(os.environ, HOME=folder))
        except FileNotFoundError:
            return None
        finally:
            shutil.rmtree(folder)
        told = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
        return int(told.group(1)) if told else None

    def counted_ratio(self, place, make, n):
        counts = [self.instructions(place, make, size) for size in (1, n, n << 1, n << 2, n << 3)]
        if None in counts:
            return None
        return max((b - counts[0]) / max(1, a - counts[0]) for a, b in zip(counts[1:], counts[2:]))

    def run(self, place, unit, before):
        make = SHAPES[unit]
        start = self.cost(place, make, 1, 3)
        n = 500
        largest = place.some(LARGEST)
        while n < largest and self.cost(place, make, n, 1)[0] - start[0] < ENOUGH:
            n *= 2
        costs = [[float("inf"), float("inf")] for _ in range(4)]
        # Other work on the machine makes ratios worse, never better in all rounds.
        for _ in range(ROUNDS):
            for i in range(4):
                again = self.cost(place, make, n << i, TRIES)
                costs[i] = [min(a, b) for a, b in zip(costs[i], again)]
            times = [(b[0] - start[0]) / max(1e-3, a[0] - start[0])
                     for a, b in zip(costs, costs[1:])]
            # Below a megabyte it is the pages of the program.
            peaks = [(b[1] - start[1] + (1 << 20)) / (a[1] - start[1] + (1 << 20))
                     for a, b in zip(costs, costs[1:])]
            if max(times) <= TIME and max(peaks) <= MEMORY:
                break
        time = max(times)
        counted = None
        if time > TIME:
            # Valgrind takes fifty times as long: at sizes that the clock could not tell apart.
            counted = self.counted_ratio(place, make, max(4000, n >> 3))
        if counted is not None:
            time = counted
        record = {"count": 1, "wrong": [], "n": n, "largest": n << 3,
                  "cpu": [round(cost[0], 3) for cost in costs],
                  "peak": [cost[1] for cost in costs], "time_ratio": round(time, 3),
                  "clock_ratio": round(max(times), 3), "counted": counted is not None,
                  "memory_ratio": round(max(peaks), 3)}
        for ratio, most, what in ((time, TIME, "time"), (max(peaks), MEMORY, "memory")):
            if ratio > most:
                record["wrong"].append("%s grows by %.2f for a doubling (n %d to %d: %s)" % (
                    what, ratio, n, n << 3, record["cpu"] if what == "time" else record["peak"]))
        return record

    def tell(self, units):
        return ("{} shapes ({} by counted instructions), worst factor for a doubling {:.2f} in "
                "time ({}) and {:.2f} in memory ({}); {:,} above the bounds").format(
                    len(units), self.sum(units, "counted"), *self.worst(units, "time_ratio"),
                    *self.worst(units, "memory_ratio"), self.sum(units, "wrong_count"))

    @staticmethod
    def worst(units, key):
        name = max(units, key=lambda unit: units[unit].get(key, 0))
        return units[name].get(key, 0), name
