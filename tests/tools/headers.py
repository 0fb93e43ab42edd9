#!/usr/bin/env python3
# ctest:
"""headers: each public header compiles alone, and so does the example it begins with, as C and C++.

The example is the indented code of the first comment. It is put into a function that has what the
text around it takes for given: `env`, `err`, `sink`, `selector`, `step`. Every compiler of gcc and
clang that is there is asked.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get("CG_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILERS = (("gcc", "c", "c17"), ("clang", "c", "c17"), ("g++", "c++", "c++20"),
             ("clang++", "c++", "c++20"))
FUNCTION = re.compile(r"^(?:CG_API|CG_RECORD_\w+\(|CG_RUNTIME_\w+\().*\bcg_\w+", re.M)
AROUND = """#include "candlegraph/%s"
#include "candlegraph/record.h"
#include <stdio.h>

void example(cg_env env, cg_err err, cg_sink sink, cg_record_selector selector, uint64_t step);
void example(cg_env env, cg_err err, cg_sink sink, cg_record_selector selector, uint64_t step)
{
    (void)env, (void)err, (void)sink, (void)selector, (void)step;
    {
%s
    }
}
"""


def example(text):
    comment = re.match(r"/\*\n(.*?)\*/", text, re.S).group(1)
    lines = [line[3:] if line.startswith(" * ") else "" for line in comment.splitlines()]
    first = next((at for at, line in enumerate(lines) if re.match(r"  \S.*;", line)), None)
    if first is None:
        return ""
    last = first
    while last < len(lines) and (not lines[last] or lines[last].startswith("  ")):
        last += 1
    return "\n".join(lines[first:last]).rstrip()


def main():
    failed = 0
    done = 0
    compilers = [row for row in COMPILERS if shutil.which(row[0])]
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(ROOT, "include", "candlegraph", "*.h"))):
            name = os.path.basename(path)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            code = example(text)
            if not code and FUNCTION.search(text):
                print("%s has functions and does not begin with an example" % name)
                failed += 1
            elif len(code.splitlines()) > 14:
                print("%s: the example is too long to be read at a glance" % name)
                failed += 1
            for compiler, language, standard in compilers:
                source = os.path.join(folder, "example." + ("c" if language == "c" else "cc"))
                with open(source, "w", encoding="utf-8") as file:
                    file.write(AROUND % (name, code))
                answer = subprocess.run(
                    [compiler, "-std=" + standard, "-Wall", "-Wextra", "-Wno-unused-value",
                     "-Wno-missing-field-initializers", "-Werror", "-fsyntax-only", "-I",
                     os.path.join(ROOT, "include"), source], capture_output=True, text=True)
                done += 1
                if answer.returncode != 0:
                    print("%s with %s:\n%s" % (name, compiler, answer.stderr))
                    failed += 1
    print("%d compiled, %d failed" % (done, failed))
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
