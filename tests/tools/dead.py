#!/usr/bin/env python3
# ctest:
"""tools/dead finds each kind of thing that nothing uses, and nothing in a clean house."""
import os
import sys

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "tests", "support"))
from tool_tree import check  # noqa: E402

CLEAN = {
    "tools/dead.allow": "PROBLEM_NONE no refusal\n",
    "include/candlegraph/candlegraph.h": "/* How long it is. */\nCG_API int cg_length(void);\n",
    "src/base/problem.def": 'PROBLEM(NONE, "", CG_OK)\nPROBLEM(INPUT, "input", CG_INPUT)\n'
                            'PROBLEM(GATE, "gate", CG_GATE)\n',
    "src/base/err.h": '#define PROBLEM(name, id, code) PROBLEM_##name,\n'
                      'enum problem {\n#include "base/problem.def"\n};\n#undef PROBLEM\n',
    "src/base/str.h": "#define STR_MOST 3\n"
                      "typedef struct str {\n    int len;\n} str;\n"
                      "int str_length(const str *of);\n",
    "src/base/str.c": '#include "base/str.h"\n'
                      "static int more(void)\n{\n    return STR_MOST;\n}\n"
                      "int str_length(const str *of)\n{\n    return of->len + more();\n}\n",
    "src/api/run.c": '#include "candlegraph/candlegraph.h"\n#include "base/err.h"\n'
                     '#include "base/str.h"\n'
                     "int cg_length(void)\n{\n    str it = {.len = PROBLEM_INPUT};\n\n"
                     "    return str_length(&it);\n}\n",
    "cli/main.c": '#include "candlegraph/candlegraph.h"\n'
                  'int main(void)\n{\n    return cg_length() + ("gate" != 0);\n}\n',
    "tests/unit/base/str.c": '#include "base/str.h"\nint main(void)\n{\n    return 0;\n}\n',
}


def more(path, text):
    return path, CLEAN[path] + text


# what is changed, and what must be said ("" = still clean)
CASES = [
    ("a function nobody calls", *more("src/base/str.c", "int str_x(void)\n{\n    return 1;\n}\n"),
     "src/base/str.c:10: nothing uses the function `str_x`"),
    ("two that call each other", *more("src/base/str.c",
     "int str_x(void)\n{\n    return str_y();\n}\nint str_y(void)\n{\n    return str_x();\n}\n"),
     "nothing uses the function `str_y`"),
    ("a comment is no use", *more("src/base/str.c",
     "/* see str_x */\nint str_x(void)\n{\n    return 1;\n}\n"), "the function `str_x`"),
    ("only its own file", *more("src/base/str.c",
     "int str_x(void)\n{\n    return 1;\n}\nint str_z(void)\n{\n    return str_x();\n}\n"),
     "only this file uses `str_x`: make it static"),
    ("static by a macro", *more("src/base/str.c", "#define HOT static inline\n"
     "HOT int str_x(void)\n{\n    return 1;\n}\nint str_z(void)\n{\n    return str_x();\n}\n"),
     "the function `str_z`"),
    ("a macro", *more("src/base/str.h", "#define STR_LEAST 1\n"), "the macro `STR_LEAST`"),
    ("a macro for a table", "src/api/run.c", CLEAN["src/api/run.c"].replace(
     "int cg_length", 'static const int codes[] = {\n#define CG_OK 0\n#define CG_INPUT 1\n'
     "#define CG_GATE 2\n#define PROBLEM(name, id, code) code,\n"
     '#include "base/problem.def"\n#undef PROBLEM\n};\nint cg_length').replace(
         "str_length(&it)", "str_length(&it) + codes[0]"), ""),
    ("a type", *more("src/base/str.h", "typedef unsigned str_kind;\n"), "the type `str_kind`"),
    ("a variable", *more("src/base/str.c", "const int str_sizes[] = {1};\n"),
     "the variable `str_sizes`"),
    ("a constant", *more("src/base/str.h", "enum { STR_A, STR_B };\n"), "the constant `STR_A`"),
    ("a member", "src/base/str.h", CLEAN["src/base/str.h"].replace("len;", "len;\n    int w;"),
     "nothing names the member `w`"),
    ("made by ##", "src/base/str.c",
     "#define ROW(name) {row_##name},\nstatic int row_x(void)\n{\n    return 0;\n}\n"
     + CLEAN["src/base/str.c"].replace("more();", "more(table);").replace(
         "int str_length", "static const rows table[] = {ROW(x)};\nint str_length", 1), ""),
    ("declared only", *more("src/base/str.h", "int str_x(int a);\n"),
     "src/base/str.h:6: `str_x` is declared and nowhere defined"),
    ("included for nothing", "src/base/str.c", '#include "base/err.h"\n' + CLEAN["src/base/str.c"],
     'src/base/str.c:1: nothing of "base/err.h" is used'),
    ("a refusal nobody makes", *more("src/base/problem.def", 'PROBLEM(OLD, "old", CG_INPUT)\n'),
     "src/base/problem.def:4: nothing raises `PROBLEM_OLD`"),
    ("public without a comment", *more("include/candlegraph/candlegraph.h",
     "\nCG_API int cg_length_2(void);\n"), "no comment says what `cg_length_2` does"),
    ("used by a test only", "tests/unit/base/str.c", '#include "base/str.h"\n'
     "int main(void)\n{\n    return STR_OF_TESTS;\n}\n", ""),
    ("allowed and gone", *more("tools/dead.allow", "str_x it was here once\n"),
     "tools/dead.allow:2: allows nothing: str_x"),
]


if __name__ == "__main__":
    sys.exit(check("dead", CLEAN, CASES))
