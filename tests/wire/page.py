#!/usr/bin/env python3
# ctest: @CLI@
"""The page of a run: its frame is closed to the outside, its island says what the evidence says.

For every trace of tests/data: one policy with the digests of exactly the script and the style that
are there, no reference to a network, nothing of the trace outside of the island; the island is
sorted compact JSON without `<`, `>`, `&`, U+2028 and U+2029, holds viewer/5 and equals evidence/4
number by number; the packed tables, read by another inflater than the browser's, equal evidence/4
whatever its size; a second page has the same bytes.
"""
import base64
import collections
import json
import os
import re
import struct
import sys
import tempfile
import zlib

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "tests", "support"))
from page_frame import Failed, check_frame, need, read_island, run, same  # noqa: E402

DATA = os.path.join(REPO, "tests", "data")
VIEWS = ("evidence", "trace", "span_costs", "memory", "gpu")
HOSTILE = ('</script><script>document.title="x"</script>', "<!-- <img src=x onerror=alert(1)>", "a&amp;b",
           "\u2028\u2029", "__proto__", "\u202eabc", 'quote" onload="x', "javascript:alert(1)")


def island_of(page):
    text = page.decode("utf-8")
    island, written = read_island(text)
    packed = re.findall(r'<script id="cg-packed" type="([^"]*)">([A-Za-z0-9+/=]*)</script>', text)
    need(len(packed) == 1 and packed[0][0] == "application/vnd.candle-graph.packed", "packed data")
    frame = text.replace(written, "").replace(packed[0][1], "")
    return island, frame, Packed(packed[0][1])


