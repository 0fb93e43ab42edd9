#!/usr/bin/env python3
# ctest:
"""vocabulary: words that docs/glossary.md gives up for another stand in no text that people read.

Looked at are the texts of programs (string literals with a blank, in cli/ and src/) and the prose
of README.md, docs/guide and docs/schemas: not code, not what stands between backquotes. Words that
have another sense as well (weight, path, warning) cannot be told apart and are not looked for.
"""
import glob
import os
import re
import sys

ROOT = os.environ.get("CG_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = (
    (r"director(?:y|ies)", "folder"),
    (r"variable builders?", "builder"),
    (r"entrypoints?", "entry point"),
    (r"training iterations?", "step"),
    (r"measured window", "measured region"),
    (r"weights? files?", "checkpoint"),
    (r"(?:inclusive|exclusive) time", "total, own"),
    (r"denied rules?", "denied codes"),
)
# What the kernel says, and sentences of evidence documents, which are those of the reference.
KEPT = ("no such file or directory", "is a directory", "not a directory",
        "has a blank entrypoint", "- entrypoint: ")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def texts():
    """(place, text) of everything people read."""
    for path in sorted(glob.glob(os.path.join(ROOT, "cli", "*.[cd]*")) +
                       glob.glob(os.path.join(ROOT, "src", "**", "*.[cdh]*"), recursive=True)):
        if os.sep + "gen" + os.sep in path or not path.endswith((".c", ".def", ".h")):
            continue
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.lstrip().startswith(("*", "/*", "#include")):
                    continue
                for text in LITERAL.findall(line):
                    if " " in text:
                        yield "%s:%d" % (os.path.relpath(path, ROOT), number), text
    pages = [os.path.join(ROOT, "README.md")]
    for folder in ("guide", "schemas"):
        pages += sorted(glob.glob(os.path.join(ROOT, "docs", folder, "*.md")))
    for path in pages:
        is_code = False
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.startswith("```"):
                    is_code = not is_code
                elif not is_code:
                    yield ("%s:%d" % (os.path.relpath(path, ROOT), number),
                           re.sub(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->", " ", line))


def main():
    failed = looked = 0
    for place, text in texts():
        looked += 1
        bare = re.sub(r"`[^`]*`", " ", text)
        for kept in KEPT:
            bare = re.sub(kept, " ", bare, flags=re.I)
        for word, instead in WORDS:
            found = re.search(r"(?<![-\w%%.])%s(?![-\w(])" % word, bare, re.I)
            if found:
                print("%s: `%s`; the word is `%s` (docs/glossary.md)"
                      % (place, found.group(0), instead))
                failed += 1
    print("%d texts, %d failed" % (looked, failed))
    return 1 if failed or looked < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
