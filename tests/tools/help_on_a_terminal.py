#!/usr/bin/env python3
# ctest: @CLI@
"""Every help fits the terminal, and `cargo candle-graph` has the same one under its own name."""
import os
import pty
import re
import subprocess
import sys

CLI = sys.argv[1]


def on_a_terminal(command, columns):
    """What the command prints on a terminal of that many cells."""
    ours, its = pty.openpty()
    environment = dict(os.environ, COLUMNS=str(columns), TERM="xterm", LC_ALL="C.UTF-8")
    with subprocess.Popen(command, stdout=its, stdin=subprocess.DEVNULL, env=environment) as child:
        os.close(its)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        child.wait()
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def told(command):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def main():
    failed = count = 0
    cargo = [os.path.join(os.path.dirname(CLI), "cargo-candle-graph"), "candle-graph"]
    _, listed, _ = told([CLI, "help"])
    commands = re.findall(r"^  ([a-z-]+) {2,}\S", listed.split("\nCommands\n")[1].split("\n\n")[0],
                          re.M)
    for words in [["help"]] + [["help", command] for command in commands]:
        for columns in (72, 80, 120):
            count += 1
            text = on_a_terminal([CLI] + words, columns)
            wide = [line for line in text.split("\n") if len(line) > columns]
            if wide or "usage: " not in text:
                failed += 1
                print("%s, %d columns: %s" % (words, columns, wide or "no usage"))
        count += 1
        mine, theirs = told([CLI] + words), told(cargo + words)
        # The name of the program is longer, so that lines break elsewhere.
        plain = [re.sub(r"\s+", " ", out[1].replace("cargo candle-graph", "candle-graph"))
                 for out in (mine, theirs)]
        if plain[0] != plain[1] or mine[0] != theirs[0]:
            failed += 1
            print("%s: differs from cargo's\n%s\n%s" % (words, mine[1], theirs[1]))
    for words in (["nonsense"], ["check", "--nonsense"], ["query"], ["overview"],
                  ["tree", "/nowhere"], ["import", "/nowhere"]):
        count += 1
        mine, theirs = told([CLI] + words), told(cargo + words)
        plain = [re.sub(r"\s+", " ", out[2].replace("cargo candle-graph", "candle-graph"))
                 for out in (mine, theirs)]
        if plain[0] != plain[1] or mine[0] != theirs[0]:
            failed += 1
            print("%s: differs from cargo's\n%s\n%s" % (words, mine, theirs))
    print("%d passed, %d failed" % (count - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
