#!/usr/bin/env python3
"""join: five crates with runs, and what is right about each, worked out by hand from both sides.

The traces are written by tests/data/join/trace.py; what a row says about a line is the line of the
crate's src/lib.rs.
"""
# ctest: @CLI@
import json
import os
import subprocess
import sys

DATA = os.path.join(os.environ.get("CG_SOURCE", "."), "tests/data/join")
failures = []


def ask(crate, *runs, extra=()):
    command = [sys.argv[1], "query", os.path.join(DATA, crate, "crate"), "--kind", "join", "--all",
               "--format", "json", *extra, "--trace"] + [os.path.join(DATA, run) for run in runs]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def expect(what, got, want):
    if got != want:
        failures.append(what)
        print("%s:\n  got  %r\n  want %r" % (what, got, want))


def rows(document, part):
    return document[part]["rows"]


def facts(document, name):
    """(record, rule, count, names) of every fact of the row that is called so."""
    return [(fact["provenance"]["record"], fact["provenance"]["rule"], fact["count"],
             fact["provenance"]["names"])
            for row in rows(document, "rows") if row["name"] == name
            for fact in row["observed"]]


def broken():
    """The norm cuts off four parameters; in the second run the loss is not finite."""
    doc = ask("broken", "broken/calm.jsonl", "broken/sure.jsonl")
    starved = rows(doc, "gradient_missing_explained")
    expect("broken: who never learned", [row["key"] for row in starved],
           ["reader.mix.bias", "reader.mix.weight", "reader.norm.weight", "reader.words.weight"])
    for row in starved:
        cut = row["explained_by"][0]
        expect("broken: the call", (cut["code"], cut["operation"], cut["location"]["line"],
                                    cut["function"], cut["tie"]),
               ("gradient-cut", "candle_nn::RmsNorm::forward", 24, "Reader::forward", "parameter"))
        expect("broken: states", row["states"],
               {"present": 0, "missing": 2, "zero": 0, "non_finite": 0})
    expect("broken: nothing else starves", rows(doc, "gradient_missing_unexplained"), [])
    hazards = {(row["code"], row["location"]["line"], row["verdict"], row["shown_by"][0]["run"])
               for row in rows(doc, "hazard_exercised")}
    expect("broken: hazards", hazards,
           {(code, 48, "shown", 1) for code in ("numeric-domain-violation", "zero-times-infinity",
                                                "unstable-library-loss")})
    expect("broken: not finite", [(row["label"], row["record"], row["part"])
                                  for row in rows(doc, "non_finite")],
           [("loss", "tensor_stats", "origin"), ("score.bias", "gradient", "undecided"),
            ("score.weight", "gradient", "undecided")])
    expect("broken: never ran", [(row["name"], row["basis"])
                                 for row in rows(doc, "declared_not_executed")],
           [("Judge::verdict", "no_recorded_function_calls_it")])
    expect("broken: names", [(row["record"], row["name"], row["count"])
                             for row in rows(doc, "executed_not_declared")],
           [("span", "backward", 2), ("span", "spam_judge::train", 2), ("span", "update", 2)])
    expect("broken: a layer below its function",
           ("span", "module_below", 1, ["norm"]) in facts(doc, "reader.norm.weight"), True)


def layers():
    """Blocks by number meet their template; the gate and the old way through are never used."""
    doc = ask("layers", "layers/infer.jsonl")
    expect("layers: the template", facts(doc, "blocks.{i}")[0],
           ("span", "module_template", 3, ["blocks/0", "blocks/1", "blocks/3"]))
    expect("layers: inside a block", facts(doc, "blocks.{i}.attn")[:2],
           [("span", "module_below", 3, ["attn"]),
            ("tensor_stats", "module_template", 3,
             ["blocks.0.attn", "blocks.1.attn", "blocks.3.attn"])])
    expect("layers: never ran", [(row["name"], row["basis"])
                                 for row in rows(doc, "declared_not_executed")],
           [("Tower::old_forward", "no_recorded_function_calls_it"),
            ("blocks.{i}.attn.gate.bias", "unused_in_source"),
            ("blocks.{i}.attn.gate.weight", "unused_in_source")])
    expect("layers: the crate's name in front", facts(doc, "Tower::forward")[0],
           ("span", "qualified_name", 1, ["tower::Tower::forward"]))
    expect("layers: no gradients", doc["summary"]["gradients"]["observed"], 0)


