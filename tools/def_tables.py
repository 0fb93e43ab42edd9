"""def_tables: the .def tables of src/ as Python lists, for the generators of tools/.

read(path) gives {macro name: rows}. A row is the list of the arguments of one F(...), W(...) or
X(...), strings without their quotes; lists that are used inside another list are expanded, those
of another file from `known`, the tables of that file.
"""
import os
import re

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

MACRO = re.compile(r"^#define (\w+)\((\w+)\)[ \t]+(.*)$", re.M)
CALL = re.compile(r'(\w+)\(((?:"(?:[^"\\]|\\.)*"|[^()"])*)\)')
ARGUMENT = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+|[^,\s]+')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def source(path):
    with open(os.path.join(REPO, path), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return re.sub(r"[ \t]*\\\n[ \t]*", " ", text)


def arguments(text):
    """Split at commas; neighbouring literals are one string, as in C."""
    result = []
    for word in ARGUMENT.findall(text):
        parts = LITERAL.findall(word)
        result.append("".join(parts) if parts else word)
    return result


def read(path, known=None):
    tables = {}
    for name, parameter, body in MACRO.findall(source(path)):
        rows = []
        for called, inside in CALL.findall(body):
            if called == parameter:
                rows.append(arguments(inside))
            else:
                rows.extend(tables[called] if called in tables else known[called])
        tables[name] = rows
    return tables


def rows_of(path, macro):
    """Rows of a file that calls `macro(...)` at top level, as base/problem.def does."""
    return [arguments(inside) for called, inside in CALL.findall(source(path)) if called == macro]
