#!/usr/bin/env python3
# ctest: @CLI@
"""A page is not printed on a terminal; into a pipe it is."""
import os
import pty
import subprocess
import sys

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = ["view", os.path.join(REPO, "tests/data/crates/mlp")]


def main():
    cli = sys.argv[1]
    ours, theirs = pty.openpty()
    done = subprocess.run([cli] + COMMAND, stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    try:
        shown = os.read(ours, 100)
    except OSError:  # nothing was written, and nobody holds the other end
        shown = b""
    piped = subprocess.run([cli] + COMMAND, stdout=subprocess.PIPE, check=False)
    without_page = b"built without the viewer" in done.stderr
    if done.returncode != 2 or shown or not (without_page or b"--output FILE" in done.stderr):
        print("on a terminal: %d %r %r" % (done.returncode, shown, done.stderr))
        return 1
    if not without_page and (piped.returncode != 0 or b"cg-payload" not in piped.stdout):
        print("into a pipe: %d" % piped.returncode)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