def pair():
    """Roots that name a component decide; one that names nobody leaves everything open."""
    doc = ask("pair", "pair/named.jsonl", "pair/nameless.jsonl")
    expect("pair: roots", [[(root["root"], root["component"], root["choice"], root["matched"])
                            for root in run["roots"]] for run in doc["runs"]],
           [[("Judge", "component:Judge", "component_name", 4),
             ("maker", "component:Maker", "component_name", 4)],
            [("vars", None, "none", 0)]])
    expect("pair: ambiguous", [(row["record"], row["name"], row["candidate_count"])
                               for row in rows(doc, "ambiguous")],
           [("span", "forward", 2)] + [("gradient", key, 2) for key in
                                       ("fc1.bias", "fc1.weight", "fc2.bias", "fc2.weight")])
    expect("pair: strange", [row["name"] for row in rows(doc, "executed_not_declared")
                             if row["record"] == "gradient"], ["stray.weight"])
    expect("pair: a layer of the model whose function is around",
           [row["id"] for row in rows(doc, "rows") if row["name"] == "fc1.weight"
            for fact in row["observed"] if fact["provenance"]["record"] == "span"],
           ["parameter:component%3AMaker:vb:fc1.weight"])
    doc = ask("pair", "pair/nameless.jsonl", extra=("--component", "Judge"))
    expect("pair: asked", [(root["component"], root["choice"], root["matched"])
                           for root in doc["runs"][0]["roots"]],
           [("component:Judge", "asked", 4)])


def driver():
    """Keys carry what the driver puts in front; of two branches one ran."""
    doc = ask("driver", "driver/update.jsonl")
    root = doc["runs"][0]["roots"][0]
    expect("driver: prefix", (root["component"], root["prefix"], root["matched"], root["keys"]),
           ("component:Net", "net", 4, 4))
    expect("driver: everything learned", doc["summary"]["gradients"],
           {"observed": 4, "learned": 4, "never_learned": 0, "explained": 0, "zero": 0,
            "contradicted": 0, "running_state": 0, "non_finite": 0})
    expect("driver: the branch", [(row["name"], row["location"]["line"], row["basis"])
                                  for row in rows(doc, "declared_not_executed")],
           [("candle_core::Tensor::clamp", 23, "operations_complete")])
    expect("driver: by its weight", [(fact["provenance"]["rule"], row["location"]["line"])
                                     for row in rows(doc, "rows")
                                     if row["name"] == "candle_nn::Linear::forward"
                                     for fact in row["observed"]],
           [("operation_of_parameter", 21)])
    expect("driver: two calls have the other weight",
           [(row["name"], row["count"]) for row in rows(doc, "ambiguous")], [("linear", 1)])
    expect("driver: not in the source", [row["name"] for row in
                                         rows(doc, "executed_not_declared")
                                         if row["record"] == "op"], ["sort_of_magic"])


def failed():
    """A failed capture shows what it has and proves no absence; an invalid one shows nothing."""
    doc = ask("broken", "failed/killed.jsonl", "failed/twice.jsonl")
    expect("failed: worth", [run["worth"] for run in doc["runs"]], ["diagnostic", "nothing"])
    expect("failed: no absence", doc["declared_not_executed"]["total"], 0)
    expect("failed: cannot tell", len(doc["summary"]["cannot_tell"]), 1)
    expect("failed: of the first alone", {fact["provenance"]["run"] for row in rows(doc, "rows")
                                          for fact in row["observed"]}, {0})
    expect("failed: marked", {fact["provenance"]["worth"] for row in rows(doc, "rows")
                              for fact in row["observed"]}, {"diagnostic"})
    expect("failed: the hazard", {row["verdict"] for row in rows(doc, "hazard_exercised")},
           {"shown"})


