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
"""
import json
import os
import re
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


def check(binary, name):
    with open(os.path.join(HERE, name + ".rs"), encoding="utf-8") as file:
        source = file.read()
    wanted = {line[4:].strip() for line in source.splitlines() if line.startswith("//! ")}
    with tempfile.TemporaryDirectory() as crate:
        os.mkdir(os.path.join(crate, "src"))
        with open(os.path.join(crate, "Cargo.toml"), "w", encoding="utf-8") as file:
            file.write(MANIFEST)
        with open(os.path.join(crate, "src", "main.rs"), "w", encoding="utf-8") as file:
            file.write("".join(line for line in source.splitlines(True)
                               if not line.startswith("//! ")))
        got = asked(binary, crate, name) | found(binary, crate)
    for line in sorted(wanted - got):
        print("%s: lacks `%s`" % (name, line))
    for line in sorted(got - wanted):
        print("%s: has `%s`" % (name, line))
    return got == wanted


def main():
    binary = sys.argv[1]
    names = sys.argv[2:] or sorted(name[:-3] for name in os.listdir(HERE) if name.endswith(".rs"))
    bad = [name for name in names if not check(binary, name)]
    print("%d programs, %d wrong" % (len(names), len(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