class Packed:
    """The tables of the element cg-packed, as docs/schemas/page.md says: {name: (total, {column: cells})}."""

    def __init__(self, element):
        self.element_size = len(element)
        self.data = zlib.decompress(base64.b64decode(element, validate=True))
        need(self.data.startswith(b"cgpack1\n"), "the first bytes of the packed data")
        self.at = 8
        lengths = [self.whole() for _ in range(self.whole())]
        units = self.take(self.whole()).decode("utf-8").encode("utf-16-le", "surrogatepass")
        self.texts = [None]
        at = 0
        for length in lengths:
            self.texts.append(units[2 * at:2 * (at + length)].decode("utf-16-le"))
            at += length
        need(2 * at == len(units), "the texts are not as long as they say")
        self.tables = collections.OrderedDict(self.table() for _ in range(self.whole()))
        need(self.at == len(self.data), "bytes behind the last table")

    def take(self, count):
        self.at += count
        need(self.at <= len(self.data), "the packed data end too early")
        return self.data[self.at - count:self.at]

    def whole(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def rising(self, rows):
        value = 0
        for _ in range(rows):
            step = self.whole()
            value = (value + ((step >> 1) ^ -(step & 1))) % (1 << 64)
            yield value

    def column(self, rows):
        name = self.texts[self.whole()]
        kind = self.take(1)
        unknown = self.take((rows + 7) // 8) if self.take(1) == b"\1" else bytes((rows + 7) // 8)
        if kind == b"d":
            cells = list(self.rising(rows))
        elif kind == b"u":
            cells = [self.whole() for _ in range(rows)]
        elif kind == b"f":
            cells = list(struct.unpack("<%dd" % rows, self.take(8 * rows)))
        else:
            need(kind in b"tn", "a column of type %r" % kind)
            cells = [self.texts[code] for code in
                     (self.rising(rows) if kind == b"n" else [self.whole() for _ in range(rows)])]
        return name, [None if unknown[row >> 3] >> (row & 7) & 1 else cell
                      for row, cell in enumerate(cells)]

    def table(self):
        name = self.texts[self.whole()]
        rows = self.whole()
        total = self.whole()
        return name, (total, dict(self.column(rows) for _ in range(self.whole())))

    def rows(self, name):
        total, columns = self.tables[name]
        found = [dict(zip(columns, cells)) for cells in zip(*columns.values())]
        need(total == len(found), "%s is cut" % name)
        return found


def node_of(row, short):
    name = row["name"]
    total = row["host_total_time_ns"]
    tail = name.rsplit("::", 1)[-1]
    want = {key: row.get(key) for key in ("id", "kind", "parent_id", "start_ns", "host_self_time_ns",
                                          "host_total_time_ns", "allocated_bytes", "peak_live_bytes")}
    if short:
        return want
    want.update({key: row.get(key) for key in ("shape", "dtype", "device", "residual_bytes",
                                               "dense_bytes")})
    want.update(label=name, short_label=tail or name, device_timings=row.get("device_timings", []),
                host_self_ratio=row["host_self_time_ns"] / total if total else 0.0)
    return want


def edge_of(row):
    source = row.get("from_span", row.get("from_tensor"))
    target = row.get("to_span", row.get("to_tensor"))
    want = {"id": source + "->" + target, "from": source, "to": target, "kind": row["kind"],
            "label": row.get("label")}
    if row["kind"] == "call":
        want["host_duration_ns"] = row["host_duration_ns"]
    return want


def check_island(island, evidence):
    views = island["views"]
    graph = evidence.get("graph")
    rows = graph["spans"] if graph else []
    health = evidence["health"]
    logical = evidence["memory"].get("logical", {})
    same("schema", island["schema"], "candle-graph/viewer/5")
    same("default_view", island["default_view"], "evidence")
    same("bounded", island["bounded"], None)
    same("summary", island["summary"], {
        "entrypoint": evidence["provenance"]["entrypoint"], "phase": evidence["provenance"]["phase"],
        "outer_wall_time_ns": graph["summary"]["outer_wall_time_ns"] if graph else None,
        "logical_peak_live_bytes": logical.get("peak", {}).get("live_bytes"),
        "capture_complete": health["capture_complete"],
        "structurally_valid": health["structurally_valid"]})
    nodes = [{k: v for k, v in row.items() if k != "peak_live_bytes_net"}
             for row in views["trace"]["nodes"]]
    same("nodes", nodes, [node_of(row, False) for row in rows])
    for row in views["trace"]["nodes"]:
        need(row["peak_live_bytes_net"] is None or row["peak_live_bytes_net"] <= row["peak_live_bytes"],
             "the netted peak of %s" % row["id"])
    same("edges", views["trace"]["edges"], [edge_of(row) for row in graph["edges"]] if graph else [])
    costs = sorted(rows, key=lambda row: -row["host_total_time_ns"])
    same("costs", views["span_costs"], {"items": [
        dict(node_of(row, True), name=row["name"], device_timings=row.get("device_timings", []),
             dense_bytes=row.get("dense_bytes")) for row in costs]})
    tree = []
    for row in rows:
        if row["kind"] not in ("op", "tensor"):
            want = dict(node_of(row, True), name=row["name"],
                        host_self_ratio=node_of(row, False)["host_self_ratio"])
            del want["start_ns"]
            tree.append(want)
    same("span_tree", island["span_tree"], tree)
    same("memory", views["memory"], evidence["memory"])
    shown = views["evidence"]
    for key in ("provenance", "health", "capabilities", "findings", "facts", "gaps", "timing"):
        same(key, shown[key], evidence[key])
    same("tensors", shown["tensors"], graph["tensors"] if graph else [])
    same("tensor_stats", shown["tensor_stats"], evidence.get("tensor_stats", []))
    same("gradients", island["gradients"], shown["gradients"])
    if graph:
        same("gradients", island["gradients"],
             [dict(row, norm=row.get("norm")) for row in graph["gradients"]])
    same("gpu", views["gpu"], dict(
        evidence["gpu"], correlation_capability=evidence["capabilities"]["gpu_correlation"],
        provenance_capability=evidence["capabilities"]["provenance_binding"]))


def shape_of(axes):
    return "[%s]" % ",".join(str(axis) for axis in axes or [])


def check_packed(packed, evidence):
    """Every packed table equals the list of evidence/4 it stands for, however long."""
    graph = evidence.get("graph")
    stats = evidence.get("tensor_stats", [])
    if graph:
        nodes = packed.rows("nodes")
        ids = []
        for row in nodes:
            ids.append(row["id"] if row["id"] is not None else
                       "%s/op/%d" % (nodes[row["parent"]]["id"], row["op_number"]))
        want = graph["spans"]
        same("ids", ids, [row["id"] for row in want])
        same("parents", [None if row["parent"] is None else ids[row["parent"]] for row in nodes],
             [row.get("parent_id") for row in want])
        for key in ("name", "kind", "dtype", "device", "allocated_bytes", "peak_live_bytes",
                    "residual_bytes", "dense_bytes"):
            same(key, [row[key] for row in nodes], [row.get(key) for row in want])
        for key in ("start_ns", "host_total_time_ns", "host_self_time_ns"):
            same(key, [row[key] for row in nodes],
                 [None if row["kind"] == "tensor" else row[key] for row in want])
        same("shapes", [row["shape"] for row in nodes if row["kind"] in ("op", "tensor")
                        if row["shape"] is not None and row["shape"] != "[]"],
             [shape_of(row["shape"]) for row in want if row.get("shape")])
        same("edges", [[ids[row["from"]], ids[row["to"]], row["kind"], row["label"]]
                       for row in packed.rows("edges")],
             [[e["from"], e["to"], e["kind"], e["label"]] for e in map(edge_of, graph["edges"])])
        timings = collections.defaultdict(list)
        for row in packed.rows("device_timings"):
            timings[ids[row["span"]]].append({k: row[k] for k in ("device", "clock_id", "busy_ns")})
        same("device timings", timings, {row["id"]: row["device_timings"] for row in want
                                         if row.get("device_timings")})
        same("gradients", [{k: row[k] for k in ("root", "key", "norm")}
                           for row in packed.rows("gradients")],
             [{k: row.get(k) for k in ("root", "key", "norm")} for row in graph["gradients"]])
        same("tensors", [[row["tensor_id"], row["category"], row["dense_bytes"]]
                         for row in packed.rows("tensors")],
             [[t["tensor_id"], t["category"], t.get("dense_bytes")] for t in graph["tensors"]])
    else:
        need("nodes" not in packed.tables and "spans" in packed.tables, "nodes without a graph")
    same("stats", [{k: row[k] for k in ("label", "elements", "non_finite", "rms", "abs_max", "mean")}
                   for row in packed.rows("tensor_stats")],
         [{k: row[k] for k in ("label", "elements", "non_finite", "rms", "abs_max", "mean")}
          for row in stats])
    logical = evidence["memory"].get("logical", {})
    timeline = logical.get("timeline", [])
    same("points", [[row["timestamp_ns"], row["live_bytes"]] for row in packed.rows("memory_timeline")],
         [[row["timestamp_ns"], row["live_bytes"]] for row in timeline])


def page_of(cli, trace, place):
    out = os.path.join(place, "page.html")
    done = run(cli, "view", trace, "--output", out)
    if done.returncode != 0:
        return None
    with open(out, "rb") as file:
        return file.read()


def check_trace(cli, trace, place):
    page = page_of(cli, trace, place)
    evidence = run(cli, "import", trace)
    need((page is not None) == (evidence.returncode == 0), "view and import disagree")
    if page is None:
        return False
    need(page_of(cli, trace, place) == page, "a second page differs")
    island, frame, packed = island_of(page)
    check_frame(frame, VIEWS)
    check_island(island, json.loads(evidence.stdout))
    check_packed(packed, json.loads(evidence.stdout))
    return True


def hostile(place):
    """A trace whose every name is an attack."""
    with open(os.path.join(DATA, "traces", "minimal.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    at = 0
    for line in lines:
        if "name" in line:
            line["name"] = HOSTILE[at % len(HOSTILE)] + line["name"]
            at += 1
        if line["kind"] == "meta":
            line["entrypoint"] = HOSTILE[0]
            line["tags"] = {name: name for name in HOSTILE}
    path = os.path.join(place, "hostile.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return path


def large(place, count):
    """A trace with `count` spans below the measured one."""
    with open(os.path.join(DATA, "traces", "minimal.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    start = next(line for line in lines if line["kind"] == "span_start" and line.get("measured"))
    end = next(line for line in lines if line["kind"] == "span_end" and line["id"] == start["id"])
    at = lines.index(start) + 1
    more = []
    for number in range(count):
        name = "n%06d" % number
        more.append(dict(start, id=name, name="part::" + name * 4, parent_id=start["id"],
                         measured=False, kind="span_start", **(
                             {"span_kind": "function"} if "span_kind" in start else {})))
        more.append(dict(end, id=name, duration_ns=number % 7, end_ns=None))
        more[-1] = {k: v for k, v in more[-1].items() if v is not None}
    path = os.path.join(place, "large.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines[:at] + more + lines[at:])
    return path


def check_large(cli, place):
    """Beyond 4 MiB the island is an overview that says what it leaves out."""
    trace = large(place, 40000)
    page = page_of(cli, trace, place)
    need(page is not None, "refused")
    island, frame, packed = island_of(page)
    check_frame(frame, VIEWS)
    need(len(page) - len(frame.encode()) - packed.element_size <= 4 << 20,
         "the overview is larger than 4 MiB")
    lists = {cut["list"]: cut for cut in island["bounded"]["lists"]}
    nodes = island["views"]["trace"]["nodes"]
    need(lists["views.trace.nodes"]["displayed"] == len(nodes) > 100, "the cut of the nodes")
    need(lists["views.trace.nodes"]["total"] > 40000, "how many nodes there are")
    need(lists["views.trace.edges"]["displayed"] == len(island["views"]["trace"]["edges"]), "edges")
    need(lists["span_tree"]["displayed"] == len(island["span_tree"]), "the tree")
    check_packed(packed, json.loads(run(cli, "import", trace).stdout))
    here = {node["id"] for node in nodes}
    need(all(edge["from"] in here and edge["to"] in here
             for edge in island["views"]["trace"]["edges"]), "an edge without its node")


def main():
    cli = sys.argv[1]
    count = failed = 0
    with tempfile.TemporaryDirectory() as place:
        if b"CG_VIEWER=OFF" in run(cli, "view", "x", "--output", "y").stderr:
            print("skipped: built without the viewer")
            return 77  # as a test without CG_FIXTURES does
        traces = [os.path.join(DATA, folder, name) for folder in ("traces", "invalid")
                  for name in sorted(os.listdir(os.path.join(DATA, folder)))
                  if name.endswith(".jsonl")]
        work = [(path, lambda path=path: check_trace(cli, path, place))
                for path in traces + [hostile(place)]]
        work.append(("more than 4 MiB", lambda: check_large(cli, place)))
        for path, check in work:
            try:
                count += check() is not False
            except (Failed, KeyError, ValueError) as error:
                failed += 1
                print("%s: %s: %s" % (os.path.basename(path), type(error).__name__, error))
    print("%d pages, %d wrong" % (count, failed))
    return 1 if failed or count < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
