#!/usr/bin/env python3
# ctest: @CLI@
"""The page of a model: its frame is closed to the outside, its island says what model/1 says.

For every crate of tests/data, and one whose every name is an attack: one policy with the digests of
exactly the script and the style that are there, no reference to a network, nothing of the crate
outside of the island; the island is sorted compact JSON without `<`, `>`, `&`, U+2028 and U+2029,
holds viewer/1 and equals model/1 record by record; a second page has the same bytes, and so have
the page of the document that `report` printed and the one of `report --format html`.
"""
import json
import os
import re
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "tests", "support"))
from page_frame import Failed, check_frame, need, read_island, run, same  # noqa: E402

CRATES = os.path.join(REPO, "tests", "data", "crates")
ATTACKS = ("</script><script>document.title='x'</script>", "<!-- <img src=x onerror=alert(1)>",
           "a&amp;b", "\u2028\u2029", "__proto__", "\u202eabc", "quote' onload='x",
           "javascript:alert(1)", "<script>", "\u200b\ufeff")


def island_of(page):
    text = page.decode("utf-8")
    island, written = read_island(text)
    return island, text.replace(written, "")


def camel(word):
    return "".join(part.capitalize() for part in word.split("_"))


def check_flow(view, model, phase):
    tensors = [t for t in model["tensors"] if t.get("execution_phase") == phase]
    operations = [o for o in model["operations"] if o.get("execution_phase") == phase]
    names = {f["id"]: f["qualified_name"] for f in model["functions"]}
    nodes = view["nodes"]

    same("phase", view["phase"], phase)
    same("nodes of " + phase, [n["id"] for n in nodes],
         [t["id"] for t in tensors] + [o["id"] for o in operations])
    for node, tensor in zip(nodes, tensors):
        same("a tensor", [node["label"], node["function"], node["role"], node["requires_grad"]],
             [tensor["name"], tensor["owner_function"], camel(tensor["role"]),
              tensor["requires_grad"]])
        axes = tensor["shape"]["dimensions"]
        if axes:
            same("a shape", node["shape"], [axis["expr"] for axis in axes])
    edges = []
    for operation in operations:
        severs = "Severs" in operation["gradient_rule"]
        kind = "severing" if severs else "data"
        for number, tensor in enumerate(operation["inputs"]):
            edges.append(["%s:in:%d" % (operation["id"], number), tensor, operation["id"], kind])
        edges.append([operation["id"] + ":out", operation["id"], operation["output"], kind])
    for tensor in tensors:
        for number, source in enumerate(tensor.get("one_of", [])):
            edges.append(["%s:one_of:%d" % (tensor["id"], number), source, tensor["id"], "data"])
    same("edges of " + phase, [[e["id"], e["from"], e["to"], e["kind"]] for e in view["edges"]],
         edges)
    counts = {}
    for operation in operations:
        counts[operation["function"]] = counts.get(operation["function"], 0) + 1
    want = sorted({t["owner_function"] for t in tensors} | set(counts),
                  key=lambda f: (-counts.get(f, 0), names[f]))
    same("functions of " + phase, [[f["label"], f["operations"]] for f in view["functions"]],
         [[names[f], counts.get(f, 0)] for f in want])


def check_island(island, model):
    views = island["views"]
    cargo = model["cargo"]

    same("schema", island["schema"], "candle-graph/viewer/1")
    need("bounded" not in island, "a small model is cut")
    for key in ("analysis_id", "coverage", "runtime"):
        same(key, island[key], model[key])
    same("package", island["package"], cargo["package_name"])
    same("versions", island["cargo"]["candle_packages"], cargo["candle_packages"])
    same("parameters", [[p["id"], p["key"], p["module_id"], p["symbolic_shape"], p["param_kind"],
                         p["certainty"]] for p in views["structure"]["parameters"]],
         [[p["id"], p["key"], p["module"], p["symbolic_shape"], p["kind"], camel(p["certainty"])]
          for p in model["parameters"]])
    same("modules", [[m["id"], m["component_id"], m["parent"], m["prefix"], m["confidence"]]
                     for m in views["structure"]["modules"]],
         [[m["id"], m["component"], m["parent"], m["prefix"], camel(m["confidence"])]
          for m in model["modules"]])
    same("architecture", [n["id"] for n in views["architecture"]["nodes"]],
         [c["id"] for c in model["components"]] + [m["id"] for m in model["modules"]])
    same("edges", len(views["architecture"]["edges"]),
         len(model["architecture_edges"]) + sum(m["parent"] is not None for m in model["modules"]) +
         (sum(m["parent"] is None for m in model["modules"]) if len(model["components"]) == 1 else 0))
    check_flow(views["dataflow_train"], model, "train")
    check_flow(views["dataflow_infer"], model, "infer")
    same("findings", [[f["id"], f["rule"], f["severity"].lower(), f["message"], f["related"],
                       f.get("help")] for f in views["findings"]["items"]],
         [[f["id"], f["rule"], f["severity"], f["message"], f["related"], f.get("help")]
          for f in model["findings"]])
    same("diagnostics", len(island["diagnostics"]),
         sum(f["severity"] != "information" for f in model["findings"]))
    summary = island["summary"]
    same("how many", [summary["total_parameters"], summary["views"]["dataflow_train"]["edges"]],
         [len(model["parameters"]), len(views["dataflow_train"]["edges"])])
    same("entrypoints", summary["entrypoints"],
         [f["qualified_name"] for f in model["functions"] if f["is_entrypoint"]])


def page_of(cli, place, *argv):
    out = os.path.join(place, "page.html")
    done = run(cli, *argv, "--output", out)
    need(done.returncode == 0, "%s: %s" % (" ".join(argv), done.stderr.decode()[:300]))
    with open(out, "rb") as file:
        return file.read()