def against():
    """The norm cuts off the reader, and yet of two of its parameters a gradient was recorded."""
    doc = ask("broken", "broken/against.jsonl")
    expect("against: a gradient of zeros is no missing one",
           ([row["key"] for row in rows(doc, "gradient_missing_explained")],
            [(row["key"], row["explained_by"])
             for row in rows(doc, "gradient_missing_unexplained")]),
           (["reader.norm.weight", "reader.words.weight"], [("reader.mix.weight", [])]))
    expect("against: both are named", [(row["key"], row["verdict"], row["states"]["present"],
                                        row["states"]["zero"], row["runs"],
                                        [(why["code"], why["location"]["line"], why["confidence"])
                                         for why in row["denied_by"]])
                                       for row in rows(doc, "gradient_contradicted")],
           [("reader.mix.bias", "unknown", 1, 0, [0], [("gradient-cut", 24, "proven")]),
            ("reader.mix.weight", "unknown", 0, 1, [0], [("gradient-cut", 24, "proven")])])
    expect("against: counts", doc["summary"]["gradients"],
           {"observed": 6, "learned": 3, "never_learned": 3, "explained": 2, "zero": 1,
            "contradicted": 2, "running_state": 0, "non_finite": 0})
    doc = ask("broken", "broken/calm.jsonl", "broken/against.jsonl")
    expect("against: one run says it, the other not",
           ([row["key"] for row in rows(doc, "gradient_missing_explained")],
            [(row["key"], row["runs"], row["states"]["missing"])
             for row in rows(doc, "gradient_contradicted")]),
           (["reader.norm.weight", "reader.words.weight"],
            [("reader.mix.bias", [0, 1], 1), ("reader.mix.weight", [0, 1], 1)]))
    told = subprocess.run([sys.argv[1], "query", "join", os.path.join(DATA, "broken/crate"),
                           "--trace", os.path.join(DATA, "broken/against.jsonl"), "--format",
                           "text"], check=True, capture_output=True).stdout.decode()
    for line in ("2 of 6 gradients never came, 2 of them explained by the source",
                 "1 of 6 gradients came and were zero",
                 "2 of 6 gradients came, and a proven finding says that none can"):
        expect("against: told: " + line, line in told, True)


def fields():
    """A module is found by the field that holds it, where the keys call it otherwise."""
    doc = ask("fields", "fields/infer.jsonl")
    expect("fields: strange", [row["name"] for row in rows(doc, "executed_not_declared")
                               if row["name"] not in ("predict", "stack::infer")], ["first"])
    expect("fields: ambiguous", rows(doc, "ambiguous"), [])
    for name, want in (
            ("model.h.{i}", [("span", "module_template", 1, ["model.h.2"]),
                             ("span", "field_path", 2, ["blocks.0", "blocks.1"])]),
            ("model.h.{i}.self_attn", [("span", "field_path", 3, ["blocks.2.mixing", "mixing"])]),
            ("model.h.{i}.mlp", [("span", "field_path", 1, ["closing"]),
                                 ("tensor_stats", "label_of_module", 2,
                                  ["blocks.0.closing/out", "blocks.1.closing/out"])]),
            ("model.ln_f", [("span", "field_path", 1, ["last"])])):
        expect("fields: " + name, facts(doc, name), want)
    expect("fields: below one", facts(doc, "model.h.{i}.self_attn.in_proj.weight"),
           [("span", "module_below", 2, ["in_proj"])])


for case in (broken, layers, pair, driver, failed, against, fields):
    case()
print("%d failed" % len(failures))
sys.exit(1 if failures else 0)
