#!/usr/bin/env python3
"""dist: the two-file recorder compiles alone, works from C and C++, and vanishes when it is off."""
# ctest: @CLI@
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get("CG_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = r'''
#include "candlegraph_record.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    cg_record_run run = cg_record_run();
    cg_record *session = NULL;
    cg_record_selector selector = {0};
    cg_err err = cg_err();
    cg_record_run_training(&run, "dist", 3, "cpu");
    cg_record_select(&selector, 3);
    if (argc > 1 && cg_record_selected(&selector, 3))
        cg_record_open(argv[1], &run, NULL, &session, &err);
    cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "region"));
    cg_record_scalar(session, region, cg_record_intern(session, "loss"), 0.5);
    cg_record_span_end(session, region);
    cg_code code = cg_record_finish(session, NULL, &err);
    if (code != CG_OK)
        puts(err.text);
    return (int)code;
}
'''


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0 or done.stderr:
        print(" ".join(command))
        print(done.stdout + done.stderr)
        sys.exit(1)
    return done.stdout


def main():
    cc = os.environ.get("CC") or shutil.which("cc") or "gcc"
    cxx = shutil.which("c++") or shutil.which("g++")
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)
        run(sys.executable, os.path.join(ROOT, "tools", "amalgamate"), folder)
        run(cc, "-std=c17", "-O2", "-Wall", "-Wextra", "-c", at("candlegraph_record.c"), "-o",
            at("record.o"))
        outside = [line.split()[-1] for line in run("nm", "-g", "--defined-only",
                                                    at("record.o")).splitlines()]
        assert all(name.startswith("cg_") for name in outside), outside
        kinds = [("c", cc, "-std=c17", PROGRAM.replace("= cg_record_run()", "")
                  .replace("= cg_err()", "= {0}"))]
        if cxx:
            kinds.append(("cpp", cxx, "-std=c++11", PROGRAM))
        for end, compiler, standard, text in kinds:
            with open(at("main." + end), "w", encoding="utf-8") as file:
                file.write(text)
            warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", folder]
            run(compiler, standard, *warnings, "-c", at("main." + end), "-o", at("main.o"))
            run(compiler, at("main.o"), at("record.o"), "-pthread", "-lm", "-o", at("on"))
            trace = at(end + ".jsonl")
            run(at("on"), trace)
            assert open(trace).read().count("\n") == 7, trace
            if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
                run(sys.argv[1], "summary", trace, "--require-valid")
            # Off: no symbol of the recorder is asked for, and no file is made.
            run(compiler, standard, *warnings, "-DCG_RECORD_OFF", "-O1", "-c", at("main." + end),
                "-o", at("off.o"))
            assert "cg_record" not in run("nm", "-u", at("off.o"))
            run(compiler, at("off.o"), "-o", at("off"))
            run(at("off"), at("never.jsonl"))
            assert not os.path.exists(at("never.jsonl"))
    print("compiled as", ", ".join(kind[0] for kind in kinds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
