#!/usr/bin/env python3
# ctest: @CLI@
# ctest-timeout: 300
"""Small programs as people write them: what they ask Candle for, and what is said about them.

usage: programs.py CANDLE-GRAPH [NAME ...]

Every .rs file of this folder is the `src/main.rs` of a crate. Comments at its end say what is true
of it. The keys and shapes are what the program had in its maps when it was run with Candle 0.11.0;
an axis that is an argument is called as that.

    //! key COMPONENT ROOT KEY AXIS,AXIS     every one is asked for for sure, and no other is
    //! finding CODE FUNCTION:LINE ROOT KEY ...
                                             all findings with `severed` or `keys`, and these
    //! renamed                              names are changed on the way: no prefix is advised
    //! held KEY AXIS,AXIS                   what its maps held in the end: a file of that fits, one
                                             without the first key or with another number in the
                                             last axis of the last is told to lack or contradict
                                             that one, and one with a prefix in front is told so;
                                             what one component leaves is that of another one
    //! again                                all of it holds for another program too, in which the
                                             lines that begin with //? are code
    //! again WORD OTHER                     and OTHER stands for WORD
    //! then ...                             holds for that one only; without `held` it has the same
"""
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MANIFEST = """[package]
name = "program"
version = "0.1.0"
edition = "2021"

[dependencies]
anyhow = "1"
candle-core = "0.11.0"
candle-nn = "0.11.0"
"""


def asked(binary, crate, name):
    run = subprocess.run([binary, "query", "--kind", "parameters", crate, "--all", "--format",
                          "json"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    lines = set()
    for row in json.loads(run.stdout)["items"] or []:
        component = row["component"].removeprefix("component:")
        shape = re.sub(r"[() ]", "", row["symbolic_shape"] or "?").rstrip(",")
        sure = "" if row["certainty"] == "certain" else " " + row["certainty"]
        lines.add("key %s %s %s %s%s" % (component, row["builder_root"], row["key"], shape, sure))
    return lines


def found(binary, crate):
    run = subprocess.run([binary, "check", crate, "--message-format", "json"],
                         stdin=subprocess.DEVNULL, capture_output=True)
    lines = set()
    for row in json.loads(run.stdout)["findings"]:
        for root, keys in sorted((row.get("severed") or row.get("keys") or {}).items()):
            lines.add("finding %s %s:%d %s %s" % (row["code"], row["function"],
                                                  row["location"]["line"], root, " ".join(keys)))
    return lines


def write_file(path, held):
    header, end = {}, 0
    for key, shape in held.items():
        start, end = end, end + 4 * math.prod(shape)
        header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


def audit(binary, crate, held):
    write_file(os.path.join(crate, "model.safetensors"), held)
    out = os.path.join(crate, "out")
    subprocess.run([binary, "audit", out, "--path", crate, "--checkpoint",
                    os.path.join(crate, "model.safetensors")], stdin=subprocess.DEVNULL,
                   capture_output=True)
    with open(os.path.join(out, "checkpoint.json"), encoding="utf-8") as file:
        report = json.load(file)
    return [report["missing_certain"] + report["missing_conditional"], report["unclaimed"],
            [row["key"] for row in report["shape_mismatches"]],
            sorted({row["code"] for row in report["diagnosis"]}),
            sorted({key for one in report.get("components", []) for key in one["unclaimed"]})]


def audits(binary, crate, held, shift):
    first, last = list(held)[0], list(held)[-1]
    shape = held[last][:-1] + [held[last][-1] + 1]
    shifted = {"all." + key: held[key] for key in held}
    for what, file, wanted in [
            ("as it is", held, [[], [], [], [], []]),
            ("without " + first, {key: held[key] for key in held if key != first},
             [[first], [], [], None]),
            ("with another " + last, dict(held, **{last: shape}), [[], [], [last], None]),
            ("with a prefix", shifted, [sorted(held), sorted(shifted), [], [shift]])]:
        got = audit(binary, crate, file)
        if [None if a is None else b for a, b in zip(wanted, got)] != wanted:
            yield "a file of it %s: %s" % (what, got)


def variants(name):
    """The program of that name, and the other one that the same text is."""
    with open(os.path.join(HERE, name + ".rs"), encoding="utf-8") as file:
        source = file.read()
    again = re.search(r"^//! again(?: (\w+) (\w+))?\n", source, re.M)
    source = source.replace(again.group(), "") if again else source
    yield re.sub(r"^//! then .*\n", "", source, flags=re.M)
    if again is None:
        return
    if "//! then held " in source:
        source = re.sub(r"^//! held .*\n", "", source, flags=re.M)
    source = source.replace("//! then ", "//! ").replace("//? ", "")
    word, other = again.groups()
    yield re.sub(r"\b%s\b" % word, other, source) if word else source


def check(binary, name, source):
    wanted = {line[4:].strip() for line in source.splitlines() if line.startswith("//! ")}
    held = dict(line.split(" ")[1:] for line in sorted(wanted) if line.startswith("held "))
    shift = "unexplained" if "renamed" in wanted else "prefix_shifted"
    wanted = {line for line in wanted if not line.startswith("held ") and line != "renamed"}
    with tempfile.TemporaryDirectory() as crate:
        os.mkdir(os.path.join(crate, "src"))
        with open(os.path.join(crate, "Cargo.toml"), "w", encoding="utf-8") as file:
            file.write(MANIFEST)
        with open(os.path.join(crate, "src", "main.rs"), "w", encoding="utf-8") as file:
            file.write("".join(line for line in source.splitlines(True)
                               if not line.startswith("//! ")))
        got = asked(binary, crate, name) | found(binary, crate)
        held = {key: [int(axis) for axis in held[key].split(",")] for key in held}
        wrong = list(audits(binary, crate, held, shift)) if held else []
    for line in sorted(wanted - got):
        print("%s: lacks `%s`" % (name, line))
    for line in sorted(got - wanted):
        print("%s: has `%s`" % (name, line))
    for line in wrong:
        print("%s: %s" % (name, line))
    return got == wanted and not wrong


def main():
    binary = sys.argv[1]
    names = sys.argv[2:] or sorted(name[:-3] for name in os.listdir(HERE) if name.endswith(".rs"))
    bad = [name for name in names
           if not all([check(binary, name, source) for source in variants(name)])]
    print("%d programs, %d wrong" % (len(names), len(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
