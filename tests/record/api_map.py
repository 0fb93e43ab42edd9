#!/usr/bin/env python3
"""api_map: every name on the right of docs/api-map.md exists, and a planned one does not.

usage: api_map.py LIBDIR

Also, every name on the left is used by the test of names of the Rust crate, or docs/migration.md
says what is there instead.

Compiles and links, against the static libraries of LIBDIR where they are, a program that takes the
size of every type, the value of every constant and the address of every function of the map.
"""
# ctest: @LIB@
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get("CG_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = ("base.h", "candlegraph.h", "record.h", "runtime.h")


def main():
    text = "".join(open(os.path.join(ROOT, "include", "candlegraph", name), encoding="utf-8").read()
                   for name in HEADERS)
    code = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    words = set(re.findall(r"\b[Cc][Gg]_\w+", code))
    words |= {"CG_QUERY_" + name for name in re.findall(r"^\s*X\((\w+), \"", code, re.M)}
    types = set(re.findall(r"\}\s*(cg_\w+);", code)) | set(
        re.findall(r"typedef [\w ]+? (cg_\w+);", code))
    opaque = set(re.findall(r"typedef struct (cg_\w+) \1;", code)) - set(
        re.findall(r"struct (cg_\w+) \{", code))
    names, bad, rows = [], 0, 0

    def words_of(*path):
        with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
            return set(re.findall(r"\w+", file.read()))

    in_rust = words_of("docs", "migration.md")
    for name in ("names", "record", "candle", "runtime", "analysis"):
        in_rust |= words_of("bindings", "rust", "candlegraph", "tests", name + ".rs")
    for line in open(os.path.join(ROOT, "docs", "api-map.md"), encoding="utf-8"):
        cells = line.strip().split("|")
        if not line.startswith("| ") or cells[1].strip() == "Reference" or "---" in cells[1]:
            continue
        rows += 1
        here = cells[2]
        for name in re.findall(r"`(?:\w+::)?(\w+)`", cells[1]):
            if name not in in_rust:
                print("not in the Rust crate, and not in docs/migration.md:", name)
                bad += 1
        found = re.findall(r"`([Cc][Gg]_\w+)`", here)
        if not found:
            print("no name of ours:", line.strip())
            bad += 1
        for name in found:
            if "planned" in here and name in words:
                print("planned, but there:", name)
                bad += 1
            elif "planned" not in here and name not in words:
                print("not in the headers:", name)
                bad += 1
            elif "planned" not in here:
                names.append(name)
    body = ['#include <stdio.h>', '#include "candlegraph/candlegraph.h"',
            '#include "candlegraph/record.h"', '#include "candlegraph/runtime.h"',
            "typedef void function(void);",
            "int main(void)", "{", "    size_t sum = 0;"]
    for name in sorted(set(names)):
        if name in opaque:
            body.append("    sum += sizeof(%s *);" % name)
        elif name in types:
            body.append("    sum += sizeof(%s);" % name)
        elif re.search(r"_SCHEMA(_\d)?$", name):
            body.append("    sum += sizeof %s;" % name)
        elif name.startswith("CG_"):
            body.append("    sum += (size_t)%s;" % name)
        else:
            body.append("    sum += (function *)%s != NULL;" % name)
    body += ['    printf("%zu\\n", sum);', "    return 0;", "}"]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "map.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(body) + "\n")
        command = [os.environ.get("CC") or shutil.which("cc") or "gcc", "-std=c17", "-Wall",
                   "-Wno-cast-function-type", "-I", os.path.join(ROOT, "include"), source]
        libs = [os.path.join(sys.argv[1], name) for name in
                ("libcandlegraph.so", "libcandlegraph-record.so")] if len(sys.argv) > 1 else []
        if libs and all(map(os.path.exists, libs)):
            command += libs + ["-Wl,-rpath," + sys.argv[1], "-o", os.path.join(folder, "map")]
        else:
            command += ["-fsyntax-only"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr)
            bad += 1
    print("%d rows, %d names, %d differences" % (rows, len(set(names)), bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
