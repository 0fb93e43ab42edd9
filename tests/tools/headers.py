#!/usr/bin/env python3
# ctest:
"""headers: each public header compiles alone, reads as a manual, and begins with an example.

The example is the indented code of the first comment. It is put into a function that has what the
text around it takes for given: `env`, `err`, `sink`, `selector`, `step`. A function that another
comment shows stands beside it. Every compiler of gcc and clang that is there is asked, as C and as
C++.

As a manual: every function, type, list and constant that a header gives away is told of by a
comment of its own, above it or behind it on its line. A function without one shares that of the
function right before it only when the comment names it. A member is told of by a comment above it
or behind it, or by name in the comment of its structure; `size`, a count of a member (`x_count` of
`x`) and `has_x` are the house's own words.
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
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
MEMBER = re.compile(r"(/\*.*?\*/)|([^;/]+?(?:\([^;]*\))?);([^\S\n]*(?:\n {8,})?/\*.*?\*/)?", re.S)
TAIL = re.compile(r"\}[^}]*?(/\*.*\*/)$")
SECTION = re.compile(r"^/\* -{3,} .*? -{3,} \*/$")
HELPERS = re.compile(r"^#define (CG_API|CG_MUST|CG_PRINTF|CG_ROW_|CANDLEGRAPH_\w+_H|CG_RECORD_"
                     r"(?:DOES|GIVES|WHEN|BEGINS|NO_SPAN|RARELY))\b")
AROUND = """#include "candlegraph/%s"
#include "candlegraph/record.h"
#include <stdio.h>

%s
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


def shown_functions(text):
    """The functions that comments show, indented as examples are."""
    shown = re.findall(r"^ \*   (static [^\n]*\n(?: \*   [^\n]*\n)*? \*   \}\n)", text, re.M)
    return "\n".join(re.sub(r"^ \*   ", "", each, flags=re.M) for each in shown)


def declarations(text):
    """(comment above or None, code) of what stands at file scope, behind the first comment."""
    comment, code = None, ""
    gap = False
    for part in re.findall(r"/\*.*?\*/|//[^\n]*|\n|[^\n/]+|/", text, re.S):
        if part == "\n" and code.rstrip().endswith("\\"):
            code += part
            continue
        if part == "\n":
            bare = COMMENT.sub("", code).strip()
            if not bare:
                if code == "" and gap:
                    comment = None  # a blank line parts a comment from what follows
                gap = True
                code = ""
                continue
            over = (bare.startswith("#") or bare == 'extern "C" {' or bare == "}" or
                    (bare.count("{") == bare.count("}") and bare.count("(") == bare.count(")") and
                     (bare[-1] in ";}" or bare.startswith("CG_RECORD_") and bare[-1] == ")")))
            if over:
                yield comment, code.strip()
                comment, code, gap = None, "", True
            else:
                code += part
            continue
        if part.startswith(("/*", "//")) and not code.strip():
            if not SECTION.match(part):
                comment = part
            gap = False
            continue
        code += part
        gap = False


def names_of(code):
    """The names a declaration gives away: of a function, a type, a constant."""
    bare = COMMENT.sub("", code)
    if bare.startswith("#"):
        match = re.match(r"#define (CG_\w+)", bare)
        return [match.group(1)] if match and not HELPERS.match(bare) else []
    match = re.match(r"CG_RECORD_(?:DOES|BEGINS)\(\s*(cg_\w+)|CG_RECORD_(?:GIVES|WHEN)\([^,]*,\s*"
                     r"(cg_\w+)", bare)
    if match:
        return [match.group(1) or match.group(2)]
    if bare.startswith("typedef"):
        return re.findall(r"(cg_\w+);$", bare)
    if bare.startswith("enum"):
        return re.findall(r"^\s*(?:enum \{ )?(CG_\w+)", bare, re.M)[:1]
    match = re.match(r"(?:CG_API|static inline)\b[^(]*?\b(cg_\w+)\(", bare)
    return [match.group(1)] if match else []


def members_of(code):
    """(names, is told of) of each member of a structure, in order."""
    body = code[code.index("{") + 1:code.rindex("}")]
    told_above = False
    for match in MEMBER.finditer(body):
        if match.group(1):
            told_above = True
            continue
        declared = match.group(2)
        pointer = re.search(r"\(\*(\w+)\)\(", declared)
        names = [pointer.group(1)] if pointer else [
            re.search(r"(\w+)(?:\[\w+\])?$", part.strip()).group(1)
            for part in declared.split(",")]
        yield names, told_above or match.group(3) is not None
        told_above = False


def untold(text):
    """What a header gives away without a word about it."""
    shared = ""
    for comment, code in declarations(text[re.match(r"/\*.*?\*/", text, re.S).end():]):
        names = names_of(code)
        trailing = TAIL.search(code) if "{" in code else COMMENT.search(code)
        if comment:
            shared = comment
        elif not names:
            continue
        for name in names:
            is_function = not code.startswith(("typedef", "enum", "#"))
            if comment or trailing or re.search(r"\b%s\b" % name, shared):
                continue
            if code.startswith("enum") and (
                    re.search(r"typedef uint32_t cg_\w+;[^\n]*\n%s" % re.escape(code), text)):
                continue  # the values of the type that was just told of
            yield "%s%s" % (name, "()" if is_function else "")
        if code.startswith("typedef struct") and "{" in code:
            about = (comment or "") + (trailing.group(0) if trailing else "")
            every = [name for row, _ in members_of(code) for name in row]
            for row, is_told in members_of(code):
                for name in row:
                    if is_told or name == "size" or re.search(r"\b%s\b" % name, about):
                        continue
                    if name.startswith("has_") and any(o.startswith(name[4:]) for o in every):
                        continue
                    stem = name[:-6] if name.endswith("_count") else None
                    if stem and {stem, stem + "s", re.sub("y$", "ies", stem)} & set(every):
                        continue
                    yield "%s.%s" % (names[0], name)


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
            for what in untold(text):
                print("%s: %s is told of nowhere; give it a comment" % (name, what))
                failed += 1
            for compiler, language, standard in compilers:
                source = os.path.join(folder, "example." + ("c" if language == "c" else "cc"))
                with open(source, "w", encoding="utf-8") as file:
                    file.write(AROUND % (name, shown_functions(text), code))
                answer = subprocess.run(
                    [compiler, "-std=" + standard, "-Wall", "-Wextra", "-Wno-unused-value",
                     "-Wno-unused-function", "-Wno-unused-variable",
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
