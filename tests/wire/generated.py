#!/usr/bin/env python3
# ctest:
"""What is printed from tables and fixtures is current: format page, errors, fuzz seeds, words."""
import os
import subprocess
import sys

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    stale = [tool for tool in ("gen-tables", "gen-python", "make-dict", "make-corpus")
             if subprocess.run([sys.executable, os.path.join(REPO, "tools", tool), "--check"],
                               check=False).returncode != 0]
    for tool in stale:
        print("run tools/%s and look at what it changes" % tool)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