def without_sources(page):
    parts = re.findall(rb'<script id="cg-sources" type="application/json">[^<]*</script>\n', page)
    need(len(parts) == 1, "%d elements of sources" % len(parts))
    return page.replace(parts[0], b"")


def check_sources(page, crate, model):
    """Every excerpt is what stands in the file, and of a finding with that place."""
    sources, _ = read_island(page.decode("utf-8"), "cg-sources")
    placed = {f["id"]: f["location"] for f in model["findings"] if f.get("location")}
    need(sources["schema"] == "candle-graph/page-sources/1", "the schema of the sources")
    need(sources["total"] == len(placed), "how many findings have a place")
    need({e["id"] for e in sources["excerpts"]} <= set(placed), "an excerpt of no finding")
    for excerpt in sources["excerpts"]:
        with open(os.path.join(crate, excerpt["file"]), encoding="utf-8", newline="") as file:
            lines = file.read().split("\n")
        first = excerpt["first_line"]
        here = [line.rstrip("\r") for line in lines[first - 1:first - 1 + len(excerpt["lines"])]]
        for want, found in zip(here, excerpt["lines"]):
            need(found == want or found.endswith(" \u2026") and want.startswith(found[:-2]),
                 "an excerpt of %s: %r" % (excerpt["file"], found))
        line = placed[excerpt["id"]]["line"]
        need(first <= line < first + len(excerpt["lines"]), "the line of the finding")


def check_crate(cli, crate, place):
    document = os.path.join(place, "model.json")
    page = page_of(cli, place, "view", crate)
    done = run(cli, "report", crate, "--output", document)
    need(done.returncode == 0, done.stderr.decode()[:300])
    need(page_of(cli, place, "view", crate) == page, "a second page differs")
    # A document has no sources; everything else is the same.
    need(page_of(cli, place, "view", document) == without_sources(page),
         "the page of the document differs")
    need(page_of(cli, place, "report", crate, "--format", "html") == page, "report's page differs")
    island, frame = island_of(without_sources(page))
    check_frame(frame)
    with open(document, encoding="utf-8") as file:
        model = json.load(file)
    check_island(island, model)
    check_sources(page, crate, model)
    return island, frame


def hostile(place):
    """A crate whose every text is an attack."""
    crate = os.path.join(place, "hostile")
    os.makedirs(os.path.join(crate, "src"))
    gets = "".join('        let _ = vb.get((1, 2), "%s")?;\n' %
                   text.replace("\\", "\\\\").replace('"', '\\"') for text in ATTACKS)
    nul = '        let _ = vb.get((1, 2), "nul\\0nul")?;\n'
    with open(os.path.join(crate, "Cargo.toml"), "w", encoding="utf-8") as file:
        file.write('[package]\nname = "hostile"\nversion = "0.1.0"\nedition = "2021"\n'
                   'description = "%s"\n[dependencies]\ncandle-core = "0.11"\ncandle-nn = "0.11"\n'
                   % ATTACKS[0])
    with open(os.path.join(crate, "src", "lib.rs"), "w", encoding="utf-8") as file:
        file.write("use candle_nn::VarBuilder;\nuse candle_core::{Result, Tensor};\n"
                   "pub struct Net { a: Tensor }\nimpl Net {\n"
                   "    pub fn new(vb: VarBuilder) -> Result<Self> {\n" + gets + nul +
                   '        let a = vb.pp("%s").get(3, "w")?;\n        Ok(Self { a })\n    }\n'
                   "    pub fn forward(&self, x: &Tensor) -> Result<Tensor> { x.matmul(&self.a) }\n"
                   "}\n" % ATTACKS[0])
    return crate


def check_hostile(cli, place):
    island, frame = check_crate(cli, hostile(place), place)
    keys = {p["key"] for p in island["views"]["structure"]["parameters"]}
    for text in ATTACKS + ("nul\0nul",):
        need(text in keys, "the key %r is not in the island: %s" % (text, sorted(keys)))
    for text in ATTACKS[:2] + ATTACKS[6:8]:
        need(text not in frame, "%r stands in the frame" % text)


def check_audit(cli, crate, place):
    out = os.path.join(place, "audit")
    done = run(cli, "audit", out, crate)
    need(done.returncode == 0, done.stderr.decode()[:300])
    with open(os.path.join(out, "model.html"), "rb") as file:
        need(file.read() == page_of(cli, place, "view", crate), "model.html is not the page")


def packages():
    """The folders of tests/data/crates with a manifest of a package."""
    for folder, _, names in sorted(os.walk(CRATES)):
        if "Cargo.toml" in names:
            with open(os.path.join(folder, "Cargo.toml"), encoding="utf-8", errors="replace") as file:
                if "[package]" in file.read():
                    yield folder


def main():
    cli = sys.argv[1]
    count = failed = 0
    with tempfile.TemporaryDirectory() as place:
        if b"CG_VIEWER=OFF" in run(cli, "view", "x", "--output", "y").stderr:
            print("skipped: built without the viewer")
            return 77  # as a test without CG_FIXTURES does
        crates = list(packages())
        work = [(path, lambda path=path: check_crate(cli, path, place)) for path in crates]
        work.append(("hostile names", lambda: check_hostile(cli, place)))
        work.append(("audit", lambda: check_audit(cli, crates[0], place)))
        for name, check in work:
            count += 1
            try:
                check()
            except (Failed, KeyError, ValueError, OSError) as error:
                failed += 1
                print("%s: %s: %s" % (os.path.basename(name), type(error).__name__, error))
    print("%d pages, %d wrong" % (count, failed))
    return 1 if failed or count < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
