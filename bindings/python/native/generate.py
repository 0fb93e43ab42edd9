"""generate: the C source of candlegraph._native.

usage: generate.py COMPILER INCLUDE OUT

What Python may call is read from the public headers themselves, through the preprocessor and
without the system's headers; the compiler then checks every type and function against them.
"""
import os
import subprocess
import sys
import tempfile

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))
HEADERS = "#include <candlegraph/candlegraph.h>\n#include <candlegraph/scan.h>\n"
SYSTEM = ("stdbool.h", "stddef.h", "stdint.h")
NUMBERS = "#define CG_ABI_VERSION ...\n#define CG_ABI_OLDEST ...\n"


def declarations(compiler, include):
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM:
            open(os.path.join(empty, name), "w").close()
        return subprocess.run(
            [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", "-I", empty, "-I", include,
             "-xc", "-"],
            input=HEADERS, stdout=subprocess.PIPE, check=True, text=True).stdout


def main():
    compiler, include, out = sys.argv[1:]
    builder = cffi.FFI()
    builder.cdef(declarations(compiler, include) + NUMBERS)
    with open(os.path.join(HERE, "glue.inc"), encoding="utf-8") as file:
        glue = file.read()
    builder.cdef(glue)
    builder.cdef('extern "Python" bool cgpy_progress(void *, const char *, uint64_t, uint64_t);\n'
                 'extern "Python" void cgpy_warn(void *, cg_str);\n')
    with open(os.path.join(HERE, "glue.c"), encoding="utf-8") as file:
        source = HEADERS + glue + file.read()
    builder.set_source("candlegraph._native", source, py_limited_api=True)
    builder.emit_c_code(out)


if __name__ == "__main__":
    main()
