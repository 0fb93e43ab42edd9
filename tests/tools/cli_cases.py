#!/usr/bin/env python3
# ctest:
"""tools/cli-cases judges what it is given: right cases pass, every kind of wrong one fails."""
import os
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = '#!/bin/sh\necho "{\\"n\\": 1, \\"list\\": [true]}"\necho "in $PWD" >&2\nexit ${1:-0}\n'
RIGHT = {
    "plain": {"cmd": "candle-graph", "want/stdout": '{"n": 1, "list": [true]}\n',
              "want/stderr": "in $PWD\n"},
    "code": {"cmd": "candle-graph 3", "want/code": "3\n"},
    "json": {"cmd": "candle-graph", "want/stdout.json": '{"list": [true],\n "n": 1}'},
    "has": {"cmd": "candle-graph", "want/stdout.has": '"n": 1\n"list"\n',
            "want/stderr.not": "no\n"},
    "files": {"cmd": "cat a.txt >b.txt", "in/a.txt": "a", "want/files/b.txt": "a"},
    "group/inner": {"cmd": "test -z \"$NO_COLOR\" && test \"$LC_ALL\" = C.UTF-8"},
}
WRONG = {
    "stdout": {"cmd": "candle-graph", "want/stdout": '{"n": 1}\n'},
    "end": {"cmd": "candle-graph", "want/stdout": '{"n": 1, "list": [true]}'},
    "code": {"cmd": "candle-graph 3"},
    "type": {"cmd": "candle-graph", "want/stdout.json": '{"list": [1], "n": 1}'},
    "float": {"cmd": "candle-graph", "want/stdout.json": '{"list": [true], "n": 1.0}'},
    "has": {"cmd": "candle-graph", "want/stdout.has": "absent\n"},
    "not": {"cmd": "candle-graph", "want/stderr.not": "in\n"},
    "files": {"cmd": "true", "want/files/b.txt": "a"},
}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(cases, *options):
    with tempfile.TemporaryDirectory() as place:
        write(os.path.join(place, "bin", "candle-graph"), PROGRAM)
        os.chmod(os.path.join(place, "bin", "candle-graph"), 0o755)
        for case, files in cases.items():
            for name, text in files.items():
                write(os.path.join(place, "cases", case, name), text)
        command = [sys.executable, os.path.join(REPO, "tools", "cli-cases"),
                   os.path.join(place, "bin"), "--root", os.path.join(place, "cases")]
        env = {**os.environ, "NO_COLOR": "1"}
        if options:
            subprocess.run(command + list(options), env=env, capture_output=True)
        out = subprocess.run(command, env=env, capture_output=True, text=True).stdout
        return out.splitlines()[-1], out


def main():
    wanted = [(RIGHT, (), "%d passed, 0 failed" % len(RIGHT)),
              (WRONG, (), "0 passed, %d failed" % len(WRONG)),
              ({"fresh": {"cmd": "candle-graph 4"}}, ("--accept",), "1 passed, 0 failed")]
    failed = 0
    for cases, options, want in wanted:
        last, out = run(cases, *options)
        if last != want:
            failed += 1
            print("wanted %s, got\n%s" % (want, out))
    print("%d passed, %d failed" % (len(wanted) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
